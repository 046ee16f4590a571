//! What expressions of rows and public values can be: ranges in doubles, norms, and how far the values of two rows lie apart.

use super::real::Real;
use super::scope::Scope;
use super::text::Expr;
use super::ty::{Kind, Norms, Ty, beside, cube, dot, each, num, plus, scale, tighten, times};
use std::collections::{BTreeMap, BTreeSet};

/// The largest component.
fn size(ty: &Ty) -> Real {
    num(ty.lo.abs().max(ty.hi.abs()))
}
/// What rounding adds to a difference: half an ulp of the largest component for either row.
fn ulp(ty: &Ty) -> Norms {
    cube(ty.dim, &(size(ty) * num(f64::EPSILON)))
}
fn least(a: &Norms, b: &Norms) -> Norms {
    each(a, b, Real::min)
}
/// The range of a function of numbers, or of one applied to components.
fn range(f: &str, parts: &[Ty]) -> (f64, f64) {
    let all = (f64::NEG_INFINITY, f64::INFINITY);
    let hull = |ends: &[f64]| {
        let bounds = (ends.iter().copied().fold(f64::INFINITY, f64::min), ends.iter().copied().fold(f64::NEG_INFINITY, f64::max));
        if ends.iter().any(|x| x.is_nan()) { all } else { bounds }
    };
    let grows = |a: &Ty, f: fn(f64) -> f64| hull(&[f(a.lo), f(a.hi)]);
    let corners = |a: &Ty, b: &Ty, f: fn(f64, f64) -> f64| hull(&[f(a.lo, b.lo), f(a.lo, b.hi), f(a.hi, b.lo), f(a.hi, b.hi)]);
    let product: fn(f64, f64) -> f64 = |x, y| if x == 0.0 || y == 0.0 { 0.0 } else { x * y };
    let away = |a: &Ty| a.lo.max(-a.hi).max(0.0);
    match (f, parts) {
        ("neg", [a]) => (-a.hi, -a.lo),
        ("abs", [a]) => (away(a), a.lo.abs().max(a.hi.abs())),
        ("exp", [a]) => grows(a, libm::exp),
        ("log", [a]) if a.lo > 0.0 => grows(a, libm::log),
        ("log1p", [a]) if a.lo > -1.0 => grows(a, libm::log1p),
        ("logit", [a]) if a.lo > 0.0 && a.hi < 1.0 => grows(a, |p| libm::log(p / (1.0 - p))),
        ("sqrt", [a]) if a.lo >= 0.0 => grows(a, libm::sqrt),
        ("tanh", [a]) => grows(a, libm::tanh),
        ("floor", [a]) => grows(a, libm::floor),
        ("round", [a]) => grows(a, libm::rint),
        ("not", [_]) => (0.0, 1.0),
        ("inv_logit", [a]) => grows(a, |x| 1.0 / (1.0 + libm::exp(-x))),
        ("Phi", [a]) => grows(a, |x| 0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2)),
        ("inv_cloglog", [a]) => grows(a, |x| -libm::expm1(-libm::exp(x))),
        ("<=" | ">=" | "==" | "!=" | "<" | ">" | "and" | "or", [_, _]) => (0.0, 1.0),
        ("+", [a, b]) => corners(a, b, |x, y| x + y),
        ("-", [a, b]) => corners(a, b, |x, y| x - y),
        ("*", [a, b]) => corners(a, b, product),
        ("/", [a, b]) if b.lo > 0.0 || b.hi < 0.0 => corners(a, b, |x, y| if y.is_infinite() { 0.0 } else { x / y }),
        ("^", [a, b]) if a.lo > 0.0 || (a.lo == 0.0 && b.lo >= 0.0) => corners(a, b, libm::pow),
        ("^", [a, b]) if b.lo == b.hi && b.lo.fract() == 0.0 && (b.lo > 0.0 || away(a) > 0.0) => {
            let even = b.lo % 2.0 == 0.0 && a.lo < 0.0 && a.hi > 0.0;
            let (lo, hi) = corners(a, b, libm::pow);
            if even { (0.0, hi) } else { (lo, hi) }
        }
        ("min", [a, b]) => corners(a, b, f64::min),
        ("max", [a, b]) => corners(a, b, f64::max),
        ("clip", [x, a, b]) => (a.lo.max(x.lo.min(b.lo)), a.hi.max(x.hi.min(b.hi))),
        ("if", [_, a, b]) => (a.lo.min(b.lo), a.hi.max(b.hi)),
        ("index", [v, _]) | ("min" | "max" | "mean", [v]) | ("quantile", [v, _]) => (v.lo, v.hi),
        ("sum", [v]) if v.kind == Kind::Vector => corners(v, &Ty::number(v.dim as f64, v.dim as f64, true), product),
        ("norm", [v]) => (0.0, v.sup[1].above()),
        ("length", [v]) => (v.dim as f64, v.dim as f64),
        ("dot", [a, b]) => {
            let (most, (lo, hi)) = (dot(&a.sup, &b.sup).above(), range("*", parts));
            let d = a.dim as f64;
            ((lo * d).max(-most).min(most), (hi * d).min(most).max(-most))
        }
        _ => all,
    }
}

impl Scope {
    /// What an expression can be, by what columns, public values and inner values of rows can be.
    pub fn value(&self, e: &Expr) -> Ty {
        let (f, args) = match e {
            Expr::Number(x) => return Ty::number(*x, *x, x.fract() == 0.0),
            Expr::Row(_, ty) => return Ty::parse(ty).unwrap_or(Ty::other()),
            Expr::Name(n) => {
                let column = || self.columns.get(n).and_then(|c| Ty::parse(&c.0));
                return self.values.get(n).cloned().or_else(column).unwrap_or(Ty::other());
            }
            Expr::Call(f, args) => (f.as_str(), args.as_slice()),
        };
        let parts: Vec<Ty> = args.iter().map(|a| self.value(a)).collect();
        let (lo, hi) = self.same_operand(f, args, &parts).unwrap_or_else(|| range(f, &parts));
        let number = Ty::number(lo, hi, f == "neg" && parts.iter().all(|p| p.whole));
        // Over public rows; anywhere else an aggregate of rows is not part of a value.
        if let (true, Some(of)) = (e.over_rows(), parts.first()) {
            if self.is_private(e) {
                return Ty::other();
            }
            let least = if of.lo >= 0.0 { 0.0 } else { f64::NEG_INFINITY };
            let ends = if f == "sum" || f == "count" { (least, f64::INFINITY) } else { (of.lo, of.hi) };
            return match (f, of.kind, of.levels()) {
                ("histogram", _, levels) => levels.map_or(Ty::other(), |d| Ty::boxed(d, 0.0, f64::INFINITY)),
                (_, Kind::Vector, _) => Ty::boxed(of.dim, ends.0, ends.1),
                _ => Ty::number(ends.0, ends.1, false),
            };
        }
        let known = |parts: &[Ty]| parts.iter().all(|p| p.kind != Kind::Other);
        let plain = match (f, parts.as_slice()) {
            ("dot" | "norm" | "length", _) | ("sum" | "mean" | "sd", [_]) | ("quantile", [_, _]) => return number,
            ("min" | "max", [v]) | ("index", [v, _]) if v.kind != Kind::Other => return number,
            ("<=" | ">=" | "==" | "!=" | "<" | ">" | "and" | "or" | "not", _) => Ty { whole: true, ..number },
            ("if", [_, inside @ ..]) if known(inside) => number,
            ("*", [m, v]) if m.kind == Kind::Other && v.kind == Kind::Vector => {
                let most = times(&size(m), &v.sup[0]).above();
                return Ty::boxed(m.dim, -most, most);
            }
            (_, parts) if known(parts) => number,
            _ => return Ty::other(),
        };
        let plain = parts.iter().find(|t| t.kind == Kind::Vector).map_or(plain, |v| Ty::boxed(v.dim, lo, hi));
        // A public number is one number for both rows, whether its value is known or only its range.
        let shared = |i: usize| args.get(i).and_then(|a| self.public(a)).filter(|t| t.kind == Kind::Number && size(t).above().is_finite());
        let point = |i: usize| shared(i).is_some_and(|t| t.lo == t.hi);
        let with = |sup: &Norms, diam: &Norms| Ty { sup: least(&plain.sup, sup), diam: least(&plain.diam, diam), ..plain.clone() };
        // Products round every component by half an ulp.
        let scaled = |v: &Ty, by: &Real| {
            let sup = scale(&v.sup, &(by * &num(1.0 + f64::EPSILON)));
            let diam = plus(&scale(&v.diam, by), &scale(&sup, &num(f64::EPSILON)));
            with(&sup, &diam)
        };
        let vector = |t: &Ty| t.kind == Kind::Vector;
        match (f, parts.as_slice()) {
            ("[]" | "append", _) => self.listed(args, parts).unwrap_or(plain),
            ("products", [v]) if vector(v) && v.lo >= -1.0 && v.hi <= 1.0 => Self::products(v),
            ("rep", [x, n]) => Ty::boxed(n.lo as u64, x.lo, x.hi),
            ("neg", [a]) => Ty { lo, hi, ..a.clone() },
            ("+" | "-", [a, b]) if vector(a) && vector(b) => {
                with(&scale(&plus(&a.sup, &b.sup), &num(1.0 + f64::EPSILON)), &plus(&plus(&a.diam, &b.diam), &ulp(&plain)))
            }
            ("+" | "-", [v, c]) if vector(v) || vector(c) => {
                let (v, other) = if vector(v) { (v, 1) } else { (c, 0) };
                if shared(other).is_some() { with(&plain.sup, &plus(&v.diam, &ulp(&plain))) } else { plain }
            }
            ("*", [v, c]) if vector(v) && shared(1).is_some() => scaled(v, &size(c)),
            ("*", [c, v]) if vector(v) && shared(0).is_some() => scaled(v, &size(c)),
            // A number of the row's own: `|b v - b' v'| <= |b - b'| |v| + |b'| |v - v'|`, and at most twice the largest norm.
            ("*", [v, c] | [c, v]) if vector(v) && c.kind == Kind::Number && size(c).above().is_finite() => {
                let sup = scale(&v.sup, &(size(c) * num(1.0 + f64::EPSILON)));
                let moved = plus(&plus(&scale(&v.sup, &c.diam[0]), &scale(&v.diam, &size(c))), &scale(&sup, &num(f64::EPSILON)));
                let sums = least(&moved, &scale(&sup, &Real::int(2)));
                // By 0 or 1 nothing is rounded, and of two rows one at most has 0 in place of its vector.
                let kept = c.whole && c.lo >= 0.0 && c.hi <= 1.0;
                if kept { with(&v.sup, &least(&sums, &each(&v.diam, &v.sup, Real::max))) } else { with(&sup, &sums) }
            }
            ("/", [v, c]) if vector(v) && point(1) => scaled(v, &(Real::one() / size(c))),
            ("clip", [v, ..]) if vector(v) && shared(1).is_some() && shared(2).is_some() => with(&plain.sup, &v.diam),
            ("project", [_, v]) if vector(v) => {
                let radius = |b: &Expr| Some((["l1", "l2", "linf"].iter().position(|p| b.calls(p))?, self.public(b.args().first()?)?.hi));
                let Some((norm, radius)) = args.first().and_then(radius) else { return plain };
                let ball = Ty::ball(v.dim, norm, radius);
                let cut = Ty::boxed(v.dim, v.lo.min(0.0).max(ball.lo), v.hi.max(0.0).min(ball.hi));
                Ty { sup: least(&least(&ball.sup, &v.sup), &cut.sup), diam: least(&ball.diam, &cut.diam), ..cut }
            }
            _ => plain,
        }
    }

    /// A vector, its products and weighted squares: (1, v) times itself, from which at most `|v|^2 + 1` is a difference in L2.
    fn products(v: &Ty) -> Ty {
        let (d, two) = (Real::int(v.dim), Real::int(2));
        let w = num(if v.dim == 1 { 1.6 } else { 0.707 });
        let pairs = v.dim * (v.dim + 1) / 2;
        let size = if v.dim == 1 { Real::one() } else { v.sup[1].square().min(&d) };
        let most = w.clone().max(&Real::one());
        let by = &d + &(&two * &w);
        let l1 = &(&d * &by.square()) / &(&two * &(&by - &Real::one()));
        let half = w.square().max(&(Real::one() / two.clone()));
        let sup = [&(&d + &num((pairs - v.dim) as f64)) + &(&d * &w), (&size + &(&size.square() * &half)).sqrt(), most.clone()];
        let diam = [l1, if v.dim == 1 { two.clone() } else { &size + &Real::one() }, two];
        let plain = Ty::boxed(v.dim + pairs, -1.0, most.above());
        // Squares are rounded twice, of either row.
        let rounding = cube(plain.dim, &num(4.0 * f64::EPSILON));
        let tightened = |n: &Norms, all: &Norms| tighten(&least(&plus(&tighten(n, plain.dim), &rounding), all), plain.dim);
        Ty { sup: tightened(&sup, &plain.sup), diam: tightened(&diam, &plain.diam), ..plain }
    }

    /// The levels that columns have to be at for a value not to be 0: `x * (t.region == s)`, `x * (t.old == true)`.
    fn needed<'e>(&self, e: &'e Expr, found: &mut BTreeMap<&'e str, &'e str>) {
        let parsed = |n: &str| self.columns.get(n).and_then(|c| Ty::parse(&c.0)).or(self.values.get(n).cloned());
        let levels = |n: &str| parsed(n).is_some_and(|t| t.kind == Kind::Levels);
        let truth = |n: &str, of: &str| matches!(of, "true" | "false") && self.columns.get(n).is_some_and(|c| c.0 == "bool");
        // A level with a point in it has quotes.
        let column = |n: &str| n.contains('.') && !n.starts_with('"') && levels(n);
        let named = |n: &str| n.starts_with('"') || !(n.contains('.') || levels(n));
        match e {
            Expr::Row(value, _) => self.needed(value, found),
            Expr::Call(f, args) if f == "*" || f == "and" => args.iter().for_each(|a| self.needed(a, found)),
            Expr::Call(f, args) if f == "==" => {
                if let [Expr::Name(a), Expr::Name(b)] = args.as_slice() {
                    let pair = if column(a) || truth(a, b) { (a, b) } else { (b, a) };
                    let one = column(pair.0) && named(pair.1) || truth(pair.0, pair.1);
                    found.extend(one.then_some((pair.0.as_str(), pair.1.trim_matches('"'))));
                }
            }
            _ => {}
        }
    }

    /// Parts side by side. A row has one level of a column: of parts in sequence that need other levels of the same columns one is
    /// not 0 at most, and two in the difference of two rows.
    pub fn listed(&self, items: &[Expr], types: Vec<Ty>) -> Option<Ty> {
        let mut blocks: Vec<(BTreeSet<BTreeMap<&str, &str>>, Ty)> = vec![];
        for (e, ty) in items.iter().zip(types) {
            let mut at = BTreeMap::new();
            if ty.lo <= 0.0 && ty.hi >= 0.0 && size(&ty).known() {
                self.needed(e, &mut at);
            }
            let last = blocks.last_mut().filter(|b| !at.is_empty() && b.0.iter().all(|o| o.keys().eq(at.keys()) && *o != at));
            let Some((seen, all)) = last else {
                blocks.push(([at].into(), ty));
                continue;
            };
            seen.insert(at);
            let (sup, diam) = (each(&all.sup, &ty.sup, Real::max), each(&all.diam, &ty.diam, Real::max));
            let diam = each(&diam, &beside(&sup, &sup), Real::max);
            *all = Ty { sup, diam, ..Ty::boxed(all.dim.saturating_add(ty.dim), all.lo.min(ty.lo), all.hi.max(ty.hi)) };
        }
        blocks.into_iter().map(|b| b.1).reduce(|a, b| Ty::join(&a, &b)).map(|t| Ty { kind: Kind::Vector, ..t })
    }

    /// Products of values of one row that are written alike: squares, and `x (c - x)`, largest at `c / 2`.
    fn same_operand(&self, f: &str, args: &[Expr], parts: &[Ty]) -> Option<(f64, f64)> {
        let ([a, b], [of, other]) = (args, parts) else { return None };
        if !(f == "*" || f == "dot") || !self.is_private(a) || !self.is_private(b) {
            return None;
        }
        let turn = |ty: &Ty, c: f64, f: &dyn Fn(f64) -> f64| {
            let ends = [ty.lo, (c / 2.0).max(ty.lo).min(ty.hi), ty.hi].map(f);
            let finite = ends.iter().all(|x| !x.is_nan());
            finite.then(|| ends.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |m, x| (m.0.min(*x), m.1.max(*x))))
        };
        if a == b {
            let (lo, hi) = turn(of, 0.0, &|x| x * x)?;
            let (d, most) = (of.dim as f64, of.sup[1].square().above());
            return Some(if f == "dot" { ((lo * d).min(most), (hi * d).min(most)) } else { (lo, hi) });
        }
        let rest = |x: &Expr, whole: &Expr| match (whole, whole.args()) {
            (Expr::Call(minus, _), [Expr::Number(c), y]) if minus == "-" && y == x => Some(*c),
            _ => None,
        };
        let ((x, c), true) = (rest(a, b).map(|c| (of, c)).or_else(|| rest(b, a).map(|c| (other, c)))?, f == "*") else { return None };
        turn(x, c, &|x| x * (c - x))
    }

    /// Does the type of a row's value allow for all that its parts can be? Rows are moved into the range of the type before they
    /// count, so ranges hold by themselves; norms and distances inside a range have to follow from the parts.
    pub fn allows(&self, value: &Expr, ty: &str) -> bool {
        let Some(ty) = Ty::parse(ty) else { return false };
        let (own, whole) = (self.value(value), Ty::boxed(ty.dim, ty.lo, ty.hi));
        let followed = own.kind == Kind::Vector && own.dim == ty.dim;
        let within = |own: &Norms, whole: &Norms, said: &Norms| {
            let bounds = if followed { least(own, whole) } else { whole.clone() };
            bounds.iter().zip(said).all(|(b, s)| b.stated() <= s.above())
        };
        ty.kind != Kind::Vector || (within(&own.sup, &whole.sup, &ty.sup) && within(&own.diam, &whole.diam, &ty.diam))
    }
}
