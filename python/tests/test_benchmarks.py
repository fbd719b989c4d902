"""Evaluation of benchmark measurements: ratios, targets, slopes. Nothing is timed here."""

import importlib
import json
import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def benchmarks(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    yield importlib.import_module
    for name in ("page", "scaling", "side", "run", "calibration_page", "accuracy_page"):
        sys.modules.pop(name, None)


def record(**parts):
    return {
        "task": "A",
        "size": "2 x 3",
        "peer": "other",
        "threads": 2,
        "wanted": {},
        "ours": {"seconds": 0.5, "extra_bytes": 2**20},
        "theirs": {"seconds": 2.0, "extra_bytes": 2**24},
        **parts,
    }


def test_ratios_and_targets(benchmarks):
    page = benchmarks("page")
    assert page.ratios(record()) == {"ratio": 4.0, "memory_share": 1 / 16}
    for wanted, met in [
        ({"ratio": 4.0}, True),
        ({"ratio": 4.1}, False),
        ({"ratio": 1.0, "memory_share": 1 / 16}, True),
        ({"memory_share": 1 / 20}, False),
        ({"seconds": 0.4}, False),
        ({"seconds": 0.5, "bytes": 2**20}, True),
        ({"bytes": 2**19}, False),
        # A target without a measurement is not met.
        ({"quality": 0.9}, False),
    ]:
        assert page.is_met(record(wanted=wanted, quality_of="residual")) is met, wanted
    assert page.is_met(record(wanted={"quality": 0.9}, quality=0.8, quality_of="residual"))
    # If our side timed out, no target is met; if the peer timed out, the ratio is a bound.
    assert not page.is_met(record(ours={"more_than": 200.0}, wanted={"seconds": 500}))
    stopped = record(theirs={"more_than": 200.0}, wanted={"ratio": 50.0})
    assert page.is_met(stopped) and page.ratio(stopped) == "at least 400"
    assert "more than 200 s" in page.line(stopped)


def test_quick_sides_alternate(benchmarks):
    run, page = benchmarks("run"), benchmarks("page")
    seconds = iter([1.0, 4.0, 0.5, 5.0, 2.0, 3.0])
    sides = []

    def side(name):
        sides.append(name)
        return {"seconds": next(seconds), "extra_bytes": 1}

    found = run.alternate(side)
    assert sides == ["ours", "theirs"] * 3
    assert (found["ours"]["seconds"], found["theirs"]["seconds"]) == (0.5, 3.0)
    assert found["ratios"] == [1.5, 4.0, 10.0]
    assert page.ratio(record(**found)) == "6.0 (1.50 to 10.0)"
    # A side that timed out is not run again.
    stopped = run.alternate(lambda name: {"more_than": 200.0} if name == "theirs" else {"seconds": 1.0})
    assert stopped == {"ours": {"seconds": 1.0}, "theirs": {"more_than": 200.0}}


def test_a_page_has_a_line_per_task(benchmarks):
    page = benchmarks("page")
    tasks = [
        record(wanted={"ratio": 5.0}, agree=True, agreement="optima to 1e-6"),
        record(task="B", theirs=None, peer="", wanted={"seconds": 60}),
        record(task="C", theirs={"seconds": 9.0, "extra_bytes": 0, "carried_from": [200, 400]}),
        record(task="D", agree=False, agreement=""),
    ]
    for task in tasks:
        if task["theirs"] is None:
            del task["theirs"]
    versions = {"numpy": "2.0"}
    text = page.page(
        {"date": "2026-01-01", "version": "1", "threads": 2, "versions": versions, "tasks": tasks}
    )
    lines = [line for line in text.splitlines() if line.startswith("| ")][1:]
    assert len(lines) == 4
    assert "5.0: **missed**" in lines[0] and "yes: optima to 1e-6" in lines[0]
    assert "60 s: **met**" in lines[1]
    assert "9.00 s, extrapolated" in lines[2] and "those at 200 and 400 features" in text
    assert lines[3].endswith("| NO |")


def test_exponents_are_slopes(benchmarks):
    exponent = benchmarks("scaling").exponent
    sizes = [100, 200, 400, 800, 1600, 3200]
    points = [{"size": n, "seconds": 1e-3 + 1e-7 * n**2} for n in sizes]
    # The start of the program dominates small sizes, which are not used.
    assert 1.9 < exponent(points, "seconds") < 2.01
    assert exponent([{"size": n, "seconds": 3.0 * n} for n in sizes[:3]], "seconds") == pytest.approx(1)
    assert exponent(points[:2], "seconds") is None
    assert exponent([{"size": n, "extra_bytes": 0} for n in sizes], "extra_bytes") is None


def test_task_names_are_unique_and_the_page_is_current(benchmarks):
    tasks, page = benchmarks("tasks"), benchmarks("page")
    known = tasks.all_tasks()
    assert len(known) > 25 and all(
        task.theirs or task.extrapolation or task.seconds for task in known.values()
    )
    newest = max((FOLDER / "records").glob("2*.json"))
    kept = json.loads(newest.read_text(encoding="utf-8"))
    assert {(r["task"], r["size"]) for r in kept["tasks"]} == {task.task_key for task in known.values()}
    docs = FOLDER.parent / "docs"
    assert (docs / "speed.md").read_text(encoding="utf-8") == page.page(kept)
    scaling = benchmarks("scaling")
    points = json.loads(scaling.RECORD.read_text(encoding="utf-8"))
    assert (docs / "scaling.md").read_text(encoding="utf-8") == scaling.page(points)


def test_the_calibration_page_is_current(benchmarks):
    found = benchmarks("calibration_page")
    records = found.read(FOLDER / "records" / "calibration.jsonl")
    page = found.page(records, found.read(found.POWER))
    assert (FOLDER.parent / "docs" / "calibration.md").read_text(encoding="utf-8") == page


def test_the_accuracy_page_is_current(benchmarks):
    found = benchmarks("accuracy_page")
    with (FOLDER / "records" / "accuracy.jsonl").open(encoding="utf-8") as file:
        page = found.page([json.loads(line) for line in file])
    assert (FOLDER.parent / "docs" / "accuracy.md").read_text(encoding="utf-8") == page


def test_the_page_of_the_cluster_is_current(benchmarks):
    found = benchmarks("cluster")
    record = json.loads(found.RECORD.read_text(encoding="utf-8"))
    assert (FOLDER.parent / "docs" / "cluster.md").read_text(encoding="utf-8") == found.page(record)


def test_rates_beyond_two_standard_errors_are_marked(benchmarks):
    found = benchmarks("calibration_page")

    def tables(false):
        design = {"n": 200, "d": 100, "rho": 0.5, "kind": "class"}
        # Every other draw has false positives: the standard error of 100 draws is 0.5 false / 10.
        rates = [{f"a; {q}": [false * (i % 2), 0.75] for q in (0.1, 0.2)} for i in range(100)]
        return found.rate_tables([{**design, "rates": r} for r in rates])

    # 0.11 is at most 0.1 and two standard errors; 0.15 is not.
    assert "0.110 ± 0.011 | 0.75 | 0.110 ± 0.011 | 0.75 | yes" in tables(0.22)
    assert "0.150 ± 0.015 | 0.75 | 0.150 ± 0.015 | 0.75 | **no**" in tables(0.3)


def test_numpy_implementations_are_right(benchmarks):
    """The numpy implementations agree with the definitions."""
    kernels = importlib.import_module("tasks.kernels")
    x = np.random.default_rng(0).normal(size=(40, 3))
    gram = np.exp(-0.3 * ((x[:, None] - x[None]) ** 2).sum(axis=2))
    np.testing.assert_allclose(kernels.numpy_gram(x, 0.3), gram, atol=1e-12)
    factor, pivots = kernels.numpy_kobl(x, 0.3, 40)
    np.testing.assert_allclose(factor @ factor.T, gram, atol=1e-8)
    assert sorted(pivots) == list(range(40))
