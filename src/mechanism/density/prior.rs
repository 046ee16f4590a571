//! Logarithms of prior densities, and the arguments of distributions as operands.

use super::expression::{Lowering, Value};
use crate::dist::{ArgKind, Law, Support};
use crate::kernel::density::Operand;
use crate::mechanism::MechanismError;
use crate::model::{DistCall, ExprKind, Label, Parameter, Range};

const UNKNOWN: MechanismError = MechanismError::Expression;

/// Is it normal about a parameter, or with one as its standard deviation, and not cut?
pub(super) fn is_location_scale(p: &Parameter) -> bool {
    let latent = p.prior.args.iter().any(|a| a.label == Label::Latent);
    latent && p.prior.name() == "normal" && p.truncated.is_none() && p.ty.range() == Some(Range::ALL)
}

impl Lowering<'_> {
    /// `mean + sd z` with z standard normal.
    pub fn location_scale(&mut self, p: &Parameter, first: usize, count: usize) -> Result<Value, MechanismError> {
        let args = self.arguments(&p.prior)?;
        let [mean, sd] = args.as_slice() else { return Err(UNKNOWN) };
        let mut value = vec![];
        for i in 0..count {
            // Components share one scalar argument.
            let at = |v: &Value| if v.len() == 1 { v.first().copied() } else { v.get(i).copied() };
            let (mean, sd, z) = (at(mean).ok_or(UNKNOWN)?, at(sd).ok_or(UNKNOWN)?, Operand::Shared((first + i) as u32));
            let square = self.to.mul(z, z);
            let term = self.to.scale(-0.5, square);
            self.to.program().log_prior.push(term);
            let away = self.to.mul(sd, z);
            value.push(self.to.add(mean, away));
        }
        Ok(value)
    }

    /// Adds the prior of a parameter whose value is known.
    pub fn prior(&mut self, p: &Parameter, value: &[Operand]) -> Result<(), MechanismError> {
        // What a cut leaves of a prior is a constant only if the prior is.
        if p.cut_varies() {
            return Err(UNKNOWN);
        }
        let args = self.arguments(&p.prior)?;
        let terms = match p.prior.family.law {
            Law::Vector(log) => log(&mut self.to, &args, value).ok_or(MechanismError::Parameter)?,
            Law::Density(log, _) => {
                let fixed =
                    p.prior.family.support != Support::BetweenArgs || args.iter().flatten().all(|a| matches!(a, Operand::Constant(_)));
                let mut terms = vec![];
                for (i, x) in value.iter().enumerate().filter(|_| fixed) {
                    // Components share one scalar argument.
                    let at = |v: &Value| if v.len() == 1 { v.first().copied() } else { v.get(i).copied() };
                    let args: Value = args.iter().map(at).collect::<Option<_>>().ok_or(UNKNOWN)?;
                    terms.push(log(&mut self.to, &args, *x));
                }
                terms
            }
            Law::Levels { .. } | Law::Count(_) | Law::Mixture => vec![],
        };
        if terms.is_empty() {
            return Err(UNKNOWN);
        }
        self.to.program().log_prior.extend(terms);
        Ok(())
    }

    /// The arguments of a distribution; a public matrix row by row.
    pub fn arguments(&mut self, call: &DistCall) -> Result<Vec<Value>, MechanismError> {
        let mut all = vec![];
        for (e, (_, kind)) in call.args.iter().zip(call.family.args) {
            all.push(match (&e.kind, kind) {
                (ExprKind::List(rows), ArgKind::Matrix) => self.all(rows)?,
                _ => self.value(e)?,
            });
        }
        Ok(all)
    }
}
