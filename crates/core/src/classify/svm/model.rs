//! A trained machine that needs its training data no more.

use super::pairs::PairMachines;
use crate::context::Context;
use crate::data::{Classes, Rows};
use crate::error::{Result, need_columns};
use crate::kernel::{Kernel, gram};
use crate::outcome::Outcome;
use ndarray::{Array2, Axis};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// New rows that are classified at a time.
const BLOCK: usize = 1024;
/// Rows of a block that one task adds up.
const TASK: usize = 64;

/// The rows that count, and how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SvmModel {
    kernel: Kernel,
    class_names: Vec<String>,
    /// The class of each support row.
    support_codes: Vec<usize>,
    support: Vec<usize>,
    rows: Rows,
    machines: PairMachines,
    /// A row per machine, for the linear kernel.
    weights: Option<Array2<f64>>,
}

impl SvmModel {
    /// `weights`: those of the columns, for the linear kernel, if they are known already.
    pub(super) fn new(
        kernel: Kernel,
        x: &Rows,
        classes: &Classes,
        machines: PairMachines,
        weights: Option<Array2<f64>>,
    ) -> Result<Self> {
        let support = machines.support();
        let machines = machines.among(&support);
        let rows = x.take_rows(&support);
        let weights =
            weights.or_else(|| (kernel == Kernel::Linear).then(|| linear_weights(&rows, &machines)));
        let support_codes = support.iter().map(|&i| classes.codes[i]).collect();
        Ok(Self {
            kernel,
            class_names: classes.names.clone(),
            support_codes,
            support,
            rows,
            machines,
            weights,
        })
    }

    /// The class of each row, a place in the classes' names.
    pub fn predict(&self, x: &Rows, ctx: &Context) -> Result<Vec<usize>> {
        let values = self.pair_values(x, ctx)?;
        Ok(values.rows().into_iter().map(|values| self.machines.vote(values)).collect())
    }

    /// The value of every machine, a column per pair of classes that had rows: the first with the second, the first
    /// with the third, and so on. Above zero is the first of the pair.
    pub fn pair_values(&self, x: &Rows, ctx: &Context) -> Result<Array2<f64>> {
        need_columns("columns of the rows to classify", self.rows.d(), x.d())?;
        let mut out = Array2::zeros((x.n(), self.machines.machines.len()));
        if let Some(weights) = &self.weights {
            self.linear_values(x, weights, &mut out);
            return Ok(out);
        }
        for from in (0..x.n()).step_by(BLOCK) {
            ctx.step("classifying rows", from, x.n())?;
            let rows: Vec<usize> = (from..x.n().min(from + BLOCK)).collect();
            let k = gram(&self.kernel, &x.take_rows(&rows), &self.rows)?;
            let mut out = out.slice_mut(ndarray::s![from..from + rows.len(), ..]);
            k.axis_chunks_iter(Axis(0), TASK)
                .into_par_iter()
                .zip(out.axis_chunks_iter_mut(Axis(0), TASK).into_par_iter())
                .for_each(|(k, mut out)| out.assign(&self.machines.values(k)));
        }
        Ok(out)
    }

    fn linear_values(&self, x: &Rows, weights: &Array2<f64>, out: &mut Array2<f64>) {
        for ((i, p), value) in out.indexed_iter_mut() {
            let weights = weights.row(p);
            let product: f64 = match x {
                Rows::Dense(x) => x.row(i).dot(&weights),
                Rows::Sparse(x) => {
                    let (columns, values) = x.row(i);
                    columns.iter().zip(values).map(|(&j, v)| v * weights[j as usize]).sum()
                }
            };
            *value = product + self.machines.machines[p].bias;
        }
    }

    /// A number per class; see [`PairMachines::class_scores`].
    pub fn class_scores(&self, x: &Rows, ctx: &Context) -> Result<Array2<f64>> {
        Ok(self.machines.class_scores(self.pair_values(x, ctx)?.view()))
    }

    /// The kernel, with the width that was used.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// What the classes are called.
    pub fn class_names(&self) -> &[String] {
        &self.class_names
    }

    /// The training rows that count, rising.
    pub fn support(&self) -> &[usize] {
        &self.support
    }

    /// What those rows were.
    pub fn support_rows(&self) -> &Rows {
        &self.rows
    }

    /// How many rows of each class count.
    pub fn n_support(&self) -> Vec<usize> {
        let mut counts = vec![0; self.class_names.len()];
        self.support_codes.iter().for_each(|&c| counts[c] += 1);
        counts
    }

    /// The machines, which count rows by their place among the support rows.
    pub fn machines(&self) -> &PairMachines {
        &self.machines
    }

    /// For the linear kernel, the weights of the columns, a row per machine.
    pub fn weights(&self) -> Option<&Array2<f64>> {
        self.weights.as_ref()
    }

    /// How training ended.
    pub fn outcome(&self) -> Outcome {
        self.machines.outcome()
    }
}

/// $w = \sum_i \beta_i x_i$ for every machine.
pub(super) fn linear_weights(rows: &Rows, machines: &PairMachines) -> Array2<f64> {
    let mut out = Array2::zeros((machines.machines.len(), rows.d()));
    for (machine, mut out) in machines.machines.iter().zip(out.rows_mut()) {
        for (&i, &b) in machine.rows.iter().zip(&machine.coefficients) {
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
