//! Programs run on blocks of rows, forwards for values and backwards for derivatives: one dispatch an operation a block.

use super::functions::{binary, slope, slopes, unary};
use super::op::{Op, Operand};
use super::within::each;

/// What operations read besides each other's results.
#[derive(Clone, Copy)]
pub struct Inputs<'a, const W: usize> {
    pub shared: &'a [f64],
    pub columns: &'a [[f64; W]],
}

impl<const W: usize> Inputs<'_, W> {
    /// The numbers of an operand; `room` holds those that stand nowhere else.
    #[inline(always)]
    fn read<'b>(&'b self, from: Operand, locals: &'b [[f64; W]], room: &'b mut [f64; W]) -> &'b [f64; W] {
        let found = match from {
            Operand::Column(i) => self.columns.get(i as usize),
            Operand::Local(i) => locals.get(i as usize),
            Operand::Constant(_) | Operand::Shared(_) => None,
        };
        if let Some(found) = found {
            return found;
        }
        room.fill(self.scalar(from));
        room
    }

    #[inline(always)]
    fn scalar(&self, from: Operand) -> f64 {
        match from {
            Operand::Constant(x) => x,
            Operand::Shared(i) => self.shared.get(i as usize).copied().unwrap_or(f64::NAN),
            Operand::Column(_) | Operand::Local(_) => f64::NAN,
        }
    }

    /// The numbers of an operand, copied.
    #[inline(always)]
    pub fn copy(&self, from: Operand, locals: &[[f64; W]]) -> [f64; W] {
        *self.read(from, locals, &mut [0.0; W])
    }
}

/// Writes the result of every operation: the first stands at `locals[first]`.
#[inline(always)]
pub fn forward<const W: usize>(ops: &[Op], first: usize, inputs: Inputs<W>, locals: &mut [[f64; W]]) {
    for (i, op) in ops.iter().enumerate() {
        let (before, rest) = locals.split_at_mut((first + i).min(locals.len()));
        if let Some(out) = rest.first_mut() {
            run(op, inputs, before, out);
        }
    }
}

#[inline(always)]
fn run<const W: usize>(op: &Op, inputs: Inputs<W>, locals: &[[f64; W]], out: &mut [f64; W]) {
    let (mut p, mut q, mut r) = ([0.0; W], [0.0; W], [0.0; W]);
    match op {
        Op::Unary(f, a) => unary(*f, inputs.read(*a, locals, &mut p), out),
        Op::Binary(f, a, b) => binary(*f, inputs.read(*a, locals, &mut p), inputs.read(*b, locals, &mut q), out),
        Op::Select(c, a, b) => {
            let (c, a, b) = (inputs.read(*c, locals, &mut p), inputs.read(*a, locals, &mut q), inputs.read(*b, locals, &mut r));
            for (((out, c), a), b) in out.iter_mut().zip(c).zip(a).zip(b) {
                *out = if *c != 0.0 { *a } else { *b };
            }
        }
        Op::Sum(items) => {
            out.fill(0.0);
            for item in items {
                let x = inputs.read(*item, locals, &mut p);
                out.iter_mut().zip(x).for_each(|(out, x)| *out += x);
            }
        }
        Op::Dot(pairs) => {
            out.fill(0.0);
            for (a, b) in pairs {
                let (a, b) = (inputs.read(*a, locals, &mut p), inputs.read(*b, locals, &mut q));
                for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
                    *out = a.mul_add(*b, *out);
                }
            }
        }
        Op::Gather(index, table) => {
            out.fill(f64::NAN);
            let index = inputs.read(*index, locals, &mut p);
            let last = table.len().saturating_sub(1);
            for (level, entry) in table.iter().enumerate() {
                let x = inputs.read(*entry, locals, &mut q);
                for ((out, x), i) in out.iter_mut().zip(x).zip(index) {
                    *out = if is_level(*i, level, last) { *x } else { *out };
                }
            }
        }
        Op::Within(law, items) => {
            let mut out = out.iter_mut();
            each(*law, &items.map(|o| inputs.copy(o, locals)), |_, (log, _)| out.next().into_iter().for_each(|out| *out = log));
        }
    }
}

/// Numbers below the first level are the first, numbers above the last are the last.
#[inline(always)]
fn is_level(i: f64, level: usize, last: usize) -> bool {
    let l = level as f64;
    (i >= l || level == 0) && (i < l + 1.0 || level == last)
}

/// Sums of derivatives on their way back.
pub struct Adjoints<'a, const W: usize> {
    pub locals: &'a mut [[f64; W]],
    pub shared: &'a mut [f64],
}

impl<const W: usize> Adjoints<'_, W> {
    #[inline(always)]
    pub fn add(&mut self, to: Operand, by: &[f64; W]) {
        match to {
            Operand::Local(i) => {
                if let Some(sum) = self.locals.get_mut(i as usize) {
                    sum.iter_mut().zip(by).for_each(|(s, b)| *s += b);
                }
            }
            Operand::Shared(i) => {
                if let Some(sum) = self.shared.get_mut(i as usize) {
                    *sum += total(by);
                }
            }
            Operand::Constant(_) | Operand::Column(_) => {}
        }
    }
}

/// In eight sums that are added up at the end.
#[inline(always)]
pub fn total<const W: usize>(x: &[f64; W]) -> f64 {
    let (eights, rest) = x.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for eight in eights {
        sums.iter_mut().zip(eight).for_each(|(s, x)| *s += x);
    }
    sums.iter().sum::<f64>() + rest.iter().sum::<f64>()
}

fn moves(to: Operand) -> bool {
    matches!(to, Operand::Local(_) | Operand::Shared(_))
}

/// A row without a share in the result stays without one, whatever its derivative: 0 times an infinite slope is 0.
#[inline(always)]
fn times<const W: usize>(g: &[f64; W], d: &[f64; W]) -> [f64; W] {
    let mut out = [0.0; W];
    for ((out, g), d) in out.iter_mut().zip(g).zip(d) {
        *out = if *g == 0.0 { 0.0 } else { g * d };
    }
    out
}

/// Carries derivatives from the results of all operations to what they read, the last operation first.
#[inline(always)]
pub fn reverse<const W: usize>(ops: &[Op], first: usize, inputs: Inputs<W>, locals: &[[f64; W]], adjoints: &mut Adjoints<W>) {
    for (i, op) in ops.iter().enumerate().rev() {
        let (before, rest) = adjoints.locals.split_at_mut((first + i).min(adjoints.locals.len()));
        let (Some(g), Some(y)) = (rest.first(), locals.get(first + i)) else { continue };
        let mut below = Adjoints { locals: before, shared: &mut *adjoints.shared };
        back(op, inputs, locals, (g, y), &mut below);
    }
}

#[inline(always)]
fn back<const W: usize>(op: &Op, inputs: Inputs<W>, locals: &[[f64; W]], (g, y): (&[f64; W], &[f64; W]), sums: &mut Adjoints<W>) {
    let (mut p, mut q, mut d, mut e) = ([0.0; W], [0.0; W], [0.0; W], [0.0; W]);
    match op {
        Op::Unary(f, a) => {
            slope(*f, inputs.read(*a, locals, &mut p), y, &mut d);
            sums.add(*a, &times(g, &d));
        }
        Op::Binary(f, a, b) => {
            slopes(*f, [inputs.read(*a, locals, &mut p), inputs.read(*b, locals, &mut q), y], [&mut d, &mut e]);
            if moves(*a) {
                sums.add(*a, &times(g, &d));
            }
            if moves(*b) {
                sums.add(*b, &times(g, &e));
            }
        }
        Op::Select(c, a, b) => {
            let c = inputs.read(*c, locals, &mut p);
            for (((d, e), c), g) in d.iter_mut().zip(&mut e).zip(c).zip(g) {
                (*d, *e) = if *c != 0.0 { (*g, 0.0) } else { (0.0, *g) };
            }
            sums.add(*a, &d);
            sums.add(*b, &e);
        }
        Op::Sum(items) => items.iter().for_each(|item| sums.add(*item, g)),
        Op::Dot(pairs) => {
            for (a, b) in pairs {
                let (x, y) = (inputs.read(*a, locals, &mut p), inputs.read(*b, locals, &mut q));
                if moves(*a) {
                    d = times(g, y);
                    sums.add(*a, &d);
                }
                if moves(*b) {
                    d = times(g, x);
                    sums.add(*b, &d);
                }
            }
        }
        Op::Gather(index, table) => {
            let index = inputs.read(*index, locals, &mut p);
            let last = table.len().saturating_sub(1);
            for (level, entry) in table.iter().enumerate().filter(|(_, entry)| moves(**entry)) {
                for ((d, i), g) in d.iter_mut().zip(index).zip(g) {
                    *d = if is_level(*i, level, last) { *g } else { 0.0 };
                }
                sums.add(*entry, &d);
            }
        }
        Op::Within(law, items) => {
            let mut by = [[0.0; W]; 4];
            each(*law, &items.map(|o| inputs.copy(o, locals)), |i, (_, slopes)| {
                by.iter_mut().zip(slopes).for_each(|(by, s)| by.get_mut(i).into_iter().for_each(|by| *by = s));
            });
            items.iter().zip(by).filter(|(to, _)| moves(**to)).for_each(|(to, by)| sums.add(*to, &times(g, &by)));
        }
    }
}
