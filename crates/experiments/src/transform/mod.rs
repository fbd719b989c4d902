//! From transformation-based dimensionality reduction to feature selection.

pub mod cost;
pub mod errors;
mod tasks;
pub mod unseen;

use crate::checkpoint::Checkpoint;
use crate::paper::{Paper, Settings};
use crate::study::Section;
use kernsift::{Context, Result};

/// Runs all experiments of the paper.
pub fn run(settings: &Settings, ctx: &Context) -> Result<Vec<Section>> {
    let mut checkpoint = Checkpoint::open(Paper::Transform, settings, ctx)?;
    let mut sections = errors::run(&mut checkpoint, settings, ctx)?;
    sections.push(unseen::run(settings, ctx)?);
    sections.push(cost::run(&mut checkpoint, settings, ctx)?);
    checkpoint.finish()?;
    Ok(sections)
}
