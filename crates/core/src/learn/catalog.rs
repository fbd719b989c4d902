//! All kernel learners by name.

use super::design::KernelDesign;
use super::learner::{KernelLearner, Learned};
use super::single::{SingleKernel, UniformAverage};
use super::xing::{MetricForm, XingMetric};
use crate::context::Context;
use crate::data::triplets::from_target;
use crate::data::{Dataset, Triplet};
use crate::error::{Error, Result};
use crate::method::{Info, Needs};
use serde::{Deserialize, Serialize};

/// A kernel learner chosen by name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LearnerMethod {
    /// A mixture of kernels by linear programming.
    Design(KernelDesign),
    /// A metric from similar and dissimilar pairs.
    Xing(XingMetric),
    /// The average of base kernels.
    Average(UniformAverage),
    /// A single kernel.
    Single(SingleKernel),
}

/// A description of each learner.
pub const LEARNERS: [Info; 7] = [
    Info {
        name: "design",
        title: "Kernel design by linear programming",
        summary: "A mixture of one-feature kernels that satisfies triplet constraints, and the features it needs",
        needs: Needs::Triplets,
        cost: "O(t k²) per step for t triplets and k kernels; with dominance also O(n² k) per round",
        reference: "Fung, Rosales and Rao, IJCAI 2007",
    },
    Info {
        name: "xing",
        title: "Metric from similar and dissimilar pairs",
        summary: "A metric in which similar pairs are near and dissimilar pairs are far",
        needs: Needs::Triplets,
        cost: "O(n d m + t m) per step for rank m, O(d³) in all",
        reference: "Xing, Ng, Jordan and Russell, NIPS 2002",
    },
    Info {
        name: "xing-diagonal",
        title: "Feature weights from similar and dissimilar pairs",
        summary: "The same with one weight per feature, zero for features that are not needed",
        needs: Needs::Triplets,
        cost: "O(t d) per step",
        reference: "Xing, Ng, Jordan and Russell, NIPS 2002",
    },
    Info {
        name: "average",
        title: "Average of kernels",
        summary: "The kernels that design would mix, with equal weights",
        needs: Needs::Baseline,
        cost: "O(n d)",
        reference: "a baseline",
    },
    Info {
        name: "gaussian",
        title: "Gaussian kernel",
        summary: "A Gaussian kernel of all features; it satisfies the same triplets as the Euclidean distance",
        needs: Needs::Baseline,
        cost: "O(n d)",
        reference: "a baseline",
    },
    Info {
        name: "linear",
        title: "Linear kernel",
        summary: "The inner product of samples",
        needs: Needs::Baseline,
        cost: "O(n d)",
        reference: "a baseline",
    },
    Info {
        name: "polynomial",
        title: "Polynomial kernel",
        summary: "A polynomial of the inner product, of degree 2 by default",
        needs: Needs::Baseline,
        cost: "O(n d)",
        reference: "a baseline",
    },
];

impl LearnerMethod {
    /// A learner by name, with its defaults.
    pub fn by_name(name: &str) -> Result<Self> {
        let xing = |form| Self::Xing(XingMetric { form, ..XingMetric::default() });
        match name {
            "design" => Ok(Self::Design(KernelDesign::default())),
            "xing" => Ok(xing(MetricForm::Full)),
            "xing-diagonal" => Ok(xing(MetricForm::Diagonal)),
            "average" => Ok(Self::Average(UniformAverage::default())),
            "gaussian" => Ok(Self::Single(SingleKernel::default())),
            "linear" => Ok(Self::Single(SingleKernel::linear())),
            "polynomial" => Ok(Self::Single(SingleKernel::polynomial())),
            _ => Err(Error::unknown_name("kernel learner", name, LEARNERS.iter().map(|info| info.name))),
        }
    }

    /// Draws `n` triplets from the target of `data` with the context's seed, and learns from them. Kernel
    /// design draws further triplets where it chooses penalties.
    pub fn learn_from_target(&self, data: &Dataset, n: usize, ctx: &Context) -> Result<Learned> {
        if let Self::Design(design) = self {
            return Ok(design.design_from_target(data, n, ctx)?.learned);
        }
        let rows: Vec<usize> = (0..data.n()).collect();
        self.learn(data, &from_target(data.target(), &rows, n, ctx)?, ctx)
    }
}

impl KernelLearner for LearnerMethod {
    fn name(&self) -> &'static str {
        match self {
            Self::Design(method) => method.name(),
            Self::Xing(XingMetric { form: MetricForm::Full, .. }) => "xing",
            Self::Xing(XingMetric { form: MetricForm::Diagonal, .. }) => "xing-diagonal",
            Self::Average(method) => method.name(),
            Self::Single(method) => method.name(),
        }
    }

    fn learn(&self, data: &Dataset, triplets: &[Triplet], ctx: &Context) -> Result<Learned> {
        let learned = match self {
            Self::Design(method) => method.learn(data, triplets, ctx)?,
            Self::Xing(method) => method.learn(data, triplets, ctx)?,
            Self::Average(method) => method.learn(data, triplets, ctx)?,
            Self::Single(method) => method.learn(data, triplets, ctx)?,
        };
        Ok(Learned { method: self.name().into(), ..learned })
    }
}
