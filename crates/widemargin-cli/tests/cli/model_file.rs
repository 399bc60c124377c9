//! Model files that are not what they should be.

use crate::Folder;

const COMMANDS: [&str; 3] = ["predict x test.svm -o p", "evaluate x test.svm", "inspect x"];

#[track_caller]
fn refused(folder: &Folder, words: &[&str]) {
    for command in COMMANDS {
        folder.run(command).fails(2, &[&["x"], words].concat());
    }
    assert!(!folder.has("p"));
}

#[test]
fn cut_short_at_any_length() {
    let folder = Folder::trained();
    let whole = std::fs::read(folder.path("m")).unwrap();
    for length in [0, 1, 7, 8, 100, whole.len() / 2, whole.len() - 1] {
        folder.write("x", &whole[..length]);
        refused(&folder, &["model file"]);
    }
}

#[test]
fn of_a_newer_version_or_another_method() {
    let folder = Folder::trained();
    let whole = std::fs::read(folder.path("m")).unwrap();
    let replaced = |whole: &[u8], old: &str, new: &str| {
        assert_eq!(old.len(), new.len());
        let at = whole.windows(old.len()).position(|window| window == old.as_bytes()).expect(old);
        let mut bytes = whole.to_vec();
        bytes[at..at + old.len()].copy_from_slice(new.as_bytes());
        bytes
    };
    folder.write("x", replaced(&whole, r#"format_version\":1"#, r#"format_version\":2"#));
    refused(&folder, &["format 2", "newer than 1"]);
    folder.write("x", replaced(&whole, "power-mean", "flower-bed"));
    refused(&folder, &["damaged", "checksum"]);
}

#[test]
fn with_a_flipped_bit() {
    let folder = Folder::trained();
    let whole = std::fs::read(folder.path("m")).unwrap();
    for at in (0..8 * whole.len()).step_by((whole.len() / 2) | 1) {
        let mut damaged = whole.clone();
        damaged[at / 8] ^= 1 << (at % 8);
        folder.write("x", damaged);
        folder.run("inspect x").fails(2, &["x"]);
    }
}

#[test]
fn random_bytes_and_other_files() {
    let folder = Folder::trained();
    let bytes: Vec<u8> = (0..5000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    folder.write("x", bytes);
    refused(&folder, &["model file"]);
    folder.write("x", folder.read("train.svm"));
    refused(&folder, &["model file"]);
    let empty = br#"{}"#;
    folder.write("x", [&(empty.len() as u64).to_le_bytes()[..], empty].concat());
    refused(&folder, &["not of widemargin"]);
    std::fs::remove_file(folder.path("x")).unwrap();
    refused(&folder, &["cannot read"]);
}
