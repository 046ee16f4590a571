//! Tables of counts: the cells of a histogram by one axis or several, one cell of it, and its margins.

use super::expressions::{node, number, some};
use super::messages::type_text;
use super::{Checked, Checker, vectors};
use crate::model::bins;
use crate::model::{Axes, Axis, Builtin, Expr, ExprKind, Label, Levels, Range, TableId, Type};
use crate::source::{Diagnostic, Help, Span};
use crate::syntax::ast;
use std::sync::Arc;

/// The most bins of the histograms of a program, levels of categories aside: each of them has a name.
const MAX_BINS: u64 = 1_000_000;

impl Checker<'_> {
    /// `histogram(region, vote)`: how many rows there are in each cell, the last axis fastest.
    pub(super) fn histogram(&mut self, t: TableId, args: Vec<Expr>, label: Label, span: Span) -> Checked<Expr> {
        let mut axes = vec![];
        for x in &args {
            let public = self.neighbours_agree(t, std::slice::from_ref(x));
            let (x, edges) = binned(x);
            let levels = if edges.is_empty() { self.bins_of(x)? } else { self.listed(bins::names(&x.ty, &bins::ends(&x.ty, &edges))) };
            axes.push(Axis { name: self.axis_name(x, axes.len()), ty: x.ty.clone(), levels, public, edges, sums: vec![] });
        }
        if let Some((i, twice)) = axes.iter().enumerate().find(|(i, a)| axes.iter().take(*i).any(|b| b.name == a.name)) {
            let d = Diagnostic::new("E0207", format!("two axes are named `{}`", twice.name));
            return self.fail(d.label(args.get(i).map_or(span, |x| x.span), "the second one").help("count by each column once"));
        }
        let levels = self.cells(&axes, span)?;
        let ty = vectors::boxed(levels.len() as u64, Range::new(0.0, f64::INFINITY), Some(levels.clone()));
        let value = match args.as_slice() {
            [_] => args,
            [first, ..] => vec![node(ExprKind::Call(Builtin::Cell, args.clone()), Type::Category(levels), first.label, span)],
            [] => return self.fail(self.arity("`histogram`", "histogram(category), histogram(region, vote)", span)),
        };
        let ty = Type::Vector(crate::model::VectorType { axes: Some(Arc::new(axes)), ..ty });
        Ok(node(ExprKind::Call(Builtin::RowHistogram, value), ty, label, span))
    }

    /// The finitely many values of a row expression, by name.
    pub(super) fn bins_of(&mut self, x: &Expr) -> Checked<Levels> {
        match &x.ty {
            Type::Category(levels) => Ok(levels.clone()),
            Type::Bool => Ok(self.listed(vec!["false".into(), "true".into()])),
            Type::Int(r) if r.is_finite() && r.hi - r.lo < super::types::MAX_DIM as f64 => self.numbered(r.lo as i64, r.hi as i64, x.span),
            other => {
                let what = type_text(other);
                let d = Diagnostic::new("E0202", "a histogram needs public bins").label(x.span, what);
                self.fail(match tenth(other) {
                    Some(w) => {
                        let bin = format!("bin({}, width = {})", self.written(x.span), super::messages::plain(w));
                        d.help(Help::from(("count it in bins:", bin)).over(x.span))
                    }
                    None if matches!(other, Type::Date(_)) => {
                        let (x, x_span) = (self.written(x.span), x.span);
                        d.help(
                            Help::from(("count by what a calendar says:", format!("histogram(year({x}), month({x}))")))
                                .edit(x_span, format!("year({x}), month({x})")),
                        )
                    }
                    None => d.help("a category, a bool, a number with both bounds: int in 0..120, or bin(..) of a real in [0, 120]"),
                })
            }
        }
    }

    /// `bin(x, width = 18)`, `bin(x, [18, 65])`: the place of a number among ordered bins, as an argument of `histogram`.
    pub(super) fn bin(&mut self, args: &[ast::Arg], span: Span) -> Checked<Expr> {
        const SIGNATURE: &str = "bin(age, width = 18), or bin(age, [18, 65])";
        let [of, by] = args else { return self.fail(self.arity("`bin`", SIGNATURE, span)) };
        let x = self.expr(&of.value)?;
        let range = x.ty.range().filter(|r| r.is_finite() && matches!(x.ty, Type::Int(_) | Type::Real(_)));
        let (Some(range), Label::Row(_)) = (range, x.label) else {
            let (what, x) = (type_text(&x.ty), self.written(x.span));
            let d = Diagnostic::new("E0202", "`bin` needs a number of every row with public bounds").label(of.span, what);
            return self.fail(
                d.help(("declare bounds:", format!("{x}: real in [0, 100]")))
                    .help(Help::from(("or clip:", format!("clip({x}, 0, 100)"))).over(of.span)),
            );
        };
        let whole = matches!(x.ty, Type::Int(_));
        let edges = match (&by.name, &by.value.kind) {
            (Some(n), _) if n.value == "width" => self.edges_by_width(&x, range, &by.value)?,
            (None, ast::ExprKind::List(items)) => {
                items.iter().map(|e| self.public_constant(e, "an edge of a bin")).collect::<Checked<Vec<f64>>>()?
            }
            _ => {
                let d = Diagnostic::new("E0208", "wrong arguments for `bin`").label(span, "wrong number or names of arguments");
                let (x, by) = (self.written(of.value.span), self.written(by.value.span));
                let width = Help::from(("bins of this width:", format!("bin({x}, width = {by})"))).over(span);
                let edge = Help::from(("or two bins, apart there:", format!("bin({x}, [{by}])"))).over(span);
                return self.fail(d.help(width).help(edge));
            }
        };
        let mut right = edges.clone();
        right.sort_by(f64::total_cmp);
        right.dedup();
        right.retain(|e| *e > range.lo && (*e < range.hi || (whole && *e == range.hi)) && (e.fract() == 0.0 || !whole));
        if edges.is_empty() || edges != right {
            let d = Diagnostic::new("E0203", "bin edges must increase and lie within the bounds of what is counted");
            let d = d.label(by.value.span, "the edges between bins").label(x.span, type_text(&x.ty));
            if right.is_empty() {
                right.push((0.5 * (range.lo + range.hi)).ceil().min(if whole { range.hi } else { 0.5 * (range.lo + range.hi) }));
            }
            let right: Vec<String> = right.into_iter().map(super::messages::plain).collect();
            let help = Help::from(format!("[{}]", right.join(", "))).over(by.value.span);
            return self.fail(d.cause("the first bin begins at the lower bound and the last one ends at the upper").help(help));
        }
        self.more_bins(edges.len() as u64 + 1, span, SIGNATURE)?;
        let (label, ty) = (x.label, Type::Int(Range::new(0.0, edges.len() as f64)));
        Ok(in_bin(x, &edges, ty, label, span))
    }

    fn edges_by_width(&mut self, x: &Expr, range: Range, width: &ast::Expr) -> Checked<Vec<f64>> {
        let whole = matches!(x.ty, Type::Int(_));
        let all = range.width() + if whole { 1.0 } else { 0.0 };
        let w = self.public_constant(width, "the width of a bin")?;
        if !(w > 0.0 && w < all) || (whole && w.fract() != 0.0) {
            let d = Diagnostic::new("E0203", format!("no bins of this width fit into {}", type_text(&x.ty)));
            let of = if whole { "a whole number" } else { "a number" };
            let d = d.label(width.span, format!("{of} above 0 and below {}", super::messages::plain(all)));
            let help = Help::from(super::messages::plain(tenth(&x.ty).unwrap_or(w))).over(width.span);
            return self.fail(if whole && all < 2.0 { d } else { d.help(help) });
        }
        let Some(mut edges) = bins::edges(range, w, MAX_BINS) else {
            let help = format!("width = {}", super::messages::plain(tenth(&x.ty).unwrap_or(w)));
            return self.more_bins(MAX_BINS + 1, width.span, &help).and(Err(super::Stop));
        };
        // A last bin of one whole number begins at the upper bound.
        if whole && edges.last().copied().unwrap_or(range.lo) + w == range.hi {
            edges.push(range.hi);
        }
        Ok(edges)
    }

    /// The whole numbers of a histogram as levels.
    fn numbered(&mut self, lo: i64, hi: i64, span: Span) -> Checked<Levels> {
        if let Some(known) = self.numbered.get(&(lo, hi)) {
            return Ok(known.clone());
        }
        let (of, wide) = (self.map.slice(span), (hi - lo) / 1000 + 1);
        self.more_bins((hi - lo + 1).unsigned_abs(), span, &format!("make them wider:   histogram(floor({of} / {wide}))"))?;
        let levels = self.listed((lo..=hi).map(|i| i.to_string()).collect());
        self.numbered.insert((lo, hi), levels.clone());
        Ok(levels)
    }

    pub(super) fn more_bins(&mut self, more: u64, span: Span, help: &str) -> Checked<()> {
        let before = self.bins;
        self.bins = before.saturating_add(more);
        match self.bins > MAX_BINS {
            false => Ok(()),
            // One cause, one complaint.
            true if before > MAX_BINS => Err(super::Stop),
            true => self.fail(
                Diagnostic::new("E0025", format!("the histograms of a program have at most {MAX_BINS} bins in all"))
                    .label(span, format!("{more} more"))
                    .help(help),
            ),
        }
    }

    /// Every combination of levels, by name.
    pub(super) fn cells(&mut self, axes: &[Axis], span: Span) -> Checked<Levels> {
        if let [one] = axes {
            return Ok(one.levels.clone());
        }
        let count = axes.iter().fold(1u64, |n, a| n.saturating_mul(a.levels.len() as u64));
        self.more_bins(count, span, "count by fewer columns, or by wider bins")?;
        let mut names = vec![String::new()];
        for (i, axis) in axes.iter().enumerate() {
            let between = if i == 0 { "" } else { ", " };
            names = names.iter().flat_map(|before| axis.levels.iter().map(move |l| format!("{before}{between}{l}"))).collect();
        }
        Ok(self.listed(names))
    }

    fn axis_name(&self, x: &Expr, place: usize) -> String {
        match x.kind {
            ExprKind::Column(t, c) => self.column(t, c).map(|c| match c.view.and_then(|(of, view)| Some((self.column(t, of)?, view))) {
                Some((of, view)) => format!("{}_{}", view.word(), of.name),
                None => c.name.clone(),
            }),
            _ => Some(self.map.slice(x.span).to_owned()).filter(|text| crate::syntax::tokens::is_name(text)),
        }
        .unwrap_or_else(|| format!("axis {}", place + 1))
    }

    /// `cells[north, true]`: one level for each axis.
    pub(super) fn cell_of(&mut self, base: Expr, axes: &Axes, indices: &[ast::Expr], span: Span) -> Checked<Expr> {
        if indices.len() != axes.len() {
            let listed = some(axes.iter().map(|a| a.name.as_str()));
            let first = axes.iter().filter_map(|a| a.levels.first().map(String::as_str));
            let written = self.written(base.span);
            let d = Diagnostic::new("E0201", format!("one cell has a level for each of {} axes", axes.len()));
            return self.fail(d.label(span, format!("axes: {listed}")).help(Help::from(format!("{written}[{}]", some(first))).over(span)));
        }
        if matches!(base.kind, ExprKind::Param(_)) || self.averaged_draws(&base) {
            return self.component_of(base, axes, indices, span);
        }
        let mut cell = 0;
        for (axis, index) in axes.iter().zip(indices) {
            let level = match &index.kind {
                ast::ExprKind::Name(text) | ast::ExprKind::Text(text) | ast::ExprKind::Number(_, text) => text.as_str(),
                ast::ExprKind::Bool(true) => "true",
                ast::ExprKind::Bool(false) => "false",
                _ => self.map.slice(index.span),
            };
            // A number names the bin that it is in.
            let found = level.parse::<f64>().ok().and_then(|x| axis.place(x));
            let i = match found {
                Some(i) => i,
                None => {
                    let ExprKind::Level(i) = self.level(level, &axis.levels, index.span)?.kind else { continue };
                    i
                }
            };
            cell = cell * axis.levels.len() + i;
        }
        let (levels, range) = (base.ty.levels().cloned().unwrap_or_default(), base.ty.range().unwrap_or(Range::ALL));
        let index = node(ExprKind::Level(cell), Type::Category(levels), Label::Public, span);
        let label = base.label;
        Ok(node(ExprKind::Index(Box::new(base), Box::new(index)), Type::Real(range), label, span))
    }

    /// `u[region, age]` of a parameter, or of every draw where they are averaged over a table: a level for each axis, or a value of every row.
    fn component_of(&mut self, base: Expr, axes: &Axes, indices: &[ast::Expr], span: Span) -> Checked<Expr> {
        let mut values = vec![];
        for (axis, index) in axes.iter().zip(indices) {
            let level = match &index.kind {
                ast::ExprKind::Name(n) | ast::ExprKind::Text(n) => axis.levels.iter().position(|l| l == n),
                _ => None,
            };
            let value = match (level, &axis.ty) {
                (Some(i), Type::Category(_)) => node(ExprKind::Level(i), axis.ty.clone(), Label::Public, index.span),
                _ => self.expr(index)?,
            };
            let known = value.constant().filter(|x| axis.ty.range().is_some_and(|r| r.contains(*x) && x.fract() == 0.0));
            if value.ty != axis.ty && known.is_none() {
                let d = Diagnostic::new("E0201", format!("this is not a level of the axis `{}`", axis.name));
                return self.fail(d.label(value.span, type_text(&value.ty)).label(base.span, format!("there: {}", type_text(&axis.ty))));
            }
            values.push(Expr { ty: axis.ty.clone(), ..value });
        }
        let label = self.join_all(&values, span)?;
        let (levels, range) = (base.ty.levels().cloned().unwrap_or_default(), base.ty.range().unwrap_or(Range::ALL));
        let place = |(axis, e): (&Axis, &Expr)| match e.kind {
            ExprKind::Level(i) => Some(i),
            _ => e.constant().map(|x| (x - axis.ty.range().map_or(0.0, |r| r.lo)) as usize),
        };
        let known = axes.iter().zip(&values).try_fold(0, |cell, (axis, e)| Some(cell * axis.levels.len() + place((axis, e))?));
        let kind = known.map_or(ExprKind::Call(Builtin::Cell, values), ExprKind::Level);
        let index = node(kind, Type::Category(levels), label, span);
        let label = self.join_all(&[base.clone(), index.clone()], span)?;
        Ok(node(ExprKind::Index(Box::new(base), Box::new(index)), Type::Real(range), label, span))
    }

    /// `margin(cells, region)`: the counts, or sums, by the named axes alone.
    pub(super) fn margin(&mut self, args: &[ast::Arg], span: Span) -> Checked<Expr> {
        const SIGNATURE: &str = "margin(cells, region)";
        let [of, kept @ ..] = args else { return self.fail(self.arity("`margin`", SIGNATURE, span)) };
        let of = self.expr(&of.value)?;
        let (Type::Vector(v), Label::Public) = (&of.ty, of.label) else {
            let d = Diagnostic::new("E0209", "`margin` needs a released table of counts").label(of.span, type_text(&of.ty));
            return self.fail(d.help("release cells = histogram(region, vote)").help(("", "output by_region = margin(cells, region)")));
        };
        let Some(axes) = v.axes.clone() else {
            let d = Diagnostic::new("E0209", "`margin` needs a table of counts").label(of.span, type_text(&of.ty));
            return self.fail(d.help(SIGNATURE));
        };
        // Sums of different columns are not added up: their axis stays, and has no name here.
        let summed = axes.iter().enumerate().find(|(_, a)| !a.sums.is_empty());
        let named: Vec<(usize, &Axis)> = axes.iter().enumerate().filter(|(_, a)| a.sums.is_empty()).collect();
        let range = v.range;
        let (mut parts, mut left) = (vec![of.clone()], vec![]);
        for arg in kept {
            let at = named.iter().find(|(_, a)| matches!(&arg.value.kind, ast::ExprKind::Name(n) if *n == a.name));
            let Some((i, axis)) = at.copied().filter(|(i, _)| parts.iter().skip(1).all(|p| p.constant() != Some(*i as f64))) else {
                let names = some(named.iter().map(|(_, a)| a.name.as_str()));
                let d = Diagnostic::new("E0206", "this is not one of the remaining axes").label(arg.span, format!("axes: {names}"));
                let free = |i: &usize| parts.iter().skip(1).all(|p| p.constant() != Some(*i as f64));
                let left = named.iter().find(|(i, _)| free(i)).map(|(_, a)| a.name.clone());
                return self.fail(d.helps(left.map(|name| Help::from(("an axis that is left:", name)).over(arg.span))));
            };
            parts.push(number(i as f64, arg.span));
            left.push(axis.clone());
        }
        if left.is_empty() {
            let d = self.arity("`margin`", SIGNATURE, span);
            return self.fail(if summed.is_none() { d.help("all cells together: sum(cells)") } else { d });
        }
        if let Some((i, axis)) = summed {
            parts.push(number(i as f64, span));
            left.push(axis.clone());
        }
        let levels = self.cells(&left, span)?;
        let range = Range::new(if range.lo < 0.0 { f64::NEG_INFINITY } else { 0.0 }, f64::INFINITY);
        let ty = vectors::boxed(levels.len() as u64, range, Some(levels));
        let ty = Type::Vector(crate::model::VectorType { axes: Some(Arc::new(left)), ..ty });
        Ok(node(ExprKind::Call(Builtin::Margin, parts), ty, Label::Public, span))
    }
}

/// A width of ten bins or so, in two digits.
fn tenth(ty: &Type) -> Option<f64> {
    let width = match ty {
        Type::Int(r) => (r.width() / 10.0).ceil(),
        Type::Real(r) => format!("{:.1e}", r.width() / 10.0).parse().ok()?,
        _ => return None,
    };
    (width.is_finite() && width > 0.0).then_some(width)
}

/// The bin of a number.
pub(super) fn in_bin(x: Expr, edges: &[f64], ty: Type, label: Label, span: Span) -> Expr {
    let listed = edges.iter().map(|e| number(*e, span)).collect();
    let list = node(ExprKind::List(listed), Type::Vector(vectors::boxed(edges.len() as u64, Range::ALL, None)), Label::Public, span);
    node(ExprKind::Call(Builtin::Bin, vec![x, list]), ty, label, span)
}

/// What is counted, and the edges of its bins, if it is in bins.
fn binned(x: &Expr) -> (&Expr, Vec<f64>) {
    match &x.kind {
        ExprKind::Call(Builtin::Bin, parts) => match parts.as_slice() {
            [of, Expr { kind: ExprKind::List(edges), .. }] => (of, edges.iter().filter_map(Expr::constant).collect()),
            _ => (x, vec![]),
        },
        _ => (x, vec![]),
    }
}
