//! A table, a plan and a run in a few words, for the tests of private files.

use dpm::data::eval::NoEnvironment;
use dpm::data::{DataError, Source, scan};
use dpm::mechanism::plan::{MechanismPlan, Noise};
use dpm::mechanism::{BitSource, MechanismError, Released, Scope, execute, prepare};
use dpm::model::{Builtin, Column, ColumnId, Expr, ExprKind, Label, Range, Relation, RowCount, Table, TableId, Type};
use dpm::source::{FileId, Span};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

pub const T: TableId = TableId(0);

pub struct Seeded(ChaCha20Rng);

impl Seeded {
    pub fn new() -> Seeded {
        Seeded(ChaCha20Rng::seed_from_u64(5))
    }
}

impl BitSource for Seeded {
    fn word(&mut self) -> Result<u64, MechanismError> {
        Ok(self.0.next_u64())
    }

    fn bit(&mut self) -> Result<bool, MechanismError> {
        Ok(self.0.next_u32() & 1 == 1)
    }
}

pub fn span() -> Span {
    Span { file: FileId(0), start: 0, end: 0 }
}

pub fn table(columns: &[(&str, Type)]) -> Table {
    Table {
        name: "staff".into(),
        private: true,
        relation: Relation::ReplaceOne,
        count_name: Some("n".into()),
        rows: RowCount { at_least: 0, exactly: None },
        unit: None,
        order: None,
        columns: columns
            .iter()
            .map(|(name, ty)| Column {
                name: (*name).into(),
                headers: match ty {
                    Type::Vector(v) => (1..=v.dim).map(|i| format!("{name}_{i}")).collect(),
                    _ => vec![(*name).into()],
                },
                public: false,
                ty: ty.clone(),
                missing: vec![],
                view: None,
                span: span(),
            })
            .collect(),
        span: span(),
        rows_span: span(),
    }
}

pub fn column(table: &Table, index: usize) -> Expr {
    Expr { kind: ExprKind::Column(T, ColumnId(index)), ty: table.columns[index].ty.clone(), label: Label::Row(T), span: span() }
}

pub fn call(f: Builtin, args: Vec<Expr>, ty: Type, label: Label) -> Expr {
    Expr { kind: ExprKind::Call(f, args), ty, label, span: span() }
}

pub fn number(x: f64) -> Expr {
    Expr { kind: ExprKind::Number(x), ty: Type::Real(Range::point(x)), label: Label::Public, span: span() }
}

pub fn sum_of(value: Expr) -> Expr {
    call(Builtin::RowSum, vec![value], Type::Real(Range::ALL), Label::Aggregate(T))
}

/// Laplace noise with a scale so small that the rounded release is the exact value in 2^-30 places or so.
pub fn nearly_exact(value: Expr) -> MechanismPlan {
    MechanismPlan::Noise { table: T, value, noise: Noise::Laplace { scale: 1e-12 } }
}

pub fn run(plan: &MechanismPlan, table: &Table, file: &[u8], group: Option<(ColumnId, usize)>) -> Result<Vec<Released>, DataError> {
    let scope = Scope { table, group, env: &NoEnvironment };
    let job = prepare(plan, &scope).unwrap();
    let source = Source::stored(std::io::Cursor::new(file.to_vec()), false)?;
    let measured = scan(table, source, &[job])?;
    let mut bits = Seeded::new();
    Ok(execute(plan, &scope, &measured[0], &mut bits).unwrap())
}

/// The exact sum of a column, read off a release with negligible noise.
pub fn total(table: &Table, index: usize, file: &[u8]) -> f64 {
    let value = sum_of(column(table, index));
    run(&nearly_exact(value), table, file, None).unwrap()[0].to_f64()[0]
}

pub fn same(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-6
}
