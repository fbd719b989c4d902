//! The triplet type and conversions of row indices.

/// A triplet (i, j, k): row i is more similar to row j than to row k.
pub type Triplet = [usize; 3];

/// The distinct rows of triplets, sorted.
pub fn points(triplets: &[Triplet]) -> Vec<usize> {
    let mut points: Vec<usize> = triplets.iter().flatten().copied().collect();
    points.sort_unstable();
    points.dedup();
    points
}

/// The triplets whose rows are all in `rows`, as indices into `rows`. If a row occurs twice, its last index counts.
pub fn renumber(triplets: &[Triplet], rows: &[usize]) -> Vec<Triplet> {
    let n = rows.iter().max().map_or(0, |&row| row + 1);
    let mut index = vec![None; n];
    rows.iter().enumerate().for_each(|(at, &row)| index[row] = Some(at));
    let index_of = |row: usize| index.get(row).copied().flatten();
    triplets.iter().filter_map(|&[i, j, k]| Some([index_of(i)?, index_of(j)?, index_of(k)?])).collect()
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
    fn triplets_with_other_rows_are_dropped() {
        let triplets = [[7, 2, 4], [2, 7, 0], [9, 2, 4]];
        assert_eq!(renumber(&triplets, &[2, 4, 7]), [[2, 0, 1]]);
        assert_eq!(renumber(&triplets, &[7, 0, 2]), [[2, 0, 1]]);
        assert!(renumber(&triplets, &[]).is_empty());
    }
}
