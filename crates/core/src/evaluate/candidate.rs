//! The methods to compare, and the features that they select in a fold.

use super::external::External;
use super::fold::FoldRows;
use crate::context::Context;
use crate::data::{Dataset, Rows, Target};
use crate::error::{Error, Result};
use crate::parameters::{apply, parse_settings};
use crate::random::Rng;
use crate::select::{FeatureCount, SELECTORS, Selection, Selector, SelectorMethod};
use crate::space::{KernelSpaceSelector, SPACES, Tune};
use ndarray::{Array2, s};
use serde::{Deserialize, Serialize};

/// A method with a label.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Candidate {
    /// Its unique name in tables and records.
    pub label: String,
    /// The method.
    pub method: Method,
}

impl Candidate {
    /// Parses a method's name with optional parameters: `relief`, `relief:n_neighbors=5`,
    /// `takes:weight_power=0,weights=individual`. The text becomes the label.
    pub fn parse(text: &str) -> Result<Self> {
        let (name, settings) = parse_settings(text)?;
        Ok(Self { label: text.to_owned(), method: Method::with_settings(name, &settings)? })
    }

    /// The feature selectors to compare by default: all that support the target, and of more than 2000 features those that are
    /// fast on many.
    pub fn default_for(data: &Dataset) -> Vec<Self> {
        let is_wide = data.d() > MANY_FEATURES;
        let all = Self::all_supporting(data).into_iter();
        all.filter(|candidate| !is_wide || !SLOW.contains(&candidate.label.as_str())).collect()
    }

    /// Every feature selector that supports the target and the weights of data, with default parameters.
    pub fn all_supporting(data: &Dataset) -> Vec<Self> {
        let all = Self::all_for(data.target()).into_iter();
        all.filter(|candidate| candidate.method.check_data(data).is_ok()).collect()
    }

    /// Every feature selector that supports this target, with default parameters.
    pub fn all_for(target: &Target) -> Vec<Self> {
        let all =
            SELECTORS.iter().filter_map(|info| SelectorMethod::by_name(info.name).ok().map(|m| (info, m)));
        all.filter(|(_, method)| method.fits(target))
            .map(|(info, method)| Self { label: info.name.to_owned(), method: Method::Columns(method) })
            .collect()
    }
}

/// A method to compare.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Selects features.
    Columns(SelectorMethod),
    /// Selects directions in kernel space.
    Space(Box<KernelSpaceSelector>),
    /// Selects random features, as a baseline.
    Random,
    /// Selects all features, as a baseline.
    AllFeatures,
    /// A selector of another library, which gets all features.
    External(External),
}

/// More features than this are many.
const MANY_FEATURES: usize = 2000;
/// Methods that take more than 10 s for 20,000 features and 100 rows on one core.
const SLOW: [&str; 4] = ["auto", "nca", "hsfs", "svm-rfe"];

/// The name of [`Method::Random`].
const RANDOM: &str = "random";
/// The label of [`Method::AllFeatures`].
pub(super) const ALL_FEATURES: &str = "all-features";

impl Method {
    /// A method by name, with parameters set from text: pairs of name and value.
    pub fn with_settings(name: &str, settings: &[(&str, &str)]) -> Result<Self> {
        if let Some(info) = SPACES.iter().find(|info| info.name == name) {
            let space = apply(KernelSpaceSelector::by_name(name)?, info.name, settings)?;
            return Ok(Self::Space(Box::new(space)));
        }
        if SELECTORS.iter().any(|info| info.name == name) {
            return SelectorMethod::with_settings(name, settings).map(Self::Columns);
        }
        match settings.first() {
            _ if name != RANDOM => {
                let names = SELECTORS.iter().chain(&SPACES).map(|info| info.name).chain([RANDOM]);
                Err(Error::unknown_name("method", name, names))
            }
            Some((key, _)) => Err(Error::parse(format!("{RANDOM} has no parameters; leave out '{key}'"))),
            None => Ok(Self::Random),
        }
    }

    /// Unsets the parameters (C, penalty, radius) that determine the number of selected features, so that a number can
    /// be requested.
    pub fn by_number(mut self) -> Self {
        if let Self::Columns(selector) = &mut self {
            selector.clear_fixed_count();
        }
        self
    }

    /// Returns an error if the data have weights or several targets that it does not support.
    pub(super) fn check_data(&self, data: &Dataset) -> Result<()> {
        let method = match self {
            Self::Random | Self::AllFeatures => return Ok(()),
            Self::Columns(selector) => return selector.check_data(data),
            Self::Space(_) => "kernel-space selection".to_owned(),
            Self::External(external) => external.name.clone(),
        };
        data.need_unweighted(&method, SelectorMethod::names_with_weights)
    }

    /// Whether it selects columns of the data, rather than directions in kernel space.
    pub fn keeps_columns(&self) -> bool {
        !matches!(self, Self::Space(_))
    }

    /// Ranks the features on a fold's training rows, for the given numbers of features.
    pub(super) fn rank(&self, rows: &FoldRows, counts: &[usize], ctx: &Context) -> Result<Ranking> {
        let at_most = counts.iter().copied().max().unwrap_or(1);
        match self {
            Self::Columns(selector) if selector.nested() => {
                Ok(Ranking::Once(Ranked::columns(selector, rows, at_most, ctx)?))
            }
            Self::Space(space) if space.tune == Tune::Nothing => {
                Ok(Ranking::Once(Ranked::directions(space, rows, FeatureCount::Fraction(1.0), ctx)?))
            }
            Self::Random => Ok(Ranking::Once(Ranked::exact(rows.shuffled(ctx)))),
            Self::AllFeatures | Self::External(_) => {
                Ok(Ranking::Once(Ranked::exact((0..rows.train.d()).collect())))
            }
            // Selections are not nested, so each number of features needs its own.
            Self::Columns(selector) => {
                let each = selector.select_each(rows.for_selector(selector)?, counts, ctx);
                let ranked = each.into_iter().map(|selection| selection.map(Ranked::of));
                Ok(Ranking::Each(counts.iter().copied().zip(ranked).collect()))
            }
            Self::Space(space) => {
                Ok(Ranking::each(counts, |k| Ranked::directions(space, rows, FeatureCount::Count(k), ctx)))
            }
        }
    }
}

/// The features that a method selects in a fold.
pub(super) struct Selected {
    pub train: Dataset,
    pub test: Rows,
    /// Indices of the columns or directions, best first.
    pub features: Vec<usize>,
    pub converged: bool,
}

impl Selected {
    /// With the columns in the order of the table, as other libraries have them; `features` stay best first.
    pub fn in_table_order(self) -> Self {
        let mut places: Vec<usize> = (0..self.features.len()).collect();
        places.sort_by_key(|&place| self.features[place]);
        let test = self.test.take_columns(&self.train.groups().expand(&places));
        Self { train: self.train.take_columns(&places), test, ..self }
    }
}

/// A method's rankings for the requested numbers of features.
pub(super) enum Ranking {
    /// One ranking for all numbers.
    Once(Ranked),
    /// One ranking for each number.
    Each(Vec<(usize, Result<Ranked>)>),
}

impl Ranking {
    fn each(counts: &[usize], rank: impl Fn(usize) -> Result<Ranked>) -> Self {
        Self::Each(counts.iter().map(|&k| (k, rank(k))).collect())
    }

    /// The best `k` features; `k` is one of the requested numbers.
    pub fn select(&mut self, rows: &FoldRows, k: usize) -> Result<Selected> {
        match self {
            Self::Once(ranked) => ranked.first(rows, k),
            Self::Each(all) => {
                let at = all.iter().position(|(count, _)| *count == k).expect("k was requested");
                all.swap_remove(at).1?.first(rows, k)
            }
        }
    }
}

/// A ranking of columns, or of directions with the rows mapped to them.
pub(super) enum Ranked {
    Columns { order: Vec<usize>, converged: bool },
    Directions { train: Array2<f64>, test: Array2<f64>, order: Vec<usize> },
}

impl Ranked {
    /// This order.
    pub fn exact(order: Vec<usize>) -> Self {
        Self::Columns { order, converged: true }
    }

    fn columns(selector: &SelectorMethod, rows: &FoldRows, k: usize, ctx: &Context) -> Result<Self> {
        Ok(Self::of(selector.select(rows.for_selector(selector)?, FeatureCount::Count(k), ctx)?))
    }

    fn of(selection: Selection) -> Self {
        let converged = selection.outcome.stop.converged();
        Self::Columns { order: selection.order, converged }
    }

    fn directions(
        space: &KernelSpaceSelector,
        rows: &FoldRows,
        wanted: FeatureCount,
        ctx: &Context,
    ) -> Result<Self> {
        let fitted = space.fit(&rows.train, wanted, ctx)?;
        Ok(Self::Directions {
            train: fitted.transform(rows.train.x(), ctx)?,
            test: fitted.transform(&rows.test, ctx)?,
            order: fitted.selection().selected().to_vec(),
        })
    }

    /// The best `k`.
    fn first(&self, rows: &FoldRows, k: usize) -> Result<Selected> {
        let (Self::Columns { order, .. } | Self::Directions { order, .. }) = self;
        if k > order.len() {
            return Err(Error::param(
                "compare",
                "number of features",
                format!("at most {}, the number of directions in this fold's kernel space", order.len()),
                k,
            ));
        }
        let features = order[..k].to_vec();
        Ok(match self {
            Self::Columns { converged, .. } => Selected {
                train: rows.train.take_columns(&features),
                test: rows.test.take_columns(&rows.train.groups().expand(&features)),
                features,
                converged: *converged,
            },
            Self::Directions { train, test, .. } => Selected {
                train: Dataset::with_target(
                    train.slice(s![.., ..k]).to_owned(),
                    rows.train.target().clone(),
                )?
                .of_rows_of(&rows.train),
                test: test.slice(s![.., ..k]).to_owned().into(),
                features,
                converged: true,
            },
        })
    }
}

impl FoldRows {
    /// The columns in random order.
    fn shuffled(&self, ctx: &Context) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.train.d()).collect();
        Rng::stream(ctx.seed, &format!("random columns {}", self.split)).shuffle(&mut order);
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::select::Difference;

    #[test]
    fn parse_reads_parameters() {
        let relief = Candidate::parse("relief:n_neighbors=5,difference=squared").unwrap();
        assert_eq!(relief.label, "relief:n_neighbors=5,difference=squared");
        let Method::Columns(SelectorMethod::Relief(settings)) = relief.method else { panic!("relief") };
        assert_eq!((settings.n_neighbors, settings.difference), (5, Difference::Squared));
        let Method::Space(takes) = Candidate::parse("takes:weight_power=0").unwrap().method else {
            panic!("takes")
        };
        assert_eq!(takes.weight_power, 0.0);
    }

    #[test]
    fn parse_rejects_unknown_parameters() {
        let message = |text: &str| Candidate::parse(text).unwrap_err().to_string();
        assert!(
            message("relief:n_neighbor=5").contains("no parameter 'n_neighbor'; did you mean 'n_neighbors'?")
        );
        assert!(message("relief:method=fisher").contains("no parameter 'method'"));
        assert_eq!(
            message("relief:n_neighbors=few"),
            "relief: parameter 'n_neighbors' must be an integer, at least 1, got 'few'"
        );
        assert!(message("relief:squared").contains("write relief:NAME=VALUE"));
        assert_eq!(message("random:x=1"), "random has no parameters; leave out 'x'");
        assert_eq!(
            message("takes:weight_power=much"),
            "takes: parameter 'weight_power' must be a number, from 0 to 16, got 'much'"
        );
        assert!(message("relif").contains("did you mean 'relief'?"));
    }
}
