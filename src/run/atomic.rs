//! Files that are there whole or not at all.

use std::io::{self, Write};

use camino::Utf8Path;

/// Writes a file beside `path` and renames it there, so that a killed process
/// leaves the old file or the new one, and never a torn one.
pub fn write(path: &Utf8Path, bytes: &[u8]) -> io::Result<()> {
    let partial = Utf8Path::new(path.as_str()).with_extension(format!(
        "{}.partial-{}",
        path.extension().unwrap_or("file"),
        std::process::id()
    ));
    let result = write_through(&partial, bytes).and_then(|()| fs_err::rename(&partial, path));
    if result.is_err() {
        // The first error is the one to tell; the leftover is harmless.
        let _ = fs_err::remove_file(&partial);
    }
    result
}

fn write_through(path: &Utf8Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = fs_err::File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_that_fails_keeps_the_old_file_and_leaves_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let dir = Utf8Path::from_path(dir.path()).unwrap();
        let path = dir.join("results.json");
        write(&path, b"old").unwrap();
        write(&path, b"new").unwrap();
        assert_eq!(fs_err::read(&path).unwrap(), b"new");
        write(&dir.join("absent/results.json"), b"lost").unwrap_err();
        assert_eq!(dir.read_dir_utf8().unwrap().count(), 1);
    }
}
