//! An allocation that fails ends a program with a signal; here it says what to do.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::cli::Command;

/// What the message says to do, for the command that runs.
static HELP: OnceLock<&str> = OnceLock::new();

/// Whether the program ends for another reason.
static PANICKED: AtomicBool = AtomicBool::new(false);

/// Whether a thread is writing the message.
static REPORTED: AtomicBool = AtomicBool::new(false);

/// Says so where memory is not enough.
pub fn listen(command: &Command) {
    use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        PANICKED.store(true, Ordering::SeqCst);
        before(panic);
    }));
    let _ = HELP.set(help(command));
    let action = SigAction::new(SigHandler::Handler(report), SaFlags::empty(), SigSet::empty());
    // SAFETY: the handler makes no allocation and takes no lock: it writes bytes and ends the process.
    let _ = unsafe { sigaction(Signal::SIGABRT, &action) };
}

/// What to do, with options of the command.
fn help(command: &Command) -> &'static str {
    match command {
        Command::Train(_) => {
            "help: pass --memory-limit SIZE to read the samples in blocks, fewer --threads, or a part of the samples\n"
        }
        Command::Predict(_) | Command::Evaluate(_) => "help: pass fewer --threads, or free memory\n",
        _ => "help: pass fewer --threads, or a part of the samples\n",
    }
}

extern "C" fn report(_: nix::libc::c_int) {
    if PANICKED.load(Ordering::SeqCst) {
        // The process ends as it would have: `abort` removes a handler that returns.
        return;
    }
    while REPORTED.swap(true, Ordering::SeqCst) {
        // Several threads may be out of memory: the first one ends the process.
        nix::unistd::pause();
    }
    let write = |text: &str| {
        // SAFETY: the bytes are those of the text, and standard error is open or the write fails.
        let _ = unsafe { nix::libc::write(2, text.as_ptr().cast(), text.len()) };
    };
    write("error: there is not enough memory\n");
    // It was set before the handler was installed.
    if let Some(help) = HELP.get() {
        write(help);
    }
    // SAFETY: the process ends at once; files that are not whole have no name yet.
    unsafe { nix::libc::_exit(1) }
}
