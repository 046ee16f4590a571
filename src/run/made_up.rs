//! Made-up rows as the text of a file: each cell as often as it was counted, in an order that says nothing.

use super::bits::Bits;
use crate::dist::sample;
use crate::mechanism::bits::Repeated;
use crate::model::Axis;
use crate::model::print::number;
use sha2::{Digest, Sha256};

/// CSV with these headers, a row for every count; the same counts give the same bytes.
pub fn csv(counts: &[f64], axes: &[Axis], headers: &[String]) -> String {
    let mut rows: Vec<usize> = counts.iter().enumerate().flat_map(|(cell, n)| std::iter::repeat_n(cell, *n as usize)).collect();
    let seed = counts.iter().fold(Sha256::new(), |hash, n| hash.chain_update(n.to_le_bytes()));
    let mut bits = Repeated::new(seed.finalize().into(), 0);
    let mut rng = Bits::new(&mut bits);
    for i in (1..rows.len()).rev() {
        rows.swap(i, (sample::uniform(&mut rng) * (i + 1) as f64) as usize);
    }
    let line = |fields: Vec<String>| fields.join(",") + "\n";
    let mut out = line(headers.iter().map(|h| field(h)).collect());
    for row in rows {
        let mut left = row;
        let mut fields: Vec<String> = axes
            .iter()
            .rev()
            .map(|a| {
                let size = a.levels.len().max(1);
                let place = left % size;
                left /= size;
                match a.middle(place) {
                    Some(middle) => number(middle),
                    None => field(a.levels.get(place).map_or("", String::as_str)),
                }
            })
            .collect();
        fields.reverse();
        out.push_str(&line(fields));
    }
    out
}

/// Quoted where RFC 4180 wants it, and where readers take off spaces.
fn field(text: &str) -> String {
    let plain = !text.contains([',', '"', '\n', '\r']) && text.trim() == text;
    if plain { text.to_owned() } else { format!("\"{}\"", text.replace('"', "\"\"")) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::model::Type;
    use std::sync::Arc;

    #[test]
    fn levels_are_quoted_and_rows_counted() {
        let axis = |name: &str, levels: &[&str]| Axis {
            name: name.into(),
            ty: Type::Bool,
            levels: Arc::new(levels.iter().map(|l| (*l).to_owned()).collect()),
            edges: vec![],
            sums: vec![],
            public: false,
        };
        let axes = [axis("area", &["north, far", "say \"south\"", "east"]), axis("vote", &["false", "true"])];
        let text = csv(&[2.0, 0.0, 1.0, 3.0, 0.0, 1.0], &axes, &["the area".into(), "vote".into()]);
        let mut lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.remove(0), "the area,vote");
        assert_ne!(lines, { lines.clone().into_iter().fold(vec![], |mut all, l| (all.push(l), all.sort_unstable(), all).2) }, "shuffled");
        lines.sort_unstable();
        let quoted = "\"say \"\"south\"\"\"";
        let south = [format!("{quoted},false"), format!("{quoted},true")];
        assert_eq!(lines, ["\"north, far\",false", "\"north, far\",false", &south[0], &south[1], &south[1], &south[1], "east,true"]);
        assert_eq!(text, csv(&[2.0, 0.0, 1.0, 3.0, 0.0, 1.0], &axes, &["the area".into(), "vote".into()]));
    }
}
