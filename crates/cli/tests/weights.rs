//! Weights of rows and classes.

use crate::scratch::Scratch;
use serde_json::Value;

/// A table of 24 rows with weights 0, 1 and 2 in the column w, and the same table with each row as often as its weight says.
fn tables(s: &Scratch) {
    let row = |i: usize| {
        let (class, x) = (i % 2, (i * 37 % 23) as f64 / 10.0);
        format!("{},{},{},{}", x + class as f64, i * 7 % 5, (i * i) % 11, ["no", "yes"][class])
    };
    let times = |i: usize| [1, 2, 1, 0, 2, 1][i % 6];
    let weighted: String = (0..24).map(|i| format!("{},{}\n", row(i), times(i))).collect();
    let repeated: String = (0..24).flat_map(|i| vec![row(i) + "\n"; times(i)]).collect();
    s.file("w.csv", format!("a,b,c,class,w\n{weighted}"));
    s.file("twice.csv", format!("a,b,c,class\n{repeated}"));
}

fn json(s: &Scratch, line: &str) -> Value {
    serde_json::from_str(&s.ok(&format!("{line} --json")).out).unwrap()
}

#[test]
fn weight_two_is_a_row_given_twice() {
    let s = Scratch::new();
    tables(&s);
    for method in ["fisher", "information-gain:discretizer=frequency", "bahsic", "nca"] {
        let weighted = json(&s, &format!("select w.csv --weights w -m {method} -k 2"));
        let repeated = json(&s, &format!("select twice.csv -m {method} -k 2"));
        assert_eq!(weighted["order"], repeated["order"], "{method}");
        for feature in ["a", "b", "c"] {
            let score = |record: &Value| record["scores"][feature].as_f64().unwrap();
            let (a, b) = (score(&weighted), score(&repeated));
            // Sums of some dozen terms in another order.
            assert!((a - b).abs() <= 1e-10 * b.abs(), "{method} {feature}: {a} {b}");
        }
    }
    let run = s.ok("select w.csv --weights w -m fisher -k 1 --out out.csv");
    assert!(run.err.contains("left out 4 of 24 rows of weight 0"), "{}", run.err);
    // The column of weights is no feature.
    assert!(run.out.starts_with("w.csv: 20 rows, 3 columns"), "{}", run.out);
    assert_eq!(s.text("out.csv").lines().count(), 21);
}

#[test]
fn weights_enter_the_evaluation() {
    let s = Scratch::new();
    tables(&s);
    let line = "compare w.csv --weights w -k 1,2 --folds 3 --evaluator linear-svm --record r.jsonl";
    let out = s.ok(&format!("{line} -m fisher,random --report p.html")).out;
    assert!(out.contains("in 3 folds; weighted;"), "{out}");
    assert!(s.text("p.html").contains("; rows are weighted"));
    assert!(s.text("r.jsonl").lines().next().unwrap().contains("\"weighted\":true"));
    // The default methods are those that support weights.
    let all = json(&s, "compare w.csv --weights w -k 1 --folds 3 --evaluator linear-svm");
    let labels: Vec<&str> = all["summary"]["methods"]
        .as_array()
        .unwrap()
        .iter()
        .map(|method| method["label"].as_str().unwrap())
        .collect();
    assert!(
        labels.contains(&"fisher") && !labels.contains(&"ffs") && !labels.contains(&"auto"),
        "{labels:?}"
    );
    // The same file with other weights does not resume.
    let other = s.run("compare w.csv --weights w --class-weight balanced -k 1,2 --folds 3 --evaluator linear-svm --record r.jsonl -m fisher,random");
    assert!(other.code == 2 && other.err.contains("the record is of other weights"), "{}", other.err);
    // A test file with the column, and one without.
    let with = s.ok("compare w.csv --weights w -k 1 -m fisher --evaluator linear-svm --test w.csv");
    assert!(!with.err.contains("has no column"), "{}", with.err);
    let without = s.ok("compare w.csv --weights w -k 1 -m fisher --evaluator linear-svm --test twice.csv");
    assert!(
        without.err.contains("twice.csv has no column 'w', so its rows have weight 1"),
        "{}",
        without.err
    );
    let balanced = s.ok("select w.csv --weights w --class-weight balanced -m fisher -k 2 --test w.csv").out;
    assert!(balanced.contains("test error of svm: "), "{balanced}");
}

#[test]
fn predictions_are_weighted() {
    let s = Scratch::new();
    tables(&s);
    let options = "-m fisher -k 2 --evaluator linear-svm --predictions";
    let weighted = json(&s, &format!("compare w.csv --weights w --test w.csv {options}"));
    let repeated = json(&s, &format!("compare twice.csv --test twice.csv {options}"));
    let found = &weighted["predictions"];
    assert_eq!(found, &repeated["predictions"]);
    let counts = found["confusion"].as_array().unwrap().iter().flat_map(|row| row.as_array().unwrap());
    assert_eq!(counts.map(|count| count.as_u64().unwrap()).sum::<u64>(), 28);
    s.file("half.csv", s.text("w.csv").replace(",1\n", ",0.25\n"));
    let text = s.ok(&format!("compare half.csv --weights w --test half.csv {options}")).out;
    let row = text.lines().find(|line| line.trim_start().starts_with("yes ")).unwrap();
    assert!(row.contains('.'), "{text}");
}

#[test]
fn rows_that_are_left_out_need_no_weight() {
    let s = Scratch::new();
    tables(&s);
    // A row without a target.
    s.file("gap.csv", &(s.text("w.csv") + "1,2,3,,\n"));
    let options = "--weights w -m fisher -k 1";
    let found = json(&s, &format!("select gap.csv --target class {options}"));
    assert_eq!(found["scores"], json(&s, &format!("select w.csv --target class {options}"))["scores"]);
    let test = s.ok(&format!("select w.csv --target class {options} --test gap.csv")).out;
    assert!(test.contains("test error of svm: "), "{test}");
}

#[test]
fn methods_with_support_are_listed() {
    let s = Scratch::new();
    let all = s.ok("methods").out;
    assert!(all.contains("With weights of rows (--weights): fisher, "), "{all}");
    assert!(all.contains("With weights of rows (--weights): svm, linear-svm, ridge"), "{all}");
    assert!(s.ok("methods ffs").out.contains("not supported"));
    let record: Value = serde_json::from_str(&s.ok("methods fisher --json").out).unwrap();
    assert_eq!(record["weights"], true);
}

#[test]
fn invalid_weights_are_refused_before_any_work() {
    let s = Scratch::new();
    tables(&s);
    s.file("bad.csv", "a,b,negative,missing,infinite,zero,text,y\n1,2,1,1,1,0,u,n\n2,1,-2,,1,0,v,y\n3,5,1,1,inf,0,w,n\n4,1,1,1,1,0,x,y\n");
    for (options, expected) in [
        ("bad.csv --weights negative", "the weight in 'negative' is -2 in row 2; weights must be finite"),
        ("bad.csv --weights missing", "the weight in 'missing' is missing in row 2"),
        ("bad.csv --weights infinite", "in row 3; weights must be finite numbers, 0 or more"),
        ("bad.csv --weights zero", "the weights in 'zero' are all 0"),
        ("bad.csv --weights text", "row 1, column 'text': cannot parse 'u' as a number"),
        ("bad.csv --weights wight", "no column 'wight'"),
        ("bad.csv --weights y --target y", "--weights and --target name the same column, 'y'"),
        ("bad.csv --weights zero --groups zero", "--groups and --weights name the same column, 'zero'"),
        ("w.csv --class-weight even", "invalid value 'even'"),
        ("builtin:boston --class-weight balanced", "needs a classification target"),
    ] {
        for command in ["select", "compare"] {
            let run = s.run(&format!("{command} {options} -m fisher -k 1"));
            assert!(run.code == 2 && run.err.contains(expected), "{command} {options}: {}", run.err);
        }
    }
    for (line, expected) in [
        (
            "select w.csv --weights w -m mutual-information",
            "Mutual information by nearest neighbors does not support weights of rows or classes; these do: fisher",
        ),
        ("select w.csv --class-weight balanced -m laplacian", "leave out --weights and --class-weight"),
        ("select w.csv --weights w", "does not support weights of rows or classes; these do: fisher"),
        (
            "select w.csv --weights w -m takes",
            "kernel-space selection does not support weights of rows or classes. Use another method",
        ),
        ("select w.csv --weights w -m fisher --fdr 0.5", "knockoffs does not support weights"),
        ("select w.csv --weights w -m fisher --pvalues", "feature test does not support weights"),
        (
            "compare w.csv --weights w -m fisher,mutual-information",
            "Mutual information by nearest neighbors does not support weights",
        ),
        ("compare w.csv --weights w -m takes", "kernel-space selection does not support weights"),
        (
            "compare w.csv --weights w -m fisher --evaluator knn",
            "k-nearest neighbors does not support weights of rows or classes; these do: svm, linear-svm, ridge",
        ),
        ("select w.csv --weights w -m fohsic:estimator=unbiased -k 1", "'biased' with weights of samples"),
        ("select w.csv --weights w -m hsic-lasso:block_size=5 -k 1", "none with weights of samples"),
    ] {
        let run = s.run(line);
        assert!(run.code == 2 && run.err.contains(expected), "{line}: {}", run.err);
    }
}
