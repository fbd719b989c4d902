//! The order of tasks, and the methods that a time budget leaves out.

use super::candidate::Candidate;
use crate::context::{Context, Observer};
use std::time::{Duration, Instant};

/// A method in a split, with the numbers of features to evaluate.
pub(super) struct Task {
    /// Index of the candidate.
    pub candidate: usize,
    /// Index of the split.
    pub split: usize,
    /// Numbers of features.
    pub counts: Vec<usize>,
}

/// The first task of a method may take this part of the time budget.
const FIRST_TASK: u32 = 4;

/// A method that was left out of a comparison with a time budget.
#[derive(Debug, Clone, PartialEq)]
pub struct LeftOut {
    /// Its label.
    pub label: String,
    /// The number of splits without results.
    pub splits: usize,
    /// The estimated seconds for these splits; `None` if the budget ended before the first one was measured.
    pub seconds: Option<f64>,
}

/// The tasks that have not started, and the seconds that the last task of each candidate took.
pub(super) struct Queue {
    pub waiting: Vec<Task>,
    pub seconds: Vec<Option<f64>>,
    /// Candidates of which a task has started.
    started: Vec<bool>,
    budget: Option<Budget>,
    pub left_out: Vec<LeftOut>,
}

/// When a comparison is to end, and how many tasks run at a time.
struct Budget {
    end: Instant,
    /// The time of a method's first task.
    first: Duration,
    workers: usize,
    /// Whether the first task of every candidate has been measured, and the others fit.
    is_planned: bool,
}

impl Budget {
    /// The end of a task of a method whose tasks take this many seconds.
    fn end_of(&self, seconds: Option<f64>) -> Instant {
        let first = Instant::now().checked_add(self.first).filter(|_| seconds.is_none());
        first.map_or(self.end, |first| first.min(self.end))
    }
}

impl Queue {
    /// A queue of the tasks of some candidates, for workers that may have to end in time.
    pub fn new(waiting: Vec<Task>, n_candidates: usize, workers: usize, budget: Option<Duration>) -> Self {
        let budget = budget.and_then(|budget| {
            let end = Instant::now().checked_add(budget)?;
            Some(Budget { end, first: budget / FIRST_TASK, workers, is_planned: false })
        });
        let (seconds, started) = (vec![None; n_candidates], vec![false; n_candidates]);
        Self { waiting, seconds, started, budget, left_out: vec![] }
    }

    /// When a task of a candidate has to end.
    pub fn end_of(&self, candidate: usize) -> Option<Instant> {
        self.budget.as_ref().map(|budget| budget.end_of(self.seconds[candidate]))
    }

    /// The next task: with a budget the first one of each method, then of a method without a measured time, else of the
    /// slowest method.
    pub fn next(&mut self) -> Option<Task> {
        let first = |task: &Task| self.budget.is_some() && !self.started[task.candidate];
        let at = match self.waiting.iter().position(first) {
            Some(first) => first,
            None => self.slowest()?,
        };
        let task = self.waiting.remove(at);
        self.started[task.candidate] = true;
        Some(task)
    }

    fn slowest(&self) -> Option<usize> {
        // With a budget a method waits for the time of its first task.
        let unknown = if self.budget.is_some() { -1.0 } else { f64::INFINITY };
        let cost = |task: &Task| self.seconds[task.candidate].unwrap_or(unknown);
        (0..self.waiting.len())
            .rev()
            .max_by(|&a, &b| cost(&self.waiting[a]).total_cmp(&cost(&self.waiting[b])))
    }

    /// Whether the time of every method with waiting tasks is known.
    fn is_measured(&self) -> bool {
        self.waiting.iter().all(|task| self.seconds[task.candidate].is_some())
    }

    /// The estimated seconds of a candidate's waiting tasks.
    fn remaining(&self, candidate: usize) -> f64 {
        let tasks = self.waiting.iter().filter(|task| task.candidate == candidate).count();
        tasks as f64 * self.seconds[candidate].unwrap_or(0.0)
    }

    /// Leaves out the waiting tasks of a candidate, and `unfinished` others.
    pub fn leave_out(&mut self, candidate: usize, label: &str, unfinished: usize) {
        let seconds = self.seconds[candidate].map(|_| self.remaining(candidate));
        let before = self.waiting.len();
        self.waiting.retain(|task| task.candidate != candidate);
        let splits = before - self.waiting.len() + unfinished;
        match self.left_out.iter_mut().find(|other| other.label == label) {
            Some(known) => known.splits += splits,
            None if splits > 0 => self.left_out.push(LeftOut { label: label.to_owned(), splits, seconds }),
            None => {}
        }
    }

    /// Once all methods are measured, keeps those that fit into the budget, the fastest first.
    pub fn fit_to_budget(&mut self, candidates: &[Candidate], ctx: &Context) {
        let (is_measured, candidate_ids) = (self.is_measured(), 0..candidates.len());
        let Some(budget) = &mut self.budget else { return };
        if budget.is_planned || !is_measured {
            return;
        }
        budget.is_planned = true;
        let workers = budget.workers;
        let room = budget.end.saturating_duration_since(Instant::now()).as_secs_f64() * workers as f64;
        let mut costs: Vec<(f64, usize)> = candidate_ids.map(|c| (self.remaining(c), c)).collect();
        costs.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut total = 0.0;
        for (cost, candidate) in costs {
            total += cost;
            if cost > 0.0 && total > room {
                self.leave_out(candidate, &candidates[candidate].label, 0);
            }
        }
        let kept: f64 = (0..candidates.len()).map(|c| self.remaining(c)).sum();
        ctx.note(format!("compare: about {:.1} minutes remain", kept / workers as f64 / 60.0));
    }
}

/// Interrupts a task at the end of the budget.
pub(super) struct Deadline<'a> {
    pub inner: &'a dyn Observer,
    pub end: Option<Instant>,
}

impl Observer for Deadline<'_> {
    fn progress(&self, stage: &str, done: usize, total: usize) {
        self.inner.progress(stage, done, total);
    }

    fn plan(&self, what: &str, bytes: u64) {
        self.inner.plan(what, bytes);
    }

    fn note(&self, text: &str) {
        self.inner.note(text);
    }

    fn shows_notes(&self) -> bool {
        self.inner.shows_notes()
    }

    fn warn(&self, text: &str) {
        self.inner.warn(text);
    }

    fn interrupted(&self) -> bool {
        self.inner.interrupted() || self.end.is_some_and(|end| Instant::now() >= end)
    }
}
