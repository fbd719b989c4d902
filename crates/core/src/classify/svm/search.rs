//! Grid search for $C$ and $\gamma$ by cross-validation.
//!
//! The Gram matrix of all rows is computed once for every $\gamma$; folds and pairs of classes use parts of it. Folds of
//! several $\gamma$ run in parallel. Each solves for ascending values of $C$ with warm starts. The criterion is the
//! cross-validated error rate; ties go to the smaller $C$, then to the smaller $\gamma$. The SVM is then refitted on all
//! rows.

use super::kernel_source::{KernelSource, NAME};
use super::model::SvmModel;
use super::pairs::vote;
use super::train::{Centered, PairTask, Svm, present};
use crate::context::Context;
use crate::data::{Classes, Dataset, Fold, Rows, Weights, inner_folds};
use crate::error::{Error, Result};
use crate::kernel::{Family, Gamma, Kernel, KernelChoice};
use crate::optim::ColumnMemory;
use crate::random::Rng;
use crate::simd::dot;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// An SVM with $C$ and $\gamma$ chosen by cross-validation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SvmSearch {
    /// All other parameters; its `c` is ignored.
    pub svm: Svm,
    /// Values of $C$ to try, above 0.
    pub c: Vec<f64>,
    /// Values of $\gamma$ to try; if empty, that of the kernel.
    pub gamma: Vec<Gamma>,
    /// Number of folds, from 2 to the number of rows.
    pub folds: usize,
}

impl Default for SvmSearch {
    /// $C$ from 0.1 to 1000 by factors of ten, the $\gamma$ of the kernel, five folds.
    fn default() -> Self {
        Self { svm: Svm::default(), c: vec![0.1, 1.0, 10.0, 100.0, 1000.0], gamma: vec![], folds: 5 }
    }
}

/// A grid point and its error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SearchPoint {
    /// $\gamma$, for kernels that have it.
    pub gamma: Option<f64>,
    /// $C$
    pub c: f64,
    /// Cross-validated error rate.
    pub error: f64,
    /// Error rate of each fold.
    pub folds: Vec<f64>,
    /// Whether every binary SVM converged.
    pub converged: bool,
}

/// The best SVM, refitted on all rows, and the results of the search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SearchedSvm {
    /// The SVM, refitted on all rows.
    pub model: SvmModel,
    /// The best $C$.
    pub c: f64,
    /// The best $\gamma$, for kernels that have it.
    pub gamma: Option<f64>,
    /// All grid points, by ascending $\gamma$, then ascending $C$.
    pub errors: Vec<SearchPoint>,
}

impl SvmSearch {
    /// Searches, then refits on all rows.
    pub fn fit(&self, data: &Dataset, ctx: &Context) -> Result<SearchedSvm> {
        data.need_complete(NAME)?;
        let classes = data.classes(NAME)?;
        self.check(data.n())?;
        let weights = data.weights();
        self.svm.class_weight.factors(classes, weights)?;
        let kernels = self.kernels(data, ctx)?;
        // Centering is for the linear kernel, which has no gamma and is thus the only one.
        let centered = Centered::new(&kernels[0], data.x());
        let x = centered.rows(data.x());
        let mut c_values = self.c.clone();
        c_values.sort_by(f64::total_cmp);
        c_values.dedup();
        let folds = inner_folds(data, classes, self.folds, &mut Rng::stream(ctx.seed, "svm folds"));
        let mut tasks = vec![];
        for (f, fold) in folds.iter().enumerate() {
            let pairs = PairTask::all((classes, weights), &fold.train, &self.svm.class_weight)?;
            tasks.extend(pairs.into_iter().map(|pair| (f, pair)));
        }
        let total = kernels.len() * tasks.len();
        let (done, memory) = (AtomicUsize::new(0), Mutex::default());
        let grid = Grid { search: self, classes, weights, folds, tasks, c_values, total, done, memory };
        let mut errors = vec![];
        for some in kernels.chunks(self.parallel_kernels(x.n(), kernels.len(), ctx)) {
            let sources =
                some.iter().map(|kernel| self.source(kernel, x, ctx)).collect::<Result<Vec<_>>>()?;
            errors.extend(grid.errors(some, &sources, ctx)?);
            // A single Gram matrix also serves the final fit.
            if let ([kernel], [source]) = (&kernels[..], &sources[..]) {
                drop(grid);
                return self.refit(kernel, source, &centered, data, errors, ctx);
            }
        }
        // Free the memory of the folds before computing another Gram matrix.
        drop(grid);
        let best = best(&errors);
        let kernel = kernels.iter().find(|k| k.gamma() == best.gamma).expect("every grid point has a kernel");
        let source = self.source(kernel, x, ctx)?;
        self.refit(kernel, &source, &centered, data, errors, ctx)
    }

    /// The SVM, if the grid has a single point.
    pub fn only(&self) -> Option<Svm> {
        let kernel = match (&self.gamma[..], &self.svm.kernel) {
            ([], kernel) => kernel.clone(),
            (&[gamma], &KernelChoice::Named { family, degree, coef0, .. }) if family != Family::Linear => {
                KernelChoice::Named { family, gamma, degree, coef0 }
            }
            _ => return None,
        };
        match self.c[..] {
            [c] => Some(Svm { c, kernel, ..self.svm.clone() }),
            _ => None,
        }
    }

    /// Number of kernels to evaluate in parallel, as many as memory allows, to keep all threads busy.
    fn parallel_kernels(&self, n: usize, kernels: usize, ctx: &Context) -> usize {
        let threads = rayon::current_num_threads();
        // The Gram matrices, and for every thread a part of one, before and after shrinking.
        let fit =
            |&some: &usize| KernelSource::fits(n, (some + 2 * threads.min(some * self.folds)) as f64, ctx);
        (2..=kernels.min(threads)).rev().find(fit).unwrap_or(1)
    }

    fn source<'a>(&self, kernel: &'a Kernel, x: &'a Rows, ctx: &Context) -> Result<KernelSource<'a>> {
        // The Gram matrix, and a part of it for every fold. This must not depend on the number of threads, as cached
        // columns have different rounding errors.
        if KernelSource::fits(x.n(), 1.0 + self.folds as f64, ctx) {
            return KernelSource::full(kernel, x);
        }
        KernelSource::columns(kernel, x, ctx)
    }

    fn refit(
        &self,
        kernel: &Kernel,
        source: &KernelSource,
        centered: &Centered,
        data: &Dataset,
        errors: Vec<SearchPoint>,
        ctx: &Context,
    ) -> Result<SearchedSvm> {
        let SearchPoint { gamma, c, .. } = *best(&errors);
        let svm = Svm { c, ..self.svm.clone() };
        let classes = data.classes(NAME)?;
        let all: Vec<usize> = (0..data.n()).collect();
        let svms = svm.fit_rows(source, (classes, data.weights()), &all, ctx)?;
        let model = centered.model(kernel.clone(), data.x(), classes, svms)?;
        Ok(SearchedSvm { model, c, gamma, errors })
    }

    /// The distinct kernels to try, by ascending gamma.
    fn kernels(&self, data: &Dataset, ctx: &Context) -> Result<Vec<Kernel>> {
        let resolve = |choice: &KernelChoice| choice.resolve_weighted(data.x(), data.weights(), ctx);
        if self.gamma.is_empty() {
            return Ok(vec![resolve(&self.svm.kernel)?]);
        }
        let KernelChoice::Named { family, degree, coef0, .. } = self.svm.kernel else {
            return Err(no_gamma());
        };
        if family == Family::Linear {
            return Err(no_gamma());
        }
        let of = |&gamma: &Gamma| resolve(&KernelChoice::Named { family, gamma, degree, coef0 });
        let mut kernels = self.gamma.iter().map(of).collect::<Result<Vec<_>>>()?;
        kernels.sort_by(|a, b| a.gamma().unwrap_or(0.0).total_cmp(&b.gamma().unwrap_or(0.0)));
        kernels.dedup();
        Ok(kernels)
    }

    pub(crate) fn check(&self, n: usize) -> Result<()> {
        if self.c.is_empty() {
            return Err(Error::param(NAME, "C", "at least one number", "none"));
        }
        for &c in &self.c {
            Svm { c, ..self.svm.clone() }.check()?;
        }
        if self.folds < 2 || self.folds > n {
            return Err(Error::param(
                NAME,
                "folds",
                format!("from 2 to the number of rows, {n}"),
                self.folds,
            ));
        }
        Ok(())
    }
}

/// The tasks of the search, shared by all kernels.
struct Grid<'a> {
    search: &'a SvmSearch,
    classes: &'a Classes,
    weights: Weights<'a>,
    folds: Vec<Fold>,
    /// Fold and pair of classes.
    tasks: Vec<(usize, PairTask)>,
    c_values: Vec<f64>,
    /// Number of tasks of all kernels, and how many are done.
    total: usize,
    done: AtomicUsize,
    /// Buffers that tasks reuse.
    memory: Mutex<Vec<ColumnMemory>>,
}

impl Grid<'_> {
    /// The errors of some kernels at all values of C.
    fn errors(
        &self,
        kernels: &[Kernel],
        sources: &[KernelSource],
        ctx: &Context,
    ) -> Result<Vec<SearchPoint>> {
        let Self { folds, tasks, classes, weights, done, .. } = self;
        let buffers = || self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        let run = |at: usize| {
            ctx.step("SVM search", done.load(Ordering::Relaxed), self.total)?;
            let mut memory = buffers().pop().unwrap_or_default();
            let (f, pair) = &tasks[at % tasks.len()];
            let source = &sources[at / tasks.len()];
            let held_out = self.held_out(source, pair, &folds[*f].test, &mut memory, ctx);
            buffers().push(memory);
            done.fetch_add(1, Ordering::Relaxed);
            held_out
        };
        let all = 0..sources.len() * tasks.len();
        let values: Vec<HeldOut> = match sources {
            // Sequentially, as each may fill the cache.
            [KernelSource::Columns { .. }, ..] => all.map(run).collect::<Result<_>>()?,
            _ => all.into_par_iter().map(run).collect::<Result<_>>()?,
        };
        let mut points = vec![];
        for (k, kernel) in kernels.iter().enumerate() {
            let gamma = kernel.gamma();
            // Empty if all training rows of the folds have one class.
            let values = &values[k * tasks.len()..(k + 1) * tasks.len()];
            for (at, &c) in self.c_values.iter().enumerate() {
                let (mut wrong, mut fold_errors) = (0.0, vec![]);
                for (f, fold) in folds.iter().enumerate() {
                    let of_fold = tasks.iter().zip(values).filter(|((g, _), _)| *g == f);
                    let pairs: Vec<&[f64]> = of_fold.map(|(_, held_out)| &held_out[at].values[..]).collect();
                    let present = present(classes, &fold.train);
                    let errors = weight_of_wrong(&present, &pairs, &fold.test, (classes, *weights));
                    wrong += errors;
                    let of_fold: f64 = fold.test.iter().map(|&row| weights.of(row)).sum();
                    fold_errors.push(errors / if of_fold > 0.0 { of_fold } else { 1.0 });
                }
                let error = wrong / weights.total(classes.codes.len());
                let converged = values.iter().all(|held_out| held_out[at].converged);
                points.push(SearchPoint { gamma, c, error, folds: fold_errors, converged });
            }
        }
        Ok(points)
    }

    /// Decision values of a pair's binary SVM for the held-out rows, at every C.
    fn held_out(
        &self,
        source: &KernelSource,
        pair: &PairTask,
        test: &[usize],
        memory: &mut ColumnMemory,
        ctx: &Context,
    ) -> Result<HeldOut> {
        let solutions = self.search.svm.solve_path(source, pair, &self.c_values, memory, ctx)?;
        let k = source.block(test, &pair.rows)?;
        Ok(solutions
            .iter()
            .map(|solution| {
                let value = |row: ndarray::ArrayView1<f64>| {
                    dot(row.to_slice().expect("a new block is in row-major order"), &solution.coefficients)
                        + solution.bias
                };
                AtC { values: k.rows().into_iter().map(value).collect(), converged: solution.converged }
            })
            .collect())
    }
}

/// Decision values of a pair's binary SVM for the held-out rows, at every C.
type HeldOut = Vec<AtC>;

struct AtC {
    values: Vec<f64>,
    converged: bool,
}

fn no_gamma() -> Error {
    Error::param(NAME, "gamma", "omitted for kernels without it", "a list")
}

/// The grid point with the smallest error; ties go to the smaller C, then to the smaller gamma.
fn best(errors: &[SearchPoint]) -> &SearchPoint {
    let key = |p: &SearchPoint| (p.error, p.c, p.gamma.unwrap_or(0.0));
    errors.iter().min_by(|a, b| key(a).partial_cmp(&key(b)).expect("no NaN")).expect("the grid is not empty")
}

/// Number or weight of the misclassified `test` rows; `pairs` has the decision values of each pair.
fn weight_of_wrong(
    present: &[usize],
    pairs: &[&[f64]],
    test: &[usize],
    (classes, weights): (&Classes, Weights),
) -> f64 {
    let wrong =
        |(at, row): &(usize, &usize)| vote(present, pairs.iter().map(|v| v[*at])) != classes.codes[**row];
    // Adding 0 turns -0 (no such row) into 0.
    test.iter().enumerate().filter(wrong).map(|(_, &row)| weights.of(row)).sum::<f64>() + 0.0
}
