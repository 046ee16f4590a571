//! Claims as exact text: a ledger reads back the very claim that was charged, and may price it again.
//!
//! The form is that of certificates, but a pair is stored as a parameter and its step: certificates print the second
//! member, `a + step` rounded, from which the step cannot be had back exactly.

use crate::numeric::decimal::decimal_string;
use crate::privacy::{Claim, Family, Pair, Shift};
use serde_json::{Map, Value, json};

/// Claims nest as programs do; deeper data were not written by this program.
const DEEPEST: u32 = 64;

fn number(x: f64) -> Value {
    Value::String(decimal_string(x))
}

fn numbers(list: &[f64]) -> Value {
    list.iter().map(|x| number(*x)).collect()
}

fn moves(list: &[(f64, f64)]) -> Value {
    list.iter().map(|(a, step)| numbers(&[*a, *step])).collect()
}

/// The claim as data, every number the shortest text that reads back as the same double.
pub fn encode(claim: &Claim) -> Value {
    let list = |parts: &[Claim]| parts.iter().map(encode).collect::<Value>();
    match claim {
        Claim::Renyi(pairs) => json!({"kind": "renyi", "pairs": pairs.iter().map(pair).collect::<Value>()}),
        Claim::Exact(Shift::Beta { family, counts: (a, b), step, others }) => json!({
            "kind": "beta_shift",
            "family": family_name(*family),
            "counts": numbers(&[*a, *b]),
            "step": number(*step),
            "others": number(*others),
        }),
        Claim::Exact(Shift::Shape { shape, step }) => json!({"kind": "shape_shift", "shape": number(*shape), "step": number(*step)}),
        Claim::Exact(Shift::Rate { shape, rate, step }) => {
            json!({"kind": "rate_shift", "shape": number(*shape), "rate": number(*rate), "step": number(*step)})
        }
        Claim::Exact(Shift::Count { kept, count, step }) => {
            json!({"kind": "count_shift", "kept": number(*kept), "count": number(*count), "step": number(*step)})
        }
        Claim::Gdp { mu } => json!({"kind": "gdp", "mu": number(*mu)}),
        Claim::BoundedRange { eta } => json!({"kind": "bounded_range", "eta": number(*eta)}),
        Claim::Pure { epsilon } => json!({"kind": "pure", "epsilon": number(*epsilon)}),
        Claim::Zcdp { rho } => json!({"kind": "zcdp", "rho": number(*rho)}),
        Claim::Laplace { epsilon } => json!({"kind": "laplace", "epsilon": number(*epsilon)}),
        Claim::Product(parts) => json!({"kind": "product", "claims": list(parts)}),
        Claim::Repeated { times, claim } => json!({"kind": "repeated", "times": times.to_string(), "claim": encode(claim)}),
        Claim::Max(members) => json!({"kind": "max", "claims": list(members)}),
    }
}

fn pair(pair: &Pair) -> Value {
    match pair {
        Pair::Shapes { family, coordinates, total } => json!({
            "kind": "shapes",
            "family": family_name(*family),
            "moves": moves(coordinates),
            "total": total.map_or(Value::Null, |(a, step)| numbers(&[a, step])),
        }),
        Pair::Rate { shape, rate, step } => json!({"kind": "rate", "shape": number(*shape), "rate": number(*rate), "step": number(*step)}),
        Pair::Sampled { share, mu } => json!({"kind": "fixed_size_sample", "share": number(*share), "mu": number(*mu)}),
        Pair::Allocation { counts, base, items, weight } => json!({
            "kind": "allocation",
            "counts": numbers(counts),
            "base": number(*base),
            "items": items.to_string(),
            "weight": number(*weight),
        }),
    }
}

fn family_name(family: Family) -> &'static str {
    match family {
        Family::Beta => "beta",
        Family::Dirichlet => "dirichlet",
        Family::Gamma => "gamma",
    }
}

fn family(name: &str) -> Option<Family> {
    [Family::Beta, Family::Dirichlet, Family::Gamma].into_iter().find(|f| family_name(*f) == name)
}

fn pair_of(value: &Value) -> Option<(f64, f64)> {
    match value.as_array()?.as_slice() {
        [a, b] => Some((double(a)?, double(b)?)),
        _ => None,
    }
}

/// Reads a claim back. `None` for anything that [`encode`] does not write: unknown or missing fields, no numbers.
pub fn decode(value: &Value) -> Option<Claim> {
    read(value, DEEPEST)
}

fn read(value: &Value, depth: u32) -> Option<Claim> {
    let depth = depth.checked_sub(1)?;
    let many = |v: &Value| -> Option<Vec<Claim>> { v.as_array()?.iter().map(|part| read(part, depth)).collect() };
    let claim = |fields: &Fields| {
        Some(match fields.text("kind")? {
            "renyi" => Claim::Renyi(fields.get("pairs")?.as_array()?.iter().map(read_pair).collect::<Option<_>>()?),
            "beta_shift" => Claim::Exact(Shift::Beta {
                family: family(fields.text("family")?)?,
                counts: pair_of(fields.get("counts")?)?,
                step: fields.number("step")?,
                others: fields.number("others")?,
            }),
            "shape_shift" => Claim::Exact(Shift::Shape { shape: fields.number("shape")?, step: fields.number("step")? }),
            "rate_shift" => {
                Claim::Exact(Shift::Rate { shape: fields.number("shape")?, rate: fields.number("rate")?, step: fields.number("step")? })
            }
            "count_shift" => {
                Claim::Exact(Shift::Count { kept: fields.number("kept")?, count: fields.number("count")?, step: fields.number("step")? })
            }
            "gdp" => Claim::Gdp { mu: fields.number("mu")? },
            "bounded_range" => Claim::BoundedRange { eta: fields.number("eta")? },
            "pure" => Claim::Pure { epsilon: fields.number("epsilon")? },
            "zcdp" => Claim::Zcdp { rho: fields.number("rho")? },
            "laplace" => Claim::Laplace { epsilon: fields.number("epsilon")? },
            "product" => Claim::Product(many(fields.get("claims")?)?),
            "max" => Claim::Max(many(fields.get("claims")?)?),
            "repeated" => {
                Claim::Repeated { times: fields.text("times")?.parse().ok()?, claim: Box::new(read(fields.get("claim")?, depth)?) }
            }
            _ => return None,
        })
    };
    // What is written again must be the same data: nothing unknown was skipped, nothing was read in two ways.
    let found = claim(&Fields(value.as_object()?))?;
    (encode(&found) == *value).then_some(found)
}

fn read_pair(value: &Value) -> Option<Pair> {
    let fields = Fields(value.as_object()?);
    Some(match fields.text("kind")? {
        "shapes" => Pair::Shapes {
            family: family(fields.text("family")?)?,
            coordinates: fields.get("moves")?.as_array()?.iter().map(pair_of).collect::<Option<_>>()?,
            total: match fields.get("total")? {
                Value::Null => None,
                total => Some(pair_of(total)?),
            },
        },
        "rate" => Pair::Rate { shape: fields.number("shape")?, rate: fields.number("rate")?, step: fields.number("step")? },
        "fixed_size_sample" => Pair::Sampled { share: fields.number("share")?, mu: fields.number("mu")? },
        "allocation" => Pair::Allocation {
            counts: fields.get("counts")?.as_array()?.iter().map(double).collect::<Option<_>>()?,
            base: fields.number("base")?,
            items: fields.text("items")?.parse().ok()?,
            weight: fields.number("weight")?,
        },
        _ => return None,
    })
}

fn double(value: &Value) -> Option<f64> {
    value.as_str()?.parse().ok().filter(|x: &f64| !x.is_nan())
}

struct Fields<'v>(&'v Map<String, Value>);

impl<'v> Fields<'v> {
    fn get(&self, name: &str) -> Option<&'v Value> {
        self.0.get(name)
    }

    fn text(&self, name: &str) -> Option<&'v str> {
        self.get(name)?.as_str()
    }

    fn number(&self, name: &str) -> Option<f64> {
        double(self.get(name)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn claims() -> impl Strategy<Value = Claim> {
        let x = || prop_oneof![1e-9..1e9_f64, Just(0.1), Just(1e-300), Just(84.8)];
        let moves = prop::collection::vec((x(), -2.0..2.0_f64), 1..4);
        let family = prop_oneof![Just(Family::Beta), Just(Family::Dirichlet), Just(Family::Gamma)];
        let shapes = (family, moves, prop::option::of((x(), x()))).prop_map(|(family, coordinates, total)| Pair::Shapes {
            family,
            coordinates,
            total,
        });
        let rate = (x(), x(), x()).prop_map(|(shape, rate, step)| Pair::Rate { shape, rate, step });
        let allocation = (prop::collection::vec(x(), 1..4), x(), any::<u64>(), x())
            .prop_map(|(counts, base, items, weight)| Pair::Allocation { counts, base, items, weight });
        let sampled = (x(), x()).prop_map(|(share, mu)| Pair::Sampled { share, mu });
        let leaf = prop_oneof![
            prop::collection::vec(prop_oneof![shapes, rate, allocation, sampled], 1..3).prop_map(Claim::Renyi),
            (x(), x(), x(), x())
                .prop_map(|(a, b, step, others)| { Claim::Exact(Shift::Beta { family: Family::Dirichlet, counts: (a, b), step, others }) }),
            (x(), x()).prop_map(|(shape, step)| Claim::Exact(Shift::Shape { shape, step })),
            (x(), x(), x()).prop_map(|(shape, rate, step)| Claim::Exact(Shift::Rate { shape, rate, step })),
            (x(), x(), x()).prop_map(|(kept, count, step)| Claim::Exact(Shift::Count { kept, count, step })),
            x().prop_map(|mu| Claim::Gdp { mu }),
            x().prop_map(|eta| Claim::BoundedRange { eta }),
            x().prop_map(|epsilon| Claim::Pure { epsilon }),
            x().prop_map(|rho| Claim::Zcdp { rho }),
            x().prop_map(|epsilon| Claim::Laplace { epsilon }),
        ];
        leaf.prop_recursive(4, 16, 3, |inner| {
            let many = prop::collection::vec(inner.clone(), 0..3);
            prop_oneof![
                many.clone().prop_map(Claim::Product),
                many.prop_map(Claim::Max),
                (any::<u64>(), inner).prop_map(|(times, claim)| Claim::Repeated { times, claim: Box::new(claim) }),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_claim_reads_back(claim in claims()) {
            let text = encode(&claim).to_string();
            let again: Value = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(decode(&again), Some(claim));
        }
    }

    #[test]
    fn other_data_are_refused() {
        let good = encode(&Claim::Repeated { times: 3, claim: Box::new(Claim::Pure { epsilon: 0.1 }) });
        assert!(decode(&good).is_some());
        let mut extra = good.clone();
        extra["note"] = json!("x");
        let mut missing = good.clone();
        missing.as_object_mut().unwrap().remove("times");
        let mut inner = good.clone();
        inner["claim"]["epsilon"] = json!("0.10");
        let mut nan = good.clone();
        nan["claim"]["epsilon"] = json!("nan");
        for wrong in [extra, missing, inner, nan, json!({"kind": "free"}), json!(null)] {
            assert_eq!(decode(&wrong), None);
        }
        let mut deep = Claim::Pure { epsilon: 1.0 };
        for _ in 0..100 {
            deep = Claim::Max(vec![deep]);
        }
        assert_eq!(decode(&encode(&deep)), None);
    }
}
