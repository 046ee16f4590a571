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
        text: "Before anything is spent, a release is compared with what one would know without the rows. Of a draw from a \
               posterior the predicted error is at least 82 % of that of a draw from the prior; with a normal prior that is so \
               where its sd is within 10 % of the prior's; features are taken to fill their bounds, which is the best that they can do. Of a posterior released whole the same is said \
               of draws from it. The 95 % bound on the noise of a query is at least as far as the middle of its range is from any answer: half the width of a column for \
               its mean, and, where the exact number of rows is declared, that times it for a sum, and it for a table of counts. A chain that pays for its answers \
               (`penalty`, `dp_hmc`, `dp_sgld`) is run on rows that the model itself makes up, at 64 parameters drawn from the prior; of some parameter about \
               90 % of the prior's sd is left once the release is known, or the release errs by 90 % of what a draw from the \
               prior does, because the noise hides the rows, or because the chain is too short to leave its start. A lower bound of 100 rows or more is taken for their number; of a header that says less no more than 100 rows are assumed, and Help gives a number that would do. Nothing of this reads data, and it is the same on every run. It is an estimate: \
               right in order of size, for data as the prior expects them. `dpm run` asks at a terminal whether to go on, and \
               ends with exit code 1 without one, before a ledger is charged or data are opened; with `--anyway` it goes on. A \
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
        text: "`score_statistics` releases a normal law of logistic weights that takes the loss of every row for a quadratic and the \
               products of features for what left. Its privacy is exact; its intervals are not: fewer of them may hold the truth \
               than they say, the fewer the more rows and budget. `posterior(w)` without it has intervals that account for the noise.",
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
        title: "a predicted error that may be off by more than 2 times",
        text: "Predictions are made from public facts alone. Where those leave open what decides the error, the prediction takes the middle \
               of what is usual, and a program is told so before anything is spent: of weights of private features, whose bounds are \
               known and not how far they vary within them; of posteriors by `refined`, which clips rows around a first noisy estimate; of quantiles, where many rows may share a value (said where that is 1 % of the rows or more); of \
               `concentrated`, whose narrowed prior pulls the draw away from the truth; of chains that pay for their answers, and of bounded losses whose rows tell an unknown \
               amount. The guarantee of privacy does not depend on it. How predictions did on real rows is \
               in `benches/results/predictions.txt`. Try such a program on a public table like yours before it spends.",
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
