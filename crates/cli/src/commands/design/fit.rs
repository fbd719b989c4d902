//! Fitting a kernel to triplets.

use kernsift::Context;
use kernsift::data::{Dataset, Triplet};
use kernsift::evaluate::scores::triplet_accuracy_of;
use kernsift::kernel::{pair_ranks, pair_values};
use kernsift::learn::design::Designed;
use kernsift::learn::{KernelLearner, Learned, LearnerMethod};

/// A fitted learner, with further results of kernel design.
pub struct Fit {
    pub learned: Learned,
    pub designed: Option<Designed>,
}

/// The pairs (i, j) and (i, k) of each triplet.
fn pairs_of(triplets: &[Triplet]) -> Vec<[usize; 2]> {
    triplets.iter().flat_map(|&[i, j, k]| [[i, j], [i, k]]).collect()
}

/// The margin of each triplet: the similarity to the closer row minus that to the farther row.
pub fn margins_of(learned: &Learned, data: &Dataset, triplets: &[Triplet]) -> kernsift::Result<Vec<f64>> {
    let values = pair_values(&learned.kernel, data.x(), &pairs_of(triplets))?;
    Ok(values.chunks_exact(2).map(|pair| pair[0] - pair[1]).collect())
}

/// Learns from triplets. `drawn` is their number if they were drawn from the target; kernel design then draws as many
/// to choose penalties.
pub fn learn(
    method: &LearnerMethod,
    data: &Dataset,
    triplets: &[Triplet],
    drawn: Option<usize>,
    ctx: &Context,
) -> kernsift::Result<Fit> {
    let LearnerMethod::Design(design) = method else {
        return Ok(Fit { learned: method.learn(data, triplets, ctx)?, designed: None });
    };
    let designed = match drawn {
        Some(n) => design.design_from_target(data, n, ctx)?,
        None => design.design(data, triplets, ctx)?,
    };
    Ok(Fit { learned: designed.learned.clone(), designed: Some(designed) })
}

/// The fraction of triplets that a kernel satisfies, and the indices of those that it violates.
pub fn training_accuracy(
    learned: &Learned,
    data: &Dataset,
    triplets: &[Triplet],
) -> kernsift::Result<(f64, Vec<usize>)> {
    let ranks = pair_ranks(&learned.kernel, data.x(), &pairs_of(triplets))?;
    // NaN does not satisfy a triplet.
    let is_satisfied = |at: usize| ranks[2 * at] > ranks[2 * at + 1];
    let violated = (0..triplets.len()).filter(|&at| !is_satisfied(at)).collect();
    Ok((triplet_accuracy_of(&learned.kernel, data.x(), triplets)?, violated))
}

/// The selected features, best first.
pub fn by_score(learned: &Learned) -> Vec<usize> {
    let mut kept = learned.features();
    kept.sort_by(|&a, &b| learned.scores[b].total_cmp(&learned.scores[a]).then(a.cmp(&b)));
    kept
}
