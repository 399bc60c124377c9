//! Ctrl-C and the signals that end a program: the first asks the work to stop, the second ends the process.

use std::sync::atomic::{AtomicBool, Ordering};

#[cfg(unix)]
use nix::sys::signal::{SigHandler, Signal};

use crate::report::cancelled;

/// True once the user has asked to stop.
pub static CANCELLED: AtomicBool = AtomicBool::new(false);

/// True while nothing is half-written and nobody looks at [`CANCELLED`]: stopping at once is clean.
static AT_ONCE: AtomicBool = AtomicBool::new(false);

/// Starts listening. Where the system does not let us, Ctrl-C ends the process as it always does. Signals that the
/// caller ignores, as `nohup` does, stay ignored.
pub fn listen() {
    #[cfg(unix)]
    let ignored = ignored_signals();
    let _ = ctrlc::set_handler(|| {
        let again = CANCELLED.swap(true, Ordering::SeqCst);
        if again || AT_ONCE.load(Ordering::SeqCst) {
            let failure = cancelled();
            failure.print();
            std::process::exit(failure.exit as i32);
        }
    });
    #[cfg(unix)]
    for signal in ignored {
        // SAFETY: no handler is installed: the signal is ignored.
        let _ = unsafe { nix::sys::signal::signal(signal, SigHandler::SigIgn) };
    }
}

/// Those of the signals that end a program which its caller ignores.
#[cfg(unix)]
fn ignored_signals() -> Vec<Signal> {
    let is_ignored = |of: &Signal| {
        // SAFETY: no handler is installed: the signal is ignored for a moment.
        let before = unsafe { nix::sys::signal::signal(*of, SigHandler::SigIgn) };
        match before {
            Ok(SigHandler::SigIgn) => true,
            Ok(before) => {
                // SAFETY: the handler is the one that was there.
                let _ = unsafe { nix::sys::signal::signal(*of, before) };
                false
            }
            Err(_) => false,
        }
    };
    [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP].into_iter().filter(is_ignored).collect()
}

/// Makes a write beyond the limit of a file's size (`ulimit -f`) an error like that of a full disk. The signal that comes
/// with it would end the process on the spot, and leave a temporary file behind.
#[cfg(unix)]
pub fn survive_large_files() {
    // SAFETY: no handler is installed, which could be one that may not run in a signal: the signal is ignored.
    let _ = unsafe { nix::sys::signal::signal(Signal::SIGXFSZ, SigHandler::SigIgn) };
}

/// Runs work that cannot be asked to stop and leaves nothing half-done behind.
pub fn at_once<T>(work: impl FnOnce() -> T) -> T {
    AT_ONCE.store(true, Ordering::SeqCst);
    let done = work();
    AT_ONCE.store(false, Ordering::SeqCst);
    done
}
