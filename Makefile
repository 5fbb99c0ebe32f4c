# Two commands set everything up on a machine with Python 3.11 and make: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
READY = $(VENV)/.ready
DOCS_READY = $(VENV)/.docs-ready
JOBS ?= auto
# LOCKED=1 installs the versions of requirements-ci.txt, with hashes, instead of the newest (Python 3.11 on Linux)
LOCKED ?=

.PHONY: demo test test-lowest newcomer lint docs fuzz bench reproduce build lock audit sbom clean

demo: $(READY)
	$(BIN)/eigensieve demo

# one BLAS thread for each test process: as many processes as cores run side by side
test: $(READY) lint
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n $(JOBS) --dist worksteal --cov --cov-report=term

# The lowest versions that pyproject.toml allows. Newer versions of their dependencies warn; such warnings are ignored.
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

# new versions into requirements-ci.txt
lock:
	mkdir -p build
	$(PYTHON) -m venv --clear $(VENV)-tools
	$(VENV)-tools/bin/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(VENV)-tools/bin/python -m pip install --quiet --dry-run --ignore-installed --report build/lock.json '.[dev]' hatchling editables
	$(PYTHON) .ci/lock.py < build/lock.json > requirements-ci.txt

# known vulnerabilities of the locked versions; what cannot be looked up is an error
audit:
	$(PYTHON) -m venv --clear $(VENV)-tools
	$(VENV)-tools/bin/python -m pip install --quiet --disable-pip-version-check pip-audit
	$(VENV)-tools/bin/pip-audit --requirement requirements-ci.txt --require-hashes --disable-pip --strict

# CycloneDX list of what a user gets with eigensieve[all], in the locked versions
sbom: build
	$(PYTHON) -m venv --clear $(VENV)-tools
	$(VENV)-tools/bin/python -m pip install --quiet --disable-pip-version-check cyclonedx-bom
	$(PYTHON) -m venv --clear $(VENV)-sbom
	$(VENV)-sbom/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements-ci.txt
	$(VENV)-sbom/bin/python -m pip install --quiet --disable-pip-version-check --no-deps dist/*.whl
	mkdir -p build
	$(VENV)-tools/bin/cyclonedx-py environment --output-reproducible --output-file build/sbom.json $(VENV)-sbom/bin/python

# uv when it is there, the standard library's venv and pip otherwise
$(READY): pyproject.toml $(if $(LOCKED),requirements-ci.txt)
	@if [ -n "$(LOCKED)" ]; then \
		$(PYTHON) -m venv $(VENV) && \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements-ci.txt && \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .; \
	elif command -v uv >/dev/null 2>&1; then \
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
	rm -rf $(VENV) $(VENV)-tools $(VENV)-sbom $(LOWEST) build dist docs/gallery docs/generated .pytest_cache .mypy_cache .ruff_cache
