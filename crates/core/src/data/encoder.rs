//! Encoding of typed features as numbers, fitted to training rows.

mod parts;

#[cfg(feature = "io")]
pub(crate) use parts::FeatureEncoding;

use super::dataset::Dataset;
use super::features::{FeatureType, Groups};
use super::impute::{ImputeStrategy, Imputer};
use super::periods::{Circle, Periods};
use super::rows::Rows;
use super::scale::{Standardizer, standardized};
use super::weights::Weights;
use crate::error::{Error, Result, need_columns};
use ndarray::{Array1, Array2, ArrayView1, Axis, s};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// A feature gets an indicator of missing values if more than this fraction of its values is missing.
const INDICATOR_FRACTION: f64 = 0.01;

/// A category has an indicator column for at most this many levels, the most frequent ones.
const MAX_LEVELS: usize = 100;

/// How to encode features.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Encoding {
    /// What replaces missing numbers; `None` if missing values are an error.
    pub impute: Option<ImputeStrategy>,
    /// Whether to standardize.
    pub standardize: bool,
}

impl Default for Encoding {
    fn default() -> Self {
        Self { impute: Some(ImputeStrategy::Auto), standardize: true }
    }
}

impl Encoding {
    fn adds_indicators(self) -> bool {
        self.impute == Some(ImputeStrategy::Auto)
    }
}

/// Encodes typed features as columns of numbers, by statistics of the training rows.
///
/// | feature | columns |
/// |---|---|
/// | number | $(v - \mu) / \sigma$; missing values are imputed first, and may get an indicator column, standardized too |
/// | date with periods | as a number; two more columns for each period, the coordinates of a point on a circle |
/// | category of two levels | 0 and 1, standardized |
/// | category | a column per level, $s (1 - p_l)$ for level $l$ and $-s p_l$ otherwise, where $p_l$ is the frequency of the level |
///
/// With $s^2 = 1 / (1 - \sum_l p_l^2)$ the mean squared distance of two rows in a category is 2, as in a standardized
/// number: all features weigh the same in a distance. A missing category is a level of its own if the training rows have
/// missing values. If there are more than 100 levels, the least frequent ones share a column. Categories that the training
/// rows do not have are in that column, or in none. Without standardization numbers stay and categories are 0 and 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Encoder {
    n_features: usize,
    /// Imputation of numbers; `None` if missing values are an error.
    imputer: Option<Imputer>,
    scaler: Option<Standardizer>,
    /// Empty if every feature is a number that becomes a single column.
    features: Vec<FeatureEncoder>,
}

/// The encoding of one feature.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum FeatureEncoder {
    Number {
        /// Mean and standard deviation of the indicator of missing values.
        indicator: Option<(f64, f64)>,
        /// The periods of a date.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        circles: Vec<Circle>,
    },
    /// A category of two levels, as a single column. Other categories are in the middle.
    Binary {
        /// Number of levels of the category, of which the training rows have two.
        levels: usize,
        /// The code and the value of each of the two.
        values: [(usize, f64); 2],
    },
    Category {
        /// The column of each code; missing values have the last code.
        columns: Vec<Option<usize>>,
        /// The frequency of the level of each column; zeros without standardization.
        frequencies: Vec<f64>,
        scale: f64,
    },
}

impl Encoder {
    /// Learns the encoding of typed features. Sparse features have no categories or indicators.
    pub fn fit(data: &Dataset, encoding: Encoding) -> Result<Self> {
        let (x, weights) = (data.x(), data.weights());
        // Fill values and scales of the codes of categories are computed but not used.
        let imputer = encoding.impute.map(|strategy| Imputer::fit_weighted(x, strategy, weights));
        let scaler = match &imputer {
            _ if !encoding.standardize => None,
            Some(imputer) if data.has_missing() => Some(imputed_scaler(x, weights, imputer)?),
            _ => Some(Standardizer::fit_weighted(x, weights)),
        };
        let mut features = vec![];
        if let Rows::Dense(x) = x
            && (data.is_typed() || encoding.adds_indicators() && data.has_missing())
        {
            let fit = |j| FeatureEncoder::fit(x.column(j), weights, data.feature_type(j), encoding);
            features = (0..data.d()).map(fit).collect();
            let plain = FeatureEncoder::Number { indicator: None, circles: vec![] };
            if features.iter().all(|feature| *feature == plain) {
                features.clear();
            }
        }
        Ok(Self { n_features: data.d(), imputer, scaler, features })
    }

    /// The encoded form of data with the same features.
    pub fn encode(&self, data: &Dataset) -> Result<Dataset> {
        if self.imputer.is_none()
            && data.has_missing()
            && let Some((row, j)) = data.x().first_missing()
        {
            return Err(Error::MissingValue { row: row + 1, column: data.names()[j].clone() });
        }
        let x = self.apply(data.x())?;
        let encoded = match self.features.is_empty() {
            true => Dataset::new(data.names().to_vec(), x, data.target().clone()),
            false => {
                Dataset::encoded(data.names().to_vec(), x.into_dense(), self.groups(), data.target().clone())
            }
        };
        Ok(encoded?.of_rows_of(data))
    }

    /// Encodes rows with the same features.
    pub fn apply(&self, x: &Rows) -> Result<Rows> {
        need_columns("features to encode", self.n_features, x.d())?;
        let x = match x {
            Rows::Sparse(_) if self.features.is_empty() => return self.apply_to_sparse(x),
            Rows::Sparse(_) => &x.to_dense(),
            Rows::Dense(x) => x,
        };
        let number = |value: f64, j: usize| {
            let value = self.imputer.as_ref().filter(|_| value.is_nan()).map_or(value, |i| i.values[j]);
            self.scaler.as_ref().map_or(value, |s| standardized(value, s.shift[j], s.scale[j]))
        };
        let groups = self.groups();
        let mut out = Array2::zeros((x.nrows(), groups.n_columns()));
        let rows = out.axis_iter_mut(Axis(0)).into_par_iter().zip(x.axis_iter(Axis(0)));
        rows.for_each(|(mut out, row)| {
            let out = out.as_slice_mut().expect("rows of a new matrix are contiguous");
            for (j, &value) in row.iter().enumerate() {
                match self.features.get(j) {
                    None => out[j] = number(value, j),
                    Some(feature) => feature.write(value, number(value, j), &mut out[groups.columns(j)]),
                }
            }
        });
        Ok(out.into())
    }

    fn apply_to_sparse(&self, x: &Rows) -> Result<Rows> {
        let incomplete = self.imputer.as_ref().filter(|_| x.first_missing().is_some());
        let imputed = incomplete.map(|imputer| imputer.apply(x)).transpose()?;
        match &self.scaler {
            Some(scaler) => scaler.apply(imputed.as_ref().unwrap_or(x)),
            None => Ok(imputed.unwrap_or_else(|| x.clone())),
        }
    }

    /// The columns of each feature.
    pub fn groups(&self) -> Groups {
        if self.features.is_empty() {
            return Groups::single(self.n_features);
        }
        Groups::of_sizes(self.features.iter().map(FeatureEncoder::n_columns))
    }

    /// Whether every feature is a number that stays a single column.
    pub fn keeps_columns(&self) -> bool {
        self.features.is_empty()
    }

    /// Whether it standardizes.
    pub fn standardizes(&self) -> bool {
        self.scaler.is_some()
    }

    /// Whether it imputes missing values.
    pub fn imputes(&self) -> bool {
        self.imputer.is_some()
    }

    /// Whether its parts are consistent, for this number of features; a file may be corrupt.
    pub(crate) fn is_sound(&self, n_features: usize) -> bool {
        let numbers =
            |values: &Array1<f64>| values.len() == n_features && values.iter().all(|v| v.is_finite());
        self.n_features == n_features
            && (self.features.is_empty() || self.features.len() == n_features)
            && self.imputer.as_ref().is_none_or(|imputer| numbers(&imputer.values))
            && self.scaler.as_ref().is_none_or(|scaler| {
                numbers(&scaler.shift) && numbers(&scaler.scale) && scaler.scale.iter().all(|v| *v != 0.0)
            })
            && self.features.iter().all(FeatureEncoder::is_sound)
    }

    /// The features that are constant in the training rows; empty without standardization.
    pub fn constant(&self) -> &[usize] {
        self.scaler.as_ref().map_or(&[], |scaler| &scaler.constant)
    }

    /// Means of the numbers, if they are standardized.
    pub fn shift(&self) -> Option<&Array1<f64>> {
        self.scaler.as_ref().map(|scaler| &scaler.shift)
    }

    /// Standard deviations of the numbers, if they are standardized.
    pub fn scale(&self) -> Option<&Array1<f64>> {
        self.scaler.as_ref().map(|scaler| &scaler.scale)
    }
}

/// Typed data with standardized numbers; categories and missing values stay.
pub(crate) fn standardized_numbers(data: &Dataset) -> Result<Dataset> {
    let mut scaler = Standardizer::fit_weighted(data.x(), data.weights());
    for j in (0..data.d()).filter(|&j| data.feature_type(j).is_category()) {
        (scaler.shift[j], scaler.scale[j]) = (0.0, 1.0);
    }
    data.with_x(scaler.apply(data.x())?)
}

impl FeatureEncoder {
    fn fit(values: ArrayView1<f64>, weights: Weights, kind: FeatureType, encoding: Encoding) -> Self {
        match kind {
            FeatureType::Number => Self::fit_number(values, weights, Periods::default(), encoding),
            FeatureType::Date(periods) => Self::fit_number(values, weights, periods, encoding),
            FeatureType::Category { levels } => {
                Self::fit_category(values, weights, levels, encoding.standardize)
            }
        }
    }

    fn fit_number(values: ArrayView1<f64>, weights: Weights, periods: Periods, encoding: Encoding) -> Self {
        let rows = values.iter().enumerate();
        let missing = rows.filter(|(_, v)| v.is_nan()).map(|(row, _)| weights.of(row)).sum::<f64>();
        let missing = missing / weights.total(values.len());
        // A feature that is always missing has a constant indicator.
        let indicator =
            encoding.adds_indicators() && missing > INDICATOR_FRACTION && !values.iter().all(|v| v.is_nan());
        let scaling =
            if encoding.standardize { (missing, (missing * (1.0 - missing)).sqrt()) } else { (0.0, 1.0) };
        let circle = |period| Circle::fit(period, values.iter().copied(), weights, encoding.standardize);
        Self::Number {
            indicator: indicator.then_some(scaling),
            circles: periods.iter().map(circle).collect(),
        }
    }

    fn fit_category(values: ArrayView1<f64>, weights: Weights, levels: usize, standardize: bool) -> Self {
        // Codes of levels, of other categories and of missing values.
        let codes: Vec<usize> = values.iter().map(|&v| code(v, levels)).collect();
        let counts = weights.sums(&codes, levels + 2);
        let mut present: Vec<usize> = (0..levels + 2).filter(|&c| c != levels && counts[c] > 0.0).collect();
        let has_rare = present.len() > MAX_LEVELS || counts[levels] > 0.0;
        if present.len() > MAX_LEVELS {
            present.sort_by(|&a, &b| counts[b].total_cmp(&counts[a]));
            present.truncate(MAX_LEVELS - 1);
            present.sort_unstable();
        }
        // The column of all other categories comes last. A feature without values needs a column, too.
        let shared = (has_rare || present.is_empty()).then_some(present.len());
        let mut columns = vec![shared; levels + 2];
        present.iter().enumerate().for_each(|(column, &c)| columns[c] = Some(column));
        let mut sizes = vec![0.0; present.len() + usize::from(shared.is_some())];
        for (column, count) in columns.iter().zip(&counts) {
            column.iter().for_each(|&column| sizes[column] += count);
        }
        if let ([first, second], None) = (present.as_slice(), shared) {
            return Self::fit_binary(&codes, weights, levels, [*first, *second], standardize);
        }
        if !standardize {
            return Self::Category { columns, frequencies: vec![0.0; sizes.len()], scale: 1.0 };
        }
        let n = weights.total(values.len().max(1));
        let frequencies: Vec<f64> = sizes.iter().map(|size| size / n).collect();
        let equal: f64 = frequencies.iter().map(|p| p * p).sum();
        // All rows of a constant feature are equal; 1 - equal is then 0 up to rounding.
        let is_constant = sizes.iter().filter(|size| **size > 0.0).count() <= 1;
        let scale = if is_constant { 1.0 } else { (1.0 - equal).sqrt().recip() };
        Self::Category { columns, frequencies, scale }
    }

    fn fit_binary(
        all: &[usize],
        weights: Weights,
        levels: usize,
        codes: [usize; 2],
        standardize: bool,
    ) -> Self {
        let scaled = if standardize {
            let is_second = |&code: &usize| f64::from(u8::from(code == codes[1]));
            let numbers = Array1::from_iter(all.iter().map(is_second)).insert_axis(Axis(1));
            let scaler = Standardizer::fit_weighted(&numbers.into(), weights);
            [0.0, 1.0].map(|v| standardized(v, scaler.shift[0], scaler.scale[0]))
        } else {
            [0.0, 1.0]
        };
        Self::Binary { levels, values: [(codes[0], scaled[0]), (codes[1], scaled[1])] }
    }

    fn is_sound(&self) -> bool {
        let scales = |scale: f64| scale.is_finite() && scale != 0.0;
        match self {
            Self::Number { indicator, circles } => {
                indicator.is_none_or(|(shift, scale)| shift.is_finite() && scales(scale))
                    && circles.iter().all(Circle::is_sound)
            }
            Self::Binary { levels, values } => {
                values.iter().all(|(code, value)| *code <= levels.saturating_add(1) && value.is_finite())
            }
            Self::Category { columns, frequencies, scale } => {
                // Codes of other categories and of missing values are always there.
                columns.len() >= 2
                    && columns.iter().flatten().all(|&column| column < frequencies.len())
                    && !frequencies.is_empty()
                    && frequencies.iter().all(|p| p.is_finite())
                    && scales(*scale)
            }
        }
    }

    fn n_columns(&self) -> usize {
        match self {
            Self::Number { indicator, circles } => 1 + usize::from(indicator.is_some()) + 2 * circles.len(),
            Self::Binary { .. } => 1,
            Self::Category { frequencies, .. } => frequencies.len(),
        }
    }

    /// Writes the columns of the feature in one row, given its value and, for a number, its imputed and scaled value.
    fn write(&self, value: f64, number: f64, out: &mut [f64]) {
        match self {
            Self::Number { indicator, circles } => {
                out[0] = number;
                let (indicated, others) = out[1..].split_at_mut(usize::from(indicator.is_some()));
                for (circle, columns) in circles.iter().zip(others.chunks_exact_mut(2)) {
                    columns.copy_from_slice(&circle.columns(value));
                }
                if let Some((shift, scale)) = *indicator {
                    indicated[0] = standardized(f64::from(u8::from(value.is_nan())), shift, scale);
                }
            }
            Self::Binary { levels, values: [first, second] } => {
                out[0] = match code(value, *levels) {
                    code if code == first.0 => first.1,
                    code if code == second.0 => second.1,
                    _ => 0.5 * (first.1 + second.1),
                };
            }
            Self::Category { columns, frequencies, scale } => {
                out.iter_mut().zip(frequencies).for_each(|(cell, p)| *cell = -p * scale);
                if let Some(column) = columns[code(value, columns.len() - 2)] {
                    out[column] += scale;
                }
            }
        }
    }
}

/// A scaler of imputed rows.
fn imputed_scaler(x: &Rows, weights: Weights, imputer: &Imputer) -> Result<Standardizer> {
    let Rows::Dense(x) = x else { return Ok(Standardizer::fit_weighted(&imputer.apply(x)?, weights)) };
    // A few columns at a time: a copy of all of them needs as much memory as the data.
    const COLUMNS: usize = 16;
    let (mut shift, mut scale, mut constant) = (vec![], vec![], vec![]);
    for start in (0..x.ncols()).step_by(COLUMNS) {
        let columns = start..x.ncols().min(start + COLUMNS);
        let mut block = x.slice(s![.., columns.clone()]).to_owned();
        let fill = imputer.values.slice(s![columns]);
        block.zip_mut_with(&fill, |v, fill| *v = if v.is_nan() { *fill } else { *v });
        let scaler = Standardizer::fit_weighted(&block.into(), weights);
        shift.extend(scaler.shift);
        scale.extend(scaler.scale);
        constant.extend(scaler.constant.iter().map(|j| start + j));
    }
    Ok(Standardizer { shift: shift.into(), scale: scale.into(), constant })
}

/// The code of a value: a level, `levels` for another category, `levels + 1` for a missing value.
fn code(value: f64, levels: usize) -> usize {
    if value.is_nan() { levels.saturating_add(1) } else { (value as usize).min(levels) }
}

#[cfg(test)]
mod tests;
