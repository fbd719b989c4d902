//! Temporary files of atomic writes.
//!
//! A temporary file is removed when it is dropped. A program that exits without dropping calls [`remove_unfinished`] first. A
//! killed program leaves its file, and a later program removes it.
//!
//! `std` is enough for this; the crate `tempfile` would add four crates to every build.

use std::ffi::OsStr;
use std::fs::{File, Metadata, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Names of temporary files: this prefix and [`RANDOM_CHARS`] random letters or digits.
const PREFIX: &str = ".kernsift-";
const RANDOM_CHARS: usize = 6;
/// Names that are tried before giving up.
const MAX_TRIES: usize = 100;
/// A file that was not modified for this long is not being written any more. File locks show it too, but some file systems
/// have none, and others do not share them between hosts.
const STALE_AFTER: Duration = Duration::from_secs(60 * 60);

/// The files that this program is writing. They are created, renamed and removed while this lock is held.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(vec![]);

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the temporary files of all unfinished writes, for a program that is about to exit without dropping. Threads that
/// try to create or rename a file after this call block until the program exits.
pub fn remove_unfinished() {
    let unfinished = unfinished();
    unfinished.iter().for_each(|path| drop(std::fs::remove_file(path)));
    std::mem::forget(unfinished);
}

/// An open temporary file.
pub(super) struct Temporary {
    file: File,
    /// `None` once it was renamed or removed.
    path: Option<PathBuf>,
}

impl Temporary {
    /// Creates one in a directory, and locks it so that no other program takes it for stale.
    pub(super) fn new_in(folder: &Path) -> io::Result<Self> {
        let mut unfinished = unfinished();
        let (file, path) = create_in(folder)?;
        // Without locks its age protects it.
        let _ = file.try_lock();
        unfinished.push(path.clone());
        Ok(Self { file, path: Some(path) })
    }

    pub(super) fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Renames it, replacing an existing file.
    pub(super) fn persist(mut self, place: &Path) -> io::Result<()> {
        // Programs that open the renamed file may want to lock it.
        let _ = self.file.unlock();
        self.finish(|path| std::fs::rename(path, place).inspect_err(|_| drop(std::fs::remove_file(path))))
    }

    fn finish(&mut self, how: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
        let mut unfinished = unfinished();
        let Some(path) = self.path.take() else { return Ok(()) };
        let finished = how(&path);
        unfinished.retain(|other| *other != path);
        finished
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // A later program removes what cannot be removed now.
        let _ = self.finish(|path| std::fs::remove_file(path));
    }
}

/// Creates a file with a new random name. Its permissions are the default ones (umask), as it becomes the user's file.
fn create_in(folder: &Path) -> io::Result<(File, PathBuf)> {
    for _ in 0..MAX_TRIES {
        let path = folder.join(random_name());
        match OpenOptions::new().read(true).write(true).create_new(true).open(&path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            opened => return opened.map(|file| (file, path)),
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

fn random_name() -> String {
    // A new `RandomState` has random keys.
    let mut bits = RandomState::new().hash_one(0);
    let mut name = PREFIX.to_owned();
    for _ in 0..RANDOM_CHARS {
        name.push(char::from_digit((bits % 36) as u32, 36).unwrap_or('0'));
        bits /= 36;
    }
    name
}

/// Removes the temporary files that killed programs have left in a directory.
pub(super) fn remove_stale(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if is_temporary_name(&entry.file_name()) && is_stale(&entry.path()) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

fn is_temporary_name(name: &OsStr) -> bool {
    let random = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
    random.is_some_and(|r| r.len() == RANDOM_CHARS && r.bytes().all(|b| b.is_ascii_alphanumeric()))
}

/// Whether a file is old and not locked.
fn is_stale(path: &Path) -> bool {
    let is_old = |found: Metadata| {
        let age = found.modified().ok().and_then(|time| time.elapsed().ok());
        found.is_file() && age.is_some_and(|age| age > STALE_AFTER)
    };
    std::fs::symlink_metadata(path).is_ok_and(is_old)
        && File::open(path).is_ok_and(|file| file.try_lock().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::SystemTime;

    fn make_old(file: &File) {
        file.set_modified(SystemTime::now() - 2 * STALE_AFTER).unwrap();
    }

    #[test]
    fn only_old_unlocked_temporary_files_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let mut written = Temporary::new_in(folder.path()).unwrap();
        make_old(written.file());
        for name in
            [".kernsift-abc123", ".kernsift-new123", ".kernsift-notes", ".kernsift-abc12\u{e9}", "mine"]
        {
            let file = File::create(folder.path().join(name)).unwrap();
            if name != ".kernsift-new123" {
                make_old(&file);
            }
        }
        std::fs::create_dir(folder.path().join(".kernsift-folder")).unwrap();
        remove_stale(folder.path());
        assert!(!folder.path().join(".kernsift-abc123").exists());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 6, "all others stay");
        // As if its program had been killed.
        let path = written.path.take().unwrap();
        drop(written);
        remove_stale(folder.path());
        assert!(!path.exists());
    }

    #[test]
    fn a_file_is_listed_until_it_is_renamed_or_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let known = || unfinished().iter().filter(|path| path.starts_with(folder.path())).count();
        let (one, two) =
            (Temporary::new_in(folder.path()).unwrap(), Temporary::new_in(folder.path()).unwrap());
        assert_eq!(known(), 2);
        one.persist(&folder.path().join("one")).unwrap();
        assert_eq!(known(), 1);
        File::open(folder.path().join("one")).unwrap().try_lock().unwrap();
        drop(two);
        assert_eq!(known(), 0);
        let lost = Temporary::new_in(folder.path()).unwrap();
        assert!(lost.persist(&folder.path().join("no/one")).is_err());
        assert_eq!((known(), std::fs::read_dir(folder.path()).unwrap().count()), (0, 1));
    }

    /// After [`remove_unfinished`] no file can be written, so this runs in a child process: this program, with a directory.
    #[test]
    fn a_program_that_exits_early_leaves_nothing() {
        const FOLDER: &str = "KERNSIFT_TEST_UNFINISHED";
        if let Some(folder) = std::env::var_os(FOLDER) {
            let file = Temporary::new_in(Path::new(&folder)).unwrap();
            std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(20));
                // Too late: the file must not be renamed any more.
                let _ = file.persist(&Path::new(&folder).join("taken"));
            });
            remove_unfinished();
            std::thread::sleep(Duration::from_millis(60));
            std::process::exit(7);
        }
        let folder = tempfile::tempdir().unwrap();
        let name = std::thread::current().name().unwrap().to_owned();
        let mut again = std::process::Command::new(std::env::current_exe().unwrap());
        let ended = again.args(["--exact", &name]).env(FOLDER, folder.path()).output().unwrap();
        assert_eq!(ended.status.code(), Some(7));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
