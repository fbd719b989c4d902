//! Classes by nearest neighbours among rows of numbers.

use crate::context::Context;
use crate::data::Classes;
use crate::error::{Error, Result, need_columns};
use crate::neighbors::nearest;
use ndarray::{Array2, ArrayView2};
use serde::{Deserialize, Serialize};

/// Remembered rows and their classes. A new row gets the class that most of its nearest have; of
/// classes with as many, the one whose first is nearer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Nearest {
    points: Array2<f64>,
    classes: Classes,
    n_neighbors: usize,
}

impl Nearest {
    /// Remembers rows.
    pub fn new(points: Array2<f64>, classes: Classes, n_neighbors: usize) -> Result<Self> {
        check_neighbors("nearest neighbours", n_neighbors, points.nrows())?;
        Ok(Self { points, classes, n_neighbors })
    }

    /// Number of columns that rows must have.
    pub fn n_inputs(&self) -> usize {
        self.points.ncols()
    }

    /// The classes of the remembered rows.
    pub fn classes(&self) -> &Classes {
        &self.classes
    }

    /// Neighbours that vote.
    pub fn n_neighbors(&self) -> usize {
        self.n_neighbors
    }

    /// The class of each row, a place in the classes' names.
    pub fn predict(&self, x: ArrayView2<f64>, ctx: &Context) -> Result<Vec<usize>> {
        Ok(self.predict_with_shares(x, ctx)?.0)
    }

    /// The class of each row, and the share of the votes that each class got.
    pub fn predict_with_shares(
        &self,
        x: ArrayView2<f64>,
        ctx: &Context,
    ) -> Result<(Vec<usize>, Array2<f64>)> {
        need_columns("columns of the rows to classify", self.n_inputs(), x.ncols())?;
        let found = nearest(self.points.view(), x, self.n_neighbors, None, ctx)?;
        let votes = found.iter().map(|near| near.iter().map(|n| self.classes.codes[n.row]).collect());
        Ok(counted(votes.collect(), self.classes.names.len()))
    }

    /// Whether the parts fit together, which a file may have broken.
    pub(crate) fn is_sound(&self) -> bool {
        let n = self.points.nrows();
        self.classes.codes.len() == n
            && (1..=n).contains(&self.n_neighbors)
            && self.classes.codes.iter().all(|&c| c < self.classes.names.len())
            && self.points.iter().all(|v| v.is_finite())
    }
}

/// Refuses no neighbours and more than there are rows.
pub(crate) fn check_neighbors(method: &'static str, wanted: usize, rows: usize) -> Result<()> {
    if wanted == 0 || wanted > rows {
        let expected = format!("from 1 to the number of training rows, {rows}");
        return Err(Error::param(method, "n_neighbors", expected, wanted));
    }
    Ok(())
}

/// The class with most votes; of classes with as many the one that came first.
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

/// For each row the class with most of its votes, and the share of them that each class got.
pub(super) fn counted(votes: Vec<Vec<usize>>, n_classes: usize) -> (Vec<usize>, Array2<f64>) {
    let mut shares = Array2::zeros((votes.len(), n_classes));
    for (row, votes) in votes.iter().enumerate() {
        votes.iter().for_each(|&class| shares[[row, class]] += 1.0 / votes.len() as f64);
    }
    (votes.into_iter().map(|votes| most_voted(votes.into_iter(), n_classes)).collect(), shares)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn shares_of_the_votes() {
        let model = Nearest::new(array![[0.0], [2.0], [3.0]], Classes::from_codes(vec![0, 1, 1]), 3).unwrap();
        let (classes, shares) = model.predict_with_shares(array![[0.4]].view(), &Context::default()).unwrap();
        assert_eq!(classes, [1]);
        assert!((shares[[0, 0]] - 1.0 / 3.0).abs() < 1e-15 && (shares[[0, 1]] - 2.0 / 3.0).abs() < 1e-15);
    }

    #[test]
    fn the_nearest_decides_and_then_the_majority() {
        let classes = Classes::from_codes(vec![0, 1, 1]);
        let points = array![[0.0], [2.0], [3.0]];
        let predict = |k: usize, at: f64| {
            let model = Nearest::new(points.clone(), classes.clone(), k).unwrap();
            model.predict(array![[at]].view(), &Context::default()).unwrap()[0]
        };
        assert_eq!((predict(1, 0.4), predict(3, 0.4)), (0, 1));
        // One vote each: the nearer one.
        assert_eq!((predict(2, 0.4), predict(2, 1.2)), (0, 1));
        let error = Nearest::new(points, classes, 4).unwrap_err().to_string();
        assert!(error.contains("'n_neighbors' must be from 1 to the number of training rows, 3"), "{error}");
    }
}
