"""Selectors: which columns matter, best first."""

from __future__ import annotations

from typing import Any

from kernsift._base import BaseSelector

__all__ = ["FisherScore"]


class FisherScore(BaseSelector):
    """Fisher score: how far class means lie apart, against the spread within classes.

    It looks at one column at a time, so it is blind to features that only work together (XOR), and it
    keeps redundant copies. The score is that of an analysis of variance up to a factor:
    ``scores_ * (n_samples - n_classes) / (n_classes - 1)`` is the F statistic.

    It reads the data a few times and holds one number per class and column; sparse matrices are used as
    they are.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many columns to keep: a number, a share of all (above 0 and up to 1, at least one column), or
        None for the method's own rule: the columns whose F test has a p-value of at most 0.05 divided by
        the number of columns. If none has, the best one is kept, with a warning.
    standardize : bool, default=True
        Scale columns to variance 1 first. The scores of this method do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Not used: this method draws nothing. Here for all selectors to be alike.
    n_jobs : int, default=None
        Threads: None or -1 is one per core. Results do not depend on it.
    verbose : int, default=0
        Above 0, progress is written to stderr once a second.

    Attributes
    ----------
    support_ : ndarray of shape (n_features_in_,)
        True for columns that are kept.
    scores_ : ndarray of shape (n_features_in_,)
        A number per column, larger is better; 0 for constant columns.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each column, 1 is best.
    order_ : ndarray of shape (n_features_in_,)
        Columns, best first; of equals the first comes first.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_iter_ : int
        Always 1.
    converged_ : bool
        Always True.
    n_features_in_ : int
        Number of columns of the training rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if they had names that are all strings.

    See Also
    --------
    sklearn.feature_selection.f_classif : The F statistic of each column.

    References
    ----------
    .. [1] Fisher, "The use of multiple measurements in taxonomic problems", 1936.
    .. [2] Duda, Hart and Stork, "Pattern classification", 2001.

    Examples
    --------
    >>> from kernsift import FisherScore
    >>> from kernsift.datasets import load_dataset
    >>> wine = load_dataset("wine")
    >>> selector = FisherScore(n_features_to_select=3).fit(wine.data, wine.target)
    >>> [wine.feature_names[j] for j in selector.order_[:3]]
    ['flavanoids', 'proline', 'od280_od315_of_diluted_wines']
    """

    _method = "fisher"

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        standardize: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.standardize = standardize
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
