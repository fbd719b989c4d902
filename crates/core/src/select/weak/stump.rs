//! A stump: one cut of a column, a class on either side.
//!
//! Two classes: the cut between two different values and the direction with the fewest errors; a stump
//! that says the same of every row is not considered, for it could not vote. More classes: either side
//! votes for the class that is most frequent there. Of equally good cuts the lowest is taken.

use super::Labels;
use std::cmp::Ordering;

/// A vote per row.
pub(super) fn votes(values: &[f64], labels: &Labels) -> Vec<u8> {
    let mut sorted: Vec<(u64, u8)> =
        values.iter().zip(&labels.codes).map(|(&v, &c)| (in_order(v), c)).collect();
    // By class among equals, so that the order of rows cannot matter.
    sorted.sort_unstable();
    let best = if labels.n_classes() == 2 {
        best_of_two(&sorted, labels, (in_order(values[0]), labels.codes[0]))
    } else {
        best_of_many(&sorted, labels)
    };
    match best {
        None => vec![labels.majority(); values.len()],
        Some(Cut { last, left, right }) => {
            values.iter().map(|&v| if in_order(v) <= last { left } else { right }).collect()
        }
    }
}

/// Values up to `last` are on the left.
struct Cut {
    last: u64,
    left: u8,
    right: u8,
}

/// Bits that compare like the number; both zeros are one.
fn in_order(value: f64) -> u64 {
    let bits = (value + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

fn best_of_two(sorted: &[(u64, u8)], labels: &Labels, first: (u64, u8)) -> Option<Cut> {
    let n = sorted.len();
    let ones = labels.counts[1];
    let mut left_ones = 0;
    let mut best: Option<(usize, Cut)> = None;
    for (i, &(last, class)) in sorted.iter().enumerate().take(n - 1) {
        left_ones += usize::from(class);
        if sorted[i + 1].0 == last {
            continue;
        }
        // Errors with class 0 on the left and 1 on the right; the other way is wrong about the others.
        let errors = left_ones + (n - i - 1) - (ones - left_ones);
        let fewer = errors.min(n - errors);
        if best.as_ref().is_none_or(|(least, _)| fewer < *least) {
            let left = match errors.cmp(&(n - errors)) {
                Ordering::Less => 0,
                Ordering::Greater => 1,
                // Both ways are as bad: be right about the first row, whatever its class is called.
                Ordering::Equal => {
                    if first.0 <= last {
                        first.1
                    } else {
                        1 - first.1
                    }
                }
            };
            best = Some((fewer, Cut { last, left, right: 1 - left }));
        }
    }
    best.map(|(_, cut)| cut)
}

fn best_of_many(sorted: &[(u64, u8)], labels: &Labels) -> Option<Cut> {
    let n = sorted.len();
    let classes = labels.n_classes();
    // The most frequent class among the first i + 1 rows, and among the rows from i on.
    let sweep = |rows: &mut dyn Iterator<Item = u8>| -> Vec<(usize, u8)> {
        let mut counts = vec![0usize; classes];
        let mut leader = (0, 0);
        rows.map(|class| {
            counts[usize::from(class)] += 1;
            if counts[usize::from(class)] > leader.0 {
                leader = (counts[usize::from(class)], class);
            }
            leader
        })
        .collect()
    };
    let left = sweep(&mut sorted.iter().map(|pair| pair.1));
    let mut right = sweep(&mut sorted.iter().rev().map(|pair| pair.1));
    right.reverse();
    let mut best: Option<(usize, Cut)> = None;
    for i in (0..n - 1).filter(|&i| sorted[i].0 != sorted[i + 1].0) {
        let right_answers = left[i].0 + right[i + 1].0;
        if best.as_ref().is_none_or(|(most, _)| right_answers > *most) {
            best = Some((right_answers, Cut { last: sorted[i].0, left: left[i].1, right: right[i + 1].1 }));
        }
    }
    best.map(|(_, cut)| cut)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Classes;

    fn vote(values: &[f64], codes: &[usize]) -> Vec<u8> {
        votes(values, &Labels::new(&Classes::from_codes(codes.to_vec()), "m").unwrap())
    }

    #[test]
    fn two_classes_by_hand() {
        assert_eq!(vote(&[3.0, 1.0, 2.0, 4.0], &[1, 0, 0, 1]), [1, 0, 0, 1]);
        // The other direction, and one error that cannot be helped.
        assert_eq!(vote(&[1.0, 2.0, 3.0, 4.0, 5.0], &[1, 1, 0, 1, 0]), [1, 1, 0, 0, 0]);
        // Equal values are never cut apart; -0 is 0.
        assert_eq!(vote(&[-0.0, 0.0, 0.0, 1.0], &[0, 1, 0, 1]), [0, 0, 0, 1]);
    }

    #[test]
    fn a_lopsided_column_still_votes_both_ways() {
        // Saying 0 of every row errs once, as does the cut.
        assert_eq!(vote(&[1.0, 2.0, 3.0], &[0, 1, 0]), [0, 1, 1]);
    }

    #[test]
    fn constant_columns_vote_for_the_majority() {
        assert_eq!(vote(&[7.0, 7.0, 7.0], &[0, 1, 1]), [1, 1, 1]);
    }

    #[test]
    fn three_classes_by_hand() {
        // Best cut: {0, 0 | 2, 2, 1}.
        assert_eq!(vote(&[1.0, 2.0, 3.0, 4.0, 5.0], &[0, 0, 2, 2, 1]), [0, 0, 2, 2, 2]);
    }

    #[test]
    fn no_cut_is_better() {
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
