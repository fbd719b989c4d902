use super::*;
use crate::data::read::read_table;
use crate::data::table::{Table, Values};

/// The complete table, from pieces.
fn joined(path: &Path, options: &ReadOptions) -> (Vec<(String, Vec<f64>)>, usize) {
    let file = PieceFile::open(path, options).unwrap().unwrap();
    let (mut all, mut pieces): (Vec<(String, Vec<f64>)>, usize) = (vec![], 0);
    let mut visit = |table: &Table, first: usize| {
        let Table::Columns(columns) = table else { panic!("a dense table") };
        assert_eq!(first, all.first().map_or(0, |(_, cells)| cells.len()));
        pieces += 1;
        if all.is_empty() {
            all = columns.iter().map(|column| (column.name.clone(), vec![])).collect();
        }
        for ((_, cells), column) in all.iter_mut().zip(columns) {
            let Values::Numeric(values) = &column.values else { panic!("numbers") };
            cells.extend(values);
        }
        Ok(())
    };
    file.visit(None, &mut vec![], &Context::default(), &mut visit).unwrap();
    (all, pieces)
}

fn expected(path: &Path, options: &ReadOptions) -> Vec<(String, Vec<f64>)> {
    let (table, _) = read_table(path, options, &Context::default()).unwrap();
    let Table::Columns(columns) = table else { panic!("a dense table") };
    let cells = |column: crate::data::Column| match column.values {
        Values::Numeric(values) => (column.name, values),
        other => panic!("{other:?}"),
    };
    columns.into_iter().map(cells).collect()
}

#[test]
fn csv_pieces_are_the_complete_table() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    // Several pieces of 2 MiB, a comment, a quoted name with a line end, and no line end after the last row.
    let mut text = String::from("# made by a test\n\"a\nb\";c\n");
    for i in 0..400_000_u32 {
        text += &format!("{}.25;-{}\n", i % 977, i);
    }
    text.pop();
    std::fs::write(&path, &text).unwrap();
    let options = ReadOptions::default();
    let (found, pieces) = joined(&path, &options);
    assert!(pieces > 1 && found[0].0 == "a\nb");
    assert_eq!(found, expected(&path, &options));
    // An error has its line in the file: 3 lines before the first row.
    let line = text.lines().count();
    let broken = format!("{text}\n1;2;3\n");
    std::fs::write(&path, broken).unwrap();
    let file = PieceFile::open(&path, &options).unwrap().unwrap();
    let error =
        file.visit(None, &mut vec![], &Context::default(), &mut |_, _| Ok(())).unwrap_err().to_string();
    assert!(error.contains(&format!("line {}: expected 2 fields, found 3", line + 1)), "{error}");
}

/// The error of a pass.
fn pass_error(file: &PieceFile) -> String {
    file.visit(None, &mut vec![], &Context::default(), &mut |_, _| Ok(())).unwrap_err().to_string()
}

#[test]
fn quotes_inside_cells_do_not_join_pieces() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    // One quote inside a cell; then quoted cells with line ends, in several pieces of 2 MiB.
    let mut text = String::from("pipe,value\n5\" pipe,0\n");
    (1..300_000).for_each(|i| text += &format!("\"{i}\nmm\",{i}\n"));
    std::fs::write(&path, &text).unwrap();
    let file = PieceFile::open(&path, &ReadOptions::default()).unwrap().unwrap();
    let (mut found, mut pieces) = (vec![], 0);
    let mut visit = |table: &Table, _| {
        let Values::Numeric(values) = &table.column("value").unwrap().values else { panic!("numbers") };
        found.extend_from_slice(values);
        pieces += 1;
        Ok(())
    };
    file.visit(None, &mut vec![], &Context::default(), &mut visit).unwrap();
    assert!(pieces > 1);
    assert_eq!(found, (0..300_000).map(f64::from).collect::<Vec<_>>());
    // A quote that is never closed.
    let text = "a,b\n1,2\n3,4\n\"5,6\n".to_owned() + &"1,2\n".repeat(9 << 20);
    std::fs::write(&path, text).unwrap();
    let error = pass_error(&PieceFile::open(&path, &ReadOptions::default()).unwrap().unwrap());
    assert!(error.contains("line 4: a cell opens with a quote (\") that is not closed"), "{error}");
}

#[test]
fn blank_lines_and_long_records_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let (path, options) = (folder.path().join("a.csv"), ReadOptions::default());
    let blank = "\n".repeat(5 << 20);
    let text = format!("a,b\n1,2\n3,4\n{blank}5,6\n");
    std::fs::write(&path, &text).unwrap();
    let (found, _) = joined(&path, &options);
    assert_eq!(found, [("a".to_owned(), vec![1.0, 3.0, 5.0]), ("b".to_owned(), vec![2.0, 4.0, 6.0])]);
    std::fs::write(&path, format!("{text}7\n")).unwrap();
    let error = pass_error(&PieceFile::open(&path, &options).unwrap().unwrap());
    let line = (5 << 20) + 5;
    assert!(error.contains(&format!("line {line}: expected 2 fields, found 1")), "{error}");
    // The first row ends after the first 2 MiB.
    let names: Vec<String> = (0..1000).map(|j| format!("{j:01500}")).collect();
    let row = vec![format!("{:1000}", 1); 1000].join(",");
    std::fs::write(&path, format!("x{}\n{row}\n{row}\n{row}\n", names.join(",x"))).unwrap();
    let (found, pieces) = joined(&path, &options);
    assert!(pieces > 1 && found.len() == 1000 && found.iter().all(|(_, cells)| *cells == [1.0; 3]));
}

#[test]
fn a_changed_file_is_an_error() {
    use std::time::{Duration, SystemTime};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    let expected = "the file changed while it was read; copy it, or run again";
    // As many bytes and rows, at another time: file systems may round times.
    let change = |seconds: u64| {
        std::fs::write(&path, "a,b\n3,4\n1,2\n").unwrap();
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).unwrap();
    };
    let open = || {
        std::fs::write(&path, "a,b\n1,2\n3,4\n").unwrap();
        PieceFile::open(&path, &ReadOptions::default()).unwrap().unwrap()
    };
    let file = open();
    assert!(file.visit(None, &mut vec![], &Context::default(), &mut |_, _| Ok(())).is_ok());
    change(100);
    assert!(pass_error(&file).contains(expected));
    // In a pass.
    let file = open();
    let mut visit = |_: &Table, _: usize| {
        change(200);
        Ok(())
    };
    let error = file.visit(None, &mut vec![], &Context::default(), &mut visit).unwrap_err().to_string();
    assert!(error.contains(expected), "{error}");
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_pieces_are_the_complete_table() {
    use crate::data::read::parquet::tests::written;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    std::fs::write(&path, written(&[700, 100, 900])).unwrap();
    let options = ReadOptions::default();
    let (found, pieces) = joined(&path, &options);
    assert!(pieces > 3);
    assert_eq!(found, expected(&path, &options));
    let file = PieceFile::open(&path, &options).unwrap().unwrap();
    // At least the cells, twice, and a page for each of the two columns; pages have at most 1 MiB.
    let cells = 8.0 * 2.0 * 1700.0;
    assert!((2.0 * cells..3.0 * cells + 2e6 + 1e5).contains(&file.piece_bytes()), "{}", file.piece_bytes());
    let mut names = vec![];
    let mut visit = |table: &Table, _| {
        names = table.names().into_iter().map(str::to_owned).collect();
        Ok(())
    };
    file.visit(Some(&["b"]), &mut vec![], &Context::default(), &mut visit).unwrap();
    assert_eq!(names, ["b"]);
}

#[test]
fn other_files_are_not_read_in_pieces() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.npy", "a.csv.gz", "a.xyz"] {
        let path = folder.path().join(name);
        std::fs::write(&path, "1,2").unwrap();
        assert!(PieceFile::open(&path, &ReadOptions::default()).unwrap().is_none(), "{name}");
    }
    assert!(PieceFile::open(Path::new("-"), &ReadOptions::default()).unwrap().is_none());
    assert!(PieceFile::open(&folder.path().join("none.csv"), &ReadOptions::default()).unwrap().is_none());
}

#[test]
fn a_sample_of_csv_has_the_rows_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    // Several pieces, comments, blank lines, cells of two lines, text, and no line end after the last row.
    let mut text = String::from("# made by a test\n\"a\nb\";word;c\n");
    for i in 0..250_000_u32 {
        let (comment, blank) =
            (if i % 7 == 0 { "# why\n" } else { "" }, if i % 5 == 0 { "\r\n" } else { "" });
        text += &format!("{comment}{blank}{i}.25;\"w\n{}\";0{i}\n", i % 3);
    }
    text.pop();
    std::fs::write(&path, &text).unwrap();
    let options = ReadOptions { comment: Some(b'#'), ..ReadOptions::default() };
    let ctx = Context { seed: 3, ..Context::default() };
    let file = PieceFile::open(&path, &options).unwrap().unwrap();
    let found = file.sample(0.01, &ctx).unwrap();
    // A binomial number: five standard deviations of 50.
    assert!(found.n == 250_000 && (2250..2750).contains(&found.rows.len()), "{}", found.rows.len());
    assert_eq!(found.table, taken(&read_table(&path, &options, &ctx).unwrap().0, &found.rows));
    assert_eq!(file.sample(0.01, &ctx).unwrap().rows, found.rows);
    assert_ne!(file.sample(0.01, &Context::default()).unwrap().rows, found.rows);
    // The line of an error is that in the file.
    std::fs::write(&path, format!("{text}\n1;2;3;4\n")).unwrap();
    let file = PieceFile::open(&path, &options).unwrap().unwrap();
    let seed = (0..).find(|&seed| crate::random::Rng::of_item(seed, 0x726f_7773, 250_000) < 0.01).unwrap();
    let error = file.sample(0.01, &Context { seed, ..ctx }).unwrap_err().to_string();
    let line = text.lines().count() + 1;
    assert!(error.contains(&format!("line {line}: expected 3 fields, found 4")), "{error}");
}

#[test]
fn samples_of_other_files_have_their_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    let ctx = Context::default();
    let rows = |from: u32, to: u32, end: &str| -> String {
        (from..to).map(|i| format!("{i}.5,{}{end}", i % 7)).collect()
    };
    let no_header = ReadOptions { header: false, ..ReadOptions::default() };
    let header = ReadOptions::default();
    for (text, options) in [
        (format!("\u{feff}a,b\r\n{}", rows(0, 3000, "\r\n")), &header),
        (format!("# one\n# two\n{}", rows(0, 3000, "\n")), &no_header),
        (rows(0, 3000, "\n"), &no_header),
        (format!("a,b\n{}   \n\"\"\n{}  \n", rows(0, 1000, "\n"), rows(1000, 3000, "\n")), &header),
    ] {
        std::fs::write(&path, &text).unwrap();
        let file = PieceFile::open(&path, options).unwrap().unwrap();
        for seed in 0..5 {
            let found = file.sample(0.1, &Context { seed, ..ctx }).unwrap();
            assert_eq!(found.n, 3000, "{}", &text[..20]);
            assert_eq!(found.table, taken(&read_table(&path, options, &ctx).unwrap().0, &found.rows));
        }
    }
    // Lines that end with a carriage return only have no pieces.
    std::fs::write(&path, format!("é,b\r{}", rows(0, 3000, "\r"))).unwrap();
    assert!(PieceFile::open(&path, &header).unwrap().is_none());
}

#[test]
fn errors_of_rows_that_are_not_drawn_are_found_where_rows_depend_on_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    let sample = |text: &[u8], seed: u64| {
        std::fs::write(&path, text).unwrap();
        let file = PieceFile::open(&path, &ReadOptions::default()).unwrap().unwrap();
        file.sample(0.01, &Context { seed, ..Context::default() }).unwrap_err().to_string()
    };
    let rows: String = (0..300_000).map(|i| format!("{i},1\n")).collect();
    for seed in 0..5 {
        // A quote that is not closed swallows all later rows.
        let open = format!("a,b\n{rows}\"5,1\n{rows}");
        let error = sample(open.as_bytes(), seed);
        assert!(error.contains("line 300002"), "{error}");
        // A byte that is no text, in the second piece.
        let mut bytes = format!("a,b\n{rows}5,1\n").into_bytes();
        let last = bytes.len() - 4;
        bytes[last] = 0xff;
        let error = sample(&bytes, seed);
        assert!(error.contains("line 300002: the text is not UTF-8"), "{error}");
    }
}

/// These rows, with texts in the order in which they occur there.
fn taken(table: &Table, rows: &[usize]) -> Table {
    let Table::Columns(columns) = table else { panic!("a dense table") };
    let column = |column: &crate::data::Column| match &column.values {
        Values::Text { .. } => {
            let cells: Vec<_> = rows.iter().map(|&row| column.cell(row)).collect();
            crate::data::Column::text(column.name.clone(), cells.iter().map(Option::as_deref))
        }
        _ => column.take_rows(rows),
    };
    Table::new(columns.iter().map(column).collect()).unwrap()
}

#[cfg(feature = "parquet")]
#[test]
fn a_sample_of_parquet_has_the_rows_of_the_file() {
    use crate::data::Column;
    use crate::data::write::{WriteOptions, write_table};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let n = 200_000;
    let words: Vec<String> = (0..n).map(|i| format!("w{}", i % 17)).collect();
    let cells = words.iter().enumerate().map(|(i, word)| (i % 11 > 0).then_some(word.as_str()));
    let columns = vec![
        Column::numeric("x", (0..n).map(|i| f64::from(i) / 4.0).collect()),
        Column::text("word", cells),
        Column { name: "day".into(), values: Values::Date((0..n).map(f64::from).collect()) },
    ];
    let no_features = ndarray::Array2::zeros((n as usize, 0));
    let ctx = Context::default();
    write_table(&path, &[], no_features.view(), &columns, &WriteOptions::default(), &ctx).unwrap();
    let file = PieceFile::open(&path, &ReadOptions::default()).unwrap().unwrap();
    let found = file.sample(0.02, &ctx).unwrap();
    // Five standard deviations of 63.
    assert!(found.n == 200_000 && (3680..4320).contains(&found.rows.len()), "{}", found.rows.len());
    let all = read_table(&path, &ReadOptions::default(), &ctx).unwrap().0;
    assert_eq!(found.table, taken(&all, &found.rows));
}
