//! The input of every method: features, their names and a target.

use super::features::{FeatureType, Groups, check_types};
use super::rows::Rows;
use super::split_rule::SplitRule;
use super::table::check_names;
use super::target::{Classes, Target, check_target};
use super::weights::RowWeights;
use crate::error::{Error, Result};
use ndarray::{Array2, Axis};
use std::sync::Arc;

/// Features, their names and the target.
///
/// Usually a column of [`Dataset::x`] is a feature and holds numbers. Typed data ([`Dataset::typed`]) also has categories, as
/// codes. An [`Encoder`](super::Encoder) turns typed data into encoded data, where a feature has several columns: see
/// [`Dataset::groups`].
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    names: Vec<String>,
    x: Rows,
    target: Target,
    /// Whether a cell is NaN.
    has_missing: bool,
    columns: Columns,
    /// Names of the levels of categories, if they are known; empty or one entry per feature.
    level_names: Vec<LevelNames>,
    split_rule: SplitRule,
    pub(super) weights: RowWeights,
}

/// Names of the levels of a category; `None` for a number, or if they are not known.
type LevelNames = Option<Arc<[String]>>;

/// What the columns hold.
#[derive(Debug, Clone, PartialEq)]
enum Columns {
    /// A number per feature.
    Numbers,
    /// A number, category or date with periods per feature; at least one is not a number.
    Typed(Vec<FeatureType>),
    /// Numbers that encode features; at least one feature has several columns.
    Encoded(Groups),
}

impl Dataset {
    /// Checks names and sizes, and that all values are finite.
    pub fn new(names: Vec<String>, x: impl Into<Rows>, target: Target) -> Result<Self> {
        let x = x.into();
        let bad = x.first_not_finite();
        Self::checked(names, x, target, bad, Columns::Numbers)
    }

    /// Like [`Dataset::new`], but values may be missing (NaN). Only some methods support such data.
    pub fn with_missing(names: Vec<String>, x: impl Into<Rows>, target: Target) -> Result<Self> {
        let x = x.into();
        let bad = x.first(f64::is_infinite);
        Self::checked(names, x, target, bad, Columns::Numbers)
    }

    /// Features with types; values may be missing (NaN). Categories are stored as codes, see [`FeatureType::Category`].
    pub fn typed(
        names: Vec<String>,
        x: Array2<f64>,
        types: Vec<FeatureType>,
        target: Target,
    ) -> Result<Self> {
        if types.iter().all(|kind| *kind == FeatureType::Number) && types.len() == names.len() {
            return Self::with_missing(names, x, target);
        }
        if names.len() == x.ncols() {
            check_types(&types, &names, x.view())?;
        }
        let x = Rows::from(x);
        let bad = x.first(f64::is_infinite);
        Self::checked(names, x, target, bad, Columns::Typed(types))
    }

    /// Encoded features: feature `j` has the columns `groups.columns(j)` of `x`, at least one.
    pub fn encoded(names: Vec<String>, x: Array2<f64>, groups: Groups, target: Target) -> Result<Self> {
        if groups.is_single() {
            return Self::new(names, x, target);
        }
        let shape = |expected: usize, got: usize| Error::Shape {
            what: "encoded columns".into(),
            expected: expected.to_string(),
            got: got.to_string(),
        };
        if groups.n_columns() != x.ncols() {
            return Err(shape(groups.n_columns(), x.ncols()));
        }
        if groups.iter().any(|columns| columns.is_empty()) {
            return Err(shape(1, 0));
        }
        let x = Rows::from(x);
        let bad = x.first_not_finite();
        Self::checked(names, x, target, bad, Columns::Encoded(groups))
    }

    /// Checks names, sizes and target; `bad` is the first cell with an invalid value.
    fn checked(
        names: Vec<String>,
        x: Rows,
        target: Target,
        bad: Option<(usize, usize, f64)>,
        columns: Columns,
    ) -> Result<Self> {
        let n_features = match &columns {
            Columns::Encoded(groups) => groups.n_features(),
            _ => x.d(),
        };
        if names.len() != n_features {
            return Err(Error::Shape {
                what: "column names".into(),
                expected: n_features.to_string(),
                got: names.len().to_string(),
            });
        }
        check_names(names.iter().map(String::as_str))?;
        if x.d() == 0 {
            return Err(Error::NoFeatures);
        }
        if let Some((i, j, value)) = bad {
            let feature = match &columns {
                Columns::Encoded(groups) => groups.feature_of_columns()[j],
                _ => j,
            };
            return Err(Error::NonFinite { row: i + 1, column: names[feature].clone(), value });
        }
        check_target(&target, x.n())?;
        let has_missing = x.first_missing().is_some();
        let (level_names, split_rule, weights) = Default::default();
        Ok(Self { names, x, target, has_missing, columns, level_names, split_rule, weights })
    }

    /// Features named x1, x2, ..., without a target.
    pub fn unlabeled(x: impl Into<Rows>) -> Result<Self> {
        Self::with_target(x, Target::None)
    }

    /// Features named x1, x2, ..., with a target.
    pub fn with_target(x: impl Into<Rows>, target: Target) -> Result<Self> {
        let x = x.into();
        let names = (1..=x.d()).map(|j| format!("x{j}")).collect();
        Self::new(names, x, target)
    }

    /// Features named x1, x2, ..., with class codes.
    pub fn labeled(x: Array2<f64>, codes: Vec<usize>) -> Result<Self> {
        Self::with_target(x, Target::Classes(Classes::from_codes(codes)))
    }

    /// Number of samples.
    pub fn n(&self) -> usize {
        self.x.n()
    }

    /// Number of features.
    pub fn d(&self) -> usize {
        self.names.len()
    }

    /// The type of a feature.
    pub fn feature_type(&self, feature: usize) -> FeatureType {
        match &self.columns {
            Columns::Typed(types) => types[feature],
            _ => FeatureType::Number,
        }
    }

    /// Replaces the target.
    pub fn set_target(&mut self, target: Target) -> Result<()> {
        check_target(&target, self.n())?;
        self.target = target;
        Ok(())
    }

    /// The same data with what every split of its rows has to respect.
    pub fn with_split_rule(self, split_rule: SplitRule) -> Result<Self> {
        split_rule.check(self.n())?;
        Ok(Self { split_rule, ..self })
    }

    /// The same data with the split rule and the weights of other data with these rows.
    pub(crate) fn of_rows_of(self, other: &Self) -> Self {
        Self { split_rule: other.split_rule.clone(), weights: other.weights.clone(), ..self }
    }

    /// What every split of the rows has to respect.
    pub fn split_rule(&self) -> &SplitRule {
        &self.split_rule
    }

    /// The same data with names of the levels of categories, one entry per feature.
    pub fn with_level_names(self, level_names: Vec<LevelNames>) -> Result<Self> {
        if level_names.len() != self.d() {
            return Err(Error::Shape {
                what: "names of levels".into(),
                expected: self.d().to_string(),
                got: level_names.len().to_string(),
            });
        }
        for (j, names) in level_names.iter().enumerate() {
            let expected = match self.feature_type(j) {
                FeatureType::Category { levels } => levels,
                FeatureType::Number | FeatureType::Date(_) => 0,
            };
            if let Some(names) = names.as_ref().filter(|names| names.len() != expected) {
                return Err(Error::Shape {
                    what: format!("names of levels of '{}'", self.names[j]),
                    expected: expected.to_string(),
                    got: names.len().to_string(),
                });
            }
        }
        Ok(Self { level_names, ..self })
    }

    /// The names of the levels of a category, if they are known.
    pub fn level_names(&self, feature: usize) -> Option<&[String]> {
        self.level_names.get(feature)?.as_deref()
    }

    /// Whether there are categories, stored as codes.
    pub fn has_categories(&self) -> bool {
        matches!(&self.columns, Columns::Typed(types) if types.iter().any(|kind| kind.is_category()))
    }

    /// Whether there are categories or dates with periods, which become several columns.
    pub fn is_typed(&self) -> bool {
        matches!(self.columns, Columns::Typed(_))
    }

    /// The columns of each feature.
    pub fn groups(&self) -> Groups {
        match &self.columns {
            Columns::Encoded(groups) => groups.clone(),
            _ => Groups::single(self.d()),
        }
    }

    /// Returns an error if a feature is not a single number, for a method that does not support that.
    pub fn need_numbers(&self, method: &str) -> Result<()> {
        let feature = match &self.columns {
            Columns::Numbers => None,
            Columns::Typed(types) => types.iter().position(|kind| kind.is_category()),
            Columns::Encoded(groups) => groups.iter().position(|columns| columns.len() > 1),
        };
        match feature {
            None => Ok(()),
            Some(j) => {
                Err(Error::CategoryUnsupported { method: method.into(), column: self.names[j].clone() })
            }
        }
    }

    /// Returns an error if a feature has several columns, for a method that uses features before encoding.
    pub(crate) fn need_unencoded(&self, method: &str) -> Result<()> {
        match &self.columns {
            Columns::Encoded(groups) => Err(Error::Shape {
                what: format!("columns for {method}, which encodes features itself"),
                expected: format!("{}, one per feature", groups.n_features()),
                got: groups.n_columns().to_string(),
            }),
            _ => Ok(()),
        }
    }

    /// The features.
    pub fn x(&self) -> &Rows {
        &self.x
    }

    /// The features, without a copy.
    pub fn into_x(self) -> Rows {
        self.x
    }

    /// The feature names.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The target.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// The classes, of which `method` needs at least two.
    pub fn classes(&self, method: &'static str) -> Result<&Classes> {
        let classes = match &self.target {
            Target::Classes(classes) => classes,
            Target::None => return Err(Error::NeedsClasses { method, found: "there is no target" }),
            Target::Continuous(_) | Target::Outputs(_) => {
                return Err(Error::NeedsClasses { method, found: "the target is continuous" });
            }
        };
        if classes.n_present() < 2 {
            let class = classes.codes.first().map_or(String::new(), |&c| classes.names[c].clone());
            return Err(Error::OneClass { method, class });
        }
        Ok(classes)
    }

    /// Returns an error if there are fewer samples than `method` needs.
    pub fn need_rows(&self, method: &'static str, need: usize) -> Result<()> {
        if self.n() < need { Err(Error::TooFewRows { method, need, got: self.n() }) } else { Ok(()) }
    }

    /// Whether any value is missing (NaN).
    pub fn has_missing(&self) -> bool {
        self.has_missing
    }

    /// Returns an error if a value is missing or a category is a code, for a method that does not support typed data.
    pub fn need_complete(&self, method: &str) -> Result<()> {
        if self.has_categories() {
            return self.need_numbers(method);
        }
        if !self.has_missing {
            return Ok(());
        }
        self.x.need_complete(method, |j| self.names[j].clone())
    }

    /// The same names, types and target with other values, such as scaled ones. New missing values are an error.
    pub fn with_x(&self, x: impl Into<Rows>) -> Result<Self> {
        let x = x.into();
        if x.d() != self.x.d() {
            return Err(Error::Shape {
                what: "columns".into(),
                expected: self.x.d().to_string(),
                got: x.d().to_string(),
            });
        }
        let bad = if self.has_missing { x.first(f64::is_infinite) } else { x.first_not_finite() };
        let data = Self::checked(self.names.clone(), x, self.target.clone(), bad, self.columns.clone())?;
        Ok(Self { level_names: self.level_names.clone(), ..data.of_rows_of(self) })
    }

    /// These rows, in this order. Class codes stay the same, even if classes become empty.
    pub fn take_rows(&self, keep: &[usize]) -> Self {
        let data = self.subset(
            self.names.clone(),
            self.x.take_rows(keep),
            self.target_of(keep),
            self.columns.clone(),
        );
        let split_rule = self.split_rule.take_rows(keep);
        let weights = self.weights.take_rows(keep);
        Self { level_names: self.level_names.clone(), split_rule, weights, ..data }
    }

    /// The target of these rows, in this order.
    pub fn target_of(&self, rows: &[usize]) -> Target {
        match &self.target {
            Target::None => Target::None,
            Target::Classes(classes) => Target::Classes(Classes {
                codes: rows.iter().map(|&i| classes.codes[i]).collect(),
                names: classes.names.clone(),
            }),
            Target::Continuous(values) => Target::Continuous(rows.iter().map(|&i| values[i]).collect()),
            Target::Outputs(y) => Target::Outputs(y.select(Axis(0), rows)),
        }
    }

    /// These features, in this order.
    pub fn take_columns(&self, keep: &[usize]) -> Self {
        let names = keep.iter().map(|&j| self.names[j].clone()).collect();
        let (x, columns) = match &self.columns {
            Columns::Numbers => (self.x.take_columns(keep), Columns::Numbers),
            Columns::Typed(types) => {
                let types: Vec<FeatureType> = keep.iter().map(|&j| types[j]).collect();
                let numbers = types.iter().all(|kind| *kind == FeatureType::Number);
                (self.x.take_columns(keep), if numbers { Columns::Numbers } else { Columns::Typed(types) })
            }
            Columns::Encoded(groups) => {
                let kept = groups.take(keep);
                let columns = if kept.is_single() { Columns::Numbers } else { Columns::Encoded(kept) };
                (self.x.take_columns(&groups.expand(keep)), columns)
            }
        };
        let data = self.subset(names, x, self.target.clone(), columns);
        let level_names = match self.level_names.as_slice() {
            [] => vec![],
            known => keep.iter().map(|&j| known[j].clone()).collect(),
        };
        Self { level_names, ..data.of_rows_of(self) }
    }

    /// A subset of checked data, which may have no missing values any more.
    fn subset(&self, names: Vec<String>, x: Rows, target: Target, columns: Columns) -> Self {
        let has_missing = self.has_missing && x.first_missing().is_some();
        let (level_names, split_rule, weights) = Default::default();
        Self { names, x, target, has_missing, columns, level_names, split_rule, weights }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn non_finite_values_are_located() {
        let error = Dataset::unlabeled(array![[1.0, 2.0], [3.0, f64::INFINITY]]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "row 2, column 'x2': inf is not a finite number. Correct the value or remove the row."
        );
    }

    #[test]
    fn classes_are_checked() {
        let x = array![[1.0], [2.0]];
        let none = Dataset::unlabeled(x.clone()).unwrap();
        assert!(none.classes("m").unwrap_err().to_string().contains("there is no target"));
        let number = Dataset::with_target(x.clone(), Target::Continuous(vec![1.5, 2.5])).unwrap();
        assert!(number.classes("m").unwrap_err().to_string().contains("the target is continuous"));
        let one = Dataset::labeled(x.clone(), vec![1, 1]).unwrap();
        assert!(one.classes("m").unwrap_err().to_string().contains("all rows have the class '1'"));
        assert_eq!(Dataset::labeled(x, vec![0, 1]).unwrap().classes("m").unwrap().counts(), [1, 1]);
    }

    #[test]
    fn sizes_must_agree() {
        let error = Dataset::labeled(array![[1.0], [2.0]], vec![0]).unwrap_err();
        assert_eq!(error.to_string(), "target: expected 2 rows, got 1");
        assert!(Dataset::new(vec![], array![[1.0]], Target::None).is_err());
        assert!(matches!(Dataset::unlabeled(Array2::zeros((3, 0))), Err(Error::NoFeatures)));
    }

    #[test]
    fn missing_values_need_with_missing() {
        let x = array![[1.0, 2.0], [f64::NAN, 4.0], [5.0, 6.0]];
        assert!(
            Dataset::unlabeled(x.clone()).unwrap_err().to_string().starts_with("row 2, column 'x1': NaN")
        );
        let names = || vec!["a".to_string(), "b".to_string()];
        let data = Dataset::with_missing(names(), x.clone(), Target::None).unwrap();
        assert!(data.has_missing());
        assert_eq!(
            data.need_complete("KOBL").unwrap_err().to_string(),
            "row 2, column 'a': missing value, and KOBL does not support missing values"
        );
        // Subsets may have no missing values.
        assert!(data.take_rows(&[1]).has_missing() && !data.take_rows(&[0, 2]).has_missing());
        assert!(!data.take_columns(&[1]).has_missing() && data.take_columns(&[1, 0]).has_missing());
        assert!(data.with_x(&x * 2.0).unwrap().has_missing());
        assert!(!data.with_x(Array2::ones((3, 2))).unwrap().has_missing());
        let complete = Dataset::with_missing(names(), Array2::ones((3, 2)), Target::None).unwrap();
        assert!(
            !complete.has_missing() && complete.need_complete("m").is_ok() && complete.with_x(x).is_err()
        );
        let infinite = Dataset::with_missing(names(), array![[1.0, f64::INFINITY]], Target::None);
        assert!(infinite.unwrap_err().to_string().contains("inf is not a finite number"));
    }

    #[test]
    fn typed_and_encoded_features() {
        let names = || vec!["color".to_string(), "size".to_string()];
        let category = FeatureType::Category { levels: 3 };
        let types = vec![category, FeatureType::Number];
        let typed =
            Dataset::typed(names(), array![[2.0, 0.5], [f64::NAN, 1.5]], types, Target::None).unwrap();
        assert!(typed.has_categories() && typed.has_missing() && typed.groups().is_single());
        assert_eq!((typed.feature_type(0), typed.feature_type(1)), (category, FeatureType::Number));
        assert_eq!(
            typed.need_numbers("KOBL").unwrap_err().to_string(),
            "column 'color' holds categories, and KOBL supports numbers only"
        );
        let colors: Arc<[String]> = ["red", "green", "blue"].map(String::from).into();
        let typed = typed.with_level_names(vec![Some(colors.clone()), None]).unwrap();
        assert_eq!(
            typed.need_complete("KOBL").unwrap_err().to_string(),
            typed.need_numbers("KOBL").unwrap_err().to_string()
        );
        let swapped = typed.take_columns(&[1, 0]);
        assert_eq!((swapped.feature_type(1), swapped.level_names(1)), (category, Some(&*colors)));
        assert_eq!((typed.take_rows(&[1]).level_names(0), typed.level_names(1)), (Some(&*colors), None));
        assert!(typed.clone().with_level_names(vec![None, Some(colors.clone())]).is_err());
        assert!(typed.clone().with_level_names(vec![Some(colors)]).is_err());
        assert!(typed.take_columns(&[1]).need_numbers("m").is_ok() && typed.take_rows(&[0]).has_categories());

        let x = array![[1.0, 0.0, 0.0, 0.5], [0.0, 1.0, 0.0, 1.5]];
        let groups = Groups::of_sizes([3, 1]);
        let encoded = Dataset::encoded(names(), x.clone(), groups.clone(), Target::None).unwrap();
        assert_eq!((encoded.d(), encoded.x().d()), (2, 4));
        let swapped = encoded.take_columns(&[1, 0]);
        assert_eq!(swapped.groups(), Groups::of_sizes([1, 3]));
        assert_eq!(swapped.x().to_dense(), array![[0.5, 1.0, 0.0, 0.0], [1.5, 0.0, 1.0, 0.0]]);
        assert!(encoded.take_columns(&[1]).need_numbers("m").is_ok() && encoded.need_numbers("m").is_err());
        assert_eq!(encoded.with_x(&x * 2.0).unwrap().groups(), groups);
        assert!(encoded.with_x(array![[1.0], [2.0]]).is_err());
        assert!(encoded.need_complete("m").is_ok() && typed.need_unencoded("m").is_ok());
        assert_eq!(
            encoded.need_unencoded("ReliefF").unwrap_err().to_string(),
            "columns for ReliefF, which encodes features itself: expected 2, one per feature, got 4"
        );
        let mut infinite = x;
        infinite[[1, 3]] = f64::INFINITY;
        let error = Dataset::encoded(names(), infinite, groups, Target::None).unwrap_err().to_string();
        assert!(error.starts_with("row 2, column 'size'"), "{error}");
    }

    #[test]
    fn subsets_keep_names_and_target() {
        let data = Dataset::labeled(array![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], vec![0, 1, 1]).unwrap();
        let subset = data.take_rows(&[2, 0]).take_columns(&[1]);
        assert_eq!(subset.names(), ["x2"]);
        assert_eq!(subset.x().to_dense(), array![[6.0], [2.0]]);
        assert_eq!(subset.classes("m").unwrap().codes, [1, 0]);
    }
}
