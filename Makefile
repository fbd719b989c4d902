# Two commands do everything on a fresh machine with Rust, Python 3.11+ and make:
#   make demo    build, and run the main job on a built-in data set
#   make test    install what the tests need, and run them all
# The rest: docs (the site, in target/site), pages, lint, audit, unsafe-checks, crashes, fuzz, soak, bench, scaling,
# instructions, reproduce, wheel, clean.

PYTHON ?= python3
VENV := $(CURDIR)/.venv
BIN := $(VENV)/bin
BENCH := $(CURDIR)/.venv-bench
TOOLS := $(VENV)/.installed
DOCS_TOOLS := $(VENV)/.installed-docs
SITE := target/site
KERNSIFT := target/release/kernsift
MATURIN := VIRTUAL_ENV=$(VENV) $(BIN)/maturin develop --quiet --manifest-path python/Cargo.toml

.PHONY: demo test test-build test-rust test-python crashes fuzz soak browser lint audit unsafe-checks bench scaling instructions bench-rust reproduce docs pages wheel clean

demo:
	cargo build --release --package kernsift-cli
	$(KERNSIFT) basis builtin:wine
	$(KERNSIFT) select builtin:wine -k 5
	$(KERNSIFT) select builtin:wine -m hsfs -k 3 --report target/demo.html
	$(KERNSIFT) select builtin:ionosphere -m takes
	$(KERNSIFT) design builtin:iris
	$(KERNSIFT) compare builtin:wine -k 1..6

# What the tests need comes over the network while they are compiled.
test:
	@$(MAKE) --no-print-directory --jobs 2 test-build $(TOOLS) browser
	@$(MAKE) --no-print-directory test-rust
	@$(MAKE) --no-print-directory test-python

test-build:
	cargo test --no-run --lib --bins --tests

# Examples are built by lint; two of them are run as tests as well.
test-rust:
	cargo test --lib --bins --tests
	cargo test --doc

# Runs killed at 200 moments, where the ordinary tests have 24; says where the kills came.
crashes:
	KERNSIFT_KILLS=200 cargo test --test all crashes -- --nocapture

test-python: $(TOOLS) browser
	$(MATURIN)
	cd python && $(BIN)/python -m pytest -q --numprocesses 2 --dist loadfile

# Every reader on hostile files, FUZZ seconds each; needs a C++ compiler. What it finds goes into fuzz/corpus.
FUZZ ?= 30
fuzz:
	fuzz/run.sh $(FUZZ)

# Random methods on random data with random faults, for SOAK seconds; the counts go into the docs.
SOAK ?= 600
soak: $(TOOLS)
	cargo build --release --package kernsift --example soak
	$(BIN)/python docs/make_soak.py $(SOAK)

# Pages are tested in a real browser: one that is there, or Debian's where it may be installed. Without one the tests say so.
browser:
	@for name in "$$CHROME" chromium chromium-browser google-chrome google-chrome-stable chrome; do \
		[ -n "$$name" ] && command -v "$$name" >/dev/null && exit 0; done; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "installing Chromium for the tests of pages"; \
		(apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium) >/dev/null 2>&1; \
	fi; \
	command -v chromium >/dev/null || echo "NO BROWSER: pages will not be looked at"

# An environment of the project's own, made anew when the list of tools changes.
$(TOOLS): python/requirements-test.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r python/requirements-test.txt
	touch $(TOOLS)

lint: $(TOOLS)
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet
	$(BIN)/ruff check python benchmarks docs tools
	$(BIN)/ruff format --check python benchmarks docs tools
	cd python && $(BIN)/python -m mypy

# Licences, sources, checksums and versions of what the project is built from, by deny.toml. No network is needed once the
# crates were fetched. Known holes are looked up where a tool for that is installed.
audit:
	$(PYTHON) tools/audit.py $(if $(wildcard $(BIN)/python),--python $(BIN)/python)

# The tests around unsafe code: under Miri where a nightly toolchain has it, and under valgrind where that is installed.
# docs/unsafe.md says what each can see. Miri's flags are for rayon, whose queues need the newer rules of borrowing, and
# whose threads are never joined. The tests left out take too long, being about numbers more than about memory.
MIRI := -Zmiri-tree-borrows -Zmiri-permissive-provenance -Zmiri-ignore-leaks -Zmiri-disable-isolation -Zmiri-deterministic-floats
UNSAFE := --package kernsift --lib -- --test-threads=1 memory:: linalg::dense linalg::product simd::
VALGRIND := target."cfg(all())".runner=["valgrind","--quiet","--error-exitcode=9"]
unsafe-checks:
	@if cargo +nightly miri --version >/dev/null 2>&1; then \
		MIRIFLAGS="$(MIRI)" cargo +nightly miri test $(UNSAFE) linalg::pivoted::tests::two_by_two \
			--skip as_std_has_them --skip within_two_ulps --skip plain_and_fused_forms_agree \
			--skip as_near_as_they_say; \
	else echo "NOT RUN: Miri (rustup component add miri rust-src --toolchain nightly)"; fi
	@if command -v valgrind >/dev/null; then \
		cargo test --config '$(VALGRIND)' $(UNSAFE) linalg::pages linalg::pivoted select::votes \
			--skip random_pivots_have_the_right_distribution; \
	else echo "NOT RUN: valgrind"; fi

# Ratios against other programs, in one run and an environment of their own; records are kept in benchmarks/records.
# DATA_DIR is a folder with covtype.csv.gz and madelon_train.csv.gz; without it made tables of their shapes stand in.
bench: bench-tools
	$(if $(DATA_DIR),DATA_DIR=$(abspath $(DATA_DIR))) $(BENCH)/bin/python benchmarks/run.py

# Time and memory against rows, columns and components, ours and others'.
scaling: bench-tools
	$(BENCH)/bin/python benchmarks/scaling.py

# Instructions of fixed pieces of work, which do not change with the weather; needs valgrind.
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

# The papers' tables and figures. DATA_DIR is a folder of the sets that are not built in; RECORDS may name an earlier run,
# which then goes on, or only has its page written again.
RECORDS ?= reproduction/$(shell date +%F)
reproduce:
	cargo build --release --package kernsift-cli
	$(KERNSIFT) reproduce takes transform lp $(if $(DATA_DIR),--data-dir $(DATA_DIR)) --records $(RECORDS) --page docs/reproduction.md

# Times of single layers, for work on the code.
bench-rust:
	cargo bench --package kernsift

# The site: pictures drawn anew, pages, the Python package by its docstrings, the Rust library by cargo doc. It needs no
# network once it is built, and opens from its folder.
docs: $(DOCS_TOOLS)
	cargo build --release --package kernsift-cli
	$(MATURIN)
	$(BIN)/python docs/make_pictures.py
	RUSTDOCFLAGS="-D warnings" cargo doc --package kernsift --no-deps
	$(BIN)/mkdocs build --strict --quiet
	cp -r target/doc $(SITE)/rust
	@echo "$(SITE)/index.html"

$(DOCS_TOOLS): docs/requirements.txt $(TOOLS)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r docs/requirements.txt
	touch $(DOCS_TOOLS)

# Pages with measured numbers, which take minutes. Times change with the machine.
pages: $(TOOLS)
	cargo run --release --quiet --package kernsift --example planted_truth > docs/planted_truth.md
	cargo run --release --quiet --package kernsift --example hsfs_cost > docs/hsfs_cost.md
	$(BIN)/python docs/make_which.py

wheel: $(TOOLS)
	$(BIN)/maturin build --release --manifest-path python/Cargo.toml --out dist

clean:
	cargo clean
	rm -rf $(VENV) $(BENCH) dist
