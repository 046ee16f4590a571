# Data frames as the command reads them: comma-separated rows in a folder that only the owner can open, removed afterwards.

# Calls `what` with `name=path` for every table. Where there is one, the folder lies in memory.
with_tables <- function(tables, what) {
  if (is.null(names(tables)) && length(tables)) stop("name the tables: list(name = frame)", call. = FALSE)
  folder <- tempfile("dpm", tmpdir = if (file.access("/dev/shm", 2) == 0) "/dev/shm" else tempdir())
  dir.create(folder, mode = "0700")
  on.exit(unlink(folder, recursive = TRUE))
  what(vapply(names(tables), function(name) paste0(name, "=", as_argument(tables[[name]], folder, name)), ""))
}

as_argument <- function(table, folder, name) {
  if (is.data.frame(table)) {
    path <- file.path(folder, paste0(name, ".csv"))
    write_frame(table, path)
    return(path)
  }
  if (is.numeric(table) && length(table) == 1) return(format(table, digits = 17))
  if (is.character(table) && length(table) == 1) return(if (startsWith(table, "@")) table else normalizePath(table))
  stop("`", name, "` is not a table: give a data frame or a path", call. = FALSE)
}

# Numbers have 17 digits, so that none changes; a missing value is an empty cell.
write_frame <- function(frame, path) {
  cells <- lapply(frame, function(column) {
    if (is.factor(column) || inherits(column, "Date")) column <- as.character(column)
    if (is.logical(column)) column <- ifelse(column, "true", "false")
    if (is.double(column)) column <- ifelse(is.na(column), NA, formatC(column, digits = 17, format = "g", width = 1))
    if (!is.atomic(column)) stop("a column is a list", call. = FALSE)
    if (is.character(column)) quoted(enc2utf8(column)) else column
  })
  header <- paste(quoted(names(frame)), collapse = ",")
  rows <- do.call(paste, c(lapply(cells, function(c) ifelse(is.na(c), "", c)), list(sep = ",")))
  writeLines(c(header, rows), path, useBytes = TRUE)
}

quoted <- function(text) ifelse(is.na(text), NA, paste0("\"", gsub("\"", "\"\"", text, fixed = TRUE), "\""))
