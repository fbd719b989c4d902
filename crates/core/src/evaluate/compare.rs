//! Methods side by side: every method in every split with every number of features.
//!
//! A piece of work is one method in one split: it ranks once (or once per number, where a smaller number is not the
//! beginning of a larger one) and is judged with each number of features. All that is learned from rows
//! (fill values, scales, the selection, the evaluator and what it chooses) is learned from the split's training rows.
//!
//! Pieces are shared out over the threads, those of methods that take long first, so that no thread waits long at
//! the end; each has a pool of its own, so that its memory can be counted. Results do not depend on any of that.

use super::candidate::{Candidate, EVERYTHING, Kept, Method, Ranking};
use super::evaluator::{Evaluation, Evaluator};
use super::fold::FoldRows;
use super::record::{Cost, FORMAT, Fingerprint, Record, Run, SplitRows};
use super::results_log::ResultsLog;
use super::scores::Scores;
use crate::context::{Context, Quiet};
use crate::data::{Dataset, Fold, ImputeStrategy, Splits, Target};
use crate::error::{Error, Result};
use crate::memory::Meter;
use crate::select::Selector;
use rayon::ThreadPoolBuilder;
use std::collections::{BTreeMap, HashSet};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

const NAME: &str = "compare";

/// A comparison; see the module's text.
#[derive(Debug, Clone)]
pub struct Compare {
    /// The methods, each under a label of its own.
    pub candidates: Vec<Candidate>,
    /// Numbers of features.
    pub counts: Vec<usize>,
    /// How rows are split.
    pub splits: SplitChoice,
    /// Who judges.
    pub evaluator: Evaluator,
    /// Whether columns are put on one scale, by the training rows of each split.
    pub scale: bool,
    /// How empty cells are filled, by the training rows of each split.
    pub fill: ImputeStrategy,
    /// Whether all columns together are judged as well.
    pub baseline: bool,
}

/// Numbers of features to try around one that was chosen, which is among them, and at most `most`.
pub fn counts_around(kept: usize, most: usize) -> Vec<usize> {
    const LADDER: [usize; 16] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256];
    let top = most.min((2 * kept).max(10)).max(kept);
    let mut counts: Vec<usize> = LADDER.into_iter().filter(|k| (kept / 8..=top).contains(k)).collect();
    counts.push(kept);
    counts.sort_unstable();
    counts.dedup();
    counts
}

/// How rows are split.
#[derive(Debug, Clone, PartialEq)]
pub enum SplitChoice {
    /// Dealt by the seed.
    Generated(Splits),
    /// These.
    Given(Vec<Fold>),
}

/// A method in a split, with the numbers of features that are still to be judged.
struct Piece {
    candidate: usize,
    split: usize,
    counts: Vec<usize>,
}

impl Compare {
    /// Does what the log does not have yet. `name` is what the user calls the data.
    pub fn run(&self, data: &Dataset, name: &str, log: &mut ResultsLog, ctx: &Context) -> Result<()> {
        self.check(data)?;
        let folds = self.folds(data, ctx)?;
        let mut candidates = self.candidates.clone();
        if self.baseline {
            candidates.push(Candidate { label: EVERYTHING.to_owned(), method: Method::Everything });
        }
        let per_repeat = match &self.splits {
            SplitChoice::Generated(splits) => splits.per_repeat(),
            SplitChoice::Given(folds) => folds.len(),
        };
        let place = |split: usize| (split / per_repeat, split % per_repeat);
        log.begin(self.describe(data, name, &folds, place, ctx), &candidates)?;
        let pieces = self.pieces(&candidates, data.d(), folds.len(), |label, split, k| {
            let (repeat, fold) = place(split);
            log.has(&(label.to_owned(), repeat, fold, k))
        });
        let arena = Arena { data, folds: &folds, candidates: &candidates, compare: self, place: &place };
        arena.run(pieces, log, ctx)?;
        log.finish()
    }

    /// Refuses what can be told before any work is done.
    pub fn check(&self, data: &Dataset) -> Result<()> {
        self.evaluator.check(data)?;
        if self.candidates.is_empty() {
            return Err(Error::param(NAME, "methods", "at least one", "none"));
        }
        if self.counts.is_empty() {
            return Err(Error::param(NAME, "number of features", "at least one", "none"));
        }
        if let SplitChoice::Generated(splits) = &self.splits {
            splits.check(data.n())?;
        }
        for candidate in &self.candidates {
            if let (Method::Columns(selector), Target::Classes(classes)) = (&candidate.method, data.target())
            {
                selector.check_classes(classes)?;
            }
        }
        let columns_only = self.candidates.iter().all(|c| c.method.keeps_columns());
        // Kernel space may have more directions than there are columns, but not more than rows.
        let most = if columns_only { data.d() } else { data.d().max(data.n()) };
        let what = if most == data.d() { "columns" } else { "rows" };
        if let Some(&k) = self.counts.iter().find(|&&k| k == 0 || k > most) {
            return Err(Error::param(
                NAME,
                "number of features",
                format!("from 1 to the number of {what}, {most}"),
                k,
            ));
        }
        let mut labels = HashSet::from([EVERYTHING]);
        match self.candidates.iter().find(|c| !labels.insert(&c.label)) {
            Some(twice) => {
                Err(Error::param(NAME, "methods", "different from each other", format!("'{}'", twice.label)))
            }
            None => Ok(()),
        }
    }

    fn folds(&self, data: &Dataset, ctx: &Context) -> Result<Vec<Fold>> {
        match &self.splits {
            SplitChoice::Generated(splits) => {
                // Training and test rows are kept for every split, and once more in the record.
                let count = splits.repeats() as f64 * splits.per_repeat() as f64;
                ctx.need_memory(
                    format!("{count} splits of {} rows", data.n()),
                    2.0 * 8.0 * count * data.n() as f64,
                    "use fewer repeats or folds",
                )?;
                splits.split(data.target(), data.n(), ctx.seed)
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

    fn describe(
        &self,
        data: &Dataset,
        name: &str,
        folds: &[Fold],
        place: impl Fn(usize) -> (usize, usize),
        ctx: &Context,
    ) -> Run {
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
            scaled: self.scale,
            filled: data.has_missing().then_some(self.fill),
            evaluator: self.evaluator.clone(),
            folds: folds
                .iter()
                .enumerate()
                .map(|(split, rows)| {
                    let (repeat, fold) = place(split);
                    SplitRows::new(rows, data.n(), repeat, fold)
                })
                .collect(),
        }
    }

    /// What is still to do.
    fn pieces(
        &self,
        candidates: &[Candidate],
        d: usize,
        splits: usize,
        done: impl Fn(&str, usize, usize) -> bool,
    ) -> Vec<Piece> {
        let mut counts = self.counts.clone();
        counts.sort_unstable();
        counts.dedup();
        let mut pieces = vec![];
        for split in 0..splits {
            for (place, candidate) in candidates.iter().enumerate() {
                let counts: Vec<usize> = match candidate.method {
                    Method::Everything => vec![d],
                    // More directions than columns may be asked for where kernel space takes part.
                    Method::Columns(_) | Method::Random => {
                        counts.iter().copied().filter(|&k| k <= d).collect()
                    }
                    Method::Space(_) => counts.clone(),
                };
                let counts: Vec<usize> =
                    counts.into_iter().filter(|&k| !done(&candidate.label, split, k)).collect();
                if !counts.is_empty() {
                    pieces.push(Piece { candidate: place, split, counts });
                }
            }
        }
        pieces
    }
}

/// Where the methods meet.
struct Arena<'a> {
    data: &'a Dataset,
    folds: &'a [Fold],
    candidates: &'a [Candidate],
    compare: &'a Compare,
    place: &'a (dyn Fn(usize) -> (usize, usize) + Sync),
}

/// The pieces that are waiting, and how long each method's took so far.
struct Queue {
    waiting: Vec<Piece>,
    seconds: Vec<Option<f64>>,
}

impl Queue {
    /// The next piece: of a method that is not known yet, else of the one that takes longest.
    fn next(&mut self) -> Option<Piece> {
        let cost = |piece: &Piece| self.seconds[piece.candidate].unwrap_or(f64::INFINITY);
        let slowest = (0..self.waiting.len())
            .rev()
            .max_by(|&a, &b| cost(&self.waiting[a]).total_cmp(&cost(&self.waiting[b])))?;
        Some(self.waiting.remove(slowest))
    }
}

impl Arena<'_> {
    fn run(&self, pieces: Vec<Piece>, log: &mut ResultsLog, ctx: &Context) -> Result<()> {
        let total = pieces.len();
        if total == 0 {
            return Ok(());
        }
        let threads = rayon::current_num_threads();
        let workers = threads.min(total);
        let queue = Mutex::new(Queue { waiting: pieces, seconds: vec![None; self.candidates.len()] });
        let quiet = Quiet(ctx.observer);
        let inner = Context { observer: &quiet, memory_limit: ctx.memory_limit / workers as u64, ..*ctx };
        std::thread::scope(|scope| {
            let (tell, told) = channel();
            for worker in 0..workers {
                // The first ones share what does not go into the number of workers.
                let threads = threads / workers + usize::from(worker < threads % workers);
                let (tell, queue, inner) = (tell.clone(), &queue, &inner);
                scope.spawn(move || self.work(threads, queue, &tell, inner));
            }
            drop(tell);
            let outcome = self.collect(&told, total, log, ctx);
            // Whatever ended it: nobody begins another piece.
            lock(&queue).waiting.clear();
            outcome
        })
    }

    fn collect(
        &self,
        told: &std::sync::mpsc::Receiver<Result<(Vec<Record>, Cost)>>,
        total: usize,
        log: &mut ResultsLog,
        ctx: &Context,
    ) -> Result<()> {
        for done in 0..total {
            ctx.step(NAME, done, total)?;
            match told.recv() {
                Ok(Ok((records, cost))) => log.add(records, cost)?,
                Ok(Err(error)) => return Err(error),
                Err(_) => {
                    return Err(Error::Breakdown { step: NAME, why: "a worker ended early".into() });
                }
            }
        }
        ctx.step(NAME, total, total)
    }

    fn work(
        &self,
        threads: usize,
        queue: &Mutex<Queue>,
        tell: &Sender<Result<(Vec<Record>, Cost)>>,
        ctx: &Context,
    ) {
        let meter = Arc::new(Meter::new());
        let counted = meter.clone();
        let pool =
            ThreadPoolBuilder::new().num_threads(threads).start_handler(move |_| counted.attach()).build();
        let pool = match pool {
            Ok(pool) => pool,
            Err(error) => {
                let why = format!("cannot start {threads} threads: {error}");
                let _ = tell.send(Err(Error::Breakdown { step: NAME, why }));
                return;
            }
        };
        loop {
            let Some(piece) = lock(queue).next() else { return };
            let start = Instant::now();
            let result = pool.install(|| self.piece(&piece, &meter, ctx));
            let failed = result.is_err();
            lock(queue).seconds[piece.candidate] = Some(start.elapsed().as_secs_f64());
            // Nobody listens any more once something went wrong.
            if tell.send(result).is_err() || failed {
                return;
            }
        }
    }

    /// One method in one split.
    fn piece(&self, piece: &Piece, meter: &Meter, ctx: &Context) -> Result<(Vec<Record>, Cost)> {
        ctx.check()?;
        let fold = &self.folds[piece.split];
        let candidate = &self.candidates[piece.candidate];
        let rows = FoldRows::new(self.data, fold, piece.split, self.compare.scale, self.compare.fill)?;
        let truth = self.data.target_of(&fold.test);
        meter.reset();
        let start = Instant::now();
        let ranking = candidate.method.rank(&rows, &piece.counts, ctx);
        let (select_seconds, peak_bytes) = (start.elapsed().as_secs_f64(), meter.peak());
        let start = Instant::now();
        let records = self.judged(piece, &rows, ranking, &truth, ctx)?;
        let (repeat, fold) = (self.place)(piece.split);
        let cost = Cost {
            method: candidate.label.clone(),
            repeat,
            fold,
            counts: piece.counts.clone(),
            select_seconds,
            evaluate_seconds: start.elapsed().as_secs_f64(),
            peak_bytes,
        };
        Ok((records, cost))
    }

    /// What the evaluator says of each number of features, or why it cannot.
    fn judged(
        &self,
        piece: &Piece,
        rows: &FoldRows,
        ranking: Result<Ranking>,
        truth: &Target,
        ctx: &Context,
    ) -> Result<Vec<Record>> {
        let mut ranking = match ranking {
            Err(error) if !ends_everything(&error) => {
                let failed = |&k| Record { failed: Some(error.to_string()), ..self.blank(piece, k) };
                return Ok(piece.counts.iter().map(failed).collect());
            }
            other => other?,
        };
        let record = |&k: &usize| {
            let kept = ranking.kept(rows, k);
            let evaluator = &self.compare.evaluator;
            let judged =
                kept.and_then(|kept| Ok((evaluator.evaluate(&kept.train, &kept.test, truth, ctx)?, kept)));
            match judged {
                Ok((evaluation, kept)) => Ok(self.record(piece, k, evaluation, kept)),
                Err(error) if ends_everything(&error) => Err(error),
                Err(error) => Ok(Record { failed: Some(error.to_string()), ..self.blank(piece, k) }),
            }
        };
        piece.counts.iter().map(record).collect()
    }

    fn record(&self, piece: &Piece, k: usize, evaluation: Evaluation, kept: Kept) -> Record {
        let mut record = Record {
            scores: evaluation.scores,
            chosen: evaluation.chosen,
            not_converged: !kept.converged,
            ..self.blank(piece, k)
        };
        match self.candidates[piece.candidate].method {
            Method::Everything => {}
            Method::Space(_) => record.directions = kept.features,
            Method::Columns(_) | Method::Random => {
                record.features = kept.features.iter().map(|&j| self.data.names()[j].clone()).collect();
            }
        }
        record
    }

    /// A record without anything in it.
    fn blank(&self, piece: &Piece, k: usize) -> Record {
        let (repeat, fold) = (self.place)(piece.split);
        Record {
            method: self.candidates[piece.candidate].label.clone(),
            repeat,
            fold,
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

/// Failures that say nothing about the method: the run ends, and can be taken up again.
fn ends_everything(error: &Error) -> bool {
    matches!(error, Error::Interrupted | Error::Memory { .. } | Error::Io { .. })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
