//! PFS: selects features from which the others can be reconstructed, without a target.

use super::ldfs::Squares;
use super::row_path::PathSettings;
use super::selector::{FeatureCount, Selection, Selector};
use super::standard::standard_columns;
use crate::context::Context;
use crate::data::Dataset;
use crate::error::Result;
use crate::linalg::{multiply, symmetric_eigen};
use crate::method::{Info, Needs};
use crate::optim::{BlockDescent, Design};
use crate::random::Rng;
use ndarray::{Array1, Array2, ArrayView2, Axis, s};

const NAME: &str = "PFS";

/// Up to this many columns, all of them are targets by default.
const MAX_COLUMN_TARGETS: usize = 200;
/// Unless a feature has more columns than this: its weights would be as many as its columns times the targets, and sweeps
/// converge slowly.
const MAX_FEATURE_COLUMNS: usize = 20;
/// Default number of components for wider data.
const DEFAULT_COMPONENTS: usize = 20;
/// Extra directions of subspace iteration, which speed up its convergence.
const OVERSAMPLING: usize = 10;
/// Maximum number of subspace iterations.
const MAX_ITERATIONS: usize = 100;

crate::parameters! {
    /// Principal feature selection.
    ///
    /// Principal component analysis in its convex form, with a penalty that drops entire features:
    ///
    /// $$ \min_W \tfrac{1}{2n} \lVert X - X W \rVert_F^2 + \lambda \sum_j \max_k |w_{jk}| $$
    ///
    /// A feature is selected if it helps to reconstruct the others; of two copies either may be selected. For $\lambda
    /// \ge \lambda_{\max} = \max_j \sum_k |\operatorname{corr}(x_j, x_k)|$ all weights are zero.
    ///
    /// The matrix $W$ has as many columns as $X$, which is too large for wide data. Beyond 200 columns, with a category of
    /// more than 20 levels, or with a given number of components, the target is not $X$ but its scores on the leading principal components, with their
    /// variances: 20 by default. They are found by subspace iteration, until the variances change by less than a
    /// relative $10^{-10}$ or for 100 iterations; components still mixed then have nearly equal variances.
    ///
    /// Features are always standardized first; sparse ones stay sparse. Weights refer to the standardized features, and
    /// constant features have none. A feature of several columns, such as a category, has a row of $W$ for each of them,
    /// and a target for each of them; its norm is its largest absolute weight, multiplied in the penalty by $\omega_j$ as in
    /// [`super::Ldfs`]. The path, its optimality and the selection are those of [`super::Ldfs`] in its least-squares form,
    /// solved by the same block coordinate descent.
    ///
    /// Cost: $O(n q)$ per active feature and sweep, with $q$ targets; memory $O(d q)$.
    ///
    /// Reference: Masaeli, Yan, Cui, Fung and Dy, *Convex principal feature selection*, 2010.
    #[derive(PartialEq)]
    pub struct Pfs as "PFS" {
        /// Number of principal components to reconstruct; none reconstructs the features themselves, or 20
        /// components if there are more than 200 columns or a category of more than 20 levels.
        pub n_components: Option<usize> = None, at_least(1);
        /// The penalty. Leave it out if the number of features is given; none uses a path of penalties.
        pub penalty: Option<f64> = None, above(0);
        /// Number of penalties on the path.
        pub n_penalties: usize = 61, between(2, 10_000);
        /// The last penalty of the path as a fraction of the first.
        pub penalty_ratio: f64 = 1e-2, inside(0, 1);
        /// Tolerance of the optimality conditions.
        pub tol: f64 = 1e-6, above(0);
        /// Maximum number of sweeps for each penalty.
        pub max_iter: usize = 10_000, at_least(1);
    }
}

impl Pfs {
    fn path_settings(&self) -> PathSettings {
        PathSettings {
            title: NAME,
            name: "pfs",
            penalty: self.penalty,
            n_penalties: self.n_penalties,
            penalty_ratio: self.penalty_ratio,
        }
    }

    /// The number of components to reconstruct; `None` if the columns are reconstructed.
    fn components(&self, data: &Dataset) -> Option<usize> {
        let (n, d) = (data.n(), data.x().d());
        let widest = data.groups().iter().map(|columns| columns.len()).max();
        let by_columns = d <= MAX_COLUMN_TARGETS && widest.is_none_or(|most| most <= MAX_FEATURE_COLUMNS);
        match self.n_components {
            None if by_columns => None,
            components => Some(components.unwrap_or(DEFAULT_COMPONENTS).min(d).min(n)),
        }
    }

    fn targets(&self, design: &Design, components: Option<usize>, ctx: &Context) -> Result<Array2<f64>> {
        let d = design.d();
        let Some(q) = components else { return Ok(design.times(&Array2::eye(d))) };
        if self.n_components.is_none() {
            ctx.note(format!("PFS: {q} principal components replace the {d} columns of the features"));
        }
        leading_scores(design, q, ctx)
    }
}

impl Pfs {
    /// What to know before using it.
    pub const INFO: Info = Info {
        name: "pfs",
        title: "PFS",
        summary: "Features from which the others can be reconstructed",
        needs: Needs::Nothing,
        cost: "O(n q) time per feature and sweep for q targets, O(n d) memory",
        reference: "Masaeli et al., 2010",
    };
}

impl Selector for Pfs {
    fn info(&self) -> &'static Info {
        &Self::INFO
    }

    fn wants_scaling(&self) -> bool {
        false
    }

    fn clear_fixed_count(&mut self) {
        self.penalty = None;
    }

    fn has_path(&self) -> bool {
        true
    }

    fn fit(&self, data: &Dataset, wanted: FeatureCount, ctx: &Context) -> Result<Selection> {
        data.need_complete(NAME)?;
        data.need_rows(NAME, 2)?;
        self.check()?;
        let wanted = wanted.resolve(NAME, data.d())?;
        let components = self.components(data);
        let design = standard_columns(NAME, data, components.unwrap_or(data.x().d()), ctx)?;
        let targets = self.targets(&design, components, ctx)?;
        let solver = BlockDescent { tolerance: self.tol, max_iterations: self.max_iter };
        let problem = Squares::new(design, targets, data.groups(), solver)?;
        self.path_settings().select(&problem, wanted, ctx)
    }

    fn nested(&self) -> bool {
        false
    }
}

/// The scores of the samples on the `q` leading principal components, fewer if the rank is lower.
fn leading_scores(design: &Design, q: usize, ctx: &Context) -> Result<Array2<f64>> {
    let (n, d) = (design.n(), design.d());
    let size = (q + OVERSAMPLING).min(n).min(d);
    let mut rng = Rng::stream(ctx.seed, "PFS components");
    let mut rows = Array2::from_shape_simple_fn((n, size), || rng.normal());
    let mut previous = Array1::<f64>::zeros(0);
    for iteration in 0..MAX_ITERATIONS {
        ctx.step("principal components", iteration, MAX_ITERATIONS)?;
        // One subspace iteration: orthonormal directions in feature space, then the scores on them.
        let (directions, _) = orthonormal(&design.transposed_times(&rows))?;
        let scores = design.times(&directions);
        let (basis, variances) = orthonormal(&(&scores / (n as f64).sqrt()))?;
        if variances.is_empty() {
            // All features are constant.
            return Ok(Array2::zeros((n, 1)));
        }
        let leading = variances.slice(s![..q.min(variances.len())]).to_owned();
        let converged = leading.len() == previous.len()
            && leading.iter().zip(&previous).all(|(a, b)| (a - b).abs() <= 1e-10 * leading[0]);
        if converged || iteration + 1 == MAX_ITERATIONS {
            // Scale the orthonormal basis by the standard deviations to get the scores.
            let mut scores = basis.slice(s![.., ..leading.len()]).to_owned();
            for (mut column, variance) in scores.axis_iter_mut(Axis(1)).zip(&leading) {
                column *= (n as f64 * variance).sqrt();
            }
            return Ok(scores);
        }
        (rows, previous) = (basis, leading);
    }
    unreachable!("the last iteration returns")
}

/// An orthonormal basis of the column space of `a` along its principal axes, longest first, and the squared
/// lengths. Axes that are zero up to rounding are dropped.
fn orthonormal(a: &Array2<f64>) -> Result<(Array2<f64>, Array1<f64>)> {
    if a.ncols() == 0 {
        return Ok((a.clone(), Array1::zeros(0)));
    }
    let eigen = symmetric_eigen(multiply(a.t(), a.view()).view())?;
    let floor = eigen.values.first().map_or(0.0, |largest| 1e-13 * largest);
    let kept = eigen.values.iter().take_while(|&&v| v > floor).count();
    let squares = eigen.values.slice(s![..kept]).to_owned();
    if kept == 0 {
        return Ok((Array2::zeros((a.nrows(), 0)), squares));
    }
    let stretch = |vectors: ArrayView2<f64>, squares: &Array1<f64>| &vectors / &squares.mapv(f64::sqrt);
    let rough = multiply(a.view(), stretch(eigen.vectors.slice(s![.., ..kept]), &squares).view());
    // Squaring loses half of the digits of short axes; the nearest orthonormal basis restores orthogonality without
    // rotating any.
    let eigen = symmetric_eigen(multiply(rough.t(), rough.view()).view())?;
    let nearest = stretch(eigen.vectors.view(), &eigen.values).dot(&eigen.vectors.t());
    Ok((multiply(rough.view(), nearest.view()).as_standard_layout().into_owned(), squares))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Rows, SparseRows};

    /// Three features, and six that are mixtures of two of them each.
    fn mixtures(n: usize) -> Array2<f64> {
        let mut rng = Rng::new(3);
        let mut x = Array2::zeros((n, 9));
        for mut row in x.rows_mut() {
            let u: [f64; 3] = std::array::from_fn(|_| rng.normal());
            for j in 0..9 {
                row[j] = match j {
                    0..3 => u[j],
                    3..6 => u[j - 3] + 0.5 * u[(j - 2) % 3],
                    _ => u[j - 6] - 0.5 * u[(j - 5) % 3],
                } + 0.05 * rng.normal();
            }
        }
        x
    }

    fn select(method: &Pfs, x: impl Into<Rows>, wanted: FeatureCount) -> Selection {
        method.select(&Dataset::unlabeled(x).unwrap(), wanted, &Context::default()).unwrap()
    }

    fn standard(x: &Array2<f64>) -> Design {
        let data = Dataset::unlabeled(x.clone()).unwrap();
        standard_columns(NAME, &data, 1, &Context::default()).unwrap()
    }

    #[test]
    fn three_features_reconstruct_all() {
        let x = mixtures(200);
        let selection = select(&Pfs::default(), x.clone(), FeatureCount::Count(3));
        assert_eq!(selection.selected().len(), 3);
        // The least-squares residual of all features, given three of them.
        let residual = |columns: &[usize]| {
            let design = standard(&x);
            let all = design.times(&Array2::eye(9));
            let (basis, _) = orthonormal(&all.select(Axis(1), columns)).unwrap();
            let difference = &all - &basis.dot(&basis.t().dot(&all));
            difference.iter().map(|v| v * v).sum::<f64>() / all.iter().map(|v| v * v).sum::<f64>()
        };
        let mut every = vec![];
        for a in 0..9 {
            for b in 0..a {
                (0..b).for_each(|c| every.push(residual(&[a, b, c])));
            }
        }
        every.sort_by(f64::total_cmp);
        let found = residual(selection.selected());
        // Noise is a quarter of a percent of the variance; sets of three with a lower rank have a residual of a
        // tenth or more.
        assert!(found < 0.02 && found <= every[every.len() / 2], "{found} {every:?}");
    }

    #[test]
    fn components_are_the_leading_eigenvectors() {
        let x = mixtures(200);
        let design = standard(&x);
        let scores = leading_scores(&design, 3, &Context::default()).unwrap();
        let all = design.times(&Array2::eye(9));
        let eigen = symmetric_eigen((all.t().dot(&all) / 200.0).view()).unwrap();
        for k in 0..3 {
            let score = all.dot(&eigen.vectors.column(k));
            let along = score.dot(&scores.column(k)).abs();
            // Squared length 200 times the variance, and the same direction.
            assert!((along / (200.0 * eigen.values[k]) - 1.0).abs() < 1e-8, "{k}: {along}");
        }
        let selection = select(&Pfs { n_components: Some(3), ..Pfs::default() }, x, FeatureCount::Count(3));
        assert_eq!(selection.coef.unwrap().dim(), (9, 3));
        // A constant feature spans nothing.
        assert_eq!(
            leading_scores(&standard(&Array2::ones((5, 2))), 2, &Context::default()).unwrap(),
            Array2::<f64>::zeros((5, 1))
        );
    }

    #[test]
    fn wide_sparse_data_stays_sparse() {
        let mut rng = Rng::new(8);
        let (mut start, mut column, mut value) = (vec![0], vec![], vec![]);
        for _ in 0..40 {
            // Feature 7 and its copies 500 to 520 are correlated.
            let u = rng.normal();
            let mut cells = vec![(7_u32, u)];
            (500..520).for_each(|j| cells.push((j, u + 0.1 * rng.normal())));
            (0..5).for_each(|_| cells.push((1000 + rng.below(100_000) as u32, rng.normal())));
            cells.sort_by_key(|cell| cell.0);
            cells.dedup_by_key(|cell| cell.0);
            column.extend(cells.iter().map(|cell| cell.0));
            value.extend(cells.iter().map(|cell| cell.1));
            start.push(column.len());
        }
        let sparse = SparseRows::new(101_000, start, column, value).unwrap();
        // A dense copy would be 32 MB.
        let ctx = Context { memory_limit: 100_000_000, ..Context::default() };
        let data = Dataset::unlabeled(sparse).unwrap();
        let method = Pfs { n_components: Some(1), n_penalties: 10, ..Pfs::default() };
        let selection = method.select(&data, FeatureCount::Count(3), &ctx).unwrap();
        assert!(
            selection.selected().iter().all(|j| (500..520).contains(j) || *j == 7),
            "{:?}",
            selection.selected()
        );
    }

    #[test]
    fn invalid_parameters_are_errors() {
        for method in [
            Pfs { n_components: Some(0), ..Pfs::default() },
            Pfs { penalty_ratio: 1.0, ..Pfs::default() },
            Pfs { tol: f64::NAN, ..Pfs::default() },
        ] {
            let data = Dataset::unlabeled(mixtures(10)).unwrap();
            let error = method.select(&data, FeatureCount::Auto, &Context::default()).unwrap_err();
            assert!(matches!(error, crate::Error::Param { method: "PFS", .. }), "{error}");
        }
    }
}
