//! Atomic writing of output files.
//!
//! The rules, for the library, the command line and Python alike:
//! - Bytes are written to a temporary file in the target's folder, which is renamed at the end. On any earlier failure
//!   the target is unchanged and no temporary file remains.
//! - Symbolic links are followed: the link remains, and its target is replaced (or created).
//! - A replaced file keeps its permissions and, if the system allows it, its owner.
//! - Folders, devices, pipes and sockets are refused: they cannot be replaced.
//! - [`check`] refuses targets that are also inputs.

use std::fs::{self, Metadata, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

use crate::error::{Error, Result};

/// The maximum length of a chain of symbolic links, as on Linux.
const MAX_LINKS: usize = 40;

/// A file being written. The previous file stays in place until [`OutputFile::commit`], and for good if that is never
/// called.
#[derive(Debug)]
pub struct OutputFile {
    /// The caller's path.
    path: PathBuf,
    /// The file that is written, after following links.
    target: PathBuf,
    file: NamedTempFile,
}

impl OutputFile {
    /// Starts writing. The file may or may not exist; its folder must.
    ///
    /// # Errors
    /// [`Error::Output`] for anything but a regular file, [`Error::Io`] if the system refuses.
    pub fn create(path: &Path) -> Result<OutputFile> {
        let target = followed(path)?;
        let old = match fs::metadata(&target) {
            Ok(old) => Some(old),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(source) => return Err(failed(path, "cannot write")(source)),
        };
        if let Some(old) = &old {
            regular(path, old)?;
        }
        fs::metadata(folder_of(&target)).map_err(failed(path, "cannot find its folder"))?;
        let mut builder = Builder::new();
        builder.prefix(".widemargin-").suffix(".tmp");
        if let Some(permissions) = usual_permissions() {
            builder.permissions(permissions);
        }
        // The system's message without the name of the temporary file, which is meaningless to users.
        let file = builder
            .tempfile_in(folder_of(&target))
            .map_err(|source| failed(path, "cannot create a file in its folder")(source.kind().into()))?;
        if let Some(old) = old {
            keep(&file, &old).map_err(failed(path, "cannot keep its permissions"))?;
        }
        Ok(OutputFile { path: path.to_owned(), target, file })
    }

    /// Moves the file into place. The data is on disk when this returns.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn commit(self) -> Result<()> {
        let OutputFile { path, target, file } = self;
        file.as_file().sync_all().map_err(failed(&path, "cannot write"))?;
        file.persist(&target).map_err(|error| failed(&path, "cannot rename the finished file")(error.error))?;
        Ok(())
    }
}

/// The error of an action that the system refuses.
fn failed(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> Error {
    move |source| Error::Io { path: path.to_owned(), action, source }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Refuses a target that is not a regular file, that is one of `inputs`, or that lies in an input folder. Each input is
/// a pair of its name in messages ("the data") and its path, `-` being standard input. Files are compared by identity,
/// not by name, so that symbolic and hard links are recognized.
///
/// # Errors
/// [`Error::Output`]; [`Error::Io`] if the target cannot be examined.
pub fn check(path: &Path, inputs: &[(&str, &Path)]) -> Result<()> {
    let target = followed(path)?;
    let old = fs::metadata(&target).ok();
    if let Some(old) = &old {
        regular(path, old)?;
    }
    for &(what, input) in inputs {
        let input = if input.as_os_str() == "-" { Path::new("/dev/stdin") } else { input };
        // Missing inputs are reported by the reader.
        let Ok(read) = fs::metadata(input) else { continue };
        let refused = |problem| {
            let hint = "name another file: input files are not overwritten";
            Err(Error::Output { path: path.to_owned(), problem, hint })
        };
        if let Some(old) = &old
            && read.is_file()
            && is_same((&target, old), (input, &read))
        {
            return refused(format!("is {what} itself"));
        }
        if read.is_dir() && (lies_in(&target, input) || old.as_ref().is_some_and(|old| is_name_of_one_in(old, input))) {
            return refused(format!("is in {}, the folder of {what}", input.display()));
        }
    }
    Ok(())
}

/// The path that is written: symbolic links followed, even if the final target does not exist.
fn followed(path: &Path) -> Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        if !fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink()) {
            return Ok(path);
        }
        let to = fs::read_link(&path).map_err(failed(&path, "cannot follow the symbolic link"))?;
        // A relative link is relative to its folder; an absolute one replaces the whole path.
        path = folder_of(&path).join(to);
    }
    let problem = "a symbolic link that leads back to itself".into();
    Err(Error::Output { path, problem, hint: "name a file" })
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn regular(path: &Path, found: &Metadata) -> Result<()> {
    if found.is_file() {
        return Ok(());
    }
    if found.is_dir() {
        return Err(failed(path, "cannot write")(io::ErrorKind::IsADirectory.into()));
    }
    let problem = "a device, a pipe or a socket, not a regular file".into();
    let hint = "name a separate file; standard output can be redirected by the shell";
    Err(Error::Output { path: path.to_owned(), problem, hint })
}

/// Whether the target is in the folder, at any depth.
fn lies_in(target: &Path, folder: &Path) -> bool {
    let Ok(folder) = fs::canonicalize(folder) else { return false };
    let Ok(target) = std::path::absolute(target) else { return false };
    // Intermediate folders may not exist yet.
    target.ancestors().skip(1).find_map(|above| fs::canonicalize(above).ok()).is_some_and(|at| at.starts_with(folder))
}

/// Whether a hard-linked file has one of its names in the folder, at any depth.
fn is_name_of_one_in(file: &Metadata, folder: &Path) -> bool {
    fn search(file: &Metadata, folder: &Path, deeper: bool) -> bool {
        let Ok(entries) = fs::read_dir(folder) else { return false };
        entries.flatten().any(|entry| {
            let path = entry.path();
            fs::metadata(&path).is_ok_and(|found| match found.is_dir() {
                true => deeper && search(file, &path, false),
                false => is_same((&path, file), (&path, &found)),
            })
        })
    }
    has_other_names(file) && search(file, folder, true)
}

#[cfg(unix)]
fn is_same((_, a): (&Path, &Metadata), (_, b): (&Path, &Metadata)) -> bool {
    use std::os::unix::fs::MetadataExt;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

#[cfg(not(unix))]
fn is_same((a, _): (&Path, &Metadata), (b, _): (&Path, &Metadata)) -> bool {
    matches!((fs::canonicalize(a), fs::canonicalize(b)), (Ok(a), Ok(b)) if a == b)
}

#[cfg(unix)]
fn has_other_names(file: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    file.nlink() > 1
}

#[cfg(not(unix))]
fn has_other_names(_: &Metadata) -> bool {
    false
}

/// Gives a new file the permissions and, if possible, the owner of the file it replaces.
fn keep(file: &NamedTempFile, old: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        let new = file.as_file().metadata()?;
        if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
            // Only the superuser may change the owner; otherwise the file belongs to the current user.
            let _ = fchown(file.as_file(), Some(old.uid()), Some(old.gid()));
        }
    }
    // Set explicitly rather than at creation, where the umask would remove some.
    file.as_file().set_permissions(old.permissions())
}

/// The permissions of any new file, subject to the umask.
#[cfg(unix)]
fn usual_permissions() -> Option<Permissions> {
    use std::os::unix::fs::PermissionsExt;
    Some(Permissions::from_mode(0o666))
}

#[cfg(not(unix))]
fn usual_permissions() -> Option<Permissions> {
    None
}
