//! Full disks, readers that have had enough, time limits and Ctrl-C.
#![cfg(unix)]

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::{Folder, command, histograms};

fn full() -> Option<File> {
    File::options().write(true).open("/dev/full").ok()
}

#[test]
fn a_full_disk_is_told() {
    if full().is_none() {
        return;
    }
    let folder = Folder::trained();
    folder.run("predict m test.svm -o /dev/full").fails(2, &["/dev/full", "not a regular file"]);
    for arguments in [
        "predict m test.svm",
        "evaluate m test.svm",
        "inspect m --json",
        "convert test.svm - --output-format csv",
        "train power-mean train.svm -o m2 --json --quiet",
        "demo",
    ] {
        let mut command = command(folder.0.path());
        let output = command.args(arguments.split(' ')).stdout(full().unwrap()).output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments}: {err}");
        assert!(err.starts_with("error: standard output: cannot write: No space left"), "{arguments}: {err}");
    }
    folder.run("train power-mean train.svm -o /dev/full").fails(2, &["not a regular file"]);
    assert!(!Path::new("/dev/full").is_file());
}

/// A file size limit refuses the write as a full disk does, and only after some bytes.
#[test]
fn nothing_half_written_stays() {
    let folder = Folder::trained();
    std::fs::write(folder.path("old"), "old").unwrap();
    let times = 100_000 / folder.read("test.svm").len();
    folder.write("long.svm", folder.read("test.svm").repeat(times + 1));
    for arguments in [
        "train power-mean train.svm -o old",
        "predict m long.svm -o old --scores",
        "convert long.svm old --output-format csv",
    ] {
        let limited = format!("trap '' XFSZ; ulimit -f 1; exec '{}' {arguments}", env!("CARGO_BIN_EXE_widemargin"));
        let output = Command::new("sh").arg("-c").arg(limited).current_dir(folder.0.path()).output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments}: {err}");
        assert!(err.starts_with("error: ") && err.contains("old: cannot write"), "{arguments}: {err}");
        assert_eq!(folder.read("old"), "old");
        assert_eq!(folder.files(), ["long.svm", "m", "old", "test.svm", "train.svm"]);
    }
}

#[test]
fn a_reader_that_has_had_enough_is_no_failure() {
    let folder = Folder::trained();
    let times = 2_000_000 / folder.read("test.svm").len();
    folder.write("long.svm", folder.read("test.svm").repeat(times));
    for arguments in ["predict m long.svm --scores", "convert long.svm - --output-format csv"] {
        let mut command = command(folder.0.path());
        let mut child =
            command.args(arguments.split(' ')).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0), "{arguments}");
    }
}

#[test]
fn at_the_time_limit_the_model_so_far_is_kept() {
    let folder = Folder::new();
    folder.write("train.svm", histograms(1, 3000));
    let run = folder
        .run("train power-mean train.svm -o m --loss hinge --tol 1e-7 -C 1000 --time-limit 0.05 --max-iter 1000000000");
    let run = run.well();
    assert!(run.err.contains("warning: not converged when the time limit passed"), "{}", run.err);
    assert_eq!(folder.run("inspect m --json").json()["report"]["status"], "time-limit");
    folder.run("predict m train.svm -o p --time-limit 0.000001").fails(1, &["time limit"]);
    let search = "cv power-mean train.svm --loss hinge --tol 1e-7 -C 1000 --time-limit 0.05 --max-iter 1000000000";
    folder.run(search).fails(1, &["time limit"]);
    assert_eq!(folder.files(), ["m", "train.svm"]);
}

#[test]
fn an_interrupted_fit_leaves_nothing() {
    let folder = Folder::new();
    folder.write("train.svm", histograms(1, 3000));
    let mut command = command(folder.0.path());
    let endless = "train power-mean train.svm -o m --loss hinge --tol 1e-7 -C 100000 --max-iter 1000000000";
    let mut child = command.args(endless.split(' ')).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(700));
    let start = Instant::now();
    let interrupt = Command::new("sh").arg("-c").arg(format!("kill -INT {}", child.id())).status().unwrap();
    assert!(interrupt.success() && child.try_wait().unwrap().is_none());
    let output = child.wait_with_output().unwrap();
    assert!(start.elapsed() < Duration::from_secs(10));
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), err.as_str()), (Some(1), "error: cancelled: nothing was written\n"));
    assert_eq!(folder.files(), ["train.svm"]);
}
