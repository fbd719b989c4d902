"""Run the Python examples of the pages: write their output and pictures, and the notebooks of the guide.

A block `text` right after a block `python` is its output. A picture in `pictures/guide` right after an
example is the figure that it draws. Tests run all examples and compare. With a program, blocks that begin
with `$ kernsift` are rewritten as well; the tests of the command line compare them.

    python docs/make_examples.py [PAGE ...]
    python docs/make_examples.py --program target/debug/kernsift [PAGE ...]
"""

import argparse
import contextlib
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import textwrap
from collections.abc import Callable
from pathlib import Path

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
READMES = [ROOT / "README.md", ROOT / "python" / "README.md"]
NOTEBOOKS = DOCS / "notebooks"
PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)
OUTPUT = re.compile(r"\n\n```text\n(?!\$ )(.*?)```", re.DOTALL)
PICTURE = re.compile(r"\n\n!\[[^]]*\]\((pictures/guide/[\w-]+\.svg)\)")
#: Columns of a line that pages show without scrolling.
WIDTH = 96
COMMAND = re.compile(r"```text\n\$ (kernsift .*)\n((?:.*\n)*?)```")


def guide() -> list[str]:
    """The pages of the section "Guide", in order."""
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    return re.findall(r"[\w-]+\.md", text.split("  - Guide:\n")[1].split("\n  - ")[0])


def with_examples(folder: str | Path) -> None:
    """Copy the files that examples read."""
    for example in (DOCS / "examples").iterdir():
        shutil.copy(example, folder)


def run(page: str, save: Callable[[str], None] = lambda path: None) -> str:
    """The page with the output of its Python examples, which run in the current folder; `save` gets the name
    of each picture when its figure is drawn."""
    names: dict[str, object] = {}
    parts, end = [], 0
    for block in PYTHON.finditer(page):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(block[1], names)
        parts.append(page[end : block.end()])
        end = block.end()
        if shown := OUTPUT.match(page, end):
            parts.append(f"\n\n```text\n{tidy(printed.getvalue())}```")
            end = shown.end()
        if picture := PICTURE.match(page, end):
            save(picture[1])
    return "".join([*parts, page[end:]])


def tidy(text: str) -> str:
    """Output as pages show it: long sentences are wrapped, as in a terminal; lines of tables are not."""
    lines = []
    for line in map(str.rstrip, text.splitlines()):
        sentence = len(line) > WIDTH and "  " not in line.strip()
        lines += wrapped(line) if sentence else [line]
    return "".join(f"{line}\n" for line in lines)


def wrapped(line: str) -> list[str]:
    """The lines of a sentence, in which numbers such as 7.1 % ± 1.5 % stay whole."""
    joined = re.sub(r" (?=[%±])|(?<=±) ", "\N{NO-BREAK SPACE}", line)
    lines = textwrap.wrap(joined, WIDTH, break_long_words=False, break_on_hyphens=False)
    return [each.replace("\N{NO-BREAK SPACE}", " ") for each in lines]


def save_figure(path: str) -> None:
    """Save the current figure, with the same bytes every time."""
    from matplotlib import pyplot

    file = DOCS / path
    file.parent.mkdir(exist_ok=True)
    pyplot.gcf().savefig(file, metadata={"Date": None}, bbox_inches="tight")
    pyplot.close("all")


def run_commands(page: str, program: Path) -> str:
    """The page with the output of its commands, which run in the current folder; a last line of three dots
    stays where it is."""

    def output(block: re.Match[str]) -> str:
        done = subprocess.run(
            [program, *shlex.split(block[1])[1:]], capture_output=True, text=True, check=True
        )
        lines = tidy(done.stderr + done.stdout).splitlines(keepends=True)
        shown = block[2].splitlines(keepends=True)
        if shown and shown[-1] == "...\n":
            lines = [*lines[: len(shown) - 1], "...\n"]
        return f"```text\n$ {block[1]}\n{''.join(lines)}```"

    return COMMAND.sub(output, page)


def notebook(page: str) -> str:
    """A page as a notebook: its Python examples are cells, with the output that the page shows."""
    cells: list[dict] = []

    def add(kind: str, text: str, **parts: object) -> None:
        if text.strip():
            source = text.strip().splitlines(keepends=True)
            cells.append(
                {"cell_type": kind, "id": f"cell{len(cells)}", "metadata": {}, "source": source, **parts}
            )

    end = 0
    for block in PYTHON.finditer(page):
        add("markdown", linked(page[end : block.start()]))
        end = block.end()
        shown = OUTPUT.match(page, end)
        text = {"name": "stdout", "output_type": "stream", "text": shown[1].splitlines(True)} if shown else {}
        add("code", block[1], execution_count=None, outputs=[text] if text else [])
        end = shown.end() if shown else end
    add("markdown", linked(page[end:]))
    whole = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def linked(text: str) -> str:
    """Links of a page as seen from the folder of notebooks."""
    return re.sub(r"\]\((?!https?:|#)", "](../", text)


def notebooks() -> dict[Path, str]:
    """The notebooks of the pages of the guide that have Python examples."""
    pages = {name: (DOCS / name).read_text(encoding="utf-8") for name in guide()}
    return {
        NOTEBOOKS / f"{Path(name).stem}.ipynb": notebook(page)
        for name, page in pages.items()
        if PYTHON.search(page)
    }


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--program", type=Path)
    options.add_argument("pages", nargs="*", type=Path)
    chosen = options.parse_args()
    os.environ["MPLBACKEND"] = "Agg"
    import matplotlib

    matplotlib.rcParams.update({"svg.hashsalt": "kernsift", "figure.figsize": (7, 3.4), "font.size": 10})
    program = chosen.program and chosen.program.resolve()
    for path in chosen.pages or [*READMES, *(DOCS / name for name in guide())]:
        page = path.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            with_examples(folder)
            new = run(page, save_figure)
            new = run_commands(new, program) if program else new
        if new != page:
            path.write_text(new, encoding="utf-8")
            print(path.name)
    NOTEBOOKS.mkdir(exist_ok=True)
    for path, text in notebooks().items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
