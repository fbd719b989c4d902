//! Methods as the command line names them, with their parameters set.

use crate::args::ScaleArg;
use crate::console::Console;
use crate::failure::Failure;
use crate::input::standardize;
use kernsift::basis::BASES;
use kernsift::data::{Dataset, Standardizer};
use kernsift::learn::LEARNERS;
use kernsift::method::Info;
use kernsift::parameters::{Parameters, apply};
use kernsift::select::SELECTORS;
use kernsift::space::SPACES;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// An option that would do nothing is a mistake worth telling.
pub fn refuse(with: &str, options: &[(&str, bool)]) -> Result<(), Failure> {
    match options.iter().find(|(_, given)| *given) {
        Some((option, _)) => {
            Err(Failure::Input(format!("{option} has no effect with {with}; leave one of them out")))
        }
        None => Ok(()),
    }
}

/// The error that there is no such method, unless another command has it.
pub fn no_such_method(name: &str, error: kernsift::Error) -> Failure {
    let has = |infos: &[Info]| infos.iter().any(|info| info.name == name);
    let (what, command) = match () {
        () if has(SELECTORS) || has(&SPACES) => ("selects features", "select"),
        () if has(&BASES) => ("is a basis and selects nothing", "basis"),
        () if has(&LEARNERS) => ("learns a kernel", "design"),
        () => return error.into(),
    };
    Failure::Input(format!("{name} {what}; use `kernsift {command} -m {name}`"))
}

/// The method with these parameters set.
pub fn configure<T>(mut method: T, name: &'static str, settings: &[(&str, &str)]) -> Result<T, Failure>
where
    T: Parameters + Serialize + DeserializeOwned,
{
    for (key, value) in settings {
        method = apply(&method, name, key, value)?;
    }
    Ok(method)
}

/// The data on the scale that was asked for.
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
