//! Tables of counts: the cells of a histogram by one axis or several, one cell of it, and its margins.

use super::expressions::{node, number, some};
use super::messages::type_text;
use super::{Checked, Checker, vectors};
use crate::model::{Axes, Axis, Builtin, Expr, ExprKind, Label, Levels, Range, TableId, Type};
use crate::source::{Diagnostic, Span};
use crate::syntax::ast;
use std::sync::Arc;

/// The most bins of the histograms of a program, levels of categories aside: each of them has a name.
const MAX_BINS: u64 = 1_000_000;

impl Checker<'_> {
    /// `histogram(region, vote)`: how many rows there are in each cell, the last axis fastest.
    pub(super) fn histogram(&mut self, t: TableId, args: Vec<Expr>, label: Label, span: Span) -> Checked<Expr> {
        let mut axes = vec![];
        for x in &args {
            let levels = self.bins_of(x)?;
            let public = self.neighbours_agree(t, std::slice::from_ref(x));
            axes.push(Axis { name: self.axis_name(x, axes.len()), ty: x.ty.clone(), levels, public });
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
    fn bins_of(&mut self, x: &Expr) -> Checked<Levels> {
        match &x.ty {
            Type::Category(levels) => Ok(levels.clone()),
            Type::Bool => Ok(self.listed(vec!["false".into(), "true".into()])),
            Type::Int(r) if r.is_finite() && r.hi - r.lo < super::types::MAX_DIM as f64 => self.numbered(r.lo as i64, r.hi as i64, x.span),
            other => {
                let what = type_text(other);
                self.fail(
                    Diagnostic::new("E0202", "a histogram needs public bins")
                        .label(x.span, what)
                        .help("a category, a bool, or an int with both bounds: int in 0..120"),
                )
            }
        }
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

    fn more_bins(&mut self, more: u64, span: Span, help: &str) -> Checked<()> {
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
            ExprKind::Column(t, c) => self.column(t, c).map(|c| c.name.clone()),
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
            return self.fail(d.label(span, format!("axes: {listed}")).help(format!("{written}[{}]", some(first))));
        }
        let mut cell = 0;
        for (axis, index) in axes.iter().zip(indices) {
            let level = match &index.kind {
                ast::ExprKind::Name(text) | ast::ExprKind::Text(text) | ast::ExprKind::Number(_, text) => text.as_str(),
                ast::ExprKind::Bool(true) => "true",
                ast::ExprKind::Bool(false) => "false",
                _ => self.map.slice(index.span),
            };
            let ExprKind::Level(i) = self.level(level, &axis.levels, index.span)?.kind else { continue };
            cell = cell * axis.levels.len() + i;
        }
        let (levels, range) = (base.ty.levels().cloned().unwrap_or_default(), base.ty.range().unwrap_or(Range::ALL));
        let index = node(ExprKind::Level(cell), Type::Category(levels), Label::Public, span);
        let label = base.label;
        Ok(node(ExprKind::Index(Box::new(base), Box::new(index)), Type::Real(range), label, span))
    }

    /// `margin(cells, region)`: the counts by the named axes alone.
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
        let range = v.range;
        let (mut parts, mut left) = (vec![of.clone()], vec![]);
        for arg in kept {
            let at = axes.iter().enumerate().find(|(_, a)| matches!(&arg.value.kind, ast::ExprKind::Name(n) if *n == a.name));
            let Some((i, axis)) = at.filter(|(i, _)| parts.iter().skip(1).all(|p| p.constant() != Some(*i as f64))) else {
                let names = some(axes.iter().map(|a| a.name.as_str()));
                let d = Diagnostic::new("E0206", "this is not an axis that is left").label(arg.span, format!("axes: {names}"));
                return self.fail(d.help(SIGNATURE));
            };
            parts.push(number(i as f64, arg.span));
            left.push(axis.clone());
        }
        if left.is_empty() {
            return self.fail(self.arity("`margin`", SIGNATURE, span).help("all cells together: sum(cells)"));
        }
        let levels = self.cells(&left, span)?;
        let range = Range::new(if range.lo < 0.0 { f64::NEG_INFINITY } else { 0.0 }, f64::INFINITY);
        let ty = vectors::boxed(levels.len() as u64, range, Some(levels));
        let ty = Type::Vector(crate::model::VectorType { axes: Some(Arc::new(left)), ..ty });
        Ok(node(ExprKind::Call(Builtin::Margin, parts), ty, Label::Public, span))
    }
}
