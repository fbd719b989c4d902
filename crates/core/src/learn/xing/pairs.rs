//! Pairs of rows that should be near, and pairs that should be far.

use super::NAME;
use crate::data::Triplet;
use crate::error::{Error, Result};
use crate::simd::{add_squares_of_pairs, squared_distance};
use ndarray::{Array2, ArrayView2, Axis};
use rayon::prelude::*;
use std::sync::OnceLock;

/// Pairs that one task measures.
const PAIRS: usize = 4096;
/// Rows that one task pulls at.
const ROWS: usize = 128;

/// Two sets of pairs over rows numbered from 0 to the number of rows in use.
pub(super) struct Pairs {
    /// The rows of the data that are in some pair, in rising order.
    pub rows: Vec<usize>,
    /// Pairs that should be near, each once.
    pub similar: Vec<[usize; 2]>,
    /// Pairs that should be far, each once.
    pub dissimilar: Vec<[usize; 2]>,
    /// How many pairs are in both sets.
    pub both: usize,
}

impl Pairs {
    /// Checks pairs of rows of a table of `n`, and takes each once whichever way round it was given.
    pub fn new(n: usize, similar: &[[usize; 2]], dissimilar: &[[usize; 2]]) -> Result<Self> {
        let mut similar = once("similar", n, similar)?;
        let mut dissimilar = once("dissimilar", n, dissimilar)?;
        let mut rest = dissimilar.as_slice();
        let in_both = |pair: &&[usize; 2]| {
            rest = &rest[rest.iter().take_while(|other| other < pair).count()..];
            rest.first() == Some(pair)
        };
        let both = similar.iter().filter(in_both).count();
        let mut named = vec![false; n];
        similar.iter().chain(&dissimilar).flatten().for_each(|&row| named[row] = true);
        let rows: Vec<usize> = (0..n).filter(|&row| named[row]).collect();
        let mut place = vec![0; n];
        rows.iter().enumerate().for_each(|(to, &from)| place[from] = to);
        similar.iter_mut().chain(&mut dissimilar).flatten().for_each(|row| *row = place[*row]);
        Ok(Self { rows, similar, dissimilar, both })
    }
}

/// The pairs that triples stand for: i with j is similar, i with k is not.
pub(super) fn from_triplets(triplets: &[Triplet]) -> (Vec<[usize; 2]>, Vec<[usize; 2]>) {
    triplets.iter().map(|&[i, j, k]| ([i, j], [i, k])).unzip()
}

fn once(name: &'static str, n: usize, pairs: &[[usize; 2]]) -> Result<Vec<[usize; 2]>> {
    if pairs.is_empty() {
        return Err(Error::param(
            NAME,
            name,
            "at least one pair; give triples, or draw them from labels",
            "none",
        ));
    }
    let mut sorted = Vec::with_capacity(pairs.len());
    for (at, &[i, j]) in pairs.iter().enumerate() {
        let wrong = |expected: String| Error::Shape {
            what: format!("{NAME}: {name} pair {}", at + 1),
            expected,
            got: format!("{i} and {j}"),
        };
        if i.max(j) >= n {
            return Err(wrong(format!("rows below {n}")));
        }
        if i == j {
            return Err(wrong("two different rows".into()));
        }
        sorted.push([i.min(j), i.max(j)]);
    }
    // As one number each: these are sorted in less than half the time.
    if n as u64 <= 1 << 32 {
        let mut keys: Vec<u64> = sorted.iter().map(|&[i, j]| (i as u64) << 32 | j as u64).collect();
        keys.sort_unstable();
        keys.dedup();
        return Ok(keys.iter().map(|&key| [(key >> 32) as usize, key as u32 as usize]).collect());
    }
    sorted.sort_unstable();
    sorted.dedup();
    Ok(sorted)
}

/// Pairs of rows with what is near each row, so that sums over pairs are sums over rows.
pub(super) struct Graph {
    n_rows: usize,
    pairs: Vec<[usize; 2]>,
    near: OnceLock<Near>,
}

/// What is near each row.
struct Near {
    /// The pairs of row i are `start[i]..start[i + 1]` of `pairs`.
    start: Vec<usize>,
    /// The other row, and the pair's place.
    pairs: Vec<(usize, usize)>,
}

impl Near {
    fn new(n_rows: usize, pairs: &[[usize; 2]]) -> Self {
        let mut start = vec![0; n_rows + 1];
        pairs.iter().flatten().for_each(|&row| start[row + 1] += 1);
        (0..n_rows).for_each(|i| start[i + 1] += start[i]);
        let mut next = start.clone();
        let mut near = vec![(0, 0); 2 * pairs.len()];
        for (at, &[i, j]) in pairs.iter().enumerate() {
            for (row, other) in [(i, j), (j, i)] {
                near[next[row]] = (other, at);
                next[row] += 1;
            }
        }
        Self { start, pairs: near }
    }

    fn of(&self, row: usize) -> &[(usize, usize)] {
        &self.pairs[self.start[row]..self.start[row + 1]]
    }
}

impl Graph {
    pub fn new(n_rows: usize, pairs: Vec<[usize; 2]>) -> Self {
        Self { n_rows, pairs, near: OnceLock::new() }
    }

    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// The pairs.
    pub fn pairs(&self) -> &[[usize; 2]] {
        &self.pairs
    }

    /// The squared distance of every pair, in rows `y` that are laid out by rows.
    pub fn squares(&self, y: &Array2<f64>) -> Vec<f64> {
        let cells = flat(y);
        let k = y.ncols();
        let mut out = vec![0.0; self.pairs.len()];
        out.par_chunks_mut(PAIRS).zip(self.pairs.par_chunks(PAIRS)).for_each(|(out, pairs)| {
            for (out, &[i, j]) in out.iter_mut().zip(pairs) {
                *out = squared_distance(&cells[i * k..(i + 1) * k], &cells[j * k..(j + 1) * k]);
            }
        });
        out
    }

    /// $\sum_p w_p (y_i - y_j)$ over the pairs (i, j) of every row i: the weighted Laplacian of the pairs times `y`.
    /// Its product with `y` from the left is $\sum_p w_p (y_i - y_j)(y_i - y_j)^\top$.
    pub fn pull(&self, y: &Array2<f64>, weight: impl Fn(usize) -> f64 + Sync) -> Array2<f64> {
        let cells = flat(y);
        let k = y.ncols();
        let mut out = Array2::zeros(y.dim());
        let near = self.near.get_or_init(|| Near::new(self.n_rows, &self.pairs));
        out.axis_chunks_iter_mut(Axis(0), ROWS).into_par_iter().enumerate().for_each(|(block, mut out)| {
            for (to, i) in out.rows_mut().into_iter().zip(block * ROWS..) {
                let to = to.into_slice().expect("rows of a new array are contiguous");
                let here = &cells[i * k..(i + 1) * k];
                for &(j, at) in near.of(i) {
                    let w = weight(at);
                    let there = &cells[j * k..(j + 1) * k];
                    for ((to, a), b) in to.iter_mut().zip(here).zip(there) {
                        *to += w * (a - b);
                    }
                }
            }
        });
        out
    }

    /// The sum over pairs of the squared difference in every column.
    pub fn column_squares(&self, y: &Array2<f64>) -> Vec<f64> {
        let cells = flat(y);
        let k = y.ncols();
        let sums: Vec<Vec<f64>> = self
            .pairs
            .par_chunks(PAIRS)
            .map(|pairs| {
                let mut sum = vec![0.0; k];
                add_squares_of_pairs(&mut sum, cells, pairs);
                sum
            })
            .collect();
        let mut total = vec![0.0; k];
        sums.iter().for_each(|sum| total.iter_mut().zip(sum).for_each(|(t, s)| *t += s));
        total
    }

    /// $\sum_p (y_i - y_j)(y_i - y_j)^\top$
    pub fn scatter(&self, y: &Array2<f64>) -> Array2<f64> {
        transposed_times(y.view(), self.pull(y, |_| 1.0).view())
    }
}

fn flat(y: &Array2<f64>) -> &[f64] {
    y.as_slice().expect("rows of pairs are laid out by rows")
}

/// `a b`, laid out by rows.
pub(super) fn times(a: ArrayView2<f64>, b: ArrayView2<f64>) -> Array2<f64> {
    let mut out = Array2::zeros((a.nrows(), b.ncols()));
    const BLOCK: usize = 256;
    out.axis_chunks_iter_mut(Axis(0), BLOCK)
        .into_par_iter()
        .zip(a.axis_chunks_iter(Axis(0), BLOCK).into_par_iter())
        .for_each(|(out, a)| crate::linalg::product_into(a, b, out));
    out
}

/// `aᵀ b`, laid out by rows.
pub(super) fn transposed_times(a: ArrayView2<f64>, b: ArrayView2<f64>) -> Array2<f64> {
    times(a.reversed_axes(), b)
}
