//! What Tab offers: names of the session, and words of the language by where they may stand.

use crate::analyze::mechanism_names;
use crate::check::signatures;
use crate::syntax::tokens::{KEYWORDS, STATEMENTS, Token, tokens};

/// The commands of the prompt, each with what it does.
pub const COMMANDS: &[(&str, &str)] = &[
    (":type", "E        type, label and sensitivity of an expression"),
    (":model", "         the normal form of every release"),
    (":rules", "NAME     every mechanism for a release or parameter, and why it does or does not apply"),
    (":curve", "NAME     the Rényi curve of a release, or of `total`"),
    (":plot", "[KIND] [NAME]  rdp, dp, tradeoff, error or posterior of a release, or of `total`, drawn in the terminal"),
    (":budget", "         what is spent and what is left"),
    (":certificate", "[FILE]   the certificate of the program so far"),
    (":load", "FILE     the statements of a file"),
    (":data", "T=PATH   where the rows of a private table are; with --ledger T=@ID"),
    (":public", "K=VALUE  a public value, or the file of a public table"),
    (":run", "         run the releases that wait"),
    (":undo", "         take the last statement back, if it has not run"),
    (":text", "         the program so far"),
    (":help", "         this list"),
    (":quit", "         leave; so does Ctrl-D"),
];

/// Where the word before `at` begins, and what it may become, in order.
pub fn complete(line: &str, at: usize, names: &[String]) -> (usize, Vec<String>) {
    let before = line.get(..at).unwrap_or(line);
    if before.starts_with(':') && !before.contains(' ') {
        return (0, COMMANDS.iter().map(|(name, _)| (*name).to_owned()).filter(|c| c.starts_with(before)).collect());
    }
    let start = before.rfind(|c: char| !(c.is_alphanumeric() || c == '_')).map_or(0, |i| {
        let width = before.get(i..).and_then(|s| s.chars().next()).map_or(1, char::len_utf8);
        i + width
    });
    let word = before.get(start..).unwrap_or("");
    let ahead = before.get(..start).unwrap_or("");
    let stripped = ahead.strip_prefix(":type").or_else(|| ahead.strip_prefix(":rules")).or_else(|| ahead.strip_prefix(":curve"));
    let ahead = stripped.or_else(|| ahead.strip_prefix(":plot")).unwrap_or(ahead);
    let last = tokens(ahead).last().map(|(token, _)| *token);
    let mut found: Vec<String> = match last {
        Some(Token::Using) => mechanism_names().map(str::to_owned).collect(),
        Some(Token::Tilde) => crate::dist::all().map(|d| d.name.to_owned()).collect(),
        None => STATEMENTS.iter().map(|s| (*s).to_owned()).chain(names.iter().cloned()).collect(),
        Some(_) => {
            let functions = signatures().map(|(name, _)| name.to_owned());
            names.iter().cloned().chain(functions).chain(KEYWORDS.iter().map(|k| (*k).to_owned())).collect()
        }
    };
    found.retain(|f| f.starts_with(word));
    found.sort();
    found.dedup();
    (start, found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered(line: &str) -> Vec<String> {
        complete(line, line.len(), &["p_hat".to_owned(), "smoker".to_owned()]).1
    }

    #[test]
    fn by_place() {
        assert_eq!(offered("rel"), ["release"]);
        assert_eq!(offered(":cu"), [":curve"]);
        assert_eq!(offered("release x = draw(p) using dif"), ["diffuse"]);
        assert_eq!(offered("param q ~ bern"), ["bernoulli", "bernoulli_cloglog", "bernoulli_logit", "bernoulli_probit"]);
        assert_eq!(offered("observe smo"), ["smoker"]);
        assert_eq!(offered("p_"), ["p_hat"]);
        assert_eq!(offered(":curve p_"), ["p_hat"]);
        assert_eq!(offered(":plot p_"), ["p_hat"]);
        assert_eq!(complete("é(smo", 6, &["smoker".to_owned()]), (3, vec!["smoker".to_owned()]));
        assert!(offered("zzz").is_empty());
    }
}
