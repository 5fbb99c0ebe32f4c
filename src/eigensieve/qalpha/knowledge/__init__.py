"""Door."""
