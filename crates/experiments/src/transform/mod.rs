//! From transformation-based dimensionality reduction to feature selection.

pub mod cost;
pub mod errors;
pub mod fresh;

use crate::ledger::Ledger;
use crate::paper::{Paper, Settings};
use crate::study::Section;
use kernsift::{Context, Result};

/// Authors, title and place.
pub const REFERENCE: &str = "Masaeli, Fung and Dy, *From transformation-based dimensionality reduction to feature selection*, ICML 2010.";

/// Runs all of it.
pub fn run(settings: &Settings, ctx: &Context) -> Result<Vec<Section>> {
    let mut ledger = Ledger::open(Paper::Transform, settings, ctx)?;
    let mut sections = errors::run(&mut ledger, settings, ctx)?;
    sections.push(fresh::run(settings, ctx)?);
    sections.push(cost::run(&mut ledger, settings, ctx)?);
    ledger.finish()?;
    Ok(sections)
}
