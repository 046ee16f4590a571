//! Every conjugate rule of real outcomes against grids, corners and random rows, by closed forms written for the tests.

use crate::numbers_support::worst::{FORMS, Is, Worst, program, random};
use crate::numbers_support::{claim, error_of};

/// The corners, what lies between, and two random points.
fn grid(lo: f64, hi: f64, state: &mut u64) -> Vec<f64> {
    let mut points: Vec<f64> = (0..=4).map(|i| lo + (hi - lo) * f64::from(i) / 4.0).collect();
    points.extend([0, 0].map(|_| lo + (hi - lo) * random(state)));
    points
}

/// Sums of `rows` values of a grid: all equal, or a few random choices.
fn sums(points: &[f64], rows: u64, state: &mut u64) -> Vec<f64> {
    if rows == 0 {
        return vec![0.0];
    }
    let mut all: Vec<f64> = points.iter().map(|x| x * rows as f64).collect();
    let pick = |state: &mut u64| points[(random(state) * points.len() as f64) as usize];
    all.extend([0; 6].map(|_| (0..rows).map(|_| pick(state)).sum::<f64>()));
    all
}

/// A Gamma posterior whose rate is `scale` times a sum of row values in `values`.
struct Rates {
    prior: [f64; 2],
    per_row: f64,
    scale: f64,
    values: Vec<f64>,
    r: f64,
}

impl Rates {
    fn at(&self, sum: f64, n: u64) -> [f64; 2] {
        [self.prior[0] + self.r * self.per_row * n as f64, self.prior[1] + self.r * self.scale * sum]
    }

    /// k of n rows replaced.
    fn replaced(&self, worst: &mut Worst, n: u64, k: u64, state: &mut u64) {
        let k = k.min(n);
        let units = sums(&self.values, k, state);
        for others in sums(&self.values, n - k, state) {
            for (i, x) in units.iter().enumerate() {
                units[..i].iter().for_each(|y| worst.gamma(self.at(others + x, n), self.at(others + y, n)));
            }
        }
    }

    /// Up to k rows added to n.
    fn added(&self, worst: &mut Worst, n: u64, k: u64, state: &mut u64) {
        for others in sums(&self.values, n, state) {
            for more in 1..=k {
                sums(&self.values, more, state).iter().for_each(|x| worst.gamma(self.at(others, n), self.at(others + x, n + more)));
            }
        }
    }
}

/// Judges exact n, and where the values stay above 0 also open and secret n.
fn judge_rates(prior: [f64; 2], k: u64, rows: [f64; 2], column: &str, model: &str, values: &[f64]) {
    let mut state = 7;
    for (form, r, m) in FORMS {
        let [per_row, scale] = rows;
        let rates = Rates { prior: prior.map(|x| x / m), per_row, scale, values: values.to_vec(), r };
        for n in 1..=4 {
            let text = program(&n.to_string(), k, column, model, form);
            let mut worst = Worst::default();
            rates.replaced(&mut worst, n, k, &mut state);
            worst.judge(&claim(&text), if n < k { Is::Above } else { Is::Attained }, &text);
        }
        if values.iter().all(|x| *x > 0.0) {
            let (mut replaced, mut added) = (Worst::default(), Worst::default());
            (2..=9).chain([40, 300]).for_each(|n| rates.replaced(&mut replaced, n, k, &mut state));
            (0..=9).chain([40, 300]).for_each(|n| rates.added(&mut added, n, k, &mut state));
            let text = program("n >= 2", k, column, model, form);
            replaced.judge(&claim(&text), Is::Above, &text);
            let text = program("private n", k, column, model, form);
            added.judge(&claim(&text), Is::Above, &text);
        }
    }
}

#[test]
fn exponential_rows() {
    let mut state = 3;
    for (a, b, lo, hi, k) in [(2.0, 3.0, 0.0, 1.0, 1u64), (0.7, 2.0, 0.5, 1.5, 1), (3.0, 0.4, 0.2, 4.0, 2), (5.0, 9.0, 2.0, 3.0, 3)] {
        let column = format!("y: real in [{lo}, {hi}]");
        let model = format!("m ~ gamma({a}, {b})\nobserve y ~ exponential(m)");
        judge_rates([a, b], k, [1.0, 1.0], &column, &model, &grid(lo, hi, &mut state));
    }
}

/// The posterior gains the shape of the rows for each, so a claim of exponential rows would be too small for shapes above 1.
#[test]
fn gamma_rows_of_known_shape() {
    let mut state = 11;
    for (a, b, shape, lo, hi, k) in
        [(2.0, 3.0, 2.5, 0.0, 1.0, 1u64), (0.7, 2.0, 0.3, 0.5, 1.5, 1), (3.0, 0.4, 7.0, 0.2, 4.0, 2), (5.0, 9.0, 0.5, 2.0, 3.0, 3)]
    {
        let column = format!("y: real in [{lo}, {hi}]");
        let model = format!("m ~ gamma({a}, {b})\nobserve y ~ gamma({shape}, m)");
        judge_rates([a, b], k, [shape, 1.0], &column, &model, &grid(lo, hi, &mut state));
    }
}

#[test]
fn normal_rows_of_known_mean() {
    let mut state = 5;
    for (a, b, mean, lo, hi, k) in
        [(2.0, 3.0, 0.0, -1.0, 2.0, 1u64), (1.0, 0.5, 0.3, 0.0, 1.0, 2), (1.5, 2.0, 3.0, 0.0, 2.0, 1), (0.8, 1.0, -1.0, 0.5, 1.5, 2)]
    {
        let mut values = grid(lo, hi, &mut state);
        values.extend((lo <= mean && mean <= hi).then_some(mean));
        let squares: Vec<f64> = values.iter().map(|x| (x - mean) * (x - mean)).collect();
        let column = format!("y: real in [{lo}, {hi}]");
        let model = format!("m ~ gamma({a}, {b})\nobserve y ~ normal({mean}, 1 / sqrt(m))");
        judge_rates([a, b], k, [0.5, 0.5], &column, &model, &squares);
    }
}

/// A parameter never sits at an end of its range, so these are total; what a row or a sign can make 0 is not.
#[test]
fn spellings_of_a_precision() {
    let text = |sd: &str| {
        let model = format!("m ~ gamma(2, 3)\nparam mu ~ normal(0, 1)\nobserve y ~ normal(0, {sd})");
        program("9", 1, "y: real in [0, 1]", &model, "direct")
    };
    let first = claim(&text("1 / sqrt(m)"));
    for sd in ["sqrt(1 / m)", "m ^ -0.5"] {
        assert_eq!(claim(&text(sd)), first, "{sd}");
    }
    for sd in ["1 / mu", "1 / (m * y)", "sqrt(mu)"] {
        assert_eq!(error_of(&text(sd)), "E0204", "{sd}");
    }
}

#[test]
fn normal_rows_of_known_spread() {
    let mut state = 9;
    for (m0, s0, sd, lo, hi, k) in [(0.0, 1.0, 1.0, -1.0, 1.0, 1u64), (60.0, 50.0, 30.0, 0.0, 200.0, 2), (2.0, 0.3, 0.5, 1.0, 1.5, 3)] {
        let column = format!("y: real in [{lo}, {hi}]");
        let model = format!("m ~ normal({m0}, {s0})\nobserve y ~ normal(m, {sd})");
        for (form, r, m) in FORMS {
            // The posterior: precision 1/(m s0^2) + r n / sd^2.
            let variance = |n: u64| 1.0 / (1.0 / (m * s0 * s0) + r * n as f64 / (sd * sd));
            let mean = |sum: f64, n: u64| variance(n) * (m0 / (m * s0 * s0) + r * sum / (sd * sd));
            let pairs = |worst: &mut Worst, n: u64, state: &mut u64| {
                let k = k.min(n);
                let units = sums(&grid(lo, hi, state), k, state);
                for others in sums(&grid(lo, hi, state), n - k, state) {
                    for (i, x) in units.iter().enumerate() {
                        for y in &units[..i] {
                            let moved = mean(others + x, n) - mean(others + y, n);
                            worst.see(|l| l * moved * moved / (2.0 * variance(n)));
                        }
                    }
                }
            };
            for n in 1..=4 {
                let mut worst = Worst::default();
                pairs(&mut worst, n, &mut state);
                let text = program(&n.to_string(), k, &column, &model, form);
                worst.judge(&claim(&text), if n < k { Is::Above } else { Is::Attained }, &text);
            }
            let mut worst = Worst::default();
            (k.max(2)..=8).for_each(|n| pairs(&mut worst, n, &mut state));
            let text = program(&format!("n >= {}", k.max(2)), k, &column, &model, form);
            worst.judge(&claim(&text), Is::Attained, &text);
        }
    }
}

type Matrix = [[f64; 2]; 2];

fn inverse(a: Matrix) -> Matrix {
    let det = a[0][0] * a[1][1] - a[0][1] * a[1][0];
    [[a[1][1] / det, -a[0][1] / det], [-a[1][0] / det, a[0][0] / det]]
}

fn plus(a: Matrix, b: Matrix, times: f64) -> Matrix {
    [0, 1].map(|i| [0, 1].map(|j| a[i][j] + times * b[i][j]))
}

fn apply(a: Matrix, x: [f64; 2]) -> [f64; 2] {
    [0, 1].map(|i| a[i][0] * x[0] + a[i][1] * x[1])
}

fn dot(x: [f64; 2], y: [f64; 2]) -> f64 {
    x[0] * y[0] + x[1] * y[1]
}

fn on_circle(turn: f64, radius: f64) -> [f64; 2] {
    let (sin, cos) = (std::f64::consts::TAU * turn).sin_cos();
    [radius * cos, radius * sin]
}

#[test]
fn vector_rows_of_known_covariance() {
    let mut state = 11;
    let diagonal = ([[2.0, 0.0], [0.0, 0.5]], [[1.0, 0.0], [0.0, 3.0]]);
    let full = ([[2.0, 0.6], [0.6, 0.5]], [[1.0, -0.4], [-0.4, 3.0]]);
    for ((prior, noise), is) in [(diagonal, Is::Attained), (full, Is::Above)] {
        for (radius, k) in [(1.0, 1u64), (0.3, 2)] {
            let column = format!("y: vector[2] in l2({radius})");
            let model = format!("m: vector[2] ~ multi_normal([0, 1], {prior:?})\nobserve y ~ multi_normal(m, {noise:?})");
            for (form, r, m) in FORMS {
                for n in k..=4 {
                    let inverse_noise = inverse(noise);
                    let precision = plus(plus(inverse(prior), inverse(prior), 1.0 / m - 1.0), inverse_noise, r * n as f64);
                    let mut worst = Worst::default();
                    for i in 0..200 {
                        // Antipodal rows along 40 directions, the axes among them; then random rows of the ball.
                        let turn = if i < 40 { f64::from(i) / 40.0 } else { random(&mut state) };
                        let [x, y] = if i < 40 { [radius, -radius] } else { [(); 2].map(|()| radius * random(&mut state)) };
                        let other = if i < 40 { turn } else { random(&mut state) };
                        let (x, y) = (on_circle(turn, x), on_circle(other, y));
                        let moved = [0, 1].map(|j| r * k as f64 * (x[j] - y[j]));
                        // The mean moves by V S^-1 of that; the divergence is l/2 times its square in the metric V^-1.
                        let linear = apply(inverse_noise, moved);
                        let square = dot(linear, apply(inverse(precision), linear));
                        worst.see(|l| l * square / 2.0);
                    }
                    let text = program(&n.to_string(), k, &column, &model, form);
                    worst.judge(&claim(&text), is, &text);
                }
            }
        }
    }
}

#[test]
fn regression_on_public_features() {
    let mut state = 13;
    for (prior, is) in [([[4.0, 0.0], [0.0, 0.25]], Is::Attained), ([[1.0, 0.3], [0.3, 2.0]], Is::Above)] {
        for (lo, hi, sd, c, k) in [(-1.0, 1.0, 1.0, 1.0, 1u64), (0.0, 3.0, 0.7, 2.0, 1), (0.0, 1.0, 1.5, 1.0, 2)] {
            let column = format!("x: public vector[2] in l2({c}), y: real in [{lo}, {hi}]");
            let model = format!("m: vector[2] ~ multi_normal([0, 0], {prior:?})\nobserve y ~ normal(dot(m, x), {sd})");
            for (form, r, m) in FORMS {
                let text = program("n", k, &column, &model, form);
                let mut worst = Worst::default();
                for i in 0..400u64 {
                    // The first design is the dearest: only the rows of one unit, all along the widest axis.
                    let n = if i == 0 { k } else { k + i % 4 };
                    let row = |state: &mut u64| on_circle(random(state), if random(state) < 0.5 { c } else { c * random(state) });
                    let design: Vec<[f64; 2]> = (0..n).map(|_| if i == 0 { [c, 0.0] } else { row(&mut state) }).collect();
                    let outer = |x: [f64; 2]| [0, 1].map(|i| [0, 1].map(|j| x[i] * x[j]));
                    let start = plus(inverse(prior), inverse(prior), 1.0 / m - 1.0);
                    let precision = design.iter().fold(start, |sum, x| plus(sum, outer(*x), r / (sd * sd)));
                    let mut linear = [0.0, 0.0];
                    for x in &design[..k as usize] {
                        let sign = if i == 0 || random(&mut state) < 0.5 { 1.0 } else { -1.0 };
                        let moved = sign * (hi - lo) * if i % 2 == 0 { 1.0 } else { random(&mut state) };
                        linear = [0, 1].map(|j| linear[j] + r * moved * x[j] / (sd * sd));
                    }
                    let square = dot(linear, apply(inverse(precision), linear));
                    worst.see(|l| l * square / 2.0);
                }
                worst.judge(&claim(&text), is, &text);
            }
        }
    }
}
