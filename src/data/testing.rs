//! A table for tests of files: a text, a number, a whole number, a level and a bool.

use crate::model::{Column, Range, Relation, RowCount, Table, Type};
use std::sync::Arc;

/// Names of its columns.
pub const NAMES: [&str; 5] = ["t", "x", "k", "g", "b"];

pub fn table() -> Table {
    let span = Default::default();
    let levels = Type::Category(Arc::new(vec!["a".into(), "2.5".into(), "7".into(), "other".into()]));
    let types = [Type::Text, Type::Real(Range::new(-5.0, 5.0)), Type::Int(Range::new(0.0, 9.0)), levels, Type::Bool];
    let column = |(name, ty): (&str, Type)| Column {
        name: name.into(),
        headers: vec![name.into()],
        public: false,
        ty,
        missing: vec![],
        view: None,
        span,
    };
    Table {
        name: "t".into(),
        private: true,
        relation: Relation::ReplaceOne,
        count_name: None,
        rows: RowCount { at_least: 0, exactly: None },
        unit: None,
        order: None,
        columns: NAMES.into_iter().zip(types).map(column).collect(),
        span,
        rows_span: span,
    }
}
