//! The complaints of the rules for regression: slopes, curves, priors, features and secret numbers of rows.

use super::draw::{Parts, has_intercept, plain_norm, strong_convexity};
use super::link;
use crate::model::print::{likelihood_text, prior_text};
use crate::model::{DistCall, Expr, ExprKind, Model, Parameter, Type};
use crate::rules::Context;
use crate::rules::conjugate::matching_prior::moments;
use crate::rules::conjugate::{self, facts::tidy};
use crate::rules::text::four_near;
use crate::source::{Diagnostic, Help};

/// E0303: the slope of the loss is unbounded on the whole line.
pub(super) fn unbounded_slope(parts: &Parts, name: &str, why: &str, model: &Model, context: &Context) -> Diagnostic {
    let o = parts.observation;
    let m = format!("prior strongly log-concave [yes, m = {}]", four_near(strong_convexity(&parts.blocks)));
    let norm = plain_norm(&parts.blocks);
    let features = match (norm.is_finite(), has_intercept(&parts.blocks)) {
        (true, true) => format!("features bounded [yes, {} with intercept]", four_near(norm)),
        (true, false) => format!("features bounded [yes, {}]", four_near(norm)),
        (false, _) => "features bounded [no]".into(),
    };
    let mut d = Diagnostic::new("E0303", format!("the {name} loss has unbounded slope"))
        .label(o.likelihood.span, why)
        .cause(format!("rule lipschitz_glm needs: likelihood log-concave [yes]; slope bounded [no];\n{m}; {features}"));
    if matches!(o.likelihood.name(), "bernoulli_probit" | "bernoulli_cloglog") {
        let text = likelihood_text(model, o, context.program).replacen(o.likelihood.name(), "bernoulli_logit", 1);
        let text = unqualified(&text, model, context);
        d = d
            .note("a bounded mean (g^-1 in (0,1)) bounds the slope only for the canonical link")
            .help(Help::from(("use the logit link:", text, "slope <= 1")).over(o.likelihood.span))
            .helps(bounded_weights("or bound the weights:", model, context));
    } else {
        d = d.helps(bounded_weights("bound the weights:", model, context));
    }
    d
}

/// Column names as the program writes them where one table is meant.
fn unqualified(text: &str, model: &Model, context: &Context) -> String {
    let tables = context.program.tables.len();
    match context.table(model.records.table) {
        Some(t) if tables == 1 => text.replace(&format!("{}.", t.name), ""),
        _ => text.to_owned(),
    }
}

/// The declarations of the weights, with a domain each.
fn bounded_weights(lead: &str, model: &Model, context: &Context) -> Vec<Help> {
    let line = |p: &Parameter| {
        let ty = match &p.ty {
            Type::Vector(v) => format!("vector[{}] in l2(5)", v.dim),
            Type::Matrix { rows, columns, .. } => format!("matrix[{rows}, {columns}] in [-5, 5]"),
            _ => "real in [-5, 5]".to_owned(),
        };
        (p.span, format!("param {}: {ty} ~ {}", p.name, prior_text(model, p, context.program)))
    };
    let edits: Vec<_> = model.parameters.iter().map(line).collect();
    Help::several(lead, edits.iter().map(|(_, code)| code.clone()), edits.clone())
}

/// E0304: the predictor is not linear in the parameters.
pub(super) fn not_convex(node: &Expr, other: Option<&Expr>, model: &Model, context: &Context) -> Diagnostic {
    let names = |e: &Expr| -> Vec<&str> { model.parameters.iter().filter(|p| e.mentions(p.id)).map(|p| p.name.as_str()).collect() };
    let both = |list: Vec<&str>| match list.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => "itself".into(),
    };
    let why = match other.filter(|o| matches!(o.kind, ExprKind::Param(_))) {
        Some(factor) => format!("the linear predictor multiplies {} by a function of {}", both(names(factor)), both(names(node))),
        None => "this part of the predictor is not linear in the parameters".to_owned(),
    };
    Diagnostic::new("E0304", "the loss is not convex in the parameters")
        .label(context.program.place(node.span), why)
        .cause("the log-Sobolev argument needs a log-concave posterior; a neural network has none")
        .help("make the predictor a sum of weights times features, such as dot(w, x) + b")
        .help("(`using ?` lists every rule and why it does or does not match)")
}

/// E0306: a prior whose negative logarithm is not strongly convex.
pub(super) fn prior_not_strong(parameter: &Parameter) -> Diagnostic {
    let family = parameter.prior.name();
    let why = match family {
        "laplace" => "its negative log density is linear on either side of its centre",
        "cauchy" | "student_t" => "its negative log density grows only logarithmically",
        "uniform" => "its negative logarithm is flat",
        "multi_normal" => "this rule covers weights that are independent before the data",
        _ => "this rule covers normal priors alone",
    };
    let said = if family == "multi_normal" { "has correlated weights" } else { "is not strongly log-concave" };
    let d = Diagnostic::new("E0306", format!("the prior of `{}` {said}", parameter.name))
        .label(parameter.prior.span, why)
        .cause("the cost is that of a normal law whose precision is the least curvature of the prior");
    match normal_like(&parameter.prior) {
        Some((lead, prior)) => d.help(Help::from((lead, prior)).over(parameter.prior.span)),
        None => d.help(Help::from(("a normal prior:", "normal(0, 1)")).over(parameter.prior.span)),
    }
}

/// The normal prior that lies where another does.
fn normal_like(prior: &DistCall) -> Option<(&'static str, String)> {
    if prior.name() == "multi_normal" {
        return None;
    }
    let (lead, centre, spread) = match (moments(prior), about(prior)) {
        (Some((mean, sd)), _) => ("a normal prior with the same mean and sd:", mean, sd),
        (None, Some((centre, scale))) => ("a normal prior with the same centre and scale:", centre, scale),
        (None, None) => return None,
    };
    Some((lead, format!("normal({}, {})", four_near(centre), four_near(spread))))
}

fn about(prior: &DistCall) -> Option<(f64, f64)> {
    let args: Option<Vec<f64>> = prior.args.iter().map(Expr::constant).collect();
    prior.family.about(&args?).filter(|(centre, scale)| centre.is_finite() && scale.is_finite() && *scale > 0.0)
}

/// E0309: features without a norm bound.
pub(super) fn unbounded_features(x: &Expr, parts: &Parts, context: &Context) -> Diagnostic {
    let mut column = None;
    x.walk(&mut |node| {
        if let ExprKind::Column(table, id) = node.kind
            && let Some(c) = context.table(table).and_then(|t| t.columns.get(id.0))
            && column.is_none()
        {
            let bounded = match &c.ty {
                Type::Vector(v) => v.sup.l2.is_finite(),
                ty => ty.range().is_none_or(|r| r.is_finite()),
            };
            if !bounded {
                column = Some(c);
            }
        }
    });
    let name = column.map_or("x", |c| c.name.as_str());
    let shown = if column.is_some() { format!("`{name}`") } else { "a feature".to_owned() };
    let mut d = Diagnostic::new("E0309", format!("{shown} has no bounds, so one row can pull the weights without limit"))
        .label(parts.observation.likelihood.span, "the slope of a row's loss is multiplied by its features");
    if let Some(c) = column {
        d = d.label(c.span, "unbounded features");
    }
    let (domain, inside) = match column.map(|c| &c.ty) {
        Some(Type::Vector(v)) => (format!("{name}: vector[{}] in l2(1)", v.dim), format!("project(l2(1), {name})")),
        _ => (format!("{name}: real in [0, 1]"), format!("clip({name}, 0, 1)")),
    };
    d.cause("the cost grows with the largest norm of a row's features, which is infinite")
        .help(("declare a bound:", domain, "(rows outside are moved onto it)"))
        .help(Help::from(("or project in the model:", inside)).over(x.span))
}

/// E0307: no public step size without a public n.
pub(super) fn secret_rows(rule: &str, parts: &Parts, model: &Model, context: &Context) -> Diagnostic {
    let names: Vec<&str> = model.parameters.iter().map(|p| p.name.as_str()).collect();
    conjugate::secret_rows(
        rule,
        &names.join("`, `"),
        parts.observation.span,
        model.records,
        "the step size of the chain follows from the number of rows, which is secret",
        context,
    )
    .help(("if not:", "using diffuse(sampler = nuts) assuming convergence"))
}

/// E0303 on a bounded set that is too large for its exponential.
pub(super) fn predictor_too_large(parts: &Parts) -> Diagnostic {
    let shown = if parts.most.is_finite() { format!("as large as {}", tidy(parts.most)) } else { "of any size".into() };
    let name = link::unbounded_slope(parts.link).map_or("row's", |(name, _)| name);
    Diagnostic::new("E0303", format!("the {name} loss has no useful slope here"))
        .label(parts.observation.likelihood.span, format!("the predictor may be {shown}, and the slope grows with it"))
        .cause("the slope is bounded only where the predictor is at most 50")
        .help("use a smaller domain for the weights, or features of smaller norm")
}
