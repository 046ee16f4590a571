//! The mean of a secret number of normal rows: its posterior by sums and what the noise costs, by enumeration.

use super::*;
use dpm::model::Range;

/// By its definition: sums over numbers of rows, and over the mean, of prior, rows and noise.
#[test]
fn means_of_secret_rows_by_double_sums() {
    // Prior mean and sd, sd of a row, range, noise on both, what was released of both: the sum in half steps.
    for case @ (m0, s0, sd, (lo, hi), (of_rows, of_sum), (rows, sum)) in [
        (1.0, 2.0, 1.5, (0.0, 4.0), (2.5, 6.0), (30.0, 22.0)),
        (0.0, 0.5, 1.0, (-1.0, 7.0), (4.0, 3.0), (5.0, -8.0)),
        (10.0, 3.0, 2.0, (0.0, 20.0), (1.0, 40.0), (-2.0, 30.0)),
        (0.0, 1.0, 1.0, (-3.0, 3.0), (6.0, 5.0), (40.0, -33.0)),
    ] {
        let noise = WholeNoise::Rows { gaussian: true, rows: of_rows, sum: of_sum };
        let family = WholeFamily::Normal { mean: m0, precision: 1.0 / (s0 * s0), sd, secret: Some(Range::new(lo, hi)) };
        let law = WholeLaw { family, noise, aware: true };
        let components = vec![Number::new(rows as i128, 0), Number::new((2.0 * sum) as i128, -1)];
        let found = posterior_of(&law, &Released { components }, false, &mut OsBits::new().unwrap()).unwrap();
        let middle = 0.5 * (lo + hi);
        let density = |m: f64| -> f64 {
            let of = |n: f64| {
                let variance = n * sd * sd + of_sum * of_sum;
                (-(rows - n).powi(2) / (2.0 * of_rows * of_rows) - (sum - n * (m - middle)).powi(2) / (2.0 * variance)).exp()
                    / variance.sqrt()
            };
            (-(m - m0).powi(2) / (2.0 * s0 * s0)).exp() * (0..150).map(f64::from).map(of).sum::<f64>()
        };
        let (centre, wide) = (found.mean()[0], found.sd()[0]);
        let points: Vec<f64> = (-3000..=3000).map(|i| centre + wide * f64::from(i) / 250.0).collect();
        let weights: Vec<f64> = points.iter().map(|m| density(*m)).collect();
        let total: f64 = weights.iter().sum();
        let mean = points.iter().zip(&weights).map(|(x, w)| x * w).sum::<f64>() / total;
        let spread = (points.iter().zip(&weights).map(|(x, w)| (x - mean).powi(2) * w).sum::<f64>() / total).sqrt();
        assert!((mean - centre).abs() < 1e-5 * wide && (spread / wide - 1.0).abs() < 1e-5, "{case:?} {centre} {mean}, {wide} {spread}");
        for (x, w) in points.iter().zip(&weights).step_by(500) {
            let exact = w / total * 250.0 / wide;
            assert!((found.density(*x) - exact).abs() < 1e-4 / wide, "{case:?} at {x}");
        }
    }
}

/// The shifts of sums from the middle and of numbers of rows, of all groups together, between all data sets of few rows.
#[test]
fn noisy_sums_and_numbers_cost_what_they_say() {
    let model = "param m ~ normal(0, 1)\n observe x ~ normal(m, 1)\n release q = posterior(m) using noise_aware(rho = 0.03)\n";
    let each = format!("each g of t {{ {model} }}\n");
    for (k, head, body) in [
        (1_i32, "private t[private n] { x: int in -1..4 }\n", model),
        (2, "private t[private n] by id max 2 { id: text, x: int in -1..4 }\n", model),
        (1, "private t[n] { g: category {u, v}, x: int in -1..4 }\n", each.as_str()),
    ] {
        let text = format!("{head}{body}");
        let law = plan(&text);
        let WholeNoise::Rows { gaussian: true, rows, sum } = law.noise else { panic!() };
        assert!(matches!(law.family, WholeFamily::Normal { secret: Some(range), .. } if range == Range::new(-1.0, 4.0)));
        // What a unit adds to the number of rows and to the sum of one group, and of the other.
        let mut adds = vec![[0.0; 4]];
        for _ in 0..k {
            let with = |a: &[f64; 4]| (-1..=4).map(|x| [a[0] + 1.0, a[1] + f64::from(x) - 1.5, 0.0, 0.0]).collect::<Vec<_>>();
            adds = adds.iter().flat_map(|a| [vec![*a], with(a)].concat()).collect();
        }
        let pairs: Vec<([f64; 4], [f64; 4])> = if body == model {
            // A unit comes, with no or some rows.
            adds.iter().map(|a| ([0.0; 4], *a)).collect()
        } else {
            let all: Vec<[f64; 4]> = adds.iter().skip(1).flat_map(|a| [*a, [0.0, 0.0, a[0], a[1]]]).collect();
            all.iter().flat_map(|a| all.iter().map(|b| (*a, *b))).collect()
        };
        let cost = |(a, b): &([f64; 4], [f64; 4])| {
            let sizes = [rows, sum, rows, sum];
            (0..4).map(|i| ((a[i] - b[i]) / sizes[i]).powi(2) / 2.0).sum::<f64>()
        };
        let (most, claimed) = (pairs.iter().map(cost).fold(0.0, f64::max), certified(&text).claim().zcdp());
        assert!(most <= claimed * (1.0 + 1e-15) && most > 0.999 * claimed, "{text} {most} {claimed}");
    }
}
