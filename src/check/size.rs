//! How much the releases of a program may ask for in all: a certificate holds every query in full, a run every answer.

use super::{Checked, Checker, Stop};
use crate::model::{Builtin, Expr, ExprKind, Label, Parameter, Query, Type};
use crate::source::{Diagnostic, Span};
use std::sync::Arc;

/// The most parameters and observations of one model.
const MAX_FACTORS: usize = 1_000;

/// The most bytes of all queries as certificates write them. Beside its names an operation counts for `NODE`, a parameter or an
/// observation for `FACTOR`, a number of an answer or a parameter for `NUMBER`.
const MAX_BYTES: u64 = 64 << 20;
const NODE: u64 = 64;
const FACTOR: u64 = 1 << 10;
const NUMBER: u64 = 16;
/// Vectors of parameters of at most so many numbers may have dense covariances.
const DENSE: u64 = 1_000;

impl Checker<'_> {
    /// Holds a model to its largest size.
    pub(super) fn factors(&mut self, count: usize, span: Span) -> Checked<()> {
        if count <= MAX_FACTORS {
            return Ok(());
        }
        let help = match self.params.len() {
            ..=10 => "one `observe` is about every row of its table".to_owned(),
            many => format!("declare a vector:   param w: vector[{many}] ~ normal(0, 1)"),
        };
        self.fail(
            Diagnostic::new("E0025", format!("a model has at most {MAX_FACTORS} parameters and observations"))
                .label(span, "this one has more")
                .help(help),
        )
    }

    /// Goes on unless the releases were too long before.
    pub(super) fn room(&self) -> Checked<()> {
        // One cause, one complaint.
        if self.bytes > MAX_BYTES { Err(Stop) } else { Ok(()) }
    }

    /// Counts a release.
    pub(super) fn weigh(&mut self, query: &Query, answer: &Type, span: Span) -> Checked<()> {
        let mut bytes = NUMBER.saturating_mul(numbers(answer));
        match query {
            Query::Aggregate(query) => bytes = bytes.saturating_add(self.bytes(&query.value)),
            Query::Posterior(model) => {
                let dense = |ty: &Type| match ty {
                    Type::Vector(v) if v.dim <= DENSE => v.dim * v.dim,
                    _ => 0,
                };
                let prior = |p: &Parameter| NUMBER.saturating_mul(numbers(&p.ty)).saturating_add(dense(&p.ty) + p.name.len() as u64);
                bytes = model.parameters.iter().map(prior).fold(bytes, u64::saturating_add);
                let factors = model.parameters.len() + model.public.len() + model.private.len();
                bytes = bytes.saturating_add(FACTOR * factors as u64);
                let args = model.parameters.iter().flat_map(|p| &p.prior.args);
                let rows = || model.public.iter().chain(&model.private);
                let rest = args.chain(rows().flat_map(|o| &o.likelihood.args)).chain(rows().map(|o| &o.outcome));
                bytes = rest.map(|e| self.bytes(e)).fold(bytes, u64::saturating_add);
                bytes = rows().map(|o| self.levels_bytes(&o.outcome)).fold(bytes, u64::saturating_add);
            }
        }
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes <= MAX_BYTES {
            return Ok(());
        }
        self.fail(
            Diagnostic::new("E0025", format!("the releases of this program are longer than {} MiB in all", MAX_BYTES >> 20))
                .label(span, "one too many")
                .cause(
                    "a certificate holds every query in full, with the levels of its categories; a number counts for 16 bytes, of a posterior for 160",
                )
                .help("split the program"),
        )
    }

    /// An upper bound of the text of an expression.
    fn bytes(&self, e: &Expr) -> u64 {
        let mut all = 0u64;
        e.walk(&mut |x| {
            let own = match &x.kind {
                ExprKind::Column(t, c) => self.table(*t).map_or(0, |t| t.name.len()) + self.column(*t, *c).map_or(0, |c| c.name.len()),
                ExprKind::Param(p) => self.param(*p).map_or(0, |p| p.name.len()),
                ExprKind::Scalar(s) => self.program.scalars.get(s.0).map_or(0, |s| s.name.len()),
                ExprKind::Released(id) => self.program.released.get(id.0).map_or(0, String::len),
                ExprKind::Level(i) => x.ty.levels().and_then(|l| l.get(*i)).map_or(0, String::len),
                ExprKind::Text(text) => text.len(),
                _ => 0,
            };
            all = all.saturating_add(NODE + own as u64);
            // What is asked of rows is written with its type.
            let typed: &[Expr] = match &x.kind {
                ExprKind::List(items) => items,
                ExprKind::Call(f, args) if f.over_rows() || matches!(f, Builtin::Dot | Builtin::Append | Builtin::Products) => args,
                _ => &[],
            };
            all = typed.iter().map(|e| self.levels_bytes(e)).fold(all, u64::saturating_add);
        });
        all
    }

    fn levels_bytes(&self, e: &Expr) -> u64 {
        let levels = e.ty.levels().filter(|_| matches!((&e.ty, e.label), (Type::Category(_), Label::Row(_))));
        levels.and_then(|l| self.level_bytes.get(&Arc::as_ptr(l).addr())).copied().unwrap_or(0)
    }
}

/// Numbers of a value of this type.
fn numbers(ty: &Type) -> u64 {
    match ty {
        Type::Vector(v) => v.dim,
        Type::Simplex { dim, .. } | Type::Counts { dim, .. } => *dim,
        Type::Matrix { rows, columns, .. } => rows.saturating_mul(*columns),
        // How far it will be from the true one is predicted several times.
        Type::Posterior(inner) => numbers(inner).saturating_mul(10),
        Type::Record(parts) => parts.iter().map(|(_, ty)| numbers(ty)).fold(0, u64::saturating_add),
        _ => 1,
    }
}
