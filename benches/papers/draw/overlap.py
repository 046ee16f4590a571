"""What must not lie over what in a figure: text over text, text outside, legends over data, lines under other lines."""

import itertools

import numpy as np
from matplotlib.text import Text
from matplotlib.transforms import Bbox


def texts(figure):
    """Every text that is drawn, with its box; tick labels beyond the ends of an axis exist but are not."""
    renderer = figure.canvas.get_renderer()
    beyond = set()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            drawn = axis._update_ticks() if axes.axison else []
            beyond |= {id(tick) for tick in axis.majorTicks + axis.minorTicks} - {id(tick) for tick in drawn}
    unseen = {id(label) for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)
              for tick in axis.majorTicks + axis.minorTicks if id(tick) in beyond for label in (tick.label1, tick.label2)}
    for text in figure.findobj(Text):
        words = text.get_text().strip()
        box = text.get_window_extent(renderer)
        if words and text.get_visible() and id(text) not in unseen and box.width > 0:
            yield words, box


def path(line):
    """The line in pixels, with a point at least every pixel."""
    points = line.get_transform().transform(np.column_stack(line.get_data(orig=False)))
    points = points[np.isfinite(points).all(axis=1)]
    dense = []
    for (a, b) in itertools.pairwise(points):
        steps = max(int(np.hypot(*(b - a))), 1)
        dense.append(a + (b - a) * np.linspace(0, 1, steps, endpoint=False)[:, None])
    return np.concatenate([*dense, points[-1:]]) if len(points) else points


def overlaps(a, b):
    cut = Bbox.intersection(a, b)
    return cut is not None and cut.width > 0.5 and cut.height > 0.5


def faults(figure):
    """Every fault in words; none for a good figure."""
    found = []
    whole = figure.bbox
    written = list(texts(figure))
    for words, box in written:
        if box.x0 < whole.x0 - 0.5 or box.x1 > whole.x1 + 0.5 or box.y0 < whole.y0 - 0.5 or box.y1 > whole.y1 + 0.5:
            found.append(f"'{words}' leaves the picture")
    for (first, a), (second, b) in itertools.combinations(written, 2):
        if overlaps(a, b):
            found.append(f"'{first}' lies over '{second}'")
    legends = [x for x in figure.legends] + [a.get_legend() for a in figure.axes if a.get_legend()]
    for legend, axes in itertools.product(legends, figure.axes):
        if overlaps(legend.get_window_extent(), axes.get_window_extent()):
            found.append("a legend lies over data")
    for axes in figure.axes:
        inside = axes.get_window_extent()
        lines = [x for x in axes.lines if (x.get_gid() or "").startswith("line-")]
        if len(lines) > 6:
            found.append(f"{len(lines)} lines in one panel")
        paths = {x: path(x) for x in lines}
        for drawn, points in paths.items():
            seen = points[[inside.contains(*p) for p in points]][::2] if len(points) else points
            if len(seen) < 2:
                found.append(f"{drawn.get_gid()} cannot be seen")
                continue
            for words, box in written:
                if any(box.contains(*p) for p in seen):
                    found.append(f"'{words}' lies over {drawn.get_gid()}")
            covered = np.zeros(len(seen), bool)
            for other in lines[lines.index(drawn) + 1 :]:
                # A broad line shows on both sides of a narrow one that covers it.
                wider = (drawn.get_linewidth() - other.get_linewidth()) / 2 * figure.dpi / 72
                if other.get_zorder() >= drawn.get_zorder() and wider < 0.25 and len(paths[other]):
                    apart = seen[:, None, :] - paths[other][None, :, :]
                    covered |= np.min(np.hypot(apart[..., 0], apart[..., 1]), axis=1) < 1.0
            if covered.mean() > 0.95:
                found.append(f"{drawn.get_gid()} is hidden for its whole length")
    return found
