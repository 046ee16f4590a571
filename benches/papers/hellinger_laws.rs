//! Exact laws of mechanisms for whole posteriors: how far what is released lies from the posterior, and how likely that is.

use super::mechanisms::Seeded;
use dpm::check::NoFiles;
use dpm::mechanism::Released;
use dpm::mechanism::grid::Number;
use dpm::mechanism::plan::{MechanismPlan, WholeLaw, WholeNoise};
use dpm::mechanism::whole::hellinger;
use dpm::numeric::hellinger::{dirichlet_distance, distance, local_sensitivity};
use dpm::numeric::special::ln_gamma;
use dpm::pipeline;
use dpm::run::{Bound, Posterior, posterior_of};

/// Hellinger distance from the posterior without privacy, and its probability; in order of the distance.
pub type Law = Vec<(f64, f64)>;

/// What a mechanism of the paper or of ours is called here, what is written after `using`, and what it is.
#[derive(Clone, Copy)]
pub struct Mechanism {
    pub name: &'static str,
    pub words: &'static str,
}

pub const EHDL: &str = "ehdl";
pub const EXACT: &str = "ehds-exact";
pub const AWARE: &str = "noise-aware";

pub const MECHANISMS: [Mechanism; 7] = [
    Mechanism { name: "ls-dim", words: "the paper's LSDim" },
    Mechanism { name: "ls-hist", words: "the paper's LSHist" },
    Mechanism { name: "ehd", words: "the paper's EHD" },
    Mechanism { name: EHDL, words: "the paper's EHDL, which is NOT private: a benchmark" },
    Mechanism { name: "ehds", words: "the paper's EHDS" },
    Mechanism { name: EXACT, words: "dpm, ehds with its scale calibrated by the exact worst loss" },
    Mechanism { name: AWARE, words: "dpm, noise_aware: the posterior given noisy counts" },
];

/// A prior and the counts of its levels.
pub struct Case {
    pub alpha: Vec<f64>,
    pub counts: Vec<u64>,
    pub epsilon: f64,
}

fn program(case: &Case, using: &str) -> String {
    let n: u64 = case.counts.iter().sum();
    let prior: Vec<String> = case.alpha.iter().map(f64::to_string).collect();
    let prior = prior.join(", ");
    match case.alpha.len() {
        2 => format!(
            "private t[{n}] {{ x: bool }}\nparam p ~ beta({prior})\nobserve x ~ bernoulli(p)\nrelease q = posterior(p) using {using}\n"
        ),
        _ => {
            let levels: Vec<String> = (0..case.alpha.len()).map(|i| format!("level{i}")).collect();
            format!(
                "private t[{n}] {{ x: category {{{}}} }}\nparam p ~ dirichlet([{prior}])\nobserve x ~ categorical(p)\n\
                 release q = posterior(p) using {using}\n",
                levels.join(", ")
            )
        }
    }
}

/// What runs for a certified program; `None` where a law is too large to be calibrated.
fn plan(case: &Case, name: &str) -> Option<WholeLaw> {
    let epsilon = case.epsilon;
    let using = match name {
        EXACT => format!("ehds(eps = {epsilon}, calibration = exact)"),
        _ => format!("{}(eps = {epsilon})", name.replace('-', "_")),
    };
    let text = program(case, &using);
    let checked = pipeline::check("figure.dpm", &text, &NoFiles);
    let (analysis, diagnostics) = pipeline::analyze(&checked, &Bound::default(), false);
    let errors: Vec<&str> = diagnostics.iter().filter(|d| d.is_error()).map(|d| d.code).collect();
    if name == EXACT && errors == ["E0313"] {
        return None;
    }
    assert!(errors.is_empty(), "{text}{errors:?}");
    match analysis.unwrap().releases[0].chosen.as_ref().unwrap().plan.clone() {
        Some(MechanismPlan::Whole { law, .. }) => Some(law),
        _ => panic!("{text}"),
    }
}

/// The law of a mechanism: exact, but for the noise-aware posterior of three levels, of which `draws` are taken.
pub fn law(case: &Case, name: &str, draws: usize) -> Option<Law> {
    let mut law = match name {
        EHDL => {
            let strength = case.epsilon / (2.0 * local_sensitivity(&case.alpha, &case.counts));
            let far = hellinger::distances(&case.alpha, &case.counts);
            weighed(far.into_iter().map(|(h, n)| (h, n as f64 * (-strength * h).exp())).collect())
        }
        _ => {
            let whole = plan(case, name)?;
            match whole.noise {
                WholeNoise::Hellinger { epsilon, gamma } => {
                    let runs = hellinger::law(&case.alpha, &case.counts, epsilon, gamma).unwrap();
                    let step = 2f64.powi(hellinger::exponent(epsilon));
                    let far = hellinger::distances(&case.alpha, &case.counts);
                    let weight = |r: &hellinger::Run| r.count as f64 * (-(r.score as f64) * step).exp();
                    weighed(far.iter().zip(&runs).map(|((h, _), r)| (*h, weight(r))).collect())
                }
                WholeNoise::FloorLaplace { scale } => floors(case, scale),
                WholeNoise::Geometric { scale } if case.alpha.len() == 2 => {
                    let reach = (40.0 * scale).ceil() as i128;
                    let c = i128::from(case.counts[0]);
                    weighed((-reach..=reach).map(|t| (released(case, &whole, &[c + t], 0), (-(t as f64).abs() / scale).exp())).collect())
                }
                WholeNoise::Geometric { scale } => {
                    let mut seeded = Seeded::new(2018);
                    let scale = dpm::mechanism::real::Param::new(dpm::mechanism::real::rational(scale).unwrap());
                    let mut noise = || dpm::mechanism::draw::finite::discrete_laplace(&scale, &mut seeded).unwrap();
                    let drawn = |i: usize, noise: &mut dyn FnMut() -> i128| {
                        let noisy: Vec<i128> = case.counts.iter().map(|c| i128::from(*c) + noise()).collect();
                        (released(case, &whole, &noisy, i as u64), 1.0)
                    };
                    weighed((0..draws).map(|i| drawn(i, &mut noise)).collect())
                }
                other => panic!("{other:?}"),
            }
        }
    };
    // A distance of -0 is 0.
    law.iter_mut().for_each(|x| x.0 += 0.0);
    law.sort_by(|a, b| a.0.total_cmp(&b.0));
    Some(law)
}

fn weighed(law: Law) -> Law {
    let total: f64 = law.iter().map(|x| x.1).sum();
    law.into_iter().map(|(h, w)| (h, w / total)).collect()
}

/// `P(floor(Laplace(scale)) = t)`.
pub fn floor_probability(t: i64, scale: f64) -> f64 {
    let t = if t < 0 { -1 - t } else { t } as f64;
    -0.5 * (-t / scale).exp() * (-1.0 / scale).exp_m1()
}

/// Noise on every count but the last, each moved into what is left.
fn floors(case: &Case, scale: f64) -> Law {
    let n: i64 = case.counts.iter().sum::<u64>() as i64;
    let reach = (45.0 * scale).ceil() as i64;
    let mut found = vec![];
    fn go(case: &Case, (reach, scale): (i64, f64), left: i64, out: &mut Vec<i64>, p: f64, found: &mut Law) {
        let i = out.len();
        if i + 1 == case.counts.len() {
            out.push(left);
            let to: Vec<f64> = case.alpha.iter().zip(out.iter()).map(|(a, c)| a + *c as f64).collect();
            found.push((dirichlet_distance(&exact(case), &to), p));
            out.pop();
            return;
        }
        // What is moved to the ends is one candidate.
        let mut moved = std::collections::BTreeMap::new();
        for t in -reach..=reach {
            *moved.entry((case.counts[i] as i64 + t).clamp(0, left)).or_insert(0.0) += floor_probability(t, scale);
        }
        for (c, q) in moved {
            if p * q > 1e-13 {
                out.push(c);
                go(case, (reach, scale), left - c, out, p * q, found);
                out.pop();
            }
        }
    }
    go(case, (reach, scale), n, &mut vec![], 1.0, &mut found);
    weighed(found)
}

fn exact(case: &Case) -> Vec<f64> {
    case.alpha.iter().zip(&case.counts).map(|(a, c)| a + *c as f64).collect()
}

/// The distance of the posterior that is written down from these noisy counts.
fn released(case: &Case, whole: &WholeLaw, noisy: &[i128], seed: u64) -> f64 {
    let n = i128::from(case.counts.iter().sum::<u64>());
    let components = std::iter::once(n).chain(noisy.iter().copied()).map(|x| Number::new(x, 0)).collect();
    let found = posterior_of(whole, &Released { components }, true, &mut Seeded::new(seed)).unwrap();
    mixture_distance(&exact(case), &found)
}

/// The sticks of Dirichlet counts: each count against the sum of those after it.
fn sticks(a: &[f64]) -> Vec<(f64, f64)> {
    (0..a.len() - 1).map(|i| (a[i], a[i + 1..].iter().sum())).collect()
}

/// Hellinger distance of a Dirichlet law from a mixture of such laws of two or three levels, by the trapezoidal rule on the
/// logits of its sticks, where both densities fall off on all sides; checked against the closed form for one component.
pub fn mixture_distance(a: &[f64], q: &Posterior) -> f64 {
    let (weights, parts): (Vec<f64>, Vec<Vec<f64>>) = match q {
        Posterior::Mixture { weights, components } => (weights.clone(), components.iter().map(numbers).collect()),
        one => (vec![1.0], vec![numbers(one)]),
    };
    // ln of the density of a stick's logit, and its constant.
    let constant = |s: &[(f64, f64)]| s.iter().map(|(a, b)| ln_gamma(a + b) - ln_gamma(*a) - ln_gamma(*b)).sum::<f64>();
    let own = sticks(a);
    let others: Vec<(f64, Vec<(f64, f64)>)> = weights
        .iter()
        .zip(&parts)
        .map(|(w, p)| {
            let s = sticks(p);
            (w.ln() + constant(&s), s)
        })
        .collect();
    let axis = |(a, b): (f64, f64), steps: i32| -> (f64, Vec<(f64, f64)>) {
        let (centre, sd) = ((a / b).ln(), (1.0 / a + 1.0 / b).sqrt());
        let wide = 20.0 / f64::from(steps) * sd;
        // ln x and ln (1 - x) of x = 1 / (1 + e^-u).
        let node = |i: i32| {
            let u = centre + f64::from(i - steps / 2) * wide;
            (-(-u).exp().ln_1p(), -u.exp().ln_1p())
        };
        (wide, (0..=steps).map(node).collect())
    };
    let density = |s: &[(f64, f64)], x: &[(f64, f64)]| s.iter().zip(x).map(|((a, b), (l, m))| a * l + b * m).sum::<f64>();
    let root = |x: &[(f64, f64)]| {
        let p = constant(&own) + density(&own, x);
        let q: f64 = others.iter().map(|(c, s)| (c + density(s, x)).exp()).sum();
        (0.5 * p).exp() * q.sqrt()
    };
    let overlap: f64 = match own.as_slice() {
        [one] => {
            let (h, nodes) = axis(*one, 400);
            nodes.iter().map(|x| h * root(&[*x])).sum()
        }
        [one, two] => {
            let ((h, nodes), (i, more)) = (axis(*one, 48), axis(*two, 48));
            nodes.iter().map(|x| more.iter().map(|y| h * i * root(&[*x, *y])).sum::<f64>()).sum()
        }
        _ => panic!("two or three levels"),
    };
    let h = (1.0 - overlap).max(0.0).sqrt();
    if let [one] = parts.as_slice() {
        assert!((h - dirichlet_distance(a, one)).abs() < 1e-4, "{h}");
    }
    h
}

fn numbers(p: &Posterior) -> Vec<f64> {
    match p {
        Posterior::Beta(a, b) => vec![*a, *b],
        Posterior::Dirichlet(a) => a.clone(),
        other => panic!("{other:?}"),
    }
}

pub fn mean(law: &Law) -> f64 {
    law.iter().map(|(h, p)| h * p).sum()
}

/// The least distance whose probability, with all below, is at least q.
pub fn quantile(law: &Law, q: f64) -> f64 {
    let mut sum = 0.0;
    for (h, p) in law {
        sum += p;
        if sum >= q - 1e-12 {
            return *h;
        }
    }
    law.last().unwrap().0
}

/// The largest log ratio of the laws at these counts and at a neighbour: at all counts of n items at two levels, or only
/// at the balanced ones.
pub fn realised_loss(alpha: &[f64], n: u64, epsilon: f64, name: &str) -> Option<(f64, f64)> {
    let case = |c: u64| Case { alpha: alpha.to_vec(), counts: vec![c, n - c], epsilon };
    let inner = if name == EHDL { None } else { Some(plan(&case(n / 2), name)?.noise) };
    let logs = |c: u64| -> Vec<f64> {
        let counts = case(c).counts;
        let ln: Vec<f64> = match inner {
            Some(WholeNoise::Hellinger { epsilon, gamma }) => {
                let step = 2f64.powi(hellinger::exponent(epsilon));
                let runs = hellinger::law(alpha, &counts, epsilon, gamma).unwrap();
                runs.iter().flat_map(|r| std::iter::repeat_n(-(r.score as f64) * step, r.count as usize)).collect()
            }
            _ => {
                let strength = epsilon / (2.0 * local_sensitivity(alpha, &counts));
                let far = hellinger::distances(alpha, &counts);
                far.iter().flat_map(|(h, m)| std::iter::repeat_n(-strength * h, *m as usize)).collect()
            }
        };
        let total: f64 = ln.iter().map(|x| x.exp()).sum();
        ln.into_iter().map(|x| x - total.ln()).collect()
    };
    let all: Vec<Vec<f64>> = (0..=n).map(logs).collect();
    let loss = |c: usize| all[c].iter().zip(&all[c + 1]).map(|(p, q)| (p - q).abs()).fold(0.0, f64::max);
    let everywhere = (0..n as usize).map(loss).fold(0.0, f64::max);
    let middle = n as usize / 2;
    Some((loss(middle - 1).max(loss(middle)), everywhere))
}

/// Hellinger distance of beta laws by the closed form in logarithms.
pub fn beta_distance((a, b): (f64, f64), t: f64) -> f64 {
    let part = |x: f64, y: f64| ln_gamma(0.5 * (x + y)) - 0.5 * (ln_gamma(x) + ln_gamma(y));
    distance(part(a, a + t) + part(b, b - t))
}
