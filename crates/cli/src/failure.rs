//! How a run can fail, and the exit code of each way. Decided here and nowhere else.
//!
//! | code | meaning |
//! |---|---|
//! | 0 | done (also when the reader of a pipe went away) |
//! | 1 | done, with a warning, under `--strict` |
//! | 2 | bad input or use |
//! | 130, 143 | interrupted by Ctrl-C, by SIGTERM |

use crate::console::Console;
use std::io::ErrorKind;
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
            _ => Self::Input(error.to_string()),
        }
    }
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
