//! Values that depend on private rows: they cannot be shown, copied out or compared, only released by a mechanism.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A value computed from private rows.
///
/// It has no `Debug`, `Display`, `Clone`, `PartialEq` or `Serialize`, and no public way out: only mechanisms of this
/// crate read it, to draw a release.
///
/// ```compile_fail
/// fn show<T: std::fmt::Debug>(_: T) {}
/// fn leak(secret: dpm::private::Private<i64>) { show(secret) }
/// ```
/// ```compile_fail
/// fn show<T: std::fmt::Display>(_: T) {}
/// fn leak(secret: dpm::private::Private<i64>) { show(secret) }
/// ```
/// ```compile_fail
/// fn copy<T: Clone>(_: T) {}
/// fn leak(secret: dpm::private::Private<i64>) { copy(secret) }
/// ```
/// ```compile_fail
/// fn write<T: serde::Serialize>(_: T) {}
/// fn leak(secret: dpm::private::Private<i64>) { write(secret) }
/// ```
/// ```compile_fail
/// fn leak(secret: dpm::private::Private<i64>) -> i64 { secret.0 }
/// ```
/// ```compile_fail
/// fn leak(secret: &dpm::private::Private<i64>) -> &i64 { secret.read() }
/// ```
/// ```
/// fn keep(secret: dpm::private::Private<i64>) { drop(secret) }
/// ```
pub struct Private<T>(T);

impl<T> Private<T> {
    pub(crate) fn new(value: T) -> Private<T> {
        Private(value)
    }

    /// For mechanisms, which publish a draw and nothing else.
    pub(crate) fn read(&self) -> &T {
        &self.0
    }
}

/// The only text a defect of the program itself may print: a panic message could quote a cell.
const PANIC_TEXT: &[u8] = b"dpm: internal error (E9999); nothing was released\n";

/// How many panics may happen now without a word: whether one does may depend on the rows.
static CONTAINED: AtomicUsize = AtomicUsize::new(0);

/// Replaces the panic message by one fixed line; the exit status (70) is the caller's.
pub fn quiet_panics() {
    std::panic::set_hook(Box::new(|_| {
        use std::io::Write;
        if CONTAINED.load(Ordering::SeqCst) == 0 {
            let _ = std::io::stderr().write_all(PANIC_TEXT);
        }
    }));
}

/// Runs what may panic, and says nothing if it does; `None` then. Threads that it starts are as quiet.
pub fn contained<T>(work: impl FnOnce() -> T) -> Option<T> {
    CONTAINED.fetch_add(1, Ordering::SeqCst);
    let done = catch_unwind(AssertUnwindSafe(work)).ok();
    CONTAINED.fetch_sub(1, Ordering::SeqCst);
    done
}

/// Memory of this process is not to be written to disk: no core dump, no tracing by other processes of the same user.
///
/// Where the system refuses, the run goes on: the limit protects the owner from accidents, no release depends on it.
pub fn no_core_dumps() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, setrlimit};
        let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    }
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
}
