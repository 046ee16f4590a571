//! Logistic weights from noisy scores: golden values through certificates, the law of what leaves, degenerate rows.

use super::*;
use dpm::data::eval::NoEnvironment;
use dpm::data::{Source, scan};
use dpm::mechanism::{Scope, execute, prepare};

/// The cases `stage_one` of the golden values: sd of scores, sd of products, mu.
const GOLDEN: [(f64, f64, f64); 8] = [
    (9.467, 7.574, 0.201_658_647_789_577_37),
    (31.619, 47.428, 0.038_204_283_136_085_745),
    (38.095, 30.476, 0.050_116_506_344_761_21),
    (22.562, 67.686, 0.044_322_311_851_786_186),
    (9.306, 7.445, 0.205_152_011_573_111_9),
    (40.282, 32.226, 0.047_395_067_833_633_81),
    (2.329, 1.165, 1.251_884_717_206_874_3),
    (36.787, 55.18, 0.032_837_149_668_449_07),
];

fn program(n: u64, unit: &str, sizes: &str) -> String {
    format!(
        "private t[{n}]{unit} {{ id: text, x: vector[2] in l2(1), y: bool }}\nparam w: vector[2] ~ normal(0, 2)\n\
         observe y ~ bernoulli_logit(dot(w, x))\nrelease q = posterior(w) using score_statistics({sizes})\n"
    )
}

#[test]
fn certificates_meet_the_golden_values() {
    for (scores, products, wanted) in GOLDEN {
        for (unit, rows) in [("", 1.0), (" by id max 3", 3.0)] {
            let found = certified(&program(100, unit, &format!("sigma = {scores}, sigma_products = {products}"))).claim().gdp();
            assert!(found >= rows * wanted * (1.0 - 1e-15) && found <= rows * wanted * (1.0 + 1e-9), "{found} {wanted}");
        }
    }
}

/// What leaves for these rows, so many times: entries with i <= j of the products, then the scores.
pub(super) fn left(text: &str, file: &str, times: usize) -> Vec<Vec<f64>> {
    let program = certified(text);
    let plan = program.analysis.releases[0].chosen.as_ref().unwrap().plan.clone().unwrap();
    let checked = dpm::pipeline::check("test.dpm", text, &dpm::check::NoFiles);
    let table = &checked.program.tables[0];
    let scope = Scope { table, group: None, env: &NoEnvironment };
    let measured = scan(table, Source::new(std::io::Cursor::new(file.as_bytes().to_vec())), &[prepare(&plan, &scope).unwrap()]).unwrap();
    let mut bits = OsBits::new().unwrap();
    let mut one = || execute(&plan, &scope, &measured[0], &mut bits).unwrap()[0].to_f64();
    (0..times).map(|_| one()[1..].to_vec()).collect()
}

/// Means and variances of every number that leaves: cells beyond the domain count as the nearest value inside, products of two
/// features get half of the variance. Bounds of six standard deviations: a right program fails one run in ten million.
#[test]
fn what_leaves_has_the_noise_it_says() {
    let file = "id,x_1,x_2,y\na,0.6,0.8,1\nb,30,40,7\nc,-1,0,nonsense\nd,nan,0.5,0\n";
    let times = 20_000;
    let found = left(&program(4, "", "sigma = 2, sigma_products = 3"), file, times);
    let mean = |i: usize| found.iter().map(|x| x[i]).sum::<f64>() / times as f64;
    // Rows (.6, .8), (1, 1) cut to norm 1, (-1, 0), (0, .5); outcomes 1, ?, ?, 0, where each counts one half up or down.
    let exact = [0.36 + 0.5 + 1.0, 0.48 + 0.5, 0.64 + 0.5 + 0.25];
    let variances = [9.0, 4.5, 9.0, 4.0, 4.0];
    for (i, wanted) in variances.into_iter().enumerate() {
        let (m, error) = (mean(i), (wanted / times as f64).sqrt());
        let variance = found.iter().map(|x| (x[i] - m).powi(2)).sum::<f64>() / times as f64;
        assert!((variance / wanted - 1.0).abs() < 6.0 * (2.0 / times as f64).sqrt(), "{i}: {variance} {wanted}");
        match exact.get(i) {
            Some(e) => assert!((m - e).abs() < 6.0 * error, "{i}: {m} {e}"),
            // No row moves a score by more than half of its feature.
            None => assert!(m.abs() < [0.5 * (0.6 + 0.71 + 1.0), 0.5 * (0.8 + 0.71 + 0.5)][i - 3] + 6.0 * error, "{i}: {m}"),
        }
    }
    let cross = found.iter().map(|x| (x[0] - mean(0)) * (x[1] - mean(1))).sum::<f64>() / times as f64;
    assert!(cross.abs() < 6.0 * f64::sqrt(9.0 * 4.5 / times as f64), "{cross}");
}

/// One class, constant and zero columns, one row, classes that a line separates: a posterior of finite numbers, whatever left.
#[test]
fn degenerate_rows_end_like_any_other() {
    let row = |x: &str, y: &str| format!("a,{x},{y}\n");
    let rows = [
        vec![row("0.5,0.5", "1")],
        vec![row("0.5,0.5", "1"); 40],
        vec![row("0,0", "0"); 40],
        (0..40).map(|i| row(if i % 2 == 0 { "0.7,0" } else { "-0.7,0" }, if i % 2 == 0 { "1" } else { "0" })).collect(),
        vec![row("nan,inf", "?"); 40],
    ];
    for rows in rows {
        for sizes in ["sigma = 2", "sigma = 0.001", "sigma = 1e9, sigma_products = 1e-6", "sigma = 1e-6, sigma_products = 1e9"] {
            let text = program(rows.len() as u64, "", sizes);
            let (law, file) = (plan(&text), format!("id,x_1,x_2,y\n{}", rows.concat()));
            for numbers in left(&text, &file, 20) {
                let all = std::iter::once(rows.len() as f64).chain(numbers);
                let components = all.map(|x| Number::new((x * 2f64.powi(40)) as i128, -40)).collect();
                let found = posterior_of(&law, &Released { components }, true, &mut OsBits::new().unwrap()).unwrap();
                assert!(found.mean().iter().all(|m| m.is_finite()), "{sizes}: {found:?}");
                assert!(found.sd().iter().all(|s| *s > 0.0 && *s <= 2.0 + 1e-9), "{sizes}: {found:?}");
            }
        }
    }
}
