"""A server that sends what each test tells it, and the answers that tests have in common."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Server(ThreadingHTTPServer):
    """Answers requests by `answers`, one function each, else by `respond_always`, and notes what came."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers = []
        self.requests = []
        self.respond_always = None

    def handle_error(self, request, client_address):
        """Clients that leave are no fault here."""


class Handler(BaseHTTPRequestHandler):
    def respond(self):
        length = int(self.headers.get("content-length") or 0)
        self.body = self.rfile.read(length)
        self.server.requests.append((self.path, dict(self.headers), self.body))
        (self.server.answers.pop(0) if self.server.answers else self.server.respond_always)(self)

    do_GET = do_POST = respond

    def log_message(self, *_):
        pass


def answer(body, status=200, content_type="application/json", length=None, **headers):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()

    def send(handler):
        handler.send_response(status)
        handler.send_header("content-type", content_type)
        handler.send_header("content-length", str(len(data) if length is None else length))
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(data)

    return send


def events(*bodies, is_whole=True):
    lines = b"".join(b"event: next\ndata: " + json.dumps(body).encode() + b"\n\n" for body in bodies)
    return answer(lines, content_type="text/event-stream", length=len(lines) if is_whole else len(lines) + 100)


def error(code, **extensions):
    return {"message": "It is so.", "extensions": {"code": code, **extensions}}


def progress(final, done, changed=()):
    counts = {"total": 1, "queued": 0, "inProgress": 1 - done, "done": done, "failed": 0, "cancelled": 0}
    return {
        "data": {
            "batchProgress": {
                "final": final,
                "estimatedSecondsLeft": None,
                "batch": {"counts": counts},
                "changedTasks": list(changed),
            }
        }
    }


def task(task_id, status="DONE", name=None, index=0):
    return {"taskId": task_id, "name": name, "inputIndex": index, "repeatIndex": 0, "status": status, "error": None}


def pages(nodes, has_next=False, cursor=None):
    return {"data": {"batch": {"tasks": {"pageInfo": {"hasNextPage": has_next, "endCursor": cursor}, "nodes": nodes}}}}
