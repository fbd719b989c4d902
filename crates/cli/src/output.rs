//! Numbers as tables and charts in a terminal.

mod table;

pub use crate::terminal::bar;
pub use table::{Cell, listing, table};

use crate::console;
use crate::terminal::{self, Screen, Style, paint, render};
use kernsift::Context;
use kernsift::data::Column;
use kernsift::data::write::{WriteOptions, write_table, write_table_to};
use ndarray::Array2;
use serde::Serialize;
use std::io::Write;
use std::path::Path;

/// Largest number of rows of a printed table, unless the user asks for all with `-v`.
pub const SHOWN: usize = 20;

/// Writes to standard output and flushes, so that a closed pipe is noticed.
pub fn print(text: &str) -> std::io::Result<()> {
    console::clear_progress();
    let mut out = std::io::stdout().lock();
    out.write_all(render(text, Screen::stdout()).as_bytes())?;
    out.flush()
}

/// Prints JSON.
pub fn print_json(value: &impl Serialize) -> std::io::Result<()> {
    print(&(serde_json::to_string_pretty(value)? + "\n"))
}

/// Writes a table to a file, or to standard output if there is none.
pub fn write_or_print(
    path: Option<&Path>,
    names: &[String],
    x: &Array2<f64>,
    extra: &[Column],
    options: &WriteOptions,
    ctx: &Context,
) -> kernsift::Result<()> {
    if let Some(path) = path {
        return write_table(path, names, x.view(), extra, options, ctx);
    }
    console::clear_progress();
    let mut out = Out { stdout: std::io::stdout().lock(), sanitized: Screen::stdout().sanitized };
    write_table_to(&mut out, names, x.view(), extra, options, ctx)
}

/// Standard output for long tables. On a terminal, control characters are replaced.
struct Out {
    stdout: std::io::StdoutLock<'static>,
    sanitized: bool,
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if !self.sanitized {
            return self.stdout.write(bytes);
        }
        // By bytes, because a write may end inside a character; almost all control characters are single bytes.
        let is_control = |byte: u8| byte.is_ascii_control() && !matches!(byte, b'\n' | b'\t');
        let shown: Vec<u8> = bytes.iter().map(|&byte| if is_control(byte) { b'?' } else { byte }).collect();
        self.stdout.write(&shown)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.stdout.flush()
    }
}

/// A line with a name, its value and a remark.
pub fn fact(name: &str, value: &str, remark: &str) -> String {
    format!("  {name:<22}{value:<8} {remark}").trim_end().to_owned() + "\n"
}

/// A number with four significant digits.
pub fn number(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let digits = value.abs().log10().floor();
    if (-4.0..6.0).contains(&digits) {
        format!("{value:.*}", (3.0 - digits).max(0.0) as usize)
    } else {
        format!("{value:.3e}")
    }
}

/// A fraction as a percentage.
pub fn percent(fraction: f64) -> String {
    let text = number(100.0 * fraction);
    format!("{} %", if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text })
}

/// A column chart of values, with a second curve as a shaded line.
///
/// At most [`CURVE`] columns, fewer on a narrow terminal. If there are more values, each column shows the
/// largest of several.
pub fn curve(values: &[f64], dots: Option<&[f64]>) -> String {
    let room = terminal::width().map_or(CURVE, |width| width.saturating_sub(MARGIN).clamp(8, CURVE));
    curve_within(room, values, dots)
}

/// Largest number of columns of a chart.
const CURVE: usize = 64;
/// Cells to the left of a chart.
const MARGIN: usize = 12;

fn curve_within(room: usize, values: &[f64], dots: Option<&[f64]>) -> String {
    const HEIGHT: usize = 8;
    // If all values are 0, the scale ends at 1.
    let top = Some(values.iter().copied().fold(0.0, f64::max)).filter(|&top| top > 0.0).unwrap_or(1.0);
    let columns = values.len().min(room);
    let range = |c: usize| {
        c * values.len() / columns..((c + 1) * values.len() / columns).max(c * values.len() / columns + 1)
    };
    let mut lines = vec![];
    for row in (0..HEIGHT).rev() {
        let label = if row == HEIGHT - 1 {
            number(top)
        } else if row == 0 {
            "0".into()
        } else {
            String::new()
        };
        let mut line = String::new();
        for c in 0..columns {
            let level = |v: f64| v / top * HEIGHT as f64 - row as f64;
            let filled = level(values[range(c)].iter().copied().fold(0.0, f64::max));
            let dot = dots.map(|d| level(d[range(c).start]));
            line.push(match (filled, dot) {
                (f, Some(d)) if (0.0..1.0).contains(&d) => {
                    if f >= 1.0 {
                        '▒'
                    } else {
                        '·'
                    }
                }
                (f, _) if f >= 1.0 => '█',
                (f, _) if f > 0.0 => ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'][((f * 8.0) as usize).min(7)],
                _ => ' ',
            });
        }
        lines.push(format!("  {label:>8} │{}", paint(Style::Bar, line.trim_end())));
    }
    let last = if values.len() > 1 { values.len().to_string() } else { String::new() };
    let gap = columns.saturating_sub(1 + last.len());
    lines.push(format!("  {:>8} └{}", "", "─".repeat(columns)));
    lines.push(format!("  {:>8}  1{}{last}", "", " ".repeat(gap)));
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(values: &[f64], dots: Option<&[f64]>) -> String {
        render(&curve_within(CURVE, values, dots), Screen::default())
    }

    #[test]
    fn numbers_have_four_significant_digits() {
        let text = [0.0, 1.0, 0.06123, 123.456, 98765.0, 1e-9, 3.2e11].map(number);
        assert_eq!(text, ["0", "1.000", "0.06123", "123.5", "98765", "1.000e-9", "3.200e11"]);
    }

    #[test]
    fn fractions_are_percentages() {
        let text = [0.0, 0.15, 0.125, 0.5, 1.0].map(percent);
        assert_eq!(text, ["0 %", "15 %", "12.5 %", "50 %", "100 %"]);
    }

    #[test]
    fn a_curve_has_one_column_per_value_until_there_are_too_many() {
        let short = picture(&[1.0, 0.5], None);
        assert_eq!(short.lines().count(), 10);
        assert!(short.lines().next().unwrap().ends_with("│█"));
        assert!(short.lines().nth(7).unwrap().ends_with("│██"));
        let narrow = render(&curve_within(28, &vec![1.0; 1000], None), Screen::default());
        assert!(narrow.lines().all(|line| line.chars().count() <= 40), "{narrow}");
        let wide = picture(&vec![1.0; 1000], Some(&vec![0.5; 1000]));
        assert!(wide.lines().all(|line| line.chars().count() <= 76));
        assert!(wide.contains('▒') && wide.trim_end().ends_with("1000"));
        let zeros = picture(&[0.0], None);
        assert!(zeros.starts_with("     1.000 │\n") && zeros.ends_with("   1\n"), "{zeros}");
    }
}
