//! The best of all pairs.
//!
//! Scores are computed in less than double precision, by tiles of pairs on the processor or on a device. Every pair that may be
//! among the best, by a bound on the error, is computed again in double precision, so that the result does not depend on where
//! the tiles were computed.

use super::blocks::Blocks;
use super::on_device::screen_on;
use super::scores::Scores;
use super::tiles::{Tiles, tile_bytes};
use super::top::{Bounded, Candidate, Shortlist, most_listed};
use crate::context::Context;
use crate::error::Result;

/// Memory of the screen in bytes, besides the functions.
pub(super) fn screen_bytes(blocks: &Blocks, capacity: usize) -> f64 {
    let per_pair = 2 * size_of::<Bounded>() + size_of::<Candidate>();
    tile_bytes(blocks, capacity) + (per_pair * most_listed(capacity) + 20 * blocks.counts.len()) as f64
}

/// The `capacity` pairs with the smallest p-values of their scores.
pub(super) fn best_pairs(
    blocks: &Blocks,
    target: &[Vec<f64>],
    capacity: usize,
    stage: &str,
    ctx: &Context,
) -> Result<Vec<Candidate>> {
    let limit = blocks.counts.iter().copied().max().unwrap_or(0);
    let scores = Scores::new(blocks, target);
    let single: Vec<Vec<f32>> = target.iter().map(|y| y.iter().map(|&v| v as f32).collect()).collect();
    let new_list = || Shortlist::new(capacity, limit, target.len());
    let mut list = new_list();
    let on_device = match ctx.device {
        Some(device) => screen_on(device, &scores, &single, &mut list, stage, ctx)?,
        None => false,
    };
    if !on_device {
        list = new_list();
        Tiles { scores: &scores, target: &single }.run(&mut list, stage, ctx)?;
    }
    Ok(scores.best(&list))
}
