//! Public data as the analysis sees them: totals of public rows, values of public scalars.

use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::mechanism::plan::Statistic;
use crate::model::{Builtin, Expr, ExprKind, Model, Program, Query, Range, Scalar, ScalarId, Step, Type};
use crate::rules::{Design, Features, PublicTotals, Totals, features, public_statistics};

/// What is bound with `--public`. A certificate is final once every public table it reads is bound.
pub trait PublicData {
    /// Sums over the rows of a bound public table; `None` where it is not bound.
    fn totals(&self, statistic: &Statistic) -> Option<Totals>;
    /// The products of the features of a private table whose public columns are bound.
    fn design(&self, _wanted: &Features) -> Option<Design> {
        None
    }
    /// The value of a bound public scalar.
    fn scalars(&self) -> &BTreeMap<ScalarId, f64>;
    /// SHA-256 of the rows of a bound public table, in hexadecimal digits; of a record where it is stated and not read.
    fn digest(&self, _name: &str) -> Option<String> {
        None
    }
}

/// Nothing is bound.
#[derive(Clone, Debug, Default)]
pub struct Unbound {
    scalars: BTreeMap<ScalarId, f64>,
}

impl PublicData for Unbound {
    fn totals(&self, _: &Statistic) -> Option<Totals> {
        None
    }
    fn scalars(&self) -> &BTreeMap<ScalarId, f64> {
        &self.scalars
    }
}

/// Public data as a certificate states them.
#[derive(Default)]
pub struct Stated {
    scalars: BTreeMap<ScalarId, f64>,
    totals: Vec<(Statistic, Totals)>,
    digests: BTreeMap<String, String>,
    /// Designs are not believed: they are computed from the files once more.
    files: Option<Box<dyn PublicData>>,
}

impl Stated {
    /// `totals` holds, release by release, what is known of each public observation; `digests` those of public tables and records.
    pub fn new(
        program: &Program,
        scalars: BTreeMap<ScalarId, f64>,
        totals: &[Vec<Option<Totals>>],
        digests: BTreeMap<String, String>,
    ) -> Stated {
        let mut stated = Stated { scalars, totals: vec![], digests, files: None };
        let bound = bind(program, &stated).into_owned();
        for (release, known) in crate::model::releases(&bound.steps).iter().zip(totals) {
            let Query::Posterior(model) = &release.query else { continue };
            let both = public_statistics(model).into_iter().zip(known.iter().cloned());
            stated.totals.extend(both.filter_map(|(s, t)| Some((s?, t?))));
        }
        stated
    }

    /// The same with the files of designs.
    pub fn with(self, files: Box<dyn PublicData>) -> Stated {
        Stated { files: Some(files), ..self }
    }
}

impl PublicData for Stated {
    fn design(&self, wanted: &Features) -> Option<Design> {
        self.files.as_ref()?.design(wanted)
    }
    fn totals(&self, statistic: &Statistic) -> Option<Totals> {
        // Another release may state the number of rows alone.
        let known = self.totals.iter().filter(|(s, _)| s == statistic);
        known.max_by_key(|(_, t)| t.sums.len()).map(|(_, t)| t.clone())
    }
    fn scalars(&self) -> &BTreeMap<ScalarId, f64> {
        &self.scalars
    }
    fn digest(&self, name: &str) -> Option<String> {
        self.files.as_ref().and_then(|files| files.digest(name)).or_else(|| self.digests.get(name).cloned())
    }
}

/// The totals of every public observation of a model, and the design of its rows; not in a group, which has some of them.
pub fn totals(model: &Model, in_group: bool, program: &Program, public: &dyn PublicData) -> PublicTotals {
    let statistics = public_statistics(model).into_iter();
    let design = features(model, program).filter(|_| !in_group).and_then(|wanted| public.design(&wanted));
    PublicTotals { observations: statistics.map(|s| s.and_then(|s| public.totals(&s))).collect(), design }
}

/// Digests of the public tables, public columns and records that are bound, by name.
pub fn digests(program: &Program, public: &dyn PublicData) -> BTreeMap<String, String> {
    let tables = program.tables.iter().map(|t| (&t.name, public.digest(&t.name)));
    // The text of a record is part of the program.
    let of_text = |text: &str| Sha256::digest(text).iter().map(|b| format!("{b:02x}")).collect();
    let records = program.records.iter().map(|r| (&r.name, public.digest(&r.name).or_else(|| Some(of_text(&r.text)))));
    tables.chain(records).filter_map(|(name, digest)| Some((name.clone(), digest?))).collect()
}

/// The value of every public scalar, bound or by default.
pub fn scalars(program: &Program, public: &dyn PublicData) -> Vec<Option<f64>> {
    let value = |(i, scalar): (usize, &Scalar)| {
        let default = || scalar.value.as_ref().and_then(Expr::constant);
        public.scalars().get(&ScalarId(i)).copied().or_else(default)
    };
    program.scalars.iter().enumerate().map(value).collect()
}

/// The program with every bound public scalar (or its default) in place, and the arithmetic around it done.
///
/// A scalar that is not bound stays: rules then know it by the range of its type alone.
pub fn bind<'a>(program: &'a Program, public: &dyn PublicData) -> Cow<'a, Program> {
    let known = scalars(program, public).into_iter().enumerate();
    let values: BTreeMap<ScalarId, f64> = known.filter_map(|(i, x)| Some((ScalarId(i), x?))).collect();
    if values.is_empty() {
        return Cow::Borrowed(program);
    }
    let mut program = program.clone();
    bind_steps(&mut program.steps, &values);
    Cow::Owned(program)
}

type Values = BTreeMap<ScalarId, f64>;

fn bind_steps(steps: &mut [Step], values: &Values) {
    for step in steps {
        match step {
            Step::Release(release) => match &mut release.query {
                Query::Posterior(model) => bind_model(model, values),
                Query::Aggregate(query) => bind_expr(&mut query.value, values),
            },
            Step::Output { value, .. } => bind_expr(value, values),
            Step::When { condition, then, otherwise, .. } => {
                bind_expr(condition, values);
                bind_steps(then, values);
                bind_steps(otherwise, values);
            }
            Step::Each(each) => bind_steps(&mut each.body, values),
            Step::Expect(_) => {}
        }
    }
}

fn bind_model(model: &mut Model, values: &Values) {
    let priors = model.parameters.iter_mut().flat_map(|p| &mut p.prior.args);
    priors.for_each(|e| bind_expr(e, values));
    for o in model.private.iter_mut().chain(&mut model.public) {
        bind_expr(&mut o.outcome, values);
        o.likelihood.args.iter_mut().for_each(|e| bind_expr(e, values));
    }
}

fn bind_expr(e: &mut Expr, values: &Values) {
    match &mut e.kind {
        ExprKind::Scalar(id) => {
            if let Some(x) = values.get(id) {
                set(e, *x);
            }
        }
        ExprKind::List(items) => items.iter_mut().for_each(|i| bind_expr(i, values)),
        ExprKind::If(c, a, b) => [c, a, b].into_iter().for_each(|i| bind_expr(i, values)),
        ExprKind::Index(a, i) => [a, i].into_iter().for_each(|i| bind_expr(i, values)),
        ExprKind::Field(a, _) => bind_expr(a, values),
        ExprKind::Call(f, args) => {
            args.iter_mut().for_each(|i| bind_expr(i, values));
            let numbers: Option<Vec<f64>> = args
                .iter()
                .map(|a| match a.kind {
                    ExprKind::Number(x) => Some(x),
                    _ => None,
                })
                .collect();
            if let Some(x) = numbers.and_then(|n| arithmetic(*f, &n)) {
                set(e, x);
            }
        }
        _ => {}
    }
}

/// Only public expressions are numbers after binding, so this never touches data.
fn arithmetic(f: Builtin, args: &[f64]) -> Option<f64> {
    let x = match (f, args) {
        (Builtin::Unary(f), [a]) => (f.facts().value)(*a),
        (Builtin::Binary(f), [a, b]) => f.value(*a, *b),
        _ => return None,
    };
    x.is_finite().then_some(x)
}

fn set(e: &mut Expr, x: f64) {
    if e.ty == Type::Bool {
        e.kind = ExprKind::Bool(x != 0.0);
        return;
    }
    e.kind = ExprKind::Number(x);
    e.ty = match e.ty {
        Type::Int(_) => Type::Int(Range::point(x)),
        Type::Date(_) => Type::Date(Range::point(x)),
        _ => Type::Real(Range::point(x)),
    };
}
