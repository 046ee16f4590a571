//! Slice sampling, one coordinate after the other: stepping out and shrinking (Neal 2003), with bounds on both.

use super::unit;
use crate::kernel::density::Density;
use crate::mechanism::MechanismError;
use crate::mechanism::bits::BitSource;

/// Steps out of an interval on either side, and points tried in it.
const OUT: usize = 16;
const TRIES: usize = 200;
const WIDEST: f64 = 1e6;
const NARROWEST: f64 = 1e-6;

/// The last state after so many sweeps over all coordinates; widths adapt in the first half of them.
pub fn slice<B: BitSource>(density: &mut Density, start: &[f64], steps: u64, bits: &mut B) -> Result<Vec<f64>, MechanismError> {
    let mut state = start.to_vec();
    let mut widths = vec![1.0; state.len()];
    let mut height = density.value(&state);
    for sweep in 0..steps {
        for (j, width) in widths.iter_mut().enumerate() {
            let moved = coordinate(density, (&mut state, &mut height), (j, *width), bits)?;
            if sweep < steps / 2 {
                *width = (0.7 * *width + 0.9 * moved).clamp(NARROWEST, WIDEST);
            }
        }
    }
    Ok(state)
}

/// Draws one coordinate given the others; how far it went.
fn coordinate<B: BitSource>(
    density: &mut Density,
    (state, height): (&mut [f64], &mut f64),
    (j, width): (usize, f64),
    bits: &mut B,
) -> Result<f64, MechanismError> {
    let here = state.get(j).copied().unwrap_or(0.0);
    let mut at = |x: f64| {
        if let Some(place) = state.get_mut(j) {
            *place = x;
        }
        density.value(state)
    };
    let level = *height + libm::log(unit(bits)?);
    // A start without a density takes the first place that has one.
    let inside = |value: f64| if level.is_finite() { value > level } else { value.is_finite() };
    let mut low = here - width * unit(bits)?;
    let mut high = low + width;
    let left = (unit(bits)? * OUT as f64) as usize;
    for _ in 0..left {
        if !inside(at(low)) {
            break;
        }
        low -= width;
    }
    for _ in left..OUT {
        if !inside(at(high)) {
            break;
        }
        high += width;
    }
    for _ in 0..TRIES {
        let x = low + (high - low) * unit(bits)?;
        let value = at(x);
        if inside(value) {
            *height = value;
            return Ok((x - here).abs());
        }
        if x < here { low = x } else { high = x }
    }
    at(here);
    Ok(0.0)
}
