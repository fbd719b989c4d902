//! Vectors of features and of the target whose squared products are the statistic.

use super::moments::Moments;
use crate::context::Context;
use crate::data::{Dataset, FeatureType};
use crate::dependence::{TargetKernel, column_factor, target_factor};
use crate::error::{Error, Result};
use crate::interactions::{Columns, FeatureFunctions, Orthonormal, ln_dependence, target_columns};
use crate::simd::dot;

/// The fraction of the trace that the factor of a Gaussian kernel may omit.
const TOLERANCE: f64 = 1e-6;
/// Gamma of the Gaussian kernel of a standardized feature: its bandwidth is one standard deviation.
const GAMMA: f64 = 0.5;
/// The rank of the factor for memory plans.
const RANK: usize = 16;

crate::choices! {
    /// A measure of the dependence of the target on a feature.
    pub enum DependenceStatistic {
        /// Squared correlations with cosines of the ranks of a number, and with indicators of a category: about chi-squared
        /// distributed if the target does not depend on the feature.
        Cosine = "cosine",
        /// HSIC with a Gaussian kernel on the standardized number (bandwidth 1), indicators of a category, and the same kernel
        /// of the target as HSIC Lasso.
        Hsic = "hsic",
    }
}

/// The vectors of a feature or of the target.
pub(super) struct Side {
    pub vectors: Vec<Vec<f64>>,
    kind: Kind,
}

/// What the vectors are, with what their asymptotic distribution depends on.
#[derive(Debug, Clone, Copy)]
enum Kind {
    /// Orthonormal functions.
    Functions { kurtosis: f64 },
    /// The centered factor of a kernel matrix.
    Factor(Moments),
}

impl Side {
    /// Orthonormal functions.
    fn orthonormal(FeatureFunctions { vectors, kurtosis }: FeatureFunctions) -> Self {
        Self { vectors, kind: Kind::Functions { kurtosis } }
    }

    /// A centered factor of a kernel matrix.
    fn factor(vectors: Vec<Vec<f64>>) -> Self {
        let moments = Moments::of_factor(&vectors);
        Self { vectors, kind: Kind::Factor(moments) }
    }

    /// Number of samples; 0 without vectors.
    pub fn n(&self) -> usize {
        self.vectors.first().map_or(0, Vec::len)
    }

    /// The target, without the functions of covariates.
    pub fn of_target(
        data: &Dataset,
        statistic: DependenceStatistic,
        removed: &Orthonormal,
        method: &'static str,
        ctx: &Context,
    ) -> Result<Self> {
        let side = match statistic {
            DependenceStatistic::Cosine => {
                Self::orthonormal(FeatureFunctions::new(target_columns(data, method)?))
            }
            DependenceStatistic::Hsic => {
                let factor = target_factor(data.target(), TargetKernel::Auto, method, ctx)?;
                Self::factor(factor.columns().into_iter().map(|column| column.to_vec()).collect())
            }
        };
        if removed.vectors.is_empty() {
            return Ok(side);
        }
        let residual = side.without(removed);
        if residual.size() > TOLERANCE * side.size() {
            return Ok(residual);
        }
        let why = "the target is a function of the covariates; use fewer of them".into();
        Err(Error::Breakdown { step: method, why })
    }

    /// The sum of squares of all entries.
    fn size(&self) -> f64 {
        self.vectors.iter().map(|vector| dot(vector, vector)).sum()
    }

    /// Residuals on other functions.
    pub fn without(&self, removed: &Orthonormal) -> Self {
        if matches!(self.kind, Kind::Functions { .. }) {
            return Self::orthonormal(FeatureFunctions::new(removed.complement(&self.vectors)));
        }
        let mut vectors = self.vectors.clone();
        vectors.iter_mut().for_each(|vector| removed.remove_from(vector));
        Self::factor(vectors)
    }

    /// With the samples in another order.
    pub fn permuted(&self, order: &[usize]) -> Self {
        let vectors = self.vectors.iter().map(|vector| order.iter().map(|&i| vector[i]).collect()).collect();
        Self { vectors, kind: self.kind }
    }

    /// The logarithm of the asymptotic p-value of a sum of squared products with the vectors of the target, after `removed`
    /// functions were removed from both.
    pub fn ln_p_value(&self, target: &Self, sum: f64, removed: usize) -> f64 {
        match (self.kind, target.kind) {
            (Kind::Factor(own), Kind::Factor(other)) => {
                own.ln_p_value(&other, sum, target.n() as f64 - removed as f64)
            }
            (Kind::Functions { kurtosis }, Kind::Functions { kurtosis: of_target }) => {
                ln_dependence((&self.vectors, kurtosis), (&target.vectors, of_target), sum, removed)
            }
            _ => unreachable!("one statistic has one kind of vectors"),
        }
    }
}

/// Makes the vectors of features.
pub(super) struct FeatureVectors<'a> {
    pub data: &'a Dataset,
    columns: Columns<'a>,
    statistic: DependenceStatistic,
    n_functions: usize,
}

impl<'a> FeatureVectors<'a> {
    pub fn new(data: &'a Dataset, statistic: DependenceStatistic, n_functions: usize) -> Self {
        Self { data, columns: Columns::new(data, n_functions), statistic, n_functions }
    }

    /// About the most vectors of a feature.
    pub fn most(&self) -> usize {
        match self.statistic {
            DependenceStatistic::Cosine => self.n_functions,
            DependenceStatistic::Hsic => RANK,
        }
    }

    /// The vectors of a feature without the functions of covariates; none for a constant feature.
    pub fn of(&self, feature: usize, removed: &Orthonormal) -> Side {
        let side = match self.statistic {
            DependenceStatistic::Cosine => {
                Side::orthonormal(self.columns.functions(feature, self.n_functions))
            }
            DependenceStatistic::Hsic => {
                let column = self.columns.column(feature);
                Side::factor(match self.data.feature_type(feature) {
                    FeatureType::Category { levels } => indicators(&column, levels),
                    FeatureType::Number | FeatureType::Date(_) => gaussian_factor(&column),
                })
            }
        };
        if removed.vectors.is_empty() { side } else { side.without(removed) }
    }
}

/// The centered indicators of the levels of a category; 0 for missing values.
fn indicators(codes: &[f64], levels: usize) -> Vec<Vec<f64>> {
    let is = |level: usize| codes.iter().filter(move |&&code| code as usize == level && !code.is_nan());
    let present = codes.iter().filter(|code| !code.is_nan()).count() as f64;
    // One more level for categories that were not among the levels.
    let used = (0..=levels).filter(|&level| is(level).next().is_some());
    let column = |level: usize| {
        let share = is(level).count() as f64 / present;
        let value = |&code: &f64| match code {
            code if code.is_nan() => 0.0,
            code => f64::from(u8::from(code as usize == level)) - share,
        };
        codes.iter().map(value).collect()
    };
    let all: Vec<Vec<f64>> = used.map(column).collect();
    if all.len() > 1 { all } else { vec![] }
}

/// The centered factor of the Gaussian kernel of a standardized column; 0 for missing values.
fn gaussian_factor(column: &[f64]) -> Vec<Vec<f64>> {
    let rows: Vec<usize> = (0..column.len()).filter(|&i| !column[i].is_nan()).collect();
    let largest = rows.iter().map(|&i| column[i].abs()).fold(0.0, f64::max);
    if largest == 0.0 || rows.is_empty() {
        return vec![];
    }
    // Squares neither overflow nor underflow.
    let values: Vec<f64> = rows.iter().map(|&i| column[i] / largest).collect();
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let deviation = (values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / n).sqrt();
    if deviation == 0.0 || values.iter().all(|v| *v == values[0]) {
        return vec![];
    }
    let standardized: Vec<f64> = values.iter().map(|v| (v - mean) / deviation).collect();
    let factor = column_factor(&standardized, GAMMA, TOLERANCE);
    let scatter = |part: ndarray::ArrayView1<f64>| {
        let mean = part.sum() / n;
        let mut out = vec![0.0; column.len()];
        rows.iter().zip(part).for_each(|(&row, v)| out[row] = v - mean);
        out
    };
    factor.columns().into_iter().map(scatter).collect()
}
