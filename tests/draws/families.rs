//! Posteriors of released counts of ordinal and mixed outcomes, against sums over every table on a grid of parameters.

use crate::fits::{close, fitted, rounded};
use dpm::run::Draws;

/// Every way to write `rows` as counts of so many cells.
fn tables(rows: usize, cells: usize) -> Vec<Vec<usize>> {
    if cells == 1 {
        return vec![vec![rows]];
    }
    (0..=rows).flat_map(|c| tables(rows - c, cells - 1).into_iter().map(move |rest| [vec![c], rest].concat())).collect()
}

/// The likelihood of noisy counts as a function of the chances of the cells: multinomial tables times rounded normal noise.
fn likelihood(rows: usize, noisy: &[i128], sigma: f64) -> impl Fn(&[f64]) -> f64 {
    let ln_factorial = |n: usize| libm::lgamma(n as f64 + 1.0);
    let weighed = |t: Vec<usize>| {
        let noise: f64 = t.iter().zip(noisy).map(|(c, y)| rounded(*y as f64 - *c as f64, sigma)).product();
        let ways = ln_factorial(rows) - t.iter().map(|c| ln_factorial(*c)).sum::<f64>();
        (noise.ln() + ways, t)
    };
    let all: Vec<(f64, Vec<usize>)> = tables(rows, noisy.len()).into_iter().map(weighed).collect();
    let most = all.iter().map(|(w, _)| *w).fold(f64::NEG_INFINITY, f64::max);
    let all: Vec<(f64, Vec<usize>)> = all.into_iter().filter(|(w, _)| *w > most - 60.0).collect();
    move |chances: &[f64]| {
        let logs: Vec<f64> = chances.iter().map(|p| p.max(1e-300).ln()).collect();
        all.iter().map(|(w, t)| (w + t.iter().zip(&logs).map(|(c, l)| *c as f64 * l).sum::<f64>()).exp()).sum()
    }
}

/// Means and sds of the numbers at each point, by weight.
fn moments(points: impl Iterator<Item = (f64, Vec<f64>)>) -> Vec<(f64, f64)> {
    let (mut all, mut sums) = (0.0, vec![]);
    for (weight, x) in points {
        sums.resize(x.len(), [0.0; 2]);
        all += weight;
        sums.iter_mut().zip(x).for_each(|(s, x)| *s = [s[0] + weight * x, s[1] + weight * x * x]);
    }
    sums.into_iter().map(|s| (s[0] / all, (s[1] / all - (s[0] / all).powi(2)).sqrt())).collect()
}

#[track_caller]
fn all_close(found: &Draws, wanted: &[(f64, f64)]) {
    assert_eq!(found.names.len(), wanted.len());
    wanted.iter().enumerate().for_each(|(i, m)| close(found, i, *m, 0.06));
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

fn normal(x: f64, sd: f64) -> f64 {
    (-0.5 * (x / sd).powi(2)).exp()
}

/// Cut points of an opinion, as levels and as numbers that do not begin at 0.
#[test]
fn cut_points_of_an_ordinal_answer() {
    let noisy = [9, 24, 5];
    let of = likelihood(40, &noisy, 3.0);
    let at = |i: i32| -6.0 + 0.06 * f64::from(i);
    let grid = (0..200).flat_map(|i| (i + 1..200).map(move |j| (at(i), at(j))));
    let wanted = moments(grid.map(|(a, b)| {
        let chances = [sigmoid(a - 0.4), sigmoid(b - 0.4) - sigmoid(a - 0.4), 1.0 - sigmoid(b - 0.4)];
        (normal(a, 2.0) * normal(b, 2.0) * of(&chances), vec![a, b])
    }));
    for (ty, file) in [("category {low, mid, high}", "low"), ("int in 3..5", "3")] {
        let text = format!(
            "budget gdp(9)\nprivate t[n] {{ answer: {ty} }}\nparam cuts: ordered[2] ~ normal(0, 2)\n\
             release cells = histogram(answer) using gaussian(sigma = 3)\n\
             observe cells.answer ~ ordered_logistic(0.4, cuts)\noutput post = posterior(cuts)\n"
        );
        let rows = format!("answer\n{}", format!("{file}\n").repeat(40));
        all_close(&fitted(&text, &rows, &noisy), &wanted);
    }
}

/// Two kinds of people, of whom the second succeeds more often: `ordered` tells the components apart.
#[test]
fn shares_of_a_mixture_of_two_binomial_laws() {
    let noisy = [5, 1, 2, 3, 6];
    let of = likelihood(16, &noisy, 1.0);
    let grid = (0..24).flat_map(|i| (0..24).flat_map(move |j| (j..24).map(move |k| [i, j, k].map(|i| (f64::from(i) + 0.5) / 24.0))));
    let hits = |p: f64, k: i32| [1.0, 4.0, 6.0, 4.0, 1.0][k as usize] * p.powi(k) * (1.0 - p).powi(4 - k);
    let wanted = moments(grid.map(|[w, p, q]| {
        let chances: Vec<f64> = (0..5).map(|k| w * hits(p, k) + (1.0 - w) * hits(q, k)).collect();
        // Points with p = q stand for half a cell.
        let half = if p == q { 0.5 } else { 1.0 };
        (half * w * (1.0 - w) * of(&chances), vec![w, p, q])
    }));
    let rows = format!("hits\n{}", "2\n".repeat(16));
    let head = "budget gdp(9)\nprivate t[n] { hits: int in 0..4 }\nparam p: ordered[2] ~ beta(1, 1)\n";
    let tail = "binomial(4, p[1]), binomial_logit(4, logit(clip(p[2], 1e-9, 1 - 1e-9))))\n";
    let found = fitted(
        &format!(
            "{head}param w ~ beta(2, 2)\nrelease cells = histogram(hits) using gaussian(sigma = 1)\n\
             observe cells.hits ~ mixture([w, 1 - w], {tail}output post = posterior(w, p)\n"
        ),
        &rows,
        &noisy,
    );
    all_close(&found, &wanted);
    // The same with shares, and with weights of any sum.
    for (prior, weights) in [("dirichlet([2, 2])", "w"), ("gamma(2, 1)", "w")] {
        let ty = if weights == "w" && prior.starts_with("gamma") { ": vector[2]" } else { "" };
        let text = format!(
            "{head}param w{ty} ~ {prior}\nrelease cells = histogram(hits) using gaussian(sigma = 1)\n\
             observe cells.hits ~ mixture({weights}, {tail}output post = posterior(p)\n"
        );
        all_close(&fitted(&text, &rows, &noisy), &wanted[1..]);
    }
}

/// A slope of a public truth beside an intercept for each region, and one for each pair of two columns.
#[test]
fn slopes_and_intercepts_by_group() {
    let rows = format!("g,x,y\n{}{}{}{}", "a,0,1\n".repeat(8), "a,1,1\n".repeat(10), "b,0,0\n".repeat(9), "b,1,1\n".repeat(7));
    let noisy: [[i128; 2]; 4] = [[5, 3], [2, 8], [3, 7], [6, 0]];
    let counts: [usize; 4] = [8, 10, 9, 7];
    let group: Vec<_> = counts.iter().zip(&noisy).map(|(n, y)| likelihood(*n, y, 1.0)).collect();
    let at = |i: i32| -5.0 + 0.2 * f64::from(i);
    let mut wanted = [vec![], vec![]];
    for g in 0..2 {
        let grid = (0..51).flat_map(|i| (0..51).map(move |j| (at(i), at(j))));
        let found = moments(grid.map(|(u, v)| {
            let like: f64 = [u, u + v].iter().enumerate().map(|(x, eta)| group[2 * g + x](&[sigmoid(-eta), sigmoid(*eta)])).product();
            (normal(u, 1.2) * normal(v, 1.2) * like, vec![u, v])
        }));
        wanted.iter_mut().zip(found).for_each(|(w, m)| w.push(m));
    }
    let table = "budget gdp(9)\nprivate t[n] { g: public category {a, b}, x: public bool, y: bool }\n\
                 release cells = histogram(g, x, y) using gaussian(sigma = 1)\n";
    let text = format!(
        "{table}param u: vector[g] ~ normal(0, 1.2)\nparam v: vector[g] ~ normal(0, 1.2)\n\
         observe cells.y ~ bernoulli_logit(u[g] + v[g] * x)\noutput post = posterior(u, v)\n"
    );
    all_close(&fitted(&text, &rows, noisy.as_flattened()), &wanted.concat());
    // One number for each pair of columns, in the order of the cells.
    let at = |i: i32| -5.0 + 0.05 * f64::from(i);
    let one =
        |of: &dyn Fn(&[f64]) -> f64| moments((0..201).map(|i| (normal(at(i), 1.2) * of(&[sigmoid(-at(i)), sigmoid(at(i))]), vec![at(i)])));
    let wanted: Vec<_> = group.iter().flat_map(|of| one(of)).collect();
    let text = format!(
        "{table}param u: vector[g, x] ~ normal(0, 1.2)\nobserve cells.y ~ bernoulli_logit(u[g, x] + 0 * u[a, false])\noutput post = posterior(u)\n"
    );
    let found = fitted(&text, &rows, noisy.as_flattened());
    assert_eq!(found.names.as_slice(), ["u[a, false]", "u[a, true]", "u[b, false]", "u[b, true]"]);
    all_close(&found, &wanted);
}
