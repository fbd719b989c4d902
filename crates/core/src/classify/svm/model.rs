//! A fitted SVM, independent of its training data.

use super::pairs::BinarySvms;
use crate::context::Context;
use crate::data::{Classes, Rows};
use crate::error::{Result, need_columns};
use crate::kernel::{Kernel, gram};
use crate::outcome::Outcome;
use ndarray::{Array2, Axis};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Rows per block of the Gram matrix.
const BLOCK: usize = 1024;
/// Rows of a block per parallel task.
const TASK_ROWS: usize = 64;

/// A fitted SVM: support vectors and coefficients.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SvmModel {
    kernel: Kernel,
    class_names: Vec<String>,
    /// The class of each support vector.
    support_codes: Vec<usize>,
    support: Vec<usize>,
    rows: Rows,
    svms: BinarySvms,
    /// Feature weights for the linear kernel, a row per binary SVM.
    weights: Option<Array2<f64>>,
}

impl SvmModel {
    /// `weights`: the feature weights for the linear kernel, if already known.
    pub(super) fn new(
        kernel: Kernel,
        x: &Rows,
        classes: &Classes,
        svms: BinarySvms,
        weights: Option<Array2<f64>>,
    ) -> Result<Self> {
        let support = svms.support();
        let svms = svms.index_by_support(&support);
        let rows = x.take_rows(&support);
        let weights = weights.or_else(|| (kernel == Kernel::Linear).then(|| linear_weights(&rows, &svms)));
        let support_codes = support.iter().map(|&i| classes.codes[i]).collect();
        Ok(Self { kernel, class_names: classes.names.clone(), support_codes, support, rows, svms, weights })
    }

    /// The class of each row, as an index into the class names.
    pub fn predict(&self, x: &Rows, ctx: &Context) -> Result<Vec<usize>> {
        let values = self.decision_values(x, ctx)?;
        Ok(values.rows().into_iter().map(|values| self.svms.vote(values)).collect())
    }

    /// Decision values, a column per pair of classes with training rows: first and second class, first and third, and
    /// so on. Positive values are for the first class of the pair.
    pub fn decision_values(&self, x: &Rows, ctx: &Context) -> Result<Array2<f64>> {
        need_columns("columns of the rows to classify", self.rows.d(), x.d())?;
        let mut out = Array2::zeros((x.n(), self.svms.svms.len()));
        if let Some(weights) = &self.weights {
            self.linear_decision_values(x, weights, &mut out);
            return Ok(out);
        }
        for from in (0..x.n()).step_by(BLOCK) {
            ctx.step("classifying rows", from, x.n())?;
            let rows: Vec<usize> = (from..x.n().min(from + BLOCK)).collect();
            let k = gram(&self.kernel, &x.take_rows(&rows), &self.rows)?;
            let mut out = out.slice_mut(ndarray::s![from..from + rows.len(), ..]);
            k.axis_chunks_iter(Axis(0), TASK_ROWS)
                .into_par_iter()
                .zip(out.axis_chunks_iter_mut(Axis(0), TASK_ROWS).into_par_iter())
                .for_each(|(k, mut out)| out.assign(&self.svms.decision_values(k)));
        }
        Ok(out)
    }

    fn linear_decision_values(&self, x: &Rows, weights: &Array2<f64>, out: &mut Array2<f64>) {
        for ((i, p), value) in out.indexed_iter_mut() {
            let weights = weights.row(p);
            let product: f64 = match x {
                Rows::Dense(x) => x.row(i).dot(&weights),
                Rows::Sparse(x) => {
                    let (columns, values) = x.row(i);
                    columns.iter().zip(values).map(|(&j, v)| v * weights[j as usize]).sum()
                }
            };
            *value = product + self.svms.svms[p].bias;
        }
    }

    /// A score per class; see [`BinarySvms::class_scores`].
    pub fn class_scores(&self, x: &Rows, ctx: &Context) -> Result<Array2<f64>> {
        Ok(self.svms.class_scores(self.decision_values(x, ctx)?.view()))
    }

    /// The kernel, with its resolved parameters.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// The names of the classes.
    pub fn class_names(&self) -> &[String] {
        &self.class_names
    }

    /// Support vectors, as ascending indices of training rows.
    pub fn support(&self) -> &[usize] {
        &self.support
    }

    /// The support vectors.
    pub fn support_rows(&self) -> &Rows {
        &self.rows
    }

    /// Number of support vectors of each class.
    pub fn n_support(&self) -> Vec<usize> {
        let mut counts = vec![0; self.class_names.len()];
        self.support_codes.iter().for_each(|&c| counts[c] += 1);
        counts
    }

    /// The binary SVMs, with row indices into the support vectors.
    pub fn svms(&self) -> &BinarySvms {
        &self.svms
    }

    /// Feature weights for the linear kernel, a row per binary SVM.
    pub fn weights(&self) -> Option<&Array2<f64>> {
        self.weights.as_ref()
    }

    /// How the optimization ended.
    pub fn outcome(&self) -> Outcome {
        self.svms.outcome()
    }
}

/// $w = \sum_i \beta_i x_i$ for every binary SVM.
pub(super) fn linear_weights(rows: &Rows, svms: &BinarySvms) -> Array2<f64> {
    let mut out = Array2::zeros((svms.svms.len(), rows.d()));
    for (svm, mut out) in svms.svms.iter().zip(out.rows_mut()) {
        for (&i, &b) in svm.rows.iter().zip(&svm.coefficients) {
            match rows {
                Rows::Dense(x) => out.scaled_add(b, &x.row(i)),
                Rows::Sparse(x) => {
                    let (columns, values) = x.row(i);
                    columns.iter().zip(values).for_each(|(&j, v)| out[j as usize] += b * v);
                }
            }
        }
    }
    out
}
