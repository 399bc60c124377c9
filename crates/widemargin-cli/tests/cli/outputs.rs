//! What is read is not overwritten, what is replaced keeps its permissions, and nothing is left of what failed.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use crate::Folder;

/// Every file of the folder and what is in it.
fn contents(folder: &Folder) -> Vec<(String, Vec<u8>)> {
    let files = folder.files().into_iter().filter(|name| folder.path(name).is_file());
    files.map(|name| (name.clone(), fs::read(folder.path(&name)).unwrap())).collect()
}

#[test]
fn no_command_overwrites_what_it_reads() {
    let folder = Folder::trained();
    folder.train("--method basis-expansion train.svm -o be");
    symlink("test.svm", folder.path("link.svm")).unwrap();
    fs::hard_link(folder.path("test.svm"), folder.path("hard.svm")).unwrap();
    let before = contents(&folder);
    for (command, output, words) in [
        ("train --method power-mean test.svm -o", "test.svm", "is the data itself"),
        ("train --method power-mean test.svm -o", "hard.svm", "is the data itself"),
        ("train --method power-mean test.svm -o", "link.svm", "is the data itself"),
        ("train --method power-mean link.svm -o", "test.svm", "is the data itself"),
        ("predict m test.svm -o", "test.svm", "is the data itself"),
        ("predict m test.svm -o", "./hard.svm", "is the data itself"),
        ("predict m test.svm -o", "m", "is the model itself"),
        ("convert test.svm", "hard.svm", "is the data itself"),
        ("transform be test.svm -o", "test.svm", "is the data itself"),
        ("transform be test.svm -o", "be", "is the model itself"),
    ] {
        folder.run(&format!("{command} {output}")).fails(2, &[output, words]);
        assert!(contents(&folder) == before, "{command} {output}");
    }
    // Standard input is a file where the shell makes it one.
    let script = "predict m - --format libsvm -o test.svm < test.svm";
    assert_eq!(folder.run_after("true", script).code, Some(2));
    assert!(contents(&folder) == before);
    // An old model, and old predictions, are replaced.
    folder.train("--method power-mean train.svm -o m -C 2");
    folder.run("predict m test.svm -o be").well();
}

#[test]
fn no_command_writes_among_shards() {
    let folder = Folder::trained();
    fs::create_dir(folder.path("shards")).unwrap();
    for name in ["a.svm", "b.svm"] {
        fs::copy(folder.path("train.svm"), folder.path("shards").join(name)).unwrap();
    }
    symlink("shards", folder.path("other")).unwrap();
    fs::hard_link(folder.path("shards/a.svm"), folder.path("same")).unwrap();
    let before = folder.read("shards/a.svm");
    for command in [
        "train --method power-mean shards -o shards/a.svm",
        "train --method power-mean shards -o shards/new",
        "train --method power-mean shards -o other/a.svm",
        "train --method power-mean other -o shards/a.svm",
        "train --method power-mean shards -o same",
        "predict m shards -o shards/a.svm",
        "convert shards shards/a.csv",
        "train --method power-mean shards -o new --memory-limit 1GB --checkpoint shards/deep/state",
    ] {
        folder.run(command).fails(2, &["shards", "the folder of the data"]);
    }
    assert_eq!((folder.read("shards/a.svm"), folder.read("same")), (before.clone(), before));
    assert_eq!(fs::read_dir(folder.path("shards")).unwrap().count(), 2);
    assert!(!folder.has("new"));
    folder.train("--method power-mean shards -o new");
}

#[test]
fn devices_and_pipes_are_refused() {
    let folder = Folder::trained();
    let made = Command::new("mkfifo").arg(folder.path("pipe")).status();
    let mut targets = vec!["/dev/null"];
    targets.extend(made.is_ok_and(|status| status.success()).then_some("pipe"));
    for target in targets {
        for command in ["train --method power-mean train.svm -o", "predict m test.svm -o"] {
            folder.run(&format!("{command} {target}")).fails(2, &[target, "not a regular file"]);
        }
        folder.run(&format!("convert test.svm {target} --output-format csv")).fails(2, &[target, "not a regular file"]);
    }
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
    // Standard output is meant by either of its names.
    let out = folder.predict("m test.svm -o -");
    assert_eq!(folder.predict("m test.svm -o /dev/stdout"), out);
}

#[test]
fn a_model_that_is_replaced_keeps_its_permissions_and_its_link() {
    let folder = Folder::trained();
    let mode = |name: &str| fs::metadata(folder.path(name)).unwrap().permissions().mode() & 0o777;
    // One that most masks would take something from.
    fs::set_permissions(folder.path("m"), fs::Permissions::from_mode(0o662)).unwrap();
    symlink("m", folder.path("link")).unwrap();
    symlink("late", folder.path("early")).unwrap();
    folder.train("--method power-mean train.svm -o link -C 2");
    folder.run("predict m test.svm -o early").well();
    assert_eq!(mode("m"), 0o662);
    for link in ["link", "early"] {
        assert!(fs::symlink_metadata(folder.path(link)).unwrap().is_symlink(), "{link}");
    }
    assert_eq!(folder.inspect("m")["parameters"]["C"], 2.0);
    assert!(fs::symlink_metadata(folder.path("late")).unwrap().is_file());
    assert_eq!(folder.files(), ["early", "late", "link", "m", "test.svm", "train.svm"]);
}

/// A file size limit refuses the write as a full disk does, and only after some bytes; in a job with a limit nobody catches
/// the signal.
#[test]
fn a_limit_of_a_files_size_keeps_the_old_file_and_leaves_no_temporary_one() {
    let folder = Folder::trained();
    folder.write("old", "old");
    let times = 100_000 / folder.read("test.svm").len();
    folder.write("long.svm", folder.read("test.svm").repeat(times + 1));
    let files = folder.files();
    for before in ["ulimit -f 1", "trap '' XFSZ; ulimit -f 1"] {
        for arguments in [
            "train --method power-mean train.svm -o old",
            "predict m long.svm -o old --scores",
            "convert long.svm old --output-format csv",
        ] {
            folder.run_after(before, arguments).fails(1, &["old: cannot write"]);
            assert_eq!((folder.read("old").as_str(), folder.files()), ("old", files.clone()), "{arguments}");
        }
    }
}
