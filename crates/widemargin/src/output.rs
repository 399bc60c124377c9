//! Files that appear whole or not at all: the one way in which results come to a disk.
//!
//! The rules, for the library, the command line and Python alike:
//! - The bytes go to a temporary file in the target's folder, which takes the name at the end. Whatever fails before,
//!   what was there stays as it was and no temporary file is left.
//! - A symbolic link is followed: the link stays, and the file it names is replaced (or made).
//! - A file that is replaced keeps its permissions and, where the system lets us, its owner.
//! - A folder, a device, a pipe or a socket is refused: it cannot be replaced, and is no place for a result.
//! - [`check`] refuses what the work itself reads.

use std::fs::{self, Metadata, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

use crate::error::{Error, Result};

/// As many symbolic links one after the other as Linux follows.
const MOST_LINKS: usize = 40;

/// A file being written. What was there before stays until [`OutputFile::commit`], and for good if that is never called.
#[derive(Debug)]
pub struct OutputFile {
    /// As the caller named it.
    path: PathBuf,
    /// What takes the bytes: links followed.
    target: PathBuf,
    file: NamedTempFile,
}

impl OutputFile {
    /// Starts a file. The name may exist or not; its folder must.
    ///
    /// # Errors
    /// [`Error::Output`] for what is no regular file, [`Error::Io`] where the system refuses.
    pub fn create(path: &Path) -> Result<OutputFile> {
        let wrong = |action| move |source| Error::Io { path: path.to_owned(), action, source };
        let target = followed(path)?;
        let old = match fs::metadata(&target) {
            Ok(old) => Some(old),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(source) => return Err(wrong("cannot write")(source)),
        };
        if let Some(old) = &old {
            regular(path, old)?;
        }
        fs::metadata(folder_of(&target)).map_err(wrong("cannot find its folder"))?;
        let mut builder = Builder::new();
        builder.prefix(".widemargin-").suffix(".tmp");
        if let Some(permissions) = usual_permissions() {
            builder.permissions(permissions);
        }
        // The system's words without the name of the temporary file, which means nothing to anyone.
        let file = builder
            .tempfile_in(folder_of(&target))
            .map_err(|source| wrong("cannot create a file in its folder")(source.kind().into()))?;
        if let Some(old) = old {
            keep(&file, &old).map_err(wrong("cannot keep its permissions"))?;
        }
        Ok(OutputFile { path: path.to_owned(), target, file })
    }

    /// Gives the file its name. The data is on the disk when this returns.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn commit(self) -> Result<()> {
        let OutputFile { path, target, file } = self;
        if let Err(source) = file.as_file().sync_all() {
            return Err(Error::Io { path, action: "cannot write", source });
        }
        match file.persist(&target) {
            Ok(_) => Ok(()),
            Err(error) => Err(Error::Io { path, action: "cannot rename the finished file", source: error.error }),
        }
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Refuses a target that is no regular file, or that is one of `inputs`, or lies in a folder that is one. Each input is
/// what messages call it ("the data") and its path, `-` being standard input. Files are told apart by what they are, not
/// by their names: through symbolic links and other names of the same file.
///
/// # Errors
/// [`Error::Output`]; [`Error::Io`] for a target that cannot be looked at.
pub fn check(path: &Path, inputs: &[(&str, &Path)]) -> Result<()> {
    let target = followed(path)?;
    let old = fs::metadata(&target).ok();
    if let Some(old) = &old {
        regular(path, old)?;
    }
    for &(what, input) in inputs {
        let input = if input.as_os_str() == "-" { Path::new("/dev/stdin") } else { input };
        // What is not there is for the reader to say.
        let Ok(read) = fs::metadata(input) else { continue };
        let refused = |problem| {
            let hint = "name another file: what is read is not overwritten";
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

/// The path that is written: symbolic links followed, whether or not there is something at their end.
fn followed(path: &Path) -> Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        if !fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink()) {
            return Ok(path);
        }
        match fs::read_link(&path) {
            // A relative link counts from where it is; an absolute one replaces the whole path.
            Ok(to) => path = folder_of(&path).join(to),
            Err(source) => return Err(Error::Io { path, action: "cannot follow the symbolic link", source }),
        }
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
        let source = io::ErrorKind::IsADirectory.into();
        return Err(Error::Io { path: path.to_owned(), action: "cannot write", source });
    }
    let problem = "a device, a pipe or a socket, not a regular file".into();
    let hint = "name a file of its own; what goes to standard output goes anywhere by way of the shell";
    Err(Error::Output { path: path.to_owned(), problem, hint })
}

/// Whether the target is in the folder, however deep.
fn lies_in(target: &Path, folder: &Path) -> bool {
    let Ok(folder) = fs::canonicalize(folder) else { return false };
    let Ok(target) = std::path::absolute(target) else { return false };
    // Folders on the way may have to be made yet.
    target.ancestors().skip(1).find_map(|above| fs::canonicalize(above).ok()).is_some_and(|at| at.starts_with(folder))
}

/// Whether a file with several names has one of them in the folder, or in a folder of it.
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

/// Gives a new file the owner, where we may, and the permissions of the one that it replaces.
fn keep(file: &NamedTempFile, old: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        let new = file.as_file().metadata()?;
        if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
            // Only the superuser may give files away; a file of our own is then right.
            let _ = fchown(file.as_file(), Some(old.uid()), Some(old.gid()));
        }
    }
    // Set, not asked for when it was made: the user's mask would take some away.
    file.as_file().set_permissions(old.permissions())
}

/// What any new file gets: the system takes away what the user's mask forbids.
#[cfg(unix)]
fn usual_permissions() -> Option<Permissions> {
    use std::os::unix::fs::PermissionsExt;
    Some(Permissions::from_mode(0o666))
}

#[cfg(not(unix))]
fn usual_permissions() -> Option<Permissions> {
    None
}
