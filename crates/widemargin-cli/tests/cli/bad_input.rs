//! Bad input gets one `error:` line that names the place, exit code 2, and nothing written.

use crate::{Folder, histograms};

/// Trains on some text, which fails with these words.
#[track_caller]
fn train_fails(name: &str, text: impl AsRef<[u8]>, words: &[&str]) {
    let folder = Folder::new();
    folder.write(name, text);
    folder.run(&format!("train --method power-mean {name} -o m")).fails(2, &[&[name], words].concat());
    assert_eq!(folder.files(), [name]);
}

#[test]
fn features_that_no_histogram_has() {
    train_fails("a.svm", "1 1:1\n# more\n2 1:1 3:-2\n", &["line 3", "index 3", "-2 is negative"]);
    train_fails("a.svm", "1 1:1\n2 1:nan\n", &["line 2", "column 5", "finite"]);
    train_fails("a.svm", "1 1:1\n2 1:inf\n", &["line 2", "column 5", "finite"]);
    train_fails("a.csv", "x,y z,label\n1,2,1\n\n1,-2,2\n", &["line 4", "column 'y z'", "-2 is negative"]);
    train_fails("a.csv", "1,1,2\n2,1,-2\n", &["line 2", "feature 2", "-2 is negative"]);
    train_fails("a.csv", "x,label\n1,1\ninf,2\n", &["line 3", "'x'"]);
    let folder = Folder::new();
    folder.write("a.svm", "1 1:1\n2 1:1 3:-2\n");
    folder.run("convert a.svm a.npz").well();
    folder.run("train --method power-mean a.npz -o m").fails(2, &["a.npz", "row 2, column 3", "negative"]);
    // In the part of a fold as well.
    folder.write("b.svm", histograms(1, 30) + "ant 5:-1\n");
    folder.run("cv --method power-mean b.svm").fails(2, &["b.svm", "line 31", "index 5", "negative"]);
    assert_eq!(folder.files(), ["a.npz", "a.svm", "b.svm"]);
}

#[test]
fn labels_that_are_missing_or_all_alike() {
    train_fails("a.svm", "1 1:1\n2 3:1 2:1\n", &["line 2", "column 7", "index 2 after 3"]);
    train_fails("a.svm", "1 1:1\n1:1 2:1\n", &["line 2", "label missing"]);
    train_fails("a.csv", "x,label\n1,a\n2,\n", &["line 3", "'label'", "missing"]);
    train_fails("a.svm", "7 1:1\n7 1:2\n", &["all 2 samples have the label '7'"]);
    train_fails("a.csv", "x,z\n1,2\n3,4\n", &["no labels"]);
}

#[test]
fn files_that_are_not_what_they_should_be() {
    train_fails("a.csv", "x,z,label\n1,2,a\n1,b\n", &["line 3", "2 cells, expected 3"]);
    train_fails("a.svm", "", &["empty"]);
    train_fails("a.csv", "", &["empty"]);
    train_fails("a.npy", "", &["empty"]);
    train_fails("a.npy", "not an array", &["NPY"]);
    train_fails("a.xlsx", "1 1:1", &["format"]);
    let mut npy = b"\x93NUMPY\x01\x00\x46\x00".to_vec();
    npy.extend(format!("{:<69}\n", "{'descr': '<c16', 'fortran_order': False, 'shape': (1, 2), }").bytes());
    npy.extend([0; 32]);
    train_fails("a.npy", npy, &["dtype", "c16"]);
    let folder = Folder::new();
    folder.run("train --method power-mean no.svm -o m").fails(2, &["no.svm", "cannot open"]);
    folder.run_with_input("train --method power-mean - -o m", "1 x:1\n").fails(2, &["standard input", "line 1"]);
    assert!(folder.files().is_empty());
}

#[test]
fn samples_of_another_width_than_the_models() {
    let folder = Folder::trained();
    folder.write("wide.svm", "ant 1:1\nant 1:1 13:1\n");
    for command in ["predict m wide.svm -o p", "evaluate m wide.svm"] {
        folder.run(command).fails(2, &["wide.svm", "line 2", "index 13", "12 features"]);
    }
    folder.write("wide.csv", format!("ant{}\n", ",1".repeat(13)));
    folder.write("narrow.csv", format!("ant{}\n", ",1".repeat(11)));
    for name in ["wide.csv", "narrow.csv"] {
        folder.run(&format!("predict m {name} -o p")).fails(2, &[name, "trained with 12"]);
        folder.run(&format!("evaluate m {name}")).fails(2, &[name, "trained with 12"]);
    }
    folder.write("bad.svm", "ant 1:1\n\nant 1:1 12:-1\n");
    folder.run("predict m bad.svm -o p").fails(2, &["bad.svm", "line 3", "index 12", "negative"]);
    assert!(!folder.has("p"));
}

#[test]
fn output_folders_that_are_missing() {
    let folder = Folder::trained();
    for command in
        ["train --method power-mean train.svm -o no/m", "predict m test.svm -o no/p", "convert test.svm no/a.csv"]
    {
        folder.run(command).fails(2, &["no/", "there is no folder no"]).helps(&["mkdir -p no"]);
    }
    // Said before the data is looked at.
    folder.run("train --method power-mean none.svm -o no/m").fails(2, &["there is no folder"]);
    folder.run("train --method power-mean train.svm -o .").fails(2, &["is a folder"]);
    folder.run("train --method power-mean train.svm -o -").fails(2, &["standard output"]);
    folder.run("train --method power-mean train.svm -o train.svm").fails(2, &["is the data itself"]);
    assert_eq!(folder.files(), ["m", "test.svm", "train.svm"]);
}
