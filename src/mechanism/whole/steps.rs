//! A regression in steps: what the numbers that left say of the weights, and what leaves next (rule book §20).
//!
//! Everything here is a function of the plan, of the public number of rows and of released numbers: the mechanism asks it what to
//! release next, and who reads the release asks it for the posterior.

use super::super::plan::{CURVED, CURVED_EACH, LEVEL, Law, STEP, STEPS, STEPS_OF_COUNTS, WholeFamily, WholeLaw, WholeNoise};
use super::classes::{self, Place};
use super::joined::{First, Seen};
use crate::model::links::ball::ball;
use crate::model::links::counts;
use crate::numeric::dense::{Matrix, cholesky, factor_of_inverse};
use crate::numeric::logistic::{Look, look, positive_part, symmetric};
use crate::numeric::round::{div_up, mul_down, mul_up};
use nalgebra::DVector;

type Vector = DVector<f64>;

/// Scores are cut at so many sd, and at what the weights may still be away.
const REACH: f64 = 3.0;
/// What rounding to their grid may add to how far products move, in parts of it.
const SLACK: f64 = 1.0 / (1u64 << 30) as f64;
/// Bounds and costs beyond these end the steps: doubles have room around them.
const LEAST: f64 = 1e-100;
const MOST: f64 = 1e100;
const LEAST_MU: f64 = 1e-9;
/// How often the first look is taken again with the noise that its own weights bring.
const LOOKS: usize = 10;
/// How often a step is weighed again with how far its own weights are away.
const AGAIN: usize = 4;
/// Places are far from each other beyond so many times what is open.
const OPEN: f64 = 5.0;
/// Information of a count is kept up to so many times its mean, which a step may find to be lower by this factor.
const ABOVE: f64 = 3.0;
const SLOWER: f64 = 20.0;
/// Of a step of counts that moves rates far, the part that is still to come, about.
const LEFT: f64 = 0.8;
/// A step makes the mean of counts smaller by this part at most.
const LEAST_PART: f64 = -0.98;

/// What the numbers that left say: `w = mean + factor z`, and z is normal.
#[derive(Clone, PartialEq, Debug)]
pub struct State {
    pub mean: Vector,
    pub factor: Matrix,
    pub z: Vector,
    pub spread: Matrix,
    pub law: Law,
    /// What is taken off the scores of every row before they are summed.
    pub centre: Vector,
    /// What leaves next.
    pub next: Option<Next>,
}

/// Sums over rows of `u = factor' x`, of their scores s and information k at the predictor `x'mean + u'z` (of normal rows the residual, and
/// 1), with `a = min(1, (cut / |u|)^2)`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Next {
    /// Of counts alone: how far log(y + 1/2) lies between its ends, from -1/2 to 1/2.
    Level { logs: (f64, f64), bound: f64, sd: f64 },
    /// Of `a k u u'` (places i <= j), k cut to `[0, most]`, with noise of this sd and, off the diagonal, of that over the root of 2.
    Products { cut: f64, most: f64, bound: f64, sd: f64 },
    /// Of `a s u` less the centre, s cut to `[-clip, clip]`, where the products had this `most`.
    Scores { cut: f64, clip: f64, most: f64, bound: f64, sd: f64 },
}

/// A plan, and what it says of its prior and noise.
struct Plan<'a> {
    mean: &'a [f64],
    precision: &'a [f64],
    law: Law,
    products: f64,
    scores: f64,
    most: f64,
    mu: f64,
    rows: f64,
}

/// The state after these numbers; `None` for another plan, or where doubles cannot compute the first look.
pub fn state(law: &WholeLaw, rows: f64, left: &[f64]) -> Option<State> {
    let WholeNoise::Steps { products, scores, most, mu } = law.noise else { return None };
    let (mean, precision, rows_law) = match &law.family {
        WholeFamily::Weights { mean, precision, sd, .. } => (mean, precision, Law::Normal { sd: *sd }),
        WholeFamily::Scored { mean, precision, law } => (mean, precision, *law),
        _ => return None,
    };
    let plan = Plan { mean, precision, law: rows_law, products, scores, most, mu, rows };
    let first = plan.features() * (plan.features() + 1) / 2 + mean.len();
    let (first, rest) = left.split_at_checked(first)?;
    let found = plan.first(first)?;
    let view = plan.view(&found, first);
    let cut = ((found.factor.transpose() * &found.products * &found.factor).trace() / rows).sqrt();
    plan.after(found, view, cut, rest)
}

impl Plan<'_> {
    /// How many features a row has: weights, for each of its predictors.
    fn features(&self) -> usize {
        self.mean.len() / self.law.predictors()
    }

    /// The first look: products and sums `x y` at weight 0. The noise on the products counts as noise on the sums, of the size
    /// that the weights say: an entry of `E w` has variance `products^2 / 2 (|w|^2 + w_i^2)`.
    fn first(&self, left: &[f64]) -> Option<Look> {
        let d = self.features();
        let (upper, sums) = left.split_at_checked(d * (d + 1) / 2)?;
        let upper = match self.law {
            Law::Classes { classes } => &classes::spread(upper, d, classes as usize),
            _ => upper,
        };
        // Scores at weight 0 as if they were those of a quadratic whose slope and variance are these.
        let (slope, variance) = self.law.first();
        let times = slope / variance;
        let scores: Vec<f64> = sums.iter().map(|x| times * x).collect();
        // Of trials, sums say little of weights that are far out.
        let looks = if let Law::Normal { .. } | Law::Counts { .. } = self.law { LOOKS } else { 1 };
        let mut weights = 0.0;
        let mut found = None;
        for _ in 0..looks {
            let noise = (self.scores.powi(2) + 0.5 * self.products.powi(2) * weights * (1.0 + 1.0 / d as f64)).sqrt();
            let seen = look((self.mean, self.precision), (upper, &scores), slope * times, noise * times)?;
            weights = seen.mean.norm_squared() + seen.factor.norm_squared();
            found = Some(seen);
        }
        found
    }

    /// What the first look says beside the steps; nothing of counts, whose logarithms are not what their scores are of.
    fn view(&self, found: &Look, left: &[f64]) -> Option<First> {
        let (d, (slope, variance), (_, louder)) = (self.mean.len(), self.law.first(), self.law.first_is_off()?);
        let times = slope / variance;
        let sums = times * Vector::from_row_slice(left.get(d * (d + 1) / 2..)?);
        let (own, products) = (self.scores.powi(2), 0.5 * louder * (slope * self.products).powi(2) * (1.0 + 1.0 / d as f64));
        let noise = (times.powi(2) * own, times.powi(2) * products);
        let Look { mean, factor, products, .. } = found.clone();
        Some(First { law: self.law, mean, factor, products, sums, slope: slope * times, noise, rows: self.rows })
    }

    /// The steps that have left, one after the other: each one's residuals are weighted by their precision.
    fn after(&self, first: Look, view: Option<First>, cut: f64, left: &[f64]) -> Option<State> {
        let d = self.mean.len();
        let (z, spread) = (Vector::zeros(d), Matrix::identity(d, d));
        let state = State { mean: first.mean, factor: first.factor, centre: z.clone(), z, spread, law: self.law, next: None };
        let square = cut * cut;
        if !(LEAST..=MOST).contains(&square) || self.mu < LEAST_MU {
            return Some(state);
        }
        let Some(away) = state.factor.solve_lower_triangular(&(Vector::from_row_slice(self.mean) - &state.mean)) else {
            return Some(state);
        };
        let precision = state.factor.transpose() * Matrix::from_row_slice(d, d, self.precision) * &state.factor;
        Some(match self.law {
            Law::Normal { sd } => self.residuals(state, (&away, &precision), view.as_ref(), (cut, sd), left),
            Law::Counts { shape, logs, constant } => self.counts(state, (&away, &precision), cut, (shape, logs, constant), left),
            Law::Logit { .. } | Law::Probit | Law::Cloglog | Law::Classes { .. } => {
                self.scores(state, (&away, &precision), view.as_ref(), (cut, self.law.most().0, None), left)
            }
        })
    }

    /// Steps of counts: how large they are comes first, because a score is as long as a count, and the logarithms of the first look say
    /// little of rare ones. Steps begin where the logarithms have the mean that was seen.
    fn counts(
        &self,
        mut state: State,
        prior: (&Vector, &Matrix),
        cut: f64,
        (shape, (low, high), constant): (f64, (f64, f64), Option<(usize, f64)>),
        left: &[f64],
    ) -> State {
        let sd = div_up(1.0, mul_down(LEVEL, self.mu));
        let Some((level, left)) = left.split_first() else {
            state.next = Some(Next::Level { logs: (low, high), bound: 0.5, sd });
            return state;
        };
        let (width, off) = (high - low, sd / self.rows);
        let log = |share: f64| low + width * share.clamp(off.min(1.0), 1.0);
        let seen = level / self.rows + 0.5;
        let most = ABOVE * counts::mean(counts::level(shape, log(seen)));
        let along = constant.and_then(|(place, value)| {
            let mut unit = Vector::zeros(self.mean.len());
            *unit.get_mut(place)? = 1.0 / value;
            state.factor.solve_lower_triangular(&unit)
        });
        if let Some(along) = &along {
            state.z = along * (counts::level(shape, log(seen)) - log(seen));
        }
        let plan = Plan { mu: mul_down(STEPS_OF_COUNTS, self.mu), ..*self };
        plan.scores(state, prior, None, (cut, most.min(shape), along.as_ref()), left)
    }

    /// Products and their noise, where information of at most `most` costs this part of mu.
    fn products(&self, cut: f64, most: f64, part: f64) -> Next {
        let bound = mul_up(most, mul_up(cut, cut));
        // Two positive semidefinite matrices of this norm are at most sqrt(2) times as far apart.
        let moved = mul_up(mul_up(std::f64::consts::SQRT_2.next_up(), 1.0 + SLACK), bound);
        Next::Products { cut, most, bound, sd: div_up(moved, mul_down(part, self.mu)) }
    }

    /// The sd of the noise on scores that are at most so far from their centre: two are twice as far apart.
    fn noise(&self, bound: f64) -> f64 {
        div_up(2.0 * bound, mul_down(STEP, self.mu))
    }

    /// Steps of a regression whose information changes with the weights: each time the products and then the scores at z.
    /// `along` moves the predictors of all rows by 1.
    fn scores(
        &self,
        mut state: State,
        prior: (&Vector, &Matrix),
        view: Option<&First>,
        (cut, mut steepest, along): (f64, f64, Option<&Vector>),
        mut left: &[f64],
    ) -> State {
        let (d, (_, farthest)) = (self.mean.len(), self.law.most());
        let (mut taken, mut moved) = (vec![], Vector::zeros(d));
        for step in 0..STEPS {
            let curved = self.products(cut, steepest, CURVED_EACH);
            let Next::Products { bound, sd: curved_sd, .. } = curved else { return state };
            if !(LEAST..=MOST).contains(&bound) {
                return state;
            }
            // What places that are far from the last one may be off by, for the square of the distance.
            let bent = 0.5 * self.law.bend() * steepest * self.rows * cut.powi(3) / (d as f64).powf(1.5);
            let Some((upper, rest)) = left.split_at_checked(d * (d + 1) / 2) else {
                state.next = Some(curved);
                return state;
            };
            let width = if step == 0 { 1.0 } else { (state.spread.norm_squared() / d as f64).sqrt() };
            let clip = (REACH * steepest.sqrt() + self.law.beyond() + steepest * cut * width).min(farthest);
            let bound = cut * state.surround((clip, steepest), cut);
            if !(LEAST..=MOST).contains(&bound) {
                return state;
            }
            let sd = self.noise(bound);
            let Some((scores, rest)) = rest.split_at_checked(d) else {
                state.next = Some(Next::Scores { cut, clip, most: steepest, bound, sd });
                return state;
            };
            left = rest;
            if let Law::Counts { .. } = self.law {
                steepest = self.levelled(steepest, (upper, curved_sd), cut);
            }
            let [scores, products] = [scores, upper].map(Vector::from_row_slice);
            let scores = scores + self.rows * &state.centre;
            taken.push(Taken { place: state.z.clone(), scores, products, weight: 1.0 / (sd * sd), curved_sd });
            // All steps, or only the later ones, where they say more alone.
            let ways =
                (0..taken.len()).filter_map(|from| taken.get(from..).and_then(|some| together(some, &state, prior, (cut, bent), along)));
            if let Some((best, seen)) = ways.min_by(|(a, _), (b, _)| a.factor.norm_squared().total_cmp(&b.factor.norm_squared())) {
                moved = &best.mean - &state.z;
                (state.z, state.spread) =
                    view.and_then(|view| view.beside(prior, &seen, (&best.mean, &best.factor))).unwrap_or((best.mean, best.factor));
            }
        }
        if let Law::Counts { .. } = self.law {
            state.spread = still_moving(&state.spread, prior.1, &moved, cut).unwrap_or(state.spread);
        }
        state
    }

    /// The most information of a count that the next step keeps, from what the products of this one say of the mean: so that few rows are above
    /// it, and noise is not made for many more events than there are.
    fn levelled(&self, most: f64, (upper, sd): (&[f64], f64), cut: f64) -> f64 {
        let d = self.mean.len();
        let trace = symmetric(d, upper).trace().max(2.0 * sd * (d as f64).sqrt());
        (ABOVE * trace / (self.rows * cut * cut)).clamp(most / SLOWER, most * ABOVE)
    }

    /// Steps of a linear regression: the products once, then residuals.
    fn residuals(
        &self,
        mut state: State,
        (away, precision): (&Vector, &Matrix),
        view: Option<&First>,
        (cut, own): (f64, f64),
        left: &[f64],
    ) -> State {
        let d = self.mean.len();
        let Some((upper, mut left)) = left.split_at_checked(d * (d + 1) / 2) else {
            state.next = Some(self.products(cut, 1.0, CURVED));
            return state;
        };
        let row = own * own;
        let Some(products) = positive_part(d, upper) else { return state };
        // Sums over the steps of the reciprocal of the variance: alone, times z, times the residuals.
        let (mut sure, mut place, mut pull) = (0.0, Vector::zeros(d), Vector::zeros(d));
        for step in 0..STEPS {
            let width = if step == 0 { 2.0 } else { (state.spread.norm_squared() / d as f64).sqrt() };
            let clip = (REACH * own + cut * width).min(2.0 * self.most);
            let bound = clip * cut;
            if !(LEAST..=MOST).contains(&bound) {
                return state;
            }
            let sd = self.noise(bound);
            let Some((scores, rest)) = left.split_at_checked(d) else {
                state.next = Some(Next::Scores { cut, clip, most: 1.0, bound, sd });
                return state;
            };
            left = rest;
            let weight = 1.0 / (sd * sd);
            sure += weight;
            place += weight * &state.z;
            pull += weight * Vector::from_row_slice(scores);
            let seen = (&products * &place + &pull) / (sure * row);
            let noise = 1.0 / (sure.sqrt() * row);
            // What doubles cannot use is left out.
            if let Some(found) = look((away.as_slice(), precision.as_slice()), (upper, seen.as_slice()), 1.0 / row, noise) {
                let seen = Seen { information: &found.products / row, scores: seen, noise: noise * noise };
                (state.z, state.spread) = view
                    .and_then(|view| view.beside((away, precision), &seen, (&found.mean, &found.factor)))
                    .unwrap_or((found.mean, found.factor));
            }
        }
        state
    }
}

/// A step that has left: where, its scores and products, and the reciprocal of the variance of its scores.
struct Taken {
    place: Vector,
    scores: Vector,
    products: Vector,
    weight: f64,
    curved_sd: f64,
}

/// What these steps say together: their scores are moved to the mean of their places by the mean of their products. How far the weights are
/// from there says how much flatter scores are and how much the noise of the products counts; how far the last place is, beyond what is
/// open, how much the scores may bend.
fn together(
    taken: &[Taken],
    state: &State,
    (away, precision): (&Vector, &Matrix),
    (cut, bent): (f64, f64),
    along: Option<&Vector>,
) -> Option<(Look, Seen)> {
    let d = state.mean.len();
    let sure: f64 = taken.iter().map(|t| t.weight).sum();
    let mean = |of: &dyn Fn(&Taken) -> Vector| taken.iter().map(|t| of(t) * (t.weight / sure)).reduce(|a, b| a + b);
    let (middle, products) = (mean(&|t| t.place.clone())?, mean(&|t| t.products.clone())?);
    let (moved, scores) = (positive_part(d, products.as_slice())? * &middle, mean(&|t| t.scores.clone())?);
    let beyond = |t: &Taken| (t.weight / sure) * ((&state.z - &t.place).norm_squared() - OPEN * state.spread.norm_squared()).max(0.0);
    let own = 1.0 / sure + (bent * taken.iter().map(beyond).sum::<f64>()).powi(2);
    let curved = 0.5 * taken.iter().map(|t| (t.weight / sure * t.curved_sd).powi(2)).sum::<f64>() * (1.0 + 1.0 / d as f64);
    let (mut z, mut spread) = (state.z.clone(), state.spread.clone());
    let mut found = None;
    for _ in 0..AGAIN {
        let far = (&z - &middle).norm_squared() + spread.norm_squared();
        // Between the places and weights that far away the scores rise less steeply than at the places.
        let flat = 1.0 / (1.0 + state.law.flattening() * cut * cut * far / d as f64).sqrt();
        let seen = flat * &moved + &scores;
        let noise = own + curved * far;
        let one = look((away.as_slice(), precision.as_slice()), (products.as_slice(), seen.as_slice()), flat, noise.sqrt())?;
        (z, spread) = (one.mean.clone(), one.factor.clone());
        let information = &one.products * flat;
        found = Some((one, Seen { information, scores: seen, noise }));
    }
    // Means of counts are multiplied where all predictors move: a part of the mean is a logarithm of the predictor.
    if let (Some(along), Some((one, _))) = (along, &mut found) {
        let turned = positive_part(d, products.as_slice())? * along;
        let part = turned.dot(&(&one.mean - &middle)) / turned.dot(along);
        if part.is_finite() {
            one.mean += along * (part.max(LEAST_PART).ln_1p() - part);
        }
    }
    found
}

/// The factor of a covariance whose data are off by what a step along the exponential leaves: about half of its square in the logarithm of a
/// rate, and at most as much of it as is seen where rates are far off. What the prior says stays.
fn still_moving(spread: &Matrix, precision: &Matrix, moved: &Vector, cut: f64) -> Option<Matrix> {
    let d = moved.len();
    let inverse = spread.solve_lower_triangular(&Matrix::identity(d, d))?;
    let sure = inverse.transpose() * inverse;
    let off = moved * (LEFT * (cut * moved.norm()).min(1.0));
    let told = (&sure - precision) * &off;
    let less = &told * told.transpose() / (1.0 + off.dot(&told).max(0.0));
    cholesky(sure - less).map(|lower| factor_of_inverse(&lower))
}

impl State {
    /// Puts the centre in the middle of the scores that rows can have at these weights; how far they are from there at most, in units of the cut.
    fn surround(&mut self, kept: (f64, f64), cut: f64) -> f64 {
        if let Law::Classes { classes } = self.law {
            let found = classes::ball(self.place(&self.factor.transpose(), classes as usize), cut)
                .filter(|(_, radius)| *radius > 0.0 && *radius < kept.0 * cut);
            let (centre, radius) = found.unwrap_or((Vector::zeros(self.z.len()), kept.0 * cut));
            self.centre = centre;
            return radius / cut;
        }
        let ahead = self.factor.solve_lower_triangular(&self.mean).map(|m| m + &self.z);
        let length = ahead.as_ref().map_or(f64::NAN, |a| a.norm());
        let (centre, radius) = ball(self.law, self.z.len(), kept, length * cut);
        self.centre = match ahead {
            Some(ahead) if centre != 0.0 && length > 0.0 => ahead * (centre * cut / length),
            _ => Vector::zeros(self.z.len()),
        };
        radius
    }

    /// Where rows of so many classes are looked at; `across` is the transpose of the factor.
    pub(super) fn place<'a>(&'a self, across: &'a Matrix, classes: usize) -> Place<'a> {
        Place { mean: &self.mean, across, z: &self.z, spread: &self.spread, classes }
    }

    /// The weights: their mean, and the lower triangular factor of their covariance.
    pub fn weights(&self) -> (Vector, Matrix) {
        (&self.mean + &self.factor * &self.z, &self.factor * &self.spread)
    }
}
