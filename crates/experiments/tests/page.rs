//! The page in docs is the one that the kept records give: nothing on it was typed, and nothing has drifted since.

use kernsift::{Context, Observer};
use kernsift_experiments::page::page;
use kernsift_experiments::{Paper, Settings, reproduce};
use std::path::{Path, PathBuf};

/// Ends a run that begins to measure: all must be known.
struct Known;

impl Observer for Known {
    fn progress(&self, stage: &str, done: usize, total: usize) {
        assert_eq!(done, total, "{stage} is not in the records");
    }

    fn warn(&self, text: &str) {
        panic!("{text}");
    }
}

/// The folder of the last run.
fn records() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../reproduction");
    let runs = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    runs.filter(|path| path.is_dir()).max().expect("a run was kept")
}

#[test]
fn the_page_is_that_of_the_records() {
    let copy = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(records()).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, copy.path().join(path.file_name().unwrap())).unwrap();
    }
    let settings = Settings { records: Some(copy.path().to_owned()), ..Settings::default() };
    let ctx = Context { observer: &Known, ..Context::default() };
    let studies: Vec<_> =
        Paper::ALL.iter().map(|&paper| reproduce(paper, &settings, &ctx).unwrap()).collect();
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reproduction.md");
    let kept = std::fs::read_to_string(docs).unwrap();
    for (ours, theirs) in page(&studies, "reproduction").lines().zip(kept.lines()) {
        assert_eq!(ours, theirs, "docs/reproduction.md is not what its records give: make reproduce");
    }
    // Going through it has changed nothing.
    for entry in std::fs::read_dir(records()).unwrap() {
        let path = entry.unwrap().path();
        let through = std::fs::read(copy.path().join(path.file_name().unwrap())).unwrap();
        assert!(std::fs::read(&path).unwrap() == through, "{}", path.display());
    }
}
