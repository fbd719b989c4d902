"""Exceptions of kernsift.

Bad input raises ValueError, an unreadable file OSError, a computation that does not fit in memory
MemoryError. A fit that does not converge warns with :class:`sklearn.exceptions.ConvergenceWarning`.
"""

from kernsift._native import BreakdownError

__all__ = ["BreakdownError"]
