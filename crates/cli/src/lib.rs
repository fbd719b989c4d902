//! The command line of kernsift.
//!
//! | module | purpose |
//! |---|---|
//! | `args` | commands, options and help texts |
//! | `commands` | a file per command |
//! | `input` | reads and prepares tables |
//! | `files` | checks the files that a command writes |
//! | `large` | files that do not fit into memory |
//! | `passes` | tables that are read in passes |
//! | `console` | progress, messages and Ctrl-C |
//! | `output` | tables and charts |
//! | `terminal` | width, colors and control characters |
//! | `failure` | error messages with advice |

#![forbid(unsafe_code)]

mod args;
mod commands;
mod console;
mod failure;
mod files;
mod input;
mod large;
mod output;
mod passes;
mod roles;
mod terminal;

use args::{Cli, Command};
use console::Console;
use failure::Failure;
use kernsift::Context;
use std::process::ExitCode;

/// Runs the command line of the process and returns its exit code.
///
/// | code | meaning |
/// |---|---|
/// | 0 | success (also when the reader of a pipe closes it) |
/// | 1 | success with a warning, under `--strict` |
/// | 2 | invalid input or arguments |
/// | 130, 143 | interrupted by Ctrl-C, by SIGTERM |
pub fn run() -> ExitCode {
    let words: Vec<_> = std::env::args_os().collect();
    let cli = match args::parse(&words) {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    terminal::set_color_choice(cli.general.color);
    let console = Console::new(cli.general.quiet, cli.general.verbose);
    let result = console.watch_signals().map_err(Failure::from).and_then(|()| dispatch(&cli, &console));
    console.clear();
    match result {
        Ok(()) if cli.general.strict && console.n_warnings() > 0 => ExitCode::from(1),
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::ClosedPipe) => ExitCode::SUCCESS,
        Err(Failure::Interrupted) => {
            console.line("interrupted");
            ExitCode::from(console.signal_code())
        }
        Err(Failure::Input(message)) => {
            console.error(&message);
            ExitCode::from(2)
        }
    }
}

fn dispatch(cli: &Cli, console: &Console) -> Result<(), Failure> {
    let general = &cli.general;
    if let Some(threads) = general.threads {
        // Fails only if there is a pool already.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
    }
    let mut ctx = Context { seed: general.seed, observer: console, ..Context::default() };
    if let Some(limit) = general.memory_limit {
        ctx.memory_limit = limit;
    }
    match &cli.command {
        Command::Select(args) => commands::select::run(args, &ctx, console),
        Command::Inspect(args) => commands::inspect::run(args, &ctx, console),
        Command::Interactions(args) => commands::interactions::run(args, &ctx, console),
        Command::Test(args) => commands::test::run(args, &ctx, console),
        Command::Compare(args) => commands::compare::run(args, &ctx, console),
        Command::Basis(args) => commands::basis::run(args, &ctx, console),
        Command::Design(args) => commands::design::run(args, &ctx, console),
        Command::Apply(args) => commands::apply::run(args, &ctx, console),
        Command::Reproduce(args) => commands::reproduce::run(args, &ctx, console),
        Command::Data(args) => commands::data::run(args, &ctx, console),
        Command::Methods(args) => commands::methods::run(args),
        Command::Completions(args) => commands::completions::run(args),
    }
}
