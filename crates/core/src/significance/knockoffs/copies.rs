//! Knockoff copies of features by a Gaussian model with shrunk covariance.

use super::correlations::correlations;
use crate::context::Context;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::linalg::{cholesky, invert_lower, multiply, product_bytes, symmetric_eigen};
use crate::probability::normal_upper_quantile;
use crate::random::Rng;
use ndarray::{Array1, Array2, ArrayView2, Axis};

/// The smallest intensity of shrinkage, so that the covariance is never singular.
const MIN_SHRINKAGE: f64 = 1e-3;
/// Eigenvalues below this fraction of the largest are rounding errors.
const ROUNDING: f64 = 1e-12;
/// With more features than this and than samples, no matrix of all pairs of features is made.
const MAX_SQUARE: usize = 4000;

/// The search for $s$ ends when every $s_j$ is within this fraction of its stationary value.
const TOLERANCE: f64 = 0.01;

/// A Gaussian model of standardized features.
///
/// Copies have the correlation $1 - s_j$ with their feature; $s$ makes features and copies hardest to reconstruct from each other.
/// Given the features, copies are normal with mean $X - X \Sigma^{-1} S$ and covariance $2 S - S \Sigma^{-1} S$,
/// $S = \operatorname{diag}(s_j)$.
pub struct CopyModel {
    /// The features, standardized.
    pub x: Array2<f64>,
    form: Form,
}

enum Form {
    /// $I - \Sigma^{-1} S$, and the Cholesky factor of $2 S - S \Sigma^{-1} S$.
    Pairs { means: Array2<f64>, factor: Array2<f64> },
    /// With thousands of features and fewer samples the covariance is $(1 - \rho) X^\top X / n + \rho I$ (Ledoit and Wolf), and all
    /// $s_j$ are equal.
    Wide {
        /// Eigenvectors of $\Sigma$ as columns, and their eigenvalues, for nonzero eigenvalues of $X^\top X$.
        vectors: Array2<f64>,
        values: Array1<f64>,
        /// The eigenvalue in all other directions.
        floor: f64,
        s: f64,
    },
}

impl CopyModel {
    /// The model of numbers without missing values. With `normal_scores`, features are first replaced by the normal quantiles of
    /// their ranks.
    pub fn fit(data: &Dataset, normal_scores: bool, method: &'static str, ctx: &Context) -> Result<Self> {
        data.need_numbers(method)?;
        data.need_complete(method)?;
        let (n, d) = (data.n() as f64, data.d() as f64);
        let is_wide = data.d() > data.n().max(MAX_SQUARE);
        let square = if is_wide { 3.0 * d * n + 4.0 * n * n } else { 2.0 * d * n + 8.0 * d * d };
        let bytes = 8.0 * square + product_bytes();
        ctx.need_memory("the covariance of the features", bytes, "use fewer rows or columns")?;
        let mut x = data.x().to_dense();
        let scores = if normal_scores { normal_quantiles(data.n()) } else { vec![] };
        for mut column in x.axis_iter_mut(Axis(1)) {
            let mut values = column.to_vec();
            if normal_scores {
                replace_by_scores(&mut values, &scores);
            }
            standardize(&mut values);
            column.assign(&Array1::from(values));
        }
        ctx.check()?;
        if x.iter().all(|v| *v == 0.0) {
            let why = "all features are constant".into();
            return Err(Error::Breakdown { step: "covariance", why });
        }
        let form = if is_wide { Form::wide(&x)? } else { Form::pairs(correlations(x.view())?, ctx)? };
        Ok(Self { x, form })
    }

    /// A copy of all features.
    pub fn sample(&self, rng: &mut Rng) -> Array2<f64> {
        let mut noise = Array2::from_shape_simple_fn(self.x.dim(), || rng.normal());
        let x = self.x.view();
        let mut copies = match &self.form {
            Form::Pairs { means, factor } => multiply(x, means.view()) + multiply(noise.view(), factor.t()),
            Form::Wide { vectors, values, floor, s } => {
                let root = |value: f64| (2.0 * s - s * s / value).max(0.0).sqrt();
                let base = root(*floor);
                // The rows of X are in the span of the eigenvectors.
                let means = multiply(x, vectors.view()) * &values.mapv(|v| -s / v);
                let extra = multiply(noise.view(), vectors.view()) * &values.mapv(|v| root(v) - base);
                noise *= base;
                noise + &self.x + multiply((means + extra).view(), vectors.t())
            }
        };
        for (mut copy, own) in copies.columns_mut().into_iter().zip(self.x.columns()) {
            // The copy of a constant feature is constant, so that both have the same score.
            if own.iter().all(|v| *v == 0.0) {
                copy.fill(0.0);
            }
        }
        copies
    }
}

impl Form {
    /// With a matrix of all pairs of features.
    fn pairs(covariance: Array2<f64>, ctx: &Context) -> Result<Self> {
        let singular = || Error::Breakdown {
            step: "covariance",
            why: "the covariance of the features is singular; leave out features that are sums of others"
                .into(),
        };
        let inverse = inverse(covariance.view()).ok_or_else(singular)?;
        ctx.check()?;
        let s = least_reconstructable(&covariance, &inverse, ctx)?;
        let mut means = inverse * -&s;
        let mut conditional = &means * &s.view().insert_axis(Axis(1));
        means.diag_mut().mapv_inplace(|v| v + 1.0);
        conditional.diag_mut().scaled_add(2.0, &s);
        let factor = cholesky(conditional.view()).ok_or_else(singular)?;
        Ok(Self::Pairs { means, factor })
    }

    /// With many more features than samples.
    fn wide(x: &Array2<f64>) -> Result<Self> {
        let (n, d) = (x.nrows() as f64, x.ncols() as f64);
        let sample = multiply(x.view(), x.t()) / n;
        let floor = ledoit_wolf(x, &sample);
        let eigen = symmetric_eigen(sample.view())?;
        let largest = eigen.values[0];
        let rank = eigen.values.iter().take_while(|&&v| v > ROUNDING * largest).count();
        let values = eigen.values.slice(ndarray::s![..rank]);
        let kept = eigen.vectors.slice(ndarray::s![.., ..rank]);
        let vectors = multiply(x.t(), kept) * &values.mapv(|v| 1.0 / (n * v).sqrt());
        let values = values.mapv(|v| (1.0 - floor) * v + floor);
        let terms = values.iter().map(|&v| (v, 1.0)).chain([(floor, d - rank as f64)]).collect::<Vec<_>>();
        let s = reconstructability(&terms, d);
        Ok(Self::Wide { vectors, values, floor, s })
    }
}

/// The inverse of a positive definite matrix.
fn inverse(matrix: ArrayView2<f64>) -> Option<Array2<f64>> {
    let inverse = invert_lower(cholesky(matrix)?.view());
    Some(multiply(inverse.t(), inverse.view()))
}

/// The $s_j \le 1$ that make features and copies hardest to reconstruct from each other: they minimize the trace of the inverse of
/// their joint covariance, $\operatorname{tr} M + \sum_j 1 / s_j$ with $M = (2 \Sigma - S)^{-1}$ (minimum variance-based
/// reconstructability; Spector and Janson, 2022).
///
/// The trace is convex, and its slope is zero where $s_j = 1 / \lVert M_j \rVert$. Each step multiplies $s_j$ by a power of the
/// ratio of both sides; the power is halved until the trace decreases.
fn least_reconstructable(
    covariance: &Array2<f64>,
    precision: &Array2<f64>,
    ctx: &Context,
) -> Result<Array1<f64>> {
    let at = |s: &Array1<f64>| {
        let mut difference = covariance * 2.0;
        difference.diag_mut().scaled_add(-1.0, s);
        let m = inverse(difference.view())?;
        Some((m.diag().sum() + s.mapv(f64::recip).sum(), m))
    };
    // The variance of each feature given all others, times a bound on the least eigenvalue of the covariance in these units.
    let variances = precision.diag().mapv(f64::recip);
    let scaled = precision * &variances.mapv(f64::sqrt);
    let norm = (&scaled * &scaled * variances.view().insert_axis(Axis(1))).sum().sqrt();
    let mut s = variances.mapv(|v| (v / norm).min(1.0));
    let Some((mut trace, mut m)) = at(&s) else { return Ok(s) };
    let mut power = 1.0;
    while power > f64::EPSILON {
        ctx.check()?;
        let ratios = (&m * &m).sum_axis(Axis(0)).sqrt() * &s;
        let is_there = |(s, r): (&f64, &f64)| (r - 1.0).abs() < TOLERANCE || (*s == 1.0 && *r < 1.0);
        if s.iter().zip(&ratios).all(is_there) {
            break;
        }
        let next = Array1::from_iter(s.iter().zip(&ratios).map(|(s, r)| (s / r.powf(power)).min(1.0)));
        match at(&next) {
            Some((found, matrix)) if found < trace => {
                (s, trace, m) = (next, found, matrix);
                power = (1.5 * power).min(1.0);
            }
            _ => power /= 2.0,
        }
    }
    Ok(s)
}

/// Ledoit and Wolf's intensity of shrinkage towards the identity; `sample` is $X^\top X / n$ or $X X^\top / n$.
fn ledoit_wolf(x: &Array2<f64>, sample: &Array2<f64>) -> f64 {
    let (n, d) = (x.nrows() as f64, x.ncols() as f64);
    let squares: f64 = sample.iter().map(|v| v * v).sum();
    let mean = sample.diag().sum() / d;
    let distance = squares / d - mean * mean;
    let fourth: f64 = x.rows().into_iter().map(|row| row.dot(&row).powi(2)).sum();
    let error = (fourth - n * squares) / (n * n * d);
    if distance > 0.0 { (error / distance).clamp(MIN_SHRINKAGE, 1.0) } else { 1.0 }
}

/// The $s \le 1$ of all features together for which the trace is smallest: $\sum_k c_k / (2 \lambda_k - s) + d / s$. `terms` are
/// eigenvalues $\lambda_k$ and their numbers $c_k$.
fn reconstructability(terms: &[(f64, f64)], d: f64) -> f64 {
    let slope = |s: f64| {
        terms.iter().map(|&(value, count)| count / (2.0 * value - s).powi(2)).sum::<f64>() - d / (s * s)
    };
    let least = terms.iter().map(|term| term.0).fold(f64::INFINITY, f64::min);
    // The function is convex: bisection finds the zero of its slope.
    let (mut low, mut high) = (0.0, (2.0 * least).min(1.0));
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if slope(middle) < 0.0 { low = middle } else { high = middle }
    }
    low
}

/// The normal quantile of each rank.
fn normal_quantiles(n: usize) -> Vec<f64> {
    let quantile = |rank: usize| {
        let p = (rank as f64 + 0.5) / n as f64;
        if p < 0.5 { -normal_upper_quantile(p) } else { normal_upper_quantile(1.0 - p) }
    };
    (0..n).map(quantile).collect()
}

/// Replaces values by the scores of their ranks; ties have the mean score.
fn replace_by_scores(values: &mut [f64], scores: &[f64]) {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut first = 0;
    let ties: Vec<usize> = order.chunk_by(|&a, &b| values[a] == values[b]).map(<[usize]>::len).collect();
    for count in ties {
        let mean = scores[first..first + count].iter().sum::<f64>() / count as f64;
        order[first..first + count].iter().for_each(|&row| values[row] = mean);
        first += count;
    }
}

/// Mean 0 and variance 1; zeros for a constant column.
fn standardize(values: &mut [f64]) {
    let n = values.len() as f64;
    let largest = values.iter().fold(0.0_f64, |largest, v| largest.max(v.abs()));
    if largest == 0.0 || values.iter().all(|v| *v == values[0]) {
        values.fill(0.0);
        return;
    }
    values.iter_mut().for_each(|v| *v /= largest);
    let mean = values.iter().sum::<f64>() / n;
    values.iter_mut().for_each(|v| *v -= mean);
    let deviation = (values.iter().map(|v| v * v).sum::<f64>() / n).sqrt();
    values.iter_mut().for_each(|v| *v /= deviation);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Neighboring features have the correlation 0.5.
    fn autoregressive(n: usize, d: usize) -> Dataset {
        let mut rng = Rng::new(5);
        let mut x = Array2::from_shape_simple_fn((n, d), || rng.normal());
        for mut row in x.rows_mut() {
            for j in 1..d {
                row[j] = 0.5 * row[j - 1] + 0.75_f64.sqrt() * row[j];
            }
        }
        Dataset::unlabeled(x).unwrap()
    }

    fn covariance(a: &Array2<f64>, b: &Array2<f64>) -> Array2<f64> {
        a.t().dot(b) / a.nrows() as f64
    }

    #[test]
    fn copies_have_the_covariance_of_the_features() {
        let model = CopyModel::fit(&autoregressive(20_000, 5), false, "m", &Context::default()).unwrap();
        let copies = model.sample(&mut Rng::new(1));
        let own = covariance(&model.x, &model.x);
        let (theirs, cross) = (covariance(&copies, &copies), covariance(&model.x, &copies));
        for i in 0..5 {
            // By coordinate descent in numpy, to all digits.
            let s = [0.594, 0.431, 0.438, 0.431, 0.594][i];
            for j in 0..5 {
                let expected = if i == j { own[[i, j]] - s } else { own[[i, j]] };
                // Five standard errors of 20,000 samples, and the shrinkage.
                assert!((theirs[[i, j]] - own[[i, j]]).abs() < 0.04, "{theirs} {own}");
                assert!((cross[[i, j]] - expected).abs() < 0.04, "{cross} {own}");
            }
        }
    }

    #[test]
    fn more_features_than_samples() {
        let x = autoregressive(40, 100).x().to_dense();
        let deviations = x.std_axis(Axis(0), 0.0);
        let x = (&x - &x.mean_axis(Axis(0)).unwrap()) / deviations;
        let model = CopyModel { form: Form::wide(&x).unwrap(), x };
        let copies = model.sample(&mut Rng::new(1));
        let Form::Wide { values, floor, s, .. } = &model.form else { unreachable!("the wide form") };
        assert!(*s > 0.05 && copies.iter().all(|v| v.is_finite()), "{s}");
        let variance = copies.iter().map(|v| v * v).sum::<f64>() / copies.len() as f64;
        // Copies have the mean X - s X Sigma^-1; in the direction of an eigenvalue v of Sigma the features have the variance
        // (v - floor) / (1 - floor), in all others none.
        let noise = |v: f64| 2.0 * s - s * s / v;
        let of = |v: &f64| (1.0 - s / v).powi(2) * (v - floor) / (1.0 - floor) + noise(*v);
        let others = (100 - values.len()) as f64 * noise(*floor);
        let expected = (values.iter().map(of).sum::<f64>() + others) / 100.0;
        // The standard error of a mean of 4000 squares is about 0.025.
        assert!((variance - expected).abs() < 0.1, "{variance} {expected}");
    }

    #[test]
    fn normal_scores_have_no_outliers() {
        let mut values = vec![1e9, -3.0, 2.0, 2.0, 0.0];
        replace_by_scores(&mut values, &normal_quantiles(5));
        let [high, low, a, b, _] = values[..] else { panic!("five values") };
        // The 10 % quantile.
        assert!((high - 1.281_551_6).abs() < 1e-6 && (low + high).abs() < 1e-12 && a == b);
        let mut constant = vec![3.0; 4];
        standardize(&mut constant);
        assert_eq!(constant, [0.0; 4]);
    }

    #[test]
    fn near_copies_hardly_limit_others() {
        let mut rng = Rng::new(4);
        let mut x = Array2::from_shape_simple_fn((2000, 6), || rng.normal());
        for mut row in x.rows_mut() {
            row[1] = 0.99 * row[0] + 0.0199_f64.sqrt() * row[1];
            row[5] = 1.0;
        }
        let data = Dataset::unlabeled(x).unwrap();
        let model = CopyModel::fit(&data, false, "m", &Context::default()).unwrap();
        let copies = model.sample(&mut Rng::new(1));
        let cross = covariance(&model.x, &copies);
        // The variance of a near copy given the other is 0.02, and s_j at most twice that; 1 - s_j is the correlation. With the true
        // correlations s_j = 1 for independent features; sampling errors count 50 times in the direction of the difference of the
        // copies, which lowers it to about 0.85. The rest is five standard errors of 2000 samples.
        assert!((0..2).all(|j| (cross[[j, j]] - 1.0).abs() < 0.12), "{cross}");
        assert!((2..5).all(|j| cross[[j, j]].abs() < 0.27), "{cross}");
        assert!(copies.iter().all(|v| v.is_finite()) && copies.column(5).iter().all(|v| *v == 0.0));
    }

    #[test]
    fn two_correlated_features_by_hand() {
        // Eigenvalues 1 + r and 1 - r: 1 / (2 (1 + r) - s) + 1 / (2 (1 - r) - s) + 2 / s; an independent feature has s = 1.
        let r = 0.8;
        let covariance = ndarray::array![[1.0, r, 0.0], [r, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let precision = inverse(covariance.view()).unwrap();
        let found = least_reconstructable(&covariance, &precision, &Context::default()).unwrap();
        let expected = reconstructability(&[(1.0 + r, 1.0), (1.0 - r, 1.0)], 2.0);
        // Each is within a hundredth of its stationary value.
        assert!((0..2).all(|j| (found[j] / expected - 1.0).abs() < 0.01), "{found} {expected}");
        assert!((found[2] - 1.0).abs() < 0.01, "{found}");
    }

    #[test]
    fn equal_eigenvalues_by_hand() {
        // 1 / (2 - s) + 1 / s is least at s = 1.
        assert!((reconstructability(&[(1.0, 3.0)], 3.0) - 1.0).abs() < 1e-9);
        // With eigenvalues of 1/2: at s = 1/2.
        assert!((reconstructability(&[(0.5, 3.0)], 3.0) - 0.5).abs() < 1e-9);
        // 4 / (2 - s)^2 = 1 / s^2 at s = 2/3.
        assert!((reconstructability(&[(1.0, 4.0)], 1.0) - 2.0 / 3.0).abs() < 1e-9);
    }
}
