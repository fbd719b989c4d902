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
        (
            "select linear.csv -m fisher --set stability.n_pairs=9",
            "--set stability.n_pairs has no effect without --stability",
        ),
        (
            "select linear.csv -m fisher --stability --set stability.threshold=0.5",
            "--set stability.threshold must be a number, from 0.51 to 1, got '0.5'",
        ),
        ("select linear.csv -m fisher --fdr 0.1 --set knockoffs.copies=2", "did you mean 'n_copies'?"),
        ("select linear.csv -m fisher --pvalues --set test.alpha=2", "'alpha' must be a number"),
        (
            "select linear.csv -m takes --stability --set stability.n_pairs=9",
            "--stability has no effect with takes",
        ),
        (
            "select linear.csv -m knockoffs",
            "knockoffs is used around a selector; use `kernsift select --fdr Q`",
        ),
        ("test linear.csv --report linear.csv", "--report would write over linear.csv"),
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

#[test]
fn parameters_of_repeated_fits_are_settings() {
    let (s, relevant) = linear();
    let options = "--stability --set stability.n_pairs=5 --set stability.threshold=0.9";
    let record = json(&s.ok(&format!("select linear.csv -m fisher -k 2 {options} --json")).out);
    assert_eq!(
        (&record["stability"]["n_fits"], &record["stability"]["threshold"]),
        (&json("10"), &json("0.9"))
    );
    let record = json(&s.ok("select builtin:wdbc -m fisher:knockoffs.n_copies=3 --fdr 0.4 --json").out);
    // Two over q, rounded.
    assert_eq!((&record["knockoffs"]["n_copies"], &record["knockoffs"]["fewest"]), (&json("3"), &json("5")));
    let with = json(&s.ok("select linear.csv -m fisher -k 2 --pvalues --set test.statistic=hsic --json").out);
    let tests = json(&s.ok("test linear.csv --statistic hsic --json").out);
    let first =
        tests["features"].as_array().unwrap().iter().find(|f| f["feature"] == relevant[0].as_str()).unwrap();
    assert_eq!(with["p_values"][&relevant[0]], first["p_value"]);
    for name in ["stability", "knockoffs"] {
        assert!(s.ok(&format!("methods {name}")).out.contains("n_"));
    }
}

#[test]
fn reports_say_which_question_the_numbers_answer() {
    let (s, relevant) = linear();
    s.ok("test linear.csv --report tests.html");
    let page = s.text("tests.html");
    assert!(
        page.contains("Does the target depend on this feature at all?") && page.contains(">q-value</th>")
    );
    assert!(page.contains("aria-label=\"p-values of all features\"") && page.contains(&relevant[0]));
    s.ok(&format!("test linear.csv --adjust {} --report given.html", relevant[0]));
    assert!(s.text("given.html").contains("given the covariates"));
    s.ok("select linear.csv -m fisher -k 2 --stability --set stability.n_pairs=5 --report stable.html");
    let page = s.text("stable.html");
    assert!(page.contains("would another sample give the same feature?") && page.contains(">Frequency</th>"));
    assert!(page.contains("expected number of false selections: at most"));
    s.ok("select builtin:wdbc -m fisher --fdr 0.2 --pvalues --report knockoffs.html");
    let page = s.text("knockoffs.html");
    assert!(
        page.contains("does this feature add something to the others?") && page.contains(">p-value</th>")
    );
}

#[test]
fn bad_data_has_clear_errors_or_documented_results() {
    let s = Scratch::new();
    let rows = |n: usize, row: fn(usize) -> String| (0..n).map(row).collect::<String>();
    let number = |i: usize| format!("{},{}", (i * i * 3 + 7 * i) % 101, (i * i * 5 + 3 * i) % 97);
    let few: String = (0..9).map(|i| format!("{},{}\n", number(i), i % 2)).collect();
    s.file("few.csv", format!("a,b,class\n{few}"));
    for command in
        ["test few.csv", "select few.csv -m fisher --fdr 0.2", "select few.csv -m fisher --stability"]
    {
        let error = s.error(command);
        assert!(error.contains("at least 10 rows"), "{command}: {error}");
    }
    s.file(
        "constant.csv",
        format!("a,c,class\n{}", rows(40, |i| format!("{},1,{}\n", (i * i * 3) % 101, i % 2))),
    );
    let record = json(&s.ok("test constant.csv --include c --json").out);
    assert_eq!(
        (&record["features"][1]["feature"], &record["features"][1]["p_value"]),
        (&json("\"c\""), &json("1.0"))
    );
    let single = |i: usize| if i == 0 { "rare" } else { ["u", "v"][i % 2] };
    let text: String = (0..40).map(|i| format!("{},{}\n", number(i), single(i))).collect();
    s.file("single.csv", format!("a,b,class\n{text}"));
    let run = s.ok("test single.csv");
    assert!(run.err.contains("class 'rare' has a single row"), "{}", run.err);
    // The third column is the sum of the others, and the fourth the same in other units.
    let sum = |i: usize| {
        let (a, b) = ((i * i * 3 + 7 * i) % 101, (i * i * 5 + 3 * i) % 97);
        format!("{a},{b},{},{}\n", a + b, 2 * a)
    };
    let text: String =
        (0..60).map(|i| sum(i).replace('\n', if i % 2 == 0 { ",u\n" } else { ",v\n" })).collect();
    s.file("singular.csv", format!("a,b,sum,twice,class\n{text}"));
    let run = s.ok("select singular.csv -m fisher --fdr 0.3 --include twice --json");
    assert_eq!(json(&run.out)["knockoffs"]["statistics"].as_object().unwrap().len(), 4, "{}", run.out);
    for q in ["0", "1", "-0.1", "nan"] {
        let error = s.error(&format!("select singular.csv -m fisher --fdr {q}"));
        assert!(error.contains("--fdr must be a number, above 0 and below 1"), "{error}");
    }
}
