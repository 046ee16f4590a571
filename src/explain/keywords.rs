//! Pages on the keywords of the language.

use super::{Entry, Kind, Page};

pub fn pages() -> Vec<Page> {
    super::from_entries(Kind::Keyword, ENTRIES)
}

const ENTRIES: &[Entry] = &[
    Entry {
        name: "use",
        summary: "use std.rates: opens a module.",
        body: r#"
`use std.rates` opens a module of the library; `use a.b` opens the file `a/b.dpm` below the folder of the program. A module holds
functions and models. `dpm expand` prints the program with all of them written out.

```dpm
use std.rates
budget rdp(order = 5, eps = 0.5)
private trial[n] { cured: bool }
let p = rate(trial.cured, 12, 12)
release p_hat = draw(p)
```
"#,
    },
    Entry {
        name: "budget",
        summary: "budget rdp(order = 8, eps = 0.5): the most that all releases together may cost.",
        body: r#"
At most one line. Kinds:

    budget eps(1)                       pure epsilon
    budget dp(eps = 1, delta = 1e-6)    approximate
    budget rdp(order = 8, eps = 0.5)    Rényi divergence at one order;
    budget rdp(order = [2, 8], eps = [0.1, 0.5])    or at several
    budget zcdp(0.1)                    zero-concentrated
    budget gdp(1)                       Gaussian

A budget is a ceiling: what is not used is reported, not burnt. Without the line `dpm certify` reports what the mechanisms
named cost.

```dpm
budget zcdp(0.1)
private people[n >= 500] { age: int in 18..90 }
release mean_age = mean(age) using gaussian
```
"#,
    },
    Entry {
        name: "private",
        summary: "private staff[n] { smoker: bool }: a table whose rows are protected.",
        body: r#"
The header says what neighbouring data sets are, hence what is protected:

    staff[n]                       one row is replaced; n is public
    staff[n >= 100], staff[1200]   the same, and the checker knows a lower bound on n, or n itself
    staff[private n]               one row is added or removed; n is secret
    visits[n] by patient max 4     all rows of one patient

Every column has a type, and its domain is enforced: a cell outside is moved to the nearest value inside, an unreadable one
to a fixed default, silently, because a refusal would tell something about the row. In a table with public n a column may
itself be public: `region: public category {north, south}`. Neighbours keep it, nothing protects it, and `output sizes =
histogram(region)` is exact and free. Inside a private header, `private n` makes n secret.

```dpm
budget eps(1)
private ballots[private n] { choice: category {yes, no, blank} }
release votes = histogram(choice) using geometric
```
"#,
    },
    Entry {
        name: "public",
        summary: "public pilot[m] { smoker: bool }, public k: real = 2: data that anyone may know.",
        body: r#"
A public table is read with the same types as a private one, but a bad cell is an error with its line. Observing a public
table strengthens the prior and costs nothing. A public scalar has its value in the program, or is given on the command line:
`--public k=3.5`. A column of a private table with public n may be public too.

`public cells from "result.json"` is a table of counts that an earlier run released with `dpm run -o result.json`: this program models it without
private data and at no cost. `public before from "result.json".cells` gives it another name, `--public cells=PATH` names another file.

```dpm
budget rdp(order = 5, eps = 0.5)
public a: real in [5, 40] = 12
private trial[n] { cured: bool }
param p ~ beta(a, 12)
observe cured ~ bernoulli(p)
release p_hat = draw(p)
```
"#,
    },
    Entry {
        name: "param",
        summary: "param p ~ beta(6, 18): an unknown and its prior.",
        body: r#"
A declared domain truncates the prior, as in Stan: `param sigma: real in [0.5, inf] ~ half_normal(2)`. A prior may use public
values and other parameters, never data.

```dpm
budget rdp(order = 5, eps = 0.5)
private trial[n] { cured: bool }
param p ~ beta(12, 12)
observe cured ~ bernoulli(p)
release p_hat = draw(p)
```

```dpm E0106
budget rdp(order = 5, eps = 0.5)
private trial[n] { cured: bool }
param p ~ beta(1 + count(cured), 12)
observe cured ~ bernoulli(p)
release p_hat = draw(p)
```
"#,
    },
    Entry {
        name: "let",
        summary: "let y = clip(income, 0, 200): a name for an expression.",
        body: r#"
A name for a value of a row, of the whole table, of parameters or of released values; it costs nothing. With the result of a
model, `let p = rate(trial.cured, 12, 12)`, the model's parameters and observations become part of the program.

```dpm
budget zcdp(0.05)
private staff[n >= 1000] { income: real }
let y = clip(income, 0, 200)
param mu ~ normal(60, 50)
observe y ~ normal(mu, 30)
release mu_hat = draw(mu)
```
"#,
    },
    Entry {
        name: "observe",
        summary: "observe smoker ~ bernoulli(p): how every row arises.",
        body: r#"
Works row by row: the right side may use columns of the same row, parameters and public values, nothing that looks at the
whole table. So the log-likelihood is a sum over rows, which is what every rule needs. Rows of a public table strengthen the
prior, for free.

```dpm
budget rdp(order = 20, eps = 0.25)
public pilot[m] { smoker: bool }
private survey[n] { smoker: bool }
param p ~ beta(41, 161)
observe pilot.smoker ~ bernoulli(p)
observe survey.smoker ~ bernoulli(p)
release p_hat = draw(p)
```
"#,
    },
    Entry {
        name: "release",
        summary: "release x = query using mechanism: the one way out, and it costs budget.",
        body: r#"
The query is `draw(p)` or `draws(p, k)` of parameters, or an aggregate: `sum`, `mean`, `count`, `histogram`, `quantile`. The
result is public from then on. `using` names the mechanism (left out: `auto`), `spend` the share of the budget. `draws(p, k)`
costs k times one draw; drawing a part of the parameters costs as much as drawing all of them.

```dpm
budget zcdp(0.1)
private people[n >= 500] { age: int in 18..90, income: real in [0, 200] }
release mean_age = mean(age) using gaussian spend 20%
release mean_income = mean(income) using gaussian spend 80%
```
"#,
    },
    Entry {
        name: "output",
        summary: "output y = 100 * p_hat: a result computed from released values, free.",
        body: r#"
Everything in it must be public: released values, public inputs, fresh randomness by `simulate`.

```dpm
budget rdp(order = 5, eps = 0.5)
private trial[n] { cured: bool }
param p ~ beta(12, 12)
observe cured ~ bernoulli(p)
release p_hat = draw(p)
output next_100 = simulate(binomial(100, p_hat), times = 1000)
output chance_over_60 = mean(next_100 > 60)
```

```dpm E0101
private trial[n] { cured: bool }
output rate = mean(cured)
```
"#,
    },
    Entry {
        name: "expect",
        summary: "expect certificate(p_hat) <= rdp(order = 8, eps = 0.5): a test of the program, without data.",
        body: r#"
Checked with the program, on types, labels and certificates; never on data. A failure is E0501 and exit code 5.

    expect certificate(p_hat) <= rdp(order = 8, eps = 0.5)
    expect certificate(p_hat).max_order == 9.978
    expect rule(p_hat) == "beta_bernoulli"        expect status(p_hat) == "exact"
    expect sensitivity(sum(y), norm = 1) == 200   expect label(y) == "row"

`==` on numbers holds to the digits written; limits are rounded down.

```dpm
private staff[n >= 1000] { income: real }
let y = clip(income, 0, 200)
expect sensitivity(sum(y)) == 200
```

```dpm E0501
private staff[n >= 1000] { income: real }
let y = clip(income, 0, 200)
expect sensitivity(sum(y)) == 100
```
"#,
    },
    Entry {
        name: "fn",
        summary: "fn rescale(x, lo, hi) = (x - lo) / (hi - lo): a function, written out where it is used.",
        body: r#"
No recursion. Types, ranges and labels are those of the place where it is called, so one function serves public values, rows
and parameters alike.

```dpm
fn rescale(x, lo, hi) = (x - lo) / (hi - lo)
budget eps(1)
private t[n >= 200] { age: int in 17..90 }
release mean_age = mean(rescale(age, 17, 90)) using laplace
```
"#,
    },
    Entry {
        name: "model",
        summary: "model rate(y: bool, a: real, b: real) { .. return p }: reusable priors and likelihoods.",
        body: r#"
Holds `param`, `let` and `observe` statements and returns an expression of its parameters. Written out with fresh names at every
use. The arguments may be columns.

```dpm
model rate(y: bool, a: real, b: real) {
  param p ~ beta(a, b)
  observe y ~ bernoulli(p)
  return p
}
budget rdp(order = 5, eps = 0.5)
private trial[n] { cured: bool }
let p = rate(trial.cured, 12, 12)
release p_hat = draw(p)
```
"#,
    },
    Entry {
        name: "each",
        summary: "each region of survey { .. }: one model a group, at the cost of one.",
        body: r#"
The body is run for every level of a category column; names inside become vectors over the levels. Groups share no rows, so
the cost is that of the dearest group (parallel composition), not their sum. If the key is private, the group sizes are
secret and a replaced row may move between two groups; the cost says so. A parameter from outside may not be used inside
(E0308).

```dpm
budget rdp(order = 6, eps = 0.5)
private survey[n] { region: public category {north, south}, smoker: bool }
each region of survey {
  param p ~ beta(10, 10)
  observe smoker ~ bernoulli(p)
  release rate = draw(p)
}
output shrunk = 0.7 * rate + 0.3 * mean(rate)
```
"#,
    },
    Entry {
        name: "when",
        summary: "when p_hat > 0.3 { .. } else { .. }: a branch on released values.",
        body: r#"
The condition must be public. Costs the dearer of the two blocks, whichever runs. A release inside is not visible outside.

```dpm
budget zcdp(0.1)
private people[n >= 500] { age: int in 18..90, income: real in [0, 200] }
release mean_age = mean(age) using gaussian spend 40%
when mean_age > 45 {
  release mean_income = mean(income) using gaussian spend zcdp(0.03)
} else {
  output note = "too young"
}
```

```dpm E0103
budget zcdp(0.1)
private people[n >= 500] { age: int in 18..90 }
when mean(age) > 45 {
  release mean_age = mean(age) using gaussian
}
```
"#,
    },
    Entry {
        name: "by",
        summary: "by patient max 4: the protected unit is a person with at most 4 rows.",
        body: r#"
Stands after the rows of a private header, always with `max`: without a cap one person may own every row. The first k rows of
each unit are kept, in file order, before anything else is done; every guarantee is then for all rows of one unit. With `order day`
those k rows are kept whose day is least, ties decided by all columns, whatever the order of the file is.

```dpm
budget rdp(order = 3, eps = 0.5)
private visits[private n] by patient max 4 { patient: text, infected: bool }
param p ~ beta(20, 20)
observe infected ~ bernoulli(p)
release p_hat = draw(p) using diffuse
```

```dpm E0002
private visits[n] by patient { patient: text, infected: bool }
```
"#,
    },
    Entry {
        name: "using",
        summary: "using diffuse: the mechanism of a release.",
        body: r#"
A name, with arguments in brackets where one is to be fixed: `using laplace(scale = 2)`. Everything left out is solved from the
budget. Left out altogether it is `auto`. `using ?` is a hole: `dpm check` prints every mechanism, whether it applies, and why.

```dpm
budget rdp(order = 8, eps = 0.5)
private staff[n >= 100] { smoker: bool }
param p ~ beta(6, 18)
observe smoker ~ bernoulli(p)
release p_hat = draw(p) using ?
```
"#,
    },
    Entry {
        name: "spend",
        summary: "spend 20%, spend zcdp(0.01): a release's share of the budget.",
        body: r#"
A share in the budget's own unit (eps; rho; mu squared; eps at the order; for dp both numbers), or an amount of the same kind.
Releases without `spend` share the rest evenly. More than 100% in total is E0402.

```dpm
budget zcdp(0.1)
private people[n >= 500] { age: int in 18..90, income: real in [0, 200] }
release mean_age = mean(age) using gaussian spend 20%
release mean_income = mean(income) using gaussian
```
"#,
    },
    Entry {
        name: "in",
        summary: "real in [0, 200], int in 0..10, vector[3] in l2(1): the domain of a type.",
        body: r#"
On a private column the domain is enforced by moving every cell into it; on a public value it is checked; on a parameter it
truncates the prior. Bounds are what sensitivities are computed from: a sum over an unbounded column has none (E0202).

```dpm
budget eps(1)
private t[n >= 200] { hours: real in [0, 80] }
release mean_hours = mean(hours) using laplace
```

```dpm E0202
budget eps(1)
private t[n >= 200] { hours: real }
release mean_hours = mean(hours) using laplace
```
"#,
    },
    Entry {
        name: "ordered",
        summary: "param cuts: ordered[2] ~ normal(0, 2): a vector whose components rise.",
        body: r#"
Stands behind `param` wherever `vector[d]` may. The law is that of the prior on the part where components rise, which is what an
`ordered[d]` of Stan has. Cut points of `ordered_logistic` are such numbers, and the components of a mixture are told apart by them.

```dpm
budget dp(eps = 1, delta = 1e-6)
private survey[n] { region: public category {north, south}, trust: category {low, middle, high} }
release cells = histogram(region, trust)
param cuts: ordered[2] ~ normal(0, 2)
param u: vector[region] ~ normal(0, 1)
observe cells.trust ~ ordered_logistic(u[region], cuts)
output post = posterior(cuts, u)
```
"#,
    },
    Entry {
        name: "bin",
        summary: "histogram(bin(age, width = 5), vote): a number counted in bins.",
        body: r#"
An argument of `histogram`, of a number with public bounds. `bin(x, width = w)` makes bins of this width from the lower bound on; `bin(x, [18,
65])` makes three, and 18 is in the second. The axis has the name of the column, a bin is called `40..45`, and any number in it names it:
`cells[42]`. In a model of the counts, an outcome in bins has the probability of its bin, the first and the last with all that is beyond;
on the right the number is integrated over its bin, as if uniform there (W0511 warns of few bins).

```dpm
budget dp(eps = 1, delta = 1e-6)
private staff[n] { income: real in [0, 120] }
release cells = histogram(bin(income, width = 5)) using gaussian
param mu ~ normal(50, 30)
param sd ~ half_normal(30)
observe cells.income ~ normal(mu, sd)
output post = posterior(mu, sd)
output some = cells[42]
```
"#,
    },
    Entry {
        name: "from",
        summary: "hours from \"hours-per-week\": int in 1..99: a column whose header in the file is another name.",
        body: r#"
The text is the header as it is in the file; for a vector the headers of all components, with commas between. Behind `public cells` it is the
record of a run that released `cells`.

```dpm
budget eps(1)
private adult[n >= 1000] { hours from "hours-per-week": int in 1..99 }
release mean_hours = mean(hours) using laplace
```
"#,
    },
    Entry {
        name: "assuming",
        summary: "assuming convergence: accepts a guarantee that holds only if a chain has converged.",
        body: r#"
Stands after a mechanism whose draw is made by a Markov chain without a guarantee of its own: `beta_div`, and a regression
with `sampler = nuts` or `slice`. Alone, the words mean NUTS. The certificate then says CONDITIONAL, as it holds only if the chain has
converged, which cannot be proved, and `dpm run --strict` refuses it. Exact draws and Langevin chains do not need the words.

```dpm W0508 W0513
budget eps(6)
private loans[n] { x: vector[20], default: bool }
param w: vector[20] ~ normal(0, 3)
observe default ~ bernoulli_logit(dot(w, x))
release w_hat = draw(w) using beta_div assuming convergence
```
"#,
    },
];
