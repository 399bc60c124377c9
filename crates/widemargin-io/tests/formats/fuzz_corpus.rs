//! The corpus of the fuzz target of the readers, each input once.

#[path = "../../../../fuzz/src/readers.rs"]
mod readers;

#[test]
fn of_the_readers() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/readers");
    let files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    assert!(files.len() > 30);
    files.iter().for_each(|file| readers::check(&std::fs::read(file).unwrap()));
}
