//! What a C program may get wrong is answered, as far as it can be noticed.

use std::ffi::{CStr, CString};
use std::ptr;

use widemargin_c::*;

fn error() -> String {
    // SAFETY: a text of the library that is valid until the next failure on this thread.
    unsafe { CStr::from_ptr(widemargin_error()) }.to_str().unwrap().to_owned()
}

#[test]
fn null_pointers_and_missing_files_are_failures_in_words() {
    assert_eq!(error(), "");
    let path = CString::new("/nowhere/a.model").unwrap();
    let mut class = 7_usize;
    // SAFETY: NULL is allowed everywhere; the path ends with a 0, and the class may be written.
    unsafe {
        assert!(widemargin_load(path.as_ptr()).is_null());
        assert!(error().contains("/nowhere/a.model"), "{}", error());
        assert!(widemargin_load(ptr::null()).is_null());
        assert_eq!(error(), "path is NULL: a text is expected");
        assert!(widemargin_load(c"\xff".as_ptr()).is_null());
        assert_eq!(error(), "path is not UTF-8");
        assert_eq!(widemargin_n_classes(ptr::null()), 0);
        assert!(error().starts_with("the model is NULL"), "{}", error());
        assert_eq!(widemargin_predict(ptr::null(), [1.0].as_ptr(), 1, 1, &raw mut class), -1);
        assert!(widemargin_class_name(ptr::null(), 0).is_null());
        widemargin_free(ptr::null_mut());
        assert!(!CStr::from_ptr(widemargin_version()).is_empty());
    }
    assert_eq!(class, 7);
}
