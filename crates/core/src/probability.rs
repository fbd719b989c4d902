//! Tail probabilities and quantiles.

/// Survival function $P(F > f)$ of the F distribution with `a` and `b` degrees of freedom.
pub fn f_upper_tail(f: f64, a: f64, b: f64) -> f64 {
    if f <= 0.0 {
        return 1.0;
    }
    incomplete_beta(b / 2.0, a / 2.0, b / (b + a * f))
}

/// Survival function $P(X > x)$ of the chi-squared distribution with `k` degrees of freedom; 1 if `k` is 0.
pub fn chi_squared_upper_tail(x: f64, k: f64) -> f64 {
    if x <= 0.0 || k <= 0.0 {
        return 1.0;
    }
    incomplete_gamma_upper(k / 2.0, x / 2.0)
}

/// Logarithm of [`f_upper_tail`], also where the probability is too small for a floating-point number.
pub fn ln_f_upper_tail(f: f64, a: f64, b: f64) -> f64 {
    if f <= 0.0 {
        return 0.0;
    }
    let (p, q, x) = (b / 2.0, a / 2.0, b / (b + a * f));
    // The same condition as in `incomplete_beta`: then the probability is not small.
    if x <= 0.0 || x > (p + 1.0) / (p + q + 2.0) {
        return incomplete_beta(p, q, x).ln();
    }
    ln_beta_front(p, q, x) + beta_fraction(p, q, x).ln()
}

/// Logarithm of [`chi_squared_upper_tail`], also where the probability is too small for a floating-point number.
pub fn ln_chi_squared_upper_tail(x: f64, k: f64) -> f64 {
    let (a, half) = (k / 2.0, x / 2.0);
    if x <= 0.0 || k <= 0.0 || half < a + 1.0 || x == f64::INFINITY {
        return chi_squared_upper_tail(x, k).ln();
    }
    a * half.ln() - half - ln_gamma(a) + gamma_fraction(a, half).ln()
}

/// Upper quantile of the standard normal distribution: the $z$ with $P(Z > z) = p$, for `p` up to 0.5.
pub fn normal_upper_quantile(p: f64) -> f64 {
    // Bisection: the tail is half that of the squared variable, which has a chi-squared distribution.
    let (mut low, mut high) = (0.0, 40.0);
    for _ in 0..100 {
        let middle: f64 = (low + high) / 2.0;
        if chi_squared_upper_tail(middle * middle, 1.0) / 2.0 > p { low = middle } else { high = middle }
    }
    high
}

/// Survival function of the studentized range of `k` standard normal variables with known variance (infinitely many degrees of
/// freedom): the probability that the largest exceeds the smallest by more than `q`,
///
/// $$ 1 - k \int \varphi(z) \bigl(\Phi(z) - \Phi(z - q)\bigr)^{k-1} dz $$
pub fn studentized_range_upper_tail(q: f64, k: usize) -> f64 {
    if q <= 0.0 {
        return 1.0;
    }
    // The trapezoidal rule converges exponentially for analytic functions that vanish at both ends.
    const STEP: f64 = 1.0 / 16.0;
    const END: i32 = 16 * 9;
    let normal = |z: f64| {
        let tail = 0.5 * chi_squared_upper_tail(z * z, 1.0);
        if z > 0.0 { 1.0 - tail } else { tail }
    };
    let density = |z: f64| (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let value = |z: f64| density(z) * (normal(z) - normal(z - q)).powf((k as f64) - 1.0);
    let sum: f64 = (-END..=END).map(|i| value(f64::from(i) * STEP)).sum();
    (1.0 - k as f64 * STEP * sum).clamp(0.0, 1.0)
}

/// Upper quantile of the studentized range, see [`studentized_range_upper_tail`].
pub fn studentized_range_upper_quantile(p: f64, k: usize) -> f64 {
    let (mut low, mut high) = (0.0, 20.0);
    for _ in 0..50 {
        let middle = (low + high) / 2.0;
        if studentized_range_upper_tail(middle, k) > p { low = middle } else { high = middle }
    }
    high
}

/// The regularized upper incomplete gamma function $Q(a, x)$.
pub fn incomplete_gamma_upper(a: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 1.0;
    }
    if x == f64::INFINITY {
        return 0.0;
    }
    let front = (a * x.ln() - x - ln_gamma(a)).exp();
    // The series converges fast for small x, the continued fraction for large x.
    if x < a + 1.0 { 1.0 - front * gamma_series(a, x) } else { front * gamma_fraction(a, x) }
}

/// $\sum_n x^n / (a (a + 1) \cdots (a + n))$
fn gamma_series(a: f64, x: f64) -> f64 {
    let (mut term, mut sum, mut below) = (1.0 / a, 1.0 / a, a);
    // About sqrt(a) terms suffice.
    for _ in 0..1_000_000 {
        below += 1.0;
        term *= x / below;
        sum += term;
        if term < sum * 1e-16 {
            break;
        }
    }
    sum
}

/// The continued fraction of the upper incomplete gamma function (Lentz's method).
fn gamma_fraction(a: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let guard = |v: f64| if v.abs() < TINY { TINY } else { v };
    let mut b = x + 1.0 - a;
    let (mut c, mut d) = (1.0 / TINY, 1.0 / guard(b));
    let mut value = d;
    for i in 1..1_000_000 {
        let i = f64::from(i);
        let numerator = -i * (i - a);
        b += 2.0;
        d = 1.0 / guard(numerator * d + b);
        c = guard(b + numerator / c);
        value *= c * d;
        if (c * d - 1.0).abs() < 1e-15 {
            break;
        }
    }
    value
}

/// The regularized incomplete beta function $I_x(a, b)$.
pub fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    // The continued fraction converges fast only for small x; large x follows by symmetry.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(b, a, 1.0 - x);
    }
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (1.0 - x).ln()).exp() / a;
    front * beta_fraction(a, b, x)
}

/// The logarithm of the factor before the continued fraction of the incomplete beta function.
fn ln_beta_front(a: f64, b: f64, x: f64) -> f64 {
    ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (1.0 - x).ln() - a.ln()
}

/// The continued fraction of the incomplete beta function (Lentz's method).
fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let guard = |v: f64| if v.abs() < TINY { TINY } else { v };
    let mut c = 1.0;
    let mut d = 1.0 / guard(1.0 - (a + b) * x / (a + 1.0));
    let mut value = d;
    // About sqrt(max(a, b)) terms suffice.
    for m in 1..100_000 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for term in [even, odd] {
            d = 1.0 / guard(1.0 + term * d);
            c = guard(1.0 + term / c);
            change = c * d;
            value *= change;
        }
        if (change - 1.0).abs() < 1e-15 {
            break;
        }
    }
    value
}

/// $\ln \Gamma(x)$ for $x > 0$: Stirling's series after shifting the argument above 15, where its first
/// neglected term is below 1e-17.
pub fn ln_gamma(x: f64) -> f64 {
    let (mut x, mut shift) = (x, 0.0);
    while x < 15.0 {
        shift += x.ln();
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    let series = (1.0 / 12.0
        - square
            * (1.0 / 360.0
                - square
                    * (1.0 / 1260.0
                        - square * (1.0 / 1680.0 - square * (1.0 / 1188.0 - square * 691.0 / 360_360.0)))))
        / x;
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series - shift
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ln_gamma_of_factorials_and_halves() {
        // Gamma(n) = (n-1)!, Gamma(1/2) = sqrt(pi). Shifting adds up to 15 logarithms: a few ulps of 28.
        let mut factorial = 1.0_f64;
        for n in 1..25 {
            assert!((ln_gamma(f64::from(n)) - factorial.ln()).abs() < 1e-13, "{n}");
            factorial *= f64::from(n);
        }
        assert!((ln_gamma(0.5) - std::f64::consts::PI.sqrt().ln()).abs() < 1e-14);
    }

    #[test]
    fn incomplete_beta_in_closed_form() {
        // I_x(1, b) = 1 - (1-x)^b and I_x(a, 1) = x^a; I_x(2, 2) = 3x^2 - 2x^3.
        for x in [0.01, 0.3, 0.5, 0.77, 0.99] {
            assert!((incomplete_beta(1.0, 7.0, x) - (1.0 - (1.0 - x).powi(7))).abs() < 1e-14);
            assert!((incomplete_beta(5.0, 1.0, x) - x.powi(5)).abs() < 1e-14);
            assert!((incomplete_beta(2.0, 2.0, x) - (3.0 * x * x - 2.0 * x * x * x)).abs() < 1e-14);
        }
    }

    #[test]
    fn chi_squared_tail_in_closed_form() {
        // Two degrees of freedom: exp(-x/2); four: (1 + x/2) exp(-x/2). Covers series, continued fraction and far tail.
        for x in [0.01_f64, 0.7, 2.9, 3.1, 8.0, 60.0, 600.0] {
            let half = x / 2.0;
            assert!((chi_squared_upper_tail(x, 2.0) / (-half).exp() - 1.0).abs() < 1e-12, "{x}");
            assert!(
                (chi_squared_upper_tail(x, 4.0) / ((1.0 + half) * (-half).exp()) - 1.0).abs() < 1e-12,
                "{x}"
            );
        }
        // The median of one degree is 0.454936..., the 95% point of ten degrees 18.307038.
        assert!((chi_squared_upper_tail(0.454_936_423_119_572_8, 1.0) - 0.5).abs() < 1e-12);
        assert!((chi_squared_upper_tail(18.307_038_053_275_146, 10.0) - 0.05).abs() < 1e-12);
        assert_eq!((chi_squared_upper_tail(0.0, 3.0), chi_squared_upper_tail(5.0, 0.0)), (1.0, 1.0));
        assert_eq!(chi_squared_upper_tail(f64::INFINITY, 3.0), 0.0);
    }

    #[test]
    fn logarithms_of_tails() {
        for x in [0.01_f64, 0.7, 8.0, 60.0] {
            for k in [1.0, 2.0, 16.0] {
                let tail = chi_squared_upper_tail(x, k);
                // Both are accurate to about 1e-14 relative to the tail.
                assert!((ln_chi_squared_upper_tail(x, k) - tail.ln()).abs() < 1e-12, "{x} {k}");
                let tail = f_upper_tail(x, k, 30.0);
                assert!((ln_f_upper_tail(x, k, 30.0) - tail.ln()).abs() < 1e-12, "{x} {k}");
            }
        }
        // Beyond the smallest number: exp(-x/2), and (1 + 2f/b)^(-b/2) with two numerator degrees of freedom.
        assert!((ln_chi_squared_upper_tail(1e5, 2.0) / -5e4 - 1.0).abs() < 1e-14);
        let expected = -1000.0 * (1.0 + 2.0 * 5000.0 / 2000.0_f64).ln();
        assert!((ln_f_upper_tail(5000.0, 2.0, 2000.0) / expected - 1.0).abs() < 1e-12);
        assert_eq!((ln_f_upper_tail(0.0, 2.0, 5.0), ln_chi_squared_upper_tail(0.0, 3.0)), (0.0, 0.0));
        assert_eq!(ln_f_upper_tail(f64::INFINITY, 2.0, 5.0), f64::NEG_INFINITY);
    }

    #[test]
    fn normal_quantiles() {
        // Tabulated to six decimals.
        for (p, z) in [(0.5, 0.0), (0.025, 1.959_964), (0.001, 3.090_232), (1e-6, 4.753_424)] {
            assert!((normal_upper_quantile(p) - z).abs() < 1e-6, "{p}");
        }
    }

    #[test]
    fn studentized_range() {
        // Two variables: their difference is normal with variance 2.
        for q in [0.3_f64, 1.0, 2.77, 6.0] {
            let expected = chi_squared_upper_tail(q * q / 2.0, 1.0);
            // One minus a sum of 289 terms.
            assert!((studentized_range_upper_tail(q, 2) - expected).abs() < 1e-13, "{q}");
        }
        // scipy 1.17: studentized_range.isf(0.05, k, inf); its integration is good to about 1e-8.
        for (k, q) in [
            (2, 2.771_807_649),
            (3, 3.314_493_155),
            (5, 3.857_655_510),
            (10, 4.474_124_222),
            (50, 5.646_026_026),
        ] {
            assert!((studentized_range_upper_quantile(0.05, k) - q).abs() < 1e-6, "{k}");
        }
        assert_eq!(studentized_range_upper_tail(0.0, 3), 1.0);
    }

    #[test]
    fn f_tail_in_closed_form() {
        // With two numerator degrees of freedom, P(F > f) = (1 + 2f/b)^(-b/2).
        for (f, b) in [(0.5, 10.0), (3.0, 40.0), (12.0, 175.0)] {
            let expected: f64 = (1.0_f64 + 2.0 * f / b).powf(-b / 2.0);
            assert!((f_upper_tail(f, 2.0, b) / expected - 1.0).abs() < 1e-12);
        }
        assert_eq!(f_upper_tail(0.0, 2.0, 5.0), 1.0);
    }
}
