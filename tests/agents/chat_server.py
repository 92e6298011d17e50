"""A model's server on loopback for tests: speaks both protocols for real, and answers or fails by script."""

import base64
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import cv2
import numpy as np

PLAIN = {"content-type": "application/json"}


@dataclass
class Answer:
    """What the server sends. text: the model's. raw: bytes in its place. streamed: None: as was asked.

    after: bytes after which the connection is closed. pause: seconds before the answer."""

    text: str = ""
    finish: str = "stop"
    refusal: str = ""
    usage: tuple[int, int, int] = (100, 20, 40)  # tokens in, out, and of those in the kept ones
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    streamed: bool | None = None
    after: int | None = None
    pause: float = 0.0
    count: bool = True  # whether tokens are told


@dataclass
class Request:
    """One question as the server got it."""

    vendor: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def system(self) -> str:
        if self.vendor == "anthropic":
            return "\n\n".join(block["text"] for block in self.body.get("system", []))
        return "\n\n".join(m["content"] for m in self.body["messages"] if m["role"] == "system")

    @property
    def text(self) -> str:
        """All that the user said, in one."""
        return "\n\n".join(part["text"] for part in self._parts() if part["type"] == "text")

    @property
    def schema(self) -> dict[str, Any] | None:
        if self.vendor == "anthropic":
            return self.body.get("output_config", {}).get("format", {}).get("schema")
        return self.body.get("response_format", {}).get("json_schema", {}).get("schema")

    def pictures(self) -> list[np.ndarray]:
        """The pictures as RGB, decoded: what is none fails here."""
        found = []
        for part in self._parts():
            if part["type"] == "text":
                continue
            if self.vendor == "anthropic":
                kind, data = part["source"]["media_type"], part["source"]["data"]
            else:
                head, data = part["image_url"]["url"].split(";base64,")
                kind = head.removeprefix("data:")
            assert kind in ("image/png", "image/jpeg")
            image = cv2.imdecode(np.frombuffer(base64.b64decode(data, validate=True), np.uint8), 1)
            assert image is not None
            found.append(image[:, :, ::-1])
        return found

    def _parts(self) -> Iterator[dict[str, Any]]:
        for message in self.body["messages"]:
            if message["role"] == "user":
                content = message["content"]
                yield from [{"type": "text", "text": content}] if isinstance(content, str) else content


Script = Callable[[Request], Answer]


class Server:
    """requests: all that came, in order."""

    def __init__(self, script: Script) -> None:
        self.requests: list[Request] = []
        self.script = script
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._http.daemon_threads = True

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    def address(self, vendor: str = "openai", model: str = "scripted") -> str:
        return f"{vendor}:{model}@{self.url}"


@contextmanager
def serving(script: Script) -> Iterator[Server]:
    """A server that answers by the script until the end of the block."""
    server = Server(script)
    thread = threading.Thread(target=server._http.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server._http.shutdown()
        server._http.server_close()
        thread.join()


def _handler(server: Server) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *what: Any) -> None:
            pass

        def do_POST(self) -> None:
            vendor = {"/v1/chat/completions": "openai", "/v1/messages": "anthropic"}.get(self.path, "")
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            request = Request(vendor, {k.lower(): v for k, v in self.headers.items()}, body)
            server.requests.append(request)
            try:
                _check(request)
                answer = server.script(request)
            except AssertionError as error:
                answer = Answer(status=400, raw=json.dumps({"error": {"message": f"bad: {error}"}}).encode())
            time.sleep(answer.pause)
            with suppress(OSError):  # the client has heard enough
                self._send(request, answer)

        def _send(self, request: Request, answer: Answer) -> None:
            streamed = request.body.get("stream", False) if answer.streamed is None else answer.streamed
            if answer.raw is not None:
                data, kind = answer.raw, "application/json"
            elif streamed:
                data, kind = _stream(request.vendor, answer), "text/event-stream; charset=utf-8"
            else:
                data, kind = json.dumps(_whole(request.vendor, answer)).encode(), "application/json"
            self.send_response(answer.status)
            headers = {"content-type": kind, "content-length": str(len(data)), **answer.headers}
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data if answer.after is None else data[: answer.after])
            if answer.after is not None:
                self.wfile.flush()
                self.close_connection = True

    return Handler


def _check(request: Request) -> None:
    """The shape that both vendors' documentation asks for. Raises AssertionError."""
    body = request.body
    assert request.vendor, "no such path"
    assert isinstance(body["model"], str)
    assert body["messages"], "no messages"
    roles = [m["role"] for m in body["messages"] if m["role"] != "system"]
    assert roles[0] == "user"
    assert roles[-1] == "user"
    assert set(roles) <= {"user", "assistant"}
    if request.vendor == "anthropic":
        assert request.headers["anthropic-version"]
        assert isinstance(body["max_tokens"], int)
        blocks = [*body.get("system", []), *(p for m in body["messages"] for p in m["content"])]
        assert sum("cache_control" in block for block in blocks) <= 4, "too many cache breaks"
    request.pictures()
    if request.schema is not None:
        assert request.schema["additionalProperties"] is False


def _whole(vendor: str, answer: Answer) -> dict[str, Any]:
    asked, said, kept = answer.usage
    if vendor == "anthropic":
        stop = {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal"}[answer.finish]
        return {
            "type": "message", "role": "assistant", "model": "scripted-1", "stop_reason": stop,
            "content": [{"type": "text", "text": answer.text}] if answer.text else [],
            "usage": {"input_tokens": asked - kept, "cache_read_input_tokens": kept, "output_tokens": said},
        }  # fmt: skip
    usage = {
        "prompt_tokens": asked,
        "completion_tokens": said,
        "prompt_tokens_details": {"cached_tokens": kept},
    }
    message = {"role": "assistant", "content": answer.text, "refusal": answer.refusal or None}
    whole = {"model": "scripted-1", "choices": [{"message": message, "finish_reason": answer.finish}]}
    return whole | ({"usage": usage} if answer.count else {})


def _stream(vendor: str, answer: Answer) -> bytes:
    pieces = [answer.text[i : i + 7] for i in range(0, len(answer.text), 7)]
    whole = _whole(vendor, answer)
    if vendor == "anthropic":
        start = {**whole, "content": [], "stop_reason": None, "usage": {**whole["usage"], "output_tokens": 1}}
        said: list[dict[str, Any]] = [
            {"type": "message_start", "message": start},
            {"type": "ping"},
            {
                "type": "content_block_start",
                "index": 0,
                "content_block": {"type": "thinking", "thinking": ""},
            },
            {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "thinking_delta", "thinking": "{}"},
            },
            {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
            *(
                {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": piece}}
                for piece in pieces
            ),
            {
                "type": "message_delta",
                "delta": {"stop_reason": whole["stop_reason"]},
                "usage": {"output_tokens": answer.usage[1]},
            },
            {"type": "message_stop"},
        ]
        return b"".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n".encode() for e in said)
    chunks: list[dict[str, Any]] = [{"choices": [{"delta": {"role": "assistant"}}]}]
    chunks += [{"model": "scripted-1", "choices": [{"delta": {"content": piece}}]} for piece in pieces]
    if answer.refusal:
        chunks.append({"choices": [{"delta": {"refusal": answer.refusal}}]})
    chunks.append({"choices": [{"delta": {}, "finish_reason": answer.finish}]})
    if answer.count:
        chunks.append({"choices": [], "usage": whole["usage"]})
    return (
        b": hello\n\n"
        + b"".join(f"data: {json.dumps(c)}\r\n\r\n".encode() for c in chunks)
        + b"data: [DONE]\n\n"
    )
