"""Runs the soak for so many seconds and writes what came out to docs/soak.md: `make soak`."""

from __future__ import annotations

import datetime
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROWS = {
    "runs": "runs",
    "answers": "answers, each asked for twice with any number of threads",
    "clean_errors": "clean errors",
    "stopped": "stopped as they were asked to",
    "files": "tables and models written, damaged and read",
    "wrong_answers": "**wrong answers**",
    "panics": "**panics**",
}


def page(record: dict, date: str) -> str:
    lines = [
        "# Soak",
        "",
        f"Written by `make soak` on {date}: {record['seconds']:,} seconds, seed {record['seed']}.",
        "",
        "A random method of the catalogues with its defaults, on random data: up to 400 rows and 60 columns;",
        "normal or whole numbers, columns from 1e-280 to 1e280, equal columns, equal rows, constant columns,",
        "a cell of 1e300, sparse rows; classes, a class per row, numbers or no target. Some runs have a",
        "memory limit down to a byte, some are asked to stop at a random moment. What counts as wrong is",
        "said [there](trust.md#all-at-once).",
        "",
        "| what | how many |",
        "|---|---|",
        *(f"| {words} | {record[key]:,} |" for key, words in ROWS.items()),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    seconds = sys.argv[1] if len(sys.argv) > 1 else "600"
    program = ROOT / "target/release/examples/soak"
    done = subprocess.run([program, seconds], stdout=subprocess.PIPE, text=True)
    record = json.loads(done.stdout)
    today = datetime.date.today().isoformat()
    (ROOT / "docs/soak.md").write_text(page(record, today), encoding="utf-8")
    print(done.stdout.strip())
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
