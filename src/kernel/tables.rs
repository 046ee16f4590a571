//! Coefficients in the shape of the encoded columns, and gradients on their way back.

use super::layout::{Layout, Part, TABLE};

/// What multiplies the encoded columns of one predictor, or collects their gradient.
pub(super) struct Tables {
    pub dense: Vec<f64>,
    pub joints: Vec<[f64; TABLE]>,
    pub wide: Vec<Vec<f64>>,
}

impl Tables {
    pub fn new(layout: &Layout) -> Tables {
        Tables {
            dense: vec![0.0; layout.dense],
            joints: vec![[0.0; TABLE]; layout.joints.len()],
            wide: layout.wide.iter().map(|p| vec![0.0; p.block.levels]).collect(),
        }
    }

    /// From the coefficients of the columns: a joint level gets the sum of those of its levels.
    pub fn expand(&mut self, layout: &Layout, theta: &[f64]) {
        let coefficient = |p: &Part, level: usize| {
            let column = p.block.column(level).and_then(|c| theta.get(p.first + c));
            column.map_or(0.0, |w| w * p.block.value)
        };
        self.dense.iter_mut().zip(theta).for_each(|(d, t)| *d = *t);
        for (table, joint) in self.joints.iter_mut().zip(&layout.joints) {
            for (level, entry) in table.iter_mut().take(joint.levels).enumerate() {
                *entry = joint.parts.iter().map(|p| coefficient(p, level / p.stride % p.block.levels)).sum();
            }
        }
        for (table, part) in self.wide.iter_mut().zip(&layout.wide) {
            for (level, entry) in table.iter_mut().enumerate() {
                *entry = coefficient(part, level);
            }
        }
    }

    /// Back to the columns: adds the transpose of `expand`.
    pub fn collect(&self, layout: &Layout, gradient: &mut [f64]) {
        gradient.iter_mut().zip(&self.dense).for_each(|(g, d)| *g += d);
        let mut add = |p: &Part, level: usize, x: f64| {
            if let Some(g) = p.block.column(level).and_then(|c| gradient.get_mut(p.first + c)) {
                *g += x * p.block.value;
            }
        };
        for (table, joint) in self.joints.iter().zip(&layout.joints) {
            for (level, x) in table.iter().take(joint.levels).enumerate() {
                joint.parts.iter().for_each(|p| add(p, level / p.stride % p.block.levels, *x));
            }
        }
        for (table, part) in self.wide.iter().zip(&layout.wide) {
            table.iter().enumerate().for_each(|(level, x)| add(part, level, *x));
        }
    }

    pub fn clear(&mut self) {
        self.dense.fill(0.0);
        self.joints.as_flattened_mut().fill(0.0);
        self.wide.iter_mut().for_each(|t| t.fill(0.0));
    }

    pub fn add(&mut self, other: &Tables) {
        fn sum(a: &mut [f64], b: &[f64]) {
            a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
        }
        sum(&mut self.dense, &other.dense);
        sum(self.joints.as_flattened_mut(), other.joints.as_flattened());
        self.wide.iter_mut().zip(&other.wide).for_each(|(a, b)| sum(a, b));
    }
}
