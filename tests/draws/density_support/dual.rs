//! Numbers with a derivative, expressions and densities on them by their textbook formulas.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::{Add, Div, Mul, Neg, Sub};

use dpm::mechanism::plan::{DensityLaw, Loss};
use dpm::model::{Builtin, Expr, ExprKind, ParamId, Parameter, Table, Type, Unary};

#[derive(Clone, Copy)]
pub struct Dual {
    pub v: f64,
    pub d: f64,
}

pub fn c(v: f64) -> Dual {
    Dual { v, d: 0.0 }
}

impl Add for Dual {
    type Output = Dual;
    fn add(self, o: Dual) -> Dual {
        Dual { v: self.v + o.v, d: self.d + o.d }
    }
}
impl Sub for Dual {
    type Output = Dual;
    fn sub(self, o: Dual) -> Dual {
        Dual { v: self.v - o.v, d: self.d - o.d }
    }
}
impl Mul for Dual {
    type Output = Dual;
    fn mul(self, o: Dual) -> Dual {
        Dual { v: self.v * o.v, d: self.d * o.v + self.v * o.d }
    }
}
impl Div for Dual {
    type Output = Dual;
    fn div(self, o: Dual) -> Dual {
        Dual { v: self.v / o.v, d: (self.d - self.v / o.v * o.d) / o.v }
    }
}
impl Neg for Dual {
    type Output = Dual;
    fn neg(self) -> Dual {
        Dual { v: -self.v, d: -self.d }
    }
}

fn phi(x: f64) -> f64 {
    (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt()
}

impl Dual {
    fn by(self, v: f64, slope: f64) -> Dual {
        Dual { v, d: if self.d == 0.0 { 0.0 } else { slope * self.d } }
    }
    pub fn exp(self) -> Dual {
        self.by(self.v.exp(), self.v.exp())
    }
    pub fn ln(self) -> Dual {
        self.by(self.v.ln(), 1.0 / self.v)
    }
    pub fn sqrt(self) -> Dual {
        self.by(self.v.sqrt(), 0.5 / self.v.sqrt())
    }
    pub fn tanh(self) -> Dual {
        self.by(self.v.tanh(), 1.0 - self.v.tanh().powi(2))
    }
    pub fn abs(self) -> Dual {
        self.by(self.v.abs(), if self.v > 0.0 { 1.0 } else { -1.0 })
    }
    pub fn powf(self, p: f64) -> Dual {
        self.by(self.v.powf(p), p * self.v.powf(p - 1.0))
    }
    pub fn cdf(self) -> Dual {
        self.by(0.5 * libm::erfc(-self.v / 2f64.sqrt()), phi(self.v))
    }
    pub fn gamma_ln(self) -> Dual {
        let h = 1e-5 * self.v;
        let slope = (libm::lgamma(self.v + h) - libm::lgamma(self.v - h)) / (2.0 * h);
        self.by(libm::lgamma(self.v), slope)
    }
    pub fn sigmoid(self) -> Dual {
        c(1.0) / (c(1.0) + (-self).exp())
    }
}

thread_local! {
    /// Integrals by family, power and shape.
    static INTEGRALS: RefCell<BTreeMap<(String, u64, u64), f64>> = const { RefCell::new(BTreeMap::new()) };
}

/// A row with the parameters' values.
pub struct At<'a> {
    pub table: &'a Table,
    pub row: &'a [f64],
    pub parameters: &'a [(ParamId, Vec<Dual>)],
}

impl At<'_> {
    pub fn one(&self, e: &Expr) -> Dual {
        self.value(e)[0]
    }

    pub fn value(&self, e: &Expr) -> Vec<Dual> {
        let n = dpm::data::layout::width(&e.ty);
        match &e.kind {
            ExprKind::Number(x) => vec![c(*x)],
            ExprKind::Bool(b) => vec![c(f64::from(u8::from(*b)))],
            ExprKind::Level(i) => vec![c(*i as f64)],
            ExprKind::Param(id) => self.parameters.iter().find(|(p, _)| p == id).unwrap().1.clone(),
            ExprKind::Column(_, column) => {
                let (starts, _) = dpm::data::layout::offsets(self.table);
                self.row[starts[column.0]..starts[column.0] + n].iter().map(|x| c(*x)).collect()
            }
            ExprKind::List(items) => items.iter().flat_map(|i| self.value(i)).collect(),
            ExprKind::If(test, a, b) => self.wide(if self.one(test).v != 0.0 { a } else { b }, n),
            ExprKind::Index(vector, index) => {
                let i = self.one(index).v as usize;
                let base = usize::from(!matches!(index.ty, Type::Category(_)));
                vec![self.value(vector)[i - base]]
            }
            ExprKind::Call(f, args) => self.call(*f, args, n),
            other => panic!("{other:?}"),
        }
    }

    fn wide(&self, e: &Expr, n: usize) -> Vec<Dual> {
        let v = self.value(e);
        if v.len() == n { v } else { vec![v[0]; n] }
    }

    fn call(&self, f: Builtin, args: &[Expr], n: usize) -> Vec<Dual> {
        use Builtin as B;
        let truth = |b: bool| c(f64::from(u8::from(b)));
        let one = |g: &dyn Fn(Dual) -> Dual| self.wide(&args[0], n).into_iter().map(g).collect::<Vec<_>>();
        let two = |g: &dyn Fn(Dual, Dual) -> Dual| {
            self.wide(&args[0], n).into_iter().zip(self.wide(&args[1], n)).map(|(a, b)| g(a, b)).collect::<Vec<_>>()
        };
        let dot = |a: &[Dual], b: &[Dual]| a.iter().zip(b).fold(c(0.0), |s, (a, b)| s + *a * *b);
        match f {
            B::Neg => one(&|x| -x),
            B::Not => one(&|x| truth(x.v == 0.0)),
            B::Abs => one(&Dual::abs),
            B::Exp => one(&Dual::exp),
            B::Log => one(&Dual::ln),
            B::Unary(Unary::Log1p) => one(&|x| (c(1.0) + x).ln()),
            B::Sqrt => one(&Dual::sqrt),
            B::Unary(Unary::Tanh) => one(&Dual::tanh),
            B::Unary(Unary::InvLogit) => one(&Dual::sigmoid),
            B::Unary(Unary::Phi) => one(&Dual::cdf),
            B::Add => two(&|a, b| a + b),
            B::Sub => two(&|a, b| a - b),
            B::Mul => two(&|a, b| a * b),
            B::Div => two(&|a, b| a / b),
            B::Pow => two(&|a, b| a.powf(b.v)),
            B::Min => two(&|a, b| if b.v < a.v { b } else { a }),
            B::Max => two(&|a, b| if b.v > a.v { b } else { a }),
            B::Gt => two(&|a, b| truth(a.v > b.v)),
            B::Lt => two(&|a, b| truth(a.v < b.v)),
            B::Eq => two(&|a, b| truth(a.v == b.v)),
            B::Clip => {
                let (lo, hi) = (self.one(&args[1]), self.one(&args[2]));
                one(&|x| {
                    if x.v < lo.v {
                        lo
                    } else if x.v > hi.v {
                        hi
                    } else {
                        x
                    }
                })
            }
            B::Dot => vec![dot(&self.value(&args[0]), &self.value(&args[1]))],
            B::MatVec => {
                let (m, x) = (self.value(&args[0]), self.value(&args[1]));
                m.chunks(x.len()).map(|r| dot(r, &x)).collect()
            }
            B::Append => args.iter().flat_map(|a| self.value(a)).collect(),
            B::Norm => {
                let x = self.value(&args[0]);
                vec![dot(&x, &x).sqrt()]
            }
            B::VecSum => vec![self.value(&args[0]).into_iter().fold(c(0.0), Add::add)],
            B::VecMean => {
                let x = self.value(&args[0]);
                vec![x.iter().copied().fold(c(0.0), Add::add) / c(x.len() as f64)]
            }
            other => panic!("{other:?}"),
        }
    }

    /// The sum of all losses of a row.
    pub fn loss(&self, law: &DensityLaw) -> Dual {
        law.rows.iter().fold(c(0.0), |s, o| s + self.observation(&o.outcome, o.likelihood.name(), &o.likelihood.args, law.loss))
    }

    fn observation(&self, outcome: &Expr, family: &str, args: &[Expr], loss: Loss) -> Dual {
        let y = self.one(outcome).v;
        let arg = |i: usize| self.one(&args[i]);
        let first = if let Type::Int(r) = outcome.ty { r.lo } else { 0.0 };
        // All probabilities there are, by outcome.
        let masses: Option<Vec<Dual>> = match family {
            "bernoulli" => Some(vec![c(1.0) - arg(0), arg(0)]),
            "bernoulli_logit" => Some(vec![(-arg(0)).sigmoid(), arg(0).sigmoid()]),
            "bernoulli_probit" => Some(vec![(-arg(0)).cdf(), arg(0).cdf()]),
            "bernoulli_cloglog" => {
                let none = (-arg(0).exp()).exp();
                Some(vec![none, c(1.0) - none])
            }
            "binomial" | "binomial_logit" => {
                let n = arg(0).v;
                let p = if family == "binomial" { arg(1) } else { arg(1).sigmoid() };
                let ways = |k: f64| (libm::lgamma(n + 1.0) - libm::lgamma(k + 1.0) - libm::lgamma(n - k + 1.0)).exp();
                Some((0..=n as u32).map(f64::from).map(|k| c(ways(k)) * p.powf(k) * (c(1.0) - p).powf(n - k)).collect())
            }
            "categorical" => Some(self.value(&args[0])),
            "categorical_logit" => {
                let e: Vec<Dual> = self.value(&args[0]).into_iter().map(Dual::exp).collect();
                let sum = e.iter().copied().fold(c(0.0), Add::add);
                Some(e.into_iter().map(|e| e / sum).collect())
            }
            "poisson" | "poisson_log" => {
                let t = if family == "poisson" { arg(0).ln() } else { arg(0) };
                let f = |k: f64| (c(k) * t - t.exp() - c(libm::lgamma(k + 1.0))).exp();
                Some((0..2000).map(f64::from).map(f).collect())
            }
            "geometric" => Some((0..20_000).map(|k| arg(0) * (c(1.0) - arg(0)).powf(f64::from(k))).collect()),
            "ordered_logistic" => {
                let above: Vec<Dual> = self.value(&args[1]).into_iter().map(|cut| (arg(0) - cut).sigmoid()).collect();
                let ends = [vec![c(1.0)], above, vec![c(0.0)]].concat();
                Some(ends.windows(2).map(|w| w[0] - w[1]).collect())
            }
            "neg_binomial" | "neg_binomial_2" => {
                let (r, p) = if family == "neg_binomial" { (arg(0), arg(1)) } else { (arg(1), arg(1) / (arg(0) + arg(1))) };
                let f = |k: f64| {
                    ((c(k) + r).gamma_ln() - c(libm::lgamma(k + 1.0)) - r.gamma_ln() + r * p.ln() + c(k) * (c(1.0) - p).ln()).exp()
                };
                Some((0..4000).map(f64::from).map(f).collect())
            }
            _ => None,
        };
        if let Some(masses) = masses {
            let f = masses[(y - if family.starts_with("cat") || family == "ordered_logistic" { first } else { 0.0 }) as usize];
            return match loss {
                Loss::NegativeLog => -f.ln(),
                Loss::Beta { beta: b } => {
                    let sum = masses.into_iter().filter(|m| m.v > 0.0).fold(c(0.0), |s, m| s + m.powf(b));
                    -f.powf(b - 1.0) / c(b - 1.0) + sum / c(b)
                }
            };
        }
        let y = c(y);
        if family == "lognormal" {
            let z = (y.ln() - arg(0)) / arg(1);
            return z * z / c(2.0) + (y * arg(1)).ln() + c((2.0 * std::f64::consts::PI).ln() / 2.0);
        }
        if family == "weibull" {
            let t = (y / arg(1)).ln();
            return (arg(0) * t).exp() - (arg(0) / arg(1)).ln() - (arg(0) - c(1.0)) * t;
        }
        // A density as a function, and where most of it is: the integral is by quadrature.
        let (mean, scale) = match family {
            "normal" | "laplace" | "cauchy" | "logistic" => (arg(0), arg(1)),
            "student_t" => (arg(1), arg(2)),
            "half_normal" | "half_cauchy" => (c(0.0), arg(0)),
            "exponential" => (c(0.0), c(1.0) / arg(0)),
            "gamma" => (c(0.0), c(1.0) / arg(1)),
            other => panic!("{other}"),
        };
        let pi = std::f64::consts::PI;
        let shape = match family {
            "student_t" | "gamma" => arg(0),
            _ => c(1.0),
        };
        let standard = |z: Dual, shape: Dual| match family {
            "normal" => (c(-0.5) * z * z).exp() / c((2.0 * pi).sqrt()),
            "half_normal" => (c(-0.5) * z * z).exp() * c((2.0 / pi).sqrt()),
            "laplace" => (-z.abs()).exp() / c(2.0),
            "logistic" => z.sigmoid() * (-z).sigmoid(),
            "half_cauchy" => c(2.0 / pi) / (c(1.0) + z * z),
            "cauchy" | "student_t" => {
                let half = shape / c(2.0);
                let norm = ((half + c(0.5)).gamma_ln() - half.gamma_ln()).exp() / (c(pi) * shape).sqrt();
                norm * (-(half + c(0.5)) * (c(1.0) + z * z / shape).ln()).exp()
            }
            "exponential" => (-z).exp(),
            "gamma" => ((shape - c(1.0)) * z.ln() - z - shape.gamma_ln()).exp(),
            other => panic!("{other}"),
        };
        let f = standard((y - mean) / scale, shape) / scale;
        match loss {
            Loss::NegativeLog => -f.ln(),
            Loss::Beta { beta: b } => {
                // int f^b = scale^(1 - b) int g^b, by the midpoint rule in z = sinh(s), which reaches far.
                let (from, to, n) = match family {
                    "normal" | "laplace" | "cauchy" | "logistic" | "student_t" => (-24.0, 24.0, 200_000),
                    "half_cauchy" => (0.0, 24.0, 200_000),
                    _ => (0.0, 6.0, 200_000),
                };
                let h = (to - from) / f64::from(n);
                let integral = |shape: f64| {
                    let term = |i: i32| {
                        let s: f64 = from + (f64::from(i) + 0.5) * h;
                        standard(c(s.sinh()), c(shape)).v.powf(b) * s.cosh()
                    };
                    let key = (family.to_string(), b.to_bits(), shape.to_bits());
                    INTEGRALS.with_borrow_mut(|known| *known.entry(key).or_insert_with(|| (0..n).map(term).sum::<f64>() * h))
                };
                let slope = if shape.d == 0.0 { 0.0 } else { (integral(shape.v + 1e-4) - integral(shape.v - 1e-4)) / 2e-4 };
                let integral = Dual { v: integral(shape.v), d: slope * shape.d };
                -f.powf(b - 1.0) / c(b - 1.0) + integral / c(b) * scale.powf(1.0 - b)
            }
        }
    }
}

/// A parameter as a function of its coordinates, by its own formulas, with the logarithm of its Jacobian.
pub fn parameter(p: &Parameter, u: &[Dual]) -> (Vec<Dual>, Dual) {
    let mut log = c(0.0);
    let value = match &p.ty {
        Type::Simplex { dim, .. } => {
            let (mut left, mut shares) = (c(1.0), vec![]);
            for (i, u) in u.iter().enumerate() {
                let z = (*u - c(((*dim as usize - 1 - i) as f64).ln())).sigmoid();
                log = log + (z * (c(1.0) - z) * left).ln();
                shares.push(left * z);
                left = left * (c(1.0) - z);
            }
            shares.push(left);
            shares
        }
        Type::Vector(v) if v.ordered => {
            let (lo, hi) = (v.range.lo, v.range.hi);
            if hi.is_finite() {
                // The sums of shares: their Jacobian is that of the shares, times the length.
                let (mut left, mut sum, mut all) = (c(1.0), c(0.0), vec![]);
                for (i, u) in u.iter().enumerate() {
                    let z = (*u - c(((v.dim as usize - i) as f64).ln())).sigmoid();
                    log = log + (z * (c(1.0) - z) * left).ln();
                    sum = sum + left * z;
                    left = left * (c(1.0) - z);
                    all.push(c(lo) + c(hi - lo) * sum);
                }
                return (all, log);
            }
            let mut all: Vec<Dual> = vec![];
            for u in u {
                all.push(match all.last() {
                    None if lo.is_infinite() => *u,
                    before => {
                        log = log + *u;
                        before.copied().unwrap_or(c(lo)) + u.exp()
                    }
                });
            }
            all
        }
        ty => {
            let r = ty.range().unwrap();
            u.iter()
                .map(|u| match (r.lo.is_finite(), r.hi.is_finite()) {
                    (false, false) => *u,
                    (true, false) => {
                        log = log + *u;
                        c(r.lo) + u.exp()
                    }
                    (false, true) => {
                        log = log + *u;
                        c(r.hi) - u.exp()
                    }
                    (true, true) => {
                        let z = u.sigmoid();
                        log = log + (z * (c(1.0) - z)).ln();
                        c(r.lo) + c(r.hi - r.lo) * z
                    }
                })
                .collect()
        }
    };
    (value, log)
}

/// The log prior density up to a constant.
pub fn prior(p: &Parameter, x: &[Dual], at: &At) -> Dual {
    let args: Vec<Vec<Dual>> = p.prior.args.iter().map(|a| at.value(a)).collect();
    if p.prior.name() == "dirichlet" {
        return x.iter().zip(&args[0]).fold(c(0.0), |s, (x, a)| s + (*a - c(1.0)) * x.ln());
    }
    let arg = |i: usize, k: usize| if args[k].len() == 1 { args[k][0] } else { args[k][i] };
    x.iter().enumerate().fold(c(0.0), |s, (i, x)| {
        let a = |k: usize| arg(i, k);
        let square = |z: Dual| z * z;
        s + match p.prior.name() {
            "normal" => -(square((*x - a(0)) / a(1)) / c(2.0)) - a(1).ln(),
            "half_normal" => -(square(*x / a(0)) / c(2.0)) - a(0).ln(),
            "laplace" => -((*x - a(0)).abs() / a(1)) - a(1).ln(),
            "cauchy" => -(c(1.0) + square((*x - a(0)) / a(1))).ln() - a(1).ln(),
            "student_t" => {
                let nu = a(0);
                let half = nu / c(2.0);
                (half + c(0.5)).gamma_ln()
                    - half.gamma_ln()
                    - nu.ln() / c(2.0)
                    - a(2).ln()
                    - (half + c(0.5)) * (c(1.0) + square((*x - a(1)) / a(2)) / nu).ln()
            }
            "logistic" => {
                let z = (*x - a(0)) / a(1);
                z.sigmoid().ln() + (-z).sigmoid().ln() - a(1).ln()
            }
            "half_cauchy" => -(c(1.0) + square(*x / a(0))).ln() - a(0).ln(),
            "lognormal" => -(square((x.ln() - a(0)) / a(1)) / c(2.0)) - a(1).ln() - x.ln(),
            "weibull" => {
                let t = (*x / a(1)).ln();
                (a(0) / a(1)).ln() + (a(0) - c(1.0)) * t - (a(0) * t).exp()
            }
            "exponential" => a(0).ln() - a(0) * *x,
            "gamma" => a(0) * a(1).ln() - a(0).gamma_ln() + (a(0) - c(1.0)) * x.ln() - a(1) * *x,
            "inv_gamma" => a(0) * a(1).ln() - a(0).gamma_ln() - (a(0) + c(1.0)) * x.ln() - a(1) / *x,
            "beta" => {
                (a(0) + a(1)).gamma_ln() - a(0).gamma_ln() - a(1).gamma_ln()
                    + (a(0) - c(1.0)) * x.ln()
                    + (a(1) - c(1.0)) * (c(1.0) - *x).ln()
            }
            "uniform" => c(0.0),
            other => panic!("{other}"),
        }
    })
}
