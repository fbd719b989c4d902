//! The target: classes or numbers.

use super::weights::Weights;
use crate::error::{Error, Result};
use ndarray::Array2;
use serde::{Deserialize, Serialize};

/// The target (dependent variable).
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    /// No target (unsupervised).
    None,
    /// Classification: a class per sample.
    Classes(Classes),
    /// Regression: a number per sample.
    Continuous(Vec<f64>),
    /// Several numbers per sample: a row per sample and a column per output.
    Outputs(Array2<f64>),
}

/// Class labels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Classes {
    /// The class of each sample, an index into `names`.
    pub codes: Vec<usize>,
    /// The class names.
    pub names: Vec<String>,
}

impl Target {
    /// Whether it has at least two values.
    pub(crate) fn varies(&self) -> bool {
        match self {
            Self::None => false,
            Self::Classes(classes) => classes.codes.iter().any(|code| *code != classes.codes[0]),
            Self::Continuous(values) => values.iter().any(|v| *v != values[0]),
            Self::Outputs(y) => y.rows().into_iter().any(|row| row != y.row(0)),
        }
    }
}

impl Classes {
    /// Checks that every code has a name.
    pub fn new(codes: Vec<usize>, names: Vec<String>) -> Result<Self> {
        match codes.iter().position(|&c| c >= names.len()) {
            Some(row) => Err(Error::Shape {
                what: format!("class of row {}", row + 1),
                expected: format!("below {}", names.len()),
                got: codes[row].to_string(),
            }),
            None => Ok(Self { codes, names }),
        }
    }

    /// Classes named by their codes.
    pub fn from_codes(codes: Vec<usize>) -> Self {
        let n = codes.iter().max().map_or(0, |m| m + 1);
        Self { codes, names: (0..n).map(|c| c.to_string()).collect() }
    }

    /// Number of samples per class.
    pub fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.names.len()];
        self.codes.iter().for_each(|&c| counts[c] += 1);
        counts
    }

    /// The sum of the weights of the rows of each class.
    pub(crate) fn weighted_counts(&self, weights: Weights) -> Vec<f64> {
        weights.sums(&self.codes, self.names.len())
    }

    /// Returns an error if every class has a single sample; the target is then most likely an id.
    pub(crate) fn need_pair(&self, method: &'static str) -> Result<()> {
        if self.counts().iter().any(|&count| count > 1) {
            return Ok(());
        }
        Err(Error::SingletonClasses { method, rows: self.codes.len() })
    }

    /// The same without classes that have no samples.
    pub(super) fn present(&self) -> Self {
        let counts = self.counts();
        let kept: Vec<usize> = (0..self.names.len()).filter(|&code| counts[code] > 0).collect();
        let codes = self.codes.iter().map(|code| kept.partition_point(|known| known < code)).collect();
        Self { codes, names: kept.into_iter().map(|code| self.names[code].clone()).collect() }
    }

    /// Number of classes with at least one sample.
    pub fn n_present(&self) -> usize {
        self.counts().iter().filter(|&&c| c > 0).count()
    }
}

/// Checks the number of rows, and that the values are finite.
pub(super) fn check_target(target: &Target, n_rows: usize) -> Result<()> {
    let rows = match target {
        Target::None => n_rows,
        Target::Classes(classes) => classes.codes.len(),
        Target::Continuous(values) => values.len(),
        Target::Outputs(y) => y.nrows(),
    };
    if rows != n_rows {
        return Err(Error::Shape {
            what: "target".into(),
            expected: format!("{n_rows} rows"),
            got: rows.to_string(),
        });
    }
    let (columns, bad) = match target {
        Target::Continuous(values) => (1, values.iter().copied().enumerate().find(|(_, v)| !v.is_finite())),
        Target::Outputs(y) => (y.ncols(), y.iter().copied().enumerate().find(|(_, v)| !v.is_finite())),
        _ => return Ok(()),
    };
    match bad {
        Some((at, value)) => Err(Error::NonFinite { row: at / columns + 1, column: "target".into(), value }),
        None => Ok(()),
    }
}
