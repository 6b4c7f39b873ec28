# `make demo` and `make test` need Python 3.11 or newer and nothing else; `make help` lists the rest.
SHELL := /bin/sh
VENV := .venv
BIN := $(VENV)/bin
PORT ?= 8000
DEMO := KINDGI_DEMO=1 $(BIN)/python manage.py
CHECKS := SECRET_KEY=for-checks-only $(BIN)/python manage.py
PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
  $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)

.DELETE_ON_ERROR:
.PHONY: help demo test check browser lint format types bench requirements clean

help:  ## list the targets
	@sed -n 's/^\([a-z]*\):.*##/\1\t/p' $(MAKEFILE_LIST) | expand -t 14

demo: $(VENV)/runtime  ## serve the site with demo data at 127.0.0.1:$(PORT)
	@$(DEMO) migrate --verbosity 0
	@PORT=$(PORT) $(DEMO) load_demo
	@exec env $(DEMO) serve --port $(PORT)

test: $(VENV)/dev  ## the whole suite: SQLite, PostgreSQL where reachable, browser where there is Chromium
	@$(BIN)/python tests/run_all.py

check: lint types $(VENV)/dev  ## everything but PostgreSQL and the browser, with coverage
	@$(CHECKS) check --fail-level WARNING
	@$(CHECKS) makemigrations --check --dry-run
	@SCHEMATHESIS_EXAMPLES=200 $(BIN)/python -m pytest -n auto --cov --cov-report term

browser: $(VENV)/dev  ## the browser tests alone
	@$(BIN)/python -m pytest -m browser

lint: $(VENV)/dev  ## style, imports and templates
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/lint-imports
	@if [ -d templates ]; then $(BIN)/djlint templates --lint --check; fi

types: $(VENV)/dev  ## mypy, strict
	@$(BIN)/mypy

format: $(VENV)/dev  ## write the code as the checks want it
	@$(BIN)/ruff check --fix-only --quiet .
	@$(BIN)/ruff format .
	@if [ -d templates ]; then $(BIN)/djlint templates --reformat --quiet; fi

bench: $(VENV)/dev  ## measure the hot paths, as ratios within one run
	@$(BIN)/python -m bench

# Compiled against the oldest Python there is to support; a list of hashes covers every wheel of its release.
COMPILE := $(BIN)/python -m piptools compile --quiet --generate-hashes --strip-extras --allow-unsafe --upgrade \
  --no-header --no-annotate --no-emit-options
requirements: $(VENV)/runtime  ## pin the newest releases that pyproject.toml allows
	@$(BIN)/pip install --quiet pip-tools
	@$(COMPILE) --output-file requirements.txt pyproject.toml
	@$(COMPILE) --extra dev --constraint requirements.txt --output-file requirements-dev.txt pyproject.toml

clean:  ## forget the virtual environment and what the demo keeps
	@rm -rf $(VENV) var

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed; name one with PYTHON=..."; exit 1; }
	@$(PYTHON) -m venv $(VENV)

# Stamps: nothing is installed again until the pins change.
$(VENV)/runtime: requirements.txt | $(BIN)/python
	@echo "Installing what the site needs into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.txt
	@touch $@

$(VENV)/dev: requirements-dev.txt | $(BIN)/python
	@echo "Installing what the site and its tests need into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.txt
	@touch $@
