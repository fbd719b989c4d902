//! The SVMs of a round: one for each pair of classes, warm-started from the previous round.

use crate::classify::{ClassWeight, PairTask, vote};
use crate::context::Context;
use crate::data::{Classes, Weights};
use crate::error::Result;
use crate::optim::{KernelColumns, PairProblem, PairStart, Products, Smo, SmoSolution, polish};
use rayon::prelude::*;
use std::borrow::BorrowMut;

/// The method's name, for errors.
pub(super) const NAME: &str = "SVM-RFE";
/// Tolerance of the final solution.
pub(super) const TOLERANCE: f64 = 1e-6;
/// Tolerance of SMO before polishing takes over.
const ROUGH_TOLERANCE: f64 = 1e-2;
const MAX_POLISHING_STEPS: usize = 500;
/// SMO iterations per sample before polishing takes over: SMO converges slowly if features differ much in scale.
const SMO_ITERATIONS_PER_SAMPLE: usize = 100;
/// Number of alternations of polishing and SMO; only `max_iter` limits the last SMO run.
const ALTERNATIONS: usize = 3;

pub(super) struct Svms<'a> {
    c: f64,
    max_iter: Option<usize>,
    classes: &'a Classes,
    weights: Weights<'a>,
    pub tasks: Vec<PairTask>,
    /// One for each task; none before the first round.
    pub solutions: Vec<SmoSolution>,
}

impl<'a> Svms<'a> {
    pub fn new(
        c: f64,
        max_iter: Option<usize>,
        (classes, weights): (&'a Classes, Weights<'a>),
        class_weight: &ClassWeight,
    ) -> Result<Self> {
        let samples: Vec<usize> = (0..classes.codes.len()).collect();
        let tasks = PairTask::all((classes, weights), &samples, class_weight)?;
        Ok(Self { c, max_iter, classes, weights, tasks, solutions: vec![] })
    }

    /// Trains all SVMs; `columns` has the kernel values of each task.
    pub fn train<K: KernelColumns + Products>(
        &self,
        columns: impl IndexedParallelIterator<Item: BorrowMut<K>>,
        ctx: &Context,
    ) -> Result<Vec<SmoSolution>> {
        let start = |p: usize| self.solutions.get(p).map(|s| &s.coefficients[..]);
        columns
            .zip(&self.tasks)
            .enumerate()
            .map(|(p, (mut columns, task))| self.train_pair(task, columns.borrow_mut(), start(p), ctx))
            .collect()
    }

    pub fn train_pair<K: KernelColumns + Products>(
        &self,
        task: &PairTask,
        columns: &mut K,
        start: Option<&[f64]>,
        ctx: &Context,
    ) -> Result<SmoSolution> {
        let smo = |tolerance, max_iterations| Smo { tolerance, max_iterations, shrinking: true };
        let bounds: Vec<f64> = task.weights.iter().map(|w| w * self.c).collect();
        let problem = PairProblem { signs: &task.signs, bounds: &bounds, start: None };
        let limited = |steps: usize| self.max_iter.map_or(steps, |most| steps.min(most));
        let smo_steps = limited(SMO_ITERATIONS_PER_SAMPLE * task.rows.len());
        let polishing_steps = limited(MAX_POLISHING_STEPS);
        // A warm start is already close to the solution.
        let (mut coefficients, mut residual) = match start {
            Some(start) => (start.to_vec(), residual_of(task, columns, start)),
            None => {
                let rough = smo(ROUGH_TOLERANCE, smo_steps).solve(&problem, columns, ctx)?;
                (rough.coefficients, rough.residual)
            }
        };
        for alternation in 1.. {
            let near = (&coefficients[..], &residual[..]);
            let polished = polish(&problem, columns, near, TOLERANCE, polishing_steps, ctx)?;
            let problem = PairProblem { start: Some(PairStart::at(&polished)), ..problem };
            let last = alternation == ALTERNATIONS;
            let steps = if last { self.max_iter.unwrap_or(0) } else { smo_steps };
            let solution = smo(TOLERANCE, steps).solve(&problem, columns, ctx)?;
            if solution.converged || last {
                return Ok(solution);
            }
            (coefficients, residual) = (solution.coefficients, solution.residual);
        }
        unreachable!("the last alternation returns")
    }

    /// The training error. `add_values` adds $K \beta$ to its second argument.
    pub fn training_error(
        &self,
        ctx: &Context,
        add_values: impl Fn(&[f64], &mut [f64]) + Sync,
    ) -> Result<f64> {
        let n = self.classes.codes.len();
        let total = self.weights.total(n);
        if let ([task], [solution]) = (&self.tasks[..], &self.solutions[..]) {
            // Two classes: the solver provides the residuals of the labels.
            let wrong = |i: &usize| {
                let value = task.signs[*i] - solution.residual[*i] + solution.bias;
                // A value of 0 is the second class.
                (value > 0.0) != (task.signs[*i] > 0.0)
            };
            return Ok((0..n).filter(wrong).map(|i| self.weights.of(i)).sum::<f64>() / total + 0.0);
        }
        let counts = self.classes.counts();
        let present: Vec<usize> = (0..counts.len()).filter(|&c| counts[c] > 0).collect();
        let of_pair = |(task, solution): (&PairTask, &SmoSolution)| -> Result<Vec<f64>> {
            ctx.check()?;
            let mut coefficients = vec![0.0; n];
            task.rows.iter().zip(&solution.coefficients).for_each(|(&i, &b)| coefficients[i] = b);
            let mut values = vec![solution.bias; n];
            add_values(&coefficients, &mut values);
            Ok(values)
        };
        let values: Vec<Vec<f64>> =
            self.tasks.par_iter().zip(&self.solutions).map(of_pair).collect::<Result<_>>()?;
        let wrong = |&i: &usize| vote(&present, values.iter().map(|v| v[i])) != self.classes.codes[i];
        // Adding 0 turns -0 (no such sample) into 0.
        Ok((0..n).filter(wrong).map(|i| self.weights.of(i)).sum::<f64>() / total + 0.0)
    }
}

/// $y - K \beta$
fn residual_of(task: &PairTask, columns: &mut impl KernelColumns, coefficients: &[f64]) -> Vec<f64> {
    let weights: Vec<(usize, f64)> =
        coefficients.iter().map(|b| -b).enumerate().filter(|(_, b)| *b != 0.0).collect();
    let all: Vec<usize> = (0..task.rows.len()).collect();
    let mut residual = task.signs.clone();
    columns.combine(&weights, &all, &mut residual);
    residual
}
