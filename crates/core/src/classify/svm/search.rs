//! The price and the width by cross-validation.
//!
//! For every width the Gram matrix of all rows is computed once; every fold and every pair of classes is a part of
//! it, and folds of several widths are worked on side by side. In each, prices rise and every solution starts the next.
//! What is judged is the share of rows that are classified wrongly while held out; of equals the smaller price wins, then
//! the smaller $\gamma$. The machine is then trained on all rows.

use super::model::SvmModel;
use super::pairs::vote;
use super::train::{Around, KernelSource, NAME, PairTask, Svm, present};
use crate::context::Context;
use crate::data::{Classes, Dataset, Fold, Rows, stratified_folds};
use crate::error::{Error, Result};
use crate::kernel::{Family, Gamma, Kernel, KernelChoice};
use crate::optim::ColumnMemory;
use crate::random::Rng;
use crate::simd::dot;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// A machine whose price and width are found by cross-validation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SvmSearch {
    /// Everything else; its own price is not used.
    pub svm: Svm,
    /// Prices to try, above 0.
    pub c: Vec<f64>,
    /// Widths to try; none is the kernel's own.
    pub gamma: Vec<Gamma>,
    /// Folds, from 2 to the number of rows.
    pub folds: usize,
}

impl Default for SvmSearch {
    /// Prices from 0.1 to 1000 by factors of ten, the kernel's own width, five folds.
    fn default() -> Self {
        Self { svm: Svm::default(), c: vec![0.1, 1.0, 10.0, 100.0, 1000.0], gamma: vec![], folds: 5 }
    }
}

/// What was tried, and how it did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SearchPoint {
    /// The width, for kernels that have one.
    pub gamma: Option<f64>,
    /// The price.
    pub c: f64,
    /// Share of all rows that were classified wrongly while held out.
    pub error: f64,
    /// The same in each fold.
    pub folds: Vec<f64>,
    /// Whether every machine met its tolerance.
    pub converged: bool,
}

/// The machine that did best, trained on all rows, and the whole search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SearchedSvm {
    /// Trained on all rows.
    pub model: SvmModel,
    /// The price that did best.
    pub c: f64,
    /// The width that did best, for kernels that have one.
    pub gamma: Option<f64>,
    /// All that was tried: by width, then by price, both rising.
    pub errors: Vec<SearchPoint>,
}

impl SvmSearch {
    /// Searches, then trains on all rows.
    pub fn fit(&self, data: &Dataset, ctx: &Context) -> Result<SearchedSvm> {
        data.need_complete(NAME)?;
        let classes = data.classes(NAME)?;
        self.check(data.n())?;
        self.svm.class_weight.factors(classes)?;
        let kernels = self.kernels(data.x(), ctx)?;
        // Several kernels have widths, so that none is linear.
        let around = Around::mean(&kernels[0], data.x());
        let x = around.rows(data.x());
        let mut prices = self.c.clone();
        prices.sort_by(f64::total_cmp);
        prices.dedup();
        let folds = stratified_folds(classes, self.folds, &mut Rng::stream(ctx.seed, "svm folds"));
        let mut tasks = vec![];
        for (f, fold) in folds.iter().enumerate() {
            let pairs = PairTask::all(classes, &fold.train, &self.svm.class_weight)?;
            tasks.extend(pairs.into_iter().map(|pair| (f, pair)));
        }
        let total = kernels.len() * tasks.len();
        let (done, memory) = (AtomicUsize::new(0), Mutex::default());
        let trial = Trial { search: self, classes, folds, tasks, prices, total, done, memory };
        let mut errors = vec![];
        for some in kernels.chunks(self.at_once(x.n(), kernels.len(), ctx)) {
            let sources =
                some.iter().map(|kernel| self.source(kernel, x, ctx)).collect::<Result<Vec<_>>>()?;
            errors.extend(trial.judge(some, &sources, ctx)?);
            // The last matrix serves the last training too, if it is the only one.
            if let ([kernel], [source]) = (&kernels[..], &sources[..]) {
                drop(trial);
                return self.train(kernel, source, &around, data, errors, ctx);
            }
        }
        // The memory of its folds goes before another matrix comes.
        drop(trial);
        let best = best(&errors);
        let kernel = kernels.iter().find(|k| k.gamma() == best.gamma).expect("what was tried has a kernel");
        let source = self.source(kernel, x, ctx)?;
        self.train(kernel, &source, &around, data, errors, ctx)
    }

    /// The machine itself, if there is nothing to choose.
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

    /// Kernels whose matrices are there together, so that there are folds for every thread to the end.
    fn at_once(&self, n: usize, kernels: usize, ctx: &Context) -> usize {
        let threads = rayon::current_num_threads();
        // The matrices, and for every thread a part of one and what is left of that after shrinking.
        let fit =
            |&some: &usize| KernelSource::fits(n, (some + 2 * threads.min(some * self.folds)) as f64, ctx);
        (2..=kernels.min(threads)).rev().find(fit).unwrap_or(1)
    }

    fn source<'a>(&self, kernel: &'a Kernel, x: &'a Rows, ctx: &Context) -> Result<KernelSource<'a>> {
        // The matrix, and a part of it for every fold. How many threads there are must not matter here: other columns round
        // differently.
        if KernelSource::fits(x.n(), 1.0 + self.folds as f64, ctx) {
            return KernelSource::whole(kernel, x);
        }
        KernelSource::columns(kernel, x, ctx)
    }

    fn train(
        &self,
        kernel: &Kernel,
        source: &KernelSource,
        around: &Around,
        data: &Dataset,
        errors: Vec<SearchPoint>,
        ctx: &Context,
    ) -> Result<SearchedSvm> {
        let SearchPoint { gamma, c, .. } = *best(&errors);
        let svm = Svm { c, ..self.svm.clone() };
        let classes = data.classes(NAME)?;
        let machines = svm.fit_rows(source, classes, &(0..data.n()).collect::<Vec<_>>(), ctx)?;
        let model = around.model(kernel.clone(), data.x(), classes, machines)?;
        Ok(SearchedSvm { model, c, gamma, errors })
    }

    /// The kernels to try, by rising width; equal ones once.
    fn kernels(&self, x: &Rows, ctx: &Context) -> Result<Vec<Kernel>> {
        if self.gamma.is_empty() {
            return Ok(vec![self.svm.kernel.resolve(x, ctx)?]);
        }
        let KernelChoice::Named { family, degree, coef0, .. } = self.svm.kernel else {
            return Err(no_width());
        };
        if family == Family::Linear {
            return Err(no_width());
        }
        let resolve = |&gamma: &Gamma| KernelChoice::Named { family, gamma, degree, coef0 }.resolve(x, ctx);
        let mut kernels = self.gamma.iter().map(resolve).collect::<Result<Vec<_>>>()?;
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

/// What every kernel is tried on.
struct Trial<'a> {
    search: &'a SvmSearch,
    classes: &'a Classes,
    folds: Vec<Fold>,
    /// A fold and a pair of its classes each.
    tasks: Vec<(usize, PairTask)>,
    prices: Vec<f64>,
    /// Tasks for all kernels, and how many of them are done.
    total: usize,
    done: AtomicUsize,
    /// What one task leaves, the next takes.
    memory: Mutex<Vec<ColumnMemory>>,
}

impl Trial<'_> {
    /// Errors of all prices for some kernels.
    fn judge(&self, kernels: &[Kernel], sources: &[KernelSource], ctx: &Context) -> Result<Vec<SearchPoint>> {
        let Self { folds, tasks, classes, done, .. } = self;
        let left = || self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        let run = |at: usize| {
            ctx.step("SVM search", done.load(Ordering::Relaxed), self.total)?;
            let mut memory = left().pop().unwrap_or_default();
            let (f, pair) = &tasks[at % tasks.len()];
            let source = &sources[at / tasks.len()];
            let held = self.held_out(source, pair, &folds[*f].test, &mut memory, ctx);
            left().push(memory);
            done.fetch_add(1, Ordering::Relaxed);
            held
        };
        let all = 0..sources.len() * tasks.len();
        let values: Vec<HeldOut> = match sources {
            // One after another: each may fill the cache.
            [KernelSource::Columns { .. }, ..] => all.map(run).collect::<Result<_>>()?,
            _ => all.into_par_iter().map(run).collect::<Result<_>>()?,
        };
        let mut points = vec![];
        for (k, kernel) in kernels.iter().enumerate() {
            let gamma = kernel.gamma();
            // None where folds have rows of one class alone.
            let values = &values[k * tasks.len()..(k + 1) * tasks.len()];
            for (at, &c) in self.prices.iter().enumerate() {
                let (mut wrong, mut shares) = (0, vec![]);
                for (f, fold) in folds.iter().enumerate() {
                    let of_fold = tasks.iter().zip(values).filter(|((g, _), _)| *g == f);
                    let pairs: Vec<&[f64]> = of_fold.map(|(_, held)| &held[at].values[..]).collect();
                    let errors = n_wrong(&present(classes, &fold.train), &pairs, &fold.test, classes);
                    wrong += errors;
                    shares.push(errors as f64 / fold.test.len().max(1) as f64);
                }
                let error = wrong as f64 / classes.codes.len() as f64;
                let converged = values.iter().all(|held| held[at].converged);
                points.push(SearchPoint { gamma, c, error, folds: shares, converged });
            }
        }
        Ok(points)
    }

    /// Values of one pair's machine for the rows that are held out, at every price.
    fn held_out(
        &self,
        source: &KernelSource,
        pair: &PairTask,
        test: &[usize],
        memory: &mut ColumnMemory,
        ctx: &Context,
    ) -> Result<HeldOut> {
        let solutions = self.search.svm.solve_path(source, pair, &self.prices, memory, ctx)?;
        let k = source.block(test, &pair.rows)?;
        Ok(solutions
            .iter()
            .map(|solution| {
                let value = |row: ndarray::ArrayView1<f64>| {
                    dot(row.to_slice().expect("a new block lies by rows"), &solution.coefficients)
                        + solution.bias
                };
                AtPrice { values: k.rows().into_iter().map(value).collect(), converged: solution.converged }
            })
            .collect())
    }
}

/// What one pair's machine says of the rows that are held out, at every price.
type HeldOut = Vec<AtPrice>;

struct AtPrice {
    values: Vec<f64>,
    converged: bool,
}

fn no_width() -> Error {
    Error::param(NAME, "gamma", "left out for kernels that have no width of their own", "a list of widths")
}

/// Least error; of equals the smaller price, then the smaller width.
fn best(errors: &[SearchPoint]) -> &SearchPoint {
    let key = |p: &SearchPoint| (p.error, p.c, p.gamma.unwrap_or(0.0));
    errors.iter().min_by(|a, b| key(a).partial_cmp(&key(b)).expect("no NaN")).expect("something was tried")
}

/// Rows of `test` that the vote of all pairs gets wrong; `pairs` has the values of each.
fn n_wrong(present: &[usize], pairs: &[&[f64]], test: &[usize], classes: &Classes) -> usize {
    let wrong =
        |(at, &row): (usize, &usize)| vote(present, pairs.iter().map(|v| v[at])) != classes.codes[row];
    test.iter().enumerate().filter(|&place| wrong(place)).count()
}
