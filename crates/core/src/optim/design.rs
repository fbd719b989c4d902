//! The columns of a linear problem, centred and scaled without being filled.

use super::coordinate::SparseColumns;
use crate::error::Result;
use crate::linalg::{multiply, symmetric_eigen};
use crate::simd::{add_scaled, dot};
use ndarray::{Array1, Array2, ArrayView2, s};
use rayon::prelude::*;

/// The most columns of which all products are made.
const MOST_COMPRESSED: usize = 1000;

/// Columns $s_j (x_j - c_j 1)$ of a matrix, for products with one at a time.
///
/// Dense columns are kept as they are after centring and scaling, sparse ones as they were: what centring would fill is
/// done by sums.
#[derive(Debug, Clone)]
pub struct Design {
    n: usize,
    cells: Cells,
    /// $\lVert s_j (x_j - c_j 1) \rVert^2 / n$
    curvature: Vec<f64>,
}

#[derive(Debug, Clone)]
enum Cells {
    /// A row per column.
    Dense(Array2<f64>),
    Sparse {
        columns: SparseColumns,
        centre: Vec<f64>,
        scale: Vec<f64>,
        /// Sums of the stored cells of each column.
        sum: Vec<f64>,
    },
}

/// What is left of a target, in the layout that suits the columns.
#[derive(Debug, Clone)]
pub(super) struct Residual {
    /// Dense columns: a run of $n$ per column of the target. Sparse: a run of $q$ per row.
    cells: Vec<f64>,
    /// Added to every row; zero beside dense columns.
    offset: Vec<f64>,
    /// Sums over the rows, offset included; only kept beside sparse columns.
    total: Vec<f64>,
}

/// Whether so many dense rows and columns are worth [`Design::compressed`].
pub(super) fn compresses(n: usize, d: usize) -> bool {
    d <= MOST_COMPRESSED && n >= 2 * d
}

impl Design {
    /// Dense columns; column $j$ becomes `scale[j] * (x - centre[j])`.
    pub fn dense(x: ArrayView2<f64>, centre: &[f64], scale: &[f64]) -> Self {
        let n = x.nrows();
        let mut columns = x.t().as_standard_layout().into_owned();
        let curvature = columns
            .rows_mut()
            .into_iter()
            .zip(centre.iter().zip(scale))
            .map(|(mut column, (centre, scale))| {
                column.mapv_inplace(|v| scale * (v - centre));
                column.iter().map(|v| v * v).sum::<f64>() / n as f64
            })
            .collect();
        Self { n, cells: Cells::Dense(columns), curvature }
    }

    /// Sparse columns of `n` rows, which stay sparse.
    pub fn sparse(n: usize, columns: SparseColumns, centre: Vec<f64>, scale: Vec<f64>) -> Self {
        let mut sum = vec![];
        let mut curvature = vec![];
        for j in 0..columns.len() {
            let c = centre[j];
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
        Self { n, cells: Cells::Sparse { columns, centre, scale, sum }, curvature }
    }

    /// Fewer rows with the same least-squares problem, where there are many more rows than columns and these are dense:
    /// columns and targets with the same products $X^T X / n$ and $X^T T / n$. What is lost is a constant.
    pub(super) fn compressed(&self, target: &Array2<f64>) -> Result<Option<(Self, Array2<f64>)>> {
        let Cells::Dense(columns) = &self.cells else { return Ok(None) };
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
        // K = V L V^T: columns sqrt(r L) V^T and targets sqrt(r / L) V^T X^T T / n, with r rows.
        let vectors = eigen.vectors.slice(s![.., ..kept]);
        let roots: Array1<f64> = eigen.values.iter().take(kept).map(|v| (kept as f64 * v).sqrt()).collect();
        let mut fewer = &vectors * &roots;
        for (j, mut column) in fewer.rows_mut().into_iter().enumerate() {
            if self.curvature[j] == 0.0 {
                column.fill(0.0);
            }
        }
        let along =
            self.products(&self.residual(target, &Array2::zeros((d, target.ncols()))), target.ncols());
        let turned = multiply((&vectors / &roots * kept as f64).t(), along.view());
        let curvature =
            fewer.rows().into_iter().map(|c| c.iter().map(|v| v * v).sum::<f64>() / kept as f64).collect();
        let cells = Cells::Dense(fewer.as_standard_layout().into_owned());
        Ok(Some((Self { n: kept, cells, curvature }, turned.as_standard_layout().into_owned())))
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

    /// $X W$
    pub fn times(&self, w: &Array2<f64>) -> Array2<f64> {
        match &self.cells {
            // Where most rows of W are zero their columns need not be read.
            Cells::Dense(columns) if 2 * used(w) > self.d() => {
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
        let nothing = Array2::zeros((self.d(), r.ncols()));
        self.products(&self.residual(r, &nothing), r.ncols())
    }

    /// $T - X W$
    pub(super) fn residual(&self, target: &Array2<f64>, w: &Array2<f64>) -> Residual {
        let q = target.ncols();
        let mut residual = match &self.cells {
            Cells::Dense(_) => Residual {
                cells: target.t().as_standard_layout().iter().copied().collect(),
                offset: vec![],
                total: vec![],
            },
            Cells::Sparse { .. } => Residual {
                cells: target.as_standard_layout().iter().copied().collect(),
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
        match &self.cells {
            Cells::Dense(columns) => {
                let column = row_slice(columns, j);
                for (part, &change) in residual.cells.chunks_exact_mut(self.n).zip(change) {
                    if change != 0.0 {
                        add_scaled(part, -change, column);
                    }
                }
            }
            Cells::Sparse { columns, centre, scale, sum } => {
                let q = change.len();
                for (i, v) in columns.column(j) {
                    let by = scale[j] * v;
                    let row = &mut residual.cells[i * q..(i + 1) * q];
                    row.iter_mut().zip(change).for_each(|(r, change)| *r -= by * change);
                }
                let (shift, mass) = (scale[j] * centre[j], scale[j] * (sum[j] - self.n as f64 * centre[j]));
                for (k, change) in change.iter().enumerate() {
                    residual.offset[k] += shift * change;
                    residual.total[k] -= mass * change;
                }
            }
        }
    }

    /// $X_j^T R / n$ into `out`.
    pub(super) fn product(&self, j: usize, residual: &Residual, out: &mut [f64]) {
        let n = self.n as f64;
        match &self.cells {
            Cells::Dense(columns) => {
                let column = row_slice(columns, j);
                for (out, part) in out.iter_mut().zip(residual.cells.chunks_exact(self.n)) {
                    *out = dot(column, part) / n;
                }
            }
            Cells::Sparse { columns, centre, scale, sum } => {
                let q = out.len();
                out.fill(0.0);
                for (i, v) in columns.column(j) {
                    let row = &residual.cells[i * q..(i + 1) * q];
                    out.iter_mut().zip(row).for_each(|(out, r)| *out += v * r);
                }
                for (k, out) in out.iter_mut().enumerate() {
                    *out += sum[j] * residual.offset[k] - centre[j] * residual.total[k];
                    *out *= scale[j] / n;
                }
            }
        }
    }

    /// $X^T R / n$, all columns at once on all threads.
    pub(super) fn products(&self, residual: &Residual, q: usize) -> Array2<f64> {
        match &self.cells {
            Cells::Dense(columns) => {
                let rest = ArrayView2::from_shape((q, self.n), &residual.cells).expect("a run per column");
                let mut out = multiply(columns.view(), rest.t());
                out /= self.n as f64;
                out.as_standard_layout().into_owned()
            }
            Cells::Sparse { .. } => {
                let mut out = Array2::zeros((self.d(), q));
                let cells = out.as_slice_mut().expect("standard layout");
                cells.par_chunks_mut(q).enumerate().for_each(|(j, out)| self.product(j, residual, out));
                out
            }
        }
    }
}

impl Residual {
    /// The residual as a matrix of `n` rows.
    fn into_array(self, n: usize) -> Array2<f64> {
        if self.offset.is_empty() {
            let q = self.cells.len() / n;
            let by_column = Array2::from_shape_vec((q, n), self.cells).expect("a run per column");
            return by_column.t().as_standard_layout().into_owned();
        }
        let q = self.offset.len();
        let mut rows = Array2::from_shape_vec((n, q), self.cells).expect("a run per row");
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
                let r = if dense { self.cells[k * n + i] } else { self.cells[i * q + k] + self.offset[k] };
                square += r * r;
                along += r * target[[i, k]];
            }
        }
        (square, along)
    }
}

/// Rows of which some entry is not zero.
fn used(w: &Array2<f64>) -> usize {
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
    fn fewer_rows_with_the_same_products() {
        let mut rng = crate::random::Rng::new(1);
        // A copy and a column of zeros among five.
        let x = Array2::from_shape_fn((40, 3), |_| rng.normal());
        let x = ndarray::concatenate![ndarray::Axis(1), x, x.slice(s![.., ..1]), Array2::zeros((40, 1))];
        let target = Array2::from_shape_simple_fn((40, 2), || rng.normal());
        let design = Design::dense(x.view(), &[0.0; 5], &[1.0; 5]);
        let (fewer, turned) = design.compressed(&target).unwrap().unwrap();
        assert_eq!((fewer.n(), fewer.d(), fewer.curvature(4)), (3, 5, 0.0));
        let w = Array2::from_shape_simple_fn((5, 2), || rng.normal());
        let (a, b) = (design.residual(&target, &w), fewer.residual(&turned, &w));
        assert!((design.products(&a, 2) - fewer.products(&b, 2)).iter().all(|e| e.abs() < 1e-13));
        // The same value but for a constant.
        let zero = Array2::zeros((5, 2));
        let value = |design: &Design, target: &Array2<f64>, w: &Array2<f64>| {
            design.residual(target, w).sums(target).0 / design.n() as f64
        };
        let change = value(&design, &target, &w) - value(&design, &target, &zero);
        let same = value(&fewer, &turned, &w) - value(&fewer, &turned, &zero);
        assert!((change - same).abs() < 1e-12, "{change} {same}");
        assert!(
            Design::dense(x.slice(s![..9, ..]), &[0.0; 5], &[1.0; 5])
                .compressed(&target.slice(s![..9, ..]).to_owned())
                .unwrap()
                .is_none()
        );
    }

    #[test]
    fn sparse_columns_are_centred_without_being_filled() {
        let x = array![[0.0, 2.0], [3.0, 0.0], [0.0, 4.0], [1.0, 0.0]];
        let (centre, scale) = (vec![1.0, 0.5], vec![2.0, 3.0]);
        let columns =
            SparseColumns { start: vec![0, 2, 4], row: vec![1, 3, 0, 2], value: vec![3.0, 1.0, 2.0, 4.0] };
        let filled = array![[-2.0, 4.5], [4.0, -1.5], [-2.0, 10.5], [0.0, -1.5]];
        let target = array![[1.0, 0.0, 2.0], [0.0, 1.0, 0.5], [-1.0, 3.0, 0.0], [2.0, 2.0, 1.0]];
        let w = array![[0.5, -1.0, 0.0], [0.0, 2.0, 1.0]];
        let rest = &target - &filled.dot(&w);
        let products = filled.t().dot(&rest) / 4.0;
        for design in [
            Design::dense(x.view(), &centre, &scale),
            Design::sparse(4, columns, centre.clone(), scale.clone()),
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
                let square: f64 = filled.column(j).iter().map(|v| v * v).sum();
                assert!((design.curvature(j) - square / 4.0).abs() < 1e-13);
            }
            assert!((&design.transposed_times(&rest) - &products).iter().all(|e| e.abs() < 1e-13));
            let one_row = array![[0.5, -1.0, 0.0], [0.0, 0.0, 0.0]];
            for w in [&w, &one_row] {
                assert!((&design.times(w) - &filled.dot(w)).iter().all(|e| e.abs() < 1e-13));
            }
            let (square, along) = residual.sums(&target);
            assert!((square - rest.iter().map(|v| v * v).sum::<f64>()).abs() < 1e-12);
            assert!((along - (&rest * &target).sum()).abs() < 1e-12);
        }
    }
}
