//! Table 2 of the TAKES paper, as the example program prints it.

#[path = "../examples/takes_table2.rs"]
#[allow(dead_code, reason = "the example's main is not called here")]
mod example;

use example::{PRINTED, SPLITS, allowed, costs, mean_and_sd};

#[test]
fn reconstruction_cost_is_the_printed_one() {
    for line in &PRINTED {
        let all: Vec<_> = (0..SPLITS).map(|seed| costs(line, seed).unwrap()).collect();
        assert!(all.iter().all(|c| c.kobl <= c.bound), "{}: Theorem 1", line.name);
        let (ours, _) = mean_and_sd(&all.iter().map(|c| c.kobl).collect::<Vec<_>>());
        let difference = (ours - line.cost).abs();
        assert!(difference <= allowed(line), "{}: {ours:.4} against {}", line.name, line.cost);
    }
}
