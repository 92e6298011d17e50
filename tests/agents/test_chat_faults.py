"""Servers that misbehave below the protocol or around it, and keys that they try to bring to light."""

import asyncio
import gzip
import json
import logging
import socket
import threading
import traceback
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from chat_server import Answer, Request, serving
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from skill2real.agents.errors import ConfigError, MissingError
from skill2real.agents.models.chat import connect
from skill2real.agents.models.chat.address import parse
from skill2real.agents.models.chat.base import Chat, Message, Picture, Question, Reply, Text
from skill2real.agents.models.chat.complete import Whole
from skill2real.agents.models.chat.errors import ChatError
from skill2real.agents.models.chat.http import Limits
from skill2real.agents.models.chat.keys import find_key
from skill2real.agents.models.chat.refusal import asked_wait, back_off, kind_of
from skill2real.agents.models.chat.stream import events

KEY = "secret/+0123456789=="  # not of a form that would be hidden anyway
VENDORS = ("openai", "anthropic")
SCHEMA = {"type": "object", "properties": {}, "additionalProperties": False}
QUESTION = Question(("You are a test.",), (Message("user", (Text("x"),)),), SCHEMA)
SSE = {"content-type": "text/event-stream"}
ONE_TRY = Limits(attempts=1)


def ask(address: str, question: Question = QUESTION, limits: Limits = ONE_TRY) -> Reply:
    async def run() -> Reply:
        chat = connect(parse(address), KEY, limits)
        try:
            return await chat.ask(question)
        finally:
            await chat.close()

    return asyncio.run(run())


def fault(address: str, question: Question = QUESTION, limits: Limits = ONE_TRY) -> ChatError:
    with pytest.raises(ChatError) as caught:
        ask(address, question, limits)
    assert "\n" not in str(caught.value)
    return caught.value


@contextmanager
def raw(send: Callable[[socket.socket], None]) -> Iterator[str]:
    """The URL of a server that takes a request and then does what it likes with the socket."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            with client, suppress(OSError):
                client.settimeout(5)
                _take(client)
                send(client)

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def _take(client: socket.socket) -> None:
    said = b""
    while b"\r\n\r\n" not in said:
        said += client.recv(65536)
    head, _, body = said.partition(b"\r\n\r\n")
    length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
    while len(body) < length:
        body += client.recv(65536)


def head(kind: str, *more: str, status: str = "200 OK") -> bytes:
    return "\r\n".join(
        [f"HTTP/1.1 {status}", f"content-type: {kind}", *more, "connection: close", "", ""]
    ).encode()


def test_any_bytes_on_the_wire_are_a_fault_or_an_answer() -> None:
    said = b""

    @settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
    @given(
        data=st.binary(max_size=200),
        begun=st.sampled_from(
            [
                b"",
                b"HTTP/1.1 ",
                head("application/json"),
                head("text/event-stream", "transfer-encoding: chunked"),
                head("text/event-stream") + b"data: ",
            ]
        ),
    )
    @example(data=b'{"choices": [{"message": {"content": "{}"}}]}', begun=head("application/json"))
    def check(data: bytes, begun: bytes) -> None:
        nonlocal said
        said = begun + data
        with suppress(ChatError):
            assert ask(f"openai:x@{url}").text == "{}"

    with raw(lambda client: client.sendall(said)) as url:
        check()  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("begun", "forever", "kind"),
    [
        (head("text/event-stream") + b"data: ", b"x" * 65536, "too_large"),
        (head("text/event-stream"), b": still here\n" * 5000, "too_large"),
        (head("application/json"), b" " * 65536, "too_large"),
        (head("text/html", status="500 Oops"), b" " * 65536, "too_large"),
        (b"HTTP/1.1 200 OK\r\n", b"x: y\r\n", "broken"),
    ],
)  # fmt: skip
def test_answers_without_an_end_are_cut_off(begun: bytes, forever: bytes, kind: str) -> None:
    def send(client: socket.socket) -> None:
        client.sendall(begun)
        while True:
            client.sendall(forever)

    with raw(send) as url:
        assert fault(f"openai:x@{url}").kind == kind


def test_a_server_that_only_keeps_the_line_open_is_left_after_the_time_for_one_call() -> None:
    gone = threading.Event()

    def send(client: socket.socket) -> None:
        client.sendall(head("text/event-stream"))
        while not gone.wait(0.02):
            client.sendall(b": ping\n\n")

    with raw(send) as url:
        error = fault(f"openai:x@{url}", limits=Limits(idle=5.0, total=0.3))
        gone.set()
    assert error.kind == "timeout"


def test_a_model_that_adds_nothing_but_blanks_is_not_waited_for() -> None:
    piece = json.dumps({"choices": [{"delta": {"content": "\n" * 50}}]})
    answer = json.dumps({"choices": [{"delta": {"content": '{"a": 1}', "reasoning": "so " * 40}}]})

    def send(client: socket.socket) -> None:
        client.sendall(head("text/event-stream") + f"data: {answer}\n\n".encode())
        while True:
            client.sendall(f"data: {piece}\n\n".encode())

    pictured = Question((), (Message("user", (Text("x"), Picture(b"png"))),), SCHEMA)
    with raw(send) as url:
        reply = ask(f"openai:x@{url}", pictured)
    assert (reply.text, reply.finish) == ('{"a": 1}', "end")
    assert (reply.input_tokens, reply.output_tokens) == (
        1000,
        32,
    )  # estimates, thinking and pictures included


@pytest.mark.parametrize(
    ("packed", "kind"), [(gzip.compress(b" " * 40_000_000), "too_large"), (b"\x1f\x8bno", "broken")]
)
def test_what_is_packed_is_measured_unpacked(packed: bytes, kind: str) -> None:
    with serving(lambda request: Answer(raw=packed, headers={"content-encoding": "gzip"})) as server:
        assert fault(server.address()).kind == kind
    assert server.requests[0].headers["accept-encoding"] == "identity"


def test_nobody_is_sent_elsewhere() -> None:
    with serving(lambda request: Answer("{}")) as other:
        to = {"location": f"{other.url}/chat/completions"}
        with serving(lambda request: Answer(status=307, raw=b"", headers=to)) as server:
            assert "answered 307" in str(fault(server.address()))
    assert not other.requests


def test_a_proxy_of_the_environment_is_not_asked_for_a_server_of_this_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    with serving(lambda request: Answer("{}")) as server:
        assert ask(server.address()).text == "{}"
    monkeypatch.setenv("ALL_PROXY", "socks9://me:hidden@127.0.0.1:9")
    with pytest.raises(MissingError, match="ALL_PROXY") as caught:
        connect(parse("openai:x"), KEY)
    assert "hidden" not in str(caught.value)


ECHOES = {
    "an error": Answer(status=401, raw=json.dumps({"error": {"message": f"no such key: {KEY}"}}).encode()),
    "a page": Answer(status=502, raw=f"<p>{KEY}</p>".encode(), headers={"x-key": KEY}),
    "a type": Answer(raw=b"{}", headers={"content-type": KEY}),
    "a fault on the way": Answer(raw=f'data: {{"error": {{"message": "{KEY}"}}}}\n\n'.encode(), headers=SSE),
    "an answer": Answer(f'{{"key": "{KEY}"}}', headers={"x-key": KEY}),
    "a refusal": Answer(f"not with {KEY}", finish="content_filter"),
}  # fmt: skip


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize("echo", ECHOES)
def test_a_key_that_is_echoed_comes_to_no_light(
    vendor: str, echo: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with serving(lambda request: ECHOES[echo]) as server:
        try:
            told = repr(ask(server.address(vendor)))
        except ChatError as error:
            told = "".join((repr(error), *traceback.format_exception(error)))
    assert KEY in server.requests[0].headers[{"openai": "authorization", "anthropic": "x-api-key"}[vendor]]
    assert KEY not in told
    assert KEY not in caplog.text


def test_a_key_in_the_status_line_or_unfit_for_a_header_is_not_told(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with raw(lambda client: client.sendall(head("text/html", status=f"999 {KEY}"))) as url:
        assert KEY not in str(fault(f"openai:x@{url}"))
    with raw(lambda client: client.sendall(f"{KEY}\r\n\r\n".encode())) as url:
        assert KEY not in str(fault(f"openai:x@{url}"))
    assert KEY not in caplog.text

    async def unfit() -> None:
        await connect(parse("openai:x@http://127.0.0.1:9/v1"), f"{KEY}\n{KEY}", ONE_TRY).ask(QUESTION)

    with pytest.raises(ChatError) as caught:
        asyncio.run(unfit())
    assert KEY not in repr(caught.value)


def refusing(*names: str, also: str = "") -> Callable[[Request], Answer]:
    """A server that knows no such fields, and names one of them at a time."""

    def script(request: Request) -> Answer:
        sent = {**request.body, **request.body.get("output_config", {})}
        for name in names:
            if name in sent or (name == "cache_control" and name in json.dumps(sent)):
                return Answer(
                    status=400, raw=json.dumps({"error": {"message": f"unknown: {name}{also}"}}).encode()
                )
        return Answer("{}")

    return script


async def asked(chat: Chat, *questions: Question) -> None:
    await asyncio.gather(*map(chat.ask, questions))


@pytest.mark.parametrize(
    ("vendor", "unknown", "kept"),
    [
        ("openai", ("reasoning_effort",), {"response_format", "stream_options", "max_completion_tokens"}),
        ("openai", ("max_completion_tokens", "stream_options"), {"reasoning_effort", "max_tokens"}),
        ("openai", ("response_format",), {"reasoning_effort", "stream_options"}),
        ("anthropic", ("thinking",), {"effort", "format", "cache_control"}),
        ("anthropic", ("cache_control",), {"effort", "format", "thinking"}),
        ("anthropic", ("effort", "thinking"), {"format"}),
        ("anthropic", ("output_config", "thinking"), {"cache_control"}),
    ],
)
def test_a_server_is_asked_without_what_it_does_not_know(
    vendor: str, unknown: tuple[str, ...], kept: set[str]
) -> None:
    async def run(address: str) -> None:
        chat = connect(parse(address), KEY, ONE_TRY)
        await asked(chat, *[QUESTION] * 4)  # side by side: each is refused before any is through
        before = len(server.requests)
        await chat.ask(QUESTION)
        assert len(server.requests) == before + 1
        await chat.close()

    with serving(refusing(*unknown)) as server:
        asyncio.run(run(server.address(vendor)))
    last = server.requests[-1]
    sent = {*last.body, *last.body.get("output_config", {})}
    assert not sent & set(unknown)
    assert kept <= sent | ({"cache_control"} if "cache_control" in json.dumps(last.body) else set())
    assert last.body["messages"][-1]["role"] == "user"
    assert len(last.body["messages"]) == (2 if vendor == "openai" else 1)


def test_a_refusal_that_quotes_the_request_costs_no_field() -> None:
    odd = Question(("Sort by colour.",), QUESTION.messages, SCHEMA, max_tokens=10**9)

    def script(request: Request) -> Answer:
        if 10**9 in request.body.values():
            return Answer(status=422, raw=json.dumps({"error": "too many", "input": request.body}).encode())
        return Answer("{}")

    async def run(address: str) -> None:
        chat = connect(parse(address), KEY)
        with pytest.raises(ChatError):
            await chat.ask(odd)
        await chat.ask(QUESTION)
        await chat.close()

    with serving(script) as server:
        asyncio.run(run(server.address()))
    assert {"reasoning_effort", "stream_options", "response_format"} <= set(server.requests[-1].body)
    assert len(server.requests) <= 6


def test_effort_none_asks_for_no_thinking() -> None:
    with serving(lambda request: Answer("{}")) as server:
        for vendor in VENDORS:
            ask(server.address(vendor), Question((), QUESTION.messages, effort="none"))
    openai, anthropic = (request.body for request in server.requests)
    assert openai["reasoning_effort"] == "none"
    assert anthropic["thinking"] == {"type": "disabled"}
    assert "output_config" not in anthropic


def test_halves_of_characters_neither_leave_nor_come_in() -> None:
    body = b'{"choices": [{"message": {"content": [{"type": "text", "text": "\\ud83d\\ude00 \\ud800"}]}}]}'
    asked = Question(("\udcff",), (Message("user", (Text("\ud800"),)),))
    with serving(lambda request: Answer(raw=body, streamed=False)) as server:
        reply = ask(server.address(), asked)
    assert reply.text == "\U0001f600 \ufffd"
    assert server.requests[0].text == "?"


def test_counts_that_cannot_be_are_estimated() -> None:
    for wrong in (-1, 10**40, "many", True, None, 1.5):
        usage = {"prompt_tokens": wrong, "completion_tokens": wrong, "prompt_tokens_details": [wrong]}
        said = {"choices": [{"message": {"content": "x" * 40}, "finish_reason": "stop"}], "usage": usage}
        with serving(lambda request, said=said: Answer(raw=json.dumps(said).encode())) as server:  # type: ignore[misc]
            reply = ask(server.address())
        assert (reply.output_tokens, reply.cached_tokens) == (10, 0)


def test_a_model_that_only_thinks_is_told_apart_from_one_that_is_silent() -> None:
    with serving(lambda request: Answer("", finish="length")) as server:
        for vendor in VENDORS:
            error = fault(server.address(vendor))
            assert error.kind == "empty"
            assert "thinking" in str(error)


@pytest.mark.parametrize(
    ("status", "said", "kind"),
    [
        (500, "image input is not supported - hint: you may need to provide the mmproj", "no_vision"),
        (400, "tiny is not a multimodal model", "no_vision"),
        (400, "At most 0 image(s) may be provided in one prompt.", "no_vision"),
        (400, "unknown variant `image_url`, expected `text`", "no_vision"),
        (404, "No endpoints found that support image input", "no_vision"),
        (404, "the revision does not exist", "bad_request"),
        (500, "cannot process image queue", "server"),
        (400, "the request exceeds the available context size", "too_long"),
        (400, "prompt is too long: 210000 tokens > 200000 maximum", "too_long"),
        (413, "", "too_long"),
        (403, "", "refused_key"),
        (520, "", "server"),
    ],
)
def test_refusals_are_understood_in_the_words_of_many_servers(status: int, said: str, kind: str) -> None:
    assert kind_of(status, said) == kind


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("0", 0.0), ("1.5", 1.5), ("-3", 0.0), ("1e999", 60.0), ("nan", None), ("soon", None), ("", None),
     ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0), ("Wed, 21 Oct 99999 07:28:00 GMT", None)],
)  # fmt: skip
def test_times_to_wait_are_read_as_far_as_they_are_some(value: str, seconds: float | None) -> None:
    assert asked_wait(value) == seconds
    assert all(0.0 <= back_off(attempt) <= min(60.0, 2.0 ** (attempt - 1)) for attempt in range(1, 9))


@given(
    lines=st.lists(st.text("ab{}:é", max_size=9)),
    cuts=st.lists(st.integers(0, 400)),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_events_are_the_same_however_they_are_cut(lines: list[str], cuts: list[int], end: str) -> None:
    data = "".join(f": hm{end}id: 1{end}data: {line}{end}{end}" for line in lines).encode()
    bounds = [0, *sorted(cut for cut in cuts if cut < len(data)), len(data)]

    async def chunks() -> AsyncIterator[bytes]:
        for begin, stop in pairwise(bounds):
            yield data[begin:stop]

    async def read() -> list[str]:
        return [said async for said in events(chunks())]

    assert asyncio.run(read()) == lines


JSON = st.recursive(
    st.none() | st.integers() | st.text(max_size=9),
    lambda more: st.lists(more, max_size=3) | st.dictionaries(st.text(max_size=3), more, max_size=3),
    max_leaves=6,
)


@settings(max_examples=60)
@given(
    value=st.dictionaries(st.text(max_size=9), JSON, max_size=3),
    tail=st.text(),
    size=st.integers(1, 9),
    ascii=st.booleans(),
)
def test_an_object_ends_where_it_ends(value: dict[str, Any], tail: str, size: int, ascii: bool) -> None:
    text = " \n" + json.dumps(value, ensure_ascii=ascii)
    said, whole = text + tail, Whole()
    assert "".join(whole.take(said[i : i + size]) for i in range(0, len(said), size)) == text
    assert whole.done


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("openai:x@HTTPS://API.OpenAI.com:443/v1/", "openai:x"),
        ("anthropic:x@https://api.anthropic.com", "anthropic:x"),
        ("anthropic:x@http://127.0.0.1:8000", "anthropic:x@http://127.0.0.1:8000/v1"),
        ("anthropic:x@http://[0:0:0:0:0:0:0:1]:80/v1", "anthropic:x@http://[::1]/v1"),
        ("openai:@cf/meta/llama@20240620", "openai:@cf/meta/llama@20240620"),
    ],
)
def test_an_address_has_one_form(text: str, canonical: str) -> None:
    assert str(parse(text)) == canonical


@pytest.mark.parametrize(
    "rest",
    ["x@127.0.0.1:8000/v1", "x@localhost/v1", "x@me:hidden@h/v1", "x@ftp://hidden", "x@http://hidden@h",
     "x@http://[::1", "x@http://a..b/v1", "x@http://h:0/v1", "x@http://h:", "x@http://h/v1?key=hidden",
     "@http://me:hidden@h", "\0x"],
)  # fmt: skip
def test_a_wrong_url_is_refused_and_not_repeated(rest: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse(f"openai:{rest}")
    with pytest.raises(MissingError) as unknown:
        parse(f"other:{rest}")
    assert "hidden" not in f"{caught.value} {unknown.value}"


@pytest.mark.parametrize(
    ("file", "said"),
    [
        (None, "cannot be read"),
        ('[keys]\n"lab:8000" = hidden', "not as it should be"),
        ('keys = "hidden"', "not as it should be"),
        ("\udcff", "not as it should be"),
        ('[keys]\n"lab:8000" = 5', "not a text"),
        ('[keys]\n"lab:8000" = "hidden\u00e9"', "copy it again"),
        ('[keys]\n"lab" = "hidden"', "unencrypted"),
        ('[keys]\n"lab:8001" = "hidden"', "no key"),
        ('[keys]\n"lab:8000" = ""', ""),
    ],
)
def test_files_of_keys_are_read_with_care(
    file: str | None, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "keys.toml"
    if file is not None:
        path.write_bytes(file.encode("utf-8", "surrogateescape"))
        path.chmod(0o600)
    monkeypatch.setenv("SKILL2REAL_MODEL_KEYS", str(path))
    address = parse(f"openai:x@{'https' if 'again' in said else 'http'}://lab:8000/v1")
    if not said:  # a server of the laboratory that needs no key
        assert find_key(address) == ""
        return
    with pytest.raises((ConfigError, MissingError), match=said) as caught:
        find_key(address)
    assert "hidden" not in str(caught.value)
