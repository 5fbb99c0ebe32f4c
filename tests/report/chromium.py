"""A headless Chromium driven over its debugging pipe: no driver program, no extra package."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
]


def find_chromium() -> str | None:
    """Path of an installed Chromium, or None."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        found = shutil.which(name)
        if found:
            return found
    return None


class Chromium:
    """One browser process with one page."""

    def __init__(self, program: str) -> None:
        self.folder = tempfile.mkdtemp(prefix="chromium-")
        command_read, self.command_write = os.pipe()
        self.answer_read, answer_write = os.pipe()
        import fcntl  # not on Windows, where no such browser is found

        # The browser expects descriptors 3 and 4; high copies keep the two dup2 from treading on each other.
        reads, writes = (fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 20) for fd in (command_read, answer_write))
        self.process = subprocess.Popen(
            [program, *FLAGS, f"--user-data-dir={self.folder}"],
            close_fds=False,
            preexec_fn=lambda: (os.dup2(reads, 3), os.dup2(writes, 4)),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(reads)
        os.close(writes)
        os.close(command_read)
        os.close(answer_write)
        self.buffer = b""
        self.count = 0
        self.session: str | None = None
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> Any:
        """Send one command of the DevTools protocol and return its result."""
        self.count += 1
        message: dict[str, Any] = {"id": self.count, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.command_write, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + 120
        while True:
            answer = self._next(deadline)
            if answer.get("id") == self.count:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def _next(self, deadline: float) -> dict[str, Any]:
        while b"\0" not in self.buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.answer_read], [], [], left)[0]:
                raise TimeoutError("Chromium did not answer")
            chunk = os.read(self.answer_read, 1 << 20)
            if not chunk:
                raise RuntimeError("Chromium ended")
            self.buffer += chunk
        raw, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(raw)

    def open(
        self,
        path: Path | str,
        *,
        width: int = 1280,
        height: int = 900,
        dark: bool = False,
        media: str = "",
        ready: str = "document.documentElement?.dataset.ready === 'yes'",
    ) -> None:
        """Load a file or an address and wait until it is ready; by default, until its script says so."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 500,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", media=media, features=[scheme])
        self.events.clear()
        self.call("Page.navigate", url=path if isinstance(path, str) else path.resolve().as_uri())
        deadline = time.monotonic() + 120
        while not self.run(ready):
            if time.monotonic() > deadline:
                raise TimeoutError(f"the page did not become ready; {self.complaints()}")
            time.sleep(0.05)

    def run(self, script: str) -> Any:
        """Evaluate JavaScript and return its value."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def run_in_frame(self, script: str) -> Any:
        """Evaluate JavaScript in the frame of another origin that the page holds; None while there is none."""
        session, self.session = self.session, None
        try:
            found = [each for each in self.call("Target.getTargets")["targetInfos"] if each["type"] == "iframe"]
            if not found:
                return None
            self.session = self.call("Target.attachToTarget", targetId=found[0]["targetId"], flatten=True)["sessionId"]
            return self.run(script)
        finally:
            self.session = session

    def complaints(self) -> list[str]:
        """Errors and warnings of console, script and loader since the page was opened."""
        kinds = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
        return [json.dumps(event["params"])[:400] for event in self.events if event.get("method") in kinds]

    def requests(self) -> list[str]:
        """Addresses the page asked for, other than itself and data in the page."""
        asked = [e["params"]["request"]["url"] for e in self.events if e.get("method") == "Network.requestWillBeSent"]
        return [url for url in asked if not url.startswith(("file:", "data:"))]

    def drag(self, x0: float, y0: float, x1: float, y1: float) -> None:
        """Press, move and release the mouse."""
        self._mouse("mousePressed", x0, y0)
        for step in range(1, 6):
            self._mouse("mouseMoved", x0 + (x1 - x0) * step / 5, y0 + (y1 - y0) * step / 5, buttons=1)
        self._mouse("mouseReleased", x1, y1)

    def click(self, x: float, y: float) -> None:
        self._mouse("mousePressed", x, y)
        self._mouse("mouseReleased", x, y)

    def _mouse(self, kind: str, x: float, y: float, buttons: int = 0) -> None:
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=buttons, clickCount=1)

    def box(self, selector: str) -> dict[str, float]:
        """Scroll an element into view and return its place in the window."""
        return self.run(
            f"(() => {{const e = document.querySelector({json.dumps(selector)});"
            "e.scrollIntoView({block: 'center'}); const b = e.getBoundingClientRect();"
            "return {x: b.x, y: b.y, width: b.width, height: b.height};})()"
        )

    def type(self, selector: str, text: str) -> None:
        """Replace what a text field holds by typing."""
        self.run(f"(() => {{const e = document.querySelector({json.dumps(selector)}); e.focus(); e.select();}})()")
        self.call("Input.insertText", text=text)

    def screenshot(self, path: Path) -> None:
        """Save a picture of the whole page."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        answer = self.call("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
        path.write_bytes(base64.b64decode(answer["data"]))

    def downloaded(self, script: str, folder: Path, name: str) -> bytes:
        """Run JavaScript that starts a download into an empty folder; return the file once it is whole."""
        session, self.session = self.session, None
        self.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder))
        self.session = session
        self.call("Runtime.evaluate", expression=script, userGesture=True)
        deadline = time.monotonic() + 60
        while not (folder / name).exists():
            if time.monotonic() > deadline:
                raise TimeoutError(f"{name} was not downloaded; there is {[p.name for p in folder.iterdir()]}")
            time.sleep(0.05)
        return (folder / name).read_bytes()

    def pdf(self, path: Path) -> None:
        """Print the page."""
        answer = self.call("Page.printToPDF", printBackground=True, paperWidth=8.27, paperHeight=11.69)
        path.write_bytes(base64.b64decode(answer["data"]))

    def close(self) -> None:
        """End the browser and remove its profile."""
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.command_write)
        os.close(self.answer_read)
        shutil.rmtree(self.folder, ignore_errors=True)
