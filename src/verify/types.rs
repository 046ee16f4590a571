//! What an expression can be: ranges and norms in doubles, and how far an aggregate of rows moves (language, section 7.2).

use super::text::{Expr, Reader};
use std::collections::BTreeMap;

/// L1, L2 and Linf.
pub type Norms = [f64; 3];

#[derive(Clone, Debug)]
pub enum Ty {
    Num { lo: f64, hi: f64, whole: bool },
    Vector(Vector),
    Counts { dim: u64, total: f64 },
    Category(u64),
    Other,
}

#[derive(Clone, Debug)]
pub struct Vector {
    pub dim: u64,
    pub lo: f64,
    pub hi: f64,
    pub sup: Norms,
    pub diam: Norms,
}

/// Who may know a value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Label {
    Public,
    Row,
    Aggregate,
    Latent,
}

/// Names in sight: columns as `table.column`, values, numbers of rows, releases, parameters.
#[derive(Clone, Default)]
pub struct Scope {
    pub names: BTreeMap<String, (Ty, Label)>,
    /// Columns that are public: all of public tables, and those declared so.
    pub public_columns: Vec<String>,
    /// Names of numbers of rows.
    pub counts: Vec<String>,
    /// Inside `each`: is `count()` public?
    pub public_groups: bool,
}

fn root(d: u64) -> f64 {
    (d as f64).sqrt()
}

fn tighten(n: Norms, d: u64) -> Norms {
    let linf = n[2].min(n[1]).min(n[0]);
    let l2 = n[1].min(n[0]).min(root(d) * linf);
    [n[0].min(root(d) * l2).min(d as f64 * linf), l2, linf]
}
fn each(a: Norms, b: Norms, f: impl Fn(f64, f64) -> f64) -> Norms {
    [f(a[0], b[0]), f(a[1], b[1]), f(a[2], b[2])]
}
pub fn scale(n: Norms, by: f64) -> Norms {
    n.map(|x| if x == 0.0 || by == 0.0 { 0.0 } else { x * by })
}
fn width(lo: f64, hi: f64) -> f64 {
    if lo == hi { 0.0 } else { hi - lo }
}
fn cube(d: u64, x: f64) -> Norms {
    tighten([f64::INFINITY, f64::INFINITY, x], d)
}
fn boxed(dim: u64, lo: f64, hi: f64) -> Vector {
    Vector { dim, lo, hi, sup: cube(dim, lo.abs().max(hi.abs())), diam: cube(dim, width(lo, hi)) }
}
fn ball(dim: u64, norm: usize, c: f64) -> Vector {
    let mut sup = [f64::INFINITY; 3];
    if let Some(n) = sup.get_mut(norm) {
        *n = c;
    }
    let sup = tighten(sup, dim);
    Vector { dim, lo: -sup[2], hi: sup[2], sup, diam: scale(sup, 2.0) }
}
fn norm_of(name: &str) -> Option<usize> {
    ["l1", "l2", "linf"].iter().position(|n| *n == name)
}
pub fn real(lo: f64, hi: f64) -> Ty {
    Ty::Num { lo, hi, whole: false }
}
const ALL: Ty = Ty::Num { lo: f64::NEG_INFINITY, hi: f64::INFINITY, whole: false };

impl Ty {
    /// A type as certificates print it.
    pub fn parse(text: &str) -> Option<Ty> {
        let mut r = Reader::new(text)?;
        if r.sign("{") {
            return Some(Ty::Other); // named parts of a released record
        }
        let base = r.name()?;
        let whole = |x: f64| (x.fract() == 0.0 && x >= 0.0).then_some(x as u64);
        let mut dim = 0;
        if r.sign("[") {
            dim = whole(r.number()?)?;
            while r.sign(",") {
                r.number()?;
            }
            r.sign("]").then_some(())?;
        }
        let ty = match base.as_str() {
            "bool" => Ty::Num { lo: 0.0, hi: 1.0, whole: true },
            "int" | "real" | "vector" | "matrix" => {
                let (mut lo, mut hi, mut norm) = (f64::NEG_INFINITY, f64::INFINITY, None);
                if r.word("in") {
                    if r.sign("[") {
                        lo = r.number()?;
                        hi = r.sign(",").then(|| r.number())??;
                        r.sign("]").then_some(())?;
                    } else if base == "vector" {
                        norm = Some((norm_of(&r.name()?)?, r.sign("(").then(|| r.number())??));
                        r.sign(")").then_some(())?;
                    } else {
                        lo = r.number()?;
                        r.sign("..").then_some(())?;
                        hi = if r.done() { hi } else { r.number()? };
                    }
                }
                match (base.as_str(), norm) {
                    ("vector", Some((p, c))) => Ty::Vector(ball(dim, p, c)),
                    ("vector", None) => Ty::Vector(boxed(dim, lo, hi)),
                    ("matrix", _) => Ty::Other,
                    _ => Ty::Num { lo, hi, whole: base == "int" },
                }
            }
            "category" => {
                let mut levels = 0;
                r.sign("{").then_some(())?;
                while !r.sign("}") {
                    let _ = (levels == 0 || r.sign(",")).then(|| r.text())??;
                    levels += 1;
                }
                Ty::Category(levels)
            }
            "simplex" => {
                let two = 2f64.sqrt();
                Ty::Vector(Vector { dim, lo: 0.0, hi: 1.0, sup: [1.0; 3], diam: [2.0, two, 1.0] })
            }
            "counts" => Ty::Counts { dim, total: r.word("of").then(|| r.number())?? },
            "text" => Ty::Other,
            "posterior" => return Some(Ty::Other),
            _ => return None,
        };
        (r.done() || matches!(ty, Ty::Other)).then_some(ty)
    }

    pub fn range(&self) -> Option<(f64, f64)> {
        match self {
            Ty::Num { lo, hi, .. } => Some((*lo, *hi)),
            Ty::Vector(v) => Some((v.lo, v.hi)),
            _ => None,
        }
    }
    /// The range of a scalar.
    pub fn number(&self) -> Option<(f64, f64)> {
        if let Ty::Num { lo, hi, .. } = self { Some((*lo, *hi)) } else { None }
    }
    pub fn constant(&self) -> Option<f64> {
        self.number().filter(|(lo, hi)| lo == hi).map(|r| r.0)
    }
    /// Largest value and largest difference of one row, with what rounding to the summation grid may add.
    fn facts(&self) -> (Norms, Norms) {
        match self {
            Ty::Num { lo, hi, .. } => ([lo.abs().max(hi.abs()); 3], [width(*lo, *hi); 3]),
            Ty::Counts { dim, total } => (tighten([*total; 3], *dim), tighten([2.0 * total, 2f64.sqrt() * total, *total], *dim)),
            Ty::Vector(v) => {
                let (near, d) = (1.0 - 1e-12, v.dim as f64);
                let m = v.lo.abs().max(v.hi.abs());
                let flat = v.sup[0] >= d * m * near && v.sup[1] >= root(v.dim) * m * near;
                let wide = v.diam[0] >= d * (v.hi - v.lo) * near && v.diam[1] >= root(v.dim) * (v.hi - v.lo) * near;
                let round = v.diam[0] >= 2.0 * v.sup[0] * near && v.diam[1] >= 2.0 * v.sup[1] * near;
                if (flat && wide) || round {
                    return (v.sup, v.diam);
                }
                let step = 2.0 * 2f64.powi((libm::ilogb(m) - 60).max(libm::ilogb(v.hi - v.lo) - 40));
                let slack = [step * d, step * root(v.dim), step];
                (each(v.sup, slack, |a, b| a + b), each(v.diam, slack, |a, b| a + b))
            }
            _ => ([f64::INFINITY; 3], [f64::INFINITY; 3]),
        }
    }
}

fn times(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 { 0.0 } else { a * b }
}
fn hull(list: &[f64]) -> (f64, f64) {
    if list.iter().any(|x| x.is_nan()) {
        return (f64::NEG_INFINITY, f64::INFINITY);
    }
    (list.iter().copied().fold(f64::INFINITY, f64::min), list.iter().copied().fold(f64::NEG_INFINITY, f64::max))
}

/// The range of `a op b`, end points in the double arithmetic of the row evaluator.
fn binary(op: &str, a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    let everything = (f64::NEG_INFINITY, f64::INFINITY);
    match op {
        "+" => hull(&[a.0 + b.0, a.1 + b.1]),
        "-" => hull(&[a.0 - b.1, a.1 - b.0]),
        "*" => hull(&[times(a.0, b.0), times(a.0, b.1), times(a.1, b.0), times(a.1, b.1)]),
        "/" if b.0 > 0.0 || b.1 < 0.0 => {
            let q = |x: f64, y: f64| if y.is_infinite() { 0.0 } else { x / y };
            hull(&[q(a.0, b.0), q(a.0, b.1), q(a.1, b.0), q(a.1, b.1)])
        }
        "/" => everything,
        "^" => {
            let whole = b.0 == b.1 && b.0.fract() == 0.0;
            let zero = a.0 <= 0.0 && a.1 >= 0.0;
            let p = |x: f64, y: f64| libm::pow(x, y);
            if whole && b.0 >= 0.0 {
                if b.0 % 2.0 == 0.0 && zero { (p(0.0, b.0), p(a.0, b.0).max(p(a.1, b.0))) } else { hull(&[p(a.0, b.0), p(a.1, b.0)]) }
            } else if a.0 > 0.0 || (a.0 == 0.0 && b.0 >= 0.0) {
                hull(&[p(a.0, b.0), p(a.0, b.1), p(a.1, b.0), p(a.1, b.1)])
            } else if whole && !zero {
                hull(&[p(a.0, b.0), p(a.1, b.0)])
            } else {
                everything
            }
        }
        "min" => (a.0.min(b.0), a.1.min(b.1)),
        "max" => (a.0.max(b.0), a.1.max(b.1)),
        _ => (0.0, 1.0),
    }
}

fn unary(op: &str, a: (f64, f64)) -> Option<(f64, f64)> {
    let grows = |f: fn(f64) -> f64| hull(&[f(a.0), f(a.1)]);
    Some(match op {
        "neg" => (-a.1, -a.0),
        "abs" => (if a.0 <= 0.0 && a.1 >= 0.0 { 0.0 } else { a.0.abs().min(a.1.abs()) }, a.0.abs().max(a.1.abs())),
        "exp" => grows(libm::exp),
        "log" => grows(libm::log),
        "log1p" => grows(libm::log1p),
        "sqrt" => grows(libm::sqrt),
        "logit" => grows(|x| libm::log(x / (1.0 - x))),
        "tanh" => grows(libm::tanh),
        "floor" => grows(libm::floor),
        "round" => grows(libm::rint),
        "inv_logit" | "Phi" => (0.0, 1.0),
        _ => return None,
    })
}

impl Scope {
    /// Type and label of an expression.
    pub fn of(&self, e: &Expr) -> (Ty, Label) {
        match e {
            Expr::Number(x) => (Ty::Num { lo: *x, hi: *x, whole: x.fract() == 0.0 }, Label::Public),
            Expr::Text(_) => (Ty::Other, Label::Public),
            Expr::Name(n) => self.names.get(n).cloned().unwrap_or((Ty::Other, Label::Public)),
            Expr::List(items) => {
                let parts: Vec<(Ty, Label)> = items.iter().map(|i| self.of(i)).collect();
                (join(parts.iter().map(|p| &p.0)), parts.iter().map(|p| p.1).max().unwrap_or(Label::Public))
            }
            Expr::Call(f, args) => self.call(f, args),
        }
    }

    fn call(&self, f: &str, args: &[Expr]) -> (Ty, Label) {
        let parts: Vec<(Ty, Label)> = args.iter().map(|a| self.of(a)).collect();
        let label = parts.iter().map(|p| p.1).max().unwrap_or(Label::Public);
        let tys: Vec<&Ty> = parts.iter().map(|p| &p.0).collect();
        let over_rows = parts.first().is_some_and(|p| p.1 == Label::Row);
        let ty = match (f, tys.as_slice()) {
            ("true", []) => real(1.0, 1.0),
            ("false", []) => real(0.0, 0.0),
            ("count", []) => {
                let label = if self.public_groups { Label::Public } else { Label::Aggregate };
                return (Ty::Num { lo: 0.0, hi: f64::INFINITY, whole: true }, label);
            }
            ("rows", [_]) => return (Ty::Num { lo: 0.0, hi: f64::INFINITY, whole: true }, Label::Public),
            ("sum" | "mean" | "histogram" | "quantile", _) if over_rows => return (rows(f, &tys), Label::Aggregate),
            ("min" | "max", [x]) if over_rows => return ((*x).clone(), Label::Aggregate),
            ("if", [_, a, b]) => match (a.range(), b.range()) {
                (Some(x), Some(y)) => with_range(a, (x.0.min(y.0), x.1.max(y.1)), a.is_whole() && b.is_whole()),
                _ => Ty::Other,
            },
            ("index", [v, _]) => v.range().map_or(ALL, |(lo, hi)| real(lo, hi)),
            ("rep", [x, n]) => match (x.number(), n.constant()) {
                (Some((lo, hi)), Some(n)) => Ty::Vector(boxed(n as u64, lo, hi)),
                _ => Ty::Other,
            },
            ("append", _) => join(tys.iter().copied()),
            ("norm", [Ty::Vector(v)]) => real(0.0, v.sup[1]),
            ("dot", [Ty::Vector(x), Ty::Vector(y)]) => {
                let bound = (x.sup[1] * y.sup[1]).min(times(x.sup[0], y.sup[2])).min(times(x.sup[2], y.sup[0]));
                let (lo, hi) = binary("*", (x.lo, x.hi), (y.lo, y.hi));
                let d = x.dim as f64;
                real((-bound).max(d * lo).min(bound), bound.min(d * hi).max(-bound))
            }
            ("project", _) => self.projected(args),
            ("clip", [x, lo, hi]) => match (x.range(), lo.number(), hi.number()) {
                (Some(r), Some(l), Some(h)) => {
                    let out = (l.0.max(r.0.min(h.0)), l.1.max(r.1.min(h.1)));
                    let mut ty = with_range(x, out, x.is_whole() && lo.is_whole() && hi.is_whole());
                    if let (Ty::Vector(t), Ty::Vector(v)) = (&mut ty, *x) {
                        t.diam = each(t.diam, v.diam, f64::min);
                    }
                    ty
                }
                _ => Ty::Other,
            },
            (_, [Ty::Vector(v)]) if f == "neg" => Ty::Vector(Vector { lo: -v.hi, hi: -v.lo, ..v.clone() }),
            (_, [x]) => match x.range().map(|r| unary(f, r)) {
                Some(Some(r)) => with_range(x, r, (x.is_whole() && matches!(f, "neg" | "abs")) || matches!(f, "floor" | "round")),
                // `sum`, `mean` and the like of a public vector: a number.
                _ if f == "not" => real(0.0, 1.0),
                _ => ALL,
            },
            (_, [Ty::Category(_), _] | [_, Ty::Category(_)]) => Ty::Num { lo: 0.0, hi: 1.0, whole: true },
            (_, [a, b]) => pairwise(f, a, b, (parts.first().map(|p| p.1), parts.get(1).map(|p| p.1))),
            _ => Ty::Other,
        };
        (ty, label)
    }

    fn projected(&self, args: &[Expr]) -> Ty {
        let [Expr::Call(p, radius), v] = args else { return Ty::Other };
        let (Some(norm), Some(Ty::Num { hi: c, .. })) = (norm_of(p), radius.first().map(|r| self.of(r).0)) else { return Ty::Other };
        let (Ty::Vector(t), _) = self.of(v) else { return Ty::Other };
        let mut out = ball(t.dim, norm, c);
        (out.lo, out.hi) = (t.lo.min(0.0).max(out.lo), t.hi.max(0.0).min(out.hi));
        let all = boxed(t.dim, out.lo, out.hi);
        out.diam = tighten(each(out.diam, all.diam, f64::min), t.dim);
        out.sup = tighten(each(each(out.sup, t.sup, f64::min), all.sup, f64::min), t.dim);
        Ty::Vector(out)
    }

    /// Does any part pass the test?
    pub fn any(&self, e: &Expr, test: &dyn Fn(&Expr) -> bool) -> bool {
        test(e)
            || match e {
                Expr::List(items) | Expr::Call(_, items) => items.iter().any(|i| self.any(i, test)),
                _ => false,
            }
    }
}

impl Ty {
    fn is_whole(&self) -> bool {
        matches!(self, Ty::Num { whole: true, .. })
    }
}

fn with_range(like: &Ty, (lo, hi): (f64, f64), whole: bool) -> Ty {
    match like {
        Ty::Vector(v) => Ty::Vector(boxed(v.dim, lo, hi)),
        _ => Ty::Num { lo, hi, whole },
    }
}

fn join<'a>(items: impl Iterator<Item = &'a Ty>) -> Ty {
    let mut all: Option<Vector> = None;
    for item in items {
        let v = match item {
            Ty::Vector(v) => v.clone(),
            Ty::Num { lo, hi, .. } => boxed(1, *lo, *hi),
            _ => return Ty::Other,
        };
        let both = |a: Norms, b: Norms| [a[0] + b[0], (a[1] * a[1] + b[1] * b[1]).sqrt(), a[2].max(b[2])];
        all = Some(match all {
            None => v,
            Some(a) => {
                Vector { dim: a.dim + v.dim, lo: a.lo.min(v.lo), hi: a.hi.max(v.hi), sup: both(a.sup, v.sup), diam: both(a.diam, v.diam) }
            }
        });
    }
    all.map_or(Ty::Other, Ty::Vector)
}

fn rows(f: &str, tys: &[&Ty]) -> Ty {
    let everything = (f64::NEG_INFINITY, f64::INFINITY);
    match (f, tys) {
        ("histogram", [Ty::Category(n)]) => Ty::Vector(boxed(*n, 0.0, f64::INFINITY)),
        ("histogram", [Ty::Num { lo, hi, .. }]) if (hi - lo).is_finite() => Ty::Vector(boxed((hi - lo) as u64 + 1, 0.0, f64::INFINITY)),
        ("sum", [x]) => with_range(x, everything, x.is_whole()),
        (_, [x, ..]) => with_range(x, x.range().unwrap_or(everything), false),
        _ => Ty::Other,
    }
}

fn pairwise(f: &str, a: &Ty, b: &Ty, labels: (Option<Label>, Option<Label>)) -> Ty {
    let (Some(x), Some(y)) = (a.range(), b.range()) else { return if f.starts_with(['=', '!']) { real(0.0, 1.0) } else { ALL } };
    let out = binary(f, x, y);
    let keeps = matches!(f, "+" | "-" | "*" | "min" | "max") && a.is_whole() && b.is_whole();
    let logical = matches!(f, "and" | "or" | "<=" | ">=" | "<" | ">" | "==" | "!=");
    match (a, b) {
        (Ty::Vector(v), Ty::Vector(w)) => {
            let mut t = boxed(v.dim, out.0, out.1);
            if matches!(f, "+" | "-") {
                t.sup = each(t.sup, each(v.sup, w.sup, |a, b| a + b), f64::min);
                t.diam = each(t.diam, each(v.diam, w.diam, |a, b| a + b), f64::min);
            }
            Ty::Vector(t)
        }
        (Ty::Vector(v), _) => Ty::Vector(scaled(f, v, out, y, labels.1)),
        (_, Ty::Vector(w)) if f != "/" => Ty::Vector(scaled(f, w, out, x, labels.0)),
        (_, Ty::Vector(w)) => Ty::Vector(boxed(w.dim, out.0, out.1)),
        _ => Ty::Num { lo: out.0, hi: out.1, whole: keeps || logical },
    }
}

/// A vector and one number, component by component.
fn scaled(f: &str, v: &Vector, out: (f64, f64), by: (f64, f64), label: Option<Label>) -> Vector {
    let mut t = boxed(v.dim, out.0, out.1);
    if label != Some(Label::Public) {
        return t;
    }
    let (point, m) = (by.0 == by.1, by.0.abs().max(by.1.abs()));
    let factor = match f {
        "*" => m,
        "/" if point => 1.0 / m,
        "+" | "-" if point => {
            t.diam = each(t.diam, v.diam, f64::min);
            return t;
        }
        _ => return t,
    };
    t.sup = each(t.sup, scale(v.sup, factor), f64::min);
    if point {
        t.diam = each(t.diam, scale(v.diam, factor), f64::min);
    }
    t
}

/// How neighbours differ in the rows that a query sees.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum View {
    Replace,
    AddRemove,
    Exchange,
}

/// What sensitivities depend on: k rows a unit, at least n rows, and whether the rows are a group of a private key.
#[derive(Clone, Copy)]
pub struct Rows {
    pub view: View,
    pub unit: u64,
    pub least: f64,
}

impl Scope {
    /// Change of an aggregate between neighbours in L1, L2 and Linf; infinite where no bound is known.
    pub fn sensitivity(&self, e: &Expr, rows: Rows) -> Norms {
        let none = [f64::INFINITY; 3];
        let k = rows.unit as f64;
        let (ty, label) = self.of(e);
        match label {
            Label::Public => return [0.0; 3],
            Label::Aggregate => {}
            _ => return none,
        }
        let of = |e: &Expr| self.sensitivity(e, rows);
        let public = |e: &Expr| self.of(e).1 == Label::Public;
        let repeat = |n: Norms, a: &Expr| match (&ty, self.of(a).0) {
            (Ty::Vector(v), Ty::Num { .. }) => cube(v.dim, n[2]),
            _ => n,
        };
        let (f, args) = match e {
            Expr::Call(f, args) => (f.as_str(), args.as_slice()),
            Expr::List(items) => {
                let both = |a: Norms, b: Norms| [a[0] + b[0], (a[1] * a[1] + b[1] * b[1]).sqrt(), a[2].max(b[2])];
                return items.iter().map(of).fold([0.0; 3], both);
            }
            _ => return none,
        };
        let over_rows = args.first().is_some_and(|a| self.of(a).1 == Label::Row);
        match (f, args) {
            ("count", []) => [k; 3],
            ("histogram", [_]) if rows.view == View::AddRemove => [k; 3],
            ("histogram", [_]) => [2.0 * k, 2f64.sqrt() * k, k],
            ("sum" | "mean", [x]) if over_rows => {
                let (sup, diam) = self.of(x).0.facts();
                let one = match rows.view {
                    View::Replace => diam,
                    View::AddRemove => sup,
                    View::Exchange => each(sup, diam, f64::max),
                };
                if f == "sum" { scale(one, k) } else { each(scale(diam, k).map(|x| x / rows.least.max(1.0)), diam, f64::min) }
            }
            ("min" | "max", [x]) if over_rows => self.of(x).0.facts().1,
            ("neg" | "abs", [x]) => of(x),
            ("clip", [x, lo, hi]) if public(lo) && public(hi) => of(x),
            ("+" | "-", [a, b]) => each(repeat(of(a), a), repeat(of(b), b), |x, y| x + y),
            ("max" | "min", [a, b]) => each(of(a), of(b), |x, y| x + y),
            ("*", [a, b]) | ("*", [b, a]) if public(a) => {
                let m = self.of(a).0.range().map_or(f64::INFINITY, |r| r.0.abs().max(r.1.abs()));
                repeat(scale(of(b), m), b)
            }
            ("/", [a, b]) if public(b) => match self.of(b).0.range() {
                Some((lo, hi)) if lo > 0.0 || hi < 0.0 => repeat(of(a).map(|x| x / lo.abs().min(hi.abs())), a),
                _ => none,
            },
            ("sum", [v]) => [of(v)[0]; 3],
            ("mean", [v]) => match self.of(v).0 {
                Ty::Vector(t) => [of(v)[0] / t.dim as f64; 3],
                _ => none,
            },
            ("min" | "max", [v]) | ("index", [v, _]) => [of(v)[2]; 3],
            ("dot", [a, b]) | ("dot", [b, a]) if public(a) => match self.of(a).0 {
                Ty::Vector(w) => {
                    let n = of(b);
                    [times(w.sup[1], n[1]).min(times(w.sup[2], n[0])).min(times(w.sup[0], n[2])); 3]
                }
                _ => none,
            },
            ("append", items) => {
                items.iter().map(of).fold([0.0; 3], |a, b| [a[0] + b[0], (a[1] * a[1] + b[1] * b[1]).sqrt(), a[2].max(b[2])])
            }
            ("if", [c, a, b]) if public(c) => each(of(a), of(b), f64::max),
            _ => none,
        }
    }
}
