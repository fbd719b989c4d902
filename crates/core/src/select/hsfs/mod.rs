//! HSFS: selects the features of a sparse projection that maximizes the (nonlinear) dependence on the target, HSIC.

mod answer;
mod constrained;
mod criterion;
mod penalized;
mod problem;
mod sets;
mod settings;
mod solve;
mod starts;
#[cfg(test)]
mod tests;

pub use settings::{Approximation, Form, Hsfs};

use super::selector::{DependenceCheck, FeatureCount, Selection, Selector};
use crate::context::{Context, Quiet};
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::method::{Info, Needs};
use crate::outcome::{Outcome, Stop};
use crate::parameters::Parameters;
use crate::random::Rng;
use answer::{Answer, Prepared};
use constrained::{PATH_SAMPLES, Path};
use ndarray::Array2;
use problem::Problem;
use sets::under_equal_weights;
use settings::{MAX_ROWS, NAME};
use solve::Effort;

/// The largest number of features tried by the automatic selection.
const MAX_AUTO_COUNT: usize = 12;
/// The automatic selection stops after this many sizes without improvement.
const SIZES_WITHOUT_IMPROVEMENT: usize = 3;
/// Fraction of the largest hold-out HSIC that is sufficient.
const SUFFICIENT_FRACTION: f64 = 0.95;

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

    fn effort(&self) -> Effort {
        Effort::new(self.tol, self.max_iter)
    }

    fn prepare<'a>(&self, data: &'a Dataset) -> Result<Prepared<'a>> {
        data.need_complete(NAME)?;
        self.check()?;
        Prepared::new(data)
    }

    /// The selection of a given number of features from a computed path.
    fn from_path(
        prepared: &Prepared,
        problem: &Problem,
        path: &Path,
        n_selected: usize,
        ctx: &Context,
    ) -> Result<Selection> {
        let (set, minimum) = path.pick(n_selected.min(prepared.columns.len()), ctx)?;
        let mut w = Array2::zeros((problem.n_columns(), problem.directions));
        let rows = problem.groups.expand(&set).into_iter().enumerate();
        rows.for_each(|(i, j)| w.row_mut(j).assign(&minimum.w.row(i)));
        let (nearness, outcome) = (path.nearness(&w), path.outcome(&minimum));
        let answer = Answer { w, set, nearness, n_selected, path: path.points.clone(), outcome };
        Ok(answer.selection(prepared, problem))
    }

    /// The smallest number of features whose hold-out HSIC is close to the largest.
    fn automatic_count(&self, prepared: &Prepared, ctx: &Context) -> Result<usize> {
        let quiet = Context { observer: &Quiet(ctx.observer), ..*ctx };
        let n = prepared.data.n();
        let most = MAX_AUTO_COUNT.min(prepared.columns.len());
        let mut rows: Vec<usize> = (0..n).collect();
        Rng::stream(ctx.seed, "HSFS rows kept apart").shuffle(&mut rows);
        // Choosing the number of features needs no more samples than these.
        if n > 6 * PATH_SAMPLES {
            rows.truncate(3 * PATH_SAMPLES);
        }
        let (hold_out, train) = rows.split_at(rows.len() / 3);
        let (hold_out, train) = (prepared.data.take_rows(hold_out), prepared.data.take_rows(train));
        // A class may be missing on one side. Whether there is one weight per feature depends on all samples.
        let method = Self { diagonal: Some(self.is_diagonal(n, prepared.data.x().d())), ..self.clone() };
        let (Ok(evaluation), Ok(problem)) =
            (Problem::new(&method, &hold_out, &quiet), Problem::new(&method, &train, &quiet))
        else {
            ctx.note("HSFS: too few rows for a hold-out set; one feature is selected");
            return Ok(1);
        };
        let problem = problem.with_pairs(&train, &quiet)?;
        let path = Path::walk(&problem, most, self.random_starts, self.effort(), &quiet)?;
        let mut values = vec![];
        for k in 1..=most {
            ctx.step("HSFS numbers of columns", k - 1, most)?;
            let (set, _) = path.best_set(k, &quiet)?;
            values.push(under_equal_weights(&evaluation, &set));
            let best = (0..k).max_by(|&a, &b| values[a].total_cmp(&values[b]).then(b.cmp(&a))).unwrap_or(0);
            if k > best + SIZES_WITHOUT_IMPROVEMENT {
                break;
            }
        }
        let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        // If no hold-out HSIC is positive, select one feature.
        Ok(values.iter().position(|&v| v >= SUFFICIENT_FRACTION * largest).map_or(1, |at| at + 1))
    }

    /// All features with a nonzero weight at one radius or penalty.
    fn at_strength(&self, prepared: &Prepared, problem: &Problem, ctx: &Context) -> Result<Selection> {
        let (minimum, path, nearness) = match self.form {
            Form::Constrained => {
                let radius = self.radius.expect("a radius is given");
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
                let lambda = self.penalty.expect("a penalty is given");
                let minimum = penalized::at(problem, lambda, self.random_starts, self.effort(), ctx)?;
                let gains = gains_or_individual(problem, &minimum.w, ctx)?;
                (minimum.clone(), vec![constrained::point(problem, lambda, &minimum)], gains)
            }
        };
        let row_norms = problem.row_norms(&minimum.w);
        let set: Vec<usize> = (0..row_norms.len()).filter(|&j| row_norms[j] > 0.0).collect();
        if set.is_empty() {
            ctx.warn("HSFS: all weights are zero here; no feature is selected; use a larger radius or a smaller penalty");
        }
        let collapsed = set.is_empty() && self.form == Form::Penalized;
        let stop = if collapsed { Stop::Collapsed } else { minimum.stop };
        let outcome = Outcome { stop, iterations: minimum.iterations };
        let n_selected = set.len();
        let answer = Answer { w: minimum.w, set, nearness, n_selected, path, outcome };
        Ok(answer.selection(prepared, problem))
    }
}

/// The gain of a small weight for each feature. If all weights are zero, so is the gradient, and HSIC of each
/// feature by itself is used instead.
fn gains_or_individual(problem: &Problem, w: &Array2<f64>, ctx: &Context) -> Result<Vec<f64>> {
    if w.iter().all(|w| *w == 0.0) { starts::individual(problem, ctx) } else { Ok(problem.gains(w)) }
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

    fn supports_outputs(&self) -> bool {
        true
    }

    fn dependence_check(&self) -> Option<DependenceCheck> {
        Some(DependenceCheck::Joint).filter(|_| self.radius.or(self.penalty).is_none())
    }

    fn max_rows(&self) -> Option<usize> {
        (!self.exact).then_some(MAX_ROWS)
    }

    fn fit(&self, data: &Dataset, wanted: FeatureCount, ctx: &Context) -> Result<Selection> {
        let prepared = self.prepare(data)?;
        let wanted = wanted.resolve(NAME, data.d())?;
        if let (Some(_), Some(strength)) = (wanted, self.radius.or(self.penalty)) {
            let name = if self.radius.is_some() { "radius" } else { "penalty" };
            return Err(Error::param(NAME, name, "left out where a number of features is given", strength));
        }
        let problem = Problem::new(self, &prepared.data, ctx)?.with_pairs(&prepared.data, ctx)?;
        if self.radius.is_some() || self.penalty.is_some() {
            return self.at_strength(&prepared, &problem, ctx);
        }
        match (self.form, wanted) {
            (Form::Penalized, wanted) => {
                let path = penalized::Path::walk(&problem, wanted, self.random_starts, self.effort(), ctx)?;
                let (w, set, outcome) = path.pick(&problem, wanted, ctx);
                let nearness = gains_or_individual(&problem, &w, ctx)?;
                let n_selected = wanted.unwrap_or(set.len());
                let answer = Answer { w, set, nearness, n_selected, path: path.points, outcome };
                Ok(answer.selection(&prepared, &problem))
            }
            (Form::Constrained, wanted) => {
                let count = match wanted {
                    Some(count) => count,
                    None => self.automatic_count(&prepared, ctx)?,
                };
                let most = count.min(prepared.columns.len());
                let path = Path::walk(&problem, most, self.random_starts, self.effort(), ctx)?;
                Self::from_path(&prepared, &problem, &path, count, ctx)
            }
        }
    }

    /// Computes the path once, for the largest number. A smaller number then has more candidate sets than with a
    /// path of its own, so its result may differ.
    fn fit_each(&self, data: &Dataset, counts: &[usize], ctx: &Context) -> Vec<Result<Selection>> {
        if self.form == Form::Penalized || self.radius.is_some() || counts.is_empty() {
            return counts.iter().map(|&count| self.fit(data, FeatureCount::Count(count), ctx)).collect();
        }
        let all = || {
            let prepared = self.prepare(data)?;
            let problem = Problem::new(self, &prepared.data, ctx)?.with_pairs(&prepared.data, ctx)?;
            let most = counts.iter().copied().max().unwrap_or(1).clamp(1, prepared.columns.len());
            let path = Path::walk(&problem, most, self.random_starts, self.effort(), ctx)?;
            let one = |&count: &usize| {
                FeatureCount::Count(count).resolve(NAME, data.d())?;
                Self::from_path(&prepared, &problem, &path, count, ctx)
            };
            Ok(counts.iter().map(one).collect())
        };
        // Errors in the data are reported for every number.
        all().unwrap_or_else(|_: Error| {
            counts.iter().map(|&count| self.fit(data, FeatureCount::Count(count), ctx)).collect()
        })
    }

    fn nested(&self) -> bool {
        false
    }
}
