"""Time and memory by number of samples, features and components, for kernsift and other programs.

`make scaling` writes docs/scaling.md and its plots. Every point is a separate process, timed best of three;
sizes increase until a point takes some seconds. The exponent is the slope of a line through the logarithms of
the larger half of the sizes: 1 is linear, 2 quadratic.

    python benchmarks/scaling.py [KEY ...]       only these curves; the others are not changed
    python benchmarks/scaling.py --page          only write the page and the plots
    python benchmarks/scaling.py --tall PROGRAM [METHOD ...]
                                                 only the table of tall data, by the command line PROGRAM
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from side import child, measure
from tasks import THREADS, Work, kernels, selection, svm, tables

import kernsift

HERE = Path(__file__).resolve().parent
DOCS = HERE.parent / "docs"
PICTURES = DOCS / "pictures" / "scaling"
RECORD = HERE / "records" / "scaling.json"
TALL_RECORD = HERE / "records" / "tall.json"
#: Rows and columns of tall data, and seconds of processor time after which a method is stopped.
TALL, TALL_LIMIT = (200_000, 50), 240
#: The relevant features of tall data.
PLANTED = {"x2", "x11", "x19", "x38"}
#: Families of methods in the table of tall data, with their commands.
FAMILIES = {"selector": ["select", "-k", "5"], "kernel-space": ["select"], "basis": ["basis"]}
#: Default seconds after which no larger size is run, and timeout of a point.
ENOUGH, TIMEOUT = 4.0, 150.0


@dataclass(frozen=True)
class Curve:
    """One plot: the varied size, its values, and the sides by name; a side returns the work of a size."""

    key: str
    title: str
    axis: str
    sizes: tuple[int, ...]
    sides: dict[str, Callable[[int], Work]]
    #: Seconds after which no larger size is run.
    enough: float = ENOUGH


def kobl(n: int, m: int) -> Work:
    x = kernels.rows(n, 10)
    estimator = kernsift.KOBL(n_components=m, gamma=0.1, threshold=None, n_jobs=THREADS)
    return lambda: {"pivots": estimator.fit(x).pivots_}


def numpy_kobl(n: int, m: int) -> Work:
    x = kernels.rows(n, 10)
    return lambda: {"pivots": np.array(kernels.numpy_kobl(x, 0.1, m)[1])}


def kernel_pca(n: int) -> Work:
    from sklearn.decomposition import KernelPCA

    x = kernels.rows(n, 10)
    pca = KernelPCA(100, kernel="rbf", gamma=0.1, eigen_solver="randomized", n_jobs=THREADS)
    return lambda: {"features": pca.fit_transform(x)[:1]}


def hsfs(n: int) -> Work:
    x, y = selection.hsic_data(n, 20)
    estimator = kernsift.HSFS(4, exact=True, n_jobs=THREADS, random_state=0)
    return lambda: {"order": estimator.fit(x, y).order_[:4]}


def svc(n: int) -> Work:
    x, y = svm.svm_data(n, 20)
    return lambda: {"fitted": kernsift.SVC(n_jobs=THREADS).fit(x, y).intercept_}


def sklearn_svc(n: int) -> Work:
    from sklearn.svm import SVC

    x, y = svm.svm_data(n, 20)
    return lambda: {"fitted": SVC().fit(x, y).intercept_}


def doubled(first: int, count: int) -> tuple[int, ...]:
    return tuple(first * 2**k for k in range(count))


CURVES = [
    Curve(
        "kobl_rows",
        "KOBL, 10 columns, 100 components",
        "rows",
        doubled(2500, 9),
        {
            "kernsift": lambda n: kobl(n, 100),
            "numpy, same algorithm": lambda n: numpy_kobl(n, 100),
            "scikit-learn, KernelPCA": kernel_pca,
        },
    ),
    Curve(
        "kobl_components",
        "KOBL, 20,000 rows, 10 columns",
        "components",
        doubled(25, 6),
        {"kernsift": lambda m: kobl(20_000, m), "numpy, same algorithm": lambda m: numpy_kobl(20_000, m)},
    ),
    Curve(
        "takes_rows",
        "TAKES, stumps, 20 columns, 100 components",
        "rows",
        doubled(5000, 7),
        {"kernsift": lambda n: tables.takes("stump", n, 100)},
    ),
    Curve(
        "relief_rows",
        "ReliefF, 100 columns",
        "rows",
        doubled(250, 7),
        {
            "kernsift": lambda n: selection.relief_ours(n, 100),
            "skrebate": lambda n: selection.relief_skrebate(n, 100),
        },
    ),
    Curve(
        "relief_columns",
        "ReliefF, 500 rows",
        "columns",
        doubled(50, 10),
        {
            "kernsift": lambda d: selection.relief_ours(500, d),
            "skrebate": lambda d: selection.relief_skrebate(500, d),
        },
    ),
    Curve(
        "lasso_rows",
        "HSIC Lasso, 10 of 100 columns",
        "rows",
        doubled(125, 8),
        {
            "kernsift": lambda n: selection.lasso_ours(n, 100),
            "pyHSICLasso, B = 0": lambda n: selection.lasso_peer(n, 100),
        },
    ),
    Curve(
        "lasso_columns",
        "HSIC Lasso, 10 columns of 300 rows",
        "columns",
        doubled(50, 10),
        {
            "kernsift": lambda d: selection.lasso_ours(300, d),
            "pyHSICLasso, B = 0": lambda d: selection.lasso_peer(300, d),
        },
    ),
    # Up to some thousand rows the time is constant, so that only large sizes matter.
    Curve(
        "hsfs_rows",
        "HSFS, 4 of 20 columns",
        "rows",
        (1000, 4000, 16_000, 64_000, 256_000, 1_024_000),
        {"kernsift": hsfs},
        enough=30.0,
    ),
    Curve(
        "svc_rows",
        "SVC with the RBF kernel, 20 columns",
        "rows",
        doubled(500, 6),
        {"kernsift": svc, "scikit-learn, SVC": sklearn_svc},
    ),
]


def point(key: str, side: str, size: int) -> dict | None:
    """One size of one side, in a separate process; None if it timed out."""
    found, wrong = child([str(HERE / "scaling.py"), "--point", key, side, str(size)], THREADS, TIMEOUT)
    if wrong:
        sys.exit(f"{key}, {side}, {size}: {wrong}")
    return found and {"size": size, **found}


def run(keys: list[str]) -> dict:
    """Measures the curves with these keys, or all; the others are not changed."""
    record = json.loads(RECORD.read_text(encoding="utf-8")) if keys else {}
    for curve in CURVES:
        if keys and curve.key not in keys:
            continue
        record[curve.key] = {}
        for side in curve.sides:
            found = []
            for size in curve.sizes:
                one = point(curve.key, side, size)
                if one is None:
                    break
                found.append(one)
                print(f"{curve.title}, {size:,} {curve.axis}, {side}: {one['seconds']:.3f} s", flush=True)
                if one["seconds"] > curve.enough:
                    break
            record[curve.key][side] = found
    return record


def tall(program: str, wanted: list[str]) -> list[dict]:
    """Methods on tall data with defaults, with classes and with a continuous target: those wanted, or all."""
    rows, columns = (str(size) for size in TALL)
    make = [program, "data", "make", "xor-ring", "--rows", rows, "--columns", columns, "--out"]
    methods = json.loads(
        subprocess.run([program, "methods", "--json"], check=True, capture_output=True).stdout
    )
    kept = json.loads(TALL_RECORD.read_text(encoding="utf-8")) if TALL_RECORD.exists() else []
    points = {(one["method"], one["target"]): one for one in kept}
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for target, kind in (("classes", []), ("continuous", ["--continuous"])):
            table = Path(folder) / f"{target}.csv"
            subprocess.run([*make, str(table), *kind], check=True, capture_output=True)
            for method in methods:
                name, needs_other = method["name"], target == "continuous" and method["needs"] != "target"
                if method["family"] not in FAMILIES or needs_other:
                    continue
                point = points.get((name, target))
                if point is None or not wanted or name in wanted:
                    options = [str(table), "-m", name, "--json", "--threads", str(THREADS)]
                    work = [program, *FAMILIES[method["family"]], *options]
                    point = {"method": name, "target": target, **cost(work)}
                    print(point, flush=True)
                found.append(point)
    return found


def cost(work: list[str]) -> dict:
    """Time, peak memory, sample size and relevant features found of a command; no time if it was stopped, and
    an error if it failed."""
    limited = ["bash", "-c", f'ulimit -t {TALL_LIMIT}; exec "$@"', "bash", *work]
    with tempfile.TemporaryFile() as out:
        start = time.perf_counter()
        child = subprocess.Popen(limited, stdout=out, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        if child.returncode > 0:
            raise RuntimeError(f"exit code {child.returncode} of {work}")
        answer = json.loads(out.read()) if child.returncode == 0 else {}
    selected = set(answer.get("selected", [])) if "-k" in work else None
    sample = answer.get("sample") or answer.get("selector_sample") or answer.get("automatic") or {}
    return {
        "seconds": seconds if answer else None,
        "processor_seconds": usage.ru_utime + usage.ru_stime,
        "peak_bytes": 1024 * usage.ru_maxrss,
        "used": sample.get("n_used"),
        "planted": None if selected is None else len(PLANTED & selected),
    }


def tall_table(found: list[dict]) -> list[str]:
    """The section about tall data."""
    rows, columns = TALL
    lines = [
        "",
        "## Tall data",
        "",
        f"All methods on {rows:,} rows and {columns} features (`kernsift data make xor-ring`) with",
        "defaults; selectors select 5. Processor time and peak memory include reading the CSV file. On",
        "two cores that nothing else uses a command takes at least half of its processor time, and at most",
        "all of it. Four features are relevant: an XOR pair and a ring, of which methods without a target",
        "and linear methods see little. [Tall data](data.md#tall-data) lists the methods that use a sample.",
        "",
        "| method | target | processor time | memory | rows used | relevant features found |",
        "|---|---|---|---|---|---|",
    ]
    for one in found:
        cells = [
            one["method"],
            one["target"],
            "stopped" if one["seconds"] is None else f"{one['processor_seconds']:.0f} s",
            f"{one['peak_bytes'] / 2**20:.0f} MiB",
            "" if one["seconds"] is None else "all" if one["used"] is None else f"{one['used']:,}",
            "" if one["planted"] is None else f"{one['planted']} of {len(PLANTED)}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def exponent(points: list[dict], key: str) -> float | None:
    """The slope through the larger half of the sizes, at least three."""
    kept = points[-max(3, (len(points) + 1) // 2) :]
    if len(kept) < 3 or min(p[key] for p in kept) <= 0:
        return None
    sizes, values = (np.log([p[name] for p in kept]) for name in ("size", key))
    return float(np.polyfit(sizes, values, 1)[0])


def shown(slope: float | None) -> str:
    return "-" if slope is None else f"{slope:.1f}"


def short(value: float) -> str:
    return f"{value:g}" if value < 1000 else f"{value / 1e3:g}k" if value < 1e6 else f"{value / 1e6:g}M"


def draw(curve: Curve, sides: dict[str, list[dict]]) -> None:
    """Time and memory on logarithmic axes, side by side."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    matplotlib.rcParams["svg.hashsalt"] = "kernsift"
    figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.9), layout="constrained")
    for ax, key, unit, label in zip(
        axes, ("seconds", "extra_bytes"), (1.0, 2**20), ("seconds", "MiB beyond the data"), strict=True
    ):
        for (name, points), color in zip(sides.items(), ("#2563b8", "#c2570c", "#5b7a1e"), strict=False):
            drawn = [p for p in points if p[key] > 0]
            sizes, values = [p["size"] for p in drawn], [p[key] / unit for p in drawn]
            slope = exponent(points, key)
            legend = f"{name}: {slope:.1f}" if slope is not None else name
            ax.loglog(sizes, values, "o-", color=color, markersize=4, linewidth=1.5, label=legend)
        sizes = sorted({p["size"] for points in sides.values() for p in points})
        ax.set_xticks(sizes[:: max(1, len(sizes) // 4)])
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
        ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        low, high = ax.get_ylim()
        # Few powers of ten: label numbers between them too.
        ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high < 50 * low else (1.0,)))
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.yaxis.set_minor_formatter(NullFormatter())
        ax.set_xlabel(curve.axis)
        ax.set_ylabel(label)
        ax.grid(alpha=0.25, which="major")
        # Above the lines.
        place = {"loc": "lower left", "bbox_to_anchor": (-0.02, 0.98), "frameon": False}
        ax.legend(title="side: exponent", alignment="left", fontsize=8, title_fontsize=8, **place)
    figure.suptitle(curve.title, fontsize=11)
    figure.savefig(PICTURES / f"{curve.key}.svg", metadata={"Date": None})
    plt.close(figure)


def page(record: dict) -> str:
    """The page of all curves."""
    lines = [
        "# Scaling",
        "",
        "Time and memory by problem size, for kernsift and other programs; written by `make scaling`.",
        "Every point is a separate process, best of three, with the same number of threads. Memory is the",
        "peak beyond the data. Sizes increase until a point takes some seconds. An exponent is the slope",
        "through the larger half of the sizes on logarithmic axes: 1 is linear, 2 quadratic.",
        "",
        "| varied | program | largest size | time | memory | exponent of time | exponent of memory |",
        "|---|---|---|---|---|---|---|",
    ]
    for curve in CURVES:
        for side, points in record[curve.key].items():
            last = points[-1]
            cells = [
                f"{curve.title}: {curve.axis}",
                side,
                f"{last['size']:,}",
                f"{last['seconds']:.2f} s",
                f"{last['extra_bytes'] / 2**20:.0f} MiB",
                shown(exponent(points, "seconds")),
                shown(exponent(points, "extra_bytes")),
            ]
            lines.append(f"| {' | '.join(cells)} |")
    if TALL_RECORD.exists():
        lines += tall_table(json.loads(TALL_RECORD.read_text(encoding="utf-8")))
    for curve in CURVES:
        lines += ["", f"![{curve.title}, by {curve.axis}](pictures/scaling/{curve.key}.svg)"]
    return "\n".join(lines) + "\n"


def main() -> None:
    if sys.argv[1:2] == ["--point"]:
        warnings.simplefilter("ignore")
        key, side, size = sys.argv[2:5]
        curve = next(curve for curve in CURVES if curve.key == key)
        with tempfile.TemporaryDirectory() as folder:
            measure([curve.sides[side](int(size))], Path(folder) / "answer.npz")
        return
    if sys.argv[1:2] == ["--tall"]:
        TALL_RECORD.write_text(json.dumps(tall(sys.argv[2], sys.argv[3:]), indent=1) + "\n", encoding="utf-8")
    if sys.argv[1:2] in (["--page"], ["--tall"]):
        record = json.loads(RECORD.read_text(encoding="utf-8"))
    else:
        record = run(sys.argv[1:])
    RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    PICTURES.mkdir(parents=True, exist_ok=True)
    for curve in CURVES:
        draw(curve, record[curve.key])
    (DOCS / "scaling.md").write_text(page(record), encoding="utf-8")
    print("docs/scaling.md")


if __name__ == "__main__":
    main()
