//! Parameters as functions of unconstrained coordinates, with the logarithms of their Jacobians (Stan's transforms).

use super::expression::{Lowering, Value};
use crate::data::layout::width;
use crate::kernel::density::{One, Operand};
use crate::mechanism::MechanismError;
use crate::model::{Binary, Expr, Parameter, Range, Type, Unary, VectorType};

/// More coordinates than this are not for a chain in memory.
const MOST: usize = 1 << 20;

/// Coordinates that a parameter takes; `None` for types that no chain moves in.
pub(super) fn coordinates(ty: &Type) -> Option<usize> {
    let n = match ty {
        Type::Real(_) | Type::Matrix { .. } => width(ty),
        Type::Vector(v) if v.dim > 0 => width(ty),
        Type::Simplex { dim, .. } if *dim > 0 => width(ty) - 1,
        _ => return None,
    };
    (n <= MOST).then_some(n)
}

/// Where a chain begins in the coordinates of a parameter: about where its prior lies, if that is known.
pub(super) fn start(p: &Parameter, count: usize) -> Vec<(f64, f64)> {
    let args: Option<Vec<f64>> = p.prior.args.iter().map(Expr::constant).collect();
    let about = args.and_then(|args| p.prior.family.about(&args)).filter(|(m, s)| m.is_finite() && s.is_finite() && *s > 0.0);
    let Some(((m, s), Range { lo, .. })) = about.zip(p.ty.range()).filter(|(_, r)| !r.hi.is_finite()) else {
        return vec![(0.0, 1.0); count];
    };
    let first = if lo.is_finite() { ((m - lo).max(s).ln(), 1.0) } else { (m, s.min(1.0)) };
    let ordered = matches!(&p.ty, Type::Vector(v) if v.ordered);
    (0..count).map(|i| if ordered && i > 0 { (s.ln(), 1.0) } else { first }).collect()
}

impl Lowering<'_> {
    /// The parameter whose first coordinate is `first`; its log-Jacobian goes to the prior.
    pub fn parameter(&mut self, p: &Parameter, first: usize) -> Result<Value, MechanismError> {
        let count = coordinates(&p.ty).ok_or(MechanismError::Expression)?;
        let u: Value = (first..first + count).map(|i| Operand::Shared(i as u32)).collect();
        match &p.ty {
            Type::Simplex { .. } => Ok(self.sticks(&u)),
            Type::Vector(v) if v.ordered => self.ordered(&u, v.range),
            Type::Vector(v) if is_ball(v) => self.ball(&u, v.sup.l2),
            Type::Vector(v) if v.sup.l1 < v.sup.linf * v.dim as f64 * (1.0 - 1e-9) => Err(MechanismError::Expression),
            ty => {
                let range = ty.range().ok_or(MechanismError::Expression)?;
                u.into_iter().map(|u| self.real(u, range)).collect()
            }
        }
    }

    fn jacobian(&mut self, term: Operand) {
        self.to.program().log_prior.push(term);
    }

    /// One number in a range.
    pub fn real(&mut self, u: Operand, range: Range) -> Result<Operand, MechanismError> {
        let Range { lo, hi } = range;
        if lo.partial_cmp(&hi) != Some(std::cmp::Ordering::Less) {
            return Err(MechanismError::Parameter);
        }
        match (lo.is_finite(), hi.is_finite()) {
            (false, false) => Ok(u),
            (true, false) => {
                self.jacobian(u);
                let above = self.to.exp(u);
                Ok(self.to.shift(lo, above))
            }
            (false, true) => {
                self.jacobian(u);
                let below = self.to.exp(u);
                Ok(self.to.sub(Operand::Constant(hi), below))
            }
            (true, true) => {
                let length = hi - lo;
                if !length.is_finite() {
                    return Err(MechanismError::Parameter);
                }
                let flipped = self.to.neg(u);
                for side in [u, flipped] {
                    let log = self.to.unary(One::LogInvLogit, side);
                    self.jacobian(log);
                }
                let share = self.to.unary(Unary::InvLogit, u);
                if (lo, hi) == (0.0, 1.0) {
                    return Ok(share);
                }
                let above = self.to.scale(length, share);
                let x = self.to.shift(lo, above);
                // Rounding may lead past the end.
                Ok(self.to.binary(Binary::Min, x, Operand::Constant(hi)))
            }
        }
    }

    /// Stick-breaking: each coordinate says how much of what is left one more share takes; at 0 all are equal.
    fn sticks(&mut self, u: &[Operand]) -> Value {
        let mut log_left = Operand::Constant(0.0);
        let mut shares = vec![];
        for (u, others) in u.iter().zip((1..=u.len()).rev()) {
            let others = others as f64;
            let t = self.to.shift(-others.ln(), *u);
            let flipped = self.to.neg(t);
            let (taken, kept) = (self.to.unary(One::LogInvLogit, t), self.to.unary(One::LogInvLogit, flipped));
            [taken, kept, log_left].into_iter().for_each(|term| self.jacobian(term));
            let log_share = self.to.add(log_left, taken);
            shares.push(self.to.exp(log_share));
            log_left = self.to.add(log_left, kept);
        }
        shares.push(self.to.exp(log_left));
        shares
    }

    /// Numbers that rise: each lies above the one before it by the exponential of its coordinate; between two ends, by a share of
    /// their distance.
    fn ordered(&mut self, u: &[Operand], range: Range) -> Result<Value, MechanismError> {
        let Range { lo, hi } = range;
        let mut all: Value = vec![];
        if hi.is_finite() {
            let length = hi - lo;
            if !(length.is_finite() && length > 0.0) {
                return Err(MechanismError::Parameter);
            }
            let mut shares = self.sticks(u);
            shares.pop();
            for share in shares {
                let step = self.to.scale(length, share);
                let before = all.last().copied().unwrap_or(Operand::Constant(lo));
                all.push(self.to.add(before, step));
            }
            return Ok(all);
        }
        for u in u {
            all.push(match all.last() {
                None => self.real(*u, range)?,
                Some(before) => {
                    let before = *before;
                    let above = self.real(*u, Range { lo: 0.0, hi })?;
                    self.to.add(before, above)
                }
            });
        }
        Ok(all)
    }

    /// All of R^d onto a ball: `x = c u / sqrt(1 + |u|^2)`, whose Jacobian is `c^d (1 + |u|^2)^(-(d + 2) / 2)`.
    pub fn ball(&mut self, u: &[Operand], radius: f64) -> Result<Value, MechanismError> {
        let square = self.dot(u, u)?;
        let log = self.to.unary(Unary::Log1p, square);
        let jacobian = self.to.scale(-(u.len() as f64 + 2.0) / 2.0, log);
        self.jacobian(jacobian);
        let longer = self.to.shift(1.0, square);
        let length = self.to.unary(Unary::Sqrt, longer);
        let factor = self.to.binary(Binary::Div, Operand::Constant(radius), length);
        Ok(u.iter().map(|u| self.to.mul(*u, factor)).collect())
    }
}

/// Is the domain a ball about 0 and no box?
fn is_ball(v: &VectorType) -> bool {
    v.sup.l2.is_finite() && v.sup.l2 < v.sup.linf * (v.dim as f64).sqrt() * (1.0 - 1e-9)
}
