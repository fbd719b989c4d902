//! Fits in rounds over blocks of rows, for tables that do not fit into memory.
//!
//! A method that computes its result from sums over rows is a short sequence of rounds: every block of rows gives a small result
//! ([`Rounds::of_block`]), the results are added in the order of the blocks ([`Rounds::add`]), and the total gives the next round
//! or the fit ([`Rounds::update`]). Blocks have a fixed number of rows ([`block_rows`]) and results are added in a fixed order
//! ([`OrderedSum`]), so the fit has the same bits whatever computes the blocks: threads, passes over a file, or other computers, to
//! which the rounds and their results travel as bytes.
//!
//! ```
//! use kernsift::Context;
//! use kernsift::blocks::{BlockSource, MemoryBlocks, run};
//! use kernsift::data::{BuiltIn, Prepare};
//! use kernsift::select::{FeatureCount, SelectorMethod};
//!
//! # fn main() -> kernsift::Result<()> {
//! let wine = Prepare::default().fit(&BuiltIn::by_name("wine")?.table()?)?.data;
//! let source = MemoryBlocks::new(&wine, 50)?;
//! let fisher = SelectorMethod::by_name("fisher")?;
//! let rounds = fisher.rounds(source.layout(), FeatureCount::Count(3), &Context::default())?;
//! assert_eq!(run(rounds, &source, &Context::default())?.n_selected, 3);
//! # Ok(())
//! # }
//! ```
//!
//! | file | contents |
//! |---|---|
//! | `block` | a block of rows, and what is known of a table before it is read |
//! | `source`, `file` | tables as sequences of blocks: in memory, in a file |
//! | `rounds` | fits in rounds, and how a total is updated |
//! | `ordered_sum` | addition in a fixed order |
//! | `run` | rounds over a source |
//! | `checkpoint` | a file from which an interrupted fit continues |
//! | `moments`, `sample`, `values` | sums that several methods share |

mod block;
#[cfg(feature = "io")]
mod checkpoint;
#[cfg(feature = "io")]
mod file;
mod moments;
mod ordered_sum;
mod rounds;
mod run;
mod sample;
mod source;
mod values;

pub use block::{Block, BlockTarget, Layout, TargetLayout, block_rows};
#[cfg(feature = "io")]
pub use checkpoint::Checkpoint;
#[cfg(feature = "io")]
pub use file::FileBlocks;
pub use moments::{ColumnMoments, Moments};
pub use ordered_sum::{FAN_IN, OrderedSum};
pub use rounds::{Next, Rounds};
pub use run::run;
#[cfg(feature = "io")]
pub use run::run_resumable;
pub(crate) use sample::{RowSample, SampledRows};
pub use source::{BlockSource, MemoryBlocks, Reblocked};
pub(crate) use values::SmallestValues;
