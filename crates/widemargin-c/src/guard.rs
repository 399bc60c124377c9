//! Failures in C: a status or NULL, and a message for each thread.

use std::cell::RefCell;
use std::ffi::{CString, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static MESSAGE: RefCell<CString> = RefCell::default();
}

/// The message of the last failure on this thread.
pub(crate) fn last_error() -> *const c_char {
    MESSAGE.with_borrow(|message| message.as_ptr())
}

/// The result of a call. Stores the message of a failure or of a panic.
pub(crate) fn guarded<T>(call: impl FnOnce() -> Result<T, String>) -> Option<T> {
    // Unwind safe: models are immutable, and all other state is local to the call.
    let message = match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(value)) => return Some(value),
        Ok(Err(message)) => message,
        Err(panic) => {
            let text = panic.downcast_ref::<&str>().copied();
            let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message");
            format!("internal error, please report it: {text}")
        }
    };
    let message = CString::new(message.replace('\0', " ")).unwrap_or_default();
    MESSAGE.set(message);
    None
}

/// 0 on success, −1 on failure.
pub(crate) fn status(call: impl FnOnce() -> Result<(), String>) -> c_int {
    if guarded(call).is_some() { 0 } else { -1 }
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;

    use super::*;

    #[test]
    fn a_panic_becomes_a_failure_with_its_message() {
        assert_eq!(status(|| panic!("{} of range", "out")), -1);
        // SAFETY: the message of this thread, until the next call on it.
        let message = unsafe { CStr::from_ptr(last_error()) }.to_str().unwrap();
        assert_eq!(message, "internal error, please report it: out of range");
        assert_eq!(status(|| Ok(())), 0);
    }
}
