# Requirements: Rust, Python 3.11 or newer, make.
#   make demo       build the command line and run its main commands on built-in data
#   make test       install the test dependencies into .venv and run all tests
#   make lint       formatting, clippy, rustdoc, ruff, mypy, words, spelling, structure
#   make docs       build the documentation site in target/site
#   make audit      check licenses and sources of all dependencies
#   make wheel      build the Python wheel into dist/
#   make package    build the crates and the Python source distribution as they are published
# Others: pages, install-check, unsafe-checks, crashes, fuzz, soak, bench, accuracy, scaling, instructions, reproduce, clean.

PYTHON ?= python3
VENV := $(CURDIR)/.venv
BIN := $(VENV)/bin
BENCH := $(CURDIR)/.venv-bench
TOOLS := $(VENV)/.installed
DOCS_TOOLS := $(VENV)/.installed-docs
SITE := target/site
DOC := $(or $(CARGO_TARGET_DIR),target)/doc
KERNSIFT := target/debug/kernsift
MATURIN := VIRTUAL_ENV=$(VENV) $(BIN)/maturin develop --quiet --manifest-path python/Cargo.toml

.PHONY: demo test test-build test-rust test-python crashes fuzz soak browser lint audit unsafe-checks bench accuracy scaling instructions reproduce docs pages wheel install-check package clean

# Builds as the tests do, which is quicker than a release build and shares most results with `make test`, and without the
# formats of files that it does not read.
demo:
	cargo build --package kernsift-cli --no-default-features
	$(KERNSIFT) basis builtin:wine
	$(KERNSIFT) select builtin:wine -k 5
	$(KERNSIFT) select builtin:wine -m hsfs -k 3 --report target/demo.html
	$(KERNSIFT) select builtin:ionosphere -m takes
	$(KERNSIFT) design builtin:iris
	$(KERNSIFT) compare builtin:wine -k 1..6

# Downloads the test dependencies while the tests compile, then runs the tests of Rust and Python at once: each has times at which
# it uses one processor. Their output follows when they are done.
test:
	@$(MAKE) --no-print-directory --jobs 2 test-build $(TOOLS) browser
	@$(MAKE) --no-print-directory --jobs 2 --output-sync=target test-rust test-python

test-build:
	cargo test --no-run --lib --bins --tests

# `make lint` builds the examples; two of them are also run as tests.
test-rust:
	cargo test --lib --bins --tests
	cargo test --doc

# Kills runs at 200 points (the ordinary tests: 15) and prints where.
crashes:
	KERNSIFT_KILLS=200 cargo test --test all crashes -- --nocapture

test-python: $(TOOLS) browser
	$(MATURIN)
	cd python && $(BIN)/python -m pytest -q --numprocesses 2 --dist loadfile

# Fuzzes every reader for FUZZ seconds; needs a C++ compiler. Add the failing inputs to fuzz/corpus.
FUZZ ?= 30
fuzz:
	fuzz/run.sh $(FUZZ)

# Runs random methods on random data with injected faults for SOAK seconds; writes the counts to docs/soak.md.
SOAK ?= 600
soak: $(TOOLS)
	cargo build --release --package kernsift --example soak
	$(BIN)/python docs/make_soak.py $(SOAK)

# Reports are tested in a browser: an installed one, or Chromium from apt if that is allowed. Without a browser those
# tests are skipped.
browser:
	@for name in "$$CHROME" chromium chromium-browser google-chrome google-chrome-stable chrome; do \
		[ -n "$$name" ] && command -v "$$name" >/dev/null && exit 0; done; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "installing Chromium for the tests of reports"; \
		(apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium) >/dev/null 2>&1; \
	fi; \
	command -v chromium >/dev/null || echo "NO BROWSER: the tests of reports in a browser are skipped"

# The virtual environment, rebuilt when the requirements change.
$(TOOLS): python/requirements-test.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r python/requirements-test.txt
	touch $(TOOLS)

lint: $(TOOLS)
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	cargo clippy --package kernsift --no-default-features -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet
	$(BIN)/python docs/site/rust_formulas.py $(DOC)
	$(BIN)/ruff check python benchmarks docs tools
	$(BIN)/ruff format --check python benchmarks docs tools
	cd python && $(BIN)/python -m mypy
	$(BIN)/python tools/words.py
	$(BIN)/codespell --ignore-words-list hart,sigal README.md CONTRIBUTING.md CHANGELOG.md docs/*.md docs/methods python/kernsift
	$(BIN)/python tools/structure.py

# Checks licenses, sources, checksums and versions of all dependencies by the rules in deny.toml. Needs no network once
# the crates are downloaded. Looks up known vulnerabilities if cargo-deny, cargo-audit or pip-audit is installed.
audit:
	$(PYTHON) tools/audit.py $(if $(wildcard $(BIN)/python),--python $(BIN)/python)

# Tests of unsafe code, under Miri if a nightly toolchain has it and under valgrind if it is installed; docs/unsafe.md
# says what each can find. Miri's flags are for rayon: its queues need tree borrows, and its threads are never joined.
# The skipped tests are slow and test numbers rather than memory.
MIRI := -Zmiri-tree-borrows -Zmiri-permissive-provenance -Zmiri-ignore-leaks -Zmiri-disable-isolation -Zmiri-deterministic-floats
UNSAFE := --package kernsift --lib -- --test-threads=1 memory:: linalg::dense linalg::product simd::
VALGRIND := target."cfg(all())".runner=["valgrind","--quiet","--error-exitcode=9"]
unsafe-checks:
	@if cargo +nightly miri --version >/dev/null 2>&1; then \
		MIRIFLAGS="$(MIRI)" cargo +nightly miri test $(UNSAFE) linalg::pivoted::tests::two_by_two \
			--skip sin_cos_agrees_with_std --skip within_two_ulps --skip baseline_and_fused_forms_agree \
			--skip within_the_stated_error; \
	else echo "NOT RUN: Miri (rustup component add miri rust-src --toolchain nightly)"; fi
	@if command -v valgrind >/dev/null; then \
		cargo test --config '$(VALGRIND)' $(UNSAFE) linalg::pages linalg::pivoted select::votes \
			--skip random_pivots_have_the_right_distribution; \
	else echo "NOT RUN: valgrind"; fi

# Benchmarks against other programs, in a separate virtual environment; results are kept in benchmarks/records.
# DATA_DIR is a folder with covtype.csv.gz and madelon_train.csv.gz; without it, synthetic tables of the same shape are used.
bench: bench-tools
	$(if $(DATA_DIR),DATA_DIR=$(abspath $(DATA_DIR))) $(BENCH)/bin/python benchmarks/run.py

# Errors with selected features on real data (DATA_DIR is a folder with the data sets), and planted features found.
accuracy: bench-tools
	$(if $(DATA_DIR),DATA_DIR=$(abspath $(DATA_DIR))) OMP_NUM_THREADS=1 $(BENCH)/bin/python benchmarks/accuracy.py

# Time and memory by number of rows, columns and components, for kernsift and other programs.
scaling: bench-tools
	$(BENCH)/bin/python benchmarks/scaling.py

# Instruction counts of fixed tasks, which do not vary between runs as times do; needs valgrind.
instructions:
	cargo build --release --package kernsift --example instructions
	$(PYTHON) benchmarks/instructions.py

.PHONY: bench-tools
bench-tools: $(BENCH)/.installed
	VIRTUAL_ENV=$(BENCH) $(BENCH)/bin/maturin develop --release --quiet --manifest-path python/Cargo.toml

$(BENCH)/.installed: benchmarks/requirements.txt
	$(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/python -m pip install --quiet --disable-pip-version-check -r benchmarks/requirements.txt
	touch $@

# Reruns the experiments of the papers. DATA_DIR is a folder with the data sets that are not built in. If RECORDS names an
# earlier run, that run is resumed; if it is complete, only its page is written.
RECORDS ?= reproduction/$(shell date +%F)
reproduce:
	cargo build --release --package kernsift-cli
	$(KERNSIFT) reproduce takes transform lp $(if $(DATA_DIR),--data-dir $(DATA_DIR)) --records $(RECORDS) --page docs/reproduction.md

# The documentation site: figures, pages, the Python API from its docstrings and the Rust API from cargo doc. It opens from
# its folder and loads nothing from the network.
docs: $(DOCS_TOOLS)
	cargo build --release --package kernsift-cli
	$(MATURIN)
	$(BIN)/python docs/make_pictures.py
	RUSTDOCFLAGS="-D warnings" cargo doc --package kernsift --no-deps
	$(BIN)/python docs/site/rust_formulas.py $(DOC)/kernsift
	$(BIN)/mkdocs build --strict --quiet
	cp -r $(DOC) $(SITE)/rust
	@echo "$(SITE)/index.html"

$(DOCS_TOOLS): docs/requirements.txt $(TOOLS)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r docs/requirements.txt
	touch $(DOCS_TOOLS)

# Pages with measured numbers, generated tables, and the output of examples. Takes minutes; times depend on the computer.
pages: $(TOOLS)
	cargo build --release --package kernsift-cli
	$(MATURIN)
	cargo run --release --quiet --package kernsift --features madelon --example planted_truth > docs/planted_truth.md
	cargo run --release --quiet --package kernsift --example hsfs_cost > docs/hsfs_cost.md
	$(BIN)/python docs/make_tables.py
	$(BIN)/python docs/make_examples.py --program target/release/kernsift

wheel: $(TOOLS)
	$(BIN)/maturin build --release --manifest-path python/Cargo.toml --out dist

# Installs the wheel into a new environment with its declared dependencies, and the command line; runs the README there, prints
# the transcript and times the import.
install-check: wheel
	$(PYTHON) tools/fresh_install.py

# The crates into target/package and the source distribution into dist/. Run it on a clean checkout: uncommitted changes are
# an error. Crates with `publish = false` are left out.
package: $(TOOLS)
	cargo package --workspace --exclude kernsift-python --exclude kernsift-unify
	$(BIN)/maturin sdist --manifest-path python/Cargo.toml --out dist

clean:
	cargo clean
	rm -rf $(VENV) $(BENCH) dist
