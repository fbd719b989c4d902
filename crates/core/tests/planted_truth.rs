//! Relevant features found, counted as in the example program that writes docs/planted_truth.md. The unit tests of HSFS use its
//! synthetic data.

#[path = "../examples/planted_truth.rs"]
#[allow(dead_code, reason = "the example's main is not called here")]
mod example;

#[test]
fn features_selected_by_hsfs_in_madelon_are_informative() {
    // By chance it would be one in 25. A third of the training rows is enough.
    assert!(example::madelon_hits("hsfs", 700).unwrap() >= 8);
}

/// Selections have the same bits everywhere, so the counts of the page are compared exactly; of fast methods with few rows,
/// because the other cells take minutes.
#[test]
fn the_page_has_the_counts_of_fast_methods() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/planted_truth.md");
    let page = std::fs::read_to_string(page).unwrap();
    for name in ["relief", "mutual-information", "ldfs"] {
        let line = page.lines().find(|line| line.starts_with(&format!("| {name} |"))).unwrap();
        let cells = line.split('|').map(str::trim).skip(2);
        for ((pattern, rows), shown) in example::PATTERNS.into_iter().zip(cells).take(3) {
            assert_eq!(example::cell(name, pattern, rows).unwrap(), shown, "{name}, {}", pattern.name());
        }
    }
}
