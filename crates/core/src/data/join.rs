//! Join a table with labels from a second file, by id.

use super::prepare::matching;
use super::table::{Column, Table, Values};
use crate::error::{Error, Result, shorten};
use std::borrow::Cow;
use std::collections::HashMap;

/// Ids that a message lists.
const LISTED: usize = 5;

/// Adds the target in `labels`, a table with the columns id and target, to `table` as its last column. Rows are matched
/// by the column `id` (a name or a pattern, see [`ColumnOptions`](super::ColumnOptions)), which both must have. Without one,
/// they are matched by the column `sample` of the table, or else by the first text column without duplicates and missing
/// values. Also returns warnings, about ids in `labels` that are not in the table.
pub fn join_labels(table: Table, labels: Table, id: &[String]) -> Result<(Table, Vec<String>)> {
    let Table::Columns(mut columns) = table else {
        return Err(Error::parse("labels can be joined to dense tables only"));
    };
    let pair = two_columns(labels)?;
    let (at, [keys, target]) = match id {
        [] => (id_column(&columns)?, pair),
        id => named_ids(&columns, pair, id)?,
    };
    let ids = &columns[at];
    let row_of = rows_by_id(&keys, "the labels")?;
    let known = rows_by_id(ids, "the table")?;
    let rows: Vec<Option<usize>> = (0..ids.len()).map(|row| row_of.get(&ids.cell(row)?).copied()).collect();
    let unlabeled = (0..ids.len()).filter(|&row| rows[row].is_none()).filter_map(|row| ids.cell(row));
    if let Some(list) = listed(unlabeled) {
        let name = shorten(&ids.name);
        return Err(Error::parse(format!(
            "no label for {list}; the ids of the table are in the column '{name}'. Add the labels, or remove the rows"
        )));
    }
    let unknown = (0..keys.len()).filter_map(|row| keys.cell(row)).filter(|key| !known.contains_key(key));
    let warnings = listed(unknown).map(|list| format!("ignored the labels of {list}, not in the table"));
    let rows: Vec<usize> = rows.into_iter().flatten().collect();
    let target = target.take_rows(&rows);
    let warnings = warnings.into_iter().collect();
    columns.push(target);
    Ok((Table::new(columns)?, warnings))
}

/// The columns of the labels.
fn two_columns(labels: Table) -> Result<[Column; 2]> {
    let columns = match labels {
        Table::Columns(columns) => columns,
        Table::Sparse { .. } => vec![],
    };
    <[Column; 2]>::try_from(columns).map_err(|columns| {
        let n = columns.len();
        Error::parse(format!("a file of labels has two columns, id and target; this one has {n}"))
    })
}

/// The index of the chosen id column, and the labels with the column of the same name first.
fn named_ids(columns: &[Column], labels: [Column; 2], id: &[String]) -> Result<(usize, [Column; 2])> {
    const RULE: &str = "the table and the labels need an id column of the same name";
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    let found = matching(id, &names).map_err(|unknown| {
        let shown = shorten(unknown);
        Error::parse(match labels.iter().any(|column| column.name == unknown) {
            true => format!("the labels have a column '{shown}', but the table does not; {RULE}"),
            false => format!("neither the table nor the labels have a column '{shown}'; {RULE}"),
        })
    })?;
    let place = |at: &usize| Some((*at, labels.iter().position(|label| label.name == names[*at])?));
    let shared: Vec<(usize, usize)> = found.iter().filter_map(place).collect();
    let list = |of: Vec<&str>| of.into_iter().map(|name| format!("'{}'", shorten(name))).collect::<Vec<_>>();
    match shared.as_slice() {
        [(at, 0)] => Ok((*at, labels)),
        [(at, _)] => {
            let [target, keys] = labels;
            Ok((*at, [keys, target]))
        }
        [] => {
            let in_table = list(found.iter().take(LISTED).map(|&at| names[at]).collect()).join(", ");
            let in_labels = list(labels.iter().map(|label| label.name.as_str()).collect()).join(" and ");
            Err(Error::parse(format!(
                "the table has the id column {in_table}, but the labels have {in_labels}; {RULE}"
            )))
        }
        _ => Err(Error::parse("both columns of the labels are id columns of the table; choose one of them")),
    }
}

/// The index of the column with the ids, where the user does not choose it.
fn id_column(columns: &[Column]) -> Result<usize> {
    let named = |name: &str| columns.iter().position(|column| column.name == name);
    let identifies = |column: &Column| match &column.values {
        Values::Text { codes, levels } => levels.len() == codes.len(),
        _ => false,
    };
    named("sample").or_else(|| columns.iter().position(identifies)).ok_or_else(|| {
        Error::parse("labels need a column with ids: a text column without duplicates and missing values. Name the id column")
    })
}

/// The row of each id in a column without duplicates and missing values.
fn rows_by_id<'a>(column: &'a Column, place: &str) -> Result<HashMap<Cow<'a, str>, usize>> {
    let mut rows = HashMap::with_capacity(column.len());
    let name = || shorten(&column.name);
    for row in 0..column.len() {
        let Some(id) = column.cell(row) else {
            return Err(Error::parse(format!(
                "{place}: row {}, column '{}': an id is missing",
                row + 1,
                name()
            )));
        };
        if let Some(first) = rows.insert(id.clone(), row) {
            return Err(Error::parse(format!(
                "{place}: rows {} and {} of column '{}' both have the id '{}'",
                first + 1,
                row + 1,
                name(),
                shorten(&id)
            )));
        }
    }
    Ok(rows)
}

/// The number of ids and the first of them; `None` if there are none.
fn listed<'a>(ids: impl Iterator<Item = Cow<'a, str>>) -> Option<String> {
    let ids: Vec<Cow<str>> = ids.collect();
    let shown: Vec<String> = ids.iter().take(LISTED).map(|id| format!("'{}'", shorten(id))).collect();
    let shown = shown.join(", ");
    match ids.len() {
        0 => None,
        1 => Some(format!("the id {shown}")),
        n if n <= LISTED => Some(format!("{n} ids: {shown}")),
        n => Some(format!("{n} ids, such as {shown}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(name: &str, cells: &[&str]) -> Column {
        Column::text(name, cells.iter().map(|&cell| (!cell.is_empty()).then_some(cell)))
    }

    fn table() -> Table {
        let x = Column::numeric("x", vec![1.0, 2.0, 3.0]);
        Table::new(vec![x, texts("color", &["r", "r", "b"]), texts("name", &["a", "b", "07"])]).unwrap()
    }

    fn labels(ids: &[&str], target: &[&str]) -> Table {
        Table::new(vec![texts("id", ids), texts("class", target)]).unwrap()
    }

    #[test]
    fn labels_are_matched_by_id() {
        let joined = join_labels(table(), labels(&["07", "c", "a", "b"], &["z", "w", "x", ""]), &[]);
        let (Table::Columns(columns), warnings) = joined.unwrap() else { panic!("columns expected") };
        // The levels of the labels that are not used stay; the codes decide.
        let class: Vec<_> = (0..3).map(|row| columns[3].cell(row).map(Cow::into_owned)).collect();
        assert_eq!((columns.len(), class), (4, vec![Some("x".into()), None, Some("z".into())]));
        assert_eq!(warnings, ["ignored the labels of the id 'c', not in the table"]);
        // The order of the columns does not matter if one is named.
        let numbers =
            Table::new(vec![texts("class", &["z", "x", "y"]), Column::numeric("x", vec![3.0, 1.0, 2.0])]);
        let (joined, warnings) = join_labels(table(), numbers.unwrap(), &["x".to_owned()]).unwrap();
        let Table::Columns(columns) = joined else { panic!("columns expected") };
        assert_eq!((columns[3].cell(0).as_deref(), columns[3].cell(2).as_deref()), (Some("x"), Some("z")));
        assert!(warnings.is_empty());
    }

    #[test]
    fn wrong_ids_are_named() {
        let message = |labels: Table, id: &str| {
            let id: Vec<String> = (!id.is_empty()).then(|| id.to_owned()).into_iter().collect();
            join_labels(table(), labels, &id).unwrap_err().to_string()
        };
        assert_eq!(
            message(labels(&["a"], &["x"]), ""),
            "no label for 2 ids: 'b', '07'; the ids of the table are in the column 'name'. Add the labels, or \
             remove the rows"
        );
        assert_eq!(
            message(labels(&["a", "b", "a"], &["x", "y", "z"]), ""),
            "the labels: rows 1 and 3 of column 'id' both have the id 'a'"
        );
        assert_eq!(
            message(labels(&["a", "", "c"], &["x", "y", "z"]), ""),
            "the labels: row 2, column 'id': an id is missing"
        );
        assert_eq!(
            message(
                Table::new(vec![texts("color", &["r", "b"]), texts("class", &["x", "y"])]).unwrap(),
                "color"
            ),
            "the table: rows 1 and 2 of column 'color' both have the id 'r'"
        );
        const RULE: &str = "; the table and the labels need an id column of the same name";
        let chosen = |id: &str| message(labels(&["a"], &["x"]), id);
        assert_eq!(chosen("nam"), format!("neither the table nor the labels have a column 'nam'{RULE}"));
        assert_eq!(chosen("id"), format!("the labels have a column 'id', but the table does not{RULE}"));
        assert_eq!(
            chosen("name"),
            format!("the table has the id column 'name', but the labels have 'id' and 'class'{RULE}")
        );
        let three = Table::new(vec![texts("a", &["x"]), texts("b", &["x"]), texts("c", &["x"])]).unwrap();
        assert_eq!(message(three, ""), "a file of labels has two columns, id and target; this one has 3");
        let same = Table::new(vec![texts("id", &["a", "b", "07"]), texts("x", &["1", "2", "3"])]).unwrap();
        assert_eq!(message(same, ""), "column 1 and column 4 are both named 'x'; rename one");
        let no_ids = Table::new(vec![Column::numeric("x", vec![1.0])]).unwrap();
        let error = join_labels(no_ids, labels(&["a"], &["x"]), &[]).unwrap_err().to_string();
        assert!(error.starts_with("labels need a column with ids"), "{error}");
    }
}
