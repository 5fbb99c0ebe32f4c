"""The server: addresses under a secret, for pages of this computer alone."""

import asyncio
import contextlib
import json
import secrets
import signal
import socket
import webbrowser
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from importlib.resources import files
from types import FrameType
from typing import Any
from urllib.parse import quote

from eigensieve._extras import require
from eigensieve._files import signals_held
from eigensieve._types import JsonDict
from eigensieve.app.command import Refused
from eigensieve.app.workspace import Workspace
from eigensieve.report import asset

_HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "frame-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
# The report holds names from the table. In a sandbox its script is of no origin and cannot reach the other addresses.
_REPORT_POLICY = "sandbox allow-scripts allow-downloads; frame-ancestors 'self'"
_ASSETS = {"": ("page.html", "text/html"), "app.js": ("app.js", "text/javascript"), "app.css": ("app.css", "text/css")}
_LARGEST_REQUEST = 1 << 16

Scope = JsonDict
Application = Callable[[Scope, Any, Any], Awaitable[None]]


class Guard:
    """Refuse requests that do not come from the page itself, before anything else sees them.

    The address must hold the token. The host must be this computer, since another name could be made to point here.
    If the browser tells which page asks, it must be a page of this server.
    """

    def __init__(self, app: Application, token: str, hosts: set[str]) -> None:
        self.app = app
        self.token = token.encode()
        self.hosts = hosts

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            given = {key.decode("latin-1"): value.decode("latin-1") for key, value in scope["headers"]}
            status = self._refusal(scope["path"], given)
            plain = require("starlette.responses", extra="app").PlainTextResponse
            app = self.app if status is None else plain("Refused.", status)
            await app(scope, receive, _with_headers(send))

    def _refusal(self, path: str, given: dict[str, str]) -> int | None:
        """Return the status with which a request is refused, None where it is not."""
        host = given.get("host", "")
        if host not in self.hosts:
            return 421
        if given.get("origin", f"http://{host}") != f"http://{host}":
            return 403
        if given.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return 403
        first = path.encode("utf-8", "surrogateescape").split(b"/")[1:2]
        return None if first and secrets.compare_digest(first[0], self.token) else 404


def _with_headers(send: Any) -> Any:
    async def sent(message: JsonDict) -> None:
        if message["type"] == "http.response.start":
            there = {key for key, _ in message["headers"]}
            new = [(key.encode(), value.encode()) for key, value in _HEADERS.items() if key.encode() not in there]
            message = message | {"headers": [*message["headers"], *new]}
        await send(message)

    return sent


def make_app(workspace: Workspace, token: str, hosts: set[str]) -> Application:
    """Return the application that serves the page below ``/token/`` to these hosts; it closes the workspace."""
    from starlette.applications import Starlette
    from starlette.requests import ClientDisconnect, Request
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Mount, Route

    async def page(request: Request) -> Response:
        name, kind = _ASSETS[request.url.path.rpartition("/")[2]]
        return Response(files("eigensieve.app").joinpath("assets", name).read_text(encoding="utf-8"), media_type=kind)

    async def style(request: Request) -> Response:
        return Response(asset("page.css"), media_type="text/css")

    async def table(request: Request) -> Response:
        size = request.headers.get("content-length")
        name = await workspace.receive(request.query_params.get("name", ""), size, request.stream())
        return JSONResponse({"table": name})

    async def look(request: Request) -> Response:
        return JSONResponse(await workspace.look(await _choices(request)))

    async def selection(request: Request) -> Response:
        if request.method == "DELETE":
            await workspace.stop()
        elif request.method == "POST":
            workspace.start(await _choices(request))
        return JSONResponse(workspace.state())

    async def file(request: Request) -> Response:
        role = request.path_params["role"]
        name, content = await asyncio.to_thread(workspace.file, role)
        if role == "report" and "save" not in request.query_params:
            return Response(content, media_type="text/html", headers={"content-security-policy": _REPORT_POLICY})
        headers = {"content-disposition": f"attachment; filename*=utf-8''{quote(name)}"}
        return Response(content, media_type="application/octet-stream", headers=headers)

    async def refused(request: Request, error: Exception) -> Response:
        return JSONResponse({"error": str(error)}, getattr(error, "status", 400))

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        await workspace.close()

    routes = [
        *(Route(f"/{name}", page) for name in _ASSETS),
        Route("/report.css", style),
        Route("/table", table, methods=["PUT"]),
        Route("/look", look, methods=["POST"]),
        Route("/selection", selection, methods=["GET", "POST", "DELETE"]),
        Route("/files/{role}", file),
    ]
    inner = Starlette(
        routes=[Mount(f"/{token}", routes=routes)],
        exception_handlers={Refused: refused, ClientDisconnect: refused},
        lifespan=lifespan,
    )
    return Guard(inner, token, hosts)


async def _choices(request: Any) -> Any:
    """Return the body of a request, which is JSON."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > _LARGEST_REQUEST:
            raise Refused("The request is too large.", 413)
    try:
        return json.loads(body)
    except ValueError as error:
        raise Refused("The request must be JSON.") from error


def serve(port: int = 0, *, open_browser: bool = True) -> None:
    """Serve the page on 127.0.0.1 until Ctrl-C; print its address. Port 0 takes a free one."""
    with contextlib.ExitStack() as closing:
        # a library that is imported may drop what a signal raises, and a folder not yet known would be left behind
        with signals_held():
            require("starlette", extra="app")
            uvicorn = require("uvicorn", extra="app")
            listening = closing.enter_context(socket.create_server(("127.0.0.1", port)))
            workspace = Workspace()
            closing.callback(workspace.remove)
            number = listening.getsockname()[1]
            token = secrets.token_urlsafe(24)
            app = make_app(workspace, token, {f"127.0.0.1:{number}", f"localhost:{number}"})
            config = uvicorn.Config(
                app, log_level="warning", access_log=False, server_header=False, timeout_graceful_shutdown=2
            )
            server = uvicorn.Server(config)
        address = f"http://127.0.0.1:{number}/{token}/"
        print(f"eigensieve runs at {address}\nOnly this computer can open it. Ctrl-C ends it.", flush=True)
        if open_browser:
            webbrowser.open(address)
        # Ctrl-C is how it ends: the server has closed everything when the signal comes on to here.
        with contextlib.suppress(KeyboardInterrupt), _hang_up_ends(server):
            asyncio.run(server.serve(sockets=[listening]))


@contextlib.contextmanager
def _hang_up_ends(server: Any) -> Iterator[None]:
    """Let SIGHUP end the server as SIGTERM does, which the server listens to by itself."""
    number = getattr(signal, "SIGHUP", None)  # not on Windows
    if number is None or signal.getsignal(number) == signal.SIG_IGN:
        yield
        return
    heard: list[int] = []

    def on_hang_up(number: int, frame: FrameType | None) -> None:
        heard.append(number)
        server.should_exit = True

    before = signal.signal(number, on_hang_up)
    try:
        yield
    finally:
        signal.signal(number, before)
    for one in heard[:1]:
        signal.raise_signal(one)
