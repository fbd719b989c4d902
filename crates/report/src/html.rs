//! Escaping of text for HTML.

/// Escapes text for use between tags and in quoted attributes.
///
/// Control characters, which HTML does not allow, become the replacement character.
pub fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\n' | '\t' => safe.push(' '),
            c if c.is_control() || matches!(c, '\u{FFFE}' | '\u{FFFF}') => safe.push('\u{FFFD}'),
            // Bidirectional control characters could reverse the text after them.
            '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => safe.push('\u{FFFD}'),
            c => safe.push(c),
        }
    }
    safe
}

/// An escaped label with optional line breaks after settings.
pub fn breakable(label: &str) -> String {
    escape(label).replace(':', ":<wbr/>").replace('=', "=<wbr/>")
}

/// Escaped text of at most `max` characters, where wide characters count twice. Longer text is shortened in the middle.
pub fn shortened(text: &str, max: usize) -> String {
    // Chinese, Japanese and Korean characters, and emoji.
    let width = |c: char| if c >= '\u{1100}' && c != '…' { 2 } else { 1 };
    if text.chars().map(width).sum::<usize>() <= max {
        return escape(text);
    }
    let take = |chars: &mut dyn Iterator<Item = char>, max: usize| -> Vec<char> {
        let mut remaining = max;
        chars
            .take_while(|&c| {
                let fits = width(c) <= remaining;
                remaining = remaining.saturating_sub(width(c));
                fits
            })
            .collect()
    };
    // Names often differ at their ends.
    let tail = (max - 1) / 3;
    let start: String = take(&mut text.chars(), max - 1 - tail).into_iter().collect();
    let end: String = take(&mut text.chars().rev(), tail).into_iter().rev().collect();
    escape(&format!("{start}…{end}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_escaped() {
        assert_eq!(escape("<a href=\"x\">&'"), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
        assert_eq!(escape("a\u{0}b\u{1b}[31m\u{202E}c\nd"), "a\u{FFFD}b\u{FFFD}[31m\u{FFFD}c d");
        assert_eq!(escape("flavanoids µ 酒"), "flavanoids µ 酒");
    }

    #[test]
    fn labels_break_after_settings() {
        assert_eq!(breakable("relief:k=5"), "relief:<wbr/>k=<wbr/>5");
        assert_eq!(breakable("<:>"), "&lt;:<wbr/>&gt;");
    }

    #[test]
    fn long_names_keep_both_ends() {
        assert_eq!(shortened("alcohol", 7), "alcohol");
        assert_eq!(shortened("abcdefghijklmnop_1", 10), "abcdef…p_1");
        assert_eq!(shortened("<<<<<<<<", 4), "&lt;&lt;…&lt;");
        assert_eq!(shortened("酒酒酒", 6), "酒酒酒");
        assert_eq!(shortened("酒酒酒酒酒", 8), "酒酒…酒");
    }
}
