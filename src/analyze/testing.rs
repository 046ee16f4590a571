//! Small programs built by hand for tests.

use std::sync::Arc;

use crate::model::*;
use crate::source::{FileId, Span};

pub fn span(start: usize, end: usize) -> Span {
    Span::new(FileId(0), start, end)
}

pub fn expr(kind: ExprKind, ty: Type, label: Label) -> Expr {
    Expr { kind, ty, label, span: span(0, 0) }
}

/// One private table `t` with a bool `y`, a real `x` in [0, 10] and a category `g` of 3 levels.
pub fn table(relation: Relation, at_least: u64) -> Table {
    let column = |name: &str, ty| Column {
        name: name.into(),
        headers: vec![name.into()],
        public: false,
        ty,
        missing: vec![],
        view: None,
        span: span(0, 0),
    };
    Table {
        name: "t".into(),
        private: true,
        relation,
        count_name: Some("n".into()),
        rows: RowCount { at_least, exactly: None },
        unit: None,
        order: None,
        columns: vec![column("y", Type::Bool), column("x", Type::real(0.0, 10.0)), column("g", Type::Category(levels()))],
        span: span(0, 0),
        rows_span: span(0, 0),
    }
}

pub fn levels() -> Levels {
    Arc::new(vec!["a".into(), "b".into(), "c".into()])
}

pub fn row(table: usize, column: usize, ty: Type) -> Expr {
    let t = TableId(table);
    expr(ExprKind::Column(t, ColumnId(column)), ty, Label::Row(t))
}

/// `sum(x)` of table `table`, sensitivity 10 under replacement and under addition.
pub fn sum_query(table: usize) -> AggregateQuery {
    let t = TableId(table);
    let x = row(table, 1, Type::real(0.0, 10.0));
    AggregateQuery {
        table: t,
        value: expr(ExprKind::Call(Builtin::RowSum, vec![x]), Type::Real(Range::ALL), Label::Aggregate(t)),
        sensitivity: Norms::scalar(10.0),
        records: Records { table: t, relation: Relation::ReplaceOne, unit_rows: 1, rows: RowCount { at_least: 1, exactly: None } },
    }
}

pub fn release(id: usize, spend: Option<SpendKind>) -> Step {
    Step::Release(release_of(id, 0, MechanismKind::Auto, spend))
}

pub fn release_of(id: usize, table: usize, kind: MechanismKind, spend: Option<SpendKind>) -> ReleaseStep {
    ReleaseStep {
        id: ReleaseId(id),
        name: format!("x{id}"),
        query: Query::Aggregate(sum_query(table)),
        query_span: span(0, 0),
        mechanism: MechanismChoice { kind, assuming_convergence: false, span: None },
        spend: spend.map(|kind| Spend { kind, span: span(10 * id, 10 * id + 5) }),
        ty: Type::Real(Range::ALL),
        span: span(0, 0),
    }
}

pub fn when(then: Vec<Step>, otherwise: Vec<Step>) -> Step {
    Step::When { condition: expr(ExprKind::Bool(true), Type::Bool, Label::Public), then, otherwise, span: span(0, 0) }
}

pub fn each(table: usize, public_key: bool, body: Vec<Step>) -> Step {
    Step::Each(Each { table: TableId(table), key: ColumnId(2), levels: levels(), public_key, body, span: span(0, 0) })
}

pub fn program(budget: Option<BudgetKind>, steps: Vec<Step>) -> Program {
    Program {
        places: vec![],
        derived: vec![],
        records: vec![],
        designs: vec![],
        released: vec![],
        tables: vec![table(Relation::ReplaceOne, 1), table(Relation::ReplaceOne, 1)],
        scalars: vec![],
        budget: budget.map(|kind| Budget { kind, span: span(100, 110) }),
        steps,
    }
}

/// `got` is `want` up to rounding up.
#[track_caller]
pub fn assert_up(got: f64, want: f64) {
    assert!(got >= want && got <= want * (1.0 + 1e-12), "{got}, not {want}");
}
