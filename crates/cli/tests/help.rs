//! Every command has a help text, and its examples run.

use crate::scratch::Scratch;

/// Slow examples, and the file with the test that runs them.
const TESTED_ELSEWHERE: [(&str, &str); 1] =
    [("reproduce lp --quick --records runs --page page.md", include_str!("reproduce.rs"))];
/// Examples that take hours; the tests of the parser cover them.
const NOT_RUN: [&str; 1] = ["reproduce takes transform lp --data-dir sets --records runs"];

/// The subcommands listed in a help text.
fn subcommands(help: &str) -> Vec<String> {
    let list = help.split_once("\nCommands:\n").map_or("", |(_, rest)| rest.split("\n\n").next().unwrap());
    let names = list.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

/// The command lines of the examples in a help text, without `kernsift`.
fn examples(help: &str) -> Vec<String> {
    let lines = help.split_once("\nExamples:\n").map_or("", |(_, rest)| rest).lines();
    lines.filter_map(|line| line.trim().strip_prefix("kernsift ")).map(str::to_owned).collect()
}

#[test]
fn examples_of_every_help_text_run() {
    let s = Scratch::new();
    let mut to_visit = vec![String::new()];
    let (mut visited, mut n_skipped) = (vec![], 0);
    while let Some(command) = to_visit.pop() {
        let help = s.ok(format!("{command} --help").trim()).out;
        to_visit.extend(subcommands(&help).iter().map(|name| format!("{command} {name}").trim().to_owned()));
        let lines = examples(&help);
        assert!(
            lines.iter().any(|line| line.starts_with(&command)),
            "no example in: kernsift {command} --help"
        );
        let folder = Scratch::new();
        for line in lines {
            if let Some((_, tests)) = TESTED_ELSEWHERE.iter().find(|(long, _)| *long == line) {
                assert!(tests.contains(&format!("s.ok(\"{line}\")")), "no test runs: kernsift {line}");
                n_skipped += 1;
            } else if NOT_RUN.contains(&line.as_str()) {
                n_skipped += 1;
            } else {
                let (line, file) =
                    line.split_once(" > ").map_or((line.as_str(), None), |(l, f)| (l, Some(f)));
                let run = folder.ok(line);
                file.map(|file| folder.file(file, run.out));
            }
        }
        visited.push(command);
    }
    assert_eq!(n_skipped, TESTED_ELSEWHERE.len() + NOT_RUN.len(), "every skipped line must be an example");
    for command in ["", "select", "data", "data export", "data make", "completions"] {
        assert!(visited.iter().any(|visited| visited == command), "{visited:?}");
    }
}
