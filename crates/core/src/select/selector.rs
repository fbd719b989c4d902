//! The selector interface.

pub use super::selection::{PathPoint, Sample, Selection};
use crate::context::Context;
use crate::data::{Classes, Dataset, Encoder, Encoding, Target, standardized_numbers};
use crate::error::{Error, Result};
use crate::interactions::{MIN_ROWS, any_dependence};
use crate::method::{Info, Needs};
use crate::parameters::Parameters;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Significance level of [`DependenceCheck`].
const ALPHA: f64 = 0.05;
/// Samples are repeated as their weights say if there are at most this many then.
pub(super) const MAX_REPEATED: usize = 100_000;

/// Ranks the features of a data set and selects some.
///
/// On raw data it selects features; on the coordinates of a [`crate::basis::FeatureMap`] it selects directions of
/// kernel space.
pub trait Selector: Parameters {
    /// What to know about the method before using it.
    fn info(&self) -> &'static Info;

    /// Ranks all features and selects `count` of them. The data are those of [`Dataset::for_fit`], with weights only if it
    /// supports them; call [`Selector::select`].
    fn fit(&self, data: &Dataset, count: FeatureCount, ctx: &Context) -> Result<Selection>;

    /// As [`Selector::fit`], for each of several numbers of features; call [`Selector::select_each`]. Override it to share
    /// work between them.
    fn fit_each(&self, data: &Dataset, counts: &[usize], ctx: &Context) -> Vec<Result<Selection>> {
        counts.iter().map(|&count| self.fit(data, FeatureCount::Count(count), ctx)).collect()
    }

    /// Ranks all features and selects `count` of them.
    fn select(&self, data: &Dataset, count: FeatureCount, ctx: &Context) -> Result<Selection> {
        self.check_data(data)?;
        let (rows, sample, ctx) = sampled(self, data, ctx)?;
        Ok(self.fit(&rows, count, &ctx)?.with_sample(sample))
    }

    /// Ranks all features of typed data and selects `count` of them. If the number is automatic, no feature with a score of
    /// zero is selected, and none at all if the target does not depend on the features (see [`Selector::dependence_check`]).
    fn select_typed(
        &self,
        data: &Dataset,
        count: FeatureCount,
        encoding: Encoding,
        ctx: &Context,
    ) -> Result<Selection> {
        self.check_data(data)?;
        let (rows, sample, held) = sampled(self, data, ctx)?;
        let mut selection = self.fit(&*self.prepared(&rows, encoding)?, count, &held)?.with_sample(sample);
        if count == FeatureCount::Auto {
            selection.drop_zero_scores();
            if let Some(check) = self.dependence_check().filter(|_| selection.n_selected > 0) {
                // On all rows, also where the method uses a sample.
                check.apply(self.info().title, &data.for_fit(), &mut selection, ctx)?;
            }
        }
        Ok(selection)
    }

    /// The dependence of the target that an automatic number of features requires; `None` for methods that test their
    /// features or have no target, and if a parameter such as a penalty determines the number.
    fn dependence_check(&self) -> Option<DependenceCheck> {
        None
    }

    /// Typed data as the selector needs it: encoded, unless it supports types, and standardized if that is requested and
    /// does not change what it measures.
    fn prepared<'a>(&self, data: &'a Dataset, encoding: Encoding) -> Result<Cow<'a, Dataset>> {
        let standardize = encoding.standardize && self.wants_scaling();
        let is_encoded = !data.has_missing() && !data.is_typed();
        Ok(match (is_encoded || self.supports_types(), standardize) {
            (true, false) => Cow::Borrowed(data),
            (true, true) => Cow::Owned(standardized_numbers(data)?),
            (false, _) => Cow::Owned(Encoder::fit(data, Encoding { standardize, ..encoding })?.encode(data)?),
        })
    }

    /// Makes an independent selection for each of several numbers of features.
    fn select_each(&self, data: &Dataset, counts: &[usize], ctx: &Context) -> Vec<Result<Selection>> {
        let each = || {
            self.check_data(data)?;
            let (rows, sample, ctx) = sampled(self, data, ctx)?;
            let found = self.fit_each(&rows, counts, &ctx).into_iter();
            Ok(found.map(|found| found.map(|found| found.with_sample(sample))).collect())
        };
        // Each number has its own error.
        each().unwrap_or_else(|_: Error| {
            counts.iter().map(|&count| self.select(data, FeatureCount::Count(count), ctx)).collect()
        })
    }

    /// The number of rows that it uses at most: it gets [a sample](Dataset::sample_rows) of larger data. `None` if it uses all rows,
    /// as with the parameter `exact`.
    fn max_rows(&self) -> Option<usize> {
        None
    }

    /// The target it needs with its present parameters.
    fn needs(&self) -> Needs {
        self.info().needs
    }

    /// Whether it can use this target.
    fn fits(&self, target: &Target) -> bool {
        match self.needs() {
            Needs::Classes => matches!(target, Target::Classes(_)),
            Needs::Continuous => matches!(target, Target::Continuous(_)),
            Needs::Target => match target {
                Target::None => false,
                Target::Outputs(_) => self.supports_outputs(),
                _ => true,
            },
            Needs::Nothing | Needs::Triplets | Needs::Baseline => true,
        }
    }

    /// Whether it accepts typed features: categories as codes, and missing values. Other selectors need encoded features,
    /// see [`Encoder`](crate::data::Encoder).
    fn supports_types(&self) -> bool {
        false
    }

    /// Whether it supports weights of samples: an integer weight then means that the sample is there so many times.
    fn supports_weights(&self) -> bool {
        false
    }

    /// Whether it supports several target columns.
    fn supports_outputs(&self) -> bool {
        false
    }

    /// Returns an error if the data have weights or several target columns that it does not support.
    fn check_data(&self, data: &Dataset) -> Result<()> {
        if !self.supports_weights() {
            data.need_unweighted(self.info().title, Vec::new)?;
        }
        match self.supports_outputs() || self.needs() == Needs::Nothing {
            true => Ok(()),
            false => data.need_one_output(self.info().title),
        }
    }

    /// Whether features should be standardized first. Other selectors are scale-invariant, or need unscaled values.
    fn wants_scaling(&self) -> bool {
        true
    }

    /// Whether the selection includes a path.
    fn has_path(&self) -> bool {
        false
    }

    /// Whether a smaller number of features selects the first of a larger one.
    fn nested(&self) -> bool {
        true
    }

    /// Returns an error for invalid parameters, without data.
    fn check(&self) -> Result<()> {
        self.check_ranges()
    }

    /// Returns an error for parameters that are invalid for these classes, whatever the features are.
    fn check_classes(&self, _classes: &Classes) -> Result<()> {
        self.check()
    }

    /// Clears parameters that determine the number of features (a penalty, a radius), so that a count can be
    /// requested.
    fn clear_fixed_count(&mut self) {}
}

/// The rows to fit to: all, or a sample if there are more than [`Selector::max_rows`]; and the context that holds it.
fn sampled<'a, 'c, S: Selector + ?Sized>(
    selector: &S,
    data: &'a Dataset,
    ctx: &Context<'c>,
) -> Result<(Cow<'a, Dataset>, Option<Sample>, Context<'c>)> {
    let by_class = selector.info().needs != Needs::Nothing;
    let Some(rows) = selector.max_rows().and_then(|most| data.sample_rows(most, by_class, ctx.seed)) else {
        return Ok((data.for_fit(), None, *ctx));
    };
    let ctx = data.hold_rows(rows.len(), ctx)?;
    let sample = Sample { n_used: rows.len(), n: data.n() }.noted(selector.info().title, &ctx);
    // Weights that balance the classes are those of the sample.
    Ok((Cow::Owned(data.take_rows(&rows).for_fit().into_owned()), Some(sample), ctx))
}

/// A test whether the target depends on the features at all, at the level 0.05.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DependenceCheck {
    /// Each feature alone.
    Single,
    /// Each feature, each pair, and sets of three.
    Joint,
}

impl DependenceCheck {
    /// Selects no feature if the target does not depend on the features.
    fn apply(self, title: &str, data: &Dataset, selection: &mut Selection, ctx: &Context) -> Result<()> {
        let untested = |why: String| {
            ctx.note(format!(
                "{title}: whether features predict better than chance is not tested with {why}"
            ));
            Ok(())
        };
        if !data.is_repeatable(MAX_REPEATED) {
            return untested("weights that are not numbers of samples".into());
        }
        if data.weights().total(data.n()) < MIN_ROWS as f64 {
            return untested(format!("fewer than {MIN_ROWS} samples"));
        }
        let test =
            |ctx: &Context| any_dependence(&data.unweighted(MAX_REPEATED), self == Self::Joint, ALPHA, ctx);
        let p_value = match hold_repeated(data, ctx).and_then(|ctx| test(&ctx)) {
            Ok(p_value) => p_value,
            Err(error @ Error::Memory { .. }) => {
                ctx.note(format!(
                    "{title}: whether features predict better than chance is not tested: {error}"
                ));
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        if p_value > ALPHA {
            let nothing = match self {
                Self::Single => "no feature alone",
                Self::Joint => "no feature, alone or with others,",
            };
            selection.n_selected = 0;
            ctx.warn(format!(
                "{title}: {nothing} predicts the target better than chance (p = {p_value:.2}); none is selected; \
                 to select features nevertheless, request a number"
            ));
        }
        Ok(())
    }
}

/// The context while rows are repeated as their weights say.
pub(super) fn hold_repeated<'a>(data: &Dataset, ctx: &Context<'a>) -> Result<Context<'a>> {
    match data.is_weighted() && data.is_repeatable(MAX_REPEATED) {
        true => {
            let cells = data.weights().total(data.n()) * data.d() as f64;
            ctx.hold("the rows repeated by their weights", 8.0 * cells, "use fewer rows or columns")
        }
        false => Ok(*ctx),
    }
}

/// Number of features to select.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FeatureCount {
    /// Chosen automatically by the method.
    #[default]
    Auto,
    /// This many.
    Count(usize),
    /// This fraction of all features, above 0 and up to 1; at least one feature.
    Fraction(f64),
}

impl FeatureCount {
    /// The number for `d` features; `None` if chosen automatically.
    pub fn resolve(self, method: &'static str, d: usize) -> Result<Option<usize>> {
        match self {
            Self::Auto => Ok(None),
            Self::Count(k) if k >= 1 && k <= d => Ok(Some(k)),
            Self::Count(k) => Err(Error::param(
                method,
                "number of features",
                format!("from 1 to the number of columns, {d}"),
                k,
            )),
            Self::Fraction(fraction) if fraction > 0.0 && fraction <= 1.0 => {
                Ok(Some(((fraction * d as f64).round() as usize).clamp(1, d)))
            }
            Self::Fraction(fraction) => {
                Err(Error::param(method, "fraction of features", "above 0 and at most 1", fraction))
            }
        }
    }
}

/// Selections of several numbers of features by `run`, which makes all of them from one search.
pub(super) fn from_one_search(
    method: &'static str,
    d: usize,
    counts: &[usize],
    run: impl Fn(&[Option<usize>]) -> Result<Vec<Selection>>,
) -> Vec<Result<Selection>> {
    let resolved = || counts.iter().map(|&count| FeatureCount::Count(count).resolve(method, d));
    let valid: Vec<Option<usize>> = resolved().filter_map(Result::ok).collect();
    let found = if valid.is_empty() { Ok(vec![]) } else { run(&valid) };
    match found {
        Ok(found) => {
            let mut found = found.into_iter();
            resolved().map(|count| count.map(|_| found.next().expect("one for each valid number"))).collect()
        }
        // Each number has its own error.
        Err(_) => resolved().map(|count| Ok(run(&[count?])?.remove(0))).collect(),
    }
}
