//! Hockey-stick divergences of two members of one exponential family, bounded from above by point values of a density.
//!
//! In the coordinate u in which the loss is `slope u + offset`, the density f of the first member is log-concave for every law
//! below. With `g = ln f`, a cell of half width h around m and V at most every `-g''` in it,
//!
//! ```text
//!   f(m + t) <= f(m) exp(g'(m) t - V t^2 / 2),       |t| <= h,
//! ```
//!
//! and beyond the last cell f lies below its tangent. So sums over cells are upper bounds, whatever the cells are: their width,
//! which grows where the curvature is small, is a matter of accuracy alone. `H_e = integral of f(u) (1 - exp(e - loss))` over `loss > e`; nothing is subtracted.
//!
//! *A cell.* With `z = h g'(m)` and `q = V h^2 / 2`, cosh rises and `exp(-q x^2)` falls in |x|, so (Chebyshev) the mean of
//! `exp(z x - q x^2)` over `[-1, 1]` is at most `sinh(z)/z (1 - q/3 + q^2/10)`; that of `x exp(z x - q x^2)` is at most `z/3 sinh(z)/z`
//! for positive z and `z/3 (1 - q)` for others; with `x^2` it is at least `(1 - q)/3`, with `x^3` at most `z/5 sinh(z)/z`, or 0 for
//! z < 0. The factor `1 - exp(-slope s)` is at most its third Taylor polynomial around m.
//!
//! *Rounding.* Logarithms of f are enlarged by 8 units of all that was added up in them, half widths by more than a point can be
//! off, sums by `ROUNDING`. Where an exponential underflows the least normal number stands.

use crate::numeric::Interval;
use crate::numeric::log_gamma::{ln_gamma, ln_gamma_step};
use crate::numeric::round::{add_down, div_up};

const UNIT: f64 = f64::EPSILON / 2.0;
/// At most `CELLS` positive terms of some 20 operations each.
const ROUNDING: f64 = 1.0 + 4e-12;
const CELLS: u32 = 4096;
/// Half width of a cell in units of the scale on which the density changes.
const FINE: f64 = 0.06;
/// The same where the result is only held against another one: first, and where the first does not tell.
const ROUGH: [f64; 2] = [0.6, 0.18];
/// By how much a cell may be wider than the one before.
const GROWTH: f64 = 1.05;
/// What may be bounded by a tangent alone, as a share of the sum.
const REST: f64 = 1e-7;
/// Beyond this slope across half a cell, hyperbolic functions run out of range.
const STEEP: f64 = 300.0;
/// Less than any delta.
const NOTHING: f64 = 1e-200;

fn point(x: f64) -> Interval {
    Interval::point(x)
}

/// Laws of u with their logarithms but for a constant.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Law {
    /// The logit of a Beta variable: `up u - (up + down) ln(1 + exp u)`.
    Logit { up: f64, down: f64 },
    /// Minus the logarithm of a Gamma variable: `-a u - exp(-u)`.
    Low(f64),
    /// The logarithm of a Gamma variable.
    High(f64),
    /// A Gamma variable of shape at least 1: `(a - 1) ln u - u`.
    Right(f64),
    /// Minus that.
    Left(f64),
    /// Minus the logarithm of a Beta variable of counts t and a at least 1: `(a - 1) ln(1 - exp(-u)) - t u`.
    Far { a: f64, t: f64 },
    /// Minus that.
    Near { a: f64, t: f64 },
}

/// At one point: the logarithm of the density and what it may be off by, its slope, its curvature `-g''`.
struct Value {
    ln: f64,
    room: f64,
    slope: f64,
    bend: f64,
}

impl Law {
    fn at(self, u: f64) -> Value {
        match self {
            Law::Logit { up, down } => {
                let e = libm::exp(-u.abs());
                let (less, more) = (e / (1.0 + e), 1.0 / (1.0 + e));
                let (x, y, tail) = if u < 0.0 { (less, more, up * u) } else { (more, less, -down * u) };
                let spread = (up + down) * libm::log1p(e);
                let (rise, fall) = (up * y, down * x);
                Value { ln: tail - spread, room: spread - tail + rise + fall, slope: rise - fall, bend: (up + down) * x * y }
            }
            Law::Low(a) => {
                let e = libm::exp(-u);
                Value { ln: -a * u - e, room: a * u.abs() + a + e, slope: e - a, bend: e }
            }
            Law::High(a) => {
                let e = libm::exp(u);
                Value { ln: a * u - e, room: a * u.abs() + a + e, slope: a - e, bend: e }
            }
            Law::Right(a) | Law::Left(a) => {
                let x = u.abs();
                let (ln, slope) = ((a - 1.0) * libm::log(x), (a - 1.0) / x);
                let rise = if self == Law::Right(a) { slope - 1.0 } else { 1.0 - slope };
                Value { ln: ln - x, room: ln.abs() + x + slope + 1.0, slope: rise, bend: slope / x }
            }
            Law::Far { a, t } | Law::Near { a, t } => {
                let x = u.abs();
                let (ln, slope) = ((a - 1.0) * libm::log(-libm::expm1(-x)), (a - 1.0) / libm::expm1(x));
                let rise = if self.starts() { slope - t } else { t - slope };
                // The curvature is `slope exp(x) / expm1(x)`.
                let bend = slope / -libm::expm1(-x);
                Value { ln: ln - t * x, room: ln.abs() + t * x + a + slope + t + 1.0, slope: rise, bend }
            }
        }
    }

    /// Is u above 0?
    fn starts(self) -> bool {
        matches!(self, Law::Right(_) | Law::Far { .. })
    }

    /// Is u below 0?
    fn ends(self) -> bool {
        matches!(self, Law::Left(_) | Law::Near { .. })
    }

    /// At most `-g''` anywhere within h of m, where it is `bend` at m: `ln V` has slopes between -1 and 1, or `V = (a - 1)/u^2`, or
    /// `V = (a - 1) / (4 sinh(u/2)^2)`.
    fn least_bend(self, m: f64, h: f64, bend: f64) -> f64 {
        match self {
            Law::Right(_) | Law::Left(_) => bend / (1.0 + h / m.abs()).powi(2),
            Law::Far { .. } | Law::Near { .. } => bend * (libm::sinh(m.abs() / 2.0) / libm::sinh((m.abs() + h) / 2.0)).powi(2),
            _ => bend * (1.0 - h),
        }
        .max(0.0)
            * (1.0 - 1e-12)
    }

    /// The scale on which the density changes at u and beyond it: of the curvature there and its changes, which are by less than e a
    /// unit, or of the peak.
    fn scale(self, u: f64, bend: f64) -> f64 {
        let local = 1.0 / (bend.sqrt() + bend.cbrt());
        match self {
            Law::Right(a) | Law::Left(a) => a.sqrt(),
            // Half of the sd, about.
            Law::Near { a, t } => 0.5 * (a / (t * (t + a))).sqrt().min(1.0),
            // Ahead the curvature grows.
            Law::High(_) => local.min(2.0),
            Law::Logit { .. } if u < 0.0 => local.min(2.0),
            _ => local,
        }
    }
}

/// One ordered pair of laws: the density of the first, and the loss.
#[derive(Clone, Copy, Debug)]
pub struct Side {
    law: Law,
    slope: Interval,
    offset: Interval,
    /// At least the logarithm of the factor that makes the density integrate to 1.
    constant: f64,
}

/// One cell, s counted from its lower end: bounds of the integrals of `f (1 - exp(-slope s))`, of `f exp(-slope s)` and of f, and the
/// curvature in the middle.
struct Cell {
    near: f64,
    own: f64,
    all: f64,
    bend: f64,
}

/// At least `sinh(z) / z`: up to 1 by its series to z^16/17!, the rest of which is below z^18/19! and so below a quarter of a unit.
fn sinh_share(z: f64) -> f64 {
    if z.abs() > 1.0 {
        return libm::sinh(z) / z * (1.0 + 4.0 * UNIT);
    }
    let y = z * z;
    let series = [272.0, 210.0, 156.0, 110.0, 72.0, 42.0, 20.0, 6.0].into_iter().fold(1.0, |sum, below| 1.0 + y / below * sum);
    series * (1.0 + 4.0 * UNIT)
}

/// At least `1 - exp(-x)`.
fn lost(x: f64) -> f64 {
    -libm::expm1(-x) * (1.0 + 4.0 * UNIT)
}

/// At least the logarithm of the constant of a Beta density.
fn beta_constant(a: f64, b: f64) -> f64 {
    let (small, large) = if a < b { (a, b) } else { (b, a) };
    (ln_gamma_step(point(large), small) - ln_gamma(small)).hi
}

impl Side {
    /// Beta(a, b + w) against Beta(a + w, b).
    pub fn beta(a: f64, b: f64, w: f64) -> Side {
        // b becomes what the rounded sum leaves of it, which is no more.
        let up = add_down(b, w);
        let offset = ln_gamma_step(point(a), w) - ln_gamma_step(point(up) - point(w), w);
        Side { law: Law::Logit { up, down: a }, slope: point(w), offset, constant: beta_constant(a, up) }
    }

    /// Gamma(a) against Gamma(a + w), and the reverse.
    pub fn shapes(a: f64, w: f64) -> [Side; 2] {
        let up = add_down(a, w);
        let offset = |a: Interval| ln_gamma_step(a, w);
        [
            Side { law: Law::Low(a), slope: point(w), offset: offset(point(a)), constant: -ln_gamma(a).lo },
            Side { law: Law::High(up), slope: point(w), offset: -offset(point(up) - point(w)), constant: -ln_gamma(up).lo },
        ]
    }

    /// Gamma(shape, rate) against Gamma(shape, rate + step), and the reverse; a shape below 1 counts as 1, which costs more.
    pub fn rates(shape: f64, rate: f64, step: f64) -> [Side; 2] {
        let (a, ratio) = (shape.max(1.0), point(div_up(step, rate)));
        let (offset, constant) = (point(a) * ratio.ln_1p(), -ln_gamma(a).lo);
        [
            Side { law: Law::Right(a), slope: ratio, offset: -offset, constant },
            Side { law: Law::Left(a), slope: ratio / (Interval::ONE + ratio), offset, constant },
        ]
    }

    /// Beta(a, t) against Beta(a, t + w), and the reverse; an a below 1 counts as 1, which costs more.
    pub fn counts(a: f64, t: f64, w: f64) -> [Side; 2] {
        // t becomes what the rounded sum leaves of it, which is no more.
        let (a, up) = (a.max(1.0), add_down(t, w));
        let offset = |t: Interval| ln_gamma_step(t, w) - ln_gamma_step(point(a) + t, w);
        [
            Side { law: Law::Far { a, t }, slope: point(w), offset: offset(point(t)), constant: beta_constant(a, t) },
            Side { law: Law::Near { a, t: up }, slope: point(w), offset: -offset(point(up) - point(w)), constant: beta_constant(a, up) },
        ]
    }

    /// No point at which the loss exceeds e lies below this.
    fn threshold(&self, e: f64) -> f64 {
        let u = ((point(e) - self.offset) / self.slope).lo;
        if self.law.starts() { u.max(0.0) } else { u }
    }

    fn density(&self, v: &Value, half: f64) -> f64 {
        let room = 8.0 * UNIT * (v.room * (1.0 + half) + self.constant.abs());
        libm::exp(v.ln + self.constant + room).max(f64::MIN_POSITIVE)
    }

    /// The cell around m; `reach` bounds the magnitude of all that m was computed from.
    fn cell(&self, m: f64, h: f64, reach: f64) -> Cell {
        let off = 1e-12 * h + 8.0 * UNIT * reach;
        let half = h + off;
        let v = self.law.at(m);
        let z = v.slope * half;
        if z.abs() > STEEP {
            // Where f falls or rises all through a cell, it is highest at one end.
            let end = self.law.at(m + half.copysign(z));
            if end.slope * z >= 0.0 {
                let all = 2.0 * half * self.density(&end, 0.0) * (1.0 + 8.0 * UNIT);
                return Cell { near: all, own: all * libm::exp(2.0 * self.slope.hi * off) * (1.0 + 8.0 * UNIT), all, bend: v.bend };
            }
        }
        let q = 0.5 * self.law.least_bend(m, half, v.bend) * half * half;
        let (peak, kept) = (2.0 * half * self.density(&v, half), 1.0 - q / 3.0 + q * q / 10.0);
        let (share, less) = (sinh_share(z), (1.0 - q).max(0.0) * (1.0 - 1e-11));
        let x = self.slope.hi * half;
        let all = peak * kept * share;
        if x > STEEP {
            return Cell { near: all, own: all, all, bend: v.bend };
        }
        let moment = z / 3.0 * if z > 0.0 { share } else { less };
        let turn = x * x * (x * z.max(0.0) * share / 30.0 - less / 6.0);
        let gone = lost(x);
        // Of what is not small the rest of 1 is exp(-x) to a few units.
        let fallen = if x < 1.0 { (1.0 - gone) * (1.0 + 16.0 * UNIT) } else { libm::exp(-x) };
        // exp(y) is at most 1 + 2 y up to 1.
        let back = 2.0 * self.slope.hi * off;
        let near = peak * (gone * share * kept + fallen * (x * moment + turn));
        let own = peak * if back < 1.0 { fallen * (1.0 + 2.0 * back) } else { libm::exp(back - x) } * kept * sinh_share(z - x);
        // What is not a number stays so, and no bound comes of it.
        Cell { near: if near < 0.0 { 0.0 } else { near }, own, all, bend: v.bend }
    }

    /// At least the divergence at e >= 0, and about how fast it falls there.
    pub fn height(&self, e: f64) -> (f64, f64) {
        self.sum(e, FINE)
    }

    /// Is the divergence at e seen to be at most this, for a part of the work? What is hardly below is not.
    pub fn is_below(&self, e: f64, bound: f64) -> bool {
        ROUGH.iter().any(|fine| self.sum(e, *fine).0 <= bound)
    }

    fn sum(&self, e: f64, fine: f64) -> (f64, f64) {
        let start = self.threshold(e);
        let ends = self.law.ends();
        if ends && start >= 0.0 {
            return (0.0, 0.0);
        }
        if !start.is_finite() || !self.constant.is_finite() {
            return (1.0, 0.0);
        }
        let first = self.law.at(start);
        let least = first.slope + 8.0 * UNIT * first.room;
        // Everything lies below the tangent, and a logarithm of minus infinity below all numbers.
        if first.slope < 0.0 && (first.ln == f64::NEG_INFINITY || least < 0.0 && self.density(&first, 0.0) / -least < NOTHING) {
            return (NOTHING, 0.0);
        }
        let (w, away) = (self.slope.hi, (-first.slope).max(0.0));
        let rate = 1.0 / self.law.scale(start, first.bend) + w / 4.0 + if away.is_finite() { away } else { 0.0 };
        let (mut sum, mut fall, mut from, mut wide) = (0.0, 0.0, 0.0, fine / rate);
        for j in 0..CELLS {
            let left = if ends { -(start + from) } else { f64::INFINITY };
            if left <= 0.0 {
                return ((sum * ROUNDING).min(1.0), fall);
            }
            // The last cell of a law that ends is cut there.
            let h = wide.min(left / 2.0);
            let m = start + from + h;
            let reach = start.abs() + m.abs();
            let cell = self.cell(m, h, reach);
            let gone = lost(w * (from + 8.0 * UNIT * reach));
            let here = cell.near + gone * cell.own;
            sum += if here > cell.all { cell.all } else { here };
            fall += (1.0 - gone).max(0.0) * cell.own;
            if j % 4 == 3 && left > 2.0 * h {
                let (v, on) = (self.law.at(m + h), from + 2.0 * h);
                let slope = v.slope + 8.0 * UNIT * v.room + w / libm::expm1(w * (on - 8.0 * UNIT * reach)) * (1.0 + 8.0 * UNIT);
                let rest = lost(w * (on + 8.0 * UNIT * reach)) * self.density(&v, 0.0) / -slope;
                if slope < 0.0 && (rest <= REST * sum || rest < NOTHING) {
                    return (((sum + rest) * ROUNDING).min(1.0), fall);
                }
            }
            from += 2.0 * h;
            // By and by what is lost changes little.
            wide = (GROWTH * h).min(fine * self.law.scale(m + h, cell.bend));
        }
        (1.0, 0.0)
    }

    /// At least the divergences at `0, width, .., count width`, where width is a power of two.
    ///
    /// With the integrals `own` and `near` of every cell, and what is `held`, the sum of `exp(-width i) own_i` from a point on, the
    /// divergence there is `near + (1 - exp(-width)) held` of the next point more than that of the next point.
    pub fn heights(&self, width: f64, count: u32) -> Vec<f64> {
        let start = self.threshold(0.0);
        let (w, h) = (self.slope.hi, (point(width) / self.slope).hi / 2.0);
        let last = start + 2.0 * h * f64::from(count);
        let ends = self.law.ends();
        let (mut held, mut height) = (0.0, 0.0);
        if !(ends && last >= 0.0) {
            let v = self.law.at(last);
            let slope = v.slope + 8.0 * UNIT * v.room;
            // Beyond the last cell, under the tangent.
            held = self.density(&v, 0.0) / (w - slope);
            height = held * w / -slope;
            if !(start.is_finite() && self.constant.is_finite() && slope < 0.0) {
                return vec![1.0; count as usize + 1];
            }
        }
        let (step, fall) = (lost(width), libm::exp(-width) * (1.0 + 4.0 * UNIT));
        let all = ROUNDING + 8.0 * UNIT * f64::from(count);
        let mut heights = vec![(height * all).min(1.0)];
        for j in (0..count).rev() {
            let from = 2.0 * h * f64::from(j);
            let h = if ends { h.min(-(start + from) / 2.0) } else { h };
            if h > 0.0 {
                let m = start + from + h;
                let cell = self.cell(m, h, start.abs() + m.abs());
                height += cell.near + step * held;
                held = cell.own + fall * held;
            }
            heights.push((height * all).min(1.0));
        }
        heights.reverse();
        heights
    }
}

#[cfg(test)]
mod tests;
