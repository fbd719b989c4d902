//! The optimization problem, over all features or a subset.

use super::criterion::median_bandwidth;
use super::settings::{Approximation, DEFAULT_DIRECTIONS, Hsfs, MAX_EXACT_SAMPLES, NAME};
use crate::context::Context;
use crate::data::{Dataset, Groups, Rows};
use crate::dependence::projection::{Diagonal, Exact, Fourier, Projected, ProjectedCriterion, unit_factor};
use crate::dependence::{center, target_factor};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::interactions::leading_pairs;
use crate::optim::{Criterion, blocks, group_norm};
use crate::random::Rng;
use ndarray::{Array1, Array2, ArrayView1, Axis};
use std::borrow::Cow;
use std::sync::Arc;

/// With one weight per feature, problems with more features than this are solved on an active set.
pub(super) const MAX_FULL_DIAGONAL: usize = 256;
/// Number of features that enter the active set at a time.
pub(super) const ACTIVE_SET_STEP: usize = 256;
/// Maximum number of samples for the screen of all pairs.
const MAX_SCREENED_SAMPLES: usize = 5000;
/// Up to this many sparse features a subset is converted to dense.
const MAX_DENSE_FEATURES: usize = 4 * ACTIVE_SET_STEP;

/// The problem over a set of features.
pub(super) struct Problem<'a> {
    x: Cow<'a, Rows>,
    /// The columns of each feature: the rows of its weights.
    pub groups: Groups,
    y: Arc<Array2<f64>>,
    /// `None` with one weight per feature instead of directions.
    inner: Option<Arc<dyn ProjectedCriterion>>,
    /// The number of random Fourier features of `inner` and their seed; `None` if it does not use them.
    fourier: Option<(usize, u64)>,
    /// Number of columns of the weights.
    pub directions: usize,
    /// The weight of one feature at the kernel's bandwidth, in the norm that is constrained or penalized.
    pub unit: f64,
    /// Pairs of features with the strongest interaction, as starts.
    pub pairs: Vec<(usize, usize)>,
    /// Computes HSIC of samples.
    device: Option<&'static Device>,
}

impl<'a> Problem<'a> {
    pub fn new(method: &Hsfs, data: &'a Dataset, ctx: &Context) -> Result<Self> {
        let (n, d, groups) = (data.n(), data.x().d(), data.groups());
        let factor = unit_factor(&target_factor(data.target(), method.target_kernel, NAME, ctx)?);
        let x = match data.x() {
            Rows::Dense(x) if !x.is_standard_layout() => {
                Cow::Owned(x.as_standard_layout().into_owned().into())
            }
            other => Cow::Borrowed(other),
        };
        let bandwidth = method.bandwidth.unwrap_or_else(|| median_bandwidth(&x, &groups, ctx));
        // Squares of weights at this bandwidth must not overflow or underflow.
        if !(1e-100..=1e100).contains(&bandwidth) {
            return Err(Error::Breakdown {
                step: NAME,
                why: format!("weights for a bandwidth of {bandwidth:e} overflow; scale the features"),
            });
        }
        let diagonal = method.is_diagonal(n, d);
        let directions = if diagonal { 1 } else { method.directions.unwrap_or(d.min(DEFAULT_DIRECTIONS)) };
        let by_fourier = !diagonal && method.approximation_of(n) == Approximation::Fourier;
        let fourier = by_fourier.then_some((method.features, ctx.seed));
        // The norm of a row of q equal numbers is sqrt(q) times their size.
        let unit = if diagonal {
            1.0 / (bandwidth * bandwidth)
        } else {
            1.0 / (bandwidth * (directions as f64).sqrt())
        };
        let thin = (directions as f64 + factor.ncols() as f64 + 2.0) * n as f64;
        let weights = d as f64 * directions as f64;
        // Weights and solutions of random starts; their leading features at every radius.
        let starts = method.random_starts.saturating_sub(1) as f64 * (16.0 * weights + 2000.0);
        let features =
            if by_fourier { Fourier::bytes(n, factor.ncols(), directions, method.features) } else { 0.0 };
        ctx.need_memory(
            format!("{NAME} over {d} columns"),
            8.0 * (6.0 * weights + 4.0 * thin + (n * ACTIVE_SET_STEP) as f64) + starts + features,
            "use fewer directions, random starts or Fourier features",
        )?;
        let inner = if diagonal { None } else { Some(method.criterion(&factor, &x, directions, ctx)?) };
        Ok(Self {
            x,
            groups,
            y: Arc::new(factor),
            inner,
            fourier,
            directions,
            unit,
            pairs: vec![],
            device: ctx.device,
        })
    }

    /// The same problem with pairs of features to start from.
    pub fn with_pairs(self, data: &Dataset, ctx: &Context) -> Result<Self> {
        let rows = Rng::stream(ctx.seed, "HSFS screen").sample(data.n(), MAX_SCREENED_SAMPLES);
        let ctx = &ctx.hold("HSFS's rows to screen", data.x().bytes_of(rows.len()), "use fewer columns")?;
        let sample =
            if rows.len() < data.n() { Cow::Owned(data.take_rows(&rows)) } else { Cow::Borrowed(data) };
        Ok(Self { pairs: leading_pairs(&sample, ctx)?, ..self })
    }

    /// Number of features.
    pub fn d(&self) -> usize {
        self.groups.n_features()
    }

    /// Number of columns of the features, and of rows of the weights.
    pub fn n_columns(&self) -> usize {
        self.groups.n_columns()
    }

    pub fn n(&self) -> usize {
        self.x.n()
    }

    pub fn x(&self) -> &Rows {
        &self.x
    }

    pub fn factor(&self) -> &Array2<f64> {
        &self.y
    }

    pub fn is_diagonal(&self) -> bool {
        self.inner.is_none()
    }

    /// The same problem over a subset of the features.
    pub fn among(&self, features: &[usize]) -> Problem<'static> {
        let columns = self.groups.expand(features);
        let x: Rows = match self.x.take_columns(&columns) {
            Rows::Dense(x) => x.as_standard_layout().into_owned().into(),
            sparse if columns.len() <= MAX_DENSE_FEATURES => sparse.into_dense().into(),
            sparse => sparse,
        };
        Problem {
            x: Cow::Owned(x),
            groups: self.groups.take(features),
            y: self.y.clone(),
            inner: self.inner.clone(),
            fourier: self.fourier,
            directions: self.directions,
            unit: self.unit,
            pairs: vec![],
            device: self.device,
        }
    }

    /// The same problem with one weight per feature.
    pub fn with_equal_weights(self) -> Self {
        let unit = self.inverse_bandwidth().powi(2);
        Self { inner: None, fourier: None, directions: 1, unit, ..self }
    }

    /// The same problem over a subsample with at least two values of the target; `None` if that would be all samples.
    pub fn sampled(&self, most: usize, ctx: &Context) -> Option<Problem<'static>> {
        if self.n() <= most {
            return None;
        }
        let rows = Rng::stream(ctx.seed, "HSFS sample").sample(self.n(), most);
        self.over(&rows).or_else(|| {
            // The target of the sample is constant: half of it are rows with another one.
            let differs = |&i: &usize| self.y.row(i) != self.y.row(rows[0]);
            let mut mixed: Vec<usize> = (0..self.n()).filter(differs).take(most / 2).collect();
            mixed.extend(&rows[..most - mixed.len()]);
            self.over(&mixed)
        })
    }

    /// Whether HSIC is approximated by random Fourier features, which can be evaluated on any samples.
    pub fn uses_fourier_features(&self) -> bool {
        self.fourier.is_some()
    }

    /// The same problem over the given samples; `None` if their target is constant. Uses all pairs of a few
    /// thousand samples, otherwise the same random Fourier features.
    pub fn over(&self, rows: &[usize]) -> Option<Problem<'static>> {
        let mut y = self.y.select(Axis(0), rows);
        center(&mut y);
        // After centering, a constant target contains only rounding errors.
        if y.iter().all(|v| v.abs() < 1e-9) {
            return None;
        }
        let y = unit_factor(&y);
        let fourier = self.fourier.filter(|_| rows.len() > MAX_EXACT_SAMPLES);
        let inner = self.inner.as_ref().map(|_| match fourier {
            Some((features, seed)) => Arc::new(Fourier::new(y.clone(), self.directions, features, seed))
                as Arc<dyn ProjectedCriterion>,
            None => Arc::new(Exact::new(y.clone()).on(self.device)),
        });
        Some(Problem {
            x: Cow::Owned(self.x.take_rows(rows)),
            groups: self.groups.clone(),
            y: Arc::new(y),
            inner,
            fourier,
            directions: self.directions,
            unit: self.unit,
            pairs: vec![],
            device: self.device,
        })
    }

    /// Passes the objective to a solver.
    pub fn with_criterion<T>(&self, work: impl FnOnce(&dyn Criterion) -> T) -> T {
        match &self.inner {
            Some(inner) => work(&Projected::new(&self.x, &**inner, self.directions)),
            None => work(&Diagonal::new(&self.x, &self.y)),
        }
    }

    pub fn inverse_bandwidth(&self) -> f64 {
        if self.is_diagonal() { self.unit.sqrt() } else { self.unit * (self.directions as f64).sqrt() }
    }

    /// Some samples in units of the kernel's bandwidth, rounded to a power of two.
    pub fn rows_in_units(&self, rows: &[usize]) -> Rows {
        let by = power_of_two(self.inverse_bandwidth());
        match self.x.take_rows(rows) {
            Rows::Dense(x) => (x * by).into(),
            Rows::Sparse(x) => x.scaled(&Array1::from_elem(x.n_columns(), by)).into(),
        }
    }

    /// Dual norm of the gradient for every feature: its gain from a small weight.
    pub fn gains(&self, w: &Array2<f64>) -> Vec<f64> {
        let mut gradient = Array2::zeros(w.dim());
        self.with_criterion(|criterion| criterion.value_and_gradient(w, &mut gradient));
        self.dual_norms(&gradient)
    }

    pub fn dual_norms(&self, gradient: &Array2<f64>) -> Vec<f64> {
        // Weights per feature are nonnegative, so only negative derivatives count.
        let size = |g: &f64| if self.is_diagonal() { (-g).max(0.0) } else { g.abs() };
        blocks(gradient, &self.groups).map(|block| block.iter().map(size).sum()).collect()
    }

    /// The norm that is constrained or penalized.
    pub fn norm(&self, w: &Array2<f64>) -> f64 {
        group_norm(w, &self.groups)
    }

    /// Importance of each feature: the norm of its row, the largest of several; it is invariant to rotations of the
    /// directions.
    pub fn row_norms(&self, w: &Array2<f64>) -> Vec<f64> {
        let norm = |row: ArrayView1<f64>| {
            if self.is_diagonal() { row[0].max(0.0).sqrt() } else { row.dot(&row).sqrt() }
        };
        let norms: Vec<f64> = w.rows().into_iter().map(norm).collect();
        if self.groups.is_single() {
            return norms;
        }
        self.groups.iter().map(|rows| norms[rows].iter().copied().fold(0.0, f64::max)).collect()
    }

    /// Features with a nonzero weight, largest row first, and the norms of all rows.
    pub fn leading(&self, w: &Array2<f64>) -> (Vec<usize>, Vec<f64>) {
        let row_norms = self.row_norms(w);
        let mut columns: Vec<usize> = (0..row_norms.len()).filter(|&j| row_norms[j] > 0.0).collect();
        columns.sort_by(|&a, &b| row_norms[b].total_cmp(&row_norms[a]).then(a.cmp(&b)));
        (columns, row_norms)
    }

    /// The weights in the units of the data, by which features are multiplied.
    pub fn coefficients(&self, w: &Array2<f64>) -> Array2<f64> {
        if self.is_diagonal() { w.mapv(|u| u.max(0.0).sqrt()) } else { w.clone() }
    }

    /// Orthogonal rows of weights for the given features, with total norm `radius`.
    pub fn orthogonal_weights(&self, features: &[usize], radius: f64) -> Array2<f64> {
        self.orthogonal_weights_of(&self.groups, features, radius)
    }

    /// The same among other features.
    pub fn orthogonal_weights_of(&self, groups: &Groups, features: &[usize], radius: f64) -> Array2<f64> {
        let mut w = Array2::zeros((groups.n_columns(), self.directions));
        let each = radius / features.len().max(1) as f64;
        let n_orthogonal = self.directions.next_power_of_two();
        for (i, j) in groups.expand(features).into_iter().enumerate() {
            // Rows of a Hadamard matrix: orthogonal rows that use every direction fully. Equal rows would merge levels of a
            // category; with more columns than orthogonal rows, signs are random.
            let mut rng = Rng::new(i as u64);
            let is_random = i >= n_orthogonal && !groups.is_single();
            for (k, w) in w.row_mut(j).iter_mut().enumerate() {
                let bits = if is_random { rng.below(2) } else { (i & k).count_ones() as usize };
                *w = if bits.is_multiple_of(2) { each } else { -each };
            }
        }
        if self.is_diagonal() { w.mapv(f64::abs) } else { w }
    }

    /// Weights for the given features along one direction, with the given signs and total norm `radius`. Signs alternate
    /// among the columns of a feature, because those of a category have a constant sum.
    pub fn in_one_direction(&self, features: &[(usize, f64)], radius: f64) -> Array2<f64> {
        let mut w = Array2::zeros((self.n_columns(), self.directions));
        let each = radius / features.len().max(1) as f64;
        for &(feature, sign) in features {
            for (at, j) in self.groups.columns(feature).enumerate() {
                w.row_mut(j).fill(if at.is_multiple_of(2) { sign * each } else { -sign * each });
            }
        }
        if self.is_diagonal() { w.mapv(f64::abs) } else { w }
    }

    /// Random weights under which a typical pair of samples has a moderate kernel value.
    pub fn random_weights(&self, rng: &mut Rng, scale: f64) -> Array2<f64> {
        let shape = (self.n_columns(), self.directions);
        if self.is_diagonal() {
            // At most the size of the active set: every feature with a weight takes part in every step.
            let features = rng.sample(self.d(), MAX_FULL_DIAGONAL);
            let each = scale * self.unit / features.len() as f64;
            let mut w = Array2::zeros(shape);
            self.groups.expand(&features).into_iter().for_each(|j| w[[j, 0]] = each * rng.uniform());
            return w;
        }
        let each = scale * self.unit / (self.d() as f64).sqrt();
        Array2::from_shape_simple_fn(shape, || each * rng.normal())
    }
}

/// The nearest power of two: scaling by it is exact.
pub(super) fn power_of_two(v: f64) -> f64 {
    2.0_f64.powi(v.log2().round().clamp(-1000.0, 1000.0) as i32)
}
