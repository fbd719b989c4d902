//! Failures, permissions and links.

use super::*;

#[test]
fn a_failure_leaves_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.bin");
    write_atomic(&path, |out| out.write_all(b"old")).unwrap();
    let error = write_atomic(&path, |out| {
        out.write_all(b"half of the n")?;
        Err(io::Error::other("disk full"))
    });
    assert_eq!(error.unwrap_err().to_string(), format!("{}: disk full", path.display()));
    assert_eq!(std::fs::read(&path).unwrap(), b"old");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    write_atomic(&path, |out| out.write_all(b"new")).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"new");
}

#[cfg(unix)]
#[test]
fn permissions_links_and_read_only_folders() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    let mode = |name: &str| std::fs::metadata(folder.path().join(name)).unwrap().permissions().mode() & 0o777;
    let write = |name: &str| write_atomic(&folder.path().join(name), |out| out.write_all(b"x"));
    std::fs::write(folder.path().join("usual"), "").unwrap();
    write("new").unwrap();
    assert_eq!(mode("new"), mode("usual"), "the umask decides");
    std::fs::set_permissions(folder.path().join("usual"), PermissionsExt::from_mode(0o600)).unwrap();
    write("usual").unwrap();
    assert_eq!(mode("usual"), 0o600, "an existing file keeps its permissions");
    symlink("usual", folder.path().join("link")).unwrap();
    write_atomic(&folder.path().join("link"), |out| out.write_all(b"through")).unwrap();
    assert!(std::fs::symlink_metadata(folder.path().join("link")).unwrap().is_symlink());
    assert_eq!(std::fs::read(folder.path().join("usual")).unwrap(), b"through");
    write_atomic(Path::new("/dev/null"), |out| out.write_all(b"x")).unwrap();

    let locked = folder.path().join("locked");
    std::fs::create_dir(&locked).unwrap();
    std::fs::set_permissions(&locked, PermissionsExt::from_mode(0o500)).unwrap();
    // The superuser may write everywhere; then there is nothing to see.
    if std::fs::write(locked.join("probe"), "").is_err() {
        let message = write("locked/t").unwrap_err().to_string();
        assert!(message.ends_with("/locked' is not writable"), "{message}");
        assert!(check_place(&locked.join("t")).is_err());
    }
}
