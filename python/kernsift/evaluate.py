"""Comparison of methods: the cross-validated score of each method by number of features."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from inspect import signature
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import TimeSeriesSplit
from sklearn.utils import check_array, check_consistent_length, column_or_1d

from kernsift import _native
from kernsift._base import RUN_CONSTRAINTS, SHARED_CONSTRAINTS, Estimator
from kernsift._compare_result import SCORES, CompareResult, checked_scoring
from kernsift._external import (
    Scoring,
    Work,
    check_evaluator,
    check_method,
    description,
    external,
    is_estimator,
    labels_of,
    predict,
    read_scoring,
    with_seeds,
)
from kernsift._external import run as evaluate_all
from kernsift._frames import Columns, array_cells, as_frame, frame_names, prepare
from kernsift._native_data import (
    Classes,
    FloatArray,
    NamedRows,
    Settings,
    check_complete_target,
    checked_array,
    n_outputs,
    native_rows,
    settings,
    to_json,
)
from kernsift._parameters import COLUMN_CONSTRAINTS, documented
from kernsift._sklearn import (
    HasMethods,
    Interval,
    InvalidParameterError,
    StrOptions,
    _get_feature_names,
    validate_params,
)
from kernsift._splits import read_groups, read_splits, read_splits_of_rows, take_groups
from kernsift._warnings import warn
from kernsift._weights import check_scorer, read_weights, weight_parameter

__all__ = ["CompareResult", "compare"]


@validate_params(
    {
        "X": ["array-like", "sparse matrix"],
        "y": ["array-like", str],
        "methods": [str, "array-like", dict, HasMethods(["fit", "get_params"]), None],
        "n_features": [Interval(Integral, 1, None, closed="left"), "array-like", None],
        "cv": [Interval(Integral, 2, None, closed="left"), "cv_object"],
        "repeats": [Interval(Integral, 1, None, closed="left")],
        "evaluator": [str, dict, HasMethods(["fit", "predict"]), None],
        "scoring": [str, callable, list, tuple, set, dict, None],
        "groups": ["array-like", str, None],
        "stratify": ["boolean"],
        "train_sizes": ["array-like", None],
        "sample_weight": ["array-like", Real, None],
        "class_weight": [StrOptions({"balanced"}), None],
        "target_type": SHARED_CONSTRAINTS["target_type"],
        "standardize": ["boolean"],
        "missing": [StrOptions({"auto", "error", "mean", "median"})],
        **COLUMN_CONSTRAINTS,
        "baseline": ["boolean"],
        "predictions": ["boolean"],
        "name": [str],
        "record": [str, os.PathLike, None],
        "time_budget": [Interval(Real, 0, None, closed="neither"), None],
        **RUN_CONSTRAINTS,
    },
    prefer_skip_nested_validation=True,
)
@documented()
def compare(
    X: Any,
    y: Any,
    methods: Any = None,
    n_features: Any = None,
    cv: Any = 5,
    *,
    repeats: int = 1,
    evaluator: Any = None,
    scoring: Any = None,
    groups: Any = None,
    stratify: bool = True,
    train_sizes: Any = None,
    sample_weight: Any = None,
    class_weight: str | None = None,
    target_type: str = "auto",
    standardize: bool = True,
    missing: str = "auto",
    include: Columns = (),
    exclude: Columns = (),
    id: Columns = (),
    types: Mapping[str, str] | None = None,
    baseline: bool = True,
    predictions: bool = False,
    name: str = "X",
    record: str | os.PathLike[str] | None = None,
    time_budget: float | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> CompareResult:
    """Compare methods: cross-validated score by number of features.

    In every split, imputation, scaling, selection and the evaluator with its hyperparameters are fitted to
    the training samples only.

    Parameters
    ----------
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        Samples. The column names of a data frame are used.
    y : array-like of shape (n_samples,), or str
        Class labels or a continuous target; or the name of the target column of the data frame `X`. Rows
        where that column is missing are dropped, with a warning, as on the command line; elsewhere a missing
        target is an error.
    methods : "all", str, estimator, list of those, dict or None, default=None
        The methods to compare. None is "all", of more than 2000 features those that are fast. "all" is every
        feature selector that supports this target, with its defaults. A str is a method's name on the command
        line, optionally with parameters: ``"relief:n_neighbors=5"``; "random" selects features at random. An
        estimator is a selector of this package, of features or in kernel space; only its parameters are used,
        it is not fitted. A dict gives them labels. With a scikit-learn estimator as `evaluator` also any
        other selector or transformer with a parameter ``n_features_to_select``, ``k``, ``max_features`` or
        ``n_components``, a pipeline that has such a step, or one that ends in a predictor, which is then
        evaluated itself.
    n_features : int, list of int or None, default=None
        Numbers of features to select; None is 1 to 10, or to the number of features.
    cv : int, splitter, or iterable of pairs, default=5
        Number of folds, a splitter of scikit-learn, which gets `groups`, or pairs of training and test
        indices of the rows of `X`. For data in time: ``TimeSeriesSplit()``, with the rows in time order.
    repeats : int, default=1
        Number of repetitions of the folds, if `cv` is an int.
    evaluator : estimator, str, dict or None, default=None
        Estimator used for evaluation. Any scikit-learn estimator, which is cloned and fitted to the encoded
        training samples of each split; a `random_state` of None is set to the seed. Or one of the library:
        "svm", "linear-svm", "knn" or "kernel-knn"; for a continuous target
        "ridge" or "knn". None is "svm", for a continuous target "ridge". Parameters are set as on the command
        line, ``"knn:n_neighbors=3"``, or by a dict with the name as "name":
        ``{"name": "svm", "C": [1, 10]}``; ``kernsift methods svm`` lists them. Several values are chosen from
        by cross-validation on the training samples.
    scoring : str, callable, list, dict or None, default=None
        Scores; the first is that of tables and plots. "error", "balanced-error", "balanced-accuracy", "auc",
        "log-loss" and "f1" for classes, "r2", "rmse" and "mae" for numbers; those that the evaluator permits
        are always recorded. With a scikit-learn estimator as `evaluator` also any `scoring` of scikit-learn:
        names, callables, a list, or a dict of them by name. None is "error", for a continuous target "r2".
    groups : array-like of shape (n_samples,), str or None, default=None
        Samples of one group, such as a patient, are never on both sides of a split, also in the folds in
        which selectors and evaluators of this package choose parameters. Or the name of a column of the data
        frame `X`, which is then not a feature.
    stratify : bool, default=True
        Whether folds have the class proportions of the data, as far as groups permit, if `cv` is an int.
    train_sizes : list of int or None, default=None
        Numbers of training samples, for a learning curve: every split is evaluated after training on so many
        of its training samples. Smaller sets are random parts of larger ones, with the class proportions of
        the split if `stratify`; with groups they have the first groups that have at most so many samples
        together, and with ``cv=TimeSeriesSplit()`` the last samples before the test samples. None uses all
        training samples.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the samples, 0 or more, in selectors, evaluators and scores; None is 1 for all. Methods
        and evaluators that do not support weights are an error, "all" leaves them out.
    class_weight : "balanced" or None, default=None
        Weights of the classes in selectors and evaluators, but not in scores: with "balanced" all classes
        have the same total weight among the training samples of each split.
    {target_type}
    standardize : bool, default=True
        Whether to scale features to variance 1, fitted to the training samples of each split.
    missing : {"auto", "error", "mean", "median"}, default="auto"
        How to handle missing values in `X`: raise an error, or impute, fitted to the training samples of each
        split. "auto" imputes with the median and adds a column that indicates missing values to each feature
        with more than 1 % of them. ReliefF and the filters by counts use missing values as they are.
    {include}
    {exclude}
    {id}
    {types}
    baseline : bool, default=True
        Whether to evaluate all features together as well.
    predictions : bool, default=False
        Whether to predict the test samples of all splits again, with the method and number of features of the
        one-standard-error rule, for `result.predictions`, ``plot_confusion()`` and ``plot_calibration()``.
        Records hold scores only. Recorded features are not selected again; the evaluator is fitted once more
        in each split.
    name : str, default="X"
        Name of the data in the results log and the report.
    record : path or None, default=None
        File of the results log, one JSON object per line. If it exists, the comparison resumes; methods and
        numbers of features may be added. A log of other data, splits or settings is an error.
    time_budget : float or None, default=None
        Seconds after which no further split is begun. Methods that would take longer are left out, with a
        warning; the choice depends on the computer. The first split of each method is timed; its selection
        may take a quarter of the budget. A scikit-learn estimator that is being fitted is not interrupted.
    {random_state}
        With an existing `record`, None is its seed.
    {n_jobs}
    {verbose}

    Returns
    -------
    result : CompareResult
        With ``table()``, ``plot()``, ``to_html()``, and the records.

    Notes
    -----
    A method that fails in a split has no score there; ``result.summary`` has the number of failures and their
    reason. `n_jobs` and `verbose` of an estimator are not used.

    Examples
    --------
    >>> from kernsift import ReliefF, compare, load_dataset
    >>> wine = load_dataset("wine")
    >>> result = compare(wine.data, wine.target, ["fisher", ReliefF()], [1, 2, 4], random_state=0)
    >>> print(result)
    error in % of svm, 5 splits of 178 samples and 13 features
    features             1             2           4
    fisher     20.7 ± 9.7*   12.3 ± 5.8*  4.5 ± 5.8*
    ReliefF   32.5 ± 13.9   15.7 ± 10.4   5.6 ± 3.5
    * best of the column; - worse than the best (paired test, p < 0.05)
    all features: 1.7 ± 1.5
    fewest features within one standard error of the best: 4 by fisher, 4.5 ± 5.8
    """
    # The code of the report has the name of an array.
    groups_given = groups if groups is None or isinstance(groups, str) else _Name("groups")
    X, groups = take_groups(X, groups)
    chosen = {"include": include, "exclude": exclude, "id": id, "types": types}
    x, names, target = _data(X, y, target_type, {"missing": missing, **chosen}, settings(0, n_jobs, 0))
    is_external = is_estimator(evaluator)
    scores = _scoring(scoring, evaluator if is_external else None, not isinstance(target, tuple))
    counts = _counts(n_features, x.shape[1])
    sizes = _train_sizes(train_sizes)
    if predictions and not isinstance(target, tuple):
        raise ValueError("predictions=True needs class labels, but the target is continuous.")
    if not isinstance(cv, Integral) and (repeats != 1 or not (stratify or sizes)):
        given = "stratify=False" if repeats == 1 else f"repeats={repeats}"
        raise ValueError(f"{given} needs an int as cv; for other splits use a splitter that has it.")
    n_samples = len(X) if isinstance(y, str) else x.shape[0]
    weights = read_weights(sample_weight, n_samples)
    rows = x.native.rows if isinstance(y, str) else np.arange(n_samples)
    if isinstance(y, str):
        weights = None if weights is None else weights[rows]
        groups = None if groups is None else np.asarray(groups, dtype=object)[rows]
    groups = read_groups(groups, len(rows))
    # Samples of weight 0 are left out.
    kept = slice(None) if weights is None else weights > 0
    if isinstance(y, str) or len(rows[kept]) < n_samples:
        of_kept = (target[0][kept], target[1]) if isinstance(target, tuple) else target[kept]
        of_groups = None if groups is None else groups[kept]
        splits = read_splits_of_rows(cv, rows[kept], n_samples, of_kept, of_groups)
    else:
        splits = read_splits(cv, X, y, groups)
    if random_state is None and record is not None:
        random_state = _recorded_seed(Path(record))
    run = settings(random_state, n_jobs, verbose)
    plan = {
        "methods": _methods(methods, standardize, random_state, is_external),
        "counts": counts,
        "splits": {"folds": {"folds": int(cv) if splits is None else 2, "repeats": int(repeats)}},
        "stratify": bool(stratify),
        "scoring": scores.first,
        "evaluator": None if is_external else _evaluator(evaluator),
        "external": external(evaluator, scores.scorers) if is_external else None,
        "standardize": bool(standardize),
        "fill": None if missing == "error" else missing,
        "baseline": bool(baseline),
        "train_sizes": sizes,
        "latest": isinstance(cv, TimeSeriesSplit),
        "predictions": bool(predictions),
        "name": name,
        "time_budget": None if time_budget is None else float(time_budget),
    }
    path = None if record is None else os.fspath(record)
    native_weights = (weights, class_weight is not None)
    request = (to_json(plan), native_rows(x), names, target, splits, groups, native_weights, path)
    if is_external:
        y_values, classes = labels_of(y, target, kept)
        own = {label: with_seeds(method, run.seed) for label, method in _external_methods(methods).items()}
        weighted = _weight_parameter(evaluator, scores, weights, class_weight)
        work = Work(with_seeds(evaluator, run.seed), own, scores.scorers, y_values, classes, weighted)
        comparison = _native.Comparison(request, run)
        labels = comparison.labels
        text, costs, left_out = evaluate_all(comparison, work, run, n_jobs, time_budget)
        found = None
        for label, n_splits in left_out.items():
            warn(f"{label} is left out of {n_splits} splits, which do not fit into the time budget")
    else:
        text, costs, labels, found = _native.compare(request, run)
    code = _as_code(
        repr(y) if isinstance(y, str) else "y",
        {"methods": methods, "n_features": counts, "cv": cv, "repeats": repeats, "evaluator": evaluator}
        | {"scoring": scoring, "groups": groups_given, "stratify": stratify, "train_sizes": train_sizes}
        | {"sample_weight": None if weights is None else _Name("sample_weight"), "class_weight": class_weight}
        | {"target_type": target_type}
        | {"standardize": standardize, "missing": missing}
        | chosen
        | {"baseline": baseline, "predictions": predictions, "name": name, "random_state": run.seed},
    )
    result = CompareResult(text, costs, labels, counts, scores.first, code, sizes)
    chosen = result.summary["simplest"]
    if is_external and predictions and chosen is not None:
        rows = sizes[-1] if sizes else None
        choice = (chosen["label"], chosen["n_features"], rows)
        found = predict(comparison, work, run, n_jobs, choice)
    result._predictions = found
    return result


def _weight_parameter(
    evaluator: Any, scores: Scoring, weights: FloatArray | None, class_weight: str | None
) -> str | None:
    """The parameter of the evaluator's `fit` that takes weights; raises if it or a scorer does not."""
    if weights is None and class_weight is None:
        return None
    if weights is not None:
        for name, scorer in scores.scorers.items():
            check_scorer(name, scorer)
    return weight_parameter(evaluator)


class _Name(str):
    """A name in code, without quotes."""

    __slots__ = ()
    __repr__ = str.__str__


def _scoring(scoring: Any, evaluator: Any, is_regression: bool) -> Scoring:
    """Checked scores; `evaluator` is a scikit-learn estimator or None."""
    known = [name for name, score in SCORES.items() if score.is_for_numbers == is_regression]
    if evaluator is not None:
        scores = read_scoring(scoring, evaluator, known, checked_scoring(None, is_regression))
        check_evaluator(evaluator, scores.built_in, is_regression)
        return scores
    single = scoring is None or isinstance(scoring, str) or callable(scoring)
    names = [scoring] if single else list(scoring)
    if not names or not all(name is None or isinstance(name, str) for name in names):
        raise ValueError(
            f"scoring must be names of scores, got {scoring!r}; other scores need an estimator as evaluator."
        )
    built_in = [checked_scoring(name, is_regression) for name in names]
    return Scoring(built_in, {}, built_in[0])


def _as_code(y: str, arguments: Mapping[str, Any]) -> str:
    """The call that repeats the comparison, with the repr of its arguments."""
    defaults = {name: parameter.default for name, parameter in signature(compare).parameters.items()}
    changed = [
        f"{name}={value!r}" for name, value in arguments.items() if repr(value) != repr(defaults[name])
    ]
    return f"kernsift.compare(X, {y}, {', '.join(changed)})"


def _data(
    X: Any, y: Any, target_type: str, options: dict[str, Any], run: Settings
) -> tuple[Any, list[str], Classes | FloatArray]:
    """Validated samples, their feature names, and the target in the form of the native module."""
    X = X if isinstance(X, NamedRows) else as_frame(X)
    if isinstance(y, str):
        if y not in frame_names(X):
            raise ValueError(f"y is the name of a column, but X is not a data frame with a column {y!r}.")
        rows = prepare(X, run, target=y, target_type=target_type, **options)
        return rows, rows.names, rows.native.target
    if n_outputs(y) > 1:
        raise ValueError(
            "compare does not support a y of several columns; compare the methods for each column. "
            f"Got an array of shape {np.asarray(y).shape}."
        )
    x, names = _rows(X, options, run)
    check_complete_target(y)
    y = check_array(column_or_1d(y, warn=True), ensure_2d=False, dtype=None, input_name="y")
    check_consistent_length(x, y)
    return x, names, _native.read_target(array_cells(y), target_type)


def _rows(X: Any, options: dict[str, Any], run: Settings) -> tuple[Any, list[str]]:
    """Validated samples and their feature names."""
    if isinstance(X, NamedRows):
        return X
    if frame_names(X):
        rows = prepare(X, run, **options)
        return rows, rows.names
    if any(options[name] for name in ("include", "exclude", "id", "types")):
        raise TypeError("include, exclude, id and types name columns of a data frame, but X is none.")
    names = _get_feature_names(X)
    finite = True if options["missing"] == "error" else "allow-nan"
    x = checked_array(X, ensure_min_samples=2, ensure_all_finite=finite)
    if names is None:
        return x, [f"x{j}" for j in range(x.shape[1])]
    return x, [str(name) for name in names]


def _counts(n_features: Any, n_columns: int) -> list[int]:
    if n_features is None:
        return list(range(1, min(10, n_columns) + 1))
    given = [n_features] if isinstance(n_features, Integral) else list(n_features)
    if not given or not all(isinstance(k, Integral) and int(k) >= 1 for k in given):
        raise ValueError(f"n_features must be one or more integers from 1, got {n_features!r}.")
    return sorted({int(k) for k in given})


def _train_sizes(train_sizes: Any) -> list[int]:
    if train_sizes is None:
        return []
    given = list(train_sizes)
    if not given or not all(isinstance(n, Integral) and int(n) >= 1 for n in given):
        raise ValueError(f"train_sizes must be one or more integers from 1, got {train_sizes!r}.")
    return sorted({int(n) for n in given})


def _labeled(methods: Any) -> list[tuple[str | None, Any]]:
    """The methods with their labels; None for the name of a method."""
    if methods is None:
        return [(None, "default")]
    if isinstance(methods, Mapping):
        return [(str(label), method) for label, method in methods.items()]
    if isinstance(methods, str) or is_estimator(methods):
        methods = [methods]
    if not isinstance(methods, Iterable):
        raise ValueError(f"methods must be names, estimators or a dict of them, got {methods!r}.")
    labeled: list[tuple[str | None, Any]] = []
    labels: set[str] = set()
    for method in methods:
        label = None if isinstance(method, str) else _label(method, labels)
        labels |= {method if label is None else label}
        labeled.append((label, method))
    return labeled


def _methods(methods: Any, standardize: bool, random_state: Any, is_external: bool) -> list[Any]:
    """The methods in the form of the native module."""
    requested = []
    for label, method in _labeled(methods):
        if not isinstance(method, str | Estimator) and is_estimator(method):
            if not is_external:
                raise ValueError(
                    f"methods: {description(method)} is not of kernsift. To compare it, pass a scikit-learn "
                    "estimator as evaluator, such as evaluator=SVC()."
                )
            check_method(method)
            requested.append({"method": {"label": label, "method": {"external": external(method)}}})
        else:
            requested.append(_requested(label, method, standardize, random_state))
    return requested


def _external_methods(methods: Any) -> dict[str, Any]:
    """The methods that are not of this package, by label."""
    return {
        str(label): method
        for label, method in _labeled(methods)
        if not isinstance(method, str | Estimator) and is_estimator(method)
    }


def _label(estimator: Any, taken: set[str]) -> str:
    """The repr of an estimator, made unique."""
    name = " ".join(repr(estimator).split()).removesuffix("()")
    label, times = name, 1
    while label in taken:
        times += 1
        label = f"{name} ({times})"
    return label


def _requested(label: str | None, method: Any, standardize: bool, random_state: Any) -> Any:
    if isinstance(method, str):
        if label is None and method in ("all", "default"):
            return method
        return {"named": {"label": label, "text": method}}
    if isinstance(method, Estimator) and "n_features_to_select" in method.get_params(deep=False):
        _check_parameters_set_by_compare(method, standardize, random_state)
        return {"method": {"label": label, "method": _form(method)}}
    raise ValueError(
        f"methods must be names or selectors of kernsift, got {method!r}; "
        "a basis or classifier is not a selector."
    )


def _form(estimator: Any) -> dict[str, Any]:
    """An estimator's parameters in the core's serialized form."""
    try:
        estimator._validate_params()
    except InvalidParameterError as error:
        # This error type would name a parameter of compare.
        raise ValueError(str(error)) from None
    form: dict[str, Any] = estimator._candidate_form()
    return form


def _check_parameters_set_by_compare(estimator: Any, standardize: bool, random_state: Any) -> None:
    """Raises for parameters that compare would override."""
    name = type(estimator).__name__
    if estimator.n_features_to_select is not None:
        raise ValueError(
            f"compare sets 'n_features_to_select' of {name} by n_features. Leave it at its default."
        )
    if standardize and not estimator.standardize:
        raise ValueError(
            f"compare scales features for all methods. Leave 'standardize' of {name} at its default."
        )
    given = estimator.random_state
    if given is not None and (not isinstance(given, Integral) or given != random_state):
        raise ValueError(
            f"compare has one random_state for all methods. Leave that of {name} at its default."
        )


def _evaluator(evaluator: str | Mapping[str, Any] | None) -> str | None:
    """The evaluator as on the command line: ``knn:n_neighbors=3``."""
    if evaluator is None or isinstance(evaluator, str):
        return evaluator
    settings = dict(evaluator)
    name = settings.pop("name", None)
    if not isinstance(name, str):
        raise ValueError("evaluator must have the evaluator's name under 'name' if it is a dict.")

    def text(value: Any) -> str:
        if isinstance(value, np.ndarray | list | tuple):
            return f"[{','.join(map(text, value))}]"
        if isinstance(value, Real) and not isinstance(value, Integral | np.bool_):
            return repr(float(value))
        if value is None or isinstance(value, str | Integral | np.bool_):
            return str(value)
        raise ValueError(f"evaluator: values must be numbers, names or lists of numbers, got {value!r}.")

    return f"{name}:{','.join(f'{key}={text(value)}' for key, value in settings.items())}"


def _recorded_seed(path: Path) -> int | None:
    """The seed of an existing results log, if it can be read."""
    try:
        with path.open(encoding="utf-8") as file:
            seed: int = json.loads(file.readline())["seed"]
            return seed
    except (OSError, ValueError, KeyError, TypeError):
        # There is none, or the core reports what is wrong when it opens the file.
        return None
