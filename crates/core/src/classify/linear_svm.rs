//! Linear support vector machines, without a kernel: weights for columns, however many rows there are.
//!
//! $$ \min_{w} \lVert w \rVert + \sum_i C_i \ell(1 - y_i \langle w, x_i \rangle) $$
//!
//! with $\tfrac12 \lVert w \rVert_2^2$ or $\lVert w \rVert_1$ as the norm and $\max(0, b)$ or its square as $\ell$. A column of
//! ones stands for the constant, whose weight is part of the norm. Two classes: one machine, above zero for
//! the second class. More: a machine per class against the rest, and the largest value wins. The weight of a class
//! counts in its own machine; the rest count as they are.
//!
//! Cost: a few dozen to a few thousand passes over the cells, more the larger $C$ and the scales of columns.
//!
//! Reference: Fan, Chang, Hsieh, Wang and Lin, *LIBLINEAR*, 2008; Hsieh and others, *A dual coordinate descent method
//! for large-scale linear SVM*, 2008; Yuan, Chang, Hsieh and Lin, *A comparison of optimization methods for large-scale
//! L1-regularized linear classification*, 2010.

use super::svm::{ClassWeight, need_finite};
use crate::context::Context;
use crate::data::{Classes, Dataset, Rows};
use crate::error::{Error, Result, need_columns};
use crate::optim::{
    Descent, RowProducts, SparseColumns, Sweeps, dual_descent, l1_descent, l1_margins, l1_objective,
};
use crate::outcome::{Outcome, Stop};
use crate::random::Rng;
use crate::simd::{add_scaled, dot};
use ndarray::{Array1, Array2};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

const NAME: &str = "linear SVM";

/// What keeps weights small.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Penalty {
    /// Half the sum of squares.
    L2,
    /// The sum of sizes, which leaves many weights exactly zero. Only with the squared hinge.
    L1,
}

/// What a row costs that the margin does not clear.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    /// $\max(0, b)$
    Hinge,
    /// $\max(0, b)^2$
    SquaredHinge,
}

/// A linear support vector machine; see the module's text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LinearSvm {
    /// $C$: the price of a row that the margin does not clear, above 0.
    pub c: f64,
    /// What keeps weights small.
    pub penalty: Penalty,
    /// What a row costs.
    pub loss: Loss,
    /// Whether there is a constant.
    pub intercept: bool,
    /// What $C$ is multiplied by for rows of each class.
    pub class_weight: ClassWeight,
    /// The violation of the optimality conditions that is let pass, above 0; see [`crate::optim`].
    pub tol: f64,
    /// Most sweeps over rows or columns, 1 or more.
    pub max_iter: usize,
}

impl Default for LinearSvm {
    /// L2 penalty, squared hinge, $C = 1$, as scikit-learn has it.
    fn default() -> Self {
        Self {
            c: 1.0,
            penalty: Penalty::L2,
            loss: Loss::SquaredHinge,
            intercept: true,
            class_weight: ClassWeight::None,
            tol: 1e-4,
            max_iter: 1000,
        }
    }
}

/// Weights and constants, a row per machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LinearModel {
    /// Weights of the columns.
    pub weights: Array2<f64>,
    /// Constants.
    pub bias: Array1<f64>,
    /// What each machine minimised: its norm plus its losses.
    pub objectives: Vec<f64>,
    /// What the classes are called.
    pub class_names: Vec<String>,
    /// The classes that had rows, rising: one machine for each, or one for all if there are two.
    pub present: Vec<usize>,
    /// How it ended: sweeps of the machine that took most.
    pub outcome: Outcome,
}

impl LinearSvm {
    /// Learns from dense or sparse rows.
    pub fn fit(&self, data: &Dataset, ctx: &Context) -> Result<LinearModel> {
        data.need_complete(NAME)?;
        let classes = data.classes(NAME)?;
        self.check()?;
        let problems = self.problems(classes)?;
        need_finite_rows(NAME, data.x())?;
        let bytes = match self.penalty {
            Penalty::L2 => 16.0 * stored_cells(data.x()),
            // Every machine has its own signs, and so its own columns; as many run as there are threads.
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
            weights: Array2::from_shape_fn((solved.len(), data.d()), |(k, j)| solved[k].w[j]),
            bias: solved.iter().map(|s| if self.intercept { s.w[data.d()] } else { 0.0 }).collect(),
            objectives: solved.iter().map(|s| s.objective).collect(),
            class_names: classes.names.clone(),
            present: super::svm::present(classes, &(0..data.n()).collect::<Vec<_>>()),
            outcome: outcome(solved.iter().map(|s| s.descent)),
        })
    }

    fn solve_dual(&self, x: &Rows, problem: &Problem, rng: &mut Rng, ctx: &Context) -> Result<Solved> {
        let rows = WithConstant { x, constant: self.intercept };
        let squared = self.loss == Loss::SquaredHinge;
        let mut alpha = vec![0.0; x.n()];
        let d = x.d() + usize::from(self.intercept);
        let Problem { signs, prices } = problem;
        let (w, descent) =
            dual_descent(&rows, d, signs, prices, squared, &mut alpha, self.sweeps(1.0), rng, ctx)?;
        let losses: f64 = (0..x.n())
            .map(|i| {
                let b = (1.0 - signs[i] * rows.product(i, &w)).max(0.0);
                prices[i] * if squared { b * b } else { b }
            })
            .sum();
        let objective = 0.5 * dot(&w, &w) + losses;
        Ok(Solved { w, descent, objective })
    }

    fn solve_l1(&self, x: &Rows, problem: &Problem, rng: &mut Rng, ctx: &Context) -> Result<Solved> {
        let columns = signed_columns(x, &problem.signs, self.intercept);
        let mut w = vec![0.0; columns.len()];
        let sweeps = self.sweeps(problem.smaller_share());
        let descent = l1_descent(&columns, &problem.prices, &mut w, sweeps, rng, ctx)?;
        let margin = l1_margins(&columns, x.n(), &w);
        let objective = l1_objective(&problem.prices, &margin, &w);
        Ok(Solved { w, descent, objective })
    }

    fn sweeps(&self, factor: f64) -> Sweeps {
        Sweeps { tolerance: self.tol * factor, max_iterations: self.max_iter }
    }

    /// A problem per machine.
    pub(crate) fn problems(&self, classes: &Classes) -> Result<Vec<Problem>> {
        let factors = self.class_weight.factors(classes)?;
        let present = super::svm::present(classes, &(0..classes.codes.len()).collect::<Vec<_>>());
        let two = present.len() == 2;
        let positive = if two { &present[1..] } else { &present[..] };
        let problem = |&class: &usize| {
            let price = |&c: &usize| self.c * if two || c == class { factors[c] } else { 1.0 };
            Problem {
                signs: classes.codes.iter().map(|&c| if c == class { 1.0 } else { -1.0 }).collect(),
                prices: classes.codes.iter().map(price).collect(),
            }
        };
        Ok(positive.iter().map(problem).collect())
    }

    /// Refuses parameters that are wrong whatever the data are.
    pub(crate) fn check(&self) -> Result<()> {
        for (name, value) in [("C", self.c), ("tol", self.tol)] {
            if !(value > 0.0 && value.is_finite()) {
                return Err(Error::param(NAME, name, "a positive finite number", value));
            }
        }
        if self.max_iter == 0 {
            return Err(Error::param(NAME, "max_iter", "1 or more", 0));
        }
        if (self.penalty, self.loss) == (Penalty::L1, Loss::Hinge) {
            let expected = "'squared-hinge' with the l1 penalty";
            return Err(Error::param(NAME, "loss", expected, "'hinge'"));
        }
        Ok(())
    }
}

/// One machine's signs and prices.
pub(crate) struct Problem {
    pub(crate) signs: Vec<f64>,
    pub(crate) prices: Vec<f64>,
}

impl Problem {
    /// Share of the rows on the side that has fewer: tolerances are for balanced sides.
    pub(crate) fn smaller_share(&self) -> f64 {
        let positive = self.signs.iter().filter(|s| **s > 0.0).count();
        positive.min(self.signs.len() - positive).max(1) as f64 / self.signs.len() as f64
    }
}

struct Solved {
    w: Vec<f64>,
    descent: Descent,
    objective: f64,
}

/// How the worst of several ended, with the most sweeps.
pub(crate) fn outcome(all: impl Iterator<Item = Descent>) -> Outcome {
    let worst = all.fold(Descent { iterations: 0, converged: true }, |a, b| Descent {
        iterations: a.iterations.max(b.iterations),
        converged: a.converged && b.converged,
    });
    let stop = if worst.converged { Stop::Tolerance } else { Stop::MaxIterations };
    Outcome { stop, iterations: worst.iterations }
}

/// Rows with a column of ones behind the others.
struct WithConstant<'a> {
    x: &'a Rows,
    constant: bool,
}

impl RowProducts for WithConstant<'_> {
    fn n(&self) -> usize {
        self.x.n()
    }

    fn square(&self, i: usize) -> f64 {
        let square: f64 = match self.x {
            Rows::Dense(x) => x.row(i).iter().map(|v| v * v).sum(),
            Rows::Sparse(x) => x.row(i).1.iter().map(|v| v * v).sum(),
        };
        square + f64::from(u8::from(self.constant))
    }

    fn product(&self, i: usize, w: &[f64]) -> f64 {
        let product = match self.x {
            Rows::Dense(x) => match x.row(i).to_slice() {
                Some(row) => dot(row, &w[..row.len()]),
                None => x.row(i).iter().zip(w).map(|(v, w)| v * w).sum(),
            },
            Rows::Sparse(x) => {
                let (columns, values) = x.row(i);
                columns.iter().zip(values).map(|(&j, v)| v * w[j as usize]).sum()
            }
        };
        if self.constant { product + w[self.x.d()] } else { product }
    }

    fn add(&self, i: usize, s: f64, w: &mut [f64]) {
        match self.x {
            Rows::Dense(x) => match x.row(i).to_slice() {
                Some(row) => add_scaled(&mut w[..row.len()], s, row),
                None => x.row(i).iter().zip(w.iter_mut()).for_each(|(v, w)| *w += s * v),
            },
            Rows::Sparse(x) => {
                let (columns, values) = x.row(i);
                columns.iter().zip(values).for_each(|(&j, v)| w[j as usize] += s * v);
            }
        }
        if self.constant {
            w[self.x.d()] += s;
        }
    }
}

/// Refuses rows whose squares add up to more than a number holds.
pub(crate) fn need_finite_rows(step: &'static str, x: &Rows) -> Result<()> {
    let mut sum = 0.0;
    each_cell(x, |_, _, v| sum += v * v);
    need_finite(step, std::iter::once(sum))
}

fn stored_cells(x: &Rows) -> f64 {
    match x {
        Rows::Dense(x) => x.len() as f64,
        Rows::Sparse(x) => x.n_stored() as f64,
    }
}

/// Bytes of [`signed_columns`]: a row and a number for each cell and each cell of the constant.
pub(crate) fn signed_bytes(x: &Rows) -> f64 {
    12.0 * (stored_cells(x) + x.n() as f64)
}

/// Columns times signs, with one for the constant behind the others.
pub(crate) fn signed_columns(x: &Rows, signs: &[f64], constant: bool) -> SparseColumns {
    let mut count = vec![0usize; x.d()];
    each_cell(x, |_, j, _| count[j] += 1);
    let mut start = vec![0];
    count.iter().for_each(|c| start.push(start[start.len() - 1] + c));
    let cells = start[x.d()];
    let room = cells + if constant { x.n() } else { 0 };
    let (mut row, mut value) = (Vec::with_capacity(room), Vec::with_capacity(room));
    row.resize(cells, 0u32);
    value.resize(cells, 0.0);
    let mut next = start.clone();
    each_cell(x, |i, j, v| {
        row[next[j]] = i as u32;
        value[next[j]] = signs[i] * v;
        next[j] += 1;
    });
    if constant {
        row.extend(0..x.n() as u32);
        value.extend(signs);
        start.push(row.len());
    }
    SparseColumns { start, row, value }
}

/// Visits all cells that are not zero.
fn each_cell(x: &Rows, mut visit: impl FnMut(usize, usize, f64)) {
    match x {
        Rows::Dense(x) => {
            x.indexed_iter().filter(|(_, v)| **v != 0.0).for_each(|((i, j), &v)| visit(i, j, v));
        }
        Rows::Sparse(x) => x.cells().filter(|c| c.2 != 0.0).for_each(|(i, j, v)| visit(i, j, v)),
    }
}

impl LinearModel {
    /// The value of every machine, a row per row: one column for two classes, above zero for the second; else
    /// one per class that had rows.
    pub fn values(&self, x: &Rows) -> Result<Array2<f64>> {
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

    /// A number per class, larger for the likelier one; minus infinity for classes that had no rows.
    pub fn class_scores(&self, x: &Rows) -> Result<Array2<f64>> {
        let values = self.values(x)?;
        let mut out = Array2::from_elem((x.n(), self.class_names.len()), f64::NEG_INFINITY);
        for (mut out, values) in out.rows_mut().into_iter().zip(values.rows()) {
            for (k, &class) in self.present.iter().enumerate() {
                // One machine stands for two classes: what speaks for one speaks against the other.
                out[class] = match values.len() {
                    1 if k == 0 => -values[0],
                    1 => values[0],
                    _ => values[k],
                };
            }
        }
        Ok(out)
    }

    /// The class of each row, a place in the classes' names.
    pub fn predict(&self, x: &Rows) -> Result<Vec<usize>> {
        let values = self.values(x)?;
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
    fn two_points_by_hand() {
        let ctx = Context::default();
        let fit = |penalty, loss, c| {
            let svm = LinearSvm { penalty, loss, c, intercept: false, tol: 1e-10, ..LinearSvm::default() };
            let model = svm.fit(&pair(), &ctx).unwrap();
            (model.weights[[0, 0]], model.objectives[0])
        };
        let near = |a: (f64, f64), b: (f64, f64)| (a.0 - b.0).abs() < 1e-8 && (a.1 - b.1).abs() < 1e-8;
        // w^2 / 2 + 2 C (1 - w)^2 is least at 4 C / (1 + 4 C): 0.8 for C = 1, and 0.32 + 0.08.
        assert!(near(fit(Penalty::L2, Loss::SquaredHinge, 1.0), (0.8, 0.4)));
        // w^2 / 2 + 2 C (1 - w) falls up to w = min(1, 2 C).
        assert!(near(fit(Penalty::L2, Loss::Hinge, 0.25), (0.5, 0.125 + 0.25)));
        assert!(near(fit(Penalty::L2, Loss::Hinge, 10.0), (1.0, 0.5)));
        // |w| + 2 C (1 - w)^2: 1 = 4 C (1 - w), so w = 0.75 for C = 1, and 0 up to C = 1/4.
        assert!(near(fit(Penalty::L1, Loss::SquaredHinge, 1.0), (0.75, 0.75 + 0.125)));
        assert!(near(fit(Penalty::L1, Loss::SquaredHinge, 0.25), (0.0, 0.5)));
    }

    #[test]
    fn squares_that_are_no_numbers_are_refused() {
        let data = Dataset::labeled(array![[-1e200], [1e200]], vec![0, 1]).unwrap();
        for penalty in [Penalty::L2, Penalty::L1] {
            let svm = LinearSvm { penalty, ..LinearSvm::default() };
            let error = svm.fit(&data, &Context::default()).unwrap_err().to_string();
            assert!(error.contains("too large for a number; scale the columns"), "{error}");
        }
    }

    #[test]
    fn every_machine_at_work_needs_its_own_columns() {
        let data = Dataset::labeled(array![[1.0], [2.0], [3.0], [4.0]], vec![0, 1, 2, 2]).unwrap();
        let fit = |memory_limit| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
            let svm = LinearSvm { penalty: Penalty::L1, ..LinearSvm::default() };
            pool.install(|| svm.fit(&data, &Context { memory_limit, ..Context::default() })).map(|_| ())
        };
        // Two of three machines at once: 4 cells and 4 of the constant each, 12 bytes a cell.
        assert!(fit(2 * 96).is_ok());
        assert!(matches!(fit(2 * 96 - 1), Err(Error::Memory { needed: 192, .. })));
    }

    #[test]
    fn impossible_pairs_are_refused() {
        let svm = LinearSvm { penalty: Penalty::L1, loss: Loss::Hinge, ..LinearSvm::default() };
        let error = svm.fit(&pair(), &Context::default()).unwrap_err().to_string();
        assert!(error.contains("'loss' must be 'squared-hinge' with the l1 penalty"), "{error}");
    }
}
