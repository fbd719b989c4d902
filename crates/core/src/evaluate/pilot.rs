//! How long a comparison will take, from a short pilot: every method runs on a part of the rows and columns.
//!
//! Times of selection are extrapolated in proportion to the number of columns, and in the number of rows with the power that two
//! sizes show; times of evaluation in the number of rows only, except those of all features.

use super::candidate::{ALL_FEATURES, Method};
use super::evaluator::Evaluator;
use super::queue::Task;
use super::record::Cost;
use super::results_log::ResultsLog;
use super::row_order::RowOrder;
use super::runner::{Runner, Work};
use crate::context::{Context, Quiet};
use crate::data::{Dataset, Fold};
use crate::error::Result;
use std::time::Duration;

/// Below this number of cells in all splits a run is short.
const SHORT: f64 = 1e6;
/// The numbers of training rows and cells of the pilot.
const ROWS: usize = 200;
const CELLS: usize = 60_000;
/// The pilot leaves out methods that do not fit into this time.
const BUDGET: Duration = Duration::from_secs(6);
/// The power of the number of rows is between these.
const POWERS: (f64, f64) = (0.5, 3.0);
/// Times below this are rounding.
const SHORTEST: f64 = 1e-4;

/// The plan in a sentence; nothing for short runs.
pub(super) fn estimate(
    data: &Dataset,
    work: &Work,
    tasks: &[Task],
    evaluator: &Evaluator,
    ctx: &Context,
) -> Result<Option<String>> {
    if tasks.is_empty() || data.n() as f64 * data.d() as f64 * (work.folds.len() as f64) < SHORT {
        return Ok(None);
    }
    let part = Part::new(data, work, ctx.seed);
    let mut log = ResultsLog::in_memory();
    let quiet = Context { observer: &Quiet(ctx.observer), ..*ctx };
    Runner { data: &part.data, work: &part.work, evaluator }.run(
        part.tasks(tasks),
        Some(BUDGET),
        &mut log,
        &quiet,
    )?;
    let costs: Vec<&Cost> = log.costs().collect();
    let mut seconds = vec![Some(0.0); work.candidates.len()];
    for task in tasks {
        let found = part.seconds(task, work, data.d(), &costs);
        seconds[task.candidate] = seconds[task.candidate].zip(found).map(|(sum, found)| sum + found);
    }
    let workers = rayon::current_num_threads().min(tasks.len()) as f64;
    Ok(Some(sentence(work, &seconds, workers)))
}

/// A part of the data, with one split of some rows, and one with half of them if they are not all.
struct Part {
    data: Dataset,
    work: Work,
}

impl Part {
    fn new(data: &Dataset, work: &Work, seed: u64) -> Self {
        let largest = work.folds.iter().max_by_key(|fold| fold.train.len()).expect("there are tasks");
        let order = RowOrder::random(data, &largest.train, true, "pilot", seed);
        let train = order.first(ROWS.max(order.least()));
        let n_columns = data.d().min((CELLS / train.len().max(1)).max(1));
        let columns: Vec<usize> = (0..n_columns).map(|j| j * data.d() / n_columns).collect();
        let mut folds = vec![Fold { train, test: largest.test.iter().copied().take(ROWS).collect() }];
        if folds[0].train.len() < largest.train.len() {
            let half = order.first((folds[0].train.len() / 2).max(order.least()));
            folds.push(Fold { train: half, test: folds[0].test.clone() });
        }
        let work = Work {
            per_repeat: folds.len(),
            folds,
            sizes: vec![],
            candidates: work.candidates.clone(),
            encoding: work.encoding,
        };
        Self { data: data.take_columns(&columns), work }
    }

    /// A task of each method that has tasks, in each split.
    fn tasks(&self, tasks: &[Task]) -> Vec<Task> {
        let d = self.data.d();
        let first = |candidate: usize| tasks.iter().find(|task| task.candidate == candidate);
        let found: Vec<&Task> = (0..self.work.candidates.len()).filter_map(first).collect();
        let counts = |task: &Task| {
            // The evaluator is fitted for each number.
            let last = task.counts.len() - 1;
            let mut counts: Vec<usize> = [0, last / 2, last].map(|at| task.counts[at].min(d)).to_vec();
            counts.dedup();
            counts
        };
        let of_split = |split: usize| {
            let task = |task: &&Task| Task { candidate: task.candidate, split, counts: counts(task) };
            found.iter().map(task).collect::<Vec<Task>>()
        };
        (0..self.work.folds.len()).flat_map(of_split).collect()
    }

    /// The seconds of a task of the comparison; `None` if the pilot left its method out.
    fn seconds(&self, task: &Task, work: &Work, d: usize, costs: &[&Cost]) -> Option<f64> {
        let label = &work.candidates[task.candidate].label;
        let cost = |fold: usize| costs.iter().find(|cost| cost.method == *label && cost.fold == fold);
        let (all, half) = (cost(0)?, cost(1));
        let rows = |fold: usize| self.work.folds[fold].train.len() as f64;
        let n = work.folds[task.split].train.len() as f64;
        let grown = |of: fn(&Cost) -> f64| {
            let seconds = of(all).max(SHORTEST);
            let power = half.map_or(1.0, |half| {
                (seconds / of(half).max(SHORTEST)).ln() / (rows(0) / rows(1)).max(1.01).ln()
            });
            seconds * (n / rows(0)).powf(power.clamp(POWERS.0, POWERS.1))
        };
        let columns = d as f64 / self.data.d() as f64;
        let of_evaluation = if label == ALL_FEATURES { columns } else { 1.0 };
        let of_selection = match work.candidates[task.candidate].method {
            Method::Columns(_) | Method::External(_) => columns,
            Method::Space(_) | Method::Random | Method::AllFeatures => 1.0,
        };
        let counts = task.counts.len() as f64 / all.counts.len().max(1) as f64;
        let evaluation = grown(|cost| cost.evaluate_seconds) * of_evaluation * counts;
        Some(grown(|cost| cost.select_seconds) * of_selection + evaluation)
    }
}

fn sentence(work: &Work, seconds: &[Option<f64>], workers: f64) -> String {
    let minutes = |seconds: f64| format!("{:.1}", seconds / workers / 60.0);
    let total: f64 = seconds.iter().flatten().sum();
    let named = work.candidates.iter().zip(seconds);
    let mut slow: Vec<(&str, f64)> = named
        .clone()
        .filter_map(|(c, s)| Some((c.label.as_str(), (*s)?)))
        .filter(|(_, s)| *s > 0.0)
        .collect();
    slow.sort_by(|a, b| b.1.total_cmp(&a.1));
    let slow: Vec<String> =
        slow.iter().take(3).map(|(label, seconds)| format!("{label} {}", minutes(*seconds))).collect();
    let unknown: Vec<&str> = named.filter(|(_, s)| s.is_none()).map(|(c, _)| c.label.as_str()).collect();
    let (at_least, rest) = match unknown.is_empty() {
        true => ("about", String::new()),
        false => {
            ("more than", format!("; too slow for the pilot, and not estimated: {}", unknown.join(", ")))
        }
    };
    format!("plan: {at_least} {} minutes, most of them for {}{rest}", minutes(total), slow.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::ImputeStrategy;
    use crate::data::Splits;
    use crate::data::synthetic::Synthetic;
    use crate::evaluate::{Candidate, Compare, SplitChoice};

    fn compare() -> Compare {
        Compare {
            candidates: vec![Candidate::parse("fisher").unwrap(), Candidate::parse("random").unwrap()],
            counts: vec![1, 2],
            splits: SplitChoice::Generated(Splits::Folds { folds: 5, repeats: 1 }),
            stratify: true,
            evaluator: Evaluator::by_name("knn").unwrap().into(),
            scale: true,
            impute: ImputeStrategy::default(),
            baseline: true,
            train_sizes: vec![],
            latest: false,
        }
    }

    #[test]
    fn the_pilot_is_a_part_of_the_rows_and_columns() {
        let made = Synthetic { rows: 500, columns: 900, seed: 1, ..Synthetic::default() }.make().unwrap();
        let work = compare().work(&made.data, &Context::default()).unwrap();
        let part = Part::new(&made.data, &work, 0);
        let rows: Vec<usize> = part.work.folds.iter().map(|fold| fold.train.len()).collect();
        assert_eq!((part.data.d(), part.data.n(), rows), (300, 500, vec![200, 100]));
        // Twice the time with twice the rows: 400 rows take four times as long as 200, and three times the columns.
        let cost = |fold: usize, seconds: f64| Cost {
            method: "fisher".into(),
            repeat: 0,
            fold,
            train_rows: None,
            counts: vec![1, 2],
            select_seconds: seconds,
            evaluate_seconds: seconds,
            peak_bytes: None,
        };
        let costs = [cost(0, 4.0), cost(1, 1.0)];
        let task = Task { candidate: 0, split: 0, counts: vec![1, 2] };
        let seconds = part.seconds(&task, &work, 900, &costs.each_ref()).unwrap();
        assert!((seconds - (3.0 * 16.0 + 16.0)).abs() < 1e-9, "{seconds}");
        let other = Task { candidate: 1, split: 0, counts: vec![1] };
        assert_eq!(part.seconds(&other, &work, 900, &costs.each_ref()), None);
        assert_eq!(
            sentence(&work, &[Some(240.0), None, Some(0.0)], 2.0),
            "plan: more than 2.0 minutes, most of them for fisher 2.0; too slow for the pilot, and not estimated: random"
        );
    }

    #[test]
    fn short_runs_have_no_pilot() {
        let made = Synthetic { rows: 100, columns: 20, seed: 1, ..Synthetic::default() }.make().unwrap();
        let work = compare().work(&made.data, &Context::default()).unwrap();
        let tasks = [Task { candidate: 0, split: 0, counts: vec![1] }];
        let evaluator = Evaluator::by_name("knn").unwrap();
        assert_eq!(estimate(&made.data, &work, &tasks, &evaluator, &Context::default()).unwrap(), None);
    }
}
