//! Statements of likeness: "row i is more like row j than row k".
//!
//! | part | what it does |
//! |---|---|
//! | [`read`] | triples that a person wrote down, by row numbers or [`Ids`] |
//! | [`from_labels`], [`from_continuous`], [`from_target`] | triples drawn from what is known about the rows |
//! | [`check`] | refuses what cannot be used, and counts what is doubtful |
//! | [`split_points`], [`hold_out_points`], [`hold_out_triplets`], [`triplet_folds`] | triples to learn from and to judge by |
//!
//! In memory rows are counted from 0; in files and messages about them from 1, unless told otherwise.

mod check;
mod continuous;
mod draw;
mod file;
mod split;

pub(crate) use check::need_rows;
pub use check::{TripletReport, check};
pub use continuous::{from_continuous, from_continuous_within};
pub use draw::{from_labels, from_labels_within, from_target};
pub use file::{Ids, Naming, read, read_bytes};
pub use split::{TripletSplit, apply_split, hold_out_points, hold_out_triplets, split_points, triplet_folds};

/// Row `i` is more like row `j` than row `k`.
pub type Triplet = [usize; 3];

/// The rows that triples name, each once, in rising order.
pub fn points(triplets: &[Triplet]) -> Vec<usize> {
    let mut points: Vec<usize> = triplets.iter().flatten().copied().collect();
    points.sort_unstable();
    points.dedup();
    points
}

/// The triples whose rows are all among `rows`, as places in `rows`: what is left of triples about a table
/// when some of its rows are left out. Of a row that is named twice the last place counts.
pub fn renumber(triplets: &[Triplet], rows: &[usize]) -> Vec<Triplet> {
    let most = rows.iter().max().map_or(0, |&row| row + 1);
    let mut places = vec![None; most];
    rows.iter().enumerate().for_each(|(place, &row)| places[row] = Some(place));
    let place = |row: usize| places.get(row).copied().flatten();
    triplets.iter().filter_map(|&[i, j, k]| Some([place(i)?, place(j)?, place(k)?])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_listed_once() {
        assert_eq!(points(&[[7, 2, 4], [2, 7, 0]]), [0, 2, 4, 7]);
        assert!(points(&[]).is_empty());
    }

    #[test]
    fn rows_that_are_left_out_take_their_triples_along() {
        let triplets = [[7, 2, 4], [2, 7, 0], [9, 2, 4]];
        assert_eq!(renumber(&triplets, &[2, 4, 7]), [[2, 0, 1]]);
        assert_eq!(renumber(&triplets, &[7, 0, 2]), [[2, 0, 1]]);
        assert!(renumber(&triplets, &[]).is_empty());
    }
}
