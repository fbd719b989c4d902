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

/// Selections have the same bits everywhere, so the counts of the page are compared exactly.
#[test]
fn the_page_has_the_counts_of_fast_methods() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/planted_truth.md");
    let page = std::fs::read_to_string(page).unwrap();
    for name in ["hsic-lasso", "relief", "mutual-information", "ldfs"] {
        let start = std::time::Instant::now();
        let line = page.lines().find(|line| line.starts_with(&format!("| {name} |"))).unwrap();
        let cells: Vec<&str> = line.split('|').map(str::trim).skip(2).collect();
        for ((pattern, rows), shown) in example::PATTERNS.into_iter().zip(&cells) {
            assert_eq!(example::cell(name, pattern, rows).unwrap(), *shown, "{name} {}", pattern.name());
            eprintln!("{name} {} {:?}", pattern.name(), start.elapsed());
        }
        assert_eq!(example::madelon_cell(name).unwrap(), cells[example::PATTERNS.len()], "{name} Madelon");
        eprintln!("{name} madelon {:?}", start.elapsed());
    }
}
