"""Write the parameter tables of the method pages from the declarations in Rust.

Run it after a change of a parameter; a test fails if a table is not current.
"""

import json
import re
from pathlib import Path

from kernsift import _native

PAGES = Path(__file__).parent / "methods"
HEADER = "| parameter | default | values | |\n|---|---|---|---|\n"


def methods():
    """All methods of the catalog, with their family."""
    return json.loads(_native.methods())


def table(method):
    """The parameter table of a method; empty for a method without parameters."""
    rows = [row(parameter) for parameter in json.loads(_native.method_parameters(method))]
    return HEADER + "".join(rows) if rows else ""


def row(parameter):
    """One line of the table, with the meaning of each named value."""
    text = parameter["description"]
    for kind in parameter["kinds"]:
        for value in kind.get("values", ()):
            text += f" `{value['name']}`: {value['description']}"
    cells = [f"`{parameter['name']}`", f"`{parameter['default_text']}`", parameter["expected"], text]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def current(page, method):
    """A page's text with the table that it should have."""
    new = table(method)
    if not new:
        return page
    return re.sub(
        r"(## Parameters\n\n)(?:\|.*\n)*", lambda found: found[1] + new, page, count=1, flags=re.MULTILINE
    )


if __name__ == "__main__":
    for method in methods():
        path = PAGES / f"{method['name']}.md"
        if path.exists():
            path.write_text(current(path.read_text(encoding="utf-8"), method["name"]), encoding="utf-8")
