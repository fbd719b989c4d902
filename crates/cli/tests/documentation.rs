//! The commands that the documentation shows, run as they stand there.

use crate::scratch::Scratch;

/// Lines of shell blocks that call the program, without comments.
fn commands(text: &str) -> Vec<String> {
    let blocks = text.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let lines = blocks.flat_map(str::lines).filter_map(|line| line.strip_prefix("kernsift "));
    lines.map(|line| line.split(" # ").next().unwrap().trim().replace("DATA", "builtin:wine")).collect()
}

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");

/// A folder with the tables that the documentation speaks of.
fn with_tables() -> Scratch {
    let s = Scratch::new();
    for name in ["wine.csv", "new.csv", "NEW.csv"] {
        s.ok(&format!("data export wine --out {name}"));
    }
    for entry in std::fs::read_dir(format!("{FOLDER}docs/examples")).unwrap() {
        let path = entry.unwrap().path();
        s.file(path.file_name().unwrap().to_str().unwrap(), std::fs::read(&path).unwrap());
    }
    s
}

#[test]
fn every_command_of_readme_and_guides_runs() {
    let guides = [("README.md", 7), ("docs/commands.md", 20), ("docs/compare.md", 3), ("docs/design.md", 7)];
    for (file, at_least) in guides {
        let s = with_tables();
        let commands = commands(&std::fs::read_to_string(format!("{FOLDER}{file}")).unwrap());
        assert!(commands.len() >= at_least, "{file}: {commands:?}");
        for command in commands {
            s.ok(&command);
        }
    }
}

/// A block that opens with `$ kernsift ...` shows what that prints, warnings and notes first, as on a terminal.
#[test]
fn shown_output_is_what_is_printed() {
    let s = with_tables();
    let text = std::fs::read_to_string(format!("{FOLDER}docs/design.md")).unwrap();
    let blocks: Vec<&str> = text.split("```text\n$ kernsift ").skip(1).collect();
    assert_eq!(blocks.len(), 4);
    for block in blocks {
        let (command, shown) = block.split("```").next().unwrap().split_once('\n').unwrap();
        let run = s.ok(command);
        let printed = run.err + &run.out;
        assert!(is_alike(&printed, shown), "kernsift {command}\n{printed}\nbut the guide has\n{shown}");
    }
}

/// Line by line the same, but for the last digits of numbers, which processors round differently.
fn is_alike(printed: &str, shown: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        text.lines().flat_map(|line| line.split([' ', ',']).chain(["\n"])).map(str::to_owned).collect()
    };
    let (printed, shown) = (words(printed), words(shown));
    let near = |a: &str, b: &str| match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(a), Ok(b)) => (a - b).abs() <= 1e-6 * a.abs(),
        _ => false,
    };
    printed.len() == shown.len() && printed.iter().zip(&shown).all(|(a, b)| a == b || near(a, b))
}
