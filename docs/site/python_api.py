"""Pages of the Python package, from its docstrings."""

import functools
import inspect
import re

import kernsift

GROUPS = {
    "Feature selectors": [
        *("FisherScore", "MutualInformation", "InformationGain", "ChiSquared", "HSICLasso", "HSFS", "BAHSIC"),
        *(
            "AutoSelector",
            "FOHSIC",
            "NCASelector",
            "ReliefF",
            "SVMRFE",
            "L1SVM",
            "LDFS",
            "FFS",
            "LaplacianScore",
            "PFS",
        ),
    ],
    "Bases of kernel space": [
        "KOBL",
        "KernelGramSchmidt",
        "KernelPCA",
        "KernelDiscriminant",
        "gamma_for_n_components",
    ],
    "Kernel-space selection": ["TAKES", "KernelSpaceSelector"],
    "Kernel learners": ["KernelDesign", "XingMetric", "triplets_from_labels", "triplet_accuracy"],
    "Classifiers": ["KNNC", "SVC", "SVCCV", "LinearSVC"],
    "Comparison, dependence and kernel functions": [
        *("compare", "CompareResult", "rank_methods", "MethodRanks"),
        *("hsic", "HSICResult", "gram"),
    ],
    "Plots": [name for name in kernsift.__all__ if name.startswith("plot_")],
    "Data and models": [
        *("load_dataset", "list_datasets", "make_synthetic"),
        *("save_model", "load_model", "SavedModel", "register_onnx_converters"),
    ],
}
NUMPYDOC_SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)


@functools.cache
def grouped() -> dict[str, list[str]]:
    """Every public name in its group; the remaining ones are kernels and errors."""
    named = {name for names in GROUPS.values() for name in names}
    remaining = [name for name in kernsift.__all__ if name not in named and name != "__version__"]
    return {**GROUPS, "Kernels and errors": remaining}


def paths() -> list[str]:
    """The pages, the overview first."""
    return ["python/index.md", *(f"python/{name}.md" for names in grouped().values() for name in names)]


def summary(thing: object) -> str:
    """The first paragraph of a docstring, as one line."""
    return markdown((inspect.getdoc(thing) or "").split("\n\n")[0].replace("\n", " "))


def markdown(text: str) -> str:
    """Convert the reStructuredText markup used in the docstrings."""
    text = re.sub(r":\w+:`~?(?:[\w.]*\.)?(\w+)`", r"`\1`", text)
    text = re.sub(r"``(.+?)``", r"`\1`", text)
    return re.sub(r"\[(\d+)\]_", r"[\1]", text)


def definitions(text: str) -> str:
    """`name : type`, then an indented text, as rows of a list."""
    items = re.findall(r"^(\S[^\n]*)\n((?:(?: +[^\n]*)?\n?)*)", text, re.MULTILINE)
    lines = []
    for head, body in items:
        name, _, kind = (part.strip() for part in head.partition(" : "))
        text = markdown(inspect.cleandoc(body).replace("\n", " ")) if body.strip() else ""
        lines.append(
            f"`{name}`" + (f" *{kind.replace('*', '')}*" if kind else "") + f"\n:   {text or '&nbsp;'}\n"
        )
    return "\n".join(lines)


def examples(text: str) -> str:
    """Doctest as code."""
    return f"```pycon\n{text.strip()}\n```\n"


def docstring(thing: object, level: int) -> str:
    """A docstring in numpy's style as Markdown."""
    parts = NUMPYDOC_SECTION.split(inspect.getdoc(thing) or "")
    out = [markdown(parts[0])]
    for title, body in zip(parts[1::2], parts[2::2], strict=True):
        out.append(f"{'#' * level} {title}\n")
        if title in ("Parameters", "Attributes", "Returns", "Raises", "See Also", "Yields"):
            out.append(definitions(body))
        elif title == "Examples":
            out.append(examples(body))
        else:
            out.append(markdown(re.sub(r"^\.\. (\[\d+\])", r"\1", body, flags=re.MULTILINE)))
    return "\n".join(out)


def signature(name: str, thing: object) -> str:
    """How it is called, a parameter per line where there are many."""
    try:
        parameters = inspect.signature(thing).parameters.values()
    except ValueError:
        return name
    shown, keywords = [], False
    for each in parameters:
        if each.name == "self":
            continue
        if each.kind is each.KEYWORD_ONLY and not keywords:
            shown.append("*")
            keywords = True
        shown.append(str(each.replace(annotation=each.empty)))
    flat = f"{name}({', '.join(shown)})"
    return flat if len(flat) < 80 else f"{name}(\n    " + ",\n    ".join(shown) + ",\n)"


def page(name: str) -> str:
    """A page for a class or a function."""
    thing = getattr(kernsift, name)
    out = [f"# {name}\n", f"```python\nkernsift.{signature(name, thing)}\n```\n", docstring(thing, 2)]
    if inspect.isclass(thing):
        methods = {
            key: value
            for key, value in inspect.getmembers(thing, callable)
            if not key.startswith("_")
            and getattr(value, "__module__", "").startswith("kernsift")
            and value.__doc__
        }
        if methods:
            out.append("## Methods\n")
        for key, value in methods.items():
            out += [f"### {key}\n", f"```python\n{signature(key, value)}\n```\n", docstring(value, 4)]
    return "\n".join(out) + "\n"


def overview() -> str:
    """All public names with a line each."""
    out = ["# Python\n", "From the docstrings; `help(kernsift.KOBL)` shows the same.\n"]
    for title, names in grouped().items():
        out += [f"## {title}\n", "| name | |", "|---|---|"]
        out += [f"| [{name}]({name}.md) | {summary(getattr(kernsift, name))} |" for name in names]
        out.append("")
    return "\n".join(out)


@functools.cache
def pages() -> dict[str, str]:
    """Paths and texts of all pages."""
    return {path: overview() if path.endswith("index.md") else page(path[7:-3]) for path in paths()}
