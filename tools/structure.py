"""Check the structure of the Rust code: no import cycles between files, no file over 400 lines.

A file imports another if one of its paths (`crate::`, `super::`, `self::`, a child module, an imported name)
leads to an item of that file. Re-exports are followed to the file that defines the item. Declaring and
re-exporting children (`mod`, `pub use`) is not an import unless the file itself uses the name. A `mod.rs` is
a file like any other: if it uses its children and they use items defined in it, that is a cycle. Tests
(`#[cfg(test)]`), macros and calls of methods do not count.

    python tools/structure.py            # fails and lists what it finds
    python tools/structure.py --imports  # also prints which file imports which
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CRATES = ("crates/core", "crates/report", "crates/experiments", "crates/cli", "crates/cuda", "python")
MAX_LINES = 400

COMMENT_OR_LITERAL = re.compile(
    r"""//[^\n]* | /\*.*?\*/ | b?r(\#*)".*?"\1 | b?"(?:\\.|[^"\\])*" | b?'(?:\\.[^']*|[^'\\])'""",
    re.DOTALL | re.VERBOSE,
)
TEST = re.compile(r"#\[cfg\((?:all\()?test\b")
MODULE = re.compile(r"\bmod\s+(\w+)\s*([;{])")
USE = re.compile(r"(\bpub(?:\([^)]*\))?\s+)?\buse\s+([^;]*);")
PATH = re.compile(r"\b\w+(?:::\w+)+\b(?!!)")


def end_of_item(text, start):
    """The end of an item: its semicolon, or the brace that closes it."""
    depth = 0
    for match in re.compile(r"[;{}()\[\]]").finditer(text, start):
        depth += (match[0] in "{([") - (match[0] in "})]")
        if depth == 0 and match[0] in ";}":
            return match.end()
    return len(text)


def code(file):
    """The code of a file without comments, literals and tests, and its number of lines without tests."""
    text = COMMENT_OR_LITERAL.sub(lambda m: "\n" * m[0].count("\n") or " ", file.read_text(encoding="utf-8"))
    while match := TEST.search(text):
        text = text[: match.start()] + text[end_of_item(text, text.index("]", match.end()) + 1) :].lstrip()
    return text, text.count("\n")


def leaves(tree):
    """The paths of a `use` tree, each with the name that it gets (`*` for all names)."""
    prefix, _, rest = tree.partition("{")
    if rest:
        depth, part = 0, ""
        for char in rest.rstrip()[:-1] + ",":
            depth += (char == "{") - (char == "}")
            if char == "," and depth == 0:
                if part.strip():
                    yield from leaves(prefix + part)
                part = ""
            else:
                part += char
        return
    path, _, name = tree.partition(" as ")
    path = tuple(re.findall(r"\w+|\*", path))
    if path[-1] == "self":
        path = path[:-1]
    yield path, name.strip() or path[-1]


class Module:
    """A module: its children, the names that it imports, and the paths that it uses."""

    def __init__(self, file, folder, text, parent, lines):
        self.file, self.parent = file, parent
        self.children, self.names, self.globs, self.paths = {}, {}, [], []
        while match := MODULE.search(text):
            name, end = match[1], match.end()
            if match[2] == "{":
                end = end_of_item(text, match.start(2))
                child = Module(file, folder / name, text[match.end() : end - 1], self, lines)
            else:
                child_file = next(f for f in (folder / f"{name}.rs", folder / name / "mod.rs") if f.exists())
                child_text, lines[child_file] = code(child_file)
                child = Module(child_file, folder / name, child_text, self, lines)
            self.children[name] = child
            text = text[: match.start()] + text[end:]
        uses, text = USE.findall(text), re.sub(r"\s*::\s*", "::", USE.sub("", text))
        words = set(re.findall(r"\w+", text))
        for public, tree in uses:
            for path, name in leaves(tree):
                if name == "*":
                    self.globs.append(path[:-1])
                else:
                    self.names[name] = path
                    if not public or name in words:
                        self.paths.append(path)
        self.paths.extend(tuple(path.split("::")) for path in PATH.findall(text))

    def all(self):
        """This module and all below it."""
        yield self
        for child in self.children.values():
            yield from child.all()

    def file_of(self, path):
        """The file with the item of a path; `None` for other crates and for modules."""
        module, (first, *rest) = self, path
        if first == "crate":
            while module.parent:
                module = module.parent
        elif first == "super":
            module = module.parent
        elif first in module.children:
            module = module.children[first]
        elif first in module.names and module.names[first][0] != first:
            return module.file_of((*module.names[first], *rest))
        elif first != "self":
            return None
        for at, name in enumerate(rest):
            if name == "super":
                module = module.parent
            elif name in module.children:
                module = module.children[name]
            elif name in module.names:
                return module.file_of((*module.names[name], *rest[at + 1 :]))
            else:
                found = (module.file_of((*glob, *rest[at:])) for glob in module.globs)
                return next((file for file in found if file), module.file)
        return None


def reachable(imports, file):
    """The files that a file imports, directly or through others."""
    reached, stack = set(), [file]
    while stack:
        new = imports[stack.pop()] - reached
        reached |= new
        stack.extend(new)
    return reached


def main():
    findings = []
    for crate in CRATES:
        source = ROOT / crate / "src"
        root = next(f for f in (source / "lib.rs", source / "main.rs") if f.exists())
        lines = {}
        text, lines[root] = code(root)
        crate_module = Module(root, source, text, None, lines)
        imports = {file: set() for file in lines}
        for module in crate_module.all():
            imports[module.file] |= {module.file_of(path) for path in module.paths} - {None, module.file}
        for file, count in lines.items():
            if count > MAX_LINES:
                findings.append(f"{file.relative_to(ROOT)}: {count} lines without tests, at most {MAX_LINES}")
        if "--imports" in sys.argv:
            for file, imported in imports.items():
                print(file.relative_to(ROOT), "->", *sorted(str(f.relative_to(source)) for f in imported))
        reached = {file: reachable(imports, file) for file in imports}
        cycles = {frozenset(f for f in reached[file] if file in reached[f]) for file in imports}
        for cycle in filter(None, cycles):
            findings.append("import cycle: " + ", ".join(sorted(str(f.relative_to(ROOT)) for f in cycle)))
    if findings:
        print("\n".join(sorted(findings)))
        print(f"{len(findings)} findings (tools/structure.py says what counts)", file=sys.stderr)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
