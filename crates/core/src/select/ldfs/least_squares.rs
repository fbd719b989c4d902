//! The convex form: linear discriminant analysis as least squares.

use super::super::row_path::Penalized;
use super::super::standard::{root_weights, weighted};
use crate::context::Context;
use crate::data::{Classes, Groups, Weights};
use crate::error::Result;
use crate::optim::{BlockDescent, Design, LeastSquares, PathSolution};
use ndarray::Array2;

/// Indicator targets of the nonempty classes: $\sqrt{n / n_c} - \sqrt{n_c / n}$ in the class, $-\sqrt{n_c / n}$
/// outside. Columns have mean 0. With weights $n$ and $n_c$ are sums of them, and rows are multiplied as in
/// [`super::super::standard::standard_columns`].
pub(super) fn indicators(classes: &Classes, weights: Weights) -> Array2<f64> {
    let counts = classes.weighted_counts(weights);
    let present: Vec<usize> = (0..counts.len()).filter(|&c| counts[c] > 0.0).collect();
    let n = weights.total(classes.codes.len());
    let mut targets = Array2::from_shape_fn((classes.codes.len(), present.len()), |(i, k)| {
        let root = (counts[present[k]] / n).sqrt();
        if classes.codes[i] == present[k] { 1.0 / root - root } else { -root }
    });
    let roots = root_weights(weights, classes.codes.len());
    targets.rows_mut().into_iter().zip(roots.iter().flatten()).for_each(|(mut row, root)| row *= *root);
    targets
}

/// The problem with its solver.
pub(in super::super) struct Squares {
    problem: LeastSquares,
    weights: Vec<f64>,
    solver: BlockDescent,
}

impl Squares {
    /// Least squares of targets on standardized features.
    pub fn new(design: Design, target: Array2<f64>, groups: Groups, solver: BlockDescent) -> Result<Self> {
        let (design, weights) = weighted(design, &groups);
        Ok(Self { problem: LeastSquares::new(design, target, groups)?, weights, solver })
    }
}

impl Penalized for Squares {
    fn first(&self, _ctx: &Context) -> Result<PathSolution> {
        Ok(self.problem.null_solution())
    }

    fn solve(&self, lambda: f64, from: &PathSolution, ctx: &Context) -> Result<PathSolution> {
        self.solver.minimize(&self.problem, lambda, from, ctx)
    }

    fn groups(&self) -> &Groups {
        self.problem.groups()
    }

    fn weights(&self) -> &[f64] {
        &self.weights
    }

    fn varies(&self, feature: usize) -> bool {
        self.problem.varies(feature)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indicators_by_hand() {
        // Class 1 has no samples; 1 of 4 samples is in class 0 and 3 in class 2.
        let classes = Classes::new(vec![2, 0, 2, 2], ["a", "b", "c"].map(String::from).to_vec()).unwrap();
        let t = indicators(&classes, Weights::ONE);
        let (small, large) = (0.5, 0.75_f64.sqrt());
        assert_eq!(t.dim(), (4, 2));
        assert_eq!((t[[0, 0]], t[[1, 0]]), (-small, 2.0 - small));
        assert_eq!((t[[0, 1]], t[[1, 1]]), (1.0 / large - large, -large));
        // Mean 0, and sum of squares n - n_c.
        assert!(t.columns().into_iter().all(|c| c.sum().abs() < 1e-15));
        assert!((t.column(1).iter().map(|v| v * v).sum::<f64>() - 1.0).abs() < 1e-15);
    }
}
