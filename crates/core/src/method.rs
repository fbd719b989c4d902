//! What there is to know about a method before using it.

/// A line of `kernsift methods`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Info {
    /// The name on the command line.
    pub name: &'static str,
    /// The name in words.
    pub title: &'static str,
    /// What it finds.
    pub finds: &'static str,
    /// What it needs besides features.
    pub needs: &'static str,
    /// Time and memory in rows n, columns d, components m.
    pub cost: &'static str,
    /// Where it comes from.
    pub reference: &'static str,
}
