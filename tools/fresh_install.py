"""Install a wheel as a user would, and compare what the README shows with what it prints.

Makes a new virtual environment in a temporary folder, installs the newest wheel of `dist/` (`make wheel`)
with its declared dependencies only, runs the Python examples of the README, and measures the time of
`import kernsift`.

    python tools/fresh_install.py [WHEEL]
"""

import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = re.compile(r"```python\n(.*?)```(?:\n\n```text\n(?!\$ )(.*?)```)?", re.DOTALL)
#: Seconds that `import kernsift` may take beyond `import sklearn`'s parts that it uses, the least of five.
IMPORT_LIMIT = 0.3
IMPORT_TIME = """
import time
import sklearn.feature_selection, sklearn.model_selection, sklearn.svm, joblib, scipy.sparse
start = time.perf_counter()
import kernsift
print(time.perf_counter() - start)
"""


def run(python: Path, code: str, folder: str) -> str:
    """What a program prints."""
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, cwd=folder)
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


def main() -> None:
    wheels = [Path(name) for name in sys.argv[1:]] or list((ROOT / "dist").glob("*.whl"))
    if not wheels:
        sys.exit("no wheel in dist/: run make wheel")
    wheel = max(wheels, key=lambda path: path.stat().st_mtime).resolve()
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder, "Scripts" if sys.platform == "win32" else "bin", "python")
        subprocess.run([python, "-m", "pip", "install", "--quiet", wheel], check=True)
        for code, shown in EXAMPLE.findall(readme):
            printed = run(python, code, folder)
            if shown and printed.split() != shown.split():
                sys.exit(f"the README shows\n{shown}\nbut it prints\n{printed}")
            print(printed)
        least = min(float(run(python, IMPORT_TIME, folder)) for _ in range(5))
    print(f"import kernsift: {least:.2f} s beyond scikit-learn")
    if least > IMPORT_LIMIT:
        sys.exit(f"more than {IMPORT_LIMIT} s")


if __name__ == "__main__":
    main()
