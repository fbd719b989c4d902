"""Data that several tests use."""

import numpy as np
import pytest
from browser import find_browser
from sklearn.preprocessing import StandardScaler

from kernsift.datasets import load_dataset


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def wine():
    """The wine data, standardized, and its classes."""
    data = load_dataset("wine")
    return StandardScaler().fit_transform(data.data), data.target


@pytest.fixture
def sonar():
    data = load_dataset("sonar")
    return data.data, data.target


def pytest_terminal_summary(terminalreporter):
    if find_browser() is None:
        terminalreporter.section("BROWSER TESTS DID NOT RUN", sep="!", red=True, bold=True)
        terminalreporter.line("No Chromium or Chrome was found, so pages were not looked at.")
        terminalreporter.line("Install one (Debian: apt-get install chromium), or name it in CHROME.")
