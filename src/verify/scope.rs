//! Aggregates of rows: how far they move between neighbours, and the grid they are on (rule book, section 8.7).

use super::real::Real;
use super::text::Expr;
use super::ty::{Kind, Norms, Ty, beside, cube, dot, each, num, plus, root, same, scale};
use std::collections::BTreeMap;

/// How neighbours differ in the rows that a query sees.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum View {
    Replace,
    AddRemove,
    /// At most k rows leave and at most k others come: groups of a private key.
    Exchange,
    /// Two groups together: one row leaves the one and enters the other.
    Crossing,
}

/// Names in sight, and the rows that are seen.
#[derive(Clone)]
pub struct Scope {
    /// Public values: numbers of rows, scalars, releases.
    pub values: BTreeMap<String, Ty>,
    /// `table.column`: its type as printed, and whether it is public.
    pub columns: BTreeMap<String, (String, bool)>,
    /// Names of public tables: what is asked of all their rows is public.
    pub open: Vec<String>,
    /// Columns that neighbours agree on, row by row: what is asked of them alone is public. None inside `each`.
    pub kept: Vec<String>,
    /// Names of numbers of rows.
    pub counts: Vec<String>,
    pub view: View,
    /// The most rows of one unit, and the fewest rows there are.
    pub unit: u64,
    pub least: u64,
    /// Inside `each`: is `count()` public?
    pub public_groups: bool,
    /// Inside `each` of a private key, where rows are replaced: they also change their group.
    pub exchanged: bool,
}

impl Scope {
    /// Is it one value for all rows, of columns that neighbours agree on?
    pub fn agreed(&self, e: &Expr) -> bool {
        let reads = |kept: bool| e.any(&|e| matches!(e, Expr::Name(n) if self.columns.contains_key(n) && self.kept.contains(n) == kept));
        e.over_rows() && reads(true) && !reads(false)
    }

    /// Does it depend on a private row?
    pub fn is_private(&self, e: &Expr) -> bool {
        let open = |n: &str| n.split_once('.').is_some_and(|(table, _)| self.open.iter().any(|o| o == table));
        e.any_but(&|e| self.agreed(e), &|e| match e {
            Expr::Row(value, _) => !value.any(&|e| matches!(e, Expr::Name(n) if open(n))),
            Expr::Name(n) => self.columns.contains_key(n) && !open(n),
            Expr::Call(f, args) => f == "count" && args.is_empty() && !self.public_groups,
            Expr::Number(_) => false,
        })
    }

    /// What a public expression can be; `None` if it is not public.
    pub fn public(&self, e: &Expr) -> Option<Ty> {
        if self.is_private(e) { None } else { Some(self.value(e)) }
    }

    /// What the value of a row can be; lists carry the types of their parts.
    pub fn row(&self, e: &Expr) -> Option<Ty> {
        match e {
            Expr::Row(value, ty) => match value.as_ref() {
                // What is no more than a column has the type of the column.
                Expr::Name(n) if self.columns.get(n).is_some_and(|c| c.0 != *ty) => None,
                _ => Ty::parse(ty),
            },
            _ if !self.is_private(e) => None,
            Expr::Call(f, parts) if f == "[]" || f == "append" => {
                let parts: Option<Vec<Ty>> = parts.iter().map(|p| self.row(p).or_else(|| self.public(p))).collect();
                self.listed(e.args(), parts?)
            }
            _ => None,
        }
    }

    pub fn column(&self, e: &Expr) -> Option<Ty> {
        if let Expr::Name(n) = e { self.columns.get(n).and_then(|c| Ty::parse(&c.0)) } else { None }
    }

    /// Change of an aggregate between neighbours in L1, L2 and Linf; unknown where no bound is.
    pub fn moves(&self, e: &Expr) -> Norms {
        let none = same(&Real::UNKNOWN);
        let k = Real::int(self.unit);
        if !self.is_private(e) {
            return same(&Real::zero());
        }
        let Expr::Call(f, args) = e else { return none };
        let of = |e: &Expr| self.moves(e);
        let public = |e: &Expr| self.public(e);
        let size = |t: &Ty| num(t.lo.abs().max(t.hi.abs()));
        // A number beside a vector is repeated in every component.
        let repeat = |n: Norms, part: &Expr| match (self.dim(e), self.dim(part)) {
            (Some(d), None) => cube(d, &n[2]),
            _ => n,
        };
        let row = args.first().and_then(|a| self.row(a));
        match (f.as_str(), args.as_slice(), row) {
            ("count", [], _) => same(&k),
            ("histogram", [_], Some(_)) if self.view == View::AddRemove => same(&k),
            ("histogram", [_], Some(_)) => [Real::int(2) * &k, root(2) * &k, k],
            ("sum" | "mean", [_], Some(ty)) => {
                let (sup, diam) = ty.row_norms();
                let one = match self.view {
                    View::Replace => diam.clone(),
                    View::AddRemove => sup,
                    _ => each(&sup, &diam, Real::max),
                };
                if f == "sum" { scale(&one, &k) } else { each(&scale(&diam, &(k / Real::int(self.least))), &diam, Real::min) }
            }
            ("min" | "max", [_], Some(ty)) => ty.row_norms().1,
            ("neg" | "abs", [x], _) => of(x),
            ("clip", [x, lo, hi], _) if [lo, hi].iter().all(|e| public(e).is_some_and(|t| t.kind != Kind::Vector)) => of(x),
            ("+" | "-" | "max" | "min", [a, b], _) => plus(&repeat(of(a), a), &repeat(of(b), b)),
            ("*", [a, b], _) => match (public(a), public(b)) {
                (Some(t), _) => repeat(scale(&of(b), &size(&t)), b),
                (_, Some(t)) => repeat(scale(&of(a), &size(&t)), a),
                _ => none,
            },
            ("/", [a, b], _) => match public(b).filter(|t| t.lo > 0.0 || t.hi < 0.0) {
                Some(t) => repeat(scale(&of(a), &(Real::one() / num(t.lo.abs().min(t.hi.abs())))), a),
                None => none,
            },
            ("sum", [v], _) => same(&of(v)[0]),
            ("mean", [v], _) => self.dim(v).map_or(none, |d| same(&(&of(v)[0] / &Real::int(d)))),
            ("min" | "max", [v], _) | ("index", [v, _], _) => same(&of(v)[2]),
            ("dot", [a, b], _) => match (public(a), public(b)) {
                (Some(w), _) => same(&dot(&w.sup, &of(b))),
                (_, Some(w)) => same(&dot(&w.sup, &of(a))),
                _ => none,
            },
            ("append" | "[]", items, _) => items.iter().map(of).fold(same(&Real::zero()), |a, b| beside(&a, &b)),
            ("if", [c, a, b], _) if public(c).is_some() => each(&repeat(of(a), a), &repeat(of(b), b), Real::max),
            _ => none,
        }
    }

    /// Components of a vector; `None` for a number.
    pub fn dim(&self, e: &Expr) -> Option<u64> {
        if let Some(ty) = self.public(e).or_else(|| self.row(e)) {
            return (ty.kind != Kind::Number).then_some(ty.dim);
        }
        let Expr::Call(f, args) = e else { return None };
        match (f.as_str(), args.as_slice(), args.first().and_then(|a| self.row(a))) {
            ("histogram", _, Some(ty)) => ty.levels(),
            ("sum" | "mean" | "min" | "max", [_], Some(ty)) => (ty.kind != Kind::Number).then_some(ty.dim),
            ("append" | "[]", items, _) => Some(items.iter().map(|i| self.dim(i).unwrap_or(1)).sum()),
            ("count" | "sum" | "mean" | "index" | "dot" | "norm", ..) | ("min" | "max", [_], None) => None,
            (_, args, _) => args.iter().find_map(|a| self.dim(a)),
        }
    }

    /// An exponent e such that the value is always a multiple of `2^e`; `None` if there is none in sight.
    pub fn grid(&self, e: &Expr) -> Option<i32> {
        let (f, args) = match e {
            Expr::Number(x) => return (0..1100).map(|p| -p).find(|p| libm::ldexp(*x, -p).fract() == 0.0),
            Expr::Name(n) => return (self.counts.contains(n) || n == "true" || n == "false").then_some(0),
            Expr::Call(f, args) => (f.as_str(), args),
            Expr::Row(..) => return None,
        };
        let least = |args: &[Expr]| args.iter().try_fold(0, |m, a| Some(self.grid(a)?.min(m)));
        match (f, args.first().and_then(|a| self.row(a))) {
            ("count" | "histogram", _) => Some(0),
            ("sum", Some(ty)) => ty.grid(),
            ("*", None) => args.iter().try_fold(0_i32, |s, a| s.checked_add(self.grid(a)?)),
            ("index", None) => least(args.get(..1)?),
            ("[]" | "append" | "neg" | "abs" | "+" | "-" | "min" | "max" | "clip", None) => least(args),
            _ => None,
        }
    }

    /// What rounding to the grid of the noise adds to the sensitivity of every component (the value of a mean, or of a
    /// quotient by a public number, is divided after the noise).
    pub fn slack(&self, e: &Expr, scale: &Real) -> Real {
        let known = match e {
            Expr::Call(f, args) if f == "mean" => args.first().and_then(|a| self.row(a)).and_then(|ty| ty.grid()),
            Expr::Call(f, args) if f == "/" => args.first().and_then(|a| self.grid(a)),
            e => self.grid(e),
        };
        if known.is_some_and(|e| e >= -600) { Real::zero() } else { scale * &num(libm::ldexp(1.0, -40)) }
    }
}
