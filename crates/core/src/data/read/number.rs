//! Parse the bytes of a cell as a number, fast and with the same result as `str::parse`.
//!
//! Most cells are short: `7`, `-12`, `0.25`. With at most 15 digits both the digits and the power of ten are exact in an
//! f64, so a single division gives the correctly rounded result. The standard library parses all other cells.

/// Powers of ten for at most 15 digits; all are exact.
const POWERS: [f64; 16] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// Spellings of missing values.
const MISSING: [&[u8]; 8] = [b"", b"?", b"NA", b"N/A", b"NaN", b"nan", b"null", b"NULL"];

/// The number in a trimmed cell: NaN if it is missing, `None` if it is text.
///
/// Other spellings of NaN that `str::parse` accepts, such as `-nan` as C programs print it, are missing values too.
pub(super) fn of_cell(cell: &[u8]) -> Option<f64> {
    short(cell).or_else(|| if is_missing(cell) { Some(f64::NAN) } else { long(cell) })
}

/// Parses a number; infinities and NaN are numbers.
pub(super) fn parse(text: &[u8]) -> Option<f64> {
    short(text).or_else(|| long(text))
}

/// Whether a trimmed cell is a missing value.
pub(super) fn is_missing(cell: &[u8]) -> bool {
    cell.len() <= 4 && MISSING.contains(&cell)
}

fn short(text: &[u8]) -> Option<f64> {
    leading(text).filter(|&(_, length)| length == text.len()).map(|(value, _)| value)
}

/// The short number at the start of a text, and its length in bytes.
#[inline]
pub(super) fn leading(text: &[u8]) -> Option<(f64, usize)> {
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
    Some((if text[0] == b'-' { -size } else { size }, length))
}

fn long(text: &[u8]) -> Option<f64> {
    std::str::from_utf8(text).ok()?.parse().ok()
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
        for cell in ["", "?", "NA", "N/A", "NaN", "nan", "null", "NULL", "-nan"] {
            assert!(of_cell(cell.as_bytes()).unwrap().is_nan(), "{cell}");
        }
        for cell in ["na", "none", "1 2", "1,5", "0x10"] {
            assert_eq!(of_cell(cell.as_bytes()), None, "{cell}");
        }
        assert_eq!(of_cell(b"1e999"), Some(f64::INFINITY));
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
