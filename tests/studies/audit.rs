//! Audits stay at or below every certificate, come close where the certificate is tight, and notice a certificate that is too small.

use dpm::analyze::Analysis;
use dpm::audit::{Options, Outcome, ReleaseAudit, Score, audit, clopper_pearson, page};
use dpm::check::NoFiles;
use dpm::mechanism::OsBits;
use dpm::pipeline;
use dpm::privacy::Claim;
use dpm::run::Bound;
use statrs::distribution::{Binomial, DiscreteCDF};

const OPTIONS: Options = Options { trials: Some(3_000), confidence: 1.0 - 1e-9 };

/// Audits a program, whose analysis may be falsified before.
fn audited(text: &str, falsify: impl Fn(&mut Analysis)) -> Vec<Outcome> {
    let checked = pipeline::check("case.dpm", text, &NoFiles);
    let (analysis, diagnostics) = pipeline::analyze(&checked, &Bound::default(), false);
    let errors: Vec<_> = diagnostics.iter().filter(|d| d.is_error()).map(|d| (d.code, d.message.clone())).collect();
    assert!(errors.is_empty(), "{text}\n{errors:?}");
    let mut analysis = analysis.unwrap();
    falsify(&mut analysis);
    audit(&checked.program, &analysis, &Bound::default(), None, OPTIONS, &mut OsBits::new().unwrap()).unwrap()
}

fn one(text: &str) -> ReleaseAudit {
    audited(text, |_| ()).remove(0).unwrap()
}

const BETA: &str =
    "private t[20] { y: bool }\nparam p ~ beta(2, 3)\nobserve y ~ bernoulli(p)\nrelease d = draw(p) using diffuse(r = 0.7)\n";
const NORMAL: &str =
    "private t[20] { x: real in [0, 4] }\nparam m ~ normal(1, 2)\nobserve x ~ normal(m, 3)\nrelease d = draw(m) using diffuse(r = 0.9)\n";
const LAPLACE: &str = "private t[n >= 5] { x: real in [0, 4] }\nrelease d = sum(x) using laplace(scale = 3)\n";

/// Programs of every kind of mechanism: the attack, the integrals and the law of the draws agree with the certificate.
#[test]
fn audits_stay_below_certificates() {
    let programs = [
        BETA,
        NORMAL,
        LAPLACE,
        "private t[n] { c: category {a, b, c} }\nparam s ~ dirichlet([1, 2, 3])\nobserve c ~ categorical(s)\nrelease d = draw(s) using diffuse(r = 0.5)\n",
        "private t[n] by id max 3 { id: text, y: int in 0..4 }\nparam m ~ gamma(30, 2)\nobserve y ~ poisson(m)\nrelease d = draw(m) using direct\n",
        "private t[private n] { y: bool }\nparam p ~ beta(4, 3)\nobserve y ~ bernoulli(p)\nrelease d = draw(p) using diffuse(r = 0.5)\n",
        "private t[30] { x: real in [0, 1] }\nrelease d = mean(x) using gaussian(sigma = 0.2)\n",
        "private t[n] { x: int in 0..9 }\nrelease d = sum(x) using geometric(scale = 5)\n",
        "private t[40] { x: real in [0, 1] }\nrelease d = quantile(x, 0.5) using exponential(lo = 0, hi = 1, eps = 1)\n",
        "private t[12] { x: vector[2] in l2(1), y: bool }\nparam w: vector[2] ~ normal(0, 1)\nobserve y ~ bernoulli_logit(dot(w, x))\nrelease d = draw(w) using diffuse(r = 0.5, steps = 60)\n",
        "private t[n] { g: public category {u, v}, y: bool }\neach g of t { param p ~ beta(6, 9) observe y ~ bernoulli(p) release d = draw(p) using direct }\n",
    ];
    for text in programs {
        for outcome in audited(text, |_| ()) {
            let r = outcome.unwrap();
            assert!(r.ok, "{text}\n{r:?}");
        }
    }
}

/// The made-up neighbours hold the worst pair: what is integrated meets the certificate at every order.
#[test]
fn integrals_meet_tight_certificates() {
    for (text, most) in [(BETA, 1.0), (NORMAL, 1.0), (LAPLACE, 1.0)] {
        let r = one(text);
        assert!(!r.exact.is_empty(), "{text}");
        for e in &r.exact {
            assert!(e.found >= 0.999 * most * e.certified, "{text}: order {}: {} of {}", e.order, e.found, e.certified);
        }
    }
}

/// A certificate that is too small by one part in a hundred fails by integration; one too small by half, by the attack too.
#[test]
fn a_certificate_that_is_too_small_is_noticed() {
    let scaled = |text: &str, factor: f64| {
        let found = audited(text, |analysis| {
            let chosen = analysis.releases[0].chosen.as_mut().unwrap();
            chosen.claim = match &chosen.claim {
                Claim::Gdp { mu } => Claim::Gdp { mu: mu * factor },
                Claim::Laplace { epsilon } => Claim::Laplace { epsilon: epsilon * factor },
                other => panic!("{other:?}"),
            };
        });
        found.into_iter().next().unwrap().unwrap()
    };
    assert!(!scaled(NORMAL, 0.99).ok && !scaled(LAPLACE, 0.99).ok);
    let r = scaled(LAPLACE, 0.1);
    assert!(r.bounds.iter().any(|b| b.attack > b.certified), "{r:?}");
    assert!(one(LAPLACE).ok);
}

/// Regressions and bounded losses are attacked by the losses of the two candidate rows: what is too small is noticed.
#[test]
fn posteriors_are_attacked_by_the_losses_of_rows() {
    let table = "private t[1] { x: real in [-1, 1], y: bool }\nparam w ~ normal(0, 3)\nobserve y ~ bernoulli_logit(w * x)\n";
    let regression = format!("{table}release d = draw(w) using diffuse(r = 1, steps = 40)\n");
    let r = one(&regression);
    assert!(r.ok && r.score == Score::Losses && r.bounds.iter().any(|b| b.attack > 0.5), "{r:?}");
    assert_eq!(one(LAPLACE).score, Score::Densities);
    let small = audited(&regression, |analysis| analysis.releases[0].chosen.as_mut().unwrap().claim = Claim::Gdp { mu: 0.2 });
    assert!(!small[0].as_ref().unwrap().ok, "{small:?}");
    let chain = format!("{table}release d = draw(w) using penalty(beta = 1.5, weight = 1, iterations = 40, sigma = 1)\n");
    let r = one(&chain);
    assert!(r.ok && r.bounds.iter().any(|b| b.attack > 0.0), "{r:?}");
}

/// Bounds on a probability are those of Clopper and Pearson: the tails at the ends have exactly the stated chance.
#[test]
fn bounds_on_a_probability() {
    for (k, n, alpha) in [(0_u64, 50_u64, 1e-3), (3, 50, 1e-9), (25, 50, 0.05), (49, 50, 1e-6), (50, 50, 0.01), (7, 50, 1e-17)] {
        let (low, high) = clopper_pearson(k, n, alpha);
        if k > 0 {
            let tail = Binomial::new(low, n).unwrap().sf(k - 1);
            assert!((tail / alpha - 1.0).abs() < 1e-6, "{k} of {n}: {tail}");
        }
        if k < n {
            let tail = Binomial::new(high, n).unwrap().cdf(k);
            assert!((tail / alpha - 1.0).abs() < 1e-6, "{k} of {n}: {tail}");
        }
    }
}

/// What cannot be audited says why; the page holds every release and no outside part.
#[test]
fn reports() {
    let text = "private t[20] { y: bool }\nrelease n = count(y) using laplace(scale = 2)\nparam p ~ beta(2 + abs(clip(n, 0, 10)), 3)\nobserve y ~ bernoulli(p)\nrelease d = draw(p) using diffuse(r = 0.7)\n";
    let outcomes = audited(text, |_| ());
    assert!(outcomes[0].is_ok());
    assert!(outcomes[1].as_ref().unwrap_err().reason.contains("earlier release"));
    let html = page("a<b.dpm", &outcomes);
    assert!(html.contains("a&lt;b.dpm") && html.contains("<svg") && html.contains("Not audited"));
    assert!(!html.contains("http://") || !html.contains("src="), "an outside part");
}

/// Random, inner and last rows are tried: the worst pair of each of these programs is among them.
#[test]
fn the_worst_pair_is_among_the_rows() {
    let programs = [
        "private t[n >= 20] { a: bool, b: bool, c: bool, d: bool, e: bool }\nrelease r = count(a and b and c and d and e) using laplace(scale = 1)\n",
        "private t[n >= 20] { x: real in [0, 100] }\nrelease r = sum(abs(x - 50)) using laplace(scale = 60)\n",
        "private t[n >= 20] { x: real in [0, 100] }\nrelease r = count(x > 20 and x < 80) using geometric(scale = 2)\n",
        // Rounding to integers takes about 1 / (12 sigma^2) of the divergence away.
        "private t[n >= 20] { x: real }\nrelease r = count(x > 5000000) using gaussian(sigma = 20)\n",
        "private t[n >= 20] { a: bool, b: bool, c: bool, d: bool }\nrelease r = mean((a + 2*b + 4*c + 8*d)/15) using beta_query(18, 6, r = 0.8)\n",
        "private t[n >= 5] { v: vector[3] in l2(1) }\nrelease r = sum(v) using gaussian(sigma = 2)\n",
        "private t[private n] { g: category {a, b, c, d, e} }\nrelease r = histogram(g) using laplace(scale = 3)\n",
        "private t[20] { y: bool }\nparam p ~ beta(2, 3)\nobserve y ~ bernoulli(p)\nrelease r = draws(p, 10) using diffuse(r = 0.4)\n",
    ];
    for text in programs {
        let r = one(text);
        assert!(r.ok && !r.exact.is_empty(), "{text}: {r:?}");
        for e in &r.exact {
            assert!(e.found >= 0.999 * e.certified, "{text}: order {}: {} of {}", e.order, e.found, e.certified);
        }
    }
}

/// A replaced row moves two cells by one each; the claim is that of one cell moved by two, which is above the truth.
#[test]
fn a_histogram_is_integrated_cell_by_cell() {
    let r = one("private t[n >= 5] { g: category {a, b, c, d, e} }\nrelease r = histogram(g) using geometric(scale = 3)\n");
    assert!(r.ok && !r.exact.is_empty(), "{r:?}");
    for e in &r.exact {
        assert!(e.found <= e.certified && e.found >= 0.5 * e.certified, "order {}: {} of {}", e.order, e.found, e.certified);
    }
}

/// A posterior whose certificate forgets nine of ten draws, or allows orders at which the divergence is infinite.
#[test]
fn forgotten_draws_and_limits_are_noticed() {
    let of_ten = BETA.replace("draw(p)", "draws(p, 10)");
    let single = audited(BETA, |_| ()).remove(0).unwrap().exact;
    let claim = |text: &str| {
        let mut found = None;
        let cell = std::cell::RefCell::new(&mut found);
        audited(text, |a| **cell.borrow_mut() = a.releases[0].chosen.as_ref().map(|c| c.claim.clone()));
        found.unwrap()
    };
    let one_draw = claim(BETA);
    let short = audited(&of_ten, |a| a.releases[0].chosen.as_mut().unwrap().claim = one_draw.clone()).remove(0).unwrap();
    assert!(!short.ok && short.exact[0].found > 9.9 * single[0].found, "{short:?}");
    let limitless = audited(BETA, |a| a.releases[0].chosen.as_mut().unwrap().claim = Claim::Gdp { mu: 50.0 }).remove(0).unwrap();
    assert!(!limitless.ok && limitless.exact.iter().any(|e| e.found.is_infinite()), "{limitless:?}");
}

/// Neighbours keep public cells, and rows that change nothing are said to.
#[test]
fn neighbours_are_neighbours() {
    let public = "private t[20] { x: public vector[1] in l2(1), y: real in [100, 101] }\nparam w: vector[1] ~ normal(0, 1)\nobserve y ~ normal(dot(w, x), 2)\nrelease d = draw(w) using direct\n";
    assert!(one(public).ok);
    let constant = "private t[20] { x: real in [0, 1] }\nrelease d = count(x > 3) using laplace(scale = 1)\n";
    assert!(audited(constant, |_| ()).remove(0).unwrap_err().reason.contains("same effect"));
    let unbound =
        "public q: real in [0, 1]\nprivate t[20] { x: real in [0, 1] }\nrelease d = sum(clip(q * x, 0, 1)) using laplace(scale = 1)\n";
    assert!(audited(unbound, |_| ()).remove(0).unwrap_err().reason.contains("--public q="));
}

/// Integrals are below tiny and huge certificates, and close to them.
#[test]
fn integrals_of_all_sizes() {
    for scale in [4000.0, 400.0, 4.0, 0.04, 0.0008] {
        let text = LAPLACE.replace("scale = 3", &format!("scale = {scale}"));
        let r = one(&text);
        assert!(r.ok && !r.exact.is_empty(), "{text}: {r:?}");
        let last = r.exact.last().unwrap();
        assert!(last.found >= 0.99 * last.certified, "{text}: {last:?}");
    }
    for sigma in [1e5, 40.0, 0.4, 0.015, 0.0001] {
        let text = LAPLACE.replace("laplace(scale = 3)", &format!("gaussian(sigma = {sigma})"));
        let r = one(&text);
        assert!(r.ok, "{text}: {r:?}");
        assert!(r.exact.iter().all(|e| e.found >= 0.99 * e.certified), "{text}: {r:?}");
    }
}

/// Draws that are rounded onto the ends of their domain follow their law, and sums far from 0 are told apart no better than they are.
#[test]
fn no_false_alarms() {
    let programs = [
        "private t[20] { y: bool }\nparam p ~ beta(0.1, 0.1)\nobserve y ~ bernoulli(p)\nrelease d = draw(p) using diffuse(r = 0.05)\n",
        "private t[20] { y: int in 0..3 }\nparam p ~ gamma(0.05, 0.1)\nobserve y ~ poisson(p)\nrelease d = draw(p) using diffuse(r = 0.01)\n",
        "private t[1000] { y: real in [2000000, 2000001] }\nparam p ~ normal(2000000, 1)\nobserve y ~ normal(p, 1)\nrelease d = draw(p) using direct\n",
        "private t[2334] { x: real in [461295.59, 461296.888] }\nrelease d = mean(x) using gaussian(sigma = 0.001)\n",
        "private t[24542] { x: real in [5627.738, 5627.968493] }\nrelease d = sum(x) using laplace(scale = 0.04)\n",
        "private t[100] { y: real in [0, 10000] }\nparam p ~ gamma(20, 20)\nobserve y ~ normal(5000, 1/sqrt(p))\nrelease d = draw(p) using concentrated(m = 1e-10)\n",
        // Draws of one release share its noise, those of several do not.
        "private t[2000] { x: real in [-1, 1], y: real in [0, 1] }\nparam w: vector[1] ~ normal(0, 1)\nobserve y ~ normal(dot(w, [x]), 0.3)\nrelease d = draw(w) using refined(sigma = 200)\n",
    ];
    for text in programs {
        let r = one(text);
        assert!(r.ok, "{text}: {r:?}");
    }
    let fifth = "private t[n >= 20] { c: category {a, b, c, d, e, f} }\nrelease r = count(c == d) using laplace(scale = 1)\n";
    assert!(one(fifth).exact.iter().all(|e| e.found >= 0.999 * e.certified));
}

/// The chances of a quantile are added; a certificate of an eighth of its epsilon is noticed.
#[test]
fn quantiles_are_enumerated() {
    for (q, n) in [(0.5, 20), (0.9, 10)] {
        let text = format!(
            "private t[{n}] {{ x: real in [0, 100] }}\nrelease d = quantile(x, {q}) using exponential(lo = 0, hi = 100, eps = 2)\n"
        );
        let r = one(&text);
        assert!(r.ok && r.score == Score::Densities && r.exact.len() == 8, "{r:?}");
        let small = audited(&text, |a| a.releases[0].chosen.as_mut().unwrap().claim = Claim::Laplace { epsilon: 0.25 }).remove(0).unwrap();
        assert!(!small.ok && small.exact.last().is_some_and(|e| e.found > e.certified), "{small:?}");
    }
}
