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

/// Integers from here on are not exact as f64; a column of them holds names, not amounts.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// Codes of currencies that may stand before a number; other words before a number make a name of it, such as `Room 12`.
const CURRENCIES: [&str; 30] = [
    "AUD", "BRL", "CAD", "CHF", "CNY", "CZK", "DKK", "EUR", "GBP", "HKD", "HUF", "IDR", "ILS", "INR", "JPY",
    "KRW", "MXN", "MYR", "NOK", "NZD", "PLN", "RON", "RUB", "SEK", "SGD", "THB", "TRY", "TWD", "USD", "ZAR",
];
const CURRENCY_SIGNS: [char; 4] = ['$', '€', '£', '¥'];

/// The most characters of a unit after a number.
const MAX_UNIT: usize = 10;

/// How the numbers of a column are written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NumberFormat {
    pub(crate) decimal: Decimal,
    /// The separator of groups of three digits; a space stands for every kind of space, as does an apostrophe.
    pub(crate) thousands: Option<char>,
    /// What may stand next to a number: a percent sign, a currency or a unit such as kg.
    pub(crate) unit: Option<String>,
    /// Whether `78 %` is 0.78, because other cells have fractions without the sign.
    #[serde(default)]
    pub(crate) percent_as_fraction: bool,
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
    /// All formats of a decimal separator (all if it is not known), with a unit.
    pub(super) fn candidates(decimal: Option<Decimal>, unit: Option<&str>) -> Vec<Self> {
        let known = |&(separator, _): &(Decimal, Option<char>)| decimal.is_none_or(|d| d == separator);
        let of = |(decimal, thousands)| Self {
            decimal,
            thousands,
            unit: unit.map(str::to_owned),
            percent_as_fraction: false,
        };
        FORMATS.into_iter().filter(known).map(of).collect()
    }

    /// The number in a text. Infinities and NaN are not numbers here. Parentheses mean a negative number, as in accounting.
    pub(crate) fn parse(&self, text: &str) -> Option<f64> {
        let text = text.trim();
        let inner = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
        let (sign, digits) = self.without_unit(inner.unwrap_or(text).trim())?;
        if inner.is_some() && sign.is_some() {
            return None;
        }
        let plain = self.normalized(digits)?;
        if !plain.bytes().next()?.is_ascii_digit() && !plain.starts_with('.') {
            return None;
        }
        let value: f64 = plain.parse().ok()?;
        // Shifts the decimal point without a rounding error.
        let value = match self.percent_as_fraction && text.contains('%') {
            true => format!("{plain}e-2").parse().unwrap_or(value / 100.0),
            false => value,
        };
        let is_negative = inner.is_some() || sign == Some(true);
        value.is_finite().then_some(if is_negative { -value } else { value })
    }

    /// Whether the number is negative, if it has a sign, and its digits. The unit is optional and may stand on either side.
    fn without_unit<'a>(&self, text: &'a str) -> Option<(Option<bool>, &'a str)> {
        let signed = |text: &'_ str| -> Option<usize> {
            text.chars().next().filter(|c| matches!(c, '-' | '−' | '+')).map(char::len_utf8)
        };
        let (mut sign, mut rest) = (None, text);
        for _ in 0..2 {
            if let (None, Some(length)) = (sign, signed(rest)) {
                sign = Some(!rest.starts_with('+'));
                rest = &rest[length..];
            }
            if let Some(unit) = &self.unit {
                rest = rest.strip_prefix(unit.as_str()).map_or(rest, str::trim_start);
            }
        }
        if let Some(unit) = &self.unit {
            rest = rest.strip_suffix(unit.as_str()).map_or(rest, str::trim_end);
        }
        (!rest.is_empty()).then_some((sign, rest))
    }

    /// The digits without separators of thousands and with a decimal point; `None` if a group does not have three digits.
    fn normalized<'a>(&self, digits: &'a str) -> Option<std::borrow::Cow<'a, str>> {
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

/// What stands before or after the number in a text: a currency, a percent sign or a unit.
pub(super) fn unit_of(text: &str) -> Option<&str> {
    let is_sign = |c: char| matches!(c, '-' | '−' | '+' | '.' | '(' | ')') || c.is_whitespace();
    let text = text.trim_matches(is_sign);
    let before = text[..text.find(|c: char| c.is_ascii_digit())?].trim_end_matches(is_sign);
    if !before.is_empty() {
        let is_sign = before.len() <= 4 && before.ends_with(CURRENCY_SIGNS);
        return (is_sign || CURRENCIES.contains(&before)).then_some(before);
    }
    let after = text[text.rfind(|c: char| c.is_ascii_digit())? + 1..].trim();
    let is_unit = |c: char| c.is_alphabetic() || CURRENCY_SIGNS.contains(&c) || "%‰°²³/·".contains(c);
    let n = after.chars().count();
    ((1..=MAX_UNIT).contains(&n) && after.chars().all(is_unit)).then_some(after)
}

/// Whether a text is an integer with more digits than a number can hold: a name rather than an amount.
pub(super) fn is_name(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    digits.len() >= 16
        && digits.bytes().all(|b| b.is_ascii_digit())
        && digits.parse().is_ok_and(|v: f64| v >= MAX_EXACT)
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

    fn format(decimal: Decimal, thousands: Option<char>, unit: Option<&str>) -> NumberFormat {
        NumberFormat { decimal, thousands, unit: unit.map(str::to_owned), ..NumberFormat::default() }
    }

    #[test]
    fn numbers_by_hand() {
        let plain = NumberFormat::default();
        assert_eq!(
            [plain.parse("00501"), plain.parse(" -1.50 "), plain.parse("1e3")],
            [501.0, -1.5, 1000.0].map(Some)
        );
        for text in
            ["", "-", "inf", "nan", "1,5", "1.2.3", "0x10", "e5", "--1", "+-1", "−", "(-1)", "(1", "()"]
        {
            assert_eq!(plain.parse(text), None, "{text}");
        }
        assert_eq!(plain.parse("9007199254740991"), Some(9_007_199_254_740_991.0));
        assert!(is_name("9007199254740993") && is_name("-10000000000000000"));
        assert!(!is_name("9007199254740991") && !is_name("1000000000000000.5"));
        assert_eq!(plain.parse("(36757.50)"), Some(-36757.5));
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
        let percent = format(Decimal::Comma, None, Some("%"));
        assert_eq!(
            [percent.parse("12 %"), percent.parse("12,5%"), percent.parse("7")],
            [12.0, 12.5, 7.0].map(Some)
        );
        let fractions = NumberFormat { percent_as_fraction: true, ..percent };
        assert_eq!([fractions.parse("78 %"), fractions.parse("0,5")], [0.78, 0.5].map(Some));
        let dollars = format(Decimal::Point, Some(','), Some("$"));
        for text in ["-$1,234.5", "$-1,234.5", "- $ 1,234.5", "-1,234.5 $"] {
            let parsed = dollars.parse(text);
            assert!(parsed == Some(-1234.5) || text.starts_with("- "), "{text} {parsed:?}");
        }
        assert_eq!(dollars.parse("$"), None);
    }

    #[test]
    fn units_by_hand() {
        for (text, unit) in [
            ("12 %", "%"),
            ("-$5.50", "$"),
            ("$-1,234.5", "$"),
            ("CHF 1027.86", "CHF"),
            ("(US$ 12)", "US$"),
            ("70.1 kg", "kg"),
            ("21 °C", "°C"),
            ("5.2 mmol/L", "mmol/L"),
        ] {
            assert_eq!(unit_of(text), Some(unit), "{text}");
        }
        for text in ["", "12.5", "C00058", "Room 12", "10 Jul 2021", "5 green apples", "A", "№ 5"] {
            assert_eq!(unit_of(text), None, "{text}");
        }
        assert_eq!(format(Decimal::Point, None, Some("kg")).parse("70.1 kg"), Some(70.1));
        assert_eq!(format(Decimal::Point, None, Some("CHF")).parse("CHF -10"), Some(-10.0));
    }
}
