"""Check that texts use the field's words.

Every tracked text (documentation, Rust, Python) is searched for words that have a standard term. `words.toml`
lists them, what to write instead, and the files in which a word is allowed. Names of random streams are
exempt: they are part of the stream.

    python tools/words.py            # fails and lists what it finds
    python tools/words.py --count    # how many there are, by file
    python tools/words.py --all      # also in the files that are still to be rewritten (`pending`)
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
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    return [name for name in names if name.endswith(SUFFIXES) and not name.startswith(SKIPPED)]


def found(rules, names):
    """Every place of a banned word: file, line number, the line, what to write instead."""
    compiled = []
    for rule in rules:
        pattern = re.compile(rf"(?<![A-Za-z])(?:{rule['word']})(?![a-z])", re.IGNORECASE)
        compiled.append((pattern, rule["use"], rule.get("allowed", [])))
    for name in names:
        path = ROOT / name
        if not path.is_file():
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if "Rng::stream(" in line:
                continue
            for pattern, use, allowed in compiled:
                if not any(name.startswith(prefix) for prefix in allowed) and (match := pattern.search(line)):
                    yield name, number, match[0], use, line.strip()


def main():
    config = tomllib.loads((ROOT / "tools" / "words.toml").read_text(encoding="utf-8"))
    names = [name for name in texts() if "--all" in sys.argv or name not in config["pending"]]
    places = list(found(config["rule"], names))
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
