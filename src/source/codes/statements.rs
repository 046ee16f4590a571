//! Pages of E0014 to E0025: expressions, blocks, brackets and characters that cannot be read.

use super::CodePage;

pub(super) const PAGES: &[CodePage] = &[
    CodePage {
        code: "E0014",
        title: "a value is missing, or one too many",
        text: "An expression is made of values joined by operators; lists and arguments are separated by commas. Nothing may be \
               left out between two commas, and multiplication is always written: 2 * x, not 2 x.",
        example_wrong: r"budget rdp(order = 8, eps = 0.5)
private staff[n] { smoker: bool }
param p ~ beta(20, 20)
observe smoker ~ bernoulli(p)
release p_hat = draw(p) using diffuse
output percent = 100 p_hat
",
        example_right: r"budget rdp(order = 8, eps = 0.5)
private staff[n] { smoker: bool }
param p ~ beta(20, 20)
observe smoker ~ bernoulli(p)
release p_hat = draw(p) using diffuse
output percent = 100 * p_hat
",
    },
    CodePage {
        code: "E0015",
        title: "`each` key `of` table",
        text: "`each region of survey { .. }` repeats its block for every level of a category of the table; what it releases \
               becomes a vector indexed by the levels. Groups that share nothing compose in parallel: the cost is that of the most expensive group.",
        example_wrong: r"budget rdp(order = 6, eps = 0.5)
private survey[n] { region: public category {north, south}, smoker: bool }
each region in survey {
  param p ~ beta(10, 10)
  observe smoker ~ bernoulli(p)
  release rate = draw(p)
}
",
        example_right: r"budget rdp(order = 6, eps = 0.5)
private survey[n] { region: public category {north, south}, smoker: bool }
each region of survey {
  param p ~ beta(10, 10)
  observe smoker ~ bernoulli(p)
  release rate = draw(p)
}
",
    },
    CodePage {
        code: "E0016",
        title: "`if` is a value, `when` is a statement",
        text: "`if a then b else c` is an expression and needs both branches. `when a { .. } else { .. }` chooses between \
               statements, and its condition must be public.",
        example_wrong: r"budget rdp(order = 8, eps = 0.5)
private staff[n] { age: int in 18..90 }
let old = if age >= 65 then 1
release share = mean(old) using gaussian
",
        example_right: r"budget rdp(order = 8, eps = 0.5)
private staff[1200] { age: int in 18..90 }
let old = if age >= 65 then 1 else 0
release share = mean(old) using gaussian
",
    },
    CodePage {
        code: "E0017",
        title: "functions and models",
        text: "`fn f(x, y) = expression` is a single expression. `model m(y, a) { param .. observe .. return p }` is a block of \
               statements that ends with `return`. Both are put in place where they are called; neither may call itself.",
        example_wrong: r"model rate(y: bool) {
  param p ~ beta(20, 20)
  observe y ~ bernoulli(p)
}
private staff[n] { smoker: bool }
",
        example_right: r"model rate(y: bool) {
  param p ~ beta(20, 20)
  observe y ~ bernoulli(p)
  return p
}
budget rdp(order = 8, eps = 0.5)
private staff[n] { smoker: bool }
let p = rate(staff.smoker)
release p_hat = draw(p)
",
    },
    CodePage {
        code: "E0018",
        title: "a bracket without its partner",
        text: "Every ( [ { needs its ) ] } in the same statement, and a block of statements its closing brace.",
        example_wrong: r"budget rdp(order = 8, eps = 0.5)
private staff[n] { smoker: bool }
param p ~ beta(20, 20
observe smoker ~ bernoulli(p)
release p_hat = draw(p) using diffuse
",
        example_right: r"budget rdp(order = 8, eps = 0.5)
private staff[n] { smoker: bool }
param p ~ beta(20, 20)
observe smoker ~ bernoulli(p)
release p_hat = draw(p) using diffuse
",
    },
    CodePage {
        code: "E0019",
        title: "comparisons cannot be chained",
        text: "`18 <= age < 65` would compare a truth value with 65. Write both comparisons and join them with `and`.",
        example_wrong: r"budget zcdp(0.1)
private staff[n >= 100] { age: int in 0..120 }
let working = 18 <= age < 65
release share = mean(working) using gaussian
",
        example_right: r"budget zcdp(0.1)
private staff[n >= 100] { age: int in 0..120 }
let working = 18 <= age and age < 65
release share = mean(working) using gaussian
",
    },
    CodePage {
        code: "E0020",
        title: "an operator of another language",
        text: "Comparison is == and !=, logic is and, or, not, power is ^, shares are written 20%.",
        example_wrong: r"budget rdp(order = 8, eps = 0.5)
private staff[n] { smoker: bool }
param p ~ beta(20, 20)
observe smoker ~ bernoulli(p)
release p_hat = draw(p) using diffuse
output surprising = p_hat > 0.5 && p_hat < 0.9
",
        example_right: r"budget rdp(order = 8, eps = 0.5)
private staff[n] { smoker: bool }
param p ~ beta(20, 20)
observe smoker ~ bernoulli(p)
release p_hat = draw(p) using diffuse
output surprising = p_hat > 0.5 and p_hat < 0.9
",
    },
    CodePage {
        code: "E0021",
        title: "statements are not separated by semicolons",
        text: "A statement ends where the next keyword starts, so nothing separates statements; several may even share a line. \
               Columns are separated by commas or line breaks.",
        example_wrong: r"budget rdp(order = 8, eps = 0.5);
private staff[n] { smoker: bool }
param p ~ beta(20, 20)
observe smoker ~ bernoulli(p)
release p_hat = draw(p) using diffuse
",
        example_right: r"budget rdp(order = 8, eps = 0.5)
private staff[n] { smoker: bool }
param p ~ beta(20, 20)
observe smoker ~ bernoulli(p)
release p_hat = draw(p) using diffuse
",
    },
    CodePage {
        code: "E0022",
        title: "a keyword used as a name",
        text: "Keywords have one meaning everywhere and cannot name a column, a parameter or a value. A column of the file that \
               is called so is read under another name with `from`.",
        example_wrong: r"budget zcdp(0.1)
private cars[n >= 100] { model: category {a, b}, price: real in [0, 90] }
release m = mean(price) using gaussian
",
        example_right: r#"budget zcdp(0.1)
private cars[n >= 100] { kind from "model": category {a, b}, price: real in [0, 90] }
release m = mean(price) using gaussian
"#,
    },
    CodePage {
        code: "E0023",
        title: "a text that is not closed",
        text: "A text starts and ends with a double quote on the same line. Single quotes and typographic quotes do not quote.",
        example_wrong: r#"budget rdp(order = 8, eps = 0.5)
private staff[n] { smoker: bool }
param p ~ beta(20, 20)
observe smoker ~ bernoulli(p)
release p_hat = draw(p) using diffuse
output note = "one draw
"#,
        example_right: r#"budget rdp(order = 8, eps = 0.5)
private staff[n] { smoker: bool }
param p ~ beta(20, 20)
observe smoker ~ bernoulli(p)
release p_hat = draw(p) using diffuse
output note = "one draw"
"#,
    },
    CodePage {
        code: "E0024",
        title: "a character that is not allowed in a program",
        text: "A program is what its reader sees: control characters, direction marks and line separators that only some \
               editors show are refused, in comments and texts too. Other characters that are not allowed in a name, such as a typographic minus, are named with what was probably meant. Letters of every script are allowed in names.",
        example_wrong: r"budget rdp(order = 8, eps = 0.5)
private staff[n] { smoker: bool }
param p ~ beta(20, 20)
observe smoker ~ bernoulli(p)
release p_hat = draw(p) using diffuse
output change = p_hat − 0.5
",
        example_right: r"budget rdp(order = 8, eps = 0.5)
private staff[n] { smoker: bool }
param p ~ beta(20, 20)
observe smoker ~ bernoulli(p)
release p_hat = draw(p) using diffuse
output change = p_hat - 0.5
",
    },
    CodePage {
        code: "E0025",
        title: "too large or nested too deeply",
        text: "Brackets, blocks, conditions and operators may nest 256 deep, a text may be 16 MiB and 1,048,576 lines long, a number must be \
               finite; a name, a number or a level has at most 1,000 bytes, all modules together 1 MiB. The files of a program have at most \
               1,000,000 columns, its histograms of whole numbers as many bins, one model 1,000 parameters and observations. A \
               program has at most 500 releases and expectations, all releases written out 64 MiB (a number of an answer counts for 16 bytes), a \
               budget at most 100 Rényi orders, and pricing may take 500,000 points of privacy curves. The limits keep every program \
               checkable in bounded time and memory. Name a part of a long expression with `let`; write `inf` for no bound; declare \
               vectors instead of many parameters; put data into a file.",
        example_wrong: r"budget rdp(order = 8, eps = 0.5)
private staff[n] { smoker: bool }
param p ~ beta(20, 20)
observe smoker ~ bernoulli(p)
release p_hat = draw(p) using diffuse
output limit = 1e400
",
        example_right: r"budget rdp(order = 8, eps = 0.5)
private staff[n] { smoker: bool }
param p ~ beta(20, 20)
observe smoker ~ bernoulli(p)
release p_hat = draw(p) using diffuse
output limit = 1e300
",
    },
];
