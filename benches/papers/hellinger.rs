//! "Exploring the design space of differentially private Bayesian inference under Hellinger distance": Figures 1 to 6 and Table 1.
//!
//! Laws of the mechanisms are finite: probabilities, quartiles and losses are computed from them, not sampled. One is
//! sampled, the noise-aware posterior of three levels.

use super::data::read;
use super::hellinger_laws::{
    AWARE, Case, EHDL, EXACT, Law, MECHANISMS, beta_distance, floor_probability, law, mean, mixture_distance, quantile, realised_loss,
};
use super::table::{Table, say};
use dpm::numeric::hellinger::{global_sensitivity, inverse_smooth, local_sensitivity};
use dpm::numeric::special::ln_gamma;
use dpm::run::Posterior;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Draws of the noise-aware posterior of three levels; the paper has 1000 runs.
fn draws(full: bool) -> usize {
    if full { 1000 } else { 100 }
}

fn named(figure: &str, full: bool) -> String {
    format!("hellinger-{figure}{}", if full { "-full" } else { "" })
}

fn legend() -> String {
    MECHANISMS.iter().map(|m| format!("{:12} {}\n", m.name, m.words)).collect()
}

fn cells(of: &[&dyn std::fmt::Display]) -> Vec<String> {
    of.iter().map(|x| x.to_string()).collect()
}

/// Local sensitivity at a hundred rows, and what EHDS and EHD take for it.
pub fn figure_1(full: bool) {
    let name = named("1", full);
    let mut table = Table::open(&format!("{name}.csv"), 1, "ones,local,smooth,global");
    let alpha = [1.0, 1.0];
    for c in 0..=100u64 {
        let counts = [c, 100 - c];
        let smooth = || 1.0 / inverse_smooth(&alpha, &counts, 1.0);
        table.at(&cells(&[&format!("{c:03}")]), || vec![local_sensitivity(&alpha, &counts), smooth(), global_sensitivity(&alpha, 100)]);
    }
    let at = |c: &str| table.points[&vec![c.to_string()]].clone();
    let (edge, middle) = (at("000"), at("050"));
    let text = format!(
        "Figure 1: how far one row moves the posterior, 100 rows, prior beta(1, 1).\n\
         local sensitivity {:.4} at no ones, {:.4} at 50; smooth {:.4} and {:.4}; global {:.4} everywhere.\n\
         EHD is sized by the global one, which the corners alone need: hence its poor accuracy in figures 2 to 5.\n",
        edge[0], middle[0], edge[1], middle[1], middle[2]
    );
    say(&name, &text);
}

fn balanced(n: u64, k: usize, epsilon: f64) -> Case {
    // 33, 33 and 34 % at three levels, as in the paper.
    let part = if k == 2 { n / 2 } else { n * 33 / 100 };
    let mut counts = vec![part; k];
    counts[k - 1] = n - part * (k as u64 - 1);
    Case { alpha: vec![1.0; k], counts, epsilon }
}

/// Chances by distance, in narrow bins named by their upper ends, where the cumulative chance is exact.
fn by_distance(law: &Law, k: usize) -> Vec<(f64, f64)> {
    let width = if k == 2 { 1e-4 } else { 0.02 };
    let mut bins: BTreeMap<u64, f64> = BTreeMap::new();
    for (h, p) in law {
        *bins.entry((h / width).ceil() as u64).or_insert(0.0) += p;
    }
    bins.into_iter().map(|(i, p)| (i as f64 * width, p)).collect()
}

fn theory(figure: &str, full: bool, cases: &[(&str, Case)]) {
    let name = named(figure, full);
    let mut table = Table::open(&format!("{name}.csv"), 3, "panel,mechanism,distance,probability,cumulative");
    let mut text = format!("Figure {figure}: probability of a posterior at a distance from the one without privacy.\n{}", legend());
    text += "Cumulative chances, as in the picture, and the expected distance:\n";
    for (title, case) in cases {
        let mut lines = vec![];
        for m in MECHANISMS {
            let Some(law) = law(case, m.name, draws(full)) else {
                continue;
            };
            let mut sum = 0.0;
            for (h, p) in by_distance(&law, case.alpha.len()) {
                sum += p;
                // Points that no picture shows are left out of the file.
                if p > 5e-7 {
                    table.at(&cells(&[title, &m.name, &format!("{h:.4}")]), || vec![p, sum]);
                }
            }
            let within = |r: f64| law.iter().filter(|(h, _)| *h <= r).map(|x| x.1).sum::<f64>();
            lines.push((mean(&law), m.name, [within(1e-9), within(0.1), within(0.2)]));
        }
        writeln!(text, "\n{title}\n{:12} {:>9} {:>9} {:>9} {:>9}", "", "exact", "<= 0.1", "<= 0.2", "expected").unwrap();
        lines.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (expected, m, [a, b, c]) in &lines {
            // A mixture is never the posterior itself.
            let a = if *m == AWARE { "-".to_string() } else { format!("{a:.4}") };
            writeln!(text, "{m:12} {a:>9} {b:9.4} {c:9.4} {expected:9.4}").unwrap();
        }
        let of = |name: &str| lines.iter().find(|l| l.1 == name).map_or(0.0, |l| l.2[0]);
        if of(EHDL) < of("ls-hist") {
            let text_says = "The paper's text has EHDL give good results with a higher probability than all others. By the laws it gives";
            writeln!(text, "{text_says}\nthe posterior itself with {:.4}, ls-hist with {:.4}.", of(EHDL), of("ls-hist")).unwrap();
        }
        if !lines.iter().any(|l| l.1 == EXACT) {
            writeln!(text, "{EXACT} is left out: too many candidates for the worst loss to be computed").unwrap();
        }
    }
    text += WHY;
    say(&name, &text);
}

/// Why ours does not win everywhere by this measure.
const WHY: &str = "\nWhere noise-aware is not the nearest: the measure is the distance from the posterior without privacy. noise-aware releases\n\
the posterior given the noisy counts, which is wider than that one by the noise, so it is never at distance 0 and pays for\n\
its honest intervals even where the noise happens to be 0; the others write down counts as if they were exact, and their\n\
intervals are too narrow. ls-dim at eps costs eps / 2 with two levels (2 eps / 3 with three): it is shown at the eps of the\n\
paper, with less accuracy than its budget allows.\n";

pub fn figure_2(full: bool) {
    theory("2", full, &[("k = 2; n = 600; eps = 1", balanced(600, 2, 1.0)), ("k = 3; n = 600; eps = 1", balanced(600, 3, 1.0))]);
}

pub fn figure_3(full: bool) {
    theory("3", full, &[("k = 2; n = 1000; eps = 5", balanced(1000, 2, 5.0)), ("k = 2; n = 10000; eps = 5", balanced(10_000, 2, 5.0))]);
}

/// How many rows have each of the levels in a column.
fn levels(file: &str, column: usize, levels: &[&str]) -> Vec<u64> {
    let rows = read(file);
    let counts: Vec<u64> = levels.iter().map(|l| rows.iter().filter(|r| r[column] == **l).count() as u64).collect();
    assert_eq!(counts.iter().sum::<u64>(), rows.len() as u64, "{file}");
    counts
}

fn accuracy(figure: &str, full: bool, sets: &[(&str, Vec<u64>)]) {
    let name = named(figure, full);
    let mut table = Table::open(&format!("{name}.csv"), 2, "data,mechanism,low,lower_quartile,median,upper_quartile,high,mean");
    let mut text = format!(
        "Figure {figure}: Hellinger distance from the posterior without privacy on real data, eps = 1, all prior counts 1.\n{}\
         Quartiles and means of the laws; whiskers reach from the 0.001 to the 0.999 quantile, the paper's from the least to the\n\
         largest of 1000 runs.\n",
        legend()
    );
    if sets[0].1.len() == 3 {
        writeln!(text, "{AWARE} is sampled: {} draws.", draws(full)).unwrap();
    }
    let (mut compared, mut worse) = (0, vec![]);
    for (title, counts) in sets {
        let case = Case { alpha: vec![1.0; counts.len()], counts: counts.clone(), epsilon: 1.0 };
        let mut found = BTreeMap::new();
        writeln!(
            text,
            "\n{title}: {} rows, counts {counts:?}\n{:12} {:>8} {:>8} {:>8} {:>8}",
            counts.iter().sum::<u64>(),
            "",
            "quarter",
            "median",
            "3/4",
            "mean"
        )
        .unwrap();
        for m in MECHANISMS {
            let Some(law) = law(&case, m.name, draws(full)) else {
                writeln!(text, "{:12} too many candidates for the worst loss to be computed", m.name).unwrap();
                continue;
            };
            let numbers = || [0.001, 0.25, 0.5, 0.75, 0.999].map(|q| quantile(&law, q)).into_iter().chain([mean(&law)]).collect();
            let v = table.at(&cells(&[title, &m.name]), numbers).to_vec();
            writeln!(text, "{:12} {:8.4} {:8.4} {:8.4} {:8.4}", m.name, v[1], v[2], v[3], v[5]).unwrap();
            found.insert(m.name, [v[2], v[5]]);
        }
        // The better of ours against each private one of the paper.
        for (i, what) in ["median", "mean"].iter().enumerate() {
            let ours = [AWARE, EXACT].into_iter().filter_map(|m| Some((found.get(m)?[i], m))).min_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
            for (m, x) in found.iter().filter(|(m, _)| ![AWARE, EXACT, EHDL].contains(m)) {
                compared += 1;
                if ours.0 > x[i] {
                    worse.push(format!("{title}, {what}: {:.4} of {} against {:.4} of {m}", ours.0, ours.1, x[i]));
                }
            }
        }
    }
    writeln!(
        text,
        "\nThe better of ours has a larger median or mean than a private mechanism of the paper in {} of {compared} comparisons.",
        worse.len()
    )
    .unwrap();
    worse.iter().for_each(|w| writeln!(text, "  {w}").unwrap());
    text += WHY;
    say(&name, &text);
}

pub fn figure_4(full: bool) {
    let yes = ["1", "0"];
    accuracy(
        "4",
        full,
        &[
            ("bike sharing: working day", levels("bike_sharing/day.csv", 7, &yes)),
            ("cryotherapy: cured", levels("cryotherapy/cryotherapy.csv", 6, &yes)),
            ("badges", levels("badges/badges.csv", 0, &["+", "-"])),
            ("immunotherapy: cured", levels("immunotherapy/immunotherapy.csv", 7, &yes)),
        ],
    );
}

pub fn figure_5(full: bool) {
    let three = ["1", "2", "3"];
    accuracy(
        "5",
        full,
        &[
            ("bike sharing: weather", levels("bike_sharing/day.csv", 8, &three)),
            ("cryotherapy: type", levels("cryotherapy/cryotherapy.csv", 4, &three)),
            ("immunotherapy: type", levels("immunotherapy/immunotherapy.csv", 4, &three)),
        ],
    );
}

pub fn figure_6(full: bool) {
    let name = named("6", full);
    let mut table = Table::open(&format!("{name}.csv"), 2, "mechanism,rows,balanced,everywhere");
    let sizes: Vec<u64> = if full { (1..=20).map(|i| 50 * i).collect() } else { vec![20, 50, 100, 200, 300, 400, 600] };
    let kinds = ["ehd", EHDL, "ehds", EXACT];
    for m in kinds {
        for n in &sizes {
            table.at(&cells(&[&m, &format!("{n:04}")]), || {
                let (middle, everywhere) = realised_loss(&[1.0, 1.0], *n, 1.0, m).unwrap();
                vec![middle, everywhere]
            });
        }
    }
    let mut text = format!(
        "Figure 6: realised privacy loss where eps = 1 is proved, prior beta(1, 1), by all neighbours of balanced data and of any data.\n\
         {:12} {:>5} {:>9} {:>10}\n",
        "", "rows", "balanced", "everywhere"
    );
    for (k, v) in &table.points {
        writeln!(text, "{:12} {:>5} {:9.4} {:10.4}", k[0], k[1].trim_start_matches('0'), v[0], v[1]).unwrap();
    }
    let of = |m: &str| table.points.iter().filter(|(k, _)| k[0] == m).map(|(_, v)| v[1]).fold(0.0, f64::max);
    write!(
        text,
        "\nEHDS realises at most {:.4} of its eps, so its scale can be raised: calibrated by its exact worst loss it realises {:.6}.\n\
         EHDL realises {:.4} here, but has no bound: it is not private.\n",
        of("ehds"),
        of(EXACT),
        of(EHDL)
    )
    .unwrap();
    say(&name, &text);
}

/// Table 1's c(1) and c(2) at a posterior, as printed (with the root that its text has) and by the closed form.
fn printed(a: f64, b: f64) -> [f64; 2] {
    let step = ln_gamma(a + 0.5) - ln_gamma(a) + ln_gamma(b - 0.5) - ln_gamma(b);
    let two = (1.0 - 1.0 / (a + 1.0)).sqrt() * (1.0 - 1.0 / b).sqrt();
    // The printed c(1) has no root, that of c(2) is inside.
    [1.0 - step.exp(), (1.0 - two).sqrt()]
}

/// The example of the two misprints, and two balanced posteriors.
const PAIRS: [(f64, f64); 3] = [(7.0, 12.0), (50.0, 50.0), (300.0, 300.0)];

pub fn table_1(full: bool) {
    let name = named("table-1", full);
    let mut table = Table::open(&format!("{name}.csv"), 2, "row,alpha_beta,c0,c1,c2");
    let mut text = "Table 1: probability of the posterior itself and of those one and two steps away, eps = 1, two levels.\n\n".to_string();
    let wanted = [
        ("LSDim", 2.0, [0.196_734_670_14, 0.119_325_609_27, 0.072_374_640_51]),
        ("LSHist", 1.0, [0.316_060_279_41, 0.116_272_078_96, 0.042_774_107_43]),
    ];
    writeln!(text, "{:22} {:>14} {:>14} {:>14}   largest difference from the printed", "", "0", "c(1)", "c(2)").unwrap();
    for (row, scale, print) in wanted {
        let p = [0, 1, 2].map(|t| floor_probability(t, scale));
        table.at(&cells(&[&row, &"any"]), || p.to_vec());
        let off = p.iter().zip(print).map(|(p, q)| (p - q).abs()).fold(0.0, f64::max);
        writeln!(text, "{row:22} {:14.11} {:14.11} {:14.11}   {off:.1e}", p[0], p[1], p[2]).unwrap();
    }
    for (a, b) in PAIRS {
        let case = Case { alpha: vec![1.0, 1.0], counts: vec![a as u64 - 1, b as u64 - 1], epsilon: 1.0 };
        let found = |kind| law(&case, kind, 0).unwrap();
        for kind in ["ehds", EXACT] {
            let law = found(kind);
            // alpha + t alone: where both sides are as far, half of what lies there.
            let share = |t: f64| if a == b && t > 0.0 { 0.5 } else { 1.0 };
            let at = |h: f64| law.iter().filter(|x| (x.0 - h).abs() < 1e-7).map(|x| x.1).sum::<f64>();
            let p = [0.0, 1.0, 2.0].map(|t| share(t) * at(beta_distance((a, b), t)));
            table.at(&cells(&[&kind, &format!("{a} {b}")]), || p.to_vec());
            writeln!(text, "{:22} {:14.11} {:14.11} {:14.11}", format!("{kind} ({a}, {b})"), p[0], p[1], p[2]).unwrap();
        }
        let means = ["ls-hist", "ehds", EXACT, AWARE].map(|kind| format!("{kind} {:.4}", mean(&found(kind))));
        writeln!(text, "  expected distance: {}", means.join(", ")).unwrap();
    }
    text += "\nThe paper leaves the EHDS row as formulas; noise-aware releases a mixture and never one of these posteriors.\n\
             LSHist at c(1) is cut, not rounded, in print.\n\nDistances in the head of the table, two of which are misprinted:\n";
    writeln!(text, "{:14} {:>12} {:>12} {:>12} {:>12}", "(alpha, beta)", "c(1)", "printed", "c(2)", "printed").unwrap();
    for (a, b) in PAIRS {
        let [one, two] = printed(a, b);
        let (c, d) = (beta_distance((a, b), 1.0), beta_distance((a, b), 2.0));
        // A third road: the density integrated.
        let integral = mixture_distance(&[a, b], &Posterior::Beta(a + 1.0, b - 1.0));
        assert!((integral - c).abs() < 1e-4);
        writeln!(text, "{:14} {c:12.5} {one:12.5} {d:12.5} {two:12.5}", format!("({a}, {b})")).unwrap();
        table.at(&cells(&[&"distance", &format!("{a} {b}")]), || vec![0.0, c, d]);
        table.at(&cells(&[&"printed", &format!("{a} {b}")]), || vec![0.0, one, two]);
    }
    text += "c(1) lacks the square root and the factor sqrt((beta - 1) / alpha); c(2) has (beta - 1) / beta for (beta - 2) / (beta - 1).\n\
             The formula of LSHist in the text has eps t / 2, the numbers have eps t; the text equates EHDS at c(1) with 0.19673467,\n\
             which is LSDim at 0. LSDim costs eps / 2 at two levels: its first row is that of LSHist at eps = 1 / 2.\n";
    say(&name, &text);
}
