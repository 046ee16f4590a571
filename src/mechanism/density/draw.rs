//! Draws from a log-density: what is kept of the rows, the chain, and the release of its last state.

use super::{Form, Lowered, lower};
use crate::data::Environment;
use crate::data::eval::RowScope;
use crate::data::scan::{Job, Measured};
use crate::kernel::density::{Density, Operand, RowGradients};
use crate::mechanism::bits::BitSource;
use crate::mechanism::chain::{self, Hmc, Penalty, Sgld};
use crate::mechanism::grid::Number;
use crate::mechanism::langevin::{exponent, in_threads, round};
use crate::mechanism::plan::{ChainLaw, DensityLaw};
use crate::mechanism::{MechanismError, Released};
use crate::model::{Expr, ExprKind, Label, Parameter, Range, Type};

/// What the job of a draw keeps of every row; refuses what cannot be compiled or run.
pub(in crate::mechanism) fn encode(
    job: &mut Job,
    (law, weight, columns): (&DensityLaw, f64, &[Expr]),
    rows: &RowScope,
) -> Result<(), MechanismError> {
    let lowered = lower(law, columns, rows.env, Form::Centred)?;
    chain::check_noise(&law.chain, weight)?;
    let steps = match &law.chain {
        ChainLaw::Nuts { .. } if cfg!(not(feature = "nuts")) => return Err(MechanismError::NoNuts),
        ChainLaw::Nuts { steps } | ChainLaw::Slice { steps } => steps.unwrap_or(0),
        ChainLaw::Penalty { iterations, .. } => *iterations,
        ChainLaw::Sgld { iterations, .. } => *iterations,
        ChainLaw::Hmc { iterations, steps, .. } => iterations.saturating_mul(steps.saturating_add(1)),
    };
    if steps > chain::MOST_STEPS {
        return Err(MechanismError::Steps);
    }
    Ok(job.columns(columns, lowered.program.derived, rows)?)
}

/// The last state of the chain. `rows` is a public number: that of the rows, or the least there can be.
pub(in crate::mechanism) fn draw<B: BitSource>(
    (law, weight, columns): (&DensityLaw, f64, &[Expr]),
    measured: &Measured,
    rows: u64,
    env: &dyn Environment,
    bits: &mut B,
) -> Result<Released, MechanismError> {
    let Lowered { program, parameters, linear, .. } = lower(law, columns, env, Form::Centred)?;
    let data = measured.columns.as_ref().ok_or(MechanismError::Parameter)?;
    if !(weight > 0.0 && weight.is_finite()) || data.width() != program.columns + program.derived.len() {
        return Err(MechanismError::Parameter);
    }
    let spreads: Vec<(f64, f64)> = law.parameters.iter().flat_map(spread).collect();
    let start: Vec<f64> = spreads.iter().map(|(centre, _)| *centre).collect();
    let smooth = 1.0 + weight * rows as f64;
    // Chains that pay for their answers need the losses of single rows.
    let linear = linear.filter(|_| !matches!(law.chain, ChainLaw::Penalty { .. } | ChainLaw::Hmc { .. } | ChainLaw::Sgld { .. }));
    let design = linear.as_ref().map(|l| l.design(data)).transpose()?;
    let components: Vec<f64> = in_threads(|| {
        let mut density = match linear.as_ref().zip(design.as_ref()) {
            Some((linear, design)) => Density::fused(&program, linear.fused(design)?, weight),
            None => Density::new(&program, data, weight),
        };
        let last = match &law.chain {
            ChainLaw::Nuts { steps } => chain::nuts(&mut density, &spreads, *steps, bits)?,
            ChainLaw::Slice { steps } => chain::slice(&mut density, &start, steps.unwrap_or(chain::SLICE_STEPS), bits)?,
            ChainLaw::Penalty { iterations, sigma, step, range } => {
                let step = step.unwrap_or_else(|| default_step(start.len(), smooth, *range));
                let steps = spreads.iter().map(|(_, spread)| step * spread).collect();
                let chain = Penalty { start, steps, iterations: *iterations, sigma: *sigma, range: *range, weight };
                chain::penalty(&mut density, &chain, bits)?
            }
            ChainLaw::Hmc { iterations, steps, sigma, step, range, clip, gradient_sigma } => {
                // Noise of this size on every force changes the energy of a proposal by about 1.
                let kicks = (start.len() as f64 * (*steps as f64 + 1.0)).sqrt();
                let quiet = 1.0 / (weight * gradient_sigma * kicks);
                let chain = Hmc {
                    start,
                    spreads: spreads.iter().map(|(_, spread)| *spread).collect(),
                    iterations: *iterations,
                    steps: *steps,
                    step: step.unwrap_or_else(|| default_length(*steps, smooth, *clip).min(quiet)),
                    sigma: *sigma,
                    range: *range,
                    clip: *clip,
                    gradient_sigma: *gradient_sigma,
                    weight,
                };
                chain::hmc(&mut density, &mut RowGradients::new(&program, data), &chain, bits)?
            }
            ChainLaw::Sgld { iterations, batch, clip, sigma, step } => {
                // Steps of this size lose little to the noise of their gradients.
                let share = batch.map_or(1.0, |batch| batch as f64 / rows.max(1) as f64);
                let quiet = share / (weight * sigma);
                let chain = Sgld {
                    start,
                    spreads: spreads.iter().map(|(_, spread)| *spread).collect(),
                    iterations: *iterations,
                    batch: *batch,
                    step: step.unwrap_or_else(|| (0.3 / (1.0 + (smooth - 1.0) * clip).sqrt()).min(quiet)),
                    clip: *clip,
                    sigma: *sigma,
                    weight,
                };
                chain::sgld(&program, data, &chain, bits)?
            }
        };
        let all: Vec<Operand> = law.released.iter().filter_map(|i| parameters.get(*i)).flatten().copied().collect();
        Ok::<_, MechanismError>(density.shared(&last, &all))
    })??;
    let released = law.released.iter().filter_map(|i| law.parameters.get(*i).zip(parameters.get(*i)));
    let grids = released.flat_map(|(p, value)| {
        let scale = spread(p).first().map_or(1.0, |(_, s)| *s);
        let range = p.ty.range().unwrap_or(Range::ALL);
        std::iter::repeat_n((exponent(smooth, scale.min(1.0)), range), value.len())
    });
    Ok(Released { components: components.into_iter().zip(grids).map(|(x, (e, range))| on_grid(x, e, range)).collect() })
}

/// Of the proposal, in spreads of the prior: random walks are near their best at 2.4 / sqrt(d) sds of the posterior, and
/// rows whose losses differ by `range` over a spread make that narrower than the prior.
fn default_step(dimension: usize, smooth: f64, range: f64) -> f64 {
    2.4 / (dimension.max(1) as f64).sqrt() / (1.0 + (smooth - 1.0) * range).sqrt()
}

/// Of a leapfrog step, in spreads of the prior: all together about a quarter turn in a posterior as narrow as rows of gradients
/// of the clip's size make it.
fn default_length(steps: u64, smooth: f64, clip: f64) -> f64 {
    1.5 / steps.max(1) as f64 / (1.0 + (smooth - 1.0) * clip).sqrt()
}

/// The centre and the spread of each unconstrained coordinate, from public facts about the prior: those of a normal prior
/// on the whole line, 0 and 1 otherwise.
fn spread(p: &Parameter) -> Vec<(f64, f64)> {
    let count = super::transform::coordinates(&p.ty).unwrap_or(0);
    let bound = matches!(&p.ty, Type::Simplex { .. }) || matches!(&p.ty, Type::Vector(v) if v.ordered);
    let free = p.ty.range() == Some(Range::ALL) && !bound;
    let number = |e: &Expr| match &e.kind {
        ExprKind::Number(x) => Some(*x),
        _ if e.label == Label::Public => e.constant(),
        _ => None,
    };
    let args: Vec<f64> = p.prior.args.iter().map(|e| number(e).unwrap_or(f64::NAN)).collect();
    let known = p.prior.family.about(&args).filter(|_| free);
    vec![known.filter(|(m, s)| m.is_finite() && *s > 0.0 && s.is_finite()).unwrap_or((0.0, 1.0)); count]
}

/// The nearest point of the grid inside the range; 0 is not a value of a range that only begins there.
fn on_grid(x: f64, exponent: i32, range: Range) -> Number {
    let inside = |x: f64| if x.is_nan() { 0.0 } else { x };
    let near = round(inside(x), exponent);
    let index = |end: f64, up: bool| {
        let scaled = libm::ldexp(end, -exponent);
        (if up { libm::ceil(scaled) } else { libm::floor(scaled) }) as i128
    };
    let positive = range.lo == 0.0 && range.hi == f64::INFINITY;
    let lo = if positive { 1 } else { index(range.lo, true) };
    let hi = index(range.hi, false);
    Number::new(if lo <= hi { near.index.clamp(lo, hi) } else { near.index }, exponent)
}
