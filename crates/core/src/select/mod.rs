//! Selectors: which columns matter.

mod bins;
mod catalog;
mod chi_squared;
mod columns;
mod ffs;
mod fisher;
mod information;
mod l1_svm;
mod laplacian;
mod ldfs;
mod mutual;
mod pfs;
mod relief;
mod row_path;
mod selector;
mod standard;
mod svm_rfe;
mod votes;
mod weak;

pub use crate::neighbours::Metric;
pub use bins::Discretizer;
pub use catalog::{SELECTORS, SelectorMethod};
pub use chi_squared::{ChiSquared, Statistic};
pub(crate) use ffs::first_minimum;
pub use ffs::{Ffs, WeightRule};
pub use fisher::FisherScore;
pub use information::{Information, InformationGain};
pub use l1_svm::L1Svm;
pub use laplacian::{EdgeWeights, Graph, LaplacianScore};
pub use ldfs::{Ldfs, LdfsForm};
pub use mutual::{Discrete, MutualInformation};
pub use pfs::Pfs;
pub use relief::{ClassWeights, Difference, Relief, Units};
pub use selector::{PathPoint, Selection, Selector, Wanted};
pub use svm_rfe::{Step, SvmRfe};
pub use weak::{Klms, WeakLearner};
