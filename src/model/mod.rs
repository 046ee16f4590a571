//! What a program means: tables, models as sums of factors, queries, and the steps that release and output.

pub mod bins;
pub mod cells;
pub mod column;
pub mod design;
pub mod enclose;
pub mod expand;
pub mod expr;
pub mod fit;
pub mod grid;
pub mod links;
pub mod moments;
pub mod narrow;
pub mod print;
pub mod record;
pub mod stan;
pub mod sums;
pub mod types;

pub use crate::numeric::{Binary, Range, Unary, calendar};
pub use column::{Column, View};
pub use expr::{Builtin, ColumnId, Expr, ExprKind, Label, ParamId, ReleaseId, ScalarId, TableId};
pub use types::{Axes, Axis, Levels, Norms, Type, VectorType};

use crate::dist::{Distribution, Support};
use crate::source::{Help, Span};

/// A checked program.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Program {
    pub tables: Vec<Table>,
    /// Tables that no file holds, numbered behind the others: cells of released tables of counts, draws of posteriors.
    pub derived: Vec<Table>,
    pub scalars: Vec<Scalar>,
    pub records: Vec<record::Record>,
    pub designs: Vec<design::Design>,
    pub budget: Option<Budget>,
    pub steps: Vec<Step>,
    /// The names of what is known once it ran, by `ReleaseId`.
    pub released: Vec<String>,
    /// Spans of the model, and where the text says what stands there: the use of a `let` and its right side, a `param`
    /// statement and the part from its name on.
    pub places: Vec<(Span, Span)>,
}

impl Program {
    pub fn table(&self, id: TableId) -> Option<&Table> {
        self.tables.get(id.0).or_else(|| self.derived.get(id.0.checked_sub(self.tables.len())?))
    }

    /// Where the text says what the model has at `span`: the right side of the `let` whose use this is.
    pub fn place(&self, span: Span) -> Span {
        let mut at = span;
        // A `let` may name another one; each step goes to a place written earlier.
        for _ in 0..self.places.len() {
            match self.places.iter().find(|(from, _)| *from == at) {
                Some((_, to)) if *to != at => at = *to,
                _ => break,
            }
        }
        at
    }
}

/// How neighbouring data sets differ.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Relation {
    /// One unit's rows are replaced; the number of rows is public.
    ReplaceOne,
    /// One unit's rows are added or removed; the number of rows is secret.
    AddRemove,
}

/// What the header says about the number of rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RowCount {
    /// At least this many (0 if nothing is said, and for a secret n).
    pub at_least: u64,
    pub exactly: Option<u64>,
}

/// `private` or `public` table.
#[derive(Clone, PartialEq, Debug)]
pub struct Table {
    pub name: String,
    pub private: bool,
    pub relation: Relation,
    /// The name bound to the number of rows.
    pub count_name: Option<String>,
    pub rows: RowCount,
    /// `by key max k`: the key column and k.
    pub unit: Option<(ColumnId, u64)>,
    /// `order c`: the rows of a unit with the least values of this column are kept, not the first of the file.
    pub order: Option<ColumnId>,
    pub columns: Vec<Column>,
    pub span: Span,
    pub rows_span: Span,
}

impl Table {
    /// The most rows one unit may have: k.
    pub fn unit_rows(&self) -> u64 {
        self.unit.map_or(1, |(_, k)| k)
    }

    /// Help that declares another number of rows: `private t[n] by id max 3 { ... }`; of any table where none is known.
    pub fn redeclared(table: Option<&Table>, lead: impl Into<String>, rows: &str, effect: impl Into<String>) -> Help {
        let Some(t) = table else { return (lead, format!("private t[{rows}] {{ ... }}"), effect).into() };
        let unit = t.unit_text().map_or(String::new(), |u| format!(" {u}"));
        let word = if t.private { "private" } else { "public" };
        Help::from((lead, format!("{word} {}[{rows}]{unit} {{ ... }}", t.name), effect)).edit(t.rows_span, format!("[{rows}]"))
    }

    /// The column of `order`.
    pub fn ordered_by(&self) -> Option<&Column> {
        self.columns.get(self.order?.0)
    }

    /// The columns that its file has.
    pub fn declared(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(|c| c.view.is_none())
    }

    /// What a public number of rows is called.
    pub fn public_name(&self) -> &str {
        self.count_name.as_deref().unwrap_or("n")
    }

    fn unit_text(&self) -> Option<String> {
        let (key, most) = self.unit?;
        let key = self.columns.get(key.0)?;
        let order = self.ordered_by().map_or(String::new(), |c| format!(" order {}", c.name));
        Some(format!("by {} max {most}{order}", key.name))
    }

    /// What neighbours differ in: "one row", "up to 3 rows of one `id`".
    pub fn unit_in_words(&self) -> String {
        match self.unit.and_then(|(key, most)| Some((self.columns.get(key.0)?, most))) {
            Some((key, 1)) => format!("the row of one `{}`", key.name),
            Some((key, most)) => format!("up to {most} rows of one `{}`", key.name),
            None => "one row".into(),
        }
    }
}

/// `public k: real in [0, 10] = 3.5`
#[derive(Clone, PartialEq, Debug)]
pub struct Scalar {
    pub name: String,
    pub ty: Type,
    pub value: Option<Expr>,
    pub span: Span,
}

/// A distribution applied to arguments.
#[derive(Clone, PartialEq, Debug)]
pub struct DistCall {
    pub family: &'static Distribution,
    /// Of a mixture the weights, then the arguments of all components: whoever looks for columns or parameters finds them here.
    pub args: Vec<Expr>,
    /// The components of a mixture; empty for others.
    pub mixed: Vec<&'static Distribution>,
    pub span: Span,
}

impl DistCall {
    /// Name as in the language: `beta`, `bernoulli_logit`, ..
    pub fn name(&self) -> &'static str {
        self.family.name
    }

    /// Every component with its arguments; a law that is not a mixture is its own.
    pub fn components(&self) -> Vec<(&'static Distribution, &[Expr])> {
        if self.mixed.is_empty() {
            return vec![(self.family, &self.args)];
        }
        let mut rest = self.args.get(1..).unwrap_or(&[]);
        let own = |d: &&'static Distribution| {
            let (args, others) = rest.split_at(d.args.len().min(rest.len()));
            rest = others;
            (*d, args)
        };
        self.mixed.iter().map(own).collect()
    }

    /// The weights of a mixture.
    pub fn weights(&self) -> Option<&Expr> {
        self.args.first().filter(|_| !self.mixed.is_empty())
    }
}

/// One parameter with its prior factor.
#[derive(Clone, PartialEq, Debug)]
pub struct Parameter {
    pub id: ParamId,
    pub name: String,
    /// Type of a value of the parameter: the support of the prior, cut to the declared domain.
    pub ty: Type,
    /// The declared domain where it cuts the support of the prior (a truncated prior), by an interval, a ball or an order.
    pub truncated: Option<Range>,
    pub prior: DistCall,
    /// From `param` to the end of the prior.
    pub span: Span,
}

impl Parameter {
    /// Does what a cut leaves of the prior depend on parameters? An order leaves one part in d!, whatever the prior.
    pub fn cut_varies(&self) -> bool {
        let only_ordered =
            matches!((&self.ty, self.prior.family.support), (Type::Vector(v), Support::Real(r)) if v.ordered && v.range == r);
        self.truncated.is_some() && !only_ordered && self.prior.args.iter().any(|a| a.label != Label::Public)
    }
}

/// `observe outcome ~ likelihood`: one factor a row.
#[derive(Clone, PartialEq, Debug)]
pub struct Observation {
    pub table: TableId,
    pub outcome: Expr,
    pub likelihood: DistCall,
    pub span: Span,
}

/// The private rows as rules see them: never a value, only what the header promises.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Records {
    pub table: TableId,
    pub relation: Relation,
    /// The most rows one unit may have: k >= 1.
    pub unit_rows: u64,
    pub rows: RowCount,
}

/// The posterior of one connected component and what is asked of it: what rules match.
///
/// Potential: `-log prior(parameters) + sum over public rows + sum over private rows of one loss each`.
#[derive(Clone, PartialEq, Debug)]
pub struct Model {
    pub parameters: Vec<Parameter>,
    pub records: Records,
    /// Factors of the private rows.
    pub private: Vec<Observation>,
    /// Factors of public tables.
    pub public: Vec<Observation>,
    pub request: Request,
}

/// What of a posterior is released.
#[derive(Clone, PartialEq, Debug)]
pub enum Request {
    /// `draw(w, b)` (times 1), `draws(p, 10)`.
    Draw { parameters: Vec<ParamId>, times: u64 },
    /// `posterior(p)`.
    Posterior { parameter: ParamId },
}

/// A query over the rows of one table, with its sensitivities at the table's relation and unit.
#[derive(Clone, PartialEq, Debug)]
pub struct AggregateQuery {
    pub table: TableId,
    pub value: Expr,
    /// Upper bounds on the change between neighbours; infinite where unknown.
    pub sensitivity: Norms,
    pub records: Records,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Query {
    Posterior(Model),
    Aggregate(AggregateQuery),
}

/// Every release in program order, wherever it stands.
pub fn releases(steps: &[Step]) -> Vec<&ReleaseStep> {
    let mut out = vec![];
    for step in steps {
        match step {
            Step::Release(r) => out.push(r),
            Step::When { then, otherwise, .. } => {
                out.extend(releases(then));
                out.extend(releases(otherwise));
            }
            Step::Each(e) => out.extend(releases(&e.body)),
            Step::Output { .. } | Step::Expect(_) => {}
        }
    }
    out
}

/// `release x = query using mechanism spend share`
#[derive(Clone, PartialEq, Debug)]
pub struct ReleaseStep {
    pub id: ReleaseId,
    pub name: String,
    pub query: Query,
    pub query_span: Span,
    pub mechanism: MechanismChoice,
    pub spend: Option<Spend>,
    pub ty: Type,
    pub span: Span,
}

/// What `using` says; `span` covers from `using`, or the query where it is absent.
#[derive(Clone, PartialEq, Debug)]
pub struct MechanismChoice {
    pub kind: MechanismKind,
    pub assuming_convergence: bool,
    /// From `using` to the end of the mechanism; `None` where the program has no `using`.
    pub span: Option<Span>,
}

#[derive(Clone, PartialEq, Debug)]
pub enum MechanismKind {
    Auto,
    Hole,
    /// Name and arguments: position or name, value, span. Constants only, or words (`sampler = nuts`).
    Named {
        name: String,
        args: Vec<MechanismArg>,
    },
}

#[derive(Clone, PartialEq, Debug)]
pub struct MechanismArg {
    pub name: Option<String>,
    pub value: ArgValue,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub enum ArgValue {
    Number(f64),
    Word(String),
    Many(Vec<f64>),
}

#[derive(Clone, PartialEq, Debug)]
pub struct Spend {
    /// A share in 0..=1 of the budget, or an absolute cost.
    pub kind: SpendKind,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub enum SpendKind {
    Share(f64),
    Cost(BudgetKind),
}

/// `budget dp(eps = 1, delta = 1e-6)`
#[derive(Clone, PartialEq, Debug)]
pub struct Budget {
    pub kind: BudgetKind,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub enum BudgetKind {
    Pure(f64),
    Dp {
        epsilon: f64,
        delta: f64,
    },
    Zcdp(f64),
    Gdp(f64),
    /// (order, epsilon) pairs, all to hold at once.
    Rdp(Vec<(f64, f64)>),
}

impl BudgetKind {
    /// What is allowed: epsilon, rho, mu, epsilon at each order.
    pub fn numbers(&self) -> Vec<f64> {
        match self {
            BudgetKind::Pure(x) | BudgetKind::Zcdp(x) | BudgetKind::Gdp(x) | BudgetKind::Dp { epsilon: x, .. } => vec![*x],
            BudgetKind::Rdp(points) => points.iter().map(|(_, x)| *x).collect(),
        }
    }
}

#[derive(Clone, PartialEq, Debug)]
pub enum Step {
    Release(ReleaseStep),
    /// `output y = expr`. A value that draws (`simulate`) is computed once and then known by its id; `shown` is false for
    /// one that a `let` or an argument needs.
    Output {
        id: Option<ReleaseId>,
        name: String,
        value: Expr,
        shown: bool,
        span: Span,
    },
    Expect(Expect),
    When {
        condition: Expr,
        then: Vec<Step>,
        otherwise: Vec<Step>,
        span: Span,
    },
    Each(Each),
}

/// `each key of table { .. }`: one copy of the body per level.
#[derive(Clone, PartialEq, Debug)]
pub struct Each {
    pub table: TableId,
    pub key: ColumnId,
    pub levels: Levels,
    /// The key is a public column: levels and group sizes are fixed.
    pub public_key: bool,
    pub body: Vec<Step>,
    pub span: Span,
}

/// `expect ..`: a fact about types, labels or certificates, judged before any data.
#[derive(Clone, PartialEq, Debug)]
pub struct Expect {
    pub fact: Fact,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Fact {
    /// `certificate(x) <= K`; `None` is the total.
    CostAtMost {
        release: Option<ReleaseId>,
        limit: BudgetKind,
    },
    /// `certificate(x).max_order == 9.978`: field, comparison, number, half a unit of the last digit written.
    Field {
        release: Option<ReleaseId>,
        field: String,
        compare: Builtin,
        value: f64,
        tolerance: f64,
    },
    RuleIs {
        release: ReleaseId,
        name: String,
    },
    StatusIs {
        release: ReleaseId,
        name: String,
    },
    /// Decided by the checker: it holds, or the text says what was found.
    Checked {
        holds: bool,
        found: String,
    },
}
