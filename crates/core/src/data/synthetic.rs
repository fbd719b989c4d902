//! Synthetic data with known relevant features.
//!
//! Features are independent standard normal, except for copies. The relevant ones have random positions.

use super::dataset::Dataset;
use crate::context::{Context, available_memory};
use crate::data::target::{Classes, Target};
use crate::error::{Error, Result};
use crate::random::Rng;
use ndarray::Array2;
use serde::{Deserialize, Serialize};

/// How the target depends on the relevant features $u_1, u_2, \ldots$: class 1 if the score is positive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// $u_1 + u_2$: any method can find the features.
    Linear,
    /// $(u_1^2 + u_2^2) / 2 - \ln 2$: linear methods fail, nonlinear univariate methods succeed.
    Ring,
    /// $u_1 u_2$: univariate methods fail.
    Xor,
    /// $u_1 u_2 + (u_3^2 + u_4^2) / 2 - 1$: XOR and ring combined.
    XorRing,
    /// $u_1 + u_2$, with two noisy copies of each: one of each group is enough.
    Redundant,
    /// No relevant features: the target is random.
    Noise,
}

impl Pattern {
    /// All patterns.
    pub const ALL: [Self; 6] =
        [Self::Linear, Self::Ring, Self::Xor, Self::XorRing, Self::Redundant, Self::Noise];

    /// The name of the pattern.
    pub fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Ring => "ring",
            Self::Xor => "xor",
            Self::XorRing => "xor-ring",
            Self::Redundant => "redundant",
            Self::Noise => "noise",
        }
    }

    /// A pattern by name.
    pub fn by_name(name: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|p| p.name() == name);
        found.ok_or_else(|| Error::unknown_name("pattern", name, Self::ALL.iter().map(|p| p.name())))
    }

    /// A short description.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Linear => "the target depends on the sum of two features",
            Self::Ring => "the target depends on the distance from the origin in two features",
            Self::Xor => "the target depends on the product of two features; neither is informative alone",
            Self::XorRing => "the target depends on an XOR pair and a ring pair",
            Self::Redundant => "the target depends on the sum of two features, and each has two noisy copies",
            Self::Noise => "the target is random",
        }
    }

    fn n_relevant(self) -> usize {
        match self {
            Self::Linear | Self::Ring | Self::Xor => 2,
            Self::XorRing => 4,
            Self::Redundant => 6,
            Self::Noise => 0,
        }
    }

    fn score(self, u: &[f64], rng: &mut Rng) -> f64 {
        match self {
            Self::Linear | Self::Redundant => u[0] + u[1],
            Self::Ring => (u[0] * u[0] + u[1] * u[1]) / 2.0 - std::f64::consts::LN_2,
            Self::Xor => u[0] * u[1],
            Self::XorRing => u[0] * u[1] + (u[2] * u[2] + u[3] * u[3]) / 2.0 - 1.0,
            Self::Noise => rng.normal(),
        }
    }
}

/// A generator of synthetic data.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Synthetic {
    /// How the target depends on the features.
    pub pattern: Pattern,
    /// Number of samples.
    pub rows: usize,
    /// Number of features, including the relevant ones.
    pub columns: usize,
    /// Standard deviation of the Gaussian noise added to the score. Default: 0.
    pub noise: f64,
    /// Whether the target is the score instead of its sign. Default: false.
    pub continuous: bool,
    /// Random seed.
    pub seed: u64,
}

impl Default for Synthetic {
    fn default() -> Self {
        Self { pattern: Pattern::Xor, rows: 500, columns: 20, noise: 0.0, continuous: false, seed: 0 }
    }
}

/// Synthetic data with its relevant features.
#[derive(Debug, Clone)]
pub struct SyntheticDataset {
    /// The data; features are called x1, x2, ...
    pub data: Dataset,
    /// The relevant features. For [`Pattern::Redundant`]: the two originals, the copies of the first, the copies
    /// of the second.
    pub relevant: Vec<usize>,
}

impl Synthetic {
    /// Required memory in bytes.
    pub fn bytes(&self) -> f64 {
        8.0 * self.rows as f64 * (self.columns as f64 + 2.0)
    }

    /// Generates the data.
    pub fn make(&self) -> Result<SyntheticDataset> {
        let needed = self.pattern.n_relevant().max(1);
        if self.columns < needed {
            let expected = format!("at least {needed} for this pattern");
            return Err(Error::param("synthetic data", "columns", expected, self.columns));
        }
        if self.rows == 0 {
            return Err(Error::param("synthetic data", "rows", "at least 1", 0));
        }
        if !(self.noise >= 0.0 && self.noise.is_finite()) {
            return Err(Error::param("synthetic data", "noise", "0 or a positive number", self.noise));
        }
        let ctx = Context { memory_limit: available_memory(), ..Context::default() };
        ctx.need_memory("synthetic data", self.bytes(), "use fewer rows or columns")?;
        let mut rng = Rng::stream(self.seed, "synthetic");
        let mut places: Vec<usize> = (0..self.columns).collect();
        rng.shuffle(&mut places);
        let relevant = places[..self.pattern.n_relevant()].to_vec();
        let mut x = Array2::from_shape_simple_fn((self.rows, self.columns), || rng.normal());
        let mut scores = vec![];
        for mut row in x.rows_mut() {
            let u: Vec<f64> = relevant.iter().map(|&j| row[j]).collect();
            if self.pattern == Pattern::Redundant {
                for (copy, original) in [(2, 0), (3, 0), (4, 1), (5, 1)] {
                    row[relevant[copy]] = u[original] + 0.1 * rng.normal();
                }
            }
            scores.push(self.pattern.score(&u, &mut rng) + self.noise * rng.normal());
        }
        let target = if self.continuous {
            Target::Continuous(scores)
        } else {
            let codes = scores.iter().map(|&s| usize::from(s > 0.0)).collect();
            Target::Classes(Classes::new(codes, vec!["0".into(), "1".into()])?)
        };
        Ok(SyntheticDataset { data: Dataset::with_target(x, target)?, relevant })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn make(pattern: Pattern, continuous: bool) -> SyntheticDataset {
        Synthetic { pattern, rows: 4000, columns: 10, continuous, seed: 3, ..Synthetic::default() }
            .make()
            .unwrap()
    }

    #[test]
    fn classes_are_balanced_enough_to_learn_from() {
        for pattern in Pattern::ALL {
            let synthetic = make(pattern, false);
            let counts = synthetic.data.classes("test").unwrap().counts();
            assert!(counts.iter().all(|&c| c > 1400), "{pattern:?}: {counts:?}");
            assert_eq!(synthetic.relevant.len(), pattern.n_relevant());
        }
    }

    #[test]
    fn the_score_follows_the_formula() {
        let synthetic = make(Pattern::Xor, true);
        let Target::Continuous(scores) = synthetic.data.target() else {
            panic!("expected a continuous target")
        };
        let x = synthetic.data.x();
        let [a, b] = synthetic.relevant[..] else { panic!("expected two relevant features") };
        assert!((0..x.n()).all(|i| (x.get(i, a) * x.get(i, b) - scores[i]).abs() < 1e-15));
    }

    #[test]
    fn copies_follow_their_originals() {
        let synthetic = make(Pattern::Redundant, false);
        let x = synthetic.data.x();
        for (copy, original) in [(2, 0), (3, 0), (4, 1), (5, 1)] {
            let (a, b) = (synthetic.relevant[copy], synthetic.relevant[original]);
            let difference: f64 =
                (0..x.n()).map(|i| (x.get(i, a) - x.get(i, b)).powi(2)).sum::<f64>() / x.n() as f64;
            // Variance 0.01, five standard errors of 4000 squares.
            assert!((difference - 0.01).abs() < 5.0 * 0.01 * (2.0 / 4000.0_f64).sqrt());
        }
    }

    #[test]
    fn seeds_and_invalid_sizes() {
        let again = make(Pattern::Ring, false);
        assert_eq!(again.data, make(Pattern::Ring, false).data);
        let other =
            Synthetic { seed: 4, rows: 4000, columns: 10, pattern: Pattern::Ring, ..Synthetic::default() };
        assert_ne!(again.data, other.make().unwrap().data);
        let small = Synthetic { columns: 3, pattern: Pattern::XorRing, ..Synthetic::default() };
        assert!(small.make().unwrap_err().to_string().contains("at least 4 for this pattern"));
        for rows in [usize::MAX, 1 << 50] {
            let error = Synthetic { rows, ..Synthetic::default() }.make().unwrap_err();
            assert!(matches!(error, Error::Memory { .. }), "{error}");
        }
        assert!(Synthetic { rows: 0, ..Synthetic::default() }.make().is_err());
        assert!(Pattern::by_name("xr").is_err() && Pattern::by_name("xor").is_ok());
    }
}
