//! NCA: selects the features with which a kernel classifier or regressor predicts every row best from the others.

mod candidates;
mod cells;
mod forward;
mod goal;
mod problem;
mod rough;
mod subsamples;
#[cfg(test)]
mod tests;

use super::selector::{FeatureCount, PathPoint, Selection, Selector};
use crate::context::Context;
use crate::data::Dataset;
use crate::error::Result;
use crate::method::{Info, Needs};
use crate::outcome::{Outcome, Stop};
use candidates::{Candidates, candidates};
use forward::{Forward, Step, swapped};
use goal::Goal;
use problem::{Problem, sorted_rows};
use rough::Rough;
use subsamples::{N_AVERAGED, Subsamples};

const NAME: &str = "NCA";

/// Swaps consider this many of the features that were best in the last step.
const SWAP_POOL: usize = 64;
/// Searches on subsamples consider this many of the features that were best in each step.
const SUBSAMPLE_POOL: usize = 32;
/// Below this many rows the search is always averaged over subsamples.
const FEW_ROWS: usize = 100;
/// Above this many rows it is averaged only on request.
const MANY_ROWS: usize = 4000;
/// The search is averaged if searches on subsamples find less than this fraction of its features.
const STEADY: f64 = 0.6;

crate::parameters! {
    /// NCA selection: forward selection by the leave-one-out loss of a kernel classifier or regressor.
    ///
    /// Neighborhood components analysis predicts a row from all others, weighted by a kernel. For a set $S$ of $k$
    /// features
    ///
    /// $$ W_{ij} = \exp\Bigl( -\frac{1}{h k} \sum_{f \in S} \lVert x_{if} - x_{jf} \rVert^2 \Bigr), \qquad W_{ii} = 0. $$
    ///
    /// In classification all classes have the same weight: with $P_{ic} = \sum_{j: y_j = c} W_{ij} / n_c$ the
    /// probability of the right class is $p_i = (P_{i y_i} + e/n) / (\sum_c P_{ic} + C e/n)$, $e = 10^{-3}$, and the
    /// loss is the mean over classes of the mean of $-\log p_i$ over the rows of the class. In regression the
    /// prediction is $\hat y_i = (\sum_j W_{ij} y_j + e \bar y) / (\sum_j W_{ij} + e)$, and the loss is the mean of
    /// $(y_i - \hat y_i)^2$ divided by the variance: the prior lets a row without neighbors be predicted by the mean.
    /// The loss counts errors that remain, so a feature that repeats what others say gains nothing.
    ///
    /// Each step adds the feature with the least loss; then $h$ becomes the best of 1/4, 1/2, 1 and 2 for the set. Candidates
    /// are evaluated in single precision with a bound on the error, and in double precision if they may be the best.
    /// If several candidates separate the classes, the loss at the largest $h$ decides; ties are broken by column
    /// order. A feature of several columns, such as a category, counts as one. Then selected features are exchanged for
    /// others while that decreases the loss (`swaps`), so a smaller set need not be part of a larger one.
    ///
    /// With few rows the search depends on single rows. It is then repeated on subsamples of four fifths of the rows
    /// (`n_subsamples`), and a feature scores the mean of one over the root of its place, 0 where it is not selected.
    ///
    /// By default (`auto`) the search ends when two steps do not decrease the loss by more than the best of as many
    /// irrelevant features would by chance: the standard error of the mean decrease over rows times
    /// $\sqrt{2 \log d}$. The score of a feature is its decrease of the loss. The path contains the loss after each step. The
    /// remaining features are ranked by the loss with each of them added in the last step.
    ///
    /// Beyond 4000 rows the sums are over 2000 landmarks, evenly spaced in every class, and the loss is that of at most 20,000
    /// rows. Beyond 2000 features the candidates are the union of the best 500 by Fisher score, HSIC Lasso, Relief and
    /// L1-SVM.
    ///
    /// Cost: $n^2 / 2$ exponentials per candidate and step; memory for $n^2 / 2$ kernel values in single precision and
    /// two copies of the features.
    ///
    /// References: Goldberger, Roweis, Hinton and Salakhutdinov, *Neighbourhood components analysis*, 2004; Yang, Wang and
    /// Zuo, *Neighborhood component feature selection for high-dimensional data*, 2012, who minimize such a loss over weights.
    #[derive(PartialEq)]
    pub struct Nca as "NCA" {
        /// Whether to exchange selected features for others after the last step.
        pub swaps: bool = true;
        /// Number of subsamples over which the search is averaged, 0 for none; none averages over 20 if there are fewer than 100
        /// rows or if searches on subsamples disagree.
        pub n_subsamples: Option<usize> = None, between(0, 1000);
    }
}

impl Nca {
    /// What to know before using it.
    pub const INFO: Info = Info {
        name: "nca",
        title: "NCA",
        summary: "Features with which a kernel classifier or regressor predicts each row best from the others",
        needs: Needs::Target,
        cost: "O(n² d) time per step, O(n² + n d) memory; beyond 4000 samples O(n m d) and O(n m + n d)",
        reference: "Goldberger et al., 2004; Yang et al., 2012",
    };

    /// A selection for each number of features; `None` chooses it automatically.
    fn select_counts(
        &self,
        data: &Dataset,
        counts: &[Option<usize>],
        ctx: &Context,
    ) -> Result<Vec<Selection>> {
        self.check()?;
        data.need_complete(NAME)?;
        Goal::check(data, NAME)?;
        Problem::check(data)?;
        let candidates = candidates(data, ctx)?;
        let rows = sorted_rows(data);
        let n = rows.len();
        let ctx = &ctx.hold(
            format!("{NAME}'s copy of the features"),
            Problem::bytes(data, n, &candidates.features) + 16.0 * data.n() as f64,
            "use fewer rows or columns",
        )?;
        let problem = Problem::new(data, &rows, candidates.features.clone());
        let m = problem.n_landmarks();
        ctx.need_memory(format!("{NAME}'s kernel values"), Rough::bytes(n, m), "use fewer rows")?;
        if n < data.n() || m < n {
            ctx.note(format!("{NAME}: the loss of {n} of {} rows, by {m} landmarks", data.n()));
        }
        let all: Vec<usize> = (0..problem.features.len()).collect();
        let wanted = counts.iter().copied().max().flatten();
        let forward = Forward::run(&problem, &all, wanted, ctx)?;
        let mut run =
            Run { method: self, data, candidates, rows: &rows, problem: &problem, forward, subsamples: None };
        counts.iter().map(|&count| run.selection(count, ctx)).collect()
    }
}

impl Selector for Nca {
    fn info(&self) -> &'static Info {
        &Self::INFO
    }

    fn has_path(&self) -> bool {
        true
    }

    fn nested(&self) -> bool {
        false
    }

    fn select(&self, data: &Dataset, count: FeatureCount, ctx: &Context) -> Result<Selection> {
        let count = count.resolve(NAME, data.d())?;
        Ok(self.select_counts(data, &[count], ctx)?.remove(0))
    }

    /// Searches once, for the largest number.
    fn select_each(&self, data: &Dataset, counts: &[usize], ctx: &Context) -> Vec<Result<Selection>> {
        let valid = |&&count: &&usize| (1..=data.d()).contains(&count);
        let wanted: Vec<Option<usize>> = counts.iter().filter(valid).map(|&count| Some(count)).collect();
        let found = if wanted.is_empty() { Ok(vec![]) } else { self.select_counts(data, &wanted, ctx) };
        let Ok(found) = found else {
            // Errors are reported for every number.
            return counts.iter().map(|&count| self.select(data, FeatureCount::Count(count), ctx)).collect();
        };
        let mut found = found.into_iter();
        let one = |&count: &usize| {
            FeatureCount::Count(count).resolve(NAME, data.d())?;
            Ok(found.next().expect("one for each valid number"))
        };
        counts.iter().map(one).collect()
    }
}

/// A search and what is computed from it for several numbers of features.
struct Run<'a> {
    method: &'a Nca,
    data: &'a Dataset,
    candidates: Candidates,
    rows: &'a [usize],
    problem: &'a Problem,
    forward: Forward,
    subsamples: Option<Subsamples<'a>>,
}

impl Run<'_> {
    fn selection(&mut self, wanted: Option<usize>, ctx: &Context) -> Result<Selection> {
        let count = wanted.unwrap_or(self.forward.count.max(1));
        let found = self.forward.order();
        let chosen = &found[..count.min(found.len())];
        let votes = self.votes(chosen, ctx)?;
        let other: Option<Forward> = match &votes {
            Some(votes) => {
                let mut order: Vec<usize> = (0..self.problem.features.len()).collect();
                let vote = |at: usize| votes[self.problem.features[at]];
                order.sort_by(|&a, &b| vote(b).total_cmp(&vote(a)));
                Some(Forward::along(self.problem, &order[..chosen.len()], ctx)?)
            }
            None if self.method.swaps && !chosen.is_empty() => self.swapped(chosen, ctx)?,
            None => None,
        };
        let steps = other.as_ref().map_or(&self.forward.steps[..chosen.len()], |other| &other.steps);
        let order = self.ranking(steps, chosen, votes.as_deref());
        let gains = gains(steps, self.problem.goal.empty_loss());
        let scores = votes.unwrap_or_else(|| {
            let mut scores = vec![0.0; self.data.d()];
            steps
                .iter()
                .zip(&gains)
                .for_each(|(step, gain)| scores[self.problem.features[step.feature]] = *gain);
            scores
        });
        Ok(Selection {
            method: Nca::INFO.name.into(),
            scores,
            n_selected: count,
            curve: vec![],
            coef: None,
            path: self.path(steps, &order, &gains),
            outcome: Outcome {
                stop: if wanted.is_some_and(|count| count == steps.len()) {
                    Stop::Requested
                } else {
                    self.forward.stop
                },
                iterations: steps.len(),
            },
            order,
        })
    }

    /// The scores of all features by subsamples, unless one search is enough.
    fn votes(&mut self, chosen: &[usize], ctx: &Context) -> Result<Option<Vec<f64>>> {
        let n = match self.method.n_subsamples {
            Some(n) => n,
            None if self.rows.len() > MANY_ROWS => 0,
            None => N_AVERAGED,
        };
        if n < 2 || chosen.is_empty() || chosen.len() == self.problem.features.len() {
            return Ok(None);
        }
        let features: Vec<usize> = chosen.iter().map(|&at| self.problem.features[at]).collect();
        let subsamples = match &mut self.subsamples {
            Some(subsamples) => subsamples,
            none => none.insert(new_subsamples(self.data, self.rows, self.problem, &self.forward, ctx)?),
        };
        if self.method.n_subsamples.is_none()
            && self.rows.len() >= FEW_ROWS
            && subsamples.agreement(&features, ctx)? >= STEADY
        {
            return Ok(None);
        }
        subsamples.scores(self.data.d(), chosen.len(), n, ctx).map(Some)
    }

    /// The search after swaps, if they find a better set: its features, added one by one.
    fn swapped(&self, chosen: &[usize], ctx: &Context) -> Result<Option<Forward>> {
        let last = &self.forward.steps[chosen.len() - 1];
        let pool = &last.ranked[..last.ranked.len().min(SWAP_POOL)];
        let mut set = swapped(self.problem, chosen.to_vec(), last, pool, ctx)?;
        if set == chosen {
            return Ok(None);
        }
        set.sort_unstable();
        Forward::run(self.problem, &set, Some(set.len()), ctx).map(Some)
    }

    /// All features: the selected ones in order, then those of the search that were exchanged, by votes, by their loss in
    /// the last step, by quick scores, and constant ones.
    fn ranking(&self, steps: &[Step], chosen: &[usize], votes: Option<&[f64]>) -> Vec<usize> {
        let features = &self.problem.features;
        let mut order: Vec<usize> = steps.iter().map(|step| features[step.feature]).collect();
        if let Some(votes) = votes {
            let mut voted: Vec<usize> = (0..votes.len()).filter(|&f| votes[f] > 0.0).collect();
            voted.sort_by(|&a, &b| votes[b].total_cmp(&votes[a]));
            order.extend(voted);
        }
        order.extend(chosen.iter().map(|&at| features[at]));
        let last = chosen.len().checked_sub(1).map_or(&[][..], |last| &self.forward.steps[last].ranked);
        order.extend(last.iter().map(|&at| features[at]));
        order.extend(features.iter().chain(&self.candidates.others).copied());
        order.extend(0..self.data.d());
        let mut seen = vec![false; self.data.d()];
        order.retain(|&f| !std::mem::replace(&mut seen[f], true));
        order
    }

    fn path(&self, steps: &[Step], order: &[usize], gains: &[f64]) -> Vec<PathPoint> {
        let point = |step: usize| PathPoint {
            strength: (step + 1) as f64,
            objective: steps[step].loss,
            optimality: 0.0,
            iterations: 1,
            stop: Stop::Direct,
            columns: order[..=step].to_vec(),
            weights: gains[..=step].to_vec(),
        };
        (0..steps.len()).map(point).collect()
    }
}

/// Subsamples of the features that were among the best in a step of the search.
fn new_subsamples<'a>(
    data: &'a Dataset,
    rows: &'a [usize],
    problem: &Problem,
    forward: &Forward,
    ctx: &Context,
) -> Result<Subsamples<'a>> {
    let best = forward.steps.iter().flat_map(|step| step.ranked.iter().take(SUBSAMPLE_POOL));
    let mut pool: Vec<usize> = best.map(|&at| problem.features[at]).collect();
    pool.sort_unstable();
    pool.dedup();
    let (n, m) = (rows.len(), problem.n_landmarks());
    let bytes = Problem::bytes(data, n, &pool) + Rough::bytes(n, m);
    ctx.need_memory(format!("{NAME}'s subsamples"), 0.8 * bytes, "use fewer rows, or no subsamples")?;
    Ok(Subsamples::new(data, rows, pool, forward.steps.len()))
}

/// How much each step decreased the loss.
fn gains(steps: &[Step], empty_loss: f64) -> Vec<f64> {
    let before = |at: usize| if at == 0 { empty_loss } else { steps[at - 1].loss };
    (0..steps.len()).map(|at| (before(at) - steps[at].loss).max(0.0)).collect()
}
