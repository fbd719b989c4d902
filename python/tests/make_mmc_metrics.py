"""Metrics of metric-learn's MMC, for test_xing.py to compare with.

metric-learn 0.7.0 does not run with scikit-learn 1.8 or later, so its results are stored in mmc_metrics.json.
This script computed them in a separate environment:

    pip install metric-learn==0.7.0 scikit-learn==1.7.2 numpy==2.4.6 scipy==1.17.1
    python make_mmc_metrics.py

For each data set and form MMC runs with its defaults and with 1000 iterations at a tolerance of 1e-6; the
metric whose value is larger is kept.
"""

import json
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.preprocessing import scale

FILE = Path(__file__).with_name("mmc_metrics.json")
SETS = {"wine": load_wine, "wdbc": load_breast_cancer}


def problem(name):
    """Standardized samples and 1500 triplets from a fixed seed."""
    X, y = SETS[name](return_X_y=True)
    rng = np.random.RandomState(0)
    triplets = []
    while len(triplets) < 1500:
        i, j, k = rng.randint(len(y), size=3)
        if i != j and y[i] == y[j] and y[i] != y[k]:
            triplets.append((i, j, k))
    return scale(X), np.array(triplets)


def pairs(triplets):
    """Similar and dissimilar pairs, each once."""
    return [np.unique(np.sort(triplets[:, [0, other]], axis=1), axis=0) for other in (1, 2)]


def value(metric, X, triplets):
    """Sum of distances of dissimilar pairs, divided by the root of the sum of squares of similar pairs."""
    squares = []
    for i, j in (rows.T for rows in pairs(triplets)):
        z = X[i] - X[j]
        squares.append(np.maximum(((z @ metric) * z).sum(axis=1), 0))
    return np.sqrt(squares[1]).sum() / np.sqrt(squares[0].sum())


def main():
    from metric_learn import MMC

    metrics = {}
    for name in SETS:
        X, triplets = problem(name)
        near, far = pairs(triplets)
        rows = np.concatenate([X[near], X[far]])
        labels = np.repeat([1, -1], [len(near), len(far)])
        for form in ("full", "diagonal"):
            made = [
                MMC(diagonal=form == "diagonal", **options).fit(rows, labels).get_mahalanobis_matrix()
                for options in ({}, {"max_iter": 1000, "tol": 1e-6})
            ]
            best = max(made, key=lambda metric: value(metric, X, triplets))
            kept = best if form == "full" else np.diag(best)
            metrics[f"{name} {form}"] = np.vectorize(lambda v: float(f"{v:.10g}"))(kept).tolist()
            print(name, form, [value(metric, X, triplets) for metric in made])
    FILE.write_text(json.dumps(metrics) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
