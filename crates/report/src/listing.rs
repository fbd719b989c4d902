//! A table that can be sorted, searched and exported as CSV.
//!
//! The first rows are HTML; the others are embedded as JSON and rendered by the script on demand, which keeps pages with 20,000
//! features small.

use crate::html::{escape, shortened};
use crate::text::number;
use serde_json::{Value, json};

/// Number of rows rendered as HTML; the same as in the script.
const SHOWN: usize = 300;
/// Maximum length of text, in characters.
const TEXT_LENGTH: usize = 60;

/// A column of the table.
pub struct Head {
    title: &'static str,
    is_number: bool,
    bar: bool,
}

impl Head {
    /// A column of text.
    pub fn text(title: &'static str) -> Self {
        Self { title, is_number: false, bar: false }
    }

    /// A column of numbers.
    pub fn number(title: &'static str) -> Self {
        Self { title, is_number: true, bar: false }
    }

    /// A column of numbers, with bars relative to the largest.
    pub fn bar(title: &'static str) -> Self {
        Self { title, is_number: true, bar: true }
    }
}

/// Contents of a cell.
#[derive(Clone)]
pub enum Cell {
    /// Text.
    Text(String),
    /// A number.
    Number(f64),
    /// Nothing.
    Empty,
}

/// A table; see the module documentation.
pub struct Listing {
    /// File name of the CSV export.
    pub file: &'static str,
    /// Caption.
    pub caption: String,
    /// Columns.
    pub heads: Vec<Head>,
    /// Rows, best first.
    pub rows: Vec<Vec<Cell>>,
    /// Number of leading rows that are highlighted as selected.
    pub selected: usize,
}

impl Listing {
    /// The table as HTML.
    pub fn html(&self) -> String {
        let max: Vec<f64> = (0..self.heads.len()).map(|at| self.max(at)).collect();
        let heads: String = self
            .heads
            .iter()
            .zip(&max)
            .map(|(head, max)| {
                let class = if head.is_number { " class=\"number\"" } else { "" };
                let bar = if head.bar { format!(" data-max=\"{max}\"") } else { String::new() };
                format!("<th scope=\"col\"{class}{bar}>{}</th>", head.title)
            })
            .collect();
        let rows: String =
            self.rows.iter().take(SHOWN).enumerate().map(|(at, row)| self.row(at, row, &max)).collect();
        let rest = self.rows.get(SHOWN..).filter(|rest| !rest.is_empty()).map_or(String::new(), |rest| {
            // By columns, which takes less space than by rows; without ranks, which the script counts.
            let is_rank =
                |(at, row): (usize, &Vec<Cell>)| matches!(row[0], Cell::Number(v) if v == at as f64 + 1.0);
            let is_ranked = self.rows.iter().enumerate().all(is_rank);
            let column = |at: usize| rest.iter().map(|row| json_value(&self.heads[at], &row[at])).collect();
            let rest: Vec<Vec<Value>> = (usize::from(is_ranked)..self.heads.len()).map(column).collect();
            format!(
                "<script type=\"application/json\" class=\"rest\"{}>{}</script>\n",
                if is_ranked { " data-ranked" } else { "" },
                escape_json(&json!(rest))
            )
        });
        let note = match self.rows.len() {
            n if n > SHOWN => format!(
                "<p class=\"more without-script\">The first {SHOWN} of {n}; enable JavaScript to see the others.</p>"
            ),
            _ => String::new(),
        };
        let caption = if self.caption.is_empty() {
            String::new()
        } else {
            format!("<caption>{}</caption>", escape(&self.caption))
        };
        format!(
            "<div class=\"scroll\"><table class=\"listing\" data-file=\"{}\">{caption}\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}</tbody></table>{rest}{note}</div>\n",
            self.file
        )
    }

    fn max(&self, at: usize) -> f64 {
        let numbers = self.rows.iter().filter_map(|row| match row[at] {
            Cell::Number(v) => Some(v),
            _ => None,
        });
        numbers.fold(0.0, f64::max)
    }

    fn row(&self, at: usize, row: &[Cell], max: &[f64]) -> String {
        let cells: String = row
            .iter()
            .enumerate()
            .map(|(at, cell)| match cell {
                Cell::Empty => "<td></td>".into(),
                Cell::Text(text) => {
                    format!("<td data-v=\"{}\">{}</td>", escape(text), shortened(text, TEXT_LENGTH))
                }
                Cell::Number(v) if self.heads[at].bar => {
                    let percent = if max[at] > 0.0 { 100.0 * v.max(0.0) / max[at] } else { 0.0 };
                    format!(
                        "<td class=\"number\" data-v=\"{v}\"><span class=\"value\">{}</span><span class=\"bar\" style=\"--s:{percent:.1}\"></span></td>",
                        number(*v)
                    )
                }
                Cell::Number(v) => {
                    let text = if v.fract() == 0.0 { v.to_string() } else { number(*v) };
                    format!("<td class=\"number\" data-v=\"{v}\">{text}</td>")
                }
            })
            .collect();
        let class = if at < self.selected { "selected" } else { "dropped" };
        format!("<tr class=\"{class}\">{cells}</tr>\n")
    }
}

fn json_value(head: &Head, cell: &Cell) -> Value {
    match cell {
        Cell::Text(text) => json!(text),
        Cell::Number(v) if v.fract() == 0.0 && v.abs() < 1e15 => json!(*v as i64),
        // Six digits of scores, and of other numbers the digits that are shown.
        Cell::Number(v) if head.bar => json!(format!("{v:.5e}").parse::<f64>().unwrap_or(*v)),
        Cell::Number(v) => json!(format!("{v:.3e}").parse::<f64>().unwrap_or(*v)),
        Cell::Empty => Value::Null,
    }
}

/// JSON that cannot end the script element that contains it.
fn escape_json(value: &Value) -> String {
    let text = value.to_string();
    text.replace('&', "\\u0026").replace('<', "\\u003c").replace('>', "\\u003e")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing(n: usize) -> String {
        let rows = (0..n).map(|i| {
            vec![
                Cell::Number(i as f64 + 1.0),
                Cell::Text(format!("</script><b{i}>&")),
                Cell::Number(1.0 / (i + 1) as f64),
            ]
        });
        let heads = vec![Head::number("Rank"), Head::text("Feature"), Head::bar("Score")];
        Listing { file: "a.csv", caption: String::new(), heads, rows: rows.collect(), selected: 2 }.html()
    }

    #[test]
    fn short_table_is_html_only() {
        let html = listing(3);
        assert_eq!(html.matches("<tr class=\"selected\">").count(), 2);
        assert_eq!(html.matches("<tr class=\"dropped\">").count(), 1);
        assert!(html.contains("--s:50.0") && html.contains("data-max=\"1\"") && !html.contains("<script"));
    }

    #[test]
    fn further_rows_are_escaped_json() {
        let html = listing(SHOWN + 2);
        assert_eq!(html.matches("<tr ").count(), SHOWN);
        let (_, rest) = html.split_once("class=\"rest\" data-ranked>").unwrap();
        let (rest, _) = rest.split_once("</script>").unwrap();
        assert!(!rest.contains('<') && !rest.contains('&'));
        let rest: Value = serde_json::from_str(rest).unwrap();
        assert_eq!(rest[0][1], format!("</script><b{}>&", SHOWN + 1));
        // 1 / 302 in six digits.
        assert_eq!((&rest[1][1], rest.as_array().unwrap().len()), (&json!(0.00331126), 2));
    }
}
