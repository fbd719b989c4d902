//! Several target columns.

use super::Prepared;
use crate::data::table::Column;
use crate::data::target::Target;
use crate::data::types::{ColumnType, of_type};
use crate::error::{Error, Result, shorten};
use ndarray::Array2;
use std::borrow::Cow;

impl Prepared {
    /// The same rows with further target columns of numbers, beside a continuous target. `others` have a row per row of the table,
    /// which does not have them. Rows without a number in one of them are left out.
    pub fn with_outputs(mut self, others: &[Column]) -> Result<Self> {
        let Target::Continuous(first) = self.data.target() else {
            return Err(Error::parse("several target columns must be numbers"));
        };
        let others_of_rows = others.iter().map(numbers).collect::<Result<Vec<_>>>()?;
        let has_all = |at: &usize| others_of_rows.iter().all(|values| !values[self.rows[*at]].is_nan());
        let kept: Vec<usize> = (0..self.rows.len()).filter(has_all).collect();
        if kept.is_empty() {
            let names: Vec<String> = others.iter().map(|c| format!("'{}'", shorten(&c.name))).collect();
            return Err(Error::parse(format!(
                "every row has a missing value in one of the targets {}",
                names.join(", ")
            )));
        }
        let y = Array2::from_shape_fn((kept.len(), 1 + others.len()), |(row, output)| match output {
            0 => first[kept[row]],
            other => others_of_rows[other - 1][self.rows[kept[row]]],
        });
        let left_out = self.rows.len() - kept.len();
        if left_out > 0 {
            let n = self.rows.len();
            self.notes.push(format!("dropped {left_out} of {n} rows with missing values in further targets"));
            self.data = self.data.take_rows(&kept);
            self.rows = kept.iter().map(|&at| self.rows[at]).collect();
            self.account.rows_used = self.rows.len();
        }
        self.data.set_target(Target::Outputs(y))?;
        self.recipe.other_targets = others.iter().map(|column| column.name.clone()).collect();
        Ok(self)
    }
}

/// The numbers of a column; missing ones are NaN.
fn numbers(column: &Column) -> Result<Cow<'_, [f64]>> {
    match column.numbers() {
        Some(numbers) => Ok(numbers),
        // With a decimal comma, or an error that names the first text.
        None => Ok(of_type(column, &ColumnType::Number, None)?.parsing.read(column)?.values),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Prepare, Table, TargetChoice};

    fn prepared(b: Column) -> Result<Prepared> {
        let x = Column::numeric("x", (0..6).map(|v| f64::from(v * v)).collect());
        let a = Column::numeric("a", vec![0.5, f64::NAN, 2.5, 3.5, 4.5, 5.5]);
        let target = TargetChoice::Named("a".into());
        Prepare { target, ..Prepare::default() }.fit(&Table::Columns(vec![x, a]))?.with_outputs(&[b])
    }

    #[test]
    fn rows_with_all_targets_are_kept() {
        let b = Column::numeric("b", vec![1.0, 2.0, 3.0, f64::NAN, 5.0, 6.0]);
        let found = prepared(b).unwrap();
        let expected = ndarray::array![[0.5, 1.0], [2.5, 3.0], [4.5, 5.0], [5.5, 6.0]];
        assert_eq!(*found.data.target(), Target::Outputs(expected));
        assert_eq!((found.rows, found.data.x().column(0)), (vec![0, 2, 4, 5], vec![0.0, 4.0, 16.0, 25.0]));
        assert_eq!(found.recipe.targets().collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(found.notes.last().unwrap(), "dropped 1 of 5 rows with missing values in further targets");
        let json = serde_json::to_string(&found.recipe).unwrap();
        assert_eq!(serde_json::from_str::<crate::data::Recipe>(&json).unwrap(), found.recipe);
    }

    #[test]
    fn other_columns_are_refused() {
        let text = Column::text("b", ["1", "2", "3", "4", "u", "6"].into_iter().map(Some));
        assert_eq!(
            prepared(text).unwrap_err().to_string(),
            "row 5, column 'b': cannot parse 'u' as a number"
        );
        let none = prepared(Column::numeric("b", vec![f64::NAN; 6])).unwrap_err().to_string();
        assert_eq!(none, "every row has a missing value in one of the targets 'b'");
        let infinite = prepared(Column::numeric("b", vec![f64::INFINITY; 6])).unwrap_err().to_string();
        assert!(infinite.contains("inf"), "{infinite}");
    }
}
