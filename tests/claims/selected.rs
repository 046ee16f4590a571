//! Sums of the rows where something holds: what one row moves them by, enumerated, for every weight that a mean gives its count.

use crate::numbers_support::certified;
use std::fmt::Write;

/// The values of a row: nothing, or a number in [-1, 1] beside a weight.
fn values(weight: f64) -> Vec<[f64; 2]> {
    let kept = (0..=40).map(|i| [f64::from(i) / 20.0 - 1.0, weight]);
    std::iter::once([0.0, 0.0]).chain(kept).collect()
}

/// The largest L1 and L2 change of a sum in which one row is replaced by another, or comes or goes.
fn worst(weight: f64, replaced: bool) -> [f64; 2] {
    let all = values(weight);
    let others = if replaced { all.clone() } else { vec![[0.0, 0.0]] };
    let mut found = [0.0_f64; 2];
    for a in &all {
        for b in &others {
            let [x, y] = [(a[0] - b[0]).abs(), (a[1] - b[1]).abs()];
            found = [found[0].max(x + y), found[1].max(x.hypot(y))];
        }
    }
    found
}

fn claim(n: &str, query: &str) -> (f64, f64) {
    let of = |using: &str| {
        let text = format!("private t[{n}] {{ x: real in [0, 200], c: bool, age: int in 0..99 }}\nrelease q = {query} using {using}\n");
        certified(&text)
    };
    (of("laplace(scale = 1)").total().pure(), of("gaussian(sigma = 1)").total().gdp())
}

#[test]
fn a_mean_of_some_rows_claims_what_one_row_can_do() {
    let mut seen = String::new();
    for (n, replaced) in [("n", true), ("private n", false)] {
        for (condition, by_hand) in [("c", "c"), ("age >= 65", "(age >= 65)")] {
            let sugar = claim(n, &format!("mean(x, where = {condition})"));
            for (weight, which) in [(1.0, 0), (1.7, 1), (0.7, 0), (0.75, 1)] {
                let [l1, l2] = worst(weight, replaced);
                let now = claim(n, &format!("sum({by_hand} * [(x - 100) / 100, {weight}])"));
                let _ = writeln!(seen, "[{n}] {condition}, weight {weight}: {now:?}, true {l1} {l2}");
                // Never below the truth; above it by what rounding to the grid of sums may add.
                assert!((l1..=l1 * 1.0001).contains(&now.0) && (l2..=l2 * 1.0001).contains(&now.1), "{seen}");
                if [[1.0, 1.7], [0.7, 0.75]][usize::from(!replaced)][which] == weight {
                    assert_eq!([sugar.0, sugar.1][which], [now.0, now.1][which], "{seen}");
                }
            }
        }
        // The count costs nothing beside the sum where rows are replaced: one row moves the sum alone as far.
        if replaced {
            let alone = claim(n, "sum(c * ((x - 100) / 100))");
            let both = claim(n, "sum(c * [(x - 100) / 100, 1])");
            assert!(both.0 <= alone.0 * 1.0001 && both.1 <= alone.1 * 1.0001, "{alone:?} {both:?}");
        }
    }
}

/// A vector that is kept or not, and numbers that are neither 0 nor 1, which may not be treated so.
#[test]
fn only_a_bool_keeps_a_vector_as_it_is() {
    let far = |query: &str| {
        let columns = "v: vector[3] in l2(2), b: real in [0, 1], s: real in [-1, 1], two: int in 0..2, c: bool";
        certified(&format!("private t[n] {{ {columns} }}\nrelease q = {query} using gaussian(sigma = 1)\n")).total().gdp()
    };
    // Two points of a ball lie a diameter apart.
    assert!((4.0..4.0001).contains(&far("sum(c * v)")));
    assert!((2.0..2.0001).contains(&far("sum(c * [2 * b - 1, 1])")));
    // From [1, 1] to [-1, -1], and from [2, 2] to [-2, 2].
    assert!(far("sum(s * [2 * b - 1, 1])") >= 8_f64.sqrt());
    assert!(far("sum(two * [2 * b - 1, 1])") >= 4.0);
}
