//! Pages of E0001 to E0013: statements that cannot be read.

use super::CodePage;

pub(super) const PAGES: &[CodePage] = &[
    CodePage {
        code: "E0001",
        title: "no statement starts like this",
        text: "Every statement opens with a keyword: use, budget, private, public, param, let, observe, release, output, \
               expect, fn, model, each or when. A line that starts with another word belongs to no statement. Often a keyword \
               is misspelt, or the line was meant as `let x = ..`, `param x ~ ..` or `observe x ~ ..`: `~` and `=` never stand \
               alone. Declarations (use, budget, tables, fn, model) stand only at the outermost level of a file.",
        example_wrong: r"budget rdp(order = 8, eps = 0.5)
private staff[n] { smoker: bool }
param p ~ beta(20, 20)
observe smoker ~ bernoulli(p)
relase p_hat = draw(p) using diffuse
",
        example_right: r"budget rdp(order = 8, eps = 0.5)
private staff[n] { smoker: bool }
param p ~ beta(20, 20)
observe smoker ~ bernoulli(p)
release p_hat = draw(p) using diffuse
",
    },
    CodePage {
        code: "E0002",
        title: "`by` and `max` belong together",
        text: "`by patient max 4` makes the patient, not the row, the unit that is protected. The cap is needed because a \
               person without one might own every row, and no finite cost would protect that person. Only the first `max` rows \
               of each unit are used, so choose it as small as the analysis allows: the cost grows with it.",
        example_wrong: r"budget rdp(order = 3, eps = 0.5)
private visits[n] by patient { patient: text, infected: bool }
param p ~ beta(20, 20)
observe infected ~ bernoulli(p)
release p_hat = draw(p) using diffuse
",
        example_right: r"budget rdp(order = 3, eps = 0.5)
private visits[n] by patient max 4 { patient: text, infected: bool }
param p ~ beta(20, 20)
observe infected ~ bernoulli(p)
release p_hat = draw(p) using diffuse
",
    },
    CodePage {
        code: "E0003",
        title: "`use` takes the name of a module",
        text: "A module is written as names separated by dots: `use std.rates` opens a module of the standard library, `use \
               shared.priors` the file shared/priors.dpm below the folder of the program. There are no quotes, slashes or \
               renamings.",
        example_wrong: r#"use "std.rates"
budget rdp(order = 8, eps = 0.5)
private staff[n] { smoker: bool }
param p ~ beta(20, 20)
observe smoker ~ bernoulli(p)
release p_hat = draw(p) using diffuse
"#,
        example_right: r"use std.rates
budget rdp(order = 8, eps = 0.5)
private staff[n] { smoker: bool }
param p ~ beta(20, 20)
observe smoker ~ bernoulli(p)
release p_hat = draw(p) using diffuse
",
    },
    CodePage {
        code: "E0004",
        title: "a budget is a kind of guarantee and its value",
        text: "The budget names the guarantee that the whole program must meet: eps(1), zcdp(0.1), gdp(1), dp(eps = 1, delta = \
               1e-6) or rdp(order = 8, eps = 0.5). The kind matters: the same number means different things in different kinds.",
        example_wrong: r"budget 0.5
private staff[1200] { smoker: bool }
param p ~ beta(20, 20)
observe smoker ~ bernoulli(p)
release post = posterior(p)
",
        example_right: r"budget eps(0.5)
private staff[1200] { smoker: bool }
param p ~ beta(20, 20)
observe smoker ~ bernoulli(p)
release post = posterior(p)
",
    },
    CodePage {
        code: "E0005",
        title: "the rows of a table",
        text: "The header of a table says what is known about its number of rows, and with that what neighbouring data sets \
               are: `[n]` and `[1200]` are public numbers, and neighbours differ in one row replaced; `[n >= 100]` promises a \
               lower bound; `[private n]` keeps the number secret, and neighbours differ by one row added or removed. A private \
               value is always a table.",
        example_wrong: r"budget rdp(order = 8, eps = 0.5)
private staff { smoker: bool }
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
        code: "E0006",
        title: "a column is a name, a colon and a type",
        text: "The columns of a table are written in braces, separated by commas or line breaks. A header of the file that is not a \
               name (hours-per-week, or a keyword) is read with `from`: hours from \"hours-per-week\": int in 1..99.",
        example_wrong: r"budget rdp(order = 8, eps = 0.5)
private staff[n] { smoker }
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
        code: "E0007",
        title: "types and bounds",
        text: "A type may be followed by `in` and a domain: an interval [0, 1] for real numbers and boxes, a range 0..10 for \
               whole numbers, a ball l2(1) for vectors. Bounds are types because sensitivities follow from them: a private cell \
               outside is moved to the nearest point inside, silently, since an error would reveal the cell.",
        example_wrong: r"budget rdp(order = 8, eps = 0.5)
private people[n] { visits: int 0..10 }
param rate ~ gamma(80, 20)
observe visits ~ poisson(rate)
release rate_hat = draw(rate) using diffuse
",
        example_right: r"budget rdp(order = 8, eps = 0.5)
private people[n] { visits: int in 0..10 }
param rate ~ gamma(80, 20)
observe visits ~ poisson(rate)
release rate_hat = draw(rate) using diffuse
",
    },
    CodePage {
        code: "E0008",
        title: "a level that needs quotes",
        text: "The levels of a category are public and written out in the program. A level that is not a name, or is a keyword, is written in double quotes, exactly as it is in the data. The last level also receives every \
               value that is not listed.",
        example_wrong: r"budget zcdp(0.1)
private adult[n] { income: category {<=50K, >50K} }
release table = histogram(income) using gaussian
",
        example_right: r#"budget zcdp(0.1)
private adult[n] { income: category {"<=50K", ">50K"} }
release table = histogram(income) using gaussian
"#,
    },
    CodePage {
        code: "E0009",
        title: "a parameter has a prior",
        text: "`param p ~ beta(6, 18)` declares an unknown and its prior, which is one distribution with its arguments. A \
               domain is written after the name, `param p: real in [0, 1] ~ normal(0.5, 0.2)`, and truncates the prior. A known \
               value is not a parameter: write `let`.",
        example_wrong: r"budget rdp(order = 8, eps = 0.5)
private staff[n] { smoker: bool }
param p = beta(20, 20)
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
        code: "E0010",
        title: "an observation is one column and one distribution",
        text: "`observe smoker ~ bernoulli(p)` adds the log-likelihood of every row. There is no row index and no loop: that \
               the likelihood is a sum over rows is what every privacy rule builds on. What is computed from columns gets a \
               name with `let` first.",
        example_wrong: r"budget rdp(order = 8, eps = 0.5)
private staff[n] { smoker: bool }
param p ~ beta(20, 20)
observe smoker = bernoulli(p)
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
        code: "E0011",
        title: "`let` and `output` give a value with `=`",
        text: "`let y = ..` names an expression, `output y = ..` prints one that is public. `~` is only for parameters and \
               observations; a function is written with `fn`.",
        example_wrong: r"budget rdp(order = 8, eps = 0.5)
private staff[n] { smoker: bool }
param p ~ beta(20, 20)
observe smoker ~ bernoulli(p)
release p_hat = draw(p) using diffuse
output percent ~ 100 * p_hat
",
        example_right: r"budget rdp(order = 8, eps = 0.5)
private staff[n] { smoker: bool }
param p ~ beta(20, 20)
observe smoker ~ bernoulli(p)
release p_hat = draw(p) using diffuse
output percent = 100 * p_hat
",
    },
    CodePage {
        code: "E0012",
        title: "a release is one query",
        text: "`release x = query` computes one query privately: draw(p), posterior(p), mean(y), sum(y), count(), histogram(c), \
               quantile(y, 0.5). Its cost depends on the query alone, so arithmetic does not belong there; what is computed \
               from a released value is free and belongs in an `output`.",
        example_wrong: r"budget zcdp(0.1)
private staff[n >= 100] { smoker: bool }
release percent = 100 * mean(smoker) using gaussian
",
        example_right: r"budget zcdp(0.1)
private staff[n >= 100] { smoker: bool }
release share = mean(smoker) using gaussian
output percent = 100 * share
",
    },
    CodePage {
        code: "E0013",
        title: "`using` and `spend`",
        text: "A release may end with `using` and a mechanism, then with `spend` and what it may cost: a share of the budget \
               (20%) or a cost (zcdp(0.01)). `using ?` asks which mechanisms apply. The words `assuming convergence` follow the \
               mechanism.",
        example_wrong: r"budget rdp(order = 8, eps = 0.5)
private staff[n] { smoker: bool }
param p ~ beta(20, 20)
observe smoker ~ bernoulli(p)
release p_hat = draw(p) spend 50
",
        example_right: r"budget rdp(order = 8, eps = 0.5)
private staff[n] { smoker: bool }
param p ~ beta(20, 20)
observe smoker ~ bernoulli(p)
release p_hat = draw(p) spend 50%
",
    },
];
