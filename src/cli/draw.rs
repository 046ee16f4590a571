//! `:plot` of the prompt: the pictures of `dpm plot`, drawn with characters.

use super::report::Shown;
use crate::report::{Kind, chart, errors, released};
use crate::session::Session;
use clap::ValueEnum;

/// Characters inside the axes: with numbers beside them a terminal of 80 columns is filled.
const SIZE: (usize, usize) = (66, 16);

/// The picture that `[KIND] [NAME]` asks for.
///
/// # Errors
/// Why there is none, in words.
pub fn plot(session: &Session, asked: &str) -> Result<String, String> {
    let mut words = asked.split_whitespace().peekable();
    let kind = words.peek().and_then(|w| Shown::from_str(w, false).ok());
    if kind.is_some() {
        words.next();
    }
    let (name, rest) = (words.next(), words.next());
    if rest.is_some() {
        return Err(":plot wants a kind (rdp, dp, tradeoff, error, posterior) and a name, or one of them".into());
    }
    let kind = kind.unwrap_or(Shown::Rdp);
    let program = session.program();
    let first = || session.analysis().releases.first().map(|r| r.name.clone());
    let of_release = || name.map(str::to_owned).or_else(first).ok_or("there is no release yet".to_owned());
    let drawn = match kind {
        Shown::Error => {
            let (name, (public, sources)) = (of_release()?, session.parts());
            errors(program, public, sources).into_iter().find(|(n, _)| *n == name).and_then(|f| f.1)
        }
        Shown::Posterior => {
            let name = of_release()?;
            let value = session.released(&name).ok_or(format!("`{name}` has not been released (:run)"))?;
            released(program, &name, &value)
        }
        Shown::Rdp | Shown::Dp | Shown::Tradeoff => {
            let name = name.unwrap_or("total");
            let claim = session.claim_of(name).ok_or(":plot wants the name of a release, or `total`")?;
            let kind = match kind {
                Shown::Dp => Kind::Dp,
                Shown::Tradeoff => Kind::Tradeoff,
                _ => Kind::Rdp,
            };
            chart(kind, name, &[("certified".into(), &claim)], program.budget.as_ref())
        }
    };
    drawn.map(|c| c.text(SIZE.0, SIZE.1)).ok_or("there is nothing to draw".into())
}
