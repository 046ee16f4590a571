//! Exact (epsilon, delta) of a draw whose posterior one unit shifts (rule book, section 17), by incomplete Beta and Gamma functions.
//!
//! Plain doubles, every height enlarged by more than they can be wrong.

use super::pair::Pair;
use super::real::Real;
use super::special::{half_ln_two_pi, ln_gamma, ln_gamma_near};
use serde_json::{Value, json};

#[derive(Clone, Debug)]
pub enum Shift {
    /// `step` moves between two counts, to which the other rows add `others` together.
    Beta {
        family: &'static str,
        counts: [Real; 2],
        step: Real,
        others: Real,
    },
    Shape {
        shape: Real,
        step: Real,
    },
    Rate {
        shape: Real,
        rate: Real,
        step: Real,
    },
    /// Beta laws of which only the second count moves.
    Count {
        kept: Real,
        count: Real,
        step: Real,
    },
}

impl Shift {
    /// The worst pair at every Renyi order.
    pub fn pair(&self) -> Pair {
        match self.clone() {
            Shift::Beta { family, counts: [a, b], step, others } => {
                let base = b + others + &step;
                Pair::Shapes { family, moves: vec![(a, step.clone()), (base, -&step)], total: None }
            }
            Shift::Shape { shape, step } => Pair::Shapes { family: "gamma", moves: vec![(shape, step)], total: None },
            Shift::Rate { shape, rate, step } => Pair::Rate { shape, rate, step },
            Shift::Count { kept, count, step } => {
                let total = Some((kept + &count, step.clone()));
                Pair::Shapes { family: "beta", moves: vec![(count, step)], total }
            }
        }
    }

    pub fn to_json(&self) -> Value {
        let curve = match self {
            Shift::Beta { counts: [a, b], step, others, .. } => {
                json!({"family": "beta", "counts": [a.stated(), b.stated()], "step": step.stated(), "others": others.stated()})
            }
            Shift::Shape { shape, step } => json!({"family": "gamma", "shape": shape.stated(), "step": step.stated()}),
            Shift::Rate { shape, rate, step } => {
                json!({"family": "gamma", "shape": shape.stated(), "rate": rate.stated(), "step": step.stated()})
            }
            Shift::Count { kept, count, step } => {
                json!({"family": "beta", "kept": kept.stated(), "count": count.stated(), "step": step.stated()})
            }
        };
        json!({"kind": "renyi", "pairs": [self.pair().to_json()], "curve": curve})
    }

    /// The largest divergence over both orders, and over a cover of the bases; an upper bound.
    pub fn curve(&self) -> impl Fn(f64) -> f64 + use<> {
        let one = Real::one();
        let shapes = |a: &Real, w: &Real, below: bool| {
            let (p, q, slope) = (ln_gamma(a), ln_gamma(&(a + w)), w.above());
            let (offset, ends) = ((&q - &p).above(), [Law::gamma(a, &p, 1.0), Law::gamma(&(a + w), &q, 1.0)]);
            let [p, q] = if below {
                ends
            } else {
                let [a, b] = ends;
                [b, a]
            };
            Side { p, q, offset, slope, below, at: At::Logarithm }
        };
        let sides: Vec<Side> = match self {
            Shift::Beta { counts: [u, v], step, others, .. } => {
                let cells = cover(u, v, others, step.above() / 2.0).into_iter().flat_map(|(a, b)| [(a.clone(), b.clone()), (b, a)]);
                cells.map(|(a, b)| Side::beta(&a, &b, step)).collect()
            }
            Shift::Shape { shape, step } => vec![shapes(shape, step, true), shapes(shape, step, false)],
            // A larger first count costs more.
            Shift::Count { kept, count, step } => Side::counts(&kept.max(&one), count, step).into(),
            Shift::Rate { shape, rate, step } => {
                // A larger shape costs more.
                let (a, ratio) = (shape.max(&one), step / rate);
                let (ln, more) = (ln_gamma(&a), (&one + &ratio).above());
                let offset = (&a * &(&one + &ratio).ln()).above();
                let side = |below: bool, p: f64, q: f64| Side {
                    p: Law::gamma(&a, &ln, p),
                    q: Law::gamma(&a, &ln, q),
                    offset,
                    slope: ratio.above(),
                    below,
                    at: At::Value,
                };
                vec![side(false, 1.0, more), side(true, more, 1.0)]
            }
        };
        move |e| sides.iter().map(|side| side.height(e)).fold(0.0, f64::max)
    }
}

/// The lower corners of cells that hold all bases between the corners `(u, v + others)` and, mirrored, the middle. In each, laws
/// that `2 h` moves have about the Hellinger distance of those of the corner at most.
fn cover(u: &Real, v: &Real, others: &Real, h: f64) -> Vec<(Real, Real)> {
    let total = u + v + others;
    let (low, all) = (u.above(), total.above());
    let top = (u + others).min(&(&total / &Real::int(2))).above();
    // ln Gamma(x) - 2 ln Gamma(x + h) + ln Gamma(x + 2 h), as a sum of -ln(1 - h^2/y^2) and the integral of its rest.
    let far = |x: f64| {
        let (part, y) = (|y: f64| libm::log1p(-(h / y).powi(2)), x + h + 7.5);
        let sum: f64 = (0..8).map(|j| part(x + h + f64::from(j))).sum();
        y * part(y) + h * libm::log1p(2.0 * h / (y - h)) - sum
    };
    let limit = (far(low) + far(all - low)) * (1.0 + 1e-4);
    let mut edges = vec![low];
    while let Some(last) = edges.last().copied().filter(|last| *last < top) {
        let near = |next: f64| far(last) + far(all - next) <= limit;
        let halved = |(a, b): (f64, f64), _| {
            let m = f64::midpoint(a, b);
            if near(m) { (m, b) } else { (a, m) }
        };
        let next = if near(top) { top } else { (0..60).fold((last, top), halved).0 };
        edges.push(if next > last && edges.len() < 2_000 { next } else { top });
    }
    let ends = edges.iter().skip(1).chain((edges.len() == 1).then_some(&top));
    edges.iter().zip(ends).map(|(a, next)| (Real::new(*a).min(u).max(&Real::new(a * (1.0 - 1e-15))), &total - &Real::new(*next))).collect()
}

/// One member of a pair.
struct Law {
    /// Both counts of a Beta law, or the shape and the rate of a Gamma law.
    a: f64,
    b: f64,
    /// The logarithm of the normalising constant, and by how much it may be off besides its rounding.
    ln: f64,
    room: f64,
    beta: bool,
}

impl Law {
    fn gamma(a: &Real, ln: &Real, rate: f64) -> Law {
        Law { a: a.above(), b: rate, ln: (ln + half_ln_two_pi()).above(), room: 0.0, beta: false }
    }

    /// Beta(a, b), and the logarithm of its constant, for pairs that w moves.
    fn beta(a: &Real, b: &Real, w: &Real) -> (Law, Real) {
        let ln = |x: &Real| {
            let (near, off) = ln_gamma_near(x.above());
            if x.above() >= 1.0 && off <= 1e-11 && off <= 1e-9 * w.above() { (Real::new(near), off) } else { (ln_gamma(x), 0.0) }
        };
        let [x, y, all] = [ln(a), ln(b), ln(&(a + b))];
        let own = x.0 + y.0 - &all.0;
        let shown = (&own + &half_ln_two_pi()).above();
        (Law { a: a.above(), b: b.above(), ln: shown, room: 8.0 * (x.1 + y.1 + all.1), beta: true }, own)
    }

    /// `exp(scale)` times the chance of what lies below u, or above, and by what part it may be off; u is a logit, a logarithm or
    /// the value itself.
    fn tail(&self, u: f64, below: bool, at: At, scale: f64) -> (f64, f64) {
        let Law { a, b, ln, .. } = *self;
        if self.beta {
            let (x, y) = (1.0 / (1.0 + (-u).exp()), 1.0 / (1.0 + u.exp()));
            let parts = [a * ln_1p_exp(-u), b * ln_1p_exp(u), ln, -scale];
            let point = (-parts.iter().sum::<f64>()).exp();
            let left = x < (a + 1.0) / (a + b + 2.0);
            let part = if left { point / a * beta_fraction(a, b, x) } else { point / b * beta_fraction(b, a, y) };
            return (if left { part } else { scale.exp() - part }, off(parts) + self.room);
        }
        let x = b * if at == At::Logarithm { u.exp() } else { u };
        if x <= 0.0 {
            return (if below { 0.0 } else { scale.exp() }, off([0.0; 4]));
        }
        let parts = [-a * x.ln(), x, ln, -scale];
        let point = (-parts.iter().sum::<f64>()).exp();
        let left = x < a + 1.0;
        let part = if left { point * gamma_series(a, x) } else { point * gamma_fraction(a, x) };
        (if left == below { part } else { scale.exp() - part }, off(parts))
    }
}

fn off(parts: [f64; 4]) -> f64 {
    2e-15 * (50.0 + parts.iter().map(|x| x.abs()).sum::<f64>())
}

fn ln_1p_exp(u: f64) -> f64 {
    if u > 0.0 { u + libm::log1p((-u).exp()) } else { libm::log1p(u.exp()) }
}

/// `sum x^n / (a (a + 1) .. (a + n))`.
fn gamma_series(a: f64, x: f64) -> f64 {
    let (mut term, mut sum, mut n) = (1.0 / a, 1.0 / a, a);
    while term > sum * 1e-17 {
        n += 1.0;
        term *= x / n;
        sum += term;
    }
    sum
}

/// Lentz's method, for `1 / (d_0 + c_1 / (d_1 + ..))`.
fn fraction(first: f64, terms: impl Iterator<Item = (f64, f64)>) -> f64 {
    let (mut c, mut d) = (f64::MAX, 1.0 / first);
    let mut all = d;
    for (up, down) in terms {
        d = 1.0 / (down + up * d);
        c = down + up / c;
        all *= c * d;
        if (c * d - 1.0).abs() < 1e-16 {
            break;
        }
    }
    all
}

fn gamma_fraction(a: f64, x: f64) -> f64 {
    let terms = (1..100_000).map(f64::from).map(|i| (-i * (i - a), x + 2.0 * i + 1.0 - a));
    fraction(x + 1.0 - a, terms)
}

fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    let odd = |m: f64| -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
    let even = |m: f64| m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
    let terms = (0..100_000).map(f64::from).flat_map(|m| [(odd(m), 1.0), (even(m + 1.0), 1.0)]);
    fraction(1.0, terms)
}

/// An ordered pair whose loss is `offset - slope u` below u, or `slope u - offset` above.
struct Side {
    p: Law,
    q: Law,
    offset: f64,
    slope: f64,
    below: bool,
    at: At,
}

/// What u is.
#[derive(Clone, Copy, PartialEq)]
enum At {
    Value,
    Logarithm,
    Logit,
    /// Minus the logarithm of the part of the second count.
    Part,
}

impl Side {
    /// Beta(a, b + w) against Beta(a + w, b). Constants in doubles where what they are off by is far less than the loss: it moves the
    /// threshold, of which the square counts, and is added to every height. With counts of at least 1 a chance that is subtracted from 1 is at
    /// most seven times what is left.
    fn beta(a: &Real, b: &Real, w: &Real) -> Side {
        let ((p, own), (q, other)) = (Law::beta(a, &(b + w), w), Law::beta(&(a + w), b, w));
        Side { p, q, offset: (other - own).above(), slope: w.above(), below: true, at: At::Logit }
    }

    /// Beta(kept, count) against Beta(kept, count + w), and the reverse.
    fn counts(kept: &Real, count: &Real, w: &Real) -> [Side; 2] {
        let more = count + w;
        let ((p, own), (q, other)) = (Law::beta(count, kept, w), Law::beta(&more, kept, w));
        let (offset, slope, at) = ((own - other).above(), w.above(), At::Part);
        let [back, to] = [(&more, w), (count, w)].map(|(count, w)| Law::beta(kept, count, w).0);
        [Side { p, q, offset, slope, below: false, at }, Side { p: back, q: to, offset, slope, below: true, at }]
    }

    /// What is lost above e. At its threshold the difference is largest: an error there counts squared.
    fn height(&self, e: f64) -> f64 {
        let mut u = if self.below { (self.offset - e) / self.slope } else { (self.offset + e) / self.slope };
        if self.at == At::Part {
            if u <= 0.0 {
                return 0.0;
            }
            // Of the part exp(-u) the logit, of which what lies below is asked for, or of the rest.
            let logit = libm::log(libm::expm1(u));
            u = if self.below { logit } else { -logit };
        }
        let [p, q] = [(&self.p, 0.0), (&self.q, e)].map(|(law, scale)| law.tail(u, self.below, self.at, scale));
        let height = p.0 - q.0 + (p.0 * p.1).abs() + (q.0 * q.1).abs();
        if height.is_nan() { 1.0 } else { height.clamp(0.0, 1.0) }
    }
}
