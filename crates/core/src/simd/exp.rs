//! Vectorized exponential, and sums of Gaussian kernels.
//!
//! With `x = n ln 2 + r`, `|r| <= ln 2 / 2`, `exp x = 2^n exp r`. `ln 2` is split in two, which keeps the error of `r` well
//! below an ulp; `exp r` is the Taylor polynomial of degree 13, whose first neglected term is below 5e-18; `2^n` is written into
//! the exponent bits.

use super::dispatch::{LANES, multiply_add, vectorized};
use super::sums::reduce;

/// Number of partial sums of [`gaussian_sum_f32`].
pub const F32_LANES: usize = 32;
/// Number of partial sums of [`add_scaled_and_dot_f32`] and [`add_gaussian_products_f32`]: with more of them the loop runs out
/// of registers.
pub const F32_SUM_LANES: usize = LANES;
/// Relative error bound of a kernel value in [`gaussian_sum_f32`]: four roundings in the polynomial, and four more where
/// multiplications and additions round separately.
pub const F32_KERNEL_ERROR: f64 = 8.0 * F32_UNIT_ROUNDOFF;
/// Unit roundoff of single precision, 2^-24.
pub const F32_UNIT_ROUNDOFF: f64 = 1.0 / 16_777_216.0;

const LOG2_E: f64 = std::f64::consts::LOG2_E;
/// `ln 2` with the low 20 bits cleared, so that `n * LN2_HIGH` is exact, and the rest.
const LN2_HIGH: f64 = f64::from_bits(0x3FE6_2E42_FEE0_0000);
const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
/// Adding this constant rounds to an integer and leaves it in the low bits.
const ROUND: f64 = 6_755_399_441_055_744.0; // 1.5 * 2^52

/// Below this exponent the result is less than the smallest normal number and 0 is returned.
const MIN_EXPONENT: f64 = -708.0;
/// Above this exponent the result is infinite.
const MAX_EXPONENT: f64 = 709.0;

/// 1/13!, 1/12!, ..., 1/2!, 1, 1.
const TAYLOR: [f64; 14] = [
    1.0 / 6_227_020_800.0,
    1.0 / 479_001_600.0,
    1.0 / 39_916_800.0,
    1.0 / 3_628_800.0,
    1.0 / 362_880.0,
    1.0 / 40_320.0,
    1.0 / 5_040.0,
    1.0 / 720.0,
    1.0 / 120.0,
    1.0 / 24.0,
    1.0 / 6.0,
    0.5,
    1.0,
    1.0,
];

vectorized! {
    /// `v[i] = exp(scale * v[i])`, within 2 units in the last place.
    ///
    /// Results below the smallest normal number become 0, results above `exp(709)` infinity.
    pub fn exp_scaled(v: &mut [f64], scale: f64) {
        for value in v.iter_mut() {
            *value = exp::<FMA>(scale * *value);
        }
    }
}

vectorized! {
    /// `sum_j weights[j] exp(-gamma (base[j] + sign (x[j] - z)^2))`: the weighted sum of a row of a Gaussian kernel matrix after
    /// adding a feature (`sign = 1`) or removing one (`sign = -1`). The order of summation does not depend on the processor.
    pub fn kernel_sum(weights: &[f64], base: &[f64], x: &[f64], z: f64, gamma: f64, sign: f64) -> f64 {
        let term = |w: f64, b: f64, x: f64, sum: f64| {
            let distance = multiply_add::<FMA>(sign * (x - z), x - z, b);
            multiply_add::<FMA>(w, exp::<FMA>(-gamma * distance), sum)
        };
        let (weights, weights_rest) = weights.as_chunks::<LANES>();
        let (base, base_rest) = base.as_chunks::<LANES>();
        let (x, x_rest) = x.as_chunks::<LANES>();
        let mut sums = [0.0; LANES];
        for ((w, b), x) in weights.iter().zip(base).zip(x) {
            for i in 0..LANES {
                sums[i] = term(w[i], b[i], x[i], sums[i]);
            }
        }
        for (sum, ((w, b), x)) in sums.iter_mut().zip(weights_rest.iter().zip(base_rest).zip(x_rest)) {
            *sum = term(*w, *b, *x, *sum);
        }
        reduce(sums)
    }
}

vectorized! {
    /// `sum_j weights[j] exp(-gamma (x[j] - z)^2)`, in the same order of summation as [`kernel_sum`]. Kernel values are at least
    /// the smallest normal number.
    pub fn gaussian_sum(weights: &[f64], x: &[f64], z: f64, gamma: f64) -> f64 {
        let term = |w: f64, x: f64, sum: f64| {
            let exponent = -gamma * (x - z) * (x - z);
            let exponent = if exponent < MIN_EXPONENT { MIN_EXPONENT } else { exponent };
            multiply_add::<FMA>(w, exp_in_range::<FMA>(exponent), sum)
        };
        reduce(sums_in_lanes(weights, x, term))
    }
}

/// Minimax polynomial for `2^r`, `|r| <= 1/2`; its relative error is at most 1.3 times [`F32_UNIT_ROUNDOFF`].
const POWER_OF_TWO: [f32; 6] =
    [0.001_327_647_1, 0.009_675_541, 0.055_507_13, 0.240_221_2, 0.693_146_94, 1.000_000_1];
/// Adding this constant rounds a single-precision number to an integer and leaves it in the low bits.
const F32_ROUND: f32 = 12_582_912.0; // 1.5 * 2^23
/// Below this exponent the result would not be a normal number in single precision.
const F32_MIN_EXPONENT: f32 = -125.0;

vectorized! {
    /// `sum_j weights[j] 2^(scale (x[j] - z)^2)` with `scale < 0` in single precision, at a third of the cost of
    /// [`gaussian_sum`]. Uses [`F32_LANES`] partial sums. Kernel values are at least `2^-125`.
    pub fn gaussian_sum_f32(weights: &[f32], x: &[f32], z: f32, scale: f32) -> f64 {
        let term = |w: f32, x: f32, sum: f32| {
            let exponent = (x - z) * scale * (x - z);
            let exponent = if exponent < F32_MIN_EXPONENT { F32_MIN_EXPONENT } else { exponent };
            multiply_add_f32::<FMA>(w, power_of_two::<FMA>(exponent), sum)
        };
        let sums: [f32; F32_LANES] = sums_in_lanes(weights, x, term);
        sums.iter().map(|&sum| f64::from(sum)).sum()
    }
}

/// Exponents below this are raised to it in [`gaussian_products_f32`] and [`power_products_f32`], so that products of two
/// such powers are normal numbers; subnormal ones are slow.
const F32_MIN_FACTOR_EXPONENT: f32 = -60.0;
/// The smallest power in [`gaussian_products_f32`] and [`power_products_f32`], `2^-60`.
pub const F32_MIN_FACTOR: f32 = 1.0 / (1_u64 << 60) as f32;

vectorized! {
    /// `out[j] = base[j] 2^(scale (x[j] - z)^2)` with `scale < 0`: kernel values after adding a feature, in single precision.
    /// Kernel values are at least [`F32_MIN_FACTOR`].
    pub fn gaussian_products_f32(base: &[f32], x: &[f32], z: f32, scale: f32, out: &mut [f32]) {
        for ((out, b), x) in out.iter_mut().zip(base).zip(x) {
            *out = b * power_of_two::<FMA>(raised((x - z) * scale * (x - z)));
        }
    }
}

vectorized! {
    /// `out[j] = base[j] 2^out[j]` for exponents up to 0. Powers are at least [`F32_MIN_FACTOR`].
    pub fn power_products_f32(base: &[f32], out: &mut [f32]) {
        for (out, b) in out.iter_mut().zip(base) {
            *out = b * power_of_two::<FMA>(raised(*out));
        }
    }
}

vectorized! {
    /// `sum[j] += scale (x[j] - z)^2` in single precision.
    pub fn add_scaled_squares_f32(sum: &mut [f32], x: &[f32], z: f32, scale: f32) {
        for (sum, x) in sum.iter_mut().zip(x) {
            *sum = multiply_add_f32::<FMA>((x - z) * scale, x - z, *sum);
        }
    }
}

vectorized! {
    /// `sums[j] += weight w[j]`; returns `sum_j weights[j] w[j]`, with [`F32_SUM_LANES`] partial sums.
    pub fn add_scaled_and_dot_f32(w: &[f32], weights: &[f32], weight: f32, sums: &mut [f32]) -> f64 {
        let (blocks, rest) = w.as_chunks::<LANES>();
        let (weight_blocks, weight_rest) = weights.as_chunks::<LANES>();
        let (sum_blocks, sum_rest) = sums.as_chunks_mut::<LANES>();
        let mut lanes = [0.0_f32; LANES];
        for ((w, v), s) in blocks.iter().zip(weight_blocks).zip(sum_blocks) {
            for i in 0..LANES {
                lanes[i] = multiply_add_f32::<FMA>(v[i], w[i], lanes[i]);
                s[i] = multiply_add_f32::<FMA>(weight, w[i], s[i]);
            }
        }
        for (lane, ((w, v), s)) in lanes.iter_mut().zip(rest.iter().zip(weight_rest).zip(sum_rest)) {
            *lane = multiply_add_f32::<FMA>(*v, *w, *lane);
            *s = multiply_add_f32::<FMA>(weight, *w, *s);
        }
        reduce(lanes.map(f64::from))
    }
}

vectorized! {
    /// [`gaussian_products_f32`] and [`add_scaled_and_dot_f32`] at once, without storing the products.
    pub fn add_gaussian_products_f32(
        base: &[f32],
        x: &[f32],
        place: (f32, f32),
        weights: &[f32],
        weight: f32,
        sums: &mut [f32],
    ) -> f64 {
        let (z, scale) = place;
        let product = |b: f32, x: f32| b * power_of_two::<FMA>(raised((x - z) * scale * (x - z)));
        let (base, base_rest) = base.as_chunks::<LANES>();
        let (x, x_rest) = x.as_chunks::<LANES>();
        let (weights, weights_rest) = weights.as_chunks::<LANES>();
        let (sums, sums_rest) = sums.as_chunks_mut::<LANES>();
        let mut lanes = [0.0_f32; LANES];
        for (((b, x), v), s) in base.iter().zip(x).zip(weights).zip(sums) {
            for i in 0..LANES {
                let w = product(b[i], x[i]);
                lanes[i] = multiply_add_f32::<FMA>(v[i], w, lanes[i]);
                s[i] = multiply_add_f32::<FMA>(weight, w, s[i]);
            }
        }
        let rest = base_rest.iter().zip(x_rest).zip(weights_rest).zip(sums_rest);
        for (lane, (((b, x), v), s)) in lanes.iter_mut().zip(rest) {
            let w = product(*b, *x);
            *lane = multiply_add_f32::<FMA>(*v, w, *lane);
            *s = multiply_add_f32::<FMA>(weight, w, *s);
        }
        reduce(lanes.map(f64::from))
    }
}

#[inline(always)]
fn raised(exponent: f32) -> f32 {
    if exponent < F32_MIN_FACTOR_EXPONENT { F32_MIN_FACTOR_EXPONENT } else { exponent }
}

/// `2^exponent` in single precision for exponents from [`F32_MIN_EXPONENT`] to 0.
#[inline(always)]
fn power_of_two<const FMA: bool>(exponent: f32) -> f32 {
    let shifted = exponent + F32_ROUND;
    let r = exponent - (shifted - F32_ROUND);
    let mut p = POWER_OF_TWO[0];
    for coefficient in &POWER_OF_TWO[1..] {
        p = multiply_add_f32::<FMA>(p, r, *coefficient);
    }
    f32::from_bits(p.to_bits().wrapping_add(shifted.to_bits() << 23))
}

/// Partial sums of terms. The remaining terms are added to the first lanes: separate groups, as in `sum_of_terms`, would
/// each need a copy of the exponential.
#[inline(always)]
fn sums_in_lanes<T: Copy + Default, const N: usize>(a: &[T], b: &[T], add: impl Fn(T, T, T) -> T) -> [T; N] {
    let (a, a_rest) = a.as_chunks::<N>();
    let (b, b_rest) = b.as_chunks::<N>();
    let mut sums = [T::default(); N];
    for (a, b) in a.iter().zip(b) {
        for i in 0..N {
            sums[i] = add(a[i], b[i], sums[i]);
        }
    }
    for (sum, (a, b)) in sums.iter_mut().zip(a_rest.iter().zip(b_rest)) {
        *sum = add(*a, *b, *sum);
    }
    sums
}

/// `a * b + c` in single precision, fused where fused multiply-add is a single instruction.
#[inline(always)]
fn multiply_add_f32<const FMA: bool>(a: f32, b: f32, c: f32) -> f32 {
    if FMA { a.mul_add(b, c) } else { a * b + c }
}

/// The exponential of one number, for use inside other loops.
#[inline(always)]
pub(super) fn exp<const FMA: bool>(x: f64) -> f64 {
    // Selects instead of branches, so that the loop vectorizes; NaN propagates.
    let clamped = if x < MIN_EXPONENT { MIN_EXPONENT } else { x };
    let clamped = if clamped > MAX_EXPONENT { MAX_EXPONENT } else { clamped };
    let result = exp_in_range::<FMA>(clamped);
    let result = if x < MIN_EXPONENT { 0.0 } else { result };
    if x > MAX_EXPONENT { f64::INFINITY } else { result }
}

/// The exponential of `x` in `MIN_EXPONENT..=MAX_EXPONENT`.
#[inline(always)]
fn exp_in_range<const FMA: bool>(x: f64) -> f64 {
    let shifted = multiply_add::<FMA>(x, LOG2_E, ROUND);
    let n = shifted - ROUND;
    let r = multiply_add::<FMA>(-n, LN2_HIGH, x);
    let r = multiply_add::<FMA>(-n, LN2_LOW, r);
    let mut p = TAYLOR[0];
    for coefficient in &TAYLOR[1..] {
        p = multiply_add::<FMA>(p, r, *coefficient);
    }
    let power = f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52);
    p * power
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ulps(a: f64, b: f64) -> u64 {
        a.to_bits().abs_diff(b.to_bits())
    }

    #[test]
    fn within_two_ulps_of_std_over_the_full_range() {
        let mut worst = 0;
        let n = 400_000;
        for i in 0..n {
            let x = -708.0 + 1416.0 * i as f64 / n as f64;
            let mut v = [x];
            exp_scaled(&mut v, 1.0);
            worst = worst.max(ulps(v[0], x.exp()));
            // Near zero, where most kernel exponents are.
            let small = -(i as f64) / n as f64;
            let mut v = [small];
            exp_scaled(&mut v, 1.0);
            worst = worst.max(ulps(v[0], small.exp()));
        }
        // One ulp from the polynomial and its scaling, one from the rounding of std.
        assert!(worst <= 2, "{worst} ulps");
    }

    #[test]
    fn overflow_underflow_and_nan() {
        let mut v = [0.0, -0.0, -1000.0, f64::NEG_INFINITY, f64::INFINITY, f64::NAN, 710.0];
        exp_scaled(&mut v, 1.0);
        assert_eq!(&v[..5], &[1.0, 1.0, 0.0, 0.0, f64::INFINITY]);
        assert!(v[5].is_nan());
        assert_eq!(v[6], f64::INFINITY);
    }

    #[test]
    fn kernel_sums_equal_plain_sums() {
        let mut rng = crate::random::Rng::new(8);
        for n in [0, 1, 15, 16, 17, 100] {
            let mut draw = || (0..n).map(|_| rng.normal()).collect::<Vec<f64>>();
            let (weights, x) = (draw(), draw());
            let base: Vec<f64> = draw().iter().map(|v| 4.0 + v * v).collect();
            for sign in [1.0, -1.0] {
                let plain: f64 =
                    (0..n).map(|j| weights[j] * (-0.3 * (base[j] + sign * (x[j] - 0.5).powi(2))).exp()).sum();
                // Rounding of a hundred terms of order one.
                assert!((kernel_sum(&weights, &base, &x, 0.5, 0.3, sign) - plain).abs() < 1e-13, "{n}");
            }
            // One point so far away that its kernel value underflows.
            let far: Vec<f64> = x.iter().enumerate().map(|(j, v)| if j == 3 { 1e3 } else { *v }).collect();
            let plain: f64 = (0..n).map(|j| weights[j] * (-0.3 * (far[j] - 0.5).powi(2)).exp()).sum();
            assert!((gaussian_sum(&weights, &far, 0.5, 0.3) - plain).abs() < 1e-13, "{n}");
        }
    }

    #[test]
    fn f32_kernels_are_within_the_stated_error() {
        // One kernel at a time, over exponents from 0 to the smallest.
        for i in 0..200_000 {
            let (x, scale) = (i as f32 * 5e-5, -1.25_f32);
            let single = gaussian_sum_f32(&[1.0], &[x], 0.0, scale);
            let exponent = f64::from(x * scale * x);
            let exact = exponent.max(-125.0).exp2();
            assert!((single / exact - 1.0).abs() <= F32_KERNEL_ERROR, "{x}: {single}, exact {exact}");
        }
        assert_eq!(gaussian_sum_f32(&[], &[], 0.0, -1.0), 0.0);
        let tiny = gaussian_sum_f32(&[3.0], &[1e30], -1e30, -1.0);
        assert!(tiny > 0.0 && tiny < 1e-36, "{tiny}");
    }

    #[test]
    fn f32_sums_equal_plain_sums() {
        let mut rng = crate::random::Rng::new(9);
        for n in [0, 1, 31, 32, 33, 100, 1000] {
            let mut draw = || (0..n).map(|_| rng.normal() as f32).collect::<Vec<f32>>();
            let (weights, x) = (draw(), draw());
            let (z, scale) = (0.5_f32, -0.3_f32);
            let exact: f64 = (0..n)
                .map(|j| f64::from(weights[j]) * (f64::from(scale) * f64::from(x[j] - z).powi(2)).exp2())
                .sum();
            let all: f64 = weights.iter().map(|w| f64::from(w.abs())).sum();
            // Each kernel value, two roundings of its exponent, which is above -8, and one per addition to a partial sum.
            let allowed =
                all * (F32_KERNEL_ERROR + (16.0 + 2.0 + (n / F32_LANES) as f64) * F32_UNIT_ROUNDOFF);
            let single = gaussian_sum_f32(&weights, &x, z, scale);
            assert!((single - exact).abs() <= allowed, "{n}: {single}, exact {exact}");
        }
    }

    #[test]
    fn f32_products_equal_plain_products() {
        let mut rng = crate::random::Rng::new(10);
        for n in [0, 1, 31, 32, 33, 100] {
            let mut draw = || (0..n).map(|_| rng.uniform() as f32).collect::<Vec<f32>>();
            let (base, x, weights) = (draw(), draw(), draw());
            let (z, scale) = (0.5_f32, -3.0_f32);
            let mut products = vec![0.0; n];
            gaussian_products_f32(&base, &x, z, scale, &mut products);
            let mut again = vec![0.0; n];
            add_scaled_squares_f32(&mut again, &x, z, scale);
            power_products_f32(&base, &mut again);
            let mut sums = vec![1.0; n];
            let sum = add_scaled_and_dot_f32(&products, &weights, 2.0, &mut sums);
            let mut fused = vec![1.0; n];
            // The same operations in the same order.
            assert_eq!(add_gaussian_products_f32(&base, &x, (z, scale), &weights, 2.0, &mut fused), sum);
            assert_eq!(fused, sums);
            let exact =
                |j: usize| f64::from(base[j]) * (f64::from(scale) * f64::from(x[j] - z).powi(2)).exp2();
            // Each kernel value, three roundings of its exponent, which is above -1, and a product of two numbers below 1.
            let allowed = F32_KERNEL_ERROR + 4.0 * F32_UNIT_ROUNDOFF;
            for j in 0..n {
                assert!((f64::from(products[j]) - exact(j)).abs() <= allowed, "{n} {j}");
                assert!((f64::from(again[j]) - exact(j)).abs() <= allowed, "{n} {j}");
                // One more rounding of a number below 4.
                let added = 1.0 + 2.0 * f64::from(products[j]);
                assert!((f64::from(sums[j]) - added).abs() <= 4.0 * F32_UNIT_ROUNDOFF, "{n} {j}");
            }
            let plain: f64 = (0..n).map(|j| f64::from(weights[j]) * f64::from(products[j])).sum();
            // One rounding per addition to a partial sum of at most 4.
            assert!((sum - plain).abs() <= 16.0 * 32.0 * F32_UNIT_ROUNDOFF, "{n}");
        }
        // Far values have the smallest power.
        let mut far = [0.0];
        gaussian_products_f32(&[1.0], &[1e30], -1e30, -1.0, &mut far);
        assert!((f64::from(far[0] / F32_MIN_FACTOR) - 1.0).abs() <= F32_KERNEL_ERROR);
    }

    #[test]
    fn baseline_and_fused_forms_agree() {
        for i in 0..10_000 {
            let x = -i as f64 * 0.05;
            assert!(ulps(super::exp::<true>(x), super::exp::<false>(x)) <= 2);
        }
    }
}
