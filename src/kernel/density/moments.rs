//! The likelihood of released moments: noisy sums of numbers scaled to [-1, 1], of their products and of weighted squares.
//!
//! The sum over n independent rows is taken as normal with n times the mean and the covariance of one row, plus the noise; both
//! follow from moments up to the fourth of the model: normal laws, each about a sum of multiples of others, and bools. Of a single
//! normal number those moments are of its values moved into their bounds, in closed form; of several they are of the numbers
//! themselves. Laplace noise is normal noise whose variance has an exponential law, a number of the chain for each sum.

use super::OfNumbers;
use super::moved::{Moved, normal_tail};
use super::products::{Products, Square, add, at, set};
use crate::kernel::KernelError;

/// The law of one column, whose numbers follow those of the laws before it.
#[derive(Clone, PartialEq, Debug)]
pub enum Column {
    /// Intercept, a coefficient for each of these columns, standard deviation.
    Normal { of: Vec<usize> },
    /// The probability of 1.
    Bool,
}

/// What was released, and the order of the laws.
#[derive(Clone, PartialEq, Debug)]
pub struct Moments {
    /// Each column with its middle and half of its width, after those that it depends on.
    pub columns: Vec<(Column, f64, f64)>,
    /// For each sum the places of its factors and its weight.
    pub sums: Vec<(Vec<usize>, f64)>,
    pub noisy: Vec<f64>,
    pub rows: f64,
    /// The variance of the noise; times a number of the chain where it is Laplace noise.
    pub noise: f64,
    pub laplace: bool,
    /// Columns that are conditioned on, by a law that is there for their first two moments alone.
    pub given: Vec<usize>,
}

/// The same, with what does not change between two evaluations.
#[derive(Clone, PartialEq, Debug)]
pub struct Likelihood {
    of: Moments,
    products: Products,
    /// The place of the product of each sum, and of each two sums.
    places: Vec<usize>,
    seconds: Vec<Vec<usize>>,
}

impl std::ops::Deref for Likelihood {
    type Target = Moments;
    fn deref(&self) -> &Moments {
        &self.of
    }
}

/// Means and covariances of the scaled columns where the bools are what they are.
struct State {
    chance: f64,
    mean: Vec<f64>,
    by_mean: Vec<f64>,
}

impl Moments {
    /// How many numbers the laws have, and Laplace noise.
    pub fn numbers(&self) -> usize {
        let own = |c: &Column| if let Column::Normal { of } = c { of.len() + 2 } else { 1 };
        self.columns.iter().map(|(c, ..)| own(c)).sum::<usize>() + if self.laplace { self.sums.len() } else { 0 }
    }

    /// # Errors
    /// What does not fit together.
    pub fn likelihood(self) -> Result<Likelihood, KernelError> {
        let d = self.columns.len();
        let before = |(i, (c, _, half)): (usize, &(Column, f64, f64))| {
            *half > 0.0 && if let Column::Normal { of } = c { of.iter().all(|j| *j < i) } else { true }
        };
        let sums = self.sums.iter().all(|(of, _)| matches!(of.len(), 1 | 2) && of.iter().all(|i| *i < d));
        let sound = self.columns.iter().enumerate().all(before) && sums && self.noisy.len() == self.sums.len();
        if !(sound && self.noise > 0.0 && self.noise.is_finite() && self.rows > 0.0) {
            return Err(KernelError::Length);
        }
        let products = Products::new(d);
        let places = self.sums.iter().map(|(of, _)| products.place(of)).collect();
        let both = |a: &(Vec<usize>, f64)| self.sums.iter().map(|(b, _)| products.place(&[a.0.as_slice(), b].concat())).collect();
        let seconds = self.sums.iter().map(both).collect();
        Ok(Likelihood { of: self, products, places, seconds })
    }

    /// Given the means of the sums and of their products, of one row: the loss and its derivatives by these and by the noises.
    fn sums(&self, mean: &[f64], second: &Square, noises: &[f64]) -> Option<(f64, Vec<f64>, Square, Vec<f64>)> {
        let (n, d) = (self.rows, mean.len());
        let mut v = Square::new(d);
        for i in 0..d {
            for j in 0..d {
                v.add(i, j, n * (second.at(i, j) - at(mean, i) * at(mean, j)));
            }
            v.add(i, i, self.noise * noises.get(i).copied().unwrap_or(1.0));
        }
        let l = v.factor();
        let rest: Vec<f64> = self.noisy.iter().zip(mean).map(|(y, m)| y - n * m).collect();
        let a = l.solve(&rest);
        let log = -(0..d).map(|i| l.at(i, i).ln()).sum::<f64>() - 0.5 * rest.iter().zip(&a).map(|(r, a)| r * a).sum::<f64>();
        if !log.is_finite() {
            return None;
        }
        // Derivatives of the logarithm by the covariance, then of the loss.
        let mut by_second = Square::new(d);
        for j in 0..d {
            let unit: Vec<f64> = (0..d).map(|i| f64::from(u8::from(i == j))).collect();
            for (i, inverse) in l.solve(&unit).into_iter().enumerate() {
                by_second.add(i, j, -0.5 * n * (at(&a, i) * at(&a, j) - inverse));
            }
        }
        let by_mean = (0..d).map(|i| -n * at(&a, i) - 2.0 * (0..d).map(|j| by_second.at(i, j) * at(mean, j)).sum::<f64>()).collect();
        let by_noise = (0..noises.len()).map(|i| by_second.at(i, i) / n * self.noise).collect();
        Some((-log, by_mean, by_second, by_noise))
    }

    /// One normal number, moved into its bounds.
    fn one(&self, laws: &[f64], noises: &[f64], (middle, half): (f64, f64), by: &mut [f64]) -> Option<f64> {
        let [m, sd] = laws else { return None };
        let (m, sd) = ((m - middle) / half, sd / half);
        if sd.is_nan() || sd <= 0.0 {
            return None;
        }
        let moved = Moved::new(m, sd);
        let power = |of: &[usize]| of.len();
        let d = self.sums.len();
        let mean: Vec<f64> = self.sums.iter().map(|(of, w)| w * moved.mean(power(of)).0).collect();
        let mut second = Square::new(d);
        for (i, (a, v)) in self.sums.iter().enumerate() {
            for (j, (b, w)) in self.sums.iter().enumerate() {
                second.add(i, j, v * w * moved.mean(power(a) + power(b)).0);
            }
        }
        let (loss, by_mean, by_second, by_noise) = self.sums(&mean, &second, noises)?;
        let (mut by_m, mut by_sd) = (0.0, 0.0);
        let mut back = |power: usize, g: f64| {
            let (_, m, sd) = moved.mean(power);
            by_m += g * m;
            by_sd += g * sd;
        };
        for (i, (a, v)) in self.sums.iter().enumerate() {
            back(power(a), v * at(&by_mean, i));
            for (j, (b, w)) in self.sums.iter().enumerate() {
                back(power(a) + power(b), v * w * by_second.at(i, j));
            }
        }
        set(by, 0, by_m / half);
        set(by, 1, by_sd / half);
        by_noise.into_iter().enumerate().for_each(|(i, g)| set(by, 2 + i, g));
        Some(loss)
    }

    /// Where the numbers of each law begin.
    fn starts(&self) -> Vec<usize> {
        let size = |c: &Column| if let Column::Normal { of } = c { of.len() + 2 } else { 1 };
        let before = |next: &mut usize, (c, ..): &(Column, f64, f64)| {
            let start = *next;
            *next += size(c);
            Some(start)
        };
        self.columns.iter().scan(0, before).collect()
    }

    fn scaled(&self, i: usize) -> (f64, f64) {
        self.columns.get(i).map_or((0.0, 1.0), |(_, middle, half)| (*middle, *half))
    }

    fn bools(&self) -> Vec<usize> {
        self.columns.iter().enumerate().filter(|(_, (c, ..))| *c == Column::Bool).map(|(i, _)| i).collect()
    }

    /// Covariances in units of the columns, and every state of the bools. Covariances do not depend on the state, means do.
    fn states(&self, laws: &[f64]) -> Option<(Square, Vec<State>)> {
        let (d, bools, starts) = (self.columns.len(), self.bools(), self.starts());
        let number = |i: usize, k: usize| at(laws, starts.get(i).copied().unwrap_or(0) + k);
        let mut s = Square::new(d);
        for (i, (c, ..)) in self.columns.iter().enumerate() {
            let Column::Normal { of } = c else { continue };
            for j in 0..i {
                let x = of.iter().enumerate().map(|(k, l)| number(i, k + 1) * s.at(*l, j)).sum::<f64>();
                s.add(i, j, x);
                s.add(j, i, x);
            }
            let sd = number(i, of.len() + 1);
            if sd.is_nan() || sd <= 0.0 {
                return None;
            }
            let x = sd * sd + of.iter().enumerate().map(|(k, l)| number(i, k + 1) * s.at(*l, i)).sum::<f64>();
            s.add(i, i, x);
        }
        let mut states = vec![];
        for k in 0..1usize << bools.len() {
            let on = |i: usize| bools.iter().position(|b| *b == i).is_some_and(|p| k >> p & 1 == 1);
            let (mut mean, mut chance) = (vec![0.0; d], 1.0);
            for (i, (c, ..)) in self.columns.iter().enumerate() {
                let x = match c {
                    Column::Bool => {
                        let p = number(i, 0);
                        chance *= if on(i) { p } else { 1.0 - p };
                        f64::from(u8::from(on(i)))
                    }
                    Column::Normal { of } => {
                        number(i, 0) + of.iter().enumerate().map(|(k, l)| number(i, k + 1) * at(&mean, *l)).sum::<f64>()
                    }
                };
                set(&mut mean, i, x);
            }
            let scaled = |i| (at(&mean, i) - self.scaled(i).0) / self.scaled(i).1;
            states.push(State { chance, mean: (0..d).map(scaled).collect(), by_mean: vec![0.0; d] });
        }
        Some((s, states))
    }

    /// The largest share of rows that one of several numbers has beyond its bounds.
    pub fn beyond(&self, numbers: &[f64]) -> f64 {
        let Some((s, states)) = self.states(numbers).filter(|_| self.columns.len() > 1) else { return 0.0 };
        let share = |i: usize| {
            let sd = s.at(i, i).sqrt() / self.scaled(i).1;
            let outside = |x: &State| {
                let m = at(&x.mean, i);
                x.chance * (normal_tail((1.0 - m) / sd) + normal_tail((1.0 + m) / sd))
            };
            states.iter().map(outside).sum::<f64>()
        };
        let normals = self.columns.iter().enumerate().filter(|(i, (c, ..))| *c != Column::Bool && !self.given.contains(i));
        normals.map(|(i, _)| share(i)).fold(0.0, f64::max)
    }
}

impl OfNumbers for Likelihood {
    fn total(&self, numbers: &[f64], by: &mut Vec<f64>) -> f64 {
        by.clear();
        by.resize(numbers.len(), 0.0);
        let own = numbers.len() - if self.laplace { self.sums.len().min(numbers.len()) } else { 0 };
        let (laws, noises) = numbers.split_at(own);
        let loss = match self.columns.as_slice() {
            [(Column::Normal { of }, middle, half)] if of.is_empty() => self.one(laws, noises, (*middle, *half), by),
            _ => self.several(laws, noises, by),
        };
        let Some(loss) = loss.filter(|l| l.is_finite() && by.iter().all(|b| b.is_finite())) else {
            by.fill(0.0);
            return f64::INFINITY;
        };
        loss
    }
}

impl Likelihood {
    fn several(&self, laws: &[f64], noises: &[f64], by: &mut [f64]) -> Option<f64> {
        let (d, bools, starts) = (self.columns.len(), self.bools(), self.starts());
        let number = |i: usize, k: usize| at(laws, starts.get(i).copied().unwrap_or(0) + k);
        let scaled = |i: usize| self.scaled(i);
        let (s, mut states) = self.states(laws)?;
        let mut scaled_s = Square::new(d);
        for i in 0..d {
            for j in 0..d {
                scaled_s.add(i, j, s.at(i, j) / (scaled(i).1 * scaled(j).1));
            }
        }
        let products: Vec<Vec<f64>> = states.iter().map(|x| self.products.means(&x.mean, &scaled_s)).collect();
        let all = |place: usize| states.iter().zip(&products).map(|(x, p)| x.chance * at(p, place)).sum::<f64>();
        let weight = |i: usize| self.sums.get(i).map_or(0.0, |(_, w)| *w);
        let place = |i: usize, j: usize| self.seconds.get(i).and_then(|row| row.get(j)).copied().unwrap_or(usize::MAX);
        let count = self.places.len();
        let mean: Vec<f64> = self.places.iter().enumerate().map(|(i, p)| weight(i) * all(*p)).collect();
        let mut second = Square::new(count);
        for i in 0..count {
            for j in 0..=i {
                let x = weight(i) * weight(j) * all(place(i, j));
                second.add(i, j, x);
                if i != j {
                    second.add(j, i, x);
                }
            }
        }
        let (loss, by_mean, by_second, by_noise) = self.sums(&mean, &second, noises)?;
        // Backwards: sums, products, states, laws.
        let mut by_products = vec![0.0; self.products.terms.len()];
        for (i, p) in self.places.iter().enumerate() {
            add(&mut by_products, *p, weight(i) * at(&by_mean, i));
            for j in 0..=i {
                let twice = if i == j { 1.0 } else { 2.0 };
                add(&mut by_products, place(i, j), weight(i) * weight(j) * twice * by_second.at(i, j));
            }
        }
        let (mut by_s, mut by_chance) = (Square::new(d), vec![0.0; states.len()]);
        for (k, (x, means)) in states.iter_mut().zip(&products).enumerate() {
            set(&mut by_chance, k, by_products.iter().zip(means).map(|(g, m)| g * m).sum());
            let mut by: Vec<f64> = by_products.iter().map(|g| g * x.chance).collect();
            self.products.back((&x.mean, &scaled_s, means), &mut by, &mut x.by_mean, &mut by_s);
        }
        let mut by_raw = Square::new(d);
        for i in 0..d {
            for j in 0..d {
                by_raw.add(i, j, by_s.at(i, j) / (scaled(i).1 * scaled(j).1));
            }
        }
        for (i, (c, ..)) in self.columns.iter().enumerate().rev() {
            let start = starts.get(i).copied().unwrap_or(0);
            let Column::Normal { of } = c else {
                let p = number(i, 0);
                for (k, x) in states.iter().enumerate() {
                    let on = bools.iter().position(|b| *b == i).is_some_and(|p| k >> p & 1 == 1);
                    let (own, sign) = if on { (p, 1.0) } else { (1.0 - p, -1.0) };
                    add(by, start, sign * at(&by_chance, k) * x.chance / own);
                }
                continue;
            };
            let (g, sd) = (by_raw.at(i, i), number(i, of.len() + 1));
            add(by, start + of.len() + 1, 2.0 * sd * g);
            for (k, l) in of.iter().enumerate() {
                add(by, start + k + 1, g * s.at(*l, i));
                // Of the covariance with itself: the one on the right depends on the laws before.
                let (lo, hi) = (*l.min(&i), *l.max(&i));
                by_raw.add(hi, lo, g * number(i, k + 1));
            }
            for j in 0..i {
                let g = by_raw.at(i, j) + by_raw.at(j, i);
                for (k, l) in of.iter().enumerate() {
                    add(by, start + k + 1, g * s.at(*l, j));
                    by_raw.add(*l.max(&j), *l.min(&j), g * number(i, k + 1));
                }
            }
            for x in &mut states {
                let g = at(&x.by_mean, i) / scaled(i).1;
                add(by, start, g);
                for (k, l) in of.iter().enumerate() {
                    let (middle, half) = scaled(*l);
                    add(by, start + k + 1, g * (at(&x.mean, *l) * half + middle));
                    add(&mut x.by_mean, *l, g * number(i, k + 1) * half);
                }
            }
        }
        by_noise.into_iter().enumerate().for_each(|(i, g)| set(by, laws.len() + i, g));
        Some(loss)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::moved::normal;
    use super::*;

    fn normal_column(of: &[usize]) -> Column {
        Column::Normal { of: of.to_vec() }
    }

    fn moments(columns: Vec<(Column, f64, f64)>, laplace: bool) -> Likelihood {
        let d = columns.len();
        let w = if d == 1 { 1.6 } else { 0.707 };
        let pairs = (0..d).flat_map(|i| (i..d).map(move |j| (vec![i, j], if i == j { w } else { 1.0 })));
        let sums: Vec<(Vec<usize>, f64)> = (0..d).map(|i| (vec![i], 1.0)).chain(pairs).collect();
        let noisy = (0..sums.len()).map(|i| 3.0 + 7.0 * (i as f64 * 1.7).sin()).collect();
        Moments { columns, sums, noisy, rows: 200.0, noise: 30.0, laplace, given: vec![] }.likelihood().unwrap()
    }

    #[test]
    fn derivatives_are_those_of_differences() {
        let one = moments(vec![(normal_column(&[]), 50.0, 50.0)], false);
        let laplace = moments(vec![(normal_column(&[]), 5.0, 10.0)], true);
        let three = moments(vec![(normal_column(&[]), 50.0, 50.0), (Column::Bool, 0.5, 0.5), (normal_column(&[0, 1]), 1.0, 4.0)], false);
        let chain =
            moments(vec![(normal_column(&[]), 0.0, 2.0), (normal_column(&[0]), 0.0, 3.0), (normal_column(&[1, 0]), 1.0, 4.0)], true);
        let bools = moments(vec![(Column::Bool, 0.5, 0.5), (Column::Bool, 0.5, 0.5), (normal_column(&[1, 0]), 0.0, 1.0)], false);
        let cases = [
            (&one, vec![62.0, 31.0]),
            (&laplace, vec![4.0, 3.0, 0.7, 1.9]),
            (&three, vec![45.0, 12.0, 0.3, 0.4, 0.02, 1.1, 0.8]),
            (&chain, vec![0.2, 0.7, 0.1, 0.8, 0.9, -0.3, 0.5, 0.4, 0.6, 1.0, 0.3, 2.0, 0.7, 1.5, 0.4, 0.9, 1.1, 0.2]),
            (&bools, vec![0.4, 0.7, 0.1, 0.2, -0.3, 0.25]),
        ];
        for (of, numbers) in cases {
            assert_eq!(of.numbers(), numbers.len());
            let mut by = vec![];
            assert!(of.total(&numbers, &mut by).is_finite());
            for i in 0..numbers.len() {
                let moved = |h: f64| {
                    let mut x = numbers.clone();
                    x[i] += h;
                    of.total(&x, &mut vec![])
                };
                let h = 1e-5 * numbers[i].abs().max(0.1);
                let slope = (moved(h) - moved(-h)) / (2.0 * h);
                assert!((by[i] - slope).abs() < 1e-5 * (1.0 + slope.abs()), "{i}: {} {slope}", by[i]);
            }
        }
    }

    /// The covariance of one row, by sums over both bools and a grid of normal numbers.
    #[test]
    fn products_of_several_numbers() {
        let of = moments(vec![(Column::Bool, 0.5, 0.5), (normal_column(&[0]), 1.0, 2.0)], false);
        let numbers = [0.3, 0.4, 1.1, 0.6];
        let (mut mean, steps) = ([0.0; 4], 20_000);
        for t in [0.0, 1.0] {
            for i in 0..steps {
                let z = -9.0 + 18.0 * (i as f64 + 0.5) / steps as f64;
                let weight = if t == 1.0 { 0.3 } else { 0.7 } * normal(z) * 18.0 / steps as f64;
                let (u, v) = (2.0 * t - 1.0, (0.4 + 1.1 * t + 0.6 * z - 1.0) / 2.0);
                [u, v, u * v, u * v * v * v].iter().zip(&mut mean).for_each(|(x, m)| *m += weight * x);
            }
        }
        // Where the noise is nearly all, the loss is least at the means of the rows.
        let far = |noisy: Vec<f64>| Moments { noisy, noise: 1e9, ..of.of.clone() }.likelihood().unwrap().total(&numbers, &mut vec![]);
        let own = [mean[0], mean[1], 0.707, mean[2], 0.0];
        let at: Vec<f64> = own.iter().map(|m| m * 200.0).collect();
        for i in [0, 1, 3] {
            let moved = |h: f64| {
                let mut x = at.clone();
                x[i] += h;
                far(x)
            };
            assert!((moved(1e4) - moved(-1e4)).abs() < 1e-6 * (moved(1e4) - far(at.clone())).abs() + 1e-7, "{i}");
        }
    }
}
