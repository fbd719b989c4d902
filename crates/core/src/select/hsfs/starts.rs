//! Initial sets of features: those that depend on the target individually, in pairs, or jointly. The joint set
//! comes from backward elimination with one kernel, removing a tenth of the features per round, and with one weight
//! per feature also from forward selection.
//!
//! First-order methods do not find an XOR from a distant start: neither feature depends on the target alone, so the
//! gradient of either is zero until the other has a weight. The pairs come from the screen of all pairs.

use super::super::bahsic::joint_elimination;
use super::super::columns::each_feature;
use super::super::fohsic::joint_growth;
use super::problem::Problem;
use crate::context::Context;
use crate::data::{Groups, Rows};
use crate::dependence::center;
use crate::error::Result;
use crate::random::Rng;
use crate::simd::{dot, exp_scaled};
use ndarray::{Array2, Axis};

/// Maximum number of exponentials for single features.
const MAX_EXPONENTIALS: f64 = 1e9;
/// Maximum and minimum size of the subsample.
const SAMPLE_SIZE: (usize, usize) = (1000, 128);
/// Pairs of samples processed at a time.
const CHUNK: usize = 4096;
/// Maximum number of columns for the joint search and size of its subsample; beyond that, the number of products
/// per round.
const JOINT_SIZE: (usize, usize) = (4000, 1000);
const MAX_JOINT_PRODUCTS: f64 = 5e9;
/// Maximum number of exponentials for forward selection; limits the number of features added.
const MAX_FORWARD_EXPONENTIALS: f64 = 2e10;

/// Initial sets of features, best first in each.
pub(super) struct Starts {
    pub sets: Vec<Vec<usize>>,
}

impl Starts {
    /// Finds sets of up to `wanted` features.
    pub fn find(problem: &Problem, wanted: usize, ctx: &Context) -> Result<Self> {
        let wanted = wanted.max(2).min(problem.d());
        let (sample, rest) = Sample::draw(problem, ctx)?;
        let individual = sample.individual(&rest)?;
        let mut ranked: Vec<usize> = (0..problem.d()).collect();
        ranked.sort_by(|&a, &b| individual[b].total_cmp(&individual[a]).then(a.cmp(&b)));
        let mut sets = vec![ranked[..wanted].to_vec()];
        if !problem.pairs.is_empty() {
            let interaction = disjoint(&problem.pairs, wanted);
            // The strongest interaction together with the best individual features.
            let mut mixed = interaction[..2].to_vec();
            mixed.extend(
                ranked
                    .iter()
                    .filter(|j| !mixed.contains(j))
                    .take(wanted.saturating_sub(2))
                    .copied()
                    .collect::<Vec<_>>(),
            );
            sets.extend([interaction[..2].to_vec(), interaction, mixed]);
        }
        let rows = problem.n().min(JOINT_SIZE.1) as f64;
        let n_columns = problem.n_columns();
        if n_columns <= JOINT_SIZE.0 || rows * rows * n_columns as f64 <= MAX_JOINT_PRODUCTS {
            let (x, y) = rows_and_target(problem, ctx);
            let mut last = joint_elimination(&x, &problem.groups, &y, 0.1, ctx)?;
            last.truncate(wanted);
            sets.push(last);
            let steps = (MAX_FORWARD_EXPONENTIALS / exponentials_of_a_step(&x)) as usize;
            if problem.is_diagonal() && steps > 0 {
                sets.push(joint_growth(&x, &problem.groups, &y, wanted.min(steps), ctx)?);
            }
        }
        // Remove duplicate sets.
        let mut seen: Vec<Vec<usize>> = vec![];
        sets.retain(|set| {
            let mut sorted = set.clone();
            sorted.sort_unstable();
            !set.is_empty() && !seen.contains(&sorted) && {
                seen.push(sorted);
                true
            }
        });
        Ok(Self { sets })
    }
}

/// HSIC of every single feature, up to a common constant.
pub(super) fn individual(problem: &Problem, ctx: &Context) -> Result<Vec<f64>> {
    let (sample, rest) = Sample::draw(problem, ctx)?;
    sample.individual(&rest)
}

/// A subsample and its target.
struct Sample {
    x: Rows,
    groups: Groups,
    /// Pairs of samples, and their target kernel values.
    pairs: Vec<(u32, u32)>,
    weights: Vec<f64>,
    gamma: f64,
}

impl Sample {
    /// Draws a subsample; also returns the context for further work.
    fn draw<'c>(problem: &Problem, ctx: &Context<'c>) -> Result<(Self, Context<'c>)> {
        let (n, d) = (problem.n(), problem.d());
        let most = ((2.0 * MAX_EXPONENTIALS / d as f64).sqrt() as usize).clamp(SAMPLE_SIZE.1, SAMPLE_SIZE.0);
        let rows = Rng::stream(ctx.seed, "HSFS pairs").sample(n, most);
        let cells = problem.x().bytes_of(rows.len());
        let pairs = rows.len() * rows.len().saturating_sub(1) / 2;
        let rest = ctx.hold("HSFS's sample of rows", cells + 16.0 * pairs as f64, "use fewer columns")?;
        let mut y = problem.factor().select(Axis(0), &rows);
        center(&mut y);
        let x = problem.x().take_rows(&rows);
        let mut all: Vec<(u32, u32)> = Vec::with_capacity(pairs);
        (0..rows.len() as u32).for_each(|i| all.extend((0..i).map(|j| (i, j))));
        let pairs = all;
        let weights = pairs.iter().map(|&(i, j)| y.row(i as usize).dot(&y.row(j as usize))).collect();
        // The scale of a single feature at the kernel's bandwidth.
        let inverse_bandwidth =
            problem.unit * if problem.is_diagonal() { 1.0 } else { (problem.directions as f64).sqrt() };
        let gamma = if problem.is_diagonal() {
            0.5 * inverse_bandwidth
        } else {
            0.5 * inverse_bandwidth * inverse_bandwidth
        };
        Ok((Self { x, groups: problem.groups.clone(), pairs, weights, gamma }, rest))
    }

    /// Kernel values of pairs of samples under a single feature, given its columns one after another.
    fn values(&self, cells: &[f64], pairs: &[(u32, u32)], out: &mut [f64]) {
        let (first, others) = cells.split_at(self.x.n());
        for (out, &(i, j)) in out.iter_mut().zip(pairs) {
            let e = first[i as usize] - first[j as usize];
            *out = e * e;
        }
        for column in others.chunks_exact(self.x.n()) {
            for (out, &(i, j)) in out.iter_mut().zip(pairs) {
                let e = column[i as usize] - column[j as usize];
                *out += e * e;
            }
        }
        exp_scaled(out, -self.gamma);
    }

    /// HSIC of every single feature, up to a common constant.
    fn individual(&self, ctx: &Context) -> Result<Vec<f64>> {
        each_feature(&self.x, &self.groups, "single features", 8.0 * CHUNK as f64, ctx, |_, cells| {
            let mut values = vec![0.0; CHUNK];
            let parts = self.pairs.chunks(CHUNK).zip(self.weights.chunks(CHUNK));
            parts
                .map(|(pairs, weights)| {
                    let values = &mut values[..pairs.len()];
                    self.values(cells, pairs, values);
                    dot(values, weights)
                })
                .sum()
        })
    }
}

/// The features of the best disjoint pairs, until there are `wanted`.
fn disjoint(pairs: &[(usize, usize)], wanted: usize) -> Vec<usize> {
    let mut out = vec![];
    for &(a, b) in pairs {
        if out.len() < wanted && !out.contains(&a) && !out.contains(&b) {
            out.extend([a, b]);
        }
    }
    out
}

/// Number of exponentials per step of forward selection.
fn exponentials_of_a_step(x: &Rows) -> f64 {
    let cells = match x {
        Rows::Dense(x) => 0.5 * x.len() as f64,
        Rows::Sparse(x) => x.n_stored() as f64,
    };
    cells.max(1.0) * x.n() as f64
}

/// A subsample in units of the kernel's bandwidth, and its target.
fn rows_and_target(problem: &Problem, ctx: &Context) -> (Rows, Array2<f64>) {
    let rows = Rng::stream(ctx.seed, "HSFS together").sample(problem.n(), JOINT_SIZE.1);
    let mut y = problem.factor().select(Axis(0), &rows);
    center(&mut y);
    (problem.rows_in_units(&rows), y)
}
