# Programs: compiling, certifying, running.

#' Check a program
#'
#' @param program The path of a `.dpm` file, or the text of a program (one string with line breaks, or several strings).
#' @return A `dpm_program`. A program that does not check raises a condition of class `dpm_rejected`, whose message has
#'   the places, the cause and lines to paste.
#' @export
dpm_compile <- function(program) {
  made <- parsed(program)
  in_file(made, function(file, folder) call_dpm(c("check", file), folder))
  made
}

parsed <- function(program) {
  text <- length(program) > 1 || grepl("\n", program, fixed = TRUE)
  if (!text && !file.exists(program)) stop("there is no file ", program, call. = FALSE)
  lines <- if (text) program else readLines(program, warn = FALSE, encoding = "UTF-8")
  structure(list(source = paste(lines, collapse = "\n"), path = if (!text) normalizePath(program)), class = "dpm_program")
}

# Calls `what` with the program as a file and the folder in which its modules are looked for.
in_file <- function(program, what) {
  if (!is.null(program$path)) return(what(program$path, dirname(program$path)))
  folder <- tempfile("dpm")
  dir.create(folder, mode = "0700")
  on.exit(unlink(folder, recursive = TRUE))
  file <- file.path(folder, "program.dpm")
  save_text(program$source, file)
  what(file, folder)
}

#' The certificate of a program: what may be released, and at what cost
#'
#' @param program A `dpm_program`, or what [dpm_compile()] takes.
#' @param public Public tables and values by name: data frames, paths or numbers.
#' @return A `dpm_certificate`: the certificate as a list; printing it shows its text, and [dpm_save()] writes the file that
#'   `dpm certify -o` writes. No private data are read.
#' @export
dpm_certify <- function(program, public = list()) {
  program <- as_program(program)
  with_tables(public, function(tables) in_file(program, function(file, folder) {
    arguments <- c("certify", file, named("--public", tables))
    record <- call_dpm(c(arguments, "--json"), folder)
    structure(json(record), record = record, text = call_dpm(arguments, folder), class = "dpm_certificate")
  }))
}

#' The least budget, and the least number of rows, at which a release is predicted to be near enough
#'
#' @param program A `dpm_program`, or what [dpm_compile()] takes.
#' @param release The name of a release.
#' @param within How far it may be off.
#' @param public Public tables and values by name.
#' @return A list with `budget` and `rows`, each with the `value`, the `line` of the program to replace, its new `text` and a
#'   `warning`, or the `reason` why it is not enough. Where neither is, the condition is of class `dpm_rejected`. No private data are read.
#' @export
dpm_want <- function(program, release, within, public = list()) {
  program <- as_program(program)
  wanted <- paste0("--want=", release, " within ", format(within, digits = 17, scientific = FALSE))
  with_tables(public, function(tables) in_file(program, function(file, folder) {
    json(call_dpm(c("compare", file, "--json", wanted, named("--public", tables)), folder))$want
  }))
}

#' Draw once, and get what the certificate covers
#'
#' Without a ledger nobody counts how often a program runs: every call spends the budget again.
#'
#' @param program A `dpm_program`, or what [dpm_compile()] takes.
#' @param data Private tables by name: data frames, paths or, with a ledger, `"@id"`.
#' @param public Public tables and values by name.
#' @param ledger The path of a ledger to charge.
#' @param strict Refuse certificates that assume convergence?
#' @param anyway Run although a release is predicted to learn next to nothing (W0510)?
#' @return A `dpm_result`: `$releases`, `$outputs`, `$certificate`, `$record`. [posterior::as_draws()] gives the draws of
#'   its posteriors, `plot()` shows them.
#' @details Columns of a data frame may be numbers, also `integer64`, logicals, factors, texts and dates (`Date`); a missing value is an empty
#'   cell. Times, lists, complex numbers and matrices are refused where the program names the column and passed over where not. Row names are no
#'   column. Rows go to the command through memory; where the system is not Linux, through a file in a temporary folder that only its owner may
#'   open, which is removed when the run ends.
#' @examplesIf nzchar(Sys.getenv("DPM_COMMAND", Sys.which("dpm")))
#' staff <- data.frame(smoker = rep(c(TRUE, FALSE, FALSE, FALSE), 50))
#' program <- dpm_compile("
#' budget eps(1)
#' private staff[200] { smoker: bool }
#' param p ~ beta(2, 6)
#' observe smoker ~ bernoulli(p)
#' release post = posterior(p)
#' ")
#' dpm_certify(program)
#' result <- dpm_run(program, data = list(staff = staff))
#' plot(result)
#' @export
dpm_run <- function(program, data = list(), public = list(), ledger = NULL, strict = FALSE, anyway = FALSE) {
  program <- as_program(program)
  draws <- tempfile("dpm", fileext = ".json")
  on.exit(unlink(draws))
  out <- with_tables(data, function(private) with_tables(public, function(open) in_file(program, function(file, folder) {
    arguments <- c("run", file, "--json", named("--data", private), named("--public", open), if (strict) "--strict", if (anyway) "--anyway",
                   if (!is.null(ledger)) paste0("--ledger=", normalizePath(ledger)))
    # A program without posteriors has no draws to write, and says so before anything is charged.
    tryCatch(call_dpm(c(arguments, paste0("--arviz=", draws)), folder), dpm_usage = function(why) {
      if (!grepl("--arviz", conditionMessage(why), fixed = TRUE)) stop(why)
      call_dpm(arguments, folder)
    })
  })))
  result(out, if (file.exists(draws)) jsonlite::fromJSON(draws))
}

#' Fit a model of what was released before, free
#'
#' @param program A program with `public NAME from "result.json"`.
#' @param released A `dpm_result`, or the path of one that was saved.
#' @param public Further public tables and values by name.
#' @return A `dpm_result`.
#' @export
dpm_fit <- function(program, released, public = list()) {
  # Not checked beforehand: its records are known only here.
  if (!inherits(program, "dpm_program")) program <- parsed(program)
  if (inherits(released, "dpm_result")) {
    path <- tempfile("dpm", fileext = ".json")
    on.exit(unlink(path))
    dpm_save(released, path)
  } else {
    path <- released
  }
  lines <- strsplit(program$source, "\n", fixed = TRUE)[[1]]
  pattern <- "^\\s*public\\s+(\\w+)\\s+from\\s+\".*"
  names <- sub(pattern, "\\1", grep(pattern, lines, value = TRUE))
  dpm_run(structure(list(source = program$source, path = NULL), class = "dpm_program"),
          public = c(stats::setNames(rep(list(normalizePath(path)), length(names)), names), public))
}

as_program <- function(program) if (inherits(program, "dpm_program")) program else dpm_compile(program)

named <- function(option, tables) if (length(tables)) paste0(option, "=", tables)

#' @export
print.dpm_program <- function(x, ...) {
  cat(x$source, "\n", sep = "")
  invisible(x)
}

#' @export
print.dpm_certificate <- function(x, ...) {
  cat(attr(x, "text"), "\n", sep = "")
  invisible(x)
}
