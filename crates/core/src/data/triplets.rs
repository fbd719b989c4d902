//! Statements of likeness: "row i is more like row j than row k".

/// Row `i` is more like row `j` than row `k`.
pub type Triplet = [usize; 3];
