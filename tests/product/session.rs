//! Sessions without a terminal: the text is the program, what ran stays, nothing is refunded.

use dpm::analyze::Unbound;
use dpm::data::{DataError, Source};
use dpm::ledger::LedgerError;
use dpm::mechanism::MechanismError;
use dpm::mechanism::bits::OsBits;
use dpm::model::TableId;
use dpm::pipeline::{self, Folder};
use dpm::run::{Files, Results, Value};
use dpm::session::{Outcome, Session};
use dpm::syntax::tokens::is_complete;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).into()
}

/// One private table in memory, or none.
struct Rows(Option<&'static str>);

impl Files for Rows {
    fn open(&self, _: TableId) -> Result<Source, DataError> {
        self.0.map(|text| Source::new(text.as_bytes())).ok_or(DataError::Missing)
    }
    fn bits(&self) -> Result<OsBits, MechanismError> {
        OsBits::new()
    }
}

const NONE: Rows = Rows(None);
const ROWS: Rows = Rows(Some("x\n0.5\n0.25\n1\n0\n"));

fn session() -> Session {
    Session::new(Box::new(Folder::of(&root().join("examples/session.dpm"))))
}

fn said(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Kept(None) => "kept".into(),
        Outcome::Kept(Some(s)) | Outcome::Rejected(s) => s.diagnostics.iter().map(|d| format!("{} {}\n", d.code, d.message)).collect(),
        Outcome::Refused(why) => why.clone(),
        Outcome::Value(_) => "a value".into(),
    }
}

#[track_caller]
fn keep(session: &mut Session, line: &str) {
    let outcome = session.eval(&format!("{line}\n"), &NONE);
    assert!(matches!(outcome, Outcome::Kept(_)), "{line}: {}", said(&outcome));
}

#[track_caller]
fn reject(session: &mut Session, line: &str, why: &str) {
    let before = session.text();
    let outcome = session.eval(&format!("{line}\n"), &NONE);
    assert!(!matches!(outcome, Outcome::Kept(_) | Outcome::Value(_)), "{line} was kept");
    assert!(said(&outcome).contains(why), "{line}: {}", said(&outcome));
    assert_eq!(session.text(), before, "a refused statement changes nothing");
}

/// Runs what waits; the refusal where the session's budget does not allow it.
fn run(session: &mut Session) -> Result<Results, LedgerError> {
    let proposal = session.proposal();
    session.run(proposal.as_ref(), &ROWS).map(|(results, error)| {
        assert_eq!(error, None);
        results
    })
}

fn value(session: &mut Session, expression: &str) -> Value {
    match session.eval(expression, &NONE) {
        Outcome::Value(results) => results.outputs[0].1.clone(),
        other => panic!("{expression}: {}", said(&other)),
    }
}

fn spent(session: &Session) -> String {
    session.balance().unwrap()[0].spent.clone()
}

/// A text line by line, as it is typed: a line that leaves something open is read on.
fn typed(session: &mut Session, text: &str) -> Result<(), String> {
    let mut open = String::new();
    for line in text.split_inclusive('\n') {
        open.push_str(line);
        if is_complete(&open) {
            let outcome = session.eval(&open, &NONE);
            if !matches!(outcome, Outcome::Kept(_)) {
                return Err(format!("{open}: {}", said(&outcome)));
            }
            open.clear();
        }
    }
    assert_eq!(open, "");
    Ok(())
}

#[test]
fn every_program_pasted_line_by_line_gives_the_certificate_of_the_file() {
    let mut certified = 0;
    for folder in ["examples", "tests/certified", "tests/programs"] {
        let mut files: Vec<PathBuf> = fs::read_dir(root().join(folder)).unwrap().map(|f| f.unwrap().path()).collect();
        files.sort();
        for file in files.iter().filter(|f| f.extension().is_some_and(|e| e == "dpm")) {
            let text = fs::read_to_string(file).unwrap();
            let checked = pipeline::check("session.dpm", &text, &Folder::of(file));
            let (analysis, complaints) = pipeline::analyze(&checked, &Unbound::default(), false);
            let wrong = complaints.iter().find(|d| d.is_error());
            let mut session = Session::new(Box::new(Folder::of(file)));
            let done = typed(&mut session, &text);
            if let Some(wrong) = wrong {
                // What is not a program of this version is none line by line.
                assert!(done.map_or_else(|said| said.contains(wrong.code), |()| session.certificate().is_none()), "{}", file.display());
                continue;
            }
            assert_eq!(done, Ok(()), "{}", file.display());
            assert_eq!(session.text(), text);
            let of_file = pipeline::certify(&checked, &analysis.unwrap(), &[], &[]).unwrap();
            let of_session = session.certificate().unwrap();
            assert_eq!(of_session.to_json().to_string(), of_file.to_json().to_string(), "{}", file.display());
            certified += 1;
        }
    }
    assert!(certified >= 10, "{certified}");
}

const START: &str = "budget eps(1)\nprivate t[n] { x: real in [0, 1] }\n";

#[test]
fn releases_share_evenly_until_one_has_run() {
    let mut s = session();
    typed(&mut s, START).unwrap();
    keep(&mut s, "release a = sum(x) using laplace");
    assert_eq!(s.claim_of("a").unwrap().pure(), 1.0);
    keep(&mut s, "release b = mean(x) using laplace");
    assert_eq!(s.claim_of("a").unwrap().pure(), 0.5);
    run(&mut s).unwrap();
    assert_eq!(spent(&s), "1");
    // Nothing is left to share, and what ran is not made cheaper.
    reject(&mut s, "release c = mean(x) using laplace", "nothing of the budget is left for `c`");
}

#[test]
fn what_ran_alone_keeps_its_cost_and_later_releases_get_the_rest() {
    let mut s = session();
    typed(&mut s, START).unwrap();
    keep(&mut s, "release a = sum(x) using laplace(scale = 1.6)");
    run(&mut s).unwrap();
    let a = value(&mut s, "a");
    assert_eq!(spent(&s), "0.625");
    // An even share is 0.5; `a` takes what its scale costs, and the rest is left.
    keep(&mut s, "release b = sum(x) using laplace");
    assert!((s.claim_of("b").unwrap().pure() - 0.375).abs() < 1e-9);
    run(&mut s).unwrap();
    assert!(spent(&s).parse::<f64>().unwrap() > 0.999_999);
    assert_eq!(value(&mut s, "a"), a);
    // The certificate covers all that ran.
    let certificate = s.certificate().unwrap();
    assert_eq!(certificate.releases.len(), 2);
    assert!(certificate.total.claim.pure() <= 1.0 && certificate.total.claim.pure() > 0.999);
}

/// A recorded table joins a session in which something has run: what ran keeps its value, and its counts are known at once.
#[test]
fn a_record_joins_a_session() {
    let mut s = session();
    typed(&mut s, START).unwrap();
    keep(&mut s, "release a = sum(x) using laplace(scale = 1.6)");
    run(&mut s).unwrap();
    let a = value(&mut s, "a");
    keep(&mut s, "public cells from \"18_poll.json\"");
    assert_eq!(value(&mut s, "a"), a);
    let text = std::fs::read_to_string(root().join("examples/18_poll.json")).unwrap();
    let record: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value(&mut s, "cells[north, true]").as_number(), record["releases"]["cells"]["north"]["true"].as_f64());
    keep(&mut s, "release b = sum(x) using laplace");
    run(&mut s).unwrap();
    assert_eq!(value(&mut s, "a"), a);
    reject(&mut s, "public votes from \"18_poll.json\"", "E0206");
}

#[test]
fn no_earlier_release_changes_with_a_later_one() {
    let mut tried = 0;
    for budget in
        ["eps(1)", "dp(eps = 1, delta = 1e-6)", "zcdp(0.5)", "gdp(1)", "rdp(order = 4, eps = 1)", "rdp(order = [2, 4], eps = [0.5, 1])"]
    {
        for mechanism in ["laplace", "gaussian"] {
            let mut s = session();
            typed(&mut s, &START.replace("eps(1)", budget)).unwrap();
            let first = s.eval(&format!("release a = sum(x) using {mechanism} spend 30%\n"), &NONE);
            // Not every mechanism can meet a budget of every kind.
            if !matches!(first, Outcome::Kept(_)) {
                continue;
            }
            tried += 1;
            run(&mut s).unwrap();
            let ran = s.claim_of("a").unwrap();
            for line in ["release b = mean(x)", "release c = mean(x * x) spend 10%", "output y = a + b"] {
                keep(&mut s, line);
                assert_eq!(s.claim_of("a").unwrap(), ran, "{budget} {mechanism}");
            }
            // Adaptively priced: the second batch may be refused, never undercharged.
            match run(&mut s) {
                Ok(_) => assert!(s.spent().implies(&s.program().budget.as_ref().unwrap().kind) || budget.starts_with("dp"), "{budget}"),
                Err(why) => assert!(budget.starts_with("dp") && matches!(why, LedgerError::OverBudget(_)), "{budget} {mechanism}: {why}"),
            }
        }
    }
    assert!(tried >= 9, "{tried}");
}

#[test]
fn redefinition_never_refunds() {
    let mut s = session();
    typed(&mut s, START).unwrap();
    for i in 1..=4 {
        keep(&mut s, "release a = sum(x) using laplace(scale = 4)");
        run(&mut s).unwrap();
        assert_eq!(s.charged().0, i);
    }
    assert_eq!(s.charged().1, ["a", "a", "a"]);
    // A fifth cannot be paid: the value of the fourth stays.
    reject(&mut s, "release a = sum(x) using laplace(scale = 4)", "would still fit");
    assert_eq!((s.charged().0, s.proposal()), (4, None));
    // Under another name it waits, and a refused run costs nothing.
    keep(&mut s, "release b = sum(x) using laplace(scale = 1e9)");
    assert_eq!(s.proposal().unwrap().releases, ["b"]);
    let refused = run(&mut s).err().unwrap();
    assert!(matches!(&refused, LedgerError::OverBudget(o) if !o.fits.is_empty()), "{refused}");
    assert_eq!(s.charged().0, 4);
    reject(&mut s, "budget eps(5)", "the budget stays");
}

#[test]
fn what_ran_is_not_changed_by_what_it_rests_on() {
    let mut s = session();
    typed(&mut s, "budget rdp(order = 4, eps = 1)\nprivate t[n] { x: real in [0, 1] }\nparam m ~ normal(0, 1)\nobserve x ~ normal(m, 1)\n")
        .unwrap();
    keep(&mut s, "param m ~ normal(0, 2)");
    assert_eq!(s.text().matches("param m").count(), 1, "a name means its last definition");
    keep(&mut s, "release d = draw(m) spend 50%");
    run(&mut s).unwrap();
    reject(&mut s, "param m ~ normal(0, 3)", "`d`");
    reject(&mut s, "private t[n] { x: real in [0, 2] }", "`d`");
    keep(&mut s, "output twice = 2 * d");
    run(&mut s).unwrap();
    let before = value(&mut s, "twice");
    keep(&mut s, "output twice = 3 * d");
    run(&mut s).unwrap();
    assert_ne!(value(&mut s, "twice"), before);
    assert_eq!(s.charged().0, 1);
    keep(&mut s, "param k ~ normal(d, 1)");
    keep(&mut s, "observe x ~ normal(k, 1)");
    keep(&mut s, "release e = draw(k) using diffuse(r = 0.01)");
    run(&mut s).unwrap();
    reject(&mut s, "release d = draw(m)", "`e` has run with this `d`");
}

#[test]
fn a_value_is_drawn_once() {
    let mut s = session();
    typed(&mut s, START).unwrap();
    keep(&mut s, "release a = sum(x) using laplace");
    assert!(matches!(s.eval("a", &NONE), Outcome::Refused(_)), "not before it ran");
    keep(&mut s, "let draws = simulate(normal(a, 1), 3)");
    run(&mut s).unwrap();
    for name in ["a", "draws", "100 * a"] {
        assert_eq!(value(&mut s, name), value(&mut s, name));
    }
    assert_eq!(s.charged().0, 1);
    reject(&mut s, "mean(x)", "E0101");
    reject(&mut s, "nothing", "E0206");
}

#[test]
fn expectations_may_come_to_hold() {
    let mut s = session();
    typed(&mut s, START).unwrap();
    keep(&mut s, "release a = sum(x) using laplace");
    keep(&mut s, "expect certificate(a) <= eps(0.5)");
    assert!(s.certificate().is_none());
    assert!(matches!(run(&mut s), Err(LedgerError::Invalid(_))));
    keep(&mut s, "release b = sum(x) using laplace");
    assert!(s.certificate().is_some());
    run(&mut s).unwrap();
}

#[test]
fn a_budget_may_come_last_and_shares_may_come_right() {
    let mut s = session();
    keep(&mut s, "private t[n] { x: real in [0, 1] }");
    keep(&mut s, "release a = sum(x)");
    assert!(s.certificate().is_none() && matches!(run(&mut s), Err(LedgerError::Invalid(_))));
    keep(&mut s, "budget eps(1)");
    assert!(s.certificate().is_some());
    reject(&mut s, "release b = sum(x) spend 120%", "E0402");
    reject(&mut s, "release b = sum(x) using gaussian", "E0403");
}

/// What ran keeps its cost, so Help speaks of what is left, and the line that it gives is kept.
#[test]
fn over_the_budget_after_a_run_only_the_new_release_can_be_smaller() {
    let mut s = session();
    keep(&mut s, "budget eps(1)");
    keep(&mut s, "private t[n] { x: real in [0, 1] }");
    keep(&mut s, "release a = sum(x) using laplace spend 60%");
    run(&mut s).unwrap();
    let Outcome::Rejected(said) = s.eval("release b = sum(x) using laplace spend 60%\n", &NONE) else { panic!("not rejected") };
    let d = said.diagnostics.iter().find(|d| d.code == "E0402").unwrap();
    let codes: Vec<&str> = d.help.iter().map(|h| h.code.as_str()).collect();
    assert_eq!(codes, ["spend 40%"], "{:?}", d.help);
    keep(&mut s, "release b = sum(x) using laplace spend 40%");
    run(&mut s).unwrap();
}

#[test]
fn a_budget_that_cannot_count_what_ran_allows_nothing_more() {
    let mut s = session();
    keep(&mut s, "private t[n] { x: real in [0, 1] }");
    keep(&mut s, "release a = sum(x) using gaussian(sigma = 3)");
    run(&mut s).unwrap();
    let before = s.text();
    let outcome = s.eval("budget eps(1)\n", &NONE);
    if matches!(outcome, Outcome::Kept(_)) {
        keep(&mut s, "release b = sum(x) using laplace");
        assert!(run(&mut s).is_err());
    } else {
        assert_eq!(s.text(), before);
    }
    assert_eq!(s.charged().0, 1);
}

#[test]
fn undo_and_lines_that_go_on() {
    let mut s = session();
    typed(&mut s, START).unwrap();
    keep(&mut s, "release a = sum(x)");
    keep(&mut s, "  using laplace");
    keep(&mut s, "  spend 20%");
    assert_eq!(s.claim_of("a").unwrap().pure(), 0.2);
    assert!(matches!(s.undo(), Outcome::Kept(_)));
    assert_eq!(s.text(), START);
    keep(&mut s, "release a = sum(x) using laplace");
    run(&mut s).unwrap();
    assert!(matches!(s.undo(), Outcome::Refused(_)));
    reject(&mut s, "  spend 20%", "has run");
}

#[test]
fn groups_and_branches() {
    let mut s = session();
    let rows = Rows(Some("g,x\na,1\nb,0\na,1\n"));
    let text = "budget eps(2)\nprivate t[n] { g: public category {a, b}, x: real in [0, 1] }\n\
                each g of t {\n  release r = sum(x) using laplace\n}\noutput top = max(r)\n\
                when top > 0 {\n  release u = sum(x) using laplace\n} else {\n  release v = sum(x) using laplace\n}\n";
    typed(&mut s, text).unwrap();
    let p = s.proposal().unwrap();
    assert_eq!((p.releases.join(" "), p.claim.pure() <= 2.0), ("r u v".into(), true));
    let (results, error) = s.run(Some(&p), &rows).unwrap();
    assert_eq!(error, None);
    assert_eq!(results.releases.len(), 2, "one of the branches");
    assert!(matches!(value(&mut s, "r"), Value::GridVector(v) if v.len() == 2));
    assert_eq!(spent(&s), "2");
}

/// A table that was charged for keeps its header, also when no release in the text reads it any more: a secret number of
/// rows stays secret, and what was paid for rows is not a payment for persons.
#[test]
fn a_table_that_was_charged_for_stays() {
    let mut s = session();
    for line in ["budget eps(1)\n", "private t[private n] { x: real in [0, 1] }\n", "release a = sum(x) spend 1%\n"] {
        assert!(matches!(s.eval(line, &ROWS), Outcome::Kept(_)), "{line}");
    }
    let proposal = s.proposal().unwrap();
    s.run(Some(&proposal), &ROWS).unwrap();
    assert!(matches!(s.eval("release a = sum(x) spend 2%\n", &ROWS), Outcome::Kept(_)), "nothing that ran reads t any more");
    for header in ["private t[n] { x: real in [0, 1] }\n", "private t[private n] { x: real in [0, 2] }\n"] {
        let refused = s.eval(header, &ROWS);
        assert!(matches!(&refused, Outcome::Refused(why) if why.contains("stays as it was declared")), "{}", said(&refused));
    }
    assert!(matches!(s.eval("private t[private n] { x: real in [0, 1] }\n", &ROWS), Outcome::Kept(_)));
}

/// A release that ran is given up only for one that can be paid, and the last statement is what `undo` takes back.
#[test]
fn a_value_is_not_lost_to_what_cannot_be_paid() {
    let mut s = session();
    for line in ["budget eps(1)\n", "private t[n] { x: real in [0, 1] }\n", "release a = sum(x) spend 60%\n"] {
        assert!(matches!(s.eval(line, &ROWS), Outcome::Kept(_)), "{line}");
    }
    let proposal = s.proposal().unwrap();
    s.run(Some(&proposal), &ROWS).unwrap();
    assert!(matches!(s.eval("output keep = a * 2\n", &ROWS), Outcome::Kept(_)));
    let refused = s.eval("release a = sum(x) spend 50%\n", &ROWS);
    assert!(matches!(refused, Outcome::Refused(_)), "{}", said(&refused));
    assert!(matches!(s.eval("a", &ROWS), Outcome::Value(_)), "the value that was paid for is still there");
    // One that can be paid replaces it; taken back, the first is there again.
    assert!(matches!(s.eval("release a = sum(x) spend 30%\n", &ROWS), Outcome::Kept(_)));
    assert!(matches!(s.eval("a", &ROWS), Outcome::Refused(_)));
    assert!(matches!(s.undo(), Outcome::Kept(_)));
    assert!(s.text().contains("spend 60%") && s.text().contains("keep"), "{}", s.text());
    assert!(matches!(s.eval("a", &ROWS), Outcome::Value(_)));
}
