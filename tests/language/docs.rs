//! The manual: every example of every page is run through the checker, and the reference documents are current.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use dpm::explain::{self, Kind};
use dpm::pipeline::{self, Folder};
use dpm::run::Bound;
use dpm::source::render;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Fenced `dpm` programs of a Markdown text: the code each should get (empty if it is right) and the program.
pub fn programs(markdown: &str) -> Vec<(String, String)> {
    let mut found = vec![];
    let mut open: Option<(String, String)> = None;
    for line in markdown.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(fence)) => {
                let code = fence.strip_prefix("dpm").map_or("other", str::trim);
                open = Some((code.to_owned(), String::new()));
            }
            (Some(_), Some(_)) => found.extend(open.take()),
            (Some((_, text)), None) => {
                text.push_str(line);
                text.push('\n');
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a fence is not closed");
    found.retain(|(code, _)| code != "other");
    found
}

/// What the program answers: all codes found, holes included, and the messages.
fn answer(text: &str) -> (BTreeSet<String>, bool, String) {
    let checked = pipeline::check("example.dpm", text, &Folder::of(Path::new("example.dpm")));
    let (analysis, mut diagnostics) = pipeline::analyze(&checked, &Bound::default(), false);
    if let (Some(analysis), false) = (&analysis, text.contains("using ?")) {
        diagnostics.extend(dpm::analyze::holes(analysis));
    }
    let codes = diagnostics.iter().map(|d| d.code.to_owned()).collect();
    let errors = diagnostics.iter().any(|d| d.is_error());
    (codes, errors, render::text(&checked.sources, &diagnostics, false))
}

/// What is wrong with the examples of one text.
fn faults(place: &str, markdown: &str) -> Vec<String> {
    let mut faults = vec![];
    for (code, program) in programs(markdown) {
        // The page on a hole shows one: `certify` refuses what `check` accepts.
        let hole = code == "E0312";
        let (mut codes, errors, messages) = answer(&program);
        if hole {
            codes.extend(holes(&program));
        }
        let listed: BTreeSet<String> = code.split_whitespace().map(str::to_owned).collect();
        // A page written by hand says on the fence that the predicted error of a program has a doubt; in the reference most programs of chains
        // and features have one, and only some fences say so.
        if !place.ends_with(".md") || place.starts_with("docs/reference") {
            codes.retain(|c| listed.contains(c) || c != "W0513");
        }
        let right = if listed.is_empty() { !errors && !codes.contains("W0513") } else { codes == listed };
        if !right {
            let wanted = if code.is_empty() { "no error" } else { &code };
            faults.push(format!("{place}: wanted {wanted}, found {codes:?}\n{program}\n{messages}"));
        }
    }
    faults
}

fn holes(text: &str) -> Vec<String> {
    let checked = pipeline::check("example.dpm", text, &Folder::of(Path::new("example.dpm")));
    let (analysis, _) = pipeline::analyze(&checked, &Bound::default(), false);
    analysis.map(|a| dpm::analyze::holes(&a)).unwrap_or_default().iter().map(|d| d.code.to_owned()).collect()
}

#[test]
fn every_example_of_the_manual_does_what_its_fence_says() {
    let faults: Vec<String> = explain::pages().iter().flat_map(|p| faults(&format!("{} {}", p.kind.word(), p.name), &p.body)).collect();
    assert!(faults.is_empty(), "{} faults\n\n{}", faults.len(), faults.join("\n\n"));
}

#[test]
fn every_example_of_the_documents_does_what_its_fence_says() {
    let mut count = 0;
    for name in documents() {
        let text = fs::read_to_string(root().join(&name)).unwrap();
        count += programs(&text).len();
        let faults = faults(&name, &text);
        assert!(faults.is_empty(), "{}", faults.join("\n\n"));
    }
    assert!(count >= 8);
}

/// Every Markdown file that a reader may open.
fn documents() -> Vec<String> {
    let mut found: Vec<String> = ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "examples/README.md"].map(String::from).to_vec();
    for folder in ["docs", "docs/reference", "benches/papers"] {
        let files = fs::read_dir(root().join(folder)).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
        found.extend(files.filter(|f| f.ends_with(".md")).map(|f| format!("{folder}/{f}")));
    }
    found.sort();
    found
}

/// The page of models shows the files that the tests run.
#[test]
fn models_are_those_of_the_examples() {
    let page = std::fs::read_to_string(root().join("docs/models.md")).unwrap();
    let shown: BTreeSet<String> = programs(&page).into_iter().map(|(_, program)| program.trim().to_owned()).collect();
    let files = std::fs::read_dir(root().join("examples/models")).unwrap();
    let files = files.map(|f| std::fs::read_to_string(f.unwrap().path()).unwrap().trim().to_owned()).collect();
    assert_eq!(shown, files);
    assert!(shown.len() == 8 && shown.iter().all(|p| p.lines().count() < 15));
}

/// What stands outside of blocks of code.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    text.split("\n```").enumerate().filter(|(i, _)| i % 2 == 0).map(|(_, part)| part)
}

/// The anchors of headings, as mdBook and GitHub make them.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for title in prose(text).flat_map(str::lines).filter_map(|l| l.strip_prefix('#')) {
        let kept = |c: char| match c {
            ' ' => Some('-'),
            c if c.is_alphanumeric() || c == '-' || c == '_' => c.to_lowercase().next(),
            _ => None,
        };
        let anchor: String = title.trim_start_matches('#').trim().chars().filter_map(kept).collect();
        let again = (1..).map(|i| format!("{anchor}-{i}"));
        let new = [anchor.clone()].into_iter().chain(again).find(|a| !found.contains(a));
        found.extend(new);
    }
    found
}

/// Links within the documents lead to files and headings that are there; those of the pages of `docs`, which are also a site, to
/// other pages of the site; and every page is in its table of contents.
#[test]
fn no_link_is_broken() {
    let docs = root().join("docs").canonicalize().unwrap();
    let summary = fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    for name in documents() {
        let text = fs::read_to_string(root().join(&name)).unwrap();
        let folder = root().join(&name).parent().unwrap().to_path_buf();
        for link in text.split("](").skip(1).filter_map(|t| t.split(')').next()) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            if link.contains("://") || link.contains(' ') {
                continue;
            }
            let path = if file.is_empty() { root().join(&name) } else { folder.join(file) };
            assert!(path.exists(), "{name}: {link}");
            assert!(!name.starts_with("docs/") || (path.is_file() && path.canonicalize().unwrap().starts_with(&docs)), "{name}: {link}");
            if !anchor.is_empty() {
                assert!(anchors(&fs::read_to_string(&path).unwrap()).contains(anchor), "{name}: {link}");
            }
        }
        if let Some(page) = name.strip_prefix("docs/").filter(|p| *p != "SUMMARY.md") {
            assert!(summary.contains(&format!("({page})")), "{page} is not in docs/SUMMARY.md");
        }
    }
}

/// Every page whose subject this version has shows a program.
#[test]
fn pages_have_examples() {
    for p in explain::pages() {
        assert!(p.summary.ends_with('.') && !p.summary.contains('\n'), "{}: the summary is not a sentence", p.name);
        let shown = !programs(&p.body).is_empty();
        // E0601 is about plans: no program gets it.
        assert_eq!(shown, p.name != "E0601", "{} {}", p.kind.word(), p.name);
    }
}

/// Run with UPDATE_DOCS=1 to write the reference documents.
#[test]
fn docs_are_current() {
    let update = std::env::var_os("UPDATE_DOCS").is_some();
    let folder = root().join("docs/reference");
    for kind in Kind::ALL {
        let path: PathBuf = folder.join(format!("{}.md", kind.plural()));
        let text = explain::reference(kind);
        if update {
            fs::create_dir_all(&folder).unwrap();
            fs::write(&path, text).unwrap();
        } else {
            let committed = fs::read_to_string(&path).unwrap_or_default();
            assert!(committed == text, "{} is not current: run UPDATE_DOCS=1 cargo test --test language docs", path.display());
        }
    }
}

/// The table of cells in the language reference is the one that the reader is held to.
#[test]
fn the_table_of_cells_is_current() {
    let path = root().join("docs/language.md");
    let text = fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once("<!-- cells:").unwrap();
    let (mark, rest) = rest.split_once('\n').unwrap();
    let (_, after) = rest.split_once("<!-- end -->").unwrap();
    let wanted = format!("{before}<!-- cells:{mark}\n{}<!-- end -->{after}", dpm::model::cells::table());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, wanted).unwrap();
    } else {
        assert!(text == wanted, "docs/language.md is not current: run UPDATE_DOCS=1 cargo test --test language docs");
    }
}

/// The table of docs/budgets.md is what the report says of an attacker, for a few budgets.
#[test]
fn the_odds_of_budgets_are_computed() {
    use dpm::report::{after, best_guess, chance};
    let percent = |p: f64| format!("{:.1} %", 100.0 * chance(p).parse::<f64>().unwrap());
    let mut table = String::from("\n| budget | best guess, from 50 % | 1 % becomes at most | 10 % | 50 % |\n|---|---|---|---|---|\n");
    for epsilon in [0.1, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0] {
        let claim = dpm::privacy::Claim::Pure { epsilon };
        let cells: Vec<String> = [0.01, 0.1, 0.5].iter().map(|p| percent(after(&claim, *p))).collect();
        table += &format!("| `eps({epsilon})` | {} | {} |\n", percent(best_guess(&claim, 0.5)), cells.join(" | "));
    }
    let path = root().join("docs/budgets.md");
    let text = fs::read_to_string(&path).unwrap();
    let (head, rest) = text.split_once("language docs -->\n").unwrap();
    let (_, tail) = rest.split_once("<!-- end -->").unwrap();
    let made = format!("{head}language docs -->\n{table}\n<!-- end -->{tail}");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, made).unwrap();
    } else {
        assert!(text == made, "run UPDATE_DOCS=1 cargo test --test language docs");
    }
}

#[test]
fn names_find_their_pages() {
    let index = explain::index();
    for name in explain::names() {
        assert!(explain::page(&name).is_some_and(|p| p.contains(&name)), "{name}");
        assert!(index.contains(&name), "{name}");
    }
    assert_eq!(explain::page("e0301"), explain::page("E0301"));
    assert!(explain::page("laplace").is_some_and(|p| p.contains("(mechanism)") && p.contains("(distribution)") && p.contains("(rule)")));
    assert!(explain::page("nonsense").is_none());
}

/// Every mechanism that a rule answers to, every word that opens a statement, and every function has a page.
#[test]
fn nothing_is_left_out() {
    let of = |kind: Kind| -> BTreeSet<String> { explain::pages().into_iter().filter(|p| p.kind == kind).map(|p| p.name).collect() };
    for mechanism in dpm::rules::mechanisms(None) {
        assert!(of(Kind::Mechanism).contains(mechanism.name), "{}", mechanism.name);
    }
    assert_eq!(of(Kind::Rule).len(), dpm::rules::RULES.len());
    assert_eq!(of(Kind::Distribution).len(), dpm::dist::all().count());
    for (name, _) in dpm::check::signatures() {
        assert!(of(Kind::Function).contains(name), "{name}");
    }
    assert_eq!(of(Kind::Error).len(), dpm::source::codes::all().len() + 1, "every code, and E0601");
    let keywords = "use budget private public param let observe release output expect fn model each when by using spend in from assuming";
    for word in keywords.split(' ') {
        assert!(of(Kind::Keyword).contains(word), "{word}");
    }
}

/// The committed study of predictions on real rows: a quarter off at the median, and no pair by more than 2 times without a warning.
#[test]
fn predictions_of_the_study_are_met_or_warned_of() {
    let text = fs::read_to_string(root().join("benches/results/predictions.txt")).unwrap();
    let pairs: Vec<&str> = text.split("\nAll pairs").nth(1).unwrap().lines().skip(1).filter(|l| !l.trim().is_empty()).collect();
    let ratio = |line: &str| line.split_whitespace().next().unwrap().parse::<f64>().unwrap();
    let warned = |line: &&str| ["W0510", "W0511", "W0512", "W0513"].iter().any(|code| line.contains(code));
    let mut off: Vec<f64> = pairs.iter().map(|line| (ratio(line) - 1.0).abs()).collect();
    off.sort_by(f64::total_cmp);
    assert!(pairs.len() >= 60 && off[pairs.len() / 2] <= 0.25, "{} pairs", pairs.len());
    let silent: Vec<&&str> = pairs.iter().filter(|line| !(0.5..=2.0).contains(&ratio(line)) && !warned(line)).collect();
    assert!(silent.is_empty(), "{silent:#?}");
}
