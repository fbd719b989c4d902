//! Wide data sets that were not used to choose any default.

use super::tasks::{METHODS, Task, not_run_reason};
use crate::datasets::{DatasetSpec, Source};
use crate::paper::Settings;
use crate::statistics::mean;
use crate::study::{Section, Table, Verdict};
use kernsift::{Context, Result};

/// Number of selected features.
const N_FEATURES: usize = 10;

const TASKS: [Task; 5] = [
    task("lung_discrete", &["lung_discrete.csv.gz"]),
    task("colon", &["colon.csv.gz"]),
    task("tox_171", &["tox_171.csv.gz"]),
    task("prostate_ge", &["prostate_ge.csv.gz"]),
    task("leukemia", &["leukemia.csv.gz"]),
];

const fn task(name: &'static str, files: &'static [&'static str]) -> Task {
    Task {
        dataset: DatasetSpec { name, source: Source::Files(files) },
        id: "P1-fresh",
        title: "",
        k: N_FEATURES,
        published: [0.0; 7],
        counts: &[N_FEATURES],
        repeats: 1,
        max_rows: 1000,
    }
}

/// All methods on gene expression data, in one section.
pub fn run(settings: &Settings, ctx: &Context) -> Result<Section> {
    let header = std::iter::once("data set").chain(METHODS.iter().map(|(name, _)| *name));
    let mut table = Table::new(&format!("Error in percent with {N_FEATURES} features"), header);
    let mut errors = METHODS.map(|_| vec![]);
    for task in &TASKS {
        let Some((comparison, _)) = task.run(settings, ctx)? else { continue };
        let mut row = vec![task.dataset.name.to_owned()];
        for ((_, label), errors) in METHODS.iter().zip(&mut errors) {
            let error = comparison.error(label, N_FEATURES).map_or(f64::NAN, |(mean, _)| mean);
            row.push(format!("{error:.2}"));
            errors.push(error);
        }
        table.push(row);
    }
    let means = errors.each_ref().map(|errors| mean(errors));
    let section = Section::new(
        "P1-fresh",
        "Wide data sets not used for tuning",
        "None published. The defaults of HSFS for wide data were chosen with the errors on Madelon, Arcene, Dexter and MNIST in view; these data sets test them.",
        "Five-fold cross-validation; standardization and selection inside each fold; the same evaluator.",
        "HSFS at most 3 percentage points above FOHSIC on average.",
    );
    if errors[0].is_empty() {
        return Ok(section.result(Verdict::NotRun, not_run_reason(settings)));
    }
    let mean_row = means.iter().map(|mean| format!("{mean:.2}"));
    table.push(std::iter::once("mean".to_owned()).chain(mean_row));
    let finding = format!(
        "HSFS {:.1} on average, FOHSIC {:.1}, over {} data sets.",
        means[0],
        means[1],
        errors[0].len()
    );
    Ok(section.result(Verdict::of(means[0] <= means[1] + 3.0), finding).table(table))
}
