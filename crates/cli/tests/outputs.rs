//! Several target columns.

use crate::scratch::Scratch;
use serde_json::Value;

/// Forty rows in which a depends on x1 and b on x3, and a missing value in each.
fn table(s: &Scratch) {
    let value = |i: usize, j: usize| ((i * (7 + 6 * j) + i * i * (j + 1)) % 41) as f64 / 20.0 - 1.0;
    let row = |i: usize| {
        let x: Vec<f64> = (0..4).map(|j| value(i, j)).collect();
        let a = if i == 3 { String::new() } else { format!("{:.4}", x[1] * x[1]) };
        let b = if i == 5 { String::new() } else { format!("{:.4}", 100.0 * (3.0 * x[3]).sin()) };
        format!("{},{},{},{},{a},{b}\n", x[0], x[1], x[2], x[3])
    };
    s.file("t.csv", &("x0,x1,x2,x3,a,b\n".to_owned() + &(0..40).map(row).collect::<String>()));
}

fn sorted(record: &Value) -> Vec<&str> {
    let mut names: Vec<&str> =
        record["selected"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    names.sort_unstable();
    names
}

#[test]
fn features_of_both_targets_are_selected() {
    let s = Scratch::new();
    table(&s);
    for method in ["fohsic", "bahsic", "hsic-lasso", "hsfs"] {
        let out = s.ok(&format!("select t.csv --target a,b -m {method} -k 2 --json")).out;
        let record: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(sorted(&record), ["x1", "x3"], "{method}");
        assert_eq!(record["data"]["target"], serde_json::json!(["a", "b"]));
        assert_eq!((&record["data"]["rows"], &record["data"]["columns"]), (&38.into(), &4.into()));
    }
    let line = "select t.csv --target a,b -m fohsic -k 2 --save m.ks --out out.csv --report r.html";
    let run = s.ok(line);
    assert!(run.out.starts_with("t.csv: 38 rows, 4 columns, continuous targets 'a', 'b'"), "{}", run.out);
    assert!(run.err.contains("dropped 2 of 40 rows with missing targets"), "{}", run.err);
    assert!(s.text("out.csv").starts_with("x1,x3,a,b\n") || s.text("out.csv").starts_with("x3,x1,a,b\n"));
    assert_eq!(s.text("out.csv").lines().count(), 39);
    assert!(s.text("r.html").contains("single target column"));
    // A new table with both targets, and one with neither.
    let applied = s.ok("apply m.ks t.csv").out;
    assert_eq!(applied.lines().next(), s.text("out.csv").lines().next());
    s.file("new.csv", "x3,x1\n1,2\n");
    assert_eq!(s.ok("apply m.ks new.csv").out.lines().next().unwrap().split(',').count(), 2);
    // The tests of features are of all targets together.
    let tested: Value = serde_json::from_str(&s.ok("test t.csv --target a,b --json").out).unwrap();
    for feature in tested["features"].as_array().unwrap() {
        let is_relevant = ["x1", "x3"].contains(&feature["feature"].as_str().unwrap());
        let p = feature["p_value"].as_f64().unwrap();
        assert!(if is_relevant { p < 1e-6 } else { p > 0.05 }, "{feature}");
    }
    let inspected = s.ok("inspect t.csv --target a,b").out;
    assert_eq!(inspected.matches("target, continuous").count(), 2, "{inspected}");
    // A column may have a comma in its name.
    s.file("comma.csv", "x,\"a,b\"\n1,2.5\n2,1.5\n3,7.5\n4,3\n");
    let run = s.ok("select comma.csv --target a,b -m fisher -k 1");
    assert!(run.out.contains("continuous target 'a,b'"), "{}", run.out);
}

#[test]
fn what_is_not_supported_is_refused() {
    let s = Scratch::new();
    table(&s);
    for (line, expected) in [
        (
            "select t.csv --target a,b -m fisher -k 1",
            "Fisher score does not support several target columns; these do: hsfs, fohsic, bahsic, hsic-lasso",
        ),
        ("select t.csv --target a,b", "Use another method, or name one column with --target."),
        ("select t.csv --target a,b -m takes", "needs a classification target"),
        ("compare t.csv --target a,b -m fohsic -k 1", "compare does not support several target columns"),
        ("select t.csv --target a,b -m fohsic -k 1 --test t.csv", "does not support several target columns"),
        ("design t.csv --target a,b", "does not support several target columns"),
        ("select t.csv --target a,c -m fohsic", "no column 'c'"),
        ("select t.csv --target a,a -m fohsic", "the target 'a' is named twice"),
        ("select t.csv --target a,b --target-type class -m fohsic", "several target columns must be numbers"),
        ("select t.csv --target a,b --groups b -m fohsic", "--groups and --target name the same column, 'b'"),
    ] {
        let run = s.run(line);
        assert!(run.code == 2 && run.err.contains(expected), "{line}: {}", run.err);
    }
    assert!(s.ok("methods fohsic").out.contains("or several columns of numbers"));
}
