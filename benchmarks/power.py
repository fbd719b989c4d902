"""Power of p-values, knockoffs and the screen of pairs beside other programs, on the same draws in one run.

Runs what is missing in records/power.jsonl; `calibration.py --page` writes it into docs/calibration.md. The
other programs are in requirements-power.txt.

    python benchmarks/power.py              # 20 draws of every truth
    python benchmarks/power.py --draws 2    # a short run
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LassoCV

RECORD = Path(__file__).resolve().parent / "records" / "power.jsonl"
#: The level of all methods but Boruta, whose level is that of each feature.
LEVEL = 0.2
JOBS = 2
#: The numbers of draws of slow programs.
SLOW = {"hidimstat ModelXKnockoff": 3, "Boruta": 5}
Answer = Any


@dataclass(frozen=True)
class Truth:
    """Two classes: whether a score of `k` features, and noise, is above its median."""

    title: str
    n: int
    d: int
    k: int
    noise: float
    score: Callable[[np.ndarray], np.ndarray]


TRUTHS = {
    "linear": Truth("Linear effects", 400, 100, 20, 2.0, lambda x: x.sum(axis=1)),
    "quadratic": Truth("Quadratic effects", 400, 100, 10, 1.0, lambda x: (x**2 - 1).sum(axis=1)),
    "products": Truth(
        "Effects of pairs of features", 600, 60, 8, 0.5, lambda x: (x[:, ::2] * x[:, 1::2]).sum(axis=1)
    ),
}


def make(truth: Truth, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Independent normal features, classes, and the mask of relevant features."""
    # A program that draws its copies by the same generator from `seed` would draw the data again.
    rng = np.random.default_rng([seed, truth.n, truth.d])
    x = rng.normal(size=(truth.n, truth.d))
    relevant = rng.choice(truth.d, truth.k, replace=False)
    score = truth.score(x[:, relevant]) + truth.noise * rng.normal(size=truth.n)
    mask = np.zeros(truth.d, dtype=bool)
    mask[relevant] = True
    return x, (score > np.median(score)).astype(int), mask


def knockoffs(estimator: Callable[[], Any]) -> Callable[..., Answer]:
    def run(x: np.ndarray, y: np.ndarray, seed: int) -> Answer:
        from kernsift import KnockoffSelector

        return KnockoffSelector(estimator(), LEVEL, random_state=seed).fit(x, y).support_

    return run


def kernsift_named(name: str, **options: Any) -> Callable[[], Any]:
    def make_one() -> Any:
        import kernsift

        return getattr(kernsift, name)(n_jobs=JOBS, **options)

    return make_one


def lasso() -> Any:
    return LassoCV(n_jobs=JOBS)


def forest() -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(500, n_jobs=JOBS)


def significant(x: np.ndarray, y: np.ndarray, seed: int) -> Answer:
    from kernsift import SelectSignificant

    return SelectSignificant(LEVEL, n_jobs=JOBS).fit(x, y).support_


def pairs(x: np.ndarray, y: np.ndarray, seed: int) -> Answer:
    from kernsift import InteractionScreen

    return InteractionScreen(method="bh", alpha=LEVEL, n_jobs=JOBS).fit(x, y).support_


def knockpy(statistic: str) -> Callable[..., Answer]:
    def run(x: np.ndarray, y: np.ndarray, seed: int) -> Answer:
        from knockpy.knockoff_filter import KnockoffFilter

        np.random.seed(seed)  # noqa: NPY002
        found = KnockoffFilter(ksampler="gaussian", fstat=statistic)
        return np.asarray(found.forward(X=x, y=y.astype(float), fdr=LEVEL)).astype(bool)

    return run


def hidimstat(**options: Any) -> Callable[..., Answer]:
    def run(x: np.ndarray, y: np.ndarray, seed: int) -> Answer:
        from hidimstat import ModelXKnockoff

        found = ModelXKnockoff(random_state=seed, n_jobs=JOBS, **options)
        found.fit_importance(x, y.astype(float))
        return np.asarray(found.fdr_selection(fdr=LEVEL)) > 0

    return run


def f_test(x: np.ndarray, y: np.ndarray, seed: int) -> Answer:
    from sklearn.feature_selection import SelectFdr, f_classif

    return SelectFdr(f_classif, alpha=LEVEL).fit(x, y).get_support()


def boruta(x: np.ndarray, y: np.ndarray, seed: int) -> Answer:
    from boruta import BorutaPy
    from sklearn.ensemble import RandomForestClassifier

    trees = RandomForestClassifier(max_depth=5, n_jobs=JOBS)
    return BorutaPy(trees, n_estimators=100, max_iter=50, random_state=seed).fit(x, y).support_


METHODS: dict[str, Callable[..., Answer]] = {
    "kernsift SelectSignificant (BH)": significant,
    "kernsift InteractionScreen (BH over pairs)": pairs,
    "kernsift KnockoffSelector, HSIC Lasso": knockoffs(kernsift_named("HSICLasso")),
    "kernsift KnockoffSelector, NCA": knockoffs(kernsift_named("NCASelector")),
    "kernsift KnockoffSelector, LassoCV": knockoffs(lasso),
    "kernsift KnockoffSelector, random forest": knockoffs(forest),
    "knockpy, lasso": knockpy("lasso"),
    "knockpy, random forest": knockpy("randomforest"),
    "hidimstat ModelXKnockoff": hidimstat(),
    "hidimstat ModelXKnockoff, LassoCV": hidimstat(estimator=lasso(), preconfigure_lasso_path=False),
    "scikit-learn SelectFdr, f_classif": f_test,
    "Boruta": boruta,
}


def measure(method: str, truth: Truth, seed: int) -> dict[str, Any]:
    """Power and false discoveries; or why there is no answer."""
    x, y, mask = make(truth, seed)
    try:
        # Some programs print progress.
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            support = METHODS[method](x, y, seed)
    except Exception as error:
        return {"failed": f"{type(error).__name__}: {error}"[:120]}
    false = (support & ~mask).sum() / max(1, support.sum())
    return {"power": round(float(support[mask].mean()), 4), "fdr": round(float(false), 4)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=20)
    args = parser.parse_args()
    known = set()
    if RECORD.exists():
        lines = map(json.loads, RECORD.read_text(encoding="utf-8").splitlines())
        known = {(r["truth"], r["method"], r["seed"]) for r in lines}
    warnings.simplefilter("ignore")
    with RECORD.open("a", encoding="utf-8") as file:
        for seed in range(args.draws):
            for name, truth in TRUTHS.items():
                facts = {"title": truth.title, "n": truth.n, "d": truth.d, "k": truth.k}
                for method in METHODS:
                    if seed < SLOW.get(method, args.draws) and (name, method, seed) not in known:
                        key = {"truth": name, "method": method, "seed": seed}
                        file.write(json.dumps({**key, **facts, **measure(method, truth, seed)}) + "\n")
                        file.flush()


if __name__ == "__main__":
    main()
