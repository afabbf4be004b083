# Two commands for newcomers: `make demo` and `make test`. `make check` is exactly what CI runs.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check install --quiet --no-compile --constraint constraints.txt

.DEFAULT_GOAL := help
.PHONY: help demo test check lint types imports format clean

help: ## show the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(v < (3, 11) and f"Sekisho needs Python 3.11 or newer, this is {v.major}.{v.minor}: make PYTHON=python3.11 …")'
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.installed: $(VENV)/.made pyproject.toml constraints.txt
	$(PIP) --editable .
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.made pyproject.toml constraints.txt
	$(PIP) --editable '.[dev]'
	@touch $@ $(VENV)/.installed

demo: $(VENV)/.installed ## a running gateway with two example helpdesks
	$(BIN)/sekisho demo

test: $(VENV)/.installed-dev ## install what the tests need, and run them
	$(BIN)/python -m pytest $(ARGS)

check: lint types imports test ## what CI runs: ruff, mypy, import-linter, pytest

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed-dev
	$(BIN)/mypy

imports: $(VENV)/.installed-dev
	$(BIN)/lint-imports

format: $(VENV)/.installed-dev ## format and fix what can be fixed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean: ## remove what the other targets made
	rm -rf $(VENV) .demo .mypy_cache .ruff_cache .pytest_cache
