//! A kernel as a weighted sum of terms, each a function of one number per pair of rows.

use super::formula::Kernel;
use crate::simd::exp_scaled;
use std::ops::Range;

/// A kernel without sums, on all columns or on those of one feature.
pub(super) struct SimpleKernel<'a> {
    /// The columns it sees; `None` for all.
    pub columns: Option<Range<usize>>,
    pub kernel: &'a Kernel,
}

impl SimpleKernel<'_> {
    /// The column it sees if it sees only one.
    pub fn single_column(&self) -> Option<usize> {
        self.columns.as_ref().filter(|columns| columns.len() == 1).map(|columns| columns.start)
    }
}

/// The weighted terms of a kernel.
pub(super) fn flatten(kernel: &Kernel) -> Vec<(f64, SimpleKernel<'_>)> {
    flatten_on(kernel, None)
}

fn flatten_on(kernel: &Kernel, outer: Option<Range<usize>>) -> Vec<(f64, SimpleKernel<'_>)> {
    // Columns of a nested kernel count from the first column of the outer one.
    let within = |inner: Range<usize>| {
        let first = outer.as_ref().map_or(0, |outer| outer.start);
        Some(first + inner.start..first + inner.end)
    };
    match kernel {
        Kernel::Sum(parts) => parts
            .iter()
            .flat_map(|(weight, part)| {
                flatten_on(part, outer.clone()).into_iter().map(move |(w, term)| (weight * w, term))
            })
            .collect(),
        Kernel::OnFeature { feature, kernel } => flatten_on(kernel, within(*feature..feature + 1)),
        Kernel::OnColumns { columns, kernel } => flatten_on(kernel, within(columns.clone())),
        _ => vec![(1.0, SimpleKernel { columns: outer, kernel })],
    }
}

/// The function that a term applies to a product, a distance or an equality.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Form {
    Product,
    Polynomial { degree: u32, gamma: f64, coef0: f64 },
    SquaredDistance { gamma: f64 },
    AbsoluteDistance { gamma: f64 },
    Equal,
}

impl Form {
    /// The form of a flattened kernel. For a metric it applies to rows multiplied by the metric's factor.
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
            Kernel::Sum(_) | Kernel::OnFeature { .. } | Kernel::OnColumns { .. } => {
                unreachable!("flattened before")
            }
        }
    }

    /// Turns products, distances or equalities into kernel values, in place.
    pub fn apply(self, numbers: &mut [f64]) {
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
