//! `dpm repl` as a person uses it, through a pseudo-terminal, and as a script does, through a pipe.

use rexpect::process::{Signal, WaitStatus};
use rexpect::reader::Options;
use rexpect::session::{PtySession, spawn_with_options};
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

mod files;

const PROMPT: &str = "dpm> ";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).into()
}

fn command(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dpm"));
    command.args(args).current_dir(folder).env("TERM", "xterm").env("HOME", folder).env_remove("XDG_STATE_HOME");
    command
}

fn dpm(folder: &Path, args: &[&str]) -> Output {
    command(folder, args).output().unwrap()
}

/// A person at a terminal.
struct Person(PtySession);

impl Person {
    fn at(folder: &Path, args: &[&str]) -> Person {
        let mut start = command(folder, &[&["repl"], args].concat());
        start.env("NO_COLOR", "1");
        Person::with(start)
    }

    fn with(start: Command) -> Person {
        let options = Options::new().timeout_ms(Some(60_000)).strip_ansi_escape_codes(true);
        let mut person = Person(spawn_with_options(start, options).unwrap());
        person.0.exp_string(PROMPT).unwrap();
        person
    }

    fn send(&mut self, keys: &str) {
        self.0.send(keys).unwrap();
        self.0.flush().unwrap();
    }

    /// Types a line and answers what is printed before the next prompt.
    #[track_caller]
    fn line(&mut self, text: &str) -> String {
        self.enter(text, PROMPT)
    }

    /// Types a line and reads up to `end`, which is not part of the line.
    #[track_caller]
    fn enter(&mut self, text: &str, end: &str) -> String {
        self.send(text);
        self.send("\r");
        self.0.exp_string("\n").unwrap();
        self.0.exp_string(end).unwrap()
    }

    /// Waits for the echo of what was typed, then Control-C, then the next prompt.
    #[track_caller]
    fn interrupt(&mut self, echo: &str) {
        self.0.exp_string(echo).unwrap();
        self.0.send_control('c').unwrap();
        self.0.exp_string(PROMPT).unwrap();
        // What is typed while the terminal changes its mode is lost, as it is for people.
        std::thread::sleep(Duration::from_millis(500));
    }

    #[track_caller]
    fn leave(mut self) {
        self.0.send_control('d').unwrap();
        self.0.exp_eof().unwrap();
        assert!(matches!(self.0.process().wait().unwrap(), WaitStatus::Exited(_, 0)));
    }
}

const TABLE: &str = "private staff[n >= 4] { smoker: bool }";

/// A folder with rows whose name nobody should find in a history.
fn place() -> TempDir {
    let place = TempDir::new().unwrap();
    fs::write(place.path().join("secret_rows.csv"), "smoker\nyes\nno\nno\nyes\nno\n").unwrap();
    place
}

fn number(text: &str) -> String {
    let at = text.find("p_hat ").unwrap_or_else(|| panic!("{text}"));
    text[at + 6..].split_whitespace().next().unwrap().to_owned()
}

#[test]
fn a_session() {
    let place = place();
    let mut p = Person::at(place.path(), &[]);
    assert_eq!(p.line("budget rdp(order = 8, eps = 0.5)").trim(), "");
    // A table over three lines: the prompt comes back only when the brace is closed.
    p.send("private staff[n >= 4] {\r");
    p.send("smoker: bool\r");
    p.send("}");
    p.0.exp_string("}").unwrap();
    p.send("\r");
    p.0.exp_string(PROMPT).unwrap();
    assert!(p.line(":text").replace('\r', "").contains("private staff[n >= 4] {\nsmoker: bool\n}\n"), "multi-line input is one statement");
    p.line("param p ~ beta(6, 18)");
    p.line("observe smoker ~ bernoulli(p)");
    assert!(p.line(":type mean(smoker)").contains("sensitivity l1 0.25"));
    assert!(p.line(":rules p").contains("diffuse"));
    // Without data a release waits.
    let said = p.line("release p_hat = draw(p) using diffuse");
    assert!(said.contains("waiting: p_hat, rdp(8) = 0.5 of 0.5"), "{said}");
    assert!(p.line("p_hat").contains("has not run yet"));
    assert!(p.line(":model").contains("p_hat"));
    assert!(p.line(":budget").contains("spent 0 of 0.5"));
    p.line(":data staff=secret_rows.csv");
    // It asks before it spends, and takes no for an answer.
    p.enter(":run", "[y/N] ");
    assert!(p.enter("n", PROMPT).contains("not run"));
    assert!(p.line(":budget").contains("spent 0 of 0.5"));
    p.enter(":run", "[y/N] ");
    let said = p.line("y");
    assert!(said.contains("released") && said.contains("charged to this session"), "{said}");
    let value = number(&said);
    // Printed again it is the same, and free.
    assert_eq!(number(&p.line("p_hat")), value);
    assert_eq!(number(&p.line("p_hat")), value);
    let said = p.line(":budget");
    assert!(said.contains("left 0") && said.contains("charged 1 times"), "{said}");
    // Nothing is left.
    let said = p.line("release again = mean(smoker) using laplace");
    assert!(said.contains("E0402"), "{said}");
    // The same name again pays again: it is refused, and what was paid stays paid.
    let said = p.line("release p_hat = draw(p) using diffuse");
    assert!(said.contains("does not allow this run") && said.contains("left 0"), "{said}");
    assert!(p.line(":budget").contains("charged 1 times"));
    assert_eq!(number(&p.line("p_hat")), value, "the value that was paid for stays");
    let plot = p.line(":curve p_hat");
    assert!(plot.contains("epsilon (log scale)") && plot.matches('*').count() > 30, "{plot}");
    for (asked, words) in [
        (":plot", ["total: epsilon by R", "budget rdp(8)"]),
        (":plot dp p_hat", ["p_hat: epsilon by delta (log scale)", "* certified"]),
        (":plot tradeoff", ["true positive rate by false positive rate", "+ guessing"]),
        (":plot error", ["predicted", "concentrated"]),
        (":plot posterior p_hat", ["* prior of p", "+ released draw of p"]),
    ] {
        let said = p.line(asked);
        assert!(words.iter().all(|w| said.contains(w)), "{asked}: {said}");
    }
    assert!(p.line(":plot rdp nothing").contains("wants the name of a release"));
    assert!(p.line(":nonsense").contains("no such command"));
    p.leave();
}

#[test]
fn tab_completes_statements_names_columns_mechanisms_and_commands() {
    let place = place();
    let mut p = Person::at(place.path(), &[]);
    p.line("budget eps(1)");
    p.line(TABLE);
    for (typed, whole) in [
        ("obser", "observe"),
        (":cur", ":curve"),
        ("let y = smo", "smoker"),
        ("release x = count(smoker) using geo", "geometric"),
        ("param p ~ bet", "beta"),
    ] {
        p.send(typed);
        p.0.exp_string(typed).unwrap();
        p.send("\t");
        let before = typed.rfind(' ').map_or("", |i| &typed[..=i]);
        p.interrupt(&format!("{before}{whole}"));
    }
    p.leave();
}

#[test]
fn control_c_drops_the_line_and_control_d_leaves() {
    let place = place();
    let mut p = Person::at(place.path(), &[]);
    p.line("budget eps(1)");
    p.send("private staff[n] {\r");
    p.send("smoker: bool");
    p.interrupt("smoker: bool");
    let text = p.line(":text");
    assert!(text.contains("budget") && !text.contains("staff"), "{text}");
    // Control-C where an answer is wanted is no.
    p.line(TABLE);
    p.line(":data staff=secret_rows.csv");
    p.enter("release c = count(smoker) using geometric", "[y/N] ");
    p.0.send_control('c').unwrap();
    p.0.exp_string("not run").unwrap();
    p.0.exp_string(PROMPT).unwrap();
    assert!(p.line(":budget").contains("spent 0 of 1"));
    p.leave();
}

#[test]
fn a_line_typed_where_an_answer_was_wanted_is_a_line() {
    let place = place();
    let mut p = Person::at(place.path(), &["--data", "staff=secret_rows.csv"]);
    p.line("budget eps(1)");
    p.line(TABLE);
    p.enter("release c = count(smoker) using geometric", "[y/N] ");
    let said = p.line("let k = 3");
    assert!(said.contains("not run"), "{said}");
    assert!(p.line(":text").contains("let k = 3"));
    p.leave();
}

#[test]
fn the_history_holds_no_places_of_data_and_is_the_owners_alone() {
    let place = place();
    let file = place.path().join(".local/state/dpm/history");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "#V2\n").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let mut p = Person::at(place.path(), &[]);
    p.line("budget eps(1)");
    p.line(TABLE);
    p.line(":data staff=secret_rows.csv");
    p.line(":dta staff=secret_rows.csv");
    p.line(":public k=secret_rows.csv");
    p.line("output staff = secret_rows.csv");
    p.line("# rows are in secret_rows.csv");
    p.line(":budget");
    p.enter("release c = count(smoker) using geometric", "[y/N] ");
    p.line("yes");
    p.leave();
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("budget eps(1)") && text.contains("release c") && text.contains(":budget"), "{text}");
    assert!(!text.contains("secret") && !text.contains("yes") && !text.contains("data"), "{text}");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    // The next session remembers: the line above is the last one.
    let mut p = Person::at(place.path(), &[]);
    p.send("\x1b[A");
    p.interrupt("release c");
    p.leave();
    let other = TempDir::new().unwrap();
    let mut p = Person::at(other.path(), &["--no-history"]);
    p.line("budget eps(1)");
    p.leave();
    assert_eq!(fs::read_dir(other.path()).unwrap().count(), 0);
}

#[test]
fn colours_unless_they_are_not_wanted() {
    let place = place();
    let mut start = command(place.path(), &["repl", "--no-history"]);
    start.env_remove("NO_COLOR");
    let mut p = rexpect::session::spawn_command(start, Some(60_000)).unwrap();
    p.exp_string(PROMPT).unwrap();
    p.send("budget eps(1)").unwrap();
    p.flush().unwrap();
    p.exp_string("\x1b[1;34mbudget\x1b[0m").unwrap();
}

#[test]
fn a_pasted_program_is_asked_about_once() {
    let place = place();
    let mut p = Person::at(place.path(), &["--data", "staff=secret_rows.csv"]);
    let text = "budget eps(1)\nprivate staff[n >= 4] { smoker: bool }\n\
                release a = count(smoker)\nrelease b = mean(smoker)\noutput c = a + b";
    p.send(&format!("\x1b[200~{text}\x1b[201~"));
    p.send("\r");
    p.0.exp_string("a, b: eps = 1 of 1").unwrap();
    p.0.exp_string("[y/N] ").unwrap();
    let said = p.line("y");
    assert!(said.matches("released").count() == 2 && said.contains("output"), "{said}");
    p.line(":certificate c.json");
    p.leave();
    fs::write(place.path().join("session.dpm"), format!("{text}\n")).unwrap();
    assert!(dpm(place.path(), &["certify", "session.dpm", "-o", "d.json"]).status.success());
    let read = |name: &str| fs::read(place.path().join(name)).unwrap();
    assert_eq!(read("c.json"), read("d.json"));
}

fn with_ledger(rows: usize) -> TempDir {
    let place = TempDir::new().unwrap();
    fs::write(place.path().join("rows.csv"), format!("smoker\n{}", "yes\nno\n".repeat(rows / 2))).unwrap();
    fs::write(place.path().join("s.schema"), "private people[n >= 100] { smoker: bool }\n").unwrap();
    let init = "ledger init l.ledger --dataset people=rows.csv --schema s.schema --shared --budget eps(1)";
    let done = dpm(place.path(), &init.split(' ').collect::<Vec<_>>());
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    place
}

const DURABLE: [&str; 4] = ["--ledger", "l.ledger", "--data", "staff=@people"];

fn shown(place: &TempDir) -> String {
    String::from_utf8(dpm(place.path(), &["ledger", "show", "l.ledger"]).stdout).unwrap()
}

#[test]
fn a_durable_ledger_outlives_the_session() {
    let place = with_ledger(100);
    let mut p = Person::at(place.path(), &DURABLE);
    // The program's own budget is larger than what is registered.
    p.line("budget eps(3)");
    p.line(TABLE);
    assert!(p.line(":data staff=rows.csv").contains("NAME=@ID"));
    p.enter("release a = count(smoker) using geometric(scale = 1.6)", "[y/N] ");
    let said = p.line("y");
    assert!(said.contains("left of people: eps 0.375 of 1"), "{said}");
    assert!(p.line(":budget").contains("people in the ledger: eps: spent 0.625 of 1, left 0.375"));
    // An overspend is refused with what is left; nothing runs.
    p.enter("release b = count(smoker) using geometric(scale = 1.6)", "[y/N] ");
    let said = p.line("y");
    assert!(said.contains("asked 0.625") && said.contains("left 0.375") && !said.contains("released"), "{said}");
    p.leave();
    // Another session starts where this one ended.
    let mut p = Person::at(place.path(), &DURABLE);
    p.line("budget eps(3)");
    p.line(TABLE);
    p.enter("release a = count(smoker) using geometric(scale = 1.6)", "[y/N] ");
    assert!(p.line("y").contains("does not allow this run"));
    p.leave();
}

#[test]
fn a_killed_session_stays_charged() {
    // Many rows, so that there is a middle to be killed in.
    let place = with_ledger(600_000);
    let mut p = Person::at(place.path(), &DURABLE);
    p.line("budget eps(3)");
    p.line(TABLE);
    p.enter("release a = count(smoker) using geometric(scale = 2)", "[y/N] ");
    let head = place.path().join("l.ledger.head");
    let before = fs::read(&head).unwrap();
    p.send("y\r");
    let start = Instant::now();
    while fs::read(&head).ok().is_none_or(|now| now == before) {
        assert!(start.elapsed() < Duration::from_secs(60), "never charged");
        std::thread::yield_now();
    }
    p.0.process_mut().kill(Signal::SIGKILL).unwrap();
    let rest = p.0.exp_eof().unwrap_or_default();
    assert!(!rest.contains("released"), "killed too late: {rest}");
    assert!(shown(&place).contains("0.5"), "{}", shown(&place));
    // Whoever goes on has the other half, and no more.
    let mut p = Person::at(place.path(), &DURABLE);
    p.line("budget eps(3)");
    p.line(TABLE);
    p.enter("release a = count(smoker) using geometric(scale = 1.9)", "[y/N] ");
    assert!(p.line("y").contains("does not allow this run"));
    p.leave();
}

/// A script on standard input: text in, standard output and standard error back.
fn piped(folder: &Path, args: &[&str], script: &str) -> (String, String) {
    let mut child =
        command(folder, &[&["repl"], args].concat()).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    let done = child.wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(0));
    (String::from_utf8(done.stdout).unwrap(), String::from_utf8(done.stderr).unwrap())
}

#[test]
fn every_example_through_a_pipe_gives_the_certificate_of_its_file() {
    let examples = root().join("examples");
    let mut tried = 0;
    for file in fs::read_dir(&examples).unwrap().map(|f| f.unwrap().path()).filter(|f| f.extension().is_some_and(|e| e == "dpm")) {
        let place = TempDir::new().unwrap();
        fs::copy(&file, place.path().join("session.dpm")).unwrap();
        // The record that an example reads.
        fs::copy(examples.join("18_poll.json"), place.path().join("18_poll.json")).unwrap();
        let pilot = format!("pilot={}", examples.join("11_pilot.csv").display());
        let public = if file.ends_with("11_public_prior.dpm") { vec!["--public", pilot.as_str()] } else { vec![] };
        let certify = [vec!["certify", "session.dpm", "-o", "file.json"], public.clone()].concat();
        let script = format!("{}:certificate session.json\n", fs::read_to_string(&file).unwrap());
        let (_, said) = piped(place.path(), &public, &script);
        if dpm(place.path(), &certify).status.success() {
            let read = |name: &str| fs::read(place.path().join(name)).unwrap_or_else(|_| panic!("{}: {said}", file.display()));
            assert_eq!(read("file.json"), read("session.json"), "{}", file.display());
            piped(place.path(), &public, ":load session.dpm\n:certificate loaded.json\n:quit\n");
            assert_eq!(read("file.json"), read("loaded.json"), "{}", file.display());
            tried += 1;
        } else {
            assert!(said.contains("E0300"), "{}: {said}", file.display());
        }
    }
    assert!(tried >= 10, "{tried}");
}

/// What is to be known of chains and of made-up rows is said here too, and a comparison is a table.
#[test]
fn values_come_with_their_warnings() {
    let place = TempDir::new().unwrap();
    fs::copy(root().join("examples/18_poll.json"), place.path().join("r.json")).unwrap();
    let model = "public cells from \"r.json\"\nparam u: vector[region] ~ normal(0, 1)\nobserve cells.vote ~ bernoulli_logit(u[region])\n\
        output post = posterior(u)\nparam v: vector[region] ~ normal(0, 3)\nobserve cells.vote ~ bernoulli_logit(v[region])\noutput wide = posterior(v)\n";
    let (out, said) =
        piped(place.path(), &[], &format!("{model}output rows = simulate(cells, post, rows = 10)\noutput d = loo_compare(post, wide)\n"));
    assert!(said.contains("warning: the rows of `rows` are made up"), "{said}");
    let lines: Vec<Vec<&str>> = out.lines().map(|l| l.split_whitespace().collect()).collect();
    let head = lines.iter().position(|l| *l == ["elpd_diff", "se_diff", "k"]).unwrap_or_else(|| panic!("{out}"));
    assert!(lines[head + 1].len() == 3 && lines[head + 1].iter().all(|x| x.parse::<f64>().is_ok()), "{out}");
}

/// Two data sets, one script: everything printed is the same but for the released values themselves.
#[test]
fn nothing_else_depends_on_the_data() {
    let script = "budget eps(4)\nprivate t[n >= 3] { x: real in [0, 1], g: public category {a, b} }\n\
        release s = sum(x) using laplace spend 25%\nrelease q = quantile(x, 0.5) using exponential(lo = 0, hi = 1) spend 25%\n\
        output d = 2 * s\n:data t=rows.csv\n:run\ns\nn\n:budget\n:curve s\nrelease s = mean(x) using laplace spend 25%\n:run\n\
        each g of t {\nrelease c = count(x > 0.5) using geometric\n}\n:run\n:budget\n:data\nmean(x)\n:certificate\n:text\n";
    let answers: Vec<(String, String)> = ["x,g\n0,a\n0,b\n0,b\n", "x,g\n1,a\n\"bad, cell\",b\nnan,b\n"]
        .iter()
        .map(|rows| {
            let place = TempDir::new().unwrap();
            fs::write(place.path().join("rows.csv"), rows).unwrap();
            piped(place.path(), &[], script)
        })
        .collect();
    let masked = |text: &str| -> Vec<String> {
        let value = |l: &str| l.starts_with("released") || (l.starts_with("output") && !l.contains("output    n "));
        // A line of a released value is as long as it would be for any other draw.
        text.lines().map(|l| if value(l) { format!("a value of {} characters", l.chars().count()) } else { l.to_owned() }).collect()
    };
    assert_eq!(masked(&answers[0].0), masked(&answers[1].0));
    assert_eq!(answers[0].1, answers[1].1);
    assert!(answers[0].0.matches("released").count() >= 4, "{}\n{}", answers[0].0, answers[0].1);
}
