//! Coordinates in which the constraint on similar pairs is a trace.

use super::pairs::{Graph, NAME, times, transposed_times};
use crate::context::Context;
use crate::data::is_constant;
use crate::error::{Error, Result};
use crate::linalg::{Eigen, symmetric_eigen};
use ndarray::{Array2, Axis, s};

/// Similar pairs agree in a direction if their fraction of the sum of squares over all pairs is below this.
const AGREEMENT: f64 = 1e-10;
/// The automatic ridge; see [`super::XingMetric::ridge`].
pub(super) const RIDGE: f64 = 0.01;

/// The columns in which some pair differs, each scaled to a mean squared difference of 1 over all pairs.
pub(super) struct Table {
    /// The scaled columns, laid out by rows.
    pub x: Array2<f64>,
    /// Their indices among all columns.
    pub columns: Vec<usize>,
    /// Their scales.
    pub scale: Vec<f64>,
    /// The sum of squared differences over all pairs, the same for every column.
    pub squares: f64,
    /// The fraction of it over similar pairs, for every column.
    pub similar: Vec<f64>,
}

impl Table {
    pub fn new(x: Array2<f64>, similar: &Graph, dissimilar: &Graph) -> Result<Self> {
        let mut low = vec![f64::INFINITY; x.ncols()];
        let mut high = vec![f64::NEG_INFINITY; x.ncols()];
        let all: Vec<usize> = (0..x.ncols()).collect();
        let mut x = columns_by_rows(x, &all);
        for row in cells_of_rows(&mut x) {
            for ((low, high), &mut value) in low.iter_mut().zip(&mut high).zip(row) {
                *low = if value < *low { value } else { *low };
                *high = if value > *high { value } else { *high };
            }
        }
        let mut columns = vec![];
        let (mut middles, mut ranges) = (vec![], vec![]);
        for (j, (low, high)) in low.into_iter().zip(high).enumerate() {
            let range = high - low;
            if !range.is_finite() {
                return Err(breakdown(format!(
                    "the range of column {}, from {low:e} to {high:e}, overflows; scale it",
                    j + 1
                )));
            }
            if !is_constant(low.abs().max(high.abs()), range) {
                columns.push(j);
                middles.push(low + range / 2.0);
                ranges.push(range);
            }
        }
        // Scale to a range of 1 first, so that squares do not overflow.
        let mut x = columns_by_rows(x, &columns);
        for row in cells_of_rows(&mut x) {
            for ((cell, middle), range) in row.iter_mut().zip(&middles).zip(&ranges) {
                *cell = (*cell - middle) / range;
            }
        }
        let similar_sums = similar.column_squares(&x);
        let sums: Vec<f64> =
            dissimilar.column_squares(&x).iter().zip(&similar_sums).map(|(a, b)| a + b).collect();
        let keep: Vec<usize> = (0..columns.len()).filter(|&j| sums[j] > 0.0).collect();
        let n = (similar.len() + dissimilar.len()) as f64;
        let rms: Vec<f64> = keep.iter().map(|&j| (sums[j] / n).sqrt()).collect();
        let mut x = columns_by_rows(x, &keep);
        for row in cells_of_rows(&mut x) {
            row.iter_mut().zip(&rms).for_each(|(cell, rms)| *cell /= rms);
        }
        Ok(Self {
            x,
            squares: n,
            similar: keep.iter().map(|&j| similar_sums[j] / sums[j]).collect(),
            scale: keep.iter().zip(&rms).map(|(&j, rms)| ranges[j] * rms).collect(),
            columns: keep.iter().map(|&j| columns[j]).collect(),
        })
    }

    /// Whether the rows of a pair differ enough that weighted sums of squares do not underflow.
    pub fn separates(&self, [i, j]: [usize; 2]) -> bool {
        const LEAST: f64 = 1e-270;
        self.x.row(i).iter().zip(self.x.row(j)).any(|(a, b)| (a - b) * (a - b) > LEAST)
    }
}

/// Some columns, in standard layout.
fn columns_by_rows(x: Array2<f64>, columns: &[usize]) -> Array2<f64> {
    if columns.len() == x.ncols() && x.is_standard_layout() {
        return x;
    }
    x.select(Axis(1), columns).as_standard_layout().into_owned()
}

/// The rows of an array in standard layout.
fn cells_of_rows(x: &mut Array2<f64>) -> impl Iterator<Item = &mut [f64]> {
    x.rows_mut().into_iter().map(|row| row.into_slice().expect("standard layout"))
}

/// Rows $x P$ such that the metric $P B P^\top$ of the columns becomes the metric $B$, whose trace is the sum over similar
/// pairs.
pub(super) struct Frame {
    /// $x P$, laid out by rows.
    pub rows: Array2<f64>,
    /// $P$
    pub transform: Array2<f64>,
}

impl Frame {
    /// Keeps the directions in which some pair differs.
    pub fn new(
        table: &Table,
        similar: &Graph,
        dissimilar: &Graph,
        ridge: Option<f64>,
        ctx: &Context,
    ) -> Result<Self> {
        let mut frame = Self::of_rows(&table.x)?;
        let all = similar.scatter(&frame.rows) + dissimilar.scatter(&frame.rows);
        let eigen = symmetric_eigen(all.view())?;
        let keep = above_rounding(&eigen, 1);
        frame.whiten(&eigen, keep, |value| value);
        ctx.check()?;
        // From the transformed rows: in the matrices small directions are rounding error.
        let eigen = symmetric_eigen(similar.scatter(&frame.rows).view())?;
        let least = eigen.values.last().copied().unwrap_or(0.0);
        let ridge = ridge_for(ridge, least, "direction", ctx)?;
        frame.whiten(&eigen, eigen.values.len(), |value| value.max(0.0) + ridge);
        Ok(frame)
    }

    /// The columns, or coordinates in the span of the rows if there are fewer rows than columns.
    fn of_rows(x: &Array2<f64>) -> Result<Self> {
        let (m, d) = x.dim();
        if m > d {
            return Ok(Self { rows: x.clone(), transform: Array2::eye(d) });
        }
        let mean = x.mean_axis(Axis(0)).expect("pairs have rows");
        let x = x - &mean;
        let eigen = symmetric_eigen(times(x.view(), x.t()).view())?;
        let keep = above_rounding(&eigen, d);
        let mut transform = transposed_times(x.view(), eigen.vectors.slice(s![.., ..keep]));
        for (mut column, value) in transform.columns_mut().into_iter().zip(&eigen.values) {
            column /= value.sqrt();
        }
        Ok(Self { rows: times(x.view(), transform.view()), transform })
    }

    /// Rotates to the first `keep` eigenvectors and divides by the roots of `value` of the eigenvalues.
    fn whiten(&mut self, eigen: &Eigen, keep: usize, value: impl Fn(f64) -> f64) {
        let mut to = eigen.vectors.slice(s![.., ..keep]).to_owned();
        for (mut column, &v) in to.columns_mut().into_iter().zip(&eigen.values) {
            column /= value(v).sqrt();
        }
        self.rows = times(self.rows.view(), to.view());
        self.transform = times(self.transform.view(), to.view());
    }
}

/// The number of eigenvalues of a sum of squares over at least `terms` terms that exceed rounding error.
fn above_rounding(eigen: &Eigen, terms: usize) -> usize {
    let size = eigen.values.len().max(terms) as f64;
    let noise = 10.0 * size * f64::EPSILON * eigen.values[0];
    eigen.values.iter().filter(|&&value| value > noise).count()
}

/// The requested ridge or, by default, [`RIDGE`] if similar pairs agree in a direction in which other pairs differ. `least` is
/// the smallest fraction of similar pairs in the sum of squares over all pairs.
pub(super) fn ridge_for(requested: Option<f64>, least: f64, kind: &str, ctx: &Context) -> Result<f64> {
    match requested {
        Some(ridge) if ridge > 0.0 || least > AGREEMENT => Ok(ridge),
        Some(_) => Err(breakdown(format!(
            "similar pairs agree in a {kind} in which others differ, so distances along it are unbounded; \
             allow a ridge, or give more similar pairs"
        ))),
        None if least > AGREEMENT => Ok(0.0),
        None => {
            ctx.warn(format!(
                "{NAME}: similar pairs agree in a {kind} in which others differ, which would get all the weight; \
                 added a ridge of {RIDGE} times the sum of squares over all pairs"
            ));
            Ok(RIDGE)
        }
    }
}

pub(super) fn breakdown(why: impl Into<String>) -> Error {
    Error::Breakdown { step: NAME, why: why.into() }
}
