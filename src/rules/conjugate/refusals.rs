//! The complaints conjugate rules share: an unbounded outcome, a secret or inexact n, arguments without a worst case.

use crate::model::print::likelihood_text;
use crate::model::{Expr, ExprKind, Model, Observation, Range, Records, Relation, Table, Type};
use crate::rules::Context;
use crate::rules::text::plain;
use crate::source::{Diagnostic, Span};

/// The first unbounded column of an expression: its name, declaration and type.
fn unbounded_column<'a>(e: &Expr, context: &Context<'a>) -> Option<(&'a str, Span, &'a Type)> {
    column(e, context).map(|c| (c.name.as_str(), c.span, &c.ty))
}

fn column<'a>(e: &Expr, context: &Context<'a>) -> Option<&'a crate::model::Column> {
    let mut found = None;
    e.walk(&mut |node| {
        if let ExprKind::Column(table, column) = node.kind
            && found.is_none()
            && let Some(c) = context.table(table).and_then(|t| t.columns.get(column.0))
            && !bounded(&c.ty)
        {
            found = Some(c);
        }
    });
    found
}

fn bounded(ty: &Type) -> bool {
    match ty {
        Type::Vector(v) => v.diam.l2.is_finite(),
        _ => ty.range().is_none_or(Range::is_finite),
    }
}

/// E0202: the outcome, which is observed again under another name once it is clipped, or a query's row value has no finite range.
pub(crate) fn unbounded(value: &Expr, span: Span, records: Records, clipped: Option<(&str, String)>, context: &Context) -> Diagnostic {
    let column = unbounded_column(value, context);
    let is_column = matches!(value.kind, ExprKind::Column(..));
    let name = match column {
        Some((name, ..)) if is_column => format!("`{name}`"),
        _ => "the outcome".to_string(),
    };
    let sum = match column {
        Some((name, ..)) if is_column => format!("sum({name})"),
        _ => "the sum".to_string(),
    };
    let extent = match records.relation {
        Relation::ReplaceOne => "(largest - smallest) value",
        Relation::AddRemove => "the largest absolute value",
    };
    let moved = if clipped.is_some() { "posterior" } else { "answer" };
    let mut d = Diagnostic::new("E0202", format!("{name} has no bounds, so one person can move the {moved} without limit"))
        .label(span, format!("the sum of {name} is the sufficient statistic here"));
    if let Some((_, declared, _)) = column {
        d = d.label(declared, "unbounded private column");
    }
    let name = column.map_or("y", |(name, ..)| name);
    let clip = format!("clip({name}, 0, 10)");
    let (domain, clip) = match column {
        Some((.., Type::Int(_))) => ("int in 0..10".to_string(), clip),
        Some((.., Type::Vector(v))) => (format!("vector[{}] in l2(1)", v.dim), format!("project(l2(1), {name})")),
        _ => ("real in [0, 10]".to_string(), clip),
    };
    let v = clipped.as_ref().map_or("v", |(v, _)| v);
    let observe = clipped.as_ref().map(|(v, likelihood)| ("", format!("observe {v} ~ {likelihood}")));
    d.cause(format!("sensitivity of {sum} is {extent}, which is infinite"))
        .help(("declare public bounds:", format!("{name}: {domain}"), "(rows outside are clamped)"))
        .help(("or clip in the model:", format!("let {v} = {clip}")))
        .helps(observe)
        .help("Do not read the bound off the data: that itself leaks (E0102).")
}

/// E0202 for an observed column, with the two lines that clip it in the model.
pub(crate) fn unbounded_rows(model: &Model, o: &Observation, context: &Context) -> Diagnostic {
    let taken = |n: &str| context.program.tables.iter().flat_map(|t| &t.columns).any(|c| c.name == n);
    let clipped = ["v", "y_clipped", "clipped"].into_iter().find(|n| !taken(n)).unwrap_or("v");
    let likelihood = likelihood_text(model, o, context.program);
    unbounded(&o.outcome, o.outcome.span.to(o.likelihood.span), model.records, Some((clipped, likelihood)), context)
}

/// E0203: the outcome may leave the support of its likelihood.
pub(crate) fn outside(o: &Observation, range: Range, support: Range) -> Diagnostic {
    let show = |r: Range| format!("[{}, {}]", plain(r.lo), plain(r.hi));
    Diagnostic::new("E0203", format!("the outcome may lie outside the support of `{}`", o.likelihood.name()))
        .label(o.outcome.span, format!("ranges over {}", show(range)))
        .label(o.likelihood.span, format!("its support is {}", show(support)))
        .help(format!("clip the outcome into {} before it is observed", show(support)))
}

/// E0203 for a constant that is not positive; E0202 for an argument whose range has no worst case.
pub(crate) fn may_vanish(span: Span, what: &str, range: Range) -> Diagnostic {
    if range.is_point() {
        return Diagnostic::new("E0203", format!("{what} must be positive")).label(span, format!("this is {}", plain(range.lo)));
    }
    Diagnostic::new("E0202", format!("{what} may be as small as {}", plain(range.lo)))
        .label(span, "only the range of this public value is known to the certificate")
        .cause("the cost has no finite supremum over that range")
        .help("declare a range that stays above 0, such as `real in [1, 10]`")
}

/// E0307: the rule needs a public number of rows.
pub(crate) fn secret_rows(rule: &str, parameter: &str, observation: Span, records: Records, why: &str, context: &Context) -> Diagnostic {
    let table = context.table(records.table);
    let (n, unit) = table.map_or(("n", "one row".into()), |t| (t.public_name(), t.unit_in_words()));
    Diagnostic::new("E0307", format!("a draw of `{parameter}` needs a public number of rows"))
        .label(table.map_or(observation, |t| t.rows_span), format!("{n} is secret: neighbours add or remove {unit}"))
        .label(observation, format!("rule `{rule}` needs a public {n}"))
        .cause(why)
        .help(Table::redeclared(table, format!("if {n} is public:"), n, ""))
}

/// E0313: the cost grows with n and n is not known exactly.
pub(crate) fn grows_with_rows(
    rule: &str,
    parameter: &str,
    observation: Span,
    records: Records,
    or_else: Option<&str>,
    context: &Context,
) -> Diagnostic {
    let table = context.table(records.table);
    let known = match (table.and_then(|t| t.count_name.as_deref()), records.rows.at_least) {
        (Some(n), 0) => format!("{n} may be any number"),
        (Some(n), least) => format!("{n} may be any number from {least} on"),
        (None, _) => "the number of rows is not known exactly".to_string(),
    };
    Diagnostic::new("E0313", format!("the cost of a draw of `{parameter}` grows with the number of rows"))
        .label(table.map_or(observation, |t| t.rows_span), known)
        .label(observation, format!("rule `{rule}` needs the exact number"))
        .cause("the posterior narrows faster than one row's influence fades, so no bound holds for every n")
        .help(Table::redeclared(table, "declare the exact number:", "1200", ""))
        .helps(or_else)
}

/// E0300: two columns of one table inform one parameter, and the rule takes one.
pub(crate) fn several_columns(observations: &[Observation], parameter: &str) -> Diagnostic {
    let mut d =
        Diagnostic::new("E0300", format!("no rule in this version covers {} observed columns of `{parameter}`", observations.len()));
    for o in observations {
        d = d.label(o.span, format!("`{parameter}` is observed here"));
    }
    d.cause("the rules for this family prove a bound for one observed value a row")
        .help("observe one column, or give each column its own parameter and release")
}

/// E0313: public rows raise the cost of this rule, and how many there are is not known yet.
pub(crate) fn unbound_public_rows(parameter: &str, model: &Model, context: &Context) -> Diagnostic {
    let mut d = Diagnostic::new("E0313", format!("the cost of a draw of `{parameter}` depends on public rows that are not bound yet"));
    for (index, o) in model.public.iter().enumerate() {
        if context.public.get(index).is_none() {
            let name = context.table(o.table).map_or("pilot", |t| t.name.as_str());
            d = d.label(o.span, "public rows").help(("bind the table:", format!("--public {name}={name}.csv")));
        }
    }
    d.cause("each public row raises the shape of the posterior, and the cost with it")
}

/// E0202: public features without a norm bound.
pub(crate) fn unbounded_features(x: &Expr, span: Span, context: &Context) -> Diagnostic {
    let column = unbounded_column(x, context);
    let name = column.map_or("x", |(name, ..)| name);
    let mut d = Diagnostic::new("E0202", format!("`{name}` has no bounds, so one person can move the posterior without limit"))
        .label(span, "a row counts with the length of its features");
    if let Some((_, declared, _)) = column {
        d = d.label(declared, "unbounded column");
    }
    // A private column stays private.
    let public = if self::column(x, context).is_some_and(|c| c.public) { "public " } else { "" };
    d.cause("one outcome moves the weights by its features times its range, which is infinite").help((
        "declare a bound:",
        match column.map(|(.., ty)| ty) {
            Some(Type::Vector(v)) => format!("{name}: {public}vector[{}] in l2(1)", v.dim),
            _ => format!("{name}: {public}real in [0, 1]"),
        },
    ))
}

/// E0203: a number so large or so small that sums and squares of it leave the range of doubles.
pub(crate) fn out_of_reach(span: Span, what: &str, range: Range) -> Diagnostic {
    let shown = if range.is_point() { format!("this is {:e}", range.lo) } else { format!("from {:e} to {:e}", range.lo, range.hi) };
    Diagnostic::new("E0203", format!("the size of {what} must lie between 1e-100 and 1e100"))
        .label(span, shown)
        .cause("squares and quotients of such a number leave the range of doubles, so no bound computed from it holds")
        .help("write the model in other units")
}

/// E0203: the doubles of the inverse are too far from the inverse.
pub(super) fn nearly_singular(span: Span) -> Diagnostic {
    Diagnostic::new("E0203", "the covariance is nearly singular")
        .label(span, "its inverse is not known to six digits")
        .cause("the draw uses the inverse of this matrix; computed in doubles it may be far from the prior that the bound is about")
        .help("make the ratio of its largest and smallest eigenvalue less than 1e8")
}
