"""Pictures of the methods, one each, drawn from what the command line says of real data.

Colours are variables of the picture, so that it follows a light or a dark page.
"""

import csv
import io
import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

# What is drawn in the light colour is written as a variable; the dark one takes its place on dark pages.
COLOURS = {
    "paper": ("#ffffff", "#15181c"),
    "ink": ("#1d2126", "#e6e8eb"),
    "muted": ("#5c646e", "#9aa3ad"),
    "rule": ("#d3d6da", "#3a4047"),
    "c0": ("#0072b2", "#4a9fe0"),
    "c1": ("#d55e00", "#ff8a47"),
    "c2": ("#00865f", "#3fcf9f"),
}
INK, MUTED, RULE = (COLOURS[name][0] for name in ("ink", "muted", "rule"))
CLASSES = [COLOURS[f"c{i}"][0] for i in range(3)]
RELEVANT = CLASSES[1]
MARKS = ["o", "s", "^"]

STYLE = {
    "figure.facecolor": COLOURS["paper"][0],
    "axes.facecolor": "none",
    "axes.edgecolor": RULE,
    "axes.labelcolor": MUTED,
    "axes.titlecolor": INK,
    "axes.titlelocation": "left",
    "axes.titlesize": 10,
    "axes.labelsize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "legend.labelcolor": INK,
    "text.color": INK,
    "font.family": ["sans-serif"],
    "svg.fonttype": "none",
    "svg.hashsalt": "kernsift",
    "figure.constrained_layout.use": True,
    "figure.constrained_layout.h_pad": 0.12,
    "figure.constrained_layout.w_pad": 0.12,
}

PATTERNS = {
    "linear": "decided by a sum",
    "ring": "by a distance",
    "xor": "by a product's sign",
}
TITLES = {**PATTERNS, "redundant": "two columns, each with two noisy copies"}
# Methods whose way to the answer is drawn as well.
PATHS = {"ldfs": "--penalty 0.005", "hsic-lasso": "-k 8"}
LONG = re.compile(r"\d+\.\d{2,}")
ROWS, COLUMNS, SEED = 500, 20, 3


class Pictures:
    """Runs commands in a folder and writes pictures into another."""

    def __init__(self, program: Path, scratch: Path, folder: Path) -> None:
        self.program, self.scratch, self.folder = program, scratch, folder
        self.relevant = {pattern: self.make(pattern) for pattern in [*PATTERNS, "redundant"]}

    def run(self, line: str) -> subprocess.CompletedProcess[str]:
        """What `kernsift` with these words printed."""
        command = [self.program, *line.split()]
        return subprocess.run(command, capture_output=True, text=True, check=True, cwd=self.scratch)

    def record(self, line: str) -> dict[str, Any]:
        """The record that a command prints with `--json`."""
        return json.loads(self.run(f"{line} --json --quiet").stdout)

    def make(self, pattern: str) -> set[str]:
        """Writes a made-up table; the names of its relevant columns."""
        said = self.run(
            f"data make {pattern} --rows {ROWS} --columns {COLUMNS} --seed {SEED} --out {pattern}.csv"
        ).stderr
        return set(re.findall(r"x\d+", said.split("relevant columns:")[1]))

    def table(self, name: str) -> tuple[list[str], np.ndarray, list[str]]:
        """Names, numbers and classes of a table that a command wrote; the class is the last column."""
        lines = list(csv.reader((self.scratch / name).read_text(encoding="utf-8").splitlines()))
        names, rows = lines[0], lines[1:]
        return names[:-1], np.array([row[:-1] for row in rows], dtype=float), [row[-1] for row in rows]

    def draw(self, name: str, width: float, height: float, plot: Callable[[Figure], None]) -> None:
        """A picture in the colours of the page that shows it."""
        with plt.rc_context(STYLE):
            figure = plt.figure(figsize=(width, height))
            plot(figure)
            out = io.StringIO()
            figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
            plt.close(figure)
        text = out.getvalue()
        for variable, (light, _) in COLOURS.items():
            text = text.replace(light, f"var(--{variable})")
        palette = [" ".join(f"--{name}: {pair[dark]};" for name, pair in COLOURS.items()) for dark in (0, 1)]
        style = (
            f"<style>svg {{ {palette[0]} font-family: system-ui, 'DejaVu Sans', sans-serif; }}\n"
            f"@media (prefers-color-scheme: dark) {{ svg {{ {palette[1]} }} }}</style>"
        )
        text = re.sub(r"(<svg [^>]*>)", rf"\1\n{style}", text, count=1)
        # A tenth of a point is fine enough, and nobody reads the file.
        text = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", text, flags=re.DOTALL)
        text = re.sub(
            r"<[^>]*>", lambda tag: LONG.sub(lambda digits: f"{float(digits[0]):.1f}", tag[0]), text
        )
        text = re.sub(r"\s*\n\s*", " ", text).strip() + "\n"
        (self.folder / f"{name}.svg").write_text(text, encoding="utf-8")

    # Selectors of columns.

    def planted(self, axes: Axes, pattern: str, settings: str) -> None:
        """Scores of all columns of a made-up table, the relevant ones in a colour of their own."""
        scores = self.record(f"select {pattern}.csv {settings}")["scores"]
        names = sorted(scores, key=lambda name: int(name[1:]))
        colours = [RELEVANT if name in self.relevant[pattern] else MUTED for name in names]
        axes.bar(range(len(names)), [scores[name] for name in names], color=colours, width=0.75)
        if not any(scores.values()):
            axes.set_ylim(0, 1)
            axes.text(0.5, 0.5, "no score above 0", ha="center", color=MUTED, transform=axes.transAxes)
        axes.set_title(f"{pattern}: {TITLES[pattern]}")
        axes.set_xticks([i for i, name in enumerate(names) if name in self.relevant[pattern]])
        axes.set_xticklabels([name for name in names if name in self.relevant[pattern]])

    def bars(self, axes: Axes, values: dict[str, float], title: str) -> None:
        """Named values, largest on top."""
        names = sorted(values, key=lambda name: values[name])
        axes.barh(names, [values[name] for name in names], color=CLASSES[0], height=0.7)
        axes.set_title(title)

    def selector(self, method: str) -> None:
        """What a selector sees of three kinds of truth, and in the wine data."""
        settings = f"-m {method}"

        def plot(figure: Figure) -> None:
            areas = figure.subplot_mosaic([[*PATTERNS, "wine"]], width_ratios=[1, 1, 1, 1.15])
            for pattern in PATTERNS:
                self.planted(areas[pattern], pattern, settings)
            areas["linear"].set_ylabel("score")
            scores = self.record(f"select builtin:wine {settings}")["scores"]
            self.bars(areas["wine"], {name[:18]: value for name, value in scores.items()}, "wine")

        self.draw(method, 9.6, 2.6, plot)

    def unsupervised(self, method: str) -> None:
        """Scores without a target: on copies of two columns among others, and in the wine data."""

        def plot(figure: Figure) -> None:
            left, right = figure.subplots(1, 2, width_ratios=[1.6, 1])
            self.planted(left, "redundant", f"-m {method}")
            left.set_ylabel("score")
            scores = self.record(f"select builtin:wine -m {method}")["scores"]
            self.bars(
                right, {name[:18]: value for name, value in scores.items()}, "wine, its classes left aside"
            )

        self.draw(method, 9.6, 2.6, plot)

    # Bases and selection among their directions.

    def scatter(self, axes: Axes, values: np.ndarray, classes: list[str], labels: list[str]) -> None:
        """Rows in two coordinates, a colour and a mark for each class."""
        for i, name in enumerate(sorted(set(classes))):
            at = np.array([each == name for each in classes])
            axes.scatter(
                values[at, 0],
                values[at, 1],
                s=13,
                color=CLASSES[i],
                marker=MARKS[i],
                linewidths=0,
                label=f"class {name}",
            )
        axes.set_xlabel(labels[0])
        axes.set_ylabel(labels[1])
        axes.legend(loc="best", handletextpad=0.1)

    def basis(self, method: str) -> None:
        """How much each direction brings, and the rows in the first two."""
        record = self.record(f"basis builtin:wine -m {method} --out mapped.csv")
        names, values, classes = self.table("mapped.csv")
        lengths = np.array(record["residual_norms"])

        def plot(figure: Figure) -> None:
            left, right = figure.subplots(1, 2, width_ratios=[1.3, 1])
            left.set_title(f"{method} on wine: {len(lengths)} directions of {len(values)} rows")
            if method in ("kda", "gda"):
                for i, name in enumerate(sorted(set(classes))):
                    at = [each == name for each in classes]
                    left.hist(values[at, 0], 12, color=CLASSES[i], alpha=0.8)
                left.set_xlabel(names[0])
                left.set_ylabel("rows")
            else:
                places = np.arange(1, len(lengths) + 1)
                left.plot(places, lengths / lengths[0], color=CLASSES[0], label="its length, first = 1")
                if method == "kobl":
                    left.plot(
                        places, (places - 1) / len(values), color=CLASSES[1], label="threshold (k - 1) / n"
                    )
                left.legend(loc="best")
                left.set_ylim(0, 1.05)
                left.set_xlabel("direction")
            self.scatter(right, values[:, :2], classes, names[:2])
            right.set_title("rows in the first two directions")

        self.draw(method, 9, 3.3, plot)

    def space(self, method: str) -> None:
        """The vote's error or the weights of directions, and rows in the two that come first."""
        record = self.record(f"select builtin:wine -m {method} --out mapped.csv")
        names, values, classes = self.table("mapped.csv")
        curve, kept = record["error_curve"], len(record["selected"])

        def plot(figure: Figure) -> None:
            left, right = figure.subplots(1, 2, width_ratios=[1.3, 1])
            if curve:
                left.plot(range(1, len(curve) + 1), curve, color=CLASSES[0])
                left.plot([kept], [curve[kept - 1]], "o", color=CLASSES[1], label=f"kept: {kept}")
                left.set_ylabel("vote's error on training rows")
                left.legend(loc="best")
            else:
                weights = [record["weights"][name] for name in record["order"]]
                left.stairs(weights, np.arange(len(weights) + 1) + 0.5, color=CLASSES[0], fill=True)
                left.axvline(kept + 0.5, color=CLASSES[1], label=f"kept: {kept}")
                left.set_ylabel("weight")
                left.legend(loc="upper right")
            left.set_xlabel("directions, in their order")
            left.set_title(f"{method} on wine: {kept} of {record['n_components']} directions")
            self.scatter(right, values[:, :2], classes, names[:2])
            right.set_title("rows in the first two that are kept")

        self.draw(method, 9, 3.3, plot)

    # Kernel learners.

    def learner(self, method: str) -> None:
        """Weights of columns, and how alike rows of one class and of two classes are."""
        record = self.record(f"design builtin:wine -m {method} --beside none --gram alike.csv")
        with (self.scratch / "alike.csv").open(encoding="utf-8") as file:
            lines = list(csv.reader(file))
        alike = np.array(lines[-len(lines[-1]) :], dtype=float)
        self.run("data export wine --out wine.csv")
        classes = np.array(self.table("wine.csv")[2])
        above = np.triu(np.ones(alike.shape, dtype=bool), 1)
        same = classes[:, None] == classes[None, :]

        def plot(figure: Figure) -> None:
            left, right = figure.subplots(1, 2, width_ratios=[1, 1.3])
            self.bars(
                left, {name[:18]: value for name, value in record["scores"].items()}, "score of columns"
            )
            bins = np.linspace(*np.quantile(alike[above], [0.001, 0.999]), 50)
            for i, (of, label) in enumerate([(same, "rows of one class"), (~same, "rows of two classes")]):
                right.hist(
                    alike[above & of],
                    bins,
                    density=True,
                    histtype="step",
                    color=CLASSES[i],
                    linewidth=1.6,
                    label=label,
                )
            right.set_yticks([])
            right.set_xlabel("how alike two rows are")
            right.legend(loc="best")
            right.set_title(f"{method} on wine: {record['triplets']['in_order']:.1%} of triples in order")

        self.draw(method, 9, 3.1, plot)

    # More for the gallery.

    def path(self, method: str, settings: str) -> None:
        """Weights of the wine data's columns along a method's path."""
        record = self.record(f"select builtin:wine -m {method} {settings}")
        strengths = [place["strength"] for place in record["path"]]

        def plot(figure: Figure) -> None:
            axes = figure.subplots()
            weights = {name: [0.0] * len(strengths) for name in record["order"]}
            for i, place in enumerate(record["path"]):
                for name, weight in zip(place["columns"], place["weights"], strict=True):
                    weights[name][i] = weight
            last = {name: line[-1] for name, line in weights.items()}
            for rank, name in enumerate(record["order"]):
                named = rank < 3
                axes.plot(
                    strengths,
                    weights[name],
                    color=CLASSES[rank] if named else MUTED,
                    linewidth=1.8 if named else 0.8,
                    label=name if named else ("the others" if rank == 3 else None),
                )
            axes.set_xscale("log")
            if strengths[0] > strengths[-1]:
                axes.invert_xaxis()
            axes.set_xlabel(
                "price of weights, falling" if method in ("ldfs", "pfs", "hsic-lasso") else "radius"
            )
            axes.set_ylabel("weight of a column")
            axes.set_title(
                f"{method} on wine: {sum(value > 0 for value in last.values())} columns at the end"
            )
            axes.legend(loc="upper left")

        self.draw(f"{method}-path", 7.5, 3.3, plot)

    def everything(self) -> list[str]:
        """Draws all of them; their names."""
        families: dict[str, Callable[[str], None]] = {
            "selector": self.selector,
            "kernel-space": self.space,
            "basis": self.basis,
            "kernel-learner": self.learner,
        }
        drawn = []
        for facts in json.loads(self.run("methods --json").stdout):
            name, family = facts["name"], facts["family"]
            if family not in families:
                continue
            if family == "selector" and facts["needs"] == "nothing but features":
                self.unsupervised(name)
            else:
                families[family](name)
            drawn.append(name)
        for name, settings in PATHS.items():
            self.path(name, settings)
            drawn.append(f"{name}-path")
        return drawn
