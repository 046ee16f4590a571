//! The complaints of the rules for bounded losses: a scale near 0, an unbounded shape, a flat prior.

use super::density::Fault;
use super::range::RowLoss;
use crate::model::print::{argument_text, likelihood_text, prior_text};
use crate::model::{Expr, ExprKind, Model, Observation, Parameter, Type};
use crate::numeric::round::{div_up, mul_up};
use crate::rules::Context;
use crate::rules::conjugate::facts::tidy;
use crate::rules::text::four_near;
use crate::source::{Diagnostic, Help};

/// E0306: a bounded loss leaves a flat prior flat.
pub(super) fn flat_prior(p: &Parameter) -> Diagnostic {
    Diagnostic::new("E0306", format!("the prior of `{}` is improper", p.name))
        .label(p.prior.span, "flat: its total mass is infinite, or its domain a single point")
        .cause("the loss of every row is bounded, so no number of rows makes the posterior of a flat prior proper")
        .help(("a proper prior:", format!("param {} ~ normal(0, 10)", p.name)))
}

/// E0300: how much of a prior its domain cuts off would be a function of a parameter.
pub(super) fn cut_prior(p: &Parameter, model: &Model, context: &Context) -> Diagnostic {
    let prior = prior_text(model, p, context.program);
    Diagnostic::new("E0300", format!("the prior of `{}` is truncated to a domain and depends on another parameter", p.name))
        .label(p.prior.span, "how much of it is cut off is not a constant")
        .cause("no chain of this version computes the constant of such a prior at every step")
        .help(("without the domain:", format!("param {} ~ {prior}", p.name)))
}

/// E0305 or E0310, and the line that mends it with what is then known of the loss.
pub(super) fn unbounded(
    rule: &str,
    o: &Observation,
    fault: &Fault,
    model: &Model,
    context: &Context,
) -> (Diagnostic, Option<(String, RowLoss)>) {
    match fault {
        Fault::Scale { argument, peak, rate } => scale(rule, o, argument, *peak, *rate, model, context),
        Fault::Predictor { argument } => (predictor(rule, o, argument, model, context), None),
        Fault::Log { argument } => (log_density(rule, o, argument, model, context), None),
        Fault::Shape { argument, least } => (shape(o, argument, *least, model, context), None),
        Fault::Unknown(reason) => (Diagnostic::new("E0300", reason.clone()), None),
    }
}

/// The parameter that an argument is.
fn parameter<'a>(argument: &Expr, model: &'a Model) -> Option<&'a Parameter> {
    let ExprKind::Param(id) = argument.kind else { return None };
    model.parameters.iter().find(|p| p.id == id)
}

fn outcome(o: &Observation, model: &Model, context: &Context) -> String {
    let text = argument_text(model, &o.outcome, context.program);
    text.rsplit_once('.').map_or(text.clone(), |(_, column)| column.to_owned())
}

fn range_text(argument: &Expr) -> String {
    let range = crate::model::enclose::enclose(argument);
    format!("[{}, {}]", tidy(range.lo), tidy(range.hi))
}

fn scale(
    rule: &str,
    o: &Observation,
    argument: &Expr,
    unit: f64,
    rate: bool,
    model: &Model,
    context: &Context,
) -> (Diagnostic, Option<(String, RowLoss)>) {
    let name = argument_text(model, argument, context.program);
    let y = outcome(o, model, context);
    let (place, why) = if rate { ("above", "at infinity") } else { ("below", "at 0") };
    let ranges = format!("{name} ranges over {}: the peak is unbounded {why}", range_text(argument));
    let peak = match (rate, unit) {
        (true, 1.0) => format!("density peak is {name}"),
        (true, _) => format!("density peak is {} * {name}", four_near(unit)),
        (false, _) => format!("density peak is 1 / ({} * {name})", plain_factor(1.0 / unit)),
    };
    let at = parameter(argument, model).map_or(argument.span, |p| context.program.place(p.span));
    let d = Diagnostic::new("E0305", format!("the density of `{y}` is not bounded, so `{rule}` has no finite guarantee"))
        .label(o.likelihood.span, peak)
        .label(at, ranges);
    let lead = format!("bound {name} from {place} with a public constant, on the scale of `{y}`:");
    let Some(p) = parameter(argument, model).filter(|p| matches!(p.ty, Type::Real(_))) else {
        let other = if rate { format!("min({name}, 10)") } else { format!("0.1 + {name}") };
        return (d.help(Help::from((lead, other)).over(argument.span)), None);
    };
    // A quarter of the prior's own scale, or four times its rate: a place to start from, public as the program is.
    let own = p.prior.args.last().and_then(Expr::constant).filter(|x| *x > 0.0 && x.is_finite()).unwrap_or(1.0);
    let (domain, bound) = match rate {
        false => (format!("real in [{}, inf]", tidy(own / 4.0)), div_up(unit, own / 4.0)),
        true => (format!("real in [0, {}]", tidy(own * 4.0)), mul_up(unit, own * 4.0)),
    };
    let line = format!("param {}: {domain} ~ {}", p.name, prior_text(model, p, context.program));
    (d.help(lead), Some((line, RowLoss::Scaled { peak: bound })))
}

/// E0305: a likelihood that may come near 0.
fn predictor(rule: &str, o: &Observation, argument: &Expr, model: &Model, context: &Context) -> Diagnostic {
    let y = outcome(o, model, context);
    let free = model.parameters.iter().find(|p| match &p.ty {
        Type::Vector(v) => !v.sup.l2.is_finite(),
        ty => ty.range().is_some_and(|r| !r.is_finite()),
    });
    let d = Diagnostic::new("E0305", format!("the probability of `{y}` may come near 0, so `{rule}` has no finite guarantee"))
        .label(argument.span, "this predictor is not bounded by 10000");
    let Some(p) = free else {
        return d.cause("the loss of a row moves as far as its predictor does").help((
            "bound the features:",
            "x: vector[2] in l2(1)",
            "(rows outside are moved onto it)",
        ));
    };
    let ty = match &p.ty {
        Type::Vector(v) => format!("vector[{}] in l2(5)", v.dim),
        _ => "real in [-5, 5]".into(),
    };
    d.label(context.program.place(p.span), format!("{} may take any value", p.name))
        .cause("the loss of a row moves as far as its predictor does")
        .help(("cut the weights to a bounded set:", format!("param {}: {ty} ~ {}", p.name, prior_text(model, p, context.program))))
}

/// E0305: arguments at which a row's log-density has no bound.
fn log_density(rule: &str, o: &Observation, argument: &Expr, model: &Model, context: &Context) -> Diagnostic {
    let y = outcome(o, model, context);
    let d = Diagnostic::new("E0305", format!("the density of `{y}` may come near 0, so `{rule}` has no finite guarantee"))
        .label(argument.span, format!("ranges over {}", range_text(argument)))
        .cause("the loss of a row, minus the logarithm of its density, has no bound there");
    // The first parameter in it whose domain is not cut on both sides.
    let cut = |p: &&Parameter| argument.mentions(p.id) && matches!(&p.ty, Type::Real(_)) && p.truncated.is_none();
    let Some(p) = model.parameters.iter().find(cut) else {
        return d.help("cut the parameters to bounded domains on which every row keeps a positive density");
    };
    let domain = match p.ty.range() {
        Some(r) if r.lo == 0.0 && r.hi == 1.0 => "[0.01, 0.99]",
        Some(r) if r.lo == 0.0 => "[0.01, 100]",
        _ => "[-10, 10]",
    };
    d.help((
        "cut the parameter to a bounded set:",
        format!("param {}: real in {domain} ~ {}", p.name, prior_text(model, p, context.program)),
    ))
}

/// Five digits: `2.5066`.
fn plain_factor(x: f64) -> String {
    crate::numeric::decimal::sig(x, 5)
}

fn shape(o: &Observation, argument: &Expr, least: f64, model: &Model, context: &Context) -> Diagnostic {
    let name = argument_text(model, argument, context.program);
    let likelihood = likelihood_text(model, o, context.program);
    let y = outcome(o, model, context);
    let fixed = likelihood.replacen(&name, "2", 1);
    let bounded = match parameter(argument, model) {
        Some(p) => format!("param {}: real in [{}, inf] ~ {}", p.name, tidy(least), prior_text(model, p, context.program)),
        None => format!("max({name}, {})", tidy(least)),
    };
    Diagnostic::new("E0310", format!("the shape of the density of `{y}` varies, and below {} it has no peak", tidy(least)))
        .label(argument.span, format!("ranges over {}", range_text(argument)))
        .cause(format!(
            "a {} density of shape below {} is unbounded at 0, so one row can move the loss without limit",
            o.likelihood.name(),
            tidy(least)
        ))
        .help(("bound the shape:", bounded))
        .help("(a shape that varies pays the wider range M^(beta-1) (1/(beta-1) + 1/beta))")
        .help(format!("or write a constant in its place, as in `{fixed}`, where other parameters are learned"))
}
