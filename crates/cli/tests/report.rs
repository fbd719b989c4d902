//! `compare --report`

use crate::scratch::Scratch;

#[test]
fn a_page_is_written_whole_and_says_what_the_table_says() {
    let s = Scratch::new();
    s.ok("data export wine --out wine.csv");
    let printed = s.ok("compare wine.csv -m fisher,relief -k 1,2 --judge knn --report wine.html").out;
    let page = s.text("wine.html");
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
    assert!(page.contains("<h1>Features of wine.csv</h1>"), "{page}");
    // The first cell of the table, as printed.
    let line = printed.lines().find(|line| line.trim_start().starts_with("fisher")).unwrap();
    let mean = line.split_whitespace().nth(1).unwrap();
    assert!(page.contains(&format!("<span class=\"mean\">{mean}</span>")), "{line}");
    // Another run writes over it.
    s.ok("compare wine.csv -m fisher -k 1 --judge knn --report wine.html");
    assert!(!s.text("wine.html").contains("relief"));
}

#[test]
fn a_page_goes_nowhere_where_it_would_do_harm() {
    let s = Scratch::new();
    s.ok("data export wine --out wine.csv");
    let before = s.text("wine.csv");
    let error = s.error("compare wine.csv -m fisher -k 1 --report wine.csv");
    assert!(error.contains("--report would write over wine.csv"), "{error}");
    assert_eq!(s.text("wine.csv"), before);
    for place in ["page.html", "page.cost.html"] {
        let error = s.error(&format!("compare wine.csv -m fisher -k 1 --record page.html --report {place}"));
        assert!(error.contains("--report and --record need different files"), "{error}");
    }
    let error = s.error("compare wine.csv -m fisher -k 1 --report nowhere/page.html");
    assert!(error.contains("nowhere"), "{error}");
}
