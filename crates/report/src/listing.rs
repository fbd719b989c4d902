//! A table that can be sorted, searched and taken away as CSV.
//!
//! The first rows are in the page as they are; the rest is data that the page's script makes rows of when they are asked for, so that
//! 20,000 columns do not make a page of many megabytes.

use crate::html::{escape, shortened};
use crate::words::number;
use serde_json::{Value, json};

/// Rows in the page itself. The script has the same number.
const SHOWN: usize = 300;
/// Characters of a text.
const TEXT: usize = 60;

/// A column of the table.
pub struct Head {
    title: &'static str,
    is_number: bool,
    bar: bool,
}

impl Head {
    /// Texts.
    pub fn text(title: &'static str) -> Self {
        Self { title, is_number: false, bar: false }
    }

    /// Numbers.
    pub fn number(title: &'static str) -> Self {
        Self { title, is_number: true, bar: false }
    }

    /// Numbers with a bar against the largest.
    pub fn bar(title: &'static str) -> Self {
        Self { title, is_number: true, bar: true }
    }
}

/// What stands in a cell.
#[derive(Clone)]
pub enum Cell {
    /// Text.
    Text(String),
    /// A number.
    Number(f64),
    /// Nothing.
    Empty,
}

/// A table; see the module's text.
pub struct Listing {
    /// The name of the file that is taken away.
    pub file: &'static str,
    /// What is said above it.
    pub caption: String,
    /// Its columns.
    pub heads: Vec<Head>,
    /// Its rows, best first.
    pub rows: Vec<Vec<Cell>>,
    /// How many of them, from the first, are marked as kept.
    pub kept: usize,
}

impl Listing {
    /// The table as HTML.
    pub fn html(&self) -> String {
        let most: Vec<f64> = (0..self.heads.len()).map(|at| self.most(at)).collect();
        let heads: String = self
            .heads
            .iter()
            .zip(&most)
            .map(|(head, most)| {
                let class = if head.is_number { " class=\"number\"" } else { "" };
                let bar = if head.bar { format!(" data-most=\"{most}\"") } else { String::new() };
                format!("<th scope=\"col\"{class}{bar}>{}</th>", head.title)
            })
            .collect();
        let rows: String =
            self.rows.iter().take(SHOWN).enumerate().map(|(at, row)| self.row(at, row, &most)).collect();
        let rest = self.rows.get(SHOWN..).filter(|rest| !rest.is_empty()).map_or(String::new(), |rest| {
            let rest: Vec<Vec<Value>> = rest.iter().map(|row| row.iter().map(plain).collect()).collect();
            format!("<script type=\"application/json\" class=\"rest\">{}</script>\n", data(&json!(rest)))
        });
        let note = match self.rows.len() {
            n if n > SHOWN => format!(
                "<p class=\"more without-script\">The first {SHOWN} of {n}; the others need the page's script.</p>"
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

    fn most(&self, at: usize) -> f64 {
        let numbers = self.rows.iter().filter_map(|row| match row[at] {
            Cell::Number(v) => Some(v),
            _ => None,
        });
        numbers.fold(0.0, f64::max)
    }

    fn row(&self, at: usize, row: &[Cell], most: &[f64]) -> String {
        let cells: String = row
            .iter()
            .enumerate()
            .map(|(at, cell)| match cell {
                Cell::Empty => "<td></td>".into(),
                Cell::Text(text) => {
                    format!("<td data-v=\"{}\">{}</td>", escape(text), shortened(text, TEXT))
                }
                Cell::Number(v) if self.heads[at].bar => {
                    let share = if most[at] > 0.0 { 100.0 * v.max(0.0) / most[at] } else { 0.0 };
                    format!(
                        "<td class=\"number\" data-v=\"{v}\"><span class=\"value\">{}</span><span class=\"bar\" style=\"--s:{share:.1}\"></span></td>",
                        number(*v)
                    )
                }
                Cell::Number(v) => {
                    let text = if v.fract() == 0.0 { v.to_string() } else { number(*v) };
                    format!("<td class=\"number\" data-v=\"{v}\">{text}</td>")
                }
            })
            .collect();
        let class = if at < self.kept { "kept-row" } else { "dropped" };
        format!("<tr class=\"{class}\">{cells}</tr>\n")
    }
}

fn plain(cell: &Cell) -> Value {
    match cell {
        Cell::Text(text) => json!(text),
        // Six digits are enough to sort and to look at.
        Cell::Number(v) if v.fract() == 0.0 && v.abs() < 1e15 => json!(*v as i64),
        Cell::Number(v) => json!(format!("{v:.5e}").parse::<f64>().unwrap_or(*v)),
        Cell::Empty => Value::Null,
    }
}

/// JSON that may stand in a page: no sign in it can end the element that it is in.
fn data(value: &Value) -> String {
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
        let heads = vec![Head::number("Rank"), Head::text("Column"), Head::bar("Score")];
        Listing { file: "a.csv", caption: String::new(), heads, rows: rows.collect(), kept: 2 }.html()
    }

    #[test]
    fn few_rows_are_all_there() {
        let html = listing(3);
        assert_eq!(html.matches("<tr class=\"kept-row\">").count(), 2);
        assert_eq!(html.matches("<tr class=\"dropped\">").count(), 1);
        assert!(html.contains("--s:50.0") && html.contains("data-most=\"1\"") && !html.contains("<script"));
    }

    #[test]
    fn the_rest_of_many_is_data_that_cannot_get_out() {
        let html = listing(SHOWN + 2);
        assert_eq!(html.matches("<tr ").count(), SHOWN);
        let (_, rest) = html.split_once("class=\"rest\">").unwrap();
        let (rest, _) = rest.split_once("</script>").unwrap();
        assert!(!rest.contains('<') && !rest.contains('&'));
        let rest: Value = serde_json::from_str(rest).unwrap();
        assert_eq!(rest[1][1], format!("</script><b{}>&", SHOWN + 1));
    }
}
