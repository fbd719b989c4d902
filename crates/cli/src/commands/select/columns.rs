//! Selection of features.

use super::path;
use super::resampling::{self, Resampled};
use super::selected::Selected;
use crate::args::{ScaleArg, SelectArgs};
use crate::commands::report::timed;
use crate::console::Console;
use crate::failure::Failure;
use crate::input::Loaded;
use crate::output::{SHOWN, bar, curve, number, table};
use crate::terminal::{width, wrap};
use kernsift::model::Content;
use kernsift::select::SelectorMethod;
use kernsift::{Context, Error, Selection, Selector};
use serde_json::{Map, Value, json};

/// Selects features. They are standardized for selectors that depend on their scale.
pub fn fit(
    method: &SelectorMethod,
    args: &SelectArgs,
    loaded: &Loaded,
    ctx: &Context,
    console: &Console,
) -> Result<Selected, Failure> {
    let data = &loaded.prepared.data;
    let is_scaled = args.scale == ScaleArg::Standard && method.wants_scaling();
    let count = args.k.unwrap_or_default();
    let fit = || -> kernsift::Result<(Selection, Option<Resampled>)> {
        if let Some(found) = resampling::fit(method, args, loaded, is_scaled, ctx)? {
            return Ok((found.selection(), Some(found)));
        }
        Ok((method.select_typed(data, count, loaded.encoding(is_scaled), ctx)?, None))
    };
    let (fitted, cost) = timed(fit);
    let (selection, resampled) = fitted.map_err(|error| match error {
        Error::Param { method: "knockoffs", .. } => Failure::typed(error, &[("knockoffs", "q", "--fdr")]),
        error => Failure::of_count(error),
    })?;
    let mut fields = fields(&selection, data.names());
    if let Some(found) = &resampled {
        let (name, value) = found.record(data.names());
        fields[name] = value;
    }
    Ok(Selected {
        n_selected: selection.n_selected,
        max_count: data.d(),
        is_scaled,
        settings: serde_json::to_value(method)?,
        cost,
        fields,
        text: text(loaded, &selection, (method, resampled.as_ref()), console.is_verbose()),
        model: loaded.model(None, Content::Selection(selection)),
    })
}

fn fields(selection: &Selection, names: &[String]) -> Value {
    let named = |features: &[usize]| features.iter().map(|&j| names[j].clone()).collect::<Vec<_>>();
    let scores = names.iter().cloned().zip(selection.scores.iter().map(|&score| json!(score)));
    json!({
        "selected": named(selection.selected()),
        "order": named(&selection.order),
        "scores": scores.collect::<Map<_, _>>(),
        "error_curve": selection.curve,
        "coef": path::coef(selection, names),
        "path": path::record(&selection.path, names),
        "outcome": selection.outcome,
        "automatic": selection.automatic,
        "summary": summary(selection, names),
    })
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

fn text(
    loaded: &Loaded,
    selection: &Selection,
    (method, resampled): (&SelectorMethod, Option<&Resampled>),
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
    let largest = selection.scores.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let shown = if verbose { n_selected } else { n_selected.min(SHOWN) };
    let rows = selection.selected()[..shown].iter().enumerate().map(|(rank, &j)| {
        let score = selection.scores[j];
        vec![(rank + 1).to_string(), data.names()[j].clone(), number(score), bar(score / largest, 24)]
    });
    let score = resampled.map_or("score", Resampled::score_name);
    text += &format!("\n\n{}", table(&["rank", "feature", score, ""], rows.collect(), &[0, 2]));
    if shown < n_selected {
        text += &format!(" ... and {} more, with -v\n", n_selected - shown);
    }
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
