//! Tables. A file or a pipe gets complete cells; on a terminal a table fits the width.
//!
//! If a table is too wide, bars become shorter, then text is truncated or wrapped, then bars are dropped. If it is still
//! too wide, each row becomes a list. Numbers are never truncated.
//!
//! Why not `comfy-table` (7.2): it arranges columns by width alone. In 40 cells it truncates bars of 1.0 and 0.5 to the
//! same length, in 20 cells it truncates the numbers 1.000 and 0.500 to `1.…` and `0.…`, and it has no lists. With widths,
//! truncation and lists computed here, only padding would be left to it (about 20 lines). Its colors need the features
//! `tty` and `custom_styling`: 18 more crates on Linux and half again the compile time of the other terminal crates
//! (47 s instead of 30 s of CPU time). Without them it counts the marks of [`paint`] as cells.

use crate::terminal::{Style, bar, display_width, paint, sanitize, truncate, width, wrap};

/// Smallest width of bars and of names in the first round of narrowing.
const SHORT_BAR: usize = 12;
const SHORT_NAME: usize = 24;
/// Smallest width of bars and of names in the second round.
const MIN_BAR: usize = 6;
const MIN_NAME: usize = 8;
/// Smallest width of a column of wrapped text.
const MIN_WRAPPED: usize = 14;
/// Largest number of lines of a wrapped cell.
const MAX_LINES: usize = 3;

/// A cell of a table.
#[derive(Debug, Clone)]
pub struct Cell {
    text: String,
    style: Option<Style>,
}

impl Cell {
    /// A cell with the best value.
    pub fn good(text: String) -> Self {
        Self { text, style: Some(Style::Good) }
    }

    fn header(text: &str) -> Self {
        Self { text: text.to_owned(), style: Some(Style::Heading) }
    }

    /// A line of the cell in its style.
    fn painted(&self, line: &str) -> String {
        self.style.map_or_else(|| line.to_owned(), |style| paint(style, line))
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self { text, style: None }
    }
}

/// A table with a header; columns in `right` are aligned to the right. Long names are truncated.
pub fn table<C: Into<Cell>>(header: &[&str], rows: Vec<Vec<C>>, right: &[usize]) -> String {
    Layout::new(header, rows, right, false).text(width())
}

/// A table of sentences. Long ones are wrapped.
pub fn listing(header: &[&str], rows: Vec<Vec<String>>, right: &[usize]) -> String {
    Layout::new(header, rows, right, true).text(width())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Number,
    Bar,
}

struct Column {
    kind: Kind,
    header: String,
    cells: Vec<Cell>,
    /// Width of the widest cell.
    natural: usize,
}

struct Layout {
    columns: Vec<Column>,
    is_wrapped: bool,
}

impl Layout {
    fn new<C: Into<Cell>>(header: &[&str], rows: Vec<Vec<C>>, right: &[usize], is_wrapped: bool) -> Self {
        let mut columns: Vec<Vec<Cell>> = header.iter().map(|_| vec![]).collect();
        for row in rows {
            for (column, cell) in columns.iter_mut().zip(row) {
                let cell: Cell = cell.into();
                column.push(Cell { text: sanitize(&cell.text).into_owned(), ..cell });
            }
        }
        let column = |(j, mut cells): (usize, Vec<Cell>)| {
            let kind = match () {
                () if right.contains(&j) => Kind::Number,
                () if header[j].is_empty() && cells.iter().all(|cell| is_bar(&cell.text)) => Kind::Bar,
                () => Kind::Text,
            };
            if kind == Kind::Bar {
                cells.iter_mut().for_each(|cell| cell.style = Some(Style::Bar));
            }
            let header = sanitize(header[j]).into_owned();
            let texts = cells.iter().map(|cell| cell.text.as_str()).chain([header.as_str()]);
            let natural = texts.map(display_width).max().unwrap_or(0);
            Column { kind, header, cells, natural }
        };
        Self { columns: columns.into_iter().enumerate().map(column).collect(), is_wrapped }
    }

    /// The table in at most `room` cells, if there is a limit.
    fn text(mut self, room: Option<usize>) -> String {
        let natural: Vec<usize> = self.columns.iter().map(|column| column.natural).collect();
        let Some(room) = room.filter(|&room| total(&natural) > room) else { return self.lines(&natural) };
        if let Some(widths) = self.widths(room) {
            return self.lines(&widths);
        }
        self.columns.retain(|column| column.kind != Kind::Bar);
        match self.widths(room) {
            Some(widths) => self.lines(&widths),
            None => self.lists(room),
        }
    }

    /// Column widths that fit, if there are any.
    fn widths(&self, room: usize) -> Option<Vec<usize>> {
        let min_text = if self.is_wrapped { MIN_WRAPPED } else { MIN_NAME };
        let mut widths: Vec<usize> = self.columns.iter().map(|column| column.natural).collect();
        // Each stage narrows the widest column first.
        let stages =
            [(Kind::Bar, SHORT_BAR), (Kind::Text, SHORT_NAME), (Kind::Bar, MIN_BAR), (Kind::Text, min_text)];
        for (kind, min) in stages {
            while total(&widths) > room {
                let candidates = (0..widths.len()).filter(|&j| self.columns[j].kind == kind);
                match candidates.max_by_key(|&j| widths[j]).filter(|&j| widths[j] > min) {
                    Some(j) => widths[j] -= 1,
                    None => break,
                }
            }
        }
        let is_short = |(column, &width): (&Column, &usize)| {
            column.kind != Kind::Text
                || column.cells.iter().all(|cell| wrap(&cell.text, width).len() <= MAX_LINES)
        };
        let fits =
            total(&widths) <= room && (!self.is_wrapped || self.columns.iter().zip(&widths).all(is_short));
        fits.then_some(widths)
    }

    fn lines(&self, widths: &[usize]) -> String {
        let headers: Vec<Cell> = self.columns.iter().map(|c| Cell::header(&c.header)).collect();
        let mut text = self.row(&headers.iter().collect::<Vec<_>>(), widths);
        for at in 0..self.n_rows() {
            let row: Vec<&Cell> = self.columns.iter().map(|column| &column.cells[at]).collect();
            text += &self.row(&row, widths);
        }
        text
    }

    fn n_rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.cells.len())
    }

    /// A row, with as many lines as its tallest cell.
    fn row(&self, row: &[&Cell], widths: &[usize]) -> String {
        let cells: Vec<Vec<String>> =
            row.iter().enumerate().map(|(j, cell)| self.fitted(cell, j, widths[j])).collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        let line = |at: usize| {
            let mut line = String::new();
            for (j, lines) in cells.iter().enumerate() {
                let text = lines.get(at).map_or("", String::as_str);
                let gap = " ".repeat(widths[j].saturating_sub(display_width(text)));
                let text = row[j].painted(text);
                let is_number = self.columns[j].kind == Kind::Number;
                let (before, after) = if is_number { (gap.as_str(), "") } else { ("", gap.as_str()) };
                line += &format!(" {before}{text}{after} ");
            }
            line.trim_end().to_owned() + "\n"
        };
        (0..height).map(line).collect()
    }

    /// The lines of a cell.
    fn fitted(&self, cell: &Cell, j: usize, width: usize) -> Vec<String> {
        let column = &self.columns[j];
        match column.kind {
            Kind::Bar if width < column.natural => {
                vec![bar(eighths(&cell.text) / (8 * column.natural) as f64, width)]
            }
            Kind::Text if self.is_wrapped && display_width(&cell.text) > width => wrap(&cell.text, width),
            Kind::Text => vec![truncate(&cell.text, width).into_owned()],
            Kind::Bar | Kind::Number => vec![cell.text.clone()],
        }
    }

    /// Each row as a list: the first cell as its title, then one or more lines for each other cell.
    fn lists(&self, room: usize) -> String {
        let [first, others @ ..] = self.columns.as_slice() else { return String::new() };
        let names = others.iter().map(|column| display_width(&column.header)).max().unwrap_or(0);
        let space = room.saturating_sub(names + 5).max(MIN_NAME);
        let mut text = String::new();
        for at in 0..self.n_rows() {
            let gap = if at > 0 { "\n" } else { "" };
            let title = truncate(&first.cells[at].text, room.saturating_sub(2));
            text += &format!("{gap} {}\n", paint(Style::Heading, &title));
            for column in others {
                let cell = &column.cells[at];
                let lines = match () {
                    () if cell.text.is_empty() => vec![],
                    () if self.is_wrapped => wrap(&cell.text, space),
                    () => vec![truncate(&cell.text, space).into_owned()],
                };
                for (i, line) in lines.iter().enumerate() {
                    let name = if i == 0 { column.header.as_str() } else { "" };
                    let gap = " ".repeat(names - display_width(name));
                    text += &format!("   {name}{gap}  {}\n", cell.painted(line));
                }
            }
        }
        text
    }
}

/// Width of a table with these column widths; no space follows the last column.
fn total(widths: &[usize]) -> usize {
    widths.iter().map(|width| width + 2).sum::<usize>().saturating_sub(1)
}

fn is_bar(text: &str) -> bool {
    text.chars().all(|c| ('█'..='▏').contains(&c))
}

/// The length of a bar in eighths of a cell.
fn eighths(bar: &str) -> f64 {
    // The characters from a full cell to one eighth are consecutive.
    bar.chars().map(|c| f64::from(8 - (c as u32 - '█' as u32).min(8))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::{Screen, render};

    fn plain(text: &str) -> String {
        render(text, Screen::default())
    }

    fn ranks(names: &[&str], room: Option<usize>) -> String {
        let rows = names.iter().enumerate().map(|(at, name)| {
            let score = 1.0 / (at + 1) as f64;
            vec![(at + 1).to_string(), (*name).to_owned(), format!("{score:.3}"), bar(score, 24)]
        });
        plain(&Layout::new(&["rank", "column", "score", ""], rows.collect(), &[0, 2], false).text(room))
    }

    fn widest(text: &str) -> usize {
        text.lines().map(display_width).max().unwrap()
    }

    #[test]
    fn a_pipe_gets_complete_cells() {
        let long = "x".repeat(10_000);
        let text = ranks(&["a", &long], None);
        assert!(text.contains(&long));
        let expected = " rank  column  score\n    1  alpha   1.000  ████████████████████████\n    2  b       0.500  ████████████\n";
        assert_eq!(ranks(&["alpha", "b"], None), expected);
        assert_eq!(ranks(&["alpha", "b"], Some(200)), expected);
    }

    #[test]
    fn a_table_fits_the_terminal() {
        let long = "x".repeat(10_000);
        let names = ["alpha", "高さの列", "👍🏽 thumbs", "a\x1b[31mred\nline", &long];
        for room in [200, 80, 60, 40, 30] {
            let text = ranks(&names, Some(room));
            assert!(widest(&text) <= room, "{room}\n{text}");
            assert_eq!(text.lines().count(), 6, "{room}\n{text}");
            assert!(text.contains('█') && text.contains("0.200") && text.contains('…'), "{room}\n{text}");
            assert!(!text.contains('\x1b'), "{text}");
        }
        // Bars keep their proportions.
        let narrow = ranks(&["alpha", "beta"], Some(32));
        let bars: Vec<usize> = narrow.lines().skip(1).map(|line| line.matches('█').count()).collect();
        assert_eq!(bars[0], 2 * bars[1], "{narrow}");
        assert!(!ranks(&["alpha", "beta"], Some(20)).contains('█'));
    }

    #[test]
    fn wide_characters_are_aligned() {
        let text = ranks(&["ab", "高さ", "👍🏽"], None);
        let places = text
            .lines()
            .skip(1)
            .map(|line| display_width(&line[..line.find(" 0.").or(line.find(" 1.")).unwrap()]));
        let places: Vec<usize> = places.collect();
        assert!(places.iter().all(|place| *place == places[0]), "{text}");
    }

    #[test]
    fn sentences_are_wrapped_or_listed() {
        let sentence = "features whose class means differ, relative to the scatter within classes";
        let rows = || vec![vec!["fisher".to_owned(), sentence.to_owned(), "n d".to_owned()]];
        let text = |room| plain(&Layout::new(&["name", "finds", "cost"], rows(), &[], true).text(room));
        assert_eq!(text(None).lines().count(), 2);
        let wrapped = text(Some(50));
        assert!(wrapped.lines().count() > 2 && widest(&wrapped) <= 50, "{wrapped}");
        let listed = text(Some(25));
        assert!(listed.starts_with(" fisher\n   finds  features") && widest(&listed) <= 25, "{listed}");
        assert!(listed.ends_with("   cost   n d\n"), "{listed}");
    }

    #[test]
    fn numbers_are_never_truncated() {
        let rows = vec![vec!["relief".to_owned(), "12.3 ± 1.5".into(), "13.9 ± 2.2".into()]];
        let text = plain(&Layout::new(&["method", "one", "two"], rows, &[1, 2], false).text(Some(24)));
        assert_eq!(text, " relief\n   one  12.3 ± 1.5\n   two  13.9 ± 2.2\n");
    }

    #[test]
    fn headers_bars_and_best_values_are_colored() {
        let rows = vec![vec![Cell::good("a".into()), bar(1.0, 2).into()]];
        let text = Layout::new(&["x", ""], rows, &[], false).text(None);
        let colored = render(&text, Screen { colors: true, sanitized: true });
        assert_eq!(colored, " \x1b[1mx\x1b[0m\n \x1b[32ma\x1b[0m  \x1b[36m██\x1b[0m\n");
    }
}
