//! The likelihood of a released table of noisy counts, given the log rates of its cells.
//!
//! Counts of independent Poisson laws with rates `l_i`, given that they sum to N, are multinomial with N rows and probabilities
//! `l_i / sum l`: for any c with this sum, `prod Poisson(c_i; l_i) = Multinomial(c; N, l / sum l) Poisson(N; sum l)`. Times the
//! noise, summed over all c that sum to N:
//!
//! `p(noisy | N) = prod f_i  P(sum c = N | noisy) / Poisson(N; sum l)`,
//!
//! where f_i is the law of the noisy count of a Poisson count and c_i given its noisy count are independent. The left side
//! depends on the probabilities alone, so the rates of a group are first scaled to `sum l = N`: the divisor is then the constant
//! `Poisson(N; N)`, and the middle factor is taken where N is near its mean. That factor is Phi((N + 1/2 - E) / sd) -
//! Phi((N - 1/2 - E) / sd) with the sums E and sd^2 of the means and variances given the noisy counts: the normal law on the
//! integers, which stays below 1 when hardly any noise is left. Its error falls with the variance of the sum, and adds up over groups: the law
//! of two cells, and of groups whose counts vary little, is summed over all counts instead (`known_total`).

use super::known_total::{KnownTotal, Summed};
use super::mean::Means;
use super::noise::{Between, between};
use super::noisy_count::{Cell, NoisyCount};
use crate::kernel::KernelError;

/// Up to this standard deviation of all other counts the values that they leave a count are listed.
const LISTED: f64 = 6.0;
/// Keeps the variance of a group above 0.
const FLOOR: f64 = 1e-9;

/// Noisy counts of the cells of a table, a row a cell, and groups of cells whose totals are public.
pub struct Cells {
    law: NoisyCount,
    rows: Vec<Row>,
    groups: Vec<Group>,
    /// Where a cell has several rows.
    means: Option<Means>,
}

struct Row {
    noisy: i64,
    group: Option<usize>,
    log_rate: f64,
    cell: Cell,
}

#[derive(Default)]
struct Group {
    /// Its cells, and their law where it is summed over all counts.
    rows: Vec<usize>,
    known: Option<KnownTotal>,
    total: f64,
    /// `-ln Poisson(N; N)`
    divisor: f64,
    most: f64,
    sum: f64,
    /// What is added to log rates.
    shift: f64,
    mean: f64,
    variance: f64,
    by_mean: f64,
    by_variance: f64,
    /// The sum of the slopes of all cells.
    slope: f64,
}

impl Cells {
    /// Noisy counts and groups in the order of rows; group i has the i-th total.
    pub fn new(law: NoisyCount, noisy: &[i64], groups: &[Option<usize>], totals: &[u64]) -> Result<Cells, KernelError> {
        if noisy.len() != groups.len() || groups.iter().flatten().any(|g| *g >= totals.len()) {
            return Err(KernelError::Length);
        }
        if noisy.iter().any(|y| !law.takes(*y)) {
            return Err(KernelError::Family);
        }
        let row = |(noisy, group): (&i64, &Option<usize>)| Row { noisy: *noisy, group: *group, log_rate: 0.0, cell: Cell::default() };
        let group = |total: &u64| {
            let n = *total as f64;
            let log = if n > 0.0 { n * n.ln() } else { 0.0 };
            Group { total: n, divisor: n + libm::lgamma(n + 1.0) - log, ..Group::default() }
        };
        let mut all: Vec<Group> = totals.iter().map(group).collect();
        for (i, g) in groups.iter().enumerate() {
            g.and_then(|g| all.get_mut(g)).into_iter().for_each(|g| g.rows.push(i));
        }
        for (g, total) in all.iter_mut().zip(totals) {
            let own: Vec<i64> = g.rows.iter().filter_map(|i| noisy.get(*i)).copied().collect();
            g.known = KnownTotal::of(&law, &own, *total, totals.len());
        }
        let rows = noisy.iter().zip(groups).map(row).collect();
        Ok(Cells { law, rows, groups: all, means: None })
    }

    /// The rate of a cell is the weighted sum of the rates of several rows: of each its cell and the logarithm of its weight.
    pub fn of_rows(self, rows: Vec<(usize, f64)>) -> Result<Cells, KernelError> {
        let means = Some(Means::new(rows, self.rows.len())?);
        Ok(Cells { means, ..self })
    }

    /// The negative log-likelihood, where the loss of a row is minus its log rate, and its derivative by every loss. Infinite,
    /// with derivatives 0, where a loss is infinite or not a number.
    pub fn total(&mut self, losses: &[f64], seeds: &mut Vec<f64>) -> f64 {
        let Some(mut means) = self.means.take() else { return self.of_cells(losses, seeds) };
        let total = self.of_cells(means.forward(losses), seeds);
        means.back(losses, seeds);
        self.means = Some(means);
        total
    }

    fn of_cells(&mut self, losses: &[f64], seeds: &mut Vec<f64>) -> f64 {
        let log = if losses.len() == self.rows.len() && losses.iter().all(|l| l.is_finite()) { self.log(losses) } else { f64::NAN };
        seeds.clear();
        if !log.is_finite() {
            seeds.resize(self.rows.len(), 0.0);
            return f64::INFINITY;
        }
        for Row { group, log_rate, cell, .. } in &self.rows {
            let scaled = group.and_then(|g| self.groups.get(g)).filter(|g| g.total > 0.0);
            let seed = scaled.map_or(cell.log_slope, |g| g.gain(cell, *log_rate));
            seeds.push(if seed.is_finite() { seed } else { 0.0 });
        }
        -log
    }

    /// For every cell the log-probability of its noisy count given the noisy counts of all others and the totals, and its expected
    /// count. Without that noisy count its count is Poisson, with mean and variance equal to its rate; where the others leave the count few
    /// values these are summed, as the normal law of a sum that hardly varies is some hundredths off.
    pub fn each(&mut self, losses: &[f64]) -> impl Iterator<Item = (f64, f64)> {
        match self.means.take() {
            None => self.log(losses),
            Some(mut means) => {
                let log = self.log(means.forward(losses));
                self.means = Some(means);
                log
            }
        };
        let Cells { law, rows, groups, .. } = self;
        for g in groups.iter() {
            let Some(known) = &g.known else { continue };
            let noisy: Vec<i64> = g.rows.iter().filter_map(|i| rows.get(*i)).map(|r| r.noisy).collect();
            let logs = known.each(&Cells::log_shares(rows, g), law, &noisy);
            for (i, log) in g.rows.iter().zip(logs) {
                rows.get_mut(*i).into_iter().for_each(|r| r.cell.log = log);
            }
        }
        self.rows.iter().map(|r| {
            let rate = r.log_rate.exp();
            let Some(g) = r.group.and_then(|g| self.groups.get(g)) else { return (r.cell.log, rate) };
            if g.known.is_some() {
                return (r.cell.log.min(0.0), rate);
            }
            let (mean, variance) = (g.mean - r.cell.mean, (g.variance - r.cell.variance).max(FLOOR));
            let log = self
                .listed(r, g, (mean, variance))
                .unwrap_or_else(|| r.cell.log + g.chance(g.mean, g.variance).log - g.chance(mean + rate, variance + rate).log);
            (log.min(0.0), rate)
        })
    }

    /// The same as a mean of the law of the noise over the values that the others, with these moments, leave the count.
    fn listed(&self, r: &Row, g: &Group, (mean, variance): (f64, f64)) -> Option<f64> {
        let sd = variance.sqrt();
        let (from, to) = ((g.total - mean - 9.0 * sd - 1.0).max(0.0).ceil(), (g.total - mean + 9.0 * sd + 1.0).min(g.total).floor());
        if sd > LISTED || from > to || self.law.reach().is_none() {
            return None;
        }
        let first = from as i64;
        let log = |i: i64| {
            let c = (first + i) as f64;
            c * r.log_rate - libm::lgamma(c + 1.0) + between((g.total - c - 0.5 - mean) / sd, (g.total - c + 0.5 - mean) / sd).log
        };
        let logs: Vec<f64> = (0..=(to - from) as i64).map(log).collect();
        let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let (mut all, mut seen) = (0.0, 0.0);
        for (c, log) in (first..).zip(logs) {
            let weight = (log - most).exp();
            all += weight;
            seen += weight * self.law.log_noise(r.noisy - c).exp();
        }
        Some((seen / all).ln()).filter(|log| log.is_finite())
    }

    /// Every cell at its log rate, scaled to the totals.
    fn run(&mut self, losses: &[f64]) {
        let Cells { law, rows, groups, .. } = self;
        groups.iter_mut().for_each(|g| (g.most, g.sum) = (f64::NEG_INFINITY, 0.0));
        for (row, loss) in rows.iter_mut().zip(losses) {
            row.log_rate = -loss;
            if let Some(g) = row.group.and_then(|g| groups.get_mut(g)) {
                g.most = g.most.max(row.log_rate);
            }
        }
        for row in rows.iter() {
            if let Some(g) = row.group.and_then(|g| groups.get_mut(g)) {
                g.sum += (row.log_rate - g.most).exp();
            }
        }
        groups.iter_mut().for_each(|g| g.shift = g.total.ln() - g.most - g.sum.ln());
        for row in rows {
            row.log_rate += row.group.and_then(|g| groups.get(g)).map_or(0.0, |g| g.shift);
            if row.group.and_then(|g| groups.get(g)).is_none_or(|g| g.known.is_none()) {
                row.cell = law.cell(row.noisy, row.log_rate);
            }
        }
    }

    /// The shares of a group's cells, in logarithms.
    fn log_shares(rows: &[Row], g: &Group) -> Vec<f64> {
        g.rows.iter().filter_map(|i| rows.get(*i)).map(|r| r.log_rate - g.total.ln()).collect()
    }

    fn log(&mut self, losses: &[f64]) -> f64 {
        self.run(losses);
        let Cells { law, rows, groups, .. } = self;
        groups.iter_mut().for_each(|g| (g.mean, g.variance, g.slope) = (0.0, FLOOR, 0.0));
        for row in rows.iter() {
            if let Some(g) = row.group.and_then(|g| groups.get_mut(g)) {
                g.mean += row.cell.mean;
                g.variance += row.cell.variance;
            }
        }
        let apart = |r: &&Row| r.group.and_then(|g| groups.get(g)).is_none_or(|g| g.known.is_none());
        let mut log = rows.iter().filter(apart).map(|r| r.cell.log).sum::<f64>();
        for g in groups.iter_mut() {
            if let Some(known) = &g.known {
                let Summed { log: summed, means } = known.sum(&Cells::log_shares(rows, g));
                log += summed;
                for (i, mean) in g.rows.iter().zip(means) {
                    rows.get_mut(*i).into_iter().for_each(|r| r.cell.mean = mean);
                }
                continue;
            }
            // Counts without noise have the sum that they have.
            log += g.divisor + if law.is_exact() { 0.0 } else { g.factor() };
            g.slope = g.rows.iter().filter_map(|i| rows.get(*i)).map(|r| g.by(&r.cell)).sum();
        }
        log
    }
}

impl Group {
    /// `ln P(sum c = N | noisy)`, and its derivatives by mean and variance.
    fn factor(&mut self) -> f64 {
        let sd = self.variance.sqrt();
        let (low, high) = self.ends(self.mean, sd);
        let Between { log, by_low, by_high } = between(low, high);
        self.by_mean = -(by_low + by_high) / sd;
        self.by_variance = -(low * by_low + high * by_high) / (2.0 * self.variance);
        log
    }

    fn ends(&self, mean: f64, sd: f64) -> (f64, f64) {
        ((self.total - 0.5 - mean) / sd, (self.total + 0.5 - mean) / sd)
    }

    /// The same for other moments of the sum.
    fn chance(&self, mean: f64, variance: f64) -> Between {
        let (low, high) = self.ends(mean, variance.max(FLOOR).sqrt());
        between(low, high)
    }

    /// The derivative of everything by the scaled log rate of a cell.
    fn by(&self, cell: &Cell) -> f64 {
        cell.log_slope + self.by_mean * cell.mean_slope + self.by_variance * cell.variance_slope
    }

    /// The same by the log rate: scaling takes from every cell its share of what all gain together.
    fn gain(&self, cell: &Cell, log_rate: f64) -> f64 {
        let rate = log_rate.exp();
        if self.known.is_some() { cell.mean - rate } else { self.by(cell) - rate / self.total * self.slope }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Builder, Columns, Density, Loss, Noise, Operand, Program};
    use super::*;

    const GAUSS: fn(f64) -> Noise = |sigma| Noise::RoundedGaussian { sigma };

    fn cells(noise: Noise, noisy: &[i64], groups: &[Option<usize>], totals: &[u64]) -> Cells {
        Cells::new(NoisyCount::new(noise, 1).unwrap(), noisy, groups, totals).unwrap()
    }

    /// Probabilities of all noisy tables in a box: exact, by listing every table of three cells, and as computed, without and
    /// with the total. Half the sum of differences.
    fn off_by(noise: Noise, n: usize) -> [f64; 2] {
        const P: [f64; 3] = [0.2, 0.3, 0.5];
        let law = NoisyCount::new(noise, 1).unwrap();
        let g: Vec<f64> = (-40..=40).map(|k| law.cell(k, -f64::MAX).log.exp()).collect();
        let factorial = |n: usize| (1..=n).map(|i| i as f64).product::<f64>();
        let mut tables = vec![];
        for c in 0..=n {
            for d in 0..=n - c {
                let table = [c, d, n - c - d];
                let chance = table.iter().zip(P).map(|(c, p)| p.powi(*c as i32) / factorial(*c)).product::<f64>();
                tables.push((table, factorial(n) * chance));
            }
        }
        // Rates of any scale: only their ratios count where the total is known.
        let rates = P.map(|p| -(7.0 * p).ln());
        let mut off = [0.0; 2];
        let range = || -8..16i64;
        for noisy in range().flat_map(|a| range().flat_map(move |b| range().map(move |c| [a, b, c]))) {
            let noises = |table: &[usize; 3]| table.iter().zip(noisy).map(|(c, y)| g[(y + 40 - *c as i64) as usize]).product::<f64>();
            let exact = tables.iter().map(|(table, chance)| chance * noises(table)).sum::<f64>();
            let found = [cells(noise, &noisy, &[None; 3], &[]), cells(noise, &noisy, &[Some(0); 3], &[n as u64])];
            for (off, mut found) in off.iter_mut().zip(found) {
                *off += 0.5 * ((-found.total(&rates, &mut vec![])).exp() - exact).abs();
            }
        }
        off
    }

    /// The normal law of the sum is two per cent off for three cells and twelve rows; where counts vary less they are summed.
    #[test]
    fn totals_agree_with_listing_all_tables() {
        for (noise, n, bound) in
            [(Noise::Geometric { scale: 2.0 }, 6, 1e-9), (Noise::Geometric { scale: 2.0 }, 12, 0.022), (GAUSS(0.3), 12, 1e-9)]
        {
            let [without, with] = off_by(noise, n);
            assert!(with < bound && without > 2.5 * with && without > 0.1, "{noise:?} {n}: {without} {with}");
        }
    }

    /// One noisy count given the two others and the total, where that is not summed: its law by listing all tables, and as computed.
    #[test]
    fn one_cell_given_the_others() {
        const P: [f64; 3] = [0.2, 0.3, 0.5];
        for (noise, rows, bound) in [(Noise::Geometric { scale: 2.0 }, 12, 0.011), (GAUSS(5.0), 12, 0.008)] {
            let law = NoisyCount::new(noise, 1).unwrap();
            let g: Vec<f64> = (-80..=80).map(|k| law.cell(k, -f64::MAX).log.exp()).collect();
            let factorial = |n: usize| (1..=n).map(|i| i as f64).product::<f64>();
            let exact = |noisy: [i64; 3]| {
                let mut sum = 0.0;
                for c in 0..=rows {
                    for d in 0..=rows - c {
                        let table = [c, d, rows - c - d];
                        let one = |((c, p), y): ((&usize, f64), i64)| p.powi(*c as i32) / factorial(*c) * g[(y + 80 - *c as i64) as usize];
                        sum += table.iter().zip(P).zip(noisy).map(one).product::<f64>();
                    }
                }
                sum
            };
            for others in [[3, 7], [-2, 9], [6, 6]] {
                let range = -40..50i64;
                let all: f64 = range.clone().map(|y| exact([y, others[0], others[1]])).sum();
                let mut off = 0.0;
                for y in range {
                    let mut found = cells(noise, &[y, others[0], others[1]], &[Some(0); 3], &[rows as u64]);
                    let (log, rate) = found.each(&P.map(|p| -p.ln())).next().unwrap();
                    assert!((rate - 0.2 * rows as f64).abs() < 1e-9 && log <= 0.0);
                    off += 0.5 * (log.exp() - exact([y, others[0], others[1]]) / all).abs();
                }
                assert!(off < bound, "{noise:?} {others:?}: {off}");
            }
        }
    }

    /// Without noise the multinomial law itself.
    #[test]
    fn exact_counts() {
        let mut table = cells(GAUSS(0.0), &[1, 2, 3, 4], &[Some(0), Some(0), Some(0), None], &[6]);
        let found = -table.total(&[0.2f64, 0.3, 0.5, 1.0].map(|p| -p.ln()), &mut vec![]);
        let expected = (60.0 * 0.2 * 0.09 * 0.125f64).ln() - 1.0 - 24f64.ln();
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    }

    #[test]
    fn seeds_are_derivatives() {
        let noisy = [3, -2, 0, 11, 40, 7, 1, 25, 2];
        let groups = [Some(0), Some(1), Some(0), None, Some(1), Some(0), None, Some(1), Some(2)];
        let losses = [-0.3, 1.0, 0.4, -2.0, -3.5, -1.0, 2.0, -2.2, 0.1];
        for noise in [GAUSS(0.5), GAUSS(3.0), GAUSS(60.0), Noise::Geometric { scale: 2.0 }, Noise::Geometric { scale: 50.0 }] {
            let mut table = cells(noise, &noisy, &groups, &[12, 70, 0]);
            let mut seeds = vec![];
            table.total(&losses, &mut seeds);
            for (i, seed) in seeds.iter().enumerate() {
                let mut at = |d: f64| {
                    let mut moved = losses;
                    moved[i] += d;
                    table.total(&moved, &mut vec![])
                };
                let slope = (8.0 * (at(1e-4) - at(-1e-4)) - (at(2e-4) - at(-2e-4))) / 12e-4;
                assert!((seed - slope).abs() < 1e-6 * (1.0 + slope.abs()), "{noise:?} {i}: {seed} {slope}");
            }
            let shifted = losses.iter().zip(groups).map(|(l, g)| if g == Some(1) { l - 5.0 } else { *l }).collect::<Vec<_>>();
            let (a, b) = (table.total(&losses, &mut vec![]), table.total(&shifted, &mut vec![]));
            assert!((a - b).abs() < 1e-9 * a.abs(), "{noise:?}: {a} {b}");
        }
    }

    #[test]
    fn extremes() {
        let ends = [f64::NEG_INFINITY, -f64::MAX, -800.0, 0.0, 800.0, f64::MAX, f64::INFINITY, f64::NAN];
        for noise in [GAUSS(0.0), GAUSS(2.0), GAUSS(1e6), Noise::Geometric { scale: 3.0 }] {
            let mut table = cells(noise, &[4, 0, 3], &[Some(0), Some(0), None], &[4]);
            for at in 0..512 {
                let [i, j, k] = [at / 64, at / 8 % 8, at % 8].map(|at| ends[at]);
                let mut seeds = vec![];
                let total = table.total(&[i, j, k], &mut seeds);
                assert!(!total.is_nan() && total > -10.0 && seeds.len() == 3 && seeds.iter().all(|s| s.is_finite()), "{i} {j} {k}");
                assert!([i, j, k].iter().all(|x| x.is_finite()) || total == f64::INFINITY);
            }
            assert_eq!(table.total(&[0.0], &mut vec![]), f64::INFINITY);
        }
        let law = || NoisyCount::new(GAUSS(0.0), 1).unwrap();
        assert!(Cells::new(law(), &[-1], &[None], &[]).is_err() && Cells::new(law(), &[1], &[Some(0)], &[]).is_err());
    }

    /// Log rates `u0 + u1 x`.
    fn line() -> Program {
        let mut builder = Builder::new(2, 1);
        let slope = builder.mul(Operand::Shared(1), Operand::Column(0));
        let rate = builder.add(Operand::Shared(0), slope);
        let value = builder.neg(rate);
        builder.program().losses.push(Loss { value, lo: f64::NEG_INFINITY, hi: f64::INFINITY });
        builder.finish()
    }

    #[test]
    fn a_program_gives_the_rates() {
        let program = line();
        for rows in [5usize, 1100] {
            let mut columns = Columns::new(1);
            (0..rows).for_each(|i| columns.push(&[i as f64 / rows as f64]));
            let noisy: Vec<i64> = (0..rows as i64).map(|i| i * 7 % 23 - 4).collect();
            let groups: Vec<_> = (0..rows).map(|i| [Some(0), Some(1), None][i % 3]).collect();
            let table = cells(GAUSS(2.0), &noisy, &groups, &[rows as u64, 2 * rows as u64]);
            let mut density = Density::cells(&program, &columns, table, 1.0);
            let (u, mut gradient) = ([1.2, 0.7], [0.0; 2]);
            let value = density.value_and_gradient(&u, &mut gradient);
            assert_eq!(value, density.value(&u));
            for i in 0..2 {
                let mut at = |d: f64| {
                    let mut moved = u;
                    moved[i] += d;
                    density.value(&moved)
                };
                let slope = (8.0 * (at(1e-4) - at(-1e-4)) - (at(2e-4) - at(-2e-4))) / 12e-4;
                assert!((gradient[i] - slope).abs() < 1e-6 * (1.0 + slope.abs()), "{i}: {} {slope}", gradient[i]);
            }
            let laws = density.cell_laws(&u);
            assert!(laws.len() == rows && (laws[2].1 - (1.2 + 1.4 / rows as f64).exp()).abs() < 1e-12);
            let first: f64 = laws.iter().step_by(3).map(|l| l.1).sum();
            assert!((first - rows as f64).abs() < 1e-9);
            assert!((laws[2].0 - NoisyCount::new(GAUSS(2.0), 1).unwrap().cell(10, 1.2 + 1.4 / rows as f64).log).abs() < 1e-12);
            assert_eq!(density.value_and_gradient(&[f64::NAN, 0.0], &mut gradient), f64::NEG_INFINITY);
            assert!(gradient.iter().all(|g| g.is_finite()));
        }
    }
}
