//! Bad input gets a message that names file, row, column and what to do; exit 2; nothing half-written.

mod scratch;

use scratch::Scratch;

const GOOD: &str = "a,b,class\n1,2,x\n3,5,y\n2,2,x\n4,7,y\n5,8,y\n0,1,x\n";

#[test]
fn cells_that_are_not_numbers() {
    let s = Scratch::new();
    s.file("gap.csv", "a,b,class\n1,2,x\n3,,y\n");
    assert_eq!(
        s.error("select gap.csv"),
        "gap.csv: row 2, column 'b': missing value; choose what to do with it: --missing drop, mean or median"
    );
    s.file("nan.csv", "a,b,class\n1,NaN,x\n3,4,y\n");
    assert!(s.error("basis nan.csv").starts_with("nan.csv: row 1, column 'b': missing value"));
    s.file("inf.csv", "a,b,class\n1,2,x\n3,inf,y\n");
    assert_eq!(
        s.error("basis inf.csv"),
        "inf.csv: row 2, column 'b': inf is not a finite number; remove the row or replace the value"
    );
    s.file("text.csv", "a,b,class\n1,2,x\n3,four,y\n");
    assert_eq!(
        s.error("select text.csv"),
        "text.csv: row 2, column 'b': 'four' is not a number; mend the cell, or encode text columns with \
         --categorical onehot or ordinal"
    );
    s.file("target.csv", "a,b,y\n1,2,\n3,4,1\n");
    assert_eq!(
        s.error("select target.csv --missing mean"),
        "target.csv: row 1, column 'y': missing value, and the target is not made up; use --missing drop to leave \
         such rows out"
    );
}

#[test]
fn files_that_are_not_tables() {
    let s = Scratch::new();
    s.file("empty.csv", "").file("header.csv", "a,b,class\n").file("ragged.csv", "a,b,class\n1,2,x\n1,2\n");
    s.file("latin.csv", b"a,b,class\n1,2,caf\xe9\n")
        .file("notes.docx", "hello")
        .file("twice.csv", "a,a,y\n1,2,3\n");
    s.file("broken.csv.gz", b"\x1f\x8b\x08\x00")
        .file("broken.parquet", "PAR1 and more")
        .file("bad.npy", "nothing");
    std::fs::create_dir(s.path("folder.csv")).unwrap();
    for (file, expected) in [
        ("empty.csv", "the file is empty"),
        ("header.csv", "no rows"),
        ("ragged.csv", "line 3"),
        ("latin.csv", "UTF-8"),
        ("folder.csv", "is a directory"),
        ("absent.csv", "no such file"),
        ("notes.docx", ".csv"),
        ("twice.csv", "column name 'a' stands for both column 1 and column 2; rename one"),
        ("broken.csv.gz", "gzip"),
        ("broken.parquet", ""),
        ("bad.npy", ""),
    ] {
        let message = s.error(&format!("basis {file}"));
        assert!(message.starts_with(&format!("{file}: ")), "{message}");
        assert!(message.contains(expected), "{file}: {message}");
    }
    let message = s.error("basis ragged.csv");
    assert!(
        message.contains('3') && message.contains('2'),
        "it says how many were expected and found: {message}"
    );
}

#[test]
fn names_that_do_not_exist() {
    let s = Scratch::new();
    s.file("good.csv", GOOD);
    assert_eq!(s.error("select good.csv --target clas"), "good.csv: no column 'clas'; did you mean 'class'?");
    assert_eq!(s.error("select good.csv -m fischer"), "no selector 'fischer'; did you mean 'fisher'?");
    assert_eq!(s.error("basis good.csv -m kpcaa"), "no basis 'kpcaa'; did you mean 'kpca'?");
    assert_eq!(s.error("basis builtin:wime"), "no built-in data set 'wime'; did you mean 'wine'?");
    assert!(s.error("data make star").starts_with("no pattern 'star'; there are linear, ring, xor"));
    assert!(s.error("data export vine").contains("did you mean 'wine'?"));
}

#[test]
fn data_that_cannot_carry_the_method() {
    let s = Scratch::new();
    s.file("one_class.csv", "a,b,class\n1,2,x\n3,4,x\n").file("one_row.csv", "a,b,class\n1,2,x\n");
    s.file("same.csv", "a,b,class\n1,2,x\n1,2,y\n1,2,x\n")
        .file("alone.csv", "class\nx\ny\n")
        .file("good.csv", GOOD);
    assert_eq!(
        s.error("select one_class.csv"),
        "Fisher score: all rows have the class 'x'; two or more classes are needed (is the target column right?)"
    );
    assert!(s.error("basis one_class.csv -m kda").starts_with("KDA: all rows have the class 'x'"));
    assert!(s.error("select one_row.csv").contains("all rows have the class 'x'"));
    assert!(s.error("basis same.csv").contains("all rows are equal"));
    assert!(s.error("basis same.csv --kernel linear").contains("there is nothing to span"));
    assert!(s.error("basis same.csv -m kpca --gamma 1").contains("no direction to find"));
    assert_eq!(
        s.error("basis alone.csv"),
        "alone.csv: no feature columns: the table has nothing besides the target"
    );
    assert_eq!(
        s.error("select good.csv --target none --categorical ordinal"),
        "Fisher score: needs a class target, but there is no target; name one with --target, or use --target-type class"
    );
    assert!(
        s.error("select good.csv --target b --target-type number --categorical onehot")
            .contains("the target is a number")
    );
    assert_eq!(
        s.error("basis good.csv -k 7"),
        "KOBL: parameter 'n_components' must be from 1 to the number of rows, 6, got 7"
    );
    assert!(s.error("basis good.csv -m kda -k 2").contains("one fewer than the 2 classes"));
    assert!(s.error("select good.csv -k 3").contains("from 1 to the number of columns, 2, got 3"));
    assert!(s.error("basis good.csv --width-for-dim 9").contains("from 1 to the number of rows, 6, got 9"));
    assert!(
        s.error("basis builtin:wine -m kpca --memory-limit 100kb")
            .contains("the limit is 97.7 KiB; use KOBL")
    );
    assert!(s.error("basis builtin:wine --memory-limit 10kb").contains("ask for fewer components"));
}

#[test]
fn options_that_would_do_nothing() {
    let s = Scratch::new();
    for (line, expected) in [
        ("basis builtin:wine -m kpca --threshold 2", "--threshold has no effect with -m kpca"),
        ("basis builtin:wine -m kgs --pivoting random", "--pivoting has no effect with -m kgs"),
        ("basis builtin:wine -m kda --width-for-dim 3", "--width-for-dim has no effect with -m kda"),
        ("basis builtin:wine --no-center", "--no-center has no effect with -m kobl"),
        ("basis builtin:wine --ridge 0.1", "--ridge has no effect with -m kobl"),
        ("basis builtin:wine --degree 2", "--degree has no effect with --kernel rbf"),
        ("basis builtin:wine --kernel linear --gamma 2", "--gamma has no effect with --kernel linear"),
        (
            "basis builtin:wine --kernel laplacian --width-for-dim 9",
            "--width-for-dim has no effect with --kernel laplacian",
        ),
    ] {
        assert!(s.error(line).starts_with(expected), "{line}");
    }
}

#[test]
fn what_the_parser_refuses() {
    let s = Scratch::new();
    for line in [
        "basis builtin:wine --gamma -1",
        "basis builtin:wine --threshold 0",
        "select builtin:wine -k 1.5",
        "select builtin:wine --threads 0",
        "select builtin:wine --memory-limit lots",
        "select builtin:wine --missing guess",
        "frobnicate",
        "basis",
    ] {
        let run = s.run(line);
        assert_eq!(run.code, 2, "{line}\n{}", run.err);
        assert!(run.err.contains("error:") && run.out.is_empty(), "{line}\n{}", run.err);
    }
    let run = s.run("basis builtin:wine --gamma -1");
    assert!(run.err.contains("median, scale or a positive number is expected"), "{}", run.err);
}

#[test]
fn models_that_cannot_be_trusted() {
    let s = Scratch::new();
    s.ok("select builtin:wine -k 2 --save wine.ks");
    let bytes = std::fs::read(s.path("wine.ks")).unwrap();
    let mut altered = bytes.clone();
    altered[bytes.len() / 2] ^= 1;
    let mut newer = bytes.clone();
    newer[8] = 2;
    s.file("cut.ks", &bytes[..bytes.len() - 9]).file("altered.ks", altered).file("newer.ks", newer);
    s.file("text.ks", "not a model").file("other.csv", "x,y\n1,2\n");
    for (line, expected) in [
        ("apply cut.ks builtin:wine", "cut.ks: not a usable kernsift model: it is cut off"),
        ("apply altered.ks builtin:wine", "altered.ks: not a usable kernsift model: its checksum is wrong"),
        ("apply newer.ks builtin:wine", "newer.ks: not a usable kernsift model: its format is version 2"),
        ("apply text.ks builtin:wine", "text.ks: not a usable kernsift model: it does not begin like one"),
        ("apply absent.ks builtin:wine", "absent.ks: no such file"),
        ("apply wine.ks other.csv", "other.csv: no column 'flavanoids'; there are x, y"),
    ] {
        let message = s.error(line);
        assert!(message.starts_with(expected), "{line}: {message}");
    }
}

#[test]
fn output_that_cannot_be_written() {
    let s = Scratch::new();
    std::fs::create_dir(s.path("folder.csv")).unwrap();
    assert!(s.error("select builtin:wine --out absent/reduced.csv").starts_with("absent/reduced.csv: "));
    assert!(s.error("select builtin:wine --out folder.csv").starts_with("folder.csv: "));
    assert!(s.error("select builtin:wine --out reduced.xlsx").contains(".csv, .tsv"));
    assert!(s.error("basis builtin:wine --save absent/wine.ks").starts_with("absent/wine.ks: "));
}

#[test]
fn an_old_file_survives_a_failed_run() {
    let s = Scratch::new();
    s.file("out.csv", "precious").file("gap.csv", "a,class\n1,x\n,y\n");
    s.error("select gap.csv --out out.csv");
    assert_eq!(s.text("out.csv"), "precious");
}
