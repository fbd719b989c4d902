//! Newton's equations with everything but the weights eliminated.

use super::families::{Families, Point, Scaled};
use super::{Held, times, transposed_times};
use crate::linalg::{add_product, cholesky, cholesky_solve};
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, ShapeBuilder, s};
use rayon::prelude::*;

/// Columns of the matrix that one task works on.
const BLOCK: usize = 32;
/// Rows that are weighed at a time.
const ROWS: usize = 512;
/// What is added to the diagonal, as a share of it; more where the factorization asks for it.
const RIDGE: f64 = 1e-14;
/// Solutions are improved by what is left of the equations so many times.
const REFINEMENTS: usize = 2;

/// The matrix $G^\top \Theta G$ of all unknowns, ready to be solved with.
pub(super) struct Normal<'a> {
    scaled: &'a Scaled<'a>,
    theta: Families,
    /// What stands at the slacks.
    slacks: Vec<f64>,
    /// What stands at the sizes of groups.
    sizes: Vec<f64>,
    /// Between each weight and its group's size.
    across: Vec<f64>,
    matrix: Array2<f64>,
    factor: Array2<f64>,
}

impl<'a> Normal<'a> {
    /// `theta`: price over slack of every constraint. None if the matrix has lost all meaning.
    pub fn new(scaled: &'a Scaled<'a>, theta: Families) -> Option<Self> {
        let held = scaled.program.held;
        let k = held.len();
        let slacks: Vec<f64> =
            theta.statements.iter().zip(&theta.slacks).map(|(statement, slack)| statement + slack).collect();
        let weights: Vec<f64> =
            (0..slacks.len()).map(|t| theta.statements[t] * (theta.slacks[t] / slacks[t])).collect();
        let mut matrix = Array2::zeros((k, k).f());
        add_weighed(scaled.program.margins.view(), &weights, &scaled.units, matrix.view_mut());
        add_weighed(scaled.cuts.view(), &theta.cuts, &vec![1.0; k], matrix.view_mut());
        let (mut sizes, mut across) = (vec![0.0; scaled.program.groups], vec![0.0; k]);
        for p in 0..k {
            let (upper, lower) = (theta.uppers[p], theta.lowers[p]);
            match held[p] {
                Held::Within(g) => {
                    sizes[g] += upper + lower;
                    across[p] = lower - upper;
                }
                Held::Above(g) => {
                    sizes[g] += upper;
                    across[p] = -upper;
                }
                Held::Alone => {}
            }
        }
        let mut members = vec![vec![]; scaled.program.groups];
        for p in 0..k {
            let (upper, lower) = (theta.uppers[p], theta.lowers[p]);
            // The size's own share is taken off by hand: as a difference it would lose all digits where one of the two
            // bounds is met and the other is not.
            matrix[[p, p]] += match held[p] {
                Held::Within(g) => {
                    let others = (sizes[g] - (upper + lower)).max(0.0);
                    (4.0 * upper * (lower / sizes[g])) + (upper + lower) * (others / sizes[g])
                }
                Held::Above(g) => {
                    let others = (sizes[g] - upper).max(0.0);
                    lower + upper * (others / sizes[g])
                }
                Held::Alone => lower,
            };
            if let Some(g) = held[p].group() {
                members[g].push(p);
            }
        }
        for (g, members) in members.iter().enumerate() {
            for (at, &p) in members.iter().enumerate() {
                for &q in &members[..at] {
                    let shared = across[p] * (across[q] / sizes[g]);
                    let (low, high) = (p.max(q), p.min(q));
                    matrix[[low, high]] -= shared;
                }
            }
        }
        for j in 0..k {
            for i in j + 1..k {
                matrix[[j, i]] = matrix[[i, j]];
            }
        }
        let factor = factor(&matrix)?;
        Some(Self { scaled, theta, slacks, sizes, across, matrix, factor })
    }

    /// Solves $G^\top \Theta G x = b$.
    pub fn solve(&self, b: &Point) -> Point {
        let held = self.scaled.program.held;
        let units = &self.scaled.units;
        let shared: Vec<f64> =
            (0..b.slacks.len()).map(|t| self.theta.statements[t] * (b.slacks[t] / self.slacks[t])).collect();
        let from_slacks = transposed_times(self.scaled.program.margins.view(), &shared);
        let right = Array2::from_shape_fn((held.len(), 1).f(), |(p, _)| {
            let group = held[p].group().map_or(0.0, |g| self.across[p] * (b.sizes[g] / self.sizes[g]));
            b.weights[p] - from_slacks[p] * units[p] - group
        });
        let mut solved = right.clone();
        cholesky_solve(self.factor.view(), &mut solved.view_mut());
        for _ in 0..REFINEMENTS {
            let mut left = right.clone();
            add_product(-1.0, self.matrix.view(), solved.view(), left.view_mut());
            cholesky_solve(self.factor.view(), &mut left.view_mut());
            solved += &left;
        }
        let weights = solved.into_raw_vec_and_offset().0;
        let scaled: Vec<f64> = weights.iter().zip(units).map(|(w, unit)| w * unit).collect();
        let margins = times(self.scaled.program.margins.view(), &scaled);
        let slacks = (0..b.slacks.len())
            .map(|t| (b.slacks[t] - self.theta.statements[t] * margins[t]) / self.slacks[t])
            .collect();
        let mut sizes = b.sizes.clone();
        for p in 0..held.len() {
            if let Some(g) = held[p].group() {
                sizes[g] -= self.across[p] * weights[p];
            }
        }
        sizes.iter_mut().zip(&self.sizes).for_each(|(size, own)| *size /= own);
        Point { weights, sizes, slacks }
    }
}

/// The Cholesky factor, with more on the diagonal until there is one.
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

/// Adds $U A^\top W A U$ to the lower triangle of `out`, $W$ and $U$ diagonal. A block of columns is computed by one thread in one order.
fn add_weighed(a: ArrayView2<f64>, weights: &[f64], units: &[f64], mut out: ArrayViewMut2<f64>) {
    out.axis_chunks_iter_mut(Axis(1), BLOCK).into_par_iter().enumerate().for_each(|(block, mut out)| {
        let (from, width) = (block * BLOCK, out.ncols());
        let mut sum = Array2::zeros((a.ncols() - from, width).f());
        let mut weighed = Array2::zeros((ROWS, width).f());
        for (rows, weights) in a.axis_chunks_iter(Axis(0), ROWS).zip(weights.chunks(ROWS)) {
            let mut weighed = weighed.slice_mut(s![..rows.nrows(), ..]);
            for (j, mut column) in weighed.columns_mut().into_iter().enumerate() {
                column
                    .iter_mut()
                    .zip(rows.column(from + j))
                    .zip(weights)
                    .for_each(|((to, v), w)| *to = v * w);
            }
            add_product(1.0, rows.slice(s![.., from..]).t(), weighed.view(), sum.view_mut());
        }
        for ((i, j), v) in sum.indexed_iter() {
            if i >= j {
                out[[from + i, j]] += v * units[from + i] * units[from + j];
            }
        }
    });
}
