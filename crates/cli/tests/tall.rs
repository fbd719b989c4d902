//! Tall data, of which a method uses a sample.

use crate::scratch::Scratch;
use serde_json::Value;

#[test]
fn a_sample_is_mentioned_and_exact_uses_all_rows() {
    let s = Scratch::new();
    s.ok("data make linear --rows 5050 --columns 4 --out tall.csv");
    let run = s.ok("select tall.csv -m fohsic -k 2 --report tall.html");
    let expected = "used a sample of 5000 of 5050 rows";
    assert!(
        run.out.contains(&format!("selects 2 of 4 features; it {expected} (all with --set exact=true)")),
        "{}",
        run.out
    );
    assert!(s.text("tall.html").contains(&format!("It {expected}.")));
    let json = |line: &str| -> Value { serde_json::from_str(&s.ok(line).out).unwrap() };
    let sampled = json("select tall.csv -m fohsic -k 2 --json");
    assert_eq!(sampled["sample"], serde_json::json!({"n_used": 5000, "n": 5050}));
    let exact = json("select tall.csv -m fohsic:exact=true -k 2 --json");
    assert!(exact.get("sample").is_none() && exact["settings"]["exact"] == true);
    assert_eq!(exact["selected"], sampled["selected"]);
}
