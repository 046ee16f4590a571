//! Reports, pictures and the starter project, through the binary as a user calls it.

use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn dpm(folder: &Path, words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dpm")).current_dir(folder).args(words).output().unwrap()
}

fn example(name: &str) -> String {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("examples").join(name).display().to_string()
}

/// Tags open and close, and nothing is loaded from elsewhere.
fn well_formed(html: &str) {
    for tag in
        ["html", "body", "main", "section", "table", "div", "figure", "svg", "ul", "ol", "li", "p", "h2", "th", "td", "tr", "figcaption"]
    {
        let opens = html.matches(&format!("<{tag}>")).count() + html.matches(&format!("<{tag} ")).count();
        assert_eq!(opens, html.matches(&format!("</{tag}>")).count(), "{tag}");
    }
    for outside in ["src=", "href=\"http", "@import", "url("] {
        assert!(!html.contains(outside), "{outside}");
    }
}

#[test]
fn a_report_explains_every_release() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["01_beta_bernoulli.dpm", "06_logistic.dpm", "10_groups.dpm", "13_two_releases.dpm"] {
        let done = dpm(folder.path(), &["report", &example(name), "-o", "report.html"]);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let html = std::fs::read_to_string(folder.path().join("report.html")).unwrap();
        well_formed(&html);
        for part in ["Who is protected", "The program", "What an attacker can gain", "How the costs add up", "What this rests on", "<svg"] {
            assert!(html.contains(part), "{name}: {part}");
        }
    }
}

/// Text of a program stays text on its pages.
#[test]
fn foreign_text_is_no_markup() {
    let hostile = "</code><script>alert('&')</script>\"";
    let text = format!("# {hostile}\nbudget eps(1)\nprivate t[n >= 100] {{ x: bool }}\nrelease m = mean(x)\n");
    let checked = dpm::pipeline::check(hostile, &text, &dpm::check::NoFiles);
    let Ok(compiled) = dpm::compiled::compile(checked, dpm::run::Bound::default()) else { panic!("it certifies") };
    let pages = [dpm::report::page(&compiled, None), dpm::audit::page(hostile, &[])];
    for (page, times) in pages.iter().zip([6, 2]) {
        assert!(!page.contains("<script") && page.contains("&lt;script&gt;alert("), "{page}");
        assert_eq!(page.matches("&lt;/code&gt;&lt;script&gt;").count(), times, "{page}");
    }
    well_formed(&pages[0]);
}

/// The page of a certificate or plan is the page of its program; an altered certificate has none.
#[test]
fn programs_plans_and_certificates_have_one_page() {
    let folder = tempfile::tempdir().unwrap();
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    std::fs::copy(example("01_beta_bernoulli.dpm"), folder.path().join("rate.dpm")).unwrap();
    assert!(dpm(folder.path(), &["certify", "rate.dpm", "-o", "cert.json"]).status.success());
    assert!(dpm(folder.path(), &["report", "rate.dpm", "-o", "a.html"]).status.success());
    assert!(dpm(folder.path(), &["report", "cert.json", "-o", "b.html"]).status.success());
    assert_eq!(read("a.html"), read("b.html"));
    let altered = read("cert.json").replacen("rdp(order = 8, eps = 0.5)", "rdp(order = 8, eps = 0.4)", 1);
    std::fs::write(folder.path().join("cert.json"), altered).unwrap();
    assert_eq!(dpm(folder.path(), &["report", "cert.json", "-o", "c.html"]).status.code(), Some(5));
    assert!(!folder.path().join("c.html").exists());
}

#[test]
fn pictures_show_the_limit_and_the_budget() {
    let folder = tempfile::tempdir().unwrap();
    for (shows, words) in
        [("rdp", ["limit order", "budget rdp(8)"]), ("dp", ["delta", "epsilon"]), ("tradeoff", ["guessing", "true positive rate"])]
    {
        let done = dpm(folder.path(), &["plot", &example("01_beta_bernoulli.dpm"), "--shows", shows, "-o", "p.svg"]);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let svg = std::fs::read_to_string(folder.path().join("p.svg")).unwrap();
        assert!(words.iter().all(|w| svg.contains(w)), "{shows}: {words:?}");
    }
    assert_eq!(
        dpm(folder.path(), &["plot", &example("01_beta_bernoulli.dpm"), "--release", "nothing", "-o", "p.svg"]).status.code(),
        Some(2)
    );
}

#[test]
fn a_new_project_runs() {
    let folder = tempfile::tempdir().unwrap();
    assert!(dpm(folder.path(), &["new", "start"]).status.success());
    let done = dpm(folder.path(), &["run", "start/rate.dpm", "--data", "start/answers.csv"]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert!(String::from_utf8_lossy(&done.stdout).contains("released  post"));
    assert!(dpm(folder.path(), &["fmt", "--check", "start/rate.dpm"]).status.success());
    assert_eq!(dpm(folder.path(), &["new", "start"]).status.code(), Some(2));
    for shell in ["bash", "zsh", "fish", "powershell"] {
        assert!(String::from_utf8_lossy(&dpm(folder.path(), &["completions", shell]).stdout).contains("certify"), "{shell}");
    }
    assert!(String::from_utf8_lossy(&dpm(folder.path(), &["man"]).stdout).contains(".TH dpm"));
}

fn beside_the_prior(text: &str, release: &str, value: &serde_json::Value) -> Option<dpm::plot::Chart> {
    let checked = dpm::pipeline::check("t.dpm", text, &dpm::check::NoFiles);
    assert!(!checked.has_errors());
    dpm::report::released(&checked.program, release, value)
}

#[test]
fn a_draw_is_a_mark_and_a_posterior_a_density() {
    let text = "budget eps(1)\nprivate t[n >= 100] { x: bool, c: category {a, b, d} }\nparam p ~ beta(6, 18)\nobserve x ~ bernoulli(p)\n\
                param s ~ dirichlet([1, 2, 3])\nobserve c ~ categorical(s)\nrelease one = draw(p)\nrelease post = posterior(s)\n\
                release m = mean(x)\n";
    let one = beside_the_prior(text, "one", &json!(0.25)).unwrap();
    let names: Vec<&str> = one.lines.iter().map(|l| l.name.as_str()).collect();
    assert_eq!(names, ["prior of p", "released draw of p"]);
    assert!(one.lines.iter().all(|l| l.points.iter().all(|p| p.1.is_finite())));
    // The density of Beta(6, 18) at its mode 5/22.
    let mode = one.lines[0].points.iter().map(|p| p.1).fold(0.0, f64::max);
    assert!((mode - 4.5865).abs() < 0.005, "{mode}");
    let post = beside_the_prior(text, "post", &json!({"family": "dirichlet", "parameters": [30, 40, 50]})).unwrap();
    let names: Vec<&str> = post.lines.iter().map(|l| l.name.as_str()).collect();
    assert_eq!(names, ["released a", "released b", "released d", "prior of s", "prior of s", "prior of s"]);
    assert_eq!(beside_the_prior(text, "m", &json!(0.25)), None);
    assert_eq!(beside_the_prior(text, "post", &json!({"family": "dirichlet", "parameters": ["x"]})), None);
}

/// The result of a run has the pictures of its program, and what was released beside the prior.
#[test]
fn results_show_what_was_released() {
    let folder = tempfile::tempdir().unwrap();
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    for (program, rows, release, words) in [
        ("01_beta_bernoulli.dpm", "01_staff.csv", "p_hat", ["prior of p", "released draw of p"]),
        ("12_noisy_posterior.dpm", "12_ballots.csv", "post", ["prior of share", "released blank"]),
    ] {
        std::fs::copy(example(program), folder.path().join("program.dpm")).unwrap();
        let done = dpm(folder.path(), &["run", "program.dpm", "--data", &example(rows), "-o", "result.json"]);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let done = dpm(folder.path(), &["plot", "result.json", "--shows", "posterior", "--release", release, "-o", "p.svg"]);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        assert!(words.iter().all(|w| read("p.svg").contains(w)), "{program}");
        assert!(dpm(folder.path(), &["report", "result.json", "-o", "a.html"]).status.success());
        assert!(dpm(folder.path(), &["report", "program.dpm", "-o", "b.html"]).status.success());
        well_formed(&read("a.html"));
        assert!(read("a.html").contains(words[0]) && !read("b.html").contains(words[0]));
    }
    // A program has not released anything.
    assert_eq!(dpm(folder.path(), &["plot", "program.dpm", "--shows", "posterior", "-o", "q.svg"]).status.code(), Some(2));
}

/// Every mechanism that `compare` lists has a line, and errors fall as the budget grows.
#[test]
fn errors_fall_as_the_budget_grows() {
    let checked = dpm::pipeline::check("t.dpm", &std::fs::read_to_string(example("01_beta_bernoulli.dpm")).unwrap(), &dpm::check::NoFiles);
    let Ok(compiled) = dpm::compiled::compile(checked, dpm::run::Bound::default()) else { panic!("it certifies") };
    let charts = dpm::report::errors(&compiled.checked.program, &compiled.bound, &compiled.checked.sources);
    let chart = charts[0].1.as_ref().unwrap();
    let names: Vec<&str> = chart.lines.iter().map(|l| l.name.as_str()).collect();
    assert!(names.contains(&"diffuse") && names.contains(&"concentrated"), "{names:?}");
    for line in &chart.lines {
        assert!(line.points.windows(2).all(|w| w[0].0 < w[1].0), "{line:?}");
        // A larger budget may undo some shrinkage; much more of it never hurts. How far a chain that pays moves is not predicted.
        let (first, last) = (line.points[0].1, line.points.last().unwrap().1);
        let pays = ["penalty", "dp_hmc", "dp_sgld"].contains(&line.name.as_str());
        assert!(last < first || (pays && last == first), "{line:?}");
    }
    // Half of the program's budget, the budget, twice: what `compare` predicts at each.
    let diffuse = chart.lines.iter().find(|l| l.name == "diffuse").unwrap();
    let at = |x: f64| diffuse.points.iter().find(|p| (p.0 / x - 1.0).abs() < 1e-9).unwrap().1;
    let chosen = compiled.analysis.releases[0].chosen.as_ref().unwrap();
    assert_eq!((chosen.mechanism.name, at(0.5)), ("diffuse", chosen.predicted_error.value));
    assert!(at(0.25) > at(0.5) && at(0.5) > at(1.0));
    let text = chart.text(60, 14);
    assert!(text.lines().all(|l| l.chars().count() <= 120) && text.contains("* "), "{text}");
}

#[cfg(feature = "png")]
#[test]
fn pictures_can_be_png() {
    let folder = tempfile::tempdir().unwrap();
    let done = dpm(folder.path(), &["plot", &example("01_beta_bernoulli.dpm"), "-o", "p.PNG"]);
    if !done.status.success() {
        // A machine without fonts says so.
        assert!(String::from_utf8_lossy(&done.stderr).contains("no font"), "{}", String::from_utf8_lossy(&done.stderr));
        return;
    }
    let bytes = std::fs::read(folder.path().join("p.PNG")).unwrap();
    assert!(bytes.starts_with(b"\x89PNG\r\n\x1a\n") && bytes.ends_with(b"IEND\xaeB`\x82"));
    // Width and height in the header: two dots to a pixel.
    assert_eq!(bytes[16..24], [0, 0, 6, 64, 0, 0, 4, 96]);
}

#[cfg(not(feature = "png"))]
#[test]
fn png_is_named_where_it_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let done = dpm(folder.path(), &["plot", &example("01_beta_bernoulli.dpm"), "-o", "p.png"]);
    assert_eq!(done.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&done.stderr).contains("--features png") && !folder.path().join("p.png").exists());
}
