//! Cuts: what the weights must satisfy so that the mixture is positive semidefinite on the rows.
//!
//! *Dominance*: $K_{ii} \ge \sum_{j \ne i} |K_{ij}|$ says $\sum_p \alpha_p (K_{p,ii} - \sum_{j \ne i} \sigma_j K_{p,ij}) \ge 0$ for every pattern of
//! signs $\sigma$, and the pattern that the mixture itself has is the one it breaks most. *Eigenvectors*: $v^\top K v \ge 0$ for the
//! vectors of negative eigenvalues. Either way a cut is one row of numbers, a number per kernel; Gram matrices are made
//! in blocks of rows and not kept.

use super::likeness::Likeness;
use crate::context::Context;
use crate::error::Result;
use crate::linalg::{multiply, symmetric_eigen};
use crate::simd::dot;
use ndarray::{Array2, ArrayView1, ArrayView2, s};
use rayon::prelude::*;

/// Rows of a block.
const ROWS: usize = 128;
/// Eigenvectors that become cuts in one round.
const VECTORS: usize = 32;

/// What the cuts are to bring about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Aim {
    /// Diagonal dominance.
    Dominance,
    /// No negative eigenvalue.
    Eigenvalues,
}

/// Cuts on the weights of the kernels and, last, the weight of white noise.
pub(super) struct Cuts {
    pub aim: Aim,
    /// The first row is the mean of the diagonal.
    pub rows: Vec<Vec<f64>>,
}

/// What is wrong with a mixture.
pub(super) struct Found {
    /// White noise of this weight mends it.
    pub deficit: f64,
    /// Cuts that it breaks.
    pub rows: Vec<Vec<f64>>,
}

impl Cuts {
    /// The anchor, and for dominance the pattern in which all similarities are positive.
    pub fn new(aim: Aim, likeness: &Likeness, ctx: &Context) -> Result<Self> {
        let mut anchor = likeness.diagonals.clone();
        anchor.push(1.0);
        let mut rows = vec![anchor];
        if aim == Aim::Dominance {
            let all: Vec<usize> = (0..likeness.n).collect();
            let one = Array2::ones((1, likeness.n));
            let signs = one.broadcast((likeness.n, likeness.n)).expect("one row stands for all");
            rows.extend(dominance_rows(likeness, &all, signs, ctx)?);
        }
        Ok(Self { aim, rows })
    }

    /// Looks for cuts that weights break by more than `tolerance` of the mixture's size.
    pub fn separate(
        &self,
        likeness: &Likeness,
        weights: &[f64],
        noise: f64,
        tolerance: f64,
        ctx: &Context,
    ) -> Result<Found> {
        match self.aim {
            Aim::Dominance => dominance(likeness, weights, noise, tolerance, ctx),
            Aim::Eigenvalues => eigenvalues(likeness, weights, noise, tolerance, ctx),
        }
    }
}

fn dominance(
    likeness: &Likeness,
    weights: &[f64],
    noise: f64,
    tolerance: f64,
    ctx: &Context,
) -> Result<Found> {
    let n = likeness.n;
    let (mut deficits, mut signs, mut size) = (vec![0.0; n], vec![], 0.0_f64);
    let rows: Vec<usize> = (0..n).collect();
    for block in rows.chunks(ROWS) {
        ctx.check()?;
        for (k, &i) in likeness.mixture(weights, block)?.rows().into_iter().zip(block) {
            let others: f64 = k.iter().map(|v| v.abs()).sum::<f64>() - k[i].abs();
            size = size.max(k[i] + noise).max(1.0);
            deficits[i] = others - k[i] - noise;
            if deficits[i] > 0.0 {
                // Kept as bytes: of all rows they are n² of them.
                signs.push((
                    i,
                    k.iter().map(|v| if *v < 0.0 { -1 } else { i8::from(*v > 0.0) }).collect::<Vec<i8>>(),
                ));
            }
        }
    }
    let deficit = deficits.iter().copied().fold(0.0, f64::max);
    signs.retain(|(i, _)| deficits[*i] > tolerance * size);
    let broken: Vec<usize> = signs.iter().map(|(i, _)| *i).collect();
    let signs = Array2::from_shape_fn((broken.len(), n), |(row, j)| f64::from(signs[row].1[j]));
    Ok(Found { deficit, rows: dominance_rows(likeness, &broken, signs.view(), ctx)? })
}

/// $K_{p,ii} - \sum_{j \ne i} \sigma_j K_{p,ij}$ of rows and their patterns of signs, and 1 for noise.
fn dominance_rows(
    likeness: &Likeness,
    which: &[usize],
    signs: ArrayView2<f64>,
    ctx: &Context,
) -> Result<Vec<Vec<f64>>> {
    by_kernels(likeness, which.len(), ctx, |p| {
        let mut column = Vec::with_capacity(which.len());
        for (at, block) in which.chunks(ROWS).enumerate() {
            let k = likeness.block(p, block)?;
            for (offset, (k, &i)) in k.rows().into_iter().zip(block).enumerate() {
                let sign = signs.row(at * ROWS + offset);
                column.push((1.0 + sign[i]) * k[i] - product(k, sign));
            }
        }
        Ok(column)
    })
}

fn eigenvalues(
    likeness: &Likeness,
    weights: &[f64],
    noise: f64,
    tolerance: f64,
    ctx: &Context,
) -> Result<Found> {
    let n = likeness.n;
    let all: Vec<usize> = (0..n).collect();
    ctx.check()?;
    let mut k = likeness.mixture(weights, &all)?;
    k.diag_mut().mapv_inplace(|v| v + noise);
    let eigen = symmetric_eigen(k.view())?;
    let (most, least) = (eigen.values[0], eigen.values[n - 1]);
    let size = most.abs().max(least.abs()).max(f64::MIN_POSITIVE);
    let broken = eigen.values.iter().filter(|v| **v < -tolerance * size).count().min(VECTORS);
    let vectors = eigen.vectors.slice(s![.., n - broken..]).to_owned();
    let rows = by_kernels(likeness, broken, ctx, |p| {
        let mut column = vec![0.0; broken];
        for block in all.chunks(ROWS) {
            let image = multiply(likeness.block(p, block)?.view(), vectors.view());
            for (j, sum) in column.iter_mut().enumerate() {
                *sum +=
                    block.iter().enumerate().map(|(at, &i)| image[[at, j]] * vectors[[i, j]]).sum::<f64>();
            }
        }
        Ok(column)
    })?;
    Ok(Found { deficit: (-least).max(0.0), rows })
}

fn product(a: ArrayView1<f64>, b: ArrayView1<f64>) -> f64 {
    match (a.to_slice(), b.to_slice()) {
        (Some(a), Some(b)) => dot(a, b),
        _ => a.iter().zip(b).map(|(a, b)| a * b).sum(),
    }
}

/// Cuts from what each kernel has in them, with 1 for noise at the end.
fn by_kernels(
    likeness: &Likeness,
    cuts: usize,
    ctx: &Context,
    of: impl Fn(usize) -> Result<Vec<f64>> + Sync,
) -> Result<Vec<Vec<f64>>> {
    let columns: Result<Vec<Vec<f64>>> = (0..likeness.len())
        .into_par_iter()
        .map(|p| {
            ctx.check()?;
            of(p)
        })
        .collect();
    let columns = columns?;
    Ok((0..cuts).map(|cut| columns.iter().map(|column| column[cut]).chain([1.0]).collect()).collect())
}
