# One virtual environment, one constraints file; every target sets up what it needs.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
CORE   := $(VENV)/.core
STAMP  := $(VENV)/.installed
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
# The extras that the tests need; `ziggurat doctor` says how to add others.
EXTRAS := dev,service,spark,connect,postgres,torch,ray,tracking,marginals,text,mobility,r
# Tests run on as many workers as there are cores, statistical ones included: they are seeded.
WORKERS ?= auto

export ZIGGURAT_DATA ?=

.PHONY: help setup java grammar run test lint bench docs clean

help:
	@echo "make run    set everything up and take the tour"
	@echo "make test   set everything up, check style, types and layers, run every test"
	@echo "make lint   style, types and import contracts alone"
	@echo "make bench  speed, as ratios against peers, in one run"
	@echo "make docs   build the documentation site into site/"

setup: $(STAMP) java grammar

# The product alone, which is all that `make run` needs.
$(CORE): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(INSTALL) -e .
	touch $(CORE)

$(STAMP): $(CORE)
	$(INSTALL) -e '.[$(EXTRAS)]'
	touch $(STAMP)

# Spark needs a Java runtime; as root it is installed, otherwise the Spark tests skip and say so.
java:
	@command -v java >/dev/null || { [ "$$(id -u)" = 0 ] && apt-get -qq update && \
	  DEBIAN_FRONTEND=noninteractive apt-get -qq install -y default-jre-headless >/dev/null; } || \
	  echo "No Java runtime (Debian: default-jre-headless); the Spark tests will be skipped."

# The parser that judges headlines; as root it is installed, otherwise its tests skip and say so.
grammar:
	@command -v link-parser >/dev/null || { [ "$$(id -u)" = 0 ] && apt-get -qq update && \
	  DEBIAN_FRONTEND=noninteractive apt-get -qq install -y link-grammar >/dev/null; } || \
	  echo "No link-parser (Debian: link-grammar); the tests of grammar by it will be skipped."

run: $(CORE)
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
	$(BIN)/python bench/walk.py
	$(BIN)/python bench/suggest.py
	$(BIN)/python bench/reading.py
	$(BIN)/python bench/house.py
	$(BIN)/python bench/experiments.py
	$(BIN)/python bench/ask.py
	$(BIN)/python bench/workload.py
	$(BIN)/python bench/learn.py
	$(BIN)/python bench/served.py
	$(BIN)/python bench/sgd.py
	$(BIN)/python bench/collect.py
	$(BIN)/python bench/anonymize.py
	$(BIN)/python bench/local_recoding.py
	$(BIN)/python bench/synthesize.py
	$(BIN)/python bench/pate_accounting.py
	$(BIN)/python bench/bleu.py
	$(BIN)/python bench/sequences.py --speed
	$(BIN)/python bench/sgd_recurrent.py
	$(BIN)/python bench/headlines.py
	$(BIN)/python bench/service.py load
	$(BIN)/python bench/service.py kills
	$(BIN)/python bench/service.py timing

docs: $(STAMP)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

clean:
	rm -rf $(VENV) site build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
