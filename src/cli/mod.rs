//! The command line: what users type, what they see, and the exit codes other programs rely on.

/// Prints to standard output. A reader that has gone away (`dpm .. | head`) is not our error.
macro_rules! show {
    ($($text:tt)*) => { $crate::cli::print(&format!($($text)*)) };
}
macro_rules! show_line {
    ($($text:tt)*) => { $crate::cli::print(&format!("{}\n", format_args!($($text)*))) };
}
/// Prints to standard error.
macro_rules! say {
    ($($text:tt)*) => {{
        use std::io::Write;
        let _ = write!(std::io::stderr().lock(), $($text)*);
    }};
}
macro_rules! say_line {
    ($($text:tt)*) => {{
        use std::io::Write;
        let _ = writeln!(std::io::stderr().lock(), $($text)*);
    }};
}

mod audit;
mod certify;
mod charge;
mod check;
mod compare;
mod compile;
mod complete;
mod counted;
mod draw;
mod emit;
mod explain;
mod files;
mod highlight;
mod inputs;
mod inspect;
mod ledger;
mod pace;
mod progress;
mod prompt;
mod registered;
mod repl;
mod report;
mod rewrite;
mod run;
pub mod sealed;
mod sql;
mod starter;
mod strict;
mod synthetic;
mod values;
mod verify;
mod want;

use crate::source::{Diagnostic, SourceMap, render};
use clap::{Args, Parser, Subcommand};
use std::io::IsTerminal;
use std::path::PathBuf;

/// How a command ends. None of these depends on a private value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exit {
    Done = 0,
    /// The program is rejected.
    Rejected = 1,
    /// Wrong use of the command line.
    Usage = 2,
    /// A file is missing, lacks a declared column, breaks a public row count, or has a bad public cell.
    Input = 3,
    /// The ledger refuses.
    Ledger = 4,
    /// `expect`, `verify` or `audit` found a failure.
    Failed = 5,
    /// A bug in dpm itself.
    Bug = 70,
}

#[derive(Parser)]
#[command(
    name = "dpm",
    version,
    about = "Bayesian analysis of private data, with a certificate for every release.",
    disable_help_subcommand = true
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Syntax, names, types, labels, sensitivities, rules, budget; no data is read
    Check(Check),
    /// The certificate: one entry a release, and the total; public tables only
    Certify(Certify),
    /// Every mechanism for every release: solved parameter, predicted error, why others do not apply
    Compare(compare::Compare),
    /// One self-contained file: the resolved program, its parameters, its certificate, its public data
    Compile(compile::Compile),
    /// Certify a program or open a plan, draw once, print releases and outputs
    Run(Run),
    /// A program typed statement by statement; a release asks before it spends
    Repl(Repl),
    /// For the owner of a file: which cells are not what a program declares. Its output is private
    Inspect(inspect::Inspect),
    /// The query that counts what a program asks of its rows, for an engine that holds them: exact integers, which are private
    Sql(sql::Sql),
    /// What of a program an engine can count, and what is read row by row
    Sources(sql::Sources),
    /// Budgets of registered data sets: what was spent and what is left
    #[command(subcommand)]
    Ledger(ledger::Command),
    /// Re-derive every number of a certificate or plan by separate code
    Verify(verify::Verify),
    /// Attack every release on made-up neighbours: lower bounds on epsilon beside the certificate
    Audit(audit::Audit),
    /// A page on a term, error code, rule, mechanism, distribution, function or keyword
    Explain { name: Vec<String> },
    /// A picture of what a program costs, predicts or released, as SVG or PNG
    Plot(report::Plot),
    /// One HTML page: what is released, at what risk, and why that is certified
    Report(report::Report),
    /// A commented project to start from
    New { folder: PathBuf },
    /// Completions for a shell, on standard output
    Completions { shell: clap_complete::Shell },
    /// The manual page, on standard output
    Man,
    /// The language server for editors, on standard input and output
    Lsp,
    /// Format programs in place
    Fmt {
        files: Vec<PathBuf>,
        /// Only say whether something would change (exit 1)
        #[arg(long)]
        check: bool,
    },
    /// Print the program with modules, functions and models written out
    Expand { file: PathBuf },
    /// Write the chosen mechanisms and their parameters into the program
    Lock {
        file: PathBuf,
        /// Print the locked program instead of writing it
        #[arg(long)]
        print: bool,
        #[command(flatten)]
        public: Public,
    },
    /// Show the program in another form
    Show {
        /// The Stan program of the same posterior
        #[arg(long, required = true)]
        stan: bool,
        file: PathBuf,
    },
}

#[derive(Args)]
struct Public {
    /// A public table or value: `pilot=pilot.csv`, `k=3.5`
    #[arg(long, value_name = "NAME=PATH|VALUE")]
    public: Vec<String>,
}

#[derive(Args)]
struct Program {
    file: PathBuf,
    #[command(flatten)]
    public: Public,
    /// Exactly one JSON value on standard output
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct Check {
    #[command(flatten)]
    program: Program,
    /// Print the program after this phase instead of its costs
    #[arg(long, value_name = "PHASE", conflicts_with = "json")]
    emit: Option<emit::Phase>,
}

#[derive(Args)]
struct Certify {
    #[command(flatten)]
    program: Program,
    /// Also report this Rényi order (above 1)
    #[arg(long, value_name = "L")]
    order: Vec<f64>,
    /// Also report epsilon at this delta (between 0 and 1)
    #[arg(long, value_name = "D")]
    delta: Vec<f64>,
    /// Write the certificate as JSON
    #[arg(short, value_name = "CERT")]
    output: Option<PathBuf>,
    /// Sign it with this Ed25519 key (PKCS#8, PEM)
    #[arg(long, value_name = "KEY")]
    sign: Option<PathBuf>,
}

#[derive(Args)]
struct Run {
    #[command(flatten)]
    program: Program,
    /// A private table: `staff=staff.csv`, `.parquet` or `.arrow`, a folder, a pattern; with a ledger `staff=@ID`; a bare path if the program has one private table
    #[arg(long, value_name = "NAME=PATH|@ID")]
    data: Vec<String>,
    #[command(flatten)]
    counted: counted::Counted,
    /// What stands between the cells of a line of the private files: `,`, `;` or `tab`
    #[arg(long, value_name = "CHARACTER", conflicts_with = "ledger")]
    delimiter: Option<inputs::Delimiter>,
    /// Charge this ledger before any data are opened; the data are the registered ones
    #[arg(long, value_name = "PATH")]
    ledger: Option<PathBuf>,
    /// Whose share of the budget is charged, where the ledger's policy has shares
    #[arg(long, value_name = "NAME", requires = "ledger")]
    analyst: Option<String>,
    /// Answer at a multiple of so many seconds
    #[arg(long, value_name = "SECONDS")]
    pad: Option<u64>,
    /// Refuse a certificate that assumes convergence
    #[arg(long)]
    strict: bool,
    /// Also print the certificate: premises, costs, assumptions
    #[arg(long, conflicts_with = "json")]
    certificate: bool,
    /// Print values alone
    #[arg(long, conflicts_with_all = ["json", "certificate"])]
    quiet: bool,
    /// Run although a release is predicted to learn next to nothing (W0510)
    #[arg(long)]
    anyway: bool,
    /// Write the result as JSON
    #[arg(short, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Write draws of the released posteriors as JSON that ArviZ and R read
    #[arg(long, value_name = "JSON")]
    arviz: Option<PathBuf>,
    /// Write made-up rows as CSV: the output `made_up = simulate(cells, post, rows = 1000)`; its name where there are several
    #[arg(long, value_name = "[NAME=]CSV")]
    synthetic: Vec<String>,
    /// Replay randomness: the result is NOT PRIVATE
    #[cfg(feature = "tape")]
    #[arg(long)]
    seed: Option<u64>,
}

#[derive(Args)]
struct Repl {
    /// A private table: `staff=staff.csv`, with a ledger `staff=@ID`
    #[arg(long, value_name = "NAME=PATH|@ID")]
    data: Vec<String>,
    #[command(flatten)]
    public: Public,
    /// Charge this ledger for every release; the data are the registered ones
    #[arg(long, value_name = "PATH")]
    ledger: Option<PathBuf>,
    /// Whose share of the budget is charged
    #[arg(long, value_name = "NAME", requires = "ledger")]
    analyst: Option<String>,
    /// Keep the history of input here, readable for its owner alone
    #[arg(long, value_name = "PATH")]
    history: Option<PathBuf>,
    /// Keep no history
    #[arg(long, conflicts_with = "history")]
    no_history: bool,
}

/// Was something meant for standard output lost (a full disk, a closed descriptor)?
static LOST: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);

fn print(text: &str) {
    use std::io::{ErrorKind, Write};
    let mut out = std::io::stdout().lock();
    let done = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    if done.is_err_and(|e| e.kind() != ErrorKind::BrokenPipe) {
        LOST.store(true, std::sync::atomic::Ordering::Relaxed);
    }
}

/// Runs one command line; the caller exits with the code.
pub fn main(args: impl Iterator<Item = std::ffi::OsString>) -> Exit {
    let exit = command(args);
    if LOST.load(std::sync::atomic::Ordering::Relaxed) {
        say_line!("error: standard output could not be written");
        return if exit == Exit::Done { Exit::Input } else { exit };
    }
    exit
}

fn command(args: impl Iterator<Item = std::ffi::OsString>) -> Exit {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(e) => {
            let shown = e.use_stderr();
            let _ = e.print();
            return if shown { Exit::Usage } else { Exit::Done };
        }
    };
    match cli.command {
        Command::Check(p) => check::check(&p),
        Command::Certify(c) => certify::certify(&c),
        Command::Compare(c) => compare::compare(&c),
        Command::Compile(c) => compile::compile(&c),
        Command::Run(r) => run::run(&r),
        Command::Inspect(i) => inspect::run(&i),
        Command::Sql(s) => sql::sql(&s),
        Command::Sources(s) => sql::sources(&s),
        Command::Ledger(l) => ledger::ledger(&l),
        Command::Repl(r) => repl::repl(&r),
        Command::Audit(a) => audit::run(&a),
        Command::Verify(v) => verify::verify(&v),
        Command::Explain { name } => explain::explain(&name.join(" ")),
        Command::Plot(p) => report::plot(&p),
        Command::Report(r) => report::report(&r),
        Command::New { folder } => starter::new(&folder),
        Command::Completions { shell } => {
            let mut text = vec![];
            clap_complete::generate(shell, &mut <Cli as clap::CommandFactory>::command(), "dpm", &mut text);
            show!("{}", String::from_utf8_lossy(&text));
            Exit::Done
        }
        Command::Man => {
            let mut text = vec![];
            if clap_mangen::Man::new(<Cli as clap::CommandFactory>::command()).render(&mut text).is_err() {
                return Exit::Bug;
            }
            show!("{}", String::from_utf8_lossy(&text));
            Exit::Done
        }
        Command::Lsp => match crate::lsp::stdio() {
            Ok(()) => Exit::Done,
            Err(why) => {
                say_line!("error: {why}");
                Exit::Input
            }
        },
        Command::Fmt { files, check } => rewrite::fmt(&files, check),
        Command::Expand { file } => rewrite::expand(&file),
        Command::Lock { file, print, public } => rewrite::lock(&file, print, &public.public),
        Command::Show { file, .. } => rewrite::stan(&file),
    }
}

/// Prints diagnostics to standard error, as text.
fn complain(sources: &SourceMap, diagnostics: &[Diagnostic]) {
    if diagnostics.is_empty() {
        return;
    }
    say!("{}", render::text(sources, diagnostics, coloured(&std::io::stderr())));
}

/// Colours go to a terminal, or wherever CLICOLOR_FORCE wants them, and nowhere if NO_COLOR says anything.
fn coloured(stream: &impl IsTerminal) -> bool {
    let said = |name| std::env::var_os(name).is_some_and(|said| !said.is_empty() && said != "0");
    !said("NO_COLOR") && (stream.is_terminal() || said("CLICOLOR_FORCE"))
}

/// Diagnostics as a JSON list.
fn list(sources: &SourceMap, diagnostics: &[Diagnostic]) -> serde_json::Value {
    render::json(sources, diagnostics).get_mut("diagnostics").map(serde_json::Value::take).unwrap_or_default()
}

/// The exit code of a list of diagnostics: 5 if nothing but expectations failed.
fn verdict(diagnostics: &[Diagnostic]) -> Exit {
    let errors: Vec<&Diagnostic> = diagnostics.iter().filter(|d| d.is_error()).collect();
    if errors.is_empty() {
        Exit::Done
    } else if errors.iter().all(|d| d.code == "E0501") {
        Exit::Failed
    } else {
        Exit::Rejected
    }
}

/// One line for a wrong use of the command line.
fn usage(message: &str) -> Exit {
    say_line!("error: {message}");
    Exit::Usage
}

/// One line about something that was not done.
fn say_error(message: &str) {
    say_line!("error: {message}");
}

/// Prints one JSON value.
fn print_json(value: &serde_json::Value) {
    show_line!("{}", serde_json::to_string_pretty(value).unwrap_or_default());
}
