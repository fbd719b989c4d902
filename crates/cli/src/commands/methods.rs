//! `kernsift methods`

use crate::args::MethodsArgs;
use crate::console::Console;
use crate::failure::Failure;
use crate::output::{fact, listing, print};
use kernsift::Error;
use kernsift::basis::{BASES, BasisMethod};
use kernsift::evaluate::EVALUATORS;
use kernsift::learn::LEARNERS;
use kernsift::method::Info;
use kernsift::parameters::{Parameter, Parameters};
use kernsift::select::{SELECTORS, SelectorMethod};
use kernsift::space::{KernelSpaceSelector, SPACES};
use serde_json::json;

/// Lists the methods, or the parameters of one.
pub fn run(args: &MethodsArgs, console: &Console) -> Result<(), Failure> {
    match &args.name {
        Some(name) => one(name, args.json, console),
        None => all(args.json, console),
    }
}

/// The families of methods: a key for records, a heading, and the methods.
fn families() -> [(&'static str, &'static str, &'static [Info]); 5] {
    [
        ("selector", "Selectors (kernsift select -m NAME): which features matter", SELECTORS),
        (
            "kernel-space",
            "Kernel-space selection (kernsift select -m NAME): which directions of kernel space matter",
            &SPACES,
        ),
        ("basis", "Bases (kernsift basis -m NAME): coordinates in kernel space", &BASES),
        (
            "kernel-learner",
            "Kernel learners (kernsift design -m NAME): similarity learned from triplets",
            &LEARNERS,
        ),
        (
            "evaluator",
            "Evaluators (kernsift compare --evaluator NAME): predict the target from the selected features",
            &EVALUATORS,
        ),
    ]
}

/// Prints a method with its parameters.
fn one(name: &str, json: bool, console: &Console) -> Result<(), Failure> {
    let families = families();
    let mut infos = families.iter().flat_map(|(_, _, infos)| infos.iter());
    let Some(info) = infos.find(|info| info.name == name) else {
        let names = families.iter().flat_map(|(_, _, infos)| infos.iter().map(|info| info.name));
        return Err(Error::unknown_name("method", name, names).into());
    };
    let parameters = parameters(name);
    if json {
        let record = json!({"name": info.name, "title": info.title, "summary": info.summary, "needs": info.needs,
            "cost": info.cost, "reference": info.reference, "parameters": parameters});
        return Ok(print(&(serde_json::to_string_pretty(&record)? + "\n"))?);
    }
    console.clear();
    print(&format!("{}: {}\n\n", info.title, info.summary))?;
    for (key, value) in
        [("target", info.needs.describe()), ("cost", info.cost), ("reference", info.reference)]
    {
        print(&fact(key, value, ""))?;
    }
    let rows: Vec<Vec<String>> = parameters
        .iter()
        .map(|p| vec![p.name.clone(), p.default_text(), p.expected(), p.description.clone()])
        .collect();
    match rows.is_empty() {
        true => print("\nIt has no parameters.\n")?,
        false => {
            print(&format!("\n{}", listing(&["parameter", "default", "values", "description"], rows, &[])))?
        }
    }
    Ok(())
}

/// The parameters of a method by name; none for methods without.
fn parameters(name: &str) -> Vec<Parameter> {
    let selector = SelectorMethod::by_name(name).map(|method| method.parameters());
    let space = || KernelSpaceSelector::by_name(name).map(|method| method.parameters());
    let basis = || BasisMethod::by_name(name).map(|method| method.parameters());
    selector.or_else(|_| space()).or_else(|_| basis()).unwrap_or_default()
}

/// Prints a table of the methods of each family.
fn all(json: bool, console: &Console) -> Result<(), Failure> {
    let families = families();
    if json {
        let all: Vec<_> = families
            .iter()
            .flat_map(|(family, _, infos)| {
                infos.iter().map(move |i| {
                    json!({"family": family, "name": i.name, "title": i.title, "summary": i.summary,
                           "needs": i.needs, "cost": i.cost, "reference": i.reference})
                })
            })
            .collect();
        return Ok(print(&(serde_json::to_string_pretty(&all)? + "\n"))?);
    }
    console.clear();
    for (i, (_, heading, infos)) in families.iter().enumerate() {
        let rows = infos
            .iter()
            .map(|i| [i.name, i.summary, i.needs.describe(), i.cost, i.reference].map(str::to_owned).to_vec())
            .collect();
        let gap = if i > 0 { "\n" } else { "" };
        print(&format!("{gap}{heading}\n\n"))?;
        print(&listing(&["name", "selects or computes", "target", "cost", "reference"], rows, &[]))?;
    }
    Ok(())
}
