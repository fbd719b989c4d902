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
use super::laplacian::{Graph, LaplacianScore};
use super::ldfs::Ldfs;
use super::mutual::MutualInformation;
use super::pfs::Pfs;
use super::relief::{Relief, Units};
use super::selector::{FeatureCount, Selection, Selector};
use super::svm_rfe::SvmRfe;
use crate::context::Context;
use crate::data::{Classes, Dataset, Target};
use crate::error::{Error, Result};
use crate::method::Info;
use serde::{Deserialize, Serialize};

/// A selector with its parameters.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "method", rename_all = "kebab-case")]
pub enum SelectorMethod {
    /// Fisher score.
    Fisher(FisherScore),
    /// Forward selection over weak classifiers.
    Ffs(Ffs),
    /// Relief.
    Relief(Relief),
    /// Recursive elimination by a support vector machine.
    SvmRfe(SvmRfe),
    /// A sparse linear support vector machine.
    L1Svm(L1Svm),
    /// Information gain.
    InformationGain(InformationGain),
    /// Mutual information by nearest neighbours.
    MutualInformation(MutualInformation),
    /// Chi-squared.
    ChiSquared(ChiSquared),
    /// Laplacian score.
    Laplacian(LaplacianScore),
    /// HSFS.
    Hsfs(Hsfs),
    /// Forward selection by HSIC.
    Fohsic(Fohsic),
    /// Backward elimination by HSIC.
    Bahsic(Bahsic),
    /// The lasso over kernel matrices.
    HsicLasso(HsicLasso),
    /// Linear discriminant feature selection.
    Ldfs(Ldfs),
    /// Principal feature selection.
    Pfs(Pfs),
}

/// What there is to know about each selector before using it.
pub const SELECTORS: [Info; 15] = [
    Info {
        name: "fisher",
        title: "Fisher score",
        finds: "columns whose class means lie far apart, one at a time",
        needs: "classes or a number",
        cost: "O(n d) time, O(C d) memory for C classes",
        reference: "Fisher, 1936",
    },
    Info {
        name: "ffs",
        title: "Forward selection over weak classifiers",
        finds: "columns whose stumps vote well together",
        needs: "classes",
        cost: "O(n d²) time, n d bytes",
        reference: "Wu et al., 2008",
    },
    Info {
        name: "relief",
        title: "Relief",
        finds: "columns in which near rows of other classes are far and those of the same class near",
        needs: "classes or a number; bears gaps",
        cost: "O(n² d) time, O(n d) memory",
        reference: "Kira and Rendell, 1992; Kononenko, 1994",
    },
    Info {
        name: "svm-rfe",
        title: "SVM-RFE",
        finds: "columns that a support vector machine misses most, the others leaving one by one",
        needs: "classes",
        cost: "O(n² d) time and a machine per round, O(n²) memory",
        reference: "Guyon et al., 2002",
    },
    Info {
        name: "l1-svm",
        title: "L1-SVM",
        finds: "columns that a sparse linear machine gives a weight",
        needs: "classes",
        cost: "some thousand passes over the cells, O(n d) memory",
        reference: "Bradley and Mangasarian, 1998",
    },
    Info {
        name: "information-gain",
        title: "Information gain",
        finds: "columns whose bins tell the class, one at a time",
        needs: "classes",
        cost: "O(n log n) time a column",
        reference: "Quinlan, 1986; Fayyad and Irani, 1993",
    },
    Info {
        name: "mutual-information",
        title: "Mutual information by nearest neighbours",
        finds: "columns that tell anything of the target, one at a time",
        needs: "classes or a number",
        cost: "O(n log n) time a column; for a number O(n^1.5)",
        reference: "Kraskov et al., 2004; Ross, 2014",
    },
    Info {
        name: "chi-squared",
        title: "Chi-squared",
        finds: "counts, or bins, that depend on the class, one column at a time",
        needs: "classes",
        cost: "O(n d) time; with bins O(n log n) a column",
        reference: "Pearson, 1900; Liu and Setiono, 1995",
    },
    Info {
        name: "laplacian",
        title: "Laplacian score",
        finds: "columns that vary little between neighbouring rows",
        needs: "nothing but features",
        cost: "O(n² d) time, O(n d) memory",
        reference: "He, Cai and Niyogi, 2005",
    },
    Info {
        name: "hsfs",
        title: "HSFS",
        finds: "columns of the projection that tells most of the target, nonlinearly and together",
        needs: "classes or a number",
        cost: "some hundred times O(n² q + n d q) time, O(n d) memory; beyond 5000 rows O(n m q + n d q)",
        reference: "Masaeli, Fung and Dy, 2010",
    },
    Info {
        name: "fohsic",
        title: "FOHSIC",
        finds: "columns that join one by one as the target depends most on them together",
        needs: "classes or a number",
        cost: "O(n² d) time a step, O(n d) memory",
        reference: "Song et al., 2012",
    },
    Info {
        name: "bahsic",
        title: "BAHSIC",
        finds: "columns, also pairs that tell something only together, that the target's dependence on all misses most",
        needs: "classes or a number",
        cost: "O(n² d) time for each tenth that leaves, O(n d) memory",
        reference: "Song et al., 2012",
    },
    Info {
        name: "hsic-lasso",
        title: "HSIC Lasso",
        finds: "columns with any dependence that is not told by others already",
        needs: "classes or a number",
        cost: "O(n) time a column, O(n) memory for each that comes near",
        reference: "Yamada et al., 2014; Climente-Gonzalez et al., 2019",
    },
    Info {
        name: "ldfs",
        title: "LDFS",
        finds: "columns whose combination tells classes apart, by discriminant analysis with weights that vanish",
        needs: "classes",
        cost: "O(n C) time a column and sweep, O(n d) memory",
        reference: "Masaeli, Fung and Dy, 2010",
    },
    Info {
        name: "pfs",
        title: "PFS",
        finds: "columns from which the others can be told",
        needs: "nothing but features",
        cost: "O(n q) time a column and sweep for q targets, O(n d) memory",
        reference: "Masaeli et al., 2010",
    },
];

impl SelectorMethod {
    /// A selector by name, with its defaults.
    pub fn by_name(name: &str) -> Result<Self> {
        match name {
            "fisher" => Ok(Self::Fisher(FisherScore::default())),
            "ffs" => Ok(Self::Ffs(Ffs::default())),
            "relief" => Ok(Self::Relief(Relief::relieff())),
            "svm-rfe" => Ok(Self::SvmRfe(SvmRfe::default())),
            "l1-svm" => Ok(Self::L1Svm(L1Svm::default())),
            "information-gain" => Ok(Self::InformationGain(InformationGain::default())),
            "mutual-information" => Ok(Self::MutualInformation(MutualInformation::default())),
            "chi-squared" => Ok(Self::ChiSquared(ChiSquared::default())),
            "laplacian" => Ok(Self::Laplacian(LaplacianScore::default())),
            "hsfs" => Ok(Self::Hsfs(Hsfs::default())),
            "fohsic" => Ok(Self::Fohsic(Fohsic::default())),
            "bahsic" => Ok(Self::Bahsic(Bahsic::default())),
            "hsic-lasso" => Ok(Self::HsicLasso(HsicLasso::default())),
            "ldfs" => Ok(Self::Ldfs(Ldfs::default())),
            "pfs" => Ok(Self::Pfs(Pfs::default())),
            _ => Err(Error::unknown_name("selector", name, SELECTORS.iter().map(|info| info.name))),
        }
    }
}

impl SelectorMethod {
    /// The name under which [`SelectorMethod::by_name`] finds it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Fisher(_) => "fisher",
            Self::Ffs(_) => "ffs",
            Self::Relief(_) => "relief",
            Self::SvmRfe(_) => "svm-rfe",
            Self::L1Svm(_) => "l1-svm",
            Self::InformationGain(_) => "information-gain",
            Self::MutualInformation(_) => "mutual-information",
            Self::ChiSquared(_) => "chi-squared",
            Self::Laplacian(_) => "laplacian",
            Self::Hsfs(_) => "hsfs",
            Self::Fohsic(_) => "fohsic",
            Self::Bahsic(_) => "bahsic",
            Self::HsicLasso(_) => "hsic-lasso",
            Self::Ldfs(_) => "ldfs",
            Self::Pfs(_) => "pfs",
        }
    }

    /// Whether it takes data with gaps; the others refuse them.
    pub fn bears_gaps(&self) -> bool {
        match self {
            Self::Relief(_) => true,
            Self::Fisher(_)
            | Self::Ffs(_)
            | Self::SvmRfe(_)
            | Self::L1Svm(_)
            | Self::InformationGain(_)
            | Self::MutualInformation(_)
            | Self::ChiSquared(_)
            | Self::Laplacian(_)
            | Self::Hsfs(_)
            | Self::Fohsic(_)
            | Self::Bahsic(_)
            | Self::HsicLasso(_)
            | Self::Ldfs(_)
            | Self::Pfs(_) => false,
        }
    }

    /// Whether it can use this target.
    pub fn fits(&self, target: &Target) -> bool {
        match (self, target) {
            (_, Target::Classes(_)) => true,
            (Self::Laplacian(method), _) => method.graph == Graph::Knn,
            (
                Self::Fisher(_) | Self::Relief(_) | Self::MutualInformation(_) | Self::Hsfs(_),
                Target::Continuous(_),
            ) => true,
            (Self::Fohsic(_) | Self::Bahsic(_) | Self::HsicLasso(_), Target::Continuous(_)) => true,
            (Self::Pfs(_), _) => true,
            _ => false,
        }
    }

    /// Whether columns should be brought to one scale first. Scores of the others depend on no scale, or
    /// are made for the numbers as they are.
    pub fn wants_scaling(&self) -> bool {
        match self {
            Self::Fisher(_)
            | Self::InformationGain(_)
            | Self::MutualInformation(_)
            | Self::ChiSquared(_)
            | Self::HsicLasso(_) => false,
            Self::Ffs(_)
            | Self::SvmRfe(_)
            | Self::L1Svm(_)
            | Self::Fohsic(_)
            | Self::Bahsic(_)
            | Self::Hsfs(_) => true,
            // They bring columns to one scale themselves.
            Self::Ldfs(_) | Self::Pfs(_) => false,
            Self::Laplacian(method) => method.graph == Graph::Knn,
            Self::Relief(method) => method.units == Units::Given,
        }
    }
}

impl SelectorMethod {
    /// Refuses parameters that are wrong whatever the columns are, before any of them is made.
    pub(crate) fn check(&self, classes: &Classes) -> Result<()> {
        match self {
            Self::Fisher(_) => Ok(()),
            Self::Ffs(method) => method.labels(classes).map(|_| ()),
            Self::Relief(method) => method.check(classes),
            Self::SvmRfe(method) => method.check(classes),
            Self::L1Svm(method) => method.check(classes),
            Self::InformationGain(method) => method.check(),
            Self::MutualInformation(method) => method.check(),
            Self::ChiSquared(method) => method.check(),
            Self::Laplacian(method) => method.check(),
            Self::Hsfs(method) => method.check(),
            Self::Fohsic(method) => method.check(),
            Self::Bahsic(method) => method.check(),
            Self::HsicLasso(method) => method.check(),
            Self::Ldfs(method) => method.check(),
            Self::Pfs(method) => method.check(),
        }
    }
}

impl Selector for SelectorMethod {
    fn select(&self, data: &Dataset, wanted: FeatureCount, ctx: &Context) -> Result<Selection> {
        match self {
            Self::Fisher(method) => method.select(data, wanted, ctx),
            Self::Ffs(method) => method.select(data, wanted, ctx),
            Self::Relief(method) => method.select(data, wanted, ctx),
            Self::SvmRfe(method) => method.select(data, wanted, ctx),
            Self::L1Svm(method) => method.select(data, wanted, ctx),
            Self::InformationGain(method) => method.select(data, wanted, ctx),
            Self::MutualInformation(method) => method.select(data, wanted, ctx),
            Self::ChiSquared(method) => method.select(data, wanted, ctx),
            Self::Laplacian(method) => method.select(data, wanted, ctx),
            Self::Hsfs(method) => method.select(data, wanted, ctx),
            Self::Fohsic(method) => method.select(data, wanted, ctx),
            Self::Bahsic(method) => method.select(data, wanted, ctx),
            Self::HsicLasso(method) => method.select(data, wanted, ctx),
            Self::Ldfs(method) => method.select(data, wanted, ctx),
            Self::Pfs(method) => method.select(data, wanted, ctx),
        }
    }

    fn select_each(&self, data: &Dataset, counts: &[usize], ctx: &Context) -> Vec<Result<Selection>> {
        match self {
            Self::Hsfs(method) => method.select_each(data, counts, ctx),
            _ => counts.iter().map(|&count| self.select(data, FeatureCount::Count(count), ctx)).collect(),
        }
    }

    fn nested(&self) -> bool {
        match self {
            Self::L1Svm(method) => method.nested(),
            Self::Hsfs(method) => method.nested(),
            Self::HsicLasso(method) => method.nested(),
            Self::Ldfs(method) => method.nested(),
            Self::Pfs(method) => method.nested(),
            _ => true,
        }
    }
}
