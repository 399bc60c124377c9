//! Failures, as C sees them: a status or NULL, and a text for each thread.

use std::cell::RefCell;
use std::ffi::{CString, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

pub(crate) fn last_error() -> *const c_char {
    LAST.with_borrow(|last| last.as_ptr())
}

/// Does the work; keeps the text of a failure, and turns a panic into one.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T, String>) -> Option<T> {
    // What a panic may leave half done is of this call alone: models never change.
    let done = catch_unwind(AssertUnwindSafe(work));
    let problem = match done {
        Ok(Ok(done)) => return Some(done),
        Ok(Err(problem)) => problem,
        Err(panic) => {
            let text = panic.downcast_ref::<&str>().copied();
            let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no text");
            format!("internal error, please report it: {text}")
        }
    };
    let text = CString::new(problem.replace('\0', " ")).unwrap_or_default();
    LAST.with_borrow_mut(|last| *last = text);
    None
}

/// 0 or −1.
pub(crate) fn status(work: impl FnOnce() -> Result<(), String>) -> c_int {
    if guarded(work).is_some() { 0 } else { -1 }
}

/// A pointer or NULL.
pub(crate) fn pointer<T>(work: impl FnOnce() -> Result<*const T, String>) -> *const T {
    guarded(work).unwrap_or(ptr::null())
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;

    use super::*;

    #[test]
    fn a_panic_becomes_a_failure_with_its_text() {
        assert_eq!(status(|| panic!("of {}", "a kind")), -1);
        // SAFETY: it is this thread's text, which nothing changes meanwhile.
        let text = unsafe { CStr::from_ptr(last_error()) }.to_str().unwrap();
        assert_eq!(text, "internal error, please report it: of a kind");
        assert_eq!(status(|| Ok(())), 0);
    }
}
