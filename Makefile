# Two commands set everything up on a machine with Python 3.11 and make: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
READY = $(VENV)/.ready
DOCS_READY = $(VENV)/.docs-ready
JOBS ?= auto

.PHONY: demo test test-lowest newcomer lint docs fuzz bench reproduce build clean

demo: $(READY)
	$(BIN)/eigensieve demo

# one BLAS thread for each test process: as many processes as cores run side by side
test: $(READY) lint
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n $(JOBS) --dist worksteal --cov --cov-report=term

# The lowest versions that pyproject.toml allows. Newer versions of what these depend on warn; that is not looked at here.
LOWEST ?= $(VENV)-lowest
test-lowest:
	$(PYTHON) -m venv --clear $(LOWEST)
	command -v uv >/dev/null 2>&1 || $(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check uv
	PATH="$(abspath $(LOWEST))/bin:$$PATH" uv pip install --quiet --python $(LOWEST)/bin/python --resolution lowest-direct -e '.[dev]'
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(LOWEST)/bin/python -m pytest -n $(JOBS) --dist worksteal \
		-W ignore::DeprecationWarning -W ignore::FutureWarning

# wheel and sdist into dist/
build: $(READY)
	rm -rf dist
	$(BIN)/python -m hatchling build

# forty tasks of a newcomer with the wheel alone, in an empty environment, from another folder
newcomer: build
	$(BIN)/python tests/newcomer/run.py dist/*.whl

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# the site, with the gallery's pictures made anew; warnings are errors, nothing is downloaded
docs: $(DOCS_READY)
	rm -rf docs/gallery docs/generated
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m sphinx --fail-on-warning --keep-going -q -b html docs build/site
	@echo "open build/site/index.html"

# minutes to hours: so many cases for every reader, estimator, model file and checkpoint
CASES ?= 1000
fuzz: $(READY)
	cd tests && OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(abspath $(BIN))/python -m fuzz.run --cases $(CASES) $(FUZZ)

bench: $(READY)
	$(BIN)/python benchmarks/run.py

reproduce: $(READY)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m experiments --results docs/reproduced-runs --page docs/reproduced.md

# uv when it is there, the standard library's venv and pip otherwise
$(READY): pyproject.toml
	@if command -v uv >/dev/null 2>&1; then \
		uv venv --quiet --allow-existing --python "$$($(PYTHON) -c 'import sys; print(sys.executable)')" $(VENV) && \
		uv pip install --quiet --python $(BIN)/python -e '.[dev]'; \
	else \
		$(PYTHON) -m venv $(VENV) && $(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'; \
	fi
	@touch $(READY)

$(DOCS_READY): $(READY)
	@if command -v uv >/dev/null 2>&1; then \
		uv pip install --quiet --python $(BIN)/python -e '.[docs]'; \
	else \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'; \
	fi
	@touch $(DOCS_READY)

clean:
	rm -rf $(VENV) $(LOWEST) build dist docs/gallery docs/generated .pytest_cache .mypy_cache .ruff_cache
