//! Nothing but a list of features; see `Cargo.toml`.
