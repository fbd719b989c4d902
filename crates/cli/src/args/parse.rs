//! Parses the command line, with clear messages and colors.

use super::Cli;
use crate::terminal;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ColorChoice, Command, CommandFactory, FromArgMatches, ValueEnum};
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

/// Messages of the standard library, and clearer ones.
const CLEARER: [(&str, &str); 5] = [
    ("invalid digit found in string", "an integer, at least 0, is expected"),
    ("cannot parse integer from empty string", "an integer, at least 0, is expected"),
    ("number too large to fit in target type", "a smaller number is expected"),
    ("invalid float literal", "a number is expected"),
    ("cannot parse float from empty string", "a number is expected"),
];

/// Parses the command line. For help and for invalid arguments, prints the text and returns the exit code.
pub fn parse(words: &[OsString]) -> Result<Cli, ExitCode> {
    // Before parsing, as help and error messages are colored too.
    terminal::set_color_choice(colors(words));
    let parsed = command().try_get_matches_from(words).and_then(|found| Cli::from_arg_matches(&found));
    parsed.map_err(|error| {
        if error.use_stderr() {
            write_error(&message(&error));
        } else if let Err(failed) = error.print()
            && failed.kind() != std::io::ErrorKind::BrokenPipe
        {
            write_error(&format!("error: output: {failed}\n"));
            return ExitCode::from(2);
        }
        ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
    })
}

fn write_error(text: &str) {
    // Standard error may be closed.
    let _ = write!(anstream::stderr(), "{text}");
}

/// The commands. Options accept negative numbers, so that `--seed -1` is an invalid number and not an unknown option.
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

/// The message of a parser error.
fn message(error: &clap::Error) -> String {
    let mut text = error.render().ansi().to_string();
    for (theirs, ours) in CLEARER {
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

/// The value of `--color`, found without parsing the other arguments.
fn colors(words: &[OsString]) -> ColorChoice {
    let options: Vec<&str> =
        words.iter().take_while(|word| *word != "--").filter_map(|word| word.to_str()).collect();
    let typed = (0..options.len()).find_map(|at| match options[at].strip_prefix("--color")? {
        "" => options.get(at + 1).copied(),
        rest => rest.strip_prefix('='),
    });
    typed.and_then(|value| ColorChoice::from_str(value, false).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn definitions_are_consistent() {
        command().debug_assert();
    }

    #[test]
    fn color_is_found_anywhere_on_the_command_line() {
        for (line, expected) in [
            ("kernsift methods --color never", ColorChoice::Never),
            ("kernsift --color=always methods", ColorChoice::Always),
            ("kernsift methods", ColorChoice::Auto),
            ("kernsift methods --color", ColorChoice::Auto),
            ("kernsift select -- --color=always", ColorChoice::Auto),
        ] {
            assert_eq!(colors(&words(line)), expected, "{line}");
        }
    }

    /// The examples of all help texts, with their commands.
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
    fn every_help_text_has_an_example_and_all_examples_parse() {
        let mut found = vec![];
        examples(&command(), "", &mut found);
        assert!(found.iter().any(|(path, _)| path == "data export"), "nested commands are included");
        for (path, lines) in found {
            assert!(lines.iter().any(|line| line.starts_with(&path)), "no example of 'kernsift {path}'");
            for line in lines {
                assert!(line.len() <= 68, "too long for a narrow terminal: kernsift {line}");
                let line = format!("kernsift {}", line.split(" > ").next().unwrap());
                let parsed = command().try_get_matches_from(words(&line));
                assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
            }
        }
    }
}
