//! From the words of the command line to what they mean, or to a message that helps.

use super::{Cli, ColorArg};
use crate::terminal;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, CommandFactory, FromArgMatches, ValueEnum};
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

/// Where the standard library speaks of its own affairs, what the user should know.
const PLAIN_WORDS: [(&str, &str); 5] = [
    ("invalid digit found in string", "a whole number of 0 or more is expected"),
    ("cannot parse integer from empty string", "a whole number of 0 or more is expected"),
    ("number too large to fit in target type", "a smaller number is expected"),
    ("invalid float literal", "a number is expected"),
    ("cannot parse float from empty string", "a number is expected"),
];

/// What was typed. Otherwise the user has been told what is wrong, or got the help they asked for.
pub fn parse(words: &[OsString]) -> Result<Cli, ExitCode> {
    // Help and errors of the parser have colors too.
    terminal::set_color_choice(colors(words).choice());
    let parsed = command().try_get_matches_from(words).and_then(|found| Cli::from_arg_matches(&found));
    parsed.map_err(|error| {
        if error.use_stderr() {
            tell(&message(&error));
        } else if let Err(failed) = error.print()
            // If nobody reads help that was asked for, nobody misses it.
            && failed.kind() != std::io::ErrorKind::BrokenPipe
        {
            tell(&format!("error: output: {failed}\n"));
            return ExitCode::from(2);
        }
        ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
    })
}

fn tell(text: &str) {
    // If even standard error is closed there is nobody left to tell.
    let _ = write!(anstream::stderr(), "{text}");
}

/// The commands. `--seed -1` is a wrong number, not an unknown option.
fn command() -> Command {
    fn with_numbers(command: Command) -> Command {
        let option = |arg: Arg| {
            let takes_value = arg.get_action().takes_values() && !arg.is_positional();
            if takes_value { arg.allow_negative_numbers(true) } else { arg }
        };
        command.mut_args(option).mut_subcommands(with_numbers)
    }
    with_numbers(Cli::command())
}

/// The parser's message in plain words.
fn message(error: &clap::Error) -> String {
    let mut text = error.render().ansi().to_string();
    for (theirs, ours) in PLAIN_WORDS {
        text = text.replace(theirs, ours);
    }
    if error.kind() == ErrorKind::MissingRequiredArgument
        && let Some(ContextValue::Strings(missing)) = error.get(ContextKind::InvalidArg)
        && missing.iter().any(|name| name == "<DATA>")
    {
        let tip = "\n\n  tip: DATA is a file such as table.csv, or a built-in set such as builtin:wine\n\n";
        text = text.replacen("\n\n", tip, 1);
    }
    text
}

/// Whether the user wants colors, as far as that can be told before all words are understood.
fn colors(words: &[OsString]) -> ColorArg {
    let options: Vec<&str> =
        words.iter().take_while(|word| *word != "--").filter_map(|word| word.to_str()).collect();
    let typed = (0..options.len()).find_map(|at| match options[at].strip_prefix("--color")? {
        "" => options.get(at + 1).copied(),
        rest => rest.strip_prefix('='),
    });
    typed.and_then(|value| ColorArg::from_str(value, false).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn the_definition_is_consistent() {
        command().debug_assert();
    }

    #[test]
    fn the_wish_for_colors_is_found_wherever_it_stands() {
        for (line, expected) in [
            ("kernsift methods --color never", ColorArg::Never),
            ("kernsift --color=always methods", ColorArg::Always),
            ("kernsift methods", ColorArg::Auto),
            ("kernsift methods --color", ColorArg::Auto),
            ("kernsift select -- --color=always", ColorArg::Auto),
        ] {
            assert_eq!(colors(&words(line)), expected, "{line}");
        }
    }

    /// All examples that help texts end with, each with the words of its command.
    fn examples(command: &Command, path: &str, found: &mut Vec<(String, Vec<String>)>) {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let lines = help.split_once("Examples:\n").map_or("", |(_, lines)| lines).lines();
        let lines = lines.filter_map(|line| line.trim().strip_prefix("kernsift "));
        found.push((path.to_owned(), lines.map(str::to_owned).collect()));
        for below in command.get_subcommands() {
            examples(below, format!("{path} {}", below.get_name()).trim(), found);
        }
    }

    #[test]
    fn every_help_has_an_example_of_its_command_and_all_are_understood() {
        let mut found = vec![];
        examples(&command(), "", &mut found);
        assert!(found.iter().any(|(path, _)| path == "data export"), "nested commands are looked at");
        for (path, lines) in found {
            assert!(lines.iter().any(|line| line.starts_with(&path)), "no example of 'kernsift {path}'");
            for line in lines {
                assert!(line.len() <= 68, "a narrow terminal would break it in two: kernsift {line}");
                let line = format!("kernsift {}", line.split(" > ").next().unwrap());
                let parsed = command().try_get_matches_from(words(&line));
                assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
            }
        }
    }
}
