//! Near copies of features: where one is selected, another would do as well.

use crate::context::Context;
use crate::data::{Dataset, FeatureType};
use crate::error::{Error, Result};
use crate::interactions::{Columns, sum_of_squares};
use rayon::prelude::*;

const NAME: &str = "near copies";
/// Levels of a category that are compared, and selected features of which copies are reported, at most.
const MAX_LEVELS: usize = 32;
const MAX_SELECTED: usize = 100;
/// Features per thread between two checks for cancellation.
const FEATURES_PER_CHECK: usize = 64;

/// A feature that is similar to another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NearCopy {
    /// The feature.
    pub feature: usize,
    /// The similarity, from 0 to 1.
    pub similarity: f64,
}

/// The similarity of features that are reported as near copies.
pub const NEAR_COPY: f64 = 0.9;

/// The near copies of selected features (the first 100 of them), for reports: with too little memory there is a note, and none.
pub(super) fn copies_of_selected(
    data: &Dataset,
    selected: &[usize],
    ctx: &Context,
) -> Result<Vec<Vec<NearCopy>>> {
    match near_copies(data, &selected[..selected.len().min(MAX_SELECTED)], NEAR_COPY, ctx) {
        Err(error @ Error::Memory { .. }) => {
            ctx.note(format!("near copies are not listed: {error}"));
            Ok(vec![])
        }
        found => found,
    }
}

/// For each of some features its near copies: the others with at least this similarity, the most similar first.
///
/// The similarity of two numbers is the absolute correlation of $\cos(\pi u)$ of their ranks $u$, which is about that of the ranks
/// and does not change under monotone functions. For categories it is the root of the mean squared canonical correlation of
/// their indicators, 1 if they differ only in the names of levels. Cost: $O(n)$ per pair of a given and any other feature.
pub fn near_copies(
    data: &Dataset,
    features: &[usize],
    similarity: f64,
    ctx: &Context,
) -> Result<Vec<Vec<NearCopy>>> {
    if !(similarity > 0.0 && similarity <= 1.0) {
        return Err(Error::param(NAME, "similarity", "above 0 and at most 1", similarity));
    }
    if let Some(&unknown) = features.iter().find(|&&j| j >= data.d()) {
        return Err(Error::param(NAME, "features", format!("below {}", data.d()), unknown));
    }
    data.need_unencoded(NAME)?;
    if features.is_empty() {
        return Ok(vec![]);
    }
    let limit = |j: usize| match data.feature_type(j) {
        FeatureType::Category { levels } => levels.clamp(1, MAX_LEVELS),
        FeatureType::Number | FeatureType::Date(_) => 1,
    };
    let most = (0..data.d()).map(limit).max().unwrap_or(1);
    let (n, threads) = (data.n() as f64, rayon::current_num_threads());
    let kept = features.iter().map(|&j| limit(j)).sum::<usize>() + threads * (2 * most + 6);
    let bytes = Columns::bytes(data, most) + 8.0 * n * kept as f64;
    ctx.need_memory(NAME, bytes, "ask for fewer features")?;
    let columns = Columns::new(data, most);
    let functions = |j: usize| columns.all_functions(j, limit(j));
    let given: Vec<Vec<Vec<f64>>> = features.par_iter().map(|&j| functions(j)).collect();
    // Rounding makes the similarity of equal features a little less than 1.
    let least = similarity * (1.0 - 1e-12);
    let mut out = vec![vec![]; features.len()];
    let all: Vec<usize> = (0..data.d()).collect();
    for batch in all.chunks(FEATURES_PER_CHECK * threads) {
        ctx.step(NAME, batch[0], data.d())?;
        let of_feature = |&j: &usize| {
            let other = functions(j);
            let similar = |own: &Vec<Vec<f64>>| {
                let most = own.len().max(other.len()).max(1) as f64;
                (sum_of_squares(own, &other) / (n * n * most)).sqrt().min(1.0)
            };
            let found = given.iter().map(similar).enumerate();
            found.filter(|&(at, found)| found >= least && features[at] != j).collect::<Vec<(usize, f64)>>()
        };
        let copies: Vec<Vec<(usize, f64)>> = batch.par_iter().map(of_feature).collect();
        for (&feature, found) in batch.iter().zip(copies) {
            found.into_iter().for_each(|(at, similarity)| out[at].push(NearCopy { feature, similarity }));
        }
    }
    out.iter_mut().for_each(|copies| copies.sort_by(|a, b| b.similarity.total_cmp(&a.similarity)));
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Target;
    use crate::random::Rng;
    use ndarray::Array2;

    fn found(data: &Dataset, features: &[usize], similarity: f64) -> Vec<Vec<usize>> {
        let found = near_copies(data, features, similarity, &Context::default()).unwrap();
        found.iter().map(|copies| copies.iter().map(|copy| copy.feature).collect()).collect()
    }

    #[test]
    fn numbers_and_monotone_functions_of_them() {
        let mut rng = Rng::new(1);
        let mut x = Array2::from_shape_simple_fn((300, 6), || rng.normal());
        for mut row in x.rows_mut() {
            row[3] = (2.0 * row[0]).exp();
            row[4] = 0.2 * row[4] - row[0];
            row[5] += row[1];
        }
        let data = Dataset::unlabeled(x).unwrap();
        // Feature 5 has a correlation of 0.7 with feature 1.
        assert_eq!(found(&data, &[0, 1, 3], 0.9), [vec![3, 4], vec![], vec![0, 4]]);
        assert_eq!(found(&data, &[1], 0.5), [[5]]);
        let exact = near_copies(&data, &[0], 0.9, &Context::default()).unwrap()[0][0];
        assert!((exact.similarity - 1.0).abs() < 1e-12, "{exact:?}");
    }

    #[test]
    fn categories_with_other_names_of_levels() {
        let mut rng = Rng::new(2);
        let mut x = Array2::zeros((200, 4));
        for mut row in x.rows_mut() {
            row[0] = rng.below(4) as f64;
            row[1] = [2.0, 0.0, 3.0, 1.0][row[0] as usize];
            // Two levels in one.
            row[2] = (row[0] / 2.0).floor();
            row[3] = rng.normal();
        }
        let levels = |levels| FeatureType::Category { levels };
        let types = vec![levels(4), levels(4), levels(2), FeatureType::Number];
        let names = (0..4).map(|j| format!("x{j}")).collect();
        let data = Dataset::typed(names, x, types, Target::None).unwrap();
        assert_eq!(found(&data, &[0, 2], 0.9), [vec![1], vec![]]);
        // One of three canonical correlations is 1: the similarity is the root of 1/3.
        assert_eq!(found(&data, &[2], 0.57)[0].len(), 2);
        assert_eq!(found(&data, &[2], 0.58), [[0; 0]]);
    }

    #[test]
    fn rare_levels_count() {
        // Feature 1 has the level 0 of feature 0, and 20 rare levels in place of its level 1; features 2 and 3 are 1 in the same two
        // rows.
        let value = |(i, j): (usize, usize)| match (i % 2, j) {
            (0, 0 | 1) => 0.0,
            (_, 0) => 1.0,
            (_, 1) => (1 + i / 2) as f64,
            _ => f64::from(u8::from(i < 4 && i % 2 == 1)),
        };
        let levels = |levels| FeatureType::Category { levels };
        let types = vec![levels(2), levels(21), FeatureType::Number, FeatureType::Number];
        let names = (0..4).map(|j| format!("x{j}")).collect();
        let data = Dataset::typed(names, Array2::from_shape_fn((40, 4), value), types, Target::None).unwrap();
        // One of 20 canonical correlations is 1: the similarity is the root of 1/20, 0.22.
        assert_eq!(found(&data, &[0, 2], 0.25), [vec![], vec![3]]);
        assert!(found(&data, &[0], 0.22)[0].contains(&1));
        assert_eq!(found(&data, &[2], 1.0), [[3]]);
    }

    #[test]
    fn constant_features_have_no_copies_and_bad_parameters_are_errors() {
        let data = Dataset::unlabeled(Array2::ones((10, 2))).unwrap();
        assert_eq!(found(&data, &[0, 1], 0.1), [vec![0; 0], vec![]]);
        for (features, similarity) in [(vec![2], 0.9), (vec![0], 0.0), (vec![0], f64::NAN)] {
            assert!(near_copies(&data, &features, similarity, &Context::default()).is_err());
        }
    }
}
