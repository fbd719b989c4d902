//! The base kernels of a mixture.

use crate::data::{Groups, Rows};
use crate::error::{Error, Result};
use crate::kernel::{Family, Kernel, pair_ranks};
use crate::parameters::{Declared, Kind, Parameter, ParameterValue, Parameters, nested};
use crate::random::Rng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// The name of the method.
pub(super) const NAME: &str = "design";

/// Pairs of rows whose distances are used, at most.
const MAX_PAIRS: usize = 4096;

crate::parameters! {
    /// The base kernels of a mixture: first those given by name, then those in `custom`.
    #[derive(PartialEq)]
    pub struct Bases as "design" {
        /// The kernels given by name.
        pub kernels: Vec<Family> = vec![Family::Rbf, Family::Linear];
        /// Whether a name means one kernel for every feature, which selects features, or one kernel of all features.
        pub weak: bool = true;
        /// Quantiles q of the distances between samples: gamma is 1/q² for rbf, 1/q for laplacian.
        pub quantiles: Vec<f64> = vec![0.1, 0.5, 0.9], above_to(0, 1);
        /// Values of gamma of rbf and laplacian, instead of `quantiles`.
        pub gammas: Option<Vec<f64>> = None, above(0);
        /// Degree of poly.
        pub degree: u32 = 2, at_least(1);
        /// Constant of poly. Its gamma is one over the number of features.
        pub coef0: f64 = 1.0;
        /// Further kernels, with all their parameters.
        pub custom: CustomKernels = CustomKernels::default();
    }
}

/// Kernels with all their parameters.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CustomKernels(pub Vec<Kernel>);

impl ParameterValue for CustomKernels {
    fn kinds() -> Vec<Kind> {
        vec![]
    }

    /// They are not written as text.
    fn list(&self, _: &Declared) -> Vec<Parameter> {
        vec![]
    }
}

impl ParameterValue for Bases {
    fn kinds() -> Vec<Kind> {
        vec![]
    }

    fn list(&self, declared: &Declared) -> Vec<Parameter> {
        nested(self.parameters(), declared)
    }
}

/// A base kernel, and the feature that it sees if it sees only one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Base {
    /// The kernel.
    pub kernel: Kernel,
    /// The feature.
    pub feature: Option<usize>,
}

impl Base {
    /// `feature_of` is the feature of each column.
    fn new(kernel: Kernel, feature_of: &[usize]) -> Self {
        let feature = match &kernel {
            Kernel::OnFeature { feature: column, .. } => Some(feature_of[*column]),
            Kernel::OnColumns { columns, .. } => {
                let first = feature_of[columns.start];
                (first == feature_of[columns.end - 1]).then_some(first)
            }
            _ => None,
        };
        Self { kernel, feature }
    }
}

impl Bases {
    /// Given kernels only.
    pub fn custom(kernels: Vec<Kernel>) -> Self {
        Self { kernels: vec![], custom: CustomKernels(kernels), ..Self::default() }
    }

    /// Rejects parameters that are out of range or have no effect.
    pub fn check(&self) -> Result<()> {
        self.check_ranges()?;
        let is_empty = |values: Option<&Vec<f64>>| values.is_some_and(|values| values.is_empty());
        if is_empty(Some(&self.quantiles)) {
            return Err(Error::param(NAME, "quantiles", "one number or more", "none"));
        }
        if is_empty(self.gammas.as_ref()) {
            return Err(Error::param(NAME, "gammas", "one number or more", "none"));
        }
        let is_twice = |(at, family): (usize, &Family)| self.kernels[..at].contains(family);
        if self.kernels.iter().enumerate().any(is_twice) {
            let names = serde_json::to_string(&self.kernels).unwrap_or_default();
            return Err(Error::param(NAME, "kernels", "different names", names));
        }
        let default = Self::default();
        let has = |families: &[Family]| self.kernels.iter().any(|family| families.contains(family));
        let radial = has(&[Family::Rbf, Family::Laplacian]);
        let no_radial = "neither rbf nor laplacian is among the kernels";
        let no_poly = "poly is not among the kernels";
        let without_effect = [
            ("quantiles", self.quantiles != default.quantiles && !radial, no_radial),
            ("gammas", self.gammas.is_some() && !radial, no_radial),
            ("quantiles", self.quantiles != default.quantiles && self.gammas.is_some(), "gammas are given"),
            ("degree", self.degree != default.degree && !has(&[Family::Poly]), no_poly),
            ("coef0", self.coef0 != default.coef0 && !has(&[Family::Poly]), no_poly),
            ("weak", !self.weak && self.kernels.is_empty(), "no kernel is given by name"),
        ];
        check_effects(&without_effect)
    }

    /// Approximate bytes of the kernels for `d` features.
    pub(crate) fn bytes(&self, d: usize) -> f64 {
        if !self.weak {
            return 0.0;
        }
        let gammas = self.gammas.as_ref().unwrap_or(&self.quantiles).len();
        let count = |family: &Family| match family {
            Family::Rbf | Family::Laplacian => gammas,
            Family::Linear | Family::Poly => 1,
        };
        300.0 * (d * self.kernels.iter().map(count).sum::<usize>()) as f64
    }

    /// The kernels for these rows, given the columns of each feature. A kernel on one feature is a kernel on all its columns.
    /// Constant features get none.
    pub fn resolve(&self, x: &Rows, groups: &Groups, seed: u64) -> Result<Vec<Base>> {
        self.check()?;
        if self.kernels.is_empty() && self.custom.0.is_empty() {
            return Err(Error::param(NAME, "kernels", "one kernel or more", "none"));
        }
        self.custom.0.iter().try_for_each(|kernel| kernel.validate(x.d()))?;
        let pairs = pairs(x.n(), seed);
        let mut kernels: Vec<Kernel> = if self.weak {
            let is_constant = |j: usize| {
                let column = x.column(j);
                column.iter().all(|v| *v == column[0])
            };
            let by_feature: Result<Vec<Vec<Kernel>>> = (0..groups.n_features())
                .into_par_iter()
                .map(|feature| {
                    if groups.columns(feature).all(is_constant) {
                        return Ok(vec![]);
                    }
                    self.named(x, groups, Some(feature), &pairs)
                })
                .collect();
            by_feature?.into_iter().flatten().collect()
        } else {
            self.named(x, groups, None, &pairs)?
        };
        kernels.extend(self.custom.0.iter().cloned());
        if kernels.is_empty() {
            let why =
                "all rows of the triplets are equal, so no kernel distinguishes them; check the columns"
                    .into();
            return Err(Error::Breakdown { step: NAME, why });
        }
        let feature_of = groups.feature_of_columns();
        Ok(kernels.into_iter().map(|kernel| Base::new(kernel, &feature_of)).collect())
    }

    /// The kernels given by name, on one feature or on all.
    fn named(
        &self,
        x: &Rows,
        groups: &Groups,
        feature: Option<usize>,
        pairs: &[[usize; 2]],
    ) -> Result<Vec<Kernel>> {
        let on = |kernel| match feature.map(|feature| groups.columns(feature)) {
            Some(columns) if columns.len() == 1 => {
                Kernel::OnFeature { feature: columns.start, kernel: Box::new(kernel) }
            }
            Some(columns) => Kernel::OnColumns { columns, kernel: Box::new(kernel) },
            None => kernel,
        };
        let for_each_gamma = |make: fn(f64) -> Kernel| -> Result<Vec<Kernel>> {
            let gammas = self.gammas_for(&on(make(1.0)), x, pairs)?;
            Ok(gammas.into_iter().map(make).map(on).collect())
        };
        let mut kernels = vec![];
        for family in &self.kernels {
            match family {
                Family::Rbf => kernels.extend(for_each_gamma(|gamma| Kernel::Rbf { gamma })?),
                Family::Laplacian => kernels.extend(for_each_gamma(|gamma| Kernel::Laplacian { gamma })?),
                Family::Linear => kernels.push(on(Kernel::Linear)),
                Family::Poly => {
                    let gamma = if feature.is_some() { 1.0 } else { 1.0 / groups.n_features() as f64 };
                    kernels.push(on(Kernel::Polynomial { degree: self.degree, gamma, coef0: self.coef0 }));
                }
            }
        }
        Ok(kernels)
    }

    /// Distinct values of gamma. `unit` is the kernel with gamma 1.
    fn gammas_for(&self, unit: &Kernel, x: &Rows, pairs: &[[usize; 2]]) -> Result<Vec<f64>> {
        let mut gammas = match &self.gammas {
            Some(gammas) => gammas.clone(),
            None => {
                let mut distances: Vec<f64> = pair_ranks(unit, x, pairs)?.into_iter().map(|r| -r).collect();
                distances.retain(|d| *d > 0.0);
                if distances.is_empty() {
                    return Ok(vec![]);
                }
                distances.sort_unstable_by(f64::total_cmp);
                let last = distances.len() - 1;
                self.quantiles.iter().map(|q| 1.0 / distances[(q * last as f64).round() as usize]).collect()
            }
        };
        gammas.retain(|gamma| *gamma > 0.0 && gamma.is_finite());
        gammas.sort_unstable_by(f64::total_cmp);
        gammas.dedup();
        Ok(gammas)
    }
}

/// An error for the first parameter that is set without effect; each has its name, whether this is so, and why.
pub(super) fn check_effects(all: &[(&'static str, bool, &str)]) -> Result<()> {
    match all.iter().find(|(_, is_set, _)| *is_set) {
        Some((name, _, why)) => Err(Error::NoEffect { method: NAME, name, why: (*why).to_owned() }),
        None => Ok(()),
    }
}

/// Pairs of different rows: all of them, or a sample if there are many.
fn pairs(n: usize, seed: u64) -> Vec<[usize; 2]> {
    if n * n.saturating_sub(1) / 2 <= MAX_PAIRS {
        return (0..n).flat_map(|i| (0..i).map(move |j| [i, j])).collect();
    }
    let mut rng = Rng::stream(seed, "widths");
    (0..MAX_PAIRS)
        .map(|_| {
            let i = rng.below(n);
            let j = rng.below(n - 1);
            [i, if j >= i { j + 1 } else { j }]
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    /// Squared distances of 0, 1, 3: 1, 4, 9; the second column is constant.
    #[test]
    fn gammas_computed_by_hand() {
        let x: Rows = array![[0.0, 5.0], [1.0, 5.0], [3.0, 5.0]].into();
        let resolved = Bases { quantiles: vec![0.5, 1.0], ..Bases::default() }
            .resolve(&x, &Groups::single(x.d()), 0)
            .unwrap();
        let on = |kernel| Kernel::OnFeature { feature: 0, kernel: Box::new(kernel) };
        let expected =
            [on(Kernel::Rbf { gamma: 1.0 / 9.0 }), on(Kernel::Rbf { gamma: 0.25 }), on(Kernel::Linear)];
        assert_eq!(resolved.iter().map(|b| b.kernel.clone()).collect::<Vec<_>>(), expected);
        assert!(resolved.iter().all(|base| base.feature == Some(0)));
        let kernels = vec![Family::Laplacian];
        let full = Bases { kernels, weak: false, gammas: Some(vec![2.0, 2.0]), ..Bases::default() };
        assert_eq!(
            full.resolve(&x, &Groups::single(x.d()), 0).unwrap()[0].kernel,
            Kernel::Laplacian { gamma: 2.0 }
        );
        let further = Bases { custom: CustomKernels(vec![Kernel::Linear]), ..full };
        let all: Vec<Kernel> = further
            .resolve(&x, &Groups::single(x.d()), 0)
            .unwrap()
            .into_iter()
            .map(|base| base.kernel)
            .collect();
        assert_eq!(all, [Kernel::Laplacian { gamma: 2.0 }, Kernel::Linear]);
    }

    /// Squared distances of (1, 0), (0, 1), (1, 0): 2, 0, 2.
    #[test]
    fn a_kernel_of_several_columns() {
        let x: Rows = array![[1.0, 0.0, 2.0, 5.0], [0.0, 1.0, 3.0, 5.0], [1.0, 0.0, 2.0, 5.0]].into();
        let groups = Groups::of_sizes([2, 1, 1]);
        let bases = Bases { quantiles: vec![0.5], ..Bases::default() };
        let resolved = bases.resolve(&x, &groups, 0).unwrap();
        let features: Vec<Option<usize>> = resolved.iter().map(|base| base.feature).collect();
        assert_eq!(features, [Some(0), Some(0), Some(1), Some(1)], "the last feature is constant");
        let on = |kernel| Kernel::OnColumns { columns: 0..2, kernel: Box::new(kernel) };
        assert_eq!(resolved[0].kernel, on(Kernel::Rbf { gamma: 0.5 }));
        assert_eq!(resolved[1].kernel, on(Kernel::Linear));
        assert_eq!(
            resolved[3].kernel,
            Kernel::OnFeature { feature: 2, kernel: Box::new(Kernel::Linear) },
            "columns, not features"
        );
        let custom = Kernel::OnColumns { columns: 1..3, kernel: Box::new(Kernel::Linear) };
        assert_eq!(Bases::custom(vec![custom]).resolve(&x, &groups, 0).unwrap()[0].feature, None);
    }

    #[test]
    fn errors_name_the_parameter() {
        let x: Rows = array![[0.0], [1.0]].into();
        let message = |bases: Bases| bases.resolve(&x, &Groups::single(x.d()), 0).unwrap_err().to_string();
        assert!(message(Bases::custom(vec![])).contains("'kernels' must be one kernel or more"));
        let above_one = Bases { quantiles: vec![1.5], ..Bases::default() };
        assert!(
            message(above_one)
                .contains("'quantiles' must be a list of numbers, above 0 and at most 1, got 1.5")
        );
        let gammas = |gammas| Bases { gammas: Some(gammas), ..Bases::default() };
        assert!(message(gammas(vec![-1.0])).contains("'gammas' must be a list of numbers, above 0, or none"));
        assert!(message(gammas(vec![])).contains("'gammas' must be one number or more"));
        assert!(message(Bases { quantiles: vec![], ..Bases::default() }).contains("'quantiles'"));
        let unused = Bases { degree: 3, ..Bases::default() };
        assert!(message(unused).contains("'degree' has no effect because poly is not among"));
        let unused = Bases { quantiles: vec![0.5], ..gammas(vec![1.0]) };
        assert!(message(unused).contains("'quantiles' has no effect because gammas are given"));
        let equal: Rows = array![[1.0], [1.0]].into();
        assert!(
            Bases::default()
                .resolve(&equal, &Groups::single(1), 0)
                .unwrap_err()
                .to_string()
                .contains("equal")
        );
    }
}
