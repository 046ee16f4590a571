//! Posteriors known by draws of a chain: numbers side by side, a draw a place.

use crate::mechanism::MechanismError;
use crate::mechanism::plan::Noise;
use crate::model::Type;
use crate::model::fit::Fit;
use crate::numeric::diagnostics::{Summary, quantile, rhat, summary};
use serde_json::{Value as Json, json};
use std::sync::Arc;

/// Joint draws of some numbers.
#[derive(Clone, PartialEq, Debug)]
pub struct Draws {
    pub names: Arc<Vec<String>>,
    /// One list for each number: the chains one after the other.
    pub numbers: Arc<Vec<Vec<f64>>>,
    pub chains: usize,
    /// Steps of all chains that left the level of their energy.
    pub divergences: u64,
    /// Is it one number, and no vector of one?
    pub scalar: bool,
    /// Of the parameters of a model: what their chains were of.
    pub source: Option<Arc<Chains>>,
}

/// What predictions need of the chains of a model: what was released, and where the chains were.
#[derive(Clone, PartialEq, Debug)]
pub struct Chains {
    pub of: Fit,
    pub noise: Noise,
    pub noisy: Vec<f64>,
    pub totals: Vec<f64>,
    pub states: Vec<Vec<f64>>,
    /// The share of rows that the model has beyond the bounds of a column, where its likelihood does not know of them.
    pub beyond: f64,
}

impl Draws {
    pub fn component(&self, i: usize) -> Option<Draws> {
        let (name, numbers) = (self.names.get(i)?.clone(), self.numbers.get(i)?.clone());
        Some(Draws { names: Arc::new(vec![name]), numbers: Arc::new(vec![numbers]), scalar: true, source: None, ..self.clone() })
    }

    /// How many draws there are.
    pub fn count(&self) -> usize {
        self.numbers.first().map_or(0, Vec::len)
    }

    /// The numbers of one draw.
    pub fn draw(&self, place: usize) -> Vec<f64> {
        self.numbers.iter().map(|all| all.get(place).copied().unwrap_or(f64::NAN)).collect()
    }

    /// The only number, sorted.
    pub fn sorted(&self) -> Vec<f64> {
        let mut all = self.numbers.first().cloned().unwrap_or_default();
        all.sort_by(f64::total_cmp);
        all
    }

    /// The share of draws for which the sum of some numbers is larger than that of others.
    pub fn ahead(&self, ours: &[usize], theirs: &[usize]) -> f64 {
        let sum = |places: &[usize], i: usize| -> f64 { places.iter().filter_map(|p| self.numbers.get(*p)?.get(i)).sum() };
        let larger = (0..self.count()).filter(|i| sum(ours, *i) > sum(theirs, *i)).count();
        larger as f64 / self.count() as f64
    }

    pub fn moments(&self) -> (f64, f64) {
        let all = self.numbers.first().map_or(&[][..], Vec::as_slice);
        let n = all.len() as f64;
        let mean = all.iter().sum::<f64>() / n;
        (mean, all.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0))
    }

    /// Normal laws about every draw, as wide as Silverman's rule says.
    pub fn density(&self, x: f64) -> f64 {
        let all = self.sorted();
        let n = all.len() as f64;
        let between = (quantile(&all, 0.75) - quantile(&all, 0.25)) / 1.34;
        let width = 0.9 * self.moments().1.sqrt().min(between) * n.powf(-0.2);
        all.iter().map(|y| (-0.5 * ((x - y) / width).powi(2)).exp()).sum::<f64>() / (n * width * std::f64::consts::TAU.sqrt())
    }

    /// The halves of a chain that is alone are compared as two chains.
    pub fn summaries(&self) -> Vec<Summary> {
        let halves = |all: &[f64]| all.chunks(all.len().div_ceil(2).max(1)).map(<[f64]>::to_vec).collect::<Vec<_>>();
        let one = |all: &Vec<f64>| match summary(&self.by_chain(all)) {
            s if self.chains == 1 => Summary { rhat: rhat(&halves(all)), ..s },
            s => s,
        };
        self.numbers.iter().map(one).collect()
    }

    /// Numbers of every draw, cut into chains.
    pub fn by_chain(&self, all: &[f64]) -> Vec<Vec<f64>> {
        let each = (self.count() / self.chains.max(1)).max(1);
        all.chunks(each).map(<[f64]>::to_vec).collect()
    }

    /// Numbers whose chains disagree, or are worth fewer than 400 independent draws.
    pub fn poor(&self) -> Vec<&str> {
        let bad = |s: &Summary| !(s.rhat <= 1.01 && s.ess_bulk >= 400.0 && s.ess_tail >= 400.0);
        self.names.iter().zip(self.summaries()).filter(|(_, s)| bad(s)).map(|(n, _)| n.as_str()).collect()
    }

    pub fn json(&self) -> Json {
        let one = |s: Summary| {
            json!({"mean": s.mean, "sd": s.sd, "q5": s.q5, "median": s.median, "q95": s.q95,
                "mcse": s.mcse, "rhat": s.rhat, "ess_bulk": s.ess_bulk, "ess_tail": s.ess_tail})
        };
        let numbers: serde_json::Map<String, Json> = self.names.iter().cloned().zip(self.summaries().into_iter().map(one)).collect();
        json!({"family": "draws", "chains": self.chains, "draws": self.count(), "divergences": self.divergences, "numbers": numbers})
    }
}

/// The places of what is released among the parameters, and the names of its numbers.
pub(super) fn released(of: &Fit) -> Result<Vec<(usize, Vec<String>)>, MechanismError> {
    let one = |id| {
        let (place, p) = of.parameters.iter().enumerate().find(|(_, p)| p.id == id).ok_or(MechanismError::Parameter)?;
        Ok((place, names(&p.name, &p.ty)))
    };
    of.released.iter().map(|id| one(*id)).collect()
}

/// The names of the numbers of a value.
pub(super) fn names(name: &str, ty: &Type) -> Vec<String> {
    match (ty, ty.levels()) {
        (_, Some(levels)) => levels.iter().map(|l| format!("{name}[{l}]")).collect(),
        (Type::Vector(v), None) => (1..=v.dim).map(|i| format!("{name}[{i}]")).collect(),
        (Type::Simplex { dim, .. }, None) => (1..=*dim).map(|i| format!("{name}[{i}]")).collect(),
        _ => vec![name.to_owned()],
    }
}
