"""`dpm run --json` on generated files."""

import json
import os
import subprocess
import tempfile

import numpy as np

from common import DELTA, WORK

DPM = os.environ["DPM"]


def run(program, file, table="rows"):
    """Released values of one run."""
    with tempfile.NamedTemporaryFile("w", suffix=".dpm", delete=False) as f:
        f.write(program)
    done = subprocess.run([DPM, "run", f.name, "--data", f"{table}={file}", "--json", "--anyway"], capture_output=True, text=True)
    os.unlink(f.name)
    if done.returncode:
        raise SystemExit(program + done.stdout + done.stderr)
    answer = json.loads(done.stdout)
    known = {k: float(v) for k, v in answer["certificate"]["releases"][0]["parameters"].items()}
    # What the certificate says of the noise, as a standard deviation.
    noise = known.get("sigma", 2**0.5 * known.get("scale", 0))
    return {**answer["releases"], **answer.get("outputs", {}), "noise": noise}


def numbers(values):
    return np.array([float(v) for v in (values.values() if isinstance(values, dict) else values)])


def budget(kind, epsilon):
    return f"budget eps({epsilon})\n" if kind == "pure" else f"budget dp(eps = {epsilon}, delta = {DELTA})\n"


def path(name):
    return os.path.join(WORK, name + ".csv")
