//! `design(..)`: the norms of its features against all corners of the declared domain, the posterior against features by hand.

use crate::fuzz::Dice;
use dpm::analyze::Unbound;
use dpm::check::NoFiles;
use dpm::model::{ExprKind, Norms, Query, Type, VectorType, releases};
use dpm::pipeline;
use dpm::verify::{Against, Verifier};
use serde_json::Value;

const COLUMNS: &str = "a: real in [0, 10], b: real in [-3, 5], c: int in 1..4, k: bool, g: category {p, q, r}, h: category {u, v}, \
                       x: vector[2] in l2(2), y: bool";

/// One row: numbers scaled by hand, a bool, levels, and a vector over its radius.
#[derive(Clone, Copy)]
struct Row {
    numbers: [f64; 3],
    k: bool,
    g: usize,
    h: usize,
    x: [f64; 2],
}

/// Every combination of ends, levels, and directions.
fn corners() -> Vec<Row> {
    let mut all = vec![];
    for i in 0..8_usize {
        let end = |bit: usize| if i >> bit & 1 == 1 { 1.0 } else { -1.0 };
        for k in [false, true] {
            for g in 0..3 {
                for h in 0..2 {
                    for x in [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.6, -0.8]] {
                        all.push(Row { numbers: [end(0), end(1), end(2)], k, g, h, x });
                    }
                }
            }
        }
    }
    all
}

/// A factor: how it is written, and what it is of a row.
type Factor = (&'static str, fn(&Row) -> Vec<f64>);

fn one_hot(at: usize, size: usize) -> Vec<f64> {
    (1..size).map(|i| f64::from(u8::from(i == at))).collect()
}

const FACTORS: [Factor; 7] = [
    ("a", |r| vec![r.numbers[0]]),
    ("b", |r| vec![r.numbers[1]]),
    ("c", |r| vec![r.numbers[2]]),
    ("k", |r| vec![f64::from(u8::from(r.k))]),
    ("g", |r| one_hot(r.g, 3)),
    ("h", |r| one_hot(r.h, 2)),
    ("x", |r| r.x.to_vec()),
];

fn features(terms: &[Vec<usize>], row: &Row) -> Vec<f64> {
    let mut all = vec![1.0];
    for term in terms {
        let product = term.iter().fold(vec![1.0], |all: Vec<f64>, f| {
            let own = FACTORS[*f].1(row);
            all.iter().flat_map(|p| own.iter().map(move |q| p * q)).collect()
        });
        all.extend(product);
    }
    all
}

fn norms(v: &[f64]) -> [f64; 3] {
    [v.iter().map(|x| x.abs()).sum(), v.iter().map(|x| x * x).sum::<f64>().sqrt(), v.iter().fold(0.0, |m, x| x.abs().max(m))]
}

/// What is certified of the features of a row.
fn certified(features: &str) -> VectorType {
    let checked = pipeline::check("p.dpm", &format!("private t[100] {{ {COLUMNS} }}\nrelease r = mean({features})\n"), &NoFiles);
    assert!(!checked.has_errors(), "{features}");
    let all = releases(&checked.program.steps);
    let Query::Aggregate(query) = &all[0].query else { panic!("a query") };
    let ExprKind::Call(_, args) = &query.value.kind else { panic!("a mean") };
    let Type::Vector(v) = &args[0].ty else { panic!("a vector") };
    v.clone()
}

fn list(n: Norms) -> [f64; 3] {
    [n.l1, n.l2, n.linf]
}

/// No row is longer than is certified and some row is as long; no two lie further apart.
#[test]
fn norms_are_those_of_the_corners() {
    let (rows, mut dice) = (corners(), Dice::new(11));
    let mut closest = 0.0_f64;
    for _ in 0..40 {
        let mut terms: Vec<Vec<usize>> = vec![];
        while terms.len() < 1 + dice.below(6) {
            let mut term: Vec<usize> = (0..1 + dice.below(2)).map(|_| dice.below(FACTORS.len())).collect();
            term.sort_unstable();
            // Two vectors are no interaction.
            if !terms.contains(&term) && term != [6, 6] {
                terms.push(term);
            }
        }
        let written: Vec<String> = terms.iter().map(|t| t.iter().map(|f| FACTORS[*f].0).collect::<Vec<_>>().join(" * ")).collect();
        let design = format!("design({})", written.join(", "));
        let said = certified(&design);
        let all: Vec<Vec<f64>> = rows.iter().map(|r| features(&terms, r)).collect();
        assert_eq!(said.dim as usize, all[0].len(), "{design}");
        let (mut most, mut apart) = ([0.0_f64; 3], [0.0_f64; 3]);
        for x in &all {
            for (m, n) in most.iter_mut().zip(norms(x)) {
                *m = m.max(n);
            }
            for z in all.iter().step_by(5) {
                let difference: Vec<f64> = x.iter().zip(z).map(|(p, q)| p - q).collect();
                for (m, n) in apart.iter_mut().zip(norms(&difference)) {
                    *m = m.max(n);
                }
            }
        }
        let exact = |said: f64, seen: f64| said >= seen * (1.0 - 1e-14) && said <= seen * (1.0 + 1e-12);
        assert!(exact(said.sup.l2, most[1]), "{design}: {} and {}", said.sup.l2, most[1]);
        for ((s, m), (d, a)) in list(said.sup).into_iter().zip(most).zip(list(said.diam).into_iter().zip(apart)) {
            assert!(s >= m * (1.0 - 1e-14) && d >= a * (1.0 - 1e-14), "{design}: {s} {m} {d} {a}");
        }
        closest = closest.max(apart[1] / said.diam.l2);
    }
    assert!(closest > 0.999, "{closest}");
}

/// Levels of one column exclude each other, and nothing else does.
#[test]
fn only_other_levels_of_one_column_exclude_each_other() {
    let root = |n: f64| n.sqrt();
    for (features, sup, diam) in [
        ("[g == q, g == r]", 1.0, root(2.0)),
        ("[g == q, g == q]", root(2.0), root(2.0)),
        ("[g == q, h == v]", root(2.0), root(2.0)),
        ("[g == q, k, g == r]", root(3.0), root(3.0)),
        ("[(g == q) * (h == v), (g == r) * (h == v)]", 1.0, root(2.0)),
        ("[(g == q) * (h == v), g == r]", root(2.0), root(2.0)),
        ("[(g == q) * (b / 5), (g == r) * (b / 5)]", 1.0, 1.6),
        ("[(g == q) * x, (g == r) * x]", 2.0, 4.0),
        ("[1 - (g == q), 1 - (g == r)]", root(2.0), root(2.0)),
        ("[not (g == q), g == r]", root(2.0), root(2.0)),
        ("[g != q, g != r]", root(2.0), root(2.0)),
    ] {
        let said = certified(features);
        let near = |a: f64, b: f64| a >= b * (1.0 - 1e-15) && a <= b * (1.0 + 1e-12);
        assert!(near(said.sup.l2, sup) && near(said.diam.l2, diam), "{features}: {} {}", said.sup.l2, said.diam.l2);
    }
}

fn certificate(model: &str) -> Value {
    let text = format!("budget dp(eps = 2, delta = 1e-6)\nprivate t[1000] {{ {COLUMNS} }}\n{model}");
    let checked = pipeline::check("p.dpm", &text, &NoFiles);
    let (analysis, diagnostics) = pipeline::analyze(&checked, &Unbound::default(), false);
    assert!(diagnostics.iter().all(|d| !d.is_error()), "{model} {diagnostics:?}");
    let found = pipeline::certify(&checked, &analysis.unwrap(), &[2.0], &[1e-8]).unwrap().to_json();
    serde_json::from_str(&serde_json::to_string_pretty(&found).unwrap()).unwrap()
}

/// The same posterior at the same cost as from features by hand, with every mechanism that takes weights; the verifier agrees.
#[test]
fn a_design_is_what_one_would_write_by_hand() {
    let by_hand = "[1, (a - 5) / 5, (b - 1) / 4, k, g == q, g == r, ((a - 5) / 5) * (g == q), ((a - 5) / 5) * (g == r), \
                   (g == q) * (h == v), (g == r) * (h == v)]";
    for (rows, release) in [
        ("y ~ bernoulli_logit(dot(w, x1))", "draw(w)"),
        ("y ~ bernoulli_logit(dot(w, x1))", "draw(w) using gibbs"),
        ("y ~ bernoulli_logit(dot(w, x1))", "draw(w) using refined"),
        ("y ~ bernoulli_logit(dot(w, x1))", "posterior(w) using score_statistics"),
        ("b ~ normal(dot(w, x1), 2)", "posterior(w)"),
        ("y ~ bernoulli_logit(dot(w, x1))", "draw(w) using beta_div assuming convergence"),
    ] {
        let model = |x: &str, dim: &str| {
            certificate(&format!("let x1 = {x}\nparam w: vector[{dim}] ~ normal(0, 1)\nobserve {rows}\nrelease r = {release}\n"))
        };
        let (made, hand) = (model("design(a, b, k, g, a * g, g * h)", "x1"), model(by_hand, "10"));
        for part in ["/program/normal_form", "/total", "/releases/0/claim", "/releases/0/parameters", "/releases/0/mechanism"] {
            assert!(made.pointer(part) == hand.pointer(part), "{release}: {part}\n{made:#}\n{hand:#}");
        }
        let failures = Verifier::default().verify(&made, Against { program: made["program"]["source"].as_str(), key: None });
        assert!(failures.is_empty(), "{release}: {failures:?}");
    }
}
