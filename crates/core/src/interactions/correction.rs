//! Adjustment of p-values for the number of tests.

crate::choices! {
    /// How p-values are adjusted for the number of tests.
    pub enum Correction {
        /// Benjamini and Hochberg: controls the false discovery rate (FDR), the expected fraction of false positives among the
        /// significant features, if tests are independent or positively dependent.
        BenjaminiHochberg = "bh",
        /// Benjamini and Yekutieli: controls the false discovery rate under any dependence.
        BenjaminiYekutieli = "by",
        /// Holm: controls the probability of any false positive, under any dependence.
        Holm = "holm",
        /// Bonferroni: as Holm, with lower power; each p-value is multiplied by the number of tests.
        Bonferroni = "bonferroni",
    }
}

impl Correction {
    /// The adjusted p-values: an adjusted p-value of at most $\alpha$ is significant at the level $\alpha$. With sorted p-values
    /// $p_{(1)} \le \ldots \le p_{(m)}$ and values above 1 replaced by 1:
    ///
    /// | correction | adjusted p-value |
    /// |---|---|
    /// | Benjamini-Hochberg | $\min_{j \ge i} m p_{(j)} / j$ |
    /// | Benjamini-Yekutieli | the same times $1 + 1/2 + \ldots + 1/m$ |
    /// | Holm | $\max_{j \le i} (m - j + 1) p_{(j)}$ |
    /// | Bonferroni | $m p_{(i)}$ |
    pub fn adjust(self, p_values: &[f64]) -> Vec<f64> {
        self.adjust_among(p_values, p_values.len())
    }

    /// The adjusted p-values of some of `m` tests; the p-values of all others count as 1.
    pub(crate) fn adjust_among(self, p_values: &[f64], m: usize) -> Vec<f64> {
        let mut order: Vec<usize> = (0..p_values.len()).collect();
        order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
        let mut adjusted = vec![0.0; p_values.len()];
        match self {
            Self::BenjaminiHochberg | Self::BenjaminiYekutieli => {
                let factor = m as f64 * self.dependence_factor(m);
                let mut least = 1.0_f64;
                for (rank, &at) in order.iter().enumerate().rev() {
                    least = least.min(factor * p_values[at] / (rank + 1) as f64);
                    adjusted[at] = least;
                }
            }
            Self::Holm => {
                let mut most = 0.0_f64;
                for (rank, &at) in order.iter().enumerate() {
                    most = most.max((m - rank) as f64 * p_values[at]).min(1.0);
                    adjusted[at] = most;
                }
            }
            Self::Bonferroni => {
                adjusted.iter_mut().zip(p_values).for_each(|(out, p)| *out = (m as f64 * p).min(1.0));
            }
        }
        adjusted
    }

    /// The fewest of `m` tests that must have the p-value `smallest` for an adjusted p-value of at most `alpha`; `None` if all
    /// of them are not enough.
    pub fn fewest_significant(self, smallest: f64, m: usize, alpha: f64) -> Option<usize> {
        let needed = match self {
            Self::BenjaminiHochberg | Self::BenjaminiYekutieli => {
                (m as f64 * self.dependence_factor(m) * smallest / alpha).ceil().max(1.0)
            }
            Self::Holm | Self::Bonferroni if m as f64 * smallest <= alpha => 1.0,
            Self::Holm | Self::Bonferroni => f64::INFINITY,
        };
        (needed <= m as f64).then_some(needed as usize)
    }

    fn dependence_factor(self, m: usize) -> f64 {
        if self == Self::BenjaminiYekutieli { (1..=m).map(|i| 1.0 / i as f64).sum() } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_near(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        // A few roundings.
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-15), "{found:?} {expected:?}");
    }

    #[test]
    fn by_hand() {
        let p = [0.04, 0.01, 0.03, 0.5];
        // Sorted: 0.01 * 4/1, 0.03 * 4/2 = 0.06, 0.04 * 4/3, 0.5; the smallest from the right.
        let bh = [0.16 / 3.0, 0.04, 0.16 / 3.0, 0.5];
        assert_near(&Correction::BenjaminiHochberg.adjust(&p), &bh);
        // 1 + 1/2 + 1/3 + 1/4 = 25/12.
        let by = bh.map(|v| (v * 25.0 / 12.0).min(1.0));
        assert_near(&Correction::BenjaminiYekutieli.adjust(&p), &by);
        // 4 * 0.01, 3 * 0.03 = 0.09, 2 * 0.04 = 0.08 -> 0.09, 0.5.
        assert_near(&Correction::Holm.adjust(&p), &[0.09, 0.04, 0.09, 0.5]);
        assert_near(&Correction::Bonferroni.adjust(&p), &[0.16, 0.04, 0.12, 1.0]);
    }

    #[test]
    fn ties_and_extremes() {
        for correction in [Correction::BenjaminiHochberg, Correction::Holm, Correction::Bonferroni] {
            assert!(correction.adjust(&[]).is_empty());
            assert_eq!(correction.adjust(&[0.2]), [0.2]);
            assert_eq!(correction.adjust(&[0.0, 1.0]), [0.0, 1.0]);
        }
        // Equal p-values have equal adjusted ones.
        assert_near(&Correction::BenjaminiHochberg.adjust(&[0.02; 5]), &[0.02; 5]);
        assert_near(&Correction::Holm.adjust(&[0.02; 5]), &[0.1; 5]);
    }

    #[test]
    fn others_count_as_one() {
        let p = [0.04, 0.001, 0.3];
        let all = [0.04, 0.001, 0.3, 1.0, 1.0, 1.0];
        for correction in [
            Correction::BenjaminiHochberg,
            Correction::BenjaminiYekutieli,
            Correction::Holm,
            Correction::Bonferroni,
        ] {
            assert_near(&correction.adjust_among(&p, 6), &correction.adjust(&all)[..3]);
        }
    }

    #[test]
    fn how_many_must_be_significant() {
        let bh = Correction::BenjaminiHochberg;
        // 100 tests with the smallest p-value 0.01: 5 of them give 0.01 * 100 / 5 = 0.2.
        assert_eq!(bh.fewest_significant(0.01, 100, 0.2), Some(5));
        assert_eq!(bh.fewest_significant(0.01, 100, 0.005), None);
        assert_eq!(Correction::Holm.fewest_significant(0.001, 100, 0.1), Some(1));
        assert_eq!(Correction::Holm.fewest_significant(0.01, 100, 0.1), None);
    }
}
