//! Parallel execution of a comparison.
//!
//! A task is one method in one split: the method ranks the features once (or once per number of features, if its
//! selections are not nested), and the evaluator is fitted for each number of features.
//!
//! Worker threads take tasks from a queue, slowest method first, which balances the load at the end. Each worker has
//! its own thread pool, which allows measuring the memory of a task. Results do not depend on the schedule.

use super::candidate::{Candidate, Method, Ranking, Selected};
use super::evaluator::{Evaluation, Evaluator};
use super::fold::FoldRows;
use super::record::{Cost, Record};
use super::results_log::ResultsLog;
use super::scores::Scores;
use crate::context::{Context, Quiet};
use crate::data::{Dataset, Encoding, Fold, Target};
use crate::error::{Error, Result};
use crate::memory::Meter;
use rayon::ThreadPoolBuilder;
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// The name of this step in errors and progress reports.
pub(super) const NAME: &str = "compare";

/// A method in a split, with the numbers of features to evaluate.
pub(super) struct Task {
    /// Index of the candidate.
    pub candidate: usize,
    /// Index of the split.
    pub split: usize,
    /// Numbers of features.
    pub counts: Vec<usize>,
}

/// The records of a task and its cost.
type TaskResult = Result<(Vec<Record>, Cost)>;

/// The tasks that have not started, and the seconds that the last task of each candidate took.
struct Queue {
    waiting: Vec<Task>,
    seconds: Vec<Option<f64>>,
}

impl Queue {
    /// The next task: of a method without a measured time, else of the slowest method.
    fn next(&mut self) -> Option<Task> {
        let cost = |task: &Task| self.seconds[task.candidate].unwrap_or(f64::INFINITY);
        let slowest = (0..self.waiting.len())
            .rev()
            .max_by(|&a, &b| cost(&self.waiting[a]).total_cmp(&cost(&self.waiting[b])))?;
        Some(self.waiting.remove(slowest))
    }
}

/// Everything that the tasks of a comparison share.
pub(super) struct Runner<'a> {
    pub data: &'a Dataset,
    pub folds: &'a [Fold],
    /// Splits in each repeat.
    pub per_repeat: usize,
    pub candidates: &'a [Candidate],
    pub evaluator: &'a Evaluator,
    pub encoding: Encoding,
}

impl Runner<'_> {
    /// Runs the tasks in parallel and adds their results to the log.
    pub fn run(&self, tasks: Vec<Task>, log: &mut ResultsLog, ctx: &Context) -> Result<()> {
        let total = tasks.len();
        if total == 0 {
            return Ok(());
        }
        let threads = rayon::current_num_threads();
        let workers = threads.min(total);
        let queue = Mutex::new(Queue { waiting: tasks, seconds: vec![None; self.candidates.len()] });
        let quiet = Quiet(ctx.observer);
        let inner = Context { observer: &quiet, memory_limit: ctx.memory_limit / workers as u64, ..*ctx };
        std::thread::scope(|scope| {
            let (sender, receiver) = channel();
            for worker in 0..workers {
                // The first workers get the remainder of the division.
                let threads = threads / workers + usize::from(worker < threads % workers);
                let (sender, queue, inner) = (sender.clone(), &queue, &inner);
                scope.spawn(move || self.work(threads, queue, &sender, inner));
            }
            drop(sender);
            let outcome = collect(&receiver, total, log, ctx);
            // After an error no worker may start another task.
            lock(&queue).waiting.clear();
            outcome
        })
    }

    fn work(&self, threads: usize, queue: &Mutex<Queue>, sender: &Sender<TaskResult>, ctx: &Context) {
        let meter = Arc::new(Meter::new());
        let attached = meter.clone();
        let pool =
            ThreadPoolBuilder::new().num_threads(threads).start_handler(move |_| attached.attach()).build();
        let pool = match pool {
            Ok(pool) => pool,
            Err(error) => {
                let why = format!("cannot start {threads} threads: {error}");
                let _ = sender.send(Err(Error::Breakdown { step: NAME, why }));
                return;
            }
        };
        loop {
            let Some(task) = lock(queue).next() else { return };
            let start = Instant::now();
            let result = pool.install(|| self.run_task(&task, &meter, ctx));
            let failed = result.is_err();
            lock(queue).seconds[task.candidate] = Some(start.elapsed().as_secs_f64());
            // The receiver is gone after an error in another worker.
            if sender.send(result).is_err() || failed {
                return;
            }
        }
    }

    fn run_task(&self, task: &Task, meter: &Meter, ctx: &Context) -> TaskResult {
        ctx.check()?;
        let fold = &self.folds[task.split];
        let candidate = &self.candidates[task.candidate];
        let rows = FoldRows::new(self.data, fold, task.split, self.encoding)?;
        let truth = self.data.target_of(&fold.test);
        meter.reset();
        let start = Instant::now();
        let ranking = candidate.method.rank(&rows, &task.counts, ctx);
        let (select_seconds, peak_bytes) = (start.elapsed().as_secs_f64(), meter.peak());
        let start = Instant::now();
        let records = self.evaluate(task, &rows, ranking, &truth, ctx)?;
        let cost = Cost {
            method: candidate.label.clone(),
            repeat: task.split / self.per_repeat,
            fold: task.split % self.per_repeat,
            counts: task.counts.clone(),
            select_seconds,
            evaluate_seconds: start.elapsed().as_secs_f64(),
            peak_bytes,
        };
        Ok((records, cost))
    }

    /// A record for each number of features: the scores, or the error message.
    fn evaluate(
        &self,
        task: &Task,
        rows: &FoldRows,
        ranking: Result<Ranking>,
        truth: &Target,
        ctx: &Context,
    ) -> Result<Vec<Record>> {
        let mut ranking = match ranking {
            Err(error) if !is_fatal(&error) => {
                let failed = |&k| Record { failed: Some(error.to_string()), ..self.empty_record(task, k) };
                return Ok(task.counts.iter().map(failed).collect());
            }
            other => other?,
        };
        let record = |&k: &usize| {
            let selected = ranking.select(rows, k);
            let evaluated = selected.and_then(|selected| {
                Ok((self.evaluator.evaluate(&selected.train, &selected.test, truth, ctx)?, selected))
            });
            match evaluated {
                Ok((evaluation, selected)) => Ok(self.record(task, k, evaluation, selected)),
                Err(error) if is_fatal(&error) => Err(error),
                Err(error) => Ok(Record { failed: Some(error.to_string()), ..self.empty_record(task, k) }),
            }
        };
        task.counts.iter().map(record).collect()
    }

    fn record(&self, task: &Task, k: usize, evaluation: Evaluation, selected: Selected) -> Record {
        let mut record = Record {
            scores: evaluation.scores,
            chosen: evaluation.chosen,
            not_converged: !selected.converged,
            ..self.empty_record(task, k)
        };
        match self.candidates[task.candidate].method {
            Method::AllFeatures => {}
            Method::Space(_) => record.directions = selected.features,
            Method::Columns(_) | Method::Random => {
                record.features = selected.features.iter().map(|&j| self.data.names()[j].clone()).collect();
            }
        }
        record
    }

    fn empty_record(&self, task: &Task, k: usize) -> Record {
        Record {
            method: self.candidates[task.candidate].label.clone(),
            repeat: task.split / self.per_repeat,
            fold: task.split % self.per_repeat,
            k,
            scores: Scores::default(),
            chosen: BTreeMap::new(),
            features: vec![],
            directions: vec![],
            not_converged: false,
            failed: None,
        }
    }
}

/// Adds results to the log as they arrive.
fn collect(receiver: &Receiver<TaskResult>, total: usize, log: &mut ResultsLog, ctx: &Context) -> Result<()> {
    for done in 0..total {
        ctx.step(NAME, done, total)?;
        match receiver.recv() {
            Ok(Ok((records, cost))) => log.add(records, cost)?,
            Ok(Err(error)) => return Err(error),
            Err(_) => {
                return Err(Error::Breakdown { step: NAME, why: "a worker ended early".into() });
            }
        }
    }
    ctx.step(NAME, total, total)
}

/// Whether an error stops the comparison instead of counting as a failure of the method.
fn is_fatal(error: &Error) -> bool {
    matches!(error, Error::Interrupted | Error::Memory { .. } | Error::Io { .. })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
