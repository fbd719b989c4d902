//! The base kernels of a mixture.

use crate::data::Rows;
use crate::error::{Error, Result};
use crate::kernel::{Kernel, pair_ranks};
use crate::random::Rng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// The name of the method.
pub(super) const NAME: &str = "design";

/// Pairs of rows whose distances are used, at most.
const MAX_PAIRS: usize = 4096;

/// The base kernels of a mixture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bases {
    /// Of each form, one for every feature: the weights then select features.
    Weak(Vec<Form>),
    /// Of each form, one on all features.
    Full(Vec<Form>),
    /// Given kernels.
    Custom(Vec<Kernel>),
}

impl Default for Bases {
    /// For every feature three Gaussians and the linear kernel.
    fn default() -> Self {
        Self::Weak(vec![Form::Gaussian(GammaGrid::default()), Form::Linear])
    }
}

/// The form of a base kernel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// $\exp(-\gamma \lVert x-y \rVert^2)$, one for each $\gamma$.
    Gaussian(GammaGrid),
    /// $\exp(-\gamma \lVert x-y \rVert_1)$, one for each $\gamma$.
    Laplacian(GammaGrid),
    /// $\langle x, y \rangle$
    Linear,
    /// $(\gamma \langle x, y \rangle + c_0)^p$ with $\gamma$ one over the number of features.
    Polynomial {
        /// $p \ge 1$
        degree: u32,
        /// $c_0$
        coef0: f64,
    },
}

/// Values of $\gamma$ of Gaussian and Laplacian kernels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GammaGrid {
    /// One over these quantiles of the positive distances, squared for a Gaussian.
    Quantiles(Vec<f64>),
    /// Given values.
    Values(Vec<f64>),
}

impl Default for GammaGrid {
    /// The quantiles 0.1, 0.5 and 0.9.
    fn default() -> Self {
        Self::Quantiles(vec![0.1, 0.5, 0.9])
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
    pub(super) fn new(kernel: Kernel) -> Self {
        let feature = match &kernel {
            Kernel::OnFeature { feature, .. } => Some(*feature),
            _ => None,
        };
        Self { kernel, feature }
    }
}

impl Bases {
    pub(super) fn check(&self) -> Result<()> {
        match self {
            Self::Weak(forms) | Self::Full(forms) => {
                if forms.is_empty() {
                    return Err(Error::param(NAME, "kernels", "one form or more", "none"));
                }
                forms.iter().try_for_each(Form::check)
            }
            Self::Custom(kernels) if kernels.is_empty() => {
                Err(Error::param(NAME, "kernels", "one kernel or more", "none"))
            }
            Self::Custom(_) => Ok(()),
        }
    }

    /// Approximate bytes of the kernels for `d` features.
    pub(crate) fn bytes(&self, d: usize) -> f64 {
        match self {
            Self::Weak(forms) => 300.0 * (d * forms.iter().map(Form::count).sum::<usize>()) as f64,
            Self::Full(_) | Self::Custom(_) => 0.0,
        }
    }

    /// The kernels for these rows. Constant features get none.
    pub fn resolve(&self, x: &Rows, seed: u64) -> Result<Vec<Base>> {
        self.check()?;
        let pairs = pairs(x.n(), seed);
        let bases: Vec<Base> = match self {
            Self::Custom(kernels) => {
                kernels.iter().try_for_each(|kernel| kernel.validate(x.d()))?;
                kernels.iter().cloned().map(Base::new).collect()
            }
            Self::Full(forms) => {
                let kernels: Result<Vec<_>> =
                    forms.iter().map(|form| form.kernels(x, None, &pairs)).collect();
                kernels?.into_iter().flatten().map(Base::new).collect()
            }
            Self::Weak(forms) => {
                let by_column: Result<Vec<Vec<Kernel>>> = (0..x.d())
                    .into_par_iter()
                    .map(|j| {
                        let column = x.column(j);
                        if column.iter().all(|v| *v == column[0]) {
                            return Ok(vec![]);
                        }
                        let mut kernels = vec![];
                        for form in forms {
                            kernels.extend(form.kernels(x, Some(j), &pairs)?);
                        }
                        Ok(kernels)
                    })
                    .collect();
                by_column?.into_iter().flatten().map(Base::new).collect()
            }
        };
        if bases.is_empty() {
            let why =
                "all rows of the triplets are equal, so no kernel distinguishes them; check the columns"
                    .into();
            return Err(Error::Breakdown { step: NAME, why });
        }
        Ok(bases)
    }
}

impl Form {
    /// Number of kernels.
    fn count(&self) -> usize {
        match self {
            Self::Gaussian(GammaGrid::Quantiles(values) | GammaGrid::Values(values))
            | Self::Laplacian(GammaGrid::Quantiles(values) | GammaGrid::Values(values)) => values.len(),
            Self::Linear | Self::Polynomial { .. } => 1,
        }
    }

    fn check(&self) -> Result<()> {
        match self {
            Self::Gaussian(gammas) | Self::Laplacian(gammas) => gammas.check(),
            Self::Linear => Ok(()),
            Self::Polynomial { degree, coef0 } => {
                Kernel::Polynomial { degree: *degree, gamma: 1.0, coef0: *coef0 }.validate(1)
            }
        }
    }

    fn kernels(&self, x: &Rows, feature: Option<usize>, pairs: &[[usize; 2]]) -> Result<Vec<Kernel>> {
        let on = |kernel| match feature {
            Some(feature) => Kernel::OnFeature { feature, kernel: Box::new(kernel) },
            None => kernel,
        };
        let for_each = |gammas: &GammaGrid, make: fn(f64) -> Kernel| -> Result<Vec<Kernel>> {
            Ok(gammas.resolve(&on(make(1.0)), x, pairs)?.into_iter().map(make).map(on).collect())
        };
        match self {
            Self::Gaussian(gammas) => for_each(gammas, |gamma| Kernel::Rbf { gamma }),
            Self::Laplacian(gammas) => for_each(gammas, |gamma| Kernel::Laplacian { gamma }),
            Self::Linear => Ok(vec![on(Kernel::Linear)]),
            Self::Polynomial { degree, coef0 } => {
                let gamma = if feature.is_some() { 1.0 } else { 1.0 / x.d() as f64 };
                Ok(vec![on(Kernel::Polynomial { degree: *degree, gamma, coef0: *coef0 })])
            }
        }
    }
}

impl GammaGrid {
    fn check(&self) -> Result<()> {
        let (name, values, expected, is_valid): (_, _, _, fn(f64) -> bool) = match self {
            Self::Quantiles(values) => {
                ("quantiles", values, "one or more numbers above 0 and up to 1", |v| v > 0.0 && v <= 1.0)
            }
            Self::Values(values) => {
                ("gammas", values, "one or more positive finite numbers", |v| v > 0.0 && v.is_finite())
            }
        };
        if values.is_empty() {
            return Err(Error::param(NAME, name, expected, "none"));
        }
        match values.iter().find(|v| !is_valid(**v)) {
            Some(invalid) => Err(Error::param(NAME, name, expected, invalid)),
            None => Ok(()),
        }
    }

    /// Distinct values of $\gamma$. `unit` is the kernel with $\gamma = 1$.
    fn resolve(&self, unit: &Kernel, x: &Rows, pairs: &[[usize; 2]]) -> Result<Vec<f64>> {
        let mut gammas = match self {
            Self::Values(gammas) => gammas.clone(),
            Self::Quantiles(quantiles) => {
                let mut distances: Vec<f64> = pair_ranks(unit, x, pairs)?.into_iter().map(|r| -r).collect();
                distances.retain(|d| *d > 0.0);
                if distances.is_empty() {
                    return Ok(vec![]);
                }
                distances.sort_unstable_by(f64::total_cmp);
                let last = distances.len() - 1;
                quantiles.iter().map(|q| 1.0 / distances[(q * last as f64).round() as usize]).collect()
            }
        };
        gammas.retain(|gamma| *gamma > 0.0 && gamma.is_finite());
        gammas.sort_unstable_by(f64::total_cmp);
        gammas.dedup();
        Ok(gammas)
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
        let bases = Bases::Weak(vec![Form::Gaussian(GammaGrid::Quantiles(vec![0.5, 1.0])), Form::Linear]);
        let resolved = bases.resolve(&x, 0).unwrap();
        let on = |kernel| Kernel::OnFeature { feature: 0, kernel: Box::new(kernel) };
        let expected =
            [on(Kernel::Rbf { gamma: 1.0 / 9.0 }), on(Kernel::Rbf { gamma: 0.25 }), on(Kernel::Linear)];
        assert_eq!(resolved.iter().map(|b| b.kernel.clone()).collect::<Vec<_>>(), expected);
        assert!(resolved.iter().all(|base| base.feature == Some(0)));
        let full = Bases::Full(vec![Form::Laplacian(GammaGrid::Values(vec![2.0, 2.0]))]);
        assert_eq!(full.resolve(&x, 0).unwrap()[0].kernel, Kernel::Laplacian { gamma: 2.0 });
    }

    #[test]
    fn errors_name_invalid_lists() {
        let x: Rows = array![[0.0], [1.0]].into();
        let message = |bases: Bases| bases.resolve(&x, 0).unwrap_err().to_string();
        assert!(message(Bases::Weak(vec![])).contains("one form or more"));
        assert!(message(Bases::Custom(vec![])).contains("one kernel or more"));
        let wide = Bases::Weak(vec![Form::Gaussian(GammaGrid::Quantiles(vec![1.5]))]);
        assert!(
            message(wide).contains("'quantiles' must be one or more numbers above 0 and up to 1, got 1.5")
        );
        let negative = Bases::Full(vec![Form::Gaussian(GammaGrid::Values(vec![-1.0]))]);
        assert!(message(negative).contains("'gammas'"));
        let equal: Rows = array![[1.0], [1.0]].into();
        assert!(Bases::default().resolve(&equal, 0).unwrap_err().to_string().contains("equal"));
    }
}
