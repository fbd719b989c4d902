//! The rows of two data sets with the same features, such as training and test rows.

use super::dataset::Dataset;
use super::rows::Rows;
use super::sparse::SparseRows;
use super::target::{Classes, Target};
use crate::error::{Error, Result};
use ndarray::{Axis, concatenate};

/// The rows of `first`, then those of `second`, which has the same features. Classes are matched by their names; those that
/// `first` does not have come last. If one has weights, rows of the other without them have weight 1. Rows of `second` without
/// groups or times are groups by themselves, and later than all others.
pub fn stack(first: &Dataset, second: &Dataset) -> Result<Dataset> {
    let differ = |what: &str| Error::Shape {
        what: what.into(),
        expected: "the same in both data sets".into(),
        got: "others".into(),
    };
    if first.names() != second.names() {
        return Err(differ("features"));
    }
    let types = |data: &Dataset| (0..data.d()).map(|j| data.feature_type(j)).collect::<Vec<_>>();
    if types(first) != types(second) {
        return Err(differ("types of features"));
    }
    let target = match (first.target(), second.target()) {
        (Target::None, Target::None) => Target::None,
        (Target::Continuous(a), Target::Continuous(b)) => Target::Continuous([a.as_slice(), b].concat()),
        (Target::Classes(a), Target::Classes(b)) => Target::Classes(classes(a, b)),
        _ => return Err(differ("types of targets")),
    };
    let names = first.names().to_vec();
    let both = match (first.x(), second.x()) {
        (Rows::Sparse(a), Rows::Sparse(b)) => Dataset::with_missing(names, sparse(a, b)?, target)?,
        (a, b) => {
            let (a, b) = (a.to_dense(), b.to_dense());
            let x = concatenate(Axis(0), &[a.view(), b.view()]).map_err(|_| differ("features"))?;
            Dataset::typed(names, x, types(first), target)?
        }
    };
    let split_rule = first
        .split_rule()
        .followed_by(second.split_rule(), second.n())
        .ok_or_else(|| differ("split rules"))?;
    let level_names = (0..first.d()).map(|j| first.level_names(j).map(Into::into)).collect();
    let mut both = both.with_level_names(level_names)?.with_split_rule(split_rule)?;
    both.weights = first.weights.followed_by(&second.weights, first.n(), second.n());
    Ok(both)
}

fn classes(first: &Classes, second: &Classes) -> Classes {
    let mut names = first.names.clone();
    let code = |name: &String| {
        names.iter().position(|known| known == name).unwrap_or_else(|| {
            names.push(name.clone());
            names.len() - 1
        })
    };
    let code_of: Vec<usize> = second.names.iter().map(code).collect();
    let codes = first.codes.iter().copied().chain(second.codes.iter().map(|&c| code_of[c])).collect();
    Classes { codes, names }
}

fn sparse(first: &SparseRows, second: &SparseRows) -> Result<SparseRows> {
    let (mut start, mut columns, mut values) = (vec![0], vec![], vec![]);
    for rows in [first, second] {
        for i in 0..rows.n_rows() {
            let (column, value) = rows.row(i);
            columns.extend_from_slice(column);
            values.extend_from_slice(value);
            start.push(columns.len());
        }
    }
    SparseRows::new(first.n_columns(), start, columns, values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{FeatureType, Fold, SplitRule};
    use ndarray::{Array2, array};

    fn named(names: &[&str], codes: &[usize]) -> Target {
        let names = names.iter().map(|&name| name.to_owned()).collect();
        Target::Classes(Classes { codes: codes.to_vec(), names })
    }

    fn typed(x: Array2<f64>, target: Target) -> Dataset {
        let types = vec![FeatureType::Number, FeatureType::Category { levels: 2 }];
        Dataset::typed(vec!["a".into(), "b".into()], x, types, target).unwrap()
    }

    #[test]
    fn rows_and_classes_by_hand() {
        let first = typed(array![[1.0, 0.0], [2.0, 1.0]], named(&["no", "yes"], &[1, 0]));
        // Missing values and another category in the second only.
        let second = typed(array![[f64::NAN, 2.0], [4.0, f64::NAN]], named(&["maybe", "yes"], &[0, 1]));
        let both = stack(&first, &second).unwrap();
        assert_eq!((both.n(), both.d(), both.has_missing(), both.x().get(2, 1)), (4, 2, true, 2.0));
        assert_eq!(*both.target(), named(&["no", "yes", "maybe"], &[1, 0, 2, 1]));
        let numbers = Dataset::unlabeled(array![[1.0, 2.0]]).unwrap();
        assert!(stack(&first, &numbers).is_err());
        assert!(stack(&first, &typed(array![[1.0, 0.0]], Target::Continuous(vec![1.0]))).is_err());
    }

    #[test]
    fn split_rules_of_both() {
        let data = |rule: SplitRule| {
            let x = array![[0.0], [1.0]];
            Dataset::unlabeled(x).unwrap().with_split_rule(rule).unwrap()
        };
        let of = |first: SplitRule, second: SplitRule| {
            stack(&data(first), &data(second)).map(|both| both.split_rule().clone())
        };
        let groups = || SplitRule::Groups(vec![5, 3]);
        let times = || SplitRule::Time(vec![2.0, 1.0]);
        let given = || SplitRule::Given(vec![Fold { train: vec![0], test: vec![1] }]);
        assert_eq!(of(groups(), SplitRule::Independent).unwrap(), SplitRule::Groups(vec![5, 3, 6, 7]));
        // Groups of different tables have nothing in common.
        assert_eq!(of(groups(), groups()).unwrap(), SplitRule::Groups(vec![5, 3, 11, 9]));
        assert_eq!(of(times(), times()).unwrap(), SplitRule::Time(vec![2.0, 1.0, 2.0, 1.0]));
        let SplitRule::Time(found) = of(times(), SplitRule::Independent).unwrap() else { panic!("no times") };
        assert!(found[..2] == [2.0, 1.0] && found[2] > 2.0 && found[2] == found[3] && found[3].is_finite());
        assert_eq!(of(given(), SplitRule::Independent).unwrap(), given());
        assert!(of(SplitRule::Independent, groups()).unwrap_err().to_string().contains("split rules"));
        assert!(of(times(), groups()).is_err());
    }

    #[test]
    fn sparse_rows_stay_sparse() {
        let x = array![[0.0, 3.0], [0.0, 0.0]];
        let data = |target| Dataset::with_target(SparseRows::of(&x), Target::Continuous(target)).unwrap();
        let both = stack(&data(vec![1.0, 2.0]), &data(vec![3.0, 4.0])).unwrap();
        assert!(both.x().is_sparse());
        assert_eq!(both.x().to_dense(), array![[0.0, 3.0], [0.0, 0.0], [0.0, 3.0], [0.0, 0.0]]);
        assert_eq!(*both.target(), Target::Continuous(vec![1.0, 2.0, 3.0, 4.0]));
    }
}
