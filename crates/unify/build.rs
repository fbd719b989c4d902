//! Here because only a build script makes its dependencies those of the host, where `syn` is used.

fn main() {}
