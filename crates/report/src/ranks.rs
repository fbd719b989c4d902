//! The report of mean ranks over several tables.

use crate::html::{breakable, escape, shortened};
use crate::page::Page;
use crate::text;
use kernsift::evaluate::{MeanRanks, RankedMethod};

const WIDTH: f64 = 1000.0;
/// The ends of the axis; labels are outside of it.
const LEFT: f64 = 250.0;
const RIGHT: f64 = WIDTH - 250.0;
/// The height of the axis.
const AXIS: f64 = 74.0;
/// Height of a line of text, and distance of the bars of groups.
const LINE_HEIGHT: f64 = 24.0;
const BAR: f64 = 9.0;
/// Maximum length of a label, in characters.
const LABEL_LENGTH: usize = 30;
/// Maximum number of tables per block of scores.
const BLOCK: usize = 6;

/// A self-contained HTML page about mean ranks: the diagram of critical differences, scores and ranks by table, and notes
/// on interpretation. `command` is the command or code that creates the page.
pub fn ranks_page(ranks: &MeanRanks, title: &str, command: &str) -> String {
    let mut page = Page::new(title, &headline(ranks));
    page.facts(&facts(ranks));
    let figure = format!(
        "<figure>\n{}<figcaption>{}</figcaption>\n</figure>\n",
        diagram(ranks),
        "Mean ranks, the best on the left. A bar connects methods that do not differ significantly; CD is the critical \
         difference."
    );
    page.section("ranks", "Mean ranks", &figure);
    page.section("tables", "Scores and ranks by table", &tables(ranks));
    if !ranks.left_out.is_empty() {
        page.section("failures", "Without rank", &left_out(ranks));
    }
    page.section("interpretation", "Interpretation", INTERPRETATION);
    page.command(command);
    page.finish(&format!("kernsift {}", env!("CARGO_PKG_VERSION")))
}

const INTERPRETATION: &str = "<p>The score of a method in a table is its mean over the numbers of features. No number of \
features is chosen by scores on test rows, which would favor methods whose scores vary much.</p>\n\
<p>The Friedman test, with the F statistic of Iman and Davenport, asks whether all methods have the same mean rank. If it \
rejects that (p &lt; 0.05), two methods differ significantly if their mean ranks differ by at least the critical difference \
of Nemenyi (Demšar, 2006). The tables must be independent: several versions of one data set are not.</p>\n\
<p>Methods that a bar connects are not shown to be equal; with few tables only large differences are significant.</p>\n";

fn headline(ranks: &MeanRanks) -> String {
    let best = &ranks.methods[0];
    let with = |method: &RankedMethod| format!("<b>{}</b> ({:.2})", escape(&method.label), method.mean_rank);
    let is_worse = |m: &&RankedMethod| m.mean_rank - best.mean_rank >= ranks.critical_difference;
    let verdict = match ranks.methods.iter().filter(is_worse).count() {
        n if n > 0 && ranks.is_significant() => {
            format!("It is significantly better than {}.", text::counted(n, "method"))
        }
        _ => "It is not significantly better than another method.".into(),
    };
    format!("Best mean rank: {}. {verdict}", with(best))
}

fn facts(ranks: &MeanRanks) -> Vec<(&'static str, String)> {
    let (n, k) = (ranks.tables.len(), ranks.methods.len());
    let f = ranks.f.map_or("infinite".into(), text::number);
    vec![
        ("Tables", n.to_string()),
        ("Methods", k.to_string()),
        ("Score", format!("{}, mean over numbers of features", text::measure(&ranks.measure))),
        (
            "Friedman test",
            format!(
                "F {f} with {} and {} degrees of freedom, {}",
                k - 1,
                (k - 1) * (n - 1),
                text::p_value(ranks.p_value)
            ),
        ),
        ("Critical difference (Nemenyi, 0.05)", text::number(ranks.critical_difference)),
    ]
}

/// The diagram of critical differences (Demšar, 2006).
fn diagram(ranks: &MeanRanks) -> String {
    let k = ranks.methods.len();
    let at = |rank: f64| LEFT + (rank - 1.0) / (k as f64 - 1.0) * (RIGHT - LEFT);
    let bars = levels(ranks);
    let below = AXIS + 18.0 + BAR * bars.iter().map(|bar| bar.2 + 1).max().unwrap_or(0) as f64;
    let half = k.div_ceil(2);
    let height = below + LINE_HEIGHT * half as f64 + 10.0;
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH:.0} {height:.0}\" role=\"img\" aria-label=\"Mean ranks with the critical difference\">\n\
         <g class=\"grid\"><path class=\"axis\" d=\"M{LEFT} {AXIS}H{RIGHT}\"/>\n"
    );
    let every = k.div_ceil(20);
    for rank in (1..=k).step_by(every) {
        let x = at(rank as f64);
        svg += &format!(
            "<path class=\"tick\" d=\"M{x:.1} {AXIS}v-6\"/><text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{rank}</text>\n",
            AXIS - 11.0
        );
    }
    svg += "</g>\n";
    let end = at(1.0 + ranks.critical_difference).min(WIDTH - 10.0);
    svg += &format!(
        "<g class=\"grid\"><path class=\"axis\" d=\"M{LEFT} 30v-10M{LEFT} 25H{end:.1}M{end:.1} 30v-10\"/>\
         <text x=\"{:.1}\" y=\"14\" text-anchor=\"middle\">CD {:.2}</text></g>\n",
        (LEFT + end) / 2.0,
        ranks.critical_difference
    );
    for (from, to, level) in bars {
        let y = AXIS + 12.0 + BAR * level as f64;
        let (from, to) = (at(from) - 5.0, at(to) + 5.0);
        svg += &format!("<path class=\"group\" d=\"M{from:.1} {y:.1}H{to:.1}\"/>\n");
    }
    for (place, method) in ranks.methods.iter().enumerate() {
        // The better half is on the left, from the top; the other half on the right, from the bottom.
        let is_left = place < half;
        let line = if is_left { place } else { k - 1 - place };
        let (x, y) = (at(method.mean_rank), below + LINE_HEIGHT * line as f64 + 8.0);
        let (edge, label, anchor) =
            if is_left { (LEFT - 14.0, LEFT - 20.0, "end") } else { (RIGHT + 14.0, RIGHT + 20.0, "start") };
        svg += &format!(
            "<g class=\"method c{}\"><title>{}: mean rank {:.3}</title><path class=\"line\" d=\"M{x:.1} {AXIS}V{y:.1}H{edge:.1}\"/>\
             <text x=\"{label:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{} · {:.2}</text></g>\n",
            place % crate::chart::COLORS,
            escape(&method.label),
            method.mean_rank,
            y + 4.0,
            shortened(&method.label, LABEL_LENGTH),
            method.mean_rank
        );
    }
    svg + "</svg>\n"
}

/// The ends of the bars of groups, and levels at which they do not touch.
fn levels(ranks: &MeanRanks) -> Vec<(f64, f64, usize)> {
    let rank = |label: Option<&String>| {
        ranks
            .methods
            .iter()
            .find(|method| Some(&method.label) == label)
            .map_or(1.0, |method| method.mean_rank)
    };
    let mut ends: Vec<f64> = vec![];
    let mut bars = vec![];
    // Groups are sorted by their first method.
    for group in &ranks.groups {
        let (from, to) = (rank(group.first()), rank(group.last()));
        let level = ends.iter().position(|&end| end < from - 0.05).unwrap_or(ends.len());
        if level == ends.len() {
            ends.push(to);
        }
        ends[level] = to;
        bars.push((from, to, level));
    }
    bars
}

fn tables(ranks: &MeanRanks) -> String {
    let unit = text::in_unit(&ranks.measure);
    let indices: Vec<usize> = (0..ranks.tables.len()).collect();
    let block = |block: &[usize]| {
        let heads: String = block
            .iter()
            .map(|&at| {
                let table = &ranks.tables[at];
                let counts: Vec<String> = table.counts.iter().map(usize::to_string).collect();
                format!(
                    "<th scope=\"col\" title=\"{} with {} features\">{}</th>",
                    escape(&table.name),
                    counts.join(", "),
                    shortened(&table.name, 18)
                )
            })
            .collect();
        let row = |method: &RankedMethod| {
            let cells: String = block
                .iter()
                .map(|&at| {
                    let class = if method.ranks[at] == 1.0 { " class=\"best\"" } else { "" };
                    let score = text::score(method.scores[at], &ranks.measure);
                    format!("<td{class}>{score} <span class=\"sd\">rank {}</span></td>", method.ranks[at])
                })
                .collect();
            format!("<tr><th scope=\"row\">{}</th>{cells}</tr>\n", breakable(&method.label))
        };
        let rows: String = ranks.methods.iter().map(row).collect();
        format!(
            "<div class=\"scroll\"><table class=\"scores\"><caption>{}{unit}, and rank in the table</caption>\n\
             <thead><tr><th scope=\"col\">Method</th>{heads}</tr></thead>\n<tbody>\n{rows}</tbody></table></div>\n",
            escape(text::measure(&ranks.measure))
        )
    };
    indices.chunks(BLOCK).map(block).collect()
}

fn left_out(ranks: &MeanRanks) -> String {
    let rows: String = ranks
        .left_out
        .iter()
        .map(|one| {
            let what = one.method.as_ref().map_or("all methods".to_owned(), |label| breakable(label));
            format!(
                "<tr><th scope=\"row\">{what}</th><td>no score in {}: {}</td></tr>\n",
                escape(&one.table),
                escape(&one.why)
            )
        })
        .collect();
    format!(
        "<div class=\"scroll\"><table class=\"failures\"><thead><tr><th scope=\"col\">Method</th>\
         <th scope=\"col\">Problem</th></tr></thead>\n<tbody>\n{rows}</tbody></table></div>\n"
    )
}
