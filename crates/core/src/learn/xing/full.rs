//! Full metrics.
//!
//! $B = L L^\top$ with a thin $L$: optimal metrics on real data have rank 1 to 10. A column is added if the bound shows an ascent
//! direction; columns that the bound does not need are removed at the end.

use super::ascent::{Evaluation, Problem, Solution, ascend, best_step, gap, inverses};
use super::pairs::{Graph, times, transposed_times};
use crate::context::Context;
use crate::error::Result;
use crate::linalg::{Eigen, symmetric_eigen};
use crate::optim::Criterion;
use ndarray::{Array2, Axis, Zip, concatenate, s};

/// Columns of the initial factor, at most.
const INITIAL_RANK: usize = 16;

/// The rows of a [`super::frame::Frame`] and the dissimilar pairs.
pub(super) struct Full<'a> {
    pub rows: &'a Array2<f64>,
    pub dissimilar: &'a Graph,
}

impl Full<'_> {
    pub fn solve(&self, tolerance: f64, max_iter: usize, ctx: &Context) -> Result<Solution> {
        ascend(self, self.start()?, tolerance, max_iter, ctx)
    }

    /// One step of the power method from the identity, truncated to the leading directions.
    fn start(&self) -> Result<Array2<f64>> {
        let distances: Vec<f64> =
            self.dissimilar.squared_distances(self.rows).iter().map(|q| q.sqrt()).collect();
        let Eigen { values, vectors } = self.gradient(&distances)?;
        let mut factor = vectors.slice(s![.., ..values.len().min(INITIAL_RANK)]).to_owned();
        for (mut column, value) in factor.columns_mut().into_iter().zip(&values) {
            column *= value.max(0.0);
        }
        Ok(normalized(factor.as_standard_layout().into_owned()))
    }

    /// The eigendecomposition of the gradient $\tfrac12 \sum_D z z^\top / \lVert L^\top z \rVert$.
    fn gradient(&self, distances: &[f64]) -> Result<Eigen> {
        let weight = inverses(distances);
        let product = self.dissimilar.laplacian_times(self.rows, |p| 0.5 * weight[p]);
        symmetric_eigen(transposed_times(self.rows.view(), product.view()).view())
    }
}

impl Problem for Full<'_> {
    fn criterion<'a>(&'a self, factor: &Array2<f64>) -> Box<dyn Criterion + 'a> {
        Box::new(Distances { problem: self, columns: factor.ncols() })
    }

    fn lower_bound(&self) -> f64 {
        f64::NEG_INFINITY
    }

    /// The size of an entry if all are equal.
    fn first_step(&self, factor: &Array2<f64>) -> f64 {
        (factor.len() as f64).sqrt().recip()
    }

    fn normalized(&self, matrix: Array2<f64>) -> Array2<f64> {
        normalized(matrix)
    }

    fn evaluate(&self, factor: &Array2<f64>) -> Result<Evaluation> {
        let squares = self.dissimilar.squared_distances(&times(self.rows.view(), factor.view()));
        let distances: Vec<f64> = squares.iter().map(|q| q.sqrt()).collect();
        let value = distances.iter().sum();
        let eigen = self.gradient(&distances)?;
        // The gradient is not defined for a pair at distance 0, so there is no bound.
        let bounded = squares.iter().all(|&square| square > 0.0);
        let gap = if bounded { gap(value, eigen.values[0]) } else { f64::INFINITY };
        Ok(Evaluation { value, gap, squares, leading: eigen.vectors.slice(s![.., ..1]).to_owned() })
    }

    fn step(&self, factor: &Array2<f64>, at: &Evaluation) -> Result<(Array2<f64>, f64)> {
        let towards = self.dissimilar.squared_distances(&times(self.rows.view(), at.leading.view()));
        let (t, value) = best_step(&at.squares, &towards);
        let moved = concatenate![Axis(1), factor * (1.0 - t).sqrt(), &at.leading * t.sqrt()];
        Ok((fewer_columns(moved)?, value))
    }

    fn without_small(&self, factor: &Array2<f64>, fraction: f64) -> Result<Option<Array2<f64>>> {
        let Eigen { values, vectors } =
            symmetric_eigen(transposed_times(factor.view(), factor.view()).view())?;
        let keep = values.iter().filter(|&&value| value > fraction * values[0]).count();
        let kept = || normalized(times(factor.view(), vectors.slice(s![.., ..keep])));
        Ok((keep < values.len()).then(kept))
    }
}

/// The factor with norm 1.
fn normalized(factor: Array2<f64>) -> Array2<f64> {
    let norm = factor.iter().map(|v| v * v).sum::<f64>().sqrt();
    factor / norm
}

/// A factor of the same metric with no more columns than rows.
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
        let Full { rows, dissimilar } = self.problem;
        let mapped = times(rows.view(), w.view());
        let distances: Vec<f64> = dissimilar.squared_distances(&mapped).iter().map(|q| q.sqrt()).collect();
        let sum: f64 = distances.iter().sum();
        let weight = inverses(&distances);
        let product =
            transposed_times(rows.view(), dissimilar.laplacian_times(&mapped, |p| weight[p]).view());
        Zip::from(gradient).and(w).and(&product).for_each(|g, w, p| *g = w - p / sum);
        0.5 * w.iter().map(|w| w * w).sum::<f64>() - sum.ln()
    }
}
