//! Pages of E0300 to E0314: why a rule does not apply.

use super::CodePage;

pub(super) const PAGES: &[CodePage] = &[
    CodePage {
        code: "E0300",
        title: "no rule of this version covers the model",
        text: "A release is certified by a rule: a theorem whose premises hold for the model. If no rule matches, nothing can \
               be claimed and nothing is drawn. The message names the rules that come closest and the premise that fails in \
               each; `using ?` lists them all.",
        example_wrong: r"budget rdp(order = 8, eps = 0.5)
private t[n >= 1000] { y: real in [0, 1] }
param a ~ cauchy(0, 1)
observe y ~ student_t(3, a, 1)
release a_hat = draw(a) using direct
",
        example_right: r"budget rdp(order = 8, eps = 0.5)
private t[n >= 1000] { y: real in [0, 1] }
param a ~ normal(0, 1)
observe y ~ normal(a, 1)
release a_hat = draw(a) using diffuse
",
    },
    CodePage {
        code: "E0301",
        title: "an order that the draw cannot reach",
        text: "A draw from a conjugate posterior has a finite Renyi divergence only below a limit order that the smallest prior \
               count sets: beyond it the divergence integral diverges, and no data can help. Weaken the data (diffuse), \
               strengthen the prior (concentrated), or ask for a lower order.",
        example_wrong: r"budget rdp(order = 8, eps = 0.5)
private staff[n >= 100] { smoker: bool }
param p ~ beta(6, 18)
observe smoker ~ bernoulli(p)
release p_hat = draw(p) using direct
",
        example_right: r"budget rdp(order = 8, eps = 0.5)
private staff[n >= 100] { smoker: bool }
param p ~ beta(6, 18)
observe smoker ~ bernoulli(p)
release p_hat = draw(p) using diffuse
",
    },
    CodePage {
        code: "E0302",
        title: "the prior does not fit the mechanism",
        text: "The rules of this mechanism need a prior of a certain family, usually the conjugate one. The help offers the \
               conjugate prior with the same mean and standard deviation.",
        example_wrong: r"budget rdp(order = 8, eps = 0.5)
private staff[n] { smoker: bool }
param p: real in [0, 1] ~ normal(0.2, 0.1)
observe smoker ~ bernoulli(p)
release p_hat = draw(p) using diffuse
",
        example_right: r"budget rdp(order = 8, eps = 0.5)
private staff[n] { smoker: bool }
param p ~ beta(3, 12)
observe smoker ~ bernoulli(p)
release p_hat = draw(p) using diffuse
",
    },
    CodePage {
        code: "E0303",
        title: "a loss with unbounded slope",
        text: "The rule for generalised linear models bounds how far one row moves the posterior by the slope of its loss. For \
               the logit link the slope is at most 1; for probit, cloglog, poisson and normal it is unbounded, although the \
               mean of probit and cloglog is bounded. Use the canonical link, or declare a bounded domain \
               for the weights, on which every link has a bounded slope.",
        example_wrong: r"budget rdp(order = 10, eps = 0.5)
private adult[n] { x: vector[9] in l2(1), rich: bool }
param w: vector[9] ~ normal(0, 1)
observe rich ~ bernoulli_probit(dot(w, x))
release coef = draw(w) using diffuse
",
        example_right: r"budget rdp(order = 10, eps = 0.5)
private adult[n] { x: vector[9] in l2(1), rich: bool }
param w: vector[9] ~ normal(0, 1)
observe rich ~ bernoulli_logit(dot(w, x))
release coef = draw(w) using diffuse
",
    },
    CodePage {
        code: "E0304",
        title: "a loss that is not convex",
        text: "The rule for generalised linear models needs a log-concave posterior. A network, or any product of parameters, \
               has none. Make every predictor a sum of weights times features.",
        example_wrong: r"budget gdp(1)
private flowers[n] { x: vector[4] in l2(1), kind: category {a, b, c} }
param W1: matrix[5, 4] ~ normal(0, 1)
param W2: matrix[3, 5] ~ normal(0, 1)
observe kind ~ categorical_logit(W2 * tanh(W1 * x))
release net = draw(W1, W2) using diffuse
",
        example_right: r"budget gdp(1)
private flowers[n] { x: vector[4] in l2(1), kind: category {a, b, c} }
param W: matrix[3, 4] ~ normal(0, 1)
observe kind ~ categorical_logit(W * x)
release weights = draw(W) using diffuse
",
    },
    CodePage {
        code: "E0305",
        title: "a density without a bound",
        text: "The beta-divergence loss of a row is bounded by a power of the largest density. A normal density with a scale \
               near 0 has no largest value. Give the scale a public lower bound; it truncates the prior and does not touch the \
               data.",
        example_wrong: r"budget eps(4)
private homes[n] { x: vector[5], price: real }
param w: vector[5] ~ normal(0, 5)
param sigma ~ half_normal(2)
observe price ~ normal(dot(w, x), sigma)
release fit = draw(w, sigma) using beta_div assuming convergence
",
        example_right: r"budget eps(4)
private homes[n] { x: vector[5], price: real }
param w: vector[5] ~ normal(0, 5)
param sigma: real in [0.5, inf] ~ half_normal(2)
observe price ~ normal(dot(w, x), sigma)
release fit = draw(w, sigma) using beta_div assuming convergence
",
    },
    CodePage {
        code: "E0306",
        title: "a prior that is not strongly log-concave",
        text: "The rule for generalised linear models divides by the curvature of -log prior. A Laplace or Cauchy prior has \
               none in its tails, a flat one none at all. Use a normal prior of similar scale.",
        example_wrong: r"budget rdp(order = 10, eps = 0.5)
private adult[n] { x: vector[9] in l2(1), rich: bool }
param w: vector[9] ~ laplace(0, 1)
observe rich ~ bernoulli_logit(dot(w, x))
release coef = draw(w) using diffuse
",
        example_right: r"budget rdp(order = 10, eps = 0.5)
private adult[n] { x: vector[9] in l2(1), rich: bool }
param w: vector[9] ~ normal(0, 1)
observe rich ~ bernoulli_logit(dot(w, x))
release coef = draw(w) using diffuse
",
    },
    CodePage {
        code: "E0307",
        title: "a mechanism that needs a public number of rows",
        text: "The set of answers this mechanism chooses from, or its step size, depends on n; with `[private n]` that would \
               reveal n. Declare n public, or take a mechanism that does without.",
        example_wrong: r"budget zcdp(0.1)
private staff[private n] { income: real in [0, 200] }
param mu ~ normal(60, 50)
observe income ~ normal(mu, 100)
release mu_hat = draw(mu) using diffuse
",
        example_right: r"budget zcdp(0.1)
private staff[n] { income: real in [0, 200] }
param mu ~ normal(60, 50)
observe income ~ normal(mu, 100)
release mu_hat = draw(mu) using diffuse
",
    },
    CodePage {
        code: "E0308",
        title: "groups that share a parameter",
        text: "The groups of `each` cost as much as the most expensive of them only if each has an independent model. A \
               parameter from outside is learned from all rows, so a draw for one group would carry information about the \
               others. Give every group a fixed prior and pool the released values afterwards, which is free.",
        example_wrong: r"budget rdp(order = 6, eps = 0.5)
private survey[n] { region: public category {north, south}, smoker: bool }
param a ~ gamma(10, 1)
each region of survey {
  param p ~ beta(a, 10)
  observe smoker ~ bernoulli(p)
  release rate = draw(p)
}
",
        example_right: r"budget rdp(order = 6, eps = 0.5)
private survey[n] { region: public category {north, south}, smoker: bool }
each region of survey {
  param p ~ beta(10, 10)
  observe smoker ~ bernoulli(p)
  release rate = draw(p)
}
output shrunk = 0.7 * rate + 0.3 * mean(rate)
",
    },
    CodePage {
        code: "E0309",
        title: "features without a bound",
        text: "The rule for generalised linear models needs a bound on the norm of the features. Declare the ball that rows are \
               projected onto, or project in the program. The radius is public: choose it without looking at the data.",
        example_wrong: r"budget rdp(order = 10, eps = 0.5)
private adult[n] { x: vector[9], rich: bool }
param w: vector[9] ~ normal(0, 1)
observe rich ~ bernoulli_logit(dot(w, x))
release coef = draw(w) using diffuse
",
        example_right: r"budget rdp(order = 10, eps = 0.5)
private adult[n] { x: vector[9] in l2(1), rich: bool }
param w: vector[9] ~ normal(0, 1)
observe rich ~ bernoulli_logit(dot(w, x))
release coef = draw(w) using diffuse
",
    },
    CodePage {
        code: "E0310",
        title: "a shape without a bounded density",
        text: "The beta-divergence loss of a row is bounded by a power of the largest density. A gamma density of shape below 1 \
               has no largest value. Fix the shape, or bound it from below. A shape that may vary pays the wider range \
               M^(beta-1) (1/(beta-1) + 1/beta) instead of M^(beta-1)/(beta-1), because the integral term of the loss varies with \
               it; so does a Student-t whose degrees of freedom vary.",
        example_wrong: r"budget eps(6)
private t[n] { y: real in [0, inf] }
param shape ~ gamma(2, 1)
observe y ~ gamma(shape, 2)
release fit = draw(shape) using beta_div assuming convergence
",
        example_right: r"budget eps(6)
private t[n] { y: real in [0, inf] }
param shape: real in [1, inf] ~ gamma(2, 1)
observe y ~ gamma(shape, 2)
release fit = draw(shape) using beta_div assuming convergence
",
    },
    CodePage {
        code: "E0311",
        title: "a sampler that is private only if it has converged",
        text: "The certificate covers the code that ran. A Markov chain that is stopped early draws from another distribution \
               than the one the theorem speaks of, so the program must say that it assumes convergence; the certificate then \
               says conditional. A sampler with its own proof needs no such words.",
        example_wrong: r"budget gdp(1)
private loans[n] { x: vector[20] in l2(1), default: bool }
param w: vector[20] ~ normal(0, 3)
observe default ~ bernoulli_logit(dot(w, x))
release w_hat = draw(w) using diffuse(sampler = nuts)
",
        example_right: r"budget gdp(1)
private loans[n] { x: vector[20] in l2(1), default: bool }
param w: vector[20] ~ normal(0, 3)
observe default ~ bernoulli_logit(dot(w, x))
release w_hat = draw(w) using diffuse(sampler = langevin)
",
    },
    CodePage {
        code: "E0312",
        title: "a hole was left",
        text: "`?` asks what could be written in its place, and `dpm check` and `dpm compare` answer. A program with a hole cannot \
               be certified or run. Put one of the mechanisms listed there instead.",
        example_wrong: r"budget rdp(order = 8, eps = 0.5)
private staff[n] { smoker: bool }
param p ~ beta(20, 20)
observe smoker ~ bernoulli(p)
release p_hat = draw(p) using ?
",
        example_right: r"budget rdp(order = 8, eps = 0.5)
private staff[n] { smoker: bool }
param p ~ beta(20, 20)
observe smoker ~ bernoulli(p)
release p_hat = draw(p) using diffuse
",
    },
    CodePage {
        code: "E0313",
        title: "a rule that needs the exact number of rows",
        text: "Most rules cost less the more rows there are, and a lower bound on n is enough. For this one the cost grows with \
               n, so no bound holds for every n. Write the exact public number of rows into the header. \
               Of `ehds` and `ehd` the same code says that n rows have too many candidates, or that a law cannot be calibrated \
               exactly. Where the header does not say n, too many candidates are noticed only once the rows are counted: data \
               are opened after a run is charged and never before, so nothing is released and the charge stands. With the exact \
               n in the header the refusal comes before.",
        example_wrong: r"budget rdp(order = 2, eps = 1)
private t[n] { wait: real in [0, 1] }
param rate ~ gamma(40, 40)
observe wait ~ exponential(rate)
release rate_hat = draw(rate) using diffuse
",
        example_right: r"budget rdp(order = 2, eps = 1)
private t[1000] { wait: real in [0, 1] }
param rate ~ gamma(40, 40)
observe wait ~ exponential(rate)
release rate_hat = draw(rate) using diffuse
",
    },
    CodePage {
        code: "E0314",
        title: "a certified release that could not be drawn",
        text: "A claim may hold for a mechanism that no run could carry out: a chain of more than a billion steps, noise or values beyond what \
               integers hold, a prior that an earlier release may push out of reach. Such a release is refused here, since a run \
               is charged before its data are opened. What a prior takes from an earlier release is tried at both ends of its range.",
        example_wrong: r"budget zcdp(0.5)
private t[n >= 1000] { z: real in [0, 1] }
param w ~ normal(0, 1)
observe z ~ normal(w, 1)
release fit = draw(w) using penalty(iterations = 20, sigma = 1e60)
",
        example_right: r"budget zcdp(0.5)
private t[n >= 1000] { z: real in [0, 1] }
param w ~ normal(0, 1)
observe z ~ normal(w, 1)
release fit = draw(w) using penalty(iterations = 20, sigma = 3)
",
    },
    CodePage {
        code: "E0315",
        title: "released counts whose noise a model cannot use",
        text: "A model of released counts accounts for their noise exactly, and knows the law of integer noise: geometric, or normal \
               rounded to integers. Laplace noise turns counts into real numbers. Without `using`, a histogram gets integer noise. A record \
               that does not say what noise its counts have gives no table.",
        example_wrong: r"budget eps(1)
private t[n] { vote: bool }
release cells = histogram(vote) using laplace
param p ~ beta(1, 1)
observe cells.vote ~ bernoulli(p)
output post = posterior(p)
",
        example_right: r"budget eps(1)
private t[n] { vote: bool }
release cells = histogram(vote) using geometric
param p ~ beta(1, 1)
observe cells.vote ~ bernoulli(p)
output post = posterior(p)
",
    },
];
