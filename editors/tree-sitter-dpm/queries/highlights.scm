; Colours; the words are those of grammar.js, as far as they are keywords.

(comment) @comment
(string) @string
[(number) (integer) (percent)] @number
(boolean) @constant.builtin
(hole) @keyword.operator

[
  "use" "budget" "private" "public" "param" "let" "observe" "release" "output" "expect" "fn" "model" "return"
  "of" "by" "max" "order" "using" "assuming" "convergence" "from" "spend" "in" "category"
] @keyword
["each" "when" "else" "if" "then"] @keyword.conditional
["and" "or" "not"] @keyword.operator
["~" "=" "<=" ">=" "==" "!=" "<" ">" "+" "-" "*" "/" "^" "->" ".."] @operator
["(" ")" "[" "]" "{" "}"] @punctuation.bracket
["," ":" "."] @punctuation.delimiter

(function name: (identifier) @function)
(model name: (identifier) @function)
(call function: (path) @function.call)
(application function: (identifier) @function.call)
(using mechanism: (identifier) @function.builtin)
(type (identifier) @type)
(level) @constant
(param name: (identifier) @variable.parameter)
(formal name: (identifier) @variable.parameter)
(arg name: (identifier) @property)
(column name: (identifier) @property)
(member (identifier) @property .)
[(private_table name: (identifier) @variable) (public name: (identifier) @variable)]
[(let name: (identifier) @variable) (release name: (identifier) @variable) (output name: (identifier) @variable)]
