//! The nearest known name to a misspelt one.

/// The candidate nearest to `name`, if it is near enough to be a misspelling of it: at most a third of the letters
/// differ, and at most three; a swap of neighbours is one difference. Ties go to the earlier candidate.
pub fn did_you_mean<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<String> {
    let short = |word: &str| word.chars().nth(LONGEST).is_none();
    let limit = (name.chars().take(LONGEST).count() / 3).clamp(1, 3);
    // A letter has at most four bytes.
    // One letter is as near to every other.
    let word = name.chars().nth(1).is_some();
    let alike = |c: &str| word && c != name && c.len().abs_diff(name.len()) <= 4 * limit && short(name) && short(c);
    let near = candidates.into_iter().take(MOST).filter(|c| alike(c)).map(|c| (strsim::osa_distance(name, c), c));
    near.filter(|(distance, _)| *distance <= limit).min_by_key(|(distance, _)| *distance).map(|(_, c)| c.to_owned())
}

/// Names longer than this are not compared, and no more of them.
const LONGEST: usize = 60;
const MOST: usize = 5_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        let words = ["release", "param", "private", "public"];
        let near = |name: &str| did_you_mean(name, words);
        assert_eq!(near("relase").as_deref(), Some("release"));
        assert_eq!(near("parma").as_deref(), Some("param"));
        assert_eq!(near("pubic").as_deref(), Some("public"));
        assert_eq!(near("dirichlet"), None);
        assert_eq!(near(&"release".repeat(100)), None);
        assert_eq!(did_you_mean("q", ["n", "p"]), None);
        assert_eq!(near("param"), None, "the name itself is not a suggestion");
    }
}
