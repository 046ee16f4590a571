//! Operators and scalar functions: the type and the label of what they give.

use super::expressions::node;
use super::messages::{range_text, type_text};
use super::scope::Origin;
use super::vectors::{self, as_vector};
use super::{Checked, Checker};
use crate::model::{Binary, Builtin, Expr, ExprKind, Label, Norms, Range, Type, Unary, VectorType};
use crate::numeric::unary::{Needs, Whole};
use crate::source::{Diagnostic, Help, Span};
use crate::syntax::ast;

/// The range of a function of parameters alone without its ends: it meets them with probability 0, and no row is part of
/// it, so `1 / sqrt(tau)` is total for a positive `tau`. Any other range stays as it is.
fn without_ends(e: &Expr, range: Range) -> Range {
    let open = e.label == Label::Latent && range.lo < range.hi;
    if open { Range::new(range.lo.next_up(), range.hi.next_down()) } else { range }
}

impl Checker<'_> {
    pub(super) fn binary(&mut self, op: Binary, a: &ast::Expr, b: &ast::Expr, span: Span) -> Checked<Expr> {
        if matches!(op, Binary::Eq | Binary::Ne)
            && let Some(e) = self.level_comparison(Builtin::Binary(op), a, b, span)?
        {
            return Ok(e);
        }
        let (a, b) = (self.expr(a), self.expr(b));
        self.apply(Builtin::Binary(op), vec![a?, b?], span)
    }

    /// `party == red`, `species == "setosa"`.
    fn level_comparison(&mut self, op: Builtin, a: &ast::Expr, b: &ast::Expr, span: Span) -> Checked<Option<Expr>> {
        for (column, level, flip) in [(a, b, false), (b, a, true)] {
            let (ast::ExprKind::Name(name) | ast::ExprKind::Text(name)) = &level.kind else { continue };
            let known =
                matches!(level.kind, ast::ExprKind::Name(_)) && (self.scopes.find(name).is_some() || !self.columns_named(name).is_empty());
            if known {
                continue;
            }
            let is_category = match &column.kind {
                ast::ExprKind::Name(c) => self.levels_of_name(c).is_some(),
                ast::ExprKind::Field(..) => {
                    matches!(level.kind, ast::ExprKind::Text(_))
                        || !matches!(level.kind, ast::ExprKind::Name(_))
                        || matches!(self.type_of_column(column), Some((_, Type::Category(_))))
                }
                _ => false,
            };
            if !is_category {
                continue;
            }
            let column = self.expr(column)?;
            let Type::Category(levels) = column.ty.clone() else { continue };
            let level = self.level(name, &levels, level.span)?;
            let label = column.label;
            let args = if flip { vec![level, column] } else { vec![column, level] };
            return Ok(Some(node(ExprKind::Call(op, args), Type::Bool, label, span)));
        }
        Ok(None)
    }

    /// Applies an operator or function to checked arguments.
    pub(super) fn apply(&mut self, op: Builtin, args: Vec<Expr>, span: Span) -> Checked<Expr> {
        let args = self.as_days(op, args)?;
        let label = self.join_all(&args, span)?;
        let ty = match (op, args.as_slice()) {
            (Builtin::Binary(Binary::And | Binary::Or) | Builtin::Not, args) => {
                for a in args {
                    self.want_truth(a)?;
                }
                truth_of(args)
            }
            (Builtin::Eq | Builtin::Ne, [a, b]) if matches!((&a.ty, &b.ty), (Type::Category(x), Type::Category(y)) if x == y) => Type::Bool,
            (Builtin::Binary(f @ (Binary::Le | Binary::Ge | Binary::Lt | Binary::Gt | Binary::Eq | Binary::Ne)), [a, b]) => {
                self.elementwise(f, a, b, span)?;
                truth_of(&args)
            }
            (Builtin::Mul, [m, x]) if matches!(m.ty, Type::Matrix { .. }) && !x.ty.is_scalar_number() => {
                return self.mat_vec(args, span, label);
            }
            (Builtin::Unary(f), [a]) => self.unary_type(f, a, span)?,
            (Builtin::Binary(f), [a, b]) => self.elementwise(f, a, b, span)?,
            _ => return Err(super::Stop),
        };
        Ok(node(ExprKind::Call(op, args), ty, label, span))
    }

    fn want_truth(&mut self, e: &Expr) -> Checked<()> {
        match &e.ty {
            Type::Vector(v) if v.range.within(Range::UNIT) => Ok(()),
            _ => self.want_bool(e),
        }
    }

    fn unary_type(&mut self, op: Unary, a: &Expr, span: Span) -> Checked<Type> {
        let range = match (&a.ty, a.ty.range()) {
            (Type::Bool | Type::Int(_) | Type::Real(_) | Type::Vector(_) | Type::Simplex { .. } | Type::Matrix { .. }, Some(r)) => r,
            (other, _) => {
                let what = type_text(other);
                return self.fail(Diagnostic::new("E0209", "a number is needed here").label(a.span, what));
            }
        };
        let facts = op.facts();
        let out = match facts.range(range).or_else(|why| facts.range(without_ends(a, range)).map_err(|_| why)) {
            Ok(r) => r,
            Err(_) if self.is_shown(a) => Range::ALL,
            Err(why) => return self.partial(&format!("`{}`", facts.name()), why, a, span),
        };
        Ok(match &a.ty {
            Type::Bool | Type::Int(_) if facts.whole != Whole::No => Type::Int(out),
            Type::Real(_) if facts.whole == Whole::Always => Type::Int(out),
            Type::Vector(v) if op == Unary::Neg => Type::Vector(VectorType { range: out, ordered: false, ..v.clone() }),
            Type::Vector(v) => Type::Vector(vectors::boxed(v.dim, out, v.levels.clone())),
            Type::Simplex { dim, levels } => Type::Vector(vectors::boxed(*dim, out, levels.clone())),
            Type::Matrix { rows, columns, .. } => Type::Matrix { rows: *rows, columns: *columns, range: out },
            _ => Type::Real(out),
        })
    }

    /// What anyone may know, also a number of every draw, can fail in front of anyone: inf or nan is shown.
    fn is_shown(&self, e: &Expr) -> bool {
        match e.label {
            Label::Public => true,
            Label::Row(t) => matches!(self.origin(t), Some(Origin::Draws(_))),
            _ => false,
        }
    }

    fn partial<T>(&mut self, name: &str, needs: Needs, at: &Expr, span: Span) -> Checked<T> {
        let range = at.ty.range().unwrap_or(Range::ALL);
        let written = self.written(at.span);
        let Needs { what: needs, clip: (lo, hi) } = needs;
        let most = || super::messages::plain(if range.hi.is_finite() { range.hi } else { 1000.0 });
        let hi = hi.map_or_else(most, str::to_owned);
        let d = Diagnostic::new("E0204", format!("{name} may fail on some row"))
            .label(at.span, format!("ranges over {}", range_text(range)))
            .cause(format!("{name} needs {needs}; a failure on one row would reveal that row"));
        let d = if at.span == span { d } else { d.label(span, "fails for some of these values") };
        let d = self.label_column(d, at, "declared here");
        let clip = Help::from(("clip first:", format!("clip({written}, {lo}, {hi})"))).over(at.span);
        self.fail(d.help(clip).help("or declare a narrower domain for the column"))
    }

    /// The type of a component-by-component operation.
    fn elementwise(&mut self, op: Binary, a: &Expr, b: &Expr, span: Span) -> Checked<Type> {
        let (Some(ra), Some(rb)) = (number_range(&a.ty), number_range(&b.ty)) else {
            let bad = if number_range(&a.ty).is_none() { a } else { b };
            let what = type_text(&bad.ty);
            let d = Diagnostic::new("E0209", "a number is needed here").label(bad.span, what);
            let d = match &bad.ty {
                Type::Category(l) => d.help(format!(
                    "compare with one of its levels: {} == {}",
                    self.written(bad.span),
                    l.first().map_or("level", String::as_str)
                )),
                _ => d,
            };
            return self.fail(d);
        };
        let inside = || op.range(without_ends(a, ra), without_ends(b, rb));
        let out = match op.range(ra, rb).or_else(|why| inside().map_err(|_| why)) {
            Ok(r) => r,
            Err(_) if self.is_shown(a) && self.is_shown(b) => Range::ALL,
            Err(why) if op == Binary::Div => return self.partial("a division", why, b, span),
            Err(why) => return self.partial("a power", why, a, span),
        };
        let out = if op == Binary::Mul { same_operand(a, b, out) } else { out };
        let (va, vb) = (as_vector(&a.ty), as_vector(&b.ty));
        match (va, vb) {
            (Some(x), Some(y)) if x.dim != y.dim => self.fail(
                Diagnostic::new("E0201", format!("{} numbers against {}", x.dim, y.dim))
                    .label(b.span, format!("{} components", y.dim))
                    .label(a.span, format!("{} components", x.dim))
                    .help("both sides need the same length, or one of them a single number"),
            ),
            (Some(x), Some(y)) => {
                let mut v = vectors::boxed(x.dim, out, x.levels.clone().or(y.levels.clone()));
                if matches!(op, Binary::Add | Binary::Sub) {
                    v.sup = vectors::least(v.sup, vectors::scale(vectors::sum(x.sup, y.sup), ROUNDED));
                    // Each component is rounded: half an ulp of the largest sum on either side.
                    let slack = vectors::mul_up(v.range.magnitude(), f64::EPSILON);
                    let rounded = vectors::boxed(v.dim, Range::new(0.0, slack), None).diam;
                    v.diam = vectors::least(v.diam, vectors::sum(vectors::sum(x.diam, y.diam), rounded));
                }
                Ok(Type::Vector(v))
            }
            (Some(x), None) => Ok(Type::Vector(scaled(op, &x, out, b))),
            (None, Some(y)) if op == Binary::Div => Ok(Type::Vector(vectors::boxed(y.dim, out, y.levels.clone()))),
            (None, Some(y)) => Ok(Type::Vector(scaled(op, &y, out, a))),
            (None, None) if matches!((&a.ty, &b.ty), (Type::Matrix { .. }, _) | (_, Type::Matrix { .. })) => {
                self.matrix_elementwise(a, b, out)
            }
            (None, None) => {
                let whole =
                    |t: &Type| matches!(t, Type::Int(_) | Type::Bool) || t.range().is_some_and(|r| r.is_point() && r.lo.fract() == 0.0);
                let keeps = matches!(op, Binary::Add | Binary::Sub | Binary::Mul | Binary::Min | Binary::Max);
                Ok(if keeps && whole(&a.ty) && whole(&b.ty) { Type::Int(out) } else { Type::Real(out) })
            }
        }
    }

    fn matrix_elementwise(&mut self, a: &Expr, b: &Expr, range: Range) -> Checked<Type> {
        match (&a.ty, &b.ty) {
            (Type::Matrix { rows, columns, .. }, Type::Matrix { rows: r2, columns: c2, .. }) if (rows, columns) == (r2, c2) => {
                Ok(Type::Matrix { rows: *rows, columns: *columns, range })
            }
            (Type::Matrix { rows, columns, .. }, s) | (s, Type::Matrix { rows, columns, .. }) if s.is_scalar_number() => {
                Ok(Type::Matrix { rows: *rows, columns: *columns, range })
            }
            _ => {
                let (x, y) = (type_text(&a.ty), type_text(&b.ty));
                self.fail(Diagnostic::new("E0201", "the shapes differ").label(b.span, y).label(a.span, x))
            }
        }
    }

    fn mat_vec(&mut self, args: Vec<Expr>, span: Span, label: Label) -> Checked<Expr> {
        let [m, x] = args.as_slice() else { return Err(super::Stop) };
        let Type::Matrix { rows, columns, range } = m.ty else { return Err(super::Stop) };
        let Some(v) = as_vector(&x.ty) else {
            let what = type_text(&x.ty);
            return self.fail(Diagnostic::new("E0209", "a matrix multiplies a vector or a number").label(x.span, what));
        };
        if v.dim != columns {
            let d = Diagnostic::new("E0201", format!("a {rows} x {columns} matrix times {} numbers", v.dim))
                .label(x.span, format!("{} components", v.dim))
                .label(m.span, format!("needs {columns}"))
                .help(format!("declare the matrix as matrix[{rows}, {}]", v.dim));
            return self.fail(d);
        }
        let bound = vectors::mul_up(range.magnitude(), v.sup.l1);
        let ty = Type::Vector(vectors::boxed(rows, Range::new(-bound, bound), None));
        Ok(node(ExprKind::Call(Builtin::MatVec, args), ty, label, span))
    }
}

fn number_range(ty: &Type) -> Option<Range> {
    match ty {
        Type::Counts { .. } => None,
        other => other.range(),
    }
}

/// Room for the rounding of each component: a product of doubles is off by at most half an ulp.
const ROUNDED: f64 = 1.0 + 4.0 * f64::EPSILON;

/// A scaled diameter with room for the rounding of both vectors, half an ulp of each component: where they are far from 0 and
/// near each other, what [`ROUNDED`] leaves is not enough.
fn rounded(diam: Norms, sup: Norms) -> Norms {
    let room = vectors::scale(sup, f64::EPSILON);
    let enough = [(diam.l1, sup.l1), (diam.l2, sup.l2), (diam.linf, sup.linf)].iter().all(|(d, s)| *s <= 2.0 * d);
    if enough { diam } else { vectors::sum(diam, room) }
}

/// Values of one row, written alike, are equal: `x * x` is a square, and `x * (c - x)` rises up to `x = c / 2` and falls beyond.
///
/// Ends in doubles; values are moved into them (`data::eval`).
fn same_operand(a: &Expr, b: &Expr, out: Range) -> Range {
    if same_value(a, b) {
        return a.ty.range().map_or(out, square);
    }
    let rest = |x: &Expr, whole: &Expr| match &whole.kind {
        ExprKind::Call(Builtin::Sub, args) => match args.as_slice() {
            [Expr { kind: ExprKind::Number(c), .. }, y] if same_value(x, y) => Some(*c),
            _ => None,
        },
        _ => None,
    };
    let found = [(a, b), (b, a)].into_iter().find_map(|(x, whole)| Some((x.ty.range()?, rest(x, whole)?)));
    found.map_or(out, |(x, c)| {
        let ends = [x.lo, (c / 2.0).max(x.lo).min(x.hi), x.hi];
        Range::of(ends.map(|x| Binary::Mul.value(x, c - x)))
    })
}

/// The same expression of one row twice.
pub(super) fn same_value(a: &Expr, b: &Expr) -> bool {
    matches!(a.label, Label::Row(_)) && a.label == b.label && a.same(b) && !a.draws()
}

/// Squares of the numbers of a range.
pub(super) fn square(x: Range) -> Range {
    Range::of([x.lo, 0.0_f64.max(x.lo).min(x.hi), x.hi].map(|x| x * x))
}

/// A vector combined with one number: shifting keeps the diameter, scaling scales it. A public number is the same for both rows,
/// known or not. Any other number of size at most c keeps a vector of norm at most s in the ball of c s, and moves it by at most
/// `s width + c diameter`: `|b v - b' v'| <= |b - b'| |v| + |b'| |v - v'|`.
fn scaled(op: Binary, v: &VectorType, out: Range, by: &Expr) -> VectorType {
    let mut t = vectors::boxed(v.dim, out, v.levels.clone());
    let finite = by.ty.range().filter(|r| r.is_finite());
    let constant = finite.filter(|_| by.label == Label::Public);
    match (op, constant) {
        (Binary::Mul, Some(r)) => {
            let factor = vectors::mul_up(r.magnitude(), ROUNDED);
            t.sup = vectors::least(t.sup, vectors::scale(v.sup, factor));
            t.diam = vectors::least(t.diam, rounded(vectors::scale(v.diam, factor), t.sup));
        }
        (Binary::Div, Some(r)) if r.is_point() => {
            let inverse = vectors::mul_up(vectors::div_up(1.0, r.magnitude()), ROUNDED);
            t.sup = vectors::least(t.sup, vectors::scale(v.sup, inverse));
            t.diam = vectors::least(t.diam, rounded(vectors::scale(v.diam, inverse), t.sup));
        }
        (Binary::Add | Binary::Sub, Some(_)) => {
            // The shifted components are rounded: two roundings of half an ulp each.
            let slack = vectors::mul_up(t.range.magnitude(), f64::EPSILON);
            let widened = vectors::sum(v.diam, vectors::boxed(v.dim, Range::new(0.0, slack), None).diam);
            t.diam = vectors::least(t.diam, widened);
        }
        (Binary::Mul, None) => {
            let Some(r) = finite else { return t };
            let factor = vectors::mul_up(r.magnitude(), ROUNDED);
            t.sup = vectors::least(t.sup, vectors::scale(v.sup, factor));
            let moved = vectors::sum(vectors::scale(v.sup, vectors::mul_up(r.width(), ROUNDED)), vectors::scale(v.diam, factor));
            let ball = vectors::scale(t.sup, 2.0);
            t.diam = vectors::least(t.diam, vectors::least(ball, rounded(moved, t.sup)));
            // By 0 or 1 exactly: both rows keep the vector, or one of them has 0 in its place.
            if by.ty == Type::Bool {
                t.sup = vectors::least(t.sup, v.sup);
                t.diam = vectors::least(t.diam, vectors::most(v.diam, v.sup));
            }
        }
        _ => {}
    }
    t
}

fn truth_of(args: &[Expr]) -> Type {
    match args.iter().find_map(|a| as_vector(&a.ty)) {
        Some(v) => Type::Vector(vectors::boxed(v.dim, Range::UNIT, v.levels)),
        None => Type::Bool,
    }
}
