//! All bases by name: for the command line, Python, saved settings and the conformance tests.

use super::discriminant::{Criterion, Discriminant};
use super::feature_map::{Basis, Fitted};
use super::{Kgs, Kobl, Kpca};
use crate::context::Context;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::kernel::KernelChoice;
use crate::method::{Info, Needs};
use crate::parameters::{Declared, Kind, Parameter, ParameterValue, Parameters, nested};
use serde::{Deserialize, Serialize};

/// A basis with its parameters.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "method", rename_all = "kebab-case")]
pub enum BasisMethod {
    /// Kernel orthogonal basis learning.
    Kobl(Kobl),
    /// Kernel Gram-Schmidt.
    Kgs(Kgs),
    /// Kernel principal components.
    Kpca(Kpca),
    /// Kernel discriminants.
    Discriminant(Discriminant),
}

/// What to know about each basis before using it.
pub const BASES: [Info; 5] = [
    Info {
        name: "kobl",
        title: "Kernel orthogonal basis learning",
        summary: "The intrinsic dimension of kernel space, and an orthonormal basis built from few samples",
        needs: Needs::Nothing,
        cost: "O(n m²) time, O(n m) memory",
        reference: "Xu et al., TAKES, CIKM 2010",
    },
    Info {
        name: "kgs",
        title: "Kernel Gram-Schmidt",
        summary: "An orthonormal basis from the samples in the order given",
        needs: Needs::Nothing,
        cost: "O(n m²) time, O(n m) memory",
        reference: "Cao et al., ICML 2007",
    },
    Info {
        name: "kpca",
        title: "Kernel principal components",
        summary: "The directions of largest variance in kernel space",
        needs: Needs::Nothing,
        cost: "O(n³) time, O(n²) memory",
        reference: "Schölkopf et al., 1998",
    },
    Info {
        name: "kda",
        title: "Kernel discriminant analysis",
        summary: "Directions of large between-class relative to within-class scatter",
        needs: Needs::Classes,
        cost: "O(n³) time, O(n²) memory",
        reference: "Mika et al., 1999",
    },
    Info {
        name: "gda",
        title: "Generalized discriminant analysis",
        summary: "Directions of large between-class relative to total scatter",
        needs: Needs::Classes,
        cost: "O(n³) time, O(n²) memory",
        reference: "Baudat and Anouar, 2000",
    },
];

impl BasisMethod {
    /// Looks up a basis by name, with its defaults.
    pub fn by_name(name: &str) -> Result<Self> {
        let discriminant =
            |criterion| Self::Discriminant(Discriminant { criterion, ..Discriminant::default() });
        match name {
            "kobl" => Ok(Self::Kobl(Kobl::default())),
            "kgs" => Ok(Self::Kgs(Kgs::default())),
            "kpca" => Ok(Self::Kpca(Kpca::default())),
            "kda" => Ok(discriminant(Criterion::Kda)),
            "gda" => Ok(discriminant(Criterion::Gda)),
            _ => Err(Error::unknown_name("basis", name, BASES.iter().map(|info| info.name))),
        }
    }

    /// The name that [`BasisMethod::by_name`] accepts.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Kobl(_) => "kobl",
            Self::Kgs(_) => "kgs",
            Self::Kpca(_) => "kpca",
            Self::Discriminant(method) => match method.criterion {
                Criterion::Kda => "kda",
                Criterion::Gda => "gda",
            },
        }
    }

    fn inner(&self) -> &dyn Basis {
        match self {
            Self::Kobl(method) => method,
            Self::Kgs(method) => method,
            Self::Kpca(method) => method,
            Self::Discriminant(method) => method,
        }
    }

    fn shared_mut(&mut self) -> (&mut KernelChoice, &mut Option<usize>) {
        match self {
            Self::Kobl(method) => (&mut method.kernel, &mut method.n_components),
            Self::Kgs(method) => (&mut method.kernel, &mut method.n_components),
            Self::Kpca(method) => (&mut method.kernel, &mut method.n_components),
            Self::Discriminant(method) => (&mut method.kernel, &mut method.n_components),
        }
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

impl Parameters for BasisMethod {
    fn parameters(&self) -> Vec<Parameter> {
        self.inner().parameters()
    }

    fn check_ranges(&self) -> Result<()> {
        self.inner().check_ranges()
    }
}

impl ParameterValue for BasisMethod {
    fn kinds() -> Vec<Kind> {
        vec![]
    }

    fn list(&self, declared: &Declared) -> Vec<Parameter> {
        nested(self.parameters(), declared)
    }
}

impl Basis for BasisMethod {
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
