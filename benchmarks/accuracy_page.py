"""Writes docs/accuracy.md from the records of `accuracy.py`."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np

PAGE = Path(__file__).resolve().parent.parent / "docs" / "accuracy.md"
#: The automatic selector was developed on the first group; the others were looked at once, for this page.
SETS = {
    "development": [
        *("wine", "heart", "sonar", "pima", "thyroid", "madelon_train", "colon", "leukemia", "tox_171"),
        "arcene_train",
    ],
    "report": [
        *("glass", "ionosphere", "wdbc", "australian", "soybean_small", "isolet", "mnist5k"),
        *("lung_discrete", "prostate_ge", "covtype"),
    ],
    "regression": ["boston", "diabetes", "friedman1", "friedman2", "friedman3", "products", "waves"],
}
AUTO = "kernsift AutoSelector"
TITLES = {
    "development": "Classification, sets used in development",
    "report": "Classification, sets not used in development",
    "regression": "Regression",
}
HEAD = """# Accuracy

Written by `make accuracy DATA_DIR=FOLDER`: the program is `benchmarks/accuracy.py`, the records are in
`benchmarks/records/accuracy.jsonl`.

## Error with the selected features

Each selector chooses 3, 5, 10 and 20 features on the training rows (at most 600; 60 % of small sets), in
{splits}. The error is that of rows that took no part (at most 2000): the mean of an SVM, tuned by
cross-validation, and of boosted trees (LightGBM). For classes it is the balanced error in %, for regression
100 (1 - R²). The mean rank is over sets, by the mean error over numbers of features and splits; a selector
without a result on a set is last there, and has no mean error. The number of features is given here, also
to `AutoSelector`.

"""
PLANTED = """## Planted features

`AutoSelector(random_state=0)` chooses features and their number. Features are standard normal; 5 % of the
labels are wrong (regression: noise of standard deviation 0.3). *Exact*: the relevant features are selected
and no others. *All found*: perhaps others, too. The seeds of the draws are 0, 1, 2 and so on; two threads.

| target | rows x features | exact | all found | seconds, median |
|---|---|---|---|---|
"""


def means(records: list[dict]) -> dict[tuple[str, str], float]:
    """The mean error of each method on each set, in %."""
    found = defaultdict(list)
    for r in records:
        if "errors" in r:
            found[r["method"], r["set"]] += [np.mean(e) for e in r["errors"].values()]
    return {key: 100 * float(np.mean(values)) for key, values in found.items()}


def standard_error(records: list[dict], name: str, error: float) -> float:
    """Of a balanced error in %, as if all test rows were independent and both models one."""
    n = sum(r["n_test"] for r in records if r.get("set") == name and r["method"] == AUTO)
    return 100 * float(np.sqrt(max(error / 100 * (1 - error / 100), 0.0) / max(n, 1)))


def mean_ranks(error: dict[tuple[str, str], float], sets: list[str]) -> dict[str, float]:
    """The mean over sets of each method's rank; equal errors have their mean rank, failures are last."""
    ranks = defaultdict(list)
    methods = {method for method, _ in error}
    for s in sets:
        errors = {method: error.get((method, s), np.inf) for method in methods}
        ordered = np.sort(list(errors.values()))
        for method, e in errors.items():
            ranks[method].append(float(np.mean(np.flatnonzero(ordered == e))) + 1)
    return {method: float(np.mean(values)) for method, values in ranks.items()}


def row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def error_table(records: list[dict], group: str) -> str:
    sets = [s for s in SETS[group] if any(r.get("set") == s for r in records)]
    records = in_group(records, sets)
    error = means(records)
    ranks = mean_ranks(error, sets)
    taken = defaultdict(list)
    for r in records:
        if "seconds" in r:
            taken[r["method"]].append(r["seconds"])
    head = ["selector", f"mean rank of {len(ranks)}", "mean error", "CPU seconds for all numbers", *sets]
    lines = [row(head), "|---" * len(head) + "|"]
    for m in sorted(ranks, key=lambda m: (ranks[m], m)):
        of_sets = [error.get((m, s), np.nan) for s in sets]
        numbers = [
            f"{ranks[m]:.1f}",
            "-" if np.isnan(of_sets).any() else f"{np.mean(of_sets):.1f}",
            f"{np.mean(taken[m]):.2g}",
        ]
        cells = ["-" if np.isnan(e) else f"{e:.1f}" for e in of_sets]
        lines.append(row([f"**{m}**" if m == AUTO else m, *numbers, *cells]))
    text = f"### {TITLES[group]}\n\n" + "\n".join(lines) + "\n\n"
    text += "" if group == "regression" else near_best(records, error, sets)
    failed = sorted(f"{r['method']} on {r['set']} ({reason(r['failed'])})" for r in records if "failed" in r)
    return text + (f"Without a result: {', '.join(failed)}.\n\n" if failed else "")


def reason(failure: str) -> str:
    """The message of an exception from its representation."""
    return failure.split("(", 1)[-1].strip("()'")


def in_group(records: list[dict], sets: list[str]) -> list[dict]:
    """The records of sets, without selectors that need classes where there are none."""
    records = [r for r in records if r.get("set") in sets]
    need_classes = {r["method"] for r in records if "Unknown label type" in r.get("failed", "")}
    return [r for r in records if r["method"] not in need_classes]


def near_best(records: list[dict], error: dict[tuple[str, str], float], sets: list[str]) -> str:
    def is_near(s: str) -> bool:
        best = min(e for (m, on), e in error.items() if on == s and not m.startswith("kernsift"))
        return error.get((AUTO, s), np.inf) <= best + 0.5 * standard_error(records, s, best)

    near = [s for s in sets if is_near(s)]
    return (
        f"On {len(near)} of {len(sets)} sets the error of `AutoSelector` is at most that of the best other\n"
        "program on that set, known only afterwards, plus half a standard error: "
        f"{', '.join(near) or 'none'}.\n\n"
    )


def planted_table(records: list[dict]) -> str:
    draws = defaultdict(list)
    for r in records:
        if "pattern" in r:
            draws[r["pattern"], r["n"], r["d"]].append(r)
    text = PLANTED if draws else ""
    for (pattern, n, d), found in draws.items():
        exact = sum(r["missed"] == r["extra"] == 0 for r in found)
        complete = sum(r["missed"] == 0 for r in found)
        took = float(np.median([r["seconds"] for r in found]))
        total = len(found)
        what = f"{pattern} (nothing is relevant)" if pattern.startswith("noise") else pattern
        counts = [f"{exact} of {total}", f"{complete} of {total}", f"{took:.1f}"]
        text += row([what, f"{n} x {d:,}", *counts]) + "\n"
    return text


def write(records: list[dict]) -> None:
    PAGE.write_text(page(records), encoding="utf-8")


def page(records: list[dict]) -> str:
    repeats = 1 + max((r["repeat"] for r in records if "repeat" in r), default=0)
    splits = "one random split" if repeats == 1 else f"{repeats} random splits (seeds 0 to {repeats - 1})"
    text = HEAD.format(splits=splits)
    for group, sets in SETS.items():
        if any(r.get("set") in sets for r in records):
            text += error_table(records, group)
    return text + planted_table(records)
