//! A claim as data in a certificate: every number already is a bound, and is stored as it is.

use serde_json::{Value, json};

use super::{Claim, Family, Pair, Shift};

/// A claim as data.
pub fn claim(claim: &Claim) -> Value {
    let list = |parts: &[Claim]| parts.iter().map(self::claim).collect::<Vec<_>>();
    match claim {
        Claim::Renyi(pairs) => json!({"kind": "renyi", "pairs": pairs.iter().map(pair).collect::<Vec<_>>()}),
        Claim::Exact(shift) => json!({"kind": "renyi", "pairs": [pair(&shift.pair())], "curve": self::shift(shift)}),
        Claim::Gdp { mu } => json!({"kind": "gdp", "mu": number(*mu)}),
        Claim::BoundedRange { eta } => json!({"kind": "bounded_range", "eta": number(*eta)}),
        Claim::Pure { epsilon } => json!({"kind": "pure", "epsilon": number(*epsilon)}),
        Claim::Zcdp { rho } => json!({"kind": "zcdp", "rho": number(*rho)}),
        Claim::Laplace { epsilon } => json!({"kind": "laplace", "epsilon": number(*epsilon)}),
        Claim::Product(parts) => json!({"kind": "product", "claims": list(parts)}),
        Claim::Repeated { times, claim } => {
            json!({"kind": "repeated", "times": times, "claim": self::claim(claim)})
        }
        Claim::Max(parts) => json!({"kind": "max", "claims": list(parts)}),
    }
}

/// What bounds every (epsilon, delta) of a draw.
fn shift(shift: &Shift) -> Value {
    match *shift {
        Shift::Beta { counts: (a, b), step, others, .. } => {
            json!({"family": "beta", "counts": [number(a), number(b)], "step": number(step), "others": number(others)})
        }
        Shift::Shape { shape, step } => json!({"family": "gamma", "shape": number(shape), "step": number(step)}),
        Shift::Rate { shape, rate, step } => {
            json!({"family": "gamma", "shape": number(shape), "rate": number(rate), "step": number(step)})
        }
        Shift::Count { kept, count, step } => {
            json!({"family": "beta", "kept": number(kept), "count": number(count), "step": number(step)})
        }
    }
}

fn pair(pair: &Pair) -> Value {
    let member = |family: &str, parameters: Vec<f64>, total: Option<f64>| {
        let list: Vec<Value> = parameters.into_iter().map(number).collect();
        match total {
            Some(total) => json!({"family": family, "parameters": list, "total": number(total)}),
            None => json!({"family": family, "parameters": list}),
        }
    };
    match pair {
        Pair::Shapes { family, coordinates, total } => {
            let family = match family {
                Family::Beta => "beta",
                Family::Dirichlet => "dirichlet",
                Family::Gamma => "gamma",
            };
            let p = coordinates.iter().map(|(a, _)| *a).collect();
            let q = coordinates.iter().map(|(a, step)| a + step).collect();
            json!({
                "p": member(family, p, total.map(|(a, _)| a)),
                "q": member(family, q, total.map(|(a, step)| a + step)),
            })
        }
        // A family of Dirichlet pairs: the certificate names the family, a reader searches it (rule book §2.3).
        Pair::Allocation { counts, base, items, weight } => json!({
            "allocation": {
                "family": "dirichlet",
                "counts": counts.iter().map(|a| number(*a)).collect::<Vec<_>>(),
                "base": number(*base),
                "items": items,
                "weight": number(*weight),
            },
        }),
        Pair::Sampled { share, mu } => json!({"sampled_normal": {"share": number(*share), "mu": number(*mu)}}),
        Pair::Rate { shape, rate, step } => json!({
            "p": member("gamma", vec![*shape, *rate], None),
            "q": member("gamma", vec![*shape, rate + step], None),
        }),
    }
}

/// A finite number; anything else is the string `"inf"`, so that no reader takes it for a small number.
pub(super) fn number(x: f64) -> Value {
    if x.fract() == 0.0 && x.abs() < 1e15 {
        // Whole numbers read better without `.0`.
        return Value::from(x as i64);
    }
    serde_json::Number::from_f64(x).map_or_else(|| Value::String("inf".into()), Value::Number)
}
