//! Selection in kernel space by the command select.

use crate::scratch::Scratch;
use serde_json::Value;

const METHODS: [(&str, &str); 4] =
    [("takes", "kobl"), ("kgs-kffs", "kgs"), ("fskgs", "kgs"), ("fskpca", "kpca")];

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Cells of a CSV text without its header.
fn cells(text: &str) -> Vec<Vec<String>> {
    text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

#[test]
fn the_output_describes_basis_and_selection() {
    let run = Scratch::new().ok("select builtin:ionosphere -m takes");
    for expected in [
        "builtin:ionosphere: 351 rows, 33 columns standardized, target 'target' with 2 classes\ntakes with rbf(gamma=",
        "of 351 rows; the adaptive threshold was reached",
        "directions; the error has its minimum there",
        "error of the vote     0.0",
        "on the training rows, which is optimistic",
        " rank  direction  pivot row  weight",
        "by number of directions",
    ] {
        assert!(run.out.contains(expected), "{expected}\n{}", run.out);
    }
    assert!(run.err.contains("skipped: 'f2' (constant)"), "{}", run.err);
    assert!(!run.out.contains("accuracy"), "accuracy needs test rows");
}

#[test]
fn long_tables_are_truncated_unless_verbose() {
    let s = Scratch::new();
    let lines = |line: &str| s.ok(line).out.lines().filter(|l| l.contains("kpca")).count() - 1;
    assert_eq!(lines("select builtin:wine -m fskpca -k 25"), 20);
    assert_eq!(lines("select builtin:wine -m fskpca -k 25 -v"), 25);
    let page = s.ok("select builtin:wine -m fskpca -k 25").out;
    assert!(page.ends_with(" ... and 5 more, with -v\n"), "{page}");
    assert!(!page.contains("pivot row"), "principal components have no single row");
    assert!(page.contains("of 177 directions; the requested number was reached"), "{page}");
}

#[test]
fn row_numbers_refer_to_the_table() {
    let s = Scratch::new();
    s.file("t.csv", "a,b,class\n,1,x\n9,9,x\n0,1,y\n1,0,y\n8,9,x\n");
    let page = s.ok("select t.csv -m kgs-kffs -k 0.99 --missing drop").out;
    let rows: Vec<&str> =
        page.lines().filter(|l| l.contains("  kgs")).map(|l| l.split_whitespace().nth(2).unwrap()).collect();
    assert!(!rows.contains(&"1") && rows.contains(&"2"), "{page}");
}

#[test]
fn every_method_is_written_saved_and_applied() {
    let s = Scratch::new();
    s.ok("data export wine --out wine.csv");
    for (method, basis) in METHODS {
        s.ok(&format!("select wine.csv -m {method} --out kept.csv --save model.ks"));
        let kept = s.text("kept.csv");
        let header = kept.lines().next().unwrap();
        assert!(header.starts_with(basis) && header.ends_with(",target"), "{header}");
        let applied = s.ok("apply model.ks wine.csv").out;
        assert_eq!(applied.lines().next().unwrap(), header);
        for (a, b) in cells(&kept).concat().iter().zip(cells(&applied).concat()) {
            let (a, b): (f64, f64) = (a.parse().unwrap(), b.parse().unwrap());
            assert!((a - b).abs() < 1e-9, "{method}");
        }
        // All rows differ, so each is its nearest neighbor.
        let run = s.ok("apply model.ks wine.csv --predict");
        assert!(run.out.starts_with("prediction,target\n"), "{}", &run.out[..40]);
        assert!(run.err.contains("178 rows with predicted classes"), "{}", run.err);
        assert_eq!(cells(&run.out).len(), 178);
        assert!(cells(&run.out).iter().all(|row| row[0] == row[1]), "{method}");
        s.ok("apply model.ks wine.csv --predict --out classes.npy");
    }
}

#[test]
fn predictions_are_class_names() {
    let s = Scratch::new();
    s.file("t.csv", "a,b,kind\n1,2,red one\n9,8,7\n2,2,red one\n8,9,7\n7,8,7\n0,1,red one\n");
    s.ok("select t.csv -m takes --target kind --save t.ks");
    s.file("new.csv", "b,a\n2,1.5\n8.5,8\n");
    assert_eq!(s.ok("apply t.ks new.csv --predict").out, "prediction\nred one\n7\n");
}

#[test]
fn the_json_record_is_complete() {
    let s = Scratch::new();
    s.ok("data export wine --out wine.csv");
    for (method, basis) in METHODS {
        let line = format!("select builtin:wine -m {method} -k 3 --seed 4 --test wine.csv --json");
        let record = json(&s.ok(&line).out);
        assert_eq!(record["command"], "select");
        assert_eq!(record["method"], method);
        assert_eq!((&record["seed"], &record["data"]["rows"]), (&4.into(), &178.into()));
        assert!(record["kernel"]["rbf"]["gamma"].as_f64().unwrap() > 0.0);
        let dimension = record["n_components"].as_u64().unwrap() as usize;
        let order = record["order"].as_array().unwrap();
        assert_eq!(order.len(), dimension);
        assert_eq!(record["selected"].as_array().unwrap(), &order[..3]);
        assert!(order[0].as_str().unwrap().starts_with(basis));
        let weights = record["weights"].as_object().unwrap();
        assert_eq!(weights.len(), dimension);
        assert_eq!(weights.values().filter(|w| w.as_f64().unwrap() > 0.0).count(), 3);
        let votes = method.ends_with("kffs") || method == "takes";
        assert_eq!(record["error_curve"].as_array().unwrap().len(), if votes { dimension } else { 0 });
        assert!(record["outcome"]["stop"].is_string() && record["seconds"].is_number());
        assert_eq!((&record["test_accuracy"], &record["test_rows"]), (&1.0.into(), &178.into()));
        assert_eq!(record["settings"]["n_neighbors"], 1);
    }
    assert!(json(&s.ok("select builtin:wine -m takes --json").out)["test_accuracy"].is_null());
}

#[test]
fn options_change_the_selection() {
    let s = Scratch::new();
    let record = |options: &str| json(&s.ok(&format!("select builtin:sonar --json {options}")).out);
    let takes = record("-m takes");
    for (options, what) in [
        ("--set weak_learner=stump", "error_curve"),
        ("--set eta=0.1", "error_curve"),
        ("--set learner_bandwidth=0.2", "error_curve"),
        ("--set quantum=1", "error_curve"),
        ("--set weights=individual", "weights"),
        ("--set weight_power=0", "weights"),
        ("--seed 3", "error_curve"),
        ("--scale none", "kernel"),
        ("--set gamma=scale", "kernel"),
        ("--set kernel=laplacian", "kernel"),
        ("--set n_components=9", "n_components"),
        ("--set threshold=2", "n_components"),
        ("--set tol=0.5", "n_components"),
        ("--set first_pivot=medoid", "pivots"),
        ("--set pivoting=random", "pivots"),
        ("--set pivoting=gain", "pivots"),
    ] {
        assert_ne!(record(&format!("-m takes {options}"))[what], takes[what], "{options}");
    }
    assert_eq!(record("-m takes --set gamma_for_n_components=20")["n_components"], 20);
    let relief = record("-m fskpca -k 5");
    for options in [
        "--set selector.n_neighbors=5",
        "--set difference=squared",
        "--set weight_power=0",
        "--set center=false",
    ] {
        assert_ne!(record(&format!("-m fskpca -k 5 {options}"))["weights"], relief["weights"], "{options}");
    }
}

#[test]
fn the_number_of_neighbors_changes_test_accuracy() {
    let s = Scratch::new();
    s.ok("data make ring --rows 300 --columns 4 --noise 0.3 --seed 1 --out train.csv");
    s.ok("data make ring --rows 300 --columns 4 --noise 0.3 --seed 1 --out same.csv");
    let accuracy = |options: &str| {
        let line = format!("select train.csv -m takes --test same.csv --json {options}");
        json(&s.ok(&line).out)["test_accuracy"].as_f64().unwrap()
    };
    assert_eq!(accuracy(""), 1.0);
    let many = accuracy("--set n_neighbors=15");
    assert!(many > 0.5 && many < 1.0, "{many}");
}

#[test]
fn results_do_not_depend_on_threads() {
    let s = Scratch::new();
    s.ok("data make xor --rows 1500 --columns 6 --out xor.csv");
    for (method, _) in METHODS {
        let run = |threads: u8| {
            let line = format!(
                "select xor.csv -m {method} --set n_components=40 --save {threads}.ks --threads {threads}"
            );
            s.ok(&line).out
        };
        assert_eq!(run(1), run(2), "{method}");
        assert_eq!(
            std::fs::read(s.path("1.ks")).unwrap(),
            std::fs::read(s.path("2.ks")).unwrap(),
            "{method}"
        );
    }
}

#[test]
fn options_of_feature_selectors_change_the_result() {
    let s = Scratch::new();
    let record = |options: &str| json(&s.ok(&format!("select builtin:wine --json {options}")).out);
    let ffs = record("-m ffs");
    assert_eq!(ffs["error_curve"].as_array().unwrap().len(), 13);
    assert_eq!(ffs["outcome"]["stop"], "minimum");
    assert_ne!(record("-m ffs --set weak_learner=klms --set eta=0.3")["error_curve"], ffs["error_curve"]);
    assert_ne!(record("-m ffs --set weights=individual")["scores"], ffs["scores"]);
    let page = s.ok("select builtin:wine -m ffs").out;
    assert!(page.contains("features; the error has its minimum there") && page.contains('└'), "{page}");
    let relief = record("-m relief");
    // Without scaling, the feature with the largest values dominates distances, unless they are relative to ranges.
    assert_eq!(record("-m relief --scale none")["order"], relief["order"]);
    let given = |scale: &str| record(&format!("-m relief --set units=unscaled --scale {scale}"));
    assert_ne!(given("none")["order"], given("standard")["order"]);
    assert_ne!(record("-m relief --set difference=squared")["scores"], relief["scores"]);
    assert_ne!(record("-m relief --set n_neighbors=5")["scores"], relief["scores"]);
    let rfe = record("-m svm-rfe");
    for options in ["--set step=3", "--set C=0.001", "--set kernel=rbf"] {
        assert_ne!(record(&format!("-m svm-rfe {options}"))["scores"], rfe["scores"], "{options}");
    }
    assert_ne!(
        record("-m svm-rfe --set kernel=rbf --set gamma=1")["order"],
        record("-m svm-rfe --set kernel=rbf")["order"]
    );
    assert_ne!(record("-m l1-svm --set C=0.01")["selected"], record("-m l1-svm")["selected"]);
    assert_eq!(record("-m l1-svm -k 4")["selected"].as_array().unwrap().len(), 4);
    assert!(s.ok("select builtin:wine -m svm-rfe").out.contains("error of the SVM"));
    assert!(!s.ok("select builtin:wine -m svm-rfe --set step=3").out.contains("error of the SVM"));
    s.ok("select builtin:wine -m relief -k 2 --out kept.csv --save relief.ks");
    assert_eq!(s.ok("apply relief.ks builtin:wine").out, s.text("kept.csv"), "values are unscaled");
    let names = s.text("kept.csv").lines().next().unwrap().to_owned();
    let wine = s.ok("data export wine").out;
    let place = |name: &str| wine.lines().next().unwrap().split(',').position(|n| n == name).unwrap();
    let best = names.split(',').next().unwrap();
    assert_eq!(cells(&s.text("kept.csv"))[0][0], cells(&wine)[0][place(best)]);
}
