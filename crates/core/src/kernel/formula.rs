//! Kernel functions as data: printable and serializable.

use crate::error::{Error, Result};
use crate::linalg::symmetric_eigen;
use crate::parameters::{Kind, ParameterValue};
use ndarray::Array2;
use serde::{Deserialize, Serialize};
use std::ops::Range;

crate::choices! {
    /// The kernels that have a name.
    pub enum Family {
        /// Gaussian: exp(-gamma ||x-y||²).
        Rbf = "rbf",
        /// The inner product of x and y.
        Linear = "linear",
        /// Polynomial: (gamma x·y + coef0)^degree.
        Poly = "poly",
        /// Laplacian: exp(-gamma ||x-y||₁).
        Laplacian = "laplacian",
    }
}

impl ParameterValue for Vec<Family> {
    fn kinds() -> Vec<Kind> {
        let names = Family::kinds().into_iter();
        names
            .map(|kind| if let Kind::Choice { values } = kind { Kind::Choices { values } } else { kind })
            .collect()
    }
}

/// A kernel function of two rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kernel {
    /// $\langle x, y \rangle$
    Linear,
    /// $\exp(-\gamma \lVert x - y \rVert_2^2)$
    Rbf {
        /// $\gamma > 0$
        gamma: f64,
    },
    /// $(\gamma \langle x, y \rangle + c_0)^p$
    Polynomial {
        /// $p \ge 1$
        degree: u32,
        /// $\gamma > 0$
        gamma: f64,
        /// $c_0$; the kernel is positive semidefinite for $c_0 \ge 0$.
        coef0: f64,
    },
    /// $\exp(-\gamma \lVert x - y \rVert_1)$
    Laplacian {
        /// $\gamma > 0$
        gamma: f64,
    },
    /// 1 if $x = y$, else 0.
    WhiteNoise,
    /// A kernel on one feature (a weak kernel).
    OnFeature {
        /// The feature, from 0.
        feature: usize,
        /// The kernel on it.
        kernel: Box<Kernel>,
    },
    /// A kernel on the adjacent columns of one feature, such as a category.
    OnColumns {
        /// The columns, from 0.
        columns: Range<usize>,
        /// The kernel on them.
        kernel: Box<Kernel>,
    },
    /// $\sum_p w_p k_p(x, y)$
    Sum(Vec<(f64, Kernel)>),
    /// $\exp(-(x - y)^\top M (x - y))$
    Mahalanobis {
        /// $M$, symmetric and positive semidefinite.
        metric: Array2<f64>,
    },
}

impl Kernel {
    /// $\gamma$ of an RBF, Laplacian or polynomial kernel.
    pub fn gamma(&self) -> Option<f64> {
        match self {
            Self::Rbf { gamma } | Self::Laplacian { gamma } | Self::Polynomial { gamma, .. } => Some(*gamma),
            _ => None,
        }
    }

    /// Mutable $\gamma$ of an RBF, Laplacian or polynomial kernel.
    pub fn gamma_mut(&mut self) -> Option<&mut f64> {
        match self {
            Self::Rbf { gamma } | Self::Laplacian { gamma } | Self::Polynomial { gamma, .. } => Some(gamma),
            _ => None,
        }
    }

    /// Whether the kernel is known to be positive semidefinite on any rows.
    pub fn is_semidefinite(&self) -> bool {
        match self {
            Self::Linear | Self::Rbf { .. } | Self::Laplacian { .. } | Self::WhiteNoise => true,
            Self::Mahalanobis { .. } => true,
            Self::Polynomial { coef0, .. } => *coef0 >= 0.0,
            Self::OnFeature { kernel, .. } | Self::OnColumns { kernel, .. } => kernel.is_semidefinite(),
            Self::Sum(parts) => {
                parts.iter().all(|(weight, kernel)| *weight >= 0.0 && kernel.is_semidefinite())
            }
        }
    }

    /// The columns, of `d`, that its values can depend on, in ascending order.
    pub fn columns(&self, d: usize) -> Vec<usize> {
        let mut used = vec![false; d];
        self.mark_columns(&mut used);
        (0..d).filter(|&j| used[j]).collect()
    }

    fn mark_columns(&self, used: &mut [bool]) {
        match self {
            Self::OnFeature { feature, .. } => {
                if let Some(used) = used.get_mut(*feature) {
                    *used = true;
                }
            }
            Self::OnColumns { columns, .. } => {
                if let Some(used) = used.get_mut(columns.clone()) {
                    used.fill(true);
                }
            }
            Self::Sum(parts) => {
                parts.iter().filter(|(weight, _)| *weight != 0.0).for_each(|(_, k)| k.mark_columns(used));
            }
            Self::Mahalanobis { metric } => {
                for (used, row) in used.iter_mut().zip(metric.rows()) {
                    *used |= row.iter().any(|v| *v != 0.0);
                }
            }
            _ => used.fill(true),
        }
    }

    /// Validates the parameters, and that the kernel can be evaluated on `d` columns.
    pub fn validate(&self, d: usize) -> Result<()> {
        match self {
            Self::Linear | Self::WhiteNoise => Ok(()),
            Self::Rbf { gamma } | Self::Laplacian { gamma } => positive("gamma", *gamma),
            Self::Polynomial { degree, gamma, coef0 } => {
                if *degree == 0 {
                    return Err(Error::param("kernel", "degree", "1 or more", degree));
                }
                if !coef0.is_finite() {
                    return Err(Error::param("kernel", "coef0", "a finite number", coef0));
                }
                positive("gamma", *gamma)
            }
            Self::OnFeature { feature, kernel } => {
                if *feature >= d {
                    let expected = format!("below the number of columns, {d}");
                    return Err(Error::param("kernel", "feature", expected, feature));
                }
                kernel.validate(1)
            }
            Self::OnColumns { columns, kernel } => {
                if columns.is_empty() || columns.end > d {
                    let expected = format!("one or more of {d} columns");
                    return Err(Error::param("kernel", "columns", expected, format!("{columns:?}")));
                }
                kernel.validate(columns.len())
            }
            Self::Sum(parts) => {
                if parts.is_empty() {
                    return Err(Error::param("kernel", "sum", "at least one kernel", "none"));
                }
                parts.iter().try_for_each(|(weight, kernel)| {
                    if !weight.is_finite() {
                        return Err(Error::param("kernel", "weight", "a finite number", weight));
                    }
                    kernel.validate(d)
                })
            }
            Self::Mahalanobis { metric } => {
                if metric.dim() != (d, d) {
                    return Err(Error::Shape {
                        what: "the metric of a Mahalanobis kernel".into(),
                        expected: format!("{d} x {d}"),
                        got: format!("{} x {}", metric.nrows(), metric.ncols()),
                    });
                }
                metric_factor(metric).map(|_| ())
            }
        }
    }

    /// A short formula for tables and messages.
    pub fn describe(&self) -> String {
        match self {
            Self::Linear => "linear".into(),
            Self::Rbf { gamma } => format!("rbf(gamma={})", digits(*gamma)),
            Self::Polynomial { degree, gamma, coef0 } => {
                format!("polynomial(degree={degree}, gamma={}, coef0={coef0})", digits(*gamma))
            }
            Self::Laplacian { gamma } => format!("laplacian(gamma={})", digits(*gamma)),
            Self::WhiteNoise => "white noise".into(),
            Self::OnFeature { feature, kernel } => format!("{} on column {}", kernel.describe(), feature + 1),
            Self::OnColumns { columns, kernel } => {
                format!("{} on columns {} to {}", kernel.describe(), columns.start + 1, columns.end)
            }
            Self::Sum(parts) if parts.len() <= 3 => {
                let parts: Vec<String> =
                    parts.iter().map(|(w, k)| format!("{} {}", digits(*w), k.describe())).collect();
                parts.join(" + ")
            }
            Self::Sum(parts) => format!("sum of {} kernels", parts.len()),
            Self::Mahalanobis { metric } => format!("rbf in a metric of {0} x {0}", metric.nrows()),
        }
    }
}

/// A number with four significant digits.
fn digits(value: f64) -> String {
    let size = value.abs().log10().floor();
    if (-5.0..6.0).contains(&size) {
        let text = format!("{value:.*}", (3.0 - size).max(0.0) as usize);
        let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
        text.to_owned()
    } else {
        format!("{value:.3e}")
    }
}

fn positive(name: &'static str, value: f64) -> Result<()> {
    if value > 0.0 && value.is_finite() {
        Ok(())
    } else {
        Err(Error::param("kernel", name, "a positive finite number", value))
    }
}

/// $G$ with $M = G G^\top$, so that $(x-y)^\top M (x-y) = \lVert G^\top (x - y) \rVert^2$.
pub(super) fn metric_factor(metric: &Array2<f64>) -> Result<Array2<f64>> {
    let size = metric.iter().fold(0.0_f64, |a, v| a.max(v.abs()));
    let asymmetric = metric.indexed_iter().any(|((i, j), v)| (v - metric[[j, i]]).abs() > 1e-10 * size);
    if asymmetric || !size.is_finite() {
        return Err(Error::param(
            "kernel",
            "metric",
            "a symmetric matrix of finite numbers",
            "another matrix",
        ));
    }
    let eigen = symmetric_eigen(metric.view())?;
    let least = eigen.values.last().copied().unwrap_or(0.0);
    // Rounding errors of zero eigenvalues are about n ulps of the largest entry.
    if least < -1e-10 * size {
        return Err(Error::param(
            "kernel",
            "metric",
            "a positive semidefinite matrix",
            format!("one with the eigenvalue {least:.3e}"),
        ));
    }
    let keep = eigen.values.iter().filter(|&&v| v > 1e-15 * size).count();
    let mut factor = eigen.vectors.slice(ndarray::s![.., ..keep]).to_owned();
    for (mut column, value) in factor.columns_mut().into_iter().zip(&eigen.values) {
        column *= value.sqrt();
    }
    Ok(factor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn bad_parameters_are_named() {
        let message = |k: Kernel| k.validate(2).unwrap_err().to_string();
        assert_eq!(
            message(Kernel::Rbf { gamma: -1.0 }),
            "kernel: parameter 'gamma' must be a positive finite number, got -1"
        );
        assert!(message(Kernel::Rbf { gamma: f64::NAN }).contains("got NaN"));
        assert!(message(Kernel::Polynomial { degree: 0, gamma: 1.0, coef0: 0.0 }).contains("'degree'"));
        let far = Kernel::OnFeature { feature: 2, kernel: Box::new(Kernel::Linear) };
        assert!(message(far).contains("below the number of columns, 2"));
        let far = Kernel::OnColumns { columns: 1..3, kernel: Box::new(Kernel::Linear) };
        assert!(message(far).contains("one or more of 2 columns, got 1..3"));
        assert!(message(Kernel::Sum(vec![])).contains("at least one kernel"));
        assert!(message(Kernel::Sum(vec![(f64::INFINITY, Kernel::Linear)])).contains("'weight'"));
        assert!(message(Kernel::Mahalanobis { metric: array![[1.0]] }).contains("expected 2 x 2, got 1 x 1"));
        assert!(
            message(Kernel::Mahalanobis { metric: array![[1.0, 2.0], [2.0, 1.0]] }).contains("eigenvalue -1")
        );
        assert!(
            message(Kernel::Mahalanobis { metric: array![[1.0, 2.0], [0.0, 1.0]] }).contains("symmetric")
        );
    }

    #[test]
    fn gamma_is_shown_with_four_significant_digits() {
        let shown = |gamma| Kernel::Rbf { gamma }.describe();
        assert_eq!(shown(0.02), "rbf(gamma=0.02)");
        assert_eq!(shown(1.0 / 3.0), "rbf(gamma=0.3333)");
        assert_eq!(shown(1.234_56e-9), "rbf(gamma=1.235e-9)");
        assert_eq!(shown(123_456.7), "rbf(gamma=123457)");
        assert_eq!(shown(1e300), "rbf(gamma=1.000e300)");
    }

    #[test]
    fn columns_without_effect_are_excluded() {
        let on = |feature| Kernel::OnFeature { feature, kernel: Box::new(Kernel::Linear) };
        assert_eq!(Kernel::WhiteNoise.columns(3), [0, 1, 2]);
        assert_eq!(on(2).columns(3), [2]);
        let several = Kernel::OnColumns { columns: 1..3, kernel: Box::new(Kernel::Linear) };
        assert_eq!((several.columns(4), several.describe()), (vec![1, 2], "linear on columns 2 to 3".into()));
        assert_eq!(Kernel::Sum(vec![(1.0, on(2)), (-0.5, on(0)), (0.0, Kernel::Linear)]).columns(3), [0, 2]);
        let metric = array![[0.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 0.0]];
        assert_eq!(Kernel::Mahalanobis { metric }.columns(3), [1]);
        assert!(Kernel::Sum(vec![(0.0, on(1))]).columns(3).is_empty());
    }

    #[test]
    fn the_metric_factor_rebuilds_the_metric() {
        let metric = array![[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 0.0]];
        let g = metric_factor(&metric).unwrap();
        assert_eq!(g.ncols(), 2);
        assert!((&g.dot(&g.t()) - &metric).iter().all(|e| e.abs() < 1e-14));
    }
}
