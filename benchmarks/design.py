"""Kernel design against the linear programme with all its variables, and at larger sizes.

`make bench` runs it along with the rest; alone it prints its part of the page. Times are of the processor, on
one thread, so that a busy machine does not change the ratio.
"""

import json
import time

import numpy as np
import scipy
from scipy import sparse
from scipy.optimize import linprog

import kernsift

GAMMAS = (1.0, 0.1, 0.01)
PENALTY = 1e-4


def problem(name: str, count: int) -> tuple[np.ndarray, np.ndarray]:
    """All rows of a set, and triples drawn from its classes."""
    data = kernsift.load_dataset(name)
    return data.data, kernsift.triplets_from_labels(data.target, count, random_state=0)


def learner(psd: str) -> kernsift.KernelDesign:
    """Three widths for every column."""
    return kernsift.KernelDesign(
        ["gaussian"], gammas=GAMMAS, psd=psd, gamma1=PENALTY, gamma2=PENALTY, threshold=0, n_jobs=1
    )


def timed(name: str, psd: str, count: int) -> dict:
    x, triplets = problem(name, count)
    start = time.process_time()
    design = learner(psd).fit(x, triplets)
    return {
        "set": name,
        "rows": len(x),
        "kernels": len(design.alpha_),
        "triples": count,
        "psd": psd,
        "rounds": design.n_iter_,
        "cuts": design.n_cuts_,
        "status": design.status_,
        "objective": design.objective_,
        "seconds": time.process_time() - start,
    }


def naive(name: str, count: int) -> dict:
    """Programme (7) with noise: a variable for every weight, column, triple and pair of rows, by HiGHS."""
    x, triplets = problem(name, count)
    # All rows are different and named by some triple, so that both sides have the same rows.
    assert len(np.unique(x, axis=0)) == len(np.unique(triplets)) == len(x)
    rows = (x - x.mean(axis=0)) / x.std(axis=0)
    i, j, far = triplets.T
    n, d = rows.shape
    apart = (rows[:, None, :] - rows[None, :, :]) ** 2
    grams = np.concatenate([np.exp(-gamma * np.moveaxis(apart, 2, 0)) for gamma in GAMMAS])
    k = len(grams)
    above, below = np.triu_indices(n, 1)
    r = len(above)
    eye, array = sparse.eye_array, sparse.csr_array
    member = array((np.ones(k), (np.arange(k), np.tile(np.arange(d), len(GAMMAS)))), shape=(k, d))
    pairs = array(grams[:, above, below].T)
    both = np.concatenate([above, below])
    sums = array((np.ones(2 * r), (both, np.tile(np.arange(r), 2))), shape=(n, r))
    # Columns: weights, noise, largest weights, slacks, pairs.
    blocks = [
        [array(-(grams[:, i, j] - grams[:, i, far]).T), None, None, -eye(count), None],
        [eye(k), None, -member, None, None],
        [-eye(k), None, -member, None, None],
        [pairs, None, None, None, -eye(r)],
        [-pairs, None, None, None, -eye(r)],
        [array(-np.ones((n, k))), array(-np.ones((n, 1))), None, None, sums],
    ]
    bound = np.concatenate([-np.ones(count), np.zeros(2 * k + 2 * r + n)])
    cost = np.concatenate(
        [np.full(k + 1, PENALTY), np.full(d, PENALTY), np.full(count, 1 / count), np.zeros(r)]
    )
    bounds = [(None, None)] * k + [(0, None)] * (1 + d + count + r)
    matrix = sparse.block_array(blocks, format="csc")
    start = time.process_time()
    found = linprog(cost, A_ub=matrix, b_ub=bound, bounds=bounds, method="highs-ds")
    return {"status": found.status, "objective": found.fun, "seconds": time.process_time() - start}


def measure() -> dict:
    """One run of each: the naive programme takes minutes."""
    peer = naive("wine", 1500)
    ours = [
        timed("wine", "dominance_with_noise", 1500),
        timed("ionosphere", "dominance_with_noise", 1500),
        timed("wdbc", "dominance_with_noise", 1500),
        timed("wdbc", "nonnegative", 100_000),
    ]
    agree = peer["status"] == 0 and abs(ours[0]["objective"] / peer["objective"] - 1) < 1e-6
    return {"scipy": scipy.__version__, "naive": peer, "ours": ours, "agree": bool(agree)}


def page(record: dict) -> list[str]:
    """The record as a part of the page."""
    ours, peer = record["ours"], record["naive"]
    ratio = peer["seconds"] / ours[0]["seconds"]
    lines = [
        "",
        "Kernel design on one thread, three widths for every column, both penalties 1e-4:",
        "",
        "| set | rows | kernels | triples | psd | rounds | cuts | processor time |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for r in ours:
        lines.append(
            f"| {r['set']} | {r['rows']} | {r['kernels']} | {r['triples']:,} | `{r['psd']}` | {r['rounds']} "
            f"| {r['cuts']} | {r['seconds']:.2f} s |"
        )
    lines += [
        "",
        f"The first of these with a variable for every pair of rows, by the dual simplex of HiGHS (scipy "
        f"{record['scipy']}): {peer['seconds']:.0f} s, {ratio:.0f} times as long; the optima "
        f"{'agree' if record['agree'] else 'do not agree'} to 1e-6.",
    ]
    return lines


if __name__ == "__main__":
    measured = measure()
    print(json.dumps(measured, indent=1))
    print("\n".join(page(measured)))
