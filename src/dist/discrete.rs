//! Distributions of truth, counts and levels.

use super::ArgKind::{Ordered, Scalar, Simplex, Trials, Vector};
use super::sample::{bernoulli, binomial, level, level_by_logits, log_gamma, logit_noise, poisson, positive_uniform};
use super::{ALL, BASE, COIN, Distribution, Law, Mass, POSITIVE, Power, Support, UNIT, VISITS, VOTES};
use crate::kernel::density::{Binned, Builder, One, Op, Operand, Two};
use crate::numeric::{Binary, Interval, Unary};
use Operand::Constant;

/// More trials than this are not a plan; up to the second number every outcome has operations of its own.
pub const MOST_TRIALS: f64 = 1e9;
const LISTED_TRIALS: f64 = 1024.0;

pub static DISCRETE: &[Distribution] = &[
    Distribution {
        name: "bernoulli",
        args: &[("p", Scalar(UNIT))],
        support: Support::Bool,
        density: "p^y (1 - p)^(1 - y)",
        example: COIN,
        draw: Some(|a, rng| bernoulli(a.share(0), rng)),
        law: Law::Levels { logs: either, least: |p| p.lo.min((Interval::ONE - p).lo) },
        ..BASE
    },
    Distribution {
        name: "bernoulli_logit",
        args: &[("eta", Scalar(ALL))],
        support: Support::Bool,
        density: "bernoulli(inv_logit(eta))",
        example: "output x = simulate(bernoulli_logit(-0.4), times = 100)",
        draw: Some(|a, rng| bernoulli(inv_logit(a.number(0)), rng)),
        law: Law::Levels {
            logs: |to, eta| by_link(to, Unary::InvLogit, eta),
            least: |eta| (Interval::ONE / (Interval::ONE + Interval::point(eta.magnitude()).exp())).lo,
        },
        ..BASE
    },
    Distribution {
        name: "bernoulli_probit",
        args: &[("eta", Scalar(ALL))],
        support: Support::Bool,
        density: "bernoulli(Phi(eta))",
        example: "output x = simulate(bernoulli_probit(-0.4), times = 100)",
        stan: "bernoulli(Phi($1))",
        draw: Some(|a, rng| bernoulli(0.5 * libm::erfc(-a.number(0) / std::f64::consts::SQRT_2), rng)),
        law: Law::Levels { logs: |to, eta| by_link(to, Unary::Phi, eta), least: |eta| Interval::point(-eta.magnitude()).normal_cdf().lo },
        ..BASE
    },
    Distribution {
        name: "bernoulli_cloglog",
        args: &[("eta", Scalar(ALL))],
        support: Support::Bool,
        density: "bernoulli(1 - exp(-exp(eta)))",
        example: "output x = simulate(bernoulli_cloglog(-0.4), times = 100)",
        stan: "bernoulli(inv_cloglog($1))",
        draw: Some(|a, rng| bernoulli(-libm::expm1(-libm::exp(a.number(0))), rng)),
        law: Law::Levels { logs: cloglog, least: |_| 0.0 },
        ..BASE
    },
    Distribution {
        name: "binomial",
        args: &[("N", Trials), ("p", Scalar(UNIT))],
        support: Support::CountsToFirst,
        density: "choose(N, y) p^y (1 - p)^(N - y)",
        example: "budget rdp(order = 5, eps = 0.5)\nprivate t[n] { hits: int in 0..3 }\nparam p ~ beta(40, 40)\nobserve hits ~ binomial(3, p)\nrelease p_hat = draw(p)",
        draw: Some(|a, rng| binomial(a.number(0), a.share(1), rng)),
        law: Law::Count(|to, args, y, b| if let [n, p] = *args { hits(to, n, p, y, b) } else { None }),
        ..BASE
    },
    Distribution {
        name: "binomial_logit",
        args: &[("N", Trials), ("eta", Scalar(ALL))],
        support: Support::CountsToFirst,
        density: "binomial(N, inv_logit(eta))",
        example: "output x = simulate(binomial_logit(10, 0.3), times = 100)",
        draw: Some(|a, rng| binomial(a.number(0), inv_logit(a.number(1)), rng)),
        law: Law::Count(|to, args, y, b| {
            let [n, eta] = *args else { return None };
            let p = to.unary(Unary::InvLogit, eta);
            hits(to, n, p, y, b)
        }),
        ..BASE
    },
    Distribution {
        name: "geometric",
        args: &[("p", Scalar(UNIT))],
        support: Support::Counts,
        density: "p (1 - p)^y, y failures before the first success",
        example: "budget rdp(order = 4, eps = 0.5)\nprivate t[n] { failures: int in 0..5 }\nparam p ~ beta(50, 50)\nobserve failures ~ geometric(p)\nrelease p_hat = draw(p)",
        stan: "neg_binomial(1, $1 / (1 - $1))",
        draw: Some(|a, rng| (positive_uniform(rng).ln() / libm::log1p(-a.share(0))).floor() + 0.0),
        law: Law::Count(failures),
        // As many failures or more have the probability (1 - p)^y: those of a waiting time of rate -ln(1 - p).
        within: |to, args, ends| {
            let q = to.sub(Constant(1.0), *args.first()?);
            let log_q = to.log(q);
            let rate = to.neg(log_q);
            let [from, until] = ends.map(|y| to.mul(rate, y));
            Some(to.op(Op::Within(Binned::Exponential, [from, until, Constant(0.0), Constant(0.0)])))
        },
        ..BASE
    },
    Distribution {
        name: "neg_binomial",
        args: &[("r0", Scalar(POSITIVE)), ("p", Scalar(UNIT))],
        support: Support::Counts,
        density: "choose(y + r0 - 1, y) p^r0 (1 - p)^y",
        example: "budget rdp(order = 4, eps = 0.5)\nprivate t[n] { failures: int in 0..5 }\nparam p ~ beta(50, 50)\nobserve failures ~ neg_binomial(2, p)\nrelease p_hat = draw(p)",
        stan: "neg_binomial($1, $2 / (1 - $2))",
        draw: Some(|a, rng| {
            let (r, p) = (a.positive(0), a.share(1));
            poisson((log_gamma(r, rng) + libm::log1p(-p) - p.ln()).exp(), rng)
        }),
        law: Law::Count(neg_binomial),
        within: |to, args, [from, until]| {
            let [r, p] = *args else { return None };
            let q = to.sub(Constant(1.0), p);
            let (log_p, log_q) = (to.log(p), to.log(q));
            let odds = to.sub(log_q, log_p);
            Some(to.op(Op::Within(Binned::NegBinomial, [from, until, r, odds])))
        },
        ..BASE
    },
    Distribution {
        name: "neg_binomial_2",
        args: &[("mu", Scalar(POSITIVE)), ("phi", Scalar(POSITIVE))],
        support: Support::Counts,
        density: "choose(y + phi - 1, y) (mu / (mu + phi))^y (phi / (mu + phi))^phi, of mean mu and variance mu + mu^2 / phi",
        example: "output x = simulate(neg_binomial_2(5, 2), times = 100)",
        draw: Some(|a, rng| {
            let phi = a.positive(1);
            poisson((log_gamma(phi, rng) + a.positive(0).ln() - phi.ln()).exp(), rng)
        }),
        law: Law::Count(neg_binomial_2),
        within: |to, args, [from, until]| {
            let [mu, phi] = *args else { return None };
            let (log_mu, log_phi) = (to.log(mu), to.log(phi));
            let odds = to.sub(log_mu, log_phi);
            Some(to.op(Op::Within(Binned::NegBinomial, [from, until, phi, odds])))
        },
        ..BASE
    },
    Distribution {
        name: "poisson",
        args: &[("rate", Scalar(POSITIVE))],
        support: Support::Counts,
        density: "rate^y exp(-rate) / y!",
        example: VISITS,
        draw: Some(|a, rng| poisson(a.number(0), rng)),
        law: Law::Count(|to, args, y, b| args.first().map(|rate| events(to, *rate, y, b))),
        within: |to, args, [from, until]| {
            let t = to.log(*args.first()?);
            Some(to.op(Op::Within(Binned::Poisson, [from, until, t, Constant(0.0)])))
        },
        ..BASE
    },
    Distribution {
        name: "poisson_log",
        args: &[("eta", Scalar(ALL))],
        support: Support::Counts,
        density: "poisson(exp(eta))",
        example: "output x = simulate(poisson_log(1.2), times = 100)",
        draw: Some(|a, rng| poisson(libm::exp(a.number(0)), rng)),
        law: Law::Count(|to, args, y, b| {
            let rate = to.exp(*args.first()?);
            Some(events(to, rate, y, b))
        }),
        within: |to, args, [from, until]| Some(to.op(Op::Within(Binned::Poisson, [from, until, *args.first()?, Constant(0.0)]))),
        ..BASE
    },
    Distribution {
        name: "categorical",
        args: &[("shares", Simplex)],
        support: Support::Categories,
        density: "shares[y]",
        example: VOTES,
        draw: Some(|a, rng| level(a.numbers(0), rng)),
        law: Law::Levels { logs: |to, shares| shares.iter().map(|s| to.log(*s)).collect(), least: |_| 0.0 },
        ..BASE
    },
    Distribution {
        name: "categorical_logit",
        args: &[("eta", Vector)],
        support: Support::Categories,
        density: "softmax(eta)[y]",
        example: "output x = simulate(categorical_logit([0, 0.5, 1]), times = 100)",
        draw: Some(|a, rng| level_by_logits(a.numbers(0), rng)),
        law: Law::Levels { logs: log_softmax, least: |_| 0.0 },
        ..BASE
    },
    Distribution {
        name: "ordered_logistic",
        args: &[("eta", Scalar(ALL)), ("cuts", Ordered)],
        support: Support::Categories,
        density: "inv_logit(eta - cuts[y - 1]) - inv_logit(eta - cuts[y]), 1 in place of the first for y = 1, 0 in place of the last",
        example: "output x = simulate(ordered_logistic(0.4, [-1, 0.5, 2]), times = 100)",
        draw: Some(|a, rng| {
            let latent = a.number(0) + logit_noise(rng);
            1.0 + a.numbers(1).iter().filter(|cut| latent > **cut).count() as f64
        }),
        law: Law::Levels { logs: between_cuts, least: |_| 0.0 },
        ..BASE
    },
    Distribution {
        name: "multinomial",
        args: &[("N", Trials), ("shares", Simplex)],
        support: Support::CountVector,
        density: "n! prod shares_i^y_i / y_i!, n the items of the row",
        example: "budget rdp(order = 3, eps = 1)\nprivate t[n] { items: counts[3] of 2 }\nparam share ~ dirichlet([20, 20, 20])\nobserve items ~ multinomial(2, share)\nrelease share_hat = draw(share)",
        stan: "multinomial($2)",
        law: Law::Vector(|to, args, y| {
            let [_, shares] = args else { return None };
            let pairs = y.iter().zip(shares).map(|(y, s)| (*y, to.log(*s))).collect();
            Some(vec![to.op(Op::Dot(pairs))])
        }),
        ..BASE
    },
];

fn inv_logit(x: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-x))
}

/// Of a probability and its complement.
fn either(to: &mut Builder, p: &[Operand]) -> Vec<Operand> {
    let both = |p: &Operand| {
        let q = to.sub(Constant(1.0), *p);
        [to.log(*p), to.log(q)]
    };
    p.iter().flat_map(both).collect()
}

fn by_link(to: &mut Builder, link: Unary, eta: &[Operand]) -> Vec<Operand> {
    let p: Vec<Operand> = eta.iter().map(|eta| to.unary(link, *eta)).collect();
    either(to, &p)
}

fn cloglog(to: &mut Builder, eta: &[Operand]) -> Vec<Operand> {
    let both = |eta: &Operand| {
        let u = to.exp(*eta);
        [to.unary(One::LogCloglog, *eta), to.neg(u)]
    };
    eta.iter().flat_map(both).collect()
}

/// Less the logarithm of the sum of exponentials.
fn log_softmax(to: &mut Builder, eta: &[Operand]) -> Vec<Operand> {
    let all = to.log_sum_exp(eta);
    eta.iter().map(|eta| to.sub(*eta, all)).collect()
}

/// `inv_logit(a) - inv_logit(b) = inv_logit(a) inv_logit(-b) (1 - exp(b - a))`, which keeps digits in both tails.
fn between_cuts(to: &mut Builder, args: &[Operand]) -> Vec<Operand> {
    let Some((eta, cuts)) = args.split_first() else { return vec![] };
    let above: Vec<Operand> = cuts.iter().map(|cut| to.sub(*eta, *cut)).collect();
    let mut factors: Vec<Vec<Operand>> = vec![vec![]; cuts.len() + 1];
    for (i, t) in above.iter().enumerate() {
        let below = to.neg(*t);
        let sides = [(i, to.unary(One::LogInvLogit, below)), (i + 1, to.unary(One::LogInvLogit, *t))];
        for (level, log) in sides {
            factors.get_mut(level).into_iter().for_each(|f| f.push(log));
        }
    }
    for (factors, ends) in factors.iter_mut().skip(1).zip(cuts.windows(2)) {
        let [lower, upper] = *ends else { continue };
        let width = to.sub(upper, lower);
        let log_width = to.log(width);
        factors.push(to.unary(One::LogCloglog, log_width));
    }
    factors.into_iter().map(|f| to.sum(f)).collect()
}

/// `factor ln x!`
fn factorial(to: &mut Builder, factor: f64, x: Operand) -> Operand {
    let more = to.shift(1.0, x);
    let log = to.unary(One::LnGamma, more);
    to.scale(factor, log)
}

/// So many of n trials.
fn hits(to: &mut Builder, n: Operand, p: Operand, y: Operand, b: Power) -> Option<Mass> {
    let Constant(n) = n else { return None };
    let q = to.sub(Constant(1.0), p);
    let (log_p, log_q) = (to.log(p), to.log(q));
    let others = to.sub(Constant(n), y);
    let mut terms: Vec<Operand> = [(1.0, Constant(n)), (-1.0, y), (-1.0, others)].map(|(f, x)| factorial(to, f, x)).to_vec();
    terms.push(to.op(Op::Dot(vec![(y, log_p), (others, log_q)])));
    let log = to.sum(terms);
    let Some(b) = b else { return Some((log, None)) };
    if !(1.0..=MOST_TRIALS).contains(&n) {
        return None;
    }
    if n > LISTED_TRIALS {
        let odds = to.sub(log_p, log_q);
        return Some((log, Some(to.unary(One::BinomialPower(b, n), odds))));
    }
    let mut all = vec![];
    for k in 0..=n as u32 {
        let k = f64::from(k);
        let ways = libm::lgamma(n + 1.0) - libm::lgamma(k + 1.0) - libm::lgamma(n - k + 1.0);
        // 0 times the logarithm of 0 would be no number.
        let counts = [(k, log_p), (n - k, log_q)].into_iter().filter(|(k, _)| *k > 0.0);
        let log = to.op(Op::Dot(counts.map(|(k, l)| (Constant(k), l)).collect()));
        let log = to.shift(ways, log);
        all.push(to.power(b, log));
    }
    Some((log, Some(to.sum(all))))
}

/// The sum over k of `(p q^k)^b` is `p^b / (1 - q^b)`.
fn failures(to: &mut Builder, args: &[Operand], y: Operand, b: Power) -> Option<Mass> {
    let p = *args.first()?;
    let q = to.sub(Constant(1.0), p);
    let (log_p, log_q) = (to.log(p), to.log(q));
    let seen = to.mul(y, log_q);
    let log = to.add(log_p, seen);
    let Some(b) = b else { return Some((log, None)) };
    let u = to.scale(-b, log_q);
    let log_u = to.log(u);
    let rest = to.unary(One::LogCloglog, log_u);
    let top = to.scale(b, log_p);
    let power = to.sub(top, rest);
    Some((log, Some(to.exp(power))))
}

fn neg_binomial(to: &mut Builder, args: &[Operand], y: Operand, b: Power) -> Option<Mass> {
    let [r, p] = *args else { return None };
    let q = to.sub(Constant(1.0), p);
    let logs = (to.log(p), to.log(q));
    Some(failures_before(to, r, logs, y, b))
}

/// phi successes at odds of a failure of `mu / phi`.
fn neg_binomial_2(to: &mut Builder, args: &[Operand], y: Operand, b: Power) -> Option<Mass> {
    let [mu, phi] = *args else { return None };
    let odds = to.binary(Binary::Div, mu, phi);
    let (more, all) = (to.unary(Unary::Log1p, odds), to.add(mu, phi));
    let (log_mu, log_all) = (to.log(mu), to.log(all));
    let logs = (to.neg(more), to.sub(log_mu, log_all));
    Some(failures_before(to, phi, logs, y, b))
}

/// So many failures before r successes, by the logarithms of the chances of a success and of a failure.
fn failures_before(to: &mut Builder, r: Operand, (log_p, log_q): (Operand, Operand), y: Operand, b: Power) -> Mass {
    let all = to.add(y, r);
    let mut terms = vec![to.mul(r, log_p), to.mul(y, log_q), factorial(to, -1.0, y)];
    for (sign, x) in [(1.0, all), (-1.0, r)] {
        let gamma = to.unary(One::LnGamma, x);
        terms.push(to.scale(sign, gamma));
    }
    let log = to.sum(terms);
    let power = b.map(|b| {
        let odds = to.sub(log_q, log_p);
        to.op(Op::Binary(Two::NegBinomialPower(b), r, odds))
    });
    (log, power)
}

fn events(to: &mut Builder, rate: Operand, y: Operand, b: Power) -> Mass {
    let t = to.log(rate);
    let seen = to.mul(y, t);
    let ways = factorial(to, -1.0, y);
    let none = to.neg(rate);
    (to.sum(vec![seen, none, ways]), b.map(|b| to.unary(One::PoissonPower(b), t)))
}
