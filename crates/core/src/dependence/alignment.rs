//! Kernel alignment between single columns: a measure of redundancy.
//!
//! The alignment of two columns is the normalized HSIC of their Gaussian kernels (centered kernel alignment):
//! $$ a_{fg} = \frac{\lVert F_f^\top F_g \rVert^2}{\lVert F_f^\top F_f \rVert \lVert F_g^\top F_g \rVert}, $$
//! with centered thin factors $F$ of the two kernel matrices, whose bandwidth is one standard deviation. It is 1 for a
//! column with itself or its negative, and near 0 for independent columns.

use super::target::center;
use super::thin::column_factor;
use crate::context::Context;
use crate::data::{Dataset, Encoder, Encoding, FeatureType, ImputeStrategy};
use crate::error::Result;
use crate::linalg::multiply;
use crate::random::Rng;
use ndarray::Array2;

/// Rows in the sample, at most.
const MAX_ROWS: usize = 1000;
/// The fraction of a kernel's trace that its factor may omit: plots show two digits.
const TOLERANCE: f64 = 1e-6;
/// A norm of the centered kernel below this fraction of the number of rows is rounding error.
const ROUNDING: f64 = 1e-9;

/// The alignment of each pair of these features, from 0 to 1; 0 for constant features. Categories have the delta kernel, 1 for
/// equal and 0 for different categories, where missing is a category; other missing values are imputed with the median. Uses
/// a sample of at most 1000 rows.
pub fn alignment(data: &Dataset, columns: &[usize], ctx: &Context) -> Result<Array2<f64>> {
    let sample = Rng::stream(ctx.seed, "alignment").sample(data.n(), MAX_ROWS);
    let data = data.take_columns(columns).take_rows(&sample);
    let mut factors = vec![];
    for j in 0..columns.len() {
        ctx.step("redundancy", j, columns.len())?;
        let feature = data.take_columns(&[j]);
        let encoding = Encoding { impute: Some(ImputeStrategy::Median), standardize: false };
        let x = Encoder::fit(&feature, encoding)?.apply(feature.x())?;
        factors.push(match data.feature_type(j) {
            FeatureType::Number | FeatureType::Date(_) => factor(x.column(0)),
            FeatureType::Category { .. } => centered(x.into_dense()),
        });
    }
    let norms: Vec<f64> = factors.iter().map(|f| squared_norm(f, f).sqrt()).collect();
    let n = sample.len() as f64;
    let mut out = Array2::zeros((columns.len(), columns.len()));
    for a in 0..columns.len() {
        for b in 0..=a {
            if norms[a].min(norms[b]) > ROUNDING * n {
                let cosine = squared_norm(&factors[a], &factors[b]) / (norms[a] * norms[b]);
                out[[a, b]] = cosine.min(1.0);
                out[[b, a]] = out[[a, b]];
            }
        }
    }
    Ok(out)
}

/// The centered factor of a column's kernel.
fn factor(mut values: Vec<f64>) -> Array2<f64> {
    let n = values.len() as f64;
    // Divide by the largest first, so that squares do not overflow.
    let largest = values.iter().fold(0.0_f64, |most, v| most.max(v.abs())).max(f64::MIN_POSITIVE);
    values.iter_mut().for_each(|v| *v /= largest);
    let mean = values.iter().sum::<f64>() / n;
    let std = (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt();
    let scale = if std > 1e-12 { 1.0 / std } else { 0.0 };
    values.iter_mut().for_each(|v| *v = (*v - mean) * scale);
    centered(column_factor(&values, 0.5, TOLERANCE))
}

fn centered(mut factor: Array2<f64>) -> Array2<f64> {
    center(&mut factor);
    factor
}

fn squared_norm(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
    multiply(a.t(), b.view()).iter().map(|v| v * v).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Rows, Target};
    use crate::dependence::{Estimator, Hsic, Variable, hsic};
    use crate::kernel::{Kernel, KernelChoice};

    /// Noise, its square, its negative, other noise, a constant.
    fn example() -> Array2<f64> {
        let mut rng = Rng::new(3);
        let cells = (0..400).flat_map(|_| {
            let (a, b) = (rng.normal(), rng.normal());
            [a, a * a, -1e200 * a, b, 7.0]
        });
        Array2::from_shape_vec((400, 5), cells.collect()).unwrap()
    }

    #[test]
    fn redundant_columns_have_one_and_independent_columns_zero() {
        let a = alignment(&Dataset::unlabeled(example()).unwrap(), &[0, 1, 2, 3, 4], &Context::default())
            .unwrap();
        // The factor omits a millionth of the trace.
        assert!((a[[0, 0]] - 1.0).abs() < 1e-9 && (a[[0, 2]] - 1.0).abs() < 1e-5, "{a}");
        // A square depends on its root, although they are not correlated.
        assert!(a[[0, 1]] > 0.2 && a[[0, 1]] < 0.9 && a[[0, 3]] < 0.05, "{a}");
        assert_eq!(a.row(4).sum(), 0.0);
        assert_eq!(a, a.t());
    }

    #[test]
    fn categories_have_the_delta_kernel() {
        // The second category tells whether the first is missing; the third is independent of both.
        let cells = (0..240).flat_map(|i| {
            let a = if i % 4 == 3 { f64::NAN } else { f64::from(i % 4) };
            [a, f64::from(u8::from(i % 4 == 3)), f64::from(i / 4 % 2)]
        });
        let x = Array2::from_shape_vec((240, 3), cells.collect()).unwrap();
        let types = vec![FeatureType::Category { levels: 3 }; 3];
        let names = ["a", "b", "c"].map(String::from).to_vec();
        let data = Dataset::typed(names, x, types, Target::None).unwrap();
        let a = alignment(&data, &[0, 1, 2], &Context::default()).unwrap();
        // Centered kernels of four equal groups: eigenvalue n/4 three times; of groups of 1/4 and 3/4: one of 3n/8, along a
        // direction of the first. So the inner product is n/4 3n/8, the norms sqrt(3) n/4 and 3n/8.
        assert!((a[[0, 1]] - 1.0 / 3.0_f64.sqrt()).abs() < 1e-12, "{a}");
        assert!(a[[0, 2]] < 1e-12 && a[[1, 2]] < 1e-12, "{a}");
    }

    #[test]
    fn alignment_is_normalized_hsic() {
        let x = example();
        let ctx = Context::default();
        let found = alignment(&Dataset::unlabeled(x.clone()).unwrap(), &[0, 1], &ctx).unwrap()[[0, 1]];
        let column = |j: usize| -> Rows {
            let c = x.slice(ndarray::s![.., j..j + 1]).to_owned();
            let scaled = (&c - c.mean().unwrap()) / c.std(0.0);
            scaled.into()
        };
        let kernel = KernelChoice::Fixed(Kernel::Rbf { gamma: 0.5 });
        let (a, b) = (column(0), column(1));
        let settings = Hsic { estimator: Estimator::Normalized, ..Hsic::default() };
        let both = hsic(Variable::Rows(&a, &kernel), Variable::Rows(&b, &kernel), &settings, &ctx).unwrap();
        // Each factor omits a millionth.
        assert!((found - both.value).abs() < 1e-5, "{found} {}", both.value);
    }
}
