"""The examples of the docstrings and of the README run."""

import ast
import doctest
import importlib
import pkgutil
import re
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


def test_the_type_stub_has_the_names_of_the_native_half():
    stub = ast.parse((Path(kernsift.__file__).parent / "_native.pyi").read_text(encoding="utf-8"))

    def names(body):
        return {node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)}

    def public(thing):
        return {name for name in vars(thing) if not name.startswith("_")}

    assert names(stub.body) == public(kernsift._native)
    for node in stub.body:
        if isinstance(node, ast.ClassDef) and node.name != "BreakdownError":
            assert names(node.body) == public(getattr(kernsift._native, node.name))


def test_every_public_name_is_documented():
    for name in kernsift.__all__:
        if name != "__version__":
            assert getattr(kernsift, name).__doc__, name


@pytest.mark.parametrize("folder", [PACKAGE, PACKAGE.parent])
def test_the_examples_of_the_readmes(folder, capsys):
    text = (folder / "README.md").read_text(encoding="utf-8")
    examples = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert examples
    for code in examples:
        exec(code, {})
    assert "flavanoids" in capsys.readouterr().out
