//! Workbooks built by hand from their XML parts.

use super::*;
use crate::data::table::MISSING;
use std::io::Write;

const LIMIT: u64 = 1 << 28;

const TYPES: &str = r#"<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/></Types>"#;
const RELS: &str = r#"<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>"#;
const BOOK_RELS: &str = r#"<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet2.xml"/></Relationships>"#;
const STYLES: &str = r#"<?xml version="1.0"?><styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>"#;

/// A workbook with the sheets `data` and, if there are two, `more`.
fn workbook(sheets: &[&str], date_1904: bool) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(vec![]));
    let mut put = |name: &str, text: &str| {
        writer.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(text.as_bytes()).unwrap();
    };
    let names = ["data", "more"];
    let list: String = (1..=sheets.len())
        .map(|n| format!(r#"<sheet name="{}" sheetId="{n}" r:id="rId{n}"/>"#, names[n - 1]))
        .collect();
    let book = format!(
        r#"<?xml version="1.0"?><workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><workbookPr date1904="{date_1904}"/><sheets>{list}</sheets></workbook>"#
    );
    put("[Content_Types].xml", TYPES);
    put("_rels/.rels", RELS);
    put("xl/workbook.xml", &book);
    put("xl/_rels/workbook.xml.rels", BOOK_RELS);
    put("xl/styles.xml", STYLES);
    put(
        "xl/sharedStrings.xml",
        r#"<?xml version="1.0"?><sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" count="2" uniqueCount="2"><si><t>red</t></si><si><t> 00501 </t></si></sst>"#,
    );
    for (n, rows) in (1..).zip(sheets) {
        let sheet = format!(
            r#"<?xml version="1.0"?><worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>{rows}</sheetData></worksheet>"#
        );
        put(&format!("xl/worksheets/sheet{n}.xml"), &sheet);
    }
    writer.finish().unwrap().into_inner()
}

/// A row of cells; text in quotes, `@n` is a shared string, `#n` a date, `true` a logical value, `!` an error.
fn row(number: usize, cells: &[&str]) -> String {
    let cell = |(j, text): (usize, &&str)| {
        let at = format!("{}{number}", (b'A' + j as u8) as char);
        if text.is_empty() {
            return String::new();
        }
        match text.split_at(1) {
            ("'", text) => format!(r#"<c r="{at}" t="inlineStr"><is><t>{text}</t></is></c>"#),
            ("@", index) => format!(r#"<c r="{at}" t="s"><v>{index}</v></c>"#),
            ("#", serial) => format!(r#"<c r="{at}" s="1"><v>{serial}</v></c>"#),
            ("t", _) => format!(r#"<c r="{at}" t="b"><v>1</v></c>"#),
            ("f", _) => format!(r#"<c r="{at}" t="b"><v>0</v></c>"#),
            ("!", _) => format!(r##"<c r="{at}" t="e"><v>#DIV/0!</v></c>"##),
            _ => format!(r#"<c r="{at}"><v>{text}</v></c>"#),
        }
    };
    let cells: String = cells.iter().enumerate().map(cell).collect();
    format!(r#"<row r="{number}">{cells}</row>"#)
}

fn rows(rows: &[&[&str]]) -> String {
    (1..).zip(rows).map(|(number, cells)| row(number, cells)).collect()
}

pub(in crate::data::read) fn example() -> Vec<u8> {
    let sheet = rows(&[
        &[],
        &["'n", "'color", "'day", "'ok", "", "'zip"],
        &["1", "@0", "#44197", "true", "", "@1"],
        &[],
        &["2.5", "'blue", "#44197.5", "false", "", "501"],
        &["!", "'NA", "", "", "", "'x"],
    ]);
    workbook(&[&sheet, &rows(&[&["'a"], &["7"]])], false)
}

fn read_with(bytes: &[u8], options: &ReadOptions) -> Result<(Vec<Column>, Vec<String>)> {
    let mut warnings = vec![];
    match read(bytes, LIMIT, options, &mut warnings, &Context::default())? {
        Table::Columns(columns) => Ok((columns, warnings)),
        Table::Sparse { .. } => panic!("columns expected"),
    }
}

fn dates(name: &str, days: &[f64]) -> Column {
    Column { name: name.into(), values: Values::Date(days.to_vec()) }
}

#[test]
fn types_of_columns() {
    let (columns, warnings) = read_with(&example(), &ReadOptions::default()).unwrap();
    let expected = vec![
        Column::numeric("n", vec![1.0, 2.5, f64::NAN]),
        Column::text("color", [Some("red"), Some("blue"), None].into_iter()),
        // 2021-01-01 is day 18,628.
        dates("day", &[18_628.0, 18_628.5, f64::NAN]),
        Column::text("ok", [Some("true"), Some("false"), None].into_iter()),
        Column::text("zip", [Some("00501"), Some("501"), Some("x")].into_iter()),
    ];
    assert_eq!(format!("{columns:?}"), format!("{expected:?}"));
    assert_eq!(
        warnings,
        ["read 'data', the first of 2 sheets", "read 1 cells with errors such as #DIV/0! as missing values"]
    );
}

#[test]
fn sheets_by_name() {
    let sheet = |name: &str| ReadOptions { sheet: Some(name.into()), ..ReadOptions::default() };
    let (columns, warnings) = read_with(&example(), &sheet("more")).unwrap();
    assert_eq!((columns, warnings), (vec![Column::numeric("a", vec![7.0])], vec![]));
    let message = read_with(&example(), &sheet("mor")).unwrap_err().to_string();
    assert!(message.contains("sheet 'mor'") && message.contains("more"), "{message}");
}

#[test]
fn headers_and_transposed_sheets() {
    let sheet = rows(&[&["'gene", "'s1", "7"], &["'g1", "1", "2"], &["'kind", "'a", "'b"]]);
    let bytes = workbook(&[&sheet], false);
    let options = ReadOptions { transpose: true, ..ReadOptions::default() };
    let expected = vec![
        Column::text("sample", [Some("s1"), Some("7")].into_iter()),
        Column::numeric("g1", vec![1.0, 2.0]),
        Column::text("kind", [Some("a"), Some("b")].into_iter()),
    ];
    assert_eq!(read_with(&bytes, &options).unwrap().0, expected);
    let options = ReadOptions { header: false, na_values: vec!["s1".into()], ..ReadOptions::default() };
    let (columns, _) = read_with(&bytes, &options).unwrap();
    let Values::Text { codes, .. } = &columns[1].values else { panic!("text expected") };
    assert_eq!((columns[0].name.as_str(), codes[0]), ("c1", MISSING));
    let unnamed = workbook(&[&rows(&[&["'a", ""], &["1", "2"]])], false);
    assert_eq!(read_with(&unnamed, &ReadOptions::default()).unwrap().0[1].name, "unnamed_2");
}

#[test]
fn both_calendars() {
    assert_eq!((days(1.0, EPOCH_1900), days(59.0, EPOCH_1900)), (-25_567.0, -25_509.0));
    // 1900-03-01 follows 1900-02-28, but has the number 61.
    assert_eq!(days(61.0, EPOCH_1900), -25_508.0);
    let sheet = rows(&[&["'day"], &["#0"]]);
    let (columns, _) = read_with(&workbook(&[&sheet], true), &ReadOptions::default()).unwrap();
    assert_eq!(columns, [dates("day", &[date::days(1904, 1, 1).unwrap() as f64])]);
}

#[test]
fn wrong_files_are_explained() {
    let message = |bytes: &[u8]| read_with(bytes, &ReadOptions::default()).unwrap_err().to_string();
    let start = "not an Excel file (.xlsx), or a damaged one (";
    assert!(message(b"a,b\n1,2\n").starts_with(start));
    let complete = example();
    for end in (0..complete.len()).step_by(41) {
        assert!(message(&complete[..end]).starts_with(start), "{end}");
    }
    assert_eq!(message(&workbook(&[""], false)), "the sheet is empty");
    assert_eq!(message(&workbook(&[&rows(&[&["'a"]])], false)), "the sheet has a header but no rows");
    let twice = rows(&[&["'a", "'a"], &["1", "2"]]);
    let (columns, warnings) = read_with(&workbook(&[&twice], false), &ReadOptions::default()).unwrap();
    assert_eq!(
        (columns[1].name.as_str(), warnings[0].as_str()),
        ("a.1", "column 1 and column 2 are both named 'a'; the second one is called 'a.1' here")
    );
}

#[test]
fn memory_is_limited() {
    // Two far corners of a sheet are a table of two rows; many of them are large.
    let far =
        r#"<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c></row>"#;
    let (columns, _) =
        read_with(&workbook(&[far], false), &ReadOptions { header: false, ..ReadOptions::default() })
            .unwrap();
    assert_eq!((columns.len(), columns[0].len()), (2, 2));
    let bytes = workbook(&[&" ".repeat(3000)], false);
    let error = read(&bytes, 2048, &ReadOptions::default(), &mut vec![], &Context::default()).unwrap_err();
    assert!(error.to_string().starts_with("decompresses to more than"), "{error}");
}
