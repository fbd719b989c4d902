//! Informative features found in Madelon, counted as in the example program. The unit tests of HSFS use its synthetic data.

#[path = "../examples/planted_truth.rs"]
#[allow(dead_code, reason = "the example's main is not called here")]
mod example;

#[test]
fn features_selected_by_hsfs_in_madelon_are_informative() {
    // By chance it would be one in 25. A third of the training rows is enough.
    assert!(example::madelon_hits("hsfs", 700).unwrap() >= 8);
}
