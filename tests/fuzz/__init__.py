"""Random and damaged input for everything that takes input. ``make fuzz`` runs it; ``run.py`` says how.

The rule of every target: what was asked for comes back exactly, or one documented error says why not.
"""
