"""Global settings: the device that computes large problems."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from kernsift import _native

#: The environment variable with the device of a new process, such as a worker of joblib.
_VARIABLE = "KERNSIFT_DEVICE"
#: The device of a block of code; None outside of one.
_local: ContextVar[str | None] = ContextVar("kernsift_device", default=None)
_global: dict[str, str] = {"device": os.environ.get(_VARIABLE) or "auto"}


def get_config() -> dict[str, str]:
    """The global settings, as set by :func:`set_config` and :func:`config_context`.

    Returns
    -------
    dict
        ``device``: where large problems are computed.

    Examples
    --------
    >>> from kernsift import get_config
    >>> sorted(get_config())
    ['device']
    """
    return {"device": _local.get() or _global["device"]}


def set_config(*, device: str) -> None:
    """Set global settings.

    Parameters
    ----------
    device : str
        Where large problems are computed: "auto" (an NVIDIA GPU if there is one), "cpu", or "cuda" or "cuda:N". It
        is an error if there is no such GPU. Selections are the same. The default is the environment variable
        ``KERNSIFT_DEVICE``, or "auto"; worker processes of joblib use that variable, too.

    Examples
    --------
    >>> from kernsift import set_config
    >>> set_config(device="cpu")
    >>> set_config(device="auto")
    """
    _check(device)
    _global["device"] = device


@contextmanager
def config_context(*, device: str) -> Iterator[None]:
    """Global settings for a block of code, such as the fit of one estimator.

    Parameters
    ----------
    device : str
        As in :func:`set_config`.

    Examples
    --------
    >>> from kernsift import ReliefF, config_context, load_dataset
    >>> wine = load_dataset("wine")
    >>> with config_context(device="cpu"):
    ...     selector = ReliefF(n_features_to_select=3).fit(wine.data, wine.target)
    """
    _check(device)
    before = _local.set(device)
    try:
        yield
    finally:
        _local.reset(before)


def _check(device: str) -> None:
    """Raise an exception for a device that does not exist; "auto" always exists and is not started here."""
    if device != "auto":
        _native.device_name(device)


def _library_folders() -> list[str]:
    """Folders with NVIDIA's libraries in the Python packages that install them."""
    try:
        found = importlib.util.find_spec("nvidia")
    except (ImportError, ValueError):
        return []
    roots = (found.submodule_search_locations or []) if found else []
    return [str(path) for root in roots for path in sorted(Path(root).glob("*/lib")) if path.is_dir()]


_native.set_library_folders(_library_folders())
