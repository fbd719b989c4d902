//! All selectors by name: for the command line, Python, saved settings and the conformance tests.

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
use super::pfs::Pfs;
use super::relief::Relief;
use super::selector::{FeatureCount, Selection, Selector};
use super::svm_rfe::SvmRfe;
use crate::context::Context;
use crate::data::{Classes, Dataset};
use crate::error::{Error, Result};
use crate::method::{Info, Needs};
use crate::parameters::{Declared, Kind, Parameter, ParameterValue, Parameters, nested};
use serde::{Deserialize, Serialize};

/// Lists the selectors: a variant of [`SelectorMethod`] and its type. A new selector is one line. A variant is
/// serialized under the name in its [`Info`]; a test compares them.
macro_rules! selectors {
    ($($variant:ident($type:ty)),* $(,)?) => {
        /// A selector with its parameters.
        #[derive(Debug, Clone, Serialize, Deserialize)]
        #[serde(tag = "method", rename_all = "kebab-case")]
        pub enum SelectorMethod {
            $(#[doc = concat!("See [`", stringify!($type), "`].")] $variant($type),)*
        }

        /// What to know about each selector before using it.
        pub const SELECTORS: &[Info] = &[$(<$type>::INFO),*];

        impl SelectorMethod {
            /// Looks up a selector by name, with its defaults.
            pub fn by_name(name: &str) -> Result<Self> {
                $(if name == <$type>::INFO.name {
                    return Ok(Self::$variant(<$type>::default()));
                })*
                Err(Error::unknown_name("selector", name, SELECTORS.iter().map(|info| info.name)))
            }

            fn inner(&self) -> &dyn Selector {
                match self { $(Self::$variant(method) => method),* }
            }

            fn inner_mut(&mut self) -> &mut dyn Selector {
                match self { $(Self::$variant(method) => method),* }
            }
        }
    };
}

selectors! {
    Fisher(FisherScore),
    Ffs(Ffs),
    Relief(Relief),
    SvmRfe(SvmRfe),
    L1Svm(L1Svm),
    InformationGain(InformationGain),
    MutualInformation(MutualInformation),
    ChiSquared(ChiSquared),
    Laplacian(LaplacianScore),
    Hsfs(Hsfs),
    Fohsic(Fohsic),
    Bahsic(Bahsic),
    HsicLasso(HsicLasso),
    Ldfs(Ldfs),
    Pfs(Pfs),
}

impl SelectorMethod {
    /// The name that [`SelectorMethod::by_name`] accepts.
    pub fn name(&self) -> &'static str {
        self.info().name
    }
}

impl Parameters for SelectorMethod {
    fn parameters(&self) -> Vec<Parameter> {
        self.inner().parameters()
    }

    fn check_ranges(&self) -> Result<()> {
        self.inner().check_ranges()
    }
}

impl ParameterValue for SelectorMethod {
    fn kinds() -> Vec<Kind> {
        vec![]
    }

    fn list(&self, declared: &Declared) -> Vec<Parameter> {
        nested(self.parameters(), declared)
    }
}

impl Selector for SelectorMethod {
    fn info(&self) -> &'static Info {
        self.inner().info()
    }

    fn select(&self, data: &Dataset, count: FeatureCount, ctx: &Context) -> Result<Selection> {
        self.inner().select(data, count, ctx)
    }

    fn select_each(&self, data: &Dataset, counts: &[usize], ctx: &Context) -> Vec<Result<Selection>> {
        self.inner().select_each(data, counts, ctx)
    }

    fn needs(&self) -> Needs {
        self.inner().needs()
    }

    fn supports_missing(&self) -> bool {
        self.inner().supports_missing()
    }

    fn wants_scaling(&self) -> bool {
        self.inner().wants_scaling()
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
