//! Sets of features on which the target depends jointly, as starts of searches.

use super::beyond::Pair;
use super::main_effects::feature_dependence;
use super::overall::overall_p_value;
use super::settings::{InteractionScreen, Interactions};
use super::target::target_columns;
use super::three_way::{ThreeWay, best_three_way, most_features};
use crate::context::Context;
use crate::data::Dataset;
use crate::error::{Error, Result};

/// At most this many sets.
const MAX_SETS: usize = 20;
/// Beyond this many features screens that are part of another method use two functions of each feature.
const MAX_FEATURES: usize = 2000;
/// Most products of a screen for starts: some minutes.
const MAX_PRODUCTS: f64 = 2e13;
/// Fewer rows say nothing about pairs.
pub(crate) const MIN_ROWS: usize = 20;

/// Significant pairs and sets of three features.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct JointSets {
    /// The screen of all pairs; `None` if it was not possible.
    pub pairs: Option<Interactions>,
    /// The best sets of three; empty if they were not screened.
    pub three_way: Vec<ThreeWay>,
    /// Significance level.
    alpha: f64,
}

impl JointSets {
    /// Screens all pairs, and all sets of three of the best features. A target that does not vary depends on none.
    pub fn find(data: &Dataset, ctx: &Context) -> Result<Self> {
        let n_functions = n_functions(data);
        let screen = InteractionScreen { n_functions, ..InteractionScreen::default() };
        let mut found = Self { alpha: screen.alpha, ..Self::default() };
        let Ok(target) = target_columns(data, "sets of features") else { return Ok(found) };
        if data.d() < 2 || data.n() < MIN_ROWS {
            return Ok(found);
        }
        found.pairs = if_possible(&screen, data, ctx)?;
        let most = most_features(data, target.len());
        let d = data.d() as f64;
        if data.d() < 3 || most < 3 {
            return Ok(found);
        }
        let features = found.most_promising(data, n_functions, most, ctx)?;
        let subset = data.take_columns(&features);
        let n_all = d * (d - 1.0) * (d - 2.0) / 6.0;
        let three_way = if_memory_suffices(best_three_way(&subset, n_all, ctx), ctx)?;
        let mut three_way = three_way.unwrap_or_default();
        three_way.iter_mut().for_each(|three| three.features = three.features.map(|at| features[at]));
        found.three_way = three_way;
        Ok(found)
    }

    /// At most `most` features in ascending order: those of the best pairs, and those on which the target depends most.
    fn most_promising(
        &self,
        data: &Dataset,
        n_functions: usize,
        most: usize,
        ctx: &Context,
    ) -> Result<Vec<usize>> {
        if data.d() <= most {
            return Ok((0..data.d()).collect());
        }
        let of_pairs =
            self.pairs.iter().flat_map(|found| &found.pairs).flat_map(|p| [p.features.0, p.features.1]);
        let mut features: Vec<usize> = vec![];
        for feature in of_pairs {
            if features.len() < most / 2 && !features.contains(&feature) {
                features.push(feature);
            }
        }
        let dependence = feature_dependence(data, n_functions, ctx)?;
        let mut order: Vec<usize> = (0..data.d()).filter(|f| !features.contains(f)).collect();
        order.sort_by(|&a, &b| dependence[a].ln_p_value.total_cmp(&dependence[b].ln_p_value));
        features.extend(order.into_iter().take(most - features.len()));
        features.sort_unstable();
        Ok(features)
    }

    /// The significant pairs and sets of three, the best of each kind first.
    pub fn sets(&self) -> Vec<Vec<usize>> {
        let pairs = self.significant_pairs().into_iter().map(|pair| vec![pair.features.0, pair.features.1]);
        let three_way = self.significant_three_way().into_iter().map(|three| three.features.to_vec());
        pairs.take(MAX_SETS).chain(three_way).collect()
    }

    /// The significant pairs, the best first.
    pub fn significant_pairs(&self) -> Vec<Pair> {
        self.pairs.as_ref().map_or(vec![], |found| found.pairs[..found.n_significant].to_vec())
    }

    /// The significant sets of three, the best first.
    pub fn significant_three_way(&self) -> Vec<ThreeWay> {
        self.three_way.iter().filter(|three| three.q_value <= self.alpha).copied().collect()
    }

    /// The smallest adjusted p-values of a pair and of a set of three.
    pub fn p_values(&self) -> [f64; 2] {
        let pair = self.pairs.as_ref().and_then(|found| found.pairs.first()).map_or(1.0, |pair| pair.q_value);
        [pair, self.three_way.first().map_or(1.0, |three| three.q_value)]
    }
}

/// The pairs of features with the strongest interaction, significant or not, the best first; none if there are too few rows, too
/// many features or too little memory.
pub(crate) fn leading_pairs(data: &Dataset, ctx: &Context) -> Result<Vec<(usize, usize)>> {
    if data.d() < 2 || data.n() < MIN_ROWS {
        return Ok(vec![]);
    }
    let screen = InteractionScreen { n_functions: n_functions(data), ..InteractionScreen::default() };
    let found = if_possible(&screen, data, ctx)?;
    Ok(found.map_or(vec![], |found| found.pairs.iter().map(|pair| pair.features).collect()))
}

/// The screen of all pairs, or a note that it would take too long or too much memory; nothing without a target that varies.
fn if_possible(screen: &InteractionScreen, data: &Dataset, ctx: &Context) -> Result<Option<Interactions>> {
    let functions = (screen.n_functions * data.d()) as f64;
    let Ok(target) = target_columns(data, "pairs of features") else { return Ok(None) };
    if data.n() as f64 * functions * functions * target.len() as f64 > MAX_PRODUCTS {
        ctx.note("pairs of features are not screened, for lack of time; kernsift interactions screens them");
        return Ok(None);
    }
    if_memory_suffices(screen.run(data, ctx), ctx)
}

/// Functions of each feature for screens that are part of another method.
fn n_functions(data: &Dataset) -> usize {
    if data.d() <= MAX_FEATURES { InteractionScreen::default().n_functions } else { 2 }
}

/// The result of a screen, or a note that there is too little memory for it.
fn if_memory_suffices<T>(found: Result<T>, ctx: &Context) -> Result<Option<T>> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(error @ Error::Memory { .. }) => {
            ctx.note(format!("a screen is left out: {error}"));
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// The p-value that the target depends on no feature, neither on a single one nor on the sum of all. With `jointly` also on no
/// pair and no set of three. Tests are made until one is significant at `alpha`; the p-value is adjusted for their number.
pub(crate) fn any_dependence(data: &Dataset, jointly: bool, alpha: f64, ctx: &Context) -> Result<f64> {
    let tests = if jointly { 4.0 } else { 2.0 };
    let mut p_value = tests * smallest(&feature_p_values(data, ctx)?);
    if p_value > alpha {
        p_value = p_value.min(tests * overall(data, ctx)?);
    }
    if jointly && p_value > alpha {
        let [pair, three] = JointSets::find(data, ctx)?.p_values();
        p_value = p_value.min(tests * pair.min(three));
    }
    Ok(p_value.min(1.0))
}

/// The p-value of the sum of the effects of all features; 1 if there is too little memory for the test.
pub(crate) fn overall(data: &Dataset, ctx: &Context) -> Result<f64> {
    Ok(if_memory_suffices(overall_p_value(data, ctx), ctx)?.unwrap_or(1.0))
}

/// The p-value of every single feature.
pub(crate) fn feature_p_values(data: &Dataset, ctx: &Context) -> Result<Vec<f64>> {
    let dependence = feature_dependence(data, n_functions(data), ctx)?;
    Ok(dependence.iter().map(|found| found.p_value).collect())
}

/// The smallest p-value, adjusted for the number of features.
pub(crate) fn smallest(p_values: &[f64]) -> f64 {
    let least = p_values.iter().copied().fold(1.0, f64::min);
    (least * p_values.len() as f64).min(1.0)
}

/// The sets of features on which the target depends jointly: significant pairs and sets of three.
pub(crate) fn jointly_relevant(data: &Dataset, ctx: &Context) -> Result<Vec<Vec<usize>>> {
    Ok(JointSets::find(data, ctx)?.sets())
}
