//! Every option and setting of each method: which values are taken, and which are refused by name.

use crate::thin_plate::{circle, plain};
use crate::{Folder, regression};

/// Histograms, a circle, prices, and a model `m`.
fn folder() -> Folder {
    let folder = Folder::trained();
    folder.write("circle.csv", circle(150, plain));
    folder.write("prices.csv", regression::table(1, 150));
    folder
}

#[test]
fn every_option_is_taken() {
    let folder = folder();
    for (data, flags) in [
        ("train.svm", "power-mean --kernel -inf"),
        ("train.svm", "power-mean:nodes=5 --kernel=-8"),
        ("train.svm", "power-mean --kernel 0 --loss hinge"),
        ("train.svm", "power-mean:scale=no --kernel jensen-shannon"),
        ("train.svm", "power-mean:approximation=polynomial --kernel power-mean:p=-0.5"),
        ("train.svm", "power-mean:approximation=polynomial,nodes=0.02:0.2:0.5:1"),
        ("train.svm", "power-mean:nodes=0.05:0.5"),
        ("train.svm", "power-mean --kernel chi2 --class-weight balanced"),
        ("train.svm", "power-mean:tol=0.05,max-iter=50 --kernel hellinger --class-weight ant:2,bee:0.5"),
        ("train.svm", "power-mean --kernel intersection --seed 3 --threads 2"),
        ("circle.csv", "thin-plate --kernel distance -C 10"),
        ("circle.csv", "thin-plate:polynomials=constant --kernel cubic"),
        ("circle.csv", "thin-plate:polynomials=none --kernel rbf:gamma=2"),
        ("circle.csv", "thin-plate:polynomials=free --kernel spline:order=2,dims=3"),
        ("circle.csv", "thin-plate --kernel thin-plate:order=3 --class-weight balanced"),
        ("circle.csv", "thin-plate --n-basis 20 --basis index"),
        ("circle.csv", "thin-plate --n-basis 20 --basis random --seed 3"),
        ("circle.csv", "thin-plate --n-basis 20 --basis kmeans --class-weight in:2"),
        ("circle.csv", "thin-plate --n-basis 20 --basis kmedoids"),
        ("circle.csv", "thin-plate:standardize=yes,tol=1e-6,max-iter=50 --n-basis none"),
        ("circle.csv", "thin-plate:standardize=no --threads 1 -C auto"),
    ] {
        let c = if data == "train.svm" { "-C 1" } else { "" };
        let run = folder.train(&format!("{data} -o m2 --quiet {c} --method {flags}"));
        assert!(!run.err.contains("not converged"), "{flags}: {}", run.err);
        let accuracy = folder.score(&format!("m2 {}", data.replace("train.svm", "test.svm")), "accuracy");
        assert!(accuracy > 0.85, "{flags}: {accuracy}");
    }
}

#[test]
fn values_outside_their_domain_are_refused() {
    let folder = folder();
    let before = folder.files();
    for (flags, words) in [
        (" --kernel 1", "power-mean:p=1"),
        (" --kernel nan", "--kernel"),
        (" --kernel 0.5 --kernel -1", "--kernel"),
        (" -C -1", "-C -1"),
        (" -C nan", "-C"),
        (" -C 1 -C 2", "2 values"),
        (" --kernel -1 --kernel chi2", "2 values"),
        (" --kernel rbf", "'rbf'"),
        (" --loss log", "'log'"),
        (":nodes=0", "nodes 0"),
        (":nodes=99", "nodes 99"),
        (":nodes=1,approximation=polynomial", "nodes 1"),
        (":nodes=0.5:2,approximation=polynomial", "nodes 2"),
        (":nodes=0.5:0.1:0.5,approximation=polynomial", "nodes 0.5"),
        (":nodes=0.5:x", "0.01:0.06:0.75"),
        (":tol=0", "tol 0"),
        (":max-iter=0", "max-iter 0"),
        (" --class-weight heavy", "'heavy'"),
        (" --class-weight wasp:2", "wasp"),
        (" --class-weight ant:-1", "ant"),
        (" --time-limit -1", "--time-limit"),
        (" --threads x", "--threads"),
        (" --label 3", "label"),
        (" --format xml", "'xml'"),
        (" --frobnicate", "--frobnicate"),
    ] {
        folder.run(&format!("train train.svm -o x --method power-mean{flags}")).fails(2, &[words]);
    }
    for (flags, words) in [
        (" -C 0", "-C 0"),
        (" -C nan", "-C NaN"),
        (" -C best", "-C best is not allowed"),
        (" -C auto -C 1", "2 values"),
        (" --kernel chi2", "chi2"),
        (" --kernel polyharmonic:exponent=2", "even"),
        (" --kernel rbf:gamma=0", "above 0"),
        (" --kernel cubic --kernel distance", "2 values"),
        (":polynomials=some", "some"),
        (" --n-basis 0", "--n-basis 0"),
        (" --n-basis -5", "-5"),
        (" --n-basis few", "few"),
        (" --basis best", "best"),
        (":standardize=maybe", "maybe"),
        (":tol=-1", "tol -1"),
        (":max-iter=0", "max-iter 0"),
        (" --memory-limit 0", "above 0"),
        (" --memory-limit 0.000001", "MB for 150 samples"),
        (" --class-weight wasp:2", "wasp"),
    ] {
        folder.run(&format!("train circle.csv -o x --method thin-plate{flags}")).fails(2, &[words]);
    }
    for (flags, words) in [
        (" --n-basis 0", "--n-basis 0"),
        (" --n-basis 1 --n-basis 2", "2 values"),
        (" --similarity rbf --similarity linear", "2 values"),
        (" --basis best", "'best'"),
        (" --normalization clip", "'clip'"),
        (" --loss absolute", "'absolute'"),
        (" --loss huber", "applies to --task regression"),
        (" -C 0", "-C 0"),
        (":tol=2", "tol 2"),
    ] {
        folder.run(&format!("train none.csv -o x --method basis-expansion{flags}")).fails(2, &[words]);
    }
    for (flags, words) in [
        ("absolute", "unknown loss 'absolute'"),
        ("huber:epsilon=0", "epsilon 0 is not allowed"),
        ("huber:epsilon=-1", "above 0"),
        ("squared-epsilon-insensitive:epsilon=-1", "at least 0"),
        ("quantile:quantile=1.5", "below 1"),
        ("squared-error:epsilon=1", "belongs to huber"),
        ("huber:quantile=0.5", "belongs to quantile"),
        ("huber:epsilon=1 --loss huber:epsilon=2", "`train` takes one"),
        ("huber --loss quantile", "2 values passed"),
        ("squared-hinge", "applies to --task classification"),
    ] {
        let fit = "train prices.csv --label price --task regression --method basis-expansion -o x --loss";
        folder.run(&format!("{fit} {flags}")).fails(2, &[words]);
    }
    for (command, words) in [
        ("train --method power-mean none.svm -o x -C 0", "-C 0"),
        ("cv --method power-mean train.svm --folds 1", "--folds 1"),
        ("cv --method power-mean train.svm --folds 1000", "--folds 1000"),
        ("train --method power-mean", "required"),
        ("frob", "'frob'"),
    ] {
        folder.run(command).fails(2, &[words]);
    }
    assert_eq!(folder.files(), before);
}

#[test]
fn specs_are_checked_before_the_samples_are_read() {
    let folder = Folder::new();
    for (similarity, words, help) in [
        ("rbff", "unknown similarity 'rbff'", "rbf"),
        ("hogg/rbf", "unknown descriptor 'hogg'", "hog"),
        ("rbf:gama=1", "'gama' is not known", ""),
        ("rbf:gamma=0", "gamma 0 is not allowed: a finite number above 0", ""),
        ("rbf:gamma", "'gamma' is not key=value", ""),
        ("hog:cell=x/rbf", "cell x is not allowed", ""),
        ("dtw:window=2", "window 2 is not allowed: a finite number from 0 to 1", ""),
        ("edit:metric=typos", "metric typos is not allowed: one of", "levenshtein"),
        ("ngram:n=0", "n 0 is not allowed", ""),
        ("align:matrix=pam9", "matrix pam9 is not allowed: one of", "blosum62"),
        ("power-mean:p=nan", "p nan is not allowed", ""),
        ("tanimoto:bits=3", "'tanimoto' has no parameters", ""),
        ("rigid:radius=-1", "radius -1 is not allowed", ""),
        ("match:quadratic=inf", "a finite number at least 0", ""),
        ("match:base=rbf,local=1", "a sum over cells", ""),
        (">rbf", "'>rbf' is not a name", ""),
        ("precomputed+rbf", "stand alone", ""),
    ] {
        for command in ["train --method basis-expansion none.csv -o m", "cv --method basis-expansion none.csv"] {
            let run = folder.run(&format!("{command} --similarity {similarity}")).fails(2, &["--similarity", words]);
            assert!(run.err.contains(help), "{}", run.err);
        }
    }
}
