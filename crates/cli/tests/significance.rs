//! The command test, and `select` with --stability and --fdr.

use crate::scratch::Scratch;
use serde_json::Value;

/// A table whose class depends on two of 20 columns.
fn linear() -> (Scratch, Vec<String>) {
    let s = Scratch::new();
    let run = s.ok("data make linear --rows 300 --columns 20 --seed 3 --out linear.csv");
    let relevant = run.err.trim().rsplit(": ").next().unwrap().split(", ").map(str::to_owned).collect();
    (s, relevant)
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn relevant_features_are_significant() {
    let (s, relevant) = linear();
    let run = s.ok("test linear.csv --alpha 0.001");
    assert!(run.out.contains("the target depends on 2 of 20 features (q <= 0.001)"), "{}", run.out);
    for options in ["", "--permutations 999", "--statistic hsic", "--correction holm"] {
        let record = json(&s.ok(&format!("test linear.csv --json {options}")).out);
        assert_eq!(record["command"], "test");
        let features = record["features"].as_array().unwrap();
        assert_eq!(features.len(), 20);
        let best: Vec<&str> = features[..2].iter().map(|f| f["feature"].as_str().unwrap()).collect();
        assert!(relevant.iter().all(|name| best.contains(&name.as_str())), "{options} {best:?}");
        assert!(features[1]["q_value"].as_f64().unwrap() < 0.05, "{options} {features:?}");
    }
    s.ok("test linear.csv --out pvalues.csv");
    let table = s.text("pvalues.csv");
    assert!(table.starts_with("rank,feature,statistic,p_value,q_value\n1,") && table.lines().count() == 21);
}

#[test]
fn selected_features_have_p_values() {
    let (s, relevant) = linear();
    let tests = json(&s.ok("test linear.csv --json").out);
    let first = &tests["features"][0];
    let name = first["feature"].as_str().unwrap();
    for method in ["fisher", "auto"] {
        let record = json(&s.ok(&format!("select linear.csv -m {method} -k 2 --pvalues --json")).out);
        assert_eq!(record["p_values"][name], first["p_value"], "{method}");
        assert_eq!(record["q_values"][name], first["q_value"], "{method}");
        assert_eq!(record["q_values"].as_object().unwrap().len(), 20);
    }
    let without = s.ok("select linear.csv -m fisher -k 2");
    assert!(!without.out.contains("p-value"));
    let run = s.ok("select linear.csv --report page.html");
    let header = run.out.lines().find(|line| line.contains("rank")).unwrap();
    let titles: Vec<&str> = header.split_whitespace().collect();
    assert_eq!(titles, ["rank", "feature", "score", "p-value", "q-value", "frequency"]);
    assert!(relevant.iter().all(|name| run.out.contains(name.as_str())), "{}", run.out);
    let page = s.text("page.html");
    assert!(page.contains(">q-value</th>") && page.contains(">Selected, %</th>"));
    // Without a target there are none.
    s.ok("select linear.csv -m pfs -k 2 --target none --report none.html");
    assert!(!s.text("none.html").contains("q-value"));
}

#[test]
fn near_copies_of_selected_features_are_named() {
    let s = Scratch::new();
    let number = |i: u32, k: u32| (i * i * k + 7 * i) % 101;
    let row =
        |i| format!("{},{},{},{}\n", number(i, 3), number(i, 5), number(i, 3).pow(2), number(i, 3) > 50);
    s.file("t.csv", "a,b,square,class\n".to_owned() + &(0..100).map(row).collect::<String>());
    let run = s.ok("select t.csv -m fisher -k 1 --report page.html");
    assert!(
        run.out.contains("Near copies, which would do as well (similarity >= 0.9):\n  a: square\n"),
        "{}",
        run.out
    );
    let record = json(&s.ok("select t.csv -m fisher -k 1 --json").out);
    // The ranks are equal; the similarity is rounded.
    assert!(record["near_copies"]["a"]["square"].as_f64().unwrap() > 1.0 - 1e-12, "{record}");
    assert!(s.text("page.html").contains("Near copies of selected features"));
    assert!(!s.ok("select t.csv -m fisher -k 1 --exclude square").out.contains("Near copies"));
}

#[test]
fn covariates_are_named_and_not_tested() {
    let (s, relevant) = linear();
    let adjust = relevant.join(",");
    let record = json(&s.ok(&format!("test linear.csv --json --adjust {adjust}")).out);
    assert_eq!(record["features"].as_array().unwrap().len(), 18);
    assert_eq!(record["covariates"].as_array().unwrap().len(), 2);
    assert!(record["adjustment"].as_str().unwrap().contains("functions of the covariates (20)"), "{record}");
    let run = s.ok("test builtin:heart --adjust sex --type sex=category --permutations 99");
    assert!(run.out.contains("given the covariates") && run.out.contains("within 2 strata"), "{}", run.out);
}

#[test]
fn wrong_options_are_refused() {
    let (s, _) = linear();
    for (options, expected) in [
        ("test linear.csv --alpha 1", "--alpha must be a number, above 0 and below 1, got 1"),
        ("test linear.csv --adjust nothing", "no column 'nothing'"),
        ("test linear.csv --correction fdr", "invalid value 'fdr' for '--correction"),
        ("test linear.csv --target none", "needs a target"),
        ("select linear.csv -m fisher --fdr 0", "--fdr must be a number, above 0 and below 1, got 0"),
        ("select linear.csv -m fisher --stability --folds 3", "--folds has no effect with --stability"),
        ("select linear.csv -m takes --pvalues", "--pvalues has no effect with takes"),
        ("select linear.csv -m pfs -k 2 --target none --pvalues", "feature test: needs a target"),
        ("select linear.csv -m takes --stability", "--stability has no effect with takes"),
        ("select linear.csv -m takes --fdr 0.1", "--fdr has no effect with takes"),
        ("select linear.csv -m test", "test is a test of features; use `kernsift test`"),
    ] {
        let error = s.error(options);
        assert!(error.contains(expected), "{options}: {error}");
    }
}

#[test]
fn stability_selects_what_most_fits_select() {
    let (s, relevant) = linear();
    let run = s.ok("select linear.csv -m fisher -k 2 --stability --out kept.csv");
    assert!(run.out.contains("expected number of false selections: at most 0.4000"), "{}", run.out);
    let record = json(&s.ok("select linear.csv -m fisher -k 2 --stability --json").out);
    let selected: Vec<&str> =
        record["selected"].as_array().unwrap().iter().map(|v| v.as_str().unwrap()).collect();
    assert_eq!(selected.len(), 2);
    assert!(relevant.iter().all(|name| selected.contains(&name.as_str())));
    assert_eq!(record["stability"]["frequencies"][&relevant[0]], 1.0);
    assert_eq!(record["stability"]["n_fits"], 100);
    assert!(s.text("kept.csv").lines().next().unwrap().contains(&relevant[0]));
}

#[test]
fn knockoffs_say_why_they_select_nothing() {
    let (s, _) = linear();
    let run = s.ok("select linear.csv -m fisher --fdr 0.1");
    assert!(run.err.contains("at q = 0.1 at least 10 features must stand out"), "{}", run.err);
    let record = json(&s.ok("select builtin:wdbc -m fisher --fdr 0.2 --json").out);
    assert_eq!(record["knockoffs"]["statistics"].as_object().unwrap().len(), 30);
    assert_eq!(record["knockoffs"]["fewest"], 5);
}
