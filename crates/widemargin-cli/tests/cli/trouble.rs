//! Full disks, closed pipes, time limits and Ctrl-C.
#![cfg(unix)]

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
#[cfg(target_os = "linux")]
use std::time::Duration;

use crate::{Folder, command, histograms};

fn full() -> Option<File> {
    File::options().write(true).open("/dev/full").ok()
}

#[test]
fn reports_a_full_disk() {
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
        "train --method power-mean train.svm -o m2 --json --quiet",
        "demo",
    ] {
        let mut command = command(folder.0.path());
        let output = command.args(arguments.split(' ')).stdout(full().unwrap()).output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments}: {err}");
        assert!(err.starts_with("error: standard output: cannot write: No space left"), "{arguments}: {err}");
    }
    folder.run("train --method power-mean train.svm -o /dev/full").fails(2, &["not a regular file"]);
    assert!(!Path::new("/dev/full").is_file());
}

#[test]
fn exits_with_0_where_the_reader_of_its_output_is_gone() {
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
fn keeps_the_model_so_far_at_the_time_limit() {
    let folder = Folder::new();
    folder.write("train.svm", histograms(1, 3000));
    let fit =
        "train --method power-mean:tol=1e-7,max-iter=1000000000 train.svm -o m --loss hinge -C 1000 --time-limit 0.3";
    let run = folder.run(&format!("{fit} --keep-partial")).well();
    assert!(run.err.contains("warning: not converged when the time limit passed"), "{}", run.err);
    assert_eq!(folder.inspect("m")["report"]["status"], "time-limit");
    folder.run("predict m train.svm -o p --time-limit 0.000001").fails(1, &["time limit"]);
    let search = "cv --method power-mean:tol=1e-7,max-iter=1000000000 train.svm --loss hinge -C 1000 --time-limit 0.3";
    folder.run(search).fails(1, &["time limit"]);
    folder.run(&format!("{search} -o best")).fails(1, &["time limit"]);
    assert_eq!(folder.files(), ["m", "train.svm"]);
}

#[test]
fn quiet_suppresses_no_warning() {
    let folder = Folder::new();
    folder.write("train.svm", histograms(1, 3000));
    let run = folder.run("-q train --method power-mean:tol=1e-7,max-iter=1 train.svm -o m --loss hinge -C 1000").well();
    assert!(run.err.starts_with("warning: not converged") && run.err.lines().count() == 1, "{}", run.err);
}

/// The exit code and standard error of a command that is sent a signal after this many hundredths of a second of work.
#[cfg(target_os = "linux")]
fn signaled(mut command: Command, ticks: u64, signal: &str) -> (Option<i32>, String) {
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    while cpu_ticks(child.id()) < ticks {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it was interrupted");
        std::thread::sleep(Duration::from_millis(5));
    }
    let sent = Command::new("sh").arg("-c").arg(format!("kill -{signal} {}", child.id())).status().unwrap();
    assert!(sent.success());
    let output = child.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

/// Linux tells how much work a process has done: with a second of it, the fit is under way.
#[cfg(target_os = "linux")]
#[test]
fn an_interrupted_fit_leaves_the_old_model() {
    let folder = Folder::new();
    folder.write("train.svm", histograms(1, 3000));
    folder.write("m", "old");
    // Uninterrupted it would write the model of the time limit, and end well.
    let endless = "train --method power-mean:tol=1e-7,max-iter=1000000000 train.svm -o m --loss hinge -C 100000 \
                   --time-limit 100";
    for signal in ["INT", "TERM", "HUP"] {
        let mut command = command(folder.0.path());
        command.args(endless.split_whitespace());
        let (code, err) = signaled(command, 100, signal);
        assert_eq!((code, err.as_str()), (Some(130), "error: cancelled: nothing was written\n"), "{signal}");
        assert_eq!((folder.files(), folder.read("m").as_str()), (vec!["m".into(), "train.svm".into()], "old"));
    }
}

/// As `nohup` starts programs.
#[cfg(target_os = "linux")]
#[test]
fn an_ignored_signal_interrupts_nothing() {
    let folder = Folder::new();
    folder.write("train.svm", histograms(1, 3000));
    // However few of the samples the time limit allows.
    let fit = "train --method power-mean:tol=1e-7,max-iter=1000000000 train.svm -o m --loss hinge -C 100000 --time-limit 3 \
               --keep-partial";
    let mut command = Command::new("sh");
    let line = format!("trap '' HUP; exec '{}' {fit}", env!("CARGO_BIN_EXE_widemargin"));
    command.arg("-c").arg(line).current_dir(folder.0.path());
    let (code, err) = signaled(command, 50, "HUP");
    assert_eq!((code, folder.files()), (Some(0), vec!["m".to_owned(), "train.svm".into()]), "{err}");
}

/// Hundredths of a second that the process and its threads have run.
#[cfg(target_os = "linux")]
fn cpu_ticks(process: u32) -> u64 {
    let line = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    // The name, in brackets, may have blanks; the state follows it, and ten fields later user and system time.
    let (_, fields) = line.rsplit_once(')').unwrap();
    fields.split_whitespace().skip(11).take(2).map(|field| field.parse::<u64>().unwrap()).sum()
}
