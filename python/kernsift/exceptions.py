"""Exceptions that are kernsift's own.

Bad input is a ValueError, files that cannot be read are an OSError, work that would not fit in memory
a MemoryError; a run that did not converge is no error but warns with
:class:`sklearn.exceptions.ConvergenceWarning`.
"""

from kernsift._native import BreakdownError

__all__ = ["BreakdownError"]
