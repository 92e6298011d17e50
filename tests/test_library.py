"""The committed bundles hold; one from elsewhere is verified, audited or refused by its public key."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from signed_run import GRASP, WORD, write_run

from skill2real.agents.verification import export, verify_file
from skill2real.cli import cli
from skill2real.ledger.note import SigningKey

LIBRARY = Path(__file__).parents[1] / "checkpoints"
MOST_BYTES = 4_000_000  # a bundle is text and small numbers


def test_every_bundle_of_the_library_holds() -> None:
    for bundle in LIBRARY.glob("*.s2r"):
        _, verified = verify_file(bundle, str(LIBRARY / "key.pub"))
        assert verified.entries, bundle
        assert bundle.stat().st_size < MOST_BYTES, bundle


@pytest.fixture
def bundle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A bundle with its public key beside it, on a machine that has no key and no runs."""
    key = SigningKey.new("lab.elsewhere")
    write_run(tmp_path / "elsewhere", key=key)
    export("lab", tmp_path / "elsewhere", "C1/B1", tmp_path / "lab.s2r")
    (tmp_path / "key.pub").write_text(f"{key.verifier}\n")
    monkeypatch.setenv("SKILL2REAL_KEY", str(tmp_path / "none.key"))
    monkeypatch.setenv("SKILL2REAL_HOME", str(tmp_path / "runs"))
    return tmp_path / "lab.s2r"


def run(*words: object) -> Result:
    return CliRunner().invoke(cli, [str(word) for word in words])


def test_a_bundle_is_audited_without_its_run(bundle: Path) -> None:
    key = bundle.with_name("key.pub")
    text = run("audit", bundle, "--key", key).stdout
    for entry in (GRASP, WORD):
        assert entry.id in text
        assert entry.when in text
        assert entry.provenance.candidate in text
    assert "1 episode" in text
    listed = json.loads(run("audit", bundle, "--key", key, "--json").stdout)
    assert [entry["id"] for entry in listed] == [GRASP.id, WORD.id]
    one = run("audit", bundle, GRASP.id, "--key", key).stdout
    assert GRASP.template.strip() in one
    assert GRASP.provenance.evidence[0] in one
    assert WORD.id not in one


def test_what_a_bundle_does_not_hold_is_named(bundle: Path) -> None:
    refused = run("audit", bundle, "grasp-cam", "--key", bundle.with_name("key.pub"))
    assert refused.exit_code == 2
    assert GRASP.id in refused.stderr


def test_a_changed_bundle_is_not_audited_and_not_evaluated(bundle: Path) -> None:
    key = bundle.with_name("key.pub")
    bundle.write_text(bundle.read_text().replace("0.02", "0.03"))
    for words in (("audit", bundle), ("eval", bundle, "--suite", "pro_long"), ("verify", bundle)):
        refused = run(*words, "--key", key)
        assert refused.exit_code == 3
        assert "changed after it was frozen" in refused.stderr
    assert not (bundle.parent / "runs").exists()


def test_without_its_key_a_bundle_is_not_believed(bundle: Path) -> None:
    assert run("audit", bundle).exit_code == 4
    other = SigningKey.new("lab.elsewhere").verifier
    assert run("audit", bundle, "--key", other).exit_code == 3
