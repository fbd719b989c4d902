//! ARFF, the format of Weka: declared attributes, then dense or sparse rows.
//!
//! Sparse rows (`{3 1.5, 7 yes}`) of numeric attributes with a nominal class at the end stay sparse; all others become dense
//! columns. An omitted value of a sparse row is 0, for a nominal attribute its first declared value. For a string attribute
//! it is missing: Weka would use the first string of the file, which loses data.
//!
//! The levels of a nominal column keep the order of their declaration, which is often meaningful (low, medium, high);
//! declared values that do not occur are dropped. A numeric attribute of integers that a number cannot hold, such as
//! 9007199254740993, is read as text.

mod line;

use self::line::{Cell, Line};
use super::levels::{Levels, nominal_column};
use super::number::{self, MAX_EXACT, Number, Spelling};
use super::progress::{LineCounter, MEMORY_ADVICE, Progress};
use crate::context::need_room;
use crate::data::sparse::SparseRows;
use crate::data::table::{Column, MISSING, Table, check_names};
use crate::error::{Error, Result, shorten};
use std::collections::HashMap;

/// Advice for sparse rows that have to be stored as dense columns.
const SPARSE_ADVICE: &str = "make all attributes numeric but a nominal last one, or save the data as .svm";

/// An error in a line; the caller adds the line number.
type Why = String;

/// Reads a table.
pub(super) fn read(text: &str, limit: u64, progress: Option<&Progress>) -> Result<Table> {
    let mut lines = (1..).zip(text.lines().map(str::trim));
    let attributes = read_header(&mut lines)?;
    check_names(attributes.iter().map(|a| a.name.as_str()))?;
    let mut rows = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('%')).peekable();
    match rows.peek() {
        None => Err(Error::parse("the file has a header but no rows")),
        Some((_, first)) if first.starts_with('{') && stays_sparse(&attributes) => {
            read_sparse(attributes, rows, LineCounter::new(progress))
        }
        Some((_, first)) => {
            let sparse = first.starts_with('{');
            read_columns(attributes, rows, sparse, limit, LineCounter::new(progress))
        }
    }
}

struct Attribute {
    name: String,
    kind: Kind,
}

enum Kind {
    Numeric,
    Text,
    Nominal { levels: Vec<String>, places: HashMap<String, u32> },
}

fn read_header<'a>(lines: &mut impl Iterator<Item = (u64, &'a str)>) -> Result<Vec<Attribute>> {
    let mut attributes = vec![];
    for (number, line) in lines {
        if line.is_empty() || line.starts_with('%') {
            continue;
        }
        let (keyword, rest) = line.split_once(|c: char| c.is_ascii_whitespace()).unwrap_or((line, ""));
        match keyword.to_ascii_lowercase().as_str() {
            "@relation" => {}
            "@attribute" => {
                attributes.push(parse_attribute(rest).map_err(|why| Error::at_line(number, why))?);
            }
            "@data" if attributes.is_empty() => {
                return Err(Error::at_line(number, "@data comes before any @attribute"));
            }
            "@data" => return Ok(attributes),
            _ => {
                let why = format!("expected @relation, @attribute or @data, found '{}'", shorten(keyword));
                return Err(Error::at_line(number, why));
            }
        }
    }
    Err(Error::parse("no @data line; is this an ARFF file?"))
}

fn parse_attribute(declaration: &str) -> std::result::Result<Attribute, Why> {
    let mut line = Line::new(declaration);
    let name = line.name()?.into_owned();
    if name.is_empty() {
        return Err("an @attribute without a name".into());
    }
    let shown = shorten(&name);
    if line.take('{') {
        let levels = line.list().map_err(|why| format!("attribute '{shown}': {why}"))?;
        let places = levels.iter().cloned().zip(0..).collect();
        return Ok(Attribute { name, kind: Kind::Nominal { levels, places } });
    }
    let kind = match line.name()?.to_ascii_lowercase().as_str() {
        "numeric" | "real" | "integer" => Kind::Numeric,
        "string" => Kind::Text,
        "" => return Err(format!("attribute '{shown}' has no type")),
        unread @ ("date" | "relational") => {
            return Err(format!(
                "attribute '{shown}' has the type {unread}, which is not supported; remove it or make it numeric"
            ));
        }
        other => return Err(format!("attribute '{shown}' has the unknown type '{}'", shorten(other))),
    };
    Ok(Attribute { name, kind })
}

/// Whether sparse rows stay sparse: numeric attributes, then a nominal class.
fn stays_sparse(attributes: &[Attribute]) -> bool {
    attributes.split_last().is_some_and(|(class, features)| {
        matches!(class.kind, Kind::Nominal { .. }) && features.iter().all(|a| matches!(a.kind, Kind::Numeric))
    })
}

impl Attribute {
    fn number(&self, cell: &Cell) -> std::result::Result<f64, Why> {
        match cell {
            Cell::Missing => Ok(f64::NAN),
            Cell::Text(text) => number::parse(text.as_bytes()).ok_or_else(|| {
                format!(
                    "attribute '{}' is numeric: cannot parse '{}' as a number",
                    shorten(&self.name),
                    shorten(text)
                )
            }),
        }
    }

    fn code(&self, places: &HashMap<String, u32>, cell: &Cell) -> std::result::Result<u32, Why> {
        match cell {
            Cell::Missing => Ok(MISSING),
            Cell::Text(text) => places.get(text.as_ref()).copied().ok_or_else(|| {
                format!(
                    "attribute '{}': '{}' is not among its declared values",
                    shorten(&self.name),
                    shorten(text)
                )
            }),
        }
    }
}

/// The cells of a sparse row, with attribute indices in increasing order.
fn sparse_cells<'a>(line: &'a str, n: usize) -> std::result::Result<Vec<(usize, Cell<'a>)>, Why> {
    let inside = line.strip_prefix('{').ok_or("this row is not in braces, but the rows before it are")?;
    let mut line = Line::new(inside);
    let mut cells: Vec<(usize, Cell)> = vec![];
    while !line.take('}') {
        let index = line.name()?;
        let place = index
            .parse()
            .ok()
            .filter(|place| *place < n)
            .ok_or_else(|| format!("'{}' is not an attribute index (0 to {})", shorten(&index), n - 1))?;
        if cells.last().is_some_and(|(last, _)| *last >= place) {
            return Err(format!("attribute {place}: indices must increase within a row"));
        }
        cells.push((place, line.cell()?));
        if !line.take(',') && !line.at('}') {
            return Err("the row is not closed with '}'".into());
        }
    }
    if line.at_end() { Ok(cells) } else { Err("unexpected text after '}'".into()) }
}

fn read_sparse<'a>(
    mut attributes: Vec<Attribute>,
    rows: impl Iterator<Item = (u64, &'a str)>,
    mut counter: LineCounter,
) -> Result<Table> {
    let n = attributes.len();
    let Some(Attribute { name, kind: Kind::Nominal { levels, places } }) = attributes.pop() else {
        return Err(Error::parse("sparse rows need a nominal class"));
    };
    let class = Attribute { name, kind: Kind::Text };
    let (mut start, mut column, mut value) = (vec![0], vec![], vec![]);
    let mut codes = vec![];
    for (number, line) in rows {
        counter.line(line)?;
        let mut add_row = || {
            let mut code = 0;
            for (place, cell) in sparse_cells(line, n)? {
                match attributes.get(place) {
                    None => code = class.code(&places, &cell)?,
                    Some(attribute) => {
                        let cell = attribute.number(&cell)?;
                        if cell != 0.0 {
                            column.push(place as u32);
                            value.push(cell);
                        }
                    }
                }
            }
            codes.push(code);
            Ok(())
        };
        add_row().map_err(|why: Why| Error::at_line(number, why))?;
        start.push(column.len());
    }
    Ok(Table::Sparse {
        x: SparseRows::new(attributes.len(), start, column, value)?,
        names: attributes.into_iter().map(|a| a.name).collect(),
        target: Some(nominal_column(class.name, levels, codes)),
    })
}

enum Cells {
    Numbers(Vec<f64>, Spelling),
    Text(Levels),
    Codes(Vec<u32>),
}

fn read_columns<'a>(
    mut attributes: Vec<Attribute>,
    rows: impl Iterator<Item = (u64, &'a str)> + Clone,
    sparse: bool,
    limit: u64,
    mut counter: LineCounter,
) -> Result<Table> {
    let first_pass = rows.clone();
    let mut columns: Vec<Cells> = attributes.iter().map(|a| Cells::of(&a.kind)).collect();
    let (add, advice): (AddRow, _) =
        if sparse { (add_sparse, SPARSE_ADVICE) } else { (add_dense, MEMORY_ADVICE) };
    let mut allocated = 0;
    for (number, line) in first_pass {
        counter.line(line)?;
        allocated += add(&attributes, &mut columns, line).map_err(|why| Error::at_line(number, why))?;
        need_room("the table in this file", allocated as f64, limit, advice)?;
    }
    let is_inexact = |cells: &Cells| matches!(cells, Cells::Numbers(_, spelling) if spelling.is_text());
    // An omitted number of a sparse row is 0, an omitted text is missing, so sparse rows stay numbers.
    if !sparse && columns.iter().any(is_inexact) {
        let inexact = attributes.iter_mut().zip(&columns).filter(|(_, cells)| is_inexact(cells));
        inexact.for_each(|(attribute, _)| attribute.kind = Kind::Text);
        return read_columns(attributes, rows, sparse, limit, counter);
    }
    Table::new(attributes.into_iter().zip(columns).map(|(a, cells)| cells.into_column(a)).collect())
}

/// Adds the cells of a row; returns the approximate number of bytes they take.
type AddRow = fn(&[Attribute], &mut [Cells], &str) -> std::result::Result<usize, Why>;

fn add_dense(attributes: &[Attribute], columns: &mut [Cells], line: &str) -> std::result::Result<usize, Why> {
    if line.starts_with('{') {
        return Err("this row is in braces, but the rows before it are not".into());
    }
    let mut line = Line::new(line);
    let (mut found, mut allocated) = (0, 0);
    loop {
        let cell = line.cell()?;
        if let (Some(attribute), Some(cells)) = (attributes.get(found), columns.get_mut(found)) {
            allocated += cells.push(attribute, &cell)?;
        }
        found += 1;
        if line.at_end() {
            break;
        }
        if !line.take_separator() {
            return Err("unexpected text after a quoted value; separate values by commas".into());
        }
    }
    if found == attributes.len() {
        Ok(allocated)
    } else {
        Err(format!("expected {} values, found {found}", attributes.len()))
    }
}

fn add_sparse(
    attributes: &[Attribute],
    columns: &mut [Cells],
    line: &str,
) -> std::result::Result<usize, Why> {
    let mut row = sparse_cells(line, attributes.len())?.into_iter().peekable();
    let mut allocated = 0;
    for (place, (cells, attribute)) in columns.iter_mut().zip(attributes).enumerate() {
        allocated += match row.next_if(|(mentioned, _)| *mentioned == place) {
            Some((_, cell)) => cells.push(attribute, &cell)?,
            None => cells.push_omitted(),
        };
    }
    Ok(allocated)
}

impl Cells {
    fn of(kind: &Kind) -> Self {
        match kind {
            Kind::Numeric => Self::Numbers(vec![], Spelling::default()),
            Kind::Text => Self::Text(Levels::default()),
            Kind::Nominal { .. } => Self::Codes(vec![]),
        }
    }

    /// Adds a cell; returns the approximate number of bytes it takes.
    fn push(&mut self, attribute: &Attribute, cell: &Cell) -> std::result::Result<usize, Why> {
        match (&mut *self, &attribute.kind) {
            (Self::Codes(codes), Kind::Nominal { places, .. }) => codes.push(attribute.code(places, cell)?),
            (Self::Text(levels), _) => return Ok(levels.push(cell.text())),
            (Self::Numbers(numbers, spelling), _) => {
                let value = attribute.number(cell)?;
                numbers.push(value);
                let plain = value.abs() < MAX_EXACT && value as i64 as f64 == value;
                spelling.note(Number { value, plain });
            }
            (Self::Codes(codes), _) => codes.push(MISSING),
        }
        Ok(self.bytes_per_cell())
    }

    fn bytes_per_cell(&self) -> usize {
        match self {
            Self::Numbers(..) => size_of::<f64>(),
            Self::Text(_) | Self::Codes(_) => size_of::<u32>(),
        }
    }

    /// Adds the value of a cell that a sparse row omits.
    fn push_omitted(&mut self) -> usize {
        match self {
            Self::Numbers(numbers, _) => numbers.push(0.0),
            Self::Codes(codes) => codes.push(0),
            Self::Text(levels) => return levels.push(None),
        }
        self.bytes_per_cell()
    }

    fn into_column(self, attribute: Attribute) -> Column {
        match (self, attribute.kind) {
            (Self::Numbers(numbers, _), _) => Column::numeric(attribute.name, numbers),
            (Self::Text(levels), _) => levels.into_column(attribute.name),
            (Self::Codes(codes), Kind::Nominal { levels, .. }) => {
                nominal_column(attribute.name, levels, codes)
            }
            (Self::Codes(codes), _) => nominal_column(attribute.name, vec![], codes),
        }
    }
}

#[cfg(test)]
mod tests;
