//! Data sets with weights of rows.

use super::dataset::Dataset;
use super::table::Column;
use super::target::Target;
use super::types::{ColumnType, Decimal, of_type};
use super::weights::{RowWeights, Weights, check};
use crate::error::{Error, Result, shorten};
use std::borrow::Cow;
use std::sync::Arc;

/// The weights of these rows in a column of numbers; see [`Dataset::with_weights`]. Other rows may have any number or none.
/// `decimal` is the decimal separator of numbers in text, if it is known.
pub fn weights_of(column: &Column, rows: &[usize], decimal: Option<Decimal>) -> Result<Vec<f64>> {
    let weights = match column.numbers() {
        Some(numbers) => numbers.into_owned(),
        // With a decimal comma, or an error that names the first text.
        None => of_type(column, &ColumnType::Number, decimal)?.parsing.read(column)?.values.into_owned(),
    };
    check(rows.iter().map(|&row| (row, weights[row])), &shorten(&column.name))?;
    Ok(rows.iter().map(|&row| weights[row]).collect())
}

impl Dataset {
    /// The same data with a weight per row: finite numbers, 0 or more, and not all 0. An integer weight means that the row is there
    /// so many times. `name` is that of the weights, for errors.
    pub fn with_weights(mut self, weights: Vec<f64>, name: &str) -> Result<Self> {
        if weights.len() != self.n() {
            return Err(Error::Shape {
                what: format!("weights in '{name}'"),
                expected: format!("{}, one per row", self.n()),
                got: weights.len().to_string(),
            });
        }
        check(weights.iter().copied().enumerate(), name)?;
        self.weights.values = Some(weights.into());
        Ok(self)
    }

    /// The same data with classes that have the same total weight in every fit: the weights of class $c$ are multiplied by $n / (C
    /// n_c)$, with the sums $n$ of all weights and $n_c$ of those of the class, and the number $C$ of classes.
    pub fn with_balanced_classes(mut self) -> Result<Self> {
        self.classes("class weights")?;
        self.weights.balanced = true;
        Ok(self)
    }

    /// The weights of the rows, without those of classes.
    pub fn weights(&self) -> Weights<'_> {
        Weights::new(self.weights.values.as_deref())
    }

    /// Whether rows or classes have weights.
    pub fn is_weighted(&self) -> bool {
        self.weights.values.is_some() || self.weights.balanced
    }

    /// Whether a fit balances the classes.
    pub fn balances_classes(&self) -> bool {
        self.weights.balanced
    }

    /// Returns an error if there are weights, for a method that does not support them; `supported` are the names of others that do.
    pub(crate) fn need_unweighted(
        &self,
        method: &str,
        supported: impl FnOnce() -> Vec<&'static str>,
    ) -> Result<()> {
        match self.is_weighted() {
            true => Err(Error::WeightsUnsupported { method: method.into(), supported: supported() }),
            false => Ok(()),
        }
    }

    /// Returns an error if there are several target columns, for a method that does not support them.
    pub(crate) fn need_one_output(&self, method: &str) -> Result<()> {
        match self.target() {
            Target::Outputs(_) => Err(Error::OutputsUnsupported { method: method.into(), supported: vec![] }),
            _ => Ok(()),
        }
    }

    /// Whether weights are numbers of rows, at most this many.
    pub(crate) fn is_repeatable(&self, most: usize) -> bool {
        let weights = self.weights();
        let fits = weights.given().is_none() || weights.total(self.n()) <= most as f64;
        weights.are_counts() && !self.weights.balanced && fits
    }

    /// Each row as often as its weight says; `None` if a weight is not an integer, or if there would be more than `most` rows.
    pub(crate) fn repeated(&self, most: usize) -> Option<Self> {
        if !self.is_repeatable(most) {
            return None;
        }
        let weights = self.weights();
        let times = |row| std::iter::repeat_n(row, weights.of(row) as usize);
        let rows: Vec<usize> = (0..self.n()).flat_map(times).collect();
        let mut repeated = self.take_rows(&rows);
        repeated.weights = RowWeights::default();
        Some(repeated)
    }

    /// The data without weights: each row as often as its weight says, or once if [`Dataset::repeated`] is impossible.
    pub(crate) fn unweighted(&self, most: usize) -> Cow<'_, Self> {
        if !self.is_weighted() {
            return Cow::Borrowed(self);
        }
        Cow::Owned(self.repeated(most).unwrap_or_else(|| {
            let mut once = self.clone();
            once.weights = RowWeights::default();
            once
        }))
    }

    /// The rows of positive weight, without classes that have none, and their indices.
    pub fn of_positive_weight(&self) -> (Cow<'_, Self>, Vec<usize>) {
        let kept: Vec<usize> = (0..self.n()).filter(|&row| self.weights().of(row) > 0.0).collect();
        if kept.len() == self.n() {
            return (Cow::Borrowed(self), kept);
        }
        let mut rows = self.take_rows(&kept);
        if let Target::Classes(classes) = rows.target() {
            let present = Target::Classes(classes.present());
            rows.set_target(present).expect("a class per row");
        }
        (Cow::Owned(rows), kept)
    }

    /// The rows to fit to: those of positive weight, with weights that balance the classes if requested.
    pub fn for_fit(&self) -> Cow<'_, Self> {
        let weights = self.weights();
        let positive: Vec<usize> = (0..self.n()).filter(|&row| weights.of(row) > 0.0).collect();
        if !self.weights.balanced && positive.len() == self.n() {
            return Cow::Borrowed(self);
        }
        let mut rows = self.take_rows(&positive);
        if let (true, Target::Classes(classes)) = (self.weights.balanced, rows.target()) {
            let sums = classes.weighted_counts(rows.weights());
            let of_class = rows.weights().total(rows.n()) / classes.n_present() as f64;
            let balanced = |(row, &code): (usize, &usize)| rows.weights().of(row) * of_class / sums[code];
            let values: Arc<[f64]> = classes.codes.iter().enumerate().map(balanced).collect();
            rows.weights = RowWeights { values: Some(values), balanced: false };
        }
        Cow::Owned(rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Classes;
    use ndarray::array;

    fn data() -> Dataset {
        Dataset::labeled(array![[1.0], [2.0], [3.0], [4.0]], vec![0, 0, 0, 1]).unwrap()
    }

    #[test]
    fn weights_follow_their_rows() {
        let data = data().with_weights(vec![1.0, 2.0, 0.0, 0.5], "w").unwrap();
        assert_eq!(data.take_rows(&[3, 1]).weights().given(), Some(&[0.5, 2.0][..]));
        assert_eq!(data.take_columns(&[0]).weights().given(), data.weights().given());
        assert_eq!(data.with_x(array![[0.0], [0.0], [0.0], [0.0]]).unwrap().weights().total(4), 3.5);
        let fit = data.for_fit();
        assert_eq!((fit.n(), fit.weights().given()), (3, Some(&[1.0, 2.0, 0.5][..])));
    }

    #[test]
    fn rows_of_weight_zero_leave_with_their_classes() {
        let names = ["a", "b", "c"].map(String::from).to_vec();
        let target = Target::Classes(Classes { codes: vec![2, 0, 1, 0], names });
        let data = Dataset::with_target(array![[1.0], [2.0], [3.0], [4.0]], target).unwrap();
        let data = data.with_weights(vec![0.5, 1.0, 0.0, 0.0], "w").unwrap();
        let (rows, kept) = data.of_positive_weight();
        let expected = Classes { codes: vec![1, 0], names: vec!["a".into(), "c".into()] };
        assert_eq!((kept, rows.target()), (vec![0, 1], &Target::Classes(expected)));
        assert!(matches!(self::data().of_positive_weight().0, Cow::Borrowed(_)));
    }

    #[test]
    fn integer_weights_are_repeated_rows() {
        let repeated = |weights: Vec<f64>, most| data().with_weights(weights, "w").unwrap().repeated(most);
        let rows = repeated(vec![1.0, 2.0, 0.0, 3.0], 6).unwrap();
        assert_eq!((rows.x().column(0), rows.is_weighted()), (vec![1.0, 2.0, 2.0, 4.0, 4.0, 4.0], false));
        assert!(repeated(vec![1.0, 2.0, 0.0, 3.0], 5).is_none());
        assert!(repeated(vec![1.0, 0.5, 0.0, 3.0], 100).is_none());
    }

    #[test]
    fn balanced_classes_by_hand() {
        // Weights 1 + 2 and 0.5 of two classes: 3.5 / 2 for each.
        let data =
            data().with_weights(vec![1.0, 2.0, 0.0, 0.5], "w").unwrap().with_balanced_classes().unwrap();
        assert_eq!(data.weights().given(), Some(&[1.0, 2.0, 0.0, 0.5][..]), "until a fit");
        let fit = data.for_fit();
        let expected = [1.75 / 3.0, 3.5 / 3.0, 1.75];
        // Two roundings.
        assert!(fit.weights().given().unwrap().iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-15));
        assert!(!fit.balances_classes() && fit.is_weighted());
        let numbers = Dataset::with_target(array![[1.0], [2.0]], Target::Continuous(vec![1.0, 2.0])).unwrap();
        assert!(numbers.with_balanced_classes().is_err());
    }

    #[test]
    fn invalid_weights_are_named() {
        let error = |weights: Vec<f64>| data().with_weights(weights, "w").unwrap_err().to_string();
        assert_eq!(error(vec![1.0]), "weights in 'w': expected 4, one per row, got 1");
        assert!(
            error(vec![1.0, -2.0, 1.0, 1.0]).starts_with("the weight in 'w' is -2 in row 2; weights must")
        );
        assert!(error(vec![1.0, 1.0, f64::NAN, 1.0]).contains("is missing in row 3"));
        assert!(error(vec![f64::INFINITY, 1.0, 1.0, 1.0]).contains("is inf in row 1"));
        assert_eq!(error(vec![0.0; 4]), "the weights in 'w' are all 0; at least one must be positive");
        let text = Column::text("w", ["1", "b"].into_iter().map(Some));
        let expected = "row 2, column 'w': cannot parse 'b' as a number";
        assert_eq!(weights_of(&text, &[0], None).unwrap_err().to_string(), expected);
        let commas = Column::text("w", ["1,5", "2,25"].into_iter().map(Some));
        assert_eq!(weights_of(&commas, &[1, 0], None).unwrap(), [2.25, 1.5]);
        let column = Column::numeric("w", vec![0.0, f64::NAN, 1.0]);
        assert_eq!(weights_of(&column, &[0, 2], None).unwrap(), [0.0, 1.0]);
        let error = weights_of(&column, &[1, 2], None).unwrap_err().to_string();
        assert!(error.starts_with("the weight in 'w' is missing in row 2;"), "{error}");
    }
}
