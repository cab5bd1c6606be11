"""An endpoint that answers as a test says, over real HTTP, and keeps what it was asked."""

import json
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread

Answer = Callable[[str], str]  # from the user's message to the reply


class Replay:
    """Serves until it is closed."""

    def __init__(self, answer: Answer) -> None:
        self.asked: list[str] = []  # the users' messages, in the order in which they came
        self._lock = Lock()
        replay = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                text = next(one["content"] for one in body["messages"] if one["role"] == "user")
                with replay._lock:
                    replay.asked.append(text)
                    reply = answer(text)
                choice = {"index": 0, "message": {"role": "assistant", "content": reply}, "finish_reason": "stop"}
                usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
                data = json.dumps({"model": body["model"], "choices": [choice], "usage": usage}).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.base_url = f"http://127.0.0.1:{self._server.server_port}/v1"
        Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
