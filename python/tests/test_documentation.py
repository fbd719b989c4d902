"""The examples of the docstrings run."""

import ast
import doctest
import importlib
import inspect
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import kernsift

PACKAGE = Path(__file__).resolve().parent.parent
MODULES = [
    m.name for m in pkgutil.iter_modules(kernsift.__path__, "kernsift.") if m.name != "kernsift._native"
]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0


def test_the_type_stub_has_the_names_of_the_native_module():
    stub = ast.parse((Path(kernsift.__file__).parent / "_native.pyi").read_text(encoding="utf-8"))

    def names(body):
        named = {node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        return {name for name in named if not name.startswith("_")}

    def public(thing):
        return {name for name in vars(thing) if not name.startswith("_")}

    assert names(stub.body) == public(kernsift._native)
    for node in stub.body:
        if isinstance(node, ast.ClassDef) and node.name != "BreakdownError":
            assert names(node.body) == public(getattr(kernsift._native, node.name))


def test_the_type_stub_matches_the_native_module(tmp_path):
    """Every function has the signature of the stub."""
    # The names are compared above.
    allowed = tmp_path / "allowed"
    allowed.write_text(r"kernsift\._native\.__all__", encoding="utf-8")
    command = [sys.executable, "-m", "mypy.stubtest", "kernsift._native", "--allowlist", str(allowed)]
    here = {**os.environ, "PYTHONPATH": str(PACKAGE)}
    found = subprocess.run(command, cwd=PACKAGE, env=here, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr
    assert (Path(kernsift.__file__).parent / "py.typed").exists()


def test_every_public_name_is_documented():
    for name in kernsift.__all__:
        if name != "__version__":
            thing = getattr(kernsift, name)
            assert thing.__doc__, name
            # The exception and its docstring come from the native module.
            assert ">>>" in thing.__doc__ or thing is kernsift.BreakdownError, name
            for method, function in inspect.getmembers(thing, inspect.isfunction):
                if not method.startswith("_"):
                    assert function.__doc__, f"{name}.{method}"


def test_docstrings_are_complete():
    """No placeholder is left, and a section "Parameters" has all parameters of the function."""
    things = {name: getattr(kernsift, name) for name in kernsift.__all__ if name != "__version__"}
    for name, thing in list(things.items()):
        methods = inspect.getmembers(thing, inspect.isfunction)
        own = [(each, method) for each, method in methods if method.__module__.startswith("kernsift.")]
        things |= {f"{name}.{each}": method for each, method in own if not each.startswith("_")}
    found = 0
    for name, thing in things.items():
        assert not re.search(r"\{[\w ]+\}\s*$", thing.__doc__, re.MULTILINE), name
        doc = inspect.getdoc(thing)
        if "Parameters\n---" in doc:
            for parameter in set(inspect.signature(thing).parameters) - {"self"}:
                assert re.search(rf"^{parameter} : ", doc, re.MULTILINE), f"{name}: {parameter}"
                found += 1
    assert found > 400


def test_the_notebook_runs():
    """In a separate process, as a user would run it; its cells can be run one by one."""
    path = PACKAGE / "examples" / "notebook.py"
    cells = re.split(r"^# %%.*\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert len(cells) > 8
    for cell in cells:
        ast.parse(cell)
    here = {**os.environ, "PYTHONPATH": str(PACKAGE), "MPLBACKEND": "agg", "PYTHONWARNINGS": "error"}
    found = subprocess.run([sys.executable, str(path)], env=here, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    assert "flavanoids" in found.stdout
