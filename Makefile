# Every command of the project. `make` alone lists them.
SHELL := /bin/bash
.DEFAULT_GOAL := help

BIN := .venv/bin
# Further arguments for the command behind a target: make test ARGS="tests/store -x", make lock-dev ARGS=--upgrade
ARGS ?=
# pyright asks the package index for its latest version at every start unless told not to; its Node comes from the lock.
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1
export PYRIGHT_PYTHON_GLOBAL_NODE := 0

.PHONY: help setup demo test check bench format lock-dev clean

help: ## list the targets
	@sed -nE 's/^([a-z-]+):.*## (.*)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

setup: .venv/.made ## make .venv from the lock, and install the system packages that are missing (as root)

.venv/.made: requirements-dev.lock pyproject.toml tools/setup.sh
	@tools/setup.sh
	@touch $@

demo: setup ## resolve, build in the sandbox, prove and run the first-light example
	@tools/demo.sh

test: setup ## run the whole suite, the built wheel included
	$(BIN)/python -m pytest -n 2 --dist loadgroup $(ARGS)

check: setup ## format, lint, types, import contract, names that may not stand in files
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports
	$(BIN)/python tools/check_names.py

bench: setup ## print the figures of an installed wheel beside their marks
	$(BIN)/python -m bench $(ARGS)

format: setup ## format the code and mend what lint can mend
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lock-dev: ## remake requirements-dev.lock from pyproject.toml
	@command -v $(BIN)/uv >/dev/null || tools/setup.sh
	$(BIN)/uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 --generate-hashes \
	    --no-header --no-annotate --no-emit-index-url --no-config -q -o requirements-dev.lock $(ARGS)

clean: ## remove what the other targets made, apart from the store
	rm -rf .venv build dist demo rocmlock.egg-info .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
