//! The commands select, basis, apply, data and methods.

use crate::scratch::Scratch;
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn select_prints_a_table_and_names_the_target() {
    let run = Scratch::new().ok("select builtin:wine -m fisher -k 3");
    assert_eq!(run.err, "target: 'target' (by its name)\n");
    let expected = "\
builtin:wine: 178 rows, 13 columns, target 'target' with 3 classes
fisher selects 3 of 13 features

 rank  feature                       score
    1  flavanoids                    2.673  ████████████████████████
    2  proline                       2.376  █████████████████████▍
    3  od280_od315_of_diluted_wines  2.171  ███████████████████▌
";
    assert_eq!(run.out, expected);
}

#[test]
fn quiet_prints_only_the_result() {
    let run = Scratch::new().ok("select builtin:wine -k 3 --quiet");
    assert_eq!(run.err, "");
    assert!(run.out.contains("flavanoids"));
}

#[test]
fn selected_features_are_written_saved_and_applied() {
    let s = Scratch::new();
    s.ok("data export wine --out wine.csv");
    s.ok("select wine.csv -m fisher -k 2 --out reduced.csv --save wine.ks");
    let reduced = s.text("reduced.csv");
    assert!(reduced.starts_with("flavanoids,proline,target\n3.06,1065,0\n"), "{}", &reduced[..60]);
    let applied = s.ok("apply wine.ks wine.csv");
    assert_eq!(applied.out, reduced);
    s.ok("select wine.csv -m fisher -k 2 --save wine.json");
    assert_eq!(s.ok("apply wine.json wine.csv").out, reduced);
    let encoded = s.ok("apply wine.json wine.csv --encode").out;
    assert!(encoded.starts_with("flavanoids,proline,target\n1.0"), "{}", &encoded[..60]);
    assert_eq!(s.ok("apply wine.ks wine.csv --encode").out, encoded);
    s.ok("select wine.csv -m fisher -k 2 --scale none --save raw.json");
    assert_eq!(s.ok("apply raw.json wine.csv --encode").out, reduced);
    s.ok("apply wine.ks wine.csv --out again.csv.gz");
    assert_eq!(
        s.ok("select again.csv.gz -q").out.lines().next().unwrap(),
        "again.csv.gz: 178 rows, 2 columns, target 'target' with 3 classes"
    );
}

#[test]
fn select_by_fraction_and_automatically() {
    let s = Scratch::new();
    assert!(s.ok("select builtin:wine -m fisher -k 0.3").out.contains("selects 4 of 13"));
    let record = json(&s.ok("select builtin:wine -m fisher --json").out);
    assert_eq!(record["command"], "select");
    assert_eq!(record["selected"].as_array().unwrap().len(), 13, "all features of wine are significant");
    assert_eq!(record["order"][0], "flavanoids");
    assert!(record["scores"]["proline"].as_f64().unwrap() > 2.0);
}

#[test]
fn basis_reports_dimension_cost_and_bound() {
    let s = Scratch::new();
    let page = s.ok("basis builtin:thyroid").out;
    for expected in ["dimension", "reconstruction cost  ", " by Theorem 1\n", "kobl with rbf(gamma=", "█"] {
        assert!(page.contains(expected), "{page}");
    }
    let record = json(&s.ok("basis builtin:thyroid --json").out);
    let cost = record["reconstruction_cost"].as_f64().unwrap();
    assert!(cost > 0.0 && cost <= record["bound"].as_f64().unwrap());
    assert_eq!(record["n_components"], record["pivots"].as_array().unwrap().len());
    assert_eq!(record["outcome"]["stop"], "threshold");
}

#[test]
fn every_basis_is_written_saved_and_applied() {
    let s = Scratch::new();
    s.ok("data export iris --out iris.csv");
    for method in ["kobl", "kgs", "kpca", "kda", "gda"] {
        let components = if method.ends_with("da") { 2 } else { 5 };
        s.ok(&format!("basis iris.csv -m {method} -k {components} --out mapped.csv --save map.ks"));
        let mapped = s.text("mapped.csv");
        let header = mapped.lines().next().unwrap();
        assert!(
            header.starts_with(&format!("{method}1,{method}2")) && header.ends_with(",target"),
            "{header}"
        );
        let applied = s.ok("apply map.ks iris.csv").out;
        for (a, b) in mapped.lines().zip(applied.lines()).skip(1) {
            for (a, b) in a.split(',').zip(b.split(',')) {
                let (a, b): (f64, f64) = (a.parse().unwrap(), b.parse().unwrap());
                assert!((a - b).abs() < 1e-9, "{method}");
            }
        }
    }
}

#[test]
fn gamma_by_number_of_components_and_cost_on_test_rows() {
    let s = Scratch::new();
    let record =
        json(&s.ok("basis builtin:thyroid --gamma-for-n-components 20 --test builtin:thyroid --json").out);
    assert_eq!(record["n_components"], 20);
    let (train, test) = (record["reconstruction_cost"].as_f64(), record["test_reconstruction_cost"].as_f64());
    assert!((train.unwrap() - test.unwrap()).abs() < 1e-7, "the same rows have the same cost");
}

#[test]
fn options_change_the_basis() {
    let s = Scratch::new();
    let dimension = |options: &str| {
        let line = format!("basis builtin:wine --json {options}");
        json(&s.ok(&line).out)["n_components"].as_u64().unwrap()
    };
    let plain = dimension("");
    assert!(dimension("--set threshold=2") > plain);
    assert!(dimension("--set threshold=none") > plain);
    assert!(dimension("--set tol=0.2") < plain);
    assert!(dimension("--set gamma=0.001") < plain);
    assert!(dimension("--scale none --set gamma=scale") != plain);
    assert_eq!(dimension("--set kernel=linear"), 13);
    assert!(
        dimension("--set kernel=poly --set degree=2 --set coef0=0 --set threshold=none") <= 91,
        "13 * 14 / 2 monomials"
    );
    assert!(dimension("--set kernel=laplacian") > plain, "a less smooth kernel");
    let pivots =
        |options: &str| json(&s.ok(&format!("basis builtin:wine --json {options}")).out)["pivots"].clone();
    assert_ne!(pivots("--set pivoting=random"), pivots("--set pivoting=random --seed 1"));
    assert_ne!(pivots("--set first_pivot=medoid")[0], pivots("")[0]);
    let kpca = |options: &str| {
        json(&s.ok(&format!("basis builtin:wine -m kpca -k 3 --json {options}")).out)["explained"]
            .as_f64()
            .unwrap()
    };
    assert!(kpca("--set center=false") > kpca(""));
    let cost = |ridge: &str| {
        json(&s.ok(&format!("basis builtin:wine -m kda --set ridge={ridge} --json")).out)["reconstruction_cost"]
            .as_f64()
    };
    assert_ne!(cost("0.1"), cost("0.001"));
}

#[test]
fn results_do_not_depend_on_threads() {
    let s = Scratch::new();
    s.ok("data make xor --rows 3000 --columns 30 --out xor.csv");
    s.ok("basis xor.csv -k 80 --threads 1 --save one.ks");
    s.ok("basis xor.csv -k 80 --threads 2 --save two.ks");
    assert_eq!(std::fs::read(s.path("one.ks")).unwrap(), std::fs::read(s.path("two.ks")).unwrap());
}

#[test]
fn missing_values_are_written_as_they_are() {
    let s = Scratch::new();
    s.file("t.csv", "a,b,class\n1,2,x\n2,,x\n1,4,x\n9,3,y\n8,5,y\n,1,y\n");
    let run = s.ok("select t.csv -m relief -k 1 --save m.ks --out kept.csv");
    assert!(run.out.contains("6 rows, 2 columns"), "{}", run.out);
    assert_eq!(s.text("kept.csv"), "a,class\n1,x\n2,x\n1,x\n9,y\n8,y\n,y\n");
    // Missing values of new rows are kept too, quoted, because an empty line is not a row.
    s.file("new.csv", "a,b\n,1\n3,\n");
    assert_eq!(s.ok("apply m.ks new.csv").out, "a\n\"\"\n3\n");
}

#[test]
fn options_change_the_scores() {
    let s = Scratch::new();
    let scores = |line: &str| {
        let record: serde_json::Value = serde_json::from_str(&s.ok(&format!("{line} --json")).out).unwrap();
        record["scores"].to_string()
    };
    for (line, options) in [
        (
            "select builtin:wine -m relief",
            &[
                "--set metric=euclidean",
                "--set units=unscaled",
                "--set n_samples=40",
                "--set class_weights=frequency",
            ][..],
        ),
        (
            "select builtin:wine -m information-gain",
            &[
                "--set discretizer=width",
                "--set discretizer=frequency --set n_bins=4",
                "--set measure=ratio",
                "--set measure=uncertainty",
            ],
        ),
        ("select builtin:wine -m mutual-information", &["--set n_neighbors=7", "--set discrete=all"]),
        (
            "select builtin:wine -m chi-squared",
            &["--set statistic=bins", "--set statistic=bins --set n_bins=5"],
        ),
        (
            "select builtin:wine -m laplacian",
            &[
                "--set graph=classes",
                "--set n_neighbors=9",
                "--set weights=binary",
                "--set t=3",
                "--scale none",
            ],
        ),
    ] {
        let mut seen = vec![scores(line)];
        for option in options {
            let found = scores(&format!("{line} {option}"));
            assert!(!seen.contains(&found), "{line} {option}");
            seen.push(found);
        }
    }
    // A continuous target, and none.
    let make = s.ok("data make linear --rows 200 --columns 5 --continuous --out n.csv");
    assert!(make.out.is_empty());
    for method in ["fisher", "relief", "mutual-information", "laplacian"] {
        s.ok(&format!("select n.csv -m {method} -k 2"));
    }
    s.ok("select builtin:wine -m laplacian --target none");
}

#[test]
fn missing_values_and_text_are_handled_as_requested() {
    let s = Scratch::new();
    s.file("t.csv", "size,color,class\n1,red,a\n,blue,b\n3,red,a\n4,blue,b\n2,red,a\n6,blue,b\n");
    let run = s.ok("select t.csv --missing drop --exclude color -k 1");
    assert!(run.err.contains("dropped 1 of 6 rows with missing values"));
    assert!(run.err.contains("skipped: 'color' (excluded)"), "{}", run.err);
    for missing in ["mean", "median"] {
        let run = s.ok(&format!("select t.csv --missing {missing} --exclude color -k 1"));
        assert!(run.out.contains("6 rows, 1 columns"), "{}", run.out);
        assert!(run.err.contains("1 missing value in column 'size': imputed with the "), "{}", run.err);
    }
}

#[test]
fn columns_without_a_header_are_numbered() {
    let s = Scratch::new();
    s.file("t.csv", "1,2,0\n3,4,1\n2,2,0\n5,4,1\n");
    assert!(s.ok("select t.csv --no-header -k 2").out.contains("c1"));
    let run = s.run("select t.csv -k 1");
    assert!(run.err.contains("if it holds data, read the file with --no-header"), "{}", run.err);
}

#[test]
fn every_format_gives_the_same_result() {
    let s = Scratch::new();
    s.ok("data export iris --out iris.csv");
    s.ok("data export iris --out iris.tsv.gz");
    s.ok("data export iris --out iris.npy");
    let csv = s.text("iris.csv");
    let body = csv.lines().skip(1).map(|l| l.to_owned() + "\n").collect::<String>();
    let attributes: String =
        csv.lines().next().unwrap().split(',').map(|n| format!("@attribute {n} numeric\n")).collect();
    s.file("iris.arff", format!("@relation iris\n{attributes}@data\n{body}"));
    let svm: String = csv
        .lines()
        .skip(1)
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            let pairs: String = (0..4).map(|j| format!(" {}:{}", j + 1, cells[j])).collect();
            format!("{}{pairs}\n", cells[4])
        })
        .collect();
    s.file("iris.svm", svm);
    let scores = |file: &str| {
        let record = json(&s.ok(&format!("select {file} -m fisher --json")).out);
        let mut scores: Vec<f64> =
            record["scores"].as_object().unwrap().values().map(|v| v.as_f64().unwrap()).collect();
        scores.sort_by(f64::total_cmp);
        scores
    };
    let expected = scores("iris.csv");
    for file in ["iris.tsv.gz", "iris.npy", "iris.arff", "iris.svm", "builtin:iris"] {
        let got = scores(file);
        // Sparse rows sum in another order.
        assert!(expected.iter().zip(&got).all(|(a, b)| (a / b - 1.0).abs() < 1e-10), "{file}");
    }
}

#[test]
fn lists_of_methods_and_data_sets() {
    let s = Scratch::new();
    let methods = json(&s.ok("methods --json").out);
    let names: Vec<&str> = methods.as_array().unwrap().iter().map(|m| m["name"].as_str().unwrap()).collect();
    let columns = [
        "auto",
        "fisher",
        "ffs",
        "relief",
        "svm-rfe",
        "l1-svm",
        "information-gain",
        "mutual-information",
        "chi-squared",
        "laplacian",
        "hsfs",
        "fohsic",
        "bahsic",
        "hsic-lasso",
        "nca",
        "ldfs",
        "pfs",
    ];
    let screens = ["interactions", "test", "stability", "knockoffs"];
    let spaces = ["takes", "kgs-kffs", "fskgs", "fskpca"];
    let bases = ["kobl", "kgs", "kpca", "kda", "gda"];
    let learners = ["design", "xing", "xing-diagonal", "average", "gaussian", "linear", "polynomial"];
    let evaluators = ["svm", "linear-svm", "knn", "kernel-knn", "ridge"];
    assert_eq!(names, [&columns[..], &screens, &spaces, &bases, &learners, &evaluators].concat());
    assert_eq!(methods[columns.len()]["family"], "screen");
    assert!(names.iter().all(|name| s.ok("methods").out.contains(name)));
    let sets = json(&s.ok("data --json").out);
    assert_eq!(sets.as_array().unwrap().len(), 16);
    assert!(
        sets.as_array()
            .unwrap()
            .iter()
            .all(|d| !d["source"].as_str().unwrap().is_empty() && !d["license"].as_str().unwrap().is_empty())
    );
}

#[test]
fn synthetic_data_name_the_relevant_features() {
    let s = Scratch::new();
    let run = s.ok("data make linear --rows 300 --columns 12 --seed 5 --out made.csv");
    let relevant: Vec<&str> = run.err.trim().rsplit(": ").next().unwrap().split(", ").collect();
    assert_eq!(relevant.len(), 2, "{}", run.err);
    let record = json(&s.ok("select made.csv -k 2 --json").out);
    let mut found: Vec<&str> =
        record["selected"].as_array().unwrap().iter().map(|v| v.as_str().unwrap()).collect();
    let mut expected = relevant.clone();
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
}

#[test]
fn strict_runs_exit_with_1_after_warnings() {
    let s = Scratch::new();
    let run = s.run("basis builtin:ionosphere --include f2");
    assert_eq!(run.code, 0);
    assert!(run.err.contains("warning: column f2 is constant and has no effect"), "{}", run.err);
    assert_eq!(s.run("basis builtin:ionosphere --include f2 --strict").code, 1);
    assert_eq!(s.run("basis builtin:wine --strict").code, 0);
}

#[test]
fn verbose_prints_the_kernel() {
    assert!(Scratch::new().ok("basis builtin:wine -v").err.contains("kernel: rbf(gamma=0.0"));
}

#[test]
fn completions_for_every_shell() {
    let s = Scratch::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(s.ok(&format!("completions {shell}")).out.contains("kernsift"), "{shell}");
    }
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    use std::process::Stdio;
    let s = Scratch::new();
    // Closed in the middle of a large file, and at the start.
    let line = format!("{} data export madelon | head -1", env!("CARGO_BIN_EXE_kernsift"));
    let output = std::process::Command::new("bash")
        .args(["-c", &format!("set -o pipefail; {line}")])
        .output()
        .unwrap();
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
    let mut child =
        s.command("data export madelon").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
}

#[test]
fn formulas_are_guarded_on_request() {
    let s = Scratch::new();
    s.file("t.csv", "=a,b,y\n1,2,@no\n3,1,yes\n2,5,@no\n4,0,yes\n");
    s.ok("select t.csv -k 2 --out plain.csv --path path.csv -m fohsic");
    s.ok("select t.csv -k 2 --out guarded.csv --path path2.csv -m fohsic --save t.ks --guard-formulas");
    assert!(s.text("plain.csv").contains("=a") && s.text("plain.csv").contains("@no"));
    assert!(!s.text("plain.csv").contains('\''));
    assert!(s.text("guarded.csv").contains("'=a") && s.text("guarded.csv").contains(",'@no\n"));
    assert!(s.text("path.csv").contains(",=a,") && s.text("path2.csv").contains(",'=a,"));
    assert!(s.ok("apply t.ks t.csv --guard-formulas").out.contains("'=a"));
    s.ok("basis t.csv --out mapped.csv --guard-formulas");
    assert!(s.text("mapped.csv").contains(",'@no\n"));
    let error = s.error("select t.csv -k 2 --guard-formulas");
    assert_eq!(error, "--guard-formulas needs a table to write; add --out FILE");
}
