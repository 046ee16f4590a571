//! What a release costs by its unit, its groups, its branches and a secret number of rows.

use super::*;

#[test]
fn groups_of_a_public_key_cost_one_group() {
    let p = example("10_groups");
    assert_eq!(p.chosen("rate").mechanism.name, "diffuse");
    assert_eq!(three(p.parameter("rate")), 0.890);
    let total = p.analysis.total.as_ref().unwrap();
    assert_eq!(total, &p.chosen("rate").claim);
    assert!(total.rdp(6.0) <= 0.5);
}

#[test]
fn units_of_several_rows_weaken_the_draw() {
    let p = example("15_by_user");
    assert_eq!(p.codes(), ["W0507"]);
    assert_eq!(three(p.parameter("p_hat")), 0.459);
}

#[test]
fn a_private_key_pays_for_rows_that_move() {
    let text = |key: &str| {
        format!(
            "private t[n] {{ g: {key} category {{a, b}}, y: bool }}
             each g of t {{
               param p ~ beta(4, 4)
               observe y ~ bernoulli(p)
               release x = draw(p) using direct
             }}"
        )
    };
    let public = read(&text("public"));
    let private = read(&text(""));
    let inside = public.chosen("x").claim.clone();
    match &private.chosen("x").claim {
        Claim::Max(parts) => match parts.as_slice() {
            [replace, moved @ Claim::Exact(_)] => {
                // A row in its group, and a row out and a row in.
                assert_eq!((replace.rdp(2.0), replace.rdp(2.9)), (inside.rdp(2.0), inside.rdp(2.9)));
                let found = [2.0, 2.9, 4.9, 5.0].map(|order| (moved.rdp(order), replace.rdp(order)));
                assert!(found[0].0 > 0.0 && found[2].0.is_finite() && found[3].0.is_infinite(), "{found:?}");
            }
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
    assert!(private.chosen("x").claim.rdp(2.0) >= inside.rdp(2.0));
}

#[test]
fn branches_cost_their_maximum_and_draws_repeat() {
    let p = read(
        "private t[n] { y: bool, z: bool }
         param p ~ beta(6, 6)
         observe y ~ bernoulli(p)
         param q ~ beta(3, 3)
         observe z ~ bernoulli(q)
         release a = draw(p) using direct
         when a > 0.5 {
           release b = draws(q, 3) using direct
         } else {
           release c = draw(q) using direct
         }",
    );
    let at = |name: &str| p.chosen(name).claim.rdp(1.5);
    assert!((at("b") / at("c") - 3.0).abs() < 1e-9);
    let total = p.analysis.total.as_ref().unwrap().rdp(1.5);
    assert!((total / (at("a") + at("b")) - 1.0).abs() < 1e-9);
}

#[test]
fn noise_in_groups_of_a_private_key_covers_rows_that_move() {
    let text = |key: &str| {
        format!(
            "private t[n] {{ g: {key} category {{a, b, c}}, x: real in [4, 5] }}
             each g of t {{
               release s = sum(x) using laplace(scale = 1)
             }}"
        )
    };
    // A row that stays moves one sum by 1; one that moves takes up to 5 out of a sum and puts up to 5 into another.
    assert_up(read(&text("public")).chosen("s").claim.pure(), 1.0);
    assert_up(read(&text("")).chosen("s").claim.pure(), 10.0);
}

#[test]
fn a_unit_of_several_rows_touches_several_groups() {
    let text = |key: &str| {
        format!(
            "private t[n] by id max 2 {{ id: text, g: {key} category {{a, b, c}}, x: bool }}
             each g of t {{
               release s = sum(x) using laplace(scale = 1)
             }}"
        )
    };
    // k = 2: two rows in all; with a private key two leave a group and two enter one.
    assert_up(read(&text("public")).chosen("s").claim.pure(), 2.0);
    assert_up(read(&text("")).chosen("s").claim.pure(), 4.0);
}

#[test]
fn secret_numbers_of_rows_cost_the_supremum_over_all() {
    let p = read(
        "private t[private n] { y: bool }
         param p ~ beta(8, 8)
         observe y ~ bernoulli(p)
         release x = draw(p) using direct",
    );
    let cost = p.chosen("x").claim.rdp(3.0);
    assert!(cost > 0.2106 && cost < 0.21075, "{cost}");
}
