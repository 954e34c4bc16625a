# Needs Python 3.11+, make and a C library; everything else comes from the package index.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
DEV    := $(VENV)/.installed-dev

.PHONY: demo up test check format bench soak conformance clients clean

demo: $(STAMP)            ## remember a sample, recall it through psql, REST and MCP
	@$(BIN)/pgrecall demo

up: $(STAMP)              ## run everything in the foreground
	@$(BIN)/pgrecall up

test: $(DEV)              ## the whole suite
	$(BIN)/python -m pytest

soak: $(DEV)              ## what takes minutes: long fuzz runs
	$(BIN)/python -m pytest -m soak --timeout 3600

conformance: $(DEV)       ## the drivers' own suites, straight and through the gateway
	$(BIN)/python -m tests.clients.conformance

check: $(DEV)             ## format, lint, layers, types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports
	$(BIN)/mypy

format: $(DEV)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(DEV)             ## the figures in the README
	$(BIN)/python -m bench

clients:                  ## the clients of other languages that the tests try where they find them (Debian, npm)
	apt-get update -qq
	apt-get install -y -qq postgresql-client libpostgresql-jdbc-java libscram-java odbc-postgresql unixodbc

clean:
	rm -rf $(VENV)

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(STAMP): pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(DEV): $(STAMP)
	$(BIN)/python -m pip install --quiet --group dev
	@touch $@
