//! Mechanisms and the arguments each one takes: what a program writes after `using`, checked against a table.

use crate::mechanism::plan::{Sampler, Spacing};
use crate::model::print::number;
use crate::model::{ArgValue, MechanismArg};
use crate::source::{Diagnostic, Help, Span};

/// What a program may write after `using`. Two mechanisms are the same if they are one and the same static.
pub struct Mechanism {
    pub name: &'static str,
    /// In positional order.
    pub args: &'static [Arg],
    /// May `auto` consider it? Otherwise a program must ask for it by name.
    auto: bool,
    /// For a message that a cost is infinite: `a direct draw`.
    pub draw: &'static str,
    /// What it does to the posterior, as advice: `weaken the data`.
    pub advice: Option<&'static str>,
    /// Arguments of the literature that are written elsewhere in dpm, with that place as a Help line.
    pub elsewhere: &'static [(&'static str, &'static str)],
}

impl Mechanism {
    pub const fn new(name: &'static str, args: &'static [Arg]) -> Mechanism {
        Mechanism { name, args, auto: true, draw: "", advice: None, elsewhere: &[] }
    }

    /// Does it have this argument?
    pub fn takes(&self, arg: &Arg) -> bool {
        self.args.iter().any(|a| a.name == arg.name)
    }

    /// One that a program must ask for by name.
    pub const fn by_name(self) -> Mechanism {
        Mechanism { auto: false, ..self }
    }

    /// May `auto` consider it?
    pub fn automatic(&self) -> bool {
        self.auto
    }

    pub const fn elsewhere(self, elsewhere: &'static [(&'static str, &'static str)]) -> Mechanism {
        Mechanism { elsewhere, ..self }
    }

    pub const fn called(self, draw: &'static str) -> Mechanism {
        Mechanism { draw, ..self }
    }

    pub const fn advice(self, advice: &'static str) -> Mechanism {
        Mechanism { advice: Some(advice), ..self }
    }
}

impl PartialEq for Mechanism {
    fn eq(&self, other: &Mechanism) -> bool {
        std::ptr::eq(self, other)
    }
}

impl std::fmt::Debug for Mechanism {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// An argument of a mechanism.
pub struct Arg {
    pub name: &'static str,
    domain: Domain,
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
    /// Finite and above 1.
    AboveOne,
    /// One of the samplers of chains.
    Sampler,
    /// How the scale of a Hellinger mechanism is found.
    Calibration,
    /// How the candidates for a quantile are spaced.
    Spacing,
}

/// How the scale of a Hellinger mechanism is found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Calibration {
    /// By the theorem.
    Proved,
    /// From the realised loss.
    Exact,
}

/// The value of an argument.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Value {
    Number(f64),
    Sampler(Sampler),
    Calibration(Calibration),
    Spacing(Spacing),
}

impl Domain {
    /// The words of an argument that is not a number, and what they name.
    fn words(self) -> Option<(&'static [(&'static str, Value)], &'static str)> {
        const SAMPLERS: &[(&str, Value)] = &[
            ("langevin", Value::Sampler(Sampler::Langevin)),
            ("nuts", Value::Sampler(Sampler::Nuts)),
            ("slice", Value::Sampler(Sampler::Slice)),
        ];
        const CALIBRATIONS: &[(&str, Value)] =
            &[("proved", Value::Calibration(Calibration::Proved)), ("exact", Value::Calibration(Calibration::Exact))];
        const SPACINGS: &[(&str, Value)] = &[("even", Value::Spacing(Spacing::Even)), ("log", Value::Spacing(Spacing::Log))];
        match self {
            Domain::Sampler => Some((SAMPLERS, "sampler")),
            Domain::Calibration => Some((CALIBRATIONS, "calibration")),
            Domain::Spacing => Some((SPACINGS, "spacing")),
            _ => None,
        }
    }
}

impl Arg {
    const fn new(name: &'static str, domain: Domain) -> Arg {
        Arg { name, domain }
    }
    pub const fn share(name: &'static str) -> Arg {
        Arg::new(name, Domain::Share)
    }
    pub const fn positive(name: &'static str) -> Arg {
        Arg::new(name, Domain::Positive)
    }
    pub const fn real(name: &'static str) -> Arg {
        Arg::new(name, Domain::Real)
    }
    pub const fn count(name: &'static str) -> Arg {
        Arg::new(name, Domain::Count)
    }
    pub const BETA: Arg = Arg::new("beta", Domain::AboveOne);
    pub const WEIGHT: Arg = Arg::share("weight");
    pub const SAMPLER: Arg = Arg::new("sampler", Domain::Sampler);
    pub const STEPS: Arg = Arg::count("steps");
    pub const EPS: Arg = Arg::positive("eps");
    pub const RHO: Arg = Arg::positive("rho");
    pub const GAMMA: Arg = Arg::new("gamma", Domain::Smooth);
    pub const CALIBRATION: Arg = Arg::new("calibration", Domain::Calibration);
    pub const GRID: Arg = Arg::new("grid", Domain::Spacing);
}

/// Arguments of one mechanism by name, with the span of each.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Arguments {
    given: Vec<(&'static str, Value, Span)>,
}

/// Nothing is written.
pub static NONE: Arguments = Arguments { given: vec![] };

impl Arguments {
    fn value(&self, name: &str) -> Option<Value> {
        self.given.iter().find(|(n, ..)| *n == name).map(|(_, x, _)| *x)
    }

    pub fn get(&self, name: &str) -> Option<f64> {
        match self.value(name)? {
            Value::Number(x) => Some(x),
            _ => None,
        }
    }

    /// A whole number.
    pub fn count(&self, name: &str) -> Option<u64> {
        self.get(name).map(|x| x as u64)
    }

    pub fn sampler(&self) -> Option<Sampler> {
        match self.value(Arg::SAMPLER.name)? {
            Value::Sampler(sampler) => Some(sampler),
            _ => None,
        }
    }

    pub fn calibration(&self) -> Option<Calibration> {
        match self.value(Arg::CALIBRATION.name)? {
            Value::Calibration(calibration) => Some(calibration),
            _ => None,
        }
    }

    pub fn spacing(&self) -> Option<Spacing> {
        match self.value(Arg::GRID.name)? {
            Value::Spacing(spacing) => Some(spacing),
            _ => None,
        }
    }

    pub fn span(&self, name: &str) -> Option<Span> {
        self.given.iter().find(|(n, ..)| *n == name).map(|(.., s)| *s)
    }

    pub fn is_empty(&self) -> bool {
        self.given.is_empty()
    }

    /// The same with a number fixed, in place of what was written.
    pub fn with(mut self, name: &'static str, value: f64, span: Span) -> Arguments {
        self.given.retain(|(n, ..)| *n != name);
        self.given.push((name, Value::Number(value), span));
        self
    }

    /// E0208 where both of two arguments are given that exclude each other.
    ///
    /// # Errors
    /// A complaint at the second.
    pub fn not_both(&self, one: &str, other: &str, why: &str) -> Result<(), Box<Diagnostic>> {
        match (self.span(one), self.span(other)) {
            (Some(_), Some(at)) => Err(Box::new(Diagnostic::new("E0208", why).label(at, "give one of them, or neither"))),
            _ => Ok(()),
        }
    }
}

/// Checks the arguments of a mechanism.
///
/// # Errors
/// E0208 for an unknown or repeated name, a word where a number belongs, or a number out of range.
pub fn parse(mechanism: &Mechanism, args: &[MechanismArg]) -> Result<Arguments, Box<Diagnostic>> {
    let mut found = Arguments::default();
    let mut places = mechanism.args.iter();
    for arg in args {
        // Places count among the arguments without a name.
        let spec = match &arg.name {
            Some(name) => mechanism.args.iter().find(|a| a.name == name),
            None => places.next(),
        };
        let Some(Arg { name, domain }) = spec else {
            return Err(Box::new(unknown(mechanism, arg)));
        };
        let value = match (&arg.value, domain.words()) {
            (ArgValue::Number(x), None) => {
                check(name, *x, *domain, arg.span)?;
                Value::Number(*x)
            }
            (ArgValue::Word(word), Some((words, what))) => match words.iter().find(|(w, _)| w == word) {
                Some((_, value)) => *value,
                None => return Err(Box::new(not_a_word(mechanism, name, words, what, arg.span))),
            },
            (_, Some((words, what))) => return Err(Box::new(not_a_word(mechanism, name, words, what, arg.span))),
            (_, None) => {
                let headline = format!("`{name}` of `{}` must be one number", mechanism.name);
                return Err(Box::new(Diagnostic::new("E0208", headline).label(arg.span, "not a number")));
            }
        };
        if found.span(name).is_some() {
            return Err(Box::new(Diagnostic::new("E0208", format!("`{name}` is given twice")).label(arg.span, "the second time")));
        }
        found.given.push((name, value, arg.span));
    }
    Ok(found)
}

fn not_a_word(mechanism: &Mechanism, name: &str, words: &[(&str, Value)], what: &str, span: Span) -> Diagnostic {
    let list: Vec<&str> = words.iter().map(|(w, _)| *w).collect();
    Diagnostic::new("E0208", format!("`{name}` of `{}` must name a {what}", mechanism.name))
        .label(span, format!("not a {what}"))
        .help(format!("one of: {}", list.join(", ")))
}

fn check(name: &str, value: f64, domain: Domain, span: Span) -> Result<(), Box<Diagnostic>> {
    let (holds, words) = match domain {
        Domain::Share => (value > 0.0 && value <= 1.0, "above 0 and at most 1"),
        Domain::Positive => (value > 0.0 && value.is_finite(), "above 0"),
        // As rules read it, to 15 decimal places.
        Domain::AboveOne => (value.is_finite() && super::bounded::excess(value) > 0.0, "above 1"),
        Domain::Real | Domain::Sampler | Domain::Calibration | Domain::Spacing => (value.is_finite(), "finite"),
        Domain::Smooth => ((1e-3..=1e3).contains(&value), "from 0.001 to 1000"),
        Domain::Count => ((1.0..=1e9).contains(&value) && value.fract() == 0.0, "a whole number from 1 to 1000000000"),
    };
    if holds {
        return Ok(());
    }
    Err(Box::new(Diagnostic::new("E0208", format!("`{name}` must be {words}, not {}", number(value))).label(span, "out of range")))
}

fn unknown(mechanism: &Mechanism, arg: &MechanismArg) -> Diagnostic {
    let name = mechanism.name;
    let headline = match &arg.name {
        Some(argument) => format!("`{name}` has no argument `{argument}`"),
        None => format!("too many arguments for `{name}`"),
    };
    let list: Vec<String> = mechanism.args.iter().map(|a| format!("{} = ..", a.name)).collect();
    let elsewhere = mechanism.elsewhere.iter().find(|(a, _)| arg.name.as_deref() == Some(*a));
    let help: Help = if let Some((_, line)) = elsewhere {
        (*line).into()
    } else if list.is_empty() {
        (format!("`{name}` takes no arguments:"), format!("using {name}")).into()
    } else {
        ("it takes:", format!("using {name}({})", list.join(", "))).into()
    };
    Diagnostic::new("E0208", headline).label(arg.span, "not an argument of this mechanism").help(help)
}
