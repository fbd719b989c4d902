//! Columns that are not features: constant ones, identifiers and free text.

use super::account::Action;
use super::statistics::Statistics;
use crate::data::prepare::options::Missing;
use crate::data::types::ColumnType;

/// From this number of rows on, a column without an id-like name may be an identifier: in fewer rows values are often
/// distinct by chance.
pub(crate) const MIN_ID_ROWS: usize = 20;
/// The fraction of distinct values from which on text is an identifier.
const ID_FRACTION: f64 = 0.95;
/// The mean number of characters from which on text is free text, if most values are distinct,
const TEXT_LENGTH: f64 = 40.0;
/// ... or the mean number of words.
const TEXT_WORDS: f64 = 6.0;
/// Free text has at least this many rows, and this fraction of distinct values.
const MIN_TEXT_ROWS: usize = 5;
const TEXT_FRACTION: f64 = 0.5;

/// Why a column is not a feature.
pub(crate) struct Skip {
    pub(crate) action: Action,
    /// The type, if the values alone do not show it.
    pub(crate) kind: Option<ColumnType>,
    pub(crate) reason: String,
}

/// The reason not to use a column as a feature, if there is one. `place` is its position in the table. If the user chose its
/// type, it is neither an identifier nor free text.
pub(crate) fn reason_to_skip(
    name: &str,
    place: usize,
    kind: &ColumnType,
    is_chosen: bool,
    statistics: &Statistics,
    missing: Missing,
) -> Option<Skip> {
    let skip = |action, kind, reason: &str| Some(Skip { action, kind, reason: reason.to_owned() });
    if let Some(why) = statistics.unsupported {
        return skip(Action::Skipped, None, why);
    }
    if statistics.n_present == 0 {
        return skip(Action::Skipped, None, "all values are missing");
    }
    // Missing values next to a constant can be informative, if they are indicated. A single row shows nothing.
    let is_complete = statistics.n_missing == 0 || missing != Missing::Auto;
    if statistics.is_constant && statistics.n_present > 1 && is_complete {
        return skip(Action::Skipped, None, "constant");
    }
    if is_chosen {
        return None;
    }
    if *kind == ColumnType::Category && is_free_text(statistics) {
        return skip(Action::Skipped, Some(ColumnType::Text), "free text");
    }
    match is_id(name, place, kind, statistics) {
        true => skip(Action::Id, Some(ColumnType::Id), "identifier"),
        false => None,
    }
}

fn is_free_text(statistics: &Statistics) -> bool {
    let (characters, words) = statistics.length;
    statistics.n_present >= MIN_TEXT_ROWS
        && (characters >= TEXT_LENGTH || words >= TEXT_WORDS)
        && statistics.n_distinct() as f64 >= TEXT_FRACTION * statistics.n_present as f64
}

fn is_id(name: &str, place: usize, kind: &ColumnType, statistics: &Statistics) -> bool {
    let n = statistics.n_present;
    let is_unique = || statistics.n_distinct() == n && n > 1;
    let is_nearly_unique = || n >= MIN_ID_ROWS && statistics.n_distinct() as f64 >= ID_FRACTION * n as f64;
    let is_unnamed = place == 0 && is_unnamed(name);
    // A table with features in rows has the ids of samples in this column.
    let named = names_rows(name) || is_unnamed || place == 0 && name.eq_ignore_ascii_case("sample");
    match kind {
        ColumnType::Category => is_nearly_unique() && !statistics.is_mostly_numbers || named && is_unique(),
        ColumnType::Number if statistics.is_integer => {
            let order = Order {
                counts_rows: statistics.counts_rows && is_nearly_unique(),
                counts_repeatedly: &|| statistics.counts_repeatedly(),
                is_increasing: &|| statistics.is_increasing(),
                is_unique: &|| Some(is_unique()),
            };
            integers_identify(name, place, n, &order) == Some(true)
        }
        _ => false,
    }
}

/// What the order of integers shows.
pub(crate) struct Order<'a> {
    /// Whether each is its predecessor plus 1, or each is its predecessor minus 1, in enough rows.
    pub(crate) counts_rows: bool,
    /// Whether each is its predecessor plus 1, or the first one again.
    pub(crate) counts_repeatedly: &'a dyn Fn() -> bool,
    /// Whether each is larger than its predecessor.
    pub(crate) is_increasing: &'a dyn Fn() -> bool,
    /// Whether all are distinct, if that is known.
    pub(crate) is_unique: &'a dyn Fn() -> Option<bool>,
}

/// Whether a column of `n` integers identifies rows; `None` if it does if they are distinct, which is not known.
pub(crate) fn integers_identify(name: &str, place: usize, n: usize, order: &Order) -> Option<bool> {
    let is_unnamed = place == 0 && is_unnamed(name);
    let named = names_rows(name) || is_unnamed || place == 0 && name.eq_ignore_ascii_case("sample");
    if order.counts_rows
        || is_unnamed && (order.counts_repeatedly)()
        || numbers_rows(name) && n >= MIN_ID_ROWS && (order.is_increasing)()
    {
        return Some(true);
    }
    if named { (order.is_unique)() } else { Some(false) }
}

/// Whether a column has no name of its own: as readers and pandas name it.
fn is_unnamed(name: &str) -> bool {
    name.is_empty() || name.to_lowercase().starts_with("unnamed")
}

/// Whether a name says that a column identifies rows: `id`, `Customer ID`, `patient_id`, `PassengerId`, `index`.
fn names_rows(name: &str) -> bool {
    const NAMES: [&str; 9] = ["id", "ids", "uid", "uuid", "guid", "index", "idx", "rowid", "key"];
    let lower = name.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let (first, last) = (words.next(), words.next_back());
    let ends = name.strip_suffix("ID").or(name.strip_suffix("Id"));
    first.is_some_and(|word| NAMES.contains(&word) && last.is_none())
        || last.is_some_and(|word| NAMES[..5].contains(&word))
        || ends.is_some_and(|start| start.ends_with(|c: char| c.is_lowercase()))
}

/// Whether a name says that a column may number the rows: `order_no`, `Sample Nr`, `number`.
fn numbers_rows(name: &str) -> bool {
    let lower = name.to_lowercase();
    let last = lower.rsplit(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty());
    last.is_some_and(|word| ["no", "nr", "num", "number"].contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_identifiers() {
        for name in
            ["id", "ID", "Customer ID", "patient_id", "PassengerId", "rowID", "index", "Index", "user-uuid"]
        {
            assert!(names_rows(name), "{name}");
        }
        for name in [
            "",
            "humid",
            "acid",
            "width",
            "index of refraction",
            "body mass index",
            "key rate",
            "Madrid",
            "ID card",
        ] {
            assert!(!names_rows(name), "{name}");
        }
        assert!(numbers_rows("order_no") && numbers_rows("Sample Nr.") && !numbers_rows("time"));
        assert!(is_unnamed("Unnamed: 0") && is_unnamed("unnamed_1") && !is_unnamed("name"));
    }
}
