"""Calls Labwright's tools from a script that execute_script runs. Needs nothing but Python 3.8 or newer."""
import http.client
import json
import os
import socket


class LabwrightError(Exception):
    """A call that failed: code, message, and in hint the next step to try."""

    def __init__(self, error):
        self.code = error.get("code", "INTERNAL")
        self.message = error.get("message", "")
        self.hint = error.get("hint", "")
        self.details = error.get("details", {})
        super().__init__(f"{self.code}: {self.message} {self.hint}".strip())


class _Connection(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(os.environ["LABWRIGHT_SOCKET"])


def call(tool, **arguments):
    """The tool's result as a dict. Without a device, the script's own is meant."""
    connection = _Connection("labwright")
    try:
        body = json.dumps({"tool": tool, "arguments": arguments})
        connection.request("POST", "/call", body, {"content-type": "application/json"})
        answer = json.loads(connection.getresponse().read())
    finally:
        connection.close()
    if not answer["success"]:
        raise LabwrightError(answer["error"])
    return answer["result"]


def run(tool, **arguments):
    """Like call, for a tool that starts a run: goes on waiting until the run has ended."""
    result = call(tool, **{"wait_ms": 600000, **arguments})
    while result.get("status") in ("queued", "running"):
        result = call("get_execution_status", execution_id=result["execution_id"], wait_ms=600000)
    if result.get("kind") in ("actions", "navigation") and result["status"] != "passed":
        raise LabwrightError(result.get("reason", {}))
    return result


def result(status, message=None, **outputs):
    """Says how the script ended, "passed" or "failed"; the last call counts."""
    said = {"status": status, "outputs": outputs}
    if message is not None:
        said["message"] = message
    with open(os.environ["LABWRIGHT_RESULT"], "w", encoding="utf-8") as file:
        json.dump({"labwright": said}, file)
