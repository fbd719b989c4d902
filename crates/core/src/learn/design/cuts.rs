//! Cuts: linear constraints on the weights that make the mixture positive semidefinite on the rows.
//!
//! *Dominance*: $K_{ii} \ge \sum_{j \ne i} |K_{ij}|$ holds if $\sum_p \alpha_p (K_{p,ii} - \sum_{j \ne i} \sigma_j K_{p,ij}) \ge 0$ for every
//! sign pattern $\sigma$; the most violated pattern has the signs of the mixture. *Eigenvectors*: $v^\top K v \ge 0$ for the
//! eigenvectors of negative eigenvalues. A cut is one row with a coefficient per kernel. Gram matrices are computed in blocks of
//! rows and not kept.

use super::similarity::Similarity;
use crate::context::Context;
use crate::error::Result;
use crate::linalg::{multiply, symmetric_eigen};
use crate::simd::dot;
use ndarray::{Array2, ArrayView1, ArrayView2, s};
use rayon::prelude::*;

/// Rows of a block.
const BLOCK_ROWS: usize = 128;
/// Eigenvectors that become cuts in a round, at most.
const MAX_VECTORS: usize = 32;

/// The property that the cuts enforce.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Aim {
    /// Diagonal dominance.
    Dominance,
    /// No negative eigenvalue.
    Eigenvalues,
}

/// Cuts: a coefficient per kernel and, last, one for white noise.
pub(super) struct Cuts {
    pub aim: Aim,
    /// The first row is the mean diagonal, which anchors the interior point.
    pub rows: Vec<Vec<f64>>,
}

/// The violations of a mixture.
pub(super) struct Violations {
    /// The weight of white noise that removes all violations.
    pub violation: f64,
    /// Violated cuts.
    pub rows: Vec<Vec<f64>>,
}

impl Cuts {
    /// The anchor and, for dominance, the cuts of positive signs.
    pub fn new(aim: Aim, similarity: &Similarity, ctx: &Context) -> Result<Self> {
        let mut anchor = similarity.diagonals.clone();
        anchor.push(1.0);
        let mut rows = vec![anchor];
        if aim == Aim::Dominance {
            let all: Vec<usize> = (0..similarity.n).collect();
            let one = Array2::ones((1, similarity.n));
            let signs = one.broadcast((similarity.n, similarity.n)).expect("a row broadcasts");
            rows.extend(dominance_rows(similarity, &all, signs, ctx)?);
        }
        Ok(Self { aim, rows })
    }

    /// Finds cuts that weights violate by more than `tolerance` times the mixture's size.
    pub fn separate(
        &self,
        similarity: &Similarity,
        weights: &[f64],
        noise: f64,
        tolerance: f64,
        ctx: &Context,
    ) -> Result<Violations> {
        match self.aim {
            Aim::Dominance => dominance(similarity, weights, noise, tolerance, ctx),
            Aim::Eigenvalues => eigenvalues(similarity, weights, noise, tolerance, ctx),
        }
    }
}

fn dominance(
    similarity: &Similarity,
    weights: &[f64],
    noise: f64,
    tolerance: f64,
    ctx: &Context,
) -> Result<Violations> {
    let n = similarity.n;
    let (mut violations, mut signs, mut size) = (vec![0.0; n], vec![], 0.0_f64);
    let rows: Vec<usize> = (0..n).collect();
    for block in rows.chunks(BLOCK_ROWS) {
        ctx.check()?;
        for (k, &i) in similarity.mixture(weights, block)?.rows().into_iter().zip(block) {
            let others: f64 = k.iter().map(|v| v.abs()).sum::<f64>() - k[i].abs();
            size = size.max(k[i] + noise).max(1.0);
            violations[i] = others - k[i] - noise;
            if violations[i] > 0.0 {
                // As bytes, since there can be n² of them.
                signs.push((
                    i,
                    k.iter().map(|v| if *v < 0.0 { -1 } else { i8::from(*v > 0.0) }).collect::<Vec<i8>>(),
                ));
            }
        }
    }
    let violation = violations.iter().copied().fold(0.0, f64::max);
    signs.retain(|(i, _)| violations[*i] > tolerance * size);
    let violated: Vec<usize> = signs.iter().map(|(i, _)| *i).collect();
    let signs = Array2::from_shape_fn((violated.len(), n), |(row, j)| f64::from(signs[row].1[j]));
    Ok(Violations { violation, rows: dominance_rows(similarity, &violated, signs.view(), ctx)? })
}

/// $K_{p,ii} - \sum_{j \ne i} \sigma_j K_{p,ij}$ for rows and their sign patterns, and 1 for noise.
fn dominance_rows(
    similarity: &Similarity,
    which: &[usize],
    signs: ArrayView2<f64>,
    ctx: &Context,
) -> Result<Vec<Vec<f64>>> {
    by_kernels(similarity, which.len(), ctx, |p| {
        let mut column = Vec::with_capacity(which.len());
        for (at, block) in which.chunks(BLOCK_ROWS).enumerate() {
            let k = similarity.block(p, block)?;
            for (offset, (k, &i)) in k.rows().into_iter().zip(block).enumerate() {
                let sign = signs.row(at * BLOCK_ROWS + offset);
                column.push((1.0 + sign[i]) * k[i] - product(k, sign));
            }
        }
        Ok(column)
    })
}

fn eigenvalues(
    similarity: &Similarity,
    weights: &[f64],
    noise: f64,
    tolerance: f64,
    ctx: &Context,
) -> Result<Violations> {
    let n = similarity.n;
    let all: Vec<usize> = (0..n).collect();
    ctx.check()?;
    let mut k = similarity.mixture(weights, &all)?;
    k.diag_mut().mapv_inplace(|v| v + noise);
    let eigen = symmetric_eigen(k.view())?;
    let (most, least) = (eigen.values[0], eigen.values[n - 1]);
    let size = most.abs().max(least.abs()).max(f64::MIN_POSITIVE);
    let violated = eigen.values.iter().filter(|v| **v < -tolerance * size).count().min(MAX_VECTORS);
    let vectors = eigen.vectors.slice(s![.., n - violated..]).to_owned();
    let rows = by_kernels(similarity, violated, ctx, |p| {
        let mut column = vec![0.0; violated];
        for block in all.chunks(BLOCK_ROWS) {
            let image = multiply(similarity.block(p, block)?.view(), vectors.view());
            for (j, sum) in column.iter_mut().enumerate() {
                *sum +=
                    block.iter().enumerate().map(|(at, &i)| image[[at, j]] * vectors[[i, j]]).sum::<f64>();
            }
        }
        Ok(column)
    })?;
    Ok(Violations { violation: (-least).max(0.0), rows })
}

fn product(a: ArrayView1<f64>, b: ArrayView1<f64>) -> f64 {
    match (a.to_slice(), b.to_slice()) {
        (Some(a), Some(b)) => dot(a, b),
        _ => a.iter().zip(b).map(|(a, b)| a * b).sum(),
    }
}

/// Cuts from the coefficients of each kernel, with 1 for noise at the end.
fn by_kernels(
    similarity: &Similarity,
    cuts: usize,
    ctx: &Context,
    coefficients: impl Fn(usize) -> Result<Vec<f64>> + Sync,
) -> Result<Vec<Vec<f64>>> {
    let columns: Result<Vec<Vec<f64>>> = (0..similarity.len())
        .into_par_iter()
        .map(|p| {
            ctx.check()?;
            coefficients(p)
        })
        .collect();
    let columns = columns?;
    Ok((0..cuts).map(|cut| columns.iter().map(|column| column[cut]).chain([1.0]).collect()).collect())
}
