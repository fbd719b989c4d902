//! The one place where errors of the core become Python exceptions.

use kernsift::Error;
use pyo3::PyErr;
use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyOSError, PyRuntimeError, PyValueError};

pyo3::create_exception!(
    kernsift,
    BreakdownError,
    PyRuntimeError,
    "The mathematics of a method broke down on this data.\n\nThe message says at which step, what was seen, and what to try."
);

/// The exception for an error.
pub fn to_python(error: Error) -> PyErr {
    match &error {
        Error::Interrupted => PyKeyboardInterrupt::new_err(()),
        Error::Breakdown { .. } => BreakdownError::new_err(sentence(&error)),
        Error::Memory { .. } => PyMemoryError::new_err(sentence(&error)),
        Error::Io { path, source } => os_error(path, source, sentence(&error)),
        // The file only says where it happened; what happened decides.
        Error::InFile { source, .. } => match **source {
            Error::Breakdown { .. } => BreakdownError::new_err(sentence(&error)),
            Error::Memory { .. } => PyMemoryError::new_err(sentence(&error)),
            _ => PyValueError::new_err(sentence(&error)),
        },
        _ => PyValueError::new_err(sentence(&error)),
    }
}

/// OSError with a number becomes FileNotFoundError, PermissionError and so on by itself.
fn os_error(path: &std::path::Path, source: &std::io::Error, text: String) -> PyErr {
    use std::io::ErrorKind;
    let name = path.display().to_string();
    match (source.raw_os_error(), source.kind()) {
        (Some(number), _) => {
            // The sentence begins with the path, which Python adds once more at the end.
            let why = text.strip_prefix(&format!("{name}: ")).unwrap_or(&text).to_owned();
            PyOSError::new_err((number, why, name))
        }
        (None, ErrorKind::IsADirectory) => pyo3::exceptions::PyIsADirectoryError::new_err(text),
        _ => PyOSError::new_err(text),
    }
}

/// The core's sentence; where that names options of the command line, one that helps in Python.
fn sentence(error: &Error) -> String {
    match error {
        Error::MissingValue { row, column } => {
            format!("row {row}, column '{column}': missing value; fill it or leave the row out")
        }
        Error::MissingUnsupported { method, row, column } => {
            format!(
                "row {row}, column '{column}': missing value, and {method} needs every cell; fill it or leave the row out"
            )
        }
        Error::CannotImpute { row, column, why } => {
            format!("row {row}, column '{column}': missing value, and {why}; leave the row out")
        }
        Error::NotNumeric { row, column, text } => {
            format!(
                "row {row}, column '{column}': '{text}' is not a number; mend the cell or encode the column"
            )
        }
        Error::NeedsTarget { method } => format!("{method}: needs a target, of classes or numbers"),
        Error::NeedsClasses { method, found } => format!("{method}: needs classes, but {found}"),
        Error::InFile { path, source } => format!("{}: {}", path.display(), sentence(source)),
        other => other.to_string(),
    }
}
