//! The normal equations of a Newton step, with all variables but the weights eliminated.

use super::constraints::{PerConstraint, Point, Scaled};
use super::program::{WeightBound, times, transposed_times};
use crate::linalg::{add_product, cholesky, cholesky_solve};
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, ShapeBuilder, s};
use rayon::prelude::*;

/// Columns of the matrix per task.
const BLOCK: usize = 32;
/// Rows that are weighted at a time.
const ROWS: usize = 512;
/// Regularization of the diagonal, relative to it; increased until the factorization succeeds.
const RIDGE: f64 = 1e-14;
/// Steps of iterative refinement.
const REFINEMENTS: usize = 2;

/// The matrix $G^\top \Theta G$ of all variables, factorized.
pub(super) struct NormalEquations<'a> {
    scaled: &'a Scaled<'a>,
    theta: PerConstraint,
    /// The diagonal block of the slacks.
    slacks: Vec<f64>,
    /// The diagonal block of the group sizes.
    sizes: Vec<f64>,
    /// The entry of each weight and its group's size.
    cross: Vec<f64>,
    matrix: Array2<f64>,
    factor: Array2<f64>,
}

impl<'a> NormalEquations<'a> {
    /// `theta`: dual value over slack of every constraint. `None` if the matrix cannot be factorized.
    pub fn new(scaled: &'a Scaled<'a>, theta: PerConstraint) -> Option<Self> {
        let k = scaled.program.len();
        let slacks: Vec<f64> =
            theta.margins.iter().zip(&theta.slacks).map(|(margin, slack)| margin + slack).collect();
        let weights: Vec<f64> =
            (0..slacks.len()).map(|t| theta.margins[t] * (theta.slacks[t] / slacks[t])).collect();
        let mut matrix = Array2::zeros((k, k).f());
        add_weighted(scaled.program.margins.view(), &weights, &scaled.units, matrix.view_mut());
        add_weighted(scaled.cuts.view(), &theta.cuts, &vec![1.0; k], matrix.view_mut());
        let (sizes, cross) = add_bounds(scaled.program.bounds, scaled.program.groups, &theta, &mut matrix);
        for j in 0..k {
            for i in j + 1..k {
                matrix[[j, i]] = matrix[[i, j]];
            }
        }
        let factor = factor(&matrix)?;
        Some(Self { scaled, theta, slacks, sizes, cross, matrix, factor })
    }

    /// Solves $G^\top \Theta G x = b$.
    pub fn solve(&self, b: &Point) -> Point {
        let bounds = self.scaled.program.bounds;
        let units = &self.scaled.units;
        let eliminated: Vec<f64> =
            (0..b.slacks.len()).map(|t| self.theta.margins[t] * (b.slacks[t] / self.slacks[t])).collect();
        let from_slacks = transposed_times(self.scaled.program.margins.view(), &eliminated);
        let right = Array2::from_shape_fn((bounds.len(), 1).f(), |(p, _)| {
            let group = bounds[p].group().map_or(0.0, |g| self.cross[p] * (b.sizes[g] / self.sizes[g]));
            b.weights[p] - from_slacks[p] * units[p] - group
        });
        let mut solved = right.clone();
        cholesky_solve(self.factor.view(), &mut solved.view_mut());
        for _ in 0..REFINEMENTS {
            let mut residual = right.clone();
            add_product(-1.0, self.matrix.view(), solved.view(), residual.view_mut());
            cholesky_solve(self.factor.view(), &mut residual.view_mut());
            solved += &residual;
        }
        let weights = solved.into_raw_vec_and_offset().0;
        let unscaled: Vec<f64> = weights.iter().zip(units).map(|(w, unit)| w * unit).collect();
        let margins = times(self.scaled.program.margins.view(), &unscaled);
        let slacks = (0..b.slacks.len())
            .map(|t| (b.slacks[t] - self.theta.margins[t] * margins[t]) / self.slacks[t])
            .collect();
        let mut sizes = b.sizes.clone();
        for p in 0..bounds.len() {
            if let Some(g) = bounds[p].group() {
                sizes[g] -= self.cross[p] * weights[p];
            }
        }
        sizes.iter_mut().zip(&self.sizes).for_each(|(size, diagonal)| *size /= diagonal);
        Point { weights, sizes, slacks }
    }
}

/// Adds the bounds of the weights, with the group sizes eliminated, to the lower triangle of `matrix`. Returns the diagonal block
/// of the sizes, and the entry of each weight and its group's size.
fn add_bounds(
    bounds: &[WeightBound],
    groups: usize,
    theta: &PerConstraint,
    matrix: &mut Array2<f64>,
) -> (Vec<f64>, Vec<f64>) {
    let k = bounds.len();
    let (mut sizes, mut cross) = (vec![0.0; groups], vec![0.0; k]);
    for p in 0..k {
        let (upper, lower) = (theta.uppers[p], theta.lowers[p]);
        match bounds[p] {
            WeightBound::Symmetric(g) => {
                sizes[g] += upper + lower;
                cross[p] = lower - upper;
            }
            WeightBound::NonNegative(g) => {
                sizes[g] += upper;
                cross[p] = -upper;
            }
            WeightBound::Ungrouped => {}
        }
    }
    let mut members = vec![vec![]; groups];
    for p in 0..k {
        let (upper, lower) = (theta.uppers[p], theta.lowers[p]);
        // The Schur complement in a form without subtraction, which would cancel all digits if only one bound is active.
        matrix[[p, p]] += match bounds[p] {
            WeightBound::Symmetric(g) => {
                let others = (sizes[g] - (upper + lower)).max(0.0);
                (4.0 * upper * (lower / sizes[g])) + (upper + lower) * (others / sizes[g])
            }
            WeightBound::NonNegative(g) => {
                let others = (sizes[g] - upper).max(0.0);
                lower + upper * (others / sizes[g])
            }
            WeightBound::Ungrouped => lower,
        };
        if let Some(g) = bounds[p].group() {
            members[g].push(p);
        }
    }
    for (g, members) in members.iter().enumerate() {
        for (at, &p) in members.iter().enumerate() {
            for &q in &members[..at] {
                let entry = cross[p] * (cross[q] / sizes[g]);
                matrix[[p.max(q), p.min(q)]] -= entry;
            }
        }
    }
    (sizes, cross)
}

/// The Cholesky factor, with the diagonal regularized until there is one.
fn factor(matrix: &Array2<f64>) -> Option<Array2<f64>> {
    let mut ridge = RIDGE;
    while ridge < 1e-4 {
        let mut a = matrix.clone();
        a.diag_mut().mapv_inplace(|v| v * (1.0 + ridge) + f64::MIN_POSITIVE);
        if let Some(factor) = cholesky(a.view()).filter(|l| l.iter().all(|v| v.is_finite())) {
            return Some(factor);
        }
        ridge *= 100.0;
    }
    None
}

/// Adds $U A^\top W A U$ to the lower triangle of `out`, $W$ and $U$ diagonal. One thread computes a block of columns, in a fixed
/// order.
fn add_weighted(a: ArrayView2<f64>, weights: &[f64], units: &[f64], mut out: ArrayViewMut2<f64>) {
    out.axis_chunks_iter_mut(Axis(1), BLOCK).into_par_iter().enumerate().for_each(|(block, mut out)| {
        let (from, width) = (block * BLOCK, out.ncols());
        let mut sum = Array2::zeros((a.ncols() - from, width).f());
        let mut weighted = Array2::zeros((ROWS, width).f());
        for (rows, weights) in a.axis_chunks_iter(Axis(0), ROWS).zip(weights.chunks(ROWS)) {
            let mut weighted = weighted.slice_mut(s![..rows.nrows(), ..]);
            for (j, mut column) in weighted.columns_mut().into_iter().enumerate() {
                column
                    .iter_mut()
                    .zip(rows.column(from + j))
                    .zip(weights)
                    .for_each(|((to, v), w)| *to = v * w);
            }
            add_product(1.0, rows.slice(s![.., from..]).t(), weighted.view(), sum.view_mut());
        }
        for ((i, j), v) in sum.indexed_iter() {
            if i >= j {
                out[[from + i, j]] += v * units[from + i] * units[from + j];
            }
        }
    });
}
