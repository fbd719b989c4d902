//! Feature selection and kernel design via linear programming.

mod itml;
pub mod speed;
pub mod triples;

use crate::ledger::Ledger;
use crate::paper::{Paper, Settings};
use crate::study::Section;
use kernsift::{Context, Result};

/// Authors, title and place.
pub const REFERENCE: &str =
    "Fung, Rosales and Rao, *Feature selection and kernel design via linear programming*, IJCAI 2007.";

/// Runs all of it.
pub fn run(settings: &Settings, ctx: &Context) -> Result<Vec<Section>> {
    let mut ledger = Ledger::open(Paper::Lp, settings, ctx)?;
    let accuracies = triples::Accuracies::measure(&mut ledger, settings, ctx)?;
    let sections = vec![
        triples::figure_1(&accuracies, settings),
        triples::figure_2(&accuracies, settings),
        triples::figure_3(&accuracies, settings),
        speed::run(&mut ledger, settings, ctx)?,
    ];
    ledger.finish()?;
    Ok(sections)
}
