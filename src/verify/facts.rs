//! The facts of a certificate: tables, public values, steps, and each release with its normal form.

use super::bounded;
use super::claim::Claim;
use super::design::Design;
use super::draw::Found;
use super::glm;
use super::rules::{self, Given};
use super::scope::{Scope, View};
use super::steps::{self, Place, Step};
use super::text::{Expr, Form, Row};
use super::ty::Ty;
use super::whole;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Or a place of the certificate, and what is wrong there.
pub type Checked<T> = Result<T, (String, String)>;

pub struct Table {
    pub name: String,
    view: View,
    unit: u64,
    least: u64,
    exactly: Option<u64>,
}

pub struct Facts<'a> {
    all: &'a Value,
    scope: Scope,
    tables: Vec<Table>,
    forms: Vec<Form>,
    pub steps: Vec<Step>,
}

/// A JSON number; the string "inf" is infinite.
pub fn number(v: &Value) -> Option<f64> {
    match v {
        Value::Number(n) => n.as_f64().or_else(|| n.to_string().parse().ok()),
        Value::String(s) if s == "inf" => Some(f64::INFINITY),
        _ => None,
    }
}
/// What stands at a JSON pointer; null where nothing does.
pub fn at<'a>(v: &'a Value, pointer: &str) -> &'a Value {
    v.pointer(pointer).unwrap_or(&Value::Null)
}
pub fn list(v: &Value) -> &[Value] {
    v.as_array().map_or(&[], Vec::as_slice)
}
fn text(v: &Value) -> &str {
    v.as_str().unwrap_or_default()
}
/// The value itself if it passes, else one that no certificate holds.
pub fn must(v: &Value, test: impl Fn(&Value) -> bool) -> Value {
    if test(v) { v.clone() } else { json!({"wanted": "another value"}) }
}

/// Does its guarantee rest on a chain having converged? A chain that has none of its own makes it so.
fn assumes(r: &Value) -> bool {
    r["rule"] == "beta_div" || r["rule"] == "ops" || (glm::RULES.contains(&text(&r["rule"])) && r["status"] == "conditional")
}

/// Exact, certified by a chain's own guarantee, or conditional.
fn status(r: &Value) -> &'static str {
    match text(&r["rule"]) {
        _ if assumes(r) => "conditional",
        "penalty" | "dp_hmc" | "dp_sgld" | "refined" => "certified",
        rule if glm::RULES.contains(&rule) => "certified",
        _ => "exact",
    }
}

fn columns(v: &Value) -> Value {
    let column = |c: &Value| {
        let mut found = json!({"name": must(&c["name"], Value::is_string), "type": must(&c["type"], |v| Ty::parse(text(v)).is_some()), "public": must(&c["public"], Value::is_boolean)});
        if let (Some(e), Some(fields)) = (c.get("else"), found.as_object_mut()) {
            fields.insert("else".into(), must(e, Value::is_string));
        }
        found
    };
    list(v).iter().map(column).collect()
}

/// A private table as certificates write it.
pub fn table(t: &Value) -> Value {
    let (unit, rows, replace) = (&t["unit"], &t["rows"], t["relation"] == "replace_one");
    let column = |v: &Value| list(&t["columns"]).iter().any(|c| c["name"] == *v);
    let key = |v: &Value| if v.is_null() { unit["max_rows"].as_u64() == Some(1) } else { column(v) };
    let mut found = json!({"key": must(&unit["key"], key), "max_rows": must(&unit["max_rows"], |k| k.as_u64() > Some(0))});
    if let (Some(order), Some(fields)) = (unit.get("ordered_by"), found.as_object_mut()) {
        fields.insert("ordered_by".into(), must(order, |v| !unit["key"].is_null() && column(v)));
    }
    json!({
        "name": must(&t["name"], Value::is_string),
        "relation": if replace { "replace_one" } else { "add_remove" },
        "unit": found,
        "rows": {
            "public": replace,
            "at_least": must(&rows["at_least"], |n| n.is_u64() && (replace || n.as_u64() == Some(0))),
            "exactly": must(&rows["exactly"], |n| n.is_null() || (replace && n.is_u64())),
            "name": must(&rows["name"], |v| v.is_null() || v.is_string()),
        },
        "columns": columns(&t["columns"]),
    })
}

/// Public tables and values as certificates write them.
pub fn public(v: &Value) -> Value {
    let digest = |v: &Value| v.as_str().is_some_and(|s| s.len() == 64 && s.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')));
    let named = |v: &Value| {
        let mut map = Map::from_iter([("name".to_owned(), must(&v["name"], Value::is_string))]);
        map.extend(v.get("sha256").map(|x| ("sha256".to_owned(), must(x, digest))));
        map
    };
    let table = |t: &Value| {
        let mut map = named(t);
        map.insert("columns".into(), columns(&t["columns"]));
        Value::Object(map)
    };
    let inside = |s: &Value| match (number(&s["value"]), Ty::parse(text(&s["type"]))) {
        (Some(x), Some(ty)) => ty.range().is_some_and(|(lo, hi)| lo <= x && x <= hi),
        (None, ty) => s["value"].is_null() && ty.is_some(),
        _ => false,
    };
    let scalar =
        |s: &Value| json!({"name": must(&s["name"], Value::is_string), "type": s["type"], "value": must(&s["value"], |_| inside(s))});
    let tables: Value = list(&v["tables"]).iter().map(table).collect();
    let scalars: Value = list(&v["scalars"]).iter().map(scalar).collect();
    let mut map = Map::from_iter([("tables".to_owned(), tables), ("scalars".to_owned(), scalars)]);
    for key in ["designs", "records"] {
        map.extend(v.get(key).map(|r| (key.to_owned(), list(r).iter().map(|r| Value::Object(named(r))).collect())));
    }
    Value::Object(map)
}

/// A design of no fewer rows than the table has.
fn known_design(d: &Value, fewest: u64) -> Found<Design> {
    let products: Option<Vec<f64>> = list(&d["products"]).iter().map(number).collect();
    match (d["rows"].as_u64(), products, number(&d["least"])) {
        (Some(rows), Some(products), Some(least)) if rows >= fewest => Design::new(rows, &products, least),
        _ => Err("the design is not numbers, or of too few rows"),
    }
}

impl<'a> Facts<'a> {
    pub fn read(all: &'a Value) -> Checked<Facts<'a>> {
        let err = |path: &str, why: &str| Err((path.to_owned(), why.to_owned()));
        let Some(forms) = Form::all(text(at(all, "/program/normal_form"))) else { return err("program.normal_form", "is unreadable") };
        let (mut values, mut columns, mut counts, mut tables, mut kept) = (BTreeMap::new(), BTreeMap::new(), vec![], vec![], vec![]);
        values.extend([("true", 1.0), ("false", 0.0)].map(|(name, x)| (name.to_owned(), Ty::number(x, x, true))));
        let private = list(&all["tables"]);
        for (i, t) in private.iter().chain(list(at(all, "/public/tables"))).enumerate() {
            let agree = i < private.len() && t["relation"] == "replace_one" && at(t, "/unit/key").is_null();
            for c in list(&t["columns"]) {
                let public = i >= private.len() || c["public"] == true;
                let name = format!("{}.{}", text(&t["name"]), text(&c["name"]));
                kept.extend((agree && public).then(|| name.clone()));
                if columns.insert(name, (text(&c["type"]).to_owned(), public)).is_some() {
                    return err("tables", "two columns have one name");
                }
            }
        }
        let unknown = |e: &Expr| matches!(e, Expr::Name(n) if n.contains('.') && !n.starts_with('"') && !columns.contains_key(n));
        if forms.iter().any(|f| f.parts().any(|e| e.any(&unknown))) {
            return err("program.normal_form", "reads a column that no table has");
        }
        for t in private {
            let (rows, replace) = (&t["rows"], t["relation"] == "replace_one");
            let (exactly, least) = (rows["exactly"].as_u64(), rows["at_least"].as_u64().unwrap_or(0));
            let least = exactly.unwrap_or(least).max(1);
            if let Some(name) = rows["name"].as_str() {
                counts.push(name.to_owned());
                let most = exactly.map_or(f64::INFINITY, |n| n as f64);
                values.insert(name.to_owned(), Ty::number(exactly.unwrap_or(least) as f64, most, true));
            }
            let view = if replace { View::Replace } else { View::AddRemove };
            tables.push(Table { name: text(&t["name"]).into(), view, unit: at(t, "/unit/max_rows").as_u64().unwrap_or(1), least, exactly });
        }
        for s in list(at(all, "/public/scalars")) {
            let known = number(&s["value"]).map(|x| Ty::number(x, x, x.fract() == 0.0));
            values.insert(text(&s["name"]).to_owned(), known.or_else(|| Ty::parse(text(&s["type"]))).unwrap_or(Ty::other()));
        }
        for r in list(&all["releases"]) {
            values.entry(text(&r["name"]).to_owned()).or_insert(Ty::parse(text(&r["type"])).unwrap_or(Ty::other()));
        }
        let mut seen = 0;
        let key = |name: &str| columns.get(name).and_then(|c: &(String, bool)| Some((Ty::parse(&c.0)?.levels()?, c.1)));
        let steps = steps::read(&all["steps"], &mut seen, &key);
        if seen != forms.len() || seen != list(&all["releases"]).len() {
            return err("steps", "do not hold every release of the normal form once");
        }
        let open = list(at(all, "/public/tables")).iter().map(|t| text(&t["name"]).to_owned()).collect();
        let scope =
            Scope { values, columns, open, kept, counts, view: View::Replace, unit: 1, least: 1, public_groups: false, exchanged: false };
        let narrow = |e: &Expr| matches!(e, Expr::Row(value, ty) if !scope.allows(value, ty));
        if forms.iter().any(|f| f.parts().any(|e| e.any(&narrow))) {
            return err("program.normal_form", "says of a value of a row less than its parts can be");
        }
        Ok(Facts { all, scope, tables, forms, steps })
    }

    /// The private table whose rows a release reads: one alone.
    pub fn table_of(&self, i: usize) -> Option<&Table> {
        let form = self.forms.get(i)?;
        let read = |t: &&Table| {
            let mine = |e: &Expr| matches!(e, Expr::Name(n) if n.strip_prefix(t.name.as_str()).is_some_and(|r| r.starts_with('.')));
            form.parts().any(|e| e.any_but(&|e| self.scope.agreed(e), &mine))
        };
        let found: Vec<&Table> = self.tables.iter().filter(read).collect();
        match (found.as_slice(), self.tables.as_slice()) {
            ([one], _) => Some(one),
            ([], [one]) => Some(one),
            _ => None,
        }
    }

    /// How neighbours differ in a table, and the most rows of one unit.
    pub fn unit(&self, name: &str) -> (View, u64) {
        self.tables.iter().find(|t| t.name == name).map_or((View::Replace, 1), |t| (t.view, t.unit))
    }

    /// The claim of one release at its place; of two groups that a row leaves and enters, twice that of a row added where no
    /// rule says more.
    pub fn claim(&self, i: usize, place: Place) -> Found<Claim> {
        let Some((View::Crossing, public)) = place else { return self.one(i, place) };
        let rule = text(at(self.all, &format!("/releases/{i}/rule")));
        let own = if rules::CROSSING.contains(&rule) { self.one(i, place) } else { Err("no rule of its own") };
        own.or_else(|_| self.one(i, Some((View::AddRemove, public))).map(|one| Claim::Product(vec![one.clone(), one])))
    }

    fn one(&self, i: usize, place: Place) -> Found<Claim> {
        let (Some(form), Some(table)) = (self.forms.get(i), self.table_of(i)) else { return Err("reads no single private table") };
        let release = at(self.all, &format!("/releases/{i}"));
        let mut scope = Scope { view: table.view, unit: table.unit, least: table.least, ..self.scope.clone() };
        let mut exactly = table.exactly;
        if let Some((view, public)) = place {
            (scope.view, scope.least, scope.public_groups, scope.kept, exactly) = (view, 1, public, vec![], None);
            scope.exchanged = !public && table.view == View::Replace;
        }
        let sums = |t: &Value| Some((t["rows"].as_u64()?, list(&t["sums"]).iter().filter_map(number).collect()));
        let totals: Vec<Option<(u64, Vec<f64>)>> = list(&release["public_totals"]).iter().map(sums).collect();
        // Only of all rows of a table whose public columns neighbours keep, and whose digest is stated.
        let stated = |d: &Value| d["name"] == table.name && d["sha256"].is_string();
        let whole = scope.kept.iter().any(|c| c.strip_prefix(&table.name).is_some_and(|c| c.starts_with('.')));
        let design = match release.get("public_design") {
            None => None,
            Some(d) if whole && list(at(self.all, "/public/designs")).iter().any(stated) => Some(known_design(d, table.least)?),
            Some(_) => return Err("the design is not that of all rows"),
        };
        let given = Given {
            design: design.as_ref(),
            rule: text(&release["rule"]),
            exactly,
            totals: &totals,
            number: &|name| number(at(release, &format!("/parameters/{name}"))),
        };
        if whole::RULES.contains(&given.rule) {
            return whole::claim(form, &scope, &given);
        }
        let drawn = matches!(&form.request, Expr::Call(f, _) if f == "draw" || f == "draws");
        match drawn {
            true if glm::RULES.contains(&given.rule) => glm::draw(form, &scope, &given, assumes(release)),
            true if bounded::RULES.contains(&given.rule) => bounded::draw(form, &scope, &given),
            true => rules::draw(form, &scope, &given),
            false => rules::query(&form.request, &scope, &given),
        }
    }

    /// The weakest status of any release.
    pub fn status(&self) -> &'static str {
        let all = list(&self.all["releases"]).iter().map(status);
        all.max_by_key(|s| ["exact", "certified", "conditional"].iter().position(|k| k == s)).unwrap_or("exact")
    }

    /// What a release says of itself besides claim and profile.
    pub fn release(&self, i: usize, r: &Value) -> Checked<Map<String, Value>> {
        let Some(form) = self.forms.get(i) else { return Ok(Map::new()) };
        let given = &r["parameters"];
        let (rule, mechanism) = (text(&r["rule"]), text(&r["mechanism"]));
        let weight = if given.get("r").is_some() { "r" } else { "m" };
        let chain = text(at(r, "/sampler/name"));
        let law = match rule {
            "penalty" | "dp_hmc" | "dp_sgld" => Some(rule),
            _ if status(r) == "conditional" => Some(if chain == "slice" { chain } else { "nuts" }),
            _ if glm::RULES.contains(&rule) => Some("langevin"),
            _ => rules::sampler(rule),
        };
        let whole = whole::parameters(rule, &|name| given.get(name).is_some());
        let stated = |names: &[&'static str]| names.iter().copied().filter(|k| given.get(*k).is_some()).collect::<Vec<_>>();
        let (sampler, wanted): (&str, Vec<&str>) = match (law, mechanism) {
            _ if whole.is_some() && rule == mechanism || (rule.starts_with("refined_") && mechanism == "refined") => {
                whole.unwrap_or_default()
            }
            (Some(law), "gibbs") if glm::RULES.contains(&rule) => (law, vec!["weight"]),
            (Some(law), "beta_div") if rule == mechanism => (law, stated(&["beta", "weight"])),
            (Some(law), "penalty") if rule == mechanism => (law, stated(&["iterations", "sigma", "step", "beta", "weight"])),
            (Some(law), "ops") if rule == mechanism => (law, vec!["weight"]),
            (Some(law), "dp_hmc") if rule == mechanism => {
                (law, stated(&["iterations", "steps", "clip", "sigma", "gradient_sigma", "step", "beta", "weight"]))
            }
            (Some(law), "dp_sgld") if rule == mechanism => {
                (law, stated(&["iterations", "batch", "clip", "sigma", "step", "beta", "weight"]))
            }
            (_, name) if bounded::RULES.contains(&name) => {
                return Err((format!("releases[{i}].mechanism"), "is not a mechanism of the rule".into()));
            }
            (Some(law), "direct") => (law, vec![]),
            (Some(law), "diffuse") => (law, vec!["r"]),
            (Some(law), "concentrated") => (law, vec!["m"]),
            (None, "beta_query") => ("beta", vec!["a", "b", weight]),
            (None, "laplace") => ("laplace", vec!["scale"]),
            (None, "geometric") => ("two_sided_geometric", vec!["scale"]),
            (None, "gaussian") if self.scope.grid(&form.request).is_some_and(|e| e >= 0) => ("rounded_normal", vec!["sigma"]),
            (None, "gaussian") => ("normal", vec!["sigma"]),
            // The loss is the same on any grid of candidates.
            (None, "exponential") if chain.ends_with("_of_logarithms") => {
                ("exponential_weights_of_logarithms", stated(&["eps", "lo", "hi"]))
            }
            (None, "exponential") => ("exponential_weights", stated(&["eps", "lo", "hi"])),
            _ => return Err((format!("releases[{i}].mechanism"), "is not a mechanism of the rule".into())),
        };
        let nameless =
            list(&r["public_totals"]).contains(&Value::Null) || list(at(self.all, "/public/scalars")).iter().any(|s| s["value"].is_null());
        // What a run alone knows: an earlier release, a number of rows.
        let earlier = |n: &str| list(&self.all["releases"]).iter().any(|r| text(&r["name"]) == n);
        let late = |e: &Expr| self.scope.agreed(e) || matches!(e, Expr::Name(n) if self.scope.counts.contains(n) || earlier(n));
        let unbound = nameless || form.parts().chain(form.params.iter().map(|(_, prior, _)| prior)).any(|e| e.any(&late));
        // One sum, or one a component or level; none where the cost depends on the number of rows alone.
        let sums = |o: &Row| match (self.scope.row(&o.outcome), &o.law) {
            _ if matches!(rule, "normal_known_variance" | "mv_normal_known_covariance") => Some(0),
            (Some(ty), Expr::Call(law, _)) if law == "categorical" => ty.levels(),
            (ty, _) => ty.map(|t| t.dim),
        };
        let total = |(o, t): (&Row, &Value)| {
            let numbers = |s: &Value| list(s).iter().all(Value::is_number) && Some(list(s).len() as u64) == sums(o);
            let of = |d: &Value, n: &str| d["sha256"].is_string() && n.strip_prefix(text(&d["name"])).is_some_and(|c| c.starts_with('.'));
            let stated = |n: &Value| {
                n.is_u64()
                    && list(at(self.all, "/public/tables")).iter().any(|d| o.outcome.any(&|e| matches!(e, Expr::Name(n) if of(d, n))))
            };
            let bound = json!({"rows": must(&t["rows"], stated), "sums": must(&t["sums"], numbers)});
            if t.is_null() { Value::Null } else { bound }
        };
        let public_rows = form.rows.iter().filter(|o| o.public).zip(list(&r["public_totals"]));
        let place = |v: &Value| v.is_null() || v.as_u64() > Some(0);
        let premise = |p: &Value| {
            let says = |t: &Value| t.as_str().is_some_and(|t| !t.is_empty());
            json!({"text": must(&p["text"], says), "holds": true, "line": must(&p["line"], place), "column": must(&p["column"], place)})
        };
        let measures = [
            "95% bound of |answer - truth|",
            "95% bound of the distance of all numbers together from the truth",
            "95% bound of |mean - truth|, if half of the rows are chosen",
            "95% bound of the rows between answer and quantile, if values are spread evenly",
            "root mean square distance of the draw from the posterior mean",
            "root mean square distance of the draw from the posterior mean, if features and weights are as in most tables",
            "root mean square distance of the draw from the posterior mean, if a row tells what a normal one of sd 1 would",
            "root mean square distance of the draw from the posterior mean, if the chain stays where the prior puts it",
            "expected Hellinger distance to the posterior",
        ];
        let mut release = json!({
            "name": form.name,
            "query": form.query,
            "type": must(&r["type"], |t| t.as_str().is_some_and(|t| Ty::parse(t).is_some())),
            "public_totals": public_rows.map(total).collect::<Value>(),
            "mechanism": mechanism,
            "rule": if law.is_some() || rule == mechanism || (rule.starts_with("refined_") && mechanism == "refined") { rule } else { mechanism },
            "parameters": wanted.iter().map(|k| ((*k).to_owned(), must(&given[*k], Value::is_number))).collect::<Map<_, _>>(),
            "premises": list(&r["premises"]).iter().map(premise).collect::<Value>(),
            "status": status(r),
            "sampler": {"name": must(at(r, "/sampler/name"), |n| n == sampler || (unbound && n == "unbound")), "arguments": {}},
            "predicted_error": {
                "measure": must(at(r, "/predicted_error/measure"), |m| measures.contains(&text(m))),
                "value": must(at(r, "/predicted_error/value"), |v| number(v) >= Some(0.0)),
            },
        });
        let error = release.pointer_mut("/predicted_error").and_then(Value::as_object_mut);
        if let (Some(each), Some(fields)) = (r.pointer("/predicted_error/of_each_number"), error) {
            fields.insert("of_each_number".into(), must(each, |v| number(v) >= Some(0.0)));
        }
        if let (Some(d), Some(fields)) = (r.get("public_design"), release.as_object_mut()) {
            let numbers = |v: &Value| list(v).iter().all(Value::is_number);
            let design = json!({"rows": must(&d["rows"], Value::is_u64), "products": must(&d["products"], numbers), "least": must(&d["least"], Value::is_number)});
            fields.insert("public_design".into(), design);
        }
        Ok(release.as_object().cloned().unwrap_or_default())
    }
}
