"""Random and damaged input for everything that takes input. ``make fuzz`` runs it; ``run.py`` says how.

The rule of every target: the answer is exactly the one asked for, or one documented error says why not.
"""
