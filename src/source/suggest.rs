//! The nearest known name to a misspelt one.

/// The candidate nearest to `name`, if it is near enough to be a misspelling of it: at most a third of the letters
/// differ, and at most three. Ties go to the earlier candidate.
pub fn did_you_mean<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<String> {
    let bytes = name.len();
    let name: Vec<char> = name.chars().take(LONGEST + 1).collect();
    let limit = (name.len().max(3) / 3).min(3);
    if name.len() > LONGEST {
        return None;
    }
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates.into_iter().take(MOST) {
        if candidate.len().abs_diff(bytes) > 4 * limit {
            continue;
        }
        let letters: Vec<char> = candidate.chars().take(LONGEST + 1).collect();
        let distance = distance(&name, &letters, limit);
        if letters != name && distance <= limit && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate.to_owned())
}

/// Names longer than this are not compared, and no more of them.
const LONGEST: usize = 60;
const MOST: usize = 5_000;

/// Insertions, deletions, substitutions and swaps of neighbours that lead from `a` to `b`; of more than `most`, some number above it.
fn distance(a: &[char], b: &[char], most: usize) -> usize {
    let first: Vec<usize> = (0..=b.len()).collect();
    let (mut before, mut last) = (first.clone(), first);
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let at = |row: &[usize], j: usize| row.get(j).copied().unwrap_or(usize::MAX / 2);
            let mut cost = (at(&last, j) + usize::from(x != y)).min(at(&last, j + 1) + 1).min(at(&row, j) + 1);
            let swapped = i > 0 && j > 0 && a.get(i - 1) == Some(y) && b.get(j - 1) == Some(x);
            if swapped {
                cost = cost.min(at(&before, j - 1) + 1);
            }
            row.push(cost);
        }
        before = std::mem::replace(&mut last, row);
        // A swap looks back one row.
        if before.iter().chain(&last).all(|cost| *cost > most) {
            return most + 1;
        }
    }
    last.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        let words = ["release", "param", "private", "public"];
        let near = |name| did_you_mean(name, words);
        assert_eq!(near("relase").as_deref(), Some("release"));
        assert_eq!(near("parma").as_deref(), Some("param"));
        assert_eq!(near("pubic").as_deref(), Some("public"));
        assert_eq!(near("dirichlet"), None);
        assert_eq!(near("x"), None);
        assert_eq!(near("param"), None, "the name itself is no suggestion");
    }

    #[test]
    fn a_swap_of_neighbours_is_one_step() {
        let letters = |s: &str| s.chars().collect::<Vec<_>>();
        assert_eq!(distance(&letters("ab"), &letters("ba"), 9), 1);
        assert_eq!(distance(&letters("kitten"), &letters("sitting"), 9), 3);
        assert_eq!(distance(&letters(""), &letters("abc"), 9), 3);
    }
}
