"""As much of the Language Server Protocol as it takes to ask rust-analyzer about one file."""

import json
import os
import queue
import subprocess
import threading
import time
from pathlib import Path

# "content modified" and "server cancelled": ask again.
RETRIED = (-32801, -32802)


class Client:
    """A running rust-analyzer that has the crate in `root` open, and of it the file `path`."""

    def __init__(self, command: list[str], root: Path, path: Path, options: dict):
        self.uri = path.as_uri()
        self.process = subprocess.Popen(
            command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self.answers: queue.Queue = queue.Queue()
        self.requests = 0
        self.version = 1
        self.status: dict = {}
        self.at_rest = threading.Event()
        threading.Thread(target=self._read, daemon=True).start()
        capabilities = {
            "experimental": {"serverStatusNotification": True},
            "textDocument": {"hover": {"contentFormat": ["plaintext"]}, "diagnostic": {}},
        }
        folders = [{"uri": root.as_uri(), "name": root.name}]
        self._request(
            "initialize",
            {
                "processId": os.getpid(),
                "rootUri": root.as_uri(),
                "workspaceFolders": folders,
                "capabilities": capabilities,
                "initializationOptions": options,
            },
        )
        self._notify("initialized", {})
        document = {"uri": self.uri, "languageId": "rust", "version": 1, "text": path.read_text()}
        self._notify("textDocument/didOpen", {"textDocument": document})
        time.sleep(1)  # it is at rest before it begins, too
        if not self.at_rest.wait(900):
            raise SystemExit("rust-analyzer does not come to rest within 15 minutes")

    def ask(self, what: str, text: str, offset: int | None = None):
        """Gives the file this text and asks `textDocument/what`, at an offset in it or about all of it."""
        self.version += 1
        document = {"uri": self.uri, "version": self.version}
        self._notify("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})
        parameters: dict = {"textDocument": {"uri": self.uri}}
        if offset is not None:
            before = text[:offset]
            character = len(before) - (before.rfind("\n") + 1)
            parameters["position"] = {"line": before.count("\n"), "character": character}
        return self._request(f"textDocument/{what}", parameters)

    def close(self) -> None:
        self._request("shutdown", None)
        self._notify("exit", None)
        self.process.wait(30)

    def _request(self, method: str, parameters):
        for _ in range(50):
            self.requests += 1
            self._send({"id": self.requests, "method": method, "params": parameters})
            answer = self.answers.get(timeout=600)
            if answer is None:
                raise SystemExit("rust-analyzer ended")
            error = answer.get("error")
            if error is None:
                return answer["result"]
            if error["code"] not in RETRIED:
                raise SystemExit(f"{method}: {error['message']}")
            time.sleep(0.2)
        raise SystemExit(f"{method}: no answer")

    def _notify(self, method: str, parameters) -> None:
        self._send({"method": method, "params": parameters})

    def _send(self, message: dict) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(data), data))
        self.process.stdin.flush()

    def _read(self) -> None:
        while (message := self._message()) is not None:
            if message.get("method") == "experimental/serverStatus":
                self.status = message["params"]
                if self.status["quiescent"]:
                    self.at_rest.set()
                else:
                    self.at_rest.clear()
            elif "method" in message and "id" in message:
                self._send({"id": message["id"], "result": None})
            elif "id" in message:
                self.answers.put(message)
        self.answers.put(None)

    def _message(self) -> dict | None:
        length = 0
        while line := self.process.stdout.readline().strip():
            name, value = line.split(b":", 1)
            if name.lower() == b"content-length":
                length = int(value)
        return json.loads(self.process.stdout.read(length)) if length else None
