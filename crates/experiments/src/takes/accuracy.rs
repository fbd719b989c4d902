//! Figures 2 and 3: accuracy by number of features on six data sets.

use super::methods::{Accuracies, KNNC_TUNED, METHODS, UNLIMITED, datasets, paper_name};
use crate::checkpoint::Checkpoint;
use crate::comparison::Comparison;
use crate::datasets::{DatasetSpec, not_run, random_split};
use crate::paper::Settings;
use crate::statistics::{count_positive, mean, mean_and_sd, min};
use crate::study::{Section, Table, Verdict};
use kernsift::data::ImputeStrategy;
use kernsift::evaluate::{Candidate, Compare, Evaluator, Neighbors, SplitChoice};
use kernsift::{Context, Result};
use kernsift_report::{Figure, Series, XAxis};

/// Numbers of features in the curves.
const COUNTS: [usize; 13] = [1, 2, 3, 5, 8, 12, 16, 20, 25, 30, 40, 50, 60];

/// Figures 2 and 3.
pub fn run(checkpoint: &mut Checkpoint, settings: &Settings, ctx: &Context) -> Result<Vec<Section>> {
    let accuracies = Accuracies::measure(checkpoint, settings, ctx)?;
    let (mut found, mut missing) = (vec![], vec![]);
    for (dataset, _, n_train) in datasets(settings) {
        match curves(&dataset, n_train, settings, ctx)? {
            Some(comparison) => found.push((dataset.name, comparison)),
            None => missing.push(dataset.name),
        }
    }
    let sections = [figure_2(&found, settings), figure_3(&accuracies, &found)].into_iter();
    let with_missing = |section: Section| section.note(not_run(&missing));
    Ok(if missing.is_empty() { sections.collect() } else { sections.map(with_missing).collect() })
}

/// The four kernel-space selectors by number of features; none without the data set and an earlier run.
fn curves(
    dataset: &DatasetSpec,
    n_train: usize,
    settings: &Settings,
    ctx: &Context,
) -> Result<Option<Comparison>> {
    let (record, part) = (format!("takes-{}", dataset.name), format!("figures, {}", dataset.name));
    let labels = ["takes", "kgs-kffs", "fskgs", "fskpca"];
    let counts: Vec<usize> = COUNTS.into_iter().filter(|&k| k <= n_train).collect();
    let Some(data) = dataset.load(settings, ctx)? else {
        return Comparison::load(&record, &labels, &counts, settings);
    };
    let folds = settings.seeds(ctx).into_iter().map(|seed| random_split(data.n(), n_train, seed)).collect();
    let compare = Compare {
        candidates: labels.map(Candidate::parse).into_iter().collect::<Result<_>>()?,
        counts,
        splits: SplitChoice::Given(folds),
        stratify: true,
        evaluator: Evaluator::Knn(Neighbors { n_neighbors: 1 }).into(),
        scale: true,
        impute: ImputeStrategy::Mean,
        baseline: true,
        train_sizes: vec![],
        latest: false,
    };
    Comparison::run(&compare, &data, &record, &part, settings, ctx).map(Some)
}

fn published_name(label: &str) -> String {
    match label {
        "takes" => "TAKES",
        "kgs-kffs" => "KGS+KFFS",
        "fskgs" => "FSKGS",
        "fskpca" => "FSKPCA",
        "all-features" => "KNNC",
        other => other,
    }
    .to_owned()
}

/// The accuracy of TAKES minus that of another method at equal numbers of features, in percentage points.
fn gains_by_count(comparison: &Comparison, other: &str) -> Vec<(usize, f64)> {
    let counts = comparison.summary.counts.iter();
    counts
        .filter_map(|&k| Some((k, comparison.error(other, k)?.0 - comparison.error("takes", k)?.0)))
        .collect()
}

/// Mean over the numbers of features of [`gains_by_count`].
fn mean_gain(comparison: &Comparison, other: &str) -> f64 {
    mean(&gains_by_count(comparison, other).iter().map(|g| g.1).collect::<Vec<_>>())
}

fn figure_2(curves: &[(&str, Comparison)], settings: &Settings) -> Section {
    let mut table = Table::new(
        "Accuracy of TAKES minus accuracy of KGS+KFFS, in percentage points",
        ["data set", "mean over k", "min", "at k", "max", "at k"],
    );
    let mut within = 0;
    let mut figures = vec![];
    for (dataset, comparison) in curves {
        let gains = gains_by_count(comparison, "kgs-kffs");
        let average = mean_gain(comparison, "kgs-kffs");
        within += usize::from(average >= -2.0);
        let lowest = gains.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or_default();
        let highest = gains.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or_default();
        table.push([
            (*dataset).to_owned(),
            format!("{average:+.1}"),
            format!("{:+.1}", lowest.1),
            lowest.0.to_string(),
            format!("{:+.1}", highest.1),
            highest.0.to_string(),
        ]);
        figures.push(comparison.figure(
            &format!("P0-F2-{dataset}"),
            &format!("{}: accuracy by number of features", paper_name(dataset)),
            published_name,
            true,
        ));
    }
    let required = (2 * curves.len()).div_ceil(3);
    let mut section = Section::new(
        "P0-F2",
        "Figure 2, TAKES against KGS+KFFS",
        "TAKES is at least as good as KGS+KFFS on most of six data sets (a figure without numbers).",
        &format!(
            "Random splits with the published or usual numbers of training rows (345, 468, 170, 281, 166, 140), {}; features standardized, median \
             heuristic for gamma, first k features in the order of selection, nearest neighbor.",
            settings.splits_text()
        ),
        "On average over equal numbers of features, TAKES is at most 2 percentage points below KGS+KFFS on 4 of 6 data sets.",
    )
    .result(Verdict::of(within >= required), format!("On {within} of {}.", curves.len()))
    .table(table)
    .note(
        "TAKES has no value where KOBL found fewer directions on some split; KGS has as many directions as training rows.",
    );
    section.figures = figures;
    section
}

fn figure_3(accuracies: &Accuracies, curves: &[(&str, Comparison)]) -> Section {
    let knnc = accuracies.differences("TAKES, tuned", "KNNC");
    let above_kda = count_positive(&accuracies.differences("TAKES, tuned", "KDA"));
    let n = knnc.len();
    let required = (2 * n).div_ceil(3);
    let series = METHODS[..7].iter().map(|(name, _)| Series {
        label: (*name).to_owned(),
        values: accuracies
            .datasets()
            .map(|dataset| Some(mean_and_sd(&accuracies.accuracy(dataset, name))))
            .collect(),
    });
    let figure = Figure {
        name: "P0-F3".into(),
        title: "Accuracy of each method with the number of features that it chooses".into(),
        x_label: "data set".into(),
        y_label: "accuracy, %".into(),
        x: XAxis::Categories(accuracies.datasets().map(|dataset| paper_name(dataset).to_owned()).collect()),
        series: series.collect(),
    };
    let section = Section::new(
        "P0-F3",
        "Figure 3, TAKES against KNNC, KDA, FSKGS and FSKPCA",
        "TAKES is better than KNNC and KDA on all six data sets, and than FSKGS and FSKPCA on almost all (a figure without numbers).",
        "The splits of Figure 2. Each method uses the number of features that it chooses; TAKES has at most 0.3 N directions. Tuned: gamma, weak \
         classifier, weighting, number of selected directions and number of neighbors by cross-validation inside the training rows.",
        "Weighted TAKES is at most 4 percentage points below KNNC on all six data sets and better than KDA on 4 of 6.",
    )
    .result(
        Verdict::of(min(&knnc) >= -4.0 && above_kda >= required),
        format!(
            "Tuned TAKES minus KNNC is at least {:+.1} points; it is above KNNC on {} of {n} data sets, above KDA on {above_kda} of {n}.",
            min(&knnc),
            count_positive(&knnc)
        ),
    )
    .table(accuracies.accuracy_table())
    .table(accuracies.direction_table())
    .figure(figure);
    figure_3_notes(section, accuracies, curves)
}

fn figure_3_notes(section: Section, accuracies: &Accuracies, curves: &[(&str, Comparison)]) -> Section {
    let published = accuracies.differences("TAKES", "KNNC");
    let unlimited = accuracies.differences(UNLIMITED, "KNNC");
    let tuned_knnc = accuracies.differences("TAKES, tuned", KNNC_TUNED);
    let n = published.len();
    let ahead_of = |other: &str| curves.iter().filter(|(_, c)| mean_gain(c, other) > 0.0).count();
    section
        .note(format!(
            "The claim does not hold. TAKES as published is above KNNC on {} of {n} data sets, and at worst {:+.1} points from it: its stopping \
             rule, the first minimum of the training error of the vote, selects few directions, and its weights mostly reflect when a direction \
             was added. At equal numbers of features it is ahead of FSKGS on {} and of FSKPCA on {} of {n} data sets.",
            count_positive(&published),
            min(&published),
            ahead_of("fskgs"),
            ahead_of("fskpca"),
        ))
        .note(format!(
            "Most of the gain from tuning comes from the number of neighbors. Compared with KNNC with a number of neighbors chosen inside the \
             training rows, tuned TAKES is above on {} of {n} data sets, and at worst {:+.1} points from it.",
            count_positive(&tuned_knnc),
            min(&tuned_knnc),
        ))
        .note(format!(
            "The limit of 0.3 N directions is part of the criterion and costs most on ionosphere. Without it, tuned TAKES is at worst {:+.1} points \
             from KNNC, above it on {} of {n} data sets, and above KDA on {}.",
            min(&unlimited),
            count_positive(&unlimited),
            count_positive(&accuracies.differences(UNLIMITED, "KDA")),
        ))
        .note(
            "The tuning procedure was chosen on splits with seeds 100 to 109 and then run on these splits. This guards against overfitting to \
             splits, but not to data sets.",
        )
}
