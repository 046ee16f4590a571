//! Ast to Program: names, types with ranges, labels, sensitivities, models; or complaints.

mod aggregates;
mod budget;
mod calls;
mod components;
mod counted;
mod dates;
mod declarations;
mod design;
mod distributions;
mod exclusive;
mod expect;
mod expressions;
mod fits;
mod functions;
mod groups;
mod indices;
mod inline;
mod messages;
mod missing;
mod modules;
mod moments;
mod new_rows;
mod noisy_cells;
mod observations;
mod operators;
mod outputs;
mod predictions;
mod predictors;
pub mod records;
mod releases;
mod scaled;
mod scope;
mod selected;
pub mod sensitivity;
mod size;
mod statements;
mod sums;
mod tables;
mod types;
pub mod vectors;

use crate::model::{
    Column, ColumnId, Expr, Label, Levels, Norms, Observation, ParamId, Parameter, Program, ReleaseId, Step, TableId, Type,
};
use crate::source::{Diagnostic, Diagnostics, FileId, SourceMap, Span};
use crate::syntax::ast::{self, Ast};
use scope::Scopes;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub use functions::{FUNCTIONS, signatures};
pub(crate) use groups::by_level;
pub(crate) use messages::plain;
pub use modules::{Loader, NoFiles, STD};

/// Something was wrong and has been reported: stop this statement, go on with the next.
pub struct Stop;

pub type Checked<T> = Result<T, Stop>;

/// Nodes that inlining may create in one program, and how deep one expression may grow.
const MAX_NODES: usize = 500_000;
const MAX_DEPTH: usize = 1_000;
const MAX_INLINE: usize = 60;

/// Statements of one kind that cost a search each (releases, expectations), so that no text takes minutes to price.
const MAX_PRICED: usize = 500;

/// Checks a parsed program. The Program holds what could be understood; it may be used only if no diagnostic is an error.
///
/// `loader` finds the text of `use a.b` below the main program's folder; `std.*` is built in.
///
/// `complete` says whether the whole text could be parsed: if not, an unknown name may be in the part that was
/// skipped, and mentioning it is silent.
pub fn check(map: &mut SourceMap, main: FileId, ast: &Ast, complete: bool, loader: &dyn Loader) -> (Program, Diagnostics) {
    let mut checker = checked(map, main, ast, complete, loader);
    let diagnostics = std::mem::take(&mut checker.diagnostics);
    (checker.program, diagnostics)
}

fn checked<'a>(map: &'a mut SourceMap, main: FileId, ast: &Ast, complete: bool, loader: &'a dyn Loader) -> Checker<'a> {
    let modules = modules::load(map, main, ast, loader);
    let mut checker = Checker::new(map, loader);
    checker.diagnostics = modules.diagnostics;
    checker.complete = complete && checker.diagnostics.is_empty();
    checker.open_modules(modules.modules, modules.opened);
    checker.shares = releases::shares(&ast.items);
    checker.define_functions(&ast.items);
    checker.declare_tables(&ast.items);
    checker.program.steps = checker.block(&ast.items);
    // Its complaint is among the diagnostics.
    checker
}

/// What is known of an expression at the end of a program: its type in words, who may know it, and, of a value of a
/// whole private table, how far one unit moves it.
pub struct Described {
    pub ty: String,
    pub label: &'static str,
    pub sensitivity: Option<Norms>,
}

/// Describes `e`, which is in another file of `map` than the program, behind its last statement.
///
/// # Errors
/// What is wrong with the program or with the expression.
pub fn describe(map: &mut SourceMap, main: FileId, ast: &Ast, e: &ast::Expr, loader: &dyn Loader) -> Result<Described, Diagnostics> {
    let mut checker = checked(map, main, ast, true, loader);
    let Ok(e) = checker.expr(e) else { return Err(checker.diagnostics) };
    let sensitivity = match e.label {
        Label::Aggregate(table) => checker.records(table).ok().map(|records| sensitivity::sensitivity(&e, &records)),
        _ => None,
    };
    Ok(Described { ty: messages::type_text(&e.ty), label: checker.label_name(e.label), sensitivity })
}

/// A parameter and where it lives.
struct ParamInfo {
    parameter: Parameter,
    /// The `each` it was declared in.
    group: Option<usize>,
    /// The branches of `when` it was declared in, outermost first.
    branches: Vec<usize>,
    /// The release that has already drawn from its component.
    released: Option<(String, Span)>,
}

struct ReleaseInfo {
    ty: Type,
    /// The table and the aggregate, of one.
    query: Option<(TableId, Expr)>,
    /// Does a chain compute it?
    late: bool,
    /// The model, of all of its draws.
    fit: Option<Arc<crate::model::fit::Fit>>,
    /// How it predicts rows, of weights of a regression.
    predictor: Option<new_rows::Predictor>,
}

struct Checker<'a> {
    map: &'a SourceMap,
    /// Finds records of earlier runs.
    loader: &'a dyn Loader,
    /// The bytes of those that were read.
    record_bytes: usize,
    diagnostics: Diagnostics,
    program: Program,
    scopes: Scopes,
    /// Columns by their names.
    columns: BTreeMap<String, Vec<(TableId, ColumnId)>>,
    /// Columns of files so far, and the bytes of their names.
    file_columns: (u64, u64),
    /// Every list of levels once.
    levels: BTreeSet<Levels>,
    /// The bytes of each of them as a type writes them, by address.
    level_bytes: BTreeMap<usize, u64>,
    /// Histograms of whole numbers, by their ends, and their bins in all.
    numbered: BTreeMap<(i64, i64), Levels>,
    bins: u64,
    /// Levels in the text.
    written_levels: u64,
    /// Places of long lists in the order of their names, by address: the list stays with them.
    level_places: BTreeMap<usize, (Levels, Vec<u32>)>,
    params: Vec<ParamInfo>,
    /// For each parameter one that it shares a factor with, in the end one that represents its component.
    linked: Vec<usize>,
    /// With the `each` around them and a parameter that they mention.
    observations: Vec<(Observation, Option<usize>, Option<ParamId>)>,
    releases: Vec<ReleaseInfo>,
    /// What the derived tables are.
    origins: Vec<scope::Origin>,
    /// The released table whose model is being checked.
    observed: Option<TableId>,
    /// The public table over which every draw is averaged: there its rows are as public as any value.
    beside: Option<TableId>,
    /// Releases and expectations so far, and bytes of releases written out.
    priced: usize,
    bytes: u64,
    /// The `each` that we are in.
    group: Option<usize>,
    groups: Vec<groups::GroupInfo>,
    nodes: usize,
    inlining: Vec<String>,
    /// Could everything be parsed, and was every `observe` right? If not, follow-up complaints are kept back.
    complete: bool,
    /// Values that draw (`simulate`), to be computed before the statement being checked.
    pending: Vec<Step>,
    /// The branches of `when` that we are in, outermost first, and how many there were so far.
    branches: Vec<usize>,
    branch_count: usize,
    /// The name whose `let` is being checked, for messages.
    defining: Option<String>,
    /// The statement that is being checked: Help puts others before it, or in its place.
    statement: Span,
    /// Percent of the budget that `spend` gives away in the text, for messages.
    shares: f64,
}

impl<'a> Checker<'a> {
    fn new(map: &'a SourceMap, loader: &'a dyn Loader) -> Self {
        Checker {
            map,
            loader,
            record_bytes: 0,
            diagnostics: vec![],
            program: Program::default(),
            scopes: Scopes::default(),
            columns: BTreeMap::new(),
            file_columns: (0, 0),
            levels: BTreeSet::new(),
            level_bytes: BTreeMap::new(),
            numbered: BTreeMap::new(),
            bins: 0,
            written_levels: 0,
            level_places: BTreeMap::new(),
            params: vec![],
            linked: vec![],
            observations: vec![],
            releases: vec![],
            origins: vec![],
            observed: None,
            beside: None,
            priced: 0,
            bytes: 0,
            group: None,
            groups: vec![],
            nodes: 0,
            inlining: vec![],
            complete: true,
            pending: vec![],
            branches: vec![],
            branch_count: 0,
            defining: None,
            statement: Span::default(),
            shares: 0.0,
        }
    }

    /// Reports and stops.
    fn fail<T>(&mut self, diagnostic: Diagnostic) -> Checked<T> {
        self.diagnostics.push(diagnostic);
        Err(Stop)
    }

    fn table(&self, id: TableId) -> Option<&crate::model::Table> {
        self.program.table(id)
    }

    fn table_name(&self, id: TableId) -> String {
        self.table(id).map_or_else(String::new, |t| t.name.clone())
    }

    fn column(&self, table: TableId, column: crate::model::ColumnId) -> Option<&Column> {
        self.table(table).and_then(|t| t.columns.get(column.0))
    }

    /// A list of levels: the one that is there already, if it is the same.
    fn listed(&mut self, names: Vec<String>) -> Levels {
        let levels: Levels = Arc::new(names);
        if let Some(known) = self.levels.get(&levels) {
            return known.clone();
        }
        let bytes = levels.iter().map(|l| l.len() as u64 + 4).sum();
        self.level_bytes.insert(Arc::as_ptr(&levels).addr(), bytes);
        self.levels.insert(levels.clone());
        levels
    }

    /// Where a level is in its list, from 0.
    fn place_of(&mut self, name: &str, levels: &Levels) -> Option<usize> {
        if levels.len() <= 64 {
            return levels.iter().position(|l| l == name);
        }
        let (_, sorted) = self.level_places.entry(Arc::as_ptr(levels).addr()).or_insert_with(|| {
            let mut places: Vec<u32> = (0..levels.len()).filter_map(|i| u32::try_from(i).ok()).collect();
            places.sort_by_key(|i| levels.get(*i as usize));
            (levels.clone(), places)
        });
        let at = |i: &u32| levels.get(*i as usize).map_or("", String::as_str);
        let found = sorted.binary_search_by(|i| at(i).cmp(name)).ok()?;
        sorted.get(found).map(|i| *i as usize)
    }

    fn param(&self, id: ParamId) -> Option<&Parameter> {
        self.params.get(id.0).map(|p| &p.parameter)
    }

    fn release(&self, id: ReleaseId) -> Option<&ReleaseInfo> {
        self.releases.get(id.0)
    }

    /// Counts a release or an expectation.
    fn price(&mut self, span: Span) -> Checked<()> {
        self.priced += 1;
        match self.priced.checked_sub(MAX_PRICED) {
            None | Some(0) => Ok(()),
            // One cause, one complaint.
            Some(1) => self.fail(
                Diagnostic::new("E0025", format!("a program has at most {MAX_PRICED} releases and expectations"))
                    .label(span, "one too many")
                    .help("`each` counts once: one release for all its groups; or split the program"),
            ),
            Some(_) => Err(Stop),
        }
    }

    /// A value that draws is computed once, however often its name is used: it becomes a step of its own.
    fn computed_once(&mut self, e: Expr, name: &str) -> Expr {
        if e.label != crate::model::Label::Public || !e.draws() {
            return e;
        }
        let (id, e) = self.known_as(e, name);
        let expr = Expr { kind: crate::model::ExprKind::Released(id), ..e.clone() };
        self.pending.push(Step::Output { id: Some(id), name: name.to_string(), span: e.span, value: e, shown: false });
        expr
    }

    fn known_as(&mut self, e: Expr, name: &str) -> (ReleaseId, Expr) {
        let id = ReleaseId(self.releases.len());
        let late = self.is_late(&e);
        self.releases.push(ReleaseInfo { ty: e.ty.clone(), query: None, late, fit: None, predictor: None });
        self.program.released.push(name.to_string());
        (id, e)
    }

    /// Charges `count` nodes to the program's size.
    fn spend_nodes(&mut self, count: usize, span: Span) -> Checked<()> {
        self.nodes = self.nodes.saturating_add(count);
        if self.nodes > MAX_NODES {
            return self.fail(
                Diagnostic::new("E0025", "this program is too large once its functions are written out")
                    .label(span, format!("more than {MAX_NODES} operations so far"))
                    .help("release intermediate values, or call fewer nested functions"),
            );
        }
        Ok(())
    }
}

/// Number of nodes and depth of an expression.
fn measure(e: &Expr) -> (usize, usize) {
    use crate::model::ExprKind::*;
    let many = |items: &[Expr]| items.iter().map(measure).fold((1, 0), |(n, d), (m, e)| (n + m, usize::max(d, e)));
    let (n, d) = match &e.kind {
        List(items) | Call(_, items) => many(items),
        If(a, b, c) => [a, b, c].into_iter().map(|e| measure(e)).fold((1, 0), |(n, d), (m, e)| (n + m, d.max(e))),
        Index(a, b) => [a, b].into_iter().map(|e| measure(e)).fold((1, 0), |(n, d), (m, e)| (n + m, d.max(e))),
        Field(a, _) => {
            let (n, d) = measure(a);
            (n + 1, d)
        }
        _ => (1, 0),
    };
    (n, d + 1)
}
