//! Runs the commands of the documentation and compares their output.

use crate::scratch::Scratch;
use std::path::{Path, PathBuf};

/// Command lines in shell blocks, without comments.
fn commands(text: &str) -> Vec<String> {
    let blocks = text.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let lines = blocks.flat_map(str::lines).filter_map(|line| line.strip_prefix("kernsift "));
    lines.map(|line| line.split(" # ").next().unwrap().trim().replace("DATA", "wine.csv")).collect()
}

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");

/// A directory with the tables used in the documentation.
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

/// Paths and texts of the README and all pages of the documentation.
fn pages() -> Vec<(PathBuf, String)> {
    let mut folders = vec![PathBuf::from(format!("{FOLDER}docs"))];
    let mut files = vec![PathBuf::from(format!("{FOLDER}README.md"))];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                files.push(path);
            }
        }
    }
    files.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        (path, text)
    };
    files.into_iter().map(read).collect()
}

#[test]
fn every_documented_command_runs() {
    let at_least = [
        ("README.md", 7),
        ("docs/commands.md", 20),
        ("docs/compare.md", 3),
        ("docs/design.md", 7),
        ("docs/tutorial.md", 5),
    ];
    for (path, text) in pages() {
        let commands = commands(&text);
        let expected = at_least
            .iter()
            .find(|(page, _)| path == Path::new(FOLDER).join(page))
            .map_or(0, |(_, expected)| *expected);
        assert!(commands.len() >= expected, "{}: {commands:?}", path.display());
        if commands.is_empty() {
            continue;
        }
        let s = with_tables();
        // Whether a command runs does not depend on the number of rows, nor on how many numbers of features it compares.
        let every_third = |text: &str| -> String { text.split_inclusive('\n').step_by(3).collect() };
        s.file("wine.csv", every_third(&s.text("wine.csv")));
        // Slow; the tests of `reproduce` run it.
        for command in commands.into_iter().filter(|command| command != "reproduce lp --quick") {
            s.ok(&short_comparison(&command.replace("builtin:wine", "wine.csv")));
        }
    }
}

/// A command; a comparison with one repeat and one number of features.
fn short_comparison(command: &str) -> String {
    if !command.starts_with("compare ") {
        return command.to_owned();
    }
    let words: Vec<&str> = command.split_whitespace().collect();
    let of = |at: usize| at.checked_sub(1).map_or("", |before| words[before]);
    let short = |at: usize| match of(at) {
        "-k" => "2",
        "--repeats" => "1",
        _ => words[at],
    };
    (0..words.len()).map(short).collect::<Vec<_>>().join(" ")
}

/// A block that starts with `$ kernsift ...` shows the output, warnings and notes first. A last line of three dots stands
/// for the rest. Pages wrap long lines.
#[test]
fn documented_output_is_current() {
    let mut shown_blocks = 0;
    for (path, text) in pages() {
        let blocks: Vec<&str> = text.split("```text\n$ kernsift ").skip(1).collect();
        if blocks.is_empty() {
            continue;
        }
        shown_blocks += blocks.len();
        let s = with_tables();
        for block in blocks {
            let (command, shown) = block.split("```").next().unwrap().split_once('\n').unwrap();
            let run = s.ok(command);
            let printed = run.err + &run.out;
            let page = path.display();
            assert!(
                agrees(&printed, shown),
                "{page}: kernsift {command}\n{printed}\nbut the page has\n{shown}"
            );
        }
    }
    assert!(shown_blocks >= 9, "{shown_blocks}");
}

/// Whether the words are equal up to the last digits of numbers, which depend on the processor.
fn agrees(printed: &str, shown: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        text.split([' ', ',', '\n']).filter(|word| !word.is_empty()).map(str::to_owned).collect()
    };
    let (mut printed, shown_words) = (words(printed), words(shown.trim_end_matches("...\n")));
    if shown.ends_with("...\n") {
        printed.truncate(shown_words.len());
    }
    let close = |a: &str, b: &str| match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(a), Ok(b)) => (a - b).abs() <= 1e-6 * a.abs(),
        _ => false,
    };
    printed.len() == shown_words.len() && printed.iter().zip(&shown_words).all(|(a, b)| a == b || close(a, b))
}
