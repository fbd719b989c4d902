"""Whether p-values, knockoffs and stability selection keep what they promise, on draws with known truth.

Runs what is missing in records/calibration.jsonl and writes docs/calibration.md.

    python benchmarks/calibration.py               # 200 draws of every design
    python benchmarks/calibration.py --minutes 10  # stop after ten minutes of CPU time; run again to resume
    python benchmarks/calibration.py --page        # only write the page
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
import warnings
from pathlib import Path
from typing import Any

import calibration_page
import numpy as np
from sklearn.feature_selection import SelectFdr, f_classif, f_regression

from kernsift import FisherScore, HSICLasso, KnockoffSelector, SelectSignificant, StabilitySelector, _native

RECORD = Path(__file__).resolve().parent / "records" / "calibration.jsonl"
#: Features with a linear and with a quadratic effect; levels of the false discovery rate.
N_LINEAR, N_QUADRATIC, LEVELS = 15, 5, (0.1, 0.2)
N_RELEVANT = N_LINEAR + N_QUADRATIC
#: Samples, features, correlation of neighbors, type of the target.
DESIGNS = list(itertools.product((200, 1000), (100, 1000), (0.0, 0.5), ("class", "number")))
#: Thresholds whose frequency under the null is recorded.
THRESHOLDS = (0.001, 0.01, 0.05)
#: Draws that are made of one design before the next one.
ROUND = 10
#: Of the quick parts; `PARTS` has the numbers of the others.
DRAWS = 200


def features(n: int, d: int, rho: float, rng: np.random.Generator) -> np.ndarray:
    """Two independent chains of normal features, in which neighbors have the correlation `rho`."""
    X = rng.normal(size=(n, d))
    for j in sorted(set(range(1, d)) - {d // 2}):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    return X


def target(X: np.ndarray, relevant: np.ndarray, kind: str, rng: np.random.Generator) -> np.ndarray:
    """A sum of linear and quadratic effects, and noise; or the class of rows above its median."""
    linear, quadratic = np.split(relevant, [N_LINEAR])
    score = X[:, linear].sum(axis=1) + (X[:, quadratic] ** 2 - 1).sum(axis=1) / np.sqrt(2)
    score += rng.normal(size=len(X))
    return (score > np.median(score)).astype(int) if kind == "class" else score


class Draw:
    """A draw of a design; relevant features are in the first chain."""

    def __init__(self, n: int, d: int, rho: float, kind: str, seed: int) -> None:
        self.seed, self.kind = seed, kind
        self.rng = np.random.default_rng([seed, n, d, int(10 * rho), kind == "class"])
        self.X = features(n, d, rho, self.rng)
        self.relevant = self.rng.choice(d // 2, N_RELEVANT, replace=False)
        self.y = target(self.X, self.relevant, kind, self.rng)
        #: A target that no feature has to do with.
        self.null = target(features(n, 50, rho, self.rng), np.arange(N_RELEVANT), kind, self.rng)
        self.mask = np.zeros(d, dtype=bool)
        self.mask[self.relevant] = True
        #: Features on which the target depends: of a chain with correlations, all.
        self.dependent = self.mask if rho == 0 else np.arange(d) < d // 2

    def rates(self, support: np.ndarray, allowed: np.ndarray) -> list[float]:
        """The fraction of false positives, and of relevant features that are selected."""
        false = (support & ~allowed).sum() / max(1, support.sum())
        return [round(float(false), 4), round(float(support[self.mask].mean()), 4)]

    def tests(self) -> dict[str, Any]:
        """Null p-values, and rates of the Benjamini-Hochberg correction."""
        out: dict[str, Any] = {"null": {}, "exceeded": {}, "rates": {}}
        one = self.rng.integers(self.X.shape[1])
        for statistic in ("cosine", "hsic"):
            test = SelectSignificant(statistic=statistic, target_type=self.kind, n_jobs=1)
            # HSIC takes longer, and every tenth feature of 1000 is as good.
            step = 10 if statistic == "hsic" and self.X.shape[1] == 1000 else 1
            p = test.fit(self.X[:, one % step :: step], self.null).pvalues_
            out["null"][statistic] = float(p[one // step])
            out["exceeded"][statistic] = [len(p), *(int((p <= t).sum()) for t in THRESHOLDS)]
            if statistic == "cosine" or step == 1:
                q = test.fit(self.X, self.y).qvalues_
                for level in LEVELS:
                    name = f"SelectSignificant, {statistic}"
                    out["rates"][f"{name}; {level}"] = self.rates(q <= level, self.dependent)
        permuted = SelectSignificant(
            permutations=199, target_type=self.kind, random_state=self.seed, n_jobs=1
        )
        p = permuted.fit(self.X[:, [one]], self.null).pvalues_
        out["null"]["cosine, 199 permutations"] = float(p[0])
        for level in LEVELS:
            peer = SelectFdr(f_classif if self.kind == "class" else f_regression, alpha=level)
            support = peer.fit(self.X, self.y).get_support()
            out["rates"][f"scikit-learn SelectFdr, F-test; {level}"] = self.rates(support, self.dependent)
        return out

    def knockoffs(self, estimator: Any, n_copies: int = 1) -> dict[str, Any]:
        """Rates of knockoffs at both levels: a single copy has one set of statistics for both."""
        out = {}
        name = f"KnockoffSelector, {type(estimator).__name__}"
        name += f", {n_copies} copies" if n_copies > 1 else ""
        for level in LEVELS if n_copies > 1 else LEVELS[:1]:
            found = KnockoffSelector(estimator, level, n_copies=n_copies, random_state=self.seed)
            found.fit(self.X, self.y)
            if n_copies > 1:
                out[f"{name}; {level}"] = self.rates(found.support_, self.mask)
        for level in LEVELS if n_copies == 1 else ():
            support = np.zeros(len(self.mask), dtype=bool)
            support[_native.knockoff_filter([found.scores_.tolist()], level)[0]] = True
            out[f"{name}; {level}"] = self.rates(support, self.mask)
        return {"rates": out}

    def stability(self) -> dict[str, Any]:
        """The number of false selections, its bound, and the fraction of relevant features selected."""
        found = StabilitySelector(FisherScore(N_RELEVANT), random_state=self.seed).fit(self.X, self.y)
        false = int((found.support_ & ~self.dependent).sum())
        return {
            "false": false,
            "bound": found.expected_false_,
            "power": self.rates(found.support_, self.mask)[1],
        }


#: The parts, with their number of draws for 100 and for 1000 features.
PARTS = {
    "tests": (Draw.tests, (DRAWS, DRAWS)),
    "knockoffs": (lambda draw: draw.knockoffs(FisherScore(n_jobs=1)), (DRAWS, DRAWS)),
    "knockoffs, 5 copies": (lambda draw: draw.knockoffs(FisherScore(n_jobs=1), 5), (DRAWS, 0)),
    "knockoffs, HSIC Lasso": (lambda draw: draw.knockoffs(HSICLasso(n_jobs=1)), (DRAWS, 50)),
    "stability": (Draw.stability, (DRAWS, 50)),
}


def missing(draws: int, parts: list[str], known: set[tuple]) -> Any:
    """The draws that have no record, a round of every design after the other."""
    for first in range(0, draws, ROUND):
        for (n, d, rho, kind), part in itertools.product(DESIGNS, parts):
            limit = min(draws, PARTS[part][1][d == 1000])
            for seed in range(first, min(first + ROUND, limit)):
                if (part, n, d, rho, kind, seed) not in known:
                    yield part, n, d, rho, kind, seed


def read() -> list[dict[str, Any]]:
    if not RECORD.exists():
        return []
    return [json.loads(line) for line in RECORD.read_text(encoding="utf-8").splitlines()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--page", action="store_true")
    args = parser.parse_args()
    known = {(r["part"], r["n"], r["d"], r["rho"], r["kind"], r["seed"]) for r in read()}
    start = time.process_time()
    todo = [] if args.page else missing(args.draws, args.parts, known)
    with warnings.catch_warnings(), RECORD.open("a", encoding="utf-8") as file:
        # Knockoffs warn if nothing is selected.
        warnings.simplefilter("ignore", UserWarning)
        for part, n, d, rho, kind, seed in todo:
            if time.process_time() - start > 60 * args.minutes:
                break
            before = time.process_time()
            found = PARTS[part][0](Draw(n, d, rho, kind, seed))
            design = {"part": part, "n": n, "d": d, "rho": rho, "kind": kind, "seed": seed}
            took = {"seconds": round(time.process_time() - before, 3)}
            file.write(json.dumps({**design, **found, **took}) + "\n")
            file.flush()
    calibration_page.write(read())


if __name__ == "__main__":
    main()
