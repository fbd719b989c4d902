//! Wide sets that took no part in settling any default.

use super::errors::{METHODS, Task};
use crate::paper::Settings;
use crate::sets::{Set, Source};
use crate::statistics::mean;
use crate::study::{Section, Table, Verdict};
use kernsift::{Context, Result};

/// Features that are kept.
const KEPT: usize = 10;

const SETS: [Task; 5] = [
    set("lung_discrete", &["lung_discrete.csv.gz"]),
    set("colon", &["colon.csv.gz"]),
    set("tox_171", &["tox_171.csv.gz"]),
    set("prostate_ge", &["prostate_ge.csv.gz"]),
    set("leukemia", &["leukemia.csv.gz"]),
];

const fn set(name: &'static str, files: &'static [&'static str]) -> Task {
    let set = Set { name, source: Source::Files(files) };
    Task {
        set,
        id: "P1-fresh",
        printed_as: "",
        k: KEPT,
        printed: [0.0; 7],
        counts: &[KEPT],
        repeats: 1,
        rows: 1000,
    }
}

/// HSFS beside the others on sets of genes, all in one section.
pub fn run(settings: &Settings, ctx: &Context) -> Result<Section> {
    let heads = std::iter::once("set").chain(METHODS.iter().map(|(name, _)| *name));
    let mut table = Table::new(&format!("Error in per cent with {KEPT} features"), heads);
    let mut errors = METHODS.map(|_| vec![]);
    for task in &SETS {
        let Some((contest, _)) = task.run(settings, ctx)? else { continue };
        let mut line = vec![task.set.name.to_owned()];
        for ((_, label), errors) in METHODS.iter().zip(&mut errors) {
            let error = contest.error(label, KEPT).map_or(f64::NAN, |(mean, _)| mean);
            line.push(format!("{error:.2}"));
            errors.push(error);
        }
        table.push(line);
    }
    let means = errors.each_ref().map(|errors| mean(errors));
    let section = Section::new(
        "P1-fresh",
        "Wide sets that took no part",
        "None is printed: HSFS's defaults for wide data were settled with the errors on Madelon, Arcene, Dexter and MNIST in view, and these sets show what they are worth elsewhere.",
        "Five folds; scaling and selection inside each fold; the same judge.",
        "HSFS at most FOHSIC + 3 points on average.",
    );
    if errors[0].is_empty() {
        let why = if settings.quick {
            "Not part of a quick run."
        } else {
            "Their files were not there (`--data-dir`)."
        };
        return Ok(section.found(Verdict::NotRun, why.to_owned()));
    }
    table.push(
        std::iter::once("mean".to_owned())
            .chain(means.iter().map(|mean| format!("{mean:.2}")))
            .collect::<Vec<_>>(),
    );
    let found =
        format!("HSFS {:.1} on average, FOHSIC {:.1}, over {} sets.", means[0], means[1], errors[0].len());
    Ok(section.found(Verdict::of(means[0] <= means[1] + 3.0), found).table(table))
}
