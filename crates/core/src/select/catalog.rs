//! All selectors by name: for the command line, Python, saved settings and the conformance tests.

use super::auto::Auto;
use super::bahsic::Bahsic;
use super::chi_squared::ChiSquared;
use super::ffs::Ffs;
use super::fisher::FisherScore;
use super::fohsic::Fohsic;
use super::hsfs::Hsfs;
use super::hsic_lasso::HsicLasso;
use super::information::InformationGain;
use super::l1_svm::L1Svm;
use super::laplacian::LaplacianScore;
use super::ldfs::Ldfs;
use super::mutual::MutualInformation;
use super::nca::Nca;
use super::pfs::Pfs;
use super::relief::Relief;
use super::selector::{DependenceCheck, FeatureCount, Selection, Selector};
use super::svm_rfe::SvmRfe;
use crate::context::Context;
use crate::data::{Classes, Dataset};
use crate::error::{Error, Result};
use crate::method::{Info, Needs, family};
use crate::parameters::Parameters;

family! {
    /// A selector with its parameters.
    pub enum SelectorMethod: Selector, "selector", "method", SELECTORS {
        Auto(Auto): INFO => Auto::default();
        Fisher(FisherScore): INFO => FisherScore::default();
        Ffs(Ffs): INFO => Ffs::default();
        Relief(Relief): INFO => Relief::default();
        SvmRfe(SvmRfe): INFO => SvmRfe::default();
        L1Svm(L1Svm): INFO => L1Svm::default();
        InformationGain(InformationGain): INFO => InformationGain::default();
        MutualInformation(MutualInformation): INFO => MutualInformation::default();
        ChiSquared(ChiSquared): INFO => ChiSquared::default();
        Laplacian(LaplacianScore): INFO => LaplacianScore::default();
        Hsfs(Hsfs): INFO => Hsfs::default();
        Fohsic(Fohsic): INFO => Fohsic::default();
        Bahsic(Bahsic): INFO => Bahsic::default();
        HsicLasso(HsicLasso): INFO => HsicLasso::default();
        Nca(Nca): INFO => Nca::default();
        Ldfs(Ldfs): INFO => Ldfs::default();
        Pfs(Pfs): INFO => Pfs::default();
    }
}

impl SelectorMethod {
    /// The names of the selectors that support weights.
    pub fn names_with_weights() -> Vec<&'static str> {
        Self::names_with(|method| method.supports_weights())
    }

    /// The names of the selectors that support several target columns.
    pub fn names_with_outputs() -> Vec<&'static str> {
        Self::names_with(|method| method.supports_outputs())
    }

    fn names_with(is_supported: impl Fn(&Self) -> bool) -> Vec<&'static str> {
        let names = SELECTORS.iter().map(|info| info.name);
        names.filter(|name| Self::by_name(name).is_ok_and(|method| is_supported(&method))).collect()
    }

    /// The name that [`SelectorMethod::by_name`] accepts.
    pub fn name(&self) -> &'static str {
        self.info().name
    }
}

impl Selector for SelectorMethod {
    fn info(&self) -> &'static Info {
        self.inner().info()
    }

    fn fit(&self, data: &Dataset, count: FeatureCount, ctx: &Context) -> Result<Selection> {
        self.inner().fit(data, count, ctx)
    }

    fn fit_each(&self, data: &Dataset, counts: &[usize], ctx: &Context) -> Vec<Result<Selection>> {
        self.inner().fit_each(data, counts, ctx)
    }

    fn max_rows(&self) -> Option<usize> {
        self.inner().max_rows()
    }

    fn supports_weights(&self) -> bool {
        self.inner().supports_weights()
    }

    fn supports_outputs(&self) -> bool {
        self.inner().supports_outputs()
    }

    fn check_data(&self, data: &Dataset) -> Result<()> {
        self.inner().check_data(data).map_err(|error| match error {
            Error::WeightsUnsupported { method, .. } => {
                Error::WeightsUnsupported { method, supported: Self::names_with_weights() }
            }
            Error::OutputsUnsupported { method, .. } => {
                Error::OutputsUnsupported { method, supported: Self::names_with_outputs() }
            }
            other => other,
        })
    }

    fn needs(&self) -> Needs {
        self.inner().needs()
    }

    fn supports_types(&self) -> bool {
        self.inner().supports_types()
    }

    fn wants_scaling(&self) -> bool {
        self.inner().wants_scaling()
    }

    fn dependence_check(&self) -> Option<DependenceCheck> {
        self.inner().dependence_check()
    }

    fn has_path(&self) -> bool {
        self.inner().has_path()
    }

    fn nested(&self) -> bool {
        self.inner().nested()
    }

    fn check(&self) -> Result<()> {
        self.inner().check()
    }

    fn check_classes(&self, classes: &Classes) -> Result<()> {
        self.inner().check_classes(classes)
    }

    fn clear_fixed_count(&mut self) {
        self.inner_mut().clear_fixed_count();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_serialized_ones() {
        for info in SELECTORS {
            let method = SelectorMethod::by_name(info.name).unwrap();
            assert_eq!(serde_json::to_value(&method).unwrap()["method"], info.name);
            assert_eq!(method.name(), info.name);
        }
    }
}
