//! Triplets from a target of either kind.

use super::continuous::from_continuous_within;
use super::draw::NAME;
use super::labels::from_labels_within;
use super::triplet::Triplet;
use crate::data::dataset::Target;
use crate::error::{Error, Result};

/// Draws `n` triplets from a target, with these rows only: [`from_labels_within`] or [`from_continuous_within`].
pub fn from_target(target: &Target, rows: &[usize], n: usize, seed: u64) -> Result<Vec<Triplet>> {
    match target {
        Target::None => Err(Error::NeedsTarget { method: NAME }),
        Target::Classes(classes) => from_labels_within(classes, rows, n, seed),
        Target::Continuous(values) => from_continuous_within(values, rows, n, seed),
    }
}

#[cfg(test)]
mod tests {
    use super::super::labels::from_labels;
    use super::*;
    use crate::data::dataset::Classes;

    #[test]
    fn triplets_follow_the_kind_of_target() {
        let classes = Classes::from_codes(vec![0, 0, 1, 1]);
        assert!(
            from_target(&Target::None, &[0, 1, 2], 5, 0).unwrap_err().to_string().contains("needs a target")
        );
        let target = Target::Classes(classes.clone());
        assert_eq!(from_target(&target, &[0, 1, 2, 3], 5, 9).unwrap(), from_labels(&classes, 5, 9).unwrap());
        let y = [1.0, f64::NAN, 2.0, 4.0];
        assert_eq!(
            from_target(&Target::Continuous(y.to_vec()), &[3, 0, 2], 4, 0).unwrap(),
            from_continuous_within(&y, &[3, 0, 2], 4, 0).unwrap()
        );
    }
}
