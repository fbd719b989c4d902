//! Products of a wide matrix with a thin one (few columns), and sums over pairs of thin rows.

use super::dispatch::{multiply_add, vectorized};
use super::exp::exp;
use super::sums::sum_of_terms;

/// Number of columns of a thin matrix.
pub const THIN: usize = 8;
/// Rows of the wide matrix processed together, so that each thin row is loaded once for all of them.
const GROUP: usize = 4;

vectorized! {
    /// Product of a wide matrix with a thin one: `out[i] = sum_j x[i * stride + j] w[j]`.
    pub fn rows_times_thin(x: &[f64], stride: usize, w: &[[f64; THIN]], out: &mut [[f64; THIN]]) {
        let d = w.len();
        let row = |i: usize| &x[i * stride..i * stride + d];
        let (groups, rest) = out.as_chunks_mut::<GROUP>();
        for (g, out) in groups.iter_mut().enumerate() {
            let [r0, r1, r2, r3] = std::array::from_fn(|r| row(GROUP * g + r));
            let mut sums = [[0.0; THIN]; GROUP];
            for (j, w) in w.iter().enumerate() {
                for (sum, x) in sums.iter_mut().zip([r0[j], r1[j], r2[j], r3[j]]) {
                    for l in 0..THIN {
                        sum[l] = multiply_add::<FMA>(x, w[l], sum[l]);
                    }
                }
            }
            *out = sums;
        }
        for (r, out) in rest.iter_mut().enumerate() {
            let mut sum = [0.0; THIN];
            for (x, w) in row(GROUP * groups.len() + r).iter().zip(w) {
                for l in 0..THIN {
                    sum[l] = multiply_add::<FMA>(*x, w[l], sum[l]);
                }
            }
            *out = sum;
        }
    }
}

vectorized! {
    /// Product of the transpose of a wide matrix with a thin one: `out[j] += sum_i x[i * stride + j] b[i]`.
    pub fn add_transposed_times_thin(x: &[f64], stride: usize, b: &[[f64; THIN]], out: &mut [[f64; THIN]]) {
        let d = out.len();
        let row = |i: usize| &x[i * stride..i * stride + d];
        let (groups, rest) = b.as_chunks::<GROUP>();
        for (g, b) in groups.iter().enumerate() {
            let [r0, r1, r2, r3] = std::array::from_fn(|r| row(GROUP * g + r));
            for (j, out) in out.iter_mut().enumerate() {
                let mut sum = *out;
                for (b, x) in b.iter().zip([r0[j], r1[j], r2[j], r3[j]]) {
                    for l in 0..THIN {
                        sum[l] = multiply_add::<FMA>(x, b[l], sum[l]);
                    }
                }
                *out = sum;
            }
        }
        for (r, b) in rest.iter().enumerate() {
            for (x, out) in row(GROUP * groups.len() + r).iter().zip(out.iter_mut()) {
                for l in 0..THIN {
                    out[l] = multiply_add::<FMA>(*x, b[l], out[l]);
                }
            }
        }
    }
}

/// Maximum number of rows on each side of a tile of [`add_pairs`].
pub const PAIRS: usize = 128;

/// Thin rows on one side of a tile in column-major order: entry `k` of row `r` is `values[k * stride + r]`.
#[derive(Clone, Copy)]
pub struct ThinRows<'a> {
    /// The values, starting at the first row of the tile.
    pub values: &'a [f64],
    /// Distance between columns in `values`.
    pub stride: usize,
    /// Number of columns.
    pub width: usize,
}

impl ThinRows<'_> {
    #[inline(always)]
    fn column(&self, k: usize, height: usize) -> &[f64] {
        &self.values[k * self.stride..k * self.stride + height]
    }
}

/// Sums over pairs for the rows on one side of a tile; see [`add_pairs`].
pub struct PairSums {
    /// Sum of the weights of each row.
    pub total: [f64; PAIRS],
    /// Weighted sum of the rows on the other side, for each row; one array per column.
    pub rows: Vec<[f64; PAIRS]>,
}

impl PairSums {
    /// Zeros, for rows of `width` columns.
    pub fn zeros(width: usize) -> Self {
        Self { total: [0.0; PAIRS], rows: vec![[0.0; PAIRS]; width] }
    }
}

vectorized! {
    /// Sums over all pairs of a tile with the weights $a_{ij} = \exp(-\lVert p_i - q_j \rVert^2 / 2) \langle y_i, z_j \rangle$.
    /// Returns the sum of the weights.
    ///
    /// `heights` are the numbers of rows of `p` and `q`. The sums that gradients need are added to `p_sums` for the rows of `p` and to
    /// `q_sums` for the rows of `q`. Pass `None` for both if only the value is needed, and for `q_sums` if both sides are the same
    /// rows.
    pub fn add_pairs(
        p: ThinRows,
        y: ThinRows,
        heights: (usize, usize),
        q: ThinRows,
        z: ThinRows,
        p_sums: Option<&mut PairSums>,
        q_sums: Option<&mut PairSums>,
    ) -> f64 {
        let (rows, columns) = heights;
        let (mut p_sums, mut q_sums) = (p_sums, q_sums);
        // Copies of `q` and `z`, padded with rows of weight zero so that all loops have the same length.
        let mut padded = vec![[0.0; PAIRS]; q.width + z.width];
        for (k, padded) in padded.iter_mut().enumerate() {
            let column = if k < q.width { q.column(k, columns) } else { z.column(k - q.width, columns) };
            padded[..columns].copy_from_slice(column);
        }
        let (q, z) = padded.split_at(q.width);
        let ones = [1.0; PAIRS];
        let mut total = 0.0;
        for i in 0..rows {
            let (mut distance, mut product) = ([0.0; PAIRS], [0.0; PAIRS]);
            for (k, q) in q.iter().enumerate() {
                let value = p.values[k * p.stride + i];
                for j in 0..PAIRS {
                    let e = value - q[j];
                    distance[j] = multiply_add::<FMA>(e, e, distance[j]);
                }
            }
            for (k, z) in z.iter().enumerate() {
                let value = y.values[k * y.stride + i];
                for j in 0..PAIRS {
                    product[j] = multiply_add::<FMA>(value, z[j], product[j]);
                }
            }
            let mut weight = [0.0; PAIRS];
            for j in 0..PAIRS {
                weight[j] = exp::<FMA>(-0.5 * distance[j]) * product[j];
            }
            let row_sum = sum_of_terms(&weight, &ones, multiply_add::<FMA>);
            total += row_sum;
            if let Some(p_sums) = &mut p_sums {
                p_sums.total[i] += row_sum;
                for (sums, q) in p_sums.rows.iter_mut().zip(q) {
                    sums[i] += sum_of_terms(&weight, q, multiply_add::<FMA>);
                }
            }
            if let Some(q_sums) = &mut q_sums {
                q_sums.total.iter_mut().zip(&weight).for_each(|(total, weight)| *total += weight);
                for (k, sums) in q_sums.rows.iter_mut().enumerate() {
                    let value = p.values[k * p.stride + i];
                    for j in 0..PAIRS {
                        sums[j] = multiply_add::<FMA>(value, weight[j], sums[j]);
                    }
                }
            }
        }
        total
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Rng;

    fn draw(rng: &mut Rng, n: usize) -> Vec<[f64; THIN]> {
        (0..n).map(|_| std::array::from_fn(|_| rng.normal())).collect()
    }

    #[test]
    fn thin_products_equal_plain_sums() {
        let mut rng = Rng::new(1);
        for (n, d) in [(1, 1), (7, 5), (9, 33)] {
            let x: Vec<f64> = (0..n * d).map(|_| rng.normal()).collect();
            let (w, b) = (draw(&mut rng, d), draw(&mut rng, n));
            let mut product = vec![[7.0; THIN]; n];
            rows_times_thin(&x, d, &w, &mut product);
            let mut transposed = vec![[1.0; THIN]; d];
            add_transposed_times_thin(&x, d, &b, &mut transposed);
            for l in 0..THIN {
                // At most 33 products of numbers below 5 each.
                for i in 0..n {
                    let plain: f64 = (0..d).map(|j| x[i * d + j] * w[j][l]).sum();
                    assert!((product[i][l] - plain).abs() < 1e-12);
                }
                for j in 0..d {
                    let plain: f64 = 1.0 + (0..n).map(|i| x[i * d + j] * b[i][l]).sum::<f64>();
                    assert!((transposed[j][l] - plain).abs() < 1e-12);
                }
            }
        }
    }

    #[test]
    fn pairs_equal_plain_sums() {
        let mut rng = Rng::new(2);
        let (n, width, classes, stride) = (40, 3, 2, 50);
        let p: Vec<f64> = (0..stride * width).map(|_| rng.normal()).collect();
        let y: Vec<f64> = (0..stride * classes).map(|_| rng.normal()).collect();
        let thin = |values, width| ThinRows { values, stride, width };
        // Rows 0 to 9 against rows 10 to 39.
        let (rows, columns) = (10, n - 10);
        let (mut p_sums, mut q_sums) = (PairSums::zeros(width), PairSums::zeros(width));
        let total = add_pairs(
            thin(&p, width),
            thin(&y, classes),
            (rows, columns),
            thin(&p[10..], width),
            thin(&y[10..], classes),
            Some(&mut p_sums),
            Some(&mut q_sums),
        );
        let weight = |i: usize, j: usize| {
            let distance: f64 = (0..width).map(|k| (p[k * stride + i] - p[k * stride + j]).powi(2)).sum();
            let product: f64 = (0..classes).map(|k| y[k * stride + i] * y[k * stride + j]).sum();
            (-distance / 2.0).exp() * product
        };
        let pairs: Vec<(usize, usize)> = (0..10).flat_map(|i| (10..n).map(move |j| (i, j))).collect();
        // Three hundred numbers below 20.
        assert!((total - pairs.iter().map(|&(i, j)| weight(i, j)).sum::<f64>()).abs() < 1e-11);
        for i in 0..rows {
            assert!((p_sums.total[i] - (10..n).map(|j| weight(i, j)).sum::<f64>()).abs() < 1e-12);
            let plain: f64 = (10..n).map(|j| weight(i, j) * p[2 * stride + j]).sum();
            assert!((p_sums.rows[2][i] - plain).abs() < 1e-12);
        }
        for j in 0..columns {
            assert!((q_sums.total[j] - (0..10).map(|i| weight(i, j + 10)).sum::<f64>()).abs() < 1e-12);
            let plain: f64 = (0..10).map(|i| weight(i, j + 10) * p[stride + i]).sum();
            assert!((q_sums.rows[1][j] - plain).abs() < 1e-12);
        }
    }
}
