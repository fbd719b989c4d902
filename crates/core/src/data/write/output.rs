//! A table to write, with consistent shapes.

use crate::data::table::{Column, check_names};
use crate::error::{Error, Result};
use ndarray::ArrayView2;
use std::borrow::Cow;

/// Options that the file name extension does not determine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WriteOptions {
    /// Whether to put an apostrophe before text that a spreadsheet would run as a formula: names and cells that start with
    /// one of `= + - @`, a tab or a carriage return (default: false, because it changes the text).
    pub guard_formulas: bool,
}

/// A table with consistent shapes.
pub(super) struct Output<'a> {
    pub names: Vec<&'a str>,
    pub x: ArrayView2<'a, f64>,
    pub extra: &'a [Column],
    pub rows: usize,
    options: WriteOptions,
}

impl<'a> Output<'a> {
    pub(super) fn new(
        names: &'a [String],
        x: ArrayView2<'a, f64>,
        extra: &'a [Column],
        options: &WriteOptions,
    ) -> Result<Self> {
        let shape = |what: &str, expected: usize, got: usize| Error::Shape {
            what: what.into(),
            expected: expected.to_string(),
            got: got.to_string(),
        };
        if names.len() != x.ncols() {
            return Err(shape("column names", x.ncols(), names.len()));
        }
        if let Some(odd) = extra.iter().find(|column| column.len() != x.nrows()) {
            return Err(shape(&format!("rows of column '{}'", odd.name), x.nrows(), odd.len()));
        }
        let names: Vec<&str> =
            names.iter().map(String::as_str).chain(extra.iter().map(|c| c.name.as_str())).collect();
        if names.is_empty() {
            return Err(Error::parse("there are no columns to write"));
        }
        check_names(names.iter().copied())?;
        Ok(Self { names, x, extra, rows: x.nrows(), options: *options })
    }

    /// The text, guarded if requested.
    pub(super) fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.options.guard_formulas && text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
            true => Cow::Owned(format!("'{text}")),
            false => Cow::Borrowed(text),
        }
    }
}
