//! What a predicted error takes for granted because public facts do not show it, in words for whoever reads the prediction.

use crate::rules::tempered::CONCENTRATED;

/// The end of the words of a measure, what it takes for granted, and what follows where that is wrong. The figures are those of
/// `benches/predictions.py`.
const TAKEN: [(&str, &str); 4] = [
    (
        "as in most tables",
        "features and weights as in most tables; where features vary little within their bounds or repeat each other it can be ten \
         times larger",
    ),
    ("of sd 1 would", "a row to tell what a normal one of sd 1 would; it can be several times larger or smaller"),
    ("the prior puts it", "the posterior to lie where the prior does; far from there it can be several times larger"),
    ("spread evenly", "values spread evenly; where many rows share a value it can be several times larger, or 0"),
];

/// The same of `concentrated`, which narrows the prior.
const NARROWED: &str = "the truth to be as the prior expects; near the prior's middle it can be several times smaller, far from it larger";

/// A line for every such thing that some release takes for granted, of releases by name, mechanism and measure.
pub fn lines<'a>(releases: impl Iterator<Item = (&'a str, &'a str, &'a str)>) -> String {
    let mut found: Vec<(&str, Vec<&str>)> = vec![];
    for (name, mechanism, measure) in releases {
        let of_measure = TAKEN.iter().find(|(end, _)| measure.ends_with(end)).map(|(_, takes)| *takes);
        let Some(takes) = of_measure.or((mechanism == CONCENTRATED.name).then_some(NARROWED)) else { continue };
        match found.iter_mut().find(|(t, _)| *t == takes) {
            Some((_, names)) => names.push(name),
            None => found.push((takes, vec![name])),
        }
    }
    let of = |names: &[&str]| names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
    found.iter().map(|(takes, names)| format!("note: the predicted error of {} takes {takes}\n", of(names))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::offer::PredictedError;

    #[test]
    fn every_guess_is_said_once_with_the_releases_that_rest_on_it() {
        let weights = PredictedError::of_weights(|share| share).measure;
        let start = PredictedError::of_start(1.0).measure;
        let plain = PredictedError::of_draw(1.0).measure;
        let said = lines([("a", "diffuse", weights), ("b", "penalty", start), ("c", "gibbs", weights), ("d", "direct", plain)].into_iter());
        let said: Vec<&str> = said.lines().collect();
        assert_eq!(said.len(), 2, "{said:?}");
        assert!(said[0].starts_with("note: the predicted error of `a`, `c` takes features"), "{said:?}");
        assert!(said[1].starts_with("note: the predicted error of `b` takes the posterior"), "{said:?}");
    }

    /// Words after ", if " are an assumption of a measure: one without a line here would be silent.
    #[test]
    fn no_measure_guesses_in_silence() {
        let guesses = [PredictedError::of_weights(|share| share), PredictedError::of_loss(1.0), PredictedError::of_start(1.0)];
        for guess in guesses {
            assert!(guess.measure.contains(", if ") && !lines([("a", "any", guess.measure)].into_iter()).is_empty(), "{}", guess.measure);
        }
        assert!(lines([("a", "direct", PredictedError::of_draw(1.0).measure)].into_iter()).is_empty());
        assert!(!lines([("a", CONCENTRATED.name, PredictedError::of_draw(1.0).measure)].into_iter()).is_empty());
    }
}
