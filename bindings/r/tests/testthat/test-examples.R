# Certificates of the examples are, byte for byte, those of the command.

test_that("certificates are those of the command", {
  needs_command()
  folder <- Sys.getenv("DPM_EXAMPLES")
  skip_if(!nzchar(folder), "DPM_EXAMPLES does not name the folder of the examples")
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
  folder <- Sys.getenv("DPM_EXAMPLES")
  skip_if(!nzchar(folder), "DPM_EXAMPLES does not name the folder of the examples")
  program <- file.path(folder, "11_public_prior.dpm")
  pilot <- file.path(folder, "11_pilot.csv")
  frame <- utils::read.csv(pilot)
  expect_equal(dpm_certify(program, public = list(pilot = frame))$releases, dpm_certify(program, public = list(pilot = pilot))$releases)
})
