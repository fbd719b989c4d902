"""Install kernsift as a user would, run the README, and compare what it shows with what is printed.

Makes a new virtual environment of the Python that runs it, in a temporary folder. Installs the newest wheel
of `dist/` (`make wheel`) with its declared dependencies only, and the command line by `cargo install`. Runs
the examples and commands of the README, prints the transcript, and fails at the first difference. Measures
the time of the import.

    python tools/fresh_install.py
    python tools/fresh_install.py --wheel dist/NAME.whl --program target/debug/kernsift
"""

import argparse
import json
import math
import os
import re
import shlex
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: A block of the README, with the output block that follows a Python example.
BLOCK = re.compile(r"```(python|sh|text)\n(.*?)```(?:\n\n```text\n(?!\$ )(.*?)```)?", re.DOTALL)
#: Packages that kernsift uses if they are there, which the environment must not have.
OPTIONAL = {"matplotlib", "pandas", "polars", "pyarrow"}
#: Seconds that `import kernsift` may take beyond the parts of scikit-learn that it uses, the least of five.
IMPORT_LIMIT = 0.3
IMPORT_TIME = """
import time
import sklearn.feature_selection, sklearn.model_selection, sklearn.svm, joblib, scipy.sparse
start = time.perf_counter()
import kernsift
print(time.perf_counter() - start)
"""


def run(command: list[str | Path], folder: str, **options: object) -> str:
    """What a command prints, errors and notes first; its failure ends this script."""
    done = subprocess.run(command, capture_output=True, encoding="utf-8", cwd=folder, **options)
    if done.returncode:
        sys.exit(f"{done.stderr}\n{shlex.join(map(str, command))} fails with {done.returncode}")
    return done.stderr + done.stdout


def install(wheel: Path, folder: str) -> list[str | Path]:
    """A new environment with the wheel: the command of its Python, which imports nothing from elsewhere."""
    place = Path(folder, "environment")
    venv.create(place, with_pip=True, symlinks=os.name != "nt")
    python = place / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    isolated = [python, "-I", "-X", "utf8"]
    run([*isolated, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel], folder)
    listed = run([*isolated, "-m", "pip", "list", "--disable-pip-version-check", "--format=json"], folder)
    names = {package["name"].lower() for package in json.loads(listed)}
    if more := names & OPTIONAL:
        sys.exit(f"a declared dependency installs {', '.join(sorted(more))}")
    return isolated


def newest_wheel() -> Path:
    wheels = list((ROOT / "dist").glob("*.whl"))
    if not wheels:
        sys.exit("no wheel in dist/: run make wheel")
    return max(wheels, key=lambda path: path.stat().st_mtime)


def installed_program(folder: str) -> Path:
    """The program of the command line, as `cargo install` builds it."""
    crate = ROOT / "crates" / "cli"
    command = ["cargo", "install", "--quiet", "--locked", "--path", crate, "--root", folder]
    # The target folder of the checkout has the dependencies if they were built.
    run(command, str(ROOT), env={**os.environ, "CARGO_TARGET_DIR": str(ROOT / "target")})
    return Path(folder, "bin", "kernsift.exe" if os.name == "nt" else "kernsift")


def commands(kind: str, block: str) -> list[tuple[str, str]]:
    """The commands of the program in a block, with the output that it shows."""
    if kind == "sh":
        lines = [line.split(" # ")[0].strip() for line in block.splitlines()]
        return [(line, "") for line in lines if line.startswith("kernsift ")]
    command, _, shown = block.partition("\n")
    return [(command.removeprefix("$ "), shown)] if command.startswith("$ kernsift ") else []


def compare(printed: str, shown: str) -> None:
    """End if texts differ, up to line breaks and last digits of numbers, which depend on the processor."""

    def same(a: str, b: str) -> bool:
        try:
            return a == b or math.isclose(float(a), float(b), rel_tol=1e-3)
        except ValueError:
            return False

    words, expected = (re.split(r"[\s,()]+", text.strip()) for text in (printed, shown))
    if len(words) != len(expected) or not all(map(same, words, expected)):
        sys.exit(f"the README shows\n{shown}\nbut this is printed:\n{printed}")


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--wheel", type=Path, help="default: the newest in dist/")
    options.add_argument("--program", type=Path, help="default: built by cargo install")
    chosen = options.parse_args()
    wheel = (chosen.wheel or newest_wheel()).resolve()
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    checked = 0
    with tempfile.TemporaryDirectory() as folder:
        python = install(wheel, folder)
        print(f"$ pip install {wheel.name}")
        program = chosen.program.resolve() if chosen.program else installed_program(folder)
        print("$ cargo install --path crates/cli" if not chosen.program else f"# program: {program.name}")
        for kind, block, shown in BLOCK.findall(readme):
            if kind == "python":
                printed = run([*python, "-c", block], folder)
                print(f"$ python\n{block}{printed}")
                checked += bool(shown)
                compare(printed, shown or printed)
            for command, output in commands(kind, block) if kind != "python" else []:
                printed = run([program, *shlex.split(command)[1:]], folder)
                print(f"$ {command}\n{printed}")
                checked += bool(output)
                compare(printed, output or printed)
        least = min(float(run([*python, "-c", IMPORT_TIME], folder).split()[-1]) for _ in range(5))
    if checked < 2:
        sys.exit("the README has no output of Python and of the command line")
    print(f"The README shows what is printed. import kernsift: {least:.2f} s beyond scikit-learn")
    if least > IMPORT_LIMIT:
        sys.exit(f"more than {IMPORT_LIMIT} s")


if __name__ == "__main__":
    main()
