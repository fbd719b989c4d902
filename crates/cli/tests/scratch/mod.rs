//! Runs the program in a temporary directory.

use std::path::PathBuf;
use std::process::{Command, Output};

/// A temporary directory, deleted when dropped.
pub struct Scratch {
    folder: tempfile::TempDir,
}

/// Exit code and output of a run.
pub struct Run {
    /// The exit code.
    pub code: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Scratch {
    /// An empty directory.
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// The path of a file in the directory.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file into the directory.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> &Self {
        std::fs::write(self.path(name), content).unwrap();
        self
    }

    /// The text of a file in the directory.
    pub fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// The names of all files in the directory.
    pub fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// A command that runs the program in the directory.
    pub fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kernsift"));
        command.current_dir(self.folder.path()).args(words(line));
        // Independent of the environment of the developer.
        command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE").env_remove("CLICOLOR");
        command
    }

    /// Runs `kernsift` with the arguments of a line.
    pub fn run(&self, line: &str) -> Run {
        Run::from(self.command(line).output().unwrap())
    }

    /// Runs a line that must succeed.
    pub fn ok(&self, line: &str) -> Run {
        let run = self.run(line);
        assert_eq!(run.code, 0, "kernsift {line}\n{}{}", run.out, run.err);
        run
    }

    /// Runs a line that must exit with code 2 and create no file; returns the message without `error: `.
    pub fn error(&self, line: &str) -> String {
        let before = self.files();
        let run = self.run(line);
        assert_eq!(run.code, 2, "kernsift {line}\n{}{}", run.out, run.err);
        assert_eq!(run.out, "", "nothing may be printed to standard output: kernsift {line}");
        assert_eq!(self.files(), before, "no file may be created: kernsift {line}");
        assert!(!run.err.contains("panicked"), "kernsift {line}\n{}", run.err);
        let message = run.err.lines().find_map(|l| l.strip_prefix("error: "));
        message.unwrap_or_else(|| panic!("no error line: kernsift {line}\n{}", run.err)).to_owned()
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// Splits a line at spaces, except within single quotes.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![];
    let mut word: Option<String> = None;
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '\'' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            ' ' if !quoted => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}
