//! Rows in units in which the condition on similar pairs is simple.

use super::NAME;
use super::pairs::{Graph, times, transposed_times};
use crate::context::Context;
use crate::data::is_constant;
use crate::error::{Error, Result};
use crate::linalg::{Eigen, symmetric_eigen};
use ndarray::{Array2, Axis, s};

/// Similar pairs whose squares sum up to less than this share of all pairs' do not differ there.
const SAME: f64 = 1e-10;
/// What is added where they do not, unless told otherwise; see [`super::XingMetric::ridge`].
pub(super) const RIDGE: f64 = 0.01;

/// The columns in which some pair differs, each with a mean square of 1 over all pairs.
pub(super) struct Table {
    /// The columns so scaled, laid out by rows.
    pub x: Array2<f64>,
    /// Where they are among all columns.
    pub columns: Vec<usize>,
    /// What they were divided by.
    pub unit: Vec<f64>,
    /// The sum of squares over all pairs, the same for every column.
    pub squares: f64,
    /// The share that similar pairs have in it, column by column.
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
                    "column {} goes from {low:e} to {high:e}, too far for a number; scale it",
                    j + 1
                )));
            }
            if !is_constant(low.abs().max(high.abs()), range) {
                columns.push(j);
                middles.push(low + range / 2.0);
                ranges.push(range);
            }
        }
        // To a range of 1 first: squares of what users give may be no numbers.
        let mut x = columns_by_rows(x, &columns);
        for row in cells_of_rows(&mut x) {
            for ((cell, middle), range) in row.iter_mut().zip(&middles).zip(&ranges) {
                *cell = (*cell - middle) / range;
            }
        }
        let near = similar.column_squares(&x);
        let sums: Vec<f64> = dissimilar.column_squares(&x).iter().zip(&near).map(|(a, b)| a + b).collect();
        let keep: Vec<usize> = (0..columns.len()).filter(|&j| sums[j] > 0.0).collect();
        let n = (similar.len() + dissimilar.len()) as f64;
        let spread: Vec<f64> = keep.iter().map(|&j| (sums[j] / n).sqrt()).collect();
        let mut x = columns_by_rows(x, &keep);
        for row in cells_of_rows(&mut x) {
            row.iter_mut().zip(&spread).for_each(|(cell, spread)| *cell /= spread);
        }
        Ok(Self {
            x,
            squares: n,
            similar: keep.iter().map(|&j| near[j] / sums[j]).collect(),
            unit: keep.iter().zip(&spread).map(|(&j, spread)| ranges[j] * spread).collect(),
            columns: keep.iter().map(|&j| columns[j]).collect(),
        })
    }
}

impl Table {
    /// Whether the rows of a pair differ, by more than what may come down to zero in a weighted sum of squares.
    pub fn tells_apart(&self, [i, j]: [usize; 2]) -> bool {
        const LEAST: f64 = 1e-270;
        self.x.row(i).iter().zip(self.x.row(j)).any(|(a, b)| (a - b) * (a - b) > LEAST)
    }
}

/// Some columns, laid out by rows.
fn columns_by_rows(x: Array2<f64>, columns: &[usize]) -> Array2<f64> {
    if columns.len() == x.ncols() && x.is_standard_layout() {
        return x;
    }
    x.select(Axis(1), columns).as_standard_layout().into_owned()
}

/// The rows of a table that is laid out by rows.
fn cells_of_rows(x: &mut Array2<f64>) -> impl Iterator<Item = &mut [f64]> {
    x.rows_mut().into_iter().map(|row| row.into_slice().expect("rows of pairs are laid out by rows"))
}

/// Rows $x P$ where a metric $P B P^\top$ of the columns is the metric $B$, and where the sum over similar pairs is the
/// trace of $B$.
pub(super) struct Frame {
    /// $x P$, laid out by rows.
    pub rows: Array2<f64>,
    /// $P$
    pub back: Array2<f64>,
}

impl Frame {
    /// All directions in which some pair differs.
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
        frame.turn(&eigen, keep, |value| value);
        ctx.check()?;
        // From the rows so turned and not from the matrices, whose small directions are rounding.
        let eigen = symmetric_eigen(similar.scatter(&frame.rows).view())?;
        let least = eigen.values.last().copied().unwrap_or(0.0);
        let ridge = ridge_for(ridge, least, "direction", ctx)?;
        frame.turn(&eigen, eigen.values.len(), |value| value.max(0.0) + ridge);
        Ok(frame)
    }

    /// Columns as they are, or coordinates of the rows where there are fewer rows than columns.
    fn of_rows(x: &Array2<f64>) -> Result<Self> {
        let (m, d) = x.dim();
        if m > d {
            return Ok(Self { rows: x.clone(), back: Array2::eye(d) });
        }
        let mean = x.mean_axis(Axis(0)).expect("pairs have rows");
        let x = x - &mean;
        let eigen = symmetric_eigen(times(x.view(), x.t()).view())?;
        let keep = above_rounding(&eigen, d);
        let mut back = transposed_times(x.view(), eigen.vectors.slice(s![.., ..keep]));
        for (mut column, value) in back.columns_mut().into_iter().zip(&eigen.values) {
            column /= value.sqrt();
        }
        Ok(Self { rows: times(x.view(), back.view()), back })
    }

    /// Turns to the first `keep` eigenvectors and divides by the roots of the values.
    fn turn(&mut self, eigen: &Eigen, keep: usize, value: impl Fn(f64) -> f64) {
        let mut to = eigen.vectors.slice(s![.., ..keep]).to_owned();
        for (mut column, &v) in to.columns_mut().into_iter().zip(&eigen.values) {
            column /= value(v).sqrt();
        }
        self.rows = times(self.rows.view(), to.view());
        self.back = times(self.back.view(), to.view());
    }
}

/// How many eigenvalues of a sum of squares over at least `terms` terms stand above rounding.
fn above_rounding(eigen: &Eigen, terms: usize) -> usize {
    let size = eigen.values.len().max(terms) as f64;
    let noise = 10.0 * size * f64::EPSILON * eigen.values[0];
    eigen.values.iter().filter(|&&value| value > noise).count()
}

/// The ridge: the one asked for, or one if similar pairs do not differ somewhere where others do. `least` is the least
/// share of similar pairs in the squares of all.
pub(super) fn ridge_for(asked: Option<f64>, least: f64, place: &str, ctx: &Context) -> Result<f64> {
    match asked {
        Some(ridge) if ridge > 0.0 || least > SAME => Ok(ridge),
        Some(_) => Err(breakdown(format!(
            "similar pairs agree in a {place} in which others differ, so that distances there could grow without \
             limit; allow a ridge, or give more similar pairs"
        ))),
        None if least > SAME => Ok(0.0),
        None => {
            ctx.warn(format!(
                "{NAME}: similar pairs agree in a {place} in which others differ, which would take all the weight; \
                 a ridge of {RIDGE} was added, which counts that share of all pairs as similar"
            ));
            Ok(RIDGE)
        }
    }
}

pub(super) fn breakdown(why: impl Into<String>) -> Error {
    Error::Breakdown { step: NAME, why: why.into() }
}
