//! Reads every file of the fuzzing corpus: a result or an error, within the memory limit. Findings of `make fuzz` are added
//! to `fuzz/corpus` and so become regression tests.

#[path = "../../../fuzz/src/readers.rs"]
mod readers;

use rayon::{ThreadPool, ThreadPoolBuilder};
use readers::{READERS, Reader};
use std::path::Path;
use std::sync::{LazyLock, Mutex, PoisonError};

/// Runs on separate threads, because memory is measured by thread.
fn try_on(reader: &Reader, bytes: &[u8]) -> bool {
    static THREADS: LazyLock<ThreadPool> =
        LazyLock::new(|| ThreadPoolBuilder::new().num_threads(2).build().unwrap());
    static LOCK: Mutex<()> = Mutex::new(());
    let _guard = LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    THREADS.install(|| reader.try_on(bytes))
}

#[test]
fn corpus_files_are_read_or_rejected() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    for reader in READERS {
        let files = std::fs::read_dir(corpus.join(reader.name)).unwrap().map(|entry| entry.unwrap().path());
        let read: Vec<bool> = files.map(|file| try_on(reader, &std::fs::read(file).unwrap())).collect();
        // Some files of each kind are valid; otherwise only errors would be tested.
        assert!(
            read.iter().any(|&answer| answer),
            "{}: none of {} files can be read",
            reader.name,
            read.len()
        );
    }
    let known: Vec<&str> = READERS.iter().map(|reader| reader.name).collect();
    for folder in std::fs::read_dir(corpus).unwrap() {
        let name = folder.unwrap().file_name().into_string().unwrap();
        assert!(known.contains(&name.as_str()), "no reader for the directory {name}");
    }
}

/// Dozens of small random changes of every file, like a short run of the fuzzer.
#[test]
fn damaged_files_are_read_or_rejected() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let mut rng = kernsift::internals::Rng::new(11);
    for reader in READERS {
        for entry in std::fs::read_dir(corpus.join(reader.name)).unwrap() {
            let bytes = std::fs::read(entry.unwrap().path()).unwrap();
            // Large files take a while each.
            for _ in 0..if bytes.len() > 8000 { 3 } else { 40 } {
                let mut bytes = bytes.clone();
                for _ in 0..=rng.below(3) {
                    let at = rng.below(bytes.len());
                    match rng.below(4) {
                        0 => bytes[at] = rng.below(256) as u8,
                        1 => bytes[at] ^= 1 << rng.below(8),
                        2 => drop(bytes.splice(at..at, [rng.below(256) as u8; 3])),
                        _ => bytes.truncate(at.max(1)),
                    }
                }
                try_on(reader, &bytes);
            }
        }
    }
}
