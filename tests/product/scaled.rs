//! Summaries of a posterior times a number: the summary times the number.

use std::process::Command;

/// Runs outputs of one released posterior and gives them in order.
fn outputs(lines: &[&str]) -> Result<Vec<serde_json::Value>, String> {
    let folder = tempfile::tempdir().unwrap();
    let model = "budget eps(1)\nprivate t[400] { y: category {a, b} }\nparam p ~ dirichlet([1, 1])\nobserve y ~ categorical(p)\nrelease post = posterior(p)\n";
    let body: String = lines.iter().zip(0..).map(|(line, i)| format!("output o{i} = {line}\n")).collect();
    std::fs::write(folder.path().join("a.dpm"), format!("{model}{body}")).unwrap();
    std::fs::write(folder.path().join("t.csv"), format!("y\n{}", "a\nb\nb\nb\n".repeat(100))).unwrap();
    let run =
        Command::new(env!("CARGO_BIN_EXE_dpm")).args(["run", "a.dpm", "--data", "t.csv", "--json"]).current_dir(folder.path()).output();
    let run = run.unwrap();
    if !run.status.success() {
        return Err(String::from_utf8(run.stdout).unwrap());
    }
    let found: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
    Ok((0..lines.len()).map(|i| found["outputs"][format!("o{i}")].clone()).collect())
}

#[test]
fn a_summary_of_a_scaled_posterior_is_the_scaled_summary() {
    let pairs = [
        ("interval(1000 * post[b], 0.9)", "1000 * interval(post[b], 0.9)"),
        ("mean(post[b] * 1000)", "1000 * mean(post[b])"),
        ("sd(post[b] / 4)", "sd(post[b]) / 4"),
        ("quantile(1000 * (post[b]), 0.25)", "1000 * quantile(post[b], 0.25)"),
        ("mean(1000 * post)", "1000 * mean(post)"),
    ];
    let lines: Vec<&str> = pairs.iter().flat_map(|(a, b)| [*a, *b]).collect();
    for (found, (line, _)) in outputs(&lines).unwrap().chunks(2).zip(pairs) {
        assert!(found[0] == found[1] && !found[0].is_null(), "{line}: {found:?}");
    }
}

/// An interval of a negative multiple would be the wrong way round, and a posterior divides nothing.
#[test]
fn other_products_are_refused() {
    for line in ["interval(-2 * post[b], 0.9)", "mean(1 / post[b])", "mean(0 * post)"] {
        let said = outputs(&[line]).unwrap_err();
        assert!(said.contains("E0209"), "{line}: {said}");
    }
}
