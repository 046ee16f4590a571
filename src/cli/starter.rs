//! `dpm new`: a commented project to start from, with made-up data.

use super::{Exit, usage};
use std::fs;
use std::path::Path;

const PROGRAM: &str = r#"# How often is an answer yes? One row is one person.
#
#   dpm check   rate.dpm                      errors, types, costs; reads no data
#   dpm run     rate.dpm --data answers.csv   certify, draw once, print
#   dpm audit   rate.dpm                      attack the release
#   dpm report  rate.dpm -o report.html       a page for the privacy officer

# What all releases together may cost: epsilon at one delta.
budget dp(eps = 1, delta = 1e-6)

# Two data sets are neighbours if one row differs. Bounds are public: never read them off the data.
# Say how many rows there are: with a bound alone, [n >= 100], noise is made for 100.
private answers[200] {
  yes: bool
  hours: real in [0, 60]
}

# A prior, as in Stan.
param p ~ beta(4, 4)

# One factor for each row.
observe yes ~ bernoulli(p)

# The whole posterior, from noisy counts; without `using`, dpm picks the suitable mechanism with the least predicted error. `spend` is this release's share of the budget.
release post = posterior(p) spend 60%

# A plain query with noise.
release hours_mean = mean(hours)

# Free: nothing below looks at the data again.
output percent = 100 * mean(post)
output between = interval(post, 0.9)
"#;

/// So many made-up rows, the same every time.
fn data() -> String {
    let mut text = String::from("yes,hours\n");
    let mut state: u32 = 2_463_534_242;
    for _ in 0..200 {
        let mut next = || {
            // Marsaglia's xorshift: example data, no noise.
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            f64::from(state) / f64::from(u32::MAX)
        };
        let yes = u8::from(next() < 0.35);
        text.push_str(&format!("{yes},{:.1}\n", 60.0 * next() * next()));
    }
    text
}

pub fn new(folder: &Path) -> Exit {
    if folder.exists() {
        return usage(&format!("{} exists already", folder.display()));
    }
    let write = |name: &str, text: &str| fs::write(folder.join(name), text);
    let done = fs::create_dir_all(folder).and_then(|()| write("rate.dpm", PROGRAM)).and_then(|()| write("answers.csv", &data()));
    if done.is_err() {
        say_line!("error: {} cannot be written", folder.display());
        return Exit::Input;
    }
    show_line!("made {0}/rate.dpm and {0}/answers.csv\nnext:  dpm run {0}/rate.dpm --data {0}/answers.csv", folder.display());
    Exit::Done
}
