//! `kernsift completions`

use crate::args::{Cli, CompletionsArgs};
use crate::failure::Failure;
use crate::output::print;
use clap::CommandFactory;

/// Prints a completion script.
pub fn run(args: &CompletionsArgs) -> Result<(), Failure> {
    let mut script = vec![];
    clap_complete::generate(args.shell, &mut Cli::command(), "kernsift", &mut script);
    Ok(print(&String::from_utf8_lossy(&script))?)
}
