//! The tree as text in canonical layout, without comments.

use super::ast::*;
use super::tokens::is_name;
use crate::numeric::Binary;

/// One expression on one line; parentheses are put where the tree needs them.
pub fn print_expr(expr: &Expr) -> String {
    let mut out = String::new();
    write_expr(&mut out, expr);
    out
}

/// One statement with its blocks, without a newline at the end.
pub fn print_item(item: &Item) -> String {
    let mut out = String::new();
    write_item(&mut out, item, 0);
    out
}

/// How tightly an expression binds; see the binding powers of the parser.
fn power(expr: &Expr) -> u8 {
    match &expr.kind {
        ExprKind::If(..) => 0,
        ExprKind::Binary(op, ..) => binary_power(*op),
        ExprKind::Unary(UnaryOp::Not, _) => 5,
        ExprKind::Unary(UnaryOp::Neg, _) => 13,
        ExprKind::Number(value, _) if value.is_sign_negative() => 13,
        _ => 20,
    }
}

pub(super) fn binary_power(op: Binary) -> u8 {
    match op {
        Binary::Or => 1,
        Binary::And => 3,
        Binary::Le | Binary::Ge | Binary::Eq | Binary::Ne | Binary::Lt | Binary::Gt => 7,
        Binary::Add | Binary::Sub => 9,
        Binary::Mul | Binary::Div => 11,
        Binary::Pow => 15,
        // Written as functions.
        Binary::Min | Binary::Max => 20,
    }
}

/// `expr`, in parentheses if it binds less tightly than `least`.
fn write_within(out: &mut String, expr: &Expr, least: u8) {
    if power(expr) < least {
        out.push('(');
        write_expr(out, expr);
        out.push(')');
    } else {
        write_expr(out, expr);
    }
}

fn write_expr(out: &mut String, expr: &Expr) {
    match &expr.kind {
        ExprKind::Number(value, text) if text.is_empty() => out.push_str(&format!("{value}")),
        ExprKind::Number(_, text) => out.push_str(text),
        ExprKind::Percent(value) => out.push_str(&share(*value)),
        ExprKind::Text(text) => out.push_str(&format!("\"{text}\"")),
        ExprKind::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        ExprKind::Hole => out.push('?'),
        ExprKind::Name(name) => out.push_str(name),
        ExprKind::List(values) => {
            out.push('[');
            write_list(out, values, write_expr);
            out.push(']');
        }
        ExprKind::Unary(UnaryOp::Neg, value) => {
            out.push('-');
            write_within(out, value, 13);
        }
        ExprKind::Unary(UnaryOp::Not, value) => {
            out.push_str("not ");
            write_within(out, value, 5);
        }
        ExprKind::Binary(op, left, right) => write_binary(out, *op, left, right),
        ExprKind::If(condition, then, otherwise) => {
            out.push_str("if ");
            write_expr(out, condition);
            out.push_str(" then ");
            write_expr(out, then);
            out.push_str(" else ");
            write_expr(out, otherwise);
        }
        ExprKind::Call(callee, args) => {
            write_within(out, callee, 20);
            write_args(out, args);
        }
        ExprKind::Index(value, indices) => {
            write_within(out, value, 20);
            out.push('[');
            write_list(out, indices, write_expr);
            out.push(']');
        }
        ExprKind::Field(value, name) => {
            write_within(out, value, 20);
            out.push('.');
            out.push_str(&name.value);
        }
        ExprKind::Paren(value) => {
            out.push('(');
            write_expr(out, value);
            out.push(')');
        }
    }
}

fn write_binary(out: &mut String, op: Binary, left: &Expr, right: &Expr) {
    // Sums and products lean left, comparisons do not associate, a power takes a unary minus on its right.
    let own = binary_power(op);
    let (at_left, at_right) = match own {
        7 => (8, 8),
        15 => (16, 13),
        _ => (own, own + 1),
    };
    write_within(out, left, at_left);
    if op == Binary::Pow {
        out.push('^');
    } else {
        out.push_str(&format!(" {} ", op.sign().unwrap_or_default()));
    }
    write_within(out, right, at_right);
}

/// A share of `value` percent with the fewest digits that read back as the same number.
fn percent(value: f64) -> String {
    (0..17)
        .map(|digits| format!("{value:.digits$}"))
        .find(|text| text.parse() == Ok(value))
        .map_or_else(|| format!("{value}%"), |text| text + "%")
}

/// The same for a share that is already divided by 100.
fn share(value: f64) -> String {
    (0..20)
        .map(|digits| format!("{:.digits$}", value * 100.0))
        .find(|text| text.parse::<f64>().is_ok_and(|x| x / 100.0 == value))
        .map_or_else(|| percent(value * 100.0), |text| text + "%")
}

fn write_list<T>(out: &mut String, values: &[T], write: impl Fn(&mut String, &T)) {
    for (index, value) in values.iter().enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        write(out, value);
    }
}

fn write_args(out: &mut String, args: &[Arg]) {
    out.push('(');
    write_list(out, args, |out, arg| {
        if let Some(name) = &arg.name {
            out.push_str(&name.value);
            out.push_str(" = ");
        }
        write_expr(out, &arg.value);
    });
    out.push(')');
}

fn write_path(out: &mut String, path: &[Name]) {
    let names: Vec<&str> = path.iter().map(|name| name.value.as_str()).collect();
    out.push_str(&names.join("."));
}

pub(super) fn write_call(out: &mut String, call: &Call) {
    write_path(out, &call.path);
    write_args(out, &call.args);
}

pub(super) fn write_type(out: &mut String, ty: &Type) {
    match &ty.base {
        TypeBase::Category(levels) => {
            out.push_str("category {");
            write_list(out, levels, |out, level| {
                if is_name(&level.value) {
                    out.push_str(&level.value);
                } else {
                    out.push_str(&format!("\"{}\"", level.value));
                }
            });
            out.push('}');
        }
        TypeBase::Named { name, dims } => {
            out.push_str(&name.value);
            if !dims.is_empty() {
                out.push('[');
                write_list(out, dims, write_expr);
                out.push(']');
            }
        }
    }
    match ty.domain.as_ref().map(|domain| &domain.kind) {
        None => {}
        Some(DomainKind::Interval(low, high)) => {
            out.push_str(" in [");
            write_expr(out, low);
            out.push_str(", ");
            write_expr(out, high);
            out.push(']');
        }
        Some(DomainKind::Range(low, high)) => {
            out.push_str(" in ");
            write_expr(out, low);
            out.push_str("..");
            if let Some(high) = high {
                write_expr(out, high);
            }
        }
        Some(DomainKind::Ball(call)) => {
            out.push_str(" in ");
            write_call(out, call);
        }
        Some(DomainKind::Total(total)) => {
            out.push_str(" of ");
            write_expr(out, total);
        }
    }
}

pub(super) fn write_column(out: &mut String, column: &Column) {
    out.push_str(&column.name.value);
    if let Some(from) = &column.from {
        out.push_str(&format!(" from \"{}\"", from.value));
    }
    out.push_str(": ");
    if column.public {
        out.push_str("public ");
    }
    write_type(out, &column.ty);
    if let Some(value) = &column.missing {
        out.push_str(" else ");
        write_expr(out, value);
    }
}

/// Everything of a table before its `{`.
pub(super) fn write_table_head(out: &mut String, keyword: &str, table: &Table) {
    out.push_str(&format!("{keyword} {}[", table.name.value));
    match &table.rows.kind {
        RowsKind::Exactly(rows) => out.push_str(&rows.to_string()),
        RowsKind::Named { secret, name, at_least } => {
            if *secret {
                out.push_str("private ");
            }
            out.push_str(&name.value);
            if let Some(least) = at_least {
                out.push_str(&format!(" >= {}", least.value));
            }
        }
    }
    out.push(']');
    if let Some(unit) = &table.unit {
        let (key, rows) = (&unit.key.value, unit.max_rows.value);
        out.push_str(&format!(" by {key} max {rows}"));
        if let Some(order) = &unit.order {
            out.push_str(&format!(" order {}", order.value));
        }
    }
}

fn write_typed(out: &mut String, name: &Name, ty: Option<&Type>) {
    out.push_str(&name.value);
    if let Some(ty) = ty {
        out.push_str(": ");
        write_type(out, ty);
    }
}

fn write_formals(out: &mut String, formals: &[Formal]) {
    out.push('(');
    write_list(out, formals, |out, formal| {
        write_typed(out, &formal.name, formal.ty.as_ref());
    });
    out.push(')');
}

fn write_release(out: &mut String, release: &Release) {
    out.push_str(&format!("release {} = ", release.name.value));
    write_call(out, &release.query);
    if let Some(using) = &release.using {
        out.push_str(" using ");
        match &using.mechanism {
            Mechanism::Hole => out.push('?'),
            Mechanism::Named { name, args } => {
                out.push_str(&name.value);
                if !args.is_empty() {
                    write_args(out, args);
                }
            }
        }
        match (&using.assuming, &using.within) {
            (Some(_), Some(call)) => {
                out.push_str(" assuming ");
                write_call(out, call);
            }
            (Some(_), None) => out.push_str(" assuming convergence"),
            (None, _) => {}
        }
    }
    match release.spend.as_ref().map(|spend| &spend.kind) {
        None => {}
        Some(SpendKind::Percent(share)) => out.push_str(&format!(" spend {}", percent(*share))),
        Some(SpendKind::Cost(call)) => {
            out.push_str(" spend ");
            write_call(out, call);
        }
    }
}

/// A statement, or the head of one that has a block.
pub(super) fn write_head(out: &mut String, item: &Item) {
    match &item.kind {
        ItemKind::Use { path } => {
            out.push_str("use ");
            write_path(out, path);
        }
        ItemKind::Budget { call } => {
            out.push_str("budget ");
            write_call(out, call);
        }
        ItemKind::Private(table) => write_table_head(out, "private", table),
        ItemKind::PublicTable(table) => write_table_head(out, "public", table),
        ItemKind::PublicRecord { name, file, release } => {
            out.push_str(&format!("public {} from \"{}\"", name.value, file.value));
            out.extend(release.iter().flat_map(|r| [".", &r.value]));
        }
        ItemKind::PublicScalar { name, ty, value } => {
            out.push_str("public ");
            write_typed(out, name, Some(ty));
            if let Some(value) = value {
                out.push_str(" = ");
                write_expr(out, value);
            }
        }
        ItemKind::Param { name, ty, prior } => {
            out.push_str("param ");
            write_typed(out, name, ty.as_ref());
            out.push_str(" ~ ");
            write_call(out, prior);
        }
        ItemKind::Let { name, ty, value } => {
            out.push_str("let ");
            write_typed(out, name, ty.as_ref());
            out.push_str(" = ");
            write_expr(out, value);
        }
        ItemKind::Observe { outcome, likelihood } => {
            out.push_str("observe ");
            write_path(out, outcome);
            out.push_str(" ~ ");
            write_call(out, likelihood);
        }
        ItemKind::Release(release) => write_release(out, release),
        ItemKind::Output { name, value } => {
            out.push_str(&format!("output {} = ", name.value));
            write_expr(out, value);
        }
        ItemKind::Expect { condition } => {
            out.push_str("expect ");
            write_expr(out, condition);
        }
        ItemKind::Each { key, table, .. } => {
            out.push_str(&format!("each {} of {}", key.value, table.value));
        }
        ItemKind::When { condition, .. } => {
            out.push_str("when ");
            write_expr(out, condition);
        }
        ItemKind::Fn { name, formals, result, body } => {
            out.push_str(&format!("fn {}", name.value));
            write_formals(out, formals);
            if let Some(result) = result {
                out.push_str(" -> ");
                write_type(out, result);
            }
            out.push_str(" = ");
            write_expr(out, body);
        }
        ItemKind::Model { name, formals, .. } => {
            out.push_str(&format!("model {}", name.value));
            write_formals(out, formals);
        }
    }
}

pub(super) fn indent(out: &mut String, depth: usize) {
    out.extend(std::iter::repeat_n("  ", depth));
}

fn write_item(out: &mut String, item: &Item, depth: usize) {
    indent(out, depth);
    write_head(out, item);
    match &item.kind {
        ItemKind::Private(table) | ItemKind::PublicTable(table) => {
            if table.columns.is_empty() {
                out.push_str(" {}");
                return;
            }
            out.push_str(" { ");
            write_list(out, &table.columns, write_column);
            out.push_str(" }");
        }
        ItemKind::Each { body, .. } => write_block(out, body, None, depth),
        ItemKind::When { then, otherwise, .. } => {
            write_block(out, then, None, depth);
            if let Some(otherwise) = otherwise {
                out.push_str(" else");
                write_block(out, otherwise, None, depth);
            }
        }
        ItemKind::Model { body, result, .. } => write_block(out, body, Some(result), depth),
        _ => {}
    }
}

fn write_block(out: &mut String, body: &[Item], result: Option<&Expr>, depth: usize) {
    out.push_str(" {\n");
    for item in body {
        write_item(out, item, depth + 1);
        out.push('\n');
    }
    if let Some(result) = result {
        indent(out, depth + 1);
        out.push_str("return ");
        write_expr(out, result);
        out.push('\n');
    }
    indent(out, depth);
    out.push('}');
}
