//! Help texts as a user meets them: every command has one, and its examples run.

use crate::scratch::Scratch;

/// Examples that take long but run elsewhere: the test that runs them is in this file.
const ELSEWHERE: [(&str, &str); 1] =
    [("reproduce lp --quick --records runs --page page.md", include_str!("reproduce.rs"))];
/// Examples that take hours and have no quick form; that they are understood is tested beside the parser.
const HOURS: [&str; 1] = ["reproduce takes transform lp --data-dir sets --records runs"];

/// The commands below one, from its help.
fn below(help: &str) -> Vec<String> {
    let list = help.split_once("\nCommands:\n").map_or("", |(_, rest)| rest.split("\n\n").next().unwrap());
    let names = list.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

/// The command lines of all examples of a help, without `kernsift`.
fn examples(help: &str) -> Vec<String> {
    let lines = help.split_once("\nExamples:\n").map_or("", |(_, rest)| rest).lines();
    lines.filter_map(|line| line.trim().strip_prefix("kernsift ")).map(str::to_owned).collect()
}

#[test]
fn the_examples_of_every_help_run() {
    let s = Scratch::new();
    let mut to_visit = vec![String::new()];
    let (mut visited, mut left_out) = (vec![], 0);
    while let Some(command) = to_visit.pop() {
        let help = s.ok(format!("{command} --help").trim()).out;
        to_visit.extend(below(&help).iter().map(|name| format!("{command} {name}").trim().to_owned()));
        let lines = examples(&help);
        assert!(
            lines.iter().any(|line| line.starts_with(&command)),
            "no example in: kernsift {command} --help"
        );
        let folder = Scratch::new();
        for line in lines {
            if let Some((_, tests)) = ELSEWHERE.iter().find(|(long, _)| *long == line) {
                assert!(tests.contains(&format!("s.ok(\"{line}\")")), "no test runs: kernsift {line}");
                left_out += 1;
            } else if HOURS.contains(&line.as_str()) {
                left_out += 1;
            } else {
                let (line, file) =
                    line.split_once(" > ").map_or((line.as_str(), None), |(l, f)| (l, Some(f)));
                let run = folder.ok(line);
                file.map(|file| folder.file(file, run.out));
            }
        }
        visited.push(command);
    }
    assert_eq!(left_out, ELSEWHERE.len() + HOURS.len(), "what is left out must be an example");
    for command in ["", "select", "data", "data export", "data make", "completions"] {
        assert!(visited.iter().any(|visited| visited == command), "{visited:?}");
    }
}
