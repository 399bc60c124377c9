//! What would take the machine down is refused, or done with less.

use crate::Folder;

#[test]
fn threads_are_at_most_the_machines_cores() {
    let folder = Folder::trained();
    let plain = folder.run("predict m test.svm --scores").well();
    let many = folder.run("predict m test.svm --scores --threads 100000").well();
    assert_eq!(many.out, plain.out);
    assert!(many.err.contains("note: --threads 100000 is more than the machine has"), "{}", many.err);
    assert!(!plain.err.contains("threads"), "{}", plain.err);
    let quiet = folder.run("predict m test.svm --scores --threads 100000 --quiet").well();
    assert_eq!(quiet.err, "");
}

/// A row whose value is too small for single precision, and nothing else.
#[test]
fn values_that_single_precision_makes_zero_are_predicted_as_zero() {
    let folder = Folder::new();
    folder.write("train.csv", "x,z,label\n1,2,1\n0,4,2\n5,6,1\n7,0,2\n");
    folder.write("tiny.csv", "1e-60,1e-300\n");
    folder.write("zero.csv", "0,0\n");
    folder.write("after.csv", "3,1\n1e-60,0\n");
    folder.train("--method power-mean train.csv -o m -C 1");
    let scores = |name: &str| folder.predict(&format!("m {name} --label none --scores"));
    assert_eq!(scores("tiny.csv"), scores("zero.csv"));
    assert_eq!(scores("after.csv").lines().nth(1), scores("zero.csv").lines().next());
}

/// Thirty bytes that ask for a model of many gigabytes, in 4 GB of addresses: an allocation that fails ends the process
/// with a signal.
#[cfg(target_os = "linux")]
#[test]
fn columns_beyond_memory_are_refused_by_every_method() {
    let folder = Folder::new();
    for largest in [u32::MAX, 900_000_000] {
        folder.write("wide.svm", format!("1 1:1 {largest}:2\n2 1:2\n1 1:3\n2 2:1\n"));
        for command in [
            "train --method power-mean wide.svm -o m",
            "train --method power-mean wide.svm -o m --memory-limit 1GB",
            "train --method thin-plate wide.svm -o m",
            "train --method basis-expansion wide.svm -o m",
            "train --method basis-expansion wide.svm -o m --similarity chi2",
            "train --method basis-expansion wide.svm -o m --similarity tanimoto",
            "train --method basis-expansion wide.svm -o m --similarity z-score/rbf",
            "cv --method power-mean wide.svm --folds 2",
        ] {
            let run = folder.run_after("ulimit -v 4000000", &format!("{command} --threads 1"));
            let err = run.err;
            assert_eq!(run.code, Some(2), "{largest}, {command}: {err}");
            assert!(err.starts_with("error: ") && err.contains("GB"), "{largest}, {command}: {err}");
            assert!(err.contains("features"), "{largest}, {command}: {err}");
        }
    }
    assert_eq!(folder.files(), ["wide.svm"]);
}

/// A problem that is not begun within the limit costs no visit of the rows: without that, this takes many minutes.
#[test]
fn a_time_limit_is_heard_between_classes() {
    let folder = Folder::new();
    // As many numbers could be targets, where the method fits regression models too.
    let n_classes = 20_000;
    let one = |i: usize| format!("{} 1:{} 2:{}\n", i % n_classes, i % 97 + 1, i % 89 + 1);
    folder.write("many.svm", (0..2 * n_classes).map(one).collect::<String>());
    let fit = "train --method power-mean many.svm --task classification -o m --time-limit 3 --json";
    folder.write("m", "old");
    let run = folder.run(&format!("{fit} -q")).fails(1, &["m: the model was not written", "were begun"]);
    assert!(run.err.contains("--keep-partial") && folder.read("m") == "old", "{}", run.err);
    let run = folder.run(&format!("{fit} --keep-partial")).json();
    assert_eq!(run["report"]["status"], "time-limit");
    assert!(run["report"]["iterations"].as_array().unwrap().iter().any(|epochs| *epochs == 0));
    assert_eq!(run["classes"].as_array().unwrap().len(), n_classes);
}
