# Programs, data frames and results; needs the dpm command (DPM_COMMAND, or on the path).

COUNTS <- "budget eps(10000)
private t[6] { x: real in [0, 10], b: bool, c: category {red, \"a,b\", other} }
release bs = count(b) using geometric
release cs = histogram(c) using geometric
release xs = sum(x) using laplace"

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
  noise <- "budget eps(0.001)\nprivate t[6] { b: bool }\nrelease a = mean(b)\n"
  expect_error(dpm_run(noise, data = list(t = FRAME)), "anyway = TRUE", class = "dpm_rejected")
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
  expect_error(posterior::as_draws(again, variable = "x"), "no posterior")
  expect_error(posterior::as_draws(first), "no draws")
  path <- tempfile(fileext = ".json")
  dpm_save(first, path)
  expect_equal(dpm_load(path)$releases, first$releases)
})

test_that("draws have the names of levels, and go into plots", {
  needs_command()
  skip_if_not_installed("posterior")
  program <- "budget eps(5)\nprivate t[6] { c: category {red, other}, b: bool }\nparam p ~ dirichlet(rep(1, 2))\nparam q ~ beta(1, 1)
observe c ~ categorical(p)\nobserve b ~ bernoulli(q)\nrelease post = posterior(p)\nrelease rate = posterior(q)\n"
  found <- dpm_run(program, data = list(t = FRAME))
  draws <- posterior::as_draws(found)
  expect_setequal(posterior::variables(draws), c("post[red]", "post[other]", "rate"))
  shares <- posterior::as_draws_matrix(draws)
  expect_equal(as.vector(shares[, "post[red]"] + shares[, "post[other]"]), rep(1, 4000))
  expect_equal(posterior::variables(posterior::as_draws(found, variable = "rate")), "rate")
  picture <- tempfile(fileext = ".pdf")
  grDevices::pdf(picture)
  expect_silent(plot(found))
  grDevices::dev.off()
  expect_gt(file.size(picture), 2000)
  expect_output(print(found), "as_draws")
  skip_if_not_installed("bayesplot")
  expect_s3_class(bayesplot::mcmc_intervals(draws), "ggplot")
})

test_that("posteriors of matrices and of other numbers of draws", {
  skip_if_not_installed("posterior")
  cells <- array(seq_len(4 * 5 * 2 * 3), c(4, 5, 2, 3))
  made <- structure(list(draws = list(posterior = list(w = cells, v = matrix(1, 2, 3)), coords = list(w_level = c("a", "b")), dims = list(w = "w_level"))), class = "dpm_result")
  expect_error(posterior::as_draws(made), "different numbers")
  draws <- posterior::as_draws(made, variable = "w")
  expect_equal(posterior::variables(draws), c("w[a,1]", "w[b,1]", "w[a,2]", "w[b,2]", "w[a,3]", "w[b,3]"))
  expect_equal(as.vector(draws[5, 4, "w[b,3]"]), cells[4, 5, 2, 3])
})

test_that("runs on a ledger are charged until nothing is left", {
  needs_command()
  folder <- tempfile("ledger")
  dir.create(folder, mode = "0700")
  on.exit(unlink(folder, recursive = TRUE))
  path <- function(name) file.path(folder, name)
  writeLines(c("b", rep(c("true", "false"), 50)), path("t.csv"))
  Sys.chmod(path("t.csv"), "600")
  writeLines("private t[n >= 10] { b: bool }", path("schema.dpm"))
  call_dpm(c("ledger", "init", path("l"), paste0("--dataset=t=", path("t.csv")), paste0("--schema=", path("schema.dpm")), "--budget=eps(3)"))
  program <- dpm_compile("budget eps(2)\nprivate t[n >= 10] { b: bool }\nrelease a = count(b) using geometric\n")
  expect_equal(dpm_run(program, data = list(t = "@t"), ledger = path("l"))$releases$a, 50, tolerance = 0.5)
  expect_error(dpm_run(program, data = list(t = "@t"), ledger = path("l")), class = "dpm_ledger")
})

test_that("closed posteriors of a record have new draws", {
  needs_command()
  skip_if_not_installed("posterior")
  program <- "budget eps(4)\nprivate t[60] { c: category {red, blue, other}, b: bool }\nparam p ~ dirichlet(rep(1, 3))\nparam q ~ beta(1, 1)
observe c ~ categorical(p)\nobserve b ~ bernoulli(q)\nrelease post = posterior(p)\nrelease rate = posterior(q)\n"
  first <- dpm_run(program, data = list(t = data.frame(c = rep(c("red", "red", "blue"), 20), b = rep(c(TRUE, FALSE, FALSE, FALSE), 15))))
  path <- tempfile(fileext = ".json")
  dpm_save(first, path)
  set.seed(1)
  again <- dpm_load(path)
  expect_setequal(posterior::variables(posterior::as_draws(again)), posterior::variables(posterior::as_draws(first)))
  expect_equal(posterior::as_draws(again), posterior::as_draws(again))
  figures <- function(result) posterior::summarise_draws(posterior::as_draws(result), "mean", "sd")
  old <- figures(first)
  new <- figures(again)
  new <- new[match(old$variable, new$variable), ]
  # Two means of 4,000 draws each: ten standard errors of their difference.
  expect_true(all(abs(old$mean - new$mean) < 10 * old$sd * sqrt(2 / 4000)))
  expect_equal(new$sd, old$sd, tolerance = 0.15)
  picture <- tempfile(fileext = ".pdf")
  grDevices::pdf(picture)
  expect_silent(plot(again))
  grDevices::dev.off()
})

test_that("every closed family is drawn from its law", {
  moments <- function(value, n = 40000) {
    x <- matrix(draws_of(value, n), n)
    list(mean = colMeans(x), cov = unname(stats::cov(x)))
  }
  near <- function(value, mean, cov) {
    set.seed(7)
    found <- moments(value)
    expect_equal(found$mean, mean, tolerance = 0.02)
    expect_equal(found$cov, as.matrix(cov), tolerance = 0.05)
  }
  near(list(family = "beta", parameters = c(2, 6)), 0.25, 2 * 6 / (64 * 9))
  near(list(family = "gamma", parameters = c(3, 2)), 1.5, 0.75)
  near(list(family = "normal", parameters = c(5, 2)), 5, 4)
  near(list(family = "dirichlet", parameters = c(1, 2, 5)), c(1, 2, 5) / 8, (diag(c(1, 2, 5) / 8) - tcrossprod(c(1, 2, 5) / 8)) / 9)
  cov <- list(c(2, 0.6, 0), c(0.6, 1, -0.3), c(0, -0.3, 0.5))
  near(list(family = "multi_normal", parameters = list(c(1, -2, 3), cov)), c(1, -2, 3), do.call(rbind, cov))
  parts <- list(list(family = "normal", parameters = c(0, 1)), list(family = "normal", parameters = c(4, 1)))
  near(list(family = "mixture", weights = c(0.25, 0.75), components = parts), 3, 1 + 16 * 0.25 * 0.75)
  near(list(family = "product", components = parts), c(0, 4), diag(2))
  shares <- list(list(family = "dirichlet", parameters = c(2, 6)), list(family = "dirichlet", parameters = c(6, 2)))
  grouped <- draws_of(list(family = "product", components = shares), 20000)
  expect_equal(dim(grouped), c(20000, 2, 2))
  expect_equal(apply(grouped, 2:3, mean), rbind(c(0.25, 0.75), c(0.75, 0.25)), tolerance = 0.02)
  mixed <- list(list(family = "product", components = shares), list(family = "product", components = rev(shares)))
  both <- draws_of(list(family = "mixture", weights = c(0.5, 0.5), components = mixed), 20000)
  expect_equal(apply(both, 2:3, mean), matrix(0.5, 2, 2), tolerance = 0.02)
  expect_equal(apply(both, 1:2, sum), matrix(1, 20000, 2))
  logit <- draws_of(list(family = "inv_logit", of = list(family = "normal", parameters = c(0, 1))), 20000)
  expect_equal(mean(log(logit / (1 - logit))), 0, tolerance = 0.05)
  of <- list(family = "normal", parameters = c(1, 0.01))
  expect_equal(mean(draws_of(list(family = "Phi", of = of), 2000)), pnorm(1), tolerance = 0.01)
  expect_equal(mean(draws_of(list(family = "inv_cloglog", of = of), 2000)), 1 - exp(-exp(1)), tolerance = 0.01)
  expect_equal(mean(draws_of(list(family = "exp", of = of), 2000)), exp(1), tolerance = 0.01)
  expect_null(draws_of(list(family = "draws"), 10))
  expect_null(draws_of(list(family = "normal", parameters = c(NA, 1)), 10))
})
