//! The commands that the documentation shows, run as they stand there.

mod scratch;

use scratch::Scratch;

/// Lines of shell blocks that call the program, without comments.
fn commands(text: &str) -> Vec<String> {
    let blocks = text.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let lines = blocks.flat_map(str::lines).filter_map(|line| line.strip_prefix("kernsift "));
    lines.map(|line| line.split(" # ").next().unwrap().trim().replace("DATA", "builtin:wine")).collect()
}

#[test]
fn every_command_of_readme_and_guides_runs() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");
    for (file, at_least) in [("README.md", 7), ("docs/commands.md", 20), ("docs/compare.md", 3)] {
        let s = Scratch::new();
        for name in ["wine.csv", "new.csv", "NEW.csv"] {
            s.ok(&format!("data export wine --out {name}"));
        }
        let commands = commands(&std::fs::read_to_string(format!("{folder}{file}")).unwrap());
        assert!(commands.len() >= at_least, "{file}: {commands:?}");
        for command in commands {
            s.ok(&command);
        }
    }
}
