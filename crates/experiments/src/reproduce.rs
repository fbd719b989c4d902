//! Runs the experiments of one paper.

use crate::paper::{Paper, Settings};
use crate::study::{Study, Verdict};
use crate::{lp, takes, transform};
use kernsift::{Context, Result};

/// Reproduces a paper.
pub fn reproduce(paper: Paper, settings: &Settings, ctx: &Context) -> Result<Study> {
    let mut sections = match paper {
        Paper::Takes => takes::run(settings, ctx),
        Paper::Transform => transform::run(settings, ctx),
        Paper::Lp => lp::run(settings, ctx),
    }?;
    if settings.quick {
        // Two splits are too few for a verdict.
        sections.iter_mut().filter(|s| s.verdict != Verdict::NotRun).for_each(|s| s.verdict = Verdict::Shown);
    }
    Ok(Study { paper, quick: settings.quick, seed: ctx.seed, sections })
}
