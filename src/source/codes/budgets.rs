//! Pages of E04xx, E0501 and the warnings: what a program costs.

use super::CodePage;

pub(super) const PAGES: &[CodePage] = &[
    CodePage {
        code: "E0401",
        title: "a release over its allotment",
        text: "The mechanism with the parameter you wrote costs more than the release may spend. Leave the parameter out and it \
               is solved from the budget, or take the value the help offers.",
        example_wrong: r"budget rdp(order = 8, eps = 0.5)
private staff[n] { smoker: bool }
param p ~ beta(6, 18)
observe smoker ~ bernoulli(p)
release p_hat = draw(p) using diffuse(r = 0.8)
",
        example_right: r"budget rdp(order = 8, eps = 0.5)
private staff[n] { smoker: bool }
param p ~ beta(6, 18)
observe smoker ~ bernoulli(p)
release p_hat = draw(p) using diffuse
",
    },
    CodePage {
        code: "E0402",
        title: "more than the whole budget",
        text: "Releases from the same data add up. The shares of all releases together may not exceed 100%. Without `spend` the \
               releases share the rest evenly.",
        example_wrong: r"budget zcdp(0.1)
private people[n >= 500] { age: int in 18..90, income: real in [0, 200] }
release mean_age = mean(age) using gaussian spend 60%
release mean_income = mean(income) using gaussian spend 60%
",
        example_right: r"budget zcdp(0.1)
private people[n >= 500] { age: int in 18..90, income: real in [0, 200] }
release mean_age = mean(age) using gaussian spend 40%
release mean_income = mean(income) using gaussian spend 60%
",
    },
    CodePage {
        code: "E0403",
        title: "a budget of a kind the rule cannot reach",
        text: "Guarantees convert one way only: a finite Renyi divergence below a limit order implies no zcdp, gdp or pure eps. \
               A draw of a rate or of shares has such a limit. Ask for rdp at an order below it, or for dp(eps, delta).",
        example_wrong: r"budget zcdp(0.1)
private staff[n] { smoker: bool }
param p ~ beta(20, 20)
observe smoker ~ bernoulli(p)
release p_hat = draw(p) using diffuse
",
        example_right: r"budget rdp(order = 8, eps = 0.5)
private staff[n] { smoker: bool }
param p ~ beta(20, 20)
observe smoker ~ bernoulli(p)
release p_hat = draw(p) using diffuse
",
    },
    CodePage {
        code: "E0405",
        title: "`auto` without a budget",
        text: "Without `using`, the mechanism of least predicted error that meets the budget is chosen, and free parameters are \
               solved from it. Without a budget there is nothing to choose by. Write a budget, or name the mechanism and its \
               parameters.",
        example_wrong: r"private staff[n] { smoker: bool }
param p ~ beta(20, 20)
observe smoker ~ bernoulli(p)
release p_hat = draw(p)
",
        example_right: r"budget rdp(order = 8, eps = 0.5)
private staff[n] { smoker: bool }
param p ~ beta(20, 20)
observe smoker ~ bernoulli(p)
release p_hat = draw(p)
",
    },
    CodePage {
        code: "E0501",
        title: "an expectation that does not hold",
        text: "`expect` states a fact about types, labels, sensitivities or certificates and is checked without data. Here it \
               is false; the message gives the value that was found. A number holds to the digits written.",
        example_wrong: r"private staff[n] { smoker: bool }
expect sensitivity(sum(smoker)) == 2
",
        example_right: r"private staff[n] { smoker: bool }
expect sensitivity(sum(smoker)) == 1
",
    },
    CodePage {
        code: "W0501",
        title: "a budget that promises little",
        text: "An eps above 20, or a delta above 1/n, allows that single rows are revealed. Such a guarantee is formally true \
               and protects nobody.",
        example_wrong: r"budget eps(100)
private staff[n >= 100] { age: int in 18..90 }
release m = mean(age) using laplace
",
        example_right: r"budget eps(1)
private staff[n >= 100] { age: int in 18..90 }
release m = mean(age) using laplace
",
    },
    CodePage {
        code: "W0507",
        title: "a public number of rows with `by`",
        text: "With `[n]` and `by`, how many rows every unit has is treated as public: neighbours change what a person's rows \
               say, not how many there are. If the number of visits is itself sensitive, write `[private n]`.",
        example_wrong: r"budget zcdp(0.1)
private visits[n] by patient max 4 { patient: text, cost: real in [0, 9] }
release total_cost = sum(cost) using gaussian
",
        example_right: r"budget zcdp(0.1)
private visits[private n] by patient max 4 { patient: text, cost: real in [0, 9] }
release total_cost = sum(cost) using gaussian
",
    },
    CodePage {
        code: "W0508",
        title: "a conditional certificate",
        text: "The guarantee is that of the ideal posterior and holds only if the chain has converged, as the program says with \
               `assuming convergence`. The certificate says CONDITIONAL, and `dpm run --strict` refuses it. A conjugate model, \
               `sampler = langevin` on a convex model, or `using penalty` needs no such assumption.",
        example_wrong: r"budget rdp(order = 10, eps = 0.5)
private adult[n] { x: vector[9] in l2(1), rich: bool }
param w: vector[9] ~ normal(0, 1)
observe rich ~ bernoulli_logit(dot(w, x))
release coef = draw(w) using diffuse(sampler = nuts) assuming convergence
",
        example_right: r"budget rdp(order = 10, eps = 0.5)
private adult[n] { x: vector[9] in l2(1), rich: bool }
param w: vector[9] ~ normal(0, 1)
observe rich ~ bernoulli_logit(dot(w, x))
release coef = draw(w) using diffuse
",
    },
    CodePage {
        code: "W0509",
        title: "a released column that a model does not use",
        text: "A model of a released table of counts sums over the columns that it does not name. Each cell that it then sees \
               is the sum of several released ones, with the noise of all of them. A table without these columns costs the \
               same budget and has less noise; release it if no other model needs them.",
        example_wrong: r"budget eps(1)
private t[n] { vote: bool, age: int in 18..22 }
release cells = histogram(vote, age)
param p ~ beta(1, 1)
observe cells.vote ~ bernoulli(p)
output post = posterior(p)
",
        example_right: r"budget eps(1)
private t[n] { vote: bool, age: int in 18..22 }
release cells = histogram(vote)
param p ~ beta(1, 1)
observe cells.vote ~ bernoulli(p)
output post = posterior(p)
",
    },
    CodePage {
        code: "W0510",
        title: "a release that is predicted to learn next to nothing",
        text: "Before anything is spent, a release is compared with what is known without the rows. A draw or a whole posterior is \
               reported if its predicted error is at least 82 % of that of a draw from the prior (for a normal prior: its sd is \
               within 10 % of the prior's); features are assumed to fill their bounds, which is the best case. A query is reported \
               if the 95 % bound on its noise is no smaller than the error of answering with the middle of the range: half the \
               width of the column for a mean and, where the exact number of rows n is declared, n times that for a sum and n for \
               a table of counts. A chain that pays for its answers (`penalty`, `dp_hmc`, `dp_sgld`) is run on rows simulated from \
               the model at 64 parameters drawn from the prior. It is reported if about 90 % of the prior's sd of some parameter \
               remains, or if its error is 90 % of that of a draw from the prior: the noise hides the rows, or the chain is too \
               short. A lower bound of 100 rows or more is taken as the number of rows; otherwise at most 100 rows are assumed, \
               and Help gives a number that would do. No data are read, and the result is the same on every run. It is an estimate \
               of the right order of magnitude, for data as the prior expects them. `dpm run` asks at a terminal whether to go on, \
               and ends with exit code 1 without one, before a ledger is charged or data are opened; with `--anyway` it goes on. A \
               whole posterior, a larger budget, fewer parameters or public data in the prior learn more.",
        example_wrong: r"budget rdp(order = 2, eps = 1e-9)
private staff[n] { smoker: bool }
param p ~ beta(20, 20)
observe smoker ~ bernoulli(p)
release p_hat = draw(p) using diffuse
",
        example_right: r"budget rdp(order = 2, eps = 0.5)
private staff[n] { smoker: bool }
param p ~ beta(20, 20)
observe smoker ~ bernoulli(p)
release p_hat = draw(p) using diffuse
",
    },
    CodePage {
        code: "W0511",
        title: "few bins of a number that a model depends on",
        text: "A model of released counts takes a number in bins as uniform within its bin. Where bins are wide the rows of a bin are not, and \
               slopes come out too flat. Sixteen bins or more keep that below the other errors; each of them has noise, so take \
               no more than there are rows for.",
        example_wrong: r"budget eps(1)
private t[n] { age: real in [0, 100], ill: bool }
release cells = histogram(bin(age, width = 20), ill)
param a ~ normal(0, 2)
param b ~ normal(0, 0.1)
observe cells.ill ~ bernoulli_logit(a + b * (age - 50))
output post = posterior(a, b)
",
        example_right: r"budget eps(1)
private t[n] { age: real in [0, 100], ill: bool }
release cells = histogram(bin(age, width = 5), ill)
param a ~ normal(0, 2)
param b ~ normal(0, 0.1)
observe cells.ill ~ bernoulli_logit(a + b * (age - 50))
output post = posterior(a, b)
",
    },
    CodePage {
        code: "W0512",
        title: "a posterior whose intervals are approximate",
        text: "`score_statistics` releases a normal approximation to the posterior of logistic weights. It replaces the loss of \
               every row by a quadratic and treats the released, noisy products of features as exact. The privacy guarantee is not \
               affected. The intervals cover the truth less often than they say, and the less often the more rows or the larger \
               the budget. `posterior(w)` without it has intervals that account for the noise. Of probit and cloglog rows under a prior that allows \
               predictors beyond 2 or 1.5, and of logistic ones under a prior that allows some beyond 10, the steps of `posterior(w)` end before the mode, more often \
               with a larger budget, and the same is said. A mixture of released counts may have several modes, of which a chain finds one: chains that disagree are reported after the run.",
        example_wrong: r"budget dp(eps = 1, delta = 1e-6)
private adult[32561] { x: vector[9] in l2(1), rich: bool }
param w: vector[9] ~ normal(0, 1)
observe rich ~ bernoulli_logit(dot(w, x))
release post = posterior(w) using score_statistics
",
        example_right: r"budget dp(eps = 1, delta = 1e-6)
private adult[32561] { x: vector[9] in l2(1), rich: bool }
param w: vector[9] ~ normal(0, 1)
observe rich ~ bernoulli_logit(dot(w, x))
release post = posterior(w)
",
    },
    CodePage {
        code: "W0513",
        title: "a predicted error that may be off by more than a factor of 2",
        text: "Predictions are made from public facts alone. Where they do not determine the error, the prediction takes a typical value, and \
               this warning says so before anything is spent: for weights of private features, whose bounds are known but not how far they \
               vary within them; for posteriors by `refined`, which clips rows around a first noisy estimate; for quantiles, where many rows \
               may share a value (reported where that is 1 % of the rows or more); for `concentrated`, whose narrowed prior pulls the draw \
               away from the truth; for chains that pay for their answers; and for bounded losses, whose rows tell an unknown amount. The \
               guarantee of privacy does not depend on it. How predictions compare with real errors is in `benches/results/predictions.txt`. Try such a program on a public table like yours before it spends.",
        example_wrong: r"budget eps(1)
private t[2000] { ph: real in [2, 5] }
release middle = quantile(ph, 0.5)
",
        example_right: r"budget eps(1)
private t[2000] { age: int in 18..99 }
release middle = quantile(age, 0.5)
",
    },
];
