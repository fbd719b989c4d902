//! Distances between rows.

use super::dispatch::{multiply_add, vectorized};
use super::sums::sum_of_terms;

/// `sum[r] = sum_f g(columns[f * stride + r] - z[f])`, where `add(e, s)` computes `s + g(e)`. Processes four columns at a time,
/// so that each sum is loaded and stored once per four additions.
#[inline(always)]
fn sum_over_columns(
    sum: &mut [f64],
    columns: &[f64],
    stride: usize,
    z: &[f64],
    add: impl Fn(f64, f64) -> f64 + Copy,
) {
    let height = sum.len();
    let column = |f: usize| &columns[f * stride..f * stride + height];
    sum.fill(0.0);
    let (fours, rest) = z.as_chunks::<4>();
    for (block, z) in fours.iter().enumerate() {
        let [c0, c1, c2, c3] = std::array::from_fn(|i| column(4 * block + i));
        for r in 0..height {
            let partial = add(c1[r] - z[1], add(c0[r] - z[0], sum[r]));
            sum[r] = add(c3[r] - z[3], add(c2[r] - z[2], partial));
        }
    }
    for (i, z) in rest.iter().enumerate() {
        let c = column(4 * fours.len() + i);
        for r in 0..height {
            sum[r] = add(c[r] - z, sum[r]);
        }
    }
}

vectorized! {
    /// Squared Euclidean distances of rows from the row `z`: `sum[r] = sum_f (columns[f * stride + r] - z[f])^2`.
    pub fn squared_distances(sum: &mut [f64], columns: &[f64], stride: usize, z: &[f64]) {
        sum_over_columns(sum, columns, stride, z, |e, sum| multiply_add::<FMA>(e, e, sum));
    }
}

vectorized! {
    /// Manhattan distances of rows from the row `z`: `sum[r] = sum_f |columns[f * stride + r] - z[f]|`.
    pub fn absolute_distances(sum: &mut [f64], columns: &[f64], stride: usize, z: &[f64]) {
        sum_over_columns(sum, columns, stride, z, |e, sum| sum + e.abs());
    }
}

vectorized! {
    /// `sum[r] += (x[r] - z)^2`
    pub fn add_squared_differences(sum: &mut [f64], x: &[f64], z: f64) {
        for (s, x) in sum.iter_mut().zip(x) {
            *s = multiply_add::<FMA>(x - z, x - z, *s);
        }
    }
}

vectorized! {
    /// `sum[f] += (rows[i][f] - rows[j][f])^2` over pairs `[i, j]` of rows of a row-major matrix.
    pub fn add_squares_of_pairs(sum: &mut [f64], rows: &[f64], pairs: &[[usize; 2]]) {
        let width = sum.len();
        let row = |i: usize| &rows[i * width..(i + 1) * width];
        for &[i, j] in pairs {
            for (sum, (a, b)) in sum.iter_mut().zip(row(i).iter().zip(row(j))) {
                *sum = multiply_add::<FMA>(a - b, a - b, *sum);
            }
        }
    }
}

/// `sum[r] = sum_f measure(columns[f * stride + r] - z[f])`; a term that is NaN (a missing value on either side) is replaced by
/// `expected[f]`.
#[inline(always)]
fn sum_with_missing(
    sum: &mut [f64],
    columns: &[f64],
    stride: usize,
    z: &[f64],
    expected: &[f64],
    measure: impl Fn(f64) -> f64 + Copy,
) {
    let height = sum.len();
    sum.fill(0.0);
    for (f, (z, expected)) in z.iter().zip(expected).enumerate() {
        let column = &columns[f * stride..f * stride + height];
        for r in 0..height {
            let e = measure(column[r] - z);
            sum[r] += if e.is_nan() { *expected } else { e };
        }
    }
}

vectorized! {
    /// [`squared_distances`] with `expected[f]` in place of terms with missing values (NaN).
    pub fn squared_distances_with_missing(
        sum: &mut [f64],
        columns: &[f64],
        stride: usize,
        z: &[f64],
        expected: &[f64],
    ) {
        sum_with_missing(sum, columns, stride, z, expected, |e| e * e);
    }
}

vectorized! {
    /// [`absolute_distances`] with `expected[f]` in place of terms with missing values (NaN).
    pub fn absolute_distances_with_missing(
        sum: &mut [f64],
        columns: &[f64],
        stride: usize,
        z: &[f64],
        expected: &[f64],
    ) {
        sum_with_missing(sum, columns, stride, z, expected, f64::abs);
    }
}

vectorized! {
    /// `sum_i (a[i] - b[i])^2`
    pub fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
        sum_of_terms(a, b, |a, b, sum| multiply_add::<FMA>(a - b, a - b, sum))
    }
}

vectorized! {
    /// `sum_i |a[i] - b[i]|`
    pub fn absolute_distance(a: &[f64], b: &[f64]) -> f64 {
        sum_of_terms(a, b, |a, b, sum| sum + (a - b).abs())
    }
}

vectorized! {
    /// Whether `a[i] - 2 p[i] <= limit` for any `i`.
    pub fn any_at_most(a: &[f64], p: &[f64], limit: f64) -> bool {
        let mut found = false;
        for (a, p) in a.iter().zip(p) {
            found |= multiply_add::<FMA>(-2.0, *p, *a) <= limit;
        }
        found
    }
}

/// Whether a difference of numbers of magnitude `parts` retains ten significant digits.
pub fn is_accurate(difference: f64, parts: f64) -> bool {
    difference > 1e-6 * parts && parts < f64::INFINITY
}

vectorized! {
    /// Converts inner products to squared distances: `p[i] = x[i] + z - 2 p[i]`. Returns whether any result lost too many digits
    /// to cancellation (or is NaN) and should be recomputed from differences.
    pub fn products_to_squared_distances(p: &mut [f64], x: &[f64], z: f64) -> bool {
        let mut inaccurate = 0u64;
        for (p, x) in p.iter_mut().zip(x) {
            let parts = x + z;
            *p = multiply_add::<FMA>(-2.0, *p, parts);
            inaccurate |= u64::from(!is_accurate(*p, parts));
        }
        inaccurate != 0
    }
}
