//! Files to releases: statistics of one pass, posteriors, groups, units, quantiles, grids.

use std::sync::Arc;

use crate::data_support::*;
use dpm::data::eval::NoEnvironment;
use dpm::data::{Source, scan};
use dpm::mechanism::plan::{Level, MechanismPlan, Noise, PosteriorLaw, Spacing, Statistic, StatisticKind};
use dpm::mechanism::{MechanismError, Scope, execute, grid_slack, prepare};
use dpm::model::{Builtin, ColumnId, Expr, ExprKind, Label, Norms, Range, Type, VectorType};

#[test]
fn vectors_are_projected_and_sums_stay_in_the_ball() {
    let ball = VectorType {
        dim: 2,
        range: Range::new(-1.0, 1.0),
        sup: Norms { l1: 2.0_f64.sqrt().next_up(), l2: 1.0, linf: 1.0 },
        diam: Norms { l1: 2.0 * 2.0_f64.sqrt().next_up(), l2: 2.0, linf: 2.0 },
        levels: None,
        axes: None,
        ordered: false,
    };
    let t = table(&[("x", Type::Vector(ball))]);
    let value = sum_of(column(&t, 0));
    let plan = nearly_exact(call(
        Builtin::RowSum,
        match value.kind {
            ExprKind::Call(_, args) => args,
            _ => vec![],
        },
        t.columns[0].ty.clone(),
        Label::Aggregate(T),
    ));
    for cell in ["3,4", "0.6,0.8", "inf,nan", "-7,1e400", "0.70710678118654757,0.70710678118654757"] {
        let file = format!("x_1,x_2\n{cell}\n");
        let out = run(&plan, &t, file.as_bytes(), None).unwrap()[0].to_f64();
        let norm = (out[0] * out[0] + out[1] * out[1]).sqrt();
        assert!(norm <= 1.0 + 1e-9 && norm > 0.99, "{cell}: {out:?}");
    }
}

#[test]
fn one_pass_serves_posteriors_groups_units_and_quantiles() {
    let levels = Arc::new(vec!["a".to_string(), "b".to_string()]);
    let mut t = table(&[("u", Type::Text), ("g", Type::Category(levels)), ("x", Type::Int(Range::new(0.0, 10.0)))]);
    t.unit = Some((ColumnId(0), 2));
    let file = b"u,g,x\nann,a,1\nann,b,2\nann,a,9\nbob,zzz,3\nbob,a,4\n,b,5\n";
    // ann's third row is dropped; the unknown level is b.
    assert!(same(total(&t, 2, file), 15.0));
    let plan = nearly_exact(sum_of(column(&t, 2)));
    let group = |level| run(&plan, &t, file, Some((ColumnId(1), level))).unwrap()[0].to_f64()[0];
    assert!(same(group(0), 5.0) && same(group(1), 10.0));
    let quantile = MechanismPlan::Quantile {
        table: T,
        value: column(&t, 2),
        levels: [1.0, 0.5, 0.1].map(|q| Level { q, sensitivity: 1.0 }).to_vec(),
        ty: Type::Int(Range::new(0.0, 10.0)),
        spacing: Spacing::Even,
        epsilon: 1e4,
    };
    // Values 1 2 3 4 5: two are below 3, and three up to it. Nothing lies above what is 5 or more.
    let found = run(&quantile, &t, file, None).unwrap()[0].to_f64();
    assert!(found[0] >= 5.0 && same(found[1], 3.0) && same(found[2], 1.0), "{found:?}");
    let shares = MechanismPlan::Posterior {
        law: PosteriorLaw::Dirichlet { alpha: vec![1e9, 1e9] },
        weight: 1.0,
        statistic: Statistic { table: T, kind: StatisticKind::Levels { value: column(&t, 1), dim: 2, first: 0 } },
        times: 3,
    };
    let draws = run(&shares, &t, file, None).unwrap();
    assert_eq!(draws.len(), 3);
    assert!(draws.iter().all(|d| (d.to_f64()[0] - 0.5).abs() < 1e-3 && d.components.len() == 2));
}

#[test]
fn posteriors_use_the_totals() {
    let t = table(&[("x", Type::real(0.0, 4.0))]);
    let file = format!("x\n{}", "1.5\n2.5\n".repeat(5000));
    let sum = || Statistic { table: T, kind: StatisticKind::Sum(column(&t, 0)) };
    let mean_of = |law| {
        let plan = MechanismPlan::Posterior { law, weight: 1.0, statistic: sum(), times: 200 };
        let draws = run(&plan, &t, file.as_bytes(), None).unwrap();
        draws.iter().map(|d| d.to_f64()[0]).sum::<f64>() / 200.0
    };
    let near = |law, want: f64, error: f64| {
        let got = mean_of(law);
        assert!((got - want).abs() < error, "{got} is not near {want}");
    };
    // Ten thousand rows of mean 2; each error is above six standard deviations of the mean of 200 draws.
    let normal = PosteriorLaw::Normal { precision: 1.0, precision_mean: 0.0, variance: 1.0 };
    near(normal, 20_000.0 / 10_001.0, 6e-3);
    let poisson = PosteriorLaw::GammaShape { shape: 1.0, rate: 1.0 };
    near(poisson, 20_001.0 / 10_001.0, 8e-3);
    let exponential = PosteriorLaw::GammaRate { shape: 1.0, rate: 1.0, per_row: 1.0, scale: 1.0 };
    near(exponential, 10_001.0 / 20_001.0, 3e-3);
    let binomial = PosteriorLaw::Beta { a: 1.0, b: 1.0, trials: 4 };
    near(binomial, 20_001.0 / 40_002.0, 2e-3);
    let geometric = PosteriorLaw::BetaFailures { a: 1.0, b: 1.0, successes: 1.0 };
    near(geometric, 10_001.0 / 30_002.0, 2e-3);
    let vector = PosteriorLaw::MvNormal { dim: 1, precision: vec![1.0], precision_mean: vec![0.0], covariance: vec![1.0] };
    near(vector, 20_000.0 / 10_001.0, 6e-3);
}

#[test]
fn regression_recovers_a_line() {
    let t = table(&[("x", Type::real(-1.0, 1.0)), ("y", Type::real(-5.0, 5.0))]);
    let rows: String = (0..2000).map(|i| f64::from(i) / 1000.0 - 1.0).map(|x| format!("{x},{}\n", 1.0 + 3.0 * x)).collect();
    let design = Expr {
        kind: ExprKind::List(vec![number(1.0), column(&t, 0)]),
        ty: Type::Vector(VectorType {
            dim: 2,
            range: Range::new(-1.0, 1.0),
            sup: Norms::scalar(2.0),
            diam: Norms::scalar(2.0),
            levels: None,
            axes: None,
            ordered: false,
        }),
        label: Label::Row(T),
        span: span(),
    };
    let plan = MechanismPlan::Posterior {
        law: PosteriorLaw::Linear { dim: 2, precision: vec![1e-3, 0.0, 0.0, 1e-3], precision_mean: vec![0.0, 0.0], variance: 1e-4 },
        weight: 1.0,
        statistic: Statistic { table: T, kind: StatisticKind::Moments { x: design, y: column(&t, 1), added: None } },
        times: 1,
    };
    let out = run(&plan, &t, format!("x,y\n{rows}").as_bytes(), None).unwrap()[0].to_f64();
    assert!((out[0] - 1.0).abs() < 0.01 && (out[1] - 3.0).abs() < 0.01, "{out:?}");
}

#[test]
fn means_and_integers_lose_nothing_to_the_grid() {
    let t = table(&[("x", Type::real(0.0, 1.0)), ("b", Type::Bool)]);
    let aggregate = |f, index| call(f, vec![column(&t, index)], Type::real(0.0, 1.0), Label::Aggregate(T));
    let noise = Noise::Gaussian { sigma: 1e-9 };
    let plan = |value, noise| MechanismPlan::Noise { table: T, value, noise };
    let mean = plan(aggregate(Builtin::RowMean, 0), noise);
    assert_eq!(grid_slack(&mean), 0.0);
    let out = run(&mean, &t, b"x,b\n0.25,1\n0.5,1\n1,0\n", None).unwrap()[0].to_f64()[0];
    assert!((out - 1.75 / 3.0).abs() < 1e-7, "{out}");
    let count = plan(aggregate(Builtin::RowSum, 1), Noise::Geometric { scale: 0.01 });
    assert_eq!(grid_slack(&count), 0.0);
    assert_eq!(run(&count, &t, b"x,b\n0,1\n0,1\n", None).unwrap()[0].components[0].decimal(), "2");
    let scaled = call(Builtin::Mul, vec![number(0.1), aggregate(Builtin::RowMean, 0)], Type::real(0.0, 1.0), Label::Aggregate(T));
    assert!(grid_slack(&plan(scaled, noise)) > 0.0);
}

#[test]
fn infinite_ranges_are_refused_before_any_data() {
    let t = table(&[("x", Type::Real(Range::ALL)), ("y", Type::real(-1e300, 1e300)), ("z", Type::real(-1e3, 1e3))]);
    let scope = Scope { table: &t, group: None, env: &NoEnvironment };
    let plan = |i| nearly_exact(sum_of(column(&t, i)));
    assert_eq!(prepare(&plan(0), &scope).err(), Some(MechanismError::Range));
    // A sum that no integer holds on the grid of so little noise.
    assert_eq!(prepare(&plan(1), &scope).err(), Some(MechanismError::Range));
    assert!(prepare(&plan(2), &scope).is_ok());
}

#[test]
fn a_mean_over_secretly_many_rows_is_refused() {
    let mut t = table(&[("x", Type::real(0.0, 1.0))]);
    t.relation = dpm::model::Relation::AddRemove;
    let mean = call(Builtin::RowMean, vec![column(&t, 0)], Type::real(0.0, 1.0), Label::Aggregate(T));
    let plan = nearly_exact(mean);
    let scope = Scope { table: &t, group: None, env: &NoEnvironment };
    let jobs = [prepare(&plan, &scope).unwrap()];
    let measured = scan(&t, Source::new(&b"x\n1\n"[..]), &jobs).unwrap();
    let drawn = execute(&plan, &scope, &measured[0], &mut Seeded::new());
    assert_eq!(drawn, Err(MechanismError::Expression));
}

#[test]
fn an_indefinite_prior_is_refused() {
    let t = table(&[("x", Type::real(0.0, 1.0))]);
    let plan = MechanismPlan::Posterior {
        law: PosteriorLaw::MvNormal { dim: 1, precision: vec![-1.0], precision_mean: vec![0.0], covariance: vec![1.0] },
        weight: 1.0,
        statistic: Statistic { table: T, kind: StatisticKind::Sum(column(&t, 0)) },
        times: 1,
    };
    let scope = Scope { table: &t, group: None, env: &NoEnvironment };
    let job = prepare(&plan, &scope).unwrap();
    let file = Source::new(&b"x\n1\n"[..]);
    let measured = scan(&t, file, &[job]).unwrap();
    let drawn = execute(&plan, &scope, &measured[0], &mut Seeded::new());
    assert_eq!(drawn, Err(MechanismError::Parameter));
}

#[test]
fn histograms_and_secret_counts_get_integer_noise() {
    let levels = Arc::new(vec!["a".to_string(), "b".to_string(), "c".to_string()]);
    let mut t = table(&[("g", Type::Category(levels)), ("x", Type::Int(Range::new(-1.0, 2.0)))]);
    t.relation = dpm::model::Relation::AddRemove;
    let file = b"g,x\na,-1\nb,2\nzzz,0\na,7\n";
    let counts = |index, dim| {
        let ty = Type::Counts { dim, total: 4, fewer: false };
        let histogram = call(Builtin::RowHistogram, vec![column(&t, index)], ty, Label::Aggregate(T));
        let plan = MechanismPlan::Noise { table: T, value: histogram, noise: Noise::Geometric { scale: 0.01 } };
        assert_eq!(grid_slack(&plan), 0.0);
        run(&plan, &t, file, None).unwrap()[0].to_f64()
    };
    assert_eq!(counts(0, 3), [2.0, 1.0, 1.0]);
    assert_eq!(counts(1, 4), [1.0, 1.0, 0.0, 2.0]);
    let count = call(Builtin::RowCountAgg, vec![], Type::Int(Range::new(0.0, 1e9)), Label::Aggregate(T));
    let twice = call(Builtin::Mul, vec![number(2.0), count], Type::real(0.0, 2e9), Label::Aggregate(T));
    let clipped = call(Builtin::Clip, vec![twice, number(0.0), number(7.5)], Type::real(0.0, 7.5), Label::Aggregate(T));
    assert!((run(&nearly_exact(clipped), &t, file, None).unwrap()[0].to_f64()[0] - 7.5).abs() < 1e-9);
}

#[test]
fn row_expressions_are_evaluated_and_clamped() {
    let t = table(&[("x", Type::real(-3.0, 3.0)), ("b", Type::Bool)]);
    let row = |f, args, lo, hi| call(f, args, Type::real(lo, hi), Label::Row(T));
    let x = || column(&t, 0);
    let file = b"x,b\n-1,1\n2,0\n";
    let cases = [
        (row(Builtin::Mul, vec![x(), x()], 0.0, 9.0), 5.0),
        (row(Builtin::Sub, vec![number(1.0), x()], -2.0, 4.0), 1.0),
        (row(Builtin::Max, vec![x(), number(0.0)], 0.0, 3.0), 2.0),
        (row(Builtin::Clip, vec![x(), number(-0.5), number(0.5)], -0.5, 0.5), 0.0),
        // A declared range is enforced, and what is not a number becomes its point nearest zero.
        (row(Builtin::Exp, vec![x()], 0.0, 1.0), 1.0 + (-1.0_f64).exp()),
        (row(Builtin::Log, vec![x()], 0.25, 1.0), 0.25 + 2.0_f64.ln()),
        (row(Builtin::Ge, vec![x(), number(0.0)], 0.0, 1.0), 1.0),
        (
            Expr {
                kind: ExprKind::If(Box::new(column(&t, 1)), Box::new(x()), Box::new(number(3.0))),
                ty: Type::real(-3.0, 3.0),
                label: Label::Row(T),
                span: span(),
            },
            2.0,
        ),
    ];
    for (value, want) in cases {
        let shown = format!("{:?}", value.kind);
        let got = run(&nearly_exact(sum_of(value)), &t, file, None).unwrap()[0].to_f64()[0];
        assert!(same(got, want), "{shown}: {got} is not {want}");
    }
}
