//! The sums over all pairs of samples, by blocks of rows.

use super::query::Query;
use super::{dense, sparse};
use crate::context::Context;
use crate::data::{Groups, Rows, is_constant};
use crate::dependence::PairWeights;
use crate::error::{Error, Result};
use crate::kernel::{Kernel, gram};
use crate::linalg::product_bytes;
use ndarray::Array2;
use rayon::prelude::*;
use std::ops::Range;

/// Rows per task of exact sums.
pub(super) const ROWS: usize = 16;
/// Rows per task of gradients, where matrix products need larger blocks.
const PRODUCT_ROWS: usize = 128;
/// Tasks per thread whose results are held before they are added in order.
const BATCH: usize = 16;

/// Features, dense in column-major order or as stored values.
pub(super) enum Cells {
    Dense(Array2<f64>),
    Sparse(Vec<sparse::Column>),
}

/// Features and the weights of pairs of samples.
pub(in crate::select) struct Joint<'a> {
    x: &'a Rows,
    pub(super) groups: Groups,
    pub(super) weights: PairWeights,
    pub(super) cells: Cells,
}

/// Sums with each candidate changed, and without a change.
pub(in crate::select) struct Sums {
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
        ctx.hold(format!("{method}'s copy of the features"), bytes, "use fewer rows or columns")
    }

    /// Features with these columns; `ctx` is that of [`Joint::held`].
    pub fn new(
        x: &'a Rows,
        groups: Groups,
        weights: PairWeights,
        method: &'static str,
        ctx: &Context,
    ) -> Result<Self> {
        // Weights, distances, their products and the distances in a feature of several columns, for a block of rows, per
        // thread.
        let arrays = if groups.is_single() { 3.0 } else { 4.0 };
        let bytes =
            rayon::current_num_threads() as f64 * 8.0 * arrays * (ROWS * x.n()) as f64 + product_bytes();
        ctx.need_memory(format!("{method}'s sums over pairs"), bytes, "use fewer rows")?;
        let cells = match x {
            Rows::Dense(dense) => Cells::Dense(dense.t().as_standard_layout().into_owned().reversed_axes()),
            Rows::Sparse(sparse) => Cells::Sparse(sparse.columns()),
        };
        // Distances of finite values may still overflow.
        let (mean, std) = x.moments();
        if mean.iter().chain(&std).any(|v| v.abs() > 1e140) {
            return Err(Error::Breakdown {
                step: method,
                why: "distances between rows overflow; scale the features".into(),
            });
        }
        Ok(Self { x, groups, weights, cells })
    }

    /// The non-constant features, in order.
    pub fn varying(&self) -> Vec<usize> {
        let (mean, std) = self.x.moments();
        let varies = |f: &usize| self.groups.columns(*f).any(|j| !is_constant(mean[j], std[j]));
        (0..self.groups.n_features()).filter(varies).collect()
    }

    /// The sums with each candidate added or removed, and without a change.
    pub fn sums(&self, query: Query, ctx: &Context) -> Result<Sums> {
        let part = |at: Range<usize>| {
            let weights = self.weights.rows(at.clone());
            Ok(match &self.cells {
                Cells::Dense(x) => dense::sums(x, &self.groups, &weights, at, query),
                Cells::Sparse(x) => sparse::sums(x, (&self.groups, self.x.n()), &weights, at, query),
            })
        };
        self.over_rows(ROWS, query.candidates.len() + 1, part, ctx)
    }

    /// For every member the derivative of the sum with respect to its squared weight $w_f$ in $\sum_f w_f (x_{if} -
    /// x_{jf})^2$, over $2 \gamma$: $x_f^\top (A - \operatorname{diag}(A 1)) x_f$ with $A_{ij} = V_{ij} k(D_{ij})$;
    /// and the sum itself. For a feature of several columns it is the sum over them.
    pub fn gradient(&self, members: &[usize], gamma: f64, ctx: &Context) -> Result<Sums> {
        let used = self.groups.expand(members);
        // Kernel values, weights and products for a block of rows, per thread.
        let rows = PRODUCT_ROWS * (2 * self.x.n() + used.len());
        let bytes = rayon::current_num_threads() as f64 * 8.0 * rows as f64 + product_bytes();
        let columns = self.x.bytes() * used.len() as f64 / self.x.d() as f64;
        ctx.need_memory("gradients of HSIC", columns + bytes, "use fewer rows or columns")?;
        let x = self.x.take_columns(&used);
        let kernel = Kernel::Rbf { gamma };
        let part = |at: Range<usize>| -> Result<Vec<f64>> {
            let rows: Vec<usize> = at.clone().collect();
            let mut a = gram(&kernel, &x.take_rows(&rows), &x)?;
            a *= &self.weights.rows(at.clone());
            let row_sums: Vec<f64> = a.rows().into_iter().map(|row| row.sum()).collect();
            let mut out = match (&self.cells, &x) {
                (Cells::Dense(_), Rows::Dense(x)) => dense::gradient(x, a.view(), &row_sums, at),
                (Cells::Sparse(cells), _) => used
                    .iter()
                    .map(|&j| sparse::gradient(&cells[j], a.view(), &row_sums, at.clone()))
                    .collect(),
                (Cells::Dense(_), Rows::Sparse(_)) => unreachable!("cells are stored like the rows"),
            };
            out.push(row_sums.iter().sum());
            Ok(out)
        };
        let sums = self.over_rows(PRODUCT_ROWS, used.len() + 1, part, ctx)?;
        if self.groups.is_single() {
            return Ok(sums);
        }
        Ok(Sums { changed: self.groups.take(members).sums(&sums.changed), ..sums })
    }

    /// Adds up the results of blocks of `height` rows, always in the same order. The last of `len` numbers is the sum
    /// without a change.
    pub(super) fn over_rows(
        &self,
        height: usize,
        len: usize,
        part: impl Fn(Range<usize>) -> Result<Vec<f64>> + Sync,
        ctx: &Context,
    ) -> Result<Sums> {
        let n = self.x.n();
        // The last rows have the most pairs with earlier rows: start them first to balance the load.
        let starts: Vec<usize> = (0..n).step_by(height).rev().collect();
        let mut total = vec![0.0; len];
        for batch in starts.chunks(BATCH * rayon::current_num_threads()) {
            let one = |&from: &usize| {
                ctx.check()?;
                part(from..n.min(from + height))
            };
            let parts: Vec<Result<Vec<f64>>> = batch.par_iter().with_max_len(1).map(one).collect();
            for part in parts {
                total.iter_mut().zip(part?).for_each(|(sum, v)| *sum += v);
            }
        }
        let unchanged = total.pop().expect("not empty");
        Ok(Sums { changed: total, unchanged })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Classes, SparseRows, Target};
    use crate::dependence::{Estimator, TargetKernel, target_factor};
    use crate::random::Rng;
    use crate::select::joint::query::Change;

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
        let sums = |joint: &Joint, members, candidates, change, (gamma, gamma_unchanged)| {
            joint.sums(Query { members, candidates, change, gamma, gamma_unchanged }, &ctx).unwrap()
        };
        for estimator in [Estimator::Biased, Estimator::Unbiased] {
            let v = PairWeights::new(&factor, estimator, "m").unwrap().rows(0..n);
            for rows in [&dense, &sparse] {
                let weights = || PairWeights::new(&factor, estimator, "m").unwrap();
                let joint = Joint::new(rows, Groups::single(5), weights(), "m", &ctx).unwrap();
                let added = sums(&joint, &[1, 3], &[0, 2, 4], Change::Add, (0.2, 0.3));
                let removed = sums(&joint, &[0, 1, 2, 4], &[0, 4], Change::Remove, (0.2, 0.3));
                // Rounding error of several thousand terms with weights of size 1/n^2.
                let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-14, "{a} {b}");
                for (f, sum) in [0, 2, 4].into_iter().zip(added.changed) {
                    near(sum, naive(&x, &v, &[1, 3, f], 0.2));
                }
                near(added.unchanged, naive(&x, &v, &[1, 3], 0.3));
                near(removed.changed[0], naive(&x, &v, &[1, 2, 4], 0.2));
                near(removed.changed[1], naive(&x, &v, &[0, 1, 2], 0.2));
                near(removed.unchanged, naive(&x, &v, &[0, 1, 2, 4], 0.3));
                let alone = sums(&joint, &[], &[2], Change::Add, (0.5, 0.5));
                near(alone.changed[0], naive(&x, &v, &[2], 0.5));
                // Features of the columns 0; 1 and 2; 3 and 4.
                let joint = Joint::new(rows, Groups::of_sizes([1, 2, 2]), weights(), "m", &ctx).unwrap();
                let added = sums(&joint, &[1], &[2, 0], Change::Add, (0.2, 0.3));
                near(added.changed[0], naive(&x, &v, &[1, 2, 3, 4], 0.2));
                near(added.changed[1], naive(&x, &v, &[0, 1, 2], 0.2));
                near(added.unchanged, naive(&x, &v, &[1, 2], 0.3));
                let removed = sums(&joint, &[0, 1, 2], &[1, 0], Change::Remove, (0.2, 0.3));
                near(removed.changed[0], naive(&x, &v, &[0, 3, 4], 0.2));
                near(removed.changed[1], naive(&x, &v, &[1, 2, 3, 4], 0.2));
                near(removed.unchanged, naive(&x, &v, &[0, 1, 2, 3, 4], 0.3));
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
            let weights = || PairWeights::new(&factor, Estimator::Biased, "m").unwrap();
            let joint = Joint::new(rows, Groups::single(5), weights(), "m", &ctx).unwrap();
            let found = joint.gradient(&[0, 2, 3], 0.2, &ctx).unwrap();
            // The columns 2 and 3 as one feature.
            let joint = Joint::new(rows, Groups::of_sizes([1, 1, 2, 1]), weights(), "m", &ctx).unwrap();
            let grouped = joint.gradient(&[0, 2], 0.2, &ctx).unwrap();
            assert_eq!(grouped.changed, [found.changed[0], found.changed[1] + found.changed[2]]);
            assert_eq!(grouped.unchanged, found.unchanged);
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
