//! Comparisons whose selections another library evaluates, such as scikit-learn.
//!
//! This library makes the splits, encodes the rows of each split, selects, and keeps the results log; the other one fits
//! its estimator to the selected features and computes scores.

use super::candidate::{Method, Ranking};
use super::compare::Compare;
use super::queue::{Deadline, Task};
use super::record::{Cost, Record};
use super::results_log::ResultsLog;
use super::runner::{Begun, Work, is_fatal};
use crate::context::Context;
use crate::data::{Dataset, Fold, Rows};
use crate::error::{Error, Result};
use std::sync::Arc;
use std::time::Instant;

/// What a method selects in a split, for a number of features.
pub struct FoldSelection {
    /// The record, without scores.
    pub record: Record,
    /// The encoded training and test rows of the selected features, and the name of the feature of each column; `None` if the
    /// method failed.
    pub rows: Option<(Rows, Rows, Vec<String>)>,
}

/// A comparison whose selections another library evaluates.
pub struct ExternalComparison {
    data: Arc<Dataset>,
    work: Work,
    tasks: Vec<Task>,
    log: ResultsLog,
}

impl ExternalComparison {
    /// Checks everything, makes the splits, and adds the description of the run to the log.
    pub fn begin(
        compare: &Compare,
        data: Arc<Dataset>,
        name: &str,
        mut log: ResultsLog,
        ctx: &Context,
    ) -> Result<Self> {
        let Begun { work, tasks } = compare.begin(&data, name, &mut log, ctx)?;
        Ok(Self { data, work, tasks, log })
    }

    /// The number of tasks, each a method in a split, whose results are missing.
    pub fn n_tasks(&self) -> usize {
        self.tasks.len()
    }

    /// The label of a task's method, and its split; training rows of weight 0 are left out.
    pub fn task(&self, task: usize) -> (&str, Fold) {
        let Task { candidate, split, .. } = self.tasks[task];
        let mut fold = self.work.folds[split].clone();
        fold.train.retain(|&row| self.data.weights().of(row) > 0.0);
        (&self.work.candidates[candidate].label, fold)
    }

    /// The weights of the training rows of a split, in which classes are balanced if requested, and those of the test rows; `None`
    /// without weights.
    pub fn weights(&self, fold: &Fold) -> [Option<Vec<f64>>; 2] {
        let train = self.data.take_rows(&fold.train);
        let train = train.for_fit().weights().given().map(<[f64]>::to_vec);
        [train, self.data.weights().of_rows(&fold.test)]
    }

    /// The selections of a task, one per number of features, and the cost; `None` if the selection does not end in time.
    pub fn select(
        &self,
        task: usize,
        end: Option<Instant>,
        ctx: &Context,
    ) -> Result<Option<(Vec<FoldSelection>, Cost)>> {
        let deadline = Deadline { inner: ctx.observer, end };
        match self.select_in_time(&self.tasks[task], &Context { observer: &deadline, ..*ctx }) {
            Err(error) if error.is_interrupted() && !ctx.observer.interrupted() => Ok(None),
            done => done.map(Some),
        }
    }

    fn select_in_time(&self, task: &Task, ctx: &Context) -> Result<(Vec<FoldSelection>, Cost)> {
        let rows = self.work.rows(&self.data, task)?;
        let method = &self.work.candidates[task.candidate].method;
        let start = Instant::now();
        let mut ranking = match self.work.ranking(task, &rows, &self.log, ctx) {
            Err(error) if is_fatal(&error) => return Err(error),
            other => other,
        };
        let cost = self.work.cost(task, start.elapsed().as_secs_f64(), None);
        let selection = |&k: &usize| {
            let record = self.work.empty_record(task, k);
            let all = if matches!(method, Method::External(_)) { self.data.d() } else { k };
            let selected = match &mut ranking {
                Ok(ranking) => Ranking::select(ranking, &rows, all),
                Err(error) => Err(Error::parse(error.to_string())),
            };
            match selected {
                Err(error) if is_fatal(&error) => Err(error),
                Err(error) => {
                    let record = Record { failed: Some(error.to_string()), ..record };
                    Ok(FoldSelection { record, rows: None })
                }
                Ok(selected) => {
                    let selected = if method.keeps_columns() { selected.in_table_order() } else { selected };
                    let (features, directions) = self.work.names(task, &self.data, selected.features);
                    let not_converged = !selected.converged;
                    let record = Record { features, directions, not_converged, ..record };
                    let groups = selected.train.groups();
                    let column = |&feature: &usize| selected.train.names()[feature].clone();
                    let columns = groups.feature_of_columns().iter().map(column).collect();
                    Ok(FoldSelection {
                        record,
                        rows: Some((selected.train.into_x(), selected.test, columns)),
                    })
                }
            }
        };
        Ok((task.counts.iter().map(selection).collect::<Result<_>>()?, cost))
    }

    /// Replaces the tasks by those of a method with one number of features, in all splits, to compute its predictions again.
    pub fn begin_predictions(&mut self, label: &str, k: usize, train_rows: Option<usize>) {
        self.tasks = self.work.tasks_of(label, k, train_rows);
    }

    /// Adds the results of a task.
    pub fn add(&mut self, records: Vec<Record>, cost: Cost) -> Result<()> {
        self.log.add(records, cost)
    }

    /// Writes the file of the log in its fixed order.
    pub fn finish(&mut self) -> Result<()> {
        self.log.finish()
    }

    /// The results.
    pub fn log(&self) -> &ResultsLog {
        &self.log
    }

    /// The data.
    pub fn data(&self) -> &Dataset {
        &self.data
    }
}
