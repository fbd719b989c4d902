//! Invalid input: messages name file, row, column and a remedy; the exit code is 2; no partial file remains.

use crate::scratch::Scratch;
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

const GOOD: &str = "a,b,class\n1,2,x\n3,5,y\n2,2,x\n4,7,y\n5,8,y\n0,1,x\n";

#[test]
fn cells_that_are_not_numbers() {
    let s = Scratch::new();
    s.file("missing.csv", "a,b,class\n1,2,x\n3,,y\n");
    assert_eq!(
        s.error("select missing.csv --missing error"),
        "missing.csv: row 2, column 'b': missing value. Choose how to handle missing values: --missing auto, drop, mean or median."
    );
    s.file("nan.csv", "a,b,class\n1,NaN,x\n3,4,y\n");
    assert!(
        s.error("basis nan.csv --missing error").starts_with("nan.csv: row 1, column 'b': missing value")
    );
    s.file("inf.csv", "a,b,class\n1,2,x\n3,inf,y\n");
    assert!(s.ok("inspect inf.csv").err.contains("column 'b' holds numbers, except 'inf' (row 2)"));
    s.file("text.csv", "a,b,class\n1,2,x\n3,four,y\n");
    assert_eq!(
        s.error("select text.csv --type b=number"),
        "text.csv: row 2, column 'b': cannot parse 'four' as a number. Correct the value, or choose another type with --type."
    );
    s.file("target.csv", "a,b,y\n1,2,\n3,4,1\n");
    assert!(
        s.error("select target.csv --missing error")
            .starts_with("target.csv: row 1, column 'y': missing value")
    );
    s.file("target.csv", "a,b,y\n1,2,\n3,4,\n");
    assert_eq!(s.error("select target.csv"), "target.csv: every value of the target 'y' is missing");
}

#[test]
fn files_that_are_not_tables() {
    let s = Scratch::new();
    s.file("empty.csv", "").file("header.csv", "a,b,class\n").file("ragged.csv", "a,b,class\n1,2,x\n1,2\n");
    s.file("latin.csv", b"a,b,class\n1,2,caf\xe9\n").file("notes.docx", "hello");
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
        "the expected and actual numbers are named: {message}"
    );
}

#[test]
fn names_that_do_not_exist() {
    let s = Scratch::new();
    s.file("good.csv", GOOD);
    assert_eq!(s.error("select good.csv --target clas"), "good.csv: no column 'clas'; did you mean 'class'?");
    assert_eq!(s.error("select good.csv -m fischer"), "no method 'fischer'; did you mean 'fisher'?");
    assert_eq!(s.error("select good.csv -m tkaes"), "no method 'tkaes'; did you mean 'takes'?");
    assert_eq!(
        s.error("select good.csv -m magic"),
        "no method 'magic'; there are auto, fisher, ffs, relief, svm-rfe, l1-svm, information-gain, mutual-information and 14 more"
    );
    assert!(s.error("select good.csv -m kobl").starts_with("kobl is a basis; use `kernsift"));
    assert_eq!(s.error("basis good.csv -m kpcaa"), "no basis 'kpcaa'; did you mean 'kpca'?");
    assert_eq!(s.error("basis builtin:wime"), "no built-in data set 'wime'; did you mean 'wine'?");
    assert!(s.error("data make star").starts_with("no pattern 'star'; there are linear, ring, xor"));
    assert!(s.error("data export vine").contains("did you mean 'wine'?"));
}

#[test]
fn data_that_a_method_cannot_use() {
    let s = Scratch::new();
    s.file("one_class.csv", "a,b,class\n1,2,x\n3,4,x\n").file("one_row.csv", "a,b,class\n1,2,x\n");
    s.file("same.csv", "a,b,class\n1,2,x\n1,2,y\n1,2,x\n")
        .file("alone.csv", "class\nx\ny\n")
        .file("good.csv", GOOD);
    assert_eq!(
        s.error("select one_class.csv"),
        "automatic selector: all rows have the class 'x'; at least two classes are required (is the target column correct?)"
    );
    assert!(s.error("basis one_class.csv -m kda").starts_with("KDA: all rows have the class 'x'"));
    assert!(s.error("select one_row.csv").contains("all rows have the class 'x'"));
    assert!(s.error("basis same.csv").contains("no features; skipped: 'a' (constant)"));
    assert!(s.error("basis same.csv --include '*'").contains("all rows are equal"));
    assert!(s.error("basis same.csv --include '*' --set kernel=linear").contains("there is no basis"));
    assert!(
        s.error("basis same.csv --include '*' -m kpca --set gamma=1").contains("there are no components")
    );
    assert_eq!(
        s.error("basis alone.csv"),
        "alone.csv: no features: the table has no column besides the target"
    );
    assert_eq!(
        s.error("select good.csv -m ffs --target none --exclude class"),
        "FFS: needs a classification target, but there is no target. Name a target with --target, or pass --target-type class."
    );
    assert_eq!(
        s.error("select good.csv --target none --exclude class"),
        "automatic selector: needs a target, but there is none. Name a target with --target."
    );
    assert!(
        s.error("select good.csv -m ffs --target b --target-type number --exclude class")
            .contains("the target is continuous")
    );
    assert_eq!(s.error("basis good.csv -k 7"), "-k must be from 1 to the number of rows, 6, got 7");
    assert!(s.error("basis good.csv -m kda -k 2").contains("one fewer than the 2 classes"));
    assert!(s.error("select good.csv -k 3").contains("from 1 to the number of columns, 2, got 3"));
    assert!(
        s.error("basis good.csv --gamma-for-n-components 9")
            .contains("from 1 to the number of rows, 6, got 9")
    );
    assert!(
        s.error("basis builtin:wine -m kpca --memory-limit 1mb").contains("the limit is 976.6 KiB; use KOBL")
    );
    assert!(s.error("basis builtin:wine --memory-limit 1mb").contains("use fewer components"));
}

#[test]
fn data_that_kernel_space_selection_cannot_use() {
    let s = Scratch::new();
    s.file("one_class.csv", "a,b,class\n1,2,x\n3,4,x\n").file("good.csv", GOOD);
    s.file("alone.csv", "a,b,class\n1,2,p\n3,4,q\n5,7,r\n");
    for method in ["takes", "kgs-kffs", "fskgs", "fskpca"] {
        let error = |line: &str| s.error(&line.replace("METHOD", method));
        assert_eq!(
            error("select one_class.csv -m METHOD"),
            "kernel-space selection: all rows have the class 'x'; at least two classes are required (is the \
             target column correct?)"
        );
        assert_eq!(
            error("select alone.csv -m METHOD"),
            "kernel-space selection: each of the 3 classes has a single row (is the target column correct?)"
        );
        assert_eq!(
            error("select good.csv -m METHOD --target b --target-type number --exclude class"),
            "kernel-space selection: needs a classification target, but the target is continuous. Name a target with \
             --target, or pass --target-type class."
        );
        assert_eq!(
            error("select good.csv -m METHOD --set n_neighbors=7"),
            "kernel-space selection: parameter 'n_neighbors' must be from 1 to the number of training rows, 6, got 7"
        );
        assert!(
            error("select good.csv -m METHOD --set n_neighbors=0")
                .ends_with("parameter 'n_neighbors' must be an integer, at least 1, got '0'")
        );
        let message = error("select good.csv -m METHOD -k 7");
        assert!(message.starts_with("-k must be from 1 to the number of directions, "), "{message}");
        assert!(
            error("select good.csv -m METHOD --set n_components=7")
                .ends_with("parameter 'n_components' must be from 1 to the number of rows, 6, got 7")
        );
        assert!(error("select builtin:wine -m METHOD --memory-limit 10kb").contains("the limit is"));
    }
    assert_eq!(
        s.error("select good.csv -m fskgs --set selector.n_neighbors=3"),
        "Relief: parameter 'n_neighbors' must be from 1 to one fewer than the rows of the smallest class, 2, got 3"
    );
    for (name, value) in [("eta", "2"), ("learner_bandwidth", "0"), ("quantum", "-1"), ("tol", "-1")] {
        let message = s.error(&format!("select good.csv -m takes --set {name}={value}"));
        assert!(message.starts_with(&format!("takes: parameter '{name}' must be a number, ")), "{message}");
    }
    assert_eq!(
        s.error("select good.csv -m takes --set gamma_for_n_components=9"),
        "gamma_for_n_components: parameter 'n_components' must be from 1 to the number of rows, 6, got 9"
    );
}

#[test]
fn test_rows_that_cannot_be_evaluated() {
    let s = Scratch::new();
    s.file("good.csv", GOOD).file("plain.csv", "a,b\n1,2\n").file("narrow.csv", "a,class\n1,x\n");
    s.file("missing.csv", "a,b,class\n1,2,x\n3,5,\n").file("empty.csv", "a,b,class\n1,2,\n");
    let error = |options: &str| s.error(&format!("select good.csv -m takes --test {options}"));
    assert_eq!(error("plain.csv"), "plain.csv: no column 'class'; there are a, b");
    assert!(error("narrow.csv --out kept.csv").starts_with("narrow.csv: no column 'b'"));
    assert!(error("absent.csv").starts_with("absent.csv: no such file"));
    assert!(
        error("missing.csv --missing error")
            .starts_with("missing.csv: row 2, column 'class': missing value. Choose")
    );
    assert_eq!(error("empty.csv"), "empty.csv: every value of the target 'class' is missing");
    let run = s.ok("select good.csv -m takes --test missing.csv");
    assert!(run.err.contains("missing.csv: dropped 1 of 2 rows with missing values"), "{}", run.err);
    assert!(run.out.contains("of 1 rows of missing.csv"), "{}", run.out);
    s.file("new.csv", "a,b,class\n1,2,x\n3,5,z\n");
    let run = s.ok("select good.csv -m takes --test new.csv");
    assert!(run.err.contains("one class is not among the training rows, such as 'z'"), "{}", run.err);
    assert!(run.out.contains("50.00 %"), "{}", run.out);
    assert!(s.ok("select good.csv -m takes --test good.csv").err.contains("--test names the training rows"));
}

#[test]
fn advice_of_apply_is_specific() {
    let s = Scratch::new();
    s.file("good.csv", GOOD).file("word.csv", "a,b,class\n1,two,x\n");
    s.ok("select good.csv -m takes --save takes.ks");
    s.ok("select good.csv -m fisher --save fisher.ks");
    s.ok("basis good.csv --save kobl.ks");
    for options in ["", " --predict"] {
        assert_eq!(
            s.error(&format!("apply takes.ks word.csv{options}")),
            "word.csv: row 1, column 'b': cannot parse 'two' as a number. Correct the value: the column was numeric in training."
        );
    }
    for method in ["fisher", "kobl"] {
        assert_eq!(
            s.error(&format!("apply {method}.ks good.csv --predict")),
            format!(
                "{method}.ks: a model fitted by {method} does not predict classes; leave out --predict, or save a model of \
                 `kernsift select -m takes`"
            )
        );
    }
    assert!(s.error("apply takes.ks good.csv --out features.xlsx").contains(".csv and .tsv"));
    for method in ["takes", "kobl"] {
        assert_eq!(
            s.error(&format!("apply {method}.ks good.csv --encode")),
            format!(
                "{method}.ks: a model fitted by {method} is not a selection of features; leave out --encode"
            )
        );
    }
    for fit in ["select good.csv -m takes", "basis good.csv", "design builtin:iris"] {
        assert_eq!(
            s.error(&format!("{fit} --save model.json")),
            "--save model.json: only a selection of features can be saved as JSON; choose another extension than .json"
        );
    }
}

#[test]
fn parameters_that_a_method_does_not_have() {
    let s = Scratch::new();
    for (line, expected) in [
        ("basis builtin:wine -m kpca --set threshold=2", "no parameter 'threshold'"),
        (
            "basis builtin:wine -m kda --gamma-for-n-components 3",
            "--gamma-for-n-components has no effect with kda",
        ),
        ("select builtin:wine -m fisher --set kernel=rbf", "fisher has no parameters; leave out 'kernel'"),
        (
            "select builtin:wine -m relief --set n_neighbor=3",
            "no parameter 'n_neighbor'; did you mean 'n_neighbors'?",
        ),
        (
            "select builtin:wine -m relief:n_neighbor=3",
            "no parameter 'n_neighbor'; did you mean 'n_neighbors'?",
        ),
        ("select builtin:wine -m relief --set n_neighbors", "--set n_neighbors: write --set KEY=VALUE"),
        ("select builtin:wine -m relief:5", "'5' is not a setting of relief; write relief:NAME=VALUE"),
        ("select builtin:wine -m takes --set weight_power=much", "takes: parameter 'weight_power' must be"),
        (
            "select builtin:wine -m random",
            "random is a baseline of comparisons; use `kernsift compare -m random`",
        ),
        ("compare builtin:wine -m knn", "knn is an evaluator; use `kernsift compare --evaluator knn`"),
        (
            "select builtin:wine -m takes --set tune=gamma --set gamma_for_n_components=9",
            "kernel-space selection: parameter 'gamma_for_n_components' must be left out",
        ),
        (
            "select builtin:wine -m takes --set tune=gamma --set kernel=linear",
            "kernel-space selection: parameter 'tune' must be left out for a kernel without gamma",
        ),
    ] {
        let error = s.error(line);
        assert!(error.starts_with(expected), "{line}: {error}");
    }
}

#[test]
fn both_forms_of_settings_are_equivalent() {
    let s = Scratch::new();
    let selected =
        |line: &str| json(&s.ok(&format!("select builtin:wine {line} --json")).out)["scores"].clone();
    let one = selected("-m relief:n_neighbors=3,difference=squared");
    assert_eq!(one, selected("-m relief --set n_neighbors=3 --set difference=squared"));
    assert_eq!(one, selected("-m relief:n_neighbors=9 --set n_neighbors=3 --set difference=squared"));
    assert_ne!(one, selected("-m relief"));
}

#[test]
fn parser_errors() {
    let s = Scratch::new();
    for line in [
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
    assert_eq!(
        s.error("basis builtin:wine --set gamma=-1"),
        "kobl: parameter 'gamma' must be a number, above 0, or median or scale, got '-1'"
    );
    assert!(s.error("basis builtin:wine --set threshold=0").contains("linear or none, got '0'"));
}

#[test]
fn damaged_models_are_rejected() {
    let s = Scratch::new();
    s.ok("select builtin:wine -k 2 --save wine.ks");
    let bytes = std::fs::read(s.path("wine.ks")).unwrap();
    let mut altered = bytes.clone();
    altered[bytes.len() / 2] ^= 1;
    let mut newer = bytes.clone();
    newer[8] = 9;
    s.file("cut.ks", &bytes[..bytes.len() - 9]).file("altered.ks", altered).file("newer.ks", newer);
    s.file("text.ks", "not a model").file("other.csv", "x,y\n1,2\n");
    for (line, expected) in [
        ("apply cut.ks builtin:wine", "cut.ks: not a usable kernsift model: it is truncated"),
        ("apply altered.ks builtin:wine", "altered.ks: not a usable kernsift model: its checksum is wrong"),
        ("apply newer.ks builtin:wine", "newer.ks: not a usable kernsift model: its format is version 9"),
        (
            "apply text.ks builtin:wine",
            "text.ks: not a usable kernsift model: it does not start with the magic bytes",
        ),
        ("apply absent.ks builtin:wine", "absent.ks: no such file"),
        ("apply wine.ks other.csv", "other.csv: 2 problems:"),
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
    assert!(s.error("select builtin:wine --out reduced.xlsx").contains(".csv and .tsv"));
    assert!(s.error("basis builtin:wine --save absent/wine.ks").starts_with("absent/wine.ks: "));
    // Checked before the fit, which would take hours.
    s.file("words.csv", "a,class\n1,x\n2,y\n3,x\n").ok("data make noise --rows 30000 --out big.csv");
    let error = |place: &str| s.error(&format!("select big.csv -m fskpca --memory-limit 1000GiB {place}"));
    assert!(error("--out reduced.xlsx").contains(".csv and .tsv"));
    assert!(
        error("--out absent/reduced.csv").contains("the directory 'absent' does not exist; create it first")
    );
    assert!(error("--save folder.csv").contains("is a directory, not a file"));
    assert_eq!(
        s.error("select words.csv -m takes --out reduced.npy"),
        "reduced.npy: column 'class' is text, but .npy holds numbers only; write .csv instead"
    );
}

#[test]
fn a_failed_run_does_not_change_old_files() {
    let s = Scratch::new();
    s.file("out.csv", "precious").file("missing.csv", "a,class\n1,x\n,y\n");
    s.error("select missing.csv --missing error --out out.csv");
    assert_eq!(s.text("out.csv"), "precious");
}

#[test]
fn input_files_are_not_overwritten() {
    let s = Scratch::new();
    s.run("data export wine --out wine.csv");
    s.run("data export wine --out other.csv");
    s.run("select wine.csv -k 2 --save model.ks");
    let (table, model) = (s.text("wine.csv"), std::fs::read(s.path("model.ks")).unwrap());
    for (line, file) in [
        ("select wine.csv -k 2 --out wine.csv", "--out would write over wine.csv"),
        ("select wine.csv -m takes --save ./wine.csv", "--save would write over wine.csv"),
        ("select other.csv -m takes --test wine.csv --out wine.csv", "--out would write over wine.csv"),
        ("basis wine.csv --out wine.csv", "--out would write over wine.csv"),
        ("apply model.ks wine.csv --out wine.csv", "--out would write over wine.csv"),
    ] {
        assert!(s.error(line).starts_with(file), "{line}");
    }
    assert_eq!(s.text("wine.csv"), table);
    assert_eq!(std::fs::read(s.path("model.ks")).unwrap(), model);
}

#[test]
fn two_outputs_with_one_path_are_rejected() {
    let s = Scratch::new();
    s.ok("data export wine --out wine.csv");
    std::fs::create_dir(s.path("folder")).unwrap();
    for (line, options) in [
        ("select wine.csv -k 2 --out s.csv --save s.csv", "--out and --save"),
        ("select wine.csv -k 2 --out s.csv --save ./s.csv", "--out and --save"),
        ("select wine.csv -k 2 --out folder/../s.csv --save s.csv", "--out and --save"),
        ("select wine.csv -m hsfs -k 2 --out s.csv --path s.csv", "--out and --path"),
        ("select wine.csv -m hsfs -k 2 --save s.csv --path s.csv", "--save and --path"),
        ("select wine.csv -m hsfs -k 2 --report s.csv --path s.csv", "--report and --path"),
        ("select wine.csv -m takes --out s.csv --save s.csv", "--out and --save"),
        ("basis wine.csv --out s.csv --save s.csv", "--out and --save"),
        ("design wine.csv --out s.csv --save ./s.csv", "--out and --save"),
        ("design wine.csv --out s.csv --gram ./s.csv", "--out and --gram"),
    ] {
        assert_eq!(s.error(line), format!("{options} need different files"), "{line}");
    }
    assert_eq!(s.files(), ["folder", "wine.csv"]);
}

#[test]
fn the_memory_limit_applies_to_reading_files() {
    let s = Scratch::new();
    s.ok("data export wine --out wine.csv");
    s.ok("select wine.csv -k 2 --save model.ks");
    s.ok("data export wine --out wine.csv.gz");
    for line in [
        "select wine.csv",
        "select builtin:wine -m takes --test wine.csv",
        "compare wine.csv -m fisher",
        "basis wine.csv",
        "basis builtin:wine -k 2 --test wine.csv",
        "design wine.csv",
        "apply model.ks wine.csv",
    ] {
        let error = s.error(&format!("{line} --memory-limit 10kb"));
        let refused = error.starts_with("wine.csv: the file needs about") || line.contains("builtin");
        assert!(refused && error.contains("the limit is 9.8 KiB"), "{line}: {error}");
    }
    let error = s.error("select wine.csv.gz --memory-limit 8kb");
    assert!(error.contains("decompresses to more than 7.8 KiB; decompress it first if you trust it, or raise the memory limit"), "{error}");
    s.file("t.csv", "i,j,k\n".to_owned() + &"1,2,3\n".repeat(3000));
    let error = s.error("design builtin:wine --triplets t.csv --memory-limit 10kb");
    assert!(error.starts_with("t.csv: the file needs about"), "{error}");
}

#[test]
fn an_invalid_number_is_rejected_before_the_fit() {
    let s = Scratch::new();
    s.run("data make xor --rows 30000 --columns 5 --out tall.csv");
    let start = std::time::Instant::now();
    assert!(
        s.error("select tall.csv -m takes -k 0").starts_with("-k must be from 1 to the number of directions")
    );
    assert!(
        s.error("select tall.csv -m takes -k 9 --set n_components=8")
            .contains("number of directions, 8, got 9")
    );
    // The fit would take much longer.
    assert!(start.elapsed().as_secs() < 5);
}

#[test]
fn similar_file_names_are_suggested() {
    let s = Scratch::new();
    s.file("good.csv", GOOD);
    std::fs::create_dir(s.path("sets")).unwrap();
    s.file("sets/first.csv", GOOD);
    s.ok("select good.csv -m takes --save model.ks");
    for (line, expected) in [
        ("select goood.csv", "goood.csv: no such file; did you mean 'good.csv'?"),
        ("select Good.cvs", "Good.cvs: no such file; did you mean 'good.csv'?"),
        ("select good", "good: no such file; did you mean 'good.csv'?"),
        ("select sets/frist.csv", "sets/frist.csv: no such file; did you mean 'sets/first.csv'?"),
        ("select stes/first.csv", "stes/first.csv: no such file; there is no folder 'stes'"),
        ("select temperature.csv", "temperature.csv: no such file"),
        ("select wine", "wine: no such file; did you mean 'builtin:wine'?"),
        ("select built-in:Wine", "built-in:Wine: no such file; did you mean 'builtin:wine'?"),
        ("select -", "standard input: the file is empty"),
        (
            "select https://x.org/a.csv",
            "https://x.org/a.csv: no such file; URLs are not read, so download the file first",
        ),
        ("apply modell.ks good.csv", "modell.ks: no such file; did you mean 'model.ks'?"),
        ("apply model.ks god.csv", "god.csv: no such file; did you mean 'good.csv'?"),
        ("select good.csv -m takes --test goof.csv", "goof.csv: no such file; did you mean 'good.csv'?"),
        ("design good.csv --triplets gooo.csv", "gooo.csv: no such file; did you mean 'good.csv'?"),
        (
            "apply good.csv model.ks",
            "good.csv: not a usable kernsift model: it does not start with the magic bytes; did you mean `kernsift apply model.ks good.csv`?",
        ),
    ] {
        assert_eq!(s.error(line), expected, "{line}");
    }
}

#[test]
fn files_with_unexpected_content() {
    let s = Scratch::new();
    s.file("binary.csv", b"a,b\n1,\x00\x01\n").file("spaces.csv", "a b class\n1 2 x\n3 4 y\n");
    assert_eq!(
        s.error("select binary.csv"),
        "binary.csv: line 2: there is a zero byte, so this is not text; check the extension or the end of the file"
    );
    let run = s.run("select spaces.csv");
    assert_eq!(run.code, 2);
    assert!(
        run.err.starts_with(
            "warning: the first line of spaces.csv has a single column; separate columns by commas, semicolons, tabs or |"
        ),
        "{}",
        run.err
    );
}

#[test]
fn methods_of_other_commands_and_partial_names() {
    let s = Scratch::new();
    s.file("good.csv", GOOD);
    for (line, expected) in [
        ("basis good.csv -m fisher", "fisher is a selector; use `kernsift select -m fisher`"),
        ("basis good.csv -m design", "design is a kernel learner; use `kernsift design -m design`"),
        ("design good.csv -m takes", "takes is a kernel-space selector; use `kernsift select -m takes`"),
        ("compare good.csv -m kobl", "kobl is a basis; use `kernsift basis -m kobl`"),
        ("select good.csv -m svm", "no method 'svm'; did you mean 'svm-rfe'?"),
        ("select good.csv -m lasso", "no method 'lasso'; did you mean 'hsic-lasso'?"),
        ("basis good.csv -m pca", "no basis 'pca'; did you mean 'kpca'?"),
        ("select builtin:iono", "no built-in data set 'iono'; did you mean 'ionosphere'?"),
        ("compare good.csv -m fisher:n=3", "fisher has no parameters; leave out 'n'"),
        ("compare good.csv -m random:n=3", "random has no parameters; leave out 'n'"),
        (
            "compare good.csv -m relief:n_neighbors=many",
            "relief: parameter 'n_neighbors' must be an integer, at least 1, got 'many'",
        ),
        ("data make xor --rows 0", "--rows must be at least 1, got 0"),
        ("data make xor --columns 1", "--columns must be at least 2 for this pattern, got 1"),
    ] {
        assert_eq!(s.error(line), expected, "{line}");
    }
}

#[test]
fn parser_messages() {
    let s = Scratch::new();
    for (line, expected) in [
        (
            "select builtin:wine --seed -1",
            "invalid value '-1' for '--seed <N>': an integer, at least 0, is expected",
        ),
        ("select builtin:wine --seed abc", "an integer, at least 0, is expected"),
        (
            "data make xor --rows -5",
            "invalid value '-5' for '--rows <ROWS>': an integer, at least 0, is expected",
        ),
        ("data make xor --rows 99999999999999999999999", "a smaller number is expected"),
        ("compare builtin:wine --test-size wide", "a number is expected"),
        ("select", "tip: DATA is a file such as table.csv, or a built-in set such as builtin:wine"),
        ("select builtin:wine --traget class", "a similar argument exists: '--target'"),
        ("select builtin:wine --missing man", "a similar value exists: 'mean'"),
        ("selct builtin:wine", "a similar subcommand exists: 'select'"),
        ("methods --color sometimes", "[possible values: auto, always, never]"),
    ] {
        let run = s.run(line);
        assert_eq!(run.code, 2, "{line}");
        assert!(run.err.starts_with("error: ") && run.err.contains(expected), "{line}: {}", run.err);
        assert!(run.out.is_empty(), "{line}");
    }
    let (help, version) = (s.ok("select --help"), s.ok("--version"));
    assert!(help.err.is_empty() && help.out.contains("Usage: kernsift select"), "{}", help.out);
    assert!(version.out.starts_with("kernsift "));
}

#[test]
fn no_command_overwrites_the_labels() {
    let s = Scratch::new();
    s.file("t.csv", "sample,a,b\nu,1,2\nv,3,5\nw,2,2\nx,4,7\n")
        .file("l.csv", "sample,class\nu,p\nv,q\nw,p\nx,q\n");
    s.ok("select t.csv --labels l.csv -m fisher --save m.model");
    for command in [
        "inspect t.csv --labels l.csv --report l.csv",
        "select t.csv --labels l.csv -m fisher --out l.csv",
        "basis t.csv --labels l.csv --out l.csv",
        "compare t.csv --labels l.csv --record l.csv",
        "interactions t.csv --labels l.csv --out l.csv",
        "design t.csv --labels l.csv --gram l.csv",
        "apply m.model t.csv --labels l.csv --out l.csv",
    ] {
        let message = s.error(command);
        assert!(message.contains("would write over l.csv, which is read"), "{command}: {message}");
    }
    assert!(s.text("l.csv").starts_with("sample,class"));
}

#[test]
fn advice_of_apply_names_its_own_options() {
    let s = Scratch::new();
    s.file("good.csv", GOOD).file("bad.csv", "a,b\n1,oops\nnever,2\n");
    s.ok("select good.csv -m fisher -k 2 --save m.model");
    let run = s.run("apply m.model bad.csv");
    assert_eq!(run.code, 2);
    assert!(
        run.err.matches("Correct the value: the column was numeric in training.").count() == 2,
        "{}",
        run.err
    );
    assert!(!run.err.contains("--type"), "{}", run.err);
}
