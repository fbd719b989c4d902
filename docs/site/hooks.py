"""Hooks of mkdocs: formulas as MathML, the Python API, pages outside `docs`."""

import re
import sys
from pathlib import Path

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(Path(__file__).parent))

import formulas  # noqa: E402
import python_api  # noqa: E402

# Pages of the root directory that are part of the site.
OUTSIDE = ["CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"]
RUST = "rust/kernsift/index.html"

# Code is left alone: fenced blocks, indented blocks and spans come first in the pattern.
TOKEN = re.compile(
    r"(?P<code>^ *```.*?^ *```|^(?: {4}|\t)[^\n]*|`+[^`\n]+`+)"
    r"|\$\$(?P<block>.+?)\$\$|\$(?P<inline>[^$\n]+?)\$",
    re.DOTALL | re.MULTILINE,
)


def on_config(config):
    """Add the pages of the Python package and of the root directory to the navigation."""
    sections = {title: pages for entry in config.nav for title, pages in entry.items()}
    sections["API reference"].append({"Python": python_api.paths()})
    sections["Development"] += OUTSIDE
    return config


def on_files(files, config):
    for path, text in python_api.pages().items():
        files.append(File.generated(config, path, content=text))
    for name in OUTSIDE:
        files.append(File.generated(config, name, content=(ROOT / name).read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown, page, config, files):
    """Replace formulas by placeholders, which Markdown does not change; fix links to pages outside `docs`."""
    page.formulas = []

    def keep(token):
        if token["code"]:
            return token[0]
        block = token["block"]
        try:
            mathml = formulas.to_mathml(block or token["inline"], "block" if block else "inline")
        except ValueError as error:
            raise PluginError(f"{page.file.src_uri}: {error}") from error
        page.formulas.append(mathml)
        return f'<span data-formula="{len(page.formulas) - 1}"></span>'

    markdown = TOKEN.sub(keep, markdown)
    for name in OUTSIDE:
        markdown = markdown.replace(f"](../{name}", f"]({name}")
    if page.file.src_uri in OUTSIDE:
        markdown = markdown.replace("](docs/", "](")
    if page.file.src_uri.startswith("methods/"):
        markdown = re.sub(r"Python `(\w+)", link_to_class, markdown)
    return markdown


def link_to_class(found):
    """A class's name as a link to its page."""
    path = f"python/{found[1]}.md"
    return f"[Python](../{path}) `{found[1]}" if path in python_api.paths() else found[0]


def on_page_content(html, page, config, files):
    def put_back(token):
        return page.formulas[int(token[1])]

    def with_shape(picture):
        """A picture much wider than high has a class, by which phones scroll it."""
        file = Path(config.docs_dir, page.file.src_uri).parent / picture[2]
        size = re.search(r'viewBox="[\d.-]+ [\d.-]+ ([\d.]+) ([\d.]+)"', file.read_text(encoding="utf-8"))
        is_wide = size and float(size[1]) > 2.2 * float(size[2])
        return f'{picture[1]} class="wide"' if is_wide else picture[0]

    html = re.sub(r'(<img alt="[^"]*" src="([^":]+\.svg)")', with_shape, html)
    html = re.sub(r'<span data-formula="(\d+)"></span>', put_back, html)
    return html.replace(f"<code>{RUST}</code>", f'<a href="{RUST}">{RUST}</a>')
