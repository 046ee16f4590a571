//! `dpm verify`: a certificate checked by code that shares nothing with the code that made it.

mod curve;
mod form;
mod loss;
mod real;
mod rules;
mod special;
mod text;
mod types;

pub use form::{digest, signed_text};

use curve::{Claim, Memo, Pair};
use form::number;
use real::Real;
use rules::{Case, Table};
use serde_json::Value;
use text::Form;
use types::{Label, Scope, Ty, View};

/// What is wrong, and where in the certificate.
#[derive(Clone, PartialEq, Debug)]
pub struct Failure {
    pub path: String,
    pub text: String,
}

/// What the certificate is held against besides itself.
#[derive(Clone, Copy, Default)]
pub struct Against<'a> {
    /// The text of the program.
    pub program: Option<&'a str>,
    /// The public key of the signer, PEM.
    pub key: Option<&'a str>,
}

/// Checks certificates; keeps what it computed for the next one.
#[derive(Default)]
pub struct Verifier(Memo);

const ORDERS: [f64; 16] = [1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0, 16.0, 20.0, 32.0, 64.0, 128.0, 256.0];
/// How far above the truth a number may lie, relative; epsilons by conversion may by a hundredth.
const ABOVE: f64 = 1e-6;

/// A step that costs.
enum Step {
    Release(usize),
    When(Vec<Step>, Vec<Step>),
    Each { table: String, levels: u64, public: bool, body: Vec<Step> },
}

/// One certificate at work.
struct Work<'a> {
    all: &'a Value,
    memo: &'a Memo,
    failures: Vec<Failure>,
    scope: Scope,
    tables: Vec<Table>,
    forms: Vec<(String, Form, String)>,
    /// The table that each release reads.
    reads: Vec<usize>,
}

impl Verifier {
    /// Every failure found in a certificate, or in the certificate of a plan; none if all of it can be trusted.
    pub fn verify(&self, file: &Value, against: Against) -> Vec<Failure> {
        let all = file.get("certificate").filter(|c| c.is_object()).unwrap_or(file);
        let mut failures = vec![];
        let mut fail = |path: &str, text: String| failures.push(Failure { path: path.to_owned(), text });
        form::check(all, &mut fail);
        for (path, want) in [("/certificate", Value::from(1)), ("/rulebook", "1".into()), ("/dpm", env!("CARGO_PKG_VERSION").into())] {
            if all.pointer(path) != Some(&want) {
                fail(path.trim_start_matches('/'), format!("must be {want}: this verifier knows no other version"));
            }
        }
        if all.get("digest").and_then(Value::as_str) != Some(&digest(all)) {
            fail("digest", "is not the digest of the certificate".into());
        }
        if let Err(why) = form::signature(all, against.key) {
            fail("signature", why);
        }
        let source = all.pointer("/program/source").and_then(Value::as_str).unwrap_or_default();
        if all.pointer("/program/sha256").and_then(Value::as_str) != Some(&form::sha256(source.as_bytes())) {
            fail("program.sha256", "is not the digest of the source".into());
        }
        if against.program.is_some_and(|p| p != source) {
            fail("program.source", "is not the program given".into());
        }
        if !failures.is_empty() {
            return failures;
        }
        let mut work = Work { all, memo: &self.0, failures, scope: Scope::default(), tables: vec![], forms: vec![], reads: vec![] };
        if let Err((path, text)) = work.all() {
            work.failures.push(Failure { path, text });
        }
        work.failures
    }
}

type Checked<T> = Result<T, (String, String)>;

fn err<T>(path: impl Into<String>, text: impl Into<String>) -> Checked<T> {
    Err((path.into(), text.into()))
}
const NULL: &Value = &Value::Null;
fn at<'a>(v: &'a Value, field: &str) -> &'a Value {
    v.get(field).unwrap_or(NULL)
}
fn text_at<'a>(v: &'a Value, field: &str) -> &'a str {
    v.get(field).and_then(Value::as_str).unwrap_or_default()
}
fn list<'a>(v: &'a Value, field: &str) -> &'a [Value] {
    v.get(field).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
fn whole(v: &Value, path: &str) -> Checked<u64> {
    match v.as_u64() {
        Some(n) => Ok(n),
        None => err(path, "must be a whole number"),
    }
}

impl Work<'_> {
    fn fail(&mut self, path: impl Into<String>, text: impl Into<String>) {
        self.failures.push(Failure { path: path.into(), text: text.into() });
    }

    fn all(&mut self) -> Checked<()> {
        let all = self.all;
        self.header()?;
        let releases = list(all, "releases");
        self.forms = match text::forms(all.pointer("/program/normal_form").and_then(Value::as_str).unwrap_or_default()) {
            Some(forms) if forms.len() == releases.len() => forms,
            _ => return err("program.normal_form", "is unreadable, or has another number of releases"),
        };
        for (i, release) in releases.iter().enumerate() {
            let ty = Ty::parse(text_at(release, "type")).ok_or((format!("releases[{i}].type"), "is no type".to_owned()))?;
            self.scope.names.entry(text_at(release, "name").to_owned()).or_insert((ty, Label::Public));
        }
        for (i, release) in releases.iter().enumerate() {
            self.facts(i, release)?;
        }
        let mut seen = 0;
        let steps = steps(list(all, "steps"), "steps", &mut seen)?;
        if seen != releases.len() {
            return err("steps", "do not hold every release once, in order");
        }
        for (i, release) in releases.iter().enumerate() {
            let path = format!("releases[{i}]");
            let claim = self.through(&steps, i, self.view_of(self.table_of(i)), None)?.unwrap_or(Claim::Product(vec![]));
            self.judge(&claim, release, &path);
        }
        let total = self.fold(&steps, None, &|_| true)?;
        let stated = all.get("total").cloned().unwrap_or_default();
        self.judge(&total, &stated, "total");
        self.budget(&total);
        let every: Vec<&Value> = releases.iter().chain(all.get("total")).map(|r| at(r, "profile")).collect();
        for (field, key) in [("rdp", "order"), ("dp", "delta")] {
            let further = |p: &&Value| -> Vec<f64> {
                list(p, field).iter().filter_map(|e| number(at(e, key))).filter(|x| !ORDERS.contains(x)).collect()
            };
            if every.iter().any(|p| Some(further(p)) != every.first().map(further)) {
                return err("total.profile", "does not hold the same further orders and deltas as the releases");
            }
        }
        self.assumptions();
        Ok(())
    }

    /// Tables, public values and their names.
    fn header(&mut self) -> Checked<()> {
        let all = self.all;
        let public = all.get("public").cloned().unwrap_or_default();
        let source = all.pointer("/program/source").and_then(Value::as_str).unwrap_or_default();
        for (i, t) in list(all, "tables").iter().chain(list(&public, "tables")).enumerate() {
            let path = format!("tables[{i}]");
            let private = i < list(all, "tables").len();
            let name = text_at(t, "name");
            if name.is_empty() || self.tables.iter().any(|t| t.name == name) {
                return err(path, "has no name of its own");
            }
            for (j, c) in list(t, "columns").iter().enumerate() {
                let Some(ty) = Ty::parse(text_at(c, "type")) else { return err(format!("{path}.columns[{j}].type"), "is no type") };
                let full = format!("{name}.{}", text_at(c, "name"));
                if !private || c.get("public") == Some(&Value::Bool(true)) {
                    self.scope.public_columns.push(full.clone());
                }
                if full.ends_with('.') || self.scope.names.insert(full, (ty, Label::Row)).is_some() {
                    return err(format!("{path}.columns[{j}].name"), "is no name of its own");
                }
            }
            if !private {
                continue;
            }
            let (rows, unit) = (t.get("rows").cloned().unwrap_or_default(), t.get("unit").cloned().unwrap_or_default());
            let replace = match text_at(t, "relation") {
                "replace_one" => true,
                "add_remove" => false,
                _ => return err(format!("{path}.relation"), "is no relation"),
            };
            let least = whole(at(&rows, "at_least"), &format!("{path}.rows.at_least"))?;
            let exactly =
                if at(&rows, "exactly").is_null() { None } else { Some(whole(at(&rows, "exactly"), &format!("{path}.rows.exactly"))?) };
            let k = whole(at(&unit, "max_rows"), &format!("{path}.unit.max_rows"))?;
            if *at(&rows, "public") != Value::Bool(replace)
                || k < 1
                || (at(&unit, "key").is_null() && k != 1)
                || (!replace && (least > 0 || exactly.is_some()))
            {
                return err(path, "relation, unit and rows do not fit each other");
            }
            if let Some(n) = at(&rows, "name").as_str() {
                let known = exactly.map_or((least as f64, f64::INFINITY), |n| (n as f64, n as f64));
                self.scope.names.insert(n.to_owned(), (Ty::Num { lo: known.0, hi: known.1, whole: true }, Label::Public));
                self.scope.counts.push(n.to_owned());
                if n.is_empty() || !source.contains(n) {
                    return err(format!("{path}.rows.name"), "is not in the source");
                }
            }
            self.tables.push(Table { name: name.to_owned(), replace, unit: k, least, exactly });
        }
        for (i, s) in list(&public, "scalars").iter().enumerate() {
            let Some(ty) = Ty::parse(text_at(s, "type")) else { return err(format!("public.scalars[{i}].type"), "is no type") };
            let ty = match (number(at(s, "value")), ty.number()) {
                (Some(x), Some((lo, hi))) if lo <= x && x <= hi => types::real(x, x),
                (None, _) => ty,
                _ => return err(format!("public.scalars[{i}].value"), "lies outside its type"),
            };
            self.scope.names.insert(text_at(s, "name").to_owned(), (ty, Label::Public));
        }
        Ok(())
    }

    /// What a release says of itself besides numbers.
    fn facts(&mut self, i: usize, r: &Value) -> Checked<()> {
        let here = |field: &str| format!("releases[{i}].{field}");
        let Some((name, form, query)) = self.forms.get(i).cloned() else { return Ok(()) };
        if name != text_at(r, "name") || query != text_at(r, "query") {
            return err(here("query"), "name or query differ from the normal form");
        }
        let mut found = vec![];
        let tables = &self.tables;
        let mut visit =
            |e: &text::Expr| names(e, &mut |n| found.extend(tables.iter().position(|t| n.starts_with(&format!("{}.", t.name)))));
        match &form {
            Form::Query(e) => visit(e),
            Form::Model { rows, .. } => rows.iter().filter(|o| !o.public).for_each(|o| {
                visit(&o.outcome);
                o.dist.args.iter().for_each(&mut visit);
            }),
        }
        let table = match (found.first(), tables.len()) {
            (Some(first), _) if found.iter().all(|t| t == first) => *first,
            (None, 1) => 0,
            _ => return err(here("query"), "does not read exactly one private table"),
        };
        self.reads.push(table);
        let (mechanism, rule) = (text_at(r, "mechanism"), text_at(r, "rule"));
        let is_query = matches!(form, Form::Query(_));
        let wanted: &[&str] = match (mechanism, is_query) {
            ("direct", false) => &[],
            ("diffuse", false) => &["r"],
            ("concentrated", false) => &["m"],
            ("beta_query", true) => &["a", "b", "r|m"],
            ("laplace" | "geometric", true) => &["scale"],
            ("gaussian", true) => &["sigma"],
            ("exponential", true) => &["eps", "lo?", "hi?"],
            _ => return err(here("mechanism"), "is no mechanism for this query"),
        };
        if is_query && mechanism != rule {
            return err(here("rule"), "is not the rule of the mechanism");
        }
        let Some(given) = r.get("parameters").and_then(Value::as_object) else { return err(here("parameters"), "must be an object") };
        let covered = |key: &str| wanted.iter().any(|w| w.trim_end_matches('?').split('|').any(|w| w == key));
        let needed = wanted.iter().filter(|w| !w.ends_with('?')).count();
        let present = given.keys().filter(|k| wanted.iter().any(|w| !w.ends_with('?') && w.split('|').any(|w| w == k.as_str()))).count();
        if !given.keys().all(|k| covered(k)) || present != needed || !given.values().all(|v| v.is_number()) {
            return err(here("parameters"), "are not those of the mechanism");
        }
        let sampler = match rule {
            "beta_bernoulli" | "beta_geometric" | "beta_query" => "beta",
            "dirichlet_categorical" | "dirichlet_multinomial" => "dirichlet",
            "gamma_poisson" | "gamma_exponential" | "normal_precision" => "gamma",
            "normal_known_variance" | "gaussian" => "normal",
            "mv_normal_known_covariance" | "linear_public_design" => "multi_normal",
            "laplace" => "laplace",
            "geometric" => "two_sided_geometric",
            _ => "exponential_weights",
        };
        let named = text_at(at(r, "sampler"), "name");
        if named != sampler && named != "unbound" {
            return err(here("sampler.name"), format!("must be {sampler}"));
        }
        let source = self.all.pointer("/program/source").and_then(Value::as_str).unwrap_or_default();
        let lines: Vec<&str> = source.lines().collect();
        let premises = list(r, "premises");
        for (j, p) in premises.iter().enumerate() {
            let inside = match (at(p, "line").as_u64(), at(p, "column").as_u64()) {
                (Some(l), Some(c)) => lines.get(l.wrapping_sub(1) as usize).is_some_and(|l| c >= 1 && c as usize <= l.chars().count() + 1),
                _ => at(p, "line").is_null() && at(p, "column").is_null(),
            };
            if *at(p, "holds") != Value::Bool(true) || text_at(p, "text").is_empty() || !inside {
                self.fail(here(&format!("premises[{j}]")), "does not hold, or stands nowhere in the program");
            }
        }
        if premises.len() < 2 {
            self.fail(here("premises"), "are missing");
        }
        let status = [text_at(r, "status"), text_at(at(self.all, "total"), "status")];
        if status != ["exact", "exact"] {
            self.fail(here("status"), "must be exact: every mechanism of this rule book edition is");
        }
        let measure = text_at(at(r, "predicted_error"), "measure");
        let known = ["95% bound of |answer - truth|", "root mean square distance of the draw from the posterior mean"];
        if !known.contains(&measure) || number(at(at(r, "predicted_error"), "value")).is_none_or(|x| x < 0.0) {
            self.fail(here("predicted_error"), "is no prediction");
        }
        Ok(())
    }

    /// The claim of one release in one view, inside groups or not.
    fn one(&self, i: usize, view: View, group: Option<bool>) -> Checked<Claim> {
        let release = list(self.all, "releases").get(i).unwrap_or(NULL);
        let (Some((_, form, _)), Some(table)) = (self.forms.get(i), self.reads.get(i).and_then(|t| self.tables.get(*t))) else {
            return err(format!("releases[{i}]"), "has no table");
        };
        let (mut table, mut scope) = (table.clone(), self.scope.clone());
        if let Some(public) = group {
            (table.least, table.exactly) = (u64::from(table.replace), None);
            scope.public_groups = public;
        }
        if let Form::Model { params, .. } = form {
            for p in params {
                scope.names.insert(p.name.clone(), (Ty::Other, Label::Latent));
            }
        }
        let mut totals = vec![];
        for t in list(release, "public_totals") {
            let sums: Option<Vec<f64>> = list(t, "sums").iter().map(number).collect();
            totals.push(at(t, "rows").as_u64().zip(sums));
        }
        let number = |name: &str| number(at(at(release, "parameters"), name));
        let case = Case { rule: text_at(release, "rule"), scope: &scope, table: &table, totals: &totals, number: &number, view };
        case.claim(form).map_err(|why| (format!("releases[{i}].rule"), why))
    }

    fn table_of(&self, i: usize) -> &str {
        self.reads.get(i).and_then(|t| self.tables.get(*t)).map_or("", |t| &t.name)
    }
    fn view_of(&self, table: &str) -> View {
        match self.tables.iter().find(|t| t.name == table) {
            Some(t) if !t.replace => View::AddRemove,
            _ => View::Replace,
        }
    }

    /// All groups together from the cost of one (language, section 7.4).
    fn parallel(&self, each: &Step, view: View, one: &dyn Fn(View) -> Checked<Claim>) -> Checked<Claim> {
        let Step::Each { table, levels, public, .. } = each else { return err("steps", "is no group") };
        let k = self.tables.iter().find(|t| t.name == *table).map_or(1, |t| t.unit);
        let touched = |most: u64| (*levels).min(most).max(1);
        Ok(match view {
            View::AddRemove => one(view)?.repeat(touched(k)),
            View::Replace if *public || *levels <= 1 => one(view)?.repeat(touched(k)),
            View::Replace if k == 1 => {
                let moved = one(View::AddRemove)?;
                Claim::Max(vec![one(View::Replace)?, Claim::Product(vec![moved.clone(), moved])])
            }
            _ => one(View::Exchange)?.repeat(touched(k.saturating_mul(2))),
        })
    }

    /// The cost of release `i` through all groups around it; `None` where it is not below these steps.
    fn through(&self, steps: &[Step], i: usize, view: View, group: Option<bool>) -> Checked<Option<Claim>> {
        for step in steps {
            match step {
                Step::Release(j) if *j == i => return self.one(i, view, group).map(Some),
                Step::Release(_) => {}
                Step::When(a, b) => {
                    for branch in [a, b] {
                        if holds(branch, i) {
                            return self.through(branch, i, view, group);
                        }
                    }
                }
                Step::Each { table, levels, public, body } if holds(body, i) => {
                    if table != self.table_of(i) {
                        return Ok(self.through(body, i, view, group)?.map(|c| c.repeat(*levels)));
                    }
                    let inner = |v| Ok(self.through(body, i, v, Some(*public))?.unwrap_or(Claim::Product(vec![])));
                    return self.parallel(step, view, &inner).map(Some);
                }
                Step::Each { .. } => {}
            }
        }
        Ok(None)
    }

    /// The whole program: releases compose, branches take the maximum, groups run in parallel.
    fn fold(&self, steps: &[Step], within: Option<(View, bool)>, counts: &dyn Fn(&str) -> bool) -> Checked<Claim> {
        let first = self.tables.first().map_or("", |t| &t.name);
        let view = within.map_or(self.view_of(first), |w| w.0);
        let mut parts = vec![];
        for step in steps {
            match step {
                Step::Release(i) if counts(self.table_of(*i)) => parts.push(self.one(*i, view, within.map(|w| w.1))?),
                Step::Release(_) => {}
                Step::When(a, b) => {
                    let (a, b) = (self.fold(a, within, counts)?, self.fold(b, within, counts)?);
                    parts.push(match (free(&a), free(&b)) {
                        (_, true) => a,
                        (true, _) => b,
                        _ => Claim::Max(vec![a, b]),
                    });
                }
                Step::Each { table, levels, public, body } => {
                    let own = |t: &str| t == table && counts(t);
                    let other = |t: &str| t != table && counts(t);
                    parts.push(self.parallel(step, view, &|v| self.fold(body, Some((v, *public)), &own))?);
                    let rest = self.fold(body, within, &other)?;
                    if !free(&rest) {
                        parts.push(rest.repeat(*levels));
                    }
                }
            }
        }
        parts.retain(|c| !free(c));
        Ok(if parts.len() == 1 { parts.swap_remove(0) } else { Claim::Product(parts) })
    }

    /// A stated claim and profile against the recomputed claim.
    fn judge(&mut self, claim: &Claim, stated: &Value, path: &str) {
        if !same(claim, at(stated, "claim")) {
            self.fail(format!("{path}.claim"), "is not the claim that the normal form and the parameters carry");
            return;
        }
        let p = at(stated, "profile");
        let here = |field: &str| format!("{path}.profile.{field}");
        let own = claim.profile();
        for (name, truth) in [("pure", own.pure), ("bounded_range", own.range), ("zcdp", own.zcdp), ("gdp", own.gdp)] {
            let given = number(at(p, name)).unwrap_or(f64::INFINITY);
            if at(p, name).is_string() || !within(&truth, given, ABOVE) {
                self.fail(here(name), off(&truth, given));
            }
        }
        let limit = claim.limit();
        let most = number(at(p, "max_order")).unwrap_or(f64::INFINITY);
        let low = limit.about();
        if at(p, "max_order").is_string()
            || most > low
            || (low.is_finite() && most < low * (1.0 - ABOVE))
            || (most.is_finite() != low.is_finite())
        {
            self.fail(here("max_order"), format!("{most} is not just below {low}"));
        }
        let orders: Vec<f64> = list(p, "rdp").iter().filter_map(|e| number(at(e, "order"))).collect();
        let expected: Vec<f64> = ORDERS.into_iter().filter(|o| *o < most).collect();
        if !orders.starts_with(&expected) || orders.iter().any(|o| *o <= 1.0) || repeats(&orders) {
            self.fail(here("rdp"), "does not hold the orders below the limit first");
        }
        for (i, e) in list(p, "rdp").iter().enumerate() {
            let (order, given) = (number(at(e, "order")).unwrap_or(1.0), number(at(e, "epsilon")).unwrap_or(0.0));
            let truth = if order >= most { Real::UNKNOWN } else { claim.rdp(order.max(1.0 + f64::EPSILON), self.memo) };
            if !within(&truth, given, ABOVE) {
                self.fail(here(&format!("rdp[{i}].epsilon")), off(&truth, given));
            }
        }
        let deltas: Vec<f64> = list(p, "dp").iter().filter_map(|e| number(at(e, "delta"))).collect();
        if !deltas.starts_with(&[1e-5, 1e-6]) || deltas.iter().any(|d| *d <= 0.0 || *d >= 1.0) || repeats(&deltas) {
            self.fail(here("dp"), "does not hold the deltas 1e-5 and 1e-6 first");
            return;
        }
        for (i, e) in list(p, "dp").iter().enumerate() {
            let (delta, given) = (number(at(e, "delta")).unwrap_or(0.5), number(at(e, "epsilon")).unwrap_or(0.0));
            let truth = claim.epsilon(delta, self.memo);
            if !within(&truth, given, 0.01) {
                self.fail(here(&format!("dp[{i}].epsilon")), off(&truth, given));
            }
        }
    }

    /// The budget's own fields, and whether the total meets it.
    fn budget(&mut self, total: &Claim) {
        let b = at(self.all, "budget").clone();
        let Some(map) = b.as_object() else {
            if !b.is_null() {
                self.fail("budget", "must be an object or null");
            }
            return;
        };
        let kind = text_at(&b, "kind");
        let fields: &[&str] = match kind {
            "eps" => &["epsilon"],
            "dp" => &["epsilon", "delta"],
            "zcdp" => &["rho"],
            "gdp" => &["mu"],
            "rdp" => &["order", "epsilon"],
            _ => &["no such kind"],
        };
        let numbers = |name: &str| match at(&b, name) {
            Value::Array(items) => items.iter().filter_map(number).collect(),
            v => number(v).into_iter().collect::<Vec<f64>>(),
        };
        let values: Vec<Vec<f64>> = fields.iter().map(|f| numbers(f)).collect();
        let (Some(first), Some(last)) = (values.first(), values.last()) else { return };
        let sane = !first.is_empty() && first.len() == last.len() && values.iter().flatten().all(|x| x.is_finite() && *x >= 0.0);
        if map.len() != fields.len() + 2 || !sane || (kind != "rdp" && first.len() != 1) {
            return self.fail("budget", "has other fields than its kind");
        }
        let mut stated: Vec<f64> = values.iter().flatten().copied().collect();
        let source = self.all.pointer("/program/source").and_then(Value::as_str).unwrap_or_default();
        let written = source.lines().find_map(|l| l.trim_start().strip_prefix("budget "));
        let mut written = written.and_then(|l| text::numbers(l.split(['#', ';']).next().unwrap_or_default())).unwrap_or(stated.clone());
        stated.sort_by(f64::total_cmp);
        written.sort_by(f64::total_cmp);
        if stated != written {
            self.fail("budget", "is not the one written in the source");
        }
        let (p, memo) = (total.profile(), self.memo);
        let spent = |i: usize, x: f64| match kind {
            "eps" => p.pure.clone(),
            "zcdp" => p.zcdp.clone(),
            "gdp" => p.gdp.clone(),
            "dp" => {
                let delta = last.get(i).copied().unwrap_or(0.0);
                if delta > 0.0 && delta < 1.0 { total.epsilon(delta, memo) } else { p.pure.clone() }
            }
            _ => total.rdp(x, memo),
        };
        let limits = if kind == "rdp" { last } else { first };
        let met = first.iter().zip(limits).enumerate().all(|(i, (x, limit))| spent(i, *x).not_above(*limit));
        if *at(&b, "met") != Value::Bool(met) {
            self.fail("budget.met", format!("should be {met}"));
        }
    }

    /// The assumptions a reader must be told, word by word.
    fn assumptions(&mut self) {
        let mut want = vec![];
        for t in list(self.all, "tables") {
            let (name, k) = (text_at(t, "name"), at(at(t, "unit"), "max_rows"));
            let replace = text_at(t, "relation") == "replace_one";
            want.push(match (replace, at(at(t, "unit"), "key").as_str()) {
                (true, None) => format!("one row of `{name}` is one person; neighbours differ by one replaced row, and the number of rows is public"),
                (false, None) => format!("one row of `{name}` is one person; neighbours differ by one row added or removed, and the number of rows is secret"),
                (true, Some(key)) => format!("all rows of one `{key}` in `{name}` (the first {k} are kept) are one person; neighbours differ by their contents, and the number of rows of every `{key}` is public"),
                (false, Some(key)) => format!("all rows of one `{key}` in `{name}` (the first {k} are kept) are one person; neighbours differ by adding or removing them, and the number of rows is secret"),
            });
        }
        if want.len() > 1 {
            want.push("one person may be in every private table".into());
        }
        fn public(steps: &[Value], want: &mut Vec<String>) {
            for s in steps {
                if *at(at(s, "each"), "public") == Value::Bool(true) {
                    want.push(format!(
                        "the column `{}` of `{}` is public: neighbours keep it",
                        text_at(at(s, "each"), "key"),
                        text_at(at(s, "each"), "table")
                    ));
                }
                ["steps", "then", "else"].iter().for_each(|f| public(list(s, f), want));
            }
        }
        public(list(self.all, "steps"), &mut want);
        want.push("cells outside their declared domain are moved into it when the file is read, before anything else".into());
        want.push("data files are well-formed CSV: a cell that holds a quote, a comma or a line break stands in quotes".into());
        want.push("the order of rows and which file is read do not depend on private values".into());
        want.push("every released number is the ideal real draw rounded to a public grid, decided with certified bounds: no rounding of doubles enters a release".into());
        if list(self.all, "releases").iter().any(|r| text_at(at(r, "sampler"), "name") == "unbound") {
            want.push("public tables or values are not bound yet: the certificate is final only once they are".into());
        }
        let given: Vec<&str> = list(self.all, "assumptions").iter().filter_map(Value::as_str).collect();
        if given != want {
            self.fail("assumptions", "are not those of the tables, groups and samplers");
        }
    }
}

fn names(e: &text::Expr, visit: &mut dyn FnMut(&str)) {
    match e {
        text::Expr::Name(n) => visit(n),
        text::Expr::List(items) | text::Expr::Call(_, items) => items.iter().for_each(|i| names(i, visit)),
        _ => {}
    }
}
fn repeats(list: &[f64]) -> bool {
    list.iter().enumerate().any(|(i, x)| list.iter().skip(i + 1).any(|y| x == y))
}
fn free(claim: &Claim) -> bool {
    match claim {
        Claim::Product(parts) | Claim::Max(parts) => parts.iter().all(free),
        Claim::Repeated(_, one) => free(one),
        _ => false,
    }
}
fn holds(steps: &[Step], i: usize) -> bool {
    steps.iter().any(|s| match s {
        Step::Release(j) => *j == i,
        Step::When(a, b) => holds(a, i) || holds(b, i),
        Step::Each { body, .. } => holds(body, i),
    })
}

/// Reads the steps; releases are numbered in order.
fn steps(items: &[Value], path: &str, seen: &mut usize) -> Checked<Vec<Step>> {
    let mut found = vec![];
    for (i, v) in items.iter().enumerate() {
        let place = format!("{path}[{i}]");
        let keys: Vec<&str> = v.as_object().map_or(vec![], |m| m.keys().map(String::as_str).collect());
        let each = at(v, "each").as_object().map_or(0, serde_json::Map::len);
        let below = |name: &str, seen: &mut usize| steps(list(v, name), &format!("{place}.{name}"), seen);
        found.push(match keys.as_slice() {
            ["release"] if at(v, "release").as_u64() == Some(*seen as u64) => {
                *seen += 1;
                Step::Release(*seen - 1)
            }
            ["then", "else"] | ["else", "then"] if at(v, "then").is_array() && at(v, "else").is_array() => {
                let then = below("then", seen)?;
                Step::When(then, below("else", seen)?)
            }
            ["each", "steps"] | ["steps", "each"]
                if each == 4
                    && at(at(v, "each"), "key").is_string()
                    && at(at(v, "each"), "public").is_boolean()
                    && at(v, "steps").is_array() =>
            {
                Step::Each {
                    table: text_at(at(v, "each"), "table").to_owned(),
                    levels: whole(at(at(v, "each"), "levels"), &place)?,
                    public: *at(at(v, "each"), "public") == Value::Bool(true),
                    body: below("steps", seen)?,
                }
            }
            _ => return err(place, "is no step"),
        });
    }
    Ok(found)
}

/// Is the number not below the truth, and not more than this share above it?
fn within(truth: &Real, given: f64, above: f64) -> bool {
    match truth.known() {
        true => truth.not_above(given) && given <= truth.about() * (1.0 + above) + 1e-300,
        false => given == f64::INFINITY,
    }
}
fn off(truth: &Real, given: f64) -> String {
    format!("{given} against {}", truth.about())
}

/// Does a stated claim say the same? Constants may not be below the truth; parameters of pairs agree to nine digits.
fn same(claim: &Claim, v: &Value) -> bool {
    let fields = |n: usize| v.as_object().is_some_and(|m| m.len() == n);
    let constant = |kind: &str, name: &str, x: &Real| {
        text_at(v, "kind") == kind
            && fields(2)
            && at(v, name).is_number()
            && number(at(v, name)).is_some_and(|y| within(x, y, ABOVE) || (y == 0.0 && !x.positive()))
    };
    let parts = |kind: &str, list_of: &[Claim]| {
        let given = list(v, "claims");
        text_at(v, "kind") == kind && fields(2) && given.len() == list_of.len() && list_of.iter().zip(given).all(|(c, v)| same(c, v))
    };
    match claim {
        Claim::Gdp(x) => constant("gdp", "mu", x),
        Claim::Range(x) => constant("bounded_range", "eta", x),
        Claim::Pure(x) => constant("pure", "epsilon", x),
        Claim::Laplace(x) => constant("laplace", "epsilon", x),
        Claim::Product(list) => parts("product", list),
        Claim::Max(list) => parts("max", list),
        Claim::Repeated(n, one) => {
            text_at(v, "kind") == "repeated" && fields(3) && at(v, "times").as_u64() == Some(*n) && same(one, at(v, "claim"))
        }
        Claim::Renyi(pairs) => {
            let given = list(v, "pairs");
            text_at(v, "kind") == "renyi"
                && fields(2)
                && given.len() == pairs.len()
                && pairs.iter().zip(given).all(|(p, v)| same_pair(p, v))
        }
    }
}

fn same_pair(pair: &Pair, v: &Value) -> bool {
    let near = |x: &Real, v: &Value| v.is_number() && number(v).is_some_and(|y| (x.about() - y).abs() <= 1e-9 * x.about().abs());
    let all = |xs: &[Real], v: &Value| {
        let items = v.as_array().map_or(&[][..], Vec::as_slice);
        items.len() == xs.len() && xs.iter().zip(items).all(|(x, v)| near(x, v))
    };
    let fields = |v: &Value, n: usize| v.as_object().is_some_and(|m| m.len() == n);
    let member = |v: &Value, family: &str, xs: &[Real], total: Option<Real>| {
        fields(v, 2 + usize::from(total.is_some()))
            && text_at(v, "family") == family
            && all(xs, at(v, "parameters"))
            && total.is_none_or(|t| near(&t, at(v, "total")))
    };
    let q = |moves: &(Real, Real)| &moves.0 + &moves.1;
    match pair {
        Pair::Shapes { family, moves, total } => {
            let p: Vec<Real> = moves.iter().map(|m| m.0.clone()).collect();
            fields(v, 2)
                && member(at(v, "p"), family, &p, total.as_ref().map(|t| t.0.clone()))
                && member(at(v, "q"), family, &moves.iter().map(q).collect::<Vec<_>>(), total.as_ref().map(q))
        }
        Pair::Rate { shape, rate, step } => {
            fields(v, 2)
                && member(at(v, "p"), "gamma", &[shape.clone(), rate.clone()], None)
                && member(at(v, "q"), "gamma", &[shape.clone(), rate + step], None)
        }
        Pair::Spread { counts, base, items, weight } => {
            let a = at(v, "allocation");
            fields(v, 1)
                && fields(a, 5)
                && text_at(a, "family") == "dirichlet"
                && all(counts, at(a, "counts"))
                && near(base, at(a, "base"))
                && at(a, "items").as_u64() == Some(*items)
                && near(weight, at(a, "weight"))
        }
    }
}
