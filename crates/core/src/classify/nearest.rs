//! k-nearest neighbors classification by Euclidean distance.

use crate::context::Context;
use crate::data::Classes;
use crate::error::{Error, Result, need_columns};
use crate::neighbors::nearest;
use ndarray::{Array2, ArrayView2};
use serde::{Deserialize, Serialize};

/// A k-nearest neighbors classifier. A row gets the majority class of its nearest training rows; ties go to the class
/// of the nearest row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KnnClassifier {
    points: Array2<f64>,
    classes: Classes,
    n_neighbors: usize,
}

impl KnnClassifier {
    /// Stores the training rows and their classes.
    pub fn new(points: Array2<f64>, classes: Classes, n_neighbors: usize) -> Result<Self> {
        check_neighbors("nearest neighbors", n_neighbors, points.nrows())?;
        Ok(Self { points, classes, n_neighbors })
    }

    /// Number of input features.
    pub fn n_inputs(&self) -> usize {
        self.points.ncols()
    }

    /// The classes of the training rows.
    pub fn classes(&self) -> &Classes {
        &self.classes
    }

    /// Number of neighbors.
    pub fn n_neighbors(&self) -> usize {
        self.n_neighbors
    }

    /// The class of each row, as an index into the class names.
    pub fn predict(&self, x: ArrayView2<f64>, ctx: &Context) -> Result<Vec<usize>> {
        Ok(self.predict_with_fractions(x, ctx)?.0)
    }

    /// The class of each row, and the fraction of votes for each class.
    pub fn predict_with_fractions(
        &self,
        x: ArrayView2<f64>,
        ctx: &Context,
    ) -> Result<(Vec<usize>, Array2<f64>)> {
        need_columns("columns of the rows to classify", self.n_inputs(), x.ncols())?;
        let found = nearest(self.points.view(), x, self.n_neighbors, None, ctx)?;
        let votes = found.iter().map(|near| near.iter().map(|n| self.classes.codes[n.row]).collect());
        Ok(count_votes(votes.collect(), self.classes.names.len()))
    }

    /// Whether the fields are consistent; a damaged file may violate it.
    pub(crate) fn is_sound(&self) -> bool {
        let n = self.points.nrows();
        self.classes.codes.len() == n
            && (1..=n).contains(&self.n_neighbors)
            && self.classes.codes.iter().all(|&c| c < self.classes.names.len())
            && self.points.iter().all(|v| v.is_finite())
    }
}

/// Checks that `n_neighbors` is between 1 and the number of rows.
pub(crate) fn check_neighbors(method: &'static str, n_neighbors: usize, rows: usize) -> Result<()> {
    if n_neighbors == 0 || n_neighbors > rows {
        let expected = format!("from 1 to the number of training rows, {rows}");
        return Err(Error::param(method, "n_neighbors", expected, n_neighbors));
    }
    Ok(())
}

/// The class with the most votes; ties go to the class of the earliest vote.
pub(crate) fn most_voted(votes: impl Iterator<Item = usize>, n_classes: usize) -> usize {
    let mut counts = vec![0usize; n_classes];
    let mut order = vec![];
    for class in votes {
        if counts[class] == 0 {
            order.push(class);
        }
        counts[class] += 1;
    }
    order.into_iter().rev().max_by_key(|&class| counts[class]).unwrap_or(0)
}

/// For each row the class with the most votes, and the fraction of votes for each class.
pub(super) fn count_votes(votes: Vec<Vec<usize>>, n_classes: usize) -> (Vec<usize>, Array2<f64>) {
    let mut fractions = Array2::zeros((votes.len(), n_classes));
    for (row, votes) in votes.iter().enumerate() {
        votes.iter().for_each(|&class| fractions[[row, class]] += 1.0 / votes.len() as f64);
    }
    (votes.into_iter().map(|votes| most_voted(votes.into_iter(), n_classes)).collect(), fractions)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn vote_fractions() {
        let model =
            KnnClassifier::new(array![[0.0], [2.0], [3.0]], Classes::from_codes(vec![0, 1, 1]), 3).unwrap();
        let (classes, fractions) =
            model.predict_with_fractions(array![[0.4]].view(), &Context::default()).unwrap();
        assert_eq!(classes, [1]);
        assert!(
            (fractions[[0, 0]] - 1.0 / 3.0).abs() < 1e-15 && (fractions[[0, 1]] - 2.0 / 3.0).abs() < 1e-15
        );
    }

    #[test]
    fn majority_class_with_ties_to_the_nearest() {
        let classes = Classes::from_codes(vec![0, 1, 1]);
        let points = array![[0.0], [2.0], [3.0]];
        let predict = |k: usize, at: f64| {
            let model = KnnClassifier::new(points.clone(), classes.clone(), k).unwrap();
            model.predict(array![[at]].view(), &Context::default()).unwrap()[0]
        };
        assert_eq!((predict(1, 0.4), predict(3, 0.4)), (0, 1));
        // One vote each: the nearer row decides.
        assert_eq!((predict(2, 0.4), predict(2, 1.2)), (0, 1));
        let error = KnnClassifier::new(points, classes, 4).unwrap_err().to_string();
        assert!(error.contains("'n_neighbors' must be from 1 to the number of training rows, 3"), "{error}");
    }
}
