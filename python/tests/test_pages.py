"""The pages of the documentation: examples, links, pictures, tables, a page per method."""

import importlib.util
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import kernsift

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
OUTSIDE = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")]
FAMILIES = ("selector", "kernel-space", "basis", "kernel-learner")
METHODS = sorted(
    method["name"] for method in json.loads(kernsift._native.methods()) if method["family"] in FAMILIES
)


def text(path):
    return path.read_text(encoding="utf-8")


def name(path):
    return path.relative_to(ROOT).as_posix()


def without_code(page):
    """The text of a page without code."""
    return re.sub(r"`[^`\n]+`", "``", re.sub(r"^ *```.*?^ *```", "", page, flags=re.DOTALL | re.MULTILINE))


def anchors(page):
    """The anchors of headings, by the rule of GitHub and the site."""
    blocks = re.sub(r"^ *```.*?^ *```", "", page, flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.+)$", blocks, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", [path for path in PAGES if "```python" in text(path)], ids=name)
def test_python_examples_run(path, tmp_path, monkeypatch):
    for example in (DOCS / "examples").iterdir():
        shutil.copy(example, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    names = {}
    for code in re.findall(r"```python\n(.*?)```", text(path), re.DOTALL):
        exec(code, names)


@pytest.mark.parametrize("path", [*PAGES, *OUTSIDE], ids=name)
def test_links_and_pictures_exist(path):
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code(text(path))):
        if re.match(r"https?:", target):
            continue
        file, _, anchor = target.partition("#")
        place = (path.parent / file).resolve() if file else path
        assert place.exists(), f"{name(path)} links to {target}"
        if anchor:
            assert anchor in anchors(text(place)), f"{name(path)} links to {target}"


def test_every_page_is_in_the_navigation_and_every_picture_is_shown():
    listed = re.findall(r"[\w/.-]+\.md", text(ROOT / "mkdocs.yml").split("\nnav:\n")[1])
    assert sorted(listed) == sorted(path.relative_to(DOCS).as_posix() for path in PAGES)
    shown = "".join(map(text, [*PAGES, *OUTSIDE]))
    for picture in DOCS.rglob("*.svg"):
        assert picture.relative_to(DOCS).as_posix() in shown, f"{name(picture)} is on no page"


def test_every_method_has_its_page():
    assert len(METHODS) >= 31
    overview = text(DOCS / "methods.md")
    for method in METHODS:
        assert f"(methods/{method}.md)" in overview, method
        page = text(DOCS / "methods" / f"{method}.md")
        assert f"](../pictures/methods/{method}.svg)" in page, method
        assert re.search(rf"`kernsift (select|basis|design)( -m {method})?`", page), method
        headings = re.findall(r"^## (.+)$", page, re.MULTILINE)
        wanted = ["Formula", "Cost", "Parameters", "Example", "When it fails", "Reference"]
        assert headings == wanted, method
        assert re.search(r"```sh\nkernsift ", page), method


def test_the_parameter_tables_are_current():
    spec = importlib.util.spec_from_file_location("make_parameters", DOCS / "make_parameters.py")
    maker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(maker)
    for method in METHODS:
        page = text(DOCS / "methods" / f"{method}.md")
        assert maker.current(page, method) == page, f"run docs/make_parameters.py: {method}.md"


def test_defaults_of_the_classes_are_those_of_the_declarations():
    """Where a class has a parameter that its method declares, both have the same default."""
    found = 0
    for name_ in kernsift.__all__:
        cls = getattr(kernsift, name_)
        if not hasattr(cls, "_catalog_name"):
            continue
        arguments = inspect.signature(cls).parameters
        declared = kernsift._parameters.declared(cls._catalog_name)
        for parameter in set(arguments) & set(declared):
            if (name_, parameter) == ("SVCCV", "C"):
                continue  # It is a grid.
            default = arguments[parameter].default
            default = list(default) if isinstance(default, tuple) else default
            core = declared[parameter]["default"]
            # What the core calls none is None in Python.
            assert default == core or (default is None and core == "none"), f"{name_}: {parameter}"
            found += 1
    assert found > 60


def test_numbers_of_the_decision_table_are_those_of_their_sources():
    page = text(DOCS / "which.md")
    cited = re.findall(r"\[([-\d][^\]]*)\]\(([\w/]+\.md)(?:#([\w-]+))?\)", page)
    assert len(cited) >= 12
    for number, file, anchor in cited:
        source = text(DOCS / file)
        if anchor:
            sections = re.split(r"^(?=### )", source, flags=re.MULTILINE)
            [source] = [each for each in sections if anchor in anchors(each)]
        assert number in source, f"{number} is not in {file}#{anchor}"


def test_the_tables_of_the_decision_page_are_current():
    script = [sys.executable, DOCS / "make_which.py", "--check"]
    done = subprocess.run(script, capture_output=True, text=True, env={**os.environ, "PYTHONUTF8": "1"})
    assert done.returncode == 0, done.stdout + done.stderr
