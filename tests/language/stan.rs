//! The Stan programs that `show --stan` prints.

use dpm::check::NoFiles;
use dpm::{model::stan, pipeline};

fn tried(text: &str) -> Result<String, stan::Refusal> {
    let checked = pipeline::check("x.dpm", text, &NoFiles);
    assert!(!checked.has_errors(), "{:?}", checked.diagnostics);
    stan::stan(&checked.program)
}

fn stan_of(text: &str) -> String {
    tried(text).unwrap()
}

#[test]
fn groups_have_parameters_of_their_own() {
    let text = stan_of(include_str!("../../examples/10_groups.dpm"));
    assert!(text.contains("vector<lower=0, upper=1>[4] p;"), "{text}");
    assert!(text.contains("survey_smoker[i] ~ bernoulli(p[survey_region[i]]);"), "{text}");
}

#[test]
fn whole_numbers_are_not_divided_as_integers() {
    let text = stan_of(
        "private t[n] { y: int in 17..90 }\nparam mu ~ normal(0, 1)\nlet z = y / (90 - 17)\nobserve z ~ normal(mu, 1 / 2)\n\
         release m = draw(mu) using direct\n",
    );
    assert!(text.contains("(1.0 * t_y[i] / (90.0 - 17.0)) ~ normal(mu, (1.0 / 2.0));"), "{text}");
}

#[test]
fn several_releases_are_several_files_and_released_values_are_data() {
    let text = stan_of(
        "budget rdp(order = 2, eps = 1)\npublic k: real in [1, 2]\nprivate t[n] { y: vector[2] in l2(1), z: real in [0, 1] }\n\
         param a ~ normal(0, k)\nobserve z ~ normal(a, 1)\nrelease m = draw(a)\n\
         param w ~ multi_normal([m, 0], [[1, 0], [0, 1]])\nobserve y ~ multi_normal(w, [[1, 0], [0, 1]])\nrelease v = draw(w)\n",
    );
    assert!(text.contains("// ---- file: m.stan") && text.contains("// ---- file: v.stan"), "{text}");
    assert!(text.contains("  real<lower=1, upper=2> k;") && text.contains("  real m;"), "{text}");
    assert!(text.contains("w ~ multi_normal([m, 0]', [[1, 0], [0, 1]]);"), "{text}");
}

/// The same in every law of levels.
#[test]
fn levels_count_from_one() {
    for law in ["categorical(s)", "categorical_logit(w)"] {
        let text = stan_of(&format!(
            "private t[n] {{ y: bool }}\nparam s ~ dirichlet([1, 1])\nparam w: vector[2] ~ normal(0, 1)\nobserve y ~ {law}\n\
             release d = draw({})\n",
            if law.contains('w') { "w" } else { "s" }
        ));
        assert!(text.contains(&format!("t_y[i] + 1 ~ {law};")), "{text}");
    }
}

#[test]
fn cut_points_rise_and_components_are_added_up() {
    let text = stan_of(
        "private t[n] { y: int in 0..2, x: real in [0, 1] }\nparam cuts: ordered[2] ~ normal(0, 2)\n\
         observe y ~ ordered_logistic(0.3, cuts)\nrelease d = draw(cuts)\nparam w ~ dirichlet([1, 1])\n\
         param m: ordered[2] ~ half_cauchy(1)\nobserve x ~ mixture(w, normal(m[1], 1), half_normal(m[2]))\nrelease e = draw(w, m)\n\
         param v ~ beta(1, 1)\nobserve x ~ mixture([v, 1 - v], weibull(2, 3), lognormal(0, 1))\nrelease f = draw(v)\n",
    );
    assert!(text.contains("  ordered[2] cuts;") && text.contains("  positive_ordered[2] m;"), "{text}");
    assert!(text.contains("t_y[i] - 0 + 1 ~ ordered_logistic(0.3, cuts);"), "{text}");
    assert!(text.contains("m ~ cauchy(0, 1);"), "{text}");
    let sum = "target += log_sum_exp([log(w[1]) + normal_lpdf(t_x[i] | m[1], 1), log(w[2]) + normal_lpdf(t_x[i] | 0, m[2]) + log2()]);";
    assert!(text.contains(sum), "{text}");
    let sum = "log(([v, (1 - v)]')[2]) + lognormal_lpdf(t_x[i] | 0, 1)]) - log(sum([v, (1 - v)]'));";
    assert!(text.contains(sum), "{text}");
}

#[test]
fn pairs_of_levels_are_one_index() {
    let text = stan_of(
        "private t[n] { g: category {a, b, c}, k: bool, i: int in 3..5, y: bool }\nparam u: vector[g, k, i] ~ normal(0, 1)\n\
         observe y ~ bernoulli_logit(u[g, k, i] + u[b, true, 4])\nrelease d = draw(u)\n",
    );
    assert!(text.contains("vector[18] u;"), "{text}");
    assert!(text.contains("(u[(((t_g[i] - 1) * 2 + t_k[i]) * 3 + (t_i[i] - 3)) + 1] + u[11])"), "{text}");
}

/// A ball is no box of bounds: all of R^d is moved onto it, and the Jacobian is in the target.
#[test]
fn a_ball_is_the_image_of_all_vectors() {
    let text = stan_of(
        "private t[n] { x: vector[2] in linf(1), y: bool }\nparam w: vector[2] in l2(1.5) ~ normal(0, 1)\n\
         observe y ~ bernoulli_logit(dot(w, x) + 0.2)\nrelease d = draw(w)\n",
    );
    let golden = "\
// The posterior of release `d` as declared: what the mechanism makes of it (a weight, a concentration, another loss, noise) is left out.
// Give the data as dpm reads them: cells moved into their declared domains, missing ones replaced, levels counted
// from 1 (`false` and `true` are 0 and 1), of each unit of privacy only the rows that count.
data {
  int<lower=0> N_t;
  array[N_t] vector[2] t_x;
  array[N_t] int<lower=0, upper=1> t_y;
}
parameters {
  vector[2] w_raw;
}
transformed parameters {
  vector[2] w = 1.5 * w_raw / sqrt(1 + dot_self(w_raw));
}
model {
  target += -2 * log1p(dot_self(w_raw)); // the Jacobian of w
  w ~ normal(0, 1);
  for (i in 1:N_t) t_y[i] ~ bernoulli_logit((dot_product(w, t_x[i]) + 0.2));
}
";
    assert_eq!(text, golden);
}

#[test]
fn other_sets_that_stan_cannot_declare() {
    let rows = "private t[n] { g: public category {a, b}, x: vector[3] in linf(1), y: bool, z: int in 0..3 }\n";
    let has = |program: &str, lines: &[&str]| {
        let text = stan_of(&format!("{rows}{program}"));
        for line in lines {
            assert!(text.contains(line), "{line}\n{text}");
        }
    };
    has(
        "param w: vector[3] in l1(2) ~ normal(0, 1)\nobserve y ~ bernoulli_logit(dot(w, x))\nrelease d = draw(w)\n",
        &[
            "  vector[3] w = 2 * w_raw / sqrt(1 + square(norm1(w_raw)));",
            "  target += -2.5 * log1p(square(norm1(w_raw))); // the Jacobian of w",
        ],
    );
    has(
        "param w: vector[3] in linf(2) ~ normal(0, 1)\nobserve y ~ bernoulli_logit(dot(w, x))\nrelease d = draw(w)\n",
        &["  vector<lower=-2, upper=2>[3] w;"],
    );
    has(
        "each g of t {\n param w: vector[3] in l2(2) ~ normal(0, 1)\n observe y ~ bernoulli_logit(dot(w, x))\n release d = draw(w)\n}\n",
        &[
            "  array[2] vector[3] w_raw;",
            "  array[2] vector[3] w;",
            "  for (g in 1:2) w[g] = 2 * w_raw[g] / sqrt(1 + dot_self(w_raw[g]));",
            "  for (g in 1:2) target += -2.5 * log1p(dot_self(w_raw[g])); // the Jacobian of w",
            "  for (i in 1:N_t) t_y[i] ~ bernoulli_logit(dot_product(w[t_g[i]], t_x[i]));",
        ],
    );
    let ordinal = |cuts: &str| format!("param c: {cuts}\nobserve z ~ ordered_logistic(0.5, c)\nrelease d = draw(c)\n");
    has(&ordinal("ordered[3] in [-2, 4] ~ normal(0, 1)"), &["  simplex[4] c_raw;", "  vector[3] c = -2 + 6 * cumulative_sum(c_raw[1:3]);"]);
    has(&ordinal("ordered[3] in [1, inf] ~ normal(0, 1)"), &["  positive_ordered[3] c_raw;", "  vector[3] c = 1 + c_raw;"]);
    has(&ordinal("ordered[3] in [-inf, 1] ~ normal(0, 1)"), &["  vector[3] c = 1 - reverse(c_raw);"]);
    has(&ordinal("ordered[3] ~ beta(2, 2)"), &["  vector[3] c = 0 + 1 * cumulative_sum(c_raw[1:3]);"]);
}

/// What a cut leaves of a prior is no constant where the prior depends on parameters.
#[test]
fn cuts_that_vary_are_divided_by() {
    let rows = "private t[n] { x: vector[2] in linf(1), y: bool }\nparam s ~ half_normal(1)\n";
    let rest = "observe y ~ bernoulli_logit(dot(w, x))\nrelease d = draw(w, s)\n";
    let program = |w: &str| format!("{rows}param w: vector[2] {w}\n{rest}");
    let text = stan_of(&program("in [-1, 2] ~ normal(0, 0.1 + s)"));
    assert!(text.contains("  for (k in 1:2) w[k] ~ normal(0, (0.1 + s)) T[-1, 2];"), "{text}");
    let text = stan_of(&program("in [0, 2] ~ half_normal(0.1 + s)"));
    assert!(text.contains("  for (k in 1:2) w[k] ~ normal(0, (0.1 + s)) T[0, 2];"), "{text}");
    let text = stan_of(&program("~ half_normal(0.1 + s)"));
    assert!(text.contains("  w ~ normal(0, (0.1 + s));"), "{text}");
    let refused = tried(&program("in l2(2) ~ normal(0, 0.1 + s)")).unwrap_err();
    assert!(refused.why.contains("depends on other parameters"), "{refused:?}");
}

#[test]
fn names_and_numbers_that_stan_reads_otherwise() {
    let text = stan_of(
        "private t[n] { y: bool, big: int in 0..3000000, i: int in 0..9, when_: date in [\"2020-01-01\", \"2021-01-01\"] }\n\
         public k: real in [1, 2]\nparam lower ~ uniform(-k, k)\nparam t_y ~ normal(0, 1)\nparam g ~ normal(0, 1)\n\
         observe y ~ bernoulli_logit(lower + t_y * big * big / 1000000000 + g * max(i, 3) + (if is_na(i) then 1 else 0))\n\
         release d = draw(lower, t_y, g)\n",
    );
    let lines = ["real<lower=-k, upper=k> lower_x;", "real t_y_p;", "real g_p;", "int<lower=0, upper=1> t_i_is_na;", "max(t_i[i], 3)"];
    for line in lines {
        assert!(text.contains(line), "{line}\n{text}");
    }
    assert!(!text.contains("t_when"), "columns that the model does not read are no data\n{text}");
}

#[test]
fn what_stan_cannot_say_is_refused() {
    let cases = [
        (
            "private t[n] { y: bool }\nrelease c = histogram(y) using gaussian(sigma = 9)\nparam p ~ beta(1, 1)\n\
             observe c.y ~ bernoulli(p)\noutput post = posterior(p)\n",
            "released counts",
        ),
        (
            "private t[n] { x: vector[2] in l2(1), y: bool }\nparam w: vector[2] ~ normal(0, 1)\n\
             observe y ~ bernoulli_logit(dot(w, project(l1(1), x)))\nrelease d = draw(w)\n",
            "Stan has no `project_l1`",
        ),
    ];
    for (program, why) in &cases {
        let refused = tried(program).unwrap_err();
        assert!(refused.why.contains(why), "{refused:?}");
    }
}
