//! NVIDIA GPUs for [`kernsift`].
//!
//! ```no_run
//! use kernsift::Context;
//! use kernsift_cuda::{Choice, device};
//!
//! # fn main() -> Result<(), String> {
//! // "auto", "cpu", "cuda" or "cuda:1".
//! let choice: Choice = "auto".parse()?;
//! let ctx = Context { device: device(choice, &[])?, ..Context::default() };
//! # Ok(())
//! # }
//! ```
//!
//! The driver, NVRTC (the compiler of kernels) and cuBLAS are loaded when they are first needed, so that a program with this crate runs
//! without them and is built without the CUDA toolkit. Kernels are compiled at first use and kept in the user's cache folder.
//!
//! | file | contents |
//! |---|---|
//! | `choice` | `auto`, `cpu`, `cuda:N` |
//! | `engine` | the accelerator: starts the GPU at first use |
//! | `pairs`, `hsic`, `nearest` | what it computes; `kernels/` has the code for the GPU |
//! | `gpu` | memory, launches, products |
//! | `compile` | compilation and cache of kernels |
//! | `library` | functions of the driver, NVRTC and cuBLAS |

mod choice;
mod compile;
mod engine;
mod gpu;
mod hsic;
mod library;
mod nearest;
mod pairs;

pub use choice::{Choice, device};
pub use engine::Cuda;
#[doc(hidden)]
pub use pairs::error as pair_error;
