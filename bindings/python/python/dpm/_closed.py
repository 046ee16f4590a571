"""Draws from closed posteriors of a saved record, in the shape of those that come with a run (rule: docs, "Released posteriors")."""

from __future__ import annotations

CHAINS, DRAWS = 4, 1000
# What turns the predictor of a new row into the mean of its outcome.
MEANS = ("inv_logit", "Phi", "inv_cloglog", "exp")


def groups(values: dict) -> dict | None:
    """What `dpm run --arviz` writes, of every closed posterior among the values; None where there is none."""
    import numpy

    rng = numpy.random.default_rng()
    found = {"posterior": {}, "coords": {}, "dims": {}}
    for name, value in values.items():
        try:
            drawn = _draws(value, CHAINS * DRAWS, rng) if isinstance(value, dict) and "family" in value else None
        except (TypeError, ValueError, KeyError):
            # A parameter that no double could compute is null in the record.
            drawn = None
        if drawn is None:
            continue
        found["posterior"][name] = drawn.reshape(CHAINS, DRAWS, *drawn.shape[1:])
        if "levels" in value and drawn.ndim > 1:
            found["coords"][f"{name}_level"] = value["levels"]
            found["dims"][name] = [f"{name}_level"]
    return found if found["posterior"] else None


def _draws(value: dict, n: int, rng):
    """An array of n numbers, vectors or, of shares in groups, matrices; None for families that are not drawn here."""
    import statistics

    import numpy

    family, given = value["family"], value.get("parameters")
    if family == "beta":
        return rng.beta(*given, n)
    if family == "dirichlet":
        return rng.dirichlet(given, n)
    if family == "gamma":
        return rng.gamma(given[0], 1 / given[1], n)
    if family == "normal":
        return rng.normal(*given, n)
    if family == "multi_normal":
        return rng.multivariate_normal(*given, n)
    if family in MEANS:
        of = _draws(value["of"], n, rng)
        if of is None or family == "exp":
            return None if of is None else numpy.exp(of)
        if family == "inv_cloglog":
            return -numpy.expm1(-numpy.exp(of))
        return 1 / (1 + numpy.exp(-of)) if family == "inv_logit" else numpy.vectorize(statistics.NormalDist().cdf)(of)
    if family == "mixture":
        # One component for every draw, so that none is asked for more than it gives.
        weights = numpy.asarray(value["weights"], dtype=float)
        counts = rng.multinomial(n, weights / weights.sum())
        parts = [_draws(one, int(count), rng) for one, count in zip(value["components"], counts) if count]
        return None if any(part is None for part in parts) else rng.permutation(numpy.concatenate(parts))
    if family == "product":
        parts = [_draws(one, n, rng) for one in value["components"]]
        return None if any(part is None for part in parts) else numpy.stack(parts, axis=1)
    return None
