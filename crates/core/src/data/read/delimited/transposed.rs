//! Tables with features in rows, as gene expression data often are.

use super::source::Source;
use crate::data::read::levels::Levels;
use crate::data::read::number::Spelling;
use crate::data::table::Column;
use crate::error::{Error, Result};
use csv::ByteRecord;
use rayon::prelude::*;
use std::ops::Range;

impl Source<'_> {
    /// The columns of the transposed table: the ids of the samples, which are the names but the first, then a column per
    /// record.
    pub(super) fn transposed(&self, names: &[String], parts: &[Range<usize>]) -> Result<Vec<Column>> {
        if names.len() < 2 {
            return Err(Error::parse("a table to transpose needs a column of names and at least one sample"));
        }
        let read: Vec<Vec<Column>> = parts
            .par_iter()
            .map(|part| self.part_features(part))
            .collect::<Vec<_>>()
            .into_iter()
            .collect::<Result<_>>()?;
        let mut columns = vec![Column::text("sample", names[1..].iter().map(|name| Some(name.as_str())))];
        columns.extend(read.into_iter().flatten());
        if columns.len() == 1 {
            return Err(Error::parse("the file has a header but no rows"));
        }
        for (row, column) in
            columns.iter_mut().enumerate().skip(1).filter(|(_, column)| column.name.is_empty())
        {
            column.name = format!("unnamed_{row}");
        }
        Ok(columns)
    }

    fn part_features(&self, part: &Range<usize>) -> Result<Vec<Column>> {
        let mut columns = vec![];
        self.for_each_record(part, |record, _| {
            columns.push(self.feature(record));
            (record.len() - 1) * size_of::<f64>()
        })?;
        Ok(columns)
    }

    /// A record as a column, with the first cell as its name.
    fn feature(&self, record: &ByteRecord) -> Column {
        let text = |cell| String::from_utf8_lossy(cell).into_owned();
        let name = text(record[0].trim_ascii());
        let cells = || record.iter().skip(1).map(<[u8]>::trim_ascii);
        let mut spelling = Spelling::default();
        let numbers = cells().map(|cell| {
            let number = self.number(cell)?;
            spelling.note(number);
            Some(number.value)
        });
        match numbers.collect::<Option<Vec<f64>>>() {
            Some(numbers) if !spelling.is_text() => Column::numeric(name, numbers),
            _ => {
                let mut levels = Levels::default();
                for cell in cells() {
                    levels.push((!self.missing.contains(cell)).then(|| text(cell)).as_deref());
                }
                levels.into_column(name)
            }
        }
    }
}
