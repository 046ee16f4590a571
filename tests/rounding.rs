//! Programs whose numbers or queries the runtime could not follow: refused before any data is read.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use dpm::check::NoFiles;
use dpm::data::eval::{NoEnvironment, compile};
use dpm::model::{Builtin, Expr, ExprKind, Label, Relation, RowCount, Table, TableId, Type};
use dpm::pipeline;
use dpm::run::Bound;
use dpm::source::{FileId, Span};

/// The codes of the errors of a program.
fn errors(lines: &str) -> Vec<&'static str> {
    let text = format!("budget zcdp(1)\nprivate t[n >= 100] {{ x: real in [0, 10], k: int in 0..3 }}\n{lines}\n");
    let checked = pipeline::check("a.dpm", &text, &NoFiles);
    let (_, found) = pipeline::analyze(&checked, &Bound::default(), false);
    found.iter().filter(|d| d.is_error()).map(|d| d.code).collect()
}

#[test]
fn a_released_quantile_has_the_ends_named_for_it() {
    let quantile = |ends: &str| {
        errors(&format!(
            "release q = quantile(x, 0.5) using exponential(eps = 0.5, points = 64, {ends})\nrelease b = sum(x / q) using laplace"
        ))
    };
    assert_eq!(quantile("lo = 1, hi = 5"), Vec::<&str>::new());
    assert!(!quantile("lo = -5, hi = 5").is_empty());
}

#[test]
fn what_no_mechanism_computes_is_refused() {
    for using in ["", " using gaussian", " using laplace"] {
        for query in ["max(x)", "min(x)", "max(histogram(k))", "sum(histogram(k))", "clip(max(x) + sum(x), 0, 10)"] {
            assert_eq!(errors(&format!("release a = {query}{using}")), ["E0300"], "{query}{using}");
        }
        assert_eq!(errors(&format!("release a = clip(sum(x) + 2 * mean(x), 0, 10){using}")), Vec::<&str>::new());
    }
}

#[test]
fn noise_has_a_grid() {
    for using in ["gaussian(sigma = 1e-250)", "gaussian(1e250)", "laplace(scale = 1e-250)", "laplace(1e250)"] {
        assert_eq!(errors(&format!("release a = sum(x) using {using}")), ["E0203"], "{using}");
    }
}

#[test]
fn clip_prefers_its_lower_bound() {
    let span = Span::new(FileId(0), 0, 1);
    let number = |x: f64| Expr { kind: ExprKind::Number(x), ty: Type::real(x, x), label: Label::Public, span };
    let table = Table {
        name: "t".into(),
        private: true,
        relation: Relation::ReplaceOne,
        count_name: None,
        rows: RowCount { at_least: 0, exactly: None },
        unit: None,
        columns: vec![],
        span,
        rows_span: span,
    };
    let kind = ExprKind::Call(Builtin::Clip, vec![number(5.0), number(3.0), number(1.0)]);
    let clip = Expr { kind, ty: Type::real(0.0, 10.0), label: Label::Row(TableId(0)), span };
    let mut out = vec![];
    compile(&clip, TableId(0), &table, &NoEnvironment).unwrap().run(&[], &mut out);
    assert_eq!(out, [3.0]);
}
