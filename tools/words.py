"""Check that texts use the field's words.

Every tracked text (documentation, Rust, Python) is searched for words that have a standard term. `words.toml` lists them,
what to write instead, and the files in which a word is allowed for a reason.

    python tools/words.py            # fails and lists what it finds
    python tools/words.py --count    # how many there are, by file
"""

import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SUFFIXES = (".md", ".rs", ".py", ".pyi", ".toml", ".yml")
#: The list itself, and texts that are not ours to change.
SKIPPED = ("tools/words.toml", "LICENSE", "Cargo.lock", "fuzz/corpus/", "crates/core/data/")


def texts():
    """Paths of the tracked texts."""
    names = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.splitlines()
    return [name for name in names if name.endswith(SUFFIXES) and not name.startswith(SKIPPED)]


def found(rules, names):
    """Every place of a banned word: file, line number, the line, what to write instead."""
    compiled = [
        (re.compile(rf"(?<![A-Za-z])(?:{rule['word']})(?![a-z])", re.IGNORECASE), rule["use"], rule.get("allowed", []))
        for rule in rules
    ]
    for name in names:
        path = ROOT / name
        if not path.is_file():
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            for pattern, use, allowed in compiled:
                if not any(name.startswith(prefix) for prefix in allowed) and (match := pattern.search(line)):
                    yield name, number, match[0], use, line.strip()


def main():
    rules = tomllib.loads((ROOT / "tools" / "words.toml").read_text(encoding="utf-8"))["rule"]
    places = list(found(rules, texts()))
    if "--count" in sys.argv:
        for name, count in Counter(place[0] for place in places).most_common():
            print(f"{count:5} {name}")
    else:
        for name, number, word, use, line in places:
            print(f"{name}:{number}: '{word}': write {use}: {line[:120]}")
    if places:
        print(f"{len(places)} words that have a standard term (tools/words.toml)", file=sys.stderr)
    return 1 if places else 0


if __name__ == "__main__":
    sys.exit(main())
