//! Bases of kernel space. All of them end as one [`FeatureMap`]; they differ in how they find it.

mod catalog;
mod discriminant;
mod feature_map;
mod kgs;
mod kobl;
mod kpca;
mod plane;
mod width;

pub use catalog::{BASES, BasisMethod};
pub use discriminant::{Criterion, Discriminant};
pub use feature_map::{Basis, FeatureMap, Fitted, Summary};
pub use kgs::Kgs;
pub use kobl::{Kobl, Threshold, ThresholdFunction};
pub use kpca::Kpca;
pub use plane::{Plane, plane};
pub use width::{Width, set_width_for_dim, width_for_dim};

pub use crate::linalg::{FirstPivot, Pivoting};
