//! Small texts that ask for endless work: the binary answers each quickly, in bounded memory, with an ordinary exit code.

use super::masses::{Mass, fillings, masses};
use allocation_counter::measure;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The binary under test: the one just built, or a release build named by `DPM_BIN`.
fn binary() -> String {
    std::env::var("DPM_BIN").unwrap_or_else(|_| env!("CARGO_BIN_EXE_dpm").into())
}

/// Processor time of one program: the goal is 2 s in a release build; a debug build gets more.
fn limit() -> Duration {
    let release = !cfg!(debug_assertions) || std::env::var_os("DPM_BIN").is_some();
    Duration::from_secs(if release { 2 } else { 20 })
}
/// Address space: 512 MiB for the work, and the stack of 256 MiB that is reserved at the start.
const ADDRESSES: u64 = (512 + 256 + 64) << 10;

pub const HEAD: &str = "budget rdp(order = 8, eps = 0.5)\nprivate t[n >= 100] { b: bool, i: int in 0..9, x: real in [0, 1] }\n";
pub const TAIL: &str = "param p ~ beta(6, 18)\nobserve b ~ bernoulli(p)\nrelease r = draw(p)\n";

/// One `many` times.
pub fn rep(one: &str, many: usize) -> String {
    one.repeat(many)
}

pub fn each(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(line).collect()
}

pub fn levels(count: usize) -> String {
    let names: Vec<String> = (0..count).map(|i| format!("l{i}")).collect();
    names.join(", ")
}

/// What nests, chains or repeats.
fn shapes() -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = vec![];
    let out = |e: String| format!("{HEAD}{TAIL}output o = {e}\n");
    let mut add = |name: String, text: String| all.push((name, text));
    for depth in [100, 200, 1_000, 10_000, 100_000, 1_000_000] {
        add(format!("{depth} parentheses"), out(rep("(", depth) + "1" + &rep(")", depth)));
        add(format!("{depth} brackets"), out(rep("[", depth) + "1" + &rep("]", depth)));
        add(format!("{depth} unary minus"), out(rep("-", depth) + "1"));
        add(format!("{depth} not"), out(rep("not ", depth) + "true"));
        add(format!("{depth} if"), out(rep("if true then 1 else ", depth) + "1"));
        add(format!("{depth} if in condition"), out(rep("if ", depth) + "true" + &rep(" then true else false", depth)));
        add(format!("{depth} powers"), out(rep("2^", depth) + "1"));
        add(format!("{depth} sums"), out(rep("1 + ", depth) + "1"));
        add(format!("{depth} ands"), out(rep("true and ", depth) + "true"));
        add(format!("{depth} calls"), out(rep("exp(", depth) + "1" + &rep(")", depth)));
        add(format!("{depth} indices"), out(rep("r[", depth) + "1" + &rep("]", depth)));
        add(format!("{depth} open parentheses"), out(rep("(", depth)));
        add(format!("{depth} fields"), out("r".to_owned() + &rep(".a", depth)));
        add(format!("{depth} when"), format!("{HEAD}{TAIL}{}{}", rep("when r > 0 {\n", depth), rep("}\n", depth)));
        add(format!("{depth} each"), format!("{HEAD}{}{}", rep("each b of t {\n", depth), rep("}\n", depth)));
    }
    for count in [30, 1_000, 5_000, 100_000] {
        let lets = each(count, |i| format!("let v{} = v{i} + v{i}\n", i + 1));
        add(format!("{count} doubling lets"), format!("{HEAD}{TAIL}let v0 = r\n{lets}output o = v{count}\n"));
        let lets = each(count, |i| format!("let v{} = v{i} + v{i}\n", i + 1));
        add(format!("{count} doubling row lets"), format!("{HEAD}let v0 = x\n{lets}release r = mean(v{count})\n"));
        let lists = each(count, |i| format!("let v{} = [v{i}, v{i}]\n", i + 1));
        add(format!("{count} doubling lists"), format!("{HEAD}{TAIL}let v0 = r\n{lists}output o = v{count}\n"));
        let fns = each(count, |i| format!("fn f{}(x) = f{i}(x) + 1\n", i + 1));
        add(format!("{count} functions in a chain"), format!("fn f0(x) = x\n{fns}{HEAD}{TAIL}output o = f{count}(r)\n"));
        let fns = each(count, |i| format!("fn f{}(x) = f{i}(f{i}(x))\n", i + 1));
        add(format!("{count} doubling functions"), format!("fn f0(x) = x + x\n{fns}{HEAD}{TAIL}output o = f{count}(r)\n"));
        let models = each(count, |i| format!("model m{}(y) {{\n  let q = m{i}(y)\n  return m{i}(y)\n}}\n", i + 1));
        let last = format!("model m0(y) {{\n  param p ~ beta(6, 18)\n  observe y ~ bernoulli(p)\n  return p\n}}\n{models}");
        add(format!("{count} doubling models"), format!("{last}{HEAD}let p = m{count}(b)\nrelease r = draw(p)\n"));
    }
    add("a function of itself".into(), format!("fn f(x) = f(x)\n{HEAD}{TAIL}output o = f(r)\n"));
    add("a module of itself".into(), format!("use bomb\n{HEAD}{TAIL}"));
    for count in [1_000, 20_000, 100_000] {
        add(format!("{count} outputs"), format!("{HEAD}{TAIL}{}", each(count, |i| format!("output o{i} = r\n"))));
        add(format!("{count} releases"), format!("{HEAD}{}", each(count, |i| format!("release r{i} = mean(x)\n"))));
        add(format!("{count} syntax errors"), each(count, |_| "param = = 3\n".into()));
        add(format!("{count} unknown names"), format!("{HEAD}{}", each(count, |i| format!("output o{i} = nothing{i}\n"))));
        add(format!("{count} names alike"), format!("{HEAD}{}output o = vx\n", each(count, |i| format!("let v{i} = 1\n"))));
        add(format!("{count} names given twice"), format!("{HEAD}{}", rep("let v = 1\n", count)));
        add(format!("{count} tables"), each(count, |i| format!("private t{i}[n{i}] {{ b: bool }}\n")));
        let columns: Vec<String> = (0..count).map(|i| format!("c{i}: bool")).collect();
        add(format!("{count} columns"), format!("private t[n] {{ {} }}\n{}", columns.join(", "), TAIL.replace("observe b", "observe c7")));
        let params = each(count, |i| format!("param p{i} ~ beta(6, 18)\n"));
        add(format!("{count} parameters"), format!("{HEAD}{params}observe b ~ bernoulli(p0)\nrelease r = draw(p0)\n"));
        let pairs = each(count, |i| format!("param p{i} ~ beta(6, 18)\nobserve b ~ bernoulli(p{i})\nrelease r{i} = draw(p{i})\n"));
        add(format!("{count} models in a row"), format!("{HEAD}{pairs}"));
        add(format!("{count} expectations"), format!("{HEAD}{TAIL}{}", rep("expect certificate(total) <= zcdp(1)\n", count)));
        add(format!("{count} arguments"), out(format!("max({}1)", rep("1, ", count))));
        add(format!("{count} list items"), out(format!("[{}1]", rep("1, ", count))));
    }
    all
}

/// What is small to write and large to do.
fn sizes() -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = vec![];
    let out = |e: &str| format!("{HEAD}{TAIL}output o = {e}\n");
    let mut add = |name: &str, text: String| all.push((name.to_owned(), text));
    let big = ["1000000", "1000000000", "1e9", "1e15", "1000000000000000000", "18446744073709551615", "1e18", "1e300", "-1", "0.5"];
    for n in big {
        add(
            &format!("vector[{n}]"),
            format!("private t[n] {{ w: vector[{n}] in [0, 1] }}\nrelease r = mean(w) using laplace(scale = 1)\n"),
        );
        add(&format!("vector[{n}] in l2"), format!("budget zcdp(1)\nprivate t[n] {{ w: vector[{n}] in l2(1) }}\nrelease r = sum(w)\n"));
        add(
            &format!("param vector[{n}]"),
            format!("{HEAD}param w: vector[{n}] ~ normal(0, 1)\nobserve x ~ normal(w[1], 1)\nrelease r = draw(w)\n"),
        );
        add(&format!("counts[{n}]"), format!("private t[n] {{ c: counts[{n}] of 5 }}\nrelease r = sum(c) using laplace(scale = 1)\n"));
        add(&format!("rep(1, {n})"), out(&format!("sum(rep(1, {n}))")));
        add(
            &format!("dirichlet(rep(1, {n}))"),
            format!("{HEAD}param s ~ dirichlet(rep(1, {n}))\nobserve i ~ categorical(s)\nrelease r = draw(s)\n"),
        );
        add(
            &format!("int in 1..{n}"),
            format!(
                "budget rdp(order = 2, eps = 1)\nprivate t[n] {{ c: int in 1..{n} }}\nparam s ~ dirichlet(rep(0.5, {n}))\nobserve c ~ categorical(s)\nrelease r = draw(s)\n"
            ),
        );
        add(
            &format!("histogram to {n}"),
            format!("private t[n] {{ c: int in 0..{n} }}\nrelease r = histogram(c) using laplace(scale = 1)\n"),
        );
        add(&format!("sum to {n}"), format!("budget eps(1)\nprivate t[n] {{ c: int in 0..{n} }}\nrelease r = sum(c)\n"));
        add(&format!("draws(p, {n})"), format!("{HEAD}{}", TAIL.replace("draw(p)", &format!("draws(p, {n})"))));
        add(&format!("times = {n}"), out(&format!("simulate(binomial(100, r), times = {n})")));
        add(&format!("binomial({n})"), out(&format!("mean(simulate(binomial({n}, r), times = 10))")));
        add(&format!("[{n}] rows"), format!("{}{TAIL}", HEAD.replace("n >= 100", n)));
        add(&format!("[n >= {n}] rows"), format!("{}{TAIL}", HEAD.replace("100", n)));
        add(&format!("by id max {n}"), format!("budget zcdp(1)\nprivate t[n] by id max {n} {{ id: text, b: bool }}\n{TAIL}"));
        add(
            &format!("quantile of 0..{n}"),
            format!("budget eps(1)\nprivate t[n] {{ c: real in [0, {n}] }}\nrelease r = quantile(c, 0.5)\n"),
        );
        add(&format!("r[{n}]"), out(&format!("r[{n}]")));
        add(&format!("2^{n}"), out(&format!("2^{n}")));
    }
    for edge in ["1e308", "1.0000000000000001", "1.0000000000000002", "1.000001", "1", "0", "-3", "inf", "1e400", "5e-324"] {
        add(&format!("order {edge}"), format!("{}{TAIL}", HEAD.replace("order = 8", &format!("order = {edge}"))));
        add(&format!("eps {edge}"), format!("{}{TAIL}", HEAD.replace("eps = 0.5", &format!("eps = {edge}"))));
        add(
            &format!("zcdp {edge}"),
            format!(
                "budget zcdp({edge})\nprivate t[n] {{ x: real in [0, 1] }}\nparam m ~ normal(0, 1)\nobserve x ~ normal(m, 1)\nrelease r = draw(m)\n"
            ),
        );
        add(
            &format!("delta {edge}"),
            format!("budget dp(eps = 1, delta = {edge})\nprivate t[n] {{ x: real in [0, 1] }}\nrelease r = mean(x)\n"),
        );
    }
    for prior in [
        "1e-300",
        "5e-324",
        "1e300",
        "1e308",
        "0.1",
        "0.30000000000000004",
        "0.1000000000000000055511151231257827",
        "1e15",
        "4503599627370497.5",
    ] {
        for budget in [
            "rdp(order = 8, eps = 0.5)",
            "rdp(order = 1.000001, eps = 1e-300)",
            "rdp(order = 1.0000000001, eps = 1e300)",
            "eps(1e-300)",
            "dp(eps = 1e-300, delta = 1e-300)",
            "zcdp(1e-300)",
            "gdp(1e300)",
        ] {
            let mut text =
                format!("budget {budget}\nprivate t[n] {{ b: bool, i: int in 0..9, x: real in [0, 1], c: category {{u, v, w}} }}\n");
            for (j, line) in [
                "beta(P, P)\nobserve b ~ bernoulli(p)",
                "dirichlet([P, 1, P])\nobserve c ~ categorical(p)",
                "gamma(P, P)\nobserve i ~ poisson(p)",
                "gamma(P, 1)\nobserve x ~ exponential(p)",
                "normal(0, P)\nobserve x ~ normal(p, P)",
                "beta(P, 2)\nobserve i ~ binomial(9, p)",
            ]
            .iter()
            .enumerate()
            {
                let line = line.replace('P', prior).replace("(p", &format!("(p{j}")).replace(", p)", &format!(", p{j})"));
                let _ = write!(text, "param p{j} ~ {line}\nrelease r{j} = draw(p{j})\n");
            }
            add(&format!("priors {prior} under {budget}"), text);
        }
    }
    let million = 1_000_000;
    add("a number of 1e6 digits", out(&rep("9", million)));
    add("a fraction of 1e6 digits", out(&("0.".to_owned() + &rep("3", million))));
    add("an exponent of 1e6 digits", out(&("1e".to_owned() + &rep("9", million))));
    add("a name of 1e6 letters", format!("let {} = 1\n", rep("a", million)));
    add("a name of 1e6 letters unknown", out(&rep("a", million)));
    add("a string of 1e6 letters", out(&format!("\"{}\"", rep("a", million))));
    add("an open string", out(&("\"".to_owned() + &rep("a", million))));
    add("1e6 comments", rep("# nothing\n", million));
    add("1e6 empty lines", rep("\n", million));
    add("16 MiB of spaces", rep(" ", 16 << 20));
    add("17 MiB", rep("x", 17 << 20));
    add("1e6 NULs", rep("\0", million));
    add("1e6 question marks", rep("?", million));
    add("a long line of errors", rep("param = ", 60_000));
    let category = format!("private t[n] {{ c: public category {{ {} }}, b: bool }}\n", levels(million));
    add(
        "a category of 1e6 levels",
        format!(
            "budget rdp(order = 2, eps = 1)\n{category}param s ~ dirichlet(rep(0.5, levels(c)))\nobserve c ~ categorical(s)\nrelease r = draw(s)\n"
        ),
    );
    add("each over 1e6 levels", format!("budget rdp(order = 2, eps = 1)\n{category}each c of t {{\n{TAIL}}}\noutput o = mean(r)\n"));
    add("each over 1e6 levels, without names", format!("{category}each c of t {{\nparam p ~ nothing(1)\n}}\n"));
    add(
        "each over 1e4 levels, 100 releases",
        format!(
            "budget zcdp(1)\nprivate t[n] {{ c: public category {{ {} }}, x: real in [0, 1] }}\neach c of t {{\n{}}}\n",
            levels(10_000),
            each(100, |i| format!("release r{i} = sum(x)\n"))
        ),
    );
    add("1e6 levels twice", format!("private t[n] {{ c: category {{ {} }} }}\n", rep("u, ", million)));
    all
}

/// Processor time and peak memory (KiB) of a running process so far; nothing where the system does not say.
fn used(id: u32) -> (Duration, u64) {
    let read = |name: &str| fs::read_to_string(format!("/proc/{id}/{name}")).unwrap_or_default();
    let (stat, status) = (read("stat"), read("status"));
    // After the name in parentheses: user and system time are fields 14 and 15, in ticks of 10 ms.
    let fields = stat.rsplit(')').next().unwrap_or("").split_whitespace().skip(11).take(2);
    let ticks: u64 = fields.filter_map(|field| field.parse::<u64>().ok()).sum();
    let peak = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    let peak = peak.and_then(|l| l.split_whitespace().next()?.parse().ok()).unwrap_or(0);
    (Duration::from_millis(10 * ticks), peak)
}

/// Runs one program; says what is wrong with how it ended.
fn judge(folder: &Path, name: &str, text: &str, command: &str) -> Result<(Duration, u64), String> {
    let file = folder.join("bomb.dpm");
    fs::write(&file, text).unwrap();
    let script = format!("ulimit -v {ADDRESSES}; exec \"$0\" \"$@\"");
    let start = Instant::now();
    let mut child = Command::new("sh");
    child.args(["-c", &script, &binary(), command]).arg(&file).current_dir(folder);
    let mut child = child.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let (mut time, mut peak) = (Duration::ZERO, 0);
    let exit = loop {
        if let Some(exit) = child.try_wait().unwrap() {
            break exit;
        }
        let now = used(child.id());
        (time, peak) = (time.max(now.0), peak.max(now.1));
        if time > limit() || start.elapsed() > 30 * limit() {
            child.kill().unwrap();
            child.wait().unwrap();
            return Err(format!("{command}: {name}: still at work after {time:?}, {} MiB", peak >> 10));
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    match exit.code() {
        Some(0 | 1 | 3 | 5) => Ok((time, peak)),
        other => Err(format!("{command}: {name}: ends with {other:?} ({exit}) after {time:?}, {} MiB", peak >> 10)),
    }
}

/// Every third text; all of them with `DPM_LONG=1`.
fn sample<T>(all: impl Iterator<Item = T>) -> impl Iterator<Item = T> {
    all.step_by(if std::env::var_os("DPM_LONG").is_some() { 1 } else { 3 })
}

fn run(bombs: impl Iterator<Item = (String, String)>, commands: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let (mut wrong, mut slowest, mut largest) = (vec![], (Duration::ZERO, String::new()), (0, String::new()));
    let mut count = 0;
    for (name, text) in bombs {
        count += 1;
        for command in commands {
            match judge(folder.path(), &name, &text, command) {
                Ok((time, memory)) => {
                    slowest = slowest.max((time, format!("{command}: {name}")));
                    largest = largest.max((memory, format!("{command}: {name}")));
                }
                Err(why) => {
                    println!("{why}");
                    wrong.push(why);
                }
            }
        }
    }
    println!("{count} programs; slowest {slowest:?}; largest {} MiB ({})", largest.0 >> 10, largest.1);
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn deep_and_long_programs_end_well() {
    run(sample(shapes().into_iter()), &["certify"]);
}

#[test]
fn small_programs_that_ask_for_much_end_well() {
    run(sample(sizes().into_iter()), &["certify"]);
}

#[test]
fn long_programs_end_well() {
    run(sample(made(fillings())), &["certify"]);
}

#[test]
fn programs_that_hold_much_of_one_kind_end_well() {
    run(sample(made(masses())), &["certify"]);
}

fn made(masses: Vec<Mass>) -> impl Iterator<Item = (String, String)> {
    masses.into_iter().map(|(name, text)| (name, text()))
}

/// Bytes of the heap, which are the same on every machine, while a text is read and checked: at most 400 MiB at a time, and 4 GiB
/// in all, which no work that grows with the square of a text stays below.
#[test]
fn the_front_end_allocates_little() {
    let work = || {
        let mut wrong = vec![];
        for (name, text) in sample(made(fillings()).chain(made(masses()))) {
            let used = measure(|| drop(dpm::pipeline::check("bomb.dpm", &text, &dpm::check::NoFiles)));
            if used.bytes_max > 400 << 20 || used.bytes_total > 4 << 30 {
                wrong.push(format!("{name}: {} MiB at a time, {} MiB in all", used.bytes_max >> 20, used.bytes_total >> 20));
            }
        }
        wrong
    };
    let wrong = std::thread::Builder::new().stack_size(256 << 20).spawn(work).unwrap().join().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// However much is wrong with a text, what is said of it is short.
#[test]
fn complaints_are_short() {
    for (name, text) in sample(made(masses())) {
        let checked = dpm::pipeline::check("bomb.dpm", &text, &dpm::check::NoFiles);
        let said = dpm::source::render::text(&checked.sources, &checked.diagnostics, false);
        assert!(said.len() < 1 << 20, "{name}: {} bytes", said.len());
    }
}

/// Modules are limited together, whatever the main program holds.
#[test]
fn modules_are_limited_in_all() {
    struct Large;
    impl dpm::check::Loader for Large {
        fn record(&self, _: &str, _: &str) -> Option<String> {
            None
        }

        fn load(&self, _: &[String]) -> Option<String> {
            Some(rep("# nothing\n", 60_000))
        }
    }
    let checked = dpm::pipeline::check("p.dpm", &format!("use one\nuse two\n{HEAD}{TAIL}"), &Large);
    let said = dpm::source::render::text(&checked.sources, &checked.diagnostics, false);
    assert!(said.contains("[E0025] Error: the modules of a program have at most 1048576 bytes in all"), "{said}");
    assert!(said.contains("p.dpm:2:1"), "{said}");
}

/// Every bomb through every command that reads a program.
#[test]
#[ignore = "takes minutes: cargo test --release --test product bombs -- --ignored"]
fn every_command_survives_every_bomb() {
    run(shapes().into_iter().chain(sizes()).chain(made(fillings())).chain(made(masses())), &["check", "compare", "expand", "fmt"]);
}
