//! The choice of penalties, as in the paper: learn from one half of the rows, validate on the other.

use super::penalties::{Penalties, Trial};
use super::program::{MAX_DIRECT_KERNELS, Problem};
use crate::context::{Context, Quiet};
use crate::data::Triplet;
use crate::data::triplets::{hold_out_points, hold_out_triplets};
use crate::error::Result;

/// With fewer triplets on a side, split the triplets instead of the rows.
const MIN_TRIPLETS: usize = 30;
/// Values of $\gamma_1$ for up to [`MAX_DIRECT_KERNELS`] kernels.
const KERNELS: [f64; 4] = [1e-5, 1e-4, 1e-3, 1e-2];
/// Values of $\gamma_2$ for up to [`MAX_DIRECT_KERNELS`] kernels.
const DIAGONAL: [f64; 4] = [0.0, 1e-5, 1e-4, 1e-3];
/// With more kernels, $\gamma_1$ as a fraction of the smallest value at which all weights are zero.
const FRACTIONS: [f64; 4] = [0.5, 0.2, 0.1, 0.05];

/// Training and validation triplets.
pub(super) struct Halves {
    pub train: Vec<Triplet>,
    pub test: Vec<Triplet>,
}

/// Triplets within either half of the rows or, if these are too few, halves of the triplets.
pub(super) fn halves(triplets: &[Triplet], seed: u64, ctx: &Context) -> Result<Halves> {
    match hold_out_points(triplets, 0.5, seed) {
        Ok(held) if held.train.len().min(held.test.len()) >= MIN_TRIPLETS => {
            Ok(Halves { train: held.train, test: held.test })
        }
        _ => {
            ctx.note(
                "too few triplets lie within one half of the rows; choosing the penalties on halves of the triplets",
            );
            let held = hold_out_triplets(triplets, 0.5, seed)?;
            Ok(Halves { train: held.train, test: held.test })
        }
    }
}

/// The penalties to try on a problem: given values, or the default grid.
pub(super) fn grid(
    kernels: Option<Vec<f64>>,
    diagonal: Option<Vec<f64>>,
    problem: &Problem,
    ctx: &Context,
) -> Result<Vec<Penalties>> {
    let many = problem.similarity.len() > MAX_DIRECT_KERNELS;
    let diagonal = match diagonal {
        Some(values) => values,
        None if many => vec![1e-4],
        None => DIAGONAL.to_vec(),
    };
    let kernels = match kernels {
        Some(values) => values,
        None if many => {
            let least = diagonal.iter().copied().fold(f64::INFINITY, f64::min);
            let largest = problem.smallest_zero_penalty(least, ctx)?;
            // If no kernel satisfies more triplets than it violates, all weights are zero for any penalty.
            let largest = if largest > 0.0 { largest } else { KERNELS[0] };
            FRACTIONS.map(|fraction| fraction * largest).to_vec()
        }
        None => KERNELS.to_vec(),
    };
    let pair = |&kernels: &f64| diagonal.iter().map(move |&diagonal| Penalties { kernels, diagonal });
    Ok(kernels.iter().flat_map(pair).collect())
}

/// Tries all penalties on one split. `margins_of` gives a kernel's margins on the `count` validation triplets, on the scale of the
/// problem's kernels.
pub(super) fn try_all(
    problem: &mut Problem,
    grid: &[Penalties],
    margins_of: &dyn Fn(usize) -> Result<Vec<f64>>,
    count: usize,
    ctx: &Context,
) -> Result<Vec<Trial>> {
    let kernels: Vec<usize> = (0..problem.similarity.len()).collect();
    let quiet = Quiet(ctx.observer);
    let inner = Context { observer: &quiet, ..*ctx };
    // Computed when a kernel first has a weight.
    let mut known: Vec<Option<Vec<f64>>> = vec![None; kernels.len()];
    let mut trials = Vec::with_capacity(grid.len());
    for (at, &penalties) in grid.iter().enumerate() {
        ctx.step("choosing penalties", at, grid.len())?;
        let solved = problem.solve(penalties, &kernels, &inner)?;
        let mut margins = vec![0.0; count];
        for p in kernels.iter().copied().filter(|&p| solved.weights[p] != 0.0) {
            if known[p].is_none() {
                known[p] = Some(margins_of(p)?);
            }
            let of_kernel = known[p].as_ref().expect("computed above");
            margins.iter_mut().zip(of_kernel).for_each(|(sum, m)| *sum += solved.weights[p] * m);
        }
        // Weights are accurate to about 1e-7 of the largest: smaller margins are ties.
        let size = solved.weights.iter().fold(0.0_f64, |a, w| a.max(w.abs()));
        let satisfied: f64 = margins
            .iter()
            .map(|m| if m.abs() <= 1e-7 * size { 0.5 } else { f64::from(u8::from(*m > 0.0)) })
            .sum();
        trials.push(Trial { penalties, accuracy: satisfied / count as f64 });
    }
    Ok(trials)
}

/// The penalties with the highest accuracy; ties are broken in favor of larger penalties.
pub(super) fn best(trials: &[Trial]) -> Penalties {
    let mut best = &trials[0];
    for trial in trials {
        let size = |t: &Trial| (t.penalties.kernels, t.penalties.diagonal);
        if trial.accuracy > best.accuracy || (trial.accuracy == best.accuracy && size(trial) > size(best)) {
            best = trial;
        }
    }
    best.penalties
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_are_broken_in_favor_of_larger_penalties() {
        let trial =
            |kernels, diagonal, accuracy| Trial { penalties: Penalties { kernels, diagonal }, accuracy };
        let trials = [trial(0.1, 0.0, 0.8), trial(0.2, 0.0, 0.9), trial(0.2, 0.1, 0.9), trial(0.1, 0.1, 0.9)];
        assert_eq!(best(&trials), Penalties { kernels: 0.2, diagonal: 0.1 });
    }
}
