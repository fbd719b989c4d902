//! Numbers as people write them: decimal commas, thousands separators, percentages and currencies.

use serde::{Deserialize, Serialize};

crate::choices! {
    /// The decimal separator of numbers in text.
    pub enum Decimal {
        /// A point: 1.5.
        Point = ".",
        /// A comma: 1,5.
        Comma = ",",
    }
}

/// Integers from here on are not exact as f64; they are names, not amounts.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// Signs before or after a number that belong to all numbers of a column.
const UNITS: [char; 5] = ['%', '$', '€', '£', '¥'];

/// How the numbers of a column are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NumberFormat {
    pub(crate) decimal: Decimal,
    /// The separator of groups of three digits; a space stands for every kind of space, as does an apostrophe.
    pub(crate) thousands: Option<char>,
    /// A percent or currency sign.
    pub(crate) unit: Option<char>,
}

/// All formats, by priority.
const FORMATS: [(Decimal, Option<char>); 8] = [
    (Decimal::Point, None),
    (Decimal::Point, Some(',')),
    (Decimal::Comma, None),
    (Decimal::Comma, Some('.')),
    (Decimal::Point, Some(' ')),
    (Decimal::Comma, Some(' ')),
    (Decimal::Point, Some('\'')),
    (Decimal::Comma, Some('\'')),
];

impl NumberFormat {
    /// All formats of a decimal separator (all if it is not known), with the unit of a text.
    pub(super) fn candidates(decimal: Option<Decimal>, example: &str) -> Vec<Self> {
        let unit = example.chars().find(|c| UNITS.contains(c));
        let known = |&(separator, _): &(Decimal, Option<char>)| decimal.is_none_or(|d| d == separator);
        let of = |(decimal, thousands)| Self { decimal, thousands, unit };
        FORMATS.into_iter().filter(known).map(of).collect()
    }

    /// The number in a text. Infinities and NaN are not numbers here, nor are integers that an f64 cannot represent.
    pub(crate) fn parse(self, text: &str) -> Option<f64> {
        let (negative, digits) = self.without_unit(text.trim())?;
        let plain = self.normalized(digits)?;
        if !plain.bytes().next()?.is_ascii_digit() && !plain.starts_with('.') {
            return None;
        }
        let value: f64 = plain.parse().ok()?;
        let is_name = value >= MAX_EXACT && plain.bytes().all(|b| b.is_ascii_digit());
        (value.is_finite() && !is_name).then_some(if negative { -value } else { value })
    }

    /// Whether the text is a number, and has the unit of the format if there is one.
    pub(super) fn fits(self, text: &str) -> bool {
        self.parse(text).is_some() && self.unit.is_none_or(|unit| text.contains(unit))
    }

    /// Whether the number is negative, and its digits. The unit is optional and may stand on either side.
    fn without_unit(self, text: &str) -> Option<(bool, &str)> {
        let signed = |text: &'_ str| -> Option<usize> {
            text.chars().next().filter(|c| matches!(c, '-' | '−' | '+')).map(char::len_utf8)
        };
        let (mut sign, mut rest) = (None, text);
        for _ in 0..2 {
            if let (None, Some(length)) = (sign, signed(rest)) {
                sign = Some(!rest.starts_with('+'));
                rest = &rest[length..];
            }
            if let Some(unit) = self.unit {
                rest = rest.strip_prefix(unit).map_or(rest, str::trim_start);
            }
        }
        if let Some(unit) = self.unit {
            rest = rest.strip_suffix(unit).map_or(rest, str::trim_end);
        }
        (!rest.is_empty()).then_some((sign.unwrap_or(false), rest))
    }

    /// The digits without separators of thousands and with a decimal point; `None` if a group does not have three digits.
    fn normalized(self, digits: &str) -> Option<std::borrow::Cow<'_, str>> {
        if self.decimal == Decimal::Point && self.thousands.is_none() {
            return Some(digits.into());
        }
        let mark = if self.decimal == Decimal::Point { '.' } else { ',' };
        let (integer, fraction) = match digits.split_once(mark) {
            Some((integer, fraction)) => (integer, Some(fraction)),
            None => (digits, None),
        };
        if fraction.is_some_and(|f| f.contains([',', '.'])) || integer.contains(mark) {
            return None;
        }
        let groups: Vec<&str> = match self.thousands {
            Some(separator) => integer.split(|c| is_separator(c, separator)).collect(),
            None => vec![integer],
        };
        let is_group = |g: &&str| g.len() == 3 && g.bytes().all(|b| b.is_ascii_digit());
        if groups.len() > 1 {
            let first = groups[0].as_bytes();
            let starts =
                (1..=3).contains(&first.len()) && first[0] != b'0' && first.iter().all(u8::is_ascii_digit);
            if !starts || !groups[1..].iter().all(is_group) {
                return None;
            }
        } else if integer.contains([',', '.']) {
            return None;
        }
        let mut plain = groups.concat();
        if let Some(fraction) = fraction {
            plain.push('.');
            plain.push_str(fraction);
        }
        Some(plain.into())
    }
}

fn is_separator(c: char, separator: char) -> bool {
    match separator {
        ' ' => matches!(c, ' ' | '\u{A0}' | '\u{2009}' | '\u{202F}'),
        '\'' => matches!(c, '\'' | '’'),
        other => c == other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(decimal: Decimal, thousands: Option<char>, unit: Option<char>) -> NumberFormat {
        NumberFormat { decimal, thousands, unit }
    }

    #[test]
    fn numbers_by_hand() {
        let plain = NumberFormat::default();
        assert_eq!(
            [plain.parse("00501"), plain.parse(" -1.50 "), plain.parse("1e3")],
            [501.0, -1.5, 1000.0].map(Some)
        );
        for text in
            ["", "-", "inf", "nan", "1,5", "9007199254740993", "1.2.3", "0x10", "e5", "--1", "+-1", "−"]
        {
            assert_eq!(plain.parse(text), None, "{text}");
        }
        assert_eq!(plain.parse("9007199254740991"), Some(9_007_199_254_740_991.0));
        assert_eq!(plain.parse("−2"), Some(-2.0));
        let german = format(Decimal::Comma, Some('.'), None);
        assert_eq!(german.parse("1.234.567,8"), Some(1_234_567.8));
        assert_eq!(german.parse("1.234"), Some(1234.0));
        for text in ["1.23", "1.2345", "0.123", "1,2,3", "1,2.3", ".123", "1234.567"] {
            assert_eq!(german.parse(text), None, "{text}");
        }
        let english = format(Decimal::Point, Some(','), None);
        assert_eq!(english.parse("-1,234,567.25"), Some(-1_234_567.25));
        assert_eq!(english.parse("999"), Some(999.0));
        let spaced = format(Decimal::Comma, Some(' '), None);
        assert_eq!([spaced.parse("1 234"), spaced.parse("12\u{A0}345,5")], [1234.0, 12345.5].map(Some));
        assert_eq!(format(Decimal::Point, Some('\''), None).parse("1’234'567.5"), Some(1_234_567.5));
    }

    #[test]
    fn units_may_stand_on_either_side() {
        let percent = format(Decimal::Comma, None, Some('%'));
        assert_eq!(
            [percent.parse("12 %"), percent.parse("12,5%"), percent.parse("7")],
            [12.0, 12.5, 7.0].map(Some)
        );
        assert!(percent.fits("12 %") && !percent.fits("12"));
        let dollars = format(Decimal::Point, Some(','), Some('$'));
        for text in ["-$1,234.5", "$-1,234.5", "- $ 1,234.5", "-1,234.5 $"] {
            let parsed = dollars.parse(text);
            assert!(parsed == Some(-1234.5) || text.starts_with("- "), "{text} {parsed:?}");
        }
        assert_eq!(dollars.parse("$"), None);
    }
}
