//! Covariates: columns whose effect on features and target is removed before a test.

use crate::data::{Dataset, FeatureType};
use crate::error::{Error, Result};
use crate::interactions::{Columns, Orthonormal};
use crate::random::Rng;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Functions of the ranks of a covariate that is a number, besides the number and its square, which ranks do not describe in the
/// tails.
const N_FUNCTIONS: usize = 8;
/// The functions of all covariates may use this fraction of the rows.
const MAX_FRACTION: f64 = 0.25;
/// Rows are permuted within strata if at least this fraction of them shares its stratum with another row.
const MIN_SHARED: f64 = 0.9;

/// How a test accounts for covariates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Adjustment {
    /// There are no covariates.
    None,
    /// Functions of the covariates are removed from the target and from the functions of every feature.
    Residuals {
        /// Number of functions of the covariates.
        functions: usize,
    },
    /// The same, and the target is permuted only among rows with the same values of all covariates.
    Strata {
        /// Number of strata.
        strata: usize,
    },
}

impl Adjustment {
    /// In words; `None` without covariates.
    pub fn describe(self) -> Option<String> {
        match self {
            Self::None => None,
            Self::Residuals { functions } => {
                Some(format!("residuals of features and target on functions of the covariates ({functions})"))
            }
            Self::Strata { strata } => {
                Some(format!("permutation within {strata} strata of equal covariates, on residuals"))
            }
        }
    }
}

/// The functions of the covariates, and the rows of each stratum if rows are permuted within strata.
#[derive(Default)]
pub(super) struct Covariates {
    pub basis: Orthonormal,
    strata: Option<Vec<Vec<usize>>>,
}

impl Covariates {
    /// `permuted`: whether the test permutes the target.
    pub fn new(data: &Dataset, features: &[usize], permuted: bool, method: &'static str) -> Result<Self> {
        if features.is_empty() {
            return Ok(Self::default());
        }
        let data = data.take_columns(features);
        let limit = |j: usize| match data.feature_type(j) {
            FeatureType::Category { levels } => levels,
            FeatureType::Number | FeatureType::Date(_) => N_FUNCTIONS,
        };
        let columns = Columns::new(&data, (0..data.d()).map(limit).max().unwrap_or(0));
        let mut basis = Orthonormal::default();
        for j in 0..data.d() {
            if !data.feature_type(j).is_category() {
                for power in columns.groups.columns(j).flat_map(|column| powers(columns.column(column))) {
                    basis.push(power);
                }
            }
            for function in columns.functions(j, limit(j)).vectors {
                basis.push(function);
            }
        }
        let most = (MAX_FRACTION * data.n() as f64) as usize;
        if basis.vectors.len() > most {
            let expected = format!("covariates with at most {most} functions for {} rows", data.n());
            return Err(Error::param(method, "covariates", expected, basis.vectors.len()));
        }
        let are_categories = (0..data.d()).all(|j| data.feature_type(j).is_category());
        let strata = (permuted && are_categories).then(|| strata_of(&columns, &data));
        Ok(Self { basis, strata: strata.filter(|strata| can_permute(strata, data.n())) })
    }

    pub fn adjustment(&self) -> Adjustment {
        match &self.strata {
            Some(strata) => Adjustment::Strata { strata: strata.len() },
            None if self.basis.vectors.is_empty() => Adjustment::None,
            None => Adjustment::Residuals { functions: self.basis.vectors.len() },
        }
    }

    /// Whether permuted residuals must be made orthogonal to the functions of the covariates again; within strata they remain
    /// so.
    pub fn changes_permuted(&self) -> bool {
        self.strata.is_none() && !self.basis.vectors.is_empty()
    }

    /// A random order of `n` rows, within strata if there are any.
    pub fn permutation(&self, n: usize, rng: &mut Rng) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        match &self.strata {
            None => rng.shuffle(&mut order),
            Some(strata) => {
                for rows in strata {
                    let mut shuffled = rows.clone();
                    rng.shuffle(&mut shuffled);
                    rows.iter().zip(shuffled).for_each(|(&row, from)| order[row] = from);
                }
            }
        }
        order
    }
}

/// The values of a column and their squares, both centered; missing values become the mean.
fn powers(column: Vec<f64>) -> [Vec<f64>; 2] {
    let centered = |values: Vec<f64>| -> Vec<f64> {
        let (sum, n) =
            values.iter().filter(|v| !v.is_nan()).fold((0.0, 0.0), |(sum, n), v| (sum + v, n + 1.0));
        values.into_iter().map(|v| if v.is_nan() { 0.0 } else { v - sum / n }).collect()
    };
    let values = centered(column);
    // Squares of large values do not overflow, nor do those of small ones underflow.
    let largest = values.iter().fold(f64::MIN_POSITIVE, |largest, v| largest.max(v.abs()));
    let values: Vec<f64> = values.into_iter().map(|v| v / largest).collect();
    let squares = centered(values.iter().map(|v| v * v).collect());
    [values, squares]
}

/// The rows with the same values of all covariates.
fn strata_of(columns: &Columns, data: &Dataset) -> Vec<Vec<usize>> {
    let columns: Vec<Vec<f64>> = (0..data.d()).map(|j| columns.column(j)).collect();
    let mut strata: BTreeMap<Vec<u64>, Vec<usize>> = BTreeMap::new();
    for row in 0..data.n() {
        let key = columns.iter().map(|column| column[row].to_bits()).collect();
        strata.entry(key).or_default().push(row);
    }
    strata.into_values().collect()
}

fn can_permute(strata: &[Vec<usize>], n: usize) -> bool {
    let alone = strata.iter().filter(|rows| rows.len() == 1).count();
    (n - alone) as f64 >= MIN_SHARED * n as f64
}
