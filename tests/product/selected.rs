//! Means of some rows and predictions for new rows, through the binary.

use serde_json::Value;
use std::path::Path;
use std::process::Command;

fn outputs(folder: &Path, program: &str, more: &[&str]) -> Value {
    std::fs::write(folder.join("p.dpm"), program).unwrap();
    let words = [&["run", "p.dpm", "--data", "d.csv", "--json", "--anyway"], more].concat();
    let out = Command::new(env!("CARGO_BIN_EXE_dpm")).current_dir(folder).args(words).output().unwrap();
    assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
    serde_json::from_slice::<Value>(&out.stdout).unwrap()["outputs"].clone()
}

/// With next to no noise a mean is the mean, however its condition and the table are declared.
#[test]
fn means_of_some_rows_are_means_of_these_rows() {
    let folder = tempfile::tempdir().unwrap();
    let rows: Vec<(f64, bool, usize)> = (0..300).map(|i| (f64::from(i % 100), i % 7 == 0, (i % 2) as usize)).collect();
    let text: String = rows.iter().map(|(x, c, g)| format!("{x},{c},{}\n", ["a", "b"][*g])).collect();
    std::fs::write(folder.path().join("d.csv"), format!("x,c,g\n{text}")).unwrap();
    let mean = |keep: &dyn Fn(&(f64, bool, usize)) -> bool| {
        let kept: Vec<f64> = rows.iter().filter(|r| keep(r)).map(|r| r.0).collect();
        kept.iter().sum::<f64>() / kept.len() as f64
    };
    for (n, g) in [("n", "public category"), ("private n", "category")] {
        for using in ["laplace(scale = 1e-6)", "gaussian(sigma = 1e-6)"] {
            let program = format!(
                "private t[{n}] {{ x: real in [0, 200], c: bool, g: {g} {{a, b}} }}\n\
                 release p = mean(x, where = c) using {using}\nrelease q = mean(x, where = g == b and x <= 50) using {using}\n\
                 release r = mean(x, where = g == a) using {using}\nrelease none = mean(x, where = x > 150) using {using}\n\
                 output at = [mean(p), mean(q), mean(r)]\noutput low = [interval(p, 0.9)[1], interval(q, 0.9)[1], interval(r, 0.9)[1]]\n\
                 output high = [interval(p, 0.9)[2], interval(q, 0.9)[2], interval(r, 0.9)[2]]\noutput unknown = interval(none, 0.9)\n\
                 output above = larger(p, q)\n"
            );
            let found = outputs(folder.path(), &program, &[]);
            let truth = [mean(&|r| r.1), mean(&|r| r.2 == 1 && r.0 <= 50.0), mean(&|r| r.2 == 0)];
            for (i, truth) in truth.iter().enumerate() {
                let of = |name: &str| found[name][i].as_f64().unwrap();
                assert!(
                    (of("at") - truth).abs() < 1e-3 && of("low") < of("high") && of("high") - of("low") < 1e-3,
                    "{n} {using} {i}: {found}"
                );
            }
            // Of no row there is no mean: all that is left are the bounds.
            assert!(found["unknown"][0].as_f64().unwrap() <= found["unknown"][1].as_f64().unwrap());
            assert_eq!(found["above"].as_f64().unwrap().round(), f64::from(u8::from(truth[0] > truth[1])));
        }
    }
}

/// In groups of a column or of several the same as of each group by itself.
#[test]
fn means_of_groups_are_means_of_their_rows() {
    let folder = tempfile::tempdir().unwrap();
    let rows: Vec<(f64, bool, usize)> = (0..300).map(|i| (f64::from(i % 100) - 20.0, i % 7 == 0, (i % 2) as usize)).collect();
    let text: String = rows.iter().map(|(x, c, g)| format!("{x},{c},{}\n", ["a", "b"][*g])).collect();
    std::fs::write(folder.path().join("d.csv"), format!("x,c,g\n{text}")).unwrap();
    let mean = |keep: &dyn Fn(&(f64, bool, usize)) -> bool| {
        let kept: Vec<f64> = rows.iter().filter(|r| keep(r)).map(|r| r.0).collect();
        kept.iter().sum::<f64>() / kept.len() as f64
    };
    for (n, g) in [("n", "public category"), ("n", "category"), ("private n", "category")] {
        for using in ["laplace(scale = 1e-6)", "gaussian(sigma = 1e-6)"] {
            let program = format!(
                "private t[{n}] {{ x: real in [-50, 200], c: bool, g: {g} {{a, b}} }}\n\
                 release m = mean(x, groups = g) using {using}\nrelease both = mean(x, groups = [g, c]) using {using}\n\
                 release alone = mean(x, where = g == b) using {using}\noutput at = [mean(m[a]), mean(m[b]), mean(both[\"b, true\"]), mean(alone)]\n\
                 output all = mean(m)\noutput ends = interval(m, 0.9)\noutput above = larger(m[b], m[a])\n"
            );
            let found = outputs(folder.path(), &program, &[]);
            let truth = [mean(&|r| r.2 == 0), mean(&|r| r.2 == 1), mean(&|r| r.1 && r.2 == 1), mean(&|r| r.2 == 1)];
            for (i, truth) in truth.iter().enumerate() {
                assert!((found["at"][i].as_f64().unwrap() - truth).abs() < 1e-3, "{n} {using} {i}: {found}");
            }
            assert_eq!(found["above"].as_f64().unwrap().round(), f64::from(u8::from(truth[1] > truth[0])), "{found}");
            assert!((found["ends"]["b"][1].as_f64().unwrap() - truth[1]).abs() < 1e-3, "{found}");
            // Written out it says the same.
            let out = Command::new(env!("CARGO_BIN_EXE_dpm")).current_dir(folder.path()).args(["expand", "p.dpm"]).output().unwrap();
            let again = outputs(folder.path(), &String::from_utf8(out.stdout).unwrap(), &[]);
            assert!((again["at"][2].as_f64().unwrap() - truth[2]).abs() < 1e-3, "{again}");
        }
    }
}

/// A row by its columns is the row by hand, of one draw and of a posterior; also of Poisson and normal rows.
#[test]
fn new_rows_are_predicted_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let row = |i: usize| format!("{},{},{},{}\n", 20 + i % 60, ["female", "male"][i % 2], u8::from(i.is_multiple_of(3)), i % 5);
    std::fs::write(folder.path().join("d.csv"), format!("age,sex,over,visits\n{}", (0..200).map(row).collect::<String>())).unwrap();
    let program = |observe: &str, weights: &str, release: &str, outputs: &str| {
        format!(
            "budget dp(eps = 4, delta = 1e-6)\nprivate t[200] {{ age: real in [20, 80] else 50, sex: category {{female, male}}, over: bool, visits: int in 0..5 }}\n\
             let x = design(age, sex, age * sex, is_na(age))\nparam w: vector[x]{weights} ~ normal(0, 1)\nobserve {observe}\nrelease r = {release}\n{outputs}"
        )
    };
    let by_hand = |f: &str| {
        format!(
            "output named = predict(r, sex = male, age = 65)\noutput listed = predict(r, [1, 0.5, 1, 0.5, 0])\n\
             output hand = {f}(r[\"intercept\"] + 0.5 * r[age] + r[\"sex[male]\"] + 0.5 * r[\"age * sex[male]\"])\n"
        )
    };
    for (observe, weights, f) in [
        ("over ~ bernoulli_logit(dot(w, x))", "", "inv_logit"),
        ("over ~ bernoulli_probit(dot(w, x))", " in l2(2)", "Phi"),
        ("visits ~ poisson_log(dot(w, x))", " in l2(2)", "exp"),
    ] {
        let found = outputs(folder.path(), &program(observe, weights, "draw(w)", &by_hand(f)), &[]);
        let of = |name: &str| found[name].as_f64().unwrap();
        assert!((of("named") - of("hand")).abs() < 1e-9 && (of("listed") - of("hand")).abs() < 1e-9, "{f}: {found}");
    }
    let ends = "output chance = predict(r, sex = male, age = 65)\noutput ends = interval(chance, 0.9)\noutput middle = mean(chance)\n\
                output drawn = mean(simulate(bernoulli(chance), times = 20000))\n";
    for (law, release, family) in
        [("bernoulli_probit", "posterior(w)", "Phi"), ("bernoulli_logit", "posterior(w) using score_statistics", "inv_logit")]
    {
        let posterior = program(&format!("over ~ {law}(dot(w, x))"), "", release, ends);
        let found = outputs(folder.path(), &posterior, &["--arviz", "a.json"]);
        let [low, high] = [0, 1].map(|i| found["ends"][i].as_f64().unwrap());
        let [middle, drawn] = ["middle", "drawn"].map(|name| found[name].as_f64().unwrap());
        // Five standard deviations of a share of 20,000.
        assert!(
            0.0 < low && low < middle && middle < high && high < 1.0 && (middle - drawn).abs() < 5.0 * 0.5 / 20_000_f64.sqrt(),
            "{found}"
        );
        assert_eq!(found["chance"]["family"], family);
    }
    let arviz: Value = serde_json::from_str(&std::fs::read_to_string(folder.path().join("a.json")).unwrap()).unwrap();
    let all = arviz.pointer("/posterior/chance").unwrap().as_array().unwrap();
    assert!(all.iter().flat_map(|chain| chain.as_array().unwrap()).all(|p| (0.0..=1.0).contains(&p.as_f64().unwrap())));
}
