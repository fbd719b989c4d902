//! Gram matrices and their blocks, on all threads.
//!
//! A kernel is flattened into weighted terms, each one of five functions over rows, which a metric transforms first. The
//! result is split into tiles that fit the cache; each tile is finished, exponentials included, before the next begins.
//! Distances over few columns are summed directly, which is exact for equal rows; over many columns they come from a
//! matrix product of shifted rows: $\lVert x-y \rVert^2 = \lVert x \rVert^2 + \lVert y \rVert^2 - 2 \langle x, y \rangle$. The
//! shift to the mean limits cancellation; rows near zero are not shifted.

use super::diagonal::diagonal;
use super::formula::Kernel;
use super::plan::{Plan, TILE_ROWS};
use super::prepared::{MAX_DIRECT_COLUMNS, PreparedRows, needs_norms, rows_of_term, shift_of, squared_norms};
use super::terms::{Form, SimpleKernel, flatten};
use super::tile::Term;
use crate::data::Rows;
use crate::error::Result;
use crate::linalg::{Columns, Writer, zeros};
use ndarray::{Array1, Array2, Axis, ShapeBuilder};
use rayon::prelude::*;
use std::borrow::Cow;

/// The Gram matrix of `x` against `z`, laid out by rows.
pub fn gram(kernel: &Kernel, x: &Rows, z: &Rows) -> Result<Array2<f64>> {
    let mut out =
        Array2::from_shape_vec((x.n(), z.n()), zeros(x.n() * z.n())).expect("a number per pair of rows");
    // Kernels are symmetric: the transpose by columns is the matrix by rows.
    Plan::new(kernel, z, x)?.fill(out.view_mut().reversed_axes());
    Ok(out)
}

/// The Gram matrix of `x` against itself, symmetric to the last bit.
pub fn gram_symmetric(kernel: &Kernel, x: &Rows) -> Result<Array2<f64>> {
    let n = x.n();
    let mut out = Array2::from_shape_vec((n, n).f(), zeros(n * n)).expect("a number per pair of rows");
    Plan::new(kernel, x, x)?.fill_symmetric(out.view_mut());
    Ok(out)
}

/// Columns of a Gram matrix on demand, for pivoted factorizations.
pub struct Gram<'a> {
    x: Cow<'a, Rows>,
    terms: Vec<CachedTerm>,
    diagonal: Vec<f64>,
}

/// A term with its rows, prepared once.
struct CachedTerm {
    weight: f64,
    form: Form,
    shift: Option<Array1<f64>>,
    /// The rows, if they differ from those of the Gram matrix.
    rows: Option<Rows>,
    norms: Vec<f64>,
}

impl CachedTerm {
    fn new(weight: f64, term: &SimpleKernel, x: &Rows) -> Result<Self> {
        let form = Form::of(term.kernel);
        let rows = rows_of_term(term, x)?;
        let (shift, norms) = if needs_norms(form, &rows, &rows) {
            let shift = shift_of(&rows);
            let norms = squared_norms(&rows, shift.as_ref());
            (shift, norms)
        } else {
            (None, vec![])
        };
        let rows = match rows {
            Cow::Borrowed(_) => None,
            Cow::Owned(rows) => Some(rows),
        };
        Ok(Self { weight, form, shift, rows, norms })
    }

    fn prepared<'a>(&'a self, x: &'a Rows) -> PreparedRows<'a> {
        PreparedRows {
            rows: Cow::Borrowed(self.rows.as_ref().unwrap_or(x)),
            norms: Cow::Borrowed(&self.norms),
        }
    }
}

impl<'a> Gram<'a> {
    /// Validates the kernel on these rows.
    pub fn new(kernel: &Kernel, x: &'a Rows) -> Result<Self> {
        let diagonal = diagonal(kernel, x)?;
        // Direct distances read the columns again for every batch of pivots: store them by columns once.
        let x = match x {
            Rows::Dense(dense) if dense.ncols() <= MAX_DIRECT_COLUMNS && dense.t().to_slice().is_none() => {
                let mut by_columns = Array2::zeros(dense.raw_dim().f());
                by_columns
                    .axis_chunks_iter_mut(Axis(0), TILE_ROWS)
                    .into_par_iter()
                    .zip(dense.axis_chunks_iter(Axis(0), TILE_ROWS).into_par_iter())
                    .for_each(|(mut to, from)| to.assign(&from));
                Cow::Owned(by_columns.into())
            }
            other => Cow::Borrowed(other),
        };
        let terms = flatten(kernel)
            .into_iter()
            .map(|(weight, term)| CachedTerm::new(weight, &term, &x))
            .collect::<Result<_>>()?;
        Ok(Self { x, terms, diagonal })
    }

    /// Some rows, prepared for each term.
    fn take(&self, which: &[usize]) -> Vec<PreparedRows<'static>> {
        self.terms.iter().map(|term| term.prepared(&self.x).take(which)).collect()
    }

    /// Rows `x`, or all, against rows `z`.
    fn plan<'b>(&'b self, x: Option<&'b [PreparedRows]>, z: &'b [PreparedRows]) -> Plan<'b> {
        let term = |(i, term): (usize, &'b CachedTerm)| Term {
            weight: term.weight,
            form: term.form,
            shift: term.shift.as_ref().map(Cow::Borrowed),
            x: x.map_or_else(|| term.prepared(&self.x), |x| x[i].borrow()),
            z: z[i].borrow(),
        };
        Plan { terms: self.terms.iter().enumerate().map(term).collect() }
    }
}

impl Columns for Gram<'_> {
    fn diagonal(&self) -> Vec<f64> {
        self.diagonal.clone()
    }

    fn columns(&self, which: &[usize]) -> Writer<'_> {
        let taken = self.take(which);
        Box::new(move |from, out| self.plan(None, &taken).write(from, out))
    }

    fn block(&self, which: &[usize]) -> Array2<f64> {
        let n = which.len();
        let mut out = Array2::from_shape_vec((n, n), zeros(n * n)).expect("a number per pair of rows");
        // The block is symmetric: filling its transpose fills it.
        let taken = self.take(which);
        self.plan(Some(&taken), &taken).fill_symmetric(out.view_mut().reversed_axes());
        out
    }

    fn block_bytes(&self, rows: usize) -> f64 {
        self.terms.iter().map(|term| term.prepared(&self.x).rows.bytes_of(rows)).sum()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::data::SparseRows;
    use crate::random::Rng;
    use ndarray::array;

    /// The formulas as defined.
    fn naive(kernel: &Kernel, x: &[f64], y: &[f64]) -> f64 {
        let dot = || x.iter().zip(y).map(|(a, b)| a * b).sum::<f64>();
        match kernel {
            Kernel::Linear => dot(),
            Kernel::Rbf { gamma } => {
                (-gamma * x.iter().zip(y).map(|(a, b)| (a - b).powi(2)).sum::<f64>()).exp()
            }
            Kernel::Polynomial { degree, gamma, coef0 } => (gamma * dot() + coef0).powi(*degree as i32),
            Kernel::Laplacian { gamma } => {
                (-gamma * x.iter().zip(y).map(|(a, b)| (a - b).abs()).sum::<f64>()).exp()
            }
            Kernel::WhiteNoise => f64::from(u8::from(x == y)),
            Kernel::OnFeature { feature, kernel } => {
                naive(kernel, &x[*feature..=*feature], &y[*feature..=*feature])
            }
            Kernel::OnColumns { columns, kernel } => naive(kernel, &x[columns.clone()], &y[columns.clone()]),
            Kernel::Sum(parts) => parts.iter().map(|(w, k)| w * naive(k, x, y)).sum(),
            Kernel::Mahalanobis { metric } => {
                let e: Vec<f64> = x.iter().zip(y).map(|(a, b)| a - b).collect();
                let mut form = 0.0;
                for i in 0..e.len() {
                    for j in 0..e.len() {
                        form += e[i] * metric[[i, j]] * e[j];
                    }
                }
                (-form).exp()
            }
        }
    }

    pub fn all_kernels(d: usize) -> Vec<Kernel> {
        let metric = Array2::from_shape_fn((d, d), |(i, j)| if i == j { 0.3 } else { 0.2 / d as f64 });
        let weak = |feature, kernel| Kernel::OnFeature { feature, kernel: Box::new(kernel) };
        let on_columns = |columns, kernel| Kernel::OnColumns { columns, kernel: Box::new(kernel) };
        vec![
            Kernel::Linear,
            Kernel::Rbf { gamma: 0.4 / d as f64 },
            Kernel::Polynomial { degree: 3, gamma: 0.5, coef0: 1.0 },
            Kernel::Laplacian { gamma: 0.5 / d as f64 },
            Kernel::WhiteNoise,
            weak(d - 1, Kernel::Rbf { gamma: 1.0 }),
            weak(
                0,
                Kernel::Sum(vec![(2.0, Kernel::Linear), (1.0, weak(0, Kernel::Laplacian { gamma: 1.0 }))]),
            ),
            Kernel::Sum(vec![
                (0.5, Kernel::Rbf { gamma: 0.1 }),
                (-1.5, Kernel::Linear),
                (0.1, Kernel::WhiteNoise),
            ]),
            Kernel::Mahalanobis { metric },
            on_columns(d - 2..d, Kernel::Rbf { gamma: 0.6 }),
            on_columns(0..2, Kernel::Mahalanobis { metric: array![[0.5, 0.1], [0.1, 0.4]] }),
            on_columns(
                1..d,
                Kernel::Sum(vec![(0.7, weak(1, Kernel::Laplacian { gamma: 0.2 })), (0.3, Kernel::Linear)]),
            ),
        ]
    }

    /// Rows with many zeros, a duplicate, and one more row than fills the tiles.
    pub fn rows(n: usize, d: usize, seed: u64) -> Array2<f64> {
        let mut rng = Rng::new(seed);
        let mut x =
            Array2::from_shape_simple_fn((n, d), || if rng.uniform() < 0.5 { 0.0 } else { rng.normal() });
        let last = x.row(n - 1).to_owned();
        x.row_mut(0).assign(&last);
        x
    }

    pub fn sparse(x: &Array2<f64>) -> Rows {
        SparseRows::of(x).into()
    }

    #[test]
    fn every_kernel_equals_its_formula_on_dense_and_sparse_rows() {
        for (n, d) in [(257, 3), (40, MAX_DIRECT_COLUMNS + 1), (21, 60)] {
            let (x, z) = (rows(n, d, 1), rows(19, d, 2));
            for kernel in all_kernels(d) {
                let expected = Array2::from_shape_fn((n, 19), |(i, j)| {
                    naive(&kernel, x.row(i).as_slice().unwrap(), z.row(j).as_slice().unwrap())
                });
                let size = expected.iter().fold(1.0_f64, |a, v| a.max(v.abs()));
                for (x, z) in [
                    (x.clone().into(), z.clone().into()),
                    (sparse(&x), sparse(&z)),
                    (sparse(&x), z.clone().into()),
                    (x.clone().into(), sparse(&z)),
                ] {
                    let got = gram(&kernel, &x, &z).unwrap();
                    // Sums of up to 60 products, relative to the largest entry.
                    let worst = (&got - &expected).iter().fold(0.0_f64, |a, e| a.max(e.abs())) / size;
                    assert!(worst < 1e-13, "{} d={d}: {worst}", kernel.describe());
                }
            }
        }
    }

    #[test]
    fn symmetric_form_and_diagonal_agree_with_the_general_form() {
        let x: Rows = rows(300, 30, 3).into();
        for kernel in all_kernels(30) {
            let k = gram_symmetric(&kernel, &x).unwrap();
            let full = gram(&kernel, &x, &x).unwrap();
            let size = full.iter().fold(1.0_f64, |a, v| a.max(v.abs()));
            assert!((&k - &full).iter().all(|e| e.abs() < 1e-13 * size), "{}", kernel.describe());
            assert_eq!(k, k.t());
            let diagonal = diagonal(&kernel, &x).unwrap();
            assert!(diagonal.iter().zip(k.diag()).all(|(a, b)| (a - b).abs() < 1e-13 * size));
        }
    }

    #[test]
    fn distances_far_from_the_origin_are_accurate() {
        // Without the shift, 1e6^2 would leave no digit of a distance of 1e-3.
        let mut x = rows(30, 40, 4);
        let expected = gram(&Kernel::Rbf { gamma: 0.01 }, &x.clone().into(), &x.clone().into()).unwrap();
        x += 1e6;
        let got = gram(&Kernel::Rbf { gamma: 0.01 }, &x.clone().into(), &x.into()).unwrap();
        // Adding 1e6 itself rounds the data at 1e-10.
        assert!((&got - &expected).iter().all(|e| e.abs() < 1e-9));
    }

    #[test]
    fn values_computed_by_hand() {
        let x: Rows = array![[0.0, 0.0], [3.0, 4.0]].into();
        let k = gram(&Kernel::Rbf { gamma: 0.1 }, &x, &x).unwrap();
        assert!((k[[0, 1]] - (-2.5_f64).exp()).abs() < 1e-16);
        let k = gram(&Kernel::Laplacian { gamma: 0.1 }, &x, &x).unwrap();
        assert!((k[[0, 1]] - (-0.7_f64).exp()).abs() < 1e-16);
        let k = gram(&Kernel::Polynomial { degree: 2, gamma: 1.0, coef0: 1.0 }, &x, &x).unwrap();
        assert_eq!(k, array![[1.0, 1.0], [1.0, 676.0]]);
    }

    #[test]
    fn numbers_of_columns_must_match() {
        let error = gram(&Kernel::Linear, &array![[1.0, 2.0]].into(), &array![[1.0]].into()).unwrap_err();
        assert!(error.to_string().contains("expected 1, got 2"), "{error}");
    }

    #[test]
    fn one_and_two_threads_give_the_same_bits() {
        let x: Rows = rows(700, 40, 5).into();
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| gram(&Kernel::Rbf { gamma: 0.02 }, &x, &x).unwrap())
        };
        assert_eq!(on(1), on(2));
    }
}
