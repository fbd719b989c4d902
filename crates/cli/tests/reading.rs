//! Input files: standard input, formats, separators, transposed tables, labels in a second file.

use crate::scratch::{Run, Scratch};
use std::io::Write;
use std::process::Stdio;

/// Runs a line with a text as standard input.
fn with_input(s: &Scratch, line: &str, input: &[u8]) -> Run {
    let mut command = s.command(line);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    Run::from(child.wait_with_output().unwrap())
}

const CSV: &str = "a,b,class\n1,5,x\n2,4,x\n3,6,y\n4,5,y\n";

#[test]
fn standard_input() {
    let s = Scratch::new();
    s.file("t.csv", CSV);
    let expected = s.ok("select t.csv -k 1").out.replace("t.csv", "-");
    let run = with_input(&s, "select - -k 1", CSV.as_bytes());
    assert_eq!((run.code, run.out), (0, expected.clone()), "{}", run.err);
    let tsv = CSV.replace(',', "\t");
    assert_eq!(with_input(&s, "select - -k 1", tsv.as_bytes()).out, expected);
    assert_eq!(with_input(&s, "select - -k 1 --format tsv", tsv.as_bytes()).out, expected);
    let run = with_input(&s, "select -", b"a,b,class\n1,2\n");
    assert_eq!(
        (run.code, run.err.as_str()),
        (2, "error: standard input: line 2: expected 3 fields, found 2\n")
    );
}

#[test]
fn formats_and_separators() {
    let s = Scratch::new();
    s.file("t.csv", CSV)
        .file("t.data", CSV.replace(',', ":"))
        .file("c.txt", CSV.replace(',', "|").replace("2|4", "%\n2|4"));
    let expected = s.ok("select t.csv -k 1").out;
    let same = |line: &str, name: &str| assert_eq!(s.ok(line).out.replace(name, "t.csv"), expected, "{line}");
    same("select t.data -k 1 --format csv --sep :", "t.data");
    same("select c.txt -k 1 --comment %", "c.txt");
    assert!(s.error("select t.data").ends_with("for other names, pass --format"));
    assert_eq!(s.error("select t.csv --sheet x"), "t.csv: a sheet applies only to Excel files");
    assert_eq!(
        s.error("select builtin:wine --transpose"),
        "--transpose has no effect on built-in data; leave it out"
    );
}

#[test]
fn further_missing_values() {
    let s = Scratch::new();
    s.file("t.csv", CSV.replace("2,4", "-999,none"));
    let run = s.ok("select t.csv -k 1 --na-values -999,none --missing drop");
    assert!(run.err.contains("dropped 1 of 4 rows"), "{}", run.err);
}

#[test]
fn transposed_tables_and_labels() {
    let s = Scratch::new();
    s.file("genes.csv", "gene,s1,s2,s3,s4\na,1,2,3,4\nb,5,4,6,5\n");
    s.file("labels.csv", "id,class\ns4,y\ns3,y\ns2,x\ns1,x\ns9,x\n");
    let line = "select genes.csv --transpose --labels labels.csv -k 1";
    let run = s.ok(line);
    assert!(run.out.contains("target 'class' with 2 classes"), "{}", run.out);
    assert!(
        run.err.contains("labels.csv: ignored the labels of the id 's9', not in the table"),
        "{}",
        run.err
    );
    assert!(s.error(&format!("{line} --out labels.csv")).contains("would write over labels.csv"));
    s.file("labels.csv", "id,class\ns4,y\ns3,y\n");
    assert_eq!(
        s.error(line),
        "labels.csv: no label for 2 ids: 's1', 's2'; the ids of the table are in the column 'sample'. Add the \
         labels, or remove the rows"
    );
}

#[test]
fn parquet_and_zstd_output() {
    let s = Scratch::new();
    s.file("t.csv", CSV);
    s.ok("select t.csv -k 1 --out a.parquet");
    s.ok("select t.csv -k 1 --out a.csv.zst");
    let expected = s.ok("select a.csv.zst -k 1").out.replace("a.csv.zst", "a.parquet");
    assert_eq!(s.ok("select a.parquet -k 1").out, expected);
}

#[test]
fn the_id_column_of_labels_is_chosen() {
    let s = Scratch::new();
    let rows: String = (0..20).map(|i| format!("{},{},t{}\n", 100 + i, i % 7, i % 4)).collect();
    s.file("table.csv", format!("nr,size,tag\n{rows}"));
    let labels: String = (0..20).rev().map(|i| format!("{},{}\n", ["x", "y"][i % 2], 100 + i)).collect();
    s.file("labels.csv", format!("class,nr\n{labels}"));
    let line = "select table.csv -k 1 --out kept.csv --labels labels.csv";
    let run = s.ok(&format!("{line} --id nr"));
    assert!(run.err.contains("skipped: 'nr' (identifier, as chosen)"), "{}", run.err);
    assert!(s.text("kept.csv").lines().nth(2).unwrap().ends_with(",y"), "{}", s.text("kept.csv"));
    s.ok("select table.csv -k 1 --labels labels.csv --id nr --save model.ks");
    s.ok("apply model.ks table.csv --labels labels.csv --id nr --out applied.csv");
    assert_eq!(s.text("applied.csv"), s.text("kept.csv"));
    assert_eq!(s.run("apply model.ks table.csv --id nr").code, 2, "--id needs --labels");
    std::fs::remove_file(s.path("kept.csv")).unwrap();
    let error = s.error(line);
    assert!(error.ends_with("Name the id column, which both files need, with --id"), "{error}");
    for (id, message) in [
        ("size", "the table has the id column 'size', but the labels have 'class' and 'nr'"),
        ("class", "the labels have a column 'class', but the table does not"),
        ("key", "neither the table nor the labels have a column 'key'"),
    ] {
        let error = s.error(&format!("{line} --id {id}"));
        assert!(error.starts_with(&format!("labels.csv: {message}; ")), "{error}");
    }
}

#[test]
fn new_rows_have_the_decimal_separator_of_the_model() {
    let s = Scratch::new();
    let rows: String =
        (0..20).map(|i| format!("{}.{:03},5;{}\n", 1 + i % 3, i * 7, ["x", "y"][i % 2])).collect();
    s.file("train.csv", format!("amount;class\n{rows}"));
    s.ok("basis train.csv --scale none -k 1 --set kernel=linear --save model.ks");
    // 1234 in the table of the model; without it, a decimal point.
    s.file("point.csv", "amount;class\n1.234;x\n2.500;y\n");
    s.file("plain.csv", "amount;class\n1234;x\n2500;y\n");
    s.ok("apply model.ks point.csv --out point_out.csv");
    s.ok("apply model.ks plain.csv --out plain_out.csv");
    assert_eq!(s.text("point_out.csv"), s.text("plain_out.csv"));
}

#[test]
fn a_kernel_from_a_file_reads_columns_as_in_training() {
    let s = Scratch::new();
    let rows = |range: std::ops::Range<usize>, zips: &[&str]| -> String {
        range
            .map(|i| format!("{},{},{}\n", i * i % 11, zips[i % zips.len()], ["x", "y", "y"][i % 3]))
            .collect()
    };
    s.file("train.csv", format!("size,zip,class\n{}", rows(0..40, &["10", "20", "30"])));
    s.ok("design train.csv --type zip=category --hold-out 0 --save kernel.ks");
    // Numbers again, of which one is new; another order and a column more.
    s.file("new.csv", format!("size,zip,class\n{}", rows(0..30, &["10", "20", "99"])));
    let run = s.ok("basis new.csv --kernel-file kernel.ks --report page.html");
    assert!(run.err.contains("new.csv: column 'zip': 10 rows have categories"), "{}", run.err);
    assert!(s.text("page.html").contains("<dt>Features</dt><dd>1 number, 1 category</dd>"));
    let error = s.error("basis new.csv --kernel-file kernel.ks --exclude zip");
    assert!(error.contains("--exclude has no effect with --kernel-file"), "{error}");
}
