//! The paper's Hilbert example, as the example program shows it.

#[path = "../examples/hilbert.rs"]
#[allow(dead_code, reason = "the example's main is not called here")]
mod example;

use example::{hilbert, kobl_dimension, orthogonality_lost};
use kernsift::basis::Threshold;
use kernsift::linalg::numerical_rank;

#[test]
fn rank_orthogonality_and_dimension() {
    let a = hilbert(100);
    // The paper prints 18; what counts as zero differs by a column or two between factorisations.
    let rank = numerical_rank(a.view());
    assert!((17..=20).contains(&rank), "{rank}");
    // Gram-Schmidt's basis is no basis any more well before that.
    let lost = orthogonality_lost(&a).unwrap();
    assert!((10..=18).contains(&lost), "{lost}");
    assert_eq!(kobl_dimension(&a, Threshold::Linear).unwrap(), 3);
}
