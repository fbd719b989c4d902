# %% [markdown]
# # Feature selection with kernsift
#
# Run this file as a script, or cell by cell in an editor or in Jupyter. It needs pandas and matplotlib.

# %%
import tempfile
from pathlib import Path

import pandas as pd
from matplotlib import pyplot
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

import kernsift

# %% [markdown]
# ## The data, as a data frame
# Feature names are kept in all steps.

# %%
wine = kernsift.load_dataset("wine")
print(wine)
X = pd.DataFrame(wine.data, columns=wine.feature_names)
y = pd.Series(wine.target, name="cultivar")
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)

# %% [markdown]
# ## A selector
# In a notebook, the last line of the cell shows the selected features with their scores.

# %%
selector = kernsift.HSFS(n_features_to_select=4, random_state=0).set_output(transform="pandas")
print(selector.fit_transform(X_train, y_train).head())
selector  # noqa: B018

# %%
figure, (left, right) = pyplot.subplots(1, 2, figsize=(12, 4), layout="constrained")
kernsift.plot_scores(selector, ax=left)
kernsift.plot_path(selector, ax=right)

# %% [markdown]
# ## Redundancy of the selected features

# %%
kernsift.plot_redundancy(selector, X_train)

# %% [markdown]
# ## Pipeline and grid search
# Features are selected inside each fold. With `set_output`, the steps pass data frames.

# %%
model = Pipeline(
    [
        ("scale", StandardScaler()),
        ("select", kernsift.ReliefF()),
        ("classify", kernsift.SVC()),
    ]
).set_output(transform="pandas")
grid = {"select__n_features_to_select": [2, 4, 8], "classify__C": [1.0, 10.0]}
search = GridSearchCV(model, grid, cv=3).fit(X_train, y_train)
print(search.best_params_)
print(f"accuracy on test samples: {search.score(X_test, y_test):.2f}")
print(list(search.best_estimator_["select"].get_feature_names_out()))

# %% [markdown]
# ## Comparison of methods

# %%
result = kernsift.compare(
    X_train, y_train, ["fisher", kernsift.ReliefF()], [1, 2, 4], evaluator="knn", cv=3, random_state=0
)
print(result.table())
result.plot()
with tempfile.TemporaryDirectory() as folder:
    page = Path(folder) / "comparison.html"
    result.to_html(page)
    print(f"a report of {page.stat().st_size // 1000} kB")
result  # noqa: B018

# %% [markdown]
# ## Kernel space
# The intrinsic dimension of the data in kernel space, and the directions that separate the classes.

# %%
scaled = StandardScaler().set_output(transform="pandas").fit(X_train)
basis = kernsift.KOBL().fit(scaled.transform(X_train))
kernsift.plot_residuals(basis)
takes = kernsift.TAKES(random_state=0).fit(X_train, y_train)
kernsift.plot_error_curve(takes)
kernsift.plot_map(takes, X_test, y_test)
print(f"{basis.n_components_} dimensions, {takes.n_selected_} selected by TAKES")
print(f"accuracy on test samples: {takes.score(X_test, y_test):.2f}")

# %% [markdown]
# ## A kernel learned from triplets

# %%
design = kernsift.KernelDesign(gamma1=1e-3, gamma2=1e-4, random_state=0).fit(X_train, y_train)
kernsift.plot_kernels(design, max_kernels=10)
kernsift.plot_margins(design, X_test, y_test)
print(f"satisfied triplets of test samples: {design.score(X_test, y_test):.2f}")
design  # noqa: B018
