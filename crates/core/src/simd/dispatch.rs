//! Compiles loops for several instruction sets and selects one at run time.

/// Number of independent accumulators; a single one would serialize all additions.
pub(super) const LANES: usize = 16;

/// Compiles a loop for several instruction sets and selects one at run time.
///
/// In the body, the constant `FMA` is true if fused multiply-add is a single instruction.
macro_rules! vectorized {
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
                    // SAFETY: the check above found the required CPU features.
                    return unsafe { avx512($($arg),*) };
                }
                if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
                    // SAFETY: the check above found the required CPU features.
                    return unsafe { avx2($($arg),*) };
                }
            }
            body::<{ cfg!(target_arch = "aarch64") }>($($arg),*)
        }
    };
}
pub(crate) use vectorized;

#[cfg(target_arch = "x86_64")]
pub(crate) fn has_avx512() -> bool {
    use std::arch::is_x86_feature_detected;
    use std::sync::LazyLock;
    // Cached: five checks per call would slow down short loops.
    static FOUND: LazyLock<bool> = LazyLock::new(|| {
        is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("fma")
    });
    *FOUND
}

/// `a * b + c`, fused where fused multiply-add is a single instruction.
#[inline(always)]
pub(super) fn multiply_add<const FMA: bool>(a: f64, b: f64, c: f64) -> f64 {
    if FMA { a.mul_add(b, c) } else { a * b + c }
}
