# Columns of every kind, with odd cells, give through a data frame what their texts give as CSV; rows have no name in the file system.

NUMBERS <- c(0L, 1L, -3L, 7L, NA, 120L, .Machine$integer.max, -.Machine$integer.max)
REALS <- c(0.1, -0, NA, NaN, Inf, -Inf, 5e-324, 1e300, 2.5, 9.999999999999998, 0.30000000000000004, 1 / 3)
WORDS <- c("red", "Red", " red ", "a,b", "qu\"ote", "line\nbreak", "", NA, "true", "1", "NA", "\u00e9", strrep("x", 40000), strrep("x", 70000), "1e3", "2.50")
DAYS <- as.Date(c("1970-01-01", "2020-02-29", NA, "0001-01-01", "9999-12-31", "2019-12-31"))
TEXT <- "category {red, \"a,b\", \"true\", \"1\", \"\u00e9\", other}"

written_double <- function(x) ifelse(is.na(x), "", sprintf("%.17g", x))
blank <- function(x) ifelse(is.na(x), "", as.character(x))

# Columns, their texts, and what they may be declared as.
columns <- function() {
  number <- c("real in [-2, 10]", "int in 0..7", "bool")
  word <- c(number, TEXT)
  latin <- iconv(WORDS, "UTF-8", "latin1")
  bytes <- c("red", "\xff\xfe", "\u00e9")
  Encoding(bytes) <- "bytes"
  list(
    integer = list(NUMBERS, blank(NUMBERS), c(number, TEXT)),
    double = list(REALS, written_double(REALS), number),
    whole = list(c(1, 0, NA, 3), c("1", "0", "", "3"), c(number, TEXT)),
    logical = list(c(TRUE, NA, FALSE, TRUE), c("true", "", "false", "true"), c("bool", TEXT)),
    character = list(WORDS, blank(WORDS), word),
    latin1 = list(latin, blank(WORDS), word),
    bytes = list(bytes, bytes, word),
    factor = list(factor(WORDS), blank(WORDS), word),
    ordered = list(factor(c("1", "red", NA, "1"), levels = c("red", "1"), ordered = TRUE), c("1", "red", "", "1"), word),
    na_level = list(addNA(factor(c("red", NA, "1"))), c("red", "", "1"), word),
    as_is = list(I(WORDS), blank(WORDS), word),
    matrix = list(matrix(REALS, ncol = 1), written_double(REALS), number),
    labelled = list(structure(c(1, NA, 7), labels = c(yes = 1), class = c("haven_labelled", "double")), c("1", "", "7"), c(number, TEXT)),
    none = list(rep(NA, 4), rep("", 4), c("bool", TEXT)),
    Date = list(DAYS, format(DAYS), c("date in [\"2018-01-01\", \"2021-12-31\"]", TEXT)),
    part_of_a_day = list(structure(c(18321.9, NA, Inf, 1e12, -0.5), class = "Date"), c("2020-02-29", "", "", "", "1969-12-31"), "date in [\"1960-01-01\", \"2021-12-31\"]"),
    whole_days = list(structure(18321L, class = "Date"), "2020-02-29", "date in [\"2018-01-01\", \"2021-12-31\"]")
  )
}

# Releases of one column: all that its type lets be said of it.
asks <- function(kind) {
  if (startsWith(kind, "category")) return("histogram(x) using geometric")
  if (startsWith(kind, "date")) return("histogram(year(x), month(x)) using geometric")
  if (kind == "bool") return(c("count(x) using geometric", "count(is_na(x)) using geometric"))
  edges <- if (startsWith(kind, "int")) "[1, 2, 3, 4, 5, 6]" else "[-1, 0, 0.1, 0.3, 0.30000000000000004, 1, 2.5, 9.999999999999998]"
  c(sprintf("histogram(bin(x, %s)) using geometric", edges), "count(is_na(x)) using geometric")
}

same_as_csv <- function(column, texts, kinds, name) {
  frame <- data.frame(one = rep(1, NROW(column)))
  frame$x <- column
  path <- csv_of(texts)
  on.exit(unlink(path))
  for (kind in kinds) for (ask in asks(kind)) {
    release <- asked(kind, nrow(frame), ask)
    expect_equal(release(frame), release(path), info = paste(name, kind, ask))
  }
}

test_that("columns of every kind equal their CSV", {
  needs_command()
  all <- columns()
  for (name in names(all)) do.call(same_as_csv, c(all[[name]], name))
})

test_that("integers of 64 bits equal their CSV", {
  needs_command()
  skip_if_not_installed("bit64")
  texts <- c("0", "1", "-3", "7", NA, "120", "9223372036854775807", "-9223372036854775807", "9007199254740993")
  same_as_csv(bit64::as.integer64(texts), blank(texts), c("real in [-2, 10]", "int in 0..7", TEXT), "integer64")
  # To the last digit, where a double has none.
  release <- asked("category {\"9007199254740993\", \"9223372036854775807\", other}", 9, "histogram(x) using geometric")
  expect_equal(unlist(release(data.frame(x = bit64::as.integer64(texts)))), c(`9007199254740993` = 1, `9223372036854775807` = 1, other = 7))
})

# Numbers at and beside the ends of ranges and halves of the steps that sums are counted in.
odd_cells <- function(lo, hi) {
  exponent <- function(v) floor(log2(abs(v)))
  step <- 2^max(exponent(max(abs(lo), abs(hi))) - 60, exponent(hi - lo) - 40)
  beside <- function(x) x * c(1 - 2^-53, 1 + 2^-52)
  steps <- c(0.5, 1.5, 2.5, 3.5, -0.5, -1.5, 0.49999999999999994, 0.5000000000000001, 1e9 + 0.5) * step
  c(NA, NaN, Inf, -Inf, 0, -0, 5e-324, -5e-324, 2.2e-308, 1e-200, -1e-200, .Machine$double.xmax, -.Machine$double.xmax, 1e18, -1e18, 9.3e18, lo, hi,
    beside(lo), beside(hi), lo + steps, steps, hi - steps, lo + (hi - lo) * (1:20) / 21)
}

test_that("odd numbers equal their CSV in every range", {
  needs_command()
  ranges <- list(c(0, 10), c(-5, 5), c(2, 3), c(0.1, 0.3), c(-3, -1), c(0, 1e15), c(-1e300, 1e300), c(0, 1e-300), c(1e6, 1e6 + 0.1))
  for (range in ranges) {
    cells <- odd_cells(range[[1]], range[[2]])
    kind <- sprintf("real in [%.17g, %.17g]", range[[1]], range[[2]])
    path <- csv_of(written_double(cells))
    frame <- data.frame(x = cells)
    # Every cell within the range opens a bin of its own, so that a change of one unit in the last place is seen.
    inside <- sort(unique(cells[is.finite(cells) & cells > range[[1]] & cells < range[[2]]]))
    edges <- paste(sprintf("%.17g", inside), collapse = ", ")
    bins <- asked(kind, length(cells), sprintf("histogram(bin(x, [%s])) using geometric", edges))
    counts <- unlist(bins(path))
    expect_equal(sum(counts), length(cells))
    expect_equal(unlist(bins(frame)), counts, info = kind)
    # Sums of these units have no noise that is fine or coarse enough.
    if (diff(range) > 1e-200 && diff(range) < 1e200) {
      total <- asked(kind, length(cells), "sum(x) using laplace")
      expect_lt(abs(total(frame) - total(path)), 0.02 * diff(range))
    }
    unlink(path)
  }
})

test_that("levels by the ten thousands and several groups of rows arrive", {
  needs_command()
  rows <- 300000L
  frame <- data.frame(x = sprintf("w%06d", rep_len(seq_len(140000L), rows)))
  release <- asked("category {w000001, w000300, w070000, w131072, w131073, w140000, other}", rows, "histogram(x) using geometric")
  expected <- c(w000001 = 3, w000300 = 3, w070000 = 2, w131072 = 2, w131073 = 2, w140000 = 2, other = rows - 14)
  expect_equal(unlist(release(frame)), expected)
  frame$x <- factor(frame$x)
  expect_equal(unlist(release(frame)), expected)
  frame$x <- rep_len(c(5L, NA, 0L), rows)
  expect_equal(asked("int in 0..5", rows, "sum(x) using geometric")(frame), 5 * rows / 3)
  frame$x <- rep_len(c(NA, FALSE, TRUE, TRUE, TRUE), rows)
  expect_equal(asked("bool", rows, "count(x) using geometric")(frame), 3 * rows / 5)
})

test_that("columns that no program could read are passed over unless it names them", {
  needs_command()
  frame <- data.frame(b = c(TRUE, NA, TRUE), ct = Sys.time() + 1:3, z = complex(real = 1:3), d = Sys.time() - (Sys.time() + 1:3))
  frame$lt <- as.POSIXlt(frame$ct)
  frame$l <- list(1, "a", NULL)
  frame$m <- matrix(1:6, 3)
  frame$f <- data.frame(u = 1:3, v = 1:3)
  count <- dpm_compile("budget eps(1000)\nprivate t[3] { b: bool }\nrelease a = count(b) using geometric\n")
  expect_equal(dpm_run(count, data = list(t = frame))$releases$a, 2)
  for (name in setdiff(names(frame), "b")) {
    program <- sprintf("budget eps(1000)\nprivate t[3] { %s: real in [0, 1] }\nrelease a = sum(%s)\n", name, name)
    why <- expect_error(dpm_run(program, data = list(t = frame)), class = "dpm_data")
    expect_match(conditionMessage(why), paste0("`", name, "`"), fixed = TRUE)
  }
})

test_that("tables without rows, with odd names, and several of them", {
  needs_command()
  empty <- "budget eps(1000)\nprivate t[private n] { b: bool }\nrelease a = count(b) using geometric\n"
  expect_equal(dpm_run(empty, data = list(t = data.frame(b = logical())))$releases$a, 0)
  both <- "budget eps(10000)\nprivate t[2] { b from \"is \u00e9\": bool }\nprivate u[3] { b: bool }\nrelease a = count(t.b) using geometric\nrelease c = count(u.b) using geometric\n"
  odd <- data.frame(b = c(TRUE, FALSE))
  for (name in list("is \u00e9", iconv("is \u00e9", "UTF-8", "latin1"))) {
    names(odd) <- name
    expect_equal(dpm_run(both, data = list(u = data.frame(b = c(TRUE, TRUE, TRUE)), t = odd))$releases, list(a = 1, c = 3))
  }
  expect_error(dpm_run(empty, data = list(data.frame(b = TRUE))), "name the tables")
  expect_error(dpm_run(empty, data = list(t = 1:2)), "is not a table")
})

test_that("rows have no name in the file system, and nothing is left open", {
  skip_if(file.access("/dev/shm", 2) != 0 || !dir.exists("/proc/self/fd"), "memory files are for Linux")
  before <- list(list.files("/dev/shm"), length(list.files("/proc/self/fd")))
  file <- memory_file()
  expect_match(file$path, "^/proc/self/fd/[0-9]+$")
  expect_equal(list.files("/dev/shm"), before[[1]])
  written(data.frame(x = 1:3), "t", file)
  expect_gt(file.size(file$path), 12)
  expect_equal(list.files("/dev/shm"), before[[1]])
  file$close()
  expect_error(with_tables(list(t = data.frame(x = 1)), function(arguments) stop("ended")), "ended")
  expect_equal(list(list.files("/dev/shm"), length(list.files("/proc/self/fd"))), before)
})

test_that("without memory files rows lie in a folder of their owner alone, until the run ends", {
  needs_command()
  file <- memory_file(linux = FALSE)
  written(data.frame(x = c(TRUE, FALSE, TRUE)), "t", file)
  expect_equal(format(file.info(dirname(file$path))$mode), "700")
  expect_equal(asked("bool", 3, "count(x) using geometric")(file$path), 2)
  file$close()
  expect_false(dir.exists(dirname(file$path)))
})

test_that("what R says of a column is not repeated", {
  bad <- structure(list(x = structure(1, class = "dpm_bad")), class = "data.frame", row.names = 1L)
  registerS3method("dim", "dpm_bad", function(x) stop("secret4711"))
  why <- expect_error(with_tables(list(t = bad), identity), "could not be written")
  expect_no_match(conditionMessage(why), "secret4711")
  expect_null(conditionCall(why))
})
