//! How far kept columns say the same, as a heat map.

use crate::html::{escape, shortened};
use kernsift::dependence::alignment;
use kernsift::{Context, Dataset, Result};

/// Columns that are compared at most.
const MOST: usize = 25;
/// Characters of a name.
const NAME: usize = 18;
const CELL: f64 = 30.0;

/// A heat map of the first of these columns and how to read it; none for fewer than two, or for gaps.
pub fn redundancy(data: &Dataset, columns: &[usize], ctx: &Context) -> Result<Option<String>> {
    let columns = &columns[..columns.len().min(MOST)];
    if columns.len() < 2 || data.has_missing() {
        return Ok(None);
    }
    let shares = alignment(data.x(), columns, ctx)?;
    let names: Vec<&str> = columns.iter().map(|&j| data.names()[j].as_str()).collect();
    let longest = names.iter().map(|name| name.chars().count().min(NAME)).max().unwrap_or(0) as f64;
    // Wide signs need more than most do.
    let (left, top) = (14.0 + 8.0 * longest, 12.0 + 6.6 * longest);
    let side = CELL * columns.len() as f64;
    // Names lean to the right beyond the last column.
    let (width, height) = (left + side + 6.0 * longest, top + side + 4.0);
    let mut svg = format!(
        "<svg class=\"heat\" viewBox=\"0 0 {width:.0} {height:.0}\" style=\"max-width:{width:.0}px;min-width:{:.0}px\" role=\"img\" aria-label=\"How far kept columns say the same\">\n",
        0.75 * width
    );
    for (a, name) in names.iter().enumerate() {
        let at = CELL * (a as f64 + 0.5);
        let (name, short) = (escape(name), shortened(name, NAME));
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
            let (share, x, y) = (shares[[a, b]], left + CELL * b as f64, top + CELL * a as f64);
            svg += &format!(
                "<g><rect style=\"--s:{:.0}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"3\"/>",
                100.0 * share,
                CELL - 2.0,
                CELL - 2.0
            );
            if a != b && share >= 0.1 {
                // Hundredths, without the nought before the point.
                svg += &format!(
                    "<text class=\"share\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                    x + CELL / 2.0 - 1.0,
                    y + CELL / 2.0 + 3.0,
                    format!("{share:.2}").trim_start_matches('0')
                );
            }
            svg += &format!("<title>{} and {}: {share:.2}</title></g>\n", escape(names[a]), escape(names[b]));
        }
    }
    Ok(Some(format!(
        "<p>Kernel alignment of each pair: 1 where one column tells all that the other does, straight or bent, and near 0 where they have nothing in \
         common. Where it is high, one of the two may do.</p>\n<figure>\n{svg}</svg>\n</figure>\n"
    )))
}
