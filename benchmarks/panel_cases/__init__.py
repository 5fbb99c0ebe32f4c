"""The subjects of benchmarks/panels.py, one module each."""
