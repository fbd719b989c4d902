"""Fits to a table larger than memory: by one process in passes, and by a Dask cluster of two workers.

    python benchmarks/cluster.py PROGRAM FOLDER [TASK ...]   measures by the command line PROGRAM
    python benchmarks/cluster.py --page                      only writes docs/cluster.md

FOLDER gets a Parquet file of 10 million rows and 50 features, 3.8 GiB, once. The command line has a memory
limit of 1.5 GiB; the cluster has two worker processes of one thread and 1.5 GiB each. Every fit is a process
of its own.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
RECORD = HERE / "records" / "cluster.json"
PAGE = HERE.parent / "docs" / "cluster.md"
ROWS, COLUMNS, GROUP = 10_000_000, 50, 1 << 17
LIMIT = "1536M"
RELEVANT = ["x0", "x1", "x2", "x3"]

#: Arguments of the command line, and the estimator of `kernsift.dask`.
TASKS: dict[str, tuple[list[str], str]] = {
    "Fisher score": (["select", "-m", "fisher", "-k", "4"], "FisherScore(4)"),
    "information gain": (["select", "-m", "information-gain", "-k", "4"], "InformationGain(4)"),
    "interactions": (
        ["interactions", "--set", "n_functions=2", "-k", "5"],
        "InteractionScreen(n_functions=2, n_pairs=5, random_state=0)",
    ),
    "KOBL, 200 components": (
        ["basis", "-m", "kobl:pivoting=random", "-k", "200", "--scale", "none", "--set", "gamma=0.005"],
        "KOBL(200, pivoting='random', gamma=0.005, random_state=0)",
    ),
    "HSIC Lasso, blocks of 20": (
        ["select", "-m", "hsic-lasso:block_size=20,permutations=1", "-k", "4"],
        "HSICLasso(4, block_size=20, permutations=1, random_state=0)",
    ),
    "HSFS": (["select", "-m", "hsfs", "-k", "4"], "HSFS(4, random_state=0)"),
    "ReliefF": (["select", "-m", "relief", "-k", "4"], "ReliefF(4, random_state=0)"),
    "automatic selector": (["select", "-m", "auto"], "AutoSelector(random_state=0)"),
    "F test, plain Dask": ([], ""),
}


def make_table(path: Path) -> None:
    """The class depends on x0 and x1 jointly, on x2, and on the square of x3."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    names = [f"x{j}" for j in range(COLUMNS)]
    types = [(name, pa.float64()) for name in names]
    partial = path.with_suffix(".partial")
    with pq.ParquetWriter(
        partial, pa.schema([*types, ("class", pa.int64())]), compression="none", use_dictionary=False
    ) as file:
        for first in range(0, ROWS, GROUP):
            x = rng.normal(size=(min(GROUP, ROWS - first), COLUMNS))
            signal = 1.5 * np.sign(x[:, 0] * x[:, 1]) + x[:, 2] + 0.7 * (x[:, 3] ** 2 - 1)
            y = (signal + rng.normal(size=len(x)) > 0).astype(np.int64)
            file.write_table(pa.table([*x.T, y], names=[*names, "class"]))
    partial.rename(path)


def by_program(program: str, path: Path, arguments: list[str]) -> dict[str, Any]:
    command, *rest = arguments
    common = ["--json", "--memory-limit", LIMIT, "--threads", "2", "--target", "class"]
    start = time.perf_counter()
    answer = subprocess.run(
        [program, command, str(path), *rest, *common], capture_output=True, check=False, text=True
    )
    seconds = time.perf_counter() - start
    if answer.returncode:
        raise RuntimeError(answer.stderr)
    found = json.loads(answer.stdout)
    # On Linux in KiB; a process of its own, so the largest child is this one.
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    sample = found["data"].get("sample", {"n_used": found["data"]["rows"]})
    return {"seconds": seconds, "peak": peak, "rows": sample["n_used"], "found": answer_of(found)}


def answer_of(found: dict[str, Any]) -> list[str]:
    """What was selected: features, pairs, or the pivots' residual cost."""
    if "pairs" in found:
        return [" ".join(pair["features"]) for pair in found["pairs"][:1]]
    if "n_components" in found:
        return [f"{found['n_components']} components, cost {found['reconstruction_cost']:.12g}"]
    return sorted(found["selected"])


def by_cluster(path: Path, estimator: str) -> dict[str, Any]:
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    from kernsift import dask as on_dask

    def used(dask_worker: Any) -> tuple[float, int]:
        return (
            resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            int(dask_worker.transfer_outgoing_bytes_total),
        )

    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit="1.5GiB", dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        start = time.perf_counter()
        table = dd.read_parquet(path, split_row_groups=True)
        X, y = table[[f"x{j}" for j in range(COLUMNS)]], table["class"]
        if estimator:
            fitted = eval(f"on_dask.{estimator}", {"on_dask": on_dask}).fit(X, y)
            rows = getattr(fitted, "n_samples_drawn_", ROWS)
            found = answer_of_fit(fitted)
        else:
            rows, found = ROWS, f_test(X, y)
        seconds = time.perf_counter() - start
        of_workers = list(client.run(used).values())
    scheduler = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "seconds": seconds,
        "worker": max(peak for peak, _ in of_workers),
        "scheduler": scheduler,
        "moved": sum(moved for _, moved in of_workers) / 2**20,
        "rows": rows,
        "found": found,
    }


def answer_of_fit(fitted: Any) -> list[str]:
    if hasattr(fitted, "pairs_"):
        return [" ".join(fitted.feature_names_in_[fitted.pairs_[0]])]
    if hasattr(fitted, "pivots_"):
        cost = fitted.reconstruction_cost_
        return [f"{fitted.n_components_} components, cost {cost:.12g}"]
    return sorted(fitted.get_feature_names_out().tolist())


def f_test(X: Any, y: Any) -> list[str]:
    """SelectKBest with the F test, by chunks: what a Dask user writes without this package."""
    import dask
    import pandas as pd

    def sums(x: pd.DataFrame, y: pd.Series) -> pd.DataFrame:
        parts = {c: x[y == c] for c in (0, 1)}
        rows = [(c, len(p), p.sum().to_numpy(), (p**2).sum().to_numpy()) for c, p in parts.items()]
        return pd.DataFrame(rows, columns=["class", "n", "sum", "squares"])

    blocks = zip(X.to_delayed(), y.to_delayed(), strict=True)
    parts = pd.concat(dask.compute(*(dask.delayed(sums)(a, b) for a, b in blocks)))
    total = parts.groupby("class")[["n", "sum", "squares"]].sum()
    n, s, squares = (np.stack(total[name].to_list()) for name in ("n", "sum", "squares"))
    between = (s**2 / n[:, None]).sum(0) - s.sum(0) ** 2 / n.sum()
    within = squares.sum(0) - (s**2 / n[:, None]).sum(0)
    scores = between / within * (n.sum() - len(n))
    return sorted(f"x{j}" for j in np.argsort(-scores)[:4])


HEAD = f"""# Tables larger than memory, measured

Written by `python benchmarks/cluster.py`; the record is `benchmarks/records/cluster.json`. A Parquet file
of {ROWS:,} rows and {COLUMNS} features, 3.8 GiB. The class depends on x0 and x1 jointly, on x2, and on the
square of x3.

*One process*: the command line with two threads and `--memory-limit {LIMIT}`. *Cluster*: two worker
processes with one thread and 1.5 GiB each, on the same two cores, by `kernsift.dask`. Peaks are resident
memory in MiB, of the largest worker and of the process of client and scheduler; *moved* is MiB between
workers. Rows are those that the fit used: all, or those of a [sample](passes.md#other-methods).

| | process, s | peak | rows | cluster, s | worker peak | client peak | moved | rows | same |
|---|---|---|---|---|---|---|---|---|---|
"""


def page(record: dict[str, Any]) -> str:
    lines = []
    for name, entry in record.items():
        one, many = entry.get("process"), entry.get("cluster")
        cells = [f"{one['seconds']:.0f}", f"{one['peak']:.0f}", f"{one['rows']:,}"] if one else ["", "", ""]
        cells += [
            f"{many['seconds']:.0f}",
            f"{many['worker']:.0f}",
            f"{many['scheduler']:.0f}",
            f"{many['moved']:.1f}",
            f"{many['rows']:,}",
        ]
        same = "" if one is None else "yes" if one["found"] == many["found"] else "**no**"
        lines.append(f"| {name} | " + " | ".join(cells) + f" | {same} |")
    lines += ["", "Found by the process and by the cluster:", ""]
    for name, entry in record.items():
        found = [entry[side]["found"] for side in ("process", "cluster") if side in entry]
        texts = list(dict.fromkeys(", ".join(each) for each in found))
        lines.append(f"- {name}: {'; '.join(texts)}")
    return HEAD + "\n".join(lines) + "\n"


def main(arguments: list[str]) -> None:
    if arguments[0] == "--cluster":
        print(json.dumps(by_cluster(Path(arguments[1]), arguments[2])))
        return
    record = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    if arguments[0] == "--process":
        print(json.dumps(by_program(arguments[1], Path(arguments[2]), json.loads(arguments[3]))))
        return
    if arguments[0] != "--page":
        program, path = arguments[0], Path(arguments[1]) / "large.parquet"
        if not path.exists():
            make_table(path)
        for name in arguments[2:] or TASKS:
            command, estimator = TASKS[name]
            entry = {}
            if command:
                entry["process"] = child(["--process", program, str(path), json.dumps(command)])
            entry["cluster"] = child(["--cluster", str(path), estimator])
            record[name] = entry
            print(name, entry, flush=True)
            record = {name: record[name] for name in TASKS if name in record}
            RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page(record), encoding="utf-8")


def child(arguments: list[str]) -> dict[str, Any]:
    """The result of this program in a process of its own."""
    found = subprocess.run(
        [sys.executable, __file__, *arguments], stdout=subprocess.PIPE, check=True, text=True
    )
    answer: dict[str, Any] = json.loads(found.stdout.splitlines()[-1])
    return answer


if __name__ == "__main__":
    main(sys.argv[1:])
