//! What was learned, for a person to read.

use super::holdout::{By, Held};
use super::{Findings, Made, by_score};
use crate::args::ScaleArg;
use crate::input::describe_target;
use crate::output::{bar, fact, number, table};
use kernsift::Kernel;
use kernsift::learn::design::{Base, Designed, Mixture, Psd};
use kernsift::learn::{Learned, LearnerMethod, Status};

/// Lines of a table that are printed unless the user wants more.
const SHOWN: usize = 20;
/// Triplets that are listed as out of order unless the user wants more.
const BROKEN: usize = 5;

/// The whole page.
pub fn page(result: &Findings, everything: bool) -> String {
    let loaded = &result.stated.loaded;
    let data = &loaded.prepared.data;
    let scaling = if result.args.scale == ScaleArg::Standard { "standardized" } else { "as they are" };
    let mut text = format!(
        "{}: {} rows, {} columns {scaling}, {}\n{}\n\n",
        loaded.name,
        data.n(),
        data.d(),
        describe_target(loaded),
        headline(&result.made, result.method, data.d()),
    );
    text += &facts(result);
    text += &columns(result, everything);
    if let Some(designed) = &result.made.designed {
        text += &kernels(designed, data.names(), everything);
    }
    text += &out_of_order(result, everything);
    if let Some(held) = &result.held {
        text += &evaluated(held, result.made.designed.is_some());
    }
    text
}

/// What was made of how many columns, and how that ended.
fn headline(made: &Made, method: &LearnerMethod, d: usize) -> String {
    let learned = &made.learned;
    let name = &learned.method;
    let ending = learned.status.explain();
    match (&made.designed, method) {
        (Some(designed), _) => {
            let kernels = designed.mixture.alpha.iter().filter(|alpha| **alpha != 0.0).count();
            match (kernels, is_weak(designed)) {
                (0, _) => format!("{name} keeps nothing: {}", nothing(learned.status)),
                (_, true) => format!(
                    "{name} keeps {} of {d} columns, in {} of {} kernels; {ending}",
                    learned.features().len(),
                    kernels,
                    designed.bases.len()
                ),
                (_, false) => {
                    format!(
                        "{name} keeps {kernels} of {} kernels of all columns; {ending}",
                        designed.bases.len()
                    )
                }
            }
        }
        (None, LearnerMethod::Xing(_)) => {
            format!("{name} keeps {} of {d} columns, in a metric; {ending}", learned.features().len())
        }
        (None, LearnerMethod::Average(_)) => {
            let kernels = if let Kernel::Sum(parts) = &learned.kernel { parts.len() } else { 1 };
            format!("{name} learns nothing: {kernels} kernels with the same weight")
        }
        _ => format!("{name} learns nothing: {}", learned.kernel.describe()),
    }
}

/// Why all weights are zero; what to do about it is said in a warning.
fn nothing(status: Status) -> &'static str {
    match status {
        Status::TrivialCone => "only zero is diagonally dominant",
        Status::OverRegularized => "the penalties outweigh all triplets",
        other => other.explain(),
    }
}

/// Whether kernels see one column each, so that columns are selected.
fn is_weak(designed: &Designed) -> bool {
    designed.bases.iter().any(|base| base.feature.is_some())
}

fn facts(result: &Findings) -> String {
    let (stated, report) = (result.stated, &result.stated.report);
    let mut text = String::new();
    let mut line = |name: &str, value: String, remark: String| text += &fact(name, &value, &remark);
    let mut parts = vec![match (stated.drawn, stated.loaded.prepared.recipe.target()) {
        (Some(_), Some(target)) => format!("drawn from '{target}', about {} rows", report.points),
        _ => format!("about {} rows", report.points),
    }];
    // What goes wrong with triplets is told on standard error; that some come twice is no fault.
    match report.duplicates {
        0 => {}
        1 => parts.push("1 repeats another".into()),
        n => parts.push(format!("{n} repeat others")),
    }
    if report.contradictions > 0 {
        parts.push(format!("{} stated both ways", report.contradictions));
    }
    if report.in_cycles > 0 {
        parts.push(format!("{} go round in circles", report.in_cycles));
    }
    line("triplets", report.triplets.to_string(), parts.join("; "));
    line("in order", short(result.fits), "of the triplets it was learned from".into());
    if let Some(designed) = &result.made.designed {
        let mixture = &designed.mixture;
        line("gamma1", plain(mixture.penalties.kernels), chosen(result, mixture));
        line("gamma2", plain(mixture.penalties.diagonal), String::new());
        line("noise", number(mixture.noise), noise(mixture));
    }
    text + "\n"
}

/// Where the penalties come from.
fn chosen(result: &Findings, own: &Mixture) -> String {
    let before = result.held.as_ref().and_then(|held| held.made.as_ref()?.designed.as_ref());
    let trials = before.map_or(&own.trials, |designed| &designed.mixture.trials);
    let best = trials.iter().map(|trial| trial.accuracy).fold(0.0, f64::max);
    match trials.len() {
        0 => "as given".into(),
        n => format!("chosen with gamma2 from {n} pairs, by halves: {} in order", short(best)),
    }
}

fn noise(mixture: &Mixture) -> String {
    let how = match mixture.psd {
        Psd::NonNegative => "no weight is negative, so the kernel is positive semidefinite",
        Psd::EigenCuts => "no eigenvalue is negative on these rows",
        Psd::StrictDominance => "the diagonal is dominant on these rows",
        _ => "makes the diagonal dominant on these rows",
    };
    let apart = if mixture.noise > 0.0 { "; it is not part of the kernel unless asked for" } else { "" };
    format!("{how}{apart}")
}

/// The columns that are kept, best first, of learners that keep some and drop others.
fn columns(result: &Findings, everything: bool) -> String {
    let learned = &result.made.learned;
    let selects = match &result.made.designed {
        Some(designed) => is_weak(designed),
        None => matches!(result.method, LearnerMethod::Xing(_)),
    };
    let kept = by_score(learned);
    if !selects || kept.is_empty() {
        return String::new();
    }
    let shown = if everything { kept.len() } else { kept.len().min(SHOWN) };
    let names = result.stated.loaded.prepared.data.names();
    let rows = kept[..shown].iter().enumerate().map(|(rank, &j)| {
        let score = learned.scores[j];
        vec![(rank + 1).to_string(), names[j].clone(), number(score), bar(score, 24)]
    });
    table(&["rank", "column", "score", ""], rows.collect(), &[0, 2]) + &more(kept.len() - shown) + "\n"
}

/// The kernels that have a weight, the largest first.
fn kernels(designed: &Designed, names: &[String], everything: bool) -> String {
    let alpha = &designed.mixture.alpha;
    let mut kept: Vec<usize> = (0..alpha.len()).filter(|&p| alpha[p] != 0.0).collect();
    if kept.is_empty() {
        return String::new();
    }
    // Kernels of a column often share the largest weight that it pays for, up to rounding.
    let largest = alpha.iter().fold(0.0_f64, |most, weight| most.max(weight.abs()));
    let size = |p: usize| (1e6 * alpha[p].abs() / largest).round();
    kept.sort_by(|&a, &b| size(b).total_cmp(&size(a)).then(a.cmp(&b)));
    let shown = if everything { kept.len() } else { kept.len().min(SHOWN) };
    let rows = kept[..shown].iter().map(|&p| {
        let base = &designed.bases[p];
        let (column, kernel) = kernel_words(base, names);
        vec![column, kernel, number(alpha[p])]
    });
    table(&["column", "kernel", "weight"], rows.collect(), &[2]) + &more(kept.len() - shown) + "\n"
}

/// The column that a kernel sees, and the kernel.
pub fn kernel_words(base: &Base, names: &[String]) -> (String, String) {
    let column = base.feature.map_or("all", |j| names[j].as_str());
    (column.to_owned(), own_kernel(&base.kernel).describe())
}

/// The kernel of a column without the column.
pub fn own_kernel(kernel: &Kernel) -> &Kernel {
    match kernel {
        Kernel::OnFeature { kernel, .. } => kernel,
        other => other,
    }
}

fn more(hidden: usize) -> String {
    if hidden > 0 { format!(" ... and {hidden} more, with -v\n") } else { String::new() }
}

/// What a person stated and the kernel does not bear out.
fn out_of_order(result: &Findings, everything: bool) -> String {
    let (stated, broken) = (result.stated, &result.broken);
    if stated.drawn.is_some() || broken.is_empty() || is_nothing(&result.made.learned) {
        return String::new();
    }
    let shown = if everything { broken.len() } else { broken.len().min(BROKEN) };
    let rows = broken[..shown].iter().map(|&at| {
        let names = stated.triplets[at].map(|row| stated.name(row).to_owned());
        std::iter::once(stated.lines[at].to_string()).chain(names).collect()
    });
    let header = ["triplet", "row", "is not more like", "than"];
    table(&header, rows.collect(), &[0]) + &more(broken.len() - shown) + "\n"
}

fn is_nothing(learned: &Learned) -> bool {
    matches!(learned.status, Status::TrivialCone | Status::OverRegularized)
}

/// Kernels side by side on what they were not learned from.
fn evaluated(held: &Held, has_penalties: bool) -> String {
    let rows = held.evaluated.iter().map(|evaluated| {
        let columns = evaluated.columns;
        let columns = if columns.fract() == 0.0 { columns.to_string() } else { format!("{columns:.1}") };
        let remark = if evaluated.converged { "" } else { "not converged" };
        let (share, picture) = (short(evaluated.accuracy), bar(evaluated.accuracy, 24));
        vec![evaluated.method.clone(), share, picture, columns, remark.to_owned()]
    });
    let text = table(&["held-out triplets", "in order", "", "columns", ""], rows.collect(), &[1, 3]);
    let (test, train, learned_rows) = (held.test, held.train, held.learned_rows);
    let how = match held.by {
        By::Rows(rows) => format!(
            "of {test} triplets about {rows} rows that were held out; learned from {train} about the other {learned_rows} rows"
        ),
        By::Triplets => format!("of {test} triplets that were held out; learned from the other {train}"),
        By::Folds(folds) => {
            format!("of {test} triplets, each held out once in {folds} folds; learned from the others")
        }
    };
    let penalties = match (has_penalties, held.by) {
        (true, By::Rows(_) | By::Triplets) => ", with the penalties that were chosen without those held out",
        _ => "",
    };
    format!("{text}\n {how}.\n The kernel above is learned from all triplets{penalties}.\n")
}

fn short(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// A number as it would be typed.
fn plain(value: f64) -> String {
    if value == 0.0 || (1e-4..1e6).contains(&value) { value.to_string() } else { format!("{value:e}") }
}
