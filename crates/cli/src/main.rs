//! The `kernsift` command.

#![forbid(unsafe_code)]

use kernsift::internals::Counting;
use std::process::ExitCode;

/// Measures the peak memory of methods.
#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() -> ExitCode {
    kernsift_cli::run()
}
