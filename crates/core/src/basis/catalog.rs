//! All bases by name: for the command line, Python, saved settings and the conformance tests.

use super::discriminant::Discriminant;
use super::feature_map::{Basis, Fitted};
use super::{Kgs, Kobl, Kpca};
use crate::context::Context;
use crate::data::Dataset;
use crate::error::Result;
use crate::kernel::KernelChoice;
use crate::method::{Info, family};
use crate::parameters::Parameters;

family! {
    /// A basis with its parameters.
    pub enum BasisMethod: Basis, "basis", "method", BASES {
        Kobl(Kobl): INFO => Kobl::default();
        Kgs(Kgs): INFO => Kgs::default();
        Kpca(Kpca): INFO => Kpca::default();
        Discriminant(Discriminant): KDA => Discriminant::default(), GDA => Discriminant::gda();
    }
}

impl BasisMethod {
    /// The name that [`BasisMethod::by_name`] accepts.
    pub fn name(&self) -> &'static str {
        self.info().name
    }

    /// The kernel, mutable.
    pub fn kernel_mut(&mut self) -> &mut KernelChoice {
        self.shared_mut().0
    }

    /// The maximum number of components, mutable.
    pub fn n_components_mut(&mut self) -> &mut Option<usize> {
        self.shared_mut().1
    }
}

impl Basis for BasisMethod {
    fn info(&self) -> &'static Info {
        self.inner().info()
    }

    fn shared_mut(&mut self) -> (&mut KernelChoice, &mut Option<usize>) {
        self.inner_mut().shared_mut()
    }

    fn kernel(&self) -> &KernelChoice {
        self.inner().kernel()
    }

    fn n_components(&self) -> Option<usize> {
        self.inner().n_components()
    }

    fn fit(&self, data: &Dataset, ctx: &Context) -> Result<Fitted> {
        self.inner().fit(data, ctx)
    }
}
