//! What is found in Madelon, as the example program counts it. Its made-up sets are among the unit tests of HSFS.

#[path = "../examples/planted_truth.rs"]
#[allow(dead_code, reason = "the example's main is not called here")]
mod example;

#[test]
fn the_columns_that_hsfs_finds_in_madelon_are_informative() {
    // By chance it would be one in 25. Half of the training rows show it as well as all do.
    assert!(example::madelon_hits("hsfs", 1000).unwrap() >= 8);
}
