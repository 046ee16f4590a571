//! What somebody tried who was given a registered data set and asked to learn one row of it: programs and command lines.

use super::*;

const HEAD: &str = "private visits[n >= 100] by patient max 4 { patient from \"id\": text, age: int in 18..99, urgent: bool, site: public category {north, south} }\n";

struct Attempts {
    scene: Scene,
}

impl Attempts {
    fn new() -> Attempts {
        let scene = Scene::new();
        let rows: String = (0..120).map(|i| format!("kanarie{},{},{},north\n", i / 2, 18 + i % 60, i % 2)).collect();
        fs::write(scene.path("visits.csv"), format!("id,age,urgent,site\n{rows}")).unwrap();
        fs::write(scene.path("schema.dpm"), HEAD).unwrap();
        let init = "ledger init ledger --dataset visits=visits.csv --schema schema.dpm --shared --budget eps(1)";
        let made = scene.dpm(&init.split(' ').collect::<Vec<_>>());
        assert_eq!(code(&made), 0, "{}", said(&made));
        Attempts { scene }
    }

    fn charges(&self) -> u64 {
        let ledger = Ledger::at(&self.scene.path("ledger")).unwrap();
        ledger.read().unwrap().accounts.accounts["visits"].spent.charges()
    }

    fn run(&self, program: &str, more: &[&str]) -> Output {
        fs::write(self.scene.path("p.dpm"), program).unwrap();
        let run = ["run", "p.dpm", "--ledger", "ledger", "--json", "--anyway", "--data", "visits=@visits"];
        self.scene.dpm(&[&run[..], more].concat())
    }
}

#[test]
fn programs_that_would_tell_a_row_are_refused_before_the_charge() {
    let attempts = Attempts::new();
    let release = "release r = sum(age) using laplace\n";
    for (program, refusal) in [
        // Nothing but the number of rows, or what is always 0: they have no price, and nobody runs for free.
        (format!("{HEAD}output k = n\n"), 4),
        (format!("budget eps(0.1)\n{HEAD}release r = sum(age * 0) using laplace\n"), 4),
        (format!("budget eps(0.1)\n{}{release}", HEAD.replace("18..99", "18..18")), 4),
        // Noise that hides nothing, under no budget of the program, a wrong one, or a budget of its own.
        (format!("budget eps(0.1)\n{HEAD}release r = sum(age) using laplace(scale = 1e-7)\n"), 1),
        (format!("{HEAD}release r = sum(age) using laplace(scale = 1e-7)\n"), 4),
        (format!("budget eps(1000000)\n{HEAD}{release}"), 4),
        // Exact totals of rows, by way of what is public.
        (format!("budget eps(0.1)\n{HEAD}output k = count(urgent)\n{release}"), 1),
        (format!("budget eps(0.1)\n{HEAD}output k = sum(if site == \"north\" then age else 0)\n{release}"), 1),
        (format!("budget eps(0.1)\n{HEAD}let k = sum(age)\noutput twice = k + k\n{release}"), 1),
        (format!("budget eps(0.1)\n{HEAD}{release}output gap = r - sum(age)\n"), 1),
        (format!("budget eps(0.1)\n{HEAD}{release}output k = count(is_na(site))\n"), 1),
        (format!("budget eps(0.1)\n{HEAD}{release}output k = count(site == north and urgent)\n"), 1),
        (format!("budget eps(0.1)\n{HEAD}{release}when urgent {{ release s = sum(age) using laplace }}\n"), 1),
        (format!("budget eps(0.1)\n{HEAD}let k = count(site == north)\nrelease r = sum(age) using laplace(scale = k)\n"), 1),
        // Noise so wide that integers end before it does: cut there, it would leave the value beside it.
        (format!("budget eps(0.1)\n{HEAD}release r = count(urgent) using geometric(scale = 1e60)\n"), 1),
        (format!("budget eps(0.1)\n{HEAD}release r = sum(age) using laplace(scale = 1e60)\n"), 1),
        (format!("budget zcdp(0.1)\n{HEAD}release r = count(urgent) using gaussian(sigma = 1e60)\n"), 1),
        (format!("budget zcdp(0.1)\n{HEAD}release r = histogram(urgent, bin(age, width = 20)) using gaussian(sigma = 1e60)\n"), 1),
        (format!("budget zcdp(0.1)\n{HEAD}release r = sum(if age == 30 then 1e100 else 0)\n"), 1),
        (format!("budget eps(0.1)\n{HEAD}release r = sum(age^19) using geometric\n"), 1),
        // A person by the text of the key.
        (format!("budget eps(0.1)\n{HEAD}release r = count(patient == \"kanarie7\") using laplace\n"), 1),
        (format!("budget eps(0.1)\n{}{release}", HEAD.replace("text,", "category {p, q},")), 4),
        // Files by the text of the program: the rows, what the ledger is made of, what the process knows.
        (format!("budget eps(0.1)\n{HEAD}public cells from \"visits.csv\"\n{release}"), 1),
        (format!("budget eps(0.1)\n{HEAD}public cells from \"ledger.key\"\n{release}"), 1),
        (format!("budget eps(0.1)\n{HEAD}public cells from \"../visits.csv\"\n{release}"), 1),
        (format!("budget eps(0.1)\n{HEAD}public cells from \"/proc/self/environ\"\n{release}"), 1),
        (format!("budget eps(0.1)\n{HEAD}public cells from \"/dev/stdin\"\n{release}"), 1),
        (format!("use ledger.key\nbudget eps(0.1)\n{HEAD}{release}"), 1),
        // Missing cells of a public column, by two values that they count as, or by one that is not the registered one.
        (format!("budget eps(0.1)\n{}{release}", HEAD.replace("{north, south}", "{north, south} else north")), 4),
        (
            format!(
                "budget eps(0.1)\n{}{release}",
                HEAD.replace("south} }", "south}, s2 from \"site\": public category {south, x} else south }")
            ),
            4,
        ),
    ] {
        let done = attempts.run(&program, &[]);
        assert_eq!((code(&done), attempts.charges()), (refusal, 0), "{program}{}", said(&done));
        // What the compiler says of a program is JSON here.
        let shown = String::from_utf8(done.stdout.clone()).unwrap();
        assert!((shown.is_empty() || refusal == 1) && !(shown + &said(&done)).contains("kanarie"), "{}", said(&done));
    }
    // Two names of one data set are charged for both; a model over both does not count people twice.
    let twice = HEAD.replace("visits[n", "again[m");
    let both =
        format!("budget eps(0.2)\n{HEAD}{twice}release r = sum(visits.age) using laplace\nrelease s = sum(again.age) using laplace\n");
    let done = attempts.run(&both, &["--data", "again=@visits"]);
    assert_eq!((code(&done), json(&done)["ledger"]["remaining"]["visits"]["eps"].as_str()), (0, Some("0.8")), "{}", said(&done));
    let joint = format!(
        "budget zcdp(0.1)\n{HEAD}{twice}param p ~ beta(2, 2)\nobserve visits.urgent ~ bernoulli(p)\nobserve again.urgent ~ bernoulli(p)\n\
         release q = posterior(p)\n"
    );
    assert_eq!((code(&attempts.run(&joint, &["--data", "again=@visits"])), attempts.charges()), (1, 1));
    // How many people there are is asked by an end of the run: that is charged, and is the one failure there is.
    let fewer = HEAD.replace("max 4", "max 1");
    let done = attempts.run(&format!("budget eps(0.1)\n{fewer}{release}"), &[]);
    assert_eq!((code(&done), said(&done).ends_with(FAILED), done.stdout.len(), attempts.charges()), (4, true, 0, 2), "{}", said(&done));
}

#[test]
fn command_lines_that_lead_past_the_ledger_are_refused() {
    let attempts = Attempts::new();
    fs::write(attempts.scene.path("p.dpm"), format!("budget eps(0.1)\n{HEAD}release r = sum(age) using laplace\n")).unwrap();
    for (line, refusal) in [
        ("certify p.dpm --data visits=@visits", 2),
        ("audit p.dpm --data visits=@visits", 2),
        ("inspect schema.dpm --data visits=@visits", 2),
        ("run p.dpm --ledger ledger --data visits=visits.csv", 2),
        ("run p.dpm --ledger ledger --data visits=@visits --public visits=visits.csv", 2),
        ("run visits.csv --ledger ledger --data visits=@visits", 2),
        ("run ledger-wal --ledger ledger --data visits=@visits", 2),
        ("run ledger.key --ledger ledger --data visits=@visits", 2),
        ("run p.dpm --ledger ledger --data visits=@visits --public u=ledger.key", 2),
        ("run p.dpm --ledger ledger --data visits=@visits --public u=ledger.head", 2),
        ("run p.dpm --ledger ledger --data visits=@visits --public u=sqlite:ledger?table=entries", 2),
        ("run p.dpm --ledger ledger --data visits=@visits -o visits.csv", 2),
        ("run p.dpm --ledger ledger --data visits=@visits -o ledger-wal", 2),
        ("run p.dpm --ledger ledger --data visits=@visits --delimiter ;", 2),
        ("run p.dpm --ledger ledger --data visits=@visits --data visits=@visits", 2),
        ("run p.dpm --ledger ledger-wal --data visits=@visits", 4),
        ("run p.dpm --ledger ledger.head --data visits=@visits", 4),
        ("run p.dpm --ledger /dev/null --data visits=@visits", 4),
        ("run p.dpm --data visits=@visits", 2),
    ] {
        let done = attempts.scene.dpm(&line.split(' ').collect::<Vec<_>>());
        assert_eq!((code(&done), done.stdout.len(), attempts.charges()), (refusal, 0, 0), "{line}: {}", said(&done));
        assert!(!said(&done).contains("kanarie"), "{line}: {}", said(&done));
    }
}
