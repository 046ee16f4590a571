//! Mechanism names and the arguments each one takes, checked against a table.

use crate::model::print::number;
use crate::model::{ArgValue, MechanismArg};
use crate::source::{Diagnostic, Span};

/// What a mechanism answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answers {
    /// `draw(..)` of a posterior.
    Draws,
    /// `sum`, `mean`, `count`, `histogram`, `quantile` over rows.
    Queries,
    /// `posterior(..)`, a posterior released whole.
    Posteriors,
    /// A rule of a later version: known by name, never claimed.
    Later,
}

/// The values an argument may take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Domain {
    /// In (0, 1].
    Share,
    /// Finite and above 0.
    Positive,
    /// Finite.
    Real,
    /// A whole number from 1 on.
    Count,
    /// From 0.001 to 1000.
    Smooth,
    /// One of the samplers of chains.
    Sampler,
    /// How the scale of a Hellinger mechanism is found.
    Calibration,
    /// Finite and above 1.
    AboveOne,
}

impl Domain {
    /// The words of an argument that is no number, in the order of the numbers that stand for them, and what they name.
    fn words(self) -> Option<(&'static [&'static str], &'static str)> {
        match self {
            Domain::Sampler => Some((SAMPLERS, "sampler")),
            Domain::Calibration => Some((&["proved", "exact"], "calibration")),
            _ => None,
        }
    }
}

/// The samplers that a draw by a chain may name, in the order of `Sampler` numbers.
pub const SAMPLERS: &[&str] = &["langevin", "nuts", "slice"];

struct Spec {
    name: &'static str,
    answers: Answers,
    /// In positional order.
    args: &'static [(&'static str, Domain)],
}

const SAMPLER: (&str, Domain) = ("sampler", Domain::Sampler);
const STEPS: (&str, Domain) = ("steps", Domain::Count);
const EPS: (&str, Domain) = ("eps", Domain::Positive);
const CALIBRATION: (&str, Domain) = ("calibration", Domain::Calibration);
const RHO: (&str, Domain) = ("rho", Domain::Positive);

/// In the order of the language reference, §8.
const MECHANISMS: &[Spec] = &[
    Spec { name: "direct", answers: Answers::Draws, args: &[SAMPLER, STEPS] },
    Spec { name: "diffuse", answers: Answers::Draws, args: &[("r", Domain::Share), SAMPLER, STEPS] },
    Spec { name: "concentrated", answers: Answers::Draws, args: &[("m", Domain::Share), SAMPLER, STEPS] },
    Spec { name: "gibbs", answers: Answers::Draws, args: &[("weight", Domain::Share), SAMPLER, STEPS] },
    Spec {
        name: "beta_query",
        answers: Answers::Queries,
        args: &[("a", Domain::Positive), ("b", Domain::Positive), ("r", Domain::Share), ("m", Domain::Share)],
    },
    Spec { name: "laplace", answers: Answers::Queries, args: &[("scale", Domain::Positive)] },
    Spec { name: "geometric", answers: Answers::Queries, args: &[("scale", Domain::Positive)] },
    Spec { name: "gaussian", answers: Answers::Queries, args: &[("sigma", Domain::Positive)] },
    Spec {
        name: "exponential",
        answers: Answers::Queries,
        args: &[("lo", Domain::Real), ("hi", Domain::Real), ("points", Domain::Positive), ("eps", Domain::Positive)],
    },
    Spec { name: "beta_div", answers: Answers::Draws, args: &[("beta", Domain::AboveOne), ("weight", Domain::Share), SAMPLER, STEPS] },
    Spec {
        name: "penalty",
        answers: Answers::Draws,
        args: &[
            ("iterations", Domain::Count),
            ("sigma", Domain::Positive),
            ("step", Domain::Positive),
            ("beta", Domain::AboveOne),
            ("weight", Domain::Share),
        ],
    },
    Spec {
        name: "dp_hmc",
        answers: Answers::Draws,
        args: &[
            ("iterations", Domain::Count),
            STEPS,
            ("clip", Domain::Positive),
            ("sigma", Domain::Positive),
            ("gradient_sigma", Domain::Positive),
            ("step", Domain::Positive),
            ("beta", Domain::AboveOne),
            ("weight", Domain::Share),
        ],
    },
    Spec {
        name: "dp_sgld",
        answers: Answers::Draws,
        args: &[
            ("iterations", Domain::Count),
            ("batch", Domain::Count),
            ("clip", Domain::Positive),
            ("sigma", Domain::Positive),
            ("step", Domain::Positive),
            ("beta", Domain::AboveOne),
            ("weight", Domain::Share),
        ],
    },
    Spec { name: "ops", answers: Answers::Draws, args: &[("weight", Domain::Share), SAMPLER, STEPS] },
    Spec { name: "dp_fast_mh", answers: Answers::Later, args: &[] },
    Spec { name: "langevin", answers: Answers::Later, args: &[] },
    Spec { name: "noise_aware", answers: Answers::Posteriors, args: &[EPS, RHO] },
    Spec { name: "ls_hist", answers: Answers::Posteriors, args: &[EPS] },
    Spec { name: "ls_dim", answers: Answers::Posteriors, args: &[EPS] },
    Spec { name: "ehds", answers: Answers::Posteriors, args: &[EPS, ("gamma", Domain::Smooth), CALIBRATION] },
    Spec { name: "ehd", answers: Answers::Posteriors, args: &[EPS, CALIBRATION] },
    Spec { name: "plug_in", answers: Answers::Posteriors, args: &[EPS, RHO] },
];

/// The name in the table, what it answers, and whether the table has it.
pub fn find(name: &str) -> Option<(&'static str, Answers)> {
    let spec = MECHANISMS.iter().find(|s| s.name == name)?;
    Some((spec.name, spec.answers))
}

/// Why a mechanism of a later version is not in this one, where there is more to say than that it is to come.
pub fn why_later(name: &str) -> Option<&'static str> {
    Some(match name {
        "dp_fast_mh" => "the constants of its published bound were not derived again, and no certificate rests on unchecked ones",
        _ => return None,
    })
}

/// Every mechanism that this version can choose, and `auto`.
pub fn mechanism_names() -> impl Iterator<Item = &'static str> {
    names(Answers::Draws).chain(names(Answers::Queries)).chain(names(Answers::Posteriors)).chain(["auto"])
}

/// Names of the mechanisms that answer the same kind of question.
pub fn names(answers: Answers) -> impl Iterator<Item = &'static str> {
    MECHANISMS.iter().filter(move |s| s.answers == answers).map(|s| s.name)
}

/// Arguments of one mechanism by name, with the span of each.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Arguments {
    given: Vec<(&'static str, f64, Span)>,
}

impl Arguments {
    pub fn get(&self, name: &str) -> Option<f64> {
        self.given.iter().find(|(n, ..)| *n == name).map(|(_, x, _)| *x)
    }

    pub fn span(&self, name: &str) -> Option<Span> {
        self.given.iter().find(|(n, ..)| *n == name).map(|(.., s)| *s)
    }
}

/// Checks the arguments of a mechanism of this version.
///
/// # Errors
/// E0208 for an unknown, repeated or missing name, a word where a number belongs, or a number out of range.
pub fn parse(mechanism: &str, args: &[MechanismArg], span: Span) -> Result<Arguments, Box<Diagnostic>> {
    let specs = MECHANISMS.iter().find(|s| s.name == mechanism).map_or(&[][..], |s| s.args);
    let mut found = Arguments::default();
    let mut places = specs.iter();
    for arg in args {
        // Places count among the arguments without a name, as the rules read them.
        let spec = match &arg.name {
            Some(name) => specs.iter().find(|(n, _)| n == name),
            None => places.next(),
        };
        let Some((name, domain)) = spec else {
            return Err(Box::new(unknown(mechanism, arg, specs)));
        };
        let value = match (&arg.value, domain.words()) {
            (ArgValue::Number(value), None) => Some(*value),
            (ArgValue::Word(word), Some((words, _))) => words.iter().position(|s| s == word).map(|i| i as f64),
            _ => None,
        };
        let Some(value) = value else {
            if let Some((words, what)) = domain.words() {
                return Err(Box::new(
                    Diagnostic::new("E0208", format!("`{name}` of `{mechanism}` must name a {what}"))
                        .label(arg.span, format!("not a {what}"))
                        .help(format!("one of: {}", words.join(", "))),
                ));
            }
            return Err(Box::new(
                Diagnostic::new("E0208", format!("`{name}` of `{mechanism}` must be one number")).label(arg.span, "not a number"),
            ));
        };
        check(name, value, *domain, arg.span)?;
        if found.get(name).is_some() {
            return Err(Box::new(Diagnostic::new("E0208", format!("`{name}` is given twice")).label(arg.span, "the second time")));
        }
        found.given.push((name, value, arg.span));
    }
    together(mechanism, &found, span)?;
    Ok(found)
}

/// Rules about several arguments at once.
fn together(mechanism: &str, found: &Arguments, span: Span) -> Result<(), Box<Diagnostic>> {
    if mechanism == "beta_query" {
        if found.get("a").is_none() || found.get("b").is_none() {
            return Err(Box::new(
                Diagnostic::new("E0208", "`beta_query` needs the two prior counts")
                    .label(span, "the prior of the mean is missing")
                    .help("using beta_query(6, 18)    pulls the answer towards 6 / (6 + 18) = 0.25"),
            ));
        }
        if let (Some(_), Some(_), Some(at)) = (found.get("r"), found.get("m"), found.span("m")) {
            return Err(Box::new(
                Diagnostic::new("E0208", "`r` and `m` together leave nothing to compare").label(at, "give one of them, or neither"),
            ));
        }
    }
    if let (Some(_), Some(_), Some(at)) = (found.get("eps"), found.get("rho"), found.span("rho")) {
        return Err(Box::new(Diagnostic::new("E0208", "`eps` and `rho` are two kinds of noise").label(at, "give one of them, or neither")));
    }
    if let (Some(lo), Some(hi), Some(at)) = (found.get("lo"), found.get("hi"), found.span("hi"))
        && lo >= hi
    {
        return Err(Box::new(Diagnostic::new("E0208", "`lo` must lie below `hi`").label(at, format!("not above {}", number(lo)))));
    }
    Ok(())
}

fn check(name: &str, value: f64, domain: Domain, span: Span) -> Result<(), Box<Diagnostic>> {
    let (holds, words) = match domain {
        Domain::Share => (value > 0.0 && value <= 1.0, "above 0 and at most 1"),
        Domain::Positive => (value > 0.0 && value.is_finite(), "above 0"),
        // As rules read it, to 15 decimal places.
        Domain::AboveOne => (value.is_finite() && crate::rules::bounded::excess(value) > 0.0, "above 1"),
        Domain::Real | Domain::Sampler | Domain::Calibration => (value.is_finite(), "finite"),
        Domain::Smooth => ((1e-3..=1e3).contains(&value), "from 0.001 to 1000"),
        Domain::Count => ((1.0..=1e9).contains(&value) && value.fract() == 0.0, "a whole number from 1 to 1000000000"),
    };
    if holds {
        return Ok(());
    }
    Err(Box::new(Diagnostic::new("E0208", format!("`{name}` must be {words}, not {}", number(value))).label(span, "out of range")))
}

fn unknown(mechanism: &str, arg: &MechanismArg, specs: &[(&'static str, Domain)]) -> Diagnostic {
    let headline = match &arg.name {
        Some(name) => format!("`{mechanism}` has no argument `{name}`"),
        None => format!("too many arguments for `{mechanism}`"),
    };
    let list: Vec<String> = specs.iter().map(|(n, _)| format!("{n} = ..")).collect();
    let help = if (mechanism, arg.name.as_deref()) == ("ops", Some("radius")) {
        "the radius is the domain of the weights:    param w: vector[2] in l2(4) ~ normal(0, 1)".into()
    } else if list.is_empty() {
        format!("`{mechanism}` takes no arguments:    using {mechanism}")
    } else {
        format!("it takes:    using {mechanism}({})", list.join(", "))
    };
    Diagnostic::new("E0208", headline).label(arg.span, "not an argument of this mechanism").help(help)
}
