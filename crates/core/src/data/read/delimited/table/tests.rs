//! Both parsers, in one part and in many.

use super::*;
use proptest::prelude::*;

fn try_csv(text: &str) -> Result<Table> {
    read("t.csv", text, None, &ReadOptions::default(), None, &mut vec![])
}

fn columns(text: &str) -> Vec<Column> {
    match try_csv(text).unwrap() {
        Table::Columns(columns) => columns,
        Table::Sparse { .. } => panic!("columns expected"),
    }
}

fn message(text: &str) -> String {
    try_csv(text).unwrap_err().to_string()
}

fn number(name: &str, cells: &[f64]) -> Column {
    Column::numeric(name, cells.to_vec())
}

fn words(name: &str, cells: &[&str]) -> Column {
    Column::text(name, cells.iter().map(|&cell| (!cell.is_empty()).then_some(cell)))
}

#[test]
fn numbers_and_text() {
    let expected =
        [number("a", &[1.0, -2.5, 3e4]), words("b", &["red", "", "blue"]), number("c", &[1.0, 2.0, 3.0])];
    assert_eq!(columns("a,b,c\n1,red,1\n-2.5,NA,2\n3e4,blue,3\n"), expected);
    assert_eq!(columns("a , b,c \r\n 1 , red ,1\r\n-2.5,?, 2\r\n3e4,blue,3"), expected);
    assert_eq!(columns("\n\na;b;c\n1;red;1\n\n-2.5;;2\n3e4;blue;3\n\n  \n\n"), expected);
    assert_eq!(columns("a\tb\tc\n1\tred\t1\n-2.5\t\t2\n3e4\tblue\t3\n"), expected);
    assert_eq!(columns("a,b,c\r1,red,1\r-2.5,,2\r3e4,blue,3\r"), expected);
}

#[test]
fn integers_keep_their_spelling() {
    let text =
        "zip,id,flag,sign,x\n00501,9007199254740992,1.0,+1,1.0\n501,9007199254740993,0.0,-1,2.5\n,7,,1,+3\n";
    let expected = [
        words("zip", &["00501", "501", ""]),
        words("id", &["9007199254740992", "9007199254740993", "7"]),
        words("flag", &["1.0", "0.0", ""]),
        words("sign", &["+1", "-1", "1"]),
        number("x", &[1.0, 2.5, 3.0]),
    ];
    assert_eq!(columns(text), expected);
    assert_eq!(columns(&text.replace("zip", "\"zip\"")), expected);
}

#[test]
fn a_column_without_a_name_in_the_header() {
    // Row names as R writes them, and a separator at the end of each row.
    let rows = [words("unnamed_1", &["r1", "r2"]), number("a", &[1.0, 3.0]), number("b", &[2.0, 4.0])];
    assert_eq!(columns("a,b\nr1,1,2\nr2,3,4\n"), rows);
    assert_eq!(columns("\"a\" \"b\"\n\"r1\" 1 2\n\"r2\" 3 4\n".replace(' ', "\t").as_str()), rows);
    assert_eq!(columns("a,b\n1,2,\n3,4,\n"), rows[1..]);
    assert_eq!(columns("a,b\n\"1\",2,\n3,4,\n"), rows[1..]);
    // The last value of the first row is missing.
    let first = [words("unnamed_1", &["r1", "r2"]), number("a", &[1.0, 3.0]), number("b", &[f64::NAN, 4.0])];
    assert_eq!(format!("{:?}", columns("a,b\nr1,1,\nr2,3,4\n")), format!("{first:?}"));
    assert_eq!(columns("unnamed_1,b\nr1,1,2\nr2,3,4\n")[0].name, "unnamed_2");
    let mut warnings = vec![];
    read("t.csv", "a,b\n1,5,2\n2,5,3\n", None, &ReadOptions::default(), None, &mut warnings).unwrap();
    let expected =
        "t.csv: rows have one cell more than the header has names; the first column is called 'unnamed_1'";
    assert_eq!(warnings, [expected]);
    // Mistakes.
    assert_eq!(message("a,b\n1,2,3\n4,5\n6,7\n"), "line 2: expected 2 fields, found 3");
    assert_eq!(message("a\n1,2\n"), "line 2: expected 1 fields, found 2");
}

fn with(options: ReadOptions, text: &str) -> Result<Vec<Column>> {
    match read("t.csv", text, options.separator, &options, None, &mut vec![])? {
        Table::Columns(columns) => Ok(columns),
        Table::Sparse { .. } => panic!("columns expected"),
    }
}

#[test]
fn further_missing_values() {
    let na = |values: &[&str], text: &str| {
        let na_values = values.iter().map(|v| v.to_string()).collect();
        format!("{:?}", with(ReadOptions { na_values, ..ReadOptions::default() }, text).unwrap())
    };
    let expected = format!("{:?}", [number("a", &[1.5, f64::NAN, 3.0]), words("b", &["x", "", "y"])]);
    assert_eq!(na(&["unknown", "n.d."], "a,b\n1.5,x\nunknown,n.d.\n3,y\n"), expected);
    assert_eq!(na(&["-999"], "a,b\n1.5,x\n-999,-999\n3,y\n"), expected);
    assert_eq!(na(&[], "a,b\n1.5,x\n-,None\n3,y\n"), expected);
}

#[test]
fn comments_and_separators() {
    let expected = vec![number("a", &[1.0, 3.0]), number("b", &[2.0, 4.0])];
    assert_eq!(columns("# a table, made by hand\n#\na,b\n1,2\n3,4\n"), expected);
    let options = ReadOptions { comment: Some(b'%'), ..ReadOptions::default() };
    assert_eq!(with(options.clone(), "%x;y\na,b\n% text, \"\n1,2\n%\n3,4\n%").unwrap(), expected);
    let refused = with(options, "%x\na,b\n% text\n1,2\n%\n3\n").unwrap_err().to_string();
    assert_eq!(refused, "line 6: expected 2 fields, found 1");
    let options = ReadOptions { separator: Some(b':'), ..ReadOptions::default() };
    assert_eq!(with(options, "a:b\n1:2\n3:4\n").unwrap(), expected);
    assert_eq!(columns("a|b\n1|2\n3|4\n"), expected);
    assert_eq!(message("# nothing\n"), "the file has comments but no rows");
    assert_eq!(message("# x\n\na,b\n1,2\n3\n"), "line 5: expected 2 fields, found 1");
}

#[test]
fn transposed_tables() {
    let transposed = |text: &str| with(ReadOptions { transpose: true, ..ReadOptions::default() }, text);
    let expected = vec![
        words("sample", &["s1", "s2", "003"]),
        number("g1", &[1.0, 2.5, -3.0]),
        words("batch", &["01", "02", ""]),
        words("sex", &["f", "m", "f"]),
        number("unnamed_4", &[1.0, 2.0, 3.0]),
    ];
    let text = "gene,s1,s2,003\ng1,1,2.5,-3.0\nbatch,01,02,NA\nsex,f,m,f\n,1,2,3\n";
    assert_eq!(transposed(text).unwrap(), expected);
    assert_eq!(transposed(&text.replace("gene", "\"gene\"")).unwrap(), expected);
    let message = |text: &str| transposed(text).unwrap_err().to_string();
    assert_eq!(message("gene,a,a\nx,1,2\n"), "column 2 and column 3 are both named 'a'; rename one");
    assert_eq!(message("gene,a,b\nx,1\n"), "line 2: expected 3 fields, found 2");
    assert_eq!(message("gene,a,b\n"), "the file has a header but no rows");
    assert_eq!(message("gene\nx\n"), "a table to transpose needs a column of names and at least one sample");
}

#[test]
fn missing_numbers_are_nan() {
    let columns = columns("a,b\n1,2\n,?\nNA,null\n");
    let missing: Vec<bool> = (0..3).map(|i| columns[0].is_missing(i) && columns[1].is_missing(i)).collect();
    assert_eq!(missing, [false, true, true]);
}

#[test]
fn quotes_hold_delimiters_and_line_ends() {
    let expected = [words("a,b", &["x\ny", "say \"hi\""]), number("c", &[1.0, 2.0])];
    assert_eq!(columns("\"a,b\",c\n\"x\ny\",1\n\"say \"\"hi\"\"\",\"2\"\n"), expected);
}

#[test]
fn one_column_may_have_missing_cells_in_quotes() {
    assert_eq!(columns("a\nx\n\"\"\ny\n"), [words("a", &["x", "", "y"])]);
}

#[test]
fn missing_names_are_generated() {
    assert_eq!(columns("a,,c\n1,2,3\n")[1], number("unnamed_2", &[2.0]));
    let options = ReadOptions { header: false, ..ReadOptions::default() };
    let table = read("t.csv", "1,2\n3,4\n", None, &options, None, &mut vec![]).unwrap();
    assert_eq!(table, Table::new(vec![number("c1", &[1.0, 3.0]), number("c2", &[2.0, 4.0])]).unwrap());
}

#[test]
fn a_header_of_numbers_gives_a_warning() {
    let mut warnings = vec![];
    read("t.csv", "5.1,3.5\n4.9,3\n", None, &ReadOptions::default(), None, &mut warnings).unwrap();
    assert_eq!(
        warnings,
        ["the first line of t.csv contains only numbers; if it holds data, read the file without a header"]
    );
    warnings.clear();
    read(
        "t.csv",
        "5.1,3.5\n4.9,3\n",
        None,
        &ReadOptions { header: false, ..ReadOptions::default() },
        None,
        &mut warnings,
    )
    .unwrap();
    read("t.csv", "5.1,a\n4.9,3\n", None, &ReadOptions::default(), None, &mut warnings).unwrap();
    assert!(warnings.is_empty());
}

#[test]
fn wrong_files_are_explained() {
    assert_eq!(message("a,b\n"), "the file has a header but no rows");
    assert_eq!(message("a,b"), "the file has a header but no rows");
    assert_eq!(columns("a,a\n1,2\n")[1].name, "a.1");
    assert_eq!(message("a,b\n1,2\n3\n"), "line 3: expected 2 fields, found 1");
    let two = "line 3: expected 2 fields, found 1; line 5 has 3";
    assert_eq!(message("a,b\n1,2\n3\n\n4,5,6\n7,8\n"), two);
    let three = "line 2: expected 3 fields, found 1; line 3 has 1 and line 4 has 2";
    assert_eq!(message("a,b,c\n1\n1\n1,2\n1,2,3\n"), three);
    let many = "line 2: expected 3 fields, found 1; line 3 has 1, line 4 has 1, line 5 has 1, line 6 has 1, line 7 has 1 and so on";
    assert_eq!(message(&format!("a,b,c\n{}1,2,3\n", "1\n".repeat(7))), many);
    assert_eq!(message(&format!("a,b,c\n{}1,\"2\",3\n", "1\n".repeat(7))), many);
    assert_eq!(message("a,b\r\n1,2\r\n\r\n3,4,5\r\n"), "line 4: expected 2 fields, found 3");
    assert_eq!(message("a,b\r1,2\r3,4,5\r"), "line 3: expected 2 fields, found 3");
    assert_eq!(message("a,b\n\"1\n2\",2\n3,4,5\n"), "line 4: expected 2 fields, found 3");
    let unclosed = "a cell opens with a quote (\") that is never closed";
    assert_eq!(message("a,b\n1,\"2\n3,4\n"), format!("line 2: {unclosed}"));
    assert_eq!(message("a,b\n1,2\n\"3,4\n5,6"), format!("line 3: {unclosed}"));
    assert_eq!(message("a,\"b\n1,2\n"), format!("line 1: {unclosed}"));
}

#[test]
fn parts_give_the_same_table_and_line_numbers() {
    let mut text = String::from("a,b,c\n");
    for i in 0..100 {
        text.push_str(&format!("{i},level{},{}\n", i * 7 % 13, if i == 60 { "x" } else { "1" }));
    }
    let complete = try_csv(&text).unwrap();
    for part in [1, 5, 64, 500, 5000] {
        let read =
            read_in_parts("t.csv", &text, None, &ReadOptions::default(), None, &mut vec![], part).unwrap();
        assert_eq!(read, complete);
    }
    text.push_str("\n1,2\n");
    for part in [1, 5, 64, 500, 5000] {
        let read = read_in_parts("t.csv", &text, None, &ReadOptions::default(), None, &mut vec![], part);
        assert_eq!(read.unwrap_err().to_string(), "line 103: expected 3 fields, found 2");
    }
}

/// Short and long numbers, missing values, a few words.
fn cell() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => "[0-9]",
        4 => "[-+]?[0-9]{0,18}\\.?[0-9]{0,4}",
        2 => "-?[1-9]\\.[0-9]{1,17}e-?[0-9]{1,3}",
        1 => " ?(NA|nan|inf|\\?|x1|1x) ?",
    ]
}

fn both_parsers_agree(
    text: &str,
    delimiter: u8,
    n_columns: usize,
    part: usize,
) -> std::result::Result<(), TestCaseError> {
    let source = Source { n_columns, ..Source::new(text, delimiter) };
    let parts = split(source.text, 0..text.len(), part);
    let general = source.quoted_numbers(&parts);
    prop_assert_eq!(format!("{:?}", source.unquoted_numbers(&parts)), format!("{:?}", general.map(Some)));
    Ok(())
}

#[test]
fn empty_lines_allocate_nothing() {
    let n_columns = 1000;
    let row = vec!["1"; n_columns].join(",");
    let text = format!("{row}{}", "\n".repeat(1 << 20));
    let parts = split(text.as_bytes(), 0..text.len(), 1 << 18);
    let source = Source { n_columns, ..Source::new(&text, b',') };
    let (columns, rows) = source.unquoted_numbers(&parts).unwrap().unwrap();
    assert_eq!((rows, columns), (1, vec![Some(vec![1.0]); n_columns]));
}

proptest! {
    #[test]
    fn any_text_gives_the_same_in_parts(text in "[ab1\\-.,;\t\r\n ]{0,80}", part in 1usize..30) {
        let complete = read("t.csv", &text, Some(b','), &ReadOptions::default(), None, &mut vec![]);
        let parts = read_in_parts("t.csv", &text, Some(b','), &ReadOptions::default(), None, &mut vec![], part);
        prop_assert_eq!(format!("{complete:?}"), format!("{parts:?}"));
    }

    #[test]
    fn both_parsers_agree_on_any_text(
        text in "[a1\\-.,\t\r\n ]{0,60}", n_columns in 1usize..4, part in 1usize..30
    ) {
        both_parsers_agree(&text, b',', n_columns, part)?;
        both_parsers_agree(&text, b'\t', n_columns, part)?;
    }

    #[test]
    fn both_parsers_agree_on_any_table(
        rows in prop::collection::vec(prop::collection::vec(cell(), 3), 1..20),
        end in prop::sample::select(&["\n", "\r\n", "\r", "\n\n", "\n  \n"][..]),
        part in 1usize..60,
    ) {
        let lines: Vec<String> = rows.iter().map(|row| row.join(";")).collect();
        both_parsers_agree(&lines.join(end), b';', 3, part)?;
    }
}

#[test]
fn points_are_text_if_decimals_have_commas() {
    let comma =
        |transpose| ReadOptions { decimal: Some(Decimal::Comma), transpose, ..ReadOptions::default() };
    let expected = vec![words("a", &["1.234", "", "7"]), number("b", &[1.0, 2.0, 3.0])];
    assert_eq!(with(comma(false), "a;b\n1.234;1\nNA;2\n7;3\n").unwrap(), expected);
    let transposed = with(comma(true), "g;s1;s2\na;1.234;7\n").unwrap();
    assert_eq!(transposed[1], words("a", &["1.234", "7"]));
}
