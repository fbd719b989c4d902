//! The optimization problem, over all features or a subset.

use super::{Approximation, DIRECTIONS, Hsfs, NAME};
use crate::basis::{Basis, Kobl, Threshold};
use crate::context::{Context, Quiet};
use crate::data::{Dataset, Rows};
use crate::dependence::projection::{
    Diagonal, Exact, Fourier, Nystrom, Projected, ProjectedCriterion, unit_factor,
};
use crate::dependence::{center, target_factor};
use crate::error::{Error, Result};
use crate::optim::{Bounds, Criterion, Minimum, Regularizer, Spectral, TwoMetric};
use crate::outcome::Stop;
use crate::random::Rng;
use ndarray::{Array1, Array2, Axis};
use std::borrow::Cow;
use std::sync::Arc;

/// Up to this many samples all pairs are used by default.
const EXACT_ROWS: usize = 5000;
/// Above this many features problems are solved on an active set; and how many features enter it at a time.
const WIDE: usize = 2048;
const LET_IN: usize = 256;
/// The same with one weight per feature, where the cost is proportional to the active features times all pairs.
const WIDE_DIAGONAL: usize = 256;
const LET_IN_DIAGONAL: usize = 64;
/// Up to this many sparse features a subset is converted to dense.
const FILLED: usize = 4 * LET_IN;
/// Maximum number of features from which the bandwidth is estimated.
const SAMPLE: usize = 200;

/// Tolerance and limits of a solver run.
#[derive(Clone, Copy)]
pub(super) struct Effort {
    pub tolerance: f64,
    /// Maximum number of iterations, per round of the active set.
    pub max_iterations: usize,
    /// Maximum number of rounds of the active set.
    pub rounds: usize,
}

impl Effort {
    pub const fn whole(tolerance: f64, max_iterations: usize) -> Self {
        Self { tolerance, max_iterations, rounds: 20 }
    }
}

/// The problem over a set of features.
pub(super) struct Problem<'a> {
    x: Cow<'a, Rows>,
    y: Arc<Array2<f64>>,
    /// `None` with one weight per feature instead of directions.
    inner: Option<Arc<dyn ProjectedCriterion>>,
    /// The number of random Fourier features of `inner` and their seed; `None` if it uses something else.
    waves: Option<(usize, u64)>,
    /// Number of columns of the weights.
    pub directions: usize,
    /// The weight of one feature at the kernel's bandwidth, in the norm that is constrained or penalized.
    pub unit: f64,
}

impl<'a> Problem<'a> {
    pub fn new(method: &Hsfs, data: &'a Dataset, ctx: &Context) -> Result<Self> {
        let (n, d) = (data.n(), data.d());
        let factor = unit_factor(&target_factor(data.target(), method.target_kernel, NAME, ctx)?);
        let x = match data.x() {
            Rows::Dense(x) if !x.is_standard_layout() => {
                Cow::Owned(x.as_standard_layout().into_owned().into())
            }
            other => Cow::Borrowed(other),
        };
        let width = match method.bandwidth {
            Some(width) => width,
            None => median_width(&x, ctx),
        };
        // Squares of weights at this bandwidth must not overflow or underflow.
        if !(1e-100..=1e100).contains(&width) {
            return Err(Error::Breakdown {
                step: NAME,
                why: format!(
                    "weights for columns that differ by {width:e} are no numbers; scale the columns"
                ),
            });
        }
        let diagonal = method.is_diagonal(n, d);
        let directions = if diagonal { 1 } else { method.directions.unwrap_or(d.min(DIRECTIONS)) };
        let by_waves = !diagonal && method.approximation_of(n) == Approximation::Fourier;
        let waves = by_waves.then_some((method.features, ctx.seed));
        // The norm of a row of q equal numbers is sqrt(q) times their size.
        let unit = if diagonal { 1.0 / (width * width) } else { 1.0 / (width * (directions as f64).sqrt()) };
        let thin = (directions as f64 + factor.ncols() as f64 + 2.0) * n as f64;
        let weights = d as f64 * directions as f64;
        // Weights and solutions of random starts; their leading features at every radius.
        let starts = method.random_starts.saturating_sub(1) as f64 * (16.0 * weights + 2000.0);
        let features =
            if by_waves { Fourier::bytes(n, factor.ncols(), directions, method.features) } else { 0.0 };
        ctx.need_memory(
            format!("{NAME} over {d} columns"),
            8.0 * (6.0 * weights + 4.0 * thin + (n * LET_IN) as f64) + starts + features,
            "use fewer directions, random starts or Fourier features",
        )?;
        let inner = if diagonal { None } else { Some(method.inner(&factor, &x, directions, ctx)?) };
        Ok(Self { x, y: Arc::new(factor), inner, waves, directions, unit })
    }

    pub fn d(&self) -> usize {
        self.x.d()
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
    pub fn among(&self, columns: &[usize]) -> Problem<'static> {
        let x: Rows = match self.x.take_columns(columns) {
            Rows::Dense(x) => x.as_standard_layout().into_owned().into(),
            sparse if columns.len() <= FILLED => sparse.into_dense().into(),
            sparse => sparse,
        };
        Problem {
            x: Cow::Owned(x),
            y: self.y.clone(),
            inner: self.inner.clone(),
            waves: self.waves,
            directions: self.directions,
            unit: self.unit,
        }
    }

    /// The same problem over a subsample; `None` if that would be all samples or its target is constant.
    pub fn sampled(&self, most: usize, ctx: &Context) -> Option<Problem<'static>> {
        if self.n() <= most {
            return None;
        }
        self.over(&Rng::stream(ctx.seed, "HSFS sample").sample(self.n(), most))
    }

    /// Whether HSIC is approximated by random Fourier features, which can be evaluated on any samples.
    pub fn has_waves(&self) -> bool {
        self.waves.is_some()
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
        let waves = self.waves.filter(|_| rows.len() > EXACT_ROWS);
        let inner = self.inner.as_ref().map(|_| match waves {
            Some((features, seed)) => Arc::new(Fourier::new(y.clone(), self.directions, features, seed))
                as Arc<dyn ProjectedCriterion>,
            None => Arc::new(Exact::new(y.clone())),
        });
        Some(Problem {
            x: Cow::Owned(self.x.take_rows(rows)),
            y: Arc::new(y),
            inner,
            waves,
            directions: self.directions,
            unit: self.unit,
        })
    }

    /// Passes the objective to a solver.
    pub fn with_criterion<T>(&self, work: impl FnOnce(&dyn Criterion) -> T) -> T {
        match &self.inner {
            Some(inner) => work(&Projected::new(&self.x, &**inner, self.directions)),
            None => work(&Diagonal::new(&self.x, &self.y)),
        }
    }

    /// The same with weights in units of the kernel's bandwidth, rounded to a power of two, so that steps and
    /// gradients are of order one for any scale of the features.
    fn in_units<T>(&self, work: impl FnOnce(&dyn Criterion) -> T) -> T {
        self.with_criterion(|criterion| work(&InUnits { criterion, unit: self.scale() }))
    }

    /// The unit of [`Self::in_units`].
    fn scale(&self) -> f64 {
        power_of_two(if self.is_diagonal() { self.unit } else { self.inverse_width() })
    }

    fn inverse_width(&self) -> f64 {
        if self.is_diagonal() { self.unit.sqrt() } else { self.unit * (self.directions as f64).sqrt() }
    }

    /// Some samples in units of the kernel's bandwidth, rounded to a power of two.
    pub fn rows_in_units(&self, rows: &[usize]) -> Rows {
        let by = power_of_two(self.inverse_width());
        match self.x.take_rows(rows) {
            Rows::Dense(x) => (x * by).into(),
            Rows::Sparse(x) => x.scaled(&Array1::from_elem(self.d(), by)).into(),
        }
    }

    /// Dual norm of the gradient for every feature: its gain from a small weight.
    pub fn gains(&self, w: &Array2<f64>) -> Vec<f64> {
        let mut gradient = Array2::zeros(w.dim());
        self.with_criterion(|criterion| criterion.value_and_gradient(w, &mut gradient));
        self.sizes_of(&gradient)
    }

    fn sizes_of(&self, gradient: &Array2<f64>) -> Vec<f64> {
        // Weights per feature are nonnegative, so only negative derivatives count.
        let size = |g: &f64| if self.is_diagonal() { (-g).max(0.0) } else { g.abs() };
        gradient.rows().into_iter().map(|row| row.iter().map(size).sum()).collect()
    }

    /// Importance of each feature: the norm of its row, which is invariant to rotations of the directions.
    pub fn lengths(&self, w: &Array2<f64>) -> Vec<f64> {
        let length = |row: ndarray::ArrayView1<f64>| {
            if self.is_diagonal() { row[0].max(0.0).sqrt() } else { row.dot(&row).sqrt() }
        };
        w.rows().into_iter().map(length).collect()
    }

    /// Features with a nonzero weight, largest row first, and the norms of all rows.
    pub fn leading(&self, w: &Array2<f64>) -> (Vec<usize>, Vec<f64>) {
        let lengths = self.lengths(w);
        let mut columns: Vec<usize> = (0..lengths.len()).filter(|&j| lengths[j] > 0.0).collect();
        columns.sort_by(|&a, &b| lengths[b].total_cmp(&lengths[a]).then(a.cmp(&b)));
        (columns, lengths)
    }

    /// The weights in the units of the data, by which features are multiplied.
    pub fn coefficients(&self, w: &Array2<f64>) -> Array2<f64> {
        if self.is_diagonal() { w.mapv(|u| u.max(0.0).sqrt()) } else { w.clone() }
    }

    /// Orthogonal rows of weights for the given features, with total norm `radius`.
    pub fn spread_over(&self, columns: &[usize], radius: f64) -> Array2<f64> {
        self.spread(self.d(), columns, radius)
    }

    /// The same for a different total number of features.
    pub fn spread(&self, d: usize, columns: &[usize], radius: f64) -> Array2<f64> {
        let mut w = Array2::zeros((d, self.directions));
        let each = radius / columns.len().max(1) as f64;
        for (i, &j) in columns.iter().enumerate() {
            for (k, w) in w.row_mut(j).iter_mut().enumerate() {
                // Rows of a Hadamard matrix: orthogonal rows that use every direction fully.
                *w = if (i & k).count_ones() % 2 == 0 { each } else { -each };
            }
        }
        if self.is_diagonal() { w.mapv(f64::abs) } else { w }
    }

    /// Weights for the given features along one direction, with the given signs and total norm `radius`.
    pub fn along(&self, columns: &[(usize, f64)], radius: f64) -> Array2<f64> {
        let mut w = Array2::zeros((self.d(), self.directions));
        let each = radius / columns.len().max(1) as f64;
        columns.iter().for_each(|&(j, sign)| w.row_mut(j).fill(sign * each));
        if self.is_diagonal() { w.mapv(f64::abs) } else { w }
    }

    /// Random weights under which a typical pair of samples has a moderate kernel value.
    pub fn drawn(&self, rng: &mut Rng, scale: f64) -> Array2<f64> {
        let shape = (self.d(), self.directions);
        if self.is_diagonal() {
            // At most the size of the active set: every feature with a weight takes part in every step.
            let columns = rng.sample(self.d(), WIDE_DIAGONAL);
            let each = scale * self.unit / columns.len() as f64;
            let mut w = Array2::zeros(shape);
            columns.iter().for_each(|&j| w[[j, 0]] = each * rng.uniform());
            return w;
        }
        let each = scale * self.unit / (shape.0 as f64).sqrt();
        Array2::from_shape_simple_fn(shape, || each * rng.normal())
    }

    pub fn ball(&self, radius: f64) -> Regularizer {
        if self.is_diagonal() { Regularizer::NonNegativeBall(radius) } else { Regularizer::Ball(radius) }
    }

    /// Minimizes the objective within a ball, from a start. With many features it is solved on an active set:
    /// features with a weight and those with the largest gain, until no other feature would enter.
    pub fn solve(&self, start: Array2<f64>, radius: f64, effort: Effort, ctx: &Context) -> Result<Minimum> {
        let scale = self.scale();
        let hold = self.ball(radius / scale);
        let spectral = Spectral {
            tolerance: effort.tolerance,
            max_iterations: effort.max_iterations,
            ..Spectral::default()
        };
        let start = start / scale;
        let wide = if self.is_diagonal() { WIDE_DIAGONAL } else { WIDE };
        let end = if self.d() <= wide {
            self.in_units(|criterion| spectral.minimize(criterion, hold, start, ctx))?
        } else {
            self.solve_wide(start, hold, spectral, effort.rounds, ctx)?
        };
        Ok(Minimum { w: end.w * scale, ..end })
    }

    fn solve_wide(
        &self,
        start: Array2<f64>,
        hold: Regularizer,
        spectral: Spectral,
        rounds: usize,
        ctx: &Context,
    ) -> Result<Minimum> {
        let let_in = if self.is_diagonal() { LET_IN_DIAGONAL } else { LET_IN };
        self.in_units(|criterion| {
            let at =
                |w: Array2<f64>| Spectral { max_iterations: 0, ..spectral }.minimize(criterion, hold, w, ctx);
            let mut here = at(start)?;
            let mut gradient = Array2::zeros(here.w.dim());
            let (mut iterations, mut stop) = (0, Stop::MaxIterations);
            for _ in 0..rounds {
                criterion.value_and_gradient(&here.w, &mut gradient);
                let gains = self.sizes_of(&gradient);
                let inside = |j: usize| here.w.row(j).iter().any(|w| *w != 0.0);
                let mut columns: Vec<usize> = (0..self.d()).collect();
                columns.sort_by(|&a, &b| {
                    inside(b).cmp(&inside(a)).then(gains[b].total_cmp(&gains[a])).then(a.cmp(&b))
                });
                let with_weight = columns.iter().take_while(|&&j| inside(j)).count();
                columns.truncate(with_weight + let_in);
                columns.sort_unstable();
                let part = self.among(&columns);
                let found = part.in_units(|criterion| {
                    spectral.minimize(criterion, hold, here.w.select(Axis(0), &columns), ctx)
                })?;
                iterations += found.iterations;
                // A solution on the active set need not be optimal over all features.
                stop = if found.stop == Stop::Tolerance { Stop::MaxIterations } else { found.stop };
                let mut w = Array2::zeros(here.w.dim());
                columns.iter().enumerate().for_each(|(i, &j)| w.row_mut(j).assign(&found.w.row(i)));
                let next = at(w)?;
                if next.objective > here.objective {
                    stop = Stop::Stationary;
                    break;
                }
                here = next;
                if here.optimality <= spectral.tolerance.max(found.optimality) {
                    break;
                }
            }
            let solved = here.optimality <= spectral.tolerance;
            Ok(Minimum { iterations, stop: if solved { Stop::Tolerance } else { stop }, ..here })
        })
    }

    /// Minimizes the penalized objective from a start.
    pub fn solve_penalized(
        &self,
        start: Array2<f64>,
        lambda: f64,
        effort: Effort,
        ctx: &Context,
    ) -> Result<Minimum> {
        let (tolerance, max_iterations) = (effort.tolerance, effort.max_iterations);
        let two_metric = TwoMetric { tolerance, max_iterations, ..TwoMetric::default() };
        let scale = self.scale();
        let (start, lambda) = (start / scale, lambda * scale);
        let end = self.in_units(|criterion| match (self.is_diagonal(), self.directions) {
            (true, _) => {
                let tilted = Tilted { criterion, lambda };
                let bounds = Bounds::uniform(criterion.shape(), 0.0, f64::INFINITY);
                let end = two_metric.minimize(&tilted, &bounds, start, ctx)?;
                Ok(Minimum { value: end.objective - lambda * end.w.sum(), ..end })
            }
            (false, 1) => two_metric.minimize_l1(criterion, lambda, start, ctx),
            (false, _) => Spectral { tolerance, max_iterations, ..Spectral::default() }.minimize(
                criterion,
                Regularizer::Penalty(lambda),
                start,
                ctx,
            ),
        })?;
        Ok(Minimum { w: end.w * scale, ..end })
    }
}

/// The nearest power of two: scaling by it is exact.
fn power_of_two(v: f64) -> f64 {
    2.0_f64.powi(v.log2().round().clamp(-1000.0, 1000.0) as i32)
}

/// An objective with rescaled weights.
struct InUnits<'a> {
    criterion: &'a dyn Criterion,
    unit: f64,
}

impl Criterion for InUnits<'_> {
    fn shape(&self) -> (usize, usize) {
        self.criterion.shape()
    }

    fn value_and_gradient(&self, w: &Array2<f64>, gradient: &mut Array2<f64>) -> f64 {
        let value = self.criterion.value_and_gradient(&(w * self.unit), gradient);
        *gradient *= self.unit;
        value
    }

    fn value(&self, w: &Array2<f64>) -> f64 {
        self.criterion.value(&(w * self.unit))
    }
}

/// An objective plus a multiple of the sum of the nonnegative weights.
struct Tilted<'a> {
    criterion: &'a dyn Criterion,
    lambda: f64,
}

impl Criterion for Tilted<'_> {
    fn shape(&self) -> (usize, usize) {
        self.criterion.shape()
    }

    fn value_and_gradient(&self, w: &Array2<f64>, gradient: &mut Array2<f64>) -> f64 {
        let value = self.criterion.value_and_gradient(w, gradient);
        *gradient += self.lambda;
        value + self.lambda * w.sum()
    }

    fn value(&self, w: &Array2<f64>) -> f64 {
        self.criterion.value(w) + self.lambda * w.sum()
    }
}

impl Hsfs {
    /// The approximation for this number of samples.
    fn approximation_of(&self, n: usize) -> Approximation {
        match self.approximation {
            Approximation::Auto if n <= EXACT_ROWS => Approximation::Exact,
            Approximation::Auto => Approximation::Fourier,
            other => other,
        }
    }

    /// The HSIC criterion for these samples.
    fn inner(
        &self,
        factor: &Array2<f64>,
        x: &Rows,
        directions: usize,
        ctx: &Context,
    ) -> Result<Arc<dyn ProjectedCriterion>> {
        let n = x.n();
        Ok(match self.approximation_of(n) {
            Approximation::Auto | Approximation::Exact => Arc::new(Exact::new(factor.clone())),
            Approximation::Fourier => {
                ctx.note(format!("{NAME}: HSIC of {n} rows by {} random Fourier features", self.features));
                Arc::new(Fourier::new(factor.clone(), directions, self.features, ctx.seed))
            }
            Approximation::Nystrom => {
                let landmarks = landmarks(x, self.features.min(n), ctx)?;
                ctx.note(format!("{NAME}: HSIC of {n} rows by {} landmarks", landmarks.len()));
                ctx.need_memory(
                    format!("{NAME} with {} landmarks", landmarks.len()),
                    24.0 * n as f64 * landmarks.len() as f64,
                    "use fewer landmarks, or Fourier features",
                )?;
                Arc::new(Nystrom::new(factor.clone(), landmarks))
            }
        })
    }
}

/// At most `wanted` landmarks: the pivots of KOBL.
fn landmarks(x: &Rows, wanted: usize, ctx: &Context) -> Result<Vec<usize>> {
    let quiet = Context { observer: &Quiet(ctx.observer), ..*ctx };
    let kobl = Kobl { n_components: Some(wanted), threshold: Threshold::None, ..Kobl::default() };
    let fit = kobl.fit(&Dataset::unlabeled(x.clone())?, &quiet)?;
    Ok(fit.map.summary().pivots.clone())
}

/// The bandwidth at which a typical pair of samples differs by one in a typical feature: the median over features
/// of the median difference without ties, but no more than the samples differ in the feature that varies most. In
/// sparse features the few nonzero differences are large relative to the standard deviation, and with such a
/// bandwidth the kernel would be almost linear.
fn median_width(x: &Rows, ctx: &Context) -> f64 {
    let (_, spread) = x.moments();
    let most = std::f64::consts::SQRT_2 * spread.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let columns = Rng::stream(ctx.seed, "HSFS width").sample(x.d(), SAMPLE);
    let sample: Vec<usize> = Rng::stream(ctx.seed, "HSFS rows").sample(x.n(), SAMPLE);
    let x = x.take_rows(&sample).take_columns(&columns).into_dense();
    let middle = |values: &mut Vec<f64>| {
        let half = values.len() / 2;
        (!values.is_empty()).then(|| *values.select_nth_unstable_by(half, f64::total_cmp).1)
    };
    let of_column = |column: ndarray::ArrayView1<f64>| {
        let mut differences = vec![];
        for i in 0..column.len() {
            differences.extend((0..i).map(|j| (column[i] - column[j]).abs()).filter(|e| *e > 0.0));
        }
        middle(&mut differences)
    };
    let mut medians: Vec<f64> = x.columns().into_iter().filter_map(of_column).collect();
    middle(&mut medians).unwrap_or(1.0).min(most)
}

/// Returns an error for features whose distances overflow.
pub(super) fn need_moderate(x: &Rows) -> Result<()> {
    let (mean, spread) = x.moments();
    if mean.iter().chain(&spread).any(|v| v.abs() > 1e100) {
        return Err(Error::Breakdown {
            step: NAME,
            why: "distances between rows are too large for a number; scale the columns".into(),
        });
    }
    Ok(())
}
