//! Base kernels on the rows that triples name: margins of triples, blocks of Gram matrices.

use super::bases::Base;
use crate::data::{Rows, Triplet};
use crate::error::{Error, Result};
use crate::kernel::{Kernel, diagonal, gram, pair_values};
use ndarray::{Array2, Axis};
use std::collections::HashMap;

/// Base kernels on a set of rows, each scaled to a mean of 1 on the diagonal.
pub(super) struct Likeness<'a> {
    source: Source<'a>,
    /// What each kernel is multiplied by.
    pub scales: Vec<f64>,
    /// The mean of each scaled kernel's diagonal: 1, unless its signs are mixed.
    pub diagonals: Vec<f64>,
    /// Rows.
    pub n: usize,
}

enum Source<'a> {
    Kernels { x: Rows, bases: &'a [Base] },
    Grams { grams: &'a [Array2<f64>], rows: Vec<usize> },
}

impl<'a> Likeness<'a> {
    /// Of kernels on rows.
    pub fn of_kernels(bases: &'a [Base], x: Rows) -> Result<Self> {
        let n = x.n();
        let source = Source::Kernels { x, bases };
        Self::scaled(source, n, bases.len())
    }

    /// Of Gram matrices, of which some rows count.
    pub fn of_grams(grams: &'a [Array2<f64>], rows: Vec<usize>) -> Result<Self> {
        let n = rows.len();
        Self::scaled(Source::Grams { grams, rows }, n, grams.len())
    }

    fn scaled(source: Source<'a>, n: usize, k: usize) -> Result<Self> {
        let mut likeness = Self { source, scales: vec![1.0; k], diagonals: vec![1.0; k], n };
        for p in 0..k {
            let own = likeness.diagonal(p)?;
            let (mean, size) = own.iter().fold((0.0, 0.0), |(m, s), v| (m + v, s + v.abs()));
            let (mean, size) = (mean / n as f64, size / n as f64);
            if !size.is_finite() {
                return Err(Error::Breakdown {
                    step: "kernel design",
                    why: format!("kernel {} has values too large for a number; scale the columns", p + 1),
                });
            }
            // A kernel that is 0 on the whole diagonal, or too small to divide by, has no size of its own.
            let scale = Some(1.0 / size).filter(|scale| scale.is_finite()).unwrap_or(1.0);
            // Turned around where the diagonal is negative: then costs never are.
            likeness.scales[p] = if mean < 0.0 { -scale } else { scale };
            likeness.diagonals[p] = mean.abs() * scale;
        }
        Ok(likeness)
    }

    /// Kernels.
    pub fn len(&self) -> usize {
        self.scales.len()
    }

    fn diagonal(&self, p: usize) -> Result<Vec<f64>> {
        let mut own = match &self.source {
            Source::Kernels { x, bases } => diagonal(&bases[p].kernel, x)?,
            Source::Grams { grams, rows } => rows.iter().map(|&i| grams[p][[i, i]]).collect(),
        };
        own.iter_mut().for_each(|v| *v *= self.scales[p]);
        Ok(own)
    }

    /// $k_p(i, j) - k_p(i, k)$ of every triple.
    pub fn margins(&self, p: usize, triplets: &[Triplet]) -> Result<Vec<f64>> {
        let mut margins: Vec<f64> = match &self.source {
            Source::Kernels { x, bases } => {
                let pairs: Vec<[usize; 2]> =
                    triplets.iter().flat_map(|&[i, j, k]| [[i, j], [i, k]]).collect();
                let values = pair_values(&bases[p].kernel, x, &pairs)?;
                values.chunks_exact(2).map(|pair| pair[0] - pair[1]).collect()
            }
            Source::Grams { grams, rows } => {
                let value = |i: usize, j: usize| grams[p][[rows[i], rows[j]]];
                triplets.iter().map(|&[i, j, k]| value(i, j) - value(i, k)).collect()
            }
        };
        margins.iter_mut().for_each(|v| *v *= self.scales[p]);
        Ok(margins)
    }

    /// Some rows of a kernel's Gram matrix.
    pub fn block(&self, p: usize, which: &[usize]) -> Result<Array2<f64>> {
        let mut weights = vec![0.0; self.len()];
        weights[p] = 1.0;
        self.mixture(&weights, which)
    }

    /// Some rows of the mixture's Gram matrix.
    pub fn mixture(&self, weights: &[f64], which: &[usize]) -> Result<Array2<f64>> {
        let parts = (0..self.len()).filter(|&p| weights[p] != 0.0);
        match &self.source {
            Source::Kernels { x, bases } => {
                let parts: Vec<(f64, Kernel)> =
                    parts.map(|p| (weights[p] * self.scales[p], bases[p].kernel.clone())).collect();
                if parts.is_empty() {
                    return Ok(Array2::zeros((which.len(), self.n)));
                }
                gram(&Kernel::Sum(parts), &x.take_rows(which), x)
            }
            Source::Grams { grams, rows } => {
                let mut sum = Array2::zeros((which.len(), self.n));
                for p in parts {
                    let weight = weights[p] * self.scales[p];
                    for (mut to, &i) in sum.axis_iter_mut(Axis(0)).zip(which) {
                        to.iter_mut().zip(rows).for_each(|(to, &j)| *to += weight * grams[p][[rows[i], j]]);
                    }
                }
                Ok(sum)
            }
        }
    }
}

/// The rows that triples name, each once; rows that are equal in every column are one.
pub(super) fn distinct(x: &Rows, points: &[usize]) -> (Vec<usize>, HashMap<usize, usize>) {
    let mut first: HashMap<Vec<u64>, usize> = HashMap::new();
    let (mut kept, mut place) = (vec![], HashMap::new());
    for &row in points {
        let cells: Vec<u64> = match x {
            // Adding 0 makes -0 and 0 one.
            Rows::Dense(x) => x.row(row).iter().map(|v| (v + 0.0).to_bits()).collect(),
            Rows::Sparse(x) => {
                let (columns, values) = x.row(row);
                let stored = columns.iter().zip(values).filter(|(_, v)| **v != 0.0);
                stored.flat_map(|(j, v)| [u64::from(*j), v.to_bits()]).collect()
            }
        };
        let at = *first.entry(cells).or_insert_with(|| {
            kept.push(row);
            kept.len() - 1
        });
        place.insert(row, at);
    }
    (kept, place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::gram_symmetric;
    use ndarray::array;

    #[test]
    fn kernels_and_their_grams_are_the_same() {
        let x: Rows = array![[0.0, 1.0], [1.0, 0.5], [2.0, -1.0], [0.5, 3.0]].into();
        let weak = Kernel::OnFeature { feature: 1, kernel: Box::new(Kernel::Rbf { gamma: 0.5 }) };
        let bases: Vec<Base> = [Kernel::Linear, weak].into_iter().map(Base::new).collect();
        let grams: Vec<_> = bases.iter().map(|b| gram_symmetric(&b.kernel, &x).unwrap()).collect();
        let a = Likeness::of_kernels(&bases, x).unwrap();
        let b = Likeness::of_grams(&grams, (0..4).collect()).unwrap();
        // Mean of squared lengths: (1 + 1.25 + 5 + 9.25) / 4.
        assert!((a.scales[0] - 4.0 / 16.5).abs() < 1e-15 && a.diagonals[0] == 1.0);
        let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-14);
        assert!(near(&a.scales, &b.scales));
        let triplets = [[0, 1, 2], [3, 2, 1]];
        assert!(near(&a.margins(1, &triplets).unwrap(), &b.margins(1, &triplets).unwrap()));
        let (k, l) = (a.mixture(&[0.5, -2.0], &[2, 0]).unwrap(), b.mixture(&[0.5, -2.0], &[2, 0]).unwrap());
        assert!((&k - &l).iter().all(|e| e.abs() < 1e-14));
        assert_eq!(a.block(0, &[1]).unwrap().dim(), (1, 4));
    }

    #[test]
    fn a_negative_diagonal_is_turned_around() {
        let grams = [array![[-2.0, 1.0], [1.0, -4.0]]];
        let likeness = Likeness::of_grams(&grams, vec![0, 1]).unwrap();
        assert_eq!((likeness.scales[0], likeness.diagonals[0]), (-1.0 / 3.0, 1.0));
    }

    #[test]
    fn equal_rows_are_one() {
        let x: Rows = array![[1.0], [2.0], [1.0], [-0.0], [0.0]].into();
        let (kept, place) = distinct(&x, &[0, 1, 2, 3, 4]);
        assert_eq!(kept, [0, 1, 3]);
        assert_eq!([0, 1, 2, 3, 4].map(|row| place[&row]), [0, 1, 0, 2, 2]);
    }
}
