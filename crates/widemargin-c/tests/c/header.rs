//! The header is what cbindgen generates from the source. UPDATE_HEADER=1 writes it.

use std::path::Path;

#[test]
fn is_current() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(folder.join("cbindgen.toml")).unwrap();
    let source = folder.join("src/lib.rs");
    let bindings = cbindgen::Builder::new().with_config(config).with_src(source).generate().unwrap();
    let mut generated = Vec::new();
    bindings.write(&mut generated);
    let generated = String::from_utf8(generated).unwrap();
    let header = folder.join("include/widemargin.h");
    if std::env::var_os("UPDATE_HEADER").is_some() {
        std::fs::write(&header, &generated).unwrap();
    }
    let stored = std::fs::read_to_string(&header).unwrap();
    assert!(stored == generated, "include/widemargin.h is not current: run this test with UPDATE_HEADER=1");
    assert!(generated.contains("int widemargin_predict(const WidemarginModel *model,"), "{generated}");
}
