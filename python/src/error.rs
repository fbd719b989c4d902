//! Conversion of errors of the core to Python exceptions.

use kernsift::Error;
use pyo3::PyErr;
use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyOSError, PyRuntimeError, PyValueError};
use pyo3::pyfunction;

pyo3::create_exception!(
    kernsift,
    BreakdownError,
    PyRuntimeError,
    "Numerical failure of a method on this data.\n\nThe message names the step, the cause and what to try."
);

/// The exception for an error.
pub fn to_python(error: Error) -> PyErr {
    match &error {
        Error::Interrupted => PyKeyboardInterrupt::new_err(()),
        Error::Breakdown { .. } => BreakdownError::new_err(message(&error)),
        Error::Memory { .. } => PyMemoryError::new_err(message(&error)),
        Error::Io { path, source } => os_error(path, source, message(&error)),
        // The error inside decides the type; the file only adds to the message.
        Error::InFile { source, .. } => match **source {
            Error::Breakdown { .. } => BreakdownError::new_err(message(&error)),
            Error::Memory { .. } => PyMemoryError::new_err(message(&error)),
            _ => PyValueError::new_err(message(&error)),
        },
        _ => PyValueError::new_err(message(&error)),
    }
}

/// Python turns an OSError with a number into FileNotFoundError, PermissionError and so on.
fn os_error(path: &std::path::Path, source: &std::io::Error, text: String) -> PyErr {
    use std::io::ErrorKind;
    let name = path.display().to_string();
    match (source.raw_os_error(), source.kind()) {
        (Some(number), _) => {
            // The message starts with the path, which Python appends again.
            let why = text.strip_prefix(&format!("{name}: ")).unwrap_or(&text).to_owned();
            PyOSError::new_err((number, why, name))
        }
        (None, ErrorKind::IsADirectory) => pyo3::exceptions::PyIsADirectoryError::new_err(text),
        _ => PyOSError::new_err(text),
    }
}

/// The message of an error, with advice in terms of Python.
fn message(error: &Error) -> String {
    let advice = match error {
        // Python has no memory limit to raise.
        Error::Memory { .. } => return error.to_string().replace(", or raise the memory limit", ""),
        Error::InFile { path, source } => return format!("{}: {}", path.display(), message(source)),
        Error::Several(problems) => {
            let lines: String = problems.iter().map(|problem| format!("\n  {}", message(problem))).collect();
            return format!("{} problems:{lines}", problems.len());
        }
        Error::MissingValue { .. } => "Fill in the value or drop the row.",
        Error::MissingUnsupported { .. } => {
            "Impute it, for example with sklearn.impute.SimpleImputer, or drop the row."
        }
        Error::RoundsUnsupported { .. } => "Use one of these, or fit to an array in memory.",
        Error::WeightsUnsupported { .. } => "Use another one, or leave out sample_weight and class_weight.",
        Error::OutputsUnsupported { .. } => "Use another one, or pass a y of one column.",
        Error::NoCompleteRows => "Impute missing values, for example with sklearn.impute.SimpleImputer.",
        Error::NotNumeric { .. } => {
            "Correct the value, or encode the column, for example with sklearn.preprocessing.OneHotEncoder."
        }
        Error::NeedsTarget { .. } => "Pass y.",
        Error::NeedsClasses { .. } => "Pass class labels as y.",
        _ => return error.to_string(),
    };
    format!("{error}. {advice}")
}

/// The message of an example of every error, for tests.
#[pyfunction]
pub fn error_messages() -> Vec<String> {
    kernsift::error::examples().iter().map(message).collect()
}
