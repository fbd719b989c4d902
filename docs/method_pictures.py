"""Plots of the methods, one each, from the output of the command line.

Colors are CSS variables, so that the plots adapt to light and dark themes.
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

# Light and dark value of each color variable.
COLORS = {
    "paper": ("#ffffff", "#15181c"),
    "ink": ("#1d2126", "#e6e8eb"),
    "muted": ("#5c646e", "#9aa3ad"),
    "rule": ("#d3d6da", "#3a4047"),
    "c0": ("#0072b2", "#4a9fe0"),
    "c1": ("#d55e00", "#ff8a47"),
    "c2": ("#00865f", "#3fcf9f"),
}
INK, MUTED, RULE = (COLORS[name][0] for name in ("ink", "muted", "rule"))
CLASSES = [COLORS[f"c{i}"][0] for i in range(3)]
RELEVANT = CLASSES[1]
MARKS = ["o", "s", "^"]

STYLE = {
    "figure.facecolor": COLORS["paper"][0],
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
    "linear": "sum",
    "ring": "distance from 0",
    "xor": "sign of product",
}
TITLES = {**PATTERNS, "redundant": "two features, each with two noisy copies"}
# Methods whose path is drawn as well.
PATHS = {"ldfs": "--set penalty=0.005", "hsic-lasso": "-k 8"}
LONG = re.compile(r"\d+\.\d{2,}")
ROWS, COLUMNS, SEED = 500, 20, 3


class Pictures:
    """Runs commands in one directory and writes plots into another."""

    def __init__(self, program: Path, scratch: Path, folder: Path) -> None:
        self.program, self.scratch, self.folder = program, scratch, folder
        self.relevant = {pattern: self.make(pattern) for pattern in [*PATTERNS, "redundant"]}

    def run(self, line: str) -> subprocess.CompletedProcess[str]:
        """Run `kernsift` with these arguments."""
        command = [self.program, *line.split()]
        return subprocess.run(command, capture_output=True, text=True, check=True, cwd=self.scratch)

    def record(self, line: str) -> dict[str, Any]:
        """The record that a command prints with `--json`."""
        return json.loads(self.run(f"{line} --json --quiet").stdout)

    def make(self, pattern: str) -> set[str]:
        """Write a synthetic table; returns the names of its relevant features."""
        said = self.run(
            f"data make {pattern} --rows {ROWS} --columns {COLUMNS} --seed {SEED} --out {pattern}.csv"
        ).stderr
        return set(re.findall(r"x\d+", said.split("relevant columns:")[1]))

    def table(self, name: str) -> tuple[list[str], np.ndarray, list[str]]:
        """Names, values and classes of a table written by a command; the class is the last column."""
        lines = list(csv.reader((self.scratch / name).read_text(encoding="utf-8").splitlines()))
        names, rows = lines[0], lines[1:]
        return names[:-1], np.array([row[:-1] for row in rows], dtype=float), [row[-1] for row in rows]

    def draw(self, name: str, width: float, height: float, plot: Callable[[Figure], None]) -> None:
        """A plot in the colors of the page that shows it."""
        with plt.rc_context(STYLE):
            figure = plt.figure(figsize=(width, height))
            plot(figure)
            out = io.StringIO()
            figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
            plt.close(figure)
        text = out.getvalue()
        for variable, (light, _) in COLORS.items():
            text = text.replace(light, f"var(--{variable})")
        palette = [" ".join(f"--{name}: {pair[dark]};" for name, pair in COLORS.items()) for dark in (0, 1)]
        style = (
            f"<style>svg {{ {palette[0]} font-family: system-ui, 'DejaVu Sans', sans-serif; }}\n"
            f"@media (prefers-color-scheme: dark) {{ svg {{ {palette[1]} }} }}</style>"
        )
        text = re.sub(r"(<svg [^>]*>)", rf"\1\n{style}", text, count=1)
        # Round coordinates to a tenth of a point, and minify.
        text = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", text, flags=re.DOTALL)
        text = re.sub(
            r"<[^>]*>", lambda tag: LONG.sub(lambda digits: f"{float(digits[0]):.1f}", tag[0]), text
        )
        text = re.sub(r"\s*\n\s*", " ", text).strip() + "\n"
        (self.folder / f"{name}.svg").write_text(text, encoding="utf-8")

    # Feature selectors.

    def planted(self, axes: Axes, pattern: str, settings: str) -> None:
        """Scores of all features of a synthetic table, the relevant ones highlighted."""
        scores = self.record(f"select {pattern}.csv {settings}")["scores"]
        names = sorted(scores, key=lambda name: int(name[1:]))
        colors = [RELEVANT if name in self.relevant[pattern] else MUTED for name in names]
        axes.bar(range(len(names)), [scores[name] for name in names], color=colors, width=0.75)
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
        """Scores on three synthetic data sets and on the wine data."""
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
        """Unsupervised scores: on data with copies of two features, and on the wine data."""

        def plot(figure: Figure) -> None:
            left, right = figure.subplots(1, 2, width_ratios=[1.6, 1])
            self.planted(left, "redundant", f"-m {method}")
            left.set_ylabel("score")
            scores = self.record(f"select builtin:wine -m {method}")["scores"]
            self.bars(
                right, {name[:18]: value for name, value in scores.items()}, "wine, without the classes"
            )

        self.draw(method, 9.6, 2.6, plot)

    # Bases and kernel-space selection.

    def scatter(self, axes: Axes, values: np.ndarray, classes: list[str], labels: list[str]) -> None:
        """Samples in two coordinates, with a color and a marker for each class."""
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
        """Residual norms, and the samples in the first two directions."""
        record = self.record(f"basis builtin:wine -m {method} --out mapped.csv")
        names, values, classes = self.table("mapped.csv")
        lengths = np.array(record["residual_norms"])

        def plot(figure: Figure) -> None:
            left, right = figure.subplots(1, 2, width_ratios=[1.3, 1])
            left.set_title(f"{method} on wine: {len(lengths)} directions, {len(values)} samples")
            if method in ("kda", "gda"):
                for i, name in enumerate(sorted(set(classes))):
                    at = [each == name for each in classes]
                    left.hist(values[at, 0], 12, color=CLASSES[i], alpha=0.8)
                left.set_xlabel(names[0])
                left.set_ylabel("samples")
            else:
                places = np.arange(1, len(lengths) + 1)
                left.plot(places, lengths / lengths[0], color=CLASSES[0], label="residual norm, first = 1")
                if method == "kobl":
                    left.plot(
                        places, (places - 1) / len(values), color=CLASSES[1], label="threshold (k - 1) / n"
                    )
                left.legend(loc="best")
                left.set_ylim(0, 1.05)
                left.set_xlabel("direction")
            self.scatter(right, values[:, :2], classes, names[:2])
            right.set_title("samples in the first two directions")

        self.draw(method, 9, 3.3, plot)

    def space(self, method: str) -> None:
        """Error of the vote or weights of the directions, and samples in the first two."""
        record = self.record(f"select builtin:wine -m {method} --out mapped.csv")
        names, values, classes = self.table("mapped.csv")
        curve, kept = record["error_curve"], len(record["selected"])

        def plot(figure: Figure) -> None:
            left, right = figure.subplots(1, 2, width_ratios=[1.3, 1])
            if curve:
                left.plot(range(1, len(curve) + 1), curve, color=CLASSES[0])
                left.plot([kept], [curve[kept - 1]], "o", color=CLASSES[1], label=f"selected: {kept}")
                left.set_ylabel("training error of the vote")
                left.legend(loc="best")
            else:
                weights = [record["weights"][name] for name in record["order"]]
                left.stairs(weights, np.arange(len(weights) + 1) + 0.5, color=CLASSES[0], fill=True)
                left.axvline(kept + 0.5, color=CLASSES[1], label=f"selected: {kept}")
                left.set_ylabel("weight")
                left.legend(loc="upper right")
            left.set_xlabel("number of directions")
            left.set_title(f"{method} on wine: {kept} of {record['n_components']} directions")
            self.scatter(right, values[:, :2], classes, names[:2])
            right.set_title("samples in the first two selected directions")

        self.draw(method, 9, 3.3, plot)

    # Kernel learners.

    def learner(self, method: str) -> None:
        """Feature scores, and similarities within and between classes."""
        record = self.record(f"design builtin:wine -m {method} --baselines none --gram similarities.csv")
        with (self.scratch / "similarities.csv").open(encoding="utf-8") as file:
            lines = list(csv.reader(file))
        similarity = np.array(lines[-len(lines[-1]) :], dtype=float)
        self.run("data export wine --out wine.csv")
        classes = np.array(self.table("wine.csv")[2])
        above = np.triu(np.ones(similarity.shape, dtype=bool), 1)
        same = classes[:, None] == classes[None, :]

        def plot(figure: Figure) -> None:
            left, right = figure.subplots(1, 2, width_ratios=[1, 1.3])
            self.bars(
                left, {name[:18]: value for name, value in record["scores"].items()}, "score of features"
            )
            bins = np.linspace(*np.quantile(similarity[above], [0.001, 0.999]), 50)
            for i, (of, label) in enumerate([(same, "same class"), (~same, "different classes")]):
                right.hist(
                    similarity[above & of],
                    bins,
                    density=True,
                    histtype="step",
                    color=CLASSES[i],
                    linewidth=1.6,
                    label=label,
                )
            right.set_yticks([])
            right.set_xlabel("similarity of two samples")
            right.legend(loc="best")
            satisfied = record["triplets"]["satisfied"]
            right.set_title(f"{method} on wine: {satisfied:.1%} of triplets satisfied")

        self.draw(method, 9, 3.1, plot)

    # More for the gallery.

    def path(self, method: str, settings: str) -> None:
        """Weights of the features of the wine data along a path."""
        record = self.record(f"select builtin:wine -m {method} {settings}")
        strengths = [place["strength"] for place in record["path"]]

        def plot(figure: Figure) -> None:
            axes = figure.subplots()
            weights = {name: [0.0] * len(strengths) for name in record["order"]}
            for i, place in enumerate(record["path"]):
                for name, weight in zip(place["features"], place["weights"], strict=True):
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
            axes.set_xlabel("penalty" if method in ("ldfs", "pfs", "hsic-lasso") else "radius")
            axes.set_ylabel("weight of a feature")
            selected = sum(value > 0 for value in last.values())
            axes.set_title(f"{method} on wine: {selected} features at the end")
            axes.legend(loc="upper left")

        self.draw(f"{method}-path", 7.5, 3.3, plot)

    def everything(self) -> list[str]:
        """Draw all plots; returns their names."""
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
            if family == "selector" and facts["needs"] == "nothing":
                self.unsupervised(name)
            else:
                families[family](name)
            drawn.append(name)
        for name, settings in PATHS.items():
            self.path(name, settings)
            drawn.append(f"{name}-path")
        return drawn
