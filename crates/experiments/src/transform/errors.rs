//! Table 1 and Figures 1 to 5: error by number of features.

use super::tasks::{BANDWIDTHS, METHODS, TASKS, Task, evaluator};
use crate::checkpoint::Checkpoint;
use crate::comparison::Comparison;
use crate::datasets::standardized;
use crate::paper::Settings;
use crate::statistics::mean;
use crate::study::{Section, Table, Verdict};
use kernsift::data::{Fold, Weights};
use kernsift::{Context, Dataset, Result};
use std::collections::BTreeMap;

/// Note on the wide data sets, for which HSFS's defaults were chosen.
const TUNED_HERE: &str = "The defaults of HSFS for wide data (bandwidth, comparison of feature subsets) were chosen with the errors \
                          of these folds in view, so its result is optimistic. P1-fresh has data sets that were not used.";

/// A finished comparison.
struct Finished<'a> {
    task: &'a Task,
    comparison: Comparison,
}

impl Finished<'_> {
    /// A method's error in percent with the published number of features.
    fn error(&self, method: &str) -> f64 {
        self.comparison.error(method, self.task.k).map_or(f64::NAN, |(mean, _)| mean)
    }

    /// The subset that a method selects most often, and how often.
    fn most_frequent_subset(&self, label: &str) -> String {
        let mut subsets: BTreeMap<Vec<&str>, usize> = BTreeMap::new();
        for record in self.comparison.results(label, self.task.k) {
            let mut subset: Vec<&str> = record.features.iter().map(String::as_str).collect();
            subset.sort_unstable();
            *subsets.entry(subset).or_default() += 1;
        }
        let folds: usize = subsets.values().sum();
        match subsets.iter().max_by_key(|(_, times)| **times) {
            Some((subset, times)) => format!("{} in {times} of {folds} folds", subset.join(" and ")),
            None => "nothing".to_owned(),
        }
    }

    fn table(&self) -> Table {
        let mut table = Table::new(
            &format!("Error in percent with {} features", self.task.k),
            ["", "published", "ours", "sd over folds"],
        );
        for ((name, label), published) in METHODS.iter().zip(self.task.published) {
            let ours = self.comparison.error(label, self.task.k);
            table.push([
                (*name).to_owned(),
                if published > 0.0 { format!("{published:.2}") } else { String::new() },
                ours.map_or("failed".to_owned(), |(mean, _)| format!("{mean:.2}")),
                ours.map_or(String::new(), |(_, sd)| format!("{sd:.2}")),
            ]);
        }
        if let Some(all) = self.comparison.error_with_all_features() {
            table.push(["all features".to_owned(), String::new(), format!("{all:.2}"), String::new()]);
        }
        table
    }

    fn section(&self, settings: &Settings) -> Section {
        let label = |label: &str| match METHODS.iter().find(|(_, ours)| *ours == label) {
            Some((name, _)) => (*name).to_owned(),
            None if label == "all-features" => "all features".to_owned(),
            None => label.to_owned(),
        };
        let title = format!("{}: error by number of features", self.task.title);
        let figure = self.comparison.figure(self.task.id, &title, label, false);
        self.task.section(settings).table(self.table()).figure(figure)
    }
}

/// Table 1 and its figures, one section per data set; then the claim over all data sets.
pub fn run(checkpoint: &mut Checkpoint, settings: &Settings, ctx: &Context) -> Result<Vec<Section>> {
    let (mut sections, mut finished) = (vec![], vec![]);
    for task in &TASKS {
        match task.run(settings, ctx)? {
            Some((comparison, data)) => {
                let one = Finished { task, comparison };
                sections.push(match (task.dataset.name, &data) {
                    ("wine", Some(data)) => wine(&one, data, checkpoint, settings, ctx)?,
                    ("glass", Some(data)) => glass(&one, data, checkpoint, settings, ctx)?,
                    ("madelon", _) => madelon(&one, settings),
                    _ => wide(&one, settings),
                });
                finished.push(one);
            }
            None => sections.push(task.not_run(settings)),
        }
    }
    sections.push(ldfs_against_laplacian(&finished));
    Ok(sections)
}

fn wine(
    one: &Finished,
    data: &Dataset,
    checkpoint: &mut Checkpoint,
    settings: &Settings,
    ctx: &Context,
) -> Result<Section> {
    let (hsfs, ldfs) = (one.error("hsfs"), one.error("ldfs"));
    let best_pair = best_pair(one, data, checkpoint, settings, ctx)?;
    let mut table = Table::new("HSFS by kernel bandwidth", ["bandwidth", "error in percent"]);
    let mut lowest = hsfs;
    for (bandwidth, error) in BANDWIDTHS.into_iter().zip(one.task.errors_by_bandwidth(data, settings, ctx)?) {
        lowest = lowest.min(error);
        table.push([bandwidth.to_string(), format!("{error:.2}")]);
    }
    Ok(one
        .section(settings)
        .result(
            Verdict::of(hsfs <= 9.0 && lowest <= 5.5 && hsfs <= ldfs + 1.0),
            format!(
                "HSFS {hsfs:.1}, with the best bandwidth {lowest:.1}; LDFS {ldfs:.1}; best pair of features {best_pair:.1}."
            ),
        )
        .table(table)
        .note(format!(
            "HSFS selects {}. HSIC and classification error rank pairs differently: at every bandwidth, the pair with the lowest error is \
             not the one with the highest HSIC. On unscaled features, a fixed bandwidth may favor that pair because of the units.",
            one.most_frequent_subset("hsfs")
        ))
        .note(
            "The best pair and the best bandwidth are chosen on the test rows. They bound what is achievable and are not results.",
        ))
}

fn glass(
    one: &Finished,
    data: &Dataset,
    checkpoint: &mut Checkpoint,
    settings: &Settings,
    ctx: &Context,
) -> Result<Section> {
    let (hsfs, fohsic) = (one.error("hsfs"), one.error("fohsic"));
    let best_pair = best_pair(one, data, checkpoint, settings, ctx)?;
    Ok(one
        .section(settings)
        .result(
            Verdict::of(hsfs <= fohsic + 3.0 && hsfs <= best_pair + 3.0),
            format!("HSFS {hsfs:.1}, FOHSIC {fohsic:.1}, best pair of features {best_pair:.1}."),
        )
        .note(
            "No pair of the nine features reaches the published 24.8. The paper counts ten features: the tenth is the row \
             identifier of the file, which is sorted by class.",
        ))
}

fn madelon(one: &Finished, settings: &Settings) -> Section {
    let [hsfs, fohsic, relief, ldfs, ls] =
        ["hsfs", "fohsic", "relief", "ldfs", "laplacian"].map(|name| one.error(name));
    let informative = informative_features(one);
    one.section(settings)
        .result(
            Verdict::of(
                hsfs <= fohsic + 2.0 && fohsic + 2.0 < relief.min(ldfs).min(ls) && informative >= 5.0,
            ),
            format!(
                "HSFS {hsfs:.1}, FOHSIC {fohsic:.1}, Relief {relief:.1}, LDFS {ldfs:.1}, LS {ls:.1}; {informative:.1} of the 10 features \
                 selected by HSFS are informative."
            ),
        )
        .note(
            "Except for the linear methods, all errors are far below the published ones. The criterion is missed because Relief (ten \
             neighbors) and the Laplacian score (graph of the classes) also find the informative features.",
        )
        .note(TUNED_HERE)
}

fn wide(one: &Finished, settings: &Settings) -> Section {
    let [hsfs, fohsic, ls] = ["hsfs", "fohsic", "laplacian"].map(|name| one.error(name));
    let section = one.section(settings).result(
        Verdict::of(hsfs <= fohsic + 3.0 && hsfs <= ls - 5.0 && fohsic <= ls - 5.0),
        format!("HSFS {hsfs:.1}, FOHSIC {fohsic:.1}, LS {ls:.1}."),
    );
    let section = match one.task.dataset.name {
        "arcene" => section
            .note(
                "Each fold has 40 test rows. With 10,000 features and 160 training rows, features selected on all rows before the split \
                 appear much better than they are. Here they are selected inside each fold, and neither HSFS nor FOHSIC comes near its \
                 published error.",
            )
            .note(
                "The Laplacian score uses the graph of the classes, which makes it a supervised univariate score. On this data set it is \
                 nearly as good as HSFS and FOHSIC.",
            ),
        "mnist49" => section.note(
            "Gisette consists of the same digits, with products of pixels and noise features added. Its file is not available, so the \
             features here are the pixels.",
        ),
        _ => section,
    };
    section.note(TUNED_HERE)
}

/// The error of the best pair of features, chosen on the test rows, in percent.
fn best_pair(
    one: &Finished,
    data: &Dataset,
    checkpoint: &mut Checkpoint,
    settings: &Settings,
    ctx: &Context,
) -> Result<f64> {
    let folds = one.task.splits(settings).split(data.target(), data.n(), ctx.seed)?;
    let pairs: Vec<[usize; 2]> = (0..data.d()).flat_map(|a| (a + 1..data.d()).map(move |b| [a, b])).collect();
    let name = one.task.dataset.name;
    let names: Vec<String> = pairs
        .iter()
        .map(|pair| format!("pairs, {name}, {} and {}", data.names()[pair[0]], data.names()[pair[1]]))
        .collect();
    let numbers = checkpoint.measure(&format!("all pairs of {name}"), &names, ctx, |i, ctx| {
        let data = data.take_columns(&pairs[i]);
        let errors = folds.iter().map(|fold| fold_error(&data, fold, ctx)).collect::<Result<Vec<f64>>>()?;
        Ok([("error".to_owned(), 100.0 * errors.iter().sum::<f64>() / errors.len() as f64)].into())
    })?;
    Ok(numbers.iter().map(|numbers| numbers["error"]).fold(f64::INFINITY, f64::min))
}

/// The evaluator's error on a fold with all features of `data`.
fn fold_error(data: &Dataset, fold: &Fold, ctx: &Context) -> Result<f64> {
    let (train, test) = standardized(data, fold)?;
    Ok(evaluator()
        .evaluate(&train, test.x(), test.target(), Weights::ONE, ctx)?
        .scores
        .error
        .unwrap_or(f64::NAN))
}

/// Average number of HSFS's features among the 20 informative ones.
fn informative_features(one: &Finished) -> f64 {
    /// Counted from 1, as in the documentation of the data set.
    const INFORMATIVE: [usize; 20] =
        [29, 49, 65, 106, 129, 154, 242, 282, 319, 337, 339, 379, 434, 443, 452, 454, 456, 473, 476, 494];
    let number = |name: &str| name.trim_start_matches(|c: char| !c.is_ascii_digit()).parse::<usize>().ok();
    let is_informative = |name: &&String| number(name).is_some_and(|n| INFORMATIVE.contains(&n));
    let hits: Vec<f64> = one
        .comparison
        .results("hsfs", one.task.k)
        .map(|record| record.features.iter().filter(is_informative).count() as f64)
        .collect();
    mean(&hits)
}

fn ldfs_against_laplacian(finished: &[Finished]) -> Section {
    let mut table = Table::new("Error in percent", ["data set", "features", "LDFS", "LS", "LDFS - LS"]);
    let mut near = 0;
    for one in finished {
        let (ldfs, ls) = (one.error("ldfs"), one.error("laplacian"));
        near += usize::from(ldfs <= ls + 1.0);
        table.push([
            one.task.dataset.name.to_owned(),
            one.task.k.to_string(),
            format!("{ldfs:.2}"),
            format!("{ls:.2}"),
            format!("{:+.2}", ldfs - ls),
        ]);
    }
    let n = finished.len();
    let met = near >= (5 * n).div_ceil(6);
    Section::new(
        "P1-conv",
        "LDFS against the Laplacian score",
        "LDFS is better than the Laplacian score on every data set.",
        "The runs of Table 1.",
        "LDFS at most 1 percentage point above LS on 5 of 6 data sets.",
    )
    .result(if n == 0 { Verdict::NotRun } else { Verdict::of(met) }, format!("On {near} of {n} data sets."))
    .table(table)
}
