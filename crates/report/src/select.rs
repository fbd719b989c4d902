//! The page of a selection among columns.

use crate::chart::chart;
use crate::html::escape;
use crate::listing::{Cell, Head, Listing};
use crate::page::{Asked, Page};
use crate::redundancy::redundancy;
use crate::relations::{self, relations};
use crate::{features, words};
use kernsift::evaluate::{Cell as Score, ResultsLog, Summary};
use kernsift::{Context, Dataset, Result, Selection};

/// How well the method does on rows that it has not seen.
pub enum Check {
    /// It was run again in every fold of a comparison in which it is the only method.
    Done(Box<(ResultsLog, Summary)>),
    /// It was not, and why.
    Not(String),
}

impl Check {
    /// What a comparison found in which it is the only method.
    pub fn of(log: ResultsLog, summary: Summary) -> Self {
        let method = summary.methods.first();
        if method.is_some_and(|method| method.cells.iter().any(Option::is_some)) {
            return Self::Done(Box::new((log, summary)));
        }
        let why =
            method.and_then(|method| method.failure.clone()).unwrap_or_else(|| "no fold has a score".into());
        Self::Not(format!("It could not be checked: {why}."))
    }

    /// The score with this many features.
    fn score(&self, k: usize) -> Option<&Score> {
        let Self::Done(done) = self else { return None };
        let summary = &done.1;
        let place = summary.counts.iter().position(|&count| count == k)?;
        summary.methods.first()?.cells[place].as_ref()
    }

    /// What the check found, as a sentence.
    pub(crate) fn sentence(&self, k: usize, all: &str) -> String {
        let (Some(score), Self::Done(done)) = (self.score(k), self) else { return String::new() };
        let summary = &done.1;
        let whole = summary.all_columns.map_or(String::new(), |cell| {
            format!("; with {all} <span>{} %</span>", words::mean_and_sd(&cell))
        });
        let measure = words::measure(summary.measure);
        format!(
            " {measure} on rows it has not seen: <strong>{} %</strong>{whole}.",
            words::mean_and_sd(score)
        )
    }

    /// Score against number of features, and what it means.
    pub(crate) fn html(&self, k: usize, data: &Dataset) -> String {
        let (log, summary) = match self {
            Self::Not(why) => return format!("<p>{}</p>\n", escape(why)),
            Self::Done(done) => (&done.0, &done.1),
        };
        let drawn = chart(summary, data.d(), Some(k));
        let better = if summary.measure.larger_is_better() { "Higher" } else { "Lower" };
        let judged = log.run().map_or(String::new(), |run| {
            let some = match run.fingerprint.rows {
                rows if rows < data.n() => format!(" On {rows} of the {} rows, drawn at random.", data.n()),
                _ => String::new(),
            };
            let (evaluator, splits) = (words::evaluator(&run.evaluator), words::splits(run));
            format!("{some} Evaluator: {}. Splits: {}.", escape(&evaluator), escape(&splits))
        });
        let failed = crate::tables::failures(summary).unwrap_or_default();
        let cut = if drawn.cut { " Values below −100 % are not drawn." } else { "" };
        format!(
            "<figure>\n{}<figcaption>{better} is better. Bars span one standard deviation over folds to each side; the dashed line is the evaluator \
             with all columns.{cut}</figcaption>\n</figure>\n{failed}\
             <p>In every fold the method chose anew, from the training rows alone, and was judged on the others.{judged} \
             The number that looks best here is partly the luckiest.</p>\n",
            drawn.svg
        )
    }
}

/// One self-contained page about columns that were selected: the answer with its scores, how good it is on unseen rows, how the
/// columns relate to the target and to each other, how steady the choice is, and how to do it again.
pub fn selection_page(
    asked: &Asked,
    data: &Dataset,
    selection: &Selection,
    check: &Check,
    ctx: &Context,
) -> Result<String> {
    let (kept, k, d) = (selection.selected(), selection.n_selected, data.d());
    let names: Vec<&str> = kept.iter().map(|&j| data.names()[j].as_str()).collect();
    let lede = format!(
        "<b>{}</b> keeps {k} of {}: {}.{}",
        escape(&selection.method),
        words::counted(d, "column"),
        words::listed(&names, 8),
        check.sentence(k, &format!("all {d} columns"))
    );
    let mut page = Page::new(&format!("Features of {}", asked.data), &lede);
    page.section("kept", "Columns, best first", &ranking(data, selection, check));
    page.facts(&asked.facts(data.n(), d, words::target(data.target())));
    page.section("error", "How many columns are enough", &check.html(k, data));
    page.section("target", relations::heading(data.target()), &relations(data, kept));
    if let Some(map) = redundancy(data, kept, ctx)? {
        page.section("redundancy", "How far they repeat each other", &map);
    }
    if let Check::Done(done) = check
        && let Some(cards) = features::cards(&done.0, &done.1)
    {
        let text = "<p>Per cent of the folds in which a column was among those kept, for each number of columns; blank is never. What changes from fold \
                    to fold tells less about what matters than its score may suggest.</p>\n";
        page.section("stability", "How steady the choice is", &(text.to_owned() + &cards));
    }
    Ok(asked.finish(page))
}

/// All columns in order, with what is known of each.
fn ranking(data: &Dataset, selection: &Selection, check: &Check) -> String {
    let shares = match check {
        Check::Done(done) => features::shares(&done.0, selection.n_selected),
        Check::Not(_) => None,
    };
    let mut heads = vec![Head::number("Rank"), Head::text("Column"), Head::bar("Score")];
    if shares.is_some() {
        heads.push(Head::bar("Kept in folds, %"));
    }
    let rows = selection.order.iter().enumerate().map(|(rank, &j)| {
        let name = &data.names()[j];
        let mut row = vec![
            Cell::Number(rank as f64 + 1.0),
            Cell::Text(name.clone()),
            Cell::Number(selection.scores[j]),
        ];
        if let Some(shares) = &shares {
            row.push(Cell::Number(100.0 * shares.get(name.as_str()).copied().unwrap_or(0.0)));
        }
        row
    });
    Listing {
        file: "columns.csv",
        caption: String::new(),
        heads,
        rows: rows.collect(),
        kept: selection.n_selected,
    }
    .html()
}
