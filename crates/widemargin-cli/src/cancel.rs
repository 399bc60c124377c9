//! Ctrl-C: the first press asks the work to stop, the second ends the process.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::report::{Exit, cancelled};

/// True once the user has asked to stop.
pub static CANCELLED: AtomicBool = AtomicBool::new(false);

/// True while nothing is half-written and nobody looks at [`CANCELLED`]: stopping at once is clean.
static AT_ONCE: AtomicBool = AtomicBool::new(false);

/// Starts listening. Where the system does not let us, Ctrl-C ends the process as it always does.
pub fn listen() {
    let _ = ctrlc::set_handler(|| {
        let again = CANCELLED.swap(true, Ordering::SeqCst);
        if again || AT_ONCE.load(Ordering::SeqCst) {
            eprintln!("error: {}", cancelled().message);
            std::process::exit(Exit::WorkFailed as i32);
        }
    });
}

/// Makes a write beyond the limit of a file's size (`ulimit -f`) an error like that of a full disk. The signal that comes
/// with it would end the process on the spot, and leave a temporary file behind.
pub fn survive_large_files() {
    #[cfg(unix)]
    {
        use nix::sys::signal::{SigHandler, Signal, signal};
        // SAFETY: no handler is installed, which could be one that may not run in a signal: the signal is ignored.
        let _ = unsafe { signal(Signal::SIGXFSZ, SigHandler::SigIgn) };
    }
}

/// Runs work that cannot be asked to stop and leaves nothing half-done behind.
pub fn at_once<T>(work: impl FnOnce() -> T) -> T {
    AT_ONCE.store(true, Ordering::SeqCst);
    let done = work();
    AT_ONCE.store(false, Ordering::SeqCst);
    done
}
