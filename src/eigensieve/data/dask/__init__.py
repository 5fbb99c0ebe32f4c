"""Dask arrays and dataframes: every pass runs where the chunks are, and only thin matrices travel.

Read in this order:

- ``matrix.py``: the data matrix on the client, which turns every pass into tasks.
- ``tasks.py``: the functions that run on the workers, and sums that do not depend on their order.
- ``graph.py``: which chunks one task works on, and on which worker; the tasks of a pass as one graph.

A chunk is Dask's own. A piece is some features with all their samples: one column of chunks, or some features of it
where samples are spread over several chunks. A segment is the pieces that one task works on; they are on one worker.
Feature arrays stay on the workers, cut like the segments.
"""
