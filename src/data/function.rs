//! The functions of the language on doubles, from libm alone: the same result on every machine.

use crate::model::Builtin;

fn truth(b: bool) -> f64 {
    f64::from(u8::from(b))
}

/// Scalar functions, from libm alone so that every machine gives the same doubles.
pub fn unary(f: Builtin, x: f64) -> f64 {
    match f {
        Builtin::Neg => -x,
        Builtin::Not => truth(x == 0.0),
        Builtin::Abs => x.abs(),
        Builtin::Exp => libm::exp(x),
        Builtin::Log => libm::log(x),
        Builtin::Log1p => libm::log1p(x),
        Builtin::Sqrt => libm::sqrt(x),
        Builtin::Tanh => libm::tanh(x),
        Builtin::InvLogit => 1.0 / (1.0 + libm::exp(-x)),
        Builtin::Logit => libm::log(x / (1.0 - x)),
        Builtin::Phi => 0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2),
        Builtin::Floor => libm::floor(x),
        Builtin::Round => libm::rint(x),
        Builtin::Relu => x.max(0.0),
        _ => f64::NAN,
    }
}

/// Two-argument functions and operators; truth is 1 or 0.
pub fn binary(f: Builtin, x: f64, y: f64) -> f64 {
    match f {
        Builtin::Or => truth(x != 0.0 || y != 0.0),
        Builtin::And => truth(x != 0.0 && y != 0.0),
        Builtin::Le => truth(x <= y),
        Builtin::Ge => truth(x >= y),
        Builtin::Eq => truth(x == y),
        Builtin::Ne => truth(x != y),
        Builtin::Lt => truth(x < y),
        Builtin::Gt => truth(x > y),
        Builtin::Add => x + y,
        Builtin::Sub => x - y,
        Builtin::Mul => x * y,
        Builtin::Div => x / y,
        Builtin::Pow => libm::pow(x, y),
        Builtin::Min => x.min(y),
        Builtin::Max => x.max(y),
        _ => f64::NAN,
    }
}

/// A vector to one number.
pub fn fold(f: Builtin, x: &[f64]) -> f64 {
    let n = x.len() as f64;
    let sum: f64 = x.iter().sum();
    match f {
        Builtin::VecSum => sum,
        Builtin::VecMean => sum / n,
        Builtin::VecMin => x.iter().copied().fold(f64::INFINITY, f64::min),
        Builtin::VecMax => x.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        Builtin::VecSd => {
            let mean = sum / n;
            let squares: f64 = x.iter().map(|v| (v - mean) * (v - mean)).sum();
            libm::sqrt(squares / (n - 1.0))
        }
        _ => f64::NAN,
    }
}
