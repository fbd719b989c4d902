//! Only the dependencies of a build script are compiled for the host, as `syn` is.

fn main() {}
