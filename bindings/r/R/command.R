# Runs the dpm command and turns its exit codes into R conditions.

# Where the command is: the environment variable DPM_COMMAND, or the first on the path.
command <- function() {
  found <- Sys.getenv("DPM_COMMAND", Sys.which("dpm"))
  if (!nzchar(found)) stop("the dpm command is not installed: in a checkout of dpm, cargo install --path .", call. = FALSE)
  normalizePath(found)
}

CONDITIONS <- c("dpm_rejected", "dpm_usage", "dpm_data", "dpm_ledger", "dpm_failed")

# Standard output of the command, as one text. Raises a condition of class `dpm_error` whose message is the command's own.
call_dpm <- function(arguments, folder = getwd()) {
  messages <- tempfile("dpm")
  old <- setwd(folder)
  on.exit({ setwd(old); unlink(messages) })
  out <- suppressWarnings(system2(command(), shQuote(arguments), stdout = TRUE, stderr = messages, env = "NO_COLOR=1"))
  code <- attr(out, "status")
  Encoding(out) <- "UTF-8"
  if (is.null(code)) return(paste(out, collapse = "\n"))
  class <- if (code %in% seq_along(CONDITIONS)) CONDITIONS[[code]] else "dpm_bug"
  text <- paste(readLines(messages, warn = FALSE, encoding = "UTF-8"), collapse = "\n")
  text <- sub("--anyway", "anyway = TRUE", text, fixed = TRUE)
  stop(structure(list(message = text, call = NULL), class = c(class, "dpm_error", "error", "condition")))
}

json <- function(text) jsonlite::fromJSON(text, simplifyVector = TRUE, simplifyDataFrame = FALSE, simplifyMatrix = FALSE)

# Writes a text of the command as it was, whatever the locale.
save_text <- function(text, path) writeLines(enc2utf8(text), path, useBytes = TRUE)
