//! The program with a constraint on the mixture, by cutting planes: solve, find violated cuts, add them, solve again.

use super::cuts::{Aim, Cuts};
use super::penalties::Penalties;
use super::program::{ACCEPTABLE_GAP, MAX_ITERATIONS, Problem, Solved, status_of};
use super::psd::Psd;
use crate::context::Context;
use crate::error::Result;
use crate::learn::learner::Status;
use crate::optim::{HingeProgram, WeightBound};
use ndarray::{Array2, ShapeBuilder};

impl Problem<'_> {
    /// The white noise that the mixture needs to become semidefinite.
    pub(super) fn violation(&mut self, solved: &Solved, ctx: &Context) -> Result<f64> {
        self.prepare_cuts(ctx)?;
        let cuts = self.cuts.as_ref().expect("prepared above");
        Ok(cuts.separate(&self.similarity, &solved.weights, solved.noise, f64::INFINITY, ctx)?.violation)
    }

    pub(super) fn solve_with_cuts(
        &mut self,
        penalties: Penalties,
        kernels: &[usize],
        ctx: &Context,
    ) -> Result<Solved> {
        self.prepare_cuts(ctx)?;
        let noisy = self.psd == Psd::DominanceWithNoise;
        let margins = self.margins(kernels, noisy, ctx)?;
        let (mut costs, mut weight_bounds) =
            (self.costs(penalties, kernels), self.weight_bounds(kernels, WeightBound::Symmetric));
        if noisy {
            costs.push(penalties.diagonal);
            weight_bounds.push(WeightBound::Ungrouped);
        }
        let (mut bounds, mut best) = (vec![], None::<Solved>);
        for round in 0..self.max_rounds {
            ctx.step("rounds of cuts", round, self.max_rounds)?;
            let cuts = self.cuts.as_ref().expect("prepared above");
            let rows = cut_matrix(cuts, kernels, noisy);
            let program = HingeProgram::new(&margins, &costs, &weight_bounds, penalties.kernels)
                .with_cuts(&rows, Some(0));
            let solution = program.solve(self.tolerance, MAX_ITERATIONS, ctx)?;
            // Cuts are only added, so earlier bounds still hold.
            let bound = solution.bound.max(bounds.last().copied().unwrap_or(0.0));
            bounds.push(bound);
            let (own, noise) = solution.weights.split_at(kernels.len());
            let noise = noise.first().copied().unwrap_or(0.0);
            let weights = self.expand(kernels, own);
            let found = cuts.separate(&self.similarity, &weights, noise, self.cut_tolerance(), ctx)?;
            let feasible = solution.objective + penalties.diagonal * found.violation;
            let done = found.rows.is_empty() || (noisy && feasible - bound <= self.tolerance * feasible);
            let status = if done { status_of(&solution, bound) } else { Status::MaxIterations };
            let (objective, cuts) = (solution.objective, cuts.rows.len());
            best = Some(Solved { weights, noise, objective, bounds: vec![], cuts, status });
            if done {
                break;
            }
            self.cuts.as_mut().expect("prepared above").rows.extend(found.rows);
        }
        let mut best = best.expect("at least one round");
        best.bounds = bounds;
        Ok(best)
    }

    /// Whether zero is the only diagonally dominant mixture: whether even a mean diagonal of 1 is out of reach at a negligible
    /// penalty on the largest weight.
    pub(super) fn is_trivial(&mut self, kernels: &[usize], ctx: &Context) -> Result<bool> {
        const NEGLIGIBLE: f64 = 1e-7;
        let diagonals: Vec<f64> = kernels.iter().map(|&p| self.similarity.diagonals[p]).collect();
        let margins = Array2::from_shape_vec((1, kernels.len()).f(), diagonals).expect("one row");
        let (costs, weight_bounds) =
            (vec![0.0; kernels.len()], vec![WeightBound::Symmetric(0); kernels.len()]);
        for _ in 0..self.max_rounds {
            ctx.check()?;
            let cuts = self.cuts.as_ref().expect("prepared by solve_with_cuts");
            let rows = cut_matrix(cuts, kernels, false);
            let program =
                HingeProgram::new(&margins, &costs, &weight_bounds, NEGLIGIBLE).with_cuts(&rows, Some(0));
            let solution = program.solve(ACCEPTABLE_GAP, MAX_ITERATIONS, ctx)?;
            if solution.bound > 0.5 {
                return Ok(true);
            }
            let weights = self.expand(kernels, &solution.weights);
            let found = cuts.separate(&self.similarity, &weights, 0.0, self.cut_tolerance(), ctx)?;
            if found.rows.is_empty() {
                return Ok(false);
            }
            self.cuts.as_mut().expect("prepared by solve_with_cuts").rows.extend(found.rows);
        }
        Ok(false)
    }

    /// A violation up to this fraction of the mixture's size needs no further cut.
    fn cut_tolerance(&self) -> f64 {
        if self.psd == Psd::EigenCuts { 1e-6 } else { 1e-7 }
    }

    fn prepare_cuts(&mut self, ctx: &Context) -> Result<()> {
        if self.cuts.is_none() {
            let aim = if self.psd == Psd::EigenCuts { Aim::Eigenvalues } else { Aim::Dominance };
            let n = self.similarity.n as f64;
            // Eigenvectors: the matrix, a copy and the vectors. Dominance: signs as bytes and as numbers. Plus three copies of a cut
            // for every row.
            let bytes = if aim == Aim::Eigenvalues { 24.0 } else { 9.0 };
            ctx.need_memory(
                format!("the constraint on {n} rows"),
                bytes * n * n + 24.0 * n * self.similarity.len() as f64,
                "use nonnegative weights, or triplets of fewer rows",
            )?;
            self.cuts = Some(Cuts::new(aim, &self.similarity, ctx)?);
        }
        Ok(())
    }
}

/// The cuts on some kernels, and on noise if it has a weight.
fn cut_matrix(cuts: &Cuts, kernels: &[usize], noise: bool) -> Array2<f64> {
    let all = cuts.rows.first().map_or(0, |row| row.len() - 1);
    let columns: Vec<usize> = kernels.iter().copied().chain(noise.then_some(all)).collect();
    Array2::from_shape_fn((cuts.rows.len(), columns.len()).f(), |(row, at)| cuts.rows[row][columns[at]])
}
