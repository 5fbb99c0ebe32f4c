# Two commands set everything up on a machine with Python 3.11 and make: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
READY = $(VENV)/.ready
JOBS ?= auto

.PHONY: demo test lint fuzz bench reproduce clean

demo: $(READY)
	$(BIN)/eigensieve demo

# one BLAS thread for each test process: as many processes as cores run side by side
test: $(READY) lint
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n $(JOBS) --dist worksteal --cov --cov-report=term

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# minutes to hours: so many cases for every reader, estimator, model file and checkpoint
CASES ?= 1000
fuzz: $(READY)
	cd tests && OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(abspath $(BIN))/python -m fuzz.run --cases $(CASES) $(FUZZ)

bench: $(READY)
	$(BIN)/python benchmarks/run.py

reproduce: $(READY)
	$(BIN)/eigensieve reproduce --page docs/reproduced.md

# uv when it is there, the standard library's venv and pip otherwise
$(READY): pyproject.toml
	@if command -v uv >/dev/null 2>&1; then \
		uv venv --quiet --allow-existing --python "$$($(PYTHON) -c 'import sys; print(sys.executable)')" $(VENV) && \
		uv pip install --quiet --python $(BIN)/python -e '.[dev]'; \
	else \
		$(PYTHON) -m venv $(VENV) && $(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'; \
	fi
	@touch $(READY)

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache
