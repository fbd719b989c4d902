//! The information gain that is expected by chance.
//!
//! If a category and the classes are independent and their margins are fixed, the number of samples in both a level of $a$
//! samples and a class of $b$ has the hypergeometric distribution. The expected gain is
//!
//! $$ \sum_{a, b} \sum_k P(k \mid a, b, n) \, \frac kn \ln \frac{k n}{a b}. $$

use super::super::information::{counts_of, gain_term};

/// The expected gain of categories and classes with these margins, in nats.
pub(super) fn expected_gain(categories: &[usize], classes: &[usize]) -> f64 {
    let n = categories.len();
    let by_class = counts_of(classes);
    let mut sizes: Vec<usize> = counts_of(categories).into_iter().filter(|&size| size > 0).collect();
    // Levels of the same size have the same term.
    sizes.sort_unstable();
    let ln_factorials = ln_factorials(n);
    let level = |size: usize| -> f64 {
        by_class.iter().map(|&class| expected_term(size, class, n, &ln_factorials)).sum()
    };
    sizes.chunk_by(|a, b| a == b).map(|same| same.len() as f64 * level(same[0])).sum()
}

/// The expected term of a level of `a` samples and a class of `b`.
fn expected_term(a: usize, b: usize, n: usize, ln_factorials: &[f64]) -> f64 {
    let ln = |k: usize| ln_factorials[k];
    let margins = ln(a) + ln(b) + ln(n - a) + ln(n - b) - ln(n);
    let term = |k: usize| {
        // n + k is at least a + b, so no difference is negative.
        let cells = ln(k) + ln(a - k) + ln(b - k) + ln(n + k - a - b);
        (margins - cells).exp() * gain_term(k as f64, a as f64, b as f64, n as f64)
    };
    ((a + b).saturating_sub(n).max(1)..=a.min(b)).map(term).sum()
}

/// The logarithms of 0!, 1!, ..., n!.
fn ln_factorials(n: usize) -> Vec<f64> {
    let mut sum = 0.0;
    std::iter::once(0.0)
        .chain((1..=n).map(|k| {
            sum += (k as f64).ln();
            sum
        }))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::super::information::gain;
    use super::*;
    use crate::random::Rng;

    #[test]
    fn by_hand() {
        // Two levels and two classes of two samples: both cells of a level have 1 with probability 2/3 (gain 0), or 2 and 0
        // with 1/3 (gain ln 2).
        let expected = expected_gain(&[0, 0, 1, 1], &[0, 1, 0, 1]);
        assert!((expected - 2.0_f64.ln() / 3.0).abs() < 1e-15, "{expected}");
        // A level per sample always has the entropy of the classes.
        let classes = [0, 1, 1, 0, 1, 2];
        let each = [0, 1, 2, 3, 4, 5];
        assert!((expected_gain(&each, &classes) - gain(&each, &classes)).abs() < 1e-14);
        assert_eq!(expected_gain(&[3, 3, 3], &[0, 1, 1]).max(0.0), 0.0);
    }

    #[test]
    fn equals_the_mean_over_permutations() {
        let mut rng = Rng::new(3);
        let categories: Vec<usize> = (0..60).map(|i| i % 7).collect();
        let mut classes: Vec<usize> = (0..60).map(|_| rng.below(3)).collect();
        let expected = expected_gain(&categories, &classes);
        let rounds = 2000;
        let mut sum = 0.0;
        for _ in 0..rounds {
            rng.shuffle(&mut classes);
            sum += gain(&categories, &classes);
        }
        // The gain varies by about 0.04, its mean by 0.001.
        assert!((sum / f64::from(rounds) - expected).abs() < 0.004, "{} {expected}", sum / f64::from(rounds));
    }
}
