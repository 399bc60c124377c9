//! The header is what cbindgen makes of the source. UPDATE_HEADER=1 writes it.

use std::path::Path;

#[test]
fn is_current() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(folder.join("cbindgen.toml")).unwrap();
    let source = folder.join("src/lib.rs");
    let bindings = cbindgen::Builder::new().with_config(config).with_src(source).generate().unwrap();
    let mut made = Vec::new();
    bindings.write(&mut made);
    let made = String::from_utf8(made).unwrap();
    let header = folder.join("include/widemargin.h");
    if std::env::var_os("UPDATE_HEADER").is_some() {
        std::fs::write(&header, &made).unwrap();
    }
    let kept = std::fs::read_to_string(&header).unwrap();
    assert!(kept == made, "include/widemargin.h is not current: run this test with UPDATE_HEADER=1");
    assert!(made.contains("int widemargin_predict(const WidemarginModel *model,"), "{made}");
}
