//! Functions of features and of the target as tables over grids of values.

use crate::blocks::{Block, SampledRows, SmallestValues};
use crate::data::{mean_rank, outer_fences};
use ndarray::{Array2, ArrayView1};
use serde::{Deserialize, Serialize};
use std::f64::consts::{PI, SQRT_2};

/// Values of a grid, at most.
const GRID: usize = 1024;

/// Functions of one feature: a value belongs to the last point of the grid that is not larger, or to the first.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Tabulated {
    /// The points, in ascending order.
    points: Vec<f64>,
    /// The number of rows at each point; of a sample, unless all rows are known.
    counts: Vec<f64>,
    /// A row per function, a column per point.
    values: Array2<f64>,
}

impl Tabulated {
    /// The functions $\sqrt 2 \cos(\pi k u)$ of the ranks $u$ of a feature, $k = 1, \ldots$, up to `limit`; not centered.
    pub(super) fn cosines(known: &SmallestValues, sample: ArrayView1<f64>, limit: usize) -> Self {
        let (points, counts) = match known.is_complete() {
            true => (known.values().to_vec(), known.counts().to_vec()),
            false => grid(sample),
        };
        let total: f64 = counts.iter().sum();
        let mut below = 0.0;
        let ranks: Vec<f64> = counts
            .iter()
            .map(|count| {
                let u = (below + count / 2.0) / total;
                below += count;
                u
            })
            .collect();
        let n_functions = limit.min(points.len().saturating_sub(1));
        let value = |(k, g): (usize, usize)| SQRT_2 * (PI * (k + 1) as f64 * ranks[g]).cos();
        Self { values: Array2::from_shape_fn((n_functions, points.len()), value), points, counts }
    }

    /// Number of functions.
    pub(super) fn n_functions(&self) -> usize {
        self.values.nrows()
    }

    /// Linear combinations of the functions and a constant: row `i` of the result is `coef[i] . (f - mean)`.
    pub(super) fn combined(&self, coef: &Array2<f64>, mean: &[f64]) -> Self {
        let centered = Array2::from_shape_fn(self.values.dim(), |(k, g)| self.values[[k, g]] - mean[k]);
        Self { values: coef.dot(&centered), points: self.points.clone(), counts: self.counts.clone() }
    }

    /// Some of the functions.
    pub(super) fn taken(&self, which: &[usize]) -> Self {
        Self { values: self.values.select(ndarray::Axis(0), which), ..self.clone() }
    }

    /// The mean fourth power of a function.
    pub(super) fn kurtosis(&self, function: usize) -> f64 {
        let total: f64 = self.counts.iter().sum();
        let row = self.values.row(function);
        row.iter().zip(&self.counts).map(|(v, count)| count * v.powi(4)).sum::<f64>() / total
    }

    /// Writes the functions of values to rows of `out`, a column per value.
    pub(super) fn write(&self, column: ArrayView1<f64>, out: &mut ndarray::ArrayViewMut2<f64>) {
        for (i, &v) in column.iter().enumerate() {
            let at = self.points.partition_point(|point| *point <= v).saturating_sub(1);
            for (k, row) in self.values.rows().into_iter().enumerate() {
                out[[k, i]] = row[at];
            }
        }
    }

    /// The functions of values, a vector per function.
    pub(super) fn vectors(&self, column: ArrayView1<f64>) -> Vec<Vec<f64>> {
        let mut out = Array2::zeros((self.n_functions(), column.len()));
        self.write(column, &mut out.view_mut());
        out.rows().into_iter().map(|row| row.to_vec()).collect()
    }

    /// Memory in bytes.
    pub(super) fn bytes(&self) -> f64 {
        8.0 * (self.values.len() + 2 * self.points.len()) as f64
    }
}

/// The distinct values of a sample with their numbers, or about a thousand of them with the numbers between.
fn grid(sample: ArrayView1<f64>) -> (Vec<f64>, Vec<f64>) {
    let mut sorted: Vec<f64> = sample.iter().map(|v| v + 0.0).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let runs: Vec<&[f64]> = sorted.chunk_by(|a, b| a == b).collect();
    let per_point = runs.len().div_ceil(GRID);
    let point = |runs: &[&[f64]]| (runs[0][0], runs.iter().map(|run| run.len() as f64).sum::<f64>());
    runs.chunks(per_point.max(1)).map(point).unzip()
}

/// Columns of the target of a row, not centered.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum TargetTable {
    /// Indicators of these classes.
    Classes(Vec<usize>),
    /// The number between two fences, less their middle, in units of the largest absolute value.
    Fenced { low: f64, high: f64, middle: f64, unit: f64 },
    /// The rank among sorted numbers.
    Ranks(Vec<f64>),
}

impl TargetTable {
    /// Indicators of the classes that have at least `min_rows` rows inside and outside; of all if there are none.
    pub(super) fn of_classes(counts: &[f64], min_rows: f64) -> Self {
        let n: f64 = counts.iter().sum();
        let with = |least: f64| -> Vec<usize> {
            let is_large = |c: &usize| counts[*c] >= least && n - counts[*c] >= least;
            (0..counts.len()).filter(is_large).collect()
        };
        let large = with(min_rows);
        Self::Classes(if large.is_empty() { with(1.0) } else { large })
    }

    /// A continuous target, by a sample.
    pub(super) fn of_numbers(sample: &SampledRows) -> Self {
        let values = &sample.numbers;
        let Some((low, high)) = outer_fences(values.iter().copied()) else {
            let mut sorted = values.clone();
            sorted.sort_unstable_by(f64::total_cmp);
            return Self::Ranks(sorted);
        };
        // Near the mean, so that sums of squares keep their digits.
        let middle = 0.5 * low + 0.5 * high;
        let unit = values.iter().fold(0.0_f64, |unit, v| unit.max((v.clamp(low, high) - middle).abs()));
        Self::Fenced { low, high, middle, unit }
    }

    /// Number of columns.
    pub(super) fn n_columns(&self) -> usize {
        match self {
            Self::Classes(classes) => classes.len(),
            Self::Fenced { .. } | Self::Ranks(_) => 1,
        }
    }

    /// Writes the columns to rows of `out`, a column per row of the block from `first` on.
    pub(super) fn write(&self, block: &Block, first: usize, out: &mut ndarray::ArrayViewMut2<f64>) {
        let n = out.ncols();
        let numbers = || block.numbers()[first..first + n].iter().enumerate();
        match self {
            Self::Classes(classes) => {
                for (i, code) in block.codes()[first..first + n].iter().enumerate() {
                    for (row, class) in classes.iter().enumerate() {
                        out[[row, i]] = f64::from(u8::from(class == code));
                    }
                }
            }
            Self::Fenced { low, high, middle, unit } => {
                numbers().for_each(|(i, v)| out[[0, i]] = (v.clamp(*low, *high) - middle) / unit);
            }
            Self::Ranks(sorted) => {
                numbers().for_each(|(i, v)| out[[0, i]] = mean_rank(sorted, *v) / sorted.len() as f64);
            }
        }
    }
}
