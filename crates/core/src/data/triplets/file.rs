//! Triplets from a file with three columns and a triplet per line.

use super::triplet::Triplet;
use crate::context::Context;
use crate::data::read::{CellError, read_records};
use crate::data::table::{Column, Values};
use crate::error::{Error, Result, shorten};
use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

/// The columns in messages.
const COLUMNS: [&str; 3] = ["row", "closer row", "farther row"];

/// Common names of the three columns, to detect another order.
const ROLES: [&[&str]; 3] = [
    &["i", "row", "anchor", "query", "reference", "a"],
    &["j", "more", "near", "nearer", "closer", "closer row", "similar", "positive", "more like", "p"],
    &[
        "k",
        "less",
        "far",
        "farther",
        "farther row",
        "other",
        "dissimilar",
        "negative",
        "less like",
        "than",
        "n",
    ],
];

/// How a file of triplets identifies rows.
#[derive(Debug, Clone, Copy)]
pub enum Naming<'a> {
    /// By row number.
    Numbers {
        /// Number of rows.
        n: usize,
        /// The number of the first row: 1 or 0.
        origin: usize,
    },
    /// By id.
    Ids(&'a Ids),
}

impl Naming<'_> {
    /// By row numbers from 1 to `n`, without the header.
    pub fn from_one(n: usize) -> Self {
        Self::Numbers { n, origin: 1 }
    }
}

/// Unique ids of the rows of a table.
#[derive(Debug, Clone)]
pub struct Ids {
    rows: HashMap<String, usize>,
    /// Whether ids are numbers, so that `07` and `7` are equal.
    numeric: bool,
}

impl Ids {
    /// The id of each row, without surrounding spaces.
    pub fn new(values: Vec<String>) -> Result<Self> {
        Self::of(values.iter().map(|value| Some(value.trim().to_owned())), false)
    }

    /// The ids in a column of a table.
    pub fn of_column(column: &Column) -> Result<Self> {
        match &column.values {
            Values::Numeric(cells) => Self::of(cells.iter().map(|&v| (!v.is_nan()).then(|| number(v))), true),
            Values::Text { .. } | Values::Date(_) | Values::Unsupported { .. } => {
                Self::of((0..column.len()).map(|row| column.cell(row).map(Cow::into_owned)), false)
            }
        }
    }

    fn of(values: impl Iterator<Item = Option<String>>, numeric: bool) -> Result<Self> {
        let mut rows = HashMap::new();
        for (row, id) in values.enumerate() {
            let Some(id) = id.filter(|id| !id.is_empty()) else {
                return Err(Error::parse(format!("row {} has no id; every row needs one", row + 1)));
            };
            if let Some(first) = rows.insert(id.clone(), row) {
                return Err(Error::DuplicateId { id: shorten(&id), first: first + 1, second: row + 1 });
            }
        }
        Ok(Self { rows, numeric })
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The row with an id.
    pub fn row(&self, id: &str) -> Option<usize> {
        let known = self.rows.get(id).copied();
        if !self.numeric || known.is_some() {
            return known;
        }
        self.rows.get(&number(id.parse().ok()?)).copied()
    }

    fn unknown(&self, id: &str) -> Error {
        let mut ids: Vec<(&str, usize)> = self.rows.iter().map(|(id, &row)| (id.as_str(), row)).collect();
        ids.sort_unstable_by_key(|(_, row)| *row);
        Error::unknown_name("row with the id", &shorten(id), ids.into_iter().map(|(id, _)| id))
    }
}

/// The canonical text of a number; -0 is 0.
fn number(value: f64) -> String {
    (value + 0.0).to_string()
}

/// Reads triplets from a CSV or TSV file, optionally compressed (`.gz`): in each line the row, the more similar row and
/// the less similar row. A first line whose cells identify no rows is the header.
pub fn read(path: &Path, naming: &Naming<'_>, ctx: &Context) -> Result<Vec<Triplet>> {
    read_from(path, None, naming, ctx)
}

/// Reads triplets from memory; `name` is the file name.
pub fn read_bytes(name: &str, bytes: &[u8], naming: &Naming<'_>) -> Result<Vec<Triplet>> {
    read_from(Path::new(name), Some(bytes), naming, &Context::default())
}

fn read_from(path: &Path, bytes: Option<&[u8]>, naming: &Naming<'_>, ctx: &Context) -> Result<Vec<Triplet>> {
    if let Naming::Numbers { origin: origin @ 2.., .. } = naming {
        return Err(Error::param("triplets", "origin", "0 or 1", origin));
    }
    let mut triplets = vec![];
    let mut first = true;
    let visit = |cells: [&str; 3]| {
        if std::mem::take(&mut first) && naming.is_header(cells) {
            return check_order(cells);
        }
        triplets.push(naming.triplet(cells)?);
        Ok(())
    };
    read_records(path, bytes, "triplets", COLUMNS, visit, ctx)?;
    if triplets.is_empty() {
        return Err(Error::parse("the file has a header but no triplets").in_file(path));
    }
    Ok(triplets)
}

impl Naming<'_> {
    fn is_header(&self, cells: [&str; 3]) -> bool {
        let is_name = |cell: &str| match self {
            Self::Numbers { .. } => cell.is_empty() || cell.parse::<f64>().is_ok(),
            Self::Ids(ids) => ids.row(cell).is_some() || (ids.numeric && cell.parse::<f64>().is_ok()),
        };
        !cells.into_iter().any(is_name)
    }

    fn triplet(&self, cells: [&str; 3]) -> std::result::Result<Triplet, CellError> {
        let mut triplet = [0; 3];
        for (column, cell) in cells.into_iter().enumerate() {
            let row = match self {
                _ if cell.is_empty() => Err("the cell is empty; every triplet needs three rows".into()),
                Self::Numbers { n, origin } => numbered(cell, *n, *origin),
                Self::Ids(ids) => ids.row(cell).ok_or_else(|| ids.unknown(cell).to_string()),
            };
            triplet[column] = row.map_err(|why| CellError { column: Some(column), why })?;
        }
        for (a, b) in [(0, 1), (0, 2), (1, 2)] {
            if triplet[a] == triplet[b] {
                let why = format!(
                    "row '{}' is in column {} and in column {}; a triplet needs three distinct rows",
                    shorten(cells[a]),
                    a + 1,
                    b + 1
                );
                return Err(CellError { column: None, why });
            }
        }
        Ok(triplet)
    }
}

/// The row with a number.
fn numbered(cell: &str, n: usize, origin: usize) -> std::result::Result<usize, String> {
    let text = shorten(cell);
    let Ok(number) = cell.parse::<f64>() else {
        return Err(format!(
            "'{text}' is not a row number; if triplets identify rows by ids, name the column of ids"
        ));
    };
    // Some programs write integers with a decimal point.
    if number.fract() != 0.0 {
        return Err(format!("'{text}' is not a row number; row numbers are integers"));
    }
    let (least, most) = (origin as f64, (n + origin) as f64);
    if number >= least && number < most {
        return Ok(number as usize - origin);
    }
    let hint = if number == 0.0 {
        "; if the file counts from 0, set the origin to 0"
    } else if number == most && origin == 0 {
        "; if the file counts from 1, set the origin to 1"
    } else {
        ""
    };
    Err(format!("there is no row {text}: the data have {n} rows, counted from {origin}{hint}"))
}

/// Returns an error if the header names the columns in another order.
fn check_order(header: [&str; 3]) -> std::result::Result<(), CellError> {
    let role = |cell: &str| ROLES.iter().position(|names| names.contains(&cell.to_lowercase().as_str()));
    let roles = header.map(role);
    let all_known = (0..3).all(|r| roles.contains(&Some(r)));
    if !all_known || roles == [Some(0), Some(1), Some(2)] {
        return Ok(());
    }
    let expected: Vec<&str> = (0..3)
        .filter_map(|r| header.iter().zip(roles).find(|(_, role)| *role == Some(r)))
        .map(|(c, _)| *c)
        .collect();
    let why = format!(
        "the columns are {}; the order must be {}: the row, the closer row, the farther row",
        header.join(", "),
        expected.join(", ")
    );
    Err(CellError { column: None, why })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// Reads a file with this name and text.
    fn read_text(name: &str, text: &[u8], naming: &Naming) -> Result<Vec<Triplet>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        read(&path, naming, &Context::default())
    }

    fn numbers(text: &str) -> Vec<Triplet> {
        read_text("t.csv", text.as_bytes(), &Naming::from_one(9)).unwrap()
    }

    /// The message without the directory of the file.
    fn message(name: &str, text: &str, naming: &Naming) -> String {
        let message = read_text(name, text.as_bytes(), naming).unwrap_err().to_string();
        message.split_once(name).map_or(message.clone(), |(_, rest)| format!("{name}{rest}"))
    }

    fn ids() -> Ids {
        Ids::new(["ann", "bob", " cy ", "7"].map(String::from).to_vec()).unwrap()
    }

    #[test]
    fn row_numbers_with_and_without_a_header() {
        let expected = [[0, 1, 2], [8, 0, 4]];
        for text in [
            "1,2,3\n9,1,5\n",
            "i,j,k\n1,2,3\n9,1,5",
            "anchor;near;far\r\n1;2;3\r\n\r\n9; 1 ;5\r\n",
            "\"my row\",\"friend\",\"stranger\"\n1,2,3\n\"9\",1.0,+5\n",
            "row\tmore\tless\n1\t2\t3\n9\t1\t5\n",
            "\u{feff}1,2,3\n9,1,5\n",
        ] {
            assert_eq!(numbers(text), expected, "{text:?}");
        }
        assert_eq!(read_text("t.tsv", b"1\t2\t3\n", &Naming::from_one(3)).unwrap(), [[0, 1, 2]]);
        let from_zero = Naming::Numbers { n: 3, origin: 0 };
        assert_eq!(read_text("t.csv", b"0,1,2\n", &from_zero).unwrap(), [[0, 1, 2]]);
        let mut packed = flate2::write::GzEncoder::new(vec![], flate2::Compression::default());
        packed.write_all(b"1,2,3\n").unwrap();
        let packed = packed.finish().unwrap();
        assert_eq!(read_text("t.csv.gz", &packed, &Naming::from_one(3)).unwrap(), [[0, 1, 2]]);
    }

    #[test]
    fn ids_are_looked_up() {
        let ids = ids();
        let naming = Naming::Ids(&ids);
        for text in ["ann,bob,cy\n7,cy,ann\n", "i,j,k\n ann ,bob,cy\n7,cy,ann\n"] {
            assert_eq!(read_text("t.csv", text.as_bytes(), &naming).unwrap(), [[0, 1, 2], [3, 2, 0]]);
        }
        // A line with a known id is not a header.
        assert_eq!(
            message("t.csv", "ann,near,far\n", &naming),
            "t.csv: line 1, column 2: no row with the id 'near'; there are ann, bob, cy, 7"
        );
        assert_eq!(
            message("t.csv", "ann,bob,cy\nann,bop,cy\n", &naming),
            "t.csv: line 2, column 2: no row with the id 'bop'; did you mean 'bob'?"
        );
        let from_text = Column::text("id", [Some("x"), Some("y"), Some("z")].into_iter());
        let ids = Ids::of_column(&from_text).unwrap();
        assert_eq!(read_text("t.csv", b"z,x,y\n", &Naming::Ids(&ids)).unwrap(), [[2, 0, 1]]);
        let from_continuous = Column::numeric("id", vec![101.0, 7.0, -2.5, 0.0]);
        let ids = Ids::of_column(&from_continuous).unwrap();
        let text = b"a,b,c\n007,101.0,-2.50\n-0,7,101\n";
        assert_eq!(read_text("t.csv", text, &Naming::Ids(&ids)).unwrap(), [[1, 0, 2], [3, 1, 0]]);
        assert_eq!(
            message("t.csv", "9,8,6\n", &Naming::Ids(&ids)),
            "t.csv: line 1, column 1: no row with the id '9'; did you mean '7'?"
        );
    }

    #[test]
    fn ids_must_be_unique_and_complete() {
        let new = |ids: &[&str]| Ids::new(ids.iter().map(|s| s.to_string()).collect());
        assert_eq!(
            new(&["a", "b", "c", " b"]).unwrap_err().to_string(),
            "row 2 and row 4 have the same id 'b'; ids must be unique"
        );
        assert_eq!(new(&["a", " "]).unwrap_err().to_string(), "row 2 has no id; every row needs one");
        let column = Column::numeric("id", vec![1.0, f64::NAN]);
        assert_eq!(Ids::of_column(&column).unwrap_err().to_string(), "row 2 has no id; every row needs one");
        let column = Column::text("id", [None, Some("x")].into_iter());
        assert!(Ids::of_column(&column).unwrap_err().to_string().starts_with("row 1 has no id"));
        assert!(new(&[]).unwrap().is_empty());
        assert_eq!(ids().len(), 4);
    }

    #[test]
    fn invalid_triplets_are_rejected() {
        let naming = Naming::from_one(9);
        let line = |text: &str| message("t.csv", text, &naming);
        assert_eq!(
            line("i,j,k\n1,2,3\n\n1,10,3\n"),
            "t.csv: line 4, column 2: there is no row 10: the data have 9 rows, counted from 1"
        );
        assert_eq!(
            line("1,2,3\n \n1,2,0\n"),
            "t.csv: line 3, column 3: there is no row 0: the data have 9 rows, counted from 1; if the file \
             counts from 0, set the origin to 0"
        );
        assert_eq!(
            message("t.csv", "0,1,9\n", &Naming::Numbers { n: 9, origin: 0 }),
            "t.csv: line 1, column 3: there is no row 9: the data have 9 rows, counted from 0; if the file \
             counts from 1, set the origin to 1"
        );
        for huge in ["-1", "1e300", "99999999999999999999999999"] {
            assert!(line(&format!("1,2,{huge}\n")).contains(&format!("there is no row {huge}: the data")));
        }
        assert_eq!(
            line("1,2.5,3\n"),
            "t.csv: line 1, column 2: '2.5' is not a row number; row numbers are integers"
        );
        assert!(line("1,2,nan\n").contains("'nan' is not a row number"));
        assert_eq!(
            line("ann,bob,cy\nann,cy,bob\n"),
            "t.csv: line 2, column 1: 'ann' is not a row number; if triplets identify rows by ids, name the \
             column of ids"
        );
        assert_eq!(
            line("1,two,3\n"),
            "t.csv: line 1, column 2: 'two' is not a row number; if triplets identify rows by ids, name the \
             column of ids"
        );
        assert_eq!(
            line("1,2,3\n4,,5\n"),
            "t.csv: line 2, column 2: the cell is empty; every triplet needs three rows"
        );
        for (text, columns) in [("4,4,5", (1, 2)), ("4,5,4", (1, 3)), ("5,4,4", (2, 3))] {
            assert_eq!(
                line(text),
                format!(
                    "t.csv: line 1: row '4' is in column {} and in column {}; a triplet needs three \
                     distinct rows",
                    columns.0, columns.1
                )
            );
        }
        let ids = ids();
        assert!(message("t.csv", "ann,cy,cy\n", &Naming::Ids(&ids)).contains("row 'cy' is in column 2"));
    }

    #[test]
    fn invalid_files_are_rejected() {
        let naming = Naming::from_one(9);
        let of = |text: &str| message("t.csv", text, &naming);
        assert_eq!(of(""), "t.csv: the file is empty");
        assert_eq!(of(" \n"), "t.csv: the file is empty");
        assert_eq!(of("i,j,k\n"), "t.csv: the file has a header but no triplets");
        assert_eq!(
            of("1 2 3\n"),
            "t.csv: line 1: expected 3 columns (row, closer row, farther row), found 1; keep these, with a \
             comma, semicolon, tab or | between them"
        );
        assert!(of("i,j\n1,2\n").contains("found 2; keep these"));
        assert_eq!(of("1,2,3\n1,2,3,4\n"), "t.csv: line 2: expected 3 fields, found 4");
        // The first error is reported.
        assert!(of("1,2,x\n1,2\n").contains("line 1, column 3"));
        assert!(of("1,2\n1,2,x\n").contains("line 1: expected 3"));
        assert!(of("1,2,3\n1,\"2,3\n").contains("line 2: a cell opens with a quote"));
        assert_eq!(
            message("t.arff", "1,2,3\n", &naming),
            "t.arff: triplets are read from .csv and .tsv files (each also with .gz or .zst)"
        );
        assert!(message("t.doc", "1,2,3\n", &naming).contains("cannot read files with this extension"));
        assert!(
            read(Path::new("no/such.csv"), &naming, &Context::default())
                .unwrap_err()
                .to_string()
                .contains("no such file")
        );
        let origin = read(Path::new("t.csv"), &Naming::Numbers { n: 3, origin: 2 }, &Context::default())
            .unwrap_err()
            .to_string();
        assert_eq!(origin, "triplets: parameter 'origin' must be 0 or 1, got 2");
    }

    #[test]
    fn a_header_in_another_order_is_an_error() {
        let naming = Naming::from_one(9);
        assert_eq!(
            message("t.csv", "Anchor,far,near\n1,2,3\n", &naming),
            "t.csv: line 1: the columns are Anchor, far, near; the order must be Anchor, near, far: the row, the closer \
             row, the farther row"
        );
        assert!(message("t.csv", "k,j,i\n1,2,3\n", &naming).contains("the order must be i, j, k"));
        // Unknown names are accepted in any order.
        assert_eq!(numbers("x,y,z\n1,2,3\n"), [[0, 1, 2]]);
        assert_eq!(numbers("far,y,near\n1,2,3\n"), [[0, 1, 2]]);
    }
}
