//! The linear programme of kernel design, solved in rounds: weights, what they break, more cuts.

use super::cuts::{Aim, Cuts};
use super::likeness::Likeness;
use super::{Penalties, Psd};
use crate::context::Context;
use crate::data::Triplet;
use crate::error::{Error, Result};
use crate::learn::Status;
use crate::linalg::product_bytes;
use crate::optim::{Ending, Held, HingeProgram, HingeSolution};
use ndarray::{Array2, ShapeBuilder};
use rayon::prelude::*;

/// Iterations of the solver in a round: it takes about twenty.
const ITERATIONS: usize = 200;
/// Weights below this share of the largest are what an interior point leaves of 0.
const NOTHING: f64 = 1e-7;
/// A relative gap that the solver may stop at without shame.
const GOOD: f64 = 1e-6;
/// Beyond so many kernels weights that are not negative are found over a growing part of them.
pub(super) const WIDE: usize = 512;
/// Groups that part is taken from at a time.
const POOL: usize = 256;
/// Groups that join it in a round.
const JOINING: usize = 32;

/// Base kernels, triples and what the mixture must satisfy.
pub(super) struct Problem<'a> {
    pub likeness: Likeness<'a>,
    /// The group of each kernel.
    pub groups: Vec<usize>,
    /// Places in `likeness`.
    pub triplets: Vec<Triplet>,
    pub psd: Psd,
    pub tolerance: f64,
    pub max_rounds: usize,
    /// Cuts that were found so far: they hold for any penalties.
    pub cuts: Option<Cuts>,
}

/// The best weights for given penalties.
#[derive(Debug, Clone)]
pub(super) struct Solved {
    pub weights: Vec<f64>,
    pub noise: f64,
    pub objective: f64,
    /// The proven bound after each round.
    pub bounds: Vec<f64>,
    pub cuts: usize,
    pub status: Status,
}

/// The programme over a part of the kernels.
struct Part {
    members: Vec<usize>,
    solution: HingeSolution,
    tolerance: f64,
    /// Whether its objective is below the one of the part before.
    lowered: bool,
}

impl Problem<'_> {
    /// How far from semidefinite a mixture may be, as a share of its size, before it is lifted by noise.
    fn allowed(&self) -> f64 {
        if self.psd == Psd::EigenCuts { 1e-6 } else { 1e-7 }
    }

    /// Margins of some kernels, by columns; with a column of zeros for noise.
    pub(super) fn margins(&self, kernels: &[usize], noise: bool, ctx: &Context) -> Result<Array2<f64>> {
        let t = self.triplets.len();
        let width = kernels.len() + usize::from(noise);
        // And the equations of an interior point: the matrix, its factor, and copies of both in the making.
        let cells = t as f64 * width as f64 + 4.0 * (width as f64).powi(2);
        ctx.need_memory(
            format!("the margins of {t} triples by {width} kernels"),
            8.0 * cells + product_bytes(),
            "give fewer triples or fewer kernels",
        )?;
        let mut all = vec![0.0; t * width];
        all.par_chunks_mut(t.max(1)).zip(kernels).try_for_each(|(column, &p)| {
            column.copy_from_slice(&self.likeness.margins(p, &self.triplets)?);
            Ok::<_, Error>(())
        })?;
        Ok(Array2::from_shape_vec((t, width).f(), all).expect("a column for each kernel"))
    }

    /// Solves for these kernels; the others have weight 0.
    pub fn solve(&mut self, penalties: Penalties, kernels: &[usize], ctx: &Context) -> Result<Solved> {
        let mut solved = match self.psd {
            Psd::NonNegative if kernels.len() > WIDE => self.solve_wide(penalties, kernels, ctx)?,
            Psd::NonNegative => self.solve_once(penalties, kernels, true, ctx)?,
            // Noise that costs nothing mends any mixture.
            Psd::DominanceWithNoise if penalties.diagonal == 0.0 => {
                self.solve_once(penalties, kernels, false, ctx)?
            }
            _ => self.solve_in_rounds(penalties, kernels, ctx)?,
        };
        let bound = solved.bounds.last().copied().unwrap_or(0.0);
        // Zero has the objective 1: no weights that gain nothing are kept.
        if bound >= 1.0 - GOOD {
            solved.weights.fill(0.0);
            solved.noise = 0.0;
            solved.objective = 1.0;
            let trivial = self.psd == Psd::StrictDominance && self.is_trivial(kernels, ctx)?;
            solved.status = if trivial { Status::TrivialCone } else { Status::OverRegularised };
            return Ok(solved);
        }
        let largest = solved.weights.iter().fold(0.0_f64, |a, w| a.max(w.abs()));
        solved.weights.iter_mut().filter(|w| w.abs() <= NOTHING * largest).for_each(|w| *w = 0.0);
        if self.psd != Psd::NonNegative {
            // Exactly semidefinite, whatever the tolerance of the rounds.
            self.prepare_cuts(ctx)?;
            let cuts = self.cuts.as_ref().expect("cuts were prepared");
            let deficit =
                cuts.separate(&self.likeness, &solved.weights, solved.noise, f64::INFINITY, ctx)?.deficit;
            solved.noise += deficit;
            solved.objective += penalties.diagonal * deficit;
        }
        Ok(solved)
    }

    /// The objective of weights and noise, as it is defined.
    pub fn objective(&self, penalties: Penalties, weights: &[f64], noise: f64) -> Result<f64> {
        let mut margins = vec![0.0; self.triplets.len()];
        let mut largest = vec![0.0_f64; self.n_groups()];
        let mut diagonal = noise;
        for (p, &weight) in weights.iter().enumerate().filter(|(_, weight)| **weight != 0.0) {
            let own = self.likeness.margins(p, &self.triplets)?;
            margins.iter_mut().zip(own).for_each(|(sum, margin)| *sum += weight * margin);
            largest[self.groups[p]] = largest[self.groups[p]].max(weight.abs());
            diagonal += weight * self.likeness.diagonals[p];
        }
        let slack = margins.iter().map(|margin| (1.0 - margin).max(0.0)).sum::<f64>() / margins.len() as f64;
        Ok(slack + penalties.kernels * largest.iter().sum::<f64>() + penalties.diagonal * diagonal)
    }

    fn prepare_cuts(&mut self, ctx: &Context) -> Result<()> {
        if self.cuts.is_none() {
            let aim = if self.psd == Psd::EigenCuts { Aim::Eigenvalues } else { Aim::Dominance };
            let n = self.likeness.n as f64;
            // Eigenvectors: the matrix, a copy and the vectors. Dominance: signs as bytes and as numbers. And a cut for
            // every row, in three places.
            let cells = if aim == Aim::Eigenvalues { 24.0 } else { 9.0 };
            ctx.need_memory(
                format!("the condition on {n} rows"),
                cells * n * n + 24.0 * n * self.likeness.len() as f64,
                "use weights that are not negative, or triples of fewer rows",
            )?;
            self.cuts = Some(Cuts::new(aim, &self.likeness, ctx)?);
        }
        Ok(())
    }

    pub(super) fn costs(&self, penalties: Penalties, kernels: &[usize]) -> Vec<f64> {
        kernels.iter().map(|&p| penalties.diagonal * self.likeness.diagonals[p]).collect()
    }

    /// How kernels are held, their groups numbered from 0.
    pub(super) fn held(&self, kernels: &[usize], make: fn(usize) -> Held) -> Vec<Held> {
        let mut place = vec![None; self.n_groups()];
        let mut next = 0;
        kernels
            .iter()
            .map(|&p| {
                make(*place[self.groups[p]].get_or_insert_with(|| {
                    next += 1;
                    next - 1
                }))
            })
            .collect()
    }

    fn spread(&self, kernels: &[usize], weights: &[f64]) -> Vec<f64> {
        let mut all = vec![0.0; self.likeness.len()];
        kernels.iter().zip(weights).for_each(|(&p, w)| all[p] = *w);
        all
    }

    /// Without cuts.
    pub(super) fn solve_once(
        &self,
        penalties: Penalties,
        kernels: &[usize],
        above: bool,
        ctx: &Context,
    ) -> Result<Solved> {
        let margins = self.margins(kernels, false, ctx)?;
        let (costs, held) = (
            self.costs(penalties, kernels),
            self.held(kernels, if above { Held::Above } else { Held::Within }),
        );
        let program = HingeProgram::new(&margins, &costs, &held, penalties.kernels);
        let solution = program.solve(self.tolerance, ITERATIONS, ctx)?;
        Ok(Solved {
            weights: self.spread(kernels, &solution.weights),
            noise: 0.0,
            objective: solution.objective,
            bounds: vec![solution.bound],
            cuts: 0,
            status: ending(&solution, solution.bound),
        })
    }

    fn solve_in_rounds(&mut self, penalties: Penalties, kernels: &[usize], ctx: &Context) -> Result<Solved> {
        self.prepare_cuts(ctx)?;
        let noisy = self.psd == Psd::DominanceWithNoise;
        let margins = self.margins(kernels, noisy, ctx)?;
        let (mut costs, mut held) = (self.costs(penalties, kernels), self.held(kernels, Held::Within));
        if noisy {
            costs.push(penalties.diagonal);
            held.push(Held::Alone);
        }
        let (mut bounds, mut best) = (vec![], None::<Solved>);
        for round in 0..self.max_rounds {
            ctx.step("rounds of cuts", round, self.max_rounds)?;
            let cuts = self.cuts.as_ref().expect("cuts were prepared");
            let rows = cut_matrix(cuts, kernels, noisy);
            let program =
                HingeProgram::new(&margins, &costs, &held, penalties.kernels).with_cuts(&rows, Some(0));
            let solution = program.solve(self.tolerance, ITERATIONS, ctx)?;
            // Cuts only ever join, so an earlier bound still holds.
            let bound = solution.bound.max(bounds.last().copied().unwrap_or(0.0));
            bounds.push(bound);
            let (own, noise) = solution.weights.split_at(kernels.len());
            let noise = noise.first().copied().unwrap_or(0.0);
            let weights = self.spread(kernels, own);
            let found = cuts.separate(&self.likeness, &weights, noise, self.allowed(), ctx)?;
            let mended = solution.objective + penalties.diagonal * found.deficit;
            let done = found.rows.is_empty() || (noisy && mended - bound <= self.tolerance * mended);
            let status = if done { ending(&solution, bound) } else { Status::MaxIterations };
            let cut_count = cuts.rows.len();
            best = Some(Solved {
                weights,
                noise,
                objective: solution.objective,
                bounds: vec![],
                cuts: cut_count,
                status,
            });
            if done {
                break;
            }
            self.cuts.as_mut().expect("cuts were prepared").rows.extend(found.rows);
        }
        let mut best = best.expect("there is a round at least");
        best.bounds = bounds;
        Ok(best)
    }

    /// Weights that are not negative of very many kernels: over a pool of those whose prices are highest, until no
    /// other would lower the objective.
    pub(super) fn solve_wide(
        &self,
        penalties: Penalties,
        kernels: &[usize],
        ctx: &Context,
    ) -> Result<Solved> {
        let t = self.triplets.len();
        // Zero weights leave all triples unmet, at the full price.
        let mut statements = vec![1.0 / t as f64; t];
        let mut solved: Option<Solved> = None;
        let mut bounds: Vec<f64> = vec![];
        for _ in 0..self.max_rounds {
            let prices = self.prices(&statements, penalties, kernels, ctx)?;
            let dearest = prices.iter().copied().fold(0.0, f64::max);
            // Prices scaled down so that no group is above the penalty are dual feasible for all kernels.
            let share = if dearest > penalties.kernels { penalties.kernels / dearest } else { 1.0 };
            bounds.push((share * statements.iter().sum::<f64>()).max(bounds.last().copied().unwrap_or(0.0)));
            let mut counts = vec![false; self.n_groups()];
            if let Some(solved) = &mut solved {
                let all = dearest <= penalties.kernels * (1.0 + GOOD);
                if all || solved.objective - bounds[bounds.len() - 1] <= self.tolerance * solved.objective {
                    solved.bounds = bounds;
                    return Ok(solved.clone());
                }
                (0..solved.weights.len()).for_each(|p| counts[self.groups[p]] |= solved.weights[p] != 0.0);
                solved.status = Status::MaxIterations;
            }
            let mut order: Vec<usize> = (0..prices.len()).collect();
            order.sort_by(|&a, &b| prices[b].total_cmp(&prices[a]).then(a.cmp(&b)));
            order.iter().take(POOL).for_each(|&g| counts[g] = true);
            let pool: Vec<usize> = kernels.iter().copied().filter(|&p| counts[self.groups[p]]).collect();
            let (part, prices) = self.solve_pool(penalties, &pool, ctx)?;
            statements = prices;
            solved = Some(part);
        }
        let mut solved = solved.expect("there is a round at least");
        solved.bounds = bounds;
        solved.status = Status::MaxIterations;
        Ok(solved)
    }

    /// Over a part of the pool, joined by groups whose price says that they would lower the objective, until there are
    /// none. Also gives the prices of the statements.
    fn solve_pool(
        &self,
        penalties: Penalties,
        kernels: &[usize],
        ctx: &Context,
    ) -> Result<(Solved, Vec<f64>)> {
        let t = self.triplets.len();
        let mut statements = vec![1.0 / t as f64; t];
        let mut joined = vec![false; self.n_groups()];
        let (mut bounds, mut last) = (vec![], None::<Part>);
        let mut status = Status::MaxIterations;
        for round in 0..self.max_rounds {
            ctx.step("rounds of kernels", round, self.max_rounds)?;
            let prices = self.prices(&statements, penalties, kernels, ctx)?;
            let dearest = prices.iter().copied().fold(0.0, f64::max);
            let share = if dearest > penalties.kernels { penalties.kernels / dearest } else { 1.0 };
            let bound = (share * statements.iter().sum::<f64>()).max(bounds.last().copied().unwrap_or(0.0));
            bounds.push(bound);
            let mut missing: Vec<usize> = (0..prices.len())
                .filter(|&g| !joined[g] && prices[g] > penalties.kernels * (1.0 + self.tolerance))
                .collect();
            let mut tolerance = 1e-3;
            if let Some(part) = &last {
                let gap = (part.solution.objective - bound) / part.solution.objective;
                if gap <= self.tolerance || (missing.is_empty() && part.tolerance <= self.tolerance) {
                    status = ending(&part.solution, bound);
                    break;
                }
                // No more digits than the kernels that are not there yet leave room for.
                tolerance =
                    if missing.is_empty() { self.tolerance } else { (0.01 * gap).max(self.tolerance) };
                // Groups without a weight that are not worth their price leave.
                let largest = part.solution.weights.iter().fold(0.0_f64, |a, w| a.max(*w));
                let mut counts = vec![false; joined.len()];
                for (&p, weight) in part.members.iter().zip(&part.solution.weights) {
                    counts[self.groups[p]] |= *weight > NOTHING * largest;
                }
                if part.lowered {
                    (0..joined.len())
                        .filter(|&g| !counts[g] && prices[g] < 0.9 * penalties.kernels)
                        .for_each(|g| joined[g] = false);
                }
            } else if missing.is_empty() {
                status = Status::Optimal;
                break;
            }
            missing.sort_by(|&a, &b| prices[b].total_cmp(&prices[a]).then(a.cmp(&b)));
            missing.truncate(JOINING);
            missing.iter().for_each(|&g| joined[g] = true);
            let members: Vec<usize> = kernels.iter().copied().filter(|&p| joined[self.groups[p]]).collect();
            let margins = self.margins(&members, false, ctx)?;
            let (costs, held) = (self.costs(penalties, &members), self.held(&members, Held::Above));
            let program = HingeProgram::new(&margins, &costs, &held, penalties.kernels);
            let solution = program.solve(tolerance, ITERATIONS, ctx)?;
            statements.clone_from(&solution.statements);
            // Only where the objective falls can no group come and go for ever.
            let before = last.as_ref().map_or(1.0, |part| part.solution.objective);
            let lowered = solution.objective < before * (1.0 - tolerance);
            last = Some(Part { members, solution, tolerance, lowered });
        }
        let (weights, objective) = match &last {
            Some(part) => (self.spread(&part.members, &part.solution.weights), part.solution.objective),
            None => (vec![0.0; self.likeness.len()], 1.0),
        };
        Ok((Solved { weights, noise: 0.0, objective, bounds, cuts: 0, status }, statements))
    }

    /// The smallest penalty at which all weights are zero, if none may be negative.
    pub fn most_useful(&self, diagonal: f64, ctx: &Context) -> Result<f64> {
        let t = self.triplets.len();
        let all: Vec<usize> = (0..self.likeness.len()).collect();
        let prices =
            self.prices(&vec![1.0 / t as f64; t], Penalties { kernels: 1.0, diagonal }, &all, ctx)?;
        Ok(prices.into_iter().fold(0.0, f64::max))
    }

    fn n_groups(&self) -> usize {
        self.groups.iter().max().map_or(0, |g| g + 1)
    }

    /// What each group's kernels would gain per unit, all at once.
    fn prices(
        &self,
        statements: &[f64],
        penalties: Penalties,
        kernels: &[usize],
        ctx: &Context,
    ) -> Result<Vec<f64>> {
        // Triples that are met have no say.
        let priced: Vec<usize> = (0..statements.len()).filter(|&t| statements[t] > 0.0).collect();
        let triplets: Vec<Triplet> = priced.iter().map(|&t| self.triplets[t]).collect();
        let prices: Vec<f64> = priced.iter().map(|&t| statements[t]).collect();
        let gains: Result<Vec<f64>> = kernels
            .par_iter()
            .map(|&p| {
                ctx.check()?;
                let margins = self.likeness.margins(p, &triplets)?;
                Ok(crate::simd::dot(&margins, &prices) - penalties.diagonal * self.likeness.diagonals[p])
            })
            .collect();
        let mut sums = vec![0.0; self.n_groups()];
        for (&p, gain) in kernels.iter().zip(gains?) {
            sums[self.groups[p]] += gain.max(0.0);
        }
        Ok(sums)
    }

    /// Whether zero is the only mixture that is diagonally dominant: then even the mean of the diagonal cannot be
    /// had at a price of next to nothing for the largest weight.
    fn is_trivial(&mut self, kernels: &[usize], ctx: &Context) -> Result<bool> {
        const NEXT_TO_NOTHING: f64 = 1e-7;
        let diagonals: Vec<f64> = kernels.iter().map(|&p| self.likeness.diagonals[p]).collect();
        let margins = Array2::from_shape_vec((1, kernels.len()).f(), diagonals).expect("one row");
        let (costs, held) = (vec![0.0; kernels.len()], vec![Held::Within(0); kernels.len()]);
        for _ in 0..self.max_rounds {
            ctx.check()?;
            let cuts = self.cuts.as_ref().expect("cuts were prepared");
            let rows = cut_matrix(cuts, kernels, false);
            let program =
                HingeProgram::new(&margins, &costs, &held, NEXT_TO_NOTHING).with_cuts(&rows, Some(0));
            let solution = program.solve(GOOD, ITERATIONS, ctx)?;
            if solution.bound > 0.5 {
                return Ok(true);
            }
            let weights = self.spread(kernels, &solution.weights);
            let found = cuts.separate(&self.likeness, &weights, 0.0, self.allowed(), ctx)?;
            if found.rows.is_empty() {
                return Ok(false);
            }
            self.cuts.as_mut().expect("cuts were prepared").rows.extend(found.rows);
        }
        Ok(false)
    }
}

/// The status of a solution that breaks no cut.
fn ending(solution: &HingeSolution, bound: f64) -> Status {
    let gap = solution.objective - bound;
    match solution.ending {
        Ending::Optimal => Status::Optimal,
        _ if gap <= GOOD * solution.objective.abs().max(GOOD) => Status::Optimal,
        Ending::Stalled => Status::Stalled,
        Ending::MaxIterations => Status::MaxIterations,
    }
}

/// The cuts on some kernels, and on noise if it has a weight.
fn cut_matrix(cuts: &Cuts, kernels: &[usize], noise: bool) -> Array2<f64> {
    let all = cuts.rows.first().map_or(0, |row| row.len() - 1);
    let places: Vec<usize> = kernels.iter().copied().chain(noise.then_some(all)).collect();
    Array2::from_shape_fn((cuts.rows.len(), places.len()).f(), |(row, at)| cuts.rows[row][places[at]])
}
