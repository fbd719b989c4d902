//! Scores of predictions.

use crate::data::triplets::need_sound;
use crate::data::{Rows, Triplet, Weights};
use crate::error::Result;
use crate::kernel::{Kernel, pair_ranks};
use ndarray::{Array2, ArrayView1, ArrayView2};
use serde::{Deserialize, Serialize};

/// The scores of one set of predictions, weighted as scikit-learn does. Scores that are undefined for the target or for these rows are
/// `None`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Scores {
    /// Error rate: the fraction of misclassified rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<f64>,
    /// Balanced accuracy: the mean recall over classes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub balanced_accuracy: Option<f64>,
    /// Area under the ROC curve; with more than two classes, the mean over classes, one against the rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auc: Option<f64>,
    /// Mean negative logarithm of the probability of the class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_loss: Option<f64>,
    /// F1 score of the second of two classes, or the mean F1 score over classes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub f1: Option<f64>,
    /// Coefficient of determination R².
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r2: Option<f64>,
    /// Root of the mean squared error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rmse: Option<f64>,
    /// Mean absolute error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mae: Option<f64>,
}

impl Scores {
    /// The scores of predicted classes. `class_scores` has a column per class, or one column for the second of two
    /// classes; larger means more likely. Without a column there is no AUC.
    pub fn classification(
        truth: &[usize],
        predicted: &[usize],
        class_scores: &Array2<f64>,
        weights: Weights,
    ) -> Self {
        if weights.total(truth.len()) <= 0.0 {
            return Self::default();
        }
        Self {
            error: Some(error_rate(truth, predicted, weights)),
            balanced_accuracy: Some(balanced_accuracy(truth, predicted, weights)),
            auc: mean_auc(truth, class_scores.view(), weights),
            f1: Some(f1(truth, predicted, class_scores.ncols() > 2, weights)),
            ..Self::default()
        }
    }

    /// These scores, and those of probabilities of the classes, with a column per class.
    pub fn with_probabilities(self, truth: &[usize], probabilities: &Array2<f64>, weights: Weights) -> Self {
        Self {
            log_loss: log_loss(truth, probabilities.view(), weights).filter(|_| self.error.is_some()),
            ..self
        }
    }

    /// The scores of predicted numbers.
    pub fn regression(truth: &[f64], predicted: &[f64], weights: Weights) -> Self {
        if weights.total(truth.len()) <= 0.0 {
            return Self::default();
        }
        Self {
            r2: r_squared(truth, predicted, weights),
            rmse: mean_of(truth, predicted, weights, |e| e * e).map(f64::sqrt),
            mae: mean_of(truth, predicted, weights, f64::abs),
            ..Self::default()
        }
    }
}

/// Error rate: the fraction of misclassified rows.
pub fn error_rate(truth: &[usize], predicted: &[usize], weights: Weights) -> f64 {
    mean(truth.len(), weights, |row| f64::from(truth[row] != predicted[row]))
}

/// The weighted mean over rows; 0 if all weights are 0.
fn mean(n: usize, weights: Weights, of: impl Fn(usize) -> f64) -> f64 {
    let total = weights.total(n);
    let sum: f64 = (0..n).map(|row| weights.of(row) * of(row)).sum();
    if total > 0.0 { sum / total } else { 0.0 }
}

/// Balanced accuracy: the mean recall over the classes in `truth`.
pub fn balanced_accuracy(truth: &[usize], predicted: &[usize], weights: Weights) -> f64 {
    let classes = truth.iter().max().map_or(0, |&most| most + 1);
    let (mut rows, mut right) = (vec![0.0; classes], vec![0.0; classes]);
    for (row, (&t, &p)) in truth.iter().zip(predicted).enumerate() {
        rows[t] += weights.of(row);
        right[t] += if t == p { weights.of(row) } else { 0.0 };
    }
    let recalls: Vec<f64> = (0..classes).filter(|&c| rows[c] > 0.0).map(|c| right[c] / rows[c]).collect();
    recalls.iter().sum::<f64>() / recalls.len().max(1) as f64
}

/// The F1 score of the second class, or with more than two classes the mean over those in `truth` or `predicted`. It is 0
/// for a class that is never predicted correctly.
pub fn f1(truth: &[usize], predicted: &[usize], is_multiclass: bool, weights: Weights) -> f64 {
    let n_classes = truth.iter().chain(predicted).max().map_or(0, |&most| most + 1);
    let count = |is_counted: &dyn Fn(usize, usize) -> bool| -> f64 {
        let rows = (0..truth.len()).filter(|&row| is_counted(truth[row], predicted[row]));
        rows.map(|row| weights.of(row)).sum()
    };
    let of = |class: usize| {
        let both = count(&|t, p| t == class && p == class);
        let either = count(&|t, _| t == class) + count(&|_, p| p == class);
        (either > 0.0).then(|| 2.0 * both / either)
    };
    if !is_multiclass {
        return of(1).unwrap_or(0.0);
    }
    let scores: Vec<f64> = (0..n_classes).filter_map(of).collect();
    scores.iter().sum::<f64>() / scores.len().max(1) as f64
}

/// Mean negative logarithm of the probability of each row's class; probabilities are clipped to [ε, 1 - ε] with the machine
/// precision ε. `None` if a class has no column.
pub fn log_loss(truth: &[usize], probabilities: ArrayView2<f64>, weights: Weights) -> Option<f64> {
    if truth.iter().any(|&class| class >= probabilities.ncols()) {
        return None;
    }
    let loss = |row: usize| -probabilities[[row, truth[row]]].clamp(f64::EPSILON, 1.0 - f64::EPSILON).ln();
    Some(mean(truth.len(), weights, loss))
}

/// The mean of a function of the errors; `None` if it overflows.
fn mean_of(truth: &[f64], predicted: &[f64], weights: Weights, of: impl Fn(f64) -> f64) -> Option<f64> {
    Some(mean(truth.len(), weights, |row| of(truth[row] - predicted[row]))).filter(|mean| mean.is_finite())
}

/// Area under the ROC curve: the probability that a row of the class has a larger score than another row, where ties
/// count one half; a pair has the product of its weights. `None` without such pairs.
pub fn auc(is_class: &[bool], scores: ArrayView1<f64>, weights: Weights) -> Option<f64> {
    let mut order: Vec<usize> = (0..is_class.len()).collect();
    order.sort_by(|&a, &b| scores[a].total_cmp(&scores[b]));
    let (mut right, mut of_class, mut others) = (0.0, 0.0, 0.0);
    let mut from = 0;
    while from < order.len() {
        let score = scores[order[from]];
        let to = from + order[from..].iter().take_while(|&&row| scores[row] == score).count().max(1);
        let weight = |of_class: bool| -> f64 {
            order[from..to].iter().filter(|&&row| is_class[row] == of_class).map(|&row| weights.of(row)).sum()
        };
        let (of_class_here, others_here) = (weight(true), weight(false));
        right += of_class_here * (others + 0.5 * others_here);
        of_class += of_class_here;
        others += others_here;
        from = to;
    }
    let pairs = of_class * others;
    (pairs > 0.0).then(|| right / pairs)
}

/// The AUC of the second of two classes, or the mean AUC over classes, one against the rest.
fn mean_auc(truth: &[usize], class_scores: ArrayView2<f64>, weights: Weights) -> Option<f64> {
    let by = |class: usize, column: usize| {
        let is_class: Vec<bool> = truth.iter().map(|&t| t == class).collect();
        auc(&is_class, class_scores.column(column), weights)
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

/// Coefficient of determination R²; `None` if `truth` is constant.
pub fn r_squared(truth: &[f64], predicted: &[f64], weights: Weights) -> Option<f64> {
    let center = mean(truth.len(), weights, |row| truth[row]);
    let sum = |of: &dyn Fn(usize) -> f64| -> f64 {
        (0..truth.len()).map(|row| weights.of(row) * of(row).powi(2)).sum()
    };
    let total = sum(&|row| truth[row] - center);
    let residual = sum(&|row| truth[row] - predicted[row]);
    // Squares of very large numbers overflow.
    (total > 0.0).then(|| 1.0 - residual / total).filter(|r2| r2.is_finite())
}

/// The fraction of triplets (i, j, k) that a Gram matrix satisfies: i is more similar to j than to k. Ties count one
/// half.
pub fn triplet_accuracy(gram: ArrayView2<f64>, triplets: &[Triplet]) -> Result<f64> {
    need_sound(triplets, gram.nrows().min(gram.ncols()))?;
    Ok(satisfied_fraction(triplets.iter().map(|&[i, j, k]| (gram[[i, j]], gram[[i, k]]))))
}

/// The fraction of triplets of rows of `x` that a kernel satisfies. Ties count one half.
///
/// It needs no Gram matrix and compares similarities by [`pair_ranks`], which distinguishes rows so far away that a
/// Gaussian underflows to 0 for both.
pub fn triplet_accuracy_of(kernel: &Kernel, x: &Rows, triplets: &[Triplet]) -> Result<f64> {
    need_sound(triplets, x.n())?;
    let pairs: Vec<[usize; 2]> = triplets.iter().flat_map(|&[i, j, k]| [[i, j], [i, k]]).collect();
    let ranks = pair_ranks(kernel, x, &pairs)?;
    Ok(satisfied_fraction(ranks.chunks_exact(2).map(|pair| (pair[0], pair[1]))))
}

/// The fraction of pairs whose first number is larger; ties count one half.
fn satisfied_fraction(pairs: impl ExactSizeIterator<Item = (f64, f64)>) -> f64 {
    let n = pairs.len() as f64;
    let satisfied: f64 = pairs.map(|(near, far)| f64::from(near > far) + 0.5 * f64::from(near == far)).sum();
    satisfied / n
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Classes;
    use crate::data::triplets::from_labels;
    use crate::kernel::gram_symmetric;
    use crate::random::Rng;
    use ndarray::{Array1, array};

    const ONE: Weights<'static> = Weights::ONE;

    #[test]
    fn error_rate_and_balanced_accuracy() {
        let (truth, predicted) = ([0, 0, 0, 1], [0, 0, 1, 1]);
        assert_eq!(error_rate(&truth, &predicted, ONE), 0.25);
        // Recalls 2/3 and 1.
        assert!((balanced_accuracy(&truth, &predicted, ONE) - 5.0 / 6.0).abs() < 1e-15);
        // Classes that occur only in the predictions are ignored.
        assert_eq!(balanced_accuracy(&[0, 0], &[0, 2], ONE), 0.5);
    }

    #[test]
    fn weighted_scores_are_those_of_repeated_rows() {
        let mut rng = Rng::new(8);
        let weights: Vec<f64> = (0..40).map(|_| rng.below(4) as f64).collect();
        let repeated: Vec<usize> = (0..40).flat_map(|row| vec![row; weights[row] as usize]).collect();
        let truth: Vec<usize> = (0..40).map(|_| rng.below(3)).collect();
        let predicted: Vec<usize> = (0..40).map(|_| rng.below(3)).collect();
        let p = Array2::from_shape_simple_fn((40, 3), || (8.0 * rng.uniform()).round() / 24.0);
        let take = |of: &[usize]| -> Vec<usize> { repeated.iter().map(|&row| of[row]).collect() };
        let all = p.select(ndarray::Axis(0), &repeated);
        let expected = Scores::classification(&take(&truth), &take(&predicted), &all, ONE)
            .with_probabilities(&take(&truth), &all, ONE);
        let weights = Weights::new(Some(&weights));
        let found =
            Scores::classification(&truth, &predicted, &p, weights).with_probabilities(&truth, &p, weights);
        let y: Vec<f64> = (0..40).map(|_| rng.normal()).collect();
        let z: Vec<f64> = (0..40).map(|_| rng.normal()).collect();
        let numbers = |of: &[f64]| -> Vec<f64> { repeated.iter().map(|&row| of[row]).collect() };
        let expected = [expected, Scores::regression(&numbers(&y), &numbers(&z), ONE)];
        let found = [found, Scores::regression(&y, &z, weights)];
        let values =
            |s: &Scores| [s.error, s.balanced_accuracy, s.auc, s.log_loss, s.f1, s.r2, s.rmse, s.mae];
        for (a, b) in expected.iter().zip(&found).flat_map(|(a, b)| values(a).into_iter().zip(values(b))) {
            // Sums of at most 80 terms in another order.
            assert!(
                a.is_some() == b.is_some() && a.zip(b).is_none_or(|(a, b)| (a - b).abs() < 1e-13),
                "{a:?} {b:?}"
            );
        }
    }

    #[test]
    fn auc_with_ties() {
        let positive = [false, true, false, true];
        assert_eq!(auc(&positive, array![0.1, 0.9, 0.2, 0.8].view(), ONE), Some(1.0));
        assert_eq!(auc(&positive, array![0.9, 0.1, 0.8, 0.2].view(), ONE), Some(0.0));
        assert_eq!(auc(&positive, array![0.5, 0.5, 0.5, 0.5].view(), ONE), Some(0.5));
        // Pairs (0.3, 0.3): tie, (0.3, 0.1): correct, (0.2, 0.3): wrong, (0.2, 0.1): correct.
        assert_eq!(auc(&positive, array![0.3, 0.3, 0.1, 0.2].view(), ONE), Some(0.625));
        assert_eq!(auc(&[true, true], array![1.0, 2.0].view(), ONE), None);
        let scores = array![[0.9, 0.1, 0.0], [0.2, 0.8, 0.1], [0.1, 0.3, 0.9]];
        assert_eq!(Scores::classification(&[0, 1, 2], &[0, 1, 2], &scores, ONE).auc, Some(1.0));
        let one = array![[-1.0], [2.0], [0.5]];
        assert_eq!(Scores::classification(&[0, 1, 1], &[0, 1, 1], &one, ONE).auc, Some(1.0));
        assert_eq!(Scores::classification(&[1, 0, 0], &[0, 1, 1], &one, ONE).auc, Some(0.0));
    }

    #[test]
    fn auc_is_the_fraction_of_correctly_ordered_pairs() {
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
            assert_eq!(auc(&is_class, scores.view(), ONE), Some(right / pairs));
        }
    }

    #[test]
    fn r_squared_of_perfect_constant_and_reversed_predictions() {
        assert_eq!(r_squared(&[1.0, 2.0, 3.0], &[1.0, 2.0, 3.0], ONE), Some(1.0));
        assert_eq!(r_squared(&[1.0, 2.0, 3.0], &[2.0, 2.0, 2.0], ONE), Some(0.0));
        assert_eq!(r_squared(&[1.0, 3.0], &[3.0, 1.0], ONE), Some(-3.0));
        assert_eq!(r_squared(&[2.0, 2.0], &[2.0, 2.0], ONE), None);
    }

    #[test]
    fn f1_of_two_and_of_more_classes() {
        // Two of three predicted and two of four present: 2 * 2 / 7.
        let (truth, predicted) = ([1, 1, 1, 1, 0, 0], [1, 1, 0, 0, 1, 0]);
        assert!((f1(&truth, &predicted, false, ONE) - 4.0 / 7.0).abs() < 1e-15);
        // The first class: one of three predicted, one of two present.
        assert!((f1(&truth, &predicted, true, ONE) - (4.0 / 7.0 + 2.0 / 5.0) / 2.0).abs() < 1e-15);
        assert_eq!(f1(&[0, 0], &[0, 0], false, ONE), 0.0);
        // Class 1 does not occur.
        assert_eq!(f1(&[0, 2], &[0, 2], true, ONE), 1.0);
    }

    #[test]
    fn log_loss_clips_probabilities() {
        let p = array![[0.25, 0.75], [0.5, 0.5], [1.0, 0.0]];
        let expected = -(0.75_f64.ln() + 0.5_f64.ln() + f64::EPSILON.ln()) / 3.0;
        assert!((log_loss(&[1, 0, 1], p.view(), ONE).unwrap() - expected).abs() < 1e-15);
        assert_eq!(log_loss(&[2], p.view(), ONE), None);
    }

    #[test]
    fn errors_of_numbers() {
        let scores = Scores::regression(&[1.0, 2.0, 6.0], &[1.0, 5.0, 2.0], ONE);
        assert_eq!((scores.rmse, scores.mae), (Some((25.0_f64 / 3.0).sqrt()), Some(7.0 / 3.0)));
        assert_eq!(Scores::regression(&[1e300], &[-1e300], ONE).rmse, None);
    }

    #[test]
    fn triplet_accuracy_counts_ties_one_half() {
        let gram = array![[1.0, 0.8, 0.2], [0.8, 1.0, 0.2], [0.2, 0.2, 1.0]];
        // Satisfied, violated, and a tie.
        assert_eq!(triplet_accuracy(gram.view(), &[[0, 1, 2], [0, 2, 1], [2, 0, 1]]).unwrap(), 0.5);
        let error = triplet_accuracy(gram.view(), &[[0, 1, 2], [0, 3, 1]]).unwrap_err().to_string();
        assert_eq!(error, "triplet 2: expected rows below 3, got 3");
        assert!(triplet_accuracy(gram.view(), &[]).is_err());
        let error = triplet_accuracy(gram.view(), &[[0, 1, 2], [0, 0, 0]]).unwrap_err().to_string();
        assert!(error.ends_with("expected three distinct rows, got 0, 0 and 0"), "{error}");
    }

    #[test]
    fn triplet_accuracy_of_a_kernel_equals_that_of_its_gram_matrix() {
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
    fn triplet_accuracy_does_not_depend_on_gamma() {
        let mut rng = Rng::new(7);
        let x: Rows = Array2::from_shape_simple_fn((40, 3), || 10.0 * rng.normal()).into();
        let classes = Classes::from_codes((0..40).map(|i| i % 3).collect());
        let triplets = from_labels(&classes, 500, 1).unwrap();
        let accuracy = |gamma| triplet_accuracy_of(&Kernel::Rbf { gamma }, &x, &triplets).unwrap();
        let small_gamma = accuracy(1e-3);
        assert!([1.0, 1e3, 1e6].iter().all(|&gamma| accuracy(gamma) == small_gamma));
        // Where kernel values underflow to 0, the Gram matrix has ties.
        let gram = gram_symmetric(&Kernel::Rbf { gamma: 1e6 }, &x).unwrap();
        assert_eq!(triplet_accuracy(gram.view(), &triplets).unwrap(), 0.5);
        assert_ne!(small_gamma, 0.5);
    }
}
