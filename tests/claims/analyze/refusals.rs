//! What is refused or warned about, with the numbers of the help.

use super::*;

#[test]
fn a_written_weight_above_the_budget_is_refused_with_the_solved_one() {
    let p = read(
        "budget rdp(order = 2, eps = 0.05)
         private t[n] { y: bool }
         param p ~ beta(6, 6)
         observe y ~ bernoulli(p)
         release x = draw(p) using diffuse(r = 0.9)",
    );
    assert_eq!(p.codes(), ["E0401"]);
    let d = &p.diagnostics[0];
    assert!(d.message.starts_with("`x` costs rdp(2) = 0."), "{}", d.message);
    assert_eq!(p.map.slice(d.labels[0].span), "r = 0.9");
    assert!(d.help[0].effect.starts_with("r = 0."), "{:?}", d.help);
}

#[test]
fn orders_beyond_the_limit_are_refused_with_what_works() {
    let text = std::fs::read_to_string(format!("{}/tests/wrong/01.dpm", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let p = read(&text);
    assert_eq!(p.codes(), ["E0301"]);
    let d = &p.diagnostics[0];
    assert_eq!(d.message, "a direct draw of `p` has no finite guarantee at RDP order 8");
    let places: Vec<&str> = d.labels.iter().map(|l| p.map.slice(l.span)).collect();
    assert_eq!(places, ["using direct", "order = 8", "beta(6, 18)"]);
    let [weaker, stronger, lower] = d.help.as_slice() else { panic!("{:?}", d.help) };
    assert_eq!((weaker.code.as_str(), weaker.effect.as_str()), ("using diffuse", "r = 0.668, certifies rdp(8, 0.5)"));
    assert!(stronger.code == "using concentrated" && stronger.effect.starts_with("prior becomes beta(11.42,"), "{stronger:?}");
    assert!(lower.lead == "or lower the order:" && lower.code.starts_with("budget rdp(order = 6, eps = "), "{lower:?}");
}

#[test]
fn a_prior_of_another_family_is_refused_with_its_match() {
    let text = std::fs::read_to_string(format!("{}/tests/wrong/11.dpm", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let p = read(&text);
    assert_eq!(p.codes(), ["E0302"]);
    let d = &p.diagnostics[0];
    let places: Vec<&str> = d.labels.iter().map(|l| p.map.slice(l.span)).collect();
    assert_eq!(places, ["using diffuse", "normal(0.2, 0.1)", "survey.smoker ~ bernoulli(p)"]);
    assert_eq!(d.help[0].to_string(), "beta(3, 12) has the same mean 0.2 and sd 0.1:   param p ~ beta(3, 12)");
}

#[test]
fn a_budget_of_a_kind_out_of_reach_is_told_so() {
    let p = read(
        "budget zcdp(0.1)
         private t[n] { y: category {a, b, c} }
         param s ~ dirichlet([8, 8, 8])
         observe y ~ categorical(s)
         release x = draw(s)",
    );
    assert_eq!(p.codes(), ["E0403"]);
    assert_eq!(p.diagnostics[0].message, "a Dirichlet draw has no guarantee above order 9, so it cannot satisfy zcdp");
}

#[test]
fn nothing_to_solve_from_is_an_error() {
    let text = |using: &str| {
        format!(
            "private t[n] {{ y: bool }}
             param p ~ beta(6, 6)
             observe y ~ bernoulli(p)
             release x = draw(p) {using}"
        )
    };
    assert_eq!(read(&text("")).codes(), ["E0405"]);
    assert_eq!(read(&text("using diffuse")).codes(), ["E0405"]);
    assert!(read(&text("using direct")).codes().is_empty());
    assert!(read(&text("using diffuse(r = 0.5)")).codes().is_empty());
    assert_eq!(read(&text("using diffuse(r = 1.5)")).codes(), ["E0208"]);
    assert_eq!(read(&text("using diffuse(m = 0.5)")).codes(), ["E0208"]);
    assert_eq!(read(&text("using laplace")).codes(), ["E0209"]);
    assert_eq!(read(&text("using beta_div")).codes(), ["E0311"]);
    assert_eq!(read(&text("using beta_div assuming convergence")).codes(), ["E0405"]);
    assert_eq!(read(&text("using penalty")).codes(), ["E0405"]);
    assert_eq!(read(&text("using dp_hmc")).codes(), ["E0405"]);
    assert_eq!(read(&text("using dp_sgld")).codes(), ["E0405"]);
    assert_eq!(read(&text("using dp_fast_mh")).codes(), ["E0300"]);
}

#[test]
fn a_hole_is_accepted_and_kept_from_certificates() {
    let p = read(
        "budget rdp(order = 2, eps = 0.05)
         private t[n] { y: bool }
         param p ~ beta(6, 6)
         observe y ~ bernoulli(p)
         release x = draw(p) using ?",
    );
    assert!(p.codes().is_empty());
    let release = &p.analysis.releases[0];
    let applies: Vec<(&str, bool)> = release.candidates.iter().map(|c| (c.mechanism, c.applies)).collect();
    assert_eq!(applies[..3], [("direct", false), ("diffuse", true), ("concentrated", true)]);
    assert_eq!(applies[3..7], [("beta_div", true), ("penalty", true), ("dp_hmc", true), ("dp_sgld", true)]);
    assert!(applies[7..].iter().all(|(_, applies)| !applies));
    assert_eq!(holes(&p.analysis)[0].code, "E0312");
}

#[test]
fn useless_weights_and_empty_promises_are_warned_about() {
    let p = read(
        "budget rdp(order = 2, eps = 0.0000001)
         private t[n] { y: bool }
         param p ~ beta(1, 1)
         observe y ~ bernoulli(p)
         release x = draw(p) using diffuse",
    );
    assert_eq!(p.codes(), ["W0510"]);
    let p = read(
        "budget dp(eps = 1, delta = 0.1)
         private t[n >= 100] { y: bool }
         param p ~ beta(9, 9)
         observe y ~ bernoulli(p)
         release x = draw(p)",
    );
    assert_eq!(p.codes(), ["W0501"]);
}

#[test]
fn expectations_are_judged() {
    let text = |expect: &str| {
        format!(
            "private t[n] {{ y: bool }}
             param p ~ beta(6, 18)
             observe y ~ bernoulli(p)
             release x = draw(p) using direct
             expect {expect}"
        )
    };
    for holds in [
        "certificate(x).max_order == 7",
        "rule(x) == \"beta_bernoulli\"",
        "status(x) == \"exact\"",
        "certificate(total) <= rdp(order = 3, eps = 0.3752)",
    ] {
        assert!(read(&text(holds)).codes().is_empty(), "{holds}");
    }
    for fails in [
        "certificate(x).max_order == 8",
        "rule(x) == \"gamma_poisson\"",
        "status(x) == \"certified\"",
        "certificate(x) <= rdp(order = 3, eps = 0.3)",
        "certificate(x) <= zcdp(100)",
    ] {
        assert_eq!(read(&text(fails)).codes(), ["E0501"], "{fails}");
    }
}

/// Where no mechanism releases a posterior whole, what is offered is put into the program, and the program is right.
#[test]
fn a_posterior_that_only_draws_cover() {
    let models = [
        ("t[200]", "z: counts[3] of at_most(4)", "tau ~ dirichlet([1, 1, 1])", "multinomial(4, tau)"),
        ("t[n >= 100]", "z: int in 0..5, x: vector[2] in l2(1)", "tau: vector[2] in l2(2) ~ normal(0, 1)", "poisson_log(dot(tau, x))"),
        ("t[n >= 100]", "z: bool, x: vector[2] in l2(1)", "tau: vector[2] in l2(2) ~ normal(0, 1)", "bernoulli_cloglog(dot(tau, x))"),
    ];
    for (header, columns, prior, law) in models {
        for (budget, spend, offered) in [
            ("budget dp(eps = 1, delta = 1e-6)", "", true),
            ("budget rdp(order = 2, eps = 1)", " spend 40%", true),
            // These draws have no pure guarantee: nothing is offered that would fail.
            ("budget eps(1)", "", false),
            ("", "", true),
        ] {
            let query = format!("release post = posterior(tau){spend}");
            let text = format!("{budget}\nprivate {header} {{ {columns} }}\nparam {prior}\nobserve z ~ {law}\n{query}\n");
            let p = read(&text);
            let shown = p.shown();
            assert_eq!(p.codes(), ["E0300"], "{shown}");
            assert!(shown.contains("releases the posterior of `tau` whole") && !shown.contains("not conjugate"), "{shown}");
            let help = dpm::source::help::lines(&p.diagnostics[0].help).join("\n");
            let after = |mark: &str| help.lines().find_map(|l| Some(&l[l.find(mark)?..]));
            assert!(after("release post").is_some() || !offered, "{shown}");
            let Some(line) = after("release post") else { continue };
            let mended = text.replace(&query, line);
            let Some(exact) = after("private t[") else {
                let p = read(&mended);
                assert!(!p.diagnostics.iter().any(|d| d.is_error()), "{mended}{}", p.shown());
                continue;
            };
            let p = read(&mended.replace(&format!("private {header}"), exact.split(" {").next().unwrap()));
            assert!(!p.diagnostics.iter().any(|d| d.is_error()), "{mended}{}", p.shown());
        }
    }
}

/// The conjugate prior that is named is that of the parameter in its place: of a precision a gamma, of a mean a normal law.
#[test]
fn the_conjugate_prior_of_a_precision() {
    let program = |prior: &str, law: &str| {
        format!(
            "budget dp(eps = 1, delta = 1e-6)\nprivate t[200] {{ z: real in [0, 10] }}\n{prior}\nobserve z ~ {law}\nrelease d = draw(s)\n"
        )
    };
    for prior in ["param s ~ exponential(2)", "param s ~ half_normal(2)", "param s: real in [0.5, 5] ~ gamma(2, 1)"] {
        let text = program(prior, "normal(5, 1 / sqrt(s))");
        let p = read(&text);
        let shown = p.shown();
        assert!(p.codes() == ["E0302"] && shown.contains("the conjugate prior here is gamma(shape, rate)"), "{shown}");
        let p = read(&text.replace(prior, &p.diagnostics[0].help[0].code));
        assert!(!p.diagnostics.iter().any(|d| d.is_error()), "{}", p.shown());
    }
    let shown = read(&program("param s: real in [0.5, 5] ~ uniform(0.5, 5)", "normal(5, s)")).shown();
    assert!(!shown.contains("conjugate prior here") && !shown.contains("param s ~ normal"), "{shown}");
}
