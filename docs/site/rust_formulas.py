"""Replaces the formulas in the output of cargo doc by MathML: `rust_formulas.py FOLDER...`.

On docs.rs, crates/core/katex-header.html draws them with a script from the network; the site needs none.
A formula that Markdown has changed is an error. Doc comments have an escaped underscore where Markdown would
see an emphasis, four backslashes for a line break, and no minus at the start of a line.
"""

import html
import re
import sys
from pathlib import Path

from formulas import to_mathml

# Code, scripts and tags are skipped.
TOKEN = re.compile(
    r"(?P<skip><(pre|code|script|style|title|textarea)\b.*?</\2>|<[^>]*>)"
    r"|\$\$(?P<block>[^<$]+)\$\$|\$(?P<inline>[^<$]+)\$|(?P<stray>\$[^<]{0,60})",
    re.DOTALL,
)


def convert(page, where):
    """A page with MathML for TeX, and the errors."""
    errors = []

    def replace(token):
        if token["skip"]:
            return token[0]
        if token["stray"]:
            errors.append(f"{where}: Markdown has changed this formula: {token[0]}")
            return token[0]
        # rustdoc makes straight quotes curly.
        latex = html.unescape(token["block"] or token["inline"]).replace("\u2019", "'")
        try:
            return to_mathml(latex, "block" if token["block"] else "inline")
        except ValueError as error:
            errors.append(f"{where}: {error}")
            return token[0]

    return TOKEN.sub(replace, page), errors


def main(folders):
    errors = []
    for path in sorted(path for folder in folders for path in Path(folder).rglob("*.html")):
        page = path.read_text(encoding="utf-8")
        if "$" in page:
            converted, found = convert(page, path)
            errors += found
            path.write_text(converted, encoding="utf-8")
    sys.exit("\n".join(errors) or 0)


if __name__ == "__main__":
    main(sys.argv[1:])
