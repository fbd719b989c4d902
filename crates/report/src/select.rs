//! The report of a feature selection.

use crate::chart::{By, chart};
use crate::feature_plots::{self, feature_plots};
use crate::html::escape;
use crate::listing::{Cell, Head, Listing};
use crate::page::{Page, RunInfo};
use crate::pair_plots::pair_plots;
use crate::redundancy::redundancy;
use crate::{account, stability, tables, text};
use kernsift::evaluate::{Cell as Score, ResultsLog, Summary};
use kernsift::select::Automatic;
use kernsift::significance::{NearCopy, SelectionSignificance};
use kernsift::{Context, Dataset, Result, Selection};

/// Cross-validation of the method.
pub enum Validation {
    /// The results of a comparison in which it is the only method.
    Done(Box<(ResultsLog, Summary)>),
    /// The reason why it was not cross-validated.
    Skipped(String),
}

impl Validation {
    /// From a comparison in which it is the only method.
    pub fn of(log: ResultsLog, summary: Summary) -> Self {
        let method = summary.methods.first();
        if method.is_some_and(|method| method.cells.iter().any(Option::is_some)) {
            return Self::Done(Box::new((log, summary)));
        }
        let why =
            method.and_then(|method| method.failure.clone()).unwrap_or_else(|| "no fold has a score".into());
        Self::Skipped(format!("Cross-validation failed: {why}."))
    }

    /// The score with `k` features.
    fn score(&self, k: usize) -> Option<&Score> {
        let Self::Done(done) = self else { return None };
        let summary = &done.1;
        let index = summary.counts.iter().position(|&count| count == k)?;
        summary.methods.first()?.cells[index].as_ref()
    }

    /// The result as a sentence. `all` names the baseline.
    pub(crate) fn sentence(&self, k: usize, all: &str) -> String {
        let (Some(score), Self::Done(done)) = (self.score(k), self) else { return String::new() };
        let summary = &done.1;
        let unit = text::unit(&summary.measure);
        let baseline = summary.all_features.map_or(String::new(), |cell| {
            format!(" (with {all}: <span>{}{unit}</span>)", text::mean_and_sd(&cell, &summary.measure))
        });
        let measure = text::measure(&summary.measure);
        let score = text::mean_and_sd(score, &summary.measure);
        format!(" {measure} in cross-validation: <strong>{score}{unit}</strong>{baseline}.")
    }

    /// The score by number of features, with an explanation.
    pub(crate) fn html(&self, k: usize, data: &Dataset) -> String {
        let (log, summary) = match self {
            Self::Skipped(why) => return format!("<p>{}</p>\n", escape(why)),
            Self::Done(done) => (&done.0, &done.1),
        };
        let drawn = chart(summary, By::Features(data.d()), Some(k));
        let better = if summary.measure.larger_is_better() { "Higher" } else { "Lower" };
        let protocol = log.run().map_or(String::new(), |run| {
            let sampled = match run.fingerprint.rows {
                rows if rows < data.n() => format!(" On a random sample of {rows} of {} rows.", data.n()),
                _ => String::new(),
            };
            let (evaluator, splits) = (text::evaluator(&run.evaluator), text::splits(run));
            format!("{sampled} Evaluator: {}. Splits: {}.", escape(&evaluator), escape(&splits))
        });
        let failed = tables::failures(summary).unwrap_or_default();
        let clipped = if drawn.clipped { " Values below −100 % are not drawn." } else { "" };
        format!(
            "<figure>\n{}<figcaption>{better} is better. Error bars: ± one standard deviation over folds. The dashed line is the score with all \
             features.{clipped}</figcaption>\n</figure>\n{failed}\
             <p>In every fold, the method and the evaluator were fitted on the training rows and scored on the test rows.{protocol} \
             The best score on this page is optimistic, because it was selected among several.</p>\n",
            drawn.svg
        )
    }
}

/// A self-contained HTML page about selected features: ranking, cross-validated score, distributions by target, redundancy,
/// stability, and the command.
pub fn selection_page(
    info: &RunInfo,
    data: &Dataset,
    (selection, significance): (&Selection, &SelectionSignificance),
    validation: &Validation,
    ctx: &Context,
) -> Result<String> {
    let (selected, k, d) = (selection.selected(), selection.n_selected, data.d());
    let (lede, further) = opening(data, selection, significance, validation);
    let mut page = Page::new(&format!("Features of {}", info.data), &lede);
    page.html(&further);
    if let Some(sample) = selection.sample {
        page.html(&format!("<p>It {}.</p>\n", sample.describe()));
    }
    account::open(&mut page, info.account.as_ref());
    page.section("ranking", "Feature ranking", &ranking(data, selection, significance, validation));
    page.facts(&info.facts(data.n(), d, text::target(data.target())));
    if k == 0 {
        return Ok(info.finish(page));
    }
    match &selection.automatic {
        Some(found) if matches!(validation, Validation::Skipped(_)) => {
            page.section("validation", "Error by number of features", &errors(found, k));
        }
        _ => page.section("validation", "Score by number of features", &validation.html(k, data)),
    }
    let joint = selection.automatic.as_ref().map(|found| found.pairs.as_slice()).unwrap_or_default();
    if !joint.is_empty() {
        page.section("joint", "Features that matter jointly", &pair_plots(data, joint));
    }
    page.section(
        "target",
        feature_plots::heading(data.target()),
        &feature_plots(data, selected, info.account.as_ref()),
    );
    let copies = copies(data, selected, &significance.near_copies);
    if let Some(map) = redundancy(data, selected, ctx)?.or_else(|| (!copies.is_empty()).then(String::new)) {
        page.section("redundancy", "Redundancy of the features", &(copies + &map));
    }
    if let Validation::Done(done) = validation
        && let Some(cards) = stability::cards(&done.0, &done.1)
    {
        let explanation = "<p>Percentage of folds in which each feature was selected, by number of features; blank means never. Features that are \
                           selected only in some folds are less reliable than their scores suggest.</p>\n";
        page.section("stability", "Stability of the selection", &(explanation.to_owned() + &cards));
    }
    Ok(info.finish(page))
}

/// The answer in a sentence, and further sentences of the automatic selector, as HTML.
fn opening(
    data: &Dataset,
    selection: &Selection,
    significance: &SelectionSignificance,
    validation: &Validation,
) -> (String, String) {
    let (selected, k, d) = (selection.selected(), selection.n_selected, data.d());
    if let Some((_, sentences)) = &significance.resampling {
        return (escape(sentences), String::new());
    }
    if let Some(found) = &selection.automatic {
        let sentences = found.summary(selected, data.names());
        let further = sentences[1..].iter().map(|sentence| format!("<p>{}</p>\n", escape(sentence)));
        return (escape(&sentences[0]), further.collect());
    }
    let method = escape(&selection.method);
    if k == 0 {
        return (format!("<b>{method}</b> selects none of {d} features."), String::new());
    }
    let names: Vec<&str> = selected.iter().map(|&j| data.names()[j].as_str()).collect();
    let lede = format!(
        "<b>{method}</b> selects {k} of {}: {}.{}",
        text::counted(d, "feature"),
        text::listed(&names, 8),
        validation.sentence(k, &format!("all {d} features"))
    );
    (lede, String::new())
}

/// The near copies of selected features, as a list.
fn copies(data: &Dataset, selected: &[usize], found: &[Vec<NearCopy>]) -> String {
    let line = |(&j, copies): (&usize, &Vec<_>)| {
        let names: Vec<&str> =
            copies.iter().map(|copy: &NearCopy| data.names()[copy.feature].as_str()).collect();
        format!("<li>{}: {}</li>\n", escape(&data.names()[j]), text::listed(&names, 8))
    };
    let lines: String =
        selected.iter().zip(found).filter(|(_, copies)| !copies.is_empty()).map(line).collect();
    match lines.is_empty() {
        true => lines,
        false => {
            format!("<p>Near copies of selected features, which would do as well:</p>\n<ul>\n{lines}</ul>\n")
        }
    }
}

/// The cross-validated errors of the automatic selector, and those of other methods.
fn errors(found: &Automatic, k: usize) -> String {
    let heads = |first: Head| {
        vec![first, Head::number("Features"), Head::bar("Error"), Head::number("Standard error")]
    };
    let row = |name: &str, n_features: usize, error: f64, standard_error: f64| {
        vec![
            Cell::Text(name.to_owned()),
            Cell::Number(n_features as f64),
            Cell::Number(error),
            Cell::Number(standard_error),
        ]
    };
    let own = found.curve.iter().map(|p| row(&found.method, p.n_features, p.error, p.standard_error));
    let others = found.alternatives.iter().map(|p| row(&p.method, p.n_features, p.error, p.standard_error));
    let caption = format!(
        "{} by cross-validation, with screening, encoding and search inside each fold; {k} features are selected. \
         Other methods are shown with the number of features that the same rule chooses.",
        if found.is_classification { "Balanced error" } else { "Error (1 - R²)" },
    );
    Listing {
        file: "errors.csv",
        caption,
        heads: heads(Head::text("Method")),
        rows: own.chain(others).collect(),
        selected: 0,
    }
    .html()
}

/// What the columns of the ranking mean.
const Q_VALUE: &str = "<p><b>q-value</b>: does the target depend on this feature at all, alone? Of the features with a q-value of at most 0.1, at most \
                       a tenth are expected to be false positives. A feature that matters only together with another has a large q-value.</p>\n";
const FREQUENCY: &str = "<p><b>Selected, %</b>: would another sample give the same feature? The percentage of fits to parts of the rows that \
                         selected it.</p>\n";
const STABLE: &str = "<p><b>Frequency</b>: would another sample give the same feature? The fraction of fits to random halves of the rows that \
                      selected it.</p>\n";
const KNOCKOFF: &str = "<p><b>Score − copy</b>: does this feature add something to the others? Every feature competes with a random copy that \
                        has the same correlations with the other features, but nothing to do with the target. A feature that adds nothing is as \
                        likely to lose to its copy as to win.</p>\n";

/// All features in order, with score, q-value and selection frequency.
fn ranking(
    data: &Dataset,
    selection: &Selection,
    significance: &SelectionSignificance,
    validation: &Validation,
) -> String {
    let by_name = match validation {
        Validation::Done(done) => stability::frequencies(&done.0, selection.n_selected),
        Validation::Skipped(_) => None,
    };
    let of_searches = selection.automatic.as_ref().filter(|found| found.estimate.is_some());
    let frequencies: Option<Vec<f64>> = match by_name {
        Some(found) => {
            Some(data.names().iter().map(|j| found.get(j.as_str()).copied().unwrap_or(0.0)).collect())
        }
        None => of_searches.map(|found| found.frequencies.clone()),
    };
    let (score, mut text) = match significance.resampling {
        Some(("frequency", _)) => ("Frequency", STABLE.to_owned()),
        Some(_) => ("Score − copy", KNOCKOFF.to_owned()),
        None => ("Score", String::new()),
    };
    let mut heads = vec![Head::number("Rank"), Head::text("Feature"), Head::bar(score)];
    let SelectionSignificance { p_values, q_values, .. } = significance;
    if !p_values.is_empty() {
        heads.extend([Head::number("p-value"), Head::number("q-value")]);
        text += Q_VALUE;
    }
    if frequencies.is_some() {
        heads.push(Head::bar("Selected, %"));
        text += FREQUENCY;
    }
    let rows = selection.order.iter().enumerate().map(|(rank, &j)| {
        let name = &data.names()[j];
        let mut row = vec![
            Cell::Number(rank as f64 + 1.0),
            Cell::Text(name.clone()),
            Cell::Number(selection.scores[j]),
        ];
        row.extend([p_values, q_values].into_iter().filter_map(|all| all.get(j)).map(|&v| Cell::Number(v)));
        row.extend(frequencies.iter().map(|all| Cell::Number(100.0 * all[j])));
        row
    });
    let listing = Listing {
        file: "features.csv",
        caption: String::new(),
        heads,
        rows: rows.collect(),
        selected: selection.n_selected,
    };
    listing.html() + &text
}
