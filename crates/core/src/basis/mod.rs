//! Bases of kernel space. Each method learns a [`FeatureMap`].

mod catalog;
mod discriminant;
mod feature_map;
mod gamma;
mod kgs;
mod kobl;
mod kobl_rounds;
mod kpca;
mod plane;

pub use catalog::{BASES, BasisMethod};
pub use discriminant::{Criterion, Discriminant};
pub use feature_map::{Basis, FeatureMap, Fitted, Summary};
pub use gamma::{GammaFit, gamma_for_n_components, set_gamma_for_n_components};
pub use kgs::Kgs;
pub use kobl::{FirstPivot, Kobl, Pivoting, Threshold, ThresholdFunction};
pub use kobl_rounds::{KoblFit, KoblRounds, KoblSums};
pub use kpca::Kpca;
pub use plane::{Plane, plane};
