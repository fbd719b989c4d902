//! All kernel learners by name: for the command line and the conformance tests.

use super::design::KernelDesign;
use super::learner::{KernelLearner, Learned};
use super::single::{SingleKernel, UniformAverage};
use super::xing::{MetricForm, XingMetric};
use crate::context::Context;
use crate::data::triplets::from_target;
use crate::data::{Dataset, Triplet};
use crate::error::{Error, Result};
use crate::method::Info;
use serde::{Deserialize, Serialize};

/// A kernel learner chosen by name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LearnerMethod {
    /// A mixture by linear programming.
    Design(KernelDesign),
    /// A metric.
    Xing(XingMetric),
    /// The average of many kernels.
    Average(UniformAverage),
    /// One kernel as it is.
    Single(SingleKernel),
}

/// What there is to know about each learner before using it.
pub const LEARNERS: [Info; 7] = [
    Info {
        name: "design",
        title: "Kernel design by linear programming",
        finds: "a mixture of one-column kernels that has triples in order, and which columns it needs",
        needs: "triples, or a target to draw them from",
        cost: "O(t k²) a step for t triples and k kernels; with dominance also O(n² k) a round",
        reference: "Fung, Rosales and Rao, IJCAI 2007",
    },
    Info {
        name: "xing",
        title: "Metric from similar and dissimilar pairs",
        finds: "a metric in which similar pairs are near and dissimilar ones far",
        needs: "triples, or a target to draw them from",
        cost: "O(n d m + t m) a step for rank m, O(d³) in all",
        reference: "Xing, Ng, Jordan and Russell, NIPS 2002",
    },
    Info {
        name: "xing-diagonal",
        title: "Weights of columns from similar and dissimilar pairs",
        finds: "the same with a weight for every column, zero for those not needed",
        needs: "triples, or a target to draw them from",
        cost: "O(t d) a step",
        reference: "Xing, Ng, Jordan and Russell, NIPS 2002",
    },
    Info {
        name: "average",
        title: "Average of kernels",
        finds: "nothing: all kernels that design would mix, with one weight",
        needs: "triples only to judge by",
        cost: "O(n d)",
        reference: "a yardstick",
    },
    Info {
        name: "gaussian",
        title: "Gaussian kernel",
        finds: "nothing: a Gaussian of all columns; its order of triples is that of plain distances",
        needs: "triples only to judge by",
        cost: "O(n d)",
        reference: "a yardstick",
    },
    Info {
        name: "linear",
        title: "Linear kernel",
        finds: "nothing: the product of rows",
        needs: "triples only to judge by",
        cost: "O(n d)",
        reference: "a yardstick",
    },
    Info {
        name: "polynomial",
        title: "Polynomial kernel",
        finds: "nothing: a polynomial of the product of rows, of degree 2 unless told otherwise",
        needs: "triples only to judge by",
        cost: "O(n d)",
        reference: "a yardstick",
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

    /// Draws `n` triples from the target of `data` with the context's seed, and learns from them. Kernel
    /// design also draws anew where it chooses penalties.
    pub fn learn_from_target(&self, data: &Dataset, n: usize, ctx: &Context) -> Result<Learned> {
        if let Self::Design(design) = self {
            return Ok(design.design_from_target(data, n, ctx)?.learned);
        }
        let rows: Vec<usize> = (0..data.n()).collect();
        self.learn(data, &from_target(data.target(), &rows, n, ctx.seed)?, ctx)
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
