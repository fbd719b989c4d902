//! TAKES against its rivals on the six sets of its paper, as the example program prints it.

#[path = "../examples/takes_accuracy.rs"]
#[allow(dead_code, reason = "the example's main is not called here")]
mod example;

use example::{KDA, KNNC, QUANTISED, TAKES, TUNED, accuracies, differences};

#[test]
fn tuned_takes_does_not_lose_to_its_rivals() {
    let [tuned, knnc, kda] = [TUNED, KNNC, KDA].map(|method| accuracies(&method).unwrap());
    let gains = differences(&tuned, &knnc);
    assert!(gains.iter().all(|&gain| gain >= -1.0), "against KNNC: {gains:?}");
    assert!(gains.iter().filter(|&&gain| gain > 0.0).count() >= 3, "against KNNC: {gains:?}");
    let gains = differences(&tuned, &kda);
    assert!(gains.iter().filter(|&&gain| gain > 0.0).count() >= 4, "against KDA: {gains:?}");
}

#[test]
fn quantised_centres_cost_less_than_a_point() {
    let [exact, quantised] = [TAKES, QUANTISED].map(|method| accuracies(&method).unwrap());
    let apart = differences(&quantised, &exact);
    assert!(apart.iter().all(|d| d.abs() <= 1.0), "{apart:?}");
}
