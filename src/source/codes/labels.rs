//! Pages of E0101 to E0107b: what is private, and where it may not go.

use super::CodePage;

pub(super) const PAGES: &[CodePage] = &[
    CodePage {
        code: "E0101",
        title: "a private value in an output",
        text: "An `output` is free because it may only work on released and public values. An exact mean of private rows is \
               neither: release it first, at a cost, and use what was released. A check of the model against the data looks at \
               the data again and costs as well.",
        example_wrong: r"budget rdp(order = 8, eps = 0.5)
private staff[n] { smoker: bool }
param p ~ beta(20, 20)
observe smoker ~ bernoulli(p)
release p_hat = draw(p) using diffuse
output gap = p_hat - mean(smoker)
",
        example_right: r"budget rdp(order = 8, eps = 0.5)
private staff[1200] { smoker: bool }
param p ~ beta(40, 40)
observe smoker ~ bernoulli(p)
release p_hat = draw(p) using diffuse spend 50%
release seen = mean(smoker) using gaussian spend 50%
output gap = p_hat - seen
",
    },
    CodePage {
        code: "E0102",
        title: "a row value that looks at the whole table",
        text: "A value of one row must be a function of that row and of public values. If a clipping bound is the maximum of \
               the column, changing one row can change every other row, and no sensitivity can be derived. Use a public \
               constant, or release the bound first.",
        example_wrong: r"budget zcdp(0.05)
private staff[n >= 1000] { income: real }
let y = clip(income, 0, max(income))
param mu ~ normal(60, 50)
observe y ~ normal(mu, 30)
release mu_hat = draw(mu)
",
        example_right: r"budget zcdp(0.05)
private staff[n >= 1000] { income: real }
let y = clip(income, 0, 200)
param mu ~ normal(60, 50)
observe y ~ normal(mu, 30)
release mu_hat = draw(mu)
",
    },
    CodePage {
        code: "E0103",
        title: "a branch on private data",
        text: "Which branch of `when` runs decides what is released, so the choice itself would reveal the comparison exactly. \
               Branch on a released value. A conditional value inside one row, `if age >= 65 then 1 else 0`, is fine.",
        example_wrong: r"budget zcdp(0.1)
private cohort[n >= 500] { at_risk: bool, sick: bool }
when mean(at_risk) > 0.1 {
  release share = mean(sick) using gaussian
}
",
        example_right: r"budget zcdp(0.1)
private cohort[n >= 500] { at_risk: bool, sick: bool }
release m = mean(at_risk) using gaussian spend 50%
when m > 0.1 {
  release share = mean(sick) using gaussian spend 50%
}
",
    },
    CodePage {
        code: "E0104",
        title: "the number of rows is secret",
        text: "With `[private n]` neighbours differ by one row added or removed, so n itself is private: it cannot be used in \
               an expression, and a mean, which divides by it, is not a query. Release the sum and the count and divide \
               afterwards, or declare n public.",
        example_wrong: r"budget zcdp(0.1)
private staff[private n] { age: int in 18..90 }
release m = mean(age) using gaussian
",
        example_right: r"budget zcdp(0.1)
private staff[private n] { age: int in 18..90 }
release total_age = sum(age) using gaussian
release people = count() using gaussian
output m = total_age / max(people, 1)
",
    },
    CodePage {
        code: "E0105",
        title: "two tables in one row",
        text: "A row expression belongs to one table; rows of two tables are not joined in this version. Fit separate models \
               and combine what they release.",
        example_wrong: r"budget zcdp(0.1)
private a[n >= 100] { x: real in [0, 1] }
private b[m >= 100] { y: real in [0, 1] }
let d = a.x - b.y
release gap = mean(d) using gaussian
",
        example_right: r"budget zcdp(0.1)
private a[n >= 100] { x: real in [0, 1] }
private b[m >= 100] { y: real in [0, 1] }
release x_mean = mean(a.x) using gaussian
release y_mean = mean(b.y) using gaussian
output gap = x_mean - y_mean
",
    },
    CodePage {
        code: "E0106",
        title: "data used in a prior",
        text: "A prior may not look at the private rows that the likelihood uses: the rules bound how one row moves the \
               likelihood, and a prior that moves with it escapes them. Use public numbers, a released value, or a public pilot \
               table, which strengthens the prior for free.",
        example_wrong: r"budget zcdp(0.1)
private staff[n >= 1000] { income: real in [0, 200] }
param mu ~ normal(mean(income), 50)
observe income ~ normal(mu, 30)
release mu_hat = draw(mu)
",
        example_right: r"budget zcdp(0.1)
private staff[n >= 1000] { income: real in [0, 200] }
param mu ~ normal(60, 50)
observe income ~ normal(mu, 30)
release mu_hat = draw(mu)
",
    },
    CodePage {
        code: "E0107",
        title: "a parameter in an output",
        text: "A parameter has no value, it has a posterior. Release a draw of it, or the posterior itself, and use what was \
               released.",
        example_wrong: r"budget rdp(order = 8, eps = 0.5)
private staff[n] { smoker: bool }
param p ~ beta(20, 20)
observe smoker ~ bernoulli(p)
output percent = 100 * p
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
        code: "E0107b",
        title: "private tables that protect different things",
        text: "All private tables of a program must have the same neighbours (one row replaced, or one row added or removed) \
               and the same kind of unit: a total over different relations would mean nothing. Give the tables the same form of \
               header.",
        example_wrong: r"budget zcdp(0.1)
private a[n >= 100] { x: real in [0, 1] }
private b[private m] { y: real in [0, 1] }
release x_mean = mean(a.x) using gaussian
release y_sum = sum(b.y) using gaussian
",
        example_right: r"budget zcdp(0.1)
private a[n >= 100] { x: real in [0, 1] }
private b[m >= 100] { y: real in [0, 1] }
release x_mean = mean(a.x) using gaussian
release y_sum = sum(b.y) using gaussian
",
    },
];
