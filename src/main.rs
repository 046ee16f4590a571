//! The binary: a thread with room for deep programs, the command line, the exit code.

/// Syntax limits keep recursion far below this.
const STACK: usize = 256 << 20;

fn main() -> std::process::ExitCode {
    dpm::private::quiet_panics();
    dpm::private::no_core_dumps();
    let run = || dpm::cli::main(std::env::args_os());
    let worker = std::thread::Builder::new().stack_size(STACK).spawn(run);
    let exit = worker.ok().and_then(|w| w.join().ok()).unwrap_or(dpm::cli::Exit::Bug);
    std::process::ExitCode::from(exit as u8)
}
