# Certificates of the examples are, byte for byte, those of the command; the guide does what it says.

test_that("certificates are those of the command", {
  needs_command()
  folder <- file.path(needs_root(), "examples")
  programs <- list.files(folder, "\\.dpm$", full.names = TRUE)
  pilot <- file.path(folder, "11_pilot.csv")
  made <- tempfile(fileext = ".json")
  seen <- 0
  for (program in programs) {
    open <- grepl("/11_", program)
    system2(command(), shQuote(c("certify", program, "-o", made, if (open) paste0("--public=pilot=", pilot))), stdout = FALSE, stderr = FALSE)
    certificate <- dpm_certify(program, public = if (open) list(pilot = pilot) else list())
    kept <- dpm_save(certificate, tempfile(fileext = ".json"))
    expect_gt(file.size(made), 1000)
    expect_identical(readBin(kept, "raw", 1e7), readBin(made, "raw", 1e7), info = program)
    expect_equal(certificate$program$file, basename(program))
    unlink(c(made, kept))
    seen <- seen + 1
  }
  expect_gte(seen, 16)
})

test_that("a public table may be a data frame", {
  needs_command()
  folder <- file.path(needs_root(), "examples")
  program <- file.path(folder, "11_public_prior.dpm")
  pilot <- file.path(folder, "11_pilot.csv")
  frame <- utils::read.csv(pilot)
  expect_equal(dpm_certify(program, public = list(pilot = frame))$releases, dpm_certify(program, public = list(pilot = pilot))$releases)
})

test_that("the guide runs", {
  needs_command()
  root <- needs_root()
  skip_if_not_installed("posterior")
  lines <- readLines(file.path(root, "docs", "r.md"))
  code <- lines[cumsum(grepl("^```", lines)) %% 2 == 1 & cumsum(grepl("^```r$", lines)) == 1]
  expect_gt(length(code), 10)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  scope <- new.env()
  expect_output(for (call in parse(text = code[-1])) print(eval(call, scope)))
  expect_s3_class(scope$result, "dpm_result")
})
