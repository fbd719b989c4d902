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
