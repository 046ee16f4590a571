//! Released values beside the prior: densities of released posteriors, and released draws as marks.

use crate::dist::Distribution;
use crate::model::{Builtin, Expr, ExprKind, Parameter, Program, Query, ReleaseStep, Request, Type, releases};
use crate::plot::{Axis, Chart, Line};
use crate::run::{Posterior, marginals_from_json};
use serde_json::Value;

/// Numbers of one release that are shown: more lines than this cannot be told apart.
const SHOWN: usize = 5;
const POINTS: u32 = 240;

/// A density with the range worth looking at.
#[derive(Clone, PartialEq, Debug)]
enum Law {
    Known(Posterior),
    Prior(&'static Distribution, Vec<f64>),
}

impl Law {
    /// Nothing beyond the ends of a uniform law: it ends where it ends.
    fn density(&self, x: f64) -> f64 {
        match self {
            Law::Known(p) => p.density(x),
            Law::Prior(d, args) => d.at(args, x),
        }
    }

    fn range(&self) -> (f64, f64) {
        match self {
            Law::Known(p) => match p.quantiles(&[0.0005, 0.9995]).as_slice() {
                [lo, hi] => (*lo, *hi),
                _ => (0.0, 1.0),
            },
            Law::Prior(d, args) => d.ends(args).unwrap_or((0.0, 1.0)),
        }
    }
}

/// The numbers of an argument: one for a constant, all of a list or `rep`.
fn numbers(e: &Expr) -> Option<Vec<f64>> {
    if let Some(x) = e.constant() {
        return Some(vec![x]);
    }
    match &e.kind {
        ExprKind::List(items) => items.iter().map(Expr::constant).collect(),
        ExprKind::Call(Builtin::Rep, args) => match args.as_slice() {
            [x, n] => Some(vec![x.constant()?; (n.constant()? as usize).min(1000)]),
            _ => None,
        },
        _ => None,
    }
}

/// The prior of a component of a parameter, where its numbers are in the program.
fn prior(parameter: &Parameter, component: usize) -> Option<Law> {
    let args: Vec<Vec<f64>> = parameter.prior.args.iter().map(numbers).collect::<Option<_>>()?;
    let at = |i: usize| args.get(i).and_then(|a| a.get(component).or(a.first())).copied();
    let positive = |x: f64| (x.is_finite() && x > 0.0).then_some(x);
    Some(match parameter.prior.name() {
        "beta" => Law::Known(Posterior::Beta(positive(at(0)?)?, positive(at(1)?)?)),
        "gamma" => Law::Known(Posterior::Gamma(positive(at(0)?)?, positive(at(1)?)?)),
        "exponential" => Law::Known(Posterior::Gamma(1.0, positive(at(0)?)?)),
        "dirichlet" => {
            let counts = args.first()?;
            let sound = counts.len() > 1 && counts.iter().all(|x| positive(*x).is_some());
            Law::Known(sound.then(|| Posterior::Dirichlet(counts.clone()))?.component(component % counts.len())?)
        }
        "normal" => Law::Known(Posterior::Normal(at(0)?, positive(at(1)?)?)),
        _ => {
            let args: Vec<f64> = (0..args.len()).map(at).collect::<Option<_>>()?;
            parameter.prior.family.ends(&args)?;
            Law::Prior(parameter.prior.family, args)
        }
    })
}

/// Every number below a value, with its name.
fn leaves(value: &Value, name: &str, out: &mut Vec<(String, f64)>) {
    let inside = |key: &str| if name.is_empty() { key.to_owned() } else { format!("{name} {key}") };
    match value {
        Value::Object(parts) => parts.iter().for_each(|(k, v)| leaves(v, &inside(k), out)),
        Value::Array(items) => items.iter().enumerate().for_each(|(i, v)| leaves(v, &inside(&(i + 1).to_string()), out)),
        other => out.extend(other.as_f64().map(|x| (name.to_owned(), x))),
    }
}

/// What is drawn: densities, and marks at single numbers.
#[derive(Default)]
struct Picture {
    laws: Vec<(String, Law, bool)>,
    marks: Vec<(String, f64)>,
    /// How many numbers the release has.
    all: usize,
}

impl Picture {
    fn prior(&mut self, name: &str, law: Law) {
        if !self.laws.iter().any(|(_, known, dashed)| *dashed && *known == law) {
            self.laws.push((format!("prior of {name}"), law, true));
        }
    }

    fn chart(mut self, release: &str) -> Option<Chart> {
        let shown = if self.all > SHOWN { format!(", {SHOWN} of its {} numbers", self.all) } else { String::new() };
        let title = format!("{release} beside the prior{shown}");
        self.laws.sort_by_key(|(_, _, dashed)| *dashed);
        let (mut lo, mut hi) = (f64::INFINITY, f64::NEG_INFINITY);
        for (a, b) in self.laws.iter().map(|(_, law, _)| law.range()).chain(self.marks.iter().map(|(_, x)| (*x, *x))) {
            (lo, hi) = (lo.min(a), hi.max(b));
        }
        // A law that doubles cannot tell from a point, or that is nan, has a picture as well: whether there is one depends on no number.
        if self.laws.is_empty() && self.marks.is_empty() {
            return None;
        }
        if !((hi - lo).is_finite() && hi - lo > 1e-9 * lo.abs().max(hi.abs())) {
            let middle = if lo.is_finite() { lo } else { 0.0 };
            let half = if middle == 0.0 { 0.5 } else { 0.5 * middle.abs() };
            (lo, hi) = (middle - half, middle + half);
        }
        let at = |i: u32| lo + (hi - lo) * f64::from(i) / f64::from(POINTS);
        let mut lines: Vec<Line> = vec![];
        for (name, law, dashed) in &self.laws {
            // Densities with a pole are shown as far as they are finite.
            let points: Vec<(f64, f64)> = (0..=POINTS).map(at).map(|x| (x, law.density(x))).filter(|p| p.1.is_finite()).collect();
            lines.push(Line { name: name.clone(), points, dashed: *dashed });
        }
        // The highest inner point: what rises to a pole at an end does not flatten the rest.
        let inner = |l: &Line| l.points.iter().skip(3).rev().skip(3).map(|p| p.1).fold(0.0, f64::max);
        let top = Some(lines.iter().map(inner).fold(0.0, f64::max)).filter(|top| *top > 0.0).unwrap_or(1.0);
        lines.iter_mut().for_each(|l| l.points.retain(|p| p.1 <= 1.05 * top));
        lines.extend(self.marks.iter().map(|(name, x)| Line { name: name.clone(), points: vec![(*x, 0.0), (*x, top)], dashed: false }));
        let x = Axis { name: "value".into(), lo, hi, logarithmic: false };
        let y = Axis::around("density", [0.0, top].into_iter(), false)?;
        Some(Chart { title, x, y, lines })
    }
}

/// The chart of one release and its value as JSON; `None` where nothing has a prior that can be shown.
pub fn released(program: &Program, release: &str, value: &Value) -> Option<Chart> {
    let step: &ReleaseStep = releases(&program.steps).into_iter().find(|r| r.name == release)?;
    let Query::Posterior(model) = &step.query else { return None };
    let parameter = |id| model.parameters.iter().find(|p| p.id == id);
    let mut picture = Picture::default();
    match &model.request {
        Request::Posterior { parameter: id } => {
            let parameter = parameter(*id)?;
            let marginals = marginals_from_json(value)?;
            let inner = if let Type::Posterior(inner) = &step.ty { inner } else { &step.ty };
            let levels: Vec<String> = inner.levels().map_or_else(Vec::new, |l| l.to_vec());
            picture.all = marginals.len();
            for (i, p) in marginals.into_iter().enumerate().take(SHOWN) {
                let name = levels.get(i).map_or_else(String::new, |l| format!(" {l}"));
                picture.laws.push((format!("released{name}"), Law::Known(p), false));
                prior(parameter, i).into_iter().for_each(|law| picture.prior(&parameter.name, law));
            }
        }
        Request::Draw { parameters, .. } => {
            for id in parameters {
                let parameter = parameter(*id)?;
                let own = if parameters.len() > 1 { value.get(&parameter.name)? } else { value };
                let mut found = vec![];
                leaves(own, &parameter.name, &mut found);
                let one = parameter.ty.is_scalar_number();
                picture.all += found.len();
                for (i, (name, x)) in found.into_iter().enumerate().take(SHOWN) {
                    prior(parameter, if one { 0 } else { i }).into_iter().for_each(|law| picture.prior(&parameter.name, law));
                    picture.marks.push((format!("released draw of {name}"), x));
                }
            }
            picture.marks.truncate(SHOWN);
        }
    }
    picture.chart(release)
}
