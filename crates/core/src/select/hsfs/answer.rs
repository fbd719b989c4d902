//! The data without constant features, and the answer for all features.

use super::criterion::need_moderate;
use super::problem::Problem;
use super::settings::NAME;
use crate::data::{Dataset, Target, is_constant};
use crate::error::{Error, Result};
use crate::optim::largest_rows;
use crate::outcome::Outcome;
use crate::select::selector::{PathPoint, Selection};
use ndarray::Array2;
use std::borrow::Cow;

/// Data without constant features.
pub(super) struct Prepared<'a> {
    pub data: Cow<'a, Dataset>,
    /// Indices of the remaining features.
    pub columns: Vec<usize>,
    /// The original number of features.
    total: usize,
}

impl<'a> Prepared<'a> {
    pub fn new(data: &'a Dataset) -> Result<Self> {
        // Report errors in the target first.
        if let Target::Classes(_) = data.target() {
            data.classes(NAME)?;
        }
        data.need_rows(NAME, 4)?;
        need_moderate(data.x())?;
        let (mean, std) = data.x().moments();
        let groups = data.groups();
        let varies = |f: &usize| groups.columns(*f).any(|j| !is_constant(mean[j], std[j]));
        let columns: Vec<usize> = (0..data.d()).filter(varies).collect();
        if columns.is_empty() {
            return Err(Error::Breakdown {
                step: NAME,
                why: "every column is constant, so there is nothing to select".into(),
            });
        }
        let total = data.d();
        let data = if columns.len() == total {
            Cow::Borrowed(data)
        } else {
            Cow::Owned(data.take_columns(&columns))
        };
        Ok(Self { data, columns, total })
    }
}

/// A solution over the features that are not constant.
pub(super) struct Answer {
    pub w: Array2<f64>,
    /// The selected features.
    pub set: Vec<usize>,
    /// Ranks the other features.
    pub nearness: Vec<f64>,
    /// The requested number of features, which may exceed the size of the set.
    pub n_selected: usize,
    pub path: Vec<PathPoint>,
    pub outcome: Outcome,
}

impl Answer {
    pub fn selection(mut self, prepared: &Prepared, problem: &Problem) -> Selection {
        let (d, columns) = (prepared.total, &prepared.columns);
        let row_norms = problem.row_norms(&self.w);
        let weights = largest_rows(problem.coefficients(&self.w), &problem.groups);
        let mut scores = vec![0.0; d];
        let mut coef = Array2::zeros((d, problem.directions));
        // Features of the set first, by row norm; then by nearness; constant ones last.
        let mut key = vec![(0u8, 0.0, 0.0); d];
        for (at, &j) in columns.iter().enumerate() {
            scores[j] = row_norms[at];
            coef.row_mut(j).assign(&weights.row(at));
            key[j] = (1, row_norms[at], self.nearness[at]);
        }
        self.set.iter().for_each(|&at| key[columns[at]].0 = 2);
        let mut order: Vec<usize> = (0..d).collect();
        order.sort_by(|&a, &b| {
            let ((a_group, a_norm, a_near), (b_group, b_norm, b_near)) = (key[a], key[b]);
            let by_norm = f64::total_cmp(&b_norm, &a_norm);
            b_group.cmp(&a_group).then(by_norm).then(f64::total_cmp(&b_near, &a_near)).then(a.cmp(&b))
        });
        for point in &mut self.path {
            point.features.iter_mut().for_each(|j| *j = columns[*j]);
        }
        Selection {
            automatic: None,
            sample: None,
            method: "hsfs".into(),
            order,
            scores,
            n_selected: self.n_selected,
            curve: vec![],
            coef: Some(coef),
            path: self.path,
            outcome: self.outcome,
        }
    }
}
