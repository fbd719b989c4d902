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
