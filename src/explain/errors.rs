//! Pages on the error codes: the table of codes with a wrong program and the same program put right.

use super::{Kind, Page, fenced};
use crate::source::codes::{self, CodePage};

pub fn pages() -> Vec<Page> {
    codes::all().iter().map(page).collect()
}

fn page(p: &CodePage) -> Page {
    let wrong = fenced(p.example_wrong).replacen("```dpm", &format!("```dpm {}", p.code), 1);
    let body = format!("{}\n\nWrong:\n\n{wrong}\n\nRight:\n\n{}", p.text.trim(), fenced(p.example_right));
    Page { kind: Kind::Error, name: p.code.into(), summary: sentence(p.title), body }
}

/// `a release over its allotment` -> `A release over its allotment.`
fn sentence(title: &str) -> String {
    let mut chars = title.trim_end_matches('.').chars();
    let first: String = chars.next().map(|c| c.to_uppercase().collect()).unwrap_or_default();
    format!("{first}{}.", chars.as_str())
}
