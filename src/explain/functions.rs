//! Pages on the built-in functions: the checker's signatures with a line of use and an example each.

use super::{Kind, Page, fenced};

pub fn pages() -> Vec<Page> {
    let queries = QUERIES.iter().map(|(name, signature)| page(name, signature));
    queries.chain(crate::check::SIGNATURES.iter().map(|(name, signature)| page(name, signature))).collect()
}

/// What only `release` may ask of a posterior.
const QUERIES: &[(&str, &str)] = &[
    ("draw", "draw(p), draw(w, b): one draw of parameters"),
    ("draws", "draws(p, k): k draws"),
    ("posterior", "posterior(p): the whole posterior"),
];

fn page(name: &str, signature: &str) -> Page {
    let note = NOTES.iter().find(|n| n.name == name);
    let text = note.map_or("", |n| n.text);
    let example = note.filter(|n| !n.example.is_empty()).map_or(String::new(), |n| fenced(n.example));
    let body = [text, &example].into_iter().filter(|s| !s.is_empty()).collect::<Vec<_>>().join("\n\n");
    Page { kind: Kind::Function, name: name.into(), summary: format!("{signature}."), body }
}

struct Note {
    name: &'static str,
    text: &'static str,
    example: &'static str,
}

const fn note(name: &'static str, text: &'static str, example: &'static str) -> Note {
    Note { name, text, example }
}

const ROW: &str =
    "Works on numbers and, component by component, on vectors. On a row it must be defined on the whole range of its argument (E0204).";

const POSTERIOR_DENSITY: &str = "budget eps(1)\nprivate t[n] { x: bool }\nparam p ~ beta(1, 1)\nobserve x ~ bernoulli(p)\nrelease post = posterior(p)\noutput d = density(post, 0.5)";
const POSTERIOR_CDF: &str = "budget eps(1)\nprivate t[n] { x: bool }\nparam p ~ beta(1, 1)\nobserve x ~ bernoulli(p)\nrelease post = posterior(p)\noutput most = 1 - cdf(post, 0.5)";
const POSTERIOR_INTERVAL: &str = "budget eps(1)\nprivate t[n] { x: bool }\nparam p ~ beta(1, 1)\nobserve x ~ bernoulli(p)\nrelease post = posterior(p)\noutput middle = interval(post, 0.9)";
const POSTERIOR_LARGER: &str = "budget eps(1)\nprivate t[n] { vote: category {yes, no, blank} }\nparam s ~ dirichlet([1, 1, 1])\nobserve vote ~ categorical(s)\nrelease post = posterior(s)\noutput ahead = larger(post[yes], post[no])";
const POSTERIOR_SAMPLE: &str = "budget eps(1)\nprivate t[n] { x: bool }\nparam p ~ beta(1, 1)\nobserve x ~ bernoulli(p)\nrelease post = posterior(p)\noutput square = mean(sample(post, 1000)^2)";

const NOTES: &[Note] = &[
    note(
        "draw",
        "Stands after `release`. Several parameters give a record: `coef.w[1]`.",
        "budget rdp(order = 5, eps = 0.5)\nprivate trial[n] { cured: bool }\nparam p ~ beta(12, 12)\nobserve cured ~ bernoulli(p)\nrelease p_hat = draw(p)",
    ),
    note(
        "draws",
        "Stands after `release`. Costs k times one draw; to describe uncertainty, `simulate` from one draw instead.",
        "budget rdp(order = 5, eps = 1)\nprivate trial[n] { cured: bool }\nparam p ~ beta(12, 12)\nobserve cured ~ bernoulli(p)\nrelease p_hats = draws(p, 2)",
    ),
    note(
        "posterior",
        "Stands after `release`: the whole posterior of one parameter, released once. Its means, intervals and predictions are then free.",
        "budget eps(1)\nprivate trial[n] { cured: bool }\nparam p ~ beta(1, 1)\nobserve cured ~ bernoulli(p)\nrelease post = posterior(p)\noutput middle = interval(post, 0.9)",
    ),
    note("abs", ROW, "output x = abs(-2)"),
    note("exp", ROW, "output x = exp(1)"),
    note("log", ROW, "budget eps(1)\nprivate t[n >= 200] { pay: real in [1, 500] }\nrelease m = mean(log(pay)) using laplace"),
    note("log1p", ROW, "budget eps(1)\nprivate t[n >= 200] { pay: real in [0, 500] }\nrelease m = mean(log1p(pay)) using laplace"),
    note("sqrt", ROW, "budget eps(1)\nprivate t[n >= 200] { area: real in [0, 400] }\nrelease m = mean(sqrt(area)) using laplace"),
    note("tanh", ROW, "output x = tanh(0.5)"),
    note("inv_logit", ROW, "output x = inv_logit(-1.2)"),
    note("logit", ROW, "output x = logit(0.25)"),
    note("Phi", ROW, "output x = Phi(1.96)"),
    note("floor", ROW, "output x = floor(2.7)"),
    note("round", ROW, "output x = round(2.5)"),
    note(
        "min",
        "Of two numbers it works anywhere; of one public vector it is its least component.",
        "output x = min([3, 1, 2]) + min(4, 5)",
    ),
    note(
        "max",
        "Of two numbers it works anywhere; of one public vector it is its greatest component.",
        "output x = max([3, 1, 2]) + max(4, 5)",
    ),
    note(
        "clip",
        "max(lo, min(x, hi)): bounds a value, and with it what one row can change. The bounds must not depend on the rows.",
        "budget eps(1)\nprivate t[n >= 200] { pay: real }\nrelease m = mean(clip(pay, 0, 200)) using laplace",
    ),
    note("dot", "The inner product of two vectors of one dimension; its range follows from their norms.", "output x = dot([1, 2], [3, 4])"),
    note("append", "One vector after another; a number counts as a vector of one.", "output x = append(1, [2, 3])"),
    note(
        "rep",
        "A vector of equal components, for priors of many levels.",
        "budget rdp(order = 4, eps = 1)\nprivate votes[n] { party: category {red, blue, green} }\nparam share ~ dirichlet(rep(8, levels(party)))\nobserve party ~ categorical(share)\nrelease share_hat = draw(share)",
    ),
    note("length", "The dimension of a vector.", "output x = length([1, 2, 3])"),
    note("norm", "The Euclidean length.", "output x = norm([3, 4])"),
    note(
        "levels",
        "How many levels a category has; public.",
        "budget rdp(order = 4, eps = 1)\nprivate votes[n] { party: category {red, blue, green} }\nparam share ~ dirichlet(rep(8, levels(party)))\nobserve party ~ categorical(share)\nrelease share_hat = draw(share)",
    ),
    note(
        "project",
        "The nearest point of a ball around 0: bounds a vector. The radius is public.",
        "budget zcdp(0.1)\nprivate t[n >= 500] { x: vector[3] }\nrelease m = mean(project(l2(1), x)) using gaussian",
    ),
    note(
        "sum",
        "Over the rows of a private table it is released with a mechanism; of a public vector it is free. With a list of levels it is the posterior of their shares together.",
        "budget eps(1)\nprivate t[n] { vote: category {yes, no, blank} }\nparam s ~ dirichlet([1, 1, 1])\nobserve vote ~ categorical(s)\nrelease post = posterior(s)\noutput cast = interval(sum(post, [yes, no]), 0.9)",
    ),
    note(
        "mean",
        "Over rows, sum / n; n must be public. Of a released or public vector it is free.",
        "budget eps(1)\nprivate t[n >= 200] { hours: real in [0, 80] }\nrelease m = mean(hours) using laplace",
    ),
    note("sd", "The standard deviation of a public vector, with n - 1.", "output x = sd([1, 2, 4])"),
    note(
        "count",
        "The number of rows (secret for a header with `private n`), or of rows with a condition.",
        "budget eps(1)\nprivate t[private n] { age: int in 0..120 }\nrelease old = count(age >= 65) using geometric",
    ),
    note(
        "histogram",
        "How many rows have each level of a category.",
        "budget eps(1)\nprivate t[n] { choice: category {yes, no, blank} }\nrelease votes = histogram(choice) using geometric",
    ),
    note(
        "quantile",
        "Over rows it is released with `exponential`; of a public vector it is free, and q may be a list.",
        "budget eps(1)\nprivate t[n] { pay: real in [0, 200] }\nrelease median_pay = quantile(pay, 0.5) using exponential",
    ),
    note("density", "Of a released posterior at x: free.", POSTERIOR_DENSITY),
    note("cdf", "The probability that a released posterior gives to values up to x: free.", POSTERIOR_CDF),
    note("interval", "The quantiles of a released posterior that leave out as much on both sides: free.", POSTERIOR_INTERVAL),
    note(
        "larger",
        "The probability that a draw of one released posterior is larger than an independent draw of the other; of two levels, sums of levels, or weights of one posterior both come from one draw. Free.",
        POSTERIOR_LARGER,
    ),
    note("sample", "Draws from a released posterior of one number, with fresh and public randomness: free.", POSTERIOR_SAMPLE),
    note(
        "simulate",
        "Fresh draws of a distribution with public arguments: free. A vector if `times` is more than 1.",
        "output heads = simulate(binomial(100, 0.5), times = 1000)\noutput chance = mean(heads > 60)",
    ),
];
