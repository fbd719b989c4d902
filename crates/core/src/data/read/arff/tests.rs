//! ARFF files by hand, and what is said about wrong ones.

use super::*;
use crate::data::rows::Rows;
use crate::data::table::Values;
use ndarray::array;

fn columns(text: &str) -> Vec<Column> {
    match read(text, 1 << 30, None).unwrap() {
        Table::Columns(columns) => columns,
        Table::Sparse { .. } => panic!("columns expected"),
    }
}

fn message(text: &str) -> String {
    read(text, 1 << 30, None).unwrap_err().to_string()
}

fn levels_of(column: &Column) -> (&[u32], &[String]) {
    match &column.values {
        Values::Text { codes, levels } => (codes, levels),
        _ => panic!("text expected"),
    }
}

const HEADER: &str = "% a comment\n@RELATION demo\n\n@attribute 'sepal length' REAL\n\
                      @Attribute note string\n@attribute size {small, 'very large',medium} % sizes\n@DATA\n";

#[test]
fn dense_rows() {
    let read = columns(&format!(
        "{HEADER}1.5, 'a, b', medium\n% between\n\n?,?,?\r\n-2,plain, 'very large' % end\n"
    ));
    assert_eq!(read[0].name, "sepal length");
    assert_eq!(read[1], Column::text("note", [Some("a, b"), None, Some("plain")].into_iter()));
    assert_eq!(
        levels_of(&read[2]),
        (&[1, MISSING, 0][..], &["very large".to_owned(), "medium".to_owned()][..])
    );
    let Values::Numeric(numbers) = &read[0].values else { panic!("numbers expected") };
    assert!(numbers[0] == 1.5 && numbers[1].is_nan() && numbers[2] == -2.0);
}

#[test]
fn tabs_may_separate_values() {
    let read = columns("@attribute a numeric\n@attribute b{x,y}\n@data\n1\ty\n2 \t x\n");
    assert_eq!(read[0], Column::numeric("a", vec![1.0, 2.0]));
    assert_eq!(levels_of(&read[1]).0, [1, 0]);
}

#[test]
fn sparse_rows_with_a_class_stay_sparse() {
    let text = "@attribute a numeric\n@attribute b numeric\n@attribute class {no,yes}\n@data\n{1 2.5, 2 yes}\n{}\n{0 -1}\n{ 0 0,2 ? }\n";
    let Table::Sparse { names, x, target } = read(text, 1 << 30, None).unwrap() else {
        panic!("sparse expected")
    };
    assert_eq!(names, ["a", "b"]);
    assert_eq!(x.n_stored(), 2);
    assert_eq!(Rows::Sparse(x).to_dense(), array![[0.0, 2.5], [0.0, 0.0], [-1.0, 0.0], [0.0, 0.0]]);
    let target = target.unwrap();
    assert_eq!(target.name, "class");
    assert_eq!(levels_of(&target), (&[1, 0, 0, MISSING][..], &["no".to_owned(), "yes".to_owned()][..]));
}

#[test]
fn other_sparse_rows_become_dense_columns() {
    let text = "@attribute a {x,y}\n@attribute s string\n@attribute b numeric\n@data\n{2 7}\n{0 y, 1 'w'}\n";
    let read = columns(text);
    assert_eq!(levels_of(&read[0]).0, [0, 1]);
    assert_eq!(read[1], Column::text("s", [None, Some("w")].into_iter()));
    assert_eq!(read[2], Column::numeric("b", vec![7.0, 0.0]));
}

#[test]
fn wrong_headers_are_explained() {
    assert_eq!(message("hello\n"), "line 1: expected @relation, @attribute or @data, found 'hello'");
    assert_eq!(message("@relation x\n@data\n1\n"), "line 2: @data comes before any @attribute");
    assert_eq!(message("@relation x\n@attribute a real\n"), "no @data line; is this an ARFF file?");
    assert_eq!(message("@attribute a real\n@data\n% none\n"), "the file has a header but no rows");
    assert_eq!(message("@attribute a\n"), "line 1: attribute 'a' has no type");
    assert_eq!(message("@attribute\n"), "line 1: an @attribute without a name");
    assert_eq!(message("@attribute a complex\n"), "line 1: attribute 'a' has the unknown type 'complex'");
    assert_eq!(
        message("@attribute when DATE 'yyyy-MM-dd'\n"),
        "line 1: attribute 'when' has the type date, which is not supported; remove it or make it numeric"
    );
    assert_eq!(
        message("@attribute bag relational\n"),
        "line 1: attribute 'bag' has the type relational, which is not supported; remove it or make it numeric"
    );
    assert_eq!(
        message("@attribute a {x,y\n"),
        "line 1: attribute 'a': the list of values is not closed with '}'"
    );
    assert_eq!(message("@attribute 'a real\n"), "line 1: a quote (') is never closed");
    assert_eq!(
        message("@attribute a real\n@attribute a real\n@data\n1,2\n"),
        "column 1 and column 2 are both named 'a'; rename one"
    );
}

#[test]
fn wrong_rows_are_explained() {
    let with = |row: &str| message(&format!("{HEADER}1,a,small\n{row}\n"));
    assert_eq!(
        with("x,a,small"),
        "line 9: attribute 'sepal length' is numeric: cannot parse 'x' as a number"
    );
    assert_eq!(with("1,a,huge"), "line 9: attribute 'size': 'huge' is not among its declared values");
    assert_eq!(with("1,a"), "line 9: expected 3 values, found 2");
    assert_eq!(with("1,a,small,4"), "line 9: expected 3 values, found 4");
    assert_eq!(with("1,'a"), "line 9: a quote (') is never closed");
    assert_eq!(
        with("1,'a'b,small"),
        "line 9: unexpected text after a quoted value; separate values by commas"
    );
    assert_eq!(with("{0 1}"), "line 9: this row is in braces, but the rows before it are not");
    let long = "z".repeat(300);
    assert_eq!(
        with(&format!("1,a,{long}")),
        format!("line 9: attribute 'size': '{}...' is not among its declared values", &long[..37])
    );
}

#[test]
fn wrong_sparse_rows_are_explained() {
    let with =
        |row: &str| message(&format!("@attribute a real\n@attribute c {{n,y}}\n@data\n{{0 1}}\n{row}\n"));
    assert_eq!(with("1,n"), "line 5: this row is not in braces, but the rows before it are");
    assert_eq!(with("{2 n}"), "line 5: '2' is not an attribute index (0 to 1)");
    assert_eq!(with("{1 n, 0 3}"), "line 5: attribute 0: indices must increase within a row");
    assert_eq!(with("{0 1"), "line 5: the row is not closed with '}'");
    assert_eq!(with("{0 1} 5"), "line 5: unexpected text after '}'");
    assert_eq!(with("{1 x}"), "line 5: attribute 'c': 'x' is not among its declared values");
}

#[test]
fn sparse_rows_over_the_memory_limit_are_refused() {
    let text = "@relation r\n@attribute a string\n@attribute b numeric\n@data\n{1 2}\n{1 3}\n{1 4}\n";
    // Three numbers of eight bytes and three codes of four.
    assert!(read(text, 36, None).is_ok());
    let message = read(text, 35, None).unwrap_err().to_string();
    assert!(
        message.starts_with("the table in this file needs about 36 B of memory, the limit is 35 B; make")
    );
}

#[test]
fn integers_that_a_number_cannot_hold_are_text() {
    let read = columns(
        "@attribute id numeric\n@attribute x real\n@data\n9007199254740993,1.0\n9007199254740992,2\n?,03\n",
    );
    assert_eq!(
        read[0],
        Column::text("id", [Some("9007199254740993"), Some("9007199254740992"), None].into_iter())
    );
    assert_eq!(read[1], Column::numeric("x", vec![1.0, 2.0, 3.0]));
}
