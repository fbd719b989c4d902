"""Solve a linear program from a file by HiGHS in scipy, if the HiGHS crate is not compiled in.

    python highs_by_scipy.py FILE simplex|ipm

The file contains numbers of 8 bytes: columns, rows, entries (integers), then costs, bounds of columns and of
rows, and the matrix in CSC form. Prints seconds of CPU time, the objective, the solution and the dual values
of the rows.
"""

import sys
import time

import numpy as np
import scipy.optimize
import scipy.sparse


def read(path):
    raw = np.fromfile(path, dtype="<u8")
    n, m, entries = (int(v) for v in raw[:3])
    sizes = [n, n, n, m, m, n + 1, entries, entries]
    parts = np.split(raw[3:], np.cumsum(sizes)[:-1])
    costs, low, high, least, most = (part.view("<f8") for part in parts[:5])
    start, index = (part.astype(np.int32) for part in parts[5:7])
    matrix = scipy.sparse.csc_array((parts[7].view("<f8"), index, start), shape=(m, n)).tocsr()
    return costs, np.column_stack([low, high]), least, most, matrix


def main():
    costs, bounds, least, most, matrix = read(sys.argv[1])
    equal = least == most
    # linprog supports only upper bounds of rows: lower bounds are negated.
    sign = np.where(np.isfinite(most), 1.0, -1.0)
    side = np.where(np.isfinite(most), most, -least)
    signed = scipy.sparse.diags_array(sign) @ matrix
    rows = {"A_ub": signed[~equal], "b_ub": side[~equal]}
    if equal.any():
        rows |= {"A_eq": signed[equal], "b_eq": side[equal]}
    method = {"simplex": "highs-ds", "ipm": "highs-ipm"}[sys.argv[2]]
    start = time.process_time()
    found = scipy.optimize.linprog(costs, bounds=bounds, method=method, **rows)
    seconds = time.process_time() - start
    if found.status != 0:
        sys.exit(found.message)
    duals = np.empty(len(side))
    duals[~equal] = found.ineqlin.marginals
    if equal.any():
        duals[equal] = found.eqlin.marginals
    print(seconds)
    print(found.fun)
    print(*found.x.tolist())
    print(*(sign * duals).tolist())


main()
