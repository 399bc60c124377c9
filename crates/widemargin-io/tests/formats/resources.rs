//! The resources of a fit on samples larger than memory: disk space, and a folder of checkpoints.

use std::fs;

use widemargin::Error;
use widemargin::data::{Checkpoint, Scratch};
use widemargin_io::{CheckpointFolder, ScratchFile};

#[test]
fn a_scratch_file_holds_what_threads_put_where() {
    let folder = tempfile::tempdir().unwrap();
    let scratch = ScratchFile::create(folder.path()).unwrap();
    let part = |thread: u64| (0..5000u64).map(|at| (at * (thread + 3)) as u8).collect::<Vec<u8>>();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let scratch = &scratch;
            scope.spawn(move || {
                part(thread).chunks(7).enumerate().for_each(|(at, bytes)| {
                    scratch.write(thread * 5000 + at as u64 * 7, bytes).unwrap();
                });
            });
        }
    });
    for thread in (0..4).rev() {
        let mut bytes = vec![0; 5000];
        scratch.read(thread * 5000, &mut bytes).unwrap();
        assert_eq!(bytes, part(thread));
    }
    scratch.write(3, b"again").unwrap();
    let mut bytes = [0; 5];
    scratch.read(3, &mut bytes).unwrap();
    assert_eq!(&bytes, b"again");
    // Nothing to see, and nothing left behind however the program ends.
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn rejects_invalid_use_of_a_scratch_file() {
    let folder = tempfile::tempdir().unwrap();
    let scratch = ScratchFile::create(folder.path()).unwrap();
    let before = scratch.room();
    #[cfg(unix)]
    assert!(before.unwrap() > 0);
    let scratch = scratch.with_limit(100);
    assert_eq!(scratch.room(), Some(100.min(before.unwrap_or(100))));
    scratch.write(90, &[1; 10]).unwrap();
    let error = scratch.write(91, &[1; 10]).unwrap_err();
    assert!(!error.is_input());
    let text = error.to_string();
    assert!(text.starts_with(&folder.path().display().to_string()), "{text}");
    assert!(text.ends_with(": cannot write the scratch file: more than the 100 bytes allowed"), "{text}");
    assert!(scratch.write(u64::MAX, &[1; 10]).is_err());
    let error = scratch.read(95, &mut [0; 10]).unwrap_err();
    assert!(error.to_string().contains("cannot read the scratch file"), "{error}");
    let error = ScratchFile::create(&folder.path().join("missing")).unwrap_err();
    assert!(matches!(&error, Error::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound), "{error}");
    assert!(error.to_string().contains("cannot make a scratch file in the folder"), "{error}");
}

#[test]
fn a_checkpoint_is_what_was_saved_last() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("a").join("b");
    let checkpoints = CheckpointFolder::open(&inner).unwrap();
    assert_eq!(checkpoints.load("state").unwrap(), None);
    for bytes in [&b"one"[..], b"", b"three"] {
        checkpoints.save("state", bytes).unwrap();
        checkpoints.save("other", b"else").unwrap();
        assert_eq!(CheckpointFolder::open(&inner).unwrap().load("state").unwrap().unwrap(), bytes);
    }
    // No temporary file stays.
    assert_eq!(fs::read_dir(&inner).unwrap().count(), 2);
}

#[test]
fn names_of_checkpoints_do_not_lead_out_of_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let checkpoints = CheckpointFolder::open(folder.path()).unwrap();
    for name in ["", ".", "..", "a/b", "../a", "/a", "a/", "./a"] {
        for error in [checkpoints.load(name).unwrap_err(), checkpoints.save(name, b"x").unwrap_err()] {
            assert!(error.to_string().contains(&format!("'{name}' is not a plain file name")), "{error}");
        }
    }
    fs::create_dir(folder.path().join("occupied")).unwrap();
    let error = checkpoints.save("occupied", b"x").unwrap_err();
    assert!(error.to_string().contains("occupied: cannot write the checkpoint"), "{error}");
    fs::write(folder.path().join("file"), b"").unwrap();
    let error = CheckpointFolder::open(&folder.path().join("file")).unwrap_err();
    assert!(error.to_string().contains("cannot make the folder of checkpoints"), "{error}");
}
