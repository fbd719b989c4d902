//! HTML reports of all commands with `--report`.

use crate::scratch::Scratch;

#[test]
fn the_report_agrees_with_the_printed_table() {
    let s = Scratch::new();
    s.ok("data export wine --out wine.csv");
    let printed = s.ok("compare wine.csv -m fisher,relief -k 1,2 --evaluator knn --report wine.html").out;
    let page = s.text("wine.html");
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
    assert!(page.contains("<h1>Features of wine.csv</h1>"), "{page}");
    // The first score of the printed table.
    let line = printed.lines().find(|line| line.trim_start().starts_with("fisher")).unwrap();
    let mean = line.split_whitespace().nth(1).unwrap();
    assert!(page.contains(&format!("<span class=\"mean\">{mean}</span>")), "{line}");
    // A second run overwrites the report.
    s.ok("compare wine.csv -m fisher -k 1 --evaluator knn --report wine.html");
    assert!(!s.text("wine.html").contains("relief"));
}

#[test]
fn reports_do_not_overwrite_inputs_or_records() {
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

#[test]
fn every_command_writes_its_report() {
    let s = Scratch::new();
    s.ok("data export wine --out wine.csv");
    let pages = [
        ("select wine.csv -m relief -k 3", "<h1>Features of wine.csv</h1>", "Score by number of features"),
        (
            "select wine.csv -m takes -k 5",
            "<h1>Kernel space of wine.csv</h1>",
            "Score by number of directions",
        ),
        ("interactions wine.csv", "<h1>Interactions in wine.csv</h1>", "Plots of the best pairs"),
        ("basis wine.csv", "<h1>Kernel space of wine.csv</h1>", "Rows in kernel space"),
        ("design wine.csv", "<h1>Learned kernel for wine.csv</h1>", "Margins of the triplets"),
    ];
    for (command, title, part) in pages {
        let plain = s.ok(command).out;
        let with_page = s.ok(&format!("{command} --report page.html"));
        assert_eq!(plain, with_page.out, "{command}: the printed output does not change");
        assert!(with_page.err.contains("report: page.html"), "{}", with_page.err);
        let page = s.text("page.html");
        assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"), "{command}");
        // Description of the data, command line, and resources.
        let again = format!("<code>kernsift {command} --report page.html</code>");
        for text in [
            title,
            part,
            "<dt>Rows</dt><dd>178</dd>",
            "<dt>Features</dt><dd>13 numbers</dd>",
            "target: 3 classes",
            "All columns of the table",
            "in addition to the data",
            again.as_str(),
        ] {
            assert!(page.contains(text), "{command}: {text}");
        }
    }
}

#[test]
fn the_report_describes_missing_values_and_cross_validation() {
    let s = Scratch::new();
    let rows: String = (0..40)
        .map(|i| {
            format!("{},{},{}\n", i % 7, if i == 5 { String::new() } else { (i * i % 11).to_string() }, i % 2)
        })
        .collect();
    s.file("missing.csv", format!("a,b,class\n{rows}"));
    let said = s.ok("select missing.csv -m fisher -k 1 --missing mean --report page.html").err;
    assert_eq!(said.matches("target: 'class'").count(), 1, "{said}");
    let page = s.text("page.html");
    assert!(
        page.contains("1 missing value in column &#39;b&#39;: imputed with the mean")
            && page.contains("in cross-validation: <strong>"),
        "{page}"
    );
    s.ok("select missing.csv -m fisher -k 1 --missing drop --folds 0 --report page.html");
    let page = s.text("page.html");
    assert!(
        page.contains("Cross-validation was disabled (--folds 0)") && page.contains("rows dropped"),
        "{page}"
    );
    s.ok("select missing.csv -m laplacian --set graph=knn --missing drop --target none -k 1 --report page.html");
    assert!(s.text("page.html").contains("Cross-validation needs a target"));
}

#[test]
fn invalid_report_options_are_rejected_before_any_work() {
    let s = Scratch::new();
    s.ok("data export wine --out wine.csv");
    for command in ["select wine.csv", "basis wine.csv", "design wine.csv"] {
        let error = s.error(&format!("{command} --report wine.csv"));
        assert!(error.contains("--report would write over wine.csv"), "{error}");
        let error = s.error(&format!("{command} --save a.ks --report a.ks"));
        assert!(error.contains("--report and --save need different files"), "{error}");
        let error = s.error(&format!("{command} --report nowhere/page.html"));
        assert!(error.contains("nowhere"), "{error}");
    }
    let error = s.error("select wine.csv --folds 3");
    assert!(error.contains("--folds has no effect without --report"), "{error}");
    let error = s.error("select wine.csv -m fisher -k 2 --folds 500 --report page.html");
    assert!(error.contains("--folds"), "{error}");
}

#[test]
fn every_report_opens_with_the_account_of_the_table() {
    let s = Scratch::new();
    let rows: String = (0..40)
        .map(|i| {
            let color = if i == 3 { "" } else { ["red", "green", "blue"][i % 3] };
            format!("K{i:03},{},{color},EUR,2021-03-{:02},{}\n", i * i % 13, 1 + i % 28, ["a", "b"][i % 2])
        })
        .collect();
    s.file("mixed.csv", format!("key,size,color,currency,day,class\n{rows}"));
    let facts = [
        "<dt>Rows</dt><dd>40</dd>",
        "<dt>Columns</dt><dd>6</dd>",
        "<dt>Features</dt><dd>1 number, 1 category, 1 date</dd>",
        "<dt>Target</dt><dd>class: 2 classes</dd>",
        "<dd>1 missing value in column &#39;color&#39;: a level of their own</dd>",
        "<dd>&#39;key&#39; (identifier), &#39;currency&#39; (constant)</dd>",
    ];
    for command in [
        "inspect mixed.csv",
        "select mixed.csv -k 3 --folds 0",
        "compare mixed.csv -m fisher -k 1 --evaluator knn",
        "basis mixed.csv",
        "design mixed.csv --hold-out 0",
    ] {
        s.ok(&format!("{command} --report page.html"));
        let page = s.text("page.html");
        let (opening, _) = page.split_once("<section").unwrap();
        for fact in facts {
            assert!(opening.contains(fact), "{command}: {fact}\n{opening}");
        }
    }
    s.ok("select mixed.csv -k 3 --folds 0 --report page.html");
    let page = s.text("page.html");
    // Dates have ticks of dates; the bars of categories have a legend of classes.
    assert!(page.contains(">2021-03-") && page.contains("class=\"keys\""), "{page}");
}

#[test]
fn the_account_of_a_wide_table_is_short() {
    let s = Scratch::new();
    let mut text = (0..2000).map(|j| format!("x{j},")).collect::<String>() + "class\n";
    for i in 0..8usize {
        (0..2000).for_each(|j| text += &format!("{},", (i * 7 + j * 13 + i * j) % 101));
        text += if i % 2 == 0 { "a\n" } else { "b\n" };
    }
    s.file("wide.csv", text);
    s.ok("select wide.csv -k 3 --folds 0 --report page.html");
    let page = s.text("page.html");
    assert!(page.contains("The first 300 of 2001 columns; 1701 more are not listed here."));
    let (_, account) = page.split_once("All columns of the table").unwrap();
    let (account, _) = account.split_once("</details>").unwrap();
    // About 250 bytes per column: names, examples, statistics and markup.
    assert!(account.len() < 300 * 600, "{}", account.len());
}
