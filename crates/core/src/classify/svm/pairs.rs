//! Binary SVMs for all pairs of classes (one-vs-one).

use crate::outcome::{Outcome, Stop};
use crate::simd::dot;
use ndarray::{Array2, ArrayView1, ArrayView2};
use serde::{Deserialize, Serialize};

/// A binary SVM: the decision value $\sum_i \beta_i k(x_i, x) + b$ is positive for the first class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BinarySvm {
    /// The class on the positive side.
    pub first: usize,
    /// The class on the negative side.
    pub second: usize,
    /// Support vectors, as ascending row indices.
    pub rows: Vec<usize>,
    /// $\beta$, one per support vector; positive for the first class.
    pub coefficients: Vec<f64>,
    /// $b$
    pub bias: f64,
    /// The minimized dual objective.
    pub objective: f64,
    /// Number of iterations.
    pub iterations: usize,
    /// Whether it reached the tolerance.
    pub converged: bool,
}

/// Binary SVMs for all pairs of classes with training rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BinarySvms {
    /// Number of classes, including those without training rows.
    pub n_classes: usize,
    /// The classes with training rows, in ascending order.
    pub present: Vec<usize>,
    /// One SVM per pair: first and second class, first and third, and so on.
    pub svms: Vec<BinarySvm>,
}

impl BinarySvm {
    /// The decision value of a row; `k` has its kernel values with all training rows.
    pub fn decision_value(&self, k: &[f64], scratch: &mut Vec<f64>) -> f64 {
        if self.rows.len() == k.len() {
            return dot(k, &self.coefficients) + self.bias;
        }
        scratch.clear();
        scratch.extend(self.rows.iter().map(|&i| k[i]));
        dot(scratch, &self.coefficients) + self.bias
    }
}

impl BinarySvms {
    /// Decision values, a row per row of `k` and a column per pair; `k` has the kernel values of new rows with all
    /// training rows.
    pub fn decision_values(&self, k: ArrayView2<f64>) -> Array2<f64> {
        let mut out = Array2::zeros((k.nrows(), self.svms.len()));
        let (mut scratch, mut row) = (vec![], vec![]);
        for (k, mut out) in k.rows().into_iter().zip(out.rows_mut()) {
            row.clear();
            row.extend(k.iter());
            for (value, svm) in out.iter_mut().zip(&self.svms) {
                *value = svm.decision_value(&row, &mut scratch);
            }
        }
        out
    }

    /// The class with the most votes, given the decision values of the pairs; ties go to the first class.
    pub fn vote(&self, values: ArrayView1<f64>) -> usize {
        vote(&self.present, values.iter().copied())
    }

    /// A score per class, from the decision values of the pairs: its votes, plus the sum of its decision values scaled
    /// to (-1/3, 1/3) as a tie-breaker. Classes without training rows get -1, below all others. Two classes: one score
    /// per row, positive for the second.
    ///
    /// This is scikit-learn's decision function with `decision_function_shape="ovr"`.
    pub fn class_scores(&self, values: ArrayView2<f64>) -> Array2<f64> {
        if self.n_classes == 2 && self.svms.len() == 1 {
            return -values.to_owned();
        }
        let mut out = Array2::from_elem((values.nrows(), self.n_classes), -1.0);
        for (values, mut out) in values.rows().into_iter().zip(out.rows_mut()) {
            let (mut votes, mut sums) = (vec![0.0; self.n_classes], vec![0.0; self.n_classes]);
            for (svm, &value) in self.svms.iter().zip(values) {
                sums[svm.first] += value;
                sums[svm.second] -= value;
                votes[if value < 0.0 { svm.second } else { svm.first }] += 1.0;
            }
            for &class in &self.present {
                let sum: f64 = sums[class];
                out[class] = votes[class] + sum / (3.0 * (sum.abs() + 1.0));
            }
        }
        out
    }

    /// Support vectors of all SVMs, as ascending row indices.
    pub fn support(&self) -> Vec<usize> {
        let mut rows: Vec<usize> = self.svms.iter().flat_map(|m| m.rows.iter().copied()).collect();
        rows.sort_unstable();
        rows.dedup();
        rows
    }

    /// How the optimization ended: converged if all SVMs did, with the total number of iterations.
    pub fn outcome(&self) -> Outcome {
        let converged = self.svms.iter().all(|svm| svm.converged);
        let stop = if converged { Stop::Tolerance } else { Stop::MaxIterations };
        Outcome { stop, iterations: self.svms.iter().map(|svm| svm.iterations).sum() }
    }

    /// Replaces row indices by positions in `support`, which contains all support vectors.
    pub(super) fn index_by_support(mut self, support: &[usize]) -> Self {
        for svm in &mut self.svms {
            for row in &mut svm.rows {
                *row = support.binary_search(row).expect("support contains all support vectors");
            }
        }
        self
    }
}

/// The class with the most votes; `values` has the decision values of all pairs of `present`, in order.
pub(crate) fn vote(present: &[usize], mut values: impl Iterator<Item = f64>) -> usize {
    let mut votes = vec![0usize; present.len()];
    for first in 0..present.len() {
        for second in first + 1..present.len() {
            let wins = values.next().is_some_and(|v| v > 0.0);
            votes[if wins { first } else { second }] += 1;
        }
    }
    let most = votes.iter().max().copied().unwrap_or(0);
    present[votes.iter().position(|&v| v == most).unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    fn svm(first: usize, second: usize) -> BinarySvm {
        BinarySvm {
            first,
            second,
            rows: vec![0, 2],
            coefficients: vec![1.0, -2.0],
            bias: 0.5,
            objective: 0.0,
            iterations: 1,
            converged: true,
        }
    }

    #[test]
    fn votes_and_ties() {
        // Of classes 0, 2, 3: 0 beats 2, 2 beats 3, 3 beats 0; the first of the tied classes wins.
        assert_eq!(vote(&[0, 2, 3], [1.0, -1.0, 1.0].into_iter()), 0);
        assert_eq!(vote(&[0, 2, 3], [-1.0, -1.0, 1.0].into_iter()), 2);
        assert_eq!(vote(&[1], [].into_iter()), 1);
    }

    #[test]
    fn decision_values_and_class_scores() {
        let svms = vec![svm(0, 2), svm(0, 3), svm(2, 3)];
        let all = BinarySvms { n_classes: 4, present: vec![0, 2, 3], svms };
        // 1 * 3 - 2 * 1 + 0.5 for all SVMs.
        let values = all.decision_values(array![[3.0, 9.0, 1.0]].view());
        assert_eq!(values, array![[1.5, 1.5, 1.5]]);
        assert_eq!(all.vote(values.row(0)), 0);
        // Sums 3, 0, -3; votes 2, 1, 0.
        assert_eq!(all.class_scores(values.view()), array![[2.0 + 3.0 / 12.0, -1.0, 1.0, -3.0 / 12.0]]);
        assert_eq!(all.support(), [0, 2]);
        let two = BinarySvms { n_classes: 2, present: vec![0, 1], svms: vec![svm(0, 1)] };
        assert_eq!(two.class_scores(array![[1.5]].view()), array![[-1.5]]);
    }
}
