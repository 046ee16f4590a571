//! The table of all error codes: a page for each, printed by `dpm explain`.

mod budgets;
mod labels;
mod rules;
mod statements;
mod syntax;
mod types;

use std::sync::LazyLock;

/// What `dpm explain E0303` prints.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CodePage {
    pub code: &'static str,
    /// The fault in one clause.
    pub title: &'static str,
    /// One paragraph: what is wrong, why the language insists, what to do.
    pub text: &'static str,
    /// A complete program that gets this code.
    pub example_wrong: &'static str,
    /// The same program put right.
    pub example_right: &'static str,
}

/// The pages by family, each in the order of the codes.
const FAMILIES: [&[CodePage]; 6] = [syntax::PAGES, statements::PAGES, labels::PAGES, types::PAGES, rules::PAGES, budgets::PAGES];

/// Every page, in the order of the codes; warnings last.
pub fn all() -> &'static [CodePage] {
    static ALL: LazyLock<Vec<CodePage>> = LazyLock::new(|| FAMILIES.concat());
    &ALL
}

/// The page of one code, such as `E0303`.
pub fn page(code: &str) -> Option<&'static CodePage> {
    all().iter().find(|page| page.code == code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_pages_complete() {
        let mut codes: Vec<&str> = all().iter().map(|page| page.code).collect();
        let count = codes.len();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), count);
        for page in all() {
            assert!(page.text.ends_with('.') && page.text.len() > 60, "{}", page.code);
            assert_ne!(page.example_wrong, page.example_right, "{}", page.code);
        }
        assert!(super::page("E0303").is_some() && super::page("E9999").is_none());
    }
}
