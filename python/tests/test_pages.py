"""The pages of the documentation: examples, links, pictures, tables, a page per method."""

import importlib.util
import inspect
import json
import math
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import kernsift

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
README = ROOT / "README.md"
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


def script(file, folder=DOCS):
    """A script as a module."""
    spec = importlib.util.spec_from_file_location(file, folder / f"{file}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


examples = script("make_examples")


def same(printed, shown):
    """Whether two numbers agree up to the last digits, which depend on the processor."""
    try:
        return math.isclose(float(printed), float(shown), rel_tol=1e-6)
    except ValueError:
        return False


@pytest.mark.parametrize(
    "path", [path for path in [*examples.READMES, *PAGES] if "```python" in text(path)], ids=name
)
def test_python_examples_run_and_print_what_the_page_shows(path, tmp_path, monkeypatch):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    examples.with_examples(tmp_path)
    monkeypatch.chdir(tmp_path)
    pyplot.switch_backend("agg")
    drawn = []

    def save(picture):
        assert (DOCS / picture).exists() and pyplot.get_fignums(), f"{name(path)}: {picture}"
        drawn.append(picture)
        pyplot.close("all")

    new = examples.run(text(path), save)
    pyplot.close("all")
    printed, shown = (re.split(r"[\s,()[\]]+", each) for each in (new, text(path)))
    places = [(a, b) for a, b in zip(printed, shown, strict=True) if a != b and not same(a, b)]
    assert not places, f"run docs/make_examples.py {name(path)}: (printed, shown) {places[:5]}"
    assert drawn == re.findall(r"\]\((pictures/guide/[^)]+)\)", text(path)) or path in examples.READMES


@pytest.mark.parametrize("page", examples.guide())
def test_pages_of_the_guide_begin_with_an_example_and_its_output(page):
    start = "\n".join(text(DOCS / page).splitlines()[:45])
    assert examples.COMMAND.search(start) or any(
        examples.OUTPUT.match(start, block.end()) for block in examples.PYTHON.finditer(start)
    ), page


def test_notebooks_are_current():
    wanted = examples.notebooks()
    assert sorted(wanted) == sorted(examples.NOTEBOOKS.iterdir())
    for path, content in wanted.items():
        assert text(path) == content, f"run docs/make_examples.py: {path.name}"


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
    maker = script("make_parameters")
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


def test_numbers_that_are_links_stand_where_they_point():
    """`[15.00](reproduction.md#p1-t1-madelon)`: the page, or the section, has this number."""
    found = 0
    for path in [README, *PAGES]:
        for number, file, anchor in re.findall(
            r"\[([-\d][^\]]*)\]\(([\w/.]+\.md)(?:#([\w-]+))?\)", text(path)
        ):
            source = text(path.parent / file)
            if anchor:
                sections = re.split(r"^(?=###? )", source, flags=re.MULTILINE)
                [source] = [each for each in sections if anchor in anchors(each)]
            assert number in source, f"{name(path)}: {number} is not in {file}#{anchor}"
            found += 1
    assert found >= 20


#: Pages that programs write from records or measurements.
WRITTEN = {"planted_truth", "hsfs_cost", "speed", "scaling", "calibration", "cluster", "soak", "reproduction"}
#: Limits that tests check, in pages where other numbers with such units would be measurements.
LIMITS = {"at most 1 GiB of cached", "within 256 MiB or", "within 8 MiB if"}


def test_times_memory_and_speedups_come_from_records():
    """So do errors in percent. Elsewhere such a number is in a table between comments, in the output of
    an example, or a link to its page, compared above."""
    times = r"[nµm]?s|seconds?|[MG]i?B|times (?:as|faster|slower|less)"
    units = rf"\b\d+\.\d+ ?%|\b\d[\d.,]* ?(?:{times})\b"
    for path in [README, *PAGES]:
        if path.stem in WRITTEN:
            continue
        page = re.sub(r"<!-- (\w+) -->.*?<!-- end -->", "", without_code(text(path)), flags=re.DOTALL)
        page = re.sub(r"\[[^]]*\]\([^)]*\)", "", page)
        for limit in LIMITS:
            page = page.replace(limit, "")
        assert not re.search(units, page), f"{name(path)}: {re.search(f'.*(?:{units}).*', page)[0]}"


def test_generated_tables_are_current():
    script = [sys.executable, DOCS / "make_tables.py", "--check"]
    done = subprocess.run(script, capture_output=True, text=True, env={**os.environ, "PYTHONUTF8": "1"})
    assert done.returncode == 0, done.stdout + done.stderr


def test_claims_follow_from_the_tables():
    """What the pages say in words about tables that are generated."""
    tables = script("make_tables")
    head, *body = tables.rows(text(DOCS / "planted_truth.md"))
    found = {line[0]: dict(zip(head, line, strict=True)) for line in body}
    column = {kind: next(title for title in head if title.startswith(f"{kind},")) for kind in ("ring", "xor")}
    assert all(found[m][column["ring"]].startswith("10 of 10") for m in ("hsic-lasso", "mutual-information"))
    full = {method for method, cells in found.items() if cells[column["xor"]].startswith("10 of 10")}
    none = {method for method, cells in found.items() if cells[column["xor"]].startswith("0 of 10")}
    assert full == {"hsfs", "bahsic", "relief"} and full | none == set(found)
    # "Only `AutoSelector` finds both patterns without being told how many features there are."
    chosen = [line[0] for line in tables.rows(tables.others()) if line[1:4] == ["chosen", "yes", "yes"]]
    assert len(chosen) == 1 and "AutoSelector" in chosen[0]
    assert "Only `AutoSelector` finds both" in text(README)


def test_the_cost_of_hsfs_has_consistent_numbers():
    """Times depend on the computer; other columns follow from them, and so do the words of the results."""
    page = text(DOCS / "hsfs_cost.md")
    _, *body = script("make_tables").rows(page)
    sizes, ours, bare, ratio, each = ([float(line[k].split()[0]) for line in body] for k in range(5))
    for k, size in enumerate(sizes):
        # Half a unit of the last digit of each number.
        rounded = 0.05 / ours[k] + 0.05 / bare[k]
        assert abs(ours[k] / bare[k] - ratio[k]) <= rounded * ratio[k] + 0.005
        assert abs(1e3 * ours[k] / size - each[k]) <= 50 / size + 0.005
    # "take less time than the matrix products"; "time is proportional to the number of features".
    assert max(ratio) < 1 and max(each) < 2 * min(each)
    assert re.search(r"^20 of 20,000 columns of 1000 rows: \d+ s, \d+ steps, ", page, re.MULTILINE)


def test_the_readme_is_short():
    assert len(text(README).splitlines()) <= 120


def test_the_script_of_a_fresh_installation_runs_the_readme():
    fresh = script("fresh_install", ROOT / "tools")
    blocks = fresh.BLOCK.findall(text(README))
    assert any(kind == "python" and shown for kind, _, shown in blocks)
    commands = [each for kind, block, _ in blocks for each in fresh.commands(kind, block)]
    assert len(commands) > 7 and any(shown for _, shown in commands)
    fresh.compare("error 1.2345,\nand so on", "error 1.2344, and\nso on\n")
    for other in ("error 1.2445, and so on", "error 1.2345, and so", "error"):
        with pytest.raises(SystemExit, match=re.escape(other)):
            fresh.compare("error 1.2345, and so on", other)


def test_files_of_the_tour_exist():
    files = re.findall(r"`((?:crates|python|docs)/[\w./-]+)`", text(DOCS / "tour.md"))
    assert len(files) >= 10
    for file in files:
        assert (ROOT / file).exists(), file


def test_the_conda_recipe_has_the_version_and_dependencies_of_the_package():
    recipe = text(ROOT / "conda" / "recipe.yaml")
    project = tomllib.loads(text(ROOT / "python" / "pyproject.toml"))["project"]
    workspace = tomllib.loads(text(ROOT / "Cargo.toml"))["workspace"]["package"]
    assert f'version: "{workspace["version"]}"' in recipe
    run = recipe.split("  run:\n")[1].split("\n\n")[0]
    wanted = ["python " + project["requires-python"]]
    wanted += [re.sub(r"^([\w-]+)", r"\1 ", dependency) for dependency in project["dependencies"]]
    assert re.findall(r"- (.*)", run) == wanted
    assert f"FROM rust:{workspace['rust-version']}-" in text(ROOT / "Dockerfile")
