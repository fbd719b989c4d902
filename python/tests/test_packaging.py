"""Packages are complete, and private names of scikit-learn are imported in one module."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python" / "kernsift"
LICENSES = ["LICENSE-MIT", "LICENSE-APACHE"]
WORKSPACE = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]


def manifest(folder):
    return tomllib.loads((ROOT / folder / "Cargo.toml").read_text(encoding="utf-8"))["package"]


PUBLISHED = [folder for folder in WORKSPACE["members"] if manifest(folder).get("publish", True)]


def is_private(name):
    return name.startswith("_") and not name.startswith("__")


def private_sklearn_names(source):
    """Imports from scikit-learn with a leading underscore in the path or in the name."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            imported = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            imported = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in imported:
            top, *rest = name.split(".")
            if top == "sklearn" and any(map(is_private, rest)):
                found.append(name)
    return found


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("from sklearn.base import clone, _fit_context", ["sklearn.base._fit_context"]),
        ("import sklearn.utils._set_output as output", ["sklearn.utils._set_output"]),
        (
            "def f():\n    from sklearn.svm._base import BaseSVC",
            ["sklearn.svm._base.BaseSVC"],
        ),
        ("from sklearn import __version__\nfrom kernsift._base import _x\nimport sklearn.base", []),
    ],
)
def test_private_names_are_found(source, names):
    assert private_sklearn_names(source) == names


@pytest.mark.parametrize("path", sorted(PACKAGE.glob("*.py")), ids=lambda path: path.name)
def test_private_names_of_sklearn_are_imported_in_one_module(path):
    names = private_sklearn_names(path.read_text(encoding="utf-8"))
    assert bool(names) == (path.name == "_sklearn.py"), names


def test_bounds_of_sklearn_agree():
    text = ast.get_docstring(ast.parse((PACKAGE / "_sklearn.py").read_text(encoding="utf-8")))
    lower, upper = re.search(r"scikit-learn (1\.\d+) to (1\.\d+)", text).groups()
    bounds = f"scikit-learn>={lower},<1.{int(upper.split('.')[1]) + 1}"
    project = tomllib.loads((ROOT / "python" / "pyproject.toml").read_text(encoding="utf-8"))
    assert bounds in project["project"]["dependencies"]
    page = (ROOT / "docs" / "versioning.md").read_text(encoding="utf-8")
    assert f"| scikit-learn | {lower}; tested up to {upper} |" in page
    assert bounds in (ROOT / "python" / "requirements-test.txt").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("folder", [*PUBLISHED, "python"])
def test_packages_carry_licenses_and_readme(folder):
    # Copies, not links, which Windows does not always check out.
    for name in LICENSES:
        path = ROOT / folder / name
        assert path.read_bytes() == (ROOT / name).read_bytes(), f"copy {name} to {folder}"
        assert not path.is_symlink()
    assert (ROOT / folder / "README.md").is_file()


@pytest.mark.parametrize("folder", PUBLISHED)
def test_manifests_are_complete(folder):
    package = manifest(folder)
    assert {"description", "license", "keywords", "categories", "rust-version"} <= set(package)
    arguments = package.get("metadata", {}).get("docs", {}).get("rs", {}).get("rustdoc-args", [])
    assert all((ROOT / folder / name).is_file() for name in arguments if name.endswith(".html"))


def test_versions_agree():
    version = WORKSPACE["package"]["version"]
    for name, dependency in WORKSPACE["dependencies"].items():
        if name.startswith("kernsift"):
            assert dependency["version"] == version, name
    page = (ROOT / "docs" / "versioning.md").read_text(encoding="utf-8")
    assert f"| Rust | {WORKSPACE['package']['rust-version']} " in page
    project = tomllib.loads((ROOT / "python" / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    python = project["requires-python"].removeprefix(">=")
    assert f"| Python | {python} |" in page
    for file in ("README.md", "docs/installation.md"):
        page = (ROOT / file).read_text(encoding="utf-8")
        assert f"Rust {WORKSPACE['package']['rust-version']}" in page and f"Python {python}" in page, file
    assert project["license-files"] == LICENSES
