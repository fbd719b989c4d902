//! `kernsift methods`

use super::options::usage;
use crate::args::MethodsArgs;
use crate::failure::Failure;
use crate::output::{fact, listing, print, print_json};
use kernsift::catalog::{self, FAMILIES, Family};
use kernsift::device::Task;
use kernsift::method::Info;
use kernsift::select::SelectorMethod;
use serde_json::{Value, json};

/// Lists the methods, or the parameters of one.
pub fn run(args: &MethodsArgs) -> Result<(), Failure> {
    match &args.name {
        Some(name) => one(name, args.json),
        None => all(args.json),
    }
}

/// The heading of a family: what it is for, and how to use it.
fn heading(family: &Family) -> String {
    let (title, purpose) = match family.name {
        "selector" => ("Selectors", "select features"),
        "screen" => return "Screening (kernsift interactions): find pairs of features".to_owned(),
        "test" => return "Tests (kernsift test): p-values of features".to_owned(),
        "stability" => {
            return "Stability (kernsift select --stability): would another sample choose it?".to_owned();
        }
        "knockoffs" => {
            return "Knockoffs (kernsift select --fdr Q): does it add something to the others?".to_owned();
        }
        "kernel-space" => ("Kernel-space selection", "select directions of kernel space"),
        "basis" => ("Bases", "compute coordinates in kernel space"),
        "kernel-learner" => ("Kernel learners", "learn a similarity from triplets"),
        _ => ("Evaluators", "predict the target from the selected features"),
    };
    format!("{title} (kernsift {} NAME): {purpose}", usage(family).1)
}

/// Prints a method with its parameters.
fn one(name: &str, json: bool) -> Result<(), Failure> {
    let (info, parameters) = (catalog::info(name)?, catalog::parameters(name)?);
    if json {
        let mut record = record(info);
        record["parameters"] = json!(parameters);
        return Ok(print_json(&record)?);
    }
    print(&format!("{}: {}\n\n", info.title, info.summary))?;
    let weights =
        if catalog::names_with_weights().contains(&info.name) { "supported" } else { "not supported" };
    let target = match SelectorMethod::names_with_outputs().contains(&info.name) {
        true => format!("{}, or several columns of numbers", info.needs.describe()),
        false => info.needs.describe().to_owned(),
    };
    for (key, value) in [
        ("target", target.as_str()),
        ("weights", weights),
        ("GPU", &on_gpu(info)),
        ("cost", info.cost),
        ("reference", info.reference),
    ] {
        print(&fact(key, value, ""))?;
    }
    let rows: Vec<Vec<String>> = parameters
        .iter()
        .map(|p| vec![p.name.clone(), p.default_text(), p.expected(), p.description.clone()])
        .collect();
    let text = match rows.is_empty() {
        true => "This method has no parameters.\n".to_owned(),
        false => listing(&["parameter", "default", "values", "description"], rows, &[]),
    };
    Ok(print(&format!("\n{text}"))?)
}

/// What a GPU computes for a method.
fn on_gpu(info: &Info) -> String {
    let tasks: Vec<&str> = tasks(info).map(Task::describe).collect();
    if tasks.is_empty() { "not used".to_owned() } else { tasks.join(", ") }
}

fn tasks(info: &Info) -> impl Iterator<Item = Task> {
    Task::ALL.into_iter().filter(|task| task.methods().contains(&info.name))
}

fn record(info: &Info) -> Value {
    json!({"device": tasks(info).collect::<Vec<_>>(), "name": info.name, "title": info.title, "summary": info.summary, "needs": info.needs,
           "weights": catalog::names_with_weights().contains(&info.name),
           "outputs": SelectorMethod::names_with_outputs().contains(&info.name), "cost": info.cost,
           "reference": info.reference})
}

/// Prints a table of the methods of each family.
fn all(json: bool) -> Result<(), Failure> {
    if json {
        let records = FAMILIES.iter().flat_map(|family| {
            family.methods.iter().map(|info| {
                let mut record = record(info);
                record["family"] = family.name.into();
                record
            })
        });
        return Ok(print_json(&records.collect::<Vec<_>>())?);
    }
    for (i, family) in FAMILIES.iter().enumerate() {
        let row = |i: &Info| {
            [i.name, i.summary, i.needs.describe(), i.cost, i.reference].map(str::to_owned).to_vec()
        };
        let gap = if i > 0 { "\n" } else { "" };
        print(&format!("{gap}{}\n\n", heading(family)))?;
        let header = ["name", "selects or computes", "target", "cost", "reference"];
        print(&listing(&header, family.methods.iter().map(row).collect(), &[]))?;
        let weighted = catalog::names_with_weights();
        let names: Vec<&str> =
            family.methods.iter().map(|info| info.name).filter(|name| weighted.contains(name)).collect();
        if !names.is_empty() {
            print(&format!("\nWith weights of rows (--weights): {}\n", names.join(", ")))?;
        }
        let names: Vec<&str> =
            family.methods.iter().filter(|info| tasks(info).next().is_some()).map(|info| info.name).collect();
        if !names.is_empty() {
            print(&format!("\nOn a GPU (--device): {}\n", names.join(", ")))?;
        }
    }
    Ok(())
}
