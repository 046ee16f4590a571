//! Posteriors as JSON and as a line of text with a small picture.

use super::Posterior;
use crate::numeric::Unary;
use crate::numeric::diagnostics::Summary;
use crate::run::draws::Draws;
use serde_json::{Value as Json, json};

/// A double as text is at most so long: sign, 17 digits, point, exponent.
const WIDEST: usize = 26;
/// Columns of a picture.
const COLUMNS: usize = 41;
/// From nothing to the mode.
const SHADES: &[u8] = b" .:-=+*#%@";

/// `{"family": "beta", "parameters": [..]}`; mixtures list weights and components.
pub fn json(p: &Posterior) -> Json {
    let number = |x: &f64| json!(x);
    match p {
        Posterior::Beta(a, b) | Posterior::Gamma(a, b) | Posterior::Normal(a, b) => json!({"family": p.family(), "parameters": [a, b]}),
        Posterior::Dirichlet(alpha) => json!({"family": "dirichlet", "parameters": alpha.iter().map(number).collect::<Json>()}),
        Posterior::MultiNormal { mean, .. } => json!({"family": "multi_normal", "parameters": [mean, covariance(p)]}),
        Posterior::Mixture { weights, components } => json!({
            "family": "mixture",
            "weights": weights.iter().map(number).collect::<Json>(),
            "components": components.iter().map(json).collect::<Json>(),
        }),
        Posterior::Draws(draws) => draws.json(),
        Posterior::MeanOf(_, of) => json!({"family": p.family(), "of": json(of)}),
        Posterior::Quotient(q) => json!({"family": p.family(), "parameters": q.parameters()}),
        Posterior::Product(parts) => json!({"family": "product", "components": parts.iter().map(json).collect::<Json>()}),
    }
}

/// Of a multivariate normal law, row by row.
fn covariance(p: &Posterior) -> Vec<Vec<f64>> {
    let Posterior::MultiNormal { factor, .. } = p else { return vec![] };
    let of = |a: &Vec<f64>, b: &Vec<f64>| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    factor.iter().map(|a| factor.iter().map(|b| of(a, b)).collect()).collect()
}

/// The most that every leaf of the JSON may take, in its order: numbers their widest, names their own length.
pub fn widths(p: &Posterior, out: &mut Vec<usize>) {
    out.push(p.family().len() + 2);
    match p {
        Posterior::Beta(..) | Posterior::Gamma(..) | Posterior::Normal(..) => out.extend([WIDEST; 2]),
        Posterior::Quotient(_) => out.extend([WIDEST; 6]),
        Posterior::MeanOf(_, of) => widths(of, out),
        Posterior::Dirichlet(alpha) => out.extend(alpha.iter().map(|_| WIDEST)),
        Posterior::MultiNormal { mean, .. } => out.extend((0..mean.len() * (mean.len() + 1)).map(|_| WIDEST)),
        Posterior::Mixture { weights, components } => {
            out.extend(weights.iter().map(|_| WIDEST));
            components.iter().for_each(|c| widths(c, out));
        }
        Posterior::Product(parts) => parts.iter().for_each(|c| widths(c, out)),
        // Nothing private is left in it.
        Posterior::Draws(_) => {}
    }
}

/// One line a number: mean, standard deviation, the middle 90 %, and the density over [0, 1] or that of the middle 99.9 %.
/// Every line is as long whatever the posterior.
pub fn picture(p: &Posterior, names: &[String]) -> Vec<String> {
    if let Posterior::Draws(draws) = p {
        return summary(draws);
    }
    let width = names.iter().map(|n| n.chars().count()).max().unwrap_or(0).min(200);
    let one = |(i, m): (usize, &Posterior)| {
        let name = names.get(i).map_or("", String::as_str);
        let q = m.quantiles(&[0.0005, 0.05, 0.95, 0.9995]);
        let at = |i: usize| q.get(i).copied().unwrap_or(f64::NAN);
        let (mean, sd) = (m.mean().first().copied().unwrap_or(f64::NAN), m.sd().first().copied().unwrap_or(f64::NAN));
        let (from, to) = (at(0), at(3));
        // Shares have as many digits before the point.
        let text = |x: f64| if p.is_share() { format!("{x:>6.4}") } else { six(x) };
        let [mean, sd, low, high, left, right] = [mean, sd, at(1), at(2), from, to].map(text);
        format!("{name:<width$} mean {mean}  sd {sd}  90% [{low}, {high}]  {left} |{}| {right}", shades(m, (from, to), COLUMNS))
    };
    p.marginals().iter().enumerate().map(one).collect()
}

/// The table that Stan prints, a line a number of a chain, with a small picture of the middle 99.9 %.
fn summary(draws: &Draws) -> Vec<String> {
    let width = draws.names.iter().map(|n| n.chars().count()).max().unwrap_or(0).min(200);
    let [mean, sd, low, middle, high, mcse] = ["mean", "sd", "5 %", "50 %", "95 %", "MCSE"].map(|head| format!("{head:>11}"));
    let (rhat, bulk, tail) = ("R-hat", "ESS bulk", "ESS tail");
    let head = format!("{:<width$}{mean}{sd}{low}{middle}{high}{rhat:>7}{bulk:>9}{tail:>9}{mcse}", "");
    let one = |(i, s): (usize, Summary)| {
        let numbers: String = [s.mean, s.sd, s.q5, s.median, s.q95].map(six).concat();
        let picture = draws.component(i).map(Posterior::Draws).map(|m| {
            let ends = m.quantiles(&[0.0005, 0.9995]);
            let at = |i: usize| ends.get(i).copied().unwrap_or(f64::NAN);
            shades(&m, (at(0), at(1)), COLUMNS / 2)
        });
        let name = draws.names.get(i).map_or("", String::as_str);
        let (bulk, tail, rhat, mcse, picture) = (s.ess_bulk, s.ess_tail, s.rhat, six(s.mcse), picture.unwrap_or_default());
        format!("{name:<width$}{numbers}{rhat:>7.3}{bulk:>9.0}{tail:>9.0}{mcse}  |{picture}|")
    };
    std::iter::once(head).chain(draws.summaries().into_iter().enumerate().map(one)).collect()
}

impl Posterior {
    /// Do its numbers lie in [0, 1]?
    fn is_share(&self) -> bool {
        match self {
            Posterior::Beta(..) | Posterior::Dirichlet(_) | Posterior::MeanOf(Unary::InvLogit | Unary::Phi | Unary::InvCloglog, _) => true,
            Posterior::Quotient(q) => (q.lo, q.hi) == (0.0, 1.0),
            Posterior::Gamma(..) | Posterior::Normal(..) | Posterior::MultiNormal { .. } | Posterior::Draws(_) | Posterior::MeanOf(..) => {
                false
            }
            Posterior::Mixture { components, .. } | Posterior::Product(components) => components.first().is_some_and(Posterior::is_share),
        }
    }

    /// The family with its parameters, as long for any posterior of the same family and size.
    pub fn described(&self) -> String {
        let list = |xs: &[f64]| xs.iter().map(|x| six(*x)).collect::<Vec<_>>().join(", ");
        match self {
            Posterior::Beta(a, b) | Posterior::Gamma(a, b) | Posterior::Normal(a, b) => format!("{}({})", self.family(), list(&[*a, *b])),
            Posterior::Dirichlet(alpha) if alpha.len() <= 12 => format!("dirichlet({})", list(alpha)),
            Posterior::Dirichlet(alpha) => format!("dirichlet of {} levels", alpha.len()),
            Posterior::MultiNormal { mean, .. } => format!("multi_normal of {} numbers", mean.len()),
            Posterior::Mixture { components, .. } => {
                format!("mixture of {} {} posteriors", components.len(), components.first().map_or("", Posterior::family))
            }
            Posterior::Product(parts) => format!("{} independent posteriors", parts.len()),
            Posterior::MeanOf(f, of) => format!("{} of {}", f.facts().name(), of.described()),
            Posterior::Quotient(_) => "noisy sum over noisy count".into(),
            Posterior::Draws(draws) => format!("{} draws of {} chains", draws.count(), draws.chains),
        }
    }
}

/// A number in eleven characters.
fn six(x: f64) -> String {
    // A minus takes the place of a digit.
    let (most, digits) = if x < 0.0 { (99_999.999, if x > -1e-99 { 3 } else { 4 }) } else { (999_999.999, 4) };
    if (1e-3..most).contains(&x.abs()) || x == 0.0 { format!("{x:>11.4}") } else { format!("{x:>11.digits$e}") }
}

fn shades(m: &Posterior, (from, to): (f64, f64), columns: usize) -> String {
    let at = |i: usize| m.density(from + (to - from) * (i as f64 + 0.5) / columns as f64);
    let values: Vec<f64> = (0..columns).map(at).collect();
    let most = values.iter().copied().filter(|x| x.is_finite()).fold(f64::MIN_POSITIVE, f64::max);
    let shade = |x: &f64| {
        let level = (x / most).clamp(0.0, 1.0) * (SHADES.len() - 1) as f64;
        let index = if level.is_nan() { 0 } else { level.ceil() as usize };
        SHADES.get(index).copied().map_or(' ', char::from)
    };
    values.iter().map(shade).collect()
}
