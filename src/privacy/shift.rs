//! Exact (epsilon, delta) of a draw whose posterior one unit shifts: the dearest of few pairs, or a certified cover (rule book §17).

use crate::numeric::round::{add_down, add_up, sub_down};
use crate::numeric::tilted::Side;
use crate::privacy::claim::Shift;
use crate::privacy::lead::Lead;
use crate::privacy::{Claim, Family, Pair, work};

/// How much farther apart than those of the corner the laws of a cell of the cover may lie.
const LOOSE: f64 = 5e-4;
/// Cells at most; the last one takes all that is left.
const CELLS: usize = 256;
/// Terms of a sum that are added one by one, and steps in which the end of a cell is found.
const TERMS: i32 = 8;
const TRIES: usize = 5;
/// Steps of the search for an epsilon: the last one is at most `NEAR`, so what is found is off by far less, from wherever the search
/// began. Then it grows by `LITTLE`, and twice as much, until it is verified.
const STEPS: u32 = 100;
const NEAR: f64 = 1e-9;
const LITTLE: f64 = 1e-14;
/// A search that is off by no more than this part is close.
const CLOSE: f64 = 0.01;
/// A height takes as long as so many points of other curves, and one of many heights as this part of a point.
const POINTS: usize = 2;
const PART: usize = 40;

/// Every ordered pair whose largest divergence bounds a release.
pub struct Curve(Vec<Side>);

impl Shift {
    /// The pair that costs most at every Rényi order.
    pub fn pair(&self) -> Pair {
        match *self {
            Shift::Beta { family, counts: (a, b), step, others } => {
                let (u, v) = ordered(a, b);
                let base = add_down(add_down(v, others), step);
                Pair::Shapes { family, coordinates: vec![(u, step), (base, -step)], total: None }
            }
            Shift::Shape { shape, step } => Pair::Shapes { family: Family::Gamma, coordinates: vec![(shape, step)], total: None },
            Shift::Rate { shape, rate, step } => Pair::Rate { shape, rate, step },
            // The total's part is subtracted and falls with the total, so both its ends are rounded up.
            Shift::Count { kept, count, step } => {
                let total = Some((add_up(kept, count), step.next_down())).filter(|(a, _)| a.is_finite());
                Pair::Shapes { family: Family::Beta, coordinates: vec![(count, step)], total }
            }
        }
    }

    pub(super) fn curve(&self) -> Curve {
        Curve(self.sides(None))
    }

    /// All sides, or one of them.
    fn sides(&self, one: Option<usize>) -> Vec<Side> {
        match *self {
            Shift::Beta { counts: (a, b), step, others, .. } => {
                let (u, v) = ordered(a, b);
                let cells = cover(u, v, others, step);
                // Both orders: x and 1 - x.
                let bases = cells.into_iter().flat_map(|(a, b)| [(a, b), (b, a)]).enumerate();
                bases.filter(|(i, _)| one.is_none_or(|one| *i == one)).map(|(_, (a, b))| Side::beta(a, b, step)).collect()
            }
            Shift::Shape { shape, step } => Side::shapes(shape, step).into_iter().skip(one.unwrap_or(0)).collect(),
            Shift::Rate { shape, rate, step } => Side::rates(shape, rate, step).into_iter().skip(one.unwrap_or(0)).collect(),
            Shift::Count { kept, count, step } => Side::counts(kept, count, step).into_iter().skip(one.unwrap_or(0)).collect(),
        }
    }
}

/// The smaller first; what is not a number stays.
fn ordered(a: f64, b: f64) -> (f64, f64) {
    if a < b { (a, b) } else { (b, a) }
}

/// Of minus twice the logarithm of the Hellinger affinity of Beta(s, t + w) and Beta(s + w, t), the part of one count x, and how
/// fast it falls: `ln Gamma(x) + ln Gamma(x + w) - 2 ln Gamma(x + w/2)`, the sum of `-ln(1 - h^2/y^2)` over y = x + h, x + h + 1, ..
/// with h = w/2; what is left of it is about an integral.
fn apart(x: f64, w: f64) -> (f64, f64) {
    let h = w / 2.0;
    let one = |y: f64| -libm::log1p(-(h / y).powi(2));
    let (mut sum, mut fall) = (0.0, 0.0);
    for y in (0..TERMS).map(|j| x + h + f64::from(j)) {
        sum += one(y);
        fall += 2.0 * h * h / (y * (y - h) * (y + h));
    }
    let y = x + h + f64::from(TERMS) - 0.5;
    (sum + 2.0 * h * libm::atanh(h / y) - y * one(y), fall + one(y))
}

/// The count, not below `least`, that is about as far apart as `far`, from a larger one on: Newton's method on the reciprocal, which
/// is almost a line.
fn count_apart(far: f64, from: f64, least: f64, w: f64) -> f64 {
    (0..TRIES).fold(from, |x, _| {
        let (found, fall) = apart(x, w);
        (x + found * (found / far - 1.0) / fall).max(least)
    })
}

/// Lower corners of cells that hold every base `(s, u + v + others - s)`, s the smaller count of the two, from u on. The divergence
/// falls in either count, so it is largest in a cell at its lower corner. How wide cells are is a matter of accuracy alone.
fn cover(u: f64, v: f64, others: f64, w: f64) -> Vec<(f64, f64)> {
    let total = add_down(add_down(u, v), others);
    // Rounded up, as the counts beyond it are those of the other order.
    let top = add_up(u, others).min((total / 2.0).next_up());
    if others == 0.0 {
        return vec![(u, sub_down(total, top))];
    }
    let limit = (apart(u, w).0 + apart(total - u, w).0) * (1.0 + LOOSE);
    let (mut cells, mut s) = (Vec::new(), u);
    loop {
        let wide = total - count_apart(limit - apart(s, w).0, total - s, total - top, w);
        let next = if wide > s && wide < top && cells.len() < CELLS { wide } else { top };
        cells.push((s, sub_down(total, next)));
        // False where one of them is not a number.
        let more = next < top;
        if !more {
            return cells;
        }
        s = next;
    }
}

/// How deep a height lies: of normal laws about as many of their sds.
fn depth(height: f64) -> f64 {
    (-height.ln()).max(0.0).sqrt()
}

/// Where a curve of this height at 0 would about fall to delta, were it that of two normal laws.
fn as_normal(height: f64, delta: f64) -> f64 {
    let mu = height * (std::f64::consts::TAU).sqrt();
    // Sds from the middle, by mu phi(x)/x^2 = delta.
    let x = (0..4).fold(2.0, |x: f64, _| (2.0 * (height / (delta * (1.0 + x * x))).ln()).max(0.0).sqrt());
    mu * (x + 0.5 * mu)
}

impl Shift {
    /// About what is lost at this epsilon over what is allowed, by the depth of the dearest side: 1 where that just costs delta. The `last` dearest
    /// side is taken for it once it was found close to there, so this may be a little less than it should.
    pub(super) fn over(&self, epsilon: f64, delta: f64, last: Option<Lead>) -> (f64, Lead) {
        let cost = |height: f64| if height < 1.0 { depth(delta) / depth(height) } else { f64::INFINITY };
        let far = |cost: f64| cost.is_nan() || (cost - 1.0).abs() > CLOSE;
        work::count(POINTS);
        if let Some((lead, side)) = last.and_then(|lead| Some((lead, self.sides(Some(lead.side)).into_iter().next()?))) {
            let found = cost(side.height(epsilon).0);
            if lead.close || far(found) {
                return (found, lead);
            }
        }
        let (side, height) = self.curve().worst(epsilon);
        let found = cost(height);
        (found, Lead { side, close: !far(found) })
    }
}

impl Claim {
    /// The same without curves beyond those that follow from Rényi divergences.
    pub fn converted(self) -> Claim {
        match self {
            Claim::Exact(shift) => Claim::Renyi(vec![shift.pair()]),
            Claim::Product(parts) => Claim::Product(parts.into_iter().map(Claim::converted).collect()),
            Claim::Max(members) => Claim::Max(members.into_iter().map(Claim::converted).collect()),
            Claim::Repeated { times, claim } => Claim::Repeated { times, claim: Box::new(claim.converted()) },
            other => other,
        }
    }
}

impl Curve {
    /// At least the largest divergence at this epsilon.
    pub fn delta(&self, epsilon: f64) -> f64 {
        self.worst(epsilon).1
    }

    /// The dearest side and what it costs, or this one if all others are seen at once to cost at most delta.
    fn dearer(&self, epsilon: f64, lead: usize, delta: f64) -> (usize, f64) {
        work::count(self.0.len() * POINTS / 4 + POINTS);
        let dear = |(i, side): &(usize, &Side)| *i == lead || !side.is_below(epsilon, delta);
        let all = self.0.iter().enumerate().filter(dear).map(|(i, side)| (i, side.height(epsilon).0));
        all.fold((lead, 0.0), |worst, side| if side.1 > worst.1 { side } else { worst })
    }

    /// Is all of it seen to be at most this? What is hardly below is not.
    pub fn at_most(&self, epsilon: f64, bound: f64) -> bool {
        work::count(self.0.len() * POINTS / 4);
        self.0.iter().all(|side| side.is_below(epsilon, bound))
    }

    /// The dearest side, and what it costs.
    fn worst(&self, epsilon: f64) -> (usize, f64) {
        work::count(self.0.len() * POINTS);
        let all = self.0.iter().map(|side| side.height(epsilon).0).enumerate();
        all.fold((0, 0.0), |worst, side| if side.1 > worst.1 { side } else { worst })
    }

    /// The same at `0, width, .., count width`.
    pub fn heights(&self, width: f64, count: u32) -> Vec<f64> {
        work::count(self.0.len() * count as usize / PART);
        let larger = |a: Vec<f64>, b: Vec<f64>| a.into_iter().zip(b).map(|(a, b)| a.max(b)).collect();
        self.0.iter().map(|side| side.heights(width, count)).reduce(larger).unwrap_or_default()
    }

    /// The least epsilon found at this delta, infinite if there is none: Newton's method on the depth of the dearest side, which is
    /// almost a line, verified on all of them.
    pub fn epsilon(&self, delta: f64, start: f64) -> f64 {
        let (mut lead, mut e, mut low, mut more) = (0, start, 0.0, LITTLE);
        for _ in 0..STEPS {
            let Some(side) = self.0.get(lead) else { return f64::INFINITY };
            let (height, fall) = side.height(e);
            work::count(POINTS);
            let (goal, now) = (depth(delta), depth(height));
            let step = if now > 0.7 { 2.0 * now * (goal - now) * height / fall } else { (height / delta).ln() * height / fall };
            if height > delta {
                low = e;
            }
            let next = match height {
                // From far beyond, where nothing is left, back by halves.
                h if h <= 1e-290 => f64::midpoint(low, e),
                h if e == 0.0 && h < 0.6 && h > delta => as_normal(h, delta),
                // Where almost everything is lost the curve says little of how far to go.
                _ => (e + step).max(low).min(2.0 * e.max(1.0)),
            };
            if (next - e).abs() > NEAR * e && more == LITTLE {
                e = next;
                continue;
            }
            e = next * (1.0 + more);
            let (worst, most) = self.dearer(e, lead, delta);
            if most <= delta {
                return e;
            }
            if worst == lead {
                more *= 2.0;
            }
            (lead, low) = (worst, e);
        }
        f64::INFINITY
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beta(a: f64, b: f64, step: f64, others: f64) -> Shift {
        Shift::Beta { family: Family::Beta, counts: (a, b), step, others }
    }

    /// Golden: the worst pair found over all data sets, in 25 digits (rule book §17).
    #[test]
    fn known_epsilons() {
        for (shift, delta, exact, room) in [
            (beta(10.71, 13.7, 1.0, 0.0), 1e-5, 1.735694142416443, 2.5e-6),
            (beta(9.56, 13.87, 1.0, 99.0), 1e-8, 2.431928260998418, 2e-4),
            (beta(17.14, 10.92, 0.333, 7.0 * 0.333), 1e-5, 0.49259351060380446, 2e-4),
            (beta(19.94, 17.6, 2.0 * 0.27, 98.0 * 0.27), 1e-6, 0.6992852673498785, 2e-4),
            (beta(19.03, 4.14, 1.0, 999.0), 1e-6, 3.5258927732873846, 2e-4),
            (beta(0.91, 2.11, 0.621, 0.0), 1e-6, 8.862966837941302, 2.5e-6),
            (beta(0.5, 1.58, 1.0, 0.0), 1e-6, 26.762555348271054, 2.5e-6),
            (Shift::Shape { shape: 0.103, step: 0.0808 }, 1e-5, 7.818377955382901, 2.5e-6),
            (Shift::Shape { shape: 18.25, step: 6.46 }, 1e-6, 9.33900611653224, 2.5e-6),
            (Shift::Shape { shape: 16.88, step: 0.403 }, 1e-3, 0.21546254482071378, 2e-6),
            (Shift::Rate { shape: 13.27, rate: 15.13, step: 5.0 }, 1e-6, 8.298131968881986, 2.5e-6),
            (Shift::Rate { shape: 526.0, rate: 29.0, step: 57.0 }, 1e-6, 689.7116477919765, 3e-6),
        ] {
            let found = shift.curve().epsilon(delta, 0.0);
            assert!(found >= exact * (1.0 - 1e-12) && found <= exact * (1.0 + room), "{shift:?}: {found}, {exact}");
            // From wherever the search begins, and back.
            for start in [1e-9, 0.9 * exact, 50.0] {
                let again = shift.curve().epsilon(delta, start);
                assert!((again / found - 1.0).abs() < 1e-6, "{shift:?} from {start}: {again}");
            }
            assert!(shift.curve().delta(found) <= delta);
            assert!(Claim::Exact(shift).epsilon(delta) <= found * (1.0 + 1e-12));
            assert!(Claim::Renyi(vec![shift.pair()]).epsilon(delta) > found, "{shift:?}: conversion does not cost more");
        }
    }

    /// What is found holds for every side, also where the search begins with the cheapest one: the first is the dearest wherever it was looked at.
    #[test]
    fn no_side_costs_more_than_delta() {
        let betas = [(0.02, 3.0), (0.5, 0.6), (3.0, 4.0), (2.0, 300.0)]
            .into_iter()
            .flat_map(|(a, b)| [(0.01, 0.0), (1.0, 0.0), (1.0, 500.0), (30.0, 40.0)].map(|(step, others)| beta(a, b, step, others)));
        let gammas = [(0.05, 0.01), (0.3, 2.0), (20.0, 0.5), (20.0, 60.0)].into_iter().flat_map(|(shape, step)| {
            [Shift::Shape { shape, step }, Shift::Rate { shape, rate: 1.0, step }, Shift::Rate { shape, rate: 50.0, step }]
        });
        let mut turned = 0;
        for (shift, delta) in betas.chain(gammas).flat_map(|shift| [1e-12, 1e-6, 1e-3, 0.03, 0.2].map(|delta| (shift, delta))) {
            let reversed = Curve(shift.sides(None).into_iter().rev().collect());
            for curve in [shift.curve(), reversed] {
                let found = curve.epsilon(delta, 0.0);
                assert!(found.is_infinite() || curve.delta(found) <= delta, "{shift:?} {delta}: {found}");
                turned += usize::from(found > 0.0 && found.is_finite() && curve.worst(found).0 != 0);
            }
        }
        assert!(turned > 50, "{turned}");
    }

    /// Every base lies above the lower corner of a cell, or does with its counts exchanged.
    #[test]
    fn the_cover_holds_every_base() {
        let bases = [(6.0, 18.0, 67.0), (20.0, 20.0, 1.0), (0.3, 40.0, 3.0), (5.0, 5.5, 0.0), (1e-3, 2.0, 1e6), (7.0, 9.0, 1e9)];
        for ((u, v, others), w) in bases.into_iter().flat_map(|base| [0.01, 1.0, 30.0].map(|w| (base, w))) {
            let cells = cover(u, v, others, w);
            assert!(cells.len() < 80, "{u} {v} {others} {w}: {}", cells.len());
            for i in 0..=10_000 {
                let x = others * f64::from(i) / 10_000.0;
                for (a, b) in [(u + x, v + (others - x)), (v + x, u + (others - x))] {
                    let (a, b) = (a.min(b) * (1.0 + 1e-12), a.max(b) * (1.0 + 1e-12));
                    assert!(cells.iter().any(|(s, t)| *s <= a && *t <= b), "{u} {v} {others}: {a} {b} in {cells:?}");
                }
            }
        }
    }

    #[test]
    fn costs_little_and_nonsense_has_no_bound() {
        assert_eq!(beta(3.0, 4.0, 1.0, 5.0).curve().epsilon(0.9, 0.0), 0.0);
        for shift in [beta(f64::NAN, 1.0, 1.0, 0.0), beta(1.0, 1.0, f64::INFINITY, 0.0), Shift::Shape { shape: -1.0, step: 1.0 }] {
            assert!(Claim::Exact(shift).epsilon(1e-6).is_infinite(), "{shift:?}");
            assert_eq!(Claim::Exact(shift).delta(1.0), 1.0);
        }
    }
}
