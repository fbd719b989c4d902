//! The `kernsift` command.

#![forbid(unsafe_code)]

use kernsift::memory::Counting;
use std::process::ExitCode;

/// Counts what the methods of a comparison take.
#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() -> ExitCode {
    kernsift_cli::run()
}
