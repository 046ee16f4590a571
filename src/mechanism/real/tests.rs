//! The slow path against the fast one and against a second implementation.

use std::cmp::Ordering;

use dashu_float::FBig;
use dashu_float::round::mode::HalfEven;
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

use super::dyadic::{Dyadic, Toward};
use super::{Ball, Enclosure, Fast, Param, Wide, rational};
use crate::mechanism::bits::Repeated;
use crate::mechanism::draw::uniform::Uniform;
use crate::numeric::round::{add_down, sub_up};

fn param(x: f64) -> Param {
    Param::new(rational(x).unwrap())
}

fn random(rng: &mut ChaCha20Rng, spread: i32) -> f64 {
    let m = rng.next_u64() as i64 as f64 / 9.3e18;
    let e = rng.next_u32() as i32 % spread;
    libm::ldexp(m, e)
}

/// Bounds on an interval's distance to a number, and its relative width.
fn holds(x: &Wide, bounds: (f64, f64), p: usize) {
    let (lo, hi) = x.bounds();
    assert!(lo <= bounds.1 && bounds.0 <= hi, "{lo} {hi} misses {bounds:?}");
    assert!(hi - lo <= (lo.abs().max(hi.abs())) * 4e-16 + 1e-280, "{p} bits give {lo} {hi}");
}

#[test]
fn arithmetic_agrees_with_doubles() {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    for _ in 0..20_000 {
        let (a, b) = (random(&mut rng, 60), random(&mut rng, 60));
        let (x, y) = (Wide::param(&param(a), 128), Wide::param(&param(b), 128));
        let near = |v: f64| (v.next_down(), v.next_up());
        holds(&x.mul(&y), near(a * b), 128);
        holds(&x.div(&y), near(a / b), 128);
        holds(&x.mul(&x).sqrt(), near(a.abs()), 128);
        let (lo, hi) = x.add(&y).bounds();
        assert!(lo <= (a + b).next_up() && (a + b).next_down() <= hi);
        assert_eq!(x.sub(&y).sign(), (a != b).then_some(a > b));
        let fast = Fast::param(&param(a), 0).mul(&Fast::param(&param(b), 0)).bounds();
        assert!(fast.0 <= a * b && a * b <= fast.1);
    }
}

#[test]
fn rounding_is_directed() {
    let mut rng = ChaCha20Rng::seed_from_u64(2);
    for _ in 0..20_000 {
        let m = IBig::from(i128::from(rng.next_u64() as i64)) * IBig::from(rng.next_u64() as i64);
        let d = UBig::from(rng.next_u64() | 1);
        let x = RBig::from_parts(m, d);
        for p in [5, 40, 200] {
            let lo = Dyadic::rational(&x, p, Toward::Down);
            let hi = Dyadic::rational(&x, p, Toward::Up);
            let wider = Dyadic::rational(&x, 2 * p + 100, Toward::Down);
            let above = Dyadic::rational(&x, 2 * p + 100, Toward::Up);
            assert!(lo.compare(&wider) != Ordering::Greater);
            assert!(above.compare(&hi) != Ordering::Greater);
            assert!(lo.to_f64(Toward::Down) <= hi.to_f64(Toward::Up));
        }
        let sum = Dyadic::rational(&x, 64, Toward::Down);
        let tiny = Dyadic::power(-1 << 40);
        assert_eq!(sum.add(&tiny, 64, Toward::Up).compare(&sum), Ordering::Greater);
        assert_eq!(sum.add(&tiny.neg(), 64, Toward::Down).compare(&sum), Ordering::Less);
        assert_ne!(sum.add(&tiny, 64, Toward::Down).compare(&sum), Ordering::Greater);
    }
}

#[test]
fn exp_and_ln_agree_with_a_second_implementation() {
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    for i in 0..600 {
        let x = random(&mut rng, 9);
        let p = [128, 300][i % 2];
        let second = FBig::<HalfEven, 2>::try_from(x).unwrap().with_precision(p + 60).value();
        let same = |own: &Wide, other: FBig<HalfEven, 2>| {
            // Both ends, as dyadic numbers, close to the other result on either side.
            let (m, e) = (other.repr().significand().clone(), other.repr().exponent() as i64);
            let other = Dyadic::new(m, e);
            let (lo, hi) = own.ends().unwrap();
            assert!(lo.compare(&other) != Ordering::Greater, "{x}");
            assert!(hi.compare(&other) != Ordering::Less, "{x}");
            let width = hi.add(&lo.neg(), 64, Toward::Up).to_f64(Toward::Up);
            assert!(width <= libm::ldexp(1.0, 3 - p as i32) * hi.to_f64(Toward::Up).abs().max(1e-30), "{x}");
        };
        let own = Wide::param(&param(x), p);
        same(&own.exp(), second.exp());
        if x > 0.0 {
            same(&own.ln(), second.ln());
        }
    }
}

#[test]
fn double_functions_lie_within_their_bounds() {
    // The four units allowed for libm, checked against the slow path.
    let mut rng = ChaCha20Rng::seed_from_u64(4);
    for _ in 0..5_000 {
        let x = random(&mut rng, 8);
        let (fast, wide) = (Fast::param(&param(x), 0), Wide::param(&param(x), 128));
        let inside = |a: (f64, f64), b: (f64, f64)| assert!(a.0 <= b.0 && b.1 <= a.1, "{x}");
        inside(fast.exp().bounds(), wide.exp().bounds());
        if x > 0.0 {
            inside(fast.ln().bounds(), wide.ln().bounds());
            inside(fast.sqrt().bounds(), wide.sqrt().bounds());
        }
    }
}

#[test]
fn nearest_rounds_halves_up_on_both_paths() {
    for (x, e, want) in [(2.5, 0, 3), (-2.5, 0, -2), (2.4999, 0, 2), (0.3, -2, 1), (1e6, 3, 125_000), (-0.2, 0, 0)] {
        assert_eq!(Fast::param(&param(x), 0).nearest(e), Some(want), "{x}");
        assert_eq!(Wide::param(&param(x), 128).nearest(e), Some(want), "{x}");
    }
    let huge = Wide::param(&param(1e300), 128);
    assert_eq!(huge.nearest(-40), Some(super::super::grid::NOISE));
}

#[test]
fn what_is_not_known_stays_undecided() {
    let around_zero = |p| Wide::integer(1, p).div(&Wide::integer(3, p)).mul(&Wide::integer(3, p)).sub(&Wide::integer(1, p));
    let zero = around_zero(128);
    assert_eq!(zero.sign(), None);
    assert_eq!(Wide::integer(1, 128).div(&zero).sign(), None);
    assert_eq!(zero.ln().sign(), None);
    assert_eq!(Fast::new(f64::NAN, 1.0).sign(), None);
    assert_eq!(Fast::new(-1.0, 1.0).ln().add(&Fast::new(1.0, 1.0)).sign(), None);
    assert_eq!(Fast::new(0.0, 1.0).div(&Fast::new(0.0, 1.0)).nearest(0), None);
    // Exponentials beyond every exponent.
    let large = Wide::param(&param(1e300), 128);
    assert_eq!(large.exp().sign(), None);
    assert_eq!(large.neg().exp().nearest(-40), Some(0));
}

fn applied<E: Enclosure>(operation: u32, a: &E, b: &E) -> E {
    match operation {
        0 => a.add(b),
        1 => a.sub(b),
        2 => a.mul(b),
        3 => a.div(b),
        4 => a.sqrt(),
        5 => a.ln(),
        6 => a.exp(),
        _ => a.neg(),
    }
}

fn leaf<E: Enclosure>(kind: u32, x: &Param, u: &Uniform, p: usize) -> E {
    match kind {
        0 => E::uniform(u, p),
        1 => E::integer(u.first_digits().0 as i64 >> (u.first_digits().0 % 64), p),
        _ => E::param(x, p),
    }
}

/// What `ball` proves, on random formulas: a known ball holds the interval of doubles and the slow one, and what it decides, they do.
#[test]
fn balls_hold_both_other_intervals() {
    let mut rng = ChaCha20Rng::seed_from_u64(5);
    let (mut known, mut signs, mut rounded) = (0, 0, 0);
    for i in 0..4_000 {
        let mut all: Vec<(Ball, Fast, Wide)> = (0..3)
            .map(|_| {
                let kind = rng.next_u32() % 4;
                let x = random(&mut rng, [4, 60, 1_020][i % 3]);
                let x = Param::new(rational(x).unwrap() / RBig::from(1 + kind));
                let mut u = Uniform::new();
                // Few digits make wide intervals.
                let digits = [5, 10, 30, 64][rng.next_u32() as usize % 4];
                u.refine(digits, &mut Repeated::new([7; 32], rng.next_u64())).unwrap();
                (leaf(kind, &x, &u, 53), leaf(kind, &x, &u, 53), leaf(kind, &x, &u, 128))
            })
            .collect();
        for _ in 0..8 {
            let (operation, j, k) = (rng.next_u32() % 8, rng.next_u32() as usize % all.len(), rng.next_u32() as usize % all.len());
            let (a, b) = (&all[j], &all[k]);
            let (ball, fast, wide) = (applied(operation, &a.0, &b.0), applied(operation, &a.1, &b.1), applied(operation, &a.2, &b.2));
            if let Some((mid, radius)) = ball.known() {
                known += 1;
                let (lo, hi) = (sub_up(mid, radius), add_down(mid, radius));
                assert!(lo <= fast.lo && fast.hi <= hi, "{operation}: {mid} {radius} misses {} {}", fast.lo, fast.hi);
                let (from, to) = wide.bounds();
                assert!(mid.abs() < 1e-280 || (lo <= from && to <= hi), "{operation}: {mid} {radius} misses {from} {to}");
            }
            if ball.sign().is_some() {
                signs += 1;
                assert!(ball.sign() == fast.sign() && ball.sign() == wide.sign());
            }
            for exponent in [-300, -45, 0, 3, 290] {
                if ball.nearest(exponent).is_some() {
                    rounded += 1;
                    assert!(ball.nearest(exponent) == fast.nearest(exponent) && ball.nearest(exponent) == wide.nearest(exponent));
                }
            }
            all.push((ball, fast, wide));
        }
    }
    assert!(known > 10_000 && signs > 10_000 && rounded > 10_000, "{known} {signs} {rounded}");
}
