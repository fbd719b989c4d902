"""Evaluation of selections by scikit-learn estimators."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.metrics import check_scoring

from kernsift import _native
from kernsift._native_data import Classes, FloatArray, Settings

#: Parameters that set the number of features, in the order in which they are looked for.
COUNT_PARAMETERS = ("n_features_to_select", "k", "max_features", "n_components")


def is_estimator(value: Any) -> bool:
    """Whether this is an instance with the methods of a scikit-learn estimator."""
    return hasattr(value, "fit") and hasattr(value, "get_params") and not isinstance(value, type)


def description(estimator: Any) -> str:
    """The repr of an estimator in one line, not shortened."""
    try:
        text = estimator.__repr__(N_CHAR_MAX=10**9)
    except TypeError:
        text = repr(estimator)
    return " ".join(text.split())


def external(estimator: Any, scorers: Iterable[str] = ()) -> dict[str, str]:
    """An estimator in the core's serialized form, with the names of scorers that the records have."""
    names = ", ".join(scorers)
    scored = f"; scorers: {names}" if names else ""
    return {"name": type(estimator).__name__, "description": description(estimator) + scored}


def count_parameter(selector: Any) -> str:
    """The parameter of a selector or pipeline that sets the number of features."""
    parameters = selector.get_params(deep=False)
    for name in COUNT_PARAMETERS:
        if name in parameters:
            return name
    for step, part in reversed(getattr(selector, "steps", [])):
        if is_estimator(part):
            own = part.get_params(deep=False)
            found = [name for name in COUNT_PARAMETERS[:3] if name in own and hasattr(part, "get_support")]
            found += ["n_components"] if "n_components" in own and hasattr(part, "transform") else []
            if found:
                return f"{step}__{found[0]}"
    raise ValueError(
        f"methods: {description(selector)} has no parameter that sets the number of features "
        f"({', '.join(COUNT_PARAMETERS)}), also not in a step of a pipeline."
    )


def check_method(selector: Any) -> None:
    """Raises unless this is a selector, a pipeline that ends in one, or one that ends in a predictor."""
    if not (hasattr(selector, "transform") or hasattr(selector, "predict")):
        raise ValueError(f"methods: {description(selector)} has neither transform nor predict.")
    count_parameter(selector)


class Scoring(NamedTuple):
    """Scores to compute: the names of the library's, and scorers of scikit-learn."""

    built_in: list[str]
    scorers: dict[str, Any]
    #: The first, which tables and plots show.
    first: str


def read_scoring(scoring: Any, evaluator: Any, known: Iterable[str], default: str) -> Scoring:
    """Several scores from what the user gives; `known` are the library's."""
    if scoring is None:
        scoring = [default]
    if isinstance(scoring, str) or callable(scoring):
        scoring = [scoring]
    if isinstance(scoring, Mapping):
        named = {str(name): value for name, value in scoring.items()}
    else:
        named = {}
        for value in scoring:
            name = value if isinstance(value, str) else getattr(value, "__name__", "score")
            if name in named:
                raise ValueError(f"scoring: there are two scores named {name!r}; use a dict to name them.")
            named[name] = value
    if not named:
        raise ValueError("scoring must name at least one score.")
    known = list(known)
    built_in: list[str] = []
    scorers: dict[str, Any] = {}
    for name, value in named.items():
        own = value.replace("_", "-") if isinstance(value, str) else None
        if own in known and (name == value or name.replace("_", "-") == own):
            built_in.append(own)
        elif name.replace("_", "-") in known:
            raise ValueError(f"scoring: {name!r} is a score of kernsift; use another name.")
        else:
            scorers[name] = check_scoring(evaluator, value)
            _check_response(evaluator, name, getattr(scorers[name], "_response_method", "default"))
    first = next(iter(named))
    return Scoring(built_in, scorers, first if first in scorers else first.replace("_", "-"))


def _check_response(evaluator: Any, name: str, methods: str | Iterable[str]) -> None:
    """Raises if an estimator has none of the methods that a scorer calls."""
    methods = [methods] if isinstance(methods, str) else list(methods)
    if methods in (["default"], []) or any(hasattr(evaluator, method) for method in methods):
        return
    raise ValueError(
        f"scoring={name!r} needs {' or '.join(methods)}, which {description(evaluator)} does not have. "
        "Use another score or estimator, or sklearn.calibration.CalibratedClassifierCV."
    )


def check_evaluator(evaluator: Any, built_in: Iterable[str], is_regression: bool) -> None:
    """Raises if an estimator is not for the target, or lacks what the library's scores need."""
    if (is_regression and is_classifier(evaluator)) or (not is_regression and is_regressor(evaluator)):
        what, target = ("classifier", "continuous") if is_regression else ("regressor", "class labels")
        raise ValueError(
            f"evaluator={description(evaluator)} is a {what}, but the target is {target}; "
            "use another evaluator, or set target_type."
        )
    needs = {"auc": ["decision_function", "predict_proba"], "log-loss": ["predict_proba"]}
    for name in built_in:
        _check_response(evaluator, name, needs.get(name, []))


class Work(NamedTuple):
    """What all tasks have in common. It is sent to the workers."""

    evaluator: Any
    #: Selectors that are not of this package, by label.
    methods: dict[str, Any]
    scorers: dict[str, Any]
    y: npt.NDArray[Any]
    #: Class labels in order; None for a continuous target.
    classes: npt.NDArray[Any] | None
    #: The parameter of the evaluator's `fit` that takes weights; None without weights.
    weight_parameter: str | None


#: Indices of samples, and their weights.
Side = tuple[npt.NDArray[np.int64], FloatArray | None]


class Rows(NamedTuple):
    """Training and test samples of a task."""

    label: str
    train: Side
    test: Side


#: A record as JSON, and encoded training and test samples with the name of the feature of each column.
Selected = tuple[str, tuple[FloatArray, FloatArray, list[str]] | None]


def evaluate(
    work: Work, task: int, rows: Rows, selections: list[Selected], cost: str
) -> tuple[int, list[str], str]:
    """Evaluates the selections of a task. Returns it, and the records and the cost as JSON."""
    start = time.perf_counter()
    records = [_record(work, rows, json.loads(record), parts) for record, parts in selections]
    spent = json.loads(cost) | {"evaluate_seconds": time.perf_counter() - start}
    return task, [json.dumps(record) for record in records], json.dumps(spent)


def _record(work: Work, rows: Rows, record: dict[str, Any], parts: Any) -> dict[str, Any]:
    if parts is None:
        return record
    at_test, of_test = rows.test
    y_test = work.y[at_test]
    scored = {} if of_test is None else {"sample_weight": of_test}
    try:
        model, test, names = _fitted(work, rows, record["k"], parts)
        scores = _scores(work, model, test, y_test, of_test)
        scorers = work.scorers.items()
        found = {name: float(scorer(model, test, y_test, **scored)) for name, scorer in scorers}
    except Exception as error:
        record = {
            key: record[key] for key in ("method", "repeat", "fold", "k", "train_rows") if key in record
        }
        return record | {"failed": f"{type(error).__name__}: {' '.join(str(error).split())[:500]}"}
    # JSON has no NaN; a missing score is shown as such.
    finite = {name: value for name, value in found.items() if np.isfinite(value)}
    return record | names | scores | ({"scorers": finite} if finite else {})


def _fitted(work: Work, rows: Rows, k: int, parts: Any) -> tuple[Any, FloatArray, dict[str, list[str]]]:
    """A fitted model, its test samples, and the names of the features of a selector of another package."""
    train, test, columns = parts
    at_train, weights = rows.train
    y_train = work.y[at_train]
    fit_weights = {work.weight_parameter: weights} if work.weight_parameter else {}
    model, names = clone(work.evaluator), {}
    selector = work.methods.get(rows.label)
    if selector is not None:
        selector = clone(selector).set_params(**{count_parameter(selector): k})
        if hasattr(selector, "transform"):
            selector.fit(train, y_train)
            names = _names(selector, columns)
            train, test = selector.transform(train), selector.transform(test)
        else:
            model = selector
    return model.fit(train, y_train, **fit_weights), test, names


def _names(selector: Any, columns: list[str]) -> dict[str, list[str]]:
    """The features that a fitted selector keeps; nothing if it makes other ones."""
    try:
        kept = selector.get_feature_names_out([f"c{place}" for place in range(len(columns))])
        places = [int(str(name)[1:]) for name in kept]
        names = list(dict.fromkeys(columns[place] for place in places))
    except (AttributeError, TypeError, ValueError, IndexError):
        return {}
    return {"features": names}


def _scores(
    work: Work, model: Any, X: FloatArray, y: npt.NDArray[Any], sample_weight: FloatArray | None
) -> dict[str, Any]:
    """The scores of the library."""
    weights = None if sample_weight is None else sample_weight.tolist()
    predicted = np.asarray(model.predict(X)).ravel()
    scores: dict[str, Any]
    if work.classes is None:
        scores = json.loads(
            _native.regression_scores(y.astype(float).tolist(), predicted.astype(float).tolist(), weights)
        )
        return scores
    is_binary = len(work.classes) == 2
    probabilities = _class_columns(work, model, "predict_proba", 0.0)
    decisions = _class_columns(work, model, "decision_function", -np.inf)
    order = (decisions, probabilities) if is_binary else (probabilities, decisions)
    ranked = next((of(X) for of in order if of is not None), np.zeros((len(X), 0)))
    text = _native.classification_scores(
        _coded(work, y),
        _coded(work, predicted),
        ranked,
        None if probabilities is None else probabilities(X),
        weights,
    )
    scores = json.loads(text)
    return scores


def _coded(work: Work, labels: npt.NDArray[Any]) -> list[int]:
    """The codes of class labels."""
    classes = [] if work.classes is None else work.classes.tolist()
    codes = {label: code for code, label in enumerate(classes)}
    return [codes[label] for label in labels.tolist()]


def _class_columns(
    work: Work, model: Any, method: str, absent: float
) -> Callable[[FloatArray], FloatArray] | None:
    """A function for the scores of all classes by a method of a model, if it has that."""
    if not hasattr(model, method) or work.classes is None:
        return None
    labels = work.classes.tolist()
    places = [labels.index(label) for label in np.asarray(model.classes_).tolist()]

    def columns(X: FloatArray) -> FloatArray:
        found = np.asarray(getattr(model, method)(X), dtype=float)
        if found.ndim == 1:
            found = np.column_stack([-found, found])
        out = np.full((len(found), len(labels)), absent)
        # One column per pair of classes is no score of classes.
        if found.shape[1] == len(places):
            out[:, places] = found
        return out

    return columns


#: The first split of a method may take this part of the time budget.
FIRST_SPLIT = 0.25


def run(
    comparison: _native.Comparison, work: Work, how: Settings, n_jobs: int | None, budget: float | None
) -> tuple[str, str, dict[str, int]]:
    """Evaluates everything that is missing.

    Returns the results log, the costs, and the number of splits of each method that a time budget leaves out.
    """
    labels = [comparison.task(task)[0] for task in range(comparison.n_tasks)]
    tasks, left_out = list(range(len(labels))), Counter[str]()
    if budget is not None:
        # The first split of each method tells how long the others take.
        first = [task for task in tasks if labels.index(labels[task]) == task]
        end = time.perf_counter() + budget
        seconds = _add_all(comparison, work, (how, n_jobs), first, (end, FIRST_SPLIT * budget))
        rest = Counter(labels[task] for task in tasks if task not in first)
        room = (end - time.perf_counter()) * effective_n_jobs(n_jobs)
        costs = {
            label: rest[label] * seconds[task]
            for task in first
            if task in seconds
            for label in [labels[task]]
        }
        kept: set[str] = set()
        for label in sorted(costs, key=lambda label: costs[label]):
            room -= costs[label]
            kept |= {label} if room >= 0 or not rest[label] else set()
        tasks = [task for task in tasks if task not in first and labels[task] in kept]
        done = _add_all(comparison, work, (how, n_jobs), tasks, (end, None))
        evaluated = {*seconds, *done}
        left_out = Counter(label for task, label in enumerate(labels) if task not in evaluated)
    else:
        _add_all(comparison, work, (how, n_jobs), tasks, (None, None))
    return *comparison.finish(), dict(left_out)


def _add_all(
    comparison: _native.Comparison,
    work: Work,
    run_by: tuple[Settings, int | None],
    tasks: list[int],
    limits: tuple[float | None, float | None],
) -> dict[int, float]:
    """Evaluates tasks, and returns the seconds of those that ended in time.

    `limits` are the time at which no further task is begun, and the longest selection of a task.
    """
    (how, n_jobs), (end, longest) = run_by, limits

    def jobs() -> Iterator[Any]:
        for task in tasks:
            room = None if end is None else end - time.perf_counter()
            if room is not None and room <= 0:
                return
            limit = room if longest is None or room is None else min(room, longest)
            selected = comparison.select(task, limit, how)
            if selected is not None:
                yield delayed(evaluate)(work, task, Rows(*comparison.task(task)), *selected)

    seconds = {}
    parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered", verbose=max(how.verbose - 1, 0))
    for task, records, cost in parallel(jobs()):
        comparison.add(records, cost)
        spent = json.loads(cost)
        seconds[task] = spent["select_seconds"] + spent["evaluate_seconds"]
    return seconds


def predict(
    comparison: _native.Comparison, work: Work, how: Settings, n_jobs: int | None, chosen: Any
) -> str:
    """Predictions of all splits with the method, features and training samples of a choice, as JSON."""
    label, k, train_rows = chosen
    comparison.begin_predictions(label, k, train_rows)

    def tasks() -> Iterator[Any]:
        for task in range(comparison.n_tasks):
            selected = comparison.select(task, None, how)
            assert selected is not None
            ((_, parts),) = selected[0]
            yield delayed(_predicted)(work, Rows(*comparison.task(task)), k, parts)

    truth, weights, predicted, probabilities = zip(*Parallel(n_jobs=n_jobs)(tasks()), strict=True)
    stacked = None if any(p is None for p in probabilities) else np.vstack(probabilities)
    classes = [] if work.classes is None else [str(label) for label in work.classes.tolist()]
    of_truth = None if any(w is None for w in weights) else np.concatenate(weights).tolist()
    return _native.predictions(
        (label, k), classes, ([*chain(*truth)], of_truth), [*chain(*predicted)], stacked
    )


def _predicted(work: Work, rows: Rows, k: int, parts: Any) -> tuple[list[int], Any, list[int], Any]:
    model, test, _ = _fitted(work, rows, k, parts)
    probabilities = _class_columns(work, model, "predict_proba", 0.0)
    predicted = np.asarray(model.predict(test)).ravel()
    columns = None if probabilities is None else probabilities(test)
    at_test, weights = rows.test
    return _coded(work, work.y[at_test]), weights, _coded(work, predicted), columns


def with_seeds(estimator: Any, seed: int) -> Any:
    """A copy whose random states are set where they are None, so that records can be reproduced."""
    copy = clone(estimator)
    unset = {
        name: seed % 2**32
        for name, value in copy.get_params(deep=True).items()
        if value is None and name.split("__")[-1] == "random_state"
    }
    return copy.set_params(**unset)


def labels_of(
    y: Any, target: Classes | FloatArray, kept: Any
) -> tuple[npt.NDArray[Any], npt.NDArray[Any] | None]:
    """The target of the kept samples as estimators get it, and their class labels in order.

    The labels are None for a continuous target.
    """
    if not isinstance(target, tuple):
        return np.asarray(target)[kept], None
    if isinstance(y, str):
        codes, names = target
        labels = np.asarray(names)[codes]
    else:
        labels = np.asarray(y).ravel()
    labels = labels[kept]
    return labels, np.unique(labels)
