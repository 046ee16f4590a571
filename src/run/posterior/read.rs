//! Posteriors read back from their JSON, one number at a time.

use super::{Posterior, Share};
use crate::numeric::Unary;
use crate::numeric::quotient::{Quotient, Shape};
use serde_json::Value as Json;

/// The laws of the numbers of a posterior; `None` if this is the JSON of none.
pub fn marginals_from_json(value: &Json) -> Option<Vec<Posterior>> {
    read(value).map(|p| p.marginals())
}

/// The posterior, but for the numbers of a multivariate normal law, which are taken one by one.
fn read(value: &Json) -> Option<Posterior> {
    let numbers = |v: &Json| -> Option<Vec<f64>> {
        // What no double could compute is written as null.
        v.as_array()?.iter().map(|x| if x.is_null() { Some(f64::NAN) } else { x.as_f64() }).collect()
    };
    let parameters = || numbers(value.get("parameters")?);
    let positive = |found: &[f64]| found.iter().all(|x| x.is_sign_positive());
    let components = || -> Option<Vec<Posterior>> { value.get("components")?.as_array()?.iter().map(read).collect() };
    let family = value.get("family")?.as_str()?;
    match (family, parameters().as_deref()) {
        ("beta", Some(&[a, b])) if positive(&[a, b]) => Some(Posterior::Beta(a, b)),
        ("gamma", Some(&[a, b])) if positive(&[a, b]) => Some(Posterior::Gamma(a, b)),
        ("normal", Some(&[mean, sd])) if positive(&[sd]) => Some(Posterior::Normal(mean, sd)),
        (family @ ("quotient_normal" | "quotient_laplace"), Some(&[lo, hi, sum, count, a, b])) if lo < hi && positive(&[a, b]) => {
            let shape = if family == "quotient_normal" { Shape::Normal } else { Shape::Laplace };
            Some(Posterior::Quotient(Share { of: Quotient { shape, sum, count, noise: [a, b] }, lo, hi }))
        }
        ("dirichlet", Some(alpha)) if alpha.len() > 1 && positive(alpha) => Some(Posterior::Dirichlet(alpha.to_vec())),
        ("multi_normal", None) => {
            let mean = numbers(value.pointer("/parameters/0")?)?;
            let row = |i: usize| numbers(value.pointer(&format!("/parameters/1/{i}"))?)?.get(i).copied().filter(|v| positive(&[*v]));
            let one = |(i, m): (usize, &f64)| Some(Posterior::Normal(*m, row(i)?.sqrt()));
            Some(Posterior::Product(mean.iter().enumerate().map(one).collect::<Option<_>>()?))
        }
        ("mixture", None) => {
            let (weights, components) = (numbers(value.get("weights")?)?, components()?);
            let sound = !weights.is_empty() && weights.len() == components.len() && weights.iter().all(|w| *w >= 0.0);
            sound.then_some(Posterior::Mixture { weights, components })
        }
        ("inv_logit" | "Phi" | "inv_cloglog" | "exp", None) => {
            Some(Posterior::MeanOf(Unary::named(family)?, Box::new(read(value.get("of")?)?)))
        }
        ("product", None) => Some(Posterior::Product(components()?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::json;
    use super::*;

    #[test]
    fn posteriors_are_read_back() {
        let mixture = Posterior::Mixture { weights: vec![0.25, 0.75], components: vec![Posterior::Gamma(3.0, 0.5); 2] };
        let product = Posterior::Product(vec![Posterior::Beta(2.5, 7.0), mixture.clone()]);
        let shares = Posterior::Dirichlet(vec![1.0, 2.0, 3.5]);
        let of = Quotient { shape: Shape::Laplace, sum: 3.0, count: 10.5, noise: [2.0, 1.5] };
        let share = Posterior::Quotient(Share { of, lo: -1.0, hi: 4.0 });
        for p in [share, Posterior::Beta(1.0, 1e-3), Posterior::Normal(-1.5, 2.0), shares, mixture, product] {
            assert_eq!(marginals_from_json(&json(&p)), Some(p.marginals()));
        }
        let unknown = marginals_from_json(&json(&Posterior::Normal(f64::NAN, f64::INFINITY))).unwrap();
        assert!(unknown[0].mean()[0].is_nan() && unknown[0].quantiles(&[0.5])[0].is_nan(), "{unknown:?}");
        let plane = Posterior::MultiNormal { mean: vec![1.0, -1.0], factor: vec![vec![2.0], vec![3.0, 4.0]] };
        assert_eq!(marginals_from_json(&json(&plane)), Some(vec![Posterior::Normal(1.0, 2.0), Posterior::Normal(-1.0, 5.0)]));
        for text in [
            "3",
            "{}",
            r#"{"family": "beta", "parameters": [1]}"#,
            r#"{"family": "beta", "parameters": [1, -1]}"#,
            r#"{"family": "mixture", "weights": [1], "components": []}"#,
            r#"{"family": "multi_normal", "parameters": [[1, 2], [[1, 0]]]}"#,
            r#"{"family": "cauchy", "parameters": [0, 1]}"#,
        ] {
            assert_eq!(marginals_from_json(&serde_json::from_str(text).unwrap()), None, "{text}");
        }
    }
}
