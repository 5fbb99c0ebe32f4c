"""The local page in the browser: drop a table, see how it was understood, select, watch, read, download.

The package owns no algorithm and no reader. It starts ``eigensieve inspect`` and ``eigensieve select`` as programs of
their own: the page gives the results of the command line, and a run can be stopped. Read ``command``, ``workspace`` and
``server`` in this order. ``assets/`` holds page, style and script.
"""

from eigensieve.app.server import make_app, serve
from eigensieve.app.workspace import Workspace
