//! Numbers and settings as people write them.

use crate::html::shortened;
use kernsift::data::{ImputeStrategy, Splits, Target};
use kernsift::evaluate::{Cell, EVALUATORS, Evaluator, Measure, Run};
use serde_json::Value;

/// A difference from the best is marked at this level.
pub const LEVEL: f64 = 0.05;

/// What a score is called.
pub fn measure(measure: Measure) -> &'static str {
    match measure {
        Measure::Error => "Error",
        Measure::BalancedAccuracy => "Balanced accuracy",
        Measure::Auc => "Area under the curve",
        Measure::R2 => "Explained variance (R²)",
    }
}

/// What the best of its values is called.
pub fn best(measure: Measure) -> &'static str {
    match measure {
        Measure::Error => "Least error",
        Measure::BalancedAccuracy => "Best balanced accuracy",
        Measure::Auc => "Largest area under the curve",
        Measure::R2 => "Most variance explained",
    }
}

/// A share in per cent, without the sign.
pub fn percent(share: f64) -> String {
    // A true minus, and no minus before a zero.
    let text = format!("{:.1}", 100.0 * share).replace('-', "−");
    if text == "−0.0" { "0.0".into() } else { text }
}

/// Mean and spread, in per cent.
pub fn mean_and_sd(cell: &Cell) -> String {
    let spread = if cell.splits > 1 { format!(" ± {}", percent(cell.sd)) } else { String::new() };
    format!("{}{spread}{}", percent(cell.mean), of_splits(cell))
}

/// How many splits a cell is about, if not all.
pub fn of_splits(cell: &Cell) -> String {
    if cell.is_whole() { String::new() } else { format!(" ({}/{})", cell.splits, cell.of) }
}

/// A p-value.
pub fn p_value(p: f64) -> String {
    if p < 0.001 { "p < 0.001".into() } else { format!("p {p:.3}") }
}

/// Whether a cell is worse than the best of its column beyond chance.
pub fn is_worse(cell: &Cell) -> bool {
    !cell.best && cell.p.is_some_and(|p| p < LEVEL)
}

/// A number with four digits that matter.
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

/// Seconds with three digits that matter.
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

/// A target in words.
pub fn target(target: &Target) -> String {
    match target {
        Target::Classes(classes) => counted_classes(classes.n_present()),
        Target::Continuous(_) => "a number".into(),
        Target::None => "none".into(),
    }
}

fn counted_classes(n: usize) -> String {
    format!("{n} class{}", if n == 1 { "" } else { "es" })
}

/// Names in a row, the last after an "and", at most so many.
pub fn listed(names: &[&str], most: usize) -> String {
    let shown: Vec<String> = names.iter().take(most).map(|name| shortened(name, 30)).collect();
    let shown: Vec<String> = shown.into_iter().map(|name| format!("<b>{name}</b>")).collect();
    match (names.len().saturating_sub(most), shown.as_slice()) {
        (0, [one]) => one.clone(),
        (0, [first @ .., last]) => format!("{} and {last}", first.join(", ")),
        (more, all) => format!("{} and {more} more", all.join(", ")),
    }
}

/// The same with a capital first.
pub fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}

/// How rows were split.
pub fn splits(run: &Run) -> String {
    match run.splits {
        Some(Splits::Folds { folds, repeats: 1 }) => format!("{folds} folds; every row is evaluated once"),
        Some(Splits::Folds { folds, repeats }) => {
            format!("{folds} folds, dealt {repeats} times; every row is evaluated {repeats} times")
        }
        Some(Splits::Holdout { test_size, repeats }) => {
            let times = if repeats == 1 { "once".into() } else { format!("{repeats} times") };
            format!("{} % of the rows kept back, {times}", percent(test_size).trim_end_matches(".0"))
        }
        None => format!("{}, given", counted(run.folds.len(), "split")),
    }
}

/// What was done to columns.
pub fn scaling(scaled: bool) -> &'static str {
    if scaled { "mean 0 and variance 1, by the training rows of each split" } else { "columns as they are" }
}

/// What was done about empty cells.
pub fn filling(fill: ImputeStrategy) -> &'static str {
    match fill {
        ImputeStrategy::Mean => "filled with the mean of the training rows",
        ImputeStrategy::Median => "filled with the median of the training rows",
    }
}

/// An evaluator and what it was set to.
pub fn evaluator(evaluator: &Evaluator) -> String {
    let title = EVALUATORS
        .iter()
        .find(|info| info.name == evaluator.name())
        .map_or(evaluator.name(), |info| info.title);
    let mut parts = vec![];
    if let Ok(Value::Object(settings)) = serde_json::to_value(evaluator) {
        for (name, value) in &settings {
            collect(name, value, &mut parts);
        }
    }
    if parts.is_empty() { title.to_owned() } else { format!("{title}: {}", parts.join(", ")) }
}

/// What matters of settings, a phrase each.
fn collect(name: &str, value: &Value, parts: &mut Vec<String>) {
    match value {
        // The name is said already; limits and tolerances are not what a reader asks for.
        _ if matches!(name, "name" | "tol" | "max_iter" | "shrinking") => {}
        Value::Object(inner) if name == "kernel" => parts.push(kernel(inner)),
        // The machine inside a search: its own cost is not used.
        Value::Object(inner) => {
            inner.iter().filter(|(name, _)| *name != "c").for_each(|(n, v)| collect(n, v, parts));
        }
        Value::Array(values) if values.is_empty() => {}
        Value::Array(values) => {
            let all: Vec<String> = values.iter().map(plain).collect();
            parts.push(if let [one] = &all[..] {
                format!("{} {one}", spoken(name))
            } else {
                format!("{} from {}", spoken(name), all.join(" "))
            });
        }
        Value::Null => {}
        Value::Bool(true) => parts.push(spoken(name)),
        Value::Bool(false) => parts.push(format!("no {}", spoken(name))),
        Value::String(text) if text == "none" => {}
        other => parts.push(format!("{} {}", spoken(name), plain(other))),
    }
}

fn kernel(choice: &serde_json::Map<String, Value>) -> String {
    let Some(named) = choice.get("named") else {
        return format!("kernel {}", Value::Object(choice.clone()));
    };
    let get = |name: &str| named.get(name).map(plain).unwrap_or_default();
    match get("family").as_str() {
        "linear" => "linear kernel".into(),
        "poly" => format!(
            "polynomial kernel of degree {} with gamma {} and constant {}",
            get("degree"),
            get("gamma"),
            get("coef0")
        ),
        family => format!("{family} kernel with gamma {}", get("gamma")),
    }
}

/// A setting's name as a reader knows it.
fn spoken(name: &str) -> String {
    match name {
        "c" => "cost".into(),
        "n_neighbors" => "neighbours".into(),
        "penalties" => "penalty".into(),
        "folds" => "inner folds".into(),
        name => name.replace('_', " "),
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.as_f64().map_or_else(|| number.to_string(), |v| v.to_string()),
        // A width is a word or {"value": number}.
        Value::Object(inner) if inner.len() == 1 => inner.values().map(plain).collect(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn names_in_a_row() {
        assert_eq!(listed(&["a"], 3), "<b>a</b>");
        assert_eq!(listed(&["a", "<b>"], 3), "<b>a</b> and <b>&lt;b&gt;</b>");
        assert_eq!(listed(&["a", "b", "c", "d"], 2), "<b>a</b>, <b>b</b> and 2 more");
    }

    #[test]
    fn evaluators_show_their_settings() {
        let words = |name: &str| evaluator(&Evaluator::by_name(name).unwrap());
        assert_eq!(
            words("svm"),
            "Support vector machine: cost from 0.25 1 4 16 64 256, inner folds 5, rbf kernel with gamma scale"
        );
        assert_eq!(
            words("linear-svm"),
            "Linear support vector machine: cost 1, intercept, loss squared-hinge, penalty l2"
        );
        assert_eq!(words("knn"), "Nearest neighbours: neighbours 5");
        assert_eq!(
            words("ridge"),
            "Kernel ridge regression: rbf kernel with gamma scale, penalty from 0.001 0.01 0.1 1 10 100"
        );
    }
}
