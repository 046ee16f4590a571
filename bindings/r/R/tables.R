# Tables as arguments of the command: a data frame is written into memory that has no name in the file system.

# Calls `what` with `name=path` for every table. What was written for it is gone when it returns.
with_tables <- function(tables, what) {
  if (length(tables) && (is.null(names(tables)) || !all(nzchar(names(tables))))) stop("name the tables: list(name = frame)", call. = FALSE)
  opened <- list()
  on.exit(for (table in opened) table$close())
  arguments <- character()
  for (name in names(tables)) {
    table <- tables[[name]]
    if (is.data.frame(table)) {
      opened[[name]] <- memory_file()
      written(table, name, opened[[name]])
      table <- opened[[name]]$path
    } else {
      table <- as_argument(table, name)
    }
    arguments <- c(arguments, paste0(name, "=", table))
  }
  what(arguments)
}

as_argument <- function(table, name) {
  if (is.numeric(table) && length(table) == 1) return(format(table, digits = 17))
  if (is.character(table) && length(table) == 1) return(if (startsWith(table, "@")) table else normalizePath(table))
  stop("`", name, "` is not a table: give a data frame or a path", call. = FALSE)
}

# What R says of a column may quote a cell, so it is not repeated.
written <- function(frame, name, file) {
  failed <- tryCatch({
    suppressWarnings(write_parquet(frame, file$connection))
    file$written()
    FALSE
  }, error = function(why) TRUE)
  if (failed) stop("the rows of `", name, "` could not be written; look at the data frame by itself to see why", call. = FALSE)
}

# A file to write, and the path by which the command opens it. On Linux it lies in memory and loses its name before the first byte is
# written: the command inherits the open file, and a session that is killed leaves nothing behind. Elsewhere it lies in a folder that only its
# owner may open, until the run ends.
memory_file <- function(linux = file.access("/dev/shm", 2) == 0 && dir.exists("/proc/self/fd")) {
  folder <- tempfile("dpm", tmpdir = if (linux) "/dev/shm" else tempdir())
  dir.create(folder, mode = "0700")
  path <- file.path(folder, "rows")
  connection <- file(path, "wb")
  number <- if (linux) descriptor(path)
  if (!is.null(number)) {
    unlink(folder, recursive = TRUE)
    path <- paste0("/proc/self/fd/", number)
  }
  open <- TRUE
  list(
    connection = connection, path = path,
    written = function() if (is.null(number)) {
      close(connection)
      open <<- FALSE
    } else {
      flush(connection)
    },
    close = function() {
      if (open) close(connection)
      unlink(folder, recursive = TRUE)
    }
  )
}

# The number of an open file of this process.
descriptor <- function(path) {
  numbers <- list.files("/proc/self/fd")
  found <- numbers[Sys.readlink(file.path("/proc/self/fd", numbers)) %in% c(path, normalizePath(path))]
  if (length(found)) found[[1]]
}
