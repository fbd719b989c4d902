"""Planted features found by the automatic selector and by other programs, for the table of the README.

Runs what is missing in records/others.jsonl. Programs that do not choose the number of features get the right
one. Features are standard normal; 5 % of the labels are wrong, see `planted` in `accuracy.py`. Needs
requirements.txt and boruta; one thread.

    python benchmarks/others.py            # ten draws of every pattern
    python benchmarks/others.py --draws 2  # a short run
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import accuracy
import numpy as np
from sklearn.ensemble import RandomForestClassifier

import kernsift

RECORD = Path(__file__).resolve().parent / "records" / "others.jsonl"
SIZE = (500, 100)
PATTERNS = ("XOR", "ring", "noise")
#: The numbers of draws of slow programs.
SLOW = {"Boruta": 2}


def automatic(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return kernsift.AutoSelector(random_state=0, n_jobs=1).fit(x, y).get_support(indices=True)


def boruta(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """With its defaults and the forest of its own example."""
    from boruta import BorutaPy

    forest = RandomForestClassifier(max_depth=5, class_weight="balanced", n_jobs=1)
    return np.flatnonzero(BorutaPy(forest, n_estimators="auto", random_state=0).fit(x, y).support_)


#: Programs that choose the number of features; the others are those of `accuracy.py`.
CHOOSING: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "kernsift AutoSelector": automatic,
    "Boruta": boruta,
}


def run(program: str, pattern: str, seed: int) -> dict:
    x, y, truth = accuracy.planted(pattern, *SIZE, seed)
    start = time.process_time()
    if program in CHOOSING:
        found = CHOOSING[program](x, y)
    else:
        found = accuracy.PEERS[program](x, y, [len(truth)])[len(truth)]
    took = round(time.process_time() - start, 3)
    selected = {int(column) for column in found}
    counts = {"missed": len(truth - selected), "extra": len(selected - truth)}
    return {"pattern": pattern, "seed": seed, "program": program, "seconds": took, **counts}


def versions() -> dict[str, str]:
    names = ("scikit-learn", "lightgbm", "skrebate", "pyHSICLasso", "Boruta", "mrmr-selection", "fastcan")
    return {name: version(name) for name in names}


def main() -> None:
    warnings.filterwarnings("ignore")
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--draws", type=int, default=10)
    draws = options.parse_args().draws
    lines = RECORD.read_text(encoding="utf-8").splitlines() if RECORD.exists() else []
    seen = {(r["program"], r["pattern"], r["seed"]) for r in map(json.loads, lines) if "seed" in r}
    with RECORD.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"versions": versions()}) + "\n")
        for seed in range(draws):
            for pattern in PATTERNS:
                # Without relevant features there is no right number to give.
                programs = CHOOSING if pattern == "noise" else {**CHOOSING, **accuracy.PEERS}
                for program in programs:
                    if (program, pattern, seed) not in seen and seed < SLOW.get(program, draws):
                        record = run(program, pattern, seed)
                        print(record, flush=True)
                        file.write(json.dumps(record) + "\n")
                        file.flush()


if __name__ == "__main__":
    main()
