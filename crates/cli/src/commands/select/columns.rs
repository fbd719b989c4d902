//! Selection of features.

use super::path;
use super::resampling::{Resampled, Resampling, typed};
use super::selected::Selected;
use super::test_set::TestSet;
use crate::args::{ScaleArg, SelectArgs};
use crate::commands::report::timed;
use crate::console::Console;
use crate::failure::Failure;
use crate::input::Loaded;
use crate::output::{SHOWN, bar, curve, number, percent, table};
use crate::terminal::{width, wrap};
use kernsift::select::SelectorMethod;
use kernsift::significance::{NEAR_COPY, NearCopy, SelectionSignificance};
use kernsift::{Context, Model, Selection, Selector};
use serde_json::{Map, Value, json};

/// Selects features. They are standardized for selectors that depend on their scale.
pub fn fit(
    (method, resampling): (&SelectorMethod, &Resampling),
    args: &SelectArgs,
    loaded: &Loaded,
    ctx: &Context,
    console: &Console,
) -> Result<Selected, Failure> {
    let data = &loaded.prepared.data;
    let is_scaled = args.scale == ScaleArg::Standard && method.wants_scaling();
    let count = args.k.unwrap_or_default();
    // Before the fit, which may take long: a target may be missing.
    let read = |test: &String| TestSet::read(test, (&args.table, &args.weights), loaded, ctx, console);
    let test = args.test.as_ref().map(read).transpose()?;
    let tests = resampling.test.as_ref().map(|test| test.run(data, &[], ctx)).transpose().map_err(typed)?;
    let fit = || -> kernsift::Result<(Selection, Option<Resampled>)> {
        if let Some(found) = resampling.fit(method, args, loaded, is_scaled, ctx)? {
            return Ok((found.selection(), Some(found)));
        }
        Ok((method.select_typed(data, count, loaded.encoding(is_scaled), ctx)?, None))
    };
    let (fitted, cost) = timed(fit);
    let (selection, resampled) = fitted.map_err(typed)?;
    let encoding = loaded.encoding(args.scale == ScaleArg::Standard);
    let score = |test: TestSet| test.scores(data, selection.selected(), encoding, ctx);
    let test_scores = test.map(score).transpose()?;
    let mut significance = SelectionSignificance::new(data, &selection, tests, ctx)?;
    let mut fields = fields(&selection, data.names());
    if !significance.p_values.is_empty() {
        fields["p_values"] = named(&significance.p_values, data.names());
        fields["q_values"] = named(&significance.q_values, data.names());
    }
    if let Some(sample) = selection.sample {
        fields["sample"] = json!(sample);
    }
    fields["near_copies"] = copies_record(&selection, &significance.near_copies, data.names());
    if let Some(found) = &resampled {
        significance.resampling = Some((found.score_name(), found.summary(method)));
        let (name, value) = found.record(data.names());
        fields[name] = value;
    }
    if let Some(scores) = &test_scores {
        fields["test"] = scores.record();
    }
    let mut text =
        text(loaded, &selection, (method, resampled.as_ref()), &significance, console.is_verbose());
    text += &test_scores.map_or(String::new(), |scores| scores.text());
    Ok(Selected {
        n_selected: selection.n_selected,
        max_count: data.d(),
        is_scaled,
        settings: serde_json::to_value(method)?,
        cost,
        fields,
        text,
        significance: Some(significance),
        model: Model::of_selection(data, loaded.prepared.recipe.clone(), selection, encoding)?,
    })
}

/// The columns of p-values, q-values and the fraction of searches that selected a feature.
struct Columns<'a> {
    tests: Option<[&'a [f64]; 2]>,
    frequencies: Option<&'a [f64]>,
}

impl<'a> Columns<'a> {
    fn new(selection: &'a Selection, significance: &'a SelectionSignificance) -> Self {
        let SelectionSignificance { p_values, q_values, .. } = significance;
        let tests = (!p_values.is_empty()).then_some([p_values.as_slice(), q_values.as_slice()]);
        let found = selection.automatic.as_ref().filter(|found| found.estimate.is_some());
        Self { tests, frequencies: found.map(|found| found.frequencies.as_slice()) }
    }

    fn titles(&self) -> Vec<&'static str> {
        let tests = self.tests.map(|_| ["p-value", "q-value"]);
        tests.into_iter().flatten().chain(self.frequencies.map(|_| "frequency")).collect()
    }

    /// The cells of a feature.
    fn cells(&self, feature: usize) -> Vec<String> {
        let tests = self.tests.iter().flatten().map(|values| number(values[feature]));
        tests.chain(self.frequencies.map(|all| percent(all[feature]))).collect()
    }
}

/// Values by name.
fn named(values: &[f64], names: &[String]) -> Value {
    names.iter().cloned().zip(values.iter().map(|&v| json!(v))).collect::<Map<_, _>>().into()
}

pub fn fields(selection: &Selection, names: &[String]) -> Value {
    let list = |features: &[usize]| features.iter().map(|&j| names[j].clone()).collect::<Vec<_>>();
    json!({
        "selected": list(selection.selected()),
        "order": list(&selection.order),
        "scores": named(&selection.scores, names),
        "error_curve": selection.curve,
        "coef": path::coef(selection, names),
        "path": path::record(&selection.path, names),
        "outcome": selection.outcome,
        "automatic": selection.automatic,
        "summary": summary(selection, names),
    })
}

/// The near copies of each selected feature that has some, with their similarity.
fn copies_record(selection: &Selection, copies: &[Vec<NearCopy>], names: &[String]) -> Value {
    let of_feature = |copies: &[NearCopy]| -> Map<String, Value> {
        copies.iter().map(|copy| (names[copy.feature].clone(), json!(copy.similarity))).collect()
    };
    let all = selection.selected().iter().zip(copies).filter(|(_, copies)| !copies.is_empty());
    all.map(|(&j, copies)| (names[j].clone(), Value::from(of_feature(copies)))).collect::<Map<_, _>>().into()
}

/// The near copies of the shown features, which would do as well.
fn copies_text(selected: &[usize], copies: &[Vec<NearCopy>], names: &[String]) -> String {
    let line = |(&j, copies): (&usize, &Vec<NearCopy>)| {
        let mut list: Vec<&str> =
            copies.iter().take(SHOWN).map(|copy| names[copy.feature].as_str()).collect();
        let more = format!("and {} more", copies.len() - list.len());
        if copies.len() > list.len() {
            list.push(&more);
        }
        format!("  {}: {}\n", names[j], list.join(", "))
    };
    let lines: String =
        selected.iter().zip(copies).filter(|(_, copies)| !copies.is_empty()).map(line).collect();
    match lines.is_empty() {
        true => lines,
        false => format!("\nNear copies, which would do as well (similarity >= {NEAR_COPY}):\n{lines}"),
    }
}

/// What the automatic selector found, in sentences.
fn summary(selection: &Selection, names: &[String]) -> Option<Vec<String>> {
    selection.automatic.as_ref().map(|found| found.summary(selection.selected(), names))
}

/// Sentences, one per line; on a terminal they are wrapped.
fn wrapped(sentences: &[String]) -> String {
    let lines = |text: &String| width().map_or_else(|| vec![text.clone()], |width| wrap(text, width));
    sentences.iter().flat_map(lines).collect::<Vec<_>>().join("\n")
}

/// The table of the first selected features: rank, name and score, the cells of further columns with these titles, and a bar.
pub fn ranking(
    selection: &Selection,
    names: &[String],
    shown: usize,
    (score, more): (&str, &[&'static str]),
    cells: impl Fn(usize) -> Vec<String>,
) -> String {
    let largest = selection.scores.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let rows = selection.selected()[..shown].iter().enumerate().map(|(rank, &j)| {
        let score = selection.scores[j];
        let mut row = vec![(rank + 1).to_string(), names[j].clone(), number(score)];
        row.extend(cells(j));
        row.push(bar(score / largest, 24));
        row
    });
    let mut titles = vec!["rank", "feature", score];
    titles.extend(more);
    let right: Vec<usize> = (0..titles.len()).filter(|&at| at != 1).collect();
    titles.push("");
    let mut text = table(&titles, rows.collect(), &right);
    if shown < selection.n_selected {
        text += &format!(" ... and {} more, with -v\n", selection.n_selected - shown);
    }
    text
}

fn text(
    loaded: &Loaded,
    selection: &Selection,
    (method, resampled): (&SelectorMethod, Option<&Resampled>),
    significance: &SelectionSignificance,
    verbose: bool,
) -> String {
    let data = &loaded.prepared.data;
    let n_selected = selection.n_selected;
    let own = resampled.map(|found| found.summary(method));
    let mut text = match (own, summary(selection, data.names())) {
        (Some(own), _) => format!("{}\n{own}", loaded.describe("")),
        (None, Some(sentences)) => format!("{}\n\n{}", loaded.describe(""), wrapped(&sentences)),
        (None, None) => {
            format!(
                "{}\n{} selects {n_selected} of {} features",
                loaded.describe(""),
                selection.method,
                data.d()
            )
        }
    };
    if let Some(sample) = selection.sample {
        text += &format!("; it {} (all with --set exact=true)", sample.describe());
    }
    if n_selected == 0 {
        return text + "\n";
    }
    // If several features are eliminated per round, the curve has an error per round, not per number of features.
    let is_svm = selection.method == "svm-rfe";
    let by_count = !is_svm || selection.curve.len() == data.d();
    let error = selection.curve.get(n_selected - 1).filter(|_| by_count);
    if error.is_some() {
        text += &format!("; {}", selection.outcome.stop.explain());
    }
    let shown = if verbose { n_selected } else { n_selected.min(SHOWN) };
    let columns = Columns::new(selection, significance);
    let score = resampled.map_or("score", Resampled::score_name);
    let titles = columns.titles();
    text +=
        &format!("\n\n{}", ranking(selection, data.names(), shown, (score, &titles), |j| columns.cells(j)));
    text += &copies_text(&selection.selected()[..shown], &significance.near_copies, data.names());
    if let Some(&error) = error {
        text += &format!(
            "\n  training error of the {} by number of features: {} with {n_selected}\n\n{}",
            if is_svm { "SVM" } else { "vote" },
            number(error),
            curve(&selection.curve, None)
        );
    }
    text + &path::table_of(method, &selection.path, data.names(), verbose)
}
