//! What the cells of a Parquet column are.

use ::parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type as Physical};
use ::parquet::schema::types::ColumnDescriptor;

/// Seconds in a day.
const DAY: f64 = 86_400.0;

/// How the cells of a column are interpreted.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) enum Meaning {
    #[default]
    Number,
    Signed,
    Unsigned,
    /// Integers divided by a power of ten.
    Decimal(i32),
    /// Integers divided by the units in a day: days since 1970-01-01, or a time of day.
    Date(f64),
    /// The obsolete type of 96 bits: nanoseconds of a day and the Julian day.
    OldTimestamp,
    Boolean,
    Text,
}

impl Meaning {
    /// The meaning of a column, or why it is not supported.
    pub(super) fn of(column: &ColumnDescriptor) -> Result<Self, String> {
        if column.path().parts().len() != 1 || column.max_rep_level() != 0 || column.max_def_level() > 1 {
            return Err("nested cells are not supported".into());
        }
        let meaning = match (column.physical_type(), column.logical_type_ref()) {
            (Physical::BOOLEAN, _) => Some(Self::Boolean),
            (Physical::FLOAT | Physical::DOUBLE, _) => Some(Self::Number),
            (Physical::INT96, _) => Some(Self::OldTimestamp),
            (Physical::INT32 | Physical::INT64, Some(logical)) => Self::of_logical(logical),
            (Physical::INT32 | Physical::INT64, None) => {
                Self::of_converted(column.converted_type(), column.type_scale())
            }
            (_, Some(LogicalType::Decimal(decimal))) => Some(Self::Decimal(decimal.scale)),
            (_, None) if column.converted_type() == ConvertedType::DECIMAL => {
                Some(Self::Decimal(column.type_scale()))
            }
            (Physical::BYTE_ARRAY, Some(LogicalType::String | LogicalType::Enum | LogicalType::Json)) => {
                Some(Self::Text)
            }
            (Physical::BYTE_ARRAY, None) => {
                use ConvertedType::{ENUM, JSON, NONE, UTF8};
                matches!(column.converted_type(), NONE | UTF8 | ENUM | JSON).then_some(Self::Text)
            }
            _ => None,
        };
        meaning.ok_or_else(|| format!("the type {} is not supported", type_name(column)))
    }

    /// Integers with a logical type.
    fn of_logical(logical: &LogicalType) -> Option<Self> {
        Some(match logical {
            LogicalType::Integer(int) if int.is_signed => Self::Signed,
            LogicalType::Integer(_) => Self::Unsigned,
            LogicalType::Decimal(decimal) => Self::Decimal(decimal.scale),
            LogicalType::Date => Self::Date(1.0),
            LogicalType::Timestamp(time) => Self::Date(units_in_a_day(&time.unit)),
            LogicalType::Time(time) => Self::Date(units_in_a_day(&time.unit)),
            LogicalType::Unknown => Self::Number,
            _ => return None,
        })
    }

    /// Integers with a type of old files.
    fn of_converted(converted: ConvertedType, scale: i32) -> Option<Self> {
        use ConvertedType::*;
        Some(match converted {
            NONE | INT_8 | INT_16 | INT_32 | INT_64 => Self::Signed,
            UINT_8 | UINT_16 | UINT_32 | UINT_64 => Self::Unsigned,
            DECIMAL => Self::Decimal(scale),
            DATE => Self::Date(1.0),
            TIMESTAMP_MILLIS | TIME_MILLIS => Self::Date(DAY * 1e3),
            TIMESTAMP_MICROS | TIME_MICROS => Self::Date(DAY * 1e6),
            _ => return None,
        })
    }
}

fn units_in_a_day(unit: &TimeUnit) -> f64 {
    match unit {
        TimeUnit::MILLIS => DAY * 1e3,
        TimeUnit::MICROS => DAY * 1e6,
        TimeUnit::NANOS => DAY * 1e9,
    }
}

fn type_name(column: &ColumnDescriptor) -> String {
    let physical = column.physical_type();
    match (column.logical_type_ref(), column.converted_type()) {
        (None, converted) if converted != ConvertedType::NONE => format!("{converted} as {physical}"),
        _ => physical.to_string(),
    }
}
