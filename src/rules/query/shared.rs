//! What the mechanisms for queries share: the refusal of unbounded queries, the shape of a query.

use crate::mechanism::grid_slack;
use crate::mechanism::plan::{MechanismPlan, Noise};
use crate::model::{AggregateQuery, Builtin, Expr, ExprKind, Range, Records, Relation, Type};
use crate::numeric::decimal::sig_up;
use crate::numeric::round::{add_up, mul_up};
use crate::rules::arguments::Arguments;
use crate::rules::offer::Knob;
use crate::rules::{Context, Match, Premise, refuse};
use crate::source::{Diagnostic, Span};

/// Scales and sensitivities of noise lie between these: the grid of the noise is then 40 places below its scale.
const SCALES: Range = Range { lo: 1e-200, hi: 1e200 };

/// May noise of this scale be drawn? Claims at other scales are infinite.
pub(super) fn drawable(scale: f64) -> bool {
    SCALES.contains(scale)
}

/// Refuses a scale that the program gives where no grid fits it.
pub(super) fn scale(args: &Arguments, knob: Knob) -> Match<()> {
    let name = knob.name().unwrap_or("scale");
    match (args.get(name), args.span(name)) {
        (Some(x), Some(at)) if !drawable(x) => refuse(out_of_scale(at, &format!("`{name}`"), x)),
        _ => Ok(()),
    }
}

fn out_of_scale(span: Span, what: &str, x: f64) -> Diagnostic {
    Diagnostic::new("E0203", format!("{what} must lie between 1e-200 and 1e200"))
        .label(span, format!("this is {x:e}"))
        .cause("noise is drawn on a grid far below its scale, and no grid of numbers is that fine or that coarse")
        .help("write the query in other units")
}

/// The sensitivity of a query that the runtime can compute and whose noise it can draw.
pub(super) fn noisy(query: &AggregateQuery, norm: f64, which: &str, context: &Context) -> Match<f64> {
    let norm = finite(query, norm, which, context)?;
    // No bound on the rounding of a value means that the runtime does not compute it.
    let probe = MechanismPlan::Noise { table: query.table, value: query.value.clone(), noise: Noise::Laplace { scale: 1.0 } };
    if grid_slack(&probe) == f64::INFINITY {
        return refuse(
            Diagnostic::new("E0300", "no mechanism in this version adds noise to this query")
                .label(query.value.span, "an extreme, a quantile or a summary of an answer: not computed exactly from sums over rows")
                .cause("noise is added to sums, means, counts, histograms and their linear forms, clip, min, max and abs of numbers")
                .help((
                    "release the parts with noise and combine the released values, or a quantile:",
                    "quantile(x, 0.99) using exponential",
                )),
        );
    }
    if norm != 0.0 && !drawable(norm) {
        return refuse(out_of_scale(query.value.span, &format!("the {which} sensitivity"), norm));
    }
    Ok(norm)
}

/// A query that a quantile mechanism answers: the value of a row, and the levels.
pub(super) fn quantile(value: &Expr) -> Option<(&Expr, Vec<f64>)> {
    let ExprKind::Call(Builtin::RowQuantile, args) = &value.kind else { return None };
    let [e, q] = args.as_slice() else { return None };
    let level = |q: &Expr| q.constant().filter(|q| (0.0..=1.0).contains(q));
    let levels: Option<Vec<f64>> = match &q.kind {
        ExprKind::List(items) => items.iter().map(level).collect(),
        _ => level(q).map(|q| vec![q]),
    };
    levels.filter(|l| !l.is_empty()).map(|levels| (e, levels))
}

/// Numbers in the answer: 1 for a scalar.
pub(super) fn dimension(value: &Expr) -> Option<f64> {
    match &value.ty {
        Type::Bool | Type::Int(_) | Type::Real(_) => Some(1.0),
        Type::Vector(v) => Some(v.dim as f64),
        Type::Counts { dim, .. } => Some(*dim as f64),
        Type::Matrix { rows, columns, .. } => Some(*rows as f64 * *columns as f64),
        _ => None,
    }
}

/// A sensitivity with what rounding to the grid of the noise may add in each component, in any norm.
pub(super) fn with_slack(sensitivity: f64, dimension: f64, plan: &MechanismPlan) -> f64 {
    match grid_slack(plan) {
        0.0 => sensitivity,
        slack => add_up(sensitivity, mul_up(dimension, slack)),
    }
}

/// E0202: the query's sensitivity is infinite.
pub(super) fn finite(query: &AggregateQuery, norm: f64, which: &str, context: &Context) -> Match<f64> {
    if norm.is_finite() && norm >= 0.0 {
        return Ok(norm);
    }
    let inner = match &query.value.kind {
        ExprKind::Call(_, args) => args.first().unwrap_or(&query.value),
        _ => &query.value,
    };
    let mut d = crate::rules::conjugate::unbounded(inner, query.value.span, query.records, None, context);
    if let Some(first) = d.labels.first_mut() {
        first.text = format!("its {which} sensitivity is infinite");
    }
    refuse(d)
}

/// The premises of every noise mechanism.
pub(super) fn premises(query: &AggregateQuery, which: &str, norm: f64, context: &Context) -> Vec<Premise> {
    let table = context.table(query.table);
    vec![
        Premise::holds(format!("the query's {which} sensitivity is {}", sig_up(norm, 6)), Some(query.value.span)),
        Premise::holds(neighbours(query.records), table.map(|t| t.rows_span)),
    ]
}

fn neighbours(records: Records) -> String {
    let verb = match records.relation {
        Relation::ReplaceOne => "replace",
        Relation::AddRemove => "add or remove",
    };
    match records.unit_rows {
        1 => format!("neighbours {verb} one row"),
        k => format!("neighbours {verb} at most {k} rows of one unit"),
    }
}
