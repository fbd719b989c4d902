"""A headless browser, controlled over a pipe."""

import base64
import fcntl
import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
#: Timeout of a command in seconds.
PATIENCE = 60


def find_browser():
    """The path of an installed browser, or None."""
    return next(filter(None, map(shutil.which, (os.environ.get("CHROME", ""), *NAMES))), None)


class Browser:
    """Chromium with one page; records its requests and errors."""

    def __init__(self, program):
        self._home = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.downloads = Path(self._home.name, "downloads")
        self.downloads.mkdir()
        to_read, self._out = os.pipe()
        self._in, to_write = os.pipe()
        options = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--hide-scrollbars",
            f"--user-data-dir={self._home.name}/profile",
            "--remote-debugging-pipe",
            "about:blank",
        ]
        # It reads commands from file descriptor 3 and writes answers to 4; open descriptors there are moved.
        high = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in (to_read, to_write)]
        self._process = subprocess.Popen(
            [program, *options],
            close_fds=False,
            preexec_fn=lambda: [os.dup2(end, place) for place, end in enumerate(high, 3)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for end in (to_read, to_write, *high):
            os.close(end)
        self._number, self._buffer, self._session = 0, b"", None
        self.complaints, self.requests = [], []
        target = next(t for t in self._pages() if t["type"] == "page")
        self._session = self.ask("Target.attachToTarget", targetId=target["targetId"], flatten=True)[
            "sessionId"
        ]
        for part in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{part}.enable")
        self.ask("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(self.downloads))

    def _pages(self):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            found = self.ask("Target.getTargets")["targetInfos"]
            if any(t["type"] == "page" for t in found):
                return found
            time.sleep(0.05)
        raise TimeoutError("the browser opens no page")

    def ask(self, method, **parameters):
        """Send a command and wait for its answer."""
        self._number += 1
        number = self._number
        message = {"id": number, "method": method, "params": parameters}
        if self._session is not None and not method.startswith(("Target.", "Browser.")):
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self._note(answer)

    def _read(self):
        while b"\0" not in self._buffer:
            piece = os.read(self._in, 1 << 16)
            if not piece:
                raise RuntimeError("the browser has ended")
            self._buffer += piece
        message, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(message)

    def _note(self, event):
        method, what = event.get("method", ""), event.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(what["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(what["exceptionDetails"].get("text", "an exception"))
        elif method == "Runtime.consoleAPICalled" and what["type"] in ("error", "warning", "assert"):
            self.complaints.append(" ".join(str(a.get("value", a.get("description"))) for a in what["args"]))
        elif method == "Log.entryAdded" and what["entry"]["level"] in ("error", "warning"):
            self.complaints.append(what["entry"]["text"])
        elif method == "Page.javascriptDialogOpening":
            self.complaints.append(f"a dialog: {what['message']}")
            self._number += 1
            message = {
                "id": self._number,
                "method": "Page.handleJavaScriptDialog",
                "params": {"accept": True},
            }
            os.write(self._out, json.dumps({**message, "sessionId": self._session}).encode() + b"\0")

    def open(self, path, width=1100, height=900, dark=False):
        """Open a file and clear the records."""
        self.complaints, self.requests = [], []
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])
        self.ask("Page.navigate", url=Path(path).resolve().as_uri())
        end = time.monotonic() + PATIENCE
        while self.run("document.readyState") != "complete":
            if time.monotonic() > end:
                raise TimeoutError(f"{path} is not loaded")
            time.sleep(0.02)

    def run(self, script):
        """The value of an expression in the page."""
        answer = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"].get("description"))
        return answer["result"].get("value")

    def point(self, selector, nth=0):
        """Move the pointer over the middle of an element."""
        x, y = self.run(
            f"(() => {{const e = document.querySelectorAll({selector!r})[{nth}];"
            "e.scrollIntoView({block: 'center'}); const r = e.getBoundingClientRect();"
            "return [r.x + r.width / 2, r.y + r.height / 2];})()"
        )
        self.ask("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        return x, y

    def click(self, selector, nth=0):
        """Press and release the button over an element."""
        x, y = self.point(selector, nth)
        for kind in ("mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def screenshot(self, path):
        """Write a screenshot of the complete page."""
        picture = self.ask("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        Path(path).write_bytes(base64.b64decode(picture))

    def close(self):
        """End the browser."""
        self._process.kill()
        self._process.wait()
        os.close(self._in)
        os.close(self._out)
        self._home.cleanup()
