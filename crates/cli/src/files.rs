//! Checks the files that a command writes.

use crate::args::OutputArgs;
use crate::failure::Failure;
use crate::input::Loaded;
use kernsift::data::write::{check_place, check_table};
use kernsift::model::is_json;
use std::path::{Path, PathBuf};

/// A file that a command writes: the option that names it, and its path if that option was given.
pub type Output<'a> = (&'a str, Option<&'a Path>);

/// Returns an error for outputs that cannot be written, that overwrite an input, or that share a file.
pub fn check_outputs(outputs: &[Output], inputs: &[&Path]) -> std::result::Result<(), Failure> {
    let mut taken: Vec<(&str, PathBuf)> = vec![];
    for (option, path) in outputs {
        let Some(path) = path else { continue };
        let target = resolved(path);
        if let Some(input) = inputs.iter().find(|input| resolved(input) == target) {
            return Err(Failure::Input(format!(
                "{option} would write over {}, which is read; choose another file",
                input.display()
            )));
        }
        if let Some((other, _)) = taken.iter().find(|(_, other)| *other == target) {
            return Err(Failure::Input(format!("{other} and {option} need different files")));
        }
        check_place(path)?;
        taken.push((option, target));
    }
    Ok(())
}

/// The absolute path of a file. A file that does not exist yet has the absolute path of its folder.
fn resolved(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let in_folder = || Some(folder.canonicalize().ok()?.join(path.file_name()?));
    path.canonicalize().ok().or_else(in_folder).unwrap_or_else(|| path.to_owned())
}

/// Checks the outputs of a command that fits a model to a table. `tables` are further tables that it writes, `inputs`
/// further files that it reads.
pub fn check_fit_outputs(
    args: &OutputArgs,
    tables: &[Output],
    loaded: &Loaded,
    inputs: &[Option<&Path>],
) -> std::result::Result<(), Failure> {
    args.writing.check(args.out.is_some() || tables.iter().any(|(_, path)| path.is_some()))?;
    loaded.refuse_sampled(&[("--out", args.out.is_some())])?;
    let inputs: Vec<&Path> = inputs.iter().flatten().copied().chain(loaded.files()).collect();
    check_outputs(&[&args.files(), tables].concat(), &inputs)?;
    args.out.as_ref().map_or(Ok(()), |path| Ok(check_table(path, &loaded.targets)?))
}

/// Returns an error for a file of JSON, in which only a selection of features can be saved.
pub fn refuse_json(save: Option<&Path>) -> std::result::Result<(), Failure> {
    match save.filter(|path| is_json(path)) {
        None => Ok(()),
        Some(path) => Err(Failure::Input(format!(
            "--save {}: only a selection of features can be saved as JSON; choose another extension than .json",
            path.display()
        ))),
    }
}
