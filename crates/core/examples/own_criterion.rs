//! A user-defined criterion: sparse multinomial logistic regression in about 30 lines.
//!
//! The solver needs only a value and a gradient. Rows of the returned weights are exactly zero for features that are not
//! selected, so a path of radii $\Omega(W) \le \tau$ is a path of selected features.
//!
//! Run with `cargo run --release --example own_criterion`.

use kernsift::data::{BuiltIn, Standardizer};
use kernsift::optim::{Criterion, Minimum, Regularizer, Spectral};
use kernsift::{Context, Dataset};
use ndarray::Array2;

/// The mean negative log-likelihood of classes, $-\frac1n \sum_i \log \operatorname{softmax}(W^T x_i)_{y_i}$.
pub struct Logistic {
    /// Rows of features.
    pub x: Array2<f64>,
    /// The class of each row.
    pub codes: Vec<usize>,
    /// Number of classes.
    pub classes: usize,
}

impl Criterion for Logistic {
    fn shape(&self) -> (usize, usize) {
        (self.x.ncols(), self.classes)
    }

    fn value_and_gradient(&self, w: &Array2<f64>, gradient: &mut Array2<f64>) -> f64 {
        let n = self.codes.len() as f64;
        let mut p = self.x.dot(w);
        let mut loss = 0.0;
        for (mut row, &class) in p.rows_mut().into_iter().zip(&self.codes) {
            let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let own = row[class];
            row.mapv_inplace(|score| (score - largest).exp());
            let sum = row.sum();
            loss += sum.ln() + largest - own;
            row /= sum;
            row[class] -= 1.0;
        }
        gradient.assign(&(self.x.t().dot(&p) / n));
        loss / n
    }
}

/// The standardized wine data and their criterion.
pub fn wine() -> kernsift::Result<(Dataset, Logistic)> {
    let data = BuiltIn::by_name("wine")?.data()?;
    let x = Standardizer::fit(data.x()).apply(data.x())?.into_dense();
    let classes = data.classes("example")?;
    let criterion = Logistic { x, codes: classes.codes.clone(), classes: classes.names.len() };
    Ok((data, criterion))
}

/// The minima for increasing radii, with warm starts.
pub fn path(criterion: &Logistic, radii: &[f64]) -> kernsift::Result<Vec<Minimum>> {
    let holds: Vec<Regularizer> = radii.iter().map(|&tau| Regularizer::Ball(tau)).collect();
    let start = Array2::zeros(criterion.shape());
    Spectral::default().path(criterion, &holds, start, &Context::default())
}

/// Features with nonzero weights, largest first.
pub fn selected(w: &Array2<f64>) -> Vec<usize> {
    let size = |j: usize| w.row(j).iter().fold(0.0_f64, |a, w| a.max(w.abs()));
    let mut columns: Vec<usize> = (0..w.nrows()).filter(|&j| size(j) > 0.0).collect();
    columns.sort_by(|&a, &b| size(b).total_cmp(&size(a)));
    columns
}

fn main() -> kernsift::Result<()> {
    let (data, criterion) = wine()?;
    let radii = [0.25, 0.5, 1.0, 2.0, 4.0, 8.0];
    println!("radius    loss   columns");
    for (tau, minimum) in radii.iter().zip(path(&criterion, &radii)?) {
        let names: Vec<&str> = selected(&minimum.w).iter().map(|&j| data.names()[j].as_str()).collect();
        println!("{tau:6.2}  {:.4}   {:2}: {}", minimum.value, names.len(), names.join(", "));
    }
    Ok(())
}
