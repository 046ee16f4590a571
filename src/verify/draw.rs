//! What a rule for draws sees of a model, its numbers at hand.

use super::design::Design;
use super::matrix::Covariance;
use super::real::Real;
use super::scope::Scope;
use super::text::{Expr, Row};
use super::ty::{Kind, num};

pub type Found<T> = Result<T, &'static str>;
pub type Range = (f64, f64);
const AROUND: &str = "rows must be around dot(w, x)";

/// A model with one parameter, its numbers at hand.
pub struct Draw<'a> {
    pub scope: &'a Scope,
    pub exactly: Option<u64>,
    pub parameter: &'a str,
    pub prior: &'a Expr,
    pub private: Vec<&'a Row>,
    pub public: Vec<&'a Row>,
    /// Rows and sums of each public observation; `None` where unbound.
    pub totals: &'a [Option<(u64, Vec<f64>)>],
    pub design: Option<&'a Design>,
    /// Data weight, sharpening of the prior, rows of one unit.
    pub r: Real,
    pub m: Real,
    pub k: Real,
}

impl Draw<'_> {
    pub fn public_range(&self, e: Option<&Expr>) -> Found<Range> {
        e.and_then(|e| self.scope.public(e)).and_then(|t| t.range()).ok_or("an argument is not a public number")
    }
    pub fn positive(&self, e: Option<&Expr>) -> Found<Range> {
        self.public_range(e).and_then(|r| if r.0 > 0.0 { Ok(r) } else { Err("an argument may vanish") })
    }
    /// A positive argument of the prior.
    pub fn argument(&self, i: usize) -> Found<Range> {
        self.positive(self.prior.args().get(i))
    }
    /// A positive constant in a law.
    pub fn constant(&self, o: &Row) -> Found<f64> {
        self.positive(o.law.args().first()).and_then(|r| if r.0 == r.1 { Ok(r.0) } else { Err("a number of trials is not a constant") })
    }
    pub fn one(&self) -> Found<&Row> {
        if let [one] = self.private.as_slice() { Ok(one) } else { Err("the rule takes one observed column") }
    }
    /// The features of rows whose law mentions `dot(w, x)` or `W * x`.
    pub fn features(&self) -> Found<&Expr> {
        self.dotted(self.one()?.law.args().iter().find(|e| e.calls("dot") || e.calls("*")).ok_or(AROUND)?)
    }
    fn dotted<'e>(&self, dot: &'e Expr) -> Found<&'e Expr> {
        match dot.args() {
            [w, x] | [x, w] if self.public.is_empty() && w.is_name(self.parameter) && !x.any(&|e| e.is_name(self.parameter)) => Ok(x),
            _ => Err(AROUND),
        }
    }
    /// The features of rows of counts of mean `exp(dot(w, x) + added)` or `a exp(..)`; ends of the sum of what is added, log(a) with it.
    pub fn rate(&self) -> Found<(&Expr, Real, Real)> {
        let Expr::Call(law, args) = &self.one()?.law else { return Err(AROUND) };
        let first = args.first().ok_or(AROUND)?;
        let (mean, factor) = match first.args() {
            [a, b] if first.calls("*") && a.calls("exp") => (a, Some(b)),
            [b, a] if first.calls("*") && a.calls("exp") => (a, Some(b)),
            _ => (first, None),
        };
        let t = match law.as_str() {
            "poisson_log" => first,
            _ if mean.calls("exp") => mean.args().first().ok_or(AROUND)?,
            _ => return Err(AROUND),
        };
        let (mut least, mut most) = (Real::zero(), Real::zero());
        if let Some(a) = factor {
            let (lo, hi) = self.added(a)?;
            if lo <= 0.0 {
                return Err("a factor may vanish");
            }
            (least, most) = (num(lo).ln(), num(hi).ln());
        }
        let (mut terms, mut dot) = (vec![(t, false)], None);
        while let Some((e, off)) = terms.pop() {
            match e.args() {
                [a, b] if e.calls("+") || e.calls("-") => terms.extend([(a, off), (b, off != e.calls("-"))]),
                _ if e.calls("dot") && dot.is_none() && !off => dot = Some(e),
                _ => {
                    let (lo, hi) = self.added(e).map(|(lo, hi)| if off { (-hi, -lo) } else { (lo, hi) })?;
                    (least, most) = (least + num(lo), most + num(hi));
                }
            }
        }
        Ok((self.dotted(dot.ok_or(AROUND)?)?, least, most))
    }
    fn added(&self, e: &Expr) -> Found<Range> {
        let ty = self.scope.row(e).or_else(|| self.scope.column(e)).or_else(|| self.scope.public(e));
        ty.and_then(|t| t.range()).ok_or("what is added is not a number")
    }
    pub fn feature_norm(&self) -> Found<Real> {
        self.norm(self.features()?)
    }
    /// The largest L2 norm of the features of a row, with what the rounding to their grid adds.
    pub fn norm(&self, x: &Expr) -> Found<Real> {
        let ty = self.scope.row(x).or_else(|| self.scope.column(x)).or_else(|| self.scope.public(x)).filter(|t| t.kind == Kind::Vector);
        Ok(ty.ok_or("the features are not a vector")?.row_norms().0[1].clone())
    }
    pub fn outcome(&self, o: &Row, lo: f64, hi: f64) -> Found<Range> {
        let range = self.scope.row(&o.outcome).and_then(|t| t.range());
        let inside = |r: &Range| r.0.is_finite() && r.1.is_finite() && lo <= r.0 && r.1 <= hi;
        range.filter(inside).ok_or("the outcome is not a number in the support of its law")
    }
    /// A lower bound on n that is at least one unit (section 3.11).
    pub fn fewest(&self) -> Real {
        Real::int(self.scope.least.max(self.scope.unit))
    }
    pub fn least(&self) -> Real {
        Real::int(self.scope.least)
    }
    pub fn bound(&self) -> bool {
        self.totals.iter().all(Option::is_some)
    }
    pub fn public_rows(&self) -> Real {
        Real::int(self.totals.iter().flatten().fold(0, |s, t| s.saturating_add(t.0)))
    }
    pub fn public_sum(&self, index: usize) -> Real {
        let sums = self.totals.iter().flatten().filter_map(|t| t.1.get(index));
        sums.fold(Real::zero(), |s, x| s + num(*x))
    }
    /// The largest variance in any direction that a normal prior on a vector has.
    pub fn prior_variance(&self) -> Found<Real> {
        match self.prior_covariance() {
            Some(matrix) => Ok(matrix.largest()),
            None => self.argument(1).map(|sd| num(sd.1).square()),
        }
    }
    pub fn prior_covariance(&self) -> Option<Covariance> {
        self.prior.args().get(1).and_then(Covariance::read)
    }
}

/// How many draws a request asks for.
pub fn times(request: &Expr) -> Found<u64> {
    match request {
        Expr::Call(f, _) if f == "draw" => Ok(1),
        Expr::Call(f, args) if f == "draws" => match args.last() {
            Some(Expr::Number(n)) if *n >= 1.0 && n.fract() == 0.0 => Ok(*n as u64),
            _ => Err("the number of draws is not a number"),
        },
        _ => Err("only draws are covered"),
    }
}
