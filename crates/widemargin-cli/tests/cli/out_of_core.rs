//! Training on files that memory does not hold: the limit is kept, a killed fit goes on, and what is wrong is said.

use std::io::Write as _;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use crate::kinds::Chance;
use crate::{Folder, assert_close, command};

/// Rows of 20 numbers and a class, with a border that bends: an array in NumPy's format, the class in the last column.
fn array(n: usize) -> Vec<u8> {
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({n}, 21), }}");
    let header = format!("{header:<117}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    let mut chance = Chance::new(1);
    let mut uniform = || chance.uniform() as f32 - 0.5;
    for _ in 0..n {
        let row: Vec<f32> = (0..20).map(|_| uniform()).collect();
        let class = f32::from(4.0 * row[0] * row[1] + row[2] > 0.3 * uniform());
        row.iter().chain([&class]).for_each(|x| bytes.extend(x.to_le_bytes()));
    }
    bytes
}

/// Runs the command; also the most memory that it had at a time, in KiB.
#[cfg(target_os = "linux")]
fn watched(folder: &Folder, arguments: &str) -> (Output, u64) {
    let mut command = command(folder.0.path());
    let child = command.args(arguments.split_whitespace()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = child.spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0;
    while child.try_wait().unwrap().is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let size = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        most = size.unwrap_or(0).max(most);
        std::thread::sleep(Duration::from_millis(1));
    }
    (child.wait_with_output().unwrap(), most)
}

/// 75,000 rows of 1,000 similarities take 300 MB.
#[cfg(target_os = "linux")]
#[test]
fn a_limit_of_memory_is_kept() {
    let folder = Folder::new();
    folder.write("data.npy", array(75_000));
    let train = "train --method basis-expansion data.npy --label -1 --similarity rbf:gamma=0.5 --normalization mean-norm \
                 --n-basis 1000 -C 1 --threads 1 -o m";
    let (without, most) = watched(&folder, train);
    assert_eq!(without.status.code(), Some(0));
    assert!(most > 300_000_000 / 1024, "{most} KiB");
    let (with, most) = watched(&folder, &format!("{train} --memory-limit 280MB --json"));
    let err = String::from_utf8(with.stderr).unwrap();
    assert_eq!(with.status.code(), Some(0), "{err}");
    assert!(most > 0 && most < 280_000_000 / 1024, "{most} KiB");
    let reported: serde_json::Value = serde_json::from_slice(&with.stdout).unwrap();
    assert_eq!((&reported["n_samples"], &reported["report"]["status"]), (&75_000.into(), &"converged".into()));
    assert!(reported["report"]["notes"][0].as_str().unwrap().contains("samples stayed in memory"), "{reported}");
    assert_eq!(folder.files(), ["data.npy", "m"]);
}

#[test]
fn blocks_give_the_model_that_memory_gives() {
    let folder = Folder::new();
    folder.write("data.npy", array(4000));
    folder.run("convert data.npy data.svm --label -1").well();
    folder.run("convert data.npy data.csv --label -1").well();
    // C is chosen by leave-one-out in memory, on some of the samples out of core: of two that are level either may come.
    let flags = "--method basis-expansion:tol=1e-6 --similarity rbf:gamma=0.5 --n-basis 50 -C 1";
    folder.train(&format!("data.svm -o whole {flags}"));
    let whole = folder.predict("whole data.svm --scores");
    for data in ["data.npy --label -1", "data.svm", "data.csv"] {
        folder.train(&format!("{data} -o blocks {flags} --memory-limit 120MB"));
        assert_close(&folder.predict("blocks data.svm --scores"), &whole, 5e-3);
    }
}

/// Killed while it goes over the samples: the next run takes up the answers that were kept.
#[cfg(unix)]
#[test]
fn a_killed_fit_resumes_to_the_same_model() {
    let folder = Folder::new();
    folder.write("data.npy", array(40_000));
    let flags = "train --method basis-expansion:tol=1e-6 data.npy --label -1 --similarity rbf:gamma=0.5 --n-basis 400 \
                 --memory-limit 110MB --quiet";
    folder.run("convert data.npy part.svm --label -1").well();
    let scores = |model: &str| folder.predict(&format!("{model} part.svm --scores"));
    folder.run(&format!("{flags} -o whole")).well();
    // The model does not depend on what the program takes itself, which differs by some KiB from run to run.
    folder.run(&format!("{flags} -o again --threads 1")).well();
    assert!(scores("again") == scores("whole"), "another model");
    let arguments = format!("{flags} -o resumed --checkpoint kept");
    let mut child = command(folder.0.path())
        .args(arguments.split_whitespace())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let started = Instant::now();
    while !folder.path("kept").join("answers").exists() {
        assert!(
            started.elapsed() < Duration::from_secs(120) && child.try_wait().unwrap().is_none(),
            "not killed in time"
        );
        std::thread::sleep(Duration::from_millis(2));
    }
    // SIGKILL.
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!folder.has("resumed"));
    folder.run(&arguments).well();
    assert!(scores("resumed") == scores("whole"), "another model");
    let other = arguments.replace("--n-basis 400", "--n-basis 300");
    folder.run(&other).fails(2, &["checkpoint", "n_basis = 400, now n_basis is 300"]);
}

#[test]
fn rejects_what_cannot_be_fitted_in_blocks() {
    let folder = Folder::new();
    folder.write("data.npy", array(500));
    let train = "train --method basis-expansion data.npy --label -1 -o m";
    folder.run(&format!("{train} --memory-limit 1MB")).fails(2, &["the program itself takes", "MB"]);
    folder.run(&format!("{train} --memory-limit much")).fails(2, &["--memory-limit"]);
    folder.run(&format!("{train} --memory-limit 1GB --loss hinge")).fails(2, &["--loss hinge", "squared-hinge"]);
    folder
        .run("train --method thin-plate data.npy --label -1 -o m --checkpoint begun")
        .fails(2, &["--checkpoint", "exact thin plate SVM"]);
    let mut bytes = array(500);
    let at = bytes.len() - 21 * 4 * 100 + 8;
    bytes[at..at + 4].copy_from_slice(&f32::NAN.to_le_bytes());
    std::fs::File::create(folder.path("bad.npy")).unwrap().write_all(&bytes).unwrap();
    folder
        .run("train --method basis-expansion bad.npy --label -1 -o m --memory-limit 1GB")
        .fails(2, &["bad.npy", "row 401", "NaN"]);
    folder
        .run_with_input("train --method basis-expansion - --format npy -o m --memory-limit 1GB", "x")
        .fails(2, &["standard input"]);
    folder
        .run("cv --method basis-expansion data.npy --label -1 --memory-limit 1GB")
        .fails(2, &["--memory-limit", "cv --method basis-expansion"]);
    assert!(!folder.has("m"));
}

#[test]
fn a_folder_of_shards_is_one_file() {
    let folder = Folder::new();
    folder.write("data.npy", array(600));
    folder.run("convert data.npy data.svm --label -1").well();
    let text = folder.read("data.svm");
    let lines: Vec<&str> = text.lines().collect();
    std::fs::create_dir(folder.path("shards")).unwrap();
    for (at, part) in lines.chunks(250).enumerate() {
        folder.write(&format!("shards/part-{}.svm", 9 + at), part.join("\n") + "\n");
    }
    folder.write("shards/_SUCCESS", "");
    let flags = "--similarity rbf:gamma=0.5 --n-basis 30";
    folder.train(&format!("--method basis-expansion data.svm -o one {flags} --memory-limit 150MB"));
    folder.train(&format!("--method basis-expansion shards -o many {flags} --memory-limit 150MB"));
    folder.train(&format!("--method basis-expansion shards -o held {flags}"));
    let scores = |model: &str, data: &str| folder.predict(&format!("{model} {data} --scores"));
    assert!(scores("one", "data.svm") == scores("many", "shards"), "another model, or another order");
    assert_eq!(scores("held", "shards").lines().count(), 600);
    folder.write("shards/part-11.svm", "1 1:0.5\n0 2:x\n");
    for memory in ["", "--memory-limit 150MB"] {
        let wrong = folder.run(&format!("train --method basis-expansion shards -o bad {flags} {memory}"));
        wrong.fails(2, &["part-11.svm", "line 2"]);
    }
}

/// Sparse features together with a similarity: out of core as in memory.
#[test]
fn features_with_similarities_are_the_same_out_of_core() {
    let folder = Folder::new();
    let mut chance = Chance::new(5);
    let mut row = |number: usize| {
        let class = number % 2;
        let columns = 1 + 10 * class as u64 + chance.below(8);
        // No two rows are equal: a fit in memory would merge them.
        let (last, value) = (26 + chance.below(5), 0.5 + number as f64 / 1000.0);
        format!("{class} {columns}:{} {}:1 {last}:{value}\n", 1 + chance.below(3), 21 + chance.below(5))
    };
    folder.write("rows.svm", (0..120).map(&mut row).collect::<String>());
    for normalization in ["mean-norm", "nystroem", "none"] {
        let scores = |memory: &str, model: &str| {
            let train = "train --method basis-expansion:tol=1e-6 rows.svm --similarity features+rbf:gamma=0.2 --n-basis 20 -C 1";
            folder.run(&format!("{train} --normalization {normalization} -o {model} {memory}")).well();
            folder.predict(&format!("{model} rows.svm --scores"))
        };
        assert_close(&scores("", "one"), &scores("--memory-limit 200MB", "other"), 1e-2);
    }
}

/// Graphs, and features of strings together with a similarity, in files of strings.
#[test]
fn graphs_and_features_of_strings_with_similarities() {
    let folder = Folder::new();
    folder.write("names.tsv", crate::kinds::strings(3, 120, 6, true));
    let graph = |row: usize| {
        let (n, ring) =
            (4 + row % 5, if row.is_multiple_of(2) { format!(", [{}, 0]", 3 + row % 5) } else { String::new() });
        let edges: Vec<String> = (1..n).map(|node| format!("[{}, {node}]", node - 1)).collect();
        let nodes = vec!["\"C\""; n].join(", ");
        format!("{}\t{{\"nodes\": [{nodes}], \"edges\": [{}{ring}]}}\n", row % 2, edges.join(", "))
    };
    folder.write("graphs.tsv", (0..60).map(graph).collect::<String>());
    for arguments in [
        "graphs.tsv --similarity wl:iterations=2/features --normalization none",
        "names.tsv --similarity tfidf:n=1-2/features+edit --normalization mean-norm --n-basis 20",
    ] {
        let file = arguments.split(' ').next().unwrap();
        folder.train(&format!("--method basis-expansion {arguments} --format strings -C 10 -o m"));
        let reported = folder.run(&format!("evaluate m {file} --format strings --json")).json();
        assert_eq!(reported["accuracy"], 1.0, "{reported}");
    }
    folder.write("wrong.tsv", "0\t{\"nodes\": [\"C\"], \"edges\": [[0, 1]]}\n1\t{\"nodes\": [\"C\"], \"edges\": []}\n");
    let wrong = "train --method basis-expansion wrong.tsv --format strings --similarity wl/cosine -o m";
    folder.run(wrong).fails(2, &["edge 0", "a vertex 1 that is not there"]);
}
