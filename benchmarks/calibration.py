"""Calibration of p-values, knockoffs and stability selection: writes docs/calibration.md.

    python benchmarks/calibration.py              # 200 draws of every design: hours
    python benchmarks/calibration.py --draws 5    # a short run

Null p-values should be uniform (Kolmogorov-Smirnov p-value above 0.01), the realized false discovery rate at
most q plus two standard errors, and the number of false selections of stability selection within its bound.
SelectFdr with the F-test of scikit-learn has the same draws, for comparison.
"""

import argparse
import itertools
import warnings
from pathlib import Path

import numpy as np
from scipy import stats
from sklearn.feature_selection import SelectFdr, f_classif, f_regression

from kernsift import (
    FisherScore,
    KnockoffSelector,
    MutualInformation,
    SelectSignificant,
    StabilitySelector,
)

PAGE = Path(__file__).parent.parent / "docs/calibration.md"
#: Relevant features, and the levels of false discovery rates.
N_RELEVANT, LEVELS = 20, (0.1, 0.2)
DESIGNS = list(itertools.product((200, 1000), (100, 1000), (0.0, 0.5), ("class", "number")))


def features(n, d, rho, rng):
    """Normal features; neighbors have the correlation `rho`."""
    X = rng.normal(size=(n, d))
    for j in range(1, d):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    return X


def target(X, relevant, kind, rng):
    """Half of the relevant features have a linear effect, the others a quadratic one."""
    linear, quadratic = np.array_split(relevant, 2)
    score = X[:, linear].sum(axis=1) + (X[:, quadratic] ** 2 - 1).sum(axis=1) / np.sqrt(2)
    score += rng.normal(size=len(X))
    return (score > np.median(score)).astype(int) if kind == "class" else score


def rates(support, dependent, relevant):
    """The fraction of false positives, and of relevant features that are selected."""
    false = support & ~dependent
    return false.sum() / max(1, support.sum()), support[relevant].mean()


def draw(n, d, rho, kind, seed):
    """The numbers of one draw: the null p-value, and rates by method and level."""
    rng = np.random.default_rng(seed)
    X = features(n, d, rho, rng)
    relevant = np.sort(rng.choice(d, N_RELEVANT, replace=False))
    y = target(X, relevant, kind, rng)
    mask = np.zeros(d, dtype=bool)
    mask[relevant] = True
    # Of correlated features, all depend on the target; only knockoffs ask for those that add something.
    alone = mask if rho == 0 else np.ones(d, dtype=bool)
    out = {}
    null = target(features(n, N_RELEVANT, rho, rng), np.arange(N_RELEVANT), kind, rng)
    for statistic in ("cosine", "hsic"):
        tested = SelectSignificant(statistic=statistic, target_type=kind).fit(X, null)
        # One p-value a draw: those of correlated features are not independent.
        out[f"null p-value, {statistic}"] = tested.pvalues_[rng.integers(d)]
        for q in LEVELS:
            found = SelectSignificant(q, statistic=statistic, target_type=kind).fit(X, y)
            out[f"SelectSignificant, {statistic}", q] = rates(found.support_, alone, relevant)
    for q in LEVELS:
        test = f_classif if kind == "class" else f_regression
        out["SelectFdr, F-test", q] = rates(SelectFdr(test, alpha=q).fit(X, y).get_support(), alone, relevant)
        forward = KnockoffSelector(_selector(kind), q, random_state=seed).fit(X, y)
        out["KnockoffSelector", q] = rates(forward.support_, mask, relevant)
    stable = StabilitySelector(_selector(kind, N_RELEVANT), random_state=seed).fit(X, y)
    false = (stable.support_ & ~alone).sum()
    out["stability: false selections"] = (false, stable.expected_false_)
    return out


def _selector(kind, count=None):
    if kind == "class":
        return FisherScore(n_features_to_select=count)
    return MutualInformation(n_features_to_select=count)


def summary(draws):
    """Lines of the table of a design."""
    lines = []
    for key in draws[0]:
        values = np.array([found[key] for found in draws], dtype=float)
        if isinstance(key, tuple):
            (fdr, power), (error, _) = values.mean(axis=0), values.std(axis=0) / np.sqrt(len(values))
            verdict = "yes" if fdr <= key[1] + 2 * error else "no"
            lines.append(f"{key[0]}, q = {key[1]} | FDR {fdr:.3f}, power {power:.2f} | {verdict}")
        elif key.startswith("null"):
            p = stats.kstest(values, "uniform").pvalue
            lines.append(f"{key} | Kolmogorov-Smirnov p = {p:.3f} | {'yes' if p > 0.01 else 'no'}")
        else:
            false, bound = values.mean(axis=0)
            lines.append(f"{key} | {false:.2f}, bound {bound:.2f} | {'yes' if false <= bound else 'no'}")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=200)
    n_draws = parser.parse_args().draws
    page = [
        "# Calibration\n",
        f"{n_draws} draws of each design, {N_RELEVANT} relevant features, by "
        f"`python benchmarks/calibration.py --draws {n_draws}`.\n",
        "| samples | features | correlation | target | number | value | as it should be |",
        "|---|---|---|---|---|---|---|",
    ]
    for n, d, rho, kind in DESIGNS:
        with warnings.catch_warnings():
            # Knockoffs warn if nothing is selected.
            warnings.simplefilter("ignore", UserWarning)
            draws = [draw(n, d, rho, kind, seed) for seed in range(n_draws)]
        page += [f"| {n} | {d} | {rho} | {kind} | {line} |" for line in summary(draws)]
        print(f"{n} x {d}, {rho}, {kind}", flush=True)
    PAGE.write_text("\n".join(page) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
