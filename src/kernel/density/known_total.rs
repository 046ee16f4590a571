//! The law of noisy counts whose total is known, summed over all counts: where the normal law of their sum would be too coarse.

use super::noise::STEEP;
use super::noisy_count::NoisyCount;

/// A group whose counts vary less than this, for the root of the number of groups, is summed: the normal law of a sum of variance V is off by
/// about a part in 10 V, the same way in many groups.
const LEAST_VARIANCE: f64 = 4.0;
const ALWAYS: f64 = 6.0;
/// Products of chances that one evaluation of a group may take.
const MOST: usize = 1 << 18;
/// Logarithms of the factorials of larger totals lose the digits that chains need.
const LARGEST: u64 = 1 << 30;
/// Terms below this part of the largest are left out.
const SMALL: f64 = 1e-18;

/// The noisy counts of a group: `sum over c of Multinomial(c; N, p) prod g(noisy_i - c_i)`.
pub struct KnownTotal {
    total: usize,
    /// Of each cell the counts that its noise allows, as the first, and `ln g(noisy - c) / c!` for each of them.
    cells: Vec<Chances>,
    pair: Option<Pair>,
    scale: f64,
}

/// Neighbouring whole numbers from the first on, with their chances.
type Chances = (usize, Vec<f64>);

/// Two cells, where each count of the first says that of the second.
struct Pair {
    /// The least count of the first.
    from: usize,
    /// The logarithm of what all but the shares give each count, and what each is of the one before.
    logs: Vec<f64>,
    steps: Vec<f64>,
}

/// The logarithm of the law, and the expected counts given all noisy counts.
pub struct Summed {
    pub log: f64,
    pub means: Vec<f64>,
}

impl KnownTotal {
    /// One of so many groups; `None` where the normal law of the sum is near enough, or the noise has no list of chances.
    pub fn of(law: &NoisyCount, noisy: &[i64], total: u64, groups: usize) -> Option<KnownTotal> {
        let (reach, variance) = law.reach()?;
        let (n, cells) = (total as f64, noisy.len() as f64);
        let varies = n * variance / (n / cells + variance);
        let near = varies >= ALWAYS.max(LEAST_VARIANCE * (groups as f64).sqrt());
        if total == 0 || total > LARGEST || (noisy.len() != 2 && near) || noisy.len() < 2 {
            return None;
        }
        let top = i64::try_from(total).ok()?;
        let listed = |noisy: &i64| {
            let (from, to) = (noisy.saturating_sub(reach).max(0), noisy.saturating_add(reach).min(top));
            let log = |c: i64| law.log_noise(noisy - c) - libm::lgamma(c as f64 + 1.0);
            // A count that its noise cannot make.
            (from <= to).then(|| (from as usize, (from..=to).map(log).collect::<Vec<f64>>()))
        };
        let cells = noisy.iter().map(listed).collect::<Option<Vec<_>>>()?;
        let scale = libm::lgamma(n + 1.0);
        let total = total as usize;
        if let [(a, first), (b, second)] = cells.as_slice() {
            // Counts of the first that the second allows.
            let from = (*a).max((total + 1).saturating_sub(b + second.len()));
            let to = (a + first.len()).min((total + 1).saturating_sub(*b));
            let log = |c: usize| Some(first.get(c.checked_sub(*a)?)? + second.get((total - c).checked_sub(*b)?)?);
            let logs = (from..to).map(log).collect::<Option<Vec<f64>>>()?;
            // Differences of logarithms of large factorials have few digits.
            let [y, z] = [noisy.first(), noisy.last()].map(|y| y.copied().unwrap_or(0));
            let step = |c: usize| {
                let (here, left) = (c as i64, (total - c) as i64);
                let noise = law.log_noise(y - here - 1) - law.log_noise(y - here) + law.log_noise(z - left + 1) - law.log_noise(z - left);
                noise.clamp(-STEEP, STEEP).exp() * left as f64 / (here + 1) as f64
            };
            let steps = (from..to.saturating_sub(1)).map(step).collect();
            let pair = (!logs.is_empty()).then_some(Pair { from, logs, steps })?;
            return Some(KnownTotal { total, cells, pair: Some(pair), scale });
        }
        let work: usize = cells.iter().map(|(_, logs)| logs.len()).sum::<usize>().checked_mul(2 * (total + 1))?;
        (work <= MOST).then_some(KnownTotal { total, cells, pair: None, scale })
    }

    /// At these logarithms of shares, which sum to 1.
    pub fn sum(&self, log_shares: &[f64]) -> Summed {
        if let (Some(pair), [a, b]) = (&self.pair, log_shares) {
            let (log, mean) = pair.sum(self.total, (*a, *b));
            return Summed { log: log + self.scale, means: vec![mean, self.total as f64 - mean] };
        }
        let (chances, most) = self.chances(log_shares);
        let mut means = vec![];
        let mut log = f64::NAN;
        for ((first, own), others) in chances.iter().zip(self.others(&chances)) {
            let (mut sum, mut mean) = (0.0, 0.0);
            for (c, chance) in (*first..).zip(own) {
                let both = chance * at(&others, self.total - c);
                sum += both;
                mean += c as f64 * both;
            }
            means.push(mean / sum);
            log = sum.ln() + most + self.scale;
        }
        Summed { log, means }
    }

    /// For each cell the logarithm of the probability of its noisy count, given those of all others.
    pub fn each(&self, log_shares: &[f64], law: &NoisyCount, noisy: &[i64]) -> Vec<f64> {
        let (chances, _) = self.chances(log_shares);
        let one = |(((first, others), share), noisy): ((Chances, &f64), &i64)| {
            let counts = (0..=self.total.saturating_sub(first)).rev();
            let terms = counts.zip(&others).map(|(c, p)| (c, power(c, *share) - libm::lgamma(c as f64 + 1.0) + p.ln()));
            let terms: Vec<(usize, f64)> = terms.filter(|(_, log)| *log > f64::NEG_INFINITY).collect();
            let most = terms.iter().map(|(_, log)| *log).fold(f64::NEG_INFINITY, f64::max);
            let (mut all, mut seen) = (0.0, 0.0);
            for (c, log) in terms {
                let weight = (log - most).exp();
                all += weight;
                seen += weight * law.log_noise(noisy - c as i64).exp();
            }
            (seen / all).ln()
        };
        self.others(&chances).into_iter().zip(log_shares).zip(noisy).map(one).collect()
    }

    /// Of each cell the chances of its counts, in parts of the largest, and the sum of the logarithms of those.
    fn chances(&self, log_shares: &[f64]) -> (Vec<Chances>, f64) {
        let mut most = 0.0;
        let one = |((first, logs), share): (&Chances, &f64)| {
            let logs: Vec<f64> = (*first..).zip(logs).map(|(c, log)| log + power(c, *share)).collect();
            let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            most += largest;
            (*first, logs.iter().map(|log| if *log > f64::NEG_INFINITY { (log - largest).exp() } else { 0.0 }).collect())
        };
        let chances = self.cells.iter().zip(log_shares).map(one).collect();
        (chances, most)
    }

    /// Of each cell the chances of the sums of all others.
    fn others(&self, chances: &[Chances]) -> Vec<Chances> {
        if let [a, b] = chances {
            return vec![b.clone(), a.clone()];
        }
        let none = || {
            let mut sums = vec![0.0; self.total + 1];
            sums.first_mut().into_iter().for_each(|p| *p = 1.0);
            sums
        };
        let with = |sums: &[f64], (first, own): &Chances| {
            let mut out = vec![0.0; sums.len()];
            for (c, chance) in (*first..).zip(own).filter(|(_, chance)| **chance > 0.0) {
                out.iter_mut().skip(c).zip(sums).for_each(|(out, p)| *out += chance * p);
            }
            out
        };
        let running = |order: &mut dyn Iterator<Item = &Chances>| {
            let mut sums = vec![none()];
            for cell in order {
                sums.extend(sums.last().map(|before| with(before, cell)));
            }
            sums
        };
        let (before, after) = (running(&mut chances.iter()), running(&mut chances.iter().rev()));
        let after = after.iter().rev().skip(1);
        before.iter().zip(after).map(|(before, after)| (0, product(before, after))).collect()
    }
}

fn at((first, chances): &Chances, i: usize) -> f64 {
    i.checked_sub(*first).and_then(|i| chances.get(i)).copied().unwrap_or(0.0)
}

/// The chances of the sum of two sums.
fn product(a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; a.len()];
    for (i, p) in a.iter().enumerate().filter(|(_, p)| **p > 0.0) {
        out.iter_mut().skip(i).zip(b).for_each(|(out, q)| *out += p * q);
    }
    out
}

/// `c a`, where 0 times an infinite a is 0.
fn power(c: usize, a: f64) -> f64 {
    if c == 0 { 0.0 } else { c as f64 * a }
}

impl Pair {
    /// The logarithm of the sum of `exp(logs + c a + (n - c) b)` over c, and the mean of c. The terms rise to one mode and fall from there.
    fn sum(&self, n: usize, (a, b): (f64, f64)) -> (f64, f64) {
        let Pair { from, logs, steps } = self;
        let odds = (a - b).exp();
        let mode = steps.partition_point(|step| odds * step >= 1.0);
        let (mut sum, mut away) = (1.0, 0.0);
        let mut add = |far: f64, term: f64| {
            sum += term;
            away += far * term;
            term < SMALL
        };
        let (below, above) = steps.split_at(mode);
        let mut term = 1.0;
        for (far, step) in (1u32..).zip(above) {
            term *= odds * step;
            if add(f64::from(far), term) {
                break;
            }
        }
        let mut term = 1.0;
        for (far, step) in (1u32..).zip(below.iter().rev()) {
            term /= odds * step;
            if add(-f64::from(far), term) {
                break;
            }
        }
        let c = from + mode;
        let top = logs.get(mode).map_or(f64::NEG_INFINITY, |log| log + power(c, a) + power(n - c, b));
        (top + sum.ln(), c as f64 + away / sum)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Cells, Noise};
    use super::*;

    /// All tables of so many rows in the cells.
    fn tables(cells: usize, n: usize) -> Vec<Vec<usize>> {
        if cells == 1 {
            return vec![vec![n]];
        }
        (0..=n).flat_map(|c| tables(cells - 1, n - c).into_iter().map(move |rest| [vec![c], rest].concat())).collect()
    }

    /// By the definition: the law, expected counts, and the law of each noisy count given the others.
    fn listed(law: &NoisyCount, noisy: &[i64], n: usize, p: &[f64]) -> (f64, Vec<f64>) {
        let (mut all, mut means) = (0.0, vec![0.0; p.len()]);
        for table in tables(p.len(), n) {
            let mut chance = libm::lgamma(n as f64 + 1.0).exp();
            for ((c, p), y) in table.iter().zip(p).zip(noisy) {
                chance *= p.powi(*c as i32) / libm::lgamma(*c as f64 + 1.0).exp() * law.log_noise(y - *c as i64).exp();
            }
            all += chance;
            means.iter_mut().zip(&table).for_each(|(m, c)| *m += *c as f64 * chance);
        }
        (all, means.into_iter().map(|m| m / all).collect())
    }

    const CASES: [(&[f64], &[i64], usize); 7] = [
        (&[0.1, 0.9], &[1, 0], 1),
        (&[0.3, 0.7], &[4, 1], 2),
        (&[0.5, 0.5], &[-3, 9], 5),
        (&[0.98, 0.02], &[20, 3], 23),
        (&[0.2, 0.3, 0.5], &[2, 0, -1], 3),
        (&[0.2, 0.3, 0.4, 0.1], &[5, 2, 4, 0], 9),
        (&[0.6, 0.1, 0.3], &[0, 6, 3], 12),
    ];
    const NOISES: [Noise; 4] = [
        Noise::Geometric { scale: 0.5 },
        Noise::Geometric { scale: 2.0 },
        Noise::RoundedGaussian { sigma: 0.7 },
        Noise::RoundedGaussian { sigma: 4.0 },
    ];

    #[test]
    fn sums_are_those_of_all_tables() {
        for noise in NOISES {
            let law = NoisyCount::new(noise, 1).unwrap();
            for (p, noisy, n) in CASES {
                let logs: Vec<f64> = p.iter().map(|p| p.ln()).collect();
                // As if there were many groups.
                let known = KnownTotal::of(&law, noisy, n as u64, 1000).unwrap();
                let (Summed { log, means }, (all, expected)) = (known.sum(&logs), listed(&law, noisy, n, p));
                assert!((log - all.ln()).abs() < 1e-9 * (1.0 + all.ln().abs()), "{noise:?} {noisy:?}: {log} {}", all.ln());
                assert!(means.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-9 * (1.0 + b)), "{means:?} {expected:?}");
                for (i, found) in known.each(&logs, &law, noisy).into_iter().enumerate() {
                    let with = |y: i64| {
                        let mut moved = noisy.to_vec();
                        moved[i] = y;
                        listed(&law, &moved, n, p).0
                    };
                    let given: f64 = (-60..=60 + n as i64).map(with).sum();
                    assert!((found - (all / given).ln()).abs() < 1e-7, "{noise:?} {noisy:?} {i}: {found} {}", (all / given).ln());
                }
            }
        }
    }

    /// Posteriors of log-odds t under a normal prior of sd 1.5, for two noisy cells of 20 rows of a table: as by listing, with their slopes.
    #[test]
    fn posteriors_of_two_cells() {
        for noise in NOISES {
            let law = NoisyCount::new(noise, 1).unwrap();
            for noisy in [[0, 20], [2, 17], [6, 19], [10, 10], [-2, 21]] {
                let mut table = Cells::new(NoisyCount::new(noise, 1).unwrap(), &noisy, &[Some(0); 2], &[20]).unwrap();
                for i in 0..120 {
                    let t = -6.0 + 0.1 * f64::from(i);
                    let shares = |t: f64| [-(-t).exp().ln_1p(), -t.exp().ln_1p()];
                    let mut seeds = vec![];
                    let found = -table.total(&shares(t).map(|l| -l), &mut seeds);
                    let exact = listed(&law, &noisy, 20, &shares(t).map(f64::exp)).0.ln();
                    assert!((found - exact).abs() < 1e-9 * (1.0 + exact.abs()), "{noise:?} {noisy:?} {t}: {found} {exact}");
                    let mut at = |d: f64| -table.total(&shares(t + d).map(|l| -l), &mut vec![]);
                    let (slope, [p, q]) = ((at(1e-5) - at(-1e-5)) / 2e-5, shares(t).map(f64::exp));
                    assert!((seeds[0] * q - seeds[1] * p - slope).abs() < 1e-5 * (1.0 + slope.abs()), "{noise:?} {noisy:?} {t}");
                }
            }
        }
    }

    /// Two cells of many rows: no list is as long as the total, and a count is where its noise and the other's put it.
    #[test]
    fn many_rows_take_no_more_room() {
        let (law, n) = (NoisyCount::new(Noise::RoundedGaussian { sigma: 4.0 }, 1).unwrap(), 1u64 << 30);
        let noisy = [n as i64 / 2 + 3, n as i64 / 2 + 5];
        let known = KnownTotal::of(&law, &noisy, n, 1).unwrap();
        let half = [0.5f64.ln(); 2];
        // Both differences have the same noise: the first count is one below the half.
        assert!((known.sum(&half).means[0] - (n as f64 / 2.0 - 1.0)).abs() < 1e-3);
        assert!(known.each(&half, &law, &noisy).iter().all(|log| (-4.0..-2.0).contains(log)));
        assert!(KnownTotal::of(&law, &noisy, 1 << 31, 1).is_none());
    }

    /// What a normal law says well, noise without a list of chances, groups without rows, and counts that no noise makes.
    #[test]
    fn what_is_not_summed() {
        let law = |sigma| NoisyCount::new(Noise::RoundedGaussian { sigma }, 1).unwrap();
        let of = |sigma, noisy: &[i64], n, groups| KnownTotal::of(&law(sigma), noisy, n, groups).is_some();
        assert!(of(2.0, &[100, 90, 10], 200, 1000) && !of(4.0, &[100, 90, 10], 200, 1));
        assert!(of(4.0, &[100, 100], 200, 1) && !of(60.0, &[100, 100], 200, 1) && !of(0.0, &[100, 100], 200, 1));
        assert!(!of(4.0, &[1, 1], 0, 1) && !of(4.0, &[100], 100, 1) && !of(4.0, &[9000, 0], 100, 1) && !of(1.0, &[900, 900], 100, 1));
    }
}
