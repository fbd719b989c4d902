"""Run the soak test for a number of seconds and write its counts to docs/soak.md: `make soak`."""

from __future__ import annotations

import datetime
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROWS = {
    "runs": "runs",
    "answers": "results, each computed twice with different numbers of threads",
    "clean_errors": "errors with a reason",
    "stopped": "stopped on request",
    "files": "tables and models written, corrupted and read",
    "wrong_answers": "**wrong results**",
    "panics": "**panics**",
}


def page(record: dict, date: str) -> str:
    lines = [
        "# Soak test",
        "",
        f"Written by `make soak` on {date}: {record['seconds']:,} seconds, seed {record['seed']}.",
        "",
        "Each run is a random method of the catalogs with default parameters on random data: up to 400",
        "samples and 60 features; normal numbers or integers, features from 1e-280 to 1e280, equal features,",
        "equal samples, constant features, a value of 1e300, sparse data; classes, one class per sample, a",
        "continuous target or none. Some runs have a memory limit, down to one byte; some are stopped at a",
        "random moment.",
        "[Robustness](trust.md#soak-test) defines a wrong result.",
        "",
        "| | count |",
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
