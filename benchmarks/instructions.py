"""Instruction counts of fixed workloads by callgrind: the same in every run, unlike times.

`make instructions` runs each workload of `crates/core/examples/instructions.rs` once and twice; the
difference excludes the start of the program. The counts are stored in benchmarks/records/instructions.json,
so that changes show in review. Callgrind supports vector instructions up to AVX2.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "target" / "release" / "examples" / "instructions"
RECORD = ROOT / "benchmarks" / "records" / "instructions.json"
#: Smaller relative changes are ignored: the start and stop of threads varies.
NOISE = 0.002


def counted(name: str, times: int) -> int:
    done = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", str(PROGRAM), name, str(times)],
        capture_output=True,
        text=True,
        check=True,
    )
    return int(re.search(r"Collected : (\d+)", done.stderr)[1])


def main() -> None:
    if shutil.which("valgrind") is None:
        sys.exit("valgrind is not installed; on Debian: apt-get install valgrind")
    names = subprocess.run([PROGRAM], capture_output=True, text=True, check=True).stdout.splitlines()
    before = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    now = {}
    print(f"{'millions of instructions':<52} {'before':>10} {'now':>10} {'change':>8}")
    for name in names:
        now[name] = counted(name, 2) - counted(name, 1)
        known = before.get(name)
        change = "new" if not known else f"{now[name] / known - 1:+.1%}"
        if known and abs(now[name] / known - 1) < NOISE:
            change, now[name] = "same", known
        earlier = f"{known / 1e6:.2f}" if known else "-"
        print(f"{name:<52} {earlier:>10} {now[name] / 1e6:>10.2f} {change:>8}", flush=True)
    RECORD.write_text(json.dumps(now, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
