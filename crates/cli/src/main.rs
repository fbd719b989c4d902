//! The `kernsift` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    kernsift_cli::run()
}
