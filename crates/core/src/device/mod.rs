//! Computation on an accelerator such as a GPU: the extension point for other crates.
//!
//! A crate implements [`Accelerator`]; a [`Device`] made of it goes into [`Context::device`](crate::Context::device). The methods ask it for
//! their longest loops and use the processor where it refuses. Results are the same: what an accelerator computes in single or
//! half precision only excludes what cannot be among the best, by a bound on its error, and the rest is computed again in
//! double precision here. The exception is [`Accelerator::hsic`], which is in double precision and differs by rounding.
//!
//! `kernsift-cuda` implements it for NVIDIA GPUs.

mod accelerator;
mod usage;

pub use accelerator::{
    Accelerator, Attempt, Metric, NearestLists, PairError, PairFunctions, PairTiles, ProjectedPairs, Refusal,
    ScoredPair,
};
pub use usage::{Device, Task};
