//! Ordered bins of a number: where they end, what they are called, and the nodes of a mean over one.

use super::print::number;
use super::{Axis, Range, Type};

/// Nodes and weights of the Gauss–Legendre rule of eight points on [-1, 1]; those below 0 mirror them.
const GAUSS: [(f64, f64); 4] = [
    (0.183_434_642_495_649_8, 0.362_683_783_378_362),
    (0.525_532_409_916_329, 0.313_706_645_877_887_3),
    (0.796_666_477_413_626_7, 0.222_381_034_453_374_5),
    (0.960_289_856_497_536_3, 0.101_228_536_290_376_3),
];
/// Up to so many whole numbers of a bin are summed one by one; of more, as many are taken, equally far apart.
const LISTED: f64 = 64.0;

/// Edges every `width` from the lower bound; `None` beyond so many. Decimals that are meant, not what adding them up gives.
pub fn edges(range: Range, width: f64, most: u64) -> Option<Vec<f64>> {
    let bins = (range.width() / width).ceil();
    if bins > most as f64 {
        return None;
    }
    let edge = |i: u64| range.lo + i as f64 * width;
    let meant = |x: f64| format!("{x:.12e}").parse::<f64>().ok().filter(|y| (x - y).abs() <= 1e-9 * width).unwrap_or(x);
    let mut found: Vec<f64> = (1..=bins as u64).map(|i| meant(edge(i))).collect();
    found.retain(|e| range.hi - e > 1e-9 * width);
    Some(found)
}

/// The names of bins: `0..18` of reals up to the next edge, `0..17` of whole numbers as in a declaration.
pub fn names(ty: &Type, ends: &[f64]) -> Vec<String> {
    let name = |(from, to): (&f64, &f64)| match ty {
        Type::Int(_) if to - from == 1.0 => number(*from),
        Type::Int(_) => format!("{}..{}", number(*from), number(to - 1.0)),
        _ => format!("{}..{}", number(*from), number(*to)),
    };
    ends.iter().zip(ends.iter().skip(1)).map(name).collect()
}

/// Where the bins of a number between declared bounds end, the first begin included; whole numbers end at the next one.
pub fn ends(ty: &Type, edges: &[f64]) -> Vec<f64> {
    match ty {
        Type::Int(r) => [&[r.lo], edges, &[r.hi + 1.0]].concat(),
        Type::Real(r) => [&[r.lo], edges, &[r.hi]].concat(),
        _ => vec![],
    }
}

impl Axis {
    /// Where a bin begins, and the one before it ends; a whole number without edges is a bin of its own.
    pub fn begin(&self, place: usize) -> Option<f64> {
        match &self.ty {
            Type::Int(r) if self.edges.is_empty() => Some(r.lo + place as f64),
            ty if place == 0 || place > self.edges.len() => {
                ends(ty, &[]).get(place.min(1)).copied().filter(|_| place <= self.edges.len() + 1)
            }
            _ => self.edges.get(place - 1).copied(),
        }
    }

    /// Which bin a number between the bounds is in.
    pub fn place(&self, x: f64) -> Option<usize> {
        let inside = self.ty.range().is_some_and(|r| r.contains(x)) && (x.fract() == 0.0 || !matches!(self.ty, Type::Int(_)));
        (inside && !self.edges.is_empty()).then(|| self.edges.partition_point(|e| *e <= x))
    }

    /// Between what a value was that was counted in a bin: values beyond the bounds were moved to them, so the end bins are open.
    pub fn counted(&self, place: usize) -> Option<(f64, f64)> {
        let (from, to) = (self.begin(place)?, self.begin(place + 1)?);
        Some((if place == 0 { f64::NEG_INFINITY } else { from }, if place + 1 == self.levels.len() { f64::INFINITY } else { to }))
    }

    /// The middle of a bin, of whole numbers rounded down: what stands for it where rows are written.
    pub fn middle(&self, place: usize) -> Option<f64> {
        let (from, to) = (self.begin(place).filter(|_| !self.edges.is_empty())?, self.begin(place + 1)?);
        Some(if let Type::Int(_) = self.ty { (0.5 * (from + to - 1.0)).floor() } else { 0.5 * (from + to) })
    }

    /// Values in a bin and their weights, whose mean is that of a uniform law inside the bin.
    pub fn nodes(&self, place: usize) -> Vec<(f64, f64)> {
        let (Some(from), Some(to)) = (self.begin(place), self.begin(place + 1)) else { return vec![] };
        let (middle, half) = (0.5 * (from + to), 0.5 * (to - from));
        match self.ty {
            Type::Int(_) => {
                let (size, nodes) = (to - from, (to - from).min(LISTED));
                let node = |i: u32| (from + ((f64::from(i) + 0.5) * size / nodes).floor(), 1.0 / nodes);
                (0..nodes as u32).map(node).collect()
            }
            _ => GAUSS.iter().flat_map(|(x, w)| [(middle - half * x, 0.5 * w), (middle + half * x, 0.5 * w)]).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(ty: Type, edges: &[f64]) -> Axis {
        let levels = names(&ty, &ends(&ty, edges));
        Axis { name: "x".into(), ty, levels: levels.into(), public: false, edges: edges.to_vec(), sums: vec![] }
    }

    #[test]
    fn edges_by_width() {
        assert_eq!(edges(Range::new(0.0, 1.0), 0.1, 100).unwrap(), [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]);
        assert_eq!(edges(Range::new(-5.0, 100.0), 50.0, 100).unwrap(), [45.0, 95.0]);
        assert_eq!(edges(Range::new(0.0, 1.0), 1e-9, 100), None);
        assert!(edges(Range::new(0.0, 1.0), 2.0, 100).unwrap().is_empty());
    }

    #[test]
    fn names_and_places() {
        let x = axis(Type::real(-1.0, 90.0), &[18.0, 36.5]);
        assert_eq!(*x.levels, ["-1..18", "18..36.5", "36.5..90"]);
        assert_eq!([-1.0, 17.9, 18.0, 90.0].map(|v| x.place(v)), [Some(0), Some(0), Some(1), Some(2)]);
        assert_eq!((x.place(91.0), x.counted(0), x.counted(2)), (None, Some((f64::NEG_INFINITY, 18.0)), Some((36.5, f64::INFINITY))));
        let k = axis(Type::Int(Range::new(0.0, 10.0)), &[5.0, 10.0]);
        assert_eq!(*k.levels, ["0..4", "5..9", "10"]);
        assert_eq!((k.place(4.5), k.place(10.0), k.counted(1)), (None, Some(2), Some((5.0, 10.0))));
    }

    /// Moments of uniform laws, and the error that `expand` and the docs state.
    #[test]
    fn means_over_bins() {
        let x = axis(Type::real(-1.0, 3.0), &[2.0]);
        let mean = |axis: &Axis, place, f: &dyn Fn(f64) -> f64| axis.nodes(place).iter().map(|(x, w)| w * f(*x)).sum::<f64>();
        assert!((mean(&x, 0, &|x| x.powi(14)) - (2f64.powi(15) + 1.0) / 45.0).abs() < 1e-9);
        for (moves, error) in [(6.0, 1e-6), (15.0, 2e-3)] {
            for i in 0..400 {
                let middle = -20.0 + 0.1 * f64::from(i);
                let found = mean(&x, 0, &|x| 1.0 / (1.0 + (-middle - (x - 0.5) * moves / 3.0).exp()));
                let area = |t: f64| t.max(0.0) + (-t.abs()).exp().ln_1p();
                let exact = (area(middle + moves / 2.0) - area(middle - moves / 2.0)) / moves;
                assert!((found / exact - 1.0).abs() < error, "{moves} {middle}: {found} {exact}");
            }
        }
        let k = axis(Type::Int(Range::new(0.0, 1000.0)), &[5.0, 105.0]);
        assert_eq!(k.nodes(0), [0.0, 1.0, 2.0, 3.0, 4.0].map(|v| (v, 0.2)));
        assert!(k.nodes(1).len() == 64 && (mean(&k, 1, &|x| x) - 54.5).abs() < 0.5);
    }
}
