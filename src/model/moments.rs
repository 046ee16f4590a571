//! Sums of numbers scaled to [-1, 1] and of their products: what `moments(x, y)` releases, and what a model of them knows.

use super::{Builtin, ColumnId, Expr, ExprKind, TableId};

/// What a square counts beside the number itself, of one number and of several. In the L2 norm a square adds nothing to what one
/// number costs while its weight is at most the root of 2.77; of several numbers it is below the root of a half, so that numbers,
/// products and squares are one symmetric matrix (rule book, section 8.13).
const ALONE: f64 = 1.6;
const BESIDE: f64 = 0.707;
/// More numbers than this make hundreds of products.
pub const MOST: u64 = 16;

pub fn square_weight(dim: u64) -> f64 {
    if dim == 1 { ALONE } else { BESIDE }
}

/// Components of the products of a vector: its own, then every product of two of them.
pub fn components(dim: u64) -> u64 {
    dim * (dim + 3) / 2
}

/// The places of the two factors of each product, in order.
pub fn pairs(dim: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..dim).flat_map(move |i| (i..dim).map(move |j| (i, j)))
}

/// A vector and its products, squares with their weight.
pub fn products(v: &[f64]) -> Vec<f64> {
    let weight = square_weight(v.len() as u64);
    let at = |i: usize| v.get(i).copied().unwrap_or(f64::NAN);
    let product = |(i, j)| if i == j { weight * (at(i) * at(i)) } else { at(i) * at(j) };
    v.iter().copied().chain(pairs(v.len()).map(product)).collect()
}

/// A column of released moments, which was scaled as `(x - middle) / half`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Scaled {
    pub table: TableId,
    pub column: ColumnId,
    pub middle: f64,
    pub half: f64,
}

/// The columns of `sum(products([(x - 50) / 50, ..]))`.
pub fn columns(value: &Expr) -> Option<Vec<Scaled>> {
    let ExprKind::Call(Builtin::RowSum, rows) = &value.kind else { return None };
    let [Expr { kind: ExprKind::Call(Builtin::Products, args), .. }] = rows.as_slice() else { return None };
    let [Expr { kind: ExprKind::List(items), .. }] = args.as_slice() else { return None };
    items.iter().map(scaled).collect()
}

pub fn scaled(e: &Expr) -> Option<Scaled> {
    match &e.kind {
        ExprKind::Column(table, column) => Some(Scaled { table: *table, column: *column, middle: 0.0, half: 1.0 }),
        ExprKind::Call(Builtin::Sub, args) => match args.as_slice() {
            [x @ Expr { kind: ExprKind::Column(..), .. }, c] => Some(Scaled { middle: c.constant()?, ..scaled(x)? }),
            _ => None,
        },
        ExprKind::Call(Builtin::Div, args) => match args.as_slice() {
            [x, h] => scaled(x).zip(h.constant()).filter(|(s, h)| s.half == 1.0 && *h > 0.0).map(|(s, half)| Scaled { half, ..s }),
            _ => None,
        },
        _ => None,
    }
}
