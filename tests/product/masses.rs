//! Texts that are long, wide or ask for much of one kind: what the front end must answer in bounded time and memory.

use super::bombs::{HEAD, TAIL, each, levels, rep};

const MOST: usize = 16 << 20;

/// A text of 16 MiB: as many pieces as fit between a head and a tail.
fn filled(head: &str, piece: &str, tail: &str) -> String {
    format!("{head}{}{tail}", rep(piece, (MOST - head.len() - tail.len()) / piece.len()))
}

fn listed(count: usize, item: impl Fn(usize) -> String) -> String {
    (0..count).map(item).collect::<Vec<_>>().join(", ")
}

fn table(columns: &str) -> String {
    format!("budget eps(1)\nprivate t[n >= 9] {{ {columns}, b: bool }}\n")
}

pub type Mass = (String, Box<dyn Fn() -> String>);

/// 16 MiB of every kind of word, of spaces and of comments, alone and behind a program; and single words of that length.
pub fn fillings() -> Vec<Mass> {
    let mut all: Vec<Mass> = vec![];
    let pieces = "a |1 |1.5e3 |\"a\" |(|)|[|{ |,|+ |-|.|..|: |~ |= |param |if |release |private |category { |a,|each |when |use |not |budget |\
                  # a\n|#\n| |\t|\n|\r\n|?|@|\\|\"|'|é |漢 |🙂|;|$|−|\u{202e}|\0|#";
    for piece in pieces.split('|') {
        all.push((format!("16 MiB of {piece:?}"), Box::new(move || filled("", piece, ""))));
        all.push((
            format!("16 MiB of {piece:?} behind an output"),
            Box::new(move || filled(&format!("{HEAD}{TAIL}output o = "), piece, "")),
        ));
    }
    let behind = |head: &str| format!("{HEAD}{TAIL}{head}");
    let mut add = |name: &str, head: String, piece: &'static str, tail: String| {
        all.push((name.to_owned(), Box::new(move || filled(&head, piece, &tail))));
    };
    add("a name of 16 MiB", String::new(), "a", String::new());
    add("a number of 16 MiB", String::new(), "9", String::new());
    add("a text of 16 MiB", behind("output o = \""), "a", "\"\n".into());
    add("a comment of 16 MiB", behind("# "), "a", String::new());
    add("a comment of 16 MiB beside a mistake", behind("output o = nothing # "), "漢", String::new());
    add("a mistake at the end of a line of 16 MiB", behind("output o = 1 +"), " ", "nothing\n".into());
    add("a mistake behind a text of 16 MiB", behind("output o = if \""), "漢", "\" == 1 then nothing else 2\n".into());
    let nothings: Vec<String> = (0..60).map(|i| format!("nothing{i}")).collect();
    add("60 mistakes at the end of a line of 16 MiB", behind("output o = 1 +"), " ", nothings.join(" + "));
    add("releases at the end of a line of 16 MiB", HEAD.into(), " ", each(400, |i| format!("release r{i} = mean(x)\n")));
    add("a header of 16 MiB", "private t[n] { b from \"".into(), "h", format!("\": bool }}\n{TAIL}"));
    add("levels of 16 MiB", format!("{HEAD}private u[m] {{ c: category {{"), "aaaaaaaaaaaa,", "z} }\n".into());
    all
}

/// Many or much of one kind, in texts of every length.
pub fn masses() -> Vec<Mass> {
    let mut all: Vec<Mass> = vec![];
    let mut add = |name: String, text: String| all.push((name, Box::new(move || text.clone())));
    for d in [1_000, 1_000_000, 10_000_000] {
        let v = |set: &str| table(&format!("v: vector[{d}]{set}"));
        add(format!("a sum of vector[{d}]"), format!("{}release s = sum(v)\n", v(" in l2(1)")));
        let five = listed(5, |i| format!("v{i}: vector[{d}] in [0, 1]"));
        add(format!("five columns vector[{d}]"), format!("{}release s = sum(b)\n", table(&five)));
        let name = rep("v", 900);
        add(format!("a long name of vector[{d}]"), format!("{}release s = sum(b)\n", table(&format!("{name}: vector[{d}]"))));
        let regression = format!("{}param w: vector[{d}] ~ normal(0, 1)\nobserve b ~ bernoulli_logit(dot(w, v))\n", v(" in l2(1)"));
        add(format!("a regression on vector[{d}]"), format!("{regression}release s = draw(w)\n"));
        add(format!("400 regressions on vector[{d}]"), regression + &each(400, |i| format!("release s{i} = draw(w) using penalty\n")));
        let linear = format!("{}param w: vector[{d}] ~ normal(0, 1)\nobserve v ~ normal(w, 1)\n", v(" in l2(1)"));
        add(format!("400 means of vector[{d}]"), linear + &each(400, |i| format!("release s{i} = draw(w)\n")));
        let number = table(&format!("k: int in 1..{d}"));
        add(format!("a histogram of 1..{d}"), format!("{number}release s = histogram(k)\n"));
        add(
            format!("400 histograms of 1..{d}"),
            number.clone() + &each(400, |i| format!("release s{i} = histogram(clip(k, 1, {d} - {i}))\n")),
        );
        let shares = format!("{number}param q ~ dirichlet(rep(3, {d}))\nobserve k ~ categorical(q)\n");
        add(format!("a posterior over 1..{d}"), format!("{shares}release s = posterior(q)\n"));
        add(format!("400 posteriors over 1..{d}"), shares.clone() + &each(400, |i| format!("release s{i} = posterior(q)\n")));
        add(format!("400 draws over 1..{d}"), shares + &each(400, |i| format!("release s{i} = draw(q)\n")));
        add(format!("a draw {d} times"), format!("{HEAD}{}output o = mean(r)\n", TAIL.replace("draw(p)", &format!("draws(p, {d})"))));
    }
    for n in [1_000, 30_000, 200_000] {
        let category = |key: &str| table(&format!("c: {key}category {{ {} }}, x: real in [0, 1]", levels(n)));
        add(format!("400 histograms of {n} levels"), category("") + &each(400, |i| format!("release h{i} = histogram(c)\n")));
        add(format!("400 sums over {n} levels"), category("") + &each(400, |i| format!("release h{i} = sum(c == l{})\n", n - 1 - i)));
        let sums = each(400, |i| format!("release h{i} = sum(x)\n"));
        add(format!("400 releases in {n} groups"), format!("{}each c of t {{\n{sums}}}\n", category("public ")));
        add(format!("400 releases in {n} private groups"), format!("{}each c of t {{\n{sums}}}\n", category("")));
        let weights = "param w: vector[c] ~ normal(0, 1)\nobserve x ~ normal(w[c], 1)\n";
        add(
            format!("400 draws of {n} weights"),
            format!("{}{weights}{}", category(""), each(400, |i| format!("release h{i} = draw(w)\n"))),
        );
        let columns = listed(n, |i| format!("c{i}: real in [0, 1]"));
        let names = listed(n, |i| format!("c{i}"));
        add(format!("a sum of {n} columns"), format!("{}release s = sum([{names}])\n", table(&columns)));
        add(format!("{n} functions"), each(n, |i| format!("fn f{i}(x) = x + {i}\n")) + HEAD + TAIL + "output o = f7(r)\n");
        add(format!("{n} functions of one name"), rep("fn f(x) = x\n", n) + HEAD + TAIL);
        let formals = listed(n, |i| format!("x{i}"));
        let given = listed(n, |i| format!("x{} = 1", n - 1 - i));
        add(format!("a function of {n} arguments"), format!("fn f({formals}) = x0\n{HEAD}{TAIL}output o = f({given})\n"));
        add(format!("{n} missing modules"), each(n, |i| format!("use m{i}\n")) + HEAD + TAIL);
        add(format!("{n} budgets"), rep("budget eps(1)\n", n));
        add(format!("{n} public values"), HEAD.to_owned() + &each(n, |i| format!("public s{i}: real in [0, 1]\n")) + TAIL);
        let params = each(n, |i| format!("param p{i} ~ normal(0, 1)\n"));
        let drawn = listed(n, |i| format!("p{i}"));
        add(
            format!("{n} parameters in a draw"),
            format!("{HEAD}{params}observe x ~ normal(sum([{drawn}]), 1)\nrelease r = draw([{drawn}])\n"),
        );
        let chain = each(n, |i| format!("param p{} ~ normal(p{i}, 1)\n", i + 1));
        let draws = each(400, |i| format!("release r{i} = draw(p{n})\n"));
        add(format!("{n} parameters in a chain"), format!("{HEAD}param p0 ~ normal(0, 1)\n{chain}observe x ~ normal(p{n}, 1)\n{draws}"));
        let observed = rep("observe b ~ bernoulli(p)\n", n);
        add(format!("{n} observations"), format!("{HEAD}param p ~ beta(6, 18)\n{observed}{}", draws.replace(&format!("p{n}"), "p")));
        let orders = listed(n, |i| format!("{}", i + 2));
        add(format!("{n} orders"), format!("budget rdp(order = [{orders}], eps = [{}1])\n{}", rep("1, ", n - 1), &HEAD[33..]));
        add(format!("a release of {n} queries"), format!("{HEAD}release r = {}sum(x)\n", rep("sum(x) + ", n)));
        add(format!("{n} releases of arithmetic"), HEAD.to_owned() + &each(n, |i| format!("release r{i} = sum(x) / n\n")));
    }
    for size in [900, 1_000_000] {
        let name = rep("a", size);
        let lets = each(9, |i| format!("let v{} = v{i} + v{i}\n", i + 1));
        let columns = table(&format!("{name}: real in [0, 1]"));
        add(
            format!("400 sums of a name of {size} bytes"),
            format!("{columns}let v0 = {name}\n{lets}{}", each(400, |i| format!("release h{i} = sum(v9)\n"))),
        );
        add(format!("15 unknown names of {size} bytes"), HEAD.to_owned() + TAIL + &each(15, |i| format!("output o{i} = {name}{i}\n")));
        let named = listed(16_000 / (1 + size / 1_000), |i| format!("{name}{i}"));
        add(
            format!("400 histograms of levels of {size} bytes"),
            table(&format!("c: category {{ {named} }}")) + &each(400, |i| format!("release h{i} = histogram(c)\n")),
        );
        add(format!("a module of {size} bytes"), format!("use {name}\n{HEAD}{TAIL}"));
    }
    let matrix = |d: usize| format!("[{}]", listed(d, |i| format!("[{}]", listed(d, |j| u8::from(i == j).to_string()))));
    for (d, draws) in [(64, 400), (300, 400), (400, 1)] {
        let model = format!("let c = {}\nparam w ~ multi_normal(rep(0, {d}), c)\nobserve v ~ multi_normal(w, c)\n", matrix(d));
        let draws = each(draws, |i| format!("release r{i} = draw(w)\n"));
        add(format!("normal priors of {d} numbers"), format!("budget zcdp(1)\nprivate t[9] {{ v: vector[{d}] in l2(1) }}\n{model}{draws}"));
    }
    all
}
