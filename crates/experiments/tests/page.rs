//! docs/reproduction.md is the page generated from the committed records.

use kernsift::{Context, Observer};
use kernsift_experiments::page::page;
use kernsift_experiments::{Paper, Settings, reproduce};
use std::path::{Path, PathBuf};

/// Panics when a measurement starts: all must be in the records.
struct NoMeasurements;

impl Observer for NoMeasurements {
    fn progress(&self, stage: &str, done: usize, total: usize) {
        assert_eq!(done, total, "{stage} is not in the records");
    }

    fn warn(&self, text: &str) {
        panic!("{text}");
    }
}

/// The folder of the latest run.
fn records() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../reproduction");
    let runs = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    runs.filter(|path| path.is_dir()).max().expect("records are committed")
}

#[test]
fn page_matches_the_records() {
    let copy = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(records()).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, copy.path().join(path.file_name().unwrap())).unwrap();
    }
    let settings = Settings { records: Some(copy.path().to_owned()), ..Settings::default() };
    let ctx = Context { observer: &NoMeasurements, ..Context::default() };
    let studies: Vec<_> =
        Paper::ALL.iter().map(|&paper| reproduce(paper, &settings, &ctx).unwrap()).collect();
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reproduction.md");
    let committed = std::fs::read_to_string(docs).unwrap();
    for (ours, theirs) in page(&studies, "reproduction").lines().zip(committed.lines()) {
        assert_eq!(ours, theirs, "docs/reproduction.md differs from its records: run make reproduce");
    }
    // The records are unchanged.
    for entry in std::fs::read_dir(records()).unwrap() {
        let path = entry.unwrap().path();
        let after = std::fs::read(copy.path().join(path.file_name().unwrap())).unwrap();
        assert!(std::fs::read(&path).unwrap() == after, "{}", path.display());
    }
}
