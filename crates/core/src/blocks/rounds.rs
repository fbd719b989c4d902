//! Fits in rounds.

use super::block::{Block, Layout};
use crate::context::Context;
use crate::error::Result;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A fit in rounds. The value itself is what a round needs to know besides the rows; it travels to wherever blocks are.
pub trait Rounds: Sized + Sync + Serialize + DeserializeOwned {
    /// The result of a block, and the sum of such results.
    type Sums: Send + Serialize + DeserializeOwned;
    /// The result of the last round.
    type Fit;

    /// What this round computes, for progress messages.
    fn stage(&self) -> &'static str;

    /// The largest number of rounds from this one on; `None` if it depends on the data.
    fn rounds_left(&self) -> Option<usize>;

    /// Memory of the sums in bytes, and the memory that a block needs besides its rows.
    fn bytes(&self, layout: &Layout) -> (f64, f64);

    /// Memory of the round itself in bytes, with the next one; all threads share it.
    fn shared_bytes(&self) -> f64 {
        0.0
    }

    /// The result of a block.
    fn of_block(&self, block: &Block) -> Result<Self::Sums>;

    /// Adds the result of later rows.
    fn add(&self, total: &mut Self::Sums, later: Self::Sums);

    /// The next round, or the fit, given the sum over all blocks.
    fn update(self, total: Self::Sums, ctx: &Context) -> Result<Next<Self>>;
}

/// What follows a round.
pub enum Next<R: Rounds> {
    /// Another round.
    Round(R),
    /// The fit.
    Fit(R::Fit),
}
