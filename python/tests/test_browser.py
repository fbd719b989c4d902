"""Reports in a browser: they work, make no requests, and run only their own script."""

import base64
import csv
import hashlib
import os
import re
import time
from importlib import resources
from pathlib import Path

import numpy as np
import pandas
import pytest
from browser import Browser, find_browser

from kernsift import (
    HSFS,
    KOBL,
    L1SVM,
    LDFS,
    TAKES,
    FisherScore,
    KernelDesign,
    KernelPCA,
    LaplacianScore,
    ReliefF,
    XingMetric,
    compare,
    load_dataset,
)

program = find_browser()
in_browser = pytest.mark.skipif(program is None, reason="no browser: pages were not looked at")

HOSTILE = [
    "<script>document.title = 'owned'</script>",
    "\"'><img src=x onerror=\"document.title='owned'\">",
    "😀 emoji & co",
    "long " * 2000,
    "\u202eright to left\u202c אבג",
    "</td></table></script><script>alert(1)</script>",
    "=1+1",
]


@pytest.fixture(scope="module")
def browser():
    opened = Browser(program)
    yield opened
    opened.close()


def hostile_frame():
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(rng.normal(size=(60, len(HOSTILE))), columns=HOSTILE)
    classes = np.where(frame[HOSTILE[0]] + 0.5 * frame[HOSTILE[1]] > 0, "<b>yes</b>", "</script>no")
    return frame, classes


def wine():
    data = load_dataset("wine")
    return data.data, data.target


def made():
    """A continuous target that depends on two of four features."""
    rng = np.random.default_rng(1)
    x = rng.uniform(-1, 1, size=(150, 4))
    return x, x[:, 0] ** 2 + 0.5 * x[:, 1] + 0.05 * rng.normal(size=150)


def wide(d):
    rng = np.random.default_rng(2)
    x = rng.normal(size=(60, d))
    return x, (x[:, 0] + x[:, 1] > 0).astype(int)


def labeled(estimator, rows, **options):
    return lambda: estimator.fit(*rows).to_html(*rows, **options)


PAGES = {
    "selection": labeled(HSFS(n_features_to_select=4, random_state=0), wine()),
    "numbers": labeled(HSFS(n_features_to_select=2, random_state=0), made()),
    "alone": lambda: LaplacianScore(n_features_to_select=3, graph="knn").fit(wine()[0]).to_html(wine()[0]),
    "space": labeled(TAKES(), wine()),
    "basis": labeled(KOBL(), wine()),
    "components": labeled(KernelPCA(n_components=3), wine()),
    "design": labeled(KernelDesign(random_state=0), wine()),
    "metric": labeled(XingMetric(random_state=0), wine()),
    "comparison": lambda: compare(
        *wine(), ["fisher", "relief"], [1, 2, 4], evaluator="knn", random_state=0
    ).to_html(),
    "hostile": labeled(FisherScore(n_features_to_select=7), hostile_frame(), name=HOSTILE[0]),
    "500 columns": labeled(ReliefF(n_features_to_select=10), wide(500)),
    "20000 columns": labeled(FisherScore(n_features_to_select=30), wide(20_000)),
}


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Every report as a file, made on demand."""
    folder, done = tmp_path_factory.mktemp("pages"), {}

    def page(name):
        if name not in done:
            done[name] = folder / f"{name.replace(' ', '_')}.html"
            done[name].write_text(PAGES[name](), encoding="utf-8")
        return done[name]

    return page


def test_every_page_is_small_and_allows_only_its_own_script(pages):
    for name in PAGES:
        text = pages(name).read_text(encoding="utf-8")
        assert len(text.encode()) < 1_000_000, (name, len(text))
        (script,) = re.findall(r"<script>(.*?)</script>", text, flags=re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"script-src 'sha256-{digest}'" in text
        assert "http://" not in text and "https://" not in text


def test_reports_contain_the_code_to_repeat_them():
    X, y = wine()
    page = FisherScore(n_features_to_select=3).fit(X, y).to_html(X, y, cv=None)
    assert "FisherScore(n_features_to_select=3).fit(X, y).to_html(X, y, cv=None)" in page
    assert (
        "Cross-validation was disabled" in page
        and "Missing values" in page
        and "178 rows, 13 columns" in page
    )


def test_reports_contain_time_and_memory_of_the_fit():
    X = np.random.default_rng(0).normal(size=(2000, 3))
    page = KOBL(n_components=100, threshold=None).fit(X).to_html(X)
    size, unit = re.search(r"([0-9.]+) (KiB|MiB) in addition to the data", page).groups()
    # The factor takes 1.5 MiB, work arrays a few times that; a Gram matrix would take 31 MiB.
    assert 1.5 <= float(size) / (1024 if unit == "KiB" else 1) < 20


def test_reports_are_written_to_files_and_need_the_training_samples(tmp_path):
    X, y = wine()
    assert KOBL().fit(X).to_html(X, path=tmp_path / "a.html") is None
    assert "Kernel space of X" in (tmp_path / "a.html").read_text(encoding="utf-8")
    with pytest.raises(ValueError, match="178 training samples, got 100"):
        KOBL().fit(X).to_html(X[:100])
    with pytest.raises(ValueError, match="y must be the triplets or labels of the fit"):
        XingMetric(random_state=0).fit(X, y).to_html(X)


def test_cross_validation_overrides_parameters_of_the_number_of_features():
    X, y = wine()[0][::3], wine()[1][::3]
    for selector in (L1SVM(C=0.1), LDFS(penalty=0.1), HSFS(radius=2.0, random_state=0)):
        assert "in cross-validation: <strong>" in selector.fit(X, y).to_html(X, y, cv=2)


def test_bad_folds_raise_and_column_vectors_are_accepted():
    X, y = wine()
    fitted = FisherScore().fit(X, y)
    for cv in (0, 1, 200, "5"):
        with pytest.raises(ValueError, match="cv must be a number of folds"):
            fitted.to_html(X, y, cv=cv)
    with pytest.warns(UserWarning, match="column-vector"):
        assert "3 classes" in fitted.to_html(X, y.reshape(-1, 1))


def test_subsampling_is_reported():
    X, y = np.tile(wine()[0], (15, 1)), np.tile(wine()[1], 15)
    page = FisherScore(n_features_to_select=2).fit(X, y).to_html(X, y, cv=2)
    assert "2670 rows" in page and "On a random sample of 2000 of 2670 rows" in page


def test_cross_validation_uses_held_out_samples():
    """Selected noise predicts the training samples, but must not predict others."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2000)), np.repeat([0, 1], 30)
    page = FisherScore(n_features_to_select=10).fit(X, y).to_html(X, y)
    error = float(re.search(r"in cross-validation: <strong>([0-9.]+)", page).group(1))
    # Half of the samples by chance; the standard deviation over 60 samples is 6.5 points.
    assert 30 < error < 70


@in_browser
@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("width", [1100, 390])
def test_a_report_runs_makes_no_requests_and_fits(browser, pages, name, width):
    browser.open(pages(name), width=width, dark=width < 600)
    assert browser.complaints == []
    assert [url for url in browser.requests if not url.startswith("file:")] == []
    assert len(browser.requests) == 1
    # Tables and plots scroll in their boxes; the page does not.
    assert browser.run("document.documentElement.scrollWidth") <= width
    # No text of a plot is cut off.
    cut = browser.run(
        """(() => [...document.querySelectorAll("svg text")].filter((text) => {
            const [a, b] = [text.getBoundingClientRect(), text.closest("svg").getBoundingClientRect()];
            const across = a.left < b.left - 1 || a.right > b.right + 1;
            return a.width > 0 && (across || a.top < b.top - 1 || a.bottom > b.bottom + 1);
        }).map((text) => text.textContent))()"""
    )
    assert cut == []
    if folder := os.environ.get("KERNSIFT_SCREENSHOTS"):
        Path(folder).mkdir(exist_ok=True)
        browser.screenshot(Path(folder, f"{name.replace(' ', '_')}-{width}.png"))


def violated(browser):
    """The rules of axe-core that the page violates: names, roles, contrast, order of headings and others."""
    source = resources.files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    browser.run(f"{source}; null")
    return browser.run("axe.run().then((found) => found.violations.map((rule) => rule.id))")


@in_browser
@pytest.mark.parametrize("name", ["selection", "numbers", "design", "comparison"])
@pytest.mark.parametrize("dark", [False, True])
def test_a_report_is_accessible(browser, pages, name, dark):
    browser.open(pages(name), dark=dark)
    assert violated(browser) == []


@in_browser
def test_what_is_not_accessible_is_found(browser, tmp_path):
    path = tmp_path / "page.html"
    path.write_text('<html lang="en"><title>t</title><main><h1>t</h1><img src="a.png">', encoding="utf-8")
    browser.open(path)
    assert violated(browser) == ["image-alt"]


@in_browser
def test_a_hostile_name_is_text(browser, pages):
    browser.open(pages("hostile"))
    assert browser.run("document.title") == f"Features of {HOSTILE[0]}"
    shown = browser.run("[...document.querySelectorAll('.listing tbody td[data-v]')].map((c) => c.dataset.v)")
    for name in HOSTILE:
        steered = re.sub("[\u202a-\u202e\u2066-\u2069]", "\ufffd", name)
        assert steered in shown
    assert browser.run("document.images.length") == 0
    # The script of the page, and maybe data.
    assert browser.run("document.querySelectorAll('script:not([type])').length") == 1
    assert browser.complaints == []


@in_browser
def test_tooltips(browser, pages):
    browser.open(pages("basis"))
    assert browser.run("document.querySelectorAll('.tip.on').length") == 0
    browser.point(".dots circle", 5)
    shown = browser.run("document.querySelector('.tip.on')?.textContent")
    assert shown == "row 5: 0"
    browser.point("h1")
    assert browser.run("document.querySelectorAll('.tip.on').length") == 0
    browser.open(pages("selection"))
    browser.point(".heat g rect", 1)
    assert re.fullmatch(r".+ and .+: 0\.\d\d", browser.run("document.querySelector('.tip.on').textContent"))


def column(browser, nth):
    return browser.run(
        f"[...document.querySelector('.listing').tBodies[0].rows].map((r) => r.cells[{nth}].textContent)"
    )


def search(browser, text):
    browser.run(
        "(() => {const field = document.querySelector('.tools input');"
        f"field.value = {text!r}; field.dispatchEvent(new Event('input'))}})()"
    )


def downloaded(browser):
    """The rows of the downloaded table."""
    file = browser.downloads / "features.csv"
    file.unlink(missing_ok=True)
    # The account of a frame has a table, too.
    tables = "[...document.querySelectorAll('.listing')]"
    browser.click(
        ".tools button", browser.run(f"{tables}.findIndex((t) => t.dataset.file === 'features.csv')")
    )
    end = time.monotonic() + 20
    while not file.exists() and time.monotonic() < end:
        browser.run("new Promise((done) => setTimeout(done, 50))")
    with file.open(newline="", encoding="utf-8") as text:
        return list(csv.reader(text))


@in_browser
def test_tables_are_sorted_and_searched(browser, pages):
    browser.open(pages("selection"))
    names = column(browser, 1)
    assert len(names) == 13
    browser.click(".listing th button", 1)
    assert column(browser, 1) == sorted(names, key=lambda name: int(name[1:]))
    assert browser.run("document.querySelectorAll('.listing th')[1].ariaSort") == "ascending"
    browser.click(".listing th button", 1)
    assert column(browser, 1) == sorted(names, key=lambda name: -int(name[1:]))
    # Scores: the largest first.
    browser.click(".listing th button", 2)
    assert column(browser, 1)[:4] == names[:4]
    search(browser, "X1")
    assert sorted(column(browser, 1)) == ["x1", "x10", "x11", "x12"]
    assert browser.run("document.querySelector('.tools .count').textContent") == "4 of 13 shown"


@in_browser
def test_the_table_of_many_features_is_complete(browser, pages):
    browser.open(pages("20000 columns"))
    assert len(column(browser, 0)) == 300
    assert browser.run("document.querySelector('.tools .count').textContent") == "first 300 of 20000"
    search(browser, "x12345")
    assert column(browser, 1) == ["x12345"]
    search(browser, "")
    rows = downloaded(browser)
    assert rows[0][:3] == ["Rank", "Feature", "Score"] and len(rows) == 20_001
    X, y = wide(20_000)
    scores = FisherScore().fit(X, y).scores_
    ours = {row[1]: float(row[2]) for row in rows[1:]}
    # Rows outside the page have six digits.
    assert all(abs(ours[f"x{j}"] - scores[j]) <= 1e-5 * scores[j] for j in range(20_000))


@in_browser
def test_quotes_survive_the_download(browser, pages):
    browser.open(pages("hostile"))
    names = {row[1] for row in downloaded(browser)}
    assert HOSTILE[1] in names and HOSTILE[5] in names
    # Text that a spreadsheet would run as a formula starts with an apostrophe.
    assert "'" + HOSTILE[6] in names and HOSTILE[6] not in names
