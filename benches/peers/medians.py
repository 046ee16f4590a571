"""Medians and ranges over the runs of a result, and how many times the effective draws of each peer dpm gives.

medians.py FILE. Warm-up counts by the seconds to 400 effective draws, so that it does not matter how many were drawn. Fewer than 200 effective
draws in any run, or fewer than three runs, give no ratio.
"""

import re
import sys
from statistics import median

LINE = re.compile(r"(\w+) +(\w+) +(.+?) +seed \d+ +([\d.]+) ms a step +([\d.]+) ESS/s +([\d.]+) with warm-up +\(least ESS (\d+) .* ([\d.]+) s; \|mean")
found = {}
for line in open(sys.argv[1]):
    if m := LINE.match(line):
        step, rate, both, ess, warm = map(float, m.groups()[3:])
        found.setdefault(m.groups()[:2], {}).setdefault(m[3], []).append((step, rate, both, ess, warm + 400 / rate))


def of(runs, i, form):
    values = [run[i] for run in runs]
    return f"{median(values):{form}} ({min(values):{form}} to {max(values):{form}})"


for task, everyone in found.items():
    for who, runs in everyone.items():
        print(
            f"{' '.join(task)}, {who}: {len(runs)} runs; {of(runs, 0, '.2f')} ms a step, {of(runs, 1, '.1f')} ESS/s, {of(runs, 2, '.1f')} with warm-up,"
            f" {of(runs, 4, '.1f')} s to 400 effective draws with warm-up; least ESS {of(runs, 3, '.0f')}"
        )
    ours = everyone.get("dpm", [])
    for who, runs in everyone.items():
        if who == "dpm" or not ours:
            continue
        few = min(run[3] for run in runs + ours) < 200 or min(len(runs), len(ours)) < 3
        rate, wait = (median(run[i] for run in ours) / median(run[i] for run in runs) for i in (1, 4))
        said = "no ratio" if few else f"{rate:.1f} times the effective draws a second; {1 / wait:.1f} times sooner at 400 effective draws, warm-up counted"
        print(f"{' '.join(task)}, dpm beside {who}: {said}")
