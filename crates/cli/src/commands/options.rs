//! Checks and preparation that several commands share.

use crate::args::ScaleArg;
use crate::console::Console;
use crate::failure::Failure;
use crate::input::standardize;
use kernsift::Error;
use kernsift::catalog::{FAMILIES, Family};
use kernsift::data::{Dataset, Standardizer};

/// Returns an error if an option was given that has no effect. `options` are names, and whether they were given.
pub fn refuse(with: &str, options: &[(&str, bool)]) -> Result<(), Failure> {
    match options.iter().find(|(_, given)| *given) {
        Some((option, _)) => {
            Err(Failure::Input(format!("{option} has no effect with {with}; leave one of them out")))
        }
        None => Ok(()),
    }
}

/// What a method of the family is, and the command that takes its name.
pub fn usage(family: &Family) -> (&'static str, &'static str) {
    match family.name {
        "selector" => ("a selector", "select -m"),
        "kernel-space" => ("a kernel-space selector", "select -m"),
        "basis" => ("a basis", "basis -m"),
        "kernel-learner" => ("a kernel learner", "design -m"),
        _ => ("an evaluator", "compare --evaluator"),
    }
}

/// An error about a method. A name that is known elsewhere is answered with its command.
pub fn no_such_method(error: Error) -> Failure {
    if let Error::UnknownName { what, name, similar, .. } = &error
        && *what != "parameter"
        && let Some(family) = FAMILIES.iter().find(|family| family.methods.iter().any(|i| i.name == name))
        // 'svm' is likely to mean 'svm-rfe'.
        && (family.name != "evaluator" || similar.is_none())
    {
        let (kind, command) = usage(family);
        return Failure::Input(format!("{name} is {kind}; use `kernsift {command} {name}`"));
    }
    error.into()
}

/// The data scaled as requested.
pub fn scaled(
    data: &Dataset,
    scale: ScaleArg,
    console: &Console,
) -> kernsift::Result<(Dataset, Option<Standardizer>)> {
    match scale {
        ScaleArg::None => Ok((data.clone(), None)),
        ScaleArg::Standard => standardize(data, console).map(|(data, scaler)| (data, Some(scaler))),
    }
}
