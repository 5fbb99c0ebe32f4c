"""The subjects of ``benchmarks/panels.py``: each file has ``main(draws)``, which prints its table."""
