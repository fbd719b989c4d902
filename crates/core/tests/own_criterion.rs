//! The user-defined criterion of the example program.

#[path = "../examples/own_criterion.rs"]
#[allow(dead_code, reason = "the example's main is not called here")]
mod example;

use example::{path, selected, wine};
use kernsift::Stop;
use kernsift::optim::{Criterion, gradient_error, row_norm};
use ndarray::Array2;

#[test]
fn a_logistic_loss_gives_a_path_of_features() {
    let (data, criterion) = wine().unwrap();
    let mut rng = kernsift::internals::Rng::new(1);
    let w = Array2::from_shape_simple_fn(criterion.shape(), || rng.normal());
    assert!(gradient_error(&criterion, &w, 1e-5) < 1e-6);
    let radii = [0.25, 1.0, 4.0];
    let minima = path(&criterion, &radii).unwrap();
    for (tau, minimum) in radii.iter().zip(&minima) {
        assert_eq!(minimum.stop, Stop::Tolerance, "{tau}");
        // The constraint is active: the unconstrained loss has no minimum.
        assert!((row_norm(&minimum.w) - tau).abs() < 1e-12, "{tau}");
    }
    assert!(minima.windows(2).all(|m| m[1].value < m[0].value));
    let counts: Vec<usize> = minima.iter().map(|m| selected(&m.w).len()).collect();
    assert!(counts[0] < counts[2] && counts[2] < data.d(), "{counts:?}");
    // Flavanoids and proline separate the classes best.
    let names: Vec<&str> = selected(&minima[1].w).iter().map(|&j| data.names()[j].as_str()).collect();
    assert!(names.contains(&"flavanoids") && names.contains(&"proline"), "{names:?}");
}
