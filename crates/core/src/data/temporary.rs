//! Files that are being written, before they take their names.
//!
//! A file that is not finished goes away with its owner. A program that ends without letting go of what it owns calls
//! [`abandon`] first. One that is killed leaves its file behind, and a later one tidies it up.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tempfile::NamedTempFile;

/// How the names of temporary files begin; [`LETTERS`] random ones follow.
const PREFIX: &str = ".kernsift-";
const LETTERS: usize = 6;
/// So long after the last byte nobody goes on writing. The lock says it too, but some file systems know no locks, and
/// others keep them to one machine.
const FORSAKEN: Duration = Duration::from_secs(60 * 60);

/// The files that this program is writing. They are made, put in their places and removed under this lock.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(vec![]);

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes all files that are not finished, for a program that is about to end by force. No file is made or put in its place
/// after this: who tries waits for the end.
pub fn abandon() {
    let unfinished = unfinished();
    unfinished.iter().for_each(|path| drop(std::fs::remove_file(path)));
    std::mem::forget(unfinished);
}

/// A file that is not finished.
pub struct Temporary(Option<NamedTempFile>);

impl Temporary {
    /// A new one in a folder, locked so that nobody takes it for forsaken.
    pub fn new_in(folder: &Path) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX).rand_bytes(LETTERS);
        // Temporary files are private; this one is to be like any file the user makes, so umask decides.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let mut unfinished = unfinished();
        let file = builder.tempfile_in(folder)?;
        // Where there are no locks, its age protects it.
        let _ = file.as_file().try_lock();
        unfinished.push(file.path().to_owned());
        Ok(Self(Some(file)))
    }

    /// The open file.
    pub fn file(&mut self) -> &mut File {
        self.0.as_mut().expect("there until it is put in its place").as_file_mut()
    }

    /// Gives it its name, in the place of an older file.
    pub fn put(mut self, place: &Path) -> io::Result<()> {
        // Whoever opens the file under its name may want to lock it.
        let _ = self.file().unlock();
        self.end(|file| file.persist(place).map(drop).map_err(|e| e.error))
    }

    fn end(&mut self, how: impl FnOnce(NamedTempFile) -> io::Result<()>) -> io::Result<()> {
        let mut unfinished = unfinished();
        let Some(file) = self.0.take() else { return Ok(()) };
        let path = file.path().to_owned();
        let ended = how(file);
        unfinished.retain(|other| *other != path);
        ended
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // What cannot be removed now is tidied up later.
        let _ = self.end(NamedTempFile::close);
    }
}

/// Removes what runs that were killed have left in a folder.
pub fn tidy(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if is_named_so(&entry.file_name()) && is_forsaken(&entry.path()) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

fn is_named_so(name: &OsStr) -> bool {
    let letters = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
    letters.is_some_and(|l| l.len() == LETTERS && l.bytes().all(|b| b.is_ascii_alphanumeric()))
}

/// Whether a file is old and nobody holds its lock.
fn is_forsaken(path: &Path) -> bool {
    let is_old = |found: Metadata| {
        let age = found.modified().ok().and_then(|time| time.elapsed().ok());
        found.is_file() && age.is_some_and(|age| age > FORSAKEN)
    };
    std::fs::symlink_metadata(path).is_ok_and(is_old)
        && File::open(path).is_ok_and(|file| file.try_lock().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::SystemTime;

    fn make_old(file: &File) {
        file.set_modified(SystemTime::now() - 2 * FORSAKEN).unwrap();
    }

    #[test]
    fn only_old_files_of_nobody_are_tidied_up() {
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
        tidy(folder.path());
        assert!(!folder.path().join(".kernsift-abc123").exists());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 6, "the rest stays");
        // Nobody writes it any more, as if its program had been killed.
        let path = written.0.take().unwrap().into_temp_path().keep().unwrap();
        tidy(folder.path());
        assert!(!path.exists());
    }

    #[test]
    fn a_file_is_known_until_it_is_put_or_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let known = || unfinished().iter().filter(|path| path.starts_with(folder.path())).count();
        let (one, two) =
            (Temporary::new_in(folder.path()).unwrap(), Temporary::new_in(folder.path()).unwrap());
        assert_eq!(known(), 2);
        one.put(&folder.path().join("one")).unwrap();
        assert_eq!(known(), 1);
        File::open(folder.path().join("one")).unwrap().try_lock().unwrap();
        drop(two);
        assert_eq!(known(), 0);
        let lost = Temporary::new_in(folder.path()).unwrap();
        assert!(lost.put(&folder.path().join("no/one")).is_err());
        assert_eq!((known(), std::fs::read_dir(folder.path()).unwrap().count()), (0, 1));
    }

    /// What is abandoned cannot be taken up again, so this runs in a program of its own: this one, with a folder to write to.
    #[test]
    fn a_program_that_ends_by_force_leaves_nothing() {
        const FOLDER: &str = "KERNSIFT_TEST_ABANDON";
        if let Some(folder) = std::env::var_os(FOLDER) {
            let file = Temporary::new_in(Path::new(&folder)).unwrap();
            std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(20));
                // Too late: the name must not be taken any more.
                let _ = file.put(&Path::new(&folder).join("taken"));
            });
            abandon();
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
