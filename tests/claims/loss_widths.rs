//! How far log-densities move over bounded parameters (rule book §7): every law of `ops` written out once more, on grids of rows and
//! parameters.

use crate::numbers_support::claim;
use dpm::privacy::Claim;

/// A name, the ends of its domain, its prior.
type Parameter = (&'static str, [f64; 2], &'static str);

/// A law of `ops`: the column, the parameters with their domains and priors, the law, and its log-density at (parameters, y).
struct Case {
    column: &'static str,
    parameters: &'static [Parameter],
    law: &'static str,
    /// Outcomes of rows, ends included.
    outcomes: &'static [f64],
    /// Columns of rows beside the outcome.
    rows: &'static [f64],
    log: fn(&[f64], f64, f64) -> f64,
    /// The claim may be this many times the truth.
    loose: f64,
}

fn phi(t: f64) -> f64 {
    0.5 * libm::erfc(-t / std::f64::consts::SQRT_2)
}

const CASES: &[Case] = &[
    Case {
        column: "y: bool",
        parameters: &[("p", [0.1, 0.7], "beta(2, 3)")],
        law: "bernoulli(p)",
        outcomes: &[0.0, 1.0],
        rows: &[0.0],
        log: |t, _, y| if y > 0.5 { t[0].ln() } else { (1.0 - t[0]).ln() },
        loose: 1.0,
    },
    Case {
        column: "y: int in 0..4",
        parameters: &[("p", [0.2, 0.95], "beta(2, 3)")],
        law: "binomial(4, p)",
        outcomes: &[0.0, 1.0, 2.0, 3.0, 4.0],
        rows: &[0.0],
        log: |t, _, y| y * t[0].ln() + (4.0 - y) * (1.0 - t[0]).ln(),
        loose: 1.0,
    },
    Case {
        column: "y: int in 0..5",
        parameters: &[("p", [0.3, 0.8], "beta(2, 3)")],
        law: "geometric(p)",
        outcomes: &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0],
        rows: &[0.0],
        log: |t, _, y| t[0].ln() + y * (1.0 - t[0]).ln(),
        loose: 1.0,
    },
    Case {
        column: "y: int in 2..5",
        parameters: &[("p", [0.05, 0.8], "beta(2, 3)")],
        law: "neg_binomial(3, p)",
        outcomes: &[2.0, 3.0, 4.0, 5.0],
        rows: &[0.0],
        log: |t, _, y| 3.0 * t[0].ln() + y * (1.0 - t[0]).ln(),
        loose: 1.0,
    },
    Case {
        column: "y: int in 0..6",
        parameters: &[("rate", [0.5, 9.0], "gamma(2, 1)")],
        law: "poisson(rate)",
        outcomes: &[0.0, 1.0, 3.0, 5.0, 6.0],
        rows: &[0.0],
        log: |t, _, y| y * t[0].ln() - t[0],
        loose: 1.0,
    },
    Case {
        column: "x: real in [-1, 1], y: int in 1..6",
        parameters: &[("w", [-0.5, 1.0], "normal(0, 1)")],
        law: "poisson_log(w * x)",
        outcomes: &[1.0, 2.0, 4.0, 6.0],
        rows: &[-1.0, -0.4, 0.0, 0.7, 1.0],
        log: |t, x, y| y * t[0] * x - (t[0] * x).exp(),
        // The predictor is taken to lie in [-1, 1] on every row, with both ends.
        loose: 1.5,
    },
    Case {
        column: "y: real in [0, 3]",
        parameters: &[("rate", [0.2, 5.0], "gamma(2, 1)")],
        law: "exponential(rate)",
        outcomes: &[0.0, 0.3, 1.0, 3.0],
        rows: &[0.0],
        log: |t, _, y| t[0].ln() - t[0] * y,
        loose: 1.0,
    },
    Case {
        column: "y: real in [0.5, 3]",
        parameters: &[("rate", [0.2, 5.0], "gamma(2, 1)")],
        law: "gamma(2.5, rate)",
        outcomes: &[0.5, 1.0, 2.0, 3.0],
        rows: &[0.0],
        log: |t, _, y| 2.5 * t[0].ln() - t[0] * y,
        loose: 1.0,
    },
    Case {
        column: "y: bool",
        parameters: &[("b", [-2.0, 1.0], "normal(0, 1)")],
        law: "bernoulli_probit(b)",
        outcomes: &[0.0, 1.0],
        rows: &[0.0],
        log: |t, _, y| if y > 0.5 { phi(t[0]).ln() } else { phi(-t[0]).ln() },
        loose: 1.0,
    },
    Case {
        column: "y: bool",
        parameters: &[("b", [-2.0, 1.5], "normal(0, 1)")],
        law: "bernoulli_cloglog(b)",
        outcomes: &[0.0, 1.0],
        rows: &[0.0],
        log: |t, _, y| if y > 0.5 { (-(-t[0].exp()).exp_m1()).ln() } else { -t[0].exp() },
        loose: 1.0,
    },
    Case {
        column: "y: real in [-1, 4]",
        parameters: &[("m", [0.0, 3.0], "normal(0, 5)")],
        law: "normal(m, 0.7)",
        outcomes: &[-1.0, 0.0, 1.5, 4.0],
        rows: &[0.0],
        log: |t, _, y| -(y - t[0]).powi(2) / (2.0 * 0.49),
        loose: 1.0,
    },
    Case {
        column: "y: real in [-1, 4]",
        parameters: &[("m", [0.0, 3.0], "normal(0, 5)"), ("s", [0.5, 6.0], "gamma(2, 1)")],
        law: "normal(m, s)",
        outcomes: &[-1.0, 0.0, 1.5, 4.0],
        rows: &[0.0],
        log: |t, _, y| -(y - t[0]).powi(2) / (2.0 * t[1] * t[1]) - t[1].ln(),
        loose: 1.3,
    },
    Case {
        column: "y: real in [-1, 4]",
        parameters: &[("m", [-3.0, 3.0], "normal(0, 5)")],
        law: "laplace(m, 2)",
        outcomes: &[-1.0, 0.0, 4.0],
        rows: &[0.0],
        log: |t, _, y| -(y - t[0]).abs() / 2.0,
        loose: 1.3,
    },
    Case {
        column: "y: real in [0, 1]",
        parameters: &[("m", [2.0, 3.0], "normal(0, 5)")],
        law: "logistic(m, 0.2)",
        outcomes: &[0.0, 1.0],
        rows: &[0.0],
        log: |t, _, y| {
            let z = (y - t[0]) / 0.2;
            -z - 2.0 * (-z).exp().ln_1p()
        },
        loose: 1.1,
    },
    Case {
        column: "y: real in [0, 1]",
        parameters: &[("m", [1.5, 2.5], "normal(0, 5)")],
        law: "cauchy(m, 2)",
        outcomes: &[0.0, 0.5, 1.0],
        rows: &[0.0],
        log: |t, _, y| -((y - t[0]) / 2.0).powi(2).ln_1p(),
        loose: 1.3,
    },
];

#[test]
fn log_densities_move_no_further_than_claimed() {
    for case in CASES {
        let parameters = |f: &dyn Fn(&Parameter) -> String| case.parameters.iter().map(f).collect::<Vec<_>>();
        let declared = parameters(&|(name, [lo, hi], prior)| format!("param {name}: real in [{lo}, {hi}] ~ {prior}\n")).concat();
        let drawn = parameters(&|(name, ..)| (*name).to_owned()).join(", ");
        for (header, weight, sides) in [("9", 0.25, 2.0), ("private n", 0.5, 1.0)] {
            let text = format!(
                "private t[{header}] {{ {} }}\n{declared}observe y ~ {}\nrelease d = draw({drawn}) using ops(weight = {weight}) assuming convergence\n",
                case.column, case.law
            );
            let Claim::BoundedRange { eta } = claim(&text) else { panic!("no bounded range: {text}") };
            let mut truth: f64 = 0.0;
            for y in case.outcomes {
                for x in case.rows {
                    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
                    for point in grid(case.parameters) {
                        let l = (case.log)(&point, *x, *y);
                        (least, most) = (least.min(l), most.max(l));
                    }
                    truth = truth.max(most - least);
                }
            }
            let truth = sides * weight * truth;
            assert!(eta >= truth * (1.0 - 1e-12), "{eta} below {truth}\n{text}");
            assert!(eta <= truth * case.loose * (1.0 + 1e-3), "{eta} far above {truth}\n{text}");
        }
    }
}

/// All points of a grid on the domains, ends included.
fn grid(parameters: &[Parameter]) -> Vec<Vec<f64>> {
    let steps = if parameters.len() == 1 { 4_000 } else { 300 };
    parameters.iter().fold(vec![vec![]], |all, (_, [lo, hi], _)| {
        let axis = (0..=steps).map(|i| lo + (hi - lo) * f64::from(i) / f64::from(steps));
        axis.flat_map(|x| all.iter().map(move |point| [point.as_slice(), &[x]].concat())).collect()
    })
}

/// Where a log-density has no bound there is no claim.
#[test]
fn unbounded_log_densities_are_refused() {
    let error = |column: &str, parameter: &str, law: &str| {
        let release = "release d = draw(p) using ops(weight = 0.5) assuming convergence";
        crate::numbers_support::error_of(&format!("private t[9] {{ {column} }}\nparam p{parameter}\nobserve y ~ {law}\n{release}\n"))
    };
    for (column, parameter, law) in [
        ("y: bool", " ~ beta(2, 3)", "bernoulli(p)"),
        ("y: bool", ": real in [0, 0.5] ~ beta(2, 3)", "bernoulli(p)"),
        ("y: int in 0..4", ": real in [0.5, 1] ~ beta(2, 3)", "binomial(4, p)"),
        ("y: int in 0..4", " ~ gamma(2, 3)", "poisson(p)"),
        ("y: int in 0..4", ": real in [0, 5] ~ gamma(2, 3)", "poisson(p)"),
        ("y: real in [0, 4]", ": real in [0.1, inf] ~ gamma(2, 3)", "exponential(p)"),
        ("y: real in [0, 4]", " ~ normal(0, 1)", "normal(p, 1)"),
        ("y: real in [0, 4]", ": real in [0, 2] ~ gamma(2, 3)", "normal(0, p)"),
        ("y: bool", " ~ normal(0, 1)", "bernoulli_cloglog(p)"),
    ] {
        assert_eq!(error(column, parameter, law), "E0305", "{law} {parameter}");
    }
    for (column, parameter, law) in [
        ("y: real", ": real in [0, 2] ~ normal(0, 1)", "normal(p, 1)"),
        ("y: real in [0, 4]", ": real in [1, 2] ~ gamma(2, 3)", "gamma(p, 1)"),
        ("y: real in [0, 4]", ": real in [1, 2] ~ gamma(2, 3)", "laplace(0, p)"),
    ] {
        assert_eq!(error(column, parameter, law), "E0300", "{law} {parameter}");
    }
}
