//! Golden values: every case whose rule exists in this version, certified from program texts, and a list of the rest.

mod bounded;
mod regression;

use std::collections::BTreeMap;

use crate::numbers_support::{certified_at, claim, error_of};
use dpm::privacy::{Claim, order};
use serde_json::Value;

/// Groups of cases that wait for a later version: rule, quantity (empty: all), reason.
const LATER: &[(&str, &str, &str)] = &[
    ("gibbs_convex_lipschitz", "strong", "no likelihood of the language is strongly convex in all weights"),
    ("approximate_sampler", "", "no approximate sampler yet"),
    ("normal_inverse_gamma", "rdp_pair", "no rule certifies this pair: the model is refused"),
];

/// What `golden_posteriors.rs` holds.
const POSTERIORS: &[&str] = &["hellinger_dirichlet", "ehd_mechanisms", "laplace_posterior", "floor_laplace"];

struct Case<'a>(&'a Value);

impl Case<'_> {
    fn rule(&self) -> &str {
        self.0["rule"].as_str().unwrap()
    }

    fn quantity(&self) -> &str {
        self.0["quantity"].as_str().unwrap()
    }

    /// A parameter as the file writes it, for program texts; 1 where it is left out.
    fn text(&self, name: &str) -> String {
        self.0["params"].get(name).map_or_else(|| "1".into(), Value::to_string)
    }

    fn number(&self, name: &str) -> f64 {
        number(&self.0["params"][name])
    }

    fn list(&self, name: &str) -> Vec<f64> {
        self.0["params"][name].as_array().unwrap().iter().map(number).collect()
    }

    fn order(&self) -> f64 {
        number(&self.0["order"])
    }

    fn expected(&self) -> f64 {
        if self.0["expected"] == "inf" { f64::INFINITY } else { number(&self.0["expected"]) }
    }

    fn fail(&self, found: f64) -> ! {
        panic!("found {found}, which is not what this asks for: {}", self.0)
    }

    /// `found` is an upper bound of the expected value and exceeds it by at most the relative `room`.
    fn upper_within(&self, found: f64, room: f64) {
        let expected = self.expected();
        let right = match expected.is_finite() {
            true => found >= expected * (1.0 - 1e-13) && found <= expected * (1.0 + room),
            false => found == expected,
        };
        if !right {
            self.fail(found);
        }
    }

    fn upper(&self, found: f64) {
        let room = if self.0["compare"] == "inf_over_orders" { 5e-3 } else { 1e-9 };
        self.upper_within(found, room);
    }

    /// `found` is at most the expected value and falls short of it by at most 1e-9.
    fn lower(&self, found: f64) {
        let expected = self.expected();
        if !(found <= expected * (1.0 + 1e-13) && found >= expected * (1.0 - 1e-9)) {
            self.fail(found);
        }
    }

    /// Judges a claim by the quantity this case asks for.
    fn judge(&self, claim: &Claim) {
        match self.quantity() {
            "rdp_epsilon" | "rdp_epsilon_upper" => self.upper(claim.rdp(self.order())),
            "max_order" => self.lower(claim.max_order()),
            "gdp_mu" => self.upper(claim.gdp()),
            "zcdp_rho_tight" => self.upper(claim.zcdp()),
            "epsilon" => self.upper(claim.epsilon(self.number("delta"))),
            "delta" => self.upper(claim.delta(self.number("epsilon"))),
            other => panic!("quantity {other}"),
        }
    }
}

fn number(v: &Value) -> f64 {
    v.as_f64().unwrap_or_else(|| panic!("{v} is not a number"))
}

/// The golden prior and rows of a conjugate model, and what it draws.
fn model(c: &Case) -> (String, &'static str) {
    let t = |name| c.text(name);
    let gamma = || format!("param m ~ gamma({}, {})", t("shape0"), t("rate0"));
    let beta = || format!("param m ~ beta({}, {})", t("alpha0"), t("beta0"));
    let real = || format!("private t[{}] {{ y: real in [{}, {}] }}", t("n"), t("x_min"), t("x_max"));
    let counts = || format!("private t[{}] {{ y: int in 0..{} }}", t("n"), t("count_max"));
    let alphas = || c.list("alpha");
    let text = match c.rule() {
        "beta_bernoulli" => {
            let rows = if c.0["params"]["adjacency"] == "add_remove" { "private n".into() } else { t("n") };
            format!("private t[{rows}] {{ y: bool }}\n{}\nobserve y ~ bernoulli(m)", beta())
        }
        "beta_binomial" => {
            let unit = if t("group") == "1" { String::new() } else { format!(" by id max {}", t("group")) };
            let (n, trials) = (t("n"), t("trials"));
            format!("private t[{n}]{unit} {{ id: text, y: int in 0..{trials} }}\n{}\nobserve y ~ binomial({trials}, m)", beta())
        }
        "dirichlet_categorical" => {
            let levels: Vec<String> = (0..alphas().len()).map(|i| format!("c{i}")).collect();
            let (n, levels) = (t("n"), levels.join(", "));
            format!("private t[{n}] {{ y: category {{{levels}}} }}\nparam m ~ dirichlet({})\nobserve y ~ categorical(m)", t("alpha"))
        }
        // The bound of section 2.3 without other rows: that of rows of fewer items, whatever n is.
        "dirichlet_multinomial" if c.quantity() == "rdp_epsilon_upper" => {
            let (d, most, alpha) = (alphas().len(), t("max_items_per_record"), t("alpha"));
            format!(
                "private t[n >= 3] {{ y: counts[{d}] of at_most({most}) }}\nparam m ~ dirichlet({alpha})\nobserve y ~ multinomial({most}, m)"
            )
        }
        "dirichlet_multinomial" => {
            let (n, d, items, alpha) = (t("n"), alphas().len(), t("items_per_record"), t("alpha"));
            format!("private t[{n}] {{ y: counts[{d}] of {items} }}\nparam m ~ dirichlet({alpha})\nobserve y ~ multinomial({items}, m)")
        }
        "gamma_poisson" => format!("{}\n{}\nobserve y ~ poisson(m)", counts(), gamma()),
        "gamma_exponential" => format!("{}\n{}\nobserve y ~ exponential(m)", real(), gamma()),
        "inverse_gamma_variance" => {
            let (n, d, a, b) = (t("n"), t("max_abs_dev"), t("shape0"), t("scale0"));
            format!("private t[{n}] {{ y: real in [-{d}, {d}] }}\nparam m ~ gamma({a}, {b})\nobserve y ~ normal(0, 1 / sqrt(m))")
        }
        "beta_negative_binomial" => format!("{}\n{}\nobserve y ~ neg_binomial({}, m)", counts(), beta(), t("r0")),
        "gaussian_known_variance" => {
            let [s0, sd] = ["prior_var", "noise_var"].map(|name| c.number(name).sqrt());
            format!("{}\nparam m ~ normal(0, {s0})\nobserve y ~ normal(m, {sd})", real())
        }
        "mvn_known_covariance" => {
            let (precision, noise) = (c.list("prior_precision_diag"), c.list("noise_var_diag"));
            let prior: Vec<f64> = precision.iter().map(|p| 1.0 / p).collect();
            let d = prior.len();
            format!(
                "private t[{}] {{ y: vector[{d}] in l2({}) }}\nparam m: vector[{d}] ~ multi_normal(rep(0, {d}), {})\nobserve y ~ multi_normal(m, {})",
                t("n"),
                t("l2_radius"),
                diagonal(&prior),
                diagonal(&noise)
            )
        }
        other => panic!("rule {other}"),
    };
    (text, "draw(m)")
}

fn diagonal(entries: &[f64]) -> String {
    let cell = |i: usize, j: usize| if i == j { entries[i].to_string() } else { "0".into() };
    let row = |i| (0..entries.len()).map(|j| cell(i, j)).collect::<Vec<_>>().join(", ");
    format!("[{}]", (0..entries.len()).map(|i| format!("[{}]", row(i))).collect::<Vec<_>>().join(", "))
}

/// A conjugate draw: its claim, or the solved weight or concentration, and what the certificate prints.
fn conjugate(c: &Case) {
    let (text, draw) = model(c);
    if let "r_star" | "m_star" = c.quantity() {
        let (order, limit) = (c.order(), c.text("epsilon"));
        let mechanism = if c.quantity() == "r_star" { "diffuse" } else { "concentrated" };
        let p =
            certified_at(&format!("budget rdp(order = {order}, eps = {limit})\n{text}\nrelease x = {draw} using {mechanism}\n"), &[], &[]);
        c.lower(p.certificate.releases[0].parameters.last().unwrap().1);
        assert!(p.claim().rdp(order) <= c.number("epsilon"), "over the budget: {}", c.0);
        return;
    }
    let mechanism = match (c.text("r").as_str(), c.text("m").as_str()) {
        ("1", "1") => "direct".to_string(),
        (r, "1") => format!("diffuse(r = {r})"),
        (_, m) => format!("concentrated(m = {m})"),
    };
    let orders: Vec<f64> = c.0["order"].as_f64().into_iter().collect();
    let p = certified_at(&format!("{text}\nrelease x = {draw} using {mechanism}\n"), &orders, &[]);
    c.judge(p.claim());
    // What a reader of the certificate finds is a bound too.
    if let [order] = orders.as_slice() {
        let profile = &p.certificate.to_json()["releases"][0]["profile"]["rdp"];
        let entry = profile.as_array().unwrap().iter().find(|e| number(&e["order"]) == *order).unwrap();
        c.upper(entry["epsilon"].as_f64().unwrap_or(f64::INFINITY));
    }
}

fn statistical_query(c: &Case) {
    let (n, a, b, r) = (c.text("n"), c.text("alpha0"), c.text("beta0"), c.text("r"));
    c.judge(&claim(&format!("private t[{n}] {{ x: real in [0, 1] }}\nrelease q = mean(x) using beta_query({a}, {b}, r = {r})\n")));
}

/// A sum of numbers in `[0, sensitivity]` under Gaussian noise.
fn gaussian(sensitivity: &str, sigma: &str, unit: &str) -> Claim {
    claim(&format!(
        "private t[n]{unit} {{ id: text, x: real in [0, {sensitivity}] }}\nrelease s = sum(x) using gaussian(sigma = {sigma})\n"
    ))
}

fn group(c: &Case) {
    match c.0["params"]["base"].as_str().unwrap() {
        "gdp" => {
            let sigma = (1.0 / c.number("mu")).to_string();
            c.judge(&gaussian("1", &sigma, &format!(" by id max {}", c.text("group"))));
        }
        // A mechanism of bounded range is written with its own eta, so a program cannot weaken it for groups.
        _ => c.judge(&Claim::BoundedRange { eta: c.number("eta") * c.number("group") }),
    }
}

/// Linear regression certifies every design its type allows; the case gives one design.
fn linear(c: &Case) {
    let design: Vec<Vec<f64>> =
        c.0["params"]["X"].as_array().unwrap().iter().map(|r| r.as_array().unwrap().iter().map(number).collect()).collect();
    let d = design[0].len();
    let (precision, variance) = (c.number("prior_precision"), c.number("noise_var"));
    let width = c.number("y_max") - c.number("y_min");
    // The closed form at this design: L = precision + X'X / variance, inverted by hand in one or two dimensions.
    let mut l = [[precision, 0.0], [0.0, precision]];
    for x in &design {
        for i in 0..d {
            for j in 0..d {
                l[i][j] += x[i] * x[j] / variance;
            }
        }
    }
    let det = l[0][0] * l[1][1] - l[0][1] * l[1][0];
    let quadratic = |x: &Vec<f64>| match x.as_slice() {
        [x] => x * x / l[0][0],
        [x, y] => (x * x * l[1][1] - 2.0 * x * y * l[0][1] + y * y * l[0][0]) / det,
        _ => panic!("three dimensions"),
    };
    let largest = design.iter().map(quadratic).fold(0.0, f64::max);
    let exact = c.order() * width * width / (variance * variance) * largest / 2.0;
    assert!((exact / c.expected() - 1.0).abs() < 1e-12, "closed form {exact}: {}", c.0);
    // The type's worst design is one row of the largest norm (here 1), alone.
    let text = format!(
        "private t[{}] {{ x: public vector[{d}] in l2(1), y: real in [{}, {}] }}\nparam w: vector[{d}] ~ normal(0, {})\n\
         observe y ~ normal(dot(w, x), {})\nrelease v = draw(w) using direct\n",
        design.len(),
        c.text("y_min"),
        c.text("y_max"),
        (1.0 / precision).sqrt(),
        variance.sqrt()
    );
    let found = claim(&text).rdp(c.order());
    let worst = c.order() * width * width / (variance * variance) / (precision + 1.0 / variance) / 2.0;
    assert!((found / worst - 1.0).abs() < 1e-12 && found >= c.expected(), "{found} against {worst}: {}", c.0);
}

fn basic(divergence: f64, order: f64, delta: f64) -> f64 {
    divergence - delta.ln() / (order - 1.0)
}

/// The basic conversion is a closed form of the test; the library's improved one never exceeds it.
fn convert(c: &Case) {
    let improved = c.0["params"]["conversion"] == "improved";
    if c.quantity() == "epsilon_optimal" {
        let delta = c.number("delta");
        let claim = match c.0["params"]["curve"].as_str().unwrap() {
            // The Gaussian curve read as zCDP, so that the conversion runs.
            "gaussian" => Claim::Zcdp { rho: c.number("sensitivity").powi(2) / c.number("sigma").powi(2) / 2.0 },
            _ => {
                let (n, a, b) = (c.text("n"), c.text("alpha0"), c.text("beta0"));
                claim(&format!(
                    "private t[{n}] {{ y: bool }}\nparam m ~ beta({a}, {b})\nobserve y ~ bernoulli(m)\nrelease x = draw(m) using direct\n"
                ))
                .converted()
            }
        };
        let found = claim.epsilon(delta);
        let limit = claim.max_order().min(1e4);
        let at = |i: u32| 1.0 + (limit - 1.0) * (-12.0 * f64::from(i) / 4000.0).exp();
        let least = (1..4000).map(|i| basic(claim.rdp(at(i)), at(i), delta)).fold(f64::INFINITY, f64::min);
        c.upper(if improved { found } else { least });
        assert!(found <= least, "improved {found} above basic {least}: {}", c.0);
        return;
    }
    let (divergence, order) = (c.number("rdp_epsilon"), c.number("order"));
    if c.quantity() == "delta" {
        return c.upper(order::delta_at(divergence, order, c.number("epsilon")));
    }
    let delta = c.number("delta");
    let (found, plain) = (order::epsilon_at(divergence, order, delta), basic(divergence, order, delta));
    c.upper(if improved { found } else { plain * (1.0 + 1e-15) });
    assert!(found <= plain, "improved {found} above basic {plain}: {}", c.0);
}

fn composition(c: &Case) {
    let (mut columns, mut steps, mut parts) = ("y: bool".to_string(), String::new(), vec![]);
    for (i, part) in c.0["params"]["parts"].as_array().unwrap().iter().enumerate() {
        let p = |name: &str| part[name].to_string();
        match part["rule"].as_str().unwrap() {
            "beta_bernoulli" => {
                assert_eq!(p("n"), "100");
                let prior = format!("param m ~ beta({}, {})\nobserve y ~ bernoulli(m)\n", p("alpha0"), p("beta0"));
                steps += &format!("{prior}release r{i} = draw(m) using direct\n");
            }
            "gaussian_mechanism" => {
                columns += &format!(", x{i}: real in [0, {}]", p("sensitivity"));
                steps += &format!("release r{i} = sum(x{i}) using gaussian(sigma = {})\n", p("sigma"));
            }
            "pure_dp" => parts.push(Claim::Pure { epsilon: number(&part["epsilon0"]) }),
            _ => parts.push(Claim::BoundedRange { eta: number(&part["eta"]) }),
        }
    }
    parts.push(certified_at(&format!("private t[100] {{ {columns} }}\n{steps}"), &[], &[]).total().clone());
    c.judge(&Claim::Product(parts));
}

/// The best guess of who was in: right with chance (1 + delta) / 2, delta that of eps = 0.
fn attack(c: &Case) {
    let x = number(&c.0["params"]["parameter"]);
    let claim = match c.0["params"]["guarantee"].as_str().unwrap() {
        "pure_dp" => Claim::Pure { epsilon: x },
        "bounded_range" => Claim::BoundedRange { eta: x },
        _ => Claim::Gdp { mu: x },
    };
    let (found, expected) = (0.5 * (1.0 + claim.delta(0.0)), number(&c.0["expected"]));
    assert!(found >= expected * (1.0 - 1e-15) && found <= expected * (1.0 + 1e-9), "{found} {expected}");
}

/// The model whose corners are not the worst case is refused whatever its prior.
fn refused(c: &Case) {
    let t = |name| c.text(name);
    let text = format!(
        "private t[{}] {{ y: real in [{}, {}] }}\nparam tau ~ gamma({}, {})\nparam mu ~ normal({}, 1 / sqrt({} * tau))\n\
         observe y ~ normal(mu, 1 / sqrt(tau))\nrelease x = draw(mu, tau) using direct\n",
        t("n"),
        t("x_min"),
        t("x_max"),
        t("a0"),
        t("b0"),
        t("m0"),
        t("kappa0")
    );
    assert_eq!((&c.0["expected"], error_of(&text)), (&Value::Bool(false), "E0300"));
}

#[test]
fn every_golden_case_of_this_version() {
    let file: Value = serde_json::from_str(include_str!("../golden.json")).unwrap();
    let (mut tested, mut later) = (BTreeMap::new(), BTreeMap::new());
    for value in file["cases"].as_array().unwrap() {
        let c = Case(value);
        let rule = c.rule();
        if POSTERIORS.contains(&rule) {
            continue;
        }
        // Within a rule, some settings wait whatever is asked of them.
        let quantity = match rule {
            "gibbs_convex_lipschitz" if c.0["params"]["loss_strong_convexity"].as_f64().is_some_and(|m| m > 0.0) => "strong",
            _ => c.quantity(),
        };
        let waits = LATER.iter().any(|(r, q, _)| *r == rule && (q.is_empty() || *q == quantity));
        *if waits { &mut later } else { &mut tested }.entry((rule.to_string(), quantity.to_string())).or_insert(0) += 1;
        if waits {
            continue;
        }
        match (rule, quantity) {
            ("normal_inverse_gamma", "certifiable") => refused(&c),
            ("statistical_query_beta", _) => statistical_query(&c),
            ("group_privacy", _) => group(&c),
            ("gaussian_mechanism", _) => c.judge(&gaussian(&c.text("sensitivity"), &c.text("sigma"), "")),
            ("bounded_range", _) => c.judge(&Claim::BoundedRange { eta: c.number("eta") }),
            ("pure_dp", _) => c.judge(&Claim::Pure { epsilon: c.number("epsilon0") }),
            ("linear_regression_public_design", _) => linear(&c),
            ("membership_inference", _) => attack(&c),
            ("rdp_to_dp", _) => convert(&c),
            ("composition", _) => composition(&c),
            ("glm_gaussian_prior", _) => regression::glm(&c),
            ("gibbs_convex_lipschitz", _) => regression::gibbs(&c),
            ("glm_ball", _) => regression::ball(&c),
            ("beta_divergence_ops", _) => bounded::beta_div(&c),
            ("truncated_logistic_ops", _) => bounded::ops(&c),
            ("dp_penalty_mcmc", _) => bounded::penalty(&c),
            ("dp_hmc", _) => bounded::hmc(&c),
            // A rule this file does not know has no model: the test fails, so no group is left out unseen.
            _ => conjugate(&c),
        }
    }
    for (group, count) in &tested {
        println!("tested {count:4}  {} {}", group.0, group.1);
    }
    for ((rule, quantity), count) in &later {
        let (_, _, reason) = LATER.iter().find(|(r, q, _)| r == rule && (q.is_empty() || q == quantity)).unwrap();
        println!("later  {count:4}  {rule} {quantity}: {reason}");
    }
    for (rule, quantity, _) in LATER {
        assert!(later.keys().any(|(r, q)| r == rule && (quantity.is_empty() || q == quantity)), "{rule} {quantity} waits for nothing");
    }
    let (tested, later): (i32, i32) = (tested.values().sum(), later.values().sum());
    println!("{tested} cases hold, {later} wait for a later version");
    assert_eq!((tested, later), (312, 9), "of {} cases", file["cases"].as_array().unwrap().len());
}
