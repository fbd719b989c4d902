//! Vectorized sine and cosine.
//!
//! With $x = n \pi / 2 + r$, $|r| \le \pi / 4$, both follow from sine and cosine of $r$, computed by Taylor polynomials whose first
//! neglected terms are below 1e-16. $\pi / 2$ is split in three, which keeps $r$ accurate for $|x|$ up to a million.

use super::dispatch::{multiply_add, vectorized};

const TWO_OVER_PI: f64 = std::f64::consts::FRAC_2_PI;
/// $\pi / 2$ in three parts; the low bits of the first two are zero, so that small multiples are exact.
const HIGH: f64 = f64::from_bits(0x3FF9_21FB_5440_0000);
const MIDDLE: f64 = f64::from_bits(0x3DD0_B461_1A60_0000);
const LOW: f64 = 2.022_266_248_795_950_6e-21;
/// Adding this constant rounds to an integer and leaves it in the low bits.
const ROUND: f64 = 6_755_399_441_055_744.0; // 1.5 * 2^52

/// -1/3!, 1/5!, ..., 1/17!, in reverse order.
const SINE: [f64; 8] = [
    1.0 / 355_687_428_096_000.0,
    -1.0 / 1_307_674_368_000.0,
    1.0 / 6_227_020_800.0,
    -1.0 / 39_916_800.0,
    1.0 / 362_880.0,
    -1.0 / 5_040.0,
    1.0 / 120.0,
    -1.0 / 6.0,
];
/// -1/2!, 1/4!, ..., 1/16!, in reverse order.
const COSINE: [f64; 8] = [
    1.0 / 20_922_789_888_000.0,
    -1.0 / 87_178_291_200.0,
    1.0 / 479_001_600.0,
    -1.0 / 3_628_800.0,
    1.0 / 40_320.0,
    -1.0 / 720.0,
    1.0 / 24.0,
    -0.5,
];

vectorized! {
    /// Writes the sine of `v[i]` to `sine[i]` and replaces `v[i]` by its cosine. The error is below 1e-15 for angles up to a
    /// million.
    pub fn sin_cos(v: &mut [f64], sine: &mut [f64]) {
        for (value, sine) in v.iter_mut().zip(sine) {
            let x = *value;
            let shifted = multiply_add::<FMA>(x, TWO_OVER_PI, ROUND);
            let n = shifted - ROUND;
            let r = multiply_add::<FMA>(-n, HIGH, x);
            let r = multiply_add::<FMA>(-n, MIDDLE, r);
            let r = multiply_add::<FMA>(-n, LOW, r);
            let square = r * r;
            let (mut s, mut c) = (SINE[0], COSINE[0]);
            for i in 1..8 {
                s = multiply_add::<FMA>(s, square, SINE[i]);
                c = multiply_add::<FMA>(c, square, COSINE[i]);
            }
            let s = multiply_add::<FMA>(s * square, r, r);
            let c = multiply_add::<FMA>(c, square, 1.0);
            // The quadrant: swap sine and cosine in odd ones, and set signs.
            let quadrant = shifted.to_bits();
            let odd = quadrant & 1 == 1;
            let (a, b) = if odd { (c, s) } else { (s, c) };
            let flip_sine = (quadrant & 2) << 62;
            let flip_cosine = (quadrant.wrapping_add(1) & 2) << 62;
            *sine = f64::from_bits(a.to_bits() ^ flip_sine);
            *value = f64::from_bits(b.to_bits() ^ flip_cosine);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sin_cos_agrees_with_std() {
        let mut worst = 0.0_f64;
        for i in -200_000..200_000 {
            let x = f64::from(i) * 0.0137;
            for x in [x, x * 300.0] {
                let (mut v, mut sine) = ([x], [0.0]);
                sin_cos(&mut v, &mut sine);
                worst = worst.max((v[0] - x.cos()).abs()).max((sine[0] - x.sin()).abs());
            }
        }
        // A few units in the last place of numbers up to one.
        assert!(worst < 1e-15, "{worst}");
    }

    #[test]
    fn nan_and_infinity_give_nan() {
        let (mut v, mut sine) = ([f64::NAN, f64::INFINITY], [0.0; 2]);
        sin_cos(&mut v, &mut sine);
        assert!(v.iter().chain(&sine).all(|v| v.is_nan()));
    }
}
