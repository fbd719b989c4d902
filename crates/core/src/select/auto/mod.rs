//! The automatic selector.

mod choice;
mod errors;
mod predict;
mod result;
mod robust;
mod settings;
#[cfg(test)]
mod tests;
mod trials;

pub use result::{Alternative, Automatic, CurvePoint, Estimate};
pub use settings::{Auto, Scoring};

use super::nca::{self, Found};
use super::selector::{FeatureCount, Selection, Selector, from_one_search};
use crate::context::Context;
use crate::data::{Dataset, Encoder, Encoding, Splits, Target};
use crate::error::Result;
use crate::interactions::{JointSets, feature_p_values, overall, smallest};
use crate::method::Info;
use crate::outcome::{Outcome, Stop};
use crate::simd::dot;
use choice::Choice;
use errors::Results;
use result::ALPHA;
use robust::{Robust, with_clipped_target};
use settings::{Clock, NAME};
use std::time::{Duration, Instant};
use trials::{Plan, Trial, TrialRows, Trials, independent};

/// Beyond this many rows screening and cross-validation use a sample by default.
const MAX_ROWS: usize = 3000;
/// Below this many rows, or with this many times more features than rows, the order is always the average over searches.
const FEW_ROWS: usize = 100;
const WIDE: usize = 10;
/// Below this many rows there is no cross-validation.
const MIN_ROWS: usize = 20;
/// The order is averaged if searches on parts of the data find less than this fraction of the features, or of features that are
/// correlated with them.
const STEADY: f64 = 0.7;
const CORRELATED: f64 = 0.8;

impl Selector for Auto {
    fn info(&self) -> &'static Info {
        &Self::INFO
    }

    fn supports_types(&self) -> bool {
        true
    }

    /// It standardizes inside each fold.
    fn wants_scaling(&self) -> bool {
        false
    }

    fn nested(&self) -> bool {
        false
    }

    fn fit(&self, data: &Dataset, count: FeatureCount, ctx: &Context) -> Result<Selection> {
        let count = count.resolve(NAME, data.d())?;
        Ok(self.select_counts(data, &[count], ctx)?.remove(0))
    }

    /// Searches once, for the largest number.
    fn fit_each(&self, data: &Dataset, counts: &[usize], ctx: &Context) -> Vec<Result<Selection>> {
        from_one_search(NAME, data.d(), counts, |counts| self.select_counts(data, counts, ctx))
    }
}

impl Auto {
    /// A selection for each number of features; `None` chooses it automatically.
    fn select_counts(
        &self,
        data: &Dataset,
        counts: &[Option<usize>],
        ctx: &Context,
    ) -> Result<Vec<Selection>> {
        self.check()?;
        data.need_unencoded(NAME)?;
        self.check_split_rule(data)?;
        let scoring = self.scoring_for(data.target())?;
        // Seconds beyond the range of durations are no limit.
        let budget = self.time_budget.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let clock = Clock { start: Instant::now(), budget };
        let clipped = with_clipped_target(data)?;
        let data = clipped.as_ref().unwrap_or(data);
        let encoder = Encoder::fit(data, Encoding::default())?;
        let cells = (data.n() * encoder.groups().n_columns()) as f64;
        let most = if self.exact { data.n() } else { MAX_ROWS };
        let sampled_cells = cells * (most as f64 / data.n().max(1) as f64).min(1.0);
        let ctx = &ctx.hold(
            format!("copies of the features for the {NAME}"),
            // The encoded rows, with another target, as ranks, the sample, and the rows of a fold as they are and encoded.
            8.0 * ((if clipped.is_some() { 3.0 } else { 2.0 }) * cells + 5.0 * sampled_cells),
            "use fewer rows or columns",
        )?;
        let encoded = encoder.encode(data)?;
        nca::check(&encoded, NAME)?;
        let encoded = Robust::fit(encoded.x()).apply_to(encoded)?;
        // In the order of their values, so that results do not depend on the order of rows.
        let sampled = data.sample_rows(most, true, ctx.seed).unwrap_or_else(|| nca::sorted_rows(&encoded));
        let sample = data.take_rows(&sampled);
        let used = &sample;
        let screened = Screened::new(used, ctx)?;
        let plan = Plan::new(data, counts, self.exact);
        let found = plan.search(&encoded, screened.joint.sets(), ctx)?;
        let mut run = Run {
            method: self,
            scoring,
            data,
            encoded,
            used,
            plan,
            clock,
            screened,
            found,
            trials: vec![],
            left_out: vec![],
        };
        run.trials = run.trials(ctx)?;
        counts.iter().map(|&count| run.selection(count, ctx)).collect()
    }
}

/// The tests of all features, pairs and sets of three.
struct Screened {
    /// The p-value of each feature.
    single: Vec<f64>,
    /// The p-value of the sum of the effects of all features.
    overall: f64,
    joint: JointSets,
}

impl Screened {
    fn new(data: &Dataset, ctx: &Context) -> Result<Self> {
        let data = &*independent(data, ctx.seed);
        Ok(Self {
            single: feature_p_values(data, ctx)?,
            overall: overall(data, ctx)?,
            joint: JointSets::find(data, ctx)?,
        })
    }

    /// The p-value that nothing predicts the target: the smallest of the tests of features, of their sum, of pairs, sets of three
    /// and predictions of rows that took no part, adjusted for their number.
    fn p_value(&self, results: Option<&Results>) -> f64 {
        let [pair, three] = self.joint.p_values();
        let error = results.map_or(1.0, |results| results.p_value);
        (5.0 * smallest(&self.single).min(self.overall).min(pair).min(three).min(error)).min(1.0)
    }
}

struct Run<'a> {
    method: &'a Auto,
    scoring: Scoring,
    data: &'a Dataset,
    encoded: Dataset,
    /// The rows of screening and cross-validation.
    used: &'a Dataset,
    plan: Plan,
    clock: Clock,
    screened: Screened,
    /// The search on all rows.
    found: Found,
    trials: Vec<Trial>,
    left_out: Vec<String>,
}

impl Run<'_> {
    /// The selection of a number of features; `None` chooses it automatically.
    fn selection(&self, wanted: Option<usize>, ctx: &Context) -> Result<Selection> {
        let (plan, trials, d) = (&self.plan, &self.trials, self.data.d());
        let points = plan.points(wanted);
        let results = Results::new(self.used, self.scoring, &points, trials, ctx.seed);
        let p_value = self.screened.p_value(results.as_ref());
        let chosen =
            results.as_ref().map_or(Choice { method: 0, point: 0 }, |results| results.errors.choose());
        let (count, joint) = self.count(wanted, results.as_ref(), &points, chosen);
        let (order, is_averaged) = match chosen.method {
            0 => self.order(&votes(d, trials, 0, count), count),
            other => {
                // The largest number, as in cross-validation.
                let (selector, most) = (&plan.others[other - 1], FeatureCount::Count(plan.most));
                (selector.select_typed(self.data, most, Encoding::default(), ctx)?.order, false)
            }
        };
        let n_best = count + joint.iter().filter(|f| !order[..count].contains(f)).count();
        let sets: Vec<Vec<usize>> = std::iter::once(joint).chain(self.screened.joint.sets()).collect();
        let order = with_joint_sets(order, count, &sets);
        let votes = votes(d, trials, chosen.method, n_best);
        let nothing = wanted.is_none() && p_value > ALPHA;
        let scores = match trials.is_empty() {
            _ if nothing => vec![0.0; d],
            true => by_place(d, &order[..n_best]),
            false => with_selected(votes, &order[..n_best]),
        };
        let automatic = Automatic {
            method: plan.methods()[chosen.method].into(),
            p_value,
            is_classification: matches!(self.data.target(), Target::Classes(_)),
            scoring: self.method.scoring,
            curve: results.as_ref().map_or(vec![], |results| results.curve(plan, &points, chosen.method)),
            estimate: results.as_ref().map(|results| results.estimate),
            alternatives: results.as_ref().map_or(vec![], |found| found.alternatives(plan, &points, chosen)),
            frequencies: frequencies(d, trials, chosen.method, n_best),
            p_values: self.screened.single.clone(),
            is_averaged,
            pairs: self.screened.joint.significant_pairs(),
            three_way: self.screened.joint.significant_three_way(),
            n_used: self.used.n(),
            n: self.data.n(),
            left_out: self.left_out.clone(),
        };
        Ok(Selection {
            method: Auto::INFO.name.into(),
            order,
            scores,
            n_selected: if nothing { 0 } else { n_best },
            curve: vec![],
            coef: None,
            path: vec![],
            outcome: Outcome {
                stop: if wanted.is_some() { Stop::Requested } else { Stop::Direct },
                iterations: 1 + trials.len(),
            },
            automatic: Some(Box::new(automatic)),
            sample: None,
        })
    }

    /// The number of features, and those to add for a joint effect.
    fn count(
        &self,
        wanted: Option<usize>,
        results: Option<&Results>,
        points: &[usize],
        chosen: Choice,
    ) -> (usize, Vec<usize>) {
        match (wanted, results) {
            (Some(count), _) => (count, vec![]),
            (None, Some(results)) => match (self.plan.counts[points[chosen.point]], chosen.method) {
                (count, 0) => {
                    (count.min(self.found.order.len().max(1)), self.joint_features(results, points))
                }
                (count, _) => (count, vec![]),
            },
            (None, None) => (self.found.count.max(1).min(self.data.d()), vec![]),
        }
    }

    /// The features of the strongest significant pair and set of three, if the search has them before the least error.
    fn joint_features(&self, results: &Results, points: &[usize]) -> Vec<usize> {
        let most = self.plan.counts[points[results.errors.least(0)]];
        let found = &self.found.order[..most.min(self.found.order.len())];
        let joint = &self.screened.joint;
        let pair = joint.significant_pairs().first().map(|pair| vec![pair.features.0, pair.features.1]);
        let three = joint.significant_three_way().first().map(|three| three.features.to_vec());
        let is_found = |set: &Vec<usize>| set.iter().all(|f| found.contains(f));
        let mut features: Vec<usize> = pair.into_iter().chain(three).filter(is_found).flatten().collect();
        features.sort_unstable();
        features.dedup();
        features
    }

    /// Searches that leave out each fold, then each pair of folds. Without all single folds there are none.
    fn trials(&mut self, ctx: &Context) -> Result<Vec<Trial>> {
        let n = self.used.n();
        if n < MIN_ROWS {
            self.left_out.push(format!("cross-validation, which needs {MIN_ROWS} samples"));
            return Ok(vec![]);
        }
        let splits = Splits::Folds { folds: self.method.cv, repeats: 1 };
        let folds = splits.split_data(self.used, true, ctx.seed)?;
        let (k, all) = (folds.len(), TrialRows::all(&folds));
        let has_sets = !self.screened.joint.sets().is_empty();
        let trials = Trials { data: self.used, plan: &self.plan, scoring: self.scoring, folds, has_sets };
        let (mut done, mut longest, mut with_others) = (vec![], Duration::ZERO, true);
        let mut reason = "for lack of time";
        for (at, rows) in all.iter().enumerate() {
            ctx.step("cross-validation", at, all.len())?;
            if self.clock.exceeds(longest) {
                break;
            }
            let begun = Instant::now();
            let Some(trial) = trials.run(rows, with_others, ctx)? else {
                reason = "because the target would not vary in a part of the samples";
                break;
            };
            longest = longest.max(begun.elapsed());
            // Other methods are left out if there is no time for them in all folds.
            if at == 0 && self.clock.exceeds(longest * k as u32) {
                with_others = false;
            }
            done.push(trial);
        }
        if !with_others {
            self.left_out.push("other methods, for lack of time".into());
            done.iter_mut().for_each(|trial: &mut Trial| trial.errors.truncate(1));
        }
        if done.len() < k {
            self.left_out.push(format!("cross-validation, {reason}"));
            done.clear();
        } else if done.len() < all.len() {
            self.left_out.push(format!("nested cross-validation, {reason}"));
            done.truncate(k);
        }
        Ok(done)
    }

    /// Whether a column of one feature has an absolute correlation of at least 0.8 with one of the other.
    fn are_correlated(&self, a: usize, b: usize) -> bool {
        let groups = self.encoded.groups();
        let centered = |j: usize| {
            let column = self.encoded.x().column(j);
            let mean = column.iter().sum::<f64>() / column.len() as f64;
            column.iter().map(|v| v - mean).collect::<Vec<f64>>()
        };
        let [first, second] = [a, b].map(|f| groups.columns(f).map(centered).collect::<Vec<_>>());
        let correlates = |x: &Vec<f64>, y: &Vec<f64>| {
            dot(x, y).abs() >= CORRELATED * (dot(x, x) * dot(y, y)).sqrt().max(f64::MIN_POSITIVE)
        };
        first.iter().any(|x| second.iter().any(|y| correlates(x, y)))
    }

    /// All features, best first, and whether this is the average over searches.
    fn order(&self, votes: &[f64], count: usize) -> (Vec<usize>, bool) {
        let (ranking, trials) = (&self.found.ranking, &self.trials);
        let first = &ranking[..count.min(ranking.len())];
        let shared = |trial: &Trial| {
            let order = &trial.orders[0];
            let is_shared =
                |f: &&usize| first.contains(f) || first.iter().any(|&g| self.are_correlated(**f, g));
            order.iter().take(count).filter(is_shared).count() as f64 / first.len().max(1) as f64
        };
        let single: Vec<f64> = trials.iter().filter(|trial| trial.folds.len() == 1).map(shared).collect();
        let agreement = single.iter().sum::<f64>() / single.len().max(1) as f64;
        let (n, d) = (self.used.n(), self.used.d());
        let is_few = n < FEW_ROWS || d > WIDE * n;
        let is_steady = single.is_empty() || (agreement >= STEADY && !is_few);
        let mut order = ranking.clone();
        // Features with the same votes keep their order.
        order[if is_steady { first.len() } else { 0 }..].sort_by(|&a, &b| votes[b].total_cmp(&votes[a]));
        (order, !is_steady)
    }
}

/// For each feature the fraction of searches that have it among the first `count`.
fn frequencies(d: usize, trials: &[Trial], method: usize, count: usize) -> Vec<f64> {
    let mut out = vec![0.0; d];
    for trial in trials {
        trial.orders[method].iter().take(count).for_each(|&f| out[f] += 1.0 / trials.len() as f64);
    }
    out
}

/// For each feature the mean over searches of one over the root of its place among the first `count`.
fn votes(d: usize, trials: &[Trial], method: usize, count: usize) -> Vec<f64> {
    let mut out = vec![0.0; d];
    for trial in trials {
        for (place, &f) in (1..=count).zip(&trial.orders[method]) {
            out[f] += 1.0 / ((place as f64).sqrt() * trials.len() as f64);
        }
    }
    out
}

/// One over the root of the place of each feature.
fn by_place(d: usize, order: &[usize]) -> Vec<f64> {
    let mut out = vec![0.0; d];
    (1..).zip(order).for_each(|(place, &f): (usize, _)| out[f] = 1.0 / (place as f64).sqrt());
    out
}

/// The selected features, then those of sets that matter jointly, then the others.
fn with_joint_sets(order: Vec<usize>, n_selected: usize, sets: &[Vec<usize>]) -> Vec<usize> {
    let mut seen = vec![false; order.len()];
    let all = order[..n_selected].iter().chain(sets.iter().flatten()).chain(&order);
    all.copied().filter(|&feature| !std::mem::replace(&mut seen[feature], true)).collect()
}

/// Votes; a selected feature without votes gets the score of the least one with votes.
fn with_selected(mut votes: Vec<f64>, selected: &[usize]) -> Vec<f64> {
    let least = votes.iter().copied().filter(|v| *v > 0.0).fold(1.0, f64::min);
    selected.iter().for_each(|&f| votes[f] = votes[f].max(least));
    votes
}
