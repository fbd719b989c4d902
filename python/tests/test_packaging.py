"""What is published is complete, and private names of scikit-learn stay in one module."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python" / "kernsift"


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
    assert bounds in (ROOT / "python" / "requirements-test.txt").read_text(encoding="utf-8").splitlines()
