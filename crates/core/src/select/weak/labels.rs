//! Class labels, as weak classifiers use them.

use crate::data::{Classes, is_constant};
use crate::error::{Error, Result};

/// The nonempty classes, numbered consecutively.
#[derive(Debug, Clone)]
pub(in crate::select) struct Labels {
    pub codes: Vec<u8>,
    pub counts: Vec<usize>,
}

impl Labels {
    pub fn new(classes: &Classes, method: &'static str) -> Result<Self> {
        let counts = classes.counts();
        let present: Vec<usize> = (0..counts.len()).filter(|&c| counts[c] > 0).collect();
        if present.len() > 256 {
            return Err(Error::param(method, "number of classes", "at most 256", present.len()));
        }
        let mut number = vec![0; counts.len()];
        present.iter().enumerate().for_each(|(to, &from)| number[from] = to as u8);
        Ok(Self {
            codes: classes.codes.iter().map(|&c| number[c]).collect(),
            counts: present.iter().map(|&c| counts[c]).collect(),
        })
    }

    /// The labels of these samples; classes keep their numbers.
    pub fn take(&self, rows: &[usize]) -> Self {
        let codes: Vec<u8> = rows.iter().map(|&i| self.codes[i]).collect();
        let mut counts = vec![0; self.n_classes()];
        codes.iter().for_each(|&c| counts[usize::from(c)] += 1);
        Self { codes, counts }
    }

    pub fn n(&self) -> usize {
        self.codes.len()
    }

    pub fn n_classes(&self) -> usize {
        self.counts.len()
    }

    /// The weight of a sample of each class: 1, or balanced in inverse proportion to the class size. Weights are
    /// integers so that sums are exact, and for two classes the proportion is as well.
    pub fn weights(&self, balanced: bool) -> Vec<u64> {
        match self.counts.as_slice() {
            _ if !balanced => vec![1; self.n_classes()],
            [a, b] => vec![*b as u64, *a as u64],
            // A subset of samples may lack a class.
            counts => counts.iter().map(|&count| (1 << 32) / (count as u64).max(1)).collect(),
        }
    }

    /// The most frequent class; ties go to the class of the first sample, so that the choice does not depend on the
    /// class names.
    pub fn majority(&self) -> u8 {
        let most = self.counts.iter().max().copied().unwrap_or(0);
        self.codes.iter().copied().find(|&c| self.counts[usize::from(c)] == most).unwrap_or(0)
    }
}

/// Mean and standard deviation of a feature, or `None` if it is constant up to rounding.
pub(super) fn mean_and_std(values: &[f64]) -> Option<(f64, f64)> {
    let n = values.len() as f64;
    let mean = values.iter().map(|v| v / n).sum::<f64>();
    // Squares of the largest deviation must not overflow.
    let unit = values.iter().fold(0.0_f64, |largest, v| largest.max((v - mean).abs()));
    if unit == 0.0 {
        return None;
    }
    let std = unit * (values.iter().map(|v| ((v - mean) / unit).powi(2)).sum::<f64>() / n).sqrt();
    (!is_constant(mean, std) && std.is_finite()).then_some((mean, std))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_classes_get_no_code() {
        let classes = Classes::new(vec![3, 1, 3], ["a", "b", "c", "d"].map(String::from).to_vec()).unwrap();
        let labels = Labels::new(&classes, "m").unwrap();
        assert_eq!(labels.codes, [1, 0, 1]);
        assert_eq!(labels.counts, [1, 2]);
        assert_eq!(labels.majority(), 1);
    }

    #[test]
    fn ties_go_to_the_class_of_the_first_sample() {
        for codes in [vec![0, 1], vec![1, 0]] {
            let labels = Labels::new(&Classes::from_codes(codes.clone()), "m").unwrap();
            assert_eq!(usize::from(labels.majority()), codes[0]);
        }
    }

    #[test]
    fn constant_features_have_no_mean_and_std() {
        assert_eq!(mean_and_std(&[0.1 + 0.2, 0.3, 0.3]), None);
        assert_eq!(mean_and_std(&[-1e300, 1e300]), Some((0.0, 1e300)));
        assert_eq!(mean_and_std(&[1.0, 3.0]), Some((2.0, 1.0)));
    }
}
