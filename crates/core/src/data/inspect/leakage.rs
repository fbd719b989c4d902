//! Leakage: single features that predict the target perfectly.

use crate::data::dataset::Dataset;
use crate::data::target::{Classes, Target};
use crate::error::shorten;
use rayon::prelude::*;
use std::collections::HashMap;

/// In fewer rows a perfect prediction may be chance.
const MIN_ROWS: usize = 20;
/// Each class that a threshold separates has at least this many rows, for the same reason.
const MIN_CLASS_ROWS: usize = 5;
/// A feature whose absolute correlation with the target is above this is the target, up to rounding.
const MIN_CORRELATION: f64 = 1.0 - 1e-9;

/// A warning for each feature of typed data that alone predicts the target perfectly.
pub(crate) fn leaks(data: &Dataset) -> Vec<String> {
    if data.n() < MIN_ROWS || data.x().is_sparse() {
        return vec![];
    }
    let check = |j: usize| {
        let values = data.x().column(j);
        let how = match data.target() {
            Target::None => None,
            Target::Classes(classes) => by_class(&values, classes, data.feature_type(j).is_category()),
            Target::Continuous(target) => by_correlation(&values, target),
            Target::Outputs(y) => {
                y.columns().into_iter().find_map(|target| by_correlation(&values, &target.to_vec()))
            }
        };
        how.map(|how| {
            format!(
                "feature '{}' alone predicts the target perfectly ({how}); if it is not known before the target, exclude it",
                shorten(&data.names()[j])
            )
        })
    };
    (0..data.d()).into_par_iter().filter_map(check).collect()
}

fn by_class(values: &[f64], classes: &Classes, is_category: bool) -> Option<&'static str> {
    let counts = classes.counts();
    if counts.iter().filter(|&&count| count > 0).count() < 2 {
        return None;
    }
    let is_large = counts.iter().filter(|&&count| count > 0).all(|&count| count >= MIN_CLASS_ROWS);
    if !is_category && is_large && separates(values, classes) {
        return Some("each class has a range of its own");
    }
    determines(values, &classes.codes).then_some("each of its values occurs in one class only")
}

/// Whether the ranges of the classes are disjoint. Missing values predict nothing.
fn separates(values: &[f64], classes: &Classes) -> bool {
    let mut ranges = vec![(f64::INFINITY, f64::NEG_INFINITY); classes.names.len()];
    for (&v, &class) in values.iter().zip(&classes.codes) {
        if v.is_nan() {
            return false;
        }
        ranges[class] = (ranges[class].0.min(v), ranges[class].1.max(v));
    }
    ranges.retain(|(low, high)| low <= high);
    ranges.sort_by(|a, b| a.0.total_cmp(&b.0));
    ranges.windows(2).all(|pair| pair[0].1 < pair[1].0)
}

/// Whether each value occurs in one class only, with at least two rows per value on average.
fn determines(values: &[f64], codes: &[usize]) -> bool {
    let mut class_of: HashMap<u64, usize> = HashMap::new();
    for (&v, &class) in values.iter().zip(codes) {
        let key = if v.is_nan() { u64::MAX } else { (v + 0.0).to_bits() };
        if *class_of.entry(key).or_insert(class) != class || 2 * class_of.len() > values.len() {
            return false;
        }
    }
    class_of.len() > 1
}

fn by_correlation(values: &[f64], target: &[f64]) -> Option<&'static str> {
    let n = values.len() as f64;
    let (mean_x, mean_y) = (values.iter().sum::<f64>() / n, target.iter().sum::<f64>() / n);
    let (mut xy, mut xx, mut yy) = (0.0, 0.0, 0.0);
    for (x, y) in values.iter().zip(target) {
        let (x, y) = (x - mean_x, y - mean_y);
        (xy, xx, yy) = (xy + x * y, xx + x * x, yy + y * y);
    }
    // Missing values make the sums NaN, which is not above the limit.
    let correlation = xy.abs() / (xx.sqrt() * yy.sqrt());
    (correlation > MIN_CORRELATION).then_some("its correlation with the target is 1")
}
