"""The corpus of odd cells: numbers at and beside the ends of ranges, of grids and of doubles, texts that nearly are levels; and a program that asks every kind of statistic of them."""

import math
import random
import re
import struct
import subprocess
import sys
import unicodedata
from fractions import Fraction

RANGES = [(0.0, 10.0), (-5.0, 5.0), (2.0, 3.0), (0.1, 0.3), (-3.0, -1.0), (0.0, 1e15), (-1e90, 1e90), (0.0, 1e-90), (1e6, 1e6 + 0.1)]
LEVELS = ["north", "O'Hare", "a\\b", "été", "${env:HOME}", "last"]
COLUMNS = "xykmbcgh"

DECLARED = """private t[%s] {
  x: real in [%s, %s],
  y: real in [0.1, 0.3] else 0.2,
  k: int in 17..90,
  m: int in -3..3 else 1,
  b: bool,
  c: bool else true,
  g: category {%s},
  h: category {a, b} else a%s
}
"""

ASKED = """
release a0 = sum(x)
release a1 = sum(y)
release a2 = sum(k)
release a3 = count(b)
release a4 = histogram(g)
release a5 = histogram(g, b)
release a6 = histogram(m, h, c)
release a7 = sum(if b then x else 0)
release a8 = count(k < 40 and not c or m == 2)
release a9 = sum(m * k - 2)
release b0 = sum(x * y)
release b1 = sum(abs(m) + max(k, 20))
release b2 = sum(clip(x, 0.15, 0.25))
release b3 = sum(min(y, -y))
release b4 = count(is_na(x))
release b5 = count(is_na(g) or is_na(b))
release b6 = sum(y + k)
release b7 = sum(y, where = g == north)
each h of t {
  release c0 = sum(y)
  release c1 = histogram(g)
}
"""


def declared(lo, hi, rows="n", more=""):
    return DECLARED % (rows, repr(lo), repr(hi), ", ".join('"%s"' % level for level in LEVELS), more)


def exponent(lo, hi):
    """The step of the grid of a sum, as a power of two: what `dpm sql` states."""
    whole = lambda x: math.frexp(x)[1] - 1
    return max(whole(max(abs(lo), abs(hi))) - 60, whole(hi - lo) - 40)


def reals(lo, hi):
    step = math.ldexp(1.0, exponent(lo, hi))
    cells = [None, math.nan, math.inf, -math.inf, 0.0, -0.0, 5e-324, -5e-324, 2.2e-308, 1e-200, -1e-200, sys.float_info.max, -sys.float_info.max, 1e18, -1e18, 9.3e18, lo, hi]
    cells += [math.nextafter(lo, -math.inf), math.nextafter(lo, math.inf), math.nextafter(hi, math.inf), math.nextafter(hi, -math.inf), (lo + hi) / 2]
    for k in (0.5, 1.5, 2.5, 3.5, -0.5, -1.5, 0.49999999999999994, 0.5000000000000001, 1e9 + 0.5):
        cells += [lo + k * step, k * step, hi - k * step]
    return cells


INTS = [None, -4, -3, -1, 0, 1, 2, 3, 4, 16, 17, 18, 89, 90, 91, 2**63 - 1, -(2**63), 50]
TEXTS = [None, "north", "North", "north ", "\tnorth\r\n", "\x0bnorth", "O'Hare", "a\\b", "a\\\\b", "été", "e\u0301te\u0301", "", " ", "zzz", "last", "a", " b", "b\u00a0", " " * 70000 + "north"]


def rows(lo, hi, rng, count):
    """Every value of every pool, then any."""
    pools = [reals(lo, hi), reals(0.1, 0.3), INTS, INTS, [None, True, False], [None, True, False], TEXTS, TEXTS]
    return [[p[i] if i < len(p) else rng.choice(p) for p in pools] for i in range(count)]


BLANKS = [" ", "\t", "\r", "\n", "\x0c", "\x0b", "\x1f", "\x85", "\u00a0", "\u2003", "\u200b", "\ufeff"]
ODD_NAME = "we'ird `col\\"
# Stands in cells, and in nothing that is shown.
SENTINEL = "kanarie-31337"
MORE = [ODD_NAME, "i", "j", "u"]
# Numbers that a column of whole numbers holds, levels that are numbers or truth values, and a text that tells people apart.
MORE_DECLARED = """,
  w from "%s": real in [-1e6, 1e19],
  i: category {"0", "1", "-7", last} else "1",
  j: category {"false", "true"} else "false",
  u: text"""
MORE_ASKED = """release d0 = sum(w)
release d1 = histogram(i)
release d2 = histogram(j, b)
release d3 = histogram(bin(y, [0.15, 0.2]))
"""


def any_real(lo, hi, rng):
    """A number anywhere, or beside an end, a tie of the grid or 0."""
    step = math.ldexp(1.0, exponent(lo, hi))
    kind = rng.randrange(8)
    if kind == 0:
        return struct.unpack("<d", rng.randbytes(8))[0]
    if kind == 1:
        return rng.choice([-1, 1]) * 10.0 ** rng.uniform(-330, 308)
    if kind == 2:
        return float(f"{rng.uniform(lo, hi):.{rng.randrange(1, 17)}g}")
    if kind == 3:
        return rng.choice([-1, 1]) * rng.randrange(1, 1 << rng.randrange(1, 60)) * 5e-324
    x = lo + (rng.randrange(int((hi - lo) / step)) + 0.5) * step if kind > 5 else rng.choice([lo, hi, (lo + hi) / 2]) if kind == 4 else rng.uniform(lo, hi)
    for _ in range(rng.randrange(4)):
        x = math.nextafter(x, rng.choice([-math.inf, math.inf]))
    return x


def any_int(rng):
    return rng.choice([rng.randrange(-8, 8), rng.randrange(10, 100), rng.randrange(-(2**63), 2**63), rng.choice([-1, 1]) * (2 ** rng.randrange(63) + rng.randrange(-2, 3))])


def any_text(rng):
    """Almost a level, or what breaks quotes."""
    text = rng.choice([*LEVELS, *TEXTS[1:-1], SENTINEL, "b", "true", "0", "-7"])
    for _ in range(rng.randrange(3)):
        at = rng.randrange(len(text) + 1)
        change = rng.randrange(6)
        if change == 0:
            text = rng.choice(BLANKS) + text
        elif change == 1:
            text += rng.choice(BLANKS) * rng.choice([1, 1, 3, 65532, 65537])
        elif change == 2:
            text = text.swapcase()
        elif change == 3:
            text = text[:at] + rng.choice(["'", '"', "\\", "%", "_", ";--", "\u0301", "$$", "{}", ",", "\n", "NULL", chr(rng.randrange(0xA0, 0xD000))]) + text[at:]
        elif change == 4:
            text = unicodedata.normalize(rng.choice(["NFC", "NFD", "NFKD"]), text)
        else:
            text = text[:at]
    return text[:70000]


def more_rows(lo, hi, rng, count):
    """`rows`, and a column for each of `MORE`; after the pools every second cell is made anew."""
    whole = [None, 0, 1, -7, 2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63), 2**62 + 511, 2**62 + 513, 10**6, -(10**6) - 1]
    people = [None, SENTINEL, "", "a", "A", " a", "a ", "\u00e9", "7", "07", "a\u0301", "\n", "'", "\\", '"', " " * 70000 + "a"]
    pools = [whole, [None, 0, 1, -7, -1, 10, 2**63 - 1], [None, True, False], people]
    kinds = [lambda: any_real(lo, hi, rng), lambda: any_real(0.1, 0.3, rng), *[lambda: any_int(rng)] * 2, *[lambda: rng.choice([None, True, False])] * 2]
    kinds += [*[lambda: any_text(rng)] * 2, lambda: any_int(rng), lambda: any_int(rng), lambda: rng.choice([None, True, False]), lambda: rng.choice([any_text(rng), str(rng.randrange(count))])]
    table = [row + [p[i] if i < len(p) else rng.choice(p) for p in pools] for i, row in enumerate(rows(lo, hi, rng, count))]
    return [[make() if i > 60 and rng.random() < 0.5 else cell for make, cell in zip(kinds, row)] for i, row in enumerate(table)]


def more_declared(lo, hi, rows="n"):
    return declared(lo, hi, rows, MORE_DECLARED % ODD_NAME)


def on_grid(x, lo, hi):
    """One cell in steps of the grid of its sum, from fractions alone."""
    unit = Fraction(2) ** exponent(lo, hi)
    y = min(max(0.0, lo), hi) if x is None or x != x else min(max(x, lo), hi)
    return min(max(round(Fraction(y) / unit), math.ceil(Fraction(lo) / unit)), math.floor(Fraction(hi) / unit))


def total(cells, lo, hi):
    """The sum of one column on its grid."""
    return sum(on_grid(x, lo, hi) for x in cells)


def cell_text(x):
    """As CSV has it."""
    if x is None or isinstance(x, float) and x != x:
        return ""
    if isinstance(x, bool):
        return "true" if x else "false"
    return repr(x) if isinstance(x, float) else str(x) if isinstance(x, int) else '"' + x.replace('"', '""') + '"'


def csv_text(data, names=COLUMNS):
    return "".join(",".join(line) + "\n" for line in [list(names), *(map(cell_text, row) for row in data)])


def flat(value):
    value = list(value.values()) if isinstance(value, dict) else value
    return [y for x in value for y in flat(x)] if isinstance(value, list) else [value]


def exponents(dpm, program, path):
    """The grid of every sum of a program without a budget, as `dpm sql` states it of the file that this writes."""
    path.write_text("budget eps(1)\n\n" + program, encoding="utf-8")
    text = subprocess.run([dpm, "sql", str(path), "--dialect", "sqlite"], capture_output=True, text=True, check=True).stdout
    return {name: int(power) for name, power in re.findall(r"^-- (\w+) part 0: a sum in steps of 2\^(-?\d+)", text, re.M)}


def hardly_noisy(program, steps):
    """The program with noise of a 256th of a step, so that what is released, rounded to steps, is the statistic but for a chance of e^-128."""
    with_noise = lambda found: f"{found[0]} using laplace(scale = {math.ldexp(1.0, steps.get(found[1], 0) - 8)!r})"
    return re.sub(r"^\s*release (\w+) = .*$", with_noise, program, flags=re.M)


def seeded():
    return random.Random(5)
