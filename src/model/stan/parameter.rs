//! Parameters in Stan: their declarations, their priors, and the transforms of what Stan cannot declare.

use super::declare::bounds;
use super::words::{At, literal};
use super::{Refusal, Stan, refuse};
use crate::dist::Support;
use crate::model::{ExprKind, Label, Parameter, Range, Type, VectorType};

/// A vector that Stan cannot declare: another one that it can, the value in terms of it, and the terms of the log-Jacobian that vary.
struct Transform {
    raw: String,
    value: String,
    jacobian: Option<String>,
}

/// Of vectors in a ball, and of numbers that rise between bounds; `raw` is the name of what it is computed from.
fn transform(v: &VectorType, raw: &str) -> Option<Transform> {
    let (d, Range { lo, hi }) = (v.dim as f64, v.range);
    let number = literal;
    if v.ordered {
        let (declared, value) = match (lo.is_finite(), hi.is_finite()) {
            // The steps are shares of the whole; all shares are equally likely where all places are.
            (true, true) => (
                format!("simplex[{}]", v.dim.saturating_add(1)),
                format!("{} + {} * cumulative_sum({raw}[1:{}])", number(lo), number(hi - lo), v.dim),
            ),
            (true, false) if lo != 0.0 => (format!("positive_ordered[{}]", v.dim), format!("{} + {raw}", number(lo))),
            (false, true) => (format!("positive_ordered[{}]", v.dim), format!("{} - reverse({raw})", number(hi))),
            _ => return None,
        };
        return Some(Transform { raw: declared, value, jacobian: None });
    }
    let (l1, l2, linf) = (v.sup.l1, v.sup.l2, v.sup.linf);
    let below = |x: f64, most: f64| x.is_finite() && x < most * (1.0 - 1e-9);
    // All of R^d onto the ball: each point x moves along its ray to `r x / sqrt(1 + |x|^2)`, in either norm. The Jacobian is
    // `(1 + |x|^2)^(-(d + 2) / 2)`, without the constant r^d.
    let (radius, square) = if below(l1, l2 * d.sqrt()) {
        (l1, format!("square(norm1({raw}))"))
    } else if below(l2, linf * d.sqrt()) {
        (l2, format!("dot_self({raw})"))
    } else {
        return None;
    };
    let value = format!("{} * {raw} / sqrt(1 + {square})", number(radius));
    let jacobian = format!("{} * log1p({square})", number(-(d + 2.0) / 2.0));
    Some(Transform { raw: format!("vector[{}]", v.dim), value, jacobian: Some(jacobian) })
}

impl Stan<'_> {
    pub(super) fn name(&self, p: &Parameter) -> String {
        self.names.get(&p.id).cloned().unwrap_or_else(|| p.name.clone())
    }

    /// What a parameter adds to the blocks of parameters, of transformed parameters and of the model.
    pub(super) fn parameter(&self, p: &Parameter) -> Result<[Vec<String>; 3], Refusal> {
        let name = self.name(p);
        let groups = self.each.map(|e| e.levels.len());
        let array = groups.map_or(String::new(), |n| format!("array[{n}] "));
        let all = groups.map_or(String::new(), |n| format!("for (g in 1:{n}) "));
        let prior = self.prior(p)?;
        let raw = format!("{name}_raw");
        let own = |name: &str| if groups.is_some() { format!("{name}[g]") } else { name.to_owned() };
        let moved = if let Type::Vector(v) = &p.ty { transform(v, &own(&raw)).map(|t| (v, t)) } else { None };
        let Some((v, t)) = moved else {
            return Ok([vec![self.declare_parameter(p, &name)?], vec![], vec![prior]]);
        };
        let computed = match groups {
            Some(_) => vec![format!("{array}vector[{}] {name};", v.dim), format!("{all}{} = {};", own(&name), t.value)],
            None => vec![format!("vector[{}] {name} = {};", v.dim, t.value)],
        };
        let jacobian = t.jacobian.map(|j| format!("{all}target += {j}; // the Jacobian of {name}"));
        Ok([vec![format!("{array}{} {raw};", t.raw)], computed, jacobian.into_iter().chain([prior]).collect()])
    }

    fn prior(&self, p: &Parameter) -> Result<String, Refusal> {
        let at = At { group: self.each.map(|_| "g"), ..At::default() };
        let (law, cut) = (self.distribution(&p.prior, at)?, self.cut(p)?);
        let mut lead = self.each.map_or(String::new(), |e| format!("for (g in 1:{}) ", e.levels.len()));
        let mut target = if self.each.is_some() { format!("{}[g]", self.name(p)) } else { self.name(p) };
        match &p.ty {
            // Stan cuts one number at a time.
            Type::Vector(v) if !cut.is_empty() => {
                lead.push_str(&format!("for (k in 1:{}) ", v.dim));
                target.push_str("[k]");
            }
            Type::Matrix { .. } => target = format!("to_vector({target})"),
            _ => {}
        }
        Ok(format!("{lead}{target} ~ {law}{cut};"))
    }

    /// What a cut leaves of a prior is a constant, and left out, unless the prior depends on parameters.
    fn cut(&self, p: &Parameter) -> Result<String, Refusal> {
        let (true, Some(cut)) = (p.cut_varies(), p.truncated) else { return Ok(String::new()) };
        let one_by_one = match &p.ty {
            Type::Real(_) => true,
            Type::Vector(v) => !v.ordered && transform(v, "").is_none(),
            _ => false,
        };
        let Support::Real(support) = p.prior.family.support else {
            return refuse(p.span, "what the domain leaves of this prior depends on other parameters");
        };
        if !one_by_one {
            return refuse(p.span, "what the domain leaves of this prior depends on other parameters, and is not a product of numbers");
        }
        // A half law is written as a whole one.
        let half = p.prior.family.stan.contains("(0, ");
        let end = |x: f64, least: f64| if x.is_finite() && (x != least || half) { literal(x) } else { String::new() };
        Ok(format!(" T[{}, {}]", end(cut.lo, support.lo), end(cut.hi, support.hi)))
    }

    fn declare_parameter(&self, p: &Parameter, name: &str) -> Result<String, Refusal> {
        let groups = self.each.map(|e| e.levels.len());
        let lead = groups.map_or(String::new(), |n| format!("array[{n}] "));
        let limits = self.limits(p, groups.is_some())?;
        Ok(match (&p.ty, groups) {
            (Type::Vector(v), _) if v.ordered => {
                let positive = if v.range.lo == 0.0 { "positive_" } else { "" };
                format!("{lead}{positive}ordered[{}] {name};", v.dim)
            }
            (Type::Vector(v), _) => format!("{lead}vector{limits}[{}] {name};", v.dim),
            (Type::Matrix { rows, columns, .. }, _) => format!("{lead}matrix{limits}[{rows}, {columns}] {name};"),
            (Type::Simplex { dim, .. }, _) => format!("{lead}simplex[{dim}] {name};"),
            (_, Some(n)) => format!("vector{limits}[{n}] {name};"),
            (_, None) => format!("real{limits} {name};"),
        })
    }

    /// The ends of its numbers; those of a uniform prior are what it says, which may be other values.
    fn limits(&self, p: &Parameter, grouped: bool) -> Result<String, Refusal> {
        let fixed = p.prior.args.iter().all(|a| a.constant().is_some());
        if p.prior.family.support != Support::BetweenArgs || fixed {
            return Ok(bounds(p.ty.range().unwrap_or(Range::ALL)));
        }
        let latent = p.prior.args.iter().any(|a| a.label == Label::Latent);
        let mut moved = false;
        for e in &p.prior.args {
            e.walk(&mut |x| {
                let is = |q: &&Parameter| matches!(x.kind, ExprKind::Param(id) if id == q.id);
                let of = self.model.parameters.iter().find(is);
                moved |= of.is_some_and(|q| matches!(&q.ty, Type::Vector(v) if transform(v, "").is_some()));
            });
        }
        if moved || p.truncated.is_some() || (latent && grouped) || matches!(p.ty, Type::Vector(VectorType { ordered: true, .. })) {
            return refuse(p.span, "the ends of a uniform prior that are not constants must stand alone");
        }
        let args = p.prior.args.iter().map(|e| self.expr(e, At::default())).collect::<Result<Vec<_>, _>>()?;
        let [lo, hi] = args.as_slice() else { return Ok(String::new()) };
        Ok(format!("<lower={lo}, upper={hi}>"))
    }
}
