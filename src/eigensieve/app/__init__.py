"""The local page in the browser: drop a table, see how it was understood, select, watch, read, download.

The package owns no algorithm and no reader. It starts ``eigensieve inspect`` and ``eigensieve select`` as programs of
their own: the page gives the results of the command line, and a run can be stopped. Read in this order:

- ``command``: from the choices on the page to a command line
- ``workspace``: the table, the programs that work on it, and their outputs, in a folder that is removed at the end
- ``server``: the addresses, the requests that are refused, and the start of the server
- ``assets/``: page, style and script
"""

from eigensieve.app.server import make_app, serve
from eigensieve.app.workspace import Workspace
