//! When an answer comes: with `--pad`, at a multiple of a public time, so that the time tells of the rows only how many.

use super::{Exit, usage};
use std::time::{Duration, Instant};

/// Longer than any run; more would overflow a clock.
const LONGEST: u64 = 31_536_000;

/// What is assumed of padded runs, for their records.
pub const ASSUMES: &str = "the time of the answer is that of a multiple of the padding after the start; a run that overruns it waits for the next one, which is seen, \
                           and changes no value";

pub struct Pace {
    start: Instant,
    step: Option<Duration>,
}

impl Pace {
    /// Begins before anything private is opened.
    pub fn begin(seconds: Option<u64>) -> Result<Pace, Exit> {
        match seconds {
            Some(s) if s == 0 || s > LONGEST => Err(usage("--pad wants a number of seconds, at least 1")),
            seconds => Ok(Pace { start: Instant::now(), step: seconds.map(Duration::from_secs) }),
        }
    }

    /// Waits for the next multiple.
    pub fn hold(&self) {
        let Some(step) = self.step else { return };
        std::thread::sleep(until_next(self.start.elapsed(), step));
    }

    pub fn seconds(&self) -> Option<u64> {
        self.step.map(|step| step.as_secs())
    }
}

fn until_next(passed: Duration, step: Duration) -> Duration {
    let over = passed.as_nanos() % step.as_nanos().max(1);
    step.saturating_sub(Duration::from_nanos(u64::try_from(over).unwrap_or(u64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overrun_waits_for_the_next_multiple() {
        let ms = Duration::from_millis;
        for (passed, left) in [(0, 2000), (1, 1999), (1999, 1), (2000, 2000), (2001, 1999), (7500, 500)] {
            assert_eq!(until_next(ms(passed), ms(2000)), ms(left), "{passed}");
        }
    }
}
