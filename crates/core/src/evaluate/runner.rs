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
use super::queue::{Deadline, LeftOut, Queue, Task};
use super::record::{Cost, Record};
use super::results_log::ResultsLog;
use super::scores::Scores;
use crate::context::{Context, Quiet};
use crate::data::{Dataset, Encoding, Fold, Target, Weights};
use crate::error::{Error, Result};
use crate::memory::Meter;
use rayon::ThreadPoolBuilder;
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The name of this step in errors and progress reports.
pub(super) const NAME: &str = "compare";

/// Progress is reported at least as often.
const REPORT_INTERVAL: Duration = Duration::from_millis(500);

/// The records of a task and its cost; none of a task that the end of the budget interrupted.
type TaskResult = Result<(Vec<Record>, Option<Cost>)>;

/// What the tasks of a comparison share.
pub(super) struct Work {
    /// The splits; of a learning curve, all of the first number of training rows, then of the others.
    pub folds: Vec<Fold>,
    /// The numbers of training rows of a learning curve.
    pub sizes: Vec<usize>,
    /// Splits in each repeat.
    pub per_repeat: usize,
    pub candidates: Vec<Candidate>,
    pub encoding: Encoding,
}

/// A comparison that is checked and described, and the tasks whose results are missing.
pub(super) struct Begun {
    pub work: Work,
    pub tasks: Vec<Task>,
}

/// What a task's split is in a record.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub repeat: usize,
    pub fold: usize,
    pub train_rows: Option<usize>,
}

impl Work {
    /// The rows of a task's split, encoded.
    pub fn rows(&self, data: &Dataset, task: &Task) -> Result<FoldRows> {
        FoldRows::new(data, &self.folds[task.split], task.split % self.n_splits(), self.encoding)
    }

    /// The number of splits of the rows.
    pub fn n_splits(&self) -> usize {
        self.folds.len() / self.sizes.len().max(1)
    }

    /// What a split is in a record.
    pub fn place(&self, split: usize) -> Place {
        let (size, split) = (split / self.n_splits(), split % self.n_splits());
        Place {
            repeat: split / self.per_repeat,
            fold: split % self.per_repeat,
            train_rows: self.sizes.get(size).copied(),
        }
    }

    /// The selected features, as they are in a record.
    pub fn names(&self, task: &Task, data: &Dataset, features: Vec<usize>) -> (Vec<String>, Vec<usize>) {
        match self.candidates[task.candidate].method {
            Method::AllFeatures | Method::External(_) => (vec![], vec![]),
            Method::Space(_) => (vec![], features),
            Method::Columns(_) | Method::Random => {
                (features.iter().map(|&j| data.names()[j].clone()).collect(), vec![])
            }
        }
    }

    /// A record without scores.
    pub fn empty_record(&self, task: &Task, k: usize) -> Record {
        let Place { repeat, fold, train_rows } = self.place(task.split);
        Record {
            method: self.candidates[task.candidate].label.clone(),
            repeat,
            fold,
            k,
            train_rows,
            scores: Scores::default(),
            scorers: BTreeMap::new(),
            chosen: BTreeMap::new(),
            features: vec![],
            directions: vec![],
            not_converged: false,
            failed: None,
        }
    }

    /// The cost of a task.
    pub fn cost(&self, task: &Task, select_seconds: f64, peak_bytes: Option<u64>) -> Cost {
        let Place { repeat, fold, train_rows } = self.place(task.split);
        Cost {
            method: self.candidates[task.candidate].label.clone(),
            repeat,
            fold,
            train_rows,
            counts: task.counts.clone(),
            select_seconds,
            evaluate_seconds: 0.0,
            peak_bytes,
        }
    }
}

/// Runs the tasks of a comparison.
pub(super) struct Runner<'a> {
    pub data: &'a Dataset,
    pub work: &'a Work,
    pub evaluator: &'a Evaluator,
}

impl Runner<'_> {
    /// Runs the tasks in parallel and adds their results to the log. Returns the methods that did not fit into the budget.
    pub fn run(
        &self,
        tasks: Vec<Task>,
        budget: Option<Duration>,
        log: &mut ResultsLog,
        ctx: &Context,
    ) -> Result<Vec<LeftOut>> {
        let total = tasks.len();
        if total == 0 {
            return Ok(vec![]);
        }
        let threads = rayon::current_num_threads();
        let workers = threads.min(total);
        let queue = Queue::new(tasks, self.work.candidates.len(), workers, budget);
        let queue = Mutex::new(queue);
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
            let outcome = self.collect(&receiver, (&queue, total), log, ctx);
            // After an error no worker may start another task.
            let mut queue = lock(&queue);
            queue.waiting.clear();
            outcome.map(|()| std::mem::take(&mut queue.left_out))
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
            let (task, end) = {
                let mut queue = lock(queue);
                let Some(task) = queue.next() else { return };
                let end = queue.end_of(task.candidate);
                (task, end)
            };
            let start = Instant::now();
            let deadline = Deadline { inner: ctx.observer, end };
            let inner = Context { observer: &deadline, ..*ctx };
            let result = pool.install(|| self.run_task(&task, &meter, &inner));
            let is_late =
                matches!(&result, Err(error) if error.is_interrupted()) && !ctx.observer.interrupted();
            if is_late {
                lock(queue).leave_out(task.candidate, &self.work.candidates[task.candidate].label, 1);
                if sender.send(Ok((vec![], None))).is_err() {
                    return;
                }
                continue;
            }
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
        let candidate = &self.work.candidates[task.candidate];
        let rows = self.work.rows(self.data, task)?;
        let test = &self.work.folds[task.split].test;
        let (truth, weights) = (self.data.target_of(test), self.data.weights().of_rows(test));
        meter.reset();
        let start = Instant::now();
        let ranking = candidate.method.rank(&rows, &task.counts, ctx);
        let cost = self.work.cost(task, start.elapsed().as_secs_f64(), meter.peak());
        let start = Instant::now();
        let truth = (&truth, Weights::new(weights.as_deref()));
        let records = self.evaluate(task, &rows, ranking, truth, ctx)?;
        Ok((records, Some(Cost { evaluate_seconds: start.elapsed().as_secs_f64(), ..cost })))
    }

    /// Adds results to the log as they arrive, until no worker is left.
    fn collect(
        &self,
        receiver: &Receiver<TaskResult>,
        (queue, total): (&Mutex<Queue>, usize),
        log: &mut ResultsLog,
        ctx: &Context,
    ) -> Result<()> {
        let mut done = 0;
        ctx.step(NAME, done, total)?;
        // Workers end when nothing waits, and drop their senders.
        loop {
            match receiver.recv_timeout(REPORT_INTERVAL) {
                Ok(result) => {
                    let (records, cost) = result?;
                    if let Some(cost) = cost {
                        log.add(records, cost)?;
                        done += 1;
                    }
                    lock(queue).fit_to_budget(&self.work.candidates, ctx);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            ctx.step(NAME, done, total)?;
        }
        let n_left_out: usize = lock(queue).left_out.iter().map(|method| method.splits).sum();
        match done + n_left_out < total {
            true => Err(Error::Breakdown { step: NAME, why: "a worker ended early".into() }),
            false => ctx.step(NAME, total, total),
        }
    }

    /// A record for each number of features: the scores, or the error message.
    fn evaluate(
        &self,
        task: &Task,
        rows: &FoldRows,
        ranking: Result<Ranking>,
        (truth, weights): (&Target, Weights),
        ctx: &Context,
    ) -> Result<Vec<Record>> {
        let mut ranking = match ranking {
            Err(error) if !is_fatal(&error) => {
                let failed =
                    |&k| Record { failed: Some(error.to_string()), ..self.work.empty_record(task, k) };
                return Ok(task.counts.iter().map(failed).collect());
            }
            other => other?,
        };
        let record = |&k: &usize| {
            let selected = ranking.select(rows, k);
            let evaluated = selected.and_then(|selected| {
                let Selected { train, test, .. } = &selected;
                Ok((self.evaluator.evaluate(train, test, truth, weights, ctx)?, selected))
            });
            match evaluated {
                Ok((evaluation, selected)) => Ok(self.record(task, k, evaluation, selected)),
                Err(error) if is_fatal(&error) => Err(error),
                Err(error) => {
                    Ok(Record { failed: Some(error.to_string()), ..self.work.empty_record(task, k) })
                }
            }
        };
        task.counts.iter().map(record).collect()
    }

    fn record(&self, task: &Task, k: usize, evaluation: Evaluation, selected: Selected) -> Record {
        let (features, directions) = self.work.names(task, self.data, selected.features);
        Record {
            scores: evaluation.scores,
            chosen: evaluation.chosen,
            features,
            directions,
            not_converged: !selected.converged,
            ..self.work.empty_record(task, k)
        }
    }
}

/// Whether an error stops the comparison instead of counting as a failure of the method.
pub(super) fn is_fatal(error: &Error) -> bool {
    matches!(error, Error::Interrupted | Error::Memory { .. } | Error::Io { .. })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
