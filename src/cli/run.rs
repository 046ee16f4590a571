//! `dpm run`: certify or open a plan, open the data, draw once, print.

use super::compile::prepared;
use super::values::{Notes, text};
use super::{Exit, Run, charge, counted, files, inputs, pace, progress, synthetic};
use crate::analyze::{Status, certificate_text, cost_text};
use crate::compiled::{Compiled, missing};
use crate::data::{Counts, DataError, Opened, Source};
use crate::ledger::Receipt;
use crate::mechanism::MechanismError;
use crate::mechanism::bits::OsBits;
use crate::mechanism::plan::Sampler;
use crate::model::{ExprKind, ReleaseStep, Step, TableId, Type, releases};
use crate::run::{Files, NoValue, Posterior, Results, RunError, execute, inference_data, json as value_json, padding};
use serde_json::{Value, json};
use std::path::PathBuf;

struct Paths {
    charged: Option<charge::Charged>,
    /// Opened once: all passes of a run read the same file. Empty where a ledger opens the data.
    files: Vec<(TableId, PathBuf, Opened)>,
    answers: Vec<counted::Answer>,
    #[cfg(feature = "tape")]
    seed: Option<u64>,
    #[cfg(feature = "tape")]
    streams: std::cell::Cell<u64>,
}

impl Files for Paths {
    fn open(&self, table: TableId) -> Result<Source, DataError> {
        if let Some(charged) = &self.charged {
            return charged.source(table).ok_or(DataError::Missing);
        }
        let found = self.files.iter().find(|(t, ..)| *t == table);
        found.map_or(Err(DataError::Missing), |(.., opened)| opened.source())
    }

    fn counts(&self, table: TableId) -> Option<&Counts> {
        self.answers.iter().find(|a| a.table == table).map(|a| &a.counts)
    }

    fn bits(&self) -> Result<OsBits, MechanismError> {
        #[cfg(feature = "tape")]
        if let Some(seed) = self.seed {
            let stream = self.streams.get();
            self.streams.set(stream.wrapping_add(1));
            return Ok(OsBits::seeded(seed.wrapping_add(stream.wrapping_mul(0x9e37_79b9_7f4a_7c15))));
        }
        OsBits::new()
    }
}

const NOT_PRIVATE: &str = "NOT PRIVATE: drawn from a seed";

pub fn run(args: &Run) -> Exit {
    if !args.counted.counted.is_empty() && args.ledger.is_some() {
        return super::usage(
            "a ledger charges for registered rows, and what an engine has counted is not registered: --counted cannot be used with --ledger",
        );
    }
    let private = files::private(&[&args.data[..], &args.counted.counted].concat(), args.ledger.as_deref());
    let private = private.and_then(|files| files::refuse_private(&args.program, &files).map(|()| files));
    let opened = private.and_then(|private| Ok((prepared(&args.program, &private.files)?, private.files)));
    let (Compiled { checked, bound, analysis, mut certificate, plan, diagnostics }, private) = match opened {
        Ok(found) => found,
        Err(exit) => return exit,
    };
    if args.strict && analysis.status == Status::Conditional {
        say_line!("error: --strict: a release of this program is CONDITIONAL on a chain having converged");
        return Exit::Rejected;
    }
    if !args.anyway && diagnostics.iter().any(|d| d.code == "W0510") && !wanted_anyway() {
        return Exit::Rejected;
    }
    if let Some(what) = missing(&checked.program, &bound) {
        return super::usage(&what);
    }
    let counted = counted::wanted(&args.counted, (&checked.program, &analysis, &bound));
    let found = counted.and_then(|counted| {
        let places: Vec<(TableId, PathBuf)> = counted.iter().map(|c| (c.table, c.path.clone())).collect();
        Ok((inputs::private_but(&checked.program, &args.data, &places)?, counted))
    });
    let (data, counted) = match found {
        Ok(found) => found,
        Err(exit) => return exit,
    };
    if args.pad.is_some() && certificate.releases.iter().any(|r| r.sampler == Sampler::Slice.name()) {
        return super::usage(
            "--pad hides the time of work that public numbers bound, and that of `slice` is bounded by none:    sampler = nuts",
        );
    }
    if seeded(args) && args.ledger.is_some() {
        return super::usage("--seed replays randomness: it cannot be used with --ledger");
    }
    let whole = |r: &&ReleaseStep| matches!(r.ty, Type::Posterior(_));
    let chain = |s: &Step| matches!(s, Step::Output { value, .. } if matches!(value.kind, ExprKind::Fit(_)));
    let steps = &checked.program.steps;
    if args.arviz.is_some() && !releases(steps).iter().any(whole) && !steps.iter().any(chain) {
        return super::usage("--arviz writes posteriors, and none is released:    release post = posterior(p)");
    }
    // What is paid for must have somewhere to go.
    let read = [files::read(&args.program, &checked), private].concat();
    let places = files::output(args.output.as_deref(), &read).and_then(|o| Ok((o, files::output(args.arviz.as_deref(), &read)?)));
    let (output, arviz) = match places {
        Ok((Some(a), Some(b))) if a.is(&b) => return super::usage("--arviz will not overwrite what -o writes"),
        Ok(places) => places,
        Err(exit) => return exit,
    };
    let taken: Vec<&files::Output> = output.iter().chain(&arviz).collect();
    let synthetic = match synthetic::opened(&args.synthetic, &checked.program, &read, &taken) {
        Ok(synthetic) => synthetic,
        Err(exit) => return exit,
    };
    let cost = |tables: &[TableId]| charge::claim_for(&analysis, tables);
    let pace = match pace::Pace::begin(args.pad) {
        Ok(pace) => pace,
        Err(exit) => return exit,
    };
    let payer = args.ledger.as_deref().map(|ledger| (ledger, args.analyst.as_deref()));
    let charged = match charge::charge(payer, &cost, (&certificate, plan.as_deref()), &checked.program, &data) {
        Ok(charged) => charged,
        Err(exit) => {
            pace.hold();
            return exit;
        }
    };
    let mut open = vec![];
    for (table, path) in data.into_iter().filter(|_| charged.is_none()) {
        match Opened::open(&path) {
            Ok(opened) => open.push((table, path, opened.delimited(args.delimiter.unwrap_or_default().0))),
            Err(why) => return inputs::input_error(&why, &path.display().to_string()),
        }
    }
    let mut answers = vec![];
    for wanted in counted {
        match wanted.read(args.delimiter.unwrap_or_default().0) {
            Ok(answer) => answers.push(answer),
            Err(why) => return inputs::input_error(&why, &wanted.path.display().to_string()),
        }
    }
    let paths = Paths {
        charged,
        files: open,
        answers,
        #[cfg(feature = "tape")]
        seed: args.seed,
        #[cfg(feature = "tape")]
        streams: std::cell::Cell::new(0),
    };
    if seeded(args) {
        certificate.make_void(NOT_PRIVATE);
    }
    let certificate_json = certificate.to_json();
    let receipt = || paths.charged.as_ref().map(charge::Charged::commit);
    let written = |results: &Results, receipt: Option<&Receipt>, ended: bool| {
        let mut record = json!({
            "releases": named(&results.releases),
            "outputs": named(&results.outputs),
            "certificate": certificate_json,
            "ledger": receipt.map_or(Value::Null, charge::receipt_json),
        });
        if let Some(record) = record.as_object_mut() {
            let laws: serde_json::Map<String, Value> = results.laws.iter().map(|(n, law)| (n.clone(), law.json())).collect();
            let failed = json!("the chains did not end");
            let padded = json!({"seconds": pace.seconds(), "assumes": pace::ASSUMES});
            let more = [
                ("padded", padded, pace.seconds().is_some()),
                ("counted", paths.answers.iter().map(counted::Answer::json).collect(), !paths.answers.is_empty()),
                ("laws", json!(laws), !laws.is_empty()),
                ("chains", failed, !ended),
                ("seeded", json!(NOT_PRIVATE), seeded(args)),
            ];
            record.extend(more.into_iter().filter(|(.., wanted)| *wanted).map(|(key, value, _)| (key.to_owned(), value)));
        }
        if let Some(charged) = &paths.charged {
            charged.seal(&mut record);
        }
        record
    };
    // From here on private data are open: nothing is printed until the end of the run, or until chains begin on what is public.
    let (mut output, mut early, mut shown, mut spinner) = (output, None, None, None);
    let notes = Notes::of(&certificate, &checked.program);
    let certified = || if args.certificate { certificate_text(&certificate) + "\n" } else { String::new() };
    let results = execute(&checked.program, &analysis, &bound, &paths, &mut |results| {
        // Until the chains have ended the record says that they have not: whoever stops them stops the program.
        let record = written(results, receipt().as_ref(), false);
        pace.hold();
        early = output.take().map(|place| place.json(&record, padding_of(results)));
        // Nothing is shown that should have been written down and was not.
        let kept = early.unwrap_or(Exit::Done) == Exit::Done;
        if kept && !args.program.json {
            shown = Some(results.outputs.len());
            show!("{}{}", certified(), text(&results.releases, &results.outputs, &notes));
            spinner = Some(progress::Spinner::start("running chains on what was released"));
        }
        kept
    });
    drop(spinner);
    if shown.is_none() && early.is_none() {
        pace.hold();
    }
    let results = match results {
        Ok(results) => results,
        Err(error) => return refuse(&error, &paths),
    };
    if let Some(failed) = early.filter(|exit| *exit != Exit::Done) {
        return failed;
    }
    let draws = match arviz.map(|place| Ok((place, draws(&results, &paths)?))).transpose() {
        Err(error) => return refuse(&error, &paths),
        Ok(draws) => draws,
    };
    let receipt = receipt();
    let record = written(&results, receipt.as_ref(), results.failed.is_none());
    // Numbers have fixed digits after the point; spaces at the end make up for signs and leading digits.
    let spaces = padding_of(&results);
    if early.is_some() {
        // The record so far is replaced as a whole.
        output = match files::output(args.output.as_deref(), &[]) {
            Ok(output) => output,
            Err(exit) => return exit,
        };
    }
    let written = [output.map(|place| place.json(&record, spaces)), draws.map(|(place, (draws, spaces))| place.json(&draws, spaces))];
    let rows = synthetic.into_iter().filter_map(|s| s.write(&results));
    if let Some(failed) = written.into_iter().flatten().chain(rows).find(|exit| *exit != Exit::Done) {
        return failed;
    }
    if args.program.json {
        show_line!("{}{}", serde_json::to_string_pretty(&record).unwrap_or_default(), " ".repeat(spaces));
    } else {
        match shown {
            None => show!("{}{}", certified(), text(&results.releases, &results.outputs, &notes)),
            Some(before) => show!("{}", text(&[], results.outputs.get(before..).unwrap_or(&[]), &notes)),
        }
        if seeded(args) {
            show_line!("{NOT_PRIVATE}");
        }
        if args.quiet {
            return Exit::Done;
        }
        warn(&results);
        let cost = cost_text(&certificate);
        match &receipt {
            Some(receipt) => show!("{cost}\n{}", charge::receipt_text(receipt)),
            None if checked.program.tables.iter().all(|t| !t.private) => show_line!("costs nothing: it reads no private rows"),
            None => show_line!("{cost}; not charged: no ledger was named"),
        }
        paths.answers.iter().for_each(|a| show!("{}", a.text()));
    }
    Exit::Done
}

/// Asks at a terminal whether to spend on what is predicted to learn next to nothing; anything else wants the option.
fn wanted_anyway() -> bool {
    use std::io::IsTerminal;
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        say_line!("error: a release is predicted to learn next to nothing (W0510); nothing was charged, opened or released");
        say_line!("to run it all the same:    --anyway");
        return false;
    }
    say!("a release is predicted to learn next to nothing; run it all the same? [y/N] ");
    let mut answer = String::new();
    let read = std::io::stdin().read_line(&mut answer);
    read.is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
}

fn padding_of(results: &Results) -> usize {
    results.releases.iter().chain(&results.outputs).map(|(_, v, ty)| padding(v, [&value_json(v, ty)])).sum()
}

/// Draws of every released posterior, as JSON with its padding.
fn draws(results: &Results, paths: &Paths) -> Result<(Value, usize), RunError> {
    let mut bits = paths.bits().map_err(RunError::Mechanism)?;
    // Marginals of what was released are among its draws.
    let own = |p: &Posterior| matches!(p, Posterior::Draws(_) | Posterior::Quotient(_) | Posterior::MeanOf(..));
    let computed = |(_, value, _): &&(String, crate::run::Value, Type)| matches!(value, crate::run::Value::Posterior(p) if own(p));
    let values: Vec<_> = results.releases.iter().chain(results.outputs.iter().filter(computed)).collect();
    inference_data(&values, &mut bits).map_err(RunError::Value)
}

fn seeded(args: &Run) -> bool {
    #[cfg(feature = "tape")]
    return args.seed.is_some();
    #[cfg(not(feature = "tape"))]
    {
        let _ = args;
        false
    }
}

fn named(values: &[(String, crate::run::Value, crate::model::Type)]) -> Value {
    Value::Object(values.iter().map(|(name, v, ty)| (name.clone(), value_json(v, ty))).collect())
}

/// Warns of numbers that are not to be trusted, or whose chains have not converged.
pub(super) fn warn(results: &Results) {
    if results.failed.is_some() {
        say_line!("warning: the chains did not end, and nothing that they compute is shown; what was released is valid and recorded");
    }
    results.warnings.iter().for_each(|said| say_line!("warning: {said}"));
    for (name, value, _) in &results.outputs {
        let crate::run::Value::Posterior(Posterior::Draws(draws)) = value else { continue };
        let poor = draws.poor();
        if !poor.is_empty() {
            let (few, more) = (poor.iter().take(6).copied().collect::<Vec<_>>().join(", "), if poor.len() > 6 { ", .." } else { "" });
            let which = if few.is_empty() { few } else { format!(": {few}") };
            say_line!(
                "warning: the chains of `{name}` disagree or are short (R-hat above 1.01, or fewer than 400 effective draws){which}{more}"
            );
            if let Some((of, longer)) = draws.source.as_ref().and_then(|source| Some((&source.of, source.of.sampling.longer()?))) {
                let word = if of.prior { "prior" } else { "posterior" };
                say_line!("         longer ones are free: {word}(.., draws = {longer})");
            }
        }
        if let Some(share) = draws.source.as_ref().filter(|s| !s.of.prior).map(|s| s.beyond).filter(|share| *share > 0.01) {
            let percent = crate::numeric::decimal::sig_up(100.0 * share, 2);
            say_line!(
                "warning: the model of `{name}` has up to {percent} % of the rows beyond the bounds of a column, where moments do not see them: \
                 its numbers are off by more; declare wider bounds, or count in bins"
            );
        }
        if draws.divergences > 0 {
            say_line!("warning: {} steps of `{name}` diverged: its tails may be missed", draws.divergences);
        }
    }
}

/// Why a run ended: public facts, or a fixed text.
fn refuse(error: &RunError, paths: &Paths) -> Exit {
    if paths.charged.is_some() {
        return charge::failed_after_charge();
    }
    match error {
        RunError::Data(table, why) => {
            let path = paths.files.iter().find(|(t, ..)| t == table).map(|(_, p, _)| p.display().to_string());
            inputs::input_error(why, path.as_deref().unwrap_or("data"))
        }
        RunError::NotRunnable(name) => {
            say_line!("error: `{name}` is certified, but this version cannot compute its statistic exactly; nothing was released");
            Exit::Rejected
        }
        RunError::Mechanism(MechanismError::Candidates) => {
            say_line!("error: with this number of rows the mechanism would have too many candidates; nothing was released");
            say_line!("noise on the counts has none:    using noise_aware");
            Exit::Input
        }
        RunError::Mechanism(MechanismError::Steps) => {
            say_line!("error: the chain would take more than a billion steps; nothing was released");
            say_line!("use narrower features or a stronger prior, or say how long it may be:    using diffuse(steps = 100000)");
            Exit::Input
        }
        RunError::Value(NoValue::NoNuts) => {
            say_line!("error: this build has no NUTS: build dpm with its feature `nuts`; nothing was released");
            Exit::Input
        }
        RunError::Value(NoValue::Unbound) => super::usage("a public value is missing: --public NAME=VALUE"),
        RunError::Value(NoValue::Unsupported) | RunError::Mechanism(_) | RunError::Value(NoValue::NoRandomness) => {
            say_line!("error: E9999: the run ended; nothing was released");
            Exit::Bug
        }
    }
}
