//! Random programs of two to five releases, branches, groups and units against the exact law of their whole output.
//!
//! The largest divergence over all pairs of neighbours with at most four rows never exceeds the certificate; the same
//! certificates times 0.9, and with one release forgotten, are found out. The long form (`benches/exhaustive.sh`) takes
//! 2,000 programs.

use crate::enumerable::Program;
use crate::enumerable::judge::{EPSILONS, Stated, certified};
use dpm::privacy::Claim;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Sums of doubles and the incomplete beta function are this exact, relative.
const ROOM: f64 = 1e-7;

/// What a run has seen.
#[derive(Default)]
struct Tally {
    programs: usize,
    refused: BTreeMap<String, usize>,
    pairs: usize,
    branches: usize,
    groups: usize,
    units: usize,
    added: usize,
    budgets: usize,
    /// Certificates attained to a tenth, a hundredth, a millionth.
    tight: [usize; 3],
    /// Certificates times 0.9 that are found out.
    scaled: usize,
    /// Products without their last part that are found out, of how many.
    forgotten: (usize, usize),
    worst: f64,
    by: BTreeMap<String, usize>,
}

/// The claim with its last part forgotten.
fn shortened(claim: &Claim) -> Option<Claim> {
    match claim {
        Claim::Product(parts) if parts.len() > 1 => Some(Claim::Product(parts[..parts.len() - 1].to_vec())),
        _ => None,
    }
}

fn examine(seed: u64, tally: &mut Tally) {
    let mut program = Program::random(seed);
    let claim = match certified(&mut program) {
        Ok(claim) => claim,
        Err(why) => {
            *tally.refused.entry(why.chars().take(60).collect()).or_default() += 1;
            return;
        }
    };
    let worst = program.worst();
    let asked = seed as usize % EPSILONS.len();
    let stated = Stated::of(&claim, asked);
    let (ratio, place) = stated.ratio(&worst);
    assert!(
        ratio <= 1.0 + ROOM,
        "seed {seed}: {ratio} times what is stated, {place}, {} pairs\n{stated:?}\n{claim:?}\n{}",
        worst.pairs,
        program.text()
    );
    tally.programs += 1;
    tally.pairs += worst.pairs;
    let text = program.text();
    tally.branches += usize::from(text.contains("when "));
    tally.groups += usize::from(text.contains("each "));
    tally.units += usize::from(text.contains(" max "));
    tally.added += usize::from(text.contains("private n"));
    tally.budgets += usize::from(program.budget.is_some());
    for (count, least) in tally.tight.iter_mut().zip([0.9, 0.99, 1.0 - 1e-6]) {
        *count += usize::from(ratio >= least);
    }
    if ratio >= 0.9 {
        *tally.by.entry(place.split(' ').next().unwrap().into()).or_default() += 1;
    }
    tally.worst = tally.worst.max(ratio);
    tally.scaled += usize::from(stated.scaled(0.9).ratio(&worst).0 > 1.0 + ROOM);
    if let Some(short) = shortened(&claim) {
        tally.forgotten.1 += 1;
        tally.forgotten.0 += usize::from(Stated::of(&short, asked).ratio(&worst).0 > 1.0 + ROOM);
    }
}

impl Tally {
    fn join(mut self, other: Tally) -> Tally {
        for (why, count) in other.refused {
            *self.refused.entry(why).or_default() += count;
        }
        for (what, count) in other.by {
            *self.by.entry(what).or_default() += count;
        }
        self.programs += other.programs;
        self.pairs += other.pairs;
        self.branches += other.branches;
        self.groups += other.groups;
        self.units += other.units;
        self.added += other.added;
        self.budgets += other.budgets;
        self.tight = std::array::from_fn(|i| self.tight[i] + other.tight[i]);
        self.scaled += other.scaled;
        self.forgotten = (self.forgotten.0 + other.forgotten.0, self.forgotten.1 + other.forgotten.1);
        self.worst = self.worst.max(other.worst);
        self
    }
}

/// Every `workers`-th seed, until there are enough programs.
fn work(programs: usize, first: u64, workers: u64) -> Tally {
    let mut tally = Tally::default();
    let mut seed = first;
    while tally.programs < programs {
        examine(seed, &mut tally);
        seed += workers;
        assert!(seed < 3 * workers * (programs as u64 + 1), "too few programs certify: {:?}", tally.refused);
    }
    tally
}

fn run(programs: usize) -> Tally {
    const WORKERS: usize = 4;
    let tally = std::thread::scope(|scope| {
        let all: Vec<_> = (0..WORKERS).map(|w| scope.spawn(move || work(programs / WORKERS, w as u64, WORKERS as u64))).collect();
        all.into_iter().map(|one| one.join().unwrap()).fold(Tally::default(), Tally::join)
    });
    // The test can fail: wrong certificates do.
    assert!(tally.scaled * 3 >= tally.programs, "a tenth too small was seen in {} of {}", tally.scaled, tally.programs);
    assert!(tally.forgotten.0 * 2 >= tally.forgotten.1, "a forgotten release was seen in {:?}", tally.forgotten);
    for part in [tally.branches, tally.groups, tally.units, tally.added, tally.budgets] {
        assert!(part * 10 >= tally.programs, "too few of one kind");
    }
    tally
}

fn report(t: &Tally) -> String {
    let mut text = String::new();
    let mut line = |s: String| writeln!(text, "{s}").unwrap();
    line(format!("programs {}, pairs of neighbours with different laws {}", t.programs, t.pairs));
    line(format!(
        "with branches {}, groups {}, units of two rows {}, rows added or removed {}, a solved budget {}",
        t.branches, t.groups, t.units, t.added, t.budgets
    ));
    line(format!("refused by the compiler {:?}", t.refused));
    line(format!("above the certificate 0; largest found to stated {:.9}", t.worst));
    line(format!("attained to a tenth {}, a hundredth {}, a millionth {}", t.tight[0], t.tight[1], t.tight[2]));
    line(format!("attained to a tenth, by what {:?}", t.by));
    line(format!("planted: certificates times 0.9 found out {} of {}", t.scaled, t.programs));
    line(format!("planted: the last release forgotten, found out {} of {}", t.forgotten.0, t.forgotten.1));
    text
}

#[test]
fn no_program_exceeds_its_certificate() {
    run(200);
}

/// `benches/exhaustive.sh` runs it and keeps what it prints.
#[test]
#[ignore = "minutes"]
fn long_form() {
    let programs = std::env::var("DPM_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(2000);
    println!("{}", report(&run(programs)));
}
