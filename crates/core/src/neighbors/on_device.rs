//! Nearest neighbors on a device.
//!
//! A device lists somewhat more rows than wanted for each query, by distances in single precision. If $v$ is the largest listed
//! distance, no other row is nearer than $v$ less a bound on its error. The listed rows are compared again in double precision,
//! by the same operations as on the processor; if the wanted ones among them are nearer than that, they are the nearest.
//! Queries for which this does not hold are left to the processor.

use crate::context::Context;
use crate::device::{Attempt, Metric, NearestLists, Refusal, Task};
use crate::error::Result;
use ndarray::{Array2, ArrayView1, ArrayView2, Axis, s};
use rayon::prelude::*;

/// Rows that a device lists in addition to those wanted.
const ADDITIONAL: usize = 8;
/// Queries per task on the processor.
const QUERIES_PER_TASK: usize = 64;

/// A search whose distances are computed on a device first.
pub(super) struct Searched<'a> {
    pub reference: ArrayView2<'a, f64>,
    pub queries: ArrayView2<'a, f64>,
    pub k: usize,
    pub exclude: Option<&'a [Option<usize>]>,
    pub metric: Metric,
}

/// For each query its nearest rows with their exact distances; none where it could not be decided.
type Found = Vec<Option<Vec<(f64, usize)>>>;

impl Searched<'_> {
    /// The nearest rows of each query. `exact` gets a query and the rows to compare it with, in order, and returns the distances:
    /// squared ones for the Euclidean metric. `on_processor` searches for those of some queries.
    pub fn run<T>(
        &self,
        exact: impl Fn(ArrayView1<f64>, &[usize]) -> Vec<f64> + Sync,
        neighbor: impl Fn((f64, usize)) -> T,
        on_processor: impl Fn(ArrayView2<f64>, Option<&[Option<usize>]>) -> Result<Vec<Vec<T>>>,
        ctx: &Context,
    ) -> Result<Vec<Vec<T>>> {
        let Some(found) = self.on_device(exact, ctx)? else {
            return on_processor(self.queries, self.exclude);
        };
        let open: Vec<usize> = (0..found.len()).filter(|&q| found[q].is_none()).collect();
        let mut rest = vec![];
        if !open.is_empty() {
            let exclude: Option<Vec<Option<usize>>> =
                self.exclude.map(|rows| open.iter().map(|&q| rows[q]).collect());
            rest = on_processor(self.queries.select(Axis(0), &open).view(), exclude.as_deref())?;
        }
        let mut rest = rest.into_iter();
        let of_query = |found: Option<Vec<(f64, usize)>>| match found {
            Some(near) => near.into_iter().map(&neighbor).collect(),
            None => rest.next().expect("one for each open query"),
        };
        Ok(found.into_iter().map(of_query).collect())
    }

    /// None if there is no device or it refuses.
    fn on_device(
        &self,
        exact: impl Fn(ArrayView1<f64>, &[usize]) -> Vec<f64> + Sync,
        ctx: &Context,
    ) -> Result<Option<Found>> {
        let Some(device) = ctx.device else { return Ok(None) };
        let listed = self.k + ADDITIONAL.max(self.k / 4);
        let copies = 4.0 * (self.reference.len() + self.queries.len()) as f64;
        if copies > ctx.room() as f64 {
            return Ok(None);
        }
        let attempt = device.attempt(Task::Neighbors, |accelerator| {
            let size = (self.reference.dim(), self.queries.nrows());
            if !accelerator.wants_nearest(size, listed) {
                return Err(Refusal::Declined);
            }
            let single = Single::new(self.reference, self.queries, self.metric).ok_or(Refusal::Declined)?;
            let mut lists = accelerator.nearest(single.reference.view(), listed, self.metric)?;
            self.in_batches(&mut *lists, &single, listed, &exact, ctx)
        });
        attempt.transpose()
    }

    fn in_batches(
        &self,
        lists: &mut dyn NearestLists,
        single: &Single,
        listed: usize,
        exact: &(impl Fn(ArrayView1<f64>, &[usize]) -> Vec<f64> + Sync),
        ctx: &Context,
    ) -> Attempt<Result<Found>> {
        let n = self.queries.nrows();
        let mut found = Vec::with_capacity(n);
        for from in (0..n).step_by(lists.most_queries()) {
            if let Err(error) = ctx.step("nearest neighbors", from, n) {
                return Ok(Err(error));
            }
            let rows = from..n.min(from + lists.most_queries());
            let excluded =
                |q: usize| self.exclude.and_then(|rows| rows[q]).map_or(u32::MAX, |row| row as u32);
            let exclude: Vec<u32> = rows.clone().map(excluded).collect();
            let near = lists.lists(single.queries.slice(s![rows.clone(), ..]), &exclude)?;
            let parts: Vec<_> = near
                .par_chunks(listed)
                .zip(rows)
                .with_min_len(QUERIES_PER_TASK)
                .map(|(near, q)| self.decide(near, single.lower_bound(near, q), self.queries.row(q), exact))
                .collect();
            found.extend(parts);
        }
        Ok(Ok(found))
    }

    /// The nearest of the listed rows, if all others are farther than `lower`.
    fn decide(
        &self,
        near: &[(f32, u32)],
        lower: f64,
        query: ArrayView1<f64>,
        exact: &impl Fn(ArrayView1<f64>, &[usize]) -> Vec<f64>,
    ) -> Option<Vec<(f64, usize)>> {
        let mut rows: Vec<usize> =
            near.iter().filter(|(_, row)| *row != u32::MAX).map(|(_, row)| *row as usize).collect();
        rows.sort_unstable();
        let mut found: Vec<(f64, usize)> = exact(query, &rows).into_iter().zip(rows).collect();
        if found.iter().any(|(distance, _)| !distance.is_finite()) {
            return None;
        }
        found.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        found.truncate(self.k);
        let all = found.last().is_none_or(|last| last.0 < lower);
        all.then_some(found)
    }
}

/// Rows in single precision, centered and scaled by a power of two.
struct Single {
    reference: Array2<f32>,
    queries: Array2<f32>,
    /// Norms of queries, and the largest of reference rows.
    norms: Vec<f64>,
    largest: f64,
    scale: f64,
    metric: Metric,
}

impl Single {
    /// None if the numbers are not finite.
    fn new(reference: ArrayView2<f64>, queries: ArrayView2<f64>, metric: Metric) -> Option<Self> {
        let mean = reference.mean_axis(Axis(0))?;
        let largest = |rows: &ArrayView2<f64>| {
            let of_row = |row: ArrayView1<f64>| {
                row.iter().zip(&mean).fold(0.0, |most: f64, (v, m)| {
                    let size = (v - m).abs();
                    if size.is_nan() { f64::INFINITY } else { most.max(size) }
                })
            };
            rows.axis_iter(Axis(0)).into_par_iter().map(of_row).reduce(|| 0.0, f64::max)
        };
        let size = largest(&reference).max(largest(&queries));
        if !(1e-200..1e200).contains(&size) {
            return None;
        }
        let scale = (-size.log2().ceil()).exp2();
        let single = |rows: &ArrayView2<f64>| {
            let mut out = Array2::<f32>::zeros(rows.raw_dim());
            out.axis_iter_mut(Axis(0)).into_par_iter().zip(rows.axis_iter(Axis(0))).for_each(
                |(mut out, row)| {
                    let cells = out.iter_mut().zip(row.iter().zip(&mean));
                    cells.for_each(|(out, (v, m))| *out = ((v - m) * scale) as f32);
                },
            );
            out
        };
        let (reference, queries) = (single(&reference), single(&queries));
        let norm = |row: ArrayView1<f32>| {
            let cells = row.into_iter().map(|v| f64::from(*v));
            match metric {
                Metric::Manhattan => cells.map(f64::abs).sum::<f64>(),
                Metric::SquaredEuclidean => cells.map(|v| v * v).sum::<f64>().sqrt(),
            }
        };
        let norms = queries.axis_iter(Axis(0)).into_par_iter().map(norm).collect();
        let of_reference = reference.axis_iter(Axis(0)).into_par_iter().map(norm);
        let largest = of_reference.reduce(|| 0.0, f64::max);
        Some(Self { reference, queries, norms, largest, scale, metric })
    }

    /// A distance that no row beyond a list can be below, in the units of the data.
    ///
    /// With the unit roundoff $u$: rounding moves a row $a$ by at most $u \lVert a \rVert$; a sum of $d$ terms in any order, each with
    /// two operations, has a relative error of at most $(d + 2) u$.
    fn lower_bound(&self, near: &[(f32, u32)], query: usize) -> f64 {
        let Some(&(last, row)) = near.last() else { return f64::INFINITY };
        if row == u32::MAX {
            return f64::INFINITY;
        }
        // The factor covers products of errors, and rounding in double precision. Numbers that are too small for single precision
        // have an absolute error below the second term.
        let u = 1.01 * f64::from(f32::EPSILON) / 2.0;
        let d = self.reference.ncols() as f64;
        let moved = u * (self.largest + self.norms[query]) + 1e-18 * d;
        let sum = f64::from(last) * (1.0 - (d + 3.0) * u);
        match self.metric {
            Metric::Manhattan => (sum - moved) / self.scale,
            Metric::SquaredEuclidean => ((sum.max(0.0).sqrt() - moved).max(0.0) / self.scale).powi(2),
        }
    }
}
