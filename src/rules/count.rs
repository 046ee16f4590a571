//! Counts of rows and items as doubles, rounded to a stated side.

/// A count as a double that is at least it.
pub(crate) fn count_up(n: u64) -> f64 {
    let x = n as f64;
    if n > (1 << 53) { x.next_up() } else { x }
}

/// A count as a double that is at most it.
pub(crate) fn count_down(n: u64) -> f64 {
    let x = n as f64;
    if n > (1 << 53) { x.next_down() } else { x }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_up_to_two_to_the_53() {
        let n = 1u64 << 53;
        assert_eq!((count_up(n), count_down(n)), (n as f64, n as f64));
        // 2^53 + 1 is not a double.
        assert!(count_up(n + 1) > n as f64 && count_down(n + 1) <= n as f64);
    }
}
