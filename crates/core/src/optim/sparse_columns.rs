//! A matrix in compressed sparse column (CSC) format.

/// The nonzero values of each column.
#[derive(Debug, Clone, Default)]
pub struct SparseColumns {
    /// The values of column `j` are at `start[j]..start[j + 1]`.
    pub start: Vec<usize>,
    /// Row indices.
    pub row: Vec<u32>,
    /// Values.
    pub value: Vec<f64>,
}

impl SparseColumns {
    /// Collects entries `(row, column, value)`, ordered by row, into `d` columns.
    pub fn gather<I: Iterator<Item = (usize, usize, f64)>>(d: usize, entries: impl Fn() -> I) -> Self {
        let mut start = vec![0; d + 1];
        entries().for_each(|(_, j, _)| start[j + 1] += 1);
        (0..d).for_each(|j| start[j + 1] += start[j]);
        let mut next = start.clone();
        let (mut row, mut value) = (vec![0; start[d]], vec![0.0; start[d]]);
        for (i, j, v) in entries() {
            (row[next[j]], value[next[j]]) = (i as u32, v);
            next[j] += 1;
        }
        Self { start, row, value }
    }

    /// Number of columns.
    pub fn len(&self) -> usize {
        self.start.len() - 1
    }

    /// Whether there are no columns.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Rows and values of a column.
    pub fn column(&self, j: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.start[j]..self.start[j + 1];
        self.row[range.clone()].iter().map(|&i| i as usize).zip(self.value[range].iter().copied())
    }
}
