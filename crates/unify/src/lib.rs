//! Nothing but a list of features; see `Cargo.toml`.

#![forbid(unsafe_code)]
