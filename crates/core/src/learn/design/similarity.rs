//! Base kernels on the rows of the triplets: margins of triplets, blocks of Gram matrices.

use super::bases::{Base, NAME};
use crate::data::{Rows, Triplet};
use crate::error::{Error, Result};
use crate::kernel::{Kernel, diagonal, gram, pair_values};
use crate::linalg::symmetric_eigen;
use ndarray::{Array2, Axis};
use std::collections::HashMap;

/// Base kernels on a set of rows, each scaled to a mean diagonal of 1.
pub(super) struct Similarity<'a> {
    source: Source<'a>,
    /// The scale of each kernel.
    pub scales: Vec<f64>,
    /// The mean diagonal of each scaled kernel: 1, unless it has both signs.
    pub diagonals: Vec<f64>,
    /// Number of rows.
    pub n: usize,
}

enum Source<'a> {
    Kernels { x: Rows, bases: &'a [Base] },
    Grams { grams: &'a [Array2<f64>], rows: Vec<usize> },
}

impl<'a> Similarity<'a> {
    /// Kernels on the rows `x`.
    pub fn of_kernels(bases: &'a [Base], x: Rows) -> Result<Self> {
        let n = x.n();
        let source = Source::Kernels { x, bases };
        Self::scaled(source, n, bases.len())
    }

    /// Some rows of Gram matrices.
    pub fn of_grams(grams: &'a [Array2<f64>], rows: Vec<usize>) -> Result<Self> {
        let n = rows.len();
        Self::scaled(Source::Grams { grams, rows }, n, grams.len())
    }

    fn scaled(source: Source<'a>, n: usize, k: usize) -> Result<Self> {
        let mut similarity = Self { source, scales: vec![1.0; k], diagonals: vec![1.0; k], n };
        for p in 0..k {
            let diagonal = similarity.diagonal(p)?;
            let (mean, size) = diagonal.iter().fold((0.0, 0.0), |(m, s), v| (m + v, s + v.abs()));
            let (mean, size) = (mean / n as f64, size / n as f64);
            if !size.is_finite() {
                return Err(Error::Breakdown {
                    step: NAME,
                    why: format!("values of kernel {} overflow; scale the columns", p + 1),
                });
            }
            // Do not scale a kernel with a zero or tiny diagonal.
            let scale = Some(1.0 / size).filter(|scale| scale.is_finite()).unwrap_or(1.0);
            // Negate a kernel with a negative diagonal, so that costs are never negative.
            similarity.scales[p] = if mean < 0.0 { -scale } else { scale };
            similarity.diagonals[p] = mean.abs() * scale;
        }
        Ok(similarity)
    }

    /// Number of kernels.
    pub fn len(&self) -> usize {
        self.scales.len()
    }

    fn diagonal(&self, p: usize) -> Result<Vec<f64>> {
        let mut values = match &self.source {
            Source::Kernels { x, bases } => diagonal(&bases[p].kernel, x)?,
            Source::Grams { grams, rows } => rows.iter().map(|&i| grams[p][[i, i]]).collect(),
        };
        values.iter_mut().for_each(|v| *v *= self.scales[p]);
        Ok(values)
    }

    /// $k_p(i, j) - k_p(i, k)$ of every triplet.
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

    /// Some rows of the Gram matrix of kernel `p`.
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

/// The distinct rows among `points`, and the index of each point among them.
pub(super) fn distinct_rows(x: &Rows, points: &[usize]) -> (Vec<usize>, HashMap<usize, usize>) {
    let mut first: HashMap<Vec<u64>, usize> = HashMap::new();
    let (mut kept, mut index) = (vec![], HashMap::new());
    for &row in points {
        let cells: Vec<u64> = match x {
            // Adding 0 turns -0 into 0.
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
        index.insert(row, at);
    }
    (kept, index)
}

/// Validates Gram matrices and returns their number of rows.
pub(super) fn check_grams(grams: &[Array2<f64>], features: &[Option<usize>]) -> Result<usize> {
    let Some(first) = grams.first() else {
        return Err(Error::param(NAME, "kernels", "one kernel or more", "none"));
    };
    if features.len() != grams.len() {
        return Err(Error::Shape {
            what: "features of the kernels".into(),
            expected: format!("one for each of {} kernels", grams.len()),
            got: features.len().to_string(),
        });
    }
    let n = first.nrows();
    for (p, gram) in grams.iter().enumerate() {
        if gram.dim() != (n, n) {
            return Err(Error::Shape {
                what: format!("the Gram matrix of kernel {}", p + 1),
                expected: format!("{n} x {n}"),
                got: format!("{} x {}", gram.nrows(), gram.ncols()),
            });
        }
        let size = gram.iter().fold(0.0_f64, |a, v| a.max(v.abs()));
        let asymmetric = gram.indexed_iter().any(|((i, j), v)| (v - gram[[j, i]]).abs() > 1e-9 * size);
        if asymmetric || gram.iter().any(|v| !v.is_finite()) {
            return Err(Error::Shape {
                what: format!("the Gram matrix of kernel {}", p + 1),
                expected: "symmetric, of finite numbers".into(),
                got: "another".into(),
            });
        }
    }
    Ok(n)
}

/// Whether the submatrix of some rows is positive semidefinite, up to rounding.
pub(super) fn is_semidefinite(gram: &Array2<f64>, rows: &[usize]) -> Result<bool> {
    let part = Array2::from_shape_fn((rows.len(), rows.len()), |(a, b)| gram[[rows[a], rows[b]]]);
    let values = symmetric_eigen(part.view())?.values;
    let (most, least) = (values[0], values[values.len() - 1]);
    // Rounding errors are about n ulps of the largest eigenvalue.
    Ok(least >= -1e-10 * most.abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::gram_symmetric;
    use ndarray::array;

    #[test]
    fn kernels_and_their_gram_matrices_agree() {
        let x: Rows = array![[0.0, 1.0], [1.0, 0.5], [2.0, -1.0], [0.5, 3.0]].into();
        let weak = Kernel::OnFeature { feature: 1, kernel: Box::new(Kernel::Rbf { gamma: 0.5 }) };
        let bases: Vec<Base> = [Kernel::Linear, weak].map(|kernel| Base { kernel, feature: None }).to_vec();
        let grams: Vec<_> = bases.iter().map(|b| gram_symmetric(&b.kernel, &x).unwrap()).collect();
        let a = Similarity::of_kernels(&bases, x).unwrap();
        let b = Similarity::of_grams(&grams, (0..4).collect()).unwrap();
        // Mean of squared norms: (1 + 1.25 + 5 + 9.25) / 4.
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
    fn a_kernel_with_negative_diagonal_is_negated() {
        let grams = [array![[-2.0, 1.0], [1.0, -4.0]]];
        let similarity = Similarity::of_grams(&grams, vec![0, 1]).unwrap();
        assert_eq!((similarity.scales[0], similarity.diagonals[0]), (-1.0 / 3.0, 1.0));
    }

    #[test]
    fn equal_rows_are_merged() {
        let x: Rows = array![[1.0], [2.0], [1.0], [-0.0], [0.0]].into();
        let (kept, index) = distinct_rows(&x, &[0, 1, 2, 3, 4]);
        assert_eq!(kept, [0, 1, 3]);
        assert_eq!([0, 1, 2, 3, 4].map(|row| index[&row]), [0, 1, 0, 2, 2]);
    }
}
