//! TAKES: a fast method to select features in the kernel space.

pub mod accuracy;
pub mod costs;
pub mod growth;
pub mod hilbert;
mod methods;

use crate::checkpoint::Checkpoint;
use crate::paper::{Paper, Settings};
use crate::study::Section;
use kernsift::{Context, Result};

/// Runs all experiments of the paper.
pub fn run(settings: &Settings, ctx: &Context) -> Result<Vec<Section>> {
    let mut checkpoint = Checkpoint::open(Paper::Takes, settings, ctx)?;
    let mut sections = vec![growth::run(&mut checkpoint, settings, ctx)?];
    sections.extend(costs::run(&mut checkpoint, settings, ctx)?);
    sections.push(hilbert::run(&mut checkpoint, ctx)?);
    sections.extend(accuracy::run(&mut checkpoint, settings, ctx)?);
    checkpoint.finish()?;
    Ok(sections)
}
