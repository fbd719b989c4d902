//! Text columns as they grow: each different text is kept once, in order of first appearance.

use crate::data::table::{Column, MISSING, Values};
use std::collections::HashMap;

/// What a text takes beyond its letters: where it is, and the allocator's due.
const PER_TEXT: usize = 40;

/// The cells of a text column so far.
#[derive(Default)]
pub(super) struct Levels {
    places: HashMap<Box<str>, u32>,
    levels: Vec<String>,
    codes: Vec<u32>,
}

impl Levels {
    /// Adds a cell; nothing is an empty one. Says about how many bytes that takes.
    pub(super) fn push(&mut self, cell: Option<&str>) -> usize {
        let known = self.levels.len();
        let code = cell.map_or(MISSING, |text| self.place(text));
        self.codes.push(code);
        let text = if self.levels.len() > known { cell.map_or(0, |text| text.len() + PER_TEXT) } else { 0 };
        // A text is kept twice: to be shown, and to be looked up.
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
        // Looked up before it is stored, so that a text seen before is not copied.
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
    fn parts_add_up_to_the_whole() {
        let cells = [Some("b"), None, Some("a"), Some("b"), Some("c"), Some("a")];
        for cut in 0..=cells.len() {
            let mut whole = Levels::default();
            let mut part = Levels::default();
            let _: usize = cells[..cut].iter().map(|cell| whole.push(*cell)).sum();
            let _: usize = cells[cut..].iter().map(|cell| part.push(*cell)).sum();
            whole.append(part);
            assert_eq!(whole.into_column("x".into()), Column::text("x", cells.into_iter()));
        }
    }
}
