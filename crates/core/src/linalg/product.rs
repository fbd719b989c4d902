//! Matrix products.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, ShapeBuilder};
use rayon::prelude::*;

/// Temporary memory of products in bytes: packed copies of blocks, for every thread.
pub(crate) fn product_bytes() -> f64 {
    f64::from(4 << 20) * rayon::current_num_threads() as f64
}

/// Rows of the left factor per task.
const BLOCK: usize = 256;

pub(super) fn faer_ref<'a, T>(a: &ArrayView2<'a, T>) -> MatRef<'a, T> {
    let (rows, cols) = a.dim();
    let strides = a.strides();
    // SAFETY: pointer, shape and strides come from a live view, whose lifetime the result has.
    unsafe { MatRef::from_raw_parts(a.as_ptr(), rows, cols, strides[0], strides[1]) }
}

pub(super) fn faer_mut<'a, T>(a: &'a mut ArrayViewMut2<'_, T>) -> MatMut<'a, T> {
    let (rows, cols) = a.dim();
    let (row_stride, col_stride) = (a.strides()[0], a.strides()[1]);
    // SAFETY: pointer, shape and strides come from a live exclusive view that stays borrowed.
    unsafe { MatMut::from_raw_parts_mut(a.as_mut_ptr(), rows, cols, row_stride, col_stride) }
}

/// `out = a b` on the calling thread.
pub fn product_into(a: ArrayView2<f64>, b: ArrayView2<f64>, mut out: ArrayViewMut2<f64>) {
    if a.ncols() == 0 {
        out.fill(0.0);
        return;
    }
    matmul(faer_mut(&mut out), Accum::Replace, faer_ref(&a), faer_ref(&b), 1.0, Par::Seq);
}

/// `out += factor a b` on the calling thread.
pub fn add_product(factor: f64, a: ArrayView2<f64>, b: ArrayView2<f64>, mut out: ArrayViewMut2<f64>) {
    if a.ncols() > 0 {
        matmul(faer_mut(&mut out), Accum::Add, faer_ref(&a), faer_ref(&b), factor, Par::Seq);
    }
}

/// `out = a b`, or `out += a b` if `add`, in single precision on the calling thread.
pub fn product_single(a: ArrayView2<f32>, b: ArrayView2<f32>, mut out: ArrayViewMut2<f32>, add: bool) {
    let accumulate = if add { Accum::Add } else { Accum::Replace };
    if a.ncols() > 0 {
        matmul(faer_mut(&mut out), accumulate, faer_ref(&a), faer_ref(&b), 1.0, Par::Seq);
    } else if !add {
        out.fill(0.0);
    }
}

/// `out += factor a b` on all threads, with `rows` rows per task.
pub(super) fn add_product_by_rows(
    factor: f64,
    a: ArrayView2<f64>,
    b: ArrayView2<f64>,
    mut out: ArrayViewMut2<f64>,
    rows: usize,
) {
    out.axis_chunks_iter_mut(Axis(0), rows)
        .into_par_iter()
        .zip(a.axis_chunks_iter(Axis(0), rows).into_par_iter())
        .for_each(|(out, a)| add_product(factor, a, b, out));
}

/// `a b` on all threads, column-major.
pub fn multiply(a: ArrayView2<f64>, b: ArrayView2<f64>) -> Array2<f64> {
    assert_eq!(a.ncols(), b.nrows(), "inner dimensions of a product");
    let mut out = Array2::zeros((a.nrows(), b.ncols()).f());
    out.axis_chunks_iter_mut(Axis(0), BLOCK)
        .into_par_iter()
        .zip(a.axis_chunks_iter(Axis(0), BLOCK).into_par_iter())
        .for_each(|(out, a)| product_into(a, b, out));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{array, s};

    #[test]
    fn products_in_all_memory_layouts() {
        let a = array![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]];
        let b = array![[1.0, 0.0, 2.0], [0.0, 1.0, -1.0]];
        let expected = array![[1.0, 2.0, 0.0], [3.0, 4.0, 2.0], [5.0, 6.0, 4.0]];
        assert_eq!(multiply(a.view(), b.view()), expected);
        assert_eq!(multiply(b.t(), a.t()), expected.t());
        let every_other = multiply(a.slice(s![..;2, ..]), b.view());
        assert_eq!(every_other, expected.slice(s![..;2, ..]));
    }

    #[test]
    fn add_product_adds_to_the_output() {
        let a = array![[1.0, 2.0]];
        let mut out = array![[10.0]];
        add_product(-2.0, a.view(), a.t(), out.view_mut());
        assert_eq!(out, array![[0.0]]);
    }

    #[test]
    fn single_precision() {
        let a = array![[1.0_f32, 2.0], [3.0, 4.0]];
        let mut out = array![[10.0_f32, 0.0], [0.0, 0.0]];
        product_single(a.view(), a.t(), out.view_mut(), true);
        assert_eq!(out, array![[15.0, 11.0], [11.0, 25.0]]);
        product_single(a.view(), a.t(), out.view_mut(), false);
        assert_eq!(out, array![[5.0, 11.0], [11.0, 25.0]]);
    }

    #[test]
    fn an_empty_inner_dimension_gives_zeros() {
        let a = Array2::<f64>::zeros((2, 0));
        assert_eq!(multiply(a.view(), a.t()), Array2::<f64>::zeros((2, 2)));
    }
}
