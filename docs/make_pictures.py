"""Draw output of the command line as SVG: terminals here, plots in `method_pictures.py`.

Run by `make docs`, after the command line was built.
"""

import shutil
import subprocess
import tempfile
from html import escape
from pathlib import Path

from method_pictures import Pictures

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "target" / "release" / "kernsift"
FOLDER = ROOT / "docs" / "pictures"

# The name of each picture, and the commands whose output it shows.
PICTURES = {
    "basis": ["kernsift basis builtin:wine"],
    "hsfs": [
        "kernsift data make xor --rows 300 --columns 50 --seed 1 --out xor.csv",
        "kernsift select xor.csv -m fisher -k 2",
        "kernsift select xor.csv -m hsfs -k 2",
    ],
    "takes": ["kernsift select builtin:ionosphere -m takes"],
    "compare": ["kernsift compare builtin:wine -m fisher,relief,l1-svm,svm-rfe,random -k 1..5"],
}

CHARACTER_WIDTH = 8.43  # of the monospaced fonts named below, at FONT_SIZE
LINE_HEIGHT = 17
FONT_SIZE = 14
MARGIN = 18


def run(command: str, folder: str) -> list[str]:
    """The command and its output, as lines."""
    words = command.split()
    made = words[1:3] == ["data", "make"]
    quiet = [] if made else ["--quiet"]
    done = subprocess.run(
        [PROGRAM, *words[1:], *quiet], capture_output=True, text=True, check=True, cwd=folder
    )
    # The relevant features are printed to standard error.
    text = done.stderr if made else done.stdout
    return [f"$ {command}", *text.rstrip("\n").split("\n")]


def draw(lines: list[str]) -> str:
    """Text as a picture of a terminal. Every line is stretched to its width in characters, so that
    columns stay aligned in any font."""
    columns = max(len(line) for line in lines)
    width = 2 * MARGIN + columns * CHARACTER_WIDTH
    height = 2 * MARGIN + len(lines) * LINE_HEIGHT
    texts = []
    for i, line in enumerate(lines):
        if not line.strip():
            continue
        kind = "command" if line.startswith("$ ") else "output"
        indent = len(line) - len(line.lstrip())
        text = line.strip()
        texts.append(
            f'<text class="{kind}" x="{MARGIN + indent * CHARACTER_WIDTH:.2f}" '
            f'y="{MARGIN + (i + 0.78) * LINE_HEIGHT:.2f}" '
            f'textLength="{len(text) * CHARACTER_WIDTH:.2f}">{escape(text)}</text>'
        )
    body = "\n".join(texts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" role="img">\n'
        "<style>\n"
        f"text {{ font: {FONT_SIZE}px 'DejaVu Sans Mono', Menlo, Consolas, monospace; white-space: pre; }}\n"
        ".command { fill: #7ee0a5; } .output { fill: #d8dee9; }\n"
        "</style>\n"
        f'<rect width="100%" height="100%" rx="8" fill="#1f2430"/>\n{body}\n</svg>\n'
    )


def photograph() -> None:
    """A screenshot of an HTML report; without a browser the picture is not changed."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        print("no browser: report.png is not updated")
        return
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "wine.html")
        command = ["select", "builtin:wine", "--report", page, "--quiet"]
        subprocess.run([PROGRAM, *command], check=True, stdout=subprocess.DEVNULL)
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars"]
        places = [f"--user-data-dir={folder}/profile", f"--screenshot={FOLDER / 'report.png'}"]
        subprocess.run(
            [browser, *options, *places, "--window-size=1100,2020", page.as_uri()],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, commands in PICTURES.items():
        lines: list[str] = []
        with tempfile.TemporaryDirectory() as folder:
            for command in commands:
                lines += ([""] if lines else []) + run(command, folder)
        (FOLDER / f"{name}.svg").write_text(draw(lines), encoding="utf-8")
        print(f"docs/pictures/{name}.svg")
    plots = FOLDER / "methods"
    plots.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for name in Pictures(PROGRAM, Path(folder), plots).everything():
            print(f"docs/pictures/methods/{name}.svg")
    photograph()


if __name__ == "__main__":
    main()
