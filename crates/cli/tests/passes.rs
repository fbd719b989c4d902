//! Tables that do not fit into the memory limit.

use crate::scratch::Scratch;
use serde_json::Value;
use std::process::Stdio;
use std::time::Duration;

/// About 20 MB of text, which takes about 37 MB in memory, with an XOR and a ring pair among 10 columns.
fn large() -> Scratch {
    let s = Scratch::new();
    s.ok("data make xor-ring --rows 100000 --columns 10 --seed 1 --out large.csv");
    s
}

/// Less than the table takes in memory.
const LIMIT: &str = "--memory-limit 30M --threads 1";

fn json(s: &Scratch, command: &str) -> Value {
    serde_json::from_str(&s.ok(&format!("{command} --json")).out).unwrap()
}

/// The largest difference of two maps of numbers, relative to the largest number.
fn difference(a: &Value, b: &Value) -> f64 {
    let (a, b) = (a.as_object().unwrap(), b.as_object().unwrap());
    assert_eq!(a.len(), b.len());
    let largest = b.values().map(|v| v.as_f64().unwrap().abs()).fold(0.0, f64::max);
    a.iter()
        .map(|(name, v)| (v.as_f64().unwrap() - b[name].as_f64().unwrap()).abs() / largest)
        .fold(0.0, f64::max)
}

#[test]
fn methods_with_rounds_read_a_large_table_in_passes() {
    let s = large();
    // Sums in another order; cuts at a thousand sampled values.
    for (method, tolerance) in [("fisher", 1e-9), ("information-gain", 0.02), ("chi-squared", 0.02)] {
        let run = s.ok(&format!("select large.csv -m {method} -k 4 {LIMIT} --json"));
        assert!(run.err.contains("more than the limit of 30.0 MiB; it is read in passes"), "{}", run.err);
        assert!(run.err.contains("blocks of 32768 rows"), "{}", run.err);
        let passes: Value = serde_json::from_str(&run.out).unwrap();
        let memory = json(&s, &format!("select large.csv -m {method} -k 4"));
        assert!(passes["in_passes"] == true && memory.get("in_passes").is_none());
        assert_eq!(passes["data"], memory["data"]);
        let away = difference(&passes["scores"], &memory["scores"]);
        assert!(away < tolerance, "{method}: {away}");
    }
    // The saved model is an ordinary one.
    let run = s.ok(&format!("select large.csv -m fisher -k 2 {LIMIT} --save model.ks"));
    assert!(run.out.contains("fisher selects 2 of 10 features"), "{}", run.out);
    s.ok("data make xor-ring --rows 50 --columns 10 --seed 2 --out new.csv");
    s.ok("apply model.ks new.csv --out selected.csv");
    assert_eq!(s.text("selected.csv").lines().count(), 51);
}

#[test]
fn pairs_and_bases_in_passes() {
    let s = large();
    let command = "interactions large.csv -k 2";
    let (passes, memory) = (json(&s, &format!("{command} {LIMIT}")), json(&s, command));
    let pairs = |found: &Value| -> Vec<Value> {
        found["pairs"].as_array().unwrap().iter().map(|pair| pair["features"].clone()).collect()
    };
    assert_eq!(pairs(&passes), pairs(&memory));
    assert_eq!(passes["n_significant"], memory["n_significant"]);
    let command = "basis large.csv -m kobl:pivoting=random -k 10";
    let (passes, memory) = (json(&s, &format!("{command} {LIMIT} --save basis.ks")), json(&s, command));
    assert_eq!(passes["n_components"], 10);
    let gamma = |found: &Value| found["kernel"]["rbf"]["gamma"].as_f64().unwrap();
    // Means and standard deviations are sums in another order.
    assert!((gamma(&passes) / gamma(&memory) - 1.0).abs() < 1e-9);
    // Other random pivots: over eight draws the cost had a standard deviation of 3 %. Four times that of a difference.
    let cost = |found: &Value| found["reconstruction_cost"].as_f64().unwrap();
    assert!((cost(&passes) / cost(&memory) - 1.0).abs() < 0.16);
    s.ok("data make xor-ring --rows 50 --columns 10 --seed 2 --out new.csv");
    s.ok("apply basis.ks new.csv --out mapped.csv");
    assert_eq!(s.text("mapped.csv").lines().count(), 51);
}

#[test]
fn other_methods_use_a_sample_of_the_rows() {
    let s = large();
    // Half of 30 MB is 0.4 of the 37 that the table takes, so each row is drawn with the probability 1/4: ten standard deviations of 137.
    let n_used = |record: &Value| {
        let (n_used, n) = (&record["data"]["sample"]["n_used"], &record["data"]["sample"]["n"]);
        assert_eq!((n, &record["data"]["rows"]), (&Value::from(100_000), n_used));
        let n_used = n_used.as_u64().unwrap();
        assert!((23_600..26_400).contains(&n_used), "{n_used}");
        n_used
    };
    let select = "select large.csv -m laplacian -k 3";
    let run = s.ok(&format!("{select} {LIMIT} --json --save model.ks"));
    let record: Value = serde_json::from_str(&run.out).unwrap();
    let n_used = n_used(&record);
    let what = format!("a random sample of {n_used} of 100000 rows, as all do not fit into memory");
    assert!(run.err.contains(&what), "{}", run.err);
    let again = json(&s, &format!("{select} {LIMIT}"));
    assert_eq!((&again["order"], &again["data"]), (&record["order"], &record["data"]));
    s.ok("data make xor-ring --rows 50 --columns 10 --seed 2 --out new.csv");
    s.ok("apply model.ks new.csv --out selected.csv");
    assert_eq!(s.text("selected.csv").lines().count(), 51);
    // So do other commands that fit, and text is no obstacle.
    let mut text = s.text("large.csv");
    text.insert_str(text.find('\n').unwrap() + 1, "word,0,0,0,0,0,0,0,0,0,0\n");
    s.file("text.csv", text);
    for command in ["test text.csv", "basis text.csv -k 5"] {
        let run = s.ok(&format!("{command} {LIMIT}"));
        assert!(run.err.contains("a random sample of"), "{command}: {}", run.err);
    }
    let run = s.ok(&format!("inspect text.csv {LIMIT} --report page.html"));
    assert!(s.text("page.html").contains("a random sample of"));
    assert!(run.out.contains(" of 100001 rows, 11 columns"), "{}", run.out);
    assert_eq!(json(&s, &format!("inspect text.csv {LIMIT}"))["sample"]["n"], 100_001);
}

#[test]
fn what_a_large_table_cannot_do_is_said() {
    let s = large();
    for method in ["fisher", "relief"] {
        let error = s.error(&format!("select large.csv -m {method} --out selected.csv {LIMIT}"));
        assert!(error.contains("--out needs the table in memory, which it does not fit into"), "{error}");
    }
    let error = s.error(&format!("design large.csv --n-triplets 50 --out rows.csv {LIMIT}"));
    assert!(error.contains("--out needs the table in memory"), "{error}");
    let error = s.error("select large.csv -m fisher --memory-limit 3M --threads 1");
    assert!(error.contains("a pass over blocks of 32768 rows needs about"), "{error}");
    let mut text = s.text("large.csv");
    text.insert_str(text.find('\n').unwrap() + 1, "word,0,0,0,0,0,0,0,0,0,0\n");
    s.file("text.csv", text);
    let error = s.error(&format!("select text.csv -m fisher {LIMIT}"));
    assert!(
        error.contains("row 1: 'word' is no number; a table that is read in passes needs numbers"),
        "{error}"
    );
}

#[test]
fn a_checkpoint_is_of_one_run_and_of_passes() {
    let s = large();
    let select =
        |target: &str| format!("select large.csv -m fisher --target {target} {LIMIT} --checkpoint state");
    s.file("state", "text");
    let error = s.error(&select("x1"));
    assert!(
        error.contains("the file is no checkpoint, or it is damaged; remove it, or choose another file"),
        "{error}"
    );
    std::fs::remove_file(s.path("state")).unwrap();
    // A continuous target takes three passes; the run is killed in the second.
    let mut run = s.command(&select("x1")).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while !s.path("state").exists() {
        assert!(run.try_wait().unwrap().is_none(), "it ended before it was killed");
        std::thread::sleep(Duration::from_millis(1));
    }
    run.kill().unwrap();
    run.wait().unwrap();
    let error = s.error(&select("x2"));
    assert!(error.contains("the checkpoint of another run; remove it"), "{error}");
    let run = s.ok(&select("x1"));
    assert!(run.err.contains("continues from state") && !s.path("state").exists(), "{}", run.err);
    assert_eq!(run.out, s.ok(&select("x1")).out);
    let error = s.error("select builtin:wine -m fisher --checkpoint state");
    assert!(error.contains("--checkpoint has no effect: the table is not read in passes"), "{error}");
    let error = s.error(&format!("interactions large.csv {LIMIT} --checkpoint large.csv"));
    assert!(error.contains("--checkpoint would write over large.csv"), "{error}");
}
