"""Both protocols over real HTTP: what is sent, what is understood, keys, addresses."""

import asyncio
import json
import logging
import os
from pathlib import Path

import cv2
import numpy as np
import pytest
from chat_server import Answer, Request, Server, serving
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skill2real.agents.errors import AgentError, ConfigError, MissingError
from skill2real.agents.models.chat import connect
from skill2real.agents.models.chat.address import parse
from skill2real.agents.models.chat.base import Message, Picture, Question, Reply, Text
from skill2real.agents.models.chat.errors import ChatError, excerpt
from skill2real.agents.models.chat.http import Connection, Limits
from skill2real.agents.models.chat.keys import find_key

SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "integer"}},
    "required": ["a"],
    "additionalProperties": False,
}
VENDORS = ("openai", "anthropic")
KEY = "sk-test-0123456789abcdefghij0123456789"


def png() -> bytes:
    return cv2.imencode(".png", np.full((4, 6, 3), (0, 128, 255), np.uint8))[1].tobytes()


QUESTION = Question(
    system=("You are a test.", "Memory."),
    messages=(
        Message("user", (Text("look"), Picture(png()))),
        Message("assistant", (Text("{}"),)),
        Message("user", (Text("again"),)),
    ),
    schema=SCHEMA,
    name="thing",
)


def ask(server: Server, vendor: str, question: Question = QUESTION, **limits: float) -> Reply:
    """One question, as a client of its own; waits between tries are not waited for."""

    async def run() -> Reply:
        chat = connect(parse(server.address(vendor)), KEY, Limits(**limits))  # type: ignore[arg-type]
        chat._connection.sleep = waited.append_async  # type: ignore[attr-defined]
        try:
            return await chat.ask(question)
        finally:
            await chat.close()

    return asyncio.run(run())


class Waited(list[float]):
    async def append_async(self, seconds: float) -> None:
        self.append(seconds)


waited = Waited()


@pytest.fixture(autouse=True)
def _forget() -> None:
    waited.clear()


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize("streamed", [True, False])
def test_an_answer_and_its_tokens_arrive(vendor: str, streamed: bool) -> None:
    with serving(lambda request: Answer('{"a": 1, "b": "}é"}', streamed=streamed)) as server:
        reply = ask(server, vendor)
    assert reply == Reply('{"a": 1, "b": "}é"}', "scripted-1", 100, 20, 40, "end")
    (request,) = server.requests
    assert request.system == "You are a test.\n\nMemory."
    assert request.text == "look\n\nagain"
    assert request.schema == SCHEMA
    (picture,) = request.pictures()
    assert picture.shape == (4, 6, 3)
    assert tuple(picture[0, 0]) == (255, 128, 0)


def test_what_each_vendor_is_told_besides() -> None:
    with serving(lambda request: Answer("{}")) as server:
        for vendor in VENDORS:
            ask(server, vendor)
        ask(server, "anthropic", Question((), (Message("user", (Text("x"),)),), effort="none"))
    openai, anthropic, bare = server.requests
    assert openai.headers["authorization"] == f"Bearer {KEY}"
    assert openai.body["reasoning_effort"] == "medium"
    assert openai.body["max_completion_tokens"] == 16_000
    assert openai.body["stream_options"] == {"include_usage": True}
    assert anthropic.headers["x-api-key"] == KEY
    assert anthropic.body["output_config"]["effort"] == "medium"
    assert [("cache_control" in block) for block in anthropic.body["system"]] == [True, True]
    assert "cache_control" in anthropic.body["messages"][-1]["content"][-1]
    assert "output_config" not in bare.body


@pytest.mark.parametrize("vendor", VENDORS)
def test_what_a_server_does_not_know_is_left_out_from_then_on(vendor: str) -> None:
    known = {
        "openai": ["reasoning_effort", "stream_options", "response_format"],
        "anthropic": ["output_config"],
    }

    def script(request: Request) -> Answer:
        for name in known[vendor]:
            if name in request.body:
                return Answer(status=400, raw=f'{{"error": {{"message": "Unknown field: {name}"}}}}'.encode())
        return Answer('{"a": 1}')

    async def run() -> None:
        with serving(script) as server:
            chat = connect(parse(server.address(vendor)), KEY)
            await chat.ask(QUESTION)
            before = len(server.requests)
            await chat.ask(QUESTION)
            await chat.close()
        assert len(server.requests) == before + 1
        assert "JSON schema" in server.requests[-1].text  # the form is asked for in words instead

    asyncio.run(run())


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_model_that_goes_on_after_its_answer_is_not_listened_to(vendor: str) -> None:
    with serving(lambda request: Answer('{"a": 1}' + " and so on" * 50_000)) as server:
        assert ask(server, vendor).text == '{"a": 1}'


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize("streamed", [True, False])
def test_refusals_and_cut_answers_are_told(vendor: str, streamed: bool) -> None:
    with serving(lambda request: Answer("I will not", finish="content_filter", streamed=streamed)) as server:
        assert ask(server, vendor).finish == "refused"
    with serving(lambda request: Answer('{"a": ', finish="length", streamed=streamed)) as server:
        assert ask(server, vendor).finish == "length"


def test_tokens_are_estimated_where_a_server_does_not_count() -> None:
    with serving(lambda request: Answer('{"a": 12345}', count=False)) as server:
        reply = ask(server, "openai")
    assert reply.output_tokens == 3
    assert reply.input_tokens > 0


def error(message: str) -> bytes:
    return json.dumps({"type": "error", "error": {"message": message}}).encode()


STREAM = {"content-type": "text/event-stream"}
FAULTS: dict[str, tuple[str, Answer]] = {
    "a refused key": ("refused_key", Answer(status=401, raw=error(f"bad key {KEY}"))),
    "no vision": ("no_vision", Answer(status=400, raw=error("image input is not supported"))),
    "too long": ("too_long", Answer(status=400, raw=error("maximum context length is 4"))),
    "a bad request": ("bad_request", Answer(status=404, raw=error("no such model"))),
    "a limit": ("rate_limited", Answer(status=429, raw=b"{}")),
    "overload": ("server", Answer(status=529, raw=b"{}")),
    "a page": ("content_type", Answer(raw=b"<html>", headers={"content-type": "text/html"})),
    "no JSON": ("broken", Answer(raw=b'{"choices": [')),
    "a list": ("broken", Answer(raw=b"[]")),
    "an end in the middle": ("broken", Answer('{"a": "' + "x" * 900 + '"}', after=500)),
    "nothing": ("empty", Answer("")),
    "too much": ("too_large", Answer(raw=b" " * 10_000_001)),
    "an error in the stream": ("server", Answer(raw=b"data: " + error("x") + b"\n\n", headers=STREAM)),
}


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_named_in_one_sentence(
    vendor: str, fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    kind, answer = FAULTS[fault]
    caplog.set_level(logging.DEBUG)
    with serving(lambda request: answer) as server, pytest.raises(ChatError) as caught:
        ask(server, vendor, attempts=2)
    assert caught.value.kind == kind
    assert "\n" not in str(caught.value)
    passing = kind in ("rate_limited", "server", "broken")
    assert len(server.requests) == (2 if passing else 1)
    told = f"{caught.value!r} {caught.value.__cause__!r} {caplog.text}"
    assert KEY not in told


def test_a_server_that_is_down_or_silent_is_told_apart() -> None:
    with serving(lambda request: Answer("{}", pause=0.4)) as server:
        with pytest.raises(ChatError) as silent:
            ask(server, "openai", idle=0.1, attempts=1)
        with pytest.raises(ChatError) as slow:
            ask(server, "openai", total=0.1)
    with pytest.raises(ChatError) as down:
        ask(server, "openai", attempts=2)
    assert [e.value.kind for e in (silent, slow, down)] == ["timeout", "timeout", "unreachable"]


@pytest.mark.parametrize("status", [408, 409, 429, 500, 503, 529])
def test_what_may_pass_is_tried_again_after_the_time_that_the_server_asks_for(status: int) -> None:
    asking = ({"retry-after": "7"}, {}, {"retry-after": "Wed, 21 Oct 2115 07:28:00 GMT"})
    refused = [Answer(status=status, raw=b"{}", headers=headers) for headers in asking]
    script = iter([*refused, Answer('{"a": 1}')])
    with serving(lambda request: next(script)) as server:
        assert ask(server, "openai").text == '{"a": 1}'
    asked, own, capped = waited
    assert (asked, capped) == (7.0, 60.0)
    assert 0.0 <= own <= 2.0


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    data=st.binary(max_size=300),
    kind=st.sampled_from(["text/event-stream", "application/json"]),
    vendor=st.sampled_from(VENDORS),
)
def test_any_bytes_are_an_answer_or_a_fault(data: bytes, kind: str, vendor: str) -> None:
    framed = b"data: " + data + b"\n\n" if kind == "text/event-stream" else data
    with serving(lambda request: Answer(raw=framed, headers={"content-type": kind})) as server:
        try:
            said = ask(server, vendor, attempts=1).finish
        except ChatError as fault:
            said = fault.kind
    assert said in ("end", "length", "refused", "broken", "empty", "server")


@pytest.mark.parametrize(
    ("text", "model", "url"),
    [
        ("openai:gpt-x", "gpt-x", "https://api.openai.com/v1"),
        ("openai:q/q2.5-vl:72b@http://127.0.0.1:8000/v1/", "q/q2.5-vl:72b", "http://127.0.0.1:8000/v1"),
        ("openai:a@b@https://h/v1", "a@b", "https://h/v1"),
        ("anthropic:claude-x", "claude-x", "https://api.anthropic.com/v1"),
    ],
)
def test_addresses_are_read_and_said_alike(text: str, model: str, url: str) -> None:
    address = parse(text)
    assert (address.model, address.url) == (model, url)
    assert parse(str(address)) == address


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("gemini:x", MissingError),
        ("x", ConfigError),
        ("", ConfigError),
        ("openai:", ConfigError),
        ("openai:a b", ConfigError),
        ("openai:x@http://u:p@h/v1", ConfigError),
        ("openai:x@http://", ConfigError),
        ("openai:x@https://h:99999/v1", ConfigError),
        ("openai:x@https://h/v1?a=1", ConfigError),
    ],
)
def test_what_is_no_address_is_refused(text: str, error: type[AgentError]) -> None:
    with pytest.raises(error) as caught:
        parse(text)
    assert ":p@" not in str(caught.value)


def test_keys_go_to_the_host_that_they_are_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "own")
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.delenv("SKILL2REAL_MODEL_KEYS", raising=False)
    assert find_key(parse("openai:x")) == "own"
    assert find_key(parse("openai:x@http://127.0.0.1:9/v1")) == ""
    for other in ("openai:x@https://elsewhere.example/v1", "anthropic:x"):
        with pytest.raises(MissingError, match="SKILL2REAL_MODEL_KEYS"):
            find_key(parse(other))
    file = tmp_path / "keys.toml"
    file.write_text('[keys]\n"elsewhere.example" = "theirs"\n"127.0.0.1:9" = "local"\n')
    monkeypatch.setenv("SKILL2REAL_MODEL_KEYS", str(file))
    file.chmod(0o644)
    with pytest.raises(ConfigError, match="chmod 600"):
        find_key(parse("openai:x@https://elsewhere.example/v1"))
    os.chmod(file, 0o600)
    assert find_key(parse("openai:x@https://elsewhere.example/v1")) == "theirs"
    assert find_key(parse("openai:x@http://127.0.0.1:9/v1")) == "local"
    with pytest.raises(ConfigError, match="https"):
        find_key(parse("openai:x@http://elsewhere.example/v1"))


def test_a_key_stands_in_no_text_about_a_client() -> None:
    address = parse("openai:x@http://127.0.0.1:9/v1")
    connection = Connection(address, {"authorization": f"Bearer {KEY}"}, KEY)
    assert KEY not in repr(connection)
    assert KEY not in repr(connect(address, KEY))
    assert KEY not in excerpt(f"your key {KEY} is bad", KEY)
    assert "abcdefghij" not in excerpt("Bearer sk-other-abcdefghij0123456789 is bad")
