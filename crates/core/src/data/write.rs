//! Writing tables, and writing any file so that it is there whole or not at all.
//!
//! Numbers are written in the shortest form that reads back to the same bits, missing cells as nothing.

use crate::context::Context;
use crate::data::table::{Column, MISSING, Values, check_names};
use crate::data::temporary::{Temporary, tidy};
use crate::error::{Error, Result, shorten};
use csv::{QuoteStyle, WriterBuilder};
use flate2::{Compression, write::GzEncoder};
use ndarray::ArrayView2;
use std::borrow::Cow;
use std::cell::Cell;
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::Path;

pub use crate::data::temporary::abandon;

/// Rows that are written between two looks at whether the user asked to stop.
const ROWS: usize = 1024;

/// What the ending of a file's name does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WriteOptions {
    /// Whether text that a spreadsheet would run as a formula gets an apostrophe in front: names and cells that begin
    /// with one of `= + - @`, a tab or a return (default: false, as the text then is another one).
    pub guard_formulas: bool,
}

/// Writes a table: the columns of `x` under `names`, then the `extra` ones. The ending of the path says
/// how: .csv or .tsv, also with .gz, or .npy (numbers only, and no names).
pub fn write_table(
    path: &Path,
    names: &[String],
    x: ArrayView2<f64>,
    extra: &[Column],
    options: &WriteOptions,
    ctx: &Context,
) -> Result<()> {
    let table = Output::new(names, x, extra, options).map_err(|e| e.in_file(path))?;
    watched(ctx, table.rows, |tell| match Format::of(path)? {
        Format::Npy => {
            let numbers = numbers(extra).map_err(|e| e.in_file(path))?;
            write_atomic(path, |out| table.write_npy(&numbers, out, tell))
        }
        Format::Text { delimiter, gzip: false } => {
            write_atomic(path, |out| table.write_text(delimiter, out, tell))
        }
        Format::Text { delimiter, gzip: true } => write_atomic(path, |out| {
            let mut packed = GzEncoder::new(out, Compression::default());
            table.write_text(delimiter, &mut packed, tell)?;
            packed.finish().map(drop)
        }),
    })
}

/// Writes with progress. What stops writing is a failure to write, as far as writers know; here it becomes what it is.
fn watched(
    ctx: &Context,
    rows: usize,
    write: impl FnOnce(&dyn Fn(usize) -> io::Result<()>) -> Result<()>,
) -> Result<()> {
    let stopped = Cell::new(None);
    let written = write(&|done| {
        ctx.step("writing rows", done, rows).map_err(|error| {
            stopped.set(Some(error));
            io::Error::other("stopped")
        })
    });
    stopped.take().map_or(written, Err)
}

/// Refuses a path to which [`write_table`] could not write these `extra` columns, so that nothing is
/// computed in vain. Passing is no promise: the disk may fill up.
pub fn check_table(path: &Path, extra: &[Column]) -> Result<()> {
    if let Format::Npy = Format::of(path)? {
        numbers(extra).map_err(|e| e.in_file(path))?;
    }
    check_place(path)
}

/// Refuses a path that is a folder, or lies in none or in one that cannot be written to.
pub fn check_place(path: &Path) -> Result<()> {
    if path.is_dir() {
        return Err(Error::io(path, ErrorKind::IsADirectory.into()));
    }
    let folder = folder_of(path);
    match std::fs::metadata(folder) {
        Ok(found) if !found.is_dir() => {
            Err(Error::io(path, folder_error(folder, ErrorKind::NotADirectory.into())))
        }
        // What is no regular file is written to, not replaced.
        Ok(_) if std::fs::metadata(path).is_ok_and(|older| !older.is_file()) => Ok(()),
        Ok(_) => match Temporary::new_in(folder) {
            Ok(_) => Ok(()),
            Err(error) => Err(Error::io(path, folder_error(folder, error))),
        },
        Err(error) => Err(Error::io(path, folder_error(folder, error))),
    }
}

/// What the ending of a path asks for.
enum Format {
    Text { delimiter: u8, gzip: bool },
    Npy,
}

impl Format {
    fn of(path: &Path) -> Result<Self> {
        let lower = path.to_string_lossy().to_lowercase();
        let (stem, gzip) = lower.strip_suffix(".gz").map_or((lower.as_str(), false), |stem| (stem, true));
        match stem.rsplit_once('.').map(|(_, ending)| ending) {
            Some("csv") => Ok(Self::Text { delimiter: b',', gzip }),
            Some("tsv") => Ok(Self::Text { delimiter: b'\t', gzip }),
            Some("npy") if !gzip => Ok(Self::Npy),
            _ => {
                let why = "the name's ending is not one that can be written; \
                           there are .csv, .tsv, .csv.gz, .tsv.gz and .npy";
                Err(Error::parse(why).in_file(path))
            }
        }
    }
}

/// Writes a table as CSV, for standard output. A closed pipe comes back as [`Error::Io`] with
/// [`ErrorKind::BrokenPipe`].
pub fn write_table_to(
    out: &mut dyn Write,
    names: &[String],
    x: ArrayView2<f64>,
    extra: &[Column],
    options: &WriteOptions,
    ctx: &Context,
) -> Result<()> {
    let table = Output::new(names, x, extra, options)?;
    let mut buffer = BufWriter::new(out);
    watched(ctx, table.rows, |tell| {
        let written = table.write_text(b',', &mut buffer, tell).and_then(|()| buffer.flush());
        written.map_err(|e| Error::io(Path::new("output"), e))
    })
}

/// Writes a file by way of a temporary one beside it, which takes the path's name once all is written
/// and on disk. If anything fails, an older file stays as it was and nothing is left behind. A program that is killed leaves
/// the temporary file, `.kernsift-` and six letters; the next that writes to the folder removes it once it is an hour old.
///
/// What is not a regular file, such as a pipe or `/dev/stdout`, cannot be replaced and is written to.
pub fn write_atomic(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let failed = |e: io::Error| Error::io(path, e);
    // A link stays a link: the file it leads to is replaced.
    let place = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let older = std::fs::metadata(&place).ok();
    match &older {
        Some(older) if older.is_dir() => return Err(failed(ErrorKind::IsADirectory.into())),
        Some(older) if !older.is_file() => {
            let mut file = OpenOptions::new().write(true).open(&place).map_err(failed)?;
            return write_all(&mut file, write).map_err(failed);
        }
        _ => {}
    }
    let folder = folder_of(&place);
    // First: the room it takes may be needed.
    tidy(folder);
    let mut temporary = Temporary::new_in(folder).map_err(|e| failed(folder_error(folder, e)))?;
    write_all(temporary.file(), write).map_err(failed)?;
    if let Some(older) = older {
        temporary.file().set_permissions(older.permissions()).map_err(failed)?;
    }
    temporary.file().sync_all().map_err(failed)?;
    temporary.put(&place).map_err(failed)
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn write_all(file: &mut File, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut buffer = BufWriter::with_capacity(1 << 16, file);
    write(&mut buffer)?;
    buffer.flush()
}

/// The system speaks of the temporary file; the user should hear about the folder.
fn folder_error(folder: &Path, error: io::Error) -> io::Error {
    let folder = folder.display();
    match error.kind() {
        ErrorKind::NotFound => io::Error::other(format!("there is no folder '{folder}'; make it first")),
        ErrorKind::NotADirectory => io::Error::other(format!("'{folder}' is not a folder")),
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            io::Error::other(format!("the folder '{folder}' cannot be written to"))
        }
        _ => error,
    }
}

/// A table whose parts fit together.
struct Output<'a> {
    names: Vec<&'a str>,
    x: ArrayView2<'a, f64>,
    extra: &'a [Column],
    rows: usize,
    options: WriteOptions,
}

impl<'a> Output<'a> {
    fn new(
        names: &'a [String],
        x: ArrayView2<'a, f64>,
        extra: &'a [Column],
        options: &WriteOptions,
    ) -> Result<Self> {
        let shape = |what: &str, expected: usize, got: usize| Error::Shape {
            what: what.into(),
            expected: expected.to_string(),
            got: got.to_string(),
        };
        if names.len() != x.ncols() {
            return Err(shape("column names", x.ncols(), names.len()));
        }
        if let Some(odd) = extra.iter().find(|column| column.len() != x.nrows()) {
            return Err(shape(&format!("rows of column '{}'", odd.name), x.nrows(), odd.len()));
        }
        let names: Vec<&str> =
            names.iter().map(String::as_str).chain(extra.iter().map(|c| c.name.as_str())).collect();
        if names.is_empty() {
            return Err(Error::parse("there are no columns to write"));
        }
        check_names(names.iter().copied())?;
        Ok(Self { names, x, extra, rows: x.nrows(), options: *options })
    }

    /// Text as it is written.
    fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.options.guard_formulas && text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
            true => Cow::Owned(format!("'{text}")),
            false => Cow::Borrowed(text),
        }
    }

    fn write_text(
        &self,
        delimiter: u8,
        out: &mut dyn Write,
        tell: &dyn Fn(usize) -> io::Result<()>,
    ) -> io::Result<()> {
        self.write_header(delimiter, out)?;
        let mut writer = WriterBuilder::new().delimiter(delimiter).from_writer(out);
        let mut text = String::new();
        for i in 0..self.rows {
            if i % ROWS == 0 {
                tell(i)?;
            }
            for value in self.x.row(i) {
                writer.write_field(spell(*value, &mut text)).map_err(plain)?;
            }
            for column in self.extra {
                match &column.values {
                    Values::Numeric(cells) => {
                        writer.write_field(spell(cells[i], &mut text)).map_err(plain)?
                    }
                    Values::Text { codes, .. } if codes[i] == MISSING => {
                        writer.write_field("").map_err(plain)?
                    }
                    Values::Text { codes, levels } => {
                        writer.write_field(&*self.text(&levels[codes[i] as usize])).map_err(plain)?
                    }
                }
            }
            writer.write_record(None::<&[u8]>).map_err(plain)?;
        }
        writer.flush()
    }

    fn write_header(&self, delimiter: u8, out: &mut dyn Write) -> io::Result<()> {
        // Readers guess the delimiter from the header: other delimiters must not stand there bare.
        let doubtful = self.names.iter().any(|name| name.contains([';', '\t', ',']));
        let style = if doubtful { QuoteStyle::Always } else { QuoteStyle::Necessary };
        let mut writer = WriterBuilder::new().delimiter(delimiter).quote_style(style).from_writer(out);
        writer.write_record(self.names.iter().map(|name| self.text(name).into_owned()))?;
        writer.flush()
    }

    fn write_npy(
        &self,
        extra: &[&[f64]],
        out: &mut dyn Write,
        tell: &dyn Fn(usize) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut header = format!(
            "{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, {}), }}",
            self.rows,
            self.names.len()
        );
        // NumPy wants the numbers to start at a multiple of 64; ten bytes stand before the header.
        while (header.len() + 11) % 64 != 0 {
            header.push(' ');
        }
        header.push('\n');
        out.write_all(b"\x93NUMPY\x01\x00")?;
        out.write_all(&(header.len() as u16).to_le_bytes())?;
        out.write_all(header.as_bytes())?;
        for i in 0..self.rows {
            if i % ROWS == 0 {
                tell(i)?;
            }
            for value in self.x.row(i).iter().chain(extra.iter().map(|cells| &cells[i])) {
                out.write_all(&value.to_le_bytes())?;
            }
        }
        Ok(())
    }
}

/// Columns as numbers, if they are.
fn numbers(columns: &[Column]) -> Result<Vec<&[f64]>> {
    let numbers = columns.iter().map(|column| match &column.values {
        Values::Numeric(cells) => Ok(cells.as_slice()),
        Values::Text { .. } => Err(Error::parse(format!(
            "column '{}' is text, and .npy holds numbers only; write .csv instead",
            shorten(&column.name)
        ))),
    });
    numbers.collect()
}

/// A number in its shortest form; NaN, which is a missing cell, as nothing.
fn spell(value: f64, text: &mut String) -> &str {
    text.clear();
    // Writing to a string cannot fail. Plain digits, unless that would be a row of zeros.
    let _ = match value.abs() {
        size if size.is_nan() => Ok(()),
        size if size == 0.0 || (1e-5..1e17).contains(&size) => write!(text, "{value}"),
        _ => write!(text, "{value:e}"),
    };
    text
}

/// The error of the file itself, which the csv crate wraps: a closed pipe must stay recognisable.
fn plain(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Context;
    use crate::context::Observer;
    use crate::data::read::{ReadOptions, read_bytes, read_table};
    use crate::data::table::Table;
    use ndarray::{Array2, array};
    use proptest::prelude::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn strings(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| name.to_string()).collect()
    }

    fn as_csv(names: &[&str], x: &Array2<f64>, extra: &[Column]) -> String {
        let mut out = vec![];
        write_table_to(
            &mut out,
            &strings(names),
            x.view(),
            extra,
            &WriteOptions::default(),
            &Context::default(),
        )
        .unwrap();
        String::from_utf8(out).unwrap()
    }

    fn columns(table: Table) -> Vec<Column> {
        match table {
            Table::Columns(columns) => columns,
            Table::Sparse { .. } => panic!("columns expected"),
        }
    }

    #[test]
    fn csv_by_hand() {
        let x = array![[1.0, 0.1], [f64::NAN, -0.0], [1e300, 2.5e-9]];
        let words = Column::text("w,1", [Some("a \"b\""), None, Some("c\nd")].into_iter());
        let text = as_csv(&["a", "b"], &x, &[words]);
        assert_eq!(text, "\"a\",\"b\",\"w,1\"\n1,0.1,\"a \"\"b\"\"\"\n,-0,\n1e300,2.5e-9,\"c\nd\"\n");
        let no_features = Array2::zeros((2, 0));
        let target = Column::numeric("target", vec![f64::NAN, 1.0]);
        assert_eq!(as_csv(&[], &no_features, &[target]), "target\n\"\"\n1\n");
    }

    #[test]
    fn every_ending_reads_back() {
        let folder = tempfile::tempdir().unwrap();
        let x = array![[1.0, 0.1 + 0.2], [-3.0, 1e-300]];
        let extra = [Column::numeric("target", vec![0.0, 1.0])];
        for ending in ["csv", "tsv", "csv.gz", "TSV.GZ", "npy"] {
            let path = folder.path().join(format!("t.{ending}"));
            write_table(
                &path,
                &strings(&["x1", "x2"]),
                x.view(),
                &extra,
                &WriteOptions::default(),
                &Context::default(),
            )
            .unwrap();
            let read = columns(read_table(&path, &ReadOptions::default(), &Context::default()).unwrap().0);
            assert_eq!(read[1], Column::numeric("x2", vec![0.1 + 0.2, 1e-300]), "{ending}");
            assert_eq!(read[2].values, extra[0].values, "{ending}");
        }
    }

    #[test]
    fn npy_starts_its_numbers_where_numpy_wants_them() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.npy");
        write_table(
            &path,
            &strings(&["a"]),
            array![[1.0], [2.0]].view(),
            &[],
            &WriteOptions::default(),
            &Context::default(),
        )
        .unwrap();
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(bytes.len(), 128 + 16);
        assert_eq!(&bytes[128..136], &1f64.to_le_bytes());
        assert_eq!(bytes[127], b'\n');
    }

    #[test]
    fn what_cannot_be_written_is_explained() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let x = array![[1.0]];
        let message = |name: &str, names: &[&str], extra: &[Column]| {
            let written = write_table(
                &at(name),
                &strings(names),
                x.view(),
                extra,
                &WriteOptions::default(),
                &Context::default(),
            );
            let error = written.unwrap_err().to_string();
            error.replace(&format!("{}", folder.path().display()), "DIR")
        };
        let words = || [Column::text("colour", [Some("red")].into_iter())];
        assert_eq!(
            message("t.xlsx", &["a"], &[]),
            "DIR/t.xlsx: the name's ending is not one that can be written; \
             there are .csv, .tsv, .csv.gz, .tsv.gz and .npy"
        );
        assert_eq!(
            message("t.npy", &["a"], &words()),
            "DIR/t.npy: column 'colour' is text, and .npy holds numbers only; write .csv instead"
        );
        assert_eq!(message("t.csv", &["a", "b"], &[]), "DIR/t.csv: column names: expected 1, got 2");
        assert_eq!(
            message("t.csv", &["colour"], &words()),
            "DIR/t.csv: column 1 and column 2 are both named 'colour'; rename one"
        );
        assert_eq!(
            message("no/t.csv", &["a"], &[]),
            "DIR/no/t.csv: there is no folder 'DIR/no'; make it first"
        );
        std::fs::create_dir(at("d.csv")).unwrap();
        assert_eq!(message("d.csv", &["a"], &[]), "DIR/d.csv: is a directory, not a file");
        for (name, extra) in [("t.xlsx", vec![]), ("t.npy", words().to_vec()), ("no/t.csv", vec![])] {
            let early = check_table(&at(name), &extra).unwrap_err().to_string();
            assert_eq!(
                early.replace(&format!("{}", folder.path().display()), "DIR"),
                message(name, &["a"], &extra)
            );
        }
        assert!(check_table(&at("d.csv"), &[]).is_err() && check_table(&at("new.npy"), &[]).is_ok());
        std::fs::write(at("file"), "").unwrap();
        assert_eq!(message("file/t.csv", &["a"], &[]), "DIR/file/t.csv: 'DIR/file' is not a folder");
        let nothing = Array2::zeros((1, 0));
        let error = write_table(
            &at("t.csv"),
            &[],
            nothing.view(),
            &[],
            &WriteOptions::default(),
            &Context::default(),
        )
        .unwrap_err()
        .to_string();
        assert!(error.ends_with("t.csv: there are no columns to write"));
        let left: Vec<_> =
            std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(left.len(), 2, "only what the test made itself: {left:?}");
    }

    #[test]
    fn a_failure_leaves_everything_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.bin");
        write_atomic(&path, |out| out.write_all(b"old")).unwrap();
        let error = write_atomic(&path, |out| {
            out.write_all(b"half of the n")?;
            Err(io::Error::other("disk full"))
        });
        assert_eq!(error.unwrap_err().to_string(), format!("{}: disk full", path.display()));
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        write_atomic(&path, |out| out.write_all(b"new")).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
    }

    /// Stops once some rows are written.
    struct Stops(AtomicUsize);

    impl Observer for Stops {
        fn progress(&self, stage: &str, done: usize, total: usize) {
            assert!(stage == "writing rows" && total == 5000 && done.is_multiple_of(ROWS));
            self.0.store(done, Ordering::Relaxed);
        }

        fn interrupted(&self) -> bool {
            self.0.load(Ordering::Relaxed) >= 2 * ROWS
        }
    }

    #[test]
    fn stopped_it_leaves_everything_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let x = Array2::<f64>::ones((5000, 2));
        for name in ["t.csv", "t.tsv.gz", "t.npy"] {
            let path = folder.path().join(name);
            std::fs::write(&path, "old").unwrap();
            let observer = Stops(AtomicUsize::new(0));
            let ctx = Context { observer: &observer, ..Context::default() };
            let error =
                write_table(&path, &strings(&["a", "b"]), x.view(), &[], &WriteOptions::default(), &ctx)
                    .unwrap_err();
            assert!(matches!(error, Error::Interrupted), "{error}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
        let observer = Stops(AtomicUsize::new(0));
        let ctx = Context { observer: &observer, ..Context::default() };
        let error =
            write_table_to(&mut vec![], &strings(&["a", "b"]), x.view(), &[], &WriteOptions::default(), &ctx)
                .unwrap_err();
        assert!(matches!(error, Error::Interrupted), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn permissions_links_and_read_only_folders() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let mode =
            |name: &str| std::fs::metadata(folder.path().join(name)).unwrap().permissions().mode() & 0o777;
        let write = |name: &str| write_atomic(&folder.path().join(name), |out| out.write_all(b"x"));
        std::fs::write(folder.path().join("usual"), "").unwrap();
        write("new").unwrap();
        assert_eq!(mode("new"), mode("usual"), "the umask decides");
        std::fs::set_permissions(folder.path().join("usual"), PermissionsExt::from_mode(0o600)).unwrap();
        write("usual").unwrap();
        assert_eq!(mode("usual"), 0o600, "an older file's permissions stay");
        symlink("usual", folder.path().join("link")).unwrap();
        write_atomic(&folder.path().join("link"), |out| out.write_all(b"through")).unwrap();
        assert!(std::fs::symlink_metadata(folder.path().join("link")).unwrap().is_symlink());
        assert_eq!(std::fs::read(folder.path().join("usual")).unwrap(), b"through");
        write_atomic(Path::new("/dev/null"), |out| out.write_all(b"x")).unwrap();

        let locked = folder.path().join("locked");
        std::fs::create_dir(&locked).unwrap();
        std::fs::set_permissions(&locked, PermissionsExt::from_mode(0o500)).unwrap();
        // The superuser may write everywhere; then there is nothing to see.
        if std::fs::write(locked.join("probe"), "").is_err() {
            let message = write("locked/t").unwrap_err().to_string();
            assert!(message.ends_with("/locked' cannot be written to"), "{message}");
            assert!(check_place(&locked.join("t")).is_err());
        }
    }

    #[test]
    fn a_closed_pipe_is_told_apart() {
        struct Closed;
        impl Write for Closed {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let error = write_table_to(
            &mut Closed,
            &strings(&["a"]),
            array![[1.0]].view(),
            &[],
            &WriteOptions::default(),
            &Context::default(),
        )
        .unwrap_err();
        assert!(matches!(error, Error::Io { source, .. } if source.kind() == ErrorKind::BrokenPipe));
    }

    fn number() -> impl Strategy<Value = f64> {
        prop_oneof![
            any::<f64>().prop_map(|v| if v.is_finite() { v } else { f64::NAN }),
            (-1000i32..1000).prop_map(f64::from),
            Just(f64::NAN)
        ]
    }

    /// Text that is not trimmed away, taken for a number, or for a missing cell.
    fn word() -> impl Strategy<Value = Option<String>> {
        prop_oneof![4 => "[xyz][ ,;\"'\n\r\té#%a-z]{0,6}[xyz]".prop_map(Some), 1 => Just(None)]
    }

    proptest! {
        #[test]
        fn csv_reads_back_as_it_was(
            (d, cells, words) in (0usize..4, 1usize..8).prop_flat_map(|(d, n)| (
                Just(d),
                prop::collection::vec(number(), n * d),
                prop::collection::vec(word(), n),
            )),
            name in "[a-z;,\t\"' ]{0,5}[a-z]",
        ) {
            let n = words.len();
            let x = Array2::from_shape_vec((n, d), cells).unwrap();
            let names: Vec<String> = (0..d).map(|j| format!("{}{j}", name.trim_ascii())).collect();
            let extra = [Column::text("words", words.iter().map(|w| w.as_deref()))];
            for (ending, delimiter) in [("t.csv", b','), ("t.tsv", b'\t')] {
                let mut out = vec![];
                Output::new(&names, x.view(), &extra, &WriteOptions::default()).unwrap().write_text(delimiter, &mut out, &|_| Ok(())).unwrap();
                let read = columns(read_bytes(ending, &out, &ReadOptions::default(), &Context::default()).unwrap().0);
                for (j, column) in read[..d].iter().enumerate() {
                    let Values::Numeric(cells) = &column.values else { panic!("numbers expected") };
                    let same = |(a, b): (&f64, &f64)| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
                    prop_assert!(cells.iter().zip(x.column(j)).all(same));
                    prop_assert_eq!(&column.name, &names[j]);
                }
                // A column of nothing but missing cells has no type; it comes back as numbers.
                if words.iter().any(Option::is_some) {
                    prop_assert_eq!(&read[d], &extra[0]);
                }
            }
        }
    }

    #[test]
    fn formulas_are_guarded_on_request() {
        let names = strings(&["=a", "b"]);
        let texts = ["@sum", "-1+1", "+x", "a=b", "\tz"];
        let extra = [Column::text("-c", texts.into_iter().map(Some))];
        let x = Array2::from_shape_fn((5, 2), |(i, j)| (i * 2 + j) as f64 - 3.0);
        let written = |guard_formulas| {
            let mut out = vec![];
            let options = WriteOptions { guard_formulas };
            write_table_to(&mut out, &names, x.view(), &extra, &options, &Context::default()).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(
            written(true),
            "'=a,b,'-c\n-3,-2,'@sum\n-1,0,'-1+1\n1,2,'+x\n3,4,a=b\n5,6,'\tz\n",
            "numbers below zero are no formulas"
        );
        assert_eq!(written(false), "=a,b,-c\n-3,-2,@sum\n-1,0,-1+1\n1,2,+x\n3,4,a=b\n5,6,\tz\n");
    }
}
