# Draws from closed posteriors of a record that was read, in the shape of those that come with a run (docs/posteriors.md).

CHAINS <- 4L
DRAWS <- 1000L

# What `dpm run --arviz` writes, of every closed posterior among the values; NULL where there is none.
closed_draws <- function(values) {
  found <- list(posterior = list(), coords = list(), dims = list())
  for (name in names(values)) {
    value <- values[[name]]
    drawn <- if (is.list(value) && !is.null(value$family)) draws_of(value, CHAINS * DRAWS)
    # A parameter that no double could compute is null in the record.
    if (is.null(drawn) || anyNA(drawn)) next
    inner <- dim(drawn)[-1]
    found$posterior[[name]] <- array(drawn, c(CHAINS, DRAWS, inner))
    if (!is.null(value$levels) && length(inner)) {
      found$dims[[name]] <- paste0(name, "_level")
      found$coords[[found$dims[[name]]]] <- value$levels
    }
  }
  if (length(found$posterior)) found
}

# n numbers, a matrix of n rows, or, of shares in groups, an array; NULL for families that are not drawn here.
draws_of <- function(value, n) {
  given <- value$parameters
  if (!length(given) && value$family %in% c("beta", "dirichlet", "gamma", "normal", "multi_normal") || anyNA(unlist(given))) return(NULL)
  switch(value$family,
    beta = stats::rbeta(n, given[[1]], given[[2]]),
    gamma = stats::rgamma(n, given[[1]], given[[2]]),
    normal = stats::rnorm(n, given[[1]], given[[2]]),
    dirichlet = {
      cells <- matrix(stats::rgamma(n * length(given), rep(unlist(given), each = n)), n)
      cells / rowSums(cells)
    },
    multi_normal = {
      mean <- unlist(given[[1]])
      parts <- eigen(matrix(unlist(given[[2]]), length(mean)), symmetric = TRUE)
      # Row i of the factor is the i-th direction times its sd; rounding may leave a variance just below 0.
      factor <- t(parts$vectors) * sqrt(pmax(parts$values, 0))
      matrix(stats::rnorm(n * length(mean)), n) %*% factor + rep(mean, each = n)
    },
    inv_logit = {
      of <- draws_of(value$of, n)
      if (!is.null(of)) stats::plogis(of)
    },
    Phi = {
      of <- draws_of(value$of, n)
      if (!is.null(of)) stats::pnorm(of)
    },
    inv_cloglog = {
      of <- draws_of(value$of, n)
      if (!is.null(of)) -expm1(-exp(of))
    },
    exp = {
      of <- draws_of(value$of, n)
      if (!is.null(of)) exp(of)
    },
    mixture = {
      # One component for every draw.
      counts <- as.vector(stats::rmultinom(1, n, unlist(value$weights)))
      parts <- Map(draws_of, value$components[counts > 0], counts[counts > 0])
      if (!any(vapply(parts, is.null, NA))) in_any_order(parts)
    },
    product = {
      parts <- lapply(value$components, draws_of, n = n)
      if (any(vapply(parts, is.null, NA))) return(NULL)
      inner <- if (is.null(dim(parts[[1]]))) integer() else dim(parts[[1]])[-1]
      aperm(array(unlist(parts), c(n, inner, length(parts))), c(1, length(inner) + 2, seq_along(inner) + 1))
    }
  )
}

# Draws of several components as one set.
in_any_order <- function(parts) {
  if (is.null(dim(parts[[1]]))) {
    all <- unlist(parts)
    return(all[sample.int(length(all))])
  }
  inner <- dim(parts[[1]])[-1]
  all <- do.call(rbind, lapply(parts, function(part) matrix(part, dim(part)[[1]])))
  array(all[sample.int(nrow(all)), , drop = FALSE], c(nrow(all), inner))
}
