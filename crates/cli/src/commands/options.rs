//! Checks and preparation that several commands share.

use crate::args::ScaleArg;
use crate::console::Console;
use crate::failure::Failure;
use crate::input::Loaded;
use kernsift::catalog::{FAMILIES, Family};
use kernsift::data::{Dataset, Encoder};
use kernsift::{Error, Observer};

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
        "screen" => ("a screen of pairs", "interactions"),
        "test" => ("a test of features", "test"),
        "stability" => ("used around a selector", "select --stability"),
        "knockoffs" => ("used around a selector", "select --fdr Q"),
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
        // The only ones of their families.
        let is_alone = ["screen", "test", "stability", "knockoffs"].contains(&family.name);
        let name_argument = if is_alone { String::new() } else { format!(" {name}") };
        return Failure::Input(format!("{name} is {kind}; use `kernsift {command}{name_argument}`"));
    }
    error.into()
}

/// Keys and values of `--set KEY=VALUE`; `example` is one.
pub fn settings_of<'a>(texts: &'a [String], example: &str) -> Result<Vec<(&'a str, &'a str)>, Failure> {
    let pair = |text: &'a String| match text.split_once('=') {
        Some((key, value)) => Ok((key.trim(), value.trim())),
        None => Err(Failure::Input(format!("--set {text}: write --set KEY=VALUE, such as --set {example}"))),
    };
    texts.iter().map(pair).collect()
}

/// The features encoded as requested, with a warning that names constant ones.
pub fn encoded(loaded: &Loaded, scale: ScaleArg, console: &Console) -> kernsift::Result<(Dataset, Encoder)> {
    console.stage("encoding features");
    let data = &loaded.prepared.data;
    let encoder = Encoder::fit(data, loaded.encoding(scale == ScaleArg::Standard))?;
    let constant: Vec<&str> = encoder.constant().iter().map(|&j| data.names()[j].as_str()).collect();
    match constant.as_slice() {
        [] => {}
        [name] => console.warn(&format!("column {name} is constant and has no effect")),
        names => console.warn(&format!("columns {} are constant and have no effect", listed(names))),
    }
    Ok((encoder.encode(data)?, encoder))
}

/// The first names of a list, and the number of the others.
fn listed(names: &[&str]) -> String {
    const SHOWN: usize = 5;
    let shown = names[..names.len().min(SHOWN)].join(", ");
    if names.len() > SHOWN { format!("{shown} and {} more", names.len() - SHOWN) } else { shown }
}
