"""Dask arrays and dataframes: every pass runs where the chunks are, and only thin matrices travel.

Read ``matrix.py`` first (the client), then ``tasks.py`` (the functions that run on the workers) and ``graph.py``.

A chunk is Dask's own. A piece is some features with all their samples: one column of chunks, or some features of it
where samples are spread over several chunks. A segment is the pieces that one task works on; they are on one worker.
Feature arrays stay on the workers, cut like the segments.
"""
