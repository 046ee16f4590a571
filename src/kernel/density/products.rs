//! Small square matrices, and means of products of up to four jointly normal numbers with their derivatives.

use std::collections::BTreeMap;

/// A square matrix by rows.
pub(super) struct Square(usize, Vec<f64>);

impl Square {
    pub(super) fn new(n: usize) -> Square {
        Square(n, vec![0.0; n * n])
    }
    pub(super) fn at(&self, i: usize, j: usize) -> f64 {
        self.1.get(i * self.0 + j).copied().unwrap_or(f64::NAN)
    }
    pub(super) fn add(&mut self, i: usize, j: usize, x: f64) {
        if let Some(y) = self.1.get_mut(i * self.0 + j) {
            *y += x;
        }
    }
    /// The lower factor of Cholesky; not a number where there is none.
    pub(super) fn factor(&self) -> Square {
        let mut l = Square::new(self.0);
        for i in 0..self.0 {
            for j in 0..=i {
                let left = self.at(i, j) - (0..j).map(|k| l.at(i, k) * l.at(j, k)).sum::<f64>();
                l.add(i, j, if i == j { left.sqrt() } else { left / l.at(j, j) });
            }
        }
        l
    }
    /// Solves `l x = b`, then `l' y = x`.
    pub(super) fn solve(&self, b: &[f64]) -> Vec<f64> {
        let (n, mut x) = (self.0, b.to_vec());
        for i in 0..n {
            let known: f64 = (0..i).map(|k| self.at(i, k) * at(&x, k)).sum();
            set(&mut x, i, (at(b, i) - known) / self.at(i, i));
        }
        for i in (0..n).rev() {
            let known: f64 = (i + 1..n).map(|k| self.at(k, i) * at(&x, k)).sum();
            let y = (at(&x, i) - known) / self.at(i, i);
            set(&mut x, i, y);
        }
        x
    }
}

pub(super) fn at(x: &[f64], i: usize) -> f64 {
    x.get(i).copied().unwrap_or(f64::NAN)
}

pub(super) fn set(x: &mut [f64], i: usize, to: f64) {
    if let Some(x) = x.get_mut(i) {
        *x = to;
    }
}

pub(super) fn add(x: &mut [f64], i: usize, more: f64) {
    if let Some(x) = x.get_mut(i) {
        *x += more;
    }
}

/// Of a product its first number, the product of the others, and for each of these the product without it.
type Term = (usize, usize, Vec<(usize, usize)>);

/// Means of all products of up to four jointly normal numbers, each from shorter ones:
/// `E[x_i R] = m_i E[R] + sum_j S_ij E[R without x_j]`.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Products {
    /// The first is empty.
    pub(super) terms: Vec<Term>,
    places: BTreeMap<Vec<usize>, usize>,
}

impl Products {
    pub(super) fn new(d: usize) -> Products {
        let mut all = Products { terms: vec![(0, 0, vec![])], places: BTreeMap::from([(vec![], 0)]) };
        let mut last: Vec<Vec<usize>> = vec![vec![]];
        for _ in 0..4 {
            let longer = |of: Vec<usize>| (of.last().copied().unwrap_or(0)..d).map(move |i| [of.as_slice(), &[i]].concat());
            last = last.into_iter().flat_map(longer).collect();
            for of in &last {
                let Some((first, rest)) = of.split_first() else { continue };
                let without = |p: usize| rest.iter().enumerate().filter(|(i, _)| *i != p).map(|(_, x)| *x).collect::<Vec<_>>();
                let pairs = rest.iter().enumerate().map(|(p, j)| (*j, all.place(&without(p)))).collect();
                let term = (*first, all.place(rest), pairs);
                all.places.insert(of.clone(), all.terms.len());
                all.terms.push(term);
            }
        }
        all
    }

    pub(super) fn place(&self, of: &[usize]) -> usize {
        let mut of = of.to_vec();
        of.sort_unstable();
        self.places.get(&of).copied().unwrap_or(usize::MAX)
    }

    pub(super) fn means(&self, mean: &[f64], s: &Square) -> Vec<f64> {
        let mut all = Vec::with_capacity(self.terms.len());
        for (k, (i, rest, pairs)) in self.terms.iter().enumerate() {
            let paired = pairs.iter().map(|(j, without)| s.at(*i, *j) * at(&all, *without)).sum::<f64>();
            all.push(if k == 0 { 1.0 } else { at(mean, *i) * at(&all, *rest) + paired });
        }
        all
    }

    /// From derivatives by all means to those by the numbers' means and covariances.
    pub(super) fn back(&self, (mean, s, all): (&[f64], &Square, &[f64]), by: &mut [f64], by_mean: &mut [f64], by_s: &mut Square) {
        for (k, (i, rest, pairs)) in self.terms.iter().enumerate().skip(1).rev() {
            let g = at(by, k);
            if g == 0.0 {
                continue;
            }
            add(by_mean, *i, g * at(all, *rest));
            add(by, *rest, g * at(mean, *i));
            for (j, without) in pairs {
                by_s.add(*i, *j, g * at(all, *without));
                add(by, *without, g * s.at(*i, *j));
            }
        }
    }
}
