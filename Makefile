# make demo | check | test | test-full | api-coverage | bench | lint | drivers | build
#
# Everything below builds into $CARGO_TARGET_DIR (default: target/). Nothing outside this folder and the package caches is
# written, except Debian's packages that `make test` and `make demo` install as root where they are missing: PostgreSQL, tgt,
# libiscsi-bin, btrfs-progs.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

CARGO_TARGET_DIR ?= $(CURDIR)/target
export CARGO_TARGET_DIR
export STOWAGE_DRIVERS ?= $(CURDIR)/drivers/dist
export STOWAGE_BIN ?= $(CARGO_TARGET_DIR)/debug/stowage

.PHONY: help
help:
	@echo 'make demo       see it work: released clients, a driver swapped under load, a kill and a restart (a quarter of an hour the first time)'
	@echo 'make check      before every commit: lint, unit tests, store on SQLite, APIs in process (3 minutes warm)'
	@echo 'make test       what CI runs: every suite, both databases, released clients'
	@echo 'make test-full  the same without the cuts that keep slow suites short, and a driver built by each wasm toolchain'
	@echo 'make api-coverage  write docs/api-coverage.md and docs/share-api-coverage.md anew'
	@echo 'make bench      measure; figures go to docs/performance.md by hand'
	@echo 'make lint       format, clippy, dependencies'
	@echo 'make drivers    build drivers/*.wasm into drivers/dist'
	@echo 'make python-driver  build examples/python-driver, with componentize-py from the Python index'
	@echo 'make build      the binary, with the memory driver inside: $(STOWAGE_BIN)'

# The drivers have a lock and a cache of their own; a run without changes takes a second.
.PHONY: drivers
drivers:
	@drivers/build.sh

python_driver := $(CURDIR)/drivers/dist/python/python.wasm
.PHONY: python-driver
python-driver:
	@examples/python-driver/build.sh $(python_driver)

# After the drivers: the memory driver is embedded. Always the whole workspace: with another selection cargo unifies other
# features, and builds wasmtime and SQLx once more.
.PHONY: build
build: drivers
	@echo 'building the service (the first time takes minutes)'
	@cargo build -q --workspace --bins

.PHONY: demo
demo: build
	@examples/demo.sh

.PHONY: check
check: lint drivers
	@drivers/check.sh test
	@tests/run.sh check

.PHONY: test
test: lint build python-driver
	@drivers/check.sh test
	@tests/install-postgres.sh
	@STOWAGE_PYTHON_DRIVER=$(python_driver) tests/run.sh test

.PHONY: test-full
test-full: lint build python-driver
	@drivers/check.sh test
	@drivers/check.sh toolchains
	@tests/install-postgres.sh
	@STOWAGE_TEST_FULL=1 STOWAGE_PYTHON_DRIVER=$(python_driver) tests/run.sh test

# Writes docs/api-coverage.md and docs/share-api-coverage.md from the route table and what the API suites do.
.PHONY: api-coverage
api-coverage: build
	@SUITES="api share_api" STOWAGE_COVERAGE=write tests/run.sh check

.PHONY: bench
bench: build
	@tests/bench/run.sh

.PHONY: lint
lint:
	@cargo fmt --check
	@cargo clippy -q --workspace --all-targets --features stowage-tests/built -- -D warnings
	@drivers/check.sh lint
	@if cargo deny --version >/dev/null 2>&1; then cargo deny -L error check; else echo 'lint: left out: cargo-deny is not installed (licences, bans, sources)'; fi
