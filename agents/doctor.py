"""Looks at everything that a run needs, and says of each failure how to mend it."""

import asyncio
import importlib.metadata
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec

from ..backends.errors import BackendError
from ..backends.sim.errors import RENDERING_PACKAGES
from ..ledger import events as ev
from ..ledger.credentials import password_from_environment
from ..ledger.errors import KeyMissing, LedgerError
from ..ledger.keys import key_path, load_key
from ..ledger.local import local_bus
from .packages import NAMES
from .rendering_probe import Probe

CONSTRAINTS = Path(__file__).parents[1] / "constraints.txt"
INSTALL = "pip install -c constraints.txt -e '.[sim]'"
NEW_KEY = "skill2real key new"
_PROBE_SECONDS = 120
_LEAST_SPACE = 500 << 20  # bytes; a run with its blobs takes some tens of MiB


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was looked at. `remedy` is what to do where it is not `ok`."""

    name: str
    ok: bool
    found: str
    remedy: str = ""


def examine(home: Path, broker: str | None = None) -> Iterator[Check]:
    """All checks, each as soon as it is done. With `broker`, that one is reached instead of starting one."""
    for check in _all(home, broker):
        yield msgspec.structs.replace(check, remedy="") if check.ok else check


def _all(home: Path, broker: str | None) -> Iterator[Check]:
    yield python()
    yield packages()
    yield from simulator()
    yield sandbox()
    yield asyncio.run(reach(broker) if broker else embedded())
    yield signing_key()
    yield storage(home)


def python() -> Check:
    version = sys.version_info
    return Check(
        name="Python",
        ok=version[:2] == (3, 11),
        found=f"{version.major}.{version.minor}.{version.micro}",
        remedy="Install Python 3.11 and make the environment anew with it: python3.11 -m venv .venv.",
    )


def pinned() -> dict[str, str]:
    """Package → version that was tested, from constraints.txt."""
    lines = (line.strip() for line in CONSTRAINTS.read_text().splitlines())
    return dict(line.split("==", 1) for line in lines if line and not line.startswith("#"))


def packages() -> Check:
    """Those that change what an episode does must be as tested; of the others a difference is only told."""
    wrong: list[str] = []
    differ: list[str] = []
    seen = 0
    for name, wanted in pinned().items():
        try:
            found = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found = ""
        seen += bool(found)
        if found == wanted or (not found and name not in NAMES):
            continue
        words = f"{name} is {found or 'missing'}, {wanted} was tested"
        (wrong if name in NAMES else differ).append(words)
    told = f" ({len(differ)} others differ: {'; '.join(differ[:3])})" if differ else ""
    return Check(
        name="Packages",
        ok=not wrong,
        found=("; ".join(wrong) if wrong else f"{seen} as tested") + told,
        remedy=f"In the repository: {INSTALL}.",
    )


def simulator() -> Iterator[Check]:
    """Rendering and the simulator's files, in a process of its own: a broken driver may end it."""
    command = [sys.executable, "-m", f"{__package__}.rendering_probe"]
    try:
        ran = subprocess.run(command, capture_output=True, timeout=_PROBE_SECONDS, check=False)
        probe = msgspec.json.decode(ran.stdout.strip().rpartition(b"\n")[2], type=Probe)
    except subprocess.TimeoutExpired:
        probe = Probe(error=f"The OpenGL driver did not render a picture within {_PROBE_SECONDS} s.")
    except msgspec.DecodeError:
        probe = Probe(
            error=f"The rendering process ended with code {ran.returncode}: {_last_line(ran.stderr)}."
        )
    yield Check(
        name="Rendering",
        ok=bool(probe.platform),
        found=f"{probe.platform}, {probe.driver}" if probe.platform else probe.error,
        remedy=f"As root: apt-get install {RENDERING_PACKAGES}; or set MUJOCO_GL=osmesa.",
    )
    yield Check(
        name="Simulator",
        ok=probe.suites > 0,
        found=f"{probe.suites} suites, {probe.tasks} tasks"
        if probe.suites
        else (probe.asset_error or "not looked at, since nothing can be rendered"),
        remedy=f"In the repository: {INSTALL}.",
    )


def _last_line(output: bytes) -> str:
    lines = output.decode(errors="replace").strip().splitlines()
    return lines[-1].rstrip(".") if lines else "it printed nothing"


def sandbox() -> Check:
    """Programs can be checked and run."""
    from ..backends.sandbox import Sandbox

    remedy = "pip install --force-reinstall pydantic-monty."
    try:
        with Sandbox() as interpreter:
            refused = interpreter.check("robot = read_robot()\nprint(robot)\n")
            hostile = interpreter.check("import os\n")
    except BackendError as error:
        return Check(name="Sandbox", ok=False, found=str(error), remedy=remedy)
    if refused is not None or hostile is None:
        found = f"an honest program is refused ({refused})" if refused else "`import os` is not refused"
        return Check(name="Sandbox", ok=False, found=found, remedy=remedy)
    return Check(name="Sandbox", ok=True, found="takes a program, refuses a hostile one")


async def embedded() -> Check:
    """The embedded broker and the ledger service start, and commit an event."""
    try:
        with tempfile.TemporaryDirectory(prefix="skill2real-") as home:
            async with (
                asyncio.timeout(30),
                local_bus(Path(home)) as bus,
                bus.connect("doctor", "operator") as operator,
            ):
                said = ev.RunStarted(config={}, seeds={}, packages={}, api_hash="")
                await operator.publish(ev.make("doctor", "run.started", "operator", said))
    except (LedgerError, OSError, TimeoutError) as error:
        found = str(error) or "no answer within 30 s"
        remedy = "Let programs listen on 127.0.0.1, or use a broker that runs elsewhere: --broker URL."
        return Check(name="Broker", ok=False, found=found, remedy=remedy)
    return Check(name="Broker", ok=True, found="the embedded one starts and commits an event")


async def reach(url: str) -> Check:
    """A broker elsewhere lets the operator in, and a ledger service answers behind it."""
    from ..ledger.bus import Bus

    try:
        async with Bus.connect(url, "doctor", "operator", password_from_environment("operator")):
            return Check(name="Broker", ok=True, found=f"{url} answers, and so does its ledger service")
    except (LedgerError, OSError) as error:
        remedy = "Start `skill2real serve` there, with the same SKILL2REAL_BROKER_SECRET as here."
        return Check(name="Broker", ok=False, found=str(error), remedy=remedy)


def signing_key() -> Check:
    try:
        key = load_key()
    except KeyMissing as error:
        return Check(name="Signing key", ok=False, found=str(error).partition(";")[0], remedy=NEW_KEY)
    except LedgerError as error:
        remedy = f"chmod 600 {key_path()}; or move the file away and run: {NEW_KEY}"
        return Check(name="Signing key", ok=False, found=str(error), remedy=remedy)
    return Check(name="Signing key", ok=True, found=f"{key.verifier} in {key_path()}")


def storage(home: Path) -> Check:
    """Runs can be written, and there is room."""
    place = home.absolute()
    while not place.exists():
        place = place.parent
    if not place.is_dir() or not os.access(place, os.W_OK | os.X_OK):
        remedy = "Set SKILL2REAL_HOME, or use --home, for a folder that you may write to."
        return Check(name="Runs", ok=False, found=f"{place} cannot be written to", remedy=remedy)
    free = shutil.disk_usage(place).free
    return Check(
        name="Runs",
        ok=free >= _LEAST_SPACE,
        found=f"{home}, {free / (1 << 30):.1f} GiB free",
        remedy=f"Make room on that disk: {_LEAST_SPACE >> 20} MiB at least; or set SKILL2REAL_HOME.",
    )
