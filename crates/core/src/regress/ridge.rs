//! Kernel ridge regression, with the penalty chosen by leave-one-out cross-validation.

use crate::context::Context;
use crate::data::{Dataset, Rows, Target, Weights};
use crate::error::{Error, Result, need_columns};
use crate::kernel::{Family, Gamma, Kernel, KernelChoice, gram, gram_symmetric};
use crate::linalg::{cholesky, invert_lower};
use crate::method::{Info, Needs};
use crate::parameters::Parameters;
use ndarray::{Array1, Array2, ArrayView1, Axis};
use rayon::prelude::*;

const NAME: &str = "kernel ridge regression";
/// Rows per block of the Gram matrix.
const BLOCK: usize = 1024;

crate::parameters! {
    /// Kernel ridge regression.
    ///
    /// $$ \min_f \sum_i (y_i - f(x_i))^2 + \lambda \lVert f \rVert^2, \qquad f = \bar y + \sum_i \alpha_i k(x_i, \cdot),
    /// \qquad \alpha = (K + \lambda I)^{-1} (y - \bar y) $$
    ///
    /// With $G = (K + \lambda I)^{-1}$ the leave-one-out residual of row $i$ is $\alpha_i / G_{ii}$ (for a fixed mean), so each
    /// penalty takes one inversion.
    ///
    /// With weights $w_i$ of rows, $\sum_i w_i (y_i - f(x_i))^2$ takes the place of the sum of squares and $\lambda W^{-1}$ that of $\lambda
    /// I$. One unit of the weight of row $i$ is left out, so that the residual is $(\alpha_i / w_i) / ((1 - 1 / w_i) / \lambda + G_{ii} /
    /// w_i^2)$; all of a weight below 1.
    ///
    /// Cost: $O(n^3)$ time per penalty, $O(n^2)$ memory.
    ///
    /// References: Saunders, Gammerman and Vovk, *Ridge regression learning algorithm in dual variables*, 1998;
    /// Golub, Heath and Wahba, *Generalized cross-validation*, 1979.
    #[derive(PartialEq)]
    pub struct KernelRidge as "kernel ridge regression" {
        /// The kernel.
        pub kernel: KernelChoice =
            KernelChoice::Named { family: Family::Rbf, gamma: Gamma::Scale, degree: 3, coef0: 1.0 };
        /// Penalties to choose from by leaving out each training sample, or each group of samples.
        pub penalties: Vec<f64> = vec![1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0], above(0);
    }
}

impl KernelRidge {
    /// What `kernsift methods` says about it.
    pub const INFO: Info = Info {
        name: "ridge",
        title: "Kernel ridge regression",
        summary: "A smooth function; its penalty is tuned by cross-validation on the training samples",
        needs: Needs::Continuous,
        cost: "O(n³) time, O(n²) memory",
        reference: "Saunders et al., 1998",
    };
}

/// A fitted regression.
#[derive(Debug, Clone)]
pub struct RidgeModel {
    kernel: Kernel,
    x: Rows,
    alpha: Array1<f64>,
    mean: f64,
    /// The chosen penalty.
    pub penalty: f64,
}

impl KernelRidge {
    /// Checks the parameters.
    pub fn validate(&self) -> Result<()> {
        self.check_ranges()?;
        if self.penalties.is_empty() {
            return Err(Error::param(NAME, "penalties", "at least one", "none"));
        }
        self.kernel.validate()
    }

    /// Fits on rows with a continuous target. The penalty is chosen by leaving out single rows, or groups of rows if there are
    /// some.
    pub fn fit(&self, data: &Dataset, ctx: &Context) -> Result<RidgeModel> {
        self.validate()?;
        let (x, n, weights) = (data.x(), data.n(), data.weights());
        let Target::Continuous(y) = data.target() else { return Err(Error::NeedsTarget { method: NAME }) };
        // Without a single group, nothing would be left to learn from.
        let groups = Some(data.split_rule().members()).filter(|groups| groups.len() > 1).unwrap_or_default();
        let at_once = rayon::current_num_threads().min(self.penalties.len());
        ctx.need_memory(
            format!("{NAME} of {n} rows"),
            8.0 * (n as f64).powi(2) * (1 + if groups.is_empty() { 3 } else { 6 } * at_once) as f64,
            "use fewer rows, or the evaluator knn",
        )?;
        let kernel = self.kernel.resolve_weighted(x, weights, ctx)?;
        let k = gram_symmetric(&kernel, x)?;
        let sum: f64 = y.iter().enumerate().map(|(i, y)| weights.of(i) * y).sum();
        let mean = sum / weights.total(n);
        let centered = Array1::from_iter(y.iter().map(|y| y - mean));
        let fitted: Vec<Option<(f64, Array1<f64>)>> = self
            .penalties
            .par_iter()
            .map(|&penalty| {
                ctx.check()?;
                Ok(solve(&k, centered.view(), (weights, &groups), penalty))
            })
            .collect::<Result<_>>()?;
        let best = fitted
            .into_iter()
            .zip(&self.penalties)
            .filter_map(|(fitted, &penalty)| fitted.map(|(error, alpha)| (error, penalty, alpha)))
            // Ties go to the larger penalty, which gives the smoother function.
            .min_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
        let Some((_, penalty, alpha)) = best else {
            return Err(Error::Breakdown {
                step: NAME,
                why: "the kernel matrix is not positive definite with any of the penalties; use larger ones"
                    .into(),
            });
        };
        Ok(RidgeModel { kernel, x: x.clone(), alpha, mean, penalty })
    }
}

/// The squared error of rows left out, and the coefficients; `None` if the matrix is singular. Without groups, each row is left out
/// alone.
fn solve(
    k: &Array2<f64>,
    y: ArrayView1<f64>,
    (weights, groups): (Weights, &[Vec<usize>]),
    penalty: f64,
) -> Option<(f64, Array1<f64>)> {
    let mut shifted = k.clone();
    shifted.diag_mut().iter_mut().enumerate().for_each(|(i, v)| *v += penalty / weights.of(i));
    let inverse = invert_lower(cholesky(shifted.view())?.view());
    let alpha = inverse.t().dot(&inverse.dot(&y));
    let of_row = |(i, a): (usize, &f64)| {
        let g_ii = inverse.column(i).iter().map(|v| v * v).sum::<f64>();
        let w = weights.of(i);
        let residual =
            if w >= 1.0 { (a / w) / ((1.0 - 1.0 / w) / penalty + g_ii / (w * w)) } else { a / g_ii };
        w * residual.powi(2)
    };
    let of_group = |rows: &Vec<usize>| {
        let columns = inverse.select(Axis(1), rows);
        let factor = invert_lower(cholesky(columns.t().dot(&columns).view())?.view());
        let residuals = factor.t().dot(&factor.dot(&alpha.select(Axis(0), rows)));
        Some(rows.iter().zip(&residuals).map(|(&i, r)| weights.of(i) * r * r).sum::<f64>())
    };
    let error: f64 = match groups {
        [] => alpha.iter().enumerate().map(of_row).sum(),
        groups => groups.iter().map(of_group).sum::<Option<f64>>()?,
    };
    error.is_finite().then_some((error, alpha))
}

impl RidgeModel {
    /// The predicted value of each row.
    pub fn predict(&self, x: &Rows, ctx: &Context) -> Result<Vec<f64>> {
        need_columns("columns of the rows to predict", self.x.d(), x.d())?;
        let mut out = Vec::with_capacity(x.n());
        for from in (0..x.n()).step_by(BLOCK) {
            ctx.check()?;
            let rows: Vec<usize> = (from..x.n().min(from + BLOCK)).collect();
            let k = gram(&self.kernel, &x.take_rows(&rows), &self.x)?;
            out.extend(k.dot(&self.alpha).iter().map(|v| v + self.mean));
        }
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::SplitRule;
    use crate::random::Rng;
    use ndarray::array;

    const ONE: (Weights<'static>, &[Vec<usize>]) = (Weights::ONE, &[]);

    fn data(x: Rows, y: &[f64]) -> Dataset {
        Dataset::with_target(x, Target::Continuous(y.to_vec())).unwrap()
    }

    #[test]
    fn an_integer_weight_is_a_repeated_row() {
        let mut rng = Rng::new(6);
        let x: Rows = Array2::from_shape_simple_fn((30, 2), || rng.normal()).into();
        let y: Vec<f64> = x.column(0).iter().map(|v| v.sin() + 0.3 * rng.normal()).collect();
        let weights: Vec<f64> = (0..30).map(|i| f64::from(1 + i % 3)).collect();
        let repeated: Vec<usize> = (0..30).flat_map(|i| vec![i; weights[i] as usize]).collect();
        let of_repeated: Vec<f64> = repeated.iter().map(|&i| y[i]).collect();
        let ctx = Context::default();
        let ridge = KernelRidge::default();
        let weighted = data(x.clone(), &y).with_weights(weights.clone(), "weights").unwrap();
        let a = ridge.fit(&weighted, &ctx).unwrap();
        let b = ridge.fit(&data(x.take_rows(&repeated), &of_repeated), &ctx).unwrap();
        assert_eq!(a.penalty, b.penalty);
        let predicted = a.predict(&x, &ctx).unwrap().into_iter().zip(b.predict(&x, &ctx).unwrap());
        // Rounding in matrices whose condition number is below 1e5.
        assert!(predicted.into_iter().all(|(a, b)| (a - b).abs() < 1e-10));
        let k = gram_symmetric(&Kernel::Rbf { gamma: 0.5 }, &x).unwrap();
        let twice = k.select(ndarray::Axis(0), &repeated).select(ndarray::Axis(1), &repeated);
        let (error, _) = solve(&k, Array1::from(y).view(), (Weights::new(Some(&weights)), &[]), 0.1).unwrap();
        let (expected, _) = solve(&twice, Array1::from(of_repeated).view(), ONE, 0.1).unwrap();
        assert!((error / expected - 1.0).abs() < 1e-10, "{error} {expected}");
    }

    fn linear(penalties: Vec<f64>) -> KernelRidge {
        KernelRidge { kernel: Kernel::Linear.into(), penalties }
    }

    #[test]
    fn two_points_match_closed_form() {
        // Rows -1 and 1 with target values 1 and 3: the mean is 2, and (K + I) = [[2, -1], [-1, 2]] has the inverse
        // [[2, 1], [1, 2]] / 3, so alpha = (-1, 1) / 3 and f(x) = 2 + 2 x / 3.
        let data = data(array![[-1.0], [1.0]].into(), &[1.0, 3.0]);
        let model = linear(vec![1.0]).fit(&data, &Context::default()).unwrap();
        let predicted = model.predict(&array![[0.0], [3.0]].into(), &Context::default()).unwrap();
        assert!((predicted[0] - 2.0).abs() < 1e-14 && (predicted[1] - 4.0).abs() < 1e-14, "{predicted:?}");
    }

    #[test]
    fn closed_form_equals_leaving_out_rows_and_groups() {
        let mut rng = Rng::new(4);
        let x = Array2::from_shape_simple_fn((12, 2), || rng.normal());
        let y: Array1<f64> = x.column(0).mapv(f64::sin);
        let k = gram_symmetric(&Kernel::Rbf { gamma: 0.5 }, &x.into()).unwrap();
        let single: Vec<Vec<usize>> = (0..12).map(|i| vec![i]).collect();
        let groups = vec![vec![0, 5, 7], vec![1, 2], vec![3, 4, 6, 8], vec![9, 10, 11]];
        for (given, parts) in [(&[][..], &single), (&single, &single), (&groups, &groups)] {
            let (error, _) = solve(&k, y.view(), (Weights::ONE, given), 0.1).unwrap();
            let mut expected = 0.0;
            for out in parts {
                let rest: Vec<usize> = (0..12).filter(|i| !out.contains(i)).collect();
                let part = k.select(Axis(0), &rest).select(Axis(1), &rest);
                let (_, alpha) = solve(&part, y.select(Axis(0), &rest).view(), ONE, 0.1).unwrap();
                let predicted =
                    |row: usize| rest.iter().zip(&alpha).map(|(&i, a)| a * k[[row, i]]).sum::<f64>();
                expected += out.iter().map(|&row| (y[row] - predicted(row)).powi(2)).sum::<f64>();
            }
            // Rounding in matrices of condition number about 100.
            assert!((error - expected).abs() < 1e-12, "{error} {expected}");
        }
    }

    #[test]
    fn a_larger_penalty_is_chosen_if_rows_of_a_group_repeat() {
        // Copies of a row predict it whatever the penalty, so that single rows would choose the smallest.
        let mut rng = Rng::new(2);
        let of_group: Vec<[f64; 2]> = (0..20).map(|_| [rng.normal(), rng.normal()]).collect();
        let rows = Array2::from_shape_fn((80, 1), |(i, _)| of_group[i / 4][0] + 0.01 * rng.normal());
        let y: Vec<f64> = (0..80).map(|i| of_group[i / 4][1]).collect();
        let data = data(rows.into(), &y);
        let grouped =
            data.clone().with_split_rule(SplitRule::Groups((0..80).map(|i| i / 4).collect())).unwrap();
        let penalty = |data| KernelRidge::default().fit(data, &Context::default()).unwrap().penalty;
        assert!(penalty(&grouped) > penalty(&data), "{} {}", penalty(&grouped), penalty(&data));
    }

    #[test]
    fn fits_a_curve_and_chooses_a_larger_penalty_for_noise() {
        let mut rng = Rng::new(1);
        let x = Array2::from_shape_simple_fn((120, 1), || 2.0 * rng.normal());
        let clean: Vec<f64> = x.column(0).iter().map(|v| v.sin()).collect();
        let noisy: Vec<f64> = clean.iter().map(|v| v + rng.normal()).collect();
        let ctx = Context::default();
        let rows: Rows = x.clone().into();
        let model = KernelRidge::default().fit(&data(rows.clone(), &clean), &ctx).unwrap();
        let predicted = model.predict(&rows, &ctx).unwrap();
        assert!(clean.iter().zip(&predicted).all(|(a, b)| (a - b).abs() < 0.1));
        let rough = KernelRidge::default().fit(&data(rows, &noisy), &ctx).unwrap();
        assert!(rough.penalty > model.penalty, "{} {}", rough.penalty, model.penalty);
    }

    #[test]
    fn penalties_are_checked() {
        let fit = |penalties: Vec<f64>| {
            let data = data(array![[0.0], [1.0]].into(), &[0.0, 1.0]);
            linear(penalties).fit(&data, &Context::default()).unwrap_err().to_string()
        };
        assert!(fit(vec![]).contains("'penalties' must be at least one"));
        assert!(fit(vec![1.0, -1.0]).contains("'penalties' must be a list of numbers, above 0, got -1"));
    }
}
