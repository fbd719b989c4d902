//! Design matrices: dense, or sparse with implicit centering and scaling.

use super::sparse_columns::SparseColumns;
use crate::error::Result;
use crate::linalg::{multiply, symmetric_eigen};
use crate::simd::{add_scaled, dot};
use ndarray::{Array1, Array2, ArrayView2, Axis, s};
use rayon::prelude::*;
use std::ops::Range;

/// Maximum number of columns for compression.
const MAX_COMPRESSED: usize = 1000;

/// A design matrix with the columns $s_j (x_j - c_j 1)$.
///
/// Dense columns are stored centered and scaled. Sparse columns are stored unchanged; products account for centering and scaling.
#[derive(Debug, Clone)]
pub struct Design {
    n: usize,
    values: Values,
    /// $\lVert s_j (x_j - c_j 1) \rVert^2 / n$
    curvature: Vec<f64>,
}

#[derive(Debug, Clone)]
enum Values {
    /// Transposed: one row per column of the design.
    Dense(Array2<f64>),
    Sparse {
        columns: SparseColumns,
        center: Vec<f64>,
        scale: Vec<f64>,
        /// Sum of the stored values of each column.
        sum: Vec<f64>,
    },
}

/// The residual of the targets.
#[derive(Debug, Clone)]
pub(super) struct Residual {
    /// Column-major for a dense design, row-major without the offset for a sparse one.
    values: Vec<f64>,
    /// Added to every row; empty for a dense design.
    offset: Vec<f64>,
    /// Sums over the rows, including the offset; empty for a dense design.
    total: Vec<f64>,
}

/// Whether [`Design::compressed`] applies to a dense design of this shape.
pub(super) fn compresses(n: usize, d: usize) -> bool {
    d <= MAX_COMPRESSED && n >= 2 * d
}

impl Design {
    /// A dense design; column $j$ becomes `scale[j] * (x - center[j])`.
    pub fn dense(x: ArrayView2<f64>, center: &[f64], scale: &[f64]) -> Self {
        let n = x.nrows();
        let mut columns = x.t().as_standard_layout().into_owned();
        let curvature = columns
            .rows_mut()
            .into_iter()
            .zip(center.iter().zip(scale))
            .map(|(mut column, (center, scale))| {
                column.mapv_inplace(|v| scale * (v - center));
                column.iter().map(|v| v * v).sum::<f64>() / n as f64
            })
            .collect();
        Self { n, values: Values::Dense(columns), curvature }
    }

    /// A sparse design with `n` rows, centered and scaled as in [`Design::dense`].
    pub fn sparse(n: usize, columns: SparseColumns, center: Vec<f64>, scale: Vec<f64>) -> Self {
        let mut sum = vec![];
        let mut curvature = vec![];
        for j in 0..columns.len() {
            let c = center[j];
            let (mut all, mut squares, mut stored) = (0.0, 0.0, 0);
            for (_, v) in columns.column(j) {
                all += v;
                squares += (v - c) * (v - c);
                stored += 1;
            }
            squares += (n - stored) as f64 * c * c;
            sum.push(all);
            curvature.push(scale[j] * scale[j] * squares / n as f64);
        }
        Self { n, values: Values::Sparse { columns, center, scale, sum }, curvature }
    }

    /// An equivalent least-squares problem with at most as many rows as columns: a design and targets with the same products
    /// $X^T X / n$ and $X^T T / n$. Its values differ by a constant. `None` if the design is sparse or has too few rows.
    pub(super) fn compressed(&self, target: &Array2<f64>) -> Result<Option<(Self, Array2<f64>)>> {
        let Values::Dense(columns) = &self.values else { return Ok(None) };
        let d = self.d();
        if !compresses(self.n, d) {
            return Ok(None);
        }
        let n = self.n as f64;
        let products = multiply(columns.view(), columns.t()) / n;
        let eigen = symmetric_eigen(products.view())?;
        let floor = 1e-13 * eigen.values.first().copied().unwrap_or(0.0);
        let kept = eigen.values.iter().take_while(|&&v| v > floor).count();
        if kept == 0 {
            return Ok(None);
        }
        // X^T X / n = V L V^T: the new design is sqrt(r L) V^T, the targets sqrt(r / L) V^T X^T T / n, with r rows.
        let vectors = eigen.vectors.slice(s![.., ..kept]);
        let roots: Array1<f64> = eigen.values.iter().take(kept).map(|v| (kept as f64 * v).sqrt()).collect();
        let mut design = &vectors * &roots;
        for (j, mut column) in design.rows_mut().into_iter().enumerate() {
            if self.curvature[j] == 0.0 {
                column.fill(0.0);
            }
        }
        let products =
            self.products(&self.residual(target, &Array2::zeros((d, target.ncols()))), target.ncols());
        let targets = multiply((&vectors / &roots * kept as f64).t(), products.view());
        let curvature =
            design.rows().into_iter().map(|c| c.iter().map(|v| v * v).sum::<f64>() / kept as f64).collect();
        let values = Values::Dense(design.as_standard_layout().into_owned());
        Ok(Some((Self { n: kept, values, curvature }, targets.as_standard_layout().into_owned())))
    }

    /// Number of rows.
    pub fn n(&self) -> usize {
        self.n
    }

    /// Number of columns.
    pub fn d(&self) -> usize {
        self.curvature.len()
    }

    /// $\lVert X_j \rVert^2 / n$
    pub fn curvature(&self, j: usize) -> f64 {
        self.curvature[j]
    }

    /// Bounds on the curvature of the columns $J$ of a feature: numbers $c_l$ for which $X_J^T X_J / n \preceq
    /// \operatorname{diag}(c)$, all zero or all positive; the curvature of a single column.
    pub(super) fn block_curvature(&self, columns: Range<usize>) -> Result<Vec<f64>> {
        let own = self.curvature[columns.clone()].to_vec();
        let largest = own.iter().copied().fold(0.0, f64::max);
        if columns.len() == 1 || largest == 0.0 {
            return Ok(own);
        }
        // Any positive number bounds the curvature of a zero column.
        let own: Array1<f64> = own.into_iter().map(|c| if c > 0.0 { c } else { largest }).collect();
        let roots = own.mapv(f64::sqrt);
        let correlations = self.block_products(columns) / &roots / roots.insert_axis(Axis(1));
        let most = symmetric_eigen(correlations.view())?.values.first().copied().unwrap_or(1.0);
        Ok((own * most).to_vec())
    }

    /// The design with its columns multiplied by these numbers.
    pub fn scaled(mut self, by: &[f64]) -> Self {
        match &mut self.values {
            Values::Dense(columns) => {
                columns.rows_mut().into_iter().zip(by).for_each(|(mut column, by)| column *= *by);
            }
            Values::Sparse { scale, .. } => scale.iter_mut().zip(by).for_each(|(scale, by)| *scale *= by),
        }
        self.curvature.iter_mut().zip(by).for_each(|(c, by)| *c *= by * by);
        self
    }

    /// $X_J^T X_J / n$ for some columns $J$.
    pub fn block_products(&self, columns: Range<usize>) -> Array2<f64> {
        let mut selected = Array2::zeros((self.d(), columns.len()));
        columns.enumerate().for_each(|(k, j)| selected[[j, k]] = 1.0);
        let part = self.times(&selected);
        multiply(part.t(), part.view()) / self.n as f64
    }

    /// $X W$
    pub fn times(&self, w: &Array2<f64>) -> Array2<f64> {
        match &self.values {
            // If most rows of W are zero, it is faster to read only the columns of the others.
            Values::Dense(columns) if 2 * nonzero_rows(w) > self.d() => {
                multiply(columns.t(), w.view()).as_standard_layout().into_owned()
            }
            _ => {
                let mut out = self.residual(&Array2::zeros((self.n, w.ncols())), w).into_array(self.n);
                out.mapv_inplace(|v| -v);
                out
            }
        }
    }

    /// $X^T R / n$
    pub fn transposed_times(&self, r: &Array2<f64>) -> Array2<f64> {
        let zero = Array2::zeros((self.d(), r.ncols()));
        self.products(&self.residual(r, &zero), r.ncols())
    }

    /// $T - X W$
    pub(super) fn residual(&self, target: &Array2<f64>, w: &Array2<f64>) -> Residual {
        let q = target.ncols();
        let mut residual = match &self.values {
            Values::Dense(_) => Residual {
                values: target.t().as_standard_layout().iter().copied().collect(),
                offset: vec![],
                total: vec![],
            },
            Values::Sparse { .. } => Residual {
                values: target.as_standard_layout().iter().copied().collect(),
                offset: vec![0.0; q],
                total: target.columns().into_iter().map(|c| c.sum()).collect(),
            },
        };
        for (j, row) in w.rows().into_iter().enumerate().filter(|(_, row)| row.iter().any(|&w| w != 0.0)) {
            let change: Vec<f64> = row.to_vec();
            self.subtract(j, &change, &mut residual);
        }
        residual
    }

    /// $R \mathrel{-}= X_j \delta^T$
    pub(super) fn subtract(&self, j: usize, change: &[f64], residual: &mut Residual) {
        match &self.values {
            Values::Dense(columns) => {
                let column = row_slice(columns, j);
                for (part, &change) in residual.values.chunks_exact_mut(self.n).zip(change) {
                    if change != 0.0 {
                        add_scaled(part, -change, column);
                    }
                }
            }
            Values::Sparse { columns, center, scale, sum } => {
                let q = change.len();
                for (i, v) in columns.column(j) {
                    let by = scale[j] * v;
                    let row = &mut residual.values[i * q..(i + 1) * q];
                    row.iter_mut().zip(change).for_each(|(r, change)| *r -= by * change);
                }
                let (shift, mass) = (scale[j] * center[j], scale[j] * (sum[j] - self.n as f64 * center[j]));
                for (k, change) in change.iter().enumerate() {
                    residual.offset[k] += shift * change;
                    residual.total[k] -= mass * change;
                }
            }
        }
    }

    /// Writes $X_j^T R / n$ to `out`.
    pub(super) fn product(&self, j: usize, residual: &Residual, out: &mut [f64]) {
        let n = self.n as f64;
        match &self.values {
            Values::Dense(columns) => {
                let column = row_slice(columns, j);
                for (out, part) in out.iter_mut().zip(residual.values.chunks_exact(self.n)) {
                    *out = dot(column, part) / n;
                }
            }
            Values::Sparse { columns, center, scale, sum } => {
                let q = out.len();
                out.fill(0.0);
                for (i, v) in columns.column(j) {
                    let row = &residual.values[i * q..(i + 1) * q];
                    out.iter_mut().zip(row).for_each(|(out, r)| *out += v * r);
                }
                for (k, out) in out.iter_mut().enumerate() {
                    *out += sum[j] * residual.offset[k] - center[j] * residual.total[k];
                    *out *= scale[j] / n;
                }
            }
        }
    }

    /// $X^T R / n$, on all threads.
    pub(super) fn products(&self, residual: &Residual, q: usize) -> Array2<f64> {
        match &self.values {
            Values::Dense(columns) => {
                let residual =
                    ArrayView2::from_shape((q, self.n), &residual.values).expect("n values per target");
                let mut out = multiply(columns.view(), residual.t());
                out /= self.n as f64;
                out.as_standard_layout().into_owned()
            }
            Values::Sparse { .. } => {
                let mut out = Array2::zeros((self.d(), q));
                let values = out.as_slice_mut().expect("standard layout");
                values.par_chunks_mut(q).enumerate().for_each(|(j, out)| self.product(j, residual, out));
                out
            }
        }
    }
}

impl Residual {
    /// The residual as a matrix of `n` rows.
    fn into_array(self, n: usize) -> Array2<f64> {
        if self.offset.is_empty() {
            let q = self.values.len() / n;
            let by_column = Array2::from_shape_vec((q, n), self.values).expect("n values per target");
            return by_column.t().as_standard_layout().into_owned();
        }
        let q = self.offset.len();
        let mut rows = Array2::from_shape_vec((n, q), self.values).expect("q values per row");
        rows.rows_mut().into_iter().for_each(|mut row| {
            row.iter_mut().zip(&self.offset).for_each(|(r, offset)| *r += offset);
        });
        rows
    }

    /// $\lVert R \rVert^2$ and $\langle R, T \rangle$
    pub(super) fn sums(&self, target: &Array2<f64>) -> (f64, f64) {
        let (n, q) = target.dim();
        let dense = self.offset.is_empty();
        let (mut square, mut along) = (0.0, 0.0);
        for i in 0..n {
            for k in 0..q {
                let r = if dense { self.values[k * n + i] } else { self.values[i * q + k] + self.offset[k] };
                square += r * r;
                along += r * target[[i, k]];
            }
        }
        (square, along)
    }
}

/// Number of nonzero rows.
fn nonzero_rows(w: &Array2<f64>) -> usize {
    w.rows().into_iter().filter(|row| row.iter().any(|&w| w != 0.0)).count()
}

fn row_slice(columns: &Array2<f64>, j: usize) -> &[f64] {
    let n = columns.ncols();
    &columns.as_slice().expect("standard layout")[j * n..(j + 1) * n]
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn compression_keeps_products() {
        let mut rng = crate::random::Rng::new(1);
        // Five columns: three random, a duplicate and a column of zeros.
        let x = Array2::from_shape_fn((40, 3), |_| rng.normal());
        let x = ndarray::concatenate![ndarray::Axis(1), x, x.slice(s![.., ..1]), Array2::zeros((40, 1))];
        let target = Array2::from_shape_simple_fn((40, 2), || rng.normal());
        let design = Design::dense(x.view(), &[0.0; 5], &[1.0; 5]);
        let (small, small_target) = design.compressed(&target).unwrap().unwrap();
        assert_eq!((small.n(), small.d(), small.curvature(4)), (3, 5, 0.0));
        let w = Array2::from_shape_simple_fn((5, 2), || rng.normal());
        let (a, b) = (design.residual(&target, &w), small.residual(&small_target, &w));
        assert!((design.products(&a, 2) - small.products(&b, 2)).iter().all(|e| e.abs() < 1e-13));
        // The same value up to a constant.
        let zero = Array2::zeros((5, 2));
        let value = |design: &Design, target: &Array2<f64>, w: &Array2<f64>| {
            design.residual(target, w).sums(target).0 / design.n() as f64
        };
        let change = value(&design, &target, &w) - value(&design, &target, &zero);
        let compressed = value(&small, &small_target, &w) - value(&small, &small_target, &zero);
        assert!((change - compressed).abs() < 1e-12, "{change} {compressed}");
        assert!(
            Design::dense(x.slice(s![..9, ..]), &[0.0; 5], &[1.0; 5])
                .compressed(&target.slice(s![..9, ..]).to_owned())
                .unwrap()
                .is_none()
        );
    }

    #[test]
    fn sparse_and_dense_designs_agree() {
        let x = array![[0.0, 2.0], [3.0, 0.0], [0.0, 4.0], [1.0, 0.0]];
        let (center, scale) = (vec![1.0, 0.5], vec![2.0, 3.0]);
        let columns =
            SparseColumns { start: vec![0, 2, 4], row: vec![1, 3, 0, 2], value: vec![3.0, 1.0, 2.0, 4.0] };
        let dense = array![[-2.0, 4.5], [4.0, -1.5], [-2.0, 10.5], [0.0, -1.5]];
        let target = array![[1.0, 0.0, 2.0], [0.0, 1.0, 0.5], [-1.0, 3.0, 0.0], [2.0, 2.0, 1.0]];
        let w = array![[0.5, -1.0, 0.0], [0.0, 2.0, 1.0]];
        let residual_matrix = &target - &dense.dot(&w);
        let products = dense.t().dot(&residual_matrix) / 4.0;
        for design in [
            Design::dense(x.view(), &center, &scale),
            Design::sparse(4, columns, center.clone(), scale.clone()),
        ] {
            assert_eq!((design.n(), design.d()), (4, 2));
            let residual = design.residual(&target, &w);
            // Sums of a dozen numbers below a hundred.
            let all = design.products(&residual, 3);
            assert!((&all - &products).iter().all(|e| e.abs() < 1e-13), "{all}");
            for j in 0..2 {
                let mut one = [0.0; 3];
                design.product(j, &residual, &mut one);
                assert!(one.iter().zip(all.row(j)).all(|(a, b)| (a - b).abs() < 1e-13));
                let square: f64 = dense.column(j).iter().map(|v| v * v).sum();
                assert!((design.curvature(j) - square / 4.0).abs() < 1e-13);
            }
            assert!((&design.transposed_times(&residual_matrix) - &products).iter().all(|e| e.abs() < 1e-13));
            let one_row = array![[0.5, -1.0, 0.0], [0.0, 0.0, 0.0]];
            for w in [&w, &one_row] {
                assert!((&design.times(w) - &dense.dot(w)).iter().all(|e| e.abs() < 1e-13));
            }
            let (square, along) = residual.sums(&target);
            assert!((square - residual_matrix.iter().map(|v| v * v).sum::<f64>()).abs() < 1e-12);
            assert!((along - (&residual_matrix * &target).sum()).abs() < 1e-12);
        }
    }
}
