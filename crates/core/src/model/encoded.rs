//! Selected features as numbers.

use super::{Content, Model, TableOutput};
use crate::data::{Dataset, Encoder, Encoding, Recipe, Table};
use crate::error::{Error, Result};
use crate::select::Selection;
use ndarray::Array2;

impl Model {
    /// A selection among the features of prepared data. The selected features are encoded by statistics of these rows.
    pub fn of_selection(
        data: &Dataset,
        recipe: Recipe,
        selection: Selection,
        encoding: Encoding,
    ) -> Result<Self> {
        let encoder = match selection.selected() {
            [] => None,
            selected => Some(Encoder::fit(&data.for_fit().take_columns(selected), encoding)?),
        };
        let (names, recipe) = (data.names().to_vec(), Some(recipe));
        Ok(Self { names, recipe, encoder, content: Content::Selection(selection) })
    }

    /// Prepares a table like the training table and encodes the selected features as numbers, as a fit does: missing values are
    /// imputed, categories become indicators, and numbers are standardized. An error for models that are not selections.
    pub fn encode_table(&self, table: &Table) -> Result<TableOutput<Array2<f64>>> {
        let selection = self.selection()?;
        if selection.n_selected == 0 {
            let rows: Vec<usize> = (0..table.n_rows()).collect();
            return Ok(TableOutput { values: Array2::zeros((rows.len(), 0)), rows, other: vec![] });
        }
        let encoder = self.selection_encoder()?;
        let applied = self.recipe()?.restricted(selection.selected()).apply(table)?;
        let values = encoder.apply(applied.data.x())?.into_dense();
        Ok(TableOutput { values, rows: applied.rows, other: applied.other })
    }

    /// Names of the columns of [`Model::encode_table`].
    pub fn encoded_names(&self) -> Result<Vec<String>> {
        let n = self.selection()?.n_selected;
        Ok((0..n).map(|at| self.encoded_columns(at)).collect::<Result<Vec<_>>>()?.concat())
    }

    /// Names of the encoded columns of the selected feature in this place.
    pub(super) fn encoded_columns(&self, at: usize) -> Result<Vec<String>> {
        let feature = self.selection()?.selected()[at];
        let levels = self.recipe()?.levels(feature);
        Ok(self.selection_encoder()?.column_names(at, &self.names[feature], &levels))
    }

    /// The selection; an error for other models.
    pub fn selection(&self) -> Result<&Selection> {
        match &self.content {
            Content::Selection(selection) => Ok(selection),
            _ => Err(Error::Model {
                why: format!("a model fitted by {} is not a selection of features", self.method()),
            }),
        }
    }

    pub(super) fn selection_encoder(&self) -> Result<&Encoder> {
        let absent = || {
            Error::Model { why: "it was fitted to a table in passes, and does not say how features are encoded; fit it to a table in memory".into() }
        };
        self.encoder.as_ref().ok_or_else(absent)
    }
}
