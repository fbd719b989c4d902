//! Arrow arrays as the cells of a column.

use super::blocks::damaged;
use crate::data::read::levels::Levels;
use crate::data::read::number::MAX_EXACT;
use crate::data::table::{Column, Values};
use crate::error::{Error, Result};
use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrowPrimitiveType};
use arrow_schema::{DataType, TimeUnit};

/// What the cells of a column are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Meaning {
    Number,
    Integer,
    /// Integers of which some exceed the exact ones of a number.
    IntegerText,
    Date,
    Text,
    /// Dictionary-encoded text.
    Categories,
}

impl Meaning {
    /// `None` if the type is not supported.
    pub(super) fn of(data_type: &DataType) -> Option<Self> {
        use DataType::*;
        Some(match data_type {
            Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 | UInt64 => Self::Integer,
            Float16 | Float32 | Float64 | Null | Decimal32(..) | Decimal64(..) | Decimal128(..) => {
                Self::Number
            }
            Duration(_) => Self::Number,
            Date32 | Date64 | Timestamp(..) | Time32(_) | Time64(_) => Self::Date,
            Boolean | Utf8 | LargeUtf8 | Utf8View => Self::Text,
            Dictionary(_, values) => match **values {
                Utf8 | LargeUtf8 | Utf8View => Self::Categories,
                ref integer if integer.is_integer() => Self::Categories,
                _ => return None,
            },
            _ => return None,
        })
    }
}

/// A column under construction.
pub(super) struct Cells {
    meaning: Meaning,
    numbers: Vec<f64>,
    texts: Levels,
    inexact: bool,
}

impl Cells {
    pub(super) fn new(meaning: Meaning) -> Self {
        Self { meaning, numbers: vec![], texts: Levels::default(), inexact: false }
    }

    /// Whether an integer lost digits.
    pub(super) fn is_inexact(&self) -> bool {
        self.inexact
    }

    /// Adds the cells of a batch.
    pub(super) fn push(&mut self, array: &dyn Array) -> Result<()> {
        match self.meaning {
            Meaning::Number => self.push_numbers(array),
            Meaning::Integer | Meaning::IntegerText => self.push_integers(array),
            Meaning::Date => self.push_dates(array),
            Meaning::Text => self.push_texts(array),
            Meaning::Categories => self.push_categories(array),
        }
    }

    pub(super) fn into_column(self, name: String) -> Column {
        match self.meaning {
            Meaning::Number | Meaning::Integer => Column::numeric(name, self.numbers),
            Meaning::Date => Column { name, values: Values::Date(self.numbers) },
            Meaning::Text | Meaning::IntegerText => self.texts.into_column(name),
            Meaning::Categories => self.texts.into_used_column(name),
        }
    }

    fn push_numbers(&mut self, array: &dyn Array) -> Result<()> {
        match array.data_type() {
            DataType::Float16 => self.extend::<Float16Type>(array, |v| v.to_f64()),
            DataType::Float32 => self.extend::<Float32Type>(array, f64::from),
            DataType::Float64 => self.extend::<Float64Type>(array, |v| v),
            DataType::Decimal32(_, scale) => {
                self.extend::<Decimal32Type>(array, |v| f64::from(v) / 10f64.powi((*scale).into()));
            }
            DataType::Decimal64(_, scale) => {
                self.extend::<Decimal64Type>(array, |v| v as f64 / 10f64.powi((*scale).into()));
            }
            DataType::Decimal128(_, scale) => {
                self.extend::<Decimal128Type>(array, |v| v as f64 / 10f64.powi((*scale).into()));
            }
            DataType::Duration(TimeUnit::Second) => self.extend::<DurationSecondType>(array, |v| v as f64),
            DataType::Duration(TimeUnit::Millisecond) => {
                self.extend::<DurationMillisecondType>(array, |v| v as f64 / 1e3);
            }
            DataType::Duration(TimeUnit::Microsecond) => {
                self.extend::<DurationMicrosecondType>(array, |v| v as f64 / 1e6);
            }
            DataType::Duration(TimeUnit::Nanosecond) => {
                self.extend::<DurationNanosecondType>(array, |v| v as f64 / 1e9);
            }
            DataType::Null => self.numbers.extend(std::iter::repeat_n(f64::NAN, array.len())),
            _ => return Err(other_type()),
        }
        Ok(())
    }

    fn push_integers(&mut self, array: &dyn Array) -> Result<()> {
        match array.data_type() {
            DataType::Int8 => self.extend_integers::<Int8Type>(array),
            DataType::Int16 => self.extend_integers::<Int16Type>(array),
            DataType::Int32 => self.extend_integers::<Int32Type>(array),
            DataType::Int64 => self.extend_integers::<Int64Type>(array),
            DataType::UInt8 => self.extend_integers::<UInt8Type>(array),
            DataType::UInt16 => self.extend_integers::<UInt16Type>(array),
            DataType::UInt32 => self.extend_integers::<UInt32Type>(array),
            DataType::UInt64 => self.extend_integers::<UInt64Type>(array),
            _ => return Err(other_type()),
        }
        Ok(())
    }

    fn push_dates(&mut self, array: &dyn Array) -> Result<()> {
        const DAY: f64 = 86_400.0;
        match array.data_type() {
            DataType::Date32 => self.extend::<Date32Type>(array, f64::from),
            DataType::Date64 => self.extend::<Date64Type>(array, |v| v as f64 / (DAY * 1e3)),
            DataType::Time32(TimeUnit::Second) => {
                self.extend::<Time32SecondType>(array, |v| f64::from(v) / DAY);
            }
            DataType::Time32(_) => {
                self.extend::<Time32MillisecondType>(array, |v| f64::from(v) / (DAY * 1e3))
            }
            DataType::Time64(TimeUnit::Microsecond) => {
                self.extend::<Time64MicrosecondType>(array, |v| v as f64 / (DAY * 1e6));
            }
            DataType::Time64(_) => self.extend::<Time64NanosecondType>(array, |v| v as f64 / (DAY * 1e9)),
            DataType::Timestamp(TimeUnit::Second, _) => {
                self.extend::<TimestampSecondType>(array, |v| v as f64 / DAY);
            }
            DataType::Timestamp(TimeUnit::Millisecond, _) => {
                self.extend::<TimestampMillisecondType>(array, |v| v as f64 / (DAY * 1e3));
            }
            DataType::Timestamp(TimeUnit::Microsecond, _) => {
                self.extend::<TimestampMicrosecondType>(array, |v| v as f64 / (DAY * 1e6));
            }
            DataType::Timestamp(TimeUnit::Nanosecond, _) => {
                self.extend::<TimestampNanosecondType>(array, |v| v as f64 / (DAY * 1e9));
            }
            _ => return Err(other_type()),
        }
        Ok(())
    }

    fn push_texts(&mut self, array: &dyn Array) -> Result<()> {
        if let Some(flags) = array.as_boolean_opt() {
            let text = |flag| if flag { "true" } else { "false" };
            flags.iter().for_each(|flag| self.push_text(flag.map(text)));
            return Ok(());
        }
        for_each_text(array, |text| self.push_text(text))
    }

    fn push_text(&mut self, text: Option<&str>) {
        self.texts.push(text);
    }

    fn push_categories(&mut self, array: &dyn Array) -> Result<()> {
        let array = array.as_any_dictionary_opt().ok_or_else(other_type)?;
        let values = array.values().as_ref();
        let mut codes = vec![];
        if values.data_type().is_integer() {
            let mut integers = Self::new(Meaning::IntegerText);
            integers.push(values)?;
            let texts = integers.into_column(String::new());
            codes.extend((0..texts.len()).map(|row| texts.cell(row).map(|text| self.texts.code(&text))));
        } else {
            for_each_text(values, |text| codes.push(text.map(|text| self.texts.code(text))))?;
        }
        // Without values, all cells are missing.
        let keys = if codes.is_empty() { vec![0; array.len()] } else { array.normalized_keys() };
        for (row, key) in keys.into_iter().enumerate() {
            let code = codes.get(key).copied().flatten().filter(|_| array.is_valid(row));
            self.texts.push_code(code);
        }
        Ok(())
    }

    fn extend<T: ArrowPrimitiveType>(&mut self, array: &dyn Array, number: impl Fn(T::Native) -> f64) {
        let cells = array.as_primitive::<T>().iter();
        self.numbers.extend(cells.map(|cell| cell.map_or(f64::NAN, &number)));
    }

    fn extend_integers<T: ArrowPrimitiveType>(&mut self, array: &dyn Array)
    where
        T::Native: Into<i128>,
    {
        let cells = array.as_primitive::<T>().iter().map(|cell| cell.map(Into::<i128>::into));
        if self.meaning == Meaning::IntegerText {
            cells.for_each(|cell| self.push_text(cell.map(|v| v.to_string()).as_deref()));
            return;
        }
        for cell in cells {
            self.inexact |= cell.is_some_and(|v| v.unsigned_abs() > MAX_EXACT as u128);
            self.numbers.push(cell.map_or(f64::NAN, |v| v as f64));
        }
    }
}

fn for_each_text(array: &dyn Array, visit: impl FnMut(Option<&str>)) -> Result<()> {
    match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().iter().for_each(visit),
        DataType::LargeUtf8 => array.as_string::<i64>().iter().for_each(visit),
        DataType::Utf8View => array.as_string_view().iter().for_each(visit),
        _ => return Err(other_type()),
    }
    Ok(())
}

fn other_type() -> Error {
    damaged("a column has several types")
}
