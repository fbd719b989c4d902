//! Penalties chosen as in the paper: learn from one half of the rows, judge on the other.

use super::rounds::Problem;
use super::{Penalties, Trial};
use crate::context::{Context, Quiet};
use crate::data::Triplet;
use crate::data::triplets::{hold_out_points, hold_out_triplets};
use crate::error::Result;

/// Fewer triples than this on a side say too little: then triples are split, not rows.
const FEW: usize = 30;

/// Triples to learn from and triples to judge by.
pub(super) struct Halves {
    pub train: Vec<Triplet>,
    pub test: Vec<Triplet>,
}

/// Half of the rows that triples name against the other half; where that leaves too few triples, half of the triples.
pub(super) fn halves(triplets: &[Triplet], seed: u64, ctx: &Context) -> Result<Halves> {
    match hold_out_points(triplets, 0.5, seed) {
        Ok(held) if held.train.len().min(held.test.len()) >= FEW => {
            Ok(Halves { train: held.train, test: held.test })
        }
        _ => {
            ctx.note(
                "too few triples lie within one half of the rows, so the penalties are chosen on halves of the triples",
            );
            let held = hold_out_triplets(triplets, 0.5, seed)?;
            Ok(Halves { train: held.train, test: held.test })
        }
    }
}

/// Tries all penalties on one pair of halves. `margins_of_test`: the margins of the triples to judge by, a list for each
/// kernel, on the scale of the problem's kernels.
pub(super) fn try_all(
    problem: &mut Problem,
    grid: &[Penalties],
    test: &dyn Fn(usize) -> Result<Vec<f64>>,
    count: usize,
    ctx: &Context,
) -> Result<Vec<Trial>> {
    let kernels: Vec<usize> = (0..problem.likeness.len()).collect();
    let quiet = Quiet(ctx.observer);
    let inner = Context { observer: &quiet, ..*ctx };
    // Asked for when a kernel first has a weight.
    let mut known: Vec<Option<Vec<f64>>> = vec![None; kernels.len()];
    let mut trials = Vec::with_capacity(grid.len());
    for (at, &penalties) in grid.iter().enumerate() {
        ctx.step("choosing penalties", at, grid.len())?;
        let solved = problem.solve(penalties, &kernels, &inner)?;
        let mut margins = vec![0.0; count];
        for p in kernels.iter().copied().filter(|&p| solved.weights[p] != 0.0) {
            if known[p].is_none() {
                known[p] = Some(test(p)?);
            }
            let own = known[p].as_ref().expect("it was just asked for");
            margins.iter_mut().zip(own).for_each(|(sum, m)| *sum += solved.weights[p] * m);
        }
        // Weights are known to about 1e-7 of the largest: differences below that are ties.
        let size = solved.weights.iter().fold(0.0_f64, |a, w| a.max(w.abs()));
        let right: f64 = margins
            .iter()
            .map(|m| if m.abs() <= 1e-7 * size { 0.5 } else { f64::from(u8::from(*m > 0.0)) })
            .sum();
        trials.push(Trial { penalties, accuracy: right / count as f64 });
    }
    Ok(trials)
}

/// The penalties that did best; of equals the larger ones, which keep less.
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
    fn of_equals_the_larger_penalty_wins() {
        let trial =
            |kernels, diagonal, accuracy| Trial { penalties: Penalties { kernels, diagonal }, accuracy };
        let trials = [trial(0.1, 0.0, 0.8), trial(0.2, 0.0, 0.9), trial(0.2, 0.1, 0.9), trial(0.1, 0.1, 0.9)];
        assert_eq!(best(&trials), Penalties { kernels: 0.2, diagonal: 0.1 });
    }
}
