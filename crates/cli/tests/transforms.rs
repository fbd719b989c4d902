//! The command select with methods that have a path: hsfs, ldfs, pfs, fohsic, bahsic, hsic-lasso.

use crate::scratch::Scratch;
use serde_json::Value;

const METHODS: [&str; 6] = ["hsfs", "ldfs", "pfs", "fohsic", "bahsic", "hsic-lasso"];

/// The JSON record of a selection.
fn record(s: &Scratch, line: &str) -> Value {
    serde_json::from_str(&s.ok(&format!("select {line} --json")).out).unwrap()
}

/// A directory with small data: XOR with six features, wine with six features, and a continuous target.
fn folder() -> Scratch {
    let s = Scratch::new();
    s.ok("data make xor --rows 80 --columns 6 --seed 3 --out xor.csv");
    s.ok("data make ring --rows 80 --columns 6 --continuous --seed 3 --out number.csv");
    let wine = s.ok("data export wine").out;
    let few: String = wine
        .lines()
        .step_by(2)
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            format!("{},{}\n", cells[..6].join(","), cells[13])
        })
        .collect();
    // Every second line, starting with the header.
    s.file("wine.csv", few);
    s
}

#[test]
fn every_method_has_a_complete_record() {
    let s = folder();
    for method in METHODS {
        let record = record(&s, &format!("wine.csv -m {method} -k 2"));
        assert_eq!(record["method"], method);
        assert_eq!(record["settings"]["method"], method);
        assert_eq!(record["selected"].as_array().unwrap().len(), 2, "{method}");
        let path = record["path"].as_array().unwrap();
        assert!(!path.is_empty(), "{method}");
        for point in path {
            let (features, weights) =
                (point["features"].as_array().unwrap(), point["weights"].as_array().unwrap());
            assert_eq!(features.len(), weights.len(), "{method}");
            assert!(point["objective"].is_f64() && point["stop"].is_string(), "{method}: {point}");
        }
        let coef = &record["coef"];
        if ["fohsic", "bahsic"].contains(&method) {
            assert!(coef.is_null(), "{method}");
            continue;
        }
        // Only nonzero rows, each with a positive score.
        for (name, row) in coef.as_object().unwrap() {
            assert!(row.as_array().unwrap().iter().any(|w| w.as_f64() != Some(0.0)), "{method}");
            assert!(record["scores"][name].as_f64().unwrap() > 0.0, "{method}");
        }
        assert_eq!(coef.as_object().unwrap().len(), 2, "{method}: the requested number");
        // Automatic number of features.
        s.ok(&format!("select wine.csv -m {method}"));
    }
    for method in ["hsfs", "pfs", "fohsic", "bahsic", "hsic-lasso"] {
        assert!(
            s.ok(&format!("select number.csv -m {method} -k 2")).out.contains("continuous target"),
            "{method}"
        );
    }
    s.ok("select wine.csv -m pfs --target none -k 2");
    // Methods without a path have an empty one.
    let fisher = record(&s, "wine.csv -m fisher -k 2");
    assert_eq!((&fisher["path"], &fisher["coef"]), (&serde_json::json!([]), &Value::Null));
}

#[test]
fn features_that_are_relevant_only_jointly() {
    let s = Scratch::new();
    let made = s.ok("data make xor --rows 300 --columns 20 --seed 1 --out xor.csv").err;
    let mut relevant: Vec<&str> = made.trim().rsplit(": ").next().unwrap().split(", ").collect();
    relevant.sort_unstable();
    let found = |method: &str| {
        let record = record(&s, &format!("xor.csv -m {method} -k 2"));
        let mut names: Vec<String> =
            record["selected"].as_array().unwrap().iter().map(|v| v.as_str().unwrap().to_owned()).collect();
        names.sort();
        names
    };
    assert_eq!(found("hsfs"), relevant);
    assert_eq!(found("bahsic"), relevant);
    // Univariate and linear methods do not detect them.
    for method in ["fisher", "ldfs", "hsic-lasso"] {
        assert_ne!(found(method), relevant, "{method}");
    }
}

#[test]
fn the_output_has_a_shortened_path() {
    let s = folder();
    let page = s.ok("select wine.csv -m ldfs -k 3 -q").out;
    assert!(page.contains("ldfs selects 3 of 6 features"), "{page}");
    assert!(page.contains("  path: a smaller penalty gives more features a nonzero weight"), "{page}");
    let header = page.lines().find(|line| line.contains("penalty") && line.contains("objective")).unwrap();
    assert_eq!(
        header.split_whitespace().collect::<Vec<_>>(),
        ["penalty", "objective", "features", "largest", "weights"]
    );
    let whole = s.ok("select wine.csv -m ldfs").out;
    assert!(whole.contains(" ... 10 of 61 steps; all with -v"), "{whole}");
    let places = |page: &str| {
        let (_, table) = page.split_once("largest weights\n").unwrap();
        table.lines().take_while(|line| !line.is_empty() && !line.contains("...  ")).count()
    };
    assert_eq!(places(&s.ok("select wine.csv -m ldfs -v").out), 61);
    let page = s.ok("select xor.csv -m hsfs -k 2").out;
    assert!(
        page.contains("radius") && page.contains("HSIC") && !page.contains('-'),
        "HSIC is positive: {page}"
    );
    for (method, title) in
        [("fohsic", "HSIC as features are added"), ("bahsic", "HSIC as features are removed")]
    {
        let page = s.ok(&format!("select xor.csv -m {method} -k 2")).out;
        assert!(page.contains(title) && !page.contains("penalty"), "{page}");
    }
}

#[test]
fn the_path_file_has_a_line_per_point_and_feature() {
    let s = folder();
    for method in METHODS {
        let file = if method == "hsfs" { "path.tsv" } else { "path.csv" };
        let record = record(&s, &format!("wine.csv -m {method} -k 2 --path {file}"));
        let separator = if method == "hsfs" { '\t' } else { ',' };
        let text = s.text(file).replace(separator, ",");
        let mut lines = text.lines();
        assert_eq!(
            lines.next().unwrap(),
            "step,strength,objective,optimality,iterations,stop,n_features,rank,feature,weight"
        );
        for (place, point) in record["path"].as_array().unwrap().iter().enumerate() {
            let features = point["features"].as_array().unwrap();
            for rank in 0..features.len().max(1) {
                let cells: Vec<&str> = lines.next().unwrap().split(',').collect();
                assert_eq!(cells[0], (place + 1).to_string());
                for (cell, name) in [(1, "strength"), (2, "objective"), (3, "optimality")] {
                    assert_eq!(
                        cells[cell].parse::<f64>().unwrap(),
                        point[name].as_f64().unwrap(),
                        "{method}"
                    );
                }
                assert_eq!(cells[4], point["iterations"].to_string());
                assert_eq!(cells[5], point["stop"].as_str().unwrap());
                assert_eq!(cells[6], features.len().to_string());
                if features.is_empty() {
                    assert_eq!(cells[7..], ["", "", ""]);
                    continue;
                }
                assert_eq!(
                    (cells[7], cells[8]),
                    ((rank + 1).to_string().as_str(), features[rank].as_str().unwrap())
                );
                assert_eq!(cells[9].parse::<f64>().unwrap(), point["weights"][rank].as_f64().unwrap());
            }
        }
        assert_eq!(lines.next(), None, "{method}");
    }
    s.ok("select wine.csv -m hsic-lasso --path path.csv.gz");
    // The file can be read as a table.
    s.ok("select path.csv --target feature -m fisher --missing drop --exclude stop -k 1");
}

#[test]
#[expect(clippy::too_many_lines, reason = "a list of cases")]
fn every_option_changes_the_result() {
    let s = folder();
    let weights = |line: &str| {
        let record = record(&s, line);
        format!("{} {} {}", record["scores"], record["coef"], record["path"])
    };
    for (line, options) in [
        (
            "xor.csv -m hsfs",
            &[
                "--set form=penalized",
                "--set directions=3",
                "--set diagonal=true",
                "--set target_kernel=linear",
                "--set bandwidth=3",
                "--set radius=0.7",
                "--set form=penalized --set penalty=0.01",
                "--set random_starts=6",
                "--set approximation=fourier",
                "--set approximation=fourier --set features=64",
                "--set approximation=nystrom --set features=20",
                "--set tol=0.01",
                "--set max_iter=3",
            ][..],
        ),
        (
            "wine.csv -m ldfs",
            &[
                "--set form=normalized",
                "--set form=constrained",
                "--set form=normalized --set ridge=2",
                "--set form=normalized --set weighted_scatter=false",
                "--set penalty=0.2",
                "--set n_penalties=7",
                "--set penalty_ratio=0.5",
                "--set tol=0.01",
                "--set max_iter=1",
            ],
        ),
        (
            "wine.csv -m pfs",
            &[
                "--set n_components=2",
                "--set penalty=0.2",
                "--set n_penalties=7",
                "--set penalty_ratio=0.5",
                "--set tol=0.01",
                "--set max_iter=1",
            ],
        ),
        ("xor.csv -m fohsic", &["--set target_kernel=linear", "--set estimator=unbiased", "--set gamma=0.2"]),
        (
            "xor.csv -m bahsic",
            &[
                "--set form=fast",
                "--set step=0.4",
                "--set target_kernel=delta",
                "--set estimator=unbiased",
                "--set gamma=0.2",
            ],
        ),
        (
            "wine.csv -m hsic-lasso",
            &["--set target_kernel=delta", "--set block_size=20", "--set block_size=20 --set permutations=9"],
        ),
    ] {
        let mut seen = vec![weights(line)];
        for option in options {
            let found = weights(&format!("{line} {option}"));
            assert!(!seen.contains(&found), "{line} {option}");
            seen.push(found);
        }
    }
    let linear = weights("number.csv -m hsfs -k 2 --set target_kernel=linear");
    assert_ne!(linear, weights("number.csv -m hsfs -k 2 --set target_kernel=gaussian"));
    assert_eq!(
        weights("xor.csv -m hsfs -k 2 --seed 5"),
        weights("xor.csv -m hsfs -k 2 --seed 5 --threads 1")
    );
}

#[test]
fn sparse_and_dense_tables_agree() {
    let s = folder();
    let csv = s.text("wine.csv");
    let svm: String = csv
        .lines()
        .skip(1)
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            let pairs: String = (0..6).map(|j| format!(" {}:{}", j + 1, cells[j])).collect();
            format!("{}{pairs}\n", cells[6])
        })
        .collect();
    s.file("wine.svm", svm);
    for method in METHODS {
        // Sorted, because svmlight files have no feature names.
        let scores = |file: &str| {
            let record = record(&s, &format!("{file} -m {method} -k 2"));
            let mut scores: Vec<f64> =
                record["scores"].as_object().unwrap().values().map(|v| v.as_f64().unwrap()).collect();
            scores.sort_by(f64::total_cmp);
            scores
        };
        let (dense, sparse) = (scores("wine.csv"), scores("wine.svm"));
        // Solvers stop within their tolerances; sparse rows sum in another order.
        assert!(
            dense.iter().zip(&sparse).all(|(a, b)| (a - b).abs() < 2e-3),
            "{method}: {dense:?} {sparse:?}"
        );
    }
}

#[test]
fn a_selection_is_saved_and_applied() {
    let s = folder();
    for method in METHODS {
        s.ok(&format!("select wine.csv -m {method} -k 2 --out kept.csv --save model.ks"));
        assert_eq!(s.ok("apply model.ks wine.csv").out, s.text("kept.csv"), "{method}");
    }
}

#[test]
fn compare_accepts_parameters() {
    let s = folder();
    let line = "compare wine.csv -m hsfs:directions=2,ldfs,ldfs:form=normalized,pfs:n_components=2,fohsic:gamma=0.1,\
                bahsic:form=fast,hsic-lasso:block_size=10 -k 1,2 --folds 2 --evaluator knn --json";
    let record: Value = serde_json::from_str(&s.ok(line).out).unwrap();
    let methods = record["summary"]["methods"].as_array().unwrap();
    assert_eq!(methods.len(), 7);
    assert!(
        methods.iter().all(|m| m["cells"].as_array().unwrap().iter().all(|c| c["mean"].is_f64())),
        "{methods:?}"
    );
    let error = s.error("compare wine.csv -m hsfs:direction=2 -k 1");
    assert!(error.contains("direction"), "{error}");
}

#[test]
fn unknown_parameters_are_errors() {
    let s = Scratch::new();
    for (line, expected) in [
        ("-m fisher --set form=fast", "fisher has no parameters; leave out 'form'"),
        ("-m relief --path p.csv", "--path has no effect with relief"),
        ("-m takes --path p.csv", "--path has no effect with takes"),
        ("-m takes --set radius=1", "no parameter 'radius'"),
        ("-m hsfs --set form=fast", "hsfs: parameter 'form' must be constrained or penalized, got 'fast'"),
        (
            "-m ldfs --set form=penalized",
            "ldfs: parameter 'form' must be least-squares, normalized or constrained, got 'penalized'",
        ),
        (
            "-m bahsic --set form=normalized",
            "bahsic: parameter 'form' must be exact or fast, got 'normalized'",
        ),
        ("-m hsfs --set penalty=1", "HSFS: parameter 'penalty' must be left out in the constrained form"),
        ("-m hsfs --set form=penalized --set radius=1", "HSFS: parameter 'radius' must be left out"),
        ("-m hsfs --set diagonal=true --set directions=2", "HSFS: parameter 'directions' must be left out"),
        (
            "-m hsfs --set diagonal=true --set approximation=fourier",
            "HSFS: parameter 'approximation' must be exact",
        ),
        ("-m hsfs --set ridge=1", "no parameter 'ridge'"),
        (
            "-m fohsic --set gamma=median",
            "fohsic: parameter 'gamma' must be a number, above 0, or none, got 'median'",
        ),
        ("-m bahsic --set step=2", "bahsic: parameter 'step' must be a number, above 0 and below 1, got '2'"),
    ] {
        let message = s.error(&format!("select builtin:wine {line}"));
        assert!(message.starts_with(expected), "{line}: {message}");
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a list of cases")]
fn invalid_values_are_errors() {
    let s = folder();
    for (line, expected) in [
        (
            "-m hsfs --set directions=0",
            "hsfs: parameter 'directions' must be an integer, at least 1, or none, got '0'",
        ),
        (
            "-m hsfs --set bandwidth=0",
            "hsfs: parameter 'bandwidth' must be a number, above 0, or none, got '0'",
        ),
        ("-m hsfs --set radius=-1", "hsfs: parameter 'radius' must be a number, above 0, or none, got '-1'"),
        (
            "-m hsfs --set radius=1 -k 2",
            "HSFS: parameter 'radius' must be left out where a number of features is given, got 1",
        ),
        (
            "-m hsfs --set form=penalized --set penalty=-1",
            "hsfs: parameter 'penalty' must be a number, above 0, or none, got '-1'",
        ),
        (
            "-m hsfs --set approximation=nystrom --set features=0",
            "hsfs: parameter 'features' must be an integer, at least 1, got '0'",
        ),
        ("-m hsfs --set tol=0", "hsfs: parameter 'tol' must be a number, above 0, got '0'"),
        ("-m hsfs --set max_iter=0", "hsfs: parameter 'max_iter' must be an integer, at least 1, got '0'"),
        (
            "-m hsfs --set target_kernel=linear",
            "HSFS: parameter 'target_kernel' must be not 'linear' for more than two classes",
        ),
        (
            "-m hsfs --set target_kernel=gaussian",
            "HSFS: parameter 'target_kernel' must be not 'gaussian' for classes",
        ),
        ("-m hsfs -k 9", "-k must be from 1 to the number of columns, 6, got 9"),
        ("-m hsfs --target none", "HSFS: needs a target"),
        ("-m ldfs --set penalty=0", "ldfs: parameter 'penalty' must be a number, above 0, or none, got '0'"),
        (
            "-m ldfs --set penalty=1 -k 2",
            "LDFS: parameter 'penalty' must be left out where a number of features is given, got 1",
        ),
        (
            "-m ldfs --set n_penalties=1",
            "ldfs: parameter 'n_penalties' must be an integer, from 2 to 10000, got '1'",
        ),
        (
            "-m ldfs --set penalty_ratio=1",
            "ldfs: parameter 'penalty_ratio' must be a number, above 0 and below 1, got '1'",
        ),
        (
            "-m ldfs --set form=normalized --set ridge=0",
            "ldfs: parameter 'ridge' must be a number, above 0, got '0'",
        ),
        ("-m ldfs --set tol=-1", "ldfs: parameter 'tol' must be a number, above 0, got '-1'"),
        ("-m ldfs --set max_iter=0", "ldfs: parameter 'max_iter' must be an integer, at least 1, got '0'"),
        ("-m ldfs --target malic_acid --target-type number", "LDFS: needs a classification target"),
        (
            "-m pfs --set n_components=0",
            "pfs: parameter 'n_components' must be an integer, at least 1, or none, got '0'",
        ),
        ("-m pfs --set tol=nan", "pfs: parameter 'tol' must be a number, above 0, got 'nan'"),
        ("-m fohsic --target none", "FOHSIC: needs a target"),
        (
            "-m hsic-lasso --set block_size=1",
            "hsic-lasso: parameter 'block_size' must be an integer, at least 2, or none, got '1'",
        ),
        (
            "-m hsic-lasso --set block_size=999",
            "HSIC Lasso: parameter 'block_size' must be at most the number of rows, ",
        ),
        (
            "-m hsic-lasso --set block_size=9 --set permutations=0",
            "hsic-lasso: parameter 'permutations' must be an integer, from 1 to 10000, got '0'",
        ),
        ("-m hsfs --path path.npy", "path.npy: column 'feature' is text, but .npy holds numbers only"),
        ("-m hsfs --path path.xlsx", "path.xlsx: "),
        ("-m hsfs --path absent/path.csv", "absent/path.csv: "),
        ("-m hsfs --path wine.csv", "--path would write over wine.csv"),
    ] {
        let message = s.error(&format!("select wine.csv {line}"));
        assert!(message.starts_with(expected), "{line}: {message}");
    }
    for line in [
        "--set gamma=0 -m fohsic",
        "--set estimator=normalized -m fohsic",
        "--set form=printed -m hsfs",
        "--set step=1.5",
    ] {
        assert_eq!(s.run(&format!("select wine.csv {line}")).code, 2, "{line}");
    }
}
