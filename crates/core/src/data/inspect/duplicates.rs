//! Columns with the same values.

use crate::data::types::Parsing;

/// A hash of the values of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Fingerprint(u64);

impl Fingerprint {
    /// The fingerprint of the values that `parsing` reads.
    pub(crate) fn of(values: &[f64], parsing: &Parsing) -> Self {
        let mut hash = u64::from(parsing.feature_type().is_category());
        for &value in values {
            hash = (hash ^ bits(value)).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23);
        }
        Self(hash)
    }
}

/// The bits of a value, with one zero and one NaN.
pub(crate) fn bits(value: f64) -> u64 {
    if value.is_nan() { u64::MAX } else { (value + 0.0).to_bits() }
}

/// Whether two columns hold the same: equal numbers, or categories with equal names.
pub(crate) fn same_values((a, of_a): (&[f64], &Parsing), (b, of_b): (&[f64], &Parsing)) -> bool {
    let levels = |parsing: &Parsing| match parsing {
        Parsing::Category { levels } | Parsing::Ordered { levels } => levels.clone(),
        _ => vec![],
    };
    of_a.feature_type() == of_b.feature_type()
        && matches!(of_a, Parsing::Date { .. }) == matches!(of_b, Parsing::Date { .. })
        && levels(of_a) == levels(of_b)
        && a.iter().zip(b).all(|(&a, &b)| bits(a) == bits(b))
}
