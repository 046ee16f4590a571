# A data frame as Parquet: uncompressed, the bits of every number as R has them, in pure R.

GROUP <- 131072L          # rows that are written at a time; the command reads such groups side by side
MOST_BYTES <- 2^26        # of texts in one group; the command refuses pages of 2^28
LONGEST_CELL <- 65536L    # bytes; a longer cell is unreadable to the command

# Physical types, converted types, encodings and types of fields, by their numbers in the format.
BOOLEAN <- 0L; INT32 <- 1L; INT64 <- 2L; DOUBLE <- 5L; BYTE_ARRAY <- 6L; FIXED <- 7L
UTF8 <- 0L; DATE <- 6L; TIMESTAMP <- 10L
PLAIN <- 0L; RLE <- 3L; DICTIONARY <- 8L
I32 <- 5L; I64 <- 6L; BINARY <- 8L; LIST <- 9L; STRUCT <- 12L

# How a column is written: its types, and the bytes of cells none of which is missing. Without `values`, no cell is there: the
# command refuses such a column if the program names it, and passes it over if not.
column_kind <- function(column) {
  if (inherits(column, "POSIXt")) return(list(type = INT64, converted = TIMESTAMP))
  if (is.factor(column) || is.character(column)) return(list(type = BYTE_ARRAY, converted = UTF8, texts = TRUE))
  if (NCOL(column) != 1) return(list(type = FIXED))
  if (inherits(column, "Date")) return(list(type = INT32, converted = DATE, values = function(x) little(as.integer(floor(x)))))
  if (inherits(column, "integer64")) return(list(type = INT64, values = little))
  if (is.logical(column)) return(list(type = BOOLEAN, values = bits))
  if (is.integer(column) && is.numeric(column)) return(list(type = INT32, values = little))
  if (is.double(column) && is.numeric(column)) return(list(type = DOUBLE, values = little))
  list(type = FIXED)
}

# Cells without their class. Total: no cell makes it fail or say something.
column_cells <- function(column, kind) {
  if (is.factor(column)) return(c(text_levels(levels(column)), list(codes = as.integer(column))))
  if (is.null(kind$values) && is.null(kind$texts)) return(NULL)
  cells <- as.vector(unclass(column))
  if (inherits(column, "Date")) cells[!is.na(cells) & abs(cells) > .Machine$integer.max] <- NA
  cells
}

# Which cells are missing: `NULL` if none is, `TRUE` if all are. The missing value of integer64 has the bits of the number -0.
missing_cells <- function(cells, kind) {
  if (is.null(cells)) return(TRUE)
  if (kind$type != INT64) return(if (anyNA(cells)) is.na(cells))
  found <- !is.na(cells) & cells == 0 & 1 / cells < 0
  if (any(found)) found
}

there <- function(cells, missing) if (is.null(missing)) cells else cells[!missing]

# Texts by number: `levels` as bytes of UTF-8 and their lengths, and `codes`.
coded <- function(cells, range) {
  if (is.list(cells)) {
    codes <- cells$codes[range]
  } else {
    texts <- cells[range]
    levels <- unique(texts)
    cells <- text_levels(levels)
    codes <- match(texts, levels)
  }
  list(levels = cells$levels, bytes = cells$bytes, codes = codes)
}

# A missing text is an empty one, as in CSV.
text_levels <- function(levels) {
  levels[is.na(levels)] <- ""
  encodings <- Encoding(levels)
  foreign <- encodings == "latin1" | (encodings == "unknown" & !l10n_info()[["UTF-8"]] & Sys.getlocale("LC_CTYPE") != "C")
  levels[foreign] <- enc2utf8(levels[foreign])
  Encoding(levels) <- "bytes"
  levels[nchar(levels, "bytes") > LONGEST_CELL] <- strrep("x", LONGEST_CELL + 1L)
  list(levels = levels, bytes = nchar(levels, "bytes"))
}

longest_text <- function(cells) {
  if (is.list(cells)) max(0, cells$bytes) else if (is.character(cells)) min(LONGEST_CELL + 1, max(0, nchar(cells, "bytes"), na.rm = TRUE)) else 0
}

# Writes a data frame to a connection.
write_parquet <- function(frame, to) {
  kinds <- lapply(frame, column_kind)
  cells <- Map(column_cells, frame, kinds)
  rows <- nrow(frame)
  longest <- max(0, unlist(lapply(cells, longest_text)))
  size <- max(1, min(GROUP, MOST_BYTES %/% (longest + 4)))
  at <- 0
  put <- function(bytes) {
    writeBin(bytes, to)
    at <<- at + length(bytes)
  }
  put(charToRaw("PAR1"))
  names <- text_levels(names(frame))$levels
  groups <- lapply(seq_len(ceiling(rows / size)), function(group) {
    range <- seq.int((group - 1) * size + 1, min(rows, group * size))
    before <- at
    chunks <- Map(function(cells, kind, name) write_chunk(cells, kind, name, range, put, function() at), cells, kinds, names)
    struct(`1` = list_of(STRUCT, chunks), `2` = i64(at - before), `3` = i64(length(range)))
  })
  root <- struct(`4` = text("schema"), `5` = i32(length(frame)))
  leaves <- Map(function(kind, name) {
    struct(`1` = i32(kind$type), `2` = if (kind$type == FIXED) i32(1), `3` = i32(1), `4` = text(name), `6` = if (!is.null(kind$converted)) i32(kind$converted))
  }, kinds, names)
  footer <- struct(`1` = i32(1), `2` = list_of(STRUCT, c(list(root), leaves)), `3` = i64(rows), `4` = list_of(STRUCT, groups))$bytes
  put(c(footer, little(length(footer)), charToRaw("PAR1")))
}

# The pages of one column in one group of rows; answers what the footer says of them.
write_chunk <- function(cells, kind, name, range, put, place) {
  start <- place()
  if (isTRUE(kind$texts)) {
    texts <- coded(cells, range)
    missing <- if (anyNA(texts$codes)) is.na(texts$codes)
    codes <- there(texts$codes, missing)
    used <- unique(codes)
    dictionary <- plain_texts(texts$levels[used], texts$bytes[used])
    put(page_header(2L, length(dictionary), `7` = struct(`1` = i32(length(used)), `2` = i32(PLAIN))))
    put(dictionary)
    values <- packed(match(codes, used) - 1L, length(used))
    encoding <- DICTIONARY
  } else {
    chosen <- cells[range]
    missing <- missing_cells(chosen, kind)
    values <- if (is.null(kind$values)) raw() else kind$values(there(chosen, missing))
    encoding <- PLAIN
  }
  data <- place()
  levels <- present(missing, length(range))
  header <- struct(`1` = i32(length(range)), `2` = i32(encoding), `3` = i32(RLE), `4` = i32(RLE))
  put(page_header(0L, length(levels) + length(values), `5` = header))
  put(levels)
  put(values)
  about <- struct(
    `1` = i32(kind$type), `2` = list_of(I32, lapply(unique(c(PLAIN, RLE, encoding)), i32)), `3` = list_of(BINARY, list(text(name))), `4` = i32(0),
    `5` = i64(length(range)), `6` = i64(place() - start), `7` = i64(place() - start), `9` = i64(data), `11` = if (data > start) i64(start)
  )
  struct(`2` = i64(start), `3` = about)
}

page_header <- function(type, size, ...) struct(`1` = i32(type), `2` = i32(size), `3` = i32(size), ...)$bytes

little <- function(x) writeBin(x, raw(), endian = "little")

# To a number of values that fills whole bytes.
filled <- function(x, with) {
  more <- -length(x) %% 8
  if (more > 0) c(x, rep(with, more)) else x
}

bits <- function(x) packBits(filled(x, FALSE), "raw")

# Which of `n` cells are there, behind the number of bytes that say so: one run where all or none is, else a bit each.
present <- function(missing, n) {
  levels <- if (length(missing) > 1) c(varint(2 * ceiling(n / 8) + 1), bits(!missing)) else c(varint(2 * n), as.raw(is.null(missing)))
  c(little(length(levels)), levels)
}

# Numbers from 0 to below `most`, in the least whole number of bytes that has a machine type.
packed <- function(numbers, most) {
  size <- if (most <= 2^8) 1L else if (most <= 2^16) 2L else 4L
  numbers <- filled(numbers, 0L)
  c(as.raw(8L * size), varint(2 * length(numbers) / 8 + 1), writeBin(numbers, raw(), size = size, endian = "little"))
}

# Every text behind its length in four bytes.
plain_texts <- function(texts, bytes) {
  out <- raw(sum(bytes) + 4 * length(texts))
  heads <- cumsum(c(0, bytes + 4))[seq_along(texts)]
  heads <- as.vector(outer(1:4, heads, `+`))
  out[heads] <- little(as.integer(bytes))
  out[-heads] <- charToRaw(paste(texts, collapse = ""))
  out
}

# Thrift's compact protocol: a value is its type and its bytes.
varint <- function(n) {
  out <- raw()
  repeat {
    rest <- n %/% 128
    out <- c(out, as.raw(n %% 128 + if (rest > 0) 128 else 0))
    if (rest == 0) return(out)
    n <- rest
  }
}
i32 <- function(n) list(type = I32, bytes = varint(2 * n))
i64 <- function(n) list(type = I64, bytes = varint(2 * n))
text <- function(x) list(type = BINARY, bytes = c(varint(nchar(x, "bytes")), charToRaw(x)))
list_of <- function(type, values) {
  n <- length(values)
  head <- if (n < 15) as.raw(16 * n + type) else c(as.raw(240 + type), varint(n))
  list(type = LIST, bytes = c(head, unlist(lapply(unname(values), `[[`, "bytes"))))
}
struct <- function(...) {
  fields <- Filter(Negate(is.null), list(...))
  numbers <- as.integer(names(fields))
  heads <- 16L * diff(c(0L, numbers)) + vapply(fields, `[[`, 0L, "type")
  list(type = STRUCT, bytes = c(unlist(Map(function(head, field) c(as.raw(head), field$bytes), heads, unname(fields)), use.names = FALSE), as.raw(0)))
}
