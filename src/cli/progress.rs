//! A spinner on a terminal for work that lasts over a second; never while private data are open.

use std::io::IsTerminal;
use std::sync::mpsc;
use std::time::Duration;

/// Runs `work`; shows `what` on a terminal once it has lasted over a second.
pub fn with_spinner<T>(what: &'static str, work: impl FnOnce() -> T) -> T {
    if !std::io::stderr().is_terminal() {
        return work();
    }
    let (done, waiting) = mpsc::channel::<()>();
    let spinner = std::thread::spawn(move || {
        if waiting.recv_timeout(Duration::from_secs(1)).is_ok() {
            return;
        }
        let bar = indicatif::ProgressBar::new_spinner().with_message(what);
        while let Err(mpsc::RecvTimeoutError::Timeout) = waiting.recv_timeout(Duration::from_millis(100)) {
            bar.tick();
        }
        bar.finish_and_clear();
    });
    let out = work();
    let _ = done.send(());
    let _ = spinner.join();
    out
}
