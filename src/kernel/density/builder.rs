//! Operations put where they belong: on constants, on columns, on parameters or on rows; equal ones are shared.

use std::collections::HashMap;

use super::{One, Op, Operand, Program, Two, constant};
use crate::numeric::{Binary, Unary};

/// A program under construction. While it grows, derived columns and shared results go by the operands that rows know them
/// by; `finish` gives the tapes their own.
#[derive(Default)]
pub struct Builder {
    program: Program,
    known: HashMap<String, Operand>,
}

impl Builder {
    pub fn new(dimension: usize, columns: usize) -> Builder {
        Builder { program: Program { dimension, columns, ..Program::default() }, known: HashMap::new() }
    }

    pub fn program(&mut self) -> &mut Program {
        &mut self.program
    }

    /// Adds an operation, or finds it.
    pub fn op(&mut self, mut op: Op) -> Operand {
        let (mut shared, mut column, mut local) = (false, false, false);
        op.operands(&mut |o| match o {
            Operand::Constant(_) => {}
            Operand::Shared(_) => shared = true,
            Operand::Column(_) => column = true,
            Operand::Local(_) => local = true,
        });
        if !(shared || column || local) {
            return Operand::Constant(constant(&op));
        }
        let key = format!("{op:?}");
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let Program { dimension, columns, derived, shared: latent, rows, .. } = &mut self.program;
        let place = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let found = if local || (shared && column) {
            rows.push(op);
            Operand::Local(place(rows.len() - 1))
        } else if shared {
            latent.push(op);
            Operand::Shared(place(*dimension + latent.len() - 1))
        } else {
            derived.push(op);
            Operand::Column(place(*columns + derived.len() - 1))
        };
        self.known.insert(key, found);
        found
    }

    /// The operation behind an operand, if it is one.
    pub fn behind(&self, o: Operand) -> Option<&Op> {
        let after = |i: u32, first: usize| (i as usize).checked_sub(first);
        match o {
            Operand::Constant(_) => None,
            Operand::Shared(i) => self.program.shared.get(after(i, self.program.dimension)?),
            Operand::Column(i) => self.program.derived.get(after(i, self.program.columns)?),
            Operand::Local(i) => self.program.rows.get(i as usize),
        }
    }

    pub fn unary(&mut self, f: impl Into<One>, a: Operand) -> Operand {
        self.op(Op::Unary(f.into(), a))
    }

    pub fn binary(&mut self, f: Binary, a: Operand, b: Operand) -> Operand {
        use Operand::Constant;
        match (f, a, b) {
            (Binary::Add, x, Constant(0.0)) | (Binary::Add, Constant(0.0), x) | (Binary::Sub, x, Constant(0.0)) => x,
            (Binary::Mul, x, Constant(1.0)) | (Binary::Mul, Constant(1.0), x) | (Binary::Div, x, Constant(1.0)) => x,
            (Binary::Sub, Constant(0.0), x) | (Binary::Mul, Constant(-1.0), x) => self.unary(Unary::Neg, x),
            (Binary::Sub, Constant(1.0), x) => self.complement(x),
            _ => self.op(Op::Binary(Two::Of(f), a, b)),
        }
    }

    pub fn add(&mut self, a: Operand, b: Operand) -> Operand {
        self.binary(Binary::Add, a, b)
    }

    pub fn sub(&mut self, a: Operand, b: Operand) -> Operand {
        self.binary(Binary::Sub, a, b)
    }

    pub fn mul(&mut self, a: Operand, b: Operand) -> Operand {
        self.binary(Binary::Mul, a, b)
    }

    pub fn scale(&mut self, factor: f64, a: Operand) -> Operand {
        self.mul(Operand::Constant(factor), a)
    }

    pub fn shift(&mut self, by: f64, a: Operand) -> Operand {
        self.add(Operand::Constant(by), a)
    }

    pub fn neg(&mut self, a: Operand) -> Operand {
        match self.behind(a) {
            Some(Op::Unary(One::Of(Unary::Neg), x)) => *x,
            _ => self.unary(Unary::Neg, a),
        }
    }

    pub fn exp(&mut self, a: Operand) -> Operand {
        self.unary(Unary::Exp, a)
    }

    /// `exp(l)^b`
    pub fn power(&mut self, b: f64, l: Operand) -> Operand {
        let l = self.scale(b, l);
        self.exp(l)
    }

    pub fn sum(&mut self, items: Vec<Operand>) -> Operand {
        match items.as_slice() {
            [] => Operand::Constant(0.0),
            [one] => *one,
            _ => self.op(Op::Sum(items)),
        }
    }

    pub fn select(&mut self, c: Operand, a: Operand, b: Operand) -> Operand {
        self.op(Op::Select(c, a, b))
    }

    /// `1 - x`, of a probability by its link, so that no digit is lost near 1.
    fn complement(&mut self, x: Operand) -> Operand {
        let Some(Op::Unary(One::Of(f @ (Unary::InvLogit | Unary::Phi)), t)) = self.behind(x).cloned() else {
            return self.op(Op::Binary(Two::Of(Binary::Sub), Operand::Constant(1.0), x));
        };
        let t = self.neg(t);
        self.unary(f, t)
    }

    /// `ln x`, straight from what x is a function of where that keeps digits.
    pub fn log(&mut self, x: Operand) -> Operand {
        match self.behind(x).cloned() {
            Some(Op::Unary(One::Of(Unary::Exp), t)) => t,
            Some(Op::Unary(One::Of(Unary::InvLogit), t)) => self.unary(One::LogInvLogit, t),
            Some(Op::Unary(One::Of(Unary::Phi), t)) => self.unary(One::LogPhi, t),
            Some(Op::Unary(One::Of(Unary::InvCloglog), t)) => self.unary(One::LogCloglog, t),
            _ => self.unary(Unary::Log, x),
        }
    }

    /// The logarithm of the sum of exponentials, about the largest.
    pub fn log_sum_exp(&mut self, items: &[Operand]) -> Operand {
        let Some(top) = items.iter().copied().reduce(|a, b| self.binary(Binary::Max, a, b)) else {
            return Operand::Constant(f64::NEG_INFINITY);
        };
        let below: Vec<Operand> = items.iter().map(|item| self.sub(*item, top)).collect();
        let terms = below.into_iter().map(|item| self.exp(item)).collect();
        let sum = self.sum(terms);
        let log = self.log(sum);
        self.add(top, log)
    }

    /// The program; tapes read their own results as locals.
    pub fn finish(mut self) -> Program {
        let Program { columns, derived, shared, .. } = &mut self.program;
        for op in derived {
            op.operands(&mut |o| match o {
                Operand::Column(i) if *i as usize >= *columns => *o = Operand::Local(*i - *columns as u32),
                _ => {}
            });
        }
        for op in shared {
            op.operands(&mut |o| {
                if let Operand::Shared(i) = o {
                    *o = Operand::Local(*i);
                }
            });
        }
        self.program
    }
}
