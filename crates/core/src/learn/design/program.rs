//! The linear program of kernel design over a set of base kernels.

use super::cuts::Cuts;
use super::penalties::Penalties;
use super::psd::Psd;
use super::similarity::Similarity;
use crate::context::Context;
use crate::data::Triplet;
use crate::error::{Error, Result};
use crate::learn::learner::Status;
use crate::linalg::product_bytes;
use crate::optim::{Ending, HingeProgram, HingeSolution, WeightBound};
use ndarray::{Array2, ShapeBuilder};
use rayon::prelude::*;

/// Iteration limit of the interior-point solver, which usually takes about 20.
pub(super) const MAX_ITERATIONS: usize = 200;
/// Weights below this fraction of the largest are zero up to the solver's accuracy.
pub(super) const ZERO_WEIGHT: f64 = 1e-7;
/// A relative gap at which a stalled solution still counts as optimal.
pub(super) const ACCEPTABLE_GAP: f64 = 1e-6;
/// Nonnegative weights of more kernels than this are found by column generation.
pub(super) const MAX_DIRECT_KERNELS: usize = 512;

/// Base kernels, triplets and the constraint on the mixture.
pub(super) struct Problem<'a> {
    pub similarity: Similarity<'a>,
    /// The group of each kernel.
    pub groups: Vec<usize>,
    /// Triplets over the rows of `similarity`.
    pub triplets: Vec<Triplet>,
    pub psd: Psd,
    pub tolerance: f64,
    pub max_rounds: usize,
    /// Cuts found so far; they are valid for any penalties.
    pub cuts: Option<Cuts>,
}

/// The optimal weights for given penalties.
#[derive(Debug, Clone)]
pub(super) struct Solved {
    pub weights: Vec<f64>,
    pub noise: f64,
    pub objective: f64,
    /// The lower bound after each round.
    pub bounds: Vec<f64>,
    pub cuts: usize,
    pub status: Status,
}

impl Problem<'_> {
    /// Solves for these kernels; the others have weight 0.
    pub fn solve(&mut self, penalties: Penalties, kernels: &[usize], ctx: &Context) -> Result<Solved> {
        let mut solved = match self.psd {
            Psd::NonNegative if kernels.len() > MAX_DIRECT_KERNELS => {
                self.solve_by_column_generation(penalties, kernels, ctx)?
            }
            Psd::NonNegative => self.solve_directly(penalties, kernels, true, ctx)?,
            // Noise without penalty makes any mixture semidefinite.
            Psd::DominanceWithNoise if penalties.diagonal == 0.0 => {
                self.solve_directly(penalties, kernels, false, ctx)?
            }
            _ => self.solve_with_cuts(penalties, kernels, ctx)?,
        };
        let bound = solved.bounds.last().copied().unwrap_or(0.0);
        // Zero weights have the objective 1: keep none that do not lower it.
        if bound >= 1.0 - ACCEPTABLE_GAP {
            solved.weights.fill(0.0);
            solved.noise = 0.0;
            solved.objective = 1.0;
            let trivial = self.psd == Psd::StrictDominance && self.is_trivial(kernels, ctx)?;
            solved.status = if trivial { Status::TrivialCone } else { Status::OverRegularized };
            return Ok(solved);
        }
        let largest = solved.weights.iter().fold(0.0_f64, |a, w| a.max(w.abs()));
        solved.weights.iter_mut().filter(|w| w.abs() <= ZERO_WEIGHT * largest).for_each(|w| *w = 0.0);
        if self.psd != Psd::NonNegative {
            // Cuts are satisfied to a tolerance; noise makes the mixture exactly semidefinite.
            let violation = self.violation(&solved, ctx)?;
            solved.noise += violation;
            solved.objective += penalties.diagonal * violation;
        }
        Ok(solved)
    }

    /// The objective of weights and noise, by its definition.
    pub fn objective(&self, penalties: Penalties, weights: &[f64], noise: f64) -> Result<f64> {
        let mut margins = vec![0.0; self.triplets.len()];
        let mut largest = vec![0.0_f64; self.n_groups()];
        let mut diagonal = noise;
        for (p, &weight) in weights.iter().enumerate().filter(|(_, weight)| **weight != 0.0) {
            let of_kernel = self.similarity.margins(p, &self.triplets)?;
            margins.iter_mut().zip(of_kernel).for_each(|(sum, margin)| *sum += weight * margin);
            largest[self.groups[p]] = largest[self.groups[p]].max(weight.abs());
            diagonal += weight * self.similarity.diagonals[p];
        }
        let slack = margins.iter().map(|margin| (1.0 - margin).max(0.0)).sum::<f64>() / margins.len() as f64;
        Ok(slack + penalties.kernels * largest.iter().sum::<f64>() + penalties.diagonal * diagonal)
    }

    /// One linear program over all kernels, without cuts.
    pub fn solve_directly(
        &self,
        penalties: Penalties,
        kernels: &[usize],
        nonnegative: bool,
        ctx: &Context,
    ) -> Result<Solved> {
        let margins = self.margins(kernels, false, ctx)?;
        let (costs, weight_bounds) = (
            self.costs(penalties, kernels),
            self.weight_bounds(
                kernels,
                if nonnegative { WeightBound::NonNegative } else { WeightBound::Symmetric },
            ),
        );
        let program = HingeProgram::new(&margins, &costs, &weight_bounds, penalties.kernels);
        let solution = program.solve(self.tolerance, MAX_ITERATIONS, ctx)?;
        Ok(Solved {
            weights: self.expand(kernels, &solution.weights),
            noise: 0.0,
            objective: solution.objective,
            bounds: vec![solution.bound],
            cuts: 0,
            status: status_of(&solution, solution.bound),
        })
    }

    /// The margins of some kernels, by columns, with a column of zeros for noise.
    pub fn margins(&self, kernels: &[usize], noise: bool, ctx: &Context) -> Result<Array2<f64>> {
        let t = self.triplets.len();
        let columns = kernels.len() + usize::from(noise);
        // Includes the normal equations of the solver: the matrix, its factor, and a copy of each.
        let values = t as f64 * columns as f64 + 4.0 * (columns as f64).powi(2);
        ctx.need_memory(
            format!("the margins of {t} triplets by {columns} kernels"),
            8.0 * values + product_bytes(),
            "give fewer triplets or fewer kernels",
        )?;
        let mut all = vec![0.0; t * columns];
        all.par_chunks_mut(t.max(1)).zip(kernels).try_for_each(|(column, &p)| {
            column.copy_from_slice(&self.similarity.margins(p, &self.triplets)?);
            Ok::<_, Error>(())
        })?;
        Ok(Array2::from_shape_vec((t, columns).f(), all).expect("a column for each kernel"))
    }

    /// The cost of a unit of each kernel's weight, by the penalty on the diagonal.
    pub fn costs(&self, penalties: Penalties, kernels: &[usize]) -> Vec<f64> {
        kernels.iter().map(|&p| penalties.diagonal * self.similarity.diagonals[p]).collect()
    }

    /// The bounds on the kernels' weights, with groups renumbered from 0.
    pub fn weight_bounds(&self, kernels: &[usize], make: fn(usize) -> WeightBound) -> Vec<WeightBound> {
        let mut number = vec![None; self.n_groups()];
        let mut next = 0;
        kernels
            .iter()
            .map(|&p| {
                make(*number[self.groups[p]].get_or_insert_with(|| {
                    next += 1;
                    next - 1
                }))
            })
            .collect()
    }

    /// Weights of all kernels from those of some.
    pub fn expand(&self, kernels: &[usize], weights: &[f64]) -> Vec<f64> {
        let mut all = vec![0.0; self.similarity.len()];
        kernels.iter().zip(weights).for_each(|(&p, w)| all[p] = *w);
        all
    }

    pub fn n_groups(&self) -> usize {
        self.groups.iter().max().map_or(0, |g| g + 1)
    }
}

/// The status of a solution that violates no constraint.
pub(super) fn status_of(solution: &HingeSolution, bound: f64) -> Status {
    let gap = solution.objective - bound;
    match solution.ending {
        Ending::Optimal => Status::Optimal,
        _ if gap <= ACCEPTABLE_GAP * solution.objective.abs().max(ACCEPTABLE_GAP) => Status::Optimal,
        Ending::Stalled => Status::Stalled,
        Ending::MaxIterations => Status::MaxIterations,
    }
}
