"""The local page in the browser: drop a table, see how it was understood, select, watch, read, download.

The package owns no algorithm and no reader. It starts ``eigensieve inspect`` and ``eigensieve select`` as programs of
their own, so that the page does what the command line does, and a run can be stopped. Read in this order:

- ``command``: from the choices on the page to a command line
- ``workspace``: the table, the programs that work on it, and their outputs, in a folder that is removed at the end
- ``server``: addresses, what is refused, and how the page is served
- ``assets/``: page, style and script
"""

from typing import TYPE_CHECKING

from eigensieve._door import open_door

if TYPE_CHECKING:
    from eigensieve.app.server import make_app, serve
    from eigensieve.app.workspace import Workspace

__getattr__, __dir__, __all__ = open_door(__name__, __file__)
