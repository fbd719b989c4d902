//! SVM-RFE: recursive elimination of the columns that a support vector machine misses least.
//!
//! A machine is trained on all columns left, the columns that matter least to it leave, and so on until one is left.
//! How much a column matters is the change of $\lVert w \rVert^2 = \sum_{ik} \beta_i \beta_k K_{ik}$ when it is left out and the
//! coefficients stay as they are, summed over the machines of all pairs of classes:
//!
//! $$ \text{linear: } \sum_p w_{pj}^2 \qquad
//!    \text{RBF: } \sum_p \Bigl| \sum_{ik} \beta_i \beta_k \bigl( K_{ik} - K_{ik}\, e^{\gamma (x_{ij} - x_{kj})^2} \bigr) \Bigr| $$
//!
//! The linear form ranks as scikit-learn's `RFE(SVC(kernel="linear"))` does. Departures: elimination always goes on to
//! the last column, so that the order is complete and a smaller number keeps the first of a larger one's; the machine is
//! solved to a tolerance of 1e-6, because where it stops decides between columns of nearly equal weight; the width of the
//! RBF kernel is set once, on all columns. By its own rule the method keeps half of the columns, as scikit-learn
//! does: errors on training rows cannot tell where to stop.
//!
//! Steps: squared distances or products of all rows are kept, and what a column adds to them is taken away when it
//! leaves; each machine starts from the coefficients of the one before, and its last steps are taken at once by
//! solving the equations of the coefficients between their bounds ([`crate::optim::polish`]).
//!
//! Cost: for every round $O(n^2)$ per column that leaves, plus the training of a machine from a good start, plus
//! $O(s d)$ (linear) or $O(s^2 d)$ (RBF) for $s$ support rows. Memory: two matrices of $n^2$ numbers.
//!
//! Reference: Guyon, Weston, Barnhill and Vapnik, *Gene selection for cancer classification using support vector
//! machines*, 2002.

use super::selector::{Selection, Selector, Wanted};
use crate::classify::{ClassWeight, PairTask, need_finite, vote};
use crate::context::Context;
use crate::data::{Classes, Dataset, Rows, is_constant};
use crate::error::{Error, Result};
use crate::kernel::{Family, Gamma, Kernel, KernelChoice, gram_symmetric};
use crate::optim::{BlockColumns, PairProblem, Smo, SmoSolution, polish};
use crate::outcome::{Outcome, Stop};
use crate::simd::{add_scaled, dot, exp_scaled};
use ndarray::Array2;
use rayon::prelude::*;
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt::Formatter;

const NAME: &str = "SVM-RFE";

/// Columns leave by weights that are this near to the best ones.
const TOLERANCE: f64 = 1e-6;
/// Pairs of coefficients are moved until they are this near; equations do the rest.
const ROUGH: f64 = 1e-2;
/// Most steps of those.
const POLISHING: usize = 500;
/// Steps per row that pairs get before equations take over: where columns differ much in scale they creep.
const CREEP: usize = 100;
/// How often they take turns before pairs go on alone.
const TURNS: usize = 3;
/// A column is not taken from products or distances by subtraction if its largest square is so many times that of
/// Sums are made anew when they are over this many times fewer columns than when they were made.
const WORN: usize = 32;
/// the columns that stay: its rounding would stay behind.
const DWARFS: f64 = 1e4;

/// How many columns leave in a round. It is also read from a bare number: a whole one from 1 is a count, one below 1
/// a share.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// This many, 1 or more.
    Count(usize),
    /// This share of all columns there were, between 0 and 1; at least one.
    Share(f64),
}

impl<'de> Deserialize<'de> for Step {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        /// [`Step`] as it is written.
        #[derive(Deserialize)]
        #[serde(rename_all = "kebab-case")]
        enum Full {
            Count(usize),
            Share(f64),
        }
        struct NumberOrKind;
        impl<'de> Visitor<'de> for NumberOrKind {
            type Value = Step;

            fn expecting(&self, f: &mut Formatter) -> std::fmt::Result {
                f.write_str("a whole number from 1, or a share between 0 and 1")
            }

            fn visit_u64<E: serde::de::Error>(self, count: u64) -> std::result::Result<Step, E> {
                let count = usize::try_from(count).ok().filter(|&count| count > 0);
                count.map(Step::Count).ok_or_else(|| E::invalid_value(Unexpected::Unsigned(0), &self))
            }

            fn visit_f64<E: serde::de::Error>(self, share: f64) -> std::result::Result<Step, E> {
                if share > 0.0 && share < 1.0 {
                    return Ok(Step::Share(share));
                }
                // A whole number may be written with a point.
                if share >= 1.0 && share.fract() == 0.0 && share < 1e15 {
                    return Ok(Step::Count(share as usize));
                }
                Err(E::invalid_value(Unexpected::Float(share), &self))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> std::result::Result<Step, A::Error> {
                Ok(match Full::deserialize(MapAccessDeserializer::new(map))? {
                    Full::Count(count) => Step::Count(count),
                    Full::Share(share) => Step::Share(share),
                })
            }
        }
        from.deserialize_any(NumberOrKind)
    }
}

/// Recursive elimination by a support vector machine; see the module's text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "snake_case")]
pub struct SvmRfe {
    /// Linear or RBF.
    pub kernel: KernelChoice,
    /// The price of a row that the margin does not clear, above 0.
    pub c: f64,
    /// How many columns leave in a round.
    pub step: Step,
    /// What the price is multiplied by for rows of each class.
    pub class_weight: ClassWeight,
    /// Most steps of each machine's solver; 0 is ten million, or a hundred per row if that is more.
    pub max_iter: usize,
}

impl Default for SvmRfe {
    /// Linear, $C = 1$, one column at a time.
    fn default() -> Self {
        let kernel =
            KernelChoice::Named { family: Family::Linear, gamma: Gamma::Scale, degree: 3, coef0: 0.0 };
        Self { kernel, c: 1.0, step: Step::Count(1), class_weight: ClassWeight::None, max_iter: 0 }
    }
}

impl SvmRfe {
    /// Refuses parameters that are wrong whatever the columns are.
    pub(super) fn check(&self, classes: &Classes) -> Result<()> {
        if !(self.c > 0.0 && self.c.is_finite()) {
            return Err(Error::param(NAME, "C", "a positive finite number", self.c));
        }
        match self.step {
            Step::Count(0) => return Err(Error::param(NAME, "step", "1 or more", 0)),
            Step::Share(share) if !(share > 0.0 && share < 1.0) => {
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

    fn per_round(&self, d: usize) -> usize {
        match self.step {
            Step::Count(n) => n,
            Step::Share(share) => ((share * d as f64) as usize).max(1),
        }
    }
}

impl Selector for SvmRfe {
    fn select(&self, data: &Dataset, wanted: Wanted, ctx: &Context) -> Result<Selection> {
        data.need_complete(NAME)?;
        let classes = data.classes(NAME)?;
        self.check(classes)?;
        let d = data.d();
        let wanted = wanted.resolve(NAME, d)?;
        let n = data.n() as f64;
        // Distances, kernel values, a pair's part of them; and the columns.
        let bytes = 8.0 * (3.0 * n * n + n * d as f64);
        ctx.need_memory(format!("SVM-RFE of {} rows", data.n()), bytes, "use fewer rows")?;
        let kernel = self.kernel.resolve(data.x(), ctx)?;
        let mut elimination = Elimination::new(self, &kernel, data, classes)?;
        let rounds = elimination.run(self.per_round(d), ctx)?;
        Ok(elimination.selection(wanted.unwrap_or((d / 2).max(1)), rounds))
    }
}

/// The state of a run.
struct Elimination<'a> {
    method: &'a SvmRfe,
    classes: &'a Classes,
    /// The width, for RBF.
    gamma: Option<f64>,
    /// Every column as it lies together.
    columns: Vec<Vec<f64>>,
    /// The largest square of each.
    largest: Vec<f64>,
    /// Whether a column is the same everywhere.
    constant: Vec<bool>,
    left: Vec<usize>,
    /// Products or squared distances of all rows over the columns left.
    pairs: Array2<f64>,
    /// Columns that were left when `pairs` was last computed anew.
    fresh: usize,
    tasks: Vec<PairTask>,
    solutions: Vec<SmoSolution>,
    /// Columns that left, first ones first, and the round each left in.
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
            // Distances do not know where zero is, nor do the weights of coefficients that sum to zero; a far zero
            // would only drown them in rounding.
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
            tasks: PairTask::all(classes, &rows, &method.class_weight)?,
            solutions: vec![],
            gone: vec![],
            curve: vec![],
            converged: true,
        };
        run.rebuild()?;
        Ok(run)
    }

    /// Rounds until one column is left.
    fn run(&mut self, per_round: usize, ctx: &Context) -> Result<usize> {
        let total = self.left.len().div_ceil(per_round);
        let mut round = 0;
        loop {
            ctx.step("SVM-RFE", round, total)?;
            round += 1;
            let k = self.kernel_values();
            self.train(&k, ctx)?;
            self.curve.push(self.training_error(&k));
            // Products are the kernel; they come back for columns to be taken from.
            if self.gamma.is_none() {
                self.pairs = k;
            }
            if self.left.len() == 1 {
                return Ok(round);
            }
            let matters = self.how_much_each_matters(ctx)?;
            let mut order: Vec<usize> = (0..self.left.len()).collect();
            // Of equals the later column leaves first; constant columns leave before all others, even those of
            // weight 0.
            let key = |at: usize| if self.constant[self.left[at]] { -1.0 } else { matters[at] };
            order.sort_by(|&a, &b| key(a).total_cmp(&key(b)).then(b.cmp(&a)));
            order.truncate(per_round.min(self.left.len() - 1));
            let leaving: Vec<usize> = order.iter().map(|&at| self.left[at]).collect();
            self.gone.extend(leaving.iter().map(|&j| (j, round)));
            self.left.retain(|j| !leaving.contains(j));
            self.take_away(&leaving)?;
        }
    }

    /// Trains a machine per pair of classes, from the coefficients of the last.
    fn train(&mut self, k: &Array2<f64>, ctx: &Context) -> Result<()> {
        let smo = |tolerance, max_iterations| Smo { tolerance, max_iterations, shrinking: true };
        let most = self.method.max_iter;
        let (c, before) = (self.method.c, &self.solutions);
        let solve = |(p, task): (usize, &PairTask)| {
            let bounds: Vec<f64> = task.weights.iter().map(|w| w * c).collect();
            let start = before.get(p).map(|s| &s.coefficients[..]);
            let problem = PairProblem { signs: &task.signs, bounds: &bounds, start };
            let mut columns = BlockColumns::new(k.view(), &task.rows);
            // The machine of the round before is near already; with any violation let pass the solver only measures it.
            let near = if start.is_some() { f64::INFINITY } else { ROUGH };
            let few = CREEP * task.rows.len();
            let few = if most == 0 { few } else { few.min(most) };
            let mut found = smo(near, few).solve(&problem, &mut columns, ctx)?;
            for turn in 1..=TURNS {
                let better = polish(&problem, &columns, &found, TOLERANCE, POLISHING, ctx)?;
                let problem = PairProblem { start: Some(&better), ..problem };
                let steps = if turn < TURNS { few } else { most };
                found = smo(TOLERANCE, steps).solve(&problem, &mut columns, ctx)?;
                if found.converged {
                    break;
                }
            }
            Ok(found)
        };
        self.solutions = self.tasks.par_iter().enumerate().map(solve).collect::<Result<_>>()?;
        self.converged &= self.solutions.iter().all(|s| s.converged);
        Ok(())
    }

    /// Kernel values over the columns left. Products are the kernel itself, and are handed over.
    fn kernel_values(&mut self) -> Array2<f64> {
        let Some(gamma) = self.gamma else { return std::mem::take(&mut self.pairs) };
        let mut k = self.pairs.clone();
        let cells = k.as_slice_mut().expect("laid out by rows");
        cells.par_chunks_mut(1 << 14).for_each(|cells| exp_scaled(cells, -gamma));
        k
    }

    /// The criterion of every column left.
    fn how_much_each_matters(&self, ctx: &Context) -> Result<Vec<f64>> {
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

    /// $|\sum_{ik} \beta_i \beta_k (K_{ik} - K_{ik}^{(-j)})|$ over the rows that count.
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
            // Distances cannot be negative; what is taken from them leaves rounding.
            without.extend(
                count[..at]
                    .iter()
                    .zip(&with)
                    .map(|(&k, distance)| (distance - (here - column[task.rows[k]]).powi(2)).max(0.0)),
            );
            exp_scaled(&mut with, -gamma);
            exp_scaled(&mut without, -gamma);
            // The diagonal does not change; the other half of the matrix is the same.
            change += 2.0 * beta[at] * (dot(&with, &beta[..at]) - dot(&without, &beta[..at]));
        }
        change.abs()
    }

    /// The share of training rows that the machines of this round get wrong.
    fn training_error(&self, k: &Array2<f64>) -> f64 {
        let n = self.classes.codes.len();
        if let ([task], [solution]) = (&self.tasks[..], &self.solutions[..]) {
            // Two classes: the solver knows what is left of every label.
            let wrong = |i: &usize| {
                let value = task.signs[*i] - solution.left[*i] + solution.bias;
                // A value of 0 is the second class.
                (value > 0.0) != (task.signs[*i] > 0.0)
            };
            return (0..n).filter(wrong).count() as f64 / n as f64;
        }
        let present: Vec<usize> = {
            let counts = self.classes.counts();
            (0..counts.len()).filter(|&c| counts[c] > 0).collect()
        };
        let spread: Vec<Vec<f64>> = self
            .tasks
            .iter()
            .zip(&self.solutions)
            .map(|(task, solution)| {
                let mut all = vec![0.0; n];
                task.rows.iter().zip(&solution.coefficients).for_each(|(&i, &b)| all[i] = b);
                all
            })
            .collect();
        let wrong = |&i: &usize| {
            let row = k.row(i).to_slice().expect("laid out by rows");
            let values = spread.iter().zip(&self.solutions).map(|(all, s)| dot(row, all) + s.bias);
            vote(&present, values) != self.classes.codes[i]
        };
        (0..n).into_par_iter().filter(wrong).count() as f64 / n as f64
    }

    /// Takes what these columns add to products or distances away.
    fn take_away(&mut self, leaving: &[usize]) -> Result<()> {
        let largest = |columns: &[usize]| columns.iter().map(|&j| self.largest[j]).fold(0.0_f64, f64::max);
        // A new sum is one product of matrices, much faster per column than taking columns out one by one. Where
        // few leave, rounding of the sums that were larger adds up, to some dozen units in the last place.
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

    /// Products or squared distances from the columns left.
    fn rebuild(&mut self) -> Result<()> {
        let n = self.classes.codes.len();
        self.fresh = self.left.len();
        let x = Array2::from_shape_fn((n, self.left.len()), |(i, at)| self.columns[self.left[at]][i]);
        let products = gram_symmetric(&Kernel::Linear, &x.into())?;
        // Distances are at most four times the largest of these.
        need_finite(NAME, products.diag().iter().copied())?;
        // By rows: the matrix is symmetric, and was laid out by columns.
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
        let stop = if self.converged { Stop::Wanted } else { Stop::MaxIterations };
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

/// $w_j = \sum_i \beta_i x_{ij}$
fn linear_weight(task: &PairTask, solution: &SmoSolution, column: &[f64]) -> f64 {
    task.rows.iter().zip(&solution.coefficients).map(|(&i, b)| b * column[i]).sum()
}

/// The columns of all rows.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Rng;
    use ndarray::array;

    fn select(method: &SvmRfe, data: &Dataset) -> Selection {
        method.select(data, Wanted::OwnRule, &Context::default()).unwrap()
    }

    #[test]
    fn by_hand() {
        // Points (2, 1) and (-2, -1), and a column that is the same for both: w = (0.4, 0.2, 0).
        let data = Dataset::labelled(array![[-2.0, -1.0, 5.0], [2.0, 1.0, 5.0]], vec![0, 1]).unwrap();
        let selection = select(&SvmRfe { c: 100.0, ..SvmRfe::default() }, &data);
        assert_eq!(selection.order, [0, 1, 2]);
        assert_eq!(selection.scores, [3.0, 2.0, 0.0]);
        assert_eq!((selection.n_selected, &selection.curve[..]), (1, &[0.0, 0.0, 0.0][..]));
    }

    fn rbf(gamma: f64) -> SvmRfe {
        SvmRfe { kernel: Kernel::Rbf { gamma }.into(), c: 10.0, ..SvmRfe::default() }
    }

    #[test]
    fn a_product_is_seen_by_rbf_and_not_by_linear() {
        let mut rng = Rng::new(3);
        let x = Array2::from_shape_simple_fn((200, 6), || rng.normal());
        let codes = x.rows().into_iter().map(|r| usize::from(r[1] * r[4] > 0.0)).collect();
        let data = Dataset::labelled(x, codes).unwrap();
        let mut best = select(&rbf(0.2), &data).order[..2].to_vec();
        best.sort_unstable();
        assert_eq!(best, [1, 4]);
        // Whichever columns the linear one keeps, it guesses: at least a third stays wrong.
        let linear = select(&SvmRfe::default(), &data);
        assert!(linear.curve[1] > 1.0 / 3.0, "{:?}", linear.curve);
    }

    /// The criterion from its definition: two Gram matrices, one without the column.
    #[test]
    fn the_change_of_the_norm_is_what_it_says() {
        let mut rng = Rng::new(7);
        let x = Array2::from_shape_simple_fn((40, 5), || rng.normal());
        let codes: Vec<usize> = x.rows().into_iter().map(|r| usize::from(r[0] + r[1] * r[1] > 0.5)).collect();
        let data = Dataset::labelled(x, codes).unwrap();
        let (method, kernel) = (rbf(0.3), Kernel::Rbf { gamma: 0.3 });
        let classes = data.classes("t").unwrap();
        let mut run = Elimination::new(&method, &kernel, &data, classes).unwrap();
        let k = run.kernel_values();
        run.train(&k, &Context::default()).unwrap();
        let beta = ndarray::Array1::from(run.solutions[0].coefficients.clone());
        let norm = |columns: &[usize]| {
            let k = gram_symmetric(&kernel, data.take_columns(columns).x()).unwrap();
            beta.dot(&k.dot(&beta))
        };
        let all: Vec<usize> = (0..5).collect();
        for (j, got) in run.how_much_each_matters(&Context::default()).unwrap().into_iter().enumerate() {
            let rest: Vec<usize> = all.iter().copied().filter(|&c| c != j).collect();
            let expected = (norm(&all) - norm(&rest)).abs();
            // Sums of 1600 products of coefficients up to 10.
            assert!((got - expected).abs() < 1e-9 * (1.0 + expected), "{j}: {got} {expected}");
        }
    }

    /// Coefficients that meet their bounds together must not leave them by rounding.
    #[test]
    fn a_price_at_which_both_rows_meet_their_bounds() {
        let row = [0.5, 0.45, 0.45, 0.45, 0.45, 0.45];
        let x = Array2::from_shape_fn((2, 6), |(i, j)| if i == 0 { row[j] } else { -row[j] });
        let data = Dataset::labelled(x, vec![0, 1]).unwrap();
        for i in 0..1000 {
            let c = 0.45 + 0.0015 * f64::from(i);
            let method = SvmRfe { c, step: Step::Count(5), ..SvmRfe::default() };
            let selection = method.select(&data, Wanted::OwnRule, &Context::default());
            assert_eq!(selection.map_err(|e| e.to_string()).unwrap().order[0], 0, "C = {c}");
        }
    }

    #[test]
    fn a_constant_column_leaves_before_one_of_weight_zero() {
        // The third column is the same in both classes, so that its weight is 0; the second is constant.
        let x = array![[-1.0, 7.0, 1.0], [-1.0, 7.0, -1.0], [1.0, 7.0, 1.0], [1.0, 7.0, -1.0]];
        let data = Dataset::labelled(x.clone(), vec![0, 0, 1, 1]).unwrap();
        assert_eq!(select(&SvmRfe::default(), &data).order, [0, 2, 1]);
        let x = x.select(ndarray::Axis(1), &[0, 2, 1]);
        let data = Dataset::labelled(x, vec![0, 0, 1, 1]).unwrap();
        assert_eq!(select(&SvmRfe::default(), &data).order, [0, 1, 2]);
    }

    /// Pairs of coefficients alone take millions of steps here; equations end it.
    #[test]
    fn columns_of_very_different_scales() {
        let mut rng = Rng::new(4);
        let plain = Array2::from_shape_simple_fn((80, 6), || rng.normal());
        let codes: Vec<usize> =
            plain.rows().into_iter().map(|r| usize::from(r[0] + r[1] + 0.5 * rng.normal() > 0.0)).collect();
        // Products of the square of the scale are rounded at 1e-16 of it: from 1e5 on that is the tolerance of 1e-6
        // itself, which then cannot be met.
        for scale in [1e2, 1e3, 1e4] {
            let mut x = plain.clone();
            x.column_mut(5).mapv_inplace(|v| v * scale);
            let data = Dataset::labelled(x, codes.clone()).unwrap();
            let selection = select(&SvmRfe::default(), &data);
            assert!(selection.outcome.stop.converged() && selection.is_sound(6), "{scale}");
        }
    }

    /// What is left of the products after a large column left is what a new start without it has.
    #[test]
    fn a_large_column_leaves_nothing_behind() {
        let mut rng = Rng::new(6);
        let mut x = Array2::from_shape_simple_fn((40, 5), || rng.normal());
        let codes = x.rows().into_iter().map(|r| usize::from(r[0] > 0.0)).collect();
        x.column_mut(2).mapv_inplace(|v| v * 1e8);
        let data = Dataset::labelled(x, codes).unwrap();
        for (method, kernel) in [(SvmRfe::default(), Kernel::Linear), (rbf(0.3), Kernel::Rbf { gamma: 0.3 })]
        {
            let classes = data.classes("t").unwrap();
            let mut run = Elimination::new(&method, &kernel, &data, classes).unwrap();
            run.left = vec![0, 1, 3, 4];
            run.take_away(&[2]).unwrap();
            let rest = data.take_columns(&[0, 1, 3, 4]);
            let anew = Elimination::new(&method, &kernel, &rest, classes).unwrap();
            // The same sums of the same numbers.
            assert_eq!(run.pairs, anew.pairs);
        }
    }

    #[test]
    fn products_that_are_no_numbers_are_refused() {
        let data =
            Dataset::labelled(array![[1e200, 1.0], [-1e200, 2.0], [1e200, 3.0]], vec![0, 1, 0]).unwrap();
        for method in [SvmRfe::default(), rbf(1.0)] {
            let error = method.select(&data, Wanted::OwnRule, &Context::default()).unwrap_err().to_string();
            assert!(error.contains("too large for a number; scale the columns"), "{error}");
        }
    }

    #[test]
    fn settings_are_read_in_short_and_in_full() {
        let read = |text: &str| serde_json::from_str::<SvmRfe>(text).map_err(|e| e.to_string());
        let short = read(r#"{"step": 0.2, "kernel": "rbf"}"#).unwrap();
        assert_eq!(
            short,
            SvmRfe { step: Step::Share(0.2), kernel: KernelChoice::default(), ..SvmRfe::default() }
        );
        assert_eq!(read(r#"{"step": 3}"#).unwrap().step, Step::Count(3));
        assert_eq!(read(r#"{"step": 3.0}"#).unwrap().step, Step::Count(3));
        assert_eq!(read(&serde_json::to_string(&short).unwrap()).unwrap(), short);
        assert_eq!(serde_json::to_string(&Step::Count(1)).unwrap(), r#"{"count":1}"#);
        for bad in ["0", "1.5", "0.0", "-1", "\"many\""] {
            let error = read(&format!(r#"{{"step": {bad}}}"#)).unwrap_err();
            assert!(error.contains("expected a whole number from 1, or a share between 0 and 1"), "{error}");
        }
        assert!(read(r#"{"steps": 1}"#).unwrap_err().contains("unknown field `steps`"));
        // As one of many methods too, which are told apart by a tag.
        let tagged = r#"{"method": "svm-rfe", "step": 0.2, "kernel": "rbf"}"#;
        let method: crate::select::SelectorMethod = serde_json::from_str(tagged).unwrap();
        assert!(matches!(method, crate::select::SelectorMethod::SvmRfe(rfe) if rfe == short));
    }

    /// Low prices put nearly all coefficients at a bound, and many meet it in the same step.
    #[test]
    fn every_price_has_an_answer() {
        let mut rng = Rng::new(8);
        let x = Array2::from_shape_simple_fn((90, 8), || (4.0 * rng.normal()).round() / 4.0);
        let codes = x.rows().into_iter().map(|r| ((r[0] + r[1] + 2.0).max(0.0) as usize).min(2)).collect();
        let data = Dataset::labelled(x, codes).unwrap();
        for power in -6..5 {
            let selection = select(&SvmRfe { c: 10f64.powi(power), ..SvmRfe::default() }, &data);
            assert!(selection.outcome.stop.converged() && selection.is_sound(8));
            if power > -2 {
                let mut best = selection.order[..2].to_vec();
                best.sort_unstable();
                assert_eq!(best, [0, 1], "1e{power}");
            }
        }
    }

    #[test]
    fn steps_of_any_size_keep_what_they_should() {
        let mut rng = Rng::new(5);
        let x = Array2::from_shape_simple_fn((60, 9), || rng.normal());
        let codes = x.rows().into_iter().map(|r| usize::from(r[2] + 0.5 * r[3] > 0.0)).collect();
        let data = Dataset::labelled(x, codes).unwrap();
        let three = select(&SvmRfe { step: Step::Count(3), ..SvmRfe::default() }, &data);
        // 9, 6, 3, 1 columns; three leave at a time, in the last round two.
        assert_eq!(three.curve.len(), 4);
        assert_eq!(select(&SvmRfe { step: Step::Share(0.4), ..SvmRfe::default() }, &data), three);
        assert_eq!(three.order[0], 2);
        let bad = SvmRfe { step: Step::Share(1.5), ..SvmRfe::default() };
        let error = bad.select(&data, Wanted::OwnRule, &Context::default()).unwrap_err().to_string();
        assert!(error.contains("'step' must be a share between 0 and 1"), "{error}");
        let kernel = Kernel::Laplacian { gamma: 1.0 }.into();
        let bad = SvmRfe { kernel, ..SvmRfe::default() };
        assert!(bad.select(&data, Wanted::OwnRule, &Context::default()).is_err());
    }
}
