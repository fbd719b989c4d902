//! Inner loops that are worth compiling for the processor at hand.
//!
//! The crate is built for the oldest processor of its family, so that one wheel runs everywhere.
//! The few loops that carry the weight are compiled three times (AVX-512, AVX2 with FMA, plain) and
//! picked at run time. A value never depends on its place in the slice: heads and tails go through
//! the same operations as full vectors.

mod exp;

pub use exp::exp_scaled;

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
fn has_avx512() -> bool {
    use std::arch::is_x86_feature_detected;
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512bw")
}

/// `a * b + c`, fused where that is one instruction.
#[inline(always)]
fn multiply_add<const FMA: bool>(a: f64, b: f64, c: f64) -> f64 {
    if FMA { a.mul_add(b, c) } else { a * b + c }
}

vectorised! {
    /// `sum[i] += (x[i] - z)^2`
    pub fn add_squared_difference(sum: &mut [f64], x: &[f64], z: f64) {
        for (s, x) in sum.iter_mut().zip(x) {
            let difference = x - z;
            *s = multiply_add::<FMA>(difference, difference, *s);
        }
    }
}

vectorised! {
    /// `sum[i] += |x[i] - z|`
    pub fn add_absolute_difference(sum: &mut [f64], x: &[f64], z: f64) {
        for (s, x) in sum.iter_mut().zip(x) {
            *s += (x - z).abs();
        }
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

vectorised! {
    /// Turns inner products into squared distances: `p[i] = max(0, x[i] + z - 2 p[i])`.
    pub fn products_to_squared_distances(p: &mut [f64], x: &[f64], z: f64) {
        for (p, x) in p.iter_mut().zip(x) {
            let distance = multiply_add::<FMA>(-2.0, *p, x + z);
            *p = if distance < 0.0 { 0.0 } else { distance };
        }
    }
}

vectorised! {
    /// One step of a pivoted Cholesky factorisation on a run of rows: `column *= scale`, then
    /// `residual -= column^2`. Returns the smallest residual before it is clamped at zero.
    pub fn scale_and_reduce(column: &mut [f64], scale: f64, residual: &mut [f64]) -> f64 {
        let mut least = f64::INFINITY;
        for (c, d) in column.iter_mut().zip(residual) {
            *c *= scale;
            let left = multiply_add::<FMA>(-*c, *c, *d);
            least = if left < least { left } else { least };
            *d = if left < 0.0 { 0.0 } else { left };
        }
        least
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values must not depend on where in a slice they stand: heads, tails and full vectors agree.
    #[test]
    fn values_do_not_depend_on_their_place() {
        let x: Vec<f64> = (0..37).map(|i| (i as f64 * 0.77).sin() * 3.0).collect();
        let mut whole = vec![0.5; x.len()];
        add_squared_difference(&mut whole, &x, 0.3);
        add_scaled(&mut whole, 1.7, &x);
        for i in 0..x.len() {
            let mut one = [0.5];
            add_squared_difference(&mut one, &x[i..=i], 0.3);
            add_scaled(&mut one, 1.7, &x[i..=i]);
            assert_eq!(whole[i].to_bits(), one[0].to_bits());
        }
    }

    #[test]
    fn differences_by_hand() {
        let mut sum = vec![1.0, 1.0];
        add_squared_difference(&mut sum, &[3.0, 0.0], 1.0);
        assert_eq!(sum, [5.0, 2.0]);
        add_absolute_difference(&mut sum, &[3.0, 0.0], 1.0);
        assert_eq!(sum, [7.0, 3.0]);
        // |x|^2 = 9, |z|^2 = 4, <x, z> = 6: the points agree, and rounding may not go below zero.
        let mut p = vec![6.0, 6.5];
        products_to_squared_distances(&mut p, &[9.0, 9.0], 4.0);
        assert_eq!(p, [1.0, 0.0]);
    }

    #[test]
    fn one_step_of_the_factorisation_by_hand() {
        let (mut column, mut residual) = (vec![2.0, 1.0, 3.0], vec![1.0, 1.0, 2.0]);
        let least = scale_and_reduce(&mut column, 0.5, &mut residual);
        assert_eq!(column, [1.0, 0.5, 1.5]);
        assert_eq!(residual, [0.0, 0.75, 0.0]);
        assert_eq!(least, -0.25);
    }
}
