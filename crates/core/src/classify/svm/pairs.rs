//! A machine for every pair of classes, and what they say together.

use crate::outcome::{Outcome, Stop};
use crate::simd::dot;
use ndarray::{Array2, ArrayView1, ArrayView2};
use serde::{Deserialize, Serialize};

/// Tells two classes apart: $\sum_i \beta_i k(x_i, x) + b$ is above zero for the first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PairMachine {
    /// The class on the positive side.
    pub first: usize,
    /// The class on the negative side.
    pub second: usize,
    /// The rows that count, rising.
    pub rows: Vec<usize>,
    /// $\beta$, one per row that counts: positive for rows of the first class.
    pub coefficients: Vec<f64>,
    /// $b$
    pub bias: f64,
    /// The least value of the dual objective that was found.
    pub objective: f64,
    /// Steps it took.
    pub iterations: usize,
    /// Whether the tolerance was met.
    pub converged: bool,
}

/// All pairs of the classes that have rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PairMachines {
    /// Number of classes, those without rows too.
    pub n_classes: usize,
    /// The classes that have rows, rising.
    pub present: Vec<usize>,
    /// Pairs of those: the first with the second, the first with the third, and so on.
    pub machines: Vec<PairMachine>,
}

impl PairMachine {
    /// The machine's value for a row whose kernel with all rows is `k`.
    pub fn value(&self, k: &[f64], scratch: &mut Vec<f64>) -> f64 {
        if self.rows.len() == k.len() {
            return dot(k, &self.coefficients) + self.bias;
        }
        scratch.clear();
        scratch.extend(self.rows.iter().map(|&i| k[i]));
        dot(scratch, &self.coefficients) + self.bias
    }
}

impl PairMachines {
    /// The value of every machine, a row per row of `k`: the kernel of new rows with all training rows.
    pub fn values(&self, k: ArrayView2<f64>) -> Array2<f64> {
        let mut out = Array2::zeros((k.nrows(), self.machines.len()));
        let (mut scratch, mut row) = (vec![], vec![]);
        for (k, mut out) in k.rows().into_iter().zip(out.rows_mut()) {
            row.clear();
            row.extend(k.iter());
            for (value, machine) in out.iter_mut().zip(&self.machines) {
                *value = machine.value(&row, &mut scratch);
            }
        }
        out
    }

    /// The class that wins most pairs, given their values; of classes with as many, the first.
    pub fn vote(&self, values: ArrayView1<f64>) -> usize {
        vote(&self.present, values.iter().copied())
    }

    /// A number per class, from the values of the pairs: its votes, plus the sum of its pairs' values squeezed
    /// into a third to either side, so that it only decides between classes with as many votes. Classes without
    /// rows get -1, which is below all others. Two classes: one number per row, above zero for the second.
    ///
    /// This is what scikit-learn calls a decision function of the shape "ovr".
    pub fn class_scores(&self, values: ArrayView2<f64>) -> Array2<f64> {
        if self.n_classes == 2 && self.machines.len() == 1 {
            return -values.to_owned();
        }
        let mut out = Array2::from_elem((values.nrows(), self.n_classes), -1.0);
        for (values, mut out) in values.rows().into_iter().zip(out.rows_mut()) {
            let (mut votes, mut sums) = (vec![0.0; self.n_classes], vec![0.0; self.n_classes]);
            for (machine, &value) in self.machines.iter().zip(values) {
                sums[machine.first] += value;
                sums[machine.second] -= value;
                votes[if value < 0.0 { machine.second } else { machine.first }] += 1.0;
            }
            for &class in &self.present {
                let sum: f64 = sums[class];
                out[class] = votes[class] + sum / (3.0 * (sum.abs() + 1.0));
            }
        }
        out
    }

    /// The rows that count for some machine, rising.
    pub fn support(&self) -> Vec<usize> {
        let mut rows: Vec<usize> = self.machines.iter().flat_map(|m| m.rows.iter().copied()).collect();
        rows.sort_unstable();
        rows.dedup();
        rows
    }

    /// How the worst of them ended, and the steps of all.
    pub fn outcome(&self) -> Outcome {
        let converged = self.machines.iter().all(|m| m.converged);
        let stop = if converged { Stop::Tolerance } else { Stop::MaxIterations };
        Outcome { stop, iterations: self.machines.iter().map(|m| m.iterations).sum() }
    }

    /// Rows counted by their place in `support`, which holds all that count.
    pub(super) fn among(mut self, support: &[usize]) -> Self {
        for machine in &mut self.machines {
            for row in &mut machine.rows {
                *row = support.binary_search(row).expect("rows that count are support");
            }
        }
        self
    }
}

/// The class that wins most pairs of `present`, whose values come in their order.
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

    fn machine(first: usize, second: usize) -> PairMachine {
        PairMachine {
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
        // Of classes 0, 2, 3: 0 beats 2, 2 beats 3, 3 beats 0: one each, and the first has it.
        assert_eq!(vote(&[0, 2, 3], [1.0, -1.0, 1.0].into_iter()), 0);
        assert_eq!(vote(&[0, 2, 3], [-1.0, -1.0, 1.0].into_iter()), 2);
        assert_eq!(vote(&[1], [].into_iter()), 1);
    }

    #[test]
    fn values_and_scores_by_hand() {
        let machines = vec![machine(0, 2), machine(0, 3), machine(2, 3)];
        let all = PairMachines { n_classes: 4, present: vec![0, 2, 3], machines };
        // 1 * 3 - 2 * 1 + 0.5 for all machines.
        let values = all.values(array![[3.0, 9.0, 1.0]].view());
        assert_eq!(values, array![[1.5, 1.5, 1.5]]);
        assert_eq!(all.vote(values.row(0)), 0);
        // Sums 3, 0, -3; votes 2, 1, 0.
        assert_eq!(all.class_scores(values.view()), array![[2.0 + 3.0 / 12.0, -1.0, 1.0, -3.0 / 12.0]]);
        assert_eq!(all.support(), [0, 2]);
        let two = PairMachines { n_classes: 2, present: vec![0, 1], machines: vec![machine(0, 1)] };
        assert_eq!(two.class_scores(array![[1.5]].view()), array![[-1.5]]);
    }
}
