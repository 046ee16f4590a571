//! Pages on the error codes: the table of codes with a wrong program and the same program put right.

use super::{Kind, Page, fenced};
use crate::source::codes::{self, CodePage};

pub fn pages() -> Vec<Page> {
    codes::all().iter().map(page).chain([plan()]).collect()
}

/// The one complaint that is not about a program, so that no program can show it.
fn plan() -> Page {
    let body = "`dpm run PLAN` compiles what the plan holds, and goes on only if the same plan comes out. This one gave another: a field was \
                altered, left out or added, the digest or signature does not fit, public data are not what the program declares, or another \
                version of dpm made it. The message names the first place that differs. Nothing was charged and no data were opened.\n\n\
                Compile the program again: `dpm compile FILE -o PLAN`. See `docs/plans.md`.";
    Page { kind: Kind::Error, name: "E0601".into(), summary: "A plan that is not what compiling it gives.".into(), body: body.into() }
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
