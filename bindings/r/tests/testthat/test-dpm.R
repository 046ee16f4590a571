# Programs, data frames and results; needs the dpm command (DPM_COMMAND, or on the path).

COUNTS <- "budget eps(10000)
private t[6] { x: real in [0, 10], b: bool, c: category {red, \"a,b\", other} }
release bs = count(b) using geometric
release cs = histogram(c) using geometric
release xs = sum(x) using laplace"

needs_command <- function() {
  skip_if(!nzchar(Sys.getenv("DPM_COMMAND", Sys.which("dpm"))), "the dpm command is not installed")
}

FRAME <- data.frame(
  x = c(0.1, 9.75, NA, -3, 1e300, 2.5), b = c(TRUE, FALSE, NA, TRUE, TRUE, FALSE),
  c = factor(c("red", "a,b", NA, "qu\"ote", "red", "line\nbreak"))
)

test_that("a data frame gives its exact counts", {
  needs_command()
  found <- dpm_run(COUNTS, data = list(t = FRAME))
  expect_equal(found$releases$bs, 3)
  expect_equal(unlist(found$releases$cs), c(red = 2, `a,b` = 1, other = 3))
  expect_equal(found$releases$xs, 0.1 + 9.75 + 10 + 2.5, tolerance = 0.02)
  expect_output(print(found), "bs")
})

test_that("a refusal is a condition with the whole message", {
  needs_command()
  why <- expect_error(dpm_compile("private t[5] { b: bool }\nrelease a = nothing(b)\n"), class = "dpm_rejected")
  expect_match(conditionMessage(why), "E0206")
  expect_error(dpm_compile("nowhere.dpm"), "no file")
  expect_error(dpm_run(COUNTS, data = list(t = FRAME[, "x", drop = FALSE])), class = "dpm_data")
})

test_that("certificates are data and text", {
  needs_command()
  made <- dpm_certify(COUNTS)
  expect_length(made$releases, 3)
  expect_output(print(made), "total")
})

test_that("a wanted accuracy says which budget, and how many rows", {
  needs_command()
  program <- "budget eps(1)\nprivate t[100] { y: bool }\nrelease m = mean(y)\n"
  found <- dpm_want(program, "m", 0.0005)
  expect_equal(found$budget$value, 60)
  expect_match(found$rows$text, "private t[6000]", fixed = TRUE)
  expect_error(dpm_want(program, "other", 0.1), class = "dpm_usage")
})

test_that("models of released counts give draws", {
  needs_command()
  skip_if_not_installed("posterior")
  first <- dpm_run("budget eps(5)\nprivate t[6] { b: bool }\nrelease cells = histogram(b)\n", data = list(t = FRAME))
  model <- "public cells from \"cells.json\"\nparam m ~ normal(0, 1)\nobserve cells.b ~ bernoulli_logit(m)\noutput post = posterior(m)\n"
  again <- dpm_fit(model, first)
  draws <- posterior::as_draws(again)
  expect_equal(posterior::variables(draws), "m")
  expect_equal(posterior::ndraws(draws), 4000)
  path <- tempfile(fileext = ".json")
  dpm_save(first, path)
  expect_equal(dpm_load(path)$releases, first$releases)
})
