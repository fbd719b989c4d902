//! The results as text.

use super::fit::{Fit, by_score};
use super::holdout::{By, HoldOut};
use super::results::Results;
use crate::args::ScaleArg;
use crate::input::describe_target;
use crate::output::{bar, fact, number, table};
use kernsift::Kernel;
use kernsift::learn::design::{Base, Designed, Mixture, Psd};
use kernsift::learn::{Learned, LearnerMethod, Status};

/// Lines of a table that are printed without -v.
const SHOWN: usize = 20;
/// Violated triplets that are listed without -v.
const VIOLATED: usize = 5;

/// All of it.
pub fn page(result: &Results, everything: bool) -> String {
    let loaded = &result.input.loaded;
    let data = &loaded.prepared.data;
    let scaling = if result.args.scale == ScaleArg::Standard { "standardized" } else { "not scaled" };
    let mut text = format!(
        "{}: {} rows, {} columns {scaling}, {}\n{}\n\n",
        loaded.name,
        data.n(),
        data.d(),
        describe_target(loaded),
        headline(&result.fit, result.method, data.d()),
    );
    text += &facts(result);
    text += &features(result, everything);
    if let Some(designed) = &result.fit.designed {
        text += &kernels(designed, data.names(), everything);
    }
    text += &violated(result, everything);
    if let Some(held) = &result.hold_out {
        text += &evaluated(held, result.fit.designed.is_some());
    }
    text
}

/// The number of features and kernels, and how the solver ended.
fn headline(fit: &Fit, method: &LearnerMethod, d: usize) -> String {
    let learned = &fit.learned;
    let name = &learned.method;
    let ending = learned.status.explain();
    match (&fit.designed, method) {
        (Some(designed), _) => {
            let kernels = designed.mixture.alpha.iter().filter(|alpha| **alpha != 0.0).count();
            match (kernels, is_weak(designed)) {
                (0, _) => format!("{name} selects nothing: {}", nothing(learned.status)),
                (_, true) => format!(
                    "{name} selects {} of {d} features, in {} of {} kernels; {ending}",
                    learned.features().len(),
                    kernels,
                    designed.bases.len()
                ),
                (_, false) => {
                    format!(
                        "{name} selects {kernels} of {} kernels of all features; {ending}",
                        designed.bases.len()
                    )
                }
            }
        }
        (None, LearnerMethod::Xing(_)) => {
            format!("{name} selects {} of {d} features, in a metric; {ending}", learned.features().len())
        }
        (None, LearnerMethod::Average(_)) => {
            let kernels = if let Kernel::Sum(parts) = &learned.kernel { parts.len() } else { 1 };
            format!("{name} is a baseline: {kernels} kernels with equal weights")
        }
        _ => format!("{name} is a baseline: {}", learned.kernel.describe()),
    }
}

/// Why all weights are zero; a warning has the advice.
fn nothing(status: Status) -> &'static str {
    match status {
        Status::TrivialCone => "only the zero mixture is diagonally dominant",
        Status::OverRegularized => "the penalties are too large",
        other => other.explain(),
    }
}

/// Whether kernels are of one feature each, so that features are selected.
fn is_weak(designed: &Designed) -> bool {
    designed.bases.iter().any(|base| base.feature.is_some())
}

fn facts(result: &Results) -> String {
    let (input, report) = (result.input, &result.input.report);
    let mut text = String::new();
    let mut line = |name: &str, value: String, remark: String| text += &fact(name, &value, &remark);
    let mut parts = vec![match (input.drawn, input.loaded.prepared.recipe.target()) {
        (Some(_), Some(target)) => format!("drawn from '{target}', of {} rows", report.points),
        _ => format!("of {} rows", report.points),
    }];
    let counts = [
        (report.duplicates, "duplicate"),
        (report.contradictions, "contradictory"),
        (report.in_cycles, "in cycles"),
    ];
    let found = counts.iter().filter(|(count, _)| *count > 0);
    parts.extend(found.map(|(count, what)| format!("{count} {what}")));
    line("triplets", report.triplets.to_string(), parts.join("; "));
    line("satisfied", short(result.accuracy), "of the training triplets".into());
    if let Some(designed) = &result.fit.designed {
        let mixture = &designed.mixture;
        line("gamma1", plain(mixture.penalties.kernels), chosen(result, mixture));
        line("gamma2", plain(mixture.penalties.diagonal), String::new());
        line("noise", number(mixture.noise), noise(mixture));
    }
    text + "\n"
}

/// Where the penalties come from.
fn chosen(result: &Results, own: &Mixture) -> String {
    let before = result.hold_out.as_ref().and_then(|held| held.fit.as_ref()?.designed.as_ref());
    let trials = before.map_or(&own.trials, |designed| &designed.mixture.trials);
    let best = trials.iter().map(|trial| trial.accuracy).fold(0.0, f64::max);
    match trials.len() {
        0 => "given".into(),
        n => format!("chosen with gamma2 from {n} pairs by validation: {} satisfied", short(best)),
    }
}

fn noise(mixture: &Mixture) -> String {
    let how = match mixture.psd {
        Psd::NonNegative => "nonnegative weights: the kernel is positive semidefinite",
        Psd::EigenCuts => "no eigenvalue is negative on these rows",
        Psd::StrictDominance => "diagonally dominant on these rows",
        _ => "makes the Gram matrix of these rows diagonally dominant",
    };
    let added = if mixture.noise > 0.0 { "; added with --with-noise" } else { "" };
    format!("{how}{added}")
}

/// The selected features, best first, of learners that select.
fn features(result: &Results, everything: bool) -> String {
    let learned = &result.fit.learned;
    let selects = match &result.fit.designed {
        Some(designed) => is_weak(designed),
        None => matches!(result.method, LearnerMethod::Xing(_)),
    };
    let selected = by_score(learned);
    if !selects || selected.is_empty() {
        return String::new();
    }
    let shown = if everything { selected.len() } else { selected.len().min(SHOWN) };
    let names = result.input.loaded.prepared.data.names();
    let rows = selected[..shown].iter().enumerate().map(|(rank, &j)| {
        let score = learned.scores[j];
        vec![(rank + 1).to_string(), names[j].clone(), number(score), bar(score, 24)]
    });
    table(&["rank", "feature", "score", ""], rows.collect(), &[0, 2]) + &more(selected.len() - shown) + "\n"
}

/// The kernels with nonzero weight, largest first.
fn kernels(designed: &Designed, names: &[String], everything: bool) -> String {
    let alpha = &designed.mixture.alpha;
    let mut kept: Vec<usize> = (0..alpha.len()).filter(|&p| alpha[p] != 0.0).collect();
    if kept.is_empty() {
        return String::new();
    }
    // Kernels of a feature often have the same weight, up to rounding.
    let largest = alpha.iter().fold(0.0_f64, |most, weight| most.max(weight.abs()));
    let size = |p: usize| (1e6 * alpha[p].abs() / largest).round();
    kept.sort_by(|&a, &b| size(b).total_cmp(&size(a)).then(a.cmp(&b)));
    let shown = if everything { kept.len() } else { kept.len().min(SHOWN) };
    let rows = kept[..shown].iter().map(|&p| {
        let base = &designed.bases[p];
        let (column, kernel) = kernel_words(base, names);
        vec![column, kernel, number(alpha[p])]
    });
    table(&["feature", "kernel", "weight"], rows.collect(), &[2]) + &more(kept.len() - shown) + "\n"
}

/// The feature of a kernel, and the kernel.
pub fn kernel_words(base: &Base, names: &[String]) -> (String, String) {
    let column = base.feature.map_or("all", |j| names[j].as_str());
    (column.to_owned(), own_kernel(&base.kernel).describe())
}

/// The kernel without its feature.
pub fn own_kernel(kernel: &Kernel) -> &Kernel {
    match kernel {
        Kernel::OnFeature { kernel, .. } | Kernel::OnColumns { kernel, .. } => kernel,
        other => other,
    }
}

fn more(hidden: usize) -> String {
    if hidden > 0 { format!(" ... and {hidden} more, with -v\n") } else { String::new() }
}

/// The given triplets that the kernel violates.
fn violated(result: &Results, everything: bool) -> String {
    let (input, violated) = (result.input, &result.violated);
    if input.drawn.is_some() || violated.is_empty() || is_nothing(&result.fit.learned) {
        return String::new();
    }
    let shown = if everything { violated.len() } else { violated.len().min(VIOLATED) };
    let rows = violated[..shown].iter().map(|&at| {
        let names = input.triplets[at].map(|row| input.name(row).to_owned());
        std::iter::once(input.lines[at].to_string()).chain(names).collect()
    });
    let header = ["violated", "row", "not closer to", "than to"];
    table(&header, rows.collect(), &[0]) + &more(violated.len() - shown) + "\n"
}

fn is_nothing(learned: &Learned) -> bool {
    matches!(learned.status, Status::TrivialCone | Status::OverRegularized)
}

/// The accuracy of all kernels on held-out triplets.
fn evaluated(held: &HoldOut, has_penalties: bool) -> String {
    let rows = held.evaluated.iter().map(|evaluated| {
        let features = evaluated.features;
        let features = if features.fract() == 0.0 { features.to_string() } else { format!("{features:.1}") };
        let remark = if evaluated.converged { "" } else { "not converged" };
        let (accuracy, picture) = (short(evaluated.accuracy), bar(evaluated.accuracy, 24));
        vec![evaluated.method.clone(), accuracy, picture, features, remark.to_owned()]
    });
    let text = table(&["held-out triplets", "satisfied", "", "features", ""], rows.collect(), &[1, 3]);
    let (test, train, learned_rows) = (held.test, held.train, held.learned_rows);
    let how = match held.by {
        By::Rows(rows) => format!(
            "{test} test triplets of {rows} held-out rows; {train} training triplets of the other {learned_rows} rows"
        ),
        By::Triplets => format!("{test} held-out triplets; {train} training triplets"),
        By::Folds(folds) => {
            format!("{test} triplets, each held out once in {folds} folds")
        }
    };
    let penalties = match (has_penalties, held.by) {
        (true, By::Rows(_) | By::Triplets) => ", with penalties chosen without the held-out ones",
        _ => "",
    };
    format!("{text}\n {how}.\n The kernel above is learned from all triplets{penalties}.\n")
}

fn short(fraction: f64) -> String {
    format!("{:.1} %", 100.0 * fraction)
}

/// A number as it would be typed.
fn plain(value: f64) -> String {
    if value == 0.0 || (1e-4..1e6).contains(&value) { value.to_string() } else { format!("{value:e}") }
}
