# One virtual environment, one constraints file; every target sets up what it needs.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
# The extras that the tests need; the heavy ones (torch, ray, …) are added by hand: see `ziggurat doctor`.
EXTRAS := dev,spark,postgres
# Tests run on as many workers as there are cores, statistical ones included: they are seeded.
WORKERS ?= auto

export ZIGGURAT_DATA ?=

.PHONY: help setup java run test lint bench docs clean

help:
	@echo "make run    set everything up and take the tour"
	@echo "make test   set everything up, check style, types and layers, run every test"
	@echo "make lint   style, types and import contracts alone"
	@echo "make bench  speed, as ratios against peers, in one run"
	@echo "make docs   build the documentation site into site/"

setup: $(STAMP) java

$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[$(EXTRAS)]'
	touch $(STAMP)

# Spark needs a Java runtime; as root it is installed, otherwise the Spark tests skip and say so.
java:
	@command -v java >/dev/null || { [ "$$(id -u)" = 0 ] && apt-get -qq update && \
	  DEBIAN_FRONTEND=noninteractive apt-get -qq install -y default-jre-headless >/dev/null; } || \
	  echo "No Java runtime (Debian: default-jre-headless); the Spark tests will be skipped."

run: $(STAMP)
	$(BIN)/ziggurat tour

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

test: setup lint
	$(BIN)/pytest -n $(WORKERS) --dist loadgroup

bench: setup
	$(BIN)/python bench/noise.py
	$(BIN)/python bench/ledger.py
	$(BIN)/python bench/start.py

docs: $(STAMP)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

clean:
	rm -rf $(VENV) site build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
