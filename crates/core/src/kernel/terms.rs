//! A kernel taken apart: weighted terms, each one formula of one number per pair of rows.

use super::formula::Kernel;
use crate::simd::exp_scaled;

/// A kernel without sums and features inside features.
pub(super) struct Flat<'a> {
    pub feature: Option<usize>,
    pub kernel: &'a Kernel,
}

/// Opens sums and one-feature kernels.
pub(super) fn flatten(kernel: &Kernel, feature: Option<usize>) -> Vec<(f64, Flat<'_>)> {
    match kernel {
        Kernel::Sum(parts) => parts
            .iter()
            .flat_map(|(weight, part)| {
                flatten(part, feature).into_iter().map(move |(w, flat)| (weight * w, flat))
            })
            .collect(),
        // Inside a one-feature kernel there is only column 0, which is the outer one's feature.
        Kernel::OnFeature { feature: inner, kernel } => flatten(kernel, feature.or(Some(*inner))),
        _ => vec![(1.0, Flat { feature, kernel })],
    }
}

/// What is done with a number per pair of rows.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Form {
    Product,
    Polynomial { degree: u32, gamma: f64, coef0: f64 },
    SquaredDistance { gamma: f64 },
    AbsoluteDistance { gamma: f64 },
    Equal,
}

impl Form {
    /// The form of a kernel that was flattened. That of a metric is over rows turned by its factor.
    pub fn of(kernel: &Kernel) -> Self {
        match kernel {
            Kernel::Linear => Self::Product,
            Kernel::Polynomial { degree, gamma, coef0 } => {
                Self::Polynomial { degree: *degree, gamma: *gamma, coef0: *coef0 }
            }
            Kernel::Rbf { gamma } => Self::SquaredDistance { gamma: *gamma },
            Kernel::Laplacian { gamma } => Self::AbsoluteDistance { gamma: *gamma },
            Kernel::WhiteNoise => Self::Equal,
            Kernel::Mahalanobis { .. } => Self::SquaredDistance { gamma: 1.0 },
            Kernel::Sum(_) | Kernel::OnFeature { .. } => unreachable!("flattened before"),
        }
    }

    /// Turns products, distances and equalities into values of the kernel.
    pub fn finish(self, numbers: &mut [f64]) {
        match self {
            Self::Product | Self::Equal => {}
            Self::Polynomial { degree, gamma, coef0 } => {
                numbers.iter_mut().for_each(|v| *v = power(gamma * *v + coef0, degree));
            }
            Self::SquaredDistance { gamma } | Self::AbsoluteDistance { gamma } => exp_scaled(numbers, -gamma),
        }
    }
}

pub(super) fn power(base: f64, degree: u32) -> f64 {
    base.powi(degree.min(i32::MAX as u32) as i32)
}
