# `make demo` and `make test` each set up all they need, once, on a machine with Python 3.11.
# PYTHON=… chooses the interpreter.

PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
PACKAGES := $(addprefix -p skill2real.,ledger backends replay agents commands)

.DEFAULT_GOAL := help
.PHONY: help demo test check format setup clean

help:
	@echo "make demo    train, freeze, evaluate, deploy and verify on real LIBERO scenes (at most 15 minutes)"
	@echo "make test    all checks: lint, format, types, import contract, tests"
	@echo "make check   the same without the tests"
	@echo "make setup   only install what make demo needs, into $(VENV)"
	@echo "make format  let ruff put the code in order"
	@echo "make clean   remove $(VENV) and caches; runs/ stays"

demo: $(VENV)/demo.stamp
	@$(BIN)/skill2real demo
	@echo; echo "For these commands: source $(BIN)/activate"

setup: $(VENV)/demo.stamp

test: check
	$(BIN)/pytest

check: $(VENV)/test.stamp .cache/src/skill2real
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	MYPYPATH=.cache/src $(BIN)/mypy -m skill2real -m skill2real.cli $(PACKAGES)
	$(BIN)/lint-imports

format: $(VENV)/test.stamp
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The repository is the package, whatever its folder is called: tools that go by paths find it under its name here.
.cache/src/skill2real:
	mkdir -p .cache/src
	ln -sfn ../.. $@

$(BIN)/python:
	@.ci/system-packages python $(PYTHON)
	$(PYTHON) -m venv $(VENV)

$(VENV)/demo.stamp: pyproject.toml constraints.txt | $(BIN)/python
	@.ci/system-packages rendering
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[sim]'
	@touch $@

$(VENV)/test.stamp: pyproject.toml constraints.txt | $(BIN)/python
	@.ci/system-packages rendering services
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[sim,ur5e,dev]'
	@touch $@ $(VENV)/demo.stamp

clean:
	rm -rf $(VENV) .cache .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis build *.egg-info
