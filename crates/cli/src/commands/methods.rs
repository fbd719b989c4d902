//! `kernsift methods`

use crate::args::MethodsArgs;
use crate::console::Console;
use crate::failure::Failure;
use crate::output::{fact, listing, print};
use kernsift::catalog::{self, FAMILIES, Family};
use kernsift::method::Info;
use serde_json::json;

/// Lists the methods, or the parameters of one.
pub fn run(args: &MethodsArgs, console: &Console) -> Result<(), Failure> {
    match &args.name {
        Some(name) => one(name, args.json, console),
        None => all(args.json, console),
    }
}

/// What a family is for, and how to use it.
fn heading(family: &Family) -> &'static str {
    match family.name {
        "selector" => "Selectors (kernsift select -m NAME): which features matter",
        "kernel-space" => {
            "Kernel-space selection (kernsift select -m NAME): which directions of kernel space matter"
        }
        "basis" => "Bases (kernsift basis -m NAME): coordinates in kernel space",
        "kernel-learner" => "Kernel learners (kernsift design -m NAME): similarity learned from triplets",
        _ => "Evaluators (kernsift compare --evaluator NAME): predict the target from the selected features",
    }
}

/// Prints a method with its parameters.
fn one(name: &str, json: bool, console: &Console) -> Result<(), Failure> {
    let (info, parameters) = (catalog::info(name)?, catalog::parameters(name)?);
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

/// Prints a table of the methods of each family.
fn all(json: bool, console: &Console) -> Result<(), Failure> {
    if json {
        let record = |family: &'static Family| {
            family.methods.iter().map(move |i| {
                json!({"family": family.name, "name": i.name, "title": i.title, "summary": i.summary,
                       "needs": i.needs, "cost": i.cost, "reference": i.reference})
            })
        };
        let all: Vec<_> = FAMILIES.iter().flat_map(record).collect();
        return Ok(print(&(serde_json::to_string_pretty(&all)? + "\n"))?);
    }
    console.clear();
    for (i, family) in FAMILIES.iter().enumerate() {
        let row = |i: &Info| {
            [i.name, i.summary, i.needs.describe(), i.cost, i.reference].map(str::to_owned).to_vec()
        };
        let gap = if i > 0 { "\n" } else { "" };
        print(&format!("{gap}{}\n\n", heading(family)))?;
        let header = ["name", "selects or computes", "target", "cost", "reference"];
        print(&listing(&header, family.methods.iter().map(row).collect(), &[]))?;
    }
    Ok(())
}
