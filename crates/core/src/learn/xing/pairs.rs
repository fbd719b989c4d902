//! Similar and dissimilar pairs of rows, and sums over them.

use crate::data::Triplet;
use crate::error::{Error, Result};
use crate::simd::{add_squares_of_pairs, squared_distance};
use ndarray::{Array2, ArrayView2, Axis};
use rayon::prelude::*;
use std::sync::OnceLock;

/// The name of the method in messages.
pub(super) const NAME: &str = "Xing metric";
/// Pairs per task.
const PAIRS: usize = 4096;
/// Rows per task.
const ROWS: usize = 128;

/// Similar and dissimilar pairs, over rows renumbered from 0.
pub(super) struct Pairs {
    /// The rows of the data that are in some pair, in ascending order.
    pub rows: Vec<usize>,
    /// Similar pairs, without duplicates.
    pub similar: Vec<[usize; 2]>,
    /// Dissimilar pairs, without duplicates.
    pub dissimilar: Vec<[usize; 2]>,
    /// Number of pairs in both sets.
    pub both: usize,
}

impl Pairs {
    /// Validates pairs of `n` rows and removes duplicates; (i, j) and (j, i) are the same pair.
    pub fn new(n: usize, similar: &[[usize; 2]], dissimilar: &[[usize; 2]]) -> Result<Self> {
        let mut similar = deduplicated("similar", n, similar)?;
        let mut dissimilar = deduplicated("dissimilar", n, dissimilar)?;
        let mut rest = dissimilar.as_slice();
        let in_both = |pair: &&[usize; 2]| {
            rest = &rest[rest.iter().take_while(|other| other < pair).count()..];
            rest.first() == Some(pair)
        };
        let both = similar.iter().filter(in_both).count();
        let mut used = vec![false; n];
        similar.iter().chain(&dissimilar).flatten().for_each(|&row| used[row] = true);
        let rows: Vec<usize> = (0..n).filter(|&row| used[row]).collect();
        let mut position = vec![0; n];
        rows.iter().enumerate().for_each(|(to, &from)| position[from] = to);
        similar.iter_mut().chain(&mut dissimilar).flatten().for_each(|row| *row = position[*row]);
        Ok(Self { rows, similar, dissimilar, both })
    }
}

/// The pairs of triplets: (i, j) is similar, (i, k) dissimilar.
pub(super) fn from_triplets(triplets: &[Triplet]) -> (Vec<[usize; 2]>, Vec<[usize; 2]>) {
    triplets.iter().map(|&[i, j, k]| ([i, j], [i, k])).unzip()
}

fn deduplicated(name: &'static str, n: usize, pairs: &[[usize; 2]]) -> Result<Vec<[usize; 2]>> {
    if pairs.is_empty() {
        return Err(Error::param(
            NAME,
            name,
            "at least one pair; give triplets, or draw them from labels",
            "none",
        ));
    }
    let mut sorted = Vec::with_capacity(pairs.len());
    for (at, &[i, j]) in pairs.iter().enumerate() {
        let invalid = |expected: String| Error::Shape {
            what: format!("{NAME}: {name} pair {}", at + 1),
            expected,
            got: format!("{i} and {j}"),
        };
        if i.max(j) >= n {
            return Err(invalid(format!("rows below {n}")));
        }
        if i == j {
            return Err(invalid("two different rows".into()));
        }
        sorted.push([i.min(j), i.max(j)]);
    }
    // Sorting pairs packed into one integer takes less than half the time.
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

/// Pairs of rows as the edges of a graph.
pub(super) struct Graph {
    n_rows: usize,
    pairs: Vec<[usize; 2]>,
    neighbors: OnceLock<Neighbors>,
}

/// The neighbors of each row.
struct Neighbors {
    /// The pairs of row i are `start[i]..start[i + 1]` of `pairs`.
    start: Vec<usize>,
    /// The other row, and the index of the pair.
    pairs: Vec<(usize, usize)>,
}

impl Neighbors {
    fn new(n_rows: usize, pairs: &[[usize; 2]]) -> Self {
        let mut start = vec![0; n_rows + 1];
        pairs.iter().flatten().for_each(|&row| start[row + 1] += 1);
        (0..n_rows).for_each(|i| start[i + 1] += start[i]);
        let mut next = start.clone();
        let mut edges = vec![(0, 0); 2 * pairs.len()];
        for (at, &[i, j]) in pairs.iter().enumerate() {
            for (row, other) in [(i, j), (j, i)] {
                edges[next[row]] = (other, at);
                next[row] += 1;
            }
        }
        Self { start, pairs: edges }
    }

    fn of(&self, row: usize) -> &[(usize, usize)] {
        &self.pairs[self.start[row]..self.start[row + 1]]
    }
}

impl Graph {
    pub fn new(n_rows: usize, pairs: Vec<[usize; 2]>) -> Self {
        Self { n_rows, pairs, neighbors: OnceLock::new() }
    }

    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    pub fn pairs(&self) -> &[[usize; 2]] {
        &self.pairs
    }

    /// The squared distance of every pair; `y` is in standard layout.
    pub fn squared_distances(&self, y: &Array2<f64>) -> Vec<f64> {
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

    /// The weighted graph Laplacian times `y`: row i is $\sum_p w_p (y_i - y_j)$ over its pairs (i, j). $y^\top$ times this is
    /// $\sum_p w_p (y_i - y_j)(y_i - y_j)^\top$.
    pub fn laplacian_times(&self, y: &Array2<f64>, weight: impl Fn(usize) -> f64 + Sync) -> Array2<f64> {
        let cells = flat(y);
        let k = y.ncols();
        let mut out = Array2::zeros(y.dim());
        let neighbors = self.neighbors.get_or_init(|| Neighbors::new(self.n_rows, &self.pairs));
        out.axis_chunks_iter_mut(Axis(0), ROWS).into_par_iter().enumerate().for_each(|(block, mut out)| {
            for (to, i) in out.rows_mut().into_iter().zip(block * ROWS..) {
                let to = to.into_slice().expect("standard layout");
                let own = &cells[i * k..(i + 1) * k];
                for &(j, at) in neighbors.of(i) {
                    let w = weight(at);
                    let other = &cells[j * k..(j + 1) * k];
                    for ((to, a), b) in to.iter_mut().zip(own).zip(other) {
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
        transposed_times(y.view(), self.laplacian_times(y, |_| 1.0).view())
    }
}

fn flat(y: &Array2<f64>) -> &[f64] {
    y.as_slice().expect("standard layout")
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
