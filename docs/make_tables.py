"""Generate the tables of the README and of `which.md` from records and from the pages with the measurements.

Run by `make pages`. With `--check` it only reports whether the pages are up to date.
"""

import json
import re
import statistics
import sys
from collections.abc import Callable
from pathlib import Path

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
#: The programs of `benchmarks/others.py`, in the order of the README's table.
PROGRAMS = {
    "kernsift AutoSelector": "**kernsift** `AutoSelector`",
    "Boruta": "Boruta, random forest",
    "scikit-learn F test": "scikit-learn `SelectKBest`, F-test",
    "scikit-learn mutual information": "scikit-learn `SelectKBest`, mutual information",
    "scikit-learn RFE, linear SVM": "scikit-learn `RFE`, linear SVM",
    "scikit-learn random forest": "scikit-learn random forest",
    "LightGBM gain": "LightGBM, gain",
    "skrebate ReliefF": "skrebate ReliefF",
    "pyHSICLasso": "pyHSICLasso",
    "mRMR": "mRMR (`mrmr_selection`)",
    "fastcan": "fastcan",
}

# Names of the methods on the reproduction page, and on the command line.
NAMES = {
    "HSFS": "hsfs",
    "FOHSIC": "fohsic",
    "Relief": "relief",
    "SVM-RFE": "svm-rfe",
    "LDFS": "ldfs",
    "l1-SVM": "l1-svm",
    "LS": "laplacian",
}
LABELS = {"laplacian": "[`laplacian`](methods/laplacian.md), `graph=classes`"}


def label(method: str) -> str:
    """A method's name as a link to its page."""
    return LABELS.get(method, f"[`{method}`](methods/{method}.md)")


def rows(text: str) -> list[list[str]]:
    """The cells of the first table in a text: the header, then the rows."""
    table = re.search(r"(?:^\|.*\|\n)+", text + "\n", re.MULTILINE)
    lines = [line.strip("|").split("|") for line in table[0].strip().splitlines()]
    return [[cell.strip() for cell in line] for line in lines if not set(line[0]) <= set("-")]


def table(lines: list[list[str]]) -> str:
    """A Markdown table."""
    head, *body = lines
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *body])


def planted() -> str:
    """Recovery of known features, from `planted_truth.md`: in how many of ten draws all were found."""
    head, *body = rows((DOCS / "planted_truth.md").read_text(encoding="utf-8"))
    return table(
        [head, *([label(line[0]), *(re.sub(r" \(.*\)", "", cell) for cell in line[1:])] for line in body)]
    )


def errors() -> str:
    """Errors on the data sets of the second paper, from `reproduction.md`; the smallest in bold."""
    text = (DOCS / "reproduction.md").read_text(encoding="utf-8")
    sections = re.findall(r"^### (P1-T1-\w+): .*?, ([^,\n]*)\n(.*?)(?=^##)", text, re.MULTILINE | re.DOTALL)
    columns: dict[str, dict[str, str]] = {}
    for key, name, body in sections:
        found = re.search(r"Error in percent with (\d+) features:\n", body)
        if not found:
            continue
        anchor = f"{key}: {re.search(rf'{key}: (.*)', text)[1]}".lower()
        anchor = re.sub(r"[^\w\- ]", "", anchor).replace(" ", "-")
        title = f"[{name.split(' in place')[0]}, {found[1]}](reproduction.md#{anchor})"
        columns[title] = {NAMES.get(line[0], line[0]): line[2] for line in rows(body[found.end() :])[1:]}
    assert columns, "no table of errors in reproduction.md"
    lines = [["method, error in %", *columns]]
    for method in [*NAMES.values(), "all features"]:
        cells = []
        for each in columns.values():
            least = min(float(value) for value in each.values())
            value = each[method]
            cells.append(f"**{value}**" if float(value) == least else value)
        lines.append([label(method) if method != "all features" else method, *cells])
    return table(lines)


def times() -> str:
    """Times of the selectors, from `speed.md` and `hsfs_cost.md`."""
    wanted = {
        "ReliefF": "relief",
        "Mutual information": "mutual-information",
        "FOHSIC": "fohsic",
        "SVM-RFE": "svm-rfe",
        "FFS": "ffs",
        "HSIC Lasso": "hsic-lasso",
        "HSFS": "hsfs",
    }
    speed = (DOCS / "speed.md").read_text(encoding="utf-8")
    lines = [["method", "task", "time"]]
    for task, size, ours, *_ in rows(speed)[1:]:
        for start, method in wanted.items():
            if task.startswith(start):
                lines.append([label(method), f"{task}, {size}", ours])
    hsfs = re.search(
        r"^(20 of .*? rows): (\d+ s)", (DOCS / "hsfs_cost.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    lines.append([label("hsfs"), f"HSFS, {hsfs[1]}", hsfs[2]])
    return table(lines)


def share(found: list[bool]) -> str:
    """How many draws were solved; yes or no for one draw."""
    if len(found) < 2:
        return ("yes" if found[0] else "no") if found else "-"
    return f"{sum(found)} of {len(found)}"


def others() -> str:
    """Planted features found by kernsift and by other programs, from the records of
    `benchmarks/others.py`, and speedups from `speed.md`."""
    lines = (ROOT / "benchmarks" / "records" / "others.jsonl").read_text(encoding="utf-8").splitlines()
    found: dict[tuple[str, str], list[dict]] = {}
    versions: dict[str, str] = {}
    for record in map(json.loads, lines):
        versions.update(record.get("versions", {}))
        if "seed" in record:
            found.setdefault((record["program"], record["pattern"]), []).append(record)
    head = ["program", "number of features", "product", "ring", "noise only", "CPU seconds"]
    body = []
    for program, title in PROGRAMS.items():
        patterns = [found.get((program, pattern), []) for pattern in ("XOR", "ring", "noise")]
        exact = [share([r["missed"] == r["extra"] == 0 for r in records]) for records in patterns]
        taken = statistics.median(r["seconds"] for records in patterns for r in records)
        body.append([title, "chosen" if patterns[2] else "given", *exact, f"{taken:.2g}"])
    measured = ", ".join(f"{name} {version}" for name, version in versions.items())
    speedups = {
        f"{task}, {size}": cells[5] for task, size, *cells in rows((DOCS / "speed.md").read_text("utf-8"))
    }
    return (
        f"{table([head, *body])}\n\nMeasured by `benchmarks/others.py` on one thread, with {measured}. "
        "Speedups with the same features, from [Speed](docs/speed.md): HSIC Lasso "
        f"{speedups['HSIC Lasso, 10 features, 1000 x 200']} times as fast as pyHSICLasso, "
        f"ReliefF {speedups['ReliefF, 10 neighbors, 1000 x 500']} times as fast as skrebate."
    )


#: The tables of each page.
TABLES = {
    ROOT / "README.md": {"others": others},
    DOCS / "which.md": {"planted": planted, "errors": errors, "times": times},
}


def filled(text: str, tables: dict[str, Callable[[], str]]) -> str:
    """The page with current tables."""
    for name, make in tables.items():
        text, count = re.subn(
            rf"(<!-- {name} -->\n).*?(<!-- end -->)",
            lambda found, make=make: f"{found[1]}\n{make()}\n\n{found[2]}",
            text,
            flags=re.DOTALL,
        )
        assert count == 1, name
    return text


def main() -> int:
    old = []
    for path, tables in TABLES.items():
        text = path.read_text(encoding="utf-8")
        new = filled(text, tables)
        if new != text:
            old.append(path.name)
            if "--check" not in sys.argv[1:]:
                path.write_text(new, encoding="utf-8")
    if old:
        print("out of date:" if "--check" in sys.argv[1:] else "written:", *old)
    return int(bool(old) and "--check" in sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
