//! HSFS: the columns that a projection keeps when it is to tell as much of the target as it can, nonlinearly.
//!
//! $$ \max_W \mathrm{HSIC}(XW, y) \quad\text{where}\quad \sum_j \lVert w_j \rVert_\infty \le \tau, $$
//!
//! $w_j$ the row of $W$ that belongs to column $j$, HSIC under a Gaussian kernel of the projected rows and the target's kernel, see
//! [`crate::dependence::projection`]. Rows are exactly zero for columns that are not needed.
//!
//! The printed form, $\min_W -\mathrm{HSIC} + \lambda \sum_j \lVert w_j \rVert_\infty$, is there as [`Form::Penalized`]: $W = 0$ is a strict
//! local minimum of it for every $\lambda > 0$, and its path jumps from several columns to none, which is then said.
//! The ball has neither fault.
//!
//! Neither form is convex, so the start decides. Along radii from small to large each problem is solved from the last solution,
//! from sets of columns that are good alone, in pairs, by their interaction or all together (see `starts`), and from random weights;
//! the best value counts. For a wanted number of columns every solution on the way nominates the columns of its longest rows;
//! each set is solved alone, within a ball of one unit per column, the best of them from several starts, and the set with the most HSIC is the
//! answer; with a weight per column, the set with the most HSIC under equal weights. A column's score is the length of its row, which does not change when the directions are turned.
//!
//! Without a wanted number and a radius the number is, in the penalised form, the last before all weights vanish. In the
//! constrained form it is found by rows that were kept apart: sets of growing size are chosen on
//! two thirds of the rows, and the smallest size is taken whose HSIC on the other third is within a twentieth of the largest.
//!
//! Where weights of directions would outnumber the rows there is one weight per column instead, see [`Hsfs::diagonal`].
//!
//! HSIC of a set can miss a column that matters beside stronger ones (Liu and Ruan 2024): it measures dependence, not
//! prediction.
//!
//! Cost: some hundred to thousand values with gradients at $O(n^2 (q + c) + n d q)$ each; beyond 5000 rows $O(n m (q + c) + n d q)$
//! with $m$ random Fourier features or landmarks. Beyond 20,000 rows with Fourier features the path is walked on 10,000 of them, and
//! all rows decide between the best sets and settle the weights. Beyond 2048 columns a problem is solved over those that matter, and checked
//! against all.
//!
//! Reference: Masaeli, Fung and Dy, *From transformation-based dimensionality reduction to feature selection*, 2010.

mod constrained;
mod penalised;
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

/// Directions, unless the user wants otherwise or there are fewer columns.
const DIRECTIONS: usize = 8;
/// The most products of a gradient with a weight per column that nobody asked for.
const MOST_WORK: f64 = 1e10;
/// The largest number of columns that is tried without a wanted one.
const OWN_MOST: usize = 12;
/// Numbers that are tried beyond the best so far.
const PATIENCE: usize = 3;
/// The share of the largest HSIC on rows kept apart that is enough.
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
    /// Whether there is a weight per column for so many rows and columns.
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

    /// The data without constant columns.
    fn prepare<'a>(&self, data: &'a Dataset) -> Result<Prepared<'a>> {
        data.need_complete(NAME)?;
        self.check()?;
        // What is wrong with the target is said first.
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

    /// The answer for a number of columns, from a path that was walked.
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
        // Columns of the set first, by their lengths; then by nearness; constant ones last.
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

    /// The smallest number of columns whose HSIC on rows kept apart is all but the largest.
    fn own_number(&self, prepared: &Prepared, ctx: &Context) -> Result<usize> {
        let quiet = Context { observer: &Quiet(ctx.observer), ..*ctx };
        let n = prepared.data.n();
        let most = OWN_MOST.min(prepared.columns.len());
        let mut rows: Vec<usize> = (0..n).collect();
        Rng::stream(ctx.seed, "HSFS rows kept apart").shuffle(&mut rows);
        // A number of columns takes no more rows than these to find.
        if n > 6 * constrained::MANY {
            rows.truncate(3 * constrained::MANY);
        }
        let (apart, own) = rows.split_at(rows.len() / 3);
        let (apart, own) = (prepared.data.take_rows(apart), prepared.data.take_rows(own));
        // A class may have no row on one side.
        // All rows decide what kind of weights there are.
        let method = Self { diagonal: Some(self.is_diagonal(n, prepared.data.d())), ..self.clone() };
        let (Ok(judge), Ok(problem)) =
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
            let value = judge.among(&set).with_criterion(|criterion| criterion.value(&minimum.w));
            values.push(-value);
            // Three more columns without a gain, and there will be none.
            let best = (0..k).max_by(|&a, &b| values[a].total_cmp(&values[b]).then(b.cmp(&a))).unwrap_or(0);
            if k > best + PATIENCE {
                break;
            }
        }
        let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        // Where nothing is told of rows kept apart, one column is as good as any number.
        Ok(values.iter().position(|&v| v >= ENOUGH * largest).map_or(1, |at| at + 1))
    }

    /// All columns with a weight at one radius or penalty.
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
                let minimum = penalised::at(problem, lambda, self.random_starts, self.effort(), ctx)?;
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

/// What columns would gain by a little weight. Where all weights are zero so is the gradient, and it is what each tells
/// alone.
fn gains_or_alone(problem: &Problem, w: &Array2<f64>, ctx: &Context) -> Result<Vec<f64>> {
    if w.iter().all(|w| *w == 0.0) { starts::alone(problem, ctx) } else { Ok(problem.gains(w)) }
}

/// Data without constant columns.
struct Prepared<'a> {
    data: Cow<'a, Dataset>,
    /// Their places among all.
    columns: Vec<usize>,
    /// How many there were.
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
                excluded("radius", "left out in the penalised form", self.radius.is_some())?;
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
                let path = penalised::Path::walk(&problem, wanted, self.random_starts, self.effort(), ctx)?;
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

    /// The path is walked once, for the largest number. A smaller one then has more sets to choose from than it has alone,
    /// so its answer may be another.
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
        // What is wrong with the data is wrong for every number, and is said for each.
        each().unwrap_or_else(|_: Error| {
            counts.iter().map(|&count| self.select(data, FeatureCount::Count(count), ctx)).collect()
        })
    }

    fn nested(&self) -> bool {
        false
    }
}
