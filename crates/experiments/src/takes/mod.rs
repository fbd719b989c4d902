//! TAKES: a fast method to select features in the kernel space.

pub mod accuracy;
pub mod costs;
pub mod growth;
pub mod hilbert;

use crate::ledger::Ledger;
use crate::paper::{Paper, Settings};
use crate::study::Section;
use kernsift::{Context, Result};

/// Authors, title and place.
pub const REFERENCE: &str =
    "Xu et al., *TAKES: a fast method to select features in the kernel space*, CIKM 2010.";

/// Runs all of it.
pub fn run(settings: &Settings, ctx: &Context) -> Result<Vec<Section>> {
    let mut ledger = Ledger::open(Paper::Takes, settings, ctx)?;
    let mut sections = vec![
        growth::run(&mut ledger, settings, ctx)?,
        costs::run(&mut ledger, settings, ctx)?,
        costs::order(&mut ledger, settings, ctx)?,
        hilbert::run(&mut ledger, ctx)?,
    ];
    sections.extend(accuracy::run(&mut ledger, settings, ctx)?);
    ledger.finish()?;
    Ok(sections)
}
