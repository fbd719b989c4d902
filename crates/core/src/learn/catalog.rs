//! All kernel learners by name.

use super::design::KernelDesign;
use super::learner::{KernelLearner, Learned};
use super::single::{SingleKernel, UniformAverage};
use super::xing::XingMetric;
use crate::context::Context;
use crate::data::triplets::from_target;
use crate::data::{Dataset, Triplet};
use crate::error::Result;
use crate::method::family;
use crate::parameters::Parameters;

family! {
    /// A kernel learner with its parameters.
    #[derive(PartialEq)]
    pub enum LearnerMethod: KernelLearner, "kernel learner", "method", LEARNERS {
        Design(KernelDesign): INFO => KernelDesign::default();
        Xing(XingMetric): INFO => XingMetric::default(), DIAGONAL => XingMetric::diagonal();
        Average(UniformAverage): INFO => UniformAverage::default();
        Single(SingleKernel):
            GAUSSIAN => SingleKernel::default(), LINEAR => SingleKernel::linear(), POLYNOMIAL => SingleKernel::polynomial();
    }
}

impl LearnerMethod {
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
        self.inner().name()
    }

    fn learn(&self, data: &Dataset, triplets: &[Triplet], ctx: &Context) -> Result<Learned> {
        self.inner().learn(data, triplets, ctx)
    }
}
