//! The reports: their contents, that they are well formed, and that text from the user is escaped.

use kernsift::Context;
use kernsift::basis::{Basis, Kobl};
use kernsift::data::{BuiltIn, Classes, Dataset, ImputeStrategy, Splits, Target};
use kernsift::evaluate::{Candidate, Compare, Evaluator, Measure, ResultsLog, SplitChoice, Summary};
use kernsift::select::{FeatureCount, Selection};
use kernsift::significance::{FeatureTest, SelectionSignificance};
use kernsift::space::KernelSpaceSelector;
use kernsift_report::{
    Design, MappedRows, RunInfo, Validation, basis_page, compare_page, design_page, selection_page,
    space_page, test_page,
};
use ndarray_free::numbers;
use roxmltree::{Document, Node, ParsingOptions};
use serde_json::json;

/// Rows without the array crate, which is not a dependency of the tests.
mod ndarray_free {
    use kernsift::data::{Rows, SparseRows};

    /// Dense values in row-major order.
    pub fn numbers(columns: usize, values: &[f64]) -> Rows {
        let rows = values.len() / columns;
        let start = (0..=rows).map(|row| row * columns).collect();
        let column = (0..values.len()).map(|at| (at % columns) as u32).collect();
        Rows::from(SparseRows::new(columns, start, column, values.to_vec()).unwrap())
    }
}

/// Parses a page as XML, which is stricter than a browser.
fn parsed(page: &str) -> Document<'_> {
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    Document::parse_with_options(page, options).unwrap_or_else(|error| panic!("{error}\n{page}"))
}

fn text(node: Node) -> String {
    node.descendants().filter_map(|n| n.is_text().then(|| n.text()).flatten()).collect()
}

fn all<'a>(document: &'a Document, tag: &str, class: &str) -> Vec<Node<'a, 'a>> {
    let has = |n: &Node| n.attribute("class").is_some_and(|c| c.split(' ').any(|c| c == class));
    document.descendants().filter(|n| n.has_tag_name(tag) && (class.is_empty() || has(n))).collect()
}

fn one<'a>(document: &'a Document, tag: &str, class: &str) -> Node<'a, 'a> {
    let found = all(document, tag, class);
    assert_eq!(found.len(), 1, "{tag}.{class}");
    found[0]
}

/// The page contains its script unchanged, and no other.
fn has_only_its_script(document: &Document) {
    let script = include_str!("../src/script.js").replace("<![CDATA[", "").replace("]]>", "");
    let running = all(document, "script", "").into_iter().filter(|node| node.attribute("type").is_none());
    assert_eq!(running.map(text).collect::<Vec<_>>(), [script]);
}

/// A synthetic record with the given scores by method, split and number of features; `None` is a failure.
fn record(
    methods: &[&str],
    counts: &[usize],
    splits: usize,
    measure: &str,
    score: impl Fn(usize, usize, usize) -> Option<f64>,
) -> ResultsLog {
    let folds: Vec<_> = (0..splits)
        .map(|fold| json!({"repeat": 0, "fold": fold, "test": [2 * fold, 2 * fold + 1]}))
        .collect();
    let evaluator = Evaluator::by_name(if measure == "r2" { "ridge" } else { "svm" }).unwrap();
    let run = json!({
        "kind": "run", "format": 1, "version": "0.1.0", "data": "synthetic",
        "fingerprint": {"rows": 2 * splits, "columns": 60, "checksum": "00ff"},
        "seed": 7, "splits": {"folds": {"folds": splits, "repeats": 1}}, "scaled": true, "impute": null,
        "evaluator": evaluator, "folds": folds,
    });
    let mut lines = vec![run];
    lines.extend(methods.iter().map(|label| json!({"kind": "method", "label": label, "settings": "random"})));
    for (m, method) in methods.iter().enumerate() {
        for fold in 0..splits {
            for &k in counts {
                let mut line = json!({"kind": "result", "method": method, "repeat": 0, "fold": fold, "k": k});
                match score(m, fold, k) {
                    Some(value) => {
                        line[measure] = json!(value);
                        let selected: Vec<String> = (0..k).map(|j| format!("column {j}")).collect();
                        line["features"] = json!(selected);
                    }
                    None => line["failed"] = json!("it <b>broke</b>"),
                }
                lines.push(line);
            }
        }
    }
    let text: String = lines.iter().map(|line| line.to_string() + "\n").collect();
    let cost = |method: &str| {
        json!({"method": method, "repeat": 0, "fold": 0, "counts": counts, "select_seconds": 0.25, "evaluate_seconds": 12.0, "peak_bytes": 2048})
            .to_string()
            + "\n"
    };
    let costs: String = methods.iter().map(|method| cost(method)).collect();
    ResultsLog::from_text(&text, &costs).unwrap()
}

fn page(log: &ResultsLog, methods: &[&str], counts: &[usize], measure: Measure) -> String {
    let labels: Vec<String> = methods.iter().map(|&label| label.to_owned()).collect();
    compare_page(log, &[Summary::of(log, &labels, counts, measure)], None, None, ("A title", ""))
}

fn compare(methods: &[&str], counts: &[usize]) -> Compare {
    Compare {
        candidates: methods.iter().map(|name| Candidate::parse(name).unwrap()).collect(),
        counts: counts.to_vec(),
        splits: SplitChoice::Generated(Splits::Folds { folds: 4, repeats: 2 }),
        stratify: true,
        evaluator: Evaluator::by_name("knn").unwrap().into(),
        scale: true,
        impute: ImputeStrategy::Mean,
        baseline: true,
        train_sizes: vec![],
        latest: false,
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "builds one record of a comparison")]
fn comparison_shows_protocol_and_scores() {
    let wine = BuiltIn::by_name("wine").unwrap().data().unwrap();
    let methods = ["fisher", "random", "takes", "relief:n_neighbors=46,clip=false"];
    let mut log = ResultsLog::in_memory();
    compare(&methods, &[1, 2, 4]).run(&wine, "wine.csv", &mut log, &Context::default()).unwrap();
    let labels = methods.map(str::to_owned);
    let summary = Summary::of(&log, &labels, &[1, 2, 4], Measure::Error);
    let page = compare_page(&log, std::slice::from_ref(&summary), None, None, ("Wine", "kernsift compare"));
    let document = parsed(&page);
    assert_eq!(text(one(&document, "h1", "")), "Wine");
    let facts = text(one(&document, "dl", "facts"));
    for fact in [
        "wine.csv: 178 rows, 13 columns",
        "classes",
        "k-nearest neighbors: n_neighbors 5",
        "4-fold cross-validation, repeated 2 times",
        "standardized",
    ] {
        assert!(facts.contains(fact), "{fact}: {facts}");
    }
    // The table has every cell of the summary, with its mark.
    let table = one(&document, "table", "scores");
    let rows: Vec<Node> = table.descendants().filter(|n| n.has_tag_name("tr")).skip(1).collect();
    assert_eq!(rows.len(), 4);
    for (row, method) in rows.iter().zip(&summary.methods) {
        let cells: Vec<Node> = row.descendants().filter(|n| n.has_tag_name("td")).collect();
        assert_eq!(text(row.first_element_child().unwrap()), method.label);
        for (node, cell) in cells.iter().zip(&method.cells) {
            let Some(cell) = cell else {
                assert_eq!(text(*node), "–");
                continue;
            };
            let shown = text(*node);
            assert!(
                shown.starts_with(&format!("{:.1} ± {:.1}", 100.0 * cell.mean, 100.0 * cell.sd)),
                "{shown}"
            );
            assert_eq!(shown.contains("*best"), cell.best, "{shown}");
            let worse = !cell.best && cell.p.unwrap() < 0.05;
            assert_eq!(
                (shown.contains('−'), node.attribute("class") == Some("worse")),
                (worse, worse),
                "{shown}"
            );
        }
    }
    // Three methods and the baseline are drawn; the fourth method has no results.
    assert_eq!(all(&document, "g", "method").len(), 3);
    assert!(text(one(&document, "g", "all")).contains("all 13 features"));
    let svg = one(&document, "svg", "");
    assert!(
        svg.children().any(|n| n.has_tag_name("title")) && svg.children().any(|n| n.has_tag_name("desc"))
    );
    // Failures with their reasons.
    let failures = text(one(&document, "table", "failures"));
    assert!(failures.contains("24 results failed") && failures.contains("n_neighbors"), "{failures}");
    // Selection frequencies of fisher's best feature; directions are not counted.
    let selected = all(&document, "table", "frequencies");
    assert_eq!(selected.len(), 2, "fisher and random");
    let first = selected[0].descendants().filter(|n| n.has_tag_name("tr")).nth(1).unwrap();
    let percent = |k: usize| {
        let mine: Vec<_> = log.results().filter(|r| r.method == "fisher" && r.k == k).collect();
        let with = mine.iter().filter(|r| r.features.iter().any(|name| name == "flavanoids")).count();
        (100.0 * with as f64 / mine.len() as f64).round().to_string()
    };
    assert_eq!(text(first), format!("flavanoids{}{}{}", percent(1), percent(2), percent(4)));
    assert!(percent(1) != "100" && percent(4) == "100", "both kinds of cells");
    assert!(page.contains("Not shown: takes."));
    assert!(page.contains("optimistic") && page.contains("not corrected for multiple comparisons"));
    assert!(text(one(&document, "dl", "settings")).contains("\"n_neighbors\":46"));
}

#[test]
fn cells_are_marked_by_the_paired_test() {
    // The second method is significantly worse than the first, the third is not.
    let score = |m: usize, fold: usize, _: usize| {
        let noise = [0.0, 0.02, -0.01, 0.01, 0.0][fold];
        Some([0.1, 0.3, 0.12][m] + noise * [1.0, 1.1, -3.0][m])
    };
    let methods = ["good", "bad", "level"];
    let log = record(&methods, &[1], 5, "error", score);
    let page = page(&log, &methods, &[1], Measure::Error);
    let document = parsed(&page);
    assert_eq!(text(one(&document, "td", "best")), "10.4 ± 1.1*best");
    assert_eq!(text(one(&document, "td", "worse")), "30.4 ± 1.3−p < 0.001");
    let table = text(one(&document, "table", "scores"));
    assert!(table.contains("level10.8 ± 3.4p 0."), "{table}");
}

#[test]
fn hostile_names_are_escaped() {
    let hostile = [
        "<script>alert(1)</script>",
        "\"><img src=x onerror=alert(1)>",
        "a&b'c",
        "\u{202E}back\u{0}wards\u{1b}[0m",
        "]]></style><!--",
    ];
    let names: Vec<String> = hostile.iter().chain(&["f"]).map(|&name| name.to_owned()).collect();
    let values: Vec<f64> = (0..240).map(|at| ((at * at * 7 + at / 6) % 31) as f64 + 1.0).collect();
    let target = Target::Classes(Classes::from_codes((0..40).map(|row| row % 2).collect()));
    let data = Dataset::new(names, numbers(6, &values), target).unwrap();
    let mut compare = compare(&["fisher", "random"], &[1, 3, 6]);
    for (candidate, name) in compare.candidates.iter_mut().zip(hostile) {
        candidate.label = name.to_owned();
    }
    let mut log = ResultsLog::in_memory();
    compare.run(&data, hostile[0], &mut log, &Context::default()).unwrap();
    let labels: Vec<String> = compare.candidates.iter().map(|c| c.label.clone()).collect();
    let summary = Summary::of(&log, &labels, &[1, 3, 6], Measure::Error);
    let page = compare_page(&log, &[summary], None, None, (hostile[4], hostile[4]));
    let document = parsed(&page);
    has_only_its_script(&document);
    assert!(all(&document, "img", "").is_empty());
    assert_eq!(all(&document, "style", "").len(), 1);
    // No event handlers.
    for node in document.descendants() {
        assert!(node.attributes().all(|a| !a.name().starts_with("on")), "{node:?}");
    }
    assert!(!page.contains('\u{0}') && !page.contains('\u{202E}') && !page.contains('\u{1b}'));
    assert!(text(one(&document, "h1", "")) == hostile[4]);
    let rows = text(one(&document, "table", "scores"));
    assert!(rows.contains(hostile[0]) && rows.contains(hostile[1]), "{rows}");
    // No external resources.
    assert!(
        !page.contains("http:")
            && !page.contains("https:")
            && !page.contains("@import")
            && !page.contains("url(//")
    );
}

#[test]
fn failure_messages_are_escaped() {
    let log = record(&["a"], &[1, 2], 3, "error", |_, fold, k| (fold != 1 || k != 2).then_some(0.25));
    let page = page(&log, &["a"], &[1, 2], Measure::Error);
    let document = parsed(&page);
    assert_eq!(all(&document, "b", "").len(), 1, "the method of the headline");
    assert!(text(one(&document, "table", "failures")).contains("1 result failed: it <b>broke</b>"));
    assert!(text(one(&document, "table", "costs")).contains("0.25012.02.0 KiB"));
}

#[test]
fn comparison_without_any_score() {
    let log = record(&["a"], &[1], 3, "error", |_, _, _| None);
    let page = page(&log, &["a"], &[1], Measure::Error);
    let document = parsed(&page);
    assert_eq!(text(one(&document, "p", "lede")), "No method has a score.");
    assert!(all(&document, "g", "method").is_empty() && all(&document, "table", "frequencies").is_empty());
}

#[test]
fn one_method_with_one_number() {
    let log = record(&["only"], &[3], 1, "error", |_, _, _| Some(0.125));
    let page = page(&log, &["only"], &[3], Measure::Error);
    let document = parsed(&page);
    // With one split, no standard deviation is shown or mentioned.
    assert_eq!(text(one(&document, "td", "best")), "12.5*best");
    assert!(!page.contains("over single splits"));
    assert_eq!(text(one(&document, "p", "lede")), "Lowest error: 12.5 %, by only with 3 features.");
    assert!(page.contains("selected in 1 of 1 split\""));
}

#[test]
fn many_methods_and_many_numbers() {
    let names: Vec<String> = (0..20).map(|m| format!("method {m} with a rather long label indeed")).collect();
    let methods: Vec<&str> = names.iter().map(String::as_str).collect();
    let counts: Vec<usize> = (1..=50).collect();
    let score =
        |m: usize, fold: usize, k: usize| Some(0.5 / k as f64 + 0.01 * m as f64 + 0.003 * fold as f64);
    let log = record(&methods, &counts, 4, "error", score);
    let page = page(&log, &methods, &counts, Measure::Error);
    let document = parsed(&page);
    assert_eq!(all(&document, "g", "method").len(), 20);
    assert_eq!(all(&document, "table", "scores").len(), 7, "blocks of eight");
    assert_eq!(all(&document, "td", "best").len(), 50);
    // Labels do not overlap, and stay inside the chart.
    let svg = one(&document, "svg", "");
    let size: Vec<f64> = svg.attribute("viewBox").unwrap().split(' ').map(|v| v.parse().unwrap()).collect();
    let labels = svg
        .descendants()
        .filter(|n| n.has_tag_name("g") && n.attribute("class").is_some_and(|c| c.starts_with("method")));
    let mut heights: Vec<f64> = labels
        .map(|g| {
            let label = g.children().find(|n| n.has_tag_name("text")).unwrap();
            label.attribute("y").unwrap().parse().unwrap()
        })
        .collect();
    heights.sort_by(f64::total_cmp);
    // Coordinates are written with one decimal.
    assert!(heights.windows(2).all(|pair| pair[1] - pair[0] > 17.8), "{heights:?}");
    assert!(heights[0] > 0.0 && heights[19] < size[3]);
    // Every line has a distinct style.
    let mut styles: Vec<String> = svg
        .descendants()
        .filter(|n| n.has_tag_name("g") && n.attribute("class").is_some_and(|c| c.starts_with("method")))
        .map(|g| {
            let line = g.children().find(|n| n.attribute("class") == Some("line")).unwrap();
            format!("{:?} {:?}", g.attribute("class"), line.attribute("stroke-dasharray"))
        })
        .collect();
    styles.sort();
    styles.dedup();
    assert_eq!(styles.len(), 20);
    // Long names are shortened in the chart, but not in the table.
    assert!(
        page.contains("method 3 with a … indeed")
            && text(all(&document, "table", "scores")[0]).contains(methods[3])
    );
}

#[test]
fn r2_may_be_negative() {
    let score = |m: usize, fold: usize, _: usize| Some(if m == 0 { 0.8 } else { -3.0 } + 0.01 * fold as f64);
    let log = record(&["good", "bad"], &[1, 2, 16], 3, "r2", score);
    let page = page(&log, &["good", "bad"], &[1, 2, 16], Measure::R2);
    let document = parsed(&page);
    let bad = text(one(&document, "table", "scores"));
    assert!(bad.contains("−299.0 ± 1.0"), "{bad}");
    assert!(page.contains("Higher is better") && page.contains("below −100 % are not drawn"));
    assert!(text(one(&document, "dl", "facts")).contains("continuous"));
    assert!(text(one(&document, "svg", "")).contains("Number of features (logarithmic)"));
    assert!(text(one(&document, "p", "lede")).starts_with("Highest R²: 81.0 ± 1.0 %, by good"));
}

#[test]
fn only_the_methods_of_the_summary_are_shown() {
    let log = record(&["a", "b"], &[1, 2], 3, "error", |_, _, _| Some(0.25));
    let page = page(&log, &["b"], &[2], Measure::Error);
    let document = parsed(&page);
    assert_eq!(all(&document, "g", "method").len(), 1);
    assert_eq!(all(&document, "td", "best").len(), 1);
    assert_eq!(all(&document, "dl", "settings")[0].descendants().filter(|n| n.has_tag_name("dt")).count(), 1);
}

#[test]
fn reports_with_hostile_names_are_well_formed() {
    let names: Vec<String> =
        ["<script>x</script>", "a\"b'c&d", "]]></style><!--", ""].map(str::to_owned).to_vec();
    let values: Vec<f64> = (0..240).map(|at| ((at * at * 7 + at / 4) % 31) as f64).collect();
    let classes = Classes::new((0..60).map(|row| row / 20).collect(), names[..3].to_vec()).unwrap();
    let continuous = Target::Continuous((0..60).map(|row| (row % 7) as f64).collect());
    let ctx = Context::default();
    let info = RunInfo { data: names[2].clone(), command: names[0].clone(), ..RunInfo::default() };
    let mut pages = vec![];
    for target in [Target::Classes(classes), continuous, Target::None] {
        let data = Dataset::new(names.clone(), numbers(4, &values), target).unwrap();
        let selection = Selection::by_score(&names[0], vec![0.5, 0.0, 2.0, 1.0], 3);
        let validation = Validation::Skipped(names[0].clone());
        let mut significance = SelectionSignificance::new(&data, &selection, None, &ctx).unwrap();
        significance.complete(&data, &ctx).unwrap();
        if let Ok(found) = FeatureTest::default().run(&data, &[], &ctx) {
            pages.push(test_page(&info, &data, &found, &FeatureTest::default()));
        }
        pages.push(selection_page(&info, &data, (&selection, &significance), &validation, &ctx).unwrap());
        let fit = Kobl::default().fit(&data, &ctx).unwrap();
        let rows: Vec<usize> = (0..60).collect();
        let mapped = MappedRows { coordinates: fit.features.view(), row_numbers: &rows, numbering: "" };
        pages.push(basis_page(&info, &data, &fit.map, &mapped, Some(&[0.1, 0.2]), &ctx).unwrap());
        let design = Design {
            method: names[1].clone(),
            scores: vec![1.0, 0.0, 0.5, 0.0],
            kernels: vec![(names[0].clone(), names[2].clone(), -1.0)],
            margins: vec![-0.5, 0.0, 1.0],
            accuracy: 0.5,
            ..Design::default()
        };
        pages.push(design_page(&info, &data, &design, &ctx).unwrap());
        if matches!(data.target(), Target::Classes(_)) {
            let space = KernelSpaceSelector::takes().fit(&data, FeatureCount::Auto, &ctx).unwrap();
            let coordinates = space.transform(data.x(), &ctx).unwrap();
            let mapped = MappedRows { coordinates: coordinates.view(), row_numbers: &rows, numbering: "" };
            pages.push(space_page(&info, &data, &space, &mapped, &validation, &ctx).unwrap());
        }
    }
    for page in pages {
        let document = parsed(&page);
        has_only_its_script(&document);
        assert!(text(one(&document, "h1", "")).ends_with(&names[2]));
        assert_eq!(all(&document, "style", "").len(), 1);
        assert_eq!(text(one(&document, "pre", "command")), names[0]);
        assert!(!page.contains("NaN") && !page.contains("inf\""));
    }
}
