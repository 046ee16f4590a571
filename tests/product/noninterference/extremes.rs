//! Programs with extreme priors, noise and outputs that certify, each with several extreme data sets.

/// Rows of every file; public in most programs.
const ROWS: usize = 20;

pub struct Extreme {
    pub text: String,
    pub files: Vec<String>,
}

/// All rows alike, at either end; half and half; all but one.
fn files(header: &str, low: &str, high: &str) -> Vec<String> {
    let of = |is_high: &dyn Fn(usize) -> bool| {
        let row = |i: usize| format!("{}\n", if is_high(i) { high } else { low });
        format!("{header}\n{}", (0..ROWS).map(row).collect::<String>())
    };
    vec![of(&|_| false), of(&|_| true), of(&|i| i % 2 == 0), of(&|i| i == 0)]
}

/// Every function of a released posterior, at its ends and beyond.
const ASKED: &str = "output o1 = mean(post)\noutput o2 = sd(post)\noutput o3 = quantile(post, [0, 1e-300, 0.01, 0.5, 1])
output o4 = interval(post, 0.9)\noutput o5 = density(post, [0, 0.5, 1, -1, 1e300])\noutput o6 = cdf(post, [0, 0.5, 1, -1, 1e300])\n";

const WEIGHTS: &str = "output o1 = mean(post)\noutput o2 = sd(post)\noutput o3 = quantile(post[1], [0, 0.5])\noutput o4 = cdf(post[2], 0)
output o5 = larger(post[1], post[2])\noutput o6 = simulate(normal(post[1], 1))";

struct List(Vec<Extreme>);

impl List {
    fn add(&mut self, table: &str, body: &str, files: &[String]) {
        self.0.push(Extreme { text: format!("{table}\n{body}\n"), files: files.to_vec() });
    }

    fn whole_posteriors(&mut self) {
        let bits = files("y", "0", "1");
        let noisy = ["noise_aware(eps = 1)", "noise_aware(rho = 1e6)", "plug_in(eps = 1e6)"];
        let table = "private t[n] { y: bool }";
        for mechanism in ["ls_hist(eps = 1)", "ls_dim(eps = 1e6)", noisy[0], noisy[1], noisy[2]] {
            for prior in ["1e18, 1", "1, 1e18", "1e100, 1e-100", "1e-100, 1e-100", "1e16, 1e16"] {
                let model = format!("param p ~ beta({prior})\nobserve y ~ bernoulli(p)\nrelease post = posterior(p) using {mechanism}");
                let more =
                    "output o7 = sample(post, 3)\noutput o8 = larger(post, post)\noutput o9 = simulate(binomial(100, post), times = 3)";
                self.add(table, &format!("{model}\n{ASKED}{more}"), &bits);
            }
        }
        for mechanism in ["ehd(eps = 1)", "ehds(eps = 1)"] {
            for prior in ["1e-100, 1e8", "1e8, 1e8", "1e-100, 1e-100"] {
                let model = format!("param p ~ beta({prior})\nobserve y ~ bernoulli(p)\nrelease post = posterior(p) using {mechanism}");
                self.add(table, &format!("{model}\n{ASKED}"), &bits);
            }
        }
        let levels = files("y", "u", "w");
        for (rows, mechanism) in [("n", "ls_hist(eps = 1)"), ("n", noisy[0]), ("n", noisy[1]), ("private n", noisy[0])] {
            for prior in ["1, 1e18, 1", "1e-100, 1, 1e100", "1e-100, 1e-100, 1e-100", "1e16, 1e16, 1e16"] {
                let model =
                    format!("param p ~ dirichlet([{prior}])\nobserve y ~ categorical(p)\nrelease post = posterior(p) using {mechanism}");
                let more = "output o7 = larger(post[u], post[v])\noutput o8 = simulate(categorical(post), times = 3)\noutput o9 = sum(post, [u, v])";
                let table = format!("private t[{rows}] {{ y: category {{u, v, w}} }}");
                self.add(&table, &format!("{model}\n{ASKED}{more}"), &levels);
            }
        }
        // Noise that reaches over more numbers than memory holds.
        let model = "param p ~ dirichlet([1, 1, 1])\nobserve y ~ categorical(p)\nrelease post = posterior(p) using noise_aware(eps = 1e-9)";
        self.add("private t[private n] { y: category {u, v, w} }", model, &levels);
        let body = "each g of t {\nparam p ~ gamma(1e100, 1e-100)\nobserve y ~ poisson(p)\nrelease post = posterior(p) using noise_aware(eps = 1)\n}\noutput o = mean(post)";
        self.add("private t[n] { g: public category {a, b}, y: int in 0..9 }", body, &files("g,y", "a,0", "b,9"));
        let counts = files("y", "0", "1000000");
        for (rows, mechanism) in [("n", noisy[0]), ("n", noisy[1]), ("private n", noisy[0]), ("private n", noisy[1]), ("n", noisy[2])] {
            for prior in ["1e18, 1", "1, 1e-100", "1e100, 1e100", "1e-100, 1e100"] {
                let model = format!("param p ~ gamma({prior})\nobserve y ~ poisson(p)\nrelease post = posterior(p) using {mechanism}");
                let more = "output o7 = simulate(poisson(post), times = 3)";
                self.add(&format!("private t[{rows}] {{ y: int in 0..1000000 }}"), &format!("{model}\n{more}"), &counts);
            }
        }
        for size in ["1", "1e-100", "4e99"] {
            let table = format!("private t[n] {{ y: real in [-{size}, {size}] }}");
            for mechanism in [noisy[0], noisy[1], noisy[2]] {
                for (mean, sd, own) in [
                    ("1e100", "1", "1"),
                    ("0", "1e100", "1e-100"),
                    ("-1e100", "1e-100", "1e100"),
                    ("0", "1e-8", "1e8"),
                    ("1e100", "1e100", "1e-100"),
                    ("0", "1e-100", "1e100"),
                ] {
                    let model = format!(
                        "param p ~ normal({mean}, {sd})\nobserve y ~ normal(p, {own})\nrelease post = posterior(p) using {mechanism}"
                    );
                    let files = files("y", &format!("-{size}"), size);
                    self.add(
                        &table,
                        &format!("{model}\n{ASKED}output o7 = larger(post, post)\noutput o8 = simulate(normal(post, 1))"),
                        &files,
                    );
                }
            }
            let table = format!("private t[n] {{ x: vector[2] in l2({size}), y: real in [-{size}, {size}] }}");
            for (mean, sd, own) in [
                ("0", "1", "1"),
                ("0", "1e8", "1e-8"),
                ("0", "1e100", "1"),
                ("0", "1e100", "1e-100"),
                ("1e100", "1", "1e-100"),
                ("0", "1e100", "1e100"),
                ("0", "1e-100", "1"),
            ] {
                let model = format!(
                    "param p: vector[2] ~ normal({mean}, {sd})\nobserve y ~ normal(dot(p, x), {own})\nrelease post = posterior(p) using noise_aware(rho = 1)"
                );
                let files = files("x_1,x_2,y", "0,0,0", &format!("{size},0,-{size}"));
                self.add(&table, &format!("{model}\n{WEIGHTS}"), &files);
            }
        }
    }

    fn draws(&mut self) {
        let priors = ["1e18, 1", "1e-100, 1e-100", "1e100, 1e-100", "1e16, 1e16"];
        let mechanisms = ["direct", "diffuse(r = 1e-12)", "concentrated(m = 1e-6)"];
        let counts = |most: &str| files("y", "0", most);
        let pairs = [
            ("n", "bool", "beta", "bernoulli(p)", counts("1"), "binomial(100, d)"),
            ("n", "int in 0..1000", "beta", "binomial(1000, p)", counts("1000"), "bernoulli(d)"),
            ("20", "int in 0..9", "beta", "geometric(p)", counts("9"), "geometric(d)"),
            ("20", "int in 0..9", "beta", "neg_binomial(2.5, p)", counts("9"), "neg_binomial(2, d)"),
            ("n", "int in 0..1000000", "gamma", "poisson(p)", counts("1000000"), "poisson(d)"),
            ("20", "real in [0, 1e90]", "gamma", "exponential(p)", counts("1e90"), "exponential(d)"),
            ("20", "real in [-1e40, 1e40]", "gamma", "normal(0, 1 / sqrt(p))", files("y", "-1e40", "1e40"), "gamma(d, d)"),
        ];
        for (rows, column, family, row, files, next) in pairs {
            for (prior, mechanism) in priors.into_iter().flat_map(|p| mechanisms.map(|m| (p, m))) {
                let release = format!(
                    "release d = draw(p) using {mechanism}\noutput a = log(d)\noutput b = 1 / d\noutput c = simulate({next}, times = 3)"
                );
                let body = format!("param p ~ {family}({prior})\nobserve y ~ {row}\n{release}");
                self.add(&format!("private t[{rows}] {{ y: {column} }}"), &body, &files);
            }
        }
        for (a, b) in [("1e-100", "1e100"), ("1e100", "1e-100"), ("1e-100", "1e-100"), ("1e90", "1e90")] {
            let files = files("y,z_1,z_2", "-1e90,0,0", "1e90,1e90,0");
            for mechanism in mechanisms {
                let ends = "private t[n] { y: real in [-1e90, 1e90], z: vector[2] in l2(1e90) }";
                self.add(
                    ends,
                    &format!(
                        "param p ~ normal(0, {a})\nobserve y ~ normal(p, {b})\nrelease d = draw(p) using {mechanism}\noutput e = exp(d)"
                    ),
                    &files,
                );
            }
        }
        let levels = files("y", "u", "w");
        for prior in ["1, 1e18, 1", "1e-100, 1e-100, 1e-100", "1e-100, 1, 1e100"] {
            for mechanism in mechanisms {
                let body = format!(
                    "param p ~ dirichlet([{prior}])\nobserve y ~ categorical(p)\nrelease d = draw(p) using {mechanism}\noutput a = log(d)"
                );
                self.add("private t[n] { y: category {u, v, w} }", &body, &levels);
            }
        }
        for (own, size) in [("1e-100", "1e90"), ("1e100", "1"), ("1", "1e90")] {
            for mechanism in mechanisms {
                let one = format!("[[{own}, 0], [0, {own}]]");
                let body = format!(
                    "param p ~ multi_normal([0, 0], {one})\nobserve y ~ multi_normal(p, [[1, 0], [0, 1]])\nrelease d = draw(p) using {mechanism}\noutput e = exp(d)"
                );
                let table = format!("private t[n] {{ y: vector[2] in l2({size}) }}");
                self.add(&table, &body.replace("param p", "param p: vector[2]"), &files("y_1,y_2", "0,0", &format!("{size},0")));
                let body = format!(
                    "param p: vector[2] ~ normal(0, {own})\nobserve y ~ normal(dot(p, x), {own})\nrelease d = draw(p) using {mechanism}\noutput e = exp(d)"
                );
                let table = format!("private t[n] {{ x: public vector[2] in l2(1), y: real in [-{size}, {size}] }}");
                self.add(&table, &body, &files("x_1,x_2,y", &format!("1,0,-{size}"), &format!("1,0,{size}")));
            }
        }
        let items = files("y_1,y_2,y_3", "0,0,0", "9,0,0");
        let body = "param p ~ dirichlet([1e-100, 1, 1e100])\nobserve y ~ multinomial(9, p)\nrelease d = draw(p) using direct";
        self.add("private t[n] { y: counts[3] of 9 }", body, &items);
    }

    fn queries(&mut self) {
        for size in ["1", "1e-100", "1e90"] {
            let files = files("y", &format!("-{size}"), size);
            let table = format!("private t[n] {{ y: real in [-{size}, {size}] }}");
            for noise in ["laplace(scale = 1e-90)", "laplace(scale = 1e150)", "gaussian(sigma = 1e-90)", "gaussian(sigma = 1e150)"] {
                for query in ["sum(y)", "mean(clip(2 * y + 1, -3, 3))", "max(sum(y), mean(y))"] {
                    self.add(
                        &table,
                        &format!("release d = {query} using {noise}\noutput a = log(d)\noutput b = 1 / d\noutput c = exp(d)"),
                        &files,
                    );
                }
            }
            for (q, ends) in [
                ("0", String::new()),
                ("1", String::new()),
                ("[0.5, 0.1, 0.9]", String::new()),
                ("0.5", format!("lo = {size} / 1000, hi = {size}, grid = log, ")),
            ] {
                let body = format!("release d = quantile(y, {q}) using exponential({ends}eps = 1e6)");
                self.add(&table, &body, &files);
            }
        }
        // Wherever the noise leads, what is computed from it is a number, inf or nan.
        let next = "output e01 = simulate(normal(0, exp(d)))\noutput e02 = simulate(bernoulli_logit(log(d)))\noutput e03 = simulate(poisson(exp(d)))
output e04 = simulate(poisson_log(d))\noutput e05 = simulate(binomial_logit(9, log(d)))\noutput e06 = simulate(categorical_logit([d, log(d)]))
output e07 = simulate(normal(d, abs(1 / (d - d))))\noutput e08 = simulate(cauchy(log(d), 1))\noutput e09 = simulate(student_t(1e-300, d, exp(d)))
output e10 = simulate(bernoulli_cloglog(d))\noutput e11 = simulate(bernoulli_probit(log(d)))\noutput e12 = quantile([d, log(d)], 0.5)";
        for (most, noise) in [("9", "geometric(scale = 1e15)"), ("1000000000", "geometric(scale = 1e-6)"), ("9", "gaussian(sigma = 1e150)")]
        {
            for rows in ["n", "private n"] {
                let table = format!("private t[{rows}] {{ y: int in 0..{most} }}");
                self.add(&table, &format!("release d = sum(y) using {noise}\n{next}"), &files("y", "0", most));
                self.add(&table, &format!("release d = count(y > 3) using {noise}"), &files("y", "0", most));
            }
        }
        let body = "release d = mean(y) using beta_query(1e-100, 1e100, r = 0.5)";
        self.add("private t[n] { y: real in [0, 1] }", body, &files("y", "0", "1"));
        let body = "release d = histogram(y) using geometric(scale = 1e-6)\noutput a = sd(d)\noutput b = quantile(d, 0.5)";
        self.add("private t[n] { y: int in -5..5 }", body, &files("y", "-5", "5"));
    }

    fn chains(&mut self) {
        let files = |low: &str, high: &str, size: &str| files("x_1,x_2,y", &format!("0,0,{low}"), &format!("{size},-{size},{high}"));
        let body = |sd: &str, domain: &str, row: &str, mechanism: &str| {
            format!(
                "param w: vector[2]{domain} ~ normal(0, {sd})\nobserve y ~ {row}\nrelease d = draw(w) using {mechanism}\noutput e = exp(d)"
            )
        };
        for size in ["1", "1e-30", "1e30"] {
            for mechanism in ["diffuse(r = 1e-9, steps = 20)", "diffuse(r = 0.5, sampler = nuts, steps = 20) assuming convergence"] {
                for (column, low, high, row, domain) in [
                    ("bool", "0", "1", "bernoulli_logit(dot(w, x))", ""),
                    ("int in 0..1000000", "0", "1000000", "binomial_logit(1000000, dot(w, x))", ""),
                    ("bool", "0", "1", "bernoulli_logit(dot(w, x))", " in l2(1e-9)"),
                ] {
                    for sd in ["1e-30", "1", "1e30"] {
                        let table = format!("private t[n] {{ x: vector[2] in l2({size}), y: {column} }}");
                        self.add(&table, &body(sd, domain, row, mechanism), &files(low, high, size));
                    }
                }
            }
        }
        for size in ["1", "1e-30", "1e30"] {
            let table = format!("private t[n] {{ x: vector[2] in l2({size}), y: bool }}");
            let ops = |sampler: &str| format!("ops(weight = 0.5, sampler = {sampler}, steps = 20) assuming convergence");
            for (domain, mechanism) in
                [("", "gibbs(weight = 1e-9, steps = 20)".to_owned()), (" in l2(1e-40)", ops("nuts")), (" in l2(1e-30)", ops("slice"))]
            {
                self.add(&table, &body("1e30", domain, "bernoulli_logit(dot(w, x))", &mechanism), &files("0", "1", size));
            }
        }
        for size in ["1", "1e-30", "1e30"] {
            let table = format!("private t[n] {{ x: vector[2] in l2({size}), y: bool }}");
            for (prior, sigma) in [("1", "40"), ("1e30", "1e30"), ("1e-30", "3"), ("1e8", "1e8")] {
                let noisy = |mechanism: &str| body(prior, "", "bernoulli_logit(dot(w, x))", &mechanism.replace("SIGMA", sigma));
                let whole = noisy("score_statistics(sigma = SIGMA, sigma_products = SIGMA)").replace("draw(", "posterior(");
                self.add(&table, &noisy("refined(sigma = SIGMA)"), &files("0", "1", size));
                self.add(&table, &whole.replace("exp(", "mean("), &files("0", "1", size));
            }
        }
        for (column, low, high, row) in [
            ("bool", "0", "1", "bernoulli_probit(dot(w, x))"),
            ("int in 0..", "0", "1e15", "poisson_log(dot(w, x))"),
            ("real", "-1e300", "inf", "normal(dot(w, x), 0.1 + exp(dot(w, x)))"),
            ("real", "-1e300", "inf", "student_t(2, dot(w, x), 1)"),
        ] {
            for mechanism in [
                "beta_div(beta = 1.5, steps = 20) assuming convergence",
                "beta_div(beta = 1.5, steps = 3, sampler = slice) assuming convergence",
                "penalty(iterations = 10, sigma = 1e-6, beta = 1.5, step = 1e150)",
                "dp_hmc(iterations = 3, sigma = 3, gradient_sigma = 1e-3, beta = 1.5, step = 1e100)",
                "dp_sgld(iterations = 5, sigma = 1e-3, beta = 1.5, step = 1e100)",
            ] {
                let table = format!("private t[n] {{ x: vector[2], y: {column} }}");
                self.add(&table, &body("1e30", "", row, mechanism), &files(low, high, "1e300"));
            }
        }
    }
}

pub fn extremes() -> Vec<Extreme> {
    let mut list = List(vec![]);
    list.whole_posteriors();
    list.draws();
    list.queries();
    list.chains();
    list.0
}

/// The words of a program that say how it runs: mechanisms, likelihoods, a secret n.
fn kind(text: &str) -> Vec<&str> {
    let after = |mark: &str| text.match_indices(mark).map(|(at, _)| at + mark.len()).collect::<Vec<usize>>();
    let word = |from: usize| text[from..].split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap();
    [after("using "), after("y ~ "), after("private t["), after("sampler = "), after("dot(")].concat().into_iter().map(word).collect()
}

/// Priors of normal laws at which posteriors once ended with 70 for some rows, or took minutes.
const ONCE_WRONG: [&str; 2] = ["~ normal(0, 1e8)", "~ normal(1e100, 1)"];

/// A program of every kind, by turns one with other numbers; and what was once wrong.
pub fn some_extremes() -> Vec<Extreme> {
    let (mut some, others): (Vec<Extreme>, Vec<Extreme>) =
        extremes().into_iter().partition(|p| ONCE_WRONG.iter().any(|w| p.text.contains(w)));
    let mut kinds: std::collections::BTreeMap<Vec<String>, Vec<Extreme>> = Default::default();
    for program in others {
        kinds.entry(kind(&program.text).into_iter().map(str::to_owned).collect()).or_default().push(program);
    }
    some.extend(kinds.into_values().enumerate().map(|(i, mut of)| of.swap_remove(i % of.len())));
    some
}
