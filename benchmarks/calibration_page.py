"""Writes docs/calibration.md and its picture from the records of `calibration.py` and `power.py`."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

HERE = Path(__file__).resolve().parent
DOCS = HERE.parent / "docs"
PICTURE = DOCS / "pictures" / "calibration.svg"
POWER = HERE / "records" / "power.jsonl"
HEAD = """# Calibration

Written by `python benchmarks/calibration.py`; the records are in `benchmarks/records/calibration.jsonl`.

Draws of data with known truth: {n} rows, {d} features, independent or in chains in which neighbors have the
correlation 0.5, normally distributed; classes or a continuous target; 15 features with a linear and 5 with a
quadratic effect. "as it should be" is

- for null p-values, uniformly distributed where the target depends on no feature: the p-value of a
  Kolmogorov-Smirnov test of one null p-value per draw is above 0.01;
- for the false discovery rate (FDR), at most q plus two standard errors. Of the p-values, false positives are
  features on which the target does not depend; of knockoffs, features that add nothing to the others;
- for stability selection, at most as many false selections as the bound, on average.

![Null p-values, and false discovery rates](pictures/calibration.svg)

"""
POWER_HEAD = """## Power beside other programs

Written by `python benchmarks/power.py`: all on the same draws in one run. Power is the
fraction of relevant features found. The level is 0.2; Boruta has its own.

"""
Records = list[dict[str, Any]]


def grouped(records: Records, keys: tuple[str, ...]) -> dict[tuple, Records]:
    found: dict[tuple, Records] = defaultdict(list)
    for r in records:
        found[tuple(r[key] for key in keys)].append(r)
    return dict(sorted(found.items(), key=str))


def row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def table(head: list[str], rows: list[list[str]]) -> str:
    return "\n".join([row(head), "|---" * len(head) + "|", *map(row, rows)]) + "\n\n"


def yes(holds: bool) -> str:
    return "yes" if holds else "**no**"


def design_cells(key: tuple) -> list[str]:
    n, d, rho, kind = key
    target = "classes" if kind == "class" else "continuous"
    return [f"{n} x {d}", "AR(1) 0.5" if rho else "independent", target]


DESIGN = ("n", "d", "rho", "kind")
DESIGN_HEAD = ["rows x features", "features", "target", "draws"]


def nulls(records: Records) -> dict[str, list[float]]:
    """All null p-values, one per draw, by statistic."""
    found: dict[str, list[float]] = defaultdict(list)
    for r in records:
        for name, p in r["null"].items():
            found[name].append(p)
    return found


def uniform(p: list[float]) -> float:
    return float(stats.kstest(p, "uniform").pvalue)


def null_tables(records: Records) -> str:
    names = list(nulls(records))
    rows = []
    for key, found in grouped(records, DESIGN).items():
        tests = [uniform(p) for p in nulls(found).values()]
        cells = [f"{p:.3f}" for p in tests]
        rows.append([*design_cells(key), str(len(found)), *cells, yes(min(tests) > 0.01)])
    everything = [uniform(p) for p in nulls(records).values()]
    rows.append(
        ["all", "", "", str(len(records)), *(f"{p:.3f}" for p in everything), yes(min(everything) > 0.01)]
    )
    text = "## Null p-values\n\nKolmogorov-Smirnov p-values of one null p-value per draw.\n\n"
    text += table([*DESIGN_HEAD, *names, "as it should be"], rows)
    text += "The asymptotic p-values of HSIC are approximate in the tail; those of permutations are exact. "
    text += "Fraction of the null p-values of all features up to a threshold, over all draws:\n\n"
    lines = []
    for name in ("cosine", "hsic"):
        counts = np.sum([r["exceeded"][name] for r in records], axis=0)
        shares = [f"{100 * count / counts[0]:.3f} %" for count in counts[1:]]
        lines.append([name, f"{counts[0]:,}", *shares])
    return text + table(["statistic", "p-values", "0.001", "0.01", "0.05"], lines)


def rate(values: list[list[float]]) -> tuple[float, float, float]:
    """The false discovery rate, its standard error, and the power."""
    array = np.array(values)
    return array[:, 0].mean(), array[:, 0].std(ddof=1) / np.sqrt(len(array)), array[:, 1].mean()


def rates(records: Records) -> dict[tuple, dict[str, list[list[float]]]]:
    """By design and by method with level: false discoveries and power of each draw."""
    found: dict[tuple, dict[str, list[list[float]]]] = defaultdict(lambda: defaultdict(list))
    for r in records:
        for name, values in r.get("rates", {}).items():
            found[tuple(r[key] for key in DESIGN)][name].append(values)
    return dict(sorted(found.items(), key=str))


def rate_tables(records: Records) -> str:
    text = "## False discovery rates\n\nFDR ± its standard error; power: fraction of relevant features.\n\n"
    by_method: dict[str, list[list[str]]] = defaultdict(list)
    for key, methods in rates(records).items():
        for name in {name.split("; ")[0]: None for name in methods}:
            cells, draws, holds = [], set(), True
            for level in (0.1, 0.2):
                values = methods[f"{name}; {level}"]
                fdr, error, power = rate(values)
                holds &= fdr <= level + 2 * error
                draws.add(len(values))
                cells += [f"{fdr:.3f} ± {error:.3f}", f"{power:.2f}"]
            by_method[name].append([*design_cells(key), str(max(draws)), *cells, yes(holds)])
    head = [*DESIGN_HEAD, "FDR, q = 0.1", "power", "FDR, q = 0.2", "power", "as it should be"]
    for name, rows in by_method.items():
        text += f"### {name}\n\n" + table(head, rows)
    return text


def stability_table(records: Records) -> str:
    rows = []
    for key, found in grouped(records, DESIGN).items():
        false, bound, power = (
            float(np.mean([r[part] for r in found])) for part in ("false", "bound", "power")
        )
        cells = [f"{false:.3f}", f"{bound:.2f}", f"{power:.2f}", yes(false <= bound)]
        rows.append([*design_cells(key), str(len(found)), *cells])
    head = [*DESIGN_HEAD, "false selections", "bound", "power", "as it should be"]
    text = "## Stability selection\n\n`FisherScore`, 20 features per fit, 50 pairs, threshold 0.75.\n\n"
    return text + table(head, rows)


def power_tables(records: Records) -> str:
    text = POWER_HEAD
    for of_truth in grouped(records, ("truth",)).values():
        first = of_truth[0]
        text += (
            f"### {first['title']}\n\n{first['n']} rows, {first['d']} features, {first['k']} relevant.\n\n"
        )
        rows = []
        for (method,), found in grouped(of_truth, ("method",)).items():
            done = [r for r in found if "power" in r]
            if not done:
                rows.append([-1.0, [method, "0", found[0]["failed"], ""]])
                continue
            power, fdr = (np.array([r[part] for r in done]) for part in ("power", "fdr"))
            error = power.std(ddof=1) / np.sqrt(len(power)) if len(power) > 1 else 0.0
            shown = f"**{method}**" if method.startswith("kernsift") else method
            cells = [f"{power.mean():.2f} ± {error:.2f}", f"{fdr.mean():.2f}"]
            rows.append([power.mean(), [shown, str(len(done)), *cells]])
        rows.sort(key=lambda line: -line[0])
        text += table(["method", "draws", "power", "FDR"], [cells for _, cells in rows])
    return text


def draw(records: Records) -> None:
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    matplotlib.rcParams["svg.hashsalt"] = "kernsift"
    figure, axes = plt.subplots(1, 2, figsize=(9.6, 4.2), layout="constrained")
    for name, p in nulls([r for r in records if "null" in r]).items():
        at = (np.arange(len(p)) + 0.5) / len(p)
        axes[0].plot(at, np.sort(p) - at, label=name, lw=1.4)
    axes[0].axhline(0, color="gray", lw=0.8)
    axes[0].set(xlabel="uniform quantile", ylabel="null p-value less quantile", title="Null p-values")
    axes[0].legend(frameon=False, fontsize=8)
    methods: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
    for found in rates(records).values():
        for name, values in found.items():
            method, level = name.split("; ")
            fdr, error, _ = rate(values)
            methods[method].append((float(level), fdr, error))
    for at, (name, points) in enumerate(methods.items()):
        level, fdr, error = np.array(points).T
        shift = (at - len(methods) / 2) * 0.009 + np.linspace(-0.003, 0.003, len(level))
        axes[1].errorbar(level + shift, fdr, 2 * error, fmt="o", ms=2.5, lw=0.7, label=name)
    for level in (0.1, 0.2):
        axes[1].plot([level - 0.04, level + 0.04], [level, level], color="black", lw=1)
    axes[1].set(
        xlabel="q",
        ylabel="FDR ± two standard errors",
        title="False discovery rate of each design",
        xticks=[0.1, 0.2],
    )
    axes[1].legend(frameon=False, fontsize=7, loc="upper left")
    figure.savefig(PICTURE, metadata={"Date": None})
    plt.close(figure)


def page(records: Records, power: Records) -> str:
    """The text of the page."""
    sizes = {key: " or ".join(str(v) for v in sorted({r[key] for r in records})) for key in ("n", "d")}
    text = HEAD.format(**sizes)
    tests = [r for r in records if r["part"] == "tests"]
    text += null_tables(tests) + rate_tables(records)
    text += stability_table([r for r in records if r["part"] == "stability"])
    return (text + (power_tables(power) if power else "")).rstrip("\n") + "\n"


def read(path: Path) -> Records:
    return (
        [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []
    )


def write(records: Records) -> None:
    draw(records)
    (DOCS / "calibration.md").write_text(page(records, read(POWER)), encoding="utf-8")
