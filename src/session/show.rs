//! What a session can say about itself: types, models, rules, budget, names.

use super::{Outcome, Said, Session, State};
use crate::analyze::{ReleaseAnalysis, candidates_text};
use crate::check::describe;
use crate::model::expand::expand;
use crate::numeric::decimal::sig_up;
use crate::pipeline;
use crate::privacy::Claim;
use crate::run::Bound;
use crate::source::SourceMap;

impl Session {
    /// `:type e`: type, label, and of a value of a whole private table its sensitivities.
    pub fn type_of(&self, text: &str) -> Result<String, Outcome> {
        let reject = |sources, diagnostics| Outcome::Rejected(Said { sources, diagnostics });
        let mut sources = SourceMap::default();
        let program = self.text();
        let main = sources.add(super::NAME, program.as_str());
        let (ast, _) = crate::syntax::parse(main, &program);
        let file = sources.add("input", text);
        let parsed = crate::syntax::parse_expr(file, text);
        let found = parsed.and_then(|e| describe(&mut sources, main, &ast, &e, self.loader.as_ref()));
        let found = found.map_err(|diagnostics| reject(sources, diagnostics))?;
        let mut out = format!("{}, label {}", found.ty, found.label);
        if let Some(n) = found.sensitivity {
            let up = |x: f64| if x.is_finite() { sig_up(x, 6) } else { "inf".into() };
            out.push_str(&format!(", sensitivity l1 {}  l2 {}  linf {}", up(n.l1), up(n.l2), up(n.linf)));
        }
        Ok(out)
    }

    /// `:model`: the normal form of every release, or the program written out while there is none.
    pub fn model_text(&self) -> String {
        let judged = &self.state.judged;
        let program = &judged.checked.program;
        let releases = crate::model::releases(&program.steps);
        if releases.is_empty() {
            return expand(program, &judged.checked.sources);
        }
        let forms = releases.iter().map(|r| format!("release {}:\n{}\n", r.name, crate::model::print::normal_form(&r.query, program)));
        forms.collect::<Vec<_>>().join("\n")
    }

    /// `:rules p`: every mechanism for a release, or for a draw of a parameter, as `using ?` lists them.
    pub fn rules_text(&self, name: &str) -> Result<String, Outcome> {
        if !crate::syntax::tokens::is_name(name) {
            return Err(Outcome::Refused(":rules wants the name of a release or parameter".into()));
        }
        let known = self.analysis().releases.iter().any(|r| r.name == name);
        let mut text = self.text();
        let mut wanted = name.to_owned();
        if !known {
            wanted = "asked".into();
            while self.text().contains(&wanted) {
                wanted.push('1');
            }
            text.push_str(&format!("release {wanted} = draw({name}) using ?\n"));
        }
        let checked = pipeline::check(super::NAME, &text, self.loader.as_ref());
        let (analysis, diagnostics) = pipeline::analyze(&checked, &self.state.judged.bound, true);
        let release = analysis.as_ref().and_then(|a| a.releases.iter().find(|r| r.name == wanted));
        match release {
            Some(release) => Ok(candidates_text(release)),
            None => Err(Outcome::Rejected(Said { sources: checked.sources, diagnostics })),
        }
    }

    /// The claim of a release, or of `total`.
    pub fn claim_of(&self, name: &str) -> Option<Claim> {
        let of = |r: &ReleaseAnalysis| r.chosen.as_ref().map(|c| c.claim.clone());
        let release = self.analysis().releases.iter().find(|r| r.name == name);
        release.and_then(of).or_else(|| self.analysis().total.clone().filter(|_| name == "total" && !self.analysis().releases.is_empty()))
    }

    /// Public data, and the texts of the program.
    pub fn parts(&self) -> (&Bound, &SourceMap) {
        (&self.state.judged.bound, &self.state.judged.checked.sources)
    }

    /// The value of a release that has run, as JSON.
    pub fn released(&self, name: &str) -> Option<serde_json::Value> {
        let known = self.known();
        let release = crate::model::releases(&self.program().steps).into_iter().find(|r| r.name == name)?;
        known.get(&release.id).map(|v| crate::run::json(v, &release.ty))
    }

    /// `:budget`, as far as the session's own account goes.
    pub fn budget_text(&self) -> String {
        let (charges, retired) = self.charged();
        let mut out = String::new();
        match self.balance() {
            Ok(balance) if balance.is_empty() => out.push_str("no budget is declared\n"),
            Ok(balance) => {
                for b in balance {
                    out.push_str(&format!("{}: spent {} of {}, left {}\n", b.component, b.spent, b.limit, b.left));
                }
            }
            Err(_) => out.push_str("what has run cannot be counted against this budget: nothing more may run\n"),
        }
        if charges > 0 {
            let spent = self.spent();
            let kinds = [("eps", spent.pure()), ("zcdp", spent.zcdp()), ("gdp", spent.gdp()), ("eps at delta 1e-6", spent.epsilon(1e-6))];
            let shown: Vec<String> = kinds.iter().filter(|(_, x)| x.is_finite()).map(|(n, x)| format!("{n} {}", sig_up(*x, 4))).collect();
            out.push_str(&format!("charged {charges} times, in all {}\n", shown.join(", ")));
        }
        if !retired.is_empty() {
            out.push_str(&format!("redefined since, and still paid for: {}\n", retired.join(", ")));
        }
        if let Some(p) = self.proposal() {
            out.push_str(&format!("waiting: {}, {}\n", p.releases.join(", "), p.cost));
        }
        out
    }

    /// Names that can be typed here: tables, columns, values, functions.
    pub fn names(&self) -> Vec<String> {
        let State { entries, .. } = &self.state;
        let tables = &self.program().tables;
        let columns = tables.iter().flat_map(|t| t.declared().map(|c| c.name.clone()));
        let counts = tables.iter().filter_map(|t| t.count_name.clone());
        let declared = entries.iter().flat_map(|e| e.names.iter().cloned());
        let mut all: Vec<String> = declared.chain(columns).chain(counts).filter(|n| crate::syntax::tokens::is_name(n)).collect();
        all.sort();
        all.dedup();
        all
    }

    /// The names of the private tables.
    pub fn private_tables(&self) -> Vec<String> {
        self.program().tables.iter().filter(|t| t.private).map(|t| t.name.clone()).collect()
    }
}
