"""Notes, roots and proofs of a real ledger, verified by Go's sumdb packages: no code is shared."""

import base64
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from samples import make_ledger

from skill2real.ledger import note
from skill2real.ledger.checkpoint import checkpoints
from skill2real.ledger.note import SigningKey
from skill2real.ledger.reader import Reader

DEBIAN_GO_CODE = Path("/usr/share/gocode")
PROGRAM = Path(__file__).parent / "go" / "verify.go"
KEY = SigningKey.new("lab.example/arm")

pytestmark = [
    pytest.mark.skipif(shutil.which("go") is None, reason="Go is not installed (Debian: golang-go)"),
    pytest.mark.skipif(
        not (DEBIAN_GO_CODE / "src/golang.org/x/mod/sumdb").is_dir(),
        reason="Go's sumdb packages are not installed (Debian: golang-golang-x-mod-dev)",
    ),
]


@pytest.fixture(scope="module")
def verifier(tmp_path_factory):
    """The compiled program."""
    folder = tmp_path_factory.mktemp("go")
    environment = os.environ | {
        "GO111MODULE": "off",
        "GOPATH": f"{folder}:{DEBIAN_GO_CODE}",
        "GOCACHE": str(folder / "cache"),
    }
    program = folder / "verify"
    subprocess.run(["go", "build", "-o", program, PROGRAM], env=environment, check=True, timeout=300)
    return program


@pytest.fixture(scope="module")
def case(tmp_path_factory):
    """All that a ledger of 40 events can prove."""
    with Reader(make_ledger(tmp_path_factory.mktemp("run"), KEY, tail=22)) as reader:
        raws = [raw.decode() for _, raw in reader.events()]
        tree = reader.tree()
        notes = [one.signed.note for one in checkpoints(reader) if one.signed]

    def text(path: list[bytes]) -> list[str]:
        return [base64.b64encode(h).decode() for h in path]

    sizes = range(1, len(raws) + 1)
    return {
        "key": str(KEY.verifier),
        "signing_key": KEY.encode(),
        "events": raws,
        "notes": notes,
        "refuse": [
            notes[0].replace("\n9\n", "\n8\n"),
            notes[0].replace("sample", "simple"),
            notes[0].partition("\n\n")[0] + "\n\n" + notes[1].partition("\n\n")[2],
            note.sign(note.split(notes[0])[0], SigningKey.new(KEY.name)),
        ],
        "roots": {str(n): base64.b64encode(tree.root(n)).decode() for n in sizes},
        "inclusion": [
            {"index": i, "size": n, "path": text(tree.inclusion(i, n))} for n in sizes for i in range(n)
        ],
        "consistency": [
            {"old": m, "size": n, "path": text(tree.consistency(m, n))}
            for n in sizes
            for m in range(1, n + 1)
        ],
    }


def run(program: Path, case: dict) -> dict:
    done = subprocess.run(
        [program], input=json.dumps(case), capture_output=True, text=True, check=True, timeout=60
    )
    return json.loads(done.stdout)


def test_go_agrees_with_everything(verifier, case):
    found = run(verifier, case)
    assert found["problems"] == []
    assert found["checked"] == 40 + 2 + 4 + 820 + 820
    assert note.verify(found["signed"], KEY.verifier) == "signed by Go\n"


def test_go_would_have_noticed(verifier, case):
    """The same program says no when something is changed: its silence above means something."""
    events = list(case["events"])
    events[3] = events[3].replace('"', "'", 1)
    found = run(verifier, case | {"events": events})
    assert any(p.startswith("note") for p in found["problems"])
    assert any(p.startswith("root of 4") for p in found["problems"])
    assert any(p.startswith("inclusion") for p in found["problems"])
    assert any(p.startswith("consistency") for p in found["problems"])
