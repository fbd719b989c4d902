//! Inference of the type of a column from all its values.

use super::dates::DateFormat;
use super::kind::ColumnType;
use super::number::{Decimal, NumberFormat, is_name, unit_of};
use super::order::{by_value, natural};
use super::parsing::{Parsing, boolean};
use crate::data::periods::Periods;
use crate::data::table::{Column, MISSING, Values};
use crate::error::{Error, Result, shorten};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// A column with at most this fraction of other text is still a column of numbers or dates.
const MAX_STRAY_FRACTION: f64 = 0.1;
/// ... if there are at most this many such texts,
const MAX_STRAYS: usize = 10;
/// ... and at least this many distinct numbers or dates.
const MIN_PARSED: usize = 10;
/// Texts whose units are counted.
const UNITS_OF: usize = 1000;

/// A column with its type.
pub(crate) struct Inferred {
    /// The type.
    pub(crate) kind: ColumnType,
    /// How to read it.
    pub(crate) parsing: Parsing,
    /// What the user should check.
    pub(crate) warnings: Vec<String>,
    /// Whether commas may separate thousands or decimals.
    pub(crate) is_ambiguous: bool,
    /// Whether at least half of the cells are numbers, although the column is a category.
    pub(crate) is_mostly_numbers: bool,
}

impl Inferred {
    /// A column that is read as in training.
    pub(crate) fn known(parsing: Parsing) -> Self {
        plain(parsing.column_type(), parsing)
    }
}

/// The distinct texts of a column that occur, with their numbers of rows.
struct Levels<'a> {
    texts: Vec<&'a str>,
    counts: Vec<usize>,
}

impl<'a> Levels<'a> {
    fn of(codes: &[u32], levels: &'a [String]) -> Self {
        let mut counts = vec![0usize; levels.len()];
        codes.iter().filter(|&&c| c != MISSING).for_each(|&c| counts[c as usize] += 1);
        let used = (0..levels.len()).filter(|&c| counts[c] > 0);
        let (texts, counts) = used.map(|c| (levels[c].as_str(), counts[c])).unzip();
        Self { texts, counts }
    }

    fn n_rows(&self) -> usize {
        self.counts.iter().sum()
    }

    /// What most of the texts with numbers have next to the number.
    fn unit(&self) -> Option<&'a str> {
        let mut counts = BTreeMap::new();
        for unit in self.texts.iter().take(UNITS_OF).filter_map(|text| unit_of(text)) {
            *counts.entry(unit).or_insert(0) += 1;
        }
        counts.into_iter().max_by_key(|&(_, count)| count).map(|(unit, _)| unit)
    }

    /// The texts that do not fit; `None` if these are too many for the others to decide the type.
    fn strays(&self, fits: impl Fn(&str) -> bool) -> Option<Vec<&'a str>> {
        let max_rows = (MAX_STRAY_FRACTION * self.n_rows() as f64) as usize;
        let (mut strays, mut rows) = (vec![], 0);
        for (text, count) in self.texts.iter().zip(&self.counts) {
            if !fits(text) {
                strays.push(*text);
                rows += count;
                if strays.len() > MAX_STRAYS || rows > max_rows {
                    return None;
                }
            }
        }
        let decided = strays.is_empty() || self.texts.len() - strays.len() >= MIN_PARSED;
        (decided && !self.texts.is_empty()).then_some(strays)
    }
}

/// Infers the type of a column. `decimal` is the decimal separator if it is known.
pub(crate) fn infer(column: &Column, decimal: Option<Decimal>) -> Inferred {
    let (codes, levels) = match &column.values {
        Values::Numeric(values) => return infinities_missing(column, values),
        Values::Unsupported { .. } => return plain(ColumnType::Text, Parsing::Category { levels: vec![] }),
        Values::Date(_) => {
            return plain(ColumnType::Date(Periods::default()), date(DateFormat::default(), &[]));
        }
        Values::Text { codes, levels } => (codes, levels),
    };
    let levels = Levels::of(codes, levels);
    if let Some(found) = numbers(column, &levels, decimal).or_else(|| dates(column, &levels)) {
        return found;
    }
    if is_boolean(&levels) {
        return plain(ColumnType::Boolean, Parsing::Boolean);
    }
    let warning = mostly_numbers(column, &levels, decimal);
    let category = plain(ColumnType::Category, Parsing::Category { levels: sorted(&levels.texts) });
    Inferred { is_mostly_numbers: warning.is_some(), warnings: warning.into_iter().collect(), ..category }
}

/// Numbers, of which infinite ones count as missing.
fn infinities_missing(column: &Column, values: &[f64]) -> Inferred {
    let mut found: Vec<String> = vec![];
    for value in values.iter().filter(|v| v.is_infinite()) {
        let text = value.to_string();
        if !found.contains(&text) {
            found.push(text);
        }
    }
    let strays: Vec<&str> = found.iter().map(String::as_str).collect();
    let warnings = stray_warning(column, &strays, "numbers").into_iter().collect();
    let parsing = Parsing::Number { format: NumberFormat::default(), missing: found };
    Inferred { warnings, ..plain(ColumnType::Number, parsing) }
}

fn plain(kind: ColumnType, parsing: Parsing) -> Inferred {
    Inferred { kind, parsing, warnings: vec![], is_ambiguous: false, is_mostly_numbers: false }
}

fn date(format: DateFormat, missing: &[&str]) -> Parsing {
    let missing = missing.iter().map(|&m| m.to_owned()).collect();
    Parsing::Date { format, missing, periods: Periods::default() }
}

fn sorted(texts: &[&str]) -> Vec<String> {
    let mut levels: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
    by_value(&mut levels);
    levels
}

/// The column as numbers, in the first format that fits best. A column of integers with too many digits holds names.
fn numbers(column: &Column, levels: &Levels, decimal: Option<Decimal>) -> Option<Inferred> {
    levels.strays(|text| !is_name(text))?;
    let mut best: Option<(NumberFormat, Vec<&str>)> = None;
    for format in NumberFormat::candidates(decimal, levels.unit()) {
        if let Some(strays) = levels.strays(|text| format.parse(text).is_some())
            && best.as_ref().is_none_or(|(_, fewest)| strays.len() < fewest.len())
        {
            best = Some((format, strays));
        }
    }
    let (mut format, strays) = best?;
    let mut warnings: Vec<String> = stray_warning(column, &strays, "numbers").into_iter().collect();
    warnings.extend(mixed_percentages(column, levels, &mut format));
    let comma = NumberFormat { decimal: Decimal::Comma, thousands: None, ..format.clone() };
    let is_ambiguous = decimal.is_none()
        && format.thousands == Some(',')
        && levels.texts.iter().all(|text| comma.parse(text).is_some() || strays.contains(text));
    if is_ambiguous {
        let example = levels.texts.iter().find(|text| text.contains(','))?;
        warnings.push(format!(
            "column '{}': commas may separate thousands or decimals; '{}' is read as {}",
            shorten(&column.name),
            shorten(example),
            format.parse(example)?
        ));
    }
    let missing = strays.into_iter().map(str::to_owned).collect();
    let parsing = Parsing::Number { format, missing };
    Some(Inferred { warnings, is_ambiguous, ..plain(ColumnType::Number, parsing) })
}

/// If only some numbers have a percent sign, and the others are at most 1, decides that percentages are fractions of 1.
fn mixed_percentages(column: &Column, levels: &Levels, format: &mut NumberFormat) -> Option<String> {
    if format.unit.as_deref() != Some("%") {
        return None;
    }
    let (with_sign, without): (Vec<&str>, Vec<&str>) =
        levels.texts.iter().partition(|text| text.contains('%'));
    let mut others = without.iter().filter_map(|text| format.parse(text)).peekable();
    let example = with_sign.iter().find(|text| format.parse(text).is_some())?;
    others.peek()?;
    format.percent_as_fraction = others.all(|v| v.abs() <= 1.0);
    Some(format!(
        "column '{}': only some numbers have a percent sign; '{}' is read as {}",
        shorten(&column.name),
        shorten(example),
        format.parse(example)?
    ))
}

/// A warning about a category of which at least half of the cells are numbers.
fn mostly_numbers(column: &Column, levels: &Levels, decimal: Option<Decimal>) -> Option<String> {
    let n = levels.n_rows();
    let rows = |fits: &dyn Fn(&str) -> bool| -> usize {
        levels.texts.iter().zip(&levels.counts).filter(|(text, _)| fits(text)).map(|(_, count)| count).sum()
    };
    let has_digit = |text: &str| text.bytes().take(8).any(|b| b.is_ascii_digit());
    // Columns of words and of codes need no closer look.
    if 2 * rows(&has_digit) < n || levels.strays(|text| !is_name(text)).is_none() {
        return None;
    }
    let formats = NumberFormat::candidates(decimal, levels.unit());
    let counted = formats.into_iter().map(|format| (rows(&|text| format.parse(text).is_some()), format));
    // The first of the best.
    let (count, format) = counted.reduce(|best, next| if next.0 > best.0 { next } else { best })?;
    if count == 0 || 2 * count < n {
        return None;
    }
    let stray = levels.texts.iter().find(|text| format.parse(text).is_none())?;
    let (cells, are) = if n - count == 1 { ("cell", "is") } else { ("cells", "are") };
    Some(format!(
        "column '{}': mostly numbers; {} {cells} such as '{}' {are} not, so it is a category",
        shorten(&column.name),
        n - count,
        shorten(stray)
    ))
}

/// A warning about a column that would hold numbers, if `decimal` were not the decimal separator.
pub(crate) fn contradiction(column: &Column, decimal: Decimal) -> Option<String> {
    let Values::Text { codes, levels } = &column.values else { return None };
    let levels = Levels::of(codes, levels);
    if numbers(column, &levels, Some(decimal)).is_some() {
        return None;
    }
    let (other, names) = match decimal {
        Decimal::Comma => (Decimal::Point, ["point", "comma"]),
        Decimal::Point => (Decimal::Comma, ["comma", "point"]),
    };
    let Parsing::Number { format, .. } = numbers(column, &levels, Some(other))?.parsing else { return None };
    let expected = NumberFormat { decimal, thousands: None, ..format.clone() };
    let example =
        levels.texts.iter().find(|text| format.parse(text).is_some() && expected.parse(text).is_none())?;
    Some(format!(
        "column '{}' does not hold numbers: '{}' has a decimal {}, not a decimal {}",
        shorten(&column.name),
        shorten(example),
        names[0],
        names[1]
    ))
}

/// Whether the points in numbers of a column may separate thousands: they have three digits after the point, and one to
/// three before it. Returns an example.
pub(crate) fn looks_like_thousands(column: &Column) -> Option<f64> {
    let Values::Numeric(values) = &column.values else { return None };
    let fits = |v: f64| v.fract() == 0.0 || (1.0..1000.0).contains(&v.abs()) && decimals(v) <= 3;
    let has_three = |v: &&f64| v.is_finite() && decimals(**v) == 3;
    let example = values.iter().find(has_three)?;
    values.iter().all(|&v| v.is_nan() || fits(v)).then_some(*example)
}

/// The number of digits after the point.
fn decimals(value: f64) -> usize {
    value.to_string().split_once('.').map_or(0, |(_, digits)| digits.len())
}

/// The column as dates: with the day first, or the month first if that fits better.
fn dates(column: &Column, levels: &Levels) -> Option<Inferred> {
    let [day_first, month_first] = [false, true].map(|month_first| DateFormat { month_first });
    let strays = |format: DateFormat| levels.strays(|text| format.parse(text).is_some());
    let (format, strays) = match (strays(day_first), strays(month_first)) {
        (Some(days), Some(months)) if months.len() < days.len() => (month_first, months),
        (Some(days), _) => (day_first, days),
        (None, months) => (month_first, months?),
    };
    let mut warnings: Vec<String> = stray_warning(column, &strays, "dates").into_iter().collect();
    let differs = |text: &&&str| month_first.parse(text) != day_first.parse(text);
    let fits_both = |text: &&str| month_first.parse(text).is_some() && day_first.parse(text).is_some();
    let known = || levels.texts.iter().filter(|text| !strays.contains(text));
    if known().all(fits_both)
        && let Some(example) = known().find(differs)
    {
        warnings.push(format!(
            "column '{}': the day or the month may come first; '{}' is read with the day first",
            shorten(&column.name),
            shorten(example)
        ));
    }
    Some(Inferred { warnings, ..plain(ColumnType::Date(Periods::default()), date(format, &strays)) })
}

/// A warning about text between numbers or dates, which becomes missing.
fn stray_warning(column: &Column, strays: &[&str], what: &str) -> Option<String> {
    const SHOWN: usize = 3;
    let first = strays.first()?;
    let row =
        (0..column.len()).find(|&row| column.cell(row).as_deref() == Some(first)).map_or(0, |row| row + 1);
    let shown: Vec<String> = strays.iter().take(SHOWN).map(|text| format!("'{}'", shorten(text))).collect();
    let more =
        if strays.len() > SHOWN { format!(" and {} more", strays.len() - SHOWN) } else { String::new() };
    Some(format!(
        "column '{}' holds {what}, except {}{more} (row {row}), which count as missing",
        shorten(&column.name),
        shown.join(", ")
    ))
}

/// Whether the texts are two words that mean yes and no, in any case. A single one does not decide.
fn is_boolean(levels: &Levels) -> bool {
    let words: HashSet<String> = levels.texts.iter().map(|text| text.trim().to_ascii_lowercase()).collect();
    let pairs = [("no", "yes"), ("false", "true"), ("f", "t"), ("n", "y"), ("off", "on")];
    words.len() == 2 && pairs.iter().any(|(no, yes)| words.contains(*no) && words.contains(*yes))
}

/// Reads a column as a type that the user chose. Text and identifiers are read as categories, to count their values.
pub(crate) fn of_type(column: &Column, kind: &ColumnType, decimal: Option<Decimal>) -> Result<Inferred> {
    let inferred = || infer(column, decimal);
    let found = match kind {
        ColumnType::Number => {
            let found = inferred();
            // The error names the first text that is not a number.
            let parsing = match found.kind {
                ColumnType::Number => found.parsing,
                _ => Parsing::numbers_with(decimal.unwrap_or_default()),
            };
            Inferred { parsing, ..found }
        }
        ColumnType::Date(chosen) => {
            let found = inferred();
            let mut parsing = match found.kind {
                ColumnType::Date(_) => found.parsing,
                _ => date(DateFormat::default(), &[]),
            };
            if let Parsing::Date { periods, .. } = &mut parsing {
                *periods = *chosen;
            }
            Inferred { parsing, ..found }
        }
        ColumnType::Boolean => {
            check_boolean(column)?;
            plain(ColumnType::Boolean, Parsing::Boolean)
        }
        ColumnType::Category | ColumnType::Text | ColumnType::Id => {
            plain(ColumnType::Category, Parsing::Category { levels: sorted_cells(column) })
        }
        ColumnType::Ordered(levels) => ordered(column, levels)?,
    };
    found.parsing.read(column)?;
    let kind = if matches!(kind, ColumnType::Ordered(_)) { found.kind } else { kind.clone() };
    Ok(Inferred { kind, ..found })
}

fn cells(column: &Column) -> BTreeSet<String> {
    match &column.values {
        Values::Text { codes, levels } => {
            Levels::of(codes, levels).texts.into_iter().map(str::to_owned).collect()
        }
        _ => (0..column.len()).filter_map(|row| Some(column.cell(row)?.into_owned())).collect(),
    }
}

fn sorted_cells(column: &Column) -> Vec<String> {
    let mut levels: Vec<String> = cells(column).into_iter().collect();
    by_value(&mut levels);
    levels
}

fn check_boolean(column: &Column) -> Result<()> {
    for row in 0..column.len() {
        if let Some(cell) = column.cell(row)
            && boolean(&cell).is_none()
        {
            let (column, text) = (column.name.clone(), shorten(&cell));
            return Err(Error::NotOfType { row: row + 1, column, text, expected: "a boolean" });
        }
    }
    Ok(())
}

/// The levels in the given order, or in natural order. All values must be among given levels.
fn ordered(column: &Column, given: &[String]) -> Result<Inferred> {
    let kind = |levels: &[String]| ColumnType::Ordered(levels.to_vec());
    if given.is_empty() {
        let mut levels: Vec<String> = cells(column).into_iter().collect();
        levels.sort_by(|a, b| natural(a, b));
        return Ok(plain(kind(&levels), Parsing::Ordered { levels }));
    }
    for row in 0..column.len() {
        if let Some(cell) = column.cell(row)
            && !given.iter().any(|level| *level == cell)
        {
            let (column, text) = (column.name.clone(), shorten(&cell));
            return Err(Error::NotOfType {
                row: row + 1,
                column,
                text,
                expected: "one of the ordered levels",
            });
        }
    }
    Ok(plain(kind(given), Parsing::Ordered { levels: given.to_vec() }))
}
