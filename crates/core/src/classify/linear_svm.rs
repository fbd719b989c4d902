//! Linear SVMs in the primal form of LIBLINEAR: one weight per feature.

use super::linear_rows::{RowsWithIntercept, need_finite_rows, signed_bytes, signed_columns, stored_cells};
use super::svm::ClassWeight;
use crate::context::Context;
use crate::data::{Classes, Dataset, Rows, Weights};
use crate::error::{Error, Result, need_columns};
use crate::method::{Info, Needs};
use crate::optim::{
    Convergence, DualProblem, RowProducts, StopRule, dual_descent, l1_descent, l1_objective, l1_slacks,
};
use crate::outcome::{Outcome, Stop};
use crate::parameters::Parameters;
use crate::random::Rng;
use crate::simd::dot;
use ndarray::{Array1, Array2};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

const NAME: &str = "linear SVM";

crate::choices! {
    /// The penalty on the weights.
    pub enum Penalty {
        /// Half of the sum of squares.
        L2 = "l2",
        /// The sum of absolute values, which sets many weights to zero; only with the squared hinge.
        L1 = "l1",
    }
}

crate::choices! {
    /// The loss of a margin violation.
    pub enum Loss {
        /// The square of the violation.
        SquaredHinge = "squared_hinge",
        /// The violation.
        Hinge = "hinge",
    }
}

crate::parameters! {
    /// A linear SVM.
    ///
    /// $$ \min_{w} \lVert w \rVert + \sum_i C_i \ell(1 - y_i \langle w, x_i \rangle) $$
    ///
    /// with the penalty $\tfrac12 \lVert w \rVert_2^2$ or $\lVert w \rVert_1$ and $\max(0, b)$ or its square as $\ell$. A column of
    /// ones represents the intercept, which is penalized as well. Two classes: one binary SVM, positive for the second
    /// class. More classes: one SVM per class against the rest; the largest decision value wins. In the SVM of a class only
    /// that class has its class weight; the rest has weight 1.
    ///
    /// Cost: a few dozen to a few thousand passes over the values; more for larger $C$ and unscaled features.
    ///
    /// Reference: Fan, Chang, Hsieh, Wang and Lin, *LIBLINEAR*, 2008; Hsieh and others, *A dual coordinate descent method
    /// for large-scale linear SVM*, 2008; Yuan, Chang, Hsieh and Lin, *A comparison of optimization methods for large-scale
    /// L1-regularized linear classification*, 2010.
    #[derive(PartialEq)]
    pub struct LinearSvm as "linear SVM" {
        /// Regularization parameter: the penalty of margin violations.
        pub c as "C": f64 = 1.0, above(0);
        /// The penalty on the weights.
        pub penalty: Penalty = Penalty::L2;
        /// The loss of a margin violation.
        pub loss: Loss = Loss::SquaredHinge;
        /// Whether to fit an intercept. It is penalized, like the weight of a constant feature.
        pub fit_intercept: bool = true;
        /// Factors of C by class.
        pub class_weight: ClassWeight = ClassWeight::None;
        /// Tolerance of the optimality conditions.
        pub tol: f64 = 1e-4, above(0);
        /// Maximum number of passes over the samples or features.
        pub max_iter: usize = 1000, at_least(1);
    }
}

impl LinearSvm {
    /// What `kernsift methods` says about it.
    pub const INFO: Info = Info {
        name: "linear-svm",
        title: "Linear support vector machine",
        summary: "A linear boundary between classes",
        needs: Needs::Classes,
        cost: "O(n d) time per pass, O(n d) memory",
        reference: "Hsieh et al., 2008",
    };
}

/// A fitted linear SVM, with a row of weights per binary SVM.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LinearModel {
    /// Weights of the features.
    pub weights: Array2<f64>,
    /// Intercepts.
    pub bias: Array1<f64>,
    /// The minimized objective of each binary SVM.
    pub objectives: Vec<f64>,
    /// The names of the classes.
    pub class_names: Vec<String>,
    /// The classes with training rows, in ascending order: a binary SVM for each, or a single one for two classes.
    pub present: Vec<usize>,
    /// How the optimization ended; the largest number of passes of a binary SVM.
    pub outcome: Outcome,
}

impl LinearSvm {
    /// Fits on dense or sparse rows.
    pub fn fit(&self, data: &Dataset, ctx: &Context) -> Result<LinearModel> {
        data.need_complete(NAME)?;
        let classes = data.classes(NAME)?;
        self.check()?;
        let problems = self.problems(classes, data.weights())?;
        need_finite_rows(NAME, data.x())?;
        let bytes = match self.penalty {
            Penalty::L2 => 16.0 * stored_cells(data.x()),
            // Every binary SVM has its own signed columns, and one runs per thread.
            Penalty::L1 => problems.len().min(rayon::current_num_threads()) as f64 * signed_bytes(data.x()),
        };
        ctx.need_memory("the columns of a linear SVM", bytes, "use fewer rows or columns")?;
        let solve = |(k, problem): (usize, &Problem)| {
            let mut rng = Rng::stream(ctx.seed, &format!("linear SVM {k}"));
            match self.penalty {
                Penalty::L2 => self.solve_dual(data.x(), problem, &mut rng, ctx),
                Penalty::L1 => self.solve_l1(data.x(), problem, &mut rng, ctx),
            }
        };
        let solved: Vec<Solved> = problems.par_iter().enumerate().map(solve).collect::<Result<_>>()?;
        Ok(LinearModel {
            weights: Array2::from_shape_fn((solved.len(), data.x().d()), |(k, j)| solved[k].w[j]),
            bias: solved.iter().map(|s| if self.fit_intercept { s.w[data.x().d()] } else { 0.0 }).collect(),
            objectives: solved.iter().map(|s| s.objective).collect(),
            class_names: classes.names.clone(),
            present: super::svm::present(classes, &(0..data.n()).collect::<Vec<_>>()),
            outcome: outcome(solved.iter().map(|s| s.descent)),
        })
    }

    fn solve_dual(&self, x: &Rows, problem: &Problem, rng: &mut Rng, ctx: &Context) -> Result<Solved> {
        let rows = RowsWithIntercept { x, intercept: self.fit_intercept };
        let squared = self.loss == Loss::SquaredHinge;
        let mut alpha = vec![0.0; x.n()];
        let d = x.d() + usize::from(self.fit_intercept);
        let Problem { signs, c, .. } = problem;
        let dual = DualProblem { d, signs, c, squared };
        let (w, descent) = dual_descent(&rows, &dual, &mut alpha, self.sweeps(1.0), rng, ctx)?;
        let losses: f64 = (0..x.n())
            .map(|i| {
                let b = (1.0 - signs[i] * rows.product(i, &w)).max(0.0);
                c[i] * if squared { b * b } else { b }
            })
            .sum();
        let objective = 0.5 * dot(&w, &w) + losses;
        Ok(Solved { w, descent, objective })
    }

    fn solve_l1(&self, x: &Rows, problem: &Problem, rng: &mut Rng, ctx: &Context) -> Result<Solved> {
        let columns = signed_columns(x, &problem.signs, self.fit_intercept);
        let mut w = vec![0.0; columns.len()];
        let sweeps = self.sweeps(problem.minority_fraction);
        let descent = l1_descent(&columns, &problem.c, &mut w, sweeps, rng, ctx)?;
        let margin = l1_slacks(&columns, x.n(), &w);
        let objective = l1_objective(&problem.c, &margin, &w);
        Ok(Solved { w, descent, objective })
    }

    fn sweeps(&self, factor: f64) -> StopRule {
        StopRule { tolerance: self.tol * factor, max_iterations: self.max_iter }
    }

    /// The optimization problem of each binary SVM.
    pub(crate) fn problems(&self, classes: &Classes, weights: Weights) -> Result<Vec<Problem>> {
        let factors = self.class_weight.factors(classes, weights)?;
        let present = super::svm::present(classes, &(0..classes.codes.len()).collect::<Vec<_>>());
        let two = present.len() == 2;
        let positive = if two { &present[1..] } else { &present[..] };
        let problem = |&class: &usize| {
            let c = |(row, &code): (usize, &usize)| {
                self.c * if two || code == class { factors[code] } else { 1.0 } * weights.of(row)
            };
            Problem {
                minority_fraction: minority_fraction(classes, class, weights),
                signs: classes.codes.iter().map(|&c| if c == class { 1.0 } else { -1.0 }).collect(),
                c: classes.codes.iter().enumerate().map(c).collect(),
            }
        };
        Ok(positive.iter().map(problem).collect())
    }

    /// Checks the parameters.
    pub(crate) fn check(&self) -> Result<()> {
        self.check_ranges()?;
        if (self.penalty, self.loss) == (Penalty::L1, Loss::Hinge) {
            let expected = "'squared_hinge' with the l1 penalty";
            return Err(Error::param(NAME, "loss", expected, "'hinge'"));
        }
        Ok(())
    }
}

/// The optimization problem of a binary SVM.
pub(crate) struct Problem {
    /// +1 or -1 for each row.
    pub(crate) signs: Vec<f64>,
    /// $C$ for each row.
    pub(crate) c: Vec<f64>,
    /// The fraction of rows in the smaller class, by which LIBLINEAR scales the tolerance.
    pub(crate) minority_fraction: f64,
}

fn minority_fraction(classes: &Classes, class: usize, weights: Weights) -> f64 {
    let positive = classes.weighted_counts(weights)[class];
    let total = weights.total(classes.codes.len());
    positive.min(total - positive).max(f64::EPSILON * total) / total
}

struct Solved {
    w: Vec<f64>,
    descent: Convergence,
    objective: f64,
}

/// The outcome of several optimizations: converged if all did, with the largest number of passes.
pub(crate) fn outcome(all: impl Iterator<Item = Convergence>) -> Outcome {
    let worst = all.fold(Convergence { iterations: 0, converged: true }, |a, b| Convergence {
        iterations: a.iterations.max(b.iterations),
        converged: a.converged && b.converged,
    });
    let stop = if worst.converged { Stop::Tolerance } else { Stop::MaxIterations };
    Outcome { stop, iterations: worst.iterations }
}

impl LinearModel {
    /// Decision values, a row per row of `x`: one column for two classes, positive for the second; otherwise one column
    /// per class with training rows.
    pub fn decision_values(&self, x: &Rows) -> Result<Array2<f64>> {
        need_columns("columns of the rows to classify", self.weights.ncols(), x.d())?;
        let mut out = Array2::zeros((x.n(), self.weights.nrows()));
        for ((i, k), value) in out.indexed_iter_mut() {
            let w = self.weights.row(k);
            let product: f64 = match x {
                Rows::Dense(x) => x.row(i).dot(&w),
                Rows::Sparse(x) => {
                    let (columns, values) = x.row(i);
                    columns.iter().zip(values).map(|(&j, v)| v * w[j as usize]).sum()
                }
            };
            *value = product + self.bias[k];
        }
        Ok(out)
    }

    /// A score per class, larger for a more likely class; minus infinity for classes without training rows.
    pub fn class_scores(&self, x: &Rows) -> Result<Array2<f64>> {
        let values = self.decision_values(x)?;
        let mut out = Array2::from_elem((x.n(), self.class_names.len()), f64::NEG_INFINITY);
        for (mut out, values) in out.rows_mut().into_iter().zip(values.rows()) {
            for (k, &class) in self.present.iter().enumerate() {
                // With two classes the score of the first is the negative of the second.
                out[class] = match values.len() {
                    1 if k == 0 => -values[0],
                    1 => values[0],
                    _ => values[k],
                };
            }
        }
        Ok(out)
    }

    /// The class of each row, as an index into the class names.
    pub fn predict(&self, x: &Rows) -> Result<Vec<usize>> {
        let values = self.decision_values(x)?;
        let class = |row: ndarray::ArrayView1<f64>| {
            if row.len() == 1 {
                return self.present[usize::from(row[0] > 0.0)];
            }
            let best = (1..row.len()).fold(0, |best, k| if row[k] > row[best] { k } else { best });
            self.present[best]
        };
        Ok(values.rows().into_iter().map(class).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    fn pair() -> Dataset {
        Dataset::labeled(array![[-1.0], [1.0]], vec![0, 1]).unwrap()
    }

    #[test]
    fn two_points_match_closed_form() {
        let ctx = Context::default();
        let fit = |penalty, loss, c| {
            let svm =
                LinearSvm { penalty, loss, c, fit_intercept: false, tol: 1e-10, ..LinearSvm::default() };
            let model = svm.fit(&pair(), &ctx).unwrap();
            (model.weights[[0, 0]], model.objectives[0])
        };
        let near = |a: (f64, f64), b: (f64, f64)| (a.0 - b.0).abs() < 1e-8 && (a.1 - b.1).abs() < 1e-8;
        // w^2 / 2 + 2 C (1 - w)^2 has its minimum at 4 C / (1 + 4 C): 0.8 for C = 1, and 0.32 + 0.08.
        assert!(near(fit(Penalty::L2, Loss::SquaredHinge, 1.0), (0.8, 0.4)));
        // w^2 / 2 + 2 C (1 - w) falls up to w = min(1, 2 C).
        assert!(near(fit(Penalty::L2, Loss::Hinge, 0.25), (0.5, 0.125 + 0.25)));
        assert!(near(fit(Penalty::L2, Loss::Hinge, 10.0), (1.0, 0.5)));
        // |w| + 2 C (1 - w)^2: 1 = 4 C (1 - w), so w = 0.75 for C = 1, and 0 up to C = 1/4.
        assert!(near(fit(Penalty::L1, Loss::SquaredHinge, 1.0), (0.75, 0.75 + 0.125)));
        assert!(near(fit(Penalty::L1, Loss::SquaredHinge, 0.25), (0.0, 0.5)));
    }

    #[test]
    fn overflow_is_an_error() {
        let data = Dataset::labeled(array![[-1e200], [1e200]], vec![0, 1]).unwrap();
        for penalty in [Penalty::L2, Penalty::L1] {
            let svm = LinearSvm { penalty, ..LinearSvm::default() };
            let error = svm.fit(&data, &Context::default()).unwrap_err().to_string();
            assert!(error.contains("kernel values overflow; scale the features"), "{error}");
        }
    }

    #[test]
    fn memory_counts_the_columns_of_every_parallel_problem() {
        let data = Dataset::labeled(array![[1.0], [2.0], [3.0], [4.0]], vec![0, 1, 2, 2]).unwrap();
        let fit = |memory_limit| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
            let svm = LinearSvm { penalty: Penalty::L1, ..LinearSvm::default() };
            pool.install(|| svm.fit(&data, &Context { memory_limit, ..Context::default() })).map(|_| ())
        };
        // Two of three problems at once: 4 values and 4 for the intercept each, 12 bytes a value.
        assert!(fit(2 * 96).is_ok());
        assert!(matches!(fit(2 * 96 - 1), Err(Error::Memory { needed: 192, .. })));
    }

    #[test]
    fn l1_penalty_with_hinge_loss_is_an_error() {
        let svm = LinearSvm { penalty: Penalty::L1, loss: Loss::Hinge, ..LinearSvm::default() };
        let error = svm.fit(&pair(), &Context::default()).unwrap_err().to_string();
        assert!(error.contains("'loss' must be 'squared_hinge' with the l1 penalty"), "{error}");
    }
}
