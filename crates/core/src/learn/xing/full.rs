//! Metrics with all entries.
//!
//! $B = L L^\top$ with $L$ of few columns: the best metrics found on real data have rank 1 to 10. Columns are added
//! where the bound shows a direction that promises more, and left out in the end where it shows that they are not needed.

use super::climb::{Judged, Problem, Top, best_blend, climb, gap, inverses};
use super::pairs::{Graph, times, transposed_times};
use crate::context::Context;
use crate::error::Result;
use crate::linalg::{Eigen, symmetric_eigen};
use crate::optim::Criterion;
use ndarray::{Array2, Axis, Zip, concatenate, s};

/// Columns of the first factor at most.
const START: usize = 16;

/// The rows of a [`super::frame::Frame`] and the pairs that should be far.
pub(super) struct Full<'a> {
    pub rows: &'a Array2<f64>,
    pub far: &'a Graph,
}

impl Full<'_> {
    pub fn solve(&self, tolerance: f64, max_iter: usize, ctx: &Context) -> Result<Top> {
        climb(self, self.start()?, tolerance, max_iter, ctx)
    }

    /// One step of the power method from the metric that treats all directions alike, cut to the leading directions.
    fn start(&self) -> Result<Array2<f64>> {
        let roots: Vec<f64> = self.far.squares(self.rows).iter().map(|q| q.sqrt()).collect();
        let Eigen { values, vectors } = self.slope(&roots)?;
        let mut factor = vectors.slice(s![.., ..values.len().min(START)]).to_owned();
        for (mut column, value) in factor.columns_mut().into_iter().zip(&values) {
            column *= value.max(0.0);
        }
        Ok(unit(factor.as_standard_layout().into_owned()))
    }

    /// The gradient $\tfrac12 \sum_D z z^\top / \lVert L^\top z \rVert$ by its eigenvectors.
    fn slope(&self, distances: &[f64]) -> Result<Eigen> {
        let weight = inverses(distances);
        let pulled = self.far.pull(self.rows, |p| 0.5 * weight[p]);
        symmetric_eigen(transposed_times(self.rows.view(), pulled.view()).view())
    }
}

impl Problem for Full<'_> {
    fn criterion<'a>(&'a self, factor: &Array2<f64>) -> Box<dyn Criterion + 'a> {
        Box::new(Distances { problem: self, columns: factor.ncols() })
    }

    fn least(&self) -> f64 {
        f64::NEG_INFINITY
    }

    /// What an entry is if all have the same size.
    fn first_step(&self, factor: &Array2<f64>) -> f64 {
        (factor.len() as f64).sqrt().recip()
    }

    fn unit(&self, matrix: Array2<f64>) -> Array2<f64> {
        unit(matrix)
    }

    fn judge(&self, factor: &Array2<f64>) -> Result<Judged> {
        let squares = self.far.squares(&times(self.rows.view(), factor.view()));
        let distances: Vec<f64> = squares.iter().map(|q| q.sqrt()).collect();
        let value = distances.iter().sum();
        let eigen = self.slope(&distances)?;
        // A pair at distance 0 has no slope to bound anything with.
        let proven = squares.iter().all(|&square| square > 0.0);
        let gap = if proven { gap(value, eigen.values[0]) } else { f64::INFINITY };
        Ok(Judged { value, gap, squares, leading: eigen.vectors.slice(s![.., ..1]).to_owned() })
    }

    fn moved(&self, factor: &Array2<f64>, judged: &Judged) -> Result<(Array2<f64>, f64)> {
        let towards = self.far.squares(&times(self.rows.view(), judged.leading.view()));
        let (t, value) = best_blend(&judged.squares, &towards);
        let moved = concatenate![Axis(1), factor * (1.0 - t).sqrt(), &judged.leading * t.sqrt()];
        Ok((fewer_columns(moved)?, value))
    }

    /// By directions.
    fn without_faint(&self, factor: &Array2<f64>, share: f64) -> Result<Option<Array2<f64>>> {
        let Eigen { values, vectors } =
            symmetric_eigen(transposed_times(factor.view(), factor.view()).view())?;
        let keep = values.iter().filter(|&&value| value > share * values[0]).count();
        let kept = || unit(times(factor.view(), vectors.slice(s![.., ..keep])));
        Ok((keep < values.len()).then(kept))
    }
}

/// The factor with norm 1.
fn unit(factor: Array2<f64>) -> Array2<f64> {
    let norm = factor.iter().map(|v| v * v).sum::<f64>().sqrt();
    factor / norm
}

/// The same metric by a factor with no more columns than rows.
fn fewer_columns(factor: Array2<f64>) -> Result<Array2<f64>> {
    let (rows, columns) = factor.dim();
    if columns <= rows {
        return Ok(factor.as_standard_layout().into_owned());
    }
    let Eigen { values, vectors } = symmetric_eigen(times(factor.view(), factor.t()).view())?;
    let mut out = vectors.as_standard_layout().into_owned();
    for (mut column, value) in out.columns_mut().into_iter().zip(&values) {
        column *= value.max(0.0).sqrt();
    }
    Ok(out)
}

struct Distances<'a> {
    problem: &'a Full<'a>,
    columns: usize,
}

impl Criterion for Distances<'_> {
    fn shape(&self) -> (usize, usize) {
        (self.problem.rows.ncols(), self.columns)
    }

    fn value_and_gradient(&self, w: &Array2<f64>, gradient: &mut Array2<f64>) -> f64 {
        let Full { rows, far } = self.problem;
        let mapped = times(rows.view(), w.view());
        let distances: Vec<f64> = far.squares(&mapped).iter().map(|q| q.sqrt()).collect();
        let sum: f64 = distances.iter().sum();
        let weight = inverses(&distances);
        let pulled = transposed_times(rows.view(), far.pull(&mapped, |p| weight[p]).view());
        Zip::from(gradient).and(w).and(&pulled).for_each(|g, w, p| *g = w - p / sum);
        0.5 * w.iter().map(|w| w * w).sum::<f64>() - sum.ln()
    }
}
