"""What a run released: values by name, posteriors with their draws, and the record to keep."""

from __future__ import annotations

import itertools
import json
import os
from pathlib import Path

from . import _closed, _display
from ._command import DataError


class Result:
    """Everything a run gave. ``result["name"]`` is a released value or an output; all of it may be shown to anyone."""

    def __init__(self, record: str, draws: dict | None = None, cost: str | None = None):
        self.record: dict = json.loads(record)
        self._said = cost
        self._text = record
        self._came = draws
        self._made: dict = {}

    def _drawn(self, values: dict) -> dict | None:
        """The draws that came with the run, or, of a saved record, new ones of closed posteriors: once, so that all that is computed of them agrees."""
        if self._came is not None:
            return self._came
        for name in values:
            if name not in self._made:
                self._made[name] = _closed.groups({name: values[name]})
        made = [self._made[name] for name in values if self._made[name] is not None]
        return {group: {key: found for one in made for key, found in one[group].items()} for group in made[0]} if made else None

    @property
    def releases(self) -> dict:
        """What was paid for."""
        return self.record["releases"]

    @property
    def outputs(self) -> dict:
        """What was computed from it, free."""
        return self.record["outputs"]

    @property
    def certificate(self) -> _display.Shown:
        """The certificate that covers the run: a dictionary that shows itself as a few lines."""
        return _display.Shown(self.record["certificate"], _display.certified)

    def table(self, name: str) -> _display.Table:
        """A released table or vector in rows: a column for each of its axes, then ``value``. ``.to_pandas()`` makes a data frame of it.

        Raises KeyError where the run gave no such name, TypeError where it is a single number or a posterior.
        """
        value = self._value(name)
        if not isinstance(value, (dict, list)) or isinstance(value, dict) and "family" in value:
            raise TypeError(f"`{name}` is not a table")
        rows = _display.leaves(value)
        return _display.Table([*(f"axis {at}" for at in range(1, len(rows[0]))), "value"] if rows else ["value"], rows)

    def __getitem__(self, name: str):
        value = self._value(name)
        return self.posterior(name) if isinstance(value, dict) and "family" in value else value

    def __contains__(self, name: object) -> bool:
        return name in self.releases or name in self.outputs

    def __iter__(self):
        return iter([*self.releases, *self.outputs])

    def posterior(self, name: str) -> Posterior:
        """A released posterior, or the draws of a model of released counts."""
        value = self._value(name)
        if not (isinstance(value, dict) and "family" in value):
            raise TypeError(f"`{name}` is a value, not a posterior")
        return Posterior(name, value, self._drawn({name: value}) or {})

    def _value(self, name: str):
        for values in (self.releases, self.outputs):
            if name in values:
                return values[name]
        raise KeyError(f"{name}: the run gave {', '.join(self)}")

    def to_inferencedata(self):
        """The draws for ArviZ: an ``arviz.InferenceData``, or, from version 1 on, the ``DataTree`` that took its place. Needs arviz.

        Groups ``posterior`` and, where the run drew one, ``prior``; variables of shape (chains, draws) or (chains, draws, length).
        Raises ValueError where the run released no posterior, or the result was loaded from a record, which holds no draws of chains.
        """
        import arviz

        draws = self._drawn(self.releases | {name: value for name, value in self.outputs.items() if isinstance(value, dict) and value.get("family") in _closed.MEANS})
        if draws is None:
            raise ValueError("the run released no posterior, or this is a saved record, which holds no draws of chains: dpm.fit makes new ones, free")
        groups = {name: values for name, values in _arrays(draws).items() if name in ("posterior", "prior")}
        named = {name: draws[name] for name in ("coords", "dims") if name in draws}
        # Version 1 still has the name, by a warning, for something else.
        if "InferenceData" in vars(arviz):
            return arviz.from_dict(**groups, **named)
        return arviz.from_dict(groups, **named)

    def save(self, path: str | os.PathLike) -> None:
        """Writes the record, byte for byte as the run made and signed it; ``dpm.load``, ``dpm.fit`` and ``dpm verify`` read it."""
        Path(path).write_text(self._text, encoding="utf-8", newline="")

    def keys(self) -> list[str]:
        """The names of all releases and outputs."""
        return list(self)

    def __repr__(self) -> str:
        return "\n".join([*map(repr, _display.tables(self)), self._cost()])

    def _repr_html_(self) -> str:
        return "".join(table._repr_html_() for table in _display.tables(self)) + _display.text(self._cost())

    def _cost(self) -> str:
        """What the run cost, how sure that is, whether a ledger was charged, and what is left there."""
        certificate = self.record["certificate"]
        if not certificate["tables"]:
            return "costs nothing: no private row was read"
        ledger = self.record.get("ledger")
        cost = self._said or f"cost: {_display.within(certificate)}"
        lines = [f"{cost}; {'charged to the ledger' if ledger else 'not charged: no ledger was named'}"]
        for name, left in ((ledger or {}).get("remaining") or {}).items():
            lines.append(f"left of {name}: {', '.join(f'{unit} {amount}' for unit, amount in left.items())}")
        return "\n".join(lines)


def load(path: str | os.PathLike) -> Result:
    """Reads the record of an earlier run."""
    try:
        result = Result(Path(path).expanduser().read_text(encoding="utf-8"))
        if not all(isinstance(result.record[part], dict) for part in ("releases", "outputs", "certificate")):
            raise ValueError
        return result
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError):
        raise DataError(f"{path} is not the record of a run: result.save and `dpm run -o` write one") from None


def _arrays(draws: dict) -> dict:
    import numpy

    made = dict(draws)
    for group in ("posterior", "prior"):
        if group in made:
            made[group] = {name: numpy.asarray(values) for name, values in made[group].items()}
    return made


class Posterior:
    """A posterior distribution that was released, with all it says free.

    A notebook shows its table and a picture of every number; for other plots take `columns`, or ArviZ with ``result.to_inferencedata()``. ``family`` names it; ``parameters`` are those of a closed form (rule: docs, "Released posteriors").
    """

    def __init__(self, name: str, value: dict, draws: dict):
        self.name = name
        self.family: str = value["family"]
        self.value = value
        self._groups = draws.get("posterior", {})
        self._coordinates = {variable: [draws["coords"][dim] for dim in dims] for variable, dims in draws.get("dims", {}).items()}

    @property
    def parameters(self):
        return self.value.get("parameters")

    def draws(self) -> dict:
        """The draws that came with the run, by name: arrays of shape (chains, draws) and, for vectors, one more.

        Of a saved record new draws of a closed posterior; ValueError for those of chains, which it does not hold.
        """
        import numpy

        wanted = self.value.get("numbers")
        if wanted is None:
            found = {self.name: self._groups[self.name]} if self.name in self._groups else {}
        else:
            names = {key: (self.name if key == "" else key) for key in wanted}
            found = {name: self._groups[name] for name in names.values() if name in self._groups}
        if not found:
            raise ValueError("a saved record holds no draws of chains, but their summary(); dpm.fit makes new ones, free")
        return {name: numpy.asarray(values, dtype=float) for name, values in found.items()}

    def sample(self, n: int, seed: int | None = None) -> dict:
        """``n`` draws by name, taken at random from `draws` (with replacement when there are fewer)."""
        import numpy

        generator = numpy.random.default_rng(seed)
        flat = {name: values.reshape(-1, *values.shape[2:]) for name, values in self.draws().items()}
        have = min(len(values) for values in flat.values())
        take = generator.choice(have, size=n, replace=n > have)
        return {name: values[take] for name, values in flat.items()}

    def columns(self) -> dict:
        """The draws of every number by its own name, as ``post[age]``: arrays of shape (chains x draws,)."""
        found = {}
        for name, values in self.draws().items():
            flat = values.reshape(values.shape[0] * values.shape[1], -1)
            places = list(itertools.product(*self._coordinates.get(name, [range(1, flat.shape[1] + 1)])))
            for at in range(flat.shape[1]):
                found[name if flat.shape[1] == 1 else f"{name}[{', '.join(map(str, places[at]))}]"] = flat[:, at]
        return found

    def summary(self) -> _display.Table:
        """Mean, sd and quantiles of every number; of chains also their error, R-hat and effective sizes."""
        numbers = self.value.get("numbers")
        if numbers is not None:
            columns = list(next(iter(numbers.values())))
            return _display.Table(["", *columns], [[name or self.name, *(row[c] for c in columns)] for name, row in numbers.items()])
        rows = [[name, *_figures(values)] for name, values in self.columns().items()]
        return _display.Table(["", "mean", "sd", "q5", "median", "q95"], rows)

    def __repr__(self) -> str:
        """The table of `summary`; of a saved record without draws the parameters."""
        try:
            return f"{self.name}: {self.family}\n{self.summary()!r}"
        except ValueError:
            return f"{self.name}: {self.family}, parameters {self.parameters}"

    def _repr_html_(self) -> str:
        """The table of `summary`, and the draws as small multiples where there are some."""
        try:
            pictures = _display.densities(self.columns())
        except ValueError:
            if self.value.get("numbers") is None:
                return _display.text(repr(self))
            pictures = ""
        return self.summary()._repr_html_() + pictures


def _figures(values) -> list[float]:
    import numpy

    low, middle, high = numpy.quantile(values, [0.05, 0.5, 0.95])
    return [float(values.mean()), float(values.std(ddof=1)), float(low), float(middle), float(high)]
