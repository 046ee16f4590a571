//! Pages of E0201 to E0211: sizes, bounds, names and types.

use super::CodePage;

pub(super) const PAGES: &[CodePage] = &[
    CodePage {
        code: "E0201",
        title: "dimensions or numbers of levels differ",
        text: "Two sides of an operation, or a distribution and its outcome, must have the same size. For a category the number \
               of prior counts is the number of levels; rep(8, levels(party)) follows the type.",
        example_wrong: r"budget rdp(order = 4, eps = 1)
private votes[n] { party: category {red, blue, green, other} }
param share ~ dirichlet([8, 8, 8])
observe party ~ categorical(share)
release share_hat = draw(share)
",
        example_right: r"budget rdp(order = 4, eps = 1)
private votes[n] { party: category {red, blue, green, other} }
param share ~ dirichlet([8, 8, 8, 8])
observe party ~ categorical(share)
release share_hat = draw(share)
",
    },
    CodePage {
        code: "E0202",
        title: "no finite bound",
        text: "The cost of a release is how far one unit can move it. Without bounds on the column one person can move it \
               without limit. Declare public bounds, or clip with public constants; do not read the bound off the data, that \
               itself leaks (E0102).",
        example_wrong: r"budget dp(eps = 1, delta = 1e-6)
private people[n] { visits: int }
param rate ~ gamma(40, 10)
observe visits ~ poisson(rate)
release rate_hat = draw(rate) using diffuse
",
        example_right: r"budget dp(eps = 1, delta = 1e-6)
private people[n] { visits: int in 0..10 }
param rate ~ gamma(40, 10)
observe visits ~ poisson(rate)
release rate_hat = draw(rate) using diffuse
",
    },
    CodePage {
        code: "E0203",
        title: "a value outside the support",
        text: "The domain of a parameter must lie inside the support of its prior, and an outcome inside the support of its \
               likelihood; a domain outside would give the prior no mass.",
        example_wrong: r"budget rdp(order = 8, eps = 0.5)
private staff[n] { smoker: bool }
param p: real in [-1, 1] ~ beta(20, 20)
observe smoker ~ bernoulli(p)
release p_hat = draw(p) using diffuse
",
        example_right: r"budget rdp(order = 8, eps = 0.5)
private staff[n] { smoker: bool }
param p: real in [0, 1] ~ beta(20, 20)
observe smoker ~ bernoulli(p)
release p_hat = draw(p) using diffuse
",
    },
    CodePage {
        code: "E0204",
        title: "a row operation that may fail",
        text: "Every operation on private rows must be defined on the whole range of its arguments, because a failure on one \
               row would reveal that row. Narrow the domain, or clip first.",
        example_wrong: r"budget zcdp(0.1)
private staff[n >= 100] { income: real in [0, 200] }
let y = log(income)
release m = mean(y) using gaussian
",
        example_right: r"budget zcdp(0.1)
private staff[n >= 100] { income: real in [1, 200] }
let y = log(income)
release m = mean(y) using gaussian
",
    },
    CodePage {
        code: "E0206",
        title: "an unknown name",
        text: "The name is not declared before this place. Names are columns (alone, or as table.column), parameters, values, \
               functions, models and released values; a release inside `when` is not visible outside.",
        example_wrong: r"budget rdp(order = 8, eps = 0.5)
private staff[n] { smoker: bool }
param p ~ beta(20, 20)
observe smoker ~ bernoulli(p)
release p_hat = draw(q) using diffuse
",
        example_right: r"budget rdp(order = 8, eps = 0.5)
private staff[n] { smoker: bool }
param p ~ beta(20, 20)
observe smoker ~ bernoulli(p)
release p_hat = draw(p) using diffuse
",
    },
    CodePage {
        code: "E0207",
        title: "a name defined twice",
        text: "A name has one meaning in a program. Give the second definition another name.",
        example_wrong: r"budget rdp(order = 8, eps = 0.5)
private staff[n] { smoker: bool }
param p ~ beta(20, 20)
observe smoker ~ bernoulli(p)
release p = draw(p) using diffuse
",
        example_right: r"budget rdp(order = 8, eps = 0.5)
private staff[n] { smoker: bool }
param p ~ beta(20, 20)
observe smoker ~ bernoulli(p)
release p_hat = draw(p) using diffuse
",
    },
    CodePage {
        code: "E0208",
        title: "wrong number or name of arguments",
        text: "The call does not fit its signature: an argument is missing, too many, or has a name the function does not know.",
        example_wrong: r"budget rdp(order = 8, eps = 0.5)
private staff[n] { smoker: bool }
param p ~ beta(20)
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
        code: "E0209",
        title: "a type that does not fit",
        text: "The value has another type than its place needs, such as a category where a number is summed, or a text in \
               arithmetic.",
        example_wrong: r"budget zcdp(0.1)
private votes[n >= 100] { party: category {red, blue} }
release m = mean(party) using gaussian
",
        example_right: r"budget zcdp(0.1)
private votes[n >= 100] { party: category {red, blue} }
release table = histogram(party) using gaussian
",
    },
    CodePage {
        code: "E0210",
        title: "a module that is missing or uses itself",
        text: "`use std.x` opens a module of the standard library, `use a.b` the file a/b.dpm below the folder of the program, \
               never outside of it. Modules that use each other in a circle cannot be opened.",
        example_wrong: r"use std.rate
budget rdp(order = 8, eps = 0.5)
private staff[n] { smoker: bool }
param p ~ beta(20, 20)
observe smoker ~ bernoulli(p)
release p_hat = draw(p) using diffuse
",
        example_right: r"use std.rates
budget rdp(order = 8, eps = 0.5)
private staff[n] { smoker: bool }
param p ~ beta(20, 20)
observe smoker ~ bernoulli(p)
release p_hat = draw(p) using diffuse
",
    },
    CodePage {
        code: "E0211",
        title: "a model that changes after a draw, or with a branch",
        text: "A draw releases the posterior of the model as it stands. A `param` or `observe` that joins that model afterwards \
               would make the released draw one of another model: declare everything first, then release. A branch may draw from a model \
               declared outside it, but not add to it: which factors a posterior has is fixed when the program is checked.",
        example_wrong: r"budget rdp(order = 8, eps = 0.5)
private staff[n] { smoker: bool, drinker: bool }
param p ~ beta(20, 20)
observe smoker ~ bernoulli(p)
release p_hat = draw(p) using diffuse
observe drinker ~ bernoulli(p)
",
        example_right: r"budget rdp(order = 8, eps = 0.5)
private staff[n] { smoker: bool, drinker: bool }
param p ~ beta(20, 20)
observe smoker ~ bernoulli(p)
observe drinker ~ bernoulli(p)
release p_hat = draw(p) using diffuse
",
    },
    CodePage {
        code: "E0212",
        title: "a record that gives no table",
        text: "`public cells from \"result.json\"` reads a table of counts from the record that `dpm run -o result.json` wrote when it \
               released the table. The path starts in the folder of the program and does not lead out of it; `--public cells=PATH` names \
               a file anywhere. A record that was changed by hand, so that its parts no longer fit together, is refused.",
        example_wrong: r#"public cells from "result.json"
param p ~ beta(1, 1)
observe cells.vote ~ bernoulli(p)
output post = posterior(p)
"#,
        example_right: r"budget eps(1)
private poll[n] { vote: bool }
release cells = histogram(vote)
param p ~ beta(1, 1)
observe cells.vote ~ bernoulli(p)
output post = posterior(p)
",
    },
];
