"""Texts that are long, deep, wide or ask for much of one kind: TEXTS maps names to functions, as some are 16 MiB long."""
MIB = 1 << 20
MOST = 16 * MIB
HEAD = "budget rdp(order = 8, eps = 0.5)\nprivate t[n >= 100] { b: bool, i: int in 0..9, x: real in [0, 1] }\n"
TAIL = "param p ~ beta(6, 18)\nobserve b ~ bernoulli(p)\nrelease r = draw(p)\n"

def fill(piece, head="", tail="", most=MOST):
    return head + piece * ((most - len(head.encode()) - len(tail.encode())) // len(piece.encode())) + tail

def lines(count, line):
    return "".join(line(i) + "\n" for i in range(count))

def listed(count, item, sep=", "):
    return sep.join(item(i) for i in range(count))

TEXTS = {}


def add(name, make):
    TEXTS[name] = make


# 16 MiB of each kind of word.
KINDS = {"names": "a ", "numbers": "1 ", "fractions": "1.5e3 ", "strings": '"a" ', "open round brackets": "(", "closed brackets": ")", "square brackets": "[", "braces": "{ ",
  "commas": ",", "pluses": "+", "minus signs": "-", "dots": ".", "colons": ":", "tildes": "~", "equal signs": "=", "keywords": "param ", "ifs": "if ", "releases": "release ",
  "private": "private ", "comments": "# a\n", "empty comments": "#\n", "spaces": " ", "tabs": "\t", "line ends": "\n", "carriage returns": "\r\n", "questions": "?", "at signs": "@",
  "backslashes": "\\", "quotes": '"', "single quotes": "'", "letters with accents": "é ", "wide letters": "漢 ", "emoji": "🙂", "combining marks": "a\u0301", "category": "category {", "levels": "a,",
  "ranges": "..", "semicolons": ";", "each": "each ", "when": "when ", "bars": "|", "typographic minus": "−", "direction marks": "\u202e", "NULs": "\0", "dollars": "$", "not": "not ", "hash": "#"}
for k, piece in KINDS.items():
    add(f"16 MiB: {k}", lambda piece=piece: fill(piece))
    add(f"16 MiB behind an output: {k}", lambda piece=piece: fill(piece, HEAD + TAIL + "output o = "))
add("one name of 16 MiB", lambda: fill("a"))
add("one number of 16 MiB", lambda: fill("9"))
add("one text of 16 MiB", lambda: fill("a", 'let a = "', '"\n'))
add("one text of 16 MiB as output", lambda: fill("a", HEAD + TAIL + 'output o = "', '"\n'))
add("one comment of 16 MiB", lambda: fill("a", HEAD + TAIL + "# "))
add("a comment of 16 MiB beside a mistake", lambda: fill("a", HEAD + TAIL + "output o = nothing # "))
add("a mistake behind a line of 16 MiB", lambda: fill(" ", HEAD + TAIL + "output o = 1 +", "nothing\n"))
add("a mistake behind a wide line of 16 MiB", lambda: fill("漢", HEAD + TAIL + "output o = if \"", "\" == 1 then nothing else 2\n"))
add("50 mistakes behind a line of 16 MiB", lambda: fill(" ", HEAD + TAIL + "output o = 1 +", " + ".join(f"nothing{i}" for i in range(60)) + "\n"))
add("16 MiB of spaces, then 500 releases on one line", lambda: fill(" ", HEAD, lines(500, lambda i: f"release r{i} = mean(x)")))
add("a header of 16 MiB", lambda: fill("a", 'private t[n] { b from "', '": bool }\n' + TAIL))
add("headers of 1e6 bytes for 10 vector columns", lambda: "private t[n >= 100] { " + listed(10, lambda i: f'v{i} from "' + "a" * MIB + '_{i}": vector[100000] in [0, 1]') + ", b: bool }\n" + TAIL)
# Columns.
for n in (1_000, 30_000, 100_000, 160_000):
    add(f"{n} columns", lambda n=n: f"budget dp(eps = 1, delta = 1e-6)\nprivate t[n >= 100] {{ b: bool, {listed(n, lambda i: f'c{i}: bool')} }}\n" + TAIL)
    add(f"{n} columns, all summed", lambda n=n: f"budget eps(1)\nprivate t[n >= 100] {{ b: bool, {listed(n, lambda i: f'c{i}: bool')} }}\nrelease s = sum([{listed(n, lambda i: f'c{i}')}])\n")
    add(f"{n} columns in a predictor", lambda n=n: f"budget eps(1)\nprivate t[n >= 100] {{ b: bool, {listed(n, lambda i: f'c{i}: real in [0, 1]')} }}\nparam w: vector[{n}] ~ normal(0, 1)\nobserve b ~ bernoulli_logit(dot(w, project(l2(1), [{listed(n, lambda i: f'c{i}')}])))\nrelease s = draw(w)\n")
    add(f"{n} equal columns", lambda n=n: f"private t[n >= 100] {{ b: bool, {listed(n, lambda i: 'c: bool')} }}\n" + TAIL)
    add(f"{n} columns from one header", lambda n=n: f"private t[n >= 100] {{ b: bool, " + listed(min(n, 100_000), lambda i: f'c{i} from "h": bool') + " }\n" + TAIL)
    add(f"{n} unknown types", lambda n=n: f"private t[n >= 100] {{ b: bool, {listed(n, lambda i: f'c{i}: floaty')} }}\n" + TAIL)
    add(f"{n} tables with a column", lambda n=n: lines(min(n, 50_000), lambda i: f"private t{i}[n{i}] {{ b: bool }}") + TAIL)
    add(f"{n} tables, one used", lambda n=n: "budget eps(1)\n" + lines(min(n, 50_000), lambda i: f"private t{i}[n{i} >= 5] {{ b{i}: bool }}") + "release r = sum(b7)\n")
    add(f"{n} public scalars", lambda n=n: HEAD + lines(min(n, 100_000), lambda i: f"public s{i}: real in [0, 1]") + TAIL)
    add(f"{n} public values", lambda n=n: HEAD + lines(min(n, 100_000), lambda i: f"public s{i} = 3") + TAIL)
for d in (1_000, 900_000, 1_000_000, 10_000_000):
    add(f"vector[{d}]", lambda d=d: HEAD.replace("}", f", v: vector[{d}] in [0, 1] }}") + TAIL)
    add(f"sum of vector[{d}]", lambda d=d: f"budget eps(1)\nprivate t[n >= 9] {{ v: vector[{d}] in l2(1) }}\nrelease s = sum(v)\n")
    add(f"mean of vector[{d}] in a box", lambda d=d: f"budget zcdp(1)\nprivate t[9] {{ v: vector[{d}] in [0, 1] }}\nrelease s = mean(v)\n")
    add(f"counts[{d}]", lambda d=d: f"budget eps(1)\nprivate t[n >= 9] {{ v: counts[{d}] of 5 }}\nrelease s = sum(v)\n")
    add(f"dirichlet of counts[{d}]", lambda d=d: f"budget rdp(order = 2, eps = 1)\nprivate t[n >= 9] {{ v: counts[{d}] of 5 }}\nparam q ~ dirichlet(rep(3, {d}))\nobserve v ~ multinomial(5, q)\nrelease s = draw(q)\n")
    add(f"regression on vector[{d}]", lambda d=d: f"budget eps(1)\nprivate t[n >= 9] {{ b: bool, v: vector[{d}] in l2(1) }}\nparam w: vector[{d}] ~ normal(0, 1)\nobserve b ~ bernoulli_logit(dot(w, v))\nrelease s = draw(w)\n")
    add(f"linear regression on vector[{d}]", lambda d=d: f"budget eps(1)\nprivate t[n >= 9] {{ y: real in [0, 1], v: vector[{d}] in l2(1) }}\nparam w: vector[{d}] ~ normal(0, 1)\nobserve y ~ normal(dot(w, v), 1)\nrelease s = draw(w)\n")
    add(f"penalty on vector[{d}]", lambda d=d: f"budget eps(1)\nprivate t[n >= 9] {{ b: bool, v: vector[{d}] in l2(1) }}\nparam w: vector[{d}] ~ normal(0, 1)\nobserve b ~ bernoulli_logit(dot(w, v))\nrelease s = draw(w) using penalty\n")
    add(f"vector mean of vector[{d}]", lambda d=d: f"budget rdp(order = 2, eps = 1)\nprivate t[9] {{ v: vector[{d}] in l2(1) }}\nparam m: vector[{d}] ~ normal(0, 1)\nobserve v ~ normal(m, 1)\nrelease s = draw(m)\n")
    add(f"histogram of 1..{d}", lambda d=d: f"budget eps(1)\nprivate t[n >= 9] {{ k: int in 1..{d} }}\nrelease s = histogram(k)\n")
    add(f"500 histograms of 1..{d}", lambda d=d: f"budget eps(1)\nprivate t[n >= 9] {{ k: int in 1..{d} }}\n" + lines(500, lambda i: f"release s{i} = histogram(k)"))
    add(f"500 different histograms to {d}", lambda d=d: f"budget eps(1)\nprivate t[n >= 9] {{ k: int in 1..{d} }}\n" + lines(500, lambda i: f"release s{i} = histogram(clip(k, 1, {max(2, d - i)}))"))
    add(f"rep(1, {d}) 500 times", lambda d=d: HEAD + TAIL + lines(500, lambda i: f"output o{i} = sum(rep({i}, {d}))"))
    add(f"posterior over {d} levels", lambda d=d: f"budget eps(1)\nprivate t[n >= 9] {{ k: int in 1..{d} }}\nparam q ~ dirichlet(rep(3, {d}))\nobserve k ~ categorical(q)\nrelease s = posterior(q)\n")
add("five columns vector[10000000]", lambda: HEAD + "private u[m] { " + listed(5, lambda i: f"v{i}: vector[10000000] in [0, 1]") + " }\n" + TAIL)
add("100,000 columns vector[10]", lambda: "budget eps(1)\nprivate t[n >= 9] { " + listed(50_000, lambda i: f"v{i}: vector[19]") + ", b: bool }\n" + TAIL)
add("one column vector[999,990] with a long name", lambda: "budget eps(1)\nprivate t[n >= 9] { " + "v" * 990 + ": vector[999990], b: bool }\nrelease r = sum(b)\n")
add("1,000,000 columns from a pattern of 900 bytes", lambda: 'budget eps(1)\nprivate t[n >= 9] { v from "' + "h" * 900 + '{i}": vector[900000] in [0, 1], b: bool }\nrelease r = sum(b)\n')
# Levels.
def category(n, name=lambda i: f"l{i}"):
    return "category { " + listed(n, name) + " }"
for n in (1_000, 30_000, 1_000_000):
    table = lambda n, key="": f"budget rdp(order = 2, eps = 1)\nprivate t[n >= 9] {{ c: {key}{category(n)}, b: bool, x: real in [0, 1] }}\n"
    add(f"{n} levels, histogram", lambda n=n, table=table: table(n) + "release h = histogram(c)\n")
    add(f"{n} levels, 500 histograms", lambda n=n, table=table: table(n) + lines(500, lambda i: f"release h{i} = histogram(c)"))
    add(f"{n} levels, 400 draws", lambda n=n, table=table: table(n) + f"param s ~ dirichlet(rep(2, {n}))\nobserve c ~ categorical(s)\n" + lines(400, lambda i: f"release h{i} = draw(s)"))
    add(f"{n} levels, each, 400 releases", lambda n=n, table=table: table(n, "public ") + "each c of t {\n" + lines(400, lambda i: f"release h{i} = sum(x)") + "}\n")
    add(f"{n} levels, private each, 400 releases", lambda n=n, table=table: table(n) + "each c of t {\n" + lines(400, lambda i: f"release h{i} = sum(x)") + "}\n")
    add(f"{n} levels compared 500 times", lambda n=n, table=table: table(n) + lines(500, lambda i: f"release h{i} = sum(c == l{n - 1 - i})"))
    add(f"{n} levels, an unknown one 500 times", lambda n=n, table=table: table(n) + lines(500, lambda i: f"release h{i} = sum(c == m{n - 1 - i})"))
    add(f"{n} levels, histograms indexed", lambda n=n, table=table: table(n) + "release h = histogram(c)\n" + lines(20_000, lambda i: f"output o{i} = h[l{n - 1 - i % 900}]"))
    add(f"{n} levels, vector by level", lambda n=n, table=table: table(n) + f"param w: vector[c] ~ normal(0, 1)\nobserve x ~ normal(w[c], 1)\n" + lines(400, lambda i: f"release h{i} = draw(w)"))
    add(f"{n} equal levels", lambda n=n: f"private t[n] {{ c: {category(n, lambda i: 'u')} }}\n")
    add(f"{n} levels, joined with others", lambda n=n: f"budget eps(1)\nprivate t[n >= 9] {{ c: {category(min(n, 500_000))}, d: {category(min(n, 500_000), lambda i: f'm{i}')} }}\nrelease h = sum(c == d)\n")
add("levels of 16 MiB", lambda: fill("aaaaaaaaaaaa,", HEAD + "private u[m] { c: category {", "z} }\n"))
add("a level of 1 MiB, drawn 400 times", lambda: f"budget rdp(order = 2, eps = 1)\nprivate t[n >= 9] {{ c: category {{ {'a' * MIB}, b, c }} }}\nparam s ~ dirichlet(rep(2, 3))\nobserve c ~ categorical(s)\n" + lines(400, lambda i: f"release h{i} = draw(s)"))
add("a quoted level of 1 MiB, summed 400 times", lambda: f"budget rdp(order = 2, eps = 1)\nprivate t[n >= 9] {{ c: category {{ \"{'a ' * (MIB // 2)}\", b, c }} }}\n" + lines(400, lambda i: f"release h{i} = sum(c == b)"))
add("16,000 levels of 990 bytes, drawn 400 times", lambda: f"budget rdp(order = 2, eps = 1)\nprivate t[n >= 9] {{ c: {category(16_000, lambda i: f'l{i}' + 'a' * 980)} }}\nparam s ~ dirichlet(rep(2, 16000))\nobserve c ~ categorical(s)\n" + lines(400, lambda i: f"release h{i} = draw(s)"))
add("500 tables of 2,000 levels, released", lambda: "budget eps(1)\n" + lines(250, lambda i: f"private t{i}[n{i} >= 9] {{ c{i}: {category(4_000)} }}") + lines(250, lambda i: f"release h{i} = histogram(c{i})"))
# Names.
for size in (900, 1_000_000):
    n = "a" * size
    few = 16 if size > 1000 else 16_000
    add(f"names of {size} bytes", lambda n=n, few=few: fill("let " + n + "X = 1\n", HEAD + TAIL, "", 15 * MIB))
    add(f"unknown names of {size} bytes", lambda n=n: HEAD + TAIL + lines(15, lambda i: f"output o{i} = {n}{i}"))
    add(f"a column of {size} bytes in 500 releases", lambda n=n, size=size: f"budget eps(1)\nprivate t[n >= 9] {{ {n}: bool }}\n" + lines(500 if size < 1e5 else 14, lambda i: f"release h{i} = sum({n})"))
    add(f"a column of {size} bytes, 100,000 times by let", lambda n=n: f"budget eps(1)\nprivate t[n >= 9] {{ {n}: real in [0, 1] }}\nlet a0 = {n}\n" + lines(17, lambda i: f"let a{i+1} = a{i} + a{i}") + "release h = sum(a17)\n")
    add(f"500 sums of a column of {size} bytes by let", lambda n=n: f"budget eps(1)\nprivate t[n >= 9] {{ {n}: real in [0, 1] }}\nlet a0 = {n}\n" + lines(9, lambda i: f"let a{i+1} = a{i} + a{i}") + lines(450, lambda i: f"release h{i} = sum(a9)"))
    add(f"a table of {size} bytes", lambda n=n: f"budget eps(1)\nprivate {n}[n >= 9] {{ b: bool }}\n" + lines(500, lambda i: f"release h{i} = sum(b)"))
    add(f"a release of {size} bytes", lambda n=n: HEAD + f"release {n} = sum(x)\n" + lines(15, lambda i: f"output o{i} = {n}"))
    add(f"a parameter of {size} bytes", lambda n=n: HEAD + f"param {n} ~ beta(6, 18)\nobserve b ~ bernoulli({n})\nrelease r = draw({n})\n")
    add(f"a mechanism of {size} bytes", lambda n=n: HEAD + f"release r = sum(x) using {n}\n")
    add(f"an argument of {size} bytes", lambda n=n: HEAD + f"release r = sum(x) using laplace({n} = 1)\n")
    add(f"a function of {size} bytes", lambda n=n: HEAD + TAIL + f"fn {n}(x) = x\noutput o = {n}({n}(r))\noutput q = {n}(1, 2, {n})\n")
    add(f"a module of {size} bytes", lambda n=n: f"use {n}\n" + HEAD + TAIL)
    add(f"a distribution of {size} bytes", lambda n=n: HEAD + f"param p ~ {n}(1)\n")
# Parameters.
for n in (100, 1_000, 5_000, 30_000):
    add(f"{n} parameters drawn at once", lambda n=n: HEAD + lines(n, lambda i: f"param p{i} ~ normal(0, 1)") + f"observe x ~ normal({listed(n, lambda i: f'p{i}', ' + ')}, 1)\nrelease r = draw([{listed(n, lambda i: f'p{i}')}])\n" if n <= 200 else HEAD + lines(n, lambda i: f"param p{i} ~ normal(0, 1)") + f"observe x ~ normal(sum([{listed(n, lambda i: f'p{i}')}]), 1)\nrelease r = draw([{listed(n, lambda i: f'p{i}')}])\n")
    add(f"{n} parameters in one sum, one drawn", lambda n=n: HEAD + lines(n, lambda i: f"param p{i} ~ normal(0, 1)") + f"observe x ~ normal(sum([{listed(n, lambda i: f'p{i}')}]), 1)\nrelease r = draw(p0)\n")
    add(f"{n} parameters in a chain", lambda n=n: HEAD + "param p0 ~ normal(0, 1)\n" + lines(n, lambda i: f"param p{i+1} ~ normal(p{i}, 1)") + f"observe x ~ normal(p{n}, 1)\nrelease r = draw(p{n})\n")
    add(f"{n} parameters in a chain, 400 draws", lambda n=n: HEAD + "param p0 ~ normal(0, 1)\n" + lines(n, lambda i: f"param p{i+1} ~ normal(p{i}, 1)") + f"observe x ~ normal(p{n}, 1)\n" + lines(400, lambda i: f"release r{i} = draw(p{n})"))
    add(f"{n} parameters backwards in a chain", lambda n=n: HEAD + lines(n, lambda i: f"param p{i} ~ normal(0, 1)") + lines(n - 1, lambda i: f"observe x ~ normal(p{n-1-i} + p{n-2-i}, 1)") + "release r = draw(p0)\n")
    add(f"{n} observations of one parameter, 400 draws", lambda n=n: HEAD + "param p ~ beta(6, 18)\n" + lines(n, lambda i: "observe b ~ bernoulli(p)") + lines(400, lambda i: f"release r{i} = draw(p)"))
    add(f"{n} public observations, 400 draws", lambda n=n: HEAD + "public u[m] { k: bool }\nparam p ~ beta(6, 18)\n" + lines(n, lambda i: "observe k ~ bernoulli(p)") + "observe b ~ bernoulli(p)\n" + lines(400, lambda i: f"release r{i} = draw(p)"))
    add(f"{n} parameters of one model, penalty", lambda n=n: HEAD + lines(n, lambda i: f"param p{i} ~ normal(0, 1)") + f"observe b ~ bernoulli_logit(sum([{listed(n, lambda i: f'p{i}')}]))\nrelease r = draw(p0) using penalty\n")
    add(f"{n} models, outputs of each", lambda n=n: HEAD + lines(min(n, 500), lambda i: f"param p{i} ~ beta(6, 18)\nobserve b ~ bernoulli(p{i})\nrelease r{i} = draw(p{i})") + lines(n, lambda i: f"output o{i} = r{i % min(n, 500)} + r{(7 * i) % min(n, 500)}"))
for n in (64, 300):
    m = lambda n: "[" + listed(n, lambda i: "[" + listed(n, lambda j: "1" if i == j else "0") + "]") + "]"
    for reps in (1, 100, 400):
        add(f"multi_normal of {n}, {reps} draws", lambda n=n, reps=reps, m=m: f"budget zcdp(1)\nprivate t[9] {{ v: vector[{n}] in l2(1) }}\nlet c = {m(n)}\nparam w ~ multi_normal(rep(0, {n}), c)\nobserve v ~ multi_normal(w, c)\n" + lines(reps, lambda i: f"release r{i} = draw(w)"))
        add(f"regression with a multi_normal prior of {n}, {reps} draws", lambda n=n, reps=reps, m=m: f"budget eps(1)\nprivate t[9] {{ b: bool, v: vector[{n}] in l2(1) }}\nlet c = {m(n)}\nparam w ~ multi_normal(rep(0, {n}), c)\nobserve b ~ bernoulli_logit(dot(w, v))\n" + lines(reps, lambda i: f"release r{i} = draw(w)"))
# Releases, outputs, functions, groups.
add("500 releases of 1,000 operations", lambda: HEAD + "let a = " + listed(250, lambda i: "x", " + ") + "\n" + lines(500, lambda i: f"release r{i} = mean(a)"))
add("480 posteriors, 20,000 outputs of them", lambda: HEAD + "param p ~ beta(6, 18)\nobserve b ~ bernoulli(p)\n" + lines(480, lambda i: f"release r{i} = draw(p)") + lines(20_000, lambda i: f"output o{i} = r{i % 480}"))
add("400 releases in 400 branches", lambda: HEAD + "release q = mean(x)\n" + lines(400, lambda i: f"when q > {i / 400} {{\nrelease r{i} = mean(x)\n}}"))
add("250 nested whens", lambda: HEAD + "release q = mean(x)\n" + "when q > 0 {\n" * 250 + "release z = mean(x)\n" + "}\n" * 250)
add("400 releases, each 100 nested whens deep", lambda: HEAD + "release q = mean(x)\n" + "when q > 0 {\n" * 100 + lines(400, lambda i: f"release z{i} = mean(x)") + "}\n" * 100)
add("a binary tree of whens", lambda: HEAD + "release q = mean(x)\n" + (lambda f: f(f, 8, "z"))(lambda f, d, n: f"release {n} = mean(x)\n" if d == 0 else f"when q > 0.{d} {{\n" + f(f, d - 1, n + "a") + "} else {\n" + f(f, d - 1, n + "b") + "}\n"))
add("releases that depend on each other", lambda: HEAD + "release r0 = mean(x)\n" + lines(400, lambda i: f"release r{i+1} = mean(clip(x, 0, 0.5 + 0.1 * clip(r{i}, 0, 1)))"))
add("priors that depend on releases, 250", lambda: HEAD + "release r0 = mean(x)\n" + lines(240, lambda i: f"param p{i} ~ normal(0, clip(r{i}, 0.5, 2))\nobserve x ~ normal(p{i}, 1)\nrelease r{i+1} = draw(p{i})"))
add("outputs that sum all releases", lambda: HEAD + lines(400, lambda i: f"release r{i} = mean(x)") + lines(900, lambda j: f"output o{j} = sum([{listed(400, lambda i: f'r{i}')}])"))
add("30,000 functions", lambda: lines(30_000, lambda i: f"fn f{i}(x) = x + {i}") + HEAD + TAIL + "output o = " + listed(100, lambda i: f"f{i}(r)", " + ") + "\n")
add("a function of 50,000 arguments", lambda: f"fn f({listed(50_000, lambda i: f'x{i}')}) = x0\n" + HEAD + TAIL + f"output o = f({listed(50_000, lambda i: f'x{49_999 - i} = 1')})\n")
add("a function of 20,000 arguments, given wrong 20,000", lambda: f"fn f({listed(20_000, lambda i: f'x{i}')}) = x0\n" + HEAD + TAIL + f"output o = f({listed(20_000, lambda i: f'y{i} = 1')})\n")
add("100,000 equal functions", lambda: lines(50_000, lambda i: "fn f(x) = x") + HEAD + TAIL)
add("100,000 missing modules", lambda: lines(100_000, lambda i: f"use m{i}") + HEAD + TAIL)
add("100,000 times one module", lambda: lines(100_000, lambda i: "use std.stats") + HEAD + TAIL)
add("100 nested each", lambda: "budget eps(1)\nprivate t[n >= 9] { x: real in [0, 1], " + listed(100, lambda i: f"g{i}: public category {{a, b}}") + " }\n" + "".join(f"each g{i} of t {{\n" for i in range(100)) + "release s = sum(x)\n" + "}\n" * 100)
add("400 each of 1e4 levels", lambda: f"budget eps(1)\nprivate t[n >= 9] {{ c: public {category(10_000)}, x: real in [0, 1] }}\n" + lines(400, lambda i: f"each c of t {{\nrelease r{i} = sum(x)\n}}"))
add("400 each of private key of 1e4 levels", lambda: f"budget eps(1)\nprivate t[n >= 9] {{ c: {category(10_000)}, x: real in [0, 1] }}\n" + lines(400, lambda i: f"each c of t {{\nrelease r{i} = sum(x)\n}}"))
add("outputs in 400 each of 1e4 levels", lambda: f"budget eps(1)\nprivate t[n >= 9] {{ c: public {category(10_000)}, x: real in [0, 1] }}\neach c of t {{\nrelease r = sum(x)\n" + lines(20_000, lambda i: f"output o{i} = r") + "}\n" + lines(20_000, lambda i: f"output q{i} = sum(r)"))
add("100 orders of 1e308", lambda: "budget rdp(order = [" + listed(100, lambda i: f"{i + 2}e300") + "], eps = [" + listed(100, lambda i: "1") + "])\n" + HEAD.split("\n", 1)[1] + TAIL)
add("100,000 orders", lambda: "budget rdp(order = [" + listed(100_000, lambda i: f"{i + 2}") + "], eps = [" + listed(100_000, lambda i: "1") + "])\n" + HEAD.split("\n", 1)[1] + TAIL)
add("100 orders, 500 draws", lambda: "budget rdp(order = [" + listed(100, lambda i: f"{1.5 + i / 4}") + "], eps = [" + listed(100, lambda i: "9") + "])\n" + HEAD.split("\n", 1)[1] + "param p ~ beta(6, 18)\nobserve b ~ bernoulli(p)\n" + lines(500, lambda i: f"release r{i} = draw(p)"))
add("budgets, 100,000", lambda: lines(100_000, lambda i: "budget eps(1)"))
add("a matrix literal of 400 x 400", lambda: HEAD + TAIL + "output o = [" + listed(400, lambda i: "[" + listed(400, lambda j: "1") + "]") + "]\n")
add("simulate 10,000 times", lambda: HEAD + TAIL + lines(10_000, lambda i: f"output o{i} = mean(simulate(normal(r, 1), times = 100000))"))
add("expectations with certificates", lambda: HEAD + TAIL + lines(499, lambda i: f"expect certificate(r) <= rdp(order = {2 + i / 100}, eps = 9)"))
add("a long chain of ands in when", lambda: HEAD + TAIL + "when " + listed(250, lambda i: "r > 0.1", " and ") + " {\nrelease z = mean(x)\n}\n")
add("shares that are all over 100", lambda: HEAD + lines(400, lambda i: f"release r{i} = mean(x) spend 1%"))
add("a release with 100,000 arguments", lambda: HEAD + "release r = sum(x) using laplace(" + listed(100_000, lambda i: f"a{i} = 1") + ")\n")
add("a release of arithmetic over 100,000 queries", lambda: HEAD + "release r = " + listed(90_000, lambda i: "sum(x)", " + ") + "\n")
add("20,000 releases of arithmetic", lambda: HEAD + lines(20_000, lambda i: f"release r{i} = sum(x) / n"))
add("20,000 wrong statements with many names", lambda: HEAD + lines(20_000, lambda i: f"let v{i} = 1") + lines(60, lambda i: f"release q{i} = mean x"))
add("60 wrong statements before 400,000 words", lambda: HEAD + lines(60, lambda i: f"release q{i} = mean x y z") + lines(100_000, lambda i: f"let v{i} = 1"))
add("if towers that double by let", lambda: HEAD + "let a0 = x\n" + lines(17, lambda i: f"let a{i+1} = if a{i} > 0.5 then a{i} else 1 - a{i}") + "release s = sum(a9)\n")
add("450 releases of 1,000 nodes each", lambda: HEAD + "let a0 = x\n" + lines(9, lambda i: f"let a{i+1} = (a{i} + a{i}) / 2") + lines(450, lambda i: f"release s{i} = sum(a9)"))
add("450 likelihoods of 1,000 nodes", lambda: "budget dp(eps = 9, delta = 1e-6)\n" + HEAD.split("\n", 1)[1] + "let a0 = x\n" + lines(9, lambda i: f"let a{i+1} = (a{i} + a{i}) / 2") + lines(100, lambda i: f"param p{i} ~ normal(0, 1)\nobserve a9 ~ normal(p{i}, 1)\nrelease s{i} = draw(p{i})"))
add("a column in 450 releases over text of 900 bytes", lambda: f"budget eps(1)\nprivate t[n >= 9] {{ {'c' * 900}: {category(1000, lambda i: f'l{i}' + 'x' * 900)} }}\n" + lines(450, lambda i: f"release h{i} = histogram({'c' * 900})"))
add("a prior of 400 mixtures", lambda: HEAD + "param p ~ normal(" + listed(200, lambda i: "0", " + ") + ", 1)\nobserve x ~ normal(p, 1)\nrelease r = draw(p)\n")
add("dirichlet prior written out, 100,000", lambda: f"budget rdp(order = 2, eps = 1)\nprivate t[n >= 9] {{ k: int in 1..100000 }}\nparam q ~ dirichlet([{listed(100_000, lambda i: '3')}])\nobserve k ~ categorical(q)\n" + lines(1, lambda i: f"release s{i} = draw(q)"))
add("dirichlet prior written out, 10,000, 400 draws", lambda: f"budget rdp(order = 2, eps = 1)\nprivate t[n >= 9] {{ k: int in 1..10000 }}\nparam q ~ dirichlet([{listed(10_000, lambda i: f'{3 + i % 7}')}])\nobserve k ~ categorical(q)\n" + lines(400, lambda i: f"release s{i} = draw(q)"))
add("normal prior by component, 10,000, 400 draws", lambda: f"budget eps(1)\nprivate t[n >= 9] {{ b: bool, v: vector[10000] in l2(1) }}\nparam w: vector[10000] ~ normal([{listed(10_000, lambda i: f'{i % 7}')}], 1)\nobserve b ~ bernoulli_logit(dot(w, v))\n" + lines(400, lambda i: f"release s{i} = draw(w)"))
for times in (100_000, 4_000_000, 1_000_000_000):
    add(f"draws {times} times, used", lambda times=times: HEAD + f"param p ~ beta(6, 18)\nobserve b ~ bernoulli(p)\nrelease r = draws(p, {times})\noutput o = mean(r)\nwhen mean(r) > 0.5 {{\nrelease z = mean(x)\n}}\n")
    add(f"sum of rep {times}", lambda times=times: HEAD + TAIL + f"release s = mean(clip(x, 0, sum(rep(r, {min(times, 10_000_000)}))))\n")
    add(f"simulate {times} times used", lambda times=times: HEAD + TAIL + f"let z = simulate(normal(r, 1), times = {times})\noutput o = mean(z)\nrelease s = mean(clip(x, 0, abs(mean(z))))\n")
for n in (300, 900):
    add(f"{n} observations of one parameter, 300 draws", lambda n=n: HEAD + "param p ~ beta(6, 18)\n" + lines(n, lambda i: "observe b ~ bernoulli(p)") + lines(300, lambda i: f"release r{i} = draw(p)"))
    add(f"{n} parameters of one model, 300 draws by penalty", lambda n=n: "budget eps(1)\nprivate t[n >= 9] { b: bool }\n" + lines(n, lambda i: f"param p{i} ~ normal(0, 1)") + f"observe b ~ bernoulli_logit(clip(sum([{listed(n, lambda i: f'p{i}')}]), -1, 1))\n" + lines(300, lambda i: f"release r{i} = draw(p0) using penalty"))
    add(f"{n} parameters of one model, 300 draws by ops", lambda n=n: "budget eps(1)\nprivate t[n >= 9] { b: bool }\n" + lines(n, lambda i: f"param p{i} ~ normal(0, 1)") + f"observe b ~ bernoulli_logit(clip(sum([{listed(n, lambda i: f'p{i}')}]), -1, 1))\n" + lines(300, lambda i: f"release r{i} = draw(p0) using ops"))
add("multi_normal of 64, 120 draws", lambda: f"budget zcdp(1)\nprivate t[9] {{ v: vector[64] in l2(1) }}\nlet c = [" + listed(64, lambda i: "[" + listed(64, lambda j: "1" if i == j else "0") + "]") + f"]\nparam w ~ multi_normal(rep(0, 64), c)\nobserve v ~ multi_normal(w, c)\n" + lines(120, lambda i: f"release r{i} = draw(w)"))
add("multi_normal of 64, 120 draws by beta_div", lambda: f"budget zcdp(1)\nprivate t[9] {{ v: vector[64] in l2(1) }}\nlet c = [" + listed(64, lambda i: "[" + listed(64, lambda j: "1" if i == j else "0") + "]") + f"]\nparam w ~ multi_normal(rep(0, 64), c)\nobserve v ~ multi_normal(w, c)\n" + lines(120, lambda i: f"release r{i} = draw(w) using beta_div"))
add("four posteriors over 1000000 levels", lambda: f"budget eps(1)\nprivate t[n >= 9] {{ k: int in 1..1000000 }}\nparam q ~ dirichlet(rep(3, 1000000))\nobserve k ~ categorical(q)\n" + lines(2, lambda i: f"release s{i} = posterior(q)"))
add("posteriors over 1000 levels, 450", lambda: f"budget eps(1)\nprivate t[n >= 9] {{ k: int in 1..1000 }}\nparam q ~ dirichlet(rep(3, 1000))\nobserve k ~ categorical(q)\n" + lines(450, lambda i: f"release s{i} = posterior(q)"))
add("posteriors over 1000 levels by ls_dim, 450", lambda: f"budget eps(1)\nprivate t[900] {{ k: int in 1..1000 }}\nparam q ~ dirichlet(rep(3, 1000))\nobserve k ~ categorical(q)\n" + lines(450, lambda i: f"release s{i} = posterior(q) using ls_dim"))
add("posterior over 1000000 levels by ehd", lambda: f"budget eps(1)\nprivate t[900] {{ k: int in 1..1000000 }}\nparam q ~ dirichlet(rep(3, 1000000))\nobserve k ~ categorical(q)\n" + lines(2, lambda i: f"release s{i} = posterior(q) using ehd"))
add("posteriors over 3 levels by ehd, 450 priors", lambda: "budget eps(1)\nprivate t[9000] { k: int in 1..3 }\n" + lines(450, lambda i: f"param q{i} ~ dirichlet([3, 4, {3 + i}])\nobserve k ~ categorical(q{i})\nrelease s{i} = posterior(q{i}) using ehd"))
add("posteriors over 30 levels by ehds, 450 priors", lambda: "budget eps(1)\nprivate t[9000] { k: int in 1..30 }\n" + lines(450, lambda i: f"param q{i} ~ dirichlet(rep({3 + i}, 30))\nobserve k ~ categorical(q{i})\nrelease s{i} = posterior(q{i}) using ehds"))
add("posteriors over 45 levels, 450 priors", lambda: "budget eps(1)\nprivate t[9000] { k: int in 1..45 }\n" + lines(450, lambda i: f"param q{i} ~ dirichlet(rep({3 + i}, 45))\nobserve k ~ categorical(q{i})\nrelease s{i} = posterior(q{i})"))
add("draws over 1000 levels, 450 priors", lambda: "budget eps(1)\nprivate t[9000] { k: int in 1..1000 }\n" + lines(450, lambda i: f"param q{i} ~ dirichlet(rep({3 + i}, 1000))\nobserve k ~ categorical(q{i})\nrelease s{i} = draw(q{i})"))
add("10 columns of 1e5 levels, used everywhere", lambda: "budget eps(1)\nprivate t[n >= 9] { " + listed(10, lambda j: f"c{j}: {category(100_000, lambda i: f'l{j}_{i}')}") + " }\n" + lines(50, lambda i: f"release s{i} = histogram(c{i % 10})"))
add("a prior mean of 100,000 numbers, 400 draws", lambda: f"budget eps(1)\nprivate t[n >= 9] {{ b: bool, v: vector[10] in l2(1) }}\nparam w: vector[10] ~ normal([{listed(10, lambda i: '0')}], 1)\nobserve b ~ bernoulli_logit(dot(w, v))\n" + lines(400, lambda i: f"release s{i} = draw(w) using penalty"))
add("100,000 outputs, releases that name the last", lambda: HEAD + TAIL + lines(60_000, lambda i: f"output o{i} = 1") + "release z = mean(x)\n" + lines(400, lambda i: f"release y{i} = mean(clip(x, 0, abs(" + " + ".join(["z"] * 60) + ")))"))
add("lets in a chain of 20,000, released 400 times", lambda: HEAD + "let v0 = clip(x, 0, 1)\n" + lines(20_000, lambda i: f"let v{i+1} = v{i}") + lines(400, lambda i: f"release r{i} = mean(v20000)"))
