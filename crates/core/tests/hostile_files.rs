//! Every file that fuzzing starts from or once tripped over, read again: an answer or an error, and no more memory than
//! a reader may take. What `make fuzz` finds is put into `fuzz/corpus` and is a test from then on.

#[path = "../../../fuzz/src/readers.rs"]
mod readers;

use rayon::{ThreadPool, ThreadPoolBuilder};
use readers::{READERS, Reader};
use std::path::Path;
use std::sync::{LazyLock, Mutex, PoisonError};

/// On threads of its own: memory is counted by threads, and others do other work.
fn try_on(reader: &Reader, bytes: &[u8]) -> bool {
    static THREADS: LazyLock<ThreadPool> =
        LazyLock::new(|| ThreadPoolBuilder::new().num_threads(2).build().unwrap());
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    THREADS.install(|| reader.try_on(bytes))
}

#[test]
fn the_corpus_is_read_or_refused() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    for reader in READERS {
        let files = std::fs::read_dir(corpus.join(reader.name)).unwrap().map(|entry| entry.unwrap().path());
        let read: Vec<bool> = files.map(|file| try_on(reader, &std::fs::read(file).unwrap())).collect();
        // Some of each kind are sound, or the corpus would test nothing but refusals.
        assert!(read.iter().any(|&answer| answer), "{}: none of {} is read", reader.name, read.len());
    }
    let known: Vec<&str> = READERS.iter().map(|reader| reader.name).collect();
    for folder in std::fs::read_dir(corpus).unwrap() {
        let name = folder.unwrap().file_name().into_string().unwrap();
        assert!(known.contains(&name.as_str()), "no reader reads the folder {name}");
    }
}

/// Small changes of every file, some dozens each: a little of what fuzzing does for longer.
#[test]
fn damaged_files_are_read_or_refused() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let mut rng = kernsift::random::Rng::new(11);
    for reader in READERS {
        for entry in std::fs::read_dir(corpus.join(reader.name)).unwrap() {
            let bytes = std::fs::read(entry.unwrap().path()).unwrap();
            // Files that unpack to much take a while each.
            for _ in 0..if bytes.len() > 8000 { 4 } else { 60 } {
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
