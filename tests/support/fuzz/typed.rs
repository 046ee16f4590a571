//! Programs whose names and types fit.

use super::Dice;
use super::mutate::NUMBERS;

/// Ways to draw from a conjugate posterior.
const CLOSED: &[&str] = &["", "", " using ?", " using direct", " using diffuse", " using concentrated", " using diffuse(r = 0.25)"];

/// Ways to draw from any model, and to release a whole posterior.
const LATER: &[&str] = &[
    " using beta_div assuming convergence",
    " using beta_div(beta = 1.5)",
    " using ops assuming convergence",
    " using gibbs",
    " using penalty",
    " using penalty(iterations = 40)",
    " using dp_hmc(steps = 3, clip = 1)",
    " using dp_sgld(iterations = 20, batch = 8)",
    " using noise_aware",
    " using plug_in",
    " using ls_dim",
    " using ls_hist",
    " using ehd",
    " using ehds(gamma = 0.1)",
];

/// A program whose names and types fit: headers, families, mechanisms and budgets in any combination.
pub fn well_typed(seed: u64) -> String {
    let mut dice = Dice::new(seed ^ 0x7461_7475);
    let number = |dice: &mut Dice| {
        if dice.once_in(25) { dice.pick(NUMBERS).to_owned() } else { format!("{}", 1 + dice.below(60)) }
    };
    let mut lines = vec![];
    if !dice.once_in(6) {
        let (a, b) = (number(&mut dice), 1 + dice.below(40));
        lines.push(match dice.below(14) {
            0 => format!("budget eps({b})"),
            1 => format!("budget zcdp(0.{b})"),
            2 => format!("budget gdp({b})"),
            3 => format!("budget dp(eps = {b}, delta = 1e-{})", 1 + dice.below(12)),
            4 => format!("budget rdp(order = {}.5, eps = 0.{b})", 1 + dice.below(12)),
            _ if dice.once_in(3) => format!("budget rdp(order = {a}, eps = 0.{b})"),
            _ => format!("budget rdp(order = 1.{b}, eps = 0.{b})"),
        });
    }
    let rows = match dice.below(4) {
        0 => "private n".to_owned(),
        1 => format!("{}", 1 + dice.below(2_000)),
        2 => format!("n >= {}", 1 + dice.below(2_000)),
        _ => "n".to_owned(),
    };
    let unit = if dice.once_in(5) { format!(" by id max {}", 1 + dice.below(5)) } else { String::new() };
    let top = number(&mut dice);
    let mut or = |value: &'static str| if dice.once_in(4) { value } else { "" };
    let [b, i, x, c, w] = [" else true", " else 0", " else 0.5", " else s", " else [0, 0.25]"].map(&mut or);
    let columns = format!(
        "id: text, g: public category {{u, v}}, b: bool{b}, i: int in 0..{top}{i}, x: real in [0, {top}]{x}, c: category {{r, s, t}}{c}, w: vector[2] in l2({top}){w}"
    );
    lines.push(format!("private t[{rows}]{unit} {{ {columns} }}"));
    let grouped = dice.once_in(4);
    if grouped {
        lines.push("each g of t {".into());
    }
    for index in 0..1 + dice.below(2) {
        let (a, b, s) = (number(&mut dice), number(&mut dice), number(&mut dice));
        let p = format!("p{index}");
        let using = if dice.once_in(3) { dice.pick(LATER) } else { dice.pick(CLOSED) };
        let noise = dice.pick(&[
            "",
            " using ?",
            " using laplace",
            " using gaussian",
            " using geometric",
            " using beta_query",
            " using exponential",
        ]);
        let spend = dice.pick(&["", "", "", " spend 20%", " spend zcdp(0.01)"]);
        let query = match dice.below(6) {
            0 => format!("draws({p}, {})", 1 + dice.below(4)),
            1 => format!("posterior({p})"),
            _ => format!("draw({p})"),
        };
        let (prior, observed) = match dice.below(16) {
            0 => (format!("~ beta({a}, {b})"), format!("b ~ bernoulli({p})")),
            1 => (format!("~ beta({a}, {b})"), format!("i ~ binomial({top}, {p})")),
            2 => (format!("~ beta({a}, {b})"), format!("i ~ geometric({p})")),
            3 => (format!("~ beta({a}, {b})"), format!("i ~ neg_binomial({s}, {p})")),
            4 => (format!("~ dirichlet([{a}, {b}, {s}])"), format!("c ~ categorical({p})")),
            5 => (format!("~ gamma({a}, {b})"), format!("i ~ poisson({p})")),
            6 => (format!("~ gamma({a}, {b})"), format!("x ~ exponential({p})")),
            7 => (format!("~ normal({a}, {b})"), format!("x ~ normal({p}, {s})")),
            8 => (format!("~ gamma({a}, {b})"), format!("x ~ normal({s}, 1 / sqrt({p}))")),
            9 => (format!(": vector[2] ~ normal(0, {b})"), format!("b ~ bernoulli_logit(dot({p}, w))")),
            10 => {
                let aggregate = dice.pick(&[
                    "mean(x)",
                    "sum(x)",
                    "sum(i)",
                    "count()",
                    "histogram(c)",
                    "quantile(x, 0.5)",
                    "sum(w)",
                    "mean(b)",
                    "sum(is_na(x))",
                    "count(is_na(w) or b)",
                    "histogram(is_na(c))",
                ]);
                lines.push(format!("release r{index} = {aggregate}{noise}{spend}"));
                continue;
            }
            11 => {
                let clip = format!("clip(x * {a} - i, -{b}, {s})");
                lines.push(format!("let y{index} = {clip}\nrelease r{index} = mean(y{index}){noise}{spend}"));
                continue;
            }
            12 => (format!("~ beta({a}, {b})"), format!("(i > {s}) ~ bernoulli({p})")),
            13 => (format!("~ dirichlet(rep({a}, 3))"), format!("c ~ categorical({p})")),
            14 => (format!(": real in [0, {a}] ~ normal({s}, {b})"), format!("x ~ normal({p}, {s})")),
            _ => (format!("~ normal({a}, {b})"), format!("x ~ normal({p} + {s}, {top})")),
        };
        lines.push(format!(
            "param {p}{}{prior}\nobserve {observed}\nrelease r{index} = {query}{using}{spend}",
            if prior.starts_with(':') { "" } else { " " }
        ));
        if dice.once_in(5) {
            lines.push(format!(
                "output o{index} = {}",
                dice.pick(&["mean(r0)", "r0 * 2", "simulate(normal(0, 1), times = 10)", "100 * r0 - 3"])
            ));
        }
    }
    if grouped {
        lines.push("}".into());
    }
    if dice.once_in(6) {
        lines.push(format!("expect certificate(total) <= zcdp({})", number(&mut dice)));
    }
    lines.join("\n") + "\n"
}
