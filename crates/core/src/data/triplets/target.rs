//! Triplets from a target of either kind.

use super::continuous::from_continuous_within;
use super::draw::{NAME, need_memory};
use super::labels::from_labels_within;
use super::triplet::Triplet;
use crate::context::Context;
use crate::data::target::Target;
use crate::error::{Error, Result};

/// Draws `n` triplets from a target, with these rows only: [`from_labels_within`] or [`from_continuous_within`].
pub fn from_target(target: &Target, rows: &[usize], n: usize, ctx: &Context) -> Result<Vec<Triplet>> {
    need_memory(n, ctx)?;
    match target {
        Target::None => Err(Error::NeedsTarget { method: NAME }),
        Target::Outputs(_) => Err(Error::OutputsUnsupported { method: NAME.into(), supported: vec![] }),
        Target::Classes(classes) => from_labels_within(classes, rows, n, ctx.seed),
        Target::Continuous(values) => from_continuous_within(values, rows, n, ctx.seed),
    }
}

#[cfg(test)]
mod tests {
    use super::super::labels::from_labels;
    use super::*;
    use crate::data::target::Classes;

    #[test]
    fn triplets_follow_the_kind_of_target() {
        let classes = Classes::from_codes(vec![0, 0, 1, 1]);
        let ctx = Context::default();
        assert!(
            from_target(&Target::None, &[0, 1, 2], 5, &ctx)
                .unwrap_err()
                .to_string()
                .contains("needs a target")
        );
        let target = Target::Classes(classes.clone());
        assert_eq!(
            from_target(&target, &[0, 1, 2, 3], 5, &ctx).unwrap(),
            from_labels(&classes, 5, 0).unwrap()
        );
        let y = [1.0, f64::NAN, 2.0, 4.0];
        assert_eq!(
            from_target(&Target::Continuous(y.to_vec()), &[3, 0, 2], 4, &ctx).unwrap(),
            from_continuous_within(&y, &[3, 0, 2], 4, 0).unwrap()
        );
        let small = Context { memory_limit: 10_000, ..ctx };
        let error = from_target(&target, &[0, 1, 2, 3], 1000, &small).unwrap_err();
        assert!(matches!(error, Error::Memory { limit: 10_000, .. }), "{error}");
    }
}
