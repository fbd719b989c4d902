//! The terminal: its width, colors, and removal of control characters.
//!
//! Styled text carries marks, which become escape sequences or nothing when it is written.

use anstream::{AutoStream, ColorChoice};
use std::borrow::Cow;
use std::io::IsTerminal;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The role of a piece of text, which decides its color.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// The header of a table.
    Heading,
    /// A bar.
    Bar,
    /// The best value.
    Good,
    /// The prefix of a warning.
    Warning,
    /// The prefix of an error.
    Error,
    /// A suggestion.
    Hint,
}

/// Marks are Unicode noncharacters, which do not occur in text.
const FIRST_MARK: char = '\u{fdd0}';
const END: char = '\u{fdef}';
/// Replaces a control character.
const REPLACEMENT: char = '\u{fffd}';

impl Style {
    const ALL: [Self; 6] = [Self::Heading, Self::Bar, Self::Good, Self::Warning, Self::Error, Self::Hint];

    fn mark(self) -> char {
        char::from_u32(FIRST_MARK as u32 + self as u32).unwrap_or(END)
    }

    fn of_mark(mark: char) -> Option<Self> {
        Self::ALL.into_iter().find(|style| style.mark() == mark)
    }

    /// The escape sequence that starts the style.
    fn sequence(self) -> &'static str {
        match self {
            Self::Heading | Self::Hint => "\x1b[1m",
            Self::Bar => "\x1b[36m",
            Self::Good => "\x1b[32m",
            Self::Warning => "\x1b[33m",
            Self::Error => "\x1b[1;31m",
        }
    }
}

/// Marks a text with a style.
pub fn paint(style: Style, text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("{}{text}{END}", style.mark()) }
}

/// The text to write: marks become escape sequences or are removed; on a sanitized stream, control characters
/// are replaced.
pub fn render(text: &str, screen: Screen) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match Style::of_mark(c) {
            Some(style) if screen.colors => out.push_str(style.sequence()),
            None if c == END && screen.colors => out.push_str("\x1b[0m"),
            Some(_) => {}
            None if c == END => {}
            None if screen.sanitized && is_control(c) && !matches!(c, '\n' | '\t') => out.push(REPLACEMENT),
            None => out.push(c),
        }
    }
    out
}

/// Properties of an output stream.
#[derive(Debug, Clone, Copy, Default)]
pub struct Screen {
    /// Write colors.
    pub colors: bool,
    /// Replace control characters, because the stream may be a terminal.
    pub sanitized: bool,
}

impl Screen {
    /// Standard output.
    pub fn stdout() -> Self {
        let stdout = std::io::stdout();
        Self::new(AutoStream::choice(&stdout), stdout.is_terminal())
    }

    /// Standard error.
    pub fn stderr() -> Self {
        let stderr = std::io::stderr();
        Self::new(AutoStream::choice(&stderr), stderr.is_terminal())
    }

    fn new(choice: ColorChoice, is_terminal: bool) -> Self {
        let colors = choice != ColorChoice::Never;
        Self { colors, sanitized: is_terminal || colors }
    }
}

/// Sets whether to write colors, for the whole process including help texts and parser errors.
pub fn set_color_choice(choice: clap::ColorChoice) {
    let choice = match choice {
        clap::ColorChoice::Auto => ColorChoice::Auto,
        clap::ColorChoice::Always => ColorChoice::Always,
        clap::ColorChoice::Never => ColorChoice::Never,
    };
    choice.write_global();
}

/// Width of the terminal on standard output; none if there is no terminal or it does not report a width.
pub fn width() -> Option<usize> {
    columns(terminal_size::terminal_size_of(std::io::stdout()))
}

/// Width of the terminal on standard error; none if there is no terminal or it does not report a width.
pub fn stderr_width() -> Option<usize> {
    columns(terminal_size::terminal_size_of(std::io::stderr()))
}

/// Some terminals report a width of 0.
fn columns(size: Option<(terminal_size::Width, terminal_size::Height)>) -> Option<usize> {
    size.map(|(width, _)| usize::from(width.0)).filter(|&width| width >= 20)
}

/// Number of terminal cells that a text occupies.
pub fn display_width(text: &str) -> usize {
    text.width()
}

/// The text on one line, with control characters replaced.
pub fn sanitize(text: &str) -> Cow<'_, str> {
    let is_unsafe = |c: char| is_control(c) || c == END || Style::of_mark(c).is_some();
    if text.chars().any(is_unsafe) {
        Cow::Owned(text.chars().map(|c| if is_unsafe(c) { REPLACEMENT } else { c }).collect())
    } else {
        Cow::Borrowed(text)
    }
}

/// Control characters, line separators and characters that change the text direction.
fn is_control(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Truncates a text to `width` cells, ending in an ellipsis.
pub fn truncate(text: &str, width: usize) -> Cow<'_, str> {
    if display_width(text) <= width {
        return Cow::Borrowed(text);
    }
    let mut kept = String::new();
    for c in text.chars() {
        kept.push(c);
        if display_width(&kept) + 1 > width {
            kept.pop();
            break;
        }
        // Limits the number of zero-width characters.
        if kept.len() > 64 * (width + 1) {
            break;
        }
    }
    // A joiner at the end would merge the ellipsis into the last character.
    let kept = kept.trim_end_matches(|c: char| c == ' ' || c.width() == Some(0));
    Cow::Owned(if width == 0 { String::new() } else { format!("{kept}…") })
}

/// A bar over a fraction of `width` cells, in steps of one eighth of a cell.
pub fn bar(fraction: f64, width: usize) -> String {
    let eighths = (fraction.clamp(0.0, 1.0) * (8 * width) as f64).round() as usize;
    let part = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8];
    "█".repeat(eighths / 8) + part
}

/// Wraps a text at spaces into lines of at most `width` cells; longer words are truncated.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![];
    let mut line = String::new();
    for word in text.split_whitespace() {
        let word = truncate(word, width);
        if !line.is_empty() && display_width(&line) + 1 + display_width(&word) > width {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line += &word;
    }
    if !line.is_empty() || lines.is_empty() {
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Screen = Screen { colors: false, sanitized: false };
    const COLORED: Screen = Screen { colors: true, sanitized: true };

    #[test]
    fn marks_become_escape_sequences_or_nothing() {
        let text = format!("a {} c", paint(Style::Good, "b"));
        assert_eq!(render(&text, PLAIN), "a b c");
        assert_eq!(render(&text, COLORED), "a \x1b[32mb\x1b[0m c");
        for style in Style::ALL {
            let text = paint(style, "x");
            assert_eq!(render(&text, COLORED), format!("{}x\x1b[0m", style.sequence()));
        }
        assert_eq!(paint(Style::Bar, ""), "");
    }

    #[test]
    fn control_characters_are_replaced() {
        let name = "a\x1b[31mb\u{9b}2J\u{202e}c\r\u{7}";
        let sanitized = Screen { colors: false, sanitized: true };
        assert_eq!(
            render(&format!("{name}\n\t"), sanitized),
            "a\u{fffd}[31mb\u{fffd}2J\u{fffd}c\u{fffd}\u{fffd}\n\t"
        );
        assert_eq!(render(name, PLAIN), name, "files and pipes get the text unchanged");
        assert_eq!(sanitize("a\nb\tc\u{fdd0}"), "a\u{fffd}b\u{fffd}c\u{fffd}");
        assert!(matches!(sanitize("größe 高さ 👍🏽"), Cow::Borrowed(_)));
    }

    #[test]
    fn texts_are_truncated_by_cells_not_characters() {
        assert_eq!(truncate("abcdef", 6), "abcdef");
        assert_eq!(truncate("abcdefg", 6), "abcde…");
        assert_eq!(truncate("高さ高さ", 6), "高さ…");
        assert_eq!(truncate("abc", 0), "");
        let family = "👨‍👩‍👧".repeat(10);
        assert!(display_width(&truncate(&family, 7)) <= 7);
        let zeros = format!("a{}", "\u{300}".repeat(100_000)) + "bcd";
        assert!(truncate(&zeros, 2).len() < 300);
        assert_eq!(display_width(&truncate(&"x".repeat(10_000), 30)), 30);
    }

    #[test]
    fn bars_grow_by_eighths() {
        assert_eq!(bar(1.0, 3), "███");
        assert_eq!(bar(0.5, 3), "█▌");
        assert_eq!(bar(0.0, 3), "");
        assert_eq!(bar(7.0, 2), "██");
    }

    #[test]
    fn text_is_wrapped_at_words() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("one incomprehensible", 7), ["one", "incomp…"]);
        assert_eq!(wrap("", 7), [""]);
    }
}
