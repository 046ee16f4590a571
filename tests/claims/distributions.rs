//! The parts of a distribution's record say the same: density, moments, sampler, largest value and the integral of its power.

use dpm::dist::{self, ArgKind, Distribution, Law, Support, sample::Args};
use dpm::kernel::density::{Builder, Operand};
use dpm::numeric::Interval;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

const B: f64 = 1.4;

/// Numbers inside the domains of the arguments.
fn arguments(d: &Distribution) -> Vec<Vec<f64>> {
    // Its variance grows as exp(2 sd^2).
    if d.name == "lognormal" {
        return vec![vec![0.2], vec![0.6]];
    }
    let one = |(i, (_, kind)): (usize, &(&str, ArgKind))| match kind {
        ArgKind::Scalar(range) if range.hi == 1.0 => vec![0.3],
        ArgKind::Scalar(range) if range.lo == 0.0 => vec![3.5 + 0.5 * i as f64],
        ArgKind::Scalar(_) => vec![0.9 * i as f64 - 0.4],
        ArgKind::Trials => vec![7.0],
        ArgKind::Simplex => vec![0.5, 0.3, 0.2],
        ArgKind::Vector | ArgKind::PositiveVector => vec![0.4, 1.0, 0.1],
        ArgKind::Ordered => vec![-1.1, 0.3, 1.6],
        ArgKind::Matrix | ArgKind::Weights | ArgKind::Components => vec![],
    };
    d.args.iter().enumerate().map(one).collect()
}

fn flat(args: &[Vec<f64>]) -> Vec<f64> {
    args.concat()
}

fn constants(x: &[f64]) -> Vec<Operand> {
    x.iter().map(|x| Operand::Constant(*x)).collect()
}

fn number(x: Operand) -> f64 {
    let Operand::Constant(x) = x else { panic!("operations on constants are done at once") };
    x
}

/// The integral over the line of a function that may be nan outside a box.
fn integral(f: impl Fn(f64) -> f64) -> f64 {
    const STEPS: u32 = 400_000;
    let at = |k: u32| {
        let t = (f64::from(2 * k + 1) - f64::from(STEPS)) / f64::from(STEPS);
        let (x, slope) = (3.0 * t / (1.0 - t * t), 3.0 * (1.0 + t * t) / (1.0 - t * t).powi(2));
        let y = f(x) * slope;
        if y.is_nan() { 0.0 } else { y }
    };
    (0..STEPS).map(at).sum::<f64>() * 2.0 / f64::from(STEPS)
}

#[track_caller]
fn close(d: &Distribution, what: &str, found: f64, wanted: f64, tolerance: f64) {
    assert!((found - wanted).abs() <= tolerance * (1.0 + wanted.abs()), "{what} of {}: {found}, not {wanted}", d.name);
}

/// The mean of many draws lies within six of its standard deviations: at most one in 10^8 fails by chance, and the seed is fixed.
fn draws_have_the_mean(d: &Distribution, args: &[Vec<f64>], (mean, variance): (f64, f64)) {
    let (draw, mut rng) = (d.draw.unwrap(), ChaCha8Rng::seed_from_u64(18));
    let n = 40_000;
    let sum: f64 = (0..n).map(|_| draw(&Args(args), &mut rng)).sum();
    let away = (sum / f64::from(n) - mean).abs();
    assert!(away <= 6.0 * (variance / f64::from(n)).sqrt(), "draws of {}: {} for {mean}", d.name, sum / f64::from(n));
}

#[test]
fn records_of_continuous_laws_agree_with_themselves() {
    let mut seen = 0;
    for d in dist::all() {
        let Law::Density(_, standard) = &d.law else { continue };
        seen += 1;
        let args = arguments(d);
        let numbers = flat(&args);
        let density = |x: f64| d.at(&numbers, x);
        close(d, "mass", integral(density), 1.0, 1e-4);
        if let Some((mean, variance)) = (d.moments)(&numbers) {
            close(d, "mean", integral(|x| x * density(x)), mean, 1e-4);
            close(d, "variance", integral(|x| (x - mean).powi(2) * density(x)), variance, 5e-3);
            draws_have_the_mean(d, &args, (mean, variance));
        }
        let Some(s) = standard else { continue };
        let scale = if s.rate { 1.0 / numbers[s.scale] } else { numbers[s.scale] };
        let shape = s.shape.map_or(0.0, |i| numbers[i]);
        let most = (s.peak)(Interval::point(shape)).unwrap() / scale;
        let found = (-100_000..=100_000).map(|k| density(f64::from(k) * 1e-4)).fold(0.0, f64::max);
        // The density is the exponential of a logarithm in doubles: a few units in the last place.
        assert!(found <= most * (1.0 + 1e-14) && found >= most * (1.0 - 1e-6), "{}: {found} of at most {most}", d.name);
        let power = number((s.power)(&mut Builder::default(), Operand::Constant(shape), B));
        close(d, "integral of the power", integral(|x| density(x).powf(B)), power.exp() * scale.powf(1.0 - B), 1e-4);
    }
    assert!(seen >= 10);
}

/// mpmath, 40 digits, by the formulas of Stan's reference.
#[test]
fn logarithms_of_densities_as_in_stan() {
    let log = |name: &str, args: &[f64], y: f64| match &dist::find(name).unwrap().law {
        Law::Density(log, _) => number(log(&mut Builder::default(), &constants(args), Operand::Constant(y))),
        Law::Count(law) => number(law(&mut Builder::default(), &constants(args), Operand::Constant(y), None).unwrap().0),
        Law::Levels { logs, .. } => number(logs(&mut Builder::default(), &constants(args))[y as usize - 1]),
        Law::Vector(_) | Law::Mixture => f64::NAN,
    };
    for (name, args, y, wanted) in [
        ("weibull", &[2.5, 3.1][..], 1.7, -1.338_971_068_710_138_3),
        ("weibull", &[0.7, 2.0], 0.4, -0.891_122_070_107_000_1),
        ("lognormal", &[0.4, 0.8], 2.3, -1.675_118_408_513_411_5),
        ("logistic", &[0.3, 1.2], -2.1, -2.436_177_578_879_9),
        ("logistic", &[0.0, 1.0], 800.0, -800.0),
        ("half_cauchy", &[2.5], 3.7, -2.528_019_737_948_992),
        ("neg_binomial_2", &[3.2, 1.7], 0.0, -1.799_631_821_892_498),
        ("neg_binomial_2", &[3.2, 1.7], 5.0, -2.597_304_013_949_894_3),
        ("neg_binomial_2", &[3.2, 1.7], 40.0, -16.150_256_248_740_94),
        ("ordered_logistic", &[0.7, -1.1, 0.2, 2.4], 1.0, -1.952_977_610_526_074),
        ("ordered_logistic", &[0.7, -1.1, 0.2, 2.4], 2.0, -1.445_239_577_362_586),
        ("ordered_logistic", &[0.7, -1.1, 0.2, 2.4], 3.0, -0.759_299_662_379_231_8),
        ("ordered_logistic", &[0.7, -1.1, 0.2, 2.4], 4.0, -1.867_786_029_386_265_9),
        // A narrow level in a far tail.
        ("ordered_logistic", &[60.0, 0.0, 1e-9], 2.0, -80.723_265_836_446_41),
    ] {
        let found = log(name, args, y);
        assert!((found - wanted).abs() <= 1e-14 * (1.0 + wanted.abs()), "{name}{args:?} at {y}: {found} for {wanted}");
    }
    // Gamma functions of a million cancel.
    assert!((log("neg_binomial_2", &[12.0, 1e6], 9.0) - -2.437_667_632_019_466_4).abs() < 1e-8);
}

/// What a picture shows: half normal laws from 0 to where the density falls to a thousandth, a box from end to end.
#[test]
fn pictures_end_where_little_is_left() {
    let ends = |name: &str, args: &[f64]| dist::find(name).unwrap().ends(args);
    let near = |found: Option<(f64, f64)>, lo: f64, hi: f64| {
        let (a, b) = found.unwrap();
        assert!((a - lo).abs() < 1e-9 && (b - hi).abs() < 1e-9, "{a} {b}");
    };
    near(ends("half_normal", &[2.0]), 0.0, 7.6);
    near(ends("laplace", &[1.0, 0.5]), -2.5, 4.5);
    near(ends("cauchy", &[0.0, 1.0]), -10.0, 10.0);
    near(ends("uniform", &[-1.0, 3.0]), -1.0, 3.0);
    assert_eq!((ends("uniform", &[3.0, -1.0]), ends("half_normal", &[0.0]), ends("poisson", &[1.0])), (None, None, None));
}

/// The peak of a range of shapes is at least that of each.
#[test]
fn peaks_of_a_range_of_shapes_cover_it() {
    for d in dist::all() {
        let Law::Density(_, Some(s)) = &d.law else { continue };
        let most = (s.peak)(Interval::new(1.5, 60.0)).unwrap();
        for shape in [1.5, 2.0, 7.3, 60.0] {
            assert!((s.peak)(Interval::point(shape)).unwrap() <= most, "{} of shape {shape}", d.name);
        }
    }
}

#[test]
fn records_of_discrete_laws_agree_with_themselves() {
    let mut seen = 0;
    for d in dist::all() {
        let args = arguments(d);
        let numbers = flat(&args);
        let (probabilities, powers): (Vec<f64>, Option<f64>) = match &d.law {
            Law::Levels { logs, least } => {
                let logs = logs(&mut Builder::default(), &constants(&numbers));
                let all: Vec<f64> = logs.into_iter().map(|l| number(l).exp()).collect();
                let least = least(Interval::point(numbers[0]));
                assert!(d.support == Support::Categories || all.iter().all(|p| *p >= least), "{}: {all:?} above {least}", d.name);
                (all, None)
            }
            Law::Count(law) => {
                let top = if d.support == Support::CountsToFirst { numbers[0] as u32 } else { 400 };
                let of = |y: u32| law(&mut Builder::default(), &constants(&numbers), Operand::Constant(f64::from(y)), Some(B)).unwrap();
                ((0..=top).map(|y| number(of(y).0).exp()).collect(), of(0).1.map(number))
            }
            Law::Density(..) | Law::Vector(_) | Law::Mixture => continue,
        };
        seen += 1;
        close(d, "mass", probabilities.iter().sum(), 1.0, 1e-9);
        if let Some(powers) = powers {
            close(d, "sum of powers", probabilities.iter().map(|p| p.powf(B)).sum(), powers, 1e-8);
        }
        // `true` is listed first and counts 1; levels count from 1, numbers from 0.
        let value = |i: usize| match d.support {
            Support::Bool => 1.0 - i as f64,
            Support::Categories => i as f64 + 1.0,
            _ => i as f64,
        };
        let moment = |f: &dyn Fn(f64) -> f64| probabilities.iter().enumerate().map(|(i, p)| p * f(value(i))).sum::<f64>();
        let mean = moment(&|y| y);
        draws_have_the_mean(d, &args, (mean, moment(&|y| (y - mean).powi(2))));
    }
    assert_eq!(seen, 14);
}
