"""Signed notes and keys: what is signed verifies, and nothing else does."""

import base64
import os
import stat

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skill2real.ledger import keys, note
from skill2real.ledger.checkpoint import Checkpoint, open_note, sign_tree
from skill2real.ledger.errors import BadName, KeyMissing, KeyRefused, NoteRefused
from skill2real.ledger.note import SigningKey, VerifierKey

KEY = SigningKey.new("lab.example/arm")
ROOT = bytes(range(32))


def test_a_published_example_verifies():
    """From the documentation of Go's note package, so not made by this code."""
    key = VerifierKey.parse("PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW")
    text = "If you think cryptography is the answer to your problem,\n"
    text += "then you don't know what your problem is.\n"
    signed = (
        f"{text}\n— PeterNeumann "
        "x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"
    )
    assert note.verify(signed, key) == text
    with pytest.raises(NoteRefused, match="was changed"):
        note.verify(signed.replace("answer", "Answer"), key)


def test_both_keys_survive_their_text():
    assert VerifierKey.parse(str(KEY.verifier)) == KEY.verifier
    again = SigningKey.parse(KEY.encode())
    assert (again.name, again.verifier) == (KEY.name, KEY.verifier)
    name, key_id, _ = str(KEY.verifier).split("+", 2)
    assert (name, key_id) == ("lab.example/arm", KEY.verifier.key_id.hex())


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_changed_character_is_refused(data):
    signed = sign_tree(KEY, "run", 12, ROOT)
    at = data.draw(st.integers(0, len(signed) - 1))
    other = data.draw(st.sampled_from("Aa1+/=\n —\x00é").filter(lambda c: c != signed[at]))
    for changed in (signed[:at] + other + signed[at + 1 :], signed[:at] + signed[at + 1 :], signed[:at]):
        with pytest.raises(NoteRefused):
            note.verify(changed, KEY.verifier)
    assert open_note(signed, KEY.verifier) == Checkpoint("lab.example/arm/run", 12, ROOT)


@settings(max_examples=80, deadline=None)
@given(st.text(max_size=200))
def test_no_text_crashes_the_parsers(text):
    for parse, error in (
        (lambda: note.verify(text, KEY.verifier), NoteRefused),
        (lambda: Checkpoint.parse(text), NoteRefused),
        (lambda: VerifierKey.parse(text), (KeyRefused, BadName)),
        (lambda: SigningKey.parse(text), (KeyRefused, BadName)),
    ):
        with pytest.raises(error):
            parse()


def test_another_key_of_the_same_name_is_refused():
    signed = sign_tree(KEY, "run", 12, ROOT)
    other = SigningKey.new(KEY.name)
    with pytest.raises(NoteRefused, match="not by the pinned key"):
        note.verify(signed, other.verifier)
    # The right key id in front of another key's signature.
    text = signed.partition("\n\n")[0] + "\n"
    forged = base64.b64encode(KEY.verifier.key_id + other.private.sign(text.encode())).decode()
    with pytest.raises(NoteRefused, match="was changed"):
        note.verify(f"{text}\n— {KEY.name} {forged}\n", KEY.verifier)


def test_signatures_of_others_are_passed_over():
    signed = sign_tree(KEY, "run", 12, ROOT)
    witness = SigningKey.new("witness.example")
    text, _ = note.split(signed)
    line = note.sign(text, witness).partition("\n\n")[2]
    both = signed + line
    assert note.verify(both, KEY.verifier) == text
    assert note.verify(both, witness.verifier) == text


@pytest.mark.parametrize("name", ["", "two words", "a+b", "line\nbreak", "tab\t"])
def test_names_that_a_note_cannot_carry(name):
    with pytest.raises(BadName):
        SigningKey.new(name)


@pytest.mark.parametrize("text", ["no newline", "bell\x07\n", "tab\t\n"])
def test_texts_that_cannot_be_signed(text):
    with pytest.raises(ValueError, match="newline"):
        note.sign(text, KEY)


@pytest.mark.parametrize("size", ["-1", "+1", "01", "1.0", "", "٣", "9" * 30])
def test_sizes_that_are_no_number(size):
    with pytest.raises(NoteRefused, match="tree size"):
        Checkpoint.parse(f"o\n{size}\n{base64.b64encode(ROOT).decode()}\n")


def test_extension_lines_are_allowed():
    text = Checkpoint("o", 3, ROOT).text()
    assert Checkpoint.parse(text + "more\n") == Checkpoint("o", 3, ROOT)


# Key files --------------------------------------------------------------------------------------------------


def test_a_new_key_is_its_owners_alone(tmp_path, monkeypatch):
    monkeypatch.delenv("SKILL2REAL_KEY", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    with pytest.raises(KeyMissing, match="skill2real key new"):
        keys.load_key()
    key = keys.new_key("lab")
    path = tmp_path / "skill2real" / "signing.key"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert keys.load_key().verifier == key.verifier
    before = path.read_bytes()
    with pytest.raises(KeyRefused, match="already"):
        keys.new_key("lab")
    assert path.read_bytes() == before
    path.chmod(0o640)
    with pytest.raises(KeyRefused, match="chmod 600"):
        keys.load_key()


def test_the_environment_names_the_key_file(tmp_path, monkeypatch):
    path = tmp_path / "own.key"
    monkeypatch.setenv("SKILL2REAL_KEY", str(path))
    key = keys.new_key()
    assert path.is_file()
    assert key.name == keys.DEFAULT_NAME
    secret = path.read_text().strip()
    path.write_text(secret[:-4])
    os.chmod(path, 0o600)
    with pytest.raises(KeyRefused) as refused:
        keys.load_key()
    assert secret[-40:-4] not in str(refused.value)


def test_a_place_where_no_key_can_be_kept(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(KeyRefused, match="another place"):
        keys.new_key("lab", tmp_path / "file" / "signing.key")


def test_a_verifier_key_as_text_or_file(tmp_path):
    path = tmp_path / "arm.vkey"
    path.write_text(f"{KEY.verifier}\n")
    assert keys.read_verifier(str(path)) == keys.read_verifier(str(KEY.verifier)) == KEY.verifier
    with pytest.raises(KeyRefused, match="must stay private"):
        keys.read_verifier(KEY.encode())
    with pytest.raises(KeyRefused, match="key id"):
        keys.read_verifier(str(KEY.verifier).replace(KEY.verifier.key_id.hex(), "00000000"))
    with pytest.raises(KeyRefused, match="one line"):
        keys.read_verifier(str(tmp_path / "absent"))
