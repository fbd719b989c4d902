"""Fits to a table larger than memory: by one process in passes, and by a Dask cluster of two workers.

    python benchmarks/cluster.py PROGRAM FOLDER [TASK ...]   measures by the command line PROGRAM
    python benchmarks/cluster.py --page                      only writes docs/cluster.md

FOLDER gets a Parquet file of 10 million rows and 50 features, 3.8 GiB, and one of a tenth of the rows,
once. The command line has a memory limit of 1 GiB; the cluster has two worker processes of one thread and
1.5 GiB each. Every fit is a process of its own.
"""

from __future__ import annotations

import json
import math
import re
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from side import child
from tasks import THREADS

HERE = Path(__file__).resolve().parent
RECORD = HERE / "records" / "cluster.json"
PAGE = HERE.parent / "docs" / "cluster.md"
ROWS, COLUMNS, GROUP = 10_000_000, 50, 1 << 17
#: Rows of a block of 50 features.
BLOCK = 1 << 15
LIMIT = "1G"
#: Seconds after which a fit is stopped.
TIMEOUT = 3600.0
#: Numbers that a block sends in all rounds but those of KOBL: the formulas of docs/passes.md for two classes.
NUMBERS = {
    "Fisher score": 5 * COLUMNS,
    "information gain": 1024 * 2 * COLUMNS,
    "interactions": (2 + 4 * 2 * COLUMNS) ** 2 + (2 * COLUMNS) ** 2 + 5 * (2 + 4 * 2 + 4) ** 2,
    "HSIC Lasso, blocks of 20": 3 * COLUMNS + COLUMNS**2,
}
#: Numbers that a block of KOBL sends in a round.
OF_CANDIDATES = 128 * COLUMNS
#: The simulated cluster: workers and rows, bytes per second and seconds of delay of its network.
WORKERS, MANY_ROWS = 100, 1_000_000_000
#: 10 Gbit/s and 1 ms.
BANDWIDTH, DELAY = 1.25e9, 1e-3

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


def make_table(path: Path, n: int) -> None:
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
        for first in range(0, n, GROUP):
            x = rng.normal(size=(min(GROUP, n - first), COLUMNS))
            signal = 1.5 * np.sign(x[:, 0] * x[:, 1]) + x[:, 2] + 0.7 * (x[:, 3] ** 2 - 1)
            y = (signal + rng.normal(size=len(x)) > 0).astype(np.int64)
            file.write_table(pa.table([*x.T, y], names=[*names, "class"]))
    partial.rename(path)


def by_program(program: str, path: Path, arguments: list[str]) -> dict[str, Any]:
    command, *rest = arguments
    limit = [] if path.stem == "tenth" else ["--memory-limit", LIMIT]
    common = ["--json", "-v", "--threads", "2", "--target", "class", *limit]
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
    passes = max((int(number) for number in re.findall(r"pass (\d+)", answer.stderr)), default=0)
    result = {"seconds": seconds, "peak": peak, "rows": sample["n_used"], "passes": passes}
    return {**result, "found": answer_of(found)}


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
            rows, found = ROWS, f_test(table)
        seconds = time.perf_counter() - start
        of_workers = list(client.run(used).values())
    client_peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "seconds": seconds,
        "worker": max(peak for peak, _ in of_workers),
        "client": client_peak,
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


def f_test(table: Any) -> list[str]:
    """SelectKBest with the F test, by chunks: what a Dask user writes without this package."""
    import dask
    import pandas as pd

    def sums(part: pd.DataFrame) -> pd.DataFrame:
        groups = [(c, x.drop(columns="class")) for c, x in part.groupby("class")]
        rows = [(c, len(x), x.sum().to_numpy(), (x**2).sum().to_numpy()) for c, x in groups]
        return pd.DataFrame(rows, columns=["class", "n", "sum", "squares"])

    parts = pd.concat(dask.compute(*map(dask.delayed(sums), table.to_delayed())))
    total = parts.groupby("class")[["n", "sum", "squares"]].sum()
    n, s, squares = (np.stack(total[name].to_list()) for name in ("n", "sum", "squares"))
    between = (s**2 / n[:, None]).sum(0) - s.sum(0) ** 2 / n.sum()
    within = squares.sum(0) - (s**2 / n[:, None]).sum(0)
    return sorted(f"x{j}" for j in np.argsort(-between / within)[:4])


HEAD = f"""# Tables larger than memory, measured

Written by `python benchmarks/cluster.py`; the record is `benchmarks/records/cluster.json`. A Parquet file
of {ROWS:,} rows and {COLUMNS} features, 3.8 GiB. The class depends on x0 and x1 jointly, on x2, and on
the square of x3.

*One process*: the command line with two threads and `--memory-limit {LIMIT}`. *Cluster*: two worker
processes with one thread and 1.5 GiB each, on the same two cores, by `kernsift.dask`. *A tenth*: the
command line on a tenth of the rows, in memory. Peaks are resident memory in MiB, of the largest worker
and of the process of client and scheduler. Rows are those that the fit used: all, or those of a
[sample](passes.md#other-methods). The first pass, which decides what the columns are, is not counted.
The samples of the process and of the cluster have different sizes, so their answers may differ.

| | passes | process, s | peak | rows | cluster, s | worker | client | rows | same | a tenth, s | peak |
|---|---|---|---|---|---|---|---|---|---|---|---|
"""

MOVED = """
## What moves

Results of all blocks by the formulas of [Passes](passes.md#how-it-works), and what the workers of the
cluster report to have sent each other, in MiB. Results of a worker's own blocks stay there. What is sent
beyond the results are parts of the table and of the target that Dask moves to an idle worker.

| | results by formula | sent between workers |
|---|---|---|
"""

SIMULATED = f"""
## A larger cluster, simulated

{MANY_ROWS:,} rows on {WORKERS} workers of one thread, with the measured time of a block, 10 Gbit/s and 1
ms of delay: in each pass a worker computes its share of the blocks, and results are added in groups of 16
on each level of a tree. Reading is part of the time of a block.

| | seconds of a block | blocks of a worker | passes | computing, s | moving, s |
|---|---|---|---|---|---|
"""


def results(name: str, passes: int, n: int) -> float:
    """Bytes of the results of all blocks of n rows; for KOBL in all passes."""
    numbers = NUMBERS.get(name, OF_CANDIDATES * passes)
    return 8.0 * numbers * math.ceil(n / BLOCK)


def simulated(name: str, process: dict[str, Any]) -> list[str]:
    """A row of the table of the simulated cluster."""
    blocks, passes = math.ceil(ROWS / BLOCK), process["passes"]
    # The first pass over the file takes about as long as another one.
    seconds = 2 * process["seconds"] / ((passes + 1) * blocks)
    mine = math.ceil(math.ceil(MANY_ROWS / BLOCK) / WORKERS)
    levels = math.ceil(math.log(math.ceil(MANY_ROWS / BLOCK), 16))
    of_block = results(name, passes, BLOCK) / passes
    # A task receives 16 results; those of a level are added at the same time as far as there are workers.
    groups = [max(1.0, MANY_ROWS / BLOCK / 16**level / WORKERS) for level in range(1, levels + 1)]
    moving = passes * sum(16 * of_block / BANDWIDTH * group + DELAY for group in groups)
    return [f"{seconds:.3f}", str(mine), str(passes), f"{passes * mine * seconds:.0f}", f"{moving:.2f}"]


def row(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |\n"


def page(record: dict[str, Any]) -> str:
    text, moved, larger = HEAD, MOVED, SIMULATED
    for name, entry in record.items():
        one, tenth, many = entry.get("process"), entry.get("tenth"), entry["cluster"]
        of_cluster = [f"{many['seconds']:.0f}", f"{many['worker']:.0f}", f"{many['client']:.0f}"]
        of_cluster.append(f"{many['rows']:,}")
        if one is None:
            text += row([name, *[""] * 4, *of_cluster, "", "", ""])
            moved += row([name, "", f"{many['moved']:.1f}"])
            continue
        of_process = [f"{one['seconds']:.0f}", f"{one['peak']:.0f}", f"{one['rows']:,}"]
        same = "yes" if one["found"] == many["found"] else "**no**"
        of_tenth = [f"{tenth['seconds']:.0f}", f"{tenth['peak']:.0f}"]
        passes = str(one["passes"] or "sample")
        text += row([name, passes, *of_process, *of_cluster, same, *of_tenth])
        in_passes = bool(one["passes"])
        sent = f"{results(name, one['passes'], ROWS) / 2**20:.1f}" if in_passes else ""
        moved += row([name, sent, f"{many['moved']:.1f}"])
        if in_passes:
            larger += row([name, *simulated(name, one)])
    text += "\nFound by the process and by the cluster:\n\n"
    for name, entry in record.items():
        found = [entry[side]["found"] for side in ("process", "cluster") if side in entry]
        text += f"- {name}: {'; '.join(dict.fromkeys(', '.join(each) for each in found))}\n"
    return text + moved + larger


def main(arguments: list[str]) -> None:
    if arguments[0] == "--cluster":
        print(json.dumps(by_cluster(Path(arguments[1]), arguments[2])))
        return
    record = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    if arguments[0] == "--process":
        print(json.dumps(by_program(arguments[1], Path(arguments[2]), json.loads(arguments[3]))))
        return
    if arguments[0] != "--page":
        program, folder = str(Path(arguments[0]).resolve()), Path(arguments[1]).resolve()
        path, tenth = folder / "large.parquet", folder / "tenth.parquet"
        for file, n in ((path, ROWS), (tenth, ROWS // 10)):
            if not file.exists():
                make_table(file, n)
        for name in arguments[2:] or TASKS:
            command, estimator = TASKS[name]
            entry = {}
            if command:
                entry["process"] = measured(["--process", program, str(path), json.dumps(command)])
                entry["tenth"] = measured(["--process", program, str(tenth), json.dumps(command)])
            entry["cluster"] = measured(["--cluster", str(path), estimator])
            record[name] = entry
            print(name, entry, flush=True)
            record = {name: record[name] for name in TASKS if name in record}
            RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page(record), encoding="utf-8")


def measured(arguments: list[str]) -> dict[str, Any]:
    """The measurements of this program in a process of its own."""
    found, wrong = child([__file__, *arguments], THREADS, TIMEOUT)
    if found is None or wrong:
        raise RuntimeError(wrong or f"not done in {TIMEOUT} s")
    return found


if __name__ == "__main__":
    main(sys.argv[1:])
