//! A small plot of a category: a row per level, with the classes of its rows or their number.

use crate::chart::COLORS;
use crate::html::{escape, shortened};
use crate::plot::{Axis, LEFT, NAME_LENGTH, RIGHT, WIDTH};
use crate::text::{counted, percent};
use kernsift::Dataset;
use kernsift::data::FeatureType;

/// Maximum number of rows. With more levels, the rarest share the last one; missing values have their own.
const MAX_ROWS: usize = 8;
const STEP: f64 = 26.0;

/// The rows of a plot.
pub struct Levels {
    /// The name of each row.
    pub names: Vec<String>,
    /// The row of each sample.
    pub of_sample: Vec<usize>,
}

impl Levels {
    /// The levels of a category; `None` for a number.
    pub fn of(data: &Dataset, feature: usize) -> Option<Self> {
        let FeatureType::Category { levels } = data.feature_type(feature) else { return None };
        // Other categories and missing values follow the levels.
        let code = |v: f64| if v.is_nan() { levels + 1 } else { (v as usize).min(levels) };
        let codes: Vec<usize> = data.x().column(feature).into_iter().map(code).collect();
        let mut counts = vec![0usize; levels + 2];
        codes.iter().for_each(|&c| counts[c] += 1);
        let mut shown: Vec<usize> = (0..levels + 2).filter(|&c| counts[c] > 0).collect();
        let n_rare = if shown.len() > MAX_ROWS { shown.len() - (MAX_ROWS - 1) } else { 0 };
        if n_rare > 0 {
            shown.sort_by_key(|&c| (c != levels + 1, std::cmp::Reverse(counts[c])));
            shown.truncate(MAX_ROWS - 1);
            shown.sort_unstable();
        }
        let name = |&c: &usize| match c {
            c if c == levels + 1 => "(missing)".to_owned(),
            c if c == levels => "(other)".to_owned(),
            c => data.level_names(feature).map_or_else(|| c.to_string(), |names| names[c].clone()),
        };
        let mut names: Vec<String> = shown.iter().map(name).collect();
        names.extend((n_rare > 0).then(|| format!("({n_rare} others)")));
        let mut row = vec![shown.len(); levels + 2];
        shown.iter().enumerate().for_each(|(at, &c)| row[c] = at);
        Some(Self { names, of_sample: codes.into_iter().map(|c| row[c]).collect() })
    }

    /// Bars of equal length that show the fractions of classes in each level.
    pub fn by_class(&self, groups: &[usize], classes: &[String]) -> String {
        let ticks = [0.0, 0.5, 1.0].map(|at| (at, format!("{} %", 100.0 * at)));
        self.bars("Classes by level", &ticks, |rows| {
            let mut counts = vec![0usize; classes.len()];
            rows.iter().for_each(|&i| counts[groups[i]] += 1);
            let parts = counts.iter().enumerate().filter(|(_, count)| **count > 0);
            let parts = parts.map(|(class, &count)| {
                let fraction = count as f64 / rows.len() as f64;
                let title =
                    format!("{}: {} % of {}", classes[class], percent(fraction), counted(rows.len(), "row"));
                (class % COLORS, fraction, title)
            });
            parts.collect()
        })
    }

    /// Bars that show the number of rows in each level.
    pub fn counts(&self) -> String {
        let mut sizes = vec![0usize; self.names.len()];
        self.of_sample.iter().for_each(|&row| sizes[row] += 1);
        let largest = sizes.into_iter().max().unwrap_or(1).max(1) as f64;
        let ticks = Axis::new([0.0, largest].into_iter(), 0.0, 1.0).ticks(4);
        let ticks: Vec<_> = ticks.into_iter().map(|(count, text)| (count / largest, text)).collect();
        self.bars("Rows by level", &ticks, |rows| {
            vec![(0, rows.len() as f64 / largest, counted(rows.len(), "row"))]
        })
    }

    /// A bar per level. `ticks` are of the axis from 0 to 1. `parts` gives the color, the length from 0 to 1 and the tooltip of
    /// each part of a bar.
    fn bars(
        &self,
        label: &str,
        ticks: &[(f64, String)],
        parts: impl Fn(&[usize]) -> Vec<(usize, f64, String)>,
    ) -> String {
        let bottom = 8.0 + STEP * self.names.len() as f64;
        let mut svg = format!(
            "<svg viewBox=\"0 0 {WIDTH:.0} {:.0}\" role=\"img\" aria-label=\"{label}\">\n<g class=\"grid\">\n",
            bottom + 24.0
        );
        for (at, text) in ticks {
            let x = LEFT + at * (RIGHT - LEFT);
            svg += &format!(
                "<path d=\"M{x:.1} 4V{bottom:.1}\"/><text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{text}</text>\n",
                bottom + 16.0
            );
        }
        svg += &format!("<path class=\"axis\" d=\"M{LEFT} {bottom:.1}H{RIGHT:.1}\"/>\n</g>\n");
        for (row, name) in self.names.iter().enumerate() {
            let samples: Vec<usize> =
                (0..self.of_sample.len()).filter(|&i| self.of_sample[i] == row).collect();
            let y = 8.0 + STEP * row as f64;
            svg += &format!(
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\"><title>{}</title>{}</text>\n",
                LEFT - 6.0,
                y + 0.5 * STEP + 4.0,
                escape(name),
                shortened(name, NAME_LENGTH)
            );
            let mut x = LEFT;
            for (color, fraction, title) in parts(&samples) {
                let width = fraction * (RIGHT - LEFT);
                svg += &format!(
                    "<g class=\"c{color}\"><rect class=\"box\" x=\"{x:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{:.1}\"/>\
                     <title>{}, {}</title></g>\n",
                    y + 0.15 * STEP,
                    0.7 * STEP,
                    escape(name),
                    escape(&title)
                );
                x += width;
            }
        }
        svg + "</svg>\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernsift::data::Target;
    use ndarray::Array2;

    fn category(codes: Vec<f64>, levels: usize) -> Dataset {
        let x = Array2::from_shape_vec((codes.len(), 1), codes).unwrap();
        let types = vec![FeatureType::Category { levels }];
        Dataset::typed(vec!["color".into()], x, types, Target::None).unwrap()
    }

    #[test]
    fn rows_are_levels_with_missing_values_last() {
        let data = category(vec![1.0, f64::NAN, 0.0, 1.0, 2.0], 2);
        let names: std::sync::Arc<[String]> = ["red".to_string(), "<blue>".to_string()].into();
        let data = data.with_level_names(vec![Some(names)]).unwrap();
        let levels = Levels::of(&data, 0).unwrap();
        assert_eq!(levels.names, ["red", "<blue>", "(other)", "(missing)"]);
        assert_eq!(levels.of_sample, [1, 3, 0, 1, 2]);
        let svg = levels.by_class(&[0, 0, 0, 1, 1], &["no".to_string(), "yes".to_string()]);
        assert!(svg.contains("&lt;blue&gt;, yes: 50.0 % of 2 rows") && !svg.contains("<blue>"), "{svg}");
        assert!(levels.counts().contains("red, 1 row<"));
    }

    #[test]
    fn rare_levels_share_a_row() {
        // Level c has c + 1 rows.
        let codes: Vec<f64> = (0..12).flat_map(|c| vec![f64::from(c); c as usize + 1]).collect();
        let levels = Levels::of(&category(codes, 12), 0).unwrap();
        assert_eq!(levels.names, ["5", "6", "7", "8", "9", "10", "11", "(5 others)"]);
        assert_eq!(levels.of_sample.iter().filter(|&&row| row == 7).count(), 1 + 2 + 3 + 4 + 5);
    }

    #[test]
    fn missing_values_have_their_own_row() {
        let mut codes: Vec<f64> = (0..12).flat_map(|c| vec![f64::from(c); 3]).collect();
        codes.push(f64::NAN);
        let levels = Levels::of(&category(codes, 12), 0).unwrap();
        assert_eq!(levels.names, ["0", "1", "2", "3", "4", "5", "(missing)", "(6 others)"]);
    }

    #[test]
    fn numbers_have_no_levels() {
        let data = Dataset::unlabeled(ndarray::array![[1.0], [2.0]]).unwrap();
        assert!(Levels::of(&data, 0).is_none());
    }
}
