//! k releases cost the same however they are written: `draws(p, k)`, k release statements, and `repeat(k)` of the library,
//! for every kind of claim.

use crate::numbers_support::{certified, error_of};
use dpm::privacy::{Claim, Family, Pair};

fn near(a: f64, b: f64) -> bool {
    (a.is_infinite() && a == b) || (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

/// Every number that a certificate prints, and what budgets are held against.
fn equal(a: &Claim, b: &Claim, what: &str) {
    let numbers = |c: &Claim| {
        let mut list = vec![c.pure(), c.zcdp(), c.gdp(), c.bounded_range(), c.max_order()];
        list.extend([1.05, 1.5, 2.0, 5.0, 30.0].map(|order| c.rdp(order)));
        list.extend([1e-3, 1e-6].map(|delta| c.epsilon(delta)));
        list.extend([0.2, 1.0].map(|e| c.delta(e)));
        list
    };
    let (x, y) = (numbers(a), numbers(b));
    for (i, (x, y)) in x.iter().zip(&y).enumerate() {
        assert!(near(*x, *y), "{what}: number {i} is {x} and {y}\n{a:?}\n{b:?}");
    }
}

const TABLE: &str = "private t[n] { b: bool, c: category {red, green, blue}, k: int in 0..3, x: real in [0, 1] }\n";

/// What a model declares, and what is released `k` times.
const RELEASES: [(&str, &str); 9] = [
    ("param p ~ beta(30, 40)\nobserve b ~ bernoulli(p)\n", "draw(p) using direct"),
    ("param p ~ dirichlet([30, 40, 50])\nobserve c ~ categorical(p)\n", "draw(p) using direct"),
    ("param p ~ gamma(40, 10)\nobserve k ~ poisson(p)\n", "draw(p) using diffuse(r = 0.5)"),
    ("param p ~ normal(0, 1)\nobserve x ~ normal(p, 2)\n", "draw(p) using direct"),
    ("", "sum(k) using laplace(scale = 20)"),
    ("", "sum(k) using geometric(scale = 20)"),
    ("", "sum(k) using gaussian(sigma = 20)"),
    ("", "quantile(x, 0.5) using exponential(lo = 0, hi = 1, eps = 0.3)"),
    ("", "mean(b) using beta_query(30, 40, r = 1)"),
];

#[test]
fn the_same_release_k_times() {
    for (model, release) in RELEASES {
        let one = certified(&format!("{TABLE}{model}release a = {release}\n")).total().clone();
        for k in [1_u64, 2, 3, 7] {
            let lines: String = (0..k).map(|i| format!("release a{i} = {release}\n")).collect();
            let text = format!("{TABLE}{model}{lines}");
            let statements = certified(&text).total().clone();
            equal(&statements, &one.repeat(k), &text);
            if let Some(draw) = release.strip_prefix("draw(p)") {
                let text = format!("{TABLE}{model}release a = draws(p, {k}){draw}\n");
                equal(certified(&text).total(), &statements, &text);
            }
        }
    }
}

#[test]
fn every_kind_of_claim_in_the_library() {
    let beta = Claim::Renyi(vec![Pair::Shapes { family: Family::Beta, coordinates: vec![(6.0, 1.0), (112.0, -1.0)], total: None }]);
    let rate = Claim::Renyi(vec![Pair::Rate { shape: 20.0, rate: 30.0, step: 1.0 }]);
    let spread = Claim::Renyi(vec![Pair::Allocation { counts: vec![20.0, 30.0, 40.0], base: 0.0, items: 2, weight: 1.0 }]);
    let kinds = [
        beta.clone(),
        rate,
        spread,
        Claim::Gdp { mu: 0.3 },
        Claim::BoundedRange { eta: 0.4 },
        Claim::Pure { epsilon: 0.2 },
        Claim::Zcdp { rho: 0.01 },
        Claim::Laplace { epsilon: 0.2 },
        Claim::Max(vec![beta.clone(), Claim::Laplace { epsilon: 0.5 }]),
        Claim::Product(vec![beta, Claim::BoundedRange { eta: 0.3 }, Claim::Pure { epsilon: 0.1 }]),
    ];
    for claim in kinds {
        for k in [2_u64, 5] {
            let loop_of = Claim::Product((0..k).map(|_| claim.clone()).collect());
            equal(&claim.repeat(k), &loop_of, &format!("{k} times {claim:?}"));
            // Nested as pairs of pairs.
            let nested = claim.repeat(k).repeat(2);
            equal(&nested, &claim.repeat(2 * k), &format!("2 times {k} times {claim:?}"));
        }
    }
}

/// Bounded ranges must not be added: of two exponential mechanisms the second may be chosen by the first's outcome.
#[test]
fn two_exponential_mechanisms_are_no_wider_range() {
    let two = Claim::BoundedRange { eta: 0.4 }.repeat(2);
    assert!(two.bounded_range() >= 2.0 * two.pure() - 1e-12 && two.pure() >= 0.8);
    // The exact law of two adaptive draws: two-point pairs, the interval of the second chosen by the outcome of the first.
    let pair = |t: f64| {
        // Log ratios t and t - 0.4.
        let p = (1.0 - (-t).exp()) / ((0.4 - t).exp() - (-t).exp());
        let low = if t > 0.0 && t < 0.4 { Some(p.clamp(0.0, 1.0)) } else { None };
        low.map(|low| [(1.0 - low, t), (low, t - 0.4)])
    };
    let grid = || (1..40).map(|i| 0.01 * f64::from(i)).filter_map(pair);
    let best = |x: f64| grid().map(|law| law.iter().map(|(p, l)| p * (1.0 - (x - l).exp()).max(0.0)).sum::<f64>()).fold(0.0, f64::max);
    for e in [0.1, 0.3, 0.6] {
        // The second pair is the worst for what is left after the first outcome.
        let adaptive = grid().map(|law| law.iter().map(|(p, l)| p * best(e - l)).sum::<f64>()).fold(0.0, f64::max);
        assert!(adaptive > 0.0 && two.delta(e) >= adaptive, "at {e}: {} below {adaptive}", two.delta(e));
    }
}

/// Releases without `spend` get what the composition of all leaves; written shares stay as they are.
#[test]
fn a_dp_budget_is_used_as_composed() {
    let used = |spend: &str| {
        let text = format!(
            "budget dp(eps = 1, delta = 1e-6)\n{TABLE}release r1 = sum(k) using gaussian{spend}\n\
             release r2 = sum(k) using laplace{spend}\nrelease r3 = count(b) using geometric{}\n",
            if spend.is_empty() { "" } else { " spend 34%" }
        );
        certified(&text).total().epsilon(1e-6)
    };
    let (open, written) = (used(""), used(" spend 33%"));
    assert!((0.99..=1.0).contains(&open), "{open}");
    assert!(written < 0.99, "{written}");
}

/// Written noise is judged by what all of it composes to, however many releases there are, and never beyond that.
#[test]
fn written_noise_is_judged_as_composed() {
    for n in [1_u32, 2, 3, 7, 20, 64, 150, 151, 200, 333, 500] {
        let sigma = 4.0 * f64::from(n).sqrt();
        let releases: String = (0..n).map(|i| format!("release r{i} = count(b) using gaussian(sigma = {sigma})\n")).collect();
        let program = |eps: f64| format!("budget dp(eps = {eps}, delta = 1e-5)\n{TABLE}{releases}");
        let total = certified(&program(3.0)).total().epsilon(1e-5);
        assert!((0.926..0.928).contains(&total), "{n}: {total}");
        certified(&program(0.928));
        assert!(["E0401", "E0402"].contains(&error_of(&program(0.926))), "{n}");
    }
}

/// Under every kind of budget a release with a written number takes what it costs, and the others share the rest.
#[test]
fn what_is_written_leaves_the_rest() {
    for (budget, most) in [
        ("eps(1)", Claim::pure as fn(&Claim) -> f64),
        ("zcdp(0.5)", |c| 2.0 * c.zcdp()),
        ("dp(eps = 1, delta = 1e-6)", |c| c.epsilon(1e-6)),
        ("rdp(order = 8, eps = 1)", |c| c.rdp(8.0)),
        ("rdp(order = [2, 8], eps = [0.5, 1])", |c| (2.0 * c.rdp(2.0)).max(c.rdp(8.0))),
    ] {
        let program = |scale: f64, more: &str| {
            format!(
                "budget {budget}\n{TABLE}release a = count(b) using laplace(scale = {scale})\nrelease s = sum(k)\nrelease m = mean(x){more}\n"
            )
        };
        // Less than a third, and more than half.
        for scale in [8.0, 1.2] {
            let used = most(certified(&program(scale, "")).total());
            assert!(used <= 1.0 && (used > 0.99 || scale == 8.0), "{budget}: {used}");
        }
        assert!(["E0401", "E0402"].contains(&error_of(&program(0.5, ""))), "{budget}");
        assert!(["E0401", "E0402"].contains(&error_of(&program(1.2, " spend 90%"))), "{budget}");
    }
}
