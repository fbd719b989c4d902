//! Named combinations of basis and selector, for the command line and the conformance tests.

use super::selector::{KernelSpaceSelector, kffs};
use crate::basis::{BasisMethod, Kgs, Kobl, Kpca};
use crate::error::{Error, Result};
use crate::method::{Info, Needs};
use crate::select::{Relief, SelectorMethod};

/// What to know about each method before using it.
pub const SPACES: [Info; 4] = [
    Info {
        name: "takes",
        title: "TAKES: KOBL, then forward selection (KFFS)",
        summary: "few directions of kernel space whose weak classifiers vote well together",
        needs: Needs::Classes,
        cost: "O(n m²) time, O(n m) memory; exact KLMS up to 4096 rows O(n² m)",
        reference: "Xu et al., TAKES, CIKM 2010",
    },
    Info {
        name: "kgs-kffs",
        title: "Kernel Gram-Schmidt, then forward selection (KFFS)",
        summary: "the same among the directions of all rows in their order",
        needs: Needs::Classes,
        cost: "O(n m²) time, O(n m) memory, m up to n",
        reference: "Xu et al., TAKES, CIKM 2010",
    },
    Info {
        name: "fskgs",
        title: "Kernel Gram-Schmidt, then Relief",
        summary: "directions in which near rows of other classes are far",
        needs: Needs::Classes,
        cost: "O(n² m) time, O(n m) memory, m up to n",
        reference: "Cao et al., ICML 2007",
    },
    Info {
        name: "fskpca",
        title: "Kernel principal components, then Relief",
        summary: "principal components in which near rows of other classes are far",
        needs: Needs::Classes,
        cost: "O(n³) time, O(n²) memory",
        reference: "Cao et al., ICML 2007",
    },
];

impl KernelSpaceSelector {
    /// KOBL, then forward selection with KLMS.
    pub fn takes() -> Self {
        Self::pair(BasisMethod::Kobl(Kobl::default()), kffs())
    }

    /// Looks up a combination by name, with the paper's settings.
    pub fn by_name(name: &str) -> Result<Self> {
        let relief = || SelectorMethod::Relief(Relief::original());
        match name {
            "takes" => Ok(Self::takes()),
            "kgs-kffs" => Ok(Self::pair(BasisMethod::Kgs(Kgs::default()), kffs())),
            "fskgs" => Ok(Self::pair(BasisMethod::Kgs(Kgs::default()), relief())),
            "fskpca" => Ok(Self::pair(BasisMethod::Kpca(Kpca::default()), relief())),
            _ => Err(Error::unknown_name("method", name, SPACES.iter().map(|info| info.name))),
        }
    }

    fn pair(basis: BasisMethod, selector: SelectorMethod) -> Self {
        Self { basis, selector: Some(selector), ..Self::default() }
    }
}
