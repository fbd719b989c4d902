//! Failures of a command: messages with advice in terms of command-line options.

use kernsift::Error;
use kernsift::data::BUILT_IN;
use kernsift::error::nearest;
use std::io::ErrorKind;
use std::path::Path;

/// Why a command did not finish.
pub enum Failure {
    /// Invalid input or arguments.
    Input(String),
    /// Interrupted by the user or the system.
    Interrupted,
    /// The reader of the output closed the pipe.
    ClosedPipe,
}

impl Failure {
    /// An error of the library, with the advice that a command gives where its options differ from those of others.
    pub fn with_advice(error: &Error, advice: fn(&Error) -> Option<&'static str>) -> Self {
        match error.is_interrupted() {
            true => Self::Interrupted,
            false => Self::Input(with_advice(error, advice)),
        }
    }

    /// An error of a selection, with the number of features named as the option `-k`.
    pub fn of_count(error: Error) -> Self {
        Self::typed(error, &[("", "number of features", "-k"), ("", "fraction of features", "-k")])
    }

    /// An error of the library, with the parameter replaced by the option that sets it. `options` lists the method
    /// ("" for any), the parameter and the option; the first match counts.
    pub fn typed(error: Error, options: &[(&str, &str, &str)]) -> Self {
        if let Error::Param { method, name, expected, got } = &error {
            let fits = |(of, parameter, _): &&(&str, &str, &str)| {
                (of.is_empty() || of == method) && parameter == name
            };
            if let Some((.., option)) = options.iter().find(fits) {
                return Self::Input(format!("{option} must be {expected}, got {got}"));
            }
        }
        error.into()
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        if error.is_interrupted() {
            return Self::Interrupted;
        }
        match &error {
            Error::Io { source, .. } if source.kind() == ErrorKind::BrokenPipe => Self::ClosedPipe,
            Error::Io { source, path } if source.kind() == ErrorKind::NotFound => {
                Self::Input(format!("{error}{}", instead_of(path)))
            }
            _ => Self::Input(with_advice(&error, advice)),
        }
    }
}

/// The message of an error, with advice in terms of options.
fn with_advice(error: &Error, advice: fn(&Error) -> Option<&'static str>) -> String {
    match error {
        Error::Memory { .. } => error.to_string().replace("raise the memory limit", "raise --memory-limit"),
        Error::Parse { .. } => error
            .to_string()
            .replace("give the format", "pass --format")
            .replace("Name the id column", "Name the id column, which both files need, with --id"),
        Error::InFile { path, source } => format!("{}: {}", path.display(), with_advice(source, advice)),
        Error::Several(problems) => {
            let lines: String =
                problems.iter().map(|problem| format!("\n  {}", with_advice(problem, advice))).collect();
            format!("{} problems:{lines}", problems.len())
        }
        _ => advice(error).map_or_else(|| error.to_string(), |advice| format!("{error}. {advice}")),
    }
}

fn advice(error: &Error) -> Option<&'static str> {
    Some(match error {
        Error::MissingValue { .. } => {
            "Choose how to handle missing values: --missing auto, drop, mean or median."
        }
        Error::MissingUnsupported { .. } => {
            "Pass --missing auto, mean or median to impute, --missing drop to drop rows, or use a method that supports \
             missing values."
        }
        Error::RoundsUnsupported { .. } => "Raise --memory-limit, or use one of these methods.",
        Error::WeightsUnsupported { .. } => "Use another method, or leave out --weights and --class-weight.",
        Error::OutputsUnsupported { .. } => "Use another method, or name one column with --target.",
        Error::NoCompleteRows => "Pass --missing auto, mean or median to impute missing values.",
        Error::NotNumeric { .. } | Error::NotOfType { .. } => {
            "Correct the value, or choose another type with --type."
        }
        Error::AllSkipped { .. } => "Use columns with --include.",
        Error::NeedsClasses { .. } => "Name a target with --target, or pass --target-type class.",
        Error::NeedsTarget { .. } => "Name a target with --target.",
        _ => return None,
    })
}

/// A suggestion for a file that does not exist.
fn instead_of(path: &Path) -> String {
    let typed = path.to_string_lossy();
    if typed.starts_with("http://") || typed.starts_with("https://") {
        return "; URLs are not read, so download the file first".into();
    }
    let set = typed.rsplit(':').next().unwrap_or_default();
    if BUILT_IN.iter().any(|known| known.name.eq_ignore_ascii_case(set)) {
        return format!("; did you mean 'builtin:{}'?", set.to_lowercase());
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        return format!("; there is no folder '{}'", folder.display());
    }
    let Ok(entries) = std::fs::read_dir(folder.unwrap_or(Path::new("."))) else { return String::new() };
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    names.sort();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let similar = nearest(&name, &names).map(|name| path.with_file_name(name));
    similar.map_or(String::new(), |path| format!("; did you mean '{}'?", path.display()))
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        if error.kind() == ErrorKind::BrokenPipe {
            Self::ClosedPipe
        } else {
            Self::Input(format!("output: {error}"))
        }
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        std::io::Error::from(error).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn advice_names_existing_options() {
        let command = crate::args::Cli::command();
        let options: Vec<String> = command
            .get_subcommands()
            .flat_map(|command| command.get_arguments())
            .chain(command.get_arguments())
            .filter_map(|option| Some(format!("--{}", option.get_long()?)))
            .collect();
        let messages: Vec<String> =
            kernsift::error::examples().iter().map(|error| with_advice(error, advice)).collect();
        let named: Vec<&str> =
            messages.iter().flat_map(|m| m.split([' ', ',', '.'])).filter(|w| w.starts_with("--")).collect();
        assert!(named.len() >= 10, "{named:?}");
        assert!(named.iter().all(|name| options.iter().any(|option| option == name)), "{named:?}");
    }
}
