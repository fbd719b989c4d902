//! Feature selection and kernel design via linear programming.

pub mod figures;
mod itml;
pub mod speed;
pub mod triplets;

use crate::checkpoint::Checkpoint;
use crate::paper::{Paper, Settings};
use crate::study::Section;
use kernsift::{Context, Result};

/// Runs all experiments of the paper.
pub fn run(settings: &Settings, ctx: &Context) -> Result<Vec<Section>> {
    let mut checkpoint = Checkpoint::open(Paper::Lp, settings, ctx)?;
    let accuracies = triplets::Accuracies::measure(&mut checkpoint, settings, ctx)?;
    let sections = vec![
        figures::figure_1(&accuracies, settings),
        figures::figure_2(&accuracies, settings),
        figures::figure_3(&accuracies, settings),
        speed::run(&mut checkpoint, settings, ctx)?,
    ];
    checkpoint.finish()?;
    Ok(sections)
}
