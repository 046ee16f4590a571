# What a run released: values by name, draws of posteriors, records.

result <- function(text, draws = NULL) {
  record <- json(text)
  structure(
    list(releases = record$releases, outputs = record$outputs, certificate = record$certificate, record = text, draws = draws),
    class = "dpm_result"
  )
}

#' Keep a result or a certificate, or read a result
#'
#' @param result A `dpm_result` or a `dpm_certificate`.
#' @param path A file, as `dpm run -o` or `dpm certify -o` writes it.
#' @return `dpm_load()`: a `dpm_result`, with new draws of posteriors in closed form ([set.seed()] before it repeats them) and none of chains, which are not in
#'   a record; `dpm_save()`: the path, invisibly.
#' @export
dpm_save <- function(result, path) {
  save_text(if (inherits(result, "dpm_certificate")) attr(result, "record") else result$record, path)
  invisible(path)
}

#' @rdname dpm_save
#' @export
dpm_load <- function(path) {
  found <- result(paste(readLines(path, warn = FALSE, encoding = "UTF-8"), collapse = "\n"))
  # Once, so that all that is computed of them agrees.
  found["draws"] <- list(closed_draws(c(found$releases, found$outputs)))
  found
}

#' Draws of the posteriors of a result
#'
#' @param x A `dpm_result` of [dpm_run()], [dpm_fit()] or [dpm_load()].
#' @param variable Names of posteriors; all without it.
#' @param ... Not used.
#' @return A `draws_array` of the package posterior; bayesplot and tidybayes take it.
#' @exportS3Method posterior::as_draws
as_draws.dpm_result <- function(x, variable = NULL, ...) {
  all <- x$draws$posterior
  if (!length(all)) stop("the result has no draws: nothing but numbers was released, or a record was read, which has none of chains: dpm_fit() makes new ones, free", call. = FALSE)
  unknown <- setdiff(variable, names(all))
  if (length(unknown)) stop("no posterior is called `", unknown[[1]], "`", call. = FALSE)
  parts <- lapply(if (is.null(variable)) names(all) else variable, function(name) {
    sizes <- dim(all[[name]])
    inner <- sizes[-(1:2)]
    levels <- lapply(x$draws$dims[[name]], function(of) x$draws$coords[[of]])
    labels <- Map(function(size, at) {
      found <- if (at <= length(levels)) levels[[at]]
      if (length(found) == size) found else seq_len(size)
    }, inner, seq_along(inner))
    names <- if (length(inner)) paste0(name, "[", do.call(paste, c(expand.grid(labels), sep = ",")), "]") else name
    array(aperm(all[[name]], c(2, 1, 2 + seq_along(inner))), c(sizes[2:1], length(names)), list(NULL, NULL, names))
  })
  shapes <- unique(lapply(parts, function(part) dim(part)[1:2]))
  if (length(shapes) > 1) stop("these posteriors have different numbers of draws: choose some by `variable`", call. = FALSE)
  names <- unlist(lapply(parts, function(part) dimnames(part)[[3]]))
  posterior::as_draws_array(array(unlist(parts), c(shapes[[1]], length(names)), list(NULL, NULL, names)))
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
plot.dpm_result <- function(x, variable = NULL, ...) {
  draws <- as_draws.dpm_result(x, variable)
  names <- dimnames(draws)[[3]]
  old <- graphics::par(mfrow = grDevices::n2mfrow(length(names)))
  on.exit(graphics::par(old))
  for (name in names) graphics::plot(stats::density(as.vector(draws[, , name])), main = name, xlab = "", ylab = "")
  invisible(x)
}
