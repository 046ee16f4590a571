//! A tiny builder of models for tests of rules, and reference divergences in closed form.

use super::arguments::{Arguments, Mechanism};
use super::tempered::{Matched, Tempering};
use super::{Ask, Context, PublicTotals, Question, Rule, Totals, Verdict};
use crate::model::*;
use crate::privacy::{Claim, Pair};
use crate::source::Diagnostic;
use crate::source::span::{FileId, Span};
use std::rc::Rc;

pub fn tempered(weight: f64, concentration: f64) -> Tempering {
    Tempering { weight, concentration }
}

pub fn span(start: usize, end: usize) -> Span {
    Span::new(FileId(0), start, end)
}

pub fn number(x: f64) -> Expr {
    Expr { kind: ExprKind::Number(x), ty: Type::Real(Range::point(x)), label: Label::Public, span: span(0, 1) }
}

pub fn expr(kind: ExprKind, ty: Type, label: Label) -> Expr {
    Expr { kind, ty, label, span: span(0, 1) }
}

pub const TABLE: TableId = TableId(0);
pub const PILOT: TableId = TableId(1);

pub fn param(id: usize, ty: Type) -> Expr {
    expr(ExprKind::Param(ParamId(id)), ty, Label::Latent)
}

pub fn ball(dim: u64, radius: f64) -> Type {
    let sup = Norms { l1: radius * (dim as f64).sqrt(), l2: radius, linf: radius };
    Type::Vector(VectorType {
        dim,
        range: Range::new(-radius, radius),
        sup,
        diam: Norms { l1: 2.0 * sup.l1, l2: 2.0 * sup.l2, linf: 2.0 * sup.linf },
        levels: None,
        axes: None,
        ordered: false,
    })
}

/// A model with one parameter and, mostly, one observed column of one table.
#[derive(Clone)]
pub struct Build {
    pub model: Model,
    pub program: Program,
    pub public: PublicTotals,
    outcome: Type,
}

impl Build {
    pub fn prior(family: &'static str, args: &[f64]) -> Build {
        Build::prior_exprs(family, args.iter().map(|x| number(*x)).collect(), Type::real(0.0, 1.0))
    }

    pub fn prior_exprs(family: &'static str, args: Vec<Expr>, ty: Type) -> Build {
        let column = |name: &str| Column {
            name: name.into(),
            headers: vec![name.into()],
            public: false,
            ty: Type::Bool,
            missing: vec![],
            view: None,
            span: span(20, 30),
        };
        let table = |name: &str, private| Table {
            name: name.into(),
            private,
            relation: Relation::ReplaceOne,
            count_name: Some("n".into()),
            rows: RowCount { at_least: 0, exactly: None },
            unit: None,
            order: None,
            columns: vec![column("y"), column("x")],
            span: span(0, 40),
            rows_span: span(10, 13),
        };
        Build {
            model: Model {
                parameters: vec![Parameter {
                    id: ParamId(0),
                    name: "p".into(),
                    ty,
                    truncated: None,
                    prior: DistCall { family: crate::dist::find(family).unwrap(), args, mixed: vec![], span: span(50, 60) },
                    span: span(45, 60),
                }],
                records: Records {
                    table: TABLE,
                    relation: Relation::ReplaceOne,
                    unit_rows: 1,
                    rows: RowCount { at_least: 0, exactly: None },
                },
                private: vec![],
                public: vec![],
                request: Request::Draw { parameters: vec![ParamId(0)], times: 1 },
            },
            program: Program { tables: vec![table("t", true), table("pilot", false)], ..Program::default() },
            public: PublicTotals::unbound(),
            outcome: Type::Bool,
        }
    }

    pub fn beta(a: f64, b: f64) -> Build {
        Build::prior("beta", &[a, b])
    }

    pub fn gamma(a: f64, b: f64) -> Build {
        Build::prior("gamma", &[a, b])
    }

    pub fn exactly(mut self, n: u64) -> Build {
        self.model.records.rows = RowCount { at_least: n, exactly: Some(n) };
        self
    }

    pub fn at_least(mut self, n: u64) -> Build {
        self.model.records.rows.at_least = n;
        self
    }

    pub fn unit(mut self, k: u64) -> Build {
        self.model.records.unit_rows = k;
        self
    }

    pub fn add_remove(mut self) -> Build {
        self.model.records.relation = Relation::AddRemove;
        self
    }

    pub fn outcome(mut self, ty: Type) -> Build {
        self.program.tables[0].columns[0].ty = ty.clone();
        self.outcome = ty;
        self
    }

    pub fn outcome_range(self, lo: f64, hi: f64) -> Build {
        self.outcome(Type::Int(Range::new(lo, hi)))
    }

    pub fn column(&self) -> Expr {
        expr(ExprKind::Column(TABLE, ColumnId(0)), self.outcome.clone(), Label::Row(TABLE))
    }

    /// Observes the column with `family(args.., p)`: the parameter is the last argument.
    pub fn observe(self, family: &'static str, args: &[f64]) -> Build {
        let ty = self.model.parameters[0].ty.clone();
        let mut all: Vec<Expr> = args.iter().map(|x| number(*x)).collect();
        all.push(param(0, ty));
        self.observe_exprs(family, all)
    }

    pub fn observe_exprs(mut self, family: &'static str, args: Vec<Expr>) -> Build {
        let outcome = self.column();
        self.model.private.push(Observation {
            table: TABLE,
            outcome,
            likelihood: DistCall { family: crate::dist::find(family).unwrap(), args, mixed: vec![], span: span(80, 90) },
            span: span(70, 90),
        });
        self
    }

    pub fn bernoulli(self) -> Build {
        self.observe("bernoulli", &[])
    }

    pub fn binomial(self, trials: u64) -> Build {
        self.outcome_range(0.0, trials as f64).observe("binomial", &[trials as f64])
    }

    /// Adds the same observation of a public table; bound to (rows, sum) if given.
    pub fn public_rows(mut self, totals: Option<(u64, f64)>) -> Build {
        let mut o = self.model.private[0].clone();
        o.table = PILOT;
        o.outcome.kind = ExprKind::Column(PILOT, ColumnId(0));
        self.model.public.push(o);
        self.public.observations.push(totals.map(|(rows, sum)| Totals { rows, sums: vec![sum] }));
        self
    }

    pub fn judge(&self, rule: &Rule) -> Verdict {
        (rule.judge)(&question(Ask::Model(&self.model), &self.program, &self.public, None))
    }

    pub fn matched(&self, rule: &Rule) -> Rc<dyn Matched> {
        match self.judge(rule) {
            Verdict::Offers(offers) => offers[0].matched().unwrap(),
            Verdict::NotMine(reason) => panic!("not mine: {reason}"),
            Verdict::Refused(r) => panic!("refused: {:?}", r.diagnostic),
        }
    }

    pub fn refused(&self, rule: &Rule) -> Diagnostic {
        match self.judge(rule) {
            Verdict::Refused(r) => r.diagnostic,
            Verdict::NotMine(reason) => panic!("not mine: {reason}"),
            Verdict::Offers(_) => panic!("matched"),
        }
    }

    pub fn not_mine(&self, rule: &Rule) -> String {
        match self.judge(rule) {
            Verdict::NotMine(reason) => reason,
            Verdict::Refused(r) => panic!("refused: {:?}", r.diagnostic),
            Verdict::Offers(_) => panic!("matched"),
        }
    }
}

/// A question outside groups, with a budget.
pub fn question<'a>(
    ask: Ask<'a>,
    program: &'a Program,
    public: &'a PublicTotals,
    written: Option<(&'static Mechanism, &'a Arguments)>,
) -> Question<'a> {
    let context = Context { program, public };
    let [place, statement] = [span(0, 1); 2];
    Question { ask, context, written, assuming_convergence: false, place, statement, budgeted: true, secret_groups: false }
}

fn ln_gamma(x: f64) -> f64 {
    libm::lgamma(x)
}

/// Divergence between members with log-normaliser `c`, from its definition; infinite where `inside` fails at L.
pub fn exponential_family<const D: usize>(
    l: f64,
    p: [f64; D],
    q: [f64; D],
    inside: impl Fn(&[f64; D]) -> bool,
    c: impl Fn(&[f64; D]) -> f64,
) -> f64 {
    let mut far = p;
    for i in 0..D {
        far[i] = l * p[i] - (l - 1.0) * q[i];
    }
    if !inside(&far) {
        return f64::INFINITY;
    }
    (c(&far) - l * c(&p)) / (l - 1.0) + c(&q)
}

/// Rényi divergence of order l between Dirichlet laws (Beta: two counts).
pub fn beta<const D: usize>(l: f64, p: [f64; D], q: [f64; D]) -> f64 {
    exponential_family(l, p, q, |a| a.iter().all(|x| *x > 0.0), |a| a.iter().map(|x| ln_gamma(*x)).sum::<f64>() - ln_gamma(a.iter().sum()))
}

/// Rényi divergence of order l between Gamma(shape, rate) laws.
pub fn gamma(l: f64, p: [f64; 2], q: [f64; 2]) -> f64 {
    exponential_family(l, p, q, |a| a[0] > 0.0 && a[1] > 0.0, |a| ln_gamma(a[0]) - a[0] * a[1].ln())
}

/// The certified value of a claim at order l, after a check that it covers the plain closed forms.
pub fn diverge(claim: &Claim, l: f64) -> f64 {
    let certified = claim.rdp(l);
    let plain = closed_form(claim, l);
    // The doubles of the closed forms cancel; the certified value does not.
    let slack = 1e-8 * plain.abs() + 1e-10;
    assert!(certified >= plain - slack || certified == plain, "{claim:?} at {l}: {certified} {plain}");
    certified
}

/// A claim at order l by the closed forms in doubles: a second road to what `privacy` computes.
pub fn closed_form(claim: &Claim, l: f64) -> f64 {
    match claim {
        Claim::Renyi(pairs) => pairs.iter().map(|p| diverge_pair(p, l)).fold(0.0, f64::max),
        Claim::Exact(shift) => diverge_pair(&shift.pair(), l),
        Claim::Gdp { mu } => l * mu * mu / 2.0,
        Claim::Product(parts) => parts.iter().map(|c| closed_form(c, l)).sum(),
        Claim::Max(parts) => parts.iter().map(|c| closed_form(c, l)).fold(0.0, f64::max),
        other => panic!("no closed form for {other:?}"),
    }
}

/// Divergence of one moving shape, without its total.
pub fn moving_shape(l: f64, a: f64, step: f64) -> f64 {
    exponential_family(l, [a], [a + step], |x| x[0] > 0.0, |x| ln_gamma(x[0]))
}

fn diverge_pair(pair: &Pair, l: f64) -> f64 {
    match pair {
        Pair::Shapes { coordinates, total, .. } => {
            let moved: f64 = coordinates.iter().map(|(a, s)| moving_shape(l, *a, *s)).sum();
            if moved == f64::INFINITY {
                return moved;
            }
            moved - total.map_or(0.0, |(a, s)| moving_shape(l, a, s))
        }
        Pair::Rate { shape, rate, step } => gamma(l, [*shape, *rate], [*shape, rate + step]),
        Pair::Allocation { counts, base, items, weight } => dearest_allocation(counts, *base, *items, *weight, l),
        // A bound and no pair: `privacy::subsampled` holds it against integrals.
        Pair::Sampled { .. } => f64::NAN,
    }
}

/// Every category for Q, every category for the base, every spread of P, one by one.
fn dearest_allocation(counts: &[f64], base: f64, items: u64, weight: f64, l: f64) -> f64 {
    fn spread(a: &[f64], skip: usize, left: u64, w: f64, l: f64) -> f64 {
        let Some((last, rest)) = a.split_last() else {
            return if left == 0 { 0.0 } else { f64::NEG_INFINITY };
        };
        let most = if rest.len() == skip { 0 } else { left };
        (0..=most)
            .map(|x| {
                let s = w * x as f64;
                moving_shape(l, last + s, -s) + spread(rest, skip, left - x, w, l)
            })
            .fold(f64::NEG_INFINITY, f64::max)
    }
    let mut worst: f64 = 0.0;
    for q in 0..counts.len() {
        for b in 0..counts.len() {
            let mut a = counts.to_vec();
            a[b] += base;
            let out = moving_shape(l, a[q], weight * items as f64);
            worst = worst.max(out + spread(&a, q, items, weight, l));
        }
    }
    worst
}

/// `claimed` bounds `exact` and is it, up to rounding.
pub fn assert_tight(claimed: f64, exact: f64, case: impl std::fmt::Debug) {
    if exact == f64::INFINITY || claimed == f64::INFINITY {
        assert_eq!(claimed, exact, "{case:?}");
        return;
    }
    let slack = 1e-8 * exact.abs() + 1e-11;
    assert!(claimed >= exact - slack, "{case:?}: claimed {claimed}, exact {exact}");
    assert!(claimed <= exact + slack, "{case:?}: claimed {claimed}, exact {exact}");
}

/// `claimed` bounds `exact`.
pub fn assert_bounds(claimed: f64, exact: f64, case: impl std::fmt::Debug) {
    assert!(claimed == f64::INFINITY || claimed >= exact - 1e-9 * exact.abs() - 1e-12, "{case:?}: claimed {claimed}, exact {exact}");
}
