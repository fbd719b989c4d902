//! Parse the bytes of a cell as a number, fast and with the same result as `str::parse`.
//!
//! Most cells are short: `7`, `-12`, `0.25`. With at most 15 digits both the digits and the power of ten are exact in an
//! f64, so a single division gives the correctly rounded result. The standard library parses all other cells.
//!
//! An integer is *plain* if a number keeps its spelling: at most 15 digits without a leading zero, plus sign, decimal
//! point or exponent; so is a large number in scientific notation. [`Spelling`] finds columns of integers that are not plain, such as `00501` or 9007199254740993:
//! they may be labels or ids and are read as text. Between fractional numbers, `2.0` is only a number.

/// Powers of ten for at most 15 digits; all are exact.
const POWERS: [f64; 16] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// All integers up to this size are exact in an f64, and all larger values of an f64 are integers.
pub(super) const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// Defines the usual spellings of a missing value, and a function that finds them in a cell.
macro_rules! missing_values {
    ($($text:literal),*) => {
        /// The usual spellings of a missing value: those of pandas, and errors of spreadsheets.
        pub(crate) const MISSING_VALUES: &[&[u8]] = &[$($text),*];

        /// Whether a cell is a usual spelling of a missing value.
        fn is_missing(cell: &[u8]) -> bool {
            matches!(cell, $($text)|*)
        }
    };
}

missing_values!(
    b"",
    b"?",
    b"-",
    b"NA",
    b"<NA>",
    b"N/A",
    b"n/a",
    b"#NA",
    b"#N/A",
    b"#N/A N/A",
    b"NaN",
    b"nan",
    b"-NaN",
    b"-nan",
    b"1.#IND",
    b"-1.#IND",
    b"1.#QNAN",
    b"-1.#QNAN",
    b"null",
    b"NULL",
    b"None",
    b"#DIV/0!",
    b"#VALUE!",
    b"#REF!",
    b"#NAME?",
    b"#NUM!",
    b"#NULL!"
);

/// A number in a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Number {
    /// The value; NaN if it is missing.
    pub value: f64,
    /// Whether it is an integer in its plain spelling.
    pub plain: bool,
}

/// Spellings of missing values: the default ones and those of the user.
#[derive(Default)]
pub(super) struct MissingValues<'a> {
    more: Vec<&'a [u8]>,
    has_numbers: bool,
}

impl<'a> MissingValues<'a> {
    pub(super) fn new(more: &'a [String]) -> Self {
        let more: Vec<&[u8]> = more.iter().map(|text| text.as_bytes().trim_ascii()).collect();
        Self { has_numbers: more.iter().any(|text| parse(text).is_some()), more }
    }

    /// Whether a number such as -999 stands for a missing value.
    pub(super) fn has_numbers(&self) -> bool {
        self.has_numbers
    }

    /// Whether a trimmed cell is a missing value.
    pub(super) fn contains(&self, cell: &[u8]) -> bool {
        is_missing(cell) || self.more.contains(&cell)
    }

    /// The number in a trimmed cell: NaN if it is missing, `None` if it is text.
    /// Other spellings of NaN that `str::parse` accepts are missing values too.
    pub(super) fn number(&self, cell: &[u8]) -> Option<Number> {
        let missing = Number { value: f64::NAN, plain: false };
        if self.has_numbers && self.contains(cell) {
            return Some(missing);
        }
        short(cell).or_else(|| if self.contains(cell) { Some(missing) } else { long(cell) })
    }
}

/// How the numbers of a column are spelled.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Spelling {
    has_fractions: bool,
    has_unusual_integers: bool,
}

impl Spelling {
    /// Notes a number.
    #[inline]
    pub(super) fn note(&mut self, number: Number) {
        // After the first fraction, the spelling of integers does not matter.
        if !self.has_fractions && !number.plain {
            self.note_unusual(number.value);
        }
    }

    fn note_unusual(&mut self, value: f64) {
        if value as i64 as f64 == value || (value.abs() >= MAX_EXACT && value.is_finite()) {
            self.has_unusual_integers = true;
        } else {
            // Infinities too: they are no labels. A missing value is neither.
            self.has_fractions = !value.is_nan();
        }
    }

    /// Adds the numbers of another part of the column.
    pub(super) fn join(&mut self, part: Self) {
        self.has_fractions |= part.has_fractions;
        self.has_unusual_integers |= part.has_unusual_integers;
    }

    /// Whether the column is read as text, to keep its spelling.
    pub(super) fn is_text(self) -> bool {
        self.has_unusual_integers && !self.has_fractions
    }
}

/// The value of a number; infinities and NaN are numbers.
pub(super) fn parse(text: &[u8]) -> Option<f64> {
    number(text).map(|number| number.value)
}

/// Parses a number; infinities and NaN are numbers.
pub(super) fn number(text: &[u8]) -> Option<Number> {
    short(text).or_else(|| long(text))
}

fn short(text: &[u8]) -> Option<Number> {
    leading(text).filter(|&(_, length)| length == text.len()).map(|(number, _)| number)
}

/// The short number at the start of a text, and its length in bytes.
#[inline]
pub(super) fn leading(text: &[u8]) -> Option<(Number, usize)> {
    let signed = matches!(text.first(), Some(b'-' | b'+'));
    let mut digits = 0u64;
    let mut point = None;
    let mut length = usize::from(signed);
    while let Some(&byte) = text.get(length) {
        let digit = byte.wrapping_sub(b'0');
        if digit <= 9 {
            // May overflow: then there are too many digits anyway.
            digits = digits.wrapping_mul(10).wrapping_add(u64::from(digit));
        } else if byte == b'.' && point.is_none() {
            point = Some(length);
        } else {
            break;
        }
        length += 1;
    }
    let n_digits = length - usize::from(signed) - usize::from(point.is_some());
    if !(1..POWERS.len()).contains(&n_digits) {
        return None;
    }
    // Converting i64 takes one instruction, u64 takes several.
    let integer = digits as i64 as f64;
    let size = point.map_or(integer, |place| integer / POWERS[length - 1 - place]);
    // A first byte above 0 is a digit: most integers need no closer look.
    let plain = point.is_none() && (text[0] > b'0' || is_plain(text, n_digits));
    Some((Number { value: if text[0] == b'-' { -size } else { size }, plain }, length))
}

/// Whether a short integer that starts with a sign or a zero is plain.
fn is_plain(text: &[u8], n_digits: usize) -> bool {
    match text {
        [b'-', first, ..] => *first != b'0' || n_digits == 1,
        [b'+', ..] => false,
        _ => n_digits == 1,
    }
}

fn long(text: &[u8]) -> Option<Number> {
    let value: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    // Nobody writes a label as 6.02e23.
    let scientific =
        value.abs() > MAX_EXACT && value.is_finite() && text.contains(&b'e') | text.contains(&b'E');
    Some(Number { value, plain: scientific })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn same(text: &str) {
        let ours = parse(text.as_bytes());
        let theirs: Option<f64> = text.parse().ok();
        assert_eq!(ours.map(f64::to_bits), theirs.map(f64::to_bits), "{text:?}");
    }

    #[test]
    fn examples() {
        for text in
            ["0", "-0", "+7", "7.", ".5", "-.5", "", "+", "-", ".", "+.", "1.2.3", "--1", "1e5", "1E-7"]
        {
            same(text);
        }
        for text in [
            "999999999999999",
            "9999999999999999",
            "0.1",
            "0.300000000000000",
            "000000000000001",
            "inf",
            "1_0",
        ] {
            same(text);
        }
    }

    #[test]
    fn a_million_random_decimals_agree_with_the_standard_library() {
        // A linear congruential generator is random enough here.
        let mut state = 1u64;
        let mut draw = |n: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % n
        };
        let mut text = String::new();
        for _ in 0..1_000_000 {
            text.clear();
            text.push_str(["", "-", "+"][draw(3) as usize]);
            let (length, point) = (draw(18), draw(18));
            for place in 0..length {
                if place == point {
                    text.push('.');
                }
                text.push((b'0' + draw(10) as u8) as char);
            }
            same(&text);
        }
    }

    #[test]
    fn missing_and_text() {
        let missing = MissingValues::default();
        for cell in ["", "?", "-", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "-nan"] {
            assert!(missing.number(cell.as_bytes()).unwrap().value.is_nan(), "{cell}");
        }
        for cell in ["na", "none", ".", "1 2", "1,5", "0x10"] {
            assert_eq!(missing.number(cell.as_bytes()), None, "{cell}");
        }
        assert_eq!(missing.number(b"1e999").unwrap().value, f64::INFINITY);
    }

    #[test]
    fn missing_values_of_the_user() {
        let more = [" none ".to_owned(), "-999".to_owned()];
        let missing = MissingValues::new(&more);
        assert!(missing.has_numbers() && !MissingValues::new(&more[..1]).has_numbers());
        for cell in ["none", "-999", "NA"] {
            assert!(missing.number(cell.as_bytes()).unwrap().value.is_nan(), "{cell}");
        }
        assert_eq!(missing.number(b"-999.0").unwrap().value, -999.0);
    }

    fn is_text(cells: &[&str]) -> bool {
        let mut spelling = Spelling::default();
        cells.iter().for_each(|c| spelling.note(MissingValues::default().number(c.as_bytes()).unwrap()));
        spelling.is_text()
    }

    #[test]
    fn unusual_integers_are_text_unless_there_are_fractions() {
        for unusual in
            ["00501", "-01", "+1", "1.0", "1.", "0.0", "1e3", "9007199254740993", "1000000000000000"]
        {
            assert!(is_text(&[unusual]) && is_text(&["7", unusual, "", "12"]), "{unusual}");
            assert!(!is_text(&[unusual, "0.5"]) && !is_text(&["0.5", unusual]), "{unusual}");
        }
        assert!(!is_text(&["0", "-0", "-7", "999999999999999", "NA", ""]));
        assert!(!is_text(&["1e300", "6.02E23"]) && !is_text(&["1e999"]));
        assert!(!is_text(&["007", "inf"]) && !is_text(&["1.5e-3"]) && !is_text(&["0.123456789012345678"]));
    }

    proptest! {
        #[test]
        fn any_text_is_read_as_the_standard_library_does(text in "[-+0-9.eEinfa ]{0,24}") {
            same(&text);
        }

        #[test]
        fn every_finite_number_survives(value in any::<f64>().prop_filter("finite", |v| v.is_finite())) {
            prop_assert_eq!(parse(format!("{value}").as_bytes()).map(f64::to_bits), Some(value.to_bits()));
            prop_assert_eq!(parse(format!("{value:e}").as_bytes()).map(f64::to_bits), Some(value.to_bits()));
        }
    }
}
