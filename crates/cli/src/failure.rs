//! How a run can fail, and the exit code of each way. Decided here and nowhere else.
//!
//! | code | meaning |
//! |---|---|
//! | 0 | done (also when the reader of a pipe went away) |
//! | 1 | done, with a warning, under `--strict` |
//! | 2 | bad input or use |
//! | 130, 143 | interrupted by Ctrl-C, by SIGTERM |

use crate::console::Console;
use kernsift::data::BUILT_IN;
use kernsift::error::nearest;
use std::io::ErrorKind;
use std::path::Path;
use std::process::ExitCode;

/// Why a command did not finish.
pub enum Failure {
    /// Something is wrong with the input, or with what was asked.
    Input(String),
    /// The user or the system stopped it.
    Interrupted,
    /// Nobody reads the output any more.
    ClosedPipe,
}

impl Failure {
    /// An error of the library with its parameter named by the option that sets it. `options` are the
    /// method ("" for any), the parameter and the option; the first that fits counts.
    pub fn typed(error: kernsift::Error, options: &[(&str, &str, &str)]) -> Self {
        if let kernsift::Error::Param { method, name, expected, got } = &error {
            let fits = |(of, parameter, _): &&(&str, &str, &str)| {
                (of.is_empty() || of == method) && parameter == name
            };
            if let Some((.., option)) = options.iter().find(fits) {
                return Self::Input(format!("{option} must be {expected}, got {got}"));
            }
        }
        error.into()
    }

    /// Tells the user and gives the exit code.
    pub fn report(self, console: &Console) -> ExitCode {
        console.clear();
        match self {
            Self::ClosedPipe => ExitCode::SUCCESS,
            Self::Interrupted => {
                console.line("interrupted");
                ExitCode::from(console.signal_code())
            }
            Self::Input(message) => {
                console.error(&message);
                ExitCode::from(2)
            }
        }
    }
}

impl From<kernsift::Error> for Failure {
    fn from(error: kernsift::Error) -> Self {
        if error.is_interrupted() {
            return Self::Interrupted;
        }
        match &error {
            kernsift::Error::Io { source, .. } if source.kind() == ErrorKind::BrokenPipe => Self::ClosedPipe,
            kernsift::Error::Io { source, path } if source.kind() == ErrorKind::NotFound => {
                Self::Input(format!("{error}{}", instead_of(path)))
            }
            _ => Self::Input(error.to_string()),
        }
    }
}

/// What the user may have meant by a file that is not there.
fn instead_of(path: &Path) -> String {
    let typed = path.to_string_lossy();
    if typed == "-" {
        return "; standard input is not read, so name a file".into();
    }
    if typed.starts_with("http://") || typed.starts_with("https://") {
        return "; addresses are not read, so fetch the file first".into();
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
