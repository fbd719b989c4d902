//! Text columns under construction: each distinct text is stored once, in order of first appearance.

use crate::data::table::{Column, MISSING, Values};
use std::collections::HashMap;

/// Memory of a stored text beyond its bytes: the string itself and the allocation.
const TEXT_OVERHEAD: usize = 40;

/// A text column under construction.
#[derive(Default)]
pub(super) struct Levels {
    places: HashMap<Box<str>, u32>,
    levels: Vec<String>,
    codes: Vec<u32>,
}

impl Levels {
    /// Adds a cell, `None` for a missing one; returns the approximate number of bytes it takes.
    pub(super) fn push(&mut self, cell: Option<&str>) -> usize {
        let known = self.levels.len();
        let code = cell.map_or(MISSING, |text| self.place(text));
        self.codes.push(code);
        let text =
            if self.levels.len() > known { cell.map_or(0, |text| text.len() + TEXT_OVERHEAD) } else { 0 };
        // A text is stored twice: in the list of levels and as a key of the map.
        size_of::<u32>() + 2 * text
    }

    /// Number of cells.
    #[cfg(feature = "parquet")]
    pub(super) fn len(&self) -> usize {
        self.codes.len()
    }

    /// The code of a text, which becomes a level if it is new.
    #[cfg(feature = "arrow")]
    pub(super) fn code(&mut self, text: &str) -> u32 {
        self.place(text)
    }

    /// Adds a cell by its code, `None` for a missing one.
    #[cfg(feature = "arrow")]
    pub(super) fn push_code(&mut self, code: Option<u32>) {
        self.codes.push(code.unwrap_or(MISSING));
    }

    /// The finished column, without levels that do not occur.
    #[cfg(feature = "arrow")]
    pub(super) fn into_used_column(self, name: String) -> Column {
        nominal_column(name, self.levels, self.codes)
    }

    /// Adds the cells of a later part of the file.
    pub(super) fn append(&mut self, part: Levels) {
        let places: Vec<u32> = part.levels.iter().map(|text| self.place(text)).collect();
        self.codes.extend(
            part.codes.iter().map(|&code| if code == MISSING { MISSING } else { places[code as usize] }),
        );
    }

    /// The finished column.
    pub(super) fn into_column(self, name: String) -> Column {
        Column { name, values: Values::Text { codes: self.codes, levels: self.levels } }
    }

    fn place(&mut self, text: &str) -> u32 {
        // `entry` would copy texts that are already known.
        if let Some(&place) = self.places.get(text) {
            return place;
        }
        let place = self.levels.len() as u32;
        self.places.insert(text.into(), place);
        self.levels.push(text.to_owned());
        place
    }
}

/// A text column; drops declared levels that do not occur.
pub(super) fn nominal_column(name: String, declared: Vec<String>, mut codes: Vec<u32>) -> Column {
    let mut used = vec![false; declared.len()];
    codes.iter().filter(|&&code| code != MISSING).for_each(|&code| used[code as usize] = true);
    let mut place = vec![MISSING; declared.len()];
    let mut levels = vec![];
    for (code, text) in declared.into_iter().enumerate() {
        if used[code] {
            place[code] = levels.len() as u32;
            levels.push(text);
        }
    }
    codes.iter_mut().filter(|code| **code != MISSING).for_each(|code| *code = place[*code as usize]);
    Column { name, values: Values::Text { codes, levels } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_give_the_same_column() {
        let cells = [Some("b"), None, Some("a"), Some("b"), Some("c"), Some("a")];
        for cut in 0..=cells.len() {
            let mut complete = Levels::default();
            let mut part = Levels::default();
            let _: usize = cells[..cut].iter().map(|cell| complete.push(*cell)).sum();
            let _: usize = cells[cut..].iter().map(|cell| part.push(*cell)).sum();
            complete.append(part);
            assert_eq!(complete.into_column("x".into()), Column::text("x", cells.into_iter()));
        }
    }
}
