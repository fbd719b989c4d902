//! Standardized features, for linear methods.

use crate::context::Context;
use crate::data::{Dataset, Groups, Rows, Weights, is_constant};
use crate::error::{Error, Result};
use crate::optim::{Design, LeastSquares, SparseColumns};
use ndarray::{Array1, Axis, s};
use std::f64::consts::FRAC_2_PI;
use std::ops::Range;

/// Sums of the columns of a feature that differ by less than this fraction of its standard deviation are equal up to
/// rounding.
const EQUAL_SUMS: f64 = 1e-9;

/// The number of standard deviations above its mean at which [`weighted`] compares the gradients of noise features.
const NULL_DEVIATIONS: f64 = 3.0;

/// Standardizes features (mean 0, standard deviation 1, divisor n; see [`common_std`] for categories). Constant columns
/// become zero; sparse ones stay sparse, unless samples have weights: then rows are multiplied by [`root_weights`]. Checks that they
/// fit in memory together with a path for `targets` targets.
pub(super) fn standard_columns(
    name: &'static str,
    data: &Dataset,
    targets: usize,
    ctx: &Context,
) -> Result<Design> {
    let x = data.x();
    ctx.need_memory(
        format!("{name} of {} x {} cells", x.n(), x.d()),
        x.bytes() + LeastSquares::bytes(x.n(), x.d(), targets, x.is_sparse() && !data.is_weighted()),
        "use fewer rows or columns",
    )?;
    let (mean, std) = x.weighted_moments(data.weights());
    if let Some(j) = (0..x.d()).find(|&j| !(mean[j].is_finite() && std[j].is_finite())) {
        let feature = data.groups().feature_of_columns()[j];
        return Err(Error::Breakdown {
            step: name,
            why: format!("the values of column {} overflow; scale the features", feature + 1),
        });
    }
    let divisor = common_std(x, &data.groups(), &std);
    let scale = |j: usize| if is_constant(mean[j], std[j]) { 0.0 } else { 1.0 / divisor[j] };
    let scale: Vec<f64> = (0..x.d()).map(scale).map(|s: f64| if s.is_finite() { s } else { 0.0 }).collect();
    if let Some(roots) = root_weights(data.weights(), x.n()) {
        let mut rows = x.to_dense();
        for (mut row, root) in rows.rows_mut().into_iter().zip(&roots) {
            for (j, v) in row.iter_mut().enumerate() {
                *v = root * (scale[j] * (*v - mean[j]));
            }
        }
        return Ok(Design::dense(rows.view(), &vec![0.0; x.d()], &vec![1.0; x.d()]));
    }
    Ok(match x {
        Rows::Dense(x) => Design::dense(x.view(), &mean.to_vec(), &scale),
        Rows::Sparse(rows) => {
            let columns = SparseColumns::gather(x.d(), || rows.cells());
            Design::sparse(x.n(), columns, mean.to_vec(), scale)
        }
    })
}

/// $\sqrt{n w_i / \sum_i w_i}$ for the weight $w_i$ of each of $n$ samples; `None` without weights. A mean of squares of numbers
/// multiplied by it is the weighted mean.
pub(super) fn root_weights(weights: Weights, n: usize) -> Option<Vec<f64>> {
    let unit = n as f64 / weights.total(n);
    weights.given().map(|weights| weights.iter().map(|w| (unit * w).sqrt()).collect())
}

/// The number by which to divide each column, given its standard deviation.
///
/// That is the standard deviation, except for the columns of a category, which share one number: the root of the sum of
/// their variances. The mean squared distance of two rows in a category is then 2, as in a standardized number, and
/// levels that differ are equally distant. The columns of a category are recognized by their sum, which is the same in
/// every row.
pub(super) fn common_std(x: &Rows, groups: &Groups, std: &Array1<f64>) -> Array1<f64> {
    let mut out = std.clone();
    for columns in groups.iter().filter(|columns| columns.len() > 1) {
        let total = std.slice(s![columns.clone()]).iter().map(|v| v * v).sum::<f64>().sqrt();
        let sums = x.take_columns(&columns.clone().collect::<Vec<_>>()).into_dense().sum_axis(Axis(1));
        let (low, high) = sums.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &v| {
            (f64::min(v, low), f64::max(v, high))
        });
        if high - low <= EQUAL_SUMS * total {
            out.slice_mut(s![columns]).fill(total);
        }
    }
    out
}

/// Divides the columns of each feature by its weight $\omega_j$ in an l1/l-infinity penalty, $\lambda \sum_j \omega_j \max_k
/// |w_{jk}|$: then it is a penalty without weights on $\omega_j w_{jk}$. Returns the weights, too.
///
/// A feature enters where the sum of the absolute gradients of its columns reaches $\lambda \omega_j$. If the feature is
/// independent of the target, the gradient of a column with standard deviation $s_l$ is about $s_l$ times a normal number, so
/// the sum has a mean proportional to $\sum_l s_l$, and a standard deviation proportional to $(\sum_l s_l^2)^{1/2}$.
/// $\omega_j$ is the sum at three standard deviations above the mean, divided by that of a single column: noise features of
/// all kinds enter at about the same penalty. Weights by the mean alone would be too large for categories, because the
/// largest of many noise numbers is far above its mean, whereas sums over many levels are not.
pub(super) fn weighted(design: Design, groups: &Groups) -> (Design, Vec<f64>) {
    let (mean, deviation) = (FRAC_2_PI.sqrt(), NULL_DEVIATIONS * (1.0 - FRAC_2_PI).sqrt());
    let weight = |columns: Range<usize>| {
        let variances = || columns.clone().map(|j| design.curvature(j));
        let sum: f64 = variances().map(f64::sqrt).sum();
        if columns.len() == 1 || sum == 0.0 {
            return 1.0;
        }
        (mean * sum + deviation * variances().sum::<f64>().sqrt()) / (mean + deviation)
    };
    let weights: Vec<f64> = groups.iter().map(weight).collect();
    if groups.is_single() {
        return (design, weights);
    }
    let factors: Vec<f64> = groups.feature_of_columns().into_iter().map(|j| weights[j].recip()).collect();
    (design.scaled(&factors), weights)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{SparseRows, Target};
    use ndarray::{Array2, array};

    #[test]
    fn dense_and_sparse_features_are_standardized() {
        let dense: Rows = array![[0.0, 2.0, 7.0], [1.0, 0.0, 7.0], [0.0, 0.0, 7.0]].into();
        let cells = (vec![0, 2, 4, 5], vec![1, 2, 0, 2, 2], vec![2.0, 7.0, 1.0, 7.0, 7.0]);
        let sparse: Rows = SparseRows::new(3, cells.0, cells.1, cells.2).unwrap().into();
        for x in [dense, sparse] {
            let data = Dataset::unlabeled(x).unwrap();
            let design = standard_columns("m", &data, 1, &Context::default()).unwrap();
            // Deviations of a third and two thirds from the mean, over the root of 2/9.
            let a = 2.0_f64.sqrt() / 2.0;
            let expected = array![[-a, 2.0 * a, 0.0], [2.0 * a, -a, 0.0], [-a, -a, 0.0]];
            let got = design.times(&Array2::eye(3));
            assert!((&got - &expected).iter().all(|e| e.abs() < 1e-15), "{got}");
        }
        let huge = Dataset::unlabeled(array![[1e308], [-1e308]]).unwrap();
        assert!(standard_columns("m", &huge, 1, &Context::default()).is_ok());
        let ctx = Context { memory_limit: 15, ..Context::default() };
        assert!(matches!(standard_columns("m", &huge, 1, &ctx), Err(Error::Memory { .. })));
    }

    #[test]
    fn a_category_weighs_as_much_as_a_number() {
        // Three levels in 1, 1 and 2 of four rows; a number with an indicator of missing values.
        let x = array![
            [1.0, 0.0, 0.0, 10.0, 0.0],
            [0.0, 1.0, 0.0, 30.0, 0.0],
            [0.0, 0.0, 1.0, 20.0, 1.0],
            [0.0, 0.0, 1.0, 20.0, 0.0]
        ];
        let names = ["category", "number"].map(String::from).to_vec();
        let data = Dataset::encoded(names, x, Groups::of_sizes([3, 2]), Target::None).unwrap();
        let (_, std) = data.x().moments();
        let divisor = common_std(data.x(), &data.groups(), &std);
        // Variances 3/16, 3/16 and 4/16 sum to 10/16.
        assert!((0..3).all(|j| (divisor[j] - 0.625_f64.sqrt()).abs() < 1e-15), "{divisor}");
        assert_eq!((divisor[3], divisor[4]), (std[3], std[4]));
        let z = standard_columns("m", &data, 1, &Context::default()).unwrap().times(&Array2::eye(5));
        let distance = |i: usize, k: usize| (0..3).map(|j| (z[[i, j]] - z[[k, j]]).powi(2)).sum::<f64>();
        let mean = (0..16).map(|at| distance(at / 4, at % 4)).sum::<f64>() / 16.0;
        assert!((mean - 2.0).abs() < 1e-14 && distance(2, 3) == 0.0, "{mean}");
        assert!((distance(0, 1) - distance(0, 2)).abs() < 1e-14);
    }

    #[test]
    fn noise_features_enter_together() {
        // A category of 40 equally frequent levels, a number with an indicator, and a number, all independent of the target.
        let (n, repeats) = (400, 300);
        let mut rng = crate::random::Rng::new(8);
        let level = |i: usize| i % 40;
        let x = Array2::from_shape_fn((n, 43), |(i, j)| match j {
            40 | 42 => rng.normal(),
            41 => f64::from(u8::from(i % 10 == 0)),
            _ => f64::from(u8::from(level(i) == j)),
        });
        let names = ["a", "b", "c"].map(String::from).to_vec();
        let groups = Groups::of_sizes([40, 2, 1]);
        let data = Dataset::encoded(names, x, groups.clone(), Target::None).unwrap();
        let design = standard_columns("m", &data, 1, &Context::default()).unwrap();
        let (design, weights) = weighted(design, &groups);
        // Sums of standard deviations: 40 of 1 / sqrt(40), and 2 of 1.
        let (mean, deviation) = (0.79788456, 3.0 * 0.60281027);
        let expected = [
            (mean * 40.0_f64.sqrt() + deviation) / (mean + deviation),
            (mean * 2.0 + deviation * 2.0_f64.sqrt()) / (mean + deviation),
            1.0,
        ];
        assert!(weights.iter().zip(expected).all(|(a, b)| (a / b - 1.0).abs() < 1e-8), "{weights:?}");
        let targets = Array2::from_shape_simple_fn((n, repeats), || rng.normal());
        let gradients = design.transposed_times(&targets);
        let mut exceed = [0; 3];
        for column in gradients.columns() {
            for (j, columns) in groups.iter().enumerate() {
                let sum: f64 = column.slice(s![columns]).iter().map(|g| g.abs()).sum();
                // 2.6 standard deviations of the gradient of a number, 1 / sqrt(n) = 0.05.
                exceed[j] += usize::from(sum > 0.13);
            }
        }
        // 1 % of the numbers: 3 of 300. By sums without weights all categories would exceed it.
        assert!(exceed.iter().all(|&count| count <= 10), "{exceed:?}");
    }
}
