//! A spinner on a terminal for work that lasts over a second; never while private data are open.

use std::io::IsTerminal;
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

/// Shown until it is dropped.
pub struct Spinner(Option<(mpsc::Sender<()>, JoinHandle<()>)>);

impl Spinner {
    /// Shows `what` on a terminal, a second from now.
    pub fn start(what: &'static str) -> Spinner {
        if !std::io::stderr().is_terminal() {
            return Spinner(None);
        }
        let (done, waiting) = mpsc::channel::<()>();
        let shown = std::thread::spawn(move || {
            // Until the work is done nothing comes.
            if !matches!(waiting.recv_timeout(Duration::from_secs(1)), Err(mpsc::RecvTimeoutError::Timeout)) {
                return;
            }
            let bar = indicatif::ProgressBar::new_spinner().with_message(what);
            while let Err(mpsc::RecvTimeoutError::Timeout) = waiting.recv_timeout(Duration::from_millis(100)) {
                bar.tick();
            }
            bar.finish_and_clear();
        });
        Spinner(Some((done, shown)))
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        if let Some((done, shown)) = self.0.take() {
            drop(done);
            let _ = shown.join();
        }
    }
}

/// Runs `work`; shows `what` on a terminal once it has lasted over a second.
pub fn with_spinner<T>(what: &'static str, work: impl FnOnce() -> T) -> T {
    let _spinner = Spinner::start(what);
    work()
}
