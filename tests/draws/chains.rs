//! Chains on log-densities against posteriors that are known, and their behaviour on rows that nobody expects.
//!
//! Laws are compared by Kolmogorov's distance over independent chains; the thresholds have a false-alarm rate of 1e-6 each.
//! Seeds are fixed. Chains are short and targets small, so that what remains of the start is far below the thresholds.

use crate::density_support::{Case, Dice};
use crate::mechanisms::Seeded;
use dpm::data::eval::NoEnvironment;
use dpm::data::{Source, scan};
use dpm::mechanism::plan::{ChainLaw, Loss, MechanismPlan, PosteriorLaw, Sampler};
use dpm::mechanism::{BitSource, MechanismError, Scope, execute, prepare};
use statrs::distribution::{Beta, ContinuousCDF, Normal};

const CHAINS: u64 = 300;

fn distance(mut draws: Vec<f64>, cdf: impl Fn(f64) -> f64) -> f64 {
    draws.sort_by(f64::total_cmp);
    let n = draws.len() as f64;
    let gap = draws.iter().enumerate().map(|(i, x)| {
        let p = cdf(*x);
        (p - i as f64 / n).abs().max((p - (i as f64 + 1.0) / n).abs())
    });
    gap.fold(0.0, f64::max) * n.sqrt()
}

/// Kolmogorov's statistic exceeds this once in a million.
const RARE: f64 = 2.7;

fn chains() -> Vec<ChainLaw> {
    vec![
        ChainLaw::Slice { steps: Some(40) },
        #[cfg(feature = "nuts")]
        ChainLaw::Nuts { steps: Some(200) },
        ChainLaw::Penalty { iterations: 800, sigma: 0.5, step: Some(0.5), range: 1e6 },
        ChainLaw::Hmc { iterations: 60, steps: 4, sigma: 0.3, step: Some(0.12), range: 1e6, clip: 1e3, gradient_sigma: 0.5 },
    ]
}

/// Means of normal rows.
#[test]
fn a_normal_mean_is_drawn_from_its_posterior() {
    let mut dice = Dice(1);
    let rows: Vec<f64> = (0..25).map(|_| 1.0 + 1.5 * dice.normal()).collect();
    let file = rows.iter().fold("x\n".to_string(), |f, x| f + &format!("{x}\n"));
    let (weight, precision) = (0.6, 0.6 * 25.0 / 2.25 + 1.0 / 4.0);
    let mean = (weight * rows.iter().sum::<f64>() / 2.25 + 0.5 / 4.0) / precision;
    let law = Normal::new(mean, precision.sqrt().recip()).unwrap();
    for chain in chains() {
        let text = "private t[n] { x: real }\nparam m ~ normal(0.5, 2)\nobserve x ~ normal(m, 1.5)\nrelease d = draw(m)\n";
        let case = Case::new(text, Loss::NegativeLog, chain.clone());
        let draws = case.draws(weight, CHAINS, &file, &mut Seeded::new(1)).unwrap();
        let found = distance(draws.iter().map(|d| d.to_f64()[0]).collect(), |x| law.cdf(x));
        assert!(found < RARE, "{chain:?} {found}");
    }
}

/// A penalty chain with loud noise: unpaid, the noise would flatten the posterior (its variance by half and more).
#[test]
fn loud_noise_is_paid_for() {
    let file = (0..10).fold("x\n".to_string(), |f, i| f + &format!("{}\n", f64::from(i) / 3.0));
    let (precision, sum) = (10.0 / 2.25 + 1.0 / 4.0, 15.0);
    let mean = (sum / 2.25 + 0.5 / 4.0) / precision;
    let text = "private t[n] { x: real }\nparam m ~ normal(0.5, 2)\nobserve x ~ normal(m, 1.5)\nrelease d = draw(m)\n";
    let chain = ChainLaw::Penalty { iterations: 1_500, sigma: 2.0, step: Some(0.7), range: 1e6 };
    let draws = Case::new(text, Loss::NegativeLog, chain).draws(1.0, CHAINS, &file, &mut Seeded::new(9)).unwrap();
    let spread = draws.iter().map(|d| (d.to_f64()[0] - mean).powi(2) * precision).sum::<f64>() / CHAINS as f64;
    // Five standard deviations of a mean of squares.
    let slack = 5.0 * (2.0 / CHAINS as f64).sqrt();
    assert!((spread - 1.0).abs() < slack, "{spread}");
}

/// Shares of yes.
#[test]
fn a_share_is_drawn_from_its_posterior() {
    let file = (0..30).fold("k\n".to_string(), |f, i| f + if i < 7 { "1\n" } else { "0\n" });
    let law = Beta::new(2.0 + 7.0, 3.0 + 23.0).unwrap();
    for chain in chains() {
        let text = "private t[n] { k: bool }\nparam p ~ beta(2, 3)\nobserve k ~ bernoulli(p)\nrelease d = draw(p)\n";
        let case = Case::new(text, Loss::NegativeLog, chain.clone());
        let draws = case.draws(1.0, CHAINS, &file, &mut Seeded::new(2)).unwrap();
        let found = distance(draws.iter().map(|d| d.to_f64()[0]).collect(), |x| law.cdf(x));
        assert!(found < RARE, "{chain:?} {found}");
    }
}

/// A simplex: the margin of each share of a Dirichlet posterior is a beta law. Draws stay in their domain.
#[test]
fn shares_of_three_are_drawn_from_their_posterior() {
    let file = (0..12).fold("g\n".to_string(), |f, i| f + ["a\n", "b\n", "b\n", "c\n"][i % 4]);
    let text =
        "private t[n] { g: category {a, b, c} }\nparam s ~ dirichlet([1, 2, 0.8])\nobserve g ~ categorical(s)\nrelease d = draw(s)\n";
    for chain in chains() {
        let case = Case::new(text, Loss::NegativeLog, chain.clone());
        let draws: Vec<Vec<f64>> = case.draws(1.0, CHAINS, &file, &mut Seeded::new(3)).unwrap().iter().map(|d| d.to_f64()).collect();
        for (i, a) in [4.0, 8.0, 3.8].into_iter().enumerate() {
            let law = Beta::new(a, 15.8 - a).unwrap();
            let found = distance(draws.iter().map(|d| d[i]).collect(), |x| law.cdf(x));
            assert!(found < RARE, "{chain:?} {i} {found}");
        }
        assert!(draws.iter().flatten().all(|x| (0.0..=1.0).contains(x)));
        assert!(draws.iter().all(|d| (d.iter().sum::<f64>() - 1.0).abs() < 1e-6));
    }
}

/// A beta-divergence posterior of one weight, against sums over a grid.
#[test]
fn a_beta_divergence_is_drawn_from_its_posterior() {
    let mut dice = Dice(4);
    let rows: Vec<(f64, bool)> = (0..40).map(|_| (2.0 * dice.normal(), dice.unit() < 0.4)).collect();
    let file = rows.iter().fold("x,k\n".to_string(), |f, (x, k)| f + &format!("{x},{}\n", u8::from(*k)));
    let b: f64 = 1.4;
    let loss = |w: f64, x: f64, k: bool| {
        let p = 1.0 / (1.0 + (if k { -w * x } else { w * x }).exp());
        -p.powf(b - 1.0) / (b - 1.0) + (p.powf(b) + (1.0 - p).powf(b)) / b
    };
    let grid: Vec<f64> = (0..8_000).map(|i| f64::from(i) / 400.0 - 10.0).collect();
    let density: Vec<f64> =
        grid.iter().map(|w| (-0.5 * (w / 2.0).powi(2) - rows.iter().map(|(x, k)| loss(*w, *x, *k)).sum::<f64>()).exp()).collect();
    let total: f64 = density.iter().sum();
    let cdf = |x: f64| grid.iter().zip(&density).take_while(|(w, _)| **w <= x).map(|(_, p)| p).sum::<f64>() / total;
    for chain in chains() {
        let text = "private t[n] { x: real, k: bool }\nparam w ~ normal(0, 2)\nobserve k ~ bernoulli_logit(w * x)\nrelease d = draw(w)\n";
        let case = Case::new(text, Loss::Beta { beta: b }, chain.clone());
        let draws = case.draws(1.0, CHAINS, &file, &mut Seeded::new(5)).unwrap();
        let found = distance(draws.iter().map(|d| d.to_f64()[0]).collect(), cdf);
        assert!(found < RARE, "{chain:?} {found}");
    }
}

/// Whatever the rows, draws are numbers inside their domains, and the same kind of thing comes out.
#[test]
fn wild_rows_end_like_others() {
    let text = "private t[n] { x: real, y: real }\nparam w ~ normal(0, 10)\nparam s: real in [0.2, inf] ~ half_normal(2)\n\
        param c ~ gamma(2, 1)\nobserve y ~ normal(exp(w * x) + x * x * x, s + c * 0.001)\nrelease d = draw(s, c, w)\n";
    for chain in [
        ChainLaw::Slice { steps: Some(10) },
        #[cfg(feature = "nuts")]
        ChainLaw::Nuts { steps: Some(30) },
        ChainLaw::Penalty { iterations: 50, sigma: 1.0, step: None, range: 2.0 },
        ChainLaw::Hmc { iterations: 10, steps: 3, sigma: 1.0, step: None, range: 2.0, clip: 1.0, gradient_sigma: 1.0 },
        ChainLaw::Sgld { iterations: 20, batch: Some(7), clip: 1.0, sigma: 1.0, step: Some(0.1) },
    ] {
        for loss in [Loss::NegativeLog, Loss::Beta { beta: 1.5 }] {
            for file in ["x,y\n1e300,-1e300\n-1e300,1e300\n", "x,y\n1,2\n3,4\n", "x,y\nnan,inf\n-inf,zebra\n", "x,y\n1e308,0\n0,1e308\n"] {
                let case = Case::new(text, loss, chain.clone());
                for draw in case.draws(0.5, 3, file, &mut Seeded::new(6)).unwrap() {
                    let d = draw.to_f64();
                    assert!(d.len() == 3 && d.iter().all(|x| x.is_finite()) && d[0] >= 0.2 && d[1] > 0.0, "{chain:?} {file} {d:?}");
                    assert_eq!(draw.components.iter().map(|c| c.exponent).collect::<Vec<_>>().len(), 3);
                }
            }
        }
    }
}

/// Two weights whose features are nearly the same: coordinates by the curvature make trajectories short, and the law is the exact one.
#[cfg(feature = "nuts")]
#[test]
fn correlated_weights_take_short_trajectories() {
    use dpm::mechanism::chain::nuts;
    let text = "private t[n] { x: real, z: real, y: real }\nparam a ~ normal(0, 10)\nparam b ~ normal(0, 10)\n\
        observe y ~ normal(a * x + b * z, 0.5)\nrelease d = draw(a, b)\n";
    let case = Case::new(text, Loss::NegativeLog, ChainLaw::Nuts { steps: None });
    let mut dice = Dice(4);
    let rows: Vec<Vec<f64>> = (0..60)
        .map(|_| {
            let x = dice.normal();
            vec![x, x + 0.01 * dice.normal(), 2.0 * x + 0.5 * dice.normal()]
        })
        .collect();
    // Exact: precision X'X / 0.25 + 1 / 100.
    let sum = |i: usize, j: usize| rows.iter().map(|r| r[i] * r[j]).sum::<f64>() / 0.25;
    let (p, q, r) = (sum(0, 0) + 0.01, sum(0, 1), sum(1, 1) + 0.01);
    let determinant = p * r - q * q;
    let mean = (r * sum(0, 2) - q * sum(1, 2)) / determinant;
    let sd = (r / determinant).sqrt();
    assert!(q / (p * r).sqrt() > 0.999, "the features are nearly the same");
    let (mut leapfrogs, mut draws) = (0, vec![]);
    crate::density_support::with_density(&case, &rows, 1.0, |density, _| {
        nuts::run(density, &[3.0, -2.0], (nuts::Tuning::Regression, 200, 4000), &mut Seeded::new(3), |step| {
            if step.index >= 200 {
                leapfrogs += step.leapfrogs;
                draws.push(step.state[0]);
            }
        })
        .unwrap();
    });
    assert_eq!(draws.len(), 4000);
    assert!(leapfrogs <= 4 * 4000, "{leapfrogs}");
    let found = draws.iter().sum::<f64>() / 4000.0;
    let spread = (draws.iter().map(|x| (x - found).powi(2)).sum::<f64>() / 4000.0).sqrt();
    assert!((found - mean).abs() < 5.0 * sd / 4000f64.sqrt() * 1.5 && (spread / sd - 1.0).abs() < 0.08, "{found} {mean} {spread} {sd}");
}

/// An extreme row makes a step of NUTS as long as it may be, and no longer; the certificate says how long that is.
#[cfg(feature = "nuts")]
#[test]
fn an_extreme_row_takes_no_more_than_the_public_leapfrogs() {
    use dpm::mechanism::chain::nuts;
    use dpm::mechanism::plan::MOST_LEAPFROGS;
    let text = "private t[n] { x: real, y: real }\nparam a ~ normal(0, 10)\nparam b ~ normal(0, 10)\n\
        observe y ~ normal(a + b * x, 0.5)\nrelease d = draw(a, b)";
    let case = Case::new(&format!("{text}\n"), Loss::NegativeLog, ChainLaw::Nuts { steps: None });
    let mut most = 0;
    for extreme in [1e2, 1e4, 1e8, 1e16, 1e100, 1e300] {
        crate::density_support::with_density(&case, &[vec![1.0, 2.0], vec![2.0, 1.0], vec![extreme, -extreme]], 1.0, |density, _| {
            nuts::run(density, &[0.3, -0.2], (nuts::Tuning::Regression, 60, 20), &mut Seeded::new(3), |step| {
                most = most.max(step.leapfrogs)
            })
            .unwrap();
        });
    }
    // The bound is met, so this test could fail.
    assert_eq!(most, MOST_LEAPFROGS);
    let says = |using: &str| {
        let checked = dpm::pipeline::check("p.dpm", &format!("{text} using {using} assuming convergence\n"), &dpm::check::NoFiles);
        let (analysis, _) = dpm::pipeline::analyze(&checked, &dpm::run::Bound::default(), false);
        let certificate = dpm::pipeline::certify(&checked, &analysis.unwrap(), &[], &[]).unwrap().to_json();
        certificate["assumptions"].to_string().contains(&format!("no step of a NUTS chain takes more than {MOST_LEAPFROGS} leapfrogs"))
    };
    assert!(says("beta_div(beta = 1.5)") && !says("beta_div(beta = 1.5, sampler = slice)"));
}

/// Chains that pay for their answers ask for the same random words whatever the rows, and their grid is a public one: the
/// word that follows a draw is the same, as the bits come from one seed.
#[test]
fn the_course_of_a_paying_chain_does_not_depend_on_the_rows() {
    let text = "private t[n] { x: real }\nparam m ~ normal(0.5, 2)\nobserve x ~ normal(m, 1.5)\nrelease d = draw(m)\n";
    for chain in [
        ChainLaw::Penalty { iterations: 40, sigma: 1.0, step: None, range: 0.5 },
        ChainLaw::Hmc { iterations: 20, steps: 3, sigma: 1.0, step: None, range: 0.5, clip: 0.5, gradient_sigma: 1.0 },
        ChainLaw::Sgld { iterations: 20, batch: Some(1), clip: 0.5, sigma: 1.0, step: None },
    ] {
        let case = Case::new(text, Loss::Beta { beta: 1.5 }, chain.clone());
        let course = |file: &str| {
            let mut bits = Seeded::new(7);
            let drawn = case.draws(1.0, 1, file, &mut bits).unwrap();
            (drawn[0].components[0], bits.word().unwrap())
        };
        let (first, word) = course("x\n1\n2\n");
        let mut moved = false;
        for file in ["x\n1\n-2\n", "x\n1e300\n-5\n", "x\n-1e308\n1e308\n", "x\nnan\n0\n", "x\ninf\n-inf\n"] {
            let (other, after) = course(file);
            assert_eq!((other.exponent, after), (first.exponent, word), "{chain:?} {file}");
            moved |= other.index != first.index;
        }
        // The rows do matter for the draw.
        assert!(moved, "{chain:?}");
    }
}

/// Gradients of samples lead to the posterior: small steps, no clip that matters, little noise. What is left of the step's size
/// is far below the threshold.
#[test]
fn samples_lead_to_the_posterior() {
    let mut dice = Dice(11);
    let rows: Vec<f64> = (0..40).map(|_| 1.0 + 1.5 * dice.normal()).collect();
    let file = rows.iter().fold("x\n".to_string(), |f, x| f + &format!("{x}\n"));
    let (weight, precision) = (0.5, 0.5 * 40.0 / 2.25 + 1.0 / 4.0);
    let mean = (weight * rows.iter().sum::<f64>() / 2.25 + 0.5 / 4.0) / precision;
    let law = Normal::new(mean, precision.sqrt().recip()).unwrap();
    let text = "private t[n] { x: real }\nparam m ~ normal(0.5, 2)\nobserve x ~ normal(m, 1.5)\nrelease d = draw(m)\n";
    let chain = ChainLaw::Sgld { iterations: 600, batch: Some(20), clip: 1e3, sigma: 0.1, step: Some(0.02) };
    let draws = Case::new(text, Loss::NegativeLog, chain).draws(weight, CHAINS, &file, &mut Seeded::new(12)).unwrap();
    let found = distance(draws.iter().map(|d| d.to_f64()[0]).collect(), |x| law.cdf(x));
    assert!(found < RARE, "{found}");
}

/// Plans that are out of range are refused before data are opened.
#[test]
fn plans_out_of_range_are_refused() {
    let text = "private t[n] { x: real }\nparam m ~ normal(0.5, 2)\nobserve x ~ normal(m, 1.5)\nrelease d = draw(m)\n";
    let refused = |chain: ChainLaw| {
        let case = Case::new(text, Loss::NegativeLog, chain);
        let scope = Scope { table: case.table(), group: None, env: &NoEnvironment };
        prepare(&case.plan(1.0, 1), &scope).err()
    };
    assert_eq!(refused(ChainLaw::Slice { steps: Some(u64::MAX) }), Some(MechanismError::Steps));
    let penalty = |sigma| ChainLaw::Penalty { iterations: 5, sigma, step: None, range: 1.0 };
    let run = |sigma| Case::new(text, Loss::NegativeLog, penalty(sigma)).draws(1.0, 1, "x\n1\n", &mut Seeded::new(1)).err();
    assert_eq!((run(0.0), run(f64::NAN), run(1.0)), (Some(MechanismError::Parameter), Some(MechanismError::Parameter), None));
    let hmc = |steps, clip| ChainLaw::Hmc { iterations: 2, steps, sigma: 1.0, step: None, range: 1.0, clip, gradient_sigma: 1.0 };
    assert_eq!(refused(hmc(u64::MAX, 1.0)), Some(MechanismError::Steps));
    // Noise that no integer holds.
    let loud = |sigma, gradient_sigma| ChainLaw::Hmc { iterations: 2, steps: 2, sigma, step: None, range: 1.0, clip: 1.0, gradient_sigma };
    assert_eq!([refused(loud(1e40, 1.0)), refused(loud(1.0, 1e40))], [Some(MechanismError::Wide); 2]);
    let sgld = |iterations, clip| ChainLaw::Sgld { iterations, batch: Some(3), clip, sigma: 1.0, step: None };
    assert_eq!(refused(sgld(u64::MAX, 1.0)), Some(MechanismError::Steps));
    for clip in [0.0, f64::NAN, f64::INFINITY, -1.0] {
        let run = Case::new(text, Loss::NegativeLog, sgld(2, clip)).draws(1.0, 1, "x\n1\n", &mut Seeded::new(1)).err();
        assert_eq!(run, Some(MechanismError::Parameter), "{clip}");
        let run = Case::new(text, Loss::NegativeLog, hmc(2, clip)).draws(1.0, 1, "x\n1\n", &mut Seeded::new(1)).err();
        assert_eq!(run, Some(MechanismError::Parameter), "{clip}");
    }
}

/// Regressions by the other samplers: the posterior of one weight on the line, in a box, and of two in a ball.
#[test]
fn regressions_by_nuts_and_slice() {
    let mut dice = Dice(8);
    let rows: Vec<(f64, bool)> = (0..50).map(|_| (2.0 * dice.unit() - 1.0, dice.unit() < 0.3)).collect();
    let file = rows.iter().fold("x,y\n".to_string(), |f, (x, y)| f + &format!("{x},{}\n", u8::from(*y)));
    for (domain, cut) in [("", 12.0), (": real in [-0.6, 0.6]", 0.6)] {
        let text = format!(
            "private t[n] {{ x: real in [-1, 1], y: bool }}\nparam w{domain} ~ normal(0.5, 2)\nobserve y ~ bernoulli_logit(w * x)\n\
             release d = draw(w) using diffuse(r = 0.5)\n"
        );
        let grid: Vec<f64> = (0..4_000).map(|i| cut * (f64::from(i) / 2_000.0 - 1.0)).collect();
        let log = |w: f64| {
            let fit: f64 = rows.iter().map(|(x, y)| if *y { -(-w * x).exp().ln_1p() } else { -(w * x).exp().ln_1p() }).sum();
            (0.5 * fit - (w - 0.5).powi(2) / 8.0).exp()
        };
        let density: Vec<f64> = grid.iter().map(|w| log(*w)).collect();
        let total: f64 = density.iter().sum();
        let cdf = |x: f64| grid.iter().zip(&density).take_while(|(w, _)| **w <= x).map(|(_, p)| p).sum::<f64>() / total;
        for sampler in [
            Sampler::Slice,
            #[cfg(feature = "nuts")]
            Sampler::Nuts,
        ] {
            let draws = glm(&text, sampler, 200, &file);
            let found = distance(draws.iter().map(|d| d[0]).collect(), cdf);
            assert!(found < RARE, "{sampler:?} {cut} {found}");
            assert!(draws.iter().all(|d| d[0].abs() <= cut + 1e-6));
        }
    }
    let text = "private t[n] { x: real in [-1, 1], y: bool }\nparam w: vector[2] in l2(0.5) ~ normal(0, 1)\n\
        observe y ~ bernoulli_logit(dot(w, [x, x * x]))\nrelease d = draw(w) using diffuse(r = 0.5)\n";
    for sampler in [
        Sampler::Slice,
        #[cfg(feature = "nuts")]
        Sampler::Nuts,
    ] {
        assert!(glm(text, sampler, 20, &file).iter().all(|d| d[0].hypot(d[1]) <= 0.5 + 1e-6));
    }
}

/// Draws of a certified regression with another sampler in its plan.
fn glm(text: &str, by: Sampler, times_: u64, file: &str) -> Vec<Vec<f64>> {
    let checked = dpm::pipeline::check("case.dpm", text, &dpm::check::NoFiles);
    let (analysis, diagnostics) = dpm::pipeline::analyze(&checked, &dpm::run::Bound::default(), false);
    assert!(diagnostics.iter().all(|d| !d.is_error()), "{text}");
    let release = dpm::model::releases(&checked.program.steps)[0].id;
    let mut plan = analysis.unwrap().release(release).unwrap().chosen.as_ref().unwrap().plan.clone().unwrap();
    let MechanismPlan::Posterior { law: PosteriorLaw::Glm(law), times, .. } = &mut plan else { panic!("no regression") };
    (law.sampler, law.steps, *times) = (by, Some(if by == Sampler::Slice { 30 } else { 150 }), times_);
    let scope = Scope { table: &checked.program.tables[0], group: None, env: &NoEnvironment };
    let job = prepare(&plan, &scope).unwrap();
    let source = Source::new(std::io::Cursor::new(file.as_bytes().to_vec()));
    let measured = scan(scope.table, source, &[job]).unwrap().remove(0);
    execute(&plan, &scope, &measured, &mut Seeded::new(9)).unwrap().iter().map(|d| d.to_f64()).collect()
}
