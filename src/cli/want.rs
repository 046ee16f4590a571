//! `dpm compare --want`: the least budget, and the least number of rows, at which a release is predicted to be as near as is wanted.

use super::{Exit, Program, complain, inputs, list, print_json, progress, usage};
use crate::analyze::{Analysis, analyze, budget};
use crate::model::{AggregateQuery, BudgetKind, Model, Query, Records, Relation, ReleaseStep, SpendKind, Table, releases};
use crate::numeric::decimal::{decimal_string, sig};
use crate::pipeline::{self, Checked, Folder};
use crate::rules::offer::assumed_rows;
use crate::rules::tempered::Tempering;
use crate::run::Bound;
use crate::source::{Diagnostic, Span};
use serde_json::{Value, json};

/// `p_hat within 0.02`
#[derive(Clone)]
pub struct Wish {
    release: String,
    error: f64,
}

impl std::str::FromStr for Wish {
    type Err = String;

    fn from_str(text: &str) -> Result<Wish, String> {
        let found = match text.split_whitespace().collect::<Vec<_>>().as_slice() {
            [release, "within", error] => error.parse().ok().map(|error: f64| Wish { release: (*release).to_owned(), error }),
            _ => None,
        };
        let usual = found.filter(|w| w.error.is_finite() && w.error > 0.0);
        usual.ok_or_else(|| "write the name of a release and an error above 0, as in --want 'p_hat within 0.02'".into())
    }
}

/// What is predicted of the release by a program that is accepted.
struct Predicted {
    error: f64,
    /// Is it a draw from the posterior as it is, which no budget makes better?
    spread: bool,
    /// An expectation of the program that does not hold.
    broken: Option<String>,
    /// What is wrong with a budget as large as this: W0501.
    vacuous: Option<String>,
}

/// A number of the program that may be changed.
struct Place<'a> {
    /// What has no effect where the prediction stays the same.
    subject: &'static str,
    /// `eps =`, `n >=`
    name: String,
    span: Span,
    now: f64,
    /// The numbers that are tried, ascending. What is printed is one of them: nothing is rounded after it was tried.
    grid: Vec<f64>,
    text: Box<dyn Fn(f64) -> String + 'a>,
}

impl Place<'_> {
    fn at(&self, x: f64) -> String {
        format!("{} {}", self.name, decimal_string(x))
    }
}

/// A number that is enough.
struct Enough {
    x: f64,
    /// `eps = 1.34 at n = 200`
    short: String,
    predicted: Predicted,
    /// The changed line of the program and its number.
    text: String,
    line: usize,
}

impl Enough {
    fn json(&self) -> Value {
        json!({"value": self.x, "predicted_error": self.predicted.error, "line": self.line, "text": self.text, "warning": self.predicted.vacuous})
    }

    fn show(&self) {
        show_line!("  line {} becomes (predicted error {}):\n{}", self.line, sig(self.predicted.error, 3), self.text);
        if let Some(broken) = &self.predicted.broken {
            show_line!("  after this change an expectation fails: {broken}");
        }
        if let Some(vacuous) = &self.predicted.vacuous {
            show_line!("  with it dpm warns: {vacuous} (W0501)");
        }
    }
}

/// How far the search looks ahead on the grid: a third of a power of ten.
const STRIDE: usize = 300;

/// The numbers of three digits: from 100 times the first power of ten to below 1000 times the last.
fn three_digits(powers: std::ops::RangeInclusive<i32>) -> impl Iterator<Item = f64> {
    powers.flat_map(|e| (100..1000).filter_map(move |m| format!("{m}e{e}").parse().ok()))
}

/// The first number of a budget; the others grow with it, a delta stays.
fn amount(kind: &BudgetKind, span: Span) -> Place<'_> {
    let name = match kind {
        BudgetKind::Zcdp(_) => "rho =".into(),
        BudgetKind::Gdp(_) => "mu =".into(),
        BudgetKind::Rdp(points) if points.len() > 1 => format!("eps at order {} =", points.first().map_or(0.0, |p| p.0)),
        BudgetKind::Pure(_) | BudgetKind::Dp { .. } | BudgetKind::Rdp(_) => "eps =".into(),
    };
    let now = kind.numbers().first().copied().unwrap_or(1.0);
    let near = |x: f64| sig(x, 3).parse().unwrap_or(x);
    let text = move |x: f64| {
        budget::written(&match budget::scaled(kind, x / now) {
            BudgetKind::Pure(_) => BudgetKind::Pure(x),
            BudgetKind::Dp { delta, .. } => BudgetKind::Dp { epsilon: x, delta },
            BudgetKind::Zcdp(_) => BudgetKind::Zcdp(x),
            BudgetKind::Gdp(_) => BudgetKind::Gdp(x),
            BudgetKind::Rdp(points) => BudgetKind::Rdp(points.into_iter().map(|(order, e)| (order, near(e))).collect()),
        })
    };
    Place { subject: "the budget", name, span, now, grid: three_digits(-6..=-1).chain([100.0]).collect(), text: Box::new(text) }
}

/// The number of rows in the header of a table, or why a change of it has no use.
fn header(table: &Table, records: &Records) -> Result<Place<'static>, String> {
    if table.relation == Relation::AddRemove {
        return Err(format!("the number of rows of `{}` is secret: predictions are made for 100 rows, whatever there are", table.name));
    }
    if table.rows != records.rows {
        return Err("the release is about groups, whose sizes no header says: predictions are made for 100 rows in each".into());
    }
    let bound = records.rows.exactly.is_none().then(|| format!("{} >= ", table.public_name()));
    let name = bound.as_deref().unwrap_or("n = ").trim().to_owned();
    // A lower bound of 1 is as none at all.
    let grid = (1..1000).map(f64::from).chain(three_digits(1..=6)).chain([1e9]).filter(|x| bound.is_none() || *x > 1.0).collect();
    let text = move |x: f64| format!("[{}{x}]", bound.as_deref().unwrap_or(""));
    Ok(Place { subject: "the number of rows", name, span: table.rows_span, now: assumed_rows(records.rows), grid, text: Box::new(text) })
}

struct Search<'a> {
    wish: &'a Wish,
    checked: &'a Checked,
    public: &'a Bound,
    folder: Folder,
    /// What is predicted of the program as it is.
    now: Result<Predicted, String>,
}

impl Search<'_> {
    /// The text of the main file with something else at a place.
    fn edited(&self, place: &Place, x: f64) -> Option<String> {
        let text = &self.checked.sources.get(place.span.file).filter(|_| place.span.file == self.checked.main)?.text;
        let (before, after) = (text.get(..place.span.start as usize)?, text.get(place.span.end as usize..)?);
        Some(format!("{before}{}{after}", (place.text)(x)))
    }

    /// What is predicted once the change is pasted. `whole` also tries what `dpm check` tries of an accepted program.
    fn at(&self, place: &Place, x: f64, whole: bool) -> Result<Predicted, String> {
        let text = self.edited(place, x).ok_or("it is written in another file")?;
        let name = self.checked.sources.get(self.checked.main).map_or("", |f| f.name.as_str());
        let checked = pipeline::check(name, &text, &self.folder);
        let (analysis, said) = if whole || checked.has_errors() {
            pipeline::analyze(&checked, self.public, false)
        } else {
            let (analysis, said) = analyze(&checked.program, self.public, &checked.sources);
            (Some(analysis), said)
        };
        predicted(self.wish, &checked, analysis.as_ref(), &said)
    }

    /// The least number that is enough while the one below it on the grid is not. Should the error not fall all along, another
    /// may be less.
    fn least(&self, place: &Place, beside: &str) -> Result<Enough, String> {
        let number = |i: usize| place.grid.get(i).copied().unwrap_or(f64::NAN);
        let enough = |i: usize| self.at(place, number(i), false).is_ok_and(|p| p.error <= self.wish.error);
        let last = place.grid.len().saturating_sub(1);
        let (mut no, mut yes) = (None, place.grid.partition_point(|x| *x < place.now).min(last));
        while !enough(yes) {
            if yes == last {
                return Err(self.reason(place, number(last), beside));
            }
            (no, yes) = (Some(yes), (yes + STRIDE).min(last));
        }
        while no.is_none() && yes > 0 {
            let lower = yes.saturating_sub(STRIDE);
            if enough(lower) { yes = lower } else { no = Some(lower) }
        }
        while let Some(below) = no.filter(|no| yes - no > 1) {
            let middle = usize::midpoint(below, yes);
            if enough(middle) { yes = middle } else { no = Some(middle) }
        }
        let (x, short) = (number(yes), place.at(number(yes)));
        let refused = |why: String| format!("{short} would be enough, but the program is refused with it: {why}");
        let predicted = self.at(place, x, true).map_err(refused)?;
        let (line, _) = self.checked.sources.line_column(place.span.file, place.span.start);
        let text = self.edited(place, x).unwrap_or_default().lines().nth(line.saturating_sub(1)).unwrap_or_default().to_owned();
        Ok(Enough { x, short: format!("{short} at {beside}"), predicted, text, line })
    }

    /// Why the largest number of a place is not enough.
    fn reason(&self, place: &Place, end: f64, beside: &str) -> String {
        let top = format!("{} at {beside} is not enough: ", place.at(end));
        match (self.at(place, end, false), &self.now) {
            (Err(why), _) => format!("{top}the program is refused: {why}"),
            (Ok(p), _) if p.spread => format!("{top}the predicted error is {}, the spread of the posterior itself", sig(p.error, 3)),
            (Ok(p), Ok(now)) if (p.error / now.error - 1.0).abs() < 1e-9 => {
                format!("{top}{} makes no difference to the predicted error, {}", place.subject, sig(p.error, 3))
            }
            (Ok(p), _) => format!("{top}the predicted error is still {}", sig(p.error, 3)),
        }
    }
}

/// What is predicted of the release, or why the program is refused.
fn predicted(wish: &Wish, checked: &Checked, analysis: Option<&Analysis>, said: &[Diagnostic]) -> Result<Predicted, String> {
    // Expectations are about the budget that is written, and a change of it is asked for.
    let (broken, wrong): (Vec<_>, Vec<_>) = said.iter().filter(|d| d.is_error()).partition(|d| d.code == "E0501");
    if let Some(d) = wrong.first() {
        return Err(d.message.clone());
    }
    // A name may be released in both branches of a `when`: the worse one counts.
    let named = analysis.iter().flat_map(|a| &a.releases).filter(|r| r.name == wish.release).filter_map(|r| r.chosen.as_ref());
    let worst = named.max_by(|a, b| a.predicted_error.value.total_cmp(&b.predicted_error.value)).ok_or("no mechanism applies")?;
    let broken = broken.first().and_then(|d| d.labels.first()).map(|l| checked.sources.slice(l.span).to_owned());
    let vacuous = said.iter().find(|d| d.code == "W0501").map(|d| d.message.clone());
    Ok(Predicted { error: worst.predicted_error.value, spread: worst.tempering == Some(Tempering::DIRECT), broken, vacuous })
}

/// Whose the budget is, where it is not the release's alone.
fn shared(release: &ReleaseStep, all: usize, checked: &Checked) -> Option<String> {
    let part = match &release.spend {
        Some(spend) if matches!(spend.kind, SpendKind::Share(_)) => format!("keeps its share: {}", checked.sources.slice(spend.span)),
        Some(spend) => format!("has a fixed cost, whatever the budget: {}", checked.sources.slice(spend.span)),
        None if all > 1 => "shares it with the other releases".into(),
        None => return None,
    };
    Some(format!("the whole budget is changed; `{}` {part}", release.name))
}

/// Answers the wish. Exit code 1 where neither a budget nor a number of rows is enough.
pub fn answer(args: &Program, wish: &Wish, checked: &Checked, public: &Bound) -> Exit {
    let all = releases(&checked.program.steps);
    let Some(release) = all.iter().find(|r| r.name == wish.release) else {
        let names: Vec<String> = all.iter().map(|r| format!("`{}`", r.name)).collect();
        return usage(&format!("--want 'RELEASE within ERROR': no release is called `{}`, but {}", wish.release, names.join(", ")));
    };
    let (Query::Posterior(Model { records, .. }) | Query::Aggregate(AggregateQuery { records, .. })) = &release.query;
    let budget = checked.program.budget.as_ref().map(|b| amount(&b.kind, b.span)).ok_or("the program has no budget".to_owned());
    let rows = checked.program.table(records.table).ok_or("it has no rows".to_owned()).and_then(|t| header(t, records));
    let size = match &rows {
        // Without a number in the header predictions take one all the same.
        Ok(place) if records.rows.exactly.is_none() && records.rows.at_least < 2 => format!("{} rows (none are declared)", place.now),
        Ok(place) => place.at(place.now),
        Err(_) => "100 rows".into(),
    };
    let cost = budget.as_ref().map_or("no budget".into(), |p| p.at(p.now));
    let (search, said, ways) = progress::with_spinner("searching", || {
        let (analysis, said) = pipeline::analyze(checked, public, false);
        let now = predicted(wish, checked, analysis.as_ref(), &said);
        let folder = Folder::of(&args.file).records(inputs::records(&args.public.public));
        let search = Search { wish, checked, public, folder, now };
        let ways = [budget.and_then(|p| search.least(&p, &size)), rows.and_then(|p| search.least(&p, &cost))];
        (search, said, ways)
    });
    let exit = if ways.iter().any(Result::is_ok) { Exit::Done } else { Exit::Rejected };
    let scaled = shared(release, all.len(), checked);
    if args.json {
        let [budget, rows] = ways.map(|way| way.map_or_else(|why| json!({"reason": why}), |found| found.json()));
        let now = search.now.ok().map(|p| p.error);
        let want =
            json!({"release": wish.release, "error": wish.error, "predicted_error": now, "budget": budget, "rows": rows, "note": scaled});
        print_json(&json!({"diagnostics": list(&checked.sources, &said), "want": want}));
        return exit;
    }
    complain(&checked.sources, &said);
    let short: Vec<&str> = ways.iter().flatten().map(|found| found.short.as_str()).collect();
    let short = if short.is_empty() { "cannot be reached".into() } else { short.join("; or ") };
    show_line!("{} within {}: {short}", wish.release, decimal_string(wish.error));
    match &search.now {
        Ok(p) => show_line!("  now: predicted error {} at {cost} and {size}", sig(p.error, 3)),
        Err(why) => show_line!("  as it is: refused: {why}"),
    }
    for way in &ways {
        match way {
            Ok(found) => found.show(),
            Err(why) => show_line!("  {why}"),
        }
    }
    if let Some(scaled) = scaled {
        show_line!("  {scaled}");
    }
    exit
}
