//! Where a search for the epsilon of a draw looked last, so that the next one begins there.

/// The dearest side where a search looked last, and whether that was close to what is allowed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Lead {
    pub(super) side: usize,
    pub(super) close: bool,
}

impl Lead {
    /// Both as one number.
    pub(super) fn number(self) -> f64 {
        (2 * self.side + usize::from(self.close)) as f64
    }

    pub(super) fn of(number: f64) -> Lead {
        let number = number as usize;
        Lead { side: number / 2, close: number % 2 == 1 }
    }
}
