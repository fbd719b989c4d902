"""Audit dependencies and data: licenses, sources, checksums, versions. Run by `make audit`.

Needs only Python and cargo, and no network once the crates are fetched. The rules are in deny.toml, which
cargo-deny reads too. Errors give the exit code 1, warnings 0. Known vulnerabilities are looked up if
cargo-deny, cargo-audit or pip-audit is installed; otherwise a warning says that they were not.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
REQUIREMENTS = (
    *("python/requirements-test.txt", "docs/requirements.txt"),
    *("benchmarks/requirements.txt", "benchmarks/requirements-power.txt"),
)
# Benchmarks outside the workspace: their lock files are checked, but not the licenses of their crates.
OTHER_LOCKS = ("benchmarks/lp_solvers/Cargo.lock",)
# Embedded data sets. Their licenses are those of deny.toml, or one of these.
DATA = "crates/core/data"
DATA_LICENSES = {"CC-BY-3.0", "CC-BY-4.0", "CC0-1.0", "PDDL-1.0", "public domain"}

# Run by the interpreter whose packages are listed.
LIST_PACKAGES = """
import json
from importlib.metadata import distributions

def facts(found):
    about = found.metadata
    kinds = [c.split(" :: ")[-1] for c in about.get_all("Classifier") or [] if c.startswith("License ::")]
    stated = about["License-Expression"] or ", ".join(kinds) or (about["License"] or "").strip()
    return {"name": about["Name"], "version": found.version, "license": stated.partition("\\n")[0]}

print(json.dumps([facts(found) for found in distributions() if found.metadata["Name"]]))
"""


@dataclass
class Findings:
    """Results of the audit."""

    done: list[str] = field(default_factory=list)
    listed: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


# Licenses


def is_allowed(expression: str, allowed: set[str]) -> bool:
    """Whether a license expression is satisfied by allowed licenses.

    `WITH` binds tightest, then `AND`, then `OR`; `/` is an old form of `OR`. A license with an exception
    is allowed only if it is listed with the exception.
    """
    tokens = re.findall(r"[()/]|[^\s()/]+", expression)
    words = {"AND", "OR", "WITH"}
    place = 0

    def look() -> str:
        return tokens[place] if place < len(tokens) else ""

    def take() -> str:
        nonlocal place
        place += 1
        return tokens[place - 1]

    def name() -> str:
        if not look() or look() in "()/" or look().upper() in words:
            raise ValueError(f"'{expression}' is not a license expression")
        return take()

    def single() -> bool:
        if look() == "(":
            take()
            met = either()
            if look() != ")":
                raise ValueError(f"'{expression}' is not a license expression")
            take()
            return met
        license = name()
        if look().upper() == "WITH":
            take()
            license += f" WITH {name()}"
        return license in allowed

    def both() -> bool:
        met = single()
        while look().upper() == "AND":
            take()
            met = single() and met
        return met

    def either() -> bool:
        met = both()
        while look().upper() == "OR" or look() == "/":
            take()
            met = both() or met
        return met

    met = either()
    if look():
        raise ValueError(f"'{expression}' is not a license expression")
    return met


def check_licenses(packages: list[dict[str, Any]], rules: dict[str, Any], found: Findings) -> None:
    allowed = set(rules["licenses"]["allow"])
    for package in packages:
        crate = f"{package['name']} {package['version']}"
        try:
            if not package["license"]:
                found.faults.append(f"{crate} states no license")
            elif not is_allowed(package["license"], allowed):
                found.faults.append(f"{crate}: license {package['license']} is not allowed by deny.toml")
        except ValueError as error:
            found.faults.append(f"{crate}: {error}")
    found.done.append(f"licenses of {len(packages)} crates")


def check_data(root: Path, found: Findings) -> None:
    """Every embedded data file has a row in the README's table, with a source and an allowed license."""
    rules = tomllib.loads((root / "deny.toml").read_text(encoding="utf-8"))
    allowed = set(rules["licenses"]["allow"])
    rows = {}
    for line in (root / DATA / "README.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("| ").split("|")]
        if line.startswith("|") and cells[0] != "set" and set(cells[0]) != {"-"}:
            rows[cells[0].partition(" ")[0]] = cells
    files = sorted(path.name for path in (root / DATA).iterdir() if path.name != "README.md")
    for name in files:
        cells = rows.get(name.partition(".")[0])
        if cells is None:
            found.faults.append(f"{DATA}/{name} has no row in {DATA}/README.md")
    for name, cells in rows.items():
        if len(cells) != 5 or not cells[3]:
            found.faults.append(f"{DATA}/README.md: {name} states no source")
            continue
        try:
            if cells[4] not in DATA_LICENSES and not is_allowed(cells[4], allowed):
                found.faults.append(f"{DATA}/README.md: {name}: license {cells[4]} is not allowed")
        except ValueError:
            found.faults.append(f"{DATA}/README.md: {name}: '{cells[4]}' is not a license expression")
    found.done.append(f"licenses of {len(rows)} built-in data sets in {len(files)} files")


# Crates


def check_lock(lock: dict[str, Any], members: set[str], rules: dict[str, Any], found: Findings) -> None:
    """Check that every crate is a workspace member, or has a checksum and comes from an allowed registry."""
    sources = {f"registry+{address}" for address in rules["sources"]["allow-registry"]}
    refused = {entry["crate"] for entry in rules["bans"]["deny"]}
    for package in lock["package"]:
        crate = f"{package['name']} {package['version']}"
        source = package.get("source")
        if package["name"] in refused:
            found.faults.append(f"{crate} is refused by deny.toml")
        if source is None:
            if package["name"] not in members:
                found.faults.append(f"{crate} comes from a folder outside the workspace")
        elif source.startswith("git+"):
            found.faults.append(f"{crate} comes from a git repository")
        elif source not in sources:
            found.faults.append(f"{crate} comes from {source}, which deny.toml does not allow")
        elif not re.fullmatch(r"[0-9a-f]{64}", package.get("checksum", "")):
            found.faults.append(f"{crate} has no checksum in the lock file")
    found.done.append(f"sources and checksums of {len(lock['package'])} locked crates")


def check_wildcards(members: list[dict[str, Any]], found: Findings) -> None:
    """Check that every dependency outside the workspace has a version requirement."""
    asked = 0
    for member in members:
        for wanted in member["dependencies"]:
            asked += 1
            if "*" in wanted["req"] and not wanted.get("path"):
                found.faults.append(f"{member['name']} accepts any version of {wanted['name']}")
    found.done.append(f"{asked} requirements of {len(members)} workspace crates")


def line_of(version: str) -> str:
    """The semver-incompatible part of a version: 3.1 -> 3, 0.4.2 -> 0.4."""
    major, minor, *_ = version.split(".")
    return major if major != "0" else f"0.{minor}"


def list_duplicates(lock: dict[str, Any], found: Findings) -> None:
    lines: dict[str, set[str]] = {}
    for package in lock["package"]:
        lines.setdefault(package["name"], set()).add(line_of(package["version"]))
    for name, versions in sorted(lines.items()):
        if len(versions) > 1:
            found.warnings.append(f"{name} occurs in several versions: {', '.join(sorted(versions))}")


def cargo_metadata(root: Path, network: bool) -> tuple[dict[str, Any], str]:
    """The output of cargo metadata, and the platforms it covers; raises RuntimeError if cargo fails."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked"]
    host = re.search(r"^host: (\S+)$", run(["rustc", "-vV"], root).stdout, re.MULTILINE)
    tries = [([*command, "--offline"], "all platforms")]
    if network:
        tries.append((command, "all platforms"))
    if host:
        # Crates for other platforms may not be fetched.
        tries.append(([*command, "--offline", "--filter-platform", host[1]], host[1]))
    for attempt, platforms in tries:
        answer = run(attempt, root)
        if answer.returncode == 0:
            return json.loads(answer.stdout), platforms
    raise RuntimeError(f"cargo metadata failed: {answer.stderr.strip()}")


def check_crates(root: Path, network: bool, found: Findings) -> None:
    rules = tomllib.loads((root / "deny.toml").read_text(encoding="utf-8"))
    metadata, platforms = cargo_metadata(root, network)
    lock = tomllib.loads((root / "Cargo.lock").read_text(encoding="utf-8"))
    ours = [package for package in metadata["packages"] if package["id"] in metadata["workspace_members"]]
    check_lock(lock, {package["name"] for package in ours}, rules, found)
    check_wildcards(ours, found)
    used = {node["id"] for node in metadata["resolve"]["nodes"]}
    packages = [package for package in metadata["packages"] if package["id"] in used]
    check_licenses(packages, rules, found)
    missing = len(lock["package"]) - len(packages)
    if missing:
        found.warnings.append(
            f"licenses of {missing} locked crates were not checked: they are not used on {platforms} "
            "and not fetched; run `cargo fetch`"
        )
    list_duplicates(lock, found)
    members = {package["name"] for package in ours}
    for other in OTHER_LOCKS:
        lock = tomllib.loads((root / other).read_text(encoding="utf-8"))
        manifest = tomllib.loads((root / other).with_name("Cargo.toml").read_text(encoding="utf-8"))
        check_lock(lock, {*members, manifest["package"]["name"]}, rules, found)


# Python


def check_requirement(line: str) -> str | None:
    """The fault of a requirement, if any: it needs a name and a minimum version."""
    wanted = line.partition(";")[0].strip()
    parts = re.fullmatch(r"([A-Za-z0-9][\w.-]*)(?:\[[\w,. -]*\])?\s*(.*)", wanted)
    if not parts:
        return f"'{wanted}' is not a package name of the index"
    name, versions = parts.groups()
    if versions.startswith("@"):
        return f"{name} comes from a URL"
    bounds = [bound.strip() for bound in versions.strip("()").split(",")]
    if not any(re.fullmatch(r"(>=|>|==|~=|===)\s*\d[\w.+!-]*(\.\*)?", bound) for bound in bounds):
        return f"{name} has no minimum version"
    return None


def check_requirements(root: Path, found: Findings) -> None:
    wanted = {}
    for name in REQUIREMENTS:
        text = re.sub(r"(^|\s)#.*", "", (root / name).read_text(encoding="utf-8"))
        wanted[name] = [line.strip() for line in text.splitlines() if line.strip()]
    project = tomllib.loads((root / "python/pyproject.toml").read_text(encoding="utf-8"))
    wanted["python/pyproject.toml"] = [
        *project["build-system"]["requires"],
        *project["project"]["dependencies"],
        *(line for lines in project["project"]["optional-dependencies"].values() for line in lines),
    ]
    for name, lines in wanted.items():
        found.faults += [f"{name}: {fault}" for line in lines if (fault := check_requirement(line))]
    found.done.append(f"{sum(map(len, wanted.values()))} requirements of Python packages")


def list_python_licenses(interpreter: str, found: Findings) -> None:
    """List the licenses of the installed packages; a package without one gives a warning."""
    answer = run([interpreter, "-c", LIST_PACKAGES], ROOT)
    if answer.returncode:
        found.faults.append(f"{interpreter} cannot list its packages: {answer.stderr.strip()}")
        return
    packages = sorted(json.loads(answer.stdout), key=lambda package: package["name"].lower())
    for package in packages:
        stated = package["license"]
        found.listed.append(f"{package['name']} {package['version']}: {stated or 'NO LICENSE STATED'}")
        if not stated or stated.upper() == "UNKNOWN":
            found.warnings.append(f"Python package {package['name']} states no license")
    found.done.append(f"licenses of {len(packages)} installed Python packages")


# Known vulnerabilities


def check_advisories(root: Path, network: bool, found: Findings) -> None:
    """Run the installed tools; without one, add a warning."""
    stay = [] if network else ["--offline"]
    fetch = [] if network else ["--no-fetch", "--stale"]
    if shutil.which("cargo-deny"):
        ask(["cargo", "deny", "--locked", *stay, "check", "advisories"], root, "crates", found)
    elif shutil.which("cargo-audit"):
        ask(["cargo", "audit", *fetch], root, "crates", found)
    else:
        found.warnings.append(
            "NOT CHECKED: known vulnerabilities of crates (cargo-deny and cargo-audit are not installed)"
        )
    if not shutil.which("pip-audit"):
        found.warnings.append(
            "NOT CHECKED: known vulnerabilities of Python packages (pip-audit is not installed)"
        )
    elif not network:
        found.warnings.append(
            "NOT CHECKED: known vulnerabilities of Python packages (pip-audit needs the network)"
        )
    else:
        files = [part for name in REQUIREMENTS for part in ("--requirement", name)]
        ask(["pip-audit", *files], root, "Python packages", found)


def ask(command: list[str], root: Path, what: str, found: Findings) -> None:
    answer = run(command, root)
    if answer.returncode:
        text = (answer.stdout + answer.stderr).strip()
        found.faults.append(f"{' '.join(command)} exited with {answer.returncode}:\n{text}")
    found.done.append(f"known vulnerabilities of {what}, by {' '.join(command)}")


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, encoding="utf-8")


def main(words: list[str] | None = None, say: Callable[[str], None] = print) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--offline", action="store_true", help="do not use the network")
    parser.add_argument("--python", metavar="PROGRAM", help="list the licenses of this Python's packages")
    options = parser.parse_args(words)
    found = Findings()
    try:
        check_crates(ROOT, not options.offline, found)
    except (RuntimeError, OSError) as error:
        found.faults.append(str(error))
    check_data(ROOT, found)
    check_requirements(ROOT, found)
    if options.python:
        list_python_licenses(options.python, found)
    check_advisories(ROOT, not options.offline, found)
    for text in found.listed:
        say(f"  {text}")
    for text in found.done:
        say(f"checked: {text}")
    for text in found.warnings:
        say(f"warning: {text}")
    for text in found.faults:
        say(f"FAULT: {text}")
    say(f"{len(found.faults)} faults, {len(found.warnings)} warnings")
    return 1 if found.faults else 0


if __name__ == "__main__":
    sys.exit(main())
