//! HSFS: selects the features of a sparse projection that maximizes the (nonlinear) dependence on the target, HSIC.
//!
//! $$ \max_W \mathrm{HSIC}(XW, y) \quad\text{where}\quad \sum_j \lVert w_j \rVert_\infty \le \tau, $$
//!
//! where $w_j$ is the row of $W$ for feature $j$, and HSIC uses a Gaussian kernel of the projected samples and the
//! target's kernel, see [`crate::dependence::projection`]. Rows are exactly zero for features that are not needed.
//!
//! The problem as published, $\min_W -\mathrm{HSIC} + \lambda \sum_j \lVert w_j \rVert_\infty$, is available as
//! [`Form::Penalized`]: $W = 0$ is a strict local minimum of it for every $\lambda > 0$, and its path jumps from
//! several features to none, which the method reports. The constrained form has neither problem.
//!
//! Neither form is convex, so the result depends on the start. Along increasing radii each problem is solved from
//! the last solution, from sets of features selected individually, in pairs, by their interaction or jointly (see
//! `starts`), and from random weights; the best value wins. For a given number of features every solution along the
//! path nominates the features with the largest rows. Each set is solved separately, within a ball of one unit per
//! feature, the best of them from several starts, and the set with the largest HSIC is selected; with one weight
//! per feature, the set with the largest HSIC under equal weights. The score of a feature is the norm of its row,
//! which is invariant to rotations of the directions.
//!
//! Without a requested number or radius (`auto`), the penalized form selects the last set before all weights
//! vanish. The constrained form uses a hold-out set: sets of increasing size are selected on two thirds of the
//! samples, and the smallest size is chosen whose HSIC on the other third is at least 95 % of the largest.
//!
//! If the weights of all directions would outnumber the samples, there is one weight per feature instead, see
//! [`Hsfs::diagonal`].
//!
//! HSIC of a set can miss a relevant feature next to stronger ones (Liu and Ruan 2024): it measures dependence, not
//! prediction.
//!
//! Cost: hundreds to thousands of evaluations with gradients at $O(n^2 (q + c) + n d q)$ each; beyond 5000 samples
//! $O(n m (q + c) + n d q)$ with $m$ random Fourier features or landmarks. Beyond 20,000 samples with Fourier
//! features the path is computed on 10,000 of them, and all samples are used to compare the best sets and to fit
//! the weights. Beyond 2048 features a problem is solved on an active set and checked against all features.
//!
//! Reference: Masaeli, Fung and Dy, *From transformation-based dimensionality reduction to feature selection*, 2010.

mod constrained;
mod penalized;
mod problem;
mod sets;
mod starts;
#[cfg(test)]
mod tests;

use super::selector::{FeatureCount, Selection, Selector};
use crate::context::{Context, Quiet};
use crate::data::{Dataset, Target, is_constant};
use crate::dependence::TargetKernel;
use crate::error::{Error, Result};
use crate::method::{Info, Needs};
use crate::optim::Minimum;
use crate::outcome::{Outcome, Stop};
use crate::parameters::Parameters;
use crate::random::Rng;
use constrained::Path;
use ndarray::Array2;
use problem::{Effort, Problem, need_moderate};
use std::borrow::Cow;

const NAME: &str = "HSFS";

/// Default number of directions, unless there are fewer features.
const DIRECTIONS: usize = 8;
/// Maximum number of products per gradient for which one weight per feature is chosen automatically.
const MOST_WORK: f64 = 1e10;
/// The largest number of features tried by the automatic selection.
const OWN_MOST: usize = 12;
/// The automatic selection stops after this many sizes without improvement.
const PATIENCE: usize = 3;
/// Fraction of the largest hold-out HSIC that is sufficient.
const ENOUGH: f64 = 0.95;

crate::choices! {
    /// How the weights are kept sparse.
    pub enum Form {
        /// The sum of the largest entries of the rows of W is bounded.
        Constrained = "constrained",
        /// A multiple of that sum is added to the objective, as published.
        Penalized = "penalized",
    }
}

crate::choices! {
    /// How to compute HSIC.
    pub enum Approximation {
        /// Exact up to 5000 samples, random Fourier features beyond.
        Auto = "auto",
        /// All pairs of samples.
        Exact = "exact",
        /// Random Fourier features.
        Fourier = "fourier",
        /// Nyström approximation on the pivots of KOBL.
        Nystrom = "nystrom",
    }
}

crate::parameters! {
    /// Hilbert-Schmidt feature selection.
    #[derive(PartialEq)]
    pub struct Hsfs as "HSFS" {
        /// How the weights are kept sparse.
        pub form: Form = Form::Constrained;
        /// Number of directions (columns of W); none is 8, or the number of features if that is less. Not used with
        /// `diagonal`.
        pub directions: Option<usize> = None, at_least(1);
        /// Use one weight per feature instead of directions; the squares of the weights are bounded or penalized.
        /// None decides by the data: in the constrained form, one weight per feature if directions would have more
        /// weights than there are samples and the cost allows it.
        pub diagonal: Option<bool> = None;
        /// The kernel of the target.
        pub target_kernel: TargetKernel = TargetKernel::Auto;
        /// Bandwidth of the Gaussian kernel in units of a feature; none is the median difference within a typical
        /// feature, equal values left out.
        pub bandwidth: Option<f64> = None, above(0);
        /// Radius of the constrained form. Leave it out if the number of features is given.
        pub radius: Option<f64> = None, above(0);
        /// Penalty of the penalized form. Leave it out if the number of features is given.
        pub penalty: Option<f64> = None, above(0);
        /// Number of random starts beside the others.
        pub random_starts: usize = 1, between(0, 10_000);
        /// How to compute HSIC.
        pub approximation: Approximation = Approximation::Auto;
        /// Number of random Fourier features, or of landmarks of the Nyström approximation.
        pub features: usize = 512, at_least(1);
        /// Tolerance of the stationarity conditions.
        pub tol: f64 = 1e-5, above(0);
        /// Maximum number of steps of each solution; beyond 2048 features, of each round in which features are
        /// added.
        pub max_iter: usize = 300, at_least(1);
    }
}

impl Hsfs {
    /// Whether to use one weight per feature for this number of samples and features.
    fn is_diagonal(&self, n: usize, d: usize) -> bool {
        let free = self.form == Form::Constrained
            && self.directions.is_none()
            && matches!(self.approximation, Approximation::Auto | Approximation::Exact);
        let work = n as f64 * n as f64 * d as f64;
        self.diagonal.unwrap_or(free && d * DIRECTIONS > n && work <= MOST_WORK)
    }

    fn effort(&self) -> Effort {
        Effort::whole(self.tol, self.max_iter)
    }

    /// The data without constant features.
    fn prepare<'a>(&self, data: &'a Dataset) -> Result<Prepared<'a>> {
        data.need_complete(NAME)?;
        self.check()?;
        // Report errors in the target first.
        if let Target::Classes(_) = data.target() {
            data.classes(NAME)?;
        }
        data.need_rows(NAME, 4)?;
        need_moderate(data.x())?;
        let (mean, spread) = data.x().moments();
        let columns: Vec<usize> = (0..data.d()).filter(|&j| !is_constant(mean[j], spread[j])).collect();
        if columns.is_empty() {
            return Err(Error::Breakdown {
                step: NAME,
                why: "every column is constant, so there is nothing to choose from".into(),
            });
        }
        let total = data.d();
        let data = if columns.len() == total {
            Cow::Borrowed(data)
        } else {
            Cow::Owned(data.take_columns(&columns))
        };
        Ok(Prepared { data, columns, total })
    }

    /// The selection of a given number of features from a computed path.
    fn answer(
        &self,
        prepared: &Prepared,
        problem: &Problem,
        path: &Path,
        wanted: usize,
        ctx: &Context,
    ) -> Result<Selection> {
        let count = wanted.min(prepared.columns.len());
        let (set, minimum) = path.pick(count, ctx)?;
        let mut w = Array2::zeros((problem.d(), problem.directions));
        set.iter().enumerate().for_each(|(i, &j)| w.row_mut(j).assign(&minimum.w.row(i)));
        let nearness = path.nearness(&w);
        let outcome = path.outcome(&minimum);
        Ok(self.selection(prepared, problem, &w, &set, &nearness, wanted, path.points.clone(), outcome))
    }

    #[allow(clippy::too_many_arguments)]
    fn selection(
        &self,
        prepared: &Prepared,
        problem: &Problem,
        w: &Array2<f64>,
        set: &[usize],
        nearness: &[f64],
        n_selected: usize,
        path: Vec<super::PathPoint>,
        outcome: Outcome,
    ) -> Selection {
        let d = prepared.total;
        let lengths = problem.lengths(w);
        let mut scores = vec![0.0; d];
        let mut coef = Array2::zeros((d, problem.directions));
        let weights = problem.coefficients(w);
        // Features of the set first, by row norm; then by nearness; constant ones last.
        let mut key = vec![(0u8, 0.0, 0.0); d];
        for (at, &j) in prepared.columns.iter().enumerate() {
            scores[j] = lengths[at];
            coef.row_mut(j).assign(&weights.row(at));
            key[j] = (1, lengths[at], nearness[at]);
        }
        set.iter().for_each(|&at| key[prepared.columns[at]].0 = 2);
        let mut order: Vec<usize> = (0..d).collect();
        order.sort_by(|&a, &b| {
            let (a_key, b_key) = (key[a], key[b]);
            b_key
                .0
                .cmp(&a_key.0)
                .then(b_key.1.total_cmp(&a_key.1))
                .then(b_key.2.total_cmp(&a_key.2))
                .then(a.cmp(&b))
        });
        let path = path
            .into_iter()
            .map(|mut point| {
                point.columns.iter_mut().for_each(|j| *j = prepared.columns[*j]);
                point
            })
            .collect();
        Selection {
            method: "hsfs".into(),
            order,
            scores,
            n_selected,
            curve: vec![],
            coef: Some(coef),
            path,
            outcome,
        }
    }

    /// The smallest number of features whose hold-out HSIC is close to the largest.
    fn own_number(&self, prepared: &Prepared, ctx: &Context) -> Result<usize> {
        let quiet = Context { observer: &Quiet(ctx.observer), ..*ctx };
        let n = prepared.data.n();
        let most = OWN_MOST.min(prepared.columns.len());
        let mut rows: Vec<usize> = (0..n).collect();
        Rng::stream(ctx.seed, "HSFS rows kept apart").shuffle(&mut rows);
        // Choosing the number of features needs no more samples than these.
        if n > 6 * constrained::MANY {
            rows.truncate(3 * constrained::MANY);
        }
        let (apart, own) = rows.split_at(rows.len() / 3);
        let (apart, own) = (prepared.data.take_rows(apart), prepared.data.take_rows(own));
        // A class may be missing on one side. Whether there is one weight per feature depends on all samples.
        let method = Self { diagonal: Some(self.is_diagonal(n, prepared.data.d())), ..self.clone() };
        let (Ok(evaluate), Ok(problem)) =
            (Problem::new(&method, &apart, &quiet), Problem::new(&method, &own, &quiet))
        else {
            ctx.note("HSFS: the rows are too few to keep some apart; one column is taken");
            return Ok(1);
        };
        let path = Path::walk(&problem, most, self.random_starts, self.effort(), &quiet)?;
        let mut values = vec![];
        for k in 1..=most {
            ctx.step("HSFS numbers of columns", k - 1, most)?;
            let (set, minimum) = path.pick(k, &quiet)?;
            let value = evaluate.among(&set).with_criterion(|criterion| criterion.value(&minimum.w));
            values.push(-value);
            // Stop after three more features without improvement.
            let best = (0..k).max_by(|&a, &b| values[a].total_cmp(&values[b]).then(b.cmp(&a))).unwrap_or(0);
            if k > best + PATIENCE {
                break;
            }
        }
        let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        // If no hold-out HSIC is positive, select one feature.
        Ok(values.iter().position(|&v| v >= ENOUGH * largest).map_or(1, |at| at + 1))
    }

    /// All features with a nonzero weight at one radius or penalty.
    fn at_strength(&self, prepared: &Prepared, problem: &Problem, ctx: &Context) -> Result<Selection> {
        let (minimum, points, nearness) = match self.form {
            Form::Constrained => {
                let radius = self.radius.expect("asked for by a radius");
                let units = (radius / problem.unit).ceil() as usize;
                let path = Path::walk_to(
                    problem,
                    radius,
                    units.clamp(2, 50),
                    self.random_starts,
                    self.effort(),
                    ctx,
                )?;
                let minimum = path.best[path.best.len() - 1].clone();
                let nearness = path.nearness(&minimum.w);
                (minimum, path.points, nearness)
            }
            Form::Penalized => {
                let lambda = self.penalty.expect("asked for by a penalty");
                let minimum = penalized::at(problem, lambda, self.random_starts, self.effort(), ctx)?;
                let gains = gains_or_alone(problem, &minimum.w, ctx)?;
                (minimum.clone(), vec![constrained::point(problem, lambda, &minimum)], gains)
            }
        };
        let lengths = problem.lengths(&minimum.w);
        let set: Vec<usize> = (0..lengths.len()).filter(|&j| lengths[j] > 0.0).collect();
        if set.is_empty() {
            ctx.warn("HSFS: all weights are zero here; the column that is best alone is kept; allow a larger radius or a smaller penalty");
        }
        let Minimum { w, stop, iterations, .. } = minimum;
        let stop = if set.is_empty() && self.form == Form::Penalized { Stop::Collapsed } else { stop };
        let outcome = Outcome { stop, iterations };
        let n = set.len().max(1);
        Ok(self.selection(prepared, problem, &w, &set, &nearness, n, points, outcome))
    }
}

/// The gain of a small weight for each feature. If all weights are zero, so is the gradient, and HSIC of each
/// feature alone is used instead.
fn gains_or_alone(problem: &Problem, w: &Array2<f64>, ctx: &Context) -> Result<Vec<f64>> {
    if w.iter().all(|w| *w == 0.0) { starts::alone(problem, ctx) } else { Ok(problem.gains(w)) }
}

/// Data without constant features.
struct Prepared<'a> {
    data: Cow<'a, Dataset>,
    /// Indices of the remaining features.
    columns: Vec<usize>,
    /// The original number of features.
    total: usize,
}

impl Hsfs {
    /// What to know before using it.
    pub const INFO: Info = Info {
        name: "hsfs",
        title: "HSFS",
        summary: "Features of the projection on which the target depends most; nonlinear and joint effects",
        needs: Needs::Target,
        cost: "some hundred times O(n² q + n d q) time, O(n d) memory; beyond 5000 samples O(n m q + n d q)",
        reference: "Masaeli, Fung and Dy, 2010",
    };
}

impl Selector for Hsfs {
    fn info(&self) -> &'static Info {
        &Self::INFO
    }

    fn check(&self) -> Result<()> {
        self.check_ranges()?;
        let excluded = |name, why: &'static str, given: bool| match given {
            true => Err(Error::param(NAME, name, why, "one")),
            false => Ok(()),
        };
        match self.form {
            Form::Constrained => {
                excluded("penalty", "left out in the constrained form", self.penalty.is_some())?;
            }
            Form::Penalized => {
                excluded("radius", "left out in the penalized form", self.radius.is_some())?;
            }
        }
        if self.diagonal == Some(true) {
            excluded("directions", "left out in the diagonal mode", self.directions.is_some())?;
            if !matches!(self.approximation, Approximation::Auto | Approximation::Exact) {
                return Err(Error::param(NAME, "approximation", "exact in the diagonal mode", "another"));
            }
        }
        Ok(())
    }

    fn clear_fixed_count(&mut self) {
        (self.radius, self.penalty) = (None, None);
    }

    fn has_path(&self) -> bool {
        true
    }

    fn select(&self, data: &Dataset, wanted: FeatureCount, ctx: &Context) -> Result<Selection> {
        let prepared = self.prepare(data)?;
        let wanted = wanted.resolve(NAME, data.d())?;
        if let (Some(_), Some(strength)) = (wanted, self.radius.or(self.penalty)) {
            let name = if self.radius.is_some() { "radius" } else { "penalty" };
            return Err(Error::param(NAME, name, "left out where a number of features is given", strength));
        }
        let problem = Problem::new(self, &prepared.data, ctx)?;
        if self.radius.is_some() || self.penalty.is_some() {
            return self.at_strength(&prepared, &problem, ctx);
        }
        match (self.form, wanted) {
            (Form::Penalized, wanted) => {
                let path = penalized::Path::walk(&problem, wanted, self.random_starts, self.effort(), ctx)?;
                let (minimum, kept, outcome) = path.pick(wanted, ctx);
                let gains = gains_or_alone(&problem, &minimum.w, ctx)?;
                let n = wanted.unwrap_or(kept.len().max(1));
                Ok(self.selection(&prepared, &problem, &minimum.w, &kept, &gains, n, path.points, outcome))
            }
            (Form::Constrained, wanted) => {
                let count = match wanted {
                    Some(count) => count,
                    None => self.own_number(&prepared, ctx)?,
                };
                let most = count.min(prepared.columns.len());
                let path = Path::walk(&problem, most, self.random_starts, self.effort(), ctx)?;
                self.answer(&prepared, &problem, &path, count, ctx)
            }
        }
    }

    /// Computes the path once, for the largest number. A smaller number then has more candidate sets than with a
    /// path of its own, so its result may differ.
    fn select_each(&self, data: &Dataset, counts: &[usize], ctx: &Context) -> Vec<Result<Selection>> {
        if self.form == Form::Penalized || self.radius.is_some() || counts.is_empty() {
            return counts.iter().map(|&count| self.select(data, FeatureCount::Count(count), ctx)).collect();
        }
        let each = || {
            let prepared = self.prepare(data)?;
            let problem = Problem::new(self, &prepared.data, ctx)?;
            let most = counts.iter().copied().max().unwrap_or(1).clamp(1, prepared.columns.len());
            let path = Path::walk(&problem, most, self.random_starts, self.effort(), ctx)?;
            let one = |&count: &usize| {
                FeatureCount::Count(count).resolve(NAME, data.d())?;
                self.answer(&prepared, &problem, &path, count, ctx)
            };
            Ok(counts.iter().map(one).collect())
        };
        // Errors in the data are reported for every number.
        each().unwrap_or_else(|_: Error| {
            counts.iter().map(|&count| self.select(data, FeatureCount::Count(count), ctx)).collect()
        })
    }

    fn nested(&self) -> bool {
        false
    }
}
