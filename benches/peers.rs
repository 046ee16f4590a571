//! NUTS on posteriors of the shapes of Adult and MNIST, for comparison with other programs (`benches/peers/run.sh`).
//!
//! Reads the data that `benches/peers/data.py` made, compiles the model from its text as `dpm run` does, and leaves the draws
//! in PEERS_DATA, where `benches/peers/ours.py` judges them as it judges the peers'. Arguments are tasks: `adult:logistic:300:500:1` adapts for 300
//! steps and draws 500 with seed 1.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::print_stdout, clippy::panic)]

use std::fs;
use std::io::Write;
use std::time::Instant;

use dpm::check::NoFiles;
use dpm::data::eval::NoEnvironment;
use dpm::kernel::density::{Columns, Density};
use dpm::mechanism::bits::Repeated;
use dpm::mechanism::density::{Form, lower};
use dpm::mechanism::plan::{ChainLaw, DensityLaw, Loss};
use dpm::model::{Query, Step};
use dpm::pipeline;

/// The law of a program with one release.
fn law(text: &str, loss: Loss) -> DensityLaw {
    let checked = pipeline::check("bench.dpm", text, &NoFiles);
    let errors: Vec<_> = checked.diagnostics.iter().filter(|d| d.is_error()).map(|d| d.message.clone()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    let release = checked.program.steps.into_iter().find_map(|s| if let Step::Release(r) = s { Some(r) } else { None }).unwrap();
    let Query::Posterior(model) = release.query else { panic!("no posterior") };
    let released = (0..model.parameters.len()).collect();
    DensityLaw { parameters: model.parameters, released, rows: model.private, loss, chain: ChainLaw::Nuts { steps: None } }
}

fn adult(sd: f64) -> String {
    let levels = |k: usize| if k < 12 { 7 } else { 8 };
    let names = |n: usize| (0..n).map(|i| format!("l{i}")).collect::<Vec<_>>().join(", ");
    let columns: String = (0..14).map(|k| format!("g{k}: category {{{}}}, ", names(levels(k)))).collect();
    let parameters: String = (0..14).map(|k| format!("param u{k}: vector[g{k}] ~ normal(0, {sd})\n")).collect();
    let sum = (0..14).map(|k| format!("u{k}[g{k}]")).collect::<Vec<_>>().join(" + ");
    let all = (0..14).map(|k| format!("u{k}")).collect::<Vec<_>>().join(", ");
    format!(
        "private t[n] {{ {columns}y: bool }}\n{parameters}observe y ~ bernoulli_logit({} * ({sum}))\nrelease d = draw({all})\n",
        14f64.powf(-0.5)
    )
}

fn mnist(sd: f64) -> String {
    format!(
        "private t[n] {{ x: vector[784], y: bool }}\nparam w: vector[784] ~ normal(0, {sd})\nobserve y ~ bernoulli_logit(dot(w, x))\n\
         release d = draw(w)\n"
    )
}

/// Milliseconds of a value with its gradient, the least of many.
fn least(density: &mut Density, repetitions: usize) -> f64 {
    let u: Vec<f64> = (0..density.dimension()).map(|j| 0.01 * (j % 7) as f64).collect();
    let mut gradient = vec![0.0; u.len()];
    (0..repetitions).fold(f64::INFINITY, |best, _| {
        let start = Instant::now();
        std::hint::black_box(density.value_and_gradient(&u, &mut gradient));
        best.min(start.elapsed().as_secs_f64() * 1e3)
    })
}

fn main() {
    let folder = std::env::var("PEERS_DATA").unwrap();
    let pool = rayon::ThreadPoolBuilder::new().build().unwrap();
    let mut judged = fs::File::create(format!("{folder}/ours.json")).unwrap();
    for task in std::env::args().filter(|a| a.contains(':')) {
        let [data, loss_name, warm, count, seed] = task.split(':').collect::<Vec<_>>()[..] else { panic!("{task}") };
        let (warm, count, seed) = (warm.parse().unwrap(), count.parse().unwrap(), seed.parse::<u8>().unwrap());
        let numbers: Vec<f64> = fs::read(format!("{folder}/{data}.bin"))
            .unwrap()
            .chunks_exact(4)
            .map(|b| f64::from(f32::from_le_bytes(b.try_into().unwrap())))
            .collect();
        let width = if data == "adult" { 15 } else { 785 };
        let n = numbers.len() / width;
        let (loss, sd) = match loss_name {
            "beta" => (Loss::Beta { beta: 4.0 / 3.0 }, 3.0),
            _ => (Loss::NegativeLog, (1e-3 * n as f64).powf(-0.5)),
        };
        let law = law(&if data == "adult" { adult(sd) } else { mnist(sd) }, loss);
        let start = Instant::now();
        let lowered = lower(&law, &law.columns(), &NoEnvironment, Form::Centred).unwrap();
        // Columns stand in the order of a walk: the outcome first.
        let mut columns = Columns::new(width);
        for row in numbers.chunks_exact(width) {
            let (y, x) = row.split_last().unwrap();
            columns.push(&[&[*y], x].concat());
        }
        columns.derive(&lowered.program.derived);
        let linear = lowered.linear.as_ref().unwrap();
        let design = linear.design(&columns).unwrap();
        let ready = start.elapsed().as_secs_f64();
        pool.install(|| {
            let plain = least(&mut Density::new(&lowered.program, &columns, 1.0), 50);
            let mut density = Density::fused(&lowered.program, linear.fused(&design).unwrap(), 1.0);
            let fused = least(&mut density, 1_000);
            println!(
                "{data:6} {loss_name:8} dpm: value and gradient {fused:.3} ms fused, {plain:.3} ms compiled; rows and program ready in {ready:.2} s"
            );
            let (mut draws, mut steps, mut steps_warm, mut begin) = (vec![], 0, 0, Instant::now());
            let mut warm_s = 0.0;
            // Within a tenth of a prior sd of its centre, where no derivative is 0.
            let start: Vec<f64> = (0..density.dimension()).map(|j| 0.1 * sd * ((j * 37 % 11) as f64 / 5.0 - 1.0)).collect();
            dpm::mechanism::chain::nuts::run(&mut density, &start, (dpm::mechanism::chain::nuts::Tuning::Regression, warm, count), &mut Repeated::new([seed; 32], 0), |step| {
                if step.index < warm {
                    steps_warm += step.leapfrogs;
                    (warm_s, begin) = (warm_s + begin.elapsed().as_secs_f64(), Instant::now());
                } else {
                    steps += step.leapfrogs;
                    draws.extend(step.state.iter().flat_map(|x| x.to_le_bytes()));
                }
            })
            .unwrap();
            let draw_s = begin.elapsed().as_secs_f64();
            let file = format!("ours_{data}_{loss_name}_{seed}.bin");
            fs::write(format!("{folder}/{file}"), draws).unwrap();
            writeln!(
                judged,
                "{{\"who\":\"dpm\",\"data\":\"{data}\",\"loss\":\"{loss_name}\",\"seed\":{seed},\"file\":\"{file}\",\"dimension\":{},\"warm_s\":{warm_s},\"draw_s\":{draw_s},\"steps\":{steps},\"steps_warm\":{steps_warm}}}",
                start.len()
            )
            .unwrap();
        });
    }
}
