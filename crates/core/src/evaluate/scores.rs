//! How good predictions are.

use crate::data::triplets::need_rows;
use crate::data::{Rows, Triplet};
use crate::error::Result;
use crate::kernel::{Kernel, pair_ranks};
use ndarray::{Array2, ArrayView1, ArrayView2};
use serde::{Deserialize, Serialize};

/// The scores of one prediction. What has no meaning for the target, or cannot be told from these
/// rows, is left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Scores {
    /// The share of rows that got a wrong class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<f64>,
    /// The mean over classes of the share of their rows that got the right class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub balanced_accuracy: Option<f64>,
    /// Area under the curve of hits against false alarms; of more than two classes the mean over each
    /// against all others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auc: Option<f64>,
    /// The share of a number's variance that is explained.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r2: Option<f64>,
}

impl Scores {
    /// The scores of predicted classes. `class_scores` has a column per class, where larger means more
    /// likely, or of two classes only that of the second.
    pub fn of_classes(truth: &[usize], predicted: &[usize], class_scores: &Array2<f64>) -> Self {
        Self {
            error: Some(error_rate(truth, predicted)),
            balanced_accuracy: Some(balanced_accuracy(truth, predicted)),
            auc: mean_auc(truth, class_scores.view()),
            r2: None,
        }
    }

    /// The scores of predicted numbers.
    pub fn of_numbers(truth: &[f64], predicted: &[f64]) -> Self {
        Self { r2: r_squared(truth, predicted), ..Self::default() }
    }
}

/// The share of rows that got a wrong class.
pub fn error_rate(truth: &[usize], predicted: &[usize]) -> f64 {
    let wrong = truth.iter().zip(predicted).filter(|(a, b)| a != b).count();
    wrong as f64 / truth.len().max(1) as f64
}

/// The mean over the classes of `truth` of the share of their rows that got the right class.
pub fn balanced_accuracy(truth: &[usize], predicted: &[usize]) -> f64 {
    let classes = truth.iter().max().map_or(0, |&most| most + 1);
    let (mut rows, mut right) = (vec![0usize; classes], vec![0usize; classes]);
    for (&t, &p) in truth.iter().zip(predicted) {
        rows[t] += 1;
        right[t] += usize::from(t == p);
    }
    let shares: Vec<f64> =
        (0..classes).filter(|&c| rows[c] > 0).map(|c| right[c] as f64 / rows[c] as f64).collect();
    shares.iter().sum::<f64>() / shares.len().max(1) as f64
}

/// The chance that a row of the class has a larger score than one of the others; half of it for equal
/// scores. None if there are no such pairs.
pub fn auc(is_class: &[bool], scores: ArrayView1<f64>) -> Option<f64> {
    let mut order: Vec<usize> = (0..is_class.len()).collect();
    order.sort_by(|&a, &b| scores[a].total_cmp(&scores[b]));
    // Ranks are counted in halves so that those of equal scores, which share their mean, stay whole.
    let (mut doubled_ranks, mut of_class) = (0u64, 0u64);
    let mut from = 0;
    while from < order.len() {
        let score = scores[order[from]];
        let to = from + order[from..].iter().take_while(|&&row| scores[row] == score).count().max(1);
        let here = order[from..to].iter().filter(|&&row| is_class[row]).count() as u64;
        doubled_ranks += here * (from + to + 1) as u64;
        of_class += here;
        from = to;
    }
    let others = is_class.len() as u64 - of_class;
    let pairs = of_class * others;
    (pairs > 0).then(|| (doubled_ranks - of_class * (of_class + 1)) as f64 / (2 * pairs) as f64)
}

/// The area for the second of two classes, or the mean over all classes of each against the others.
fn mean_auc(truth: &[usize], class_scores: ArrayView2<f64>) -> Option<f64> {
    let by = |class: usize, column: usize| {
        let is_class: Vec<bool> = truth.iter().map(|&t| t == class).collect();
        auc(&is_class, class_scores.column(column))
    };
    let of = |class: usize| by(class, class);
    match class_scores.ncols() {
        0 => None,
        1 => by(1, 0),
        2 => of(1),
        n => {
            let areas: Vec<f64> = (0..n).filter_map(of).collect();
            (!areas.is_empty()).then(|| areas.iter().sum::<f64>() / areas.len() as f64)
        }
    }
}

/// One less the share of the variance that is left unexplained; none for rows that are all alike.
pub fn r_squared(truth: &[f64], predicted: &[f64]) -> Option<f64> {
    let mean = truth.iter().sum::<f64>() / truth.len().max(1) as f64;
    let total: f64 = truth.iter().map(|t| (t - mean).powi(2)).sum();
    let left: f64 = truth.iter().zip(predicted).map(|(t, p)| (t - p).powi(2)).sum();
    // Squares of very large numbers may be no numbers.
    (total > 0.0).then(|| 1.0 - left / total).filter(|r2| r2.is_finite())
}

/// The share of triples whose first row is more similar to the second than to the third by a Gram matrix;
/// half of a triple for equal similarities.
pub fn triplet_accuracy(gram: ArrayView2<f64>, triplets: &[Triplet]) -> Result<f64> {
    need_rows(triplets, gram.nrows().min(gram.ncols()))?;
    Ok(share_in_order(triplets.iter().map(|&[i, j, k]| (gram[[i, j]], gram[[i, k]]))))
}

/// The share of triples of rows of `x` that a kernel has in order; half of a triple for equal similarities.
///
/// No Gram matrix is made, and similarities are compared by [`pair_ranks`]: two rows so far away that a
/// Gaussian is 0 for both are no tie.
pub fn triplet_accuracy_of(kernel: &Kernel, x: &Rows, triplets: &[Triplet]) -> Result<f64> {
    need_rows(triplets, x.n())?;
    let pairs: Vec<[usize; 2]> = triplets.iter().flat_map(|&[i, j, k]| [[i, j], [i, k]]).collect();
    let ranks = pair_ranks(kernel, x, &pairs)?;
    Ok(share_in_order(ranks.chunks_exact(2).map(|pair| (pair[0], pair[1]))))
}

/// The share of pairs whose first number is the larger; half for equal ones.
fn share_in_order(pairs: impl ExactSizeIterator<Item = (f64, f64)>) -> f64 {
    let n = pairs.len() as f64;
    let right: f64 = pairs.map(|(near, far)| f64::from(near > far) + 0.5 * f64::from(near == far)).sum();
    right / n
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Classes;
    use crate::data::triplets::from_labels;
    use crate::kernel::gram_symmetric;
    use crate::random::Rng;
    use ndarray::{Array1, array};

    #[test]
    fn classes_by_hand() {
        let (truth, predicted) = ([0, 0, 0, 1], [0, 0, 1, 1]);
        assert_eq!(error_rate(&truth, &predicted), 0.25);
        // Two of three and one of one.
        assert!((balanced_accuracy(&truth, &predicted) - 5.0 / 6.0).abs() < 1e-15);
        // A class that only the prediction has does not count.
        assert_eq!(balanced_accuracy(&[0, 0], &[0, 2]), 0.5);
    }

    #[test]
    fn areas_by_hand() {
        let positive = [false, true, false, true];
        assert_eq!(auc(&positive, array![0.1, 0.9, 0.2, 0.8].view()), Some(1.0));
        assert_eq!(auc(&positive, array![0.9, 0.1, 0.8, 0.2].view()), Some(0.0));
        assert_eq!(auc(&positive, array![0.5, 0.5, 0.5, 0.5].view()), Some(0.5));
        // Pairs (0.3, 0.3): half, (0.3, 0.1): right, (0.2, 0.3): wrong, (0.2, 0.1): right.
        assert_eq!(auc(&positive, array![0.3, 0.3, 0.1, 0.2].view()), Some(0.625));
        assert_eq!(auc(&[true, true], array![1.0, 2.0].view()), None);
        let scores = array![[0.9, 0.1, 0.0], [0.2, 0.8, 0.1], [0.1, 0.3, 0.9]];
        assert_eq!(Scores::of_classes(&[0, 1, 2], &[0, 1, 2], &scores).auc, Some(1.0));
        let one = array![[-1.0], [2.0], [0.5]];
        assert_eq!(Scores::of_classes(&[0, 1, 1], &[0, 1, 1], &one).auc, Some(1.0));
        assert_eq!(Scores::of_classes(&[1, 0, 0], &[0, 1, 1], &one).auc, Some(0.0));
    }

    #[test]
    fn the_area_is_the_share_of_pairs_in_order() {
        let mut rng = Rng::new(3);
        for _ in 0..50 {
            let is_class: Vec<bool> = (0..30).map(|_| rng.uniform() < 0.4).collect();
            let scores = Array1::from_shape_simple_fn(30, || (rng.normal() * 3.0).round());
            let (mut right, mut pairs) = (0.0, 0.0);
            for a in (0..30).filter(|&a| is_class[a]) {
                for b in (0..30).filter(|&b| !is_class[b]) {
                    pairs += 1.0;
                    right +=
                        if scores[a] > scores[b] { 1.0 } else { 0.5 * f64::from(scores[a] == scores[b]) };
                }
            }
            assert_eq!(auc(&is_class, scores.view()), Some(right / pairs));
        }
    }

    #[test]
    fn explained_variance_by_hand() {
        assert_eq!(r_squared(&[1.0, 2.0, 3.0], &[1.0, 2.0, 3.0]), Some(1.0));
        assert_eq!(r_squared(&[1.0, 2.0, 3.0], &[2.0, 2.0, 2.0]), Some(0.0));
        assert_eq!(r_squared(&[1.0, 3.0], &[3.0, 1.0]), Some(-3.0));
        assert_eq!(r_squared(&[2.0, 2.0], &[2.0, 2.0]), None);
    }

    #[test]
    fn triples_by_hand() {
        let gram = array![[1.0, 0.8, 0.2], [0.8, 1.0, 0.2], [0.2, 0.2, 1.0]];
        // Right, wrong, and a tie.
        assert_eq!(triplet_accuracy(gram.view(), &[[0, 1, 2], [0, 2, 1], [2, 0, 1]]).unwrap(), 0.5);
        let error = triplet_accuracy(gram.view(), &[[0, 1, 2], [0, 3, 1]]).unwrap_err().to_string();
        assert_eq!(error, "triplet 2: expected rows below 3, got 3");
        assert!(triplet_accuracy(gram.view(), &[]).is_err());
    }
    #[test]
    fn triples_of_a_kernel_are_those_of_its_gram_matrix() {
        let mut rng = Rng::new(6);
        let x: Rows = Array2::from_shape_simple_fn((40, 3), || rng.normal()).into();
        let classes = Classes::from_codes((0..40).map(|i| i % 3).collect());
        let triplets = from_labels(&classes, 500, 1).unwrap();
        for kernel in [Kernel::Linear, Kernel::Rbf { gamma: 0.3 }, Kernel::WhiteNoise] {
            let gram = gram_symmetric(&kernel, &x).unwrap();
            let expected = triplet_accuracy(gram.view(), &triplets).unwrap();
            assert_eq!(triplet_accuracy_of(&kernel, &x, &triplets).unwrap(), expected);
        }
        let error = triplet_accuracy_of(&Kernel::Linear, &x, &[[0, 1, 2], [40, 3, 1]]).unwrap_err();
        assert_eq!(error.to_string(), "triplet 2: expected rows below 40, got 40");
        assert!(triplet_accuracy_of(&Kernel::Linear, &x, &[]).is_err());
    }

    #[test]
    fn the_width_of_a_gaussian_does_not_matter_to_triples() {
        let mut rng = Rng::new(7);
        let x: Rows = Array2::from_shape_simple_fn((40, 3), || 10.0 * rng.normal()).into();
        let classes = Classes::from_codes((0..40).map(|i| i % 3).collect());
        let triplets = from_labels(&classes, 500, 1).unwrap();
        let accuracy = |gamma| triplet_accuracy_of(&Kernel::Rbf { gamma }, &x, &triplets).unwrap();
        let wide = accuracy(1e-3);
        assert!([1.0, 1e3, 1e6].iter().all(|&gamma| accuracy(gamma) == wide));
        // Where the values vanish the Gram matrix sees ties.
        let gram = gram_symmetric(&Kernel::Rbf { gamma: 1e6 }, &x).unwrap();
        assert_eq!(triplet_accuracy(gram.view(), &triplets).unwrap(), 0.5);
        assert_ne!(wide, 0.5);
    }
}
