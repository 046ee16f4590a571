# What a run released: values by name, draws of posteriors, records.

result <- function(text, draws = NULL) {
  record <- json(text)
  structure(
    list(releases = record$releases, outputs = record$outputs, certificate = record$certificate, record = text, draws = draws),
    class = "dpm_result"
  )
}

#' Keep a result, or read one
#'
#' @param result A `dpm_result`.
#' @param path A file, as `dpm run -o` writes it.
#' @return `dpm_load()`: a `dpm_result` without draws; `dpm_save()`: the path, invisibly.
#' @export
dpm_save <- function(result, path) {
  writeLines(result$record, path)
  invisible(path)
}

#' @rdname dpm_save
#' @export
dpm_load <- function(path) result(paste(readLines(path, warn = FALSE), collapse = "\n"))

#' Draws of the posteriors of a result
#'
#' @param x A `dpm_result` of [dpm_run()] or [dpm_fit()].
#' @param ... Not used.
#' @return A `draws_array` of the package posterior; bayesplot and tidybayes take it.
#' @exportS3Method posterior::as_draws
as_draws.dpm_result <- function(x, ...) {
  if (is.null(x$draws)) stop("the result has no draws: nothing but numbers was released, or it was read from a file", call. = FALSE)
  parts <- lapply(names(x$draws$posterior), function(name) {
    values <- x$draws$posterior[[name]]
    if (length(dim(values)) == 2) {
      return(array(aperm(values, c(2, 1)), c(ncol(values), nrow(values), 1), list(NULL, NULL, name)))
    }
    if (length(dim(values)) != 3) stop("`", name, "` has more than one dimension", call. = FALSE)
    levels <- x$draws$coords[[x$draws$dims[[name]][[1]]]]
    if (is.null(levels)) levels <- seq_len(dim(values)[[3]])
    array(aperm(values, c(2, 1, 3)), dim(values)[c(2, 1, 3)], list(NULL, NULL, paste0(name, "[", levels, "]")))
  })
  names <- unlist(lapply(parts, function(part) dimnames(part)[[3]]))
  first <- dim(parts[[1]])
  posterior::as_draws_array(array(unlist(parts), c(first[1:2], length(names)), list(NULL, NULL, names)))
}

#' @export
print.dpm_result <- function(x, ...) {
  print(as.data.frame(x), row.names = FALSE)
  invisible(x)
}

#' @export
as.data.frame.dpm_result <- function(x, ...) {
  cells <- function(name, value) {
    if (is.list(value) && !is.null(value$family)) return(list(c(name, paste0("posterior (", value$family, "): as_draws()"))))
    if (is.list(value) && !is.null(names(value))) return(unlist(Map(function(k, v) cells(paste0(name, "[", k, "]"), v), names(value), value), recursive = FALSE, use.names = FALSE))
    values <- unlist(value)
    labels <- if (length(values) > 1) paste0(name, "[", seq_along(values), "]") else name
    Map(function(l, v) c(l, format(v, digits = 4)), labels, values)
  }
  values <- c(x$releases, x$outputs)
  rows <- unlist(Map(cells, names(values), values), recursive = FALSE, use.names = FALSE)
  data.frame(name = vapply(rows, `[[`, "", 1), value = vapply(rows, `[[`, "", 2))
}

#' @export
plot.dpm_result <- function(x, ...) {
  draws <- as_draws.dpm_result(x)
  names <- dimnames(draws)[[3]]
  old <- graphics::par(mfrow = grDevices::n2mfrow(length(names)))
  on.exit(graphics::par(old))
  for (name in names) graphics::plot(stats::density(as.vector(draws[, , name])), main = name, xlab = "", ylab = "")
  invisible(x)
}
