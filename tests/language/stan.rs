//! The Stan programs that `show --stan` prints.

use dpm::check::NoFiles;
use dpm::{model::stan, pipeline};

fn stan_of(text: &str) -> String {
    let checked = pipeline::check("x.dpm", text, &NoFiles);
    assert!(!checked.has_errors(), "{:?}", checked.diagnostics);
    stan::stan(&checked.program)
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
    let sum = "lognormal_lpdf(t_x[i] | 0, 1)]) - log(sum([v, (1 - v)]'));";
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
