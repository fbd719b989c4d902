//! The command line of kernsift: what the user typed in, what they read out.
//!
//! `args` says what can be typed, `commands` has a file per command, `input` turns files into data,
//! `console` talks to the user while work goes on, `output` makes tables and pictures of numbers, `terminal`
//! knows how wide and colorful it may be.

#![forbid(unsafe_code)]

mod args;
mod commands;
mod console;
mod failure;
mod input;
mod output;
mod terminal;

use args::{Cli, Command};
use console::Console;
use failure::Failure;
use kernsift::Context;
use std::process::ExitCode;

/// Runs the command that was typed and says how it ended.
pub fn run() -> ExitCode {
    let words: Vec<_> = std::env::args_os().collect();
    let cli = match args::parse(&words) {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    terminal::set_color_choice(cli.general.color.choice());
    let console = Console::new(&cli.general);
    match console.watch_signals().and_then(|()| dispatch(&cli, &console)) {
        Ok(()) if cli.general.strict && console.n_warnings() > 0 => ExitCode::from(1),
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(&console),
    }
}

fn dispatch(cli: &Cli, console: &Console) -> Result<(), Failure> {
    let general = &cli.general;
    if let Some(threads) = general.threads {
        // Fails only if a pool exists already, which is not so at the start of a program.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
    }
    let mut ctx = Context { seed: general.seed, observer: console, ..Context::default() };
    if let Some(limit) = general.memory_limit {
        ctx.memory_limit = limit;
    }
    match &cli.command {
        Command::Select(args) => commands::select::run(args, &ctx, console),
        Command::Compare(args) => commands::compare::run(args, &ctx, console),
        Command::Basis(args) => commands::basis::run(args, &ctx, console),
        Command::Design(args) => commands::design::run(args, &ctx, console),
        Command::Apply(args) => commands::apply::run(args, &ctx, console),
        Command::Reproduce(args) => commands::reproduce::run(args, &ctx, console),
        Command::Data(args) => commands::data::run(args, &ctx, console),
        Command::Methods(args) => commands::methods::run(args, console),
        Command::Completions(args) => commands::completions::run(args),
    }
}
