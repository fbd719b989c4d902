//! The page of a comparison.

use crate::chart::{self, chart};
use crate::html::escape;
use crate::page::Page;
use crate::{features, tables, words};
use kernsift::evaluate::{Measure, ResultsLog, Run, Summary};

/// One self-contained page about a comparison: what was compared on what, the scores drawn and in a table with
/// marks, what it cost, which columns were kept, what failed, how to read it, and how to do it again.
///
/// It shows the methods and numbers of features of the summary, whatever else the log holds. `again` is the command or the
/// code that makes it.
pub fn compare_page(log: &ResultsLog, summary: &Summary, title: &str, again: &str) -> String {
    let columns = log.run().map_or(0, |run| run.fingerprint.columns);
    let mut page = Page::new(title, &headline(summary, columns));
    if let Some(run) = log.run() {
        page.facts(&facts(run, summary.measure));
    }
    page.section("scores", "Score against number of features", &scores(summary, columns));
    page.section("costs", "Cost", &tables::costs(summary));
    if let Some(kept) = kept(log, summary) {
        page.section("kept", "Which columns were kept", &kept);
    }
    if let Some(failures) = tables::failures(summary) {
        page.section("failures", "What failed", &failures);
    }
    page.section("reading", "How to read this", &reading(summary));
    page.again(again);
    let shown = |label: &str| summary.methods.iter().any(|method| method.label == label);
    page.settings(
        log.methods()
            .filter(|(label, _)| shown(label))
            .map(|(label, method)| (label, serde_json::to_string(method).unwrap_or_default())),
    );
    page.finish(&log.run().map_or(String::new(), footer))
}

/// The answer in a sentence.
fn headline(summary: &Summary, columns: usize) -> String {
    let sign = if summary.measure.larger_is_better() { -1.0 } else { 1.0 };
    let bests = summary.methods.iter().filter_map(|method| {
        let (cell, k) = summary.best_of(method)?;
        Some((sign * cell.mean, k, method, cell))
    });
    let best = bests.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let Some((_, k, method, cell)) = best else {
        return "No method could be evaluated.".into();
    };
    let all = summary.all_columns.map_or(String::new(), |cell| {
        format!(" All {columns} columns together: <span>{} %</span>.", words::mean_and_sd(&cell))
    });
    format!(
        "{}: <strong>{} %</strong>, by <b>{}</b> with {}.{all}",
        words::best(summary.measure),
        words::mean_and_sd(&cell),
        escape(&method.label),
        words::counted(k, "feature")
    )
}

fn facts(run: &Run, measure: Measure) -> Vec<(&'static str, String)> {
    let mut facts = vec![
        (
            "Data",
            format!(
                "{}: {}, {}",
                run.data,
                words::counted(run.fingerprint.rows, "row"),
                words::counted(run.fingerprint.columns, "column")
            ),
        ),
        ("Target", if measure == Measure::R2 { "a number" } else { "classes" }.to_owned()),
        ("Evaluator", words::evaluator(&run.evaluator)),
        ("Splits", words::splits(run)),
        ("Scaling", words::scaling(run.scaled).to_owned()),
    ];
    facts.extend(run.filled.map(|fill| ("Empty cells", words::filling(fill).to_owned())));
    facts.push(("Seed", run.seed.to_string()));
    facts
}

fn scores(summary: &Summary, columns: usize) -> String {
    let drawn = chart(summary, columns, None);
    let mut caption =
        format!("{} is better. ", if summary.measure.larger_is_better() { "Higher" } else { "Lower" });
    caption += if chart::shows_spread(summary) {
        "Bars span one standard deviation over splits to each side. "
    } else {
        "Point at a line or its name to see it alone, with its standard deviation over splits. "
    };
    if summary.all_columns.is_some() {
        caption += "The dashed line is the evaluator with all columns. ";
    }
    if drawn.cut {
        caption += "Values below −100 % are not drawn. ";
    }
    format!(
        "<figure>\n{}<figcaption>{}</figcaption>\n</figure>\n{}<p class=\"legend\">\
         <span class=\"key best\">*</span> the best mean with as many features; \
         <span class=\"key worse\">−</span> worse than that one (p &lt; {}). \
         p: corrected paired test of the difference from the best.</p>\n",
        drawn.svg,
        caption.trim_end(),
        tables::scores(summary),
        words::LEVEL
    )
}

fn kept(log: &ResultsLog, summary: &Summary) -> Option<String> {
    let spaces = features::in_kernel_space(log, summary);
    let cards = features::cards(log, summary);
    if cards.is_none() && spaces.is_empty() {
        return None;
    }
    let mut html = String::new();
    if let Some(cards) = cards {
        html += "<p>Per cent of the splits in which a column was among those kept, for each number of features; \
                 blank is never. A method whose columns change from split to split tells less about which ones \
                 matter than its score may suggest.</p>\n";
        html += &cards;
    }
    if !spaces.is_empty() {
        let names: Vec<String> = spaces.iter().map(|label| escape(label)).collect();
        html += &format!(
            "<p>Not shown: {}. Directions of kernel space are made anew from the training rows of each split, \
             so theirs cannot be counted across splits.</p>\n",
            names.join(", ")
        );
    }
    Some(html)
}

fn reading(summary: &Summary) -> String {
    let spread = if summary.methods.iter().flat_map(|m| m.cells.iter().flatten()).any(|c| c.splits > 1) {
        " The standard deviation is that of single splits, not of the mean."
    } else {
        ""
    };
    format!(
        "<p>In every split all that is learned from rows (fill values, scales, the selection, the evaluator and what it \
         chooses) is learned from the training rows alone, and scored on the others.{spread}</p>\n\
         <p>Choosing the method or the number of features that looks best here, and quoting its score, is optimistic: \
         the winner of many is partly the luckiest. Rows that took no part are needed to say how good the choice \
         is.</p>\n\
         <p>The p-values are of one pair at a time, by a t test over splits whose variance is corrected for shared \
         training rows (Nadeau and Bengio, 2003); among many pairs some are small by chance, and no mark does \
         not mean equal.</p>\n"
    )
}

fn footer(run: &Run) -> String {
    format!(
        "kernsift {} · fingerprint of the data {} · record format {}",
        run.version, run.fingerprint.checksum, run.format
    )
}
