//! Analysis -> certificate: the facts of tables, premises with their places, assumptions in plain words.

use super::report::{Analysis, Chosen, ReleaseAnalysis};
use crate::mechanism::plan::{MOST_LEAPFROGS, MechanismPlan, Noise, PosteriorLaw, Sampler, Spacing, WholeNoise};
use crate::model::print::{normal_form, query_text, type_text};
use crate::model::{Program, Relation, ReleaseStep, Scalar, Step, Table, Type};
use crate::privacy::Claim;
use crate::privacy::certificate::{
    BudgetFacts, Certificate, ColumnFacts, DesignFacts, PremiseFacts, ProgramText, PublicFacts, ReleaseFacts, ScalarFacts, StepFacts,
    TableFacts, Total, TotalsFacts,
};
use crate::rules::offer::{Chain, Status};
use crate::rules::{Design, Premise, Totals};
use crate::source::{FileId, SourceMap};

/// The certificate of an analyzed program; `main` is the file of the program itself.
///
/// `None` while a release has no mechanism. Holes are the caller's to refuse ([`super::holes`]).
pub fn certificate(
    program: &Program,
    analysis: &Analysis,
    sources: &SourceMap,
    main: FileId,
    orders: &[f64],
    deltas: &[f64],
) -> Option<Certificate> {
    let total: Claim = analysis.total.clone()?;
    let file = sources.get(main)?;
    let steps = crate::model::releases(&program.steps);
    let both = analysis.releases.iter().zip(&steps);
    let releases: Option<Vec<ReleaseFacts>> = both.map(|(r, s)| release(r, s, query_text(&s.query, program), sources)).collect();
    let releases = releases?;
    let forms: Vec<String> = steps.iter().map(|r| format!("release {}:\n{}", r.name, normal_form(&r.query, program))).collect();
    Some(Certificate {
        program: ProgramText { file: file.name.clone(), source: file.text.clone(), normal_form: forms.join("\n\n") },
        tables: program.tables.iter().filter(|t| t.private).map(table).collect(),
        public: public(program, analysis),
        steps: steps_of(&program.steps, program, &mut 0),
        releases,
        total: Total { claim: total, status: analysis.status.name().into() },
        budget: analysis.budget.as_ref().map(|b| BudgetFacts { kind: b.kind.clone(), met: b.met, unspent: b.unspent.clone() }),
        assumptions: assumptions(program, analysis),
        orders: orders.to_vec(),
        deltas: deltas.to_vec(),
    })
}

fn public(program: &Program, analysis: &Analysis) -> PublicFacts {
    let tables = program.tables.iter().filter(|t| !t.private);
    let values = analysis.scalars.iter().copied().chain(std::iter::repeat(None));
    let scalar = |(s, value): (&Scalar, Option<f64>)| ScalarFacts { name: s.name.clone(), ty: type_text(&s.ty), value };
    PublicFacts {
        tables: tables.map(|t| (t.name.clone(), columns(t))).collect(),
        designs: bound_designs(program, analysis).map(|t| t.name.clone()).collect(),
        records: program.records.iter().map(|r| r.name.clone()).collect(),
        digests: analysis.digests.clone(),
        scalars: program.scalars.iter().zip(values).map(scalar).collect(),
    }
}

/// Private tables whose public columns are bound.
fn bound_designs<'a>(program: &'a Program, analysis: &'a Analysis) -> impl Iterator<Item = &'a Table> {
    program.tables.iter().filter(|t| t.private && analysis.digests.contains_key(&t.name))
}

/// The steps that cost; releases are counted in program order.
fn steps_of(steps: &[Step], program: &Program, next: &mut usize) -> Vec<StepFacts> {
    let mut found = Vec::new();
    for step in steps {
        match step {
            Step::Release(_) => {
                found.push(StepFacts::Release(*next));
                *next = next.saturating_add(1);
            }
            Step::When { then, otherwise, .. } => {
                let then = steps_of(then, program, next);
                found.push(StepFacts::When { then, otherwise: steps_of(otherwise, program, next) });
            }
            Step::Each(each) => {
                let table = program.tables.get(each.table.0);
                let key = table.and_then(|t| t.columns.get(each.key.0));
                found.push(StepFacts::Each {
                    table: table.map_or_else(String::new, |t| t.name.clone()),
                    key: key.map_or_else(String::new, |c| c.name.clone()),
                    levels: each.levels.len(),
                    public_key: each.public_key,
                    steps: steps_of(&each.body, program, next),
                });
            }
            Step::Output { .. } | Step::Expect(_) => {}
        }
    }
    found
}

fn release(r: &ReleaseAnalysis, step: &ReleaseStep, query: String, sources: &SourceMap) -> Option<ReleaseFacts> {
    let chosen = r.chosen.as_ref()?;
    let parameters = chosen.parameters.iter().map(|p| (p.name.to_owned(), p.value, p.side));
    Some(ReleaseFacts {
        name: r.name.clone(),
        query,
        ty: type_text(&step.ty),
        public_totals: r.public.observations.iter().map(|t| t.as_ref().map(|t| totals(t, chosen))).collect(),
        public_design: r.public.design.as_ref().filter(|_| chosen.offer.matched().is_some_and(|m| m.reads_design())).map(design),
        mechanism: chosen.mechanism.name.into(),
        rule: chosen.rule.name.into(),
        parameters: parameters.collect(),
        premises: chosen.premises.iter().map(|p| premise(p, sources)).collect(),
        claim: chosen.claim.clone(),
        status: chosen.status.name().into(),
        sampler: sampler(chosen).into(),
        measure: chosen.predicted_error.measure.into(),
        predicted_error: chosen.predicted_error.value,
        predicted: chosen.predicted_error.further.clone(),
    })
}

fn design(d: &Design) -> DesignFacts {
    DesignFacts { rows: d.rows, products: d.products.clone(), least: d.least }
}

/// What a claim uses of public rows: the cost of a normal mean depends on their number alone.
fn totals(t: &Totals, chosen: &Chosen) -> TotalsFacts {
    let rows_alone = chosen.offer.matched().is_some_and(|m| m.counts_public_rows());
    TotalsFacts { rows: t.rows, sums: if rows_alone { vec![] } else { t.sums.clone() } }
}

fn premise(p: &Premise, sources: &SourceMap) -> PremiseFacts {
    PremiseFacts { text: p.text.clone(), holds: true, place: p.span.map(|s| sources.line_column(s.file, s.start)) }
}

const ROUNDED_NORMAL: &str = "rounded_normal";

/// The distribution that is drawn from.
fn sampler(chosen: &Chosen) -> &'static str {
    match &chosen.plan {
        Some(MechanismPlan::Posterior { law, .. }) => match law {
            PosteriorLaw::Beta { .. } | PosteriorLaw::BetaFailures { .. } => "beta",
            PosteriorLaw::Dirichlet { .. } => "dirichlet",
            PosteriorLaw::GammaShape { .. } | PosteriorLaw::GammaRate { .. } => "gamma",
            PosteriorLaw::Normal { .. } => "normal",
            PosteriorLaw::MvNormal { .. } | PosteriorLaw::Linear { .. } => "multi_normal",
            PosteriorLaw::Glm(law) => law.sampler.name(),
            PosteriorLaw::Refined(_) => Sampler::Langevin.name(),
            PosteriorLaw::Stepwise(_) => ROUNDED_NORMAL,
            PosteriorLaw::Density(law) => law.chain.name(),
        },
        Some(MechanismPlan::Whole { law, .. }) => match law.noise {
            WholeNoise::FloorLaplace { .. } => "floor_laplace",
            WholeNoise::Hellinger { .. } => "finite_weights",
            WholeNoise::Geometric { .. } | WholeNoise::Rows { gaussian: false, .. } => "two_sided_geometric",
            WholeNoise::Gaussian { .. } | WholeNoise::Moments { .. } | WholeNoise::Rows { .. } => "discrete_gaussian",
            WholeNoise::Scores { .. } | WholeNoise::Steps { .. } => ROUNDED_NORMAL,
        },
        Some(MechanismPlan::Noise { noise, .. }) => match noise {
            Noise::Laplace { .. } => "laplace",
            Noise::Geometric { .. } => "two_sided_geometric",
            Noise::Gaussian { .. } => "normal",
            Noise::Rounded { .. } => ROUNDED_NORMAL,
        },
        Some(MechanismPlan::Quantile { spacing: Spacing::Even, .. }) => "exponential_weights",
        Some(MechanismPlan::Quantile { spacing: Spacing::Log, .. }) => "exponential_weights_of_logarithms",
        None => match chosen.chain {
            None => "unbound",
            Some(Chain::Langevin) => "langevin",
            Some(Chain::Converged(chain)) => chain,
            Some(Chain::Paying) => chosen.mechanism.name,
        },
    }
}

fn table(t: &Table) -> TableFacts {
    TableFacts {
        name: t.name.clone(),
        relation: t.relation,
        unit_key: t.unit.and_then(|(key, _)| Some(t.columns.get(key.0)?.name.clone())),
        unit_rows: t.unit_rows(),
        unit_order: t.ordered_by().map(|c| c.name.clone()),
        rows_public: t.relation == Relation::ReplaceOne,
        at_least: t.rows.at_least,
        exactly: t.rows.exactly,
        count_name: t.count_name.clone(),
        columns: columns(t),
    }
}

/// The type of a column; dates are whole days.
fn in_file(ty: &Type) -> String {
    if let Type::Date(days) = ty { type_text(&Type::Int(*days)) } else { type_text(ty) }
}

fn columns(t: &Table) -> Vec<ColumnFacts> {
    t.columns
        .iter()
        .map(|c| ColumnFacts { name: c.name.clone(), ty: in_file(&c.ty), public: c.public, missing: c.missing_text() })
        .collect()
}

/// What the reader must believe besides the theorems.
fn assumptions(program: &Program, analysis: &Analysis) -> Vec<String> {
    let mut list = Vec::new();
    let private: Vec<&Table> = program.tables.iter().filter(|t| t.private).collect();
    for t in &private {
        list.push(relation_words(t));
    }
    if private.len() > 1 {
        list.push("one person may be in every private table".into());
    }
    for t in &private {
        let public = t.columns.iter().filter(|c| c.public);
        list.extend(public.map(|c| format!("the column `{}` of `{}` is public: neighbours keep it", c.name, t.name)));
    }
    for t in bound_designs(program, analysis) {
        list.push(format!("the public columns of `{}` are, row by row, those whose digest is stated: a run on others is refused", t.name));
    }
    for t in &program.tables {
        let dates = t.declared().filter(|c| matches!(c.ty, Type::Date(_)));
        list.extend(dates.map(|c| format!("the column `{}` of `{}` has dates, as days after 1970-01-01", c.name, t.name)));
        list.extend(t.columns.iter().filter_map(|c| {
            let value = c.missing_text()?;
            Some(format!("a cell of `{}` in `{}` that is missing or unreadable counts as {value}", c.name, t.name))
        }));
    }
    list.push("cells outside their declared domain are moved into it when the file is read, before anything else".into());
    list.push("data files are well-formed CSV: cells that contain a quote, comma or line break must be quoted".into());
    list.push("the order of rows and which file is read do not depend on private values".into());
    let by_chain = |r: &ReleaseAnalysis| r.chosen.as_ref().is_some_and(|c| c.status != Status::Exact);
    let chains = analysis.releases.iter().filter(|r| by_chain(r)).count();
    let by_scores = |r: &ReleaseAnalysis| {
        let plan = r.chosen.as_ref().and_then(|c| c.plan.as_ref());
        matches!(plan, Some(MechanismPlan::Whole { law, .. }) if matches!(law.noise, WholeNoise::Hellinger { .. }))
    };
    if analysis.releases.iter().any(by_scores) {
        list.push("the scores of a Hellinger mechanism are computed in doubles, whose functions err by less than 2^-48, and rounded to a public grid; eps covers what a score may be off by, and the law of the rounded scores is sampled exactly".into());
    }
    let drawn = |r: &ReleaseAnalysis| {
        let plan = r.chosen.as_ref().and_then(|c| c.plan.as_ref());
        matches!(plan, Some(MechanismPlan::Posterior { law: PosteriorLaw::Stepwise(_), .. }))
    };
    if chains == 0 && !analysis.releases.iter().any(drawn) {
        list.push("every released number is the ideal real draw rounded to a public grid, decided with certified bounds: no rounding of doubles enters a release".into());
    } else if chains < analysis.releases.len() {
        list.push("every number that an exact release computes from rows is the ideal real draw rounded to a public grid, decided with certified bounds: no rounding of doubles enters it".into());
    }
    for r in analysis.releases.iter().filter(|r| drawn(r)) {
        list.push(format!("the draws of `{}` are computed in doubles from sums that are such numbers, and from nothing else", r.name));
    }
    let chain = |r: &ReleaseAnalysis| r.chosen.as_ref().and_then(|c| c.chain);
    let any = |wanted: Chain| analysis.releases.iter().any(|r| chain(r) == Some(wanted));
    if any(Chain::Langevin) {
        list.push("idealized arithmetic: the steps of a Langevin chain are computed in doubles and certified as real numbers; its last state is rounded to a public grid".into());
    }
    if any(Chain::Paying) {
        list.push("what a chain that pays for its answers asks of the rows are sums of integers with normal noise rounded to integers, drawn exactly: no rounding of doubles enters its guarantee".into());
    }
    for r in &analysis.releases {
        if let Some(Chain::Converged(chain)) = chain(r) {
            list.push(format!(
                "CONDITIONAL: the guarantee of `{}` is that of an exact draw from its posterior; it holds if the chain ({chain}) has converged, which cannot be proved",
                r.name
            ));
        }
    }
    if any(Chain::Converged(Sampler::Nuts.name())) {
        list.push(format!(
            "no step of a NUTS chain takes more than {MOST_LEAPFROGS} leapfrogs, whatever the rows are; below that its time follows from them"
        ));
    }
    if analysis.releases.iter().any(|r| analysis.unbound(r)) {
        list.push("public tables or values are not bound yet: the certificate is final only once they are".into());
    }
    list
}

fn relation_words(t: &Table) -> String {
    let name = &t.name;
    let key = t.unit.and_then(|(key, k)| Some((t.columns.get(key.0)?.name.as_str(), k)));
    let kept = |k: u64| match t.ordered_by() {
        Some(c) => format!("the {k} least by `{}` and then by all columns are kept", c.name),
        None => format!("the first {k} are kept"),
    };
    match (t.relation, key) {
        (Relation::ReplaceOne, None) => {
            format!("one row of `{name}` is one person; neighbours differ by one replaced row, and the number of rows is public")
        }
        (Relation::AddRemove, None) => {
            format!("one row of `{name}` is one person; neighbours differ by one row added or removed, and the number of rows is secret")
        }
        (Relation::ReplaceOne, Some((key, k))) => format!(
            "all rows of one `{key}` in `{name}` ({}) are one person; neighbours differ by their contents, and the number of rows of every `{key}` is public",
            kept(k)
        ),
        (Relation::AddRemove, Some((key, k))) => format!(
            "all rows of one `{key}` in `{name}` ({}) are one person; neighbours differ by adding or removing them, and the number of rows is secret",
            kept(k)
        ),
    }
}
