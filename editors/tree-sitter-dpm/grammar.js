// The syntax of dpm for tree-sitter: rules in the order and under the names of grammar/dpm.pest, which decides.

const KEYWORDS = [
  "use", "budget", "private", "public", "param", "let", "observe", "release", "output",
  "expect", "fn", "model", "return", "each", "of", "when", "else", "if", "then", "by",
  "using", "assuming", "convergence", "from", "spend", "in", "and", "or", "not", "true",
  "false", "category",
];

// Binding powers, weakest first.
const POWER = { or: 1, and: 2, not: 3, compare: 4, sum: 5, product: 6, negate: 7, power: 8, postfix: 9 };

const list = (rule) => seq(rule, repeat(seq(",", rule)));

module.exports = grammar({
  name: "dpm",

  extras: ($) => [/[ \t\r\n]/, $.comment],
  word: ($) => $.identifier,
  reserved: { global: () => KEYWORDS },
  supertypes: ($) => [$.statement, $.expression],

  // Behind `0..` a name is the upper end, or the next column where no comma stands between.
  conflicts: ($) => [[$.domain]],

  rules: {
    program: ($) => repeat($._item),

    // ---- lexical
    comment: () => token(choice(seq("#", /[^\n]*/), seq("//", /[^\n]*/))),
    identifier: () => /\p{XID_Start}\p{XID_Continue}*/,
    number: () => /[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?/,
    integer: () => /[0-9]+/,
    percent: () => /[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?%/,
    string: () => /"[^"\n]*"/,
    hole: () => "?",
    path: ($) => seq($.identifier, repeat(seq(".", $.identifier))),

    // ---- programs
    _item: ($) => choice($.use, $.budget, $.private_table, $.public, $.function, $.model, $.each, $.when, $.statement),
    statement: ($) => choice($.param, $.let, $.observe, $.release, $.output, $.expect),
    block: ($) => seq("{", repeat(choice($.each, $.when, $.statement)), "}"),
    use: ($) => seq("use", $.path),
    budget: ($) => seq("budget", $.call),
    private_table: ($) => seq("private", field("name", $.identifier), $.rows, optional($.unit), $.columns),
    public: ($) =>
      seq(
        "public",
        field("name", $.identifier),
        choice(
          seq("from", $.string, optional(seq(".", $.identifier))),
          seq($.rows, optional($.unit), $.columns),
          seq(":", $.type, optional(seq("=", $.expression))),
        ),
      ),
    rows: ($) => seq("[", choice($.integer, seq(optional("private"), $.identifier, optional(seq(">=", $.integer)))), "]"),
    // `max` and `order` are words here alone: `max(x, 0)` is a function.
    unit: ($) => seq("by", $.identifier, "max", $.integer, optional(seq("order", $.identifier))),
    columns: ($) => seq("{", repeat(seq($.column, optional(","))), "}"),
    column: ($) => seq(field("name", $.identifier), optional(seq("from", $.string)), ":", optional("public"), $.type),
    param: ($) => seq("param", field("name", $.identifier), optional(seq(":", $.type)), "~", $.call),
    let: ($) => seq("let", field("name", $.identifier), optional(seq(":", $.type)), "=", $.expression),
    observe: ($) => seq("observe", $.outcome, "~", $.call),
    outcome: ($) => seq($.identifier, optional(seq(".", $.identifier))),
    release: ($) => seq("release", field("name", $.identifier), "=", $.call, optional($.using), optional($.spend)),
    using: ($) =>
      seq("using", choice($.hole, seq(field("mechanism", $.identifier), optional($.args))), optional(seq("assuming", choice("convergence", $.call)))),
    spend: ($) => seq("spend", choice($.percent, $.call)),
    output: ($) => seq("output", field("name", $.identifier), "=", $.expression),
    expect: ($) => seq("expect", $.expression),
    each: ($) => seq("each", field("key", $.identifier), "of", field("table", $.identifier), $.block),
    when: ($) => seq("when", $.expression, $.block, optional(seq("else", $.block))),
    function: ($) => seq("fn", field("name", $.identifier), $.formals, optional(seq("->", $.type)), "=", $.expression),
    model: ($) => seq("model", field("name", $.identifier), $.formals, "{", repeat($.statement), $.return, "}"),
    return: ($) => seq("return", $.expression),
    formals: ($) => seq("(", optional(list($.formal)), ")"),
    formal: ($) => seq(field("name", $.identifier), optional(seq(":", $.type))),

    // ---- types
    type: ($) => prec.right(seq(choice($.levels, seq($.identifier, optional($.dims))), optional(choice(seq("in", $.domain), $.total)))),
    total: ($) => seq("of", $.expression),
    levels: ($) => seq("category", "{", list($.level), "}"),
    level: ($) => choice($.identifier, $.string),
    dims: ($) => seq("[", list($.expression), "]"),
    domain: ($) => choice($.interval, seq($.expression, optional(seq("..", optional($.expression))))),
    interval: ($) => prec(1, seq("[", $.expression, ",", $.expression, "]")),

    // ---- expressions
    expression: ($) => choice($.conditional, $._operand),
    conditional: ($) => seq("if", $.expression, "then", $.expression, "else", $.expression),
    _operand: ($) => choice($.binary, $.unary, $._postfix),
    binary: ($) =>
      choice(
        ...[
          ["or", POWER.or, prec.left],
          ["and", POWER.and, prec.left],
          [choice("<=", ">=", "==", "!=", "<", ">"), POWER.compare, prec.left],
          [choice("+", "-"), POWER.sum, prec.left],
          [choice("*", "/"), POWER.product, prec.left],
          ["^", POWER.power, prec.right],
        ].map(([operator, power, side]) => side(power, seq($._operand, field("operator", operator), $._operand))),
      ),
    unary: ($) => choice(prec(POWER.negate, seq("-", $._operand)), prec(POWER.not, seq("not", $._operand))),
    _postfix: ($) => choice($._primary, $.application, $.index, $.member),
    application: ($) => prec(POWER.postfix, seq(field("function", $._postfix), $.args)),
    index: ($) => prec(POWER.postfix, seq($._postfix, "[", $.expression, "]")),
    member: ($) => prec(POWER.postfix, seq($._postfix, ".", $.identifier)),
    _primary: ($) => choice($.percent, $.number, $.string, $.boolean, $.hole, $.list, $.parenthesized, $.identifier),
    boolean: () => choice("true", "false"),
    list: ($) => seq("[", optional(list($.expression)), "]"),
    parenthesized: ($) => seq("(", $.expression, ")"),
    call: ($) => seq(field("function", $.path), $.args),
    args: ($) => seq("(", optional(list($.arg)), ")"),
    arg: ($) => seq(optional(seq(field("name", $.identifier), "=")), $.expression),
  },
});
