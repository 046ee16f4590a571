# What the tests share: the command, programs that release without noise, CSV by rules of its own.

needs_command <- function() {
  skip_if(!nzchar(Sys.getenv("DPM_COMMAND", Sys.which("dpm"))), "the dpm command is not installed")
}

# The checkout, which a package that is installed from elsewhere does not have.
needs_root <- function() {
  root <- Sys.getenv("DPM_ROOT")
  skip_if(!nzchar(root), "DPM_ROOT does not name a checkout of dpm")
  root
}

# What one column releases under a budget so large that the noise of counts is 0 but for a chance below e^-1000.
asked <- function(kind, rows, ask, eps = 10000) {
  found <- dpm_compile(sprintf("budget eps(%s)\nprivate t[%d] { x: %s }\nrelease a = %s\n", format(eps, scientific = FALSE), rows, kind, ask))
  function(table) dpm_run(found, data = list(t = table), anyway = TRUE)$releases$a
}

# The file of a column whose cells are these texts; one more column keeps a line with an empty cell from being blank.
csv_of <- function(cells) {
  path <- tempfile(fileext = ".csv")
  cells <- paste0("\"", gsub("\"", "\"\"", cells, fixed = TRUE, useBytes = TRUE), "\"")
  writeLines(c("x,one", paste0(cells, ",1")), path, useBytes = TRUE)
  path
}
