//! Choices written into a text: behind every release its mechanism with the solved parameters.

use crate::analyze::{Analysis, Chosen, ReleaseAnalysis};
use crate::model::{MechanismKind, ReleaseStep, releases};
use crate::numeric::decimal::decimal_string;
use crate::pipeline::Checked;

/// A part of a text and what stands there instead.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Edit {
    pub start: usize,
    pub end: usize,
    pub new: String,
}

/// The text of a program with the chosen mechanisms of `analysis` in place.
pub fn locked(checked: &Checked, analysis: &Analysis) -> String {
    let text = checked.sources.get(checked.main).map_or("", |f| f.text.as_str());
    edited(text, 0, edits(checked, analysis, &|_| None))
}

/// A text, of which the first byte is number `from` of the file, with every edit made that lies in it.
pub fn edited(text: &str, from: usize, mut edits: Vec<Edit>) -> String {
    let mut text = text.to_owned();
    edits.sort();
    for Edit { start, end, new } in edits.into_iter().rev() {
        let place = start.checked_sub(from).zip(end.checked_sub(from)).map(|(a, b)| a..b);
        if let Some(place) = place.filter(|p| text.get(p.clone()).is_some()) {
            text.replace_range(place, &new);
        }
    }
    text
}

/// Behind every release its mechanism, and, where `spend` answers for it, that clause instead of its own.
///
/// The analysis may be of another text with the same releases in the same order.
pub fn edits(checked: &Checked, analysis: &Analysis, spend: &dyn Fn(&ReleaseAnalysis) -> Option<String>) -> Vec<Edit> {
    let mut edits = vec![];
    for (release, judged) in releases(&checked.program.steps).into_iter().zip(&analysis.releases) {
        let inside = release.query_span.file == checked.main;
        let (Some(chosen), true) = (&judged.chosen, inside) else { continue };
        let mut new = format!("using {}", mechanism(checked, release, chosen));
        let (start, mut end) = match release.mechanism.span {
            Some(span) => (span.start as usize, span.end as usize),
            None => {
                new.insert(0, ' ');
                (release.query_span.end as usize, release.query_span.end as usize)
            }
        };
        if let Some(clause) = spend(judged) {
            new.push_str(&format!(" spend {clause}"));
            end = release.spend.as_ref().map_or(end, |s| s.span.end as usize);
        }
        edits.push(Edit { start, end, new });
    }
    edits
}

/// `diffuse(r = 0.668)`: what the user wrote between the parentheses stays; solved values are added to it.
fn mechanism(checked: &Checked, release: &ReleaseStep, chosen: &Chosen) -> String {
    let solved: Vec<String> =
        chosen.parameters.iter().filter(|p| p.solved).map(|p| format!("{} = {}", p.name, decimal_string(p.value))).collect();
    let written = match (&release.mechanism.kind, release.mechanism.span) {
        (MechanismKind::Named { args, .. }, Some(_)) => args.iter().map(|a| checked.sources.slice(a.span).to_string()).collect::<Vec<_>>(),
        _ => vec![],
    };
    let all: Vec<String> = written.into_iter().chain(solved).collect();
    let arguments = if all.is_empty() { String::new() } else { format!("({})", all.join(", ")) };
    let words = if release.mechanism.assuming_convergence { " assuming convergence" } else { "" };
    format!("{}{arguments}{words}", chosen.mechanism.name)
}
