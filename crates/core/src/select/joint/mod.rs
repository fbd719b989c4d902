//! Sums over all pairs of samples of a Gaussian kernel over several features, with one feature added or removed.
//!
//! With weights $V$ from the target ([`PairWeights`]) HSIC is $\sum_{ij} V_{ij} k(D_{ij})$, where $D$ contains
//! squared distances over a set of features. With a feature $f$ added or removed it costs one exponential and one
//! multiplication per pair: $\sum_{ij} V_{ij} \exp(-\gamma (D_{ij} \pm (x_{if} - x_{jf})^2))$. Distances and
//! weights are computed for a block of rows at a time, used for all candidates and discarded; each pair is visited
//! once. For a sparse feature only pairs with a stored value change.

mod growth;

pub(super) use growth::{Growth, first_of_the_best};

use crate::context::Context;
use crate::data::{Rows, is_constant};
use crate::dependence::PairWeights;
use crate::error::{Error, Result};
use crate::kernel::{Kernel, gram};
use crate::linalg::{product_bytes, product_into};
use crate::simd::{add_squared_differences, exp_scaled, gaussian_sum, kernel_sum};
use ndarray::{Array2, ArrayView2, s};
use rayon::prelude::*;
use std::ops::Range;

/// Rows per task of exact sums.
const ROWS: usize = 16;
/// Rows per task of gradients, where matrix products need larger blocks.
const PRODUCT_ROWS: usize = 128;
/// Tasks per thread whose results are held before they are added in order.
const BATCH: usize = 16;

/// Features, dense in column-major order or as stored values.
enum Cells {
    Dense(Array2<f64>),
    Sparse(Vec<Vec<(u32, f64)>>),
}

/// Features and the weights of pairs of samples.
pub(super) struct Joint<'a> {
    x: &'a Rows,
    weights: PairWeights,
    cells: Cells,
}

/// Whether candidates are added or removed.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Change {
    Add,
    Remove,
}

/// Sums with each candidate changed, and without a change.
pub(super) struct Sums {
    /// One sum per candidate, in their order.
    pub changed: Vec<f64>,
    /// The sum over the unchanged members.
    pub unchanged: f64,
}

impl<'a> Joint<'a> {
    /// Reserves memory for a copy of the features and the factor of the target's kernel; returns the remaining
    /// context.
    pub fn held<'c>(
        x: &Rows,
        factor: &Array2<f64>,
        method: &'static str,
        ctx: &Context<'c>,
    ) -> Result<Context<'c>> {
        let columns = match x {
            Rows::Dense(dense) => 8.0 * dense.len() as f64,
            Rows::Sparse(sparse) => sparse.columns_bytes(),
        };
        let bytes = columns + 16.0 * factor.len() as f64;
        ctx.hold(format!("{method}'s copy of the columns"), bytes, "use fewer rows or columns")
    }

    /// `ctx` is that of [`Joint::held`].
    pub fn new(x: &'a Rows, weights: PairWeights, method: &'static str, ctx: &Context) -> Result<Self> {
        // Weights, distances and their products for a block of rows, per thread.
        let bytes = rayon::current_num_threads() as f64 * 24.0 * (ROWS * x.n()) as f64 + product_bytes();
        ctx.need_memory(format!("{method}'s sums over pairs"), bytes, "use fewer rows")?;
        let cells = match x {
            Rows::Dense(dense) => Cells::Dense(dense.t().as_standard_layout().into_owned().reversed_axes()),
            Rows::Sparse(sparse) => Cells::Sparse(sparse.columns()),
        };
        // Distances of finite values may still overflow.
        let (mean, spread) = x.moments();
        if mean.iter().chain(&spread).any(|v| v.abs() > 1e140) {
            return Err(Error::Breakdown {
                step: method,
                why: "distances between rows are too large for a number; scale the columns".into(),
            });
        }
        Ok(Self { x, weights, cells })
    }

    /// The non-constant features, in order.
    pub fn varying(&self) -> Vec<usize> {
        let (mean, spread) = self.x.moments();
        (0..self.x.d()).filter(|&j| !is_constant(mean[j], spread[j])).collect()
    }

    /// The sums over `members` with each candidate added or removed, under `gamma`, and without a change under
    /// `gamma_unchanged`.
    pub fn sums(
        &self,
        members: &[usize],
        candidates: &[usize],
        change: Change,
        gamma: f64,
        gamma_unchanged: f64,
        ctx: &Context,
    ) -> Result<Sums> {
        let sign = if change == Change::Add { 1.0 } else { -1.0 };
        let part = |at: Range<usize>| {
            let weights = self.weights.rows(at.clone());
            match &self.cells {
                Cells::Dense(x) => {
                    dense_sums(x, &weights, at, members, candidates, change, gamma, gamma_unchanged)
                }
                Cells::Sparse(x) => sparse_sums(
                    x,
                    self.x.n(),
                    &weights,
                    at,
                    members,
                    candidates,
                    gamma,
                    sign,
                    gamma_unchanged,
                ),
            }
        };
        let mut total = self.over_rows(ROWS, candidates.len() + 1, part, ctx)?;
        let unchanged = total.pop().expect("one more than candidates");
        Ok(Sums { changed: total, unchanged })
    }

    /// For every member the derivative of the sum with respect to its squared weight $w_f$ in $\sum_f w_f (x_{if} -
    /// x_{jf})^2$, over $2 \gamma$: $x_f^\top (A - \operatorname{diag}(A 1)) x_f$ with $A_{ij} = V_{ij} k(D_{ij})$;
    /// and the sum itself.
    pub fn gradient(&self, members: &[usize], gamma: f64, ctx: &Context) -> Result<Sums> {
        // Kernel values, weights and products for a block of rows, per thread.
        let rows = PRODUCT_ROWS * (2 * self.x.n() + members.len());
        let bytes = rayon::current_num_threads() as f64 * 8.0 * rows as f64 + product_bytes();
        let columns = self.x.bytes() * members.len() as f64 / self.x.d() as f64;
        ctx.need_memory("how much columns matter", columns + bytes, "use fewer rows or columns")?;
        let x = self.x.take_columns(members);
        let kernel = Kernel::Rbf { gamma };
        let part = |at: Range<usize>| -> Result<Vec<f64>> {
            let own: Vec<usize> = at.clone().collect();
            let mut a = gram(&kernel, &x.take_rows(&own), &x)?;
            a *= &self.weights.rows(at.clone());
            let rows: Vec<f64> = a.rows().into_iter().map(|row| row.sum()).collect();
            let mut out = match (&self.cells, &x) {
                (Cells::Dense(_), Rows::Dense(x)) => dense_gradient(x, a.view(), &rows, at),
                (Cells::Sparse(cells), _) => {
                    members.iter().map(|&f| sparse_gradient(&cells[f], a.view(), &rows, at.clone())).collect()
                }
                (Cells::Dense(_), Rows::Sparse(_)) => unreachable!("cells are laid out as the rows are"),
            };
            out.push(rows.iter().sum());
            Ok(out)
        };
        let mut total = self.over_rows(PRODUCT_ROWS, members.len() + 1, part, ctx)?;
        let unchanged = total.pop().expect("one more than members");
        Ok(Sums { changed: total, unchanged })
    }

    /// Adds up the results of blocks of rows, always in the same order.
    fn over_rows<R: Into<Part>>(
        &self,
        height: usize,
        len: usize,
        part: impl Fn(Range<usize>) -> R + Sync,
        ctx: &Context,
    ) -> Result<Vec<f64>> {
        let n = self.x.n();
        // The last rows have the most pairs with earlier rows: start them first to balance the load.
        let starts: Vec<usize> = (0..n).step_by(height).rev().collect();
        let mut total = vec![0.0; len];
        for batch in starts.chunks(BATCH * rayon::current_num_threads()) {
            let one = |&from: &usize| {
                ctx.check()?;
                part(from..n.min(from + height)).into().0
            };
            let parts: Vec<Result<Vec<f64>>> = batch.par_iter().with_max_len(1).map(one).collect();
            for part in parts {
                total.iter_mut().zip(part?).for_each(|(sum, v)| *sum += v);
            }
        }
        Ok(total)
    }
}

/// The result of a block of rows, or an error.
struct Part(Result<Vec<f64>>);

impl From<Vec<f64>> for Part {
    fn from(out: Vec<f64>) -> Self {
        Self(Ok(out))
    }
}

impl From<Result<Vec<f64>>> for Part {
    fn from(out: Result<Vec<f64>>) -> Self {
        Self(out)
    }
}

/// Pairs of rows `at` with earlier rows count twice, the diagonal once.
#[allow(clippy::too_many_arguments)]
fn dense_sums(
    x: &Array2<f64>,
    weights: &Array2<f64>,
    at: Range<usize>,
    members: &[usize],
    candidates: &[usize],
    change: Change,
    gamma: f64,
    gamma_unchanged: f64,
) -> Vec<f64> {
    let column = |f: usize| x.column(f).to_slice().expect("laid out by columns");
    let distances = distances_before(x, &at, members);
    let weights = slices(weights);
    let own: f64 = at.clone().zip(&weights).map(|(i, row)| row[i]).sum();
    let twice = |of_row: &dyn Fn(usize, usize) -> f64| {
        own + 2.0 * at.clone().enumerate().map(|(r, i)| of_row(r, i)).sum::<f64>()
    };
    let sum = |cells: &[f64], gamma: f64, sign: f64| {
        twice(&|r, i| kernel_sum(&weights[r][..i], &distances[r], &cells[..i], cells[i], gamma, sign))
    };
    // Any feature will do, because its coefficient is 0.
    let unchanged = sum(column(0), gamma_unchanged, 0.0);
    let mut out: Vec<f64> = match change {
        Change::Remove => candidates.iter().map(|&f| sum(column(f), gamma, -1.0)).collect(),
        // The kernel with one more feature is a product of two, of which the first is common to all candidates.
        Change::Add => {
            let weighted = weighted_kernels(distances.clone(), &weights, gamma);
            let sum = |cells: &[f64]| twice(&|r, i| gaussian_sum(&weighted[r], &cells[..i], cells[i], gamma));
            candidates.iter().map(|&f| sum(column(f))).collect()
        }
    };
    out.push(unchanged);
    out
}

/// Squared distances of rows `at` from earlier rows, for features stored contiguously.
fn distances_before(x: &Array2<f64>, at: &Range<usize>, members: &[usize]) -> Vec<Vec<f64>> {
    let mut distances: Vec<Vec<f64>> = at.clone().map(|i| vec![0.0; i]).collect();
    for &f in members {
        let cells = x.column(f).to_slice().expect("laid out by columns");
        for (row, i) in distances.iter_mut().zip(at.clone()) {
            add_squared_differences(row, &cells[..i], cells[i]);
        }
    }
    distances
}

/// The weights times the kernel values of these distances.
fn weighted_kernels(mut distances: Vec<Vec<f64>>, weights: &[&[f64]], gamma: f64) -> Vec<Vec<f64>> {
    for (row, weights) in distances.iter_mut().zip(weights) {
        exp_scaled(row, -gamma);
        row.iter_mut().zip(*weights).for_each(|(k, w)| *k *= w);
    }
    distances
}

fn slices(by_rows: &Array2<f64>) -> Vec<&[f64]> {
    by_rows.rows().into_iter().map(|row| row.to_slice().expect("by rows")).collect()
}

/// The same for sparse features: a change affects only pairs with a stored value.
#[allow(clippy::too_many_arguments)]
fn sparse_sums(
    x: &[Vec<(u32, f64)>],
    n: usize,
    weights: &Array2<f64>,
    at: Range<usize>,
    members: &[usize],
    candidates: &[usize],
    gamma: f64,
    sign: f64,
    gamma_unchanged: f64,
) -> Vec<f64> {
    let distances = sparse_distances(x, n, &at, members);
    let weights = slices(weights);
    let nothing = vec![0.0; n];
    let before = |gamma: f64| -> Vec<f64> {
        (0..at.len()).map(|r| kernel_sum(weights[r], &distances[r], &nothing, 0.0, gamma, 0.0)).collect()
    };
    let rows = before(gamma);
    let all: f64 = rows.iter().sum();
    let mut spread = vec![0.0; n];
    let mut out: Vec<f64> = vec![];
    for &f in candidates {
        let cells = &x[f];
        let from = cells.partition_point(|c| (c.0 as usize) < at.start);
        let to = cells.partition_point(|c| (c.0 as usize) < at.end);
        let mut change = 0.0;
        if from < to {
            cells.iter().for_each(|&(j, v)| spread[j as usize] = v);
            for &(i, z) in &cells[from..to] {
                let r = i as usize - at.start;
                let full = kernel_sum(weights[r], &distances[r], &spread, z, gamma, sign);
                // Pairs of two stored values are visited from both sides.
                let twice: f64 = cells
                    .iter()
                    .map(|&(j, v)| {
                        let d = distances[r][j as usize];
                        let pair = (-gamma * (d + sign * (v - z).powi(2))).exp() - (-gamma * d).exp();
                        weights[r][j as usize] * pair
                    })
                    .sum();
                change += 2.0 * (full - rows[r]) - twice;
            }
            cells.iter().for_each(|&(j, _)| spread[j as usize] = 0.0);
        }
        out.push(all + change);
    }
    out.push(before(gamma_unchanged).iter().sum());
    out
}

/// Squared distances of rows `at` from all rows.
fn sparse_distances(x: &[Vec<(u32, f64)>], n: usize, at: &Range<usize>, members: &[usize]) -> Vec<Vec<f64>> {
    let mut distances = vec![vec![0.0; n]; at.len()];
    let mut squares = vec![0.0; at.len()];
    for &f in members {
        let cells = &x[f];
        let from = cells.partition_point(|c| (c.0 as usize) < at.start);
        let mut own = cells[from..].iter().peekable();
        for (r, row) in distances.iter_mut().enumerate() {
            let i = (at.start + r) as u32;
            let z = own.next_if(|c| c.0 == i).map_or(0.0, |c| c.1);
            squares[r] += z * z;
            // Minus the contribution of a zero there.
            cells.iter().for_each(|&(j, v)| row[j as usize] += (v - z).powi(2) - z * z);
        }
    }
    for (r, row) in distances.iter_mut().enumerate() {
        row.iter_mut().for_each(|d| *d = (*d + squares[r]).max(0.0));
        row[at.start + r] = 0.0;
    }
    distances
}

fn dense_gradient(x: &Array2<f64>, a: ArrayView2<f64>, rows: &[f64], at: Range<usize>) -> Vec<f64> {
    let mut ax = Array2::zeros((at.len(), x.ncols()));
    product_into(a, x.view(), ax.view_mut());
    let own = x.slice(s![at, ..]);
    let mut out = vec![0.0; x.ncols()];
    for ((x, ax), sum) in own.rows().into_iter().zip(ax.rows()).zip(rows) {
        for ((out, x), ax) in out.iter_mut().zip(x).zip(ax) {
            *out += x * (ax - sum * x);
        }
    }
    out
}

fn sparse_gradient(cells: &[(u32, f64)], a: ArrayView2<f64>, rows: &[f64], at: Range<usize>) -> f64 {
    let from = cells.partition_point(|c| (c.0 as usize) < at.start);
    let to = cells.partition_point(|c| (c.0 as usize) < at.end);
    let of_row = |&(i, z): &(u32, f64)| {
        let r = i as usize - at.start;
        let row = a.row(r);
        z * (cells.iter().map(|&(j, v)| row[j as usize] * v).sum::<f64>() - rows[r] * z)
    };
    cells[from..to].iter().map(of_row).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Classes, SparseRows, Target};
    use crate::dependence::{Estimator, TargetKernel, target_factor};
    use crate::random::Rng;

    fn example(n: usize) -> (Rows, Rows, Array2<f64>) {
        let mut rng = Rng::new(1);
        let draw = |_| if rng.uniform() < 0.6 { 0.0 } else { rng.normal() };
        let dense = Array2::from_shape_fn((n, 5), draw);
        let mut start = vec![0];
        let (mut column, mut value) = (vec![], vec![]);
        for row in dense.rows() {
            for (v, j) in row.iter().zip(0u32..).filter(|(v, _)| **v != 0.0) {
                column.push(j);
                value.push(*v);
            }
            start.push(column.len());
        }
        let sparse = SparseRows::new(5, start, column, value).unwrap().into();
        let codes = (0..n).map(|i| i * 7 % 3).collect();
        let target = Target::Classes(Classes::from_codes(codes));
        let factor = target_factor(&target, TargetKernel::Auto, "m", &Context::default()).unwrap();
        (dense.into(), sparse, factor)
    }

    fn naive(x: &Array2<f64>, v: &Array2<f64>, columns: &[usize], gamma: f64) -> f64 {
        let mut sum = 0.0;
        for i in 0..x.nrows() {
            for j in 0..x.nrows() {
                let d: f64 = columns.iter().map(|&f| (x[[i, f]] - x[[j, f]]).powi(2)).sum();
                sum += v[[i, j]] * (-gamma * d).exp();
            }
        }
        sum
    }

    #[test]
    fn sums_are_those_over_all_pairs() {
        // More rows than a task has, and not a multiple.
        let n = 2 * ROWS + 5;
        let (dense, sparse, factor) = example(n);
        let x = dense.to_dense();
        let ctx = Context::default();
        for estimator in [Estimator::Biased, Estimator::Unbiased] {
            let v = PairWeights::new(&factor, estimator, "m").unwrap().rows(0..n);
            for rows in [&dense, &sparse] {
                let joint =
                    Joint::new(rows, PairWeights::new(&factor, estimator, "m").unwrap(), "m", &ctx).unwrap();
                let added = joint.sums(&[1, 3], &[0, 2, 4], Change::Add, 0.2, 0.3, &ctx).unwrap();
                let removed = joint.sums(&[0, 1, 2, 4], &[0, 4], Change::Remove, 0.2, 0.3, &ctx).unwrap();
                // Rounding error of several thousand terms with weights of size 1/n^2.
                let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-14, "{a} {b}");
                for (f, sum) in [0, 2, 4].into_iter().zip(added.changed) {
                    near(sum, naive(&x, &v, &[1, 3, f], 0.2));
                }
                near(added.unchanged, naive(&x, &v, &[1, 3], 0.3));
                near(removed.changed[0], naive(&x, &v, &[1, 2, 4], 0.2));
                near(removed.changed[1], naive(&x, &v, &[0, 1, 2], 0.2));
                near(removed.unchanged, naive(&x, &v, &[0, 1, 2, 4], 0.3));
                let alone = joint.sums(&[], &[2], Change::Add, 0.5, 0.5, &ctx).unwrap();
                near(alone.changed[0], naive(&x, &v, &[2], 0.5));
            }
        }
    }

    #[test]
    fn gradients_are_those_of_the_sums() {
        let n = PRODUCT_ROWS + 9;
        let (dense, sparse, factor) = example(n);
        let x = dense.to_dense();
        let ctx = Context::default();
        let v = PairWeights::new(&factor, Estimator::Biased, "m").unwrap().rows(0..n);
        for rows in [&dense, &sparse] {
            let weights = PairWeights::new(&factor, Estimator::Biased, "m").unwrap();
            let joint = Joint::new(rows, weights, "m", &ctx).unwrap();
            let found = joint.gradient(&[0, 2, 3], 0.2, &ctx).unwrap();
            assert!((found.unchanged - naive(&x, &v, &[0, 2, 3], 0.2)).abs() < 1e-13);
            for (at, f) in [0, 2, 3].into_iter().enumerate() {
                // A weight of 1 + h on the squared differences of one feature.
                let step = 1e-5_f64;
                let moved = |h: f64| {
                    let mut x = x.clone();
                    x.column_mut(f).mapv_inplace(|v| v * (1.0 + h).sqrt());
                    naive(&x, &v, &[0, 2, 3], 0.2)
                };
                let difference = (moved(step) - moved(-step)) / (2.0 * step);
                // Central differences have an error of the squared step plus rounding error over the step.
                assert!((2.0 * 0.2 * found.changed[at] - difference).abs() < 1e-9, "{f}");
            }
        }
    }
}
