//! What a terminal shows: how wide it is, its colours, and only characters that do no harm to it.
//!
//! Text that is to be coloured carries marks, which become colours or nothing when it is written.

use anstream::{AutoStream, ColorChoice};
use std::borrow::Cow;
use std::io::IsTerminal;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// What a piece of text is; that decides its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    /// The head of a table.
    Heading,
    /// A bar.
    Bar,
    /// The best of its kind.
    Good,
    /// The word that opens a warning.
    Warning,
    /// The word that opens an error.
    Error,
    /// What the user may have meant.
    Hint,
}

/// Marks are characters that no text has: Unicode keeps them for use inside programs.
const FIRST_MARK: char = '\u{fdd0}';
const END: char = '\u{fdef}';
/// Stands where a character was that could do harm.
const REPLACEMENT: char = '\u{fffd}';

impl Ink {
    const ALL: [Self; 6] = [Self::Heading, Self::Bar, Self::Good, Self::Warning, Self::Error, Self::Hint];

    fn mark(self) -> char {
        char::from_u32(FIRST_MARK as u32 + self as u32).unwrap_or(END)
    }

    fn of_mark(mark: char) -> Option<Self> {
        Self::ALL.into_iter().find(|ink| ink.mark() == mark)
    }

    /// The sequence that switches it on.
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

/// A text in a colour.
pub fn paint(ink: Ink, text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("{}{text}{END}", ink.mark()) }
}

/// Text as it is written: marks become colours or vanish; on a screen nothing else may steer it.
pub fn render(text: &str, screen: Screen) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match Ink::of_mark(c) {
            Some(ink) if screen.colours => out.push_str(ink.sequence()),
            None if c == END && screen.colours => out.push_str("\x1b[0m"),
            Some(_) => {}
            None if c == END => {}
            None if screen.guarded && is_harmful(c) && !matches!(c, '\n' | '\t') => out.push(REPLACEMENT),
            None => out.push(c),
        }
    }
    out
}

/// Where text goes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Screen {
    /// Colours are wanted.
    pub colours: bool,
    /// It may be a terminal, which obeys control characters.
    pub guarded: bool,
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
        let colours = choice != ColorChoice::Never;
        Self { colours, guarded: is_terminal || colours }
    }
}

/// Settles for the whole run whether there are colours; help texts and messages of the parser follow.
pub fn choose_colours(choice: ColorChoice) {
    choice.write_global();
}

/// Columns of the terminal that standard output is, if it is one and knows.
pub fn width() -> Option<usize> {
    columns(terminal_size::terminal_size_of(std::io::stdout()))
}

/// Columns of the terminal that standard error is, if it is one and knows.
pub fn stderr_width() -> Option<usize> {
    columns(terminal_size::terminal_size_of(std::io::stderr()))
}

/// Some terminals do not know their width and say 0.
fn columns(size: Option<(terminal_size::Width, terminal_size::Height)>) -> Option<usize> {
    size.map(|(width, _)| usize::from(width.0)).filter(|&width| width >= 20)
}

/// Cells of a terminal that a text takes.
pub fn display_width(text: &str) -> usize {
    text.width()
}

/// A text in one line, without characters that steer a terminal.
pub fn clean(text: &str) -> Cow<'_, str> {
    let is_wrong = |c: char| is_harmful(c) || c == END || Ink::of_mark(c).is_some();
    if text.chars().any(is_wrong) {
        Cow::Owned(text.chars().map(|c| if is_wrong(c) { REPLACEMENT } else { c }).collect())
    } else {
        Cow::Borrowed(text)
    }
}

/// Control characters, ends of lines, and those that turn the direction of writing around.
fn is_harmful(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// At most `width` cells of a text; an ellipsis says that there is more.
pub fn cut(text: &str, width: usize) -> Cow<'_, str> {
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
        // Of what takes no room some is enough.
        if kept.len() > 64 * (width + 1) {
            break;
        }
    }
    // A joiner at the end would draw the ellipsis into the last character.
    let kept = kept.trim_end_matches(|c: char| c == ' ' || c.width() == Some(0));
    Cow::Owned(if width == 0 { String::new() } else { format!("{kept}…") })
}

/// A text in lines of at most `width` cells, parted at spaces; longer words are cut.
pub fn fold(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![];
    let mut line = String::new();
    for word in text.split_whitespace() {
        let word = cut(word, width);
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

    const PLAIN: Screen = Screen { colours: false, guarded: false };
    const COLOURED: Screen = Screen { colours: true, guarded: true };

    #[test]
    fn marks_become_colours_or_nothing() {
        let text = format!("a {} c", paint(Ink::Good, "b"));
        assert_eq!(render(&text, PLAIN), "a b c");
        assert_eq!(render(&text, COLOURED), "a \x1b[32mb\x1b[0m c");
        for ink in Ink::ALL {
            let text = paint(ink, "x");
            assert_eq!(render(&text, COLOURED), format!("{}x\x1b[0m", ink.sequence()));
        }
        assert_eq!(paint(Ink::Bar, ""), "");
    }

    #[test]
    fn nothing_steers_a_terminal() {
        let name = "a\x1b[31mb\u{9b}2J\u{202e}c\r\u{7}";
        let guarded = Screen { colours: false, guarded: true };
        assert_eq!(
            render(&format!("{name}\n\t"), guarded),
            "a\u{fffd}[31mb\u{fffd}2J\u{fffd}c\u{fffd}\u{fffd}\n\t"
        );
        assert_eq!(render(name, PLAIN), name, "files and pipes get what there is");
        assert_eq!(clean("a\nb\tc\u{fdd0}"), "a\u{fffd}b\u{fffd}c\u{fffd}");
        assert!(matches!(clean("größe 高さ 👍🏽"), Cow::Borrowed(_)));
    }

    #[test]
    fn long_texts_are_cut_at_cells_not_characters() {
        assert_eq!(cut("abcdef", 6), "abcdef");
        assert_eq!(cut("abcdefg", 6), "abcde…");
        assert_eq!(cut("高さ高さ", 6), "高さ…");
        assert_eq!(cut("abc", 0), "");
        let family = "👨‍👩‍👧".repeat(10);
        assert!(display_width(&cut(&family, 7)) <= 7);
        let zeros = format!("a{}", "\u{300}".repeat(100_000)) + "bcd";
        assert!(cut(&zeros, 2).len() < 300);
        assert_eq!(display_width(&cut(&"x".repeat(10_000), 30)), 30);
    }

    #[test]
    fn prose_is_folded_at_words() {
        assert_eq!(fold("one two three", 7), ["one two", "three"]);
        assert_eq!(fold("one incomprehensible", 7), ["one", "incomp…"]);
        assert_eq!(fold("", 7), [""]);
    }
}
