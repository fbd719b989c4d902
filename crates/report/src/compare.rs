//! The report of a comparison.

use crate::chart::{self, By, chart};
use crate::html::escape;
use crate::page::Page;
use crate::{account, learning_curve, predictions, stability, tables, text};
use kernsift::data::Account;
use kernsift::evaluate::{Metric, Predictions, ResultsLog, Run, Summary};

/// A self-contained HTML page about a comparison: data and protocol, scores as a chart and as a table, cost, selected
/// features, failures, notes on interpretation, and the command.
///
/// It shows only the methods and numbers of features of the summaries: one, or the points of a learning curve, of which the last one
/// is shown completely. `account` is that of the table, if there is one. Last come the title, and
/// the command or code that creates the page.
pub fn compare_page(
    log: &ResultsLog,
    summaries: &[Summary],
    predictions: Option<&Predictions>,
    account: Option<&Account>,
    (title, command): (&str, &str),
) -> String {
    let Some(summary) = summaries.last() else { return String::new() };
    let n_features = log.run().map_or(0, |run| run.fingerprint.columns);
    let mut page = Page::new(title, &headline(summary, n_features));
    account::open(&mut page, account);
    if let Some(run) = log.run() {
        let mut facts = facts(run, &summary.measure, account.is_some());
        facts.extend(summary.train_rows.map(|rows| ("Training rows", rows.to_string())));
        page.facts(&facts);
    }
    page.section("scores", "Score by number of features", &scores(summary, n_features));
    if summary.train_rows.is_some() {
        page.section("learning-curve", "Learning curve", &learning_curve::figures(summaries));
    }
    if let Some(found) = predictions {
        page.section("predictions", "Predictions of the test rows", &predictions::section(found));
    }
    page.section("costs", "Time and memory", &tables::costs(summary));
    if let Some(selected) = selected_features(log, summary) {
        page.section("selected", "Selected features", &selected);
    }
    if let Some(failures) = tables::failures(summary) {
        page.section("failures", "Failures", &failures);
    }
    page.section("interpretation", "Interpretation", &interpretation(summary));
    page.command(command);
    let shown = |label: &str| summary.methods.iter().any(|method| method.label == label);
    page.settings(
        log.methods()
            .filter(|(label, _)| shown(label))
            .map(|(label, method)| (label, serde_json::to_string(method).unwrap_or_default())),
    );
    page.finish(&log.run().map_or(String::new(), footer))
}

/// The best result in a sentence.
fn headline(summary: &Summary, n_features: usize) -> String {
    let sign = if summary.measure.larger_is_better() { -1.0 } else { 1.0 };
    let bests = summary.methods.iter().filter_map(|method| {
        let (cell, k) = summary.best_of(method)?;
        Some((sign * cell.mean, k, method, cell))
    });
    let best = bests.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let Some((_, k, method, cell)) = best else {
        return "No method has a score.".into();
    };
    let unit = text::unit(&summary.measure);
    let all = summary.all_features.map_or(String::new(), |cell| {
        format!(
            " All {n_features} features: <span>{}{unit}</span>.",
            text::mean_and_sd(&cell, &summary.measure)
        )
    });
    let simplest = summary.simplest.as_ref().filter(|s| (s.n_features, &s.label) != (k, &method.label));
    let simplest = simplest.map_or(String::new(), |simplest| {
        format!(
            " Fewest features within one standard error of it: <b>{}</b> with {}, <span>{}{unit}</span>.",
            escape(&simplest.label),
            text::counted(simplest.n_features, "feature"),
            text::mean_and_sd(&simplest.cell, &summary.measure)
        )
    });
    format!(
        "{}: <strong>{}{unit}</strong>, by <b>{}</b> with {}.{simplest}{all}",
        escape(&text::best(&summary.measure)),
        text::mean_and_sd(&cell, &summary.measure),
        escape(&method.label),
        text::counted(k, "feature")
    )
}

fn facts(run: &Run, metric: &Metric, has_account: bool) -> Vec<(&'static str, String)> {
    let data = [
        (
            "Data",
            format!(
                "{}: {}, {}",
                run.data,
                text::counted(run.fingerprint.rows, "row"),
                text::counted(run.fingerprint.columns, "column")
            ),
        ),
        ("Target", target(metric).to_owned()),
    ];
    let mut facts: Vec<(&str, String)> = data.into_iter().filter(|_| !has_account).collect();
    facts.extend([
        ("Evaluator", text::evaluator(&run.evaluator)),
        ("Splits", text::splits(run)),
        ("Scaling", text::scaling(run.scaled).to_owned()),
    ]);
    facts.extend(run.impute.map(|fill| ("Imputation", text::imputation(fill).to_owned())));
    facts.push(("Seed", run.seed.to_string()));
    facts
}

/// The type of the target of a score.
fn target(metric: &Metric) -> &'static str {
    match metric {
        Metric::BuiltIn(measure) if measure.is_for_numbers() => "continuous",
        Metric::BuiltIn(_) => "classes",
        Metric::Scorer(_) => "see the score",
    }
}

fn scores(summary: &Summary, n_features: usize) -> String {
    let drawn = chart(summary, By::Features(n_features), None);
    let mut caption =
        format!("{} is better. ", if summary.measure.larger_is_better() { "Higher" } else { "Lower" });
    caption += if chart::shows_error_bars(summary) {
        "Error bars: ± one standard deviation over splits. "
    } else {
        "Hover over a line or its label to highlight it and to show its standard deviation over splits. "
    };
    if summary.all_features.is_some() {
        caption += "The dashed line is the score with all features. ";
    }
    if drawn.clipped {
        caption += "Values below −100 % are not drawn. ";
    }
    format!(
        "<figure>\n{}<figcaption>{}</figcaption>\n</figure>\n{}<p class=\"legend\">\
         <span class=\"key best\">*</span> best mean for this number of features; \
         <span class=\"key worse\">−</span> significantly worse than the best (p &lt; {}). \
         p: corrected paired t-test of the difference from the best.</p>\n",
        drawn.svg,
        caption.trim_end(),
        tables::scores(summary),
        text::SIGNIFICANCE_LEVEL
    )
}

fn selected_features(log: &ResultsLog, summary: &Summary) -> Option<String> {
    let spaces = stability::in_kernel_space(log, summary);
    let cards = stability::cards(log, summary);
    if cards.is_none() && spaces.is_empty() {
        return None;
    }
    let mut html = String::new();
    if let Some(cards) = cards {
        html += "<p>Percentage of splits in which each feature was selected, by number of features; blank means never. \
                 If the selected features vary between splits, they are not reliable as relevant features, even \
                 if the score is good.</p>\n";
        html += &cards;
    }
    if !spaces.is_empty() {
        let names: Vec<String> = spaces.iter().map(|label| escape(label)).collect();
        html += &format!(
            "<p>Not shown: {}. Directions of kernel space are computed from the training rows of each split, \
             so they cannot be compared across splits.</p>\n",
            names.join(", ")
        );
    }
    Some(html)
}

fn interpretation(summary: &Summary) -> String {
    let sd = if summary.methods.iter().flat_map(|m| m.cells.iter().flatten()).any(|c| c.splits > 1) {
        " The standard deviation is over single splits; it is not the standard error of the mean."
    } else {
        ""
    };
    format!(
        "<p>In every split, everything is fitted on the training rows only (imputation, scaling, selection, and the \
         evaluator with its hyperparameters) and scored on the test rows.{sd}</p>\n\
         <p>The score of the method or number of features that is best on this page is optimistic, because it was \
         selected among many. To estimate its performance, use a separate test set.</p>\n\
         <p>The p-values are from a t-test over splits with a variance corrected for overlapping training sets (Nadeau \
         and Bengio, 2003). They are not corrected for multiple comparisons, so some are small by chance. A missing mark \
         does not mean that two methods are equally good.</p>\n"
    )
}

fn footer(run: &Run) -> String {
    format!(
        "kernsift {} · data checksum {} · record format {}",
        run.version, run.fingerprint.checksum, run.format
    )
}
