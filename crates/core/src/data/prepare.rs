//! From a table to numbers: which column is the target, what becomes of gaps and text.
//!
//! What is decided on the training table (fill values, categories) is kept in a [`Recipe`], so that
//! new tables get the same treatment.

use super::dataset::{Classes, Dataset, Target};
use super::rows::Rows;
use super::table::{Column, MISSING, Table, Values};
use crate::error::{Error, Result, shorten};
use ndarray::{Array2, s};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap};

/// Names that are taken for the target if none is given, in this order.
const TARGET_NAMES: [&str; 4] = ["target", "class", "label", "y"];

/// Whole numbers with at most this many different values are classes, unless the user says otherwise.
const MOST_CLASSES: usize = 100;

/// Which column is the target.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum TargetChoice {
    /// A column called target, class, label or y, else the last.
    #[default]
    Auto,
    /// A column called target, class, label or y, if there is one.
    AutoByName,
    /// This one.
    Named(String),
    /// There is none.
    None,
}

/// What the target means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TargetType {
    /// Text and few whole numbers are classes, anything else a number.
    #[default]
    Auto,
    /// Classes.
    Classes,
    /// A number.
    Continuous,
}

/// What becomes of empty cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Missing {
    /// They are an error.
    #[default]
    Error,
    /// Their rows are left out.
    Drop,
    /// They get the column's mean.
    Mean,
    /// They get the column's median.
    Median,
    /// They stay empty (NaN), for methods that bear gaps. Of a text column all numbers are unknown then,
    /// also where it becomes a column per category: none of them says "not this one".
    Keep,
}

/// What becomes of text columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Categorical {
    /// They are an error.
    #[default]
    Error,
    /// A column of 0 and 1 per category.
    OneHot,
    /// The category's place in alphabetical order.
    Ordinal,
}

/// How a table becomes numbers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Prepare {
    /// Which column is the target.
    pub target: TargetChoice,
    /// What it means.
    pub target_type: TargetType,
    /// What becomes of empty cells.
    pub missing: Missing,
    /// What becomes of text columns.
    pub categorical: Categorical,
}

/// What [`Prepare::fit`] returns.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// The numbers.
    pub data: Dataset,
    /// How new tables get the same treatment.
    pub recipe: Recipe,
    /// Rows of the table that are in the data, if some are not.
    pub rows: Vec<usize>,
    /// What the user should know: which target was taken, how many rows were left out.
    pub notes: Vec<String>,
}

/// The treatment of new tables.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recipe {
    columns: Vec<ColumnRecipe>,
    missing: Missing,
    target: Option<String>,
    /// Whether the table was sparse: then columns behind a new file's last one are zero, not missing.
    sparse: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct ColumnRecipe {
    name: String,
    encoding: Encoding,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Encoding {
    /// A number; empty cells get this one, if any.
    Number { fill: Option<f64> },
    /// A column per category.
    OneHot { levels: Vec<String> },
    /// The category's place.
    Ordinal { levels: Vec<String> },
}

impl Prepare {
    /// Learns the treatment from a table and applies it.
    pub fn fit(&self, table: &Table) -> Result<Prepared> {
        let mut notes = vec![];
        let target_name = self.find_target(table, &mut notes)?;
        match table {
            Table::Sparse { names, x, target } => {
                let target = target.as_ref().filter(|t| Some(&t.name) == target_name.as_ref());
                self.fit_sparse(names, x.clone().into(), target, notes)
            }
            Table::Columns(columns) => self.fit_columns(columns, target_name, notes),
        }
    }

    fn find_target(&self, table: &Table, notes: &mut Vec<String>) -> Result<Option<String>> {
        let names = table.names();
        match &self.target {
            TargetChoice::None => Ok(None),
            TargetChoice::Named(name) if matches!(table, Table::Sparse { target, .. } if target.as_ref().is_none_or(|t| t.name != *name)) => {
                Err(Error::param(
                    "sparse data",
                    "target",
                    "'target', which is each row's label, or none",
                    format!("'{name}'"),
                ))
            }
            TargetChoice::Named(name) => match names.iter().find(|n| *n == name) {
                Some(name) => Ok(Some((*name).to_owned())),
                None => Err(Error::unknown_column(name, names.into_iter())),
            },
            TargetChoice::Auto | TargetChoice::AutoByName => {
                if let Table::Sparse { target, .. } = table {
                    return Ok(target.as_ref().map(|t| t.name.clone()));
                }
                let known =
                    TARGET_NAMES.iter().find_map(|t| names.iter().find(|n| n.eq_ignore_ascii_case(t)));
                let (name, why) = match (known, names.last()) {
                    (Some(name), _) => (*name, "by its name"),
                    (None, _) if self.target == TargetChoice::AutoByName => return Ok(None),
                    (None, Some(name)) => (*name, "the last column; --target none for no target"),
                    (None, None) => return Err(Error::NoFeatures),
                };
                notes.push(format!("target: '{}' ({why})", shorten(name)));
                Ok(Some(name.to_owned()))
            }
        }
    }

    fn fit_sparse(
        &self,
        names: &[String],
        x: Rows,
        target: Option<&Column>,
        notes: Vec<String>,
    ) -> Result<Prepared> {
        let all = self.sparse_rows_kept(names, &x)?;
        let mut notes = notes;
        if all.len() < x.n() {
            notes.push(format!("{} of {} rows have empty cells and were left out", x.n() - all.len(), x.n()));
        }
        let x = if all.len() < x.n() { x.take_rows(&all) } else { x };
        let encoding = Encoding::Number { fill: None };
        let columns =
            names.iter().map(|n| ColumnRecipe { name: n.clone(), encoding: encoding.clone() }).collect();
        let recipe =
            Recipe { columns, missing: self.missing, target: target.map(|t| t.name.clone()), sparse: true };
        let target = target.map_or(Ok(Target::None), |t| self.read_target(t, &all))?;
        let data = recipe.dataset(names.to_vec(), x, target)?;
        Ok(Prepared { data, recipe, rows: all, notes })
    }

    /// Empty cells of sparse rows can be an error or drop their row; there is no filling them in.
    fn sparse_rows_kept(&self, names: &[String], x: &Rows) -> Result<Vec<usize>> {
        let Rows::Sparse(cells) = x else { unreachable!("asked of sparse tables only") };
        let mut keep = vec![true; x.n()];
        for (row, column, _) in cells.cells().filter(|(_, _, v)| v.is_nan()) {
            let column = names[column].clone();
            match self.missing {
                Missing::Keep => {}
                Missing::Drop => keep[row] = false,
                Missing::Error => return Err(Error::MissingValue { row: row + 1, column }),
                Missing::Mean | Missing::Median => {
                    return Err(Error::CannotImpute {
                        row: row + 1,
                        column,
                        why: "sparse rows are not filled in",
                    });
                }
            }
        }
        Ok((0..x.n()).filter(|&row| keep[row]).collect())
    }

    fn fit_columns(
        &self,
        columns: &[Column],
        target: Option<String>,
        mut notes: Vec<String>,
    ) -> Result<Prepared> {
        let features: Vec<&Column> = columns.iter().filter(|c| Some(&c.name) != target.as_ref()).collect();
        let target_column = columns.iter().find(|c| Some(&c.name) == target.as_ref());
        if features.is_empty() {
            return Err(Error::NoFeatures);
        }
        let everything: Vec<&Column> = features.iter().copied().chain(target_column).collect();
        let rows = kept_rows(&everything, self.missing)?;
        let dropped = columns[0].len() - rows.len();
        if dropped > 0 {
            notes.push(format!("{dropped} of {} rows have empty cells and were left out", columns[0].len()));
        }
        if rows.is_empty() {
            return Err(Error::parse(
                "every row has an empty cell, so none is left; use --missing mean or median",
            ));
        }
        let recipe = Recipe {
            columns: features.iter().map(|c| self.learn(c, &rows)).collect::<Result<_>>()?,
            missing: self.missing,
            target,
            sparse: false,
        };
        let target = target_column.map_or(Ok(Target::None), |t| self.read_target(t, &rows))?;
        let data = recipe.numbers(&features, &rows, target)?;
        Ok(Prepared { data, recipe, rows, notes })
    }

    /// The treatment of one feature column.
    fn learn(&self, column: &Column, rows: &[usize]) -> Result<ColumnRecipe> {
        let encoding = match &column.values {
            Values::Numeric(values) => Encoding::Number { fill: self.fill(values, rows) },
            Values::Text { codes, levels } => {
                let used: BTreeSet<&str> = rows
                    .iter()
                    .filter(|&&i| codes[i] != MISSING)
                    .map(|&i| levels[codes[i] as usize].as_str())
                    .collect();
                let levels = used.into_iter().map(str::to_owned).collect();
                match self.categorical {
                    Categorical::Error => return Err(not_numeric(column)),
                    Categorical::OneHot => Encoding::OneHot { levels },
                    Categorical::Ordinal => Encoding::Ordinal { levels },
                }
            }
        };
        Ok(ColumnRecipe { name: column.name.clone(), encoding })
    }

    fn fill(&self, values: &[f64], rows: &[usize]) -> Option<f64> {
        let mut present: Vec<f64> = rows.iter().map(|&i| values[i]).filter(|v| !v.is_nan()).collect();
        if present.is_empty() {
            return None;
        }
        match self.missing {
            Missing::Error | Missing::Drop | Missing::Keep => None,
            Missing::Mean => Some(present.iter().sum::<f64>() / present.len() as f64),
            Missing::Median => {
                present.sort_by(f64::total_cmp);
                let half = present.len() / 2;
                Some(if present.len() % 2 == 1 {
                    present[half]
                } else {
                    (present[half - 1] + present[half]) / 2.0
                })
            }
        }
    }

    fn read_target(&self, column: &Column, rows: &[usize]) -> Result<Target> {
        if let Some(&row) = rows.iter().find(|&&i| column.is_missing(i)) {
            let why = "the target is not made up";
            return Err(Error::CannotImpute { row: row + 1, column: column.name.clone(), why });
        }
        let as_class = match self.target_type {
            TargetType::Classes => true,
            TargetType::Continuous => false,
            TargetType::Auto => looks_like_classes(column, rows),
        };
        match &column.values {
            Values::Text { .. } if !as_class => Err(not_numeric(column)),
            Values::Text { codes, levels } => Ok(text_classes(codes, levels, rows)),
            Values::Numeric(values) if as_class => Ok(number_classes(values, rows)),
            Values::Numeric(values) => Ok(Target::Continuous(rows.iter().map(|&i| values[i]).collect())),
        }
    }
}

/// Text, or few different whole numbers, two rows of each on average.
fn looks_like_classes(column: &Column, rows: &[usize]) -> bool {
    let Values::Numeric(values) = &column.values else { return true };
    let mut different = BTreeSet::new();
    for &i in rows {
        if values[i].fract() != 0.0 {
            return false;
        }
        different.insert(values[i].to_bits());
        if different.len() > MOST_CLASSES {
            return false;
        }
    }
    2 * different.len() <= rows.len()
}

fn text_classes(codes: &[u32], levels: &[String], rows: &[usize]) -> Target {
    let used: BTreeSet<&str> = rows.iter().map(|&i| levels[codes[i] as usize].as_str()).collect();
    let places: HashMap<&str, usize> = used.iter().enumerate().map(|(place, name)| (*name, place)).collect();
    let codes = rows.iter().map(|&i| places[levels[codes[i] as usize].as_str()]).collect();
    Target::Classes(Classes { codes, names: used.into_iter().map(str::to_owned).collect() })
}

fn number_classes(values: &[f64], rows: &[usize]) -> Target {
    let mut used: Vec<f64> = rows.iter().map(|&i| values[i] + 0.0).collect(); // -0 becomes 0
    used.sort_by(f64::total_cmp);
    used.dedup();
    let place = |v: f64| used.partition_point(|u| *u < v);
    let codes = rows.iter().map(|&i| place(values[i])).collect();
    Target::Classes(Classes { codes, names: used.iter().map(f64::to_string).collect() })
}

/// The rows that the rule for empty cells leaves, or the first cell it does not allow.
fn kept_rows(columns: &[&Column], missing: Missing) -> Result<Vec<usize>> {
    let n = columns[0].len();
    if missing != Missing::Drop {
        if missing == Missing::Error {
            for row in 0..n {
                if let Some(column) = columns.iter().find(|c| c.is_missing(row)) {
                    return Err(Error::MissingValue { row: row + 1, column: column.name.clone() });
                }
            }
        }
        return Ok((0..n).collect());
    }
    Ok((0..n).filter(|&row| columns.iter().all(|c| !c.is_missing(row))).collect())
}

/// Points at the first cell of a text column that is not a number.
fn not_numeric(column: &Column) -> Error {
    let Values::Text { codes, levels } = &column.values else { unreachable!("asked of text columns only") };
    let row = codes.iter().position(|&c| c != MISSING && levels[c as usize].trim().parse::<f64>().is_err());
    let row = row.or_else(|| codes.iter().position(|&c| c != MISSING)).unwrap_or(0);
    let text = if codes.is_empty() || codes[row] == MISSING { "" } else { &levels[codes[row] as usize] };
    Error::NotNumeric { row: row + 1, column: column.name.clone(), text: shorten(text) }
}

impl Recipe {
    /// The names of the table's columns that are used.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|c| c.name.as_str())
    }

    /// How many numbers it makes of a row.
    pub fn width(&self) -> usize {
        self.columns.iter().map(ColumnRecipe::width).sum()
    }

    /// The target's name, if there was one.
    pub fn target(&self) -> Option<&str> {
        self.target.as_deref()
    }

    /// The recipe for some of the numbers it makes, given by their places, and the places that these have
    /// among the numbers of the new recipe. Columns of the table that are not needed are not asked for.
    pub fn restricted(&self, keep: &[usize]) -> (Self, Vec<usize>) {
        let mut columns = vec![];
        let mut new_place = std::collections::HashMap::new();
        let (mut at, mut made) = (0, 0);
        for column in &self.columns {
            let width = column.width();
            if keep.iter().any(|k| (at..at + width).contains(k)) {
                (0..width).for_each(|i| {
                    new_place.insert(at + i, made + i);
                });
                made += width;
                columns.push(column.clone());
            }
            at += width;
        }
        (Self { columns, ..self.clone() }, keep.iter().map(|k| new_place[k]).collect())
    }

    /// The features of a new table, without a target, and the rows they come from.
    pub fn apply(&self, table: &Table) -> Result<(Dataset, Vec<usize>)> {
        match table {
            Table::Columns(columns) => {
                let by_name: HashMap<&str, &Column> = columns.iter().map(|c| (c.name.as_str(), c)).collect();
                let used = self.columns.iter().map(|recipe| {
                    let found = by_name.get(recipe.name.as_str()).copied();
                    found.ok_or_else(|| {
                        Error::unknown_column(&recipe.name, columns.iter().map(|c| c.name.as_str()))
                    })
                });
                let used = used.collect::<Result<Vec<&Column>>>()?;
                let rows = kept_rows(&used, self.missing)?;
                if rows.is_empty() {
                    return Err(Error::parse("every row has an empty cell, so none is left"));
                }
                Ok((self.numbers(&used, &rows, Target::None)?, rows))
            }
            Table::Sparse { names, x, .. } => {
                self.check_sparse_names(names)?;
                let places: HashMap<&str, u32> =
                    self.columns.iter().zip(0..).map(|(c, place)| (c.name.as_str(), place)).collect();
                let moves: Vec<Option<u32>> = names.iter().map(|n| places.get(n.as_str()).copied()).collect();
                let x = x.rearranged(self.columns.len(), &moves);
                let (names, rows) =
                    (self.columns.iter().map(|c| c.name.clone()).collect(), (0..x.n_rows()).collect());
                Ok((self.dataset(names, x, Target::None)?, rows))
            }
        }
    }

    /// A sparse file names columns by number and ends with the last one it uses. If the model was made
    /// from such a file, columns that are not there are zero; any other missing column is an error.
    fn check_sparse_names(&self, names: &[String]) -> Result<()> {
        let numbered = |name: &str| name.strip_prefix('f').is_some_and(|n| n.parse::<u32>().is_ok());
        let present: std::collections::HashSet<&str> = names.iter().map(String::as_str).collect();
        let by_number = self.sparse && names.iter().all(|name| numbered(name));
        match self
            .columns
            .iter()
            .find(|c| !(present.contains(c.name.as_str()) || by_number && numbered(&c.name)))
        {
            Some(absent) => Err(Error::unknown_column(&absent.name, names.iter().map(String::as_str))),
            None => Ok(()),
        }
    }

    /// Encodes feature columns, which are in the order of the recipe.
    fn numbers(&self, columns: &[&Column], rows: &[usize], target: Target) -> Result<Dataset> {
        let names: Vec<String> = self.columns.iter().flat_map(ColumnRecipe::output_names).collect();
        let mut x = Array2::zeros((rows.len(), names.len()));
        let mut at = 0;
        for (recipe, column) in self.columns.iter().zip(columns) {
            let width = recipe.width();
            for (to, &from) in rows.iter().enumerate() {
                if self.missing == Missing::Keep && column.is_missing(from) {
                    x.slice_mut(s![to, at..at + width]).fill(f64::NAN);
                    continue;
                }
                recipe.encode(column, from, |offset, value| x[[to, at + offset]] = value)?;
            }
            at += width;
        }
        self.dataset(names, x, target)
    }

    fn dataset(&self, names: Vec<String>, x: impl Into<Rows>, target: Target) -> Result<Dataset> {
        if self.missing == Missing::Keep {
            Dataset::with_missing(names, x, target)
        } else {
            Dataset::new(names, x, target)
        }
    }
}

impl ColumnRecipe {
    fn width(&self) -> usize {
        match &self.encoding {
            Encoding::OneHot { levels } => levels.len(),
            _ => 1,
        }
    }

    fn output_names(&self) -> Vec<String> {
        match &self.encoding {
            Encoding::OneHot { levels } => {
                levels.iter().map(|level| format!("{}={level}", self.name)).collect()
            }
            _ => vec![self.name.clone()],
        }
    }

    /// Writes what is not zero of one cell.
    fn encode(&self, column: &Column, row: usize, mut write: impl FnMut(usize, f64)) -> Result<()> {
        let gap = |why| Error::CannotImpute { row: row + 1, column: self.name.clone(), why };
        match (&self.encoding, &column.values) {
            (Encoding::Number { fill }, Values::Numeric(values)) => {
                let value = values[row];
                write(
                    0,
                    if value.is_nan() {
                        fill.ok_or_else(|| gap("the column has no value to fill it with"))?
                    } else {
                        value
                    },
                );
                Ok(())
            }
            (Encoding::Number { .. }, Values::Text { .. }) => Err(not_numeric(column)),
            (Encoding::OneHot { levels } | Encoding::Ordinal { levels }, values) => {
                if column.is_missing(row) {
                    return Err(gap("a category has no mean"));
                }
                let text = match values {
                    Values::Text { codes, levels } => levels[codes[row] as usize].clone(),
                    Values::Numeric(values) => values[row].to_string(),
                };
                let place = levels.binary_search(&text).map_err(|_| Error::UnknownCategory {
                    row: row + 1,
                    column: self.name.clone(),
                    text: shorten(&text),
                })?;
                match self.encoding {
                    Encoding::OneHot { .. } => write(place, 1.0),
                    _ => write(0, place as f64),
                }
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    fn table() -> Table {
        Table::new(vec![
            Column::numeric("size", vec![1.0, f64::NAN, 4.0, 7.0]),
            Column::text("colour", [Some("red"), Some("blue"), Some("red"), Some("green")].into_iter()),
            Column::numeric("class", vec![1.0, 2.0, 1.0, 2.0]),
        ])
        .unwrap()
    }

    fn message(prepare: &Prepare, table: &Table) -> String {
        prepare.fit(table).unwrap_err().to_string()
    }

    #[test]
    fn gaps_and_text_are_errors_until_the_user_decides() {
        assert_eq!(
            message(&Prepare::default(), &table()),
            "row 2, column 'size': missing value; choose what to do with it: --missing drop, mean, median or keep"
        );
        let drop = Prepare { missing: Missing::Drop, ..Prepare::default() };
        assert_eq!(
            message(&drop, &table()),
            "row 1, column 'colour': 'red' is not a number; mend the cell, or encode text columns with \
             --categorical onehot or ordinal"
        );
    }

    #[test]
    fn every_rule_for_gaps() {
        let numbers = |missing| {
            let prepare = Prepare { missing, categorical: Categorical::Ordinal, ..Prepare::default() };
            prepare.fit(&table()).unwrap().data.x().to_dense().column(0).to_vec()
        };
        assert_eq!(numbers(Missing::Drop), [1.0, 4.0, 7.0]);
        assert_eq!(numbers(Missing::Mean), [1.0, 4.0, 4.0, 7.0]);
        assert_eq!(numbers(Missing::Median), [1.0, 4.0, 4.0, 7.0]);
    }

    #[test]
    fn gaps_that_are_kept() {
        let table = Table::new(vec![
            Column::numeric("size", vec![1.0, f64::NAN, 4.0]),
            Column::text("colour", [Some("red"), Some("blue"), None].into_iter()),
            Column::numeric("class", vec![1.0, 2.0, 1.0]),
        ])
        .unwrap();
        let rows = |categorical| {
            let prepared =
                Prepare { missing: Missing::Keep, categorical, ..Prepare::default() }.fit(&table).unwrap();
            assert!(prepared.data.has_missing() && prepared.rows == [0, 1, 2]);
            // New tables keep their gaps too.
            let (again, _) = prepared.recipe.apply(&table).unwrap();
            assert!(again.has_missing());
            format!("{:?}", again.x().to_dense())
        };
        let text = rows(Categorical::Ordinal);
        assert!(text.starts_with("[[1.0, 1.0],\n [NaN, 0.0],\n [4.0, NaN]]"), "{text}");
        // Which category it is is not known: none is denied.
        let text = rows(Categorical::OneHot);
        assert!(text.starts_with("[[1.0, 0.0, 1.0],\n [NaN, 1.0, 0.0],\n [4.0, NaN, NaN]]"), "{text}");
    }

    #[test]
    fn every_rule_for_text() {
        let prepare = |categorical| Prepare { missing: Missing::Mean, categorical, ..Prepare::default() };
        let data = prepare(Categorical::OneHot).fit(&table()).unwrap().data;
        assert_eq!(data.names(), ["size", "colour=blue", "colour=green", "colour=red"]);
        assert_eq!(data.x().to_dense().row(1).to_vec(), [4.0, 1.0, 0.0, 0.0]);
        let data = prepare(Categorical::Ordinal).fit(&table()).unwrap().data;
        assert_eq!(data.x().to_dense().column(1).to_vec(), [2.0, 0.0, 2.0, 1.0]);
    }

    #[test]
    fn the_target_is_found_and_named() {
        let prepare =
            Prepare { missing: Missing::Mean, categorical: Categorical::Ordinal, ..Prepare::default() };
        let prepared = prepare.fit(&table()).unwrap();
        assert_eq!(prepared.notes, ["target: 'class' (by its name)"]);
        assert_eq!(prepared.data.classes("m").unwrap().names, ["1", "2"]);
        let last =
            Table::new(vec![Column::numeric("a", vec![1.0, 2.0]), Column::numeric("b", vec![0.5, 2.0])])
                .unwrap();
        let prepared = Prepare::default().fit(&last).unwrap();
        assert_eq!(prepared.notes, ["target: 'b' (the last column; --target none for no target)"]);
        assert_eq!(prepared.data.target(), &Target::Continuous(vec![0.5, 2.0]));
        let usual = Prepare { target: TargetChoice::AutoByName, ..prepare.clone() };
        assert_eq!(usual.fit(&table()).unwrap().notes, ["target: 'class' (by its name)"]);
        let usual = usual.fit(&last).unwrap();
        assert!(usual.notes.is_empty() && usual.data.d() == 2 && usual.recipe.width() == 2);
        let none = Prepare { target: TargetChoice::None, ..Prepare::default() }.fit(&last).unwrap();
        assert_eq!((none.data.d(), none.data.target()), (2, &Target::None));
        let named = Prepare { target: TargetChoice::Named("clas".into()), ..prepare };
        assert_eq!(message(&named, &table()), "no column 'clas'; did you mean 'class'?");
    }

    #[test]
    fn what_looks_like_classes() {
        let kind = |values: Vec<f64>| {
            let rows: Vec<usize> = (0..values.len()).collect();
            looks_like_classes(&Column::numeric("y", values), &rows)
        };
        assert!(kind(vec![0.0, 1.0, 1.0, 0.0]));
        assert!(!kind(vec![0.5, 1.0, 1.0, 0.0]));
        // As many values as rows: a count or an identifier, not a class.
        assert!(!kind(vec![1.0, 2.0, 3.0, 4.0]));
    }

    #[test]
    fn the_user_can_say_what_the_target_is() {
        let table =
            Table::new(vec![Column::numeric("a", vec![1.0, 2.0]), Column::numeric("y", vec![3.0, 4.0])])
                .unwrap();
        let class = Prepare { target_type: TargetType::Classes, ..Prepare::default() }.fit(&table).unwrap();
        assert_eq!(class.data.classes("m").unwrap().codes, [0, 1]);
        let text = Table::new(vec![
            Column::numeric("a", vec![1.0, 2.0]),
            Column::text("y", [Some("u"), Some("v")].into_iter()),
        ]);
        let number = Prepare { target_type: TargetType::Continuous, ..Prepare::default() };
        assert!(message(&number, &text.unwrap()).contains("'u' is not a number"));
    }

    #[test]
    fn new_tables_get_the_same_treatment() {
        let prepare =
            Prepare { missing: Missing::Mean, categorical: Categorical::OneHot, ..Prepare::default() };
        let recipe = prepare.fit(&table()).unwrap().recipe;
        // Another order, an extra column, no target.
        let new = Table::new(vec![
            Column::text("colour", [Some("green")].into_iter()),
            Column::numeric("extra", vec![9.0]),
            Column::numeric("size", vec![f64::NAN]),
        ])
        .unwrap();
        let (data, rows) = recipe.apply(&new).unwrap();
        assert_eq!((data.x().to_dense(), rows), (array![[4.0, 0.0, 1.0, 0.0]], vec![0]));
        let unknown = Table::new(vec![
            Column::text("colour", [Some("black")].into_iter()),
            Column::numeric("size", vec![1.0]),
        ]);
        let error = recipe.apply(&unknown.unwrap()).unwrap_err().to_string();
        assert!(error.contains("category 'black' was not in the data"), "{error}");
        let short = Table::new(vec![Column::numeric("size", vec![1.0])]).unwrap();
        assert!(recipe.apply(&short).unwrap_err().to_string().contains("no column 'colour'"));
    }

    #[test]
    fn sparse_tables_are_matched_by_number_and_by_nothing_else() {
        use crate::data::SparseRows;
        let sparse = |names: &[&str], column: u32| Table::Sparse {
            names: names.iter().map(|n| n.to_string()).collect(),
            x: SparseRows::new(names.len(), vec![0, 1], vec![column], vec![5.0]).unwrap(),
            target: Some(Column::numeric("target", vec![1.0])),
        };
        let prepare = Prepare::default();
        let recipe = prepare.fit(&sparse(&["f1", "f2", "f3"], 0)).unwrap().recipe;
        // A file that ends early, and one that starts at 0.
        assert_eq!(
            recipe.apply(&sparse(&["f1", "f2"], 1)).unwrap().0.x().to_dense(),
            array![[0.0, 5.0, 0.0]]
        );
        assert_eq!(
            recipe.apply(&sparse(&["f0", "f1"], 1)).unwrap().0.x().to_dense(),
            array![[5.0, 0.0, 0.0]]
        );
        // A model of named columns knows nothing of numbered ones.
        let named = prepare.fit(&Table::new(vec![Column::numeric("a", vec![1.0, 2.0])]).unwrap());
        assert!(named.is_err(), "a target alone");
        let table =
            Table::new(vec![Column::numeric("a", vec![1.0, 2.0]), Column::numeric("y", vec![1.0, 2.0])]);
        let recipe = prepare.fit(&table.unwrap()).unwrap().recipe;
        assert_eq!(recipe.apply(&sparse(&["f1"], 0)).unwrap_err().to_string(), "no column 'a'; there are f1");
        // A feature of a sparse file is not its target.
        let other = Prepare { target: TargetChoice::Named("f1".into()), ..Prepare::default() };
        assert!(
            message(&other, &sparse(&["f1"], 0)).contains("'target', which is each row's label, or none")
        );
    }

    #[test]
    fn gaps_in_sparse_tables() {
        use crate::data::SparseRows;
        let table = Table::Sparse {
            names: vec!["f1".into()],
            x: SparseRows::new(1, vec![0, 1, 2], vec![0, 0], vec![f64::NAN, 2.0]).unwrap(),
            target: None,
        };
        let fit = |missing| Prepare { missing, ..Prepare::default() }.fit(&table);
        assert!(
            fit(Missing::Error).unwrap_err().to_string().starts_with("row 1, column 'f1': missing value")
        );
        assert!(fit(Missing::Mean).unwrap_err().to_string().contains("sparse rows are not filled in"));
        assert_eq!(fit(Missing::Drop).unwrap().rows, [1]);
        let kept = fit(Missing::Keep).unwrap();
        assert!(kept.data.has_missing() && kept.data.x().is_sparse());
        assert!(kept.recipe.apply(&table).unwrap().0.has_missing());
    }

    #[test]
    fn a_missing_target_is_never_made_up() {
        let table =
            Table::new(vec![Column::numeric("a", vec![1.0, 2.0]), Column::numeric("y", vec![1.0, f64::NAN])])
                .unwrap();
        let mean = Prepare { missing: Missing::Mean, ..Prepare::default() };
        assert!(
            message(&mean, &table)
                .contains("row 2, column 'y': missing value, and the target is not made up")
        );
    }

    #[test]
    fn a_target_alone_is_not_a_table_of_features() {
        let table = Table::new(vec![Column::numeric("y", vec![1.0, 2.0])]).unwrap();
        assert!(message(&Prepare::default(), &table).contains("no feature columns"));
    }
}
