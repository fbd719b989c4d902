//! The tokens of one line of an ARFF file: quoted or plain, separated by commas and braces.

use std::borrow::Cow;

/// The rest of a line.
pub(super) struct Line<'a> {
    rest: &'a str,
}

/// The value of a cell.
#[derive(Debug, PartialEq)]
pub(super) enum Cell<'a> {
    /// A question mark without quotes.
    Missing,
    /// Anything else.
    Text(Cow<'a, str>),
}

impl Cell<'_> {
    /// The text, if there is one.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Missing => None,
            Self::Text(text) => Some(text),
        }
    }
}

impl<'a> Line<'a> {
    pub(super) fn new(line: &'a str) -> Self {
        Self { rest: line }
    }

    /// Skips a character, if it comes next.
    pub(super) fn take(&mut self, character: char) -> bool {
        let rest = self.rest.trim_start().strip_prefix(character);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Skips a comma or a tab, if one comes next.
    pub(super) fn take_separator(&mut self) -> bool {
        if self.take(',') {
            return true;
        }
        let rest = self.rest.trim_start_matches(' ').strip_prefix('\t');
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Whether a character comes next.
    pub(super) fn at(&self, character: char) -> bool {
        self.rest.trim_start().starts_with(character)
    }

    /// Whether nothing but a comment follows.
    pub(super) fn at_end(&self) -> bool {
        self.rest.trim_start().is_empty() || self.at('%')
    }

    /// A quoted text, or a word that ends at a space or a brace.
    pub(super) fn name(&mut self) -> Result<Cow<'a, str>, String> {
        match self.quoted()? {
            Some(text) => Ok(text),
            None => Ok(Cow::Borrowed(self.until(|c| c.is_whitespace() || c == '{' || c == '}'))),
        }
    }

    /// A quoted text, or the text up to the next comma, tab, brace or comment.
    pub(super) fn cell(&mut self) -> Result<Cell<'a>, String> {
        if let Some(text) = self.quoted()? {
            return Ok(Cell::Text(text));
        }
        let mut before = ' ';
        let plain = self.until(|c| {
            let ends = matches!(c, ',' | '\t' | '}') || (c == '%' && before.is_whitespace());
            before = c;
            ends
        });
        match plain.trim_end() {
            "?" => Ok(Cell::Missing),
            text => Ok(Cell::Text(Cow::Borrowed(text))),
        }
    }

    /// The values of a nominal attribute, after the opening brace.
    pub(super) fn list(&mut self) -> Result<Vec<String>, String> {
        let mut values = vec![];
        loop {
            match self.cell()? {
                Cell::Text(text) => values.push(text.into_owned()),
                Cell::Missing => values.push("?".into()),
            }
            if self.take('}') {
                return Ok(values);
            }
            if !self.take(',') {
                return Err("the list of values is not closed with '}'".into());
            }
        }
    }

    fn until(&mut self, ends: impl FnMut(char) -> bool) -> &'a str {
        let text = self.rest.trim_start();
        let (word, rest) = text.split_at(text.find(ends).unwrap_or(text.len()));
        self.rest = rest;
        word
    }

    /// A text in single or double quotes, in which a backslash escapes the next character.
    fn quoted(&mut self) -> Result<Option<Cow<'a, str>>, String> {
        let text = self.rest.trim_start();
        let Some(quote) = text.chars().next().filter(|c| matches!(c, '\'' | '"')) else { return Ok(None) };
        let inside = &text[1..];
        let mut escaped = false;
        let end = inside
            .find(|c| {
                let ends = c == quote && !escaped;
                escaped = c == '\\' && !escaped;
                ends
            })
            .ok_or_else(|| format!("a quote ({quote}) is never closed"))?;
        self.rest = &inside[end + 1..];
        Ok(Some(without_backslashes(&inside[..end])))
    }
}

fn without_backslashes(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => out.extend(chars.next().map(|c| match c {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                other => other,
            })),
            plain => out.push(plain),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(words: &str) -> Cell<'_> {
        Cell::Text(words.into())
    }

    #[test]
    fn words_quotes_and_comments() {
        let mut line = Line::new(" 1.5 , 'it\\'s, so',?, \"?\" ,50% off % note");
        assert_eq!(line.cell(), Ok(text("1.5")));
        assert!(line.take(','));
        assert_eq!(line.cell(), Ok(text("it's, so")));
        assert!(line.take(','));
        assert_eq!(line.cell(), Ok(Cell::Missing));
        assert!(line.take(','));
        assert_eq!(line.cell(), Ok(text("?")));
        assert!(line.take(','));
        assert_eq!(line.cell(), Ok(text("50% off")));
        assert!(line.at_end());
    }

    #[test]
    fn lists_and_open_ends() {
        assert_eq!(Line::new("a, 'b c' ,d} % x").list(), Ok(vec!["a".into(), "b c".into(), "d".into()]));
        assert_eq!(Line::new("a, b").list(), Err("the list of values is not closed with '}'".into()));
        assert_eq!(Line::new("'a").cell(), Err("a quote (') is never closed".into()));
    }
}
