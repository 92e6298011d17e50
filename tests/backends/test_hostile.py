"""Hostile programs: each is refused or stopped, recorded, and the next program of the same session runs."""

import dataclasses
import json

import pytest
from scripted import Scripted

from skill2real.backends import screening
from skill2real.backends.sandbox import Limits, Sandbox

LOOP = "while True:\n    {}"
CAUGHT = "try:\n    {}\nexcept BaseException:\n    go_home()\ngo_home()"

REFUSED = {
    "file": "open('/etc/passwd').read()",
    "file in a with": "with open('/tmp/x', 'w') as f:\n    f.write('x')",
    "os": "import os\nos.system('id')",
    "os, renamed": "import os as math\nmath.getenv('HOME')",
    "from os": "from os import environ\nenviron['HOME']",
    "path": "import pathlib\npathlib.Path('/').iterdir()",
    "sys": "import sys\nsys.modules",
    "socket": "import socket\nsocket.socket()",
    "http": "import urllib.request\nurllib.request.urlopen('http://127.0.0.1')",
    "subprocess": "from subprocess import run\nrun(['id'])",
    "this package": "from skill2real.backends import sim",
    "relative import": "from . import sim",
    "clock": "import time\ntime.sleep(1000)",
    "__import__": "__import__('os').system('id')",
    "__builtins__": "__builtins__",
    "dunder walk": "().__class__.__bases__[0].__subclasses__()",
    "dunder walk of a handle": "capture().__class__.__mro__",
    "globals of an operation": "capture.__globals__",
    "globals": "globals()",
    "host field": "capture()._host",
    "eval": "eval('1 + 1')",
    "exec": "exec('import os')",
    "compile": "compile('1', 'x', 'eval')",
    "getattr": "getattr(capture(), '_host')",
    "setattr": "setattr(capture(), 'ok', True)",
    "switched off check": "fly_away()  # type: ignore",
    "switched off check by decorator": (
        "from typing import no_type_check\n@no_type_check\ndef f() -> None:\n    fly_away()\nf()"
    ),
    "operation that does not exist": "go_home()\nteleport(1, 2, 3)",
    "wrong types": "go_home()\nmove_to('up')",
    "state of the simulator": "go_home()\nsim.data.qpos",
    "success label": "check_success()",
    "input": "input('password')",
    "breakpoint": "breakpoint()",
    "deep unary": "-" * 30_000 + "1",
    "deep parentheses": "(" * 3000 + ")" * 3000,
    "deep list": "[" * 150 + "]" * 150,
    "deep attributes": "a" + ".a" * 15_000,
    "deep lambdas": "lambda: " * 4000 + "1",
    "deep sum": "1" + " + 1" * 9000,
    "deep conditional": "1 if 1 else " * 3000 + "1",
    "null byte": "x = 1\x00",
    "lone surrogate": "x = '\ud800'",
    "giant source": "x = 1\n" * 1_000_000,
}

STOPPED = {
    "endless loop": (LOOP.format("pass"), "limit: more than 0.3 s"),
    "endless loop, guarded": (CAUGHT.format("while True: pass"), "limit: more than 0.3 s"),
    "endless loop over all errors": (
        LOOP.format("try:\n        1 / 0\n    except BaseException:\n        pass"),
        "limit: more than 0.3 s",
    ),
    "long sum": ("sum(range(10**12))", "limit: more than 0.3 s"),
    "list bomb": ("x = [0] * 10**9", "limit: more than 64 MiB"),
    "string bomb": ("s = 'a'\n" + LOOP.format("s += s"), "limit: more than 64 MiB"),
    "string bomb, guarded": (CAUGHT.format("'a' * 10**10"), "limit: more than 64 MiB"),
    "power bomb": ("9 ** 9 ** 9", "limit: more than 64 MiB"),
    "set bomb": ("{i for i in range(10**9)}", "limit: more than"),
    "giant print": ("print('a' * 10**7)", "limit: more than 20000 characters"),
    "endless prints": (LOOP.format("print('a' * 1000)"), "limit: more than 20000 characters"),
    "prints, guarded": (CAUGHT.format("print('a' * 10**6)"), "limit: more than 20000 characters"),
    "million operations": ("for i in range(1_000_000):\n    read_robot()", "limit: more than 400 operations"),
    "operations, guarded": (
        LOOP.format("try:\n        read_robot()\n    except BaseException:\n        pass"),
        "limit: more than 400 operations",
    ),
    "operations in a finally": (
        "def f(n: int) -> None:\n    try:\n        read_robot()\n    finally:\n        f(n)\nf(0)",
        "Error",
    ),
    "million constructions": (LOOP.format("Point(1.0, 0.0, 0.0)"), "limit: more than 5000 steps"),
    "recursion": ("def f(n: int) -> int:\n    return f(n + 1)\nf(0)", "RecursionError"),
    "mutual recursion": (
        "def f(n: int) -> int:\n    return g(n)\ndef g(n: int) -> int:\n    return f(n)\nf(0)",
        "RecursionError",
    ),
    "made pose": ("move_to(Pose())", "only returned by operations"),
    "made pose from a type": ("t = type(read_robot().pose)\nt()", "only returned by operations"),
    "replaced field": ("from dataclasses import replace\nreplace(read_robot(), ok=True)", "Error"),
    "copied handle": ("import copy\ncopy.deepcopy(capture())", "Error"),
}


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox(Limits(compute=0.3)) as opened:
        yield opened


def still_works(session):
    assert session.run("r = set_gripper(0.04)\nr.width", Scripted()).value == 0.04


def recorded(result):
    """The result as the ledger would keep it."""
    return json.dumps(dataclasses.asdict(result), allow_nan=False).encode("utf-8")


@pytest.mark.parametrize("name", REFUSED)
def test_refused_before_anything_moves(sandbox, name):
    operations = Scripted()
    with sandbox.session() as session:
        result = session.run(REFUSED[name], operations)
        assert result.rejected is not None
        assert result.rejected.message
        assert (operations.moves, result.calls, result.error) == (0, (), "")
        assert len(recorded(result)) < 5000
        still_works(session)


@pytest.mark.parametrize("name", STOPPED)
def test_stopped(sandbox, name):
    source, said = STOPPED[name]
    operations = Scripted()
    with sandbox.session() as session:
        result = session.run(source, operations)
        assert result.rejected is None
        assert said in result.error
        assert operations.moves == 0, "nothing that a program catches lets it go on"
        assert len(result.calls) <= 400
        assert len(result.printed) <= 20_000
        assert len(recorded(result)) < 400_000
        still_works(session)


@pytest.mark.parametrize(
    "source",
    [
        "open('/etc/passwd').read()",
        "import os\nos.getenv('HOME')",
        "import os\nos.listdir('/')",
        "from pathlib import Path\nPath('/etc/passwd').read_text()",
        "import pathlib\npathlib.Path('/').exists()",
        "import datetime\ndatetime.date.today()\nopen('/x', 'w')",
        "try:\n    open('/etc/passwd')\nexcept BaseException:\n    go_home()",
        "exec('import os\\nos.environ')",
    ],
)
def test_the_sandbox_holds_without_screening(sandbox, source, monkeypatch):
    """Screening and the type check only name mistakes early: behind them, nothing leaves the interpreter
    either."""
    monkeypatch.setattr("skill2real.backends.sandbox.screen", lambda source, longest: None)
    operations = Scripted()
    with sandbox.session() as session:
        monkeypatch.setattr(session._checker, "check", lambda source, history: None)
        result = session.run(source, operations)
        assert "refused: " in result.error
        assert (operations.moves, result.value) == (0, None)
        monkeypatch.undo()
        still_works(session)


def test_unknown_operations_without_screening_only_raise_inside(sandbox, monkeypatch):
    with sandbox.session() as session:
        monkeypatch.setattr(session._checker, "check", lambda source, history: None)
        result = session.run("teleport(1, 2, 3)", Scripted())
        assert "NameError" in result.error
        assert result.calls == ()


def test_a_giant_argument_is_recorded_short(sandbox):
    with sandbox.session() as session:
        result = session.run(
            "capture('a' * 10**6)\nimport json\nmove_to(json.loads('[' * 30 + ']' * 30))", Scripted()
        )
        assert len(recorded(result)) < 3000


def test_screening_never_raises():
    for source in [
        *REFUSED.values(),
        *(source for source, _ in STOPPED.values()),
        "f(*x, **y)",
        "move_to(**{'a': 1})",
    ]:
        screening.screen(source, 40_000)
