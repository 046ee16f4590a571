"""Tables, programs and certificates as text and as HTML for notebooks; everything foreign is escaped."""

from __future__ import annotations

import html
import re
from collections.abc import Callable

_STYLE = "font-family:monospace;font-size:0.92em;line-height:1.4;white-space:pre;overflow-x:auto"
_WORDS = r"\b(?:budget|private|public|param|observe|release|output|expect|let|each|of|by|max|using|from|in|when|else|model|import)\b"


class Table:
    """Rows with named columns: `columns`, `rows`; `to_pandas()` where pandas is installed."""

    def __init__(self, columns: list[str], rows: list[list]):
        self.columns = columns
        self.rows = rows

    def to_pandas(self):
        import pandas

        return pandas.DataFrame(self.rows, columns=self.columns)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        cells = [self.columns, *([figure(v) for v in row] for row in self.rows)]
        widths = [max(len(row[at]) for row in cells) for at in range(len(self.columns))]
        return "\n".join("  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip() for row in cells)

    def _repr_html_(self) -> str:
        head = "".join(f"<th style='text-align:left'>{html.escape(c)}</th>" for c in self.columns)
        body = "".join("<tr>" + "".join(f"<td style='text-align:left'>{html.escape(figure(v))}</td>" for v in row) + "</tr>" for row in self.rows)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


class Shown(dict):
    """A dictionary that shows itself as ``text(self)`` instead of as all that is in it."""

    def __init__(self, values: dict, shown: Callable[[dict], str]):
        super().__init__(values)
        self._shown = shown

    def __repr__(self) -> str:
        return self._shown(self)

    def _repr_html_(self) -> str:
        return text(repr(self))


def certified(certificate: dict) -> str:
    """The releases that a certificate covers, and its budget."""
    rows = [[one["name"], one["mechanism"], one["rule"], one["status"]] for one in certificate["releases"]]
    total = f"total: {within(certificate)}" if certificate["tables"] else "costs nothing: no private row was read"
    return "\n".join([repr(Table(["release", "mechanism", "rule", "status"], rows))] * bool(rows) + [total])


def wanted(found: dict) -> str:
    """What `Program.want` found, as the lines to paste."""
    lines = [f"{found['release']} within {figure(found['error'])}; as the program is, about {figure(found['predicted_error'])}"]
    for way in ("budget", "rows"):
        one = found[way]
        if "line" in one:
            lines.append(f"  {way}: line {one['line']}: {one['text']}" + (f"   ({one['warning']})" if one.get("warning") else ""))
        elif one.get("reason"):
            lines.append(f"  {way}: {one['reason']}")
    return "\n".join(lines + [found["note"]] * bool(found.get("note")))


def leaves(value: object) -> list[list]:
    """The cells of nested dictionaries and lists, each after the levels or places that lead to it."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value, 1) if isinstance(value, list) else None
    return [[value]] if pairs is None else [[key, *rest] for key, inner in pairs for rest in leaves(inner)]


def figure(value: object) -> str:
    """A number to four significant digits, anything else as it is."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: ""}[value]
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value)


def within(certificate: dict) -> str:
    """The budget that the certificate keeps to, and how sure that is."""
    budget, status = certificate.get("budget"), certificate["total"]["status"]
    if not budget:
        return f"see the certificate; {status}"
    limits = ", ".join(f"{name} = {value!r}" for name, value in budget.items() if name not in ("kind", "met"))
    return f"within the budget {budget['kind']}({limits}); {status}"


# Of a posterior of many numbers so many are shown; its summary() has them all.
SHOWN = 24


def tables(result) -> list[Table]:
    """Everything a run gave: its values, and its posteriors by their numbers."""
    posteriors = [result.posterior(name) for name in result if isinstance(result._value(name), dict) and "family" in result._value(name)]
    rows = [row for posterior in posteriors for row in _posterior(posterior)]
    shown = [values(result), Table(["posterior", "mean", "sd", "5 %", "95 %"], rows)]
    return [table for table in shown if len(table)]


def _posterior(posterior) -> list[list]:
    name = posterior.name
    try:
        table = posterior.summary()
    except ValueError:
        return [[f"{name} ({posterior.family})", None, None, None, None]]
    at = [table.columns.index(column) for column in ("mean", "sd", "q5", "q95")]
    own = lambda number: number if re.match(rf"{re.escape(name)}(\[|$)", number) else f"{name}: {number}"
    rows = [[own(row[0]), *(row[i] for i in at)] for row in table.rows[:SHOWN]]
    more = len(table) - SHOWN
    return rows + [[f"{name}: {more} more", None, None, None, None]] * (more > 0)


def values(result) -> Table:
    """Name and value of everything a run gave but posteriors, tables cell by cell, and the predicted error of what was released as itself."""
    rows, errors = [], {}
    for release in result.certificate["releases"]:
        predicted = release.get("predicted_error") or {}
        if predicted.get("measure", "").startswith("95% bound of |answer") or "of_each_number" in predicted:
            bound = predicted.get("of_each_number", predicted["value"])
            errors[release["name"]] = f"± {figure(float(bound))} (95% bound)"
    for name in result:
        value = result._value(name)
        if not (isinstance(value, dict) and "family" in value):
            rows.extend([*cell, errors.get(name, "")] for cell in _cells(name, value))
    return Table(["", "value", ""], rows)


def _cells(name: str, value: object) -> list[list]:
    if isinstance(value, dict):
        return [row for key, inner in value.items() for row in _cells(f"{name}[{key}]", inner)]
    if isinstance(value, list) and len(value) > 1:
        return [row for at, inner in enumerate(value, 1) for row in _cells(f"{name}[{at}]", inner)]
    return [[name, value[0] if isinstance(value, list) and value else value]]


def densities(draws: dict) -> str:
    """Small multiples: a histogram of the draws of each number, with its 90 % interval as a bar below and its median as a mark."""
    panels = [_panel(name, values) for name, values in list(draws.items())[:24]]
    return "<div style='display:flex;flex-wrap:wrap;gap:8px'>" + "".join(panels) + "</div>"


def _panel(name: str, values) -> str:
    import numpy

    least, low, middle, high, most = (float(q) for q in numpy.quantile(values, [0.001, 0.05, 0.5, 0.95, 0.999]))
    width = (most - least) or 1.0
    counts, _ = numpy.histogram(values, bins=30, range=(least, least + width))
    top = max(int(counts.max()), 1)
    at = lambda x: 6 + 148 * (x - least) / width
    bars = "".join(f"<rect x='{6 + i * 148 / 30:.1f}' y='{66 - 44 * c / top:.1f}' width='4.6' height='{44 * c / top:.1f}'/>" for i, c in enumerate(counts))
    return (
        "<svg width='160' height='100' viewBox='0 0 160 100' style='color:currentColor;font:11px sans-serif' role='img'>"
        f"<title>{html.escape(name)}: median {figure(middle)}, 90 % interval {figure(low)} to {figure(high)}</title>"
        f"<text x='6' y='13' fill='currentColor' font-weight='bold'>{html.escape(name)}</text><g fill='#3b75af'>{bars}</g>"
        f"<line x1='{at(low):.1f}' x2='{at(high):.1f}' y1='72' y2='72' stroke='currentColor' stroke-width='3'/>"
        f"<circle cx='{at(middle):.1f}' cy='72' r='4' fill='#c1272d'/>"
        f"<text x='6' y='93' fill='currentColor'>{figure(low)}</text><text x='80' y='93' fill='currentColor' text-anchor='middle'>{figure(middle)}</text>"
        f"<text x='154' y='93' fill='currentColor' text-anchor='end'>{figure(high)}</text></svg>"
    )


def text(content: str) -> str:
    return f"<pre style='{_STYLE}'>{html.escape(content)}</pre>"


def program(source: str) -> str:
    """The source with its words in bold and its comments in grey."""
    lines = []
    for line in source.splitlines():
        code, mark, comment = line.partition("#")
        code = re.sub(_WORDS, lambda word: f"<b>{word.group()}</b>", html.escape(code))
        lines.append(code + (f"<span style='color:gray'>#{html.escape(comment)}</span>" if mark else ""))
    return f"<pre style='{_STYLE}'>" + "\n".join(lines) + "</pre>"
