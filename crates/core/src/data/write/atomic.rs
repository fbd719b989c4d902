//! Atomic writing of files.

use super::temporary::{Temporary, remove_stale};
use crate::error::{Error, Result};
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::Path;

/// Refuses a path that is a directory, or whose directory does not exist or is not writable.
pub fn check_place(path: &Path) -> Result<()> {
    if path.is_dir() {
        return Err(Error::io(path, ErrorKind::IsADirectory.into()));
    }
    let folder = folder_of(path);
    match std::fs::metadata(folder) {
        Ok(found) if !found.is_dir() => {
            Err(Error::io(path, folder_error(folder, ErrorKind::NotADirectory.into())))
        }
        // Pipes and devices are written to directly, not replaced.
        Ok(_) if std::fs::metadata(path).is_ok_and(|existing| !existing.is_file()) => Ok(()),
        Ok(_) => match Temporary::new_in(folder) {
            Ok(_) => Ok(()),
            Err(error) => Err(Error::io(path, folder_error(folder, error))),
        },
        Err(error) => Err(Error::io(path, folder_error(folder, error))),
    }
}

/// Writes to a temporary file in the same directory, syncs it to disk and renames it to `path`. On failure an existing file
/// stays unchanged and the temporary file is removed. A killed process leaves its temporary file (`.kernsift-` and six
/// letters or digits); a later call that writes to the directory removes it once it is an hour old.
///
/// A path that is not a regular file, such as a pipe or `/dev/stdout`, is written to directly.
pub fn write_atomic(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let failed = |e: io::Error| Error::io(path, e);
    // Keep a symbolic link and replace the file it points to.
    let place = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let existing = std::fs::metadata(&place).ok();
    match &existing {
        Some(existing) if existing.is_dir() => return Err(failed(ErrorKind::IsADirectory.into())),
        Some(existing) if !existing.is_file() => {
            let mut file = OpenOptions::new().write(true).open(&place).map_err(failed)?;
            return write_buffered(&mut file, write).map_err(failed);
        }
        _ => {}
    }
    let folder = folder_of(&place);
    // First, because the new file may need the space.
    remove_stale(folder);
    let mut temporary = Temporary::new_in(folder).map_err(|e| failed(folder_error(folder, e)))?;
    write_buffered(temporary.file(), write).map_err(failed)?;
    if let Some(existing) = existing {
        temporary.file().set_permissions(existing.permissions()).map_err(failed)?;
    }
    temporary.file().sync_all().map_err(failed)?;
    temporary.persist(&place).map_err(failed)
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn write_buffered(file: &mut File, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut buffer = BufWriter::with_capacity(1 << 16, file);
    write(&mut buffer)?;
    buffer.flush()
}

/// The system's message is about the temporary file; the user needs one about the directory.
fn folder_error(folder: &Path, error: io::Error) -> io::Error {
    let folder = folder.display();
    match error.kind() {
        ErrorKind::NotFound => {
            io::Error::other(format!("the directory '{folder}' does not exist; create it first"))
        }
        ErrorKind::NotADirectory => io::Error::other(format!("'{folder}' is not a directory")),
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            io::Error::other(format!("the directory '{folder}' is not writable"))
        }
        _ => error,
    }
}

#[cfg(test)]
mod tests;
