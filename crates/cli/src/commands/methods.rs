//! `kernsift methods`

use crate::args::MethodsArgs;
use crate::console::Console;
use crate::failure::Failure;
use crate::output::{listing, print};
use kernsift::basis::BASES;
use kernsift::evaluate::EVALUATORS;
use kernsift::learn::LEARNERS;
use kernsift::method::Info;
use kernsift::select::SELECTORS;
use kernsift::space::SPACES;
use serde_json::json;

/// Lists what there is.
pub fn run(args: &MethodsArgs, console: &Console) -> Result<(), Failure> {
    let families: [(&str, &str, &[Info]); 5] = [
        ("selector", "Selectors (kernsift select -m NAME): which columns matter", &SELECTORS),
        (
            "kernel-space",
            "Kernel-space selection (kernsift select -m NAME): which directions of kernel space matter",
            &SPACES,
        ),
        ("basis", "Bases (kernsift basis -m NAME): coordinates in kernel space", &BASES),
        ("kernel-learner", "Kernel learners (kernsift design -m NAME): which rows are alike", &LEARNERS),
        (
            "evaluator",
            "Evaluators (kernsift compare --evaluator NAME): predict the target from the selected features",
            &EVALUATORS,
        ),
    ];
    if args.json {
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
        print(&listing(&["name", "finds", "needs", "cost", "reference"], rows, &[]))?;
    }
    Ok(())
}
