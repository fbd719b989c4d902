//! The plan of a comparison, and the methods that do not fit into its time budget.

use crate::console::Console;
use kernsift::Observer;
use kernsift::evaluate::{Compare, LeftOut, SplitChoice};

/// Shows notes of a comparison also if the user did not ask for them.
pub struct Informing<'a>(pub &'a Console);

impl Observer for Informing<'_> {
    fn progress(&self, stage: &str, done: usize, total: usize) {
        self.0.progress(stage, done, total);
    }

    fn plan(&self, what: &str, bytes: u64) {
        self.0.plan(what, bytes);
    }

    fn note(&self, text: &str) {
        self.0.inform(text);
    }

    fn shows_notes(&self) -> bool {
        self.0.informs()
    }

    fn warn(&self, text: &str) {
        self.0.warn(text);
    }

    fn interrupted(&self) -> bool {
        self.0.interrupted()
    }
}

/// What is going to be computed.
pub fn describe_plan(compare: &Compare) -> String {
    let splits = match &compare.splits {
        SplitChoice::Generated(splits) => splits.repeats().saturating_mul(splits.per_repeat()),
        SplitChoice::Given(folds) => folds.len(),
    };
    let (methods, numbers) = (compare.candidates.len(), compare.counts.len());
    let mut sizes = compare.train_sizes.clone();
    sizes.sort_unstable();
    sizes.dedup();
    let counted = |n: usize, one: &str, more: &str| format!("{n} {}", if n == 1 { one } else { more });
    format!(
        "plan: {} x {} x {}{} of features{}: {} evaluations",
        counted(methods, "method", "methods"),
        counted(splits, "split", "splits"),
        if sizes.is_empty() {
            String::new()
        } else {
            counted(sizes.len(), "number", "numbers") + " of training rows x "
        },
        counted(numbers, "number", "numbers"),
        if compare.baseline { ", and all features" } else { "" },
        (methods * numbers + usize::from(compare.baseline))
            .saturating_mul(splits)
            .saturating_mul(sizes.len().max(1))
    )
}

/// Which method does not fit into the budget, and why.
pub fn describe_left_out(method: &LeftOut) -> String {
    let splits = if method.splits == 1 { "1 split".into() } else { format!("{} splits", method.splits) };
    match method.seconds {
        Some(seconds) => format!(
            "{} is left out of {splits}: they would take about {:.1} more minutes, which is over the --budget",
            method.label,
            seconds / 60.0
        ),
        None => {
            format!("{} is left out of {splits}: the --budget ended before its first one did", method.label)
        }
    }
}
