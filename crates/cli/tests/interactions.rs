//! The command interactions.

use crate::scratch::Scratch;
use serde_json::Value;

/// A table with an XOR pattern among 20 columns.
fn xor() -> Scratch {
    let s = Scratch::new();
    s.ok("data make xor --rows 400 --columns 20 --seed 3 --out xor.csv");
    s
}

#[test]
fn the_planted_pair_is_found() {
    let s = xor();
    let run = s.ok("interactions xor.csv");
    let sentence = "1 of 190 pairs predicts the target better than its features alone (q <= 0.05)";
    assert!(run.out.lines().nth(1) == Some(sentence), "{}", run.out);
    let record: Value = serde_json::from_str(&s.ok("interactions xor.csv --json -k 3").out).unwrap();
    assert_eq!(record["command"], "interactions");
    assert_eq!((record["n_significant"].as_u64(), record["n_all_pairs"].as_u64()), (Some(1), Some(190)));
    assert_eq!(record["pairs"].as_array().unwrap().len(), 3);
    assert!(record["pairs"][0]["q_value"].as_f64().unwrap() < 1e-6);
    let first = record["pairs"][0]["features"][0].as_str().unwrap();
    let second = record["pairs"][0]["features"][1].as_str().unwrap();
    s.ok("interactions xor.csv --out pairs.csv --report pairs.html");
    let table = s.text("pairs.csv");
    let line = format!("\n1,{first},{second},");
    assert!(table.starts_with("rank,feature_1,feature_2,score,") && table.contains(&line), "{table}");
    let page = s.text("pairs.html");
    assert!(page.contains(&format!("{first} × {second}")) && page.contains("class=\"heat\""));
}

#[test]
fn corrections_order_the_q_values() {
    let s = xor();
    let q_values = |options: &str| {
        let text = s.ok(&format!("interactions xor.csv --json {options}")).out;
        let record: Value = serde_json::from_str(&text).unwrap();
        [0, 1].map(|at: usize| record["pairs"][at]["q_value"].as_f64().unwrap())
    };
    let (bh, by) = (q_values("--correction bh"), q_values("--set method=by"));
    let (holm, bonferroni) = (q_values("--correction holm"), q_values(""));
    // The first of 190 p-values p becomes 190 p, for by times 1 + 1/2 + ... + 1/190.
    let harmonic: f64 = (1..=190).map(|i| 1.0 / f64::from(i)).sum();
    // Sums of 190 numbers.
    assert!((by[0] / bh[0] / harmonic - 1.0).abs() < 1e-12 && holm[0] == bonferroni[0], "{by:?} {bh:?}");
    assert!(bh[1] <= holm[1] && holm[1] <= bonferroni[1], "{bh:?} {holm:?} {bonferroni:?}");
    let error = s.error("interactions xor.csv --correction bh --set permutations=9");
    assert!(error.contains("--correction must be bonferroni or holm with permutations, got bh"), "{error}");
}

#[test]
fn nothing_in_noise() {
    let s = Scratch::new();
    s.ok("data make noise --rows 200 --columns 15 --out noise.csv");
    let run = s.ok("interactions noise.csv");
    assert!(run.out.contains("no pair among 105 pairs predicts the target better"), "{}", run.out);
}

#[test]
fn wrong_options_are_refused() {
    let s = xor();
    let error = s.error("interactions xor.csv -k 0");
    assert!(error.contains("-k must be an integer, from 1 to 1000000, got 0"), "{error}");
    let error = s.error("interactions xor.csv --set n_functions=99");
    assert!(error.contains("'n_functions' must be an integer, from 1 to 16, got '99'"), "{error}");
    let error = s.error("interactions xor.csv --set functions");
    assert!(error.contains("write --set KEY=VALUE"), "{error}");
    let error = s.error("interactions xor.csv --out xor.csv");
    assert!(error.contains("--out would write over xor.csv"), "{error}");
    let error = s.error("interactions xor.csv --target none");
    assert!(error.contains("needs a target"), "{error}");
    let error = s.error("select xor.csv -m interactions");
    assert!(error.contains("interactions is a screen of pairs; use `kernsift interactions`"), "{error}");
}
