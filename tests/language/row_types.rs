//! Random expressions of a row, evaluated here on many rows: no two values lie further apart than the checker says of their sum.

use crate::fuzz::Dice;
use dpm::check::{NoFiles, describe};
use dpm::model::Norms;
use dpm::source::SourceMap;
use dpm::syntax::{parse, parse_expr};
use dpm::verify::{Against, Verifier, digest};
use dpm::{analyze::Unbound, pipeline};
use serde_json::Value;

const COLUMNS: &str =
    "x: vector[2] in [0, 0.1], y: vector[2] in l2(2), u: vector[2] in l1(1), z: real in [-1, 5], a: real in [0, 1], k: bool";

const PUBLIC: &str = "public s: real in [-2, 3]";

/// One row: the columns above, and the public value.
struct Row {
    vectors: [[f64; 2]; 3],
    z: f64,
    a: f64,
    k: f64,
    /// Public: one value for all rows.
    s: f64,
}

fn uniform(dice: &mut Dice) -> f64 {
    dice.below(1 << 20) as f64 / f64::from((1 << 20) - 1)
}

/// Ends of the columns more often than their insides.
fn row(dice: &mut Dice, s: f64) -> Row {
    let mut part = || if dice.once_in(3) { uniform(dice) } else { dice.below(2) as f64 };
    let x = [0.1 * part(), 0.1 * part()];
    let (z, a, k) = (6.0 * part() - 1.0, part(), if part() > 0.5 { 1.0 } else { 0.0 });
    let (angle, length) = (std::f64::consts::TAU * uniform(dice), if dice.once_in(3) { 2.0 * uniform(dice) } else { 2.0 });
    let turn = if dice.once_in(2) { angle } else { (dice.below(8) as f64) * std::f64::consts::FRAC_PI_4 };
    let share = if dice.once_in(2) { uniform(dice) } else { dice.below(2) as f64 };
    let sign = |dice: &mut Dice| if dice.once_in(2) { 1.0 } else { -1.0 };
    let u = [sign(dice) * share, sign(dice) * (1.0 - share)];
    Row { vectors: [x, [length * turn.cos(), length * turn.sin()], u], z, a, k, s }
}

/// An expression: its text, how many components it has (1: a number) and its value on a row.
struct Made {
    text: String,
    wide: bool,
    value: OfRow,
}

type OfRow = Box<dyn Fn(&Row) -> Vec<f64>>;

fn made(text: String, wide: bool, value: impl Fn(&Row) -> Vec<f64> + 'static) -> Made {
    Made { text, wide, value: Box::new(value) }
}

/// Component by component; a number is repeated.
fn each(a: &[f64], b: &[f64], f: impl Fn(f64, f64) -> f64) -> Vec<f64> {
    let n = a.len().max(b.len());
    (0..n).map(|i| f(a[i.min(a.len() - 1)], b[i.min(b.len() - 1)])).collect()
}

/// The nearest point of an L1 ball, of two components.
fn onto_l1(v: &[f64], r: f64) -> Vec<f64> {
    let size: f64 = v.iter().map(|x| x.abs()).sum();
    if size <= r {
        return v.to_vec();
    }
    let [p, q] = [v[0].abs(), v[1].abs()];
    let cut = ((p + q - r) / 2.0).min(p).min(q);
    let (p, q) = if cut < (p + q - r) / 2.0 { if p > q { (r, 0.0) } else { (0.0, r) } } else { (p - cut, q - cut) };
    vec![p.copysign(v[0]), q.copysign(v[1])]
}

fn leaf(dice: &mut Dice) -> Made {
    match dice.below(10) {
        0..=2 => {
            let i = dice.below(3);
            made(["x", "y", "u"][i].into(), true, move |r| r.vectors[i].to_vec())
        }
        3 | 4 => made("z".into(), false, |r| vec![r.z]),
        5 => made("a".into(), false, |r| vec![r.a]),
        6 => {
            let c = [-2.0, -0.5, 0.25, 1.0, 3.0][dice.below(5)];
            made(format!("({c})"), false, move |_| vec![c])
        }
        7 => {
            let c = [[-1.0, 2.0], [0.5, 0.5], [0.0, 3.0]][dice.below(3)];
            made(format!("[{}, {}]", c[0], c[1]), true, move |_| c.to_vec())
        }
        8 => made("s".into(), false, |r| vec![r.s]),
        _ => made("[a, z]".into(), true, |r| vec![r.a, r.z]),
    }
}

fn expression(dice: &mut Dice, depth: usize) -> Made {
    if depth == 0 {
        return leaf(dice);
    }
    let a = expression(dice, depth - 1);
    let wide = a.wide;
    match dice.below(13) {
        0..=4 => {
            let b = expression(dice, depth - 1);
            let both = wide || b.wide;
            let i = dice.below(6);
            let (x, y) = (&a.text, &b.text);
            let text = match i {
                0 => format!("({x} + {y})"),
                1 => format!("({x} - {y})"),
                2 => format!("({x} * {y})"),
                3 => format!("({x} / (1 + abs({y})))"),
                4 => format!("min({x}, {y})"),
                _ => format!("max({x}, {y})"),
            };
            let f: fn(f64, f64) -> f64 = [|p, q| p + q, |p, q| p - q, |p, q| p * q, |p, q: f64| p / (1.0 + q.abs()), f64::min, f64::max][i];
            made(text, both, move |r| each(&(a.value)(r), &(b.value)(r), f))
        }
        5 => {
            let (low, high) = (expression(dice, depth - 1), 2.0);
            let both = wide || low.wide;
            made(format!("clip({}, {}, {high})", a.text, low.text), both, move |r| {
                each(&each(&(a.value)(r), &[high], f64::min), &(low.value)(r), f64::max)
            })
        }
        6 => {
            let i = dice.below(6);
            let f: fn(f64) -> f64 = [f64::abs, |x: f64| -x, |x: f64| x.max(0.0), f64::tanh, f64::exp, |x: f64| x * x][i];
            let text = if i == 5 { format!("({})^2", a.text) } else { format!("{}({})", ["abs", "-", "relu", "tanh", "exp"][i], a.text) };
            made(text, wide, move |r| (a.value)(r).into_iter().map(f).collect())
        }
        7 if wide => {
            let (i, radius) = (dice.below(3), [0.5, 1.0, 3.0][dice.below(3)]);
            made(format!("project({}({radius}), {})", ["l1", "l2", "linf"][i], a.text), true, move |r| {
                let v = (a.value)(r);
                let length = v.iter().map(|x| x * x).sum::<f64>().sqrt();
                match i {
                    0 => onto_l1(&v, radius),
                    1 => v.iter().map(|x| if length > radius { x * radius / length } else { *x }).collect(),
                    _ => v.iter().map(|x| x.clamp(-radius, radius)).collect(),
                }
            })
        }
        8 | 9 => {
            let b = expression(dice, depth - 1);
            let both = wide || b.wide;
            let text = format!("(if k then {} else {})", a.text, b.text);
            made(text, both, move |r| {
                let (x, y) = ((a.value)(r), (b.value)(r));
                each(&x, &y, |p, q| if r.k > 0.5 { p } else { q })
            })
        }
        10 if wide => {
            let b = expression(dice, depth - 1);
            if !b.wide {
                return b;
            }
            made(format!("dot({}, {})", a.text, b.text), false, move |r| {
                vec![(a.value)(r).iter().zip((b.value)(r)).map(|(p, q)| p * q).sum()]
            })
        }
        // `sum`, `mean`, `max` and `min` of one vector of a row are those over the rows.
        11 if wide => made(format!("norm({})", a.text), false, move |r| {
            let v = (a.value)(r);
            vec![v[0].hypot(v[1])]
        }),
        12 if wide => made(
            format!("{}[2]", if a.text.starts_with('-') || a.text.ends_with("^2") { format!("({})", a.text) } else { a.text }),
            false,
            move |r| vec![(a.value)(r)[1]],
        ),
        _ => a,
    }
}

/// What the checker says of a sum over the rows of a table with this header; `None` where it refuses.
fn said(header: &str, text: &str) -> Option<Norms> {
    let table = format!("{PUBLIC}\nprivate t{header} {{ {COLUMNS} }}\n");
    let mut sources = SourceMap::default();
    let main = sources.add("t.dpm", table.as_str());
    let aside = sources.add("e.dpm", text);
    let (ast, e) = (parse(main, &table).0, parse_expr(aside, text).ok()?);
    describe(&mut sources, main, &ast, &e, &NoFiles).ok()?.sensitivity
}

fn grow(norms: &mut [f64; 3], v: &[f64]) {
    let sizes =
        [v.iter().map(|x| x.abs()).sum(), v.iter().map(|x| x * x).sum::<f64>().sqrt(), v.iter().fold(0.0, |m: f64, x| m.max(x.abs()))];
    *norms = std::array::from_fn(|i| norms[i].max(sizes[i]));
}

#[test]
fn rows_move_sums_no_further_than_said() {
    let long = std::env::var_os("DPM_LONG").is_some();
    let (mut looked_at, mut tight) = (0, 0);
    let mut wrong = vec![];
    for seed in 0..if long { 200_000 } else { 4_000 } {
        let mut dice = Dice::new(seed);
        let depth = 1 + dice.below(3);
        let e = expression(&mut dice, depth);
        let text = format!("sum({})", e.text);
        let (Some(apart), Some(size)) = (said("[n]", &text), said("[private n]", &text)) else { continue };
        looked_at += 1;
        let s = [-2.0, 3.0, 0.0, 5.0 * uniform(&mut dice) - 2.0][dice.below(4)];
        let values: Vec<Vec<f64>> = (0..60).map(|_| (e.value)(&row(&mut dice, s))).collect();
        let (mut far, mut large) = ([0.0; 3], [0.0; 3]);
        for (i, v) in values.iter().enumerate() {
            grow(&mut large, v);
            values[..i].iter().for_each(|w| grow(&mut far, &each(v, w, |p, q| p - q)));
        }
        let below = |found: [f64; 3], n: Norms| found.iter().zip([n.l1, n.l2, n.linf]).all(|(f, n)| *f <= n * (1.0 + 1e-9) + 1e-9);
        tight += usize::from(far[0] > 0.9 * apart.l1);
        if !below(far, apart) || !below(large, size) {
            wrong.push(format!("seed {seed}: {text}: {far:?} of {apart:?}, {large:?} of {size:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {looked_at}:\n{}", wrong.len(), wrong[..wrong.len().min(12)].join("\n"));
    assert!(looked_at > 2_000 && tight > looked_at / 4, "{looked_at} looked at, {tight} tight");
}

/// What doubles and grids add to a difference counts: a list that is a box but for 4e-13, whose rows are rounded as those of the
/// box are, and small vectors far from 0, whose components lose an ulp of their size when they are scaled.
#[test]
fn rounding_is_paid_for() {
    let near_box = said("[n]", "sum([a, clip(a, 0, 0.9999999999996)])").unwrap();
    assert!(near_box.l1 >= 2.0 && near_box.l2 * near_box.l2 >= 2.0 && near_box.linf >= 1.0, "{near_box:?}");
    for scaled in ["sum((project(l2(0.001), y) + 1000) * 3)", "sum((project(l2(0.001), y) + 1000) / 0.3)"] {
        let norms = said("[n]", scaled).unwrap();
        let exact = if scaled.ends_with("0.3)") { 0.002 / 0.3 } else { 0.006 };
        assert!(norms.l2 >= exact + 3000.0 * f64::EPSILON && norms.l2 < exact * (1.0 + 1e-8), "{scaled}: {norms:?}");
    }
}

/// The certificate of a noisy sum of an expression; `None` where it is refused.
fn noisy_sum(text: &str) -> Option<Value> {
    let program = format!("{PUBLIC}\nprivate t[n] {{ {COLUMNS} }}\nrelease r = sum({text}) using laplace(scale = 1)\n");
    let checked = pipeline::check("t.dpm", &program, &NoFiles);
    let (analysis, said) = pipeline::analyze(&checked, &Unbound::default(), false);
    let analysis = analysis.filter(|_| !said.iter().any(|d| d.is_error()))?;
    serde_json::from_str(&pipeline::certify(&checked, &analysis, &[], &[])?.to_json().to_string()).ok()
}

/// The last numbers of the first type that says how far apart values lie, each a thousandth smaller, under a fresh digest.
fn narrowed(certificate: &Value) -> Option<Value> {
    let form = certificate["program"]["normal_form"].as_str()?;
    let (before, rest) = form.split_once(" apart [")?;
    let (norms, after) = rest.split_once(']')?;
    let smaller: Vec<String> = norms.split(", ").map(|x| (0.999 * x.parse::<f64>().unwrap()).to_string()).collect();
    let mut other = certificate.clone();
    other["program"]["normal_form"] = format!("{before} apart [{}]{after}", smaller.join(", ")).into();
    other["digest"] = digest(&other).into();
    Some(other)
}

/// A narrower type that the verifier takes must be true of the rows: values may be one for all, as `-clip(min(x, -0.5), exp(s), 2)` is,
/// where the checker only knows a box.
fn holds(e: &Made, certificate: &Value, seed: u64) {
    let form = certificate["program"]["normal_form"].as_str().unwrap();
    let norms = form.split_once(" apart [").unwrap().1.split_once(']').unwrap().0;
    let said: Vec<f64> = norms.split(", ").map(|x| x.parse().unwrap()).collect();
    let mut dice = Dice::new(seed);
    for s in [-2.0, 3.0, 0.0, 5.0 * uniform(&mut dice) - 2.0] {
        let values: Vec<Vec<f64>> = (0..120).map(|_| (e.value)(&row(&mut dice, s))).collect();
        let mut far = [0.0; 3];
        for (i, v) in values.iter().enumerate() {
            values[..i].iter().for_each(|w| grow(&mut far, &each(v, w, |p, q| p - q)));
        }
        assert!(far.iter().zip(&said).all(|(f, n)| *f <= n + 1e-12), "seed {seed}: {}: {far:?} of {said:?}", e.text);
    }
}

/// The verifier derives the types of rows by its own code: it agrees with the checker, and takes no narrower type.
#[test]
fn the_verifier_derives_types_of_rows() {
    let (verifier, mut verified, mut refused) = (Verifier::default(), 0, 0);
    let against = || Against { program: None, key: None };
    for seed in 0..if std::env::var_os("DPM_LONG").is_some() { 50_000 } else { 1_500 } {
        let mut dice = Dice::new(seed);
        let depth = 1 + dice.below(3);
        let e = expression(&mut dice, depth);
        let Some(c) = noisy_sum(&e.text) else { continue };
        let mut failures = verifier.verify(&c, against());
        // Of `sum(exp(exp(z)))` the verifier knows no zCDP: that alone it may refuse, where nothing is guaranteed anyway.
        let nothing = c["total"]["profile"]["pure"].as_f64().is_none_or(|e| e > 1e30);
        failures.retain(|f| !(nothing && f.path.ends_with(".zcdp")));
        assert!(failures.is_empty(), "seed {seed}: {}: {failures:?}\n{}", e.text, c["program"]["normal_form"].as_str().unwrap());
        verified += 1;
        if let Some(other) = narrowed(&c) {
            let failures = verifier.verify(&other, against());
            if failures.iter().any(|f| f.path == "program.normal_form") {
                refused += 1;
            } else {
                holds(&e, &other, seed);
            }
        }
    }
    assert!(verified > 500 && refused > 50, "{verified} verified, {refused} narrowed");
}
