//! Comparison of methods: every method in every split with every number of features.
//!
//! Everything that is fitted (imputation, scaling, the selection, the evaluator and its hyperparameters) is fitted on
//! the training rows of the split.

use super::candidate::{ALL_FEATURES, Candidate, Method};
use super::evaluator::Evaluator;
use super::external::EvaluatorChoice;
use super::pilot::estimate;
use super::queue::{LeftOut, Task};
use super::record::{FORMAT, Fingerprint, Run, SplitRows};
use super::results_log::ResultsLog;
use super::row_order::RowOrder;
use super::runner::{Begun, NAME, Place, Runner, Work};
use crate::context::Context;
use crate::data::{Dataset, Encoding, Fold, ImputeStrategy, SplitRule, Splits, Target};
use crate::error::{Error, Result};
use crate::select::Selector;
use std::collections::HashSet;
use std::time::Duration;

/// A comparison of methods by cross-validation.
#[derive(Debug, Clone)]
pub struct Compare {
    /// The methods, with distinct labels.
    pub candidates: Vec<Candidate>,
    /// Numbers of features to select.
    pub counts: Vec<usize>,
    /// How the rows are split; generated splits also respect the [`SplitRule`] of the data.
    pub splits: SplitChoice,
    /// Whether generated splits have the class proportions of the data, as far as groups permit.
    pub stratify: bool,
    /// The estimator used for evaluation.
    pub evaluator: EvaluatorChoice,
    /// Whether to standardize the features, with the means and standard deviations of the training rows of each split.
    pub scale: bool,
    /// How to impute missing values, from the training rows of each split.
    pub impute: ImputeStrategy,
    /// Whether to evaluate all features together as well.
    pub baseline: bool,
    /// For a learning curve, numbers of training rows: every split is evaluated after training on so many of its training rows. The
    /// smaller sets are parts of the larger ones. They are random with the class proportions of the split; groups are kept
    /// whole, and of rows with times the last ones are used. None uses all training rows.
    pub train_sizes: Vec<usize>,
    /// Whether given splits are in the order of time, so that the last training rows are used as if they had times.
    pub latest: bool,
}

/// Numbers of features to try around a chosen number, `kept`. They include `kept`, and none exceeds `most`.
pub fn counts_around(kept: usize, most: usize) -> Vec<usize> {
    const LADDER: [usize; 16] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256];
    let top = most.min((2 * kept).max(10)).max(kept);
    let mut counts: Vec<usize> = LADDER.into_iter().filter(|k| (kept / 8..=top).contains(k)).collect();
    counts.push(kept);
    counts.sort_unstable();
    counts.dedup();
    counts
}

/// How the rows are split.
#[derive(Debug, Clone, PartialEq)]
pub enum SplitChoice {
    /// Generated from the seed.
    Generated(Splits),
    /// Given by the user.
    Given(Vec<Fold>),
}

impl Compare {
    /// Computes the results that the log lacks. `name` is the user's name for the data.
    pub fn run(&self, data: &Dataset, name: &str, log: &mut ResultsLog, ctx: &Context) -> Result<()> {
        self.run_within(None, data, name, log, ctx).map(drop)
    }

    /// As [`Compare::run`], but leaves out methods that would take longer than a time budget, see [`LeftOut`]; the choice depends
    /// on the speed of the computer. Without a budget, a pilot first estimates the time of a run that is not short, if the
    /// observer shows notes.
    pub fn run_within(
        &self,
        budget: Option<Duration>,
        data: &Dataset,
        name: &str,
        log: &mut ResultsLog,
        ctx: &Context,
    ) -> Result<Vec<LeftOut>> {
        let evaluator = self.built_in()?;
        let Begun { work, tasks } = self.begin(data, name, log, ctx)?;
        if budget.is_none() && ctx.observer.shows_notes() {
            estimate(data, &work, &tasks, evaluator, ctx)?.into_iter().for_each(|plan| ctx.note(plan));
        }
        let left_out = Runner { data, work: &work, evaluator }.run(tasks, budget, log, ctx)?;
        log.finish()?;
        Ok(left_out)
    }

    /// The evaluator; an error for one of another library.
    pub(super) fn built_in(&self) -> Result<&Evaluator> {
        match &self.evaluator {
            EvaluatorChoice::BuiltIn(evaluator) => Ok(evaluator),
            EvaluatorChoice::External(_) => {
                Err(Error::param(NAME, "evaluator", "one of the library", self.evaluator.name()))
            }
        }
    }

    /// Checks everything, makes the splits, and adds the description of the run to the log.
    pub(super) fn begin(
        &self,
        data: &Dataset,
        name: &str,
        log: &mut ResultsLog,
        ctx: &Context,
    ) -> Result<Begun> {
        self.check(data, ctx)?;
        let folds = self.folds(data, ctx)?;
        let orders = self.row_orders(data, &folds, ctx.seed);
        let work = self.work_of(data, folds.clone(), &orders);
        let mut run = self.describe(data, name, &folds, work.per_repeat, ctx);
        run.folds.iter_mut().zip(&orders).for_each(|(split, order)| split.order = Some(order.rows.clone()));
        log.begin(run, &work.candidates)?;
        let tasks = self.tasks(&work, data.d(), |label, split, k| {
            let Place { repeat, fold, train_rows } = work.place(split);
            log.has(&(label.to_owned(), repeat, fold, train_rows, k))
        });
        Ok(Begun { work, tasks })
    }

    /// What all tasks share.
    pub(super) fn work(&self, data: &Dataset, ctx: &Context) -> Result<Work> {
        let folds = self.folds(data, ctx)?;
        let orders = self.row_orders(data, &folds, ctx.seed);
        Ok(self.work_of(data, folds, &orders))
    }

    fn work_of(&self, data: &Dataset, folds: Vec<Fold>, orders: &[RowOrder]) -> Work {
        let mut candidates = self.candidates.clone();
        if self.baseline {
            candidates.push(Candidate { label: ALL_FEATURES.to_owned(), method: Method::AllFeatures });
        }
        let per_repeat = match (&self.splits, data.split_rule()) {
            (
                SplitChoice::Generated(splits),
                SplitRule::Independent | SplitRule::Groups(_) | SplitRule::Time(_),
            ) => splits.per_repeat(),
            _ => folds.len(),
        };
        let encoding = Encoding { impute: Some(self.impute), standardize: self.scale };
        let (folds, sizes) = self.with_sizes(folds, orders);
        Work { folds, sizes, per_repeat, candidates, encoding }
    }

    /// For a learning curve, the order of the training rows of each split.
    fn row_orders(&self, data: &Dataset, folds: &[Fold], seed: u64) -> Vec<RowOrder> {
        let order = |(split, fold): (usize, &Fold)| match data.split_rule() {
            SplitRule::Time(times) => RowOrder::latest(&fold.train, |row| times[row]),
            _ if self.latest => RowOrder::latest(&fold.train, |row| row as f64),
            _ => RowOrder::random(data, &fold.train, self.stratify, &format!("training rows {split}"), seed),
        };
        if self.train_sizes.is_empty() { vec![] } else { folds.iter().enumerate().map(order).collect() }
    }

    /// The splits with each number of training rows, and these numbers.
    fn with_sizes(&self, folds: Vec<Fold>, orders: &[RowOrder]) -> (Vec<Fold>, Vec<usize>) {
        let mut sizes = self.train_sizes.clone();
        sizes.sort_unstable();
        sizes.dedup();
        if sizes.is_empty() {
            return (folds, sizes);
        }
        let smaller = |&size: &usize| {
            let fold = move |(fold, order): (&Fold, &RowOrder)| Fold {
                train: order.first(size),
                test: fold.test.clone(),
            };
            folds.iter().zip(orders).map(fold).collect::<Vec<Fold>>()
        };
        (sizes.iter().flat_map(smaller).collect(), sizes)
    }

    /// Checks the numbers of training rows against the splits.
    fn check_sizes(&self, data: &Dataset, ctx: &Context) -> Result<()> {
        let (Some(&least), Some(&most)) = (self.train_sizes.iter().min(), self.train_sizes.iter().max())
        else {
            return Ok(());
        };
        let folds = self.folds(data, ctx)?;
        let room = folds.iter().map(|fold| fold.train.len()).min().unwrap_or(0);
        let orders = self.row_orders(data, &folds, ctx.seed);
        let need = orders.iter().map(RowOrder::least).max().unwrap_or(0).max(2);
        let what = match data.split_rule() {
            SplitRule::Groups(_) => "the rows of the two first groups of a split",
            _ => "two rows",
        };
        match () {
            () if most > room => {
                let expected = format!("at most {room}, the training rows of the smallest split");
                Err(Error::param(NAME, "training rows", expected, most))
            }
            () if least < need => {
                let expected = format!("at least {need}, {what}");
                Err(Error::param(NAME, "training rows", expected, least))
            }
            () => Ok(()),
        }
    }

    /// Checks the parameters against the data, before any work is done.
    pub fn check(&self, data: &Dataset, ctx: &Context) -> Result<()> {
        match &self.evaluator {
            EvaluatorChoice::BuiltIn(evaluator) => evaluator.check(data)?,
            EvaluatorChoice::External(_) => Evaluator::check_target(data)?,
        }
        if self.candidates.is_empty() {
            return Err(Error::param(NAME, "methods", "at least one", "none"));
        }
        if self.counts.is_empty() {
            return Err(Error::param(NAME, "number of features", "at least one", "none"));
        }
        if let SplitChoice::Generated(splits) = &self.splits {
            splits.check_data(data)?;
        }
        for candidate in &self.candidates {
            candidate.method.check_data(data)?;
            if let (Method::Columns(selector), Target::Classes(classes)) = (&candidate.method, data.target())
            {
                selector.check_classes(classes)?;
            }
        }
        self.check_counts(data)?;
        self.check_sizes(data, ctx)?;
        let mut labels = HashSet::from([ALL_FEATURES]);
        match self.candidates.iter().find(|c| !labels.insert(&c.label)) {
            Some(twice) => {
                Err(Error::param(NAME, "methods", "different from each other", format!("'{}'", twice.label)))
            }
            None => Ok(()),
        }
    }

    fn check_counts(&self, data: &Dataset) -> Result<()> {
        let columns_only = self.candidates.iter().all(|c| c.method.keeps_columns());
        // Kernel space may have more directions than there are columns, but at most as many as rows.
        let most = if columns_only { data.d() } else { data.d().max(data.n()) };
        let what = if most == data.d() { "columns" } else { "rows" };
        match self.counts.iter().find(|&&k| k == 0 || k > most) {
            Some(k) => {
                let expected = format!("from 1 to the number of {what}, {most}");
                Err(Error::param(NAME, "number of features", expected, k))
            }
            None => Ok(()),
        }
    }

    fn folds(&self, data: &Dataset, ctx: &Context) -> Result<Vec<Fold>> {
        match &self.splits {
            SplitChoice::Generated(splits) => {
                // Training and test rows of every split are held here and in the log.
                let count = splits.repeats() as f64 * splits.per_repeat() as f64;
                ctx.need_memory(
                    format!("{count} splits of {} rows", data.n()),
                    2.0 * 8.0 * count * data.n() as f64,
                    "use fewer repeats or folds",
                )?;
                splits.split_data(data, self.stratify, ctx.seed)
            }
            SplitChoice::Given(folds) => {
                if folds.is_empty() {
                    return Err(Error::param(NAME, "splits", "at least one", "none"));
                }
                for (split, fold) in folds.iter().enumerate() {
                    fold.check(data.n(), split)?;
                }
                Ok(folds.clone())
            }
        }
    }

    fn describe(&self, data: &Dataset, name: &str, folds: &[Fold], per_repeat: usize, ctx: &Context) -> Run {
        Run {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            data: name.to_owned(),
            fingerprint: Fingerprint::of(data),
            seed: ctx.seed,
            splits: match self.splits {
                SplitChoice::Generated(splits) => Some(splits),
                SplitChoice::Given(_) => None,
            },
            not_stratified: !self.stratify && matches!(self.splits, SplitChoice::Generated(_)),
            split_by: match data.split_rule() {
                SplitRule::Groups(_) => Some("groups".to_owned()),
                SplitRule::Time(_) => Some("time".to_owned()),
                SplitRule::Independent | SplitRule::Given(_) => None,
            },
            weighted: data.weights().given().is_some(),
            balanced: data.balances_classes(),
            scaled: self.scale,
            impute: data.has_missing().then_some(self.impute),
            evaluator: self.evaluator.clone(),
            folds: folds
                .iter()
                .enumerate()
                .map(|(split, rows)| SplitRows::new(rows, data.n(), split / per_repeat, split % per_repeat))
                .collect(),
        }
    }

    /// The tasks whose results are not `done` yet.
    fn tasks(&self, work: &Work, d: usize, done: impl Fn(&str, usize, usize) -> bool) -> Vec<Task> {
        let mut counts = self.counts.clone();
        counts.sort_unstable();
        counts.dedup();
        let mut tasks = vec![];
        // The largest training sets come first: the first task of a method tells how long others take.
        let n_splits = work.n_splits();
        let blocks = (0..work.folds.len() / n_splits.max(1)).rev();
        for split in blocks.flat_map(|block| block * n_splits..(block + 1) * n_splits) {
            for (index, candidate) in work.candidates.iter().enumerate() {
                let counts: Vec<usize> = match candidate.method {
                    Method::AllFeatures => vec![d],
                    // Counts above the number of columns are for methods in kernel space.
                    Method::Columns(_) | Method::Random | Method::External(_) => {
                        counts.iter().copied().filter(|&k| k <= d).collect()
                    }
                    Method::Space(_) => counts.clone(),
                };
                let counts: Vec<usize> =
                    counts.into_iter().filter(|&k| !done(&candidate.label, split, k)).collect();
                if !counts.is_empty() {
                    tasks.push(Task { candidate: index, split, counts });
                }
            }
        }
        tasks
    }
}
