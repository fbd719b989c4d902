//! The command compare.

use crate::scratch::Scratch;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn the_table_has_scores_and_costs_per_method() {
    let run = Scratch::new().ok("compare builtin:wine -m fisher,relief,takes -k 1..3 --evaluator knn");
    assert!(run.out.starts_with(
        "builtin:wine: 178 rows, 13 columns, target 'target' with 3 classes\n\
         error in % of knn in 5 folds; methods are fitted on training rows only\n"
    ));
    for method in ["fisher", "relief", "takes"] {
        // Once in the table of scores and once in the table of costs.
        let rows = run.out.lines().filter(|line| line.trim_start().starts_with(method)).count();
        assert_eq!(rows, 2, "{}", run.out);
    }
    assert!(run.out.contains("* best") && run.out.contains("all 13 features: "), "{}", run.out);
    assert!(run.out.contains("KiB") || run.out.contains("MiB"), "memory is measured: {}", run.out);
}

#[test]
fn the_json_record_is_complete() {
    let out = Scratch::new()
        .ok("compare builtin:wine -m fisher,random -k 2,5 --evaluator knn --folds 3 --json")
        .out;
    let record: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(record["summary"]["counts"], serde_json::json!([2, 5]));
    let methods = record["summary"]["methods"].as_array().unwrap();
    assert_eq!(methods.len(), 2);
    assert!(
        methods[0]["select_seconds"].as_f64().unwrap() > 0.0
            && methods[0]["peak_bytes"].as_u64().unwrap() > 0
    );
    // Two methods with two numbers of features, and all features, in three folds.
    assert_eq!(record["results"].as_array().unwrap().len(), 15);
    // The mean in the summary is the mean of the results.
    let errors: Vec<f64> = record["results"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|r| r["method"] == "fisher" && r["k"] == 5)
        .map(|r| r["error"].as_f64().unwrap())
        .collect();
    let mean = errors.iter().sum::<f64>() / 3.0;
    assert!((methods[0]["cells"][1]["mean"].as_f64().unwrap() - mean).abs() < 1e-15);
}

#[test]
fn missing_values_are_imputed_inside_folds() {
    let s = Scratch::new();
    s.ok("data export wine --out wine.csv");
    let text = s.text("wine.csv");
    let with_missing: Vec<String> = text
        .lines()
        .enumerate()
        .map(|(i, line)| {
            // The first value of every fifth row is missing.
            if i % 5 == 1 { line[line.find(',').unwrap()..].to_owned() } else { line.to_owned() }
        })
        .collect();
    s.file("missing.csv", with_missing.join("\n") + "\n");
    let run = s.run("compare missing.csv -m fisher -k 2 --evaluator knn --missing error");
    assert_eq!(run.code, 2);
    assert!(run.err.contains("missing value"), "{}", run.err);
    s.ok("compare missing.csv -m fisher,relief -k 2 --evaluator knn --missing median --record r.jsonl");
    assert_eq!(lines(&s.text("r.jsonl"))[0]["impute"], "median");
    let run =
        s.run("compare missing.csv -m fisher,relief -k 2 --evaluator knn --missing mean --record r.jsonl");
    assert!(run.code == 2 && run.err.contains("another imputation of missing values"), "{}", run.err);
}

#[test]
fn regression_and_other_scores() {
    let s = Scratch::new();
    let out = s.ok("compare builtin:boston -m random -k 5 --folds 3").out;
    assert!(out.contains("R² in % of ridge in 3 folds"), "{out}");
    let out = s
        .ok("compare builtin:sonar -m fisher -k 5 --evaluator knn --metric auc --test-size 0.3 --repeats 4")
        .out;
    assert!(out.contains("AUC in % of knn in 4 random splits with 30 % test rows"), "{out}");
    let run = s.run("compare builtin:boston -m random -k 5 --metric error");
    assert!(
        run.code == 2 && run.err.contains("--metric must be one of r2, rmse, mae for regression, got error"),
        "{}",
        run.err
    );
    let run = s.run("compare builtin:wine -m fisher -k 5 --metric r2");
    assert!(run.code == 2 && run.err.contains("log-loss, f1 for classification, got r2"), "{}", run.err);
}

#[test]
fn invalid_options_are_errors() {
    let s = Scratch::new();
    s.ok("data export wine --out wine.csv");
    for (line, expected) in [
        ("compare builtin:wine -m fischer", "no method 'fischer'; did you mean 'fisher'?"),
        ("compare builtin:wine -m relief:neighbors=3", "no parameter 'neighbors'"),
        ("compare builtin:wine -m fisher -k 14", "-k must be from 1 to the number of columns, 13, got 14"),
        ("compare builtin:wine -m fisher -k 3..1", "'3..1' is empty"),
        ("compare builtin:wine -m fisher --folds 1", "--folds must be from 2"),
        ("compare builtin:wine -m fisher --test-size 2", "--test-size must be between 0 and 1, got 2"),
        ("compare builtin:wine -m fisher --repeats 0", "--repeats must be at least 1"),
        ("compare builtin:wine -m fisher --folds 3 --test-size 0.3", "cannot be used with"),
        ("compare builtin:wine -m fisher --evaluator ridge", "--evaluator must be svm"),
        ("compare builtin:wine -m fisher --evaluator jury", "no evaluator 'jury'"),
        ("compare builtin:wine -m fisher --evaluator knn:C=3", "no parameter 'C'"),
        ("compare builtin:wine -m fisher --evaluator svm:n_neighbors=3", "no parameter 'n_neighbors'"),
        ("compare builtin:wine -m fisher --evaluator kernel-knn:kernel=poly,gamma=[1,2]", "'gamma' must be"),
        ("compare builtin:wine -m fisher --evaluator knn:n_neighbors=0", "an integer, at least 1, got '0'"),
        ("compare builtin:wine -m fisher --evaluator svm:C=[1,-2]", "'C' must be a list of numbers, above 0"),
        (
            "compare builtin:wine -m fisher --evaluator relief",
            "relief is a selector; use `kernsift select -m relief`",
        ),
        ("compare builtin:wine --target none -m fisher", "no target"),
        ("compare wine.csv -m fisher --record wine.csv", "--record would write over wine.csv"),
        ("compare builtin:wine -m fisher --record nowhere/runs.jsonl", "nowhere"),
        (
            "compare builtin:wine -m relief:n_neighbors=500,clip=false --evaluator knn -k 2",
            "'n_neighbors' must be from 1",
        ),
        (
            "compare builtin:wine -m relief:n_neighbors=46,clip=false --evaluator knn -k 2",
            "no method could be evaluated",
        ),
        ("compare builtin:wine -m fisher -k 2 --evaluator knn --folds 178 --metric auc", "auc is undefined"),
        ("compare builtin:wine -m fisher -k 2 --evaluator kernel-knn:gamma=2", "'gamma' has no effect"),
        (
            "compare builtin:wine -m fisher -k 2 --evaluator svm:kernel=linear,gammas=2",
            "'gammas' has no effect",
        ),
        ("compare builtin:wine -m fisher --record r.jsonl --report ./r.jsonl", "need different files"),
        ("compare builtin:wine -m fisher -k 2 --repeats 10000000000", "use fewer repeats"),
    ] {
        let run = s.run(line);
        assert_eq!(run.code, 2, "{line}\n{}{}", run.out, run.err);
        assert!(run.err.contains(expected), "{line}\n{}", run.err);
        assert!(run.out.is_empty(), "{line}");
    }
    assert_eq!(s.files(), ["wine.csv"], "no other file is written");
}

/// Forty patients with four almost equal rows each, a random class per patient, and the day of each row.
fn patients() -> String {
    let noise = |i: usize, of: usize| {
        let mixed = (i * 1_000_003 + of * 7_777_777 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        ((mixed ^ (mixed >> 32)) >> 11) as f64 / (1u64 << 53) as f64
    };
    let row = |i: usize| {
        let patient = i % 40;
        let features: Vec<String> =
            (0..4).map(|j| (noise(patient, j + 1) + 0.001 * noise(i, j)).to_string()).collect();
        let class = if noise(patient, 9) < 0.5 { "ill" } else { "well" };
        format!("p{patient},2021-01-{:02},{},{class}\n", 1 + i % 28, features.join(","))
    };
    format!("patient,day,a,b,c,d,class\n{}", (0..160).map(row).collect::<String>())
}

#[test]
fn groups_and_times_are_respected() {
    let s = Scratch::new();
    s.file("p.csv", patients());
    let error = |options: &str| {
        let line = format!("compare p.csv -m random -k 4 --evaluator knn:n_neighbors=1 --json {options}");
        let record: Value = serde_json::from_str(&s.ok(&line).out).unwrap();
        record["summary"]["methods"][0]["cells"][0]["mean"].as_f64().unwrap()
    };
    // Rows of the same patient identify it. A guess of 40 patients has a standard deviation of 0.08.
    let leaking = error("--exclude patient --exclude day");
    let right = error("--groups patient --exclude day");
    assert!(leaking < 0.05 && right > 0.25, "{leaking} {right}");
    let line = "compare p.csv -m fisher -k 2 --evaluator knn";
    let out = s.ok(&format!("{line} --groups patient --repeats 2 --report p.html --record r.jsonl")).out;
    assert!(out.contains("4 columns") || out.contains("5 columns"), "{out}");
    assert!(out.contains("in 5 folds, repeated 2 times, groups kept together;"), "{out}");
    assert!(s.text("p.html").contains("groups kept together"));
    let run = lines(&s.text("r.jsonl")).remove(0);
    for fold in run["folds"].as_array().unwrap() {
        let test: Vec<u64> =
            fold["test"].as_array().unwrap().iter().map(|row| row.as_u64().unwrap()).collect();
        assert!(test.iter().all(|row| test.contains(&((row + 40) % 160))), "a patient has every 40th row");
    }
    let out = s.ok(&format!("{line} --time day --folds 3")).out;
    assert!(out.contains("in 3 folds by time;"), "{out}");
    let out = s.ok(&format!("{line} --stratify off --metric f1")).out;
    assert!(out.contains("F1 score in % of knn in 5 folds, not stratified;"), "{out}");
    let out = s.ok("select p.csv --groups patient").out;
    assert!(out.contains("better than chance") && !out.contains("patient"), "{out}");
    s.file("one.csv", "g,t,x,y\n1,1,2,a\n1,1,3,b\n1,,4,a\n");
    for (options, expected) in [
        ("p.csv --groups patent", "no column 'patent'; did you mean 'patient'?"),
        ("p.csv --groups patient --folds 41", "--folds must be from 2 to the number of groups, 40, got 41"),
        ("p.csv --groups patient --time day", "cannot be used with"),
        ("p.csv --groups class --target class", "--groups and --target name the same column"),
        ("p.csv --time patient", "the time column 'patient' has neither numbers nor dates"),
        ("p.csv --time day --repeats 2", "--repeats must be 1 for splits by time"),
        ("p.csv --time day --folds 28", "from 2 to the number of different times minus 1, 27, got 28"),
        ("one.csv --groups g", "the groups in 'g' are all the same"),
        ("one.csv --time t", "the time in column 't' is missing in row 3"),
        ("p.csv --metric log-loss --evaluator svm", "use the evaluator knn or kernel-knn, got log-loss"),
    ] {
        let run = s.run(&format!("compare {options} -m fisher -k 1"));
        assert!(run.code == 2 && run.err.contains(expected), "{options}: {}", run.err);
    }
    let few = s.run("select p.csv --groups class --target patient");
    assert!(few.code == 2 && few.err.contains("the number of groups, 2, got 5"), "{}", few.err);
}

#[test]
fn a_budget_leaves_out_slow_methods_and_names_them() {
    let s = Scratch::new();
    let run = s.ok("compare builtin:sonar -m fisher,auto -k 2 --evaluator knn --budget 1s");
    assert!(
        run.err
            .contains("plan: 2 methods x 5 splits x 1 number of features, and all features: 15 evaluations")
    );
    assert!(run.err.contains("auto is left out of 5 splits"), "{}", run.err);
    let fisher = run.out.lines().find(|line| line.trim_start().starts_with("fisher")).unwrap();
    assert!(
        !fisher.contains("/5)") && run.out.contains("fewest features within one standard error"),
        "{}",
        run.out
    );
    let run = s.run("compare builtin:sonar -m fisher --budget 10");
    assert!(run.code == 2 && run.err.contains("such as 10min"), "{}", run.err);
}

#[test]
fn errors_of_numbers_are_not_in_percent() {
    let s = Scratch::new();
    let line = "compare builtin:boston -m random -k 5 --folds 3 --evaluator knn --report r.html";
    let out = s.ok(&format!("{line} --metric rmse")).out;
    assert!(out.contains("RMSE of knn in 3 folds"), "{out}");
    let page = s.text("r.html");
    assert!(page.contains("Lowest RMSE") && !page.contains("RMSE, %") && page.contains("continuous"));
}

/// Rows of a table with a number, a category, a date and a target.
fn mixed(rows: std::ops::Range<usize>, colors: &[&str], missing: bool) -> String {
    let row = |i: usize| {
        let class = if i.is_multiple_of(3) { "yes" } else { "no" };
        let size = if missing && i.is_multiple_of(4) {
            String::new()
        } else {
            format!("{}.5", i * i % 17 + 9 * (i % 3))
        };
        format!("{size},{},2021-0{}-11,{class}\n", colors[i % colors.len()], 1 + i % 9)
    };
    rows.map(row).collect()
}

#[test]
fn a_test_file_replaces_folds() {
    let s = Scratch::new();
    let header = "size,color,day,class\n";
    s.file("train.csv", format!("{header}{}", mixed(0..60, &["red", "green"], false)));
    let test = mixed(60..90, &["red", "green", "violet"], true);
    s.file("test.csv", format!("{header}{test}"));
    let line = "compare train.csv -m fisher,relief -k 1,2 --evaluator knn --test";
    let run = s.ok(&format!("{line} test.csv --report page.html"));
    assert!(run.out.contains("error in % of knn in 30 test rows of test.csv"), "{}", run.out);
    assert!(!run.out.contains('±'), "one split has no standard deviation: {}", run.out);
    let other = "test.csv: column 'color': 10 rows have categories that the training table does not have";
    assert!(run.err.contains(other), "{}", run.err);
    assert!(s.text("page.html").contains("one, given by the user, with 30 test rows"));

    // Another order, and a column more: the same result.
    let moved: String = test
        .lines()
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            format!("{},7,{},{},{}\n", cells[3], cells[1], cells[0], cells[2])
        })
        .collect();
    s.file("moved.csv", format!("class,extra,color,size,day\n{moved}"));
    let scores = |out: &str| out.lines().skip(3).take(3).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(scores(&s.ok(&format!("{line} moved.csv")).out), scores(&run.out));

    let without: String =
        test.lines().map(|line| format!("{}\n", &line[line.find(',').unwrap() + 1..])).collect();
    s.file("short.csv", format!("color,day,class\n{without}"));
    assert_eq!(
        s.error(&format!("{line} short.csv")),
        "short.csv: no column 'size'; there are color, day, class"
    );
    s.file("unlabeled.csv", "size,color,day\n1,red,2021-01-01\n");
    assert!(s.error(&format!("{line} unlabeled.csv")).starts_with("unlabeled.csv: no column 'class'"));
    let error = s.error(&format!("{line} test.csv --missing error"));
    assert!(error.starts_with("test.csv: row 1, column 'size': missing value"), "{error}");
    s.file("new.csv", format!("{header}{test}1,red,2021-01-01,maybe\n"));
    let run = s.ok(&format!("{line} new.csv"));
    assert!(run.err.contains("one class is not among the training rows, such as 'maybe'"), "{}", run.err);
    assert_eq!(s.run(&format!("{line} test.csv --folds 3")).code, 2);
    assert!(s.error(&format!("{line} test.csv --report test.csv")).contains("would write over test.csv"));
}

/// `select --test` has the error of a comparison with the same number of features.
#[test]
fn select_measures_the_error_on_a_test_file() {
    let s = Scratch::new();
    let header = "size,color,day,class\n";
    s.file("train.csv", format!("{header}{}", mixed(0..60, &["red", "green"], false)));
    s.file("test.csv", format!("{header}{}", mixed(60..90, &["red", "green", "violet"], true)));
    let record = |line: &str| -> serde_json::Value { serde_json::from_str(&s.ok(line).out).unwrap() };
    let compared = record("compare train.csv -m fisher -k 1 --test test.csv --json");
    let results = compared["results"].as_array().unwrap();
    let error = |method: &str| results.iter().find(|r| r["method"] == method).unwrap()["error"].clone();
    let found = record("select train.csv -m fisher -k 1 --test test.csv --json");
    let test = &found["test"];
    assert_eq!((test["rows"].as_u64(), test["evaluator"].as_str()), (Some(30), Some("svm")));
    assert_eq!(test["selected"]["error"], error("fisher"));
    assert_eq!(test["all_features"]["error"], error("all-features"));
    let run = s.ok("select train.csv -m fisher -k 1 --test test.csv");
    assert!(
        run.out.contains("with the 1 selected, ") && run.out.contains("30 rows of test.csv"),
        "{}",
        run.out
    );
    assert!(run.err.contains("column 'color': 10 rows have categories"), "{}", run.err);
    // Without a selected feature, the error with all is left.
    let noise: String = (0..60).map(|i| format!("{},{}\n", i * 37 % 61, ["a", "b"][i * i % 7 % 2])).collect();
    s.file("noise.csv", format!("x,class\n{noise}")).file("more.csv", format!("x,class\n{noise}"));
    let run = s.ok("select noise.csv -m hsic-lasso --test more.csv");
    assert!(run.out.contains("test error of svm: "), "{}", run.out);
    let numbers: String = (0..40).map(|i| format!("{},{i}.5\n", i * i % 31)).collect();
    s.file("numbers.csv", format!("a,y\n{numbers}"));
    assert!(s.ok("select numbers.csv -m fisher --test numbers.csv").out.contains("test R² of ridge: "));
    assert!(s.error("select train.csv -m fisher --test absent.csv").starts_with("absent.csv: no such file"));
    assert!(
        s.error("select train.csv --target none -m pfs -k 1 --test test.csv")
            .contains("--test needs a target")
    );
}

#[test]
fn a_continuous_target_of_a_test_file_is_read_as_in_training() {
    let s = Scratch::new();
    let rows = |range: std::ops::Range<usize>| -> String {
        range.map(|i| format!("{};{}.{:03},5\n", i * i % 31, 1 + i % 9, i * i % 31)).collect()
    };
    s.file("train.csv", format!("a;amount\n{}", rows(0..40)));
    // Without a comma, a point would separate decimals.
    s.file("test.csv", format!("a;amount\n{}", rows(40..60).replace(",5\n", "\n")));
    let out = s.ok("compare train.csv -m fisher -k 1 --target amount --test test.csv --json").out;
    let record: serde_json::Value = serde_json::from_str(&out).unwrap();
    let r2 = record["summary"]["methods"][0]["cells"][0]["mean"].as_f64().unwrap();
    // Values a thousand times too small would give an R² far below this.
    assert!(r2 > -100.0, "{r2}");
}

#[test]
fn several_tables_give_mean_ranks() {
    let s = Scratch::new();
    s.ok("data export wine --out wine.csv");
    let line = "compare wine.csv builtin:iris builtin:wdbc builtin:ionosphere -m fisher,relief,random -k 1,2 --evaluator knn --folds 3";
    let run = s.ok(&format!("{line} --record r.jsonl --report r.html"));
    assert!(run.out.starts_with("mean ranks of 3 methods over 4 tables, by error in %"), "{}", run.out);
    assert!(run.out.contains("Friedman test: F") && run.out.contains("critical difference"), "{}", run.out);
    assert!(run.err.contains("builtin:iris:\nplan: 3 methods"), "{}", run.err);
    let page = s.text("r.html");
    assert!(
        page.contains("CD 1.66") && page.contains("Mean ranks") && page.contains("rank 3"),
        "the diagram"
    );
    let files = s.files();
    for name in ["wine", "iris", "wdbc", "ionosphere"] {
        assert!(files.contains(&format!("r.{name}.jsonl")), "{files:?}");
    }
    let record: Value = serde_json::from_str(&s.ok(&format!("{line} --record r.jsonl --json")).out).unwrap();
    assert_eq!(record["tables"].as_array().unwrap().len(), 4);
    let methods = record["ranks"]["methods"].as_array().unwrap();
    // Ranks of three methods sum to 6, and scores are means over the numbers of features.
    let sum: f64 = methods.iter().map(|method| method["mean_rank"].as_f64().unwrap()).sum();
    assert!((sum - 6.0).abs() < 1e-12 && methods[2]["label"] == "random", "{methods:?}");
    let of_wine = record["tables"][0]["summary"]["methods"].as_array().unwrap();
    let random = of_wine.iter().find(|method| method["label"] == "random").unwrap();
    let mean = |at: usize| random["cells"][at]["mean"].as_f64().unwrap();
    assert!((methods[2]["scores"][0].as_f64().unwrap() - (mean(0) + mean(1)) / 2.0).abs() < 1e-15);
    let verbose = s.ok(&format!("{line} --record r.jsonl -v"));
    assert!(
        verbose.out.contains("builtin:iris: 150 rows") && verbose.err.contains("resumed from"),
        "{}",
        verbose.out
    );

    s.file("small.csv", "x,y\n1,a\n2,b\n3,a\n");
    for (line, expected) in [
        ("compare builtin:iris none.csv -m fisher,random", "none.csv: "),
        ("compare builtin:iris builtin:iris -m fisher,random", "builtin:iris is given twice"),
        ("compare builtin:iris builtin:boston -m random -k 1", "tables need targets of one kind"),
        ("compare builtin:iris builtin:wine -m fisher", "ranks need at least two methods"),
        ("compare builtin:iris builtin:wine -m fisher,random -k 5", "builtin:iris: -k must be from 1"),
        (
            "compare builtin:iris small.csv -m fisher,random -k 1 --evaluator knn",
            "small.csv: --folds must be",
        ),
        ("compare builtin:wine wine.csv -m fisher,random -k 1 --record x.jsonl", "would share x.wine.jsonl"),
        ("compare builtin:iris builtin:wine -m fisher,random --rows 20", "cannot be used with"),
    ] {
        let run = s.run(line);
        assert!(run.code == 2 && run.err.contains(expected) && run.out.is_empty(), "{line}\n{}", run.err);
    }
}

#[test]
fn a_learning_curve_has_a_line_per_number_of_rows() {
    let s = Scratch::new();
    let line = "compare builtin:wine -m fisher,relief -k 2,4 --evaluator knn --folds 3";
    let run = s.ok(&format!("{line} --rows 30,100 --record r.jsonl --report r.html"));
    assert!(run.err.contains("3 splits x 2 numbers of training rows x 2 numbers"), "{}", run.err);
    for start in ["features  rows", "fisher      30", "fisher     100", "relief      30"] {
        assert!(run.out.lines().any(|line| line.trim_start().starts_with(start)), "{start}\n{}", run.out);
    }
    let page = s.text("r.html");
    assert!(page.contains("Learning curve") && page.contains("Number of training rows"));
    assert!(page.contains("chart-title-4") && page.contains("<dt>Training rows</dt><dd>100</dd>"));
    let complete = s.text("r.jsonl");
    assert!(lines(&complete).iter().filter(|line| line["train_rows"] == 30).count() == 3 * 5, "{complete}");
    // Killed in between, and with another size first.
    let kept: String = complete.lines().take(12).map(|line| format!("{line}\n")).collect();
    s.file("r.jsonl", kept);
    s.ok(&format!("{line} --rows 100 --record r.jsonl"));
    let record: Value =
        serde_json::from_str(&s.ok(&format!("{line} --rows 100,30 --record r.jsonl --json")).out).unwrap();
    assert_eq!(s.text("r.jsonl"), complete);
    assert_eq!(record["learning_curve"].as_array().unwrap().len(), 2);
    let other = s.run(&format!("{line} --record r.jsonl"));
    assert!(other.code == 2 && other.err.contains("other splits"), "{}", other.err);
    s.file("p.csv", patients());
    for (options, expected) in [
        (
            "builtin:wine --rows 200",
            "--rows must be at most 142, the training rows of the smallest split, got 200",
        ),
        ("builtin:wine --rows 1", "--rows must be at least 2, two rows, got 1"),
        ("p.csv --groups patient --rows 6", "--rows must be at least 8, the rows of the two first groups"),
    ] {
        let run = s.run(&format!("compare {options} -m fisher -k 1 --record new.jsonl"));
        assert!(run.code == 2 && run.err.contains(expected), "{options}: {}", run.err);
    }
    assert!(!s.files().contains(&"new.jsonl".to_owned()));
    // With times the last rows are used.
    s.ok("compare p.csv --time day --exclude patient -m fisher -k 1 --evaluator knn --rows 20 --folds 2 --record t.jsonl");
    let order = lines(&s.text("t.jsonl"))[0]["folds"][0]["order"].as_array().unwrap().clone();
    let day = |row: &Value| 1 + row.as_u64().unwrap() % 28;
    assert!(order.windows(2).all(|pair| day(&pair[0]) >= day(&pair[1])), "{order:?}");
}

#[test]
fn predictions_show_confusion_and_calibration() {
    let s = Scratch::new();
    let line = "compare builtin:wine -m fisher,takes -k 2,4 --folds 3 --predictions";
    let run = s.ok(&format!("{line} --evaluator knn --report r.html"));
    assert!(run.out.contains("test rows by class and predicted class"), "{}", run.out);
    assert!(
        run.out.contains("calibration: Brier score") && run.out.contains("probability  frequency"),
        "{}",
        run.out
    );
    let page = s.text("r.html");
    assert!(page.contains("Predictions of the test rows") && page.contains("Reliability curve"));
    let record: Value = serde_json::from_str(&s.ok(&format!("{line} --evaluator knn --json")).out).unwrap();
    let found = &record["predictions"];
    let rows: u64 = found["confusion"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|row| row.as_array().unwrap())
        .map(|n| n.as_u64().unwrap())
        .sum();
    assert_eq!((rows, &found["method"]), (178, &record["summary"]["simplest"]["label"]));
    let bins = found["calibration"]["bins"].as_array().unwrap();
    assert_eq!(bins.iter().map(|bin| bin["rows"].as_u64().unwrap()).sum::<u64>(), 178);
    let svm = s.ok(&format!("{line} --evaluator linear-svm")).out;
    assert!(svm.contains("no calibration: linear-svm gives no probabilities"), "{svm}");
    let error = s.error("compare builtin:boston -m random -k 2 --predictions");
    assert!(error.contains("--predictions needs classes"), "{error}");
}

#[test]
fn a_long_run_has_a_plan_and_progress_in_a_pipe() {
    let s = Scratch::new();
    s.ok("data make xor --rows 400 --columns 1500 --out big.csv");
    let line = "compare big.csv -m fisher,svm-rfe,nca -k 1..10 --repeats 20 -v";
    let mut child = s.command(line).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut seen = String::new();
    for line in BufReader::new(child.stderr.take().unwrap()).lines() {
        seen += &(line.unwrap() + "\n");
        if seen.contains("compare: ") && seen.contains(" minutes, most of them for ") {
            break;
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let at = |text: &str| seen.find(text);
    let (first, second, third) =
        (at("plan: 3 methods x 100 splits"), at(" minutes, most of them"), at("compare: "));
    assert!(first.is_some() && first < second && second < third, "{seen}");
}

#[test]
fn the_automatic_selector_chooses_by_another_score() {
    let s = Scratch::new();
    let out = s.ok("select builtin:iris --set scoring=log-loss").out;
    assert!(out.contains("Log loss on samples that took no part"), "{out}");
    for (scoring, expected) in [
        ("mae", "balanced-error, balanced-accuracy, error, auc or log-loss for classes, got mae"),
        ("f1", "'scoring' must be"),
    ] {
        let error = s.error(&format!("select builtin:iris --set scoring={scoring}"));
        assert!(error.contains(expected), "{error}");
    }
}
