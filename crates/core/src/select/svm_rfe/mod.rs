//! SVM-RFE: recursive feature elimination by the weights of a support vector machine.
//!
//! Each round trains an SVM on the remaining features and removes the least important ones, until one remains. The
//! importance of a feature is the change of $\lVert w \rVert^2 = \sum_{ik} \beta_i \beta_k K_{ik}$ when it is
//! removed and the coefficients stay fixed, summed over the binary SVMs of all pairs of classes:
//!
//! $$ \text{linear: } \sum_p w_{pj}^2 \qquad
//!    \text{RBF: } \sum_p \Bigl| \sum_{ik} \beta_i \beta_k \bigl( K_{ik} - K_{ik} e^{\gamma (x_{ij} - x_{kj})^2} \bigr) \Bigr| $$
//!
//! The linear form ranks like scikit-learn's `RFE(SVC(kernel="linear"))`. Departures: elimination always continues
//! to the last feature, so that the ranking is complete and a smaller number selects the first of a larger one; the
//! SVM is solved to a tolerance of 1e-6, because the stopping point decides between features of nearly equal
//! weight; gamma of the RBF kernel is set once, on all features. By default (`auto`) the method selects half of the
//! features, as scikit-learn does: the training error is not a suitable stopping criterion.
//!
//! Squared distances or inner products of all samples are cached, and the contribution of a feature is subtracted
//! when it is removed. Each SVM is warm-started from the previous one, and its last steps are replaced by solving
//! the linear equations of the free coefficients ([`crate::optim::polish`]). A linear SVM needs no cached products
//! once there are fewer features than samples, see [`linear`].
//!
//! Cost: for every round $O(n^2)$ per removed feature, plus a warm-started SVM, plus $O(s d)$ (linear) or $O(s^2
//! d)$ (RBF) for $s$ support vectors; linear with fewer features than samples $O(n d + d^2)$ for each of the few
//! coefficients that move to or from a bound, and $O(d^3)$. Memory: two $n \times n$ matrices.
//!
//! Reference: Guyon, Weston, Barnhill and Vapnik, *Gene selection for cancer classification using support vector
//! machines*, 2002.

mod linear;
#[cfg(test)]
mod tests;

use super::selector::{FeatureCount, Selection, Selector};
use crate::classify::{ClassWeight, PairTask, need_finite, vote};
use crate::context::Context;
use crate::data::{Classes, Dataset, Rows, is_constant};
use crate::error::{Error, Result};
use crate::kernel::{Family, Gamma, Kernel, KernelChoice, gram_symmetric};
use crate::linalg::product_bytes;
use crate::method::{Info, Needs};
use crate::optim::{BlockColumns, KernelColumns, PairProblem, PairStart, Products, Smo, SmoSolution, polish};
use crate::outcome::{Outcome, Stop};
use crate::parameters::{Kind, ParameterValue, Parameters};
use crate::simd::{add_scaled, dot, exp_scaled};
use linear::LinearRows;
use ndarray::Array2;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

const NAME: &str = "SVM-RFE";

/// Tolerance of the final solution of each SVM.
const TOLERANCE: f64 = 1e-6;
/// Tolerance of SMO before polishing takes over.
const ROUGH: f64 = 1e-2;
/// Maximum number of polishing steps.
const POLISHING: usize = 500;
/// SMO iterations per sample before polishing takes over: SMO converges slowly if features differ much in scale.
const CREEP: usize = 100;
/// Number of alternations of polishing and SMO; only `max_iter` limits the last SMO run.
const TURNS: usize = 3;
/// Recompute cached products or distances once the number of features has dropped by this factor, which limits
/// rounding error.
const WORN: usize = 32;
/// Recompute instead of subtracting a feature whose largest square exceeds that of the remaining features by this
/// factor: the rounding error of the subtraction would dominate.
const DWARFS: f64 = 1e4;

/// The default kernel.
const LINEAR: KernelChoice =
    KernelChoice::Named { family: Family::Linear, gamma: Gamma::Scale, degree: 3, coef0: 0.0 };

/// How many features to remove in each round. Serialized as a number: a fraction below 1, a count from 1 on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub enum Step {
    /// This many, 1 or more.
    Count(usize),
    /// This fraction of all features, between 0 and 1; at least one.
    Fraction(f64),
}

impl TryFrom<f64> for Step {
    type Error = &'static str;

    fn try_from(step: f64) -> std::result::Result<Self, &'static str> {
        match step {
            _ if step > 0.0 && step < 1.0 => Ok(Self::Fraction(step)),
            _ if step >= 1.0 && step.fract() == 0.0 && step < 1e15 => Ok(Self::Count(step as usize)),
            _ => Err("a step is an integer from 1, or a fraction between 0 and 1"),
        }
    }
}

impl From<Step> for f64 {
    fn from(step: Step) -> Self {
        match step {
            Step::Count(count) => count as Self,
            Step::Fraction(fraction) => fraction,
        }
    }
}

impl ParameterValue for Step {
    fn kinds() -> Vec<Kind> {
        vec![Kind::Integer, Kind::Real]
    }

    fn number(&self) -> Option<f64> {
        Some((*self).into())
    }
}

crate::parameters! {
    /// Recursive feature elimination by an SVM.
    #[derive(PartialEq)]
    pub struct SvmRfe as "SVM-RFE" {
        /// The kernel, linear or rbf.
        pub kernel: KernelChoice = LINEAR;
        /// Regularization parameter of the SVM.
        pub c as "C": f64 = 1.0, above(0);
        /// Features to remove in each round: a number, or a fraction (below 1) of all features.
        pub step: Step = Step::Count(1), above(0);
        /// Weights of the classes.
        pub class_weight: ClassWeight = ClassWeight::None;
        /// Maximum number of iterations of the SVM solver; none is ten million, or a hundred per sample if that is
        /// more.
        pub max_iter: Option<usize> = None, at_least(1);
    }
}

impl SvmRfe {
    /// Trains the SVM of one pair of classes.
    fn machine<K: KernelColumns + Products>(
        &self,
        task: &PairTask,
        columns: &mut K,
        start: Option<&[f64]>,
        ctx: &Context,
    ) -> Result<SmoSolution> {
        let smo = |tolerance, max_iterations| Smo { tolerance, max_iterations, shrinking: true };
        let bounds: Vec<f64> = task.weights.iter().map(|w| w * self.c).collect();
        let problem = PairProblem { signs: &task.signs, bounds: &bounds, start: None };
        let few = CREEP * task.rows.len();
        let limited = |steps: usize| self.max_iter.map_or(steps, |most| steps.min(most));
        let (few, polishing) = (limited(few), limited(POLISHING));
        // A warm start is already close to the solution.
        let mut near = match start {
            Some(start) => (start.to_vec(), left_of_labels(task, columns, start)),
            None => {
                let found = smo(ROUGH, few).solve(&problem, columns, ctx)?;
                (found.coefficients, found.residual)
            }
        };
        for turn in 1.. {
            let better = polish(&problem, columns, (&near.0, &near.1), TOLERANCE, polishing, ctx)?;
            let problem = PairProblem { start: Some(PairStart::at(&better)), ..problem };
            let steps = if turn < TURNS { few } else { self.max_iter.unwrap_or(0) };
            let found = smo(TOLERANCE, steps).solve(&problem, columns, ctx)?;
            if found.converged || turn == TURNS {
                return Ok(found);
            }
            near = (found.coefficients, found.residual);
        }
        unreachable!("the last turn returns")
    }

    fn per_round(&self, d: usize) -> usize {
        match self.step {
            Step::Count(n) => n,
            Step::Fraction(share) => ((share * d as f64) as usize).max(1),
        }
    }
}

impl SvmRfe {
    /// What to know before using it.
    pub const INFO: Info = Info {
        name: "svm-rfe",
        title: "SVM-RFE",
        summary: "Features that a support vector machine needs most; the others are eliminated step by step",
        needs: Needs::Classes,
        cost: "O(n² d) time and an SVM fit per round, O(n²) memory",
        reference: "Guyon et al., 2002",
    };
}

impl Selector for SvmRfe {
    fn info(&self) -> &'static Info {
        &Self::INFO
    }

    fn check_classes(&self, classes: &Classes) -> Result<()> {
        self.check_ranges()?;
        match self.step {
            Step::Fraction(share) if !(share > 0.0 && share < 1.0) => {
                return Err(Error::param(NAME, "step", "a share between 0 and 1", share));
            }
            _ => {}
        }
        self.class_weight.factors(classes)?;
        self.kernel.validate()?;
        let suits = match &self.kernel {
            KernelChoice::Named { family, .. } => matches!(family, Family::Linear | Family::Rbf),
            KernelChoice::Fixed(kernel) => matches!(kernel, Kernel::Linear | Kernel::Rbf { .. }),
        };
        if suits {
            return Ok(());
        }
        Err(Error::param(NAME, "kernel", "linear or rbf", "another kernel"))
    }

    fn select(&self, data: &Dataset, wanted: FeatureCount, ctx: &Context) -> Result<Selection> {
        data.need_complete(NAME)?;
        let classes = data.classes(NAME)?;
        self.check_classes(classes)?;
        let d = data.d();
        let wanted = wanted.resolve(NAME, d)?;
        let kernel = self.kernel.resolve(data.x(), ctx)?;
        let bytes = bytes_of(&kernel, data.n(), d, classes);
        ctx.need_memory(format!("SVM-RFE of {} rows", data.n()), bytes, "use fewer rows")?;
        let mut elimination = Elimination::new(self, &kernel, data, classes)?;
        let rounds = elimination.run(self.per_round(d), ctx)?;
        Ok(elimination.selection(wanted.unwrap_or((d / 2).max(1)), rounds))
    }
}

/// Bytes of a run.
fn bytes_of(kernel: &Kernel, n: usize, d: usize, classes: &Classes) -> f64 {
    let (n, d, k) = (n as f64, d as f64, classes.n_present());
    if kernel != &Kernel::Linear {
        // The features; distances, kernel values, and their part for one pair of classes.
        return 8.0 * (n * d + 3.0 * n * n) + product_bytes();
    }
    // One SVM per pair of classes: their samples, and their samples squared.
    let own: f64 = classes.counts().iter().map(|&rows| (rows * rows) as f64).sum();
    let (rows, squares) = ((k as f64 - 1.0) * n, n * n + (k as f64 - 2.0) * own);
    let columns = if rows * d <= n * n {
        // The features, and those of every SVM in row-major and column-major order.
        n * d + 2.0 * rows * d
    } else {
        // The features and a copy; SVMs have copies once few features remain.
        2.0 * n * d
    };
    // Products of all samples, or of the samples of every SVM with those requested, which are most of them.
    8.0 * (columns + 0.8 * squares) + product_bytes()
}

/// The state of the elimination.
struct Elimination<'a> {
    method: &'a SvmRfe,
    classes: &'a Classes,
    /// Gamma, for RBF.
    gamma: Option<f64>,
    /// The values of each feature, contiguous.
    columns: Vec<Vec<f64>>,
    /// The largest square of each feature.
    largest: Vec<f64>,
    /// Whether each feature is constant.
    constant: Vec<bool>,
    left: Vec<usize>,
    /// Inner products or squared distances of all samples over the remaining features.
    pairs: Array2<f64>,
    /// Number of features when `pairs` was last recomputed.
    fresh: usize,
    /// The samples of every task, once linear SVMs do not need `pairs`.
    linear: Option<Vec<LinearRows>>,
    tasks: Vec<PairTask>,
    solutions: Vec<SmoSolution>,
    /// Removed features in order of removal, and the round of each.
    gone: Vec<(usize, usize)>,
    curve: Vec<f64>,
    converged: bool,
}

impl<'a> Elimination<'a> {
    fn new(method: &'a SvmRfe, kernel: &Kernel, data: &Dataset, classes: &'a Classes) -> Result<Self> {
        let gamma = match kernel {
            Kernel::Rbf { gamma } => Some(*gamma),
            _ => None,
        };
        let (mean, spread) = data.x().moments();
        let constant = (0..data.d()).map(|j| is_constant(mean[j], spread[j])).collect();
        let rows: Vec<usize> = (0..data.n()).collect();
        let mut columns = transposed(data.x());
        if !data.x().is_sparse() {
            // Distances do not depend on the origin, nor do the weights, because coefficients sum to zero.
            // Centering avoids rounding error from a large offset.
            columns.iter_mut().zip(&mean).for_each(|(c, m)| c.iter_mut().for_each(|v| *v -= m));
        }
        let largest = columns.iter().map(|c| c.iter().fold(0.0_f64, |a, v| a.max(v * v))).collect();
        let mut run = Self {
            method,
            classes,
            gamma,
            columns,
            largest,
            constant,
            left: (0..data.d()).collect(),
            pairs: Array2::zeros((0, 0)),
            fresh: 0,
            linear: None,
            tasks: PairTask::all(classes, &rows, &method.class_weight)?,
            solutions: vec![],
            gone: vec![],
            curve: vec![],
            converged: true,
        };
        run.choose_form();
        if run.linear.is_none() {
            run.rebuild()?;
        } else {
            let squares = |i: usize| run.columns.iter().map(|c| c[i] * c[i]).sum::<f64>();
            need_finite(NAME, (0..data.n()).map(squares))?;
        }
        Ok(run)
    }

    /// Eliminates features until one remains.
    fn run(&mut self, per_round: usize, ctx: &Context) -> Result<usize> {
        let total = self.left.len().div_ceil(per_round);
        let mut round = 0;
        loop {
            ctx.step("SVM-RFE", round, total)?;
            round += 1;
            self.choose_form();
            let k = if self.linear.is_some() { None } else { Some(self.kernel_values()) };
            self.train(k.as_ref(), ctx)?;
            self.curve.push(self.training_error(k.as_ref()));
            // A linear kernel is the products themselves; put them back, to subtract features from them.
            if let (None, Some(k)) = (self.gamma, k) {
                self.pairs = k;
            }
            if self.left.len() == 1 {
                return Ok(round);
            }
            let matters = self.how_much_each_matters(ctx)?;
            let mut order: Vec<usize> = (0..self.left.len()).collect();
            // Ties are broken by column order: the later feature is removed first. Constant features are removed
            // before all others, even those of weight 0.
            let key = |at: usize| if self.constant[self.left[at]] { -1.0 } else { matters[at] };
            order.sort_by(|&a, &b| key(a).total_cmp(&key(b)).then(b.cmp(&a)));
            order.truncate(per_round.min(self.left.len() - 1));
            let leaving: Vec<usize> = order.iter().map(|&at| self.left[at]).collect();
            self.gone.extend(leaving.iter().map(|&j| (j, round)));
            self.left.retain(|j| !leaving.contains(j));
            self.take_away(&leaving)?;
        }
    }

    /// Linear SVMs stop using products of all samples as soon as the samples themselves take less memory.
    fn choose_form(&mut self) {
        let rows: usize = self.tasks.iter().map(|task| task.rows.len()).sum();
        let suits = self.gamma.is_none() && rows * self.left.len() <= self.classes.codes.len().pow(2);
        if self.linear.is_none() && suits {
            let of_task = |task: &PairTask| LinearRows::new(&self.columns, &self.left, &task.rows);
            self.linear = Some(self.tasks.iter().map(of_task).collect());
            self.pairs = Array2::zeros((0, 0));
        }
    }

    /// Trains one SVM per pair of classes, warm-started; on kernel values, or on linear rows.
    fn train(&mut self, k: Option<&Array2<f64>>, ctx: &Context) -> Result<()> {
        let (method, before) = (self.method, &self.solutions);
        let start = |p: usize| before.get(p).map(|s| &s.coefficients[..]);
        let found: Result<Vec<SmoSolution>> = match (k, &mut self.linear) {
            (None, Some(linear)) => (linear.par_iter_mut().zip(&self.tasks).enumerate())
                .map(|(p, (rows, task))| method.machine(task, rows, start(p), ctx))
                .collect(),
            (Some(k), _) => (self.tasks.par_iter().enumerate())
                .map(|(p, task)| {
                    method.machine(task, &mut BlockColumns::new(k.view(), &task.rows), start(p), ctx)
                })
                .collect(),
            (None, None) => unreachable!("a form was chosen"),
        };
        self.solutions = found?;
        self.converged &= self.solutions.iter().all(|s| s.converged);
        Ok(())
    }

    /// Kernel values over the remaining features. For a linear kernel this moves the products out.
    fn kernel_values(&mut self) -> Array2<f64> {
        let Some(gamma) = self.gamma else { return std::mem::take(&mut self.pairs) };
        let mut k = self.pairs.clone();
        let cells = k.as_slice_mut().expect("laid out by rows");
        cells.par_chunks_mut(1 << 14).for_each(|cells| exp_scaled(cells, -gamma));
        k
    }

    /// The importance of every remaining feature.
    fn how_much_each_matters(&self, ctx: &Context) -> Result<Vec<f64>> {
        if let Some(linear) = &self.linear {
            let (mut sums, mut w) = (vec![0.0; self.columns.len()], vec![0.0; self.columns.len()]);
            for (rows, solution) in linear.iter().zip(&self.solutions) {
                rows.weights_by_column(&solution.coefficients, &mut w);
                self.left.iter().for_each(|&j| sums[j] += w[j] * w[j]);
            }
            return Ok(self.left.iter().map(|&j| sums[j]).collect());
        }
        let each = |&j: &usize| {
            ctx.check()?;
            let column = &self.columns[j];
            Ok(self
                .tasks
                .iter()
                .zip(&self.solutions)
                .map(|(task, solution)| match self.gamma {
                    None => linear_weight(task, solution, column).powi(2),
                    Some(gamma) => self.radial_change(task, solution, column, gamma),
                })
                .sum())
        };
        self.left.par_iter().map(each).collect()
    }

    /// $|\sum_{ik} \beta_i \beta_k (K_{ik} - K_{ik}^{(-j)})|$ over the support vectors.
    fn radial_change(&self, task: &PairTask, solution: &SmoSolution, column: &[f64], gamma: f64) -> f64 {
        let count: Vec<usize> = (0..task.rows.len()).filter(|&i| solution.coefficients[i] != 0.0).collect();
        let beta: Vec<f64> = count.iter().map(|&i| solution.coefficients[i]).collect();
        let (mut with, mut without) = (vec![], vec![]);
        let mut change = 0.0;
        for (at, &i) in count.iter().enumerate() {
            let row = self.pairs.row(task.rows[i]);
            let here = column[task.rows[i]];
            with.clear();
            with.extend(count[..at].iter().map(|&k| row[task.rows[k]]));
            without.clear();
            // Subtraction leaves rounding errors, but distances cannot be negative.
            without.extend(
                count[..at]
                    .iter()
                    .zip(&with)
                    .map(|(&k, distance)| (distance - (here - column[task.rows[k]]).powi(2)).max(0.0)),
            );
            exp_scaled(&mut with, -gamma);
            exp_scaled(&mut without, -gamma);
            // The diagonal does not change, and the matrix is symmetric.
            change += 2.0 * beta[at] * (dot(&with, &beta[..at]) - dot(&without, &beta[..at]));
        }
        change.abs()
    }

    /// The training error of this round's SVMs. Without kernel values they are linear.
    fn training_error(&self, k: Option<&Array2<f64>>) -> f64 {
        let n = self.classes.codes.len();
        if let ([task], [solution]) = (&self.tasks[..], &self.solutions[..]) {
            // Two classes: the solver provides the residuals of the labels.
            let wrong = |i: &usize| {
                let value = task.signs[*i] - solution.residual[*i] + solution.bias;
                // A value of 0 is the second class.
                (value > 0.0) != (task.signs[*i] > 0.0)
            };
            return (0..n).filter(wrong).count() as f64 / n as f64;
        }
        let present: Vec<usize> = {
            let counts = self.classes.counts();
            (0..counts.len()).filter(|&c| counts[c] > 0).collect()
        };
        let of_pair = |(task, solution): (&PairTask, &SmoSolution)| -> Vec<f64> {
            let mut all = vec![0.0; n];
            task.rows.iter().zip(&solution.coefficients).for_each(|(&i, &b)| all[i] = b);
            let mut values = vec![solution.bias; n];
            match k {
                Some(k) => values.iter_mut().zip(k.rows()).for_each(|(v, row)| {
                    *v += dot(row.to_slice().expect("laid out by rows"), &all);
                }),
                None => self.left.iter().for_each(|&j| {
                    let column = &self.columns[j];
                    add_scaled(&mut values, dot(column, &all), column);
                }),
            }
            values
        };
        let values: Vec<Vec<f64>> = self.tasks.par_iter().zip(&self.solutions).map(of_pair).collect();
        let wrong = |&i: &usize| vote(&present, values.iter().map(|v| v[i])) != self.classes.codes[i];
        (0..n).filter(wrong).count() as f64 / n as f64
    }

    /// Subtracts the contribution of these features from products or distances.
    fn take_away(&mut self, leaving: &[usize]) -> Result<()> {
        if let Some(linear) = &mut self.linear {
            linear.iter_mut().for_each(|rows| rows.remove(leaving));
            return Ok(());
        }
        let largest = |columns: &[usize]| columns.iter().map(|&j| self.largest[j]).fold(0.0_f64, f64::max);
        // Recomputing is one matrix product, much faster per feature than subtracting features one by one. If few
        // are removed, rounding errors of the larger sums accumulate, to some dozen units in the last place.
        let many = leaving.len() > 1 && 4 * leaving.len() >= self.left.len();
        let worn = WORN * self.left.len() <= self.fresh;
        if many || worn || largest(leaving) > DWARFS * largest(&self.left) {
            return self.rebuild();
        }
        let (n, gamma) = (self.pairs.nrows(), self.gamma);
        for &j in leaving {
            let column = &self.columns[j];
            let cells = self.pairs.as_slice_mut().expect("laid out by rows");
            cells.par_chunks_mut(n).enumerate().with_min_len(64).for_each(|(i, row)| match gamma {
                None => add_scaled(row, -column[i], column),
                Some(_) => {
                    row.iter_mut()
                        .zip(column)
                        .for_each(|(v, x)| *v = (*v - (column[i] - x).powi(2)).max(0.0));
                }
            });
        }
        Ok(())
    }

    /// Recomputes products or squared distances from the remaining features.
    fn rebuild(&mut self) -> Result<()> {
        let n = self.classes.codes.len();
        self.fresh = self.left.len();
        let x = Array2::from_shape_fn((n, self.left.len()), |(i, at)| self.columns[self.left[at]][i]);
        let products = gram_symmetric(&Kernel::Linear, &x.into())?;
        // Distances are at most four times the largest of these.
        need_finite(NAME, products.diag().iter().copied())?;
        // Row-major: the matrix is symmetric, and was column-major.
        let mut pairs = products.reversed_axes();
        if self.gamma.is_some() {
            let columns: Vec<&[f64]> = self.left.iter().map(|&j| &self.columns[j][..]).collect();
            pairs.fill(0.0);
            let cells = pairs.as_slice_mut().expect("laid out by rows");
            cells.par_chunks_mut(n).enumerate().for_each(|(i, row)| {
                for column in &columns {
                    row.iter_mut().zip(*column).for_each(|(v, x)| *v += (column[i] - x).powi(2));
                }
            });
        }
        self.pairs = pairs;
        Ok(())
    }

    fn selection(self, n_selected: usize, rounds: usize) -> Selection {
        let mut scores = vec![0.0; self.columns.len()];
        for &(j, round) in &self.gone {
            scores[j] = if self.constant[j] { 0.0 } else { round as f64 };
        }
        scores[self.left[0]] = if self.constant[self.left[0]] { 0.0 } else { rounds as f64 };
        let order = self.left.iter().copied().chain(self.gone.iter().rev().map(|g| g.0)).collect();
        let stop = if self.converged { Stop::Requested } else { Stop::MaxIterations };
        let curve = self.curve.into_iter().rev().collect();
        let outcome = Outcome { stop, iterations: rounds };
        Selection {
            method: "svm-rfe".into(),
            order,
            scores,
            n_selected,
            curve,
            coef: None,
            path: vec![],
            outcome,
        }
    }
}

/// $y - K \beta$
fn left_of_labels(task: &PairTask, columns: &mut impl KernelColumns, coefficients: &[f64]) -> Vec<f64> {
    let weights: Vec<(usize, f64)> =
        coefficients.iter().map(|b| -b).enumerate().filter(|(_, b)| *b != 0.0).collect();
    let all: Vec<usize> = (0..task.rows.len()).collect();
    let mut left = task.signs.clone();
    columns.combine(&weights, &all, &mut left);
    left
}

/// $w_j = \sum_i \beta_i x_{ij}$
fn linear_weight(task: &PairTask, solution: &SmoSolution, column: &[f64]) -> f64 {
    task.rows.iter().zip(&solution.coefficients).map(|(&i, b)| b * column[i]).sum()
}

/// The features of all samples.
fn transposed(x: &Rows) -> Vec<Vec<f64>> {
    match x {
        Rows::Dense(x) => x.columns().into_iter().map(|c| c.to_vec()).collect(),
        Rows::Sparse(sparse) => {
            let mut out = vec![vec![0.0; x.n()]; x.d()];
            sparse.cells().for_each(|(i, j, v)| out[j][i] = v);
            out
        }
    }
}
