//! Columns with another use than that of a feature: further targets, groups, times, weights and ids.

use super::options::{Prepare, TargetType};
use super::patterns::Choice;
use super::target::{Reading, read};
use crate::data::table::{Column, Table};
use crate::data::target::Target;
use crate::error::{Error, Result};
use ndarray::{Array2, ArrayView1};

impl Prepare {
    /// Marks the columns that are no features.
    pub(super) fn reserve(&self, table: &Table, choices: &mut [Choice], problems: &mut Vec<Error>) {
        for name in self.other_targets.iter().chain(&self.reserved) {
            problems.extend(table.column(name).err());
            let named = choices.iter_mut().zip(table.names()).filter(|(_, other)| other == name);
            named.for_each(|(choice, _)| choice.reserved = true);
        }
        if !self.other_targets.is_empty() && self.target_type == TargetType::Classes {
            problems.push(Error::parse("several target columns must be numbers"));
        }
    }

    /// The further target columns and their places.
    pub(super) fn other_targets<'a>(&self, columns: &'a [Column]) -> Vec<(usize, &'a Column)> {
        let find = |name: &String| columns.iter().enumerate().find(|(_, column)| column.name == *name);
        self.other_targets.iter().filter_map(find).collect()
    }

    /// Drops rows without a number in one of these columns.
    pub(super) fn keep_rows_with(
        &self,
        others: &[(usize, &Column)],
        choices: &[Choice],
        rows: &mut Vec<usize>,
        problems: &mut Vec<Error>,
    ) {
        for &(at, column) in others {
            let present = self.rows_with_target(Some(column), choices[at].kind, column.len(), problems);
            rows.retain(|row| present.binary_search(row).is_ok());
        }
        if rows.is_empty() && !others.is_empty() && problems.is_empty() {
            problems.push(Error::parse("every row has a missing value in one of the target columns"));
        }
    }
}

impl Reading<'_> {
    /// A continuous target, and further columns of numbers if there are any.
    pub(super) fn with_others(&self, first: Target, others: &[&Column], rows: &[usize]) -> Result<Target> {
        if others.is_empty() {
            return Ok(first);
        }
        let others = others.iter().map(|column| read(column, self.parsing(column, rows)?.as_ref(), rows));
        let mut values = Array2::zeros((rows.len(), 1 + others.len()));
        for (mut column, target) in
            values.columns_mut().into_iter().zip([Ok(first)].into_iter().chain(others))
        {
            let Target::Continuous(numbers) = target? else { unreachable!("they are read as numbers") };
            column.assign(&ArrayView1::from(&numbers));
        }
        Ok(Target::Outputs(values))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Prepared;
    use super::*;
    use crate::data::{ColumnOptions, Decimal, Missing, TargetChoice};

    fn prepare() -> Prepare {
        let target = TargetChoice::Named("a".into());
        Prepare { target, other_targets: vec!["b".into()], ..Prepare::default() }
    }

    fn fit(prepare: &Prepare, b: Column) -> Result<Prepared> {
        let x = Column::numeric("x", (0..6).map(|v| f64::from(v * v)).collect());
        let a = Column::numeric("a", vec![0.5, f64::NAN, 2.5, 3.5, 4.5, 5.5]);
        let w = Column::numeric("w", vec![2.0, 1.0, 4.0, 3.0, 6.0, 5.0]);
        prepare.fit(&Table::Columns(vec![b, w, x, a]))
    }

    fn numbers(values: [f64; 6]) -> Column {
        Column::numeric("b", values.to_vec())
    }

    #[test]
    fn rows_with_all_targets_are_kept() {
        let reserved = vec!["w".into()];
        let found =
            fit(&Prepare { reserved, ..prepare() }, numbers([1.0, 2.0, 3.0, f64::NAN, f64::INFINITY, 6.0]))
                .unwrap();
        let expected = ndarray::array![[0.5, 1.0], [2.5, 3.0], [5.5, 6.0]];
        assert_eq!(*found.data.target(), Target::Outputs(expected));
        assert_eq!((found.rows, found.data.x().column(0)), (vec![0, 2, 5], vec![0.0, 4.0, 25.0]));
        assert_eq!(found.data.names(), ["x"]);
        assert_eq!(found.recipe.targets().collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(found.notes, ["dropped 3 of 6 rows with missing targets"]);
        let described: Vec<&str> = found.account.columns.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(described, ["b", "x", "a"], "the weights are not described");
        let json = serde_json::to_string(&found.recipe).unwrap();
        assert_eq!(serde_json::from_str::<crate::data::Recipe>(&json).unwrap(), found.recipe);
    }

    #[test]
    fn positions_count_all_columns() {
        let columns = ColumnOptions { exclude: vec!["2".into()], ..ColumnOptions::default() };
        let found = fit(&Prepare { columns, ..prepare() }, numbers([1.0; 6])).unwrap();
        assert_eq!(found.data.names(), ["x"]);
    }

    #[test]
    fn the_decimal_separator_is_that_of_all_columns() {
        let b = Column::text("b", ["1,234", "2", "999", "1", "0,5", "3"].into_iter().map(Some));
        let columns = ColumnOptions { decimal: Some(Decimal::Comma), ..ColumnOptions::default() };
        let found = fit(&Prepare { columns, ..prepare() }, b).unwrap();
        let Target::Outputs(y) = found.data.target() else { panic!("outputs expected") };
        assert_eq!(y.column(1).to_vec(), [1.234, 999.0, 1.0, 0.5, 3.0]);
    }

    #[test]
    fn other_columns_are_refused() {
        let error = |prepare: &Prepare, b| fit(prepare, b).unwrap_err().to_string();
        let text = Column::text("b", ["1", "2", "3", "4", "u", "6"].into_iter().map(Some));
        assert_eq!(error(&prepare(), text), "row 5, column 'b': cannot parse 'u' as a number");
        let none = error(&prepare(), numbers([f64::NAN; 6]));
        assert_eq!(none, "every value of the target 'b' is missing");
        let mut few = [f64::NAN; 6];
        few[1] = 1.0;
        assert_eq!(
            error(&prepare(), numbers(few)),
            "every row has a missing value in one of the target columns"
        );
        let strict = Prepare { missing: Missing::Error, ..prepare() };
        let gap = error(&strict, numbers([1.0, 2.0, f64::NAN, 4.0, 5.0, 6.0]));
        assert!(gap.contains("column 'b'") && gap.contains("row 3"), "{gap}");
        let classes = Prepare { target_type: TargetType::Classes, ..prepare() };
        assert_eq!(error(&classes, numbers([1.0; 6])), "several target columns must be numbers");
        let exclude = ColumnOptions { exclude: vec!["b".into()], ..ColumnOptions::default() };
        let excluded = Prepare { columns: exclude, ..prepare() };
        assert!(error(&excluded, numbers([1.0; 6])).contains("a column that is not excluded"));
        let absent = Prepare { reserved: vec!["groups".into()], ..prepare() };
        assert!(error(&absent, numbers([1.0; 6])).contains("no column 'groups'"));
    }
}
