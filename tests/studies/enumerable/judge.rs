//! All neighbours of tiny data sets, the largest divergences among them, and certificates judged by these.

use super::laws::{Atom, ORDERS, Values, grouped};
use super::{Change, Program, Query, Row};
use dpm::analyze::Unbound;
use dpm::check::NoFiles;
use dpm::pipeline;
use dpm::privacy::Claim;
use std::collections::BTreeSet;

pub const EPSILONS: [f64; 4] = [0.0, 0.3, 1.0, 2.5];

/// The largest divergences over all pairs of neighbours.
#[derive(Clone, Debug)]
pub struct Worst {
    pub pairs: usize,
    pub pure: f64,
    pub rdp: [f64; ORDERS.len()],
    pub delta: [f64; EPSILONS.len()],
    /// The law of every distinct pair, for other epsilons.
    laws: Vec<Vec<Atom>>,
}

pub fn hockey_stick(law: &[Atom], e: f64) -> f64 {
    law.iter().map(|a| (a.p - e.exp() * a.q).max(0.0)).sum()
}

fn multisets(values: &[Row], size: usize) -> Vec<Vec<Row>> {
    if size == 0 {
        return vec![vec![]];
    }
    let from = |i: usize| multisets(&values[i..], size - 1).into_iter().map(move |rest| [vec![values[i]], rest].concat());
    (0..values.len()).flat_map(from).collect()
}

impl Program {
    /// The rows that data sets are made of: what no release reads stays as it is. Fewer data sets make fewer neighbours.
    fn values(&self) -> Vec<Row> {
        let reads_y = self.queries.iter().any(|q| matches!(q, Query::Draw { .. } | Query::Noisy { sum: false, .. }));
        let reads_x = self.queries.iter().any(|q| matches!(q, Query::Quantile { .. } | Query::Noisy { sum: true, .. }));
        let (lo, hi) = self.range;
        let groups = if grouped(&self.steps) { 2 } else { 1 };
        let ys = if reads_y { vec![0, 1] } else { vec![0] };
        let xs = match (reads_x, reads_y && groups == 2) {
            (false, _) => vec![lo],
            (true, true) => vec![lo, hi],
            (true, false) => (lo..=hi).collect(),
        };
        (0..groups)
            .flat_map(|g| ys.iter().flat_map(move |y| [(g, *y)]).collect::<Vec<_>>())
            .flat_map(|(g, y)| xs.iter().map(move |x| (g, y, *x)))
            .collect()
    }

    /// All pairs of neighbours with at most four rows (three if there are many values), both ways round, equal laws once.
    pub fn neighbours(&self) -> Vec<(Vec<Row>, Vec<Row>)> {
        let values = self.values();
        let k = self.change.rows();
        let most = if values.len() <= 4 { 4 } else { 3 };
        let mut seen = BTreeSet::new();
        let mut found = vec![];
        for moved in 1..=k {
            let units = multisets(&values, moved);
            let groups = |unit: &[Row]| unit.iter().map(|r| r.0).collect::<Vec<_>>();
            for rest in (0..=most - moved).flat_map(|size| multisets(&values, size)) {
                let with = |unit: &[Row]| [rest.clone(), unit.to_vec()].concat();
                for x in &units {
                    let mut others: Vec<(Vec<Row>, Vec<Row>)> = vec![];
                    match self.change {
                        Change::Add(_) => others.extend([(with(x), rest.clone()), (rest.clone(), with(x))]),
                        // A public key stays: units are sorted by group.
                        Change::Replace(_) => others.extend(
                            units.iter().filter(|y| *y != x && !(self.public_key && groups(x) != groups(y))).map(|y| (with(x), with(y))),
                        ),
                    }
                    for (d, e) in others {
                        if seen.insert((self.key(&d), self.key(&e))) {
                            found.push((d, e));
                        }
                    }
                }
            }
        }
        found
    }

    /// The largest divergences: Rényi and pure over all pairs; hockey sticks, which need the law of the whole output, over
    /// the pairs that are largest at some order and twenty others.
    pub fn worst(&self) -> Worst {
        let pairs = self.neighbours();
        let found: Vec<Values> = pairs.iter().map(|(d, e)| self.divergences(d, e)).collect();
        let top = |place: usize| {
            let mut order: Vec<usize> = (0..found.len()).collect();
            order.sort_by(|a, b| found[*b][place].total_cmp(&found[*a][place]));
            order.truncate(3);
            order
        };
        let mut chosen: BTreeSet<usize> = (0..=ORDERS.len()).flat_map(top).collect();
        chosen.extend((0..20).map(|i| i * pairs.len() / 20));
        let laws: Vec<Vec<Atom>> = chosen.into_iter().map(|i| self.law(&pairs[i].0, &pairs[i].1)).collect();
        let largest = |place: usize| found.iter().map(|v| v[place]).fold(0.0, f64::max);
        Worst {
            pairs: pairs.len(),
            pure: largest(ORDERS.len()),
            rdp: std::array::from_fn(largest),
            delta: EPSILONS.map(|e| laws.iter().map(|law| hockey_stick(law, e)).fold(0.0, f64::max)),
            laws,
        }
    }
}

impl Worst {
    pub fn delta_at(&self, e: f64) -> f64 {
        self.laws.iter().map(|law| hockey_stick(law, e)).fold(0.0, f64::max)
    }
}

/// The certified claim of a program, which gets the parameters that were solved; the complaint where there is none.
pub fn certified(program: &mut Program) -> Result<Claim, String> {
    let text = program.text();
    let checked = pipeline::check("p.dpm", &text, &NoFiles);
    let (analysis, said) = pipeline::analyze(&checked, &Unbound::default(), false);
    if let Some(error) = said.iter().find(|d| d.is_error()) {
        return Err(format!("{}: {}", error.code, error.message));
    }
    let certificate = analysis.and_then(|a| pipeline::certify(&checked, &a, &[], &[])).ok_or("no certificate")?;
    let parameters: Vec<Vec<(String, f64)>> =
        certificate.releases.iter().map(|r| r.parameters.iter().map(|(n, v, _)| (n.clone(), *v)).collect()).collect();
    program.solve(&parameters);
    Ok(certificate.total.claim)
}

/// What a certificate says, in every term that can be compared.
#[derive(Clone, Debug)]
pub struct Stated {
    pub pure: f64,
    pub zcdp: f64,
    pub rdp: [f64; ORDERS.len()],
    pub delta: [f64; EPSILONS.len()],
    /// (delta, epsilon)
    pub dp: (f64, f64),
}

impl Stated {
    /// `delta(e)` is asked at one epsilon; elsewhere 1 stands for "not asked".
    pub fn of(claim: &Claim, asked: usize) -> Stated {
        let mut delta = [1.0; EPSILONS.len()];
        delta[asked] = claim.delta(EPSILONS[asked]);
        let allowed = [1e-2, 1e-3][asked % 2];
        Stated { pure: claim.pure(), zcdp: claim.zcdp(), rdp: ORDERS.map(|l| claim.rdp(l)), delta, dp: (allowed, claim.epsilon(allowed)) }
    }

    /// The same with every number multiplied: what a wrong rule might say.
    pub fn scaled(&self, factor: f64) -> Stated {
        Stated {
            pure: self.pure * factor,
            zcdp: self.zcdp * factor,
            rdp: self.rdp.map(|x| x * factor),
            delta: self.delta.map(|x| if x < 1.0 { x * factor } else { x }),
            dp: (self.dp.0, self.dp.1 * factor),
        }
    }

    /// The largest ratio of what was found to what is stated, and where; above 1 the certificate is wrong.
    pub fn ratio(&self, worst: &Worst) -> (f64, String) {
        let mut found = vec![(worst.pure / self.pure, "pure".to_string())];
        for (i, l) in ORDERS.into_iter().enumerate() {
            found.push((worst.rdp[i] / self.rdp[i], format!("rdp at {l}")));
            found.push((worst.rdp[i] / (l * self.zcdp), format!("zcdp at {l}")));
        }
        for (i, e) in EPSILONS.into_iter().enumerate() {
            // Below the rounding of the sums nothing is compared.
            if worst.delta[i] > 1e-12 && self.delta[i] < 1.0 {
                found.push((worst.delta[i] / self.delta[i], format!("delta at {e}")));
            }
        }
        found.push((worst.delta_at(self.dp.1) / self.dp.0, format!("epsilon {} at delta {}", self.dp.1, self.dp.0)));
        found.into_iter().filter(|(r, _)| !r.is_nan()).fold((0.0, String::new()), |a, b| if b.0 > a.0 { b } else { a })
    }
}
