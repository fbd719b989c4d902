//! What to compute: sums with each candidate added or removed.

/// Whether candidates are added or removed.
#[derive(Clone, Copy, PartialEq)]
pub(in crate::select) enum Change {
    Add,
    Remove,
}

/// A sum for every candidate, and one for the unchanged set.
#[derive(Clone, Copy)]
pub(in crate::select) struct Query<'a> {
    /// The set of features.
    pub members: &'a [usize],
    pub candidates: &'a [usize],
    pub change: Change,
    /// Gamma of the kernel of the changed sets.
    pub gamma: f64,
    /// Gamma of the kernel of the unchanged set.
    pub gamma_unchanged: f64,
}
