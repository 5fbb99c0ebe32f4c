"""How many features, how many clusters: calibration against a null, stability."""
