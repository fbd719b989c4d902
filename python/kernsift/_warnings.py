"""Warnings that point at the user's code."""

import sys
import warnings

#: Packages whose frames are skipped, to find the line that called this package.
_SKIPPED = ("kernsift", "sklearn", "joblib")


def warn(text: str, category: type[Warning] = UserWarning) -> None:
    """Warns of the first caller outside this package and scikit-learn."""
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_globals.get("__name__", "").split(".")[0] in _SKIPPED:
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)
