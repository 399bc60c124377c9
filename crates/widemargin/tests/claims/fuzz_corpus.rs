//! The corpora of the fuzz targets, each input once.

#[path = "../../../../fuzz/src/fits.rs"]
mod fits;
#[path = "../../../../fuzz/src/models.rs"]
mod models;
#[path = "../../../../fuzz/src/specs.rs"]
mod specs;

fn replay(target: &str, check: fn(&[u8])) {
    let folder = format!("{}/../../fuzz/corpus/{target}", env!("CARGO_MANIFEST_DIR"));
    let files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    assert!(files.len() > 10);
    files.iter().for_each(|file| check(&std::fs::read(file).unwrap()));
}

#[test]
fn of_fits() {
    replay("fits", fits::check);
}

#[test]
fn of_model_files() {
    replay("models", models::check);
}

#[test]
fn of_specs() {
    replay("specs", specs::check);
}
