"""The dependencies and data of the project pass the audit, and the audit finds violations."""

import importlib.util
import shutil
import stat
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CRATES_IO = "registry+https://github.com/rust-lang/crates.io-index"


@pytest.fixture(scope="module")
def audit():
    spec = importlib.util.spec_from_file_location("audit", ROOT / "tools" / "audit.py")
    module = importlib.util.module_from_spec(spec)
    # Its dataclass looks up the module by name.
    sys.modules["audit"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["audit"]


@pytest.fixture(scope="module")
def rules():
    return tomllib.loads((ROOT / "deny.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("expression", "fits"),
    [
        ("MIT", True),
        ("GPL-3.0-only", False),
        ("MIT OR GPL-3.0-only", True),
        ("GPL-3.0-only OR MIT", True),
        ("MIT AND GPL-3.0-only", False),
        ("MIT AND Zlib", True),
        ("MIT/Apache-2.0", True),
        ("GPL-2.0-only / MIT", True),
        # AND binds before OR.
        ("GPL-3.0-only AND MIT OR Zlib", True),
        ("Zlib OR MIT AND GPL-3.0-only", True),
        ("(Zlib OR MIT) AND GPL-3.0-only", False),
        ("(MIT OR GPL-3.0-only) AND Zlib", True),
        ("((MIT))", True),
        # An exception is part of the name.
        ("Apache-2.0 WITH LLVM-exception", True),
        ("MIT WITH LLVM-exception", False),
        ("GPL-2.0-only WITH Classpath-exception-2.0 OR Apache-2.0", True),
        ("mit", False),
        ("MIT+", False),
    ],
)
def test_license_expressions(audit, expression, fits):
    allowed = {"MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "Zlib"}
    assert audit.is_allowed(expression, allowed) is fits


@pytest.mark.parametrize(
    "expression",
    ["", "MIT OR", "OR MIT", "(MIT", "MIT)", "MIT Zlib", "MIT WITH", "()", "MIT AND AND MIT", "/MIT"],
)
def test_invalid_license_expressions(audit, expression):
    with pytest.raises(ValueError, match="not a license expression"):
        audit.is_allowed(expression, {"MIT"})


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("numpy>=1.26", None),
        ("numpy >= 1.26, < 3", None),
        ("mkdocs<2,>=1.6", None),
        ("maturin==1.9.4", None),
        ("pandas~=2.2", None),
        ("pandas[test]>=2.2; python_version > '3.11'", None),
        ("scipy", "no minimum version"),
        ("scipy<2", "no minimum version"),
        ("scipy!=1.0", "no minimum version"),
        ("scipy; python_version >= '3.11'", "no minimum version"),
        ("scipy @ git+https://example.org/scipy", "from a URL"),
        ("-r other.txt", "not a package name"),
        ("./local", "not a package name"),
    ],
)
def test_python_requirements(audit, line, fault):
    found = audit.check_requirement(line)
    assert found is None if fault is None else fault in found


def test_crates_from_other_sources_are_reported(audit, rules):
    sound = {"name": "a", "version": "1.0.0", "source": CRATES_IO, "checksum": "0" * 64}
    lock = {
        "package": [
            sound,
            {"name": "ours", "version": "1.0.0"},
            {"name": "folder", "version": "1.0.0"},
            {**sound, "name": "bare", "checksum": ""},
            {**sound, "name": "git", "source": "git+https://example.org/git#0"},
            {**sound, "name": "registry", "source": "registry+https://example.org/index"},
            {**sound, "name": "hyper"},
        ]
    }
    found = audit.Findings()
    audit.check_lock(lock, {"ours"}, rules, found)
    assert [fault.split()[0] for fault in found.faults] == ["folder", "bare", "git", "registry", "hyper"]


def test_missing_and_forbidden_licenses_are_reported(audit, rules):
    stated = {"a": "MIT", "none": None, "refused": "GPL-3.0-only", "broken": "MIT OR"}
    packages = [{"name": name, "version": "1.0.0", "license": text} for name, text in stated.items()]
    found = audit.Findings()
    audit.check_licenses(packages, rules, found)
    assert [fault.split()[0] for fault in found.faults] == ["none", "refused", "broken"]


def test_unbounded_versions_are_reported_except_for_paths(audit):
    wanted = [
        {"name": "a", "req": "^1"},
        {"name": "b", "req": "*"},
        {"name": "c", "req": "1.*"},
        {"name": "ours", "req": "*", "path": "/ours"},
    ]
    found = audit.Findings()
    audit.check_wildcards([{"name": "kernsift", "dependencies": wanted}], found)
    assert [fault[-1] for fault in found.faults] == ["b", "c"]


def test_conflicting_versions_are_reported(audit):
    versions = [
        ("a", "1.2.0"),
        ("a", "1.3.0"),
        ("b", "0.4.1"),
        ("b", "0.5.0"),
        ("c", "2.0.0"),
        ("c", "1.0.0"),
    ]
    found = audit.Findings()
    audit.list_duplicates({"package": [{"name": n, "version": v} for n, v in versions]}, found)
    assert not found.faults
    assert found.warnings == [
        "b occurs in several versions: 0.4, 0.5",
        "c occurs in several versions: 1, 2",
    ]


def test_the_licenses_of_an_environment_are_listed(audit):
    found = audit.Findings()
    audit.list_python_licenses(sys.executable, found)
    assert any(line.startswith("numpy ") and "BSD" in line for line in found.listed)
    assert not found.faults


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-ins are shell scripts")
def test_vulnerability_scanners_are_run(audit, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    found = audit.Findings()
    audit.check_advisories(ROOT, True, found)
    assert [text.split(":")[0] for text in found.warnings] == ["NOT CHECKED", "NOT CHECKED"]
    assert not found.done

    def stand_in(name, code):
        path = tmp_path / name
        path.write_text(f'#!/bin/sh\necho "$@"\nexit {code}\n', encoding="utf-8")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    for name, code in (("cargo", 0), ("cargo-deny", 0), ("pip-audit", 1)):
        stand_in(name, code)
    found = audit.Findings()
    audit.check_advisories(ROOT, True, found)
    assert len(found.done) == 2 and not found.warnings
    assert len(found.faults) == 1
    assert "--requirement python/requirements-test.txt" in found.faults[0]
    # pip-audit needs the network; without it the check is skipped, with a message.
    found = audit.Findings()
    audit.check_advisories(ROOT, False, found)
    assert found.done == [
        "known vulnerabilities of crates, by cargo deny --locked --offline check advisories"
    ]
    assert len(found.warnings) == 1 and not found.faults


def test_the_requirements_of_the_project_pass(audit):
    found = audit.Findings()
    audit.check_requirements(ROOT, found)
    assert found.faults == []
    assert int(found.done[0].split()[0]) > 25


def test_the_data_of_the_project_pass(audit):
    found = audit.Findings()
    audit.check_data(ROOT, found)
    assert found.faults == []
    assert found.done == ["licenses of 16 built-in data sets in 14 files"]


def test_data_without_row_source_or_allowed_license_are_reported(audit, tmp_path):
    folder = tmp_path / audit.DATA
    folder.mkdir(parents=True)
    shutil.copy(ROOT / "deny.toml", tmp_path)
    for name in ("good", "free", "strict", "bare", "broken", "unlisted"):
        (folder / f"{name}.csv.gz").write_bytes(b"")
    (folder / "README.md").write_text(
        "| set | size | target | source | license |\n|---|---|---|---|---|\n"
        "| good (text) | 1 x 1 | 2 classes | PyPI a 1.0 | MIT |\n"
        "| free (text) | 1 x 1 | 2 classes | NIST | public domain |\n"
        "| strict (text) | 1 x 1 | 2 classes | PyPI b 1.0 | GPL-3.0 |\n"
        "| bare (text) | 1 x 1 | 2 classes | | MIT |\n"
        "| broken (text) | 1 x 1 | 2 classes | PyPI c 1.0 | MIT; GPL-3.0 |\n",
        encoding="utf-8",
    )
    found = audit.Findings()
    audit.check_data(tmp_path, found)
    assert [fault.removeprefix(f"{audit.DATA}/") for fault in found.faults] == [
        f"unlisted.csv.gz has no row in {audit.DATA}/README.md",
        "README.md: strict: license GPL-3.0 is not allowed",
        "README.md: bare states no source",
        "README.md: broken: 'MIT; GPL-3.0' is not a license expression",
    ]


@pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not here")
def test_the_crates_of_the_project_pass(audit):
    found = audit.Findings()
    try:
        audit.check_crates(ROOT, False, found)
    except RuntimeError as error:
        pytest.skip(str(error))
    assert found.faults == []
    assert len(found.done) == 4


def test_a_violation_gives_exit_code_1(audit, monkeypatch):
    def fault(root, network, found):
        found.faults.append("there it is")

    for name in ("check_crates", "check_data", "check_requirements", "check_advisories"):
        monkeypatch.setattr(audit, name, lambda *_: None)
    said = []
    assert audit.main(["--offline"], said.append) == 0
    monkeypatch.setattr(audit, "check_crates", fault)
    assert audit.main(["--offline"], said.append) == 1
    assert "FAULT: there it is" in said
