//! How far single columns say the same.
//!
//! The alignment of two columns is the HSIC of their Gaussian kernels, over that of each with itself:
//! $$ a_{fg} = \frac{\lVert F_f^\top F_g \rVert^2}{\lVert F_f^\top F_f \rVert \lVert F_g^\top F_g \rVert}, $$
//! with centred thin factors $F$ of the two kernel matrices, whose width is one standard deviation. It is 1 for a column and itself,
//! or its mirror image, and near 0 for columns that have nothing to do with each other.

use super::{centre, column_factor};
use crate::context::Context;
use crate::data::Rows;
use crate::error::Result;
use crate::linalg::multiply;
use crate::random::Rng;
use ndarray::Array2;

/// Rows by which columns are compared, at most.
const ROWS: usize = 1000;
/// The share of a kernel's trace that its factor may leave out: a picture shows two digits.
const TOLERANCE: f64 = 1e-6;
/// Shares of the centred kernel's norm below which there is nothing but rounding.
const NOTHING: f64 = 1e-9;

/// How far each of these columns says the same as each other one, from 0 to 1. A constant column says nothing: its
/// alignments are 0. Cells must be finite. Of many rows a sample is looked at.
pub fn alignment(x: &Rows, columns: &[usize], ctx: &Context) -> Result<Array2<f64>> {
    let sample = Rng::stream(ctx.seed, "alignment").sample(x.n(), ROWS);
    let x = x.take_columns(columns).take_rows(&sample);
    let mut factors = vec![];
    for j in 0..columns.len() {
        ctx.step("redundancy", j, columns.len())?;
        factors.push(factor(x.column(j)));
    }
    let norms: Vec<f64> = factors.iter().map(|f| squared_norm(f, f).sqrt()).collect();
    let n = sample.len() as f64;
    let mut out = Array2::zeros((columns.len(), columns.len()));
    for a in 0..columns.len() {
        for b in 0..=a {
            if norms[a].min(norms[b]) > NOTHING * n {
                let share = squared_norm(&factors[a], &factors[b]) / (norms[a] * norms[b]);
                out[[a, b]] = share.min(1.0);
                out[[b, a]] = out[[a, b]];
            }
        }
    }
    Ok(out)
}

/// The centred factor of a column's kernel.
fn factor(mut values: Vec<f64>) -> Array2<f64> {
    let n = values.len() as f64;
    // By the largest first, so that squares are numbers.
    let largest = values.iter().fold(0.0_f64, |most, v| most.max(v.abs())).max(f64::MIN_POSITIVE);
    values.iter_mut().for_each(|v| *v /= largest);
    let mean = values.iter().sum::<f64>() / n;
    let spread = (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt();
    let scale = if spread > 1e-12 { 1.0 / spread } else { 0.0 };
    values.iter_mut().for_each(|v| *v = (*v - mean) * scale);
    let mut factor = column_factor(&values, 0.5, TOLERANCE);
    centre(&mut factor);
    factor
}

fn squared_norm(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
    multiply(a.t(), b.view()).iter().map(|v| v * v).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dependence::{Estimator, Hsic, Variable, hsic};
    use crate::kernel::{Kernel, KernelChoice};

    /// Noise, its square, its mirror image, other noise, a constant.
    fn example() -> Array2<f64> {
        let mut rng = Rng::new(3);
        let cells = (0..400).flat_map(|_| {
            let (a, b) = (rng.normal(), rng.normal());
            [a, a * a, -1e200 * a, b, 7.0]
        });
        Array2::from_shape_vec((400, 5), cells.collect()).unwrap()
    }

    #[test]
    fn equals_are_one_and_strangers_near_zero() {
        let a = alignment(&example().into(), &[0, 1, 2, 3, 4], &Context::default()).unwrap();
        // The factor leaves out a millionth of the trace.
        assert!((a[[0, 0]] - 1.0).abs() < 1e-9 && (a[[0, 2]] - 1.0).abs() < 1e-5, "{a}");
        // A square depends on its root, which correlation would not see.
        assert!(a[[0, 1]] > 0.2 && a[[0, 1]] < 0.9 && a[[0, 3]] < 0.05, "{a}");
        assert_eq!(a.row(4).sum(), 0.0);
        assert_eq!(a, a.t());
    }

    #[test]
    fn it_is_normalised_hsic() {
        let x = example();
        let ctx = Context::default();
        let found = alignment(&x.clone().into(), &[0, 1], &ctx).unwrap()[[0, 1]];
        let column = |j: usize| -> Rows {
            let c = x.slice(ndarray::s![.., j..j + 1]).to_owned();
            let scaled = (&c - c.mean().unwrap()) / c.std(0.0);
            scaled.into()
        };
        let kernel = KernelChoice::Fixed(Kernel::Rbf { gamma: 0.5 });
        let (a, b) = (column(0), column(1));
        let settings = Hsic { estimator: Estimator::Normalized, ..Hsic::default() };
        let both = hsic(Variable::Rows(&a, &kernel), Variable::Rows(&b, &kernel), &settings, &ctx).unwrap();
        // Two factors that leave out a millionth each.
        assert!((found - both.value).abs() < 1e-5, "{found} {}", both.value);
    }
}
