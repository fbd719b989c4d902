//! The stump of a category: a class per level.
//!
//! Every level votes for its most frequent class. A level whose majority would be lost without one of its samples (a level
//! of one sample, or a tie) votes for the most frequent class overall: otherwise a category with a level per sample would
//! make no error on the samples it was learned from. A balanced stump weights classes equally.

use super::labels::Labels;

/// One vote per sample, given its level; an error on a sample of class `c` counts `weights[c]`.
pub(super) fn votes(levels: &[usize], labels: &Labels, weights: &[u64]) -> Vec<u8> {
    let n_levels = levels.iter().max().map_or(0, |most| most + 1);
    let mut sums = vec![0; n_levels * weights.len()];
    for (&level, &class) in levels.iter().zip(&labels.codes) {
        sums[level * weights.len() + usize::from(class)] += weights[usize::from(class)];
    }
    let majority = labels.majority();
    let class_of: Vec<u8> =
        sums.chunks(weights.len()).map(|sums| clear_majority(sums, weights).unwrap_or(majority)).collect();
    levels.iter().map(|&level| class_of[level]).collect()
}

/// The heaviest class, if it stays so without one of its samples.
fn clear_majority(sums: &[u64], weights: &[u64]) -> Option<u8> {
    let best = (0..sums.len()).max_by_key(|&c| sums[c])?;
    let second = (0..sums.len()).filter(|&c| c != best).map(|c| sums[c]).max().unwrap_or(0);
    (sums[best] > second + weights[best]).then_some(best as u8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Classes;

    #[test]
    fn by_hand() {
        let labels = Labels::new(&Classes::from_codes(vec![1, 1, 0, 0, 2, 1, 0, 1, 1]), "m").unwrap();
        // Level 0: 1, 1; level 1: 0, 0; level 2: 2 alone; level 3: 1, 0, a tie; level 4: 1, 1.
        let levels = [0, 0, 1, 1, 2, 3, 3, 4, 4];
        assert_eq!(votes(&levels, &labels, &labels.weights(false)), [1, 1, 0, 0, 1, 1, 1, 1, 1]);
        // A level per sample predicts the majority.
        let each: Vec<usize> = (0..9).collect();
        assert_eq!(votes(&each, &labels, &labels.weights(false)), [1; 9]);
    }

    #[test]
    fn balanced_levels_weight_the_rare_class() {
        // 2 of 3 rare samples and 3 of 9 others in level 1: the rare class has 2/3 against 1/3, but one sample less would
        // be a tie; all 3 and 3 of 9 are clear.
        let of = |rare: usize| {
            let mut codes = vec![0; 9];
            codes.extend([1; 3]);
            let mut levels = vec![0; 12];
            (0..3).for_each(|i| levels[i] = 1);
            (9..9 + rare).for_each(|i| levels[i] = 1);
            let labels = Labels::new(&Classes::from_codes(codes), "m").unwrap();
            votes(&levels, &labels, &labels.weights(true))[0]
        };
        assert_eq!((of(2), of(3)), (0, 1));
    }
}
