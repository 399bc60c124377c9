//! Model files that are not what they should be.

use crate::Folder;

#[test]
fn damaged_and_other_files_are_refused() {
    let folder = Folder::trained();
    let whole = std::fs::read(folder.path("m")).unwrap();
    let replaced = |old: &str, new: &str| {
        assert_eq!(old.len(), new.len());
        let at = whole.windows(old.len()).position(|window| window == old.as_bytes()).expect(old);
        [&whole[..at], new.as_bytes(), &whole[at + old.len()..]].concat()
    };
    let empty = br#"{}"#;
    let mut files: Vec<(Vec<u8>, &[&str])> = vec![
        (replaced(r#"format_version\":1"#, r#"format_version\":2"#), &["format 2", "newer than 1"]),
        (replaced("power-mean", "flower-bed"), &["damaged", "checksum"]),
        ((0..5000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect(), &["model file"]),
        (folder.read("train.svm").into_bytes(), &["model file"]),
        ([&(empty.len() as u64).to_le_bytes()[..], empty].concat(), &["not of widemargin"]),
    ];
    for length in [0, 1, 7, 8, 100, whole.len() / 2, whole.len() - 1] {
        files.push((whole[..length].to_vec(), &["model file"]));
    }
    for (bytes, words) in files {
        folder.write("x", bytes);
        for command in ["predict x test.svm -o p", "evaluate x test.svm", "inspect x"] {
            folder.run(command).fails(2, &[&["x"], words].concat());
        }
    }
    for at in (0..8 * whole.len()).step_by((whole.len() / 2) | 1) {
        let mut damaged = whole.clone();
        damaged[at / 8] ^= 1 << (at % 8);
        folder.write("x", damaged);
        folder.run("inspect x").fails(2, &["x"]);
    }
    std::fs::remove_file(folder.path("x")).unwrap();
    folder.run("inspect x").fails(2, &["cannot read"]);
    assert!(!folder.has("p"));
}
