//! Sets of features on which the target depends jointly, as starts of searches.

use super::beyond::Pair;
use super::main_effects::feature_dependence;
use super::settings::{InteractionScreen, Interactions};
use super::target::target_columns;
use super::three_way::{ThreeWay, best_three_way, most_features};
use crate::context::Context;
use crate::data::{Dataset, Target};
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
    /// Screens all pairs, and all sets of three of the best features.
    pub fn find(data: &Dataset, n_functions: usize, ctx: &Context) -> Result<Self> {
        let screen = InteractionScreen { n_functions, ..InteractionScreen::default() };
        let mut found = Self { alpha: screen.alpha, ..Self::default() };
        if data.d() < 2 || data.n() < MIN_ROWS {
            return Ok(found);
        }
        found.pairs = if_memory_suffices(screen.run(data, ctx), ctx)?;
        let n_columns = match data.target() {
            Target::Classes(classes) => classes.counts().len().saturating_sub(1),
            _ => 1,
        };
        let most = most_features(data, n_columns);
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
        self.three_way.iter().filter(|three| three.adjusted <= self.alpha).copied().collect()
    }

    /// The smallest adjusted p-values of a pair and of a set of three.
    pub fn p_values(&self) -> [f64; 2] {
        let pair =
            self.pairs.as_ref().and_then(|found| found.pairs.first()).map_or(1.0, |pair| pair.adjusted);
        [pair, self.three_way.first().map_or(1.0, |three| three.adjusted)]
    }
}

/// The pairs of features with the strongest interaction, significant or not, the best first; none if there are too few rows, too
/// many features or too little memory.
pub(crate) fn leading_pairs(data: &Dataset, ctx: &Context) -> Result<Vec<(usize, usize)>> {
    let screen = InteractionScreen { n_functions: n_functions(data), ..InteractionScreen::default() };
    let Ok(target) = target_columns(data, "pairs of features") else { return Ok(vec![]) };
    let functions = (screen.n_functions * data.d()) as f64;
    let products = data.n() as f64 * functions * functions * target.len() as f64;
    if data.d() < 2 || data.n() < MIN_ROWS || products > MAX_PRODUCTS {
        return Ok(vec![]);
    }
    let found = if_memory_suffices(screen.run(data, ctx), ctx)?;
    Ok(found.map_or(vec![], |found| found.pairs.iter().map(|pair| pair.features).collect()))
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

/// The p-value that the target depends on no feature: the smallest over features, adjusted for their number. With `jointly`
/// also on no pair and no set of three, which are not screened if a feature is significant at `alpha`.
pub(crate) fn any_dependence(data: &Dataset, jointly: bool, alpha: f64, ctx: &Context) -> Result<f64> {
    let n_functions = n_functions(data);
    let single = smallest_p_value(data, n_functions, ctx)?;
    if !jointly {
        return Ok(single);
    }
    if 3.0 * single <= alpha {
        return Ok(3.0 * single);
    }
    let [pair, three] = JointSets::find(data, n_functions, ctx)?.p_values();
    Ok((3.0 * single.min(pair).min(three)).min(1.0))
}

/// The smallest p-value of a single feature, adjusted for the number of features.
pub(crate) fn smallest_p_value(data: &Dataset, n_functions: usize, ctx: &Context) -> Result<f64> {
    let dependence = feature_dependence(data, n_functions, ctx)?;
    let least = dependence.iter().map(|found| found.p_value).fold(1.0, f64::min);
    Ok((least * data.d() as f64).min(1.0))
}

/// The sets of features on which the target depends jointly: significant pairs and sets of three.
pub(crate) fn jointly_relevant(data: &Dataset, ctx: &Context) -> Result<Vec<Vec<usize>>> {
    Ok(JointSets::find(data, InteractionScreen::default().n_functions, ctx)?.sets())
}
