//! Certificates and candidate lists for the terminal.

use super::budget::{against, kind_name, limits, short};
use super::report::{Analysis, ReleaseAnalysis};
use super::solve::beta_text;
use crate::model::BudgetKind;
use crate::model::print::number;
use crate::numeric::decimal::{sig, sig_down, sig_up};
use crate::privacy::Claim;
use crate::privacy::certificate::{Certificate, ReleaseFacts, Side};

/// The certificate as a person reads it: a line a release, its premises, the total, the budget.
pub fn certificate_text(certificate: &Certificate) -> String {
    let budget = certificate.budget.as_ref();
    let kind = budget.map(|b| &b.kind);
    let mut rows: Vec<[String; 6]> = certificate.releases.iter().map(|r| row(r, kind)).collect();
    rows.push(total_row(&certificate.total.claim, kind, &loud(&certificate.total.status)));
    let lines = aligned(&rows);
    let mut out = String::new();
    for (line, release) in lines.iter().zip(&certificate.releases) {
        out.push_str(line);
        out.push('\n');
        for p in &release.premises {
            let mark = if p.holds { "yes" } else { "NO " };
            let place = p.place.map_or(String::new(), |(l, c)| format!("   {l}:{c}"));
            out.push_str(&format!("    {mark}  {}{place}\n", p.text));
        }
        let (measure, error) = (&release.measure, sig(release.predicted_error, 3));
        let further: String = release.predicted.iter().map(|(name, x)| format!("; {} {}", name.replace('_', " "), sig(*x, 3))).collect();
        out.push_str(&format!("    {measure}: about {error}{further} (an estimate, not a guarantee)\n\n"));
    }
    if let Some(total) = lines.last() {
        out.push_str(total);
        out.push('\n');
    }
    if let Some(b) = budget {
        out.push_str(&budget_line(&b.kind, b.met, &b.unspent));
    }
    out.push_str("\nassuming\n");
    for a in &certificate.assumptions {
        out.push_str(&format!("  - {a}\n"));
    }
    out
}

/// What a run costs, in one line.
pub fn cost_text(certificate: &Certificate) -> String {
    let total = &certificate.total;
    let cost = match &certificate.budget {
        Some(b) => {
            let (cost, limit) = against(&total.claim, &b.kind);
            format!("{cost}, budget {limit}")
        }
        None => format!("eps = {} at delta = 1e-6", sig_up(total.claim.epsilon(1e-6), 4)),
    };
    format!("cost: {cost}; {}", loud(&total.status))
}

/// What `dpm check` prints of a program that is right: a line a release, the total, the budget.
pub fn summary_text(analysis: &Analysis) -> String {
    let kind = analysis.budget.as_ref().map(|b| &b.kind);
    let mut rows: Vec<[String; 6]> = Vec::new();
    for r in &analysis.releases {
        let Some(c) = &r.chosen else { continue };
        let parameters: Vec<(&str, f64, Side)> = c.parameters.iter().map(|p| (p.name, p.value, p.side)).collect();
        let status = loud(c.status.name());
        let line = [r.name.as_str(), c.mechanism.name, c.rule.name, &status];
        rows.push(cells(line, &parameters, &c.claim, kind));
    }
    if let (Some(total), true) = (&analysis.total, rows.len() > 1) {
        rows.push(total_row(total, kind, &loud(analysis.status.name())));
    }
    let mut out: String = aligned(&rows).into_iter().map(|l| l + "\n").collect();
    if let (Some(b), Some(_)) = (&analysis.budget, &analysis.total) {
        out.push_str(&budget_line(&b.kind, b.met, &b.unspent));
    }
    out
}

/// A status as people read it: what rests on an assumption is not to be overlooked.
fn loud(status: &str) -> String {
    if status == "conditional" { "CONDITIONAL".into() } else { status.into() }
}

fn budget_line(kind: &BudgetKind, met: bool, unspent: &[f64]) -> String {
    let left: Vec<String> = unspent.iter().zip(limits(kind)).map(|(x, of)| left_over(*x, of)).collect();
    let verdict = if met { "met" } else { "NOT MET" };
    format!("budget {}   {verdict}   unspent {}\n", short(kind), left.join(", "))
}

fn total_row(total: &Claim, kind: Option<&BudgetKind>, status: &str) -> [String; 6] {
    let blank = String::new;
    let end = format!("{}   {status}", orders(total));
    ["total".into(), blank(), blank(), blank(), cost(total, kind), end]
}

/// What is left, or 0 where only the rounding of a solved parameter is left.
fn left_over(x: f64, of: f64) -> String {
    if x < 1e-9 * of { "0".into() } else { sig_down(x, 3) }
}

fn row(r: &ReleaseFacts, kind: Option<&BudgetKind>) -> [String; 6] {
    let parameters: Vec<(&str, f64, Side)> = r.parameters.iter().map(|(name, x, side)| (name.as_str(), *x, *side)).collect();
    cells([&r.name, &r.mechanism, &r.rule, &loud(&r.status)], &parameters, &r.claim, kind)
}

fn cells(
    [name, mechanism, rule, status]: [&str; 4],
    parameters: &[(&str, f64, Side)],
    claim: &Claim,
    kind: Option<&BudgetKind>,
) -> [String; 6] {
    let parameters: Vec<String> = parameters
        .iter()
        .map(|(name, x, side)| {
            let text = match side {
                _ if *name == "beta" => beta_text(*x),
                Side::Exact => number(*x),
                Side::Down => sig_down(*x, 3),
                Side::Up => sig_up(*x, 3),
            };
            format!("{name} = {text}")
        })
        .collect();
    [
        name.into(),
        mechanism.into(),
        parameters.join("  "),
        format!("rule {rule}"),
        cost(claim, kind),
        format!("{}   {status}", orders(claim)),
    ]
}

/// The cost in the budget's kind; without a budget in the plainest kind it has.
fn cost(claim: &Claim, kind: Option<&BudgetKind>) -> String {
    let up = |x: f64| if x.is_finite() { sig_up(x, 3) } else { "inf".into() };
    match kind {
        Some(BudgetKind::Rdp(points)) => {
            let costs: Vec<String> = points.iter().map(|(order, _)| format!("rdp({}) {}", number(*order), up(claim.rdp(*order)))).collect();
            costs.join("  ")
        }
        Some(kind @ BudgetKind::Dp { delta, .. }) => {
            let at = claim.attaining_order(*delta);
            let order = at.map_or(String::new(), |o| format!(", best at order {}", sig(o, 3)));
            format!("{} {} at delta {}{order}", kind_name(kind), up(claim.epsilon(*delta)), number(*delta))
        }
        Some(kind) => {
            let cost = claim.costs(kind).first().copied().unwrap_or(f64::INFINITY);
            format!("{} {}", kind_name(kind), up(cost))
        }
        None if claim.pure().is_finite() => format!("eps {}", up(claim.pure())),
        None if claim.gdp().is_finite() => format!("gdp {}", up(claim.gdp())),
        None if claim.zcdp().is_finite() => format!("zcdp {}", up(claim.zcdp())),
        None => format!("dp {} at delta 1e-6", up(claim.epsilon(1e-6))),
    }
}

fn orders(claim: &Claim) -> String {
    let limit = claim.max_order();
    if limit.is_finite() { format!("orders below {}", sig_down(limit, 4)) } else { "all orders".into() }
}

/// What `using ?` prints: every mechanism and rule, whether it applies, and why.
pub fn candidates_text(release: &ReleaseAnalysis) -> String {
    let budget = release.allotment.as_ref().map_or("no budget".into(), |k| format!("budget {}", short(k)));
    let rows: Vec<[String; 3]> = release
        .candidates
        .iter()
        .map(|c| {
            let answer = if c.applies { "yes" } else { "no" };
            let error = c.predicted_error.as_ref().map_or(String::new(), |e| format!("   error about {}", sig(e.value, 3)));
            let further = c.predicted_error.iter().flat_map(|e| &e.further);
            let further: String = further.map(|(name, x)| format!("   {} {}", name.replace('_', " "), sig(*x, 3))).collect();
            [c.mechanism.to_owned(), answer.to_owned(), format!("{}{error}{further}", c.reason)]
        })
        .collect();
    let lines: Vec<String> = aligned(&rows).into_iter().map(|l| format!("  {l}")).collect();
    format!("using ?   for {}, {budget}\n{}\n", release.query, lines.join("\n"))
}

/// Columns padded to their widest entry, three spaces between; empty columns are left out.
fn aligned<const N: usize>(rows: &[[String; N]]) -> Vec<String> {
    let mut widths = [0; N];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            // A width in a format is at most 65,535; who writes longer names does without columns.
            *width = (*width).max(cell.chars().count()).min(200);
        }
    }
    rows.iter()
        .map(|row| {
            let cells: Vec<String> =
                row.iter().zip(widths).filter(|(_, width)| *width > 0).map(|(cell, width)| format!("{cell:width$}")).collect();
            cells.join("   ").trim_end().to_owned()
        })
        .collect()
}
