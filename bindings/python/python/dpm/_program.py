"""Programs: compiling, certifying, comparing, verifying and running them."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import contextmanager
from pathlib import Path

from . import _command, _display, _tables
from ._result import Result


class Certificate(dict):
    """What a program may release and at what cost: the certificate as data; ``str()`` is its text, ``.json`` the JSON of ``dpm certify -o``."""

    def __init__(self, json_text: str, text: str):
        super().__init__(json.loads(json_text))
        self.json = json_text
        self._text = text

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        return _display.text(self._text)

    def save(self, path: str | os.PathLike) -> None:
        """Writes the bytes that ``dpm certify -o`` writes."""
        Path(path).write_text(self.json, newline="")


class Program:
    """A program that checks. Make one with `dpm.compile`."""

    def __init__(self, source: str, path: Path | None, released: Result | str | os.PathLike | None = None):
        self.source = source
        self.path = path
        self._released = released

    def certify(self, *, orders: Iterable[float] = (), deltas: Iterable[float] = (), public: Mapping[str, object] | None = None) -> Certificate:
        """The certificate. Reads public tables only.

        ``orders`` are further Rényi orders (above 1) and ``deltas`` further deltas (between 0 and 1) to report.
        """
        more = [f"--order={order!r}" for order in orders] + [f"--delta={delta!r}" for delta in deltas]
        with self._file() as file, self._open(public) as (tables, fds):
            arguments = ["certify", file, *more, *tables]
            text = _command.call(arguments, cwd=self._folder(), fds=fds, doing="certifying")
            made = _command.call([*arguments, "--json"], cwd=self._folder(), fds=fds, doing="certifying")
        return Certificate(made, text)

    def compare(self, *, public: Mapping[str, object] | None = None) -> _display.Table:
        """Every mechanism for every release, with its predicted error, best first. Needs no private data."""
        with self._file() as file, self._open(public) as (tables, fds):
            found = json.loads(_command.call(["compare", file, "--json", *tables], cwd=self._folder(), fds=fds, doing="comparing"))
        rows = []
        for release in found["releases"]:
            for entry in release["mechanisms"]:
                error = (entry.get("predicted_error") or {}).get("value")
                rows.append([release["name"], entry["mechanism"], entry["applies"], error, entry.get("status"), entry["reason"]])
        return _display.Table(["release", "mechanism", "applies", "predicted error", "status", "reason"], rows)

    def want(self, release: str, within: float, *, public: Mapping[str, object] | None = None) -> _display.Shown:
        """The least budget, and the least number of rows, at which a release is predicted to be so near. Needs no private data.

        ``["budget"]`` and ``["rows"]`` each hold the ``value``, the ``line`` of the program to replace, its new ``text`` and a ``warning``,
        or the ``reason`` why it is not enough. Raises `Rejected` where neither is.
        """
        with self._file() as file, self._open(public) as (tables, fds):
            arguments = ["compare", file, "--json", f"--want={release} within {within!r}", *tables]
            found = json.loads(_command.call(arguments, cwd=self._folder(), fds=fds, doing="searching"))["want"]
        return _display.Shown(found, _display.wanted)

    def verify(self) -> str:
        """Has every number of the certificate derived again by separate code. Raises `Failed` where one is too small."""
        with tempfile.TemporaryDirectory() as folder, self._file() as file:
            path = Path(folder) / "certificate.json"
            _command.call(["certify", file, "-o", str(path)], cwd=self._folder(), doing="certifying")
            return _command.call(["verify", str(path), "--program", file], cwd=self._folder(), doing="verifying")

    def sql(self, dialect: str, *, places: Mapping[str, str] | None = None, public: Mapping[str, object] | None = None) -> str:
        """The query that counts what the program asks of its rows, where they are: in ``"duckdb"``, ``"postgres"``, ``"spark"``, ``"datafusion"`` or ``"sqlite"``.

        ``places`` says where a table is, ``{"staff": "hr.staff"}`` or ``{"staff": "(select ..)"}``. What the query gives is as private as the rows: it goes to
        `run` as ``counted``.
        """
        with self._file() as file, self._open(public) as (tables, fds):
            return _command.call(["sql", file, f"--dialect={dialect}", *_places(places), *tables], cwd=self._folder(), fds=fds, doing="certifying")

    def run(
        self, data: Mapping[str, object] | object = None, *, public: Mapping[str, object] | None = None, ledger: str | os.PathLike | None = None,
        strict: bool = False, anyway: bool = False, counted: Mapping[str, object] | None = None, places: Mapping[str, str] | None = None, engine: str | None = None,
    ) -> Result:
        """Draws once and returns what the certificate covers.

        ``data`` gives every private table by its name: a data frame, an Arrow table, a mapping of columns, a path, `dpm.sql`, or,
        with a ledger, ``"@id"``. A program with one private table also takes the frame or path itself. ``public`` gives
        public tables, values and records in the same way. ``strict`` refuses certificates that assume convergence.
        ``anyway`` runs a program although a release is predicted to learn next to nothing (W0510).

        ``counted`` gives, in place of the rows of a table, what an engine found by the query of `sql`, in the same way:
        ``counted={"staff": spark.sql(program.sql("spark"))}``. ``places`` are those of the query; ``engine``, as ``"spark 3.5.1"``, is noted in the record.

        Without a ledger nobody counts how often a program runs: every call spends the budget again.
        """
        tables = {} if data is None else self._named(data) if isinstance(data, Mapping) else {None: data}
        if ledger is not None and not all(isinstance(t, str) and t.startswith("@") for t in tables.values()):
            raise _command.UsageError('with a ledger the data are the registered ones: data={"name": "@id"}')
        with tempfile.TemporaryDirectory() as folder, self._file() as file:
            with (
                _tables.opened(tables, numbers=False) as (private, fds),
                _tables.opened(self._named(counted or {}), numbers=False) as (answers, others),
                self._open(public) as (open_tables, more),
            ):
                draws = Path(folder) / "draws.json"
                record = Path(folder) / "record.json"
                # Not --json, which says nothing of the chains.
                arguments = ["run", file, "-o", str(record), *_options("--data", private), *_options("--counted", answers), *_places(places), *open_tables]
                arguments += [f"--engine={engine}"] * (engine is not None)
                arguments += ["--strict"] * strict + ["--anyway"] * anyway + ([f"--ledger={Path(ledger).absolute()}"] if ledger is not None else [])
                try:
                    # How long private rows take is never shown.
                    out = self._run([*arguments, f"--arviz={draws}"], arguments, (*fds, *others, *more), None if tables or counted else "running chains")
                except _command.DataError as error:
                    raise _command.DataError(_tables.advised(str(error), tables)) from None
                except _command.Rejected as rejected:
                    # With its places and lines to paste, where the program alone is at fault.
                    raise _command.Rejected(rejected.rendered, self._faults(file)) from None
                if (tables or counted) and ledger is None:
                    _warn_of_a_second_run(self.source)
            came = json.loads(draws.read_text(encoding="utf-8")) if draws.exists() else None
            return Result(record.read_bytes().decode(), came, _cost(out))

    def _faults(self, file: str) -> list[dict]:
        """Why a program that checks is not run: a hole, or its warnings."""
        try:
            _command.call(["certify", file, "--json"], cwd=self._folder(), doing="certifying")
        except _command.Error as error:
            if getattr(error, "diagnostics", None):
                return error.diagnostics
        return self._checked(file)

    def _checked(self, file: str, tables: Iterable[str] = (), fds: tuple[int, ...] = ()) -> list[dict]:
        """Its warnings; `Rejected`, with data and text, where it has errors."""
        check = lambda *more: _command.call(["check", file, *tables, *more], cwd=self._folder(), fds=fds, doing="certifying")
        try:
            return json.loads(check("--json")).get("diagnostics", [])
        except _command.Rejected as refused:
            # The same once more as text with its marks.
            try:
                check()
            except _command.Rejected as rejected:
                raise _command.Rejected(rejected.rendered, refused.diagnostics) from None
            raise

    def _run(self, with_draws: list[str], without: list[str], fds: tuple[int, ...], doing: str | None) -> str:
        """A program without posteriors has no draws to write, and says so before anything is charged."""
        try:
            return _command.call(with_draws, cwd=self._folder(), fds=fds, doing=doing)
        except _command.UsageError as error:
            if "--arviz" not in str(error):
                raise
        return _command.call(without, cwd=self._folder(), fds=fds, doing=doing)

    def _named(self, data: Mapping) -> dict:
        """Private tables by name. A name that the program does not have is refused here, with those that it has."""
        declared = re.findall(r"^\s*private\s+(\w+)\s*\[", self.source, re.MULTILINE)
        unknown = [name for name in data if name not in declared]
        if declared and unknown:
            wanted = ", ".join(f'"{name}": ..' for name in declared)
            raise _command.UsageError(f"the program has no private table `{unknown[0]}`: it takes data={{{wanted}}}")
        return dict(data)

    @contextmanager
    def _open(self, public: Mapping[str, object] | None):
        """What is public, as arguments of the command, and the descriptors that they name."""
        with tempfile.TemporaryDirectory() as folder:
            given = {name: self._released for name in self._records() if self.path and self._released is not None} | dict(public or {})
            for name, value in given.items():
                if isinstance(value, Result):
                    given[name] = Path(folder) / f"{name}.json"
                    value.save(given[name])
            with _tables.opened(given) as (tables, fds):
                yield _options("--public", tables), fds

    def _records(self) -> dict[str, str]:
        """The records that the program reads: their names and files."""
        return dict(re.findall(r'^\s*public\s+(\w+)\s+from\s+"([^"]*)"', self.source, re.MULTILINE))

    def stan(self) -> str:
        """The Stan program of the same posterior."""
        with self._file() as file:
            return _command.call(["show", "--stan", file], cwd=self._folder())

    def report(self, path: str | os.PathLike) -> None:
        """Writes one HTML page: what is released, at what risk, and why that is certified."""
        with self._file() as file:
            _command.call(["report", file, "-o", str(Path(path).absolute())], cwd=self._folder(), doing="writing the page")

    def _folder(self) -> Path | None:
        return self.path.parent if self.path else None

    @contextmanager
    def _file(self):
        """The program as a file. Beside a path are its modules and records; beside a text, copies of the records that it names."""
        if self.path:
            yield str(self.path)
            return
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "program.dpm"
            path.write_text(self.source, encoding="utf-8")
            for name in self._records().values():
                place = Path(os.path.normpath(Path(folder) / name))
                if not place.is_relative_to(folder) or place == path:
                    continue
                place.parent.mkdir(parents=True, exist_ok=True)
                if isinstance(self._released, Result):
                    self._released.save(place)
                    continue
                found = Path(name if self._released is None else self._released).expanduser()
                if found.is_file():
                    shutil.copyfile(found, place)
                elif self._released is not None:
                    raise _command.DataError(f"{found} does not exist")
            yield str(path)

    def __repr__(self) -> str:
        return f"<dpm.Program {self.path.name if self.path else f'of {len(self.source.splitlines())} lines'}>"

    def _repr_html_(self) -> str:
        return _display.program(self.source)


def compile(program: str | os.PathLike, *, released: Result | str | os.PathLike | None = None) -> Program:
    """Checks a program: a path to a ``.dpm`` file, or the text of one.

    A model of what was released reads the record that it names, beside a path or, of a text, in the current folder;
    ``released`` is another in its place: a `Result`, or the path of a saved one.

    Raises `Rejected`, whose text is the full message, with the places, the cause and lines to paste.
    """
    made = _program(program, released)
    with made._file() as file, made._open(None) as (tables, fds):
        found = made._checked(file, tables, fds)
    for warning in (d for d in found if d.get("severity") == "warning"):
        _command.warn(f"{warning['code']}: {warning['message']}")
    return made


def fit(program: str | os.PathLike | Program, released, *, public: Mapping[str, object] | None = None) -> Result:
    """Runs a model of what was released before: free, as often as wanted, and without private data.

    ``released`` is the record of an earlier run: a `Result`, or the path of a saved one. It is given to every
    ``public NAME from ".."`` of the program, a text, a path, or what `dpm.compile` made of one.
    """
    model = Program(program.source, program.path, released) if isinstance(program, Program) else _program(program, released)
    return model.run(public=public)


def _program(program: str | os.PathLike, released) -> Program:
    if isinstance(program, str) and not _is_path(program):
        return Program(program, None, released)
    path = Path(program).expanduser().absolute()
    if not path.is_file():
        raise _command.DataError(f"{path.name} does not exist")
    return Program(path.read_text(encoding="utf-8"), path, released)


def _is_path(text: str) -> bool:
    """A line that ends in .dpm or is one word: no program is."""
    return "\n" not in text and (text.endswith(".dpm") or len(text.split()) == 1)


def _options(option: str, tables: list[str]) -> list[str]:
    return [f"{option}={table}" for table in tables]


def _places(places: Mapping[str, str] | None) -> list[str]:
    return [f"--from={name}={place}" for name, place in (places or {}).items()]


_SEEN: set[int] = set()


def _warn_of_a_second_run(source: str) -> None:
    """Running a notebook's cell again spends again, and nothing else would say so."""
    if hash(source) in _SEEN:
        _command.warn("this program ran before in this session: every run spends its budget again, and no ledger counts it")
    _SEEN.add(hash(source))


def _cost(said: str) -> str | None:
    """The line of the command that says what a run cost, rounded up as it rounds."""
    found = re.findall(r"^(cost: .*?)(?:; not charged: .*)?$", _command.plain(said), re.MULTILINE)
    return found[-1] if found else None
