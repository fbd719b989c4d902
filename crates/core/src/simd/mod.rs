//! Inner loops that are worth compiling for the processor at hand.
//!
//! The crate is built for the oldest processor of its family, so that one wheel runs everywhere.
//! The few loops that carry the weight are compiled three times (AVX-512, AVX2 with FMA, plain) and
//! picked at run time. A value never depends on its place in the slice: heads and tails go through
//! the same operations as full vectors. Only sums do, in an order that their length alone decides.

mod angle;
mod exp;
mod thin;
mod working_set;

pub use angle::sin_cos;
pub use exp::{
    ROUGH_LANES, ROUGH_ROUNDING, ROUGH_SHARE, exp_scaled, gaussian_sum, kernel_sum, rough_gaussian_sum,
};
pub use thin::{PAIRS, PairSums, THIN, ThinRows, add_pairs, add_transposed_times_thin, rows_times_thin};
pub use working_set::{best_partner, largest_pull, largest_sum, step_and_largest_sum};

/// Independent running sums or extremes: one would be a chain of operations that nothing can overlap.
const LANES: usize = 16;

/// Compiles a loop for several instruction sets and picks one at run time.
///
/// The body sees a constant `FMA` that says whether fused multiply-add is one instruction there.
macro_rules! vectorised {
    ($(#[$doc:meta])* pub fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)? $body:block) => {
        $(#[$doc])*
        pub fn $name($($arg: $ty),*) $(-> $ret)? {
            #[inline(always)]
            fn body<const FMA: bool>($($arg: $ty),*) $(-> $ret)? $body

            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,fma")]
                fn avx512($($arg: $ty),*) $(-> $ret)? {
                    body::<true>($($arg),*)
                }
                #[target_feature(enable = "avx2,fma")]
                fn avx2($($arg: $ty),*) $(-> $ret)? {
                    body::<true>($($arg),*)
                }
                if $crate::simd::has_avx512() {
                    // SAFETY: the processor was just found to have the features.
                    return unsafe { avx512($($arg),*) };
                }
                if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
                    // SAFETY: the processor was just found to have the features.
                    return unsafe { avx2($($arg),*) };
                }
            }
            body::<{ cfg!(target_arch = "aarch64") }>($($arg),*)
        }
    };
}
pub(crate) use vectorised;

#[cfg(target_arch = "x86_64")]
pub(crate) fn has_avx512() -> bool {
    use std::arch::is_x86_feature_detected;
    use std::sync::LazyLock;
    // Short loops would notice five questions each time.
    static FOUND: LazyLock<bool> = LazyLock::new(|| {
        is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("fma")
    });
    *FOUND
}

/// `a * b + c`, fused where that is one instruction.
#[inline(always)]
fn multiply_add<const FMA: bool>(a: f64, b: f64, c: f64) -> f64 {
    if FMA { a.mul_add(b, c) } else { a * b + c }
}

/// `sum[r] = sum_f measure(columns[f * stride + r] - z[f])`, four columns at a time so that each sum is
/// loaded and stored once for four additions.
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

vectorised! {
    /// Squared distances of rows from one row: `sum[r] = sum_f (columns[f * stride + r] - z[f])^2`.
    pub fn squared_distances(sum: &mut [f64], columns: &[f64], stride: usize, z: &[f64]) {
        sum_over_columns(sum, columns, stride, z, |e, sum| multiply_add::<FMA>(e, e, sum));
    }
}

vectorised! {
    /// Sums of absolute differences: `sum[r] = sum_f |columns[f * stride + r] - z[f]|`.
    pub fn absolute_distances(sum: &mut [f64], columns: &[f64], stride: usize, z: &[f64]) {
        sum_over_columns(sum, columns, stride, z, |e, sum| sum + e.abs());
    }
}

vectorised! {
    /// `sum[r] += (x[r] - z)^2`
    pub fn add_squared_differences(sum: &mut [f64], x: &[f64], z: f64) {
        for (s, x) in sum.iter_mut().zip(x) {
            *s = multiply_add::<FMA>(x - z, x - z, *s);
        }
    }
}

vectorised! {
    /// `sum[f] += (rows[i][f] - rows[j][f])^2` over pairs of rows, which lie one after the other.
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

/// `sum[r] = sum_f measure(columns[f * stride + r] - z[f])`, where `measure` that is no number, which is a gap
/// on either side, counts as `expected[f]`.
#[inline(always)]
fn sum_with_gaps(
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

vectorised! {
    /// [`squared_distances`] with what is expected in place of gaps (NaN).
    pub fn squared_distances_with_gaps(
        sum: &mut [f64],
        columns: &[f64],
        stride: usize,
        z: &[f64],
        expected: &[f64],
    ) {
        sum_with_gaps(sum, columns, stride, z, expected, |e| e * e);
    }
}

vectorised! {
    /// [`absolute_distances`] with what is expected in place of gaps (NaN).
    pub fn absolute_distances_with_gaps(
        sum: &mut [f64],
        columns: &[f64],
        stride: usize,
        z: &[f64],
        expected: &[f64],
    ) {
        sum_with_gaps(sum, columns, stride, z, expected, f64::abs);
    }
}

vectorised! {
    /// `sum[i] += weight * x[i]`
    pub fn add_scaled(sum: &mut [f64], weight: f64, x: &[f64]) {
        for (s, x) in sum.iter_mut().zip(x) {
            *s = multiply_add::<FMA>(weight, *x, *s);
        }
    }
}

/// `sum_i term(a[i], b[i])`, as sixteen sums that are added up by halves, and after them what fills less than eight: an
/// order that does not depend on how wide the processor's vectors are.
#[inline(always)]
fn sum_of_terms(a: &[f64], b: &[f64], add: impl Fn(f64, f64, f64) -> f64) -> f64 {
    let n = a.len().min(b.len());
    let (a, a_rest) = a[..n].as_chunks::<LANES>();
    let (b, b_rest) = b[..n].as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for i in 0..LANES {
            sums[i] = add(a[i], b[i], sums[i]);
        }
    }
    with_rest(sums, a_rest, b_rest, add)
}

/// Such sums with the terms that fill no more than a part of them, in eight, four and single ones: short vectors are
/// nothing else.
#[inline(always)]
fn with_rest(
    mut sums: [f64; LANES],
    mut a: &[f64],
    mut b: &[f64],
    add: impl Fn(f64, f64, f64) -> f64,
) -> f64 {
    if let (Some((a_now, a_then)), Some((b_now, b_then))) =
        (a.split_first_chunk::<8>(), b.split_first_chunk::<8>())
    {
        for i in 0..8 {
            sums[i] = add(a_now[i], b_now[i], sums[i]);
        }
        (a, b) = (a_then, b_then);
    }
    let mut sum = by_halves(sums);
    if let (Some((a_now, a_then)), Some((b_now, b_then))) =
        (a.split_first_chunk::<4>(), b.split_first_chunk::<4>())
    {
        sum += sum_of_four(std::array::from_fn(|i| add(a_now[i], b_now[i], 0.0)));
        (a, b) = (a_then, b_then);
    }
    for (a, b) in a.iter().zip(b) {
        sum = add(*a, *b, sum);
    }
    sum
}

/// Independent sums, added up by halves: one after the other each would wait for the one before.
#[inline(always)]
fn by_halves(sums: [f64; LANES]) -> f64 {
    let eight: [f64; 8] = std::array::from_fn(|i| sums[i] + sums[i + 8]);
    sum_of_four(std::array::from_fn(|i| eight[i] + eight[i + 4]))
}

#[inline(always)]
fn sum_of_four(four: [f64; 4]) -> f64 {
    (four[0] + four[2]) + (four[1] + four[3])
}

vectorised! {
    /// `sum_i a[i] b[i]`
    pub fn dot(a: &[f64], b: &[f64]) -> f64 {
        sum_of_terms(a, b, multiply_add::<FMA>)
    }
}

vectorised! {
    /// `out[k] = sum_i columns[k * v.len() + i] v[i]`, four at a time: one alone waits for its own sums.
    /// Each is what [`dot`] has.
    pub fn dots(out: &mut [f64], columns: &[f64], v: &[f64]) {
        const COLUMNS: usize = 4;
        let height = v.len();
        let column = |k: usize| &columns[k * height..(k + 1) * height];
        let (blocks, rest) = v.as_chunks::<LANES>();
        let (fours, others) = out.as_chunks_mut::<COLUMNS>();
        for (four, out) in fours.iter_mut().enumerate() {
            let cells: [&[f64]; COLUMNS] = std::array::from_fn(|c| column(COLUMNS * four + c));
            let mut sums = [[0.0; LANES]; COLUMNS];
            let [c0, c1, c2, c3] = cells.map(|cells| cells.as_chunks::<LANES>().0);
            for ((((v, c0), c1), c2), c3) in blocks.iter().zip(c0).zip(c1).zip(c2).zip(c3) {
                for i in 0..LANES {
                    sums[0][i] = multiply_add::<FMA>(c0[i], v[i], sums[0][i]);
                    sums[1][i] = multiply_add::<FMA>(c1[i], v[i], sums[1][i]);
                    sums[2][i] = multiply_add::<FMA>(c2[i], v[i], sums[2][i]);
                    sums[3][i] = multiply_add::<FMA>(c3[i], v[i], sums[3][i]);
                }
            }
            for ((out, sums), cells) in out.iter_mut().zip(&sums).zip(cells) {
                *out = with_rest(*sums, &cells[blocks.len() * LANES..], rest, multiply_add::<FMA>);
            }
        }
        let from = COLUMNS * fours.len();
        for (k, out) in others.iter_mut().enumerate() {
            *out = sum_of_terms(column(from + k), v, multiply_add::<FMA>);
        }
    }
}

vectorised! {
    /// `v[i]` becomes one over its root; the sum of the roots is given back.
    pub fn roots_and_inverses(v: &mut [f64]) -> f64 {
        let mut sums = [0.0; LANES];
        let one = |value: &mut f64, sum: &mut f64| {
            let root = value.sqrt();
            *sum += root;
            *value = 1.0 / root;
        };
        let (blocks, rest) = v.as_chunks_mut::<LANES>();
        for block in blocks {
            for i in 0..LANES {
                one(&mut block[i], &mut sums[i]);
            }
        }
        rest.iter_mut().zip(&mut sums).for_each(|(value, sum)| one(value, sum));
        by_halves(sums)
    }
}

vectorised! {
    /// `sum[i] += weight * x[i]`; the sum of their squares is given back, as [`dot`] has it.
    pub fn add_scaled_and_square(sum: &mut [f64], weight: f64, x: &[f64]) -> f64 {
        let mut squares = [0.0; LANES];
        let (blocks, rest) = sum.as_chunks_mut::<LANES>();
        let (x, x_rest) = x.as_chunks::<LANES>();
        for (block, x) in blocks.iter_mut().zip(x) {
            for i in 0..LANES {
                block[i] = multiply_add::<FMA>(weight, x[i], block[i]);
                squares[i] = multiply_add::<FMA>(block[i], block[i], squares[i]);
            }
        }
        rest.iter_mut().zip(x_rest).for_each(|(to, x)| *to = multiply_add::<FMA>(weight, *x, *to));
        with_rest(squares, rest, rest, multiply_add::<FMA>)
    }
}

vectorised! {
    /// `sum_i (a[i] - b[i])^2`
    pub fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
        sum_of_terms(a, b, |a, b, sum| multiply_add::<FMA>(a - b, a - b, sum))
    }
}

vectorised! {
    /// `sum_i |a[i] - b[i]|`
    pub fn absolute_distance(a: &[f64], b: &[f64]) -> f64 {
        sum_of_terms(a, b, |a, b, sum| sum + (a - b).abs())
    }
}

vectorised! {
    /// Whether `a[i] - 2 p[i]` is at most `limit` anywhere.
    pub fn any_at_most(a: &[f64], p: &[f64], limit: f64) -> bool {
        let mut found = false;
        for (a, p) in a.iter().zip(p) {
            found |= multiply_add::<FMA>(-2.0, *p, *a) <= limit;
        }
        found
    }
}

vectorised! {
    /// Adds the votes of row `j` to the counts of its bucket: `counts[buckets[j]][i] += votes[j][i]`.
    ///
    /// Votes are 0 or 1 and there are at most 65535 rows, so that no count overflows.
    pub fn count_votes(counts: &mut [[u16; VOTERS]], buckets: &[u32], votes: &[[u8; VOTERS]]) {
        for (bucket, votes) in buckets.iter().zip(votes) {
            let counts = &mut counts[*bucket as usize];
            for i in 0..VOTERS {
                counts[i] = counts[i].wrapping_add(u16::from(votes[i]));
            }
        }
    }
}

/// Voters whose votes lie side by side for [`count_votes`].
pub const VOTERS: usize = 64;

/// Whether a difference of numbers of size `parts` kept enough digits: ten of them.
pub fn is_trustworthy(difference: f64, parts: f64) -> bool {
    difference > 1e-6 * parts && parts < f64::INFINITY
}

vectorised! {
    /// Turns inner products into squared distances: `p[i] = x[i] + z - 2 p[i]`. Says whether one of them
    /// is so small against its parts (or not a number) that it should be computed another way.
    pub fn products_to_squared_distances(p: &mut [f64], x: &[f64], z: f64) -> bool {
        let mut doubtful = 0u64;
        for (p, x) in p.iter_mut().zip(x) {
            let parts = x + z;
            *p = multiply_add::<FMA>(-2.0, *p, parts);
            doubtful |= u64::from(!is_trustworthy(*p, parts));
        }
        doubtful != 0
    }
}

vectorised! {
    /// `out[r] += sum_k weights[k] * columns[k * stride + r]`
    pub fn add_combination(out: &mut [f64], columns: &[f64], stride: usize, weights: &[f64]) {
        let height = out.len();
        let column = |k: usize| &columns[k * stride..k * stride + height];
        let (fours, rest) = weights.as_chunks::<4>();
        for (block, w) in fours.iter().enumerate() {
            let [c0, c1, c2, c3] = std::array::from_fn(|i| column(4 * block + i));
            for r in 0..height {
                let sum = multiply_add::<FMA>(w[1], c1[r], multiply_add::<FMA>(w[0], c0[r], out[r]));
                out[r] = multiply_add::<FMA>(w[3], c3[r], multiply_add::<FMA>(w[2], c2[r], sum));
            }
        }
        for (i, w) in rest.iter().enumerate() {
            let c = column(4 * fours.len() + i);
            for r in 0..height {
                out[r] = multiply_add::<FMA>(*w, c[r], out[r]);
            }
        }
    }
}

vectorised! {
    /// One step of a pivoted Cholesky factorisation on a run of rows: `column *= scale`, then
    /// `residual -= column^2`, clamped at zero. Returns the smallest residual before it is clamped and the
    /// largest after.
    pub fn scale_and_reduce(column: &mut [f64], scale: f64, residual: &mut [f64]) -> (f64, f64) {
        let step = |c: &mut f64, d: &mut f64| {
            *c *= scale;
            let left = multiply_add::<FMA>(-*c, *c, *d);
            *d = if left > 0.0 { left } else { 0.0 };
            // Comparisons pass over NaN; this way it shows in the smallest.
            if left >= f64::MIN { left } else { f64::NEG_INFINITY }
        };
        let (mut least, mut most) = ([f64::INFINITY; LANES], [f64::NEG_INFINITY; LANES]);
        let (columns, column_rest) = column.as_chunks_mut::<LANES>();
        let (residuals, residual_rest) = residual.as_chunks_mut::<LANES>();
        for (c, d) in columns.iter_mut().zip(residuals) {
            for i in 0..LANES {
                let left = step(&mut c[i], &mut d[i]);
                least[i] = if left < least[i] { left } else { least[i] };
                most[i] = if d[i] > most[i] { d[i] } else { most[i] };
            }
        }
        for (c, d) in column_rest.iter_mut().zip(residual_rest) {
            let left = step(c, d);
            least[0] = if left < least[0] { left } else { least[0] };
            most[0] = if *d > most[0] { *d } else { most[0] };
        }
        (least.into_iter().fold(f64::INFINITY, f64::min), most.into_iter().fold(f64::NEG_INFINITY, f64::max))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values must not depend on where in a slice they stand: heads, tails and full vectors agree.
    #[test]
    fn values_do_not_depend_on_their_place() {
        let n = 37;
        let columns: Vec<f64> = (0..7 * n).map(|i| (i as f64 * 0.77).sin() * 3.0).collect();
        let z: Vec<f64> = (0..7).map(|i| f64::from(i) * 0.3).collect();
        let all = |rows: std::ops::Range<usize>| {
            let mut out = vec![0.0; rows.len()];
            squared_distances(&mut out, &columns[rows.start..], n, &z);
            add_combination(&mut out, &columns[rows.start..], n, &z);
            add_scaled(&mut out, 1.7, &columns[rows]);
            out
        };
        let whole = all(0..n);
        for (i, value) in whole.iter().enumerate() {
            assert_eq!(value.to_bits(), all(i..i + 1)[0].to_bits());
        }
    }

    /// Every term counts once, whatever part of the lanes it falls into: sums of whole numbers are exact in any order.
    #[test]
    fn sums_of_every_length_have_every_term() {
        for n in 0..70 {
            let a: Vec<f64> = (0..n).map(|i| f64::from((i * 7 + 3) % 11 - 5)).collect();
            let b: Vec<f64> = (0..n).map(|i| f64::from((i * 5 + 1) % 13 - 6)).collect();
            let sum = |term: fn(f64, f64) -> f64| a.iter().zip(&b).map(|(a, b)| term(*a, *b)).sum::<f64>();
            assert_eq!(dot(&a, &b), sum(|a, b| a * b), "{n}");
            assert_eq!(squared_distance(&a, &b), sum(|a, b| (a - b) * (a - b)), "{n}");
            assert_eq!(absolute_distance(&a, &b), sum(|a, b| (a - b).abs()), "{n}");
            let squares = add_scaled_and_square(&mut a.clone(), 2.0, &b);
            assert_eq!(squares, sum(|a, b| (a + 2.0 * b) * (a + 2.0 * b)), "{n}");
            // With a gamma of zero every weight counts as it is.
            assert_eq!(kernel_sum(&a, &b, &b, 0.0, 0.0, 1.0), a.iter().sum::<f64>(), "{n}");
            assert_eq!(gaussian_sum(&a, &b, 0.0, 0.0), a.iter().sum::<f64>(), "{n}");
        }
    }

    #[test]
    fn sums_of_two_kinds_at_once_are_those_of_one() {
        let mut rng = crate::random::Rng::new(4);
        for (height, columns) in [(0, 3), (5, 1), (16, 4), (37, 7), (100, 8)] {
            let mut draw = |n: usize| (0..n).map(|_| rng.normal()).collect::<Vec<f64>>();
            let (cells, v) = (draw(height * columns), draw(height));
            let mut out = vec![f64::NAN; columns];
            dots(&mut out, &cells, &v);
            let alone: Vec<f64> =
                (0..columns).map(|k| dot(&cells[k * height..(k + 1) * height], &v)).collect();
            assert_eq!(out, alone, "{height} x {columns}");
            let (mut sum, mut other) = (v.clone(), v.clone());
            let x = draw(height);
            let squares = add_scaled_and_square(&mut sum, -0.7, &x);
            add_scaled(&mut other, -0.7, &x);
            assert_eq!(sum, other);
            assert_eq!(squares, dot(&other, &other));
        }
    }

    #[test]
    fn differences_by_hand() {
        // Rows (3, 0) and (0, 2) against (1, 1).
        let mut sum = vec![9.0; 2];
        squared_distances(&mut sum, &[3.0, 0.0, 0.0, 2.0], 2, &[1.0, 1.0]);
        assert_eq!(sum, [5.0, 2.0]);
        absolute_distances(&mut sum, &[3.0, 0.0, 0.0, 2.0], 2, &[1.0, 1.0]);
        assert_eq!(sum, [3.0, 2.0]);
        // |x|^2 = 9, |z|^2 = 4, <x, z> = 6 and 6.5: distances 1 and 0, and the second is not to be trusted.
        let mut p = vec![6.0, 6.5];
        assert!(products_to_squared_distances(&mut p, &[9.0, 9.0], 4.0));
        assert_eq!(p, [1.0, 0.0]);
        assert!(!products_to_squared_distances(&mut [6.0], &[9.0], 4.0));
        assert!(products_to_squared_distances(&mut [f64::INFINITY], &[f64::INFINITY], 4.0));
    }

    #[test]
    fn a_combination_equals_plain_sums() {
        let (n, k, height) = (600, 11, 300);
        let columns: Vec<f64> = (0..n * k).map(|i| (i as f64 * 0.37).cos()).collect();
        let weights: Vec<f64> = (0..k).map(|k| k as f64 * 0.4).collect();
        let mut out = vec![7.0; height];
        add_combination(&mut out, &columns[5..], n, &weights);
        for (r, out) in out.iter().enumerate() {
            let plain: f64 = (0..k).map(|k| weights[k] * columns[5 + k * n + r]).sum();
            // Eleven additions of numbers below 30.
            assert!((out - 7.0 - plain).abs() < 1e-13);
        }
    }

    #[test]
    fn a_dot_product_with_a_rest() {
        let a: Vec<f64> = (0..37).map(f64::from).collect();
        // The sum of squares up to 36; whole numbers are exact.
        assert_eq!(dot(&a, &a), 36.0 * 37.0 * 73.0 / 6.0);
        assert_eq!(dot(&[], &[]), 0.0);
        let b: Vec<f64> = a.iter().map(|v| v + 2.0).collect();
        assert_eq!(squared_distance(&a, &b), 4.0 * 37.0);
        assert_eq!(absolute_distance(&a, &b), 2.0 * 37.0);
    }

    #[test]
    fn votes_go_to_the_bucket_of_their_row() {
        let mut votes = vec![[0u8; VOTERS]; 3];
        (votes[0][5], votes[1][5], votes[2][63]) = (1, 1, 1);
        let mut counts = vec![[0u16; VOTERS]; 2];
        count_votes(&mut counts, &[1, 1, 0], &votes);
        assert_eq!((counts[1][5], counts[0][5], counts[0][63]), (2, 0, 1));
    }

    #[test]
    fn one_step_of_the_factorisation_by_hand() {
        let (mut column, mut residual) = (vec![2.0, 1.0, 3.0], vec![1.0, 1.0, 2.0]);
        let extremes = scale_and_reduce(&mut column, 0.5, &mut residual);
        assert_eq!(column, [1.0, 0.5, 1.5]);
        assert_eq!(residual, [0.0, 0.75, 0.0]);
        assert_eq!(extremes, (-0.25, 0.75));
    }
}
