//! What a mechanism will do, as data: row statistics, posterior laws, noise; no private value in sight.

pub use crate::model::links::Law;
pub use crate::model::record::Noise;
use crate::model::{Expr, Label, Observation, Parameter, Range, TableId, Type};

/// A sum over the rows of one private table, computed exactly on a public grid.
#[derive(Clone, PartialEq, Debug)]
pub struct Statistic {
    pub table: TableId,
    pub kind: StatisticKind,
}

#[derive(Clone, PartialEq, Debug)]
pub enum StatisticKind {
    /// Sum of a scalar or vector row expression. Every component is clipped to its declared range, rounded to the grid
    /// *inwards* (towards 0 for norm balls; to the nearest grid point inside the range for boxes), so no diameter grows.
    Sum(Expr),
    /// How many rows have each level (of a category, a bool or a bounded int): `dim` counts; `first` is the value of
    /// the first bin for ints, 0 for categories.
    Levels { value: Expr, dim: u64, first: i64 },
    /// The rows as they are, for chains: features in blocks in the order of `GlmLaw::blocks`, and the outcome.
    Rows { features: Vec<Feature>, outcome: Expr },
    /// Row expressions in doubles, one column each (a vector gives one per component), for chains on log-densities.
    ///
    /// They are the largest parts of `DensityLaw::rows` that depend on the row and on no parameter: observation by
    /// observation, first the outcome, then the arguments of the likelihood from left to right; in each, a walk from the top
    /// that takes a node labelled `Row` whole, goes into the operands (in their order) of one labelled `Mix`, and passes by
    /// one that is public or latent. A part that stands twice is listed twice, so the n-th such node of the same walk reads
    /// the n-th entry.
    Columns(Vec<Expr>),
    /// `sum_i x_i y_i` and `sum_i x_i x_i'` of a vector and a scalar of every row; `added` is kept beside them where rows are kept.
    Moments { x: Expr, y: Expr, added: Option<Expr> },
}

/// What one block of weights is multiplied by in the predictor of a row.
#[derive(Clone, PartialEq, Debug)]
pub enum Feature {
    /// An intercept.
    One,
    /// A scalar or a vector of the row, times a public factor.
    Value(Expr, f64),
    /// One weight for each level of a category of the row, times a public factor.
    Level(Expr, f64),
}

/// The set that weights of one block may lie in; the posterior is cut to it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Domain {
    All,
    /// Every component in `[lo, hi]`.
    Box(Range),
    /// L2 norm at most this.
    Ball(f64),
}

/// Weights with a common normal prior; a matrix holds one row of weights for each class.
#[derive(Clone, PartialEq, Debug)]
pub struct WeightBlock {
    /// Weights of one class.
    pub dim: usize,
    pub mean: f64,
    pub sd: f64,
    pub domain: Domain,
    /// Its place among what is released, if it is.
    pub released: Option<usize>,
}

/// The posterior of a generalised linear model, from which a Langevin chain draws (rule book §14).
#[derive(Clone, PartialEq, Debug)]
pub struct GlmLaw {
    pub link: Link,
    pub blocks: Vec<WeightBlock>,
    /// How many of the blocks, the last, are not weights but the number 1: offsets.
    pub offsets: usize,
    /// Upper bound on the L2 norm of a row's features, each times the sd of its weight.
    pub norm: f64,
    /// Upper bound on the slope of a row's loss in its predictor, where the domain allows it.
    pub slope: f64,
    /// Upper bound on the second derivative of a row's loss in its predictor.
    pub curvature: f64,
    /// What every row adds at least to the curvature of the posterior in any direction, where a prior adds 1; of a design that is
    /// known, the mean over its rows.
    pub least_curvature: f64,
    /// The length of the chain, where the program says it.
    pub steps: Option<u64>,
    pub sampler: Sampler,
}

/// The chain that draws from a regression: Langevin has a guarantee of its own, the others that of the ideal posterior,
/// if they have converged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sampler {
    Langevin,
    Nuts,
    Slice,
}

impl Sampler {
    /// As programs and certificates write it.
    pub fn name(self) -> &'static str {
        match self {
            Sampler::Langevin => "langevin",
            Sampler::Nuts => "nuts",
            Sampler::Slice => "slice",
        }
    }
}

/// What a row adds to the potential, for a likelihood f of its outcome y.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Loss {
    /// `-log f(y)`
    NegativeLog,
    /// `-f(y)^(b-1) / (b-1) + 1/b int f^b`, the beta-divergence (rule book §5); `beta` is b > 1.
    Beta { beta: f64 },
}

/// Most leapfrogs of a step of NUTS, a number that does not depend on the rows: its trajectories double up to seven times.
pub const MOST_LEAPFROGS: u64 = 127;

/// The chain that runs on a log-density.
#[derive(Clone, PartialEq, Debug)]
pub enum ChainLaw {
    /// Hamiltonian trajectories without U-turns; its draw is that of the posterior if it has converged.
    Nuts { steps: Option<u64> },
    /// Univariate slice sampling, one coordinate after the other; its draw is that of the posterior if it has converged.
    Slice { steps: Option<u64> },
    /// Noisy log-ratios accepted by the penalty algorithm (rule book §12): every state is private by itself. `range`
    /// bounds the difference of two losses of one row, enforced on every row; `sigma` is the sd of the noise on the sum of
    /// weighted differences; `step` scales the proposal in units of the prior's spread.
    Penalty { iterations: u64, sigma: f64, step: Option<f64>, range: f64 },
    /// The same with proposals along noisy gradients (rule book §12): `steps` leapfrog steps each, at every end of which the
    /// rows' gradients, in units of the prior's spread and cut to L2 norm `clip`, are added with noise of sd `gradient_sigma`.
    Hmc { iterations: u64, steps: u64, sigma: f64, step: Option<f64>, range: f64, clip: f64, gradient_sigma: f64 },
    /// Langevin steps along the gradients of `batch` rows each, drawn without replacement (all rows where there is none), cut to L2
    /// norm `clip` and added with noise of sd `sigma` (rule book §12.3). For a public number of rows.
    Sgld { iterations: u64, batch: Option<u64>, clip: f64, sigma: f64, step: Option<f64> },
}

impl ChainLaw {
    /// As programs and certificates write it.
    pub fn name(&self) -> &'static str {
        match self {
            ChainLaw::Nuts { .. } => "nuts",
            ChainLaw::Slice { .. } => "slice",
            ChainLaw::Penalty { .. } => "penalty",
            ChainLaw::Hmc { .. } => "dp_hmc",
            ChainLaw::Sgld { .. } => "dp_sgld",
        }
    }
}

/// A posterior known by its log-density, from which a chain draws (rule book §5, §12).
#[derive(Clone, PartialEq, Debug)]
pub struct DensityLaw {
    /// Every parameter with its prior; values outside `ty` have density 0.
    pub parameters: Vec<Parameter>,
    /// Indices into `parameters`, in the order of the request.
    pub released: Vec<usize>,
    /// Factors of a private row; their row expressions are the columns of the statistic (see `StatisticKind::Columns`).
    pub rows: Vec<Observation>,
    pub loss: Loss,
    pub chain: ChainLaw,
}

impl DensityLaw {
    /// What the chain keeps of every row: the largest expressions of rows alone, outcomes among them, in the order of a walk.
    pub fn columns(&self) -> Vec<Expr> {
        let mut found = vec![];
        for o in &self.rows {
            collect(&o.outcome, &mut found);
            o.likelihood.args.iter().for_each(|arg| collect(arg, &mut found));
        }
        found
    }
}

fn collect(e: &Expr, found: &mut Vec<Expr>) {
    if matches!(e.label, Label::Row(_)) {
        found.push(e.clone());
        return;
    }
    e.parts().into_iter().for_each(|part| collect(part, found));
}

/// A draw of logistic weights in two stages (rule book §20): noisy scores, then a Langevin chain in coordinates that follow from
/// them and from public facts alone.
#[derive(Clone, PartialEq, Debug)]
pub struct RefinedLaw {
    /// `Trials` with a logistic link: the prior and the trials of a row.
    pub family: WholeFamily,
    /// Standard deviations of the noise on scores and on products of features, as in `WholeNoise::Scores`.
    pub scores: f64,
    pub products: f64,
    /// How far one replaced row may move the gradient of the chain, whose prior has curvature 1.
    pub mu: f64,
    /// Upper bound on the L2 norm of a row's features.
    pub norm: f64,
}

impl RefinedLaw {
    /// What the first stage adds.
    pub fn noise(&self) -> WholeNoise {
        WholeNoise::Scores { products: self.products, scores: self.scores }
    }
}

/// One draw from a posterior, the last three by chains. `r` is the weight of private rows; every parameter below already holds
/// the (sharpened) prior and all public rows.
#[derive(Clone, PartialEq, Debug)]
pub enum PosteriorLaw {
    /// Beta(a + r S, b + r (trials n - S)), S the sum of the statistic.
    Beta { a: f64, b: f64, trials: u64 },
    /// Beta(a + r n successes, b + r S): geometric (successes 1) and negative binomial rows.
    BetaFailures { a: f64, b: f64, successes: f64 },
    /// Dirichlet(alpha + r counts); the statistic is `Levels` or a vector `Sum`.
    Dirichlet { alpha: Vec<f64> },
    /// Gamma(shape + r S, rate + r n): Poisson rows.
    GammaShape { shape: f64, rate: f64 },
    /// Gamma(shape + r n per_row, rate + r S scale): exponential rows (per_row 1, scale 1), normal precision with known
    /// mean (per_row 1/2, scale 1/2, the statistic is the sum of squared deviations).
    GammaRate { shape: f64, rate: f64, per_row: f64, scale: f64 },
    /// Normal with precision `precision + r n / variance` and mean `(precision_mean + r S / variance) / precision`.
    Normal { precision: f64, precision_mean: f64, variance: f64 },
    /// The same for vectors: prior precision matrix (row-major), precision times mean, noise covariance (row-major).
    MvNormal { dim: usize, precision: Vec<f64>, precision_mean: Vec<f64>, covariance: Vec<f64> },
    /// Bayesian linear regression with public design: `L = precision + r X'X / variance`, mean `L^-1 (pm + r X'y / variance)`;
    /// the statistic is `Moments`; X'X is public and summed at run time.
    Linear { dim: usize, precision: Vec<f64>, precision_mean: Vec<f64>, variance: f64 },
    /// The last state of a Langevin chain; the statistic is `Rows`.
    Glm(Box<GlmLaw>),
    /// The last state of a Langevin chain where noisy scores point; the statistic is `Moments`, of outcomes less half of the trials.
    Refined(Box<RefinedLaw>),
    /// From the posterior that the steps of a regression say, which leave once for all draws; the statistic is `Moments`.
    Stepwise(Box<WholeLaw>),
    /// The last state of a chain on a log-density; the statistic is `Columns`.
    Density(Box<DensityLaw>),
}

/// Most candidates of a Hellinger mechanism with three levels or more.
pub const MOST_CANDIDATES: u64 = 1 << 22;
/// Most items with two levels, and the largest prior count: up to here doubles compute its scores well enough.
pub const MOST_ITEMS: u64 = 100_000_000;

/// A posterior that is released whole, and the noise on its counts (rule book §9, §10, §15).
#[derive(Clone, PartialEq, Debug)]
pub struct WholeLaw {
    pub family: WholeFamily,
    pub noise: WholeNoise,
    /// Does the posterior that is written down account for the noise?
    pub aware: bool,
}

/// The posterior without noise; its parameters hold the prior and all public rows.
#[derive(Clone, PartialEq, Debug)]
pub enum WholeFamily {
    /// Dirichlet(alpha + counts), each row with `items` items. `single`: a Beta, whose statistic is the sum of successes.
    Counts { alpha: Vec<f64>, items: u32, single: bool },
    /// Gamma(shape + S, rate + n), S a sum of non-negative integers.
    Gamma { shape: f64, rate: f64 },
    /// Beta(a + n successes, b + S), S a sum of numbers of failures.
    Failures { a: f64, b: f64, successes: f64 },
    /// Normal of precision `precision + n / sd^2` and mean `(precision mean + S / sd^2) / (precision + n / sd^2)`, S a sum
    /// on the public grid of its outcome. Of a secret number of rows: S counts from the middle of the range of an outcome, in half steps.
    Normal { mean: f64, precision: f64, sd: f64, secret: Option<Range> },
    /// Gamma(shape + n per_row, rate + S scale), S a sum on a public grid: outcomes, or squared deviations.
    Rate { shape: f64, rate: f64, per_row: f64, scale: f64 },
    /// Normal means of prior precision `precision` (row by row) and precision times mean, whose rows have this covariance; S a sum of
    /// vectors on the public grid of the outcome.
    Means { precision: Vec<f64>, precision_mean: Vec<f64>, covariance: Vec<f64> },
    /// Weights of a linear regression with this prior (precision row by row) and sd; features of at most this norm. The
    /// statistic is `Moments`.
    Weights { mean: Vec<f64>, precision: Vec<f64>, sd: f64, norm: f64 },
    /// Weights of rows of trials or of counts with this prior; the statistic is `Moments` of features and of outcomes less half of the trials, or
    /// of logarithms of counts.
    Scored { mean: Vec<f64>, precision: Vec<f64>, law: Law },
}

/// The distribution of an outcome given its linear predictor t.
#[derive(Clone, Copy, PartialEq, Debug)]
#[rustfmt::skip]
pub enum Link {
    /// `binomial_logit(trials, t)`; Bernoulli with one trial.
    Logit { trials: u64 },
    /// `categorical_logit` with one predictor a level.
    Softmax { classes: u64 },
    Probit,
    Cloglog,
    /// `poisson_log(t)`
    PoissonLog,
    /// `normal(t, sd)`
    Normal { sd: f64 },
}

/// How often residuals leave in `WholeNoise::Steps`.
pub const STEPS: usize = 3;
/// Of the mu of its steps, what the scores of each get, and what the products get that leave once, or at every step: the squares of all
/// sum to less than 1.
pub const STEP: f64 = 0.5322;
pub const CURVED: f64 = 0.3872;
pub const CURVED_EACH: f64 = 0.2235;
/// Of counts, what the level gets, and what is left for all steps.
pub const LEVEL: f64 = 0.2;
pub const STEPS_OF_COUNTS: f64 = 0.9797;

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum WholeNoise {
    /// `floor(Laplace(scale))` on every count but the last.
    FloorLaplace { scale: f64 },
    /// One of all posteriors with as many rows, by distance; `gamma` smooths the sensitivity, `None` takes the global one.
    Hellinger { epsilon: f64, gamma: Option<f64> },
    /// Discrete Laplace on the counts, or on the grid of a sum; in units of the outcome.
    Geometric { scale: f64 },
    /// Discrete Gaussian on the counts, or on the grid of a sum; in units of the outcome.
    Gaussian { sigma: f64 },
    /// Discrete Gaussian on the grids of `sum x x'` (places i <= j) and of `sum x y`: standard deviations.
    Moments { products: f64, sums: f64 },
    /// A normal law rounded to the grids of `sum x x'` (places i <= j) and of `sum s x`: standard deviations, that of a product of
    /// two features `products / sqrt(2)`.
    Scores { products: f64, scores: f64 },
    /// The same of a regression, whose outcomes (less half of the trials) are at most `most` in size, and then steps in the coordinates
    /// that they say, which may spend `mu` (rule book §20).
    Steps { products: f64, scores: f64, most: f64, mu: f64 },
    /// Discrete Laplace (scales) or discrete Gaussian (standard deviations) on a secret number of rows and on a sum.
    Rows { gaussian: bool, rows: f64, sum: f64 },
}

impl WholeNoise {
    /// What `Rows` says of the number of rows and of the sum.
    pub fn parts(self) -> Option<[WholeNoise; 2]> {
        let WholeNoise::Rows { gaussian, rows, sum } = self else { return None };
        let of = |x: f64| if gaussian { WholeNoise::Gaussian { sigma: x } } else { WholeNoise::Geometric { scale: x } };
        Some([of(rows), of(sum)])
    }
}

impl WholeLaw {
    /// Items of one row.
    pub fn items(&self) -> u32 {
        match self.family {
            WholeFamily::Counts { items, .. } => items,
            WholeFamily::Gamma { .. }
            | WholeFamily::Failures { .. }
            | WholeFamily::Normal { .. }
            | WholeFamily::Rate { .. }
            | WholeFamily::Means { .. }
            | WholeFamily::Weights { .. }
            | WholeFamily::Scored { .. } => 1,
        }
    }

    /// How many of `places` counts leave: with two and a public number of items, the second is the rest.
    pub fn kept(&self, places: usize, rows_are_public: bool) -> usize {
        if places == 2 && rows_are_public { 1 } else { places }
    }
}

/// The candidates for a quantile: points of the grid of its type, evenly spaced or evenly in their logarithms.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spacing {
    Even,
    Log,
}

impl Spacing {
    /// The type on whose grid the candidates lie: that of the value, or that of its logarithm.
    pub fn scale(self, ty: &Type) -> Type {
        match (self, ty.range()) {
            (Spacing::Log, Some(range)) => Type::real(libm::log(range.lo), libm::log(range.hi)),
            _ => ty.clone(),
        }
    }
}

/// One quantile of several, and how far one unit moves the score of a candidate.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Level {
    pub q: f64,
    pub sensitivity: f64,
}

/// What runs for one release.
#[derive(Clone, PartialEq, Debug)]
pub enum MechanismPlan {
    /// A posterior released whole.
    Whole { law: WholeLaw, statistic: Statistic },
    /// `times` independent draws of the posterior (a Beta statistical query is one too).
    Posterior { law: PosteriorLaw, weight: f64, statistic: Statistic, times: u64 },
    /// `value` is an aggregate expression; noise is added to its exact value on a public grid.
    Noise { table: TableId, value: Expr, noise: Noise },
    /// Quantiles of a row expression by the exponential mechanism, each at `epsilon`: one of the points of the public grid of `ty`.
    Quantile { table: TableId, value: Expr, levels: Vec<Level>, ty: Type, spacing: Spacing, epsilon: f64 },
}
