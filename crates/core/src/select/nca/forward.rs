//! Forward selection, swaps, and the losses along an order of features.

use super::problem::{BANDWIDTHS, LARGEST, Losses, Problem};
use super::rough::Rough;
use crate::context::Context;
use crate::error::Result;
use crate::outcome::Stop;

/// Up to this many candidates are evaluated in double precision directly.
const MIN_CANDIDATES: usize = 8;
/// The bandwidth of the first step, as a position in [`BANDWIDTHS`].
const FIRST_BANDWIDTH: usize = 2;
/// The automatic count ends the search after this many steps without a relevant decrease.
const PATIENCE: usize = 2;
/// The largest automatic count.
const MAX_AUTO_COUNT: usize = 64;

/// What a search looks for.
#[derive(Clone, Copy)]
pub(super) struct Goals<'a> {
    /// The largest number of features.
    pub most: usize,
    /// The search ends after this many steps without a relevant decrease of the loss; `None`: at the largest number.
    pub patience: Option<usize>,
    /// Sets of features that matter jointly. A step may add the features of a set together.
    pub sets: &'a [Vec<usize>],
}

impl<'a> Goals<'a> {
    /// A number of features; `None` chooses it automatically.
    pub fn count(count: Option<usize>, sets: &'a [Vec<usize>]) -> Self {
        let patience = if count.is_none() { Some(PATIENCE) } else { None };
        Self { most: count.unwrap_or(MAX_AUTO_COUNT), patience, sets }
    }
}
/// A swap must decrease the loss by this fraction, which is far above rounding errors.
const MIN_DECREASE: f64 = 1e-6;
/// How often swaps of every feature are tried.
const SWAP_ROUNDS: usize = 3;

/// A set of features after a step.
pub(super) struct Step {
    /// The feature that was added.
    pub feature: usize,
    /// The bandwidth with the least loss, as a position in [`BANDWIDTHS`], the loss, and that of each row.
    pub bandwidth: usize,
    pub loss: f64,
    rows: Vec<f64>,
    /// All candidates of the step, best first.
    pub ranked: Vec<usize>,
}

/// The steps of a search.
pub(super) struct Forward {
    pub steps: Vec<Step>,
    /// The automatic count.
    pub count: usize,
    pub stop: Stop,
}

impl Forward {
    /// Adds candidates one by one, or the features of a set together if that decreases the loss more per feature.
    pub fn run(problem: &Problem, candidates: &[usize], goals: Goals, ctx: &Context) -> Result<Self> {
        let most = goals.most.min(candidates.len());
        let mut remaining = candidates.to_vec();
        let mut found = Self { steps: vec![], count: 0, stop: Stop::Exhausted };
        while found.steps.len() < most {
            ctx.step("NCA", found.steps.len(), most)?;
            let members = found.order();
            let bandwidth = found.steps.last().map_or(FIRST_BANDWIDTH, |step| step.bandwidth);
            let choice = choose(problem, &members, &remaining, bandwidth, f64::INFINITY, ctx)?;
            let Some(choice) = choice else { break };
            let loss = found.steps.last().map_or(problem.goal.empty_loss(), |step| step.loss);
            let decrease = loss - least(choice.losses).1;
            let set = best_set(problem, &members, goals.sets, loss, decrease, ctx)?;
            for feature in set.unwrap_or_else(|| vec![choice.winner]) {
                let mut ranked = choice.ranked.clone();
                ranked.retain(|f| *f != feature && remaining.contains(f));
                ranked.insert(0, feature);
                remaining.retain(|&f| f != feature);
                found.steps.push(Step::new(problem, &found.order(), feature, ranked, ctx)?);
            }
            if found.is_relevant(problem, candidates.len()) {
                found.count = found.steps.len();
            } else if goals.patience.is_some_and(|patience| found.steps.len() >= found.count + patience) {
                found.stop = Stop::Stationary;
                break;
            }
        }
        // A set may exceed the number; a search for more features begins with the same ones.
        found.steps.truncate(most);
        found.count = found.count.min(most);
        if goals.patience.is_none() && found.steps.len() == goals.most {
            found.stop = Stop::Requested;
        }
        Ok(found)
    }

    /// The losses along a given order of features.
    pub fn along(problem: &Problem, order: &[usize], ctx: &Context) -> Result<Self> {
        let step = |at: usize| Step::new(problem, &order[..at], order[at], vec![], ctx);
        let steps: Vec<Step> = (0..order.len()).map(step).collect::<Result<_>>()?;
        Ok(Self { steps, count: order.len(), stop: Stop::Requested })
    }

    /// The features in the order in which they were added.
    pub fn order(&self) -> Vec<usize> {
        self.steps.iter().map(|step| step.feature).collect()
    }

    /// Whether the loss decreased since the automatic count by more than the best of `n_candidates` features would
    /// achieve by chance: the standard error of the mean decrease of the rows, times the expected maximum of as many
    /// normal variables.
    fn is_relevant(&self, problem: &Problem, n_candidates: usize) -> bool {
        let (shares, copies) = (problem.goal.shares(), problem.goal.copies());
        let now = &self.steps[self.steps.len() - 1].rows;
        let before = |i: usize| match self.count {
            0 => problem.goal.empty_loss(),
            count => self.steps[count - 1].rows[i],
        };
        let decreases: Vec<f64> = now.iter().enumerate().map(|(i, loss)| before(i) - loss).collect();
        let mean: f64 = decreases.iter().zip(shares).map(|(decrease, share)| share * decrease).sum();
        let square = |i: usize| (shares[i] * (decreases[i] - mean)).powi(2) / copies[i];
        let error = (0..decreases.len()).map(square).sum::<f64>().sqrt();
        mean > (2.0 * (n_candidates as f64).ln()).sqrt().max(1.0) * error
    }
}

impl Step {
    fn new(
        problem: &Problem,
        members: &[usize],
        feature: usize,
        ranked: Vec<usize>,
        ctx: &Context,
    ) -> Result<Self> {
        let rows = problem.of_rows(&[members, &[feature]].concat(), ctx)?;
        let (bandwidth, loss) = least(problem.mean(&rows));
        Ok(Self { feature, bandwidth, loss, rows: rows.iter().map(|row| row[bandwidth]).collect(), ranked })
    }
}

/// The bandwidth with the least loss, and the loss. Ties go to the larger bandwidth.
pub(super) fn least(losses: Losses) -> (usize, f64) {
    let better = |best: usize, at: usize| if losses[at] < losses[best] { at } else { best };
    let best = (0..BANDWIDTHS.len()).rev().fold(LARGEST, better);
    (best, losses[best])
}

/// The features of a set that are no members yet, if adding all of them decreases the loss by more than `decrease` per
/// feature. `loss` is the loss of the members.
fn best_set(
    problem: &Problem,
    members: &[usize],
    sets: &[Vec<usize>],
    loss: f64,
    decrease: f64,
    ctx: &Context,
) -> Result<Option<Vec<usize>>> {
    let (mut best, mut largest) = (None, decrease);
    for set in sets {
        let added: Vec<usize> = set.iter().copied().filter(|f| !members.contains(f)).collect();
        if added.len() < 2 {
            continue;
        }
        let with = least(problem.mean(&problem.of_rows(&[members, &added].concat(), ctx)?)).1;
        let per_feature = (loss - with) / added.len() as f64;
        if per_feature > largest {
            (best, largest) = (Some(added), per_feature);
        }
    }
    Ok(best)
}

/// The best candidate of a step.
struct Choice {
    winner: usize,
    losses: Losses,
    /// All candidates, best first.
    ranked: Vec<usize>,
}

/// The candidate that gives the set the least loss, if it is at most `limit`. If several separate the classes, the loss
/// at the largest bandwidth decides; ties are broken by column order.
fn choose(
    problem: &Problem,
    members: &[usize],
    candidates: &[usize],
    bandwidth: usize,
    limit: f64,
    ctx: &Context,
) -> Result<Option<Choice>> {
    let gamma = 1.0 / (BANDWIDTHS[bandwidth] * (members.len() + 1) as f64);
    let separated = problem.goal.separated();
    let mut ranked: Vec<(f64, usize)>;
    let contenders: Vec<usize>;
    if candidates.len() > MIN_CANDIDATES {
        let estimates = Rough::new(problem, members, gamma, ctx)?.with_each(candidates, ctx)?;
        ranked = estimates.iter().zip(candidates).map(|(estimate, &f)| (estimate.loss, f)).collect();
        let bound = estimates.iter().map(|e| e.loss + e.error).fold(limit, f64::min).max(separated);
        let may_win = estimates.iter().map(|e| e.loss - e.error <= bound);
        contenders =
            candidates.iter().zip(may_win).filter(|(_, may_win)| *may_win).map(|(&f, _)| f).collect();
    } else {
        ranked = vec![];
        contenders = candidates.to_vec();
    }
    if contenders.is_empty() {
        return Ok(None);
    }
    let losses = problem.with_each(members, &contenders, ctx)?;
    if ranked.is_empty() {
        ranked = losses.iter().zip(&contenders).map(|(losses, &f)| (losses[bandwidth], f)).collect();
    }
    let key = |at: usize| match losses[at][bandwidth] {
        loss if loss < separated => (0, losses[at][LARGEST]),
        loss => (1, loss),
    };
    let order = |a: usize, b: usize| key(a).0.cmp(&key(b).0).then(key(a).1.total_cmp(&key(b).1));
    let best = (1..contenders.len()).fold(0, |best, at| if order(at, best).is_lt() { at } else { best });
    let winner = contenders[best];
    ranked.sort_by(|a, b| (a.1 != winner).cmp(&(b.1 != winner)).then(a.0.total_cmp(&b.0)));
    let ranked = ranked.into_iter().map(|(_, f)| f).collect();
    Ok((losses[best][bandwidth] <= limit).then_some(Choice { winner, losses: losses[best], ranked }))
}

/// Exchanges features of a set for features of the pool while that decreases the loss.
pub(super) fn swapped(
    problem: &Problem,
    mut set: Vec<usize>,
    pool: &[usize],
    ctx: &Context,
) -> Result<Vec<usize>> {
    let (mut bandwidth, mut loss) = least(problem.mean(&problem.of_rows(&set, ctx)?));
    let mut failures = 0;
    for at in (0..set.len()).cycle().take(SWAP_ROUNDS * set.len()) {
        if failures == set.len() || loss < problem.goal.separated() {
            break;
        }
        failures += 1;
        let candidates: Vec<usize> = pool.iter().copied().filter(|f| !set.contains(f)).collect();
        if candidates.is_empty() {
            break;
        }
        let mut members = set.clone();
        members.remove(at);
        let limit = (1.0 - MIN_DECREASE) * loss;
        if let Some(choice) = choose(problem, &members, &candidates, bandwidth, limit, ctx)? {
            set[at] = choice.winner;
            (bandwidth, loss) = least(choice.losses);
            failures = 0;
        }
    }
    Ok(set)
}
