//! Tables. A file or a pipe gets every cell whole; on a terminal a table fits its width.
//!
//! Where there is not enough room, bars become shorter, then text is cut or folded, then bars are left out.
//! If that does not help, each row becomes a small list.

use super::bar;
use crate::terminal::{Ink, clean, cut, display_width, fold, paint, width};

/// Bars are not made shorter than this, and not at first than that.
const SHORTEST_BAR: usize = 6;
const SHORT_BAR: usize = 12;
/// Names are not cut shorter than this, and not at first than that.
const SHORTEST_NAME: usize = 8;
const SHORT_NAME: usize = 24;
/// Prose is not folded into columns narrower than this.
const NARROWEST_PROSE: usize = 14;
/// Nor into more lines than this.
const MOST_LINES: usize = 3;

/// A cell of a table.
#[derive(Debug, Clone)]
pub struct Cell {
    text: String,
    ink: Option<Ink>,
}

impl Cell {
    /// A cell that stands out as the best of its kind.
    pub fn good(text: String) -> Self {
        Self { text, ink: Some(Ink::Good) }
    }

    fn head(text: &str) -> Self {
        Self { text: text.to_owned(), ink: Some(Ink::Heading) }
    }

    /// A line of its text in its colour.
    fn painted(&self, line: &str) -> String {
        self.ink.map_or_else(|| line.to_owned(), |ink| paint(ink, line))
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self { text, ink: None }
    }
}

/// A table with a header; columns in `right` are aligned to the right. Names that are too long are cut.
pub fn table<C: Into<Cell>>(header: &[&str], rows: Vec<Vec<C>>, right: &[usize]) -> String {
    Layout::new(header, rows, right, false).text(width())
}

/// A table of sentences, which are folded where they are too long.
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
    /// The width that it would like to have.
    natural: usize,
}

struct Layout {
    columns: Vec<Column>,
    is_prose: bool,
}

impl Layout {
    fn new<C: Into<Cell>>(header: &[&str], rows: Vec<Vec<C>>, right: &[usize], is_prose: bool) -> Self {
        let mut columns: Vec<Vec<Cell>> = header.iter().map(|_| vec![]).collect();
        for row in rows {
            for (column, cell) in columns.iter_mut().zip(row) {
                let cell: Cell = cell.into();
                column.push(Cell { text: clean(&cell.text).into_owned(), ..cell });
            }
        }
        let column = |(j, mut cells): (usize, Vec<Cell>)| {
            let kind = match () {
                () if right.contains(&j) => Kind::Number,
                () if header[j].is_empty() && cells.iter().all(|cell| is_bar(&cell.text)) => Kind::Bar,
                () => Kind::Text,
            };
            if kind == Kind::Bar {
                cells.iter_mut().for_each(|cell| cell.ink = Some(Ink::Bar));
            }
            let header = clean(header[j]).into_owned();
            let texts = cells.iter().map(|cell| cell.text.as_str()).chain([header.as_str()]);
            let natural = texts.map(display_width).max().unwrap_or(0);
            Column { kind, header, cells, natural }
        };
        Self { columns: columns.into_iter().enumerate().map(column).collect(), is_prose }
    }

    /// The table within `room` cells, if there is such a limit.
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

    /// Widths that fit, if there are such.
    fn widths(&self, room: usize) -> Option<Vec<usize>> {
        let narrowest = if self.is_prose { NARROWEST_PROSE } else { SHORTEST_NAME };
        let mut widths: Vec<usize> = self.columns.iter().map(|column| column.natural).collect();
        // A little of each, then as much as it takes; the widest first.
        let stages = [
            (Kind::Bar, SHORT_BAR),
            (Kind::Text, SHORT_NAME),
            (Kind::Bar, SHORTEST_BAR),
            (Kind::Text, narrowest),
        ];
        for (kind, least) in stages {
            while total(&widths) > room {
                let places = (0..widths.len()).filter(|&j| self.columns[j].kind == kind);
                match places.max_by_key(|&j| widths[j]).filter(|&j| widths[j] > least) {
                    Some(j) => widths[j] -= 1,
                    None => break,
                }
            }
        }
        let is_low = |(column, &width): (&Column, &usize)| {
            column.kind != Kind::Text
                || column.cells.iter().all(|cell| fold(&cell.text, width).len() <= MOST_LINES)
        };
        let fits = total(&widths) <= room && (!self.is_prose || self.columns.iter().zip(&widths).all(is_low));
        fits.then_some(widths)
    }

    fn lines(&self, widths: &[usize]) -> String {
        let heads: Vec<Cell> = self.columns.iter().map(|c| Cell::head(&c.header)).collect();
        let mut text = self.row(&heads.iter().collect::<Vec<_>>(), widths);
        for at in 0..self.n_rows() {
            let row: Vec<&Cell> = self.columns.iter().map(|column| &column.cells[at]).collect();
            text += &self.row(&row, widths);
        }
        text
    }

    fn n_rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.cells.len())
    }

    /// A row, in as many lines as its longest cell needs.
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
                let (before, behind) = if is_number { (gap.as_str(), "") } else { ("", gap.as_str()) };
                line += &format!(" {before}{text}{behind} ");
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
            Kind::Text if self.is_prose && display_width(&cell.text) > width => fold(&cell.text, width),
            Kind::Text => vec![cut(&cell.text, width).into_owned()],
            Kind::Bar | Kind::Number => vec![cell.text.clone()],
        }
    }

    /// Each row under its first cell, a line or more for each of the others.
    fn lists(&self, room: usize) -> String {
        let [first, others @ ..] = self.columns.as_slice() else { return String::new() };
        let names = others.iter().map(|column| display_width(&column.header)).max().unwrap_or(0);
        let space = room.saturating_sub(names + 5).max(SHORTEST_NAME);
        let mut text = String::new();
        for at in 0..self.n_rows() {
            let gap = if at > 0 { "\n" } else { "" };
            let title = cut(&first.cells[at].text, room.saturating_sub(2));
            text += &format!("{gap} {}\n", paint(Ink::Heading, &title));
            for column in others {
                let cell = &column.cells[at];
                let lines = match () {
                    () if cell.text.is_empty() => vec![],
                    () if self.is_prose => fold(&cell.text, space),
                    () => vec![cut(&cell.text, space).into_owned()],
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

/// Cells that a table of these columns takes; the last has no space behind it.
fn total(widths: &[usize]) -> usize {
    widths.iter().map(|width| width + 2).sum::<usize>().saturating_sub(1)
}

fn is_bar(text: &str) -> bool {
    text.chars().all(|c| ('█'..='▏').contains(&c))
}

/// The length of a bar in eighths of a cell.
fn eighths(bar: &str) -> f64 {
    // From a full cell to an eighth the characters follow each other.
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
            let share = 1.0 / (at + 1) as f64;
            vec![(at + 1).to_string(), (*name).to_owned(), format!("{share:.3}"), bar(share, 24)]
        });
        plain(&Layout::new(&["rank", "column", "score", ""], rows.collect(), &[0, 2], false).text(room))
    }

    fn widest(text: &str) -> usize {
        text.lines().map(display_width).max().unwrap()
    }

    #[test]
    fn a_pipe_gets_everything() {
        let long = "x".repeat(10_000);
        let text = ranks(&["a", &long], None);
        assert!(text.contains(&long));
        let expected = " rank  column  score\n    1  alpha   1.000  ████████████████████████\n    2  b       0.500  ████████████\n";
        assert_eq!(ranks(&["alpha", "b"], None), expected);
        assert_eq!(ranks(&["alpha", "b"], Some(200)), expected);
    }

    #[test]
    fn a_terminal_gets_what_fits() {
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
    fn sentences_are_folded_or_listed() {
        let prose = "which columns tell the classes apart by their means and their spread";
        let rows = || vec![vec!["fisher".to_owned(), prose.to_owned(), "n d".to_owned()]];
        let text = |room| plain(&Layout::new(&["name", "finds", "cost"], rows(), &[], true).text(room));
        assert_eq!(text(None).lines().count(), 2);
        let folded = text(Some(50));
        assert!(folded.lines().count() > 2 && widest(&folded) <= 50, "{folded}");
        let listed = text(Some(25));
        assert!(listed.starts_with(" fisher\n   finds  which") && widest(&listed) <= 25, "{listed}");
        assert!(listed.ends_with("   cost   n d\n"), "{listed}");
    }

    #[test]
    fn numbers_are_never_cut() {
        let rows = vec![vec!["relief".to_owned(), "12.3 ± 1.5".into(), "13.9 ± 2.2".into()]];
        let text = plain(&Layout::new(&["method", "one", "two"], rows, &[1, 2], false).text(Some(24)));
        assert_eq!(text, " relief\n   one  12.3 ± 1.5\n   two  13.9 ± 2.2\n");
    }

    #[test]
    fn heads_bars_and_the_best_are_coloured() {
        let rows = vec![vec![Cell::good("a".into()), bar(1.0, 2).into()]];
        let text = Layout::new(&["x", ""], rows, &[], false).text(None);
        let coloured = render(&text, Screen { colours: true, guarded: true });
        assert_eq!(coloured, " \x1b[1mx\x1b[0m\n \x1b[32ma\x1b[0m  \x1b[36m██\x1b[0m\n");
    }
}
