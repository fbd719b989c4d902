//! Standardized features, for linear methods.

use crate::context::Context;
use crate::data::{Rows, is_constant};
use crate::error::{Error, Result};
use crate::optim::{Design, LeastSquares, SparseColumns};

/// Standardizes features (mean 0, standard deviation 1, divisor n). Constant ones become zero; sparse ones stay
/// sparse. Checks that they fit in memory together with a path for `targets` targets.
pub(super) fn standard_columns(
    name: &'static str,
    x: &Rows,
    targets: usize,
    ctx: &Context,
) -> Result<Design> {
    ctx.need_memory(
        format!("{name} of {} x {} cells", x.n(), x.d()),
        x.bytes() + LeastSquares::bytes(x.n(), x.d(), targets, x.is_sparse()),
        "use fewer rows or columns",
    )?;
    let (mean, std) = x.moments();
    if let Some(j) = (0..x.d()).find(|&j| !(mean[j].is_finite() && std[j].is_finite())) {
        return Err(Error::Breakdown {
            step: name,
            why: format!("the values of column {} overflow; scale the features", j + 1),
        });
    }
    let scale = |j: usize| if is_constant(mean[j], std[j]) { 0.0 } else { 1.0 / std[j] };
    let scale: Vec<f64> = (0..x.d()).map(scale).map(|s: f64| if s.is_finite() { s } else { 0.0 }).collect();
    Ok(match x {
        Rows::Dense(x) => Design::dense(x.view(), &mean.to_vec(), &scale),
        Rows::Sparse(rows) => {
            let columns = SparseColumns::gather(x.d(), || rows.cells());
            Design::sparse(x.n(), columns, mean.to_vec(), scale)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::SparseRows;
    use ndarray::{Array2, array};

    #[test]
    fn dense_and_sparse_features_are_standardized() {
        let dense: Rows = array![[0.0, 2.0, 7.0], [1.0, 0.0, 7.0], [0.0, 0.0, 7.0]].into();
        let cells = (vec![0, 2, 4, 5], vec![1, 2, 0, 2, 2], vec![2.0, 7.0, 1.0, 7.0, 7.0]);
        let sparse: Rows = SparseRows::new(3, cells.0, cells.1, cells.2).unwrap().into();
        for x in [dense, sparse] {
            let design = standard_columns("m", &x, 1, &Context::default()).unwrap();
            // Deviations of a third and two thirds from the mean, over the root of 2/9.
            let a = 2.0_f64.sqrt() / 2.0;
            let expected = array![[-a, 2.0 * a, 0.0], [2.0 * a, -a, 0.0], [-a, -a, 0.0]];
            let got = design.times(&Array2::eye(3));
            assert!((&got - &expected).iter().all(|e| e.abs() < 1e-15), "{got}");
        }
        let huge: Rows = array![[1e308], [-1e308]].into();
        assert!(standard_columns("m", &huge, 1, &Context::default()).is_ok());
        let ctx = Context { memory_limit: 15, ..Context::default() };
        assert!(matches!(standard_columns("m", &huge, 1, &ctx), Err(Error::Memory { .. })));
    }
}
