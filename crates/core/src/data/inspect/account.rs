//! The account of a table: what each column holds, and what is done with it.

use crate::data::prepare::options::Missing;
use crate::data::types::ColumnType;
use crate::error::shorten;
use serde::{Deserialize, Serialize};

/// Names that a line lists before it counts the others.
const NAMED: usize = 5;

/// What each column of a table holds, and what is done with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Account {
    /// Number of rows of the table.
    pub rows: usize,
    /// Number of rows that are used.
    pub rows_used: usize,
    /// How missing values are handled.
    pub missing: Missing,
    /// The columns, in the order of the table.
    pub columns: Vec<ColumnAccount>,
    /// What the user should check, such as features that alone predict the target perfectly.
    pub warnings: Vec<String>,
}

/// What a column holds, and what is done with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ColumnAccount {
    /// The name.
    pub name: String,
    /// The type.
    #[serde(rename = "type")]
    pub kind: ColumnType,
    /// What is done with it.
    pub action: Action,
    /// Why it is not a feature, or what the target is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The first distinct values.
    pub examples: Vec<String>,
    /// Number of missing values.
    pub n_missing: usize,
    /// Number of distinct values; none for the columns of a sparse table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n_distinct: Option<usize>,
    /// The range of numbers and dates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<Range>,
    /// Numbers of rows in bins of equal width over the range.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub histogram: Vec<usize>,
    /// The most frequent levels of a category, with their numbers of rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<(String, usize)>,
}

impl ColumnAccount {
    /// What is done with it, and why.
    pub fn used_as(&self) -> String {
        match (&self.reason, self.action) {
            (None, action) => action.name().to_owned(),
            (Some(reason), Action::Target) => format!("target, {reason}"),
            (Some(reason), _) => format!("not used: {reason}"),
        }
    }
}

/// What is done with a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// It is a feature.
    Feature,
    /// It is the target.
    Target,
    /// It identifies rows, and is not used.
    Id,
    /// It is not used.
    Skipped,
}

impl Action {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Feature => "feature",
            Self::Target => "target",
            Self::Id => "id",
            Self::Skipped => "skipped",
        }
    }
}

/// The range of a column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Range {
    /// The smallest value.
    pub min: Scalar,
    /// The median.
    pub median: Scalar,
    /// The largest value.
    pub max: Scalar,
}

/// A number or a date.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Scalar {
    /// A number.
    Number(f64),
    /// A date in ISO 8601 form.
    Date(String),
}

impl Account {
    /// The columns with an action.
    pub fn with_action(&self, action: Action) -> impl Iterator<Item = &ColumnAccount> {
        self.columns.iter().filter(move |column| column.action == action)
    }

    /// Whether all columns but the target are complete numeric features: there is nothing to report.
    pub fn is_plain(&self) -> bool {
        self.columns.iter().all(|column| match column.action {
            Action::Feature => column.kind == ColumnType::Number && column.n_missing == 0,
            Action::Target => true,
            Action::Id | Action::Skipped => false,
        })
    }

    /// The account in a few lines: features by type, columns that are not used, missing values.
    pub fn lines(&self) -> Vec<String> {
        [Some(self.features()), self.skipped(), self.missing_values()].into_iter().flatten().collect()
    }

    /// The number of features, by type.
    fn features(&self) -> String {
        let names = [
            ("number", "numbers"),
            ("category", "categories"),
            ("ordered", "ordered categories"),
            ("boolean", "booleans"),
            ("date", "dates"),
        ];
        let count = |name: &str| self.with_action(Action::Feature).filter(|c| c.kind.name() == name).count();
        let parts: Vec<String> = names
            .into_iter()
            .map(|(one, many)| (count(one), one, many))
            .filter(|(n, ..)| *n > 0)
            .map(|(n, one, many)| match (n, one) {
                (1, "ordered") => "1 ordered category".into(),
                (1, one) => format!("1 {one}"),
                (n, _) => format!("{n} {many}"),
            })
            .collect();
        let n = self.with_action(Action::Feature).count();
        if n == 0 {
            return "no features".into();
        }
        let plural = if n == 1 { "" } else { "s" };
        format!("{n} feature{plural}: {}", parts.join(", "))
    }

    /// The columns that are not used, with the reasons.
    pub fn skipped(&self) -> Option<String> {
        let skipped: Vec<&ColumnAccount> =
            self.columns.iter().filter(|c| matches!(c.action, Action::Id | Action::Skipped)).collect();
        let described = |column: &&ColumnAccount| {
            let reason = column.reason.as_deref().unwrap_or("identifier");
            format!("'{}' ({reason})", shorten(&column.name))
        };
        let (shown, n) = (skipped.iter().take(NAMED).map(described).collect::<Vec<_>>(), skipped.len());
        let more = if n > NAMED { format!(" and {} more", n - NAMED) } else { String::new() };
        (n > 0).then(|| format!("skipped: {}{more}", shown.join(", ")))
    }

    /// The number of missing values of the features, and how they are handled.
    pub fn missing_values(&self) -> Option<String> {
        let missing: Vec<&ColumnAccount> =
            self.with_action(Action::Feature).filter(|column| column.n_missing > 0).collect();
        let total: usize = missing.iter().map(|column| column.n_missing).sum();
        let is_category = |c: &&&ColumnAccount| matches!(c.kind, ColumnType::Category | ColumnType::Boolean);
        let categories = missing.iter().filter(is_category).count();
        let numbers = match self.missing {
            Missing::Auto => "imputed with the median and indicated",
            Missing::Mean => "imputed with the mean",
            Missing::Median => "imputed with the median",
            Missing::Drop => "rows dropped",
            Missing::Error => "an error",
        };
        let handled = match self.missing.imputation() {
            Some(_) if categories == missing.len() => "a level of their own".into(),
            Some(_) if categories > 0 => format!("{numbers}, in categories a level of their own"),
            _ => numbers.to_owned(),
        };
        let values = if total == 1 { "value" } else { "values" };
        let columns = match missing.as_slice() {
            [column] => format!("column '{}'", shorten(&column.name)),
            _ => format!("{} columns", missing.len()),
        };
        (total > 0).then(|| format!("{total} missing {values} in {columns}: {handled}"))
    }
}
