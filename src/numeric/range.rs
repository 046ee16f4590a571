//! Closed ranges of reals as declarations and types have them: ends in plain doubles.

/// A closed range of reals; either end may be infinite. `lo <= hi` always.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Range {
    pub lo: f64,
    pub hi: f64,
}

impl Range {
    pub const ALL: Range = Range { lo: f64::NEG_INFINITY, hi: f64::INFINITY };
    pub const UNIT: Range = Range { lo: 0.0, hi: 1.0 };

    pub fn new(lo: f64, hi: f64) -> Range {
        Range { lo, hi }
    }
    /// The least range with all of these: anything if one is not a number, as `inf - inf`.
    pub fn of(points: impl IntoIterator<Item = f64>) -> Range {
        let mut out = Range::new(f64::INFINITY, f64::NEG_INFINITY);
        for p in points {
            if p.is_nan() {
                return Range::ALL;
            }
            out = Range::new(out.lo.min(p), out.hi.max(p));
        }
        out
    }
    pub fn point(x: f64) -> Range {
        Range { lo: x, hi: x }
    }
    pub fn is_point(self) -> bool {
        self.lo == self.hi
    }
    pub fn is_finite(self) -> bool {
        self.lo.is_finite() && self.hi.is_finite()
    }
    pub fn contains(self, x: f64) -> bool {
        self.lo <= x && x <= self.hi
    }
    /// Is every value of `self` in `other`?
    pub fn within(self, other: Range) -> bool {
        other.lo <= self.lo && self.hi <= other.hi
    }
    pub fn hull(self, other: Range) -> Range {
        Range { lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) }
    }
    /// Largest absolute value.
    pub fn magnitude(self) -> f64 {
        self.lo.abs().max(self.hi.abs())
    }
    /// `hi - lo`, rounded up.
    pub fn width(self) -> f64 {
        if self.lo == self.hi {
            return 0.0;
        }
        let w = self.hi - self.lo;
        if self.lo == 0.0 || self.hi == 0.0 || exact_difference(self.hi, self.lo, w) { w } else { w.next_up() }
    }
}

fn exact_difference(hi: f64, lo: f64, w: f64) -> bool {
    // TwoSum: the rounding error of hi - lo is itself a double.
    let b = w - hi;
    let e = (hi - (w - b)) + (-lo - b);
    e == 0.0
}
