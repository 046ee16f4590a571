//! `release m = moments(x, y)`: noisy sums of numbers and of their products, and models of them.

use super::design::centre;
use super::expressions::node;
use super::messages::type_text;
use super::scope::Origin;
use super::vectors::{add_up, as_vector, boxed, div_up, least, mul_up, sqrt_up, sum, tighten};
use super::{Checked, Checker, Stop};
use crate::model::fit::CellTable;
use crate::model::print::number as digits;
use crate::model::{
    AggregateQuery, Axes, Axis, Builtin, ColumnId, Expr, ExprKind, Label, Norms, Observation, Query, Range, Relation, ReleaseId, Step,
    TableId, Type, VectorType, moments, sums,
};
use crate::numeric::decimal::sig;
use crate::source::{Diagnostic, Help, Span};
use crate::syntax::ast;
use std::sync::Arc;

/// States of the bools of one model.
const MOST_BOOLS: usize = 4;
/// What rounding adds to a component: half an ulp for a product, twice for a weighted square, of either row.
const ROUNDING: f64 = 8.0 * f64::EPSILON;
/// Bins of a number whose counts are proposed instead, and the most cells of such counts.
const BINS: f64 = 20.0;
const MOST_CELLS: f64 = 2_000.0;

impl Checker<'_> {
    /// `products(v)`, with the norms of section 8.13 of the rule book.
    pub(super) fn products(&mut self, args: Vec<Expr>, span: Span) -> Checked<Expr> {
        let [v] = args.as_slice() else { return Err(Stop) };
        let Some(of) = as_vector(&v.ty).filter(|of| of.range.within(Range::new(-1.0, 1.0)) && of.dim <= moments::MOST) else {
            let d = Diagnostic::new("E0209", format!("`products` takes up to {} numbers from -1 to 1", moments::MOST));
            return self.fail(d.label(v.span, type_text(&v.ty)).help(self.scaled_by_bounds(v)));
        };
        let (label, dim) = (v.label, moments::components(of.dim));
        let ty = Type::Vector(VectorType { levels: self.names_of(v), ..norms(&of) });
        debug_assert!(matches!(&ty, Type::Vector(v) if v.dim == dim));
        Ok(node(ExprKind::Call(Builtin::Products, args), ty, label, span))
    }

    /// A list whose numbers have bounds, with each moved into [-1, 1].
    fn scaled_by_bounds(&self, list: &Expr) -> Help {
        let part = |e: &Expr| {
            let (text, range) = (self.map.slice(e.span), e.ty.range().filter(|r| r.is_finite() && e.ty.is_scalar_number())?);
            if range.within(Range::new(-1.0, 1.0)) {
                return Some(text.to_owned());
            }
            let (middle, half) = centre(range)?;
            let text = if let ExprKind::Column(..) = e.kind { text.to_owned() } else { format!("({text})") };
            let sign = if middle < 0.0 { '+' } else { '-' };
            let centred = if middle == 0.0 { text } else { format!("({text} {sign} {})", digits(middle.abs())) };
            Some(format!("{centred} / {}", digits(half)))
        };
        let items = if let ExprKind::List(items) = &list.kind { items.as_slice() } else { &[] };
        let parts: Option<Vec<String>> = items.iter().map(part).collect();
        match parts.filter(|p| !p.is_empty() && p.len() as u64 <= moments::MOST) {
            Some(parts) => Help::from(("scale by the bounds:", format!("[{}]", parts.join(", ")))).over(list.span),
            None => "scale each number by its bounds, and take the products of fewer numbers where there are more".into(),
        }
    }

    /// `age`, `pay`, `age^2`, `age*pay`, `pay^2`, where the parts of a list are columns.
    fn names_of(&self, list: &Expr) -> Option<crate::model::Levels> {
        let ExprKind::List(items) = &list.kind else { return None };
        let name = |e: &Expr| moments::scaled(e).and_then(|s| self.column(s.table, s.column)).map(|c| c.name.clone());
        let names: Vec<String> = items.iter().map(name).collect::<Option<_>>()?;
        let product = |(i, j): (usize, usize)| {
            let (a, b) = (names.get(i)?, names.get(j)?);
            Some(if i == j { format!("{a}^2") } else { format!("{a}*{b}") })
        };
        let all: Option<Vec<String>> = names.iter().cloned().map(Some).chain(moments::pairs(names.len()).map(product)).collect();
        all.map(Arc::new)
    }

    /// `release m = moments(x, y)`
    pub(super) fn is_moments(&self, r: &ast::Release) -> bool {
        matches!(r.query.path.as_slice(), [word] if word.value == "moments" && self.scopes.find("moments").is_none())
    }

    /// It is the sum of the products of the columns, scaled by their bounds.
    pub(super) fn moments(&mut self, r: &ast::Release, span: Span) -> Checked<Step> {
        self.price(span)?;
        self.room()?;
        let at = r.query.span;
        let clauses = self.clauses(r)?;
        if r.query.args.is_empty() || r.query.args.iter().any(|a| a.name.is_some()) {
            return self.fail(self.arity("`moments`", "moments(x, y), bounded columns", at));
        }
        let mut columns = vec![];
        for arg in &r.query.args {
            columns.push(self.expr(&arg.value)?);
        }
        let value = self.sums_of(&columns, at)?;
        let Label::Aggregate(table) = value.label else {
            let d = Diagnostic::new("E0209", "moments of public columns are public already").label(at, "costs nothing, and needs no noise");
            return self.fail(d.help("name at least one private column"));
        };
        self.group_table(table, at)?;
        let records = self.records(table)?;
        let sensitivity = super::sensitivity::sensitivity(&value, &records);
        let (ty, query) = (value.ty.clone(), Query::Aggregate(AggregateQuery { table, value, sensitivity, records }));
        self.released(&r.name, (query, ty, at), clauses, span)
    }

    /// `sum(products([(x - middle) / half, ..]))` of bounded columns of one table.
    pub(super) fn sums_of(&mut self, columns: &[Expr], at: Span) -> Checked<Expr> {
        let mut parts: Vec<Expr> = vec![];
        for x in columns {
            let ExprKind::Column(table, column) = x.kind else {
                let d = Diagnostic::new("E0209", "`moments` takes columns").label(x.span, "not a column");
                return self.fail(d.help("sums of anything else: release s = sum(products([..]))"));
            };
            let range = x.ty.range().filter(|_| x.ty.is_scalar_number());
            let Some(range) = range else {
                let d = Diagnostic::new("E0209", "`moments` takes numbers").label(x.span, type_text(&x.ty));
                return self.fail(d.help("a bool counts as 0 or 1; of a category, release a histogram"));
            };
            let Some((middle, half)) = centre(range).filter(|_| range.is_finite()) else {
                let name = self.column(table, column).map_or("x".into(), |c| c.name.clone());
                let d = Diagnostic::new("E0202", format!("`{name}` has no bounds, so one person can move its moments without limit"));
                return self.fail(d.label(x.span, type_text(&x.ty)).help(("declare bounds:", format!("{name}: real in [0, 100]"))));
            };
            if parts.iter().any(|p| moments::scaled(p).is_some_and(|s| (s.table, s.column) == (table, column))) {
                return self.fail(Diagnostic::new("E0209", "a column of moments is named once").label(x.span, "again here"));
            }
            parts.push(self.centred(x.clone(), middle, half, at)?);
        }
        let list = self.list(parts, at)?;
        let products = self.products(vec![list], at)?;
        self.aggregate("sum", vec![products], at)
    }

    /// The columns of released moments as axes without levels.
    pub(super) fn moment_axes(&self, id: ReleaseId) -> Option<(Axes, Vec<moments::Scaled>)> {
        let (_, value) = self.release(id)?.query.as_ref()?;
        let scaled = moments::columns(value)?;
        let axis = |s: &moments::Scaled| {
            let c = self.column(s.table, s.column)?;
            Some(Axis { name: c.name.clone(), ty: c.ty.clone(), levels: Arc::default(), public: c.public, edges: vec![], sums: vec![] })
        };
        let axes: Option<Vec<Axis>> = scaled.iter().map(axis).collect();
        Some((Arc::new(axes?), scaled))
    }

    /// A model of moments: each column that it names is normal about a sum of multiples of others, or a bool.
    pub(super) fn normal_in_columns(&mut self, o: &Observation, axes: &[Axis]) -> Checked<()> {
        let ExprKind::Column(t, c) = o.outcome.kind else {
            let d = Diagnostic::new("E0209", "a model of moments observes their columns").label(o.outcome.span, "computed from columns");
            return self.fail(d.help("observe m.y ~ normal(a + b * x, sd)"));
        };
        let family = o.likelihood.family.name;
        let axis = axes.get(c.0).ok_or(Stop)?;
        let column = format!("{}.{}", self.table_name(t), axis.name);
        if by_moments(o, &axis.ty) {
            return Ok(());
        }
        let d = Diagnostic::new("E0209", format!("moments do not determine this model of `{column}`"));
        let (label, help): (&str, Help) = match (axis.ty == Type::Bool, family) {
            (true, "bernoulli" | "bernoulli_logit") => ("a probability that depends on other columns", self.counts_instead(t, axes)),
            (true, _) => ("the column is a bool", Help::from(("a share:", format!("observe {column} ~ bernoulli(p)")))),
            (false, "normal") => {
                ("not a sum of multiples of columns, with an sd that is the same for all rows", self.counts_instead(t, axes))
            }
            (false, _) => ("only a normal model can be fitted to sums and squares", self.counts_instead(t, axes)),
        };
        self.fail(d.label(o.likelihood.span, label).help(help))
    }

    /// Counts of the same columns, which a model of any law can be fitted to.
    fn counts_instead(&self, of: TableId, axes: &[Axis]) -> Help {
        let mut cells = 1.0;
        let mut by = vec![];
        for axis in axes {
            let name = if self.columns_named(&axis.name).len() > 1 { None } else { Some(&axis.name) };
            let width = axis.ty.range().map_or(1.0, Range::width) / BINS;
            let bin = |name| format!("bin({name}, width = {})", sig(if let Type::Int(_) = axis.ty { width.max(1.0) } else { width }, 1));
            by.push(name.map(|name| if axis.ty == Type::Bool { name.clone() } else { bin(name) }));
            cells *= if axis.ty == Type::Bool { 2.0 } else { BINS };
        }
        let by: Option<Vec<String>> = by.into_iter().collect();
        let query = match self.origin(of) {
            Some(Origin::Cells(id)) => self.release(id).and_then(|r| r.query.as_ref()),
            _ => None,
        };
        match (by.filter(|_| cells <= MOST_CELLS), query.map(|(_, value)| value.span)) {
            (_, Some(at)) if self.map.slice(at).starts_with("posterior") => {
                ("for other distributions, release counts:", "using noisy_cells").into()
            }
            (Some(by), Some(at)) => {
                Help::from(("for other distributions, release counts:", format!("histogram({})", by.join(", ")))).over(at)
            }
            _ => "for other distributions, release a histogram of the columns that matter".into(),
        }
    }

    /// Every state of its bools is added up.
    pub(super) fn laws_of_moments(&mut self, table: &CellTable, observations: &[Observation], call: Span) -> Checked<()> {
        let (outcomes, _) = table.used(observations);
        let bools = outcomes.iter().filter(|c| table.axes.get(**c).is_some_and(|a| a.ty == Type::Bool)).count();
        if bools > MOST_BOOLS {
            let d = Diagnostic::new("E0025", format!("a model of moments has at most {MOST_BOOLS} bools"))
                .label(call, format!("{bools} of them"));
            return self.fail(d.help("release counts of bools: histogram(a, b)"));
        }
        Ok(())
    }
}

/// Norms of products of vectors of this type, and of the difference of two, each rounded up.
fn norms(of: &VectorType) -> VectorType {
    let (dim, w) = (moments::components(of.dim), moments::square_weight(of.dim));
    let d = of.dim as f64;
    // The square of the L2 norm.
    let a = mul_up(of.sup.l2, of.sup.l2).min(d);
    let (one, two) = (of.dim == 1, |x: f64| mul_up(2.0, x));
    let squared = add_up(a, mul_up(mul_up(a, a), mul_up(w, w).max(0.5)));
    let l1 = add_up(add_up(d, d * (d - 1.0) / 2.0), mul_up(d, w));
    let sup = Norms { l1, l2: sqrt_up(squared), linf: w.max(1.0) };
    let apart = add_up(d, two(w));
    let diam = Norms {
        l1: div_up(mul_up(d, mul_up(apart, apart)), two((d + 2.0 * w).next_down().next_down() - 1.0)),
        l2: if one { 2.0 } else { add_up(a, 1.0) },
        linf: 2.0,
    };
    let whole = boxed(dim, Range::new(-1.0, w.max(1.0)), None);
    let slack = boxed(dim, Range::new(0.0, ROUNDING), None).diam;
    let within = |n: Norms, all: Norms| tighten(least(sum(tighten(n, dim), slack), all), dim);
    VectorType { sup: within(sup, whole.sup), diam: within(diam, whole.diam), ..whole }
}

/// Do moments determine this model of a column?
fn by_moments(o: &Observation, outcome: &Type) -> bool {
    let own = |e: &Expr| matches!(e.kind, ExprKind::Column(of, _) if of == o.table);
    let degree = |e: &Expr| sums::degrees(e, &own).map(|d| d.1);
    match (*outcome == Type::Bool, o.likelihood.family.name, o.likelihood.args.as_slice()) {
        (true, "bernoulli" | "bernoulli_logit", [p]) => degree(p) == Some(0),
        (false, "normal", [mean, sd]) => degree(mean).is_some_and(|d| d <= 1) && degree(sd) == Some(0),
        _ => false,
    }
}

impl Checker<'_> {
    /// Do the moments of these columns determine this model, in which some column is normal? Then they say more than counts in bins.
    pub(super) fn has_moments(&self, table: TableId, columns: &[ColumnId], rows: &[Observation]) -> bool {
        let bounded = |c: &ColumnId| {
            self.column(table, *c).is_some_and(|c| {
                let range = c.ty.range().filter(|r| r.is_finite() && centre(*r).is_some());
                !c.public && c.ty.is_scalar_number() && range.is_some()
            })
        };
        let secret = self.table(table).is_none_or(|t| t.relation != Relation::ReplaceOne);
        !secret
            && columns.len() as u64 <= moments::MOST
            && columns.iter().all(bounded)
            && rows.iter().all(|o| by_moments(o, &o.outcome.ty))
            && rows.iter().any(|o| o.outcome.ty != Type::Bool)
    }
}

#[cfg(test)]
mod tests {
    use super::super::vectors::append;
    use super::*;

    /// Every pair of vectors on a grid, against the norms of the type.
    #[test]
    fn no_two_rows_lie_further_apart() {
        for (d, steps) in [(1usize, 200), (2, 14), (3, 4)] {
            let ends = boxed(d as u64, Range::new(-1.0, 1.0), None);
            let found = norms(&ends);
            let at = |i: usize| -1.0 + 2.0 * i as f64 / steps as f64;
            let all: Vec<Vec<f64>> = (0..(steps + 1usize).pow(d as u32))
                .map(|k| moments::products(&(0..d).map(|j| at(k / (steps + 1).pow(j as u32) % (steps + 1))).collect::<Vec<f64>>()))
                .collect();
            let size = |x: &mut dyn Iterator<Item = f64>| {
                let x: Vec<f64> = x.map(f64::abs).collect();
                [x.iter().sum::<f64>(), x.iter().map(|x| x * x).sum::<f64>().sqrt(), x.iter().copied().fold(0.0, f64::max)]
            };
            let (mut sup, mut diam) = ([0.0f64; 3], [0.0f64; 3]);
            for a in &all {
                assert_eq!(a.len() as u64, found.dim);
                assert!(a.iter().all(|x| found.range.contains(*x)));
                sup = std::array::from_fn(|i| sup[i].max(size(&mut a.iter().copied())[i]));
                for b in &all {
                    let apart = size(&mut a.iter().zip(b).map(|(a, b)| a - b));
                    diam = std::array::from_fn(|i| diam[i].max(apart[i]));
                }
            }
            for (seen, bound) in [(sup, found.sup), (diam, found.diam)] {
                let bound = [bound.l1, bound.l2, bound.linf];
                for i in 0..3 {
                    assert!(seen[i] <= bound[i] && seen[i] > 0.85 * bound[i], "{d} norm {i}: {} of {}", seen[i], bound[i]);
                }
            }
        }
    }

    #[test]
    fn one_hot_levels_cost_as_one() {
        let hot = VectorType { sup: Norms { l1: 1.0, l2: 1.0, linf: 1.0 }, ..boxed(5, Range::UNIT, None) };
        assert!(norms(&hot).diam.l2 < 2.0 + 1e-12);
        let beside = VectorType { sup: append(hot.sup, Norms::scalar(1.0)), ..boxed(6, Range::new(-1.0, 1.0), None) };
        assert!(norms(&beside).diam.l2 < 3.0 + 1e-9);
    }
}
