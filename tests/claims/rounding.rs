//! Programs whose numbers or queries the runtime could not follow: refused before any data is read.

use dpm::check::NoFiles;
use dpm::data::eval::{NoEnvironment, compile};
use dpm::model::{Builtin, Expr, ExprKind, Label, Norms, Range, Relation, RowCount, Table, TableId, Type, VectorType};
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
        errors(&format!("release q = quantile(x, 0.5) using exponential(eps = 0.5, {ends})\nrelease b = sum(x / q) using laplace"))
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

/// A table without columns.
fn place() -> (Table, Span) {
    let span = Span::new(FileId(0), 0, 1);
    let rows = RowCount { at_least: 0, exactly: None };
    let (name, relation) = ("t".to_owned(), Relation::ReplaceOne);
    (Table { name, private: true, relation, count_name: None, rows, unit: None, order: None, columns: vec![], span, rows_span: span }, span)
}

fn number(x: f64, span: Span) -> Expr {
    Expr { kind: ExprKind::Number(x), ty: Type::real(x, x), label: Label::Public, span }
}

fn value(e: &Expr, table: &Table) -> Vec<f64> {
    let mut out = vec![];
    compile(e, TableId(0), table, &NoEnvironment).unwrap().row(&[], &mut out);
    out
}

#[test]
fn clip_prefers_its_lower_bound() {
    let (table, span) = place();
    let kind = ExprKind::Call(Builtin::Clip, [5.0, 3.0, 1.0].map(|x| number(x, span)).to_vec());
    let clip = Expr { kind, ty: Type::real(0.0, 10.0), label: Label::Row(TableId(0)), span };
    assert_eq!(value(&clip, &table), [3.0]);
}

/// Seven times 1.617 is rounded to less than the sum of seven: inside a list, whose range is wider, an inner product stays in its own.
#[test]
fn an_inner_product_in_a_list_stays_in_its_range() {
    let (table, span) = place();
    let vector = |dim: u64, lo: f64, hi: f64| {
        Type::Vector(VectorType {
            dim,
            range: Range::new(lo, hi),
            sup: Norms::INFINITE,
            diam: Norms::INFINITE,
            levels: None,
            axes: None,
            ordered: false,
        })
    };
    let row = |kind: ExprKind, ty: Type| Expr { kind, ty, label: Label::Row(TableId(0)), span };
    let seven = |x: f64| row(ExprKind::List(vec![number(x, span); 7]), vector(7, 0.0, x));
    let most = 7.0 * 1.617;
    assert!((0..7).map(|_| 1.617).sum::<f64>() > most);
    let dot = row(ExprKind::Call(Builtin::Dot, vec![seven(1.0), seven(1.617)]), Type::real(0.0, most));
    let list = row(ExprKind::List(vec![dot, number(100.0, span)]), vector(2, 0.0, 100.0));
    assert_eq!(value(&list, &table), [most, 100.0]);
}
