//! A stump: one cut of a feature, with a class on either side.
//!
//! Two classes: the cut between two distinct values and the direction with the fewest errors; a stump that predicts
//! the same class for every sample is not considered, because its vote would have no effect. More classes: either
//! side votes for its most frequent class. Ties go to the lowest cut. A balanced stump weights classes equally.

use super::labels::Labels;
use std::cmp::Ordering;

/// One vote per sample; an error on a sample of class `c` counts `weights[c]`.
pub(super) fn votes(values: &[f64], labels: &Labels, weights: &[u64]) -> Vec<u8> {
    let best = if labels.n_classes() == 2 {
        best_binary_cut(values, labels, weights)
    } else {
        best_multiclass_cut(values, labels, weights)
    };
    match best {
        None => vec![labels.majority(); values.len()],
        Some(Cut { last, left, right }) => {
            values.iter().map(|&v| if ordered_bits(v) <= last { left } else { right }).collect()
        }
    }
}

/// Values up to `last` are on the left.
struct Cut {
    last: u64,
    left: u8,
    right: u8,
}

/// Bits that compare like the number; both zeros are equal.
fn ordered_bits(value: f64) -> u64 {
    let bits = (value + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

fn best_binary_cut(values: &[f64], labels: &Labels, weights: &[u64]) -> Option<Cut> {
    let of_class = |class: u8| {
        let pairs = values.iter().zip(&labels.codes);
        let mut sorted: Vec<u64> =
            pairs.filter(|(_, c)| **c == class).map(|(&v, _)| ordered_bits(v)).collect();
        sorted.sort_unstable();
        sorted
    };
    let sorted = [of_class(0), of_class(1)];
    let totals = [0, 1].map(|c| weights[c] * sorted[c].len() as u64);
    let mut passed = [0, 0];
    let mut best: Option<(u64, Cut)> = None;
    // Merge both classes, from one distinct value to the next.
    while let Some(last) = sorted.iter().zip(passed).filter_map(|(s, p)| s.get(p)).min().copied() {
        for (sorted, passed) in sorted.iter().zip(&mut passed) {
            *passed += sorted[*passed..].iter().take_while(|&&value| value == last).count();
        }
        if passed[0] + passed[1] == values.len() {
            break;
        }
        let left = [0, 1].map(|c| weights[c] * passed[c] as u64);
        // Errors with class 0 on the left and 1 on the right; the other direction misclassifies the complement.
        let errors = left[1] + totals[0] - left[0];
        let others = totals[0] + totals[1] - errors;
        if best.as_ref().is_none_or(|(least, _)| errors.min(others) < *least) {
            let left = match errors.cmp(&others) {
                Ordering::Less => 0,
                Ordering::Greater => 1,
                // Both directions have equal errors: classify the first sample correctly, whatever its class is
                // called.
                Ordering::Equal if ordered_bits(values[0]) <= last => labels.codes[0],
                Ordering::Equal => 1 - labels.codes[0],
            };
            best = Some((errors.min(others), Cut { last, left, right: 1 - left }));
        }
    }
    best.map(|(_, cut)| cut)
}

fn best_multiclass_cut(values: &[f64], labels: &Labels, weights: &[u64]) -> Option<Cut> {
    let mut sorted: Vec<(u64, u8)> =
        values.iter().zip(&labels.codes).map(|(&v, &c)| (ordered_bits(v), c)).collect();
    // Equal values are sorted by class, so that the order of samples does not matter.
    sorted.sort_unstable();
    // The heaviest class among the first i + 1 samples, and among the samples from i on.
    let sweep = |rows: &mut dyn Iterator<Item = u8>| -> Vec<(u64, u8)> {
        let mut sums = vec![0; weights.len()];
        let mut leader = (0, 0);
        rows.map(|class| {
            let sum = &mut sums[usize::from(class)];
            *sum += weights[usize::from(class)];
            if *sum > leader.0 {
                leader = (*sum, class);
            }
            leader
        })
        .collect()
    };
    let left = sweep(&mut sorted.iter().map(|pair| pair.1));
    let mut right = sweep(&mut sorted.iter().rev().map(|pair| pair.1));
    right.reverse();
    let mut best: Option<(u64, Cut)> = None;
    for i in (1..sorted.len()).filter(|&i| sorted[i - 1].0 != sorted[i].0) {
        let (left, right) = (left[i - 1], right[i]);
        if best.as_ref().is_none_or(|(most, _)| left.0 + right.0 > *most) {
            best = Some((left.0 + right.0, Cut { last: sorted[i - 1].0, left: left.1, right: right.1 }));
        }
    }
    best.map(|(_, cut)| cut)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Classes;

    fn vote(values: &[f64], codes: &[usize]) -> Vec<u8> {
        let labels = Labels::new(&Classes::from_codes(codes.to_vec()), "m").unwrap();
        votes(values, &labels, &labels.weights(false))
    }

    #[test]
    fn a_balanced_stump_weights_the_rare_class() {
        let labels = Labels::new(&Classes::from_codes(vec![1, 1, 0, 0, 0, 1, 0, 0, 0, 0]), "m").unwrap();
        let values: Vec<f64> = (0..10).map(f64::from).collect();
        // By samples, two ones on the left: one error. Balanced, all three ones: 3 of 7 zeros against 1 of 3.
        assert_eq!(votes(&values, &labels, &labels.weights(false)), [1, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(votes(&values, &labels, &labels.weights(true)), [1, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
        let later = Labels::new(&Classes::from_codes(vec![1, 0, 0, 0, 1, 0, 0, 0, 0, 0]), "m").unwrap();
        // One of two ones missed is 1/2, three of eight zeros 3/8.
        assert_eq!(votes(&values, &later, &later.weights(false)), [1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(votes(&values, &later, &later.weights(true)), [1, 1, 1, 1, 1, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn two_classes_by_hand() {
        assert_eq!(vote(&[3.0, 1.0, 2.0, 4.0], &[1, 0, 0, 1]), [1, 0, 0, 1]);
        // The other direction, with one unavoidable error.
        assert_eq!(vote(&[1.0, 2.0, 3.0, 4.0, 5.0], &[1, 1, 0, 1, 0]), [1, 1, 0, 0, 0]);
        // Equal values are never cut apart; -0 is 0.
        assert_eq!(vote(&[-0.0, 0.0, 0.0, 1.0], &[0, 1, 0, 1]), [0, 0, 0, 1]);
    }

    #[test]
    fn a_stump_always_predicts_both_classes() {
        // Predicting 0 for every sample has one error, like the cut.
        assert_eq!(vote(&[1.0, 2.0, 3.0], &[0, 1, 0]), [0, 1, 1]);
    }

    #[test]
    fn constant_features_predict_the_majority() {
        assert_eq!(vote(&[7.0, 7.0, 7.0], &[0, 1, 1]), [1, 1, 1]);
    }

    #[test]
    fn three_classes_by_hand() {
        // Best cut: {0, 0 | 2, 2, 1}.
        assert_eq!(vote(&[1.0, 2.0, 3.0, 4.0, 5.0], &[0, 0, 2, 2, 1]), [0, 0, 2, 2, 2]);
    }

    #[test]
    fn the_cut_is_optimal() {
        let mut rng = crate::random::Rng::new(6);
        for _ in 0..200 {
            let n = 2 + rng.below(9);
            let values: Vec<f64> = (0..n).map(|_| rng.below(5) as f64).collect();
            let classes = 2 + rng.below(2);
            let mut codes: Vec<usize> = (0..n).map(|_| rng.below(classes)).collect();
            (codes[0], codes[1]) = (0, 1);
            let errors =
                |votes: &[u8]| votes.iter().zip(&codes).filter(|(v, c)| usize::from(**v) != **c).count();
            let got = errors(&vote(&values, &codes));
            for cut in 0..4 {
                if !values.iter().any(|&v| v <= f64::from(cut)) || values.iter().all(|&v| v <= f64::from(cut))
                {
                    continue;
                }
                for (left, right) in (0..3).flat_map(|l| (0..3).map(move |r| (l, r))) {
                    if codes.iter().all(|&c| c < 2) && left == right {
                        continue;
                    }
                    let all: Vec<u8> =
                        values.iter().map(|&v| if v <= f64::from(cut) { left } else { right }).collect();
                    assert!(got <= errors(&all));
                }
            }
        }
    }
}
