//! Numbers and settings as text.

use crate::html::shortened;
use kernsift::data::{ImputeStrategy, Splits, Target};
use kernsift::evaluate::{Cell, EVALUATORS, EvaluatorChoice, Measure, Metric, Run};
use serde_json::Value;

/// Significance level of the difference from the best.
pub const SIGNIFICANCE_LEVEL: f64 = 0.05;

/// A number of rows, or a sum of weights.
pub fn rows_text(rows: f64) -> String {
    if rows.fract() == 0.0 || rows >= 1000.0 { format!("{rows:.0}") } else { number(rows) }
}

/// Name of a score.
pub fn measure(metric: &Metric) -> &str {
    match metric {
        Metric::Scorer(name) => name,
        Metric::BuiltIn(measure) => match measure {
            Measure::Error => "Error",
            Measure::BalancedError => "Balanced error",
            Measure::BalancedAccuracy => "Balanced accuracy",
            Measure::Auc => "ROC AUC",
            Measure::LogLoss => "Log loss",
            Measure::F1 => "F1 score",
            Measure::R2 => "R²",
            Measure::Rmse => "RMSE",
            Measure::Mae => "Mean absolute error",
        },
    }
}

/// Name of the best value of a score.
pub fn best(metric: &Metric) -> String {
    let extreme = if metric.larger_is_better() { "Highest" } else { "Lowest" };
    let name = match metric {
        Metric::BuiltIn(Measure::Auc | Measure::F1 | Measure::R2 | Measure::Rmse) | Metric::Scorer(_) => {
            measure(metric).to_owned()
        }
        Metric::BuiltIn(_) => measure(metric).to_lowercase(),
    };
    format!("{extreme} {name}")
}

/// The unit of a score: a percent sign, or nothing.
pub fn unit(metric: &Metric) -> &'static str {
    if metric.is_fraction() { " %" } else { "" }
}

/// The unit of a score in the title of a column or an axis.
pub fn in_unit(metric: &Metric) -> &'static str {
    if metric.is_fraction() { ", %" } else { "" }
}

/// The value of a score without its unit: a fraction in percent, another one with four significant digits.
pub fn score(value: f64, metric: &Metric) -> String {
    if metric.is_fraction() { percent(value) } else { number(value) }
}

/// A fraction in percent, without the percent sign.
pub fn percent(fraction: f64) -> String {
    // A typographic minus sign, and none before zero.
    let text = format!("{:.1}", 100.0 * fraction).replace('-', "−");
    if text == "−0.0" { "0.0".into() } else { text }
}

/// Mean and standard deviation, without the unit.
pub fn mean_and_sd(cell: &Cell, metric: &Metric) -> String {
    let sd = if cell.splits > 1 { format!(" ± {}", score(cell.sd, metric)) } else { String::new() };
    format!("{}{sd}{}", score(cell.mean, metric), of_splits(cell))
}

/// Number of splits with a score, if not all.
pub fn of_splits(cell: &Cell) -> String {
    if cell.is_complete() { String::new() } else { format!(" ({}/{})", cell.splits, cell.of) }
}

/// A p-value.
pub fn p_value(p: f64) -> String {
    if p < 0.001 { "p < 0.001".into() } else { format!("p {p:.3}") }
}

/// Whether a score is significantly worse than the best for this number of features.
pub fn is_worse(cell: &Cell) -> bool {
    !cell.best && cell.p.is_some_and(|p| p < SIGNIFICANCE_LEVEL)
}

/// A number with four significant digits.
pub fn number(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let digits = value.abs().log10().floor();
    let text = if (-4.0..6.0).contains(&digits) {
        format!("{value:.*}", (3.0 - digits).max(0.0) as usize)
    } else {
        format!("{value:.3e}")
    };
    text.replace('-', "−")
}

/// Seconds with three significant digits.
pub fn seconds(value: f64) -> String {
    match value {
        v if v < 0.0005 => "< 0.001".into(),
        v if v < 0.01 => format!("{v:.4}"),
        v if v < 1.0 => format!("{v:.3}"),
        v if v < 10.0 => format!("{v:.2}"),
        v if v < 1000.0 => format!("{v:.1}"),
        v => format!("{v:.0}"),
    }
}

/// "1 row", "2 rows".
pub fn counted(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// Type of a target.
pub fn target(target: &Target) -> String {
    match target {
        Target::Classes(classes) => {
            let n = classes.n_present();
            format!("{n} class{}", if n == 1 { "" } else { "es" })
        }
        Target::Continuous(_) => "continuous".into(),
        Target::Outputs(y) => format!("{} continuous columns", y.ncols()),
        Target::None => "none".into(),
    }
}

/// A list of at most `max` names, in HTML.
pub fn listed(names: &[&str], max: usize) -> String {
    let shown: Vec<String> =
        names.iter().take(max).map(|name| format!("<b>{}</b>", shortened(name, 30))).collect();
    match (names.len().saturating_sub(max), shown.as_slice()) {
        (0, [one]) => one.clone(),
        (0, [first @ .., last]) => format!("{} and {last}", first.join(", ")),
        (more, all) => format!("{} and {more} more", all.join(", ")),
    }
}

/// Capitalizes the first letter.
pub fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}

/// Description of the splits.
pub fn splits(run: &Run) -> String {
    let by = match run.split_by.as_deref() {
        Some("groups") => ", groups kept together",
        Some("time") => ", training rows earlier than test rows",
        _ if run.not_stratified => ", not stratified",
        _ => "",
    };
    let how = match run.splits {
        Some(Splits::Folds { folds, repeats: 1 }) => format!("{folds}-fold cross-validation"),
        Some(Splits::Folds { folds, repeats }) => {
            format!("{folds}-fold cross-validation, repeated {repeats} times")
        }
        Some(Splits::Holdout { test_size, repeats }) => {
            let times = if repeats == 1 { String::new() } else { format!(", repeated {repeats} times") };
            format!("random test set of {} % of the rows{times}", percent(test_size).trim_end_matches(".0"))
        }
        None => match run.folds.as_slice() {
            [one] => format!("one, given by the user, with {}", counted(one.test.len(), "test row")),
            folds => format!("{}, given by the user", counted(folds.len(), "split")),
        },
    };
    let weights = match (run.weighted, run.balanced) {
        (true, true) => "; rows are weighted, fits to balanced classes",
        (true, false) => "; rows are weighted",
        (false, true) => "; fits to balanced classes",
        (false, false) => "",
    };
    how + by + weights
}

/// Description of the scaling.
pub fn scaling(scaled: bool) -> &'static str {
    if scaled { "standardized by the training rows of each split" } else { "none" }
}

/// Description of the imputation.
pub fn imputation(impute: ImputeStrategy) -> &'static str {
    match impute {
        ImputeStrategy::Auto => {
            "replaced by the median of the training rows, and indicated in a column of their own if there are many"
        }
        ImputeStrategy::Mean => "replaced by the mean of the training rows",
        ImputeStrategy::Median => "replaced by the median of the training rows",
    }
}

/// An evaluator with its parameters.
pub fn evaluator(evaluator: &EvaluatorChoice) -> String {
    if let EvaluatorChoice::External(external) = evaluator {
        return external.description.clone();
    }
    let name = evaluator.name();
    let title = EVALUATORS.iter().find(|info| info.name == name).map_or(name, |info| info.title);
    let mut parts = vec![];
    if let Ok(Value::Object(settings)) = serde_json::to_value(evaluator) {
        for (name, value) in &settings {
            collect(name, value, &mut parts);
        }
    }
    if parts.is_empty() { title.to_owned() } else { format!("{title}: {}", parts.join(", ")) }
}

/// Collects a phrase per relevant parameter.
fn collect(name: &str, value: &Value, parts: &mut Vec<String>) {
    match value {
        // The title names the evaluator; solver parameters are not relevant here.
        _ if matches!(name, "name" | "tol" | "max_iter" | "shrinking") => {}
        Value::Object(inner) if name == "kernel" => parts.push(kernel(inner)),
        Value::Array(values) if values.is_empty() => {}
        Value::Array(values) => {
            let all: Vec<String> = values.iter().map(value_text).collect();
            parts.push(if let [one] = &all[..] {
                format!("{} {one}", parameter_name(name))
            } else {
                format!("{} chosen from {}", parameter_name(name), all.join(" "))
            });
        }
        Value::Null => {}
        Value::Bool(true) => parts.push(parameter_name(name)),
        Value::Bool(false) => parts.push(format!("no {}", parameter_name(name))),
        Value::String(text) if text == "none" => {}
        other => parts.push(format!("{} {}", parameter_name(name), value_text(other))),
    }
}

fn kernel(choice: &serde_json::Map<String, Value>) -> String {
    let Some(named) = choice.get("named") else {
        return format!("kernel {}", Value::Object(choice.clone()));
    };
    let get = |name: &str| named.get(name).map(value_text).unwrap_or_default();
    match get("family").as_str() {
        "linear" => "linear kernel".into(),
        "poly" => format!(
            "polynomial kernel of degree {} with gamma {} and coef0 {}",
            get("degree"),
            get("gamma"),
            get("coef0")
        ),
        "rbf" => format!("RBF kernel with gamma {}", get("gamma")),
        family => format!("{family} kernel with gamma {}", get("gamma")),
    }
}

/// Display name of a parameter.
fn parameter_name(name: &str) -> String {
    match name {
        "fit_intercept" => "intercept".into(),
        "n_neighbors" => name.into(),
        "penalties" => "penalty".into(),
        "folds" => "inner folds".into(),
        name => name.replace('_', " "),
    }
}

fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.as_f64().map_or_else(|| number.to_string(), |v| v.to_string()),
        // Gamma is a word or {"value": number}.
        Value::Object(inner) if inner.len() == 1 => inner.values().map(value_text).collect(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernsift::evaluate::Evaluator;

    #[test]
    fn numbers() {
        assert_eq!([0.05618, 0.0, -0.00001, -0.352].map(percent), ["5.6", "0.0", "0.0", "−35.2"]);
        assert_eq!(
            [0.0001, 0.00234, 0.5, 3.25159, 59.26, 12345.6].map(seconds),
            ["< 0.001", "0.0023", "0.500", "3.25", "59.3", "12346"]
        );
        assert_eq!([0.0001, 0.04].map(p_value), ["p < 0.001", "p 0.040"]);
        assert_eq!([0.0, -0.06123, 98765.0, 3.2e11].map(number), ["0", "−0.06123", "98765", "3.200e11"]);
    }

    #[test]
    fn lists_of_names() {
        assert_eq!(listed(&["a"], 3), "<b>a</b>");
        assert_eq!(listed(&["a", "<b>"], 3), "<b>a</b> and <b>&lt;b&gt;</b>");
        assert_eq!(listed(&["a", "b", "c", "d"], 2), "<b>a</b>, <b>b</b> and 2 more");
    }

    #[test]
    fn evaluators_show_their_parameters() {
        let text = |name: &str| evaluator(&Evaluator::by_name(name).unwrap().into());
        assert_eq!(
            text("svm"),
            "Support vector machine: C chosen from 0.25 1 4 16 64 256, inner folds 5, RBF kernel with gamma scale"
        );
        assert_eq!(
            text("linear-svm"),
            "Linear support vector machine: C 1, intercept, loss squared_hinge, penalty l2"
        );
        assert_eq!(text("knn"), "k-nearest neighbors: n_neighbors 5");
        assert_eq!(
            text("ridge"),
            "Kernel ridge regression: RBF kernel with gamma scale, penalty chosen from 0.001 0.01 0.1 1 10 100"
        );
    }
}
