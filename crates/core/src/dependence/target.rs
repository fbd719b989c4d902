//! Kernels of a target.
//!
//! Dependence on a target needs its kernel matrix $L = Y Y^\top$ only through the centered factor $\tilde Y = H Y$,
//! $H = I - 11^\top / n$. The factor has one column per class, one per output for a linear kernel, about 20 for a continuous target
//! under a Gaussian kernel, and at most 500 for several outputs.

use super::thin::{weighted_column_factor, weighted_rows_factor};
use crate::context::Context;
use crate::data::{Classes, Rows, Target, Weights};
use crate::error::{Error, Result};
use crate::kernel::{Family, weighted_median_gamma};
use ndarray::{Array2, Axis, ShapeBuilder};

/// The fraction of the trace that the factor of a Gaussian kernel may omit.
const TOLERANCE: f64 = 1e-10;
/// ... of several outputs, where the rank is larger, and its bound: the residual then is close to a diagonal matrix, which
/// says nothing about dependence.
const OUTPUTS_LIMITS: (f64, usize) = (1e-6, 500);

crate::choices! {
    /// The kernel of the target.
    pub enum TargetKernel {
        /// Class-balanced for classes, Gaussian for a continuous target.
        Auto = "auto",
        /// 1/n_c between samples of one class, which has n_c samples, else 0: every class has the same weight.
        ClassBalanced = "class-balanced",
        /// 1 between samples of one class, else 0: large classes have more weight.
        Delta = "delta",
        /// The product y y', with -1 and 1 for two classes.
        Linear = "linear",
        /// Gaussian of a continuous target; its bandwidth is the median distance between different values.
        Gaussian = "gaussian",
    }
}

/// The centered factor $\tilde Y = H Y$ of the target's kernel matrix $L = Y Y^\top$, laid out by columns.
///
/// Classes without rows have no column. Errors name `method`: no target, a single class, a constant target, or a kernel that
/// does not support the target.
pub fn target_factor(
    target: &Target,
    kernel: TargetKernel,
    method: &'static str,
    ctx: &Context,
) -> Result<Array2<f64>> {
    weighted_target_factor(target, Weights::ONE, kernel, method, ctx)
}

/// As [`target_factor`], with a weight per row: $\tilde Y = (I - 1 w^\top / \sum_i w_i) Y$, and $n_c$ is the weight of a class.
pub(crate) fn weighted_target_factor(
    target: &Target,
    weights: Weights,
    kernel: TargetKernel,
    method: &'static str,
    ctx: &Context,
) -> Result<Array2<f64>> {
    let mut factor = match target {
        Target::None => return Err(Error::NeedsTarget { method }),
        Target::Classes(classes) => {
            // Callers make a copy.
            let bytes = 16.0 * classes.codes.len() as f64 * classes.n_present() as f64;
            ctx.need_memory("the kernel of the classes", bytes, "use fewer rows or classes")?;
            classes_factor(classes, weights, kernel, method)?
        }
        Target::Continuous(values) => continuous_factor(values, weights, kernel, method, ctx)?,
        Target::Outputs(y) => outputs_factor(y, weights, kernel, method, ctx)?,
    };
    match weights.given() {
        None => center(&mut factor),
        Some(w) => {
            let total: f64 = w.iter().sum();
            for mut column in factor.axis_iter_mut(Axis(1)) {
                let mean = column.iter().zip(w).map(|(v, w)| v * w).sum::<f64>() / total;
                column.mapv_inplace(|v| v - mean);
            }
        }
    }
    Ok(factor)
}

/// $n D \tilde Y / \sum_i w_i$ with $D$ the diagonal matrix of the weights: in a sum over all pairs of rows, divided by $n^2$, it
/// gives each pair the product of its weights.
pub(crate) fn weighted_rows(mut factor: Array2<f64>, weights: Weights) -> Array2<f64> {
    if weights.given().is_some() {
        let unit = factor.nrows() as f64 / weights.total(factor.nrows());
        for mut column in factor.axis_iter_mut(Axis(1)) {
            column.iter_mut().enumerate().for_each(|(row, v)| *v *= unit * weights.of(row));
        }
    }
    factor
}

/// Subtracts the mean from every column.
pub(crate) fn center(factor: &mut Array2<f64>) {
    let n = factor.nrows().max(1) as f64;
    for mut column in factor.axis_iter_mut(Axis(1)) {
        let mean = column.sum() / n;
        column.mapv_inplace(|v| v - mean);
    }
}

fn classes_factor(
    classes: &Classes,
    weights: Weights,
    kernel: TargetKernel,
    method: &'static str,
) -> Result<Array2<f64>> {
    let counts = classes.weighted_counts(weights);
    let present: Vec<usize> = (0..counts.len()).filter(|&c| counts[c] > 0.0).collect();
    if present.len() < 2 {
        let class = present.first().map_or(String::new(), |&c| classes.names[c].clone());
        return Err(Error::OneClass { method, class });
    }
    let n = classes.codes.len();
    match kernel {
        TargetKernel::Linear if present.len() == 2 => {
            let sign = |i: usize| if classes.codes[i] == present[0] { -1.0 } else { 1.0 };
            Ok(Array2::from_shape_fn((n, 1).f(), |(i, _)| sign(i)))
        }
        TargetKernel::Linear => Err(unsupported(method, "not 'linear' for more than two classes", kernel)),
        TargetKernel::Gaussian => Err(unsupported(method, "not 'gaussian' for classes", kernel)),
        TargetKernel::Auto | TargetKernel::ClassBalanced | TargetKernel::Delta => {
            let mut factor = Array2::zeros((n, present.len()).f());
            for (k, &class) in present.iter().enumerate() {
                let size = if kernel == TargetKernel::Delta { 1.0 } else { counts[class] };
                let members = (0..n).filter(|&i| classes.codes[i] == class);
                members.for_each(|i| factor[[i, k]] = 1.0 / size.sqrt());
            }
            Ok(factor)
        }
    }
}

fn continuous_factor(
    values: &[f64],
    weights: Weights,
    kernel: TargetKernel,
    method: &'static str,
    ctx: &Context,
) -> Result<Array2<f64>> {
    need_variation(values, method)?;
    let column = || Array2::from_shape_vec((values.len(), 1), values.to_vec()).expect("one column");
    match kernel {
        TargetKernel::Linear => Ok(column()),
        TargetKernel::Auto | TargetKernel::Gaussian => {
            let gamma = weighted_median_gamma(Family::Rbf, &Rows::Dense(column()), weights, ctx.seed)?;
            Ok(weighted_column_factor(values, weights, gamma, TOLERANCE))
        }
        TargetKernel::ClassBalanced | TargetKernel::Delta => {
            Err(Error::NeedsClasses { method, found: "the target is continuous" })
        }
    }
}

/// Several outputs that vary, standardized; an error if all are constant.
pub(crate) fn standardized_outputs(
    y: &Array2<f64>,
    weights: Weights,
    method: &'static str,
) -> Result<Array2<f64>> {
    let y = varying(y, method)?;
    let (means, stds) = Rows::Dense(y.clone()).weighted_moments(weights);
    Ok(Array2::from_shape_fn(y.raw_dim().f(), |(i, j)| {
        (y[[i, j]] - means[j]) / stds[j].max(f64::MIN_POSITIVE)
    }))
}

/// The columns of several outputs that are not constant; an error if all are.
pub(crate) fn varying(y: &Array2<f64>, method: &'static str) -> Result<Array2<f64>> {
    let varies = |&j: &usize| y.column(j).iter().any(|v| *v != y[[0, j]]);
    let columns: Vec<usize> = (0..y.ncols()).filter(varies).collect();
    match columns.is_empty() {
        true => Err(Error::ConstantTarget { method, value: y.first().copied().unwrap_or(0.0) }),
        false => Ok(y.select(Axis(1), &columns)),
    }
}

/// The bandwidth of the kernel of several standardized outputs, and their values by columns.
pub(crate) fn gaussian_of_outputs(
    standardized: Array2<f64>,
    weights: Weights,
    ctx: &Context,
) -> Result<(f64, Vec<f64>)> {
    let cells = standardized.t().iter().copied().collect();
    let gamma = weighted_median_gamma(Family::Rbf, &Rows::Dense(standardized), weights, ctx.seed)?;
    Ok((gamma, cells))
}

/// The factor of the kernel of several outputs over these values by columns.
pub(crate) fn factor_of_outputs(cells: &[f64], n: usize, weights: Weights, gamma: f64) -> Array2<f64> {
    weighted_rows_factor(cells, n, weights, gamma, OUTPUTS_LIMITS)
}

/// The kernel of several outputs: of their standardized values jointly.
fn outputs_factor(
    y: &Array2<f64>,
    weights: Weights,
    kernel: TargetKernel,
    method: &'static str,
    ctx: &Context,
) -> Result<Array2<f64>> {
    let standardized = standardized_outputs(y, weights, method)?;
    match kernel {
        TargetKernel::Linear => Ok(standardized),
        TargetKernel::Auto | TargetKernel::Gaussian => {
            let (gamma, cells) = gaussian_of_outputs(standardized, weights, ctx)?;
            Ok(factor_of_outputs(&cells, y.nrows(), weights, gamma))
        }
        TargetKernel::ClassBalanced | TargetKernel::Delta => {
            Err(Error::NeedsClasses { method, found: "the target is continuous" })
        }
    }
}

/// Rejects a constant target.
fn need_variation(values: &[f64], method: &'static str) -> Result<()> {
    let first = values.first().copied().unwrap_or(0.0);
    if values.iter().all(|v| *v == first) {
        return Err(Error::ConstantTarget { method, value: first });
    }
    Ok(())
}

fn unsupported(method: &'static str, expected: &str, kernel: TargetKernel) -> Error {
    let got = if kernel == TargetKernel::Linear { "linear" } else { "gaussian" };
    Error::param(method, "target_kernel", expected, got)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Rng;
    use ndarray::array;

    fn factor(target: Target, kernel: TargetKernel) -> Array2<f64> {
        target_factor(&target, kernel, "m", &Context::default()).unwrap()
    }

    fn classes(codes: &[usize]) -> Target {
        Target::Classes(Classes::from_codes(codes.to_vec()))
    }

    /// H L H by the full matrices.
    fn centered(l: &Array2<f64>) -> Array2<f64> {
        let n = l.nrows();
        let h = Array2::<f64>::eye(n) - 1.0 / n as f64;
        h.dot(l).dot(&h)
    }

    /// The rounding of a few sums of numbers of order one.
    fn assert_near(a: &Array2<f64>, b: &Array2<f64>) {
        assert!((a - b).iter().all(|e| e.abs() < 1e-14), "{a}\n{b}");
    }

    #[test]
    fn factors_computed_by_hand() {
        // Two rows of class 0, one of class 2; class 1 has no rows and no column.
        let y = factor(classes(&[0, 2, 0]), TargetKernel::Delta);
        let t = 1.0 / 3.0;
        assert_near(&y, &array![[t, -t], [-2.0 * t, 2.0 * t], [t, -t]]);
        let y = factor(classes(&[0, 2, 0]), TargetKernel::Auto);
        let s = 0.5_f64.sqrt();
        assert_near(&y, &array![[s * t, -t], [-2.0 * s * t, 2.0 * t], [s * t, -t]]);
        let y = factor(classes(&[0, 2, 0]), TargetKernel::Linear);
        assert_near(&y, &array![[-2.0 * t], [4.0 * t], [-2.0 * t]]);
        let y = factor(Target::Continuous(vec![1.0, 3.0, 5.0]), TargetKernel::Linear);
        assert_near(&y, &array![[-2.0], [0.0], [2.0]]);
    }

    #[test]
    fn factors_reproduce_the_kernel_matrices() {
        let mut rng = Rng::new(3);
        let codes: Vec<usize> = (0..40).map(|_| [0, 1, 1, 3][rng.below(4)]).collect();
        let of = Classes::from_codes(codes.clone());
        for kernel in [TargetKernel::ClassBalanced, TargetKernel::Delta] {
            let l = Array2::from_shape_fn((40, 40), |(i, j)| {
                let size = if kernel == TargetKernel::Delta { 1 } else { of.counts()[codes[i]] };
                if codes[i] == codes[j] { 1.0 / size as f64 } else { 0.0 }
            });
            let y = factor(classes(&codes), kernel);
            assert_eq!(y.ncols(), 3);
            assert_near(&y.dot(&y.t()), &centered(&l));
        }
        let numbers: Vec<f64> = (0..40).map(|_| 100.0 * rng.normal()).collect();
        let mut distances: Vec<f64> = (0..40)
            .flat_map(|i| (0..i).map(move |j| (i, j)))
            .map(|(i, j)| (numbers[i] - numbers[j]).abs())
            .collect();
        distances.sort_by(f64::total_cmp);
        let half = distances.len() / 2;
        let median = ((distances[half - 1].powi(2) + distances[half].powi(2)) / 2.0).sqrt();
        let l = Array2::from_shape_fn((40, 40), |(i, j)| {
            (-(numbers[i] - numbers[j]).powi(2) / (2.0 * median * median)).exp()
        });
        let y = factor(Target::Continuous(numbers), TargetKernel::Auto);
        // The factor may omit 1e-10 of the trace 40.
        assert!((&y.dot(&y.t()) - &centered(&l)).iter().all(|e| e.abs() < 4e-9));
    }

    #[test]
    fn unsupported_targets_are_rejected() {
        let error = |target: Target, kernel| {
            target_factor(&target, kernel, "HSIC", &Context::default()).unwrap_err().to_string()
        };
        use TargetKernel::*;
        assert!(error(Target::None, Auto).starts_with("HSIC: needs a target"));
        assert!(error(classes(&[1, 1]), Auto).contains("all rows have the class '1'"));
        assert!(error(Target::Continuous(vec![2.0; 3]), Auto).contains("the target is 2 in every row"));
        assert!(
            error(classes(&[0, 1, 2]), Linear)
                .contains("'target_kernel' must be not 'linear' for more than two")
        );
        assert!(error(classes(&[0, 1, 2]), Gaussian).contains("not 'gaussian' for classes"));
        assert!(error(Target::Continuous(vec![1.0, 2.0]), Delta).contains("needs a classification target"));
    }
}
