//! Redundancy of the selected features, as a heat map.

use crate::html::{escape, shortened};
use kernsift::dependence::alignment;
use kernsift::{Context, Dataset, Result};

/// Maximum number of features.
const MAX_FEATURES: usize = 25;
/// Maximum length of a name, in characters.
const NAME_LENGTH: usize = 18;
const CELL: f64 = 30.0;

/// A heat map of the first features, with an explanation; `None` for fewer than two.
pub fn redundancy(data: &Dataset, features: &[usize], ctx: &Context) -> Result<Option<String>> {
    let features = &features[..features.len().min(MAX_FEATURES)];
    if features.len() < 2 {
        return Ok(None);
    }
    let alignments = alignment(data, features, ctx)?;
    let names: Vec<&str> = features.iter().map(|&j| data.names()[j].as_str()).collect();
    let longest = names.iter().map(|name| name.chars().count().min(NAME_LENGTH)).max().unwrap_or(0) as f64;
    // Room for wide characters.
    let (left, top) = (14.0 + 8.0 * longest, 12.0 + 6.6 * longest);
    let side = CELL * features.len() as f64;
    // The rotated names extend beyond the last cell.
    let (width, height) = (left + side + 6.0 * longest, top + side + 4.0);
    let mut svg = format!(
        "<svg class=\"heat\" viewBox=\"0 0 {width:.0} {height:.0}\" style=\"max-width:{width:.0}px;min-width:{:.0}px\" role=\"img\" aria-label=\"Redundancy of the selected features\">\n",
        0.75 * width
    );
    for (a, name) in names.iter().enumerate() {
        let at = CELL * (a as f64 + 0.5);
        let (name, short) = (escape(name), shortened(name, NAME_LENGTH));
        svg += &format!(
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\"><title>{name}</title>{short}</text>\n\
             <text transform=\"translate({:.1} {:.1}) rotate(-45)\"><title>{name}</title>{short}</text>\n",
            left - 7.0,
            top + at + 4.0,
            left + at + 2.0,
            top - 6.0
        );
    }
    for a in 0..names.len() {
        for b in 0..names.len() {
            let (value, x, y) = (alignments[[a, b]], left + CELL * b as f64, top + CELL * a as f64);
            svg += &format!(
                "<g><rect style=\"--s:{:.0}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"3\"/>",
                100.0 * value,
                CELL - 2.0,
                CELL - 2.0
            );
            if a != b && value >= 0.1 {
                // Two decimals, without the leading zero.
                svg += &format!(
                    "<text class=\"share\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                    x + CELL / 2.0 - 1.0,
                    y + CELL / 2.0 + 3.0,
                    format!("{value:.2}").trim_start_matches('0')
                );
            }
            svg += &format!("<title>{} and {}: {value:.2}</title></g>\n", escape(names[a]), escape(names[b]));
        }
    }
    Ok(Some(format!(
        "<p>Kernel alignment of each pair of features. It measures linear and nonlinear dependence: near 0 for independent features, 1 if one \
         determines the other. If it is high, one of the two may suffice.</p>\n<figure>\n{svg}</svg>\n</figure>\n"
    )))
}
